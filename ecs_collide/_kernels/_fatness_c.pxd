cdef class FatBounds:
    cdef double[:, ::1] bounds
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
    cdef bint is_same(self, double* box, Py_ssize_t place, Py_ssize_t row) noexcept
    cdef void write_box(self, double* box, Py_ssize_t place, Py_ssize_t row) noexcept
    cdef double _way(self, Py_ssize_t p) noexcept
    cdef double _side(self, Py_ssize_t p) noexcept
    cdef double _fat_side(self, Py_ssize_t q) noexcept
    cdef bint _holds_way(self, Py_ssize_t q, Py_ssize_t p) noexcept
    cdef bint fits(self, Py_ssize_t item, Py_ssize_t row) noexcept
    cdef void fatten(self, Py_ssize_t item, Py_ssize_t row) noexcept

cdef double* flat(double[:, ::1] view) noexcept
