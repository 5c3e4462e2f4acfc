"""The game of the front page and the recipes on theirs, without Pyodide: see `docs/play`."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from docs import draw_recipes, recipe
from docs.drawing import DARK

PLAY = Path(__file__).parents[1] / "play"
EXAMPLES = PLAY.parents[1] / "demos" / "examples"

STUBS = """
const said = [], files = {}, canvas = {getContext: () => "context", focus() {}};
const section = {querySelector: () => ({textContent: "the program"})};
const place = (dataset) => {
    const button = {};
    const replaceChildren = (shown) => said.push(shown === canvas);
    return {dataset, button, querySelector: () => button, closest: () => section, replaceChildren};
};
const places = [place({}), place({view: "0 0 4 3"})];
const head = {append(script) { said.push(script.src); script.onload(); }};
globalThis.document = {
    currentScript: {src: "https://site/_static/play.js?v=1", dataset: {wheel: "lib.whl"}}, head,
    querySelectorAll: () => places,
    createElement: (kind) => kind === "canvas" ? canvas : {},
};
globalThis.fetch = async (url) => ({text: async () => `text of ${url}`});
globalThis.requestAnimationFrame = (next) => { if (said.at(-1) !== 40) next(40); };
const modules = {
    browser: {begin: (context, held) => (now) => { said.push([...held], context, now); }},
    "docs.recipe": {begin: (...given) => (now) => { said.push(given, now); }},
};
const loaded = async (names) => said.push(...names);
globalThis.loadPyodide = async ({indexURL}) => ({
    loadPackage: async (names) => said.push(indexURL, ...names),
    pyimport: (name) => modules[name] ?? {install: loaded},
    FS: {mkdirTree() {}, writeFile: (name, text) => { files[name] = text; }},
});
"""


class Context:
    """A canvas that keeps the boxes of the last frame, by colour."""

    def __init__(self) -> None:
        self.canvas = SimpleNamespace(width=640, height=320)
        self.fillStyle = ""
        self.boxes: dict[str, list[tuple[float, ...]]] = {}

    def setTransform(self, *numbers: float) -> None:
        self.transform = numbers

    def clearRect(self, *_: float) -> None:
        self.boxes = {}

    def fillRect(self, *box: float) -> None:
        self.boxes.setdefault(self.fillStyle, []).append(box)


class Held(set[str]):
    """A set of JavaScript."""

    def has(self, key: str) -> bool:
        return key in self


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Any:
    for folder in (PLAY, EXAMPLES):
        monkeypatch.syspath_prepend(str(folder))
    for name in ("browser", "platformer_pyglet"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("browser")


@pytest.mark.usefixtures("world")
def test_game_of_the_page_is_drawn_and_follows_the_keys(browser: Any) -> None:
    context, held = Context(), Held()
    blue = f"rgb{browser.COLOURS[browser.Platformer.__init__.__globals__['Hero']]}"
    frame = browser.begin(context, held)
    places = []
    for n in range(1, 130):
        if n == 60:
            held.update(("ArrowRight", "ArrowUp"))
        frame(n * 1000 / 60)
        places.append(context.boxes[blue][0])

    (x, y, *size) = places[58]
    assert size == [20, 28]
    assert y == pytest.approx(32)  # on the floor of tiles, with y up
    assert context.transform == (1, 0, 0, -1, 0, 320)
    assert max(place[1] for place in places) > y + 100
    assert places[-1][0] > x + 100
    assert len(context.boxes) == 7  # each kind in its colour


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", ["bullets", "stomp", "ladder", "save_game"])
def test_recipe_is_run_and_shown_in_a_loop(name: str) -> None:
    context = Context()
    frame = recipe.begin(context, draw_recipes.programs()[name], "-20 -30 620 130")
    shown = []
    for seconds in (0.0, 0.99 * recipe.LEAST, 60.0):
        frame(1000 * seconds)
        shown.append(context.boxes)

    assert all(shown)
    assert shown[0] != shown[1]
    assert {colour for boxes in shown for colour in boxes} <= {*DARK.values()}
    assert context.transform == (1.0, 0, 0, -1.0, 20.0, 210.0)  # y is up, the view in the middle


def test_page_loads_python_the_library_and_the_program_when_it_is_clicked() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node")
    script = (PLAY / "play.js").read_text("utf-8")
    check = """
(async () => {
    const before = said.length;
    for (const {button} of places) {
        await button.onclick({target: button});
        await new Promise((done) => setTimeout(done, 20));
    }
    let stopped = 0;
    canvas.onkeydown({key: "ArrowUp", preventDefault() { stopped += 1; }});
    canvas.onkeydown({key: "Tab", preventDefault() { stopped += 1; }});
    const told = places.map(({button}) => button.textContent);
    console.log(JSON.stringify({before, said, files, stopped, told}));
})();
"""
    done = subprocess.run(
        [node, "-e", f"{STUBS}\n{script}\n{check}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)

    address = re.search(r'PYODIDE = "(.*)"', script)[1]
    assert found["before"] == 0
    assert found["said"][:4] == [f"{address}pyodide.js", address, "numpy", "micropip"]
    assert found["said"][4:6] == ["esper", "https://site/_static/lib.whl"]  # once for the page
    recipe = [["context", "the program", "0 0 4 3"], 40]
    assert found["said"][6:] == [True, [], "context", 40, True, *recipe]
    for name in ("platformer_pyglet.py", "browser.py", "docs/drawing.py", "docs/recipe.py"):
        assert found["files"][name] == f"text of https://site/_static/{Path(name).name}"
    assert found["stopped"] == 1
    assert not any("cannot" in told for told in found["told"])
