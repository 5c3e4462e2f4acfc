"""More scenes from bug reports of other engines: docs/published.md names the thread of each."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from math import inf

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from tests.volume import Volume

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60
GRAVITY = (0.0, -900.0)


def box(left: float, bottom: float, wide: float, high: float, *components: object) -> int:
    """Create a body by its lower left corner and its size."""
    place = ec.Position(left + wide / 2, bottom + high / 2)
    return esper.create_entity(place, ec.Extents(wide / 2, high / 2), *components)


def crate(left: float, bottom: float, *components: object, size: float = 16) -> int:
    return box(left, bottom, size, size, ec.Velocity(0, 0), ec.Slide(), *components)


def lift(left: float, bottom: float, wide: float, x: float, y: float, *components: object) -> int:
    return box(left, bottom, wide, 6, ec.Velocity(x, y), ec.Carry(), *components)


def hero(left: float, bottom: float, **abilities: float) -> tuple[int, Character]:
    """Create a character of 12 by 20 that reaches its speed of 120 at once."""
    abilities = {"acceleration": inf, "deceleration": inf, "walk_speed": 120, **abilities}
    character = Character(**abilities)
    return box(left, bottom, 12, 20, ec.Velocity(0, 0), ec.Slide(), character), character


def platformer() -> ec.Space:
    return ec.install(gravity=GRAVITY)


def run(n_steps: int, before: Callable[[int], None] = lambda step: None) -> None:
    for step in range(n_steps):
        before(step)
        esper.process(DT)


def left(entity: int) -> float:
    return at(entity, 0)


def bottom(entity: int) -> float:
    return at(entity, 1)


def at(entity: int, axis: int) -> float:
    place, half = (esper.component_for_entity(entity, kind) for kind in (ec.Position, ec.Extents))
    return float(place.xy[axis] - half.xy[axis])


def speed(entity: int) -> tuple[float, float]:
    x, y = esper.component_for_entity(entity, ec.Velocity).xy
    return float(x), float(y)


# Walls, corners and tiles


def test_a_box_whose_side_is_in_line_with_a_wall_falls_past_its_corner() -> None:
    box(0, 0, 100, 20)
    falling = crate(100, 40)  # its left side in line with the right side of the floor
    box(100, -200, 40, 20)
    ec.install(gravity=GRAVITY)

    run(90)

    assert bottom(falling) == -180.0


def test_a_player_walks_over_the_seam_of_two_blocks_with_another_on_its_head() -> None:
    for n in range(8):
        box(20 * n, -20, 20, 20)
    under, walker = hero(14, 0)  # over the seam at 20
    esper.add_component(under, ec.Carry())
    over, _ = hero(14, 20)
    platformer()
    run(10)

    walker.walk = 1.0
    run(30)

    assert left(under) == pytest.approx(14 + 60)
    assert left(over) == pytest.approx(14 + 60)
    assert bottom(over) == 20.0


def test_a_crate_that_is_pushed_over_flat_tiles_is_not_stopped_by_their_seams() -> None:
    for n in range(30):
        box(20 * n, -20, 20, 20)
    pushed = crate(10, 0)
    ec.install(gravity=GRAVITY)
    speeds = []

    def push(step: int) -> None:
        velocity = esper.component_for_entity(pushed, ec.Velocity)
        velocity.x += 2.0
        speeds.append(velocity.x)

    run(90, push)

    assert speeds == [2.0 * n for n in range(1, 91)]
    assert bottom(pushed) == 0.0


def test_a_player_who_presses_against_a_wall_in_a_fall_does_not_climb_it() -> None:
    for n in range(30):
        box(100, 20 * n - 420, 20, 20)
    player, wish = hero(80, 165)
    platformer()
    heights = []

    def press(_: int) -> None:
        wish.walk = 1.0
        heights.append(bottom(player))

    run(30, press)

    assert left(player) == 88.0
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] < 100


def test_a_contact_with_the_floor_does_not_flicker_while_the_speed_changes() -> None:
    for n in range(20):
        box(60 * n, -20, 60, 20)
    sliding = crate(10, 0)
    space = ec.install(gravity=GRAVITY)
    run(2)
    dice = random.Random(1)

    def change(_: int) -> None:
        esper.component_for_entity(sliding, ec.Velocity).x = dice.uniform(20, 110)
        assert space.is_on(sliding) is not None

    run(100, change)

    assert bottom(sliding) == 0.0


def test_a_crate_that_is_pushed_into_a_wall_does_not_launch_the_player() -> None:
    box(-100, -20, 400, 20)
    box(100, 0, 20, 100)
    pushed = crate(60, 0)
    player, wish = hero(20, 0)
    platformer()

    wish.walk = 1.0
    run(60)

    assert left(pushed) == pytest.approx(84.0)
    assert left(player) == pytest.approx(72.0)
    wish.walk = 0.0
    run(2)
    assert speed(player) == (0.0, 0.0)


# Lifts


def test_a_player_on_two_lifts_side_by_side_does_not_slide() -> None:
    lift(0, 0, 60, 70, 0)
    lift(60, 0, 60, 70, 0)
    player, wish = hero(20, 6)
    platformer()

    wish.walk = 1.0
    run(17)  # to the seam
    wish.walk = 0.0
    run(1)
    offset = left(player) - 70 * 18 / 60
    run(60)

    assert 48 < offset < 60
    assert left(player) - 70 * 78 / 60 == pytest.approx(offset, abs=1e-9)


def test_a_rider_does_not_hop_when_the_lift_turns_down() -> None:
    going = lift(0, 0, 120, 0, 200)
    rider = crate(50, 6)
    ec.install(gravity=GRAVITY)

    def turn(step: int) -> None:
        if step == 30:
            esper.component_for_entity(going, ec.Velocity).y = -200
        assert bottom(rider) == pytest.approx(bottom(going) + 6, abs=1e-9)

    run(60, turn)


def test_a_rider_is_not_thrown_when_the_lift_stops() -> None:
    going = lift(0, 0, 120, 240, 0)
    player, _ = hero(50, 6)
    platformer()
    run(30)

    esper.component_for_entity(going, ec.Velocity).x = 0
    run(30)

    assert left(player) == pytest.approx(50 + 120)
    assert left(player) - left(going) == pytest.approx(50)


def test_a_player_walks_on_a_lift_that_rises() -> None:
    going = lift(0, 0, 400, 0, 90)
    player, wish = hero(50, 6)
    platformer()

    wish.walk = 1.0
    run(60)

    assert left(player) == pytest.approx(50 + 120)
    assert bottom(player) == pytest.approx(bottom(going) + 6)
    assert wish.state is CharacterState.WALKING


def test_a_player_who_walks_off_a_lift_keeps_nothing_of_its_speed_on_the_floor() -> None:
    box(-400, -20, 1000, 20)
    lift(0, 20, 60, -60, 0)
    player, wish = hero(46, 26)
    platformer()
    wish.walk = 1.0
    run(60)

    before = left(player)
    run(1)

    assert bottom(player) == 0.0
    assert left(player) - before == pytest.approx(2.0)  # 120 / 60


# One-way platforms


def test_a_rider_stays_on_a_one_way_platform_that_rises() -> None:
    going = lift(0, 0, 120, 0, 150, ec.OneWay())
    player, _ = hero(50, 6)
    platformer()

    run(60)

    assert bottom(player) == pytest.approx(bottom(going) + 6)


def test_a_player_jumps_onto_a_one_way_platform_that_moves() -> None:
    box(-100, -20, 400, 20)
    going = lift(0, 30, 200, -40, 0, ec.OneWay())
    player, wish = hero(60, 0, jump_height=60)
    platformer()
    run(2)

    wish.jump = True
    run(60)

    assert wish.ground == going
    assert bottom(player) == pytest.approx(36.0)
    offset = left(player) - left(going)
    run(30)
    assert left(player) - left(going) == pytest.approx(offset)


def test_a_rider_stays_on_a_moving_one_way_platform_when_another_jumps_over_it() -> None:
    going = lift(0, 0, 200, 30, 0, ec.OneWay())
    rider, _ = hero(80, 6)
    other, wish = hero(50, 6, jump_height=70)
    platformer()
    run(2)

    wish.jump, wish.walk = True, 1.0
    run(70)

    assert left(other) > left(rider) + 12  # it is over
    assert bottom(rider) == pytest.approx(6.0)
    assert left(rider) - left(going) == pytest.approx(80.0)


def test_a_player_drops_where_two_one_way_platforms_meet() -> None:
    for n in range(2):
        box(60 * n, 0, 60, 6, ec.OneWay())
    player, wish = hero(54, 6)  # 6 on each
    platformer()
    run(2)

    wish.drop = True
    run(1)
    wish.drop = False
    run(30)

    assert bottom(player) < -50


def test_a_player_who_touches_a_higher_platform_stays_on_its_own() -> None:
    box(0, 0, 100, 6, ec.OneWay())
    box(80, 16, 100, 6, ec.OneWay())  # at the height of the body
    player, wish = hero(40, 6, step_height=0)
    platformer()
    run(2)
    ways = []

    def walk(_: int) -> None:
        wish.walk = 1.0
        ways.append(left(player))
        assert bottom(player) == 6.0
        assert wish.on_ground

    run(20, walk)

    assert left(player) == pytest.approx(80.0)  # it went through
    assert len({round(b - a, 9) for a, b in pairwise(ways)}) == 1


def test_a_one_way_platform_just_overhead_does_not_shorten_a_jump() -> None:
    tops = []
    box(-100, -20, 600, 20)
    box(0, 21, 60, 6, ec.OneWay())
    players = [hero(x, 0, jump_height=60) for x in (20, 200)]
    platformer()
    run(2)
    for _, wish in players:
        wish.jump = True

    def look(_: int) -> None:
        tops.append([bottom(player) for player, _ in players])

    run(60, look)

    under, free = (max(heights) for heights in zip(*tops, strict=True))
    assert under == free > 55
    assert [bottom(player) for player, _ in players] == [27.0, 0.0]


def test_a_player_who_falls_at_3000_a_second_lands_on_a_one_way_platform_of_1() -> None:
    box(0, 0, 100, 1, ec.OneWay())
    player, _ = hero(40, 400, fall_speed=inf)
    esper.component_for_entity(player, ec.Velocity).y = -3000
    platformer()

    run(20)

    assert bottom(player) == 1.0


# Slopes


def hill(up_from: float, down_from: float, high: float = 60) -> None:
    """Build a slope that rises from 0 to `high`, a flat top, and a slope that falls."""
    box(-400, -20, 2000, 20)
    box(up_from, 0, 120, high, ec.Slope("right"))
    box(up_from + 120, 0, down_from - up_from - 120, high)
    box(down_from, 0, 120, high, ec.Slope("left"))


def test_a_player_who_walks_down_a_slope_stays_on_the_ground() -> None:
    hill(0, 160)
    player, wish = hero(132, 60)
    platformer()
    run(2)

    def walk(_: int) -> None:
        wish.walk = 1.0
        ground = max(0.0, min(60.0, (280 - left(player)) / 2))
        assert bottom(player) == pytest.approx(ground, abs=1e-9)
        assert wish.on_ground

    run(100, walk)

    assert left(player) == pytest.approx(132 + 200)


def test_a_gentle_slope_to_the_left_is_climbed_as_fast_as_one_to_the_right() -> None:
    box(-400, -20, 800, 20)
    for n, (low, high) in enumerate(((0.0, 0.5), (0.5, 1.0))):
        box(40 + 32 * n, 0, 32, 32, ec.Slope("right", low=low, high=high))
        box(-72 - 32 * n, 0, 32, 32, ec.Slope("left", low=low, high=high))
    (right, eager), (other, keen) = hero(8, 0), hero(-20, 0)
    platformer()

    def walk(_: int) -> None:
        eager.walk, keen.walk = 1.0, -1.0
        assert left(right) == pytest.approx(-left(other) - 12, abs=1e-9)
        assert bottom(right) == pytest.approx(bottom(other), abs=1e-9)

    run(36, walk)

    assert left(right) == pytest.approx(8 + 72)  # 120 a second, also uphill
    assert bottom(right) == pytest.approx((8 + 72 + 12 - 40) / 2)


def test_a_box_stands_on_the_tip_where_two_slopes_meet() -> None:
    box(0, 0, 60, 60, ec.Slope("right"))
    box(60, 0, 60, 60, ec.Slope("left"))
    falling = crate(52, 80)  # over the tip
    ec.install(gravity=GRAVITY)

    run(120)

    assert bottom(falling) == pytest.approx(60.0)
    assert left(falling) == 52.0


def test_a_player_who_stands_on_a_slope_does_not_slide() -> None:
    hill(0, 160)
    player, _ = hero(60, 40)
    platformer()
    run(20)
    place = left(player), bottom(player)

    run(200)

    assert (left(player), bottom(player)) == place
    assert place[1] == pytest.approx((place[0] + 12) / 2)


def test_a_player_jumps_once_from_a_slope() -> None:
    hill(0, 160)
    player, wish = hero(60, 36, jump_height=50)
    platformer()
    run(10)
    floor = bottom(player)
    heights = []

    def press(step: int) -> None:
        wish.jump = step % 4 < 2 and step < 16  # again and again while it rises
        heights.append(bottom(player))

    run(20, press)

    assert max(heights) - floor <= 50 + 1e-9


def test_a_jump_from_a_slope_is_as_high_as_one_from_a_floor() -> None:
    hill(0, 160)
    players = [hero(x, 80, jump_height=50) for x in (60, 135, -100)]
    platformer()
    run(60)
    before = [bottom(player) for player, _ in players]
    tops = list(before)
    for _, wish in players:
        wish.jump = True

    def look(_: int) -> None:
        for n, (player, _) in enumerate(players):
            tops[n] = max(tops[n], bottom(player))

    run(40, look)

    rises = [top - start for top, start in zip(tops, before, strict=True)]
    assert rises == pytest.approx([rises[0]] * 3)
    assert 49 < rises[0] <= 50 + 1e-9


def test_a_player_does_not_bounce_where_slopes_and_flat_tiles_meet() -> None:
    hill(0, 160)
    player, wish = hero(-60, 0)
    platformer()
    run(2)
    path = []

    def walk(_: int) -> None:
        wish.walk = 1.0
        path.append((left(player), bottom(player)))

    run(150, walk)

    for x, y in path:
        ground = max(0.0, min(60.0, (x + 12) / 2, (280 - x) / 2))
        step_over_the_edge = 1.01 if x > 106 and ground > 59 else 1e-9
        assert -1e-9 <= y - ground <= step_over_the_edge
    turns = [b[1] - a[1] for a, b in pairwise(path)]
    first_fall = next(n for n, turn in enumerate(turns) if turn < -1e-9)
    assert all(turn >= -1e-9 for turn in turns[:first_fall])
    assert all(turn <= 1e-9 for turn in turns[first_fall:])


def test_a_player_who_jumps_against_a_sloped_ceiling_comes_down_again() -> None:
    box(-100, -20, 400, 20)
    box(0, 30, 80, 40, ec.Slope("right", ceiling=True))
    player, wish = hero(30, 0, jump_height=100)
    platformer()
    run(2)

    wish.jump = True
    run(5)
    wish.jump = False
    run(60)

    assert bottom(player) == 0.0
    wish.walk = -1.0
    run(10)
    assert left(player) < 30


def test_a_player_walks_up_a_one_way_slope_and_does_not_fall_through() -> None:
    box(-100, -20, 100, 20)
    box(0, 0, 120, 60, ec.Slope("right"), ec.OneWay())
    player, wish = hero(-40, 0)
    platformer()

    wish.walk = 1.0
    run(60)

    x = left(player)
    assert x == pytest.approx(80.0)
    assert bottom(player) == pytest.approx((x + 12) / 2)


# Interpolation, zones, events


def test_a_new_body_is_drawn_where_it_was_made() -> None:
    space = ec.install()
    run(2)

    made = box(300, 40, 10, 10, ec.Velocity(60, 0), ec.Slide())
    before = [space.interpolated_of(made, part) for part in (0.0, 0.5, 1.0)]
    run(1)
    after = [space.interpolated_of(made, part) for part in (0.0, 1.0)]

    assert before == [(305.0, 45.0)] * 3
    assert after == [(305.0, 45.0), (306.0, 45.0)]


def test_a_teleported_body_is_not_drawn_on_the_way() -> None:
    moved = box(0, 0, 10, 10, ec.Velocity(60, 0), ec.Slide())
    space = ec.install()
    run(2)

    esper.component_for_entity(moved, ec.Position).xy = (1000, 5)
    run(1)

    drawn = [space.interpolated_of(moved, part)[0] for part in (0.0, 0.5, 1.0)]
    assert drawn == [1000.0, 1000.5, 1001.0]


def test_a_zone_sees_bodies_however_fast_and_small_they_are() -> None:
    zone = box(100, 0, 2, 100, ec.Sensor())
    movers = [
        box(0, 10 * n, 1, 1, ec.Velocity(velocity, 0), ec.Slide())
        for n, velocity in enumerate((60, 600, 6_000, 60_000))
    ]
    space = ec.install()
    seen: dict[str, list[int]] = {"in": [], "out": []}
    space.on_contact_began(lambda event: seen["in"].append(event.second))
    space.on_contact_ended(lambda event: seen["out"].append(event.second))

    run(120)

    assert sorted(seen["in"]) == sorted(seen["out"]) == movers
    assert zone not in seen["in"]


def test_a_zone_that_grows_and_shrinks_around_a_body_reports_nothing() -> None:
    growth = ec.Growth(0, 0)
    zone = box(0, 0, 100, 100, ec.Sensor(), growth)
    crate(40, 40)
    space = ec.install()
    run(2)
    events: list[object] = []
    space.on_contact_began(events.append)
    space.on_contact_ended(events.append)

    for rate in (-120, 60, 300):
        growth.xy = (rate, rate)
        run(12)
    size = esper.component_for_entity(zone, ec.Extents)
    assert size.xy == pytest.approx((98, 98))
    for half in (60, 300):
        size.xy = (half, half)
        run(1)

    assert events == []


def test_a_body_that_moves_within_a_zone_never_leaves_it() -> None:
    box(0, 0, 100, 100, ec.Sensor())
    inside = box(20, 20, 10, 10, ec.Velocity(0, 0), ec.Slide())
    space = ec.install()
    events = []
    space.on_contact_began(events.append)
    space.on_contact_ended(events.append)
    dice = random.Random(2)

    def wander(_: int) -> None:
        place = esper.component_for_entity(inside, ec.Position)
        velocity = esper.component_for_entity(inside, ec.Velocity)
        velocity.xy = [(50 - part) * 6 + dice.uniform(-300, 300) for part in place.xy]

    run(120, wander)

    assert len(events) == 1


@pytest.mark.parametrize("n_steps", [1, 30])
def test_contacts_of_a_deleted_body_end(n_steps: int) -> None:
    floor = box(0, 0, 100, 10)
    resting = crate(40, 10)
    space = ec.install(gravity=GRAVITY)
    run(n_steps)
    assert [contact.second for contact in space.contacts()] == [resting]

    esper.delete_entity(resting)
    run(1)

    assert [(event.first, event.second, event.reason) for event in space.contacts_ended] == [
        (floor, resting, ec.EndReason.ENTITY_DELETED)
    ]
    assert space.contacts() == []


# Levels that change


def test_a_sleeping_crate_falls_when_its_support_is_deleted() -> None:
    box(0, -100, 100, 20)
    support = box(0, 0, 100, 20)
    crates = [crate(40, 20 + 16 * n) for n in range(3)]
    space = ec.install(gravity=GRAVITY)
    run(60)
    assert space.stats.asleep == 3

    esper.delete_entity(support)
    run(60)

    assert [bottom(one) for one in crates] == [-80.0, -64.0, -48.0]


def test_a_sleeping_crate_falls_when_the_static_box_below_it_shrinks() -> None:
    ground = box(0, 0, 100, 40)
    resting = crate(40, 40)
    space = ec.install(gravity=GRAVITY)
    run(60)
    assert space.stats.asleep == 1

    esper.component_for_entity(ground, ec.Extents).y = 10  # from 10 to 30
    run(60)

    assert bottom(resting) == 30.0


def test_sleeping_crates_fall_when_gravity_is_switched_on() -> None:
    box(0, 0, 100, 20)
    floating = crate(40, 60)
    space = ec.install(gravity=(0, 0))
    run(60)
    assert space.stats.asleep == 1

    space.gravity = GRAVITY
    run(60)

    assert bottom(floating) == 20.0


# Lines of sight


def test_no_ray_passes_between_tiles_or_through_a_corner() -> None:
    tiles = [box(20 * n, 0, 20, 20) for n in range(10)]
    space = ec.install()
    run(1)

    for x in range(0, 201, 5):  # seams and corners too
        hit = space.cast_ray((x, 50), (0, -100))
        assert hit is not None
        assert hit.entity in tiles
        assert hit.point == (x, 20)
        for side in (-1, 1):  # at a slant, exactly at seams and corners
            hit = space.cast_ray((x - side * 30, 50), (side * 60, -60))
            assert hit is not None
            assert hit.time <= 0.5 + 0.5 * (x in (0, 200))


def test_a_ray_that_begins_in_a_tile_hits_it() -> None:
    tiles = [box(20 * n, 0, 20, 20) for n in range(10)]
    space = ec.install()
    run(1)

    hit = space.cast_ray((50, 10), (5, 0))  # begins and ends in the third

    assert hit is not None
    assert (hit.entity, hit.time) == (tiles[2], 0.0)


# Bounces, determinism, copies


@pytest.mark.parametrize("rate", [0.03, 3.0, 300.0])
def test_a_ball_with_full_bounce_keeps_its_speed_however_slow_it_is(rate: float) -> None:
    for wall in ((-10, -10, 120, 10), (-10, 100, 120, 10), (-10, 0, 10, 100), (100, 0, 10, 100)):
        box(*wall)
    ball = box(0.5, 30, 4, 4, ec.Velocity(-rate, rate / 4), ec.Deflect())
    space = ec.install()
    n_hits = 0

    for _ in range(100):
        esper.process(1.0)
        n_hits += len(space.collisions)

    assert n_hits > 0
    assert [abs(part) for part in speed(ball)] == [rate, rate / 4]


def test_a_tower_falls_the_same_in_whatever_order_its_blocks_were_created(
    elsewhere: Callable[..., ec.Space],
) -> None:
    def tower(order: list[int]) -> list[tuple[float, float]]:
        box(-200, -20, 400, 20)
        blocks = {n: crate(-8 + (n % 3) * 5, 16 * n, ec.Friction(0.5)) for n in order}
        striker = box(-150, 40, 20, 20, ec.Velocity(400, 0), ec.Slide())
        run(60)
        return [(left(one), bottom(one)) for one in (*(blocks[n] for n in range(6)), striker)]

    ec.install(gravity=GRAVITY)
    first = tower([0, 1, 2, 3, 4, 5])
    elsewhere().gravity = GRAVITY
    second = tower([3, 1, 5, 0, 4, 2])

    assert first == second
    assert first[2] != (2.0, 32.0)  # it fell


def test_a_copied_world_takes_the_same_steps(elsewhere: Callable[..., ec.Space]) -> None:
    box(-200, -20, 400, 20)
    balls = [
        box(-100 + 12 * n, 20 + 5 * n, 8, 8, ec.Velocity(50 - 9 * n, 0), ec.Deflect(0.8))
        for n in range(12)
    ]
    space = ec.install(gravity=GRAVITY)
    run(40)
    saved = space.snapshot()
    run(60)
    first = [(left(ball), bottom(ball), *speed(ball)) for ball in balls]

    other = elsewhere()
    other.restore(saved)
    run(60)

    assert [(left(ball), bottom(ball), *speed(ball)) for ball in balls] == first


def test_an_episode_after_a_reset_is_the_first_one_again(volume: Volume) -> None:
    box(-200, -20, 400, 20)
    box(-20, 0, 40, 30, ec.Slope("right"))
    lander = crate(-60, 120)
    dice = ec.Random(42)
    esper.create_entity(dice)
    space = ec.install(gravity=(0, -100))
    start = space.snapshot()
    n_steps = volume(80, 80, least=30)

    def episode(weight: float) -> list[tuple[float, float]]:
        space.restore(start)
        (_, random_numbers), *_ = esper.get_component(ec.Random)
        path = []
        for _ in range(n_steps):
            velocity = esper.component_for_entity(lander, ec.Velocity)
            velocity.x += random_numbers.uniform(-2, 6)
            velocity.y += weight
            esper.process(DT)
            path.append((left(lander), bottom(lander)))
        return path

    first, other, again = episode(0.2), episode(0.9), episode(0.2)

    assert again == first != other


def test_a_jump_is_as_high_at_30_as_at_144_frames_a_second() -> None:
    box(-100, -20, 800, 20)
    player, wish = hero(0, 0, jump_height=60)
    space = platformer()
    run(2)
    start = space.snapshot()
    heights = []
    for rate in (30, 60, 144):
        space.restore(start)
        wish.jump = True
        for _ in range(rate // 3):  # a third of a second
            esper.process(1 / rate)
        heights.append(bottom(player))

    assert heights == pytest.approx([heights[0]] * 3)
    assert heights[0] > 40
