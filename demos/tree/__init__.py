"""The tree of the broadphase: an explanation, and a tree that a replay can restore."""
