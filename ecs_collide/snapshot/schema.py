"""All that the steps to come depend on, as arrays: what a snapshot holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.wrapping import Wrap
from ecs_collide.snapshot.columns import Table
from ecs_collide.sync.quarantine import Report
from ecs_collide.sync.seen import SEEN, SLEEPER, STIRRED, none_of

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]

MISMATCH_RECORD = np.dtype([("column", "u1"), ("axis", "u1"), ("body", "<u4"), ("value", "<f8")])
CONTACT_RECORD = np.dtype(
    [("first", "<i8"), ("second", "<i8"), ("kind", "i1"), ("axis", "i1"), ("sign", "i1"),
     ("since", "<f8")]
)  # fmt: skip
RIDE_RECORD = np.dtype(
    [("entity", "<i8"), ("carrier_velocity", "<f8", (3,)), ("taken_off", "<f8", (3,))]
)
PENDING_RECORD = np.dtype(
    [("time", "<f8"), ("first", "<i8"), ("second", "<i8"), ("codes", "i1", (6,))]
)


@dataclass(slots=True)
class SnapshotData:
    """All that the steps to come depend on.

    Attributes
    ----------
    kinds, own, plain : tuple of str
        The types of components that are held: the library's, those that the game saves by
        functions, and its dataclasses of numbers.
    ids, masks, others : int64 (n,), uint64 (n, words), int64
        The entities that had any of these; which of them, bit n for the n-th
        of `kinds`, `own` and `plain`, 64 in a word; the other entities.
    numbers : list of float64 (n, width)
        For each of `kinds` those of all its components, by rising entity.
    blobs : list of list of bytes
        For each of `own` the same.
    tables : list of Table
        For each of `plain` the same.
    bodies, flags : int64, uint8
        The bodies of the last step, and what has become of them since.
    strays : where what was seen of a body is not what its components say
    filters : the filters that were seen last, where they are of any effect
    rest_count : int8, by body for how long it has rested, as in `motion.columns`
    sleepers : the sleeping bodies and their support
    stirred : whom, and whose neighbours, the next step may wake because of the last one
    rides : which bodies are carried, and how fast
    contacts, pending : contacts; contact events that have not been delivered yet
    collisions, contact_events : the events of the last step
    counts : of the last step, as in `Stats`
    reports, n_reports : as in `Space`
    new_reports : those that have not been delivered yet
    category_names : the names of categories in the order of their bits
    wrap, images : as in `Space`; by contact, at which image the second body is touched
    seen : what was seen last of all bodies, in the order of `SEEN`; only in what was decoded
    """

    dim: int
    step: int
    time: float
    next_entity: int
    rest_speed: float
    pair_limit: int
    gravity: tuple[float, ...]  # three numbers
    counts: tuple[int, ...]
    kinds: tuple[str, ...]
    own: tuple[str, ...]
    plain: tuple[str, ...]
    reports: list[Report]
    new_reports: list[Report]
    n_reports: int
    ids: Longs
    masks: NDArray[np.uint64]
    others: Longs
    numbers: list[Doubles]
    blobs: list[list[bytes]]
    tables: list[Table]
    bodies: Longs
    flags: NDArray[np.uint8]
    mismatches: NDArray[np.void]
    contacts: NDArray[np.void]
    filters: NDArray[np.void]
    rides: NDArray[np.void]
    pending: NDArray[np.void]
    collisions: NDArray[np.void]
    contact_events: NDArray[np.void]
    rest_count: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, np.int8))
    sleeping: NDArray[np.void] = field(default_factory=lambda: none_of(SLEEPER))
    stirred: NDArray[np.void] = field(default_factory=lambda: none_of(STIRRED))
    category_names: tuple[str, ...] = ()
    wrap: Wrap | None = None
    images: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    seen: list[Doubles] = field(default_factory=list)

    def holders(self, n: int) -> Longs:
        """Return the entities that have the n-th type of component."""
        return holders(self.ids, self.masks, n)

    def find_seen(self) -> list[Doubles]:
        """Return what was seen last of all bodies, in the order of `SEEN`."""
        columns = []
        for n, (kind, _name, default) in enumerate(SEEN):
            k = self.kinds.index(kind)
            numbers = self.numbers[k]
            width = self.dim if numbers.shape[1] > 1 else 1
            holders = self.holders(k)
            if len(holders) == len(self.bodies) and (holders == self.bodies).all():
                column = np.array(numbers[:, :width], order="C")
            else:
                column = np.full((len(self.bodies), width), default)
                if len(self.bodies):
                    places = np.searchsorted(self.bodies, holders)
                    places[places == len(self.bodies)] = 0
                    here = self.bodies[places] == holders
                    column[places[here]] = numbers[here, :width]
            if len(self.mismatches):
                some = self.mismatches[self.mismatches["column"] == n]
                column[some["body"], some["axis"]] = some["value"]
            columns.append(column)
        return columns


def holders(ids: Longs, masks: NDArray[np.uint64], n: int) -> Longs:
    """Return the entities whose masks have the n-th bit."""
    found: Longs = ids[masks[:, n >> 6] & np.uint64(1 << (n & 63)) != 0]
    return found


def rearrange(
    masks: NDArray[np.uint64], bits: Sequence[int | None], n_kinds: int
) -> NDArray[np.uint64]:
    """Return masks whose n-th bit has become `bits[n]`, of `n_kinds` bits; None drops it."""
    n_words = words_of(n_kinds)
    if list(bits) == list(range(len(bits))) and masks.shape[1] == n_words:
        return masks
    moved = np.zeros((len(masks), n_words), np.uint64)
    for n, bit in enumerate(bits):
        if bit is None:
            continue
        has = masks[:, n >> 6] >> np.uint64(n & 63) & np.uint64(1)
        moved[:, bit >> 6] |= has << np.uint64(bit & 63)
    return moved


def words_of(n_kinds: int) -> int:
    """Return the number of words of 64 bits in a mask of `n_kinds` types."""
    return max(1, (n_kinds + 63) // 64)


def as_ints(masks: NDArray[np.uint64]) -> list[int]:
    """Return masks as ints of Python."""
    if masks.shape[1] == 1:
        found: list[int] = masks.ravel().tolist()
        return found
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in masks]
