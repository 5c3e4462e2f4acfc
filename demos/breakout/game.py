"""Breakout: bricks are deleted within the step, many at once when the ball becomes very fast.

What to look at: the ball's response calls the built-in response and deletes the brick at once, in
the middle of the step.  A paddle that moves gives the ball a spin.  A caught star makes the ball
forty times faster for a while, and it breaks each brick that is in its way, and no other.
"""

from __future__ import annotations

import random
from itertools import product

import esper
import numpy as np

import ecs_collide as ec
from demos.app.boxes import BLUE, GREEN, WHITE, YELLOW, Boxes
from demos.app.parts import COLOURS, create_frame, create_wall, painted
from demos.app.scene import DT, Label, Look, Palette, Scene, looks
from demos.app.sprites import SPRITES, Sprite
from demos.breakout.paddle import FAR, Steer

COLUMNS, ROWS = 18, 10
BRICK = (50.0, 18.0)  # with the gap beside it
WIDTH, HEIGHT, EDGE = COLUMNS * BRICK[0], 520.0, 12.0
LOWEST = 270.0  # of the bricks
HALF = (58.0, 8.0)  # of the paddle
FLOOR, BALL = 30.0, 8.0  # height of the paddle's middle; half the ball
SPEED = 800.0  # of the paddle
SERVE = (260.0, 500.0)
SPIN = 0.35  # part of the paddle's speed that the ball takes
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
    drain = create_wall((-EDGE, -40), (WIDTH + EDGE, -20), ec.Sensor(), colour=(40, 24, 44))
    body = (ec.Position(WIDTH / 2, FLOOR), ec.Extents(*HALF), ec.Velocity(0, 0))
    look = Look(Sprite.BRICK, 2 * HALF[0], 2 * HALF[1], colour=GREEN)
    paddle = esper.create_entity(*body, look)
    space = ec.install()
    game = Breakout(space, paddle, drain, seed)
    space.respond_with(Ball, game.bounce)
    space.on_collision(game.catch, Star)
    space.on_collision(game.lose, Ball)
    ends = HALF[0] + 1, WIDTH - HALF[0] - 1
    esper.add_processor(Steer([paddle], "x", SPEED, ends, game.wanted), priority=200)
    return game


class Breakout(Scene):
    """The rules, and the score."""

    title = "breakout"
    seconds = 25.0
    corner = (-EDGE, -40.0)  # all walls are seen
    help = "left, right: the paddle   space: start   B: the bot plays"
    sheet = SPRITES
    palette = Palette((44, 30, 66), (20, 16, 34), wall=(92, 80, 130))

    def __init__(self, space: ec.Space, paddle: int, drain: int, seed: int) -> None:
        size = (WIDTH + 2 * EDGE, HEIGHT + EDGE + 40 + 38)
        super().__init__(space, size, size)
        self.paddle, self.drain = paddle, drain
        self.chance = random.Random(seed)
        self.n_bricks = self.n_broken = self.n_whole = self.n_outside = 0
        self.n_lost = self.n_stars = self.most = 0
        self.fastest = self.boost = 0.0  # speed of the ball; remaining seconds of a boost
        self.shield: int | None = None
        self.lay()
        self.serve()

    def lay(self) -> None:
        """Lay a wall of bricks."""
        for row, column in product(range(ROWS), range(COLUMNS)):
            place = (column + 0.5) * BRICK[0], LOWEST + (row + 0.5) * BRICK[1]
            size = BRICK[0] - 3, BRICK[1] - 3
            look = Look(Sprite.BRICK, *size, colour=COLOURS[-1 - row * len(COLOURS) // ROWS])
            body = ec.Position(*place), ec.Extents.from_size(*size)
            esper.create_entity(*body, Brick(), look)
        self.n_bricks += COLUMNS * ROWS

    def serve(self) -> None:
        """Put a ball on the paddle, switched off until it is started."""
        way = self.chance.choice((-1.0, 1.0))
        body = (ec.Position(WIDTH / 2, FLOOR + 60), ec.Extents(BALL, BALL), ec.Deflect())
        velocity, look = ec.Velocity(way * SERVE[0], SERVE[1]), Look(Sprite.ORB, 20, 20, layer=2)
        self.ball = esper.create_entity(*body, velocity, Ball(), look, ec.Disabled())
        self.waits = True

    def start(self) -> None:
        """Let the ball follow the paddle until the start key is pressed."""
        paddle = esper.component_for_entity(self.paddle, ec.Position)
        place = paddle.x, FLOOR + HALF[1] + BALL + 1
        esper.component_for_entity(self.ball, ec.Position).set(*place)
        if self.keys.jump or self.keys.bot:
            self.waits = False
            esper.remove_component(self.ball, ec.Disabled)
            self.effects.play("jump")
            if not self.n_broken:
                self.drop((WIDTH / 2, LOWEST - 100))

    def wanted(self, number: int, x: float) -> float:
        """Return the target of the paddle: a bot wants it under the lowest falling thing."""
        if not self.keys.bot:
            return x + FAR * (self.keys.right - self.keys.left)
        moving = esper.get_components(ec.Position, ec.Velocity)
        falling = [place for _, (place, v) in moving if v.y < 0 and place.y > FLOOR]
        if not falling:
            return x
        lowest = min(falling, key=lambda place: place.y)
        is_ball = lowest is esper.component_for_entity(self.ball, ec.Position)
        return lowest.x - (self.aim(lowest.x) * HALF[0] if is_ball else 0.0)

    def aim(self, x: float) -> float:
        """Return the part of the paddle at which a ball from x flies to the lowest brick."""
        bricks = esper.get_components(Brick, ec.Position)
        place = min((place for _, (_, place) in bricks), key=lambda at: (at.y, at.x), default=None)
        if place is None:
            return 0.0
        across = (place.x - x) * SERVE[1] / (place.y - FLOOR)
        return min(max(across / (1.4 * SERVE[0]), -0.8), 0.8)

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
            self.shatter(other)
            esper.delete_entity(other)
            self.broken += 1
            return
        impact.resolve()
        self.effects.burst(impact.position(ball), WHITE, 5, 150.0, towards=impact.normal_for(ball))
        self.effects.play("bounce")
        if other == self.paddle and impact.normal_for(ball)[1] > 0:
            # The place of the hit decides its direction.
            away = (impact.position(ball)[0] - impact.position(other)[0]) / HALF[0]
            faster = BOOST if self.boost > 0 else 1.0
            spin = SPIN * impact.velocity(other)[0]
            impact.set_velocity(ball, (faster * (1.4 * SERVE[0] * (away + 0.03) + spin), -y))

    def shatter(self, brick: int) -> None:
        """Let the pieces of a brick fall."""
        place = esper.component_for_entity(brick, ec.Position).xy
        colour = esper.component_for_entity(brick, Look).colour
        self.effects.burst(place, colour, 9, 230.0, size=13.0, life=0.9, pull=700.0)
        self.effects.play("break")

    def drop(self, place: tuple[float, float]) -> None:
        """Drop a star."""
        body = (ec.Position(*place), ec.Extents(8, 8), ec.Velocity(0, -150), ec.Sensor())
        esper.create_entity(*body, Star(), Look(Sprite.STAR, 30, 30, layer=1, colour=YELLOW))

    def catch(self, event: ec.Collision) -> None:
        """Make the ball very fast, and close the field below while it is."""
        places = {event.first, event.second}
        if places & {self.paddle, self.drain}:
            esper.delete_entity((places - {self.paddle, self.drain}).pop())
        if self.paddle not in places:
            return
        self.n_stars += 1
        self.effects.ring(event.point, YELLOW, 150.0, 0.5)
        self.effects.shake(10.0)
        self.effects.slow(0.25, 0.6)
        self.effects.play("win")
        if self.boost <= 0:
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            velocity.set(BOOST * velocity.x, BOOST * velocity.y)
            self.shield = create_wall((-EDGE, -18), (WIDTH + EDGE, -10), colour=YELLOW)
        self.boost = BOOSTED

    def lose(self, event: ec.Collision) -> None:
        """Remove the ball that has fallen; another one comes."""
        if self.drain in (event.first, event.second) and esper.entity_exists(self.ball):
            self.n_lost += 1
            self.effects.burst(event.point, self.palette.bad, 30, 320.0, towards=(0.0, 0.8))
            self.effects.shake(8.0)
            self.effects.play("lose")
            esper.delete_entity(self.ball, immediate=True)
            self.serve()

    def step(self) -> None:
        """Advance the world, and end boosts and lost stars."""
        self.broken = 0
        if self.waits:
            self.start()
        before = esper.component_for_entity(self.ball, ec.Position).xy
        super().step()
        self.n_broken += self.broken
        self.most = max(self.most, self.broken)
        for event in self.space.collisions_between(Ball, Brick):
            both = all(map(esper.entity_exists, (event.first, event.second)))
            self.n_whole += event.resolved and both
        x, y = esper.component_for_entity(self.ball, ec.Position).xy
        for place in np.linspace(before, (x, y), 10 if self.boost > 0 else 2)[1:]:
            trail = (*(place - BALL), *(place + BALL))
            self.effects.flash(trail, YELLOW if self.boost > 0 else BLUE, 0.3, shrinks=True)
        self.n_outside += not (BALL <= x <= WIDTH - BALL and -40 <= y <= HEIGHT - BALL)
        if self.boost > 0:
            self.boost -= DT * self.effects.rate
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            if self.boost <= 0 and self.shield is not None:
                velocity.set(velocity.x / BOOST, abs(velocity.y) / BOOST)
                esper.delete_entity(self.shield)
        if y < LOWEST - 20 and not esper.get_component(Brick):
            self.lay()

    def n_left(self) -> int:
        """Return how many bricks there are."""
        return sum(esper.entity_exists(brick) for brick, _ in esper.get_component(Brick))

    def boxes(self) -> Boxes:
        """Return the walls, and the bricks, stars, ball and paddle."""
        return painted().joined(looks())

    def labels(self) -> list[Label]:
        """Return the score, and how to start."""
        y, right = HEIGHT + EDGE + 10, WIDTH + EDGE - 8
        start = Label("press space", WIDTH / 2, 170, 44.0, YELLOW, "center")
        return [
            Label(f"{self.n_left()} bricks left", 0, y, 25.0),
            Label(f"up to {self.most} broken in one step", WIDTH / 2, y, 25.0, YELLOW, "center"),
            Label(f"{self.n_lost} lost", right, y, 25.0, self.palette.bad, "right"),
            *([start] if self.waits else []),
        ]

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
