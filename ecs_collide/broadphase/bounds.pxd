cdef extern from "ecs_collide/broadphase/bounds.h" nogil:
    const int FITS
    const int SAME
    int classify(
        const double* mins,
        const double* maxs,
        const double* motion,
        Py_ssize_t p,
        bint still,
        bint swept,
        const double* fat,
        Py_ssize_t q,
        double margin,
        double lookahead,
        double too_big,
        double* box,
        Py_ssize_t at,
        Py_ssize_t dim,
    )
    void widen(
        const double* mins,
        const double* maxs,
        const double* motion,
        Py_ssize_t p,
        bint still,
        bint swept,
        double margin,
        double lookahead,
        double share,
        double* fat,
        Py_ssize_t q,
        Py_ssize_t dim,
    )
