"""Small levels drawn with letters, and the game that is played in them."""

from __future__ import annotations

import itertools

import esper

import ecs_collide as ec
from ecs_collide.character import Character

TILE = 16

STAIRS = """
.........G
.......###
.....###..
P..####...
##########
"""
GAP = """
P.......G
###...###
"""
CANYON = """
P..............G
###..........###
"""
SHELF = """
...G.
.---.
.....
.---.
P....
#####
"""
LID = """
...G.
#####
.....
P....
#####
"""
PIT = """
.......G
###..###
###P.###
########
"""
WELL = """
.......G
###..###
###..###
###..###
###..###
###P.###
########
"""
LIFT = """
......G
.....##
.......
.......
.......
P.=....
##...##
"""
DOOR = """
....D..
....D..
....D.G
K.P.D..
#######
"""
CRATE = """
.........G
........##
........##
P..C....##
##########
"""
SPIKES = """
P..^^^..G
#########
"""
TUNNEL = """
#########
P......G#
######.##
"""


class Player:
    """What the keys move."""


class Goal:
    """Where it wants to go."""


class Key:
    """It opens all doors."""


class Door:
    """A wall until the key is taken."""


class Spikes:
    """The player dies there."""


class Keys:
    left = right = jump = down = False


class Lift:
    """A lift goes up and down between two heights."""

    def __init__(self, low, high, speed):
        self.low, self.high, self.speed = low, high, speed


class Lifts(esper.Processor):
    """Turns the lifts round at their ends."""

    def process(self, dt):
        for _, (lift, place, velocity) in esper.get_components(Lift, ec.Position, ec.Velocity):
            if place.y <= lift.low:
                velocity.y = lift.speed
            elif place.y >= lift.high:
                velocity.y = -lift.speed


class Room:
    """A game that is drawn with letters: ``#`` a tile, ``-`` a platform, ``=`` a lift, and more."""

    def __init__(self, rows):
        self.keys = Keys()
        self.space = ec.install(gravity=(0, -900))
        for y, row in enumerate(reversed(rows.split())):
            for letter, run in itertools.groupby(enumerate(row), lambda place: place[1]):
                columns = [x for x, _ in run]
                if letter in "#-=^D":  # one box for all of them
                    self.add(letter, columns[0], y, len(columns))
                elif letter != ".":
                    for x in columns:
                        self.add(letter, x, y, 1)
        esper.add_processor(Lifts(), priority=500)
        self.space.on_collision(self.take, Player, Key)
        self.space.on_collision(self.die, Player, Spikes)

    def add(self, letter, x, y, n):
        centre = ec.Position((x + n / 2) * TILE, (y + 0.5) * TILE)
        half = ec.Extents(n * TILE / 2, TILE / 2)
        if letter == "P":
            self.hero = Character(walk_speed=120, jump_height=40, time_to_top=0.3)
            body = centre, ec.Extents(6, 8), ec.Velocity(0, 0), ec.Slide(), self.hero, Player()
            self.player = esper.create_entity(*body)
        elif letter == "C":
            body = centre, ec.Extents(8, 8), ec.Velocity(0, 0), ec.Slide(), ec.Friction(0.5)
            esper.create_entity(*body)
        elif letter == "=":
            lift = Lift(centre.y - 24, centre.y + 3 * TILE, 120.0)
            body = centre, half, ec.Velocity(0, -120), ec.Carry(), lift
            esper.create_entity(*body)
        else:
            what = {
                "#": (ec.Fixed(),),
                "-": (ec.OneWay((0, 1)), ec.Fixed()),
                "G": (ec.Sensor(), Goal()),
                "K": (ec.Sensor(), Key()),
                "D": (Door(),),
                "^": (ec.Sensor(), Spikes()),
            }[letter]
            esper.create_entity(centre, half, *what)

    def take(self, event):
        esper.delete_entity(event.other(self.player))
        for door, _ in esper.get_component(Door):
            esper.delete_entity(door)

    def die(self, event):
        esper.delete_entity(self.player)

    def step(self):
        self.hero.walk = float(self.keys.right) - float(self.keys.left)
        self.hero.jump, self.hero.drop = self.keys.jump, self.keys.down
        esper.process(1 / 60)
