cimport cython

from ecs_collide._kernels._kinds_c cimport Slots

cdef extern from "_slots.h":
    """
    static inline Py_ssize_t place_of_type(PyObject *types, PyObject *type)
    {
        for (Py_ssize_t n = 0; n < LIST_SIZE(types); ++n)
            if (LIST_ITEM(types, n) == type)
                return n;
        return -1;
    }
    """
    bint fields_read(Slots *slots, object item, double *numbers) noexcept
    int fields_write(Slots *slots, object item, double *numbers) except -1
    bint same_bits(double *one, double *other, Py_ssize_t n) noexcept
    Py_ssize_t place_of_type(list types, object type) noexcept

@cython.final
cdef class Records:
    cdef readonly object type
    cdef readonly tuple names
    cdef bint are_whole
    cdef readonly list items
    cdef Slots *slots
    cdef Py_ssize_t width
