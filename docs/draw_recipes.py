"""The pictures of the cookbook: each recipe is run, and what its bodies did is drawn.

A full box is where a body is in the frame of the picture, a dashed one where it began, or was
last if it is gone, and a line is the way of its centre.  Bodies have the names of their variables.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import esper

import ecs_collide as ec
from docs.drawing import FAINT, FIRST, INK, SECOND, WIDE, Panel, Picture
from ecs_collide.components.filters import NAMES

PAGES = Path(__file__).parent
HIGH, GAP, NAMED = 200, 16, 12  # pixels: the height of a picture, around a panel, of a name
RESPONSES = (ec.Slide, ec.Deflect, ec.Push, ec.Stop)
Point = tuple[float, float]
View = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass
class Recipe:
    """How a recipe is drawn: parts of its world in one frame, and what is added."""

    views: tuple[View, ...]
    frame: int = -1  # counted in steps
    lines: tuple[tuple[str | Point, str | Point], ...] = ()  # between bodies or points, by names
    circle: tuple[Point, float] | None = None
    ways: bool = True
    unnamed: tuple[str, ...] = ()  # variables whose bodies get no names
    called: tuple[tuple[str, str], ...] = ()  # variables, and other names for their bodies


RECIPES = {
    "bullets": Recipe(
        ((-20, -30, 540, 30),),
        lines=(("player", "sparks"),),
        unnamed=("upper",),
        called=(("lower", "enemy"),),
    ),
    "explosion": Recipe(
        ((-105, -60, 105, 60),),
        lines=(((0, 0), "near"), ((0, 0), (-26, 0))),
        circle=((0, 0), 100),
    ),
    "stomp": Recipe(((-60, -20, 160, 140),), 110, called=(("left", "enemy"), ("right", "enemy"))),
    "dash": Recipe(((-20, -40, 220, 40),)),
    "ladder": Recipe(((-20, -20, 160, 160),), 150),
    "patrol_that_turns_at_ledges": Recipe(((-110, -25, 130, 50),), 70),
    "crumbling_platform": Recipe(((-90, -20, 90, 110),), 70),
    "triggers": Recipe(((-10, -20, 130, 25),)),
    "door_between_rooms": Recipe(((-20, -5, 120, 55), (1980, -5, 2120, 55)), 62),
    "damage_knock_back_and_a_moment_of_safety": Recipe(((-70, -20, 130, 90),), 48),
    "magnet": Recipe(((-20, -20, 220, 40),), 14, unnamed=("_",)),
    "line_of_sight": Recipe(((-20, -20, 220, 220),), lines=(("guard", "player"),)),
    "enemy_that_finds_its_way": Recipe(((-5, -5, 165, 180),)),
    "a_horde": Recipe(((-75, -50, 75, 50),), ways=False, unnamed=("n",)),
    "blocks_and_a_paddle": Recipe(((-20, -115, 210, 115),)),
    "bomb_to_walk_off": Recipe(((-20, -20, 50, 20),)),
    "moves_by_turns": Recipe(((-20, -12, 60, 28),)),
    "drawing_between_steps": Recipe(((-2, -2, 5, 2),)),
    "save_game": Recipe(((-15, -15, 45, 15),)),
    "mouse_picking": Recipe(((180, 180, 620, 420),), lines=(((500, 260), (430, 305)),)),
}


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


def programs() -> dict[str, str]:
    """Return the program of each recipe by its heading, such as ``door_between_rooms``."""
    found = {}
    for page in sorted(PAGES.glob("cookbook_*.md")):
        text = page.read_text("utf-8")
        for heading, program in re.findall(
            r"^## (.+?)$.*?^```python\n(.*?)^```", text, re.M | re.S
        ):
            found[re.sub(r"\W+", "_", heading.lower())] = program
    return found


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
    process, install = esper.process, ec.install

    def watched(*args: Any) -> None:
        frames.append(dict(bodies()))
        process(*args)

    def watched_install(*args: Any, **settings: Any) -> ec.Space:
        frames.append(dict(bodies()))
        return install(*args, **settings)

    names: dict[str, Any] = {"__name__": "recipe"}
    esper.process, ec.install = watched, watched_install
    NAMES.clear()
    try:
        exec(compile(program, "recipe", "exec"), names)
    finally:
        esper.process, ec.install = process, install
        NAMES.clear()
    if esper.current_world == home:  # and not one that is left, with bodies of others
        frames.append(dict(bodies()))
    return [frame for frame in frames if frame], names


def way(frames: list[Frame], entity: int) -> list[Point]:
    """Return the centres of a body, without those between two others on a line."""
    points = [frame[entity].centre for frame in frames if entity in frame]
    kept = points[:1]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        one = here[0] - before[0], here[1] - before[1]
        two = after[0] - here[0], after[1] - here[1]
        if abs(one[0] * two[1] - one[1] * two[0]) > 1e-9 or one[0] * two[0] + one[1] * two[1] < 0:
            kept.append(here)
    return kept + points[-1:]


def draw_recipe(name: str) -> Picture:
    """Run a recipe in a world of its own, and draw it."""
    recipe, home = RECIPES[name], f"picture of {name}"
    esper.switch_world(home)
    frames, names = play(programs()[name])
    esper.switch_world("default")
    esper.delete_world(home)

    frames = frames[: recipe.frame + 1 or None]
    wide = sum(right - left for left, _, right, _ in recipe.views)
    high = max(top - bottom for _, bottom, _, top in recipe.views)
    free = WIDE - GAP * (len(recipe.views) + 1)
    scale = min(free / wide, HIGH / high)
    picture = Picture(WIDE, round(high * scale) + 2 * GAP)
    start = (WIDE - wide * scale - GAP * (len(recipe.views) - 1)) / 2
    for view in recipe.views:
        panel = Panel(picture, (start - view[0] * scale, GAP + view[3] * scale), scale)
        draw_view(panel, view, recipe, frames, names)
        start += (view[2] - view[0]) * scale + GAP
    return picture


def draw_view(
    panel: Panel, view: View, recipe: Recipe, frames: list[Frame], names: dict[str, Any]
) -> None:
    """Draw a part of a world."""
    first: Frame = {}
    last: Frame = {}
    for frame in frames:
        first = frame | first
        last = last | frame
    drawn = {
        entity: seen for entity, seen in last.items() if entity in frames[-1] or entity in names
    }
    for entity, seen in last.items():
        is_there = entity in frames[-1]
        box(panel, view, seen, "" if is_there and not seen.crosses else "4 3", is_there)
        if recipe.ways and seen.moved(first[entity]):
            box(panel, view, first[entity], "4 3", False)
            points = way(frames, entity)
            for here, there in itertools.pairwise(points):
                if inside(view, here) and inside(view, there):
                    panel.picture.line(panel.at(here), panel.at(there), seen.colour)
    for variable, entity in names.items():
        if type(entity) is int and entity in drawn and variable not in recipe.unnamed:
            seen = last[entity]
            x, y = seen.centre[0], seen.centre[1] + seen.half[1]
            if inside(view, (x, y)):
                at = panel.at((x, y))
                name = dict(recipe.called).get(variable, variable)
                panel.picture.text((at[0], at[1] - 4), name, INK, NAMED)

    def point(what: str | Point) -> Point:
        value = names[what] if isinstance(what, str) else what
        if isinstance(value, int):
            return last[value].centre
        return value[0] if isinstance(value, list) else value

    for a, b in recipe.lines:
        panel.picture.line(panel.at(point(a)), panel.at(point(b)), INK, dash="2 3", arrow=True)
    if recipe.circle:
        centre, radius = recipe.circle
        panel.picture.ring(panel.at(centre), radius * panel.scale, INK)


def inside(view: View, point: Point) -> bool:
    """Return whether a point is in a part of a world."""
    return view[0] <= point[0] <= view[2] and view[1] <= point[1] <= view[3]


def box(panel: Panel, view: View, seen: Seen, dash: str, is_there: bool) -> None:
    """Draw the part of a box that is in the view."""
    low = [max(view[i], seen.centre[i] - seen.half[i]) for i in (0, 1)]
    high = [min(view[i + 2], seen.centre[i] + seen.half[i]) for i in (0, 1)]
    if low[0] < high[0] and low[1] < high[1]:
        half = ((high[0] - low[0]) / 2, (high[1] - low[1]) / 2)
        centre = (low[0] + half[0], low[1] + half[1])
        panel.box(centre, half, seen.colour, 0.25 if is_there else 0.0, dash)
