from ecs_collide.broadphase.nodes_c cimport Nodes

cdef class OverlapFinder:
    cdef public Py_ssize_t n
    cdef public long long limit
    cdef public Py_ssize_t top
    cdef public long long[::1] found
    cdef int[::1] stack

    cpdef object within(self, Nodes nodes, bint only_changed)
    cpdef object more_within(self, Nodes nodes, bint only_changed)
    cpdef object between(self, Nodes nodes, Nodes nodes2)
    cpdef object more_between(self, Nodes nodes, Nodes nodes2)
    cdef void _make_room_to_push(self, Py_ssize_t top)
    cdef Py_ssize_t _push(
        self,
        Nodes nodes,
        int one,
        Nodes nodes2,
        int other,
        unsigned long long found,
        Py_ssize_t top,
    ) noexcept
    cdef void _add_items(
        self,
        Nodes nodes,
        int one,
        Nodes nodes2,
        int other,
        unsigned long long found,
        bint only_changed,
    )
