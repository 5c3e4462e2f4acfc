"""Write docs/reference.md: every public name, as a page that a code host shows as it is.

    python docs/make_reference.py

The names and their order are those of the pages ``api_*.md``, from which Sphinx makes the
reference of the site.
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

from ecs_collide.components.table import TABLE

DOCS = Path(__file__).parent
PAGE = DOCS / "reference.md"
ORDER = ["api_components", "api_world", "api_events", "api_questions", "api_extras"]
WIDTH = 88
WHICH = {"AABBTree": "Callable[[int], object] | None"}  # else a filter is a `Which`
EXTRA = re.compile(r"ecs_collide\.(levels|character|path|debug|testing|recording)\.")
NOT_OURS = {object, tuple, int, str, enum.IntEnum, enum.StrEnum, enum.IntFlag, enum.Flag, enum.Enum}
HEAD = """# Reference

Every public name, with its signature. `import ecs_collide as ec` has all of them except the
extras at the end, which are separate modules.

| in a signature | means |
|---|---|
| `Vector` | a tuple of two numbers, in a 3D space of three |
| `VectorLike` | any sequence or array of as many numbers |
| `ArrayLike` | everything that numpy makes an array of |
| `Exclude` | an entity, several of them, or None |
| `Which` | a component type or a tuple of types, a `Filter`, a function of an entity, or None |

This page is made from the docstrings by `python docs/make_reference.py`.
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
    """Write the page."""
    PAGE.write_text(make_page(), "utf-8")


def make_page() -> str:
    """Return the text of the page."""
    parts: list[str] = []
    contents: list[str] = []
    for stem in ORDER:
        text = read_page(stem)
        title = re.match(r"# (.*)", text)[1]
        names = [name for _, name in find_directives(text)]
        contents.append(f"- **{title}**: {', '.join(f'[`{shown(n)}`]()' for n in names)}")
        parts.append(f"## {title}")
        for kind, name in find_directives(text):
            parts += describe(kind, name)
    anchors = anchors_of("\n".join(["# Reference", *parts]))
    listed = re.sub(
        r"\[`([\w.]+)`\]\(\)", lambda m: f"[`{m[1]}`](#{anchors[m[1]]})", "\n".join(contents)
    )
    return "\n\n".join([HEAD.strip(), listed, *parts]) + "\n"


def anchors_of(text: str) -> dict[str, str]:
    """Return the anchor of each entry: a code host numbers headings that differ only in case."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    seen: dict[str, int] = {}
    anchors = {}
    for level, heading in re.findall(
        r"^(#+) (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M
    ):
        anchor = re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")
        seen[anchor] = seen.get(anchor, -1) + 1
        if level == "###":
            anchors[heading] = anchor + (f"-{seen[anchor]}" if seen[anchor] else "")
    return anchors


def find_directives(text: str) -> list[tuple[str, str]]:
    """Return the kind and the full name of each object that a page of the site documents."""
    return re.findall(r"^\.\. auto(class|function|data):: ([\w.]+)", text, re.M)


def shown(name: str) -> str:
    """Return a full name as a game writes it, without the package where it is not needed."""
    _, *path = name.split(".")
    return ".".join(path) if path[0] in ("levels", "debug") and path[-1].islower() else path[-1]


def describe(kind: str, name: str) -> Iterator[str]:
    """Yield the parts of the entry of an object."""
    home, _, last = name.rpartition(".")
    yield f"### {shown(name)}"
    if kind == "data":
        yield docstring_of_constant(home, last)
        return
    thing = getattr(importlib.import_module(home), last)
    if isinstance(thing, enum.EnumType):
        yield to_markdown(inspect.getdoc(thing))
        yield "\n".join(rows_of_enum(thing))
        return
    code = signature(shown(name).rpartition(".")[2], thing)
    yield f"```py\n{code}\n```"
    yield to_markdown(inspect.getdoc(thing))
    if kind == "class":
        for member, value in members_of(thing):
            yield f"#### {thing.__name__}.{member}"
            if isinstance(value, property):
                yield f"```py\n{thing.__name__}.{member}{result(value.fget)}\n```"
            else:
                text = signature(member, getattr(thing, member), WHICH.get(thing.__name__, "Which"))
                yield f"```py\n{text}\n```"
            yield to_markdown(inspect.cleandoc(value.__doc__ or ""))


def members_of(kind: type) -> list[tuple[str, Any]]:
    """Return the documented methods and properties of a class, in the order of the source."""
    found: dict[str, Any] = {}
    for owner in kind.__mro__:
        if owner in NOT_OURS or not owner.__module__.startswith("ecs_collide"):
            continue
        for name, value in vars(owner).items():
            function = getattr(value, "__func__", value)  # of a classmethod
            usable = isinstance(value, property) or inspect.isfunction(function)
            if usable and not name.startswith("_") and value.__doc__:
                found.setdefault(name, value)
    return list(found.items())


def rows_of_enum(kind: enum.EnumType) -> Iterator[str]:
    """Yield a table of the members of an enum, with the docstrings that follow them."""
    docs = docstrings_after(inspect.getsource(kind))
    yield "| name | value | |"
    yield "|---|---|---|"
    for member in kind:
        value = repr(member.value)
        yield f"| `{member.name}` | `{value}` | {' '.join(docs.get(member.name, '').split())} |"


def docstring_of_constant(module: str, name: str) -> str:
    """Return what follows an assignment at the top of a module."""
    source = inspect.getsource(importlib.import_module(module))
    return to_markdown(docstrings_after(source)[name])


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


def signature(name: str, thing: Any, which: str = "Which") -> str:
    """Return the call of a function or class, on one line or with a line for each argument.

    `which` is the type of an argument `filter`.
    """
    try:
        found = inspect.signature(thing)
    except ValueError:
        return name
    parts: list[str] = []
    star = False
    for given in found.parameters.values():
        if given.name in ("self", "cls") or str(given.annotation) == "_Step":
            continue  # what only the library passes
        if given.kind is given.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or given.kind in (given.KEYWORD_ONLY, given.VAR_POSITIONAL)
        prefix = {given.VAR_POSITIONAL: "*", given.VAR_KEYWORD: "**"}.get(given.kind, "")
        text = prefix + given.name
        if given.annotation is not given.empty and "_Settings" not in str(given.annotation):
            text += f": {which if given.name == 'filter' else annotation(given.annotation)}"
        if given.default is not given.empty:
            text += f" = {shown_value(given.default)}"
        parts.append(text)
    back = "" if inspect.isclass(thing) else result(thing)
    line = f"{name}({', '.join(parts)}){back}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){back}"])


def shown_value(value: object) -> str:
    """Return a default as one would write it."""
    if value is ...:
        return "..."
    if isinstance(value, enum.Flag):
        return " | ".join(f"{type(value).__name__}.{part.name}" for part in value)
    return repr(value)


def result(function: Any) -> str:
    """Return what a function returns, as a signature says it."""
    given = inspect.signature(function).return_annotation
    return "" if given is inspect.Signature.empty else f" -> {annotation(given)}"


def annotation(given: Any) -> str:
    """Return a type as one would write it."""
    text = given if isinstance(given, str) else inspect.formatannotation(given)
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    text = re.sub(r"\b(?:typing|collections\.abc|numpy\.typing|numpy|np)\.", "", text)
    text = re.sub(r"\becs_collide\.(?:\w+\.)*", "", text)
    text = re.sub(r"\b_AnyVector\b", "VectorLike", text)
    text = re.sub(r"\b_Vector(Like)?\b", r"Vector\1", text)
    text = re.sub(r"\b(?:Floats|Doubles)\b", "NDArray[float64]", text)
    return re.sub(r"\b(?:Integers|Longs)\b", "NDArray[int64]", text)


SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)


def to_markdown(text: str | None) -> str:
    """Return a docstring in the numpy style as Markdown."""
    if not text:
        return ""
    pieces = SECTION.split(text)
    parts = [paragraphs(pieces[0])]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if title == "Examples":
            parts.append(paragraphs(body))
        elif title == "Notes":
            parts.append(f"*{title}*\n\n{paragraphs(body)}")
        else:
            parts.append(f"*{title}*\n\n{fields(body)}")
    return "\n\n".join(part for part in parts if part.strip())


def paragraphs(text: str) -> str:
    """Return prose with its examples in blocks, its literals as they are, and no wrapped lines."""
    parts = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.lstrip().startswith(">>>") or re.match(r"\s{4}", block) or "====" in block:
            parts.append("```pycon\n" if ">>>" in block else "```text\n")
            parts[-1] += re.sub(r" *# doctest: .*", "", textwrap.dedent(block)) + "\n```"
        elif block.lstrip().startswith(("- ", "* ")):
            parts.append(block.replace("``", "`"))
        else:
            parts.append(" ".join(block.split()).replace("``", "`").removesuffix("::"))
    return "\n\n".join(parts).replace("\n```\n\n```pycon\n", "\n\n")


def fields(text: str) -> str:
    """Return the entries of a section, such as parameters, as a list."""
    parts = []
    for entry in re.split(r"\n(?=\S)", text.strip("\n")):
        first, _, rest = entry.partition("\n")
        names, colon, kind = first.partition(" : ")
        more = " ".join(textwrap.dedent(rest).split()).replace("``", "`")
        names = ", ".join(f"`{name.strip()}`" for name in names.split(","))
        parts.append(f"- {names}" + (f" ({kind})" if colon else "") + (f": {more}" if more else ""))
    return "\n".join(parts)


if __name__ == "__main__":
    main()
