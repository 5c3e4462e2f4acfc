cimport cython

cdef enum:  # the columns of an array of pairs
    FIRST = 0
    SECOND = 1

cdef enum:  # in PairTable.left_alone
    SOFT = 3

@cython.final
cdef class PairTable:
    cdef public Py_ssize_t n
    cdef Py_ssize_t capacity
    cdef long long[:, ::1] links
    cdef double[:, ::1] impacts
    cdef long long[:] flags
    cdef long long[:] first
    cdef long long[:] second
    cdef long long[:] next_of_first
    cdef long long[:] next_of_second
    cdef long long[:] memory
    cdef long long[:] answers
    cdef long long[:] repeats
    cdef signed char[:] crossing
    cdef signed char[:] inside
    cdef signed char[:] left_alone
    cdef signed char[:] gone
    cdef signed char[:] touch
    cdef signed char[:] stale
    cdef int[:] tick
    cdef signed char[:] clear
    cdef signed char[:] known
    cdef signed char[:] met
    cdef signed char[:] kind
    cdef signed char[:] axis
    cdef signed char[:] sign
    cdef double[:] exit
    cdef double[:] speed
    cdef double[:] answered_at
    cdef double[:] began
    cdef long long[::1] head
    cdef long long[::1] seen
    cdef long long stamp
    cdef bint wraps
    cdef long long[::1] image
    cdef double[:, ::1] offset
    cdef void forget(self) noexcept
    cdef void meet(self, Py_ssize_t p) noexcept
    cdef Py_ssize_t contact_of(self, Py_ssize_t p) noexcept
    cdef bint is_full(self) noexcept
    cdef void grow(self)
    cdef void _make_room_for_images(self, Py_ssize_t n_pairs)
    cdef Py_ssize_t add(self, Py_ssize_t first, Py_ssize_t second) noexcept
    cdef Py_ssize_t head_of(self, Py_ssize_t row) noexcept
    cdef Py_ssize_t next_of(self, Py_ssize_t pair, Py_ssize_t row) noexcept
    cdef Py_ssize_t partner(self, Py_ssize_t pair, Py_ssize_t row) noexcept
    cdef Py_ssize_t find(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef Py_ssize_t find_image(self, Py_ssize_t first, Py_ssize_t second, long long image) noexcept
    cdef double offset_of(self, Py_ssize_t p, int k) noexcept
    cdef void mark_partners(self, Py_ssize_t row) noexcept
    cdef bint is_marked(self, Py_ssize_t row) noexcept
