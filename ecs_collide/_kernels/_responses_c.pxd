cimport cython

from ecs_collide._kernels._bodies_c cimport Bodies
from ecs_collide._kernels._traits_c cimport Traits

@cython.final
cdef class Responder:
    cdef Bodies bodies
    cdef public double now
    cdef public bint lasting
    cdef public long long n_joins
    cdef long long[::1] changed
    cdef public Py_ssize_t n_changed
    cdef signed char[::1] is_changed
    cdef long long[:, ::1] leader
    cdef long long[:, ::1] following
    cdef long long[:, ::1] anchor
    cdef long long[:, ::1] grouped
    cdef Py_ssize_t n_grouped
    cdef Py_ssize_t solid_first
    cdef Py_ssize_t solid_second
    cdef double sum_high
    cdef double sum_low
    cdef double before_first[3]
    cdef double before_second[3]
    cdef double face_first[3]
    cdef double face_second[3]
    cdef void begin_instant(self, double now) noexcept
    cdef void _dissolve_groups(self) noexcept
    cdef void change(self, Py_ssize_t i, int k, double velocity) noexcept
    cdef void note_change(self, Py_ssize_t i) noexcept
    cdef void _begin_sum(self) noexcept
    cdef void _add_product(self, double a, double b) noexcept
    cdef bint answer(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution, bint normal_only) noexcept
    cdef bint _join(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cdef Py_ssize_t _group_of(self, Py_ssize_t i, int k) noexcept
    cdef Py_ssize_t _merge(self, Py_ssize_t one, Py_ssize_t other, int k) noexcept
    cdef void _level(self, Py_ssize_t leader, int k) noexcept
    cdef void _exchange(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution) noexcept
    cdef void _exchange_faces(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, double restitution) noexcept
    cdef double _face_rate(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef void _turn(self, Py_ssize_t i, Py_ssize_t j, int k, double restitution) noexcept
    cdef void _turn_one(self, Py_ssize_t i, int k, double restitution, bint is_first, bint partner_yields) noexcept
    cdef bint _has_won(self, Py_ssize_t i, bint is_first) noexcept
    cdef void _rub(self, Py_ssize_t i, Py_ssize_t j, int k, int sign) noexcept
    cdef double _surface_of(self, Py_ssize_t i, int side, int axis) noexcept
    cdef double _slide(self, Py_ssize_t i, Py_ssize_t j, int k, int sign, int axis) noexcept
