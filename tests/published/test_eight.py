"""The eight published bugs of the pictures, here and in the peers that show them."""

from __future__ import annotations

import pytest

from tests.controllers.worlds import Box
from tests.published.eight import EIGHT, apart, boxes, gather, overlap, shove, stops, through
from tests.published.engines import DYNAMIC, Box2D, Ours, Pymunk
from tests.volume import Volume

BUGS = {bug.name: bug for bug in EIGHT}

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_bullets_of_up_to_6000_pixels_a_second_stop_at_a_wall_of_6() -> None:
    frames = BUGS["tunnelling"].ours()

    assert through(frames) == 0
    assert [box.right for box in boxes(frames[-1], "bullet")] == [180.0] * 4


def test_a_player_falls_along_the_seams_of_a_wall_as_fast_as_beside_it() -> None:
    frames = BUGS["seams"].ours()
    beside = Ours()
    hero = beside.add("player", frames[0][-1][1].moved(-500, 0), DYNAMIC)
    for _ in frames[1:]:
        beside.step()

    assert stops(frames) == 0
    assert boxes(frames[-1], "player")[0].y == beside.box(hero).y


def test_a_rider_does_not_tremble_on_a_lift_that_sinks() -> None:
    bug = BUGS["trembling"]

    assert bug.measure(bug.ours()) == 0.0


def test_a_player_who_falls_onto_a_rising_lift_lands_on_it() -> None:
    frames = BUGS["lift"].ours()

    hero, lift = boxes(frames[-1], "player")[0], boxes(frames[-1], "lift")[0]
    assert abs(hero.y - lift.top) < 1e-9


def test_a_player_walks_from_one_one_way_platform_to_the_next() -> None:
    frames = BUGS["one_way"].ours()

    feet = {boxes(frame, "player")[0].y for frame in frames[30:]}
    assert feet == {65.0}
    assert boxes(frames[-1], "player")[0].x == pytest.approx(24 + 90 * 89 / 60)


def test_a_lift_that_crushes_is_reported_within_a_step_and_can_turn_back() -> None:
    frames = BUGS["crushed"].ours()

    assert BUGS["crushed"].measure(frames) == pytest.approx(1.0)  # of a step: 60 / 60
    hero, lift = boxes(frames[-1], "player")[0], boxes(frames[-1], "lift")[0]
    assert hero.y == pytest.approx(lift.top)
    assert lift.top < 60


@pytest.mark.slow_in_python
def test_steps_after_a_restored_snapshot_are_the_same(volume: Volume) -> None:
    frames = shove(Ours(), n_steps=volume(300, 300, least=20))

    assert apart(frames) == 0.0
    assert frames[0] != frames[-1]


@pytest.mark.slow_in_python
def test_a_crowd_that_goes_to_one_place_does_not_overlap(volume: Volume) -> None:
    frames = gather(Ours(0), n_chasers=volume(60, 60, least=20), n_steps=volume(180, 180, least=30))

    assert overlap(frames) == 0.0


@pytest.mark.parametrize("bug", EIGHT, ids=lambda bug: bug.name)
def test_peer_shows_the_bug_today(bug, kernels) -> None:  # type: ignore[no-untyped-def]
    if not kernels.compiled:
        pytest.skip("the peer has its own kernels")
    if bug.needs:
        package = pytest.importorskip(bug.needs)
        if bug.needs == "pymunk" and int(package.version.split(".")[0]) < 7:
            pytest.skip("the page shows pymunk 7")

    assert bug.measure(bug.theirs()) > bug.fine + 1


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
