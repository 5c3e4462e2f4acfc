cimport cython

@cython.final
cdef class ImpactQueue:
    cdef public Py_ssize_t size
    cdef double[::1] time
    cdef signed char[::1] rank
    cdef long long[:, ::1] keys
    cdef long long[:] low
    cdef long long[:] high
    cdef long long[:] place
    cdef long long[::1] heap
    cdef double[::1] due
    cdef long long[::1] lowest
    cdef long long[::1] image
    cdef void grow(self, Py_ssize_t n_pairs)
    cdef void clear(self) noexcept
    cdef Py_ssize_t top(self) noexcept
    cdef bint holds(self, Py_ssize_t pair) noexcept
    cdef void put(self, Py_ssize_t pair, double time, int rank) noexcept
    cdef void drop(self, Py_ssize_t pair) noexcept
    cdef void _put_at(self, Py_ssize_t place, Py_ssize_t pair, double due, long long lowest) noexcept
    cdef bint _precedes(self, double due, long long lowest, Py_ssize_t pair, Py_ssize_t place) noexcept
    cdef bint _breaks_tie(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef void _rise(self, Py_ssize_t place, Py_ssize_t pair, double due, long long lowest) noexcept
    cdef Py_ssize_t _sink(self, Py_ssize_t hole) noexcept
