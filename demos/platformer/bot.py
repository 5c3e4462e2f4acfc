"""A simple bot that plays the platformer: it follows the points of a route in the level."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import esper

import ecs_collide as ec
from ecs_collide.character import Character

if TYPE_CHECKING:
    from demos.platformer.game import Platformer
    from ecs_collide.levels.tiled import LevelObject

STUCK = 25  # steps without getting on, after which it jumps
HOPS = 0.005  # chance of a jump for joy, in each step
NEAR = 6.0  # world units from a point at which it counts as reached


class Bot(esper.Processor):
    """A bot that presses the keys while `Keys.bot` is set.

    It runs from point to point, and at each one follows its property `do`: ``run`` on, ``jump``,
    ``shoot``, ``leap 500`` (jump, and shoot when it rises no faster than that), ``wait shaft``
    until the lift of that name comes, ``ride shaft`` to its other end.

    Parameters
    ----------
    game : Platformer
        The scene it plays.
    route : list of LevelObject
        The points, in order.
    seed : int
        The seed of its little delays and inaccuracies.
    """

    def __init__(self, game: Platformer, route: list[LevelObject], seed: int) -> None:
        self.game = game
        self.route = route
        self.chance = random.Random(seed)
        self.index = 0
        self.player = 0
        self.delay = 0.0
        self.arrived = False  # at the point
        self.leaping = False  # in the air, and about to shoot
        self.aim = 0.0  # how far beside the point it really goes
        self.still = 0
        self.last_x = 0.0

    def process(self, dt: float) -> None:
        """Press and release keys for the coming step."""
        keys = self.game.keys
        if not keys.bot:
            return
        keys.left = keys.right = keys.jump = keys.down = keys.shoot = False
        player = self.game.player
        if not esper.entity_exists(player):
            return
        position = esper.component_for_entity(player, ec.Position)
        if player != self.player:
            self._start(player, position)
        self.delay -= dt

        goal = self.route[self.index]
        away = goal.centre[0] + self.aim - position.x
        on_ground = esper.component_for_entity(player, Character).on_ground
        velocity = esper.component_for_entity(player, ec.Velocity)
        keys.jump = not on_ground and velocity.y > 0  # hold the key while rising
        self.arrived = self.arrived or abs(away) <= NEAR or (away < 0 and on_ground)
        if self.arrived:
            self._act(goal, velocity, on_ground)
        else:
            keys.right, keys.left = away > 0, away < 0
            if on_ground and (self._is_stuck(position.x) or self.chance.random() < HOPS):
                keys.jump = True

    def _start(self, player: int, position: ec.Position) -> None:
        """Start with the first point that a new player has not passed."""
        self.player = player
        ahead = [n for n, step in enumerate(self.route) if step.centre[0] > position.x]
        self.index = ahead[0] if ahead else len(self.route) - 1
        self.delay = self.chance.uniform(0.0, 0.5)
        self.arrived = self.leaping = False

    def _act(self, goal: LevelObject, velocity: ec.Velocity, on_ground: bool) -> None:
        """Do the action of a point, and continue to the next point when it is done."""
        keys = self.game.keys
        do, _, name = str(goal.properties["do"]).partition(" ")
        done = False
        if do == "run":
            done = on_ground
        elif do == "jump":
            keys.jump = keys.right = done = on_ground
        elif do == "shoot":
            done = keys.shoot = on_ground and self.delay <= 0
        elif do == "leap":
            jumps = on_ground and self.delay <= 0
            self.leaping = self.leaping or jumps
            keys.jump = keys.jump or jumps
            done = keys.shoot = self.leaping and not on_ground and velocity.y < float(name)
        elif do == "wait":
            lift = self.game.lifts[name]
            done = lift.rest > 0.6 and lift.heading == 1
        elif do == "ride":
            lift = self.game.lifts[name]
            done = lift.rest > 0.0 and lift.heading == 0
        if done:
            self.index = min(self.index + 1, len(self.route) - 1)
            self.delay = self.chance.uniform(0.3, 1.0)
            self.aim = self.chance.uniform(-3.0, 3.0)
            self.still = 0
            self.arrived = self.leaping = False

    def _is_stuck(self, x: float) -> bool:
        """Return whether it has made no progress for a while."""
        self.still = self.still + 1 if abs(x - self.last_x) < 0.2 else 0
        self.last_x = x
        if self.still < STUCK:
            return False
        self.still = 0
        return True
