"""What the build makes of the source of a kernel."""

from __future__ import annotations

import ast
import ctypes
import importlib
import math
import os
import re
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import pytest

import ecs_collide
from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import Has
from tests import build

PACKAGE = Path(ecs_collide.__file__).parent

LOWER = '''"""A kernel that others use."""

from __future__ import annotations

import numpy as np

from toy._kernel import Public, ReadOnly, cython, struct
from toy.numbers import FEW, NAMES
from toy.vectors import lowest

MANY = 2 * FEW
REACH = 2.0**-40
WIDE: cython.longlong = 5
ARRAY = np.zeros(3)


@struct
class Entry:
    """A struct."""

    time: cython.double
    place: cython.int


class Base:
    """A class that another one is."""

    def weigh(self, i: cython.int) -> cython.double:
        """Return a number."""
        return 1.0


@cython.final
class Heap(Base):
    """A class."""

    n: ReadOnly[cython.Py_ssize_t]  # a comment
    names: Public[list]
    at: cython.pointer[Entry]
    grid: cython.double[2, 3]
    rows: cython.longlong[:, ::1]

    def __init__(self) -> None:
        self.n = MANY

    def weigh(self, i: cython.int) -> cython.double:
        """Return another number."""
        return REACH

    def grow(self, n: cython.Py_ssize_t, other: Heap) -> cython.void:
        """Raise at times."""
        assert n

    @cython.cfunc
    @cython.inline
    def top(self) -> cython.int:
        """Return a number fast."""
        return lowest(3)

    @cython.ccall
    def count(self, numbers: cython.double[::1]) -> cython.int:
        """Return a number, to Python too."""
        self.grow(3, self)
        return 0

    def names_of(self) -> list:
        """Return a list to Python."""
        return [NAMES]


def half(x: cython.double) -> cython.double:
    """Return a number, to other kernels too."""
    return x / 2


def third(x: cython.double) -> cython.double:
    """Return a number."""
    return x / 3
'''
WITH_BODY = '''(self) -> cython.int:
        """Return a number to this kernel."""
        return lowest(4)

    def names_of'''
UPPER = '''"""A kernel."""

from __future__ import annotations

from math import floor

from toy._kernel import cython
from toy.low.lower import WIDE, Heap, half


class Tower:
    """A class."""

    heap: Heap

    def height(self) -> cython.double:
        """Return a number."""
        return floor(half(WIDE))
'''
LOWER_SOURCE, UPPER_SOURCE = "lower/toy/low/lower.py", "upper/toy/high/upper.py"
ALL_OF_LOWER = {LOWER_SOURCE, "lower/toy/low/lower.pxd", "toy/low/lower.pxd"}


def path_of(name):
    """Return the name of the generated source of a kernel."""
    return build.declare_kernels.source_of(name).as_posix()


@pytest.fixture
def package(tmp_path):
    """Two kernels, of which `upper` uses `lower`, and the modules that they need."""
    texts = {
        "__init__.py": "",
        "_kernel.py": "",
        "numbers.py": "FEW = 32\nNAMES = ('x', 'y')\nHUGE = 2.0**100\n",
        "vectors.py": "def lowest(mask):\n    return 0\n",
        "vectors.pxd": 'cdef extern from "toy/vectors.h":\n    int lowest(int mask)\n',
        "vectors.h": "int lowest(int mask);\n",
        "low/lower.py": LOWER,
        "high/upper.py": UPPER,
    }
    package = tmp_path / "toy"
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, "utf-8")
    return package


def declared(package, name):
    """Return the lines of the .pxd for the compilation of a kernel."""
    path = path_of(f"toy.{name.replace('/', '.')}").replace(".py", ".pxd")
    return build.declare_kernels.generate(package)[path].splitlines()


def edit(package, name, old, new):
    """Replace a text of a file once."""
    path = package / name
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_modules_that_import_the_names_of_cython_are_the_kernels(package):
    found = build.declare_kernels.find_kernels(package)

    assert [path.name for path in found] == ["upper.py", "lower.py"]


@pytest.mark.parametrize(
    "line",
    [
        "    MANY = 64",
        '    const double REACH "((double)0x1.0000000000000p-40)"',
        '    const long long WIDE "((long long)5LL)"',
        "cdef struct Entry:",
        "    int place",
        "cdef class Heap(Base):",
        "    cdef readonly Py_ssize_t n",
        "    cdef public list names",
        "    cdef Entry* at",
        "    cdef double grid[2][3]",
        "    cdef long long[:, ::1] rows",
        "    cdef double weigh(self, int i) noexcept",
        "    cdef int grow(self, Py_ssize_t n, Heap other) except -1",
        "    cdef inline int top(self) noexcept:",
        "    cpdef int count(self, double[::1] numbers) except? -1",
        "cdef double half(double x) noexcept",
    ],
)
def test_annotations_and_marks_become_declarations(package, line):
    assert declared(package, "low/lower").count(line) == 1


def test_what_is_of_python_or_of_one_kernel_alone_is_not_declared(package):
    text = "\n".join(declared(package, "low/lower"))

    assert "ARRAY" not in text
    assert "names_of" not in text
    assert "third" not in text


def test_subclass_of_a_set_stays_a_class_of_python(package):
    edit(
        package,
        "low/lower.py",
        "def third(",
        "class Names(set):\n    def add(self, name):\n        set.add(self, name)\n\n\ndef third(",
    )

    files = build.declare_kernels.generate(package)

    assert "Names" not in files["toy/low/lower.pxd"]
    assert "\n\n\nclass Names(set):\n" in files[path_of("toy.low.lower")]


def test_method_that_a_base_declares_is_not_declared_again(package):
    lines = declared(package, "low/lower")

    assert lines.index("    cdef double weigh(self, int i) noexcept") < lines.index("@cython.final")


def test_other_kernels_see_the_methods_whose_names_they_use_before_those_of_the_kernel(package):
    edit(package, "high/upper.py", "half(WIDE)", "half(WIDE) + self.heap.top()")
    files = build.declare_kernels.generate(package)
    heap = [
        re.findall(r"cdef \S+ \S+ (\w+)\(|cpdef \S+ (\w+)\(", text.partition("class Heap")[2])
        for text in (files["toy/low/lower.pxd"], files["lower/toy/low/lower.pxd"])
    ]

    assert "".join(heap[0][0]) == "top"
    assert "count(" not in files["toy/low/lower.pxd"]
    assert heap[1][: len(heap[0])] == heap[0]
    assert len(heap[1]) > len(heap[0])


def test_class_without_methods_for_others_keeps_its_table_of_methods(package):
    files = build.declare_kernels.generate(package)

    assert "count(" in files["toy/low/lower.pxd"]


def test_generated_source_has_each_line_under_its_number(package):
    generated = build.declare_kernels.generate(package)

    for name in ("low/lower", "high/upper"):
        before = (package / f"{name}.py").read_text("utf-8").splitlines()
        after = generated[path_of(f"toy.{name.replace('/', '.')}")].splitlines()
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            in_c = old.replace("-> cython.void:", "-> cython.int:")
            new, *_ = new.split("; ", 1) if new.lstrip().startswith('"""') else [new]
            assert new in ("", old, in_c) or new.lstrip().startswith(("@", "from ", "import "))
        assert ast.parse("\n".join(after))


def test_function_that_may_raise_and_returns_nothing_returns_0_in_c(package):
    edit(package, "low/lower.py", "assert n", "if n:\n            return\n        assert other")

    source = build.declare_kernels.generate(package)[path_of("toy.low.lower")]

    assert "def grow(self, n: cython.Py_ssize_t, other: Heap) -> cython.int:" in source
    assert "        if n:\n            return 0\n        assert other\n" in source


def test_other_kernels_get_the_body_of_an_inline_function_with_a_public_name(package):
    edit(package, "low/lower.py", "def names_of", "def _own" + WITH_BODY)
    edit(package, "low/lower.py", "def half(", "@cython.inline\ndef half(")
    files = build.declare_kernels.generate(package)

    declarations = files["toy/low/lower.pxd"]
    assert "    cdef inline int top(self) noexcept:\n        return lowest(3)\n" in declarations
    assert "cdef inline double half(double x) noexcept:\n    return x / 2\n" in declarations
    assert "\nfrom toy.vectors cimport lowest\n" in declarations
    assert "    cdef inline int _own(self) noexcept\n" in declarations
    assert re.findall("def (_own|top|half)", files[path_of("toy.low.lower")]) == ["_own"]


def test_kernel_takes_c_names_from_a_kernel_as_c_and_those_of_python_from_its_twin(package):
    edit(
        package,
        "low/lower.py",
        "def third(",
        "def list_all() -> list:\n    return []\n\n\ndef third(",
    )
    edit(package, "high/upper.py", "Heap, half", "Heap, half, list_all")

    source = build.declare_kernels.generate(package)[path_of("toy.high.upper")]

    assert "from cython.cimports.libc.math import floor\n" in source
    assert (
        "from cython.cimports.toy.low.lower import WIDE, Heap, half; "
        "from toy.low.lower import list_all\n"
    ) in source


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def half(x: cython.double)", "def half(x: cython.double = 1.0)", r"half\(\) .* defaults"),
        ("def top(self)", "def __len__(self)", r"__len__\(\) is called by Python"),
        ("\n\n\ndef third", "\ndef third", "third needs . blank lines above it"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_its_line(package, old, new, message):
    edit(package, "low/lower.py", old, new)

    with pytest.raises(Exception, match=rf"lower\.py:\d+: .*{message}"):
        build.declare_kernels.generate(package)


@pytest.mark.parametrize(
    ("name", "old", "new", "written"),
    [
        ("numbers.py", "'y'", "'z'", set()),
        ("high/upper.py", "Return a number", "Return the number", {UPPER_SOURCE}),
        ("low/lower.py", "x / 3", "x / 4", {LOWER_SOURCE}),
        ("low/lower.py", "5\n", "6\n", {*ALL_OF_LOWER, UPPER_SOURCE}),
        (
            "low/lower.py",
            "lowest(3)",
            "lowest(5)",
            {*ALL_OF_LOWER, UPPER_SOURCE},
        ),
        (
            "numbers.py",
            "32",
            "16",
            {"toy/numbers.pxd", *ALL_OF_LOWER, UPPER_SOURCE},
        ),
        ("vectors.h", "int mask", "int bits", {LOWER_SOURCE, UPPER_SOURCE}),
    ],
)
def test_edit_changes_the_files_of_those_kernels_that_depend_on_it(
    package, tmp_path, name, old, new, written
):
    folder = tmp_path / "generated"
    build.declare_kernels.write(package, folder)
    files = list(folder.rglob("*.p*"))
    for path in files:
        os.utime(path, (1_000, 1_000))

    edit(package, name, old, new)
    build.declare_kernels.write(package, folder)

    changed = {path for path in files if path.stat().st_mtime != 1_000}
    assert {path.relative_to(folder).as_posix() for path in changed} == written


def test_files_of_a_kernel_that_is_gone_are_removed(package, tmp_path):
    build.declare_kernels.write(package, tmp_path / "generated")
    (package / "high/upper.py").unlink()

    build.declare_kernels.write(package, tmp_path / "generated")

    assert not [path for path in (tmp_path / "generated").rglob("upper*") if path.is_file()]


def test_constants_in_declarations_are_those_of_the_modules():
    n_found = 0
    sources = backend.load_all(compiled=False)
    for name, text in build.generated().items():
        if not name.startswith("ecs_collide/") or not name.endswith(".pxd"):
            continue
        name = name.removesuffix(".pxd").replace("/", ".")
        module = sources.get(name) or importlib.import_module(name)
        for constant, number in re.findall(r"^    ([A-Z]\w+) = (-?\d+)$", text, re.M):
            there = attrgetter(re.sub(r"^([A-Z]\w*?[a-z])_", r"\1.", constant))(module)
            assert there == int(number) == ctypes.c_int(int(number)).value
            n_found += 1
        for constant, number in re.findall(r'const double (\w+) "\(\(double\)(.+)\)"', text):
            there = getattr(module, constant)
            if not math.isnan(there):
                assert there == float.fromhex(number.replace("INFINITY", "inf"))
            n_found += 1
    assert n_found > 100


def test_every_number_that_a_kernel_names_in_capitals_is_a_constant_of_c():
    # Any other is a variable of Python to compiled code, which a loop looks up in a dict.
    declarations = build.declarations()
    for kernel in declarations.kernels.values():
        values = vars(backend.load_all(compiled=False)[kernel.name])
        numbers = {n for n in values if n.isupper() and type(values[n]) in (int, float)}
        imported = {
            alias.name
            for module, alias in declarations.imports(kernel)
            if declarations.is_c(module, alias.name)
        }
        assert numbers <= set(kernel.constants) | imported, kernel.name


ENUMS = '''"""A module of enums."""

from toy._kernel import IntEnum, IntFlag
from toy.numbers import FEW


class Has(IntFlag):
    """What a body has."""

    MASS = 1
    ANY = MASS | FEW


class Phase(IntEnum):
    """What has been done."""

    IDLE = 0


LIMIT = Has.ANY + 1
'''


@pytest.fixture
def with_enums(package):
    """The package with a module of enums, one of which `upper` uses."""
    (package / "enums.py").write_text(ENUMS, "utf-8")
    edit(
        package,
        "high/upper.py",
        "WIDE, Heap, half\n",
        "WIDE, Heap, half\nfrom toy.enums import Has\n",
    )
    edit(package, "high/upper.py", "half(WIDE)", "half(WIDE) + Has.MASS")
    return package


def test_members_of_an_enum_are_constants_of_c(with_enums):
    files = build.declare_kernels.generate(with_enums)
    source = files[path_of("toy.high.upper")]

    assert files["toy/enums.pxd"].splitlines() == [
        "cdef enum:",
        "    Has_MASS = 1",
        "    Has_ANY = 33",
        "    Phase_IDLE = 0",
        "    LIMIT = 34",
    ]
    assert "from cython.cimports.toy.enums import Has_MASS\n" in source
    assert "half(WIDE) + Has_MASS" in source


def test_enum_of_a_kernel_is_not_in_its_compiled_source(with_enums):
    enum = "class Part(IntEnum):\n    TOP = 3\n\n\nclass Tower"
    edit(with_enums, "high/upper.py", "class Tower", enum)
    edit(with_enums, "high/upper.py", "Has.MASS", "Part.TOP")

    files = build.declare_kernels.generate(with_enums)

    assert "    Part_TOP = 3" in files["toy/high/upper.pxd"].splitlines()
    assert "class Part" not in files[path_of("toy.high.upper")]
    assert "half(WIDE) + Part_TOP" in files[path_of("toy.high.upper")]


def test_name_that_is_no_member_of_an_enum_is_refused_with_its_line(with_enums):
    edit(with_enums, "high/upper.py", "Has.MASS", "Has.WEIGHT")

    with pytest.raises(Exception, match=r"upper\.py:\d+: Has has no member WEIGHT"):
        build.declare_kernels.generate(with_enums)


def test_members_of_an_enum_are_plain_numbers_to_python():
    assert type(Has.VELOCITY) is int
    assert type(Has.VELOCITY | Has.MASS) is int


def test_binary_of_another_source_is_stale(package):
    compiled = {
        name.removesuffix(".py").partition("/")[2].replace("/", "."): SimpleNamespace(
            __digest__=digest[1]
        )
        for name, text in build.declare_kernels.generate(package).items()
        if (digest := re.search(r'__digest__ = "(\w+)"', text))
    }

    assert build.find_stale(build.declare_kernels.generate(package), compiled) == []
    edit(package, "low/lower.py", "x / 3", "x / 4")
    assert build.find_stale(build.declare_kernels.generate(package), compiled) == ["toy.low.lower"]
