"""Thousands of small worlds at once: for learning agents, for sweeps over parameters, for research.

Each file runs by itself: ``python -m demos.many_worlds.vector_env --help``.
"""
