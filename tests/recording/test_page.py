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
    """Let a box fall beside a sensor, and another bounce and be deleted."""
    esper.create_entity(ec.Position(0, -1), ec.Extents(20, 1))
    esper.create_entity(
        ec.Position(0, 1), ec.Extents(0.5, 0.5), ec.Velocity(1, 0), ec.Slide(), Crate()
    )
    ball = esper.create_entity(
        ec.Position(-4, 0.7), ec.Extents(0.5, 0.5), ec.Velocity(5, 2), ec.Deflect()
    )
    esper.create_entity(ec.Position(5, 1), ec.Extents(0.5, 2), ec.Sensor())
    space = ec.install(gravity=(0, -20))
    recorder = ec.record(space, {"jump": True})
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
            assert frame["inputs"] == "jump"
            assert sorted(bodies) == sorted(space.entities)
            for entity, (name, kind, *numbers) in bodies.items():
                low, high = space.bounds(entity)
                assert name == player.frame.label(entity)
                assert kind == space.body_kinds([entity])[0]
                assert numbers == [*low, *high, *space.velocities([entity])[0]]
            points = space.contact_points()
            assert [row[0] for row in frame["contacts"]] == points.kinds.tolist()
            assert [row[1:3] for row in frame["contacts"]] == points.points.tolist()
            assert len(frame["events"]) == len(player.frame.events)
    finally:
        player.close()
    assert [len(frame["bodies"]) for frame in frames[19:21]] == [4, 3]
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
                { colours: ["#ff8000"], contactColours: [] }, mode === "dark").bodies[0]),
        ]));"""
    )

    assert found[0] == [0, 0, 0, 1, 2]
    assert np.allclose(found[1], [8, 146, 192, 54])
    assert np.allclose(found[2], [4, 96])
    assert found[3] == ["#ff8000", "rgb(153,77,0)"]


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


@pytest.mark.long
def test_chromium_shows_the_boxes_and_the_words_of_a_step(
    recording: Recording, tmp_path: Path
) -> None:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    image = pytest.importorskip("PIL.Image")
    path = page.write_page(recording, tmp_path / "run.html")

    def run(*options: str) -> str:
        done = subprocess.run(
            [
                CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}",
                *options, f"{path.as_uri()}#step=12",
            ],
            capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
        )  # fmt: skip
        return done.stdout

    words = run("--dump-dom")
    run(f"--screenshot={tmp_path / 'shot.png'}")

    assert "step 12 of 24   0.188 s   4 bodies   inputs jump<" in words
    assert ">play</button>" in words  # a step that is asked for is paused
    with image.open(tmp_path / "shot.png") as picture:
        seen = np.array(picture.convert("RGB")).astype(int)
    for name in ("static", "moving", "sensor"):
        colours = [[round(0.6 * part) for part in COLOURS[name]], COLOURS[name]]  # light, dark
        n = max((abs(seen - colour) <= 24).all(axis=2).sum() for colour in colours)
        assert n > 20, name
