"""Switch between esper worlds, and delete them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import esper


@contextmanager
def in_world(name: str) -> Iterator[None]:
    """Make an esper world the current one for a while."""
    before = esper.current_world
    esper.switch_world(name)
    try:
        yield
    finally:
        esper.switch_world(before)


def delete_world(name: str) -> None:
    """Delete an esper world if it exists, even if it is the current one."""
    if name in esper.list_worlds():
        if esper.current_world == name:
            esper.switch_world("default")
        esper.delete_world(name)
