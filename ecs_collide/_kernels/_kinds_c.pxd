cdef extern from *:
    """
    #include <structmember.h>

    /* Components are plain classes with __slots__.  Where nothing but the slots themselves stands
       between a name and its value, the value is read and written at its place in the object.
       No pointer taken here outlives a call into Python. */

    /* The lists and columns of one kind of component, and where its slots are.  They belong to a
       Kind, which looks them up again whenever it has replaced or lengthened them. */
    typedef struct {
        PyObject **items;
        PyObject **known;
        PyObject *type;  /* None, which is the type of nothing, where there is no quick way. */
        Py_ssize_t width;
        Py_ssize_t offsets[6];
        double *seen;
        double *now;
    } Slots;

    static inline void slots_find(Slots *slots, PyObject *type, PyObject *names)
    {
    #ifndef Py_GIL_DISABLED
        if (((PyTypeObject *)type)->tp_getattro != PyObject_GenericGetAttr
            || ((PyTypeObject *)type)->tp_setattro != PyObject_GenericSetAttr)
            return;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            PyObject *found = PyObject_GetAttr(type, PyTuple_GET_ITEM(names, k));
            PyMemberDef *member = NULL;
            if (found == NULL)
                PyErr_Clear();
            else if (Py_IS_TYPE(found, &PyMemberDescr_Type)
                     && PyType_IsSubtype((PyTypeObject *)type, PyDescr_TYPE(found)))
                member = ((PyMemberDescrObject *)found)->d_member;
            Py_XDECREF(found);
            if (member == NULL || member->type != T_OBJECT_EX || member->flags != 0)
                return;
            slots->offsets[k] = member->offset;
        }
        slots->type = type;
    #endif
    }

    static inline Slots *slots_new(PyObject *type, PyObject *names)
    {
        Slots *slots = (Slots *)PyMem_Calloc(1, sizeof(Slots));
        if (slots == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        slots->width = PyTuple_GET_SIZE(names);
        slots->type = Py_None;
        if (slots->width > 0)
            slots_find(slots, type, names);
        return slots;
    }

    static inline void slots_free(Slots *slots)
    {
        PyMem_Free(slots);
    }

    static inline void slots_use(Slots *slots, PyObject *items, PyObject *known)
    {
        slots->items = ((PyListObject *)items)->ob_item;
        slots->known = ((PyListObject *)known)->ob_item;
    }

    static inline void slots_bind(Slots *slots, double *seen, double *now)
    {
        slots->seen = seen;
        slots->now = now;
    }

    static inline PyObject **slot_of(const Slots *slots, PyObject *item, Py_ssize_t k)
    {
        return (PyObject **)((char *)item + slots->offsets[k]);
    }

    static inline void remember(PyObject **known, PyObject *value)
    {
        PyObject *before = *known;
        Py_INCREF(value);
        *known = value;
        Py_DECREF(before);  /* A number or a bare object: no code runs. */
    }

    /* Tell whether the slots of a component still hold the very objects that are known. */
    static inline int slots_hold(const Slots *slots, Py_ssize_t i)
    {
        PyObject *item = slots->items[i];
        if ((PyObject *)Py_TYPE(item) != slots->type)
            return 0;
        for (Py_ssize_t k = 0; k < slots->width; ++k)
            if (*slot_of(slots, item, k) != slots->known[i * slots->width + k])
                return 0;
        return 1;
    }

    /* Read the slots of a component if they all hold plain numbers, which become known. */
    static inline int slots_read(const Slots *slots, Py_ssize_t i, double *numbers)
    {
        PyObject *item = slots->items[i], *value;
        if ((PyObject *)Py_TYPE(item) != slots->type)
            return 0;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            value = *slot_of(slots, item, k);
            if (value == NULL)
                return 0;
            if (PyFloat_CheckExact(value)) {
                numbers[k] = PyFloat_AS_DOUBLE(value);
            } else if (PyLong_CheckExact(value)) {
                numbers[k] = PyLong_AsDouble(value);
                if (numbers[k] == -1.0 && PyErr_Occurred()) {
                    PyErr_Clear(); /* The way by name says what is wrong with it. */
                    return 0;
                }
            } else {
                return 0;
            }
        }
        for (Py_ssize_t k = 0; k < slots->width; ++k)
            remember(&slots->known[i * slots->width + k], *slot_of(slots, item, k));
        return 1;
    }

    /* Write what differs from what was seen into the slots of a component; 0 where it has to be
       done by name, -1: failed.  A float that nobody else holds is written over. */
    static inline int slots_write(const Slots *slots, Py_ssize_t i)
    {
        PyObject *item = slots->items[i];
        if ((PyObject *)Py_TYPE(item) != slots->type)
            return 0;
        double *now = slots->now + i * slots->width;
        double *seen = slots->seen + i * slots->width;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            PyObject **slot = slot_of(slots, item, k), *before = *slot, *value;
            PyObject **known = &slots->known[i * slots->width + k];
            if (now[k] == seen[k]) {
                now[k] = seen[k]; /* zeros may differ in their signs */
                continue;
            }
            if (before == *known && PyFloat_CheckExact(before) && Py_REFCNT(before) == 2) {
                ((PyFloatObject *)before)->ob_fval = seen[k] = now[k];
                continue;
            }
            value = PyFloat_FromDouble(now[k]);
            if (value == NULL)
                return -1;
            seen[k] = now[k];
            remember(known, value);
            *slot = value;
            if (before != NULL && (PyFloat_CheckExact(before) || PyLong_CheckExact(before))) {
                Py_DECREF(before);
            } else {
                /* It may run any code when it goes, so this is the last that is done here. */
                Py_XDECREF(before);
                return 0;
            }
        }
        return 1;
    }
    """
    ctypedef struct Slots:
        pass
    Slots *slots_new(object type, tuple names) except NULL
    void slots_free(Slots *slots) noexcept
    void slots_use(Slots *slots, list items, list known) noexcept
    void slots_bind(Slots *slots, double *seen, double *now) noexcept
    bint slots_hold(Slots *slots, Py_ssize_t i) noexcept
    bint slots_read(Slots *slots, Py_ssize_t i, double *numbers) noexcept
    int slots_write(Slots *slots, Py_ssize_t i) except -1

cdef object NOTHING

cdef class Kind:
    cdef readonly object type
    cdef readonly tuple names
    cdef public int mark
    cdef readonly int response
    cdef public int counts
    cdef readonly list items
    cdef list known
    cdef Slots *slots
    cdef Py_ssize_t width
    cdef Py_ssize_t n_rows
    cdef double numbers[3]
    cdef double[:, ::1] seen
    cdef double[:, ::1] now
    cdef bint file(self, Py_ssize_t i, object component)
    cdef bint read(self, Py_ssize_t i)
    cdef int read_by_name(self, Py_ssize_t i)
    cpdef int put(self, Py_ssize_t i, Py_ssize_t k, double number)
    cdef int _forget(self, Py_ssize_t at)
    cdef int write(self, Py_ssize_t i)
