"""The choice between compiled and pure kernels, made once at import."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ecs_collide
from ecs_collide._kernel import backend
from tests import build

PURE = "ECS_COLLIDE_PURE_PYTHON"
REQUIRED = "ECS_COLLIDE_REQUIRE_COMPILED"

BINARY_OF_AN_OLDER_VERSION = """
import sys, types
older = sys.modules["ecs_collide._kernels"] = types.ModuleType("_kernels", "sweep tree")
older.__file__ = "sweep.so"
"""
NO_BINARY = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name == "ecs_collide._kernels":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hide())
"""


def run(program: str, **switches: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own with only the given switches set."""
    environment = {k: v for k, v in os.environ.items() if k not in (PURE, REQUIRED)}
    package = str(Path(ecs_collide.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", program],
        env={**environment, "PYTHONPATH": path, **switches},
        capture_output=True,
        text=True,
    )


def test_pure_python_can_be_forced():
    done = run("import ecs_collide; print(ecs_collide.COMPILED)", **{PURE: "1"})

    assert done.stdout == "False\n"
    assert done.stderr == ""


@pytest.fixture
def installed():
    """Skip a test where the compiled kernels are missing, which is told at each import."""
    try:
        backend.load(compiled=True)
    except ImportError:
        pytest.skip("the compiled kernels are not installed")


@pytest.mark.usefixtures("installed")
def test_compiled_kernels_are_chosen_where_they_are_installed():
    done = run("import ecs_collide; print(ecs_collide.COMPILED)")

    assert done.stdout == "True\n"
    assert done.stderr == ""


@pytest.mark.parametrize("missing", [BINARY_OF_AN_OLDER_VERSION, NO_BINARY])
def test_missing_compiled_kernels_are_told_once(missing):
    program = missing + "import ecs_collide, ecs_collide.sweeps; print(ecs_collide.COMPILED)"

    done = run(program)

    assert done.stdout == "False\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "runs without its compiled kernels" in done.stderr


def test_browser_without_compiled_kernels_is_asked_for_no_compiler():
    done = run(
        f"import esper, numpy\n{NO_BINARY}\nsys.platform = 'emscripten'\n"
        "import ecs_collide; print(ecs_collide.COMPILED)"
    )

    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("package", "switches"), [("numpy", {}), ("numpy", {REQUIRED: "1"}), ("esper", {})]
)
def test_missing_package_is_not_taken_for_a_missing_kernel(package, switches):
    hidden = f"import sys; sys.modules[{package!r}] = None\n"

    done = run(hidden + "import ecs_collide", **switches)

    last = done.stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: ")
    assert package in last
    assert "RuntimeWarning" not in done.stderr
    assert "kernel" not in last


@pytest.mark.usefixtures("installed")
def test_package_that_cannot_be_imported_is_not_taken_for_a_missing_kernel(tmp_path):
    (tmp_path / "esper.py").write_text("version = '2.5'\n")

    done = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ecs_collide")

    assert "ecs_collide needs esper 3.9 or newer, and esper 2.5 is installed" in done.stderr
    assert "RuntimeWarning" not in done.stderr


@pytest.mark.parametrize("missing", [BINARY_OF_AN_OLDER_VERSION, NO_BINARY])
def test_missing_compiled_kernels_are_an_error_where_they_are_required(missing):
    done = run(missing + "import ecs_collide", **{REQUIRED: "1"})

    assert done.returncode != 0
    assert "ImportError: ECS_COLLIDE_REQUIRE_COMPILED is set" in done.stderr


@pytest.fixture
def checkout(tmp_path):
    """Return a copy of the package with its binary, in a folder like that of a checkout."""
    package = Path(ecs_collide.__file__).parent
    copy = tmp_path / package.name
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "declare_kernels.py").touch()
    return copy


@pytest.mark.usefixtures("installed")
def test_binary_older_than_a_source_is_told_and_not_run(checkout):
    program = (
        f"import sys; sys.path.insert(0, {str(checkout.parent)!r})\n"
        "import ecs_collide; print(ecs_collide.COMPILED)"
    )
    for source in checkout.rglob("*.py"):
        source.touch()  # newer, of the same text

    assert run(program).stdout == "True\n"
    source = checkout / "motion" / "bodies.py"
    source.write_text(source.read_text("utf-8") + "# another line\n", "utf-8")
    done = run(program)

    assert done.stdout == "False\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert (
        "motion/bodies.py changed after the kernels were compiled: run python setup" in done.stderr
    )
    assert "motion/bodies.py changed" in run(program, **{REQUIRED: "1"}).stderr
    assert run(program, **{PURE: "1"}).stderr == ""
    (checkout.parent / "declare_kernels.py").unlink()  # as where it is installed

    assert run(program).stdout == "True\n"


def test_switches_that_contradict_each_other_are_refused():
    done = run("import ecs_collide", **{REQUIRED: "1", PURE: "1"})

    assert done.returncode != 0
    assert "contradict each other" in done.stderr


def test_switches_set_to_zero_are_off():
    done = run("import ecs_collide", **{REQUIRED: "0", PURE: "0"})

    assert done.returncode == 0


def test_running_the_library_never_needs_cython():
    program = "import sys; sys.modules['cython'] = None; import ecs_collide; print('fine')"

    assert run(program, **{PURE: "1"}).stdout == "fine\n"


def test_every_kernel_is_loaded_in_both_versions_and_imports_find_the_first(kernels):
    names = set(build.declarations().kernels)
    modules = backend.load_all(compiled=kernels.compiled)
    shown = backend.load_all(compiled=backend.kernels.compiled)

    assert set(modules) == names
    for name, module in modules.items():
        assert module.__file__.endswith(".py") is not kernels.compiled
        assert sys.modules[name] is importlib.import_module(name) is shown[name]
        package, _, last = name.rpartition(".")
        assert getattr(sys.modules[package], last) is shown[name]


def test_compiled_and_pure_python_have_the_same_names(kernels):
    plain = backend.load(compiled=False)

    for one, other in zip(kernels[1:], plain[1:], strict=True):
        public = {name for name in vars(other) if not name.startswith("_") and name[0].isupper()}
        module = other.__name__
        classes = {n for n in public if getattr(vars(other)[n], "__module__", "") == module}
        assert classes <= set(vars(one))
