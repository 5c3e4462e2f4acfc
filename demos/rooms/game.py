"""A dungeon from above: keys and doors, crates to push, traps with arrows, slimes, and a chest.

What to look at: arrows fly a tile in each step and stop at the instant of their hit.  What they
hit is knocked back: the crate slides away, slowed by `Damping`, and so do slimes and the hero.
A door is a body until the hero touches it with its key.
"""

from __future__ import annotations

from math import hypot

import esper
import numpy as np

import ecs_collide as ec
from demos.app.boxes import WHITE, Boxes, plain
from demos.app.scene import DT, Label, Look, Palette, Scene, looks
from demos.app.sprites import SPRITES, Sprite
from demos.rooms import dungeon
from demos.rooms.dungeon import (
    COLOURS,
    GOLD,
    HEIGHT,
    TILE,
    WIDTH,
    Arrow,
    Chest,
    Crate,
    Door,
    Hero,
    Key,
    Slime,
    Trap,
)

RUN, CREEP, ARROW, KNOCK = 170.0, 55.0, 2400.0, 520.0  # units per second
SEES = 200.0  # distance at which a slime comes
RELOAD, SHOT = 1.3, 0.35  # seconds between two arrows of a trap, and of the hero
PAUSE = 1.2  # seconds until the next round
BAR = 60.0  # height of the line above the dungeon
ROUTE = (  # of the bot: columns and rows
    (2, 4), (3, 6), (3, 2), (6, 2), (7, 5), (10, 5), (14, 6), (14, 9), (14, 5), (17, 5), (21, 5),
)  # fmt: skip


def build(seed: int = 0) -> Rooms:
    """Make the world in the current esper world; there is nothing random in it."""
    game = Rooms(ec.install())
    game.space.on_collision(game.take, Hero, Key)
    game.space.on_contact(game.open, Hero, Door)
    game.space.on_collision(game.win, Hero, Chest)
    game.space.on_collision(game.bite, Hero, Slime)
    game.space.on_collision(game.strike, Arrow)
    return game


class Rooms(Scene):
    """The rules of the game."""

    title = "rooms"
    seconds = 20.0
    help = "arrows: run   X: shoot   B: the bot plays"
    sheet = SPRITES
    palette = Palette((20, 18, 30), (20, 18, 30), bad=(255, 96, 96))
    corner = (0.0, 0.0)  # the whole dungeon is seen

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space, (WIDTH, HEIGHT), (WIDTH, HEIGHT + BAR))
        self.n_arrows = self.n_hits = self.n_opened = self.wounds = self.rounds = 0
        self.n_walled = self.n_through = 0
        self.begin()

    def begin(self) -> None:
        """Put everything in its place."""
        for entity, _ in esper.get_component(Arrow):
            esper.delete_entity(entity)
        dungeon.LEVEL.unload()
        esper.clear_dead_entities()
        self.hero = dungeon.create()
        self.keys_held: list[str] = []
        self.knocks: dict[int, tuple[float, float]] = {}
        self.goal = 0
        self.facing, self.reload, self.safe, self.pause = 1, 0.0, 0.0, 0.0

    def step(self) -> None:
        """Move everything that walks, shoot, advance the world, and look for faults."""
        if self.pause > 0:
            self.pause -= DT
            if self.pause <= 0:
                self.begin()
        self.walk()
        self.shoot()
        super().step()
        self.safe -= DT
        fade = 0.86**self.effects.rate
        self.knocks = {
            entity: (fade * x, fade * y)
            for entity, (x, y) in self.knocks.items()
            if esper.entity_exists(entity) and hypot(x, y) > 5
        }
        self.check()

    def place(self, entity: int) -> tuple[float, float]:
        """Return where a body is."""
        x, y = esper.component_for_entity(entity, ec.Position).xy
        return x, y

    def walk(self) -> None:
        """Choose the velocities of the hero and the slimes."""
        keys, (x, y) = self.keys, self.place(self.hero)
        way = (float(keys.right - keys.left), float(keys.up - keys.down))
        if keys.bot:
            goal = dungeon.place(*ROUTE[self.goal])
            way = goal[0] - x, goal[1] - y
            if hypot(*way) < 9 and self.goal < len(ROUTE) - 1:
                self.goal += 1
        self.facing = self.facing if abs(way[0]) < 1 else (1 if way[0] > 0 else -1)
        look = esper.component_for_entity(self.hero, Look)
        look.colour = (255, 120, 120) if self.safe > 0.3 else WHITE
        look.tile = Sprite.HERO + (self.n_steps // 7 % 2 if hypot(*way) > 0.5 else 0)
        self.send(self.hero, way, RUN)
        for slime, (_, look) in esper.get_components(Slime, Look):
            place = self.place(slime)
            away = x - place[0], y - place[1]
            look.tile = Sprite.SLIME + self.n_steps // 14 % 2
            self.send(slime, away if hypot(*away) < SEES else (0.0, 0.0), CREEP)

    def send(self, entity: int, way: tuple[float, float], speed: float) -> None:
        """Set a velocity along a way, with the knock-back that is left."""
        x, y = self.knocks.get(entity, (0.0, 0.0))
        share = speed / max(hypot(*way), 1.0)
        velocity = esper.component_for_entity(entity, ec.Velocity)
        velocity.set(x + share * way[0], y + share * way[1])

    def shoot(self) -> None:
        """Let the traps shoot, and the hero; the bot shoots at slimes before it."""
        for entity, trap in esper.get_component(Trap):
            trap.wait -= DT
            if trap.wait <= 0:
                trap.wait += RELOAD
                x, y = self.place(entity)
                self.arrow(x + trap.way * (TILE / 2 + 13), y, trap.way)
        x, y = self.place(self.hero)
        self.reload -= DT
        wants = self.keys.shoot
        if self.keys.bot:
            slimes = [self.place(slime) for slime, _ in esper.get_component(Slime)]
            wants = any(abs(b - y) < 22 and 0 < (a - x) * self.facing < 240 for a, b in slimes)
        if wants and self.reload <= 0:
            self.reload = SHOT
            self.arrow(x + self.facing * 27, y, self.facing)

    def arrow(self, x: float, y: float, way: int) -> None:
        """Shoot an arrow along a row, if there is room for it."""
        if self.space.query((x - 12, y - 3), (x + 12, y + 3), solid=True):
            return
        body = ec.Position(x, y), ec.Extents(12, 3), ec.Velocity(way * ARROW, 0), ec.Mass(0.05)
        look = Look(Sprite.ARROW, 34, 34, layer=4, mirrored=way < 0)
        esper.create_entity(*body, ec.Stop(), Arrow(x, way), look)
        self.n_arrows += 1
        self.effects.play("shoot")

    def strike(self, event: ec.Collision) -> None:
        """End the flight of an arrow, and knock back what it hit."""
        for entity in (event.first, event.second):
            arrow = esper.try_component(entity, Arrow)
            if arrow is None or not event.resolved:
                continue
            hit, end = event.other(entity), event.position_of(entity)
            cells = np.arange(min(arrow.start, end[0]), max(arrow.start, end[0]), TILE / 4)
            self.n_through += any(dungeon.is_wall(x, end[1]) for x in cells.tolist())
            self.effects.flash(
                (min(arrow.start, end[0]), end[1] - 1, max(arrow.start, end[0]), end[1] + 1),
                (255, 244, 190),
            )
            self.effects.burst(event.point, (226, 200, 160), 8, 220.0, towards=(-arrow.way, 0.0))
            self.effects.play("hit")
            esper.delete_entity(entity)
            self.n_hits += 1
            if hit == self.hero:
                self.wound((arrow.way * KNOCK, 0.0))
            elif esper.has_component(hit, Slime):
                self.kill(hit)
            elif esper.has_component(hit, Crate):
                esper.component_for_entity(hit, ec.Velocity).x += arrow.way * KNOCK / 2

    def kill(self, slime: int) -> None:
        """Delete a slime."""
        self.effects.burst(self.place(slime), (126, 220, 110), 22, 300.0, size=12.0, life=0.7)
        self.effects.play("break")
        esper.delete_entity(slime)

    def bite(self, event: ec.Collision) -> None:
        """Throw hero and slime apart."""
        x, y = event.normal
        self.knocks[event.second] = -x * KNOCK, -y * KNOCK
        self.wound((x * KNOCK, y * KNOCK))

    def wound(self, knock: tuple[float, float]) -> None:
        """Knock the hero back, and count a wound if the last is long ago."""
        self.knocks[self.hero] = knock
        if self.safe <= 0:
            self.safe = 0.6
            self.wounds += 1
            self.effects.shake(10.0)
            self.effects.slow(0.3, 0.3)
            self.effects.ring(self.place(self.hero), self.palette.bad, 60.0)
            self.effects.play("lose")

    def take(self, event: ec.Collision) -> None:
        """Take a key."""
        key = esper.component_for_entity(event.second, Key)
        self.keys_held.append(key.opens)
        self.effects.ring(event.point, COLOURS[key.opens], 70.0)
        self.effects.burst(event.point, COLOURS[key.opens], 16, 240.0)
        self.effects.play("coin")
        esper.delete_entity(event.second)

    def open(self, event: ec.Contact) -> None:
        """Open the door that the hero touches, with its key."""
        door = esper.component_for_entity(event.second, Door)
        if door.needs not in self.keys_held:
            return
        self.n_opened += 1
        place, colour = self.place(event.second), COLOURS[door.needs]
        self.effects.burst(place, colour, 30, 340.0, size=12.0, life=0.8)
        self.effects.shake(5.0)
        self.effects.play("door")
        esper.delete_entity(event.second)

    def win(self, event: ec.Collision) -> None:
        """End the round."""
        if self.pause <= 0:
            self.rounds += 1
            self.pause = PAUSE
            self.effects.burst(event.point, GOLD, 60, 420.0, size=12.0, life=1.1, pull=300.0)
            self.effects.ring(event.point, GOLD, 180.0, 0.6)
            self.effects.slow(0.3, 0.5)
            self.effects.play("win")

    def check(self) -> None:
        """Compare the places of all that moves with the drawing."""
        for kind in (Hero, Slime, Crate):
            for _, (_, place, half) in esper.get_components(kind, ec.Position, ec.Extents):
                reach = half.x - 1e-6
                corners = [
                    (place.x + a * reach, place.y + b * reach) for a in (-1, 1) for b in (-1, 1)
                ]
                self.n_walled += any(dungeon.is_wall(*corner) for corner in corners)

    def backdrop(self) -> Boxes:
        """Return the floor and the walls."""
        return dungeon.backdrop()

    def boxes(self) -> Boxes:
        """Return everything else."""
        held = [
            (
                (300.0 + 50 * n, HEIGHT + 10, 340.0 + 50 * n, HEIGHT + 50),
                int(Sprite.KEY),
                COLOURS[key],
            )
            for n, key in enumerate(self.keys_held)
        ]
        return plain([(-30, HEIGHT, WIDTH + 30, HEIGHT + BAR + 30)], (20, 18, 30)).joined(
            looks(), Boxes.of(held)
        )

    def labels(self) -> list[Label]:
        """Return the score."""
        y, arrows = HEIGHT + 18, f"{self.n_arrows} arrows"
        wounds = f"{self.wounds} wound{'s' * (self.wounds != 1)}"
        return [
            Label("find the chest", 20, y, 28.0, GOLD),
            Label(arrows, 520, y, 28.0),
            Label(wounds, WIDTH - 20, y, 28.0, self.palette.bad, "right"),
        ]

    def report(self) -> list[str]:
        """Return the counts."""
        return [
            f"arrows      {self.n_arrows}, of which {self.n_hits} have hit something",
            f"doors       {self.n_opened} opened; the chest was found {self.rounds} times",
            f"hero        {self.wounds} wounds",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("no hero, slime or crate is in a wall of the drawing", self.n_walled == 0),
            ("no arrow flew through a wall", self.n_through == 0),
        ]
