"""Every Python block of the pages and every example in a docstring runs; pictures are as drawn."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import ecs_collide

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
GUIDE = ROOT / "docs" / "guide.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.S)
GUIDE_BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
MODULES = [
    "components",
    "roles",
    "clocks",
    "events",
    "sweep",
    "tree",
    "space",
    "systems",
    "responses",
    "impacts",
    "_snapshots",
    "character",
    "_views",
    "pyglet_util",
]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
@pytest.mark.usefixtures("world")
def test_readme_block_runs(number):
    exec(compile(BLOCKS[number], f"README.md block {number + 1}", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("number", range(len(GUIDE_BLOCKS)))
@pytest.mark.usefixtures("world")
def test_guide_block_runs(number):
    exec(
        compile(GUIDE_BLOCKS[number], f"guide.md block {number + 1}", "exec"), {"__name__": "guide"}
    )


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_pictures_that_are_there(page):
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text("utf-8")):
        assert (page.parent / picture).is_file(), picture


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_pages_lead_somewhere(page):
    for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_files_that_the_exactness_page_names_are_there():
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")

    for named in re.findall(r"`((?:tests|docs)/[\w/.]+)`", page):
        assert (ROOT / named).is_file(), named


def test_python_of_the_exactness_page_runs():
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")

    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, "exactness.md", "exec"), {})


def test_pictures_of_the_pages_are_what_the_library_answers():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "docs/make_pictures.py")
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)

    for name, draw in drawing.PICTURES.items():
        assert (drawing.FOLDER / name).read_text("utf-8") == str(draw()), (
            f"{name} is out of date: python docs/make_pictures.py"
        )


def test_every_demo_has_a_small_picture_and_stands_in_the_readme():
    page = README.read_text("utf-8")
    for demo in (ROOT / "demos").glob("[a-z]*.py"):
        picture = ROOT / "docs" / "pictures" / f"demo_{demo.stem}.png"
        assert 1_000 < picture.stat().st_size < 60_000, picture.name
        assert f"](docs/pictures/{picture.name}) `{demo.stem}`: " in page, demo.stem
