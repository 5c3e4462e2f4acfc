"""Queries of a space and of a tree, and the inspection of a space."""
