cimport cython

from ecs_collide._kernels._bodies_c cimport Bodies
from ecs_collide._kernels._candidates_c cimport Candidates
from ecs_collide._kernels._carrying_c cimport Carrying
from ecs_collide._kernels._contacts_c cimport Contacts
from ecs_collide._kernels._holding_c cimport Holding
from ecs_collide._kernels._log_c cimport Log
from ecs_collide._kernels._meetings_c cimport Meetings
from ecs_collide._kernels._pairs_c cimport Pairs
from ecs_collide._kernels._placement_c cimport Settler
from ecs_collide._kernels._pushing_c cimport Pushing
from ecs_collide._kernels._queue_c cimport Queue
from ecs_collide._kernels._responses_c cimport Responder
from ecs_collide._kernels._sleepers_c cimport Sleepers

@cython.final
cdef class Timeline:
    cdef public Bodies bodies
    cdef public Pairs pairs
    cdef public Queue queue
    cdef public Responder responder
    cdef public Settler settler
    cdef public Log log
    cdef public Candidates candidates
    cdef public Contacts contacts
    cdef public Meetings meetings
    cdef public Carrying carrying
    cdef public Pushing pushing
    cdef public Sleepers sleepers
    cdef public Holding holding
    cdef Py_ssize_t n_rows
    cdef public double rest_speed
    cdef public long long pair_limit
    cdef public long long n_answers
    cdef public long long n_crushed
    cdef public long long n_forced
    cdef public long long n_pair_limit
    cdef public long long n_sweep_limit
    cdef public long long n_held
    cdef public Py_ssize_t pending
    cdef public Py_ssize_t event
    cdef public bint hand_over
    cdef void _note_image(self, Py_ssize_t p) noexcept
    cdef void _cross(self, Py_ssize_t p)
    cdef Py_ssize_t _record(self, Py_ssize_t p, int answer)
    cdef bint _reach_answer(self, Py_ssize_t p)
    cdef bint _come_to_limit(self, Py_ssize_t p) noexcept
    cdef bint _hold_if_spent(self, Py_ssize_t i) noexcept
    cdef bint _keeps_growing(self, Py_ssize_t p) noexcept
    cdef bint _follow_turned(self)
    cdef bint _end_pushes(self, Py_ssize_t p)
    cdef void _answer(self, Py_ssize_t p, bint normal_only, bint inelastic)
    cdef void _crush(self, Py_ssize_t p, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef bint _look_again(self)
    cdef bint _is_stale(self, Py_ssize_t p) noexcept
    cdef void _touch(self, Py_ssize_t p) noexcept
    cdef void _forget_touch(self, Py_ssize_t i) noexcept
    cdef void _sweep_turned(self)
