"""arcade's `PhysicsEnginePlatformer`."""

from __future__ import annotations

import arcade

from benchmarks.controllers.worlds import GRAVITY, JUMP, Box, World


def sprite(box: Box) -> arcade.SpriteSolidColor:
    wide, high = round(box.wide), round(box.high)
    made = arcade.SpriteSolidColor(wide, high)
    made.left, made.bottom = box.x, box.y
    return made


def ramp(box: Box) -> arcade.SpriteSolidColor:
    made, x, y = sprite(box), box.wide / 2, box.high / 2
    made.hit_box = arcade.hitbox.HitBox([(-x, -y), (x, -y), (x, y)], made.position)
    return made


class Arcade:
    offers = frozenset({"ramps"})

    def __init__(self, world: World) -> None:
        self.world = world
        self.hero = sprite(world.players[0])
        self.hero.change_y = -world.falling / world.hz
        self.movers = [sprite(box) for box, _ in world.movers]
        platforms, walls = arcade.SpriteList(), arcade.SpriteList()
        platforms.extend(self.movers)
        walls.extend([sprite(box) for box in world.walls])
        walls.extend([ramp(box) for box in world.ramps])
        self.engine = arcade.PhysicsEnginePlatformer(
            self.hero, platforms=platforms, walls=walls, gravity_constant=GRAVITY / world.hz**2
        )

    def step(self, time: float, dt: float, walk: float, jump: bool) -> None:
        for mover, (_, speed) in zip(self.movers, self.world.movers, strict=True):
            mover.change_x, mover.change_y = (part * dt for part in speed(time))
        self.hero.change_x = walk * self.world.walk_speed * dt
        if jump and self.engine.can_jump():
            self.engine.jump(JUMP * dt)
        self.engine.update()

    def boxes(self) -> tuple[list[Box], list[Box], list[Box]]:
        def box(made: arcade.Sprite) -> Box:
            return Box(made.left, made.bottom, made.width, made.height)

        return [box(self.hero)], [*map(box, self.movers)], []

    def stands(self) -> bool:
        return self.engine.can_jump()
