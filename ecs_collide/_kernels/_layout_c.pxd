from ecs_collide._kernels._nodes_c cimport Nodes

cdef class Layout:
    cdef Nodes nodes
    cdef long long[::1] line  # items, in the order of their leaves
    cdef double[:, ::1] middle  # of each item in the line: twice the middle of its box

    cdef int make_room(self) except -1
    cdef void lay_out(self) noexcept
    cdef void _line_up(self) noexcept
    cdef Py_ssize_t _split(self, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t end) noexcept
    cdef void _swap(self, Py_ssize_t i, Py_ssize_t j) noexcept
