"""What setup.py knows of the kernels and the description, for the tests."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

_setup = runpy.run_path(str(Path(__file__).parent.parent / "setup.py"), run_name="setup")
declare_kernels = _setup["declare_kernels"]
read_version = _setup["read_version"]
read_url = _setup["read_url"]
with_absolute_links = _setup["with_absolute_links"]


PROJECT = Path(__file__).parent.parent
PACKAGE = PROJECT / "ecs_collide"
GENERATOR = ("setup.py", "declare_kernels.py", "kernel_inference.py")


@cache
def declarations() -> Any:
    """Return the `declare_kernels.Declarations` of the package, which take four seconds to read."""
    return declare_kernels.Declarations(PACKAGE)


@cache
def generated() -> dict[str, str]:
    """Return the text of each file that is generated for the package."""
    files: dict[str, str] = declarations().files()
    return files


def is_generator_newer(compiled: Mapping[str, ModuleType]) -> bool:
    """Return whether a file of the generator is newer than the binary of the compiled kernels."""
    binary = Path(str(next(iter(compiled.values())).__file__))
    return any((PROJECT / name).stat().st_mtime > binary.stat().st_mtime for name in GENERATOR)


def find_stale(generated: Mapping[str, str], compiled: Mapping[str, ModuleType]) -> list[str]:
    """Return the names of those compiled kernels that are not made of the present sources."""
    return [
        name
        for name, module in compiled.items()
        if f'__digest__ = "{module.__digest__}"'
        not in generated[declare_kernels.source_of(name).as_posix()]
    ]
