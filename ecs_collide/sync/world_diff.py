"""Compare entities of a world with the known bodies.

By identity: an added, removed or replaced component differs from the cached one.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.slots import matches_cache


def compare_entities(
    noted: list, entities: dict, dead, row_of: Any, kinds: list, n_cached: cython.short[::1]
):
    """Return four lists of entities: new bodies, changed bodies, bodies that are gone, and others.

    The second are bodies with other components; the last are unchanged.  All are in the order of
    `noted`.

    Parameters
    ----------
    noted : list of int
        The entities to compare.
    entities : dict
        The components by type, a dict, for each entity.
    dead : frozenset of int
        Entities that esper deletes next; they count as gone.
    row_of : mapping
        The row of each known body.
    kinds : list of ComponentBinding
        The kinds to compare; the first two make an entity a body.
    n_cached
        By row: the number of cached components.
    """
    kind: ComponentBinding
    components: Any
    types: list = []
    items: list = []
    newcomers: list = []
    changed: list = []
    gone: list = []
    unchanged: list = []

    for kind in kinds:
        types.append(kind.type)
        items.append(kind.items)
    position, extents, *_ = types
    for entity in noted:
        i: cython.Py_ssize_t = row_of.get(entity, -1)
        components = entities.get(entity)
        if components is None or entity in dead:
            (unchanged if i < 0 else gone).append(entity)
        elif i >= 0 and matches_cache(components, types, items, i, n_cached[i]):
            unchanged.append(entity)
        elif position not in components or extents not in components:
            (unchanged if i < 0 else gone).append(entity)
        else:
            (newcomers if i < 0 else changed).append(entity)
    return newcomers, changed, gone, unchanged
