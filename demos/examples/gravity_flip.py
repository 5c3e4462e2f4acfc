"""A character of one's own: arrow keys walk, space flips gravity.

``Flipper`` is a component of this game.  ``FlipperSteering`` moves it before
each step, as the library's own systems move ``Character`` and ``Path``.
"""

from dataclasses import dataclass

import esper
import ecs_collide as ec
from ecs_collide import extend, levels

TILE = 32
LEVEL = """
####################
#......#.....^^..o.#
#..o...#...........#
#......#...##......#
#..........##......#
#...#......##...#..#
#...#...o..........#
#h..#...##.........#
#####^#######^^#####
"""


class Wall: ...
class Spike: ...
class Coin: ...


COLOURS = {Wall: (90, 100, 120), Spike: (230, 90, 90), Coin: (255, 230, 120)}


@dataclass
class Flipper:
    """A box that walks on floors and on ceilings."""

    speed: float = 200.0  # pixels per second
    acceleration: float = 1500.0  # pixels per second squared
    walk: float = 0.0  # the wish of the player, from -1 to 1
    flip: bool = False  # whether it turns over if it stands on something


COLOURS[Flipper] = (90, 170, 255)
AMOUNTS = ("speed", "acceleration")
FIELDS = extend.NumberFields(
    "Flipper", dict.fromkeys(AMOUNTS, extend.AMOUNT) | {"walk": extend.SIGNED}
)


@extend.add_steering
class FlipperSteering(extend.Steering):
    """Walk and flip, before each step."""

    kinds = (Flipper,)
    needs = (ec.Position, ec.Extents, ec.Velocity, ec.GravityScale)
    rank = 3

    def __init__(self, space):
        super().__init__(space)
        kinds = (Flipper, ec.Velocity, ec.GravityScale)
        self.flippers = extend.Holders(space.world, kinds, ec.Disabled)

    def steer(self, dt):
        """Set the velocities for the step that follows."""
        found = self.flippers.find()
        wrong = {one: FIELDS.find_wrong(its[0]) for one, its in found}
        self.refuse({one: why for one, why in wrong.items() if why})
        for one, (flipper, velocity, gravity) in found:
            if wrong[one]:
                continue  # the step skips it, and reports the field
            most = flipper.acceleration * dt
            change = flipper.walk * flipper.speed - velocity.x
            velocity.x += min(max(change, -most), most)
            feet = (0, 1 if gravity.value > 0 else -1)
            stands = one in self.space and self.space.is_on(one, feet)
            if flipper.flip and stands:
                gravity.value = -gravity.value


class Game:
    """The world of a game, and its rules."""

    def __init__(self):
        level = levels.from_grid(LEVEL.split(), TILE, {
            "#": {"solid": True}, "^": "spike", "o": "coin", "h": "hero",
        })  # dots are empty
        level.create({
            "#": Wall, "spike": (Spike, ec.Sensor), "coin": (Coin, ec.Sensor),
            "hero": lambda cell: (
                Flipper(), ec.Extents(9, 14), ec.Velocity(0, 0),
                ec.Slide(), ec.GravityScale(1),
            ),
        })
        self.space = space = ec.install(gravity=(0, -1200))
        space.snapshot_with(Flipper)  # saved games and rollback keep it
        space.on_contact_began(self.take, Flipper, Coin)
        space.on_contact_began(self.die, Flipper, Spike)
        ((self.hero, self.flipper),) = esper.get_component(Flipper)
        self.start = esper.component_for_entity(self.hero, ec.Position).xy

    def take(self, contact):
        esper.delete_entity(contact.second)

    def die(self, contact):
        self.space.teleport(contact.first, self.start)
        esper.component_for_entity(contact.first, ec.GravityScale).value = 1

    def step(self, dt, walk=0, flip=False):
        """Let the hero walk and flip for a frame."""
        self.flipper.walk, self.flipper.flip = walk, flip
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game, pressed = Game(), []
    window = pyglet.window.Window(640, 288, "Flip")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    @window.event
    def on_key_press(symbol, modifiers):
        pressed.append(symbol)

    def step(dt):
        walk = keys[key.RIGHT] - keys[key.LEFT]
        game.step(dt, walk, key.SPACE in pressed)
        pressed.clear()

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
