from ecs_collide.broadphase.nodes_c cimport Nodes

cdef class Walker:
    cdef Nodes nodes
    cdef int[::1] stack
    cdef double[::1] entry  # of each node on the stack: when the ray enters it
    cdef long long[::1] found
    cdef double[3] one  # the two vectors of a question
    cdef double[3] other
    cdef double[7] hit

    cdef Py_ssize_t find_touching(
        self,
        double* mins,
        double* maxs,
        Py_ssize_t row,
        long long[::1] found,
    ) noexcept
    cdef Py_ssize_t find_on_ray(
        self,
        double* origin,
        double* direction,
        bint own,
        double* tight_min,
        double* tight_max,
        long long[::1] ids,
        double* hit,
    ) noexcept
    cdef object verify(self)
    cdef bint _knows(self, Py_ssize_t place) noexcept

cdef int take(object vector, double* into, Py_ssize_t dim) except -1
cdef double time_of_entry(
    double* mins,
    double* maxs,
    Py_ssize_t p,
    Py_ssize_t q,
    Py_ssize_t dim,
    double* origin,
    double* direction,
) noexcept
cdef void describe_hit(
    double* mins,
    double* maxs,
    Py_ssize_t p,
    Py_ssize_t q,
    Py_ssize_t dim,
    double time,
    double* origin,
    double* direction,
    double* hit,
) noexcept
