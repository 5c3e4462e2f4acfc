"""What the platformer claims is seen without the library, and seen to break."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos import __main__ as runner
from demos.app.scene import Keys
from demos.platformer import game as platformer
from demos.platformer import machines
from demos.platformer.bats import Bat
from demos.platformer.game import Platformer
from demos.platformer.referee import Walls, drawn, hills, typed
from demos.tests.conftest import STEPS
from ecs_collide.character import Character
from ecs_collide.levels import tiled
from tests.volume import further

WALLED, THROUGH, MIXED, PENETRATING, ODD, BRICKS, LOST, LEAKS = range(8)
NOTHING = ec.Filter(mask=0)  # meets nobody


@pytest.fixture
def game(world: str) -> Platformer:
    game = platformer.build(seed=1)
    game.step()
    return game


def run(game: Platformer, n_steps: int) -> None:
    for _ in range(n_steps):
        game.step()


def broken(game: Platformer) -> list[int]:
    """Return the numbers of the claims that do not hold."""
    return [number for number, (_, holds) in enumerate(game.claims()) if not holds]


def part(entity: int, kind: type):
    return esper.component_for_entity(entity, kind)


def place_player(game: Platformer, x: float, y: float) -> None:
    part(game.player, ec.Position).set(x, y)


def below(game: Platformer) -> int:
    """Return what the player stands on."""
    run(game, 30)
    contact = game.space.is_on(game.player)
    assert contact is not None
    return contact.other(game.player)


# what is drawn


@pytest.mark.parametrize("merge", [True, False])
def test_walls_and_planks_that_are_drawn_are_those_that_are_bodies(merge: bool) -> None:
    level = tiled.load(platformer.LEVEL, merge=merge)
    walls, planks = drawn(level)
    found = [np.zeros_like(walls), np.zeros_like(walls)]

    for box in level.solids:
        parts = [make() for make in box.traits]
        if any(isinstance(each, (ec.Sensor, ec.Slope)) for each in parts):
            continue
        left, bottom = (round((c - h) / 32) for c, h in zip(box.centre, box.half, strict=True))
        right, top = (round((c + h) / 32) for c, h in zip(box.centre, box.half, strict=True))
        found["one_way" in box.properties][bottom:top, left:right] = True

    assert np.array_equal(found[0], walls)
    assert np.array_equal(found[1], planks)
    assert walls.sum() > 1500
    assert planks.sum() > 20


def test_hills_and_water_that_are_drawn_are_those_that_are_bodies() -> None:
    level = tiled.load(platformer.LEVEL)
    lines, wet = set(), 0.0
    for box in level.solids:
        (x, y), (wide, high) = box.centre, box.half
        for slope in (make() for make in box.traits):
            if isinstance(slope, ec.Slope):
                heights = [y - high + 2 * high * part for part in (slope.low, slope.high)]
                lines.add((x - wide, x + wide, *heights[:: 1 if slope.x > 0 else -1]))
        wet += 4 * wide * high * (box.type == "water")

    assert lines == {(row[0], row[2], *row[4:]) for row in hills(level).tolist()}
    assert len(lines) == 8
    assert typed(level, "water").sum() * 32 * 32 == wet
    assert typed(level, "ladder").sum() == 13


def test_walls_are_found_as_by_looking_at_every_cell() -> None:
    #
    #   9  +---+---+---+---+        . and all that is outside is wall, too
    #      |   | # |   |   |
    #   6  +---+---+---+---+
    #      |   |   | # | # |
    #   3  +---+---+---+---+
    #      | # |   |   |   |
    #   0  +---+---+---+---+
    #      0   5  10  15  20
    #
    filled = np.array([[1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]], dtype=np.bool_)
    walls = Walls(filled, 5.0, 3.0)
    chance = np.random.default_rng(1)
    low = chance.integers(-16, 60, (4000, 2)) / 2
    rects = np.concatenate([low, low + chance.integers(1, 16, (4000, 2)) / 2], axis=1)
    cells = {(x, y) for y, x in np.argwhere(filled).tolist()}
    cells |= {
        (x, y) for x in range(-5, 10) for y in range(-5, 16) if not (0 <= x < 4 and 0 <= y < 3)
    }

    seen = walls.are_in(rects).tolist()

    for (left, bottom, right, top), is_in in zip(rects.tolist(), seen, strict=True):
        inside = any(
            left < 5 * x + 5 and right > 5 * x and bottom < 3 * y + 3 and top > 3 * y
            for x, y in cells
        )
        assert is_in == inside, (left, bottom, right, top)
    assert 3000 < sum(seen) < 3980


# runs without a fault


@pytest.mark.parametrize("one_body_per_tile", [False, True])
@pytest.mark.parametrize("seed", [0, *further(1)])
def test_claims_hold_whoever_presses_the_keys(
    world: str, seed: int, one_body_per_tile: bool
) -> None:
    game = platformer.build(seed, one_body_per_tile)
    places = game.level.of_type("checkpoint")
    chance = random.Random(seed)
    game.respawn = chance.choice(places).centre

    for _ in range(STEPS):
        for key in fields(Keys):
            if key.name != "bot" and chance.random() < 0.05:
                setattr(game.keys, key.name, chance.random() < 0.4)
        game.step()

    assert broken(game) == []
    assert game.bullets > 0


def test_who_drops_has_not_sunk(game: Platformer) -> None:
    plank = game.level.of_type("platform")[0]
    place_player(game, plank.centre[0], plank.centre[1] + plank.half[1] + 14)
    run(game, 10)
    height = game.look_at[1]

    game.keys.down = True
    run(game, 30)

    assert game.look_at[1] < height - 50
    assert broken(game) == []


def test_who_jumps_through_planks_from_below_has_not_sunk(game: Platformer) -> None:
    height = game.look_at[1]
    game.keys.jump = True

    run(game, 60)

    assert game.look_at[1] > height + 90
    assert broken(game) == []


# runs with a fault


def lower_the_ground(game: Platformer, way: float) -> None:
    ground = below(game)
    esper.remove_component(ground, ec.Fixed)  # else no step sees it
    part(ground, ec.Position).y -= way


def shift_the_ground(game: Platformer) -> None:
    lower_the_ground(game, 3.0)


def shift_the_ground_by_a_millionth(game: Platformer) -> None:
    lower_the_ground(game, 1e-6)


def disable_player_collisions(game: Platformer) -> None:
    esper.add_component(game.player, NOTHING)


def take_the_fence_away(game: Platformer) -> None:
    width, height = game.size
    for entity, (place, _) in esper.get_components(ec.Position, ec.Extents):
        if not (0 < place.x < width and 0 < place.y < height):
            esper.delete_entity(entity)
    place_player(game, 30.0, height - 14)
    game.keys.left = True


def fire(game: Platformer, way: int) -> int:
    """Fire a bullet where the player stands; return it, before it has flown."""
    x, y = game.look_at
    machines.shoot(game.space, x + 20 * way, y, way, friendly=True)
    (bullet,) = [entity for entity, _ in esper.get_component(machines.Bullet)]
    return bullet


def disable_bullet_collisions(game: Platformer) -> None:
    esper.add_component(fire(game, -1), NOTHING)


def move_bullet_past_wall(game: Platformer) -> None:
    bullet = fire(game, 1)
    part(bullet, ec.Velocity).set(0.0, 0.0)
    part(bullet, ec.Position).x = 715.0  # beyond the hill


def move_bullet_through_floor(game: Platformer) -> None:
    place_player(game, 2100.0, 782.0)
    game.step()
    bullet = fire(game, -1)
    part(bullet, ec.Velocity).set(0.0, 0.0)
    part(bullet, ec.Position).y = 450.0  # in the room below


def disable_target_collisions(game: Platformer) -> None:
    target = min(
        (entity for entity, _ in esper.get_component(platformer.Target)),
        key=lambda entity: part(entity, ec.Position).x,
    )
    esper.add_component(target, NOTHING)
    place_player(game, part(target, ec.Position).x - 60, part(target, ec.Position).y - 2)
    game.keys.right = True


def disable_lift_collisions(game: Platformer) -> None:
    lift = game.lifts["shaft"]
    x, y = part(lift, ec.Position).xy
    place_player(game, x, y + 40)
    esper.add_component(lift, NOTHING)


def disable_plank_collisions(game: Platformer) -> None:
    (planks,) = game.level.of_type("platform")
    place_player(game, planks.centre[0], planks.centre[1] + 30)
    esper.add_component(below(game), NOTHING)


def disable_tile_plank_collisions(game: Platformer) -> None:
    planks = next(box for box in game.level.solids if "one_way" in box.properties)
    place_player(game, planks.centre[0], planks.centre[1] + 40)
    esper.add_component(below(game), NOTHING)


def sink_into_the_hill(game: Platformer) -> None:
    hill = next(e for e, slope in esper.get_component(ec.Slope) if slope.x > 0)
    place = part(hill, ec.Position)
    place_player(game, place.x, place.y + 40)
    esper.add_component(below(game), NOTHING)


def take_the_ladder_away(game: Platformer) -> None:
    place_player(game, 2416.0, 640.0)
    game.keys.down = True
    run(game, 5)
    grid = np.zeros_like(drawn(game.level)[0])
    game.referee._ladders = Walls(grid, 32, 32)


def take_the_water_away(game: Platformer) -> None:
    place_player(game, 1488.0, 150.0)
    run(game, 5)
    grid = np.zeros_like(drawn(game.level)[0])
    game.referee._water = Walls(grid, 32, 32)


def slide_down_too_fast(game: Platformer) -> None:
    character = part(game.player, Character)
    character.wall_slide_speed = 151.0
    place_player(game, 3090.0, 700.0)
    game.keys.right = True


def dash_too_fast(game: Platformer) -> None:
    part(game.player, Character).dash_speed = machines.DASH + 1.0
    game.keys.dash = True


def take_all_bricks_away(game: Platformer) -> None:
    game.level.set_cells([(72, 13), (72, 14)], layer="bricks")


def lead_a_bat_through_a_wall(game: Platformer) -> None:
    for _, bat in esper.get_component(Bat):
        bat.way = ((2776.0, 600.0),)


def let_light_through(game: Platformer) -> None:
    space = game.space
    game.n_steps = 50
    game.space = type(
        "Blind",
        (),
        {
            "visible_region": lambda self, point, reach: (
                np.array(point) + np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * reach
            ),
            "__getattr__": lambda self, name: getattr(space, name),
        },
    )()


@pytest.mark.parametrize(
    ("fault", "claims"),
    [
        (shift_the_ground, {WALLED}),
        (shift_the_ground_by_a_millionth, {WALLED}),
        (disable_player_collisions, {WALLED}),
        (take_the_fence_away, {WALLED}),
        (disable_bullet_collisions, {WALLED, THROUGH}),
        (move_bullet_past_wall, {THROUGH}),
        (move_bullet_through_floor, {THROUGH}),
        (disable_target_collisions, {MIXED}),
        (disable_lift_collisions, {MIXED}),
        (disable_plank_collisions, {PENETRATING}),
        (disable_tile_plank_collisions, {PENETRATING}),
        (sink_into_the_hill, {WALLED}),
        (take_the_ladder_away, {ODD}),
        (take_the_water_away, {ODD}),
        (slide_down_too_fast, {ODD}),
        (dash_too_fast, {ODD}),
        (take_all_bricks_away, {BRICKS}),
        (lead_a_bat_through_a_wall, {LOST}),
        (let_light_through, {LEAKS}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_fault_breaks_its_claims_and_no_other(
    game: Platformer, fault: Callable[[Platformer], None], claims: set[int]
) -> None:
    fault(game)
    assert broken(game) == []

    run(game, 25)

    assert set(broken(game)) == claims


def test_overlap_below_the_slop_breaks_no_claim(game: Platformer) -> None:
    ground = part(below(game), ec.Position)
    height = ground.y

    ground.y -= 1e-10  # 2.2e-10 is the slop of a map as wide as this
    run(game, 25)

    assert ground.y != height
    assert broken(game) == []


def test_crate_that_a_lift_presses_to_the_ground_breaks_the_claims(
    world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Platformer, "squeeze", lambda game, event: None)
    game = platformer.build()
    game.step()
    place = part(game.lifts["well"], ec.Position)
    place.y += 100
    crate = min(entity for entity, _ in esper.get_component(machines.Crate))
    part(crate, ec.Position).set(place.x, 32 + 16)  # in the pit, below it

    run(game, 60)

    assert {WALLED, MIXED} & set(broken(game))


def test_run_with_a_broken_claim_fails(
    monkeypatch: pytest.MonkeyPatch, folder: object, capsys: pytest.CaptureFixture[str]
) -> None:
    hero = platformer.hero
    monkeypatch.setattr(platformer, "hero", lambda: (*hero(), NOTHING))

    code = runner.main(["platformer", "--headless", "--seconds", "0.5"])

    esper.switch_world("default")
    esper.delete_world("demo platformer")
    said = capsys.readouterr()
    assert code == 1
    assert "BROKEN:     nothing was ever in a wall" in said.out
    assert said.err.count("platformer: does not hold: nothing was ever in a wall") == 1
