"""What deflect, push, slide and stop do to a pair: exact numbers, one behaviour each.

Every scene is one pair (or a few far from each other) and one step of a second.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, gaps, mover, position, set_velocity, velocity

pytestmark = [pytest.mark.usefixtures("world", "implementation"), pytest.mark.quick]


def meet(left, right, left_speed=(4, 0), right_speed=(0, 0)):
    """Let two bodies of half size 1 meet at half a step; return their entities and the event."""
    closing = left_speed[0] - right_speed[0]
    reach = 2 + closing / 2
    first = mover((0, 0), (1, 1), left_speed, *left)
    second = mover((reach, 0), (1, 1), right_speed, *right)
    space = ec.install()
    esper.process(1.0)
    (hit,) = space.collisions
    assert hit.time == 0.5
    return first, second, hit


# Against static and kinematic bodies ---------------------------------------------------


@pytest.mark.parametrize(
    ("responses", "after"),
    [
        ([ec.Stop()], (0, 0)),
        ([ec.Slide()], (0, 3)),
        ([ec.Push()], (0, 5)),
        ([ec.Deflect()], (-4, 3)),
        ([ec.Deflect(0.5)], (-2, 3)),
        ([ec.Deflect(0)], (0, 3)),
        # Of several the first in stop, push, slide, deflect wins.
        ([ec.Stop(), ec.Push(), ec.Slide(), ec.Deflect()], (0, 0)),
        ([ec.Deflect(), ec.Slide(), ec.Push()], (0, 5)),
        ([ec.Deflect(), ec.Slide()], (0, 3)),
    ],
    ids=repr,
)
def test_against_a_wall(responses, after):
    runner = mover((0, 0), (1, 1), (4, 3), *responses)
    wall = box((4, 0), (1, 50), ec.Slide())  # without Velocity it is not dynamic
    space = ec.install()

    esper.process(1.0)

    assert velocity(runner) == after
    assert position(runner) == (2 + after[0] / 2, 1.5 + after[1] / 2)
    assert position(wall) == (4, 0)
    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.RESOLVED]


@pytest.mark.parametrize(
    ("response", "after"),
    [
        (ec.Stop(), (-2, 1)),  # it sticks to the paddle
        (ec.Slide(), (-2, 4)),
        (ec.Push(), (-2, 1 + 5)),  # relative to the paddle (4, 3), so 5 along the way it slid
        (ec.Deflect(), (-6, 4)),  # -2 - (2 - -2)
        (ec.Deflect(0.5), (-4, 4)),
    ],
    ids=repr,
)
def test_against_a_moving_paddle(response, after):
    runner, paddle, hit = meet([response], [], (2, 4), (-2, 1))

    assert velocity(runner) == after
    assert velocity(paddle) == (-2, 1)
    assert hit.closing_speed == 4
    assert position(runner)[1] == 2 + after[1] / 2


@pytest.mark.parametrize("response", [ec.Stop, ec.Slide, ec.Push])
def test_after_a_slide_the_normal_velocity_is_exactly_the_partners(response):
    # No sum of 0.1 and 0.7 comes near: it is a copy.
    runner = mover((0, 0), (1, 1), (0.7, 0.3), response())
    mover((2.2, 0), (1, 1), (0.1, 0.0))
    ec.install()

    esper.process(1.0)

    assert velocity(runner)[0] == 0.1


# Two that yield ------------------------------------------------------------------------


def bounce(restitution: float, mass: float = 1) -> list[object]:
    return [ec.Deflect(restitution), ec.Mass(mass)]


# Two bodies with their velocities, and those after they have met.
PAIRS = {
    "an infinite mass is kinematic": (
        [ec.Slide(), ec.Mass(math.inf)], (4, 0), [ec.Slide()], (0, 0), (4, 0), (4, 0),
    ),
    "one without response is not dynamic": ([], (4, 0), [ec.Deflect()], (0, 0), (4, 0), (8, 0)),
    "equal elastic ones swap bit for bit": (
        [ec.Deflect()], (3, 0.1), [ec.Deflect()], (-1, 0.7), (-1, 0.1), (3, 0.7),
    ),
    # v1' = v1 - (1 + e) m2 / (m1 + m2) (v1 - v2)
    "1 meets 3, elastic": (bounce(1), (4, 0), bounce(1, 3), (0, 0), (-2, 0), (2, 0)),
    "3 meets 1, elastic": (bounce(1, 3), (4, 0), bounce(1), (0, 0), (2, 0), (6, 0)),
    "1 meets 3, without bounce": (bounce(0), (4, 0), bounce(0, 3), (0, 0), (1, 0), (1, 0)),
    "3 meets 1, without bounce": (bounce(0, 3), (4, 0), bounce(0), (0, 0), (3, 0), (3, 0)),
    "1 meets 3, half": (bounce(0.5), (4, 0), bounce(0.5, 3), (0, 0), (-0.5, 0), (1.5, 0)),
    "the larger restitution counts": (bounce(0.25), (4, 0), bounce(0.5), (0, 0), (1, 0), (3, 0)),
    **{
        f"that of the other one counts for a {name}": (
            bounce(0.25), (4, 0), [response, ec.Mass(3)], (0, 0), (0.25, 0), (1.25, 0),
        )
        for name, response in (("slide", ec.Slide()), ("push", ec.Push()), ("stop", ec.Stop()))
    },
    # Stop takes the tangential velocity that the other one has before, which keeps its own.
    "stop takes the partner's": ([ec.Stop()], (4, 3), [ec.Slide()], (0, 1), (2, 1), (2, 1)),
    # Each would take the other's velocity; neither can, so both get the mean by mass.
    "two that stop": (
        [ec.Stop()], (4, 1), [ec.Stop(), ec.Mass(3)], (0, -1), (1, -0.5), (1, -0.5),
    ),
    # Relative velocity (4, -3): its speed 5 goes down; the crate keeps its own tangential part.
    "push is relative to the partner": (
        [ec.Push()], (4, 0), [ec.Slide()], (0, 3), (2, -2), (2, 3),
    ),
    # The partner is elastic, so e = 1 and Push has no part of its own.
    "push where the pair bounces": ([ec.Push()], (4, 3), [ec.Deflect()], (0, 0), (0, 3), (4, 0)),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_two_that_yield(pair):
    left, left_speed, right, right_speed, *after = PAIRS[pair]

    first, second, _ = meet(left, right, left_speed, right_speed)

    assert [velocity(first), velocity(second)] == after


def test_push_wins_no_energy_from_a_partner_that_is_dynamic():
    # Its speed of 5 relative to the crate would be 6 upwards: together 45 where there were 33.
    first, second, _ = meet([ec.Push()], [ec.Slide()], (4, 4), (0, 1))

    assert velocity(first)[0] == 2
    assert velocity(first)[1] == pytest.approx(24**0.5, rel=1e-15)
    assert velocity(second) == (2, 1)
    assert sum(v * v for v in (*velocity(first), *velocity(second))) <= 33


def test_two_that_push_do_not_drive_each_other_to_higher_speeds():
    first = mover((-7, 0), (6, 6), (60, 1), ec.Push())
    second = mover((7, 0), (6, 6), (-60, -1), ec.Push())
    ec.install()

    for _ in range(10):
        esper.process(1 / 60)

    assert velocity(first) == pytest.approx((0, 60.00833275470999), rel=1e-14)
    assert velocity(second) == pytest.approx((0, -60.00833275470999), rel=1e-14)


def test_a_heavy_body_that_stops_does_not_take_all_the_speed_of_a_light_one():
    heavy, light, _ = meet([ec.Stop(), ec.Mass(100)], [ec.Slide()], (2, 0), (-2, 1.5))

    energy = [m * (x * x + y * y) for m, (x, y) in ((100, velocity(heavy)), (1, velocity(light)))]
    assert sum(energy) <= 100 * 4 + 6.25
    assert 0 < velocity(heavy)[1] < 1.5


def test_a_body_that_stops_takes_no_tangential_velocity_where_the_pair_loses_no_energy():
    # The rounding of a difference of energies has a root of up to 1e-7 of a speed.
    rng = random.Random(1)
    stopping = []
    for y in range(0, 4000, 40):
        mover((0, y), (1, 1), (rng.uniform(5, 9), rng.uniform(-9, 9)), ec.Deflect(), ec.Mass(0.5))
        stopping.append(mover((5, y), (1, 9), (0, 0), ec.Stop(), ec.Mass(10)))
    ec.install()

    esper.process(1.0)

    assert all(velocity(body)[0] > 0 for body in stopping)
    assert [velocity(body)[1] for body in stopping] == [0] * 100


def test_push_in_three_dimensions_keeps_the_direction_along_the_wall():
    runner = mover((0, 0, 0), (1, 1, 1), (4, 1, 2), ec.Push())
    box((4, 0, 0), (1, 50, 50))
    ec.install(dim=3)

    esper.process(1.0)

    speed = math.sqrt(21)
    along = (0, speed / math.sqrt(5), 2 * speed / math.sqrt(5))
    assert velocity(runner, 3) == pytest.approx(along, rel=1e-15)


# Nobody yields, sensors ----------------------------------------------------------------


def test_two_bodies_that_are_not_dynamic_cross_freely():
    bullet = mover((0, 0), (0.5, 0.5), (10, 0))
    wall = box((5, 0), (1, 1))
    space = ec.install()

    esper.process(1.0)

    (hit,) = space.collisions
    assert (hit.first, hit.second, hit.outcome) == (bullet, wall, ec.Outcome.CROSSED)
    assert (hit.time, hit.exit) == (0.35, 0.65)
    assert not hit.resolved
    assert position(bullet) == (10, 0)


@pytest.mark.parametrize("response", [ec.Stop, ec.Push, ec.Slide, ec.Deflect])
def test_a_sensor_beats_any_response(response):
    ghost = mover((0, 0), (0.5, 0.5), (10, 0), ec.Sensor(), response())
    box((5, 0), (1, 1))
    space = ec.install()

    esper.process(1.0)

    assert [hit.outcome for hit in space.collisions] == [ec.Outcome.CROSSED]
    assert velocity(ghost) == (10, 0)
    assert position(ghost) == (10, 0)


# Laws ----------------------------------------------------------------------------------


def pairs_that_meet(n, left, right, seed):
    """Build `n` pairs far from each other that meet within a step of a second."""
    rng = random.Random(seed)
    found = []
    for i in range(n):
        v1 = rng.uniform(0.1, 9)
        v2 = rng.uniform(-9, v1 - 0.05)
        gap = rng.uniform(0.1, 0.9) * (v1 - v2)
        y = 100.0 * i
        first = mover((0, y), (1, 1), (v1, rng.uniform(-1, 1)), *left(rng))
        second = mover((2 + gap, y), (1, 1), (v2, rng.uniform(-1, 1)), *right(rng))
        found.append((first, second))
    return found


@pytest.mark.parametrize("restitution", [0, 0.3, 1])
def test_momentum_is_kept_to_two_ulp(restitution):
    def make(rng):
        mass = ec.Mass(rng.choice([1, 0.1, 3, 7.7, 1e3]))
        return [ec.Deflect(restitution), mass]

    pairs = pairs_that_meet(400, make, make, seed=5)
    entities = [entity for pair in pairs for entity in pair]
    masses = {e: esper.component_for_entity(e, ec.Mass).value for e in entities}
    before = {e: velocity(e)[0] for e in entities}
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == 400
    for first, second in pairs:
        pair = (first, second)
        old = [Fraction(masses[e]) * Fraction(before[e]) for e in pair]
        new = [Fraction(masses[e]) * Fraction(velocity(e)[0]) for e in pair]
        size = sum(abs(part) for part in old)
        assert abs(sum(new) - sum(old)) <= 2 * Fraction(2) ** -52 * size


@pytest.mark.parametrize("restitution", [0, 0.3, 0.9, 1])
def test_energy_never_rises_in_the_frame_of_a_kinematic_partner(restitution):
    pairs = pairs_that_meet(400, lambda _: [ec.Deflect(restitution)], lambda _: [], seed=6)
    before = {first: velocity(first)[0] for first, _ in pairs}
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == 400
    for ball, paddle in pairs:
        frame = Fraction(velocity(paddle)[0])
        assert abs(Fraction(velocity(ball)[0]) - frame) <= abs(Fraction(before[ball]) - frame)


@pytest.mark.parametrize("drifts", [(0, 0), (100, 100), (0, -20)])  # of ball and paddle
def test_a_push_wins_nothing_from_a_kinematic_partner(drifts):
    # A root and a quotient are rounded: half of the speeds came out an ulp too high.
    pairs = pairs_that_meet(400, lambda _: [ec.Push()], lambda _: [], seed=6)
    for ball, paddle in pairs:
        esper.component_for_entity(paddle, ec.Extents).set(1, 30)
        for entity, drift in zip((ball, paddle), drifts, strict=True):
            set_velocity(entity, velocity(entity)[0], velocity(entity)[1] + drift)
    before = {entity: velocity(entity) for pair in pairs for entity in pair}
    space = ec.install()

    esper.process(1.0)

    def energy(speed, frame):
        return sum((Fraction(v) - Fraction(u)) ** 2 for v, u in zip(speed, frame, strict=True))

    assert len(space.collisions) == 400
    for ball, paddle in pairs:
        frame = velocity(paddle)
        old, new = energy(before[ball], frame), energy(velocity(ball), frame)
        assert old * (1 - Fraction(2) ** -44 * (1 + drifts[0])) <= new <= old


@pytest.mark.parametrize("restitution", [0, 0.3, 0.9, 1])
def test_energy_of_a_dynamic_pair_rises_by_rounding_only(restitution):
    def make(rng):
        return [ec.Deflect(restitution), ec.Mass(rng.choice([1, 0.5, 3, 10]))]

    pairs = pairs_that_meet(400, make, make, seed=7)
    mass = {e: esper.component_for_entity(e, ec.Mass).value for pair in pairs for e in pair}
    before = {e: velocity(e)[0] for e in mass}
    ec.install()

    esper.process(1.0)

    for pair in pairs:
        old = sum(mass[e] * before[e] ** 2 for e in pair)
        new = sum(mass[e] * velocity(e)[0] ** 2 for e in pair)
        assert new <= old * (1 + 1e-14)
        if restitution == 1:
            assert new == pytest.approx(old, rel=1e-14)


@pytest.mark.parametrize("restitution", [0, 0.3, 1])
def test_no_pair_ends_inside_and_none_still_closes(restitution):
    def make(rng):
        return [rng.choice([ec.Deflect(restitution), ec.Slide(), ec.Push(), ec.Stop()])]

    pairs = pairs_that_meet(400, make, make, seed=8)
    ec.install()

    esper.process(1.0)

    for first, second in pairs:
        assert max(gaps(first, second)) >= 0
        assert velocity(first)[0] <= velocity(second)[0]


def test_which_entity_has_the_lower_id_does_not_matter():
    # The same pair twice, once made from left to right and once from right to left.
    where = [((0, 0), (4.1, 0.3)), ((3.7, 0.1), (-0.9, 0.2))]
    made = {}
    for turned in (0, 1):
        for i in (1, 0) if turned else (0, 1):
            (x, y), speed = where[i]
            made[turned, i] = mover(
                (x, y + 64 * turned), (1, 1), speed, ec.Deflect(0.8), ec.Mass(1 + 2 * i)
            )
    ec.install()

    esper.process(1.0)

    for i in (0, 1):
        assert velocity(made[0, i]) == pytest.approx(velocity(made[1, i]), rel=1e-15)
        assert position(made[0, i])[0] == pytest.approx(position(made[1, i])[0], rel=1e-15)


def test_a_velocity_set_by_the_game_is_taken_as_it_is():
    runner = mover((0, 0), (1, 1), (4, 3), ec.Slide())
    box((4, 0), (1, 50))
    ec.install()
    esper.process(1.0)

    set_velocity(runner, -4, 0)
    esper.process(0.5)

    assert position(runner) == (0, 3)
    assert velocity(runner) == (-4, 0)
