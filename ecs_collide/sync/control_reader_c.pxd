cimport cython

from ecs_collide.motion.controls_c cimport Controls
from ecs_collide.sync.bindings_c cimport ComponentBinding

cdef bint is_rule(double number) noexcept

@cython.final
cdef class ControlReader:
    cdef Controls controls
    cdef ComponentBinding dominance
    cdef ComponentBinding restitution
    cdef ComponentBinding max_speed
    cdef ComponentBinding locked_axes
    cdef int file(self, Py_ssize_t i, int mark)
    cdef bint is_as_seen(self, Py_ssize_t i) noexcept
    cdef bint read(self, Py_ssize_t i)
    cdef bint check(self, Py_ssize_t i, bint any_of_them) noexcept
