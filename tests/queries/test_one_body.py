"""Where one body is between two steps: as its components say, also in handlers."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, of


@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_the_box_of_one_body_is_as_its_components_say_between_steps(kernels, world, motion):
    space = ec.install(motion=motion)
    body = box((0, 0), (1, 1), ec.Sensor())
    wall, door = box((50, 0), (1, 1), ec.Fixed()), box((90, 0), (1, 1))
    feet = box((0, 0), (1, 1), ec.Attached(body, (0, -2)))
    esper.process(1.0)
    assert space.bounds(body) == ((-1, -1), (1, 1))

    of(body, ec.Position).xy = 5, 6
    of(body, ec.Extents).x = 3
    space.teleport(door, (80, 7))
    of(wall, ec.Position).x = 55  # a `Fixed` body stays until the game asks that it is read

    assert space.position_of(body) == (5, 6)
    assert space.bounds(body) == ((2, 5), (8, 7))
    assert space.position_of(door) == (80, 7)
    assert space.position_of(wall) == (50, 0)
    assert space.position_of(feet) == (5, 4)
    assert space.bounds(feet) == ((4, 3), (6, 5))
    assert space.positions([body]).tolist() == [[0, 0]]  # arrays are as of the step
    assert space.query((4, 4), (6, 6)) == []
    space.teleport(feet, (5, 9))
    space.set_positions([wall], [(55, 0)])
    assert space.position_of(feet) == (5, 9)
    assert space.position_of(wall) == (55, 0)
    esper.add_component(body, ec.Position(7, 8))
    assert space.position_of(body) == (7, 8)
    assert space.position_of(feet) == (7, 11)
    esper.process(1.0)
    assert space.position_of(body) == (7, 8)
    assert space.position_of(feet) == (7, 11)


def test_a_handler_sees_where_it_has_put_a_body(kernels, world):
    space, seen = ec.install(wrap=(100, None)), []
    bullet, door = mover((0, 0), (1, 1), (10, 0), ec.Stop()), box((8, 0), (1, 1))

    def open_door(collision: ec.Collision) -> None:
        of(door, ec.Position).x = 120
        seen.append((space.position_of(door), space.bounds(door)))
        esper.delete_entity(door)
        seen.append((space.position_of(door), space.bounds(door)))

    space.on_collision(open_door)
    esper.process(1.0)

    assert seen[0] == ((20, 0), ((19, -1), (21, 1)))
    assert seen[1] == ((8, 0), ((7, -1), (9, 1)))
    assert space.position_of(bullet) == (6, 0)


def test_a_value_that_is_no_number_is_named_by_the_question_for_its_place(kernels, world):
    space = ec.install()
    body = box((0, 0), (1, 1))
    esper.process(1.0)

    of(body, ec.Position).x = "here"

    with pytest.raises(TypeError, match=f"entity {body}"):
        space.position_of(body)
