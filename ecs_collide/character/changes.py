"""The changes that moves of a character make in other components, and their end.

A dash takes categories out of the mask of a `Filter`, and crouching makes a box lower.  The game
may replace or remove the `Character` meanwhile, and take a snapshot in between.  So the record is a
component of its own.  A new `Character` takes it over.  Without one, `CharacterSteering` takes the
changes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import esper

import ecs_collide as ec
from ecs_collide._kernel.constants import ALL, LARGEST
from ecs_collide.character.character import Character
from ecs_collide.character.memory import Memory
from ecs_collide.space import is_wrong_now, last_bounds


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
    """

    let_through: int = 0
    standing_height: float = 0.0
    is_upside_down: bool = False

    def require_possible(self) -> None:
        """Raise ValueError for a record from a snapshot that no move makes."""
        bits, height = self.let_through, self.standing_height
        if (
            not (type(bits) is int and 0 <= bits < ALL and bits & 1 == 0)
            or not (type(height) is float and 0.0 <= height <= LARGEST)
            or type(self.is_upside_down) is not bool
        ):
            raise ValueError(f"{self} is no record of a move")


def note_changes(entity: int, memory: Memory, is_upside_down: bool) -> None:
    """Keep the record of a character up to date, after a move has changed something or ended.

    An empty record stays, because esper cannot be interrupted while it removes a component.
    """
    known = esper.try_component(entity, Changes)
    if known is None:
        known = Changes()
        esper.add_component(entity, known)
    known.let_through, known.standing_height = memory.let_through, memory.standing_height
    known.is_upside_down = is_upside_down


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
        if changes.let_through == changes.standing_height == 0:
            continue
        character = esper.try_component(entity, Character)
        if character is None:
            _put_back(space, entity, changes)
            continue
        memory = character.memory
        if memory.let_through != changes.let_through:
            memory.let_through |= changes.let_through
        if memory.standing_height == 0.0 < changes.standing_height:
            memory.standing_height = changes.standing_height


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
