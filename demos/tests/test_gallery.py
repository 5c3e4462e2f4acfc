"""Every demo builds, runs, keeps its claims, repeats itself and can be seen."""

from __future__ import annotations

from pathlib import Path

import esper
import numpy as np
import pytest

from demos import __main__ as runner
from demos.app import catalogue, headless
from demos.app.scene import Scene
from demos.tests.conftest import SIZED
from tests.screens import need
from tests.volume import Volume

DEAR = (
    "ten_thousand",
    "boxes3d",
    "survivors",
    "platformer",
)  # where the kernels run as Python
GALLERY = runner.names()
LONGEST = 200  # lines of a demo that is one file


@pytest.fixture
def n_steps(name: str, volume: Volume) -> int:
    """Return how many steps of a demo are run."""
    return volume(120, 240, least=24 if name in DEAR else 120)


@pytest.fixture
def size(name: str, volume: Volume) -> dict[str, int]:
    """Return the option of a demo that sets how many boxes it has, where there is one."""
    return {"n": volume(1_000, 4_000, 10_000, least=200)} if name in SIZED else {}


def build(name: str, seed: int = 0, **options: int) -> Scene:
    """Make the world of a demo, with a bot at the keys."""
    scene: Scene = catalogue.load(name).build(seed=seed, **options)
    scene.keys.bot = True
    return scene


def track(scene: Scene, steps: int) -> list[bytes]:
    """Run steps; return the bits of all that moved."""
    bits = []
    for _ in range(steps):
        scene.step()
        bits.append(scene.space.positions().tobytes() + scene.space.velocities().tobytes())
    return bits


@pytest.mark.parametrize("name", GALLERY)
def test_claims_hold_and_all_is_well(
    name: str, world: str, n_steps: int, size: dict[str, int]
) -> None:
    scene = build(name, **size)

    track(scene, n_steps)

    assert [words for words, holds in scene.claims() if not holds] == []
    assert len(scene.claims()) >= 1
    assert scene.report()
    assert scene.n_collisions > 0
    scene.space.check()
    assert scene.space.reports == []


@pytest.mark.parametrize("name", GALLERY)
def test_same_seed_gives_the_same_run(
    name: str, world: str, n_steps: int, size: dict[str, int]
) -> None:
    runs = []
    for _ in range(2):
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        runs.append(track(build(name, seed=3, **size), n_steps // 3))

    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", GALLERY)
def test_picture_is_written_and_not_blank(
    name: str, world: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("PIL", "tqdm")
    from PIL import Image

    scene = build(name)

    written = headless.run(scene, name, 0.5, out=Path("out"))

    assert written == [Path("out") / f"{name}.png"]
    said, progress = capsys.readouterr()
    assert f"{name}: 30 steps of 1/60 s" in said
    assert "\n  true: " in said
    assert progress == "30 steps; a terminal shows a progress bar\n"
    with Image.open(written[0]) as picture:
        seen = np.asarray(picture.convert("RGB"))
    assert seen.shape[1] >= 800
    sky = np.linspace(*np.array(scene.palette[:2]), len(seen))[:, None]
    far = (np.abs(seen - sky) > 60).any(axis=2).mean()  # of another colour than the sky
    assert 0.005 < far < 0.9


@pytest.mark.parametrize("name", GALLERY)
def test_demo_is_one_short_file_or_a_folder(name: str) -> None:
    path = catalogue.source(name)
    source = path.read_text("utf-8")

    assert path.name == "game.py" or len(source.splitlines()) <= LONGEST
    assert "What to look at:" in source
    assert "ecs_collide._" not in source


def test_claim_that_is_broken_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from demos import tunnelling

    monkeypatch.setattr(tunnelling.Tunnelling, "swept", lambda self: tunnelling.HALF)

    code = runner.main(["tunnelling", "--headless", "--seconds", "1.2"])

    esper.switch_world("default")
    esper.delete_world("demo tunnelling")
    said = capsys.readouterr()
    assert code == 1
    assert "BROKEN:     no swept bullet" in said.out
    assert said.err.count("tunnelling: does not hold: no swept bullet") == 1


def test_outlines_lie_inside_of_their_boxes() -> None:
    from demos.app.boxes import RED, outlines

    drawn = outlines(np.array([(0.0, 0.0, 10.0, 6.0)]), RED, 2.0)

    assert sorted(map(tuple, drawn.rects.tolist())) == [
        (0.0, 0.0, 2.0, 6.0),
        (0.0, 0.0, 10.0, 2.0),
        (0.0, 4.0, 10.0, 6.0),
        (8.0, 0.0, 10.0, 6.0),
    ]


def test_recording_keeps_the_colours(world: str, folder: Path) -> None:
    need("PIL")
    from PIL import Image, ImageSequence

    from demos.app.painter import Recorder

    scene = build("tunnelling")
    recorder = Recorder(scene)
    for _ in range(60):
        scene.step()
        recorder.take()
    recorder.save(Path("tunnelling.gif"))

    with Image.open("tunnelling.gif") as animation:
        frames = [np.asarray(f.convert("RGB")) for f in ImageSequence.Iterator(animation)]
    assert len(frames) == 12
    seen = np.unique(frames[-1].reshape(-1, 3), axis=0).astype(int)
    for colour in (scene.palette.bad, scene.palette.ink, (52, 60, 92)):
        assert np.abs(seen - colour).max(axis=1).min() <= 4, colour
