cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue

cdef double SOFT_DEPTH
cdef double COORDINATE_ROUNDING
cdef int APART
cdef int TOUCHING
cdef int PENETRATING
cdef int OVERLAPPING

cdef void place(Bodies b, Py_ssize_t i, Py_ssize_t j, int k, int sign, double t, double shift) noexcept

cdef int soft_overlap(Bodies b, Py_ssize_t i, Py_ssize_t j, double[:, ::1] offset, Py_ssize_t p) noexcept

@cython.final
cdef class PositionCorrection:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef ImpactQueue queue
    cdef long long[:, ::1] level
    cdef long long[::1] near
    cdef long long[::1] relations
    cdef signed char[::1] signs
    cdef signed char[::1] near_counts
    cdef bint is_current
    cdef bint any_immovable
    cdef bint any_plane
    cdef signed char[::1] is_moved
    cdef long long[::1] moved
    cdef Py_ssize_t n_moved
    cdef Py_ssize_t n_near_pairs
    cdef public int axis
    cdef public int sign
    cdef public int n_near
    cdef public double gap
    cdef int solid_placement(self, Py_ssize_t p) noexcept
    cdef int final_placement(self, Py_ssize_t p) noexcept
    cdef int relative_placement(self, Py_ssize_t p) noexcept
    cdef void correct(self) noexcept
    cdef void _part_planes(self) noexcept
    cdef bint is_plane(self, Py_ssize_t i, int k) noexcept
    cdef bint _find_near(self) noexcept
    cdef void _compare(self, Py_ssize_t p) noexcept
    cdef void _compare_all(self) noexcept
    cdef void _compare_moved(self) noexcept
    cdef void _note_moved(self, Py_ssize_t i) noexcept
    cdef void _find_levels(self) noexcept
    cdef void _begin_level(self, Py_ssize_t i) noexcept
    cdef void _spread_levels(self) noexcept
    cdef int make_room(self) except? -1
    cdef bint can_sink(self, Py_ssize_t p) noexcept
