"""The moves of a character in the air and on walls, and what it does, for its animation."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState, Ladder
from ecs_collide.zone import Zone
from tests.scenes import box, mover, of, steps

pytestmark = pytest.mark.usefixtures("world")

DT = 1 / 60
WALL = 100.0  # the x of the wall's left face


@pytest.fixture
def room(world):
    """Return a function that puts a character on the floor of a room, beside a high wall."""

    def make(x=0.0, y=16.0, **settings):
        box((0, -20), (900, 20))
        box((WALL + 20, 1000), (20, 1000))
        hero = Character(walk_speed=240, jump_height=100, time_to_top=0.4, **settings)
        body = ec.Position(x, y), ec.Extents(10, 16), ec.Velocity(0, 0), ec.Slide(), hero
        entity = esper.create_entity(*body)
        space = ec.install()
        esper.process(DT)
        esper.process(DT)
        return space, entity, hero

    return make


def feet(entity):
    return of(entity, ec.Position).y - 16


def run(n, each=lambda: None):
    for _ in range(n):
        esper.process(DT)
        each()


def press(hero):
    """Press the button anew for a step."""
    hero.jump = False
    esper.process(DT)
    hero.jump = True
    esper.process(DT)


# -- jumps in the air --


@pytest.mark.parametrize("n_jumps", [0, 1, 2])
def test_character_jumps_again_in_the_air_as_often_as_it_may(room, n_jumps):
    _, entity, hero = room(air_jumps=n_jumps, jump_cut=1.0)
    heights = []

    press(hero)
    for _ in range(3):
        run(22, lambda: heights.append(feet(entity)))  # almost to the top
        press(hero)
    run(60, lambda: heights.append(feet(entity)))

    assert max(heights) == pytest.approx(100 * (1 + n_jumps), abs=3)


def test_jumps_in_the_air_are_given_back_on_the_ground(room):
    _, entity, hero = room(air_jumps=1, jump_cut=1.0)

    for _ in range(3):
        highest = 0.0
        press(hero)
        run(20)
        press(hero)
        for _ in range(90):
            esper.process(DT)
            highest = max(highest, feet(entity))
        assert highest > 170
        hero.jump = False
        assert hero.on_ground


def test_character_that_has_walked_off_an_edge_long_ago_jumps_in_the_air(room):
    _, entity, hero = room(y=400.0, air_jumps=1)
    run(20)
    assert not hero.on_ground
    low = feet(entity)

    press(hero)
    run(3)

    assert feet(entity) > low - 30
    assert hero.state is CharacterState.RISING


@pytest.mark.parametrize("height", [30.0, 250.0])
def test_height_of_jumps_can_be_changed(room, height):
    _, entity, hero = room(jump_cut=1.0)
    gravity, heights = hero.gravity, []
    hero.jump_height = height
    hero.jump = True

    run(60, lambda: heights.append(feet(entity)))

    assert max(heights) == pytest.approx(height, abs=0.2)
    assert hero.gravity == gravity
    with pytest.raises(ValueError, match="jump_height"):
        hero.jump_height = -1


def test_numbers_of_a_jump_read_back_as_they_were_set():
    rng = random.Random(1)
    for _ in range(300):
        height, time = rng.choice([(120, 0.36), (rng.uniform(1, 300), rng.uniform(0.05, 2))])
        hero = Character(jump_height=height, time_to_top=time)
        assert (hero.jump_height, hero.time_to_top) == (height, time)
        hero.jump_height = other = rng.uniform(1, 300)

        copy = Character.from_bytes(hero.to_bytes())

        assert hero.jump_height == copy.jump_height == other
        assert copy.time_to_top == hero.time_to_top
        hero.jump_speed *= 2.0
        assert hero.jump_height == pytest.approx(4.0 * other)
        assert hero.time_to_top == hero.jump_speed / hero.gravity


@pytest.mark.parametrize("scale", [0.25, 1.0, 2.0])
def test_gravity_scale_acts_on_characters(room, scale):
    _, entity, hero = room(jump_cut=1.0)
    esper.add_component(entity, ec.GravityScale(scale))
    hero.jump = True
    heights = []

    run(120, lambda: heights.append(feet(entity)))

    assert max(heights) == pytest.approx(100 / scale, rel=0.01)


def test_max_speed_acts_on_characters(room):
    _, entity, hero = room(x=-600.0)
    esper.add_component(entity, ec.MaxSpeed(90.0))
    hero.walk = 1.0
    run(30)
    before = of(entity, ec.Position).x

    run(60)

    assert of(entity, ec.Position).x - before == pytest.approx(90)


# -- walls --


@pytest.mark.parametrize("most", [math.inf, 60.0])
def test_character_slides_down_a_wall_no_faster_than_it_may(room, most):
    _, entity, hero = room(x=WALL - 10.0, y=500.0, wall_slide_speed=most)
    velocity = of(entity, ec.Velocity)
    hero.walk = 1.0
    run(30)

    if most == 60:
        assert (hero.state, velocity.y) == (CharacterState.WALL_SLIDING, -60)
    else:
        assert hero.state is CharacterState.FALLING
        assert velocity.y < -300
    hero.walk = 0.0  # it lets go
    run(20)
    assert hero.state is CharacterState.FALLING
    assert velocity.y < -300


@pytest.mark.parametrize(("rise", "speed"), [(-100.0, -160.0), (30.0, -30.0), (100.0, 40.0)])
def test_character_slides_down_a_wall_that_moves_with_the_wall(room, rise, speed):
    _, entity, hero = room(x=200.0, y=500.0, wall_slide_speed=60.0)
    moving = ec.Position(220, 500), ec.Extents(10, 400), ec.Velocity(0, rise)
    esper.create_entity(*moving)
    hero.walk = 1.0
    run(30)

    assert hero.state is CharacterState.WALL_SLIDING
    assert of(entity, ec.Velocity).y == speed


def test_character_jumps_off_a_wall_and_away_from_it(room):
    _, entity, hero = room(x=WALL - 10.0, y=500.0, wall_slide_speed=60.0, wall_jump_speed=300.0)
    velocity = of(entity, ec.Velocity)
    hero.walk = 1.0
    run(30)
    low = feet(entity)
    hero.walk = 0.0

    press(hero)

    assert velocity.x < -200
    assert velocity.y > 400
    assert hero.facing == -1
    run(20)
    assert feet(entity) > low + 50
    assert of(entity, ec.Position).x < WALL - 30


@pytest.mark.parametrize(("late", "jumps"), [(0, True), (4, True), (9, False)])
def test_jump_off_a_wall_has_coyote_time(room, late, jumps):
    _, entity, hero = room(x=WALL - 10.0, y=500.0, wall_jump_speed=300.0, coyote_time=0.1)
    hero.walk = 1.0
    run(10)
    hero.walk = -1.0  # it has left the wall when it jumps
    run(late)

    hero.jump = True
    esper.process(DT)

    assert (of(entity, ec.Velocity).y > 0) == jumps


def test_character_beside_a_wall_on_the_ground_jumps_straight_up(room):
    _, entity, hero = room(x=WALL - 10.0, wall_jump_speed=300.0)

    press(hero)

    assert of(entity, ec.Velocity).x == 0


# -- ladders --


def ladder(x=0.0, top=200.0):
    half = top / 2 + 2
    return box((x, half), (6, half), ec.Sensor(), Ladder())


def test_character_climbs_as_fast_as_it_is_asked_and_does_not_sink(room):
    ladder()
    _, entity, hero = room(climb_speed=100.0)

    hero.climb = 1.0
    run(60)
    assert feet(entity) == pytest.approx(100, abs=1e-9)
    assert hero.state is CharacterState.CLIMBING
    assert not hero.on_ground
    hero.climb = 0.0
    run(120)
    assert feet(entity) == pytest.approx(100, abs=1e-9)
    hero.climb = -0.5
    run(60)
    assert feet(entity) == pytest.approx(50, abs=1e-9)
    hero.climb = -1.0
    run(60)
    assert feet(entity) == 0
    assert hero.state is CharacterState.STANDING


def test_character_climbs_onto_the_floor_above_and_down_again(room):
    ladder(top=100.0)
    floor = box((0, 96), (60, 4), ec.OneWay((0, 1)))
    _, entity, hero = room(climb_speed=100.0)
    hero.climb = 1.0
    run(90)  # the button stays down

    assert hero.ground == floor
    assert hero.state is CharacterState.STANDING
    assert hero.state_time > 0.2
    assert feet(entity) == pytest.approx(100, abs=1e-6)
    hero.climb = -1.0
    run(90)
    assert feet(entity) == 0


def test_character_jumps_off_a_ladder_and_falls_off_its_side(room):
    ladder()
    _, entity, hero = room(climb_speed=100.0)
    hero.climb = 1.0
    run(30)
    hero.jump = True
    run(10)
    assert hero.state is CharacterState.RISING
    assert of(entity, ec.Velocity).y > 150
    hero.jump = False
    hero.climb = 0.0
    run(90)
    hero.climb = 1.0
    run(30)
    hero.walk = -1.0
    run(10)
    assert hero.state is CharacterState.FALLING


def test_ladder_is_air_for_a_character_that_does_not_climb(room):
    ladder()
    _, entity, hero = room(y=150.0)
    hero.climb = 1.0

    run(60)

    assert feet(entity) == 0


def test_platform_without_a_ladder_is_not_left_by_the_wish_to_climb_down(room):
    floor = box((0, 96), (60, 4), ec.OneWay((0, 1)))
    _, _, hero = room(y=120.0, climb_speed=100.0)
    run(30)
    hero.climb = -1.0

    run(30)

    assert hero.ground == floor


@pytest.mark.parametrize("is_attached", [False, True])
def test_character_on_a_ladder_moves_with_it_and_keeps_its_speed_in_a_jump(room, is_attached):
    rope = ladder()
    ship = ec.Velocity(0, 0)
    if is_attached:
        owner = box((-300, 500), (9, 9), ship)
        esper.add_component(rope, ec.Attached(owner, (300, -398)))
    else:
        esper.add_component(rope, ship)
    space, entity, hero = room(climb_speed=100.0, air_control=0.0)
    hero.climb = 1.0
    run(30)
    ship.set(-50, 20)
    run(2)
    way = [a - b for a, b in zip(space.position_of(entity), space.position_of(rope), strict=True)]
    run(30)

    now = [a - b for a, b in zip(space.position_of(entity), space.position_of(rope), strict=True)]
    assert now == pytest.approx([way[0], way[1] + 50], abs=1e-9)
    hero.jump = True
    run(2)
    assert of(entity, ec.Velocity).x == pytest.approx(-50)


def test_wind_blows_nobody_off_a_ladder(room):
    ladder()
    wind = ec.Position(0, 200), ec.Extents(500, 200), ec.Sensor(), Zone(flow_x=-200.0)
    esper.create_entity(*wind)
    _, entity, hero = room(climb_speed=100.0)
    hero.walk = 200 / 240  # it holds its place on the ground
    run(2)
    hero.climb, hero.walk = 1.0, 0.0

    run(60)

    assert hero.state is CharacterState.CLIMBING
    assert feet(entity) > 90


# -- dashes --


@pytest.mark.parametrize("dt", [1 / 60, 1 / 50, 0.011])
def test_dash_goes_exactly_as_far_as_its_time_says_and_does_not_sag(room, dt):
    _, entity, hero = room(x=-600.0, y=300.0, dash_speed=1000.0, dash_time=0.15)
    start = of(entity, ec.Position).xy
    hero.dash = True

    n = math.ceil(0.15 / dt - 1e-6)
    for _ in range(n):
        esper.process(dt)
        assert hero.state is CharacterState.DASHING

    end = of(entity, ec.Position).xy
    assert end == pytest.approx((start[0] + 150, start[1]), abs=1e-6)
    esper.process(dt)
    assert hero.state is CharacterState.FALLING
    assert abs(of(entity, ec.Velocity).x) <= 240


def test_dash_needs_a_new_press_and_a_pause(room):
    _, _, hero = room(x=-600.0, dash_speed=600.0, dash_time=0.1, dash_pause=0.2)
    states = []

    def note():
        states.append(hero.state is CharacterState.DASHING)

    hero.dash = True
    run(30, note)  # the button stays down
    hero.dash = False
    run(1, note)
    hero.dash = True
    run(3, note)
    hero.dash = False
    run(1, note)
    hero.dash = True  # too early
    run(6, note)

    dashes = [n for n in range(1, len(states)) if states[n] and not states[n - 1]]
    assert [0, *dashes] == [0, 31]
    assert sum(states) == 12


def test_dash_stops_at_a_wall_and_goes_where_it_is_asked(room):
    _, entity, hero = room(x=0.0, dash_speed=3000.0)
    hero.dash, hero.walk = True, 1.0

    run(3)
    assert of(entity, ec.Position).x == WALL - 10
    hero.dash = False
    run(60)
    hero.dash, hero.walk = True, -1.0
    run(3)
    assert of(entity, ec.Position).x < 0


# -- for the animation --


def test_state_names_what_it_does_and_since_when(room):
    _, _, hero = room()
    seen = []

    def note():
        seen.append((hero.state.name, hero.state_time))

    run(3, note)
    hero.walk = 1.0
    run(3, note)
    hero.walk = 0.0
    run(8)
    hero.jump = True
    run(30, note)
    run(30, note)

    names = list(dict.fromkeys(name for name, _ in seen))
    assert names == ["STANDING", "WALKING", "RISING", "FALLING"]
    assert seen[-1][0] == "STANDING"
    assert [time for name, time in seen[:6] if name == "WALKING"] == pytest.approx([0, DT, 2 * DT])
    rising = [time for name, time in seen if name == "RISING"]
    assert rising == pytest.approx([n * DT for n in range(len(rising))])
    assert 0.35 < rising[-1] < 0.45


# -- crates that fall --


class Raft:
    """A character above a heavy crate that falls slowly."""

    def __init__(self) -> None:
        self.hero = Character(walk_speed=128, jump_height=80, time_to_top=0.5, snap_distance=0.0)
        slow = ec.GravityScale(0.05), ec.Mass(1e6)
        self.crate = mover((0, 100), (200, 10), (0, 0), ec.Slide(), *slow)
        self.entity = mover((0, 126.5), (8, 16), (0, 0), ec.Slide(), self.hero)
        self.space = ec.install(gravity=(0, -900))

    def steps(self, n: int) -> list[bool]:
        """Take steps, and return whether it stands in each."""
        stands = []
        for _ in range(n):
            esper.process(DT)
            stands.append(self.hero.on_ground)
        return stands

    def gap(self) -> float:
        top = self.space.bounds(self.crate)[1][1]
        return self.space.bounds(self.entity)[0][1] - top


def test_character_stands_on_a_crate_that_falls_slowly():
    raft = Raft()

    stands = raft.steps(128)

    landed = stands.index(True)
    assert landed < 24
    assert all(stands[landed:])
    assert 0 <= raft.gap() <= 45 * DT**2 / 2 * (1 + 1e-6)


def test_character_that_a_spring_throws_off_a_crate_does_not_stand_on_it():
    raft = Raft()
    landed = raft.steps(40).index(True)
    assert landed

    of(raft.entity, ec.Velocity).y = 300.0
    assert not any(raft.steps(16))


@pytest.mark.parametrize("carries", [False, True])
def test_character_stands_on_a_floor_that_grows(carries):
    more = [ec.Carry()] if carries else []
    floor = box((0, -10), (100, 10), ec.Growth(0, 32), *more)
    hero = Character()
    player = mover((0, 16), (8, 16), (0, 0), ec.Slide(), hero)
    space = ec.install()
    esper.process(DT)
    for _ in range(60):
        esper.process(DT)
        assert hero.state is CharacterState.STANDING

    assert space.bounds(player)[0][1] == pytest.approx(space.bounds(floor)[1][1])


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("walk", [0.0, 1.0, -1.0])
def test_character_walks_on_the_belt_of_a_slope(side, walk):
    belt = ec.Carry(surface=(60 * side, 0))
    box((0, 300), (800, 300), ec.Slope("right" if side > 0 else "left"), belt)
    hero = Character(walk_speed=100.0)
    player = mover((-8 * side, 316), (8, 16), (0, 0), ec.Slide(), hero)
    space = ec.install()
    hero.walk = walk * side
    steps(60, DT)
    x, y = space.position_of(player)
    for _ in range(16):
        esper.process(DT)
        assert hero.on_ground

    wanted = (
        60 * 8 / math.sqrt(73) + walk * 100
    )  # a belt keeps its speed along the line, a walk is level
    way = [now - then for now, then in zip(space.position_of(player), (x, y), strict=True)]
    assert way[0] * side == pytest.approx(wanted * 16 * DT, abs=0.2)
    assert way[1] == pytest.approx(way[0] * side * 0.375, abs=1e-6)


# -- steps --


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("friction", [0.0, 0.1, 1.0])
def test_from_a_belt_onto_a_crate_that_rubs_it_steps_and_does_not_fly(world, rate, sign, friction):
    box((0, -10), (900, 10), ec.Friction(0.4))
    box((-60 * sign, 4), (60, 4), ec.Carry((80 * sign, 0)))
    crate = ec.Position(30 * sign, 8), ec.Extents(20, 8), ec.Velocity(0, 0), ec.Slide(), ec.Mass(5)
    esper.create_entity(*crate, ec.Friction(friction))
    hero = Character(walk_speed=120)
    place = ec.Position(-100 * sign, 20)
    esper.create_entity(place, ec.Extents(6, 12), ec.Velocity(0, 0), ec.Slide(), hero)
    ec.install(gravity=(0, -900))
    hero.walk = sign
    highest = 0.0
    for _ in range(2 * rate):
        esper.process(1 / rate)
        highest = max(highest, place.y)

    assert 28 <= highest < 29  # on the crate
    assert place.x * sign > 60  # and on


# -- landings --


def landings(n, each=lambda step: None, rate=60):
    """Step, and return the speeds of the landings of all characters."""
    speeds = []
    for step in range(n):
        each(step)
        esper.process(1 / rate)
        for _, hero in esper.get_component(Character):
            assert hero.landed == (hero.landed_speed > 0)
            speeds += [hero.landed_speed] * hero.landed
    return speeds


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_it_lands_once_and_as_fast_as_it_fell(room, rate):
    _, entity, hero = room()
    of(entity, ec.Position).y = 16 + 50
    (speed,) = landings(rate, rate=rate)

    assert speed == pytest.approx(math.sqrt(2 * hero.gravity * 50), rel=0.1)
    assert hero.on_ground


def test_where_it_stands_from_the_start_or_walks_over_tiles_and_steps_it_does_not_land(world):
    for n in range(12):
        box((16 * n, -8 + 4 * (n % 3)), (8, 8))
    hero = Character(walk_speed=120)
    mover((0, 16), (6, 16), (0, 0), ec.Slide(), hero)
    ec.install()
    hero.walk = 1.0

    assert landings(80) == []
    assert hero.on_ground


def test_each_jump_has_a_landing_also_one_that_jumps_again_at_once(room):
    _, _, hero = room(jump_buffer=0.2)

    def hop(step):
        hero.jump = step in (0, 44)  # the second just before it lands

    assert len(landings(150, hop)) == 2
    assert hero.on_ground


@pytest.mark.parametrize("lift", [60.0, -60.0])
def test_on_a_lift_it_lands_as_fast_as_the_two_meet(world, lift):
    platform = ec.Velocity(0, lift)
    box((0, -8), (50, 8), platform, ec.Carry())
    hero = Character(jump_height=100, time_to_top=0.4)
    mover((0, 96), (6, 16), (0, 0), ec.Slide(), hero)
    ec.install()
    (speed,) = landings(60)

    assert speed == pytest.approx(math.sqrt(lift**2 + 2 * hero.gravity * 80), rel=0.1)


def test_a_world_that_is_restored_as_it_lands_says_so_too(room):
    space, entity, hero = room()
    of(entity, ec.Position).y = 16 + 50
    while not hero.landed:
        esper.process(DT)
    speed, data = hero.landed_speed, space.snapshot()
    esper.process(DT)
    assert not hero.landed

    space.restore(data)
    again = of(entity, Character)
    assert again.landed_speed == speed
    esper.process(DT)
    assert not again.landed
