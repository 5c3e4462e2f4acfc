"""Compare the entities of a world with the known bodies.

One pass over the world's dictionaries, by identity: an added, removed or replaced
component differs from the cached one.  Python numbers the states of all dicts, so the components of
an entity are not compared again while their dict is in the same state.
"""

from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.body_lists import RowOf
from ecs_collide.sync.slots import changed_entities, matches_cache, state_of

START: cython.Py_ssize_t = 0


def compare_world(
    entities: dict,
    dead,
    row_of: Any,
    kinds: list,
    rows: cython.longlong[::1],
    ids: cython.longlong[::1],
    n_cached: cython.short[::1],
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
    rows, ids : int64 (n,)
        The rows and the entities of the bodies, by rising id.  Another order takes longer.
    n_cached
        By row: the number of cached components.
    states
        By row, written: the state in which the dict of the components was last found as cached, or
        0.  No dict comes back into a state that it has left.
    present
        By row, written: 1 if the entity exists.
    """
    i: cython.Py_ssize_t
    is_sorted: cython.bint = isinstance(row_of, RowOf)
    kind: ComponentBinding
    components: dict
    types: list = []
    items: list = []
    newcomers: list = []
    changed: list = []
    gone: list = []
    others: list

    for kind in kinds:
        types.append(kind.type)
        items.append(kind.items)
    position, extents, *_ = types
    if cython.compiled and rows.shape[0] > 0:
        others = changed_entities(
            entities, cython.address(ids[START]), cython.address(rows[START]), rows.shape[0],
            cython.address(states[START]), cython.address(present[START]),
        )  # fmt: skip
    else:
        others = list(entities)
        for n in range(rows.shape[0]):
            present[rows[n]] = 0
    for entity in others:
        if entity in dead:
            continue
        components = entities[entity]
        if is_sorted:
            in_order: RowOf = row_of
            i = in_order.row(entity)
        else:
            i = row_of.get(entity, -1)
        if i >= 0 and matches_cache(components, types, items, i, n_cached[i]):
            states[i] = state_of(components)
            present[i] = 1
        elif position in components and extents in components:
            if i < 0:
                newcomers.append(entity)
            else:
                present[i] = 1
                changed.append(entity)
    for entity in dead:
        row = row_of.get(entity)
        if row is not None:
            present[row] = 0
    for n in range(rows.shape[0]):
        if not present[rows[n]]:
            gone.append(ids[n])
    return newcomers, changed, gone
