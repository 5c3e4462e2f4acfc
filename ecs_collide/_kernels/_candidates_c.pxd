from ecs_collide._kernels._bodies_c cimport Bodies
from ecs_collide._kernels._pairs_c cimport Pairs
from ecs_collide._kernels._queue_c cimport Queue
from ecs_collide._kernels._tree_c cimport Tree

cdef class Candidates:
    cdef Bodies bodies
    cdef Pairs pairs
    cdef Queue queue
    cdef public Tree still
    cdef public Tree moving
    cdef public double margin
    cdef public double lookahead
    cdef public long long n_reinsertions
    cdef double[:, ::1] fat_min
    cdef double[:, ::1] fat_max
    cdef long long[::1] escaped
    cdef void _fatten(self, Py_ssize_t i) noexcept
    cdef bint keep_in_tree(self, Py_ssize_t i)
    cdef void find_partners(self, Py_ssize_t i, bint only_later)
    cdef void _take_found(self, Tree tree, Py_ssize_t n, Py_ssize_t i, bint only_later)
    cdef Py_ssize_t _add_pair(self, Py_ssize_t i, Py_ssize_t j)
