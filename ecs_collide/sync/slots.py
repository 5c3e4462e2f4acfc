"""Components whose attributes are slots, read and written in place.

Compiled kernels take these functions from `sync/slots.h`.  In pure Python they do nothing, and the
caller reads and writes attributes by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Slots: TypeAlias = Any  # C structs
Watch: TypeAlias = Any


def _do_nothing(*arguments: object) -> None:
    """Return None: slots are not accessible from Python."""


slots_new = slots_free = slots_make_room = slots_use = slots_cache = slots_forget = slots_learn = (
    slots_bind
) = _do_nothing
watch_run = pair_run = slots_hold = slots_read = slots_write = fields_numbers = fields_false = (
    same_bits
) = _do_nothing


def write_run(
    _first: Slots, _second: Slots, _has: None, _mark: int, _stop: int, _rows: None, n: int, _n: int
) -> int:
    """Return n: the caller writes the component in the row at that place, and all others."""
    return n


def fields_read(_slots: Slots, _items: list[Any], n: int, _numbers: None) -> int:
    """Return n: the caller reads that item, and all others."""
    return n


fields_write = fields_read


def place_of_type(types: list[type], type: type) -> int:
    """Return the index of a type in a list, or -1."""
    return types.index(type) if type in types else -1


def matches_cache(
    components: Mapping[type, Any], types: list[type], items: list[list[Any]], i: int, n_cached: int
) -> bool:
    """Return whether the components of an entity are those cached in a row."""
    for kind, component in components.items():
        if kind in types:
            cached = items[types.index(kind)]
            if i >= len(cached) or cached[i] is not component:
                return False
            n_cached -= 1
    return n_cached == 0
