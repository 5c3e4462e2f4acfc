cimport cython

from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.broadphase.pair_table_c cimport PairTable
from ecs_collide.response.solver_c cimport Solver

cdef int SEPARATES

@cython.final
cdef class Separating:
    cdef Bodies bodies
    cdef PairTable pairs
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_pairs
    cdef readonly Py_ssize_t n
    cdef readonly long long n_left_out
    cdef readonly long long[::1] rows
    cdef long long[::1] soft
    cdef double[::1] reach
    cdef double[::1] size
    cdef double[:, ::1] place
    cdef double[:, ::1] half
    cdef readonly double[:, ::1] push
    cdef double[:, ::1] total
    cdef long long[::1] count
    cdef double[:, ::1] total_left_out
    cdef long long[::1] count_left_out
    cdef signed char[::1] active
    cdef double[:, ::1] before
    cdef double[:, ::1] speed
    cdef double[3] offset
    cdef double[3] displacement
    cpdef begin(self, long long[::1] rows)
    cpdef void separate(self)
    cdef void forget(self) noexcept
    cdef void _locate(self, Py_ssize_t i) noexcept
    cdef void leave_out(self, Py_ssize_t i, Py_ssize_t j, double[::1] offset) noexcept
    cdef void _find_soft(self)
    cdef bint _relax(self) noexcept
    cdef bint _find_separation(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _part_by_id(self, Py_ssize_t i, Py_ssize_t j) noexcept
    cdef void _add(self, Py_ssize_t i, Py_ssize_t j, double[:, ::1] total, long long[::1] count) noexcept
    cdef bint suspend(self, Py_ssize_t i, int k, Solver solver) noexcept
    cdef void resume(self, Py_ssize_t i, Solver solver) noexcept
    cdef void end(self) noexcept
