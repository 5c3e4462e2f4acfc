"""A character with `Friction` gets faster and slower by the friction of its ground."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from tests.scenes import box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("implementation", "world")


class Rink:
    """A hero on two floors of one material, at whose seam it stands."""

    def __init__(self, grip, *ice, dim=2, way=1, rate=60, sign=1, restores=False):
        self.dim, self.way, self.rate, self.restores = dim, way, rate, restores
        self.z, deep = (0.0,) * (dim - 2), (90.0,) * (dim - 2)
        for x in (-900, 900):
            parts = [ec.Friction(*ice)] if ice else []
            box((x * way, -8 * sign, *self.z), (900, 8, *deep), *parts)
        self.hero = Character(acceleration=1200, deceleration=600, up=(0, sign, *self.z))
        self.body = mover(
            (0, 16 * sign, *self.z), (8, 16, *(8.0,) * (dim - 2)), (0,) * dim, ec.Slide(), self.hero
        )
        if grip is not None:
            esper.add_component(self.body, ec.Friction(grip))
        self.space = ec.install(dim=dim)
        self.run(0.1)

    def run(self, seconds):
        """Play for so long, as near as whole steps come to it; return the time."""
        n = round(seconds * self.rate)
        steps(n, 1 / self.rate)
        if self.restores:
            self.space.restore(self.space.snapshot())
            self.hero = of(self.body, Character)
        return n / self.rate

    @property
    def speed(self):
        return velocity(self.body)[0] * self.way


HOWS = (
    {}, {"dim": 3}, {"way": -1}, {"sign": -1}, {"rate": 30}, {"rate": 144}, {"restores": True},
)  # fmt: skip


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("grip", "ice", "factor"),
    [
        *((None, (), 1.0), (None, (0.0,), 1.0), (1.0, (), 1.0), (0.5, (), 0.5)),
        *((1.0, (0.25,), 0.5), (1.0, (0.25, "min"), 0.25), (1.0, (0.0,), 0.0)),
    ],
)
def test_it_gets_faster_and_slower_by_the_friction_of_the_pair(grip, ice, factor, how):
    rink = Rink(grip, *ice, **how)

    rink.hero.walk = rink.way
    time = rink.run(0.1)
    assert rink.speed == pytest.approx(1200 * time * factor)

    rink.hero.walk = 0.0
    rink.run(0.1)
    assert rink.speed == pytest.approx(600 * time * factor)


@pytest.mark.parametrize("how", HOWS)
def test_it_slides_on_ice_and_steers_in_the_air_as_usual(how):
    rink = Rink(1.0, 0.01, **how)
    of(rink.body, ec.Velocity).x = 240.0 * rink.way

    rink.run(0.5)
    assert rink.speed == pytest.approx(240 - 0.5 * 60)
    assert position(rink.body)[0] * rink.way == pytest.approx(112.5, abs=1.1)
    rink.hero.jump = True
    rink.run(0.1)
    before = rink.speed
    time = rink.run(0.1)

    assert before - rink.speed == pytest.approx(time * 600 * rink.hero.air_control)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(("grip", "floor"), [(1.0, ()), (None, (0.5,))])
def test_landing_on_a_floor_with_friction_costs_none_of_its_walk(grip, floor, how):
    rink = Rink(grip, *floor, **how)
    rink.hero.walk = rink.way
    rink.hero.jump = True
    rink.run(0.9)
    assert rink.hero.on_ground

    assert rink.speed == rink.hero.walk_speed
    rink.hero.jump = False
    rink.run(0.1)
    rink.hero.jump = True
    x = position(rink.body)[0] + 60 * rink.way
    wall = box((x, 0, *rink.z), (20, 900, *(90.0,) * len(rink.z)))
    rink.run(0.9)

    assert rink.space.is_on(rink.body, (-rink.way, 0, *rink.z)).other(rink.body) == wall
    assert rink.speed == 0.0
