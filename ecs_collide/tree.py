"""Placeholder until the face of the tree is here."""


class AABBTree:
    """To come."""
