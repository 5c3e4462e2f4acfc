cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.response.friction_c cimport CoulombFriction
from ecs_collide.response.impact_state_c cimport ImpactState
from ecs_collide.response.product_sum_c cimport ProductSum
from ecs_collide.response.resizing_c cimport ResizingFaces
from ecs_collide.response.tangential_c cimport TangentialResponse

@cython.final
cdef class Solver:
    cdef Bodies bodies
    cdef public Clusters clusters
    cdef ImpactState impact
    cdef ResizingFaces faces
    cdef TangentialResponse tangential
    cdef CoulombFriction friction
    cdef ProductSum sum
    cdef bint first_joins
    cdef bint second_joins
    cdef Py_ssize_t solid_first
    cdef Py_ssize_t solid_second
    cdef bint may_part
    cdef bint counts_loss
    cdef bint weigh(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef void _outweigh(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef bint _is_driven(self, Py_ssize_t i, int k) noexcept
    cdef double restitution_of(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef double closing_speed(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef bint answer(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, bint normal_only) except? -1
    cdef bint _part(self, double restitution, double press) noexcept
    cdef bint _rebound(self, double restitution) noexcept
    cdef bint _rebound_from(self, Py_ssize_t root, int n, double restitution) noexcept
    cdef void _exchange(self, double restitution) noexcept
    cdef double _bounce(self, int n, double v, double u, double restitution) noexcept
    cdef bint _join(self, Py_ssize_t i, Py_ssize_t j, int k) except? -1
    cdef bint _merge(self, Py_ssize_t i, Py_ssize_t j, int k) except? -1
    cdef bint _leave_for(self, Py_ssize_t i, Py_ssize_t j, int k, bint joins) noexcept
    cdef Py_ssize_t _find_anchor(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef Py_ssize_t _anchor_of(self, Py_ssize_t i, Py_ssize_t root) noexcept
    cdef bint _yields_to(self, Py_ssize_t anchor, Py_ssize_t other, int k) noexcept
    cdef bint _is_held(self, Py_ssize_t i, int k) noexcept
    cdef void _unite(self, Py_ssize_t one, Py_ssize_t other, Py_ssize_t anchor, double v1, double v2) noexcept
    cdef void _answer_faces(self, double restitution, double press)
    cdef bint _merge_faces(self, Py_ssize_t i, Py_ssize_t j, int k) except? -1
