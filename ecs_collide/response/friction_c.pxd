cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.response.impact_state_c cimport ImpactState

@cython.final
cdef class CoulombFriction:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef ImpactState impact
    cdef double inverse_mass[2]
    cdef void apply(self) noexcept
    cdef double _press_of(self, int n) noexcept
    cdef double _slide_speed(self) noexcept
    cdef double _slide(self, int axis) noexcept
    cdef void _rub(self, int axis, double part) noexcept
    cdef bint _hold_back(self, int axis, double part) noexcept
