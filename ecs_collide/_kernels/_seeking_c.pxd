from ecs_collide._kernels._nodes_c cimport Nodes
from ecs_collide._kernels._ranking_c cimport Ranking
from ecs_collide._kernels._sweep_c cimport Sweeper
from ecs_collide._kernels._tree_c cimport Tree

cdef class Seeker:
    cdef Tree first
    cdef Tree second
    cdef bint has_second
    cdef Py_ssize_t dim
    cdef Sweeper sweeper
    cdef int[::1] stack
    cdef double[::1] entry  # of each node on the stack: its key
    cdef Ranking best
    cdef signed char[::1] barred  # of each item: 1 if it is left out
    cdef Py_ssize_t n_barred
    cdef Py_ssize_t alone  # another item that is left out; -1: none
    cdef int asks
    cdef double[3] centre
    cdef double[3] low  # of the box that moves; or the point, or the ray's origin
    cdef double[3] high
    cdef double[3] half
    cdef double[3] way
    cdef double[8] hit
    cdef double[3] near  # the corners of the box that is told of
    cdef double[3] far

    cdef int _touch(
        self,
        Tree tree,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        Py_ssize_t row,
        double[:, ::1] tight_min,
        double[:, ::1] tight_max,
        long long[::1] ids,
    ) except -1
    cdef void _take_box(self) noexcept
    cdef int _bar(self, object barred, signed char mark, Py_ssize_t n_items) except -1
    cdef int _seek(
        self,
        Py_ssize_t most,
        double bound,
        object barred,
        double[:, ::1] tight_min,
        double[:, ::1] tight_max,
        long long[::1] ids,
    ) except -1
    cdef int _walk(
        self,
        Nodes nodes,
        double[:, ::1] tight_min,
        double[:, ::1] tight_max,
        long long[::1] ids,
    ) except -1
    cdef double _least_key(self, double* mins, double* maxs, Py_ssize_t p, Py_ssize_t q) noexcept
    cdef double _distance(self, double* mins, double* maxs, Py_ssize_t p, Py_ssize_t q) noexcept
    cdef double _time_of_touch(
        self, double* mins, double* maxs, Py_ssize_t p, Py_ssize_t q
    ) noexcept
    cdef double _time_of_meeting(
        self, double* mins, double* maxs, Py_ssize_t p, Py_ssize_t q
    ) noexcept
    cdef tuple _vector(self, Py_ssize_t at)
    cdef void _box_of(
        self, Py_ssize_t i, double[:, ::1] tight_min, double[:, ::1] tight_max
    ) noexcept
    cdef void _describe_ray(
        self, Py_ssize_t i, double[:, ::1] tight_min, double[:, ::1] tight_max
    ) noexcept
    cdef void _describe_box(
        self, Py_ssize_t i, double[:, ::1] tight_min, double[:, ::1] tight_max
    ) noexcept
    cdef void _describe_near(
        self, Py_ssize_t i, double[:, ::1] tight_min, double[:, ::1] tight_max
    ) noexcept
