"""Rollback: two machines, and the line between them."""
