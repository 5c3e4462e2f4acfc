"""A world that is cleared, and built again before the next step: ids name other entities."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, of, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


def level(x: float = 0.0) -> tuple[int, int]:
    """Make a floor and a crate on it."""
    return box((x, -10), (50, 10)), mover((x, 5), (5, 5), (0, 0), ec.Slide())


def nothing() -> None:
    """Build no level."""


def smaller() -> None:
    mover((0, 5), (5, 5), (0, 0), ec.Slide())


def without_bodies() -> None:
    esper.create_entity(ec.Position(0, 0))


BUILT = [nothing, smaller, without_bodies, level, lambda: level(1000.0)]


def ends(space: ec.Space) -> list[tuple[int, int, ec.EndReason]]:
    return [(end.first, end.second, end.reason) for end in space.contacts_ended]


def run(n: int) -> None:
    steps(n, DT)


@pytest.mark.parametrize("build", BUILT)
@pytest.mark.parametrize("n_steps", [3, 60])  # in the second case the crate sleeps
@pytest.mark.parametrize("saves", [False, True])
def test_contacts_of_a_cleared_world_end_as_cleared_whatever_was_built(build, n_steps, saves):
    space = ec.install(gravity=(0, -100))
    floor, crate = level()
    run(n_steps)
    esper.clear_database()
    build()
    data = space.snapshot() if saves else b""

    run(1)

    assert ends(space) == [(floor, crate, ec.EndReason.WORLD_CLEARED)]
    began = [(each.first, each.second) for each in space.contacts_began]
    assert began == [(each.first, each.second) for each in space.contacts()]
    space.check()
    if saves:
        after = space.state_hash()
        space.restore(data)
        run(1)
        assert ends(space) == [(floor, crate, ec.EndReason.WORLD_CLEARED)]
        assert space.state_hash() == after
    run(2)
    assert ends(space) == []


def test_same_components_in_a_world_that_was_cleared_are_other_bodies():
    def make() -> None:
        esper.create_entity(*floor)
        esper.create_entity(*crate)

    floor = ec.Position(0, -10), ec.Extents(50, 10)
    crate = ec.Position(0, 5), ec.Extents(5, 5), ec.Velocity(0, 0), ec.Slide()
    space = ec.install()
    make()
    run(2)
    esper.clear_database()
    make()

    run(1)

    assert ends(space) == [(1, 2, ec.EndReason.WORLD_CLEARED)]
    assert len(space.contacts_began) == 1


def test_entities_that_are_deleted_one_by_one_are_deleted_also_if_none_is_left_but_others_are():
    space = ec.install()
    floor, crate = level()
    run(2)
    esper.delete_entity(floor)
    esper.delete_entity(crate, immediate=True)
    esper.create_entity(ec.Position(0, 0))

    run(1)

    assert ends(space) == [(floor, crate, ec.EndReason.ENTITY_DELETED)]


def test_a_step_that_fails_after_a_world_was_cleared_is_repeated():
    space = ec.install()
    floor, crate = level()
    run(2)
    esper.clear_database()
    _, other = level(1000.0)
    of(other, ec.Velocity).x = "fast"
    for _ in range(2):
        with pytest.raises(TypeError, match="fast"):
            run(1)
    of(other, ec.Velocity).x = 6.0

    run(1)

    assert ends(space) == [(floor, crate, ec.EndReason.WORLD_CLEARED)]
    assert space.position_of(other) == (1000.1, 5)
    space.check()


def test_a_restore_after_a_world_was_cleared_ends_nothing():
    space = ec.install()
    level()
    run(2)
    data, before = space.snapshot(), space.contacts()
    esper.clear_database()
    level(1000.0)
    space.restore(data)

    run(1)

    assert ends(space) == []
    assert space.contacts() == before


class Plate:
    pressed = 0


class Player: ...


@pytest.mark.parametrize("n_worlds", [1, 3])
def test_a_plate_of_the_next_level_is_not_released_by_the_player_of_the_last_one(n_worlds):
    space = ec.install()

    def press(event: ec.ContactBegan) -> None:
        of(event.second, Plate).pressed += 1

    def leave(event: ec.ContactEnded) -> None:
        plate = esper.try_component(event.second, Plate)
        if plate is not None:
            plate.pressed -= 1

    space.on_contact_began(press, Player, Plate)
    space.on_contact_ended(leave, Player, Plate)

    def build(x: float) -> Plate:
        plate = Plate()
        box((0, 0), (10, 10), ec.Sensor(), plate)
        mover((x, 0), (4, 4), (0, 0), ec.Slide(), Player())
        return plate

    for _ in range(n_worlds):
        build(0)
        run(5)
        esper.clear_database()
        plate = build(100)
        run(5)
        assert plate.pressed == 0
        esper.clear_database()
