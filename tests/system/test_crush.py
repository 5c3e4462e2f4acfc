"""A body squeezed between static or kinematic ones: reported, left alone, and never thrown out."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.scenes import SLOP, box, gaps, in_a_world, mover, position, velocity
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_the_walls_go_on_over_the_body_step_by_step():
    # Crushed once a step, no deeper by any answer, free again when the walls leave.
    left = mover((-4, 0), (1, 5), (1, 0))
    right = mover((4, 0), (1, 5), (-1, 0))
    squeezed = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    reports = []
    for _ in range(25):
        esper.process(0.1)
        reports.append(space.stats.crushed)
        assert position(left)[0] < position(squeezed)[0] < position(right)[0]

    assert reports[:19] == [0] * 19
    assert all(n >= 1 for n in reports[21:])

    for wall in (left, right):
        speed = esper.component_for_entity(wall, ec.Velocity)
        speed.x = -4 * speed.x
    esper.component_for_entity(squeezed, ec.Velocity).set(0, 0)
    for _ in range(10):
        esper.process(0.1)
    assert space.stats.crushed == 0
    assert max(gaps(squeezed, left)) > 0
    assert max(gaps(squeezed, right)) > 0


def test_a_lift_presses_a_body_against_the_ceiling():
    lift = mover((0, -3), (5, 1), (0, 1))
    ceiling = box((0, 4), (5, 1))
    rider = mover((0, -1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    for _ in range(30):
        esper.process(0.1)  # room for 3 seconds
        assert max(gaps(rider, ceiling)) >= -1e-12
        assert max(gaps(rider, lift)) >= -1e-12

    assert position(rider)[1] == pytest.approx(2, abs=1e-12)
    for _ in range(3):
        esper.process(0.1)
    assert space.stats.crushed >= 1
    assert position(lift)[1] == pytest.approx(0.3, abs=1e-12)
    assert position(rider)[1] == pytest.approx(2, abs=0.5)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, ec.Deflect])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_piston_presses_no_crate_into_a_wall_although_it_passes_through_them(
    side, axis, n, response
):
    #
    #   |wall|[ ][ ][ ]   <- |piston|
    #
    def at(x):
        return (side * x, 0) if axis == 0 else (0, side * x)

    wall = box(at(-10), (10, 10))
    crates = [mover(at(4 + 9 * k), (4, 4), (0, 0), response()) for k in range(n)]
    piston = mover(at(9 * n + 4), (4, 4), at(-120))
    space = ec.install()
    crushed = []

    for _ in range(9 * n):
        esper.process(1 / 60)
        assert all(gaps(crate, wall)[axis] >= -SLOP * 64 for crate in crates)
        crushed += [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]

    assert crushed
    assert {piston} == {hit.first if hit.first not in crates else hit.second for hit in crushed}
    assert {hit.solids for hit in crushed} == {(wall, piston)}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("n", [1, 2])
def test_crates_between_a_wall_and_one_that_grows_are_crushed_once_by_both(n, is_first):
    #  +----+---+---+-----+
    #  |wall| > | > |grows|    It presses them against the wall behind them.
    #  +----+---+---+-----+
    wall = box((-2, 0), (1, 3)) if is_first else None
    crates = [mover((2 * k, 0), (1, 1), (1, 0), ec.Slide()) for k in range(n)]
    grows = box((2 * n, 0), (1, 3), ec.Growth(0.25, 0))
    wall = wall or box((-2, 0), (1, 3))
    space = ec.install()

    esper.process(1e-6)

    (crushed,) = (hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED)
    assert {crushed.first, crushed.second} == {crates[-1], grows}
    assert crushed.solids == tuple(sorted((wall, grows)))
    assert space.stats.resolutions <= 4


@pytest.mark.parametrize("side", [1, -1])
def test_a_crate_that_is_crushed_stays_at_the_wall_and_its_impulses_tell_that(side):
    #  +----+-----+-------+
    #  |wall|-> 1 |-2 <-  |     The piston gives the crate -3.  The wall is in the way and gives it
    #  +----+-----+-------+     2, as the piston is given up.
    wall = box((-2 * side, 0), (1, 1))
    crate = mover((0, 0), (1, 1), (side, 0), ec.Slide())
    piston = mover((2 * side, 0), (1, 1), (-2 * side, 0))
    space = ec.install()

    esper.process(1e-6)

    pushes = {hit.other(crate): hit.impulse_on(crate) for hit in space.collisions if hit.impulse}
    assert pushes == {piston: (-3 * side, 0), wall: (2 * side, 0)}
    assert velocity(crate) == (0, 0)
    assert space.stats.crushed == 1


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("speed", [2, 0.5])
@pytest.mark.parametrize("mass", [1, 4, 0.25])
def test_a_crate_that_is_crushed_leaves_the_wall_if_another_one_has_more_momentum(
    mass, speed, side
):
    #  +----+-----+
    #  |wall|     |-------+
    #  +----+     | <-    |     The piston presses the crate at its speed, until it is given up.
    #  |  ->|     |-------+     The other crate brings 0.5 * 4.
    #  +----+-----+
    box((-2 * side, 2), (1, 1))
    crate = mover((0, 0), (1, 4), (side, 0), ec.Slide(), ec.Mass(mass))
    mover((2 * side, 0), (1, 1), (-speed * side, 0))
    other = mover((-2 * side, -2), (1, 1), (4 * side, 0), ec.Slide(), ec.Mass(0.5))
    space = ec.install()

    esper.process(1e-6)

    left = max(0, (0.5 * 4 - mass * speed) / (mass + 0.5))
    assert velocity(crate) == velocity(other) == (pytest.approx(side * left), 0)
    assert space.stats.crushed == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("growth", [0, 0.25])
@pytest.mark.parametrize("restitution", [1, 0.9])
@pytest.mark.parametrize("speed", [1, 40])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_ball_between_a_wall_and_a_lift_is_crushed_at_rest(
    dim, side, speed, restitution, growth, order
):
    #
    #    |wall|  ( ) ->      <- |lift|    Each bounce makes the ball faster.
    #
    def at(x):
        return (*[0] * (dim - 1), side * x)

    def across(half):
        return (*[4] * (dim - 1), half)

    parts = [ec.Growth(*at(side * growth))] if growth else []
    makers = [
        lambda: box(at(-4), across(4)),
        lambda: mover(at(1.5), [0.5] * dim, at(3), ec.Deflect(restitution), *parts),
        lambda: mover(at(8), across(4), at(-speed)),
    ]
    made = {n: makers[n]() for n in order}
    wall, ball, lift = (made[n] for n in range(3))
    space = ec.install(dim=dim)
    n_crushed = 0

    while side * position(lift, dim)[-1] > 4.5:
        esper.process(1 / 64)
        n_crushed += space.stats.crushed
        assert gaps(ball, wall, dim)[-1] >= -SLOP * 64
        if n_crushed:  # its face is at rest
            assert 0 <= side * velocity(ball, dim)[-1] <= growth
            assert space.stats.resolutions <= 4 or n_crushed == 1

    assert n_crushed


@pytest.mark.parametrize("side", [1, -1])
def test_a_ball_that_grows_in_a_narrow_shaft_stops_bouncing(side):
    box((-2 * side, 0), (1, 1))
    ball = mover((0, 0), (1, 1), (0, 0), ec.Deflect(), ec.Growth(1, 0))
    box((2 * side, 0), (1, 1))
    space = ec.install()

    esper.process(1 / 64)

    assert space.stats.crushed == 1
    assert space.stats.resolutions <= 10
    assert abs(velocity(ball)[0]) == 1


@pytest.mark.parametrize("speed", [2.0**-20, 2.0**-10])
def test_a_fast_ball_before_a_slow_lift_is_held_and_keeps_its_speed(speed):
    # It meets the lift more than 64 times in the step, but is not crushed.
    box((-4, 0), (4, 4))
    ball = mover((0.625, 0), (0.5, 0.5), (1000, 0), ec.Deflect())
    mover((5.25, 0), (4, 4), (-speed, 0))
    space = ec.install()

    esper.process(1)

    assert space.stats.held == 1
    assert 1000 <= abs(velocity(ball)[0]) <= 1000 + 130 * speed


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_ball_that_is_held_keeps_its_speed_when_another_body_is_crushed(axis, order):
    # The ball bounces in a narrow shaft, far from the crate between a wall and a lift.
    def on_axis(x, y):
        return (y, x) if axis else (x, y)

    makers = [
        lambda: box(on_axis(-4, 0), (4, 4)),
        lambda: mover(on_axis(0.625, 0), (0.5, 0.5), on_axis(1000, 0), ec.Deflect()),
        lambda: mover(on_axis(5.25, 0), (4, 4), on_axis(-(2.0**-20), 0)),
        lambda: box(on_axis(-4, 20), (4, 4)),
        lambda: mover(on_axis(1, 20), (1, 1), (0, 0), ec.Slide()),
        lambda: mover(on_axis(8, 20), (4, 4), on_axis(-4, 0)),
    ][::order]
    ball = [make() for make in makers][1 if order > 0 else 4]
    space = ec.install()

    esper.process(1)

    assert space.stats.held == space.stats.crushed == 1
    assert abs(velocity(ball)[axis]) == pytest.approx(1000, rel=1e-3)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Deflect])
@pytest.mark.parametrize("n", [1, 3])
def test_a_lift_presses_no_stack_of_crates_into_a_ceiling(n, response):
    lift = mover((0, -4), (12, 4), (0, 60))
    crates = [mover((0, 4 + 8 * k), (4, 4), (0, 0), response()) for k in range(n)]
    ceiling = box((0, 8 * n + 16), (20, 10))
    space = ec.install(gravity=(0, -900))
    crushed = []

    for _ in range(8 * n + 6):
        esper.process(1 / 60)
        assert all(gaps(crate, ceiling)[1] >= -SLOP * 64 for crate in crates)
        crushed += [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]

    assert {hit.solids for hit in crushed} == {(lift, ceiling)}
    assert all(lift in (hit.first, hit.second) for hit in crushed)


@pytest.mark.parametrize("how", ["moves", "grows", "both"])
@pytest.mark.parametrize("who", ["crate", "pile", "character"])
@pytest.mark.parametrize("rate", [60, *further(30, 144)])
@pytest.mark.parametrize("sign", [1, -1])
def test_whatever_presses_is_given_up_and_not_the_wall(how, who, rate, sign):
    motion = {
        "moves": [ec.Velocity(30 * sign, 0)],
        "grows": [ec.Growth(30, 0)],
        "both": [ec.Velocity(20 * sign, 0), ec.Growth(10, 0)],
    }[how]
    presser = box((0, 0), (10, 8), *motion)
    wall = box((100 * sign, 0), (10, 50))
    box((0, -30), (200, 22))
    parts = [Character()] if who == "character" else []
    crates = [
        mover((x * sign, 0), (8, 8), (0, 0), ec.Slide(), *parts)
        for x in ([30, 50, 66] if who == "pile" else [30])
    ]
    space = ec.install(gravity=(0, -900))
    crushed = set()
    for _ in range(3 * rate):
        esper.process(1 / rate)
        crushed |= {
            frozenset((hit.first, hit.second)) for hit in space.collisions
            if hit.outcome is ec.Outcome.CRUSHED
        }  # fmt: skip

    assert crushed
    assert all(presser in pair for pair in crushed)
    assert gaps(crates[-1], wall)[0] == pytest.approx(0, abs=1e-9)


def squeeze(seed):
    """Play crates, some of which grow, around one that presses; return how deep walls have them."""
    rng = random.Random(seed)
    dim = rng.choice([2, 3])
    axis = rng.randrange(dim)

    def along(x, y=0.0):
        return [x if k == axis else y for k in range(dim)]

    end = 0.0
    walls, crates = [], []
    for part in rng.choice(["wcpcw", "wcpc", "cpcw", "pcw", "wcp"]):
        if part == "w":
            walls.append(box(along(end + 5), along(5, 40)))
            end += 10
        elif part == "p":
            end += rng.choice([0, 1, 4])
            speed, growth = rng.choice([(30, 0), (-30, 0), (0, 30), (0, 7.7), (20, 10), (-10, 20)])
            motion = [ec.Velocity(*along(speed)), ec.Growth(*along(growth))]
            box(along(end + 5), along(5, 5), *motion[(speed == 0) : 1 + (growth != 0)])
            end += 10
        for _ in range(rng.randint(0, 3) if part == "c" else 0):
            half = rng.choice([2.0, 3.0])
            end += rng.choice([0, 0, 1, 3.3])
            crate = mover(
                along(end + half), along(half, 2), along(rng.choice([0, 0, 5, -8])),
                rng.choice([ec.Slide, ec.Slide, ec.Stop, ec.Push])(),
                ec.Mass(rng.choice([0.1, 1, 1, 10])),
            )  # fmt: skip
            if rng.random() < 0.2:
                esper.add_component(crate, ec.Growth(*along(rng.choice([1, 4]))))
            else:
                crates.append(crate)
            end += 2 * half
    ec.install(dim=dim, gravity=along(rng.choice([0, 0, -200])))
    rate = rng.choice([30, 60, 144])
    deepest = 0.0
    for _ in range(rate):
        esper.process(1 / rate)
        for crate in crates:
            deepest = min([deepest, *(gaps(crate, wall, dim)[axis] for wall in walls)])
    return deepest


def test_no_crate_between_others_is_pressed_into_a_wall(volume):
    for seed in range(volume(40, 160, 4000, least=8)):
        assert in_a_world(f"squeeze {seed}", lambda seed=seed: squeeze(seed)) > -1e-6, seed


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("first", ["slow", "fast", "left"])
def test_of_two_walls_that_grow_the_slower_one_drives_the_crates_between(first, sign):
    #   +----++---++---++---++----+
    #   |slow ||  ||   ||   |fast |      the left crate goes left, into the slow wall
    #   +----++---++---++---++----+
    parts = {
        "left": lambda: mover((-2 * sign, 0), (1, 1), (-10 * sign, 0), ec.Slide()),
        "middle": lambda: mover((0, 0), (1, 1), (0, 0), ec.Slide()),
        "slow": lambda: box((-4 * sign, 0), (1, 4), ec.Growth(0.5, 0)),
        "fast": lambda: box((4 * sign, 0), (1, 4), ec.Growth(4, 0)),
        "right": lambda: mover((2 * sign, 0), (1, 1), (0, 0), ec.Slide()),
    }
    made = {name: parts[name]() for name in sorted(parts, key=lambda name: name != first)}
    space = ec.install()

    esper.process(0.25)

    crushed = [hit for hit in space.collisions if hit.outcome is ec.Outcome.CRUSHED]
    assert {(hit.first, hit.second) for hit in crushed} == {
        tuple(sorted((made["fast"], made["right"])))
    }
    for x, name in ((-2, "left"), (0, "middle"), (2, "right")):
        assert position(made[name]) == (pytest.approx((x + 0.5 / 4) * sign), 0)
