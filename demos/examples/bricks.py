"""Breakout: left and right move the paddle, space serves the ball.

The game resolves the impacts of the ball itself, when they happen.  So a
brick is deleted within the step, and one line aims the ball by the
paddle.
"""

import esper
import ecs_collide as ec

WIDTH, HEIGHT = 480, 480
SPEED, BALL_SPEED = 400, 320


class Wall: ...
class Brick: ...
class Paddle: ...
class Ball: ...
class Drain: ...


COLOURS = {Wall: (90, 100, 120), Brick: (230, 150, 80)}
COLOURS |= {Paddle: (240, 240, 240), Ball: (255, 230, 120)}


def box(x, y, width, height, *components):
    """Create an entity with a box around the point x, y."""
    return esper.create_entity(
        ec.Position(x, y),
        ec.Extents.from_size(width, height),
        *components,
    )


class Bricks:
    """The world of a game, and its rules."""

    def __init__(self):
        self.balls, self.waits = 3, True
        for x in (5, WIDTH - 5):
            box(x, HEIGHT / 2, 10, HEIGHT, Wall())
        box(WIDTH / 2, HEIGHT - 5, WIDTH, 10, Wall())
        box(WIDTH / 2, -20, WIDTH, 20, ec.Sensor(), Drain())
        for row in range(4):
            for column in range(10):
                x, y = 33 + 46 * column, HEIGHT - 60 - 22 * row
                box(x, y, 42, 18, Brick())
        self.paddle = box(
            WIDTH / 2, 30, 80, 12, Paddle(),
            ec.Velocity(0, 0), ec.Slide(), ec.Dominance(1),
        )
        self.ball = box(
            WIDTH / 2, 43, 10, 10, Ball(),
            ec.Velocity(0, 0), ec.Deflect(),
        )
        self.space = ec.install()
        self.space.respond_with(Ball, self.bounce)
        self.space.on_collision(self.lose, Ball, Drain)

    def bounce(self, impact):
        """Resolve an impact of the ball, inside the step."""
        other = impact.other(self.ball)
        impact.resolve()  # as Deflect does
        if esper.has_component(other, Brick):
            esper.delete_entity(other)
        elif esper.has_component(other, Paddle):
            x = impact.position(self.ball)[0]
            away = x - impact.position(other)[0]
            impact.set_velocity(self.ball, (8 * away, BALL_SPEED))

    def lose(self, event):
        self.balls -= 1
        self.waits = True

    def step(self, dt, way=0, serve=False):
        """Move the paddle (-1, 0 or 1), and then everything."""
        velocity = esper.component_for_entity(self.paddle, ec.Velocity)
        velocity.set(SPEED * way, 0)
        if self.waits:  # the ball lies on the paddle
            x, y = self.space.position_of(self.paddle)
            self.space.teleport(self.ball, (x, y + 13))
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            self.waits = not (serve and self.balls)
            velocity.set((0, 0) if self.waits else (120, BALL_SPEED))
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game = Bricks()
    window = pyglet.window.Window(WIDTH, HEIGHT, "Bricks")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    def step(dt):
        way = keys[key.RIGHT] - keys[key.LEFT]
        game.step(dt, way, keys[key.SPACE])

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

    window.push_handlers(keys)
    pyglet.clock.schedule_interval(step, 1 / 60)
    pyglet.app.run()


if __name__ == "__main__":
    main()
