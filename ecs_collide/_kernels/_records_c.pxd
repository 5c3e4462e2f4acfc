cimport cython

from ecs_collide._kernels._kinds_c cimport Slots

cdef extern from *:
    """
    /* Read the slots of a component if they all hold plain floats. */
    static inline int fields_read(const Slots *slots, PyObject *item, double *numbers)
    {
        PyObject *value;
        if ((PyObject *)Py_TYPE(item) != slots->type)
            return 0;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            value = *slot_of(slots, item, k);
            if (value == NULL || !PyFloat_CheckExact(value))
                return 0;
            numbers[k] = PyFloat_AS_DOUBLE(value);
        }
        return 1;
    }

    static inline int same_bits(const double *one, const double *other, Py_ssize_t n)
    {
        return memcmp(one, other, (size_t)n * sizeof(double)) == 0;
    }

    /* Write the slots of a component if all that are full hold plain floats; 0 where it has to be
       done by name, -1: failed. */
    static inline int fields_write(const Slots *slots, PyObject *item, const double *numbers)
    {
        PyObject *value, *before, **slot;
        if ((PyObject *)Py_TYPE(item) != slots->type)
            return 0;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            slot = slot_of(slots, item, k);
            before = *slot;
            if (before != NULL) {
                if (!PyFloat_CheckExact(before))
                    return 0;
                if (same_bits(&((PyFloatObject *)before)->ob_fval, &numbers[k], 1))
                    continue;
            }
            value = PyFloat_FromDouble(numbers[k]);
            if (value == NULL)
                return -1;
            *slot = value;
            Py_XDECREF(before);  /* A float: no code runs. */
        }
        return 1;
    }

    static inline Py_ssize_t place_of_type(PyObject *types, PyObject *type)
    {
        for (Py_ssize_t n = 0; n < PyList_GET_SIZE(types); ++n)
            if (PyList_GET_ITEM(types, n) == type)
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
