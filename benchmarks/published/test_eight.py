"""The eight scenes of the pictures, here and in the peers that are shown."""

from __future__ import annotations

import itertools
import re
from functools import cache

import pytest

import ecs_collide as ec
from benchmarks.controllers.worlds import Box
from benchmarks.published.eight import (
    EIGHT,
    apart,
    below,
    boxes,
    gather,
    land,
    overlap,
    shoot,
    stops,
    through,
    throw,
)
from benchmarks.published.engines import DYNAMIC, Box2D, Frame, Ours, Pymunk
from benchmarks.published.picture import BETWEEN, HALF, SideBySide
from tests.volume import Volume

CASES = {case.name: case for case in EIGHT}


@cache
def frames_of_peer(name: str) -> list[Frame]:
    """Return the frames of a case's peer, or skip a test where it is not installed."""
    needs = CASES[name].needs
    if needs:
        package = pytest.importorskip(needs)
        if needs == "pymunk" and int(package.version.split(".")[0]) < 7:
            pytest.skip("the page shows pymunk 7")
    return CASES[name].theirs()


class Watched(Ours):
    """ecs_collide, with the outcomes of all collisions so far."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: set[ec.Outcome] = set()

    def step(self) -> None:
        super().step()
        self.outcomes |= {event.outcome for event in self.space.collisions}


FAR = {"rollback": 50.0, "tunnelling": 2.0}  # how much a peer shows at least

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_bullets_of_up_to_6000_pixels_a_second_stop_at_a_wall_of_6() -> None:
    frames = CASES["tunnelling"].ours()

    assert through(frames) == 0
    assert [box.right for box in boxes(frames[-1], "bullet")] == [180.0] * 4


def test_a_player_falls_along_the_seams_of_a_wall_as_fast_as_beside_it() -> None:
    frames = CASES["seams"].ours()
    beside = Ours()
    hero = beside.add("player", frames[0][-1][1].moved(-500, 0), DYNAMIC, (0.0, -120.0))
    for _ in frames[1:]:
        beside.step()

    assert stops(frames) == 0
    assert boxes(frames[-1], "player")[0].y == beside.box(hero).y


def test_a_rider_does_not_tremble_on_a_lift_that_sinks() -> None:
    case = CASES["trembling"]

    assert case.measure(case.ours()) == 0.0


def test_a_player_who_falls_onto_a_rising_lift_lands_on_it() -> None:
    frames = CASES["lift"].ours()

    hero, lift = boxes(frames[-1], "player")[0], boxes(frames[-1], "lift")[0]
    assert abs(hero.y - lift.top) < 1e-9


def test_a_player_walks_from_one_one_way_platform_to_the_next() -> None:
    frames = CASES["one_way"].ours()

    feet = {boxes(frame, "player")[0].y for frame in frames[30:]}
    assert feet == {65.0}
    assert boxes(frames[-1], "player")[0].x == pytest.approx(24 + 90 * 89 / 60)


def test_a_lift_that_crushes_is_reported_within_a_step_and_can_turn_back() -> None:
    frames = CASES["crushed"].ours()

    # What the lift rises in a step, 60 / 60, and the player falls.
    assert CASES["crushed"].measure(frames) == pytest.approx(1.125)
    hero, lift = boxes(frames[-1], "player")[0], boxes(frames[-1], "lift")[0]
    assert hero.y == pytest.approx(lift.top)
    assert lift.top < 60


@pytest.mark.slow_in_python
def test_steps_after_a_restored_snapshot_are_the_same(volume: Volume) -> None:
    engine = Watched()
    frames = throw(engine, n_steps=volume(300, 300, least=20))

    placed = [box for _, box, _ in engine.added]
    assert max(one.depth(other) for one, other in itertools.combinations(placed, 2)) == 0
    assert engine.outcomes
    assert ec.Outcome.CRUSHED not in engine.outcomes
    assert {apart([frame]) for frame in frames} == {0.0}
    assert boxes(frames[0], "crate") != boxes(frames[-1], "crate")


@pytest.mark.slow_in_python
def test_a_crowd_that_goes_to_one_place_does_not_overlap(volume: Volume) -> None:
    frames = gather(Ours(0), n_chasers=volume(60, 60, least=20), n_steps=volume(180, 180, least=30))

    assert overlap(frames) == 0.0


@pytest.mark.parametrize("case", EIGHT, ids=lambda case: case.name)
def test_peer_does_today_what_its_picture_shows(case, kernels) -> None:  # type: ignore[no-untyped-def]
    if not kernels.compiled:
        pytest.skip("the peer has its own kernels")

    assert case.measure(frames_of_peer(case.name)) > max(case.fine + 1, FAR.get(case.name, 0.0))


@pytest.mark.parametrize("case", EIGHT, ids=lambda case: case.name)
def test_words_of_a_picture_stay_in_their_halves(case, kernels) -> None:  # type: ignore[no-untyped-def]
    if not kernels.compiled:
        pytest.skip("words have no kernels")
    painter = pytest.importorskip("demos.app.painter")
    frames = frames_of_peer(case.name)
    scene = SideBySide(case, frames, frames)
    scene.shown = len(frames) - 1

    found = painter.Painter(scene).text_boxes()

    lefts, rights = zip(*((place[0], place[2]) for _, place in found), strict=True)
    assert min(lefts) >= 0
    assert max(rights[:2]) <= HALF
    assert min(lefts[2:]) >= HALF + BETWEEN


@pytest.mark.parametrize("name", ["lift", "one_way"])
def test_a_picture_counts_no_further_once_the_player_has_left_it(name, kernels) -> None:  # type: ignore[no-untyped-def]
    if not kernels.compiled:
        pytest.skip("the peer has its own kernels")
    frames = frames_of_peer(name)
    case = CASES[name]
    scene = SideBySide(case, frames, frames)
    scene.shown = len(frames) - 1

    number = int(re.search(r"[0-9]+", scene.labels()[1].text)[0])

    shown = [boxes(frame, "player")[0] for frame in frames]
    last = [box for box in shown if box.top > case.view.y][-1]
    floor = boxes(frames[shown.index(last)], "lift") + boxes(frames[0], "one-way")
    assert number == round(floor[0].top - last.y)
    assert number < case.measure(frames) / 2


def test_other_settings_of_the_peers_help_as_the_page_says(kernels) -> None:  # type: ignore[no-untyped-def]
    if not kernels.compiled:
        pytest.skip("the peers have their own kernels")
    pytest.importorskip("pymunk")
    pytest.importorskip("pyb2d3")

    assert through(shoot(Pymunk(0, n_steps=8))) == 0
    assert overlap(gather(Pymunk(0, n_steps=8))) < 1.1
    assert overlap(gather(Box2D(0))) < 2
    assert below(land(Box2D(are_bullets=True))) < 0.1


def test_peers_hold_slow_bodies() -> None:
    """The scenes are fair: both peers stop a slow bullet and carry a player who stands."""
    for name, engine in (("pymunk", Pymunk), ("pyb2d3", Box2D)):
        pytest.importorskip(name)
        world = engine()
        floor = Box(0, 0, 200, 20)
        world.add("wall", floor)
        hero = world.add("player", Box(94, 20, 12, 20), DYNAMIC)
        for _ in range(60):
            world.step()
        assert abs(world.box(hero).y - floor.top) < 1
