"""Queries to a space and to a tree, and views of what is inside."""
