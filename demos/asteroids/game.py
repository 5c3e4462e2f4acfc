"""Asteroids: a world without edges; a body that flies out on one side comes in on the other.

What to look at: ``Space(wrap=(width, height))`` and no more.  Bodies that lie across the seam are
hit from both sides, bullets fly through it, and an asteroid breaks into four that fill its place.
"""

from __future__ import annotations

import random

import esper
import numpy as np

import ecs_collide as ec
from demos.app.parts import Paint, painted
from demos.app.scene import DT, GREEN, ORANGE, PALE, YELLOW, Boxes, Scene
from demos.asteroids.pilot import Pilot

WIDTH, HEIGHT = 900.0, 560.0
SIDES = (30.0, 15.0, 7.5)  # half sizes of asteroids: each breaks into four of the next
CELLS = [(col, row) for col in range(6) for row in range(4)]
N = 7  # asteroids in a wave
DRIFT = 90.0  # of an asteroid, on an axis, units per second
SHIP = 8.0
SHOT = 12_000.0  # 200 units a step
RANGE = 0.9  # of a shot, as a part of the world's size
RELOAD = 0.16  # seconds
RESPAWN = 1.0
OWN = ec.Filter(group=-1)  # the ship and its shots never meet


class Asteroid:
    """An asteroid, which shots break; `level` is its index in `SIDES`."""

    def __init__(self, level: int) -> None:
        self.level = level


class Shot:
    """A shot that breaks asteroids for `left` seconds."""

    def __init__(self, left: float) -> None:
        self.left = left


class Ship:
    """A ship, which asteroids break."""


def build(seed: int = 0) -> Asteroids:
    """Make the world in the current esper world; `seed` is of the asteroids and of the bot."""
    space = ec.install(wrap=(WIDTH, HEIGHT))
    game = Asteroids(space, seed)
    space.on_collision(game.hit, Shot, Asteroid)
    space.on_collision(game.crash, Ship, Asteroid)
    esper.add_processor(Pilot(game), priority=200)
    return game


class Asteroids(Scene):
    """The rules, and the score."""

    title = "asteroids"
    seconds = 20.0
    target = Asteroid  # the target of a bot
    help = "arrows: fly   X: shoot   B: the bot plays"

    def __init__(self, space: ec.Space, seed: int) -> None:
        super().__init__(space, (WIDTH, HEIGHT), (WIDTH, HEIGHT))
        self.chance = random.Random(seed)
        self.facing = (1.0, 0.0)
        self.reload = self.wait = 0.0
        self.area = self.broken_area = 0.0  # of all asteroids so far; of the broken ones
        self.n_shots = self.n_hits = self.n_spent = self.n_ships = self.n_across = 0
        self.n_outside = self.n_waves = 0
        self.ship = self.launch()

    def launch(self) -> int:
        """Create a ship at a place with nothing near."""
        self.n_ships += 1
        room = 90.0
        for _ in range(200):
            x = self.chance.uniform(0.0, WIDTH)
            y = self.chance.uniform(0.0, HEIGHT)
            if not self.space.query((x - room, y - room), (x + room, y + room)):
                break
        half = ec.Extents(SHIP, SHIP)
        ship = (ec.Position(x, y), half, ec.Velocity(0, 0), ec.Deflect(), OWN, Ship())
        return esper.create_entity(*ship, Paint(GREEN, layer=2))

    def add(self, level: int, place: tuple[float, float], speed: tuple[float, float]) -> None:
        """Add an asteroid."""
        half = SIDES[level]
        body = (ec.Position(*place), ec.Extents(half, half), ec.Velocity(*speed), ec.Deflect())
        kind = (Asteroid(level), ec.Mass(half * half))
        esper.create_entity(*body, *kind, Paint((ORANGE, YELLOW, PALE)[level]))

    def wave(self) -> None:
        """Add large asteroids, each at a free place."""
        self.n_waves += 1
        room = 3 * SIDES[0]
        x, y = esper.component_for_entity(self.ship, ec.Position).xy
        cells = [((col + 0.5) * WIDTH / 6, (row + 0.5) * HEIGHT / 4) for col, row in CELLS]
        far = [place for place in cells if max(abs(place[0] - x), abs(place[1] - y)) > room]
        for place in self.chance.sample(far, N):
            speed = (self.chance.uniform(-DRIFT, DRIFT), self.chance.uniform(-DRIFT, DRIFT))
            self.add(0, place, speed)
            self.area += SIDES[0] ** 2

    def shoot(self) -> None:
        """Fire a shot from the front of the ship."""
        x, y = esper.component_for_entity(self.ship, ec.Position).xy
        way_x, way_y = self.facing
        left = RANGE * (WIDTH if way_x else HEIGHT) / SHOT
        place = ec.Position(x + way_x * (SHIP + 3), y + way_y * (SHIP + 3))
        body = (place, ec.Extents(2, 2), ec.Velocity(SHOT * way_x, SHOT * way_y))
        esper.create_entity(*body, ec.Sensor(), OWN, Shot(left), Paint(YELLOW, layer=1))
        self.reload = RELOAD
        self.n_shots += 1

    def hit(self, event: ec.Collision) -> None:
        """Break an asteroid into four that fill its place; a shot breaks one."""
        shot, rock = event.first, event.second
        if not (esper.entity_exists(shot) and esper.entity_exists(rock)):
            return
        level = esper.component_for_entity(rock, Asteroid).level
        x, y = esper.component_for_entity(rock, ec.Position).xy
        speed = esper.component_for_entity(rock, ec.Velocity).xy
        esper.delete_entity(shot, immediate=True)
        esper.delete_entity(rock, immediate=True)
        self.n_hits += 1
        if level + 1 == len(SIDES):
            self.broken_area += SIDES[level] ** 2
            return
        half = SIDES[level + 1]
        for way_x, way_y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            apart = self.chance.uniform(0.3, 1.0) * DRIFT
            new = (speed[0] + way_x * apart, speed[1] + way_y * apart)
            self.add(level + 1, (x + way_x * half, y + way_y * half), new)

    def crash(self, event: ec.Collision) -> None:
        """Remove the ship."""
        if esper.entity_exists(self.ship):
            esper.delete_entity(self.ship, immediate=True)
            self.wait = RESPAWN

    def step(self) -> None:
        """Advance the world; end old shots; add a missing ship or wave."""
        super().step()
        rows = self.space.collision_array
        apart = np.abs(rows["position_first"] - rows["position_second"])
        self.n_across += int((apart > (WIDTH / 2, HEIGHT / 2)).any(axis=1).sum())
        places = self.space.positions()
        outside = (places < 0) | (places >= (WIDTH, HEIGHT))
        self.n_outside += int(outside.any(axis=1).sum())
        for entity, shot in esper.get_component(Shot):
            shot.left -= DT
            if shot.left <= 0:
                esper.delete_entity(entity)
                self.n_spent += 1
        self.wait -= DT
        if not esper.entity_exists(self.ship) and self.wait <= 0:
            self.ship = self.launch()
        if not esper.get_component(Asteroid) and esper.entity_exists(self.ship):
            self.wave()

    def boxes(self) -> Boxes:
        """Return all bodies, drawn on both sides if they lie across the seam."""
        return painted().around(WIDTH, HEIGHT)

    def status(self) -> str:
        """Return the score."""
        n = len(esper.get_component(Asteroid))
        return f"asteroids {n}   hits {self.n_hits} of {self.n_shots}   ships {self.n_ships}"

    def area_left(self) -> float:
        """Return the area of the present asteroids, in units of half sizes."""
        return sum(SIDES[rock.level] ** 2 for _, rock in esper.get_component(Asteroid))

    def report(self) -> list[str]:
        """Return the score."""
        return [
            f"shots       {self.n_shots}, of {SHOT * DT:g} units a step; {self.n_hits} hit",
            f"seam        {self.n_across} collisions of bodies on either side of it",
            f"ships       {self.n_ships}, waves {self.n_waves}",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        flying = len(esper.get_component(Shot))
        shots = self.n_hits + self.n_spent + flying
        return [
            ("every body is inside the world, which wraps", self.n_outside == 0),
            ("each shot hit one asteroid, or none, or still flies", shots == self.n_shots),
            ("no asteroid is lost", self.area_left() + self.broken_area == self.area),
        ]
