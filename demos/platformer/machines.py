"""The things of the platformer, and the systems that pass on the keys and fire the guns.

The processors run before the paths, the characters and the four systems of ecs_collide, and write
velocities and wishes, never positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import esper

import ecs_collide as ec
from demos.app.boxes import WHITE
from demos.app.scene import Keys, Look

if TYPE_CHECKING:
    from ecs_collide.levels.tiled import LevelObject

RUN = 240.0  # units (pixels) per second
JUMP = 720.0
GRAVITY = 2000.0  # units per second, per second
BULLET = 100 * RUN
RELOAD = 0.25  # seconds between two shots of the player
WARNING = 0.5  # seconds between a gun's turning red and its shot
SLIDE = 150.0  # units per second, down a wall
DASH = 3 * RUN  # units per second
STANDING, RUNNING, JUMPING, CLIMBING = 18, 19, 20, 45  # tiles


class Crate:
    """A crate, which falls, floats and may be pushed."""


class Brick:
    """Bricks that a bullet or a head breaks, one cell at a time."""


@dataclass(slots=True)
class Player:
    """A player, which follows the keys."""

    reload: float = 0.0  # seconds until the next shot


def hero() -> tuple[object, ...]:
    """Return the components of a player except its place: it runs at once, even in the air."""
    look = Look(STANDING, shift=2.0, layer=2)
    character = ec.Character.with_jump_speed(
        JUMP,
        GRAVITY,
        walk_speed=RUN,
        acceleration=inf,
        deceleration=inf,
        air_control=1.0,
        air_jumps=1,
        wall_slide_speed=SLIDE,
        wall_jump_speed=300.0,
        wall_jump_lock=0.12,
        climb_speed=200.0,
        swim_speed=330.0,
        dash_speed=DASH,
    )
    return ec.Extents(10, 14), ec.Velocity(0, 0), ec.Slide(), character, Player(), look


def lift_path(lift: LevelObject) -> ec.Path:
    """Return the path of a lift: from its place to the right or up, and back."""
    (x, y), says = lift.centre, lift.properties
    end = (x + says.get("right", 0), y + says.get("up", 0))
    return ec.Path([(x, y), end], says["speed"], pause=says["pause"])


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
    esper.create_entity(*body, ec.GravityScale(0), ec.Stop(), Bullet((x, y), friendly))


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
        for entity, (player, character, place, look) in esper.get_components(
            Player, ec.Character, ec.Position, Look
        ):
            character.walk = float(keys.right) - float(keys.left)
            character.climb = float(keys.up) - float(keys.down)
            # The arrow up jumps too, but not on a ladder.
            climbs = keys.up and bool(self.space.contacts(entity, filter=ec.Ladder))
            character.jump, character.drop = keys.jump and not climbs, keys.down
            character.dash = keys.dash
            way = int(character.facing)
            player.reload -= dt
            if keys.shoot and player.reload <= 0:
                player.reload = RELOAD
                shoot(self.space, place.x + 20 * way, place.y + 1, way, friendly=True)

            runs = character.walk != 0.0 and int(place.x // 24) % 2
            look.tile, look.mirrored = RUNNING if runs else STANDING, way < 0
            if character.state is ec.CharacterState.CLIMBING:
                look.tile, look.mirrored = CLIMBING, int(place.y // 20) % 2 == 1
            elif not character.on_ground:
                look.tile = JUMPING
