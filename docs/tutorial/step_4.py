from dataclasses import dataclass

import esper
import pyglet
from pyglet.shapes import Rectangle
from pyglet.window import key
import ecs_collide as ec
from ecs_collide import levels

GREEN, ORANGE = (110, 190, 120), (230, 150, 80)
RED, YELLOW = (230, 90, 90), (255, 230, 120)
GREY, BLUE = (90, 100, 120), (90, 170, 255)

class Player: ...
class Bullet: ...

@dataclass
class Enemy:
    health: int = 2

window = pyglet.window.Window(640, 320, "My platformer")
keys = key.KeyStateHandler()
space = ec.install(gravity=(0, -900))
ec.name_categories("player", "enemy", "bullet")

def box(x, y, width, height, colour, *components):
    """Create an entity with a box around the point x, y."""
    return esper.create_entity(
        ec.Position(x, y),
        ec.Extents.from_size(width, height),
        Rectangle(0, 0, width, height, colour),
        *components,
    )

LEVEL = """
....................
....................
....................
....................
....................
..............###...
.......###..........
....................
#...........#......#
####################
"""
TILE = 32

def wall(tile):     # a component for the box of "#"
    width, height = 2 * tile.half[0], 2 * tile.half[1]
    return Rectangle(0, 0, width, height, GREY)

level = levels.from_grid(
    LEVEL.split(), TILE, {"#": {"solid": True}}
)
level.create({"#": wall})

hero = ec.Character(walk_speed=200, jump_height=110)
player = box(
    80, 60, 24, 40, BLUE,
    ec.Velocity(0, 0), ec.Slide(), hero,
    Player(), ec.Filter("player", mask="~bullet"),
)

# jump through it from below
box(160, 80, 64, 8, GREEN, ec.OneWay())
# a lift that goes up and down
box(
    576, 70, 48, 8, ORANGE, ec.Velocity(0, 0), ec.Carry(),
    ec.Path([(576, 70), (576, 200)], speed=60, pause=0.5),
)

def enemy(x, y):
    return box(
        x, y, 28, 30, RED, ec.Velocity(60, 0), ec.Deflect(),
        Enemy(), ec.Filter("enemy", mask="~enemy"),
    )

enemy(300, 47)
enemy(480, 47)

def shoot():
    x, y = space.position_of(player)
    box(
        x, y, 8, 4, YELLOW,
        ec.Velocity(900 * hero.facing, 0), ec.Sensor(),
        ec.GravityScale(0), Bullet(),
        ec.Filter("bullet", mask="enemy default"),
    )

def on_hit(event):  # first is the Bullet
    if not esper.has_component(event.first, Bullet):
        return      # it has hit something already
    esper.delete_entity(event.first)
    target = esper.try_component(event.second, Enemy)
    if target is not None:
        target.health -= 1
        if target.health == 0:
            esper.delete_entity(event.second)

def on_touch(event):  # first is the Player
    space.teleport(event.first, (80, 60))

space.on_collision(on_hit, Bullet)
space.on_contact_began(on_touch, Player, Enemy)

@window.event
def on_key_press(symbol, modifiers):
    if symbol == key.X:
        shoot()

def step(dt):
    hero.walk = keys[key.RIGHT] - keys[key.LEFT]
    hero.jump = keys[key.SPACE]
    hero.drop = keys[key.DOWN]
    esper.process(dt)

@window.event
def on_draw():
    window.clear()
    bodies = esper.get_components(ec.Position, Rectangle)
    for _, (place, shape) in bodies:
        shape.x = place.x - shape.width / 2
        shape.y = place.y - shape.height / 2
        shape.draw()

window.push_handlers(keys)
pyglet.clock.schedule_interval(step, 1 / 60)
pyglet.app.run()
