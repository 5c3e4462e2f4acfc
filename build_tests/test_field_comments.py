"""The comments and docstrings of kernels: the shapes and the names that they state."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import esper
import numpy as np
import pytest

import ecs_collide
from ecs_collide._kernel import backend
from tests import build
from tests.scenes import enter_new_world, mixed_bodies

PACKAGE = Path(ecs_collide.__file__).parent


class Field(NamedTuple):
    """A field of a kernel class that is an array, and the shape that its comment states."""

    module: str
    owner: str
    name: str
    shape: str  # like "n or more, dim"


def comments_of(text: str) -> dict[int, str]:
    """Return the comments of a source by their lines, without the #."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {t.start[0]: t.string[1:].strip() for t in tokens if t.type == tokenize.COMMENT}


def comment_on(line: int, comments: dict[int, str], lines: list[str]) -> str:
    """Return the comment behind a line, or the lines of comments above it."""
    if line in comments:
        return comments[line]
    parts: list[str] = []
    while lines[line - 2].lstrip().startswith("#"):
        line -= 1
        parts.insert(0, comments[line])
    return " ".join(parts)


def shapes_in(module: str, text: str) -> Iterator[Field]:
    """Yield the array fields of a kernel's classes whose comment begins with a shape.

    A comment above an array is also about the arrays right below it that have none.
    """
    comments, lines = comments_of(text), text.split("\n")
    for owner in ast.walk(ast.parse(text)):
        stated = None
        for node in owner.body if isinstance(owner, ast.ClassDef) else []:
            if isinstance(node, ast.AnnAssign):
                comment = comment_on(node.lineno, comments, lines)
                if comment:
                    stated = re.match(r"\(([^()]+)\)", comment)
                if "::" not in ast.unparse(node.annotation):
                    stated = None
                elif stated:
                    yield Field(module, owner.name, ast.unparse(node.target), stated[1])


def fault_of(stated: str, array: object, dim: int) -> str:
    """Return what is wrong with a stated shape, or an empty string."""
    parts = [part.strip() for part in stated.rstrip(",").split(",")]
    shape = np.asarray(array).shape
    if len(parts) != len(shape):
        return f"({stated}) has {len(parts)} axes, the array has the shape {shape}"
    for part, length in zip(parts, shape, strict=True):
        is_known = re.fullmatch(r"(\d+|dim|[*+ ])+", part)
        if is_known and eval(part, {"dim": dim}) != length:
            return f"({stated}): the array has the shape {shape} in {dim}D"
    return ""


def kernel_objects(whole: object) -> Iterator[object]:
    """Yield the objects of the package that an object refers to, itself included."""
    waiting, seen = [whole], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or not type(each).__module__.startswith("ecs_collide"):
            continue
        seen.add(id(each))
        yield each
        waiting += getattr(each, "__dict__", {}).values()
        for base in type(each).__mro__:
            waiting += [getattr(each, name, None) for name in vars(base).get("__slots__", ())]


def space_with_everything(dim: int) -> ecs_collide.Space:
    """Return a space with some bodies of each sort, after a few steps."""
    space = ecs_collide.install(dim=dim)
    bodies = [esper.create_entity(*components) for components in mixed_bodies(dim=dim)]
    crate = bodies[70]
    esper.add_component(bodies[0], ecs_collide.Carry())
    for rare in (ecs_collide.Separate(9.0), ecs_collide.MaxSpeed(50.0), ecs_collide.PushOut(9.0)):
        esper.add_component(crate, rare)
    size = ecs_collide.Extents(*[0.1] * dim)
    esper.create_entity(ecs_collide.Position(*[0.0] * dim), size, ecs_collide.Attached(crate))
    for _ in range(3):
        esper.process(1 / 60)
    return space


# These read the whole package: for the tests that ask, not for each process that collects tests.
@cache
def texts_of_kernels() -> dict[Path, tuple[str, str]]:
    """Return the path of each kernel, with its name and its source."""
    kernels = build.declarations().kernels.values()
    return {kernel.path: (kernel.name, kernel.text) for kernel in kernels}


@cache
def fields_of_kernels() -> list[Field]:
    """Return all fields of kernels whose comments state a shape."""
    return [field for named in texts_of_kernels().values() for field in shapes_in(*named)]


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("dim", [2, 3])
def test_shapes_in_comments_are_those_of_the_arrays(dim):
    stated: dict[str, list[Field]] = {}
    fields = fields_of_kernels()
    for field in fields:
        stated.setdefault(f"{field.module}.{field.owner}", []).append(field)
    compared, faults = set(), []

    with mock.patch.object(backend, "kernels", backend.load(compiled=False)):
        enter_new_world()
        space = space_with_everything(dim)
        for part in kernel_objects(space):
            kind = type(part)
            for field in stated.get(f"{kind.__module__}.{kind.__name__}", []):
                fault = fault_of(field.shape, getattr(part, field.name), dim)
                faults += [f"{field.owner}.{field.name} {fault}"] * bool(fault)
                compared.add(field)

    assert not faults, "\n".join(faults)
    assert len(compared) > 0.8 * len(fields), sorted(set(fields) - compared)


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        ("n or more, 6", ""),
        ("n, 3 * dim", ""),
        ("n or more, 5", "(n or more, 5): the array has the shape (4, 6) in 2D"),
        ("n, dim", "(n, dim): the array has the shape (4, 6) in 2D"),
        ("n,", "(n,) has 1 axes, the array has the shape (4, 6)"),
    ],
)
def test_stated_shape_is_compared_with_an_array(stated, fault):
    assert fault_of(stated, np.zeros((4, 6)), 2) == fault


def texts_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and the comments of a source with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
    yield from comments_of(text).items()


def names_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names that the code of a module has, without its docstrings and comments."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg", "module", "value"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield from name.split(".")


@cache
def trees() -> list[ast.Module]:
    """Return the syntax trees of the package."""
    return [ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")]


@cache
def names() -> Set[str]:
    """Return all names in the code of the package, with those of its files and of Python."""
    in_code = {name for tree in trees() for name in names_in(tree)}
    of_files = {part for path in PACKAGE.rglob("*.py") for part in (path.stem, path.parent.name)}
    return in_code | of_files | set(dir(builtins))


@cache
def members() -> dict[str, Set[str]]:
    """Return the classes of the package, each with the names that it and its methods have."""
    return {
        node.name: {name for each in [*node.bases, *node.body] for name in names_in(each)}
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def is_known(name: str) -> bool:
    """Return whether a name in backticks is a file, a member of a class, or in the code."""
    if "/" in name:
        return (PACKAGE / name).exists() or (PACKAGE.parent / name).exists()
    if name.endswith("_"):  # of several names
        return any(each.startswith(name) for each in names())
    parts = re.findall(r"[A-Za-z_]\w*", name)
    if len(parts) == 2 and parts[0] in members():
        inherits = members()[parts[0]] & set(members())
        return any(parts[1] in members()[each] for each in [parts[0], *inherits])
    return set(parts) <= names()


def test_names_in_docstrings_and_comments_of_kernels_exist():
    sources = {path: text for path, (_, text) in texts_of_kernels().items()}
    for name in ("_kernel/constants.py", "motion/columns.py"):
        sources[PACKAGE / name] = (PACKAGE / name).read_text("utf-8")

    unknown = [
        f"{path.relative_to(PACKAGE)}, line {line}: `{name}`"
        for path, text in sources.items()
        for line, stated in texts_of(text)
        for name in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", stated)
        if not is_known(name)
    ]

    assert not unknown, "\n".join(unknown)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("rest_count", True),
        ("surface_bits", False),
        ("Bodies.turn_to", True),
        ("Bodies.carrier_velocity", False),
        ("motion/bodies.py", True),
        ("motion/body.py", False),
        ("found[:n]", True),
    ],
)
def test_name_in_backticks_is_looked_up(name, known):
    assert is_known(name) == known
