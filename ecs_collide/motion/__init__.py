"""The bodies: their paths within a step, their rare properties, and worlds that wrap."""
