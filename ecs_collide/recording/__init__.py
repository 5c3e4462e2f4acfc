"""Recordings of a world: every step by entity, component and field, to compare and to play."""
