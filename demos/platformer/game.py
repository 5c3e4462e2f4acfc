"""Run, jump, dash, swim, climb, ride lifts, push crates and shoot, on a level drawn with Tiled.

What to look at: walls are the level's solid tiles, merged; hills are slopes drawn in Tiled; lifts
follow paths and carry, planks are one-way, coins and spikes are sensors; bullets fly at 100 times
the player's speed, never miss a wall, and break bricks; crates float; the light of torches ends at
whatever is in its way, and bats find theirs around it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import esper
from numpy.typing import ArrayLike

import ecs_collide as ec
from demos.app.boxes import ORANGE, YELLOW
from demos.app.scene import DT, Look
from demos.platformer.bats import MEAL, Bat, Bats, bat
from demos.platformer.bot import Bot
from demos.platformer.machines import (
    GRAVITY,
    JUMP,
    Brick,
    Bullet,
    Crate,
    Gun,
    Guns,
    Play,
    Player,
    hero,
    lift_path,
)
from demos.platformer.tiles import COIN, LevelScene, create_fence
from ecs_collide.levels import tiled
from ecs_collide.levels.things import Entry
from ecs_collide.levels.tiled import LevelObject

LEVEL = Path(__file__).parent.with_name("levels") / "meadow.tmx"
RESPAWN = 0.7  # seconds
DUST, GOLD, WOOD, FIRE = (222, 208, 170), YELLOW, (150, 104, 60), ORANGE  # of particles
FOAM, BLOOD = (214, 234, 252), (150, 120, 220)
GRIP = 0.6  # friction of crates
PLANKS, CRATE, LIFT, GUN, FLAG, TARGET = 11, 12, 16, 17, 21, 28  # tiles


class Coin:
    """A coin, which the player collects."""


class Spikes:
    """Spikes, which delete bodies that touch them."""


class Target:
    """A target, which breaks when the player's bullet hits it."""


class Checkpoint:
    """A checkpoint, where the next player starts."""


class Goal:
    """The goal, which ends a round."""


def build(seed: int = 0, one_body_per_tile: bool = False) -> Platformer:
    """Make the world in the current esper world.

    Parameters
    ----------
    seed : int
        The seed of the bot.
    one_body_per_tile : bool
        Make every solid tile a body, instead of merging them into few.
    """
    level = tiled.load(LEVEL, merge=not one_body_per_tile)
    create_fence(level)
    made = level.create(TABLE)
    lifts = {thing.name: entity for thing, entity in made if thing.type == "lift"}

    space = ec.install(gravity=(0, -GRAVITY))
    game = Platformer(space, level, lifts)
    space.on_collision(game.collect, Player, Coin)
    space.on_collision(game.save, Player, Checkpoint)
    space.on_collision(game.finish, Player, Goal)
    space.on_collision(game.squeeze)
    space.on_collision(game.pierce, Spikes)
    space.on_collision(game.strike, Bullet)
    space.on_collision(game.bump, Player, Brick)
    space.on_collision(game.bite, Player, Bat)

    bot = Bot(game, level.of_type("step"), seed)
    bats = Bats(space, level.named("cave"))
    for rank, system in enumerate((bot, Play(space, game.keys), Guns(space), bats)):
        esper.add_processor(system, priority=200 - rank)
    return game


def crate(_: LevelObject) -> tuple[object, ...]:
    """Return the components of a crate, in addition to its box."""
    body = ec.Velocity(0, 0), ec.Mass(2.0), ec.Slide(), ec.Friction(GRIP)
    return *body, Crate(), Look(CRATE)


def lift(thing: LevelObject) -> tuple[object, ...]:
    """Return the components of a lift, in addition to its box."""
    look = Look(LIFT, shift=thing.half[1] - 16, across=round(thing.half[0] / 16))
    return ec.Velocity(0, 0), lift_path(thing), look


def gun(thing: LevelObject) -> tuple[object, ...]:
    """Return the components of a gun, in addition to its box."""
    every = float(thing.properties["every"])
    return Target(), Gun(every, every), Look(GUN)


TABLE: dict[str, Entry] = {  # of the types of the level
    "player": None,
    "step": None,
    "cave": None,
    "ladder": ec.Ladder,
    "water": lambda _: ec.Zone(buoyancy=1.5, drag=4.0, walk=0.6),
    "brick": Brick,
    "crate": crate,
    "bat": (bat, Target),
    "lift": lift,
    "gun": gun,
    "platform": lambda _: Look(PLANKS, shift=-8, across=3),
    "coin": (ec.Sensor, Coin, lambda _: Look(COIN, layer=1)),
    "spikes": (ec.Sensor, Spikes),
    "checkpoint": (ec.Sensor, Checkpoint),
    "goal": (ec.Sensor, Goal, lambda _: Look(FLAG, 64, 64)),
    "target": (Target, lambda _: Look(TARGET)),
}


class Platformer(LevelScene):
    """The rules of the game, most of them handlers of collisions, and the score."""

    title = "platformer"
    seconds = 45.0
    help = "arrows: run, climb, drop   space: jump, off walls too   X: shoot   C: dash   B: the bot"

    def __init__(self, space: ec.Space, level: tiled.Level, lifts: dict[str, int]) -> None:
        super().__init__(space, level)
        self.lifts = lifts
        self.n_coins = len(level.of_type("coin"))
        self.coins = self.deaths = self.hits = self.pierced = self.bullets = self.rounds = 0
        self.bricks = self.bites = 0
        self.moves: Counter[ec.CharacterState] = Counter()  # steps in each state
        self.start = self.respawn = self.look_at
        self.wait = 0.0  # seconds until the next player comes
        self.player = 0
        self.state, self.was_on_ground = ec.CharacterState.STANDING, True

    def step(self) -> None:
        """Create the player if it is missing, and advance the world."""
        self.wait -= DT
        if not esper.entity_exists(self.player) and self.wait <= 0:
            self.player = esper.create_entity(ec.Position(*self.respawn), *hero())
        self.dust()
        super().step()
        if esper.entity_exists(self.player):
            self.look_at = esper.component_for_entity(self.player, ec.Position).xy

    def dust(self) -> None:
        """Show where the player runs, jumps, lands, slides down a wall, and gets wet."""
        if not esper.entity_exists(self.player):
            return
        x, y = esper.component_for_entity(self.player, ec.Position).xy
        character = esper.component_for_entity(self.player, ec.Character)
        before, self.state = self.state, character.state
        was_on_ground, self.was_on_ground = self.was_on_ground, character.on_ground
        self.moves[self.state] += 1
        jumped = self.state is ec.CharacterState.RISING and before is not ec.CharacterState.RISING
        landed = character.on_ground > was_on_ground
        wet = ec.CharacterState.SWIMMING in (before, self.state) and before is not self.state
        if wet:
            self.effects.burst((x, y), FOAM, 24, 260.0, towards=(0.0, 0.8), pull=900.0)
            self.effects.play("splash")
        elif jumped or landed:
            self.effects.burst((x, y - 14), DUST, 10, 150.0, towards=(0.0, 0.3), life=0.4)
            self.effects.play("jump" if jumped else "land")
        if self.state is ec.CharacterState.DASHING:
            self.effects.flash((x - 10, y - 14, x + 10, y + 14), FOAM, 0.25, shrinks=True)
            if before is not ec.CharacterState.DASHING:
                self.effects.play("shoot")
        slides = self.state is ec.CharacterState.WALL_SLIDING
        swims = self.state is ec.CharacterState.SWIMMING
        if self.n_steps % 6 == 0 and (slides or swims or (character.on_ground and character.walk)):
            at = (x + 10 * character.facing, y) if slides else (x, y - 14)
            self.effects.burst(at, FOAM if swims else DUST, 1, 40.0, size=6.0, life=0.4)

    def collect(self, event: ec.Collision) -> None:
        """Take a coin."""
        esper.delete_entity(event.other(self.player))
        self.coins += 1
        self.effects.burst(event.point, GOLD, 12, 240.0, towards=(0.0, 0.6))
        self.effects.ring(event.point, GOLD, 26.0)
        self.effects.play("coin")

    def save(self, event: ec.Collision) -> None:
        """Store the place where the next player starts."""
        self.respawn = esper.component_for_entity(event.other(self.player), ec.Position).xy

    def finish(self, event: ec.Collision) -> None:
        """Start the level again."""
        self.rounds += 1
        self.respawn = self.start
        self.end_life()

    def squeeze(self, event: ec.Collision) -> None:
        """Break a thing that a lift presses against a wall."""
        if event.outcome == ec.Outcome.CRUSHED:
            self.destroy(event)

    def pierce(self, event: ec.Collision) -> None:
        """Delete a thing that touches spikes."""
        self.pierced += self.destroy(event)

    def destroy(self, event: ec.Collision) -> int:
        """Kill the player, and delete crates and bullets; return how many of these."""
        pair = (event.first, event.second)
        if self.player in pair:
            self.end_life(dead=True)
        others = [entity for entity in pair if esper.has_component(entity, ec.Mass)]
        for entity in others:
            esper.delete_entity(entity)
            self.effects.burst(event.position_of(entity), WOOD, 16, 260.0, size=12.0, pull=900.0)
            self.effects.play("break")
        return len(others)

    def strike(self, event: ec.Collision) -> None:
        """End a bullet's flight at the place of its hit, from the event."""
        places = {event.first: event.position_first, event.second: event.position_second}
        for entity, place in places.items():
            bullet = esper.try_component(entity, Bullet)
            if bullet is None or not event.resolved:
                continue
            esper.delete_entity(entity)
            self.bullets += 1
            self.flash(bullet.start[0], place[0], place[1])
            self.effects.burst(event.point, GOLD, 10, 320.0, towards=event.normal_for(entity))
            self.effects.burst(bullet.start, GOLD, 4, 120.0, life=0.2)
            self.effects.play("shoot")
            hit = event.other(entity)
            if esper.has_component(hit, Brick):
                self.smash(event)
            if hit == self.player:
                self.end_life(dead=True)
            elif bullet.friendly and esper.has_component(hit, Target):
                self.hits += 1
                self.explode(hit, event.position_of(hit))

    def explode(self, entity: int, place: ArrayLike) -> None:
        """Delete a target, a gun or a bat."""
        esper.delete_entity(entity)
        self.effects.burst(place, FIRE, 30, 420.0, size=12.0, life=0.7)
        self.effects.ring(place, FIRE, 90.0)
        self.effects.shake(9.0)
        self.effects.play("boom")

    def bump(self, event: ec.Collision) -> None:
        """Break the brick above the player's head."""
        if event.resolved and event.normal_for(self.player)[1] < 0:
            self.smash(event)

    def smash(self, event: ec.Collision) -> None:
        """Break the brick that was hit; the others stay."""
        tile = self.level.tile_at(event.point, "bricks")
        if tile is None:
            return
        self.level.set_cell(tile.column, tile.row, layer="bricks")
        self.referee.broke(tile.column, self.level.map["height"] - 1 - tile.row)
        self.bricks += 1
        self.effects.burst(tile.centre, WOOD, 24, 300.0, size=13.0, life=0.8, pull=900.0)
        self.effects.shake(4.0)
        self.effects.play("break")

    def bite(self, event: ec.Collision) -> None:
        """Throw the player back; or defeat the bat on whose head it lands."""
        entity = event.other(self.player)
        away, bat = event.normal_for(self.player), esper.component_for_entity(entity, Bat)
        if not event.resolved or bat.meal > 0:
            return
        character = esper.component_for_entity(self.player, ec.Character)
        if away[1] > 0:
            self.explode(entity, event.position_of(entity))
            character.knock_back((0.0, JUMP * 0.7), 0.05)
            return
        self.bites += 1
        bat.meal, bat.way = MEAL, ()
        character.knock_back((220.0 * away[0], 260.0), 0.3)
        self.effects.burst(event.point, BLOOD, 16, 260.0, towards=away)
        self.effects.shake(6.0)
        self.effects.play("hit")

    def end_life(self, dead: bool = False) -> None:
        """Remove the player, once."""
        if esper.entity_exists(self.player):
            self.deaths += dead
            self.wait = RESPAWN
            place, colour = self.look_at, FIRE if dead else GOLD
            self.effects.burst(place, colour, 40, 380.0, size=12.0, life=0.9, pull=600.0)
            self.effects.ring(place, colour, 120.0, 0.5)
            self.effects.play("lose" if dead else "win")
            if dead:
                self.effects.shake(12.0)
                self.effects.slow(0.3, 0.4)
            esper.delete_entity(self.player)

    def status(self) -> str:
        """Return the score."""
        score = f"coins {self.coins}/{self.n_coins}   deaths {self.deaths}   hits {self.hits}"
        return f"{score}   {self.state.value}"

    def report(self) -> list[str]:
        """Return the score and other counts."""
        moves = sorted(self.moves.items(), key=lambda item: -item[1])
        return [
            f"coins       {self.coins} of {self.n_coins}",
            f"bullets     {self.bullets} hit something, {self.hits} of them a target or a gun",
            f"bricks      broken {self.bricks}",
            f"bats        bit {self.bites} times",
            f"moves       {', '.join(f'{state.value} {n / 60:.1f} s' for state, n in moves)}",
            f"spikes      deleted {self.pierced} crates and bullets",
            f"player      deaths {self.deaths}, arrivals at the goal {self.rounds}",
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--one-body-per-tile", action="store_true", help="do not merge solid tiles")
