cimport cython

from ecs_collide._kernels._bodies_c cimport Bodies
from ecs_collide._kernels._contacts_c cimport Contacts
from ecs_collide._kernels._traits_c cimport Traits

cdef class Ride:
    cdef readonly Py_ssize_t n
    cdef readonly long long[::1] riders
    cdef readonly long long[::1] carrier
    cdef signed char[::1] side
    cdef readonly double[:, ::1] drift

@cython.final
cdef class Carrying:
    cdef Bodies bodies
    cdef Contacts contacts
    cdef Py_ssize_t n_rows
    cdef public bint sweeps
    cdef readonly Ride now
    cdef Ride before
    cdef readonly Ride rode
    cdef double[:, ::1] own
    cdef void _clear(self, Ride ride) noexcept
    cdef bint _pass(self, bint at_rest)
    cdef void _offer(self, Py_ssize_t i, Py_ssize_t j, int side, bint at_rest) noexcept
    cdef double _speed_of(self, Py_ssize_t j, int side, int k, bint carries, bint adds) noexcept
    cdef double _gripped(self, Py_ssize_t i, int k) noexcept
