"""The space: what it knows after a step, how it is asked, whom it tells."""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, faces, mover, of, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Bullet:
    """A tag of a game."""


class Enemy:
    """Another."""


# Making one ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dim": 1}, "dim"),
        ({"dim": 4}, "dim"),
        ({"rest_speed": -1.0}, "rest_speed"),
        ({"rest_speed": float("nan")}, "rest_speed"),
        ({"pair_limit": -1}, "pair_limit"),
        ({"pair_limit": 0}, "pair_limit"),
        ({"margin": float("nan")}, "margin"),
        ({"lookahead": -1.0}, "lookahead"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ec.Space(**arguments)


def test_a_fresh_space_is_empty():
    space = ec.Space()

    assert len(space) == 0
    assert list(space.entities) == []
    assert len(space.collisions) == 0
    assert len(space.contacts_began) == 0
    assert len(space.contacts_ended) == 0
    assert space.query((-1, -1), (1, 1)) == []
    assert space.cast_ray((0, 0), (1, 0)) is None
    space.check()


# What it knows ---------------------------------------------------------------------------


def test_entities_are_sorted_and_known():
    made = [box((10 * i, 0), (1, 1)) for i in range(5)]
    stranger = esper.create_entity(ec.Position(0, 0))
    space = ec.install()

    esper.process(0)

    assert list(space.entities) == made
    assert len(space) == 5
    assert made[2] in space
    assert stranger not in space


@pytest.mark.parametrize("dim", [2, 3])
def test_bounds_are_the_stored_faces(dim):
    centre, size = (0.1, 0.7, -0.3)[:dim], (0.2, 0.3, 0.1)[:dim]
    body = box(centre, size)
    space = ec.install(dim=dim)

    esper.process(0)

    assert space.bounds(body) == faces(body, dim)


def test_bounds_of_a_stranger_raise_key_error():
    space = ec.install()
    esper.process(0)

    with pytest.raises(KeyError, match="42"):
        space.bounds(42)


def test_positions_and_velocities_as_arrays():
    made = [mover((i, 2 * i), (0.1, 0.1), (3 * i, -i), ec.Sensor()) for i in range(4)]
    still = box((50, 50), (1, 1))
    space = ec.install()

    esper.process(0)

    assert space.positions().tolist() == [[0, 0], [1, 2], [2, 4], [3, 6], [50, 50]]
    assert space.velocities().tolist() == [[0, 0], [3, -1], [6, -2], [9, -3], [0, 0]]
    some = [made[2], still]
    assert space.positions(some).tolist() == [[2, 4], [50, 50]]
    assert space.velocities(np.array(some)).tolist() == [[6, -2], [0, 0]]


def test_arrays_handed_out_are_the_callers_own():
    body = mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    space.positions()[:] = 99
    space.velocities()[:] = 99
    esper.process(1.0)

    assert position(body) == (2, 0)


def test_set_velocities_writes_the_components():
    made = [mover((10 * i, 0), (1, 1), (0, 0), ec.Slide()) for i in range(3)]
    space = ec.install()
    esper.process(0)

    space.set_velocities(None, np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    space.set_velocities([made[1]], [[0.0, 5.0]])
    esper.process(1.0)

    assert [position(entity) for entity in made] == [(1, 0), (10, 5), (23, 0)]


@pytest.mark.parametrize("as_ids", [list, np.array])
def test_velocities_are_those_of_the_components_between_steps(as_ids):
    made = [mover((10 * i, 0), (1, 1), (i, 0), ec.Slide()) for i in range(20)]
    still = box((500, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)
    of(made[3], ec.Velocity).x = 7.0
    esper.add_component(made[4], ec.Velocity(0, 9))
    esper.add_component(still, ec.Velocity(1, 2))
    esper.remove_component(made[5], ec.Velocity)
    late = mover((900, 0), (1, 1), (5, 5))
    of(made[6], ec.Velocity).x = "fast"
    ids = as_ids([*made[:6], *made[7:], still, late])

    found = space.velocities(ids)

    assert found.tolist() == [[*space.velocity_of(entity)] for entity in ids]
    assert space.velocities([made[3]]).tolist() == [[7, 0]]
    assert space.velocities(as_ids([made[6]])).tolist() == [[6, 0]]  # that of the last step
    of(made[6], ec.Velocity).x = 6.0
    esper.process(1.0)
    of(made[7], ec.Velocity).y = -3.0
    assert space.velocities()[7].tolist() == [7, -3]


def test_set_positions_teleports():
    made = [mover((10 * i, 0), (1, 1), (0, 0), ec.Slide()) for i in range(3)]
    space = ec.install()
    esper.process(0)

    space.set_positions([made[0], made[2]], [[-5.0, 1.0], [100.0, 1.0]])
    esper.process(0)

    assert [position(entity) for entity in made] == [(-5, 1), (10, 0), (100, 1)]
    assert space.query_point((100, 1)) == [made[2]]


@pytest.mark.parametrize("as_ids", [list, np.array])
def test_arrays_follow_bodies_that_come_and_go_between_steps(as_ids):
    made = [mover((10 * i, 0), (1, 1), (i, 0), ec.Slide()) for i in range(3)]
    space = ec.install()
    esper.process(0)
    late = mover((30, 0), (1, 1), (9, 0), ec.Slide())
    esper.add_component(made[1], ec.Position(11, 1))
    esper.add_component(made[1], ec.Extents(1, 1))
    ids = as_ids([late, made[1], made[2]])

    assert space.positions(ids).tolist() == [[30, 0], [11, 1], [20, 0]]
    assert space.velocities(ids).tolist() == [[9, 0], [1, 0], [2, 0]]
    space.set_positions(ids, [[31, 0], [12, 0], [21, 0]])
    space.set_velocities(ids, [[1, 0], [2, 0], [3, 0]])
    esper.process(1)
    assert space.positions(ids).tolist() == [[32, 0], [14, 0], [24, 0]]

    esper.delete_entity(late, immediate=True)
    esper.process(1)
    for call in (space.positions, space.velocities):
        with pytest.raises(KeyError, match=str(late)):
            call(ids)


def test_velocities_of_bodies_of_which_one_has_none_are_all_refused():
    moves, still = mover((0, 0), (1, 1), (1, 0)), box((9, 0), (1, 1))
    space = ec.install()
    esper.process(0)

    with pytest.raises(ValueError, match=f"entity {still} has no Velocity"):
        space.set_velocities([moves, still], [[5, 0], [5, 0]])

    assert velocity(moves) == (1, 0)


def test_set_positions_moves_fixed_bodies_too():
    made = [box((10 * i, 0), (1, 1), ec.Fixed()) for i in range(2)]
    space = ec.install()
    for _ in range(2):
        esper.process(0)

    space.set_positions(None, [[-5, 1], [12, 0]])
    esper.process(0)

    assert space.positions(made).tolist() == [[-5, 1], [12, 0]]
    assert space.query_point((-5, 1)) == [made[0]]


def test_stats_count_the_step():
    mover((0, 0), (1, 1), (10, 0), ec.Stop())
    box((5, 0), (1, 1))
    box((100, 0), (1, 1))
    space = ec.install()

    esper.process(1.0)

    stats = space.stats
    assert (stats.bodies, stats.movers, stats.static) == (3, 1, 2)
    assert stats.pairs == 1
    assert stats.impacts == 1
    assert stats.resolutions == 1
    assert stats.crushed == stats.forced == stats.pair_limit_hits == stats.sweep_limit_hits == 0
    assert stats.held == stats.waiting == 0


def test_check_passes_after_every_step_of_a_busy_life():
    rng = random.Random(3)
    space = ec.install()
    alive = []
    for step in range(40):
        for _ in range(3):
            centre = (rng.uniform(-10, 10), rng.uniform(-10, 10))
            speed = (rng.uniform(-50, 50), rng.uniform(-50, 50))
            response = rng.choice([ec.Stop, ec.Slide, ec.Push, ec.Deflect, ec.Sensor])
            alive.append(mover(centre, (0.5, 0.5), speed, response()))
        if step % 3 == 2:
            esper.delete_entity(alive.pop(rng.randrange(len(alive))), immediate=rng.random() < 0.5)
        if step % 5 == 4:
            esper.component_for_entity(rng.choice(alive), ec.Extents).set(rng.uniform(0, 2), 0.5)
        if step % 7 == 6:
            esper.component_for_entity(rng.choice(alive), ec.Position).set(0, rng.uniform(-9, 9))
        esper.process(1 / 60)
        space.check()
        assert list(space.entities) == [e for e in alive if esper.entity_exists(e)]


# Queries ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper"),
    [((0,), (1, 1)), ((0, 0, 0), (1, 1, 1)), ((1, 0), (0, 1)), ((float("nan"), 0), (1, 1))],
)
def test_a_query_that_is_no_box_is_refused(lower, upper):
    space = ec.install()
    esper.process(0)

    with pytest.raises(ValueError, match=r"min|max"):
        space.query(lower, upper)


def test_cast_ray_finds_the_first_box_on_its_way():
    near = box((10, 0), (1, 1))
    box((20, 0), (1, 1))
    box((-10, 0), (1, 1))
    space = ec.install()
    esper.process(0)

    hit = space.cast_ray(origin=(0, 0.5), direction=(18, 0))

    assert hit.entity == near
    assert hit.time == 0.5
    assert hit.point == (9, 0.5)
    assert hit.normal == (-1, 0)
    assert space.cast_ray((0, 0.5), (8, 0)) is None
    assert space.cast_ray((0, 5), (100, 0)) is None


# Events as sequences and arrays ----------------------------------------------------------


def test_collisions_are_a_read_only_sequence():
    for i in range(5):
        mover((0, 10 * i), (1, 1), (10 + i, 0), ec.Stop())
        box((5, 10 * i), (1, 1))
    space = ec.install()

    esper.process(1.0)

    collisions = space.collisions
    assert len(collisions) == 5
    assert [hit.first for hit in collisions] == [9, 7, 5, 3, 1]  # the fastest first
    assert collisions[0] == next(iter(collisions)) == collisions[-5]
    assert [hit.first for hit in collisions[1:3]] == [7, 5]
    assert [hit.time for hit in collisions] == sorted(hit.time for hit in collisions)
    with pytest.raises(IndexError):
        collisions[5]
    with pytest.raises(TypeError):
        collisions[0] = collisions[1]
    with pytest.raises(AttributeError):
        collisions[0].time = 0.0


def test_a_collision_tells_everything():
    runner = mover((0, 0), (1, 1), (8, 2), ec.Deflect(0.5))
    target = mover((10, 1), (1, 1), (-4, 0), ec.Slide(), ec.Mass(3))
    space = ec.install()

    esper.process(1.0)

    (hit,) = space.collisions
    assert (hit.first, hit.second) == (runner, target)
    assert hit.time == 8 / 12
    assert hit.exit == 1.0
    assert hit.normal == (-1, 0)
    assert hit.kind is ec.SweepKind.IMPACT
    assert hit.closing_speed == 12
    assert hit.position_first == pytest.approx((16 / 3, 4 / 3), rel=1e-15)
    assert hit.position_second == pytest.approx((22 / 3, 1), rel=1e-15)
    assert hit.velocity_first == (8, 2)
    assert hit.velocity_second == (-4, 0)
    assert hit.outcome is ec.Outcome.RESOLVED
    assert hit.resolved
    assert hit.normal_for(runner) == (-1, 0)
    assert hit.normal_for(target) == (1, 0)
    assert hit.other(runner) == target
    with pytest.raises(ValueError, match="42"):
        hit.other(42)


def test_closing_speed_is_per_second():
    mover((0, 0), (1, 1), (8, 0), ec.Stop())
    mover((4, 0), (1, 1), (-4, 0))
    space = ec.install()

    esper.process(0.25)

    assert space.collisions[0].closing_speed == 12
    assert space.collisions[0].velocity_first == (8, 0)


@pytest.mark.parametrize("dim", [2, 3])
def test_the_collision_array_holds_the_same(dim):
    rest = (0,) * (dim - 1)
    for i in range(4):
        mover((0, 10 * i, 0)[:dim], (1,) * dim, (10 + i, *rest), ec.Stop())
        box((5, 10 * i, 0)[:dim], (1,) * dim)
    space = ec.install(dim=dim)

    esper.process(1.0)

    array = space.collision_array
    assert array.dtype == ec.collision_dtype(dim)
    assert len(array) == len(space.collisions) == 4
    for row, hit in zip(array, space.collisions, strict=True):
        for name in array.dtype.names:
            value = getattr(hit, name)
            if name == "solids":
                value = (*value, -1, -1)[:2]
            assert tuple(row[name]) == value if isinstance(value, tuple) else row[name] == value
    with pytest.raises(ValueError, match="read-only"):
        array["time"][0] = 0.5


def test_the_contact_array_holds_both_kinds_of_event():
    runner = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    left = mover((-2, 0), (1, 1), (0, 0), ec.Slide())
    box((5, 0), (1, 1))
    space = ec.install()
    esper.process(0)

    esper.process(1.0)

    array = space.contact_array
    assert array.dtype == ec.contact_dtype(2)
    assert sorted(array["event"].tolist()) == [0, 1]
    ended = array[array["event"] == 1][0]
    assert (ended["first"], ended["second"]) == (runner, left)
    assert ec.END_REASONS[ended["reason"]] is ec.EndReason.SEPARATED
    assert array[array["event"] == 0][0]["reason"] == -1


def test_the_events_of_a_step_stay_what_they_were():
    # An array or sequence that a game keeps does not change under its hands.
    runner = mover((0, 0), (1, 1), (10, 0), ec.Stop())
    box((5, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)
    kept, array = space.collisions, space.collision_array
    before = array.tobytes()

    for _ in range(3):
        set_velocity(runner, 10, 3)
        esper.process(1.0)

    assert len(kept) == 1
    assert kept[0].velocity_first == (10, 0)
    assert array.tobytes() == before


def test_collisions_between_selects_by_component():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Stop(), Bullet())
    enemy = box((5, 0), (1, 1), Enemy())
    enemy_first = box((5, 50), (1, 1), Enemy())
    bullet_second = mover((0, 50), (1, 1), (10, 0), ec.Stop(), Bullet())
    mover((0, 100), (1, 1), (10, 0), ec.Stop(), Bullet())
    box((5, 100), (1, 1))
    space = ec.install()

    esper.process(1.0)

    found = [(hit.first, hit.second) for hit in space.collisions_between(Bullet, Enemy)]
    assert found == [(bullet, enemy), (bullet_second, enemy_first)]
    assert list(space.collisions_between(Enemy, Enemy)) == []
    turned = [(hit.first, hit.second) for hit in space.collisions_between(Enemy, Bullet)]
    assert turned == [(enemy, bullet), (enemy_first, bullet_second)]


# Handlers --------------------------------------------------------------------------------


def test_on_collision_by_component():
    seen = []
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Stop(), Bullet())
    enemy = box((5, 0), (1, 1), Enemy())
    mover((0, 100), (1, 1), (10, 0), ec.Stop(), Bullet())
    box((5, 100), (1, 1))
    space = ec.install()
    space.on_collision(lambda event: seen.append((event.first, event.second)), Bullet, Enemy)
    space.on_collision(lambda event: seen.append("any bullet"), Bullet)

    esper.process(1.0)

    assert [entry for entry in seen if entry != "any bullet"] == [(bullet, enemy)]
    assert seen.count("any bullet") == 2


def test_contact_handlers_by_component():
    began, ended = [], []
    runner = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Bullet())
    box((5, 0), (1, 1), Enemy())
    box((-2, 0), (1, 1))
    space = ec.install()
    space.on_contact_began(began.append, Bullet, Enemy)
    space.on_contact_ended(ended.append, Enemy, Bullet)
    esper.process(1.0)
    set_velocity(runner, -1, 0)
    esper.process(1.0)

    assert [type(event) for event in began] == [ec.ContactBegan]
    assert [type(event) for event in ended] == [ec.ContactEnded]


def test_what_is_no_function_is_refused():
    space = ec.Space()

    for register in (space.on_collision, space.on_contact_began, space.on_contact_ended):
        with pytest.raises(TypeError):
            register("not a function")


def test_contacts_of_a_stranger():
    space = ec.install()
    esper.process(0)

    with pytest.raises(KeyError, match="42"):
        space.contacts(42)


def test_velocity_first_is_before_the_answer_also_at_the_second_impact():
    ball = mover((0, 0), (1, 1), (80, 0), ec.Deflect(0.5))
    box((12, 0), (1, 5))
    box((-12, 0), (1, 5))
    space = ec.install()

    esper.process(1.0)

    hits = list(space.collisions)
    assert [hit.velocity_first[0] for hit in hits] == [80, -40]
    assert [hit.position_first[0] for hit in hits] == [10, -10]
    assert velocity(ball) == (20, 0)
    assert position(ball) == (-2.5, 0)


def test_rays_in_bulk_are_single_rays():
    wall = box((20, 0), (1, 30))
    twin = box((20, 0), (1, 30))
    movers = [mover((3.0 * i, 5.0 * i - 20), (1, 1), (1, 0), ec.Slide()) for i in range(6)]
    space = ec.install()
    esper.process(1 / 60)
    ends = [(40, y) for y in range(-40, 41, 8)] + [(0, 50), (-1, 0)]

    hits = space.cast_rays((-5, 0), ends)

    assert {wall, *movers} > set(hits.ids.tolist()) - {-1} != set()
    assert twin not in hits.ids  # of two met at once the lower id
    for i, end in enumerate(ends):
        hit = space.cast_ray((-5, 0), end)
        if hit is None:
            assert (hits.ids[i], hits.times[i]) == (-1, float("inf"))
        else:
            assert (hit.entity, hit.time) == (hits.ids[i], hits.times[i])
            assert hit.point == tuple(hits.points[i])
            assert hit.normal == tuple(hits.normals[i])
    with pytest.raises(ValueError, match="must have 2 axes in this space"):
        space.cast_rays((0, 0, 0), (1, 1, 1))


def test_space_says_who_may_meet():
    one, other, third = (box((9 * k, 0), (1, 1)) for k in range(3))
    esper.add_component(third, Enemy())
    space = ec.install()
    esper.process(1 / 60)

    assert space.may_meet(one, other)
    esper.add_component(one, ec.Filter(categories=2, mask=1))  # from now on
    esper.add_component(other, ec.Filter(categories=1, mask=4))
    assert not space.may_meet(one, other)
    assert not space.may_meet(other, one)
    assert space.may_meet(one, third)  # which is of the first category, and meets all
    esper.component_for_entity(one, ec.Filter).mask = 2
    assert not space.may_meet(one, third)
    for entity, group in ((one, 3), (other, 3), (third, -3)):
        esper.add_component(entity, ec.Filter(group=group, mask=0))
    assert space.may_meet(one, other)
    assert not space.may_meet(one, third)

    for entity in (one, other, third):
        esper.remove_component(entity, ec.Filter)
    asked = []
    allow = space.filter_pairs(lambda *pair: asked.append(pair), Enemy)
    assert space.may_meet(one, other)
    assert not space.may_meet(third, one)
    assert asked == [(one, third)]
    allow()
    assert space.may_meet(third, one)
    with pytest.raises(KeyError):
        space.may_meet(one, 99)
