"""The moving parts of the platformer, and the systems that move them in each step.

The processors run before the characters and the four systems of ecs_collide, and
write velocities and wishes, never positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE
from demos.app.scene import Keys, Look
from ecs_collide.character import Character

if TYPE_CHECKING:
    from ecs_collide.levels.tiled import LevelObject

RUN = 240.0  # units (pixels) per second
JUMP = 720.0
GRAVITY = 2000.0  # units per second, per second
BULLET = 100 * RUN
RELOAD = 0.25  # seconds between two shots of the player
WARNING = 0.5  # seconds between a gun's turning red and its shot
STANDING, RUNNING, JUMPING = 18, 19, 20  # tiles


class Crate:
    """A crate, which falls and may be pushed."""


@dataclass(slots=True)
class Player:
    """A player, which follows the keys."""

    reload: float = 0.0  # seconds until the next shot


def hero() -> tuple[object, ...]:
    """Return the components of a player except its place: it runs at once, even in the air."""
    look = Look(STANDING, shift=2.0, layer=2)
    character = Character.with_jump_speed(
        JUMP,
        GRAVITY,
        walk_speed=RUN,
        acceleration=inf,
        deceleration=inf,
        air_control=1.0,
        air_jumps=1,
        wall_slide_speed=150.0,
        wall_jump_speed=300.0,
        wall_jump_lock=0.12,
    )
    return ec.Extents(10, 14), ec.Velocity(0, 0), ec.Slide(), character, Player(), look


@dataclass(slots=True)
class Lift:
    """A lift, which goes back and forth between two points, with a rest at each.

    `heading` is the number of the point it goes to next.
    """

    ends: tuple[tuple[float, float], tuple[float, float]]
    speed: float
    pause: float
    heading: int = 1
    rest: float = 0.0

    @classmethod
    def drawn(cls, thing: LevelObject) -> Lift:
        """Return a lift from a level, by its place and its distance to the right or up."""
        (x, y), says = thing.centre, thing.properties
        ends = ((x, y), (x + says.get("right", 0), y + says.get("up", 0)))
        return cls(ends, says["speed"], says["pause"])


@dataclass(slots=True)
class Gun:
    """A gun, which shoots to the left every few seconds; `wait` until the next shot."""

    every: float
    wait: float


@dataclass(slots=True)
class Bullet:
    """A bullet, fired at the point `start`; it is the player's if it is `friendly`."""

    start: tuple[float, float]
    friendly: bool


def shoot(space: ec.Space, x: float, y: float, way: int, friendly: bool) -> None:
    """Fire a bullet to the left (way -1) or to the right (1), if there is room for it."""
    near = space.query((x - 6, y - 2), (x + 6, y + 2))
    if any(esper.entity_exists(body) and not esper.has_component(body, ec.Sensor) for body in near):
        return
    body = (ec.Position(x, y), ec.Extents(6, 2), ec.Velocity(way * BULLET, 0), ec.Mass(0.001))
    esper.create_entity(*body, ec.Stop(), Bullet((x, y), friendly))


class Gravity(esper.Processor):
    """The system that pulls down the crates."""

    def process(self, dt: float) -> None:
        """Add gravity to the velocities."""
        for _, (_, velocity) in esper.get_components(Crate, ec.Velocity):
            velocity.y -= GRAVITY * dt


class Lifts(esper.Processor):
    """The system that moves lifts by their Velocity; they carry, by their Carry."""

    def process(self, dt: float) -> None:
        """Choose each lift's velocity so that it never passes its end."""
        for _, (lift, place, velocity) in esper.get_components(Lift, ec.Position, ec.Velocity):
            lift.rest -= dt
            if lift.rest > 0:
                continue
            goal = lift.ends[lift.heading]
            away = (goal[0] - place.x, goal[1] - place.y)
            distance = abs(away[0]) + abs(away[1])  # it moves along one axis
            if distance < 1e-6:
                velocity.set(0.0, 0.0)
                lift.rest = lift.pause
                lift.heading = 1 - lift.heading
            else:
                speed = min(lift.speed, distance / dt)
                velocity.set(speed * away[0] / distance, speed * away[1] / distance)


class Guns(esper.Processor):
    """The system that fires the guns; a gun turns red a moment before."""

    def __init__(self, space: ec.Space) -> None:
        self.space = space

    def process(self, dt: float) -> None:
        """Count down, and shoot to the left."""
        for _, (gun, place, look) in esper.get_components(Gun, ec.Position, Look):
            gun.wait -= dt
            look.colour = (255, 90, 90) if gun.wait < WARNING else WHITE
            if gun.wait <= 0:
                gun.wait += gun.every
                shoot(self.space, place.x - 24, place.y, -1, friendly=False)


class Play(esper.Processor):
    """The system that passes the keys to the players, and shoots."""

    def __init__(self, space: ec.Space, keys: Keys) -> None:
        self.space = space
        self.keys = keys

    def process(self, dt: float) -> None:
        """Write the players' wishes and looks."""
        keys = self.keys
        for _, (player, character, place, look) in esper.get_components(
            Player, Character, ec.Position, Look
        ):
            character.walk = float(keys.right) - float(keys.left)
            character.jump, character.drop = keys.jump, keys.down
            way = int(character.facing)
            player.reload -= dt
            if keys.shoot and player.reload <= 0:
                player.reload = RELOAD
                shoot(self.space, place.x + 20 * way, place.y + 1, way, friendly=True)

            runs = character.walk != 0.0 and int(place.x // 24) % 2
            look.tile = RUNNING if runs else STANDING
            if not character.on_ground:
                look.tile = JUMPING
            look.mirrored = way < 0
