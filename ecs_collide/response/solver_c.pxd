cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.response.clusters_c cimport Clusters
from ecs_collide.motion.surfaces_c cimport Surfaces

@cython.final
cdef class Solver:
    cdef Bodies bodies
    cdef public Clusters clusters
    cdef bint first_yields
    cdef bint second_yields
    cdef bint first_joins
    cdef bint second_joins
    cdef double impulse
    cdef Py_ssize_t solid_first
    cdef Py_ssize_t solid_second
    cdef double loss
    cdef bint counts_loss
    cdef bint may_part
    cdef double kick_first
    cdef double kick_second
    cdef double sum_high
    cdef double sum_low
    cdef double before_first[3]
    cdef double before_second[3]
    cdef double face_first[3]
    cdef double face_second[3]
    cdef double wanted_first[3]
    cdef double wanted_second[3]
    cdef double after_first[3]
    cdef double after_second[3]
    cdef double wanted_change_first[3]
    cdef double wanted_change_second[3]
    cdef double frame[3]
    cdef void begin_instant(self, double now) noexcept
    cdef void change(self, Py_ssize_t i, int k, double velocity) noexcept
    cdef void change_along(self, Py_ssize_t i, int k, double velocity) noexcept
    cdef bint _rebound(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution) noexcept
    cdef bint _rebound_from(self, Py_ssize_t root, Py_ssize_t i, Py_ssize_t j, bint yields, int k, int sign, double restitution) noexcept
    cdef bint _is_anchored(self, Py_ssize_t i, int k) noexcept
    cdef bint _may_turn(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t _find_anchor(self, Py_ssize_t i, Py_ssize_t j, int k, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef double _find_frame(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef double _part_to_turn(self, Py_ssize_t i, Py_ssize_t j, double unit) noexcept
    cdef double _press_of(self, Py_ssize_t i, int k, double before, double kick) noexcept
    cdef double _slide_speed(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef void _rub(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, int axis, double part, double light1, double light2) noexcept
    cdef void _begin_sum(self) noexcept
    cdef void _add_product(self, double a, double b) noexcept
    cdef bint weigh(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef void _outweigh(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef double restitution_of(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint _is_withdrawn(self, Py_ssize_t i, Py_ssize_t j, int k, bint joins) noexcept
    cdef double _impulse_of(self, Py_ssize_t one, Py_ssize_t other, Py_ssize_t anchor, double v1, double v2) noexcept
    cdef double _velocity_of(self, Py_ssize_t root) noexcept
    cdef bint _is_held(self, Py_ssize_t i, int k) noexcept
    cdef bint _is_driven(self, Py_ssize_t i, int k) noexcept
    cdef Py_ssize_t _anchor_of(self, Py_ssize_t i, Py_ssize_t root) noexcept
    cdef bint _yields_to(self, Py_ssize_t anchor, Py_ssize_t other, int k) noexcept
    cdef bint answer(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, bint normal_only)
    cdef bint _merge(self, Py_ssize_t i, Py_ssize_t j, int k)
    cdef void _answer_faces(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, double press)
    cdef bint _keeps_alone(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _anchor_face(self, Py_ssize_t i, Py_ssize_t j, int k)
    cdef bint _merge_faces(self, Py_ssize_t i, Py_ssize_t j, int k, int sign)
    cdef bint _merge_with_face(self, Py_ssize_t i, Py_ssize_t j, int k, double apart)
    cdef void _unite(self, Py_ssize_t i, Py_ssize_t j, int k, Py_ssize_t one, Py_ssize_t other, Py_ssize_t anchor)
    cdef bint _join(self, Py_ssize_t i, Py_ssize_t j, int k, int sign)
    cdef int _leave_for(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef void _exchange(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution) noexcept
    cdef void _exchange_faces(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, double press) noexcept
    cdef double closing_speed(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef double _weigh_down(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef bint _part(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, double press) noexcept
    cdef double _after(self, Py_ssize_t i, int axis, int k) noexcept
    cdef double _support_of(self, Py_ssize_t i, int k, double kick) noexcept
    cdef void _stop_falling(self, Py_ssize_t i, int axis) noexcept
    cdef bint _hold_back(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, int axis, double part) noexcept
    cdef double _face_rate(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef void _turn(self, Py_ssize_t i, Py_ssize_t j, int k, double restitution) noexcept
    cdef bint _aim(self, Py_ssize_t i, int k, double restitution, bint is_first) noexcept
    cdef void _want(self, int axis, double velocity, bint is_first) noexcept
    cdef void _turn_as_far(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef double _farthest(self, double* velocity, int axis) noexcept
    cdef double _square(self, double* velocity, int axis, double unit) noexcept
    cdef void _go(self, double part) noexcept
    cdef bint _gains_energy(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _add_loss(self, double* before, double* after, double mass) noexcept
    cdef void _apply_friction(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef double _surface_of(self, Py_ssize_t i, int side, int axis) noexcept
    cdef double _slide(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, int axis) noexcept
