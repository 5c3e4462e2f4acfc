"""Which C functions may raise: by rule, and as Cython sees it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import ecs_collide
from ecs_collide._kernel import backend
from tests import build

PACKAGE = Path(ecs_collide.__file__).parent
GENERATED = PACKAGE.parent / "build" / "generated"

KERNEL = '''"""A kernel."""

from __future__ import annotations

from math import sqrt

import numpy as np

from toy._kernel import cython, struct
from toy.vectors import lowest, made

FEW = 3


@struct
class Entry:
    """A struct."""

    place: cython.int


class Base:
    """A class that others are."""

    def grow(self, n: cython.int) -> cython.void:
        """Do nothing."""


class Grows(Base):
    """One that raises."""

    def grow(self, n: cython.int) -> cython.void:
        """Raise."""
        raise MemoryError


@cython.final
class Heap:
    """A class."""

    n: cython.Py_ssize_t
    small: cython.schar[::1]
    numbers: cython.double[:, ::1]
    at: cython.pointer[Entry]
    names: list
    known: dict
    other: Heap | None
    base: Base
    user: object
    step: int

    def safe(self, i: cython.int) -> cython.double:
        """Return a number."""
        return sqrt(i)

    def rare(self, i: cython.int) -> cython.double:
        """Return a number, or raise."""
        return self.names[i]

    def listed(self) -> list:
        """Return a list to Python."""
        return self.names

    def asked(self, i: cython.int, j: cython.Py_ssize_t, item: object) -> cython.int:
        """Return a number."""
        {}
        return 0

    def asks(self) -> cython.int:
        """Call the other one."""
        return self.asked(1, 2, None)
'''

HEADER = 'cdef extern from "v.h":\n    int lowest(int mask)\n    object made(int n)\n'

CANNOT = """
pass
i = FEW + j * 2 - abs(i) // max(i, 3)
self.n += i
self.numbers[i, j] = self.numbers[j, i] ** 2.0
self.numbers = self.numbers[:j]
self.at[i].place = self.at[j].place
i, j = j, i
i = lowest(i)
i = int(self.safe(i))
i = self.other.n if self.other is not None else 3
if self.names and not self.known: i = 3
i = len(self.names)
item = self.names[i]
item = self.other
for item in self.names: i += 1
for j in range(0, i, 2): i += 1
while i in (1, 2) or j < 3: i += 1
self.user = None
if not cython.compiled: self.names.append(1)
if not cython.compiled and self.listed(): return 1
side: cython.int = self.small[i]; i = abs(side)
""".strip().split("\n")

MAY = """
raise ValueError
assert i
self.names.append(item)
i = self.names[i]
item = self.known[item]
i = item
item = i
self.user = i
self.step += 1
i = len(self.user)
if self.user: i = 3
if item == self.user: i = 3
if item in self.names: i = 3
i = self.user.n
item = np
item = (i, j)
item = [i]
item = f"{i}"
i = lowest(item)
item = made(i)
self.rare(i)
self.base.grow(i)
self.listed()
self.other.rare(i)
for i in self.names: j += 1
for item in self.known: j += 1
for j in range(0, i, j): i += 1
i = abs(self.small[i])
if cython.compiled: self.rare(i)
""".strip().split("\n")


def package_with(tmp_path: Path, line: str) -> Path:
    """Return a package of a kernel with a line in `Heap.asked`."""
    package = tmp_path / "toy"
    package.mkdir()
    for name, text in {
        "__init__.py": "",
        "_kernel.py": "",
        "vectors.py": "",
        "vectors.pxd": HEADER,
        "heap.py": KERNEL.replace("{}", "\n        ".join(line.split("; "))),
    }.items():
        (package / name).write_text(text, "utf-8")
    return package


def reasons_of(tmp_path: Path, line: str) -> dict[tuple[str, str, str], str]:
    """Return which functions of a kernel with a line may raise."""
    declarations = build.declare_kernels.Declarations(package_with(tmp_path, line))
    found: dict[tuple[str, str, str], str] = declarations.inference.reasons
    return found


@pytest.mark.parametrize("line", CANNOT)
def test_statement_of_numbers_cannot_raise(tmp_path, line):
    reasons = reasons_of(tmp_path, line)

    assert ("toy.heap", "Heap", "asked") not in reasons
    assert ("toy.heap", "Heap", "asks") not in reasons


@pytest.mark.parametrize("line", MAY)
def test_statement_of_objects_may_raise_and_so_may_its_callers(tmp_path, line):
    reasons = reasons_of(tmp_path, line)

    assert re.match(r"line \d+: \w|\w+\.\w+\(\)", reasons["toy.heap", "Heap", "asked"])
    assert reasons["toy.heap", "Heap", "asks"] == "Heap.asked()"


def test_method_may_raise_if_one_that_overrides_it_does(tmp_path):
    reasons = reasons_of(tmp_path, "pass")

    assert ("toy.heap", "Base", "grow") in reasons
    assert ("toy.heap", "Heap", "safe") not in reasons


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        ("3", "int"),
        ("FEW", "int"),
        ("i + 1", "int"),
        ("abs(i)", "int"),
        ("self.small[i]", "int"),
        ("self.at[j].place", "int"),
        ("i, j", "Py_ssize_t"),
        ("self.n - 1, -1, -1", "Py_ssize_t"),
        ("self.numbers.shape[1]", "Py_ssize_t"),
        ("len(self.names)", "Py_ssize_t"),
        ("self.asked(i, j, None)", "int"),
        ("self.other.n", "Py_ssize_t"),
    ],
)
def test_loop_variable_has_the_type_of_its_bounds(tmp_path, bounds, kind):
    package = package_with(tmp_path, f"for k in range({bounds}): i += k")

    source = build.declare_kernels.generate(package)["heap/toy/heap.py"]

    assert f'"""Return a number."""; k: cython.{kind}\n' in source


@pytest.mark.parametrize(
    "line",
    [
        "for k in range(self.step): i += k",
        "for k in range(3, self.user.n): i += k",
        "k: cython.Py_ssize_t; for k in range(3): i += k",
        "for k in range(i): i += k; for k in range(j): i += k; k: cython.longlong",
        "for k in self.names: i += 1",
    ],
)
def test_loop_variable_without_clear_bounds_or_declared_by_hand_is_left_alone(tmp_path, line):
    package = package_with(tmp_path, line)

    assert '"""Return a number."""\n' in build.declare_kernels.generate(package)["heap/toy/heap.py"]


def test_function_with_a_loop_needs_a_docstring_for_its_type(tmp_path):
    package = package_with(tmp_path, "for k in range(3): i += k")
    path = package / "heap.py"
    path.write_text(path.read_text("utf-8").replace('"""Return a number."""', ""), "utf-8")

    with pytest.raises(Exception, match=r"asked needs a docstring, or `k: cython\.int`"):
        build.declare_kernels.generate(package)


# Tests of Cython for what cannot happen; see `kernel_inference`.
CANNOT_HAPPEN = re.compile(r"cannot pass None|NoneType|= abs\(|__Pyx_PyList_GET_SIZE|^\{$")


def swallowed() -> dict[str, list[str]]:
    """Return the errors that the C functions of each kernel swallow, by function."""
    found = {}
    for path in sorted(GENERATED.rglob("*.c")):
        text = path.read_text("utf-8")
        for match in re.finditer(r'__Pyx_WriteUnraisable\("([\w.]+)"', text):
            lines = text[text.rindex("\nstatic ", 0, match.start()) : match.start()].split("\n")
            found[match[1]] = [
                f"{before.strip()} {line.strip()}"
                for before, line in itertools.pairwise(lines)
                if re.search(r"__PYX_ERR\(|goto __pyx_L1_error", line)
                and not CANNOT_HAPPEN.search(before.strip())
                and not CANNOT_HAPPEN.search(line)
            ]
    return {name: errors for name, errors in found.items() if errors}


def test_no_c_function_swallows_an_error():
    names = build.declarations().kernels
    sources = [GENERATED / build.declare_kernels.source_of(name) for name in names]
    missing = [path for path in sources if not path.with_suffix(".c").exists()]
    if (
        missing
        or not ecs_collide.COMPILED
        or build.find_stale(build.generated(), backend.load_all(True))
    ):
        pytest.skip("the C of the kernels is not there, or not of the present sources")

    assert swallowed() == {}
