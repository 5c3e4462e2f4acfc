"""Attached boxes: their owners, their positions at the start of a step, and boxes without owner.

A box takes part in a step if its owner does.  It starts at the centre of its owner plus the offset
of the last step.  If it was left somewhere else, it was teleported or its owner has moved it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import Exclusion, News
from ecs_collide.components.dynamics import Attached
from ecs_collide.esper_world import World
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.quarantine import Wrong

RowArray = NDArray[np.int64]

SAME_FRAME = 2.0**-40  # the most that rounding moves a box between two steps, of the largest number


class Attachment(NamedTuple):
    """The result of attaching boxes to their owners, by row."""

    refused: list[tuple[int, Wrong]]  # without a valid owner since this step, and why
    skipped: list[tuple[int, bool]]  # since this step, like the owner; whether that is disabled
    jumped: list[int]  # not where the last step left them


def boxes_of(owners: Set[int], world: World) -> list[int]:
    """Return the boxes that are attached to some entities, by rising id."""
    boxes, components = [], world.entities((Attached,))
    for box in world.having(Attached):  # a game may have thousands: no calls
        if box in components:
            owner = components[box][Attached].owner
            if type(owner) is int and owner in owners:
                boxes.append(box)
    return sorted(filter(world.exists, boxes))


class AttachedBoxes:
    """The attached boxes of a world."""

    def __init__(self, table: BodyTable, domain: PeriodicDomain | None) -> None:
        self._table = table
        self._domain = domain
        self.rows = np.zeros(0, np.int64)  # of all boxes that are not disabled, by rising id
        self.taking_part = self.rows  # the boxes that the present step moves
        self.starts = np.zeros((0, table.dim))  # their centres at its start, in world units
        self.n_out = 0  # how many boxes it skips
        self._left = self._offsets = self.starts
        self._was_out = np.zeros(0, np.int8)

    def remember(self) -> None:
        """Store the centres and offsets of the boxes, before their components are read."""
        c, rows = self._table, self.rows
        self._left = c.seen_centre[rows]
        self._offsets = c.seen_offset[rows]
        self._was_out = c.quarantined[rows]

    def clear(self) -> None:
        """Remove all boxes from the step."""
        self.taking_part = self.rows[:0]
        self.starts = self.starts[:0]
        self.n_out = 0

    def find_targets(
        self, attachments: Any, owners: RowArray, components: Sequence[Any]
    ) -> Attachment:
        """Find which boxes take part in the step, and attach them to their owners.

        `owners` are the rows of the owners of `rows`, int64 (n,), -1 without an owner;
        `components` are the `Attached` of all rows.
        """
        c, rows = self._table, self.rows
        is_out = c.quarantined[rows] != 0  # because of the box's own numbers
        has_none = owners < 0
        is_chained = ~has_none & (c.attached[owners] != 0)
        owner_out = np.where(has_none, 0, c.quarantined[owners])
        refused = ~is_out & (has_none | is_chained)
        skipped = ~is_out & ~refused & (owner_out != 0)
        c.quarantined[rows[refused]] = Exclusion.INVALID
        c.quarantined[rows[skipped]] = Exclusion.DISABLED
        inside = ~(is_out | refused | skipped)
        self.n_out = len(rows) - int(inside.sum())

        target = c.seen_offset[rows]
        is_new = c.news[rows] & News.NEW != 0
        offset = np.where(is_new[:, None], target, self._offsets)
        with np.errstate(all="ignore"):  # boxes that are skipped may hold any numbers
            starts = c.centre[owners] + offset
            displacements = starts - self._left
            sizes = np.maximum(np.abs(c.centre[owners]), np.abs(offset))
            if self._domain is not None:
                starts = self._domain.into_world(starts)
                displacements = starts - self._left
                displacements = (
                    displacements - self._domain.shortest(displacements) * self._domain.widths
                )
                sizes = np.maximum(sizes, self._domain.widths)
        jumped = inside & ~is_new & (np.abs(displacements) > SAME_FRAME * sizes).any(axis=1)
        self.taking_part, self.starts = rows[inside], starts[inside]
        arrays = self.taking_part, owners[inside], offset[inside], target[inside]
        attachments.set(*(array.data for array in arrays))
        refused &= self._was_out != Exclusion.INVALID
        skipped &= self._was_out == 0
        is_disabled = owner_out[skipped] == Exclusion.DISABLED
        pairs = zip(rows[refused].tolist(), owners[refused].tolist(), strict=True)
        return Attachment(
            [(row, self._wrong(row, owner, components)) for row, owner in pairs],
            list(zip(rows[skipped].tolist(), is_disabled.tolist(), strict=True)),
            rows[jumped].tolist(),
        )

    def _wrong(self, row: int, owner: int, components: Sequence[Any]) -> Wrong:
        """Return the error about the owner of a box."""
        entity = int(self._table.seen_owner.item(row))
        # Read the component itself, because a disabled body's columns are not up to date.
        last = None if owner < 0 else getattr(components[owner], "owner", entity)
        return wrong_owner(entity, is_itself=owner == row, last=last)


OWNER = "Attached.owner"


def wrong_owner(owner: int, *, is_itself: bool, last: int | None) -> Wrong:
    """Return the error about an owner; `last` is the owner's owner, None if it is not a body."""
    if last is None:
        text = "must be an entity with Position and Extents"
    elif is_itself:
        text = "must be another entity"
    else:
        text = f"must not be attached itself: attach both boxes to entity {last}"
    return Wrong(OWNER, owner, text)
