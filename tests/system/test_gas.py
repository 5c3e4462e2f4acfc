"""A gas of equal elastic boxes: nobody escapes, nobody sinks in, nothing is won or lost."""

from __future__ import annotations

import math

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import columns, gas, pairs_inside

pytestmark = pytest.mark.usefixtures("world")


def test_the_oracle_finds_boxes_inside_one_another():
    # What decides the tests below, against all pairs.
    rng = np.random.default_rng(1)
    mins = rng.uniform(0, 20, (200, 2))
    maxs = mins + rng.uniform(0, 2, (200, 2))

    found = {tuple(sorted(pair)) for pair in pairs_inside(mins, maxs).tolist()}

    expected = set()
    for i in range(200):
        for j in range(i):
            if np.all((mins[i] < maxs[j]) & (mins[j] < maxs[i])):
                expected.add((j, i))
    assert found == expected
    assert expected


def run(dim, n, spacing, speed, steps, **limits):
    """Run the gas and check every step; return the number of impacts."""
    boxes, side = gas(n, spacing=spacing, speed=speed, dim=dim)
    space = ec.install(ec.Space(dim=dim, **limits))
    places = [esper.component_for_entity(entity, ec.Position) for entity in boxes]

    def speeds():
        return np.sort(np.abs(columns(boxes, ec.Velocity, dim)), axis=0)

    def energy():
        return math.fsum((columns(boxes, ec.Velocity, dim) ** 2).ravel().tolist())

    first_speeds, first_energy = speeds(), energy()
    n_impacts = 0
    for step in range(steps):
        esper.process(1 / 60)
        n_impacts += space.stats.impacts
        centres = np.array([(p.x, p.y, p.z)[:dim] for p in places])
        mins, maxs = centres - 1.0, centres + 1.0
        assert mins.min() >= 0.0
        assert maxs.max() <= side
        assert len(pairs_inside(mins, maxs)) == 0, step
        if step % 50 == 0:
            assert energy() == first_energy

    assert np.array_equal(speeds(), first_speeds)
    assert energy() == first_energy
    assert space.stats.held == 0
    space.check()
    return n_impacts


def test_two_thousand_boxes_in_a_closed_arena(volume):
    steps = volume(100, 800, 2000)

    n_impacts = run(2, n=2000, spacing=7.0, speed=60.0, steps=steps)

    assert n_impacts > 30 * steps


def test_a_gas_in_three_dimensions(volume):
    steps = volume(100, 400)

    n_impacts = run(3, n=343, spacing=4.0, speed=60.0, steps=steps)

    assert n_impacts > 5 * steps


@pytest.mark.parametrize("dim", [2, 3])
def test_a_dense_and_fast_gas(dim, volume):
    # Half the room is box, and each would cross several others in a step: some 20 impacts each.
    steps = volume(15, 60)

    n = 10**2 if dim == 2 else 4**3
    limits = {"pair_limit": 1000}
    n_impacts = run(dim, n, spacing=2.8, speed=600.0, steps=steps, **limits)

    assert n_impacts > 100 * steps


def crossings(paths, half, tolerance):
    """Find the pairs whose paths lead through one another, by trying all.

    `paths` has for each body its corner points, rows of time and centre.
    """
    found = []
    for i in range(len(paths)):
        for j in range(i):
            a, b = paths[i], paths[j]
            reach = 2 * half
            if np.any(a.max(0)[1:] + reach < b.min(0)[1:]) or np.any(
                b.max(0)[1:] + reach < a.min(0)[1:]
            ):
                continue
            times = np.union1d(a[:, 0], b[:, 0])
            apart = np.stack(
                [
                    np.interp(times, a[:, 0], a[:, k]) - np.interp(times, b[:, 0], b[:, k])
                    for k in range(1, a.shape[1])
                ]
            )
            for t in range(len(times) - 1):
                if _meets_inside(apart[:, t], apart[:, t + 1], reach - tolerance):
                    found.append((i, j, float(times[t])))
    return found


def _meets_inside(start, end, reach):
    """Return whether a point from `start` to `end` passes through the box of half size `reach`."""
    enter, leave = 0.0, 1.0
    for a, b in zip(start.tolist(), end.tolist(), strict=True):
        rate = b - a
        if rate == 0:
            if abs(a) >= reach:
                return False
            continue
        first, last = sorted(((-reach - a) / rate, (reach - a) / rate))
        enter, leave = max(enter, first), min(leave, last)
    return enter < leave


def test_the_oracle_of_paths_finds_a_crossing():
    still = np.array([[0.0, 5.0, 0.0], [1.0, 5.0, 0.0]])
    through = np.array([[0.0, 0.0, 0.5], [1.0, 10.0, 0.5]])
    past = np.array([[0.0, 0.0, 2.5], [1.0, 10.0, 2.5]])
    bounced = np.array([[0.0, 0.0, 0.5], [0.3, 3.0, 0.5], [1.0, -4.0, 0.5]])

    assert crossings([still, through], 1.0, 1e-9) == [(1, 0, 0.0)]
    assert crossings([still, past], 1.0, 1e-9) == []
    assert crossings([still, bounced], 1.0, 1e-9) == []


@pytest.mark.parametrize("dim", [2, 3])
def test_no_path_leads_through_another_box_at_any_time_of_a_step(dim, volume):
    # The events tell where each elastic box turns: between them its path is a straight line.
    boxes, _ = gas(49 if dim == 2 else 64, spacing=4.0, speed=300.0, dim=dim)
    space = ec.install(ec.Space(dim=dim, pair_limit=1000))
    row = {entity: i for i, entity in enumerate(boxes)}

    for _ in range(volume(4, 20)):
        paths = [[(0.0, *c)] for c in columns(boxes, ec.Position, dim).tolist()]
        esper.process(1 / 20)
        for hit in space.collisions:
            for entity, place in (
                (hit.first, hit.position_first),
                (hit.second, hit.position_second),
            ):
                if entity in row:
                    paths[row[entity]].append((hit.time, *place))
        for path, place in zip(paths, columns(boxes, ec.Position, dim).tolist(), strict=True):
            path.append((1.0, *place))

        assert crossings([np.array(path) for path in paths], 1.0, 1e-9) == []
