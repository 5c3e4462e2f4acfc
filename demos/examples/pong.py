"""Pong for two: W and S move the left paddle, up and down the right.

Walls stop a paddle because it has Slide.  With Dominance the ball
cannot push it.  No ball is too fast for a paddle.
"""

import esper
import ecs_collide as ec

WIDTH, HEIGHT = 640, 400
PADDLE_SPEED, SERVE = 360, ec.Velocity(260, 140)


class Wall: ...
class Paddle: ...
class Ball: ...


class Goal:
    def __init__(self, winner):
        self.winner = winner  # the player who scores here


COLOURS = {Wall: (90, 100, 120), Paddle: (240, 240, 240)}
COLOURS[Ball] = COLOURS[Paddle]


def box(x, y, width, height, *components):
    """Create an entity with a box around the point x, y."""
    return esper.create_entity(
        ec.Position(x, y),
        ec.Extents.from_size(width, height),
        *components,
    )


class Pong:
    """The world of a game, and its rules."""

    def __init__(self):
        self.score = [0, 0]
        for y in (10, HEIGHT - 10):
            box(WIDTH / 2, y, WIDTH, 20, Wall())
        for winner, x in enumerate((WIDTH + 30, -30)):
            box(x, HEIGHT / 2, 20, HEIGHT, ec.Sensor(), Goal(winner))
        self.paddles = [
            box(
                x, HEIGHT / 2, 12, 72, Paddle(),
                ec.Velocity(0, 0), ec.Slide(), ec.Dominance(1),
            )
            for x in (30, WIDTH - 30)
        ]
        self.velocity = ec.Velocity(SERVE)
        self.ball = box(
            WIDTH / 2, HEIGHT / 2, 12, 12, Ball(),
            self.velocity, ec.Deflect(),
        )
        self.space = ec.install()
        self.space.on_collision(self.turn, Ball, Paddle)
        self.space.on_collision(self.score_goal, Ball, Goal)

    def turn(self, event):
        """Aim the ball by the place where it met the paddle."""
        ball, paddle = event.position_first, event.position_second
        self.velocity.x *= 1.05  # the bounce has turned it already
        self.velocity.y = 8 * (ball[1] - paddle[1])

    def score_goal(self, event):
        """Count a goal, and serve towards the other side."""
        winner = esper.component_for_entity(event.second, Goal).winner
        self.score[winner] += 1
        self.space.teleport(self.ball, (WIDTH / 2, HEIGHT / 2))
        self.velocity.set(SERVE * (1 if winner else -1, 1))

    def step(self, dt, left=0, right=0):
        """Move the paddles (-1, 0 or 1), and then everything."""
        for paddle, way in zip(self.paddles, (left, right), strict=True):
            velocity = esper.component_for_entity(paddle, ec.Velocity)
            velocity.set(0, PADDLE_SPEED * way)
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game = Pong()
    window = pyglet.window.Window(WIDTH, HEIGHT, "Pong")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)
    score = pyglet.text.Label(x=WIDTH / 2, y=HEIGHT - 50, anchor_x="center")

    def step(dt):
        left = keys[key.W] - keys[key.S]
        game.step(dt, left, keys[key.UP] - keys[key.DOWN])

    @window.event
    def on_draw():
        window.clear()
        for kind, colour in COLOURS.items():
            brush.color = colour
            for _, (_, place, half) in esper.get_components(
                kind, ec.Position, ec.Extents
            ):
                brush.position = (place - half).xy
                brush.width, brush.height = (2 * half).xy
                brush.draw()
        score.text = f"{game.score[0]} : {game.score[1]}"
        score.draw()

    window.push_handlers(keys)
    pyglet.clock.schedule_interval(step, 1 / 60)
    pyglet.app.run()


if __name__ == "__main__":
    main()
