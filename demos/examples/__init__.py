"""Games to copy: each is one file that needs nothing else of this folder.

The class of a game makes its world, and `step` is one frame of it.  `main` opens the window, and
it alone imports the library of the window.  So a test plays each game without a screen.
"""
