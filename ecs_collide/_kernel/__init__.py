"""Cython's names and the marks that declare C types, which each kernel imports first.

For compiled kernels, ``declare_kernels.py`` beside ``setup.py`` converts the marks to declarations.
In pure Python they have no effect.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from ecs_collide._kernel import stand_ins

if TYPE_CHECKING:
    from enum import IntEnum as IntEnum
    from enum import IntFlag as IntFlag

    import cython as cython
else:
    from ecs_collide._kernel.stand_ins import IntEnum, IntFlag

__all__ = ["IntEnum", "IntFlag", "Public", "ReadOnly", "cython", "struct"]

_T = TypeVar("_T")

Public = Annotated[_T, "Python reads and sets it"]
ReadOnly = Annotated[_T, "Python reads it"]


def struct(kind: type[_T]) -> type[_T]:
    """Turn a class of annotated fields into the pure Python form of a C struct, all fields 0."""
    fields = tuple(kind.__annotations__)

    def clear(self: _T) -> None:
        for name in fields:
            setattr(self, name, 0)

    return stand_ins.with_slots(kind, __init__=clear)


sources_are_refused = False  # while the compiled kernels are imported


def __getattr__(name: str) -> Any:
    """Return `cython` for a kernel that runs as Python; compiled kernels do not need it."""
    if name != "cython":
        raise AttributeError(name)
    if sources_are_refused:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals["__name__"].startswith("importlib"):
            frame = frame.f_back
        kernel = frame.f_globals["__name__"]
        raise ImportError(f"{kernel} is not compiled", name=kernel)
    return stand_ins
