"""The contents of a snapshot: the state that the next steps depend on, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.wrapping import Wrap
from ecs_collide.snapshot.column_codec import Table
from ecs_collide.step.handlers import Altered
from ecs_collide.sync.quarantine import Report
from ecs_collide.sync.seen import SEEN

Longs = NDArray[np.int64]
Doubles = NDArray[np.float64]

MISMATCH_RECORD = np.dtype([("column", "u1"), ("axis", "u1"), ("body", "<u4"), ("value", "<f8")])
CONTACT_RECORD = np.dtype(
    [("first", "<i8"), ("second", "<i8"), ("kind", "i1"), ("axis", "i1"), ("sign", "i1"),
     ("had_impact", "u1"), ("since", "<f8")]
)  # fmt: skip
RIDE_RECORD = np.dtype(
    [("entity", "<i8"), ("carrier_velocity", "<f8", (3,)), ("subtracted", "<f8", (3,))]
)
PENDING_RECORD = np.dtype(
    [
        ("time", "<f8"),
        ("first", "<i8"),
        ("second", "<i8"),
        ("normal", "<f8", (3,)),
        ("codes", "i1", (4,)),
    ]
)


@dataclass(slots=True)
class SnapshotData:
    """The state that the next steps depend on."""

    dim: int
    step: int
    time: float
    next_entity: int
    rest_speed: float
    pair_limit: int
    up: int  # the axis plus 1, negative for the other way; times 10 if the game has given it
    gravity: tuple[float, ...]  # three numbers
    counts: tuple[int, ...]  # of the last step, as in `Stats`

    # The types of components: the library's, the custom ones with save functions, and the custom
    # dataclasses of numbers.
    kinds: tuple[str, ...]
    own: tuple[str, ...]
    plain: tuple[str, ...]
    ids: Longs  # the entities that have any of these
    masks: NDArray[np.uint64]  # (n, words): bit k for the k-th type in the order above
    others: Longs  # the other entities
    # The components of each type, by rising entity.
    numbers: list[Doubles]  # (n, width), for each of `kinds`
    blobs: list[list[bytes]]  # for each of `own`
    tables: list[Table]  # for each of `plain`

    bodies: Longs  # of the last step
    flags: NDArray[np.uint8]  # changes to each body since
    mismatches: NDArray[np.void]  # numbers last read that differ from the body's components now
    filters: NDArray[np.void]  # the filters that were last read, if they have any effect
    rest_count: NDArray[np.int8]  # of each body, as in `motion.columns`
    sleepers: NDArray[np.void]  # the sleeping bodies and their support
    may_wake: NDArray[
        np.void
    ]  # bodies that the next step may wake, or whose neighbours it may wake
    contacts: NDArray[np.void]
    rides: NDArray[np.void]  # the carried bodies, and their velocities
    pending: NDArray[np.void]  # contact events that have not been delivered yet
    collisions: NDArray[np.void]  # of the last step, as `contact_events`
    contact_events: NDArray[np.void]

    reports: list[Report]  # as in `Space`, as is `n_reports`
    new_reports: list[Report]  # the reports that have not been delivered yet
    n_reports: int
    category_names: tuple[str, ...]  # in the order of their bits
    was_crowded: bool  # whether the last step had a crowd beyond the pair limit
    # The open contacts whose bodies had other types at their start, as `Subscribers.altered`.
    altered: list[Altered]
    wrap: Wrap | None  # as in `Space`
    images: Longs  # by contact, the image of the second body that is touched
    rounded: NDArray[np.void]  # the exact numbers of components that round
    # The numbers last read of all bodies, in the order of `SEEN`; only in a decoded state.
    seen: list[Doubles] = field(default_factory=list)

    def holders(self, n: int) -> Longs:
        """Return the entities that have the n-th type of component."""
        return holders(self.ids, self.masks, n)

    def find_seen(self) -> list[Doubles]:
        """Return the numbers last read of all bodies, in the order of `SEEN`."""
        columns = find_seen(self.dim, self.kinds, self.numbers, self.holders, self.bodies)
        for n in set(self.mismatches["column"].tolist()):
            some = self.mismatches[self.mismatches["column"] == n]
            columns[n][some["body"], some["axis"]] = some["value"]
        return columns


def find_seen(
    dim: int,
    kinds: Sequence[str],
    numbers: Sequence[Doubles],
    holders_of: Callable[[int], Longs],
    bodies: Longs,
) -> list[Doubles]:
    """Return the numbers that components have for all bodies, in the order of `SEEN`."""
    columns = []
    for kind, _, default in SEEN:
        k = kinds.index(kind)
        width = dim if numbers[k].shape[1] > 1 else 1
        having = holders_of(k)
        if len(having) == len(bodies) and (having == bodies).all():
            # The usual case; the shortcut saves a quarter of a restore.
            column = np.array(numbers[k][:, :width], order="C")
        else:
            column = np.full((len(bodies), width), default)
            places, here = find_in(bodies, having)
            column[places[here]] = numbers[k][here, :width]
        columns.append(column)
    return columns


def find_in(rising: Longs, some: Longs) -> tuple[Longs, NDArray[np.bool_]]:
    """Return the indices of numbers in a rising array, and which of them are in it."""
    places = np.searchsorted(rising, some)
    here = places < len(rising)
    here[here] = rising[places[here]] == some[here]
    return places, here


def holders(ids: Longs, masks: NDArray[np.uint64], n: int) -> Longs:
    """Return the entities whose masks have the n-th bit."""
    found: Longs = ids[masks[:, n >> 6] & np.uint64(1 << (n & 63)) != 0]
    return found


def rearrange(
    masks: NDArray[np.uint64], bits: Sequence[int | None], n_kinds: int
) -> NDArray[np.uint64]:
    """Return masks of `n_kinds` bits with bit n moved to `bits[n]`; None drops the bit."""
    n_words = words_of(n_kinds)
    if list(bits) == list(range(len(bits))) and masks.shape[1] == n_words:
        return masks  # the usual case; the shortcut saves a tenth of a restore
    moved = np.zeros((len(masks), n_words), np.uint64)
    used = np.bitwise_or.reduce(masks, axis=0).tolist()
    for n, bit in enumerate(bits):
        if bit is not None and used[n >> 6] >> (n & 63) & 1:
            has = masks[:, n >> 6] >> np.uint64(n & 63) & np.uint64(1)
            moved[:, bit >> 6] |= has << np.uint64(bit & 63)
    return moved


def words_of(n_kinds: int) -> int:
    """Return the number of words of 64 bits in a mask of `n_kinds` types."""
    return max(1, (n_kinds + 63) // 64)


def as_ints(masks: NDArray[np.uint64]) -> list[int]:
    """Return masks as ints of Python."""
    words: Any = (words.astype(object) << 64 * n for n, words in enumerate(masks.T))
    found: list[int] = sum(words).tolist()
    return found
