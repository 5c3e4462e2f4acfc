from ecs_collide._kernels._bodies_c cimport Bodies
from ecs_collide._kernels._log_c cimport Log
from ecs_collide._kernels._pairs_c cimport Pairs
from ecs_collide._kernels._placement_c cimport Settler
from ecs_collide._kernels._queue_c cimport Queue
from ecs_collide._kernels._responses_c cimport Responder
from ecs_collide._kernels._sweep_c cimport Sweeper
from ecs_collide._kernels._tree_c cimport Tree

cdef class Timeline:
    cdef public Bodies bodies
    cdef public Pairs pairs
    cdef public Queue queue
    cdef public Responder responder
    cdef public Settler settler
    cdef public Log log
    cdef public Tree still
    cdef public Tree moving
    cdef Sweeper sweeper
    cdef public double now
    cdef public double margin
    cdef public double lookahead
    cdef public double rest_speed
    cdef public long long pair_limit
    cdef public long long answer_limit
    cdef public long long n_answers
    cdef public long long n_sweeps
    cdef public long long n_reinsertions
    cdef public long long n_crushed
    cdef public long long n_forced
    cdef public long long n_pair_limit
    cdef public long long n_answer_limit
    cdef public Py_ssize_t pending
    cdef public Py_ssize_t event
    cdef public bint hand_over
    cdef double[:, ::1] fat_min
    cdef double[:, ::1] fat_max
    cdef long long[:, ::1] contacts
    cdef long long[:, ::1] next_contacts
    cdef public Py_ssize_t n_contacts
    cdef bint _keep_in_tree(self, Py_ssize_t i, bint renew)
    cdef void _find_partners(self, Py_ssize_t i, bint only_later)
    cdef void _take_found(self, Tree tree, Py_ssize_t n, Py_ssize_t i, bint only_later)
    cdef Py_ssize_t _add_pair(self, Py_ssize_t i, Py_ssize_t j)
    cdef void _recall_contacts(self)
    cdef void _aim(self, Py_ssize_t p) noexcept
    cdef double _closing_speed(self, Py_ssize_t p) noexcept
    cdef void _sweep_again(self, Py_ssize_t p)
    cdef void _sweep_crossing(self, Py_ssize_t p, int kind)
    cdef void _note_side(self, Py_ssize_t p, int kind) noexcept
    cdef bint _is_due(self, Py_ssize_t p)
    cdef bint _waits(self, Py_ssize_t p) noexcept
    cdef void _cross(self, Py_ssize_t p)
    cdef Py_ssize_t _record(self, Py_ssize_t p, int answer)
    cdef bint _reach_answer(self, Py_ssize_t p)
    cdef void _answer(self, Py_ssize_t p, bint normal_only, bint inelastic)
    cdef void _crush(self, Py_ssize_t p) noexcept
    cdef void _sweep_changed(self)
    cdef bint _is_closing(self, Py_ssize_t p) noexcept
    cdef void _compare_contacts(self)
    cdef bint _is_contact(self, Py_ssize_t p)
    cdef void _keep_contact(self, Py_ssize_t first, Py_ssize_t second, int crossing, int axis, int sign)
