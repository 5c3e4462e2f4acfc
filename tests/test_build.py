"""How the kernels are found, and which of them are out of date."""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from ecs_collide import _backend
from tests import build

PACKAGE = Path(_backend.__file__).parent


@pytest.fixture
def package(tmp_path):
    """Two kernels, `upper` calls into `lower`, and binaries of both that are up to date."""
    texts = {
        "low/lower.py": "import cython\n",
        "low/lower_c.pxd": 'cdef extern from "game/low/vectors.h":\n    int lowest(int mask)\n',
        "low/vectors.h": '#include "inline.h"\n',
        "low/inline.h": "",
        "high/upper.py": "import cython\nfrom cython.cimports.game.low.lower_c import lowest\n",
        "plain.py": "",
        "low/lower_c" + EXTENSION_SUFFIXES[0]: "",
        "high/upper_c" + EXTENSION_SUFFIXES[0]: "",
    }
    package = tmp_path / "game"
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, "utf-8")
        os.utime(package / name, (1_000, 1_000))
    return package


def test_files_that_import_cython_are_the_kernels(package):
    assert [path.name for path in build.find_kernels(package)] == ["upper.py", "lower.py"]


def test_kernel_depends_on_headers_of_the_kernels_that_it_calls(package):
    found = build.find_dependencies(package / "high" / "upper.py", package)

    assert {path.name for path in found} == {
        "upper.py",
        "lower_c.pxd",
        "vectors.h",
        "inline.h",
    }


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("plain.py", []),
        ("high/upper.py", ["upper_c"]),
        ("low/lower.py", ["lower_c"]),
        ("low/lower_c.pxd", ["upper_c", "lower_c"]),
        ("low/inline.h", ["upper_c", "lower_c"]),
    ],
)
def test_binaries_older_than_what_they_are_compiled_from_are_stale(package, edited, stale):
    os.utime(package / edited, (2_000, 2_000))

    found = build.find_stale(package)

    assert found == [name + EXTENSION_SUFFIXES[0] for name in stale]


def test_every_kernel_is_found_and_depends_on_its_own_pxd():
    kernels = build.find_kernels(PACKAGE)

    found = {path for source in kernels for path in build.find_dependencies(source, PACKAGE)}

    assert set(kernels) <= found
    assert {*PACKAGE.rglob("*.pxd"), *PACKAGE.rglob("*.h")} <= found
