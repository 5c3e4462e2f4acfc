import esper
import pyglet
from pyglet.shapes import Rectangle
from pyglet.window import key
import ecs_collide as ec
from ecs_collide import levels

GREY, BLUE = (90, 100, 120), (90, 170, 255)

window = pyglet.window.Window(640, 320, "My platformer")
keys = key.KeyStateHandler()
space = ec.install(gravity=(0, -900))

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

player = box(
    80, 200, 24, 40, BLUE,
    ec.Velocity(0, 0),  # it moves
    ec.Slide(),         # and walls stop it
)

def step(dt):
    walk = keys[key.RIGHT] - keys[key.LEFT]  # -1, 0 or 1
    speed = esper.component_for_entity(player, ec.Velocity)
    speed.x = 200 * walk
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
