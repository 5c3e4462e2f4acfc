"""Components whose attributes are slots, read and written where they lie in memory.

Compiled kernels take these functions from `sync/slots.h`.  Python has no such way: here nothing is
done, as the falsy result says, and the caller reads and writes attributes by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Slots: TypeAlias = Any  # C structs
Watch: TypeAlias = Any


def _do_nothing(*arguments: object) -> None:
    """Return None: no slots are known, read, written or compared."""


slots_new = slots_free = slots_make_room = slots_file = slots_forget = slots_bind = _do_nothing
watch_run = pair_run = slots_hold = slots_read = slots_write = fields_read = fields_write = (
    same_bits
) = _do_nothing


def place_of_type(types: list[type], type: type) -> int:
    """Return where a type stands in a list, or -1."""
    return types.index(type) if type in types else -1


def files_agree(
    components: Mapping[type, Any], types: list[type], items: list[list[Any]], i: int, n_filed: int
) -> bool:
    """Return whether an entity has exactly the components that are filed in a row."""
    for kind, component in components.items():
        if kind in types:
            filed = items[types.index(kind)]
            if i >= len(filed) or filed[i] is not component:
                return False
            n_filed -= 1
    return n_filed == 0
