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
    cdef int write(self, Py_ssize_t i)
