"""A platformer with raylib: arrow keys walk and jump, down drops.

Take the coins, mind the spikes, and ride the lift.  y grows downwards,
as on the screen, so the gravity is positive.
"""

import esper
import ecs_collide as ec
from ecs_collide import levels

TILE = 32
LEVEL = """
#..................#
#.o................#
#===.............o.#
#....==.....=====..#
#..................#
#..................#
#..==.....==.......#
#..................#
#h...c....^^..l...o#
####################
"""


class Wall: ...
class Plank: ...
class Lift: ...
class Spike: ...
class Coin: ...
class Crate: ...
class Hero: ...


COLOURS = {
    Wall: (90, 100, 120, 255), Plank: (110, 190, 120, 255),
    Lift: (230, 150, 80, 255), Spike: (230, 90, 90, 255),
    Coin: (255, 230, 120, 255), Crate: (190, 130, 80, 255),
    Hero: (90, 170, 255, 255),
}


class Platformer:
    """The world of a game, and its rules."""

    def __init__(self):
        self.hero = ec.Character(walk_speed=200, jump_height=110)
        self.space = ec.install(gravity=(0, 900))
        level = levels.from_grid(LEVEL.split(), TILE, {
            "#": {"solid": True}, "=": {"one_way": True}, "^": "spike",
            "o": "coin", "c": "crate", "l": "lift", "h": "hero",
        }, y_down=True)  # dots are empty
        level.create({
            "#": Wall, "=": Plank,
            "spike": (Spike, ec.Sensor), "coin": (Coin, ec.Sensor),
            "crate": lambda cell: (
                Crate(), ec.Velocity(0, 0), ec.Slide(), ec.Friction(0.5)
            ),
            "lift": self.lift,
            "hero": lambda cell: (
                Hero(), ec.Extents(10, 14), ec.Velocity(0, 0),
                ec.Slide(), self.hero,
            ),
        })
        self.start = level.of_type("hero")[0].centre
        self.space.on_collision(self.take, Hero, Coin)
        self.space.on_contact_began(self.hurt, Hero, Spike)

    def lift(self, cell):
        """Return the components of a lift: it goes up and comes back."""
        x, y = cell.centre
        path = ec.Path([(x, y), (x, y - 5 * TILE)], speed=60, pause=0.5)
        size, speed = ec.Extents(24, 4), ec.Velocity(0, 0)
        return Lift(), size, speed, ec.Carry(), path

    def take(self, event):  # second is the Coin
        esper.delete_entity(event.second)

    def hurt(self, contact):  # first is the Hero
        self.space.teleport(contact.first, self.start)

    def step(self, dt, walk=0, jump=False, drop=False):
        """Set what the hero is to do, and move everything."""
        self.hero.walk, self.hero.jump, self.hero.drop = walk, jump, drop
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyray as rl

    game = Platformer()
    rl.init_window(640, 320, "Platformer")
    rl.set_target_fps(60)
    while not rl.window_should_close():
        down = rl.is_key_down
        walk = down(rl.KEY_RIGHT) - down(rl.KEY_LEFT)
        game.step(1 / 60, walk, down(rl.KEY_UP), down(rl.KEY_DOWN))
        rl.begin_drawing()
        rl.clear_background((0, 0, 0, 255))
        for kind, colour in COLOURS.items():
            for _, (_, place, half) in esper.get_components(
                kind, ec.Position, ec.Extents
            ):
                corner, size = (place - half).xy, (2 * half).xy
                rl.draw_rectangle_v(corner, size, colour)
        rl.end_drawing()
    rl.close_window()


if __name__ == "__main__":
    main()
