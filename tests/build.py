"""What setup.py knows of the kernels and the description, for the tests."""

from __future__ import annotations

import runpy
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

_setup = runpy.run_path(str(Path(__file__).parent.parent / "setup.py"), run_name="setup")
find_kernels = _setup["find_kernels"]
find_dependencies = _setup["find_dependencies"]
read_version = _setup["read_version"]
read_url = _setup["read_url"]
with_absolute_links = _setup["with_absolute_links"]


def find_stale(package: Path) -> list[str]:
    """Return the names of the binaries that are older than what they are compiled from.

    Files of one installation may differ by two seconds.
    """
    stale = []
    for source in find_kernels(package):
        newest = max(path.stat().st_mtime for path in find_dependencies(source, package))
        for suffix in EXTENSION_SUFFIXES:
            binary = source.with_name(f"{source.stem}_c{suffix}")
            if binary.exists() and binary.stat().st_mtime < newest - 2:
                stale.append(binary.name)
    return stale
