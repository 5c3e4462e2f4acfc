"""The kernels as pure Python, for tests of what compiled ones do not show."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest import mock

from ecs_collide._kernel import backend


def run(source: str, module: ModuleType) -> None:
    """Run the source of a kernel in a module; the kernels that it imports run as Python too."""
    with mock.patch.dict(sys.modules, backend.load_all(compiled=False)):
        exec(compile(source, module.__name__, "exec"), vars(module))


def kernel(name: str) -> ModuleType:
    """Return a kernel as pure Python, by its name below the package."""
    return backend.load_all(compiled=False)[f"ecs_collide.{name}"]


def kernels() -> list[ModuleType]:
    """Return all kernels as pure Python."""
    return [*backend.load_all(compiled=False).values()]


def names(kernel_name: str, wanted: str) -> list[Any]:
    """Return what some names, separated by spaces, stand for in a kernel as pure Python."""
    return [getattr(kernel(kernel_name), each) for each in wanted.split()]
