from ecs_collide.broadphase.nodes_c cimport Nodes

cdef class BulkRebuild:
    cdef Nodes nodes
    cdef long long[::1] keys  # of each item in the line: its cell, then 32 bits for its place
    cdef long long[::1] spare
    cdef long long[::1] items  # the items in the order of the line
    cdef long long[::1] runs  # start and end of the parts of the line that are yet to be sorted
    cdef int[::1] counts
    cdef int[::1] curve_table  # how the curve goes, see broadphase.curve

    cdef int rebuild(self) except -1
    cdef int make_room(self, Py_ssize_t n_items) except -1
    cdef void _line_up(self) noexcept
    cdef int _sort(self) except -1
    cdef bint _find_keys(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void _insert(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void _distribute(self, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void _build(self) noexcept
    cdef void _fill_leaf(self, int node, Py_ssize_t start, int count) noexcept
    cdef void _fill_branch(self, int node, int start, int count) noexcept
