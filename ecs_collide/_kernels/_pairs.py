# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The candidate pairs of a step, and for each body the list of its own."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

from ecs_collide._kernels._memory import BYTE, DOUBLE, LONG, grown, zeros


@cython.cclass
class Pairs:
    """Columns of pairs; `first` has the lower entity id.

    Attributes
    ----------
    crossing : 1 where neither body yields to the other, or one is a sensor.
    inside : 1 while the insides of a crossing pair overlap.
    memory : the contact that the pair had at the step's start, or -1.
    left_alone : 1 once crushed: no more impacts in this step.
    gone : 1 once a response has deleted one of the bodies.
    stale : 1 where a velocity changed at the instant for which it is queued.
    kind, axis, sign, exit, speed : of the queued impact.
    answers, repeats, answered_at : how often, and when last, it was answered.
    began : time of the first impact of the step, or -1.
    """

    def __init__(self):
        self.n = 0
        self.capacity = 16
        self.stamp = 0
        self.first = zeros(LONG, 16)
        self.second = zeros(LONG, 16)
        self.next_of_first = zeros(LONG, 16)
        self.next_of_second = zeros(LONG, 16)
        self.memory = zeros(LONG, 16)
        self.answers = zeros(LONG, 16)
        self.repeats = zeros(LONG, 16)
        self.crossing = zeros(BYTE, 16)
        self.inside = zeros(BYTE, 16)
        self.left_alone = zeros(BYTE, 16)
        self.gone = zeros(BYTE, 16)
        self.stale = zeros(BYTE, 16)
        self.kind = zeros(BYTE, 16)
        self.axis = zeros(BYTE, 16)
        self.sign = zeros(BYTE, 16)
        self.exit = zeros(DOUBLE, 16)
        self.speed = zeros(DOUBLE, 16)
        self.answered_at = zeros(DOUBLE, 16)
        self.began = zeros(DOUBLE, 16)
        self.head = zeros(LONG, 1)
        self.degree = zeros(LONG, 1)
        self.seen = zeros(LONG, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.head = grown(self.head, n_rows)
        self.degree = grown(self.degree, n_rows)
        self.seen = grown(self.seen, n_rows)

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_full(self) -> cython.bint:
        """Tell whether `grow` must come before the next `add`."""
        return self.n == self.capacity

    @cython.cfunc
    def grow(self) -> cython.void:
        """Double the room for pairs."""
        n: cython.Py_ssize_t = 2 * self.capacity

        self.first = grown(self.first, n)
        self.second = grown(self.second, n)
        self.next_of_first = grown(self.next_of_first, n)
        self.next_of_second = grown(self.next_of_second, n)
        self.memory = grown(self.memory, n)
        self.answers = grown(self.answers, n)
        self.repeats = grown(self.repeats, n)
        self.crossing = grown(self.crossing, n)
        self.inside = grown(self.inside, n)
        self.left_alone = grown(self.left_alone, n)
        self.gone = grown(self.gone, n)
        self.stale = grown(self.stale, n)
        self.kind = grown(self.kind, n)
        self.axis = grown(self.axis, n)
        self.sign = grown(self.sign, n)
        self.exit = grown(self.exit, n)
        self.speed = grown(self.speed, n)
        self.answered_at = grown(self.answered_at, n)
        self.began = grown(self.began, n)
        self.capacity = n

    @cython.cfunc
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Forget all pairs."""
        p: cython.Py_ssize_t

        for p in range(self.n):
            self.head[self.first[p]] = 0
            self.head[self.second[p]] = 0
            self.degree[self.first[p]] = 0
            self.degree[self.second[p]] = 0
        self.n = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def add(self, first: cython.Py_ssize_t, second: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Add a pair that is not there yet; return its number."""
        p: cython.Py_ssize_t = self.n

        self.n += 1
        self.first[p] = first
        self.second[p] = second
        self.next_of_first[p] = self.head[first]  # numbers count from 1; 0 ends a list
        self.next_of_second[p] = self.head[second]
        self.head[first] = p + 1
        self.head[second] = p + 1
        self.degree[first] += 1
        self.degree[second] += 1
        self.memory[p] = -1
        self.answers[p] = self.repeats[p] = 0
        self.crossing[p] = self.inside[p] = self.left_alone[p] = self.gone[p] = self.stale[p] = 0
        self.kind[p] = self.axis[p] = self.sign[p] = 0
        self.exit[p] = self.speed[p] = 0.0
        self.answered_at[p] = self.began[p] = -1.0
        return p

    @cython.cfunc
    @cython.exceptval(check=False)
    def head_of(self, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first pair in the list of a body, or -1."""
        return self.head[row] - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def next_of(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair after `pair` in the list of a body, or -1."""
        if self.first[pair] == row:
            return self.next_of_first[pair] - 1
        return self.next_of_second[pair] - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def partner(self, pair: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the other body of a pair."""
        return self.first[pair] + self.second[pair] - row

    @cython.cfunc
    @cython.exceptval(check=False)
    def find(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the pair of two bodies, or -1.  O(pairs of the body that has fewer)."""
        p: cython.Py_ssize_t
        swap: cython.Py_ssize_t

        if self.degree[other] < self.degree[one]:
            swap = one
            one = other
            other = swap
        p = self.head_of(one)
        while p >= 0 and self.partner(p, one) != other:
            p = self.next_of(p, one)
        return p

    @cython.cfunc
    @cython.exceptval(check=False)
    def mark_partners(self, row: cython.Py_ssize_t) -> cython.void:
        """Mark all bodies that have a pair with `row`, in place of those marked before."""
        p: cython.Py_ssize_t = self.head_of(row)

        self.stamp += 1
        while p >= 0:
            self.seen[self.partner(p, row)] = self.stamp
            p = self.next_of(p, row)

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_marked(self, row: cython.Py_ssize_t) -> cython.bint:
        """Tell whether `mark_partners` marked the body."""
        return self.seen[row] == self.stamp
