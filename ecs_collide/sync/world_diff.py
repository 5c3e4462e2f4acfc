"""Compare the entities of a world with the known bodies.

One pass over the world's dictionaries, by identity: an added, removed or replaced
component differs from the filed one.  Python numbers the states of all dicts, so the components of
an entity are not compared again while their dict is in the same state.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.slots import files_agree, state_of


def compare_world(
    entities: dict,
    dead,
    row_of: dict,
    kinds: list,
    rows: cython.longlong[::1],
    ids: cython.longlong[::1],
    n_filed: cython.longlong[::1],
    states: cython.longlong[::1],
    present: cython.schar[::1],
):
    """Return three lists of entities: new bodies, bodies with other components, bodies that are gone.

    The last is in the order of the ids, the others are in no order.

    Parameters
    ----------
    entities : dict
        The components by type, a dict, for each entity.
    dead : frozenset of int
        Entities that esper deletes next; they count as gone.
    kinds : list of ComponentBinding
        The kinds to compare; the first two make an entity a body.
    rows : int64 (n,)
        The rows of the bodies in the order of their ids.  Another order takes longer.
    ids, n_filed
        By row: the entity, and the number of filed components.
    states
        By row, written: the state in which the dict of the components was last found as filed, or
        0.  No dict comes back into a state that it has left.
    present
        By row, written: 1 if the entity exists.
    """
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
    next_one: cython.Py_ssize_t = 0  # the place in `rows` of the first body not reached yet
    n_rows: cython.Py_ssize_t = rows.shape[0]
    number: cython.longlong
    is_known: cython.bint
    kind: ComponentBinding
    components: dict
    types: list = []
    items: list = []
    newcomers: list = []
    changed: list = []
    gone: list = []
    any_dead: cython.bint = len(dead) > 0

    for kind in kinds:
        types.append(kind.type)
        items.append(kind.items)
    position, extents, *_ = types
    for n in range(rows.shape[0]):
        present[rows[n]] = 0
    for entity, components in entities.items():
        if any_dead and entity in dead:
            continue
        number = entity
        # A world lists its entities in the order of creation, that of `rows`.
        while next_one < n_rows and ids[rows[next_one]] < number:
            next_one += 1
        if next_one < n_rows and ids[rows[next_one]] == number:
            i = rows[next_one]
            is_known = True
        else:
            row = row_of.get(entity)
            is_known = row is not None
            i = row if is_known else 0
        if is_known:
            state: cython.longlong = state_of(components)
            if n_filed[i] >= 0 and state != 0 and state == states[i]:
                present[i] = 1
                continue
            if files_agree(components, types, items, i, n_filed[i]):
                states[i] = state
                present[i] = 1
                continue
        if position in components and extents in components:
            if is_known:
                present[i] = 1
                changed.append(entity)
            else:
                newcomers.append(entity)
    for n in range(rows.shape[0]):
        i = rows[n]
        if not present[i]:
            gone.append(ids[i])
    return newcomers, changed, gone
