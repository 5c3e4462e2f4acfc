"""Small games that show ecs_collide at work: ``python -m demos`` opens the menu.

A demo is one file, or a folder with a file `game.py`.  It has a function `build` that makes its
world in the current esper world, without a window; the files in `app` run it, in a window or
without one.

`examples` has games to copy, which need nothing of `app`.
"""
