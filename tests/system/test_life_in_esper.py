"""What may happen to a plugin in somebody else's program: a test for each row of the table.

Thousands of boxes in one point have a file of their own, `test_crowds`; what
esper itself does that surprises stands in `test_esper_traps`.
"""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, box, mover, of, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Tagged:
    """A custom response."""


# -- "NaN, inf or |x| > 2^500 in a component, negative extents: the body is quarantined,
#     reported once with entity, field, value; back when finite; the others unaffected" --

HUGE = 2.0**501

WRONG = [
    *[(ec.Position, "x", value) for value in (math.nan, math.inf, -math.inf, HUGE, -HUGE)],
    *[(ec.Extents, "y", value) for value in (math.nan, math.inf, HUGE, -1.0, -5e-324)],
    *[(ec.Velocity, "y", value) for value in (math.nan, -math.inf, HUGE)],
    *[(ec.Growth, "x", value) for value in (math.nan, math.inf, -HUGE)],
    *[(ec.Mass, "value", value) for value in (math.nan, 0.0, -1.0, -math.inf, HUGE)],
    *[(ec.Deflect, "restitution", value) for value in (math.nan, -0.1, 1.1, math.inf)],
]


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_wrong_numbers_quarantine_their_body_and_no_other(kind, name, value):
    floor = box((0, -2), (50, 1))
    sick = mover((0, 0), (1, 1), (0, -1), ec.Deflect(0), ec.Mass(1), ec.Growth(0, 0))
    other = mover((9, 3), (1, 1), (0, -4), ec.Deflect())
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1 / 4)
    ledger.record()
    right = getattr(of(sick, kind), name)

    setattr(of(sick, kind), name, value)
    with pytest.warns(RuntimeWarning) as warned:
        esper.process(1 / 4)
    ledger.record()
    esper.process(1 / 4)
    ledger.record()

    assert len(warned) == 1
    (report,) = space.reports
    assert (report.entity, report.field) == (sick, f"{kind.__name__}.{name}")
    assert report.value == value or value != value
    assert f"entity {sick}" in str(warned[0].message)
    assert repr(value) in str(warned[0].message)
    assert space.query((-5, -0.5), (5, 5)) == []
    assert ((floor, sick), ec.EndReason.QUARANTINED) in ledger.ends
    assert position(other) == (9, 0)  # bounced at 0.75 seconds, as if nothing had been

    setattr(of(sick, kind), name, right)
    esper.process(0.0)
    ledger.record()
    assert (floor, sick) in ledger.open
    assert space.query((-5, -0.5), (5, 5)) == [sick]
    assert len(space.reports) == 1
    space.check()


# -- "zero extents, denormals, coordinates of 1e12: work" --


@pytest.mark.parametrize("half", [0.0, 5e-324, 1e-310])
def test_bodies_without_size_or_almost_hit_what_is_in_their_way(half):
    bullet = mover((0, 0), (half, half), (1000, 0), ec.Stop())
    wall = box((7, 0), (0, 1))
    space = ec.install()

    esper.process(1.0)

    assert [(e.first, e.second, e.time) for e in space.collisions] == [(bullet, wall, 7 / 1000)]
    assert position(bullet)[0] <= 7
    assert position(bullet)[0] == pytest.approx(7)


def test_a_denormal_velocity_is_one():
    slow = mover((0, 0), (1, 1), (5e-324, 0), ec.Slide())
    ec.install()

    esper.process(1.0)

    assert position(slow) == (5e-324, 0)


def test_coordinates_of_a_trillion():
    at = 1e12
    floor = box((at, at - 1), (8, 1))
    crate = mover((at, at + 8), (1, 1), (0, -16), ec.Slide())
    space = ec.install()

    esper.process(1.0)

    assert position(crate) == (at, at + 1)
    assert [(e.first, e.second, e.time) for e in space.collisions] == [(floor, crate, 7 / 16)]
    assert [contact.normal_for(crate) for contact in space.contacts(crate)] == [(0, 1)]


# -- "dt = 0: no motion, contacts refreshed / negative, NaN, inf, not a number: ValueError before
#     anything changes" --


def test_dt_zero_moves_nothing_and_refreshes_the_contacts():
    floor = box((0, -2), (5, 1))
    crate = mover((0, 0), (1, 1), (3, -3), ec.Slide())
    space = ec.install()

    esper.process(0)
    assert position(crate) == (0, 0)
    assert [(e.first, e.second) for e in space.contacts_began] == [(floor, crate)]

    esper.delete_entity(floor)
    esper.process(0.0)
    assert [e.reason for e in space.contacts_ended] == [ec.EndReason.ENTITY_DELETED]


@pytest.mark.parametrize("dt", [-1e-300, -1, math.nan, math.inf, -math.inf, "1", None, 1j, []])
def test_a_dt_that_is_none_is_refused_before_anything_changes(dt):
    floor = box((0, -2), (5, 1))
    crate = mover((0, 0), (1, 1), (3, -3), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    mover((0, 9), (1, 1), (3, 0), ec.Slide())
    esper.delete_entity(floor, immediate=True)

    with pytest.raises(ValueError, match="dt="):
        esper.process(dt)

    assert space.entities == [floor, crate]  # as of the last step
    assert position(crate) == (0, 0)
    assert len(space.contact_points().pairs) == 1
    esper.process(0.0)
    assert [e.reason for e in space.contacts_ended] == [ec.EndReason.ENTITY_DELETED]


# -- "Position set by the game (teleport), Extents set by the game (crouch): no sweep from old to
#     new; contacts ended and begun; tree updated; what overlaps then follows the overlap rule" --


@pytest.mark.parametrize("kind", [ec.Position, ec.Extents])
def test_what_the_game_sets_is_no_motion(kind):
    floor = box((0, -2), (50, 1))
    wall = box((20, 0), (1, 5))
    crate = mover((0, 0), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()

    if kind is ec.Position:
        of(crate, kind).x = 40.0  # through the wall
    else:
        of(crate, kind).x = 20.0  # into the wall: it may stay, and part, but get no deeper
    of(crate, ec.Velocity).set(8, -1)
    esper.process(1.0)
    ledger.record()

    assert ((floor, crate), ec.EndReason.TELEPORTED) in ledger.ends
    assert (floor, crate) in ledger.open
    assert space.query((37, -0.5), (60, 0.5)) == ([crate] if kind is ec.Position else [])
    met = [event.kind for event in space.collisions if wall in (event.first, event.second)]
    assert met == ([] if kind is ec.Position else [ec.SweepKind.OVERLAP])
    assert position(crate) == ((48, 0) if kind is ec.Position else (0, 0))
    space.check()


# -- "component replaced, added, removed; entity deleted, at once or deferred, also inside a handler
#     or a response: seen at the next step (in a response: at once for that pair); no KeyError, no
#     stale write; contact ends with its reason" --

GONE, REMOVED, PARTED, MOVED, OTHERWISE = (
    ec.EndReason.ENTITY_DELETED,
    ec.EndReason.COMPONENT_REMOVED,
    ec.EndReason.SEPARATED,
    ec.EndReason.TELEPORTED,
    ec.EndReason.FILTER_CHANGED,
)


def replace_body(entity):
    esper.add_component(entity, ec.Position(30, 0))
    esper.add_component(entity, ec.Extents(1, 1))


CHANGES = {
    "floor deleted at once": (lambda f, c: esper.delete_entity(f, immediate=True), GONE),
    "floor deleted later": (lambda f, c: esper.delete_entity(f), GONE),
    "crate deleted at once": (lambda f, c: esper.delete_entity(c, immediate=True), GONE),
    "crate deleted later": (lambda f, c: esper.delete_entity(c), GONE),
    "both deleted": (lambda f, c: [esper.delete_entity(e, immediate=True) for e in (f, c)], GONE),
    "floor loses its Position": (lambda f, c: esper.remove_component(f, ec.Position), REMOVED),
    "crate loses its Extents": (lambda f, c: esper.remove_component(c, ec.Extents), REMOVED),
    "crate gets another Position": (lambda f, c: esper.add_component(c, ec.Position(0, 9)), MOVED),
    "crate is another body": (lambda f, c: replace_body(c), GONE),
    "crate flies off": (lambda f, c: esper.add_component(c, ec.Velocity(0, 8)), PARTED),
    "crate stands still": (lambda f, c: esper.remove_component(c, ec.Velocity), "stays"),
    "crate is no longer dynamic": (lambda f, c: esper.remove_component(c, ec.Slide), OTHERWISE),
    "crate stops instead": (lambda f, c: esper.add_component(c, ec.Stop()), "stays"),
    "crate is heavier": (lambda f, c: esper.add_component(c, ec.Mass(7)), "stays"),
    "floor is a sensor": (lambda f, c: esper.add_component(f, ec.Sensor()), OTHERWISE),
}


@pytest.mark.parametrize("moment", ["between", "handler", "esper handler", "response"])
@pytest.mark.parametrize("change", CHANGES)
def test_structure_that_changes_at_any_moment(change, moment):
    act, reason = CHANGES[change]
    floor = box((0, -2), (5, 1))
    crate = mover((0, 0), (1, 1), (0, -1), ec.Slide(), Tagged())
    rest = mover((3, 0), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    ledger = Ledger(space)
    todo = []

    def on_hit(event):
        if todo and crate in (event.first, event.second):
            todo.pop()(floor, crate)

    if moment == "handler":
        space.on_collision(on_hit)
    elif moment == "esper handler":
        esper.set_handler(ec.COLLISION, on_hit)
    elif moment == "response":
        space.respond_with(Tagged, on_hit)
    for _ in range(2):
        esper.process(1 / 8)
        ledger.record()
        for entity in (crate, rest):
            of(entity, ec.Velocity).y = -1.0
    assert ledger.open == {(floor, crate), (floor, rest)}
    old = [of(crate, kind) for kind in (ec.Position, ec.Velocity)]

    todo.append(act)
    if moment == "between":
        todo.pop()(floor, crate)
    esper.process(1 / 8)
    ledger.record()
    assert todo == []
    dropped = [component for component in old if not _is_held(crate, component)]
    before = [c.xyz for c in dropped]
    for _ in range(2):
        esper.process(1 / 8)
        ledger.record()

    assert [c.xyz for c in dropped] == before  # nothing is written into what was taken away
    ends = [why for pair, why in ledger.ends if pair == (floor, crate)]
    if reason == "stays":
        assert ends == []
    elif change == "crate is no longer dynamic" and moment == "response":
        assert ends == []  # it is Tagged, and as long as that has a response it does
    elif reason is MOVED and moment == "response":  # within a step that it did not begin there
        assert ends == [PARTED]
    else:
        assert ends == [reason]
    space.check()


def _is_held(entity, component):
    return esper.entity_exists(entity) and esper.try_component(entity, type(component)) is component


@pytest.mark.parametrize("lost", [ec.Position, ec.Extents])
def test_a_wall_that_a_response_takes_away_lets_its_bullet_pass_at_once(lost):
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    wall = box((5, 0), (1, 1))
    space = ec.install()
    space.respond_with(Tagged, lambda impact: esper.remove_component(wall, lost) and None)

    esper.process(1.0)

    assert position(bullet) == (10, 0)


def test_what_a_response_puts_in_place_is_what_the_step_goes_on_with_and_writes():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 0), (1, 1))
    behind = box((-9, 0), (1, 1))
    flyer = mover((0, 50), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 50), (1, 1))
    space = ec.install()

    def respond(impact):
        if flyer in (impact.first, impact.second):
            esper.add_component(flyer, ec.Position(0, 90))
        elif behind not in (impact.first, impact.second):
            esper.add_component(bullet, ec.Velocity(-20, 0))
        else:
            impact.resolve()

    space.respond_with(Tagged, respond)
    esper.process(1.0)

    assert position(bullet) == (-7, 0)
    assert velocity(bullet) == (0, 0)  # the new one, stopped by the wall behind
    assert position(flyer) == (7, 90)
    assert len(space.collisions) == 3


def test_ids_used_again_within_a_response_are_not_handed_to_the_next():
    def furnish():
        bullets = [mover((0, 9 * i), (1, 1), (10 - i, 0), ec.Slide(), Tagged()) for i in range(2)]
        for i in range(2):
            box((5, 9 * i), (1, 1))
        return bullets

    first, second = furnish()
    space = ec.install()
    asked = []

    def respond(impact):
        asked.append(impact.first)
        esper.clear_database()
        assert furnish() == [first, second]

    space.respond_with(Tagged, respond)
    esper.process(1.0)

    assert asked == [first]
    assert [position(entity)[0] for entity in (first, second)] == [0, 0]


def test_a_new_body_is_where_it_is_from_its_first_step_on():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 0), (1, 1))
    crate = mover((40, 40), (2, 2), (1, 0), ec.Slide())
    space = ec.install()
    found = []

    def respond(impact):
        found.append(
            (space.query((39, 39), (41, 41)), space.query_point((0, 0)), space.bounds(crate))
        )

    space.respond_with(Tagged, respond)
    esper.process(1.0)

    assert found == [([crate], [bullet], ((38, 38), (42, 42)))]


class Stubborn:
    """A game's own position, which fails when it is written."""

    x, y = 0.0, 20.0

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} is mine")


def test_a_component_that_cannot_be_written_is_told_after_a_whole_step():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    wall = box((5, 0), (1, 1))
    stubborn = mover((0, 0), (1, 1), (1, 0), ec.Slide())
    esper.add_component(stubborn, Stubborn(), type_alias=ec.Position)
    space = ec.install()
    ledger = Ledger(space)

    with pytest.raises(AttributeError, match="x is mine"):
        esper.process(1.0)
    ledger.record()

    assert [(e.first, e.second) for e in space.collisions] == [(bullet, wall)]
    assert ledger.open == {(bullet, wall)}
    esper.delete_entity(stubborn)
    esper.process(1.0)
    ledger.record()
    space.check()


def test_a_response_that_writes_no_number_is_told_and_the_step_is_whole():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 0), (1, 1))
    other = mover((0, 9), (1, 1), (10, 0), ec.Slide())
    space = ec.install()

    def respond(impact):
        of(bullet, ec.Velocity).x = "east"

    space.respond_with(Tagged, respond)
    with pytest.raises(TypeError, match=rf"entity {bullet}: Velocity\.x is 'east'"):
        esper.process(1.0)

    assert position(other) == (10, 9)
    assert position(bullet) == (3, 0)
    assert len(space.collisions) == 1


# -- "clear_database, id reuse, switch_world, two worlds, world deleted and reborn: ids never
#     confused; worlds do not touch each other; a system run in a foreign world raises" --


@pytest.mark.parametrize("moment", ["between", "handler", "response"])
def test_clear_database_at_any_moment_and_the_same_ids_again(moment):
    space = ec.install()
    ledger = Ledger(space)
    todo = []

    def furnish(height):
        box((0, -2), (5, 1))
        return mover((0, height), (1, 1), (0, -1), ec.Slide(), Tagged())

    def clear(*_):
        if todo:
            todo.pop()
            esper.clear_database()
            assert furnish(50) == crate  # ids begin at 1 again
            box((0, 80), (1, 1), ec.Sensor())
        return ec.DEFAULT

    crate = furnish(0)
    if moment == "handler":
        space.on_collision(clear)
    elif moment == "response":
        space.respond_with(Tagged, clear)
    esper.process(1.0)
    ledger.record()
    of(crate, ec.Velocity).y = -1.0
    todo.append(1)
    if moment == "between":
        clear()
    for _ in range(2):
        esper.process(1.0)
        ledger.record()

    assert ledger.open == set()
    assert [why for _, why in ledger.ends] == [ec.EndReason.WORLD_CLEARED]
    assert velocity(crate) == (0, -1)
    assert 47 <= position(crate)[1] <= 49  # its own way, not that of who had its id
    space.check()


def test_two_worlds_with_the_same_ids_run_in_turn(world):
    spaces, crates = {}, {}
    for number, name in enumerate([world, f"{world} two"]):
        esper.switch_world(name)
        box((0, -2), (5, 1))
        crates[name] = mover((0, number), (1, 1), (0, -1), ec.Slide())
        spaces[name] = ec.install()
    assert len(set(crates.values())) == 1
    try:
        for _ in range(2):
            for name in spaces:
                esper.switch_world(name)
                esper.process(0.5)
        one, two = spaces.values()
        assert len(one.contacts()) == 1
        assert two.positions().tolist()[1] == [0, 0]
        assert one.positions().tolist()[1] == [0, 0]
        with pytest.raises(RuntimeError, match="install one space for each world"):
            one.update_bounds(1.0)
    finally:
        esper.switch_world(world)
        esper.delete_world(f"{world} two")


def test_a_world_deleted_and_reborn_under_its_name(world):
    space = ec.install()
    box((0, -2), (5, 1))
    mover((0, 0), (1, 1), (0, -1), ec.Slide())
    esper.process(1.0)
    esper.switch_world("default")
    esper.delete_world(world)
    esper.switch_world(world)
    crate = mover((70, 0), (1, 1), (0, -1), ec.Slide())
    box((70, -2), (5, 1))

    other = ec.install()
    esper.process(1.0)

    assert other is not space
    assert position(crate) == (70, 0)
    assert len(other.contacts_began) == 1
    # The systems of the old one, added by hand, take the new entities for what they are.
    space.update_bounds(1.0)
    space.finish_step()
    assert [e.reason for e in space.contacts_ended] == [ec.EndReason.WORLD_CLEARED]
    space.check()


# -- "exception in a handler: the step is whole; the rest of the events are not lost; the exception
#     is raised after; the next step works" --


def test_an_exception_in_a_handler_comes_after_a_whole_step():
    bullets = [mover((0, 9 * i), (1, 1), (10 + i, 0), ec.Stop()) for i in range(3)]
    for i in range(3):
        box((5, 9 * i), (1, 1))
    space = ec.install()
    heard = []

    def fail(event):
        raise LookupError(f"mine: {event.first}")

    stop = space.on_collision(fail)
    space.on_collision(heard.append)
    with pytest.raises(ExceptionGroup, match="3 handlers or responses failed") as raised:
        esper.process(1.0)

    assert [str(error) for error in raised.value.exceptions] == [
        f"mine: {bullet}" for bullet in reversed(bullets)
    ]
    assert heard == list(space.collisions)
    assert [position(bullet)[0] for bullet in bullets] == [3, 3, 3]
    stop()
    esper.process(1.0)
    assert len(space.contacts()) == 3


# -- "esper.process called inside a handler: RuntimeError at once, the outer step goes on" --


@pytest.mark.parametrize("where", ["handler", "response"])
def test_a_step_within_a_step_is_refused(where):
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 0), (1, 1))
    space = ec.install()
    refused = []

    def again(_):
        with pytest.raises(RuntimeError, match="inside a handler or response"):
            esper.process(1.0)
        refused.append(1)
        return ec.DEFAULT

    if where == "handler":
        space.on_collision(again)
    else:
        space.respond_with(Tagged, again)
    esper.process(1.0)

    assert refused == [1]
    assert position(bullet) == (3, 0)
    assert len(space.collisions) == 1
