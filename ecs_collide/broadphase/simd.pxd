cdef extern from "ecs_collide/broadphase/simd.h" nogil:
    const int WIDTH
    const int PENDING
    const int ALL_LANES
    unsigned int touching(
        const float* lanes,
        const double* origins,
        const double* boxes,
        int node,
        const double* others,
        Py_ssize_t at,
        Py_ssize_t dim,
    )
    unsigned long long touching_pairs(
        const double* boxes,
        int node,
        unsigned int mask,
        const float* lanes2,
        const double* origins2,
        const double* boxes2,
        int node2,
        Py_ssize_t dim,
    )
    unsigned long long touching_above(
        const double* boxes, int node, unsigned int mask, const float* lanes, Py_ssize_t dim
    )
    bint touch(
        const double* boxes, Py_ssize_t p, const double* boxes2, Py_ssize_t q, Py_ssize_t dim
    )
    bint fill(
        float* lanes,
        double* origins,
        double* boxes,
        int node,
        int count,
        Py_ssize_t at,
        Py_ssize_t dim,
    )
    int lowest(unsigned int mask)
    int lowest_of_64(unsigned long long mask)
