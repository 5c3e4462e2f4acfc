"""The overlay in pyglet, arcade and pygame: the programs of the page, and pygame's pixels."""

from __future__ import annotations

from typing import Any

import esper
import numpy as np
import pytest
from test_docs import programs

import ecs_collide as ec
from ecs_collide.debug import COLOURS, KEYS, DebugDraw, Show
from tests import windows
from tests.screens import is_seen, n_seen, pixels

PROGRAMS = {
    name: program
    for name in ("pyglet", "arcade", "pygame")
    for program in programs("troubleshooting.md")
    if f"import {name}\n" in program
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_page_are_short(name: str) -> None:
    assert len(PROGRAMS[name].splitlines()) <= 60


@pytest.mark.parametrize("name", ["pyglet", "arcade"])
def test_boxes_fall_to_the_floor_under_the_overlay(world: str, name: str) -> None:
    pytest.importorskip(name)
    pictures: list[np.ndarray] = []

    windows.play(
        PROGRAMS[name], name, {60: ("F9",)}, 80, lambda *_: pictures.append(pixels().copy())
    )

    for x in (110, 130, 150, 170, 190, 210):  # both sides of three boxes, 20 pixels wide
        assert is_seen(pictures[-1], (x, 30), COLOURS["moving"]) or is_seen(
            pictures[-1], (x, 30), COLOURS["asleep"]
        )
    for side in ((10, 10), (310, 10), (250, 20)):
        assert is_seen(pictures[-1], side, COLOURS["static"])
    assert n_seen(pictures[50][-20:], (236, 240, 248)) > 50  # text, until F9 hides it
    assert n_seen(pictures[-1][-20:], (236, 240, 248)) == 0


def as_array(surface: Any) -> np.ndarray:
    """Return the colours of a surface, [x, y], from the upper left corner."""
    import pygame

    width, height = surface.get_size()
    colours = np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8)
    return colours.reshape(height, width, 3).swapaxes(0, 1)


def test_boxes_fall_to_the_floor_under_the_overlay_in_pygame(world: str) -> None:
    picture = as_array(windows.play_pygame(PROGRAMS["pygame"], "pygame", {60: "K_F9"}))

    for x in (110, 130, 150, 170, 190, 210):
        assert tuple(picture[x, 210]) in (COLOURS["moving"], COLOURS["asleep"])
    assert [tuple(picture[at]) for at in ((10, 230), (310, 230), (250, 220))] == [
        COLOURS["static"]
    ] * 3
    assert not picture[:, :20].any()  # F9 has hidden the text


def drawn(space: ec.Space, show: Show, width: int = 100, **camera: Any) -> np.ndarray:
    pygame = pytest.importorskip("pygame")
    from ecs_collide.debug.with_pygame import PygameCanvas

    surface = pygame.Surface((width, 80))
    DebugDraw(space, show).draw(PygameCanvas(surface, **camera))
    return as_array(surface)


@pytest.mark.parametrize(
    ("camera", "corners"),
    [
        ({}, (20, 30, 40, 50)),
        ({"origin": (-10, 5)}, (30, 25, 50, 45)),
        ({"origin": (10, 60), "zoom": (2, -1)}, (20, 10, 60, 30)),  # y up
    ],
)
def test_pygame_draws_the_outline_of_a_box_through_its_camera(
    world: str, camera: dict[str, Any], corners: tuple[int, int, int, int]
) -> None:
    esper.create_entity(ec.Position(30, 40), ec.Extents(10, 10))
    space = ec.install()
    esper.process(1 / 60)
    left, top, right, bottom = corners
    outline = np.zeros((100, 80), bool)
    outline[left : right + 1, top : bottom + 1] = True
    outline[left + 1 : right, top + 1 : bottom] = False

    seen = drawn(space, Show.BOXES, **camera)

    assert ((seen == COLOURS["static"]).all(axis=2) == outline).all()


def test_pygame_draws_the_solid_part_of_a_slope_not_its_box(world: str) -> None:
    esper.create_entity(ec.Position(30, 40), ec.Extents(10, 10), ec.Slope("right"))
    space = ec.install(up=(0, -1))
    esper.process(1 / 60)
    triangle = np.zeros((100, 80), bool)
    triangle[40, 30:51] = triangle[20:41, 50] = True
    triangle[np.arange(20, 41), 70 - np.arange(20, 41)] = True

    seen = drawn(space, Show.BOXES)

    assert ((seen == COLOURS["static"]).all(axis=2) == triangle).all()


def test_box_that_hit_a_slope_has_a_ghost_and_so_has_the_solid_part(world: str) -> None:
    esper.create_entity(
        ec.Position(30, 40), ec.Extents(10, 10), ec.Slope("right"), ec.Velocity(0, -1)
    )
    esper.create_entity(ec.Position(30, 20), ec.Extents(4, 4), ec.Velocity(0, 12), ec.Slide())
    space = ec.install(up=(0, -1))
    esper.process(1.0)
    assert space.impact_boxes().mins[0, :, 1].astype(int).tolist() == [29, 27]

    seen = (drawn(space, Show.GHOSTS) == COLOURS["ghost"]).all(axis=2)

    assert seen[20:41, 49].all()
    assert seen[40, 29:50].all()
    assert not seen[20:25, 29:40].any()
    assert seen[26:35, 27].all()  # the box


def test_slope_across_the_edge_of_a_world_that_wraps_is_seen_on_both_sides(world: str) -> None:
    esper.create_entity(ec.Position(95, 40), ec.Extents(10, 10), ec.Slope("right"))
    space = ec.install(up=(0, -1), wrap=(100, None))
    esper.process(1 / 60)

    seen = (drawn(space, Show.BOXES) == COLOURS["static"]).all(axis=2)

    assert seen[5, 30:51].all()  # its high side
    assert seen[[85, 99, 0, 5], [50, 36, 35, 30]].all()


def test_pygame_draws_only_the_parts_in_sight_of_boxes_and_lines_of_any_size(world: str) -> None:
    esper.create_entity(ec.Position(0, 0), ec.Extents(2.0**70, 20))
    esper.create_entity(ec.Position(2.0**40, 30), ec.Extents(2.0**40, 11), ec.Velocity(0, 1))
    esper.create_entity(ec.Position(-500, 30), ec.Extents(10, 10))
    space = ec.install()
    esper.process(0.0)

    boxes = drawn(space, Show.BOXES, origin=(-50, -40))
    pairs = drawn(space, Show.PAIRS, origin=(-50, -40))

    assert (boxes[:50, 60] == COLOURS["static"]).all()
    assert (boxes[50, 61:] == COLOURS["moving"]).all()
    assert (pairs[50:, 40] == COLOURS["pair"]).all()  # from the middle of the view to the right
    assert not pairs[:49].any()


def test_camera_of_pygame_has_its_middle_and_the_width_of_a_pixel() -> None:
    pygame = pytest.importorskip("pygame")
    from ecs_collide.debug.with_pygame import PygameCanvas

    camera = PygameCanvas(pygame.Surface((100, 80)), (10, 60), (2, -1)).start()

    assert np.allclose(camera.middle, (35, 20))
    assert np.allclose(camera.pixel(camera.middle[None]), 0.5)


def test_pygame_writes_the_numbers_within_the_surface(world: str) -> None:
    esper.create_entity(ec.Position(30, 300), ec.Extents(10, 10))
    space = ec.install()
    esper.process(1 / 60)

    seen = drawn(space, Show.STATS, width=240)

    assert (seen == (236, 240, 248)).all(axis=2).sum() > 50
    assert not (seen[-1] == (236, 240, 248)).all(axis=1).any()


def test_function_keys_of_pyglet_and_pygame_do_the_same(world: str) -> None:
    pygame = pytest.importorskip("pygame")

    assert [KEYS[key] for key in range(pygame.K_F1, pygame.K_F12 + 1)] == [*KEYS.values()][:12]


def test_what_is_drawn_on_must_be_a_window_or_a_canvas(world: str) -> None:
    pygame = pytest.importorskip("pygame")
    pytest.importorskip("pyglet")

    with pytest.raises(TypeError, match="PygameCanvas"):
        DebugDraw(ec.install()).draw(pygame.Surface((10, 10)))
