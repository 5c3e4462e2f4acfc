"""Two thousand chasers and one hero, with bullets, knock-back, magnets and explosions.

What to look at: the horde is a soft crowd, `Slide` and `Separate`, steered by one array.  Bullets
and gems come from pools and are switched on and off.  A bullet's response knocks its victim back
at the instant of the hit and flies on; a gem is pulled once a circle around the hero finds it.
With ``--hell`` an eye fills the air with bullets instead.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from math import cos, hypot, pi, sin
from statistics import median

import esper
import numpy as np
from numpy.typing import ArrayLike, NDArray

import ecs_collide as ec
from demos.app.boxes import Boxes, Colour, plain
from demos.app.scene import DT, Label, Palette, Scene
from demos.app.sprites import SPRITES, Sprite
from demos.survivors import things
from demos.survivors.things import (
    GEM,
    HALF,
    HERO,
    HORDE,
    SHOT,
    SPARK,
    WALK,
    Chaser,
    Gem,
    Hero,
    Pool,
    Shot,
    Spark,
)

MANY = 2000 if ec.COMPILED else 200
NEAR, FAR = 190.0, 900.0  # distances of the horde from the hero, at the start
RUN, BULLET, KNOCK, PULL = 150.0, 1500.0, 420.0, 520.0  # units per second
EVERY, PIERCE = 4, 2  # steps between two volleys; chasers that a bullet flies through
MAGNET, NOVA = 150.0, 260.0  # units
GEMS = 60  # for a nova
TOUGH = 2  # hits that a chaser takes
KINDS = (
    (Sprite.BAT, (196, 130, 255)),
    (Sprite.SLIME, (126, 220, 110)),
    (Sprite.GHOST, (120, 190, 255)),
)
EYE = (0.0, 180.0)  # its place, in the bullet-hell mode
BAR = 56.0  # height of the line of the score, in units


def build(seed: int = 0, n: int = MANY, hell: bool = False) -> Survivors:
    """Make the world in the current esper world.

    Parameters
    ----------
    seed : int
        The seed of places and of the bot.
    n : int
        Number of chasers, at least 1.
    hell : bool
        The bullet-hell mode: an eye shoots, and there are a tenth of the chasers.
    """
    if n < 1:
        raise ValueError(f"n={n} must be at least 1")
    hero = things.create_hero()
    horde = things.create_horde(max(n // 10, 1) if hell else n, (NEAR, FAR), seed)
    shots = Pool(80, SHOT, HORDE, Shot)
    sparks = Pool(1500 if hell else 0, SPARK, HERO, Spark, ec.Sensor)
    gems = Pool(400, GEM, HERO, Gem, ec.Sensor)
    game = Survivors(ec.install(), hero, horde, (shots, sparks, gems), seed)
    game.space.respond_with(Shot, game.strike)
    game.space.on_collision(game.collect, Hero, Gem)
    game.space.on_collision(game.burn, Hero, Spark)
    game.space.on_contact_began(game.bite, Hero, Chaser)
    esper.process(0.0)  # nothing moves, but the space now knows the bodies
    return game


class Survivors(Scene):
    """The rules of the game, and its counts."""

    title = "survivors"
    seconds = 20.0
    help = "arrows: run   B: the bot plays"
    sheet = SPRITES
    palette = Palette((44, 40, 58), (30, 28, 44), bad=(255, 84, 96), good=(110, 240, 190))

    def __init__(
        self,
        space: ec.Space,
        hero: int,
        horde: list[int],
        pools: tuple[Pool, Pool, Pool],
        seed: int,
    ) -> None:
        super().__init__(space, (1200.0, 675.0), (1200.0, 675.0), zoom=0.8)
        self.hero, self.horde = hero, np.array(horde)
        self.rows = {chaser: row for row, chaser in enumerate(horde)}
        self.shots, self.sparks, self.gems = pools
        self.chance = random.Random(seed)
        n = len(horde)
        self.knock = np.zeros((n, 2))
        self.hurt, self.life = np.zeros(n), np.full(n, TOUGH)
        self.kind = np.arange(n) % len(KINDS)
        self.pierced: dict[int, int] = {}
        self.kills = self.collected = self.hearts_lost = self.novas = self.n_inside = 0
        self.times: deque[float] = deque(maxlen=60)  # milliseconds of the last steps
        self.safe = self.aim = 0.0  # seconds without another wound; angle of the eye

    def step(self) -> None:
        """Steer everything, advance the world, and draw the consequences."""
        self.run()
        self.steer()
        self.shoot()
        self.attract()
        super().step()
        self.times.append(self.ms)
        self.safe -= DT
        self.hurt -= DT
        self.tidy()
        away = np.abs(self.space.positions(self.horde) - self.place())
        self.n_inside += int((away < HALF[HERO] + HALF[HORDE] - 1e-9).all(axis=1).sum())

    def place(self) -> tuple[float, float]:
        """Return the place of the hero."""
        x, y = esper.component_for_entity(self.hero, ec.Position).xy
        return x, y

    def run(self) -> None:
        """Move the hero by its keys; the bot goes around."""
        keys, time = self.keys, self.n_steps * DT
        x, y = keys.right - keys.left, keys.up - keys.down
        way = (cos(0.9 * time), sin(0.6 * time)) if keys.bot else (float(x), float(y))
        speed = RUN / max(hypot(*way), 1.0)
        esper.component_for_entity(self.hero, ec.Velocity).set(speed * way[0], speed * way[1])

    def steer(self) -> None:
        """Let the horde walk to the hero, as far as it is not knocked back."""
        way = self.place() - self.space.positions(self.horde)
        far = np.maximum(np.hypot(*way.T), 1.0)[:, None]
        speed = WALK * (1.0 + 0.15 * (self.kind - 1))[:, None]
        self.space.set_velocities(self.horde, speed * way / far + self.knock)
        self.knock *= 0.88**self.effects.rate

    def shoot(self) -> None:
        """Shoot at the nearest chasers; in the bullet-hell mode the eye shoots too."""
        x, y = self.place()
        if self.n_steps % EVERY == 0:
            for near in self.space.nearest((x, y), 3, within=NOVA * 2, filter=Chaser):
                away = np.subtract(near.point, (x, y)) + self.chance.uniform(-6, 6)
                velocity = BULLET * away / max(hypot(*away), 1.0)
                self.shots.take((x, y), (float(velocity[0]), float(velocity[1])))
            self.effects.play("shoot")
        if len(self.sparks.ids):
            self.aim += 0.11
            for arm in range(5 if self.n_steps % 3 == 0 else 0):
                angle = self.aim + arm * 2 * pi / 5
                self.sparks.take(EYE, (170 * cos(angle), 170 * sin(angle)))

    def attract(self) -> None:
        """Pull the gems that a circle around the hero finds."""
        place = self.place()
        for gem in self.space.query_circle(place, MAGNET, filter=Gem):
            way = np.subtract(place, esper.component_for_entity(gem, ec.Position).xy)
            esper.component_for_entity(gem, ec.Velocity).set(*PULL * way / max(hypot(*way), 1.0))

    def strike(self, impact: ec.Impact) -> None:
        """Resolve a hit: knock the chaser back, and fly on through it, or stop."""
        shot, chaser = impact.first, impact.second
        if shot in self.rows:
            shot, chaser = chaser, shot
        way = np.array(impact.velocity(shot)) / BULLET
        impact.cross()
        self.wound(self.rows[chaser], way * KNOCK)
        self.effects.burst(impact.position(shot), self.palette.second, 4, 180.0, towards=-way)
        self.pierced[shot] = self.pierced.get(shot, 0) + 1
        if self.pierced[shot] >= PIERCE:
            self.release(shot)

    def wound(self, row: int, knock: NDArray[np.float64]) -> None:
        """Hurt a chaser, and push it away."""
        self.knock[row] += knock
        self.hurt[row] = 0.12
        self.life[row] -= 1

    def release(self, shot: int) -> None:
        """Put a bullet back into its pool."""
        self.pierced.pop(shot, None)
        self.shots.put_back(shot)

    def collect(self, event: ec.Collision) -> None:
        """Take a gem; some number of them make a nova."""
        self.gems.put_back(event.second)
        self.collected += 1
        self.effects.play("coin")
        if self.collected % GEMS == 0:
            self.explode()

    def explode(self) -> None:
        """Hurt and push away all chasers that a circle finds."""
        self.novas += 1
        place = np.array(self.place())
        for chaser in self.space.query_circle(place, NOVA, filter=Chaser):
            away = np.subtract(esper.component_for_entity(chaser, ec.Position).xy, place)
            push = 1400.0 * away / max(hypot(*away), 1.0) * (1.2 - hypot(*away) / NOVA)
            self.wound(self.rows[chaser], push)
        self.effects.ring(place, (255, 240, 180), NOVA, 0.5)
        self.effects.ring(place, (255, 170, 80), 0.7 * NOVA, 0.5)
        self.effects.shake(14.0)
        self.effects.slow(0.35, 0.5)
        self.effects.play("boom")

    def bite(self, event: ec.ContactBegan | ec.Collision) -> None:
        """Lose a heart to a chaser, if the last wound is long ago."""
        if self.safe <= 0:
            self.safe = 1.0
            self.hearts_lost += 1
            self.effects.shake(6.0)
            self.effects.play("hit")

    def burn(self, event: ec.Collision) -> None:
        """Lose a heart to a bullet of the eye."""
        self.sparks.put_back(event.second)
        self.bite(event)

    def tidy(self) -> None:
        """Let the dead drop gems and come back from afar; put back what is out of sight."""
        x, y = self.place()
        dead = np.flatnonzero(self.life <= 0)
        for place, kind in zip(
            self.space.positions(self.horde[dead]).tolist(), self.kind[dead].tolist(), strict=True
        ):
            self.kills += 1
            self.effects.burst(place, KINDS[kind][1], 8, 220.0, size=12.0)
            self.gems.take(tuple(place))
        if len(dead):
            angles = np.array([self.chance.uniform(0, 2 * pi) for _ in dead])
            around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            self.space.set_positions(self.horde[dead], around * FAR + (x, y))
            self.life[dead], self.knock[dead] = TOUGH, 0.0
            self.effects.play("break")
        for pool, put_back, reach in (
            (self.shots, self.release, 760.0),
            (self.sparks, self.sparks.put_back, 900.0),
            (self.gems, self.gems.put_back, 1000.0),
        ):
            used = pool.used()
            for entity in used[self.away(used) > reach].tolist():
                put_back(entity)

    def away(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of bodies from the hero."""
        found: NDArray[np.float64] = np.hypot(*(self.space.positions(ids) - self.place()).T)
        return found

    def camera(self) -> tuple[float, float]:
        """Return a corner from which the hero is in the middle."""
        (x, y), (width, height) = self.place(), self.view
        return float(round(x - width / 2)), float(round(y - height / 2))

    def boxes(self) -> Boxes:
        """Return the ground, gems, the horde from the far to the near, bullets and the hero."""
        left, bottom = self.shaken()
        top = bottom + self.view[1]
        lattice = np.stack(np.meshgrid(np.arange(-1, 16), np.arange(-1, 10)), axis=2).reshape(-1, 2)
        marks = (lattice + np.floor(np.divide((left, bottom), 90))) * 90.0
        marks[:, 0] += 45.0 * (marks[:, 1] // 90 % 2)
        places = self.space.positions(self.horde)
        order = np.argsort(-places[:, 1], kind="stable")
        step = (self.n_steps // 9 + order) % 2
        tiles = np.array([kind for kind, _ in KINDS])[self.kind[order]]
        tiles = tiles + np.where(tiles == Sprite.GHOST, 0, step)
        shades = np.array([colour for _, colour in KINDS])[self.kind[order]]
        shades[self.hurt[order] > 0] = 255
        hero = Sprite.HERO + (self.n_steps // 8) % 2
        shine: Colour = (255, 120, 120) if self.safe > 0.6 else (255, 255, 255)
        return plain(np.hstack([marks - 5, marks + 5]), (52, 48, 70)).joined(
            sprites(self.positions(self.gems), 11, Sprite.GEM, self.palette.good),
            sprites(places[order], 17, tiles, shades),
            sprites(self.positions(self.shots), 8, Sprite.ORB, self.palette.second),
            sprites(np.array([EYE][: len(self.sparks.ids)]), 40, Sprite.GHOST, self.palette.bad),
            sprites(self.positions(self.sparks), 8, Sprite.ORB, self.palette.bad),
            sprites(np.array([self.place()]), 38, Sprite.ORB, (62, 58, 84)),
            sprites(np.array([self.place()]), 28, hero, shine),
            plain([(left, top - BAR, left + self.view[0], top)], (20, 18, 30)),
        )

    def positions(self, pool: Pool) -> NDArray[np.float64]:
        """Return the places of what a pool has given out."""
        return self.space.positions(pool.used())

    def labels(self) -> list[Label]:
        """Return the score, and the median time of the last steps."""
        left, bottom = self.camera()
        ms = median(self.times or [0.0])
        y, gems = bottom + self.view[1] - BAR + 14, f"{self.collected} gems"
        return [
            Label(f"{len(self.horde):,} chasers", left + 20, y, 27.0),
            Label(f"{ms:.1f} ms a step", left + 340, y, 27.0, self.palette.first),
            Label(f"{self.kills} beaten", left + 700, y, 27.0, self.palette.second),
            Label(gems, left + 1180, y, 27.0, self.palette.good, "right"),
        ]

    def report(self) -> list[str]:
        """Return the counts."""
        return [
            f"chasers     {len(self.horde)}, of which {self.kills} were beaten",
            f"bullets     {self.shots.n_used} shot, from a pool of {len(self.shots.ids)}"
            + (f"; {self.sparks.n_used} of the eye" if len(self.sparks.ids) else ""),
            f"gems        {self.collected}, explosions {self.novas}",
            f"hero        lost {self.hearts_lost} hearts",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        pools = (self.shots, self.sparks, self.gems)
        whole = all(len({*pool.idle}) == len(pool.idle) for pool in pools)
        off = all(esper.has_component(e, ec.Disabled) for pool in pools for e in pool.idle)
        return [
            ("no chaser is inside the hero at the end of any step", self.n_inside == 0),
            ("what is in a pool is in it once, and switched off", whole and off),
        ]


def sprites(places: NDArray[np.float64], half: float, tile: ArrayLike, colour: ArrayLike) -> Boxes:
    """Return square pictures around places."""
    places = places.reshape(-1, 2)
    boxes = plain(np.hstack([places - half, places + half]), colour)
    tiles: NDArray[np.int64] = np.broadcast_to(np.asarray(tile, np.int64), len(places))
    return boxes._replace(tiles=tiles)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--n", type=int, default=MANY, help="how many chasers (%(default)s)")
    parser.add_argument("--hell", action="store_true", help="the bullet-hell mode")
