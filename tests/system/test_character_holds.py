"""A character hovers, hangs on ledges, crouches, is knocked back, and dashes through enemies."""

from __future__ import annotations

import math
import struct

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from tests.scenes import of, steps

pytestmark = pytest.mark.usefixtures("world")

DT = 1 / 64  # a power of two: sums of steps are exact
WALL = 100.0  # the x of the ledge's face
EDGE = 200.0  # the height of its edge


class Play:
    """A floor, and one character on it or above it."""

    def __init__(self, **settings: object) -> None:
        given = {"walk_speed": 128, "acceleration": math.inf, "deceleration": math.inf}
        self.hero = Character(**{**given, **settings})
        self.space = ec.install()
        self.floor = self.box((-900, -32), (900, 0))

    def box(self, low: tuple[float, float], high: tuple[float, float], *more: object) -> int:
        centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
        half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
        return esper.create_entity(ec.Position(*centre), ec.Extents(*half), *more)

    def enter(self, x: float, feet: float, *more: object) -> None:
        self.place = ec.Position(x, feet + 16)
        self.size = ec.Extents(8, 16)
        self.velocity = ec.Velocity(0, 0)
        body = self.place, self.size, self.velocity, ec.Slide(), self.hero, *more
        self.entity = esper.create_entity(*body)
        self.step()

    def step(self, n: int = 1, dt: float = DT) -> None:
        steps(n, dt)

    @property
    def feet(self) -> float:
        return self.place.y - self.size.y

    @property
    def head(self) -> float:
        return self.place.y + self.size.y


# -- hover --


def test_hover_falls_no_faster_than_its_speed_while_it_is_wished():
    play = Play(hover_speed=40.0)
    play.enter(0, 500)
    play.step(20)
    assert play.velocity.y < -300

    play.hero.hover = True
    play.step(10)
    assert (play.velocity.y, play.hero.state) == (-40, CharacterState.HOVERING)
    play.hero.hover = False
    play.step()
    assert play.velocity.y < -40
    assert play.hero.state is CharacterState.FALLING


def test_hover_lasts_its_time_and_is_given_back_on_the_ground():
    play = Play(hover_speed=16.0, hover_time=0.5, jump_height=100, time_to_top=0.5)
    play.enter(0, 900)
    play.hero.hover = True

    def hovered(n: int) -> int:
        count = 0
        for _ in range(n):
            play.step()
            count += play.hero.state is CharacterState.HOVERING
        return count

    assert hovered(100) == 32
    play.step(300)
    assert play.hero.on_ground
    play.hero.jump = True
    assert hovered(100) == 32


def test_hover_does_not_slow_a_jump_down():
    tops = []
    for hover in (False, True):
        play = Play(hover_speed=16.0, jump_height=100, time_to_top=0.5)
        play.enter(0, 0)
        play.hero.jump, play.hero.hover = True, hover
        heights = []
        for _ in range(40):
            play.step()
            heights.append(play.feet)
        tops.append(max(heights))
        esper.clear_database()

    assert tops[0] == tops[1] == pytest.approx(100, abs=0.1)


# -- ledges --


def ledge(play: Play, *more: object) -> int:
    return play.box((WALL, 0), (WALL + 100, EDGE), *more)


def hang_on(play: Play, feet: float = 240.0) -> None:
    """Let the character fall beside the ledge, press against it, and hang."""
    play.enter(WALL - 8, feet)
    while play.feet > EDGE - 8:  # else it is lifted onto it, as `corner` says
        play.step()
    play.hero.walk = 1.0
    for _ in range(16):
        play.step()
        assert play.head >= EDGE - 1e-9  # never past it, however fast
    assert play.hero.state is CharacterState.HANGING
    play.hero.walk = 0.0  # it does not need to press any longer
    play.step(4)


@pytest.mark.parametrize("drop", [190.0, 260.0, 310.7, 900.0])
def test_character_that_falls_along_a_wall_hangs_with_its_head_at_the_edge(drop):
    #      ____
    #   |H|    |      its head is as high as the edge
    #   |_|    |
    play = Play(ledge_reach=4.0)
    edge = ledge(play)

    hang_on(play, drop)
    play.step(60)

    assert play.hero.state is CharacterState.HANGING
    assert play.hero.memory.ledge == edge
    assert not play.hero.on_ground
    assert play.head == pytest.approx(EDGE, abs=1e-9)


@pytest.mark.parametrize(("missing", "hangs"), [(3.0, True), (-3.0, True), (5.0, False)])
def test_jump_that_almost_reaches_an_edge_ends_on_it(missing, hangs):
    play = Play(ledge_reach=4.0, jump_height=EDGE - 32 - missing, time_to_top=0.5, corner=0.0)
    ledge(play)
    play.enter(WALL - 8, 0)

    play.hero.walk, play.hero.jump = 1.0, True
    play.step(45)

    assert (play.hero.state is CharacterState.HANGING) == hangs
    if hangs:
        assert play.head == pytest.approx(EDGE, abs=1e-9)


def test_seam_between_two_tiles_of_a_wall_is_no_edge():
    play = Play(ledge_reach=6.0)
    for k in range(8):
        play.box((WALL, 32 * k), (WALL + 32, 32 * (k + 1)))
    play.enter(WALL - 8, 120)
    play.hero.walk = 1.0

    play.step(80)

    assert play.hero.on_ground
    assert play.feet == 0


def test_character_without_ledge_reach_or_that_does_not_press_falls_past_the_edge():
    for reach, walk, climb, drop in (
        *((0.0, 1.0, 0.0, False), (6.0, 0.0, 0.0, False), (6.0, -1.0, 0.0, False)),
        *((6.0, 1.0, -1.0, False), (6.0, 1.0, 0.0, True)),  # or that wishes to go down
    ):
        play = Play(ledge_reach=reach)
        ledge(play)
        play.enter(WALL - 8, EDGE - 10)
        play.hero.walk, play.hero.climb, play.hero.drop = walk, climb, drop
        for _ in range(90):
            play.step()
            assert play.hero.state is not CharacterState.HANGING
        assert play.feet == 0
        esper.clear_database()


def test_character_pulls_itself_up_in_the_time_that_is_said():
    play = Play(ledge_reach=4.0, ledge_time=0.5)
    edge = ledge(play)
    hang_on(play)
    play.hero.climb = 1.0

    states = []
    for _ in range(40):
        play.step()
        states.append(play.hero.state)

    pulls = states.count(CharacterState.PULLING_UP)
    assert 32 <= pulls <= 34  # its half second; up and over in steps of their own
    assert states[:pulls] == [CharacterState.PULLING_UP] * pulls
    assert (play.hero.ground, play.hero.state) == (edge, CharacterState.STANDING)
    assert play.feet == pytest.approx(EDGE, abs=1e-9)
    assert play.place.x == pytest.approx(WALL, abs=1e-9)


def test_character_does_not_pull_itself_up_where_it_cannot_stand():
    play = Play(ledge_reach=4.0)
    ledge(play)
    play.box((WALL, EDGE + 20), (WALL + 100, EDGE + 60))  # it is 32 high
    hang_on(play)

    play.hero.climb = 1.0
    play.step(60)

    assert play.hero.state is CharacterState.HANGING


@pytest.mark.parametrize("wish", ["drop", "climb"])
def test_character_lets_go_and_hangs_on_again_only_after_the_pause(wish):
    play = Play(ledge_reach=16.0, ledge_pause=0.5)
    ledge(play)
    hang_on(play)

    setattr(play.hero, wish, True if wish == "drop" else -1.0)
    play.step()
    assert play.hero.state in (CharacterState.FALLING, CharacterState.WALL_SLIDING)
    setattr(play.hero, wish, False if wish == "drop" else 0.0)
    play.step(90)
    assert play.feet == 0


def test_character_jumps_off_an_edge():
    play = Play(ledge_reach=4.0, jump_height=100, time_to_top=0.5)
    ledge(play)
    hang_on(play)

    play.hero.jump = True
    play.step(32)

    assert play.head == pytest.approx(EDGE + 100, abs=1e-6)
    assert play.hero.state is CharacterState.RISING


@pytest.mark.parametrize("way", [(0.0, 48.0), (0.0, -64.0), (32.0, 16.0)])
def test_character_that_hangs_moves_with_its_ledge(way):
    play = Play(ledge_reach=4.0)
    velocity = ec.Velocity(0, 0)
    edge = play.box((WALL, 100), (WALL + 100, EDGE), velocity)
    hang_on(play)
    velocity.set(*way)
    play.step(2)

    for _ in range(40):
        play.step()
        low, high = play.space.bounds(edge)
        assert play.hero.state is CharacterState.HANGING
        assert play.head == pytest.approx(high[1], abs=1e-9)
        assert play.place.x + 8 == pytest.approx(low[0], abs=1e-9)


@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize("how", ["deleted", "teleported", "teleported, and an update"])
def test_character_falls_from_a_ledge_that_is_gone(how, pulls):
    play = Play(ledge_reach=4.0, ledge_time=0.5)
    edge = ledge(play)
    hang_on(play)
    play.hero.climb = float(pulls)
    play.step(4)
    x, y = play.place.xy

    if how == "deleted":
        esper.delete_entity(edge)
    else:
        play.space.teleport(edge, (WALL + 400, 100))
        if "update" in how:  # which changes no step
            play.space.update()
    play.step(5)

    assert play.hero.state is CharacterState.FALLING
    assert play.place.x == x
    if not pulls:
        # Of a teleport the next step is the first to see that the contacts have ended.
        fell = play.hero.gravity * ((5 if how == "deleted" else 4) * DT) ** 2 / 2
        assert play.place.y == pytest.approx(y - fell, abs=1e-9)


def test_nobody_hangs_on_a_crate():
    play = Play(ledge_reach=4.0)
    ledge(play, ec.Velocity(0, 0), ec.Slide(), ec.Mass(100))
    play.enter(WALL - 8, EDGE - 10)
    play.hero.walk = 1.0

    play.step(60)

    assert play.feet == 0


# -- crouching --


def test_crouch_lowers_the_box_and_leaves_the_feet():
    play = Play(crouch_height=16.0, crouch_speed=64.0)
    play.enter(0, 0)
    play.step(3)

    play.hero.crouch = True
    play.step()
    assert (play.size.y, play.feet) == (8, 0)
    assert play.hero.state is CharacterState.CROUCHING
    assert play.hero.on_ground
    assert not play.space.contacts_ended
    play.hero.walk = 1.0
    play.step(64)
    assert play.hero.state is CharacterState.CRAWLING
    assert play.place.x == 64
    play.hero.crouch = False
    play.step()
    assert (play.size.y, play.feet, play.velocity.x) == (16, 0, 128)


def test_character_does_not_stand_up_below_a_low_ceiling():
    play = Play(crouch_height=16.0, crouch_speed=64.0)
    play.box((40, 20), (140, 60))
    play.enter(0, 0)
    play.hero.walk = 1.0
    play.step(60)
    assert play.place.x == 32  # it is too high for the passage

    play.hero.crouch = True
    play.step(20)
    play.hero.crouch = False
    while play.place.x < 140 + 8:
        play.step()
        assert play.size.y == 8
        assert play.feet == 0
    play.step(2)
    assert play.size.y == 16
    assert play.hero.state is CharacterState.WALKING


def test_crouch_is_for_the_ground_and_off_by_default():
    for height, feet in ((0.0, 0), (16.0, 400)):
        play = Play(crouch_height=height)
        play.enter(0, feet)
        play.step(2)
        play.hero.crouch = True
        play.step(4)
        assert play.size.y == 16
        esper.clear_database()


def test_crouch_against_a_ceiling_that_is_the_ground_keeps_the_feet_there():
    play = Play(crouch_height=16.0, up=(0, -1))
    play.box((-100, 400), (100, 432))
    play.enter(0, 368)
    play.step(4)
    assert play.hero.on_ground

    play.hero.crouch = True
    play.step(4)

    assert (play.head, play.size.y) == (400, 8)
    assert play.hero.state is CharacterState.CROUCHING


# -- knock-back --


def test_knock_back_throws_it_and_takes_its_control_for_the_time():
    play = Play(coyote_time=1.0, air_jumps=3)
    play.enter(0, 0)
    play.step(3)
    play.hero.walk, play.hero.jump = 1.0, False

    play.hero.knock_back((-128, 256), time=0.25)
    xs = []
    for n in range(16):
        play.hero.jump = n % 2 == 0  # in vain
        play.step()
        assert play.hero.state is CharacterState.KNOCKED_BACK
        xs.append(play.place.x)
    assert xs == [-2.0 * n for n in range(1, 17)]
    assert 0 < play.feet < 256 * 0.25
    play.hero.jump = False
    play.step(20)
    assert play.velocity.x == 128


def test_knock_back_along_the_ground_slows_down_as_it_would_stand():
    play = Play(deceleration=512.0)
    play.enter(0, 0)
    play.step(3)
    play.hero.walk = 1.0

    play.hero.knock_back((-256, 0), time=0.25)
    speeds = []
    for _ in range(16):
        play.step()
        speeds.append(play.velocity.x)

    assert speeds == [-256.0 + 8 * n for n in range(1, 17)]
    assert play.feet == 0


def test_hit_by_an_enemy_ends_a_hold_and_a_dash():
    class Enemy: ...

    play = Play(ledge_reach=4.0, dash_speed=512.0, dash_time=0.5)
    ledge(play)
    play.box((-60, 0), (-44, 32), Enemy())
    play.space.on_contact_began(
        lambda contact: play.hero.knock_back((contact.normal_for(play.entity)[0] * 128, 128)),
        Enemy,
    )
    play.enter(0, 0)
    play.step(3)
    play.hero.walk, play.hero.dash = -1.0, True
    play.step(8)
    assert play.hero.state is CharacterState.KNOCKED_BACK
    assert play.velocity.x == 128
    play.hero.walk = 0.0
    play.step(60)

    play.space.teleport(play.entity, (WALL - 8, EDGE + 6))
    play.hero.walk = 1.0
    play.step(30)
    assert play.hero.state is CharacterState.HANGING
    play.hero.knock_back((-64, 0), time=0.1)
    play.step(2)
    assert play.hero.state is CharacterState.KNOCKED_BACK
    assert play.velocity.x == -64


def test_press_at_the_end_of_a_knock_back_is_remembered():
    play = Play(jump_buffer=0.1)
    play.enter(0, 0)
    play.step(3)
    play.hero.knock_back((0, 0), time=0.25)
    play.step(13)

    play.hero.jump = True
    play.step(4)

    assert play.velocity.y > 0


# -- jumps off walls and lifts --


@pytest.mark.parametrize("lock", [0.0, 0.25])
def test_wall_jump_keeps_its_speed_for_the_lock(lock):
    play = Play(wall_jump_speed=256.0, wall_jump_lock=lock, deceleration=1024.0)
    play.box((WALL, 0), (WALL + 32, 900))
    play.enter(WALL - 8, 500)
    play.hero.walk = 1.0
    play.step(10)

    play.hero.jump = True  # towards the wall all the time
    speeds = []
    for _ in range(20):
        play.step()
        speeds.append(play.velocity.x)

    kept = max(1, int(lock / DT))
    assert speeds[: kept + 1] == [-256] * kept + [128]


@pytest.mark.parametrize(
    ("keeps", "way", "kept"),
    [
        ("all", (32.0, 64.0), (32.0, 64.0)),
        ("all", (32.0, -64.0), (32.0, -64.0)),
        ("upward", (32.0, 64.0), (32.0, 64.0)),
        ("upward", (32.0, -64.0), (32.0, 0.0)),
        ("none", (32.0, 64.0), (0.0, 0.0)),
        ("none", (32.0, -64.0), (0.0, 0.0)),
    ],
)
def test_jump_off_a_lift_keeps_the_chosen_part_of_its_speed(keeps, way, kept):
    play = Play(lift_speed=keeps, air_control=0.0, jump_height=100, time_to_top=0.5)
    lift = ec.Velocity(0, 0)
    play.box((-64, 92), (64, 100), lift, ec.Carry())
    play.enter(0, 100)
    lift.set(*way)
    play.step(4)
    x, y = play.place.xy

    play.hero.jump = True
    n = 16
    play.step(n)

    time = n * DT
    rise = (play.hero.jump_speed + kept[1]) * time - play.hero.gravity * time**2 / 2
    assert play.place.x - x == pytest.approx(kept[0] * time, abs=1e-9)
    assert play.place.y - y == pytest.approx(rise, abs=1e-9)


# -- dashes through enemies --


def test_dash_goes_through_enemies_and_not_through_walls():
    play = Play(dash_speed=3200.0, dash_through="enemy", dash_time=0.125)
    enemies = [play.box((x, 0), (x + 16, 32), ec.Filter("enemy")) for x in (40.0, 80.0)]
    play.box((200, 0), (201, 100))
    play.enter(0, 0)
    play.step(3)
    play.hero.walk = 1.0
    play.step(60)
    assert play.place.x == 32  # an enemy is solid

    play.hero.dash = True
    play.step(8)
    assert play.place.x == 200 - 8
    play.hero.dash, play.hero.walk = False, -1.0
    play.step(64)
    assert play.place.x == 96 + 8  # and solid again afterwards
    assert not play.hero.memory.let_through
    assert all(play.space.may_meet(play.entity, enemy) for enemy in enemies)


def test_dash_leaves_the_filter_of_the_game_as_it_was():
    play = Play(dash_speed=320.0, dash_through="enemy ghost")
    its = ec.Filter("hero", mask="default enemy")
    play.enter(0, 0, its)
    before = its.categories, its.mask
    play.hero.dash = True
    play.step()
    assert its.mask == ec.Filter(mask="default").mask
    play.step(30)
    assert (its.categories, its.mask) == before


# -- all of it, saved --


def play_all(
    steps: int, save_at: range = range(0)
) -> tuple[list[list[bytes]], set[CharacterState]]:
    """Play a scene with all moves, and return the bits of all steps, and the states.

    It is saved before each step of `save_at`.  At the end it goes back to each of them and plays
    on, and the bits of each of these runs follow those of the first one.
    """
    play = Play(
        ledge_reach=6.0, hover_speed=60.0, hover_time=1.0, crouch_height=16.0, air_jumps=1,
        wall_slide_speed=80.0, wall_jump_speed=200.0, wall_jump_lock=0.2, dash_speed=500.0,
        dash_through="enemy", lift_speed="upward", jump_height=120.0, acceleration=900.0,
    )  # fmt: skip
    ledge(play)
    play.box((-200, 0), (-184, 24), ec.Filter("enemy"))
    play.box((-60, 20), (-20, 40))
    play.box((20, -8), (60, 4), ec.Velocity(0, 12), ec.Carry())
    play.enter(0, 0)
    bits = []

    def go(k: int) -> bytes:
        hero = of(play.entity, Character)
        at = k % 240
        hero.walk = 1.0 if at < 90 else (-1.0, 1.0, 0.0)[k // 23 % 3]
        hero.jump, hero.hover = k // 9 % 3 == 1 and not 20 < at < 120, k // 50 % 2 == 1
        hero.crouch, hero.dash = 95 < at < 125, at > 120 and k // 16 % 3 == 1
        hero.climb, hero.drop = float(60 < at < 80), at == 230
        if at == 20:
            play.space.teleport(play.entity, (WALL - 8, EDGE + 2))
            play.space.set_velocities([play.entity], [(0, 0)])
        if at == 200:
            hero.knock_back((-150, 200), 0.2)
        play.step(dt=1 / 60)
        where = play.space.positions([play.entity])[0]
        assert Character.from_bytes(hero.to_bytes()).to_bytes() == hero.to_bytes()
        seen.add(hero.state)
        return struct.pack("<2d", *where) + hero.to_bytes() + play.space.state_hash()

    seen: set[CharacterState] = set()
    saved: dict[int, bytes | ec.SavedState] = {}
    for k in range(steps):
        if k in save_at:
            saved[k] = play.space.snapshot() if k % 2 else play.space.save_state()
        bits.append(go(k))
    runs = [bits]
    for start, state in saved.items():
        play.space.restore(state)
        runs.append(bits[:start] + [go(k) for k in range(start, steps)])
    return runs, seen


def test_restored_in_the_middle_of_any_move_it_goes_on_with_the_same_bits(volume):
    steps = volume(240, 480, least=60)
    (usual,), states = play_all(steps)
    if steps >= 240:
        names = "DASHING HANGING PULLING_UP CROUCHING CRAWLING HOVERING KNOCKED_BACK WALL_SLIDING"
        assert {CharacterState[name] for name in names.split()} <= states
    esper.clear_database()

    runs, _ = play_all(steps, range(7, steps, volume(37, 17, 7)))

    for n, bits in enumerate(runs):
        assert bits == usual, n


@pytest.mark.parametrize("n_steps", [30, 60, 144])
@pytest.mark.parametrize("side", [1, -1])
def test_character_that_slips_onto_a_ledge_walks_at_once(n_steps, side):
    """It has touched the wall below the edge, and does not slide down it for a frame."""
    seen = set()
    for height in range(28):
        esper.switch_world(f"{esper.current_world} {height}")
        play = Play(wall_slide_speed=60, acceleration=2400)
        play.box((50, -32), (150, EDGE)) if side > 0 else play.box((-150, -32), (-50, EDGE))
        play.enter(side * 30.0, EDGE + 6 + height / 4)
        play.hero.walk = float(side)
        states = []
        for _ in range(n_steps):
            esper.process(1 / n_steps)
            states.append(play.hero.state)
        slides = states.count(CharacterState.WALL_SLIDING)
        stays = CharacterState.WALKING in states
        assert not (slides and stays and states[-1] is not CharacterState.WALL_SLIDING), height
        seen.add(stays)
    assert seen == {True, False}
