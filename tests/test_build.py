"""How the kernels are found, and which of them are out of date."""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from ecs_collide import _backend
from tests import build

KERNELS = Path(_backend.__file__).parent / "_kernels"


@pytest.fixture
def folder(tmp_path):
    """Two kernels, `_upper` calls into `_lower`, and binaries of both that are up to date."""
    texts = {
        "_lower.py": "import cython\n",
        "_lower_c.pxd": 'cdef extern from "_vectors.h":\n    int lowest(int mask)\n',
        "_vectors.h": '#include "_inline.h"\n',
        "_inline.h": "",
        "_upper.py": "import cython\nfrom cython.cimports.game._lower_c import lowest\n",
        "_plain.py": "",
        "_lower_c" + EXTENSION_SUFFIXES[0]: "",
        "_upper_c" + EXTENSION_SUFFIXES[0]: "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        os.utime(tmp_path / name, (1_000, 1_000))
    return tmp_path


def test_files_that_import_cython_are_the_kernels(folder):
    assert [path.name for path in build.find_kernels(folder)] == ["_lower.py", "_upper.py"]


def test_kernel_depends_on_headers_of_the_kernels_that_it_calls(folder):
    found = build.find_dependencies(folder / "_upper.py")

    assert {path.name for path in found} == {
        "_upper.py",
        "_lower_c.pxd",
        "_vectors.h",
        "_inline.h",
    }


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("_plain.py", []),
        ("_upper.py", ["_upper_c"]),
        ("_lower.py", ["_lower_c"]),
        ("_lower_c.pxd", ["_lower_c", "_upper_c"]),
        ("_inline.h", ["_lower_c", "_upper_c"]),
    ],
)
def test_binaries_older_than_what_they_are_compiled_from_are_stale(folder, edited, stale):
    os.utime(folder / edited, (2_000, 2_000))

    found = build.find_stale(folder)

    assert found == [name + EXTENSION_SUFFIXES[0] for name in stale]


def test_every_kernel_is_found_and_depends_on_its_own_pxd():
    kernels = build.find_kernels(KERNELS)

    found = {path for source in kernels for path in build.find_dependencies(source)}

    assert set(kernels) <= found
    assert set(KERNELS.glob("*.pxd")) | set(KERNELS.glob("*.h")) <= found
