"""Which pairs of boxes may meet: dynamic trees, overlapping pairs, the table of candidate pairs."""
