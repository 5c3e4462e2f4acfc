"""The events of one step, as read-only structured arrays made from an event buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import BEGAN, ENDED
from ecs_collide.events import (
    Collision,
    ContactBegan,
    ContactEnded,
    ContactKind,
    EventSequence,
    collision_dtype,
    contact_dtype,
)

_OF_CODE: dict[int, Any] = {BEGAN: ContactBegan, ENDED: ContactEnded}

_HIDDEN = len(ContactKind)
# By the kernel's kinds of contacts: SOLID, CROSSING, PASSING, LEAVING, UNTIL_APART.
_REPORTED_KINDS = np.array([0, 1, _HIDDEN, 0, 1])
_MANY = 16  # questions, after which sorting all collisions by entity pays

SHOWN_KINDS = (*(ContactKind(kind) if kind < _HIDDEN else None for kind in _REPORTED_KINDS),)


class CopiedEvents:
    """A copy of an `EventBuffer`, which later steps do not write."""

    def __init__(self, log: Any) -> None:
        self.n_collisions, self.n_contacts = log.n_collisions, log.n_contacts
        self._collisions = log.packed_collisions() if self.n_collisions else b""
        self._contacts = log.packed_contacts() if self.n_contacts else ()

    def packed_collisions(self) -> bytes:
        """Return the collisions as rows of `events.collision_dtype`."""
        return self._collisions

    def packed_contacts(self) -> tuple[bytes, ...]:
        """Return the times, bodies, codes, images and normals of begins and ends, as bytes."""
        return self._contacts


class StepEvents:
    """The collisions, begins and ends of a step, as read-only arrays made on first access.

    Attributes
    ----------
    log : EventBuffer or CopiedEvents
        The rows of the arrays.  The end of the next step overwrites a buffer.
    """

    def __init__(self, dim: int, log: Any) -> None:
        self._dim = dim
        self._n_asked = 0  # calls of `collisions_of`
        self.log = log

    @classmethod
    def of_arrays(cls, collisions: NDArray[np.void], contacts: NDArray[np.void]) -> StepEvents:
        """Return the events that a snapshot holds."""
        events = cls(0, None)
        events.__dict__.update(
            collision_array=_read_only(collisions), contact_array=_read_only(contacts)
        )
        return events

    def copy(self) -> StepEvents:
        """Return events that do not change; the events of a snapshot are their own copy."""
        return self if self.log is None else StepEvents(self._dim, CopiedEvents(self.log))

    @cached_property
    def collision_array(self) -> NDArray[np.void]:
        """The collisions, with the dtype `collision_dtype`."""
        none = no_events(self._dim).collision_array
        if not self.log.n_collisions:
            return none
        return np.frombuffer(self.log.packed_collisions(), none.dtype)  # bytes are read-only

    @cached_property
    def contact_array(self) -> NDArray[np.void]:
        """The begins and ends of contacts, with the dtype `contact_dtype`."""
        return _read_only(_contacts(self._dim, self.log))

    @cached_property
    def collisions(self) -> EventSequence[Collision]:
        """The collisions."""
        return EventSequence(self.collision_array, Collision.from_row)

    @cached_property
    def contacts_began(self) -> EventSequence[ContactBegan]:
        """The contacts that began; selected on first access."""
        return EventSequence(self._contacts_of(BEGAN), ContactBegan.from_row)

    @cached_property
    def contacts_ended(self) -> EventSequence[ContactEnded]:
        """The contacts that ended; selected on first access."""
        return EventSequence(self._contacts_of(ENDED), ContactEnded.from_row)

    def collisions_of(self, entity: int) -> NDArray[np.void]:
        """Return the collisions of an entity, in time order.

        O(collisions) for the first questions, and O(log collisions) from then on.
        """
        array = self.collision_array
        self._n_asked += 1
        if self._n_asked < _MANY:
            found: Any = (array["first"] == entity) | (array["second"] == entity)
        else:
            ids, rows = self._rows_by_entity
            found = rows[ids.searchsorted(entity) : ids.searchsorted(entity, "right")]
        mine: NDArray[np.void] = array[found]
        return mine

    @cached_property
    def _rows_by_entity(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ids of both bodies of all collisions in order, and the row of each."""
        both = np.column_stack((self.collision_array["first"], self.collision_array["second"]))
        ids = both.ravel()
        order = ids.argsort(kind="stable")
        return ids[order], order // 2

    def _contacts_of(self, event: int) -> NDArray[np.void]:
        array = self.contact_array
        return array[array["event"] == event] if len(array) else array

    def each_collision(self, indices: Any) -> Iterator[Collision]:
        """Yield collisions of some indices in the array, or all, as of a step that just ended."""
        return map(Collision.from_row, self.log.collision_rows(indices) if self.log else ())

    def each_change(
        self, wanted: NDArray[np.bool_] | None = None
    ) -> Iterator[ContactBegan | ContactEnded]:
        """Yield begins and ends, or the wanted ones, in the order in which they happened."""
        rows: Iterable[tuple[Any, ...]] = self.log.contact_rows() if self.log else ()
        if wanted is not None:
            rows = compress(rows, wanted.tolist())
        for row in rows:
            yield _OF_CODE[row[0]].from_row(row)


@cache
def no_events(dim: int) -> StepEvents:
    """Return the events of a step without events."""
    arrays = np.zeros(0, collision_dtype(dim)), np.zeros(0, contact_dtype(dim))
    return StepEvents.of_arrays(*arrays)


def _read_only(array: NDArray[np.void]) -> NDArray[np.void]:
    array.setflags(write=False)  # `flags.writeable = False` leaks memory in numpy 2
    return array


def _contacts(dim: int, event_buffer: Any) -> NDArray[np.void]:
    n = event_buffer.n_contacts
    array = np.empty(n, no_events(dim).contact_array.dtype)
    if n == 0:
        return array
    times, bodies, codes, places, normals = event_buffer.packed_contacts()
    time, images = np.frombuffer(times), np.frombuffer(places, np.int64)
    first, second = np.frombuffer(bodies, np.int64).reshape(n, 2).T
    change, phase, kind, reason = np.frombuffer(codes, np.int8).reshape(n, 4).T
    # By time; then by phase (start of the step, within, end); then by ids and image.
    keys = second, first, phase, time
    order = np.lexsort((images, *keys))
    array["event"], array["first"], array["second"] = change[order], first[order], second[order]
    array["normal"] = np.frombuffer(normals).reshape(n, dim)[order]
    array["time"], array["kind"], array["reason"] = time[order], kind[order], reason[order]
    return array


def kinds_shown(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the `ContactKind` of each kernel contact; `len(ContactKind)` if it has none."""
    shown: NDArray[np.int64] = _REPORTED_KINDS[rows[:, 2]]
    return shown


def contact_order(
    rows: NDArray[np.int64], images: NDArray[np.int64], ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the indices that sort a kernel's contacts by ids, then by image."""
    first, second, *_ = rows.T
    order: NDArray[np.int64] = np.lexsort([images, ids[second], ids[first]])
    return order
