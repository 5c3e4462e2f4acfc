cimport cython

cdef enum:  # the columns of an array of pairs
    FIRST = 0
    SECOND = 1

cdef enum:  # in Pair.left_alone
    SOFT = 3

cdef struct Pair:
    int first
    int second
    int next_of_first
    int next_of_second
    signed char crossing
    signed char inside
    signed char left_alone
    signed char gone
    signed char touch
    signed char clear
    signed char known
    signed char met

cdef struct PairImpact:
    double exit
    double speed
    double answered_at
    double began
    double parts
    int contact
    int answers
    int repeats
    int tick
    signed char kind
    signed char axis
    signed char sign
    signed char stale

@cython.final
cdef class PairTable:
    cdef public Py_ssize_t n
    cdef Py_ssize_t capacity
    cdef signed char[::1] pair_bytes
    cdef signed char[::1] impact_bytes
    cdef Pair* at
    cdef PairImpact* impact
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
    cdef void _make_room(self, Py_ssize_t n_pairs)
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
