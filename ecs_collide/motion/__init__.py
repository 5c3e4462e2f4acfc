"""The bodies: the table of their columns, their paths within a step, and wrap-around."""
