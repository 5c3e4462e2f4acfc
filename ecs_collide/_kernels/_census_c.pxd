cdef extern from "_slots.h":
    """
    /* Tell whether an entity has exactly the components that are filed in a row: one look at
       each pointer, as a world has more of them than of anything else. */
    static inline int files_agree(PyObject *components, PyObject *types, PyObject *items,
                                  Py_ssize_t i, Py_ssize_t n_filed)
    {
        Py_ssize_t place = 0, n_types = LIST_SIZE(types), k;
        PyObject *type, *component, *filed;
        while (PyDict_Next(components, &place, &type, &component)) {
            for (k = 0; k < n_types && LIST_ITEM(types, k) != type; ++k)
                ;
            if (k == n_types)
                continue;
            filed = LIST_ITEM(items, k);
            if (i >= LIST_SIZE(filed) || LIST_ITEM(filed, i) != component)
                return 0;
            --n_filed;
        }
        return n_filed == 0;
    }
    """
    bint files_agree(
        dict components, list types, list items, Py_ssize_t i, Py_ssize_t n_filed
    ) noexcept

cdef class Census:
    cdef readonly list newcomers
    cdef readonly list changed
    cdef readonly list gone
