"""The hot loops, one file per idea.

Each kernel is written in Cython's pure-Python mode and lives twice: as the
Python it is, and compiled by the build under the same name with ``_c``.
``ecs_collide._backend`` chooses.
"""
