cimport cython

from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.narrowphase.event_buffer_c cimport EventBuffer
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.step.impact_log_c cimport ImpactLog

@cython.final
cdef class Crossings:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef ImpactQueue queue
    cdef Narrowphase narrowphase
    cdef Contacts contacts
    cdef EventBuffer event_buffer
    cdef ImpactLog log
    cdef void begin(self)
    cdef bint _is_parted(self, Py_ssize_t p, Py_ssize_t n, int kind) noexcept
    cdef void cross(self, Py_ssize_t p, bint stale)
    cdef void enter(self, Py_ssize_t p)
    cdef void open(self, Py_ssize_t p, int code) noexcept
    cdef void close(self, Py_ssize_t p)
