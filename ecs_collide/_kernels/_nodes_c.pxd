cdef class Nodes:
    cdef Py_ssize_t dim
    cdef Py_ssize_t n_items
    cdef Py_ssize_t node_room
    cdef Py_ssize_t item_room
    cdef int root  # -1: none
    cdef int first_free  # -1: none
    cdef double* box  # of each node: dim minima, then dim maxima
    cdef double* spare_box  # where the next layout writes the boxes
    cdef int* child  # of each branch: its two children; of a leaf: -1 and its item
    cdef int* parent  # of each node, -1 for the root; of a free node: the next free one
    cdef int* height  # of each node: 0 for a leaf, -1 for a free node
    cdef int* leaf_of  # of each item: its leaf, or -1
    cdef int* turn_of  # of each item: how often its box was stored, from 0 again after 65535
    cdef int stack[256]

    cdef bint holds(self, Py_ssize_t item) noexcept
    cdef double cost(self, int one, int other) noexcept
    cdef int make_room(self, Py_ssize_t n_nodes, Py_ssize_t n_items) except -1
    cdef void store(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cdef void forget(self, Py_ssize_t item) noexcept
    cdef int take(self) noexcept
    cdef void release(self, int node) noexcept
    cdef void attach(self, int leaf) noexcept
    cdef void detach(self, int leaf) noexcept
    cdef bint refit(self, int node) noexcept
    cdef void _hang(self, int node, int old, int new) noexcept
    cdef void _join(self, int branch, int left, int right) noexcept
    cdef void _climb(self, int node) noexcept
    cdef int _rotate(self, int node, int tall) noexcept
