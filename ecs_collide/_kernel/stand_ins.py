"""Stand-ins for the few Cython names that the kernels use when they run as Python.

A kernel imports `cython` from `ecs_collide._kernel`, which is this module when it runs as Python.
Cython is needed to compile the kernels but never to run them.
"""

from __future__ import annotations

import builtins
import re
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

# The zero of each C type of a field, or of an array field of known length.
_ZEROS: dict[str, Any] = {
    "double": 0.0,
    "bint": False,
    **dict.fromkeys(
        ("int", "uint", "longlong", "ulonglong", "Py_ssize_t", "size_t", "short", "schar"), 0
    ),
    **dict.fromkeys(("pointer", "p_double", "p_float", "p_int"), None),
}
_FIELD = re.compile(r"(?:Public\[|ReadOnly\[)?cython\.(\w+)(?:\[[A-Z]\w+\])?(\[[\d, ]+\])?\]?")


def final(kind: type[_T]) -> type[_T]:
    """Return a class with slots, whose fields of C types are zero at first, as in C."""
    fields = []
    for name, annotation in vars(kind).get("__annotations__", {}).items():
        found = _FIELD.fullmatch(annotation)
        if found and found[1] in _ZEROS:
            lengths = [builtins.int(n) for n in re.findall(r"\d+", found[2] or "")]
            fields.append((name, _ZEROS[found[1]], lengths))

    def __new__(cls: type[_T], *_args: Any, **_kwargs: Any) -> _T:  # noqa: N807
        made = object.__new__(cls)
        for name, zero, lengths in fields:
            setattr(made, name, _array(zero, lengths))
        return made

    return with_slots(kind, __new__=__new__)


def _array(zero: Any, lengths: list[builtins.int]) -> Any:
    """Return nested lists of these lengths; without a length, the zero alone."""
    return [_array(zero, lengths[1:]) for _ in range(lengths[0])] if lengths else zero


def exceptval(*_args: Any, **_kwargs: Any) -> Callable[[_T], _T]:
    """Return a decorator that changes nothing."""
    return _unchanged


def boundscheck(_checked: bool) -> Callable[[_T], _T]:
    """Return a decorator that changes nothing."""
    return _unchanged


def declare(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing: Python needs no declarations."""


def sizeof(kind: type[_T]) -> type[_T]:
    """Return the class of a struct, from which `StructMemory` makes an array of pure Python."""
    return kind


def pointer(kind: type[_T]) -> type[_T]:
    """Return the type itself: in pure Python an array is a list."""
    return kind


def cast(kind: object, value: Any) -> Any:
    """Return a number as a whole one if C would cut it, any other value as it is."""
    return builtins.int(value) if kind is int else value


def address(_item: object) -> None:
    """Return None: only functions that do nothing in pure Python take an address."""


class _Type:
    """A C type in an annotation; ``double[:, ::1]`` is one too."""

    def __getitem__(self, _axes: object) -> _Type:
        return self


int = uint = longlong = ulonglong = Py_ssize_t = size_t = bint = schar = short = _Type()
double = float = p_double = p_float = p_int = p_longlong = p_void = void = _Type()


class IntFlag:
    """A stand-in for `enum.IntFlag`, whose members are plain ints.

    Members of an enum take thirty times as long in an expression, and change the dtype of arrays.
    """


class IntEnum:
    """A stand-in for `enum.IntEnum`; see `IntFlag`."""
