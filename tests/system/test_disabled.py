"""Bodies that the game switches off and on again: what the steps between skip."""

from __future__ import annotations

import math
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

EVERYWHERE = (-1000.0, -1000.0), (1000.0, 1000.0)


class Bullet:
    """A component of the game."""


def switch_off(entity):
    esper.add_component(entity, ec.Disabled())


def switch_on(entity):
    esper.remove_component(entity, ec.Disabled)


def reasons(space):
    return [event.reason for event in space.contacts_ended]


def test_a_disabled_body_meets_nobody_is_not_found_and_stays_where_it_is():
    #
    #      0        8  10
    #    +---+ ====> +|--|
    #    | B |       :| W|
    #    +---+       +|--|
    #
    wall = box((10, 0), (1, 5))
    body = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    switch_off(body)
    steps(30, 1 / 60)

    assert position(body) == (1, 0)
    assert velocity(body) == (60, 0)
    assert not space.collisions
    assert space.contacts() == []
    assert space.query(*EVERYWHERE) == [wall]
    assert space.cast_ray((-10, 0), (100, 0)).entity == wall
    assert [hit.entity for hit in space.nearest((1, 0), 5)] == [wall]
    assert body in space
    assert space.positions([body]).tolist() == [[1, 0]]
    assert space.body_kinds([body])[0] & ec.BodyKind.DISABLED
    space.check()


def test_contacts_end_as_disabled_and_begin_again():
    floor = box((0, 0), (50, 1))
    body = mover((0, 3), (1, 1), (0, -60), ec.Slide())
    space = ec.install()
    steps(3, 1 / 60)
    assert [c.other(body) for c in space.contacts(body)] == [floor]

    switch_off(body)
    esper.process(1 / 60)
    ended = list(space.contacts_ended)
    esper.process(1 / 60)
    switch_on(body)
    of(body, ec.Velocity).y = -60.0
    esper.process(1 / 60)

    assert [(e.first, e.second, e.reason, e.time) for e in ended] == [
        (floor, body, ec.EndReason.DISABLED, 0.0)
    ]
    assert [(e.first, e.second) for e in space.contacts_began] == [(floor, body)]
    assert position(body) == (0, 2)


def test_nothing_is_swept_from_where_a_body_was_switched_off():
    wall = box((50, 0), (1, 50))
    body = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    switch_off(body)
    esper.process(1 / 60)

    of(body, ec.Position).set(100, 0)
    switch_on(body)
    esper.process(1 / 60)

    assert position(body) == (101, 0)
    assert not space.collisions
    assert reasons(space) == []
    assert wall not in [c.other(body) for c in space.contacts(body)]
    assert space.interpolated(0.0, [body]).tolist() == [[100, 0]]
    assert space.explain(wall, body).verdict is ec.Verdict.SOLID


def test_a_body_that_is_created_disabled_has_its_first_step_when_it_is_switched_on():
    wall = box((10, 0), (1, 5))
    body = mover((0, 0), (1, 1), (600, 0), ec.Slide(), ec.Disabled())
    space = ec.install()
    esper.process(1 / 60)
    assert space.positions().tolist() == [[10, 0], [0, 0]]
    assert space.bounds(body) == ((-1, -1), (1, 1))

    switch_on(body)
    esper.process(1 / 60)

    assert position(body) == (8, 0)
    assert [(c.first, c.second) for c in space.collisions] == [(wall, body)]


def test_a_sleeping_body_can_be_switched_off_and_comes_back_awake():
    floor = box((0, 0), (50, 1))
    crate = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    steps(40, 1 / 60)
    assert space.stats.asleep == 1

    switch_off(crate)
    esper.process(1 / 60)
    assert space.stats.asleep == 0
    space.check()
    switch_on(crate)
    esper.process(1 / 60)

    assert space.stats.movers == 1
    assert [c.other(crate) for c in space.contacts(crate)] == [floor]


def test_a_rider_keeps_the_speed_of_a_lift_that_is_disabled():
    lift = mover((0, 0), (20, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, -10), ec.Slide())
    ec.install()
    for _ in range(5):
        of(rider, ec.Velocity).y = -10.0
        esper.process(1 / 60)
    assert velocity(rider)[0] == 0.0

    switch_off(lift)
    esper.process(1 / 60)

    assert velocity(rider)[0] == 30.0


def test_a_disabled_rider_comes_back_with_its_own_velocity():
    mover((0, 0), (200, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (5, -10), ec.Slide())
    ec.install()
    for _ in range(5):
        of(rider, ec.Velocity).y = -10.0
        esper.process(1 / 60)
    own = velocity(rider)[0]

    switch_off(rider)
    esper.process(1 / 60)
    assert velocity(rider)[0] == own
    of(rider, ec.Position).set(0, 500)
    switch_on(rider)
    esper.process(1 / 60)

    assert velocity(rider)[0] == own


def test_a_body_that_a_response_disables_stays_where_it_hit():
    near, far = box((10, 0), (1, 5)), box((20, 0), (1, 5))
    bullet = mover((0, 0), (1, 1), (6000, 0), Bullet())
    space = ec.install()
    calls = []

    def hit(impact):
        calls.append(impact.other(bullet))
        switch_off(bullet)

    space.respond_with(Bullet, hit)
    esper.process(1 / 60)

    assert calls == [near]
    assert [c.other(bullet) for c in space.collisions] == [near]
    assert position(bullet) == (8, 0)
    esper.process(1 / 60)
    assert reasons(space) == [ec.EndReason.DISABLED]
    assert space.query(*EVERYWHERE) == [near, far]


@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("response", [(), (ec.Slide(),)], ids=["kinematic", "dynamic"])
def test_a_body_that_a_response_deletes_stays_where_it_hit(response, immediate):
    # esper lists it until the next step, so a game draws it once more.
    wall, place = box((10, 0), (1, 5)), ec.Position(0, 0)
    bullet = esper.create_entity(
        place, ec.Extents(1, 1), ec.Velocity(6000, 600), Bullet(), *response
    )
    feeler = box((0, 0), (1, 1), ec.Attached(bullet, (0, 3)))
    space = ec.install()

    def hit(impact):
        assert impact.first == wall
        esper.delete_entity(bullet, immediate=immediate)

    space.respond_with(Bullet, hit)
    esper.process(1 / 60)

    assert place.xy == pytest.approx((8, 0.8))
    assert position(feeler) == pytest.approx((8, 3.8))
    (hit,) = space.collisions_of(bullet)
    assert hit.position_of(bullet) == place.xy


def test_a_slower_body_enters_a_box_whose_owner_a_response_has_disabled():
    #
    #   chaser ==>      feeler ====>
    #                   bullet ====> wall
    #
    box((10, 0), (1, 1))
    bullet = mover((0, 0), (1, 1), (6000, 0), Bullet())
    feeler = box((0, 0), (1, 1), ec.Attached(bullet, (0, 3)))
    chaser = mover((-20, 3), (1, 1), (5000, 0))
    space = ec.install()
    space.respond_with(Bullet, lambda impact: switch_off(bullet))

    esper.process(1 / 60)

    (hit,) = space.collisions_of(feeler)
    assert (hit.other(feeler), hit.outcome) == (chaser, ec.Outcome.CROSSED)
    assert hit.time / 60 == pytest.approx(26 / 5000)


def test_what_a_response_sets_in_a_body_that_it_disables_stays():
    box((10, 0), (1, 5))
    bullet = mover((0, 0), (1, 1), (6000, 0), Bullet())
    space = ec.install()

    def hit(_):
        switch_off(bullet)
        of(bullet, ec.Position).set(-500, 3)
        of(bullet, ec.Velocity).set(1, 2)

    space.respond_with(Bullet, hit)
    esper.process(1 / 60)
    esper.process(1 / 60)

    assert position(bullet) == (-500, 3)
    assert velocity(bullet) == (1, 2)


def test_numbers_out_of_bounds_are_reported_only_when_a_body_is_switched_on():
    body = mover((0, 0), (1, 1), (60, 0), ec.Slide(), ec.Disabled())
    space = ec.install()
    of(body, ec.Velocity).x = math.nan
    esper.process(1 / 60)
    esper.process(1 / 60)
    assert space.reports == []
    assert [f.cause for f in space.doctor() if f.cause == "quarantined"] == []

    switch_on(body)
    with pytest.warns(RuntimeWarning, match=r"Velocity\.x is nan"):
        esper.process(1 / 60)

    assert [report.entity for report in space.reports] == [body]


def test_a_quarantined_body_that_is_switched_off_comes_back_when_both_are_over():
    body = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    of(body, ec.Velocity).x = math.nan
    with pytest.warns(RuntimeWarning):
        esper.process(1 / 60)
    switch_off(body)
    esper.process(1 / 60)
    of(body, ec.Velocity).x = 60.0
    esper.process(1 / 60)
    assert space.query(*EVERYWHERE) == []

    switch_on(body)
    esper.process(1 / 60)

    assert space.query(*EVERYWHERE) == [body]
    assert position(body) == (2, 0)


def test_a_fixed_body_is_read_again_when_it_is_switched_on():
    wall = box((0, 0), (1, 1), ec.Fixed())
    space = ec.install()
    esper.process(1 / 60)
    switch_off(wall)
    esper.process(1 / 60)
    esper.process(1 / 60)
    assert space.query(*EVERYWHERE) == []

    of(wall, ec.Position).set(50, 0)
    switch_on(wall)
    esper.process(1 / 60)

    assert space.bounds(wall) == ((49, -1), (51, 1))
    assert space.query((40, -5), (60, 5)) == [wall]


def test_a_body_that_the_game_sweeps_is_put_down_when_it_is_switched_on():
    box((50, 0), (1, 50))
    body = box((0, 0), (1, 1), ec.Slide())
    space = ec.install(ec.Space(motion="swept"))
    esper.process(1 / 60)
    of(body, ec.Position).x = 10.0
    esper.process(1 / 60)
    switch_off(body)
    of(body, ec.Position).x = 20.0
    esper.process(1 / 60)

    of(body, ec.Position).x = 100.0
    switch_on(body)
    esper.process(1 / 60)
    assert position(body) == (100, 0)
    assert not space.collisions
    of(body, ec.Position).x = 0.0
    esper.process(1 / 60)

    assert position(body) == (52, 0)


def test_a_body_is_brought_into_a_world_that_wraps_when_it_is_switched_on():
    box((99, 50), (1, 1))
    body = mover((50, 50), (1, 1), (60, 0), ec.Slide())
    space = ec.install(wrap=(100, 100))
    esper.process(1 / 60)
    switch_off(body)
    esper.process(1 / 60)

    of(body, ec.Position).x = 195.0
    switch_on(body)
    esper.process(1 / 60)
    steps(3, 1 / 60)

    assert position(body) == (97, 50)
    assert len(space.contacts(body)) == 1


@pytest.mark.parametrize("is_mover", [True, False])
def test_the_bounds_of_a_body_that_is_changed_and_switched_off_in_one_frame_are_those_it_has(
    is_mover,
):
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide()) if is_mover else box((0, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    of(body, ec.Position).set(10, 1)
    of(body, ec.Extents).set(3, 2)
    switch_off(body)

    esper.process(1 / 60)

    assert space.bounds(body) == ((7, -1), (13, 3))
    switch_on(body)
    esper.process(1 / 60)
    assert space.bounds(body) == ((7, -1), (13, 3))


def test_explain_names_the_disabled_body():
    first, second = box((0, 0), (1, 1)), mover((5, 0), (1, 1), (-60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    switch_off(first)
    esper.process(1 / 60)

    told = space.explain(first, second)

    assert told.verdict is ec.Verdict.IGNORED
    assert f"entity {first} has Disabled" in str(told)
    assert "quarantined" not in str(told)


def pool(rng):
    """Create a floor, walls, crates and bullets; return those that are switched."""
    box((0, -20), (60, 2))
    box((-40, 0), (2, 30))
    box((40, 0), (2, 30))
    crates = [
        mover((rng.uniform(-30, 30), rng.uniform(-10, 20)), (2, 2), (rng.uniform(-60, 60), -30),
              ec.Slide())
        for _ in range(8)
    ]  # fmt: skip
    bullets = [
        mover((rng.uniform(-30, 30), rng.uniform(-10, 20)), (1, 1),
              (rng.uniform(-900, 900), rng.uniform(-900, 900)), ec.Deflect())
        for _ in range(8)
    ]  # fmt: skip
    zone = box((0, 0), (10, 10), ec.Sensor())
    return [*crates, *bullets, zone]


def switched(seed, off, on, n_steps=60):
    """Run a world in which bodies are switched off and on; return what its steps did."""
    rng = random.Random(seed)
    bodies = pool(rng)
    is_off = set()
    space = ec.install(wrap=(200, 100) if seed % 2 else None)
    seen = []
    for _ in range(n_steps):
        for body in rng.sample(bodies, 3):
            if rng.random() < 0.5:
                continue
            if body in is_off:
                is_off.discard(body)
                if rng.random() < 0.5:
                    of(body, ec.Position).set(rng.uniform(-30, 30), rng.uniform(-10, 20))
                on(body)
            else:
                is_off.add(body)
                off(body)
        esper.process(1 / 60)
        space.check()
        ids = [body for body in bodies if body not in is_off]
        seen.append(
            (
                [(e.first, e.second, e.time, e.normal, e.outcome) for e in space.collisions],
                [(e.first, e.second, e.time) for e in space.contacts_began],
                [(e.first, e.second, e.time) for e in space.contacts_ended],
                space.positions(ids).tobytes(),
                space.query((-1000, -1000), (1000, 1000)),
            )
        )
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_switching_off_and_on_does_what_losing_and_getting_extents_does(seed):
    kept = {}

    def take(body):
        kept[body] = of(body, ec.Extents)
        esper.remove_component(body, ec.Extents)

    expected = switched(seed, take, lambda body: esper.add_component(body, kept.pop(body)))
    with another_world("another"):
        assert switched(seed, switch_off, switch_on) == expected


def test_a_snapshot_tells_a_disabled_body_from_a_quarantined_one():
    body = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    switch_off(body)
    esper.process(1 / 60)
    switch_on(body)
    of(body, ec.Velocity).x = math.inf
    data = space.snapshot()

    space.restore(data)
    with pytest.warns(RuntimeWarning):
        esper.process(1 / 60)

    assert [report.entity for report in space.reports] == [body]


def test_a_step_that_fails_takes_back_who_was_switched_off_and_on():
    box((0, -2), (50, 1))
    off, on, broken = (mover((x, 0), (1, 1), (0, -60), ec.Slide()) for x in (0, 10, 20))
    switch_off(on)
    space = ec.install()
    for _ in range(3):
        of(off, ec.Velocity).y = -60.0
        esper.process(1 / 60)
    contacts, found = space.contacts(), space.query(*EVERYWHERE)

    switch_off(off)
    switch_on(on)
    of(broken, ec.Velocity).x = "nonsense"
    with pytest.raises(TypeError):
        esper.process(1 / 60)

    assert space.contacts() == contacts
    assert space.query(*EVERYWHERE) == found
    space.check()
    of(broken, ec.Velocity).x = 0.0
    esper.process(1 / 60)
    assert space.query(*EVERYWHERE) == [1, on, broken]
    assert reasons(space) == [ec.EndReason.DISABLED]
    space.check()


def test_disabled_bodies_stay_out_after_a_clear_of_more_than_256_news():
    bodies = [mover((i * 3, 0), (1, 1), (0, 0), ec.Slide(), ec.Disabled()) for i in range(10)]
    space = ec.install()
    esper.process(1 / 60)

    for i in range(400):
        mover((i * 3, 50), (1, 1), (0, 0), ec.Slide())
    esper.process(1 / 60)

    assert space.query((-10, -10), (2000, 10)) == []
    assert np.asarray(space.positions(bodies))[:, 0].tolist() == [i * 3 for i in range(10)]


def test_a_disabled_box_that_gets_a_component_is_the_same_after_a_restore_and_a_step(elsewhere):
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    body = box((0, 5), (1, 1))
    space = ec.install()
    for component in (ec.Attached(owner, (0, 2)), ec.Disabled()):
        esper.add_component(body, component)
        esper.process(1.0)
    esper.add_component(body, ec.Damping(1))
    data = space.snapshot()
    esper.process(1.0)
    expected = space.snapshot()

    other = elsewhere()
    other.restore(data)
    esper.process(1.0)

    assert other.snapshot() == expected


@pytest.mark.parametrize("kind", [ec.Position, ec.Extents, None])
def test_a_body_that_is_none_any_more_and_is_disabled_in_one_frame_is_saved(kind):
    space = ec.install()
    entity = mover((0, 0), (4, 4), (1, 0), ec.Slide())
    other = mover((50, 0), (4, 4), (1, 0), ec.Slide())
    esper.process(0.1)
    esper.add_component(entity, ec.Disabled())
    if kind is None:
        esper.delete_entity(entity)
    else:
        esper.remove_component(entity, kind)
    data = space.snapshot()
    esper.process(0.1)
    ends = space.snapshot()

    space.restore(data)

    assert kind is None or space.snapshot() == data
    esper.process(0.1)
    assert space.snapshot() == ends
    assert space.entities == [other]
