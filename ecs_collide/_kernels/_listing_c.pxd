from ecs_collide._kernels._tree_c cimport Tree

cdef class Listing:
    cdef readonly Py_ssize_t n
    cdef Tree tree
    cdef long long[::1] pairs  # the two items of pair i at 2 * i and 2 * i + 1
    cdef long long[::1] kept  # packed keys of pairs that stay
    cdef long long[::1] fresh  # packed keys of pairs that are new
    cdef long long[::1] spare
    cdef int[::1] counts

    cdef Py_ssize_t _keep(self, long long[::1] key_of) noexcept
    cdef void _sort(self, Py_ssize_t n, Py_ssize_t n_keys)
    cdef void _distribute(self, Py_ssize_t n, int shift, long long most) noexcept
    cdef void _merge(self, Py_ssize_t n_kept, Py_ssize_t n_fresh, long long[::1] item_of)
