cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.sweep_test_c cimport Sweeper

@cython.final
cdef class Narrowphase:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef PairTable pairs
    cdef readonly ImpactQueue queue
    cdef public Sweeper sweeper
    cdef public double now
    cdef public long long n_sweeps
    cdef long long instant_tick
    cdef bint _misses(self, Py_ssize_t p) noexcept
    cdef void aim(self, Py_ssize_t p) noexcept
    cdef int solve(self, Py_ssize_t p) noexcept
    cdef void _drop_passable(self, Py_ssize_t p) noexcept
    cdef double closing_speed(self, Py_ssize_t p) noexcept
    cdef void note_side(self, Py_ssize_t p, int kind) noexcept
    cdef void sweep_solid(self)
    cdef void sweep_again(self, Py_ssize_t p)
    cdef int _touch_of(self, Py_ssize_t p) noexcept
    cdef bint _keeps_clear(self, Py_ssize_t p) noexcept
    cdef void _note_touch(self, Py_ssize_t p) noexcept
    cdef void sweep_at_rest(self, Py_ssize_t p) noexcept
    cdef void find_closing(self)
    cdef bint _find_closing_of(self, Py_ssize_t i, int axis, Py_ssize_t root) noexcept
    cdef double _shift_rounding(self, Py_ssize_t p, int k) noexcept
    cdef void _settle(self, Py_ssize_t p, int k, Py_ssize_t one, Py_ssize_t two) noexcept
    cdef double _closing_of_faces(self, Py_ssize_t p, int k, double closing) noexcept
    cdef double _closing_speed_of(self, Py_ssize_t p, int k, int sign) noexcept
    cdef bint _needs_no_sweep(self, Py_ssize_t p) noexcept
    cdef void _sweep_closing(self, Py_ssize_t p) noexcept
    cdef void _sweep(self, Py_ssize_t p) noexcept
    cdef void _queue_impact(self, Py_ssize_t p) noexcept
    cdef void sweep_crossing(self, Py_ssize_t p, int kind)
    cdef bint _is_impact_now(self) noexcept
    cdef bint meets(self, Py_ssize_t p) noexcept
    cdef bint _may_close(self, Py_ssize_t p) noexcept
    cdef bint is_due(self, Py_ssize_t p)
    cdef bint waits(self, Py_ssize_t p) noexcept
