"""The `Character` of ecs_collide."""

from __future__ import annotations

from math import inf

import esper

import ecs_collide as ec
from benchmarks.controllers.worlds import GRAVITY, JUMP, Box, World
from ecs_collide.character import Character


def parts(box: Box) -> tuple[ec.Position, ec.Extents]:
    place = ec.Position(box.x + box.wide / 2, box.y + box.high / 2)
    return place, ec.Extents(box.wide / 2, box.high / 2)


class Ours:
    offers = frozenset({"one-way", "crates", "players", "ramps"})

    def __init__(self, world: World) -> None:
        for wall in world.walls:
            esper.create_entity(*parts(wall), ec.Fixed())
        for wall in world.one_ways:
            esper.create_entity(*parts(wall), ec.OneWay(), ec.Fixed())
        for ramp in world.ramps:
            esper.create_entity(*parts(ramp), ec.Slope("right"), ec.Fixed())
        self.speeds = [speed for _, speed in world.movers]
        self.movers = [
            esper.create_entity(*parts(box), ec.Velocity(0, 0), ec.Carry())
            for box, _ in world.movers
        ]
        self.crates = [
            esper.create_entity(*parts(box), ec.Velocity(0, 0), ec.Slide()) for box in world.crates
        ]
        self.players = [
            esper.create_entity(
                *parts(box), ec.Velocity(0, -world.falling), ec.Slide(), self.character(world),
                *([ec.Carry()] if len(world.players) > 1 else []),
            )
            for box in world.players
        ]  # fmt: skip
        self.space = ec.install(gravity=(0, -GRAVITY))

    @staticmethod
    def character(world: World) -> Character:
        return Character.with_jump_speed(
            JUMP, GRAVITY, walk_speed=world.walk_speed, acceleration=inf, deceleration=inf,
            fall_speed=inf,
        )  # fmt: skip

    def step(self, time: float, dt: float, walk: float, jump: bool) -> None:
        for mover, speed in zip(self.movers, self.speeds, strict=True):
            esper.component_for_entity(mover, ec.Velocity).xy = speed(time)
        hero = esper.component_for_entity(self.players[0], Character)
        hero.walk, hero.jump = walk, jump
        esper.process(dt)

    def boxes(self) -> tuple[list[Box], list[Box], list[Box]]:
        def box(entity: int) -> Box:
            place, half = (
                esper.component_for_entity(entity, kind) for kind in (ec.Position, ec.Extents)
            )
            return Box(place.x - half.x, place.y - half.y, 2 * half.x, 2 * half.y)

        return tuple([*map(box, some)] for some in (self.players, self.movers, self.crates))

    def stands(self) -> bool:
        return self.space.is_on(self.players[0]) is not None
