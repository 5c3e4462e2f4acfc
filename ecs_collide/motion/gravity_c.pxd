cimport cython

from ecs_collide.motion.bodies_c cimport Bodies

@cython.final
cdef class Gravity:
    cdef Bodies bodies
    cdef public bint is_on
    cdef long long step
    cdef double[::1] acceleration
    cdef long long[::1] started
    cdef double[::1] scale
    cdef double[:, ::1] pull
    cdef double[:, ::1] kick
    cdef double[:, ::1] since
    cdef signed char[:, ::1] held
    cdef double decay
    cdef double mean
    cdef double rest
    cpdef begin_step(self)
    cdef bint acts_on(self, Py_ssize_t i) noexcept
    cdef bint start(self, Py_ssize_t i) noexcept
    cdef double _pull_of(self, Py_ssize_t i, int k) noexcept
    cdef void _find_decay(self, double x) noexcept
    cdef double chord_of(self, Py_ssize_t i, int k, double velocity) noexcept
    cdef void start_at_rest(self, Py_ssize_t i) noexcept
    cdef double kick_of(self, Py_ssize_t i, int k) noexcept
    cdef double velocity_at(self, Py_ssize_t i, int k, double velocity, double t) noexcept
    cdef double earlier_at(self, Py_ssize_t i, int k, double velocity, double t) noexcept
    cdef bint is_split(self, Py_ssize_t i, int k, double t) noexcept
    cdef double split(self, Py_ssize_t i, int k, double velocity, double t) noexcept
    cdef void hold(self, Py_ssize_t i, int k) noexcept
    cdef void free(self, Py_ssize_t i, int k, double t) noexcept
    cdef void weaken(self, Py_ssize_t i, int k, double part) noexcept
    cpdef finish(self, long long[::1] rows)
    cpdef finish_woken(self)
    cdef void note_split(self, Py_ssize_t i, int k, double velocity) noexcept
