"""A teleport ends what belongs to the old place of a character; `reset` makes it as new."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState, Ladder
from tests.scenes import box, in_a_world, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("implementation", "world")

FAR = 5000.0


class Hero:
    """A hero beside a floor, a ladder, a wall and a lift, and another floor far away."""

    def __init__(self, dim=2, sign=1, rate=60):
        self.dim, self.sign, self.rate = dim, sign, rate
        self.box((0, -10), (400, 10))
        self.box((FAR, -10), (400, 10))
        self.box((-200, 60), (6, 60), ec.Sensor(), Ladder())
        self.box((200, 150), (20, 150))
        self.plank = self.box((300, 96), (30, 4), ec.OneWay(self.at(0, 1)))
        self.box((-380, 40), (20, 40), ec.Sensor(), ec.Zone(buoyancy=2.0, drag=3.0))
        self.lift = mover(self.at(-300, 104), self.size(30, 4), (0,) * dim, ec.Carry())
        self.hero = Character(
            up=self.at(0, 1), dash_speed=1200, dash_time=0.5, climb_speed=100, ledge_reach=6,
            wall_jump_speed=300, coyote_time=0.2, jump_buffer=0.3, air_jumps=1,
            acceleration=math.inf, hover_speed=50, crouch_height=20, swim_speed=150,
        )  # fmt: skip
        self.body = mover(self.at(0, 16), self.size(8, 16), (0,) * dim, ec.Slide(), self.hero)
        self.space = ec.install(dim=dim)
        self.run(0.1)

    def at(self, x, y):
        return (x, self.sign * y, 0.0)[: self.dim]

    def size(self, x, y):
        return (x, y, 30.0)[: self.dim]

    def box(self, at, size, *parts):
        return box(self.at(*at), self.size(*size), *parts)

    def run(self, seconds):
        steps(max(1, round(seconds * self.rate)), 1 / self.rate)

    def go(self, x, y):
        """Put it somewhere, without wishes."""
        self.space.teleport(self.body, self.at(x, y))
        of(self.body, ec.Velocity).set(*(0,) * self.dim)
        self.hero.walk = self.hero.climb = 0.0
        self.hero.jump = self.hero.dash = False

    # -- what it does before --

    def dash(self):
        self.hero.walk, self.hero.dash = 1.0, True
        self.run(0.1)
        assert self.hero.state is CharacterState.DASHING

    def be_knocked(self):
        self.hero.knock_back(self.at(400, 300), 0.5)
        self.run(0.1)
        assert self.hero.state is CharacterState.KNOCKED_BACK

    def climb(self):
        self.go(-200, 40)
        self.run(0.02)
        self.hero.climb = 1.0
        self.run(0.1)
        assert self.hero.state is CharacterState.CLIMBING

    def hang(self):
        self.go(172, 290)
        self.hero.walk = 1.0
        self.run(0.2)
        assert self.hero.state is CharacterState.HANGING

    def ride(self):
        self.go(-300, 124)
        self.run(0.1)
        of(self.lift, ec.Velocity).set(*self.at(60, 40))
        self.run(0.2)
        assert self.hero.ground == self.lift

    def pull_up(self):
        self.hang()
        self.hero.climb = 1.0
        self.run(0.1)
        assert self.hero.state is CharacterState.PULLING_UP

    def dash_through(self):
        self.hero.dash_through = 2
        self.dash()
        assert of(self.body, ec.Filter).mask & 2 == 0

    def crouch(self):
        self.hero.crouch = True
        self.run(0.1)
        assert self.hero.state is CharacterState.CROUCHING

    def hover(self):
        self.go(100, 200)
        self.hero.hover = True
        self.run(0.3)
        assert self.hero.state is CharacterState.HOVERING

    def swim(self):
        self.go(-380, 40)
        self.run(0.1)
        self.hero.jump = True
        self.run(0.1)
        assert self.hero.state is CharacterState.SWIMMING

    def drop(self):
        self.go(300, 117)
        self.run(0.1)
        assert self.hero.ground == self.plank
        self.hero.drop = True
        self.run(0.05)
        assert self.hero.state is CharacterState.FALLING

    def press_early(self):
        self.go(0, 100)
        self.run(0.02)
        self.hero.jump, self.hero.memory.n_air_jumps = True, 1.0
        self.run(0.02)
        assert self.hero.state is CharacterState.FALLING

    def touch_a_wall(self):
        self.hero.ledge_reach = 0.0
        self.go(172, 100)
        self.hero.walk, self.hero.memory.n_air_jumps = 1.0, 1.0
        self.run(0.1)
        assert self.hero.memory.since_wall < 0.05


MOVES = (
    *("dash", "be_knocked", "climb", "hang", "pull_up", "ride", "press_early", "touch_a_wall"),
)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("how", [{}, {"dim": 3}, {"sign": -1}, {"rate": 30}, {"rate": 144}])
@pytest.mark.parametrize("way", ["teleport", "position", "restore", "reset"])
def test_what_belongs_to_the_old_place_ends(move, how, way):
    play = Hero(**how)
    getattr(play, move)()

    if way == "position":
        of(play.body, ec.Position).set(*play.at(FAR, 16))
    play.go(FAR, 16)
    if way == "reset":
        play.hero.reset()
    if way == "restore":
        play.space.restore(play.space.snapshot())
        play.hero = of(play.body, Character)
    play.run(0.25)

    assert position(play.body, play.dim) == pytest.approx(play.at(FAR, 16), abs=1e-9)
    assert play.hero.state is CharacterState.STANDING
    assert velocity(play.body, play.dim) == (0,) * play.dim
    play.hero.walk = 1.0
    play.run(0.1)
    assert position(play.body)[0] > FAR + 20


@pytest.mark.parametrize("move", ["be_knocked", "ride", "touch_a_wall"])
def test_teleport_into_the_air_gives_no_jump(move):
    play = Hero()
    getattr(play, move)()
    play.go(FAR, 300)
    play.hero.memory.n_air_jumps = 1.0
    play.run(0.02)

    play.hero.jump = True
    play.run(0.05)

    assert play.hero.state is CharacterState.FALLING


def test_place_that_the_game_corrects_in_each_step_gives_no_jumps_in_the_air():
    play = Hero()
    play.go(FAR, 300)
    jumps = 0
    for n in range(30):
        of(play.body, ec.Position).x = FAR - 0.01 * n  # as at the edge of a screen
        play.hero.jump = n % 2 == 1
        before = velocity(play.body)[1]
        play.run(0.01)
        jumps += velocity(play.body)[1] > before + 100

    assert jumps == 1


def test_move_by_the_space_ends_nothing():
    play = Hero()
    play.ride()
    play.space.move(play.body, (5, 0))

    play.run(0.02)

    assert play.hero.ground == play.lift


def test_teleport_keeps_the_velocity_and_a_reset_gives_new_jumps_and_dashes():
    play = Hero()
    play.dash()
    play.hero.memory.n_air_jumps = 1.0
    play.space.teleport(play.body, play.at(FAR, 300))
    play.hero.dash = False
    play.run(0.02)
    assert velocity(play.body)[0] == play.hero.walk_speed  # as at the end of a dash
    play.hero.dash = True
    play.run(0.02)
    assert play.hero.state is CharacterState.FALLING  # the pause goes on
    play.hero.dash = False
    play.run(0.02)

    play.hero.reset()

    play.hero.dash = True
    play.run(0.02)
    assert play.hero.state is CharacterState.DASHING


def test_reset_in_a_dash_through_enemies_gives_the_filter_back():
    play = Hero()
    esper.add_component(play.body, ec.Filter(1, 0xFF))
    play.hero.dash_through = 2
    play.dash()
    assert of(play.body, ec.Filter).mask == 0xFD

    play.hero.dash = False
    play.hero.reset()
    play.run(0.02)

    assert of(play.body, ec.Filter).mask == 0xFF


# -- a dash that ends inside of an enemy --


@pytest.mark.parametrize(
    ("how", "restores"),
    [
        *(({}, restores) for restores in (False, True)),
        *((how, False) for how in ({"dim": 3}, {"sign": -1}, {"rate": 30}, {"rate": 144})),
    ],
)
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("wish", [0.0, 1.0, -1.0])
def test_dash_that_ends_inside_of_an_enemy_leads_out_of_it(how, way, wish, restores):
    play = Hero(**how)
    hero = play.hero
    hero.dash_through, hero.dash_time, hero.dash_speed = 2, 0.1, 500.0
    enemy = play.box((60 * way, 30), (30, 30), ec.Filter(2))
    hero.walk, hero.dash = way, True
    play.run(0.1)
    hero.walk, hero.dash = wish * way, False
    x = position(play.body)[0] * way
    assert 22 < x < 98  # inside
    for _ in range(play.rate):
        before = position(play.body)[0] * way
        play.run(0)
        if restores:
            play.space.restore(play.space.snapshot())
            hero = play.hero = of(play.body, Character)
        now = position(play.body)[0] * way
        assert play.hero.memory.let_through or not 22 + 1e-9 < before < 98 - 1e-9
        if 30 < now < 90 and play.hero.state is not CharacterState.DASHING:
            speed = (now - before) * play.rate
            assert speed == pytest.approx(240 if wish >= 0 else -240, abs=1e-6)

    assert not 22 + 1e-9 < now < 98 - 1e-9
    assert play.space.may_meet(play.body, enemy)
    if wish == 0.0:
        assert now == pytest.approx(98, abs=240 / play.rate + 30)


def test_hit_inside_of_an_enemy_throws_out_of_it():
    play = Hero()
    play.hero.dash_through, play.hero.dash_time, play.hero.dash_speed = 2, 0.1, 500.0
    play.box((60, 30), (30, 30), ec.Filter(2))
    play.hero.walk, play.hero.dash = 1.0, True
    play.run(0.1)
    play.hero.walk, play.hero.dash = 0.0, False

    play.hero.knock_back((-300, 100), 0.5)
    play.run(0.4)

    assert position(play.body)[0] < 22


def test_an_endless_run_is_the_same_a_thousand_million_units_from_the_origin():
    def run(start):
        keys = Character(walk_speed=300, jump_height=90)
        hero = mover((start, 20), (10, 20), (0, 0), ec.Slide(), keys)
        space = ec.install(gravity=(0, -1200))
        tiles, places = {}, []
        for frame in range(240):
            column = (frame * 5 + 64) // 32
            for n in range(column - 9, column + 12):
                if n not in tiles and n % 12 not in (8, 9):  # gaps of two tiles
                    tiles[n] = box((start + 32 * n - 48, -16), (16, 16), ec.Fixed())
            for n in [n for n in tiles if n < column - 9]:
                esper.delete_entity(tiles.pop(n))
            keys.walk, keys.jump = 1, 6 <= column % 12 < 9
            esper.process(1 / 60)
            x, y = space.position_of(hero)
            places.append((round(x - start, 4), round(y, 4), keys.landed))
        assert min(y for _, y, _ in places) == 20
        return places

    near, far = (in_a_world(str(start), lambda start=start: run(start)) for start in (0.0, 1e9))

    assert near == far
    assert sum(landed for *_, landed in near) >= 3
