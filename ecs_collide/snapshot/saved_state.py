"""The state of a space in memory: copies of columns, from which a snapshot can be made later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import Exclusion, Has
from ecs_collide.motion.body_table import SavedColumns
from ecs_collide.snapshot.capture import WorldContents
from ecs_collide.snapshot.column_codec import Table
from ecs_collide.snapshot.schema import CONTACT_RECORD, Doubles, Longs
from ecs_collide.step.events_of_step import StepEvents, contact_order
from ecs_collide.step.handlers import Altered
from ecs_collide.sync.quarantine import Report
from ecs_collide.sync.seen import (
    CHANGED,
    FILTERED,
    NO_ROWS,
    OFF,
    REPLACED,
    SEEN,
    SKIPPED,
    UNSEEN,
    filtered,
    none_of,
    saved_rests,
)

# The columns of a contact's row.
CONTACT_CODES = ("first", "second", "kind", "axis", "sign", "had_impact")


class SavedState:
    """The state of a space in memory, which `Space.save_state` returns and `Space.restore` takes.

    It belongs to one space and never changes.  ``bytes(state)`` is the snapshot that
    `Space.snapshot` would have returned at that time.
    """

    __slots__ = (
        "altered", "blobs", "category_names", "columns", "contacts", "contents", "counts", "entities",
        "events", "filters", "flags", "gravity", "is_plain", "may_wake", "mismatches",
        "n_reports", "new_reports", "next_entity", "numbers", "owner", "pair_limit", "pending",
        "reports", "rest_speed", "rides", "rounded", "rows", "sleepers", "step", "tables", "time",
        "up", "was_crowded",
    )  # fmt: skip

    owner: Any  # the `Snapshots` of its space
    is_plain: bool  # whether nothing but numbers has to be restored while the world has its mark
    # Of the world, as in `SnapshotData`.
    contents: WorldContents
    next_entity: int
    numbers: Doubles  # of all components of the library, as `SnapshotSchema.read` returns them
    blobs: list[list[bytes]]
    tables: list[Table]
    # Of the space, as in `SnapshotData`.
    step: int
    time: float
    rest_speed: float
    pair_limit: int
    gravity: tuple[float, ...]
    up: tuple[tuple[float, ...], bool]  # and whether the game has given it
    counts: list[Any]  # in the order of the fields of `Stats`
    reports: tuple[Report, ...]
    new_reports: list[Report]
    n_reports: int
    category_names: tuple[str, ...]
    was_crowded: bool
    altered: list[Altered]
    events: StepEvents | None
    # Of the bodies.
    entities: Longs
    rows: Longs
    columns: SavedColumns
    flags: NDArray[np.uint8] | None  # None: as far as `columns` tell
    filters: Longs | None  # (n_rows, 3); None if no body has had one
    mismatches: NDArray[np.void] | None  # None until they are computed
    sleepers: NDArray[np.void]
    may_wake: NDArray[np.void]
    contacts: tuple[Any, Any, Any] | None  # as `ContactRows.arrays`; None if there are none
    rides: NDArray[np.void]
    pending: NDArray[np.void]
    rounded: NDArray[np.void]

    def __bytes__(self) -> bytes:
        data: bytes = self.owner.encode(self)
        return data

    def __reduce__(self) -> str:
        raise TypeError("a SavedState cannot be copied or pickled: use bytes(state)")

    def __repr__(self) -> str:
        return f"<SavedState after step {self.step}, {len(self.rows)} bodies>"


def flags_of(saved: SavedState) -> NDArray[np.uint8]:
    """Return the changes to each body since the last step, as flags."""
    if saved.flags is not None:
        return saved.flags
    flags = np.zeros(len(saved.rows), np.uint8)
    quarantined = saved.columns.flag("quarantined")[saved.rows]
    flags[quarantined != 0] |= SKIPPED
    flags[quarantined == Exclusion.DISABLED] |= OFF
    return flags


def rests_of(saved: SavedState, flags: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return the steps at rest of all bodies, as a snapshot holds them."""
    c, rows = saved.columns, saved.rows
    # The next step restarts the count of a body with other components.  A restored space has
    # already read those components.
    rests = (flags & (UNSEEN | CHANGED | REPLACED) == 0) & (c.flag("quarantined")[rows] == 0)
    rests &= c.flag("has")[rows] & Has.FIXED == 0
    counted = saved_rests(c.flag("rest_count")[rows], c.flag("interrupted")[rows])
    return np.where(rests, counted, 0)


def seen_of(saved: SavedState) -> list[Doubles]:
    """Return the numbers last read of all bodies, in the order of `SEEN`."""
    return [saved.columns.seen(name, saved.rows) for _, name, _ in SEEN]


def filters_of(saved: SavedState) -> NDArray[np.void]:
    """Return the filters of the bodies whose filter is not the default."""
    return none_of(FILTERED) if saved.filters is None else filtered(saved.filters[saved.rows])


def contacts_of(saved: SavedState) -> tuple[NDArray[np.void], Longs]:
    """Return the contacts and the image of each."""
    if saved.contacts is None:
        return none_of(CONTACT_RECORD), NO_ROWS
    rows, since, image = map(np.asarray, saved.contacts)
    ids = np.zeros(saved.columns.flags.shape[1], np.int64)
    ids[saved.rows] = saved.entities
    contacts = none_of(CONTACT_RECORD, len(rows))
    first, second, *codes = rows.T
    for name, column in zip(CONTACT_CODES, (ids[first], ids[second], *codes), strict=True):
        contacts[name] = column
    contacts["since"] = since
    # Their present order depends on the trees.
    order = contact_order(rows, image, ids)
    return contacts[order], image[order]
