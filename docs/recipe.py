"""Run a recipe of the cookbook, for its picture and on its page.

The pages have *Run*: `play/play.js` loads this file and `drawing.py` with Pyodide, and gives
`begin` the text of the recipe.  The run is shown in a loop.  `draw_recipes.py` draws its picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import esper

import ecs_collide as ec
from docs.drawing import DARK, FAINT, FIRST, SECOND
from ecs_collide.components.filters import NAMES

RESPONSES = (ec.Slide, ec.Deflect, ec.Push, ec.Stop)
LEAST, PAUSE = 2.0, 1.0  # seconds: of the shortest run that is shown, and between two
Point = tuple[float, float]


@dataclass
class Seen:
    """A body in one frame."""

    centre: Point
    half: Point
    colour: str
    crosses: bool

    def moved(self, other: Seen) -> bool:
        """Return whether the other is elsewhere, clearly."""
        far = (abs(x - y) for x, y in zip(self.centre, other.centre, strict=True))
        return any(d > h for d, h in zip(far, self.half, strict=True))


Frame = dict[int, Seen]


def bodies() -> Iterator[tuple[int, Seen]]:
    """Yield the bodies of the current world."""
    for entity, (place, half) in esper.get_components(ec.Position, ec.Extents):
        if esper.has_component(entity, ec.Disabled):
            continue
        moves = esper.has_component(entity, ec.Velocity)
        dynamic = moves and any(esper.has_component(entity, kind) for kind in RESPONSES)
        crosses = esper.has_component(entity, ec.Sensor)
        colour = FIRST if dynamic else SECOND if moves or crosses else FAINT
        yield entity, Seen(place.xy, half.xy, colour, crosses)


def play(program: str) -> tuple[list[Frame], dict[str, Any]]:
    """Run a program; return what is there before each step and at the end, and its names."""
    frames: list[Frame] = []
    home = esper.current_world
    process, install, switch = esper.process, ec.install, esper.switch_world

    def watched(*args: Any) -> None:
        frames.append(dict(bodies()))
        process(*args)

    def watched_install(*args: Any, **settings: Any) -> ec.Space:
        frames.append(dict(bodies()))
        return install(*args, **settings)

    def watched_switch(world: str) -> None:
        frames.append(dict(bodies()))
        switch(world)

    names: dict[str, Any] = {"__name__": "recipe"}
    esper.process, ec.install, esper.switch_world = watched, watched_install, watched_switch
    NAMES.clear()
    try:
        exec(compile(program, "recipe", "exec"), names)
    finally:
        esper.process, ec.install, esper.switch_world = process, install, switch
        NAMES.clear()
    if esper.current_world == home:  # and not one that is left, with bodies of others
        frames.append(dict(bodies()))
    return [frame for frame in frames if frame], names


def begin(context: Any, program: str, view: str) -> Callable[[float], None]:
    """Run a program; return a function that draws a frame at a time of the page's clock.

    Parameters
    ----------
    context : CanvasRenderingContext2D
    program : str
    view : str
        The part of its world that is shown: left, bottom, right and top.
    """
    home = esper.current_world
    esper.switch_world("recipe")
    frames, _ = play(program)
    esper.switch_world(home)
    esper.delete_world("recipe")
    seconds = max(len(frames) / 60, LEAST)
    left, bottom, right, top = map(float, view.split())
    canvas = context.canvas
    scale = min(canvas.width / (right - left), canvas.height / (top - bottom))
    x = (canvas.width - scale * (left + right)) / 2
    y = (canvas.height + scale * (bottom + top)) / 2

    def frame(now: float) -> None:
        n = int(now / 1000 % (seconds + PAUSE) * len(frames) / seconds)
        context.setTransform(1, 0, 0, 1, 0, 0)
        context.clearRect(0, 0, canvas.width, canvas.height)
        context.setTransform(scale, 0, 0, -scale, x, y)
        for seen in frames[min(n, len(frames) - 1)].values():
            context.fillStyle = DARK[seen.colour]
            context.globalAlpha = 0.4 if seen.crosses else 1.0
            corner = (at - half for at, half in zip(seen.centre, seen.half, strict=True))
            context.fillRect(*corner, *(2 * half for half in seen.half))

    return frame
