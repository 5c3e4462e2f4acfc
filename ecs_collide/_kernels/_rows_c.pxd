cdef class Rows:
    cdef readonly Py_ssize_t n
    cdef public long long[::1] ids
    cdef Py_ssize_t n_used  # rows that were ever given out
    cdef Py_ssize_t n_free
    cdef public signed char[::1] used
    cdef long long[::1] free  # rows to be given out again
    cdef long long stamp
    cdef long long[::1] stamps  # of each row: the last `find_many` that met it
    cdef long long[::1] table  # at each address: a row, counted from 1; 0: empty
    cdef int bits  # of an address

    cpdef Py_ssize_t find(self, long long id) noexcept
    cpdef Py_ssize_t add(self, long long id) noexcept
    cpdef Py_ssize_t remove(self, long long id) noexcept
    cdef Py_ssize_t _home(self, long long id) noexcept
    cdef Py_ssize_t _address(self, long long id) noexcept
