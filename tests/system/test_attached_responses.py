"""The game's responses are offered what enters an attached box, which stops nothing."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide import Attached, Outcome, Position, Sensor
from tests.scenes import another_world, box, mover, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Shot: ...


class Hurt: ...


def fighter(*more, dim=2, side=1.0, slept=False):
    """Return a fighter at 100 and its hurt box, 8 wide to both sides."""
    rest = [0.0] * (dim - 1)
    parts = [ec.Velocity(*[0.0] * dim), ec.Slide()] if slept else []
    owner = box([side * 100.0, *rest], [1.0] * dim, *parts, ec.Filter(1, 8))
    hurt = box(
        [side * 100.0, *rest],
        [8.0] * dim,
        Hurt(),
        Attached(owner, [0.0] * dim),
        ec.Filter(2, 4),
        *more,
    )
    return owner, hurt


def shot(*more, dim=2, side=1.0, speed=9000.0, at=0.0):
    rest = [0.0] * (dim - 1)
    return mover(
        [side * at, *rest], [1.0] * dim, [side * speed, *rest], Shot(), ec.Filter(4, 2), *more
    )


@pytest.mark.parametrize("slept", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("kind", [Shot, Hurt])
def test_a_shot_is_deleted_where_it_enters_a_hurt_box(kind, side, dim, slept):
    space = ec.install(dim=dim, sleep=slept)
    _, hurt = fighter(dim=dim, side=side, slept=slept)
    steps(60 if slept else 1, 1 / 60)
    bullet = shot(dim=dim, side=side)
    behind = box([side * 130.0, *[0.0] * (dim - 1)], [8.0] * dim, ec.Filter(2, 4))
    seen = []

    def strike(impact):
        seen.append((impact.other(bullet), impact.time, impact.position(bullet)[0]))
        esper.delete_entity(bullet)

    space.respond_with(kind, strike)
    esper.process(1 / 60)

    assert seen == [(hurt, pytest.approx(91 / 150), pytest.approx(side * 91))]
    assert [event.outcome for event in space.collisions] == [Outcome.CROSSED]
    assert not space.collisions_of(behind)
    if slept:
        assert space.stats.asleep == 1


@pytest.mark.parametrize("returned", [None, ec.DEFAULT])
@pytest.mark.parametrize("deed", ["nothing", "cross", "resolve"])
def test_a_shot_flies_on_whatever_the_function_returns(returned, deed):
    space = ec.install()
    fighter()
    bullet = shot()

    def strike(impact):
        if deed == "resolve":
            impact.resolve(ec.Deflect(1.0))
        elif deed == "cross":
            impact.cross(until_separate=True)
        return returned

    space.respond_with(Shot, strike)
    esper.process(1 / 60)

    assert space.position_of(bullet) == (150, 0)
    assert [event.outcome for event in space.collisions] == [Outcome.CROSSED]
    assert [event.kind.name for event in space.contacts_began] == ["CROSSING"]
    assert len(space.contacts_ended) == 1


@pytest.mark.parametrize("gravity", [None, (0, -900)])
def test_a_shield_throws_a_shot_back_by_the_velocity_that_the_function_sets(gravity):
    space = ec.install(gravity=gravity)
    fighter()
    bullet = shot(ec.GravityScale(0))

    def reflect(impact):
        impact.set_velocity(bullet, (-9000, 0))

    space.respond_with(Shot, reflect)
    esper.process(1 / 60)

    assert space.position_of(bullet) == pytest.approx((91 - 59, 0))
    assert len(space.collisions) == len(space.contacts_began) == len(space.contacts_ended) == 1


def test_a_shot_between_two_shields_that_throw_it_at_one_instant_ends_the_step():
    space = ec.install()
    for side in (-1, 1):
        owner = box([side * 30.0, 0.0], [1.0, 1.0], ec.Filter(1, 8))
        box([0.0, 0.0], [9.0, 9.0], Attached(owner, (-side * 20, 0)), ec.Filter(2, 4))
    bullet = shot()
    calls = []

    def reflect(impact):
        calls.append(impact)
        impact.set_velocity(bullet, tuple(-v for v in impact.velocity(bullet)))

    space.respond_with(Shot, reflect)
    esper.process(1 / 60)

    assert 0 < len(calls) <= 2 * 64


def test_a_response_does_not_put_an_attached_box_elsewhere():
    space = ec.install()
    owner = box((4, 4), (0.5, 0.5))
    hat = box((5, 4), (0.5, 1.5), Attached(owner, (1, 0)))
    bullet = esper.create_entity(
        ec.Position(6, 4), ec.Extents(0.5, 0.5), ec.Velocity(-4, 0), Shot()
    )

    def put(impact):
        assert impact.other(bullet) == hat
        esper.component_for_entity(hat, ec.Position).set(9, 6)

    space.respond_with(Shot, put)
    for collisions in (1, 0):
        esper.process(1 / 60)
        space.check()
        assert len(space.collisions) == collisions
        assert space.position_of(hat) == (5, 4)


@pytest.mark.parametrize("height", [-0.1, 0.0, 0.5])
def test_a_floor_that_a_response_puts_into_a_box_meets_it_whether_it_stops_the_owner(height):
    #   crate +---+|hat     the shot hits the floor, which is put below the crate, or into it
    #         +---+|
    #  o           |
    #  v  ^ ^ ^ ^ ^ ^
    #  ---------------      floor
    floor = box((0, -2), (30, 1))
    crate = mover((8, 2), (1, 1), (0, -0.2), ec.Slide())
    hat = box((9, 2), (0.5, 1.5), Attached(crate, (1, 0)))
    bullet = mover((2, 0), (0.5, 0.5), (0, -40), Shot())
    space = ec.install()

    def lift(impact):
        impact.resolve()
        if impact.other(bullet) == floor:
            esper.component_for_entity(floor, ec.Position).set(-4, height)

    space.respond_with(Shot, lift)
    esper.process(1 / 30)

    met = {(contact.first, contact.second) for contact in space.contacts()}
    assert met >= {(floor, hat)}
    assert ((floor, crate) in met) == (height >= 0)


@pytest.mark.parametrize("where", ["on the box", "on the shot"])
def test_what_has_a_sensor_too_only_reports(where):
    space = ec.install()
    fighter(*[Sensor()] if where == "on the box" else [])
    shot(*[Sensor()] if where == "on the shot" else [])
    calls = []
    space.respond_with(Shot, calls.append)
    esper.process(1 / 60)

    assert not calls
    assert [event.outcome for event in space.collisions] == [Outcome.CROSSED]


def test_a_sword_that_swings_is_offered_each_hurt_box_once():
    space = ec.install()
    _, hurt = fighter()
    hero = box([0.0, 0.0], [1.0, 1.0], ec.Filter(1, 8))
    swing = Attached(hero, (50, 0))
    sword = box([50.0, 0.0], [1.0, 1.0], Shot(), swing, ec.Filter(4, 2))
    struck = []
    space.respond_with(Shot, lambda impact: struck.append(impact.other(sword)))
    esper.process(1 / 60)
    for x in (150, 150, 50):
        swing.offset = (x, 0)
        esper.process(1 / 60)

    assert struck == [hurt, hurt]


class Strikes(ec.ResponseSystem):
    def __init__(self, space):
        super().__init__(space)
        self.seen = []

    def respond(self, impact):
        self.seen.append((impact.first, impact.second))
        return ec.DEFAULT


class HandlesHurt(Strikes):
    handles = Hurt


class HandlesOthers(Strikes):
    handles = Position


@pytest.mark.parametrize("system", [Strikes, HandlesHurt, HandlesOthers])
def test_a_response_system_is_offered_what_it_handles(system):
    space = ec.install()
    _, hurt = fighter()
    bullet = shot()
    strikes = system(space)
    esper.add_processor(strikes, priority=115)
    esper.process(1 / 60)

    assert strikes.seen == [(hurt, bullet)]


@pytest.mark.parametrize("restored", [False, True])
def test_a_shot_strikes_after_a_restore_as_without_one(restored):
    def play():
        space = ec.install(gravity=(0, -90))
        fighter()
        bullet = shot(speed=900.0)
        struck = []

        def reflect(impact):
            struck.append((impact.time, impact.position(bullet), impact.velocity(bullet)))
            impact.set_velocity(bullet, (-300, 0))

        space.respond_with(Shot, reflect)
        for n in range(12):
            esper.process(1 / 60)
            if restored and n in (2, 6):
                space.restore(space.snapshot())
        return struck, space.position_of(bullet)

    with another_world("plain"):
        struck, place = play()
    assert len(struck) == 1
    if restored:
        with another_world("restored"):
            assert (struck, place) == play()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("sleeps", [False, True])
@pytest.mark.parametrize("speed", [300.0, -70.0])
def test_a_velocity_that_a_response_gives_an_attached_box_leads_it_nowhere(speed, sleeps, dim):
    rest = [0.0] * (dim - 2)
    space = ec.install(dim=dim, sleep=sleeps, margin=0.0, lookahead=0.0)
    box((0, -4, *rest), (40, 1, 1)[:dim], Shot(), ec.Filter(2, 4))
    owner = mover((0, 0, *rest), (1, 1, 1)[:dim], (0, 0, *rest), ec.Slide())
    feet = box(
        (1, -2, *rest), (0.5, 0.5, 0.5)[:dim], Attached(owner, (1, -2, *rest)), ec.Filter(4, 2)
    )
    esper.add_component(feet, ec.Velocity(*[0.0] * dim))
    met = []

    def push(impact):
        met.append(impact.time)
        esper.component_for_entity(feet, ec.Velocity).set(speed, 0.0, *rest)

    space.respond_with(Shot, push)
    steps(30 if sleeps else 1, 1 / 60)
    esper.component_for_entity(owner, ec.Velocity).set(0.0, -600.0, *rest)
    for _ in range(4):
        esper.process(1 / 60)
        space.check()
        feet_at = esper.component_for_entity(feet, Position)
        owner_at = esper.component_for_entity(owner, Position)
        assert (feet_at.x, feet_at.y) == (owner_at.x + 1, owner_at.y - 2)
    assert met
