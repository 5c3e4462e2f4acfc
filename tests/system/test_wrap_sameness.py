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
from tests.random_worlds import Draw, write
from tests.scenes import another_world

_numbers = itertools.count()


def furnish(rng):
    """Build a world of up to 14 bodies; return its axes and widths."""
    dim = rng.choice((2, 2, 3))
    widths = [rng.choice((None, rng.uniform(20, 60), 32.0)) for _ in range(dim)]
    widths[0] = widths[0] or 40.5
    draw = Draw(
        rng,
        dim,
        mixture=0.5,
        reach=65.0,
        sizes=(0.0, 0.5, 1.0, 3.0, min(width for width in widths if width) / 2),
        speed=rng.choice((5.0, 100.0, 3000.0)),  # the last is more than once around in a step
    )
    for _ in range(rng.randrange(4, 14)):
        draw.body()
    return dim, widths


def is_off(entity, skipped):
    """Return whether a body is not in the world, or attached to one that is not."""
    box = esper.try_component(entity, ec.Attached)
    return any(
        e in skipped or esper.has_component(e, ec.Disabled)
        for e in (entity, box.owner if box else entity)
    )


def log_of(seed, motion, *, saved=False, **settings):
    """Return all that the steps of a world show, each of them looked at."""
    with another_world(f"wrap {next(_numbers)}"):
        rng = random.Random(seed)
        dim, widths = furnish(rng)
        space = ec.install(ec.Space(dim, wrap=widths, motion=motion, **settings))
        ends = np.array([width or np.inf for width in widths])
        log = []
        for step in range(12):
            if motion == "swept" or step % 5 == 3:
                for entity, place in list(esper.get_component(ec.Position)):
                    if rng.random() < 0.5:
                        x = place.x + rng.uniform(-30, 30)
                        write(entity, ec.Position(x, place.y, place.z))
            if saved:
                data = space.snapshot()
                space.restore(data)
                assert space.snapshot() == data
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of one that outgrows the world
                esper.process(1 / 60)
            space.check()
            places = space.positions()
            skipped = {report.entity for report in space.reports}
            inside = places[[not is_off(entity, skipped) for entity in space.entities]]
            assert (inside[:, np.isfinite(ends)] >= 0).all()
            assert (inside < ends).all()
            log += [
                space.collision_array.tobytes(),
                space.contact_array.tobytes(),
                places.tobytes(),
                space.velocities().tobytes(),
            ]
    return log


@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_fat_bounds_snapshots_and_compilation_change_nothing(motion, monkeypatch, volume):
    implementations = [backend.load(compiled=False)]
    if backend.kernels.compiled:
        implementations.insert(0, backend.load(compiled=True))
    for seed in range(volume(3, 12, 30)):
        logs = []
        for kernels in implementations if seed % 6 == 0 else implementations[:1]:
            monkeypatch.setattr(backend, "kernels", kernels)
            logs.append(log_of(seed, motion))
        monkeypatch.setattr(backend, "kernels", implementations[0])
        logs.append(log_of(seed, motion, margin=0.0, lookahead=0.0))
        logs.append(log_of(seed, motion, margin=100.0))
        logs.append(log_of(seed, motion, saved=True))
        assert logs.count(logs[0]) == len(logs), seed
