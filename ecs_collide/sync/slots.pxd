cdef extern from "ecs_collide/sync/slots.h":
    ctypedef struct Slots:
        pass
    Slots *slots_new(object type, tuple names) except NULL
    void slots_free(Slots *slots) noexcept
    int slots_make_room(Slots *slots, Py_ssize_t n_rows) except -1
    void slots_use(Slots *slots, list items) noexcept
    void slots_cache(Slots *slots, Py_ssize_t i, object item) noexcept
    void slots_forget(Slots *slots, Py_ssize_t i, Py_ssize_t k) noexcept
    void slots_learn(
        Slots *slots, const long long *rows, Py_ssize_t n_rows, bint writes
    ) noexcept
    void slots_bind(Slots *slots, double *seen, double *now) noexcept
    ctypedef struct Marked:
        const Slots *slots
        int mark
    ctypedef struct Watch:
        const Slots *position
        const Slots *extents
        const signed char *flags[4]
        const signed char *has
        const Slots *common[4]
        const short *bits
        Marked rare[32]
        int n_rare
        int only_velocity
    Py_ssize_t watch_run(
        Watch *watch, const long long *rows, Py_ssize_t n, Py_ssize_t n_rows
    ) noexcept
    Py_ssize_t pair_run(
        const Slots *first, const Slots *second, const long long *rows, Py_ssize_t n,
        Py_ssize_t n_rows
    ) noexcept
    bint slots_hold(Slots *slots, Py_ssize_t i) noexcept
    bint slots_read(Slots *slots, Py_ssize_t i, double *numbers) noexcept
    int slots_write(Slots *slots, Py_ssize_t i) except -1
    Py_ssize_t write_run(
        const Slots *first, const Slots *second, const signed char *has, int second_mark, int stop,
        const long long *rows, Py_ssize_t n, Py_ssize_t n_rows
    ) except -1
    Py_ssize_t fields_read(Slots *slots, list items, Py_ssize_t n, double *numbers) noexcept
    bint fields_numbers(Slots *slots, object item, double *numbers) noexcept
    bint fields_false(Slots *slots, object item) noexcept
    Py_ssize_t fields_write(
        Slots *slots, list items, Py_ssize_t n, const double *numbers
    ) except -1
    bint same_bits(double *one, double *other, Py_ssize_t n) noexcept
    Py_ssize_t place_of_type(list types, object type) noexcept
    bint matches_cache(
        dict components, list types, list items, Py_ssize_t i, Py_ssize_t n_cached
    ) noexcept
