cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.response.impact_state_c cimport ImpactState
from ecs_collide.response.product_sum_c cimport ProductSum

@cython.final
cdef class TangentialResponse:
    cdef Bodies bodies
    cdef Clusters clusters
    cdef ImpactState impact
    cdef ProductSum sum
    cdef double face[2][3]
    cdef double after[2][3]
    cdef double wanted[2][3]
    cdef double change[2][3]
    cdef double frame[3]
    cdef double weight[2]
    cdef void begin(self) noexcept
    cdef void turn(self, double restitution) noexcept
    cdef bint _stops(self, int n) noexcept
    cdef void _stop_each_other(self) noexcept
    cdef bint _aim(self, int n, double restitution) noexcept
    cdef double _stretch(self) noexcept
    cdef void _turn_as_far(self) noexcept
    cdef double _find_frame(self) noexcept
    cdef double _part_to_turn(self, double unit) noexcept
    cdef bint _gains_energy(self) noexcept
    cdef void _stop_falling(self, int n) noexcept
