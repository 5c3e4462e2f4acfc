"""A platformer with arcade: left and right walk, up jumps.

The bodies are arcade's sprites.  The space reads and writes their
centres, and a sprite list draws them.  The hero and the lift are moved
by their velocities, without `Character` and `Path`.
"""

import arcade
import esper
import ecs_collide as ec
from arcade import SpriteSolidColor, color

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


class Lift: ...
class Spike: ...
class Coin: ...
class Hero: ...


class Platformer:
    """The world of a game, and its rules."""

    def __init__(self):
        self.sprites = arcade.SpriteList()
        self.space = ec.install(
            gravity=(0, -900),
            components=ec.Components(
                position=(SpriteSolidColor, "center_x", "center_y"),
                extents=(SpriteSolidColor, "width", "height"),
                whole_sizes=True,
            ),
        )
        for row, line in enumerate(reversed(LEVEL.split())):
            for column, symbol in enumerate(line):
                x, y = TILE * (column + 0.5), TILE * (row + 0.5)
                self.create(symbol, x, y)
        self.space.on_collision(self.take, Hero, Coin)
        self.space.on_contact_began(self.hurt, Hero, Spike)

    def create(self, symbol, x, y):
        """Create what a symbol of the level means."""
        cell, speed = (x, y, TILE, TILE), ec.Velocity(0, 0)
        if symbol == "#":
            self.box(*cell, color.SLATE_GRAY, ec.Fixed())
        elif symbol == "=":
            self.box(*cell, color.SEA_GREEN, ec.Fixed(), ec.OneWay())
        elif symbol == "^":
            self.box(*cell, color.RED, Spike(), ec.Sensor())
        elif symbol == "o":
            self.box(*cell, color.YELLOW, Coin(), ec.Sensor())
        elif symbol == "c":
            crate = speed, ec.Slide(), ec.Friction(0.5)
            self.box(*cell, color.PERU, *crate)
        elif symbol == "l":
            self.box(x, y, 48, 8, color.ORANGE, Lift(), speed, ec.Carry())
        elif symbol == "h":
            self.start = x, y
            hero = Hero(), speed, ec.Slide()
            self.hero = self.box(x, y, 20, 28, color.SKY_BLUE, *hero)
            self.velocity = speed

    def box(self, x, y, width, height, colour, *components):
        """Create an entity whose body is a sprite."""
        sprite = SpriteSolidColor(width, height, x, y, colour)
        self.sprites.append(sprite)
        return esper.create_entity(sprite, *components)

    def take(self, event):  # second is the Coin
        coin = esper.component_for_entity(event.second, SpriteSolidColor)
        coin.remove_from_sprite_lists()
        esper.delete_entity(event.second)

    def hurt(self, contact):  # first is the Hero
        self.space.teleport(contact.first, self.start)

    def step(self, dt, walk=0, jump=False):
        """Steer the hero and the lift, and move everything."""
        self.velocity.x = 200 * walk
        if jump and self.space.is_on(self.hero):
            self.velocity.y = 450
        for _, (_, sprite, velocity) in esper.get_components(
            Lift, SpriteSolidColor, ec.Velocity
        ):
            if sprite.center_y <= 1.5 * TILE:
                velocity.y = 60
            elif sprite.center_y >= 6.5 * TILE:
                velocity.y = -60
        esper.process(dt)


class Window(arcade.Window):
    """Passes keys to the game, and draws its sprites."""

    def __init__(self):
        super().__init__(640, 320, "Platformer")
        self.game, self.keys = Platformer(), set()

    def on_key_press(self, symbol, modifiers):
        self.keys.add(symbol)

    def on_key_release(self, symbol, modifiers):
        self.keys.discard(symbol)

    def on_update(self, dt):
        left, right, up = (
            symbol in self.keys
            for symbol in (arcade.key.LEFT, arcade.key.RIGHT, arcade.key.UP)
        )
        self.game.step(dt, right - left, up)

    def on_draw(self):
        self.clear()
        self.game.sprites.draw()


def main():
    """Open a window and play."""
    Window()
    arcade.run()


if __name__ == "__main__":
    main()
