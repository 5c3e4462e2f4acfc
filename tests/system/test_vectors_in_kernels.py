"""Vectors and C loops of compiled kernels give the same bits as the loops in Python."""

from __future__ import annotations

import itertools

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.motion.columns import views_of
from tests.scenes import another_world, mixed_run

pytestmark = pytest.mark.skipif(
    not ec.COMPILED, reason="compares the compiled kernels with pure Python"
)


class Place(ec.Position):
    __slots__ = ()


def mixed(dim):
    run = mixed_run(dim=dim, make_space=lambda: ec.install(dim=dim))
    next(run)
    return run


def vanishing(dim, special):
    """Take steps of boxes that shrink to nothing."""
    speeds = []
    limit = ec.MaxSpeed(9.0)
    for i in range(24):
        at = [(7.0 * i + 3.0 * k) % 40.0 for k in range(dim)]
        place = (Place if special == "subclass" and i == 5 else ec.Position)(*at)
        speed = ec.Velocity(*[(-1.0) ** i * (i % 5) * (k + 1) for k in range(dim)])
        speeds.append(speed)
        parts = [ec.Growth(*[-0.3] * dim)] if i % 4 == 0 else [ec.Mass(1.0 + i % 3)]
        parts += [limit] * (i == 9)
        esper.create_entity(place, speed, ec.Extents(*[0.5] * dim), ec.Deflect(), *parts)
    # In a world that wraps, all bodies are read one by one.
    ec.install(dim=dim, wrap=[40.0] * dim if special == "wrap" else None)
    for step in itertools.count():
        if step == 4 and special == "ints":
            for speed in speeds:
                speed.x = 3 if speed.x == 0.0 else speed.x
        if step == 7:
            limit.speed = 1.0
        esper.process(0.25)
        yield


def bits_of(make, n_steps, compiled, monkeypatch):
    """Return all columns and components after each step."""
    found = []
    with monkeypatch.context() as patch:
        patch.setattr(backend, "kernels", backend.load(compiled=compiled))
        with another_world("at once"):
            run = make()
            for _ in range(n_steps):
                next(run)
                space = esper.get_processor(ec.BroadphaseSystem).space
                bodies = space._registry.table.bodies
                columns = views_of(bodies.blocks, bodies.memory)
                found.append([column.tobytes() for column in columns.values()])
                found[-1].append(
                    sorted(
                        (entity, place.xyz, speed.xyz)
                        for entity, (place, speed) in esper.get_components(ec.Position, ec.Velocity)
                    )
                )
    return found


def compare(make, n_steps, monkeypatch):
    assert bits_of(make, n_steps, True, monkeypatch) == bits_of(make, n_steps, False, monkeypatch)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("special", ["wrap", "ints", "subclass"])
def test_boxes_that_vanish(dim, special, monkeypatch):
    make = lambda: vanishing(dim, special)  # noqa: E731

    compare(make, 12, monkeypatch)


@pytest.mark.parametrize("grows", [False, True])
def test_boxes_far_away_and_boxes_that_move_on_one_axis(grows, monkeypatch):
    def run():
        far = 2.0**199
        for i in range(40):
            at = (far, i * far / 64) if i > 35 else (9.0 * i, -0.0)
            speed = ec.Velocity((i % 3 == 1) * 5.0 + (i == 36) * far, (i % 3 == 2) * -4.0)
            parts = [ec.Growth(0.25, 0.0)] if grows and i == 20 else []
            esper.create_entity(ec.Position(*at), ec.Extents(0.5, 1.0), speed, ec.Deflect(), *parts)
        ec.install()
        while True:
            esper.process(0.25)
            yield

    compare(run, 6, monkeypatch)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_room_with_some_of_everything(dim, monkeypatch):
    make = lambda: mixed(dim)  # noqa: E731

    compare(make, 8, monkeypatch)
