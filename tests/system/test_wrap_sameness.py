"""Worlds that wrap, with some of everything, in numbers as they come: always the same."""

from __future__ import annotations

import itertools
import random
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend

_numbers = itertools.count()


def furnish(rng):
    """Build a world of up to 14 bodies; return its axes and widths."""
    dim = rng.choice((2, 2, 3))
    widths = [rng.choice((None, rng.uniform(20, 60), 32.0)) for _ in range(dim)]
    widths[0] = widths[0] or 40.5
    speed = rng.choice((5, 100, 3000))  # the last is more than once around in a step
    for _ in range(rng.randrange(4, 14)):
        half = [rng.choice((0.0, rng.uniform(0, 4), rng.uniform(0, 4))) for _ in range(dim)]
        if rng.random() < 0.15:
            axis = rng.randrange(dim)
            half[axis] = (widths[axis] or 40.0) / 2
        parts = [
            rng.choice(
                (ec.Deflect(), ec.Deflect(0.5), ec.Slide(), ec.Stop(), ec.Push(), ec.Sensor())
            )
        ]
        if rng.random() < 0.8:
            parts.append(ec.Velocity(*[rng.uniform(-speed, speed) for _ in range(dim)]))
        if rng.random() < 0.1:
            parts.append(ec.Growth(*[rng.uniform(-3, 3) for _ in range(dim)]))
        if rng.random() < 0.3:
            parts.append(ec.Mass(rng.uniform(0.1, 10)))
        normal = [0.0] * dim
        normal[rng.randrange(dim)] = rng.choice((-1.0, 1.0))
        for chance, part in (
            (
                0.2,
                ec.Filter(rng.choice((1, 2, 3)), rng.choice((1, 3, ec.ALL)), rng.choice((0, -1))),
            ),
            (0.15, ec.OneWay(normal)),
            (0.15, ec.Carry([rng.uniform(-9, 9) for _ in range(dim)], normal)),
            (0.3, ec.Friction(rng.uniform(0, 2))),
        ):
            if rng.random() < chance:
                parts.append(part)
        centre = [rng.uniform(-5, 65) for _ in range(dim)]
        esper.create_entity(ec.Position(*centre), ec.Extents(*half), *parts)
    return dim, widths


def log_of(seed, motion, *, saved=False, **settings):
    """Return all that the steps of a world show, each of them looked at."""
    name = f"wrap {next(_numbers)}"
    esper.switch_world(name)
    rng = random.Random(seed)
    dim, widths = furnish(rng)
    space = ec.install(ec.Space(dim, wrap=widths, motion=motion, **settings))
    ends = np.array([width or np.inf for width in widths])
    log = []
    for step in range(12):
        if motion == "swept" or step % 5 == 3:
            for _, place in esper.get_component(ec.Position):
                if rng.random() < 0.5:
                    place.x += rng.uniform(-30, 30)
        if saved:
            data = space.snapshot()
            space.restore(data)
            assert space.snapshot() == data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of one that outgrows the world
            esper.process(1 / 60)
        space.check()
        places = space.positions()
        left_out = {report.entity for report in space.reports}
        inside = places[[entity not in left_out for entity in space.entities]]
        assert (inside[:, np.isfinite(ends)] >= 0).all()
        assert (inside < ends).all()
        log += [
            space.collision_array.tobytes(),
            space.contact_array.tobytes(),
            places.tobytes(),
            space.velocities().tobytes(),
        ]
    esper.switch_world("default")
    esper.delete_world(name)
    return log


@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_fat_bounds_snapshots_and_compilation_change_nothing(motion, monkeypatch, volume):
    implementations = [backend.load(compiled=False)]
    if backend.kernels.compiled:
        implementations.insert(0, backend.load(compiled=True))
    for seed in range(volume(3, 30)):
        logs = []
        for kernels in implementations if seed % 6 == 0 else implementations[:1]:
            monkeypatch.setattr(backend, "kernels", kernels)
            logs.append(log_of(seed, motion))
        monkeypatch.setattr(backend, "kernels", implementations[0])
        logs.append(log_of(seed, motion, margin=0.0, lookahead=0.0))
        logs.append(log_of(seed, motion, margin=100.0))
        logs.append(log_of(seed, motion, saved=True))
        assert logs.count(logs[0]) == len(logs), seed
