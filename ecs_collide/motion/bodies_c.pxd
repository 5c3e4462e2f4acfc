cimport cython

from ecs_collide.motion.controls_c cimport Controls
from ecs_collide.motion.surfaces_c cimport Surfaces

cdef enum:
    CENTRE = 0
    HALF = 1
    MOTION = 2
    RESIZE = 3

cdef enum:
    ANCHORED = 0
    ANCHOR_VELOCITY = 1
    EARLIER = 2

cdef enum:
    AWAKE = 0
    ASLEEP = 1
    WOKEN = 2
    LEANS = 64

cdef int PUSH
cdef int STOP
cdef int ONE_WAY
cdef int PUSH_OUT

@cython.final
cdef class Bodies:
    cdef public int dim
    cdef public double dt
    cdef readonly Surfaces surfaces
    cdef readonly Controls controls
    cdef double farthest
    cdef public bint wraps
    cdef bint any_resize
    cdef public double[::1] width
    cdef double[::1] path
    cdef double[::1] base
    cdef double[:, :, ::1] turn
    cdef double[::1] turned_at
    cdef long long[::1] marked
    cdef signed char[::1] is_marked
    cdef long long tick
    cdef long long[::1] turned
    cdef signed char[::1] is_turned
    cdef long long[::1] turned_tick
    cdef signed char[::1] on_hold
    cdef double[:, ::1] kept
    cdef Py_ssize_t n_turned
    cdef Py_ssize_t n_marked
    cdef long long[::1] woken
    cdef Py_ssize_t n_woken
    cdef long long[::1] ids
    cdef double[:, ::1] centre
    cdef double[:, ::1] half
    cdef double[:, ::1] velocity
    cdef double[:, ::1] growth
    cdef double[:, ::1] motion
    cdef double[::1] mass
    cdef double[::1] restitution
    cdef signed char[::1] response
    cdef signed char[::1] moves
    cdef signed char[::1] touched
    cdef signed char[::1] custom
    cdef signed char[::1] yields
    cdef signed char[::1] sensor
    cdef signed char[::1] gone
    cdef signed char[::1] rest_count
    cdef signed char[::1] asleep
    cdef signed char[::1] held
    cdef signed char[::1] leans
    cdef long long[::1] island
    cdef double[:, ::1] seen_centre
    cdef double[:, ::1] swept_min
    cdef double[:, ::1] swept_max
    # The same memory as `path` and `swept_min`, `swept_max`, for loops over all bodies.
    cdef double* flat_path
    cdef double* flat_min
    cdef double* flat_max
    cdef Py_ssize_t start_of(self, Py_ssize_t i) noexcept
    cpdef void start(self, long long[::1] rows)
    cdef void mark(self, Py_ssize_t i) noexcept
    cdef void withdraw(self, Py_ssize_t i) noexcept
    cdef void interrupt_rest(self, Py_ssize_t i) noexcept
    cdef void note_crossing(self, Py_ssize_t i) noexcept
    cdef void note_pressed(self) noexcept
    cdef void finish_woken(self)
    cdef double widths_beyond(self, int k, double place) noexcept
    cdef double into_world(self, int k, double place) noexcept
    cdef void _extend_to_edges(self, Py_ssize_t i) noexcept
    cdef bint turned_now(self, Py_ssize_t i, double t) noexcept
    cdef void put(self, Py_ssize_t i, int k, double centre) noexcept
    cdef double centre_at(self, Py_ssize_t i, int k, double t) noexcept
    cdef double half_at(self, Py_ssize_t i, int k, double t) noexcept
    cdef void advance(self, Py_ssize_t i, double t) noexcept
    cdef void finish_step(self, long long[::1] rows)
    cdef void set_velocity(self, Py_ssize_t i, int k, double value) noexcept
    cdef void turn_to(self, Py_ssize_t i, int k, double velocity, double t) noexcept
    cdef void stop_growing(self, Py_ssize_t i, int k) noexcept
    cdef bint is_lighter(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef bint gives_way(self, Py_ssize_t i, int k) noexcept
    cdef void restrain(self, long long[::1] rows, bint by_speed) noexcept
    cdef void note_turn(self, Py_ssize_t i) noexcept
    cdef bint has_turned_since(self, Py_ssize_t i, long long tick) noexcept
    cdef bint is_anchored(self, Py_ssize_t i, int k, double t) noexcept
    cdef void anchor(self, Py_ssize_t i, Py_ssize_t j, int k, double t) noexcept
    cdef void find_swept_bounds(self, Py_ssize_t i) noexcept
    cdef bint holds_back(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef int translation_side(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef double centre_of(self, Py_ssize_t i, int k) noexcept
    cdef double half_of(self, Py_ssize_t i, int k) noexcept
    cdef double motion_of(self, Py_ssize_t i, int k) noexcept
    cdef double resize_of(self, Py_ssize_t i, int k) noexcept

cdef double* flat(double[:, ::1] view) noexcept
