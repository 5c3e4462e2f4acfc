cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.sweep_test_c cimport Sweeper

cdef enum:  # the first columns of `numbers`, those of `codes` after two ids, in impacts_into
    IMPACT_TIME = 0
    IMPACT_EXIT = 1
    CLOSING_SPEED = 2
    N_SCALARS = 3
    RANK = 2
    IMAGE = 3
    IMPACT_KIND = 4
    IMPACT_AXIS = 5
    IMPACT_SIGN = 6
    IMPACT_CROSSES = 7

cdef enum:  # how a pair touches: added to 1 + axis in Pair.touch
    KEEPS = 3
    OVERLAPS = 4
    PARTS = 8

cdef double rounding_of_faces(double speed, double growth, double shared) noexcept

cdef class SharedMotion:
    cdef double rounding(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept

@cython.final
cdef class Narrowphase:
    cdef SharedMotion shared
    cdef Bodies bodies
    cdef PairTable pairs
    cdef readonly ImpactQueue queue
    cdef public Sweeper sweeper
    cdef public double now
    cdef public long long n_sweeps
    cdef long long instant_tick
    cdef bint _misses(self, Py_ssize_t p) noexcept
    cdef void aim(self, Py_ssize_t p) noexcept
    cdef int solve(self, Py_ssize_t p) noexcept
    cdef bint _press(self, Py_ssize_t p) noexcept
    cdef void _drop_passable(self, Py_ssize_t p) noexcept
    cdef double closing_speed(self, Py_ssize_t p) noexcept
    cdef void note_side(self, Py_ssize_t p, int kind) noexcept
    cdef void sweep_solid(self) noexcept
    cdef void sweep_again(self, Py_ssize_t p) noexcept
    cdef int _touch_of(self, Py_ssize_t p) noexcept
    cdef bint _keeps_clear(self, Py_ssize_t p) noexcept
    cdef void _note_touch(self, Py_ssize_t p) noexcept
    cdef void sweep_at_rest(self, Py_ssize_t p) noexcept
    cdef void _settle(self, Py_ssize_t p, int k, Py_ssize_t one, Py_ssize_t two) noexcept
    cdef double _closing_of_faces(self, Py_ssize_t p, int k, double closing) noexcept
    cdef bint needs_no_sweep(self, Py_ssize_t p) noexcept
    cdef void sweep_closing(self, Py_ssize_t p) noexcept
    cdef void _sweep(self, Py_ssize_t p) noexcept
    cdef void _queue_impact(self, Py_ssize_t p) noexcept
    cdef void sweep_crossing(self, Py_ssize_t p, int kind) noexcept
    cdef bint _is_impact_now(self) noexcept
    cdef bint is_apart(self) noexcept
    cdef bint meets(self, Py_ssize_t p) noexcept
    cdef bint _may_close(self, Py_ssize_t p) noexcept
    cdef bint is_due(self, Py_ssize_t p) except? -1
    cdef bint waits(self, Py_ssize_t p) noexcept
