cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters

@cython.final
cdef class ImpactState:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef Py_ssize_t rows[2]
    cdef int axis
    cdef int sign
    cdef bint yields[2]
    cdef double before[2][3]
    cdef double kick[2]
    cdef double impulse
    cdef double loss
    cdef void begin(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef double find_press(self) noexcept
    cdef double velocity_after(self, int n, int axis) noexcept
    cdef double belt_speed(self, int n, int axis) noexcept
    cdef double face_velocity(self, int n, int axis) noexcept
    cdef void change_along(self, int n, int axis, double velocity) noexcept
