cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.broadphase_c cimport Broadphase
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.narrowphase.placement_c cimport PositionCorrection

@cython.final
cdef class Sleeping:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef Broadphase broadphase
    cdef Contacts contacts
    cdef PositionCorrection correction
    cdef Narrowphase narrowphase
    cdef Gravity gravity
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t n_leaning
    cdef long long n_islands
    cdef readonly Py_ssize_t n_resting
    cdef long long n_steps
    cdef bint is_indexed
    cdef long long[::1] beside
    cdef long long[::1] paired_in
    cdef long long[::1] reached
    cdef signed char[::1] is_reached
    cdef signed char[::1] is_waiting
    cdef long long[::1] parent
    cdef signed char[::1] is_pressed
    cdef long long[::1] head
    cdef long long[:, ::1] next
    cpdef forget(self, Py_ssize_t i)
    cdef int _anchored_axes(self, Py_ssize_t i) noexcept
    cdef void _stop(self, Py_ssize_t i)
    cdef Py_ssize_t _root(self, Py_ssize_t i) noexcept
    cdef bint _hangs(self, Py_ssize_t n) noexcept
    cdef _find_islands(self, long long[::1] rows)
    cdef list _held_among(self, list chosen)
    cdef _lean(self, list chosen)
    cdef void _spread_sides(self, long long first_island)
    cdef Py_ssize_t _hold_on(self, Py_ssize_t m, long long first_island, set inside, Py_ssize_t n_waiting) except -1
    cdef set _overlapping(self)
    cdef bint _overlap(self, Py_ssize_t n) noexcept
    cdef void _hold(self)
    cdef void wake_in_step(self, Py_ssize_t i)
    cdef void _add_pairs(self, Py_ssize_t i)
    cdef void _index(self)
    cdef void pair_penetrating(self)
    cdef Py_ssize_t _reach(self, Py_ssize_t i, Py_ssize_t n) noexcept
    cdef bint _needs_correction(self, Py_ssize_t p) noexcept
