"""Soft crowds: members that overlap are moved apart, and never into or through anything else."""

from __future__ import annotations

import math
import random
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.pressing import HALF, SPEED, Crowd, swarm
from tests.scenes import (
    Falls,
    Gravity,
    another_world,
    box,
    columns,
    gaps,
    mover,
    pairs_inside,
    position,
    set_velocity,
    velocity,
)
from tests.system.test_compiled_and_pure import in_both_implementations

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60
EXACT = 1e-6  # of a length: displacements are rounded to 2**-32 of a size


def member(centre, half=(1, 1), speed=60.0, walk=None, *more):
    """Create a member of a crowd that stands, or walks, and slides along walls."""
    still = (0,) * len(centre)
    return mover(centre, half, walk or still, ec.Slide(), ec.Separate(speed), *more)


def soft(scene, speed=SPEED):
    """Create a scene whose boxes are members of a soft crowd, and return it."""
    crowd = Crowd(scene)
    for entity, _ in list(esper.get_component(ec.Velocity)):
        esper.add_component(entity, ec.Separate(speed))
    return crowd


def overlaps(entities, half, depth=EXACT):
    """Return how many pairs of equal boxes overlap by more than a depth."""
    centres = columns(entities, ec.Position)
    return len(pairs_inside(centres - half, centres + half, depth))


def take(n_steps):
    for _ in range(n_steps):
        esper.process(DT)


@pytest.mark.parametrize("dim", [2, 3])
def test_two_members_part_at_the_speed_of_each(dim):
    depth = (0,) * (dim - 2)
    one = member((0, 0, *depth), (2,) * dim, 30)
    other = member((1, 0, *depth), (2,) * dim, 30)
    ec.install(dim=dim)
    ways = []
    for _ in range(5):
        before = position(one)[0], position(other)[0]
        take(1)
        ways.append((position(one)[0] - before[0], position(other)[0] - before[1]))

    # 3 deep: each goes half a unit a step, for three steps.
    assert ways[:3] == [pytest.approx((-0.5, 0.5))] * 3
    assert ways[3:] == [pytest.approx((0, 0), abs=EXACT)] * 2
    assert position(other)[0] - position(one)[0] == pytest.approx(4)
    assert position(one, dim)[1:] == (0,) * (dim - 1)
    assert velocity(one, dim) == velocity(other, dim) == (0,) * dim


def test_a_pair_of_which_one_has_it_is_hard():
    one, other = member((-5, 0), walk=(60, 0)), mover((5, 0), (1, 1), (-60, 0), ec.Slide())
    space = ec.install()
    take(20)

    assert max(gaps(one, other)) >= 0
    assert space.explain(one, other).verdict is ec.Verdict.SOLID


@pytest.mark.parametrize("n", [2, 3, 60])
def test_members_in_one_point_part_to_all_sides_in_the_same_way_each_time(n):
    runs = []
    for _ in range(2):
        with another_world(f"{n} in one point"):
            crowd = [member((50, 50), (1, 1), 120) for _ in range(n)]
            ec.install()
            take(60)
            runs.append(columns(crowd, ec.Position))
            assert overlaps(crowd, 1, 0.02) == 0

    assert (runs[0] == runs[1]).all()
    if n == 60:
        width, height = np.ptp(runs[0], axis=0)
        assert 1 / 2 < width / height < 2
        assert max(width, height) < 40  # close together: they need 16


@pytest.mark.slow_in_python
def test_hundreds_of_members_in_one_point_part_without_a_report(implementation):
    n = 400 if implementation == "compiled" else 230
    crowd = [member((0, 0), (1, 1), 240) for _ in range(n)]
    space = ec.install()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        take(1)
        assert space.stats.skipped > 0
        take(120 if implementation == "compiled" else 15)

    assert space.reports == []
    assert space.stats.skipped == 0
    width, height = np.ptp(columns(crowd, ec.Position), axis=0)
    assert 1 / 2 < width / height < 2
    if implementation == "compiled":
        assert overlaps(crowd, 1, 0.25) == 0
        assert max(width, height) < 60  # close together: they need 40


@pytest.mark.parametrize("wrap", [None, (64, 64)])
def test_members_at_mirrored_places_move_mirrored_if_some_pairs_have_no_room(wrap):
    rng = random.Random(4)
    crowd = []
    for _ in range(115):
        x, y = (rng.randint(-1100, 1100) / 1024 for _ in range(2))
        crowd += [(x, y, len(crowd)), (-x, -y, len(crowd) + 1)]
    of = {n: member((x, y), (1, 1), 240) for x, y, n in rng.sample(crowd, len(crowd))}
    space = ec.install(wrap=wrap)
    take(1)

    assert space.stats.skipped > 0
    for n in range(0, len(crowd), 2):
        for a, b in zip(position(of[n]), position(of[n + 1]), strict=True):
            assert (a + b + 32) % 64 == pytest.approx(32, abs=EXACT if wrap else 0.0)


@pytest.mark.parametrize("speed", [3, 0])
@pytest.mark.parametrize("wall_first", [True, False])
def test_an_impact_of_a_displaced_member_has_the_closing_speed_of_its_own_velocity(
    wall_first, speed
):
    if wall_first:
        box((2.0625, 0), (1, 4))
    walker = member((0, 0), (1, 1), 60, (speed, 0))
    if not wall_first:
        box((2.0625, 0), (1, 4))
    member((-1, 0), (1, 1), 60)
    space = ec.install()

    esper.process(1 / 64)

    (hit,) = space.collisions
    assert hit.closing_speed == speed
    assert position(walker) == (0.0625, 0)


@pytest.mark.parametrize("walk", [0.0, 90.0])
@pytest.mark.parametrize("speed", [30.0, 240.0, math.inf])
def test_no_displacement_exceeds_its_speed_and_no_velocity_changes(walk, speed):
    rng = random.Random(3)
    crowd = [member((rng.uniform(-9, 9), rng.uniform(-9, 9)), (1, 1.5), speed) for _ in range(40)]
    ec.install()
    for _ in range(30):
        before = columns(crowd, ec.Position)
        for entity, place in zip(crowd, before.tolist(), strict=True):
            far = math.hypot(*place) or 1.0
            set_velocity(entity, -walk * place[0] / far, -walk * place[1] / far)
        walks = columns(crowd, ec.Velocity)
        take(1)
        assert (columns(crowd, ec.Velocity) == walks).all()
        moved = np.linalg.norm(columns(crowd, ec.Position) - before - walks * DT, axis=1)
        assert moved.max() <= min(speed * DT, 3.0) * (1 + 1e-9)


@pytest.mark.parametrize("response", [ec.Slide, ec.Stop, ec.Push, ec.Deflect])
@pytest.mark.parametrize("speed", [60.0, math.inf])
def test_no_member_is_ever_inside_a_wall(response, speed, implementation):
    n, side = (120, 20.0) if implementation == "compiled" else (30, 10.0)
    rng = random.Random(5)
    walls = [
        box(centre, half)
        for centre, half in [
            ((-side - 0.5, 0), (0.5, side + 1)), ((side + 0.5, 0), (0.5, side + 1)),
            ((0, -side - 0.5), (side + 1, 0.5)), ((0, side + 0.5), (side + 1, 0.5)),
            ((0, 3), (side / 2, 0.001)),
        ]
    ]  # fmt: skip
    crowd = []
    while len(crowd) < n:
        x, y = rng.uniform(1 - side, side - 1), rng.uniform(1 - side, side - 1)
        if abs(x) < side / 2 + 1 and abs(y - 3) < 1.1:
            continue
        crowd.append(mover((x, y), (1, 1), (0, 0), response(), ec.Separate(speed)))
    ec.install()
    everything = np.array(crowd + walls)
    sides = set()
    for step in range(40):
        for entity in crowd:
            if response is not ec.Deflect or step == 0:
                set_velocity(entity, rng.uniform(-80, 80), rng.uniform(-80, 80))
        take(1)
        centres = columns(everything, ec.Position)
        halves = columns(everything, ec.Extents)
        pairs = pairs_inside(centres - halves, centres + halves, 1e-11)
        assert ((pairs >= len(crowd)).all(axis=1) | (pairs < len(crowd)).all(axis=1)).all()
        assert np.abs(centres[: len(crowd)]).max() <= side - 1 + 1e-11
        sides |= {bool(y > 3) for x, y in centres[: len(crowd)].tolist() if abs(x) < side / 2 - 1}
    assert len(sides) == 2


def test_the_order_of_creation_changes_no_bit(implementation):
    n = 60 if implementation == "compiled" else 15
    rng = random.Random(7)
    starts = [(rng.uniform(-8, 8), rng.uniform(-8, 8)) for _ in range(n)]
    runs = []
    for seed in range(3):
        order = list(range(n))
        random.Random(seed).shuffle(order)
        with another_world(f"order {seed}"):
            made = {i: member(starts[i], (1, 1), 60, (-starts[i][0], -starts[i][1])) for i in order}
            ec.install()
            take(20)
            runs.append(columns([made[i] for i in range(n)], ec.Position))

    assert (runs[0] == runs[1]).all()
    assert (runs[0] == runs[2]).all()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("side", [1, -1])
def test_who_would_be_in_one_point_as_the_step_ends_goes_back_to_its_side(side, order):
    made = {n: member((n * side, 0), (1, 1), 60, (-n * side / DT, 0)) for n in (4, 8)[::order]}
    space = ec.install()

    esper.process(DT)

    assert space.position_of(made[8])[0] == -space.position_of(made[4])[0] == side * 60 * DT


def test_compiled_and_plain_kernels_give_the_same_bits(monkeypatch):
    def run():
        runs = []
        for dim in (2, 3):
            rng = random.Random(11)
            with another_world(f"{dim}"):
                for _ in range(4):
                    box([rng.uniform(-9, 9) for _ in range(dim)], (0.5, 3, 1)[:dim])
                crowd = [
                    member([rng.uniform(-6, 6) for _ in range(dim)],
                           [rng.uniform(0.5, 2) for _ in range(dim)],
                           rng.choice([20, 90, math.inf]),
                           [rng.uniform(-60, 60) for _ in range(dim)], ec.Mass(rng.uniform(1, 9)))
                    for _ in range(24)
                ]  # fmt: skip
                crowd += [member((1,) * dim, (1,) * dim) for _ in range(6)]
                space = ec.install(dim=dim)
                events = 0
                for _ in range(25):
                    take(1)
                    events += len(space.contact_array) + len(space.collision_array)
                runs.append((columns(crowd, ec.Position, dim).tobytes(), events))
        return runs

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain


@pytest.mark.parametrize("dim", [2, 3])
def test_members_part_across_the_edge_of_a_world_that_wraps(dim):
    rest = (5,) * (dim - 1)
    one, other = member((0.25, *rest), (1,) * dim), member((19.5, *rest), (1,) * dim)
    space = ec.install(ec.Space(dim=dim, wrap=(20.0, *(None,) * (dim - 1))), dim=dim)
    take(10)

    apart = (position(one)[0] - position(other)[0]) % 20
    assert apart == pytest.approx(2, abs=EXACT)
    space.check()


def test_members_beside_a_carrier_part_in_a_first_step_before_which_was_a_restore():
    # Bodies that were new before the restore and after it were new twice: each board a carrier
    # with their own velocities, and the second time the displacement was taken for their own.
    member((0, 0))
    member((1, 0))
    box((0, 9), (1, 1), ec.Carry())
    space = ec.install()

    space.restore(space.snapshot())
    esper.process(DT)

    assert space.positions()[:2, 0].tolist() == pytest.approx([-0.5, 1.5])


@pytest.mark.parametrize("damping", [None, 1.0])
def test_no_displacement_is_left_in_new_members_far_from_a_slope_and_a_carrier(damping):
    box((300, 0), (5, 0.5), ec.Carry())
    box((600, 0), (5, 5), ec.Slope("right"))
    ec.install(gravity=(0, -10))
    take(3)
    drag = () if damping is None else (ec.Damping(damping),)
    both = [
        member((0.5 * n, 0), (0.6, 0.6), 30.0, (1, 0), ec.GravityScale(0.0), *drag)
        for n in range(2)
    ]

    take(1)

    for one in both:
        assert velocity(one) == pytest.approx((math.exp(-(damping or 0) * DT), 0), rel=1e-12)


def test_a_step_that_fails_leaves_no_displacement_in_a_velocity():
    class Angry:
        pass

    def fail(impact):
        raise MemoryError("no room")

    one, other = member((0, 0), (1, 1), 60, (1, 2)), member((1, 0), (1, 1), 60, (3, 4))
    mover((50, 0), (1, 1), (0, 0), Angry())
    mover((50.5, 3), (1, 1), (0, -600), Angry())
    space = ec.install()
    space.respond_with(Angry, fail)
    with pytest.raises(MemoryError):
        take(1)

    assert (position(one), velocity(one)) == ((0, 0), (1, 2))
    assert (position(other), velocity(other)) == ((1, 0), (3, 4))


def test_a_response_of_the_game_sees_the_own_velocity_of_a_member():
    class Bomb:
        pass

    seen = []

    def explode(impact):
        seen.append(esper.component_for_entity(one, ec.Velocity).xy)
        return ec.DEFAULT

    box((-4, 0), (1, 20), Bomb())
    one = member((-1.9, 0), (1, 1), math.inf, (-30, 3))
    member((-1.2, 0.8), (1, 1), math.inf)
    ec.install().respond_with(Bomb, explode)
    take(1)

    assert seen == [(-30, 3)]
    assert velocity(one) == (0, 3)
    assert position(one)[1] < 0.05  # and goes on being moved along the wall


def test_contacts_of_members_are_told_when_a_step_ends_and_collisions_are_not():
    one, other = member((-3, 0), speed=6, walk=(60, 0)), member((0, 0.25), speed=6)
    space = ec.install()
    began, ended, met = [], [], []
    for _ in range(12):
        take(1)
        began += space.contacts_began
        ended += space.contacts_ended
        met += space.collisions
        inside = max(gaps(one, other)) < -EXACT
        assert [c.other(one) for c in space.contacts(one)] == [other] * inside

    assert [(c.first, c.second, c.kind, c.time) for c in began] == [
        (one, other, ec.ContactKind.CROSSING, 1.0)
    ]
    assert [(c.reason, c.time) for c in ended] == [(ec.EndReason.SEPARATED, 1.0)]
    assert met == []


def test_a_contact_ends_and_a_hard_one_begins_when_a_member_loses_it():
    one, other = member((0, 0), speed=1), member((1, 0), speed=1)
    space = ec.install()
    take(1)
    esper.remove_component(other, ec.Separate)
    take(1)

    assert [c.reason for c in space.contacts_ended] == [ec.EndReason.FILTER_CHANGED]
    before = position(one)
    take(2)
    assert position(one) == before  # inside each other, as ever, and nothing moves them


@pytest.mark.parametrize(
    "parts", [(ec.Sensor(),), (ec.Filter(group=-1),), (ec.Filter(2, ~2),)], ids=repr
)
def test_sensors_and_bodies_that_never_meet_are_not_moved_apart(parts):
    one, other = member((0, 0), (1, 1), 60, None, *parts), member((1, 0), (1, 1), 60, None, *parts)
    ec.install()
    take(3)

    assert (position(one), position(other)) == ((0, 0), (1, 0))


def test_members_that_a_game_tells_apart_are_not_moved_apart():
    one, other = member((0, 0)), member((1, 0))
    space = ec.install()
    space.filter_pairs(lambda a, b: False)
    take(3)

    assert (position(one), position(other)) == ((0, 0), (1, 0))


def test_a_resting_member_is_moved_by_one_that_comes_long_after():
    resting = member((0, 0))
    space = ec.install()
    take(40)
    assert space.stats.asleep == 0
    member((-3, 0.1), walk=(60, 0))
    take(10)

    assert position(resting)[0] > 0.1


def test_members_on_a_lift_go_along_and_part():
    lift = mover((0, -2), (30, 1), (12, 6), ec.Carry())
    one, other = member((0, 0), (1, 1), 60), member((0.5, 0), (1, 1), 60)
    for entity in (one, other):
        esper.add_component(entity, Falls())
    esper.add_processor(Gravity(-100.0), priority=200)
    ec.install()
    take(20)

    middle = (position(one)[0] + position(other)[0]) / 2
    assert gaps(one, other)[0] == pytest.approx(0, abs=1e-5)
    assert middle - 0.25 == pytest.approx(position(lift)[0], abs=0.25)
    assert velocity(one)[0] == pytest.approx(0, abs=1e-9)
    assert position(one)[1] - position(lift)[1] == pytest.approx(2)


def test_a_step_of_no_time_moves_nobody():
    one, other = member((0, 0)), member((1, 0))
    ec.install()
    esper.process(0.0)

    assert (position(one), position(other)) == ((0, 0), (1, 0))


def test_members_without_size_are_harmless():
    points = [member((0, 0), (0, 0)), member((0, 0), (0, 2)), member((0, 0), (1, 1))]
    ec.install()
    take(5)

    assert all(math.isfinite(c) for entity in points for c in position(entity))
    assert position(points[0]) == (0, 0)


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e60, 1e140])
def test_members_of_any_scale_part(scale):
    one, other = (
        member((0, 0), (scale, scale), math.inf),
        member((scale, 0), (scale, scale), math.inf),
    )
    ec.install()
    take(1)

    assert position(other)[0] - position(one)[0] == pytest.approx(2 * scale)


def test_a_crowd_costs_no_swept_tests_and_pairs_in_proportion_to_its_members(implementation):
    counts = []
    for n in (100, 800) if implementation == "compiled" else (16, 64):
        with another_world(f"crowd of {n}"):
            crowd = soft(swarm(n))
            space = ec.install()
            for _ in range(150 if implementation == "compiled" else 30):
                crowd.walk()
                assert space.stats.sweeps == space.stats.impacts == 0
            counts.append(space.stats.pairs / n)

    assert counts[1] < 2 * counts[0]


@pytest.mark.slow_in_python
def test_members_that_walk_to_one_point_overlap_little_and_do_not_tremble(implementation):
    n, n_steps = (200, 300) if implementation == "compiled" else (16, 120)
    crowd = soft(swarm(n))
    ec.install()
    places = []
    for _ in range(n_steps):
        crowd.walk()
        places.append([place.xy for place in crowd.places])
    last = np.array(places[-30:])
    pairs = np.abs(last[-1][:, None] - last[-1][None])
    depth = (2 * HALF - pairs).min(axis=2)[np.triu_indices(n, 1)]

    assert depth[depth > 0].mean() < 0.2 * 2 * HALF
    # From step to step no member changes its course by more than a hundredth of its size.
    swings = np.linalg.norm(np.diff(last, 2, axis=0), axis=2)
    assert swings.mean() < 0.01 * 2 * HALF


def test_a_member_that_cannot_be_moved_is_reported_and_a_pair_explained(implementation):
    class Ghost:
        pass

    ghost = mover((0, 0), (1, 1), (1, 0), ec.Separate())
    one, other = member((10, 0)), member((11, 0))
    box((30, 0), (1, 1), ec.Separate())  # a tower among units: fine
    space = ec.install()
    take(1)

    assert [(f.cause, f.entities) for f in space.doctor()] == [("separate_idle", (ghost,))]
    answer = space.explain(one, other)
    assert answer.verdict is ec.Verdict.CROSSING
    assert "both have Separate" in str(answer)


def test_the_components_of_a_game_are_moved_too():
    class Pose:
        def __init__(self, x, y):
            self.left, self.top = x, y

    components = ec.Components(position=(Pose, "left", "top"))
    poses = [Pose(0, 0), Pose(1, 0)]
    for pose in poses:
        esper.create_entity(
            pose, ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide(), ec.Separate(math.inf)
        )
    ec.install(components=components)
    take(1)

    assert poses[1].left - poses[0].left == pytest.approx(2)
