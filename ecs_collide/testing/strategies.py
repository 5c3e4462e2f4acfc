"""Hypothesis strategies for boxes, floors, crowds, worlds and scripts of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import esper
from hypothesis import strategies as st

from ecs_collide.components.basics import Deflect, Extents, Position, Push, Slide, Stop, Velocity
from ecs_collide.space import Space
from ecs_collide.systems import install

Vector = tuple[float, ...]

RESPONSES = (Deflect, Push, Slide, Stop)


class Box(NamedTuple):
    """A box: its centre and its half size, in world units."""

    centre: Vector
    half: Vector


class Mover(NamedTuple):
    """A moving box: its velocity in units per second, and the type of its response."""

    box: Box
    velocity: Vector
    response: type


@dataclass(frozen=True, slots=True)
class SampleWorld:
    """Static boxes and movers, no two of which overlap; `build` makes them in the current world."""

    solids: tuple[Box, ...]
    movers: tuple[Mover, ...]

    def build(self) -> Space:
        """Create the entities, solids first, and install a space."""
        for box in self.solids:
            esper.create_entity(Position(box.centre), Extents(box.half))
        for box, velocity, response in self.movers:
            body = Position(box.centre), Extents(box.half), Velocity(velocity)
            esper.create_entity(*body, response())
        some = [box.centre for box in self.solids] + [each.velocity for each in self.movers]
        return install(dim=len(some[0]))


def boxes(
    dim: int = 2, *, reach: float = 100.0, largest: float = 20.0, smallest: float = 0.5
) -> st.SearchStrategy[Box]:
    """Return boxes within `reach` of the origin, with half sizes from `smallest` to `largest`.

    Half of them have whole numbers, so that boxes touch exactly.
    """

    def numbers(low: float, high: float) -> st.SearchStrategy[float]:
        whole = st.integers(int(-(-low // 1)), int(high // 1)).map(float)
        return whole | st.floats(low, high)

    centre = st.tuples(*[numbers(-reach, reach)] * dim)
    half = st.tuples(*[numbers(smallest, largest)] * dim)
    return st.builds(Box, centre, half)


@st.composite
def tile_floors(
    draw: st.DrawFn, *, tile: float = 16.0, most: int = 12, highest: int = 3
) -> tuple[Box, ...]:
    """Return floors of separate square tiles with steps but no gaps.

    Parameters
    ----------
    tile : float
        The side of a tile.  The upper left corner of the first tile is the origin.
    most : int
        Tiles side by side.
    highest : int
        The most tiles that a step goes up or down.
    """
    steps = draw(st.lists(st.integers(-highest, highest), min_size=1, max_size=most))
    half = tile / 2
    height, found = 0, []
    for n, step in enumerate([0, *steps]):
        lower, height = height, height + step
        for row in range(min(lower, height), height + 1):
            found.append(Box((n * tile + half, row * tile - half), (half, half)))
    return tuple(found)


@st.composite
def crowds(
    draw: st.DrawFn,
    dim: int = 2,
    *,
    most: int = 16,
    cell: float = 8.0,
    speed: float = 500.0,
    responses: Sequence[type] = RESPONSES,
) -> tuple[Mover, ...]:
    """Return up to `most` moving boxes, each in a different cell: no two overlap."""
    side = max(2, int(most ** (1 / dim)) + 1)
    cells = draw(st.lists(st.integers(0, side**dim - 1), min_size=1, max_size=most, unique=True))
    halves = st.integers(1, int(cell // 2)).map(float)
    speeds = st.sampled_from([0.0, 1.0, -1.0, speed, -speed]) | st.floats(-speed, speed)
    found = []
    for number in cells:
        place = [(number // side**axis % side + 0.5) * cell for axis in range(dim)]
        half = tuple(draw(st.lists(halves, min_size=dim, max_size=dim)))
        velocity = tuple(draw(st.lists(speeds, min_size=dim, max_size=dim)))
        found.append(Mover(Box(tuple(place), half), velocity, draw(st.sampled_from(responses))))
    return tuple(found)


@st.composite
def worlds(
    draw: st.DrawFn, *, most: int = 12, cell: float = 8.0, speed: float = 500.0
) -> SampleWorld:
    """Return worlds in 2D: a crowd in a closed room, with a floor of tiles below it."""
    movers = draw(crowds(most=most, cell=cell, speed=speed))
    side = max(2, int(most**0.5) + 1) * cell
    tiles = [Box((x, -cell / 2), (cell / 2, cell / 2)) for x in _centres(side, cell)]
    walls = [
        Box((-cell / 2, (side - cell) / 2), (cell / 2, (side + cell) / 2)),
        Box((side + cell / 2, (side - cell) / 2), (cell / 2, (side + cell) / 2)),
        Box((side / 2, side + cell / 2), (side / 2 + cell, cell / 2)),
    ]
    return SampleWorld((*tiles, *walls), movers)


def _centres(side: float, cell: float) -> list[float]:
    return [(n + 0.5) * cell for n in range(round(side / cell))]


@st.composite
def input_scripts(
    draw: st.DrawFn, names: Sequence[str], *, steps: int = 120, most: int = 8
) -> list[tuple[str, int]]:
    """Return scripts for `Sim.play`: at most `most` parts and `steps` steps in all.

    Parameters
    ----------
    names : sequence of str
        The inputs; in each part any of them are held.
    """
    length = st.integers(1, max(1, steps // most))
    held = st.sets(st.sampled_from(list(names))).map(lambda some: " ".join(sorted(some)))
    return draw(st.lists(st.tuples(held, length), min_size=1, max_size=most))
