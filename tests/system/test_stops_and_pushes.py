"""Bodies with `Stop` or `Push` that meet several others at one instant."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 64

# (along, away): the axes of the surface and of the normal; then the dimensions
WAYS = [(0, 1, 2), (1, 0, 2), (0, 2, 3), (2, 1, 3)]
MIRRORS = [(1, 1), (-1, 1), (1, -1)]


class Scene:
    """A scene drawn with `along` to the right and `away` upward, in any place and mirrored."""

    def __init__(self, way, mirror=(1, 1), backwards=False):
        self.along, self.away, self.dim = way
        self.mirror = mirror
        self.backwards = backwards
        self.drawn = []
        self.ids = {}

    def vector(self, x, y, other=0.0):
        """Return a vector of the drawing as one of the world."""
        seen = [other] * self.dim
        seen[self.along], seen[self.away] = self.mirror[0] * x, self.mirror[1] * y
        return seen

    def add(self, name, place, half, speed, *parts):
        """Add a box to the drawing."""
        self.drawn.append((name, place, half, speed, parts))

    def step(self, system=None, dt=DT):
        """Create all boxes, and take a step, with a response system of the game if there is one."""
        for name, place, half, speed, parts in self.drawn[:: -1 if self.backwards else 1]:
            wide = [abs(v) for v in self.vector(*half, 1.0)]
            self.ids[name] = esper.create_entity(
                ec.Position(*self.vector(*place)), ec.Extents(*wide),
                ec.Velocity(*self.vector(*speed)), *parts,
            )  # fmt: skip
        space = ec.install(dim=self.dim)
        if system is not None:
            esper.add_processor(system(space), priority=115)
        esper.process(dt)
        return space

    def speed(self, name):
        """Return a velocity, as it is drawn."""
        seen = velocity(self.ids[name], self.dim)
        return self.mirror[0] * seen[self.along], self.mirror[1] * seen[self.away]


@pytest.fixture(params=WAYS, ids=str)
def way(request):
    return request.param


@pytest.fixture(params=MIRRORS, ids=str)
def mirror(request):
    return request.param


@pytest.mark.parametrize("backwards", [False, True])
def test_a_grenade_that_lands_on_two_trains_takes_their_mean_speed_by_width(way, mirror, backwards):
    #      +---+
    #      +---+ v
    #  +---------+-----+
    #  |   4 >   | 8 > |     a quarter of it lies on the faster one
    scene = Scene(way, mirror, backwards)
    scene.add("slow", (-8, -1), (8, 1), (4, 0))
    scene.add("fast", (8, -1), (8, 1), (8, 0))
    scene.add("grenade", (-1, 2), (2, 2), (0, -4), ec.Stop())

    scene.step()

    assert scene.speed("grenade") == (5, 0)


def test_on_two_belts_a_crate_with_stop_takes_their_mean_speed(way, mirror):
    scene = Scene(way, mirror)
    for name, x, speed in (("slow", -8, 4), ("fast", 8, 8)):
        belt = ec.Carry(tuple(scene.vector(speed, 0)), tuple(scene.vector(0, 1)))
        scene.add(name, (x, -1), (8, 1), (0, 0), belt)
    scene.add("crate", (-1, 2), (2, 2), (0, -4), ec.Stop())

    scene.step()

    assert scene.speed("crate") == (0, 0)  # beside the belts'
    place = position(scene.ids["crate"], scene.dim)[scene.along]
    assert scene.mirror[0] * place == -1 + 5 * DT


@pytest.mark.parametrize("speed", [40, -40, 0])
def test_a_crate_with_stop_keeps_no_speed_of_its_own_on_a_belt_even_if_that_speeds_it_up(
    speed, way, mirror
):
    scene = Scene(way, mirror)
    belt = ec.Carry(tuple(scene.vector(speed, 0)), tuple(scene.vector(0, 1)))
    scene.add("belt", (0, -1), (8, 1), (0, 0), belt)
    scene.add("crate", (-1, 2), (2, 2), (32, -4), ec.Stop())

    scene.step()

    assert scene.speed("crate") == (0, 0)  # beside the belt's
    place = position(scene.ids["crate"], scene.dim)[scene.along]
    assert scene.mirror[0] * place == -1 + speed * DT


@pytest.mark.parametrize("backwards", [False, True])
def test_three_with_stop_that_meet_share_their_momentum(way, mirror, backwards):
    scene = Scene(way, mirror, backwards)
    scene.add("plank", (0, 2), (9, 1), (5, -4), ec.Stop())
    scene.add("left", (-4, 0), (2, 1), (3, 0), ec.Stop(), ec.Mass(2))
    scene.add("right", (4, 0), (2, 1), (-3, 0), ec.Stop())

    scene.step()

    assert [scene.speed(name) for name in scene.ids] == [(2, -1)] * 3


def test_push_turns_at_two_crates_as_at_one_of_both_masses(way, mirror):
    def turned(crates):
        esper.clear_database()
        scene = Scene(way, mirror)
        scene.add("hero", (0, 2), (4, 1), (3, -4), ec.Push())
        for number, (x, half, mass) in enumerate(crates):
            scene.add(number, (x, 0), (half, 1), (0, 0), ec.Slide(), ec.Mass(mass))
        scene.step()
        return scene.speed("hero")

    one = turned([(0, 4, 2)])
    assert one == pytest.approx((math.sqrt(59 / 3), -4 / 3))  # all of the energy that is there
    assert turned([(-2, 2, 1), (2, 2, 1)]) == pytest.approx(one)


@pytest.mark.parametrize("backwards", [False, True])
def test_who_meets_several_at_once_wins_no_energy(way, mirror, backwards):
    # 1 bounces off two crates, one of which runs into a third at the same instant.
    scene = Scene(way, mirror, backwards)
    scene.add("hero", (0, 2), (4, 1), (1, -4), ec.Push())
    scene.add("left", (-2, 0), (2, 1), (7, 0), ec.Stop(), ec.Mass(3))
    scene.add("right", (2, 0), (2, 1), (-6, 0), ec.Push())
    scene.add("below", (2, -2), (2, 1), (5, 4), ec.Stop())
    energy = 0.5 * (17 + 3 * 49 + 36 + 41)

    space = scene.step()

    masses = {"left": 3}
    now = sum(0.5 * masses.get(name, 1) * math.hypot(*scene.speed(name)) ** 2 for name in scene.ids)
    assert now <= energy * (1 + 2**-50)
    assert space.stats.crushed == 0


def test_a_bounce_off_two_crates_does_not_keep_stop_from_taking_their_speed(way, mirror):
    scene = Scene(way, mirror)
    scene.add("ball", (0, 2), (4, 1), (5, -4), ec.Stop(), ec.Restitution(1))
    scene.add("left", (-2, 0), (2, 1), (3, 0), ec.Slide())
    scene.add("right", (2, 0), (2, 1), (3, 0), ec.Slide())

    scene.step()

    along, away = scene.speed("ball")
    assert along == 3
    assert away == pytest.approx(4 / 3)


def test_a_response_that_asks_for_stop_sees_what_it_does(way):
    seen = []

    class Sticks(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve(ec.Stop())
            seen.append(impact.velocity_second[way[0]])

    scene = Scene(way)
    scene.add("train", (0, -1), (8, 1), (4, 0))
    scene.add("dart", (0, 2), (2, 2), (1, -4), ec.Slide())
    scene.step(Sticks)

    assert seen == [4]


def test_a_snapshot_between_two_steps_changes_nothing(way):
    def play(restores):
        esper.clear_database()
        scene = Scene(way)
        scene.add("plank", (0, 2.5), (9, 1), (5, -4), ec.Push())
        scene.add("left", (-4, 0), (2, 1), (3, 4), ec.Stop(), ec.Mass(2))
        scene.add("right", (4, 0), (2, 1), (-3, 4), ec.Push())
        space = scene.step()
        for _ in range(8):
            if restores:
                space.restore(space.snapshot())
            esper.process(DT)
        return [scene.speed(name) for name in scene.ids]

    assert play(True) == play(False)


@pytest.mark.parametrize("backwards", [False, True])
def test_who_flies_ahead_of_what_another_has_stopped_is_not_stopped(way, mirror, backwards):
    scene = Scene(way, mirror, backwards)
    scene.add("runner", (0, -3), (2, 1), (0, 16), ec.Stop())
    scene.add("ahead", (2, 0), (1, 1), (0, 8), ec.Stop())
    scene.add("against", (-2, 3), (1, 1), (0, -16), ec.Stop())

    scene.step(dt=1 / 4)

    speeds = [scene.speed(name) for name in ("runner", "ahead", "against")]
    assert speeds == [(0, 0), (0, 8), (0, 0)]


def test_who_is_left_behind_turns_the_same_from_both_sides(way):
    def turned(mirror):
        esper.clear_database()
        scene = Scene(way, mirror)
        scene.add("low", (0, 2), (1, 1), (1, 2), ec.Stop())
        scene.add("right", (1, 4), (1, 1), (-2, 1), ec.Push())
        scene.add("left", (-1, 4), (1, 1), (0, -2), ec.Push())
        scene.step()
        return [scene.speed(name) for name in ("low", "right", "left")]

    assert turned((-1, 1)) == turned((1, 1))


@pytest.mark.parametrize("response", [ec.Stop, ec.Push])
@pytest.mark.parametrize("tiles", [[(0, 8)], [(-4, 4), (4, 4)]], ids=["tile", "seam"])
def test_a_velocity_that_the_game_sets_stays(response, tiles, way):
    class Spins(ec.ResponseSystem):
        def respond(self, impact):
            impact.resolve()
            speed = list(impact.velocity_second)
            speed[way[0]] = 7
            impact.velocity_second = speed

    scene = Scene(way)
    for number, (x, half) in enumerate(tiles):
        scene.add(number, (x, 0), (half, 1), (0, 0))
    scene.add("ball", (0, 2), (1, 1), (3, -64), response())

    scene.step(Spins)

    assert scene.speed("ball") == (7, 0)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_crate_with_push_that_meets_a_floor_and_then_a_wall_turns_twice(way, mirror, n):
    #
    #    [A]                    | |       A lands at 0.25, and meets the wall, which goes down,
    #       \                   | | |     at 0.83: at two instants of one step, or in two steps
    #        v                  | | v
    #   ====================    | |
    scene = Scene(way, mirror)
    scene.add("floor", (0, -1), (10, 1), (0, 0))
    scene.add("crate", (-7.5, 11), (1, 1), (30, -40), ec.Push())
    scene.add("wall", (40, 27.5), (10, 1), (0, -30))

    scene.step(dt=1 / n)
    for _ in range(1, n):
        esper.process(1 / n)

    # The speed relative to the wall is kept.
    assert scene.speed("crate") == (0, pytest.approx(math.hypot(50, 30) - 30))
