"""A room from above: the arrow keys walk, space swings the sword.

Push the crate onto the plate, and the door opens.  Slimes come as soon
as they see the hero.  The sword is a box that is attached to the hero.
"""

import esper
import ecs_collide as ec
from ecs_collide import levels

TILE, WALK, CREEP = 32, 140, 60
ROOM = """
################
#......#.....s.#
#.h....#.......#
#..c...#....####
#..............D
#......#....####
#..p...#.....s.#
#......#.......#
################
"""


class Wall: ...
class Plate: ...
class Door: ...
class Crate: ...
class Slime: ...
class Hero: ...
class Sword: ...


COLOURS = {
    Wall: (70, 80, 100), Plate: (60, 90, 80), Door: (150, 110, 70),
    Crate: (190, 130, 80), Slime: (110, 190, 120), Hero: (90, 170, 255),
    Sword: (240, 240, 240),
}


def mover(kind, half, *more):
    """Return a function that the level calls for a thing that moves."""
    def components(cell):
        size, speed = ec.Extents(half, half), ec.Velocity(0, 0)
        return (kind(), size, speed, ec.Slide(), *more)
    return components


class Room:
    """The world of a game, and its rules."""

    def __init__(self):
        level = levels.from_grid(ROOM.split(), TILE, {
            "#": {"solid": True}, "D": {"solid": True},
            "p": "plate", "c": "crate", "s": "slime", "h": "hero",
        })  # dots are empty
        level.create({
            "#": Wall, "D": Door, "plate": (Plate, ec.Sensor),
            "crate": mover(Crate, 14, ec.Damping(20)),
            "slime": mover(Slime, 10), "hero": mover(Hero, 10),
        })
        ((self.hero, (_, self.velocity)),) = esper.get_components(
            Hero, ec.Velocity
        )
        self.start = level.of_type("hero")[0].centre
        self.facing, self.swing = (22, 0), 0.0  # seconds
        self.space = ec.install()
        self.space.on_contact_began(self.strike, Sword, Slime)
        self.space.on_contact_began(self.hurt, Hero, Slime)
        self.space.on_contact_began(self.open, Crate, Plate)

    def strike(self, contact):  # second is the Slime
        esper.delete_entity(contact.second)

    def hurt(self, contact):  # first is the Hero
        self.space.teleport(self.hero, self.start)

    def open(self, contact):
        for door, _ in esper.get_component(Door):
            esper.delete_entity(door)

    def creep(self):
        """Lead each slime that sees the hero."""
        goal = esper.component_for_entity(self.hero, ec.Position)
        for slime, (_, place, velocity) in esper.get_components(
            Slime, ec.Position, ec.Velocity
        ):
            way = goal - place
            hit = self.space.cast_ray(place.xy, way.xy, exclude=slime)
            sees = hit is not None and hit.entity == self.hero
            velocity.set(way * (CREEP / abs(way)) if sees else (0, 0))

    def step(self, dt, x=0, y=0, hit=False):
        """Walk (-1, 0 or 1 on each axis), or swing the sword."""
        self.velocity.set(WALK * x, WALK * y)
        if x or y:
            self.facing = 22 * x, 22 * y
        self.swing -= dt
        if hit and self.swing < -0.2:
            self.swing = 0.15
            esper.create_entity(
                Sword(), ec.Position(0, 0), ec.Extents(9, 9),
                ec.Attached(self.hero, self.facing),
            )
        for sword, _ in esper.get_component(Sword):
            if self.swing <= 0:
                esper.delete_entity(sword)
        self.creep()
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game = Room()
    window = pyglet.window.Window(16 * TILE, 9 * TILE, "Room")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    def step(dt):
        x, y = keys[key.RIGHT] - keys[key.LEFT], keys[key.UP] - keys[key.DOWN]
        game.step(dt, x, y, keys[key.SPACE])

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
