cdef extern from "_slots.h":
    ctypedef struct Slots:
        pass
    Slots *slots_new(object type, tuple names) except NULL
    void slots_free(Slots *slots) noexcept
    int slots_make_room(Slots *slots, Py_ssize_t n_rows) except -1
    void slots_file(Slots *slots, Py_ssize_t i, object item) noexcept
    void slots_forget(Slots *slots, Py_ssize_t i, Py_ssize_t k) noexcept
    void slots_bind(Slots *slots, double *seen, double *now) noexcept
    ctypedef struct Watch:
        const Slots *position
        const Slots *extents
        const Slots *others[4]
        int marks[4]
        int any_mark
        const signed char *has
        const signed char *flags[5]
    Py_ssize_t watch_run(
        const Watch *watch, const long long *rows, Py_ssize_t n, Py_ssize_t n_rows
    ) noexcept
    bint slots_hold(Slots *slots, Py_ssize_t i) noexcept
    bint slots_read(Slots *slots, Py_ssize_t i, double *numbers) noexcept
    int slots_write(Slots *slots, Py_ssize_t i) except -1
    void slots_copy_seen(Slots *slots, long long *rows, Py_ssize_t n, double *copies) noexcept

cdef class Kind:
    cdef readonly object type
    cdef readonly tuple names
    cdef public int mark
    cdef readonly int response
    cdef public int counts
    cdef readonly list items
    cdef Slots *slots
    cdef Py_ssize_t width
    cdef Py_ssize_t n_rows
    cdef double numbers[3]
    cdef double[:, ::1] seen
    cdef double[:, ::1] now
    cdef bint file(self, Py_ssize_t i, object component)
    cdef int forget(self, Py_ssize_t i)
    cdef bint read(self, Py_ssize_t i)
    cdef int read_by_name(self, Py_ssize_t i)
    cpdef int put(self, Py_ssize_t i, Py_ssize_t k, double number)
    cdef long long[::1] kept_rows
    cdef double[:, ::1] kept
    cdef readonly Py_ssize_t n_kept
    cdef double[:, ::1] written
    cdef Py_ssize_t n_written
    cdef Py_ssize_t aimed_row
    cdef Py_ssize_t aimed_axis
    cdef double aimed
    cdef void _make_room(self, Py_ssize_t n_rows)
    cpdef int require(self, Py_ssize_t n_rows)
    cpdef int keep(self, Py_ssize_t i, bint is_ours)
    cdef void _make_room_to_keep(self)
    cdef int keep_all(self, long long[::1] rows)
    cdef int write_by_name(self, Py_ssize_t i)
    cdef int _set(self, Py_ssize_t i, Py_ssize_t k, double number)
    cpdef int forget_kept(self)
    cpdef int take_back(self, long long[::1] rows)
    cdef int _see_again(self, Py_ssize_t i, double[:, ::1] before, Py_ssize_t n, bint is_ours)
    cdef int _say_again(self, Py_ssize_t i, Py_ssize_t k, double ours, double before)
