"""Something goes wrong that is not the fault of the library, and play goes on."""

from __future__ import annotations

import math
import warnings

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.path import Path
from tests.scenes import box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


def play(n: int) -> None:
    steps(n, DT)


def installed(**settings: object) -> ec.Space:
    return ec.install(gravity=(0, -600), **settings)


def test_game_that_logs_faults_of_its_processors_and_goes_on():
    #
    #   A quest system between the stages fails in every tenth step; the main loop logs it.
    #
    box((0, -8), (900, 8), ec.OneWay())
    box((0, -80), (900, 8))
    lift = mover((60, 4), (20, 4), (0, 0), ec.Carry(), Path([(60, 4), (60, 60)], 30))
    keys = Character(crouch_height=20)
    hero = mover((0, 16), (6, 16), (0, 0), ec.Slide(), keys)
    space = installed()
    faults = []

    class Quests(esper.Processor):
        n = 0

        def process(self, dt: float) -> None:
            self.n += 1
            if self.n % 10 == 0:
                raise KeyError("no such quest")

    class Input(esper.Processor):
        def process(self, dt: float) -> None:
            keys.crouch = len(faults) % 2 == 1
            keys.drop = len(faults) == 5
            if space.is_on(hero):  # asks the space before the step
                keys.walk = 0.5

    esper.add_processor(Quests(), priority=115)
    esper.add_processor(Input(), priority=500)
    for _ in range(80):
        try:
            esper.process(DT)
        except KeyError as error:
            faults.append(error)

    assert len(faults) == 8
    assert space.stats is not None
    assert space.time == pytest.approx(72 * DT)
    assert position(hero)[1] < 0.0  # it has dropped
    assert math.isfinite(velocity(lift)[1])
    space.check()


def test_all_warnings_may_be_errors():
    box((0, -8), (400, 8))
    keys = Character()
    hero = mover((0, 16), (6, 16), (0, 0), ec.Slide(), keys)
    other = mover((50, 16), (6, 16), (0, 0), ec.Slide(), Character())
    space = installed()
    play(2)
    keys.walk_speed = math.nan
    of(other, Character).walk = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        with pytest.raises(RuntimeWarning, match=f"entity {hero} is skipped"):
            play(1)
        play(3)

    assert position(other)[0] > 50.0
    assert len(space.reports) == 1
