"""The four stages of a step, the timeline of impacts, sleeping, handlers."""
