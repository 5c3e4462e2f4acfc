"""Saving and going back where the game has just put a body somewhere."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec

pytestmark = pytest.mark.usefixtures("world", "implementation")


def outcome(space):
    return (
        space.snapshot(),
        space.positions().tobytes(),
        space.velocities().tobytes(),
        space.collision_array.tobytes(),
        space.contact_array.tobytes(),
    )


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
