from ecs_collide.broadphase.nodes_c cimport Nodes

cdef class Traversal:
    cdef Nodes nodes
    cdef int[::1] stack

    cdef Py_ssize_t find_touching(
        self,
        double* mins,
        double* maxs,
        Py_ssize_t row,
        long long[::1] found,
    ) noexcept
    cdef object verify(self)
    cdef bint _is_change_marked(self, Py_ssize_t place) noexcept
