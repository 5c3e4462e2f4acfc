cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.response.impact_state_c cimport ImpactState

@cython.final
cdef class ResizingFaces:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef ImpactState impact
    cdef Py_ssize_t one
    cdef Py_ssize_t other
    cdef Py_ssize_t anchor
    cdef bint ignore_clusters(self) noexcept
    cdef bint align(self, bint first_joins, bint second_joins) except? -1
    cdef bint _align_with(self, Py_ssize_t wall, Py_ssize_t i, double apart) except? -1
    cdef void exchange(self, double restitution, double press) noexcept
    cdef double _parting_rate(self) noexcept
    cdef void anchor_to(self, Py_ssize_t wall, Py_ssize_t i)
