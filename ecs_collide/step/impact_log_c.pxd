cimport cython

from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.narrowphase.event_buffer_c cimport EventBuffer
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.response.clusters_c cimport Clusters

cdef int ANSWERED
cdef int STOPPED_ALREADY
cdef int CROSSED
cdef int CRUSHED
cdef int FORCED
cdef int UNANSWERED

@cython.final
cdef class ImpactLog:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef ImpactQueue queue
    cdef Narrowphase narrowphase
    cdef Clusters clusters
    cdef Gravity gravity
    cdef Contacts contacts
    cdef EventBuffer event_buffer
    cdef Py_ssize_t add(self, Py_ssize_t p, int answer) except? -1
    cdef void _record_places(self, Py_ssize_t n, Py_ssize_t p, int k) noexcept
    cdef double _velocity_met(self, Py_ssize_t i, int k, int answer) noexcept
    cdef void add_entry(self, Py_ssize_t p)
    cdef void note_image(self, Py_ssize_t p) noexcept
