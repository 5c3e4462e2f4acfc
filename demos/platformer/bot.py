"""A simple bot that plays the platformer: it follows the points of a route in the level."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import esper

import ecs_collide as ec
from demos.platformer.bats import Bat

if TYPE_CHECKING:
    from demos.platformer.game import Platformer
    from ecs_collide.levels.tiled import LevelObject

STUCK = 25  # steps without getting on, after which it jumps
HOPS = 0.005  # chance of a jump for joy, in each step
SIGHT = 200.0  # world units
NEAR = 6.0  # world units from a point at which it counts as reached


class Bot(esper.Processor):
    """A bot that presses the keys while `Keys.bot` is set.

    It runs and swims from point to point, and at each one follows its property `do`: ``run`` on,
    ``jump``, ``shoot``, ``leap 500`` (jump, and shoot when it rises no faster than that), ``dash
    200`` (the same, and dash), ``dive`` through planks into water, ``rest`` for a moment, ``climb``
    down a ladder to the point, ``walls 768`` (jump from wall to wall up to that height), ``wait
    shaft`` until the lift of that name comes, ``ride shaft`` to its other end.  It shoots the bats
    that it sees ahead.

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
        self.pressed = False  # the key for jumps, in the last step
        self.side = 1.0  # of the wall to which it jumps

    def process(self, dt: float) -> None:
        """Press and release keys for the coming step."""
        keys = self.game.keys
        if not keys.bot:
            return
        keys.left = keys.right = keys.jump = keys.up = keys.down = keys.shoot = keys.dash = False
        player = self.game.player
        if not esper.entity_exists(player):
            return
        position = esper.component_for_entity(player, ec.Position)
        if player != self.player:
            self._start(player, position)
        self.delay -= dt

        goal = self.route[self.index]
        away = goal.centre[0] + self.aim - position.x
        character = esper.component_for_entity(player, ec.Character)
        on_ground = character.on_ground
        velocity = esper.component_for_entity(player, ec.Velocity)
        keys.jump = not on_ground and velocity.y > 0  # hold the key while rising
        self.arrived = self.arrived or abs(away) <= NEAR or (away < 0 and on_ground)
        if self.arrived:
            self._act(goal, position, velocity, character)
        else:
            keys.right, keys.left = away > 0, away < 0
            stuck = on_ground and self._is_stuck(position.x)
            if stuck or (on_ground and self.chance.random() < HOPS):
                keys.jump = True
        if character.state is ec.CharacterState.SWIMMING:
            keys.jump = self.game.n_steps % 20 < 3
        self.pressed = keys.jump
        keys.shoot = keys.shoot or self._sees_a_bat(position, character.facing)

    def _start(self, player: int, position: ec.Position) -> None:
        """Start with the first point that a new player has not passed."""
        self.player = player
        ahead = [n for n, step in enumerate(self.route) if step.centre[0] > position.x]
        self.index = ahead[0] if ahead else len(self.route) - 1
        self.delay = self.chance.uniform(0.0, 0.5)
        self.arrived = self.leaping = False
        self.side = 1.0

    def _act(
        self,
        goal: LevelObject,
        position: ec.Position,
        velocity: ec.Velocity,
        character: ec.Character,
    ) -> None:
        """Do the action of a point, and continue to the next point when it is done."""
        keys, on_ground = self.game.keys, character.on_ground
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
        elif do == "dash":
            self.leaping = self.leaping or on_ground
            keys.jump, keys.right = keys.jump or on_ground, True
            done = keys.dash = self.leaping and not on_ground and velocity.y < float(name)
        elif do == "dive":
            keys.down = True
            done = character.state is ec.CharacterState.SWIMMING
        elif do == "rest":
            done = on_ground and self.delay <= -1.0
        elif do == "climb":
            keys.down = True
            done = on_ground and position.y < goal.centre[1] + NEAR + 14
        elif do == "walls":
            slides = character.state is ec.CharacterState.WALL_SLIDING
            presses = (slides or on_ground) and not self.pressed
            self.side = -self.side if slides and presses else self.side
            away = self.side * SIGHT
            if position.y > float(name):  # out of them: not too far
                away = self.route[self.index + 1].centre[0] - position.x
            keys.right, keys.left = away > NEAR, away < -NEAR
            keys.jump = keys.jump or presses
            done = on_ground and position.y > float(name)
        elif do == "wait":
            path = self._path(name)
            done = path.place == path.at(0.4) == path.points[0]
        elif do == "ride":
            path = self._path(name)
            done = path.place == path.points[1]
        if done:
            self.index = min(self.index + 1, len(self.route) - 1)
            self.delay = self.chance.uniform(0.3, 0.6)
            self.aim = self.chance.uniform(-3.0, 3.0)
            self.still = 0
            self.arrived = self.leaping = False

    def _path(self, name: str) -> ec.Path:
        return esper.component_for_entity(self.game.lifts[name], ec.Path)

    def _sees_a_bat(self, place: ec.Position, facing: float) -> bool:
        """Return whether a bat is ahead, at the height of the gun."""
        for _, (_, bat) in esper.get_components(Bat, ec.Position):
            if 0 < (bat.x - place.x) * facing < SIGHT and abs(bat.y - place.y) < 8:
                return True
        return False

    def _is_stuck(self, x: float) -> bool:
        """Return whether it has made no progress for a while."""
        self.still = self.still + 1 if abs(x - self.last_x) < 0.2 else 0
        self.last_x = x
        if self.still < STUCK:
            return False
        self.still = 0
        return True
