"""The one generator of random components: how often a body has each of them, and with what numbers.

Every fuzz of the tests draws from `TABLE`.  A new component is added there once, and from then on
each fuzz has it; `tests/test_random_worlds.py` fails until it is.  A fuzz for which a component is
out of question names it when it makes its `Draw`, with the reason in one word, as in
``without={ec.Filter: "reference"}`` where exact fractions do not model it.

Each component has a stream of random numbers of its own.  So a new row of `TABLE` adds its
component to the worlds of a seed, and changes nothing else about them.

The scene stays with the fuzz: its walls, its game, and what it asserts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import esper

import ecs_collide as ec

RESPONSES = (ec.Stop, ec.Push, ec.Slide, ec.Deflect)  # the first that a body has is in effect


class Chance(NamedTuple):
    """The share of bodies that have a component, and what makes one; None for not this time."""

    share: float
    make: Callable[[Draw], object | None]


class Draw:
    """Draws the components of a world.

    Parameters
    ----------
    rng : random.Random
    dim : int
    without : mapping from type to str
        The components that this fuzz skips, with the reason for each in one word.
    mixture : float
        The probability that a world has a component at all.  Below 1 the worlds differ more:
        in some half of the components are missing, so that the others matter more.  Position,
        Extents, Velocity and one of the responses are in all of them.
    reach : float
        The largest coordinate of a centre, in world units.
    sizes : sequence of float
        Half sizes to choose from, each axis for itself.
    speed : float
        The largest speed on an axis, in world units per second.
    on_grid : bool
        Whether all numbers are short binary fractions, so that faces meet at one instant.

    Attributes
    ----------
    rng : random.Random
        The stream of the world.  While a component is made, it is the one of the component.
    kinds : list of type
        The components of this world, in the order of `TABLE`.
    bodies : list of int
        The entities that `body` has created.
    """

    def __init__(
        self,
        rng: random.Random,
        dim: int = 2,
        *,
        without: Mapping[type, str] | None = None,
        mixture: float = 1.0,
        reach: float = 8.0,
        sizes: Sequence[float] = (0.5, 1.0, 1.5),
        speed: float = 20.0,
        on_grid: bool = False,
    ) -> None:
        self.dim = dim
        self.reseed(rng)
        self.reach, self.sizes, self.speed, self.on_grid = reach, sizes, speed, on_grid
        self.without = dict(without or {})
        always = {ec.Position, ec.Extents, ec.Velocity, rng.choice(RESPONSES)}
        self.kinds = [
            kind
            for kind in TABLE
            if kind not in self.without
            and (self._stream(kind).random() < mixture or kind in always)
        ]
        self.responses = [kind for kind in self.kinds if kind in RESPONSES]
        self.bodies: list[int] = []
        self.drawn: dict[type, object] = {}  # what the body has so far

    def reseed(self, rng: random.Random) -> None:
        """Draw from another generator from now on."""
        self.rng = rng
        self._seed = rng.getrandbits(64)
        self._streams: dict[type, random.Random] = {}  # by component, as far as they are used

    def _stream(self, kind: type) -> random.Random:
        """Return the stream of a component, which the others do not disturb."""
        stream = self._streams.get(kind)
        if stream is None:
            seed = f"{self._seed} {kind.__name__}"
            stream = self._streams[kind] = random.Random(seed)
        return stream

    # -- numbers --

    def pick(self, *values: Any) -> Any:
        """Return one of the values."""
        return self.rng.choice(values)

    def number(self, least: float, most: float) -> float:
        """Return a number between two: on the grid a multiple of a quarter."""
        if self.on_grid:
            return self.rng.randint(math.ceil(4 * least), math.floor(4 * most)) / 4
        return self.rng.uniform(least, most)

    def vector(self, most: float) -> tuple[float, ...]:
        """Return a vector, each of its numbers between -most and most."""
        return tuple(self.number(-most, most) for _ in range(self.dim))

    def axis(self) -> tuple[float, ...]:
        """Return a unit vector along an axis, mostly upwards."""
        k = self.pick(1, 1, *range(self.dim))
        return tuple(self.pick(1.0, 1.0, -1.0) * (n == k) for n in range(self.dim))

    def owner(self) -> int | None:
        """Return a body to which a box may be attached, if there is one."""
        owners = [
            entity
            for entity in self.bodies
            if esper.entity_exists(entity) and not esper.has_component(entity, ec.Attached)
        ]
        return self.rng.choice(owners) if owners else None

    # -- components --

    def component(self, kind: type) -> Any:
        """Return a component of a type; None if `drawn` rules it out."""
        world, self.rng = self.rng, self._stream(kind)
        try:
            return TABLE[kind].make(self)
        finally:
            self.rng = world

    def parts(self, *given: object, moves: bool = True) -> list[Any]:
        """Return the components of one body: those given, and others drawn besides them.

        A body that does not move by itself has neither Velocity nor Growth, unless they are given.
        """
        self.drawn = {type(part): part for part in given}
        others = {*RESPONSES} - {self.rng.choice(self.responses)}  # one response at most
        if not self.drawn.keys().isdisjoint(RESPONSES):
            others = {*RESPONSES}
        if not moves:
            others |= {ec.Velocity, ec.Growth}
        for kind in self.kinds:
            is_drawn = self._stream(kind).random() < TABLE[kind].share
            if kind in self.drawn or kind in others or not is_drawn:
                continue
            part = self.component(kind)
            if part is not None:
                self.drawn[kind] = part
        return list(self.drawn.values())

    def body(self, *given: object, moves: bool = True) -> int:
        """Create a body of such `parts`; return its entity."""
        entity = esper.create_entity(*self.parts(*given, moves=moves))
        self.bodies.append(entity)
        return entity

    def change(self, entity: int) -> None:
        """Do to a body what a game may do: add, replace, rewrite or remove a component."""
        # Each draws a lot, and the highest wins: a new kind takes only those that it wins itself.
        _, kind = max(
            ((self._stream(kind).random(), kind) for kind in self.kinds if kind not in LASTING),
            key=itemgetter(0),
        )
        self.drawn = {type(part): part for part in esper.components_for_entity(entity)}
        deed = self.rng.random()
        part = self.component(kind)
        if kind in self.drawn and deed < 0.5:
            esper.remove_component(entity, kind)
        elif part is not None and deed < 0.75:
            esper.add_component(entity, part)
        elif part is not None:
            write(entity, part)


def write(entity: int, part: Any) -> None:
    """Write the numbers of a component in place, as games do; add it where it is missing.

    The entity is no longer `Fixed` then: that is a promise that nothing is written.
    """
    if esper.has_component(entity, ec.Fixed):
        esper.remove_component(entity, ec.Fixed)
    there = esper.try_component(entity, type(part))
    if there is None:
        esper.add_component(entity, part)
        return
    for name in type(part).__match_args__:
        setattr(there, name, getattr(part, name))


def _attached(draw: Draw) -> object | None:
    owner = None if ec.Fixed in draw.drawn else draw.owner()
    return None if owner is None else ec.Attached(owner, draw.vector(2.0))


def _fixed(draw: Draw) -> object | None:
    return None if {ec.Velocity, ec.Growth} & draw.drawn.keys() else ec.Fixed()


# In the order in which they are drawn.
TABLE: dict[type, Chance] = {
    ec.Position: Chance(1.0, lambda draw: ec.Position(*draw.vector(draw.reach))),
    ec.Extents: Chance(
        1.0, lambda draw: ec.Extents(*(draw.pick(*draw.sizes) for _ in range(draw.dim)))
    ),
    ec.Velocity: Chance(0.85, lambda draw: ec.Velocity(*draw.vector(draw.speed))),
    ec.Growth: Chance(0.15, lambda draw: ec.Growth(*draw.vector(0.75))),
    ec.Stop: Chance(0.9, lambda _: ec.Stop()),
    ec.Push: Chance(0.9, lambda _: ec.Push()),
    ec.Slide: Chance(0.9, lambda _: ec.Slide()),
    ec.Deflect: Chance(0.9, lambda draw: ec.Deflect(draw.pick(1.0, 1.0, 0.5, 0.25))),
    ec.Mass: Chance(0.4, lambda draw: ec.Mass(draw.pick(0.5, 2.0, 3.0, 5.0, 100.0, math.inf))),
    ec.Sensor: Chance(0.08, lambda _: ec.Sensor()),
    ec.Fixed: Chance(0.3, _fixed),
    ec.Disabled: Chance(0.05, lambda _: ec.Disabled()),
    ec.Attached: Chance(0.1, _attached),
    ec.PushOut: Chance(0.2, lambda draw: ec.PushOut(draw.pick(5.0, 50.0, math.inf))),
    ec.Separate: Chance(0.15, lambda draw: ec.Separate(draw.pick(5.0, 60.0, math.inf))),
    ec.GravityScale: Chance(0.15, lambda draw: ec.GravityScale(draw.pick(0.0, 0.5, 2.0, -0.5))),
    ec.Damping: Chance(0.15, lambda draw: ec.Damping(draw.pick(0.5, 5.0))),
    ec.Dominance: Chance(0.3, lambda draw: ec.Dominance(*draw.pick((-1,), (1,), (1, True), (2,)))),
    ec.MaxSpeed: Chance(0.15, lambda draw: ec.MaxSpeed(draw.pick(0.5, 0.75) * draw.speed)),
    ec.LockedAxes: Chance(
        0.15, lambda draw: ec.LockedAxes(*(draw.rng.random() < 0.4 for _ in range(draw.dim)))
    ),
    ec.Filter: Chance(
        0.2,
        lambda draw: ec.Filter(draw.pick(1, 2, 3), draw.pick(1, 3, ec.ALL), draw.pick(0, 0, -1)),
    ),
    ec.Friction: Chance(
        0.3,
        lambda draw: ec.Friction(draw.pick(0.0, 0.1, 0.5, 3.0), draw.pick(None, *ec.CombineRule)),
    ),
    ec.Restitution: Chance(
        0.2, lambda draw: ec.Restitution(draw.pick(0.0, 0.5, 1.0), draw.pick(None, *ec.CombineRule))
    ),
    ec.OneWay: Chance(0.1, lambda draw: ec.OneWay(draw.pick(None, draw.axis()))),
    ec.Carry: Chance(0.15, lambda draw: ec.Carry(draw.vector(5.0), draw.pick(None, draw.axis()))),
    ec.Slope: Chance(
        0.15,
        lambda draw: ec.Slope(
            draw.pick("right", "left", draw.axis()),
            draw.pick(0.0, 0.0, 0.25),
            draw.pick(0.5, 1.0),
            draw.pick(False, True),
        ),
    ),
    ec.Acceleration: Chance(0.15, lambda draw: ec.Acceleration(*draw.vector(2.0 * draw.speed))),
}

# Components that `Draw.change` leaves alone: without them an entity is no body.
LASTING = (ec.Position, ec.Extents)
