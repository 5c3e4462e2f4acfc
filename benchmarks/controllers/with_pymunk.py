"""A player as in the platformer example of pymunk: a body that does not turn, moved by friction."""

from __future__ import annotations

import pymunk

from benchmarks.controllers.worlds import GRAVITY, JUMP, Box, World

FRICTION = 1.5
STEERING = 0.25  # seconds in which it reaches its speed in the air


def box_of(body: pymunk.Body, wide: float, high: float) -> Box:
    return Box(body.position.x - wide / 2, body.position.y - high / 2, wide, high)


class Pymunk:
    offers = frozenset({"one-way", "crates", "players", "ramps"})

    def __init__(self, world: World) -> None:
        self.world = world
        self.space = pymunk.Space()
        self.space.gravity = (0, -GRAVITY)
        for wall in world.walls:
            self.add(wall, pymunk.Body.STATIC)
        for x, y, wide, high in world.ramps:
            corners = [(x, y), (x + wide, y), (x + wide, y + high)]
            ramp = pymunk.Poly(self.space.static_body, corners)
            ramp.friction = FRICTION
            self.space.add(ramp)
        self.one_ways = [self.add(wall, pymunk.Body.STATIC) for wall in world.one_ways]
        self.movers = [self.add(box, pymunk.Body.KINEMATIC) for box, _ in world.movers]
        self.crates = [self.add(box, pymunk.Body.DYNAMIC) for box in world.crates]
        self.players = [self.add_player(box) for box in world.players]
        self.players[0].body.velocity = (0, -world.falling)
        self.ground: pymunk.Body | None = None
        self.look_down()

    def add(self, box: Box, kind: int) -> pymunk.Shape:
        is_dynamic = kind == pymunk.Body.DYNAMIC
        body = pymunk.Body(5, float("inf")) if is_dynamic else pymunk.Body(body_type=kind)
        body.position = box.x + box.wide / 2, box.y + box.high / 2
        shape = pymunk.Poly.create_box(body, (box.wide, box.high))
        shape.friction = FRICTION
        self.space.add(body, shape)
        return shape

    def add_player(self, box: Box) -> pymunk.Shape:
        """Add a player of two circles, and return its feet."""
        body = pymunk.Body(5, float("inf"))
        body.position = box.x + box.wide / 2, box.y + box.high / 2
        shapes = [pymunk.Circle(body, box.wide / 2, (0, y)) for y in (-4, 4)]
        for shape in shapes:
            shape.friction = FRICTION
        self.space.add(body, *shapes)
        return shapes[0]

    def look_down(self) -> None:
        """Find what the first player stands on."""
        self.ground = None

        def look(arbiter: pymunk.Arbiter) -> None:
            normal = -arbiter.contact_point_set.normal
            if normal.y > 0.7:
                self.ground = arbiter.shapes[1].body

        self.players[0].body.each_arbiter(look)

    def step(self, time: float, dt: float, walk: float, jump: bool) -> None:
        hero = self.players[0]
        for shape, (_, speed) in zip(self.movers, self.world.movers, strict=True):
            shape.body.velocity = speed(time)
        for shape in self.one_ways:  # as its handler: a body that rises may enter and pass
            is_inside = shape.sensor and any(
                shape.bb.intersects(part.bb) for part in hero.body.shapes
            )
            shape.sensor = is_inside or hero.body.velocity.y > 0
        carried = self.ground.velocity.x if self.ground else 0.0
        wanted = walk * self.world.walk_speed
        hero.surface_velocity = (-wanted, 0)
        for shape in hero.body.shapes:  # none in the air, or walls would hold it
            shape.friction = FRICTION if self.ground else 0.0
        if self.ground is None:  # it steers in the air, towards a speed that knows no lift
            x, most = hero.body.velocity.x, self.world.walk_speed / STEERING * dt
            x += max(-most, min(most, wanted - x))
            hero.body.velocity = (x, hero.body.velocity.y)
        elif jump:
            rise = self.ground.velocity.y + JUMP
            hero.body.velocity = (carried + wanted, rise)
        self.space.step(dt)
        self.look_down()

    def boxes(self) -> tuple[list[Box], list[Box], list[Box]]:
        world = self.world
        groups = (
            (self.players, world.players), (self.movers, [box for box, _ in world.movers]),
            (self.crates, world.crates),
        )  # fmt: skip
        return tuple(
            [box_of(shape.body, box.wide, box.high) for shape, box in zip(some, drawn, strict=True)]
            for some, drawn in groups
        )

    def stands(self) -> bool:
        return self.ground is not None
