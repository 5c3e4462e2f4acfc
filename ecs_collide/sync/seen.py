"""The seen values of bodies: the columns that a snapshot holds, and the changes since."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import ALL, Exclusion, Leans, News
from ecs_collide.motion.body_table import BodyTable, SavedColumns
from ecs_collide.motion.columns import SEEN_RARER

NO_ROWS: NDArray[np.int64] = np.zeros(0, np.int64)

# The changes of a body since the last step, as bits of `snapshot.schema.State.flags`.
SKIPPED = 1  # by the last step: it is quarantined or disabled
TOUCHED = 2  # known to be moved or resized by the game already
UNSEEN = 4  # it is new since the last step
CHANGED = 8  # it has other component types or objects
REPLACED = 16  # Position and Extents were replaced: it is another body
MOVED = 32  # `Space.move` has moved it, which is no teleport
OFF = 64  # the last step skipped it because it was disabled
ALTERED = 128  # its traits have changed, or it must be examined for another reason

SEEN = (
    ("Position", "seen_centre", 0.0),
    ("Extents", "seen_half", 0.0),
    ("Velocity", "seen_velocity", 0.0),
    ("Growth", "seen_growth", 0.0),
    ("Mass", "seen_mass", 1.0),
    ("Deflect", "seen_restitution", 0.0),
    ("Attached", "seen_offset", 0.0),
    ("Position", "seen_place", 0.0),
    ("Extents", "seen_size", 0.0),
)
"""The seen columns: the component, the column, and the number for no component."""

N_OF_STEPS = 7  # a step uses the first seven; the others differ only with custom components

FILTERED = np.dtype([("body", "<u4"), ("numbers", "<i8", (3,))])
SLEEPER = np.dtype([("body", "<u4"), ("island", "<u4"), ("leans", "i1"), ("held", "u1")])
"""Sleeping bodies.  The island of a body that leans is the first body in it, else 0."""

MAY_WAKE = np.dtype([("body", "<u4"), ("why", "u1")])
"""Flags of bodies for the next step: reasons to wake others, and how a body reached its place."""

LOST = 1  # it sleeps, and has lost a contact
DISTURBED = 2  # it is not dynamic, and something has happened to it in its sleep
PUT = 4  # placed by `Space.teleport` or `Space.move`, so it is not swept to its place


# A snapshot has one byte for a count or for bits, whose sign is a flag.


def saved_rests(rest_count: NDArray[np.int8], interrupted: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return `rest_count` as a snapshot holds it: -1 minus the count of bodies not at rest."""
    return np.where(interrupted != 0, -1 - rest_count, rest_count).astype(np.int8)


def read_rests(saved: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return the columns `rest_count` and `interrupted` from a snapshot."""
    return np.where(saved < 0, -1 - saved, saved), saved < 0


def saved_leans(leans: NDArray[np.int16]) -> NDArray[np.int8]:
    """Return `leans` as a snapshot holds it: negative for the bit `BOUNCES`."""
    others = leans & ~Leans.BOUNCES
    return np.where(leans & Leans.BOUNCES != 0, -others, others).astype(np.int8)


def read_leans(saved: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return the column `leans` from a snapshot."""
    leans = saved.astype(np.int16)
    return np.where(leans < 0, -leans | Leans.BOUNCES, leans)


def none_of(dtype: np.dtype[Any], n: int = 0) -> NDArray[np.void]:
    """Return an array of `n` zero records."""
    return np.zeros(n, dtype)


_NO_FILTER = np.array([1, ALL, 0])  # the default filter


def filtered(numbers: NDArray[np.int64]) -> NDArray[np.void]:
    """Return those of the filters (n, 3) of bodies, as in `RareColumns`, that are not the default."""
    places = np.flatnonzero(numbers.any(axis=1))
    filters = none_of(FILTERED, len(places))
    filters["body"] = places
    filters["numbers"] = numbers[places] ^ _NO_FILTER
    return filters


class SeenBodies:
    """The seen values of some rows, in the form of a snapshot."""

    def __init__(self, table: BodyTable, reader: Any, rarer: tuple[Any, Any]) -> None:
        self._table = table
        self._reader = reader
        self._growth, self._attached = rarer
        self._any_rarer = False  # whether a restore has set any of the columns `SEEN_RARER`

    def save(self, n_rows: int) -> SavedColumns:
        """Return copies of the columns that a saved state needs, as far as bodies have used them."""
        any_rarer = self._any_rarer or bool(self._growth.items or self._attached.items)
        return self._table.save(n_rows, any_rarer)

    def filters_of(self, rows: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return categories, mask and group of the body in a row, or in each of several rows."""
        numbers: NDArray[np.int64] = self._table.filters[rows] ^ _NO_FILTER
        return numbers

    def filters(self, n_rows: int) -> NDArray[np.int64] | None:
        """Return a copy of the seen filters in the first rows, as in `RareColumns`.

        It is None if no body has had one.
        """
        return self._table.filters[:n_rows].copy() if self._table.bodies.rare.is_used else None

    def resume_filters(self, rows: NDArray[np.int64], filters: NDArray[np.void]) -> None:
        """Set the seen filters from a snapshot."""
        if len(filters):
            self._table.bodies.rare.use()
        if self._table.bodies.rare.is_used:
            numbers = self._table.filters
            numbers[rows] = 0
            numbers[rows[filters["body"]]] = filters["numbers"] ^ _NO_FILTER

    def changed_kinds(self, row: int) -> list[Any]:
        """Return the kinds whose component of a body differs from the seen values."""
        changed = (kind for kind in self._reader.kinds if kind.names and kind.is_other(row))
        return list({kind.type: kind for kind in changed}.values())

    def altered(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows that the next step examines again, except new and changed bodies."""
        c = self._table
        found = rows[c.news[rows] & News.UNCHECKED != 0]
        some = rows[(c.traits[rows] != 0) | (c.attached[rows] != 0)]
        altered = np.array(self._reader.altered_among(some.data), np.int64)
        return np.concatenate([found, altered])

    def resume(
        self,
        rows: NDArray[np.int64],
        flags: NDArray[np.uint8],
        seen: list[NDArray[np.float64]],
        rest_count: NDArray[np.int8],
    ) -> None:
        """Set the known values of bodies from columns of a snapshot.

        These are the flags, the numbers of `SEEN`, and the steps at rest.
        """
        c, reader = self._table, self._reader
        used = SEEN if c.is_apart else SEEN[:N_OF_STEPS]
        for (_, name, _), numbers in zip(used, seen, strict=False):
            getattr(c, name)[rows] = numbers
            if name in SEEN_RARER and numbers.view(np.int64).any():
                self._any_rarer = True
        reader.forget(rows.data)
        c.bodies.take_seen(rows.data)
        c.quarantined[rows] = np.where(flags & OFF != 0, Exclusion.DISABLED, flags & SKIPPED)
        is_known = flags & (UNSEEN | CHANGED | REPLACED | ALTERED) == 0
        c.news[rows] = np.where(flags & UNSEEN != 0, News.NEW, 0) | np.where(
            is_known, 0, News.UNCHECKED
        )
        reader.recognize(rows[is_known].data, False)
        reader.mistrust(rows[flags & ALTERED != 0].data)
        c.rest_count[rows], c.interrupted[rows] = read_rests(rest_count)
        c.touched[rows] = flags & TOUCHED != 0
        c.bodies.any_touched = True
        reader.clear(rows[flags & REPLACED != 0].data)
        changed = rows[flags & CHANGED != 0]
        c.n_cached[changed] = -1
