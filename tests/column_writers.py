"""Which modules write the columns of the body table, by their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ecs_collide.motion.columns import blocks_of

COLUMNS = {name for block in blocks_of(3, True) for name in block.names}
# Names under which the modules hold the table or a part of it.
TABLES = {"b", "bodies", "c", "controls", "rare", "table", "_table", "t", "v", "views"}
PARTS = {"Bodies", "BodyTable", "Controls", "RareColumns"}
OTHER_NAMES = {
    "bits": "traits",
    "flat_max": "swept_max",
    "flat_min": "swept_min",
    "flat_motion": "motion",
    "flat_path": "path",
}
VIEWS = {"flat", "np.asarray"}  # functions that return the memory of their argument


def find_writers(module: ast.Module) -> dict[str, list[int]]:
    """Return the lines in which a module assigns to items of columns, by column."""
    found: dict[str, list[int]] = {}
    for function, owner in _functions(module):
        names = _local_names(function, owner)
        for node in ast.walk(function):
            for target in _targets(node):
                for column in _columns(target.value, names, owner):
                    found.setdefault(column, []).append(target.lineno)
    return found


def _functions(module: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Yield the functions of a module and of its classes, with the name of the class or ""."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node, ""
        elif isinstance(node, ast.ClassDef):
            yield from (
                (each, node.name) for each in node.body if isinstance(each, ast.FunctionDef)
            )


def _targets(node: ast.AST) -> Iterator[ast.Subscript]:
    """Yield the items that a statement assigns to."""
    waiting: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        waiting = [*node.targets]
    elif isinstance(node, ast.AugAssign):
        waiting = [node.target]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Tuple):
            waiting += target.elts
        elif isinstance(target, ast.Subscript):
            yield target


def _local_names(function: ast.FunctionDef, owner: str) -> dict[str, list[str]]:
    """Return the local names of a function that stand for columns."""
    names = {arg.arg: [arg.arg] for arg in function.args.args if arg.arg in COLUMNS}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = _columns(node.value, {}, owner)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            names[node.target.id] = _columns(node.value, {}, owner)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            several = node.iter.elts if isinstance(node.iter, ast.Tuple) else []
            names[node.target.id] = [each for part in several for each in _columns(part, {}, owner)]
    return names


def _columns(node: ast.expr, names: dict[str, list[str]], owner: str) -> list[str]:
    """Return the columns that an expression stands for: one, several in a loop, or none."""
    while isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in VIEWS:
        node = node.args[0]
    if isinstance(node, ast.Name):
        return names.get(node.id, [])
    if not isinstance(node, ast.Attribute):
        return []
    column = OTHER_NAMES.get(node.attr, node.attr)
    whole = node.value
    holder = whole.attr if isinstance(whole, ast.Attribute) else ast.unparse(whole)
    is_table = holder in TABLES or (holder == "self" and owner in PARTS)
    return [column] if is_table and column in COLUMNS else []
