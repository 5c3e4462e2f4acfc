"""What setup.py knows of the kernels and the description, for the tests."""

from __future__ import annotations

import importlib
import runpy
from importlib.util import find_spec
from pathlib import Path

_setup = runpy.run_path(str(Path(__file__).parent.parent / "setup.py"), run_name="setup")
declare_kernels = _setup["declare_kernels"]
read_version = _setup["read_version"]
read_url = _setup["read_url"]
with_absolute_links = _setup["with_absolute_links"]


def find_stale(package: Path) -> list[str]:
    """Return the names of the compiled kernels that are not made of the present sources."""
    generated = declare_kernels.generate(package)
    stale = []
    for source in declare_kernels.find_kernels(package):
        path = source.with_name(f"{source.stem}_c").relative_to(package.parent)
        name = ".".join(path.parts)
        if find_spec(name):
            digest = importlib.import_module(name).__digest__
            if f'__digest__ = "{digest}"' not in generated[f"{path.as_posix()}.py"]:
                stale.append(name)
    return stale
