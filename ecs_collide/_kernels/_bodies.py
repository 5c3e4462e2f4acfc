# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Bodies as columns, and where each is at a time within the step.

A body's centre and half sizes hold at its *base* time, a fraction of the step
at which it last changed its path; from there it travels in a straight line.
Velocities are in units per second; motions and resizes are what they come to
over the whole step and are never scaled by the time that remains.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

cython.declare(
    PUSH=cython.int,
    STOP=cython.int,
    REACH=cython.double,
)

# The response components that have a rule of their own; see responses.RESPONSE_CODES.
PUSH = 3
STOP = 4

REACH = 2.0**-40  # of the largest face: bounds reach further than any slop


@cython.cclass
class Bodies:
    """The columns of one space, bound to arrays that the space owns.

    Attributes
    ----------
    dim : int
        2 or 3.
    dt : float
        Length of the step in seconds.
    """

    def __init__(self, dim: cython.int):
        self.dim = dim
        self.dt = 0.0

    def bind(self, columns: object):
        """Look at the arrays of `columns` from now on; call it again when they are replaced."""
        self.ids = columns.ids
        self.centre = columns.centre
        self.half = columns.half
        self.velocity = columns.velocity
        self.growth = columns.growth
        self.motion = columns.motion
        self.resize = columns.resize
        self.base = columns.base
        self.mass = columns.mass
        self.restitution = columns.restitution
        self.response = columns.response
        self.moves = columns.moves
        self.touched = columns.touched
        self.custom = columns.custom
        self.yields = columns.yields
        self.sensor = columns.sensor
        self.gone = columns.gone
        self.earlier = columns.earlier
        self.turned_at = columns.turned_at
        self.anchored = columns.anchored
        self.anchor_velocity = columns.anchor_velocity
        self.swept_min = columns.swept_min
        self.swept_max = columns.swept_max

    def begin_step(self, rows: cython.longlong[::1], dt: cython.double):
        """Put the bodies of `rows` at the start of a step of `dt` seconds.

        A half size never goes below 0: where it would, its growth for this
        step is what brings it there exactly.
        """
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int
        change: cython.double

        self.dt = dt
        for n in range(rows.shape[0]):
            i = rows[n]
            self.base[i] = 0.0
            self.gone[i] = 0
            self.turned_at[i] = -1.0
            for k in range(self.dim):
                self.anchored[i, k] = -1.0
                self.motion[i, k] = self.velocity[i, k] * dt + 0.0
                change = self.growth[i, k] * dt + 0.0
                if self.half[i, k] + change < 0.0:
                    change = -self.half[i, k]
                    self.growth[i, k] = change / dt
                self.resize[i, k] = change
            self.find_swept_bounds(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def resizes(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Tell whether the body grows or shrinks on an axis in this step."""
        return self.resize[i, k] != 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def centre_at(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the centre on an axis at time `t`; exactly the stored one at the base time."""
        return self.centre[i, k] + self.motion[i, k] * (t - self.base[i])

    @cython.cfunc
    @cython.exceptval(check=False)
    def half_at(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the half size on an axis at time `t`."""
        return max(0.0, self.half[i, k] + self.resize[i, k] * (t - self.base[i]))

    @cython.cfunc
    @cython.exceptval(check=False)
    def advance(self, i: cython.Py_ssize_t, t: cython.double) -> cython.void:
        """Move a body along its path to time `t`, its new base."""
        k: cython.int

        if self.base[i] == t:
            return
        for k in range(self.dim):
            self.centre[i, k] = self.centre_at(i, k, t) + 0.0
            self.half[i, k] = self.half_at(i, k, t)
        self.base[i] = t

    @cython.cfunc
    @cython.exceptval(check=False)
    def set_velocity(
        self, i: cython.Py_ssize_t, k: cython.int, value: cython.double
    ) -> cython.void:
        """Give a body a new velocity on an axis from its base time on.

        `earlier` keeps what it had before the first change of that instant.
        """
        axis: cython.int

        if self.turned_at[i] != self.base[i]:
            self.turned_at[i] = self.base[i]
            for axis in range(self.dim):
                self.earlier[i, axis] = self.velocity[i, axis]
        self.velocity[i, k] = value + 0.0
        self.motion[i, k] = value * self.dt + 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_anchored(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.bint:
        """Tell whether a body may not be moved on an axis to make its faces meet another's.

        So are immovable ones, what was snapped to an anchored one at this time
        `t`, and what has kept that one's velocity since.
        """
        return (
            not self.yields[i]
            or self.anchored[i, k] == t
            or (self.anchored[i, k] >= 0.0 and self.velocity[i, k] == self.anchor_velocity[i, k])
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def anchor(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, t: cython.double
    ) -> cython.void:
        """Note that a body lies against an anchored one on an axis."""
        self.anchored[i, k] = t
        self.anchor_velocity[i, k] = self.velocity[j, k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def find_swept_bounds(self, i: cython.Py_ssize_t) -> cython.void:
        """Find bounds of the body's path from its base time to the end of the step."""
        k: cython.int
        low: cython.double
        high: cython.double
        low_end: cython.double
        high_end: cython.double
        reach: cython.double
        rest: cython.double = 1.0 - self.base[i]

        for k in range(self.dim):
            low = self.centre[i, k] - self.half[i, k]
            high = self.centre[i, k] + self.half[i, k]
            low_end = low + (self.motion[i, k] - self.resize[i, k]) * rest
            high_end = high + (self.motion[i, k] + self.resize[i, k]) * rest
            low = min(low, low_end)
            high = max(high, high_end)
            reach = REACH * max(abs(low), abs(high))
            self.swept_min[i, k] = low - reach
            self.swept_max[i, k] = high + reach
