"""Choose between the compiled kernels and the same files as Python.

The two give the same bits; only their speed differs.  Two environment
variables decide, read once at import:

``ECS_COLLIDE_PURE_PYTHON=1``
    Run the kernels as Python even where compiled ones are installed.
``ECS_COLLIDE_REQUIRE_COMPILED=1``
    Raise ImportError where a compiled kernel is missing.
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

_KERNEL_NAMES = (
    "motion.bodies",
    "narrowphase.sweep_test",
    "broadphase.dynamic_tree",
    "broadphase.pair_cache",
    "broadphase.id_map",
    "broadphase.fat_bounds",
    "step.timeline",
    "sync.reader",
    "sync.world_diff",
    "snapshot.records",
    "queries.search",
    "sync.bindings",
    "step.type_marks",
    "queries.present_boxes",
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
    world_diff: ModuleType
    records: ModuleType
    search: ModuleType
    bindings: ModuleType
    type_marks: ModuleType
    present_boxes: ModuleType


def load(compiled: bool) -> Kernels:
    """Import all kernels, compiled or as pure Python.

    Raises
    ------
    ImportError
        `compiled` is True and a compiled kernel is missing.
    """
    suffix = "_c" if compiled else ""
    modules = [importlib.import_module(f"ecs_collide.{name}{suffix}") for name in _KERNEL_NAMES]
    return Kernels(compiled, *modules)


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
        if required:
            raise ImportError(
                f"ECS_COLLIDE_REQUIRE_COMPILED is set, but a compiled kernel is missing ({error}); "
                "install ecs_collide again where a C compiler is available"
            ) from error
        warnings.warn(
            "ecs_collide runs without its compiled kernels: everything works and gives the same "
            "results, only slower. Install it again where a C compiler is available, or set "
            "ECS_COLLIDE_PURE_PYTHON=1 to silence this warning.",
            RuntimeWarning,
            stacklevel=2,
        )
        return load(compiled=False), f"a compiled kernel is missing ({error})", error


kernels, why_pure, missing_kernel = _choose()
