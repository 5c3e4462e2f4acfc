"""Strides among all that a character meets, compiled and in pure Python."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide import Character, Ladder, Zone
from tests.scenes import box, of, steps
from tests.system.test_compiled_and_pure import in_both_implementations
from tests.volume import further


class Street:
    """A street with steps, coins, ladders, water, lifts, crates and people."""

    def __init__(self, seed: int, dim: int) -> None:
        self.random = random.Random(seed)
        choice, somewhere = self.random.choice, lambda: self.random.uniform(-400, 400)
        up = choice([1, -1])
        self.dim, self.up = dim, up
        vertical = (lambda y: (0, y)) if dim == 2 else (lambda y: (0, y, 0))
        self.space = ec.install(dim=dim, up=vertical(up), gravity=vertical(-500 * up))
        ground = choice([0.0, 37.3])
        for k in range(-30, 30):
            self.box((16 * k, ground - 16), (16 * k + 16, ground))
        for _ in range(8):
            x, high = somewhere(), choice([3, 7, 30])
            self.box((x, ground), (x + choice([9, 40]), ground + high))
        for more in ([], [Zone(buoyancy=choice([0.5, 1.5]), drag=2, walk=0.5)], [Ladder()]):
            x = somewhere()
            self.box((x, ground), (x + choice([12, 60]), ground + 80), ec.Sensor(), *more)
        for rise in ("right", "left"):
            for high, *more in ([25], [70], [20, ec.Carry((40, 0))]):
                x = somewhere()
                self.box((x, ground), (x + 50, ground + high), ec.Slope(rise), *more)
        x, moves = somewhere(), self.random.uniform(-20, 20)
        for k in range(3):  # a lift of tiles
            tile = (x + 40 * k, ground), (x + 40 * k + 40, ground + 4)
            self.box(*tile, ec.Velocity(moves, up * 5), ec.Carry((moves, 0)))
        self.lift = ec.Velocity(0, 0)
        self.box((-500, ground + 90), (-100, ground + 95), self.lift, ec.Carry())
        for _ in range(3):
            x = somewhere()
            self.box((x, ground + 30), (x + 14, ground + 44), ec.Velocity(0, 0), ec.Slide())
            self.box((x, ground + 50), (x + 80, ground + 54), ec.OneWay())
        self.heroes = []
        for n in range(6):
            moves = {"dash_speed": 500, "crouch_height": 20, "climb_speed": 90} if n % 2 else {}
            if n == 4:
                moves = {"hover_speed": 50, "air_jumps": 1, "wall_slide_speed": 60}
                moves |= {"wall_jump_speed": 200, "wall_jump_lock": 0.1, "ledge_reach": 6}
            hero = Character(deceleration=math.inf if n == 2 else 1500, **moves)
            place = ec.Position(70 * n - 200, up * (ground + 16 + n))
            body = [place, ec.Extents(8, 16, 8), ec.Velocity(0, 0), ec.Slide(), hero]
            body += [ec.Filter(categories=2, mask=1)] if n > 2 else []
            body += [ec.GravityScale(0.5)] if n == 5 else []
            self.heroes.append((esper.create_entity(*body), hero))

    def box(self, low: tuple[float, float], high: tuple[float, float], *more: object) -> None:
        (x, y), (z, w) = low, high
        centre, half = ((x + z) / 2, self.up * (y + w) / 2), ((z - x) / 2, (w - y) / 2)
        deep = (0, 200) if self.dim == 3 else (0, 0)
        box((*centre, deep[0]), (*half, deep[1]), *more)

    def play(self, steps: int) -> list[bytes]:
        bits = []
        ids = [entity for entity, _ in self.heroes]
        for step in range(steps):
            for entity, hero in self.heroes:
                self.wish(entity, hero)
            if step % 20 == 9:
                self.lift.y = self.random.choice([-20, 0, 20, 40])
            if step % 30 == 29:
                self.space.update()
            esper.process(0.02 if step % 17 == 0 else 1 / 60)
            found = b"".join(hero.to_bytes() for _, hero in self.heroes)
            bits.append(found + self.space.positions(ids).tobytes())
        return bits

    def wish(self, entity: int, hero: Character) -> None:
        chance, choice = self.random.random, self.random.choice
        if chance() < 0.05:
            hero.walk = choice([1.0, -1.0, 0.3, 0.0, -0.0, 1, True])
            hero.across = choice([1.0, -1.0, 0.0])
        if chance() < 0.05:
            hero.jump, hero.dash, hero.hover = not hero.jump, chance() < 0.3, chance() < 0.5
            hero.crouch, hero.climb, hero.drop = (
                chance() < 0.1,
                choice([0, 0, 1, -1]),
                chance() < 0.2,
            )
        if chance() < 0.01:
            hero.knock_back((self.random.uniform(-200, 200), 0), 0.1)
        if chance() < 0.01:
            place = of(entity, ec.Position)
            place.set(self.random.uniform(-400, 400), place.y + self.up * choice([1, 200]))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", [3, *further(2, 5)])
def test_strides_have_the_same_bits_compiled_and_in_pure_python(dim, seed, monkeypatch, volume):
    steps = volume(60, 120, 200, least=60)

    compiled, plain = in_both_implementations(monkeypatch, lambda: Street(seed, dim).play(steps))

    assert compiled == plain


def test_strides_read_no_memory_that_has_been_freed():
    code = "from tests.system.test_strides import Street; print(len(Street(3, 2).play(20)))"
    # With -X dev freed memory is overwritten at once.
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code], cwd=Path(__file__).parents[2],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout == "20\n", done.stderr


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("mask", [1, 3])
def test_those_that_its_filter_lets_it_pass_are_not_in_its_way(mask):
    box((0, -8), (300, 8))
    places = [ec.Position(-30, 16), ec.Position(30, 16)]
    for place, way in zip(places, (1.0, -1.0), strict=True):
        hero = Character(walk_speed=60, acceleration=math.inf)
        hero.walk = way
        body = place, ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero
        esper.create_entity(*body, ec.Filter(categories=2, mask=mask))
    ec.install()

    steps(53, 1 / 60)

    assert (places[0].x > places[1].x) is (mask == 1)


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize(
    "end",
    [
        esper.delete_entity,
        lambda entity: esper.delete_entity(entity, immediate=True),
        lambda entity: esper.add_component(entity, ec.Disabled()),
        lambda entity: esper.add_component(entity, ec.Sensor()),
    ],
    ids=["deleted", "deleted at once", "disabled", "sensor"],
)
def test_what_holds_nothing_since_the_last_step_is_no_ground_and_no_step(end):
    floor = box((0, -20), (900, 20))
    stair = box((48, 3), (10, 3))
    place, hero = ec.Position(0, 16), Character(acceleration=math.inf)
    hero.walk = 1.0
    esper.create_entity(place, ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero)
    ec.install()
    steps(7, 1 / 60)

    end(stair)
    for _ in range(3):
        esper.process(1 / 60)
        assert place.y == 16.0
    assert hero.ground == floor

    end(floor)
    esper.process(1 / 60)
    assert hero.ground is None
    assert not hero.on_ground


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("owner", ["hero", "guard"])
def test_an_attached_box_is_no_step_and_no_ground(owner):
    #
    #    hero ->               guard
    #   ------+      : box :
    #         +-------------------
    #
    box((0, -8), (30, 8))
    box((0, -14), (300, 10))
    place, hero = ec.Position(0, 16), Character(acceleration=math.inf)
    own = esper.create_entity(place, ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero)
    guard = box((250, 12), (8, 16))
    attached = ec.Attached(own, (0, -14)) if owner == "hero" else ec.Attached(guard, (-150, -13))
    box((0, 0), (20, 3), attached)
    space = ec.install()
    hero.walk = 1.0

    for step in range(36):
        if step % 2:
            space.update()
        esper.process(1 / 60)
        assert hero.on_ground or step == 0
        assert place.y == (16.0 if place.x < 42.0 else 12.0)

    assert place.x == pytest.approx(144.0)


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("crate_first", [True, False])
def test_on_a_slope_a_wall_stops_it_whatever_the_id_of_a_crate_above_it_is(
    crate_first,
):
    #
    #   hero |crate
    #   -.___|wall
    #
    box((0, 16), (16, 16), ec.Slope("left", 0.5, 1.0))
    bodies = [
        [ec.Position(32, 16), ec.Extents(16, 16)],
        [ec.Position(24, 45), ec.Extents(8, 13), ec.Velocity(0, 0), ec.Slide()],
    ]
    for body in bodies[:: -1 if crate_first else 1]:
        esper.create_entity(*body)
    place, velocity, hero = ec.Position(8, 38), ec.Velocity(0, 0), Character()
    esper.create_entity(place, ec.Extents(8, 14), velocity, ec.Slide(), hero)
    ec.install(gravity=(0, -900))
    steps(4, 1 / 60)
    assert hero.on_ground

    hero.walk = 1.0
    for _ in range(4):
        esper.process(1 / 60)
        assert (velocity.x, velocity.y, place.x) == (0, 0, 8)
    assert not hero.memory.own[0]
