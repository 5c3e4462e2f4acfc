"""Whole engines: boxes that bounce in a closed arena, one game step after the other.

Equal boxes that do not turn, without gravity or friction, elastic, the same
start for all; a step ends with the positions where a game has them and with the
collisions of the step in its hands.  *Batch* takes both as arrays, as far as
the engine can give them; *body by body* writes each position into the game's
own object and has a function called for each collision.

Engines differ in what a step is exact about, so their collisions are counted
and their energy is looked at, but neither can be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.scenes import DT, Floats

HALF = 2.5  # half size of a box, in world units
PITCH = 10.0  # between two boxes at the start
SPEED = 48.0  # largest speed on each axis, in units per second


@dataclass(frozen=True)
class Arena:
    """Where it begins.

    Attributes
    ----------
    side : float
        The inside reaches from 0 to `side` on both axes.
    walls : list of (x, y, half width, half height)
    positions, velocities : float64, shape (n, 2)
    """

    side: float
    walls: list[tuple[float, float, float, float]]
    positions: Floats
    velocities: Floats


def arena(n: int, seed: int = 1) -> Arena:
    """Make an arena of `n` boxes in rows."""
    across = int(np.ceil(np.sqrt(n)))
    side, mid = across * PITCH, across * PITCH / 2
    long = mid + 10.0
    walls = [(-5.0, mid, 5.0, long), (side + 5.0, mid, 5.0, long)]
    walls += [(mid, -5.0, long, 5.0), (mid, side + 5.0, long, 5.0)]
    cells = np.stack(np.divmod(np.arange(n), across), axis=1)
    velocities = np.random.default_rng(seed).uniform(-SPEED, SPEED, (n, 2))
    return Arena(side, walls, cells * PITCH + PITCH / 2, velocities)


class Engine(Protocol):
    """Runs an arena.

    Attributes
    ----------
    name, needs, module : str
        As in `trees.Finder`.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    module: ClassVar[str]

    def __init__(self, start: Arena) -> None: ...

    def step(self) -> int:
        """Run a step of `DT` seconds; return the number of collisions that began in it."""

    def state(self) -> tuple[Floats, Floats]:
        """Return positions and velocities, each float64, shape (n, 2)."""


class Ours:
    """Entities of esper and the four systems; components written, events as an array."""

    name = "ecs_collide"
    needs = module = "ecs_collide"

    def __init__(self, start: Arena) -> None:
        import esper

        import ecs_collide as ec

        self.process = esper.process
        for x, y, w, h in start.walls:
            esper.create_entity(ec.Position(x, y), ec.Extents(w, h))
        self.components = []
        for (x, y), (vx, vy) in zip(
            start.positions.tolist(), start.velocities.tolist(), strict=True
        ):
            position, velocity = ec.Position(x, y), ec.Velocity(vx, vy)
            esper.create_entity(position, ec.Extents(HALF, HALF), velocity, ec.Deflect())
            self.components.append((position, velocity))
        self.space = ec.install()

    def step(self) -> int:
        self.process(DT)
        return len(self.space.collision_array)

    def state(self) -> tuple[Floats, Floats]:
        positions = np.array([position.xy for position, _ in self.components])
        return positions, np.array([velocity.xy for _, velocity in self.components])


class OursByBody(Ours):
    """The same, with a game's loop over its entities, and a handler for collisions."""

    name = "ecs_collide, body by body"

    def __init__(self, start: Arena) -> None:
        super().__init__(start)
        self.sprites = [Sprite() for _ in self.components]
        self.begun: list[Any] = []
        self.space.on_collision(self.begun.append)

    def step(self) -> int:
        self.begun.clear()
        self.process(DT)
        for (position, _), sprite in zip(self.components, self.sprites, strict=True):
            sprite.x, sprite.y = position.x, position.y
        return len(self.begun)


class Pymunk:
    """pymunk; positions and collisions by its batch module."""

    name = "pymunk batch"
    needs = module = "pymunk"

    def __init__(self, start: Arena) -> None:
        import pymunk
        import pymunk.batch

        self.batch = pymunk.batch
        self.space = pymunk.Space()
        for x, y, w, h in start.walls:
            body = pymunk.Body(body_type=pymunk.Body.STATIC)
            self.add(body, pymunk.Poly.create_box(body, (2 * w, 2 * h)), (x, y))
        self.bodies = []
        for at, velocity in zip(start.positions.tolist(), start.velocities.tolist(), strict=True):
            body = pymunk.Body(1.0, float("inf"))
            body.velocity = tuple(velocity)
            self.add(body, pymunk.Poly.create_box(body, (2 * HALF, 2 * HALF)), tuple(at))
            self.bodies.append(body)
        self.positions, self.contacts = pymunk.batch.Buffer(), pymunk.batch.Buffer()

    def add(self, body: Any, shape: Any, at: tuple[float, float]) -> None:
        body.position = at
        shape.elasticity = 1.0
        self.space.add(body, shape)

    def step(self) -> int:
        self.space.step(DT)
        self.positions.clear()
        self.contacts.clear()
        self.batch.get_space_bodies(self.space, self.batch.BodyFields.POSITION, self.positions)
        fields = self.batch.ArbiterFields
        self.batch.get_space_arbiters(
            self.space, fields.BODY_A_ID | fields.BODY_B_ID | fields.IS_FIRST_CONTACT, self.contacts
        )
        np.frombuffer(self.positions.float_buf()).reshape(-1, 2)
        contacts = np.frombuffer(self.contacts.int_buf(), np.uintp).reshape(-1, 3)
        return int(np.count_nonzero(contacts[:, 2]))

    def state(self) -> tuple[Floats, Floats]:
        positions = np.array([body.position for body in self.bodies])
        return positions, np.array([body.velocity for body in self.bodies])


class PymunkByBody(Pymunk):
    """pymunk as its manual shows it: a loop over the bodies, a function for collisions."""

    name = "pymunk, body by body"

    def __init__(self, start: Arena) -> None:
        super().__init__(start)
        self.sprites = [Sprite() for _ in self.bodies]
        self.begun: list[Any] = []
        self.space.on_collision(begin=self.take)

    def take(self, arbiter: Any, _space: Any, _data: Any) -> None:
        self.begun.append(arbiter.shapes)

    def step(self) -> int:
        self.begun.clear()
        self.space.step(DT)
        for body, sprite in zip(self.bodies, self.sprites, strict=True):
            sprite.x, sprite.y = body.position
        return len(self.begun)


class Box2D:
    """Box2D 3 by pyb2d3; positions as an array, the contacts that began counted.

    Four sub-steps, as its manual recommends.
    """

    name = "Box2D 3 batch (pyb2d3)"
    needs = module = "pyb2d3"

    def __init__(self, start: Arena) -> None:
        import pyb2d3 as b2

        self.world = b2.World(gravity=(0, 0), restitution_threshold=0.0)
        self.world.sleeping_enabled = False
        material = b2.surface_material(restitution=1.0, friction=0.0)
        looks = b2.shape_def(density=1.0, material=material, enable_contact_events=True)
        for x, y, w, h in start.walls:
            self.world.create_static_body(position=(x, y)).create_shape(looks, b2.box(w, h))
        self.batch, self.bodies = b2.Bodies(), []
        for at, velocity in zip(start.positions.tolist(), start.velocities.tolist(), strict=True):
            body = self.world.create_dynamic_body(position=tuple(at))
            body.fixed_rotation = True
            body.linear_velocity = tuple(velocity)
            body.create_shape(looks, b2.box(HALF, HALF))
            self.batch.append(body.id)
            self.bodies.append(body)
        self.positions = np.zeros((len(self.bodies), 2), np.float32)

    def step(self) -> int:
        self.world.step(DT, 4)
        self.batch.get_positions(self.positions)
        return int(self.world.get_contact_events().begin_count)

    def begun(self) -> list[tuple[Any, Any]]:
        events = self.world.get_contact_events().begin_events()
        return [(event.shape_a, event.shape_b) for event in events]

    def state(self) -> tuple[Floats, Floats]:
        positions = np.array([tuple(body.position) for body in self.bodies])
        return positions, np.array([tuple(body.linear_velocity) for body in self.bodies])


class Box2DByBody(Box2D):
    """Box2D 3 by pyb2d3: a loop over the bodies."""

    name = "Box2D 3, body by body"

    def __init__(self, start: Arena) -> None:
        super().__init__(start)
        self.sprites = [Sprite() for _ in self.bodies]

    def step(self) -> int:
        self.world.step(DT, 4)
        for body, sprite in zip(self.bodies, self.sprites, strict=True):
            sprite.x, sprite.y = body.position
        return len(self.begun())


class Sprite:
    """A game's own object."""

    __slots__ = ("x", "y")

    def __init__(self) -> None:
        self.x = self.y = 0.0
