"""Choose between the compiled kernels and the same files as pure Python.

Their results are identical; only their speed differs.  The compiled kernels are in one binary,
``ecs_collide/_kernels``, under the names of their sources.  Either all are compiled or none is.
In a checkout, a binary that was built from other sources counts as missing.  Two environment
variables, read once at import, decide:

``ECS_COLLIDE_PURE_PYTHON=1``
    Run the kernels as Python even if compiled ones are installed.
``ECS_COLLIDE_REQUIRE_COMPILED=1``
    Raise ImportError if a compiled kernel is missing.
"""

import importlib
import os
import sys
import warnings
import zlib
from collections.abc import Sequence
from importlib.machinery import (
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import NamedTuple

from ecs_collide import _kernel

_KERNEL_NAMES = (
    "motion.bodies",
    "narrowphase.sweep_test",
    "broadphase.dynamic_tree",
    "broadphase.pair_cache",
    "broadphase.id_map",
    "broadphase.fat_bounds",
    "step.timeline",
    "sync.reader",
    "sync.entity_rows",
    "sync.registry",
    "sync.records",
    "sync.courses",
    "sync.attached_boxes",
    "queries.search",
    "sync.bindings",
    "step.type_marks",
    "queries.present_boxes",
    "queries.immersion",
    "queries.loads",
    "character.stride",
    "sync.body_lists",
    "step.lock",
    "step.state",
    "step.pipeline",
    "world_log",
    "world_probe",
)


class Kernels(NamedTuple):
    """All kernel modules, compiled or as pure Python."""

    compiled: bool
    bodies: ModuleType
    sweep: ModuleType
    tree: ModuleType
    pair_cache: ModuleType
    id_map: ModuleType
    fat_bounds: ModuleType
    timeline: ModuleType
    reader: ModuleType
    entity_rows: ModuleType
    registry: ModuleType
    records: ModuleType
    courses: ModuleType
    attached_boxes: ModuleType
    search: ModuleType
    bindings: ModuleType
    type_marks: ModuleType
    present_boxes: ModuleType
    immersion: ModuleType
    loads: ModuleType
    stride: ModuleType
    body_lists: ModuleType
    lock: ModuleType
    state: ModuleType
    pipeline: ModuleType
    world_log: ModuleType
    world_probe: ModuleType


_loaded: dict[bool, dict[str, ModuleType]] = {}  # by whether they are compiled


def changed_sources() -> list[str]:
    """Return the files of a checkout whose text is not the one that the binary was built from.

    Only those that are newer than the binary are read.

    Raises
    ------
    ImportError
        There is no binary.
    """
    binary = importlib.import_module("ecs_collide._kernels")
    package = os.path.dirname(os.path.dirname(__file__))  # importing pathlib would take longer
    lines = [line.split() for line in str(binary.__doc__).splitlines()[1:]]
    if not lines or not os.path.exists(f"{package}/../declare_kernels.py"):
        return []
    built = os.path.getmtime(str(binary.__file__))
    return [
        name for name, checksum in lines if _is_changed(f"{package}/{name}", built, int(checksum))
    ]


def _is_changed(path: str, built: float, checksum: int) -> bool:
    if not os.path.exists(path):
        return True
    if os.path.getmtime(path) <= built:
        return False
    with open(path, "rb") as file:
        return zlib.crc32(file.read()) != checksum


class _OutdatedError(ImportError):
    """The binary was built from other sources."""


class _Compiled:
    """A finder of the compiled kernels, in the binary whose docstring names them."""

    def __init__(self) -> None:
        binary = importlib.import_module("ecs_collide._kernels")
        changed = changed_sources()
        if changed:
            raise _OutdatedError(
                f"{', '.join(changed)} changed after the kernels were compiled: run "
                "python setup.py build_ext --inplace",
                name=binary.__name__,
            )
        self.path = str(binary.__file__)
        self.names = {f"ecs_collide.{name}" for name in str(binary.__doc__).split("\n")[0].split()}

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a kernel; None leaves the search to Python."""
        if name not in self.names:
            return None
        return spec_from_file_location(name, self.path, loader=ExtensionFileLoader(name, self.path))


class _Sources:
    """A finder of the sources of the package's modules, even if binaries lie beside them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of the source; None leaves the search to Python."""
        if name.startswith("ecs_collide."):
            for folder in path or ():
                spec = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)
                if spec is not None:
                    return spec
        return None


def _imported() -> dict[str, ModuleType]:
    """Return the kernels in `sys.modules`, compiled or Python, by name."""
    return {
        name: module
        for name, module in sys.modules.items()
        if name.startswith("ecs_collide.") and {"cython", "__digest__"} & vars(module).keys()
    }


def _show(modules: dict[str, ModuleType]) -> None:
    """Store kernels in `sys.modules` and their packages, where imports find them."""
    for name, module in modules.items():
        package, _, last = name.rpartition(".")
        sys.modules[name] = module
        setattr(sys.modules[package], last, module)


def load_all(compiled: bool) -> dict[str, ModuleType]:
    """Import all kernels, compiled or as pure Python, and return them by name.

    The two have the same names.  The kernels that were imported first stay in `sys.modules`.

    Raises
    ------
    ImportError
        `compiled` is True and a compiled kernel is missing.
    """
    if compiled in _loaded:
        return _loaded[compiled]
    first = _imported()
    for name in first:
        del sys.modules[name]
    known = set(sys.modules)
    finder: _Compiled | _Sources | None = None
    _kernel.sources_are_refused = compiled
    try:
        finder = _Compiled() if compiled else _Sources()
        sys.meta_path.insert(0, finder)
        for name in _KERNEL_NAMES:
            importlib.import_module(f"ecs_collide.{name}")
        _loaded[compiled] = _imported()
        return _loaded[compiled]
    except ImportError:
        for name in [
            each for each in sys.modules.keys() - known if each.startswith("ecs_collide.")
        ]:
            del sys.modules[name]
        raise
    finally:
        _kernel.sources_are_refused = False
        if finder is not None:
            sys.meta_path.remove(finder)
        _show(first)


def load(compiled: bool) -> Kernels:
    """Import all kernels, compiled or as pure Python.

    Raises
    ------
    ImportError
        `compiled` is True and a compiled kernel is missing.
    """
    modules = load_all(compiled)
    return Kernels(compiled, *(modules[f"ecs_collide.{name}"] for name in _KERNEL_NAMES))


def _choose() -> tuple[Kernels, str, ImportError | None]:
    """Return the kernels to run, why they are pure Python, and the error of a missing one."""
    required = os.environ.get("ECS_COLLIDE_REQUIRE_COMPILED", "0") not in ("", "0")
    if os.environ.get("ECS_COLLIDE_PURE_PYTHON", "0") not in ("", "0"):
        if required:
            raise ImportError(
                "ECS_COLLIDE_PURE_PYTHON and ECS_COLLIDE_REQUIRE_COMPILED contradict each other: "
                "unset one of them"
            )
        return load(compiled=False), "ECS_COLLIDE_PURE_PYTHON is set", None
    try:
        return load(compiled=True), "", None
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "ecs_collide":  # such as numpy
            raise
        if required:
            raise ImportError(
                f"ECS_COLLIDE_REQUIRE_COMPILED is set, but a compiled kernel is missing ({error}); "
                "install ecs_collide again where a C compiler is available"
            ) from error
        if sys.platform != "emscripten":  # a browser has no compiler
            remedy = "Install it again where a C compiler is available"
            if isinstance(error, _OutdatedError):
                remedy = str(error)
            warnings.warn(
                "ecs_collide runs without its compiled kernels: everything works and gives the "
                f"same results, only slower. {remedy}, or set ECS_COLLIDE_PURE_PYTHON=1 to silence "
                "this warning.",
                RuntimeWarning,
                stacklevel=2,
            )
        return load(compiled=False), f"a compiled kernel is missing ({error})", error


kernels, why_pure, missing_kernel = _choose()
