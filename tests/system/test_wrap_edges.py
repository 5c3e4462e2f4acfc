"""Worlds that wrap: crowds and ties across an edge, and what rounding does there."""

from __future__ import annotations

import itertools
import random
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests import plain
from tests.scenes import SLOP, another_world, box, mover, position, set_velocity, velocity
from tests.system.test_wrap import W, gaps_around, wrapped_space

pytestmark = pytest.mark.usefixtures("world", "implementation")


# -- crowds --


@pytest.mark.slow_in_python
def test_a_crowd_across_the_edge_is_bounded_like_any_other():
    runs = []
    for shift in (0.0, W / 2):
        with another_world(f"crowd {shift}"):

            def crowd(n, shift=shift):
                for k in range(n):
                    mover((k % 2 - 1 + shift, k % 3 / 8 + 9), (3, 3), (0, 0), ec.Deflect())

            crowd(30)
            lone = mover((12 + shift, 9), (1, 1), (-4, 0), ec.Deflect())
            space = wrapped_space()
            esper.process(1.0)
            n_before = len(space.contacts())
            crowd(200)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for _ in range(2):
                    esper.process(1.0)
                    runs.append((
                        space.stats.pairs, space.stats.skipped, len(space.contacts_ended),
                        n_before, len(space.contacts()), [hit.time for hit in space.collisions],
                    ))  # fmt: skip
            assert lone in {hit.first for hit in space.collisions}
    assert runs[:2] == runs[2:]
    assert runs[0][1] > 0
    assert runs[0][2] == 0  # what touched before goes on to, though nobody looks


def test_two_images_at_once_come_in_the_order_of_the_images():
    """Whatever order they were found in: of plain Python, where a queue may be looked into."""
    kernel = plain.kernel("narrowphase.impact_queue")
    bodies = plain.kernel("motion.bodies").Bodies(2)
    bodies.wrap([10.0, 10.0])

    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        table = plain.kernel("broadphase.pair_table").PairTable()
        table.wrap(True)
        table.set_rows(bodies.capacity)
        queue = kernel.ImpactQueue(bodies, table)
        for _ in range(3):
            table.add(0, 1, 0)
        for pair in order:
            table.image[pair] = (5, -3, 0)[pair]
            queue.put(pair, 0.5, 0)
        taken = []
        while queue.top() >= 0:
            taken.append(queue.top())
            queue.drop(taken[-1])
        assert taken == [1, 2, 0]


def is_flush_outside(first, second, width):
    """Return whether two bodies are not inside each other by a bit, as the steps compute it."""
    (x1, _), (x2, _) = position(first), position(second)
    half1, half2 = (esper.component_for_entity(e, ec.Extents).x for e in (first, second))
    x2 += width * round((x1 - x2) / width)
    return (x2 - half2) - (x1 + half1) >= 0.0 or (x1 - half1) - (x2 + half2) >= 0.0


def test_what_is_pressed_against_something_across_the_edge_rests_there(volume):
    """However small it is beside the world, and whatever is rounded at either end."""
    for seed in range(volume(15, 30, 60)):
        rng = random.Random(seed)
        with another_world(f"pressed {seed}"):
            width = rng.choice((33.3, 1e6 + 0.1, 7e-3, 1000 / 7, 2.0**30, 0.7))
            size = width * rng.choice((0.2, 0.01, 1e-4, 1e-7))
            way = rng.choice((-1, 1))
            at = rng.uniform(-1, 1) * size % width
            n = 1 if size > 0.1 * width else rng.randrange(1, 5)

            def half(rng=rng, size=size):
                return (rng.uniform(0.1, 1) * size, rng.uniform(0.1, 1) * size)

            walls = [box((at, 0), (half()[0], 5 * size))] if rng.random() < 0.5 else []
            bodies = [
                mover(((at - way * 2.5 * (k + 1) * size) % width, 0), half(), (way, 0), ec.Slide())
                for k in range(n)
            ]
            walls = walls or [box((at, 0), (half()[0], 5 * size))]
            space = wrapped_space(width, None)
            rested = None
            for step in range(100):
                for body in bodies:
                    set_velocity(body, way * 20 * size, 0)
                esper.process(1 / 60)
                row = walls + bodies
                for one, two in itertools.pairwise(row):
                    gaps = gaps_around(space.bounds(one), space.bounds(two), (width, None))
                    assert max(gaps) >= -(2.0**-50) * width
                if step > 60:
                    assert rested in (None, space.positions().tolist())  # nothing creeps
                    rested = space.positions().tolist()
                    assert len(space.contacts()) == n
                    assert not space.contact_array.size
                    for one, two in itertools.pairwise(row):
                        assert is_flush_outside(min(one, two), max(one, two), width)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_small_bodies_that_touch_go_over_the_edge_of_a_large_world_together(way, volume):
    """What is stored at the far end is coarse, and they still touch where numbers are fine."""
    for seed in range(volume(15, 30, 60)):
        rng = random.Random(seed)
        with another_world(f"small {seed} {way}"):
            width = rng.choice((1e6 + 0.1, 2.0**30, 1e9 / 7))
            halves = [rng.uniform(0.02, 0.2) for _ in range(3)]
            at, bodies = rng.uniform(2.0, 2.5), []
            for half in halves:
                bodies.append(mover((-way * at % width, 0), (half, half), (way, 0), ec.Slide()))
                at += 0.45
            set_velocity(bodies[-1], way * 3, 0)  # catches up with the others
            set_velocity(bodies[1], way * 1.5, 0)
            space = wrapped_space(width, None)
            for _ in range(40):
                esper.process(1 / 20)
            assert len(space.contacts()) == 2
            for _ in range(60):
                if seed % 2:  # it goes on pushing
                    set_velocity(bodies[-1], velocity(bodies[0])[0] + way / 8, 0)
                esper.process(1 / 20)
                assert not space.contact_array.size
                assert not (space.collision_array["kind"] == ec.SweepKind.OVERLAP).any()
                assert not (space.collision_array["time"] > 0.0).any()
            for _ in range(3):  # and where they stop
                for body in bodies:
                    set_velocity(body, 0, 0)
                esper.process(1 / 20)
                assert not space.contact_array.size
            near = np.minimum(space.positions(), width - space.positions())[:, 0]
            assert (near < 20.0).all()
            assert ((space.positions()[:, 0] < 20.0) == (way > 0)).all()  # all are over it


@pytest.mark.parametrize("dim", [2, 3])
def test_places_at_the_edge_never_let_anything_through(dim, volume):
    """Numbers that no binary fraction is: what is snapped across the edge is never inside."""
    widths = (100 / 3, 70.1, 55.5)[:dim]
    n_hits, n_worlds = 0, volume(12, 24, 40)
    for seed in range(n_worlds):
        rng = random.Random(seed)
        with another_world(f"edge {seed} {dim}"):
            wall = box([0.1] * dim, [1.7] * dim)
            axis = rng.randrange(dim)
            centre = [rng.uniform(-1, 1) for _ in range(dim)]
            centre[axis] = widths[axis] - rng.uniform(5, 9)
            speed = [rng.uniform(-1, 1) for _ in range(dim)]
            speed[axis] = rng.uniform(5, 90)
            body = mover(centre, [rng.uniform(0.1, 2) for _ in range(dim)], speed, ec.Slide())
            space = ec.install(ec.Space(dim, wrap=widths))
            for _ in range(30):
                set_velocity(body, *[*speed, 0.0][:3] if dim == 3 else speed)
                esper.process(1 / 30)
                n_hits += any(hit.other(body) == wall for hit in space.collisions)
                gaps = gaps_around(space.bounds(wall), space.bounds(body), widths)
                assert max(gaps) >= -(2.0**-50) * max(widths), (seed, gaps)
            assert abs(np.array(space.positions())).max() < max(widths)
    assert n_hits > 20 * n_worlds


def test_the_doctor_sees_who_is_inside_across_each_axis_of_a_world_of_three():
    for axis in range(3):
        with another_world(f"three {axis}"):
            centre = [10.0, 10.0, 10.0]
            one = mover(
                [*centre[:axis], 19.0, *centre[axis + 1 :]], (2, 2, 2), (0, 0, 0), ec.Deflect()
            )
            two = mover(
                [*centre[:axis], 2.5, *centre[axis + 1 :]], (2, 2, 2), (0, 0, 0), ec.Deflect()
            )
            space = ec.install(ec.Space(3, wrap=(20, 20, 20)))
            esper.process(1.0)

            (found,) = space.doctor()
            assert (found.cause, found.entities) == ("inside", (one, two))
            assert f"0.5 deep on {'xyz'[axis]}" in found.message


@pytest.mark.parametrize(
    ("first", "second", "loose"),
    [
        ((0.0, 1.0), (1.0 - 1e-9, 2.0), (0.0, -2.0)),  # the second above, a bit inside
        ((1.0 - 1e-9, 2.0), (0.0, 1.0), (-2.0, 0.0)),  # and below
        ((-1e-9, 1e-9), (-1e-9, 1e-9), (0.0, 0.0)),  # plates in one plane
        ((0.0, 1.0), (1.0 - 1e-3, 2.0), None),  # deeper than any rounding
    ],
)
def test_gaps_below_the_slop_of_the_width_count_as_none(first, second, loose):
    """Where numbers are fine, and what they were made of was not: of plain Python."""
    sweeper = plain.kernel("narrowphase.sweep_test").Sweeper(2)
    sweeper.aim(0, *first, *second, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    before = sweeper.gap[:2]

    sweeper.aim(0, *first, *second, 0.0, 0.0, 0.0, 0.0, 1.0, 1e6)

    assert sweeper.gap[:2] == (before if loose is None else list(loose))
    assert sweeper.slop[0] == sweeper.near[0] == SLOP * 1e6


@pytest.mark.parametrize(("at", "start", "way"), [(1, 318, 1), (319, 3, -1), (0.1, 315, 1)])
def test_a_plate_pressed_against_a_plate_across_the_edge_stays_on_its_side(at, start, way):
    """Two without thickness: face to face with no gap it would be forgotten who came from where."""
    box((at, 10), (0, 5))
    plate = mover((start, 10), (0, 2), (way * 35, 0), ec.Slide())
    space = wrapped_space()

    for step in range(30):
        set_velocity(plate, way * 35, 0)
        esper.process(0.1)
        off = position(plate)[0] - at
        off -= W if off > W / 2 else -W if off < -W / 2 else 0.0
        assert off * way < 0.0
        assert abs(off) < 1e-12 or step == 0
    assert len(space.contacts(plate)) == 1
