"""Run, jump, ride lifts, push crates and shoot, on a level drawn with Tiled.

What to look at: walls are the level's solid tiles, merged; lifts carry, planks are one-way, coins
and spikes are sensors; bullets fly at 100 times the player's speed and never miss a wall.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import esper

import ecs_collide as ec
from demos.app.boxes import ORANGE, YELLOW
from demos.app.scene import DT, Look
from demos.platformer.bot import Bot
from demos.platformer.machines import (
    JUMP,
    Bullet,
    Crate,
    Gravity,
    Gun,
    Guns,
    Lift,
    Lifts,
    Play,
    Player,
    hero,
)
from demos.platformer.tiles import COIN, LevelScene, create_fence
from ecs_collide.character import Character, CharacterState, install_characters
from ecs_collide.levels import tiled

LEVEL = Path(__file__).parent.with_name("levels") / "meadow.tmx"
RESPAWN = 0.7  # seconds
DUST, GOLD, WOOD, FIRE = (222, 208, 170), YELLOW, (150, 104, 60), ORANGE  # of particles
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
    level.create_solids()
    create_fence(level)

    for crate in level.of_type("crate"):
        body = (*crate.components(), ec.Velocity(0, 0), ec.Mass(2.0), ec.Slide())
        esper.create_entity(*body, ec.Friction(GRIP), Crate(), Look(CRATE))
    for platform in level.of_type("platform"):
        esper.create_entity(*platform.components(), Look(PLANKS, shift=-8, across=3))
    for coin in level.of_type("coin"):
        esper.create_entity(*coin.components(), ec.Sensor(), Coin(), Look(COIN, layer=1))
    for spikes in level.of_type("spikes"):
        esper.create_entity(*spikes.components(), ec.Sensor(), Spikes())
    for place in level.of_type("checkpoint"):
        esper.create_entity(*place.components(), ec.Sensor(), Checkpoint())
    for flag in level.of_type("goal"):
        esper.create_entity(*flag.components(), ec.Sensor(), Goal(), Look(FLAG, 64, 64))
    for target in level.of_type("target"):
        esper.create_entity(*target.components(), Target(), Look(TARGET))
    for gun in level.of_type("gun"):
        every = float(gun.properties["every"])
        esper.create_entity(*gun.components(), Target(), Gun(every, every), Look(GUN))
    lifts = {lift.name: Lift.drawn(lift) for lift in level.of_type("lift")}
    for lift in level.of_type("lift"):
        tiles = Look(LIFT, shift=lift.half[1] - 16, across=round(lift.half[0] / 16))
        esper.create_entity(*lift.components(), ec.Velocity(0, 0), lifts[lift.name], tiles)

    space = ec.install()
    install_characters(space)
    game = Platformer(space, level, lifts)
    space.on_collision(game.collect, Player, Coin)
    space.on_collision(game.save, Player, Checkpoint)
    space.on_collision(game.finish, Player, Goal)
    space.on_collision(game.squeeze)
    space.on_collision(game.pierce, Spikes)
    space.on_collision(game.strike, Bullet)

    bot = Bot(game, level.of_type("step"), seed)
    for rank, system in enumerate((bot, Play(space, game.keys), Gravity(), Lifts(), Guns(space))):
        esper.add_processor(system, priority=200 - rank)
    return game


class Platformer(LevelScene):
    """The rules of the game, most of them handlers of collisions, and the score."""

    title = "platformer"
    seconds = 45.0
    help = "arrows: run   space: jump, also off walls   down: drop   X: shoot   B: the bot plays"

    def __init__(self, space: ec.Space, level: tiled.Level, lifts: dict[str, Lift]) -> None:
        super().__init__(space, level)
        self.lifts = lifts
        self.n_coins = len(level.of_type("coin"))
        self.coins = self.deaths = self.hits = self.pierced = self.bullets = self.rounds = 0
        self.start = self.respawn = self.look_at
        self.wait = 0.0  # seconds until the next player comes
        self.player = 0
        self.rise, self.was_on_ground = 0.0, True

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
        """Show where the player runs, jumps, lands, and slides down a wall."""
        if not esper.entity_exists(self.player):
            return
        x, y = esper.component_for_entity(self.player, ec.Position).xy
        character = esper.component_for_entity(self.player, Character)
        rise = esper.component_for_entity(self.player, ec.Velocity).y
        jumped, landed = rise > self.rise + JUMP / 2, character.on_ground > self.was_on_ground
        if jumped or landed:
            self.effects.burst((x, y - 14), DUST, 10, 150.0, towards=(0.0, 0.3), life=0.4)
            self.effects.play("jump" if jumped else "land")
        self.rise, self.was_on_ground = rise, character.on_ground
        slides = character.state is CharacterState.WALL_SLIDING
        if self.n_steps % 6 == 0 and (slides or (character.on_ground and character.walk)):
            at = (x + 10 * character.facing, y) if slides else (x, y - 14)
            self.effects.burst(at, DUST, 1, 40.0, size=6.0, life=0.4)

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
            if hit == self.player:
                self.end_life(dead=True)
            elif bullet.friendly and esper.has_component(hit, Target):
                esper.delete_entity(hit)
                self.hits += 1
                self.effects.burst(event.position_of(hit), FIRE, 30, 420.0, size=12.0, life=0.7)
                self.effects.ring(event.position_of(hit), FIRE, 90.0)
                self.effects.shake(9.0)
                self.effects.play("boom")

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
        return f"coins {self.coins}/{self.n_coins}   deaths {self.deaths}   hits {self.hits}"

    def report(self) -> list[str]:
        """Return the score and other counts."""
        return [
            f"coins       {self.coins} of {self.n_coins}",
            f"bullets     {self.bullets} hit, {self.hits} of them a target or a gun",
            f"spikes      deleted {self.pierced} crates and bullets",
            f"player      deaths {self.deaths}, arrivals at the goal {self.rounds}",
        ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--one-body-per-tile", action="store_true", help="do not merge solid tiles")
