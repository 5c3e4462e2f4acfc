"""All text of all demos can be read: in pictures, in recordings and in windows."""

from __future__ import annotations

import pytest

from demos.app.scene import Label, Scene
from demos.tests.conftest import few
from demos.tests.labels import faults, too_small
from demos.tests.test_gallery import DEAR, GALLERY, build
from tests.screens import need
from tests.volume import Volume

LOOKS = 6  # at each demo


@pytest.fixture
def every(name: str, volume: Volume) -> int:
    """Return the number of steps between two looks at a demo."""
    return volume(80, 240, least=4 if name in DEAR else 40)


def painter_faults(scene: Scene, scale: float) -> list[str]:
    from demos.app.painter import Painter

    width, height = (round(side * scene.zoom * scale) for side in scene.view)
    return faults(Painter(scene, scale).text_boxes(), width, height)


@pytest.mark.parametrize("name", GALLERY)
def test_text_of_pictures_and_recordings_is_whole_and_large(
    name: str, world: str, every: int
) -> None:
    need("PIL")
    from demos.app.painter import FRAME_SCALE

    scene = build(name, **few(name))

    for step in range(LOOKS * every):
        scene.step()
        if step % every == 0:
            assert painter_faults(scene, 1.0) == [], step
            assert painter_faults(scene, FRAME_SCALE) == [], step
            assert too_small(scene) == [], step


def test_overlap_and_a_label_outside_are_found(world: str) -> None:
    need("PIL")
    scene = build("tunnelling")
    width, height = scene.view
    scene.status = lambda: ""  # type: ignore[method-assign]

    def shown(*labels: Label) -> list[str]:
        scene.labels = lambda: list(labels)  # type: ignore[method-assign]
        return painter_faults(scene, 1.0)

    low, right = Label("low", 40.0, 40.0, 24.0), Label("wide", width - 30, 90.0, 24.0)
    assert shown(low, Label("high", 40.0, 80.0, 24.0)) == []
    assert shown(low, Label("over", 60.0, 50.0, 24.0)) == ["'low' overlaps 'over'"]
    assert shown(right)[0].startswith("'wide' leaves the picture")
    assert shown(right._replace(anchor="right")) == []
    assert shown(Label("top", 40.0, height - 4, 24.0))[0].startswith("'top' leaves")
    assert too_small(scene) == []
    scene.labels = lambda: [Label("small", 9.0, 9.0, 12.0)]  # type: ignore[method-assign]
    assert too_small(scene)[0].startswith("'small' must be ")
