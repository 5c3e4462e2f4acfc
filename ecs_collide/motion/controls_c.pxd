cimport cython

@cython.final
cdef class Controls:
    cdef int dim
    cdef readonly bint is_used
    cdef public bint any_rank
    cdef public bint any_lock
    cdef public bint any_limit
    cdef public double[::1] limit
    cdef public double[::1] surface_restitution
    cdef public signed char[::1] lock
    cdef public signed char[::1] restitution_rule
    cdef public signed char[::1] friction_rule
    cdef public long long[::1] rank
    cdef public long long[::1] control_bits
    cdef void clear(self, Py_ssize_t i) noexcept
    cdef long long rank_of(self, Py_ssize_t i) noexcept
    cdef bint locks(self, Py_ssize_t i, int k) noexcept
    cdef bint locks_all_but(self, Py_ssize_t i, int k) noexcept
    cdef double friction_between(self, Py_ssize_t i, Py_ssize_t j, double one, double other) noexcept
    cdef double restitution_between(self, Py_ssize_t i, Py_ssize_t j, double one, double other) noexcept
    cdef void restrain(self, double[:, ::1] velocity, Py_ssize_t i, bint by_speed) noexcept
