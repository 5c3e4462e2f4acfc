cdef class Nodes:
    cdef Py_ssize_t dim
    cdef Py_ssize_t n_items
    cdef Py_ssize_t n_nodes  # in the tree, without node 0
    cdef Py_ssize_t node_room
    cdef Py_ssize_t item_room
    cdef int first_free  # -1: none
    cdef double* box  # at each place: dim minima, then dim maxima
    cdef double* spare_box  # where the next layout writes the boxes
    cdef double* build_box  # of each node on level 0: the bounds it had when it was made
    cdef float* lanes  # of each node: the boxes of its children side by side, see broadphase/simd.h
    cdef double* origin  # of each node: what its lanes are relative to
    cdef int* child  # at each place: the item or the node that stands there
    cdef int* count  # of each node: its children
    cdef int* level  # of each node: 0 above items; -1 for a free one
    cdef int* place  # of each node: where it hangs; of a free one: the next free one
    cdef int* stale  # of each node: 1 while its bounds are not those of its children
    cdef int* changed  # of each node: a bit for each child that may have changed, see broadphase.overlaps
    cdef int* place_of  # of each item: where it hangs, or -1
    cdef int* is_changed  # of each item: 1 if it has changed since the last search for pairs
    cdef double[9] spread  # of a node that is cut: the middles of its children
    cdef int[9] order
    cdef int[9] cut_child
    cdef double[54] cut_box

    cdef bint holds(self, Py_ssize_t item) noexcept
    cdef int root(self) noexcept
    cdef double cost(self, int node) noexcept
    cdef int make_room_for_items(self, Py_ssize_t n_items) except -1
    cdef int make_room_for_nodes(self, Py_ssize_t n_nodes) except -1
    cdef int allocate(self, int level) noexcept
    cdef void release(self, int node) noexcept
    cdef void free_node(self, int node) noexcept
    cdef bint refresh(self, int node) noexcept
    cdef void climb(self, int node) noexcept
    cdef void refresh_above(self, long long[::1] items, Py_ssize_t n_items) noexcept
    cdef void _mark_stale(self, int place) noexcept
    cdef void note_change(self, Py_ssize_t item) noexcept
    cdef void set_build_box(self, int node) noexcept
    cdef void _mark_all_changed(self, int node) noexcept
    cdef void attach(self, Py_ssize_t item) noexcept
    cdef void detach(self, Py_ssize_t item) noexcept
    cdef void _make_root(self, int node) noexcept
    cdef void _copy_box(self, Py_ssize_t source, Py_ssize_t target) noexcept
    cdef void _place_child(self, int place, int child) noexcept
    cdef int _best_lane(self, int node) noexcept
    cdef void _insert(self, int node, int child) noexcept
    cdef void _cut(self, int node, int other, int child) noexcept
    cdef Py_ssize_t _find_longest_axis(self, int node) noexcept
