"""The ends of ladders: at floors, above them and in the air."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState, Ladder
from tests.scenes import box, mover, of

pytestmark = pytest.mark.usefixtures("world", "implementation")

WORLDS = [{}, {"sign": -1}, {"dim": 3}, {"rate": 30}, {"rate": 144}, {"restores": True}]


class Shaft:
    """A hero at a ladder between one-way floors, and a ground below."""

    def __init__(self, low, top, *floors, sign=1, dim=2, rate=60, restores=False):
        self.sign, self.dim, self.rate, self.restores = sign, dim, rate, restores
        self.box(-110, 10)
        self.floors = [self.box(at - 4, 4, ec.OneWay(self.at(1))) for at in floors]
        self.ladder = self.box((low + top) / 2, (top - low) / 2, ec.Sensor(), Ladder(), wide=6)
        self.hero = Character(climb_speed=100, up=self.at(1))

    def at(self, y, x=0.0):
        return (x, self.sign * y, 0.0)[: self.dim]

    def box(self, y, high, *parts, wide=100.0):
        return box(self.at(y), (wide, high, wide)[: self.dim], *parts)

    def enter(self, feet, x=0.0):
        half = (8, 16, 8)[: self.dim]
        self.body = mover(self.at(feet + 16, x), half, (0,) * self.dim, ec.Slide(), self.hero)
        self.space = ec.install(dim=self.dim)
        self.climb(0.0, 0.1)

    def climb(self, wish, seconds):
        for _ in range(round(seconds * self.rate)):
            self.hero.climb = wish
            esper.process(1 / self.rate)
            if self.restores:
                self.space.restore(self.space.snapshot())
                self.hero = of(self.body, Character)

    @property
    def feet(self):
        return self.space.position_of(self.body)[1] * self.sign - 16


@pytest.mark.parametrize("how", WORLDS)
@pytest.mark.parametrize("end", [0, -3, -8])  # on the floor, and inside of it
def test_climb_down_ends_on_the_floor_on_which_the_ladder_stands(how, end):
    shaft = Shaft(end, 80, 0, **how)
    shaft.enter(0)
    shaft.climb(1.0, 0.3)
    assert shaft.hero.state is CharacterState.CLIMBING

    shaft.climb(-1.0, 1.5)

    assert shaft.hero.state is CharacterState.STANDING
    assert shaft.hero.ground == shaft.floors[0]
    assert shaft.feet == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("how", WORLDS)
@pytest.mark.parametrize("top", [80, 84])  # flush with the floor, and above it
def test_feet_on_the_top_of_a_ladder_enter_it_downwards(how, top):
    shaft = Shaft(-8, top, 0, 80, **how)
    shaft.enter(80)
    assert shaft.hero.ground == shaft.floors[1]

    shaft.climb(-1.0, 0.3)
    assert shaft.hero.state is CharacterState.CLIMBING
    assert 40 < shaft.feet < 70
    shaft.climb(-1.0, 1.0)

    assert shaft.hero.ground == shaft.floors[0]
    shaft.climb(1.0, 1.5)  # and up again
    assert shaft.hero.state is CharacterState.STANDING or top == 80
    assert shaft.feet == pytest.approx(80, abs=1e-6)


@pytest.mark.parametrize("x", [14.0, 30.0])  # its side is flush with that of the ladder
def test_ladder_beside_the_feet_is_not_entered(x):
    shaft = Shaft(-8, 80, 0, 80)
    shaft.enter(80, x)

    shaft.climb(-1.0, 0.5)

    assert shaft.hero.ground == shaft.floors[1]


@pytest.mark.parametrize("how", WORLDS)
def test_climb_up_ends_at_the_end_of_a_rope(how):
    shaft = Shaft(-100, 50, **how)
    shaft.enter(-100)

    shaft.climb(1.0, 2.0)
    assert shaft.feet == pytest.approx(50, abs=1e-6)
    for _ in range(20):
        shaft.climb(1.0, 1 / shaft.rate)
        assert shaft.hero.state is CharacterState.CLIMBING
        assert shaft.feet == pytest.approx(50, abs=1e-6)
    shaft.climb(-1.0, 0.5)

    assert shaft.feet == pytest.approx(0, abs=2)


def test_solid_floor_beside_a_platform_is_no_way_down():
    shaft = Shaft(-90, 80, 0)
    solid = box((6, -4), (10, 4))
    shaft.enter(0)

    shaft.climb(-1.0, 0.5)

    assert shaft.hero.ground in (solid, shaft.floors[0])
    assert shaft.hero.state is CharacterState.STANDING
