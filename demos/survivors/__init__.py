"""Survivors: a horde, its weapons against it, and the pools that both are made from."""
