"""What setup.py knows of the kernels and the description, for the tests."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

_setup = runpy.run_path(str(Path(__file__).parent.parent / "setup.py"), run_name="setup")
declare_kernels = _setup["declare_kernels"]
read_version = _setup["read_version"]
read_url = _setup["read_url"]
with_absolute_links = _setup["with_absolute_links"]


def find_stale(package: Path, compiled: Mapping[str, ModuleType]) -> list[str]:
    """Return the names of those compiled kernels that are not made of the present sources."""
    generated = declare_kernels.generate(package)
    return [
        name
        for name, module in compiled.items()
        if f'__digest__ = "{module.__digest__}"'
        not in generated[declare_kernels.source_of(name).as_posix()]
    ]
