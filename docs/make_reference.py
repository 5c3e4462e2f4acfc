"""Write docs/reference/: every public name in one line, for code hosts.

    python docs/make_reference.py

The names and their order are those of the pages ``api_*.md``, from which Sphinx makes the
reference of the site, with all docstrings.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ecs_collide as ec
from ecs_collide.components.table import TABLE

DOCS = Path(__file__).parent
FOLDER = DOCS / "reference"
ORDER = ["api_components", "api_world", "api_events", "api_questions", "api_extras", "api_extend"]
EXTRA = re.compile(r"ecs_collide\.(levels|character|path|zone|debug|testing|recording|extend)\.")
NOT_OURS = {object, tuple, int, str, enum.IntEnum, enum.StrEnum, enum.IntFlag, enum.Flag, enum.Enum}
HEAD = """# {title}

{first} `python docs/make_reference.py` makes this page from the docstrings.
"""


def expand(text: str) -> str:
    """Return a page with the names that follow from the library, or from the other pages.

    ``.. autocomponents:: dynamics`` stands for the components of a module, in the order of their
    table.  In ``api.md`` each section that links another page gets a table of its names.
    """
    text = re.sub(r"^\.\. autocomponents:: (\w+)\n", _documented, text, flags=re.M)
    return re.sub(
        r"^## \[[^\]]+\]\((api_\w+)\.md\)\n\n.+\n",
        lambda m: m[0] + _summary(read_page(m[1])),
        text,
        flags=re.M,
    )


def read_page(stem: str) -> str:
    """Return the text of a page of the site, expanded."""
    return expand((DOCS / f"{stem}.md").read_text("utf-8"))


def _documented(match: re.Match[str]) -> str:
    """Return the directives of the components of a module."""
    kinds = [d.kind for d in TABLE if d.kind.__module__.endswith(f".{match[1]}")]
    blocks = (f".. autoclass:: ecs_collide.{kind.__name__}\n   :members:\n" for kind in kinds)
    return "\n".join(blocks)


def _summary(page: str) -> str:
    """Return tables of the names that a page documents, under its headings."""
    parts = []
    for heading, section in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", page, re.M):
        names = [name for _, name in find_directives(section)]
        if names:
            short = "" if EXTRA.match(names[0]) else "~"
            listed = "".join(f"   {short}{name}\n" for name in names)
            table = f"```{{eval-rst}}\n.. autosummary::\n   :nosignatures:\n\n{listed}```\n"
            parts.append(f"\n### {heading}\n\n{table}")
    return "".join(parts)


def main() -> None:
    """Write the pages."""
    for name, text in make_pages().items():
        (FOLDER / name).write_text(text, "utf-8")


def make_pages() -> dict[str, str]:
    """Return the text of each page, by its file."""
    pages = {}
    for stem in ORDER:
        text, known = read_page(stem), set()
        title, first = re.match(r"# (.+)\n\n(.+)\n", text).groups()
        rows = [row for kind, name in find_directives(text) for row in describe(kind, name, known)]
        head = HEAD.format(title=title, first=first)
        table = "\n".join(["| name | meaning |", "|---|---|", *rows])
        pages[f"{stem.removeprefix('api_')}.md"] = f"{head}\n{table}\n"
    return pages


def find_directives(text: str) -> list[tuple[str, str]]:
    """Return the kind and the full name of each object that a page of the site documents."""
    return re.findall(r"^\.\. auto(class|function|data):: ([\w.]+)", text, re.M)


def shown(name: str) -> str:
    """Return a full name as a game writes it, without the package where it is not needed."""
    _, *path = name.split(".")
    return ".".join(path) if path[0] in ("levels", "debug") and path[-1].islower() else path[-1]


def describe(kind: str, name: str, known: set[str]) -> Iterator[str]:
    """Yield the row of an object, and those of the members of a class.

    Members that are `known` from another class with the same base are only named.
    """
    home, _, last = name.rpartition(".")
    module = importlib.import_module(home)
    if kind == "data":
        yield row(f"**`{last}`**", docstrings_after(inspect.getsource(module))[last])
        return
    thing = getattr(module, last)
    if isinstance(thing, enum.EnumType):
        names = ", ".join(f"`{member.name}`" for member in thing)
        yield row(f"**`{last}`**", inspect.getdoc(thing), f" {names}.")
        return
    members = members_of(thing) if kind == "class" else []
    shared = [member for owner, member, _ in members if f"{owner}.{member}" in known]
    also = f" Also {', '.join(f'`.{member}`' for member in shared)}, as above." if shared else ""
    call = signature(shown(name), thing)
    yield row(f"**`{call}`**", inspect.getdoc(thing), also)
    for attributes, about in attributes_of(thing) if kind == "class" else []:
        new = [one for one in attributes if not re.search(rf"\b{one}\b", call)]
        if new and not any(member in new for _, member, _ in members):
            yield row(", ".join(f"`.{one}`" for one in new), about)
    for owner, member, value in members:
        known.add(f"{owner}.{member}")
        if member not in shared:
            is_property = isinstance(value, property)
            code = member if is_property else signature(member, getattr(thing, member))
            yield row(f"`.{code}`", inspect.cleandoc(value.__doc__ or ""))


def attributes_of(kind: type) -> list[tuple[list[str], str]]:
    """Return what the docstring of a class says of its attributes: names, and a text for each."""
    text = inspect.cleandoc(kind.__doc__ or "") + "\n"
    section = re.search(r"^Attributes\n-+\n((?:.*\n)*?)(?:\n\w+\n---|\Z)", text, re.M)
    entries = re.findall(r"^(\S.*?) : .+\n((?:    .*\n)+)", section[1] if section else "", re.M)
    return [
        (names.split(", "), textwrap.dedent(about))
        for names, about in entries
        if "not for the game" not in about
    ]


def row(code: str, docstring: str | None, more: str = "") -> str:
    """Return a row of a table: code, and the first sentence of a docstring."""
    first = " ".join((docstring or "").partition("\n\n")[0].replace("``", "`").split())
    sentence = re.split(r"(?<=[.])\s+(?=[A-Z`])", first)[0].removesuffix("::")
    return f"| {code.replace('|', chr(92) + '|')} | {sentence.replace('|', chr(92) + '|')}{more} |"


def members_of(kind: type) -> list[tuple[str, str, Any]]:
    """Return the documented methods and properties of a class: where defined, name and value."""
    found: dict[str, tuple[str, str, Any]] = {}
    for owner in kind.__mro__:
        if owner in NOT_OURS or not owner.__module__.startswith("ecs_collide"):
            continue
        for name, value in vars(owner).items():
            function = getattr(value, "__func__", value)  # of a classmethod
            usable = isinstance(value, property) or inspect.isfunction(function)
            if usable and not name.startswith("_") and value.__doc__:
                found.setdefault(name, (owner.__qualname__, name, value))
    return list(found.values())


def docstrings_after(source: str) -> dict[str, str]:
    """Return the text below each assignment of a module, or of a class."""
    tree = ast.parse(textwrap.dedent(source))
    body = tree.body
    if len(body) == 1 and isinstance(body[0], ast.ClassDef):
        body = body[0].body
    found = {}
    for statement, below in itertools.pairwise(body):
        targets = {ast.Assign: "targets", ast.AnnAssign: "target"}.get(type(statement))
        if targets and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            target = getattr(statement, targets)
            target = target[0] if isinstance(target, list) else target
            found[target.id] = inspect.cleandoc(str(below.value.value))
    return found


def signature(name: str, thing: Any) -> str:
    """Return the call of a function or class on one line, without types."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return name
    parts: list[str] = []
    star = False
    for given in found.parameters.values():
        if given.name in ("self", "cls") or given.name.startswith("_"):
            continue
        if str(given.annotation) == "_Step":
            continue  # only the library passes it
        if given.kind is given.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or given.kind in (given.KEYWORD_ONLY, given.VAR_POSITIONAL)
        prefix = {given.VAR_POSITIONAL: "*", given.VAR_KEYWORD: "**"}.get(given.kind, "")
        default = "" if given.default is given.empty else f"={shown_value(given.default)}"
        parts.append(f"{prefix}{given.name}{default}")
    return f"{name}({', '.join(parts)})"


def shown_value(value: object) -> str:
    """Return a default as one would write it."""
    if value is ... or (isinstance(value, tuple) and any(inspect.isclass(one) for one in value)):
        return "..."
    if isinstance(value, enum.Flag):
        return " | ".join(f"{type(value).__name__}.{part.name}" for part in value)
    text = repr(value)
    return {repr(1 / 60): "1/60", str(ec.ALL): "ALL", str(2**20): "2**20"}.get(text, text)


if __name__ == "__main__":
    main()
