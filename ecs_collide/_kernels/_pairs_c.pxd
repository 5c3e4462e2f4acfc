cdef class Pairs:
    cdef public Py_ssize_t n
    cdef Py_ssize_t capacity
    cdef long long[::1] first
    cdef long long[::1] second
    cdef long long[::1] next_of_first
    cdef long long[::1] next_of_second
    cdef long long[::1] memory
    cdef long long[::1] answers
    cdef long long[::1] repeats
    cdef signed char[::1] crossing
    cdef signed char[::1] inside
    cdef signed char[::1] left_alone
    cdef signed char[::1] gone
    cdef signed char[::1] stale
    cdef signed char[::1] kind
    cdef signed char[::1] axis
    cdef signed char[::1] sign
    cdef double[::1] exit
    cdef double[::1] speed
    cdef double[::1] answered_at
    cdef double[::1] began
    cdef long long[::1] head
    cdef long long[::1] degree
    cdef long long[::1] seen
    cdef long long stamp
    cdef void clear(self) noexcept
    cdef bint is_full(self) noexcept
    cdef void grow(self)
    cdef Py_ssize_t add(self, Py_ssize_t first, Py_ssize_t second) noexcept
    cdef Py_ssize_t head_of(self, Py_ssize_t row) noexcept
    cdef Py_ssize_t next_of(self, Py_ssize_t pair, Py_ssize_t row) noexcept
    cdef Py_ssize_t partner(self, Py_ssize_t pair, Py_ssize_t row) noexcept
    cdef Py_ssize_t find(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef void mark_partners(self, Py_ssize_t row) noexcept
    cdef bint is_marked(self, Py_ssize_t row) noexcept
