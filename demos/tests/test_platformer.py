"""The platformer plays itself for a while: what must happen happens, and nothing gets out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import esper
import pytest

import ecs_collide as ec
from demos.platformer import game as platformer
from demos.platformer import machines
from demos.platformer.bats import Bat
from demos.tests.conftest import STEPS
from ecs_collide.character import Character, CharacterState
from ecs_collide.path import Path
from ecs_collide.testing import (
    assert_contacts_balanced,
    assert_never_inside,
    assert_repeats,
)
from tests.volume import Volume, further

if TYPE_CHECKING:
    from demos.platformer.game import Platformer
    from ecs_collide.testing import Sim

DT = 1 / 60


def run(game: Platformer, n_steps: int) -> None:
    for _ in range(n_steps):
        game.step()


def components(kind: type) -> list[int]:
    return sorted(entity for entity, _ in esper.get_component(kind))


@pytest.fixture
def game(sim: Sim) -> Platformer:
    return sim.build(platformer.build, seed=3)


def place_player(game: Platformer, x: float, y: float) -> ec.Velocity:
    """Put the player somewhere and return its velocity."""
    game.step()
    esper.component_for_entity(game.player, ec.Position).set(x, y)
    return esper.component_for_entity(game.player, ec.Velocity)


def test_level_is_as_large_as_promised(game: Platformer) -> None:
    assert game.level.map["width"] >= 100
    assert game.level.map["height"] >= 40
    assert len(game.level.solids) < 100


def test_bot_collects_coins_and_nothing_leaves_the_level(game: Platformer) -> None:
    game.keys.bot = True
    width, height = game.size

    for _ in range(STEPS):
        game.step()
        for entity, (place, half, _) in esper.get_components(ec.Position, ec.Extents, ec.Velocity):
            assert half.x <= place.x <= width - half.x, entity
            assert half.y <= place.y <= height - half.y, entity

    assert game.coins >= (8 if ec.COMPILED else 2)
    assert game.n_contacts > 20


@pytest.mark.parametrize("variant", ["order", "margins"])
def test_bot_plays_the_same_whatever_the_tree_and_the_order_are(
    variant: str, volume: Volume
) -> None:
    assert_repeats(platformer.build, [("bot", volume(30, 100, least=20))], variants=[variant])


def test_nobody_gets_inside_anything_while_the_bot_plays(
    sim: Sim, game: Platformer, volume: Volume
) -> None:
    sim.press("bot")

    with assert_never_inside(), assert_contacts_balanced():
        sim.step(volume(150, 300, least=60))


@pytest.mark.skipif(not ec.COMPILED, reason="a whole round takes long on plain Python")
@pytest.mark.parametrize("seed", [0, *further(1, 2)])
def test_bot_comes_to_the_goal(world: str, seed: int) -> None:
    game = platformer.build(seed=seed)
    game.keys.bot = True

    for _ in range(90 * 60):
        game.step()
        if game.rounds >= 1 and game.hits >= 2 and game.pierced >= 1:
            break

    assert game.rounds >= 1
    assert game.hits >= 2
    assert game.pierced >= 1


def test_one_body_per_tile_plays_the_same_game(world: str) -> None:
    tracks = []
    for one_body_per_tile in (False, True):
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        game = platformer.build(seed=1, one_body_per_tile=one_body_per_tile)
        game.keys.bot = True
        track = []
        for _ in range(STEPS // 2):
            game.step()
            track.append(game.look_at)
        tracks.append(track)

    assert tracks[0] == tracks[1]


def test_player_stands_runs_and_jumps(sim: Sim, game: Platformer) -> None:
    sim.step(5)
    trace = sim.trace({"x": "Player.Position.x", "y": "Player.Position.y"})
    sim.step(20)
    assert len(set(trace.column("x"))) == len(set(trace.column("y"))) == 1

    sim.hold("right", 12)  # to the foot of the hill
    x = trace.column("x")
    assert x[-1] - x[0] == pytest.approx(machines.RUN * 12 * DT)

    sim.hold("jump", 60)
    y = trace.column("y")
    assert 3.5 * 32 < max(y) - y[0] < 4.5 * 32
    assert y[-1] == y[0] + 3 * 32  # on the planks


def test_player_jumps_again_in_the_air_slides_down_a_wall_and_jumps_off(game: Platformer) -> None:
    x, y = game.start
    esper.create_entity(ec.Position(x + 32, y + 150), ec.Extents(10, 300))
    velocity = place_player(game, x, y + 150)
    speeds = []
    game.keys.right = True

    for step in range(26):
        game.keys.jump = step in (3, 4)  # in the air
        game.step()
        speeds.append(velocity.y)

    assert max(speeds[2:6]) > 0.8 * machines.JUMP
    while velocity.y != -150.0 and game.n_steps < 90:
        game.step()
    assert velocity.y == -150.0  # it slides
    game.keys.jump = True
    game.step()
    assert velocity.x < -100
    assert velocity.y > 0.8 * machines.JUMP


def test_lift_carries_the_player_up(game: Platformer) -> None:
    place, path = lift_parts(game, "shaft")
    game.step()
    place_player(game, place.x, place.y + 20 + 14)
    run(game, 15)

    heights = []
    for _ in range(260):
        game.step()
        player = esper.component_for_entity(game.player, ec.Position)
        heights.append((place.y, player.y - 14 - (place.y + 8)))

    assert max(y for y, _ in heights) == pytest.approx(path.points[1][1])
    assert all(gap > -1e-9 for _, gap in heights)
    assert sum(gap < 1e-9 for _, gap in heights) > 200


def test_player_jumps_onto_the_planks_and_drops_through_them(sim: Sim, game: Platformer) -> None:
    sim.step(5)
    place = esper.component_for_entity(game.player, ec.Position)
    start = place.y

    sim.hold("jump", 60)
    assert place.y == pytest.approx(start + 3 * 32)

    sim.hold("down", 60)
    assert place.y == pytest.approx(start)


def test_planks_that_are_tiles_are_jumped_through_too(game: Platformer) -> None:
    planks = next(box for box in game.level.solids if box.properties.get("one_way"))
    top = planks.centre[1] + planks.half[1]
    velocity = place_player(game, planks.centre[0], top - 80)

    velocity.y = 700.0
    run(game, 60)

    place = esper.component_for_entity(game.player, ec.Position)
    assert place.xy == (planks.centre[0], top + 14)


def test_lift_that_presses_the_player_to_the_ground_kills(game: Platformer) -> None:
    place, _ = lift_parts(game, "well")
    game.step()
    place.y += 100  # it goes back to its path
    place_player(game, place.x, 32 + 14)

    run(game, 120)

    assert game.deaths == 1


def test_lift_that_presses_a_crate_to_the_ground_breaks_it(game: Platformer) -> None:
    place, path = lift_parts(game, "well")
    path.speed = 55.0
    game.step()
    place.y += 100
    crate = components(machines.Crate)[0]
    esper.component_for_entity(crate, ec.Position).set(place.x, 32 + 16)

    run(game, 120)

    assert not esper.entity_exists(crate)
    assert all(holds for _, holds in game.claims())


def lift_parts(game: Platformer, name: str) -> tuple[ec.Position, Path]:
    place, path = (
        esper.component_for_entity(game.lifts[name], kind) for kind in (ec.Position, Path)
    )
    return place, path


def test_crate_is_pushed_and_stays_beside_the_player(game: Platformer) -> None:
    run(game, 30)
    crate = nearest(machines.Crate, (25.5 * 32, 9.5 * 32))
    place = esper.component_for_entity(crate, ec.Position)
    start = place.x
    place_player(game, start - 16 - 10 - 20, place.y - 2)

    game.keys.right = True
    run(game, 20)

    player = esper.component_for_entity(game.player, ec.Position)
    assert place.x > start + 5
    assert player.x + 10 <= place.x - 16 + 1e-9


def nearest(kind: type, point: tuple[float, float]) -> int:
    def distance(entity: int) -> float:
        x, y = esper.component_for_entity(entity, ec.Position).xy
        return abs(x - point[0]) + abs(y - point[1])

    return min(components(kind), key=distance)


def test_bullet_of_400_units_a_step_hits_the_first_thing(game: Platformer) -> None:
    game.step()
    targets = components(platformer.Target)
    lowest = min(targets, key=lambda e: esper.component_for_entity(e, ec.Position).y)
    target = esper.component_for_entity(lowest, ec.Position)

    machines.shoot(game.space, target.x - 100, target.y, 1, friendly=True)
    run(game, 2)

    assert game.hits == 1
    assert lowest not in components(platformer.Target)
    assert len(components(platformer.Target)) == len(targets) - 1
    assert components(machines.Bullet) == []


def test_nobody_shoots_from_inside_a_wall(game: Platformer) -> None:
    game.step()
    wall = next(box for box in game.level.solids if not box.traits)

    machines.shoot(game.space, *wall.centre, 1, friendly=True)
    run(game, 2)

    assert game.bullets == 0
    assert components(machines.Bullet) == []


def test_hostile_bullet_kills_the_player(game: Platformer) -> None:
    run(game, 2)
    x, y = game.look_at

    machines.shoot(game.space, x - 120, y, 1, friendly=False)
    run(game, 2)

    assert game.deaths == 1
    assert not esper.entity_exists(game.player)
    run(game, 60)
    assert esper.entity_exists(game.player)


def test_spikes_delete_crates_and_players(game: Platformer) -> None:
    game.step()
    n_crates = len(components(machines.Crate))
    spikes = game.level.of_type("spikes")[0]
    crate = esper.component_for_entity(components(machines.Crate)[0], ec.Position)
    crate.set(spikes.centre[0] - 30, spikes.centre[1] + 60)
    place_player(game, spikes.centre[0] + 20, spikes.centre[1] + 60)

    run(game, 30)

    assert game.pierced == 1
    assert game.deaths == 1
    assert len(components(machines.Crate)) == n_crates - 1


def test_ground_that_is_deleted_is_no_ground(game: Platformer) -> None:
    run(game, 30)
    crate = nearest(machines.Crate, (25.5 * 32, 9.5 * 32))
    place = esper.component_for_entity(crate, ec.Position)
    place_player(game, place.x, place.y + 40)
    run(game, 30)
    character = esper.component_for_entity(game.player, Character)
    assert (character.on_ground, character.ground) == (True, crate)

    esper.delete_entity(crate)
    run(game, 1)

    assert not character.on_ground


def test_player_walks_up_the_hill_and_stands_on_it(game: Platformer) -> None:
    place_player(game, 300.0, 270.0)
    game.keys.right = True
    run(game, 28)
    game.keys.right = False
    run(game, 30)

    x, y = game.look_at
    assert 400 < x + 10 < 448  # on the second pair of tiles: half as steep as a diagonal
    assert y - 14 == pytest.approx(256 + (x + 10 - 320) / 2)
    assert game.state is CharacterState.STANDING


def test_player_climbs_the_ladder_into_the_cave_and_up_again(game: Platformer) -> None:
    place_player(game, 2416.0, 782.0)
    game.keys.down = True
    run(game, 150)
    assert game.look_at == (2416.0, 398.0)

    game.keys.down, game.keys.up, game.keys.jump = False, True, True  # the same key in a window
    run(game, 60)
    assert game.state is CharacterState.CLIMBING
    assert game.look_at[1] == pytest.approx(398.0 + 200.0, abs=8.0)


def test_player_swims_and_a_crate_floats(game: Platformer) -> None:
    crate = esper.component_for_entity(components(machines.Crate)[0], ec.Position)
    crate.set(1650.0, 240.0)
    place_player(game, 1400.0, 200.0)
    run(game, 300)

    assert crate.y == pytest.approx(256 + 16 - 32 / 1.5, abs=0.5)  # 2/3 of it is in the water
    assert game.moves[CharacterState.SWIMMING] > 30
    assert game.look_at[1] == pytest.approx(256 + 14 - 28 / 1.5, abs=0.5)


def test_bullet_breaks_one_brick_and_the_others_stay(game: Platformer) -> None:
    game.step()
    for n_left in (5, 4):
        machines.shoot(game.space, 2270.0, 784.0, 1, friendly=True)
        run(game, 3)
        area = sum(
            half.x * half.y / 256
            for entity, (_, half) in esper.get_components(machines.Brick, ec.Extents)
            if esper.entity_exists(entity)
        )
        assert area == n_left

    assert game.bricks == 2
    assert [bool(game.level.tile_at((2320.0, y), "bricks")) for y in (784.0, 816.0)] == [
        False,
        True,
    ]
    assert all(holds for _, holds in game.claims())


def test_head_breaks_the_brick_above_it(game: Platformer) -> None:
    game.step()
    game.level.set_cell(72, 15, layer="bricks")
    game.referee.broke(72, 24)
    place_player(game, 2320.0, 782.0)
    run(game, 10)

    game.keys.jump = True
    run(game, 10)

    assert game.bricks == 1
    assert game.level.tile_at((2320.0, 816.0), "bricks") is None
    assert all(holds for _, holds in game.claims())


def test_bat_finds_its_way_around_walls_and_bites(game: Platformer) -> None:
    place_player(game, 2416.0, 398.0)
    game.step()
    ways = [bat.way for _, bat in esper.get_component(Bat)]
    run(game, 240)

    assert all(len(way) > 18 for way in ways)
    assert game.bites > 0
    assert game.deaths == 0
    assert all(holds for _, holds in game.claims())


def test_player_that_lands_on_a_bat_defeats_it(game: Platformer) -> None:
    place_player(game, 2776.0, 520.0)
    bat = min(components(Bat))
    esper.component_for_entity(bat, ec.Position).set(3050.0, 420.0)
    velocity = place_player(game, 3050.0, 470.0)
    run(game, 15)

    assert not esper.entity_exists(bat)
    assert velocity.y > 0
    assert game.bites == 0


def test_checkpoint_is_where_the_next_player_starts(sim: Sim, game: Platformer) -> None:
    checkpoint = game.level.of_type("checkpoint")[1]
    place_player(game, checkpoint.centre[0] - 30, checkpoint.centre[1] - 18)

    sim.hold("right", 20)
    game.end_life(dead=True)
    sim.until(lambda: esper.entity_exists(game.player), at_most=60)

    assert game.look_at[0] == checkpoint.centre[0]
