cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.response.solver_c cimport Solver
from ecs_collide.motion.surfaces_c cimport Surfaces

cdef class RiderTable:
    cdef readonly Py_ssize_t n
    cdef readonly long long[::1] riders
    cdef readonly long long[::1] carrier
    cdef signed char[::1] side
    cdef readonly double[:, ::1] carrier_velocity
    cdef readonly double[:, ::1] taken_off

@cython.final
cdef class Carriers:
    cdef Bodies bodies
    cdef Contacts contacts
    cdef Solver solver
    cdef Py_ssize_t n_rows
    cdef public bint sweeps
    cdef readonly RiderTable now
    cdef RiderTable before
    cdef readonly RiderTable rode
    cdef double[:, ::1] own
    cdef Py_ssize_t n_kept
    cdef long long[::1] kept_riders
    cdef double[:, ::1] kept_carrier_velocity
    cdef double[:, ::1] kept_taken_off
    cpdef void keep(self)
    cdef void _clear(self, RiderTable ride) noexcept
    cdef bint _pass(self, bint at_rest) except? -1
    cdef void _offer(self, Py_ssize_t i, Py_ssize_t j, int side, bint at_rest) noexcept
    cdef double _speed_of(self, Py_ssize_t j, int side, int k, bint carries, bint adds) noexcept
    cdef void _release_riders(self)
    cdef void land(self, Py_ssize_t p) noexcept
    cdef void _land_on(self, Py_ssize_t i, Py_ssize_t j, int side) noexcept
    cdef double _carrier_velocity_of(self, Py_ssize_t i, Py_ssize_t j, int side, int k) noexcept
    cdef bint _is_as_before(self, Py_ssize_t i, Py_ssize_t j, int side) noexcept
    cdef bint _is_riding(self, Py_ssize_t i) noexcept
    cdef double _own_of(self, Py_ssize_t i, int k, double carrier_velocity, int normal) noexcept
