"""The overlay in a real window: pixels are compared with where the space says the boxes are."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Iterator
from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.debug import COLOURS, KEYS, DebugDraw, Show
from ecs_collide.debug.shapes import shown_normals
from tests.scenes import another_world
from tests.screens import is_seen, n_seen, open_window, pixels, press

WIDTH, HEIGHT = 400, 300
F1 = 0xFFBE


@pytest.fixture
def window() -> Iterator[Any]:
    window = open_window(WIDTH, HEIGHT)
    window.switch_to()
    yield window
    window.close()


def body(x: float, y: float, *others: Any, half: tuple[float, float] = (12, 8)) -> int:
    return esper.create_entity(ec.Position(x, y), ec.Extents(*half), *others)


def drawn(window: Any, overlay: DebugDraw) -> np.ndarray:
    window.switch_to()
    window.clear()
    overlay.draw(window)
    return pixels()


def sides(low: Any, high: Any) -> list[tuple[float, float]]:
    """Return a point on each side of a box."""
    x, y = low[0] * 0.6 + high[0] * 0.4, low[1] * 0.6 + high[1] * 0.4
    return [(low[0], y), (high[0], y), (x, low[1]), (x, high[1])]


def test_each_kind_of_body_is_seen_in_its_colour(world: str, window: Any) -> None:
    kinds = {
        "static": body(50, 50),
        "moving": body(100, 50, ec.Velocity(0, 6), ec.Deflect()),
        "sensor": body(150, 50, ec.Sensor(), ec.Velocity(1, 0)),
        "one-way": body(200, 50, ec.OneWay((0, 1))),
        "asleep": body(250, 50, ec.Velocity(0, 0), ec.Slide()),
        "quarantined": body(300, 50, ec.Velocity(0, 0)),
    }
    esper.component_for_entity(kinds["quarantined"], ec.Velocity).x = float("inf")
    space = ec.install()
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(1 / 60)
    for _ in range(20):
        esper.process(1 / 60)

    seen = drawn(window, DebugDraw(space, Show.BOXES))

    for name, entity in kinds.items():
        low, high = space.bounds(entity)
        for point in sides(low, high):
            assert is_seen(seen, point, COLOURS[name]), (name, point)
        middle = tuple((np.array(low) + high) / 2)
        assert not is_seen(seen, middle, COLOURS[name]), name
        far = (low[0] - 6, middle[1])
        assert not is_seen(seen, far, COLOURS[name]), name


def test_solid_part_of_a_slope_is_seen_and_not_its_box(world: str, window: Any) -> None:
    body(100, 50, ec.Slope("right"), half=(40, 20))
    body(300, 50, ec.Slope("left", ceiling=True), ec.Sensor(), half=(40, 20))
    space = ec.install()
    esper.process(1 / 60)

    seen = drawn(window, DebugDraw(space, Show.BOXES))

    for x, y in ((80, 40), (120, 60), (100, 30), (140, 50)):
        assert is_seen(seen, (x, y), COLOURS["static"]), (x, y)
    for x, y in ((280, 60), (320, 40), (300, 70), (340, 50)):
        assert is_seen(seen, (x, y), COLOURS["sensor"]), (x, y)
    for corner in ((62, 70), (60, 68), (262, 30), (260, 32)):
        assert not seen[int(corner[1]), int(corner[0]), :3].any(), corner


@pytest.mark.parametrize("camera", ["zoomed", "y down", "y down and zoomed"])
def test_boxes_are_seen_through_the_camera(world: str, window: Any, camera: str) -> None:
    from pyglet.math import Mat4, Vec3

    crate = body(100, 30, ec.Velocity(30, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    zoom, move = (2.0, (-60.0, 25.0)) if "zoomed" in camera else (1.0, (0.0, 0.0))
    if "y down" in camera:
        window.projection = Mat4.orthogonal_projection(0, WIDTH, HEIGHT, 0, -255, 255)
    window.view = Mat4.from_scale(Vec3(zoom, zoom, 1.0)).translate(Vec3(*move, 0.0))

    seen = drawn(window, DebugDraw(space, Show.BOXES))

    low, high = (np.array(corner) for corner in space.bounds(crate))
    for point in sides(low, high):
        x, y = ((part + by) * zoom for part, by in zip(point, move, strict=True))
        at = (x, HEIGHT - y) if "y down" in camera else (x, y)
        assert is_seen(seen, at, COLOURS["moving"]), point
    assert 4 * 12 * zoom + 4 * 8 * zoom == pytest.approx(n_seen(seen, COLOURS["moving"]), abs=8)


def test_of_a_3d_space_the_first_two_axes_are_seen(world: str, window: Any) -> None:
    crate = esper.create_entity(
        ec.Position(90, 120, -4000), ec.Extents(20, 30, 5), ec.Velocity(0, 0, 6)
    )
    space = ec.install(dim=3)
    esper.process(1.0)

    seen = drawn(window, DebugDraw(space, ~Show(0)))

    for point in sides(*(corner[:2] for corner in space.bounds(crate))):
        assert is_seen(seen, point, COLOURS["moving"]) or is_seen(seen, point, COLOURS["swept"])
    assert n_seen(seen, COLOURS["moving"]) > 100


def meeting() -> ec.Space:
    """Let a box land on a floor, another fly by, and a third cross a sensor."""
    body(200, 60, half=(150, 10))
    body(200, 104, ec.Velocity(0, -50), ec.Slide())
    body(80, 150, ec.Velocity(160, 0), ec.Deflect())
    body(300, 150, ec.Sensor(), half=(40, 20))
    body(300, 150, ec.Velocity(0, 4))
    space = ec.install()
    esper.process(1.0)
    return space


SHOWN = {
    Show.BOXES: "moving",
    Show.FAT: "fat",
    Show.TREE: "branch of moving",
    Show.PAIRS: "pair",
    Show.SWEPT: "swept",
    Show.GHOSTS: "ghost",
    Show.CONTACTS: "contact",
}


@pytest.mark.parametrize("show", list(Show), ids=lambda show: show.name)
def test_each_key_switches_what_it_is_for(world: str, window: Any, show: Show) -> None:
    overlay = DebugDraw(meeting(), Show(0))
    overlay.attach(window, draws=False)
    symbol = next(symbol for symbol, action in KEYS.items() if action == show)
    background = int(drawn(window, overlay)[:, :, :3].max())

    press(window, symbol)
    on = drawn(window, overlay)
    noted = overlay.note_height()
    press(window, F1)
    assert overlay.note_height() == 0
    hidden = drawn(window, overlay)
    press(window, F1, symbol)
    off = drawn(window, overlay)

    assert background == hidden[:, :, :3].max() == off[:, :, :3].max() == 0
    if show is Show.STATS:
        assert on[-12:, :200, :3].max() > 200  # writing, in the upper left corner
        below = on[: HEIGHT - noted, :, :3]
        assert below.size
        assert below.max() == 0
    else:
        assert n_seen(on, COLOURS[SHOWN[show]]) > 10


def test_bounds_ghosts_pairs_and_contacts_are_seen_where_they_are(world: str, window: Any) -> None:
    space = meeting()
    overlay = DebugDraw(space, Show.FAT)

    seen = drawn(window, overlay)
    mins, maxs = space.fat_bounds()
    moving = [
        n for n, entity in enumerate(space.entities) if esper.has_component(entity, ec.Velocity)
    ]
    points = [point for n in moving for point in sides(mins[n], maxs[n])]
    in_window = [(x, y) for x, y in points if 1 < x < WIDTH - 1 and 1 < y < HEIGHT - 1]
    assert len(in_window) >= 2 * len(moving)
    for point in in_window:
        assert is_seen(seen, point, COLOURS["fat"]), point

    overlay.show = Show.SWEPT
    seen = drawn(window, overlay)
    flyer = sorted(space.entities)[2]
    low, high = space.swept_bounds([flyer])
    assert high[0, 0] - low[0, 0] > 150
    for point in sides(low[0], high[0]):
        assert is_seen(seen, point, COLOURS["swept"]), point

    overlay.show = Show.GHOSTS
    seen = drawn(window, overlay)
    ghosts = space.impact_boxes()
    assert len(ghosts.times)
    for low, high in zip(ghosts.mins.reshape(-1, 2), ghosts.maxs.reshape(-1, 2), strict=True):
        for point in sides(low, high):
            assert is_seen(seen, point, COLOURS["ghost"]), point

    overlay.show = Show.PAIRS
    seen = drawn(window, overlay)
    pairs = space.candidate_pairs()
    assert len(pairs) >= 2
    for first, second in space.positions(pairs.ravel()).reshape(-1, 2, 2):
        for share in (0.1, 0.5, 0.9):
            point = first + share * (second - first)
            assert is_seen(seen, tuple(point), COLOURS["pair"])

    overlay.show = Show.CONTACTS
    seen = drawn(window, overlay)
    contacts = space.contact_points()
    assert sorted(contacts.kinds) == [0, 1]
    normals = shown_normals(space, contacts)
    for point, normal, kind in zip(contacts.points, normals, contacts.kinds, strict=True):
        colour = COLOURS["crossing" if kind else "contact"]
        assert is_seen(seen, tuple(point), colour)
        tip = point + 9 * normal
        assert is_seen(seen, tuple(tip), colour) == (kind == ec.ContactKind.SOLID)
        assert not is_seen(seen, tuple(point - 9 * normal), colour)

    overlay.show = Show.TREE
    seen = drawn(window, overlay)
    branches = space.branches()
    for low, high, moving in zip(branches.mins, branches.maxs, branches.moving, strict=True):
        name = "branch of moving" if moving else "branch of still"
        for point in sides(low, high):
            assert is_seen(seen, point, COLOURS[name]), point


def test_the_window_need_not_be_named(world: str, window: Any) -> None:
    crate = body(100, 100, ec.Velocity(0, 0.5))
    space = ec.install()
    esper.process(1 / 60)
    overlay = DebugDraw(space, Show.BOXES)
    window.clear()

    overlay.draw()

    assert is_seen(pixels(), sides(*space.bounds(crate))[0], COLOURS["moving"])


def test_what_is_gone_is_seen_no_more(world: str, window: Any) -> None:
    crates = [body(30 + 30 * n, 100, ec.Velocity(0, 1), half=(5, 5)) for n in range(10)]
    space = ec.install()
    overlay = DebugDraw(space, Show.BOXES)
    esper.process(1 / 60)
    before = n_seen(drawn(window, overlay), COLOURS["moving"])

    for crate in crates[1:]:
        esper.delete_entity(crate, immediate=True)
    esper.process(1 / 60)
    assert n_seen(drawn(window, overlay), COLOURS["moving"]) == pytest.approx(before / 10, abs=6)

    esper.delete_entity(crates[0], immediate=True)
    esper.process(1 / 60)
    assert drawn(window, overlay)[:, :, :3].max() == 0

    many = [body(x, y, half=(2, 2)) for x in range(20, 380, 8) for y in range(20, 280, 8)]
    esper.process(1 / 60)
    seen = drawn(window, overlay)
    for crate in many:
        assert is_seen(seen, sides(*space.bounds(crate))[0], COLOURS["static"])


def test_numbers_that_are_none_are_skipped_and_huge_ones_harmless(world: str, window: Any) -> None:
    lost, crate = body(50, 50), body(100, 50)
    body(2.0**400, 50, half=(12, 8))
    space = ec.install()
    esper.process(1 / 60)
    esper.component_for_entity(lost, ec.Position).x = float("nan")
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(1 / 60)

    overlay = DebugDraw(space, ~Show.STATS)
    seen = drawn(window, overlay)

    assert is_seen(seen, sides(*space.bounds(crate))[0], COLOURS["static"])
    assert np.isnan(space.fat_bounds([lost])[0]).all()
    boxes = overlay._canvases[window]._boxes
    assert np.isfinite(np.frombuffer(boxes._list.position, np.float32)).all()


def test_another_window_is_drawn_in_too(world: str, window: Any) -> None:
    crate = body(100, 100, ec.Velocity(0, 0.5))
    space = ec.install()
    esper.process(1 / 60)
    overlay = DebugDraw(space)
    overlay.attach(window, draws=False)
    point = sides(*space.bounds(crate))[0]
    assert is_seen(drawn(window, overlay), point, COLOURS["moving"])
    canvas = overlay._canvases[window]

    other = open_window(900, 150)
    try:
        assert is_seen(drawn(other, overlay), point, COLOURS["moving"])
        assert is_seen(drawn(window, overlay), point, COLOURS["moving"])
        assert overlay._canvases[window] is canvas  # nothing is made again

        window.close()
        other.switch_to()
        other.clear()
        overlay.draw()  # the one that it is attached to is gone
        assert is_seen(pixels(), point, COLOURS["moving"])
    finally:
        other.close()
    with pytest.raises(RuntimeError, match="found no window"):
        overlay.draw()


def refresh(window: Any) -> None:
    """Do what pyglet does for a frame, but for showing it."""
    window.switch_to()
    window.dispatch_event("on_draw")
    window.dispatch_event("on_refresh", 0.0)
    window.dispatch_events()  # outside of pyglet's loop they wait for this


def test_attached_overlay_draws_after_the_game(world: str, window: Any) -> None:
    from pyglet.math import Mat4, Vec3

    crate = body(100, 100, ec.Velocity(0, 0.5))
    space = ec.install()
    esper.process(1 / 60)
    window.push_handlers(on_draw=window.clear)
    overlay = DebugDraw(space, Show.BOXES)
    point = sides(*space.bounds(crate))[0]

    overlay.attach(window)
    refresh(window)
    assert is_seen(pixels(), point, COLOURS["moving"])

    overlay.attach(window, view=lambda: Mat4.from_translation(Vec3(70.0, 0.0, 0.0)))
    refresh(window)
    assert is_seen(pixels(), (point[0] + 70, point[1]), COLOURS["moving"])
    assert not is_seen(pixels(), point, COLOURS["moving"])
    assert window.view == Mat4()

    overlay.detach()
    refresh(window)
    assert n_seen(pixels(), COLOURS["moving"]) == 0
    press(window, F1)
    assert overlay.visible


def test_drawing_leaves_projection_and_view_as_they_were(world: str, window: Any) -> None:
    from pyglet.math import Mat4, Vec3

    window.projection = projection = Mat4.orthogonal_projection(0, 80, 60, 0, -1, 1)
    window.view = view = Mat4.from_translation(Vec3(3.0, 4.0, 0.0))

    drawn(window, DebugDraw(meeting()))

    assert (window.projection, window.view) == (projection, view)


def test_real_keys_pause_and_step(world: str, window: Any) -> None:
    overlay = DebugDraw(meeting(), Show.BOXES)
    overlay.attach(window)

    press(window, F1 + 9)
    assert overlay.paused
    assert not overlay.process(1 / 60)
    press(window, F1 + 10)
    assert overlay.process(1 / 60)
    press(window, F1 + 9, F1 + 11)
    assert not overlay.paused
    assert overlay.slow > 1


def test_handlers_that_a_game_sets_later_take_nothing_from_the_overlay(
    world: str, window: Any
) -> None:
    overlay = DebugDraw(meeting(), Show.BOXES)
    overlay.attach(window)
    heard: list[int] = []

    @window.event
    def on_key_press(symbol: int, modifiers: int) -> None:
        heard.append(symbol)

    @window.event
    def on_refresh(dt: float) -> None:
        heard.append(0)

    @window.event
    def on_draw() -> None:
        window.clear()

    press(window, F1 + 9)
    refresh(window)

    assert heard == [F1 + 9, 0]
    assert overlay.paused
    assert n_seen(pixels(), COLOURS["moving"]) > 10


def test_a_window_keeps_what_is_attached_to_it(world: str, window: Any) -> None:
    DebugDraw(meeting(), Show.BOXES).attach(window)
    window.push_handlers(on_draw=window.clear)

    gc.collect()
    refresh(window)

    assert n_seen(pixels(), COLOURS["moving"]) > 10


def test_overlay_is_back_when_attached_again_after_a_game_popped_it(
    world: str, window: Any
) -> None:
    overlay = DebugDraw(meeting(), Show.BOXES)
    overlay.attach(window)
    while window._event_stack:
        window.pop_handlers()
    window.push_handlers(on_draw=window.clear)

    overlay.attach(window)
    refresh(window)
    press(window, F1)

    assert not overlay.visible
    assert n_seen(pixels(), COLOURS["moving"]) > 10


def test_overlays_come_and_go_without_a_trace(world: str, window: Any) -> None:
    space = meeting()
    n_frames = 0
    for n in range(5):
        overlay = DebugDraw(space)
        overlay.attach(window)
        refresh(window)
        assert space.timing
        overlay.detach()
        assert not space.timing
        n_frames = n_frames or len(window._event_stack)
        assert len(window._event_stack) == n_frames, n
    gone = weakref.ref(overlay)

    del overlay
    gc.collect()

    assert gone() is None


def test_timing_follows_the_space(world: str, window: Any) -> None:
    space = meeting()
    with another_world(f"{world} too"):
        other = ec.install()
        overlay = DebugDraw(space, Show.STATS)
        drawn(window, overlay)
        assert (space.timing, other.timing) == (True, False)

        overlay.space = other
        drawn(window, overlay)
        assert (space.timing, other.timing) == (False, True)

        overlay.show = Show.BOXES
        drawn(window, overlay)
        assert (space.timing, other.timing) == (False, False)


def test_keys_are_for_all_overlays_of_a_window_and_lines_below_one_another(
    world: str, window: Any
) -> None:
    space = meeting()
    overlays = [DebugDraw(space, Show.STATS) for _ in range(2)]
    for overlay in overlays:
        overlay.attach(window)
    window.push_handlers(on_draw=window.clear)

    refresh(window)
    heights = [overlay.note_height(window) for overlay in overlays]
    edge = HEIGHT - heights[0]
    seen = pixels()[:, :, :3].astype(int)
    assert seen[edge:HEIGHT, 10:100].max() > 200
    assert seen[edge - heights[1] : edge, 10:100].max() > 200
    assert seen[: edge - heights[1]].max() == 0

    press(window, F1)
    assert [overlay.visible for overlay in overlays] == [False, False]


def test_lines_are_broken_where_the_window_ends(world: str, window: Any) -> None:
    overlay = DebugDraw(meeting(), Show.STATS)
    overlay.paused = True

    narrow = drawn(window, overlay)[:, :, :3].astype(int)
    wide = open_window(1200, 300)
    try:
        drawn(wide, overlay)
        assert overlay.note_height(wide) < overlay.note_height(window)
    finally:
        wide.close()
    assert narrow[:, -6:].max() < 40  # nothing is cut off on the right


def test_depth_test_of_a_game_hides_nothing(world: str, window: Any) -> None:
    from pyglet import gl, shapes
    from pyglet.math import Mat4, Vec3

    overlay = DebugDraw(meeting(), Show.BOXES | Show.SWEPT | Show.CONTACTS | Show.STATS)
    plain = drawn(window, overlay).copy()
    ground = shapes.Rectangle(0, 0, WIDTH, HEIGHT, color=(0, 0, 0))
    gl.glEnable(gl.GL_DEPTH_TEST)
    try:
        for depth in (0.0, 100.0, 200.0):
            window.clear()
            window.view = Mat4.from_translation(Vec3(0.0, 0.0, depth))
            ground.draw()
            window.view = Mat4()
            overlay.draw(window)
            below = HEIGHT - overlay.note_height()
            assert (pixels()[:below] == plain[:below]).all(), depth
            assert n_seen(pixels(), (236, 240, 248)) == n_seen(plain, (236, 240, 248)), depth
    finally:
        gl.glDisable(gl.GL_DEPTH_TEST)


def test_contacts_are_as_large_in_perspective(world: str, window: Any) -> None:
    from pyglet.math import Mat4, Vec3

    overlay = DebugDraw(meeting(), Show.CONTACTS)
    flat = n_seen(drawn(window, overlay), COLOURS["contact"])
    window.projection = Mat4.perspective_projection(WIDTH / HEIGHT, 0.1, 2000, 60)
    middle = (WIDTH / 2, HEIGHT / 2)
    far = HEIGHT / 2 / math.tan(math.radians(30))  # there a unit is a pixel
    for distance in (far, 3 * far):
        eye, target = Vec3(*middle, distance), Vec3(*middle, 0.0)
        window.view = Mat4.look_at(eye, target, Vec3(0.0, 1.0, 0.0))

        assert n_seen(drawn(window, overlay), COLOURS["contact"]) == pytest.approx(flat, rel=0.3)


@pytest.mark.parametrize("far", [1e6, 1e9, 2.0**44])
@pytest.mark.parametrize("by", ["view", "projection"])
def test_boxes_far_from_the_origin_are_seen_as_exactly(
    world: str, window: Any, far: float, by: str
) -> None:
    from pyglet.math import Mat4, Vec3

    body(far + 100, far + 100)
    space = ec.install()
    esper.process(1 / 60)
    if by == "view":
        window.view = Mat4.from_translation(Vec3(-far, -far, 0.0))
    else:
        window.projection = Mat4.orthogonal_projection(
            far, far + WIDTH, far, far + HEIGHT, -255, 255
        )

    seen = drawn(window, DebugDraw(space, Show.BOXES))

    for x, y in sides((88.0, 92.0), (112.0, 108.0)):
        assert is_seen(seen, (x, y), COLOURS["static"]), (x, y)


def test_what_has_no_size_is_seen_too(world: str, window: Any) -> None:
    body(50, 50, half=(0, 0))
    body(100, 50, ec.Sensor(), half=(0, 10))
    body(150, 50, ec.Velocity(0, 0), half=(0.2, 0.2))
    space = ec.install()
    esper.process(1 / 60)

    seen = drawn(window, DebugDraw(space, Show.BOXES))

    assert is_seen(seen, (50, 50), COLOURS["static"])
    assert all(is_seen(seen, (100, y), COLOURS["sensor"]) for y in (41, 50, 59))
    assert is_seen(seen, (150, 50), COLOURS["moving"])


def test_numbers_at_the_end_of_the_range_are_no_warnings(world: str, window: Any) -> None:
    for x in (1e30, 1e38, 1.7e308, -1.7e308):
        body(x, 50, half=(abs(x) / 2, 5))
    crate = body(100, 50)
    space = ec.install()
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(1 / 60)

    seen = drawn(window, DebugDraw(space, ~Show.STATS))

    assert is_seen(seen, sides(*space.bounds(crate))[0], COLOURS["static"])


def test_a_world_that_wraps_is_seen_on_both_sides_of_its_edges(world: str, window: Any) -> None:
    wall = body(2, 100, half=(10, 10))
    body(250, 200, ec.Velocity(0, 1), half=(2, 2))
    stopped = body(280, 100, ec.Velocity(6000, 0), ec.Slide(), half=(4, 4))
    space = ec.install(wrap=(320, 240))
    esper.process(1 / 60)
    assert [contact.other(stopped) for contact in space.contacts(stopped)] == [wall]

    seen = drawn(window, DebugDraw(space, Show.BOXES))
    for x in (-8, 12, 312, 332):
        assert x < 0 or is_seen(seen, (x, 94), COLOURS["static"]), x

    seen = drawn(window, DebugDraw(space, Show.CONTACTS))
    (point,) = space.contact_points().points
    assert tuple(point) == (312, 100)
    assert is_seen(seen, (312 - 8, 100), COLOURS["contact"])  # the normal, out of the wall
    assert not seen[:, 10:290, :3].any()

    seen = drawn(window, DebugDraw(space, Show.PAIRS))
    assert is_seen(seen, (315, 100), COLOURS["pair"])
    assert not seen[:, 10:300, :3].any()


def test_codes_of_the_keys_are_those_of_pyglet(window: Any) -> None:
    from pyglet.window import key

    assert [getattr(key, f"F{n}") for n in range(1, 13)] == sorted(KEYS)[:12]


def test_times_are_told_when_there_are_any(world: str, window: Any) -> None:
    overlay = DebugDraw(meeting(), Show.STATS)
    drawn(window, overlay)  # from now on they are taken
    drawn(window, overlay)
    assert overlay.lines()[1] == "no times yet"

    esper.process(1.0)
    drawn(window, overlay)

    assert float(overlay.lines()[1].partition(" ms")[0]) > 0
    assert len(overlay.lines()[1].split("   ")) == len(ec.StageTimes._fields)


def test_two_lines_are_enough_in_a_game(
    world: str, window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyglet

    body(100, 20, half=(60, 8))
    crate = body(100, 100, ec.Velocity(0, -200), ec.Slide())
    space = ec.install()
    window.push_handlers(on_draw=window.clear)
    overlay = DebugDraw(space)
    overlay.attach(window)
    frames: list[tuple[tuple[float, float], np.ndarray]] = []
    flip = window.flip

    def keep() -> None:
        if len(space):
            frames.append((sides(*space.bounds(crate))[0], pixels().copy()))
        flip()

    monkeypatch.setattr(window, "flip", keep)
    pyglet.clock.schedule_interval(overlay.process, 1 / 60)
    pyglet.clock.schedule_once(lambda dt: pyglet.app.exit(), 0.4)
    try:
        pyglet.app.run(1 / 60)
    finally:
        pyglet.clock.unschedule(overlay.process)

    assert space.stats.step > 3
    assert len({point for point, _ in frames}) > 3
    for point, seen in frames:
        assert is_seen(seen, point, COLOURS["moving"]), point
    assert " ms a step: read " in overlay.lines()[1]
    assert frames[-1][1][-12:, :200, :3].max() > 200  # the numbers
