"""Three games in which something goes wrong that is not the library's fault, and play goes on."""

from __future__ import annotations

import math
import warnings

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.path import Path
from ecs_collide.zone import Zone
from tests.scenes import box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


def play(n: int) -> None:
    steps(n, DT)


def installed(**settings: object) -> ec.Space:
    return ec.install(gravity=(0, -600), **settings)


def test_level_file_with_a_wrong_fan_is_played_until_the_designer_mends_it():
    #
    #     fan A blows      fan B: its file says "flow_y": "12O" (a letter)
    #      |  ^   |          |  ?   |
    #      | [a]  |          | [b]  |
    #   ===================================
    #
    box((0, -8), (400, 8), ec.Fixed())
    fans = [box((x, 60), (20, 60), ec.Sensor(), Zone(drag=8, flow_y=700)) for x in (-100, 100)]
    leaves = [mover((x, 4), (4, 4), (0, 0), ec.Slide()) for x in (-100, 100)]
    space = installed()
    of(fans[1], Zone).flow_y = "12O"

    with pytest.warns(RuntimeWarning, match=f"entity {fans[1]} is skipped .*flow_y is '12O'"):
        play(40)

    assert position(leaves[0])[1] > 60 > position(leaves[1])[1] == 4.0
    of(fans[1], Zone).flow_y = 700.0  # the editor reloads the file
    play(40)
    assert position(leaves[1])[1] > 60
    assert len(space.reports) == 1


@pytest.mark.parametrize("rolls_back", [False, True])
def test_player_who_leaves_in_the_middle_of_a_slide_becomes_a_bot(rolls_back):
    #
    #            ________   crawls under it, and is replaced by a bot, which walks on and stands up
    #    [ ]  _  ________
    #   ===================================
    #
    box((0, -8), (400, 8), ec.Fixed())
    box((60, 45), (30, 20), ec.Fixed())  # from 25 up
    keys = Character(crouch_height=20, dash_speed=400, dash_through=2, crouch_speed=200)
    hero = mover((0, 16), (6, 16), (0, 0), ec.Slide(), ec.Filter(1, 0xFF), keys)
    space = installed()
    play(2)
    keys.crouch = True
    play(1)
    keys.walk = 1.0
    play(15)
    assert 30 < position(hero)[0] < 90
    state = space.save_state()
    ends = []
    for _ in range(2 if rolls_back else 1):
        bot = Character(crouch_height=20)
        esper.add_component(hero, bot)
        bot.walk = 1.0
        play(5)
        assert of(hero, ec.Extents).y == 10.0  # no room yet
        play(60)
        assert of(hero, ec.Extents).y == 16.0
        assert position(hero)[0] > 90
        ends.append(space.state_hash())
        space.restore(state)
    assert len(set(ends)) == 1


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
