"""Saving and going back where the game moves its bodies, or has components of its own."""

from __future__ import annotations

import random
import struct

import esper
import pytest

import ecs_collide as ec
from tests.scenes import steps
from tests.system.test_own_components import (
    CORNERS,
    HALVES,
    RECTS,
    Place,
    Rect,
    Size,
    Speed,
    Weight,
    make_corners,
    make_halves,
    make_rects,
    room,
)

pytestmark = pytest.mark.usefixtures("world", "implementation")

FIELDS = {
    Place: ("x", "y"),
    Speed: ("dx", "dy"),
    Size: ("w", "h"),
    Weight: ("kg",),
    Rect: ("left", "top", "width", "height", "vx", "vy"),
}


def describe(space):
    """Tell a space how to save the components of these games."""

    def teach(kind, names):
        form = struct.Struct(f"<{len(names)}d")

        def save(item):
            return form.pack(*(getattr(item, name) for name in names))

        def update(item, data):
            for name, value in zip(names, form.unpack(data), strict=True):
                setattr(item, name, value)

        space.snapshot_with(kind, save, lambda data: kind(*form.unpack(data)), update)

    for kind, names in FIELDS.items():
        teach(kind, names)


def outcome(space):
    return (
        space.snapshot(),
        space.positions().tobytes(),
        space.velocities().tobytes(),
        space.collision_array.tobytes(),
        space.contact_array.tobytes(),
    )


@pytest.mark.parametrize(
    ("make", "components"),
    [(make_halves, HALVES), (make_corners, CORNERS), (make_rects, RECTS)],
)
def test_own_components_go_on_as_if_never_saved(make, components, volume):
    for body in room(n=9):
        make(*body)
    space = ec.install(components=components)
    describe(space)
    for _ in range(volume(30, 60, least=12)):
        saved = space.snapshot()
        esper.process(1 / 60)
        expected = outcome(space)
        steps(3, 1 / 30)

        space.restore(saved)
        assert space.snapshot() == saved
        esper.process(1 / 60)

        assert outcome(space) == expected


def test_what_would_be_skipped_is_named():
    make_corners(*room()[5])
    space = ec.install(components=CORNERS)
    esper.process(1 / 60)

    with pytest.raises(ValueError, match="would lack Speed, components of the game"):
        space.snapshot()
    describe(space)
    assert space.snapshot()


@pytest.mark.slow_in_python
def test_a_game_that_moves_its_bodies_goes_on_as_if_never_saved():
    rng = random.Random(5)
    for x, y, w, h in ((-1, 20, 1, 24), (41, 20, 1, 24), (20, -1, 24, 1), (20, 41, 24, 1)):
        esper.create_entity(ec.Position(x, y), ec.Extents(w, h))
    moved = []
    for i in range(9):
        parts = [ec.Position(6 + 12 * (i % 3), 6 + 12 * (i // 3)), ec.Extents(1, 2)]
        if i % 3:
            parts += [ec.Velocity(0, 0), ec.Deflect()] if i % 2 else [ec.Slide()]
        moved.append(parts[0])
        esper.create_entity(*parts)
    space = ec.install(ec.Space(motion="swept"))
    esper.process(1 / 60)

    def push(seed):
        rng = random.Random(seed)
        for place in rng.sample(moved, 5):
            place.xy = (place.x + rng.uniform(-9, 9), place.y + rng.uniform(-9, 9))

    n_collisions = 0
    for step in range(60):
        if step % 2:
            push(1000 + step)  # moved, and not yet swept, when it is saved
        saved = space.snapshot()
        push(step)
        esper.process(1 / 60)
        n_collisions += len(space.collisions)
        expected = outcome(space)
        for _ in range(rng.randrange(3)):
            push(rng.random())
            esper.process(1 / 60)

        space.restore(saved)
        push(step)
        esper.process(1 / 60)

        assert outcome(space) == expected
        space.check()
    assert n_collisions > 50


@pytest.mark.parametrize("what", ["teleport", "move"])
def test_a_body_that_was_put_somewhere_is_not_swept_there_after_restoring(what):
    crate = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Slide())
    esper.create_entity(ec.Position(5, 0), ec.Extents(1, 1))
    space = ec.install(ec.Space(motion="swept"))
    esper.process(1 / 60)
    if what == "teleport":
        space.teleport(crate, (9, 0))  # beyond the wall
    else:
        space.move(crate, (9, 0))  # up to it
    saved = space.snapshot()
    esper.process(1 / 60)
    expected = outcome(space)
    assert len(space.collisions) == 0

    space.restore(saved)
    assert space.snapshot() == saved
    esper.process(1 / 60)

    assert outcome(space) == expected


@pytest.mark.parametrize("how", ["delete", "delete at once", "take its Position", "replace it"])
def test_restore_after_a_moved_body_was_deleted(how):
    crate = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
    esper.create_entity(ec.Position(2, 0), ec.Extents(1, 1))
    space = ec.install()
    esper.process(1 / 60)
    good = space.snapshot()
    space.move(crate, (-1, 0))
    if how.startswith("delete"):
        esper.delete_entity(crate, immediate=how.endswith("once"))
    elif how.startswith("take"):
        esper.remove_component(crate, ec.Position)
    else:
        esper.add_component(crate, ec.Position(-1, 0))
    saved = space.snapshot()
    esper.process(1 / 60)
    expected = outcome(space)

    space.restore(saved)
    assert space.snapshot() == saved
    esper.process(1 / 60)
    assert outcome(space) == expected
    space.restore(good)
    assert space.snapshot() == good
