cdef class KBestHeap:
    cdef double[::1] keys
    cdef long long[::1] items
    cdef Py_ssize_t n
    cdef Py_ssize_t limit
    cdef double bound
    cdef long long* ids

    cdef void begin(self, Py_ssize_t limit, double bound, long long* ids) noexcept
    cdef int offer(self, double key, long long item) except -1
    cdef bint _is_before(self, double key, long long item, Py_ssize_t i) noexcept
    cdef void _sink(self, double key, long long item, Py_ssize_t n) noexcept
    cdef void sort(self) noexcept
