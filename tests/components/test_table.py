"""The table of components: what a component that is declared there still lacks elsewhere."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel.constants import Trait
from ecs_collide.components import basics, dynamics, filters, surfaces
from ecs_collide.components.base import Component
from ecs_collide.components.component_map import Components
from ecs_collide.components.table import TABLE, Bounds, Column, Declaration, Part, entries
from tests import plain
from tests.scenes import mover

(MOST_KINDS,) = plain.names("sync.rare_reader", "MOST_KINDS")

ROOT = Path(__file__).parents[2]
INTERNAL = ("Immersed",)  # components that a system of the library adds
KERNELS = {"rare": "motion/rare_columns.py", "controls": "motion/controls.py"}
CLASSES = [
    kind
    for module in (basics, dynamics, filters, surfaces)
    for name, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Component) and kind.__module__ == module.__name__ and name[0] != "_"
]


@functools.cache
def text_of(pattern: str) -> str:
    """Return the text of the files of a pattern, but for this one."""
    paths = [path for path in sorted(ROOT.glob(pattern)) if path != Path(__file__)]
    assert paths, pattern
    return "\n".join(path.read_text("utf-8") for path in paths)


def missing_places(kind: type, declared: Declaration | None) -> Iterator[str]:
    """Yield each place, with its file, that does not know of a component yet."""
    name = kind.__name__
    if declared is None:
        yield "ecs_collide/components/table.py: declare it at the end of TABLE"
        return
    slots = [each for base in kind.__mro__ for each in getattr(base, "__slots__", ())]
    if sorted(slots) != sorted(declared.names):
        yield f"ecs_collide/components/table.py: it has {declared.names}, and the class {slots}"
    if name in INTERNAL:
        return
    if getattr(ec, name, None) is not kind:
        yield "ecs_collide/__init__.py: import it"
    if name not in ec.__all__:
        yield "ecs_collide/__init__.py: name it in __all__"
    if declared.column is not None:
        user, column, _, flag = declared.column
        kernel = f"ecs_collide/{KERNELS[user]}"
        if f"\n    {column}: Public[cython.double[::1]]" not in text_of(kernel):
            yield f"{kernel}: declare its column, {column}: Public[cython.double[::1]]"
        if flag and f"\n    {flag}: Public[cython.bint]" not in text_of(kernel):
            yield f"{kernel}: declare its flag, {flag}: Public[cython.bint]"
        if not re.search(rf"\.{column}\[", text_of("ecs_collide/*/*.py")):
            yield f"ecs_collide/: no kernel reads .{column}[i], so its rule has no effect"
    if not re.search(rf"`{name}[(`]", text_of("docs/[!ar]*.md")):
        yield f"docs/: no page has `{name}`"
    if f"\n| **`{name}(" not in text_of("docs/reference/components.md"):
        yield "docs/reference/components.md: python docs/make_reference.py"
    if not re.search(rf"\bec\.{name}\b", text_of("tests/system/*.py")):
        yield f"tests/system/: no test uses ec.{name}"


def test_every_component_is_known_wherever_it_has_to_be():
    declared = {d.kind: d for d in TABLE}
    assert len(declared) == len(TABLE)

    missing = [
        f"{kind.__name__} is missing in {place}"
        for kind in sorted({*CLASSES, *declared}, key=lambda kind: kind.__name__)
        for place in missing_places(kind, declared.get(kind))
    ]

    assert not missing, "\n".join(["", *missing])


def test_every_place_that_a_new_component_lacks_is_named():
    class Unheard(Component):
        __slots__ = ("most", "speed")

    speed = Part(("speed",), (Bounds(0.0, 1.0, "must be within 0 ... 1"),), False)
    column = Column("controls", "unheard", 0.0, "any_unheard")

    missing = [*missing_places(Unheard, Declaration(Unheard, (speed,), column, trait=Trait.OTHER))]

    assert [place.partition(":")[0] for place in missing] == [
        "ecs_collide/components/table.py",
        "ecs_collide/__init__.py",
        "ecs_collide/__init__.py",
        "ecs_collide/motion/controls.py",
        "ecs_collide/motion/controls.py",
        "ecs_collide/",
        "docs/",
        "docs/reference/components.md",
        "tests/system/",
    ]
    assert [*missing_places(Unheard, None)] == [
        "ecs_collide/components/table.py: declare it at the end of TABLE"
    ]


def test_a_column_of_what_was_seen_belongs_to_one_part():
    seen = [d.seen(part) for d in TABLE for part in d.parts]

    assert len({*seen}) == len(seen)


@pytest.mark.parametrize("dim", [2, 3])
def test_entries_have_a_number_and_its_bounds_for_each_axis(dim):
    common, rare = entries(Components(), dim)

    assert [entry.kind for entry in common[:6]] == [
        ec.Position, ec.Extents, ec.Velocity, ec.Growth, ec.Mass, ec.Deflect,
    ]  # fmt: skip
    assert len(rare) <= MOST_KINDS
    for entry in (*common, *rare):
        assert len(entry.names) == len(entry.bounds) <= 3
        assert "z" not in entry.names or dim == 3


@pytest.mark.usefixtures("world", "implementation")
@pytest.mark.parametrize("d", [d for d in TABLE if d.column], ids=lambda d: d.kind.__name__)
def test_a_column_has_the_number_of_the_component_and_the_default_without_one(d):
    # Rows of bodies without any rare component hold zeros, whatever the default.
    bodies = [mover((9 * n, 0), (1, 1), (0, 0), ec.Filter()) for n in range(3)]
    registry = ec.install()._registry
    user = getattr(registry.table.bodies, d.column.user)

    def column():
        esper.process(0.0)
        numbers = getattr(user, d.column.name)
        return [numbers[registry.row_of[body]] for body in bodies]

    esper.process(0.0)
    assert not d.column.flag or not getattr(user, d.column.flag)
    for body in bodies[1:]:
        esper.add_component(body, d.kind(0.25))
    assert column() == [d.column.default, 0.25, 0.25]
    assert not d.column.flag or getattr(user, d.column.flag)
    esper.remove_component(bodies[1], d.kind)
    setattr(esper.component_for_entity(bodies[2], d.kind), d.names[0], 0.5)
    # The columns are lengthened.
    bodies += [mover((9 * n, 9), (1, 1), (0, 0), ec.Filter()) for n in range(200)]
    assert column() == [d.column.default, d.column.default, 0.5, *[d.column.default] * 200]
