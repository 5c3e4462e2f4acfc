"""Play a game to copy on a canvas of a page: `play.js` loads this and the game with Pyodide.

The tests play it with a stub of the canvas and `play.js` with a stub of Pyodide: no registry of
packages has a numpy for Pyodide.  The workflow *Wheels*, where cibuildwheel fetches Pyodide's own,
compares the golden log there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import esper
from platformer_pyglet import COLOURS, Platformer

import ecs_collide as ec


def begin(context: Any, held: Any) -> Callable[[float], None]:
    """Return a function that plays and draws a frame, from the milliseconds of the page's clock.

    Parameters
    ----------
    context : CanvasRenderingContext2D
    held : Set
        The names of the keys that are down.
    """
    game = Platformer()
    clock = ec.FixedStep(1 / 60)
    last = 0.0

    def frame(now: float) -> None:
        nonlocal last
        seconds, last = (now - last) / 1000 if last else 0.0, now
        walk = held.has("ArrowRight") - held.has("ArrowLeft")
        for dt in clock.steps(seconds):
            game.step(dt, walk, held.has("ArrowUp"), held.has("ArrowDown"))
        draw(context)

    return frame


def draw(context: Any) -> None:
    """Draw all bodies, with y up as in the game."""
    canvas = context.canvas
    context.setTransform(1, 0, 0, 1, 0, 0)
    context.clearRect(0, 0, canvas.width, canvas.height)
    context.setTransform(1, 0, 0, -1, 0, canvas.height)
    for kind, colour in COLOURS.items():
        context.fillStyle = f"rgb{colour}"
        for _, (_, place, half) in esper.get_components(kind, ec.Position, ec.Extents):
            corner, size = place - half, 2 * half
            context.fillRect(corner.x, corner.y, size.x, size.y)
