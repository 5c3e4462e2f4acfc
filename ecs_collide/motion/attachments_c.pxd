cimport cython

from ecs_collide.motion.bodies_c cimport Bodies

@cython.final
cdef class Attachments:
    cdef Bodies bodies
    cdef readonly Py_ssize_t n
    cdef readonly long long[::1] rows
    cdef readonly long long[::1] owners
    cdef readonly double[:, ::1] offset
    cdef readonly double[:, ::1] target
    cdef readonly double[:, ::1] displacement
    cdef double[:, ::1] beyond
    cdef long long[::1] head
    cdef long long[::1] next
    cpdef void start(self)
    cdef bint follow(self, Py_ssize_t n) except? -1
    cdef double place(self, Py_ssize_t n, int k, double owner, double t) noexcept
    cdef void follow_turned(self, Py_ssize_t i)
    cdef void lead(self, Py_ssize_t j)
    cdef void lead_turned(self)
    cdef void arrive(self)
    cdef double _end(self, Py_ssize_t n, int k) noexcept
    cdef double bring_in(self, Py_ssize_t n, int k) noexcept
