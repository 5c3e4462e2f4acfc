cimport cython

from ecs_collide.sync.bindings_c cimport ComponentBinding
from ecs_collide.motion.surfaces_c cimport Surfaces

@cython.final
cdef class SurfaceReader:
    cdef Surfaces surfaces
    cdef list kinds
    cdef readonly list exempt
    cdef public int up
    cdef ComponentBinding filter
    cdef ComponentBinding friction
    cdef ComponentBinding one_way
    cdef ComponentBinding normal
    cdef ComponentBinding surface
    cdef ComponentBinding push_out
    cdef ComponentBinding separate
    cdef ComponentBinding gravity_scale
    cdef ComponentBinding damping
    cdef ComponentBinding dominance
    cdef ComponentBinding restitution
    cdef ComponentBinding max_speed
    cdef ComponentBinding locked_axes
    cpdef int use(self) except? -1
    cdef int file(self, Py_ssize_t i, int has) except? -1
    cdef bint _has(self, Py_ssize_t i, ComponentBinding kind) noexcept
    cdef bint read(self, Py_ssize_t i) except? -1
    cdef bint is_other(self, Py_ssize_t i) except? -1
    cdef int mistrust(self, Py_ssize_t i) except? -1
    cdef int side(self, ComponentBinding kind, Py_ssize_t i) noexcept
    cdef bint check(self, Py_ssize_t i) noexcept
