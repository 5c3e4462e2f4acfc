cimport cython

cdef int SEPARATE
cdef int TOUCH
cdef int IMPACT
cdef int OVERLAP

@cython.final
cdef class Sweeper:
    cdef public int dim
    cdef double gap[6]
    cdef double rate[6]
    cdef double slop[3]
    cdef double near[3]
    cdef public int kind
    cdef public int axis
    cdef public int sign
    cdef public int corner
    cdef public double enter
    cdef public double exit
    cdef public double depth
    cdef bint is_pressed
    cdef void aim(self, int k, double min1, double max1, double min2, double max2, double move1, double grow1, double move2, double grow2, double rest) noexcept
    cdef void loosen(self, int k, double largest) noexcept
    cdef void settle(self, int k, double bound) noexcept
    cdef int solve(self) noexcept
    cdef bint press(self, double* path, Py_ssize_t one, Py_ssize_t two, double way1, double way2, double clear) noexcept
    cdef double closing_rate(self, int axis, int sign) noexcept
    cdef int _find_front(self) noexcept
    cdef bint turn_to(self, int k, int sign) noexcept
    cdef bint _opens(self, int side) noexcept
    cdef void _find_shallowest(self) noexcept
    cdef bint is_shallowest_alone(self) noexcept
