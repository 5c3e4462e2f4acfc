"""A character without gravity walks on the plane, and slips round corners of walls."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from tests.scenes import box, mover, of, position, velocity

pytestmark = pytest.mark.usefixtures("implementation", "world")


class Plane:
    """A hero in the middle; places are ahead of it and beside it."""

    def __init__(self, dim=2, ahead=0, way=1, side=1, rate=60, restores=False, **abilities):
        self.dim, self.rate, self.restores = dim, rate, restores
        self.axes = (0, dim - 1) if ahead == 0 else (dim - 1, 0)
        self.signs = way, side
        self.hero = Character(**{"acceleration": math.inf, **abilities})
        self.body = mover(
            (0,) * dim, (8,) * dim, (0,) * dim, ec.Slide(), ec.GravityScale(0), self.hero
        )
        self.space = ec.install(dim=dim)

    def at(self, ahead, beside, up=0.0, signed=True):
        found = [up] * self.dim
        for axis, sign, value in zip(self.axes, self.signs, (ahead, beside), strict=True):
            found[axis] = value * sign if signed else value
        return found

    def wall(self, low, high, *parts):
        """Build a wall between two corners."""
        (a, b), (c, d) = low, high
        half = self.at((c - a) / 2, (d - b) / 2, 50, signed=False)
        return box(self.at((a + c) / 2, (b + d) / 2), half, *parts)

    def go(self, ahead, beside=0.0):
        wishes = self.at(ahead, beside)
        self.hero.walk, self.hero.across = wishes[0], wishes[-1]

    def run(self, seconds):
        for _ in range(round(seconds * self.rate)):
            esper.process(1 / self.rate)
            if self.restores:
                self.space.restore(self.space.snapshot())
                self.hero = of(self.body, Character)

    def seen(self, vector):
        """Return the parts of a vector ahead and beside."""
        return tuple(vector[k] * sign for k, sign in zip(self.axes, self.signs, strict=True))

    @property
    def place(self):
        return self.seen(position(self.body, self.dim))


HOWS = (
    *({}, {"way": -1}, {"side": -1}, {"ahead": 1}, {"ahead": 1, "way": -1}, {"dim": 3}),
    *({"dim": 3, "ahead": 1}, {"rate": 30}, {"rate": 144}, {"restores": True}),
)


@pytest.mark.parametrize("how", HOWS)
def test_it_walks_on_the_plane_and_does_not_fall(how):
    plane = Plane(**how)
    plane.run(0.5)
    assert plane.place == (0, 0)
    assert plane.hero.state is CharacterState.STANDING

    plane.go(0.6, 0.8)
    plane.run(0.5)
    assert plane.place == pytest.approx((72, 96))
    assert plane.hero.state is CharacterState.WALKING
    assert position(plane.body, plane.dim)[1] == 0 or plane.dim == 2
    plane.go(0)
    plane.hero.jump = True
    plane.run(1)
    assert velocity(plane.body, plane.dim) == (0,) * plane.dim
    plane.hero.knock_back(plane.at(-100, 0), 0.2)
    plane.run(0.5)

    assert plane.hero.state is CharacterState.STANDING
    assert plane.place[0] < 80


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("missed", [0.5, 3.0, 6.0, 6.5])
@pytest.mark.parametrize("acceleration", [math.inf, 900.0])
def test_it_slips_round_a_corner_that_it_misses_by_little(missed, acceleration, how):
    plane = Plane(acceleration=acceleration, **how)
    plane.wall((30, -60), (50, missed - 8))
    plane.go(1.0)
    before = 0.0
    for _ in range(plane.rate):
        plane.run(1 / plane.rate)
        assert plane.place[1] - before <= 240 / plane.rate + 1e-9
        before = plane.place[1]

    if missed > 6:
        assert plane.place == pytest.approx((22, 0))
    else:
        assert plane.place[0] > 100
        assert plane.place[1] == pytest.approx(missed)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("width", [16.0, 20.0, 15.0])
def test_it_goes_through_a_door_of_tiles_that_is_as_wide_as_it_is(width, how):
    plane = Plane(**how)
    for n in range(4):
        plane.wall((30, 4.1 - width / 2 - 16 * n - 16), (46, 4.1 - width / 2 - 16 * n))
        plane.wall((30, 4.1 + width / 2 + 16 * n), (46, 4.1 + width / 2 + 16 * n + 16))
    plane.go(1.0)

    plane.run(0.5)

    assert (plane.place[0] > 60) == (width >= 16)


@pytest.mark.parametrize("how", HOWS[:5])
def test_it_does_not_slip_against_its_wish_nor_off_a_crate(how):
    plane = Plane(**how)
    plane.wall((30, -60), (50, -5))
    plane.go(1.0, -0.1)
    plane.run(0.3)
    assert plane.place[0] == pytest.approx(22)

    plane.space.teleport(plane.body, plane.at(100, 0))
    crate = mover(plane.at(130, -10), (8, 8), (0, 0), ec.Slide())
    plane.go(1.0)
    plane.run(0.5)

    assert plane.place[1] == 0
    assert plane.seen(position(crate))[0] > 150


@pytest.mark.parametrize("how", HOWS)
def test_it_dashes_where_it_walks_and_water_slows_it_on_both_axes(how):
    plane = Plane(dash_speed=600, dash_time=0.25, **how)
    plane.go(0, 1.0)
    plane.hero.dash = True
    plane.run(0.25)
    assert plane.place == pytest.approx((0, 150))

    plane.hero.dash = False
    plane.go(0)
    plane.run(0.1)
    plane.wall((-99, 50), (99, 900), ec.Sensor(), ec.Zone(walk=0.5))
    plane.go(0.6, 0.8)
    plane.run(0.5)

    assert plane.seen(velocity(plane.body, plane.dim)) == pytest.approx((72, 96))


@pytest.mark.parametrize("rate", [30, 60, 144])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_hit_throws_a_character_seen_from_above_as_far_as_its_speed_and_time(dim, rate):
    plane = Plane(dim, rate=rate, deceleration=2400.0)
    plane.run(0.5)

    plane.hero.knock_back(plane.at(0, 300), 0.4)
    plane.run(1.5)

    # 0.4 s at 300, then 300²/2/2400 while it slows down, which is done at the end of each step.
    assert plane.place[1] == pytest.approx(120 + 18.75, abs=300 / rate)
    assert plane.hero.state is CharacterState.STANDING
