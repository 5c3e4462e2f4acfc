"""Components that round what is written into them: the space keeps the exact numbers.

A pygame `Rect` holds whole numbers, and an `FRect` 32-bit floats.  The classes here round as they
do; `docs/from_pygame.md` has a game with the real ones.
"""

from __future__ import annotations

import gc

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.components import attributes
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")


def rounding(name, to):
    """Return a property that rounds what it is set to."""

    def read(self):
        return self.__dict__[name]

    def write(self, number):
        self.__dict__[name] = to(number)

    return property(read, write)


class Exact:
    """A corner and whole sizes."""

    def __init__(self, x, y, w, h):
        self.x, self.y, self.w, self.h = x, y, w, h


class Whole(Exact):
    """The same in whole numbers, cut off as those of a `Rect`."""

    x, y, w, h = (rounding(name, int) for name in "xywh")


class Single(Exact):
    """The same in 32-bit floats."""

    x, y, w, h = (rounding(name, lambda number: float(np.float32(number))) for name in "xywh")


class Array(Exact):
    """Rows of a float32 array."""

    def __init__(self, x, y, w, h):
        self.place, self.size = np.array([x, y], np.float32), np.array([w, h], np.float32)


class SingleSpeed:
    """A velocity of 32-bit floats."""

    x, y = (rounding(name, lambda number: float(np.float32(number))) for name in "xy")

    def __init__(self, x, y):
        self.x, self.y = x, y


ROUNDING = [Whole, Single, Array]


def components(kind, velocity=ec.Velocity):
    names = (("place",), ("size",)) if kind is Array else (("x", "y"), ("w", "h"))
    return ec.Components(
        position=(kind, *names[0]),
        extents=(kind, *names[1]),
        velocity=velocity,
        whole_sizes=True,
        anchor=(0, 0),
    )


def corner(rect):
    return tuple(rect.place.tolist()) if isinstance(rect, Array) else (rect.x, rect.y)


def in_a_world(run, kind, **settings):
    """Run something in a world of its own."""
    with another_world(kind.__name__):
        return run(kind, ec.install(components=components(kind), **settings))


def log_of(space, n_steps, dt=1 / 60, before_step=lambda n: None):
    """Return all that steps report, and where they lead."""
    log = []
    for n in range(n_steps):
        before_step(n)
        esper.process(dt)
        log += [repr(event) for event in (*space.collisions, *space.contacts_began)]
        log += [repr(event) for event in space.contacts_ended]
        log.append((space.positions().tolist(), space.velocities().tolist()))
    return log


def pit(kind):
    """Create a pit with a floor of tiles, and bodies that fall, bounce and push in it."""
    for n in range(12):
        esper.create_entity(kind(16 * n, 160, 16, 16), ec.Fixed())
    for x in (-16, 192):
        esper.create_entity(kind(x, -300, 16, 476), ec.Fixed())
    for n in range(9):
        response = (ec.Slide, ec.Deflect, ec.Push)[n % 3]()
        rect, velocity = kind(4 + 20 * n, 20 * (n % 4), 9 + n, 12), ec.Velocity(13.7 * (n - 4), 3.1)
        esper.create_entity(rect, velocity, response, ec.Mass(1 + n))


@pytest.mark.parametrize("kind", ROUNDING)
@pytest.mark.parametrize("settings", [{}, {"gravity": (0, 900)}, {"wrap": (400, None)}])
def test_bodies_that_round_move_as_exact_ones(kind, settings, volume):
    def run(kind, space):
        pit(kind)
        return log_of(space, volume(60, 300))

    assert in_a_world(run, kind, **settings) == in_a_world(run, Exact, **settings)


@pytest.mark.parametrize("kind", ROUNDING)
def test_a_body_slower_than_a_unit_a_step_arrives(kind):
    esper.create_entity(kind(0, 4, 100, 4))
    rect = kind(20, 0, 4, 4)
    body = esper.create_entity(rect, ec.Velocity(-0.4, 0), ec.Slide())
    space = ec.install(components=components(kind))
    ends = []
    space.on_contact_ended(ends.append)

    for _ in range(19):
        esper.process(1.0)

    x = 20.0
    for _ in range(19):
        x -= 0.4
    assert space.position_of(body) == (pytest.approx(x + 2), 2)
    assert corner(rect) == (12 if kind is Whole else float(np.float32(corner(rect)[0])), 0)
    assert ends == []


@pytest.mark.parametrize("kind", ROUNDING)
@pytest.mark.parametrize("settings", [{}, {"motion": "swept"}])
def test_a_number_that_the_game_sets_counts_as_it_is(kind, settings):
    rect = kind(20, 40, 4, 4)
    body = esper.create_entity(rect)
    space = ec.install(components=components(kind), **settings)
    space.teleport(body, (22.75, 42.75))
    esper.process(0.0)
    assert space.position_of(body) == (22.75, 42.75)

    if kind is Array:
        rect.place[0] += 1
    else:
        rect.x += 1
    esper.process(0.0)

    moved = 23.0 if kind is Whole else 23.75  # from 20, which is what a `Rect` says of 20.75
    assert space.position_of(body) == (moved, 42.75)


@pytest.mark.parametrize("kind", ROUNDING)
@pytest.mark.parametrize("n_steps", [0, 1])
def test_what_is_set_through_the_space_is_exact(kind, n_steps):
    body = esper.create_entity(kind(20, 40, 4, 4), SingleSpeed(0, 0))
    space = ec.install(components=components(kind, SingleSpeed))
    for _ in range(n_steps):
        esper.process(0.0)

    space.set_extents([body], [(1.3, 2.6)])
    space.teleport(body, (5.7, 9.3))
    space.set_velocities([body], [(0.1, 0.7)])
    space.update()
    assert space.query((6.99, 11.85), (7, 12)) == [body]
    assert space.query((7.01, 11), (8, 12)) == []
    esper.process(0.0)
    esper.process(0.0)

    low, high = space.bounds(body)
    assert (low, high) == (pytest.approx((4.4, 6.7)), pytest.approx((7, 11.9)))
    assert space.velocity_of(body) == (0.1, 0.7)


@pytest.mark.parametrize("kind", ROUNDING)
def test_a_lift_that_rounds_carries_to_the_last_bit(kind):
    lift = esper.create_entity(kind(0, 40, 40, 4), ec.Velocity(0.31, -0.77), ec.Carry())
    crate = esper.create_entity(kind(10, 28, 9, 12), ec.Velocity(0, 0), ec.Slide())
    space = ec.install(components=components(kind), up=(0, -1))
    ends = []
    space.on_contact_ended(ends.append)

    for _ in range(40):
        esper.process(0.37)

        assert space.bounds(crate)[1][1] == space.bounds(lift)[0][1]
    assert ends == []
    assert space.position_of(crate)[0] == pytest.approx(14.5 + 0.31 * 0.37 * 40)


def saved(kind, hold):
    """Tell snapshots how to hold components; `hold` is "in place" or "made again"."""

    def numbers(rect):
        return np.array([*corner(rect), *size(rect)], float).tobytes()

    def size(rect):
        return rect.size if kind is Array else (rect.w, rect.h)

    def load(data):
        return kind(*np.frombuffer(data).tolist())

    def update(rect, data):
        rect.__dict__.update(load(data).__dict__)

    return {"save": numbers, "load": load, "update": update if hold == "in place" else None}


@pytest.mark.parametrize("kind", ROUNDING)
@pytest.mark.parametrize("hold", ["in place", "made again"])
@pytest.mark.parametrize("wrap", [None, (400, None)])
def test_snapshots_hold_the_exact_numbers(kind, hold, wrap):
    pit(kind)
    space = ec.install(components=components(kind), gravity=(0, 900), wrap=wrap)
    space.snapshot_with(kind, **saved(kind, hold))
    log_of(space, 7)
    new = esper.create_entity(kind(60, -40, 4, 4), ec.Velocity(0, 0), ec.Slide())
    space.teleport(new, (61.75, -44.125))  # nothing has read it before the snapshot
    data = space.snapshot()
    wanted = log_of(space, 7)

    space.restore(data)

    assert space.snapshot() == data
    assert log_of(space, 7) == wanted
    esper.clear_database()
    space.restore(data)
    assert space.snapshot() == data
    assert log_of(space, 7) == wanted


def test_a_snapshot_that_knows_no_exact_numbers_takes_away_those_there_are():
    body = esper.create_entity(Whole(20, 40, 4, 4), ec.Velocity(0.25, 0))
    space = ec.install(components=components(Whole))
    space.snapshot_with(Whole, **saved(Whole, "in place"))
    data = space.snapshot()
    esper.process(1.0)
    assert space.position_of(body) == (22.25, 42)

    space.restore(data)
    esper.process(0.0)

    assert space.position_of(body) == (22, 42)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("at", ["x", "y"])
def test_an_interrupt_between_writing_and_reading_back_loses_nothing(moment, at):
    class Interrupted(Whole):
        armed = False

        def __setattr__(self, name, value):
            if self.armed and name == at and moment == "before":
                raise KeyboardInterrupt
            super().__setattr__(name, value)
            if self.armed and name == at:
                raise KeyboardInterrupt

    rect = Interrupted(20, 40, 4, 4)
    esper.create_entity(rect, ec.Velocity(0.7, 0.6))
    space = ec.install(components=components(Interrupted))
    esper.process(1.0)
    esper.process(1.0)
    before = space.positions().tolist(), corner(rect)

    Interrupted.armed = True
    with pytest.raises(KeyboardInterrupt):
        esper.process(1.0)
    Interrupted.armed = False
    esper.process(0.0)

    assert (space.positions().tolist(), corner(rect)) == before


def test_a_response_finds_and_sets_rounded_numbers():
    rect = Whole(0, 0, 4, 4)
    bullet = esper.create_entity(rect, ec.Velocity(30.5, 0.75), ec.Stop())
    esper.create_entity(Whole(9, -9, 4, 40))
    space = ec.install(components=components(Whole))
    seen = []

    def answer(impact):
        seen.append((impact.position(bullet)[0], rect.x))
        rect.x -= 2
        impact.set_velocity(bullet, (0, 0))

    space.respond_with(ec.Stop, answer)
    esper.process(1.0)
    esper.process(0.0)

    assert seen == [(7, 5)]
    assert space.position_of(bullet) == (5, 2 + 0.75 * (5 / 30.5))


def test_a_wall_with_a_rounded_number_beside_a_vector_stays_where_it_was_put():
    class Mixed:
        """A corner of a whole number and a part of a vector."""

        x = rounding("x", int)

        def __init__(self, x, y):
            self.x, self.pos = x, [y]

    components = ec.Components(position=(Mixed, "x", "pos[0]"))
    wall = esper.create_entity(Mixed(9, 0), ec.Extents(1, 1))
    space = ec.install(components=components)
    for _ in range(3):
        esper.process(1 / 60)
        space.set_positions([wall], [(9.25, 4.5)])
        assert space.position_of(wall) == (9.25, 4.5)
        esper.process(1 / 60)
        assert space.position_of(wall) == (9.25, 4.5)


def test_another_number_than_a_rounded_one_is_set_by_the_game():
    class Around(Exact):
        x = rounding("x", lambda number: number % 100)

    rect = Around(90, 0, 4, 4)
    body = esper.create_entity(rect, ec.Velocity(3, 0))
    space = ec.install(components=components(Around))

    for _ in range(5):
        esper.process(1.0)

    assert rect.x == 5
    assert space.position_of(body) == (7, 2)
    assert attributes.exact_numbers(rect) == {}


def test_a_vector_that_does_not_hold_what_is_written_is_refused():
    class Copies(Exact):
        pos = property(lambda self: [self.x, self.y])

    esper.create_entity(Copies(0, 0, 4, 4), ec.Velocity(3, 0))
    ec.install(components=ec.Components(position=(Copies, "pos"), extents=(Copies, "w", "h")))

    with pytest.raises(TypeError, match=r"Copies\.pos\[0\] was set to 3\.0 and is 0\.0: a vector"):
        esper.process(1.0)


def test_a_component_that_rounds_and_cannot_be_referred_to_is_named():
    class Bare:
        __slots__ = ("at",)
        x = property(lambda self: self.at, lambda self, number: setattr(self, "at", int(number)))
        y = w = h = 4.0

        def __init__(self, x):
            self.x = x

    kinds = ec.Components(position=(Bare, "x", "y"), extents=(Bare, "w", "h"))
    esper.create_entity(Bare(0), ec.Velocity(0.3, 0))
    ec.install(components=kinds)

    with pytest.raises(TypeError, match=r"Bare\.x was set to 0\.3 and is 0\.0.*__weakref__"):
        esper.process(1.0)


def test_exact_numbers_go_with_their_component():
    gc.collect()
    before = len(attributes.ROUNDED)
    esper.create_entity(Whole(20, 40, 4, 4), ec.Velocity(0.7, 0))
    ec.install(components=components(Whole))
    esper.process(1.0)
    assert len(attributes.ROUNDED) == before + 1

    esper.clear_database()
    for _ in range(2):
        esper.process(1.0)
    gc.collect()

    assert len(attributes.ROUNDED) == before


def test_a_number_that_the_game_sets_back_later_is_what_it_says():
    rect = Whole(20, 40, 4, 4)
    body = esper.create_entity(rect, velocity := ec.Velocity(0.75, 0))
    space = ec.install(components=components(Whole))
    esper.process(1.0)
    velocity.x = 0.0
    for x in (30, 20):
        rect.x = x
        esper.process(0.0)

        assert space.position_of(body) == (x + 2, 42)
