cimport cython

from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.attachments_c cimport Attachments
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.narrowphase.event_buffer_c cimport EventBuffer
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.narrowphase.narrowphase_c cimport Narrowphase
from ecs_collide.response.carriers_c cimport Carriers
from ecs_collide.response.depenetration_c cimport Depenetration
from ecs_collide.response.falling_c cimport Falling
from ecs_collide.response.holding_c cimport Holding
from ecs_collide.response.separation_c cimport Separating
from ecs_collide.response.solver_c cimport Solver
from ecs_collide.step.crossings_c cimport Crossings
from ecs_collide.step.impact_log_c cimport ImpactLog
from ecs_collide.step.sleeping_c cimport Sleeping

cdef int ONCE

@cython.final
cdef class Answering:
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
    cdef Separating separating
    cdef Depenetration depenetration
    cdef Carriers carriers
    cdef Falling falling
    cdef Attachments attachments
    cdef Sleeping sleeping
    cdef public double rest_speed
    cdef public long long pair_limit
    cdef public bint hand_over
    cdef readonly Py_ssize_t event
    cdef Py_ssize_t began_at
    cdef readonly dict decisions
    cdef Py_ssize_t n_decisions
    cdef readonly long long n_answers
    cdef readonly long long n_crushed
    cdef readonly long long n_forced
    cdef readonly long long n_pair_limit
    cdef readonly long long n_sweep_limit
    cdef bint reach(self, Py_ssize_t p) except? -1
    cdef bint is_stale(self, Py_ssize_t p) noexcept
    cdef bint _cross_as_decided(self, Py_ssize_t p) except? -1
    cdef bint _is_still_due(self, Py_ssize_t p) except? -1
    cdef bint _bring_together(self, Py_ssize_t p) except? -1
    cdef void _touch(self, Py_ssize_t p) noexcept
    cdef bint _end_pushes(self, Py_ssize_t p) except? -1
    cdef bint _suspend(self, Py_ssize_t p) except? -1
    cdef int resume(self, Py_ssize_t p) except -1
    cdef bint _split_paths(self, Py_ssize_t p) noexcept
    cdef void find_closing_speed(self, Py_ssize_t p) noexcept
    cdef bint _come_to_limit(self, Py_ssize_t p) noexcept
    cdef bint hold_if_spent(self, Py_ssize_t i) noexcept
    cdef bint hold(self, Py_ssize_t i) noexcept
    cdef bint _keeps_growing(self, Py_ssize_t p) noexcept
    cdef bint _answer_as_decided(self, Py_ssize_t p) except? -1
    cdef void answer_as(self, Py_ssize_t p, int response, double restitution)
    cdef int answer(self, Py_ssize_t p, bint normal_only, bint inelastic) except -1
    cdef void _crush(self, Py_ssize_t p, Py_ssize_t one, Py_ssize_t other) noexcept
