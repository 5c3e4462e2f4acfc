"""The layout of the package: who may import whom, and how long a file may grow."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import ecs_collide

HOUSE = Path(ecs_collide.__file__).parent

# From the ground up; a module imports only from those before it.
ORDER = [
    # floor 0: what a game and the library say to each other
    "_cython",
    "_bits",
    "clocks",
    "_categories",
    "_attributes",
    "components",
    "traits",
    "roles",
    "events",
    "_numbers",
    "_ids",
    "_wrapping",
    # floor 1: the hot loops
    "_kernels._memory",
    "_kernels._curve",
    "_kernels._sweep",
    "_kernels._lanes",
    "_kernels._nodes",
    "_kernels._fatness",
    "_kernels._layout",
    "_kernels._walks",
    "_kernels._pairing",
    "_kernels._tree",
    "_kernels._ranking",
    "_kernels._seeking",
    "_kernels._rows",
    "_kernels._listing",
    "_kernels._traits",
    "_kernels._slots",
    "_kernels._kinds",
    "_kernels._trait_gather",
    "_kernels._gather",
    "_kernels._census",
    "_kernels._records",
    "_kernels._bodies",
    "_kernels._around",
    "_kernels._queue",
    "_kernels._log",
    "_kernels._pairs",
    "_kernels._clusters",
    "_kernels._holding",
    "_kernels._responses",
    "_kernels._placement",
    "_kernels._separating",
    "_kernels._candidates",
    "_kernels._contacts",
    "_kernels._carrying",
    "_kernels._pushing",
    "_kernels._meetings",
    "_kernels._sleepers",
    "_kernels._timeline",
    # floor 2: their faces, each usable alone
    "_backend",
    "_asking",
    "_ring_questions",
    "_tree_questions",
    "sweep",
    "tree",
    "responses",
    "impacts",
    # floor 3: the bodies of one world
    "_world",
    "_columns",
    "_drives",
    "_sleep",
    "_reports",
    "_state",
    "_archive",
    "_roster",
    "_inventory",
    "_step_events",
    "_subscribers",
    "_judges",
    "_guard",
    "_presence",
    "_stepper",
    "_snapshots",
    "_questions",
    "_standing",
    "_views",
    "_findings",
    "_explain",
    "_doctor",
    "space",
    # floor 4: the systems
    "systems",
    # floor 5: the public names
    "__init__",
]
EXTRAS = [
    "_overlay_shapes", "_pyglet_lists", "pyglet_util",
    "_level_files", "_level_traits", "_levels", "_tile_data", "_tiled_formats", "_tiled_files",
    "tiled", "ldtk",
    "character", "_stride",
    "__main__",
]  # fmt: skip


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return all modules of the package by their dotted name below it."""
    return {
        ".".join(path.relative_to(HOUSE).with_suffix("").parts): ast.parse(path.read_text("utf-8"))
        for path in sorted(HOUSE.rglob("*.py"))
    }


def imports(tree: ast.Module) -> set[str]:
    """Return the names of the modules that a module imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in ("ecs_collide", "ecs_collide._kernels"):
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
            else:
                found.add(node.module)
    return found


def own(name: str) -> str:
    """Return the room that an import of the package leads to; a compiled twin is its source."""
    room = name.removeprefix("cython.cimports.").removeprefix("ecs_collide.")
    return room.removesuffix("_c") if room.startswith("_kernels.") else room


def test_every_module_has_its_place():
    rooms = {name for name in modules() if name != "_kernels.__init__"}

    assert rooms == {*ORDER, *EXTRAS}


def test_module_imports_only_from_below():
    for n, name in enumerate(ORDER):
        rooms = {own(m) for m in imports(modules()[name]) if "ecs_collide" in m}

        assert rooms <= set(ORDER[:n]), f"{name} imports from above: {rooms - set(ORDER[:n])}"


def test_only_the_systems_know_esper():
    knowing = {name for name, tree in modules().items() if "esper" in imports(tree)}

    assert knowing - set(EXTRAS) == {"systems"}


def test_core_needs_esper_and_numpy_only():
    import sys

    for name in ORDER:
        outside = {
            m.partition(".")[0] for m in imports(modules()[name]) if not m.startswith("ecs_collide")
        }
        strangers = outside - set(sys.stdlib_module_names) - {"esper", "numpy", "cython"}
        assert not strangers, f"{name} imports {strangers}"


def test_no_stub_stands_beside_a_kernel():
    assert list(HOUSE.rglob("*.pyi")) == []


def test_every_pxd_is_used_by_another_kernel():
    texts = {path: path.read_text("utf-8") for path in (HOUSE / "_kernels").glob("*.p*")}

    for pxd in (HOUSE / "_kernels").glob("*.pxd"):
        own = (pxd, pxd.with_name(pxd.name.replace("_c.pxd", ".py")))
        others = [path for path in texts if path not in own]
        assert any(f"_kernels.{pxd.stem} " in texts[path] for path in others), pxd.name


def test_every_public_name_is_documented():
    for name in ecs_collide.__all__:
        value = getattr(ecs_collide, name)
        if isinstance(value, type) or callable(value):
            assert (value.__doc__ or "").strip(), f"{name} has no docstring"
