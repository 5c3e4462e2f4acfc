"""Characters on slopes."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from ecs_collide.path import Path
from tests.scenes import box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("implementation", "world")

DT = 1 / 60
FEET = 12


#                    ________
#               _.-''        ''-._
#   __________-'                  '-__________     four tiles up, four tiles down
#
def hill(steepness=0.5, *parts):
    """Lay a floor at 0, a hill of tiles 16 wide, and a floor behind it; return its height."""
    rise = 16 * steepness
    box((-100, -8), (100, 8))
    for k in range(4):
        up, down = 16 * k + 8, 228 - 16 * k - 8
        box((up, rise * (k + 0.5)), (8, rise / 2), ec.Slope("right"), *parts)
        box((down, rise * (k + 0.5)), (8, rise / 2), ec.Slope("left"), *parts)
    box((114, rise * 2), (50, rise * 2))
    box((328, -8), (100, 8))
    return 4 * rise


def hero(place, **how):
    """Create a character whose box is 12 wide and 24 high; return entity and component."""
    character = Character(walk_speed=120, **how)
    entity = esper.create_entity(
        ec.Position(*place), ec.Extents(6, FEET), ec.Velocity(0, 0), ec.Slide(), character
    )
    space = ec.install()
    return entity, character, space


@pytest.mark.parametrize("steepness", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("direction", [1, -1])
def test_it_walks_over_a_hill_at_its_speed_and_never_leaves_the_ground(steepness, direction):
    top = hill(steepness)
    body, character, _ = hero((-30 if direction > 0 else 258, FEET), snap_distance=16)
    steps(10, DT)
    character.walk = float(direction)
    steps(10, DT)
    highest = 0.0

    for _ in range(150):
        before = position(body)[0]
        esper.process(DT)
        assert (position(body)[0] - before) * direction == pytest.approx(2, rel=1e-8)
        assert character.on_ground
        assert character.state is CharacterState.WALKING
        highest = max(highest, position(body)[1] - FEET)

    assert top <= highest <= top + 2.001 * steepness  # it goes straight on for the rest of a step
    assert position(body)[1] == pytest.approx(FEET, abs=1e-9)


#        +---+
#   _____| C |        Its left corner is past the top of the slope.  It snaps to the line, and of
#        +---+        the way of 2 in this step sqrt(2) is on the slope and the rest on the floor.
#        |\ __________
def test_it_snaps_to_a_slope_and_goes_on_to_the_floor_in_one_step():
    box((-100, -7), (100, 9))
    box((1, 1), (1, 1), ec.Slope("left"))
    box((102, -8), (102, 8))
    how = {"floor_constant_speed": True, "snap_distance": 4, "acceleration": 1e9}
    body, character, _ = hero((5, 2 + FEET), **how)
    esper.process(DT)
    character.walk = 1.0
    esper.process(DT)
    assert position(body) == pytest.approx((7, 2 + FEET), abs=1e-9)

    esper.process(DT)

    assert position(body) == pytest.approx((7 + 1 + 2 - math.sqrt(2), FEET), abs=1e-9)


@pytest.mark.parametrize("lift", [(0, 0), (60, 0), (30, -60)])
def test_it_snaps_to_a_slope_of_a_lift_at_the_speed_of_its_walk(lift):
    lifts = (ec.Velocity(*lift), ec.Carry())
    box((-100, 8), (100, 8), *lifts)
    box((8, 8), (8, 8), ec.Slope("left"), *lifts)
    body, character, _ = hero((5, 16 + FEET), snap_distance=4, acceleration=1e9, lift_speed="none")
    esper.process(DT)
    character.walk = 1.0
    esper.process(DT)  # its left corner is past the top
    character.acceleration = 60.0  # it cannot make up for a loss

    for n in range(3, 8):
        esper.process(DT)
        corner = 2 * n - 3
        place = (corner + 6 + n * lift[0] * DT, 16 - corner + FEET + n * lift[1] * DT)
        assert position(body) == pytest.approx(place, abs=1e-9)


def test_it_stands_still_on_a_slope_without_friction(volume):
    hill(0.5)
    body, character, space = hero((30, 60))
    steps(120, DT)
    place = position(body)

    steps(volume(100, 1000, 1_000_000), DT)

    assert position(body) == place
    assert character.state is CharacterState.STANDING
    assert place[0] == pytest.approx(30, abs=2)  # the landing has moved it a little
    assert space.is_on(body).other(body) == character.ground


def test_it_slides_down_a_slope_that_is_too_steep():
    hill(1.0)
    body, character, _ = hero((30, 80), floor_max_angle=30)
    for _ in range(120):
        esper.process(DT)
        assert not character.on_ground or position(body)[1] == pytest.approx(FEET, abs=1e-9)

    assert position(body)[1] == pytest.approx(FEET, abs=1e-9)


def test_it_jumps_from_a_slope_as_high_as_from_a_floor():
    hill(0.5)
    body, character, _ = hero((30, 60), jump_height=100)
    steps(120, DT)
    low = highest = position(body)[1]
    character.jump = True

    for _ in range(60):
        esper.process(DT)
        highest = max(highest, position(body)[1])

    assert highest - low == pytest.approx(100, rel=0.01)


def test_it_jumps_through_a_one_way_slope_and_walks_on_it():
    box((0, -8), (200, 8))
    ramp = box((60, 40), (40, 20), ec.Slope("right"), ec.OneWay())
    body, character, _ = hero((60, FEET), jump_height=90)
    steps(10, DT)
    character.jump = True
    steps(60, DT)
    landed = character.ground
    character.walk = 1.0
    steps(10, DT)

    assert landed == ramp
    assert character.on_ground
    assert character.ground == ramp
    assert position(body)[0] > 70


@pytest.mark.parametrize("direction", [1, -1])
def test_it_passes_below_a_one_way_slope_at_its_speed(direction):
    box((60, -8), (300, 8))
    box((60, 40), (60, 30), ec.Slope("right"), ec.OneWay())  # its line begins at 10
    body, character, _ = hero((60 - 100 * direction, FEET), acceleration=math.inf)
    steps(5, DT)

    character.walk = float(direction)
    for _ in range(100):
        before = position(body)[0]
        esper.process(DT)
        assert (position(body)[0] - before) * direction == pytest.approx(2, rel=1e-8)
        assert position(body)[1] == pytest.approx(FEET, abs=1e-9)


def test_it_walks_up_a_one_way_slope_without_losing_any_of_its_speed():
    box((-100, -8), (100, 8))
    box((60, 30), (60, 30), ec.Slope("right"), ec.OneWay())
    body, character, _ = hero((-33, FEET), acceleration=math.inf)
    steps(5, DT)

    character.walk = 1.0
    for _ in range(50):
        before = position(body)[0]
        esper.process(DT)
        assert position(body)[0] - before == pytest.approx(2, rel=1e-8)
        # In the step in which it leaves the floor, it climbs only for the rest of that step.
        line = max(0.0, (position(body)[0] + 6) / 2)
        assert position(body)[1] - FEET == pytest.approx(line, abs=1e-8)

    assert position(body)[0] > 50


#                 | |
#           +---+ | |     The wall is reached within a step, and the climb ends there too.
#           |   | | |
#           +---+_| |
#          __..''
#   ___..''
@pytest.mark.parametrize("face", [36, 35.3, 7, 0.7])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("rate", [60, 120])
def test_it_stops_flush_with_a_wall_on_a_slope_and_with_the_slope(face, constant, rate):
    hill(0.5)
    wall = box((face + 4, 40), (4, 40))
    how = {"floor_constant_speed": constant}
    body, character, space = hero((-30, FEET), acceleration=math.inf, **how)
    character.walk = 1.0

    for _ in range(rate):
        esper.process(1 / rate)
        x, y = position(body)
        assert y - FEET == pytest.approx(max(0, (x + 6) / 2), abs=1e-12)

    assert x == pytest.approx(face - 6, abs=1e-12)
    assert character.on_ground
    assert {c.other(body) for c in space.contacts(body)} == {character.ground, wall}
    assert velocity(body) == (0, 0)


def test_it_stops_at_a_slope_that_is_too_steep_as_at_a_wall():
    hill(1.0)
    body, character, _ = hero((-30, FEET), floor_max_angle=30)
    character.walk = 1.0

    for _ in range(60):
        esper.process(DT)
        assert position(body)[1] == FEET

    assert position(body)[0] == -6
    assert character.on_ground


def test_it_walks_up_a_ramp_in_3d_along_a_wall_beside_it():
    box((40, 20, 0), (40, 20, 40), ec.Slope((1, 0, 0)))
    box((40, 50, 50), (40, 50, 10))
    character = Character(walk_speed=120, acceleration=math.inf)
    body = mover((10, 22, 30), (6, FEET, 6), (0, 0, 0), ec.Slide(), character)  # fmt: skip
    ec.install(dim=3)
    steps(20, DT)
    character.walk, character.across = 0.6, 0.8

    for _ in range(30):
        esper.process(DT)
        x, y, _ = position(body, 3)
        assert y - FEET == pytest.approx((x + 6) / 2, abs=1e-12)
        assert velocity(body, 3)[:2] == pytest.approx((72, 36), rel=1e-8)

    assert position(body, 3)[2] == 34


def test_it_pushes_a_crate_up_a_slope():
    box((100, 50), (100, 50), ec.Slope("right"))
    crate = mover((60, 37.5), (5, 5), (0, 0), ec.Slide())
    _, character, _ = hero((20, 25))
    steps(20, DT)
    character.walk = 1.0

    steps(60, DT)

    assert position(crate)[0] > 80
    assert character.on_ground


def test_it_follows_a_wall_that_moves_up_a_slope_ahead_of_it():
    box((200, 100), (200, 100), ec.Slope("right"))
    wall = mover((40, 100), (4, 100), (60, 0))
    body, character, _ = hero((20, 25))
    character.walk = 1.0

    for step in range(90):
        esper.process(DT)
        x, y = position(body)
        assert y - FEET == pytest.approx((x + 6) / 2, abs=1e-9)
        assert step < 60 or velocity(body)[0] == pytest.approx(60, rel=1e-9)

    assert position(wall)[0] - x == pytest.approx(10, abs=1e-9)


@pytest.mark.parametrize("ceiling", ["flat", "slanted"])
def test_it_stops_below_a_ceiling_where_a_slope_leads_up_to_it(ceiling):
    box((200, 100), (200, 100), ec.Slope("right"))
    if ceiling == "flat":
        box((200, 80), (200, 20))  # open below 60
    else:
        box((100, 70), (100, 30), ec.Slope("left", ceiling=True))  # from 100 down to 40
    body, character, space = hero((20, 25))
    character.walk = 1.0

    steps(90, DT)

    x, y = position(body)
    top = 60 if ceiling == "flat" else 100 - (x + 6) * 0.3
    assert y + FEET == pytest.approx(top, abs=1e-9)
    assert y - FEET == pytest.approx((x + 6) / 2, abs=1e-9)
    assert len(space.contacts(body)) == 2


@pytest.mark.parametrize("start", [-30, -44])
def test_it_still_climbs_steps_where_there_are_slopes_elsewhere(start):
    hill(0.5)
    for k in range(4):
        box((-160 - 20 * k, 4 + 2 * k), (110, 4 + 2 * k))
    body, character, _ = hero((start, FEET))
    character.walk = -1.0

    steps(60, DT)

    assert position(body)[1] == pytest.approx(FEET + 20, abs=1e-9)


@pytest.mark.parametrize("holds", ["character", "friction"])
@pytest.mark.parametrize("points", [[(0, 0), (100, 50), (30, 90)], [(0, 0), (100, 0)]])
def test_what_stands_on_a_slope_on_a_path_does_not_creep(holds, points, volume):
    lift = mover((0, 0), (64, 32), (0, 0), ec.Slope("right"), ec.Carry(), ec.Friction(3))
    esper.add_component(lift, Path(points, 60, mode="loop"))
    body = mover((3, 40), (6, FEET), (0, 0), ec.Slide())
    space = ec.install(ec.Space(sleep=False, gravity=(0, -900)))
    if holds == "character":
        esper.add_component(body, Character())
    steps(60, DT)
    place = apart(lift, body)

    for _ in range(volume(100, 1000, 1_000_000)):
        esper.process(DT)
        now = apart(lift, body)
        assert now == pytest.approx(place, abs=3e-14, rel=0)  # one rounding of each coordinate
    assert space.contacts(body)


def apart(first, second):
    return tuple(b - a for a, b in zip(position(first), position(second), strict=True))


# -- slopes that are too steep, and landings on slopes --


def steep(angle, axes):
    """Lay a floor and a slope that is too steep behind it; return a function that places points.

    `axes` are those of the scene: the direction of up, its axis, and the direction of the walk.
    """
    sign, up, ahead = axes

    def at(x, y):
        place = [0.0] * (3 if up == 2 else 2)
        place[0], place[up] = ahead * x, sign * y
        return place

    def size(x, y):
        half = [50.0] * (3 if up == 2 else 2)
        half[0], half[up] = x, y
        return half

    high = 4000 * math.tan(math.radians(angle))
    rise = (float(ahead), 0.0, 0.0) if up == 2 else "right" if ahead > 0 else "left"
    box(at(-1000, -10), size(1000, 10))
    box(at(2000, high / 2), size(2000, high / 2), ec.Slope(rise))
    return at, size


AXES = [(1, 1, 1), (1, 1, -1), (-1, 1, 1), (1, 2, -1)]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("angle", [46, 60, 80])
@pytest.mark.parametrize(
    "how",
    [
        {"air_control": 1.0},
        {"acceleration": math.inf},
        {"acceleration": math.inf, "rate": 30},
        {"acceleration": 6000.0, "rate": 144},
        {"dash_speed": 1200.0, "dash_time": 0.3},
        {"knock": (900.0, 300.0)},
        {"restores": True, "acceleration": math.inf},
    ],
)
def test_it_never_gets_higher_by_a_slope_that_is_too_steep(angle, axes, how):
    abilities = dict(how)
    rate, knock = abilities.pop("rate", 60), abilities.pop("knock", None)
    restores = abilities.pop("restores", False)
    at, size = steep(angle, axes)
    sign, up, ahead = axes
    character = Character(**abilities)
    body = mover(at(-40, 16), size(10, 16), (0, 0), ec.Slide(), character)
    space = ec.install(dim=len(at(0, 0)), up=at(0, 1))
    esper.process(1 / rate)
    character.walk, character.jump = float(ahead), True
    top = touched = 0.0

    for n in range(rate):
        if n == rate // 5:
            character.dash = True
            if knock is not None:
                character.knock_back(at(*knock), 0.3)
        esper.process(1 / rate)
        if restores:
            space.restore(space.snapshot())
            character = of(body, Character)
        top = max(top, space.position_of(body)[up] * sign - 16)
        touched += bool(space.contacts(body))

    most = 120 if knock is None else 120 + 300**2 / (2 * character.gravity)
    assert 90 < top < most + 1e-9
    assert touched


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_a_push_against_a_steep_slope_does_not_slow_its_slide(rate):
    places = []
    for walk in (0.0, 1.0):
        esper.clear_database()
        box((200, 300), (200, 300), ec.Slope("right"))
        body, character, _ = hero((300, 471), acceleration=math.inf)
        esper.process(1 / rate)
        character.walk = walk
        for _ in range(rate // 2):
            esper.process(1 / rate)
            assert character.state is CharacterState.FALLING
        places.append(position(body))

    (x, y), pushed = places
    assert pushed == pytest.approx((x, y), abs=1e-9)
    assert y < 380


#       +---+
#       |   |        It moves along neither of the two slopes.
#     \ |   | /
#      \+---+/
#       \   /
@pytest.mark.parametrize("parts", [(), (ec.Velocity(0, 20),), (ec.Velocity(0, 20), ec.Carry())])
@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("order", [["left", "right"], ["right", "left"], ["left", "wall"]])
def test_it_stands_between_slopes_that_are_too_steep_and_can_jump(order, parts, rate):
    sides = {
        "left": lambda: box((-50, 100), (50, 100), ec.Slope("left"), *parts),
        "right": lambda: box((50, 100), (50, 100), ec.Slope("right"), *parts),
        "wall": lambda: box((6, 100), (5, 100), *parts),
    }
    made = {name: sides[name]() for name in order}
    left = made["left"]
    body, character, _ = hero((0, 60) if "right" in made else (-5, 60), jump_height=60)
    steps(rate, 1 / rate)
    place = apart(left, body)
    for _ in range(rate // 4):
        esper.process(1 / rate)
        assert character.state is CharacterState.STANDING
        assert character.ground == left  # whichever id is lower
        assert apart(left, body) == pytest.approx(place, abs=1e-9)

    character.jump = True
    highest = 0.0
    for _ in range(rate // 2):
        esper.process(1 / rate)
        highest = max(highest, apart(left, body)[1])
    assert highest > place[1] + 50


def test_it_slides_on_once_the_slope_that_held_it_is_gone():
    box((-50, 100), (50, 100), ec.Slope("left"))
    right = box((50, 100), (50, 100), ec.Slope("right"))
    body, character, _ = hero((0, 40))
    steps(60, DT)
    assert character.on_ground

    esper.delete_entity(right)
    steps(10, DT)

    assert character.state is CharacterState.FALLING
    assert position(body)[1] < 20


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("steepness", [0.25, 1.0])
@pytest.mark.parametrize("restores", [False, True])
def test_it_lands_on_a_slope_where_it_reaches_it_and_stays(rate, steepness, restores):
    ramp = box((0, 100 * steepness), (100, 100 * steepness), ec.Slope("right"))
    body, character, space = hero((0, 100 * steepness + 80))
    hits = []
    space.on_collision(lambda hit: hits.append((hit.closing_speed, hit.time)), Character)
    speed = 0.0

    for _ in range(rate):
        esper.process(1 / rate)
        speed = max(speed, character.landed_speed)
        if restores:
            space.restore(space.snapshot())
            character = of(body, Character)

    assert position(body) == pytest.approx((0, 106 * steepness + FEET), abs=1e-9)
    assert character.ground == ramp
    assert velocity(body) == (0, 0)
    assert hits[0][0] == pytest.approx(speed / math.sqrt(1 + steepness**2))
    assert speed > 200


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("place", [(0, 65), (5, 67.5)])
def test_a_new_character_on_a_slope_stays_where_it_touches_it(rate, place):
    box((0, 50), (100, 50), ec.Slope("right"))
    ec.install()
    esper.process(1 / rate)
    body = mover(place, (6, FEET), (0, 0), ec.Slide(), Character())

    steps(rate // 2, 1 / rate)

    assert position(body) == pytest.approx(place, abs=1e-9)


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("lift", [0, 60])
def test_its_walk_goes_on_along_a_slope_on_which_it_lands(rate, direction, lift):
    box((0, 50), (300, 50), ec.Slope("right"))
    mover((0, 180), (20, 10), (lift, 0), ec.Carry())
    body, character, _ = hero((0, 190 + FEET), acceleration=math.inf)
    esper.process(1 / rate)
    character.walk = 1.0 * direction
    far = direction * (120 + direction * lift) / rate
    esper.process(1 / rate)
    while character.ground != 1:
        before = position(body)[0]
        esper.process(1 / rate)
        if character.ground != 1:
            assert position(body)[0] - before == pytest.approx(far, abs=1e-9)

    for _ in range(3):
        before = position(body)[0]
        esper.process(1 / rate)
        assert character.on_ground
    assert position(body)[0] - before == pytest.approx(120 * direction / rate)


def test_it_leaves_ground_that_goes_down_without_a_snap_distance():
    hill(0.5)
    body, character, _ = hero((-30, FEET), snap_distance=0, acceleration=math.inf)
    character.walk = 1.0
    states = []
    for _ in range(120):
        before = position(body)[0]
        esper.process(DT)
        assert position(body)[0] - before == pytest.approx(2, rel=1e-8)
        states.append((before, character.state))

    assert {state for x, state in states if -20 < x < 50} == {CharacterState.WALKING}
    assert CharacterState.FALLING in {state for x, state in states if 170 < x < 220}


def test_it_does_not_stay_on_a_slope_that_leads_down_too_steeply():
    box((-100, 92), (100, 8))
    box((50, 50), (50, 50), ec.Slope("left"))
    body, character, _ = hero((-30, 100 + FEET), floor_max_angle=30, snap_distance=16)
    esper.process(DT)
    character.walk = 1.0
    before = position(body)[0] - 6

    while before <= 0:
        esper.process(DT)
        before, its = position(body)[0] - 6, before  # its left corner
        assert character.on_ground == (its < 0)

    esper.process(DT)
    assert character.state is CharacterState.FALLING
