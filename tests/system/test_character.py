"""Characters: they walk, jump, climb and ride as exactly as the bodies they are."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.scenes import another_world, of

pytestmark = pytest.mark.usefixtures("world")

DT = 1 / 64  # a power of two: sums of steps are exact
WALK = 128.0  # 2 units a step


class Play:
    """A small level of boxes in the current world, and one character in it."""

    def __init__(self, dim: int = 2, **settings: object) -> None:
        self.dim = dim
        given = {"walk_speed": WALK, "acceleration": math.inf, "deceleration": math.inf}
        self.hero = Character(**{**given, "step_height": 8.0, **settings})
        self.space = ec.install(dim=dim)

    def box(self, low: tuple[float, ...], high: tuple[float, ...], *more: object) -> int:
        centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
        return esper.create_entity(ec.Position(*centre), ec.Extents(*half), *more)

    def enter(self, *feet: float, half: tuple[float, ...] = (8.0, 16.0)) -> None:
        """Put the character's feet somewhere: the middle of its lower side, where up is +y."""
        x, y, *z = feet
        self.place = ec.Position(x, y + half[1], *z)
        self.half = ec.Extents(*half)
        self.velocity = ec.Velocity(0, 0)
        self.entity = esper.create_entity(
            self.place, self.half, self.velocity, ec.Slide(), self.hero
        )
        self.step(2)
        assert self.hero.on_ground

    def step(self, n: int = 1, dt: float = DT) -> None:
        for _ in range(n):
            esper.process(dt)
            for other in self.space.entities:
                if other != self.entity and not esper.has_component(other, ec.OneWay):
                    assert not inside(self.space, self.entity, other)

    @property
    def feet(self) -> float:
        return self.place.y - self.half.y


def inside(space: ec.Space, one: int, other: int) -> bool:
    """Return whether two bodies overlap by more than rounding."""
    (a, b), (c, d) = space.bounds(one), space.bounds(other)
    return all(min(q, s) - max(p, r) > 1e-9 for p, q, r, s in zip(a, b, c, d, strict=True))


def stairs(play: Play, rise: float, tread: float, n: int) -> None:
    """Build a floor, n steps up, a landing, n steps down, and a floor again."""
    play.box((-500, -32), (0, 0))
    heights = [*range(1, n + 1), n, n, *range(n, 0, -1)]
    for k, level in enumerate(heights):
        play.box((k * tread, -32), ((k + 1) * tread, level * rise))
    play.box((len(heights) * tread, -32), (len(heights) * tread + 500, 0))


# -- walking --


@pytest.mark.parametrize("phase", range(20))
def test_no_seam_of_a_thousand_stops_it_at_any_phase(phase, volume):
    play = Play()
    n = volume(200, 400, 1000)
    side = 2.0 + 0.1 * phase  # about one seam in each step
    for k in range(n + 30):
        play.box((k * side - 20, -8), ((k + 1) * side - 20, 0))
    play.enter(phase / 20, 0)
    start = play.place.x

    play.hero.walk = 1.0
    for k in range(1, int(n * side / 2) + 1):
        esper.process(DT)
        assert play.hero.on_ground
        assert (play.velocity.x, play.velocity.y) == (WALK, 0)
        assert play.place.x == pytest.approx(start + k * WALK * DT, abs=1e-9)
        assert abs(play.feet) < 1e-12
    assert play.place.x > (n - 1) * side


@pytest.mark.parametrize(
    ("rise", "tread", "n"),
    [(8.0, 8.0, 6), (8.0, 11.0, 6), (8.0, 16.0, 6), (1.0, 1.0, 48), (1.5, 0.7, 32), (4.0, 1.3, 12)],
)
def test_stairs_up_and_down_keep_it_on_the_ground(rise, tread, n):
    play = Play()
    stairs(play, rise, tread, n)
    play.enter(-37.3, 0)

    play.hero.walk = 1.0
    highest = 0.0
    for k in range(1, 200):
        play.step()
        highest = max(highest, play.feet)
        assert play.hero.on_ground
        assert play.place.x == pytest.approx(-37.3 + k * 2)  # it is never held up

    assert highest == pytest.approx(48)
    assert play.feet == pytest.approx(0)
    assert not any(event.reason is ec.EndReason.TELEPORTED for event in play.space.contacts_ended)


@pytest.mark.parametrize(("height", "passes"), [(8.0, True), (9.0, False)])
@pytest.mark.parametrize("start", [-30.0, -8.0, -9.0])  # from afar, against it, within a step
def test_a_step_one_unit_too_high_stops_it(height, passes, start):
    play = Play()
    play.box((-100, -32), (0, 0))
    play.box((0, -32), (100, height))
    play.enter(start, 0)

    play.hero.walk = 1.0
    play.step(30)

    if passes:
        assert play.feet == pytest.approx(height)
        assert play.place.x > 10
    else:
        assert (play.place.x, play.feet) == (-8, 0)
    assert play.hero.on_ground


@pytest.mark.parametrize("start", [-60.0, -59.3, -58.1, -8.0])
def test_a_wall_of_narrow_ledges_is_no_stair(start):
    play = Play()
    stairs(play, rise=6.0, tread=1.2, n=8)
    play.enter(start, 0)

    play.hero.walk = 1.0
    play.step(60)

    assert (play.place.x, play.feet) == (-8, 0)


def test_a_step_of_two_bodies_counts_as_high_as_both():
    play = Play()
    play.box((-100, -32), (0, 0))
    play.box((0, -32), (100, 5))
    top = play.box((0, 5), (100, 8))
    play.enter(-20, 0)

    play.hero.walk = 1.0
    play.step(20)
    assert (play.feet, play.hero.ground) == (pytest.approx(8), top)


def test_a_low_ceiling_over_a_step_keeps_it_off():
    play = Play()
    play.box((-100, -32), (0, 0))
    play.box((0, -32), (100, 6))
    play.box((-4, 32 + 5), (100, 100))  # 37 above the floor: it is 32 high, and rises by 6
    play.enter(-30, 0)

    play.hero.walk = 1.0
    play.step(40)

    assert (play.place.x, play.feet) == (-8, 0)
    assert play.hero.on_ground


def test_what_it_does_not_meet_is_no_step_and_no_ground():
    play = Play()
    play.box((-100, -32), (200, 0))
    play.box((0, 0), (8, 6), ec.Sensor())
    play.box((40, 0), (48, 6), ec.Filter(categories=2))
    ghost = play.box((80, 0), (88, 6))
    play.box((120, -6), (128, 6), ec.OneWay((0, 1)))
    play.space.filter_pairs(lambda first, second: ghost not in (first, second))
    play.enter(-30, 0)
    esper.add_component(play.entity, ec.Filter(mask=1))

    play.hero.walk = 1.0
    for _ in range(100):
        esper.process(DT)
        assert play.feet == 0
        assert play.hero.on_ground
    assert play.place.x == 170


def test_walking_off_an_edge_that_is_no_step_falls():
    play = Play()
    play.box((-100, -32), (0, 0))
    play.box((0, -32), (100, -9))
    play.enter(-10, 0)

    play.hero.walk = 1.0
    play.step(12)
    assert not play.hero.on_ground
    assert -9 < play.feet < 0
    play.step(20)
    assert play.hero.on_ground
    assert play.feet == -9


def test_speed_grows_and_dwindles_as_said():
    play = Play(acceleration=640.0, deceleration=320.0)
    play.box((-1000, -32), (1000, 0))
    play.enter(0, 0)

    speeds = []
    for wish in [1.0] * 15 + [0.0] * 30:
        play.hero.walk = wish
        play.step()
        speeds.append(play.velocity.x)

    assert speeds[:13] == [*range(10, 130, 10), 128]
    assert speeds[15:41] == [*range(123, 0, -5), 0]


# -- jumping --


@pytest.mark.parametrize("dts", [[1 / 64], [1 / 60], [1 / 120, 1 / 48], [1 / 200]])
def test_a_jump_is_as_high_and_long_as_the_formula(dts):
    play = Play(jump_height=96.0, time_to_top=0.375)
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)

    play.hero.jump = True
    heights, time = [0.0], 0.0
    while time < 0.75:
        dt = dts[len(heights) % len(dts)]
        play.step(dt=dt)
        time += dt
        heights.append(play.feet)
        left = time - 0.375
        assert play.feet == pytest.approx(max(96.0 * (1 - (left / 0.375) ** 2), 0), abs=1e-9)
    play.step(dt=dts[0])

    assert play.hero.on_ground
    assert max(heights) == pytest.approx(96.0, abs=96.0 * (max(dts) / 0.375) ** 2)


def test_letting_go_cuts_a_jump():
    play = Play(jump_height=96.0, time_to_top=0.375, jump_cut=0.5)
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)
    hero = play.hero

    hero.jump = True
    play.step(2)
    low = play.feet
    hero.jump = False
    highest = 0.0
    for _ in range(60):
        play.step()
        highest = max(highest, play.feet)

    # From there on as a jump of half the speed: a quarter of the height.
    assert highest == pytest.approx(low + 96.0 / 4, abs=0.5)
    assert hero.on_ground


@pytest.mark.parametrize(("late", "jumps"), [(1, True), (6, True), (7, False)])
def test_coyote_time_to_the_step(late, jumps):
    play = Play(coyote_time=6 * DT)
    play.box((-100, -32), (0, 0))
    play.enter(4, 0)  # two steps from the end of its ground
    hero = play.hero

    hero.walk = 1.0
    play.step(2)
    assert hero.on_ground  # as the last step began
    play.step(late - 1)  # so many began in the air
    hero.jump = True
    play.step()

    assert not hero.on_ground
    assert hero.jumping == jumps
    assert (play.velocity.y > 0) == jumps


def test_a_second_jump_needs_ground():
    play = Play(coyote_time=1.0)
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)

    play.hero.jump = True
    play.step(2)
    play.hero.jump = False
    play.step(2)
    speed = play.velocity.y
    play.hero.jump = True
    play.step()

    assert play.velocity.y < speed


@pytest.mark.parametrize(("early", "jumps"), [(0, True), (5, True), (6, False)])
def test_jump_buffer_to_the_step(early, jumps):
    play = Play(jump_buffer=5 * DT, jump_height=96.0, time_to_top=0.375)
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)
    hero = play.hero

    hero.jump = True
    play.step()  # 48 steps to the ground
    hero.jump = False
    of(play.entity, ec.Velocity).y = 0.0
    hero.jumping = False
    falls = 0
    while play.feet > 0:
        play.step()
        falls += 1
    # Once more, now that it is known how long it falls.
    play.step()
    hero.jump = True
    play.step()
    hero.jump = False
    play.velocity.y = 0.0
    hero.jumping = False
    play.step(falls - early)
    hero.jump = True
    play.step()
    hero.jump = False
    play.step(early)

    assert (play.velocity.y > 0) == jumps


def test_in_the_air_it_falls_and_steers_no_more_than_it_may():
    play = Play(acceleration=640.0, air_control=0.5, fall_speed=200.0)
    play.box((-100, -32), (0, 0))
    play.enter(7, 0)

    play.hero.walk = 1.0
    while play.hero.on_ground:
        play.step()
    speed = play.velocity.x
    for k in range(1, 10):
        play.step()
        assert play.velocity.x == min(speed + k * 640 * 0.5 * DT, WALK)
    play.step(60)
    assert play.velocity.y == -200


# -- lifts --


class Shuttle(esper.Processor):
    """Moves a lift back and forth: so many steps each way."""

    def __init__(self, velocity: ec.Velocity, way: tuple[float, float], steps: int) -> None:
        self.velocity, self.way, self.steps, self.n = velocity, way, steps, 0

    def process(self, dt: float) -> None:
        sign = -1 if self.n // self.steps % 2 else 1
        self.velocity.set(sign * self.way[0], sign * self.way[1])
        self.n += 1


def lift(play: Play, way: tuple[float, float], *more: object) -> tuple[int, ec.Position]:
    """Let the character stand on a lift, and the lift begin to move."""
    velocity = ec.Velocity(0, 0)
    entity = play.box((-32, -8), (32, 0), velocity, *more)
    play.enter(0, 0)
    esper.add_processor(Shuttle(velocity, way, 16), priority=200)
    return entity, of(entity, ec.Position)


@pytest.mark.parametrize("way", [(0.0, 96.0), (96.0, 0.0), (64.0, -128.0)])
def test_a_lift_that_turns_round_carries_without_a_flicker(way):
    play = Play()
    entity, place = lift(play, way, ec.Carry())
    off = play.place.x - place.x, play.place.y - place.y

    for _ in range(100):
        play.step()
        assert (play.hero.on_ground, play.hero.ground) == (True, entity)
        assert play.place.x - place.x == pytest.approx(off[0], abs=1e-9)
        assert play.place.y - place.y == pytest.approx(off[1], abs=1e-9)


@pytest.mark.parametrize("speed", [96.0, 300.0])
def test_it_keeps_to_a_lift_that_does_not_carry(speed):
    play = Play()
    lift(play, (0.0, speed))

    for _ in range(100):
        play.step()
        assert play.hero.on_ground


@pytest.mark.parametrize(
    "how", ["deleted", "deleted at once", "teleported", "without Carry", "dropped"]
)
def test_it_keeps_the_speed_of_a_lift_that_is_gone_and_gets_it_once(how):
    play = Play(air_control=0.0)
    lift = play.box((-64, -8), (64, 0), ec.Velocity(32, 16), ec.Carry(), ec.OneWay())
    play.enter(0, 0)
    play.step(4)
    x, y = play.place.xy
    if how == "teleported":
        of(lift, ec.Position).y -= 500.0
    elif how == "without Carry":
        esper.remove_component(lift, ec.Carry)
        of(lift, ec.Velocity).y = -500.0
    elif how == "dropped":
        play.hero.drop = True
    else:
        esper.delete_entity(lift, immediate=how == "deleted at once")
    for n in range(1, 9):
        esper.process(DT)
        assert play.place.x == x + n * 32 * DT
    assert play.velocity.x == 32
    # It rises on with the lift's speed and falls: from that step on, or once it has noticed.
    heights = [y + 16 * 8 * DT - play.hero.gravity * (n * DT) ** 2 / 2 for n in (8, 7)]
    assert heights[0] - 1e-9 <= play.place.y <= heights[1] + 1e-9


@pytest.mark.parametrize("on_crate", [False, True])
def test_a_jump_off_a_lift_keeps_its_speed(on_crate):
    play = Play(jump_height=96.0, time_to_top=0.375)
    velocity = ec.Velocity(0, 0)
    play.box((-32, -8), (32, 0), velocity, ec.Carry())
    if on_crate:
        play.box((-16, 0), (16, 16), ec.Velocity(0, 0), ec.Slide())
    play.enter(0, 16 * on_crate)
    velocity.set(100, 50)
    play.step(3)
    start = play.place.xy

    play.hero.jump = True
    for k in range(1, 20):
        play.step()
        t = k * DT
        assert play.place.x == pytest.approx(start[0] + 100 * t)
        rise = 50 * t + play.hero.jump_speed * t - play.hero.gravity * t * t / 2
        assert play.place.y == pytest.approx(start[1] + rise)


@pytest.mark.parametrize("way", [(0.0, 96.0), (96.0, 0.0), (-96.0, -96.0), (-200.0, 0.0)])
@pytest.mark.parametrize("acceleration", [math.inf, 640.0])
def test_it_climbs_a_step_on_a_moving_lift(way, acceleration):
    play = Play(acceleration=acceleration)
    moving = [ec.Velocity(0, 0), ec.Velocity(0, 0)]
    play.box((-200, -8), (200, 0), moving[0], ec.Carry())
    step = play.box((20, 0), (200, 8), moving[1], ec.Carry())
    place = of(step, ec.Position)
    play.enter(-20, 0)

    play.hero.walk = 1.0
    speed = 0.0
    for _ in range(50):
        for velocity in moving:
            velocity.set(*way)
        away = play.place.x - place.x
        play.step()
        away = play.place.x - place.x - away
        assert play.hero.on_ground
        assert play.feet < place.y + 4 + 1e-9
        assert away == pytest.approx(min(speed + acceleration * DT, WALK) * DT)
        speed = away / DT
    assert play.hero.ground == step
    assert play.feet == pytest.approx(place.y + 4)
    assert play.velocity.xy == pytest.approx((WALK, 0))


def test_speed_taken_off_a_lift_is_slowed_down_on_the_ground():
    play = Play(deceleration=320.0, jump_height=16.0, time_to_top=0.25)
    velocity = ec.Velocity(0, 0)
    play.box((-40, -8), (10, 0), velocity, ec.Carry())
    play.box((10, -100), (500, -9))
    play.enter(0, 0)
    velocity.set(100, 0)
    play.hero.jump = True
    play.step()
    velocity.set(-100, 0)
    while not play.hero.on_ground:
        play.step()
        speed = play.velocity.x
        assert speed == 100 or play.hero.on_ground

    assert speed == pytest.approx(100 - 320 * DT)


@pytest.mark.parametrize("speed", [32.0, -32.0])
def test_it_walks_onto_a_lift_that_moves_beside_it(speed):
    play = Play()
    play.box((-100, -32), (0, 0))
    velocity = ec.Velocity(0, 0)
    lift = play.box((0, -32), (200, 5), velocity, ec.Carry())
    play.enter(-18, 0)

    play.hero.walk = 1.0
    velocity.set(0, speed)
    for k in range(1, 20):
        play.step()
        assert play.hero.on_ground
        assert play.place.x == pytest.approx(-18 + 2 * k)
    assert play.hero.ground == lift


def test_a_step_that_turns_up_in_the_middle_of_a_stride_costs_no_speed():
    play = Play(acceleration=64.0)
    play.box((-500, -32), (500, 0))
    play.enter(-200, 0)
    play.hero.walk = 1.0
    play.step(140)
    start = play.place.x
    ghost = ec.Filter(mask=0)
    step = play.box((start + 9, 0), (start + 109, 6), ghost)  # 1 unit before it, next time
    play.place.x -= 2.0

    play.step()  # the step is a body now, and is to be met
    assert play.place.x == start
    esper.remove_component(step, ec.Filter)
    play.step()
    assert play.place.x == pytest.approx(start + 1)
    assert play.feet == pytest.approx(6)
    play.step()
    assert (play.place.x, play.velocity.x) == (pytest.approx(start + 3), WALK)


# -- platforms and corners --


def test_it_jumps_through_a_platform_stands_on_it_and_drops():
    play = Play(jump_height=64.0, time_to_top=0.375)
    ground = play.box((-100, -32), (100, 0))
    platform = play.box((-100, 40), (100, 48), ec.OneWay((0, 1)))
    play.enter(0, 0)
    hero = play.hero

    hero.jump = True
    play.step(60)
    assert (play.feet, hero.ground) == (pytest.approx(48), platform)
    hero.jump = False
    play.step(10)
    assert play.feet == pytest.approx(48)

    hero.drop = True
    play.step()
    hero.drop = False
    assert not hero.on_ground
    play.step(40)
    assert (play.feet, hero.ground, hero.on_ground) == (0, ground, True)


def test_the_press_that_drops_does_not_jump():
    play = Play(jump_buffer=0.5)
    play.box((-100, -32), (100, -10))
    play.box((-100, -8), (100, 0), ec.OneWay((0, 1)))
    play.enter(0, 0)

    play.hero.jump = play.hero.drop = True
    play.step()
    play.hero.drop = False
    play.step(20)

    assert play.hero.on_ground
    assert play.feet == pytest.approx(-10)


def test_it_walks_down_steps_inside_a_platform():
    play = Play()
    stairs(play, rise=8.0, tread=16.0, n=4)
    play.box((-500, -40), (500, 200), ec.OneWay((0, 1)))
    play.enter(-40, 0)

    play.hero.walk = 1.0
    for k in range(1, 150):
        play.step()
        assert play.hero.on_ground
        assert play.place.x == pytest.approx(-40 + 2 * k)


def test_dropping_where_there_is_no_platform_does_nothing():
    play = Play()
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)

    play.hero.drop = True
    play.step(5)

    assert play.hero.on_ground
    assert play.feet == 0


@pytest.mark.parametrize("gap", [1.0, 3.0, 40.0])
@pytest.mark.parametrize(("clip", "passes"), [(5.0, True), (7.0, False)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_ceiling_corner_that_is_clipped_a_little_is_passed(gap, clip, passes, side):
    play = Play(corner=6.0, jump_height=96.0, time_to_top=0.375)
    play.box((-100, -32), (100, 0))
    edge = side * (8 - clip)  # its half width is 8
    low, high = sorted((edge, side * 100))
    play.box((low, 32 + gap), (high, 200))
    play.enter(0, 0)

    play.hero.jump = True
    highest = 0.0
    for _ in range(40):
        play.step()
        highest = max(highest, play.feet)

    if passes:
        assert highest > 95.5
        assert play.place.x == pytest.approx(-side * clip)
    else:
        assert highest == pytest.approx(gap)
        assert play.place.x == 0


@pytest.mark.parametrize(
    ("wish", "left"),
    [(0.05, ()), (0.0, (-9, 0)), (0.0, (-11, 52))],
    ids=["against the wish", "into a wall", "into a gap that is too narrow"],
)
def test_a_corner_is_not_passed(wish, left):
    play = Play(corner=6.0, jump_height=96.0, time_to_top=0.375)
    play.box((-100, -32), (100, 0))
    play.box((4, 52), (100, 200))
    if left:
        play.box((-100, left[1]), (left[0], 200))
    play.enter(0, 0)
    play.hero.walk, play.hero.jump = wish, True

    highest = 0.0
    for k in range(1, 30):
        play.step()
        highest = max(highest, play.feet)
        assert play.place.x == pytest.approx(wish * 2 * k)
    assert highest == pytest.approx(20)


@pytest.mark.parametrize(("missing", "lands"), [(5.0, True), (7.0, False)])
def test_a_ledge_that_is_missed_a_little_is_reached(missing, lands):
    play = Play(corner=6.0, jump_height=96.0, time_to_top=0.375)
    play.box((-100, -32), (100, 0))
    ledge = play.box((12, 0), (100, 96 + missing))
    play.enter(4, 0)

    play.hero.walk, play.hero.jump = 1.0, True
    play.step(44)

    assert (play.hero.ground == ledge) == lands
    if lands:
        assert play.feet == pytest.approx(96 + missing)


# -- everywhere --


@pytest.mark.parametrize("dt", [1 / 4, 1.0, 1 / 30])
def test_nothing_is_walked_through_however_long_a_step_is(dt):
    play = Play(walk_speed=2000.0, corner=6.0, snap_distance=20.0)
    stairs(play, rise=8.0, tread=13.0, n=6)
    play.box((400, -32), (401, 300))
    play.box((-401, -32), (-400, 300))
    play.box((-500, 250), (500, 251))
    play.enter(-37.3, 0)

    for k in range(120):
        play.hero.walk = 1.0 if k % 20 < 12 else -1.0
        play.hero.jump = k % 7 == 0
        play.step(dt=dt)
        assert -392 - 1e-9 <= play.place.x <= 392 + 1e-9
        assert -1e-9 <= play.feet <= 250 - 32


def test_a_world_upside_down_is_the_same_world():
    tracks = []
    for sign in (1, -1):
        play = Play(up=(0, sign), jump_height=64.0, time_to_top=0.375)

        def box(x0: float, y0: float, x1: float, y1: float, *more: object) -> None:
            low, high = sorted((sign * y0, sign * y1))  # noqa: B023
            play.box((x0, low), (x1, high), *more)  # noqa: B023

        box(-200, -32, 0, 0)
        box(0, -32, 20, 8)
        box(20, -32, 40, 16)
        box(40, -32, 400, 8)
        box(100, 40, 140, 44, ec.OneWay((0, sign)))
        box(200, 8 + 32 + 20, 300, 100)
        play.place, play.half = ec.Position(-30, sign * 16), ec.Extents(8, 16)
        play.entity = esper.create_entity(
            play.place, play.half, ec.Velocity(0, 0), ec.Slide(), play.hero
        )
        track = []
        for k in range(200):
            play.hero.walk = 1.0
            play.hero.jump = k % 40 > 30
            play.hero.drop = k % 50 == 0
            esper.process(DT)
            track.append((play.place.x, sign * play.place.y, play.hero.on_ground))
        tracks.append(track)
        esper.clear_database()

    assert tracks[0] == tracks[1]
    assert max(y for _, y, _ in tracks[0]) > 60


def test_three_dimensions_with_up_along_z():
    play = Play(dim=3, up=(0, 0, 1), jump_height=64.0, time_to_top=0.375)
    play.box((-200, -200, -32), (0, 200, 0))
    play.box((0, -200, -32), (200, 200, 8))
    play.box((-200, 100, -32), (200, 200, 9))
    place = ec.Position(-40, 0, 16)
    velocity = ec.Velocity(0, 0)
    play.entity = esper.create_entity(place, ec.Extents(8, 8, 16), velocity, ec.Slide(), play.hero)
    play.step(2)

    play.hero.walk, play.hero.across = 1.0, 1.0
    for _ in range(60):
        play.step()
        assert play.hero.on_ground
        assert math.hypot(velocity.x, velocity.y) <= WALK * (1 + 1e-12)

    assert place.z == pytest.approx(8 + 16)  # up the one step
    play.step(20)
    assert place.y == pytest.approx(100 - 8) or place.z == pytest.approx(9 + 16)
    play.hero.walk = play.hero.across = 0.0
    play.hero.jump = True
    floor, top = place.z, 0.0
    for _ in range(24):
        play.step()
        top = max(top, place.z)
    assert top - floor == pytest.approx(64.0)


# -- what a game says --


def test_a_spring_throws_it_and_a_wall_stops_it():
    play = Play()
    play.box((-100, -32), (40, 0))
    play.box((40, -32), (100, 100))
    play.enter(0, 0)

    play.hero.walk = 1.0
    play.step(30)
    assert (play.place.x, play.velocity.x) == (32, 0)
    assert play.hero.on_ground
    play.velocity.y = 300.0
    play.step(3)

    assert not play.hero.on_ground
    assert play.feet == pytest.approx(3 * DT * 300 - play.hero.gravity * (3 * DT) ** 2 / 2)


def test_a_spring_on_a_lift_throws_it_and_gives_no_second_jump():
    play = Play(coyote_time=1.0)
    lift = ec.Velocity(0, 0)
    play.box((-100, -32), (40, 0), lift, ec.Carry())
    play.enter(0, 0)
    lift.y = 40.0
    play.step(2)

    play.velocity.y = 300.0
    play.step()
    assert not play.hero.on_ground
    assert play.velocity.y == pytest.approx(340 - play.hero.gravity * DT / 2)
    play.hero.jump = True
    play.step()
    assert play.velocity.y < 340 - play.hero.gravity * DT


def test_bytes_hold_all_that_a_character_is():
    hero = Character(up=(0, 0, -1), corner=3.5, fall_speed=math.inf)
    hero.walk, hero.jump, hero.ground, hero.on_ground = -0.5, True, 12, True

    copy = Character.from_bytes(hero.to_bytes())

    for this, other in ((copy, hero), (copy.memory, hero.memory)):
        for name in set(this.__slots__) - {"memory"}:
            assert repr(getattr(this, name)) == repr(getattr(other, name)), name


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"walk_speed": -1}, r"walk_speed=-1\) must be a finite number, 0 or more"),
        ({"air_jumps": -1}, "air_jumps"),
        ({"dash_time": math.nan}, "dash_time"),
        ({"gravity": 3}, "gravity"),
        ({"time_to_top": 0}, "time_to_top=0"),
        ({"jump_height": 0}, "jump_height=0, .* must be above 0"),
        ({"up": (1, 1)}, "one axis"),
        ({"up": 5}, r"Character\(up=5\) must point along one axis"),
        ({"fall_speed": math.nan}, "fall_speed=nan"),
        ({"floor_max_angle": 90}, "must be below 90 degrees"),
        ({"lift_speed": "some"}, "'all', 'upward' or 'none'"),
        ({"dash_through": "default"}, "category default"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Character(**settings)


def test_bytes_that_are_no_character_are_refused():
    data = Character().to_bytes()

    for forged, message in ((b"short", "bytes"), (data[:1] + b"\x63" + data[2:], "no number 99")):
        with pytest.raises(ValueError, match=message):
            Character.from_bytes(forged)


def test_an_up_that_is_no_axis_is_reported():
    with pytest.raises(ValueError, match="gravity=0"):
        Character.with_jump_speed(300, 0)
    play = Play()
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)
    play.hero.up = (0, 0, 1)
    with pytest.warns(RuntimeWarning, match="Character.up is .* must be an axis"):
        esper.process(DT)
    play.hero.up = (0, 1)
    esper.process(DT)
    assert [report.field for report in play.space.reports] == ["Character.up"]


@pytest.mark.parametrize("in_the_air", [False, True])
def test_a_disabled_character_gathers_no_falling_speed(in_the_air):
    play = Play()
    play.box((-100, -32), (100, 0))
    play.enter(0, 0)
    play.hero.jump = in_the_air
    play.step(4)
    before = play.place.xy, play.velocity.xy, play.hero.air_time, play.hero.on_ground

    esper.add_component(play.entity, ec.Disabled())
    play.step(64)
    assert (play.place.xy, play.velocity.xy, play.hero.air_time, play.hero.on_ground) == before
    esper.remove_component(play.entity, ec.Disabled)
    play.step(2)

    rises = play.place.y - before[0][1]
    assert rises > 0.0 if in_the_air else rises == 0.0
    assert play.hero.on_ground is not in_the_air


@pytest.mark.parametrize("ground", [0.0, 37.3])
@pytest.mark.parametrize(("height", "steps"), [(50.0, 30), (77.0, 24), (100.0, 32)])
def test_after_a_jump_that_ends_with_a_step_it_stands_on_the_ground(ground, height, steps):
    play = Play(jump_height=height, time_to_top=steps * DT)
    play.box((-400, ground - 40), (400, ground))
    play.enter(0, ground)
    play.hero.jump = True
    play.step(steps + 1)
    play.hero.jump = False
    play.step(steps + 4)

    for _ in range(20):
        play.step()
        assert play.hero.on_ground
        assert play.space.bounds(play.entity)[0][1] == play.space.bounds(play.hero.ground)[1][1]


@pytest.mark.parametrize("speed", [30.0, -30.0, 7.3])
def test_after_a_jump_it_stands_on_a_lift_to_the_last_bit(speed):
    play = Play(jump_height=50.0, time_to_top=0.3)
    lift = play.box((-400, -40), (400, 0), ec.Carry(), ec.Velocity(0, speed))
    play.enter(0, 0)
    play.hero.jump = True
    play.step(4)
    play.hero.jump = False
    play.step(60)

    for _ in range(120):
        play.step()
        assert play.hero.on_ground
        feet, top = play.space.bounds(play.entity)[0][1], play.space.bounds(lift)[1][1]
        assert 0.0 <= feet - top <= math.ulp(max(abs(top), abs(play.place.y)))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("asks", ["update", "check_move"])
def test_no_query_changes_the_next_step_of_a_character(asks, dim):
    def after(asks: str, restores: bool) -> tuple[object, ...]:
        with another_world("asked"):
            play = Play(dim)
            deep = (-500, 500)[: dim - 2], (500,)[: dim - 2]
            play.box((-500, -32, *deep[0][:1]), (500, 0, *deep[1]))
            wall = play.box((600, 0, *deep[0][:1]), (620, 4, *deep[1]))
            play.enter(*(0, 0, 0)[:dim], half=(8, 16, 8)[:dim])
            play.hero.walk = 1.0
            play.space.teleport(wall, (play.place.x + 18.5, 2.0, 0.0)[:dim])
            if asks == "update":
                play.space.update()
            elif asks == "check_move":
                play.space.check_move(play.entity, (1.0, 1.0, 0.0)[:dim])
            if restores:
                play.space.restore(play.space.snapshot())
            play.step(1)
            return play.place.xy, play.velocity.xy

    assert after(asks, False) == after("", False) == after(asks, True) == after("", True)
