cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.motion.gravity_c cimport Gravity
from ecs_collide.narrowphase.narrowphase_c cimport SharedMotion

cdef double error_of_product(double a, double b, double product) noexcept
cdef double error_of_sum(double a, double b, double total) noexcept

cdef struct Node:
    int body
    int size
    int anchor
    int next
    int last
    int next_rim
    int rim
    int last_rim
    int seen_rim
    int last_seen_rim
    int n_ranked
    signed char axis
    signed char is_on_rim
    signed char is_changed
    signed char is_unwritten
    signed char is_worn
    signed char lasts
    signed char resizes
    long long rim_of
    long long rank
    double momentum
    double momentum_low
    double mass
    double mass_low
    double velocity
    double shift

@cython.final
cdef class Clusters(SharedMotion):
    cdef Bodies bodies
    cdef public Gravity gravity
    cdef public double now
    cdef public long long n_merges
    cdef public long long n_lasting
    cdef public long long instant
    cdef public long long first_instant
    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t n_free
    cdef Py_ssize_t n_live
    cdef Py_ssize_t n_changed
    cdef Py_ssize_t n_unwritten
    cdef Py_ssize_t n_alone
    cdef long long[:, ::1] turned_in
    cdef long long[::1] alone
    cdef signed char[::1] is_alone
    cdef Py_ssize_t capacity
    cdef int[::1] parent
    cdef Node* nodes
    cdef signed char[::1] bytes
    cdef long long[:, ::1] node_of
    cdef long long[::1] changed
    cdef long long[::1] unwritten
    cdef long long[::1] live
    cdef long long[::1] free
    cdef long long[::1] lasting
    cdef bint any_shift
    cdef double anchor_velocity
    cdef void _make_room(self, Py_ssize_t n_nodes)
    cdef void begin_step(self) noexcept
    cdef void begin_instant(self, double now) noexcept
    cdef bint has_changed(self) noexcept
    cdef void turn_alone(self, Py_ssize_t i, int k, double velocity) noexcept
    cdef Py_ssize_t pop_alone(self) noexcept
    cdef Py_ssize_t root(self, Py_ssize_t node) noexcept
    cdef double _velocity_of_member(self, Py_ssize_t node, Py_ssize_t root) noexcept
    cdef double velocity_of(self, Py_ssize_t i, int k) noexcept
    cdef Py_ssize_t ensure(self, Py_ssize_t i, int k) except? -1
    cdef void _note_turn(self, Py_ssize_t node) noexcept
    cdef void end_step(self) noexcept
    cdef Py_ssize_t lasting_root(self, Py_ssize_t i, int k) noexcept
    cdef long long rank_with(self, Py_ssize_t i, int k) noexcept
    cdef double shared_velocity(self, Py_ssize_t root) noexcept
    cdef double leaving_velocity(self, Py_ssize_t root) noexcept
    cdef double final_velocity(self, Py_ssize_t i, int k) noexcept
    cdef bint is_anchored(self, Py_ssize_t i, int k) noexcept
    cdef double kick_of(self, Py_ssize_t i, int k) noexcept
    cdef double velocity_now(self, Py_ssize_t i, int k) noexcept
    cdef bint split_path(self, Py_ssize_t i, int k) noexcept
    cdef void push(self, Py_ssize_t root, double mass, double velocity) noexcept
    cdef void _weigh_anew(self, Py_ssize_t root) noexcept
    cdef void _add_momentum(self, Py_ssize_t root, double momentum) noexcept
    cdef void _add_mass(self, Py_ssize_t root, double mass) noexcept
    cdef void _add(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef void _outweigh(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef bint _persists(self, Py_ssize_t root) noexcept
    cdef long long _lowest(self, Py_ssize_t root) noexcept
    cdef bint _leads(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef void _put_all_on_rim(self, Py_ssize_t root) noexcept
    cdef void leave(self, Py_ssize_t i, int k) noexcept
    cdef void merge(self, Py_ssize_t one, Py_ssize_t other, Py_ssize_t anchor) noexcept
    cdef double loss_with(self, Py_ssize_t root, double mass, double velocity) noexcept
    cdef double shift_of(self, Py_ssize_t i, int k) noexcept
    cdef void shift_by(self, Py_ssize_t root, double shift) noexcept
    cdef double _mean(self, Py_ssize_t one, Py_ssize_t other) noexcept
    cdef double _velocity_for(self, double momentum, double momentum_low, double mass, double mass_low) noexcept
    cdef void _set_velocity(self, Py_ssize_t root, double velocity) noexcept
    cdef Py_ssize_t pop_changed(self) noexcept
    cdef void keep_on_rim(self, Py_ssize_t node, Py_ssize_t root) noexcept
    cdef void write(self) noexcept
    cdef void write_axis(self, Py_ssize_t i, int k) noexcept
    cdef void _share(self, Py_ssize_t root) noexcept
    cdef void write_body(self, Py_ssize_t i) noexcept
    cdef void _append_seen(self, Py_ssize_t root, Py_ssize_t first, Py_ssize_t last) noexcept
    cdef void _append_rim(self, Py_ssize_t root, Py_ssize_t first, Py_ssize_t last) noexcept
