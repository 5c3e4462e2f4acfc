from ecs_collide.broadphase.images_c cimport PeriodicImages
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.overlaps_c cimport OverlapFinder
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.motion.surfaces_c cimport Surfaces
from ecs_collide.broadphase.dynamic_tree_c cimport Tree

cdef int HAS_FILTER
cdef int TOUCHED_BY_GAME

cdef class PairObserver:
    cdef void make_room(self, Py_ssize_t n_pairs)
    cdef void add(self, Py_ssize_t p, long long low_id, long long high_id, long long image) noexcept
    cdef void leave_out(self, Py_ssize_t i, Py_ssize_t j, double[::1] offset) noexcept
    cdef void hold(self, Py_ssize_t i) noexcept

cdef class Broadphase:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef PairObserver observer
    cdef PeriodicImages images
    cdef public Tree still
    cdef public Tree moving
    cdef public double margin
    cdef public double lookahead
    cdef public object pair_filter
    cdef public bint all_have_filters
    cdef public long long n_left_out
    cdef public list crowd
    cdef readonly bint is_crowded
    cdef bint takes_turns
    cdef public long long step
    cdef public long long n_waiting
    cdef long long n_followed
    cdef long long room
    cdef double[:, ::1] low
    cdef double[:, ::1] high
    cdef double[:, ::1] wide_min
    cdef double[:, ::1] wide_max
    cdef long long[::1] n_inside
    cdef long long[::1] n_among
    cdef long long[::1] n_each

    cdef bint find_pairs(self, long long[::1] rows, Py_ssize_t n_asleep, Py_ssize_t n_resting) except? -1
    cdef bint _traverse(self, long long[::1] rows, int purpose, Py_ssize_t room) except? -1
    cdef bint _traverse_images(self, long long[::1] rows, int purpose, Py_ssize_t room) except? -1
    cdef void _process_images(self, Tree tree, Py_ssize_t i, int purpose)
    cdef void _follow_images(self, Py_ssize_t i)
    cdef void _add_pairs_at_image(self, Tree tree, Py_ssize_t i)
    cdef bint _has_pair_at_image(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint _process_pairs(self, OverlapFinder overlap_finder, int purpose, Py_ssize_t room) except -1
    cdef int _pair_still(self, Py_ssize_t i, int purpose) except -1
    cdef int _process_pair(self, Py_ssize_t i, Py_ssize_t j, int purpose) except -1
    cdef bint _is_either_touched(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint may_meet(self, Py_ssize_t i, Py_ssize_t j) except -1
    cdef bint _passes_filter(self, Py_ssize_t i, Py_ssize_t j) except -1
    cdef void _find_crowd(self, long long[::1] rows)
    cdef bint _is_inside(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint _is_soft(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _take_turns(self, long long[::1] rows)
    cdef bint waits(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint has_room_to_follow(self, Py_ssize_t i) noexcept
    cdef bint leaves_out(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void follow(self, Py_ssize_t i)
    cdef void add_pairs_with_found(self, Tree tree, Py_ssize_t i)
    cdef Py_ssize_t _add_pair(self, Py_ssize_t i, Py_ssize_t j) except? -1
