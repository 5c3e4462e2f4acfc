"""Stand-ins for the few Cython names that the kernels use when they run as Python.

A kernel imports `cython` from `ecs_collide._kernel`, which is this module when it runs as Python.
Cython is needed to compile the kernels but never to run them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_T = TypeVar("_T")

compiled = False


def _unchanged(target: _T) -> _T:
    return target


cclass = cfunc = ccall = inline = _unchanged


def with_slots(kind: type[_T], **methods: Callable[..., Any]) -> type[_T]:
    """Return a class again, with slots for its annotated fields, and with `methods`.

    Slots are as fast in a class of any size; a dictionary of more than 30 fields is not.
    """
    body = {name: value for name, value in vars(kind).items() if name not in _OF_A_DICTIONARY}
    body |= {"__slots__": [*vars(kind).get("__annotations__", ())], **methods}
    made: type[_T] = type(kind.__name__, kind.__bases__, body)
    return made


_OF_A_DICTIONARY = ("__dict__", "__weakref__")  # the descriptors that slots replace

final = with_slots


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
