"""Compare the entities of a world with the known bodies.

One pass over the world's dictionaries, by identity: an added, removed or replaced
component differs from the filed one.
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.slots import files_agree


def compare_world(
    entities: dict,
    dead,
    row_of: dict,
    kinds: list,
    rows: cython.longlong[::1],
    ids: cython.longlong[::1],
    n_filed: cython.longlong[::1],
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
        The rows of the bodies in the order of their ids.
    ids, n_filed, present
        By row: the entity, and the number of filed components.  `present` is written: 1 if it exists.
    """
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
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
        row = row_of.get(entity)
        if row is not None:
            i = row
            if files_agree(components, types, items, i, n_filed[i]):
                present[i] = 1
                continue
        if position in components and extents in components:
            if row is None:
                newcomers.append(entity)
            else:
                present[i] = 1
                changed.append(entity)
    for n in range(rows.shape[0]):
        i = rows[n]
        if not present[i]:
            gone.append(ids[i])
    return newcomers, changed, gone
