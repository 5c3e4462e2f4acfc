"""The parts of the platformer that move, and what makes them move in each step.

The processors run before the four systems of ecs_collide and write velocities,
never positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign

import esper

import ecs_collide as ec
from demos._scene import WHITE, Keys, Look

RUN = 240.0  # units (pixels) per second
JUMP = 720.0
GRAVITY = 2000.0  # units per second, per second
GRIP = 1200.0  # by how much friction slows a crate, per second
BULLET = 100 * RUN
RELOAD = 0.25  # seconds between two shots of the player
WARNING = 0.5  # seconds between a gun's turning red and its shot
STANDING, RUNNING, JUMPING = 18, 19, 20  # tiles


class Crate:
    """Falls, rubs on what it stands on, and may be pushed."""


@dataclass(slots=True)
class Player:
    """Is moved by the keys."""

    facing: int = 1
    reload: float = 0.0  # seconds until the next shot
    jumped: bool = False  # with the key that is still down


@dataclass(slots=True)
class Lift:
    """Goes to and fro between two points, with a rest at each.

    `heading` is the number of the point it goes to next.
    """

    ends: tuple[tuple[float, float], tuple[float, float]]
    speed: float
    pause: float
    heading: int = 1
    rest: float = 0.0


@dataclass(slots=True)
class Gun:
    """Shoots to the left every few seconds; `wait` until the next shot."""

    every: float
    wait: float


@dataclass(slots=True)
class Bullet:
    """Has flown from `start`, and is the player's if it is `friendly`."""

    start: float
    friendly: bool


def shoot(space: ec.Space, x: float, y: float, way: int, friendly: bool) -> None:
    """Send off a bullet to the left (way -1) or to the right (1), if there is room for it."""
    near = space.query((x - 6, y - 2), (x + 6, y + 2))
    if any(esper.entity_exists(body) and not esper.has_component(body, ec.Sensor) for body in near):
        return
    body = (ec.Position(x, y), ec.Extents(6, 2), ec.Velocity(way * BULLET, 0), ec.Mass(0.001))
    esper.create_entity(*body, ec.Stop(), Bullet(x, friendly))


def footing(space: ec.Space, entity: int) -> float | None:
    """Return how fast the ground under an entity moves sideways; None if it stands on nothing."""
    if entity not in space:  # made since the last step
        return None
    for contact in space.contacts(entity):
        ground = contact.other(entity)
        if contact.kind != ec.ContactKind.SOLID or contact.normal_for(entity)[1] <= 0:
            continue
        if esper.entity_exists(ground):  # it may have been deleted since
            velocity = esper.try_component(ground, ec.Velocity)
            return velocity.x if velocity else 0.0
    return None


class Gravity(esper.Processor):
    """Pull down everything that slides."""

    def process(self, dt: float) -> None:
        """Add what gravity adds to a velocity."""
        for _, (_, velocity) in esper.get_components(ec.Slide, ec.Velocity):
            velocity.y -= GRAVITY * dt


class Friction(esper.Processor):
    """Slow crates down to the speed of the ground they stand on: they ride on lifts."""

    def __init__(self, space: ec.Space) -> None:
        self.space = space

    def process(self, dt: float) -> None:
        """Bring each crate's velocity nearer to its ground's."""
        for crate, (_, velocity) in esper.get_components(Crate, ec.Velocity):
            ground = footing(self.space, crate)
            if ground is not None:
                slip = ground - velocity.x
                velocity.x += copysign(min(abs(slip), GRIP * dt), slip)


class Lifts(esper.Processor):
    """Move lifts by their Velocity: a lift that is put somewhere else carries nobody."""

    def process(self, dt: float) -> None:
        """Choose each lift's velocity so that it never passes its end."""
        for _, (lift, place, velocity) in esper.get_components(Lift, ec.Position, ec.Velocity):
            lift.rest -= dt
            if lift.rest > 0:
                continue
            goal = lift.ends[lift.heading]
            away = (goal[0] - place.x, goal[1] - place.y)
            distance = abs(away[0]) + abs(away[1])  # it goes along one axis
            if distance < 1e-6:
                velocity.set(0.0, 0.0)
                lift.rest = lift.pause
                lift.heading = 1 - lift.heading
            else:
                speed = min(lift.speed, distance / dt)
                velocity.set(speed * away[0] / distance, speed * away[1] / distance)


class Guns(esper.Processor):
    """Fire the guns; a gun turns red a moment before."""

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


class Walk(esper.Processor):
    """Make players do what the keys say: run relative to the ground, jump, shoot."""

    def __init__(self, space: ec.Space, keys: Keys) -> None:
        self.space = space
        self.keys = keys

    def process(self, dt: float) -> None:
        """Write the players' velocities, and how they look."""
        keys = self.keys
        way = int(keys.right) - int(keys.left)
        for entity, (player, place, velocity, look) in esper.get_components(
            Player, ec.Position, ec.Velocity, Look
        ):
            ground = footing(self.space, entity)
            velocity.x = way * RUN + (ground or 0.0)
            if keys.jump and ground is not None and not player.jumped:
                velocity.y = JUMP
            elif not keys.jump and velocity.y > JUMP / 2 and ground is None:
                velocity.y = JUMP / 2  # a short press is a low jump
            player.jumped = keys.jump
            player.facing = way or player.facing
            player.reload -= dt
            if keys.shoot and player.reload <= 0:
                player.reload = RELOAD
                muzzle = place.x + 20 * player.facing
                shoot(self.space, muzzle, place.y + 1, player.facing, friendly=True)

            steps = int(place.x // 24) % 2
            look.tile = JUMPING if ground is None else RUNNING if way and steps else STANDING
            look.mirrored = player.facing < 0
