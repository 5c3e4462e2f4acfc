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

    cdef void _pair_still(self, Py_ssize_t i)
    cdef void follow(self, Py_ssize_t i)
    cdef void _take_found(self, Tree tree, Py_ssize_t i)
    cdef Py_ssize_t _add_pair(self, Py_ssize_t i, Py_ssize_t j)
