"""The changes that moves of a character make in other components, and their end.

A dash takes categories out of the mask of a `Filter`, and crouching makes a box lower.  A dash, a
ladder and a ledge give a velocity that ends with them.  The game may replace or remove the
`Character` meanwhile, and take a snapshot in between.  So the record is a component of its own.  A
new `Character` takes the filter and the box over.  Without one, `CharacterSteering` takes the
changes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import esper

import ecs_collide as ec
from ecs_collide.character.character import Character
from ecs_collide.character.memory import MOVED, Memory, Vector3
from ecs_collide.extend import (
    LARGEST,
    is_wrong_now,
    last_bounds,
    last_velocity,
    sound_vector,
    write_vector,
)


@dataclass(slots=True)
class Changes:
    """The changes that the moves of a character have made in its other components.

    Attributes
    ----------
    let_through : int
        The categories that a dash has taken out of the mask of its `Filter`, as bits.
    standing_height : float
        The height of its box before it crouched, 0 if it does not.
    is_upside_down : bool
        Whether its feet are on the side of `Space.up`.
    moved_x, moved_y, moved_z : float
        The part of its `Velocity` that ends with its move.
    """

    let_through: int = 0
    standing_height: float = 0.0
    is_upside_down: bool = False
    moved_x: float = 0.0
    moved_y: float = 0.0
    moved_z: float = 0.0

    @property
    def moved(self) -> Vector3:
        """The part of its `Velocity` that ends with its move."""
        return self.moved_x, self.moved_y, self.moved_z

    def require_possible(self) -> None:
        """Raise ValueError for a record from a snapshot that no move makes."""
        bits, height = self.let_through, self.standing_height
        if (
            not (type(bits) is int and 0 <= bits < ec.ALL and bits & 1 == 0)
            or not (type(height) is float and 0.0 <= height <= LARGEST)
            or type(self.is_upside_down) is not bool
            or not all(type(part) is float and abs(part) <= LARGEST for part in self.moved)
        ):
            raise ValueError(f"{self} is no record of a move")


def note_changes(entity: int, memory: Memory, is_upside_down: bool, moved: Vector3) -> None:
    """Keep the record of a character up to date, after a move has changed something or ended.

    An empty record stays, because esper cannot be interrupted while it removes a component.
    """
    known = esper.try_component(entity, Changes)
    if known is None:
        known = Changes()
        esper.add_component(entity, known)
    known.let_through, known.standing_height = memory.let_through, memory.standing_height
    known.is_upside_down = is_upside_down
    known.moved_x, known.moved_y, known.moved_z = moved


def _records(space: ec.Space) -> Sequence[tuple[int, Changes]]:
    """Return the records of all entities."""
    try:
        return esper.get_component(Changes)
    except KeyError:  # esper was interrupted while it added one
        world = space.world
        having = [each for each in world.having(Changes) if world.exists(each)]
        found = [(each, world.component(each, Changes)) for each in having]
        return [(entity, changes) for entity, changes in found if changes is not None]


def hand_over(space: ec.Space) -> None:
    """Hand the changes of removed characters to new ones, or take the changes back."""
    for entity, changes in _records(space):
        if changes.let_through == changes.standing_height == 0 and not any(changes.moved):
            continue
        character = esper.try_component(entity, Character)
        if any(changes.moved) and (character is None or character.state not in MOVED):
            _slow_down(space, entity, changes)
        if character is None:
            _put_back(space, entity, changes)
            continue
        memory = character.memory
        if memory.let_through != changes.let_through:
            memory.let_through |= changes.let_through
        if memory.standing_height == 0.0 < changes.standing_height:
            memory.standing_height = changes.standing_height


def _slow_down(space: ec.Space, entity: int, changes: Changes) -> None:
    """Take the velocity of a move back, unless the game has set another one since the step."""
    velocity = esper.try_component(entity, ec.Velocity)
    now = None if velocity is None else sound_vector(velocity, space.dim)
    if now is None or is_wrong_now(space, entity):
        return
    if entity in space and last_velocity(space, entity) == now[: space.dim]:
        rest = [
            part - moved if part * moved > 0.0 and abs(part) >= abs(moved) else part
            for part, moved in zip(now, changes.moved, strict=True)
        ]
        write_vector(velocity, rest, space.dim)
    changes.moved_x = changes.moved_y = changes.moved_z = 0.0


def _put_back(space: ec.Space, entity: int, changes: Changes) -> None:
    """Put back the changes of a character that is gone; its box grows once there is room."""
    if is_wrong_now(space, entity):
        return
    its = esper.try_component(entity, ec.Filter)
    if its is not None:
        its.mask |= changes.let_through
    changes.let_through = 0
    if changes.standing_height > 0.0 and _stands_up(space, entity, changes):
        changes.standing_height = 0.0


def _stands_up(space: ec.Space, entity: int, changes: Changes) -> bool:
    """Make a box as high as it was, if there is room; return whether it is."""
    height, keep = changes.standing_height, "head" if changes.is_upside_down else "feet"
    if not esper.has_components(entity, ec.Position, ec.Extents):
        return True
    low, high = last_bounds(space, entity)
    centre = [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
    half = [(b - a) / 2.0 for a, b in zip(low, high, strict=True)]
    sign = -1.0 if changes.is_upside_down else 1.0
    grown = [
        sign * up * (height - 2.0 * size) for up, size in zip(space.up, half, strict=True)
    ]  # fmt: skip
    above = space.cast_box(
        centre, half, grown, exclude=entity, solid=True,
        filter=lambda other: space.may_meet(entity, other),
    )  # fmt: skip
    if above is not None:
        return False
    space.resize(entity, height=height, keep=keep)
    return True
