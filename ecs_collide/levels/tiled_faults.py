"""Parse a map in memory with pytiled_parser, and name the smallest part that it cannot read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytiled_parser

from ecs_collide.levels.reading import NESTED
from ecs_collide.levels.tiled_formats import Format, Raw

_Parsed = TypeVar("_Parsed")


class PartError(ValueError):
    """An error whose text already names the part of a file that cannot be read."""


@contextmanager
def refused(what: str) -> Iterator[None]:
    """Turn any error into a `PartError`, except FileNotFoundError."""
    try:
        yield
    except (PartError, FileNotFoundError):
        raise
    except Exception as error:  # the parser raises many types, and asserts
        if isinstance(error, OSError):  # from the copies: not a fault of the map
            raise
        cause: BaseException = error
        if isinstance(error, pytiled_parser.UnknownFormat):
            cause = error.__context__ or error  # which it hides behind a guess
        stated = str(cause) if isinstance(cause, ValueError) else repr(cause)
        if isinstance(cause, RecursionError):
            stated = NESTED
        if isinstance(cause, KeyError):
            stated = (
                f"it has no {cause.args[0]!r}, which Tiled saves since version 1.2; open it in "
                "Tiled and save it"
            )
        raise PartError(f"{what}: {stated}") from error


def called(layer: Raw) -> str:
    """Return the name of a layer for errors."""
    return f"layer {layer.get('name') or ''!r}"


def called_in(layer: Raw, thing: Raw) -> str:
    """Return the name of an object in a layer for errors."""
    named = repr(thing)
    if hasattr(thing, "get"):
        named = f"{thing.get('id')} ({thing.get('name') or 'no name'})"
    return f"object {named} in {called(layer)}"


def parse_map(form: Format, root: Raw, path: Path) -> pytiled_parser.TiledMap:
    """Return the parsed map, or raise for the smallest part that the parser cannot read."""
    try:
        return parse_part(form, root)
    except Exception:
        _find_fault(form, root, path)
        raise


def parse_part(form: Format, root: Raw) -> pytiled_parser.TiledMap:
    """Return a parsed map, or a parsed part of it."""
    return parse(form, root, pytiled_parser.parse_map)


def parse(form: Format, root: Raw, parser: Callable[[Path], _Parsed]) -> _Parsed:
    """Return the result of a parser for a file written from memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"copy{form.suffix}")
        form.write(root, path)
        return parser(path)


def _find_fault(form: Format, root: Raw, path: Path) -> None:
    """Raise a `PartError` for the first part that the parser cannot read by itself, if any.

    It takes about as long as parsing the map a few times.
    """
    parse_part(form, form.without_layers(root))  # if the map is wrong, no layer is to blame

    def parse_layers(layers: Sequence[Raw]) -> None:
        parse_part(form, form.with_layers(root, layers))

    def parse_things(things: Sequence[Raw]) -> None:
        part = copy(layer)
        form.set_things(part, things)
        parse_layers([part])

    layer = _first_fault(list(form.layers(root)), parse_layers, form.weight)
    if layer is None:
        return
    with refused(f"{path}: {called(layer)} cannot be read"):
        parse_things(())
    thing = _first_fault(form.things(layer), parse_things, form.weight)
    if thing is not None:
        with refused(f"{path}: {called_in(layer, thing)} cannot be read"):
            parse_things([thing])


def _first_fault(
    parts: list[Raw], parse: Callable[[Sequence[Raw]], object], weight: Callable[[Raw], int]
) -> Any:
    """Return the first part that the parser fails on, or None if none is at fault.

    Each round halves the remaining parts by weight, so at most a few times the weight of all parts
    is parsed.
    """

    def fails(some: Sequence[Raw]) -> bool:
        try:
            parse(some)
        except Exception:
            return True
        return False

    if not parts or not fails(parts):
        return None
    sums = list(accumulate(map(weight, parts), initial=0))
    start, stop = 0, len(parts)
    while stop - start > 1:
        half = (sums[start] + sums[stop]) / 2
        middle = bisect_right(sums, half, start + 2, stop) - 1
        if fails(parts[start:middle]):
            stop = middle
        else:
            start = middle
    return parts[start]
