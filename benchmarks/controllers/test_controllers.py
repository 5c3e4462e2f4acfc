"""The numbers of docs/controllers.md, measured again."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import esper
import pytest

from benchmarks.controllers.situations import SITUATIONS, measure

PAGE = Path(__file__).parents[2] / "docs" / "controllers.md"
COLUMNS = {
    "ecs_collide": ("ours", "Ours"),
    "arcade": ("with_arcade", "Arcade"),
    "pymunk": ("with_pymunk", "Pymunk"),
    "bump.lua": ("loops", "Bump"),
    "usual loop": ("loops", "Usual"),
}


def table() -> list[dict[str, str]]:
    """Return the rows of the page's table, by the heads of its columns."""
    lines = re.findall(r"^\|(.*)\|$", PAGE.read_text("utf-8"), re.M)
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_page_has_twenty_situations_in_order_and_a_sentence_for_each() -> None:
    rows = table()

    assert len(SITUATIONS) == 20
    assert [(row["situation"], row["number"]) for row in rows] == [
        (f"{n}. {each.name}", each.unit) for n, each in enumerate(SITUATIONS, 1)
    ]
    sentences = re.findall(r"^(\d+)\. \S", PAGE.read_text("utf-8"), re.M)
    assert [*map(int, sentences)] == [*range(1, 21)]


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
        begin = kind.__init__

        def begin_in_empty_world(self, world) -> None:  # type: ignore[no-untyped-def]
            esper.clear_database()
            for processor in [*esper._processors]:
                esper.remove_processor(type(processor))
            begin(self, world)

        monkeypatch.setattr(kind, "__init__", begin_in_empty_world)

    assert [row[name] for row in table()] == measure(kind)
