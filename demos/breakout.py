"""Breakout: bricks are deleted within the step, many at once when the ball becomes very fast.

What to look at: the ball's response calls the built-in response and deletes the brick at once, in
the middle of the step.  A caught star makes the ball forty times faster for a while, and it flies
on through the bricks: it breaks each that is in its way, and no other.
"""

from __future__ import annotations

import random
from itertools import product

import esper

import ecs_collide as ec
from demos.app.boxes import GREEN, YELLOW
from demos.app.paddles import FAR, Steer
from demos.app.parts import COLOURS, Paint, PaintedScene, create_frame, create_wall
from demos.app.scene import DT

COLUMNS, ROWS = 18, 10
BRICK = (50.0, 18.0)  # with the gap beside it
WIDTH, HEIGHT, EDGE = COLUMNS * BRICK[0], 520.0, 12.0
LOWEST = 270.0  # of the bricks
HALF = (58.0, 8.0)  # of the paddle
FLOOR, BALL = 30.0, 6.0  # height of the paddle's middle; half the ball
SPEED = 800.0  # of the paddle
SERVE = (260.0, 500.0)
BOOST, BOOSTED = 40.0, 0.3  # by how much, and for how many seconds
CHANCE = 0.25  # of a star in a brick


class Ball:
    """A ball, which breaks bricks."""


class Brick:
    """A brick, which the ball breaks."""


class Star:
    """A falling star; it makes the ball fast when the paddle catches it."""


def build(seed: int = 0) -> Breakout:
    """Make the world in the current esper world; `seed` is of stars, serves and the bot."""
    create_frame(WIDTH, HEIGHT, EDGE, "lrt")
    drain = create_wall((-EDGE, -40), (WIDTH + EDGE, -20), ec.Sensor(), colour=(24, 27, 40))
    body = (ec.Position(WIDTH / 2, FLOOR), ec.Extents(*HALF), ec.Velocity(0, 0))
    paddle = esper.create_entity(*body, Paint(GREEN))
    space = ec.install()
    game = Breakout(space, paddle, drain, seed)
    space.respond_with(Ball, game.bounce)
    space.on_collision(game.catch, Star)
    space.on_collision(game.lose, Ball)
    ends = HALF[0] + 1, WIDTH - HALF[0] - 1
    esper.add_processor(Steer([paddle], "x", SPEED, ends, game.wanted), priority=200)
    return game


class Breakout(PaintedScene):
    """The rules, and the score."""

    title = "breakout"
    seconds = 25.0
    corner = (-EDGE, -40.0)  # all walls are seen
    help = "left, right: the paddle   B: the bot plays"

    def __init__(self, space: ec.Space, paddle: int, drain: int, seed: int) -> None:
        size = (WIDTH + 2 * EDGE, HEIGHT + EDGE + 40 + 26)
        super().__init__(space, size, size)
        self.paddle, self.drain = paddle, drain
        self.chance = random.Random(seed)
        self.n_bricks = self.n_broken = self.n_whole = self.n_outside = 0
        self.n_lost = self.n_stars = self.most = 0
        self.fastest = self.boost = 0.0  # speed of the ball; remaining seconds of a boost
        self.shield: int | None = None
        self.lay()
        self.serve()
        self.drop((WIDTH / 2, LOWEST - 100))

    def lay(self) -> None:
        """Lay a wall of bricks."""
        for row, column in product(range(ROWS), range(COLUMNS)):
            left, low = column * BRICK[0] + 1.5, LOWEST + row * BRICK[1] + 1.5
            high = (left + BRICK[0] - 3, low + BRICK[1] - 3)
            create_wall((left, low), high, Brick(), colour=COLOURS[-1 - row * len(COLOURS) // ROWS])
        self.n_bricks += COLUMNS * ROWS

    def serve(self) -> None:
        """Throw a ball up from the middle."""
        way = self.chance.choice((-1.0, 1.0))
        body = (ec.Position(WIDTH / 2, LOWEST - 60), ec.Extents(BALL, BALL), ec.Deflect())
        velocity = ec.Velocity(way * SERVE[0], -SERVE[1])
        self.ball = esper.create_entity(*body, velocity, Ball(), Paint(layer=2))

    def wanted(self, number: int, x: float) -> float:
        """Return the target of the paddle; a bot wants it under the lowest falling thing."""
        if not self.keys.bot:
            return x + FAR * (self.keys.right - self.keys.left)
        moving = esper.get_components(ec.Position, ec.Velocity)
        falling = [place for _, (place, v) in moving if v.y < 0 and place.y > FLOOR]
        return min(falling, key=lambda place: place.y).x if falling else x

    def bounce(self, impact: ec.Impact) -> None:
        """Resolve an impact of the ball: break a brick at once, and fly through it if boosted."""
        ball, other = self.ball, impact.other(self.ball)
        x, y = impact.velocity(ball)
        self.fastest = max(self.fastest, abs(x), abs(y))
        if esper.has_component(other, Brick):
            if self.boost <= 0:
                impact.resolve()
            if self.boost <= 0 and self.chance.random() < CHANCE:
                self.drop(esper.component_for_entity(other, ec.Position).xy)
            esper.delete_entity(other)
            self.broken += 1
            return
        impact.resolve()
        if other == self.paddle and impact.normal_for(ball)[1] > 0:
            # The place of the hit decides its direction.
            away = (impact.position(ball)[0] - impact.position(other)[0]) / HALF[0]
            faster = BOOST if self.boost > 0 else 1.0
            impact.set_velocity(ball, (faster * 1.4 * SERVE[0] * (away + 0.03), -y))

    def drop(self, place: tuple[float, float]) -> None:
        """Drop a star."""
        body = (ec.Position(*place), ec.Extents(8, 8), ec.Velocity(0, -150), ec.Sensor())
        esper.create_entity(*body, Star(), Paint(YELLOW, layer=1))

    def catch(self, event: ec.Collision) -> None:
        """Make the ball very fast, and close the field below while it is."""
        places = {event.first, event.second}
        if places & {self.paddle, self.drain}:
            esper.delete_entity((places - {self.paddle, self.drain}).pop())
        if self.paddle not in places:
            return
        self.n_stars += 1
        if self.boost <= 0:
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            velocity.set(BOOST * velocity.x, BOOST * velocity.y)
            self.shield = create_wall((-EDGE, -18), (WIDTH + EDGE, -10), colour=YELLOW)
        self.boost = BOOSTED

    def lose(self, event: ec.Collision) -> None:
        """Remove the ball that has fallen; another one comes."""
        if self.drain in (event.first, event.second) and esper.entity_exists(self.ball):
            self.n_lost += 1
            esper.delete_entity(self.ball, immediate=True)
            self.serve()

    def step(self) -> None:
        """Advance the world, and end boosts and lost stars."""
        self.broken = 0
        super().step()
        self.n_broken += self.broken
        self.most = max(self.most, self.broken)
        for event in self.space.collisions_between(Ball, Brick):
            both = all(map(esper.entity_exists, (event.first, event.second)))
            self.n_whole += event.resolved and both
        x, y = esper.component_for_entity(self.ball, ec.Position).xy
        self.n_outside += not (BALL <= x <= WIDTH - BALL and -40 <= y <= HEIGHT - BALL)
        if self.boost > 0:
            self.boost -= DT
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            if self.boost <= 0 and self.shield is not None:
                velocity.set(velocity.x / BOOST, abs(velocity.y) / BOOST)
                esper.delete_entity(self.shield)
        if y < LOWEST - 20 and not esper.get_component(Brick):
            self.lay()

    def n_left(self) -> int:
        """Return how many bricks there are."""
        return sum(esper.entity_exists(brick) for brick, _ in esper.get_component(Brick))

    def status(self) -> str:
        """Return how many bricks are left."""
        return (
            f"{self.n_left()} bricks left   lost {self.n_lost}   most bricks in a step {self.most}"
        )

    def report(self) -> list[str]:
        """Return the score."""
        return [
            f"bricks      {self.n_broken} broken, at most {self.most} in one step",
            f"stars       {self.n_stars} caught; balls lost: {self.n_lost}",
            f"fastest     {self.fastest * DT:.0f} units a step; a brick is {BRICK[1] - 3:g} high",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("the ball is in the field at the end of every step", self.n_outside == 0),
            ("each brick is there or broken, once", self.n_left() + self.n_broken == self.n_bricks),
            ("no brick that turned the ball is left", self.n_whole == 0),
        ]
