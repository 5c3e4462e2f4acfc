"""What a step costs in Python, in counts that are the same on every machine."""

from __future__ import annotations

import sys

import esper
import pytest

import ecs_collide as ec
from benchmarks import counts


@pytest.fixture(autouse=True)
def only_compiled(implementation):
    if implementation == "plain":
        pytest.skip("kernels in pure Python are bytecodes")


@pytest.mark.parametrize("n", [10, 200])
def test_a_step_that_nobody_listens_to_runs_little_python(world, n):
    bytecodes, frames = counts.python_of_a_step(n)

    assert bytecodes <= 400
    assert frames <= 15


def test_a_listener_is_paid_for_by_events_and_not_by_bodies(world):
    def of_a_step(n: int) -> tuple[int, int]:
        esper.clear_database()
        return counts.python_of_a_step(n, lambda space: space.on_collision(heard.append))

    heard: list[ec.Collision] = []
    few = of_a_step(10)
    n_few = len(heard)
    many = of_a_step(200)

    n_events = (len(heard) - n_few) / counts.N_COUNTED  # about as many in each step
    assert n_events > 5.0
    assert few[0] < 2000
    assert many[0] < few[0] + 500 * n_events


def test_a_response_of_the_game_is_paid_for_by_impacts(world):
    def of_a_step(n: int) -> tuple[int, int]:
        esper.clear_database()

        def respond(impact: ec.Impact) -> object:
            offered.append(impact.first)
            return ec.DEFAULT

        return counts.python_of_a_step(n, lambda space: space.respond_with(ec.Deflect, respond))

    offered: list[int] = []
    few = of_a_step(10)
    n_few = len(offered)
    many = of_a_step(200)

    n_impacts = (len(offered) - n_few) / counts.N_COUNTED
    assert n_impacts > 5.0
    assert few[0] < 2500
    assert many[0] < few[0] + 900 * n_impacts
    assert many[1] < few[1] + 40 * n_impacts


def test_a_body_that_sleeps_costs_a_quiet_step_no_call(world):
    def calls(*more: object) -> int:
        esper.clear_database()
        esper.create_entity(ec.Position(0, -10), ec.Extents(500, 10))
        esper.create_entity(ec.Position(200, 100), ec.Extents(1, 1), ec.Velocity(10, 0))
        esper.create_entity(ec.Position(0, 1), ec.Extents(1, 1), *more)
        space = ec.install()
        for _ in range(40):
            esper.process(1 / 60)
        assert space.stats.asleep == len(more) // 2
        found = []
        sys.setprofile(lambda _, event, __: found.append(event))
        try:
            esper.process(1 / 60)
        finally:
            sys.setprofile(None)
        return len(found)

    assert calls(ec.Velocity(0, 0), ec.Slide()) == calls()
