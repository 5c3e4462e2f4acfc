"""Sentences about what is odd in a world: `Space.doctor` and `Space.explain`."""
