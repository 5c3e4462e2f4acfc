# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Who lies against whom: contacts, remembered from step to step."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._around_c import widths_of
    from cython.cimports.ecs_collide._kernels._bodies_c import Bodies
    from cython.cimports.ecs_collide._kernels._candidates_c import Candidates
    from cython.cimports.ecs_collide._kernels._log_c import AT_END, AT_START, BEGAN, ENDED, Log
    from cython.cimports.ecs_collide._kernels._pairs_c import Pairs
    from cython.cimports.ecs_collide._kernels._placement_c import APART, DEEP, SUNK, Settler
else:
    from ecs_collide._kernels._around import widths_of
    from ecs_collide._kernels._bodies import Bodies
    from ecs_collide._kernels._candidates import Candidates
    from ecs_collide._kernels._log import AT_END, AT_START, BEGAN, ENDED, Log
    from ecs_collide._kernels._pairs import Pairs
    from ecs_collide._kernels._placement import APART, DEEP, SUNK, Settler

from ecs_collide._bits import TOUCHED_BY_GAME
from ecs_collide._kernels._memory import BYTE, DOUBLE, LONG, grown, zeros

cython.declare(
    SOLID=cython.int,
    CROSSING=cython.int,
    PASSING=cython.int,
    LEAVING=cython.int,
    SEPARATED=cython.int,
    FILTER_CHANGED=cython.int,
    DROPPED=cython.int,
)

# Codes of events.ContactKind and events.END_REASONS.
SOLID = 0
CROSSING = 1
PASSING = 2  # one falls through the other; nobody is told of it
LEAVING = 3  # solid as yet, and with the next step one falls through the other
SEPARATED = 0
FILTER_CHANGED = 3
DROPPED = 7


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
    since : float64 (n or more,)
        When each began, in seconds of the space's time.
    clock : float
        The space's time at the start of the step, in seconds.
    pressed : int64 (n_pressed or more,)
        Rows of the bodies that lay against others at the step's start, where both yield.
    left : list of int
        Rows of bodies that sleep and have lost a contact, until somebody clears it.
    images : int64 (n or more,)
        In a world that wraps, by which image of the second body they touch; see `_around`.
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
        self.left = []
        self.n = self.n_pressed = 0
        self.pressed = zeros(LONG, 1)
        self.is_pressed = zeros(BYTE, 1)
        self.clock = 0.0
        self.rows = zeros(LONG, 16, 6)
        self.next_rows = zeros(LONG, 16, 6)
        self.since = zeros(DOUBLE, 16)
        self.next_since = zeros(DOUBLE, 16)
        self.images = zeros(LONG, 16)
        self.next_images = zeros(LONG, 16)

    @cython.ccall
    def find_pressed(self):
        """Find the bodies that lie against others, where both yield; see `pressed`."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        side: cython.int
        i: cython.Py_ssize_t

        if self.pressed.shape[0] < b.centre.shape[0]:
            self.pressed = zeros(LONG, b.centre.shape[0])
            self.is_pressed = zeros(BYTE, b.centre.shape[0])
        self.n_pressed = 0
        for n in range(self.n):
            if self.rows[n, 2] != SOLID or not b.yields[self.rows[n, 0]]:
                continue
            if not b.yields[self.rows[n, 1]]:
                continue
            for side in range(2):
                i = self.rows[n, side]
                if not self.is_pressed[i]:
                    self.is_pressed[i] = 1
                    self.pressed[self.n_pressed] = i
                    self.n_pressed += 1
        for n in range(self.n_pressed):
            self.is_pressed[self.pressed[n]] = 0

    @cython.cfunc
    def recall(self) -> cython.void:
        """Tell the pairs which of them are in contact since the step before."""
        n: cython.Py_ssize_t
        p: cython.Py_ssize_t

        kept: cython.Py_ssize_t = 0

        for n in range(self.n):
            if self.rows[n, 2] == LEAVING:
                self._tell_end(n, AT_START, 0.0, DROPPED)
                self.rows[n, 2] = PASSING
            if self.bodies.wraps:
                p = self.pairs.find_image(self.rows[n, 0], self.rows[n, 1], self.images[n])
            else:
                p = self.pairs.find(self.rows[n, 0], self.rows[n, 1])
            if p < 0 and not self.candidates.may_meet(self.rows[n, 0], self.rows[n, 1]):
                self._tell_end(n, AT_START, 0.0, FILTER_CHANGED)
                continue
            if p >= 0 and self._is_outdated(n, p):
                self._tell_end(n, AT_START, 0.0, FILTER_CHANGED)
                continue
            self._move(n, kept)
            if p >= 0:
                self.pairs.known[p] = 1
                self.pairs.memory[p] = kept
                if self.rows[kept, 2] == PASSING:
                    self.pairs.left_alone[p] = 2
                else:
                    self._anchor(p, self.rows[kept, 3])
            kept += 1
        self.n = kept

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_outdated(self, n: cython.Py_ssize_t, p: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the bodies of a contact now treat each other in another way."""
        if self.rows[n, 2] == PASSING:
            return self.pairs.crossing[p] or not self.bodies.traits.is_one_way(
                self.pairs.first[p], self.pairs.second[p]
            )
        return self.rows[n, 2] != self.pairs.crossing[p]

    @cython.cfunc
    def _tell_end(
        self,
        n: cython.Py_ssize_t,
        phase: cython.int,
        time: cython.double,
        reason: cython.int,
    ) -> cython.void:
        """Log that a contact ended, unless nobody was told that it began."""
        if self.bodies.wraps:
            self.log.image = self.images[n]
        if self.rows[n, 2] != PASSING:
            self.log.add_contact(
                ENDED, phase, time,
                self.bodies.ids[self.rows[n, 0]], self.bodies.ids[self.rows[n, 1]],
                self.rows[n, 3], self.rows[n, 4],
                SOLID if self.rows[n, 2] == LEAVING else self.rows[n, 2], reason,
            )  # fmt: skip

    @cython.cfunc
    @cython.exceptval(check=False)
    def _move(self, n: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Move a contact to an earlier place in the table."""
        k: cython.int

        if n != to:
            for k in range(6):
                self.rows[to, k] = self.rows[n, k]
            self.since[to] = self.since[n]
            if self.bodies.wraps:
                self.images[to] = self.images[n]

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
        axis: cython.int = 0
        sign: cython.int = 0
        began: cython.double
        since: cython.double

        self.n = 0
        for p in range(self.pairs.n):
            if self.pairs.clear[p] and not self.pairs.known[p]:
                continue
            if b.wraps:
                self.log.image = self.pairs.image[p]
            n = self.pairs.contact_of(p)
            i = self.pairs.first[p]
            j = self.pairs.second[p]
            if n >= 0:
                axis = self.rows[n, 3]
                sign = self.rows[n, 4]
                self.rows[n, 5] = 1
            began = self.pairs.began[p] if self.pairs.met[p] else -1.0
            if began < 0.0:
                began = 1.0
            since = self.since[n] if n >= 0 else self.clock + began * b.dt
            if self.pairs.gone[p]:
                if n >= 0:
                    self._keep(i, j, self.rows[n, 2], axis, sign, since)
                elif self.pairs.inside[p]:
                    self._keep(i, j, CROSSING, self.pairs.axis[p], self.pairs.sign[p], since)
                continue
            if self.pairs.left_alone[p] == 2:
                if self.settler.stand(p) != APART:
                    self._keep(i, j, PASSING, axis, sign, since)
                continue
            if self._is_contact(p):
                if n < 0 and not self.pairs.crossing[p]:
                    self.log.add_contact(
                        BEGAN, AT_END, began, b.ids[i], b.ids[j],
                        self.settler.axis, self.settler.sign, SOLID, -1,
                    )  # fmt: skip
                if not self.pairs.crossing[p]:
                    axis = self.settler.axis
                    sign = self.settler.sign
                elif n < 0:
                    axis = self.pairs.axis[p]
                    sign = self.pairs.sign[p]
                self._keep(i, j, self.pairs.crossing[p], axis, sign, since)
            elif n >= 0:
                self._tell_end(n, AT_END, 1.0, SEPARATED)
                self._leave(i, j)
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
            if b.wraps:
                self.log.image = self.images[n]
                self.candidates.around.take(self.images[n])
            if (
                b.moves[i] or b.moves[j] or (b.touched[i] | b.touched[j]) & TOUCHED_BY_GAME
            ) and not self.candidates.leaves_out(i, j):
                self._tell_end(n, AT_END, 1.0, SEPARATED)
                self._leave(i, j)
            else:
                self._keep(
                    i, j, self.rows[n, 2], self.rows[n, 3], self.rows[n, 4], self.since[n]
                )  # fmt: skip
        self.rows, self.next_rows = self.next_rows, self.rows
        self.since, self.next_since = self.next_since, self.since
        if b.wraps:
            self.images, self.next_images = self.next_images, self.images
            self.candidates.around.rest()

    @cython.cfunc
    def _leave(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Note who sleeps, held by the other body, when the contact of two has ended."""
        if self.bodies.held[i] and not self.bodies.yields[j]:
            self.left.append(i)
        if self.bodies.held[j] and not self.bodies.yields[i]:
            self.left.append(j)

    @cython.cfunc
    def _keep(
        self,
        first: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        crossing: cython.int,
        axis: cython.int,
        sign: cython.int,
        since: cython.double,
    ) -> cython.void:
        n: cython.Py_ssize_t = self.n

        if n == self.next_rows.shape[0]:
            self.next_rows = grown(self.next_rows, 2 * n)
            self.next_since = grown(self.next_since, 2 * n)
        self.next_since[n] = since
        self.next_rows[n, 0] = first
        self.next_rows[n, 1] = second
        self.next_rows[n, 2] = crossing
        self.next_rows[n, 3] = axis
        self.next_rows[n, 4] = sign
        self.next_rows[n, 5] = 0
        if self.bodies.wraps:
            if n == self.next_images.shape[0]:
                self.next_images = grown(self.next_images, 2 * n)
            self.next_images[n] = self.log.image
        self.n = n + 1

    def shift_images(self, shifts: cython.longlong[::1]):
        """Let the images follow bodies that were brought into the world.

        By row: the images by which they were off before.
        """
        n: cython.Py_ssize_t

        for n in range(self.n):
            self.images[n] += shifts[self.rows[n, 1]] - shifts[self.rows[n, 0]]

    def offsets_into(self, offsets: cython.double[:, ::1]):
        """Write for each contact how far off its second body is touched, float64 (n, dim)."""
        n: cython.Py_ssize_t
        k: cython.int

        if self.bodies.wraps:
            for n in range(self.n):
                for k in range(self.bodies.dim):
                    offsets[n, k] = widths_of(self.images[n], k) * self.bodies.width[k]

    def forget(self, row: cython.Py_ssize_t, reason: cython.int):
        """End all contacts of a body before a step, for `reason`."""
        n: cython.Py_ssize_t
        partner: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0

        for n in range(self.n):
            if self.rows[n, 0] == row or self.rows[n, 1] == row:
                self._tell_end(n, AT_START, 0.0, reason)
                partner = self.rows[n, 0] + self.rows[n, 1] - row
                if self.bodies.asleep[partner]:
                    self.left.append(partner)
            else:
                self._move(n, kept)
                kept += 1
        self.n = kept

    def drop(self, row: cython.Py_ssize_t, platform: cython.Py_ssize_t) -> int:
        """Let a body fall through one-way bodies that it lies on, from the next step on.

        Parameters
        ----------
        row, platform : int
            Rows; a platform of -1 stands for all of them.

        Returns
        -------
        int
            How many there are.
        """
        n: cython.Py_ssize_t
        other: cython.Py_ssize_t
        side: cython.int
        dropped: cython.Py_ssize_t = 0

        for n in range(self.n):
            if row not in (self.rows[n, 0], self.rows[n, 1]):
                continue
            if self.rows[n, 2] != SOLID and self.rows[n, 2] != LEAVING:
                continue
            other = self.rows[n, 0] + self.rows[n, 1] - row
            if platform >= 0 and other != platform:
                continue
            side = (self.rows[n, 3] + 1) * self.rows[n, 4]  # of the second; the first has the other
            if self.bodies.traits.one_way[other] != (side if self.rows[n, 1] == other else -side):
                continue
            self.rows[n, 2] = LEAVING
            dropped += 1
        return dropped

    def recover_images(self, images: cython.longlong[::1]):
        """Take the images of the contacts that are."""
        n: cython.Py_ssize_t

        self.images = grown(self.images, max(self.n, self.images.shape[0]))
        for n in range(self.n):
            self.images[n] = images[n]

    def recover(self, rows: cython.longlong[:, ::1], since: cython.double[::1]):
        """Take contacts for those that are, in place of what there was.

        Parameters
        ----------
        rows : int64 (n, 5)
            first, second (rows), kind, axis, sign.
        since : float64 (n,)
            When each began.
        """
        n: cython.Py_ssize_t
        k: cython.int

        self.n = rows.shape[0]
        if self.n > self.rows.shape[0]:
            self.rows = grown(self.rows, self.n)
            self.since = grown(self.since, self.n)
        for n in range(self.n):
            self.since[n] = since[n]
            for k in range(5):
                self.rows[n, k] = rows[n, k]
            self.rows[n, 5] = 0
