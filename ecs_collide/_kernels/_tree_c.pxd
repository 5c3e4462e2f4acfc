from ecs_collide._kernels._layout_c cimport Layout
from ecs_collide._kernels._nodes_c cimport Nodes
from ecs_collide._kernels._pairing_c cimport Pairing
from ecs_collide._kernels._walks_c cimport Walker

cdef class Tree:
    cdef readonly Py_ssize_t dim
    cdef public long long[::1] found
    cdef readonly Pairing pairing
    cdef Nodes nodes
    cdef Layout layout
    cdef Walker walker
    cdef Py_ssize_t n_puts  # since the last layout
    cdef int loose  # the node that new items are given before a layout; 0: none
    cdef long long[::1] moved
    cdef long long[::1] away
    cdef double[:, ::1] fat  # of each item: dim minima, then dim maxima
    cdef int[::1] turn_of  # of each item: how often it got fresh fat bounds
    # What `renew` was given last; no call but it and its parts may look at them.
    cdef double* mins
    cdef double* maxs
    cdef double* motion
    cdef double* fat_row
    cdef bint swept
    cdef double margin
    cdef double lookahead
    cdef double[3] ray_origin
    cdef double[3] ray_direction
    cdef double[7] ray_hit

    cpdef bint holds(self, Py_ssize_t item) noexcept
    cpdef bint drop(self, Py_ssize_t item) noexcept
    cpdef bint bounds_into(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef bint covers(self, Py_ssize_t item, double[:, ::1] mins, double[:, ::1] maxs) noexcept
    cpdef bint renew_one(
        self,
        Py_ssize_t item,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        double[:, ::1] motion,
        bint swept,
        double margin,
        double lookahead,
    ) except -1
    cdef void _aim(
        self,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        double[:, ::1] motion,
        bint swept,
        double margin,
        double lookahead,
    ) noexcept
    cdef bint _escapes(self, Py_ssize_t item) noexcept
    cdef void _write_box(self, Py_ssize_t item, Py_ssize_t place) noexcept
    cdef bint _fits(self, Py_ssize_t item) noexcept
    cdef void _fatten(self, Py_ssize_t item) noexcept
    cdef double _side(self, Py_ssize_t at) noexcept
    cdef int _reinsert(self, Py_ssize_t item) except -1
    cdef void _hang_loose(self, Py_ssize_t item) noexcept
    cpdef Py_ssize_t touching(self, double[:, ::1] mins, double[:, ::1] maxs, Py_ssize_t row) noexcept
    cpdef void forget_changes(self) noexcept
    cdef int _make_room(self, Py_ssize_t greatest) except -1
    cdef int _lay_out(self) except -1

cdef double* flat(double[:, ::1] view) noexcept
