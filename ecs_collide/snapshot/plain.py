"""Dataclasses of numbers, and empty classes: custom components that need no save functions.

Members of an enum are saved as their numbers, and found again by the declaration of the field.

Only their declarations decide which classes these are, so that a type is saved in every step or
in none.  All components of a type are read at once, a column for each field.

A saved game may be older than its classes.  A field that is new takes its default, and one that is
gone is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, InitVar, dataclass, fields, is_dataclass
from enum import Enum, EnumType
from operator import attrgetter, index
from struct import pack
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from ecs_collide.snapshot.column_codec import NUMBER_TYPES, Table


class Plain:
    """A reader, maker and setter of components of one dataclass of numbers or empty class."""

    def __init__(self, kind: type, name: str) -> None:
        self.kind: type = kind
        self.name = name
        parameters = vars(kind).get("__dataclass_params__")
        declared = () if parameters is None else fields(self.kind)
        # Whether it is an empty class, which alone does not bring an entity into a snapshot.
        self.is_mark = parameters is None
        self.fields = tuple(field.name for field in declared)
        # Whether components cannot be set, so that new ones replace them.
        self.is_frozen = parameters is not None and bool(parameters.frozen)
        self._declared = {field.name: field for field in declared}
        types = {name: _enum_in(hint) for name, hint in (_hints(kind) if declared else {}).items()}
        self._enums = {name: types[name] for name in self.fields if types.get(name) is not None}
        # The library's types are not called: a game may set any number, which the next step reports.
        self._is_of_library = kind.__module__.startswith("ecs_collide.")
        calls = parameters is not None and parameters.init and hasattr(kind, "__post_init__")
        self._calls = calls and not self._is_of_library
        self._check = getattr(kind, "require_possible", None) if self._is_of_library else None
        # `attrgetter` is five times as fast as a search for missing attributes.
        self._get = attrgetter(*self.fields) if len(self.fields) > 1 else self._values

    def read(self, components: Sequence[Any], entity_of: Callable[[int], int]) -> Table:
        """Return the numbers of components; `entity_of` returns the entity to name in an error."""
        try:
            rows = [self._get(component) for component in components]
        except AttributeError:
            rows = [self._values(component) for component in components]
        columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
        columns = columns or [[] for _ in self.fields]
        for n, column in enumerate(columns):
            if set(map(type, column)).issubset(NUMBER_TYPES):
                continue
            for place, value in enumerate(column):
                try:
                    column[place] = _as_number(value)
                except TypeError:
                    raise self._no_number(entity_of(place), self.fields[n], value) from None
        return Table(self.fields, columns)

    def _no_number(self, entity: int, field: str, value: object) -> TypeError:
        what = "not there" if value is _NOT_THERE else repr(value)
        return TypeError(
            f"entity {entity}: {self.name}.{field} is {what}, and must be a number: tell "
            f"snapshot_with how to save {self.name}, or exclude it by snapshot_without"
        )

    def _values(self, component: Any) -> tuple[Any, ...]:
        return tuple(getattr(component, name, _NOT_THERE) for name in self.fields)

    def as_declared(self, table: Table) -> Table:
        """Return a table with the columns of the fields, without those of fields that are gone."""
        if self._is_of_library:
            self._require_own(table)
        fields = tuple(name for name in self.fields if name in table.fields)
        return Table(fields, [table.columns[table.fields.index(name)] for name in fields])

    def rows(self, table: Table, n: int) -> list[tuple[Any, ...]]:
        """Return the values of each of n components, with members for the numbers of enums."""
        if not self._enums:
            return table.rows(n)
        columns = map(self._with_members, table.fields, table.columns)
        return Table(table.fields, [*columns]).rows(n)

    def _with_members(self, name: str, column: list[Any]) -> list[Any]:
        kind = self._enums.get(name)
        if kind is None:
            return column
        try:
            return [None if value is None else kind(value) for value in column]
        except ValueError as error:
            raise ValueError(
                f"the snapshot holds a {self.name}.{name} that is gone: {error}"
            ) from None

    def _require_own(self, table: Table) -> None:
        """Raise ValueError for a table without just the fields of the library's type."""
        if sorted(table.fields) != sorted(self.fields):
            name = self.kind.__name__
            raise ValueError(
                f"the snapshot holds {name} with the fields {', '.join(table.fields)}, and the "
                f"{name} of ecs_collide has {', '.join(self.fields)}: tell snapshot_with how to "
                "load it, if it is a component of the game"
            )

    def complete(self, fields: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """Return values of all fields, of which some are given, with `fields` as their names.

        Exceptions of the class pass through.
        """
        given = dict(zip(fields, values, strict=True))
        missing = [name for name in self.fields if name not in given]
        for name in missing:
            field = self._declared[name]
            if not (_has_default(field) or (self._calls and not field.init)):
                raise self._no_default(name)
        made = self._call(given) if self._calls else None
        for name in missing:
            given[name] = self._default(name) if made is None else getattr(made, name, _NOT_THERE)
            if given[name] is _NOT_THERE:  # `__post_init__` has not set it
                raise self._no_default(name)
        return [given[name] for name in self.fields]

    def _no_default(self, name: str) -> ValueError:
        return ValueError(
            f"the snapshot holds {self.name} without {name}, a field that {self.name} has here: "
            f"give it a default, as in {name}: ... = 0, or tell snapshot_with how to load "
            f"{self.name}"
        )

    def _default(self, name: str) -> Any:
        field = self._declared[name]
        if field.default_factory is not MISSING:
            return field.default_factory()
        return field.default

    def _call(self, given: Mapping[str, Any]) -> Any:
        """Return a new component from the given fields that the class takes."""
        return self.kind(**{name: given[name] for name in given if self._declared[name].init})

    def keeps(self, now: Sequence[Any], values: Sequence[Any]) -> bool:
        """Return whether a component is left alone: it is frozen and has exactly these numbers."""
        return self.is_frozen and all(map(_is_same, now, values))

    def now(self, component: Any) -> tuple[Any, ...]:
        """Return all fields of a component, for `put_back`."""
        return self._values(component)

    def put_back(self, component: Any, values: tuple[Any, ...]) -> None:
        """Set all fields to the result of `now`."""
        for name, value in zip(self.fields, values, strict=True):
            if value is not _NOT_THERE:
                _set(component, name, value)
            elif getattr(component, name, value) is not value:
                object.__delattr__(component, name)

    def make(self, values: Sequence[Any]) -> Any:
        """Return a new component with these numbers.

        The class is called only if it has a `__post_init__`.
        """
        if self._calls:
            component = self._call(dict(zip(self.fields, values, strict=True)))
        else:
            component = object.__new__(self.kind)
        self.write(component, values)
        return component

    def write(self, component: Any, values: Sequence[Any]) -> None:
        """Set all fields of a component."""
        for name, value in zip(self.fields, values, strict=True):
            _set(component, name, value)
        if self._check is not None:
            self._check(component)


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


_NOT_THERE: Any = object()
_set = object.__setattr__  # sets even a frozen component, before the game can see it


def _as_number(value: Any) -> Any:
    """Return a number as a Python int, float or bool; raise TypeError for anything else."""
    if type(value) in NUMBER_TYPES:
        return value
    if isinstance(value, Enum):
        return _as_number(value.value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return index(value)


def _is_same(there: Any, value: Any) -> bool:
    try:
        there, value = _as_number(there), _as_number(value)
    except TypeError:
        return False
    if type(there) is not type(value):
        return False
    if type(there) is float:
        return pack("<d", there) == pack("<d", value)
    return bool(there == value)


# -- which types these are --


_EMPTY = frozenset(vars(type("Empty", (), {}))) | {
    "__annotations__", "__firstlineno__", "__slots__", "__static_attributes__",
}  # fmt: skip


def _is_mark(kind: type) -> bool:
    """Return whether a class declares nothing, as ``class Enemy: pass`` does."""
    return all(
        vars(base).keys() <= _EMPTY
        and not any(vars(base).get(name) for name in ("__annotations__", "__slots__"))
        for base in kind.__mro__[:-1]
    )


def is_plain(kind: type) -> bool:
    """Return whether a type is a dataclass whose fields are all declared as numbers, or empty.

    The numbers are declared as ``int``, ``float``, ``bool``, an enum of these, or one of these or
    None.  Neither the type nor a base may define `__init__` or `__new__`, which may set more
    attributes.
    """
    if _is_mark(kind):
        return True
    if not is_dataclass(kind) or "__dataclass_params__" not in vars(kind):
        return False
    for base in kind.__mro__[1:-1]:
        if "__dataclass_params__" not in vars(base) and {"__init__", "__new__"} & {*vars(base)}:
            return False
    declared = _hints(kind)
    if any(each is InitVar or isinstance(each, InitVar) for each in declared.values()):
        return False
    return all(_is_number(declared.get(each.name, each.type)) for each in fields(kind))


def _hints(kind: type) -> dict[str, Any]:
    """Return the declared types of the fields, as text where they have undefined names."""
    try:
        return get_type_hints(kind)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return dict(getattr(kind, "__annotations__", {}))


def _enum_in(declared: Any) -> type[Enum] | None:
    """Return the enum of numbers that is declared, alone or with None."""
    parts = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return next((part for part in parts if _is_enum(part)), None)


def _is_enum(declared: Any) -> bool:
    """Return whether a declared type is an enum whose values are numbers."""
    if not isinstance(declared, EnumType):
        return False
    values = [member.value for member in cast("type[Enum]", declared)]
    return all(type(value) in (bool, int, float) and value == value for value in values)


def _is_number(declared: Any) -> bool:
    if get_origin(declared) in (Union, UnionType):
        return all(part is NoneType or _is_number(part) for part in get_args(declared))
    while hasattr(declared, "__supertype__"):  # a typing.NewType
        declared = declared.__supertype__
    return declared in (bool, int, float, "bool", "int", "float") or _is_enum(declared)


def stand_in(name: str, names: Iterable[str]) -> type:
    """Return a new dataclass of numbers with these field names, which may be any text."""
    declared = {"__annotations__": dict.fromkeys(names, float)}
    # Without generated methods, so that the names never become code.
    return dataclass(init=False, repr=False, eq=False)(type(name, (), declared))
