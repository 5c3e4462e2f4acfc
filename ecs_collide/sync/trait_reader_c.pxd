cimport cython

from ecs_collide.sync.bindings_c cimport Kind
from ecs_collide.sync.control_reader_c cimport ControlGatherer
from ecs_collide.motion.surfaces_c cimport Traits

cdef double LARGEST
cdef double INFINITE
cdef double MOST_GROUP
cdef double OF_SPACE
cdef double NOT_SEEN
cdef double MOST_PULL
cdef int FILTER
cdef int FRICTION
cdef int ONE_WAY
cdef int CARRY
cdef int CONTROL
cdef int PUSH_OUT
cdef int SEPARATE
cdef int FALL

@cython.final
cdef class TraitGatherer:
    cdef Traits traits
    cdef list kinds
    cdef list seen
    cdef list exempt
    cdef Py_ssize_t n_rows
    cdef int up
    cdef Kind filter
    cdef Kind friction
    cdef Kind one_way
    cdef Kind normal
    cdef Kind surface
    cdef Kind push_out
    cdef Kind separate
    cdef Kind gravity_scale
    cdef Kind damping
    cdef readonly ControlGatherer control
    cdef int use(self)
    cdef bint is_as_seen(self, Py_ssize_t i, int has) noexcept
    cdef bint _falls_as_seen(self, Py_ssize_t i) noexcept
    cdef bint _has(self, Kind kind, Py_ssize_t i) noexcept
    cdef bint read(self, Py_ssize_t i, int has)
    cdef bint is_other(self, Py_ssize_t i, int has)
    cdef int mistrust(self, Py_ssize_t i)
    cdef int side(self, Kind kind, Py_ssize_t i) noexcept
    cdef bint check(self, Py_ssize_t i, int has) noexcept
