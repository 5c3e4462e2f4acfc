"""Stand-ins for the few Cython names that the kernels use when they run as Python.

A kernel imports `cython` from `ecs_collide._kernel`, which is this module when it runs as Python:
Cython is needed to compile the kernels but never to run them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

compiled = False


def _unchanged(target: _T) -> _T:
    return target


cclass = cfunc = ccall = inline = final = _unchanged


def exceptval(*_args: Any, **_kwargs: Any) -> Callable[[_T], _T]:
    """Return a decorator that changes nothing."""
    return _unchanged


def boundscheck(_checked: bool) -> Callable[[_T], _T]:
    """Return a decorator that changes nothing."""
    return _unchanged


def declare(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing: Python needs no declarations."""


class _Type:
    """A C type in an annotation; ``double[:, ::1]`` is one too."""

    def __getitem__(self, _axes: object) -> _Type:
        return self


double = int = uint = longlong = ulonglong = Py_ssize_t = size_t = bint = schar = short = _Type()
p_double = p_float = p_int = p_longlong = void = _Type()


class IntFlag:
    """A stand-in for `enum.IntFlag`, whose members are plain ints.

    Members of an enum take thirty times as long in an expression, and change the dtype of arrays.
    """


class IntEnum:
    """A stand-in for `enum.IntEnum`; see `IntFlag`."""
