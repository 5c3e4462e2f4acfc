cdef int PUSH
cdef int STOP

cdef class Bodies:
    cdef public int dim
    cdef public double dt
    cdef long long[::1] ids
    cdef double[:, ::1] centre
    cdef double[:, ::1] half
    cdef double[:, ::1] velocity
    cdef double[:, ::1] growth
    cdef double[:, ::1] motion
    cdef double[:, ::1] resize
    cdef double[::1] base
    cdef double[::1] mass
    cdef double[::1] restitution
    cdef signed char[::1] response
    cdef signed char[::1] moves
    cdef signed char[::1] touched
    cdef signed char[::1] custom
    cdef signed char[::1] yields
    cdef signed char[::1] sensor
    cdef signed char[::1] gone
    cdef double[:, ::1] anchored
    cdef double[:, ::1] anchor_velocity
    cdef double[:, ::1] earlier
    cdef double[::1] turned_at
    cdef double[:, ::1] swept_min
    cdef double[:, ::1] swept_max
    cdef double centre_at(self, Py_ssize_t i, int k, double t) noexcept
    cdef double half_at(self, Py_ssize_t i, int k, double t) noexcept
    cdef void advance(self, Py_ssize_t i, double t) noexcept
    cdef void set_velocity(self, Py_ssize_t i, int k, double value) noexcept
    cdef bint is_anchored(self, Py_ssize_t i, int k, double t) noexcept
    cdef void anchor(self, Py_ssize_t i, Py_ssize_t j, int k, double t) noexcept
    cdef void find_swept_bounds(self, Py_ssize_t i) noexcept
    cdef bint resizes(self, Py_ssize_t i, int k) noexcept
