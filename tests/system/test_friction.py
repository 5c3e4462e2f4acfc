"""Friction as Coulomb has it."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, mover, position, set_velocity, steps, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.parametrize("friction", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("dt", [1 / 60, *further(1 / 240)])
@pytest.mark.parametrize("tiles", [False, True])
def test_a_body_slides_as_far_as_it_should(friction, dt, tiles):
    speed, g = 60.0, 200.0
    way = speed**2 / (2 * friction * g)
    if tiles:
        for n in range(-2, int(way / 4) + 4):
            box((4 * n, -1), (2, 1))
    else:
        box((0, -1), (way + 20, 1))
    crate = mover((0, 1), (1, 1), (speed, 0), ec.Slide(), ec.Friction(friction), Falls())
    ec.install()
    esper.add_processor(Gravity(-g), priority=200)

    time = 0.0
    before = speed
    while velocity(crate)[0] > 0.0:
        esper.process(dt)
        time += dt
        now = velocity(crate)[0]
        assert now == 0.0 or before - now == pytest.approx(friction * g * dt)
        before = now

    assert velocity(crate) == (0, 0)
    assert position(crate)[0] == pytest.approx(way, abs=speed * dt)
    assert time == pytest.approx(speed / (friction * g), abs=1.01 * dt)
    esper.process(dt)
    esper.process(dt)
    rest = position(crate)
    for _ in range(50):
        esper.process(dt)
    assert position(crate) == rest  # it does not creep


def test_in_3d_it_acts_against_the_direction_of_sliding():
    box((0, -1, 0), (500, 1, 500))
    crate = mover((0, 1, 0), (1, 1, 1), (30, 0, 40), ec.Slide(), ec.Friction(0.5), Falls())
    ec.install(dim=3)
    esper.add_processor(Gravity(-100.0), priority=200)
    for _ in range(30):
        esper.process(1 / 60)
        x, _, z = velocity(crate, 3)
        assert z / x == pytest.approx(4 / 3)

    assert math.hypot(x, z) == pytest.approx(50 - 0.5 * 100 * 0.5)
    for _ in range(60):
        esper.process(1 / 60)
    assert velocity(crate, 3) == (0, 0, 0)


def test_the_upper_of_two_slides_on_the_lower_one_and_takes_it_along():
    box((0, -1), (500, 1), ec.Friction(0))
    lower = mover((0, 1), (20, 1), (0, 0), ec.Slide(), Falls())
    upper = mover((0, 3), (1, 1), (20, 0), ec.Slide(), ec.Friction(0.5), Falls())
    ec.install()
    esper.add_processor(Gravity(-60.0), priority=200)
    for _ in range(120):
        esper.process(1 / 60)

    assert velocity(upper)[0] == velocity(lower)[0] == pytest.approx(10)


@pytest.mark.parametrize(
    ("own", "floor", "counts"),
    [
        (None, None, 0),
        ((0.5,), None, 0.5),
        (None, (0.5,), 0.5),
        ((0.5,), (0,), 0),
        ((0,), (9,), 0),
        ((4,), (1,), 2),
        ((4,), (1, "min"), 1),
        ((4, "max"), (1, "min"), 4),
        ((4,), (0.5, "multiply"), 2),
        ((4, "average"), (2,), 3),
        ((4, "geometric"), (1, "average"), 2),
        (None, (0.5, "max"), 0.5),
    ],
)
@pytest.mark.quick
def test_which_friction_a_pair_has(own, floor, counts):
    box((0, -1), (500, 1), *([] if floor is None else [ec.Friction(*floor)]))
    crate = mover(
        (0, 1), (1, 1), (30, -4), ec.Slide(), *([] if own is None else [ec.Friction(*own)])
    )
    ec.install()

    esper.process(1.0)

    assert velocity(crate) == (30 - 4 * counts, 0)


def test_it_acts_on_a_response_of_the_games_own_that_asks_for_the_built_in_one():
    class Own:
        pass

    box((0, -1), (500, 1))
    crate = mover((0, 11), (1, 1), (40, -20), Own(), ec.Friction(0.5))
    space = ec.install()
    space.respond_with(Own, lambda impact: ec.DEFAULT)
    esper.process(1.0)

    assert velocity(crate) == (30, 0)


def test_a_conveyor_belt_rubs_what_bounces_on_it():
    box((0, -1), (500, 1), ec.Carry(surface=(12, 0)), ec.Friction(0.5))
    ball = mover((0, 11), (1, 1), (0, -20), ec.Deflect(1))
    ec.install()
    esper.process(1.0)

    assert velocity(ball) == (12, 20)


@pytest.mark.parametrize("lower_id", ["ball", "lift"])
@pytest.mark.parametrize("seed", [*range(4), *further(*range(4, 20))])
def test_what_sticks_has_exactly_the_velocity_of_the_surface(seed, lower_id):
    rng = random.Random(seed)
    belt, lift, own = (rng.uniform(-1, 1) * 10 ** rng.uniform(-3, 3) for _ in range(3))
    if lower_id == "lift":
        mover((0, -1), (5000, 1), (lift, 0), ec.Carry(surface=(belt, 0)))
    ball = mover((0, 2), (1, 1), (own, -20), ec.Deflect(1), ec.Friction(1000))
    if lower_id == "ball":
        mover((0, -1), (5000, 1), (lift, 0), ec.Carry(surface=(belt, 0)))
    ec.install()
    esper.process(0.1)

    assert velocity(ball) == (lift + belt, 20)


@pytest.mark.parametrize(("friction", "driven"), [(0.25, -10), (0.5, -12), (5, -12)])
def test_a_belt_below_a_ball_drives_it_against_the_belt(friction, driven):
    box((0, -1), (500, 1), ec.Friction(friction))
    belt = ec.Carry(surface=(12, 0), normal=(0, -1))
    ball = mover((0, 11), (1, 1), (0, -20), ec.Deflect(1), belt)
    ec.install()
    esper.process(1.0)

    assert velocity(ball) == (driven, 20)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("acceleration", [800.0, 1900.0, 4000.0])
@pytest.mark.parametrize("driver", [0, 1])
def test_a_crate_that_is_driven_pushes_others_over_rough_ground(
    driver, acceleration, rate, side, dim
):
    masses = 2.0, 1.0, 3.0
    more = [0.0] * (dim - 2)
    ec.install(gravity=(0.0, -900.0, *more), dim=dim)
    box((0.0, -10.0, *more), (5000.0, 10.0, *([50.0] * (dim - 2))), ec.Friction(0.7))
    velocities = []
    for n, mass in enumerate(masses):
        drive = [ec.Acceleration(side * acceleration, 0.0, *more)] if n == driver else []
        velocities.append(ec.Velocity(0.0, 0.0, *more))
        components = velocities[-1], ec.Slide(), ec.Mass(mass), ec.Friction(0.7), *drive
        box((side * 16.0 * n, 8.0, *more), (8.0,) * dim, *components)

    steps(rate, 1.0 / rate)

    after = max(0.0, masses[driver] * acceleration / sum(masses[driver:]) - 0.7 * 900.0)
    for n, v in enumerate(velocities):
        assert side * v.x == pytest.approx(after if n >= driver else 0.0, rel=1e-9, abs=1e-9)


def test_only_the_carrying_face_of_a_belt_moves():
    box((0, 1), (500, 1), ec.Carry(surface=(12, 0)), ec.Friction(0.5))
    ball = mover((0, -11), (1, 1), (0, 20), ec.Deflect(1))
    ec.install()
    esper.process(1.0)

    assert velocity(ball) == (0, -20)


def test_it_stops_no_platform_on_which_somebody_lands_who_cannot_go_along():
    platform = box((0, 0, -1), (50, 50, 1))
    esper.add_component(platform, ec.Velocity(0, 3, 0))
    esper.add_component(platform, ec.Friction(3.0))
    mover((0, 0, 1.2), (1, 1, 1), (5, 0, -20), ec.Slide(), ec.Friction(3.0), ec.LockedAxes(y=True))
    space = ec.install(dim=3)

    for _ in range(3):
        esper.process(1 / 60)

    assert len(space.contacts(platform)) == 1
    assert velocity(platform, 3) == (0, 3, 0)


@pytest.mark.parametrize("elsewhere", ["nothing", "slope", "friction", "stop"])
@pytest.mark.parametrize("rate", [60, *further(30, 240)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_dust_on_its_way_does_not_make_a_crate_rub_more(elsewhere, rate, sign, dim):
    # Each grain begins an instant.  The floor bears the crate once in a step, not in each of them.
    deep = (0,) * (dim - 2)

    def slide(n_grains):
        esper.clear_database()
        box((0, -10, *deep), (500, 10, *[90] * (dim - 2)), ec.Friction(0.5))
        if elsewhere == "slope":
            box((-400, 20, *deep), (5,) * dim, ec.Slope("right"))
        crate = mover(
            (0, 6, *deep), (6,) * dim, (300 * sign, 0, *deep), ec.Slide(), ec.Friction(0.5)
        )
        for n in range(n_grains):
            mover(
                ((9 + 3 * n) * sign, 9, *deep), (0.5,) * dim, (0, 0, *deep),
                ec.Stop() if elsewhere == "stop" else ec.Slide(), ec.Mass(1e-9), ec.GravityScale(0),
                *([ec.Friction(0.5)] if elsewhere == "friction" else []),
            )  # fmt: skip
        space = ec.install(gravity=(0, -900, *deep), dim=dim)
        for _ in range(rate // 2):
            esper.process(1 / rate)
        assert len(space.collisions) > 0 or n_grains == 0
        return position(crate, dim)[0]

    assert slide(25) == pytest.approx(slide(0), rel=1e-6)


@pytest.mark.parametrize("rate", [60, *further(30, 240)])
@pytest.mark.parametrize("rubs", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_dust_that_rains_on_a_crate_does_not_make_it_rub_more(rate, rubs, sign, dim):
    # Some grains land on the crate, and some fall past its front, which rubs them.
    deep = (0,) * (dim - 2)

    def slide(n_grains):
        esper.clear_database()
        box((0, -10, *deep), (500, 10, *[90] * (dim - 2)), ec.Friction(0.5))
        crate = mover(
            (0, 6, *deep), (6,) * dim, (300 * sign, 0, *deep), ec.Slide(), ec.Friction(0.5)
        )
        for n in range(n_grains):
            mover(
                ((10 + 3.7 * n) * sign, 13 + 0.9 * n, *deep), (0.5,) * dim, (0, -300, *deep),
                ec.Slide(), ec.Mass(1e-9), *([ec.Friction(0.5)] if rubs else []),
            )  # fmt: skip
        ec.install(gravity=(0, -900, *deep), dim=dim)
        for _ in range(rate // 2):
            esper.process(1 / rate)
        return position(crate, dim)[0]

    assert slide(25) == pytest.approx(slide(0), rel=1e-6)


@pytest.mark.parametrize("up", [50.0, 0.25])
def test_a_crate_that_is_rubbed_off_its_floor_falls_from_then_on(up):
    floor = box((0, -1), (500, 1))
    crate = mover((0, 6), (6, 6), (0, 0), ec.Slide(), ec.Friction(1))
    ram = mover((12.5, 6.5), (6, 6), (-60, up), ec.Friction(1))
    space = ec.install(gravity=(0, -900))

    esper.process(1 / 60)

    hit = next(event for event in space.collisions if ram in (event.first, event.second))
    assert hit.time == pytest.approx(0.5)
    rest = 0.5 / 60
    falls = up - 900 * rest  # the hit rubs it up; its weight acts from then on
    assert velocity(crate) == (-60, pytest.approx(max(0.0, falls)))
    if falls > 0:
        assert position(crate)[1] == pytest.approx(6 + up * rest - 450 * rest * rest)
    else:
        assert space.is_on(crate)
        assert position(crate)[1] == 6
    assert floor


@pytest.mark.parametrize("tower", [(600, 10), (600, 20), *further((200, 40), (1200, 20))])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_tower_that_is_hit_resolves_each_contact_a_few_times(tower, sign, implementation):
    if implementation == "plain":
        pytest.skip("it takes seconds, and the counts are the same")
    n, wide = tower
    for at in range(n):
        column, row = at % wide, at // wide
        mover((12 * column, 6 + 12 * row), (6, 6), (0, 0), ec.Slide(), ec.Friction(0.5))
    box((0, -10), (2000, 10))
    middle = 6 * wide - 6
    ball = mover((middle - (middle + 400) * sign, 60), (15, 15), (0, 0), ec.Slide(), ec.Mass(50))
    space = ec.install(gravity=(0, -900))
    most = 0
    for step in range(110):
        if step == 20:
            set_velocity(ball, 900 * sign, 200)
        esper.process(1 / 60)
        most = max(most, space.stats.resolutions)
    assert most < 3 * n


def test_many_contacts_of_one_body_come_before_few_of_many():
    for n in range(8):
        box((2 * n, -1), (1, 1), ec.Friction(0.25))
    wide = mover((7, 1), (7, 1), (6, 0), ec.Slide())
    few = [mover((100 + 9 * n, 6), (1, 1), (6, 0), ec.Slide()) for n in range(4)]
    box((100, -1), (80, 1), ec.Friction(0.25))
    ec.install(gravity=(0, -64))

    for _ in range(40):
        esper.process(1 / 64)

    assert velocity(wide) == (0, 0)
    assert {velocity(crate) for crate in few} == {(0, 0)}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 12])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", [1, -1])
def test_a_pile_brakes_as_one(n, dim, sign, order):
    deep = (0,) * (dim - 2)
    box((0, -8, *deep), (4000, 8, *(500,) * (dim - 2)), ec.Friction(0.5))
    pile = [
        mover(
            (0, 8 + 16 * row, *deep),
            (8,) * dim,
            (60 * sign, 0, *deep),
            ec.Slide(),
            ec.Friction(0.5),
        )
        for row in range(n)[::order]
    ]
    ec.install(gravity=(0, -200, *deep), dim=dim)
    for _ in range(20):
        esper.process(1 / 60)

    speeds = [sign * velocity(crate, dim)[0] for crate in pile]
    assert speeds == [pytest.approx(60 - 0.5 * 200 * 20 / 60)] * n


@pytest.mark.parametrize("seed", [*range(6), *further(*range(6, 60))])
@pytest.mark.parametrize("dim", [2, 3])
def test_crates_of_a_pile_slide_where_friction_cannot_hold_them(seed, dim):
    rng = random.Random(seed)
    n = rng.randrange(3, 9)
    rough = [rng.choice([0.1, 0.3, 0.5, 0.9]) for _ in range(n + 1)]
    masses = [rng.choice([0.5, 1.0, 3.0]) for _ in range(n)]
    deep = (0,) * (dim - 2)
    box((0, -1, *deep), (900,) + (1,) * (dim - 1), ec.Friction(rough[0]))
    pile = [
        mover(
            (0, 1 + 2 * row, *deep), (1,) * dim, (60, 0, *deep),
            ec.Slide(), ec.Mass(masses[row]), ec.Friction(rough[row + 1]),
        )
        for row in range(n)
    ]  # fmt: skip
    ec.install(gravity=(0, -200, *deep), dim=dim)
    bounds = [
        math.sqrt(rough[row] * rough[row + 1]) * sum(masses[row:]) * 200 / 60 for row in range(n)
    ]

    esper.process(1 / 60)

    speeds = [velocity(crate, dim)[0] for crate in pile]
    assert speeds == pytest.approx(least_energy([60.0] * n, masses, bounds), abs=1e-6)


def least_energy(speeds, masses, bounds):
    """Return the velocities of a pile whose friction takes as much energy as it can.

    `bounds` has the momentum that each crate may get from below.  One contact after the other takes
    what it can, until nothing changes.
    """
    speeds = [0.0, *speeds]
    ease = [0.0, *(1 / mass for mass in masses)]
    passed = [0.0] * len(bounds)
    change = 1.0
    while change > 1e-12:
        change = 0.0
        for row, bound in enumerate(bounds):
            wanted = (speeds[row] - speeds[row + 1]) / (ease[row] + ease[row + 1])
            more = max(-bound, min(bound, passed[row] + wanted)) - passed[row]
            passed[row] += more
            speeds[row] -= more * ease[row]
            speeds[row + 1] += more * ease[row + 1]
            change = max(change, abs(more))
    return speeds[1:]


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("speed", [0, 40, -0.3])
def test_a_pile_gets_the_velocity_of_its_floor(n, speed):
    floor = box((0, -8), (4000, 8), ec.Friction(0.5))
    if speed:
        esper.add_component(floor, ec.Velocity(speed, 0))
    pile = [
        mover((0, 8 + 16 * row), (8, 8), (60, 0), ec.Slide(), ec.Friction(0.5)) for row in range(n)
    ]
    space = ec.install(gravity=(0, -200))
    for _ in range(120):
        esper.process(1 / 60)

    assert [velocity(crate) for crate in pile] == [(pytest.approx(speed, abs=1e-10), 0)] * n
    assert space.stats.asleep == (0 if speed else n)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_brick_wall_that_is_pushed_slides_a_little_and_sleeps(sign):
    box((0, -8), (4000, 8), ec.Friction(0.5))
    wall = [
        mover(
            (sign * (16 * column + 8 * (row % 2)), 8 + 16 * row), (8, 8), (100 * sign, 0),
            ec.Slide(), ec.Friction(0.5),
        )
        for row in range(4) for column in range(3)
    ]  # fmt: skip
    space = ec.install(gravity=(0, -400))
    for _ in range(120):
        esper.process(1 / 60)

    assert space.stats.asleep == len(wall)
    ways = [sign * position(wall[n])[0] - 16 * (n % 3) - 8 * (n // 3 % 2) for n in range(12)]
    assert ways == [pytest.approx(100**2 / (2 * 0.5 * 400), abs=100 / 60)] * 12


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("mass", [1, 3])
@pytest.mark.parametrize("others", [0, 1])
def test_what_is_pressed_against_a_wall_rubs_on_it(axis, sign, order, mass, others):
    #  -----------      The ram stops, and so the wall bears its momentum: the crate between them
    #     +---+         does not change along the normal.
    #     +---+ ->
    #     +-^-+
    def at(across, along):
        place = (sign * across, along)
        return place if axis == 0 else place[::-1]

    def make_ram():
        mover(at(3, 0), (1, 1), at(-8, 0), ec.Slide(), ec.Mass(mass), ec.Friction(0))

    if order < 0:
        make_ram()
    box(at(-1, 0), at(1, 90) if sign > 0 else tuple(map(abs, at(1, 90))), ec.Friction(0.25))
    crate = mover(at(1, 0), (1, 1), at(0, 16), ec.Slide(), ec.Mass(2))
    if order > 0:
        make_ram()
    for n in range(others):  # they rub at the same instant, far away
        mover(at(1, 40 + 9 * n), (1, 1), at(-1, 3), ec.Slide())
    ec.install()

    esper.process(1 / 64)

    assert velocity(crate)[1 - axis] == pytest.approx(16 - 0.25 * 8 * mass / 2)


@pytest.mark.parametrize(
    ("levels", "fixed", "after"),
    [
        ((0, 0), False, (8, 8)),
        ((1, 0), False, (16, 8)),
        ((2, 1), False, (16, 8)),
        ((-1, -2), False, (16, 8)),
        ((0, 1), False, (8, 0)),
        ((1, 0), True, (8, 0)),
    ],
)
def test_of_two_that_slide_the_one_of_lower_dominance_slides_alone_if_it_can(levels, fixed, after):
    #    +---+
    #    | A | ->
    #    +-|-+
    #      v
    #  +-------+
    #  |   B   |     a cart on rails, or on none
    #  +-------+
    rough = [ec.Slide(), ec.Friction(0.5)]
    crate = mover((0, 4), (1, 1), (16, -16), *rough, ec.Dominance(levels[0]))
    rails = ec.LockedAxes(x=fixed, y=True)
    cart = mover((0, 0), (20, 1), (0, 0), *rough, rails, ec.Dominance(levels[1]))
    ec.install()

    esper.process(0.25)

    assert velocity(crate) == (pytest.approx(after[0]), 0)
    assert velocity(cart) == (pytest.approx(after[1]), 0)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("friction", "x", "rubbed_off"),
    [(0.125, 5, 1), (1.0, 5, 2), (0.125, 5.5, 1), (1.0, 5.5, 3)],
    ids=["slides", "sticks", "slides on both", "sticks to both"],
)
def test_what_rubs_on_crates_of_a_train_slows_all_of_it(friction, x, rubbed_off, order, sign, dim):
    #            | v
    #   +---+    +-+   +---+  +---+
    #   | A | =>       | B |  | C |      A meets B after 1/4 s, and both meet C after 1/2 s
    #   +---+----------+---+--+---+--    on a floor of ice
    def at(x, y):
        return (sign * x, y, 0)[:dim]

    rough = ec.Friction(friction)
    half, small = (1, 1, 1)[:dim], (0.25, 0.25, 0.25)[:dim]
    parts = {
        "floor": lambda: box(at(0, -1), (30, 1, 1)[:dim], ec.Friction(0)),
        "A": lambda: mover(at(0, 1), half, at(12, 0), ec.Slide(), rough),
        "B": lambda: mover(at(5, 1), half, at(0, 0), ec.Slide(), rough),
        "C": lambda: mover(at(8.5, 1), half, at(0, 0), ec.Slide()),
        "load": lambda: mover(at(x, 8.25), small, at(0, -8), ec.Slide(), ec.Friction(friction)),
    }
    made = {name: parts[name]() for name in list(parts)[::order]}
    ec.install(dim=dim)
    esper.process(1.0)

    # The load lands on A, or on A and B, after 3/4 s.  It may take 8 x friction of the momentum of
    # the train, 12.  No contact passes on more than makes its crate as fast as the load, as if the
    # crate were alone; two contacts do so in turn until nothing slides.
    assert velocity(made["load"], dim) == pytest.approx(at(rubbed_off, 0))
    for name in "ABC":
        assert velocity(made[name], dim) == pytest.approx(at((12 - rubbed_off) / 3, 0))
