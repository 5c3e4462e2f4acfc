from ecs_collide.sync.slots_c cimport Slots

cdef enum:
    VALUE = 0
    CODE = 1

cdef class ComponentBinding:
    cdef readonly object type
    cdef readonly tuple names
    cdef public int mark
    cdef readonly int response
    cdef readonly tuple columns
    cdef public int counts
    cdef readonly list items
    cdef Slots *slots
    cdef Py_ssize_t width
    cdef bint has_parts
    cdef list parts
    cdef object _read_part(self, object item, Py_ssize_t k)
    cdef int _write_part(self, object item, Py_ssize_t k, double number) except? -1
    cdef Py_ssize_t n_rows
    cdef double numbers[3]
    cdef double minimum[3]
    cdef double maximum[3]
    cdef bint whole[3]
    cdef double[:, ::1] seen
    cdef double[:, ::1] now
    cpdef bint file(self, Py_ssize_t i, object component) except? -1
    cdef int forget(self, Py_ssize_t i) except? -1
    cdef bint is_filed(self, Py_ssize_t i) noexcept
    cdef bint allows(self, Py_ssize_t i, int k) noexcept
    cdef bint allows_all(self, Py_ssize_t i) noexcept
    cpdef bint is_other(self, Py_ssize_t i) except? -1
    cdef bint read(self, Py_ssize_t i) except? -1
    cdef int read_by_name(self, Py_ssize_t i) except? -1
    cpdef int put(self, Py_ssize_t i, Py_ssize_t k, double number) except? -1
    cdef long long[::1] kept_rows
    cdef double[:, ::1] kept
    cdef readonly Py_ssize_t n_kept
    cdef double[:, ::1] written
    cdef Py_ssize_t n_written
    cdef Py_ssize_t aimed_row
    cdef Py_ssize_t aimed_axis
    cdef double aimed
    cdef void _make_room(self, Py_ssize_t n_rows)
    cpdef int require(self, Py_ssize_t n_rows) except? -1
    cpdef int keep(self, Py_ssize_t i, bint is_ours) except? -1
    cdef int _keep_seen(self, Py_ssize_t i, Py_ssize_t code) except? -1
    cdef int see_none(self, Py_ssize_t i, double number) except? -1
    cdef int keep_all(self, long long[::1] rows) except? -1
    cdef int write_by_name(self, Py_ssize_t i) except? -1
    cdef int write_one(self, Py_ssize_t i, Py_ssize_t k, double number) except? -1
    cpdef int forget_kept(self) except? -1
    cpdef int roll_back(self, long long[::1] rows) except? -1
    cdef int _see_again(self, Py_ssize_t i, double[:, ::1] before, Py_ssize_t n, bint is_ours) except? -1
    cdef int _write_again(self, Py_ssize_t i, Py_ssize_t k, double ours, double before) except? -1
