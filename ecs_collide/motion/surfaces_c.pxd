cimport cython

from ecs_collide.motion.controls_c cimport Controls

cdef int ONE_WAY
cdef int CARRY
cdef int SEPARATES

cdef enum:
    CATEGORIES = 0
    MASK = 1
    GROUP = 2

@cython.final
cdef class Surfaces:
    cdef int dim
    cdef readonly Controls controls
    cdef readonly bint is_used
    cdef public bint any_carrier
    cdef public bint any_pusher
    cdef public bint any_separator
    cdef public bint any_damping
    cdef public bint any_owner
    cdef public long long[:, ::1] filters
    cdef public double[:, ::1] surface
    cdef public double[::1] friction
    cdef public double[::1] push_out
    cdef public double[::1] separate
    cdef public double[::1] gravity_scale
    cdef public double[::1] damping
    cdef public signed char[::1] one_way
    cdef public signed char[::1] carries
    cdef public signed char[::1] translation_side
    cdef public long long[::1] owner
    cdef signed char[::1] bits
    cdef void clear(self, Py_ssize_t i) noexcept
    cdef bint may_meet(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint _are_of_one(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint is_soft(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint is_one_way(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint is_passable(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef double friction_between(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef double speed_of_surface(self, Py_ssize_t i, int side, int k) noexcept

cdef int side_of(double[:, ::1] normal, Py_ssize_t i) noexcept
