"""A recording as a page: its numbers in Node, and its pixels and words in Chromium."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.debug import COLOURS
from ecs_collide.recording import page
from ecs_collide.recording.player import Player
from ecs_collide.recording.recording import Recording
from ecs_collide.recording.replay import main

SCRIPT = Path(page.__file__).with_name("page.js")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--virtual-time-budget=3000",
]  # fmt: skip


class Crate: ...


@pytest.fixture
def recording(world: str) -> Recording:
    """Let a box fall beside a sensor, and another bounce; it is deleted before step 21.

    The last body is a ramp at some distance.
    """
    esper.create_entity(ec.Position(0, -1), ec.Extents(20, 1))
    esper.create_entity(
        ec.Position(0, 1), ec.Extents(0.5, 0.5), ec.Velocity(1, 0), ec.Slide(), Crate()
    )
    ball = esper.create_entity(
        ec.Position(-4, 0.7), ec.Extents(0.5, 0.5), ec.Velocity(5, 2), ec.Deflect()
    )
    esper.create_entity(ec.Position(-1.5, 2.2), ec.Extents(0.5, 0.2), ec.Sensor())
    esper.create_entity(ec.Position(3, 0.5), ec.Extents(1, 0.5), ec.Slope("right", 0.5))
    space = ec.install(gravity=(0, -20))
    recorder = ec.record(space, {"jump": True}, trees=True)
    for step in range(24):
        if step == 20:
            esper.delete_entity(ball)
        esper.process(1 / 64)
    return recorder.recording


def in_node(program: str, text: str = "") -> Any:
    """Return what a program in JavaScript prints as JSON; it can read `input`."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    head = f"const player = require({json.dumps(str(SCRIPT))});"
    head += 'const input = require("fs").readFileSync(0, "utf-8");'
    done = subprocess.run(
        [node, "-e", f"{head}\n{program}"],
        input=text, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def embedded(path: Path) -> str:
    """Return the base64 of a page."""
    found = re.search(r'id="recording">([^<]*)<', path.read_text("utf-8"))
    assert found is not None
    return found[1]


def test_every_number_of_every_frame_is_the_same_in_javascript(
    recording: Recording, tmp_path: Path
) -> None:
    path = page.write_page(recording, tmp_path / "run.html")

    frames = in_node(
        """player.unpackRecording(input).then((found) => console.log(JSON.stringify(
            found.frames.map((frame) => ({ ...frame, bodies: [...frame.bodies] })))));""",
        embedded(path),
    )

    assert [frame["step"] for frame in frames] == list(range(1, 25))
    player = Player(recording)
    try:
        for frame in frames:
            player.seek(frame["step"])
            space = player.space
            bodies = dict(frame["bodies"])
            assert frame["time"] == space.time
            assert frame["trees"] == recording.frame(frame["step"]).trees
            assert frame["inputs"] == "jump"
            assert sorted(bodies) == sorted(space.entities)
            for entity, (name, kind, *numbers) in bodies.items():
                low, high = space.bounds(entity)
                assert name == player.frame.label(entity)
                assert kind == space.body_kinds([entity])[0]
                assert numbers[:6] == [*low, *high, *space.velocities([entity])[0]]
                corners = [2, 0, 4, 0, 4, 1, 2, 0.5] if entity == 5 else []
                assert numbers[6:] == corners
            points = space.contact_points()
            assert [row[0] for row in frame["contacts"]] == points.kinds.tolist()
            assert [row[1:3] for row in frame["contacts"]] == points.points.tolist()
            assert len(frame["events"]) == len(player.frame.events)
    finally:
        player.close()
    assert [len(frame["bodies"]) for frame in frames[19:21]] == [5, 4]
    assert dict(frames[0]["bodies"])[2][0] == "2 (Crate)"
    collisions = [event for frame in frames for event in frame["events"] if len(event) > 1]
    assert collisions[0][2:] == [0.0, 0.0, -1.0]  # at the top of the floor


def test_page_finds_the_frame_at_a_time_and_fits_the_world_into_the_canvas() -> None:
    found = in_node(
        """const frames = [0, 0.5, 1].map((time) => ({ time }));
        const view = player.fitView([-10, -5, 10, 5], true, 200, 200);
        const down = player.fitView([0, 0, 10, 10], false, 100, 100);
        console.log(JSON.stringify([
            [-1, 0, 0.4, 0.5, 9].map((time) => player.frameAt(frames, time)),
            [view.x(-10), view.y(-5), view.x(10), view.y(5)],
            [down.y(0), down.y(10)],
            ["dark", "light"].map((mode) => player.chooseLook(
                { colours: ["#ff8000"], contactColours: [], treeColours: [] },
                mode === "dark").bodies[0]),
        ]));"""
    )

    assert found[0] == [0, 0, 0, 1, 2]
    assert np.allclose(found[1], [8, 146, 192, 54])
    assert np.allclose(found[2], [4, 96])
    assert found[3] == ["#ff8000", "rgb(153,77,0)"]


def test_view_is_where_bodies_move_and_a_quarter_more_within_the_world(
    recording: Recording,
) -> None:
    left, low, right, high = page.page_data(recording)["view"]

    boxes = [frame.entities[3]["Position"]["x"] for frame in recording.frames[1:21]]
    width = recording.frames[-1].entities[2]["Position"]["x"] + 0.5 - (min(boxes) - 0.5)
    assert left == min(boxes) - 0.5 - width / 4
    assert low == 0.0 - width / 4
    assert (right, high) == (0.875 + width / 4, 2.2 + 0.2)  # the top of the sensor


def test_page_follows_a_body_as_long_as_it_is_there(recording: Recording) -> None:
    data = page.page_data(recording, 3)  # it is deleted before step 21
    shown = in_node(
        """const recording = player.readRecording(JSON.parse(input));
        console.log(JSON.stringify(
            recording.frames.map((frame) => player.viewOf(recording, frame))));""",
        json.dumps(data),
    )

    x, y = (recording.frame(20).entities[3]["Position"][axis] for axis in "xy")
    assert shown[19] == pytest.approx([x - 12, y - 6, x + 12, y + 6])  # its sides are 1
    assert shown[20] == data["view"] == page.page_data(recording)["view"]
    assert page.page_data(recording)["follow"] is None


def test_each_layer_draws_its_numbers_in_pixels() -> None:
    drawn = in_node(
        """const calls = {};
        const brush = new Proxy({}, { set: () => true, get: (_, name) => (...values) => {
            if (name !== "stroke" && name !== "beginPath") calls[layer].push([name, ...values]);
        } });
        let layer;
        const view = player.fitView([0, 0, 100, 100], true, 200, 200);
        Object.assign(view, { scale: 2, x: (x) => 2 * x, y: (y) => 200 - 2 * y });
        const frame = {
            bodies: new Map([
                [7, ["7 (Crate)", 3, 10, 20, 30, 50, 100, -40]],
                [8, ["8", 0, 60, 10, 80, 20, 0, 0, 60, 10, 80, 10, 80, 20, 60, 10]],
            ]),
            contacts: [[0, 20, 20, 0, 1], [1, 50, 60, 1, 0]],
            events: [["begun"], ["hit", 30, 40, -1, 0]],
            trees: {
                fat: [[5, 15, 35, 55]],
                branches: [[0, 0, 50, 60, 2, 1], [0, 0, 90, 80, 0, 0]],
            },
        };
        const look = { bodies: [], contacts: [], branches: [], ink: "" };
        for (layer of Object.keys(player.LAYERS)) {
            calls[layer] = [];
            player.LAYERS[layer].draw(brush, view, frame, look);
        }
        console.log(JSON.stringify(calls));"""
    )

    assert drawn["boxes"] == [
        ["rect", 20.5, 100.5, 40, 60],
        ["fill"],
        *(["lineTo", *corner] for corner in [(120.5, 180.5), (160.5, 180.5)]),
        *(["lineTo", *corner] for corner in [(160.5, 160.5), (120.5, 180.5)]),
        ["closePath"],
        ["fill"],
    ]
    assert drawn["velocities"][:2] == [["moveTo", 40, 130], ["lineTo", 60, 138]]  # in 0.1 s
    ends = [tuple(values) for _, *values in drawn["contacts"]]
    assert ends[:6] == [(37, 157), (43, 163), (37, 163), (43, 157), (40, 160), (40, 148)]
    assert ends[6:] == [(97, 77), (103, 83), (97, 83), (103, 77)]  # crossing: no normal
    ring, *line = drawn["collisions"]
    assert ring[:4] == ["arc", 60, 120, 6]
    assert line == [["moveTo", 72, 120], ["lineTo", 48, 120]]
    assert drawn["fat bounds"] == [["strokeRect", 10.5, 90.5, 60, 80]]
    assert drawn["branches"] == [
        ["strokeRect", 0.5, 80.5, 100, 120],
        ["strokeRect", 0.5, 40.5, 180, 160],
    ]
    assert drawn["names"][0] == ["fillText", "7 (Crate)", 40, 130]


def test_layers_of_the_trees_are_offered_where_the_recording_has_trees() -> None:
    offered = in_node(
        """const of = (...lines) => player.layersOf(player.readRecording({
            format: "ecs_collide page 1",
            frames: lines.map((line) => ({ gone: [], changed: {}, ...line })),
        }));
        const trees = { fat: [[0, 0, 1, 1]], branches: [] };
        console.log(JSON.stringify([of({}, { trees }, {}), of({}, {})]));"""
    )

    others = ["boxes", "velocities", "contacts", "collisions", "names"]
    assert offered == [["branches", "fat bounds", *others], others]


def test_javascript_refuses_data_of_another_format() -> None:
    text = base64.b64encode(gzip.compress(b'{"format": "other"}')).decode()

    error = in_node(
        """player.unpackRecording(input)
            .catch((error) => console.log(JSON.stringify(error.message)))""",
        text,
    )

    assert error == "the recording has format other and must have ecs_collide page 1"


def test_command_writes_a_page_beside_the_recording_that_needs_no_network(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recording.save(tmp_path / "<b>.rec")

    assert main([str(file), "--html"]) == 0
    written = tmp_path / "<b>.html"
    assert capsys.readouterr().out.strip() == str(written)
    assert main([str(file), "--html", str(tmp_path / "new" / "page.html")]) == 0
    assert embedded(tmp_path / "new" / "page.html") == embedded(written)

    assert main([str(file), "--html", "--follow", "2"]) == 0
    assert embedded(tmp_path / "new" / "page.html") != embedded(written)
    capsys.readouterr()
    assert main([str(file), "--html", "--follow", "9"]) == 2
    said = "--follow 9: no step of the recording has such an entity\n"
    assert capsys.readouterr().err == said

    text = written.read_text("utf-8")
    assert "<title>&lt;b&gt;</title>" in text
    assert "://" not in text
    assert "src=" not in text
    assert SCRIPT.read_text("utf-8") in text
    assert len(SCRIPT.read_text("utf-8").splitlines()) <= 500


def test_command_refuses_a_recording_without_snapshots(
    recording: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recording.without_snapshots().save(tmp_path / "run.rec")

    assert main([str(file), "--html"]) == 2
    assert "has no snapshots" in capsys.readouterr().err
    assert not (tmp_path / "run.html").exists()


def in_chromium(path: Path, step: str, *options: str) -> str:
    """Return what Chromium prints for a page."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    profile = f"--user-data-dir={path.with_name('profile')}"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, profile, *options, path.as_uri() + step],
        capture_output=True, text=True, timeout=120, check=False, cwd=path.parent,
    )  # fmt: skip
    return done.stdout


@pytest.mark.long
def test_chromium_shows_the_boxes_and_the_words_of_a_step(
    recording: Recording, tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image")
    path = page.write_page(recording, tmp_path / "run.html")
    keys = "for (const key of '67') dispatchEvent(new KeyboardEvent('keydown', { key }));"

    words = in_chromium(path, "#step=12", "--dump-dom")
    text = path.read_text("utf-8").replace("startPage();", f"startPage().then(() => {{{keys}}});")
    path.write_text(text, "utf-8")
    in_chromium(path, "#step=12", f"--screenshot={tmp_path / 'shot.png'}")

    assert "step 12 of 24   0.188 s   5 bodies   inputs jump<" in words
    assert ">play</button>" in words  # a step that is asked for is paused
    with image.open(tmp_path / "shot.png") as picture:
        seen = np.array(picture.convert("RGB")).astype(int)
    for name in ("static", "moving", "sensor", "fat", "branch of moving"):
        colours = [[round(0.6 * part) for part in COLOURS[name]], COLOURS[name]]  # light, dark
        n = max((abs(seen - colour) <= 1).all(axis=2).sum() for colour in colours)
        assert n > 20, name


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [[], ["--force-prefers-reduced-motion"]], ids=["motion", "reduced motion"]
)
def test_page_plays_by_itself_unless_less_motion_is_asked_for(
    recording: Recording, tmp_path: Path, options: list[str]
) -> None:
    path = page.write_page(recording, tmp_path / "run.html")

    # A busy machine may draw no frame for seconds, and the canvas is in sight only if one is drawn.
    words = in_chromium(path, "", "--dump-dom", "--virtual-time-budget=60000", *options)

    if options:
        assert "step 1 of 24" in words
        assert ">play</button>" in words
    else:
        assert ">pause</button>" in words or "step 24 of 24" in words


@pytest.mark.long
def test_keys_buttons_and_fingers_move_through_the_steps(
    recording: Recording, tmp_path: Path
) -> None:
    path = page.write_page(recording, tmp_path / "run.html")
    script = """
        const said = [];
        const say = () => said.push(document.getElementById("status").textContent.split(" ")[1]);
        const canvas = document.querySelector("canvas");
        const press = (key, shiftKey) => {
            canvas.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
            say();
        };
        for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "Home"]) press(key);
        press("ArrowRight", true);
        document.querySelectorAll("button")[1].click();
        say();
        const slider = document.querySelector("input[type=range]");
        slider.value = 4;
        slider.oninput();
        say();
        canvas.setPointerCapture = () => {};
        for (const [kind, x] of [["down", 0], ["move", canvas.clientWidth / 2 - 1], ["up", 0]]) {
            canvas.dispatchEvent(new PointerEvent("pointer" + kind, { clientX: x }));
        }
        say();
        const names = document.querySelectorAll("input[type=checkbox]")[4];
        press("5");
        said.push(names.checked);
        names.click();
        said.push(names.checked);
        const [fat, branches] = [...document.querySelectorAll("input[type=checkbox]")].slice(5);
        press("6");
        said.push(fat.checked, branches.checked);
        for (const kind of ["down", "up"]) canvas.dispatchEvent(new PointerEvent("pointer" + kind));
        said.push(document.querySelector("button").textContent);
        document.body.dataset.said = said.join(" ");
    """
    text = path.read_text("utf-8").replace("startPage();", f"startPage().then(() => {{{script}}});")
    path.write_text(text, "utf-8")

    words = in_chromium(path, "#step=10", "--dump-dom")

    assert 'data-said="11 12 11 24 1 24 23 5 16 16 true false 16 true false pause"' in words


def test_pages_of_a_site_can_share_the_player(recording: Recording, tmp_path: Path) -> None:
    alone = page.write_page(recording, tmp_path / "alone.html")
    shared = page.write_page(recording, tmp_path / "shared.html", script="player/page.js")

    code = SCRIPT.read_text("utf-8")
    assert alone.read_text("utf-8").count(code) == 1
    assert '<script src="player/page.js"></script>' in shared.read_text("utf-8")
    assert code not in shared.read_text("utf-8")
    assert embedded(shared) == embedded(alone)
