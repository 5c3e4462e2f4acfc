cdef class KBestHeap:
    cdef double[::1] keys
    cdef long long[::1] items
    cdef Py_ssize_t n
    cdef Py_ssize_t limit
    cdef double bound

    cdef void begin(self, Py_ssize_t limit, double bound) noexcept
    cdef int offer(self, double key, long long item, long long[::1] ids) except -1
    cdef bint _is_before(
        self, double key, long long item, Py_ssize_t i, long long[::1] ids
    ) noexcept
    cdef bint _is_after(
        self, double key, long long item, Py_ssize_t i, long long[::1] ids
    ) noexcept
    cdef void _sink(
        self, double key, long long item, Py_ssize_t n, long long[::1] ids
    ) noexcept
    cdef void sort(self, long long[::1] ids) noexcept
