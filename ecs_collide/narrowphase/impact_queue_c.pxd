cimport cython

cdef struct Queued:
    double time
    long long low
    long long high
    long long image
    int place
    int rank

cdef struct Entry:
    double time
    long long lowest
    long long pair

@cython.final
cdef class ImpactQueue:
    cdef public Py_ssize_t size
    cdef Py_ssize_t n_pairs
    cdef Py_ssize_t n_heap
    cdef Py_ssize_t n_due
    cdef Py_ssize_t front
    cdef bint is_sorted
    cdef long long[::1] counts
    cdef signed char[::1] pair_bytes
    cdef signed char[::1] heap_bytes
    cdef signed char[::1] due_bytes
    cdef signed char[::1] spare_bytes
    cdef Queued* at
    cdef Entry* heap
    cdef Entry* due
    cdef Entry* spare
    cdef void grow(self, Py_ssize_t n_pairs)
    cdef void clear(self) noexcept
    cdef Py_ssize_t top(self) noexcept
    cdef bint holds(self, Py_ssize_t pair) noexcept
    cdef bint is_due(self, Py_ssize_t pair, double now) noexcept
    cdef void put(self, Py_ssize_t pair, double time, int rank) noexcept
    cdef void drop(self, Py_ssize_t pair) noexcept
    cdef void _drop_due(self, Py_ssize_t n) noexcept
    cdef void _sort(self) noexcept
    cdef void _sort_by_id(self, bint by_lower) noexcept
    cdef long long _id_of(self, Py_ssize_t n, bint lower) noexcept
    cdef void _sort_by_digit(self, bint by_lower, long long least, int shift) noexcept
    cdef void _insert(self, Py_ssize_t n) noexcept
    cdef void _put_at(self, Py_ssize_t place, Py_ssize_t pair, double time, long long lowest) noexcept
    cdef bint _precedes(self, double time, long long lowest, Py_ssize_t pair, Py_ssize_t place) noexcept
    cdef bint _breaks_tie(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef void _rise(self, Py_ssize_t place, Py_ssize_t pair, double time, long long lowest) noexcept
    cdef Py_ssize_t _sink(self, Py_ssize_t hole) noexcept
