"""The kit of tests knows levels that change: searches, rollback, repeats and recordings."""

from __future__ import annotations

from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from ecs_collide.recording.recording import Recording
from tests.levels.test_digger import Digger, Game, build


@pytest.fixture
def game(sim: testing.Sim) -> Game:
    game = sim.build(build)
    sim.step(20)
    return game


def test_way_through_a_wall_is_dug_by_the_search(sim: testing.Sim, game: Game) -> None:
    goal = (23, 11), (27, 14)  # two tiles below
    before = sim.space.state_hash()

    found = testing.reach(sim, Digger, goal, ["right", "dig"], hold=10)

    assert found
    assert any("dig" in names for names, _ in found.tape)
    assert sim.space.state_hash() == before
    assert game.level.tile_at((25, 25)).type == "earth"
    sim.play(found.tape)
    assert esper.component_for_entity(game.hero, ec.Position).y <= 21
    assert game.level.tile_at((25, 25)) is None


def test_digging_is_safe_for_rollback_and_repeats() -> None:
    script = [("dig", 5), ("build", 3), ("right dig", 4)]

    testing.assert_rollback_safe(build, script, distance=3)
    testing.assert_repeats(build, script, variants=("again",))


def test_recording_of_a_digger_is_saved_and_read(
    sim: testing.Sim, game: Game, tmp_path: Path
) -> None:
    sim.play([("dig", 10), ("build", 10)])

    path = tmp_path / "digger.ecr"
    sim.recording.save(path)

    again = Recording.load(path)
    (cells,) = [
        fields["Cells"] for fields in again.frames[-1].entities.values() if "Cells" in fields
    ]
    assert cells["changes"]
