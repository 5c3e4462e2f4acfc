"""Parse a map in memory with pytiled_parser, and turn its errors into sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

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


def parse(form: Format, root: Raw, parser: Callable[[Path], _Parsed]) -> _Parsed:
    """Return the result of a parser for a file written from memory."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"copy{form.suffix}")
        form.write(root, path)
        return parser(path)
