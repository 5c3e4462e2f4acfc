cimport cython

from ecs_collide.motion.controls_c cimport Controls
from ecs_collide.sync.bindings_c cimport Kind

cdef bint is_rule(double number) noexcept

@cython.final
cdef class ControlGatherer:
    cdef Controls controls
    cdef Kind dominance
    cdef Kind restitution
    cdef Kind max_speed
    cdef Kind locked_axes
    cdef long long[::1] has
    cdef Py_ssize_t n_rows
    cdef readonly bint is_used
    cdef int use(self)
    cdef int file(self, Py_ssize_t i, int mark)
    cdef bint is_as_seen(self, Py_ssize_t i) noexcept
    cdef bint read(self, Py_ssize_t i)
    cdef bint check(self, Py_ssize_t i, bint any_of_them) noexcept
