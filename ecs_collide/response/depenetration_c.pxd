cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.broadphase_c cimport Broadphase

cdef double INF
cdef int PUSH_OUT

@cython.final
cdef class Depenetration:
    cdef Bodies bodies
    cdef Broadphase broadphase
    cdef public Py_ssize_t n
    cdef public set spared
    cdef public long long[::1] rows
    cdef long long[::1] axis
    cdef double[::1] before
    cdef double[::1] speed
    cdef double[::1] low
    cdef double[::1] high
    cdef double stop(self, Py_ssize_t i) noexcept
    cdef double _own(self, Py_ssize_t n) noexcept
    cdef void _find_exit(self, Py_ssize_t i)
    cdef bint _is_inside_any(self, Py_ssize_t i) except? -1
    cdef void _set_region(self, Py_ssize_t i, int k, double displacement) noexcept
    cdef bint _holds_back(self, Py_ssize_t i, Py_ssize_t j) except -1
    cdef bint _is_within(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef double _exit_distance(self, Py_ssize_t i, int k, int sign) except? -1.0
    cdef double _exit(self, Py_ssize_t i, int k, int sign, bint nearest) except? -1.0
    cdef bint _is_blocked(self, Py_ssize_t i) except? -1
