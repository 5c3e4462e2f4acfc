"""The strategies of the kit, and the state machine that plays a level."""

from __future__ import annotations

from contextlib import suppress

import esper
import pytest

import ecs_collide as ec
from ecs_collide import testing
from ecs_collide.testing.sim import Sim
from tests.screens import need

need("hypothesis")

from hypothesis import HealthCheck, Phase, find, given, settings  # noqa: E402
from hypothesis.stateful import run_state_machine_as_test  # noqa: E402

from ecs_collide.testing.logs import NothingHappensError  # noqa: E402
from ecs_collide.testing.strategies import Box, SampleWorld  # noqa: E402

FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def overlap(one: Box, other: Box) -> bool:
    return all(
        abs(a - b) < h + k
        for a, b, h, k in zip(one.centre, other.centre, one.half, other.half, strict=True)
    )


def none_overlap(boxes: list[Box]) -> bool:
    return not any(overlap(a, b) for n, a in enumerate(boxes) for b in boxes[:n])


@given(testing.boxes(dim=3, reach=10.0, largest=4.0, smallest=1.0))
def test_boxes_are_within_their_limits(box):
    assert len(box.centre) == len(box.half) == 3
    assert all(abs(part) <= 10.0 for part in box.centre)
    assert all(1.0 <= part <= 4.0 for part in box.half)


def test_boxes_that_touch_exactly_are_found():
    def touch(box):
        return box.centre[0] + box.half[0] == 5.0

    assert touch(find(testing.boxes(reach=10.0), touch))


@given(testing.tile_floors(tile=16.0))
def test_tiles_of_a_floor_lie_flush_without_gaps(tiles):
    columns = sorted({tile.centre[0] for tile in tiles})

    assert columns == [8.0 + 16.0 * n for n in range(len(columns))]
    assert len(set(tiles)) == len(tiles)
    assert none_overlap(list(tiles))


@given(testing.crowds(dim=3))
def test_crowds_begin_apart_from_each_other(movers):
    assert none_overlap([mover.box for mover in movers])


@given(testing.worlds())
@FEW
def test_worlds_are_built_and_nobody_gets_inside_anybody(sample):
    assert none_overlap([*sample.solids, *(mover.box for mover in sample.movers)])
    with Sim() as sim:
        sim.build(sample.build)
        with testing.assert_never_inside(), testing.assert_contacts_balanced():
            sim.step(12)
        side = max(box.centre[1] for box in sample.solids)
        for x, y in sim.space.positions():
            assert -side < x < 2 * side
            assert -side < y < 2 * side


@given(testing.worlds(), testing.input_scripts(["left", "right"], steps=20))
@settings(FEW, max_examples=4)
def test_worlds_repeat_in_other_orders_and_with_other_margins(sample, script):
    with suppress(NothingHappensError):
        testing.assert_repeats(sample.build, script, variants=["order", "margins"])


def test_world_prints_as_a_program_that_builds_it_again():
    sample = find(testing.worlds(), lambda sample: len(sample.movers) > 1)
    names = {name: getattr(ec, name) for name in ("Deflect", "Push", "Slide", "Stop")}
    text = repr(sample).replace("<class 'ecs_collide.components.basics.", "").replace("'>", "")

    from ecs_collide.testing import strategies

    assert eval(text, vars(strategies) | names) == sample
    assert isinstance(sample, SampleWorld)


@given(testing.input_scripts(["left", "jump"], steps=40, most=5))
def test_scripts_hold_known_inputs_for_so_many_steps_at_most(script):
    assert sum(n for _, n in script) <= 40
    assert {name for names, _ in script for name in names.split()} <= {"left", "jump"}


# -- playing a level --


class Player:
    """What the inputs move."""


class Keys:
    left = right = False


class Level:
    """A room with a step; it may lack a wall, hold the player fast, or let it into a wall."""

    def __init__(self, left_wall=True, grip=False, ghost=False):
        self.keys = Keys()
        solids = [((15, -5), (35, 5)), ((45, 25), (5, 25)), ((20, 4), (5, 4))]
        for centre, half in solids + [((-15, 25), (5, 25))] * left_wall:
            esper.create_entity(ec.Position(centre), ec.Extents(half))
        self.velocity = ec.Velocity(0, 0)
        body = ec.Position(0, 4), ec.Extents(4, 4), self.velocity, ec.Slide()
        self.player = esper.create_entity(*body, Player())
        self.space = ec.install()
        self.grip, self.ghost = grip, ghost

    def step(self):
        place = esper.component_for_entity(self.player, ec.Position)
        speed = 300.0 * (self.keys.right - self.keys.left)
        self.velocity.x = 0.0 if self.grip and place.x > 5 else speed
        self.velocity.y -= 10.0
        if self.ghost and place.x > 10:
            place.x += 3.0
        esper.process(1 / 60)


def play(build, max_examples=50, **how):
    machine = testing.level_machine(build, ["left", "right"], player=Player, **how)
    run_state_machine_as_test(
        machine,
        settings=settings(
            FEW,
            max_examples=max_examples,
            stateful_step_count=12,
            database=None,
            derandomize=True,
            phases=[Phase.generate],  # to shrink what was found takes a minute
        ),
    )


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_level_that_is_sound_is_played_without_a_complaint():
    before = esper.list_worlds()

    play(Level, max_examples=15, stuck_after=0.2)

    assert esper.list_worlds() == before


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param({"left_wall": False}, "is outside the map", id="hole"),
        pytest.param({"grip": True}, "the player is stuck at", id="grip", marks=pytest.mark.long),
        pytest.param({"ghost": True}, "inside each other", id="ghost", marks=pytest.mark.long),
    ],
)
def test_level_with_a_fault_is_found_out_and_leaves_a_recording(fault, words, folder):
    bounds = ((-20, -10), (50, 50))

    with pytest.raises(AssertionError, match=words) as caught:
        play(lambda: Level(**fault), stuck_after=0.2, bounds=bounds)

    assert "python -m ecs_collide.recording" in str(caught.value)
    assert list(folder.glob(".ecs_collide/*.rec"))
