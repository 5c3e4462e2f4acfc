"""Every Python block of the pages and every example in a docstring runs; pictures are as drawn."""

from __future__ import annotations

import base64
import doctest
import gzip
import importlib
import importlib.util
import inspect
import json
import re
from pathlib import Path

import esper
import numpy
import pytest

import ecs_collide
import ecs_collide as ec
from ecs_collide.character.memory import ENDLESS
from ecs_collide.components.filters import NAMES
from ecs_collide.components.table import TABLE
from tests import windows
from tests.levels.ldtk_projects import two_rooms

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CHANGELOG = ROOT / "CHANGELOG.md"
PAGES = [
    README,
    CHANGELOG,
    ROOT / "ecs_collide" / "GLOSSARY.md",
    ROOT / "ecs_collide" / "RULES.md",
    ROOT / "tests" / "how_exactness_is_tested.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "demos").glob("*/*.md")),
]
BLOCKS = [
    pytest.param(block, id=f"{page.name} block {number}")
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S), 1
    )
]


def programs(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    return [param.values[0] for param in BLOCKS if param.id.startswith(f"{page} block ")]


def tutorial(step: int) -> str:
    """Return the program of a step of the tutorial."""
    return (ROOT / "docs" / "tutorial" / f"step_{step}.py").read_text("utf-8")


LEVEL = re.search(r"```xml\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text("utf-8"), re.S)[1]
OTHERS = {"import pymunk": "pymunk", "from hypothesis": "hypothesis"}
OTHERS |= {"many_worlds.vector_env": "gymnasium", "many_worlds.duel": "pettingzoo"}
OTHERS |= {"many_worlds.sweep": "joblib", "from dask.distributed": "distributed"}
OTHERS |= {f"import {name}\n": name for name in ("arcade", "pygame")}
# imported by themselves
EXTRAS = ("levels", "character", "path", "zone", "debug", "testing", "recording.rollback", "extend")
MODULES = [
    "components.basics",
    "components.dynamics",
    "components.filters",
    "components.slope",
    "components.surfaces",
    "components.component_map",
    "clocks",
    "random_numbers",
    "events",
    "sweeps",
    "tree",
    "space",
    "systems",
    "response.rules",
    "step.impact",
    "snapshot.snapshots",
    "character.character",
    "path.path",
    "zone.zone",
    "queries.boxes",
    "queries.inspection",
    "debug.overlay",
    "recording.recorder",
]


@pytest.fixture
def page_folder(tmp_path, monkeypatch):
    """Work in a folder with the level of the tutorial, and with a world of LDtk."""
    (tmp_path / "level.tmx").write_text(LEVEL, "utf-8")
    (tmp_path / "world.ldtk").write_text(two_rooms(), "utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.usefixtures("world")
@pytest.mark.filterwarnings("ignore:assert_repeats.. skips 'hash seed'")
@pytest.mark.filterwarnings("ignore:assert_repeats.. skips 'kernels'")
def test_python_of_the_pages_runs(block, request, page_folder):
    for words, package in OTHERS.items():
        if words in block:
            pytest.importorskip(package)

    if "pyglet.app.run()" in block or "arcade.run()" in block:
        windows.play(block, request.node.callspec.id)
    elif "pygame.display.flip()" in block:
        windows.play_pygame(block, request.node.callspec.id)
    else:
        code = compile(block, request.node.callspec.id, "exec", dont_inherit=True)
        exec(code, {"__name__": "page"})


@pytest.mark.usefixtures("world")
def test_first_program_does_what_it_says():
    said = []
    names = {"print": lambda *words: said.append(words)}

    exec(compile(programs("concepts.md")[0], "concepts.md", "exec"), names)

    (hit, point), *_, (_, place) = said
    assert hit == "hit"
    assert abs(point[0] - 60 * (2 * 46 / 900) ** 0.5) < 1  # after a fall of 46 units
    assert point[1] == 0
    assert round(place[0], 9) == 120
    assert place[1] >= 4


@pytest.mark.usefixtures("world")
def test_window_of_the_readme_has_a_player_who_jumps_pushes_and_collects():
    seen = []

    def watch(names, frame):
        esper, ec = names["esper"], names["ec"]
        place = esper.component_for_entity(names["player"], ec.Position)
        crate = next(place for _, (place, _) in esper.get_components(ec.Position, ec.Friction))
        seen.append((place.x, place.y, crate.x, len(esper.get_component(names["Coin"]))))

    keys = {20: ("SPACE",), 24: (), 90: ("RIGHT",)}
    windows.play(programs("README.md")[0], "README.md", keys, 500, watch)

    x, y, crate, _ = seen[15]
    assert (x, y, crate) == (80, 60, 260)  # on the floor
    assert max(y for _, y, _, _ in seen) > 60 + 80  # it jumped
    assert seen[-1][2] > 350  # the crate was pushed
    assert seen[0][3] == 1
    assert seen[-1][3] == 0  # the coin was taken


TUTORIAL = {  # of each step: the keys by frame, and what then holds
    1: ({30: ("RIGHT",)}, lambda names: place(names).x > 300 and place(names).y == 52),
    2: ({30: ("RIGHT",)}, lambda names: (round(place(names).x, 6), place(names).y) == (372, 52)),
    3: ({0: ("SPACE",), 20: ("RIGHT",)}, lambda names: place(names).x > 300),
    4: (
        {10: ("X",), 20: (), 30: ("X",), 40: ("LEFT",)},
        lambda names: (
            len(names["esper"].get_component(names["Enemy"])) == 1
            and place(names).xy == (44, 52)  # at the block on the left
        ),
    ),
    5: ({30: ("RIGHT",)}, lambda names: len(names["esper"].get_component(names["Coin"])) == 2),
    6: (
        {10: ("F5",), 12: ("RIGHT", "X"), 60: ("RIGHT", "R"), 70: ("F9",)},
        lambda names: (
            place(names).xy == (80, 52)
            and names["end_of_recording"] is not None
            and len(names["esper"].get_components(names["Coin"], names["Rectangle"])) == 3
        ),
    ),
}


def place(names):
    """Return where the player of a program is."""
    return names["esper"].component_for_entity(names["player"], names["ec"].Position)


@pytest.mark.parametrize("step", TUTORIAL)
@pytest.mark.usefixtures("world", "page_folder")
def test_steps_of_the_tutorial_do_what_they_say(step):
    keys, holds = TUTORIAL[step]

    names = windows.play(tutorial(step), f"step {step}", keys)

    assert holds(names)


def test_tutorial_shows_parts_of_its_programs_and_together_all_lines():
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    steps = re.split(r"^## Step \d", page, flags=re.M)[1:]

    earlier: list[str] = []
    for number, section in enumerate(steps, 1):
        parts = re.findall(r"```py\n(.*?)```", section, re.S)
        earlier += [line for part in parts for line in part.splitlines()]
        earlier += re.findall(r"`((?:from|import) [^`]*)`", section)
        assert all(part in tutorial(number) for part in parts), f"step {number}"
        assert {*tutorial(number).splitlines()} <= {*earlier, ""}, f"step {number}"


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.usefixtures("world")
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"ecs_collide.{name}")

    names = {name: getattr(ecs_collide, name) for name in dir(ecs_collide)}  # also the late ones
    known = {**names, "ec": ecs_collide, "esper": esper, "np": numpy}
    runner = doctest.DocTestRunner()
    for examples in doctest.DocTestFinder().find(module, globs=known):  # not those of the module
        NAMES.clear()  # each example names its own categories
        runner.run(examples)

    assert runner.summarize().failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_pictures_that_are_there(page):
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text("utf-8")):
        assert (page.parent / picture).is_file(), picture


def test_every_picture_is_shown_by_a_page():
    pages = "".join(page.read_text("utf-8") for page in (*PAGES, ROOT / "docs" / "conf.py"))
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert f"pictures/{picture.name}" in pages, picture.name


def test_columns_of_tables_have_headers():
    for page in (*PAGES, *(ROOT / "docs" / "reference").glob("*.md")):
        for head in re.findall(r"^(\|.*\|)\n\|[-: |]+\|$", page.read_text("utf-8"), re.M):
            assert all(cell.strip() for cell in head.strip("|").split("|")), (page.name, head)


def test_code_of_the_pages_is_narrow_enough_for_the_site():
    most = {page.name: 60 for page in (README, *(ROOT / "docs").glob("*.md"))}
    for param in BLOCKS:
        columns = most.get(param.id.split()[0], 90)
        for line in param.values[0].splitlines():
            assert len(line) <= columns, f"{param.id}: {line}"


def test_table_of_the_numbers_of_a_character_has_each_with_its_default():
    text = (ROOT / "docs" / "controllers.md").read_text("utf-8").partition("## The numbers of")[2]
    hero, found = ec.Character(), {}
    for names, _, default, _, endless in re.findall(r"^\|" + r" (.*?) \|" * 5, text, re.M)[1:]:
        numbers = [each.replace(",", "") for each in default.split(", ")]
        if default.count(",") == 1 and default.partition(",")[2].isdigit():
            numbers = [default.replace(",", "")]  # thousands
        for name, number in zip(re.findall(r"`(.*?)`", names), numbers, strict=True):
            expected = number if number[0] == "`" else float(number)
            found[name] = expected
            assert expected in (getattr(hero, name), "`step_height`"), name
            assert (endless != "-") == (name in ENDLESS), name
    wanted = {*inspect.signature(ec.Character).parameters}
    assert wanted - {*found} == {"dash_through", "floor_constant_speed", "lift_speed", "up"}


LIMITS = {  # words of a page that may have more than others
    "README.md": 1_100,
    "bodies.md": 1_400,
    "controllers.md": 2_000,
    "cookbook_adventures.md": 1_650,
    "design.md": 6_300,
    "events.md": 1_950,
    "exactness.md": 2_700,
    "levels.md": 2_900,
    "materials.md": 1_450,
    "platformers.md": 3_300,
    "published.md": 2_000,
    "queries.md": 1_300,
    "save_games.md": 2_000,
    "testing.md": 1_700,
    "troubleshooting.md": 1_850,
    "tutorial.md": 2_000,
}


def test_pages_stay_short():
    words = {page.name: len(page.read_text("utf-8").split()) for page in PAGES}
    of_docs = [page.name for page in (README, *(ROOT / "docs").glob("*.md"))]
    written = [name for name in of_docs if not name.startswith("api")]
    usual = {name: 130 if name.startswith("example_") else 1_200 for name in written}
    reference = (ROOT / "docs" / "reference").glob("*.md")

    too_long = {name: words[name] for name in written if words[name] > {**usual, **LIMITS}[name]}
    assert too_long == {}, "shorten these pages, or move a part to a page of its own"
    assert sum(words[name] for name in written) < 58_500
    assert all(len(page.read_text("utf-8").split()) < 6_000 for page in reference)


def test_changes_since_the_last_release_are_read_in_five_minutes():
    new = CHANGELOG.read_text("utf-8").partition("## [Unreleased]")[2].partition("\n## ")[0]

    assert len(new.split()) <= 2_500
    too_long = [line for line in new.splitlines() if line[:2] == "- " and len(line.split()) > 35]
    assert too_long == [], "a change is one line, and its page explains it"


def anchors(page):
    """Return the anchors of the headings of a page, as a code host makes them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    found = []
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        earlier = sum(one == anchor or one.rpartition("-")[0] == anchor for one in found)
        found.append(f"{anchor}-{earlier}" if anchor in found else anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_pages_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    for link in re.findall(r"(?<!!)\[[^\]]*\]\(([^)]+)\)", text):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_files_that_the_page_on_the_tests_names_are_there():
    page = (ROOT / "tests" / "how_exactness_is_tested.md").read_text("utf-8")

    for named in re.findall(r"`((?:tests|docs)/[\w/.]+)`", page):
        assert (ROOT / named).is_file(), named


def reference_pages():
    """Return the pages of the reference by name, as the site has them."""
    pages = (ROOT / "docs").glob("api_*.md")
    return {page.stem: script("make_reference").read_page(page.stem) for page in pages}


def test_reference_names_each_public_name_once():
    listed = re.findall(
        r"auto(?:class|function|data):: ecs_collide\.([\w.]+)", "".join(reference_pages().values())
    )

    names = [name for name in listed if not name.startswith(EXTRAS)]

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
    pages = reference_pages()
    summary = script("make_reference").read_page("api")

    for page in pages.values():
        for name in re.findall(r"auto(?:class|function|data):: (ecs_collide\.[\w.]+)", page):
            assert re.search(rf"^   ~?{name}$", summary, re.M), name


@pytest.mark.parametrize("kind", [ecs_collide.Space, ecs_collide.AABBTree])
def test_tables_of_members_list_all_that_there_are(kind):
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("api_*.md"))

    listed = re.findall(rf"^   ~ecs_collide\.{kind.__name__}\.(\w+)$", pages, re.M)

    assert sorted(listed) == [name for name in dir(kind) if not name.startswith("_")]


def test_pages_of_the_site_are_all_in_its_table_of_contents():
    pages = [
        (ROOT / "docs" / name).read_text("utf-8")
        for name in ("index.md", "api.md", "coming_from.md", "cookbook.md", "examples.md")
    ]
    listed = " ".join(re.findall(r"```{toctree}(.*?)```", "".join(pages), re.S)).split()

    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}

    assert pages <= set(listed)


def script(name):
    """Return a script of the folder docs as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_words_that_people_type_lead_to_the_section_that_they_want():
    index = script("make_index")
    places = {entry.word.lower(): f"{entry.page}#{entry.section}" for entry in index.entries()}

    found = {query: index.find(places, query) for query in index.QUERIES}

    assert len(found) >= 25
    wanted = {
        query: place if "#" in place else f"{place}#" for query, place in index.QUERIES.items()
    }
    assert found == wanted


def test_each_word_of_other_engines_gets_an_entry_at_its_section():
    index = script("make_index")
    found = index.entries()

    assert len(found) > 80
    assert len({entry.word for entry in found}) == len(found)
    for page in {entry.page for entry in found}:
        text = index.add_entries(page, (ROOT / "docs" / f"{page}.md").read_text("utf-8"))
        words = re.findall(r"^#+ .+\n\n(?:```{index} ! single: .*\n```\n+)+", text, re.M)
        assert sum(part.count("single: ") for part in words) == len(
            [entry for entry in found if entry.page == page]
        )


def test_words_of_the_glossary_are_used_in_the_modules_that_it_names():
    rows = re.findall(
        r"^\| (\*.*?) \|.*\| (`.*?) \|$", (ROOT / "ecs_collide" / "GLOSSARY.md").read_text(), re.M
    )
    assert len(rows) > 25
    for words, modules in rows:
        for module in re.findall(r"`(.*?)`", modules):
            source = (ROOT / "ecs_collide" / f"{module.replace('.', '/')}.py").read_text()
            used = [re.sub(r"^to ", "", word) for word in re.findall(r"\*(.*?)\*", words)]
            assert any(word in source for word in used), (words, module)


def test_every_rule_has_a_function_and_tests_that_are_there():
    rules = (ROOT / "ecs_collide" / "RULES.md").read_text("utf-8")
    rows = re.findall(r"^\| (.*?) \| (`.*?) \| (`.*?) \|$", rules, re.M)
    exactness = (ROOT / "docs" / "exactness.md").read_text("utf-8")
    stated = re.findall(r"^\*\*(.*?)\*\*", exactness.partition("## The rules")[2], re.M)

    assert {rule.removesuffix(".") for rule in stated} <= {rule for rule, _, _ in rows}
    for rule, functions, tests in rows:
        for path in re.findall(r"`(.*?)`", functions):
            module, _, function = path.rpartition(".")
            file = ROOT / "ecs_collide" / f"{module.replace('.', '/')}.py"
            if not file.exists():  # a rule with a module of its own
                file = ROOT / "ecs_collide" / f"{path.replace('.', '/')}.py"
                function = ""
            assert f"def {function}" in file.read_text("utf-8"), (rule, path)
        for test in re.findall(r"`(.*?)`", tests):
            assert (ROOT / "tests" / f"{test}.py").is_file(), (rule, test)


def test_reference_for_code_hosts_is_made_from_the_docstrings():
    for package in ("hypothesis", "pyglet"):  # of the extras that it describes
        pytest.importorskip(package)
    folder = ROOT / "docs" / "reference"

    pages = script("make_reference").make_pages()

    assert {page.name for page in folder.glob("*")} == set(pages)
    for name, text in pages.items():
        assert (folder / name).read_text("utf-8") == text, (
            f"docs/reference/{name} is out of date: python docs/make_reference.py"
        )


@pytest.mark.slow_in_python
def test_pictures_of_the_pages_are_what_the_library_answers():
    drawing = script("make_pictures")

    for name, draw in drawing.PICTURES.items():
        if name.startswith("recipe_") and not ecs_collide.COMPILED:
            continue  # each is a run of a recipe: the same bits, but slow
        assert (drawing.FOLDER / name).read_text("utf-8") == str(draw()), (
            f"{name} is out of date: python docs/make_pictures.py"
        )


def test_recordings_are_on_pages_and_small_and_fit_the_player_that_they_share():
    from ecs_collide.recording.page import FORMAT

    folder = ROOT / "docs" / "recordings"
    pages = "".join(page.read_text("utf-8") for page in PAGES)
    shown = set(re.findall(r'"_static/(\w+\.html)"', pages))
    shown |= {  # below its picture, on the site
        f"recipe_{name}.html"
        for name in script("make_pictures").RECORDED_RECIPES
        if f"](pictures/recipe_{name}.svg)" in pages
    }

    assert shown == {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        text = path.read_text("utf-8")
        assert len(text) < 250_000, path.name
        assert '<script src="page.js"></script>' in text, path.name
        assert recorded(text)["format"] == FORMAT, (
            f"{path.name} is out of date: python docs/make_pictures.py recordings"
        )
    assert '"../ecs_collide/recording/page.js"' in (ROOT / "docs" / "conf.py").read_text("utf-8")


def recorded(text: str) -> dict:
    """Return what a page of a recording holds."""
    packed = base64.b64decode(re.search(r'id="recording">([^<]*)<', text)[1])
    return json.loads(gzip.decompress(packed))


def test_recording_of_a_recipe_is_what_its_program_does(volume):
    from ecs_collide.recording.page import page_data

    drawing = script("make_pictures")
    for name in drawing.RECORDED_RECIPES[: volume(1, 9)]:
        text = (drawing.RECORDINGS / f"recipe_{name}.html").read_text("utf-8")

        now = json.loads(json.dumps(page_data(drawing.record_recipe(name))))

        assert now == recorded(text), (
            f"{name} is out of date: python docs/make_pictures.py recordings"
        )


def test_every_recipe_has_a_picture_of_its_run():
    recipes = importlib.import_module("docs.draw_recipes")

    assert set(recipes.RECIPES) == set(recipes.programs())


def test_names_in_pictures_of_recipes_are_all_there_and_lie_on_no_line_and_no_other_name():
    recipes = importlib.import_module("docs.draw_recipes")
    for name, recipe in recipes.RECIPES.items():
        text = (ROOT / "docs" / "pictures" / f"recipe_{name}.svg").read_text("utf-8")
        lines = [
            tuple(map(float, found))
            for found in re.findall(r'<line x1="(.+?)" y1="(.+?)" x2="(.+?)" y2="(.+?)"', text)
        ]
        found = re.findall(r'<text x="(.+?)" y="(.+?)".+?>(.+?)</text>', text)
        words = {
            (float(x) - 3.6 * len(name), float(y) - 9, float(x) + 3.6 * len(name), float(y) + 2)
            for x, y, name in found
        }

        wanted = [*recipe.titles, *(named for _, named in (*recipe.called, *recipe.marks) if named)]
        assert {named for _, _, named in found} >= set(wanted), name
        assert len(words) == len(found), name
        for left, top, right, bottom in words:
            box = (left, top, right, bottom)
            assert 0 < left < right < recipes.WIDE, (name, box)
            for line in lines:
                assert not recipes.crosses(box, line[:2], line[2:]), (name, box, line)
            for other in words - {box}:
                assert not (
                    left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
                ), (name, box)


def test_no_animation_is_larger_than_a_megabyte_and_a_half():
    for animation in (ROOT / "docs" / "pictures").glob("*.gif"):
        assert animation.stat().st_size < 1_500_000, animation.name


def test_readers_who_ask_for_less_motion_see_a_still_of_each_animation():
    css = (ROOT / "docs" / "site.css").read_text("utf-8")
    rule = css.partition("prefers-reduced-motion: reduce")[2]
    for animation in (ROOT / "docs" / "pictures").glob("*.gif"):
        if animation.name == "published.gif":  # the site has its parts instead
            continue
        still = re.search(rf'"{animation.name}"\] .*"(?:\.\./_images/)?(\w+\.png)', rule)
        assert still, animation.name
        if (ROOT / "docs" / "stills" / still[1]).exists():
            continue
        shown = f"](pictures/{still[1]})"  # on a page, so that it is among the site's images
        assert shown in (ROOT / "docs" / "demos.md").read_text("utf-8")


def test_every_demo_has_a_small_picture_and_stands_on_the_page_of_demos():
    from demos.app.catalogue import names

    page = (ROOT / "docs" / "demos.md").read_text("utf-8")
    for demo in names():
        picture = ROOT / "docs" / "pictures" / f"demo_{demo}.png"
        assert 1_000 < picture.stat().st_size < 60_000, picture.name
        assert f"](pictures/{picture.name}) `{demo}`: " in page, demo


def test_file_for_programs_is_short_and_has_all_components_and_recipes():
    full = script("make_llms").make_full()

    assert len(full.split()) < 21_200
    names = {each.kind.__name__ for each in TABLE} & {*ecs_collide.__all__}
    assert all(f"`{name}(" in full for name in names)
    for page in (ROOT / "docs").glob("cookbook_*.md"):
        assert set(programs(page.name)) <= set(re.findall(r"```python\n(.*?)```", full, re.S))
    assert "](" not in re.sub(r"\]\(https://|```.*?```", "", full, flags=re.S)
    assert "its own response: The same throw against a wall" in full  # a picture's words
    assert not re.search(r":\n+[#A-Z]", re.sub(r"```.*?```", "`", full, flags=re.S))


def test_list_for_programs_says_what_each_page_is_about():
    listed = script("make_llms").make_list(["tutorial", "queries"])

    assert "(queries.html): Between steps you can ask a space where its bodies are\n" in listed


def test_the_parts_of_the_readme_that_the_index_includes_are_there():
    index, readme = ((ROOT / name).read_text("utf-8") for name in ("docs/index.md", "README.md"))
    marks = re.findall(r':(?:start-after|end-before): "(.*)"', index)

    assert marks
    assert [mark for mark in marks if mark not in readme] == []
