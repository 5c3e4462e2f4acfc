"""`Filter`, which selects the bodies that may meet, and the program's names of categories.

The lowest bit belongs to bodies without a `Filter` and has the name "default".  Names get the
other bits, from the lowest on: in the order of `name_categories`, or else of their first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ecs_collide._kernel.constants import ALL, MAX_GROUP
from ecs_collide.components.base import Component, as_whole

_DEFAULT_NAMES = {"default": 1, "all": ALL}
_N_NAMES = 31  # one for each bit except "default"


class CategoryNames:
    """A table of names, in the order of their bits.

    Attributes
    ----------
    names : list of str
    is_closed : bool
        Whether other names are refused.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.is_closed = False

    def clear(self) -> None:
        """Remove all names, as at the start of a program."""
        self.names.clear()
        self.is_closed = False

    def declare(self, names: Sequence[str]) -> tuple[int, ...]:
        """Give names their bits, in order, and refuse all others from now on; return the bits."""
        for name in names:
            _require_name(name)
        if not are_names(list(names)):
            raise ValueError(
                f"name_categories{tuple(names)!r} must be {_N_NAMES} names at most, each given once"
            )
        if list(names[: len(self.names)]) != self.names or (
            self.is_closed and len(names) > len(self.names)
        ):
            raise ValueError(
                f"name_categories{tuple(names)!r}: categories have the names "
                f"{', '.join(self.names)} already: name all of them once, before the first use"
            )
        self.names[:] = names
        self.is_closed = True
        return tuple(map(self._bit, names))

    def adopt(self, names: Sequence[str]) -> None:
        """Adopt the names of a snapshot; raise ValueError if they differ from the present ones."""
        known = min(len(names), len(self.names))
        if list(names[:known]) != self.names[:known] or (self.is_closed and len(names) > known):
            raise ValueError(
                f"the snapshot has the categories {', '.join(names)}, and this program "
                f"{', '.join(self.names)}: give them the same bits in both, by name_categories()"
            )
        self.names += names[known:]

    def bits(self, owner: str, value: object) -> object:
        """Return the bits of names; return a value without text unchanged.

        A text may hold several names, separated by spaces or commas.  Names that all begin with
        "~" stand for all categories but these.
        """
        parts = [value] if isinstance(value, str) else value
        if not isinstance(parts, Iterable) or isinstance(parts, (bytes, bytearray)):
            return value
        words: list[str] = []
        for part in parts:
            if not isinstance(part, str):
                return value
            words += part.replace(",", " ").split()
        if any(word[:1].isdigit() or word.startswith("-") for word in words):
            return value  # a number as text
        negative = [word for word in words if word.startswith("~")]
        if negative and (len(negative) < len(words) or owner == "categories"):
            rule = "all names with ~, or none" if owner == "mask" else "names without ~"
            raise ValueError(f"Filter({owner}={value!r}) must be {rule}")
        bits = 0
        for word in words:
            bits |= self._bit(word.removeprefix("~"))
        return ALL & ~bits if negative else bits

    def _bit(self, name: str) -> int:
        if name in _DEFAULT_NAMES:
            return _DEFAULT_NAMES[name]
        if name not in self.names:
            _require_name(name)
            if self.is_closed or len(self.names) == _N_NAMES:
                raise ValueError(
                    f"{name!r} is no category; those named are default, {', '.join(self.names)}"
                )
            self.names.append(name)
        return 2 << self.names.index(name)

    def shown(self, bits: int) -> str | None:
        """Return the names of bits as `bits` accepts them; None if a bit has no name."""
        for sign, some in (("", bits), ("~", ALL & ~bits)):
            words = ["default"] if some & 1 else []
            words += [name for n, name in enumerate(self.names) if some >> (n + 1) & 1]
            if self.names and words and 0 < some < 2 << len(self.names):
                return " ".join(sign + word for word in words)
        return None


def are_names(names: object) -> bool:
    """Return whether something is a list of valid names for a table."""
    return (
        isinstance(names, list)
        and all(map(_is_name, names))
        and len(set(names)) == len(names) <= _N_NAMES
    )


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and name not in ("", *_DEFAULT_NAMES)
        and not name.startswith(("~", "-"))
        and not name[:1].isdigit()
        and not any(letter.isspace() or letter == "," for letter in name)
    )


def _require_name(name: object) -> None:
    """Raise ValueError unless something can be the name of a category."""
    if not _is_name(name):
        raise ValueError(
            f"{name!r} must be a text without spaces and commas that does not begin with a digit, "
            "- or ~, to be the name of a category; default and all have a meaning already"
        )


NAMES = CategoryNames()
"""The names that the program has given."""


def name_categories(*names: str) -> tuple[int, ...]:
    """Name the categories, so that `Filter` accepts names instead of bits.

    Without it, each new name in a `Filter` gets the next bit.  With it, the bits do not depend on
    the order of use, as other programs that restore snapshots require, and misspelt names are
    refused.  A second call with the same names changes nothing.

    Parameters
    ----------
    *names : str
        At most 31 names; the first has the bit 2.  Bodies without a `Filter` are in the category
        "default", whose bit is 1.

    Returns
    -------
    tuple of int
        The bit of each name.

    Raises
    ------
    ValueError
        A name is invalid or given twice, or other names were given or used before.

    Examples
    --------
    >>> name_categories("player", "enemy", "shot")
    (2, 4, 8)
    >>> shot = Filter("shot", mask="enemy default")
    >>> shot.categories, shot.mask
    (8, 5)
    """
    return NAMES.declare(names)


class Filter(Component):
    """A selection of the bodies that an entity meets; by default all whose filters allow it.

    Two bodies meet if each has one of its categories in the other's mask.  Groups take precedence.
    Bodies of the same positive group always meet, bodies of the same negative group never.  Bodies
    that do not meet pass through each other, without impact, crossing or contact.  A contact that
    a change of a filter ends has the reason ``FILTER_CHANGED``.

    Attributes
    ----------
    categories : int
        The categories of the entity, as 32 bits.  The constructor also accepts names, in one string
        with spaces or commas between them or in several strings; see `name_categories`.
    mask : int
        The categories that it meets.  A negative number stands for its 32-bit complement, so
        ``~SHOT`` is everything but SHOT, as is the name ``"~shot"``.  "default" is the category of
        bodies without a `Filter`, and "all" stands for all categories.
    group : int
        0 for none.

    Examples
    --------
    Bullets of the player that fly through the player and through each other:

    >>> PLAYER, BULLET, ENEMY = 1, 2, 4
    >>> player = Filter(categories=PLAYER, mask=ENEMY)
    >>> bullet = Filter(categories=BULLET, mask=ENEMY)

    The same with names, and with walls that have no `Filter`:

    >>> bullet = Filter("bullet", mask="enemy default")
    """

    __slots__ = ("categories", "group", "mask")
    __match_args__ = ("categories", "mask", "group")

    def __init__(
        self,
        categories: int | str | Iterable[str] = 1,
        mask: int | str | Iterable[str] = ALL,
        group: int = 0,
    ) -> None:
        self.categories, self.mask, self.group = self._checked(categories, mask, group)

    @classmethod
    def _checked(
        cls, categories: int | str | Iterable[str], mask: int | str | Iterable[str], group: int
    ) -> tuple[int, int, int]:
        """Return the three as numbers, or raise ValueError."""
        rule = "must be within 0 ... 2**32 - 1: there are 32 categories, a bit each"
        bits = as_whole(cls, "categories", NAMES.bits("categories", categories), 0, ALL, rule)
        rule += "; or ~bits, for all but these"
        meets = as_whole(cls, "mask", NAMES.bits("mask", mask), ~ALL, ALL, rule) & ALL
        rule = "must be within -(2**31 - 1) ... 2**31 - 1"
        return bits, meets, as_whole(cls, "group", group, -MAX_GROUP, MAX_GROUP, rule)

    def set(
        self,
        categories: int | str | Iterable[str] | None = None,
        mask: int | str | Iterable[str] | None = None,
        group: int | None = None,
    ) -> None:
        """Set some or all fields, by bits or names; the others are kept."""
        self.categories, self.mask, self.group = self._checked(
            self.categories if categories is None else categories,
            self.mask if mask is None else mask,
            self.group if group is None else group,
        )

    def __repr__(self) -> str:
        parts = []
        for name in self.__match_args__:
            value = getattr(self, name)
            names = NAMES.shown(value) if type(value) is int and name != "group" else None
            parts.append(f"{name}={value!r}" if names is None else f"{name}={names!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


def filter_numbers(its: Filter | None) -> tuple[int, int, int]:
    """Return categories, mask and group of a filter as a step reads them; defaults for None.

    Raises
    ------
    AttributeError, TypeError, ValueError, OverflowError
        An attribute is missing or not a whole number.
    """
    if its is None:
        return 1, ALL, 0
    return int(its.categories) & ALL, int(its.mask) & ALL, int(its.group)


def filters_allow(one: Iterable[Any], other: Iterable[Any]) -> Any:
    """Return whether two filters allow their bodies to meet.

    Parameters
    ----------
    one, other : categories, mask and group, as `filter_numbers` returns them
        Whole numbers, or arrays of them, which are compared element by element.
    """
    (categories, mask, group), (others, other_mask, other_group) = one, other
    met = ((categories & other_mask) != 0) & ((others & mask) != 0)
    same = (group == other_group) & (group != 0)
    return (same & (group > 0)) | ((same ^ True) & met)
