cimport cython

from ecs_collide.motion.bodies_c cimport Bodies

cdef long long whole(double number) noexcept
cdef long long one_width(int k) noexcept
cdef long long widths_of(long long image, int k) noexcept

@cython.final
cdef class PeriodicImages:
    cdef Bodies bodies
    cdef long long image
    cdef Py_ssize_t n_long_paths
    cdef Py_ssize_t body
    cdef bint is_clipped
    cdef bint is_done
    cdef double[::1] offset
    cdef double[::1] low
    cdef double[::1] high
    cdef double[::1] bounds_min  # of all paths that are not long
    cdef double[::1] bounds_max
    cdef double[::1] target_min  # what the images are to reach
    cdef double[::1] target_max
    cdef double[::1] target_motion
    cdef double[::1] centre  # of the body whose images are searched
    cdef double[::1] half
    cdef double[::1] motion
    cdef double[::1] first  # in widths, on each axis: the first image, the current one, the last
    cdef double[::1] at
    cdef double[::1] last
    cdef long long[::1] long_paths
    cdef signed char[::1] has_long_path
    cdef long long[::1] shifts
    cdef void begin(self) noexcept
    cdef void widen(self, int k, double low, double high) noexcept
    cdef void add_path(self, Py_ssize_t i) noexcept
    cdef void find_short_paths(self, Py_ssize_t i) noexcept
    cdef void find_images_of(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _start_body(self, Py_ssize_t i) noexcept
    cdef bint advance(self) noexcept
    cdef void rest(self) noexcept
    cdef void select(self, long long image) noexcept
    cdef bint _step(self) noexcept
    cdef bint _clips(self) noexcept
