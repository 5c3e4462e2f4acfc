"""Small games that show ecs_collide at work: ``python -m demos`` lets you choose.

One file per idea.  Each has a function `build` that makes its world in the
current esper world, without a window; the files whose names begin with an
underscore run it, in a window or without one.
"""
