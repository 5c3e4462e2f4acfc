"""The effects: they come, they go, they change no step of the game, and they can be heard."""

from __future__ import annotations

import io
import wave

import numpy as np
import pytest

from demos.app import sounds
from demos.app.boxes import RED
from demos.app.effects import Effects
from demos.tests.conftest import few
from demos.tests.test_gallery import GALLERY, build, track


def test_particles_fly_away_from_their_point_and_vanish() -> None:
    effects = Effects()
    effects.burst((10.0, 20.0), RED, n=8, speed=100.0, life=0.5)

    spread = []
    while len(effects.boxes().rects):
        rects = effects.boxes().rects
        spread.append(np.abs((rects[:, :2] + rects[:, 2:]) / 2 - (10.0, 20.0)).max())
        effects.step(0.1)

    assert spread[0] == 0.0
    assert spread[1] > 5.0
    assert len(spread) == 5  # half a second


def test_burst_goes_where_it_is_told() -> None:
    effects = Effects()
    effects.burst((0.0, 0.0), RED, n=30, towards=(3.0, 0.0))

    effects.step(0.05)

    assert (effects.boxes().rects[:, 2] > 0).all()


def test_flash_keeps_its_size_and_a_trail_shrinks() -> None:
    effects = Effects()
    effects.flash((0.0, 0.0, 8.0, 4.0), RED, 1.0)
    effects.flash((0.0, 0.0, 8.0, 4.0), RED, 1.0, shrinks=True)

    effects.step(0.5)

    assert effects.boxes().rects.tolist() == [[0.0, 0.0, 8.0, 4.0], [2.0, 1.0, 6.0, 3.0]]
    assert (effects.boxes().colours == RED).all()


def test_ring_grows() -> None:
    effects = Effects()
    effects.ring((0.0, 0.0), RED, 40.0, life=1.0)

    widths = []
    for _ in range(3):
        effects.step(0.25)
        widths.append(effects.boxes().rects[:, 2].max())

    assert widths[0] == pytest.approx(20.0 + 40.0 * 0.06 * 0.75)  # and half the line
    assert widths == sorted(widths)


def test_slow_motion_and_shake_end_by_themselves() -> None:
    effects = Effects()
    effects.slow(0.25, 0.5)
    effects.shake(10.0)
    seen = []
    for _ in range(60):
        seen.append((effects.rate, np.hypot(*effects.offset())))
        effects.step(1 / 60)

    assert [rate for rate, _ in seen[:30]] == [0.25] * 30
    assert effects.rate == 1.0
    assert seen[0][1] == pytest.approx(10.0)
    assert np.hypot(*effects.offset()) < 0.1


@pytest.mark.parametrize("name", GALLERY)
def test_effects_change_no_step_of_a_demo(name: str, world: str) -> None:
    import esper

    runs = []
    for is_drawn in (True, False):
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        scene = build(name, **few(name))
        if not is_drawn:
            scene.effects.boxes = lambda: pytest.fail("drawn")  # type: ignore[method-assign]
        runs.append([])
        for _ in range(30):
            runs[-1] += track(scene, 1)
            if is_drawn:
                scene.drawn()

    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", GALLERY)
def test_demo_plays_sounds_that_exist(name: str, world: str) -> None:
    scene = build(name, **few(name))
    for _ in range(90):
        scene.step()

    assert scene.effects.take_sounds() <= set(sounds.SOUNDS)
    assert scene.effects.take_sounds() == set()


def test_sound_that_begins_between_two_steps_is_kept_until_it_is_taken() -> None:
    effects = Effects()
    effects.play("coin")
    effects.step(1 / 60)

    assert effects.take_sounds() == {"coin"}


@pytest.mark.parametrize("name", sounds.SOUNDS)
def test_sound_is_short_fades_out_and_is_never_too_loud(name: str) -> None:
    made = sounds.samples(sounds.SOUNDS[name]).astype(int)

    with wave.open(io.BytesIO(sounds.wav(name))) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        assert (
            file.getnframes()
            == len(made)
            == round(sounds.SOUNDS[name].seconds * file.getframerate())
        )
    loudest = np.abs(made).max()
    assert 1_000 < loudest <= 32_767 * sounds.LOUDEST
    assert made[0] == 0
    assert np.abs(made[-20:]).max() < loudest / 20


def test_speaker_that_is_off_makes_no_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Source:
        def __init__(self, name: str) -> None:
            self.name = name

        def play(self) -> None:
            asked.append(self.name)

    monkeypatch.setattr(sounds.Speaker, "_source", lambda self, name: Source(name))
    speaker = sounds.Speaker()

    speaker.play({"hit", "coin"})
    speaker.is_on = False
    speaker.play({"boom"})

    assert asked == ["coin", "hit"]


def test_speaker_without_a_device_switches_itself_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: sounds.Speaker, name: str) -> None:
        raise OSError("no device")

    monkeypatch.setattr(sounds.Speaker, "_source", fail)
    speaker = sounds.Speaker()

    speaker.play({"hit"})

    assert not speaker.is_on
