"""Zones: water carries crates and swimmers, wind pushes, and things fall slowly on the moon."""

from __future__ import annotations

import math
import random
from contextlib import nullcontext
from typing import NamedTuple

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.character import Character, CharacterState
from ecs_collide.components.immersed import Immersed
from ecs_collide.zone import Zone, ZoneSteering
from tests.scenes import another_world, mover, of, steps

DT = 1 / 64


def zone(low, high, *more, **settings):
    centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
    body = ec.Position(*centre), ec.Extents(*half), ec.Sensor(), Zone(**settings)
    return esper.create_entity(*body, *more)


def crate(x, y, *more, half=(10, 10)):
    body = ec.Position(x, y), ec.Extents(*half), ec.Velocity(0, 0), ec.Slide()
    return esper.create_entity(*body, *more)


def run(n):
    steps(n, DT)


def velocity_of(entity):
    return of(entity, ec.Velocity)


@pytest.fixture
def space(world):
    return ec.install(gravity=(0, -512))


# -- what is inside --


class Effect(NamedTuple):
    gravity: float
    afloat: float
    drag: float
    walk: float
    flow_x: float
    flow_y: float
    flow_z: float


def effect(box, *zones, wrap=None):
    table = backend.kernels.immersion.ZoneTable(len(box[0]), wrap)
    return Effect(*table.effect_of(box, list(zones)))


def test_effect_of_zones_is_by_the_part_of_the_box_and_adds_up():
    box = (0.0, 0.0), (4.0, 4.0)
    pool = Zone(buoyancy=2.0, drag=4.0, walk=0.5)
    wind = Zone(flow_x=8.0)

    found = effect(box, (pool, ((-9.0, -9.0), (9.0, 1.0))), (wind, ((2.0, 0.0), (9.0, 9.0))))

    assert found == Effect(0.5, 0.25, 1.0, 0.875, 4.0, 0.0, 0.0)


def sums_by_fsum(box, zones, wrap):
    """Return the effect by the definition: each sum is the exact one, rounded once."""
    effects = [(1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)]
    for it, bounds in zones:
        part = 1.0
        for k, (low, high, start, end) in enumerate(zip(*box, *bounds, strict=True)):
            shift = 0.0
            if wrap is not None and wrap[k]:
                shift = wrap[k] * round(((low + high) - (start + end)) / 2.0 / wrap[k])
            shared = min(high, end + shift) - max(low, start + shift)
            part *= (shared / (high - low) if high > low else 1.0) if shared >= 0.0 else 0.0
        effects.append(
            (
                part * (it.gravity - 1.0 - it.buoyancy),
                *(part * it.drag, part * (it.walk - 1.0), part * (it.buoyancy > 0.0)),
                *(part * it.flow_x, part * it.flow_y, part * it.flow_z),
            )
        )
    gravity, drag, walk, afloat, *flow = map(math.fsum, zip(*effects, strict=True))
    return Effect(gravity, afloat, drag, walk, *flow)


@pytest.mark.parametrize("dim", [2, 3])
def test_effect_is_the_exact_sum_rounded_once(implementation, dim, volume):
    rng = random.Random(dim)

    def number(most):  # powers of two, whose sums may be halfway between two floats
        size = rng.choice([rng.random(), 2.0 ** rng.choice([0, -53, -54, -106])])
        return rng.choice([-1, 1]) * most * size

    def bounds_of(most):
        low = [rng.choice([-most, -rng.random() * most]) for _ in range(dim)]
        high = [rng.choice([most, rng.random() * most, at]) for at in low]
        return tuple(low), tuple(high)

    for n in range(volume(400, 1600, 4000)):
        wrap = (64.0, None, 48.0)[:dim] if n % 3 == 0 else None
        boxes = [bounds_of(4.0), *(bounds_of(30.0) for _ in range(rng.randrange(9)))]
        zones = [
            (
                Zone(
                    *(number(1.0), number(1.0), abs(number(1.0))),
                    *(number(1.0), number(64.0), number(1.0), abs(number(1.0))),
                ),
                bounds,
            )
            for bounds in boxes[1:]
        ]

        found = effect(boxes[0], *zones, wrap=wrap)

        assert found == sums_by_fsum(boxes[0], zones, wrap)
        assert found == effect(boxes[0], *zones[::-1], wrap=wrap)


# -- other bodies --


@pytest.mark.parametrize("buoyancy", [1.25, 1.5, 2.0, 4.0])
def test_crate_floats_where_its_weight_and_its_lift_are_equal(space, buoyancy):
    zone((-200, -100), (200, 0), buoyancy=buoyancy, drag=5.0)
    box = crate(0, 40)

    run(900)

    inside = 20 / buoyancy
    assert space.position_of(box)[1] == pytest.approx(10 - inside, abs=0.01)


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_wind_and_friction_balance_at_the_same_speed_for_any_dt(rate, world, implementation):
    ec.install(gravity=(0, -900))
    esper.create_entity(ec.Position(0, -20), ec.Extents(5000, 20), ec.Friction(0.3, rule="max"))
    zone((-5000, 0), (5000, 200), flow_x=120, drag=6)
    box = crate(0, 12, half=(12, 12))

    steps(4 * rate, 1 / rate)

    assert velocity_of(box).xy == pytest.approx((120 - 0.3 * 900 / 6, 0))


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_path_in_a_zone_is_the_same_for_any_dt(rate, world, implementation):
    space = ec.install(gravity=(0, -900))
    zone((-500, -5000), (5000, 5000), gravity=0.25, flow_x=40, drag=2)
    box = crate(0, 0, ec.GravityScale(2), ec.Acceleration(0, 50))
    esper.process(1e-9)  # from now on its zone is known

    steps(rate, 1 / rate)

    left, fall = math.exp(-2), (50 - 450) / 2
    assert velocity_of(box).xy == pytest.approx((40 * (1 - left), fall * (1 - left)), abs=1e-5)
    gone = 1 - (1 - left) / 2
    assert space.position_of(box) == pytest.approx((40 * gone, fall * gone), abs=1e-5)


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_crate_without_drag_bobs_for_ever_and_no_higher(rate, world, implementation, volume):
    space = ec.install(gravity=(0, -512))
    zone((-200, -400), (200, 0), buoyancy=2.0)
    box = crate(0, 5)  # 5 above where it floats
    heights = []

    for _ in range(volume(30, 120, 300, least=5) * rate):
        esper.process(1 / rate)
        heights.append(space.position_of(box)[1])

    for part in (heights[: 2 * rate], heights[-2 * rate :]):
        assert max(part) == pytest.approx(5, abs=0.5)
        assert min(part) == pytest.approx(-5, abs=0.5)


def test_crate_that_rests_in_a_zone_sleeps_until_the_zone_changes(space):
    wind = zone((-200, -100), (200, 100), flow_x=8.0, drag=2.0, gravity=0.5)
    esper.create_entity(ec.Position(0, -20), ec.Extents(500, 10), ec.Friction(1, rule="max"))
    box = crate(0, 0)
    run(30)
    assert space.stats.asleep == 1

    of(wind, Zone).flow_x = 800.0
    run(2)

    assert space.stats.asleep == 0
    assert velocity_of(box).x > 0


def test_zone_leaves_alone_what_gravity_leaves_alone(space):
    zone((-200, -100), (200, 100), flow_x=64.0, drag=2.0, gravity=0.0)
    lift = mover((0, 0), (5, 5), (0, 8))
    coin = mover((50, 0), (5, 5), (0, 8), ec.Slide(), ec.Sensor())

    run(8)

    assert velocity_of(lift).xy == velocity_of(coin).xy == (0, 8)


def test_zone_that_is_switched_off_or_left_acts_no_longer(space):
    wind = zone((-200, -100), (200, 100), flow_x=64.0, drag=2.0, gravity=0.0)
    box = crate(0, 0)
    run(8)
    speed, falls = velocity_of(box).x, velocity_of(box).y
    assert speed > 0

    esper.add_component(wind, ec.Disabled())
    run(1)
    assert (velocity_of(box).x, velocity_of(box).y) == (speed, falls - 512 * DT)
    run(8)
    assert velocity_of(box).x == speed


@pytest.mark.parametrize(
    "change",
    [ec.Sensor(), ec.Disabled(), ec.Attached(1, (90, 0)), Character(), ec.Extents, None],
    ids=repr,
)
def test_zone_asks_for_what_has_changed_since_the_step(space, change):
    zone((-50, -50), (50, 50), drag=1.0)
    body, other = crate(-30, 0), crate(30, 0)
    run(3)

    if change is ec.Extents:
        esper.remove_component(body, change)
    elif change is not None:
        esper.add_component(body, change)
    esper.get_processor(ec.BroadphaseSystem).steering[ZoneSteering].steer(DT)

    immersed = {each for each, _ in esper.get_component(Immersed)}
    assert immersed == ({body, other} if change is None else {other})


def test_zone_acts_on_no_other_body_that_has_got_an_id(space):
    zone((-50, -50), (50, 50), drag=1.0)
    body = crate(-30, 0)
    run(3)

    for kind in (ec.Position, ec.Extents, ec.Velocity, ec.Slide, Immersed):
        esper.remove_component(body, kind)
    for component in (ec.Position(900, 0), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide()):
        esper.add_component(body, component)
    run(1)

    assert not esper.get_component(Immersed)


def test_zone_refuses_what_makes_no_sense(space):
    for settings in (
        *({"drag": -1}, {"walk": -0.5}, {"gravity": math.nan}, {"flow_y": math.inf}),
        *({"buoyancy": "x"}, {"drag": None}, {"flow_x": (1, 2)}),
    ):
        with pytest.raises(ValueError, match=rf"Zone\({next(iter(settings))}=.* a finite number"):
            Zone(**settings)


def test_zone_that_is_no_sensor_is_found_by_the_doctor(space):
    esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), Zone())

    assert "has Zone but no Sensor" in str(space.doctor())


def test_zone_may_be_attached_instead_of_a_sensor(space):
    box = crate(0, 0)
    body = ec.Position(0, 0), ec.Extents(50, 50), ec.Attached(box), Zone(gravity=0.0)
    esper.create_entity(*body)
    run(4)

    assert velocity_of(box).y == -512 * 4 * DT  # a box does not meet its owner
    assert not space.doctor()


# -- characters --


@pytest.mark.parametrize("more", [(), (ec.Carry(),)], ids=["", "that carries"])
@pytest.mark.parametrize("mass", [1, 20])
@pytest.mark.parametrize("rate", [30, 60, 144])
def test_character_stands_walks_and_jumps_on_a_crate_that_floats(rate, mass, more, world):
    zone((-300, -200), (300, 0), buoyancy=1.5, drag=5.0)
    box = crate(0, 0, ec.Mass(mass), *more, half=(40, 12))
    hero = Character(walk_speed=60, jump_height=60)
    body = ec.Position(-20, 40), ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero
    entity = esper.create_entity(*body)
    space = ec.install(gravity=(0, -900))

    def stands(seconds):
        for _ in range(round(seconds * rate)):
            esper.process(1 / rate)
            gap = space.bounds(entity)[0][1] - space.bounds(box)[1][1]
            assert abs(gap) < 1e-9
            assert hero.on_ground
            assert hero.ground == box

    for _ in range(rate // 2):  # it falls on the crate, which goes down and up again
        esper.process(1 / rate)
    stands(2.0)
    hero.walk = 1.0
    stands(0.5)
    assert space.position_of(entity)[0] == pytest.approx(-20 + 30, abs=2)
    hero.walk, hero.jump = 0.0, True
    start, top = space.position_of(entity)[1], 0.0
    for _ in range(rate):
        esper.process(1 / rate)
        top = max(top, space.position_of(entity)[1] - start)
    assert top == pytest.approx(60, abs=6)
    stands(1.0)


@pytest.fixture
def swimmer(world):
    """Return a function that puts a character over a floor, and zones around it."""

    def make(x, y, **settings):
        given = {"walk_speed": 128, "acceleration": math.inf, "deceleration": math.inf}
        hero = Character(**{**given, **settings})
        esper.create_entity(ec.Position(0, -416), ec.Extents(900, 16))
        body = ec.Position(x, y), ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide(), hero
        entity = esper.create_entity(*body)
        space = ec.install()
        run(1)
        return space, entity, hero

    return make


def test_character_floats_and_walks_slowly_in_water(swimmer):
    zone((-500, -400), (500, 0), buoyancy=2.0, drag=5.0, walk=0.5)
    space, entity, hero = swimmer(0, -20, swim_speed=100)
    run(600)
    assert space.position_of(entity)[1] == pytest.approx(0, abs=0.01)  # half of it is inside
    assert hero.state is CharacterState.SWIMMING

    hero.walk = 1.0
    run(1)
    assert velocity_of(entity).x == pytest.approx(128 * 0.75, abs=1e-3)


@pytest.mark.parametrize("side", [1, -1])
def test_swimmer_beside_a_bank_rises_instead_of_jumping_off_it(swimmer, side):
    zone((-500, -400), (500, 0), buoyancy=0.9, drag=2.0)
    esper.create_entity(ec.Position(side * 48, -200), ec.Extents(40, 200))
    _, entity, hero = swimmer(0, -300, swim_speed=100, wall_jump_speed=300)
    hero.walk = float(side)
    run(20)

    hero.jump = True
    run(1)

    assert velocity_of(entity).y == pytest.approx(100, abs=3)
    assert velocity_of(entity).x * side >= 0.0


def test_swimmer_rises_by_each_press_and_jumps_out_at_the_surface(swimmer):
    zone((-500, -400), (500, 0), buoyancy=0.9, drag=2.0)
    space, entity, hero = swimmer(0, -300, swim_speed=100, jump_height=60, time_to_top=0.3)
    run(20)

    start = space.position_of(entity)[1]
    hero.jump = True
    run(1)
    assert velocity_of(entity).y == pytest.approx(100, abs=3)
    run(30)
    assert space.position_of(entity)[1] > start
    strokes = 1
    while space.position_of(entity)[1] < -4:
        hero.jump = False
        run(10)
        hero.jump = True
        run(1)
        strokes += 1
        assert strokes < 60
    hero.jump = False
    run(1)
    while space.position_of(entity)[1] < 4:  # until most of it is out of the water
        hero.jump = not hero.jump
        run(1)
    hero.jump = False
    run(1)
    hero.jump = True
    run(1)
    assert hero.state is not CharacterState.SWIMMING or velocity_of(entity).y > 300


def test_character_that_cannot_swim_does_not_jump_in_water(swimmer):
    zone((-500, -400), (500, 0), buoyancy=0.9, drag=2.0)
    _, entity, hero = swimmer(0, -200)
    run(20)

    hero.jump = True
    run(2)

    assert velocity_of(entity).y < 0


def test_character_walks_relative_to_the_wind(swimmer):
    zone((-500, -400), (500, 0), flow_x=-48.0)
    _, entity, hero = swimmer(0, -384)
    run(2)

    for wish, speed in ((1.0, 80), (0.0, -48), (-1.0, -176)):
        hero.walk = wish
        run(1)
        assert velocity_of(entity).x == speed


def test_character_jumps_higher_on_the_moon(swimmer):
    zone((-500, -400), (500, 600), gravity=0.25)
    space, entity, hero = swimmer(0, -384, jump_height=50, time_to_top=0.25)
    run(2)

    hero.jump = True
    tops = []
    for _ in range(100):
        run(1)
        tops.append(space.position_of(entity)[1])

    assert max(tops) + 384 == pytest.approx(200, abs=0.1)


def test_draught_lifts_a_character(swimmer):
    zone((-50, -400), (50, 600), gravity=0.0, drag=8.0, flow_y=100.0)
    space, entity, _ = swimmer(0, -200)

    run(200)

    assert velocity_of(entity).y == pytest.approx(100.0)
    assert space.position_of(entity)[1] > 0


# -- the first step --


def _drifter(dim, x=0, *more):
    velocity = ec.Velocity(*(100, 0, 0)[:dim])
    place = ec.Position(*(x, 0, 0)[:dim])
    body = place, ec.Extents(*(1, 1, 1)[:dim]), velocity, ec.Slide()
    return esper.create_entity(*body, *more), place, velocity


def _sea(dim, *more):
    body = ec.Position(*(0, 0, 0)[:dim]), ec.Extents(*(99, 99, 99)[:dim]), ec.Sensor()
    return esper.create_entity(*body, Zone(drag=4), *more)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        "new body",
        "new zone",
        "teleport",
        "write",
        "resize",
        "body on",
        "zone on",
        "sleeper",
        "drop",
    ],
)
def test_zone_acts_in_the_first_step_of_a_body_in_it(dim, restores, change, world, implementation):
    space = ec.install(dim=dim)
    off = ec.Disabled()
    if change != "new zone":
        sea = _sea(dim, *[off] * (change == "zone on"))
    if change != "new body":
        x = -500 if change in ("teleport", "write", "sleeper", "resize") else 0
        body, place, velocity = _drifter(dim, x, *[off] * (change == "body on"))
    if change == "resize":
        of(sea, ec.Extents).x = 1.0
    if change == "sleeper":
        velocity.x = 0.0
        run(200)
        assert space.stats.asleep == 1
    run(1)

    if change == "new body":
        body, place, velocity = _drifter(dim)
    elif change == "new zone":
        _sea(dim)
    elif change == "teleport":
        space.teleport(body, (0, 0, 0)[:dim])
    elif change in ("write", "sleeper"):
        place.x = 0.0
    elif change == "resize":
        of(sea, ec.Extents).x = 900.0
    elif change == "drop":
        place.x = 900.0
    else:
        esper.remove_component(body if change == "body on" else sea, ec.Disabled)
    velocity.x = 100.0
    data = space.snapshot()
    with another_world("restored") if restores else nullcontext():
        if restores:
            ec.install(dim=dim).restore(data)
        run(1)
        left = 1.0 if change == "drop" else math.exp(-4 * DT)
        assert velocity_of(body).x == pytest.approx(100 * left, rel=1e-12)


def test_new_zone_obeys_filters_owners_and_the_edge_of_the_world(world):
    space = ec.install(wrap=(1024, None))
    alone = ec.Filter(categories=2, mask=2)
    filtered, _, _ = _drifter(2, 0, alone)
    _sea(2)
    across, _, _ = _drifter(2, 1000)
    owner, _, _ = _drifter(2, 500)
    zone((400, -50), (600, 50), ec.Attached(owner), drag=4)
    run(1)

    assert velocity_of(filtered).x == velocity_of(owner).x == 100.0
    assert velocity_of(across).x < 95.0
    near, _, _ = _drifter(2, 540)  # in the zone of the owner, which is known now
    run(1)
    assert space.velocity_of(near)[0] < 95.0
    space.teleport(owner, (700, 0))
    run(1)
    assert velocity_of(owner).x == 100.0


def test_new_body_with_a_wrong_number_is_skipped_and_caught_up_with(world):
    ec.install()
    _sea(2)
    _, place, velocity = _drifter(2)
    place.x = math.nan
    with pytest.warns(RuntimeWarning):
        run(1)
    assert velocity.x == 100.0
    place.x = 0.0
    run(1)
    assert velocity.x < 95.0
