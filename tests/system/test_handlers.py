"""Who is told of what, in which order, and what happens when a handler fails."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position, set_velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def shots(n=3):
    """Build `n` bullets and walls; the later ones are faster and hit earlier."""
    bullets = []
    for i in range(n):
        bullets.append(mover((0, 10 * i), (1, 1), (8 + 4 * i, 0), ec.Stop()))
        box((7, 10 * i), (2, 1))
    return bullets


def test_handlers_hear_of_a_whole_step_in_the_order_of_time():
    seen = []
    bullets = shots(3)
    space = ec.install()

    def listen(event):
        assert len(space.collisions) == len(space.collision_array) == 3
        assert [position(bullet)[0] for bullet in bullets] == [4, 4, 4]
        assert space.query_point(event.position_first) == [event.first]
        seen.append(event)

    space.on_collision(listen)
    esper.process(1.0)

    assert [event.first for event in seen] == bullets[::-1]
    assert seen == list(space.collisions)


def test_unsubscribing():
    calls = []
    (bullet,) = shots(1)
    space = ec.install()
    stop_a = space.on_collision(lambda event: calls.append("a"))
    space.on_collision(lambda event: calls.append("b"))
    esper.process(1.0)

    stop_a()
    set_velocity(bullet, 8, 0)
    esper.process(1.0)
    assert calls == ["a", "b", "b"]

    stop_a()  # once more changes nothing


class Bullet:
    """Marks a bullet."""


class Wall:
    """Marks a wall."""


class Game:
    """Has a method that handles events."""

    def __init__(self):
        self.seen = []

    def on_hit(self, event):
        self.seen.append(event)


def test_a_function_registered_twice_for_the_same_types_is_called_once():
    game = Game()
    (bullet,) = shots(1)
    space = ec.install()
    space.on_collision(game.on_hit)
    stop = space.on_collision(game.on_hit)  # another bound method of the same object
    esper.process(1.0)
    assert len(game.seen) == 1

    stop()
    set_velocity(bullet, 8, 0)
    esper.process(1.0)
    assert len(game.seen) == 1
    assert space.handlers == []


def test_a_function_registered_for_both_orders_is_called_in_each():
    calls = []
    bullet = mover((0, 0), (1, 1), (8, 0), ec.Stop(), Bullet())
    wall = box((7, 0), (2, 1), Wall())
    space = ec.install()
    for _ in range(2):
        space.on_collision(calls.append, Bullet, Wall)
        space.on_collision(calls.append, Wall, Bullet)

    esper.process(1.0)

    assert [(event.first, event.second) for event in calls] == [(bullet, wall), (wall, bullet)]
    assert len(space.handlers) == 2


def test_a_function_taken_away_and_registered_again_comes_last():
    calls = []
    shots(1)
    space = ec.install()

    def first(event):
        calls.append("first")

    stop = space.on_collision(first)
    space.on_collision(lambda event: calls.append("second"))
    stop()
    space.on_collision(first)
    stop()  # of a registration that is gone: it does not touch the new one

    esper.process(1.0)

    assert calls == ["second", "first"]


def test_handlers_are_listed_as_they_were_registered():
    space = ec.install()
    game = Game()
    space.on_contact_ended(game.on_hit)
    space.on_collision(print, Bullet, Wall)
    space.on_collision(print, None, Wall)

    assert list(map(str, space.handlers)) == [
        "on_contact_ended(Game.on_hit)",
        "on_collision(print, Bullet, Wall)",
        "on_collision(print, None, Wall)",
    ]
    assert space.handlers[1] == (ec.COLLISION, print, Bullet, Wall)
    assert isinstance(space.handlers[0], ec.Handler)
    space.handlers.clear()
    assert len(space.handlers) == 3  # the list is a copy


def test_clear_database_keeps_handlers_and_clear_handlers_removes_them():
    calls = []
    shots(1)
    space = ec.install()
    space.on_collision(calls.append)
    esper.clear_database()
    (bullet,) = shots(1)
    esper.process(1.0)
    assert len(calls) == 1

    space.clear_handlers()
    set_velocity(bullet, 8, 0)
    esper.process(1.0)

    assert len(space.collisions) == 1
    assert len(calls) == 1
    assert space.handlers == []


def test_handlers_cleared_by_a_handler_hear_no_more_of_the_step():
    calls = []
    shots(3)
    space = ec.install()
    space.on_collision(lambda event: (calls.append(event), space.clear_handlers()))

    esper.process(1.0)

    assert len(calls) == 1


def test_unsubscribing_within_a_handler():
    calls = []
    shots(3)
    space = ec.install()

    def once(event):
        calls.append(event)
        stop()

    stop = space.on_collision(once)

    esper.process(1.0)

    assert len(calls) == 1


def test_esper_dispatches_under_the_exported_names():
    calls = []
    bullets = shots(2)

    def on_collision(event):
        calls.append((ec.COLLISION, event.first))

    def on_began(event):
        calls.append((ec.CONTACT_BEGAN, event.first))

    def on_ended(event):
        calls.append((ec.CONTACT_ENDED, event.first))

    esper.set_handler(ec.COLLISION, on_collision)
    esper.set_handler(ec.CONTACT_BEGAN, on_began)
    esper.set_handler(ec.CONTACT_ENDED, on_ended)
    ec.install()

    esper.process(1.0)
    assert [entity for name, entity in calls if name == ec.COLLISION] == bullets[::-1]
    assert sorted(entity for name, entity in calls if name == ec.CONTACT_BEGAN) == bullets
    calls.clear()

    for bullet in bullets:
        set_velocity(bullet, -1, 0)
    esper.process(1.0)
    assert sorted(calls) == [(ec.CONTACT_ENDED, bullet) for bullet in bullets]


def test_space_handlers_come_before_espers():
    calls = []
    shots(1)

    def by_esper(event):
        calls.append("esper")

    esper.set_handler(ec.COLLISION, by_esper)
    space = ec.install()
    space.on_collision(lambda event: calls.append("space"))

    esper.process(1.0)

    assert calls == ["space", "esper"]


def test_an_exception_in_an_esper_handler_is_the_same():
    def fail(event):
        raise LookupError("the game's own fault")

    bullets = shots(2)
    esper.set_handler(ec.COLLISION, fail)
    space = ec.install()

    with pytest.raises((LookupError, ExceptionGroup)):
        esper.process(1.0)
    assert [position(bullet)[0] for bullet in bullets] == [4, 4]

    esper.remove_handler(ec.COLLISION, fail)
    esper.process(1.0)
    space.check()


def test_none_in_the_place_of_a_function_is_refused(world):
    space = ec.install()
    calls = [space.on_collision, space.on_contact_began, space.on_contact, space.on_contact_ended]
    for call in (*calls, space.filter_pairs, space.on_collision(), space.filter_pairs(ec.Slide)):
        with pytest.raises(TypeError, match=r"None.* must be a function"):
            call(None)
    with pytest.raises(TypeError, match=r"None.* must be a function"):
        space.respond_with(ec.Slide, None)

    assert space.handlers == []


def test_a_decorator_that_is_used_twice_keeps_both_functions_until_it_removes_them(world):
    space = ec.install()
    mover((0, 0), (1, 1), (9, 0), ec.Slide())
    mover((4, 0), (1, 1), (-9, 0), ec.Slide())
    calls = []
    decorate = space.on_contact_began(ec.Slide)

    @decorate
    def first(event):
        calls.append("first")

    @decorate
    def second(event):
        calls.append("second")

    esper.process(1.0)
    assert calls == ["first", "second"]
    decorate()
    assert space.handlers == []
    decorate(first)
    assert [each.function for each in space.handlers] == [first]
