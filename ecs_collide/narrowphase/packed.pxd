cdef extern from "ecs_collide/narrowphase/packed.h":
    bytes packed_rows(
        const double *numbers,
        const signed char *codes,
        Py_ssize_t n,
        Py_ssize_t width,
        Py_ssize_t n_first,
    )
    bytes bytes_of(const void *array, Py_ssize_t n)
