"""Components whose attributes are slots, read and written where they lie in memory.

Compiled kernels take these functions from `sync/slots.h`.  Python has no such way: here each
function says that nothing was done, and its caller reads and writes attributes by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def slots_new(type: type, names: Sequence[str]) -> None:
    """Return None: no slots are found."""


def slots_free(slots: object) -> None:
    """Free nothing."""


def slots_make_room(slots: object, n_rows: int) -> None:
    """Have no rows."""


def slots_file(slots: object, i: int, item: object) -> None:
    """File nothing."""


def slots_forget(slots: object, i: int, k: int) -> None:
    """Forget nothing."""


def slots_bind(slots: object, seen: object, now: object) -> None:
    """Look at no columns."""


def slots_hold(slots: object, i: int) -> bool:
    """Return False: not known without a look."""
    return False


def slots_read(slots: object, i: int, numbers: object) -> bool:
    """Return False: nothing was read."""
    return False


def slots_write(slots: object, i: int) -> bool:
    """Return False: nothing was written."""
    return False


def fields_read(slots: object, item: object, numbers: object) -> bool:
    """Return False: nothing was read."""
    return False


def fields_write(slots: object, item: object, numbers: object) -> bool:
    """Return False: nothing was written."""
    return False


def same_bits(one: object, other: object, n: int) -> bool:
    """Return False: whole arrays are compared instead."""
    return False


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
