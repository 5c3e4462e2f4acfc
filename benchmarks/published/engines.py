"""One interface to ecs_collide, pymunk and Box2D, in which a scene is written once.

Units are pixels and seconds, y grows upwards.  The peers have the settings of their own examples:
pymunk takes `n_steps` of them in 1/60 s, by default one, Box2D one with the four sub-steps of its
manual, and 30 pixels are a metre in Box2D.  Bodies never turn.
"""

from __future__ import annotations

from importlib import import_module
from math import inf
from typing import Any, Protocol

import esper

import ecs_collide as ec
from benchmarks.controllers.worlds import Box

DT = 1 / 60
STATIC, KINEMATIC, DYNAMIC = range(3)
Frame = list[tuple[str, Box]]  # roles and boxes


class Engine(Protocol):
    """A world of boxes.

    `add` returns a handle; `role` is what a picture shows the box as.
    """

    name: str

    def add(
        self, role: str, box: Box, kind: int = STATIC, velocity: tuple[float, float] = (0.0, 0.0)
    ) -> Any: ...

    def velocity(self, handle: Any) -> tuple[float, float]: ...

    def set_velocity(self, handle: Any, x: float, y: float) -> None: ...

    def step(self) -> None: ...

    def box(self, handle: Any) -> Box: ...

    def frame(self) -> Frame: ...


class _Boxes:
    """The roles and sizes of what was added."""

    def __init__(self) -> None:
        self.added: list[tuple[str, Box, Any]] = []

    def centre(self, handle: Any) -> tuple[float, float]:
        raise NotImplementedError

    def box(self, handle: Any) -> Box:
        size = next(box for _, box, other in self.added if other is handle or other == handle)
        return self._around(size, handle)

    def frame(self) -> Frame:
        return [(role, self._around(box, handle)) for role, box, handle in self.added]

    def _around(self, size: Box, handle: Any) -> Box:
        x, y = self.centre(handle)
        return Box(x - size.wide / 2, y - size.high / 2, size.wide, size.high)


class Ours(_Boxes):
    """ecs_collide, in the current esper world."""

    name = "ecs_collide"

    def __init__(self, gravity: float = -900.0) -> None:
        super().__init__()
        self.space = ec.install(gravity=(0.0, gravity))

    def add(
        self, role: str, box: Box, kind: int = STATIC, velocity: tuple[float, float] = (0.0, 0.0)
    ) -> int:
        place = ec.Position(box.x + box.wide / 2, box.y + box.high / 2)
        parts: list[object] = [place, ec.Extents(box.wide / 2, box.high / 2)]
        if kind != STATIC:
            parts.append(ec.Velocity(*velocity))
            parts.append(ec.Slide() if kind == DYNAMIC else ec.Carry())
        if role == "one-way":
            parts.append(ec.OneWay())
        entity = esper.create_entity(*parts)
        self.added.append((role, box, entity))
        return entity

    def velocity(self, handle: int) -> tuple[float, float]:
        x, y = esper.component_for_entity(handle, ec.Velocity).xy
        return float(x), float(y)

    def set_velocity(self, handle: int, x: float, y: float) -> None:
        esper.component_for_entity(handle, ec.Velocity).xy = (x, y)

    def step(self) -> None:
        esper.process(DT)

    def centre(self, handle: int) -> tuple[float, float]:
        x, y = esper.component_for_entity(handle, ec.Position).xy
        return float(x), float(y)

    def save(self) -> bytes:
        return self.space.snapshot()

    def restored(self, saved: bytes) -> Ours:
        self.space.restore(saved)
        return self


class Pymunk(_Boxes):
    """pymunk, with the friction of its examples."""

    name = "pymunk 7"

    def __init__(self, gravity: float = -900.0, n_steps: int = 1) -> None:
        super().__init__()
        self.n_steps = n_steps
        self.pymunk = import_module("pymunk")
        self.space = self.pymunk.Space()
        self.space.gravity = (0.0, gravity)
        self.space.on_collision(1, 2, begin=_pass_through)

    def add(
        self, role: str, box: Box, kind: int = STATIC, velocity: tuple[float, float] = (0.0, 0.0)
    ) -> Any:
        types = self.pymunk.Body
        if kind == DYNAMIC:
            body = types(1.0, inf)
        else:
            body = types(body_type=types.KINEMATIC if kind == KINEMATIC else types.STATIC)
        body.position = box.x + box.wide / 2, box.y + box.high / 2
        body.velocity = velocity
        shape = self.pymunk.Poly.create_box(body, (box.wide, box.high))
        shape.friction = 0.5
        shape.collision_type = {"player": 1, "one-way": 2}.get(role, 0)
        self.space.add(body, shape)
        self.added.append((role, box, body))
        return body

    def velocity(self, handle: Any) -> tuple[float, float]:
        return float(handle.velocity.x), float(handle.velocity.y)

    def set_velocity(self, handle: Any, x: float, y: float) -> None:
        handle.velocity = (x, y)

    def step(self) -> None:
        for _ in range(self.n_steps):
            self.space.step(DT / self.n_steps)

    def centre(self, handle: Any) -> tuple[float, float]:
        return float(handle.position.x), float(handle.position.y)

    def save(self) -> Any:
        return self.space.copy()

    def restored(self, saved: Any) -> Pymunk:
        other = Pymunk.__new__(Pymunk)
        other.pymunk, other.space, other.n_steps = self.pymunk, saved, self.n_steps
        other.added = [
            (role, box, body) for (role, box, _), body in zip(self.added, saved.bodies, strict=True)
        ]
        return other


def _pass_through(arbiter: Any, _space: Any, _data: Any) -> None:
    """Collide with a one-way platform if the player falls, as pymunk's platformer example does."""
    arbiter.process_collision = arbiter.bodies[0].velocity.y < 0


class Box2D(_Boxes):
    """Box2D 3, by pyb2d3."""

    name = "Box2D 3"
    METRE = 30.0  # pixels

    def __init__(self, gravity: float = -900.0, are_bullets: bool = False) -> None:
        super().__init__()
        self.are_bullets = are_bullets  # dynamic bodies, which are then swept against lifts
        self.b2 = import_module("pyb2d3")
        self.world = self.b2.World(gravity=(0.0, gravity / self.METRE))
        self.material = self.b2.surface_material(restitution=0.0, friction=0.0)

    def add(
        self, role: str, box: Box, kind: int = STATIC, velocity: tuple[float, float] = (0.0, 0.0)
    ) -> Any:
        make = (
            self.world.create_static_body,
            self.world.create_kinematic_body,
            self.world.create_dynamic_body,
        )[kind]
        metre = self.METRE
        body = make(position=((box.x + box.wide / 2) / metre, (box.y + box.high / 2) / metre))
        body.fixed_rotation = True
        body.bullet = self.are_bullets and kind == DYNAMIC
        looks = self.b2.shape_def(density=1.0, material=self.material)
        body.create_shape(looks, self.b2.box(box.wide / 2 / metre, box.high / 2 / metre))
        body.linear_velocity = (velocity[0] / metre, velocity[1] / metre)
        self.added.append((role, box, body))
        return body

    def velocity(self, handle: Any) -> tuple[float, float]:
        x, y = handle.linear_velocity
        return float(x) * self.METRE, float(y) * self.METRE

    def set_velocity(self, handle: Any, x: float, y: float) -> None:
        handle.linear_velocity = (x / self.METRE, y / self.METRE)

    def step(self) -> None:
        self.world.step(DT, 4)

    def centre(self, handle: Any) -> tuple[float, float]:
        x, y = handle.position
        return float(x) * self.METRE, float(y) * self.METRE
