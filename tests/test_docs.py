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
BLOCKS = [
    pytest.param(block, id=f"{page.name} block {number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S), 1
    )
]
OTHERS = {
    "ecs_collide.levels import tiled": "pytiled_parser",
    "from demos.platformer": "pytiled_parser",
    "from hypothesis": "hypothesis",
    "import pymunk": "pymunk",
}
EXTRAS = ("levels", "character", "debug", "testing", "rollback")  # imported by themselves
MODULES = [
    "components",
    "traits",
    "_categories",
    "component_map",
    "clocks",
    "events",
    "sweep",
    "tree",
    "space",
    "systems",
    "response.rules",
    "step.impact",
    "snapshot.snapshots",
    "character.character",
    "queries.inspection",
    "debug.overlay",
    "recording.recorder",
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.usefixtures("world")
def test_python_of_the_pages_runs(block, request):
    for words, package in OTHERS.items():
        if words in block:
            pytest.importorskip(package)

    code = compile(block, request.node.callspec.id, "exec", dont_inherit=True)
    exec(code, {"__name__": "page"})


@pytest.mark.usefixtures("world")
def test_program_of_the_readme_does_what_it_says():
    names = {"__name__": "readme"}
    program = next(block.values[0] for block in BLOCKS if "coin = " in block.values[0])

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


def test_every_picture_is_shown_by_a_page():
    pages = "".join(page.read_text("utf-8") for page in (*PAGES, ROOT / "docs" / "conf.py"))
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"pictures/{picture.name}" in pages, picture.name


def test_code_of_the_pages_is_narrow_enough_for_the_site():
    for param in BLOCKS:
        for line in param.values[0].splitlines():
            assert len(line) <= 90, f"{param.id}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_pages_lead_somewhere(page):
    for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_files_that_the_exactness_page_names_are_there():
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")

    for named in re.findall(r"`((?:tests|docs)/[\w/.]+)`", page):
        assert (ROOT / named).is_file(), named


def test_reference_names_each_public_name_once():
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("api_*.md"))
    listed = re.findall(r"auto(?:class|function|data):: ecs_collide\.([\w.]+)", pages)

    names = [name for name in listed if name.partition(".")[0] not in EXTRAS]

    assert sorted(name.rpartition(".")[2] for name in names) == sorted(ecs_collide.__all__)
    for name in names:  # those of a module are constants, documented where they are defined
        home, _, constant = name.rpartition(".")
        module = importlib.import_module(f"ecs_collide.{home}" if home else "ecs_collide")
        assert hasattr(module, constant), name
        if not callable(getattr(module, constant)):
            lines = Path(module.__file__).read_text("utf-8").splitlines()
            (at,) = (n for n, line in enumerate(lines) if re.match(rf"{constant}\b.* = ", line))
            assert lines[at + 1].startswith('"""'), f"{name} has no docstring"


def test_tables_of_the_reference_list_all_that_it_has():
    summary = (ROOT / "docs" / "api.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("api_*.md"):
        text = page.read_text("utf-8")
        for name in re.findall(r"auto(?:class|function|data):: (ecs_collide\.[\w.]+)", text):
            assert re.search(rf"^   ~?{name}$", summary, re.M), name


@pytest.mark.parametrize("kind", [ecs_collide.Space, ecs_collide.AABBTree])
def test_tables_of_members_list_all_that_there_are(kind):
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("api_*.md"))

    listed = re.findall(rf"^   ~ecs_collide\.{kind.__name__}\.(\w+)$", pages, re.M)

    assert sorted(listed) == [name for name in dir(kind) if not name.startswith("_")]


def test_pages_of_the_site_are_all_in_its_table_of_contents():
    pages = [(ROOT / "docs" / name).read_text("utf-8") for name in ("index.md", "api.md")]
    listed = " ".join(re.findall(r"```{toctree}(.*?)```", "".join(pages), re.S)).split()

    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}

    assert pages <= set(listed)


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
