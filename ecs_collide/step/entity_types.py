"""The entities that have the component types that handlers name.

esper keeps a set of entities for each component type.  `look` compares these sets with its own
ones, for the entities that the log of the world names, and gives the differences to the kernel
`TypeMarks`.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.esper_world import World
from ecs_collide.step.registrations import Kinds
from ecs_collide.sync.registry import BodyRegistry

Indices = NDArray[np.int64] | slice
Wanted = NDArray[np.int64] | None

_LAST_MARK = 1 << 62  # shared by all types beyond the 62nd; `order_of` decides
_NO_ID = 1 << 63
_NONE = np.zeros(0, np.int64)


class EntityTypes:
    """The entities that have each of some component types, as of the last `look`."""

    def __init__(self) -> None:
        self._kernels = backend.kernels
        self._having: dict[type, set[int]] = {}
        self._start_over()

    def _start_over(self) -> None:
        self._having.clear()
        self._mark_of: dict[type, int] = {}
        self._marks = self._kernels.type_marks.TypeMarks()
        self._wanted: dict[tuple[Kinds, ...], Wanted] = {}  # see `wanted`
        self._seen: Any = None  # of the world at the last `look`

    def follow(self, kinds: Collection[type]) -> None:
        """Follow these types from the next `look` on, and no others."""
        if not self._having.keys() <= set(kinds):
            self._start_over()
        self._wanted.clear()
        for kind in kinds:
            if kind not in self._having:
                self._mark_of[kind] = min(1 << len(self._having), _LAST_MARK)
                self._having[kind] = set()
                self._seen = None

    def look(self, world: World, keeps_deleted: bool) -> None:
        """Update the known sets from the world.

        Parameters
        ----------
        keeps_deleted : bool
            Whether entities that were deleted since the last `look` keep their types.
        """
        if not self._having or world.probe.is_as(self._seen):
            return
        seen = world.probe.look(self._having)
        noted = seen.find_noted(self._seen)
        some = None if noted is None else set(noted)
        for kind, known in self._having.items():
            now = world.having(kind)
            if some is None:
                gained, lost = now - known, known - now
            else:
                gained, lost = (now & some) - known, (known & some) - now
            if keeps_deleted and lost:
                left = {entity for entity in lost if world.exists(entity)}
                if len(left) < len(lost):
                    lost, seen = left, self._seen  # the next `look` removes the others
            if gained or lost:
                self._mark(kind, gained, lost)
        if seen is not self._seen:
            seen.keep([])
        self._seen = seen

    def _mark(self, kind: type, gained: Set[int], lost: Set[int]) -> None:
        mark, known = self._mark_of[kind], self._having[kind]
        self._wanted.clear()
        known |= gained
        known -= lost
        if gained:
            self._marks.add(_ids(gained), mark)
        if lost and mark != _LAST_MARK:
            self._marks.remove(_ids(lost), mark)

    def order_of(self, first: int, second: int, kinds: Kinds) -> int | None:
        """Return how to order two entities so that the first has the first type: 1 swaps them.

        0 keeps the order, even if both orders match; None if neither does.
        """
        one, other = (None if kind is None else self._having[kind] for kind in kinds)
        return order_of(first, second, one, other)

    def wanted(self, all_kinds: tuple[Kinds, ...]) -> Wanted:
        """Return the marks of pairs of types, int64 (k, 2), without types that no entity has.

        None if one of the pairs stands for all bodies.
        """
        if all_kinds not in self._wanted:
            self._wanted[all_kinds] = None
            if (None, None) not in all_kinds:
                marks = [
                    [0 if kind is None else self._mark_of[kind] for kind in kinds]
                    for kinds in all_kinds
                    if all(kind is None or self._having[kind] for kind in kinds)
                ]
                self._wanted[all_kinds] = np.array(marks, np.int64).reshape(-1, 2)
        return self._wanted[all_kinds]

    def select(self, array: NDArray[np.void], wanted: Wanted) -> Indices:
        """Return which events of an array are between bodies of wanted types."""
        if wanted is None:
            return slice(None)
        if not (len(wanted) and len(array)):
            return _NONE
        # Copies, because the fields of events are not aligned to 8 bytes.
        first, second = (array[name].astype(np.int64) for name in ("first", "second"))
        found = self._marks.select(first.data, second.data, wanted.data)
        return np.array(found, np.int64)

    def select_contacts(self, contacts: Any, registry: BodyRegistry, wanted: Wanted) -> Indices:
        """Return which of a kernel's contacts are between bodies of wanted types."""
        if wanted is None:
            return slice(None)
        if not (len(wanted) and contacts.rows.n):
            return _NONE
        ids = registry.table.ids
        found = self._marks.select_contacts(contacts.rows, ids.data, wanted.data)
        return np.array(found, np.int64)


def _ids(entities: Set[int]) -> Any:
    """Return entities as an int64 array, without ids that no entity can have."""
    ids = [each for each in entities if type(each) is int and 0 <= each < _NO_ID]
    return np.array(ids, np.int64).data


def order_of(
    first: int, second: int, first_having: Set[int] | None, second_having: Set[int] | None
) -> int | None:
    """Return how to order two entities so that each is in its set; None stands for all entities.

    0 keeps the order, even if both orders match; 1 swaps them; None if neither matches.
    """
    for order, one, other in ((0, first, second), (1, second, first)):
        if (first_having is None or one in first_having) and (
            second_having is None or other in second_having
        ):
            return order
    return None
