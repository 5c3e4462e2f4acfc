"""One setting says which way is up, and `install` takes all settings of a space."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.space import parts_of
from tests.scenes import box, mover, position

pytestmark = pytest.mark.usefixtures("world", "implementation")

WAYS = [(2, 1, 1), (2, 1, -1), (2, 0, 1), (2, 0, -1), (3, 2, -1), (3, 1, 1)]
ways = pytest.mark.parametrize(("dim", "axis", "sign"), WAYS)


def along(dim, axis, size, across=0.0):
    return tuple(float(size) if k == axis else across for k in range(dim))


@ways
def test_a_body_stands_on_what_is_below_it(dim, axis, sign):
    up = along(dim, axis, sign)
    floor = box(along(dim, axis, -2 * sign), [1] * dim)
    crate = mover(along(dim, axis, 0.5 * sign), [1] * dim, along(dim, axis, -sign), ec.Slide())
    space = ec.install(dim=dim, up=up)
    esper.process(1.0)

    assert space.up == up
    assert space.is_on(crate).other(crate) == floor
    assert space.is_on(floor) is None
    assert space.is_on(floor, along(dim, axis, -sign)).other(floor) == crate


@ways
def test_a_one_way_platform_without_a_normal_is_solid_from_above(dim, axis, sign):
    platform = box([0] * dim, [1] * dim, ec.OneWay())
    falls = mover(along(dim, axis, 4 * sign), [1] * dim, along(dim, axis, -8 * sign), ec.Slide())
    jumps = mover(
        along(dim, axis, -4 * sign, 1.5), [1] * dim, along(dim, axis, 8 * sign), ec.Slide(),
        ec.Filter(mask=1),
    )  # fmt: skip
    esper.add_component(falls, ec.Filter(categories=2))
    space = ec.install(dim=dim, up=along(dim, axis, sign))
    assert esper.component_for_entity(platform, ec.OneWay).normal is None
    assert "it is there" in str(space.explain(platform, falls))
    assert "passes through" in str(space.explain(platform, jumps))
    esper.process(1.0)

    assert position(falls, dim)[axis] == 2 * sign
    assert position(jumps, dim)[axis] == 4 * sign


@ways
def test_a_lift_without_a_normal_carries_what_stands_on_it(dim, axis, sign):
    lift = mover([0] * dim, [1] * dim, [0.5 if k != axis else 0 for k in range(dim)], ec.Carry())
    rider = mover(along(dim, axis, 2 * sign), [1] * dim, [0] * dim, ec.Slide())
    space = ec.install(dim=dim, up=along(dim, axis, sign))
    for _ in range(3):
        esper.process(1.0)

    moved = [p - q for p, q in zip(position(rider, dim), position(lift, dim), strict=True)]
    assert moved[axis] == 2 * sign
    assert space.carried(rider) == esper.component_for_entity(lift, ec.Velocity).xyz[:dim]


def test_a_normal_that_is_given_goes_before_that_of_the_space():
    platform = box((0, 0), (1, 1), ec.OneWay((0, 1)))
    falls = mover((0, 4), (1, 1), (0, -8), ec.Slide())
    ec.install(up=(0, -1))
    esper.process(1.0)

    assert position(falls) == (0, 2)
    normal = esper.component_for_entity(platform, ec.OneWay)
    normal.normal = None
    assert (normal, normal.normal) == (ec.OneWay(), None)
    assert normal != ec.OneWay((0, 1))


def test_a_character_walks_and_jumps_the_way_that_is_up():
    box((0, 8), (500, 8))
    keys = Character()
    assert keys.up is None
    hero = mover((0, -16), (10, 16), (0, 0), ec.Slide(), keys)
    ec.install(up=(0, -1))
    for _ in range(30):
        esper.process(1 / 60)
    assert keys.on_ground
    assert Character.from_bytes(keys.to_bytes()).up is None
    keys.jump = True
    for _ in range(10):
        esper.process(1 / 60)
    assert position(hero)[1] < -40
    keys.up = (0, 1)
    assert keys.up == (0, 1, 0)


def test_snapshots_hold_components_without_a_normal(elsewhere):
    platform = box((0, 0), (1, 1), ec.OneWay(), ec.Carry())
    space = ec.install(up=(0, -1))
    esper.process(1.0)
    data = space.snapshot()
    other = elsewhere()
    other.restore(data)

    assert esper.component_for_entity(platform, ec.OneWay) == ec.OneWay()
    assert esper.component_for_entity(platform, ec.Carry) == ec.Carry()


# It turns with gravity ----------------------------------------------------------------------


def standing(space, entity):
    contact = space.is_on(entity)
    return None if contact is None else contact.other(entity)


@pytest.mark.parametrize("fps", [30, 60, 144])
@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("is_fixed", [False, True])
def test_everything_that_has_no_normal_of_its_own_turns_with_gravity(fps, is_restored, is_fixed):
    #   The room is the same upside down: after the turn all stand where the mirror image stood.
    parts = [ec.Fixed] if is_fixed else []
    _, ceiling = (box((0, y), (100, 10), *(part() for part in parts)) for y in (-10, 110))
    shelf = box((-60, 50), (20, 2), ec.OneWay(), *(part() for part in parts))
    ramp = box((60, 50), (20, 10), ec.Slope("right"), *(part() for part in parts))
    belt = box((0, 50), (20, 2), ec.Carry(surface=(30, 0)))
    hero = mover((-60, 62), (5, 10), (0, 0), ec.Slide(), keys := ec.Character())
    crate = mover((60, 80), (5, 5), (0, 0), ec.Slide(), ec.Friction(9))
    rider = mover((-10, 57), (5, 5), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -900))

    def play():
        for _ in range(fps):
            esper.process(1 / fps)

    for _ in range(fps // 5):
        esper.process(1 / fps)
    assert (standing(space, hero), standing(space, rider)) == (shelf, belt)
    assert space.position_of(rider)[0] > -6
    play()
    assert standing(space, hero) == shelf
    assert (space.query_point((60, 48)), space.query_point((60, 52))) == ([ramp], [])
    space.gravity = (0, 900)
    assert space.up == (0, -1)
    if is_restored:
        data = space.snapshot()
        space.gravity = (0, -900)
        space.restore(data)
        assert space.up == (0, -1)
    play()

    assert [standing(space, each) for each in (hero, crate, rider)] == [ceiling] * 3
    assert keys.on_ground
    assert space.bounds(hero)[1][1] == 100
    space.teleport(hero, (-60, 20))  # below the shelf it comes to stand on the other side
    space.teleport(crate, (60, 20))
    space.teleport(rider, (0, 43))
    for _ in range(fps // 5):
        esper.process(1 / fps)
    assert standing(space, rider) == belt
    assert space.position_of(rider)[0] > 3
    play()
    assert standing(space, hero) == shelf
    assert (space.query_point((60, 48)), space.query_point((60, 52))) == ([], [ramp])


def test_up_stays_while_nothing_falls_and_where_the_game_has_given_it():
    space = ec.install(gravity=(0, 900))
    assert space.up == (0, -1)
    for gravity, up in [((0, 0), (0, -1)), ((5, 5), (0, -1)), ((-9, 0), (1, 0))]:
        space.gravity = gravity
        assert space.up == up
    space.up = (0, 1)
    space.gravity = (0, 900)
    assert space.up == (0, 1)
    state = space.save_state()
    space.up = None
    assert space.up == (0, -1)
    for data in (state, bytes(state)):
        space.restore(data)
        assert space.up == (0, 1)
        space.gravity = (0, 900)
        assert space.up == (0, 1)
        space.up = None

    with pytest.raises(ValueError, match=r"Space.up=\(1, 1\) must be 2 numbers"):
        space.up = (1, 1)


@pytest.mark.parametrize("up", [(0, 2), (1, 1), (0, 0), (0, 1, 0), (0, float("nan"))])
def test_what_points_nowhere_is_refused(up):
    with pytest.raises(ValueError, match=r"up=.* must be 2 numbers that point along one axis"):
        ec.Space(up=up)


# install ------------------------------------------------------------------------------------

SETTINGS = {
    "dim": 3,
    "rest_speed": 30,
    "pair_limit": 5,
    "margin": 2,
    "lookahead": 1.5,
    "components": ec.Components(anchor=(0, 0, 0)),
    "motion": "swept",
    "sleep": False,
    "wrap": (100, None, None),
    "up": (0, 0, 1),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_install_takes_each_setting_of_a_space(name):
    given = {name: SETTINGS[name]}
    if name in ("components", "wrap", "up"):
        given["dim"] = 3

    space = ec.install(**given)

    assert not parts_of(space).settings.differing(given)
    assert ec.install(**given) is ec.install() is ec.install(space) is space
    for other, value in SETTINGS.items():
        if other not in given:
            value = value[:2] if isinstance(value, tuple) and space.dim == 2 else value
            if other == "up" and space.dim == 2:
                value = (1, 0)
            with pytest.raises(ValueError, match=rf"with other arguments, {other}="):
                ec.install(**{other: value})


def test_a_setting_that_the_game_has_changed_since_is_no_other_argument():
    space = ec.install(rest_speed=30, sleep=True)
    space.rest_speed, space.sleep = 10, False

    assert ec.install(rest_speed=30, sleep=True) is space


def test_a_space_made_with_other_settings_is_refused():
    with pytest.raises(ValueError, match=r"install\(up=\(0, -1\)\) must be \(0\.0, 1\.0\)"):
        ec.install(ec.Space(), up=(0, -1))
    with pytest.raises(TypeError, match="unexpected argument 'gravitiy'"):
        ec.install(gravitiy=3)
