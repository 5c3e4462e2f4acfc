"""The structure of the package: which module may import which, and what each file may contain."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic

import pytest

import ecs_collide
from ecs_collide import extend, stages
from ecs_collide.components.table import TABLE
from ecs_collide.motion.columns import WRITERS
from ecs_collide.queries.boxes import BoxQueries
from tests import build, column_writers, plain

Pair = plain.kernel("broadphase.pair_table").Pair
ContactRow = plain.kernel("narrowphase.contacts_between_steps").ContactRow
Queued = plain.kernel("narrowphase.impact_queue").Queued

PACKAGE = Path(ecs_collide.__file__).parent
EXAMPLES = PACKAGE.parent / "demos" / "examples"

# The layers from the lowest to the highest.  A name stands for a package, a top module, or a module
# of a package that lies in another layer than the rest of it.
# What is in one layer may import from that layer and from all lower ones.
LAYERS = [
    {"_kernel", "random_numbers", "clocks"},
    {"components"},
    {"events", "esper_world", "world_log", "world_probe"},
    {"_checks"},
    {"motion"},
    {"broadphase"},
    {"narrowphase"},
    {"response"},
    {"sync"},
    {"step"},
    {"snapshot"},
    {"queries", "sweeps", "tree"},
    {"diagnostics", "settings"},
    {"space"},
    {"systems", "steering"},
    {"extend"},
    {"stages"},
    {"recording"},
    {"__init__"},
    {"__main__"},
    {"levels", "character", "path", "zone", "debug"},
    {
        "recording.player",
        "recording.page",
        "recording.replay",
        "recording.rollback",
        "recording.__main__",
    },
    {"testing"},
]
# What is built on the core, each from the names of the game and those of `extend`, and from those
# before it.
ADDONS = ("debug", "levels", "path", "zone", "recording", "character", "testing")
# Packages that are imported when a game names them, and that may need more than esper and numpy.
EXTRAS = {"levels", "character", "path", "zone", "debug", "testing"}
EXTRAS |= {"recording.player", "recording.page", "recording.replay", "recording.__main__"}


def is_extra(name: str) -> bool:
    """Return whether a module is, or is part of, what a game imports by name."""
    return name in EXTRAS or name.partition(".")[0] in EXTRAS


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax trees of all modules by their dotted names below the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


@functools.cache
def nodes_of(name: str) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of a module, which takes longer to walk than to read."""
    return tuple(ast.walk(modules()[name]))


def layer_of(name: str) -> int:
    """Return the number of a module's layer."""
    package = name.partition(".")[0]
    for known in (name, package):
        for number, layer in enumerate(LAYERS):
            if known in layer:
                return number
    raise LookupError(f"{name} is in no layer: add {package} to LAYERS")


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the full dotted names of what nodes import; names they import from a module, too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def imports_of(name: str) -> tuple[str, ...]:
    """Return the full dotted names of what a module imports."""
    return tuple(imports(nodes_of(name)))


def own(name: str) -> str | None:
    """Return the module of the package that an import leads to, or None if it leads elsewhere.

    The compiled module of a kernel counts as its source.
    """
    parts = name.removeprefix("cython.cimports.").split(".")
    if parts[0] != "ecs_collide":
        return None
    for n in range(len(parts), 1, -1):
        module = ".".join(parts[1:n])
        if module in modules():
            return module
    return "__init__"


@functools.cache
def dependencies(name: str) -> frozenset[str]:
    """Return the modules of the package that one imports."""
    found = {own(imported) for imported in imports_of(name)}
    if name == "__init__":  # it imports these when a game names one of their classes
        found -= {*ecs_collide._HOMES.values()}
    return frozenset(module for module in found if module is not None)


def test_every_module_is_in_a_layer():
    for name in modules():
        assert layer_of(name) >= 0


def test_no_module_imports_from_a_higher_layer():
    upward = {
        (name, other)
        for name in modules()
        for other in dependencies(name)
        if layer_of(other) > layer_of(name)
    }

    assert upward == set()


def test_modules_import_each_other_in_no_cycle():
    cycles: set[frozenset[str]] = set()
    finished: set[str] = set()

    def follow(name: str, above: list[str]) -> None:
        if name in above:
            cycles.add(frozenset(above[above.index(name) :]))
        elif name not in finished:
            for other in sorted(dependencies(name)):
                follow(other, [*above, name])
            finished.add(name)

    for name in modules():
        follow(name, [])

    assert cycles == set()


def is_of_the_core(name: str) -> bool:
    """Return whether a module of an add-on is a kernel, or is imported by its kernels.

    All kernels are compiled together and read the tables of bodies, pairs and contacts.  So they
    belong to the core, wherever they lie.
    """
    return name in _kernels() or any(name in dependencies(kernel) for kernel in _kernels())


@functools.cache
def _kernels() -> frozenset[str]:
    """Return the names of all kernels."""
    names = build.declarations().kernels
    return frozenset(name.removeprefix("ecs_collide.") for name in names)


def names_below_the_border(name: str) -> Iterator[str]:
    """Yield the names that a module imports from the core, beyond those that games may use."""
    package = name.partition(".")[0]
    below = ADDONS[: ADDONS.index(package) + 1]
    own_kernels = {"_kernel.backend"}  # it loads those of the package, compiled or not
    own_kernels |= {f"stages.{each}" for each in stages.__all__}
    for node in nodes_of(name):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ecs_collide."):
            module = (node.module or "").removeprefix("ecs_collide.")
            if module.partition(".")[0] in below:
                continue
            for alias in node.names:
                public = extend.__all__ if module == "extend" else ecs_collide.__all__
                if alias.name not in public and f"{module}.{alias.name}" not in own_kernels:
                    yield f"{module}.{alias.name}"


def test_addons_import_only_public_names_and_those_of_extend_and_of_addons_below():
    found = {
        (name, imported)
        for name in modules()
        if name.partition(".")[0] in ADDONS and not is_of_the_core(name)
        for imported in names_below_the_border(name)
    }

    assert found == set()
    assert {name.partition(".")[0] for name in _kernels()} & {*ADDONS} == {"character"}
    assert list(names_below_the_border("character.memory")) != []  # the kernels import it


def test_each_name_of_extend_is_used():
    programs = [ast.parse(path.read_text("utf-8")) for path in EXAMPLES.glob("*.py")]
    imported = [each for program in programs for each in imports(ast.walk(program))]
    for name in modules():
        if name.partition(".")[0] in ADDONS:
            imported += imports_of(name)
    used = {
        each.removeprefix("ecs_collide.extend.")
        for each in imported
        if each.startswith("ecs_collide.extend.")
    }

    assert used == {*extend.__all__}


def test_names_that_the_package_imports_late_are_those_that_a_type_checker_sees():
    tree = modules()["__init__"]
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    found = dict(
        name.removeprefix("ecs_collide.").rsplit(".", 1)[::-1] for name in imports(ast.walk(block))
    )

    assert found == ecs_collide._HOMES
    assert found.keys() < {*ecs_collide.__all__}


def test_no_module_imports_a_private_name_of_another():
    private = {
        (name, imported.removeprefix("ecs_collide."))
        for name in modules()
        for imported in imports_of(name)
        if re.fullmatch(r"ecs_collide\..*\._\w+", imported)
    }

    assert private == set()


# Private attributes of other packages' objects, and public methods of named tuples and numpy.
FOREIGN = {"_event_stack", "_replace", "_fields", "_asdict", "_current_frames", "_getframe"}


def test_no_file_reads_a_private_attribute_of_another():
    found = []
    for name in modules():
        nodes = nodes_of(name)
        own_names = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        own_names |= {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("self", "cls")
        }
        found += [
            f"{name}, line {node.lineno}: {ast.unparse(node)}"
            for node in nodes
            if isinstance(node, ast.Attribute)
            and re.fullmatch(r"_[a-z]\w*", node.attr)
            and node.attr not in own_names | FOREIGN
        ]

    assert found == []


def test_a_space_is_made_of_parts_and_no_part_holds_it():
    space = ecs_collide.Space()
    parts = [part for part in vars(space).values() if hasattr(part, "__dict__")]

    # A space is something that answers queries about boxes, as a tree is.  It inherits no more.
    assert ecs_collide.Space.__mro__ == (ecs_collide.Space, BoxQueries, Generic, object)
    assert ecs_collide.AABBTree.__mro__ == (ecs_collide.AABBTree, BoxQueries, Generic, object)
    assert len(parts) >= 10
    for part in parts:
        for value in vars(part).values():
            assert value is not space, part
            assert getattr(value, "__self__", None) is not space, part


@pytest.mark.parametrize("kind", [ecs_collide.Space, ecs_collide.AABBTree])
def test_each_query_is_written_once(kind):
    queries = {name for name in vars(BoxQueries) if not name.startswith("_")}

    assert {"query", "query_point", "cast_ray", "cast_box", "nearest"} <= queries
    assert queries.isdisjoint(vars(kind))


def test_of_the_core_few_modules_import_esper():
    knowing = {
        name
        for name in modules()
        if any(imported.partition(".")[0] == "esper" for imported in imports_of(name))
    }

    core = {name for name in knowing if not is_extra(name)}
    assert core == {"esper_world", "world_probe", "systems", "recording.recorder", "__main__"}


def test_core_needs_esper_and_numpy_only():
    for name in modules():
        if is_extra(name):
            continue
        outside = {imported.partition(".")[0] for imported in imports_of(name)} - {"ecs_collide"}
        others = outside - set(sys.stdlib_module_names) - {"esper", "numpy", "cython"}
        assert not others, f"{name} imports {others}"


def test_no_stub_is_beside_a_kernel():
    assert list(PACKAGE.rglob("*.pyi")) == []


def test_only_headers_of_c_have_a_pxd():
    for pxd in PACKAGE.rglob("*.pxd"):
        assert "cdef extern from" in pxd.read_text("utf-8"), pxd.name
        assert pxd.with_suffix(".py").exists(), f"{pxd.name} has no stand-in for pure Python"


def test_private_methods_of_kernels_are_c_functions():
    # A method without a C type to return is one of Python, which is slow where a loop calls it.
    once = {"_name_columns", "_make_room"}  # called when an array is made or has grown
    for kernel in build.declarations().kernels.values():
        for owner in kernel.classes.values():
            names = {node.name for node in owner.body if isinstance(node, ast.FunctionDef)}
            private = {name for name in names if re.match("_[a-z]", name)}
            assert private <= set(kernel.methods[owner.name]) | once, kernel.name


def test_columns_of_the_body_table_are_written_by_the_modules_that_they_name():
    # Tables of queries and levels have columns of the same names.
    packages = {"motion", "broadphase", "narrowphase", "response", "sync", "step", "snapshot"}
    written: dict[str, dict[str, list[int]]] = {}
    for name, tree in modules().items():
        if name.partition(".")[0] in packages:
            for column, lines in column_writers.find_writers(tree).items():
                written.setdefault(column, {})[name] = lines

    named = {column: set(writers) for column, writers in WRITERS.items()}
    assert {column: set(writers) for column, writers in written.items()} == named, written


def test_no_more_modules_write_the_velocity():
    assert len(WRITERS["velocity"]) <= 8, (
        "another module writes Bodies.velocity: let one of those in WRITERS of motion/columns.py "
        "write it, or start a drift; the bar may only fall"
    )


def test_only_bindings_write_what_was_seen_and_the_columns_that_components_declare():
    others = column_writers.COLUMNS - set(WRITERS)
    declared = {each.column.name for each in TABLE if each.column}

    assert {column for column in others if not column.startswith("seen_")} < declared
    assert any(column.startswith("seen_") for column in others)


@pytest.mark.parametrize(
    "line",
    [
        "self.bodies.velocity[i, k] = 0.0",
        "b.velocity[i, k] += 1.0",
        "b.half[i, k], b.velocity[i, k] = 0.0, 1.0",
        "np.asarray(c.velocity)[rows] = 0.0",
        "fast = flat(self.bodies.velocity); fast[i] = 0.0",
        "for each in (c.velocity, c.half): each[:] = 0",
    ],
)
def test_assignment_to_a_column_is_found(line):
    module = ast.parse(f"class Kernel:\n    def run(self, b, c, rows, i, k):\n        {line}\n")

    assert column_writers.find_writers(module)["velocity"] == [3]


def test_every_public_name_is_documented():
    for name in ecs_collide.__all__:
        value = getattr(ecs_collide, name)
        if isinstance(value, type) or callable(value):
            assert (value.__doc__ or "").strip(), f"{name} has no docstring"


# Who writes the fields of structs with states: `x.at[n].field = ...`.
STATE_WRITERS = {
    Pair: {"broadphase.pair_table"},
    ContactRow: {"narrowphase.contacts_between_steps", "narrowphase.contacts_in_step"},
}


def struct_writes(name: str) -> Iterator[str]:
    """Yield the fields of `x.at[n]` that a module assigns."""
    for node in nodes_of(name):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Subscript)
            and ast.unparse(node.value.value).rpartition(".")[2] == "at"
        ):
            yield node.attr


def test_states_of_pairs_and_contacts_are_written_in_one_place():
    found = {(name, field) for name in modules() for field in struct_writes(name)}
    allowed = {
        (name, field)
        for struct, names in STATE_WRITERS.items()
        for field in struct.__annotations__
        for name in names
    }
    fields = {field for _, field in allowed} - set(Queued.__annotations__)

    assert {(name, field) for name, field in found if field in fields} <= allowed
    assert ("broadphase.pair_table", "state") in found
    assert ("narrowphase.contacts_between_steps", "kind") in found
