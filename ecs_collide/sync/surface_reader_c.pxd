cimport cython

from ecs_collide.sync.bindings_c cimport ComponentBinding
from ecs_collide.sync.control_reader_c cimport ControlReader
from ecs_collide.motion.surfaces_c cimport Surfaces

cdef int FILTER
cdef int FRICTION
cdef int ONE_WAY
cdef int CARRY
cdef int CONTROL
cdef int PUSH_OUT
cdef int SEPARATES
cdef int FALL

@cython.final
cdef class SurfaceReader:
    cdef Surfaces surfaces
    cdef list kinds
    cdef list exempt
    cdef int up
    cdef ComponentBinding filter
    cdef ComponentBinding friction
    cdef ComponentBinding one_way
    cdef ComponentBinding normal
    cdef ComponentBinding surface
    cdef ComponentBinding push_out
    cdef ComponentBinding separate
    cdef ComponentBinding gravity_scale
    cdef ComponentBinding damping
    cdef readonly ControlReader control
    cdef int use(self)
    cdef bint is_as_seen(self, Py_ssize_t i, int has) noexcept
    cdef bint _falls_as_seen(self, Py_ssize_t i) noexcept
    cdef bint _has(self, ComponentBinding kind, Py_ssize_t i) noexcept
    cdef bint read(self, Py_ssize_t i, int has)
    cdef bint is_other(self, Py_ssize_t i, int has)
    cdef int mistrust(self, Py_ssize_t i)
    cdef int side(self, ComponentBinding kind, Py_ssize_t i) noexcept
    cdef bint check(self, Py_ssize_t i, int has) noexcept
