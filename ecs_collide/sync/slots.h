/* The slots of components, read and written in place.

   Components are plain classes with __slots__.  Where nothing but the slots themselves stands
   between a name and its value, the value is read and written at its place in the object.
   No pointer taken here outlives a call into Python. */

#ifndef ECS_COLLIDE_SLOTS_H
#define ECS_COLLIDE_SLOTS_H

#include <string.h>

#include "ecs_collide/broadphase/inline.h"

/* A build for the limited API cannot access the fields of floats and lists. */
#ifdef Py_LIMITED_API
#define LIST_SIZE PyList_Size
#define LIST_ITEM PyList_GetItem
#define FLOAT_VALUE PyFloat_AsDouble
#else
#define LIST_SIZE PyList_GET_SIZE
#define LIST_ITEM PyList_GET_ITEM
#define FLOAT_VALUE PyFloat_AS_DOUBLE
#endif

#define MOST_SLOTS 40

/* The components of one kind by row, what their slots are known to hold, and where these are.
   A row without a cached component holds None.  The components are those of a list. */
typedef struct {
    PyObject **items;  /* The memory of the list; for the limited API, a copy. */
    PyObject **known;  /* NULL in rows that never had a component: no page is taken for them. */
    PyObject *nothing;  /* A bare object that no slot holds; stands for an unknown value. */
    PyObject *type;  /* None, which is no type, until the offsets are known. */
    PyObject *wanted;  /* The type whose offsets must be found, or None.  Both types are borrowed. */
    PyObject *names;  /* A tuple. */
    Py_ssize_t n_rows;
    Py_ssize_t width;
    Py_ssize_t offsets[MOST_SLOTS];
    int is_pair;  /* Two slots, side by side. */
    double *seen;
    double *now;
} Slots;

static inline void slots_free(Slots *slots)
{
    if (slots == NULL)
        return;
    for (Py_ssize_t at = 0; at < slots->n_rows * slots->width; ++at)
        Py_XDECREF(slots->known[at]);
#ifdef Py_LIMITED_API
    PyMem_Free(slots->items);
#endif
    PyMem_Free(slots->known);
    Py_XDECREF(slots->nothing);
    Py_DECREF(slots->names);
    PyMem_Free(slots);
}

static inline Slots *slots_new(PyObject *type, PyObject *names)
{
    if (PyTuple_Size(names) > MOST_SLOTS) {
        PyErr_Format(PyExc_ValueError, "more than %d attributes", MOST_SLOTS);
        return NULL;
    }
    Slots *slots = (Slots *)PyMem_Calloc(1, sizeof(Slots));
    if (slots == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    slots->width = PyTuple_Size(names);
    Py_INCREF(names);
    slots->names = names;
    slots->type = slots->wanted = Py_None;
    slots->nothing = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (slots->nothing == NULL) {
        slots_free(slots);
        return NULL;
    }
#ifndef Py_GIL_DISABLED
    if (slots->width > 0
        && PyType_GetSlot((PyTypeObject *)type, Py_tp_getattro) == (void *)PyObject_GenericGetAttr
        && PyType_GetSlot((PyTypeObject *)type, Py_tp_setattro) == (void *)PyObject_GenericSetAttr)
        slots->wanted = type;
#endif
    return slots;
}

/* Find where an object holds an attribute that is a slot: a bare object is set, looked for, and
   replaced by the old value.  Return -1 for another kind of attribute, 0 if it is not set. */
static inline Py_ssize_t offset_of(PyObject *item, PyObject *name, PyObject *bare)
{
    const Py_ssize_t width = sizeof(PyObject *);
    Py_ssize_t size, offset = -1;
    PyObject *type = (PyObject *)Py_TYPE(item), *before;
    PyObject *member = PyObject_GetAttr(type, name);
    PyObject *basic_size = PyObject_GetAttrString(type, "__basicsize__");
    if (member != NULL && basic_size != NULL && Py_IS_TYPE(member, &PyMemberDescr_Type)) {
        size = PyLong_AsSsize_t(basic_size);
        before = PyObject_GenericGetAttr(item, name);
        if (before == NULL) {
            offset = 0;
        } else if (PyObject_GenericSetAttr(item, name, bare) == 0) {
            for (offset = size - width; offset > 0; offset -= width)
                if (*(PyObject **)((char *)item + offset) == bare)
                    break;
            if (offset <= 0)
                offset = -1;
            PyObject_GenericSetAttr(item, name, before);
        }
        Py_XDECREF(before);
    }
    Py_XDECREF(member);
    Py_XDECREF(basic_size);
    PyErr_Clear();
    return offset;
}

/* Set the offsets from the first component of a type; return whether it can be read in place. */
static int slots_find(Slots *slots, PyObject *item)
{
    PyObject *type = (PyObject *)Py_TYPE(item);
    if (type != slots->wanted)
        return 0;
    for (Py_ssize_t k = 0; k < slots->width; ++k) {
        slots->offsets[k] = offset_of(item, PyTuple_GetItem(slots->names, k), slots->nothing);
        if (slots->offsets[k] < 0)
            slots->wanted = Py_None;
        if (slots->offsets[k] <= 0)
            return 0;
    }
    slots->type = type;
    slots->wanted = Py_None;
    slots->is_pair = slots->width == 2
        && slots->offsets[1] == slots->offsets[0] + (Py_ssize_t)sizeof(PyObject *);
    return 1;
}

/* Return whether a component can be read in place. */
static inline int slots_fit(Slots *slots, PyObject *item)
{
    return (PyObject *)Py_TYPE(item) == slots->type || slots_find(slots, item);
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
    Py_XDECREF(before);  /* A number or a bare object: no code runs. */
}

static inline int slots_make_room(Slots *slots, Py_ssize_t n_rows)
{
    if (n_rows <= slots->n_rows)
        return 0;
    void *known = PyMem_Calloc((size_t)n_rows, sizeof(PyObject *) * (size_t)slots->width);
    if (known == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (slots->n_rows > 0)
        memcpy(known, slots->known, (size_t)slots->n_rows * sizeof(PyObject *) * (size_t)slots->width);
    PyMem_Free(slots->known);
    slots->known = (PyObject **)known;
#ifdef Py_LIMITED_API
    void *items = PyMem_Realloc(slots->items, (size_t)n_rows * sizeof(PyObject *));
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    slots->items = (PyObject **)items;
    for (Py_ssize_t i = slots->n_rows; i < n_rows; ++i)
        slots->items[i] = Py_None;
#endif
    slots->n_rows = n_rows;
    return 0;
}

/* Use the components of a list, whose length has changed. */
static inline void slots_use(Slots *slots, PyObject *list)
{
#ifndef Py_LIMITED_API
    slots->items = ((PyListObject *)list)->ob_item;
#endif
}

/* Forget the value of a slot. */
static inline void slots_forget(Slots *slots, Py_ssize_t i, Py_ssize_t k)
{
    remember(&slots->known[i * slots->width + k], slots->nothing);
}

static inline int holds_number(PyObject *value, double number)
{
    return value != NULL && PyFloat_CheckExact(value) && FLOAT_VALUE(value) == number;
}

/* Forget the known objects of rows that do not hold the seen values; learn those that do.  With
   `writes`, a known float without other references is overwritten by the seen value. */
static inline void slots_learn(Slots *slots, const long long *rows, Py_ssize_t n_rows, int writes)
{
    for (Py_ssize_t n = 0; n < n_rows; ++n) {
        const Py_ssize_t at = (Py_ssize_t)rows[n] * slots->width;
        PyObject *item = slots->items[rows[n]], *value;
        for (Py_ssize_t k = 0; k < slots->width; ++k) {
            PyObject **known = &slots->known[at + k];
            if (holds_number(*known, slots->seen[at + k]))
                continue;
            value = (PyObject *)Py_TYPE(item) == slots->type ? *slot_of(slots, item, k) : NULL;
#ifndef Py_LIMITED_API
            if (writes && value != NULL && value == *known && PyFloat_CheckExact(value) && Py_REFCNT(value) == 2) {
                ((PyFloatObject *)value)->ob_fval = slots->seen[at + k];
                continue;
            }
#endif
            remember(known, holds_number(value, slots->seen[at + k]) ? value : slots->nothing);
        }
    }
}

static inline void slots_cache(Slots *slots, Py_ssize_t i, PyObject *item)
{
#ifdef Py_LIMITED_API
    slots->items[i] = item;
#endif
    for (Py_ssize_t k = 0; k < slots->width; ++k)
        slots_forget(slots, i, k);
}

static inline void slots_bind(Slots *slots, double *seen, double *now)
{
    slots->seen = seen;
    slots->now = now;
}

/* Return whether two pointers side by side are two others. */
ECS_COLLIDE_INLINE int same_pair(const void *one, const void *other)
{
#ifdef ECS_COLLIDE_SSE2
    if (sizeof(void *) == 8)
        return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)one),
                                                 _mm_loadu_si128((const __m128i *)other)))
               == 0xFFFF;
#endif
    return memcmp(one, other, 2 * sizeof(void *)) == 0;
}

/* Return whether the slots of a component still hold the known objects.  A caller that knows
   whether they are a pair saves the test. */
ECS_COLLIDE_INLINE int known_hold(const Slots *slots, Py_ssize_t i, int is_pair)
{
    PyObject *item = slots->items[i];
    if ((PyObject *)Py_TYPE(item) != slots->type)
        return 0;
    if (is_pair)
        return same_pair(slot_of(slots, item, 0), slots->known + 2 * i);
    if (slots->width == 1)
        return *slot_of(slots, item, 0) == slots->known[i];
    for (Py_ssize_t k = 0; k < slots->width; ++k)
        if (*slot_of(slots, item, k) != slots->known[i * slots->width + k])
            return 0;
    return 1;
}

static inline int slots_hold(const Slots *slots, Py_ssize_t i)
{
    return known_hold(slots, i, slots->is_pair);
}

/* The slots of a component that only some bodies have, and the bit of these bodies. */
typedef struct {
    const Slots *slots;
    int mark;
} Marked;

/* The columns and slots that show whether anything about a body may be new. */
typedef struct {
    const Slots *position;
    const Slots *extents;
    const signed char *flags[4];  /* A body with any of these set is read in full. */
    const signed char *has;
    const Slots *common[4];  /* By the lowest bits of `has`. */
    const short *bits;
    Marked rare[32];  /* By the bits of `bits`; see `MOST_KINDS`. */
    int n_rare;
    int only_velocity;  /* Whether nothing else of the body found last may be new. */
} Watch;

/* Return whether all rare components of a body hold their known values. */
static inline int rare_hold(const Watch *watch, Py_ssize_t i)
{
    const int marks = watch->bits[i];
    for (int k = 0; k < watch->n_rare; ++k) {
        const Slots *slots = watch->rare[k].slots;
        if (marks & watch->rare[k].mark && slots->n_rows > 0 && slots->items[i] != Py_None
            && !slots_hold(slots, i))
            return 0;
    }
    return 1;
}

#define FETCHED_AHEAD 48  /* Bodies; covers the latency of memory. */

/* Return the first place in `rows`, from `n` on, of a body one of whose two components may hold
   other numbers than are known.  Like `watch_run`, which reads more, it is bound by memory. */
static inline Py_ssize_t pair_run(const Slots *first, const Slots *second, const long long *rows,
                                  Py_ssize_t n, Py_ssize_t n_rows)
{
    for (; n < n_rows; ++n) {
        if (n + FETCHED_AHEAD < n_rows) {
            const long long coming = rows[n + FETCHED_AHEAD];
            fetch((const double *)first->items[coming]);
            fetch((const double *)second->items[coming]);
        }
        if (!slots_hold(first, rows[n]) || !slots_hold(second, rows[n]))
            break;
    }
    return n;
}

/* As `watch_run`, where it is known whether position, extents and velocity are pairs. */
ECS_COLLIDE_INLINE Py_ssize_t watch_each(Watch *watch, const long long *rows, Py_ssize_t n,
                                         Py_ssize_t n_rows, int are_pairs)
{
    const Slots *position = watch->position, *extents = watch->extents;
    const Slots *const *common = watch->common;
    const signed char *has = watch->has, *const *flags = watch->flags;
    const short *bits = watch->bits;
    watch->only_velocity = 0;
    for (; n < n_rows; ++n) {
        const long long i = rows[n];
        if (n + FETCHED_AHEAD < n_rows) {
            const long long coming = rows[n + FETCHED_AHEAD];
            fetch((const double *)position->items[coming]);
            fetch((const double *)extents->items[coming]);
        }
        const int flag = flags[0][i] | flags[1][i] | flags[2][i] | flags[3][i];
        if ((flag | bits[i]) != 0 && (flag != 0 || !rare_hold(watch, i)))
            break;
        const int marks = has[i];
        if (!known_hold(position, i, are_pairs) || !known_hold(extents, i, are_pairs)
            || (marks & 2 && !slots_hold(common[1], i)) || (marks & 4 && !slots_hold(common[2], i))
            || (marks & 8 && !slots_hold(common[3], i)))
            break;
        if (marks & 1 && !known_hold(common[0], i, are_pairs)) {
            watch->only_velocity = 1;
            break;
        }
    }
    return n;
}

/* Return the first place in `rows`, from `n` on, of a body that may have changed.

   If all bodies rest, this loop is the main cost of a step.  It is bound by memory, so components
   are prefetched. */
static inline Py_ssize_t watch_run(Watch *watch, const long long *rows, Py_ssize_t n,
                                   Py_ssize_t n_rows)
{
    const int are_pairs = watch->position->is_pair && watch->extents->is_pair
                          && watch->common[0]->is_pair;
    return are_pairs ? watch_each(watch, rows, n, n_rows, 1) : watch_each(watch, rows, n, n_rows, 0);
}

/* Read the slots of any component if they all hold plain numbers. */
static inline int numbers_read(Slots *slots, PyObject *item, double *numbers)
{
    PyObject *value;
    if (!slots_fit(slots, item))
        return 0;
    for (Py_ssize_t k = 0; k < slots->width; ++k) {
        value = *slot_of(slots, item, k);
        if (value == NULL)
            return 0;
        if (PyFloat_CheckExact(value)) {
            numbers[k] = FLOAT_VALUE(value);
        } else if (PyLong_CheckExact(value)) {
            numbers[k] = PyLong_AsDouble(value);
            if (numbers[k] == -1.0 && PyErr_Occurred()) {
                PyErr_Clear(); /* The read by name raises a clear error. */
                return 0;
            }
        } else {
            return 0;
        }
    }
    return 1;
}

/* Read the slots of a component if they all hold plain numbers, which become known. */
static inline int slots_read(Slots *slots, Py_ssize_t i, double *numbers)
{
    PyObject *item = slots->items[i];
    if (!numbers_read(slots, item, numbers))
        return 0;
    for (Py_ssize_t k = 0; k < slots->width; ++k)
        remember(&slots->known[i * slots->width + k], *slot_of(slots, item, k));
    return 1;
}

/* The same as `fields_read`; the compiler makes a function without a loop for each small width. */
ECS_COLLIDE_INLINE Py_ssize_t width_read(Slots *slots, PyObject *items, Py_ssize_t n,
                                         double *numbers, const Py_ssize_t width)
{
    const Py_ssize_t n_items = LIST_SIZE(items);
    for (; n < n_items; ++n) {
        PyObject *item = LIST_ITEM(items, n);
        if (!slots_fit(slots, item))
            break;
        for (Py_ssize_t k = 0; k < width; ++k) {
            PyObject *value = *slot_of(slots, item, k);
            if (value == NULL || !PyFloat_CheckExact(value))
                return n;
            numbers[width * n + k] = FLOAT_VALUE(value);
        }
    }
    return n;
}

/* Read the slots of the components of a list from place `n` on.  Return the place of the first one
   that does not hold plain floats in all of them. */
static inline Py_ssize_t fields_read(Slots *slots, PyObject *items, Py_ssize_t n, double *numbers)
{
    if (slots->width == 3)
        return width_read(slots, items, n, numbers, 3);
    if (slots->width == 1)
        return width_read(slots, items, n, numbers, 1);
    return width_read(slots, items, n, numbers, slots->width);
}

/* Read the slots of any component if they all hold plain numbers.  `slots` may be NULL. */
static inline int fields_numbers(Slots *slots, PyObject *item, double *numbers)
{
    return slots != NULL && numbers_read(slots, item, numbers);
}

/* Whether all slots of any component hold False itself.  `slots` may be NULL. */
static inline int fields_false(Slots *slots, PyObject *item)
{
    if (slots == NULL || !slots_fit(slots, item))
        return 0;
    for (Py_ssize_t k = 0; k < slots->width; ++k)
        if (*slot_of(slots, item, k) != Py_False)
            return 0;
    return 1;
}

/* Write the numbers that differ from the seen ones into the slots of a component.  Return 0 if it
   must be done by name, -1 on failure.  A float without other references is overwritten. */
static inline int slots_write(const Slots *slots, Py_ssize_t i)
{
    double *now = slots->now + i * slots->width;
    double *seen = slots->seen + i * slots->width;
    Py_ssize_t k = 0;
    for (; k < slots->width && now[k] == seen[k]; ++k)
        now[k] = seen[k]; /* zeros may differ in sign */
    if (k == slots->width)
        return 1; /* The component is not read: most velocities stay as they are. */
    PyObject *item = slots->items[i];
    if ((PyObject *)Py_TYPE(item) != slots->type)
        return 0;
    for (; k < slots->width; ++k) {
        PyObject **slot = slot_of(slots, item, k), *before = *slot, *value;
        PyObject **known = &slots->known[i * slots->width + k];
        if (now[k] == seen[k]) {
            now[k] = seen[k]; /* zeros may differ in sign */
            continue;
        }
#ifndef Py_LIMITED_API
        if (before == *known && PyFloat_CheckExact(before) && Py_REFCNT(before) == 2) {
            ((PyFloatObject *)before)->ob_fval = seen[k] = now[k];
            continue;
        }
#endif
        value = PyFloat_FromDouble(now[k]);
        if (value == NULL)
            return -1;
        seen[k] = now[k];
        remember(known, value);
        *slot = value;
        if (before != NULL && (PyFloat_CheckExact(before) || PyLong_CheckExact(before))) {
            Py_DECREF(before);
        } else {
            /* Freeing the old value may run any code, so nothing may follow. */
            Py_XDECREF(before);
            return 0;
        }
    }
    return 1;
}

/* Return whether a component of two numbers that do not differ from the seen ones, but for the sign
   of a zero, has been written. */
ECS_COLLIDE_INLINE int pair_stays(double *now, const double *seen)
{
#ifdef ECS_COLLIDE_SSE2
    const __m128d before = _mm_loadu_pd(seen);
    if (_mm_movemask_pd(_mm_cmpeq_pd(_mm_loadu_pd(now), before)) != 3)
        return 0;
    _mm_storeu_pd(now, before);
#else
    if (now[0] != seen[0] || now[1] != seen[1])
        return 0;
    now[0] = seen[0];
    now[1] = seen[1];
#endif
    return 1;
}

/* Write two numbers, both of them new, into the floats of a component whose slots are side by side.
   Return 0, and write none, if one of these has other references. */
ECS_COLLIDE_INLINE int pair_written(const Slots *slots, long long i)
{
#ifdef Py_LIMITED_API
    return 0;
#else
    PyObject *item = slots->items[i], *const *known = slots->known + 2 * i;
    const double *now = slots->now + 2 * i;
    double *seen = slots->seen + 2 * i;
    if ((PyObject *)Py_TYPE(item) != slots->type
        || !same_pair((const char *)item + slots->offsets[0], known) || now[0] == seen[0]
        || now[1] == seen[1] || !PyFloat_CheckExact(known[0]) || !PyFloat_CheckExact(known[1])
        || Py_REFCNT(known[0]) != 2 || Py_REFCNT(known[1]) != 2)
        return 0;
    ((PyFloatObject *)known[0])->ob_fval = seen[0] = now[0];
    ((PyFloatObject *)known[1])->ob_fval = seen[1] = now[1];
    return 1;
#endif
}

/* Write two components of bodies, as `slots_write` does; bodies with a bit of `second_mark` have
   the second one.  Return the first place in `rows`, from `n` on, of a body that has a bit of
   `stop`, or that must be written by name; -1 on failure. */
static inline Py_ssize_t write_run(const Slots *first, const Slots *second, const signed char *has,
                                   int second_mark, int stop, const long long *rows, Py_ssize_t n,
                                   Py_ssize_t n_rows)
{
    const int may_be_written = first->is_pair, may_stay = second->width == 2;
    int done = 1;
    for (; n < n_rows; ++n) {
        const long long i = rows[n];
        const int marks = has[i];
        if (marks & stop)
            break;
        if (!may_be_written || !pair_written(first, i))
            done = slots_write(first, i);
        if (done == 1 && marks & second_mark
            && (!may_stay || !pair_stays(second->now + 2 * i, second->seen + 2 * i)))
            done = slots_write(second, i);
        if (done != 1)
            return done < 0 ? -1 : n;
    }
    return n;
}

static inline int same_bits(const double *one, const double *other, Py_ssize_t n)
{
    unsigned long long here, there, differs = 0;
    for (Py_ssize_t k = 0; k < n; ++k) {
        memcpy(&here, one + k, sizeof(here));
        memcpy(&there, other + k, sizeof(there));
        differs |= here ^ there;
    }
    return differs == 0;
}

/* The same as `fields_write`; the compiler makes a function without a loop for each small width. */
ECS_COLLIDE_INLINE Py_ssize_t width_written(Slots *slots, PyObject *items, Py_ssize_t n,
                                            const double *numbers, const Py_ssize_t width)
{
    const Py_ssize_t n_items = LIST_SIZE(items);
    for (; n < n_items; ++n) {
        PyObject *item = LIST_ITEM(items, n);
        if (!slots_fit(slots, item))
            break;
        for (Py_ssize_t k = 0; k < width; ++k) {
            PyObject **slot = slot_of(slots, item, k), *before = *slot, *value;
            const double number = numbers[width * n + k];
            if (before != NULL) {
                if (!PyFloat_CheckExact(before))
                    return n;
                const double there = FLOAT_VALUE(before);
                if (same_bits(&there, &number, 1))
                    continue;
            }
            value = PyFloat_FromDouble(number);
            if (value == NULL)
                return -1;
            *slot = value;
            Py_XDECREF(before);  /* A float: no code runs. */
        }
    }
    return n;
}

/* Write the slots of the components of a list from place `n` on, where they differ.  Return the
   place of the first one that must be written by name, -1 on failure. */
static inline Py_ssize_t fields_write(Slots *slots, PyObject *items, Py_ssize_t n,
                                      const double *numbers)
{
    if (slots->width == 3)
        return width_written(slots, items, n, numbers, 3);
    if (slots->width == 1)
        return width_written(slots, items, n, numbers, 1);
    return width_written(slots, items, n, numbers, slots->width);
}

/* Return the index of a type in a list, or -1. */
static inline Py_ssize_t place_of_type(PyObject *types, PyObject *type)
{
    for (Py_ssize_t n = 0; n < LIST_SIZE(types); ++n)
        if (LIST_ITEM(types, n) == type)
            return n;
    return -1;
}

/* Return whether the components of an entity are those cached in a row. */
static inline int matches_cache(PyObject *components, PyObject *types, PyObject *items,
                                Py_ssize_t i, Py_ssize_t n_cached)
{
    Py_ssize_t place = 0, n_types = LIST_SIZE(types), k;
    PyObject *type, *component, *cached;
    while (PyDict_Next(components, &place, &type, &component)) {
        for (k = 0; k < n_types && LIST_ITEM(types, k) != type; ++k)
            ;
        if (k == n_types)
            continue;
        cached = LIST_ITEM(items, k);
        if (i >= LIST_SIZE(cached) || LIST_ITEM(cached, i) != component)
            return 0;
        --n_cached;
    }
    return n_cached == 0;
}

#endif
