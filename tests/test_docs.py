"""Every Python block of the README and every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import ecs_collide

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.S)
MODULES = ["components", "events", "sweep", "tree", "space", "systems", "responses", "impacts"]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
@pytest.mark.usefixtures("world")
def test_readme_block_runs(number):
    exec(compile(BLOCKS[number], f"README.md block {number + 1}", "exec"), {"__name__": "readme"})


@pytest.mark.usefixtures("world")
def test_program_of_the_readme_does_what_it_says():
    names = {"__name__": "readme"}
    program = next(block for block in BLOCKS if "coin = " in block)

    exec(compile(program, "README.md", "exec"), names)

    esper, ec = names["esper"], names["ec"]
    by_pair = {(event.first, event.second): event for event in names["space"].collisions}
    bounce = by_pair[names["floor"], names["ball"]]
    assert bounce.time == 0.378  # 126 of 333 1/3 units
    assert esper.component_for_entity(names["ball"], ec.Velocity).xy == (0.0, 18_000.0)
    assert esper.component_for_entity(names["player"], ec.Velocity).xy == (120.0, 0.0)
    assert names["hit"].entity == names["player"]  # it stands in the ray's way to the floor
    for _ in range(30):
        esper.process(1 / 60)
    assert not esper.entity_exists(names["coin"])


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.usefixtures("world")
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"ecs_collide.{name}")

    failed, _tried = doctest.testmod(module, extraglobs=vars(ecs_collide))

    assert failed == 0


def test_readme_shows_pictures_that_are_there():
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README.read_text("utf-8")):
        assert (ROOT / picture).is_file(), picture


def test_readme_links_lead_somewhere():
    for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", README.read_text("utf-8")):
        assert link.startswith("https://") or (ROOT / link).exists(), link
