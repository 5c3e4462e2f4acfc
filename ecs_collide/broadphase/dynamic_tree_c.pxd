from ecs_collide.broadphase.fat_bounds_c cimport FatBounds
from ecs_collide.broadphase.rebuild_c cimport BulkRebuild
from ecs_collide.broadphase.nodes_c cimport Nodes
from ecs_collide.broadphase.overlaps_c cimport OverlapFinder
from ecs_collide.broadphase.traversal_c cimport Traversal

cdef class Tree:
    cdef readonly Py_ssize_t dim
    cdef public long long[::1] found
    cdef readonly OverlapFinder overlap_finder
    cdef long long[::1] one  # item, of those given
    cdef Nodes nodes
    cdef FatBounds fat_bounds
    cdef BulkRebuild bulk_rebuild
    cdef readonly Traversal traversal
    cdef Py_ssize_t n_insertions  # since the last layout
    cdef Py_ssize_t n_escapes  # since then
    cdef public long long n_escaped
    cdef public long long n_reinserted
    cdef public long long n_rebuilt
    cdef int pending_node  # the node that new items are given before a layout; 0: none

    cpdef bint holds(self, Py_ssize_t item) noexcept
    cpdef bint drop(self, Py_ssize_t item) noexcept
    cpdef bint bounds_into(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef bint root_into(self, double[::1] low, double[::1] high) noexcept
    cpdef bint covers(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs) noexcept
    cpdef bint renew_one(
        self,
        Py_ssize_t item,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        double[:, ::1] motion,
        bint filed,
        double margin,
        double lookahead,
    ) except -1
    cdef int _reinsert(self, Py_ssize_t item, Py_ssize_t row) except -1
    cdef void _add_pending(self, Py_ssize_t item, Py_ssize_t row) noexcept
    cpdef Py_ssize_t touching(self, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cdef Py_ssize_t touching_one(self, double[::1] low, double[::1] high) noexcept
    cpdef void forget_changes(self) noexcept
    cdef int _make_room(self, Py_ssize_t greatest) except -1
    cdef int _rebuild(self) except -1
