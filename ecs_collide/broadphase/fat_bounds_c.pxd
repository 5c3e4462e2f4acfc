from ecs_collide.broadphase.nodes_c cimport Nodes

cdef class FatBounds:
    cdef Nodes nodes
    cdef double[:, ::1] bounds
    cdef long long[::1] moved
    cdef Py_ssize_t n_moved
    cdef long long[::1] displaced
    cdef Py_ssize_t n_displaced
    cdef Py_ssize_t n_new
    cdef Py_ssize_t dim
    cdef int[::1] turn_of  # of each item: how often it got fresh fat bounds
    # What `aim` was given last.
    cdef double* mins
    cdef double* maxs
    cdef double* motion
    cdef double* fat_row
    cdef bint still
    cdef bint swept
    cdef double margin
    cdef double lookahead

    cdef int make_room(self, Py_ssize_t n_items) except -1
    cdef void aim(
        self,
        double[:, ::1] mins,
        double[:, ::1] maxs,
        double[:, ::1] motion,
        bint swept,
        double margin,
        double lookahead,
    ) noexcept
    cdef Py_ssize_t update(
        self,
        long long[::1] items,
        bint filed,
        Py_ssize_t escaped_limit,
        Py_ssize_t displaced_limit,
    ) noexcept
    cdef bint _is_within_build_box(self, Py_ssize_t item) noexcept
    cdef void write_box(self, Py_ssize_t place, Py_ssize_t row) noexcept
    cdef void _fatten(self, Py_ssize_t item, Py_ssize_t row) noexcept
