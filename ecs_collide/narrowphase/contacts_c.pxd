cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.broadphase_c cimport Broadphase
from ecs_collide.narrowphase.event_buffer_c cimport EventBuffer
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.narrowphase.placement_c cimport PositionCorrection

cdef enum:  # the columns of Contacts.rows, beside FIRST and SECOND
    KIND = 2
    AXIS = 3
    SIGN = 4
    HANDLED = 5
    N_COLUMNS = 6

cdef double INF
cdef int SOLID
cdef int TOUCHED_BY_GAME
cdef int CROSSING
cdef int PASSING
cdef int LEAVING
cdef int UNTIL_APART
cdef int SEPARATED
cdef int FILTER_CHANGED
cdef int DROPPED

@cython.final
cdef class Contacts:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef Broadphase broadphase
    cdef PositionCorrection correction
    cdef EventBuffer event_buffer
    cdef readonly list left
    cdef Py_ssize_t n_pressed
    cdef Py_ssize_t n_free
    cdef long long[::1] free
    cdef long long[::1] pressed
    cdef signed char[::1] is_pressed
    cpdef void find_pressed(self, long long[::1] moving)
    cdef readonly list forgotten
    cdef public Py_ssize_t n
    cdef public long long[:, ::1] rows
    cdef long long[:, ::1] next_rows
    cdef public double[::1] since
    cdef double[::1] next_since
    cdef public double clock
    cdef public long long[::1] images
    cdef long long[::1] next_images
    cdef Py_ssize_t n_open
    cdef bint is_recalled
    cdef double[::1] opened
    cdef signed char[::1] side
    cdef Py_ssize_t n_kept
    cdef long long[:, ::1] kept_rows
    cdef double[::1] kept_since
    cdef long long[::1] kept_images
    cpdef void keep(self)
    cdef void recall(self)
    cdef bint _is_of(self, Py_ssize_t n, Py_ssize_t p) noexcept
    cdef void find_partings(self) noexcept
    cdef void restore(self, Py_ssize_t p, Py_ssize_t n) noexcept
    cdef void _make_room(self, Py_ssize_t n)
    cdef int meet(self, Py_ssize_t p, double now) except -1
    cdef int follow(self, Py_ssize_t p, double now) except -1
    cdef void part(self, Py_ssize_t p, double now)
    cdef void open(self, Py_ssize_t p, double now)
    cdef void forget_known(self, Py_ssize_t p) noexcept
    cdef void end_crossing(self, Py_ssize_t p)
    cdef void end_withdrawn(self, Py_ssize_t p, double now)
    cdef double _time_to_parting(self, Py_ssize_t p, double now) noexcept
    cdef void _log(self, Py_ssize_t p, int event, int phase, double time, int axis, int sign)
    cdef void _log_end(self, Py_ssize_t p, Py_ssize_t n, int phase, double time)
    cdef bint _is_left_out(self, Py_ssize_t n) noexcept
    cdef int _compare_solid(self, Py_ssize_t p) except -1
    cdef void _compare_crossing(self, Py_ssize_t p)
    cdef void _compare_soft(self, Py_ssize_t p)
    cdef void compare(self)
    cdef void _anchor(self, Py_ssize_t p, int k) noexcept
    cdef bint _is_contact(self, Py_ssize_t p) noexcept
    cdef void _leave(self, Py_ssize_t i, Py_ssize_t j)
    cdef int _keep(self, Py_ssize_t first, Py_ssize_t second, int crossing, int axis, int sign, double since) except -1
    cdef void _report_end(self, Py_ssize_t n, int phase, double time, int reason)
    cdef bint _is_outdated(self, Py_ssize_t n, Py_ssize_t p) noexcept
    cdef int _kind_reported(self, Py_ssize_t n) noexcept
    cdef void _move(self, Py_ssize_t n, Py_ssize_t to) noexcept
