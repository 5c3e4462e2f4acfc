"""A puzzle with a lift: left and right walk, up jumps; reach the flag.

The lift runs while something is on the red button.  The door opens when
both crates and the hero rest on the green plate: ``load_on`` weighs them.
"""

import esper
import ecs_collide as ec
from ecs_collide import levels

TILE = 32
LEVEL = """
####################
#..............#...#
#..............#...#
#.....c........#...#
#..######......#...#
#..............#...#
#..............#...#
#..............D...#
#.l.....c..h...D.f.#
######B###PPPP######
"""


class Wall: ...
class Button: ...
class Plate: ...
class Door: ...
class Lift: ...
class Flag: ...
class Crate: ...
class Hero: ...


COLOURS = {
    Wall: (90, 100, 120), Button: (230, 90, 90), Plate: (110, 190, 120),
    Door: (150, 110, 70), Lift: (230, 150, 80), Flag: (255, 230, 120),
    Crate: (190, 130, 80), Hero: (90, 170, 255),
}


class Puzzle:
    """The world of a game, and its rules."""

    def __init__(self):
        self.is_won = False
        self.hero = ec.Character(walk_speed=160, jump_height=60)
        level = levels.from_grid(LEVEL.split(), TILE, {
            "#": {"solid": True}, "B": {"solid": True}, "P": {"solid": True},
            "D": {"solid": True}, "l": "lift", "f": "flag", "c": "crate",
            "h": "hero",
        })  # dots are empty
        level.create({
            "#": Wall, "B": Button, "P": Plate, "D": Door,
            "flag": (Flag, ec.Sensor), "lift": self.lift,
            "crate": lambda cell: (
                Crate(), ec.Extents(13, 13), ec.Velocity(0, 0),
                ec.Slide(), ec.Friction(0.6),
            ),
            "hero": lambda cell: (
                Hero(), ec.Extents(9, 14), ec.Velocity(0, 0),
                ec.Slide(), self.hero,
            ),
        })
        self.space = ec.install(gravity=(0, -900))
        self.space.on_contact_began(self.win, Hero, Flag)

    def lift(self, cell):
        """Return the components of a lift: it waits on the floor."""
        x, y = cell.centre[0] - TILE / 2, TILE + 4
        ends = [(x, y), (x, y + 152)]
        self.path = ec.Path(ends, speed=60, pause=1)
        self.path.running = False
        size, speed = ec.Extents(30, 4), ec.Velocity(0, 0)
        return ec.Position(x, y), size, speed, ec.Carry(), Lift(), self.path

    def win(self, contact):
        self.is_won = True

    def load(self, kind):
        """Return the mass on the one body of a kind."""
        ((body, _),) = esper.get_component(kind)
        return self.space.load_on(body)

    def step(self, dt, walk=0, jump=False):
        """Let the hero walk and jump, and the machines work."""
        self.hero.walk, self.hero.jump = walk, jump
        esper.process(dt)
        self.path.running = self.load(Button) > 0
        if self.load(Plate) > 2.9:
            for door, _ in esper.get_component(Door):
                esper.delete_entity(door)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game = Puzzle()
    window = pyglet.window.Window(640, 320, "Lifts")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    def step(dt):
        walk = keys[key.RIGHT] - keys[key.LEFT]
        game.step(dt, walk, keys[key.UP])

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
    pyglet.clock.schedule_interval(step, 1 / 60)
    pyglet.app.run()


if __name__ == "__main__":
    main()
