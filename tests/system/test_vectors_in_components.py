"""custom components may hold vectors; and numbers of many bodies are set at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Vector2:
    """A vector that can change, with x, y and indices, as that of pygame."""

    def __init__(self, x, y):
        self.x, self.y = float(x), float(y)

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __setitem__(self, k, value):
        setattr(self, "xy"[k], value)

    def __iter__(self):
        return iter((self.x, self.y))


class Vec2(NamedTuple):
    """A vector that cannot change, as that of pyglet."""

    x: float
    y: float


MAKERS = {
    "mutable": Vector2,
    "immutable": Vec2,
    "tuple": lambda x, y: (x, y),
    "list": lambda x, y: [x, y],
    "array": lambda x, y: np.array([x, y], float),
}


class Thing:
    """Position, velocity and size of a game's own."""

    def __init__(self, make, pos, vel=(0, 0), size=(2, 2)):
        self.pos, self.vel, self.size = make(*pos), make(*vel), make(*size)


WHOLE = ec.Components(
    position=(Thing, "pos"),
    velocity=(Thing, "vel"),
    extents=(Thing, "size"),
    whole_sizes=True,
)
BY_INDEX = ec.Components(
    position=(Thing, "pos[0]", "pos[1]"),
    velocity=(Thing, "vel[0]", "vel[1]"),
    extents=(Thing, "size[0]", "size[1]"),
    whole_sizes=True,
)
BY_NAME = ec.Components(
    position=(Thing, "pos.x", "pos.y"),
    velocity=(Thing, "vel.x", "vel.y"),
    extents=(Thing, "size.x", "size.y"),
    whole_sizes=True,
)
WAYS = [(WHOLE, name) for name in MAKERS]
WAYS += [(BY_INDEX, "array"), (BY_NAME, "mutable"), (BY_NAME, "immutable")]
ways = pytest.mark.parametrize(
    ("kinds", "maker"), WAYS, ids=[f"{kinds.position.names[0]}-{m}" for kinds, m in WAYS]
)


def thing(maker, *what):
    return esper.create_entity(own := Thing(MAKERS[maker], *what), ec.Slide()), own


@ways
def test_vectors_are_read_and_written_in_their_component(kinds, maker):
    runner, own = thing(maker, (0, 0), (8, 4))
    wall = esper.create_entity(Thing(MAKERS[maker], (6, 0), (0, 0), (2, 100)))
    before = own.pos
    space = ec.install(components=kinds)
    esper.process(1.0)

    assert list(own.pos) == [4, 4]
    assert list(own.vel) == [0, 4]
    assert space.is_on(runner, (-1, 0)).other(runner) == wall
    assert (own.pos is before) == (maker in ("mutable", "list", "array"))
    assert space.positions([runner]).tolist() == [[4, 4]]
    assert not space.contacts_ended


@ways
def test_what_the_game_sets_in_a_vector_is_seen(kinds, maker):
    runner, own = thing(maker, (0, 0), (8, 0))
    space = ec.install(components=kinds)
    esper.process(1.0)
    if maker in ("mutable", "list", "array"):
        own.pos[0], own.vel[1] = 100.0, 3.0
    else:
        own.pos, own.vel = MAKERS[maker](100, 0), MAKERS[maker](8, 3)
    esper.process(1.0)
    assert list(own.pos) == [108, 3]
    assert space.interpolated_of(runner, 0.0) == (100, 0)
    space.teleport(runner, (7, 7))
    space.set_velocities([runner], [(1, 2)])
    space.set_extents([runner], [(4, 5)])
    assert (list(own.pos), list(own.vel), list(own.size)) == ([7, 7], [1, 2], [8, 10])
    esper.process(1.0)
    assert space.bounds(runner) == ((4, 4), (12, 14))


def test_vectors_give_the_bits_of_plain_components():
    def run(kinds, make):
        esper.clear_database()
        for n in range(12):
            esper.create_entity(*make((1.1 * n, 0.7 * n % 3), (3.3 - n, 1.7 * n)), ec.Deflect())
        for place in ((0, -20), (0, 20)):
            esper.create_entity(*make(place, (0, 0), (90, 2)))
        space = ec.Space(components=kinds)
        for system in (
            ec.BroadphaseSystem,
            ec.NarrowphaseSystem,
            ec.ResponseSystem,
            ec.MotionSystem,
        ):
            esper.remove_processor(system)
        ec.install(space)
        steps(60, 1 / 16)
        return space.state_hash()

    def plain(pos, vel, size=(2, 2)):
        return ec.Position(pos), ec.Velocity(vel), ec.Extents.from_size(size)

    def vectors(pos, vel, size=(2, 2)):
        return (Thing(Vec2, pos, vel, size),)

    assert run(None, plain) == run(WHOLE, vectors)


def test_responses_see_and_set_vectors():
    seen = []
    runner, own = thing("array", (0, 0), (8, 0))
    esper.create_entity(Thing(MAKERS["array"], (6, 0), (0, 0), (2, 100)))
    space = ec.install(components=WHOLE)

    def respond(impact):
        seen.append((list(own.pos), impact.velocity(runner)))
        impact.resolve()
        own.vel[1] = 6.0

    space.respond_with(ec.Slide, respond)
    esper.process(1.0)

    assert seen == [([4, 0], (8, 0))]
    assert list(own.pos) == [4, 3]


def test_a_step_that_is_taken_back_takes_vectors_back():
    _, own = thing("list", (0, 0), (8, 0))
    space = ec.install(components=WHOLE)
    esper.process(1.0)
    own.vel[0] = "fast"
    with pytest.raises(TypeError, match=r"entity 1: Thing.*vel\[0\]"):
        esper.process(1.0)
    own.vel[0] = 8.0
    assert own.pos == [8, 0]
    esper.process(1.0)
    assert own.pos == [16, 0]
    assert len(space) == 1


def test_a_vector_that_is_too_short_is_named():
    _, own = thing("list", (0, 0), (8, 0))
    space = ec.install(components=WHOLE)
    del own.vel[1]

    with pytest.raises(AttributeError, match=r"entity 1: Thing\.vel\[1\] is missing"):
        esper.process(1.0)
    assert "no_number" in [finding.cause for finding in space.doctor()]


def test_infinite_numbers_in_vectors_are_quarantined_by_name():
    _, own = thing("list", (0, 0), (8, 0))
    space = ec.install(components=WHOLE)
    esper.process(1.0)
    own.pos[1] = math.inf
    with pytest.warns(RuntimeWarning, match=r"Thing.pos\[1\] is inf"):
        esper.process(1.0)
    assert space.reports[0].field == "Thing.pos[1]"


def test_snapshots_hold_vectors_by_the_functions_of_the_game():
    _, own = thing("list", (0, 0), (8, 0))
    space = ec.install(components=WHOLE)
    with pytest.raises(ValueError, match="Thing"):
        space.snapshot()

    def update(there, data):
        numbers = np.frombuffer(data).tolist()
        there.pos, there.vel, there.size = numbers[:2], numbers[2:4], numbers[4:]

    def load(data):
        made = Thing(MAKERS["list"], (0, 0))
        update(made, data)
        return made

    space.snapshot_with(
        Thing,
        save=lambda own: np.array([*own.pos, *own.vel, *own.size], float).tobytes(),
        load=load,
        update=update,
    )
    esper.process(1.0)
    data = space.snapshot()
    esper.process(1.0)
    wanted = space.state_hash()
    space.restore(data)
    assert own.pos == [8, 0]
    esper.process(1.0)
    assert space.state_hash() == wanted


# Many at once -------------------------------------------------------------------------------


def test_sizes_of_many_are_set_at_once():
    bodies = [mover((10 * n, 0), (1, 1), (0, 0)) for n in range(3)]
    fixed = box((50, 0), (1, 1), ec.Fixed())
    space = ec.install()
    esper.process(1.0)

    space.set_extents(None, [[1, 2], [2, 3], [3, 4], [4, 5]])
    esper.process(0.5)

    of = esper.component_for_entity
    assert [of(e, ec.Extents).xy for e in bodies] == [(1, 2), (2, 3), (3, 4)]
    assert space.bounds(fixed) == ((46, -5), (54, 5))
    space.set_extents([], [])


def test_wrong_numbers_for_many_are_refused_and_nothing_is_set():
    one = mover((0, 0), (1, 1), (0, 0))
    two = mover((9, 0), (1, 1), (0, 0))
    space = ec.install()

    for call, error, match in (
        (lambda: space.set_extents([one, two], [[5, 5], [1, -1]]), ValueError, r"extents\[1\]"),
        (lambda: space.set_extents([one], [[5, 5, 5]]), ValueError, "shape"),
    ):
        with pytest.raises(error, match=match):
            call()
    assert esper.component_for_entity(one, ec.Extents) == ec.Extents(1, 1)
