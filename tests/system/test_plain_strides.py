"""Strides that are taken in one call have the bits of those that are decided one by one."""

from __future__ import annotations

import math
import random
import struct

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterSteering
from ecs_collide.character.memory import ABILITIES, ENDLESS
from ecs_collide.zone import Zone
from tests.volume import Volume


def steering_of(space: ec.Space) -> CharacterSteering:
    """Return what steers the characters of a space, also before there are any."""
    steering = esper.get_processor(ec.BroadphaseSystem).steering
    if CharacterSteering not in steering:
        steering[CharacterSteering] = CharacterSteering(space)
    return steering[CharacterSteering]


class Street:
    """A street with steps, coins, ladders, water and people, in a world of its own."""

    def __init__(self, seed: int, dim: int, is_plain: bool) -> None:
        self.random = random.Random(seed)
        up = self.random.choice([1, -1])
        self.dim, self.up = dim, up
        self.space = ec.install(dim=dim, up=(0, up) if dim == 2 else (0, up, 0))
        self.steering = steering_of(self.space)
        self.n_plain = self.n_taken = 0
        self.follow(is_plain)
        ground = self.random.choice([0.0, 37.3])
        for k in range(-30, 30):
            self.box((16 * k, ground - 16), (16 * k + 16, ground))
        for _ in range(8):
            x, high = self.random.uniform(-400, 400), self.random.choice([3, 7, 30])
            self.box((x, ground), (x + self.random.choice([9, 40]), ground + high))
            x = self.random.uniform(-400, 400)
            self.box((x, ground), (x + 8, ground + 20), ec.Sensor())
        x = self.random.uniform(-400, 400)
        self.box((x, ground), (x + 60, ground + 40), ec.Sensor(), Zone(buoyancy=0.5, drag=2))
        for rise in ("right", "left"):
            x = self.random.uniform(-400, 400)
            self.box((x, ground), (x + 50, ground + 25), ec.Slope(rise))
            x = self.random.uniform(-400, 400)
            self.box((x, ground), (x + 50, ground + 70), ec.Slope(rise))  # too steep
        x, moves = self.random.uniform(-400, 300), self.random.uniform(-20, 20)
        for k in range(3):  # a lift of tiles
            tile = (x + 40 * k, ground), (x + 40 * k + 40, ground + 4)
            self.box(*tile, ec.Velocity(moves, up * 5), ec.Carry((moves, 0)))
        self.box((-500, ground + 90), (-100, ground + 95), ec.Velocity(0, 0), ec.Carry())
        self.heroes = []
        for n in range(6):
            settings = {"dash_speed": 500, "crouch_height": 20, "climb_speed": 90} if n % 2 else {}
            if n == 4:
                settings = {"hover_speed": 50, "air_jumps": 1, "wall_slide_speed": 60}
                settings |= {"wall_jump_speed": 200, "wall_jump_lock": 0.1, "ledge_reach": 6}
            hero = Character(deceleration=math.inf if n == 2 else 1500, **settings)
            place = ec.Position(70 * n - 200, up * (ground + 16 + n))
            size = ec.Extents(8, 16, 8)
            body = [place, size, ec.Velocity(0, 0), ec.Slide(), hero]
            body += [ec.Filter(categories=2, mask=1)] if n > 2 else []
            body += [ec.GravityScale(0.5)] if n == 5 else []
            self.heroes.append((esper.create_entity(*body), hero))

    def box(self, low: tuple[float, float], high: tuple[float, float], *more: object) -> None:
        (x, y), (z, w) = low, high
        centre, half = ((x + z) / 2, self.up * (y + w) / 2), ((z - x) / 2, (w - y) / 2)
        deep = (0, 200) if self.dim == 3 else (0, 0)
        esper.create_entity(ec.Position(*centre, deep[0]), ec.Extents(*half, deep[1]), *more)

    def follow(self, is_plain: bool) -> None:
        """Count the plain strides of the system, or have it take none."""
        take = self.steering.take_plain

        def counted(found: list[object], n: int, dt: float) -> int:
            self.n_taken += n == 0 and len(found)
            end = take(found, n, dt) if is_plain else n
            self.n_plain += end - n
            return end

        self.steering.take_plain = counted

    def play(self, steps: int) -> list[bytes]:
        bits = []
        for step in range(steps):
            for entity, hero in self.heroes:
                self.wish(entity, hero)
            esper.process(0.02 if step % 17 == 0 else 1 / 60)
            found = b"".join(hero.to_bytes() for _, hero in self.heroes)
            where = self.space.positions([entity for entity, _ in self.heroes])
            moves = self.space.velocities([entity for entity, _ in self.heroes])
            bits.append(found + where.tobytes() + moves.tobytes())
        return bits

    def wish(self, entity: int, hero: Character) -> None:
        chance = self.random.random
        if chance() < 0.05:
            hero.walk = self.random.choice([1.0, -1.0, 0.3, 0.0, -0.0, 1, True])
        if chance() < 0.05 and self.dim == 3:
            hero.across = self.random.choice([1.0, -1.0, 0.0])
        if chance() < 0.03:
            hero.jump, hero.dash = not hero.jump, chance() < 0.3
            hero.hover = chance() < 0.5
            hero.crouch, hero.climb = chance() < 0.1, float(chance() < 0.1)
        if chance() < 0.004:
            hero.knock_back((self.random.uniform(-200, 200), 0), 0.1)
        if chance() < 0.004:
            esper.component_for_entity(entity, ec.Velocity).x = self.random.uniform(-300, 300)
        if chance() < 0.003:
            place = esper.component_for_entity(entity, ec.Position)
            high = self.random.choice([1, 200])
            place.set(self.random.uniform(-400, 400), place.y + self.up * high)
        if chance() < 0.005:
            if esper.has_component(entity, ec.Disabled):
                esper.remove_component(entity, ec.Disabled)
            else:
                esper.add_component(entity, ec.Disabled())
        if chance() < 0.003:
            hero.walk_speed = self.random.choice([100.0, 240.0])


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("dim", [2, 3])
def test_plain_strides_have_the_bits_of_those_that_are_decided_one_by_one(
    dim: int, volume: Volume
) -> None:
    n_plain = n_taken = 0
    for seed in range(volume(2, 6, 40)):
        streets, found = [], []
        for is_plain in (True, False):
            esper.clear_database()
            esper.switch_world(f"{dim} {seed} {is_plain} {id(volume)}")
            streets.append(Street(seed, dim, is_plain))
            found.append(streets[-1].play(volume(120, 240, 400, least=40)))
        assert found[0] == found[1], seed
        n_plain += streets[0].n_plain
        n_taken += streets[0].n_taken
    assert n_plain > 0.1 * n_taken


class Hall:
    """A character that walks on a floor."""

    def __init__(self, *more: object, **settings: object) -> None:
        self.space = ec.install()
        self.floor = esper.create_entity(ec.Position(0, -20), ec.Extents(900, 20), *more)
        self.hero = Character(**settings)
        self.entity = esper.create_entity(
            ec.Position(0, 16), ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), self.hero
        )
        self.steering = steering_of(self.space)
        take = self.steering.take_plain

        def noted(found: list[object], n: int, dt: float) -> int:
            end = take(found, n, dt)
            if n == 0:
                self.is_plain = end > 0
            return end

        self.steering.take_plain = noted
        self.hero.walk = 1.0
        self.step(20)

    def step(self, n: int = 1) -> bool:
        for _ in range(n):
            esper.process(1 / 64)
        return self.is_plain


@pytest.mark.usefixtures("world")
def test_walk_is_plain_with_all_moves_enabled_and_among_coins() -> None:
    hall = Hall(
        air_jumps=1, wall_slide_speed=60, wall_jump_speed=300, wall_jump_lock=0.2,
        climb_speed=100, dash_speed=600, dash_through="enemy", hover_speed=40, ledge_reach=6,
        crouch_height=16, swim_speed=100, lift_speed="none",
    )  # fmt: skip
    for k in range(-20, 20):
        esper.create_entity(ec.Position(20 * k, 16), ec.Extents(8, 8), ec.Sensor())

    assert all(hall.step() for _ in range(40))


@pytest.mark.usefixtures("world", "implementation")
def test_jump_is_plain_except_for_its_start_top_and_end() -> None:
    hall = Hall()
    hall.hero.jump = True

    plain, states = [], []
    for _ in range(50):
        plain.append(hall.step())
        states.append(hall.hero.state.value)

    assert hall.hero.on_ground
    changes = sum(one != other for one, other in zip(["walking", *states], states, strict=False))
    assert changes == 3  # it rises, falls, and walks again
    assert plain.count(False) == 4  # also the step in which it no longer says that it has landed


@pytest.mark.usefixtures("world", "implementation")
def test_ride_is_plain_while_the_lift_changes_its_speed() -> None:
    lift = ec.Velocity(0, 0)
    hall = Hall(lift, ec.Carry((5, 0)))
    for speed in (30, -30, 0):
        lift.set(speed, speed)

        assert all(hall.step() for _ in range(9))
        assert hall.hero.memory.frame == (speed + 5, speed, 0)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    "change",
    [
        lambda hall: setattr(hall.hero, "jump", True),
        lambda hall: setattr(hall.hero, "drop", True),
        lambda hall: setattr(hall.hero, "dash", True),
        lambda hall: setattr(hall.hero, "up", (0, 1)),
        lambda hall: hall.hero.knock_back((0, 0), 0.1),
        lambda hall: hall.hero.set_bytes(hall.hero.to_bytes()),
        lambda hall: esper.add_component(hall.floor, ec.Carry()),
        lambda hall: esper.delete_entity(hall.floor),
        lambda hall: esper.delete_entity(hall.floor, immediate=True),
        lambda hall: setattr(esper.component_for_entity(hall.entity, ec.Velocity), "y", 3.0),
        lambda hall: esper.add_component(hall.entity, ec.Disabled()),
        lambda hall: esper.add_component(hall.entity, ec.Position(0, 99)),
        lambda hall: hall.space.update(),
        lambda hall: setattr(hall.hero, "walk", 0.0),
    ],
)
def test_stride_is_decided_by_itself_when_anything_has_changed(change: object) -> None:
    hall = Hall(deceleration=math.inf)
    assert hall.is_plain

    change(hall)  # type: ignore[operator]

    assert not hall.step()


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e308, "x", None])
@pytest.mark.parametrize("name", [*ABILITIES, "walk", "across", "climb", "facing", "state_time"])
def test_stride_with_a_wrong_number_is_not_plain(name: str, wrong: object) -> None:
    hall = Hall()
    before = getattr(hall.hero, name)
    setattr(hall.hero, name, wrong)

    if wrong == math.inf and name in ENDLESS:
        assert hall.step()
        return
    with pytest.warns(RuntimeWarning, match=f"Character.{name} is "):
        assert not hall.step()
    setattr(hall.hero, name, before)
    hall.step(3)
    assert hall.step()


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("way", [1, -1])
def test_step_ahead_is_seen_two_steps_before_it(way: int) -> None:
    hall = Hall()
    hall.hero.walk = way
    for _ in range(20):
        hall.step()
    start = hall.space.position_of(hall.entity)[0]
    esper.create_entity(ec.Position(start + way * (8 + 30 + 8), 4), ec.Extents(8, 4))

    plain = [hall.step() for _ in range(7)]

    # 240 / 64 = 3.75 in a step; from 22.5 on, 7.5 are left
    assert plain == [True] * 6 + [False]


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("way", [1, -1])
def test_walk_against_a_wall_is_plain(way: int) -> None:
    hall = Hall()
    hall.hero.walk = way
    hall.step(20)
    start = hall.space.position_of(hall.entity)[0]
    esper.create_entity(ec.Position(start + way * (8 + 30 + 8), 30), ec.Extents(8, 30))

    assert all(hall.step() for _ in range(40))
    assert hall.space.position_of(hall.entity)[0] == start + way * 30
    assert hall.hero.memory.wall == (-way, 0, 0)


@pytest.mark.usefixtures("world", "implementation")
def test_walk_with_another_character_on_the_head_is_plain() -> None:
    hall = Hall()
    place = hall.space.position_of(hall.entity)
    size, rider = ec.Extents(8, 16), Character()
    rider.walk = 1.0
    velocity = ec.Velocity(240, 0)
    above = ec.Position(place[0], place[1] + 32)
    upper = esper.create_entity(above, size, velocity, ec.Slide(), rider)
    hall.step(5)

    assert all(hall.step() for _ in range(20))
    contact = hall.space.is_on(upper)
    assert contact is not None
    assert contact.other(upper) == hall.entity


@pytest.mark.usefixtures("world")
def test_stride_that_touches_a_ramp_is_not_plain() -> None:
    hall = Hall()
    start = hall.space.position_of(hall.entity)[0]
    ramp = esper.create_entity(ec.Position(start + 60, 8), ec.Extents(40, 8), ec.Slope("right"))

    touching = 0
    for _ in range(30):
        normals = {
            contact.normal_for(hall.entity)
            for contact in hall.space.contacts(hall.entity)
            if contact.other(hall.entity) == ramp
        }
        is_plain = hall.step()
        on_ramp = bool(normals - {(0, 1)})  # its upper corner is as a floor
        touching += on_ramp
        assert not (is_plain and on_ramp)
    assert touching > 10


@pytest.mark.usefixtures("world")
def test_water_and_coins_are_told_apart() -> None:
    for more in ((), (Zone(),)):
        esper.clear_database()
        hall = Hall()
        start = hall.space.position_of(hall.entity)[0]
        esper.create_entity(ec.Position(start + 46, 30), ec.Extents(8, 30), ec.Sensor(), *more)

        assert all(hall.step() for _ in range(12)) == (not more)


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("mask", [1, 3])
def test_those_that_its_filter_lets_it_pass_are_not_in_its_way(mask: int) -> None:
    esper.create_entity(ec.Position(0, -8), ec.Extents(300, 8))
    places = [ec.Position(-30, 16), ec.Position(30, 16)]
    for place, way in zip(places, (1.0, -1.0), strict=True):
        hero = Character(walk_speed=60, acceleration=math.inf)
        hero.walk = way
        body = place, ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero
        esper.create_entity(*body, ec.Filter(categories=2, mask=mask))
    steering = steering_of(ec.install())
    take, n_plain = steering.take_plain, []
    steering.take_plain = lambda found, n, dt: n_plain.append(take(found, n, dt)) or n_plain[-1]
    for _ in range(3):
        esper.process(1 / 60)
    n_plain.clear()

    for _ in range(50):
        esper.process(1 / 60)

    passed = mask == 1
    assert (places[0].x > places[1].x) is passed
    assert n_plain == [2] * 50


@pytest.mark.usefixtures("world")
def test_plain_walk_in_two_directions_is_no_faster() -> None:
    ec.install(dim=3)
    esper.create_entity(ec.Position(0, -20, 0), ec.Extents(900, 20, 900))
    hero, velocity = Character(walk_speed=100), ec.Velocity(0, 0)
    body = ec.Position(0, 16, 0), ec.Extents(8, 16, 8), velocity, ec.Slide(), hero
    esper.create_entity(*body)

    hero.walk = hero.across = 1.0
    for _ in range(20):
        esper.process(1 / 64)

    assert hero.memory.plain
    assert (velocity.x, velocity.z) == (100 / math.sqrt(2),) * 2


@pytest.mark.usefixtures("world")
def test_times_go_on_in_plain_strides() -> None:
    hall = Hall()
    memory, began = hall.hero.memory, hall.hero.state_time
    memory.since_dash, memory.since_press, memory.since_ledge = 1.0, 2.0, 3.0

    assert hall.step(4)
    esper.process(1 / 32)
    assert hall.step()

    passed = 5 / 64 + 1 / 32  # a step counts in the next one
    assert (memory.since_dash, memory.since_press) == (1.0 + passed, 2.0 + passed)
    assert (memory.since_ledge, hall.hero.state_time) == (3.0 + passed, began + passed)
    assert memory.last_dt == 1 / 64


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_wall_that_is_touched_is_no_ground(way: float) -> None:
    hall = Hall()
    wall = esper.create_entity(ec.Position(300 * way, 40), ec.Extents(8, 40))
    hall.hero.walk = way
    hall.step(120)
    assert hall.space.position_of(hall.entity)[0] == 284 * way

    esper.delete_entity(hall.floor)  # so that its wall is all that it touches
    hall.hero.walk = 0.0
    hall.step(2)

    assert not hall.is_plain
    assert hall.hero.ground != wall
    assert not hall.hero.on_ground


@pytest.mark.usefixtures("world")
def test_ground_that_a_processor_deletes_in_the_same_step_is_no_ground() -> None:
    hall = Hall()

    esper.delete_entity(hall.floor)
    hall.steering.steer(1 / 64)

    assert not hall.is_plain
    assert not hall.hero.on_ground


def test_saved_character_has_no_trace_of_plain_strides(world: str) -> None:
    hall = Hall()
    before = hall.hero.to_bytes()
    hall.hero.memory.plain = 0
    assert hall.hero.to_bytes() == before
    assert struct.calcsize("q") < len(before)
