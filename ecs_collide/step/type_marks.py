"""Marks on entities for each component type that a handler names.

Handlers that name component types want few of the events of a step.  Their rows of the event
arrays are selected here by the entity ids, and event objects are created for these rows only.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import LONG, grown, zeros
from ecs_collide.broadphase.id_map import IdMap
from ecs_collide.narrowphase.contacts_between_steps import ContactRows


@cython.final
class TypeMarks:
    """The marks of entities, bits of an int64; an entity without marks costs nothing."""

    entities: IdMap
    marks: cython.longlong[::1]  # by the row of an entity in `entities`

    def __init__(self):
        self.entities = IdMap(8)
        self.marks = zeros(LONG, self.entities.room)

    def add(self, entities: cython.longlong[::1], mark: cython.longlong):
        """Add a mark to entities."""
        self.entities.reserve(entities.shape[0])
        if self.marks.shape[0] < self.entities.ids.shape[0]:
            self.marks = grown(self.marks, self.entities.ids.shape[0])
        for n in range(entities.shape[0]):
            row: cython.Py_ssize_t = self.entities.find(entities[n])
            if row < 0:
                row = self.entities.add(entities[n])
                self.marks[row] = 0
            self.marks[row] |= mark

    def remove(self, entities: cython.longlong[::1], mark: cython.longlong):
        """Remove a mark from entities."""
        for n in range(entities.shape[0]):
            row: cython.Py_ssize_t = self.entities.find(entities[n])
            if row >= 0:
                self.marks[row] &= ~mark
                if self.marks[row] == 0:
                    self.entities.remove(entities[n])

    def select(
        self,
        first: cython.longlong[::1],
        second: cython.longlong[::1],
        wanted: cython.longlong[:, ::1],
    ) -> list:
        """Return the indices of the pairs of entities whose marks are wanted, in rising order.

        Parameters
        ----------
        first, second : int64 (n,)
            The entities.
        wanted : int64 (k, 2)
            The marks that the two entities of a pair need, in either order.
        """
        found: list = []

        for n in range(first.shape[0]):
            if _are_wanted(self._marks_of(first[n]), self._marks_of(second[n]), wanted):
                found.append(n)
        return found

    def select_contacts(
        self,
        contacts: ContactRows,
        ids: cython.longlong[::1],
        wanted: cython.longlong[:, ::1],
    ) -> list:
        """Return the indices of contacts between bodies with wanted marks, as `select` does.

        Parameters
        ----------
        ids : int64 (n_rows,)
            The entity of each row.
        """
        found: list = []

        for n in range(contacts.n):
            one: cython.longlong = self._marks_of(ids[contacts.at[n].first])
            other: cython.longlong = self._marks_of(ids[contacts.at[n].second])
            if _are_wanted(one, other, wanted):
                found.append(n)
        return found

    def _marks_of(self, entity: cython.longlong) -> cython.longlong:
        """Return the marks of an entity."""
        row: cython.Py_ssize_t = self.entities.find(entity)

        return self.marks[row] if row >= 0 else 0


@cython.inline
def _are_wanted(
    one: cython.longlong, other: cython.longlong, wanted: cython.longlong[:, ::1]
) -> cython.bint:
    """Return whether two bodies have the marks of a row of `wanted`, in either order."""
    for k in range(wanted.shape[0]):
        first: cython.longlong = wanted[k, 0]
        second: cython.longlong = wanted[k, 1]
        if (one & first == first and other & second == second) or (
            other & first == first and one & second == second
        ):
            return True
    return False
