"""The rows of bodies by what a step does with them.

Most steps meet no new body, and none that the game has put elsewhere.  `BodyLists.is_quiet` tells
whether there is anything to do for the registry besides reading and writing components.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, LONG, zeros
from ecs_collide._kernel.constants import Has, News
from ecs_collide.motion.bodies import Bodies

NO_ID: cython.longlong = 2**63 - 1  # above all entities

# What `BodyLists` lists a body as.
UNFIXED = 1
WATCHED = 2
ATTACHED = 4


@cython.final
class RowOf:
    """The row of each body by its entity, like a dict; found in the order of the ids, in O(log n)."""

    ids: cython.longlong[::1]
    rows: cython.longlong[::1]

    def __init__(self):
        self.ids = self.rows = zeros(LONG, 0)

    @cython.ccall
    def find(self, id: cython.longlong) -> cython.Py_ssize_t:
        """Return the row of an entity, -1 if it is no body."""
        place: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self.ids.shape[0]

        if n and id > self.ids[n - 1]:  # as most new entities
            return -1
        if not cython.compiled:
            place, n = max(bisect_right(self.ids, id) - 1, 0), min(n, 1)
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

    def get(self, entity, default=None):
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
    entities: ReadOnly[NDArray[np.int64]]  # the entities that are bodies, int64 (n,)
    rows: ReadOnly[NDArray[np.int64]]  # and their rows, int64 (n,)
    row_of: ReadOnly[RowOf]
    movers: Public[cython.longlong[::1]]  # bodies that each step reads, and that may move
    stills: Public[cython.longlong[::1]]  # bodies that each step reads, and that do not
    moving: Public[cython.longlong[::1]]  # by the present or the last step
    active: Public[cython.longlong[::1]]  # the same, and bodies that the game has moved or resized
    new: Public[cython.longlong[::1]]  # bodies in their first step
    touched_still: Public[cython.longlong[::1]]  # still bodies with a new place in the tree
    unfixed: Public[cython.longlong[::1]]  # all bodies that are not fixed
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
        self.entities = self.rows = self.unread = self.pressed = none
        self.movers = self.stills = self.moving = self.active = none.data
        self.new = self.touched_still = self.unfixed = self.written = none.data
        self.newcomers = {}
        self.switched_off = []
        self.requested = set()
        self.altered = []
        self.disturbed = []
        self.stale = []
        self.put = set()
        self.moves = {}
        self.teleports = {}
        self.n_out = 0
        self.is_reported = True
        self.has_start = False
        self.overwritten = {}
        self.relocated = []
        self.all_centres = None

    # -- structure --

    def set_bodies(self, entities, rows):
        """Set the bodies, by rising id, and their rows."""
        self.row_of.ids, self.row_of.rows = entities.data, rows.data
        self.entities, self.rows = entities, rows

    def update_order(
        self,
        newcomers: list,
        new_rows: cython.longlong[::1],
        gone: list,
    ):
        """Add and remove bodies, each by rising id; all of `gone` are bodies."""
        ids: cython.longlong[::1] = self.entities
        rows: cython.longlong[::1] = self.rows
        n_ids: cython.Py_ssize_t = ids.shape[0]
        entities = np.empty(n_ids - len(gone) + len(newcomers), LONG)
        to_ids: cython.longlong[::1] = entities.data
        to_rows: cython.longlong[::1] = np.empty_like(entities).data
        n: cython.Py_ssize_t = 0
        n_gone: cython.Py_ssize_t = 0
        n_new: cython.Py_ssize_t = 0
        to: cython.Py_ssize_t = 0

        while True:
            left: cython.longlong = gone[n_gone] if n_gone < len(gone) else NO_ID
            came: cython.longlong = newcomers[n_new] if n_new < len(newcomers) else NO_ID
            next_change: cython.longlong = left if left < came else came
            while n < n_ids and ids[n] < next_change:
                to_ids[to] = ids[n]
                to_rows[to] = rows[n]
                n += 1
                to += 1
            if n < n_ids and ids[n] == left:
                n += 1
                n_gone += 1
            elif came != NO_ID:
                to_ids[to] = came
                to_rows[to] = new_rows[n_new]
                n_new += 1
                to += 1
            else:
                break
        self.set_bodies(entities, np.asarray(to_rows))

    def find_watched(self) -> tuple:
        """Return the rows of bodies that steps read, and of attached boxes; list the unfixed ones.

        Steps read bodies that are neither fixed nor disabled nor attached.
        """
        has: cython.schar[::1] = self.bodies.has
        disabled: cython.schar[::1] = self.bodies.disabled
        attached: cython.schar[::1] = self.bodies.attached
        rows: cython.longlong[::1] = self.rows
        marks: cython.int = 0
        kind: cython.int
        n_unfixed: cython.Py_ssize_t = 0
        n_watched: cython.Py_ssize_t = 0
        n_attached: cython.Py_ssize_t = 0

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            marks |= has[i] & Has.FIXED | disabled[i] | attached[i]
        if not marks:
            self.unfixed = rows
            return rows, rows[:0]
        kinds: cython.schar[::1] = zeros(BYTE, rows.shape[0])
        for n in range(rows.shape[0]):
            i = rows[n]
            kind = 0
            if not has[i] & Has.FIXED:
                kind = UNFIXED if disabled[i] or attached[i] else UNFIXED | WATCHED
            if attached[i] and not disabled[i]:
                kind |= ATTACHED
            kinds[n] = kind
            n_unfixed += (kind & UNFIXED) != 0
            n_watched += (kind & WATCHED) != 0
            n_attached += (kind & ATTACHED) != 0
        self.unfixed = self._chosen(rows, kinds, UNFIXED, n_unfixed)
        return (
            self._chosen(rows, kinds, WATCHED, n_watched),
            self._chosen(rows, kinds, ATTACHED, n_attached),
        )

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

    @cython.cfunc
    def _chosen(
        self,
        rows: cython.longlong[::1],
        kinds: cython.schar[::1],
        kind: cython.int,
        n_chosen: cython.Py_ssize_t,
    ) -> object:
        """Return the `n_chosen` rows of one of some kinds: the same array if these are all."""
        to: cython.Py_ssize_t = 0

        if n_chosen == rows.shape[0]:
            return rows
        chosen: cython.longlong[::1] = np.empty(n_chosen, np.int64).data
        for n in range(rows.shape[0] if n_chosen else 0):
            if kinds[n] & kind:
                chosen[to] = rows[n]
                to += 1
        return chosen

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

    def list_movers(self) -> cython.void:
        """List the moving bodies of a step that finds nothing but numbers to read."""
        self.moving = self.movers
        self.active = self.movers
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
        if cython.compiled:
            self.bodies.touched[:] = 0
        else:
            np.asarray(self.bodies.touched)[:] = 0
        if len(self.unread):
            self.unread = self.unread[:0]
        self.is_reported = True
        self.written = rows
        self.has_start = True
