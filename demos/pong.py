"""Pong: paddles that give the ball a spin; it gets faster and faster and is never lost.

What to look at: a paddle has Velocity and no response, so it is kinematic and gives the ball its
own speed.  The ball's response calls the built-in response and adds the twist.  Behind the
paddles are sensors that count.
"""

from __future__ import annotations

import random

import esper

import ecs_collide as ec
from demos.app.paddles import FAR, Steer
from demos.app.parts import Paint, PaintedScene, create_frame, create_wall
from demos.app.scene import BLUE, DT, ORANGE, PALE, Label

WIDTH, HEIGHT, EDGE = 900.0, 500.0, 12.0
HALF = (7.0, 46.0)  # of a paddle
BALL = 7.0
SPEED = 420.0  # of a paddle, units per second
SERVE = 360.0
FASTER = 1.12  # by which each return makes the ball faster
ENGLISH = 0.5  # how much of the paddle's speed goes to the ball
FASTEST = 60_000.0  # a thousand units in a step
PAUSE = 0.6  # seconds before a serve


class Paddle:
    """A paddle, which returns the ball."""


class Ball:
    """The ball."""


class Goal:
    """A goal, which counts a point for the other side."""


def build(seed: int = 0) -> Pong:
    """Make the world in the current esper world; `seed` is of serves and of the aims of bots."""
    create_frame(WIDTH, HEIGHT, EDGE, "bt")
    paddles = [
        esper.create_entity(
            ec.Position(x, HEIGHT / 2),
            ec.Extents(*HALF),
            ec.Velocity(0, 0),
            Paddle(),
            Paint(colour),
        )
        for x, colour in ((40.0, BLUE), (WIDTH - 40.0, ORANGE))
    ]
    goals = [
        create_wall(low, high, ec.Sensor(), Goal(), colour=(34, 38, 54))
        for low, high in (((-EDGE, 0), (0, HEIGHT)), ((WIDTH, 0), (WIDTH + EDGE, HEIGHT)))
    ]
    space = ec.install()
    game = Pong(space, paddles, goals, seed)
    space.respond_with(Ball, game.twist)
    space.on_collision(game.score, Ball, Goal)
    ends = HALF[1] + 1, HEIGHT - HALF[1] - 1
    esper.add_processor(Steer(paddles, "y", SPEED, ends, game.wanted), priority=200)
    return game


class Pong(PaintedScene):
    """The rules, and the score."""

    title = "pong"
    seconds = 20.0
    corner = (-EDGE, -EDGE)  # all walls are seen
    help = "up, down: the left paddle   B: the bot plays"

    def __init__(self, space: ec.Space, paddles: list[int], goals: list[int], seed: int) -> None:
        size = (WIDTH + 2 * EDGE, HEIGHT + 2 * EDGE + 26)
        super().__init__(space, size, size)
        self.paddles = paddles
        self.goals = goals
        self.chance = random.Random(seed)
        self.points = [0, 0]
        self.aims = [0.0, 0.0]  # beside the ball's middle
        self.n_serves = self.n_returns = self.n_outside = self.n_wrong = 0
        self.rally = self.longest = 0
        self.fastest = 0.0
        self.wait = 0.0
        self.serve()

    def serve(self) -> None:
        """Send a ball from the middle to one side."""
        self.n_serves += 1
        self.rally = 0
        way = self.chance.choice((-1, 1))
        self.ball = esper.create_entity(
            ec.Position(WIDTH / 2, HEIGHT / 2),
            ec.Extents(BALL, BALL),
            ec.Velocity(way * SERVE, self.chance.uniform(-200.0, 200.0)),
            ec.Deflect(),
            Ball(),
            Paint(PALE),
        )

    def wanted(self, side: int, y: float) -> float:
        """Return the target of a paddle at y: by the keys for the left one, else by a bot."""
        if side == 0 and not self.keys.bot:
            return y + FAR * (self.keys.up - self.keys.down)
        return self.aim(side)

    def aim(self, side: int) -> float:
        """Return the height at which a bot wants its paddle, where the ball will be."""
        if not esper.entity_exists(self.ball):
            return HEIGHT / 2
        x, y = esper.component_for_entity(self.ball, ec.Position).xy
        vx, vy = esper.component_for_entity(self.ball, ec.Velocity).xy
        if (vx > 0) != (side == 1):
            return HEIGHT / 2
        gap = abs(esper.component_for_entity(self.paddles[side], ec.Position).x - x)
        free = HEIGHT - 2 * BALL  # the way of the ball's middle, folded at the walls
        folded = (y - BALL + vy * gap / abs(vx)) % (2 * free) if vx else y
        return BALL + min(folded, 2 * free - folded) + self.aims[side]

    def twist(self, impact: ec.Impact) -> None:
        """Resolve an impact of the ball; a paddle adds to it."""
        ball = self.ball
        impact.resolve()
        paddle = impact.other(ball)
        if paddle not in self.paddles or not impact.normal[0]:
            return
        x, y = impact.velocity(ball)
        english = ENGLISH * impact.velocity(paddle)[1]
        x = max(-FASTEST, min(FASTER * x, FASTEST))
        impact.set_velocity(ball, (x, y + english))
        self.n_wrong += impact.velocity(ball) != (x, y + english)
        self.n_returns += 1
        self.rally += 1
        self.longest = max(self.longest, self.rally)
        self.fastest = max(self.fastest, abs(x))
        self.aims = [self.chance.uniform(-1.0, 1.0) * HALF[1] * 0.8 for _ in self.aims]

    def score(self, event: ec.Collision) -> None:
        """Count a point, and remove the ball."""
        if esper.entity_exists(self.ball):
            self.points[event.other(self.ball) == self.goals[0]] += 1
            esper.delete_entity(self.ball, immediate=True)
            self.wait = PAUSE

    def step(self) -> None:
        """Advance the world, and check that the ball is still in it."""
        super().step()
        if esper.entity_exists(self.ball):
            x, y = esper.component_for_entity(self.ball, ec.Position).xy
            inside = -EDGE <= x <= WIDTH + EDGE and BALL <= y <= HEIGHT - BALL
            self.n_outside += not inside
            return
        self.wait -= DT
        if self.wait <= 0:
            self.serve()

    def labels(self) -> list[Label]:
        """Return the score."""
        left, right = self.points
        text = f"{left} : {right}"
        return [Label(text, WIDTH / 2 - 24, HEIGHT - 44, 28.0, (92, 99, 122))]

    def status(self) -> str:
        """Return the length of the rally and the fastest ball."""
        return f"rally {self.rally}   fastest ball {self.fastest * DT:.1f} units a step"

    def report(self) -> list[str]:
        """Return the score, and the fastest ball."""
        return [
            f"score       {self.points[0]} : {self.points[1]}, of {self.n_serves} serves",
            f"returns     {self.n_returns}, {self.longest} in the longest rally",
            f"fastest     {self.fastest * DT:.1f} units a step; a paddle is {2 * HALF[0]:g} thick",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        served = sum(self.points) + esper.entity_exists(self.ball) + (self.wait > 0)
        return [
            ("the ball never left the field but through a goal", self.n_outside == 0),
            ("every goal was counted, once", self.n_serves in (served, sum(self.points))),
            ("each return has exactly the english of its paddle", self.n_wrong == 0),
        ]
