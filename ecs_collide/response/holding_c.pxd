cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters

@cython.final
cdef class Holding:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef readonly Py_ssize_t n
    cdef Py_ssize_t n_visited
    cdef public long long pair_limit
    cdef long long[::1] rows
    cdef long long[::1] visited
    cdef long long[::1] visits
    cdef long long[::1] n_pairs
    cdef void count_visits(self, Py_ssize_t i, long long n_visits) noexcept
    cdef bint is_spent(self, Py_ssize_t i) noexcept
    cdef bint hold(self, Py_ssize_t i, double now) noexcept
    cdef void hold_from_start(self, Py_ssize_t i) noexcept
    cdef void _keep(self, Py_ssize_t i) noexcept
    cdef void show(self, Py_ssize_t i) noexcept
    cdef void hide(self, Py_ssize_t i) noexcept
    cdef void release(self) noexcept
