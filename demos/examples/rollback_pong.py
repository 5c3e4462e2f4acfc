"""Pong over a network with rollback: it opens a window for each player.

Up and down move your paddle at once.  The session predicts the keys of
the other player, and repeats steps whose prediction was wrong.  For two
machines run ``rollback_pong.py 0 THEIR_ADDRESS`` on the first and
``rollback_pong.py 1 THEIR_ADDRESS`` on the second.
"""

import socket
import subprocess
import sys
from dataclasses import dataclass

import esper
import ecs_collide as ec
from ecs_collide.recording.rollback import Session

WIDTH, HEIGHT, DT = 640, 400, 1 / 60
SPEED, SERVE, PORT = 360, (260, 140), 47_000


class Wall: ...
class Ball: ...


@dataclass
class Paddle:  # saved with the world, because it is plain numbers
    player: int
    score: int = 0


COLOURS = {
    Wall: (90, 100, 120), Paddle: (240, 240, 240), Ball: (255, 230, 120),
}


def box(x, y, width, height, *components):
    """Create an entity with a box around the point x, y."""
    return esper.create_entity(
        ec.Position(x, y),
        ec.Extents.from_size(width, height),
        *components,
    )


class Machine:
    """The world of a player, which is the same on both machines."""

    def __init__(self, local):
        for y in (10, HEIGHT - 10):
            box(WIDTH / 2, y, WIDTH, 20, Wall())
        for player, x in enumerate((30, WIDTH - 30)):
            box(
                x, HEIGHT / 2, 12, 72, Paddle(player),
                ec.Velocity(0, 0), ec.Slide(), ec.Dominance(1),
            )
        self.ball = box(
            WIDTH / 2, HEIGHT / 2, 12, 12, Ball(),
            ec.Velocity(SERVE), ec.Deflect(),
        )
        self.space = ec.install()
        self.other = 1 - local
        self.session = Session(self.space, self.play, 2, local)

    def play(self, inputs):
        """Do a step; everything that it changes is in components."""
        paddles = esper.get_components(Paddle, ec.Velocity)
        for _, (paddle, velocity) in paddles:
            velocity.set(0, SPEED * inputs[paddle.player])
        esper.process(DT)
        x, _ = self.space.position_of(self.ball)
        if not 0 < x < WIDTH:
            winner = int(x < 0)
            for _, (paddle, _) in paddles:
                paddle.score += paddle.player == winner
            way = 1 if winner else -1
            velocity = esper.component_for_entity(self.ball, ec.Velocity)
            velocity.set(way * SERVE[0], SERVE[1])
            self.space.teleport(self.ball, (WIDTH / 2, HEIGHT / 2))

    def frame(self, way, came):
        """Take the packets that came, do a step, return a packet."""
        for data in came:
            self.session.receive(data)
        self.session.advance(way)  # it waits if it is too far ahead
        return self.session.packet(self.other)


def main(arguments=()):
    """Open a window for a player; without arguments, for both."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    if not arguments:  # the other player is a second process
        subprocess.Popen([sys.executable, __file__, "1"])
    local = int(arguments[0]) if arguments else 0
    host = arguments[1] if arguments[1:] else "127.0.0.1"
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.bind(("", PORT + local))
    line.setblocking(False)

    machine = Machine(local)
    window = pyglet.window.Window(WIDTH, HEIGHT, f"Player {local + 1}")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    def packets():
        while True:
            try:
                yield line.recv(65_536)
            except OSError:  # nothing more has come
                return

    def step(dt):
        way = keys[key.UP] - keys[key.DOWN]
        line.sendto(machine.frame(way, packets()), (host, PORT + 1 - local))

    @window.event
    def on_draw():
        window.clear()
        for kind, brush.color in COLOURS.items():
            for _, (_, place, half) in esper.get_components(
                kind, ec.Position, ec.Extents
            ):
                brush.position = (place - half).xy
                brush.width, brush.height = (2 * half).xy
                brush.draw()

    window.push_handlers(keys)
    pyglet.clock.schedule_interval(step, DT)
    pyglet.app.run()
    line.close()


if __name__ == "__main__":
    main(sys.argv[1:])
