/* Columns of events as bytes, and rows of `events.collision_dtype` without gaps. */

#ifndef ECS_COLLIDE_PACKED_H
#define ECS_COLLIDE_PACKED_H

#include <Python.h>
#include <string.h>

/* Return n rows as bytes: `n_first` numbers, a code, the rest of `width` numbers, a code. */
static inline PyObject *packed_rows(const double *numbers, const signed char *codes, Py_ssize_t n,
                                    Py_ssize_t width, Py_ssize_t n_first)
{
    const size_t before = (size_t)n_first * sizeof(double);
    const size_t after = (size_t)(width - n_first) * sizeof(double);
    PyObject *rows = PyBytes_FromStringAndSize(NULL, n * (Py_ssize_t)(before + after + 2));
    char *to = rows == NULL ? NULL : PyBytes_AsString(rows);
    for (; to != NULL && n > 0; --n, numbers += width, codes += 2) {
        memcpy(to, numbers, before);
        to[before] = codes[0];
        memcpy(to + before + 1, numbers + n_first, after);
        to[before + 1 + after] = codes[1];
        to += before + after + 2;
    }
    return rows;
}

/* Return the first n bytes of an array. */
static inline PyObject *bytes_of(const void *array, Py_ssize_t n)
{
    return PyBytes_FromStringAndSize((const char *)array, n);
}

#endif
