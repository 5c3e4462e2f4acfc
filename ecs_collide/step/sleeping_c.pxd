cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.broadphase_c cimport Candidates
from ecs_collide.narrowphase.contacts_c cimport Contacts
from ecs_collide.broadphase.pair_table_c cimport Pairs
from ecs_collide.narrowphase.narrowphase_c cimport Meetings
from ecs_collide.narrowphase.placement_c cimport Settler

@cython.final
cdef class Sleepers:
    cdef Bodies bodies
    cdef Pairs pairs
    cdef Candidates candidates
    cdef Contacts contacts
    cdef Settler settler
    cdef Meetings meetings
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t n_leaning
    cdef long long n_islands
    cdef readonly Py_ssize_t n_resting
    cdef Py_ssize_t n_joined
    cdef bint is_indexed
    cdef long long[::1] beside
    cdef long long[::1] joined
    cdef signed char[::1] is_joined
    cdef long long[::1] reached
    cdef signed char[::1] is_reached
    cdef long long[::1] parent
    cdef signed char[::1] is_pressed
    cdef long long[::1] head
    cdef long long[:, ::1] next
    cpdef forget(self, Py_ssize_t i)
    cdef int _anchored_axes(self, Py_ssize_t i) noexcept
    cdef Py_ssize_t _root(self, Py_ssize_t i) noexcept
    cdef bint _hangs(self, Py_ssize_t n) noexcept
    cdef _find_islands(self, long long[::1] rows)
    cdef _lean(self, list chosen)
    cdef void _hold(self)
    cdef void rouse(self, Py_ssize_t i)
    cdef void _join(self, Py_ssize_t i)
    cdef void _index(self)
    cdef void join_sunk(self)
    cdef Py_ssize_t _reach(self, Py_ssize_t i, Py_ssize_t n) noexcept
    cdef bint _is_to_settle(self, Py_ssize_t p) noexcept
