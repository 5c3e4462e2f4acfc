"""Events say which body is which, and levels that are built again do not double their handlers."""

from __future__ import annotations

import functools
import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, set_velocity, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Arrow:
    """Marks what is shot."""


class Enemy:
    """Marks who is shot at."""


class Zone:
    """Marks a region."""


def enemy_before_arrow(*more):
    """Build an enemy of a lower id than the arrow that hits it from the left at 0.5."""
    enemy = box((10, 0), (2, 2), Enemy(), *more)
    arrow = mover((0, 1), (1, 1), (14, -2), ec.Stop(), Arrow())
    return enemy, arrow


# Which body is which ------------------------------------------------------------------------


def test_first_is_the_body_with_the_first_type_and_all_else_follows():
    seen = []
    enemy, arrow = enemy_before_arrow()
    space = ec.install()
    space.on_collision(seen.append, Arrow, Enemy)

    esper.process(1.0)

    (event,) = seen
    assert (event.first, event.second) == (arrow, enemy)
    assert event.normal == (-1.0, 0.0)
    assert repr(event.normal) == "(-1.0, 0.0)"  # no -0.0
    assert (event.position_first, event.position_second) == ((7.0, 0.0), (10.0, 0.0))
    assert (event.velocity_first, event.velocity_second) == ((14.0, -2.0), (0.0, 0.0))
    (named,) = space.collisions
    assert event == named.swapped()
    assert (named.first, named.normal) == (enemy, (1.0, 0.0))
    assert space.collisions_between(Arrow, Enemy) == [event]
    assert space.collisions_between(Enemy, Arrow) == [named]


def test_a_single_type_is_that_of_the_first_body():
    seen = []
    enemy, arrow = enemy_before_arrow()
    space = ec.install()
    space.on_collision(lambda event: seen.append(event.first), Arrow)
    space.on_collision(lambda event: seen.append(event.first), Enemy)
    space.on_collision(lambda event: seen.append(event.second), None, Enemy)
    space.on_collision(lambda event: seen.append(event.first))

    esper.process(1.0)

    assert seen == [arrow, enemy, enemy, enemy]


def test_contacts_that_begin_and_end_know_which_body_is_which():
    seen = []
    enemy, arrow = enemy_before_arrow()
    space = ec.install()
    space.on_contact_began(seen.append, Arrow, Enemy)
    space.on_contact_ended(seen.append, Arrow, Enemy)
    space.on_contact(seen.append, Arrow, Enemy)
    esper.process(1.0)
    set_velocity(arrow, -10, 0)
    esper.process(1.0)

    assert [type(event).__name__ for event in seen] == ["ContactBegan", "Contact", "ContactEnded"]
    for event in seen:
        assert (event.first, event.second, event.normal) == (arrow, enemy, (-1.0, 0.0))
    (ended,) = space.contacts_ended
    assert ended.swapped() == seen[2]
    assert ended.swapped().swapped() == ended


def test_of_two_bodies_with_both_types_the_lower_id_is_first():
    seen = []
    enemy, arrow = enemy_before_arrow(Arrow())
    esper.add_component(arrow, Enemy())
    space = ec.install()
    space.on_collision(seen.append, Arrow, Enemy)
    space.on_collision(seen.append, Enemy, Arrow)

    esper.process(1.0)

    assert [(event.first, event.second) for event in seen] == [(enemy, arrow)] * 2


def test_a_body_with_both_types_takes_the_part_that_the_other_cannot():
    seen = []
    enemy, arrow = enemy_before_arrow(Arrow())  # the enemy is an arrow too
    space = ec.install()
    space.on_collision(seen.append, Arrow, Enemy)

    esper.process(1.0)

    assert [(event.first, event.second) for event in seen] == [(arrow, enemy)]


def test_position_and_velocity_of_either_body():
    enemy, arrow = enemy_before_arrow()
    space = ec.install()

    esper.process(1.0)

    (event,) = space.collisions
    for each in (event, event.swapped()):
        assert each.position_of(arrow) == (7.0, 0.0)
        assert each.position_of(enemy) == (10.0, 0.0)
        assert each.velocity_of(arrow) == (14.0, -2.0)
        assert each.velocity_of(enemy) == (0.0, 0.0)
    with pytest.raises(ValueError, match="entity 99 takes no part in this Collision"):
        event.position_of(99)
    with pytest.raises(ValueError, match="entity 99 takes no part in this Collision"):
        event.velocity_of(99)


# Each step ----------------------------------------------------------------------------------


def test_a_zone_is_told_in_each_step_who_is_in_it():
    calls = []
    zone = box((10, 0), (4, 4), ec.Sensor(), Zone())
    walker = mover((0, 0), (1, 1), (4, 0), Enemy())
    space = ec.install()
    space.on_contact(lambda contact: calls.append((space.stats.step, contact)), Zone, Enemy)

    steps(5, 1.0)

    # It is at 4, 8, 12, 16, 20 when steps end; the zone reaches from 6 to 14.
    assert [step for step, _ in calls] == [2, 3]
    assert [(c.first, c.second, c.kind) for _, c in calls] == [
        (zone, walker, ec.ContactKind.CROSSING)
    ] * 2
    assert [c.since for _, c in calls] == [1.25, 1.25]


def test_a_touch_within_a_step_is_told_once():
    calls = []
    zone = box((10, 0), (1, 1), ec.Sensor(), Zone())
    ball = mover((0, 0), (1, 1), (16, 0), ec.Deflect(), Enemy())
    wall = box((17, 0), (3, 3))
    space = ec.install()
    space.on_contact(calls.append)

    esper.process(1.0)  # through the zone, off the wall at 0.8125, and into the zone again

    assert [(c.first, c.second, c.kind) for c in calls] == [
        (zone, ball, ec.ContactKind.CROSSING),
        (ball, wall, ec.ContactKind.SOLID),
    ]
    assert [c.since for c in calls] == [0.875, 0.8125]
    esper.process(1.0)  # it leaves the zone within the step
    assert len(calls) == 2


def test_two_bodies_that_touch_on_both_sides_of_a_wrapped_world_are_reported_once():
    calls = []
    low = box((2, 0), (2, 2), ec.Sensor())
    high = mover((7, 0), (3.25, 1), (0, 0))
    space = ec.install(wrap=(10, None))
    space.on_contact(calls.append)

    esper.process(1.0)

    assert len(space.contacts()) == 2
    assert [(c.first, c.second) for c in calls] == [(low, high)]


# Questions ----------------------------------------------------------------------------------


def test_contacts_are_filtered_by_the_other_body():
    player = mover((0, 0), (2, 2), (0, 0), ec.Slide(), Zone())
    left = mover((-3, 0), (1, 1), (1, 0), ec.Slide(), Enemy())
    right = mover((3, 0), (1, 1), (-1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    def met(**how):
        return [contact.other(player) for contact in space.contacts(player, **how)]

    assert met() == [left, right]
    assert met(filter=Enemy) == [left]
    assert met(filter=(Enemy, Zone)) == [left]
    assert met(filter=(Enemy, ec.Slide)) == [left, right]
    assert met(filter=lambda entity: entity == right) == [right]
    assert met(filter=Zone) == []  # the player is no body that it meets
    assert [(c.first, c.second) for c in space.contacts(filter=Enemy)] == [(player, left)]
    with pytest.raises(TypeError, match="filter=7 must be"):
        space.contacts(player, filter=7)
    esper.delete_entity(left)
    assert met(filter=Enemy) == []


def test_collisions_of_each_of_many_entities_are_those_of_one():
    places = [4 * n + n % 4 / 8 for n in range(30)]  # so that they do not all meet at one instant
    balls = [
        mover((place, 0), (1, 1), (30 - 3 * n, 0), ec.Deflect()) for n, place in enumerate(places)
    ]
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) > 60
    for entity in [*balls, 99]:
        assert space.collisions_of(entity) == [hit for hit in space.collisions if entity in (
            hit.first, hit.second)]  # fmt: skip


# A level that is built again ----------------------------------------------------------------


class Level:
    """Registers handlers of every kind when it is built."""

    def __init__(self, heard):
        esper.clear_database()
        self.heard = heard
        self.arrows = [mover((0, 10 * n), (1, 1), (14, 0), ec.Stop(), Arrow()) for n in range(2)]
        box((10, 5), (2, 9), Enemy())
        self.space = space = ec.install()

        def nested(event):
            heard.append("nested")

        space.on_collision(nested, Arrow, Enemy)
        space.on_collision(self.method, Arrow, Enemy)
        space.on_collision(functools.partial(self.named, name="partial"), Arrow, Enemy)
        for arrow in self.arrows:
            space.on_contact_began(lambda event, arrow=arrow: heard.append(arrow), Arrow)

    def method(self, event):
        self.heard.append("method")

    def named(self, event, name):
        self.heard.append(name)


def test_a_level_that_is_built_again_does_not_double_its_handlers():
    heard = []
    first = Level(heard)
    esper.process(1.0)
    assert len(heard) == 10
    heard.clear()

    for _ in range(3):
        again = Level(heard)
    esper.process(1.0)

    assert again.space is first.space
    assert len(heard) == 10
    assert sorted(entry for entry in heard if isinstance(entry, int)) == sorted(again.arrows * 2)
    assert len(again.space.handlers) == 5
    assert all(handler.function != first.method for handler in again.space.handlers)


def test_restore_is_no_new_level():
    heard = []
    enemy_before_arrow()
    space = ec.install()
    data = space.snapshot()

    def register(number):
        space.on_collision(lambda event: heard.append(number))

    register(0)
    esper.process(1.0)
    space.restore(data)
    register(1)
    heard.clear()

    esper.process(1.0)

    assert heard == [0, 1]


def test_a_level_that_is_built_again_replaces_its_responses_and_filters():
    asked, resolved = [], []

    def build(number):
        esper.clear_database()
        enemy_before_arrow()
        space = ec.install()

        def allows(first, second):
            asked.append(number)
            return True

        def respond(impact):
            resolved.append(number)
            return ec.DEFAULT

        space.filter_pairs(allows, Arrow, Enemy)
        space.respond_with(Arrow, respond)
        return space

    build(1)
    esper.process(1.0)
    build(2)

    esper.process(1.0)

    assert (asked, resolved) == ([1, 2], [1, 2])


def test_a_filter_that_is_given_twice_is_asked_once():
    asked = []
    enemy_before_arrow()
    space = ec.install()

    def allows(first, second):
        asked.append((first, second))
        return math.inf

    space.filter_pairs(allows)
    remove = space.filter_pairs(allows)

    esper.process(1.0)
    assert len(asked) == 1
    remove()
    esper.process(1.0)
    assert len(asked) == 1


def test_a_filter_may_be_a_callable_without_a_hash():
    class Rules(list):
        def __call__(self, first, second):
            return (first, second) not in self

    enemy, arrow = enemy_before_arrow()
    space = ec.install()
    remove = space.filter_pairs(Rules([(enemy, arrow)]))
    esper.process(0.5)
    assert not space.collisions
    remove()
    esper.process(0.5)
    assert len(space.collisions) == 1
