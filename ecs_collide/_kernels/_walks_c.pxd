from ecs_collide._kernels._nodes_c cimport Nodes

cdef object find_pairs(
    Nodes nodes, double[:, ::1] tight_min, double[:, ::1] tight_max, long long[::1] found
)
cdef Py_ssize_t find_on_ray(
    Nodes nodes,
    double[::1] origin,
    double[::1] direction,
    double[:, ::1] tight_min,
    double[:, ::1] tight_max,
    long long[::1] ids,
    double[::1] hit,
) noexcept
cdef object verify(Nodes nodes)
