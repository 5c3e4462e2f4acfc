"""Fly the ship of the asteroids: by the keys, or as a bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import esper

import ecs_collide as ec

if TYPE_CHECKING:
    from demos.asteroids.game import Asteroids

THRUST, DRAG = 500.0, 0.6  # per second
NEAR = 0.8  # fraction of the world: the range at which a bot shoots
IDLE = 0.3  # chance that a bot flies on if it sees nothing
WAYS = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "up": (0.0, 1.0), "down": (0.0, -1.0)}


class Pilot(esper.Processor):
    """The system that sets the ship's velocity for the coming step, and shoots."""

    def __init__(self, game: Asteroids) -> None:
        self.game = game

    def process(self, dt: float) -> None:
        """Follow the keys."""
        game, keys = self.game, self.game.keys
        game.reload -= dt
        if not esper.entity_exists(game.ship):
            return
        if keys.bot:
            self.choose()
        velocity = esper.component_for_entity(game.ship, ec.Velocity)
        for name, (x, y) in WAYS.items():
            if getattr(keys, name):
                game.facing = (x, y)
                velocity.set(velocity.x + THRUST * x * dt, velocity.y + THRUST * y * dt)
        slower = 1.0 - DRAG * dt
        velocity.set(velocity.x * slower, velocity.y * slower)
        if keys.shoot and game.reload <= 0:
            game.shoot()

    def choose(self) -> None:
        """Press keys as a bot does: turn to the nearest target on an axis, and shoot."""
        game, keys = self.game, self.game.keys
        place = esper.component_for_entity(game.ship, ec.Position).xy
        keys.left = keys.right = keys.up = keys.down = keys.shoot = False
        best, chosen = NEAR, ""
        for name, way in WAYS.items():
            ray = [part * side for part, side in zip(way, game.size, strict=True)]
            hit = game.space.cast_ray(place, ray, filter=game.target)
            if hit is not None and hit.time < best:
                best, chosen = hit.time, name
        if not chosen and game.chance.random() < IDLE:
            chosen = game.chance.choice(list(WAYS))
        if chosen:
            setattr(keys, chosen, True)
            keys.shoot = best < NEAR
