"""Scenes that random worlds seldom draw: each of their steps is the exact one.

A scene is played as it is written, mirrored, turned and in space, in other orders of creation, and
compared with the simulator: impacts, outcomes, impulses, contacts, places and velocities.  What
comes of it is not written here, because the rules of `tests/exact/simulator.py` say it.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator
from typing import NamedTuple

import esper
import pytest

import ecs_collide as ec
from ecs_collide import (
    Damping,
    Deflect,
    Dominance,
    Filter,
    Friction,
    Growth,
    LockedAxes,
    Mass,
    MaxSpeed,
    OneWay,
    Push,
    PushOut,
    Restitution,
    Sensor,
    Separate,
    Slide,
    Stop,
    Velocity,
)
from tests.exact.contact_oracle import pairs_in_contact
from tests.exact.twin import compare_step, read_bodies
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")

Parts = list[object]
RESPONSES = (Stop, Push, Slide, Deflect)
VECTORS = (ec.Position, ec.Extents, Velocity, Growth, LockedAxes)


class Scene(NamedTuple):
    """Bodies and the length of a step.

    Attributes
    ----------
    then : for each further step, the velocities that the game writes before it, by body
    misses : whether nothing meets
    """

    bodies: tuple[Parts, ...]
    dt: float = 1.0
    then: tuple[dict[int, tuple[float, ...]], ...] = ()
    pair_limit: int = 64
    misses: bool = False


class Turn(NamedTuple):
    """Where the axes of a scene go and with which signs, and in which order bodies are created."""

    axes: tuple[int, ...] = (0, 1, 2)
    signs: tuple[int, ...] = (1, 1, 1)
    order: int = 1
    in_space: bool = False


TURNS = (
    Turn(),
    Turn(signs=(-1, 1, 1), order=-1),
    Turn(axes=(2, 0, 1), signs=(1, -1, 1), in_space=True),
)


def scene(*bodies: Parts, **more) -> Scene:
    return Scene(bodies, **more)


def still(x: float, y: float, wide: float, high: float, *parts: object) -> Parts:
    """Return a body without a velocity, of which `wide` and `high` are half sizes."""
    return [ec.Position(x, y), ec.Extents(wide, high), *parts]


def moves(x: float, y: float, wide: float, high: float, v: float, w: float, *parts) -> Parts:
    return [*still(x, y, wide, high), Velocity(v, w), *parts]


def unit(x: float, y: float, v: float = 0, w: float = 0, *parts: object) -> Parts:
    """Return a dynamic body of size 2: with `Slide` if no response is given."""
    response = [] if any(isinstance(part, RESPONSES) for part in parts) else [Slide()]
    return moves(x, y, 1, 1, v, w, *response, *parts)


def cube(place: tuple, half: float, velocity: tuple, *parts: object) -> Parts:
    return [ec.Position(*place), ec.Extents(half, half, half), Velocity(*velocity), *parts]


# Growth ----------------------------------------------------------------------------------------

GROWING = {
    "a wall that grows pushes a crate": scene(still(0, 0, 1, 1, Growth(2, 0)), unit(5, 0), dt=2.0),
    "a ball bounces off a face that grows": scene(
        still(0, 0, 1, 1, Growth(2, 0)), unit(5, 0, -4, 0, Deflect())
    ),
    "a box that grows pushes itself off a wall": scene(
        still(0, 0, 1, 5), unit(3, 0, 0, 0, Growth(2, 0))
    ),
    "two that grow push each other apart": scene(
        unit(-2, 0, 0, 0, Growth(2, 0)), unit(2, 0, 0, 0, Growth(2, 0))
    ),
    "a point that explodes pushes all around it": scene(
        still(0, 0, 0, 0, Growth(8, 8)),
        *(unit(3 * x, 3 * y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y),
        dt=0.125,
        then=({}, {}),
    ),
    "growth and motion are one path": scene(
        unit(0, 0, 3, 0, Growth(1, 0)), still(6, 0, 1, 5), dt=2.0
    ),
    "boxes that grow in a row part in one instant": scene(
        *(unit(2 * n, 0, 0, 0, Growth(1, 0)) for n in range(4))
    ),
    "boxes that grow in a row at a wall move away from it": scene(
        still(-2, 0, 1, 1), *(unit(2 * n, 0, 0, 0, Growth(1, 0)) for n in range(3))
    ),
    "a wall that grows pushes a row": scene(
        still(-2, 0, 1, 1, Growth(2, 0)), *(unit(2 * n, 0) for n in range(3))
    ),
    "a box that grows faster opens the contact of a slower one beside it": scene(
        moves(-2, 0, 1, 2, 0, 0, Slide()),
        moves(2, 0, 1, 2, 0, 0, Slide()),
        unit(0, -1, 0, 0, Growth(1, 0)),
        unit(0, 1, 0, 0, Growth(2, 0)),
        dt=0.25,
    ),
    "a box that shrinks lets go": scene(
        still(0, -1, 5, 1), unit(0, 1, 0, 0, Growth(0, -1)), dt=0.5, misses=True
    ),
    "a box that outgrows its shaft is crushed": scene(
        still(-3, 0, 1, 5), still(3, 0, 1, 5), unit(0.5, 0, 0, 0, Growth(1, 0)), dt=3.0
    ),
    "boxes behind one that grows keep out of its face": scene(
        moves(0, -1, 0.5, 0.5, 1, 0, Slide()),
        moves(0, 0, 0.5, 0.5, 3, 0, Slide()),
        moves(1, -0.5, 0.5, 1, 0, 0, Slide(), Growth(0.5, 0)),
        dt=2.0**-20,
    ),
    "a box that grows parts the two beside it where they touch others": scene(
        moves(-1, 0, 0.5, 1, 1, 0, Slide()),
        moves(0, 0.5, 0.5, 0.5, 0, 0, Slide(), Growth(0.5, 0)),
        moves(1, 0, 0.5, 1, -1, 0, Slide()),
        moves(0, -0.5, 0.5, 0.5, 0.25, 0, Slide()),
        dt=2.0**-20,
    ),
    "boxes that grow beside one that has rebounded are not crushed": scene(
        still(1, 0, 0.5, 0.5),
        still(1, 2, 0.5, 0.5),
        moves(2, 0.75, 0.5, 0.5, 0, 0, Deflect(0.5), Growth(0.5, 0)),
        moves(2, 1.75, 0.5, 0.5, 0, 0, Slide()),
        moves(3, 1.25, 0.5, 0.5, 0, 0, Slide(), Growth(0.5, 0), Mass(3)),
        moves(4, 0.5, 0.5, 0.5, 0, 0, Slide()),
        dt=2.0**-20,
    ),
    "a row that one box of it grows into keeps its momentum": scene(
        moves(0, 0, 0.5, 0.5, 0, 0, Slide(), Mass(4)),
        moves(1, 0, 0.5, 0.5, -1, 0, Slide(), Mass(2)),
        moves(2, 0, 0.5, 0.5, -1, 0, Slide(), Mass(2), Growth(0.5, 0)),
        dt=2.0**-20,
    ),
    "two locked bodies of which one grows are crushed": scene(
        unit(0, 0, 0, 0, LockedAxes(x=True), Growth(1, 0)), unit(2.5, 0, 0, 0, LockedAxes(x=True))
    ),
} | {
    f"boxes that grow by {width} beside one between two walls are crushed at once": scene(
        *(still(x, 0, 0.5, 2) for x in (-2, 2)),
        *(moves(x, 0, 0.5, 0.5, 0, 0, Slide(), Growth(width if x else 0.5, 0)) for x in (-1, 0, 1)),
        dt=2.0**-20,
    )
    for width in (0, 0.5)
}  # fmt: skip

# Walls, lifts and pistons ----------------------------------------------------------------------

CRUSHING = {
    "a piston passes through both crates that it presses on one behind them": scene(
        moves(-3, 0, 1, 4, 8, 0), unit(0, 1.5), unit(0, -1.5, -2), moves(3, 0, 1, 3, 0, 0, Slide()),
        still(6, 0, 1, 5),
    ),
    "a chain of crates between walls that close": scene(
        moves(-6, 0, 1, 5, 2, 0), moves(6, 0, 1, 5, -2, 0), *(unit(2 * n - 2, 0) for n in range(3)),
        dt=1.25,
    ),
    "a body that leaves in time": scene(
        moves(-4, 0, 1, 2, 1, 0), moves(4, 0, 1, 2, -1, 0), unit(0, 0, 0, 5), dt=2.5,
        misses=True,
    ),
    "walls that go on over a body, and part again": scene(
        moves(-4, 0, 1, 5, 1, 0), moves(4, 0, 1, 5, -1, 0), unit(0, 0), dt=2.125,
        then=({}, {0: (-4, 0), 1: (4, 0), 2: (0, 0)}),
    ),
    "of two lifts that squeeze a crate the slower one keeps it": scene(
        moves(0, -2, 5, 1, 0, 3), moves(0, 2, 5, 1, 0, -6), unit(0, 0), dt=1 / 64, then=({}, {})
    ),
    "a lift presses a player and a crate against the ceiling": scene(
        moves(0, -4, 9, 1, 0, 8), unit(0, 0, 0, 0, Dominance(5)), unit(0, 3), still(0, 5, 9, 1)
    ),
    "a lift meets a body that cannot rise": scene(
        moves(0, -4, 9, 1, 0, 8), unit(0, 0, 0, 0, LockedAxes(y=True))
    ),
    "a paddle hits a ball": scene(
        moves(-5, 0, 1, 3, 10, 0), moves(0, 0, 0.5, 0.5, -4, 1, Deflect()), dt=0.5
    ),
    "a paddle catches up with a ball": scene(
        moves(-5, 0, 1, 3, 10, 0), moves(0, 0, 0.5, 0.5, 3, 0, Deflect(0.5))
    ),
    "a piston pushes a row of crates": scene(
        moves(-3, 0, 1, 1, 4, 0), *(unit(3 * n, 0, 0, 0, Mass(1 + n)) for n in range(4)), dt=4.0
    ),
    "a piston pushes a row of crates against a wall": scene(
        moves(-3, 0, 1, 1, 4, 0), *(unit(2 * n, 0) for n in range(3)), still(10, 0, 1, 5), dt=1.5
    ),
    "kinematic bodies pass through each other": scene(
        moves(-3, 0, 1, 1, 4, 0), moves(3, 0, 1, 1, -4, 0)
    ),
    "who stops for a lift beside a wall goes on along it": scene(
        moves(0, 0, 5, 1, 5, 1), still(4, 10, 1, 20), unit(1.5, 2, 5, 0, Stop())
    ),
    "a box between a lift and a wall beside it follows the lift": scene(
        still(-1, -0.5, 0.5, 0.5), moves(0, 0, 0.5, 0.5, -1, 0, Slide()),
        moves(-1, 0.5, 0.5, 0.5, 0.5, 0), dt=2.0**-20,
    ),
} | {
    f"two walls close on a body with {kind.__name__}": scene(
        moves(-4, 0, 1, 5, 1, 0), moves(4, 0, 1, 5, -1, 0), unit(0.5, 0, 2, 0, kind()), dt=4.0
    )
    for kind in RESPONSES
} | {
    f"a piston presses {n} crates with {kind.__name__} into a wall": scene(
        still(-10, 0, 10, 10), *(moves(4 + 9 * k, 0, 4, 4, 0, 0, kind()) for k in range(n)),
        moves(9 * n + 4, 0, 4, 4, -128, 0), dt=1 / 32, then=({}, {}),
    )
    for n, kinds in ((1, RESPONSES), (3, RESPONSES[:3]))  # rounding ends the rebounds of three
    for kind in kinds
}  # fmt: skip

# Who pushes whom -------------------------------------------------------------------------------

PUSHING = {
    "a player pushes heavy crates": scene(
        unit(0, 0, 8, 0, Dominance(1)), *(unit(x, 0, 0, 0, Mass(1000)) for x in (4, 6))
    ),
    "a crate does not push a light player": scene(
        unit(0, 0, 0, 0, Dominance(1), Mass(2.0**-10)), unit(8, 0, -8, 0)
    ),
    "a ball bounces off a player as off a wall": scene(
        unit(0, 0, 2, 0, Dominance(1)), unit(8, 0, -10, 0, Deflect())
    ),
    "bodies of one level push each other by their mass": scene(
        unit(0, 0, 8, 0, Dominance(3)), unit(4, 0, 0, 0, Dominance(3), Mass(3))
    ),
    "a negative level gives way": scene(unit(0, 0, 8, 0, Dominance(-1), Mass(100)), unit(4, 0)),
    "a wall behind the crates stops the player": scene(
        unit(0, 0, 8, 0, Dominance(1)), *(unit(x, 0) for x in (4, 6, 8)), still(10, 0, 1, 9),
        then=({0: (8, 0)}, {0: (8, 0)}),
    ),
    "an elastic crate between the player and a wall": scene(
        unit(0, 0, 8, 0, Dominance(1)), unit(4, 0, 0, 0, Deflect()), still(7, 0, 1, 9), dt=0.25,
        then=({0: (8, 0)}, {0: (8, 0)}),
    ),
    "two players push a crate against each other": scene(
        unit(0, 0, 8, 0, Dominance(1), Mass(3)), unit(2, 0, 0, 0, Mass(50)),
        unit(4, 0, -8, 0, Dominance(1)),
    ),
    "a ball bounces off what a higher body drives": scene(
        unit(0, 0, 8, 0, Dominance(2)), unit(2, 0), unit(4, 0, -8, 0, Deflect(), Dominance(1))
    ),
    "a player who leaves a row leaves it its speed": scene(
        unit(0, 0, 8, 0, Dominance(1)), unit(2, 0), unit(4, 0), dt=0.25, then=({0: (-8, 0)},)
    ),
    "one who blocks outweighs the others of its level": scene(
        unit(0, 0, 8, 0, Dominance(1, blocks=True)), unit(4, 0, 0, 0, Dominance(1))
    ),
    "people who block bounce off each other as off walls": scene(
        unit(0, 0, 8, 0, Deflect(0.5), Dominance(1, blocks=True)),
        unit(10, 0, -4, 0, Deflect(0.5), Dominance(1, blocks=True), Mass(128)),
        unit(14, 0, 0, 0, Deflect(0.5), Dominance(1, blocks=True)),
    ),
    "a box of a higher level is not turned by those behind it": scene(
        moves(0, -1, 0.5, 0.5, 1, 0, Slide()), moves(0, 0, 0.5, 0.5, 3, 0, Slide()),
        moves(1, -0.5, 0.5, 1, 0, 0, Slide(), Dominance(1)), dt=2.0**-20,
    ),
    "a box between two rows leaves with the faster one": scene(
        moves(0, -1, 0.5, 0.5, 1, 0, Slide()), moves(0, 0, 0.5, 0.5, 3, 0, Slide()),
        moves(1, -0.5, 0.5, 1, 0, 0, Slide()), dt=2.0**-20,
    ),
    "a group ends when time goes on": scene(
        moves(0, 1, 1, 2, 8, 0, Slide()), unit(4, 0), still(6, 2.5, 1, 0.5)
    ),
    "a box that stops beside its partner takes no energy that a parted box has again": scene(
        moves(0, 0, 0.5, 0.5, 1, 1, Slide()), moves(1, -0.25, 0.5, 0.5, 0, 0, Slide()),
        moves(1, 0.75, 0.5, 0.5, -3, 0, Stop(), Mass(1024)), dt=2.0**-20,
    ),
    "a box of a higher rank that presses on nothing hides no pull of a lower one": scene(
        moves(0, 1, 0.5, 0.5, -3, 0, Slide()), moves(0, 2, 0.5, 0.5, 0, 0, Slide(), Dominance(2)),
        moves(1, 0.75, 0.5, 0.5, -2, 0, Slide(), Dominance(1)),
        moves(1, 1.75, 0.5, 0.5, -4, 0, Slide()), moves(2, 2.25, 0.5, 0.5, 0, 0, Slide()),
        moves(3, 2.25, 0.5, 0.5, -4, 0, Slide(), Dominance(2)), dt=2.0**-20,
    ),
    "of two equal clusters that merge again the slower keeps its path": scene(
        unit(0, 0, 16, 0), unit(4, 0), unit(8, 0)
    ),
    "members of a lasting cluster pass their share of its momentum to a wall": scene(
        unit(0, 0, 16, 0, Mass(3)), unit(4, 0, 0, 0, Mass(3)), unit(8, 0), still(12, 0, 1, 1)
    ),
    "a player who is hit from behind drives the crates before it on": scene(
        unit(-2, 0, 24, 0, Deflect(), Dominance(1)), unit(0, 0, 8, 0, Dominance(1)), unit(2, 0),
        unit(4, 0, 0, 0, Mass(3)), unit(0, 2),
    ),
    "two boxes at the limit of their rebounds move on as one": scene(
        *(
            moves(x, 0, 0.5, 0.5, 0 if x else 1, 0, Deflect(), Mass(1 if x == 1 else 15))
            for x in range(3)
        ),
        dt=2.0**-20, pair_limit=2,
    ),
    "boxes at the limit of their rebounds beside a wall are held": scene(
        still(-1, 0, 0.5, 0.5), moves(0, 0, 0.5, 0.5, 0, 0, Slide()),
        moves(1, 0, 0.5, 0.5, -1, 0, Deflect(), Mass(2)), dt=2.0**-20, pair_limit=4,
    ),
    "a box flush between two others is parted from the first in space": scene(
        *(
            moves(x, y, 0.5, 0.5, speed, 0, Slide(), Mass(mass))
            for x, y, speed, mass in (
                (0, -0.5, 1, 1), (0, 0.5, -1, 1), (1, -1, 0, 2.0**20),
                (1, 0, -1, 1), (2, -0.75, 0, 2.0**20), (3, -1.25, -1, 1),
            )
        ),
        still(3, -0.25, 0.5, 0.5), dt=2.0**-20, then=({},),
    ),
} | {
    f"a crate with a restitution of {restitution} meets a lasting cluster of players": scene(
        *(
            unit(x, 0, v, 0, Dominance(1), Mass(mass))
            for x, v, mass in ((0, 16, 3), (4, 0, 3), (8, 0, 1))
        ),
        unit(16, 0, -8, 0, Deflect(restitution)),
    )
    for restitution in (1, 0.5, 0.25)
} | {
    f"push beside an infinite mass that grows by {growth}": scene(
        unit(0, 0, 3, 4, Push()), unit(0, 4, -1, -1, Mass(math.inf), Growth(growth, growth))
    )
    for growth in (0.25, 0.7, -0.25)
} | {
    f"people who block, with crates: {people} {crates}": scene(
        *(unit(x, 0, v, 0, Dominance(1, blocks=True)) for x, v in people),
        *(unit(x, 0) for x in crates),
        dt=0.25, then=tuple({n: (v, 0) for n, (_, v) in enumerate(people)} for _ in range(3)),
    )
    for people, crates in (
        ([(0, 8), (5, 0)], []), ([(0, 8), (10, -8)], []), ([(0, 8), (5, 4)], []),
        ([(0, 8), (4, 0), (8, -4)], []), ([(0, 8), (9, 0)], [4]), ([(0, 12), (20, -12)], [8, 12]),
    )
} | {
    f"{n} of six balls in a cradle arrive": scene(
        *(
            moves(k - 2 if k < n else k, 0, 0.5, 0.5, 4 if k < n else 0, 0, Deflect())
            for k in range(6)
        )
    )
    for n in range(1, 6)
}  # fmt: skip

# What a body may not do ------------------------------------------------------------------------

LIMITED = {
    "a door slides on its free axis only": scene(
        moves(0, 0, 1, 3, 0, 0, Slide(), LockedAxes(y=True)), unit(-6, 0, 8, 0, Mass(3)),
        unit(0, 9, 0, -8, Mass(9)),
    ),
    "a velocity along a locked axis is taken": scene(
        unit(0, 0, 5, 7, LockedAxes(y=True)), unit(6, 0)
    ),
    "a ball bounces off a locked body as off a wall": scene(
        unit(0, 0, 0, 0, Deflect(), LockedAxes(x=True, y=True)),
        unit(8, 0, -8, 0, Deflect(), Mass(1024)),
    ),
    "a locked axis takes no friction and no push": scene(
        still(0, -1, 50, 1, Friction(1)), unit(0, 1, 0, -4, LockedAxes(x=True), Friction(1)),
        unit(0, 5, 6, -8, Friction(1)), unit(20, 5, 6, -8, Push(), LockedAxes(x=True)),
    ),
    "two that stop take the velocity of the one that is locked": scene(
        moves(0, 0, 1, 2, 4, 0, Stop(), LockedAxes(y=True)), moves(4, 0, 1, 2, 0, 2, Stop())
    ),
    "two that stop, the second locked": scene(
        moves(0, 0, 1, 2, 4, 2, Stop()), moves(4, 0, 1, 2, 0, 0, Stop(), LockedAxes(y=True))
    ),
    "friction acts along the free axis": scene(
        still(0, -1, 64, 1), unit(0, 1, 30, -4, Friction(1), LockedAxes(y=True)),
        unit(9, 1, 30, -4, Friction(1)),
    ),
    "two that rub with one axis of each locked": scene(
        [
            ec.Position(0, 0, 0), ec.Extents(9, 1, 9), Velocity(0, 0, 6), Slide(), Friction(9),
            LockedAxes(x=True),
        ],
        cube((0, 3, 0), 1, (8, -4, 0), Slide(), Friction(9), LockedAxes(z=True)),
    ),
    "a lower body that is locked does not drag a higher one along": scene(
        unit(0, 0, 8, 0, Dominance(1)),
        unit(4, 0, 0, -2, Friction(1), LockedAxes(x=True), Restitution(1)), dt=0.5,
    ),
    "a higher body slides over a lower one that is locked": scene(
        unit(0, 0, 8, 2, Dominance(1)), unit(4, 0, 0, 0, Friction(1), LockedAxes(x=True, y=True)),
        dt=0.5,
    ),
    "a maximum keeps the direction": scene(
        unit(0, 0, 30, 40, MaxSpeed(5)), still(3, 3, 0.5, 0.5), dt=2.0
    ),
    "who is hit is faster than its maximum within the step": scene(
        unit(0, 0, 0, 0, Deflect(), MaxSpeed(10)), moves(-4, 0, 1, 1, 40, 0), dt=0.125
    ),
} | {
    f"a partner that is locked along the normal, and {kind.__name__}": scene(
        unit(0, 0, 10, 1, kind(), Friction(1)),
        moves(4, 0, 1, 20, 0, 13, Slide(), LockedAxes(x=True)), dt=0.5,
    )
    for kind in (Push, Stop, Slide)
}  # fmt: skip

# Surfaces --------------------------------------------------------------------------------------

SURFACES = {
    "what is not dynamic has no restitution of its response": scene(
        unit(0, 5, 0, -8), still(0, 0, 9, 1, Deflect(1))
    ),
    "friction takes as much as the impact takes from the normal": scene(
        still(0, -1, 500, 1), unit(0, 11, 30, -20, Friction(0.25)),
        unit(40, 11, 30, -20, Deflect(0.5), Friction(0.25)),
        unit(-90, 11, 3, -20, Deflect(1), Friction(0.25)),
    ),
    "without what presses there is no friction": scene(
        still(0, -1, 500, 1, Friction(5)), unit(0, 1, 30, 0, Friction(5)), misses=True
    ),
    "two that stick go on exactly alike": scene(
        moves(0, 4, 3, 1, 1, -8, Slide(), Friction(5), Mass(3)),
        moves(0, -4, 3, 1, 2, 0, Slide(), Friction(5)),
    ),
    "push and stop have a rule of their own": scene(
        still(0, -1, 500, 1), unit(0, 17, 24, -32, Stop(), Friction(0.5)),
        unit(9, 17, 24, -32, Push(), Friction(0.5)),
    ),
    "flush beside a trampoline it does not throw": scene(
        still(0, -10, 10, 10, Restitution(0.5)), still(60, -10, 50, 10),
        moves(18, 60, 8, 8, 0, -64, Slide()),
    ),
    "of two crates that one lands on neither is a wall": scene(
        moves(-8, 8, 8, 8, 0, 0, Slide()), moves(8, 8, 8, 8, 0, 0, Slide(), Restitution(0.5)),
        still(0, -10, 100, 10), moves(0, 60, 6, 8, 0, -64, Slide()),
    ),
    "a crate that gives way bears no part of what presses a player on a floor": scene(
        unit(-1, -1, 0, 0, Friction(1)), still(8, -1, 8, 1, Friction(1)),
        moves(-3, 4, 2, 1, 9, -8, Slide(), Dominance(1), Friction(1)), dt=0.5,
    ),
    "stop takes what energy the hit has left": scene(
        unit(0, 0, 1, 7), unit(2.5, 0, -1, 0, Stop())
    ),
    "two that stop at two walls have the energy beside the mean of both": scene(
        moves(1.5, -1.125, 0.5, 1, 0, 8), moves(1.5, 0.875, 0.5, 1, 0, -1),
        moves(0, 0, 0.5, 0.5, 4, 0, Stop(), Mass(2)), moves(0, 1, 0.5, 0.5, 4, 5, Stop()),
    ),
    "a contact keeps its friction if its pair then meets at another side": scene(
        unit(13, 8, -16, 0, Mass(3), Friction(0.1)), unit(8, 3, 0, 16, Deflect(0.5), Mass(3)),
        still(6, 7, 1, 2), dt=0.5,
    ),
} | {
    f"a trampoline and {kind.__name__}": scene(
        unit(0, 5, 2, -8, kind()), still(0, 0, 9, 1, Restitution(0.75))
    )
    for kind in RESPONSES
} | {
    f"a trampoline between two floors throws at {x}": scene(
        still(-60, -10, 50, 10), still(0, -10, 10, 10, Restitution(0.5)), still(60, -10, 50, 10),
        moves(x, 60, 8, 8, 0, -64, Slide()),
    )
    for x in (-17, -10, 0)
} | {
    "the row before a crate that the floor stops rubs by what the crate has given": scene(
        still(0, -1, 1, 1), unit(0, 1, 8, -4, Stop()), unit(2, 1, 0, 3, Friction(0.5)),
        unit(4, 1, 0, -2, Friction(0.5)), unit(6, 1),
    ),
} | {
    f"two floors rub at {x} by the width of each contact": scene(
        still(-50, -10, 50, 10, Friction(0.25)), still(50, -10, 50, 10, Friction(1)),
        moves(x, 9, 8, 8, 100, -4, Slide(), Friction(1)),
    )
    for x in (-6, -4, 4)
} | {
    f"masses {one} and {other} share the friction": scene(
        moves(0, 4, 3, 1, 40, -8, Slide(), Friction(0.5), Mass(one)),
        moves(0, -4, 100, 1, 0, 0, Slide(), Mass(other)),
    )
    for one, other in ((1, 1), (3, 1), (1, 5))
} | {
    f"a pile of crates of roughness {rough} slides where friction cannot hold it": scene(
        still(0, -1, 500, 1, Friction(0.5)), *(
            unit(0, 2 * row + 1, 30, -8, Friction(of), Mass(row % 3 + 1))
            for row, of in enumerate(rough)
        ),
    )
    for rough in ((0.5,) * 4, (0.5, 0.02, 0.5, 0.5), (0.1, 0.9, 0.3, 0.5), (0.9, 0.5, 0.3, 0.1))
} | {
    f"bricks in {n} rows slide as one": scene(
        still(0, -1, 500, 1, Friction(0.5)), *(
            moves(4 * x + 2 * (row % 2), 2 * row + 1, 1.75, 1, 30, -8, Slide(), Friction(0.75))
            for row in range(n) for x in range(3)
        ),
    )
    for n in (2, 3)
} | {
    f"a crate between a floor and a ceiling that go at {below} and {above}": scene(
        moves(0, -1, 90, 1, below, 4, Friction(0.5)), moves(0, 5, 90, 1, above, -4, Friction(1)),
        unit(0, 1, 5, 0, Friction(0.5)), unit(0, 3, 5, -1, Friction(1)),
    )
    for below, above in ((0, 0), (3, -3), (2, 8))
}  # fmt: skip

# One-way platforms, and who meets whom ---------------------------------------------------------

UP, DOWN = OneWay((0, 1)), OneWay((0, -1))
PASSING = {
    "a platform is solid against its normal and open from everywhere else": scene(
        still(0, 0, 5, 5, UP), *(unit(x, y, v, w, Filter(group=-1)) for x, y, v, w in (
            (0, 20, 0, -40), (0, -20, 0, 40), (-20, 0, 40, 0), (2, 3, 0, -40), (0, 5.75, 0, -40),
            (0, 6, 0, -40), (0, 6, 0, 0), (7, 20, 0, -40),
        )),
    ),
    "over the very corner it lands": scene(
        still(0, 0, 5, 1, UP), unit(-16, 12, 20, -20), unit(-26, 12, 40, -20, Filter(group=-1)),
        unit(-11, 12, 10, -20, Filter(group=-1)),
    ),
    "who comes below the corner passes": scene(
        still(0, 0, 5, 1, UP), unit(-16, 11.5, 20, -20), unit(46, 11.5, -80, -20)
    ),
    "over a corner of two with sides at right angles they pass": scene(
        moves(0, 0, 5, 1, 0, 0, Slide(), UP), unit(16, 12, -20, -20, OneWay((-1, 0))), misses=True
    ),
    "two platforms that face each other hold and others pass": scene(
        moves(0, -2, 5, 1, 0, 0, Slide(), UP, LockedAxes(y=True)), unit(0, 4, 0, -10, DOWN),
        unit(3, 4, 0, -10, UP),
    ),
    "a sensor crosses a platform": scene(
        still(0, 0, 5, 1, UP), moves(0, 10, 1, 1, 0, -20, Sensor())
    ),
    "a platform that rises takes what is above and not what is beside": scene(
        moves(0, -10, 5, 1, 0, 20, UP), unit(4, -10.5), unit(-4, 2)
    ),
    "a lift with one way lets up and takes along": scene(
        moves(0, 0, 5, 1, 0, 10, UP), unit(3, -10, 0, 40), unit(-3, 2),
        then=({1: (0, -60)},),
    ),
    "a bounce off a platform is a contact and passing it is none": scene(
        still(0, 0, 5, 1, UP), unit(0, 4, 0, -4, Deflect()), unit(3, -4, 0, 8, Deflect())
    ),
    "the highest category and the largest group count": scene(
        unit(0, 0, 10, 0, Filter(1 << 31, 1 << 31, 0)), still(5, 0, 1, 1, Filter(1 << 31, 1 << 31)),
        unit(0, 10, 10, 0, Filter(group=1 - 2**31)), still(5, 10, 1, 1, Filter(group=1 - 2**31)),
    ),
    "who is let pass is met by nobody who turns to it": scene(
        still(-6, 0, 1, 1, Filter(2, 2)), still(6, 0, 1, 1), unit(0, 0, 20, 0, Deflect())
    ),
    "what is as air is neither crossed nor touched": scene(
        unit(0, 0, 10, 0, Filter(2, 2)), still(5, 0, 1, 1, Sensor(), Filter(1, 1)),
        still(11, 2, 1, 1, Filter(1, 1)), dt=0.5, then=({}, {}), misses=True,
    ),
}  # fmt: skip

# Sensors ---------------------------------------------------------------------------------------

CROSSING = {
    "in and out within a step": scene(unit(0, 0, 20, 0), still(5, 0, 1, 1, Sensor())),
    "in in one step and out in another": scene(
        moves(0, 0, 1, 1, 8, 0), still(5, 0, 1, 1, Sensor()), dt=0.25, then=({},) * 3
    ),
    "in and out exactly between steps": scene(
        moves(0, 0, 1, 1, 1, 0), still(5, 0, 1, 1, Sensor()), dt=1.5, then=({},) * 5
    ),
    "from inside, and out in the second step": scene(
        unit(0.5, 0, 1, 0), still(0, 0, 1, 1, Sensor()), then=({},), misses=True
    ),
    "a sensor in flight is stopped by nothing": scene(
        moves(0, 0, 1, 1, 20, 3, Sensor()), still(5, 0, 1, 9), unit(12, 2)
    ),
    "a ball that turns back at the edge of a sensor stays inside": scene(
        unit(8, 8.5, 16, 0, Deflect()), still(12.5, 8, 1.5, 1.5, Sensor()), still(18, 8, 2, 9),
        dt=0.5, then=({},),
    ),
    "a ball that turns as it would leave a sensor goes back through it": scene(
        unit(0, 0, 8, 0, Deflect()), still(0, 0, 3, 3, Sensor()), still(6, 0, 1, 5), then=({},)
    ),
    "a bounce inside a sensor leaves it again": scene(
        moves(0, 0, 0.5, 0.5, 10, 0, Deflect()), still(5, 0, 1, 1, Sensor()), still(6.5, 0, 1, 5)
    ),
    "in and out and in again within a step": scene(
        moves(0, 0, 0.5, 0.5, 64, 0, Deflect()), still(5, 0, 1, 1, Sensor()),
        still(11, 0, 0.5, 5), still(-1.5, 0, 0.5, 5),
    ),
    "who touches a sensor is not inside it": scene(
        unit(0, 0), still(2, 0, 1, 1, Sensor()), dt=0.25, then=({0: (0, 3)}, {0: (0, -3)}),
        misses=True,
    ),
    "a bullet without a response reports what it flies through": scene(
        moves(0, 0, 0.5, 0.5, 100, 0), *(still(10 * x, 0, 1, 1) for x in (3, 1, 2))
    ),
    "what a floor holds does not enter a sensor flush with it": scene(
        still(0, -1, 4, 1, Sensor()), still(0, -1, 4, 1), unit(0, 2, 0, -3), then=({2: (0, -3)},)
    ),
}  # fmt: skip

# When contacts begin and end -------------------------------------------------------------------

TOUCHING = {
    "several bounces in a step are as many contacts": scene(
        still(-1, 0, 1, 5), unit(2, 0, 8, 0, Deflect()), moves(9, 0, 1, 5, -4, 0)
    ),
    "a contact goes on if a body is brought back at once": scene(
        still(10, 0, 1, 5), unit(6, 0, 4, 0, Deflect()), unit(4, 0, 4, 0, Deflect())
    ),
    "a bounce off two tiles is a contact with both": scene(
        still(-1, -1, 1, 1), still(1, -1, 1, 1), unit(0, 3, 0, -4, Deflect())
    ),
    "who jumps off ends its contact at once, and lands anew": scene(
        still(0, -1, 5, 1), still(0, 4, 5, 1), unit(0, 1, 0, 0, Deflect()), dt=0.375,
        then=({2: (0, 8)}, {}),
    ),
    "who is thrown back on to the floor stands there since then": scene(
        still(0, -1, 5, 1), unit(0, 1), moves(0, 5, 1, 1, 0, 0), dt=0.5,
        then=({1: (0, 8), 2: (0, -8)},),
    ),
    "a crushed pair is in contact until it is apart": scene(
        still(0, 9, 20, 1), moves(0, 0, 5, 1, 0, 8), unit(0, 2),
        then=({1: (0, 0), 2: (-32, 0)},),
    ),
    "overlapping bodies part": scene(
        still(0, 0, 2, 2), moves(3, 0, 2, 2, -1, 0, Slide()), then=({1: (4, 0)},)
    ),
    "who slides off the edge ends its contact": scene(
        still(0, -1, 5, 1), unit(0, 1, 0, -1), dt=0.25, then=({1: (9, 0)},) * 3
    ),
    "boxes that meet at a corner only are in no contact": scene(
        unit(0, 0), still(2, 2, 1, 1), misses=True
    ),
    "who lands at the very end of a step is in contact": scene(
        still(0, -1, 5, 1), unit(0, 5, 0, -4), then=({}, {1: (0, 4)})
    ),
} | {
    f"two that bounce from a distance of {distance}": scene(
        unit(-distance / 2 - 1, 0, 1, 0, Deflect()), unit(distance / 2 + 1, 0, -1, 0, Deflect()),
        then=({},) * 3,
    )
    for distance in (2, 4, 4.5, 5)
}  # fmt: skip

# Corners, and what is due at one instant -------------------------------------------------------

AT_ONCE = {
    "two balls bounce off a crate at once that another has joined before": scene(
        unit(0, 0, 8, 0, Restitution(0, ec.CombineRule.MIN)),
        moves(3, 0, 1, 3, 0, 0, Slide(), Restitution(0.5, ec.CombineRule.AVERAGE)),
        unit(6, 1.5, 0, 0, Deflect()), unit(6, -1.5, 0, 0, Deflect(0.5)), dt=0.5,
    ),
    "an outer corner that is hit exactly goes to one side": scene(
        unit(0, 0, 4, 4), still(4, 4, 1, 1)
    ),
    "a slot as wide as the box lets it in": scene(
        still(-2, -5, 1, 5), still(2, -5, 1, 5), unit(0, 3, 0, -4), then=({},), misses=True
    ),
    "a face that becomes a corner within its instant waits for the other faces": scene(
        moves(-3, -1.5 - 2.0**24, 4, 0.5, 0, 2.0**25, Deflect()), unit(4, 0, -8, 0, Deflect()),
        unit(-2, 2 - 2.0**-22, 0, 0, Deflect()), moves(9.5, 0, 0.5, 0.5, -16, 0, Deflect()),
    ),
    "who lands on two tiles is told of both": scene(
        still(-1, 0, 1, 1), still(1, 0, 1, 1), unit(0, 6, 0, -10)
    ),
    "a step that is higher than the floor is a wall": scene(
        still(-1, -1, 1, 1), still(1, -0.75, 1, 1), moves(-1, 1, 0.5, 1, 8, -1, Slide())
    ),
    "of two walls far ahead the nearer one is met": scene(
        still(50, 0, 1, 5), still(6, 0, 1, 5), unit(0, 0, 2.0**20, 0)
    ),
    "one body is hit along all axes at once, and flush with a box along each": scene(
        unit(0, 0), *(unit(-2 * x, -2 * y, x, y) for x, y in ((1, 0), (0, 1))),
        *(unit(2 * x, 2 * y) for x, y in ((1, 0), (0, 1))), dt=0.125,
    ),
    "in space one body is hit along all axes at once": scene(
        cube((0, 0, 0), 1, (0, 0, 0), Slide()),
        *(
            cube([-2 * (n == k) for n in range(3)], 1, [1 * (n == k) for n in range(3)], Slide())
            for k in range(3)
        ),
        *(cube([2 * (n == k) for n in range(3)], 1, (0, 0, 0), Slide()) for k in range(3)),
        dt=0.125,
    ),
} | {
    f"a box with {kind.__name__} into a corner": scene(
        still(20, -1, 40, 1), still(-1, 20, 1, 40), unit(9, 9, -16, -16, kind()),
        then=({2: (-16, -16)},),
    )
    for kind in RESPONSES
} | {
    f"a landing at a speed of {speed} aimed exactly at a seam": scene(
        *(still(2 * k + 1, -1, 1, 1) for k in range(4)), unit(3 - speed / 2, 3, speed, -4)
    )
    for speed in (2, 4, 8)
}  # fmt: skip

# Ways out of overlaps -------------------------------------------------------------------------

BLOCK = still(0, 0, 5, 5)
OUT = {
    "it is moved no faster than it says": scene(
        still(0, 0, 50, 5), unit(0, 3, 0, 0, PushOut(8)), dt=0.125, then=({},) * 3, misses=True
    ),
    "a lid bars the shortest way": scene(
        BLOCK, still(0, 7.5, 5, 1), unit(0, 4, 0, 0, PushOut()), misses=True
    ),
    "where there is no way it stays": scene(
        *(still(x, y, 10, 10) for x in (-20, 0, 20) for y in (-20, 0, 20)),
        unit(3, 3, 0, 0, PushOut()), misses=True,
    ),
    "out of two tiles it goes up and not through the seam": scene(
        *(still(2 * n + 1, -4, 1, 4) for n in range(-3, 3)), unit(0.5, -0.5, 0, 0, PushOut(4)),
        dt=0.25, then=({},) * 2, misses=True,
    ),
    "out of one it does not go deeper into another": scene(
        still(0, -1, 50, 1), unit(0, 0.5, 0, 0, PushOut(20), Mass(4)),
        unit(0, 2, 0, 0, PushOut(50)), still(0, 4, 5, 1),
        *(still(x, 2.25, 1, 0.5) for x in (-2, 2)), dt=1 / 64, then=({},) * 2,
    ),
    "out of two steps of a stair one at a time": scene(
        still(-1, 0, 1, 5), still(1, 0.5, 1, 5), unit(0, 5.5, 0, 0, PushOut()), then=({},),
        misses=True,
    ),
    "between two walls that it is in it goes up and not through the farther one": scene(
        *(still(x, 0, 2.5, 20) for x in (-3, 3)), unit(0, 0.5, 0, 0, PushOut(8)), dt=0.125,
        misses=True,
    ),
    "of two with it the lighter is moved": scene(
        moves(0, 0, 2, 2, 0, 0, Slide(), PushOut(), Mass(0.5)),
        moves(1, 0, 2, 2, 0, 0, Slide(), PushOut()), misses=True,
    ),
    "nothing pushes out of what is not solid": scene(
        still(0, 0, 5, 5, Sensor()), still(0, 0, 5, 5, Filter(2)),
        unit(4, 1, 0, 0, PushOut(), Filter(1, 1)), misses=True,
    ),
    "who is not dynamic or a sensor is not moved": scene(
        BLOCK, moves(4, 1, 1, 1, 0, 0, PushOut()), unit(4, 1, 0, 0, Sensor(), PushOut()),
        misses=True,
    ),
    "on its way it resolves what it meets": scene(
        BLOCK, unit(9, 1, -256, 0), unit(4, 1, 0, 0, PushOut(64), Mass(3)), dt=1 / 64,
        then=({},) * 4,
    ),
    "members of a soft crowd pass through each other": scene(
        unit(-5, 0.125, 64, 0, Separate(8)), unit(5, 0, -64, 0, Separate(8)), dt=1 / 16,
        then=({},) * 4, misses=True,
    ),
    "a pair of which one is a member is hard": scene(
        unit(-5, 0, 64, 0, Separate(8)), unit(5, 0, -64, 0), dt=1 / 8
    ),
    "long members part the short way": scene(
        *(moves(x, x / 8, 20, 1, 0, 0, Slide(), Separate(64)) for x in (0, 4)), dt=1 / 64,
        then=({},) * 3, misses=True,
    ),
    "a member of infinite mass and a static one move others": scene(
        still(0, 0, 2, 2, Separate()), moves(9, 0, 2, 2, 0, 0, Slide(), Separate(), Mass(math.inf)),
        unit(2.5, 0.125, 0, 0, Separate(32)), unit(6.5, 0.125, 0, 0, Separate(32)), dt=1 / 64,
        then=({},) * 3, misses=True,
    ),
    "of two members the one of the lower dominance moves": scene(
        unit(0, 0, 0, 0, Separate(64), Dominance(1)), unit(1, 0.25, 0, 0, Separate(64)), dt=1 / 64,
        then=({},) * 2, misses=True,
    ),
    "what a member is moved into leaves its velocity alone": scene(
        still(-3, 0, 1, 20), unit(-0.875, 0, 5, 7, Separate()), unit(0, 0, 0, 0, Separate()),
        dt=1 / 64,
    ),
    "a member that walks into a wall bounces at its own speed": scene(
        still(-4, 0, 1, 20), unit(-1.875, 0, -32, 3, Deflect(), Separate()),
        unit(-1, 0.125, 0, 0, Separate()), dt=1 / 64,
    ),
    "a member slides on along the wall while it is moved": scene(
        still(0, -2, 50, 1), unit(0, 0, 0, -9, Separate(64)), unit(0.5, 0, 0, -9, Separate(64)),
        dt=1 / 64, then=({},) * 3,
    ),
    "out of a wall comes before out of a crowd": scene(
        BLOCK, unit(5, 0, 0, 0, PushOut(), Separate(64)), unit(6.5, 0.125, 0, 0, Separate(64)),
        dt=1 / 64, then=({},) * 2,
    ),
    "out of members only the crowd leads": scene(
        unit(0, 0, 0, 0, PushOut(), Separate(8)), unit(1, 0, 0, 0, PushOut(), Separate(8)),
        dt=1 / 64, misses=True,
    ),
} | {
    f"the shortest way out of a box from {x}, {y}": scene(
        BLOCK, unit(x, y, 0, 0, PushOut()), then=({},), misses=True
    )
    for x, y in ((4, 1), (-4, 1), (1, 4.5), (0, -3), (0, 0))
} | {
    f"a velocity of {speed} on the way out": scene(
        still(0, 0, 50, 5), unit(0, 5, 0, speed, PushOut()), dt=1 / 64, misses=True
    )
    for speed in (-50, 20, 500)
} | {
    f"of two bodies {who} can be pushed out": scene(
        *(
            moves(x, 0, 2, 2, 0, 0, Slide(), *[PushOut()] * (who in (name, "both")))
            for x, name in ((0, "the first"), (1, "the second"))
        ),
        misses=True,
    )
    for who in ("the first", "the second", "both")
} | {
    f"the post beside the way out of {kind.__name__} is met at {speed}": scene(
        still(0, -10, 50, 10, *[Separate()] * (kind is Separate)),
        still(math.copysign(3, speed), 12, 1, 11.5), unit(0, 0.5, speed, 0, kind()), dt=1 / 64,
    )
    for speed in (-640, 640)
    for kind in (PushOut, Separate)
} | {
    f"{n} members in one point": scene(
        *(unit(50, 50, 0, 0, Separate(speed), Mass(1 + k)) for k in range(n)), dt=1 / 64,
        then=({}, {}), misses=True,
    )
    for n, speed in ((2, math.inf), (2, 128), (5, 128))
}  # fmt: skip

# At the limit of a pair ------------------------------------------------------------------------

BETWEEN_WALLS = unit(0, 0, 100, 0, Deflect()), still(3, 0, 1, 5), still(-3, 0, 1, 5)
HELD = {
    "a pair that comes to its limit is held where it is": scene(*BETWEEN_WALLS),
    "what the limit puts off is met in the next step": scene(*BETWEEN_WALLS, then=({}, {})),
    "a limit affects nobody elsewhere": scene(
        *BETWEEN_WALLS, unit(0, 50, 8, 0, Deflect()), still(3, 50, 1, 5), still(-3, 50, 1, 5),
        dt=0.25,
    ),
    "who is held grows on in the next step": scene(
        unit(0, 0, 100, 0, Deflect(), Growth(0, 1)), *BETWEEN_WALLS[1:], dt=0.5, then=({},)
    ),
    "who is held is a wall to others": scene(*BETWEEN_WALLS, unit(1, -11, 0, 10, Deflect(0.5))),
    "a lift takes held bodies along": scene(
        *BETWEEN_WALLS, unit(0, 3, 100, 0, Deflect()), moves(0, -4, 2, 1, 0, 4)
    ),
    "a lift takes held bodies along that a free one is between": scene(
        *BETWEEN_WALLS, moves(0, 2.5, 0.5, 0.5, 0, 0, Slide()), unit(0, 4, 100, 0, Deflect()),
        moves(0, -4, 2, 1, 0, 4),
    ),
    "a lift crushes a held body against a ceiling": scene(
        *BETWEEN_WALLS, still(0, 3, 2, 1), moves(0, -4, 2, 1, 0, 4)
    ),
}  # fmt: skip
HELD = {name: each._replace(pair_limit=2) for name, each in HELD.items()}

# Damping ----------------------------------------------------------------------------------------

SLOWED = {
    "a damped body goes on at the mean of its velocities": scene(
        unit(0, 0, 8, -6, Damping(2)), moves(9, 0, 1, 1, 4, 0, Damping(0.5)), misses=True,
        then=({}, {0: (0.5, 0)}),
    ),
    "a damped body does not reach what flees faster than it is by then": scene(
        unit(0, 0, 8, 3, Damping(2)), moves(1.9, 0, 0.5, 9, 3, 0)
    ),
    "damped bodies bounce off each other at one instant": scene(
        *(unit(4 * n, 0, 6 - 6 * n, 0, Deflect(0.5), Damping(1 + n % 2)) for n in range(3))
    ),
    "a crate between damped ones rubs on both": scene(
        unit(0, 0, 0, 4, Friction(0.5), Damping(1)),
        unit(3, 3, 0, -4, Friction(0.25), Damping(3)),
        unit(1.5, 6, 2, -12, Friction(1), Mass(2)),
    ),
    "a damped crate rubs on a wall and a damped lift": scene(
        unit(0, 0, 6, -6, Friction(0.5), Damping(2)),
        still(-3, -3, 3, 1, Friction(1)), moves(4, -3, 4, 1, 1, 0, Friction(0.25), Damping(1)),
    ),
    "a damped crate stops at two walls": scene(
        unit(0, 0, 6, -6, Stop(), Damping(2)), still(-3, -3, 3, 1), moves(4, -3, 4, 1, 1, 0)
    ),
    "what a damped body has met turns it again": scene(
        unit(0, 0, 6, -3, Push(), Damping(2)), unit(3, -1.5, 0, 3, Stop(), Damping(1)),
        unit(1, 4, 0, -6, Slide(), Friction(1)), dt=0.75, then=({},),
    ),
    "a damped body is held at a limit": scene(
        unit(0, 0, 100, 3, Deflect(), Damping(0.5)), *BETWEEN_WALLS[1:], pair_limit=2, then=({},)
    ),
} | {
    f"a damped body with {response} hits {of} and {speed} across": scene(
        unit(0, 0, 8, speed, response, Friction(0.25), Damping(2)), wall, then=({},)
    )
    for response in (Slide(), Stop(), Push(), Deflect(0.5))
    for of, wall in (
        ("a wall", still(4, 0, 1, 9, Friction(0.5))),
        ("a crate", unit(4, 0, 0, 1)),
        ("a damped crate", unit(4, 0, 0, 1, Damping(1), Friction(0.5))),
    )
    for speed in (0, 3)
}  # fmt: skip

GROUPS = (
    *(GROWING, CRUSHING, PUSHING, LIMITED, SURFACES),
    *(PASSING, CROSSING, TOUCHING, AT_ONCE, OUT, HELD, SLOWED),
)
SCENES = {name: each for group in GROUPS for name, each in group.items()}


@pytest.mark.parametrize("name", SCENES)
def test_each_step_of_a_scene_is_the_exact_one(name):
    n_impacts = 0
    for turn in TURNS:
        with another_world(f"{esper.current_world} {turn}"):
            n_impacts += play(SCENES[name], turn)

    assert (n_impacts == 0) == SCENES[name].misses


def play(scene: Scene, turn: Turn) -> int:
    """Compare all steps of a scene after a turn; return the number of impacts."""
    n_impacts = 0
    for space in steps_of(scene, turn):
        bodies, known = read_bodies(space.dim), pairs_in_contact(space)
        esper.process(scene.dt)
        n_impacts += compare_step(
            bodies, scene.dt, space, known=known, pair_limit=scene.pair_limit
        ).impacts
    return n_impacts


def steps_of(scene: Scene, turn: Turn) -> Iterator[ec.Space]:
    """Create a scene after a turn; yield its space before each step."""
    is_flat = all(size.z == 0 for _, size, *_ in scene.bodies)
    dim = 2 if is_flat and not turn.in_space else 3
    numbers = range(len(scene.bodies))[:: turn.order]
    entities = {n: esper.create_entity(*turned(scene.bodies[n], turn)) for n in numbers}
    space = ec.install(dim=dim, pair_limit=scene.pair_limit)
    for velocities in ({}, *scene.then):
        for n, velocity in velocities.items():
            (part,) = turned([Velocity(*velocity)], turn)
            esper.component_for_entity(entities[n], Velocity).set(*part.xyz[:dim])
        yield space


@pytest.mark.slow_in_python
@pytest.mark.parametrize(
    "far",
    [
        lambda _, *parts: [unit(1000, 0, 0, 0, Filter(0, 0), *[Damping(1)] * (not parts))],
        lambda dt, *parts: [
            unit(1000 + 2 * n + dt / 1024 * (n > 0), 0, n == 0, n == 0, Stop(), *parts)
            for n in range(3)
        ],
    ],
    ids=["a damped body", "a row that is met first"],
)
def test_what_is_far_away_changes_no_scene(far, volume):
    def results(scene, *parts):
        n_bodies = len(scene.bodies)
        whole = scene._replace(bodies=(*scene.bodies, *far(scene.dt, *parts)))
        for space in steps_of(whole, Turn()):
            esper.process(scene.dt)
            hits = space.collision_array
            hits = hits[hits["second"] <= n_bodies].tobytes()
            speeds = [speed.xyz for i, speed in esper.get_component(Velocity) if i <= n_bodies]
            yield hits, space.positions()[:n_bodies].tolist(), speeds

    n_scenes = volume(24, len(SCENES), least=24)
    for name in random.Random(0).sample([*SCENES], n_scenes):
        each, found = SCENES[name], []
        for parts in ([], [Filter(0, 0)]):
            with another_world(f"{esper.current_world} {parts}"):
                found.append([*results(each, *parts)])
        assert found[0] == found[1], name


def turned(parts: Parts, turn: Turn) -> Parts:
    """Return copies of the components of a body after a turn."""
    images = []
    for part in parts:
        image = copy.copy(part)
        if isinstance(part, OneWay):
            image.normal = turned([Velocity(*part.normal)], turn)[0].xyz
        elif isinstance(part, VECTORS):
            numbers = [part.x, part.y, part.z]
            if isinstance(part, ec.Extents) and not part.z:
                numbers[2] = 1.0  # of what is flat
            signed = isinstance(part, (ec.Position, Velocity))
            for number, axis, sign in zip(numbers, turn.axes, turn.signs, strict=True):
                setattr(image, "xyz"[axis], number * sign if signed else number)
        images.append(image)
    return images
