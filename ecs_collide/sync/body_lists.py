"""The rows of bodies by what a step does with them.

Most steps meet no new body, and none that the game has put elsewhere.  `BodyLists.is_quiet` tells
whether there is anything to do for the registry besides reading and writing components.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, zeros
from ecs_collide._kernel.constants import Has, News
from ecs_collide.motion.bodies import Bodies

FEW: cython.Py_ssize_t = 64  # so many changes are kept apart from the arrays of all bodies

# What `BodyLists` lists a body as; 0 for one that is gone.
KNOWN = 1
WATCHED = 2
ATTACHED = 4


@cython.final
class RowOf:
    """The row of each body by its entity, like a dict; found in the order of the ids, in O(log n)."""

    ids: cython.longlong[::1]
    rows: cython.longlong[::1]
    # Changes that the arrays lack, by entity: its row, -1 for one that is gone.  Replaced, never
    # changed, as `Undo` holds it.
    recent: dict

    def __init__(self):
        self.ids = self.rows = zeros(LONG, 0)
        self.recent = {}

    @cython.ccall
    def find(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Return the row of an entity, -1 if it is no body."""
        place: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self.ids.shape[0]

        if self.recent:
            row = self.recent.get(id)
            if row is not None:
                return row
        if n and id > self.ids[n - 1]:  # as most new entities
            return -1
        while n > 1:  # the entity is not beyond the `n` places from `place` on
            half: cython.Py_ssize_t = n >> 1
            place += half if self.ids[place + half] <= id else 0
            n -= half
        return self.rows[place] if n and self.ids[place] == id else -1

    @cython.ccall
    def row(self, entity: Any) -> cython.Py_ssize_t:
        """Return the row of an entity, -1 for anything else."""
        try:
            return self.find(entity if type(entity) is int else index(entity))
        except (TypeError, OverflowError):
            return -1

    def rows_of(self, entities: list) -> NDArray[np.int64]:
        """Return the rows of entities, int64 (n,)."""
        found = np.empty(len(entities), LONG)
        rows: cython.longlong[::1] = found.data

        for n in range(rows.shape[0]):
            rows[n] = self.row(entities[n])
        return found

    def get(self, entity: Any, default: Any = None) -> Any:
        """Return the row of an entity, or `default`."""
        row: cython.Py_ssize_t = self.row(entity)
        return default if row < 0 else row

    def __getitem__(self, entity):
        row: cython.Py_ssize_t = self.row(entity)
        if row < 0:
            raise KeyError(entity)
        return row

    def __contains__(self, entity):
        return self.row(entity) >= 0


@cython.final
class BodyLists:
    """The rows of the bodies of one world.

    All arrays are in the order of the ids of their bodies.
    """

    bodies: Bodies
    n: ReadOnly[cython.Py_ssize_t]  # number of bodies
    all_entities: NDArray[np.int64]  # the entities that are bodies, without the recent changes
    all_rows: NDArray[np.int64]  # and their rows
    # Both with the recent changes, behind the changes and the rows that they were made of: a
    # thread that asks while another one steps then stores nothing that the step reads.
    merged: tuple
    row_of: ReadOnly[RowOf]
    watched: ReadOnly[cython.longlong[::1]]  # bodies that are neither fixed, disabled nor attached
    attached: ReadOnly[cython.longlong[::1]]  # attached boxes that are not disabled
    movers: Public[cython.longlong[::1]]  # bodies that each step reads, and that may move
    stills: Public[cython.longlong[::1]]  # bodies that each step reads, and that do not
    moving: Public[cython.longlong[::1]]  # by the present or the last step
    active: Public[cython.longlong[::1]]  # the same, and bodies that the game has moved or resized
    new: Public[cython.longlong[::1]]  # bodies in their first step
    touched_still: Public[cython.longlong[::1]]  # still bodies with a new place in the tree
    # What a step finds, besides the numbers in the components.
    newcomers: ReadOnly[dict]  # rows of new bodies since the last step, in order
    switched_off: ReadOnly[list]  # of bodies that became disabled, and are read once more
    unread: Public[NDArray[np.int64]]  # fixed bodies that the present step reads, int64 (n,)
    requested: ReadOnly[set[int]]  # rows of fixed bodies that the next step reads
    altered: ReadOnly[list]  # rows of bodies with other components since the last step
    disturbed: ReadOnly[list]  # rows whose contacts with sleepers may have changed
    stale: ReadOnly[list]  # arrays of rows whose tight boxes are out of date
    pressed: Public[
        NDArray[np.int64]
    ]  # bodies that stay asleep although the game has set a velocity
    brought_in: Public[list]  # still bodies that were beyond an edge of a world that wraps
    put: ReadOnly[set]  # rows of bodies that are teleported, not swept
    moves: Public[
        dict[int, list[float]]
    ]  # by row: where `Space.move` has put it since the last step
    # By entity: the number of consecutive steps in which the game has set its place or size.
    teleports: Public[dict]
    n_out: Public[cython.Py_ssize_t]  # number of bodies that the step skips
    is_reported: Public[cython.bint]  # whether a step has reported all changes of bodies
    # The start of the last step, for drawing between two steps; see `StepStart`.
    has_start: ReadOnly[cython.bint]  # whether a step has written the bodies
    written: ReadOnly[cython.longlong[::1]]  # the bodies that it has moved
    overwritten: ReadOnly[dict]  # by row: centres before responses
    relocated: ReadOnly[list]  # rows of bodies put elsewhere since
    all_centres: Public[object]  # by row; None until `StepStart.centres` is called

    def __init__(self, bodies: Bodies):
        none: Any = np.zeros(0, np.int64)

        self.bodies = bodies
        self.row_of = RowOf()
        self.all_entities = self.all_rows = self.unread = self.pressed = none
        self.brought_in = []
        self.merged = self.row_of.recent, none, none, none
        self.watched = self.attached = none.data
        self.movers = self.stills = self.moving = self.active = none.data
        self.new = self.touched_still = self.written = none.data
        self.newcomers = {}
        self.switched_off = []
        self.requested = set()
        self.altered = []
        self.disturbed = []
        self.stale = []
        self.put = set()
        self.moves = {}
        self.teleports = {}
        self.is_reported = True
        self.overwritten = {}
        self.relocated = []
        self.all_centres = None

    # -- structure --

    @property
    def entities(self) -> NDArray[np.int64]:
        """The entities that are bodies, by rising id, int64 (n,)."""
        return self._merge_recent()[2]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of all bodies, in the order of their ids, int64 (n,)."""
        return self._merge_recent()[3]

    @cython.ccall
    def saved(self) -> tuple:
        """Return what `set_bodies` takes to make the present bodies all bodies again."""
        return self.all_entities, self.all_rows, self.row_of.recent

    def set_bodies(self, entities, rows, recent=None) -> None:
        """Set the bodies, by rising id, and their rows; `recent` are changes as in `RowOf`."""
        self._set_all(entities, rows, recent or {})
        self.n = len(self.rows)

    def update(self, changes: list):
        """List bodies that came, changed or are gone: pairs of entity and row, by rising entity."""
        n_changes: cython.Py_ssize_t = len(changes)
        ids: cython.longlong[::1] = np.empty(n_changes, LONG).data
        rows: cython.longlong[::1] = np.empty(n_changes, LONG).data
        present: cython.longlong[::1] = np.empty(n_changes, LONG).data
        recent: dict = {}

        for n in range(n_changes):
            ids[n], rows[n] = changes[n]
            present[n] = rows[n] if self._kind_of(rows[n]) else -1
            before: cython.Py_ssize_t = self.row_of.find(ids[n])
            self.n += (present[n] >= 0) - (before >= 0)
            if present[n] != before:
                recent[ids[n]] = present[n]
        if len(recent) + len(self.row_of.recent) > FEW:
            entities, all_rows = _merged_all(self.entities, self.rows, ids, present)
            self._set_all(entities, all_rows, {})
        elif recent:
            self.row_of.recent = self.row_of.recent | recent
        self._list(ids, rows)

    def list_all(self) -> None:
        """List all bodies anew."""
        self.watched = self.watched[:0]
        self.attached = self.attached[:0]
        self._list(self.entities, self.rows)

    def _list(self, ids: cython.longlong[::1], rows: cython.longlong[::1]) -> cython.void:
        """List bodies by what they are now."""
        kinds: cython.schar[::1] = zeros(BYTE, rows.shape[0])
        keys: cython.longlong[::1] = self.bodies.ids

        for n in range(rows.shape[0]):
            kinds[n] = self._kind_of(rows[n])
        self.watched = _merged(self.watched, keys, True, ids, rows, kinds, WATCHED)
        self.attached = _merged(self.attached, keys, True, ids, rows, kinds, ATTACHED)
        self.part(self.watched)

    def _kind_of(self, i: cython.Py_ssize_t) -> cython.int:
        """Return as what a body is listed.  One that is gone has no cached component."""
        b: Bodies = self.bodies

        if b.n_cached[i] == 0:
            return 0
        if b.disabled[i]:
            return KNOWN
        if b.attached[i]:
            return KNOWN | ATTACHED
        return KNOWN if b.has[i] & Has.FIXED else KNOWN | WATCHED

    @cython.cfunc
    def _merge_recent(self) -> tuple:
        """Return `merged`, made anew if the bodies have changed."""
        of: RowOf = self.row_of
        recent: dict = of.recent
        found: tuple = self.merged
        rows: Any = self.all_rows

        if found[0] is not recent or found[1] is not rows:
            entities: Any = self.all_entities
            found = recent, rows, entities, rows
            if recent:
                changes: Any = np.array(sorted(recent.items()), LONG).T.copy()
                entities, rows_now = _merged_all(entities, rows, changes[0].data, changes[1].data)
                found = recent, rows, entities, rows_now
            self.merged = found
        return found

    def _set_all(self, entities: Any, rows: Any, recent: dict) -> cython.void:
        """Set all bodies at once, which no exception can split."""
        of: RowOf = self.row_of
        arrays = entities.data, rows.data
        (of.ids, of.rows), of.recent, self.all_entities, self.all_rows = (
            arrays, recent, entities, rows,
        )  # fmt: skip

    def part(self, watched: cython.longlong[::1]):
        """List the bodies to read that move, and the others."""
        moves: cython.schar[::1] = self.bodies.moves
        n_movers: cython.Py_ssize_t = 0
        n_stills: cython.Py_ssize_t = 0

        for n in range(watched.shape[0]):
            n_movers += moves[watched[n]] != 0
        movers: cython.longlong[::1] = watched
        stills: cython.longlong[::1] = watched
        if 0 < n_movers < watched.shape[0]:
            movers = np.empty(n_movers, LONG).data
            stills = np.empty(watched.shape[0] - n_movers, LONG).data
            n_movers = 0
            for n in range(watched.shape[0]):
                if moves[watched[n]]:
                    movers[n_movers] = watched[n]
                    n_movers += 1
                else:
                    stills[n_stills] = watched[n]
                    n_stills += 1
        self.movers = movers[:n_movers]
        self.stills = stills[: watched.shape[0] - n_movers]

    def is_quiet(self) -> cython.bint:
        """Return whether nothing was noted for the next step."""
        return not (
            self.n_out
            or self.newcomers
            or self.switched_off
            or self.requested
            or self.altered
            or self.disturbed
            or self.put
            or self.moves
            or self.teleports
            or len(self.unread)
        )

    def are_to_be_read(self) -> cython.bint:
        """Return whether the next step reads more bodies than `movers` and `stills`."""
        return len(self.requested) > 0 or len(self.switched_off) > 0 or len(self.unread) > 0

    def vectors_of(self, entities: list, velocities: cython.bint) -> object:
        """Return the seen centres or velocities of a few bodies, float64 (n, dim).

        None if one of the entities is new, or no body.
        """
        b: Bodies = self.bodies
        column: cython.double[:, ::1] = b.seen_velocity if velocities else b.seen_centre
        found = np.empty((len(entities), b.dim))
        vectors: cython.double[:, ::1] = found.data

        for n in range(len(entities)):
            entity = entities[n]
            i: cython.Py_ssize_t = self.row_of.row(entity) if type(entity) is int else -1
            if not 0 <= i < column.shape[0] or b.news[i] & News.NEW:
                return None
            for k in range(b.dim):
                vectors[n, k] = column[i, k]
        return found

    def list_new(self) -> None:
        """List the new bodies since the last step."""
        n: cython.Py_ssize_t
        new: cython.longlong[::1] = np.empty(len(self.newcomers), LONG).data

        for n, row in enumerate(self.newcomers):
            new[n] = row
        self.new = new

    def list_movers(self, boxes: cython.longlong[::1], n_boxes: cython.Py_ssize_t) -> cython.void:
        """List the moving bodies of a step that finds nothing but numbers to read.

        They are the movers and the first of `boxes`.
        """
        n_movers: cython.Py_ssize_t = self.movers.shape[0]
        moving: cython.longlong[::1] = self.movers

        if n_boxes:
            moving = np.empty(n_movers + n_boxes, LONG).data
            for n in range(n_movers):
                moving[n] = self.movers[n]
            for n in range(n_boxes):
                moving[n_movers + n] = boxes[n]
        self.moving = moving
        self.active = moving
        self.new = self.movers[:0]
        self.touched_still = self.movers[:0]

    # -- the start of the last step --

    @cython.ccall
    def forget_start(self) -> cython.void:
        """Forget the start of the last step: another one begins, or it was cut short."""
        self.has_start = False
        self.overwritten.clear()
        if self.relocated:
            self.relocated.clear()
        self.all_centres = None

    @cython.ccall
    def end_write(self, rows: cython.longlong[::1]) -> cython.void:
        """Note that the bodies of `rows` are written, and all changes of bodies are reported."""
        if self.bodies.any_touched:  # else a step would cost a byte for each body at rest
            np.asarray(self.bodies.touched)[:] = 0
            self.bodies.any_touched = False
        if len(self.unread):
            self.unread = self.unread[:0]
        self.is_reported = True
        self.written = rows
        self.has_start = True


@cython.cfunc
def _merged_all(
    entities: Any,
    all_rows: Any,
    ids: cython.longlong[::1],
    rows: cython.longlong[::1],
) -> tuple:
    """Return the entities and the rows of all bodies with changes; the row is -1 for one gone."""
    kinds: cython.schar[::1] = zeros(BYTE, rows.shape[0])

    for n in range(rows.shape[0]):
        kinds[n] = KNOWN if rows[n] >= 0 else 0
    return (
        np.asarray(_merged(entities, entities, False, ids, ids, kinds, KNOWN)),
        np.asarray(_merged(all_rows, entities, False, ids, rows, kinds, KNOWN)),
    )


@cython.cfunc
def _merged(
    old: cython.longlong[::1],
    keys: cython.longlong[::1],
    are_by_row: cython.bint,
    ids: cython.longlong[::1],
    values: cython.longlong[::1],
    kinds: cython.schar[::1],
    kind: cython.int,
) -> Any:
    """Return a list, in the order of ids, with changes: int64 (n,).

    Parameters
    ----------
    old : int64 (n_old,)
        The list before.
    keys : int64
        The ids of `old`, by row or by place.
    ids, values, kinds : (n_changes,)
        The changed ids, rising; the value of each, and bits that tell the lists that it is in.
    kind : int
        The bit of this list.
    """
    merged: cython.longlong[::1] = np.empty(old.shape[0] + ids.shape[0], LONG).data
    n: cython.Py_ssize_t = 0
    to: cython.Py_ssize_t = 0

    for c in range(ids.shape[0]):
        first: cython.Py_ssize_t = n  # the id is not before this place
        end: cython.Py_ssize_t = old.shape[0]  # and before this one
        while first < end:
            middle: cython.Py_ssize_t = (first + end) // 2
            if keys[old[middle] if are_by_row else middle] < ids[c]:
                first = middle + 1
            else:
                end = middle
        while n < first:
            merged[to] = old[n]
            n += 1
            to += 1
        if n < old.shape[0] and keys[old[n] if are_by_row else n] == ids[c]:
            n += 1
        if kinds[c] & kind:
            merged[to] = values[c]
            to += 1
    while n < old.shape[0]:
        merged[to] = old[n]
        n += 1
        to += 1
    return merged[:to]
