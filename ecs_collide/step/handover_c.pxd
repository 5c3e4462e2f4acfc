cimport cython

from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.attachments_c cimport Attachments
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.narrowphase.event_buffer_c cimport EventBuffer
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.response.falling_c cimport Falling
from ecs_collide.response.holding_c cimport Holding
from ecs_collide.response.solver_c cimport Solver
from ecs_collide.step.answering_c cimport Answering
from ecs_collide.step.crossings_c cimport Crossings
from ecs_collide.step.impact_log_c cimport ImpactLog
from ecs_collide.step.sleeping_c cimport Sleeping

@cython.final
cdef class Handover:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef ImpactQueue queue
    cdef Narrowphase narrowphase
    cdef Contacts contacts
    cdef EventBuffer event_buffer
    cdef ImpactLog log
    cdef Gravity gravity
    cdef Crossings crossings
    cdef Solver solver
    cdef Holding holding
    cdef Falling falling
    cdef Attachments attachments
    cdef Sleeping sleeping
    cdef Answering answering
    cdef Py_ssize_t pending
    cdef bint is_set
    cdef bint is_changed
    cdef void take(self, Py_ssize_t p)
    cdef double _change_of(self, Py_ssize_t p, Py_ssize_t i, int place) noexcept
    cdef bint _still_closes(self, Py_ssize_t p) noexcept
    cdef void _show(self, Py_ssize_t p) noexcept
    cdef void _hide(self, Py_ssize_t p) noexcept
    cdef void _forget_touch(self, Py_ssize_t i) noexcept
