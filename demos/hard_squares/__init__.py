"""Parallel hard lines, squares and cubes as an exact event-driven simulation.

`fluid` runs one, `virial` derives its virial coefficients, `published` holds what others have
found, and `measure` prints the tables of the page ``hard_squares.md`` beside it.
"""
