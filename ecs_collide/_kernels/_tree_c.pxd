from ecs_collide._kernels._layout_c cimport Layout
from ecs_collide._kernels._nodes_c cimport Nodes

cdef class Tree:
    cdef readonly Py_ssize_t dim
    cdef public long long[::1] found
    cdef Nodes nodes
    cdef Layout layout
    cdef Py_ssize_t n_puts  # since the last layout

    cpdef bint put(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) except -1
    cpdef bint drop(self, Py_ssize_t item) noexcept
    cpdef bint holds(self, Py_ssize_t item) noexcept
    cpdef bint covers(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef bint exceeds(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row, double times) noexcept
    cpdef bint bounds_into(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef Py_ssize_t phase(self, Py_ssize_t item) noexcept
    cpdef Py_ssize_t touching(self, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef Py_ssize_t overlapping(
        self,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        Py_ssize_t row,
        double[:, ::1] tight_min,
        double[:, ::1] tight_max,
    ) noexcept
    cdef int _make_room(self, Py_ssize_t n_new, Py_ssize_t least, Py_ssize_t greatest) except -1
    cdef int _make_room_for(self, long long[::1] items) except -1
    cdef void _lay_out(self) noexcept

cpdef void fatten(
    Py_ssize_t phase,
    double[:, ::1] swept_min,
    double[:, ::1] swept_max,
    double[:, ::1] motions,
    Py_ssize_t row,
    double margin,
    double lookahead,
    double[:, ::1] fat_min,
    double[:, ::1] fat_max,
) noexcept
