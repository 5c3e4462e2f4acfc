cdef class Tree:
    cdef readonly Py_ssize_t dim
    cdef readonly Py_ssize_t n_items
    cdef public long long[::1] found
    cdef double* box  # of each node: dim minima, then dim maxima
    cdef int* child  # of each node: two children; of a leaf: -1 and its item
    cdef int* parent  # of each node, -1 for the root; of a free node: the next free one
    cdef int* height  # of each node: 0 for a leaf, -1 for a free node
    cdef int* leaf_of  # of each item: its leaf or -1
    cdef int* line  # while laying out: items, in the order of their leaves
    cdef double* twice_middle  # of each item in the line
    cdef int stack[256]
    cdef double start[3]
    cdef double path[3]
    cdef double tight[6]
    cdef int root
    cdef Py_ssize_t n_puts
    cdef int first_free
    cdef Py_ssize_t node_room
    cdef Py_ssize_t item_room

    cpdef bint put(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) except -1
    cpdef bint drop(self, Py_ssize_t item) noexcept
    cpdef bint holds(self, Py_ssize_t item) noexcept
    cpdef bint covers(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef bint exceeds(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row, double times) noexcept
    cpdef bint bounds_into(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef Py_ssize_t touching(self, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef Py_ssize_t overlapping(
        self,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        Py_ssize_t row,
        double[:, ::1] tight_min,
        double[:, ::1] tight_max,
    ) noexcept

    cdef int _make_room(self, Py_ssize_t n_nodes, Py_ssize_t n_items) except -1
    cdef int _take_node(self) noexcept
    cdef void _free_node(self, int node) noexcept
    cdef bint _store(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) except -1
    cdef void _attach(self, int leaf) noexcept
    cdef void _detach(self, int leaf) noexcept
    cdef void _hang(self, int node, int old, int new) noexcept
    cdef void _join(self, int branch, int left, int right) noexcept
    cdef bint _refit(self, int node) noexcept
    cdef void _climb(self, int node) noexcept
    cdef int _rotate(self, int node, int tall) noexcept
    cdef void _regroup(self, int node) noexcept
    cdef bint _fit(self, int one, int two, int three, int four, int tallest) noexcept
    cdef int _lay_out(self) except -1
    cdef Py_ssize_t _split(self, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t end) noexcept
    cdef double _entry(self, double* box, Py_ssize_t at) noexcept

cpdef void fatten(
    Py_ssize_t item,
    double[:, ::1] swept_min,
    double[:, ::1] swept_max,
    double[:, ::1] motions,
    Py_ssize_t row,
    double margin,
    double lookahead,
    double[:, ::1] fat_min,
    double[:, ::1] fat_max,
) noexcept
