cimport cython

from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.response.clusters_c cimport Clusters

@cython.final
cdef class ClosingContacts:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef Clusters clusters
    cdef Narrowphase narrowphase
    cdef void find(self)
    cdef bint _find_of(self, Py_ssize_t i, int axis, Py_ssize_t root) noexcept
    cdef double _closing_speed_of(self, Py_ssize_t p, int k, int sign) noexcept
