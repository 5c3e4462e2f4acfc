# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Carry numbers between component objects and columns.

`holders` are lists with one component, or None, for each row.  `seen` is what
the components were last known to say; a value that differs from it was set by
the game.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

cython.declare(LARGEST=cython.double)
LARGEST = 2.0**500  # larger numbers are refused, so that products stay finite


def hold(pairs: list, row_of: dict, holders: list, rows: cython.longlong[::1]) -> int:
    """File the components of a world's list by the rows of their bodies.

    Parameters
    ----------
    pairs : list of (entity, component)
    row_of : dict
        Row by entity; entities without one are passed over.
    holders : list
        Written: the component in row i.
    rows : int64, as long as `pairs`
        Written: the rows that were filed, in the order of `pairs`.

    Returns
    -------
    int
        How many were filed.
    """
    n: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    entity: object
    component: object
    row: object

    for entity, component in pairs:
        row = row_of.get(entity)
        if row is None:
            continue
        i = row
        holders[i] = component
        rows[n] = i
        n += 1
    return n


def _number(value):
    """Return a number as a float; text is none."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"must be a number, not {value!r}")
    return float(value)


def gather(
    holders: list,
    rows: cython.longlong[::1],
    seen: cython.double[:, ::1],
    changed: cython.schar[::1],
    bad: cython.schar[::1],
    lowest: cython.double,
) -> int:
    """Read x, y (and z) of the components of `rows`; return how many rows are bad.

    Parameters
    ----------
    seen : float64 (n, dim)
        Written.
    changed : int8 (n,)
        Set to 1 where a value differs from the one seen before.
    bad : int8 (n,)
        Written: 1 where a value is nan, too large, or below `lowest`.
    """
    dim: cython.Py_ssize_t = seen.shape[1]
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n_bad: cython.Py_ssize_t = 0
    x: cython.double
    y: cython.double
    z: cython.double = 0.0
    item: object

    for n in range(rows.shape[0]):
        i = rows[n]
        item = holders[i]
        x = item.x
        y = item.y
        if dim == 3:
            z = item.z
        if not cython.compiled:  # as the compiled life does by itself
            x, y, z = _number(x), _number(y), _number(z)
        if x != seen[i, 0] or y != seen[i, 1] or (dim == 3 and z != seen[i, 2]):
            changed[i] = 1
            seen[i, 0] = x
            seen[i, 1] = y
            if dim == 3:
                seen[i, 2] = z
            bad[i] = not (
                lowest <= x <= LARGEST and lowest <= y <= LARGEST and lowest <= z <= LARGEST
            )
        n_bad += bad[i]
    return n_bad


def gather_scalar(
    holders: list, rows: cython.longlong[::1], name: str, column: cython.double[::1]
) -> None:
    """Read attribute `name` of the components of `rows` into a column."""
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t

    for n in range(rows.shape[0]):
        i = rows[n]
        column[i] = getattr(holders[i], name)


def scatter(
    holders: list,
    rows: cython.longlong[::1],
    column: cython.double[:, ::1],
    seen: cython.double[:, ::1],
) -> None:
    """Write what differs from `seen` in the columns of `rows` into their components."""
    dim: cython.Py_ssize_t = seen.shape[1]
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    item: object

    for n in range(rows.shape[0]):
        i = rows[n]
        item = holders[i]
        if column[i, 0] != seen[i, 0]:
            item.x = column[i, 0]
            seen[i, 0] = column[i, 0]
        if column[i, 1] != seen[i, 1]:
            item.y = column[i, 1]
            seen[i, 1] = column[i, 1]
        if dim == 3 and column[i, 2] != seen[i, 2]:
            item.z = column[i, 2]
            seen[i, 2] = column[i, 2]
