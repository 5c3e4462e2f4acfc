"""The overlay without a screen: its clock, its keys, its lines, and what it says is missing."""

from __future__ import annotations

import sys
import types

import esper
import pytest

import ecs_collide as ec
from ecs_collide.debug import COLOURS, KEYS, DebugDraw, Show

F1 = 0xFFBE
DT = 1 / 60


@pytest.fixture
def overlay(world: str) -> DebugDraw:
    esper.create_entity(ec.Position(0, -1), ec.Extents(9, 1))
    esper.create_entity(ec.Position(0, 1), ec.Extents(1, 1), ec.Velocity(0, -1), ec.Slide())
    return DebugDraw(ec.install())


def test_running_overlay_steps_each_time(overlay: DebugDraw) -> None:
    assert [overlay.process(DT) for _ in range(3)] == [True] * 3
    assert overlay.space.stats.step == 3
    assert overlay.space.time == DT + DT + DT


def test_paused_overlay_does_single_steps_only(overlay: DebugDraw) -> None:
    overlay.process(DT)
    overlay.on_key_press(F1 + 9)
    assert [overlay.process(DT) for _ in range(3)] == [False] * 3

    overlay.on_key_press(F1 + 10)
    assert [overlay.process(DT) for _ in range(3)] == [True, False, False]
    assert overlay.space.stats.step == 2

    overlay.on_key_press(F1 + 9)
    assert [overlay.process(DT) for _ in range(2)] == [True, True]


def test_key_for_a_step_pauses_first(overlay: DebugDraw) -> None:
    overlay.on_key_press(F1 + 10)

    assert overlay.paused
    assert [overlay.process(DT) for _ in range(3)] == [True, False, False]


def test_a_step_asked_for_is_forgotten_when_the_pause_ends(overlay: DebugDraw) -> None:
    overlay.step_once()
    overlay.on_key_press(F1 + 9)
    overlay.on_key_press(F1 + 9)

    assert overlay.paused
    assert not overlay.process(DT)


def test_slow_motion_leaves_steps_out_and_does_the_others_as_ever(overlay: DebugDraw) -> None:
    overlay.on_key_press(F1 + 11)
    done = [overlay.process(DT) for _ in range(3 * overlay.slow)]
    assert done.count(True) == overlay.space.stats.step == 3
    assert overlay.space.time == DT + DT + DT
    assert overlay.slow > 1

    overlay.on_key_press(F1 + 11)
    assert all(overlay.process(DT) for _ in range(3))


def test_every_function_key_does_something_else(overlay: DebugDraw) -> None:
    assert sorted(KEYS)[:12] == [F1 + n for n in range(12)]
    assert len(set(KEYS.values())) == 12
    for symbol, action in KEYS.items():
        if isinstance(action, Show):
            before = overlay.show
            assert overlay.on_key_press(symbol)
            assert overlay.show == before ^ action
            overlay.on_key_press(symbol)
            assert overlay.show == before
    assert overlay.visible
    overlay.on_key_press(F1)
    assert not overlay.visible


def test_other_keys_are_left_to_the_game(overlay: DebugDraw) -> None:
    assert not overlay.on_key_press(ord("a"))


def test_keys_can_be_others(overlay: DebugDraw) -> None:
    overlay.keys = {ord("p"): "pause", ord("q"): "quit"}

    assert not overlay.on_key_press(F1 + 9)
    assert overlay.on_key_press(ord("p"))
    assert overlay.paused
    assert KEYS[F1 + 9] == "pause"
    with pytest.raises(ValueError, match=r"keys\[113\]='quit' must be a Show"):
        overlay.on_key_press(ord("q"))


def test_lines_say_what_the_step_did(overlay: DebugDraw) -> None:
    overlay.process(DT)

    found, times = overlay.lines()

    assert found.startswith("step 1   2 bodies: 1 move, 0 asleep   1 pairs")
    assert "1 impacts   1 contacts" in found
    assert times == "no times yet"
    overlay.slow = 4
    assert overlay.lines()[0] == f"1/4 SPEED   {found}"
    overlay.step_once()
    assert overlay.lines()[0] == f"PAUSED   {found}"


def test_colours_differ() -> None:
    bodies = ["static", "moving", "sensor", "one-way", "asleep", "quarantined", "ghost", "swept"]

    assert len({COLOURS[name] for name in bodies}) == len(bodies)


def test_overlay_wants_a_space(overlay: DebugDraw) -> None:
    with pytest.raises(TypeError, match=r"wants an ecs_collide\.Space"):
        DebugDraw("space")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"wants an ecs_collide\.Space"):
        overlay.space = None  # type: ignore[assignment]


@pytest.mark.parametrize("show", ["boxes", None, 999, -1, True, 1.0])
def test_what_is_shown_must_be_bits_of_show(overlay: DebugDraw, show: object) -> None:
    before = overlay.show
    with pytest.raises(TypeError, match=r"DebugDraw\.show=.* must be a Show"):
        overlay.show = show  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"DebugDraw\.show=.* must be a Show"):
        DebugDraw(overlay.space, show)  # type: ignore[arg-type]
    assert overlay.show is before


@pytest.mark.parametrize("slow", [0, -3, 2.5, None, True])
def test_slow_motion_must_be_a_whole_number(overlay: DebugDraw, slow: object) -> None:
    with pytest.raises(ValueError, match=r"slow=.* must be a whole number from 1 on"):
        overlay.slow = slow  # type: ignore[assignment]
    assert overlay.slow == 1


def test_what_is_attached_to_must_be_a_window(overlay: DebugDraw) -> None:
    pytest.importorskip("pyglet")
    with pytest.raises(TypeError, match=r"attach\(None\) wants a pyglet window"):
        overlay.attach(None)
    with pytest.raises(TypeError, match=r"attach\(view='x'\) wants a function"):
        overlay.attach(types.SimpleNamespace(push_handlers=print), view="x")  # type: ignore[arg-type]


def test_without_pyglet_it_names_the_extra(
    overlay: DebugDraw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyglet", None)

    for call in (overlay.draw, lambda: overlay.attach(object())):
        with pytest.raises(ImportError, match=r'pip install "ecs_collide\[pyglet\]"'):
            call()
    assert overlay.process(DT)


@pytest.mark.parametrize("version", ["2.0.18", "1.5.31", "3.0.0"])
def test_other_pyglets_are_refused(
    overlay: DebugDraw, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    other = types.ModuleType("pyglet")
    other.version = version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyglet", other)

    with pytest.raises(ImportError, match=f"2.1 or later, before 3, and here is {version}"):
        overlay.draw()


def test_times_are_taken_while_they_are_shown(
    overlay: DebugDraw, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay.visible = False
    overlay.space.timing = True  # the game's own wish
    overlay.draw()
    assert overlay.space.timing

    overlay.space.timing = False
    monkeypatch.setattr(overlay, "_find_window", lambda window: (_ for _ in ()).throw(EOFError))
    overlay.visible = True
    with pytest.raises(EOFError):
        overlay.draw()
    assert overlay.space.timing
    overlay.visible = False
    overlay.draw()
    assert not overlay.space.timing
