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
    assert many[0] < few[0] + 440 * n_impacts
    assert many[1] < few[1] + 16 * n_impacts


class Heroes:
    """Characters in one situation each, far from each other."""

    def __init__(self, situation: str, n: int, dim: int) -> None:
        self.heroes = []
        self.dim, fixed = dim, ec.Fixed()
        ground = {
            "slope": [ec.Slope("right"), fixed],
            "lift": [ec.Velocity(0, 20), ec.Carry()],
            "belt": [ec.Carry(surface=(20, 0)), fixed],
            "one-way": [ec.OneWay(), fixed],
        }.get(situation, [fixed])
        for x in range(0, 4000 * n, 4000):
            high = 100 if situation == "slope" else 8
            self.box(x, -high, 1900, high, *ground)
            if situation == "stairs":
                for k in range(1, 60):
                    self.box(x + 16 * k, 2 * k, 8, 2 * k, fixed)
            elif situation == "wall":
                self.box(x + 40, 40, 8, 60, fixed)
            elif situation == "crate":
                self.box(x + 26, 8, 8, 8, ec.Velocity(0, 0), ec.Slide(), ec.Friction(0.2))
            elif situation == "zone":
                self.box(x, 0, 1900, 100, ec.Sensor(), ec.Zone(drag=1.0, walk=0.5), fixed)
            moves = {"air_jumps": 1, "wall_slide_speed": 60, "ledge_reach": 6, "climb_speed": 90}
            moves |= {"dash_speed": 600, "crouch_height": 20, "hover_speed": 50, "swim_speed": 100}
            hero = ec.Character(walk_speed=60, **moves if situation == "all moves" else {})
            hero.walk = float(situation != "stands")
            hero.jump = situation == "jump"
            high = {"air": 9000, "slope": 30}.get(situation, 12)
            self.box(x, high, 6, 12, ec.Velocity(0, 0), ec.Slide(), hero)
            self.heroes.append(hero)
        ec.install(dim=dim, gravity=(0, -900, 0)[:dim])

    def box(self, x: float, y: float, half_x: float, half_y: float, *more: object) -> None:
        deep = (0, 60) if self.dim == 3 else (0, 0)
        esper.create_entity(ec.Position(x, y, deep[0]), ec.Extents(half_x, half_y, deep[1]), *more)

    def calls(self) -> int:
        """Return the calls of Python and C in 12 steps."""
        for _ in range(70):
            esper.process(1 / 60)
        found: list[str] = []
        for step in range(12):
            for hero in self.heroes:
                hero.jump = hero.jump and step < 8
            sys.setprofile(lambda _, event, __: found.append(event))
            try:
                esper.process(1 / 60)
            finally:
                sys.setprofile(None)
        return len(found)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(
    "situation",
    [
        *("stands", "walks", "wall", "air", "jump", "slope", "stairs", "lift", "belt", "one-way"),
        *("crate", "zone", "all moves"),
    ],
)
def test_a_character_costs_a_step_no_call(world, situation, dim):
    def calls(n: int) -> int:
        esper.clear_database()
        return Heroes(situation, n, dim).calls()

    assert calls(3) == calls(1)


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
