from ecs_collide._kernels._kinds_c cimport Kind, Watch
from ecs_collide._kernels._trait_gather_c cimport TraitGatherer
from ecs_collide._kernels._traits_c cimport Traits

cdef double LARGEST
cdef double INFINITE
cdef double FAR
cdef int TOUCHED_BY_GAME
cdef int TOUCHED_BY_FILTER
cdef int TOUCHED_AS_NEW
cdef int TRAITS
cdef double ROUNDS
cdef int VELOCITY
cdef int GROWTH
cdef int MASS
cdef int DEFLECT
cdef int SENSOR
cdef int CUSTOM
cdef int FIXED
cdef int NEW
cdef int UNPLACED
cdef int UNCHECKED
cdef int BAD
cdef int DISTANT

cdef class Gatherer:
    cdef int dim
    cdef bint is_settled
    cdef bint any_sensor
    cdef Traits traits
    cdef TraitGatherer trait_gatherer
    cdef signed char[::1] has_traits
    cdef public bint sweeps
    cdef readonly list kinds
    cdef readonly list fallen
    cdef public list touched_rows
    cdef public list looked_at
    cdef readonly list altered
    cdef public list to_place
    cdef readonly list awoken
    cdef readonly list contradictory
    cdef readonly list fresh
    cdef readonly Py_ssize_t n_fresh
    cdef Watch watch
    cdef readonly list kept_filters
    cdef list kept_boxes  # rows, centres and half sizes that were seen
    cdef list kept_out  # rows, and whether they were in quarantine
    cdef long long[::1] writing
    cdef int _require_room(self)
    cpdef int keep_box(self, Py_ssize_t i)
    cdef int _keep_boxes(self, object rows)
    cdef Kind position
    cdef Kind extents
    cdef Kind velocity
    cdef Kind growth
    cdef Kind mass_kind
    cdef Kind deflect
    cdef bint converts
    cdef double halves
    cdef double lean[3]
    cdef bint wraps
    cdef double[::1] width
    cdef double[:, ::1] place
    cdef double[:, ::1] seen_place
    cdef double[:, ::1] size
    cdef double[:, ::1] seen_size
    cdef Py_ssize_t n_rows
    cdef double[:, ::1] centre
    cdef double[:, ::1] half
    cdef double[:, ::1] velocity_now
    cdef double[:, ::1] growth_now
    cdef double[:, ::1] seen_centre
    cdef double[:, ::1] seen_half
    cdef double[:, ::1] seen_velocity
    cdef double[:, ::1] seen_growth
    cdef double[:, ::1] motion
    cdef double[:, ::1] tight_min
    cdef double[:, ::1] tight_max
    # The same memory as some of these, for loops over all bodies.
    cdef double* flat_centre
    cdef double* flat_half
    cdef double* flat_seen_half
    cdef double* flat_velocity
    cdef double* flat_min
    cdef double* flat_max
    cdef double[::1] mass
    cdef double[::1] restitution
    cdef double[:, ::1] seen_restitution
    cdef long long[::1] n_filed
    cdef signed char[::1] has
    cdef signed char[::1] news
    cdef signed char[::1] bad
    cdef signed char[::1] moves
    cdef signed char[::1] touched
    cdef signed char[::1] response
    cdef signed char[::1] custom
    cdef signed char[::1] sensor
    cdef signed char[::1] yields
    cdef signed char[::1] quarantined
    cdef signed char[::1] calm
    cdef signed char[::1] asleep
    cdef Py_ssize_t _next(self, long long[::1] rows, Py_ssize_t n) noexcept
    cdef int _note_fresh(self, Py_ssize_t i)
    cdef bint _is_as_seen(self, Py_ssize_t i) noexcept
    cdef bint _look(self, Py_ssize_t i, double dt, bint anew)
    cdef int _read_body(self, Py_ssize_t i, bint anew)
    cdef int _find_centre(self, Py_ssize_t i) noexcept
    cdef int _find_place(self, Py_ssize_t i) noexcept
    cdef int _check(self, Py_ssize_t i) except -1
    cdef bint _check_traits(self, Py_ssize_t i) except -1
    cdef bint _stays_within(self, Py_ssize_t i, double dt) noexcept
    cdef int _find_faces(self, Py_ssize_t i) noexcept
