# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Who lies against whom: contacts, remembered from step to step."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._bodies_c import Bodies
    from cython.cimports.ecs_collide._kernels._candidates_c import Candidates
    from cython.cimports.ecs_collide._kernels._log_c import AT_END, AT_START, BEGAN, ENDED, Log
    from cython.cimports.ecs_collide._kernels._pairs_c import Pairs
    from cython.cimports.ecs_collide._kernels._placement_c import APART, DEEP, SUNK, Settler
else:
    from ecs_collide._kernels._bodies import Bodies
    from ecs_collide._kernels._candidates import Candidates
    from ecs_collide._kernels._log import AT_END, AT_START, BEGAN, ENDED, Log
    from ecs_collide._kernels._pairs import Pairs
    from ecs_collide._kernels._placement import APART, DEEP, SUNK, Settler

from ecs_collide._kernels._memory import LONG, grown, zeros

cython.declare(SOLID=cython.int, CROSSING=cython.int, SEPARATED=cython.int)

# Codes of events.ContactKind and events.END_REASONS.
SOLID = 0
CROSSING = 1
SEPARATED = 0


@cython.final
@cython.cclass
class Contacts:
    """The contacts of a space.

    Attributes
    ----------
    n : int
    rows : int64 (n or more, 5)
        first, second (rows), kind, axis, sign, and during a step 1 once the
        contact has been dealt with.
    """

    def __init__(
        self,
        bodies: Bodies,
        pairs: Pairs,
        candidates: Candidates,
        settler: Settler,
        log: Log,
    ):
        self.bodies = bodies
        self.pairs = pairs
        self.candidates = candidates
        self.settler = settler
        self.log = log
        self.n = 0
        self.rows = zeros(LONG, 16, 6)
        self.next_rows = zeros(LONG, 16, 6)

    @cython.cfunc
    def recall(self) -> cython.void:
        """Tell the pairs which of them are in contact since the step before."""
        n: cython.Py_ssize_t
        p: cython.Py_ssize_t

        for n in range(self.n):
            p = self.pairs.find(self.rows[n, 0], self.rows[n, 1])
            if p >= 0:
                self.pairs.known[p] = 1
                self.pairs.memory[p] = n
                self._anchor(p, self.rows[n, 3])

    @cython.cfunc
    def _anchor(self, p: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Anchor what goes along with an immovable body that it lies against."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.first[p]
        j: cython.Py_ssize_t = self.pairs.second[p]

        if self.pairs.crossing[p] or b.velocity[i, k] != b.velocity[j, k]:
            return
        if not b.yields[j]:
            b.anchor(i, j, k, 0.0)
        elif not b.yields[i]:
            b.anchor(j, i, k, 0.0)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_contact(self, p: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a pair is in contact at the end of the step; set the settler's side."""
        relation: cython.int
        k: cython.int
        closing: cython.double

        if not self.pairs.crossing[p]:
            if self.pairs.clear[p]:
                return False
            relation = self.settler.relate(p)
            return relation != APART and (relation != SUNK or self.settler.n_near == 1)
        if not self.pairs.inside[p]:
            return False
        relation = self.settler.relate(p)
        k = self.settler.axis
        if relation == DEEP or self.settler.gap < 0.0:
            return True
        # Entered in the last instant, or about to leave?
        closing = self.bodies.motion_of(self.pairs.second[p], k)
        closing = (closing - self.bodies.motion_of(self.pairs.first[p], k)) * self.settler.sign
        return closing > 0.0

    @cython.cfunc
    def compare(self) -> cython.void:
        """Find the contacts that began and ended, and remember those that are."""
        b: Bodies = self.bodies
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        n_before: cython.Py_ssize_t = self.n
        axis: cython.int
        sign: cython.int
        began: cython.double

        self.n = 0
        for p in range(self.pairs.n):
            if self.pairs.clear[p] and not self.pairs.known[p]:
                continue
            n = self.pairs.contact_of(p)
            i = self.pairs.first[p]
            j = self.pairs.second[p]
            if n >= 0:
                axis = self.rows[n, 3]
                sign = self.rows[n, 4]
                self.rows[n, 5] = 1
            if self.pairs.gone[p]:
                if n >= 0:
                    self._keep(i, j, self.rows[n, 2], axis, sign)
                elif self.pairs.inside[p]:
                    self._keep(i, j, CROSSING, self.pairs.axis[p], self.pairs.sign[p])
                continue
            if self._is_contact(p):
                if n < 0 and not self.pairs.crossing[p]:
                    began = self.pairs.began[p] if self.pairs.met[p] else -1.0
                    self.log.add_contact(
                        BEGAN, AT_END, began if began >= 0.0 else 1.0, b.ids[i], b.ids[j],
                        self.settler.axis, self.settler.sign, SOLID, -1,
                    )  # fmt: skip
                if not self.pairs.crossing[p]:
                    axis = self.settler.axis
                    sign = self.settler.sign
                elif n < 0:
                    axis = self.pairs.axis[p]
                    sign = self.pairs.sign[p]
                self._keep(i, j, self.pairs.crossing[p], axis, sign)
            elif n >= 0:
                self.log.add_contact(
                    ENDED, AT_END, 1.0, b.ids[i], b.ids[j], axis, sign,
                    self.rows[n, 2], SEPARATED,
                )  # fmt: skip
            elif self.pairs.inside[p]:
                self.log.add_contact(
                    ENDED, AT_END, 1.0, b.ids[i], b.ids[j], self.pairs.axis[p],
                    self.pairs.sign[p], CROSSING, SEPARATED,
                )  # fmt: skip
        for n in range(n_before):
            if self.rows[n, 5]:
                continue
            i = self.rows[n, 0]
            j = self.rows[n, 1]
            axis = self.rows[n, 3]
            sign = self.rows[n, 4]
            if (
                b.moves[i] or b.moves[j] or b.touched[i] or b.touched[j]
            ) and not self.candidates.leaves_out(i, j):
                self.log.add_contact(
                    ENDED, AT_END, 1.0, b.ids[i], b.ids[j], axis, sign,
                    self.rows[n, 2], SEPARATED,
                )  # fmt: skip
            else:
                self._keep(i, j, self.rows[n, 2], axis, sign)
        self.rows, self.next_rows = self.next_rows, self.rows

    @cython.cfunc
    def _keep(
        self,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        crossing: cython.int,
        axis: cython.int,
        sign: cython.int,
    ) -> cython.void:
        n: cython.Py_ssize_t = self.n

        if n == self.next_rows.shape[0]:
            self.next_rows = grown(self.next_rows, 2 * n)
        self.next_rows[n, 0] = first
        self.next_rows[n, 1] = second
        self.next_rows[n, 2] = crossing
        self.next_rows[n, 3] = axis
        self.next_rows[n, 4] = sign
        self.next_rows[n, 5] = 0
        self.n = n + 1

    def forget(self, row: cython.Py_ssize_t, reason: cython.int):
        """End all contacts of a body before a step, for `reason`."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        k: cython.int
        kept: cython.Py_ssize_t = 0

        for n in range(self.n):
            if self.rows[n, 0] == row or self.rows[n, 1] == row:
                self.log.add_contact(
                    ENDED, AT_START, 0.0, b.ids[self.rows[n, 0]], b.ids[self.rows[n, 1]],
                    self.rows[n, 3], self.rows[n, 4], self.rows[n, 2], reason,
                )  # fmt: skip
            else:
                for k in range(6):
                    self.rows[kept, k] = self.rows[n, k]
                kept += 1
        self.n = kept

    def recover(self, rows: cython.longlong[:, ::1]):
        """Take contacts for those that are, in place of what there was.

        Parameters
        ----------
        rows : int64 (n, 5)
            first, second (rows), kind, axis, sign.
        """
        n: cython.Py_ssize_t
        k: cython.int

        self.n = rows.shape[0]
        if self.n > self.rows.shape[0]:
            self.rows = grown(self.rows, self.n)
        for n in range(self.n):
            for k in range(5):
                self.rows[n, k] = rows[n, k]
            self.rows[n, 5] = 0
