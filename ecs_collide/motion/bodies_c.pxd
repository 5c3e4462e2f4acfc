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

cdef enum:
    PUSH = 3
    STOP = 4

cdef int ONE_WAY
cdef int PUSH_OUT

@cython.final
cdef class Bodies:
    cdef public int dim
    cdef Py_ssize_t n_path
    cdef public double dt
    cdef readonly Surfaces surfaces
    cdef readonly Controls controls
    cdef double farthest
    cdef public bint wraps
    cdef bint any_resize
    cdef public double[::1] width
    cdef readonly bint is_apart
    cdef readonly list blocks
    cdef readonly list memory
    cdef list bound
    cdef readonly Py_ssize_t capacity
    cdef Py_ssize_t n_marked
    cdef Py_ssize_t n_woken
    cdef Py_ssize_t n_turned
    cdef long long tick
    # The columns, as `motion.columns` lists them: public, so that `bind` can set them by name.
    cdef public double[:, ::1] centre
    cdef public double[:, ::1] half
    cdef public double[:, ::1] velocity
    cdef public double[:, ::1] growth
    cdef public double[:, ::1] motion
    cdef public double[:, ::1] swept_min
    cdef public double[:, ::1] swept_max
    cdef public double[:, ::1] tight_min
    cdef public double[:, ::1] tight_max
    cdef public double[:, ::1] seen_centre
    cdef public double[:, ::1] seen_half
    cdef public double[:, ::1] seen_velocity
    cdef public double[:, ::1] seen_growth
    cdef public double[:, ::1] seen_offset
    cdef public double[:, ::1] place
    cdef public double[:, ::1] seen_place
    cdef public double[:, ::1] size
    cdef public double[:, ::1] seen_size
    cdef public double[::1] mass
    cdef public double[::1] restitution
    cdef public double[::1] base
    cdef public double[::1] turned_at
    cdef public double[:, ::1] seen_restitution
    cdef public double[:, ::1] seen_owner
    cdef public signed char[::1] has
    cdef public signed char[::1] surface_bits
    cdef public signed char[::1] news
    cdef public signed char[::1] touched
    cdef public signed char[::1] bad
    cdef public signed char[::1] quarantined
    cdef public signed char[::1] disabled
    cdef public signed char[::1] attached
    cdef public signed char[::1] sensor
    cdef public signed char[::1] response
    cdef public signed char[::1] custom
    cdef public signed char[::1] moves
    cdef public signed char[::1] yields
    cdef public signed char[::1] rest_count
    cdef public signed char[::1] asleep
    cdef public signed char[::1] held
    cdef public signed char[::1] leans
    cdef public signed char[::1] gone
    cdef public signed char[::1] is_marked
    cdef public signed char[::1] is_turned
    cdef public signed char[::1] on_hold
    cdef public signed char[::1] present
    cdef public signed char[::1] driven
    cdef public long long[::1] ids
    cdef public long long[::1] n_filed
    cdef public long long[::1] island
    cdef public long long[::1] turned_tick
    cdef public long long[::1] marked
    cdef public long long[::1] woken
    cdef public long long[::1] turned
    cdef public double[::1] path
    cdef public double[:, :, ::1] turn
    cdef public double[:, ::1] kept
    # The same memory as `path` and `swept_min`, `swept_max`, for loops over all bodies.
    cdef double* flat_path
    cdef double* flat_min
    cdef double* flat_max
    cdef double clear_gap(self) noexcept
    cdef double slop_between(self, Py_ssize_t i, Py_ssize_t j, int k) noexcept
    cpdef void start(self, long long[::1] rows)
    cdef void mark(self, Py_ssize_t i) noexcept
    cdef void withdraw(self, Py_ssize_t i) noexcept
    cdef void interrupt_rest(self, Py_ssize_t i) noexcept
    cdef void note_crossing(self, Py_ssize_t i) noexcept
    cdef void note_pressed(self) noexcept
    cdef void finish_woken(self)
    cdef double widths_beyond(self, int k, double place) noexcept
    cdef double into_world(self, int k, double place) noexcept
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
    cdef bint yields_along(self, Py_ssize_t i, int k) noexcept
    cdef void restrain(self, long long[::1] rows, bint by_speed) noexcept
    cdef void note_turn(self, Py_ssize_t i) noexcept
    cdef bint has_turned_since(self, Py_ssize_t i, long long tick) noexcept
    cdef bint is_anchored(self, Py_ssize_t i, int k, double t) noexcept
    cdef void anchor(self, Py_ssize_t i, Py_ssize_t j, int k, double t) noexcept
    cdef void find_swept_bounds(self, Py_ssize_t i) noexcept
    cdef bint is_held(self, Py_ssize_t i) noexcept
    cdef bint holds_back(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef int translation_side(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef double centre_of(self, Py_ssize_t i, int k) noexcept
    cdef double half_of(self, Py_ssize_t i, int k) noexcept
    cdef double motion_of(self, Py_ssize_t i, int k) noexcept
    cdef double resize_of(self, Py_ssize_t i, int k) noexcept

cdef double* flat(double[:, ::1] view) noexcept
