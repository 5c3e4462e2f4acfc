"""Thousands of boxes in one point: bounded memory, a report, and nothing gets in where it was not.

Half of n squared pairs lie inside each other there.  Where they are too many
they are skipped for the step; see `ecs_collide/broadphase/broadphase.py`.
"""

from __future__ import annotations

import random
import warnings

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, closed_arena, mover, position

pytestmark = [pytest.mark.usefixtures("world", "implementation"), pytest.mark.slow_in_python]

N = 240  # as few as are too many: 28,680 pairs, where there is room for 24,064


def crowd(n=N, at=(0.0, 0.0), half=(1.0, 1.0), *components):
    return [mover(at, half, (0, 0), *(components or (ec.Slide(),))) for _ in range(n)]


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def test_thousands_of_boxes_in_one_point(implementation):
    n = 4_000 if implementation == "compiled" else N
    entities = crowd(n)
    space = ec.install()

    with pytest.warns(RuntimeWarning, match="lie inside each other") as warned:
        esper.process(1 / 60)
    esper.process(1 / 60)

    assert len(warned) == 1
    (report,) = space.reports  # once, although both steps left them out
    assert (report.entity, report.value) == (entities[0], n * (n - 1) // 2)
    assert f"{n - 1} others" in str(report)
    assert space.stats.skipped == n * (n - 1) // 2
    assert space.stats.pairs == 0
    assert len(space.contacts()) == 0
    assert [finding.cause for finding in space.doctor()] == ["crowd"]
    space.check()


def test_a_crowd_for_which_there_is_room_is_no_crowd():
    crowd(100)
    space = ec.install()

    esper.process(1 / 60)

    assert space.stats.pairs == len(space.contacts()) == 100 * 99 // 2
    assert space.stats.skipped == 0
    assert space.reports == []


@pytest.mark.parametrize(
    ("half", "component"), [((0, 0), ec.Slide), ((1, 0), ec.Slide), ((1, 1), ec.Sensor)]
)
def test_points_planes_and_sensors_are_a_crowd_too(half, component, quiet):
    crowd(N, (3, 4), half, component())
    space = ec.install()

    esper.process(1 / 60)

    assert space.stats.skipped == N * (N - 1) // 2
    assert len(space.contacts()) == 0


def test_boxes_that_only_touch_are_no_crowd(implementation, quiet):
    # A cross of bars laid flush: each touches each of the other half, at its rim.
    n = 190
    for _ in range(n):
        mover((-1, 0), (1, 1), (0, 0), ec.Slide())
        mover((1, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()

    esper.process(1 / 60)

    assert space.stats.skipped == n * (n - 1)
    assert space.stats.pairs == n * n


def test_a_crowd_bursts_and_nothing_gets_through_the_walls(volume, quiet):
    rng = random.Random(5)
    closed_arena((-40, -40), (40, 40))
    space = ec.install()
    entities = [
        mover((0, 0), (1, 1), (rng.uniform(-900, 900), rng.uniform(-900, 900)), ec.Deflect())
        for _ in range(N)
    ]
    hits = 0
    for _ in range(volume(20, 40, least=4)):
        esper.process(1 / 60)
        hits += sum(event.first <= 4 for event in space.collisions)
        space.check()
        for entity in entities:
            x, y = position(entity)
            assert abs(x) <= 39
            assert abs(y) <= 39

    assert hits > 0
    assert space.stats.skipped == 0
    assert [report.field for report in space.reports].count("Position") == 1


def test_what_leaves_a_crowd_hits_what_it_has_left_again_in_the_next_step(quiet):
    entities = crowd()
    space = ec.install()
    esper.process(1.0)
    stray = entities[7]

    esper.component_for_entity(stray, ec.Velocity).x = -9.0
    esper.process(1.0)
    assert position(stray) == (-9, 0)  # out of the crowd: nobody holds it
    esper.component_for_entity(stray, ec.Velocity).x = 27.0
    esper.process(1.0)

    assert len(space.collisions) == N - 1
    assert min(event.time for event in space.collisions) == 7 / 27


def test_two_zones_with_a_crowd_in_each_still_meet(quiet):
    left = mover((0, 0), (60, 60), (0, 0), ec.Sensor())
    right = mover((100, 0), (60, 60), (0, 0), ec.Sensor())
    for i in range(50):
        mover((-50 + i % 10 * 5, i // 10 * 5), (1, 1), (0, 0), ec.Slide())
        mover((110 + i % 10 * 5, i // 10 * 5), (1, 1), (0, 0), ec.Slide())
    crowd(N, (0, 500))
    space = ec.install()

    esper.process(1 / 60)

    assert space.stats.skipped == N * (N - 1) // 2
    contacts = {(contact.first, contact.second) for contact in space.contacts()}
    assert (left, right) in contacts
    assert len(contacts) == 101


def test_a_contact_from_before_the_crowd_has_one_begin_and_one_end(quiet):
    floor = box((0, -2), (50, 1))
    pair = crowd(2)
    space = ec.install()
    esper.process(1 / 60)
    assert [(e.first, e.second) for e in space.contacts_began] == [
        (floor, pair[0]), (floor, pair[1]), tuple(pair),
    ]  # fmt: skip

    guests = crowd()
    esper.process(1 / 60)
    assert space.stats.skipped > 0
    assert len(space.contacts_ended) == 0
    assert tuple(pair) in {(c.first, c.second) for c in space.contacts()}

    for guest in guests:
        esper.delete_entity(guest)
    esper.component_for_entity(pair[0], ec.Position).y = 300.0
    esper.process(1 / 60)
    assert space.stats.skipped == 0
    assert [(e.first, e.second) for e in space.contacts_ended if e.first != floor] == [tuple(pair)]


def test_a_body_that_turns_within_the_step_meets_new_partners_but_not_its_crowd(quiet):
    # It bounces off a wall beside the crowd, back through it, onto a wall on the other side.
    crowd()
    bullet = mover((0, 0), (1, 1), (60, 0), ec.Deflect())
    east, west = box((12, 0), (1, 5)), box((-12, 0), (1, 5))
    space = ec.install()

    esper.process(1.0)

    assert [event.other(bullet) for event in space.collisions] == [east, west, east]
    times = [event.time for event in space.collisions]
    assert times == pytest.approx([10 / 60, 30 / 60, 50 / 60], rel=1e-14)


def test_a_crowd_of_few_that_move_in_many_that_do_not(quiet):
    movers = crowd(200)
    for _ in range(200):
        box((0, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    assert space.stats.skipped > 20_000
    assert len(space.reports) == 1
    assert movers[0] in space


def test_a_new_crowd_is_reported_anew(quiet):
    entities = crowd()
    space = ec.install()
    for _ in range(2):
        esper.process(1 / 60)
    for i, entity in enumerate(entities):
        esper.component_for_entity(entity, ec.Position).set(5 * i, 0)
    esper.process(1 / 60)
    assert space.stats.skipped == 0
    for entity in entities:
        esper.component_for_entity(entity, ec.Position).set(7, 7)
    esper.process(1 / 60)

    assert [report.step for report in space.reports] == [0, 3]


def test_walls_moved_into_one_point(quiet):
    walls = [box((3 * i, 0), (1, 1)) for i in range(N)]
    space = ec.install()
    esper.process(1 / 60)
    assert space.stats.pairs == 0
    for wall in walls:
        esper.component_for_entity(wall, ec.Position).set(0, 0)

    esper.process(1 / 60)

    assert space.stats.skipped == N * (N - 1) // 2
    assert len(space.reports) == 1


# Whole nodes ---------------------------------------------------------------------------


def still_and_moving(rng, heap):
    for i in range(N):
        at = (rng.uniform(-1, 1), rng.uniform(-1, 1))
        (box(at, (1, 1)) if i % 2 else heap(at, (1, 1)))


def filtered(rng, heap):
    for i in range(N + 100):
        heap((rng.uniform(-0.1, 0.1), 0), (1, 1), ec.Filter(group=-(i % 2)))


class Ghost:
    """Bodies with it are filtered by the game."""


def ghosts_of_the_game(rng, heap):
    for i in range(N + 10):
        heap((rng.uniform(-0.1, 0.1), 0), (1, 1), *([Ghost()] if i % 20 == 0 else []))


def owners_and_boxes(rng, heap):
    owner = heap((0, 0), (1, 1))
    for i in range(N):
        heap((rng.uniform(-0.1, 0.1), 0), (1, 1))
        if i % 6 == 0:
            esper.create_entity(ec.Attached(owner), ec.Extents(1, 1), ec.Sensor())


HEAPS = {
    "one place": lambda rng, heap: [heap((3, 4), (1, 1)) for _ in range(N)],
    "points": lambda rng, heap: [heap((0, 0), (0, 0)) for _ in range(N)],
    "points in two places": lambda rng, heap: [heap((i % 2, 0), (0, 0)) for i in range(2 * N)],
    "planes": lambda rng, heap: [heap((0, rng.uniform(-1, 1)), (0, 1)) for _ in range(N)],
    "bars that touch": lambda rng, heap: [heap((i % 2 * 2, 0), (1, 1)) for i in range(400)],
    "sizes": lambda rng, heap: [
        heap((rng.gauss(0, 3), rng.gauss(0, 3)), (10 ** rng.uniform(-1, 1),) * 2)
        for _ in range(450)
    ],
    "spread": lambda rng, heap: [
        heap((rng.gauss(0, 1), rng.gauss(0, 1)), (1, 1)) for _ in range(350)
    ],
    "soft and hard": lambda rng, heap: [
        heap((0.01 * i, 0), (1, 1), *([ec.Separate(1)] if i < 30 else [])) for i in range(N)
    ],
    "still and moving": still_and_moving,
    "filtered": filtered,
    "ghosts of the game": ghosts_of_the_game,
    "owners and boxes": owners_and_boxes,
}


@pytest.mark.parametrize("heap", HEAPS)
def test_a_crowd_is_the_same_counted_by_nodes_and_pair_by_pair(heap, quiet):
    results = []
    for by_nodes in (True, False):
        esper.switch_world(f"{heap} {by_nodes}")
        rng = random.Random(1)

        def member(at, half, *components, rng=rng):
            speed = (rng.uniform(-20, 20), rng.uniform(-20, 20))
            return mover(at, half, speed, ec.Slide(), *components)

        HEAPS[heap](rng, member)
        space = ec.install()
        space.filter_pairs(lambda first, second: (first + second) % 3 > 0, Ghost)
        broadphase = space._state.timeline.broadphase
        if not by_nodes:
            finder = broadphase.moving.overlap_finder
            finder.node_pairs = type(finder.node_pairs).__base__()
        for _ in range(2):
            esper.process(1 / 60)
            contacts = [(contact.first, contact.second) for contact in space.contacts()]
            results.append((space.stats._replace(step=0), list(broadphase.crowd), contacts))

    assert results[0][0].skipped > 0
    assert results[:2] == results[2:]
