"""The numbers of docs/controllers.md, measured again."""

from __future__ import annotations

import importlib
import re
from importlib import metadata
from pathlib import Path

import esper
import pytest

from benchmarks.controllers import in_3d
from benchmarks.controllers.situations import SITUATIONS, measure, written

PAGE = Path(__file__).parents[2] / "docs" / "controllers.md"
COLUMNS = {
    "ecs_collide": ("ours", "Ours"),
    "arcade": ("with_arcade", "Arcade"),
    "pymunk": ("with_pymunk", "Pymunk"),
    "bump.lua": ("loops", "Bump"),
    "usual loop": ("loops", "Usual"),
}


def table(part: int = 0) -> list[dict[str, str]]:
    """Return the rows of a table of the page, by the heads of its columns."""
    text = PAGE.read_text("utf-8").split("\n## ")[part]
    lines = re.findall(r"^\|(.*)\|$", text, re.M)
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_page_has_the_situations_in_order_and_a_sentence_for_each() -> None:
    rows = table()

    assert len(SITUATIONS) == 23
    assert [(row["situation"], row["number"]) for row in rows] == [
        (f"{n}. {each.name}", each.unit) for n, each in enumerate(SITUATIONS, 1)
    ]
    sentences = re.findall(r"^(\d+)\. \S", PAGE.read_text("utf-8"), re.M)
    assert [*map(int, sentences)] == [*range(1, 24)]


def begin_in_empty_worlds(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put each controller of ours into an empty world."""
    begin = kind.__init__  # type: ignore[misc]

    def begin_in_empty_world(self, world) -> None:  # type: ignore[no-untyped-def]
        esper.clear_database()
        for processor in [*esper._processors]:
            esper.remove_processor(type(processor))
        begin(self, world)

    monkeypatch.setattr(kind, "__init__", begin_in_empty_world)


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_of_the_page_are_those_that_are_measured(
    name: str, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("arcade", "pymunk"):
        package = pytest.importorskip(name)
        version = getattr(package, "version", None) or package.__version__
        if name == "pymunk" and int(str(version).split(".")[0]) < 7:
            pytest.skip("the page has the numbers of pymunk 7")
    module, word = COLUMNS[name]
    kind = getattr(importlib.import_module(f"benchmarks.controllers.{module}"), word)
    if name == "ecs_collide":
        begin_in_empty_worlds(kind, monkeypatch)

    assert [row[name] for row in table()] == measure(kind)


@pytest.mark.parametrize(("name", "kind"), [("ecs_collide", in_3d.Ours), ("Rapier", in_3d.Rapier)])
def test_numbers_in_3d_are_those_that_are_measured(
    name: str, kind: type, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "Rapier":
        pytest.importorskip("rapier3d")
        if not metadata.version("rapier3d").startswith("0.36."):
            pytest.skip("the page has the numbers of rapier3d 0.36")
    else:
        begin_in_empty_worlds(kind, monkeypatch)

    numbers = map(written, in_3d.measure(kind))

    assert [(row["situation in 3D"], row["number"], row[name]) for row in table(1)] == [
        (f"{n}. {situation}", unit, number)
        for n, ((situation, unit, *_), number) in enumerate(
            zip(in_3d.SITUATIONS, numbers, strict=True), 1
        )
    ]
