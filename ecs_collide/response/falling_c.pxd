cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.response.carriers_c cimport Carriers
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.response.solver_c cimport Solver

@cython.final
cdef class Falling:
    cdef Bodies bodies
    cdef Solver solver
    cdef Clusters clusters
    cdef Gravity gravity
    cdef Carriers carriers
    cdef long long[::1] shown
    cdef double[:, ::1] path_velocity
    cdef bint split(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef bint _turns(self, Py_ssize_t i) noexcept
    cdef void show(self, Py_ssize_t i, int place) noexcept
    cdef void hide(self, int place) noexcept
    cdef void set_velocity(self, Py_ssize_t i, int k, double velocity) noexcept
