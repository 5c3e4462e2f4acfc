"""Crowds: boxes that press on each other, in whole engines.

The scenes are those of `tests.pressing`: boxes that walk at 60 units a second, and crates that
fall by the gravity of their engine.  Who steers them reads the positions and sets the velocities,
which the clock does not see.
A step ends with the positions where a game has them.  Nothing turns, and nothing rubs.  Boxes
with `Deflect` bounce in all engines; `Stop` and `Push` are plain boxes in the others.

Sleep is off in all engines.  The scenes in which boxes of ecs_collide come to rest are also run
with sleep on in all.

Engines differ in what a crowd is: how deep its boxes are in each other is measured too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar, Protocol

import numpy as np

from benchmarks.scenes import DT, Floats
from tests.pressing import BOUNCE, GRAVITY, SCENES, SPEED, Kind, Pressing

SLEEP_AFTER = 0.5  # seconds at rest, as in Box2D


def with_sleep(scene: Callable[[int], Pressing], n: int) -> Pressing:
    """Return a scene of `n` boxes that may sleep."""
    return replace(scene(n), sleeps=True)


def off_line(scene: Callable[[int], Pressing], n: int) -> Pressing:
    """Return a scene of `n` boxes in which every second box is a unit higher."""
    played = scene(n)
    return replace(played, boxes=[(x, y + i % 2) for i, (x, y) in enumerate(played.boxes)])


CROWDS: dict[str, Callable[[int], Pressing]] = {
    **SCENES,
    "rows off line": partial(off_line, SCENES["rows"]),
    "jam with sleep": partial(with_sleep, SCENES["jam"]),
    "heap with sleep": partial(with_sleep, SCENES["heap"]),
}


class Presser(Protocol):
    """Runs a scene.

    Attributes
    ----------
    name, needs, module : str
        As in `trees.Finder`.
    scenes : tuple of str
        The names of those that it is run in; empty for all.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    module: ClassVar[str]
    scenes: ClassVar[tuple[str, ...]]

    def __init__(self, scene: Pressing) -> None: ...

    def steer(self) -> None:
        """Set the velocities of the next step."""

    def step(self) -> None:
        """Run a step of `DT` seconds, and have the positions."""

    def places(self) -> Floats:
        """Return the positions, float64, shape (n, 2)."""

    def counts(self) -> tuple[int, int]:
        """Return the candidate pairs and the swept tests of the last step; zeros if not known."""


def bounce(kind: Kind) -> float:
    """Return the restitution of a box."""
    return BOUNCE if kind.response == "Deflect" else 0.0


class Ours:
    """Entities of esper and the four systems."""

    name = "ecs_collide"
    needs = module = "ecs_collide"
    scenes: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[tuple[str, ...]] = ()

    def __init__(self, scene: Pressing) -> None:
        import esper

        import ecs_collide as ec
        from tests.pressing import Crowd

        self.process = esper.process
        self.crowd = Crowd(scene)
        for entity, _ in list(esper.get_component(ec.Slide)):
            for name in self.parts:
                esper.add_component(entity, getattr(ec, name)(SPEED))
        gravity = (0.0, -GRAVITY) if scene.steer is None else None
        self.space = ec.install(gravity=gravity, sleep=scene.sleeps)

    def steer(self) -> None:
        if self.crowd.scene.steer is not None:
            self.crowd.steer()

    def step(self) -> None:
        self.process(DT)

    def places(self) -> Floats:
        return np.array([place.xy for place in self.crowd.places])

    def counts(self) -> tuple[int, int]:
        return self.space.stats.pairs, self.space.stats.sweeps


class OursSoft(Ours):
    """The same, with Separate: a soft crowd."""

    name = "ecs_collide, soft"
    scenes = ("swarm", "chase")
    parts = ("Separate",)


class Pymunk:
    """pymunk, bodies of infinite moment; positions by its batch module."""

    name = "pymunk batch"
    needs = module = "pymunk"
    scenes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, scene: Pressing) -> None:
        import pymunk
        import pymunk.batch

        self.batch, self.scene, self.time = pymunk.batch, scene, 0.0
        self.space = pymunk.Space()
        if scene.sleeps:
            self.space.sleep_time_threshold = SLEEP_AFTER
        if scene.steer is None:
            self.space.gravity = (0, -GRAVITY)
        for x, y, w, h in scene.walls:
            body = pymunk.Body(body_type=pymunk.Body.STATIC)
            body.position = x, y
            self.space.add(body, pymunk.Poly.create_box(body, (2 * w, 2 * h)))
        self.bodies = []
        for i, at in enumerate(scene.boxes):
            kind = scene.kind(i)
            body = pymunk.Body(kind.mass, float("inf"))
            body.position = at
            shape = pymunk.Poly.create_box(body, (2 * kind.width, 2 * kind.height))
            shape.elasticity = bounce(kind)
            if i < scene.aloof:
                shape.filter = pymunk.ShapeFilter(group=1)
            self.space.add(body, shape)
            self.bodies.append(body)
        self.positions = pymunk.batch.Buffer()

    def steer(self) -> None:
        if self.scene.steer is not None:
            for i, body in enumerate(self.bodies):
                body.velocity = self.scene.steer(self.time, i, tuple(body.position))
        self.time += DT

    def step(self) -> None:
        self.space.step(DT)
        self.positions.clear()
        self.batch.get_space_bodies(self.space, self.batch.BodyFields.POSITION, self.positions)
        np.frombuffer(self.positions.float_buf()).reshape(-1, 2)

    def places(self) -> Floats:
        return np.array([tuple(body.position) for body in self.bodies])

    def counts(self) -> tuple[int, int]:
        return 0, 0


class Box2D:
    """Box2D 3 by pyb2d3; positions as an array, four sub-steps, as its manual recommends."""

    name = "Box2D 3 batch (pyb2d3)"
    needs = module = "pyb2d3"
    scenes: ClassVar[tuple[str, ...]] = ()
    sub_steps = 4

    def __init__(self, scene: Pressing) -> None:
        import pyb2d3 as b2

        self.scene, self.time = scene, 0.0
        self.world = b2.World(gravity=(0, -GRAVITY if scene.steer is None else 0.0))
        self.world.sleeping_enabled = scene.sleeps
        plain = b2.surface_material(restitution=0.0, friction=0.0)
        wall = b2.shape_def(material=plain)
        for x, y, w, h in scene.walls:
            self.world.create_static_body(position=(x, y)).create_shape(wall, b2.box(w, h))
        self.batch, self.bodies = b2.Bodies(), []
        for i, at in enumerate(scene.boxes):
            body = self.world.create_dynamic_body(position=at)
            body.fixed_rotation = True
            kind = scene.kind(i)
            looks = b2.shape_def(
                density=kind.mass / (4.0 * kind.width * kind.height),
                material=b2.surface_material(restitution=bounce(kind), friction=0.0),
                filter=b2.make_filter(group_index=-1 if i < scene.aloof else 0),
            )
            body.create_shape(looks, b2.box(kind.width, kind.height))
            self.batch.append(body.id)
            self.bodies.append(body)
        self.positions = np.array(scene.boxes, np.float32)

    def steer(self) -> None:
        if self.scene.steer is not None:
            for i, place in enumerate(self.positions.tolist()):
                self.bodies[i].linear_velocity = self.scene.steer(self.time, i, tuple(place))
        self.time += DT

    def step(self) -> None:
        self.world.step(DT, self.sub_steps)
        self.batch.get_positions(self.positions)

    def places(self) -> Floats:
        return self.positions.astype(np.float64)

    def counts(self) -> tuple[int, int]:
        return 0, 0


class Box2DInSmallSteps(Box2D):
    """The same, 16 sub-steps: its boxes are less deep in each other."""

    name = "Box2D 3 batch, 16 sub-steps"
    scenes = ("swarm", "chase", "mixed")
    sub_steps = 16


def depths(scene: Pressing, places: Floats) -> Floats:
    """Return how deep pairs of boxes are in each other that are, in units."""
    halves = np.array([scene.kind(i)[:2] for i in range(len(places))])
    gaps = (np.abs(places[:, None] - places) - (halves[:, None] + halves)).max(axis=2)
    rows, columns = np.triu_indices(len(places), 1)
    solid = columns >= scene.aloof
    inside: Floats = -gaps[rows[solid], columns[solid]]
    return inside[inside > 1e-9]
