"""Recordings: what they hold, how two are compared, and how one is played."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import math
import random
import struct
import time
import tracemalloc
import zlib
from dataclasses import dataclass, replace
from enum import Enum

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.recording import replay
from ecs_collide.recording.frames import Frame, compare_frames, plain, read_frame, same
from ecs_collide.recording.recording import Recording, RecordingError, first_difference
from tests.scenes import another_world
from tests.screens import need_screen

DT = 1 / 60


class Player:
    """Marks the body that falls."""


class Mood(Enum):
    STEPS_TO_SLEEP = 1
    ANGRY = 2


class Health:
    def __init__(self, points):
        self.points = points
        self.mood = Mood.STEPS_TO_SLEEP
        self.owner = object()


def next_up(number):
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return struct.unpack("<d", struct.pack("<q", bits + 1))[0]


def build(*own):
    """Let a box slide over a floor and off its end; return the space and the box's velocity."""
    esper.create_entity(ec.Position(0, -10), ec.Extents(30, 10))
    velocity = ec.Velocity(60, -60)
    esper.create_entity(ec.Position(0, 4), ec.Extents(2, 2), velocity, ec.Slide(), Player(), *own)
    return ec.install(), velocity


def run(n_steps=40, nudge_before=None, **how):
    """Record a run in a world of its own; `nudge_before` changes one bit of a velocity."""
    with another_world("recorded"):
        space, velocity = build()
        recorder = ec.record(space, **how)
        for step in range(1, n_steps + 1):
            if step == nudge_before:
                velocity.x = next_up(velocity.x)
            velocity.y -= 60 * DT
            esper.process(DT)
        return recorder.recording


# -- what is recorded --


def test_recording_has_a_frame_before_the_first_step_and_after_each(world):
    recording = run(5)

    assert [frame.step for frame in recording.frames] == [0, 1, 2, 3, 4, 5]
    assert recording.n_steps == 5
    assert recording.frame(0).entities[2]["Position"] == {"x": 0.0, "y": 4.0}
    assert recording.frame(5).time == pytest.approx(5 * DT)


def test_frame_holds_events_contacts_and_fingerprint_of_its_step(world):
    space, _ = build()
    recorder = ec.record(space)
    for _ in range(3):
        esper.process(DT)

    frame = recorder.frames[-1]

    assert frame.digest == space.state_hash().hex()
    assert len(frame.contacts) == len(space.contacts())
    events = [event for each in recorder.frames for event in each.events]
    assert {event["event"] for event in events} >= {"Collision", "ContactBegan"}
    collision = next(event for event in events if event["event"] == "Collision")
    assert (collision["first"], collision["second"], collision["kind"]) == (1, 2, "IMPACT")


def test_fields_of_a_games_own_components_are_recorded_and_objects_are_skipped(world):
    space, _ = build(Health(3))

    frame = read_frame(space)

    assert frame.entities[2]["Health"] == {"points": 3, "mood": "STEPS_TO_SLEEP"}
    assert frame.label(2) == "2 (Health, Player)"
    assert frame.label(1) == "1"


def test_inputs_are_recorded_as_they_were_before_the_step(world):
    space, _ = build()
    keys = {"right": False}
    recorder = ec.record(space, keys)

    class Release(esper.Processor):
        def process(self, dt):
            keys["right"] = False

    esper.add_processor(Release())
    keys["right"] = True
    esper.process(DT)
    esper.process(DT)

    assert [frame.inputs for frame in recorder.frames] == [{}, {"right": True}, {"right": False}]


def test_two_recorders_in_one_world_stop_each_on_its_own(world):
    space, _ = build()
    first, second = ec.record(space), ec.record(space)
    esper.process(DT)

    first.stop()
    esper.process(DT)

    assert (first.n_steps, second.n_steps) == (1, 2)
    second.stop()
    esper.process(DT)
    assert second.n_steps == 2


def test_recorder_keeps_the_last_steps_only_if_it_is_limited(world):
    recording = run(9, limit=3)

    assert recording.span() == "6 to 9"
    with pytest.raises(KeyError, match="step 2 is not in the recording of steps 6 to 9"):
        recording.frame(2)


def test_recording_changes_no_step(world):
    def hashes(records):
        with another_world("watched"):
            space, _ = build()
            if records:
                ec.record(space)
            found = []
            for _ in range(30):
                esper.process(DT)
                found.append(space.state_hash())
        return found

    assert hashes(True) == hashes(False)


def test_record_refuses_what_is_no_space(world):
    with pytest.raises(TypeError, match="must be given a Space"):
        ec.record(esper)


# -- comparing --


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (0.0, -0.0, False),
        (0.1 + 0.2, 0.3, False),
        (math.nan, math.nan, True),
        (1, 1.0, False),
        (1, True, False),
        ([1.0, [0.0]], [1.0, [-0.0]], False),
        ({"a": 0.0}, {"a": -0.0}, False),
        ({"a": 1}, {"b": 1}, False),
        ("a", "a", True),
    ],
)
def test_values_are_the_same_if_every_bit_is(first, second, is_same):
    assert same(first, second) is is_same


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        (1, 1.0, True),
        (True, 1.0, True),
        ([0, [1]], [0.0, [1.0]], True),
        (0, -0.0, False),
        (2**53 + 1, float(2**53), False),
        (1, 1.5, False),
        (0, None, False),
    ],
)
def test_restored_numbers_are_the_same_whatever_their_type(first, second, is_same):
    one, other = (
        Frame(0, 0.0, 0.0, {}, {1: {"Aim": {"way": value}}}, (), (), "")
        for value in (first, second)
    )

    assert (not compare_frames(one, other, types=False)) is is_same
    assert len(compare_frames(one, other)) == 1


def test_one_bit_in_one_field_is_named_with_its_step_and_entity(world):
    found = first_difference(run(), run(nudge_before=17))

    assert found.step == 17
    differences = [str(difference) for difference in found.differences]
    assert f"entity 2 (Player): Velocity.x 60.0 against {next_up(60.0)!r}" in differences
    assert str(found).startswith("step 17 is the first that differs:")
    assert "events of step 17:" in str(found)


def test_equal_runs_have_no_difference(world):
    assert first_difference(run(), run()) is None


def test_run_that_ends_before_the_other_differs_in_its_end(world):
    found = first_difference(run(3), run(5))

    assert found.step == 4
    assert "ends after step 3 against ends after step 5" in str(found)


def test_entities_components_and_events_that_one_run_lacks_are_named(world):
    space, velocity = build(Health(1))
    before = read_frame(space)
    esper.remove_component(2, Health)
    esper.create_entity(ec.Position(5, 5), Player())
    velocity.y = -400.0
    esper.process(DT)

    found = [str(each) for each in compare_frames(before, read_frame(space))]

    assert "entity 2 (Health, Player): Health there against absent" in found
    assert "entity 3 (Player): absent against Player, Position" in found
    assert any(line.startswith("events: absent against Collision of 1 and 2") for line in found)


def test_difference_that_no_component_shows_is_told_by_the_fingerprint(world):
    space, _ = build()
    esper.process(DT)
    frame = read_frame(space)
    other = replace(frame, digest="00")

    (found,) = compare_frames(frame, other)

    assert found.name == "state_hash"


# -- files --


def test_file_gives_back_every_frame(world, tmp_path):
    recording = run(inputs=lambda: {"right": True, "way": [1, -0.0, "up", None]})

    path = recording.save(tmp_path / "new" / "run.rec")
    loaded = Recording.load(path)

    assert loaded.frames == recording.frames
    assert first_difference(recording, loaded) is None
    assert loaded.about["dim"] == 2


def test_file_gives_back_numbers_that_are_not_finite_and_entities_that_come_and_go(world, tmp_path):
    space, _ = build(Health(math.inf))
    recorder = ec.record(space)
    for step in range(6):
        if step == 2:
            esper.create_entity(Player(), Health(math.nan))
        if step == 4:
            esper.delete_entity(2)
        esper.process(DT)

    loaded = Recording.load(recorder.save(tmp_path / "run.rec"))

    assert first_difference(recorder.recording, loaded) is None
    assert [sorted(frame.entities) for frame in loaded.frames][-1] == [1, 3]


def test_recorder_keeps_the_trees_of_each_step_if_it_is_asked_to(world, tmp_path):
    for n in range(80):  # so many that some branches lie above others
        esper.create_entity(ec.Position(9 * n, -50), ec.Extents(1, 1))
    space, _ = build()
    frames = []
    recorder = ec.record(space, trees=True)
    for _ in range(20):
        esper.process(DT)
        low, high = space.fat_bounds()
        branches = space.branches()
        frames.append((np.hstack((low, high)).tolist(), sorted(branches.depths, reverse=True)))

    loaded = Recording.load(recorder.save(tmp_path / "run.rec"))

    assert [frame.trees for frame in loaded.frames] == [frame.trees for frame in recorder.frames]
    assert loaded.frames[0].trees == {"fat": [], "branches": []}  # it knows no bodies before a step
    for frame, (fat, depths) in zip(loaded.frames[1:], frames, strict=True):
        assert frame.trees["fat"] == fat
        assert [row[4] for row in frame.trees["branches"]] == depths
        assert depths[0] > depths[-1]
    assert 1 < len({str(frame.trees["fat"]) for frame in loaded.frames}) < 20  # few escapes
    assert not any(frame.trees for frame in run(3).frames)


def test_damaged_file_is_refused_and_no_other_error_is_raised(world, tmp_path):
    path = run(6).save(tmp_path / "run.rec")
    data = path.read_bytes()
    chance = random.Random(5)

    for _ in range(100):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(broken[: chance.randrange(len(broken))])
        with pytest.raises(RecordingError):
            Recording.load(path)


def test_file_of_another_format_is_refused_with_its_format(tmp_path):
    path = tmp_path / "run.rec"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps({"format": "ecs_collide recording 99"}) + "\n")

    with pytest.raises(RecordingError, match="has format 'ecs_collide recording 99'"):
        Recording.load(path)


# -- files from strangers --

ABOUT = {"format": "ecs_collide recording 1", "dim": 2, "wrap": None, "up": [0.0, 1.0]}


def line(step, gone=(), changed=None, **others):
    """Return a frame as it is in a file."""
    rest = {"inputs": {}, "contacts": [], "events": [], "digest": "00", **others}
    return {
        "step": step,
        "dt": 0.1,
        "time": 0.1,
        "gone": list(gone),
        "changed": changed or {},
    } | rest


def forge(path, *lines, **about):
    with gzip.open(path, "wt") as file:
        for each in ({**ABOUT, **about}, *lines):
            file.write((each if isinstance(each, str) else json.dumps(each)) + "\n")
    return path


def bomb(n_megabytes):
    """Return a packed snapshot of zeros, as text."""
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(bytes(2**20)) for _ in range(n_megabytes))
    return base64.b85encode(packed + packer.flush()).decode()


BOMB = bomb(64)
MANY = {str(entity): {} for entity in range(1500)}
FORGED = {
    "a snapshot that unpacks to 64 megabytes": [line(0, snapshot=BOMB)],
    "a line of 16 megabytes": [" " * 2**24],
    "a line of a million lists": ["[" + "[]," * 10**6 + "1]"],
    "a line of 100,000 levels": ["[" * 10**5],
    "many entities in many frames": [line(0, changed=MANY), *map(line, range(1, 1500))],
    "257 components": [line(0, changed={"1": {f"A{n}": {} for n in range(257)}})],
    "values on eight levels": [line(0, changed={"1": {"A": {"x": [[[[[[[[1]]]]]]]]}}})],
    "a line that is no object": ["[1]"],
    "a line without a digest": [json.dumps({**line(0)}).replace("digest", "other")],
    "steps with a gap": [line(0), line(2**40)],
    "a step that is no number": [line("0")],
    "a step below 0": [line(-1)],
    "a time without end": [line(0, time=math.inf)],
    "a time of 400 digits": [line(0, time=10**400)],
    "a number of 5,000 digits": [json.dumps(line(0)).replace("0.1", "1" * 5000, 1)],
    "an entity that is no number": [line(0, changed={"one": {}})],
    "an entity of many digits": [line(0, changed={"1" * 100: {}})],
    "components that are none": [line(0, changed={"1": 5})],
    "fields that are none": [line(0, changed={"1": {"A": [1]}})],
    "an entity that leaves and was not there": [line(0, gone=[7])],
    "an entity that leaves and is a list": [line(0, gone=[[7]])],
    "contacts that are none": [line(0, contacts=[5])],
    "an event of nobody": [line(0, events=[{"event": "Collision"}])],
    "an event of lists": [line(0, events=[{"first": [1], "second": 2}])],
    "a kind of event that is no text": [line(0, events=[{"event": 5, "first": 1, "second": 2}])],
    "inputs that are none": [line(0, inputs=[1])],
    "a digest that is no text": [line(0, digest=5)],
    "trees that are none": [line(0, trees=[1])],
    "trees without branches": [line(0, trees={"fat": []})],
    "fat bounds of three numbers": [line(0, trees={"fat": [[1, 2, 3]], "branches": []})],
    "a branch of text": [line(0, trees={"fat": [], "branches": ["123456"]})],
    "a branch without end": [line(0, trees={"fat": [], "branches": [[math.inf] * 6]})],
    "a snapshot that is no text": [line(0, snapshot=5)],
    "a snapshot of other bytes": [
        line(0, snapshot=base64.b85encode(zlib.compress(b"none")).decode())
    ],
    "a snapshot that is cut": [line(0, snapshot=bomb(0)[:-5])],
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_recording_is_refused_at_loading_within_its_room(name, tmp_path, capsys):
    path = forge(tmp_path / "forged.rec", *FORGED[name])

    tracemalloc.start()
    try:
        with pytest.raises(RecordingError, match="is no recording, or it is damaged") as caught:
            Recording.load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(str(caught.value)) < len(str(path)) + 300
    assert peak < 2**25 + 2**13 * path.stat().st_size
    for how in ([], ["--text"], ["--step", "0"], ["--compare", str(path)]):
        assert replay.main([str(path), *how]) == 2
        assert "is no recording, or it is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "about",
    [
        {"dim": 5},
        {"dim": [2]},
        {"dim": 2.0},
        {"wrap": 5},
        {"wrap": [-1, 2]},
        {"up": [3, 4]},
        {"up": 7},
        {"up": [10**400, 1]},
        {"written": [1]},
        {"format": [[]] * 1000},
    ],
    ids=lambda about: str(about)[:30],
)
def test_recording_of_a_space_that_cannot_be_is_refused_at_loading(about, tmp_path):
    path = forge(tmp_path / "forged.rec", line(0), **about)

    with pytest.raises(RecordingError) as caught:
        Recording.load(path)

    assert len(str(caught.value)) < len(str(path)) + 300


def test_recording_in_which_many_entities_leave_is_loaded_in_linear_time(tmp_path):
    entities = {str(entity): {} for entity in range(20_000)}
    path = forge(tmp_path / "run.rec", line(0, changed=entities), line(1, gone=range(19_999)))

    before = time.process_time()
    loaded = Recording.load(path)

    assert time.process_time() - before < 5.0  # 40 s if each entity looks through all that leave
    assert list(loaded.frames[1].entities) == [19_999]


def test_entities_that_return_under_low_ids_are_sorted(tmp_path):
    path = forge(
        tmp_path / "run.rec",
        line(0, changed={"5": {}, "9": {"A": {"x": 1}}}),
        line(1, changed={"2": {}, "9": {"A": None, "B": {}}}),
        line(2, gone=[5], changed={"7": {}}),
    )

    frames = Recording.load(path).frames

    assert [list(frame.entities) for frame in frames] == [[5, 9], [2, 5, 9], [2, 7, 9]]
    assert [frame.entities[9] for frame in frames] == [{"A": {"x": 1}}, {"B": {}}, {"B": {}}]


def test_world_at_rest_is_packed_less_tightly_than_a_loader_allows(world, tmp_path):
    esper.create_entity(ec.Position(0, -1), ec.Extents(100, 1))
    for n in range(12):
        esper.create_entity(ec.Position(2 * n, 1), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide())
    recorder = ec.record(ec.install(gravity=(0, -10)), snapshots=False)
    frame = recorder.take(0.0)
    esper.process(DT)
    for _ in range(400):
        recorder.frames.append(replace(recorder.frames[-1], step=recorder.frames[-1].step + 1))

    path = recorder.save(tmp_path / "run.rec")

    assert frame.step == 1
    with gzip.open(path) as file:
        assert 40 < len(file.read()) / path.stat().st_size < 140
    assert len(Recording.load(path).frames) == 403


def test_text_from_a_stranger_does_not_command_the_terminal(tmp_path, capsys):
    evil = "\x1b]0;owned\x07\ud800"
    event = {"event": evil, "first": 1, "second": 2, "kind": evil}
    path = forge(
        tmp_path / "run.rec",
        line(0, changed={"1": {evil: {evil: evil}}}, inputs={evil: True}, events=[event]),
    )
    other = forge(tmp_path / "other.rec", line(0, changed={"1": {evil: {evil: "\x07"}}}))

    for how in (["--text"], ["--step", "0"], ["--compare", str(other)], ["--step", "9"]):
        replay.main([str(path), *how])
        shown = capsys.readouterr()
        assert "\x1b" not in shown.out + shown.err
        assert "\x07" not in shown.out + shown.err
        shown.out.encode()


def seal(data):
    """Return a changed snapshot with the checksum of its bytes."""
    head = bytearray(data[:32])
    head[24:] = bytes(8)
    rest = bytes(head) + data[32:]
    return data[:24] + struct.pack("<Q", zlib.crc32(rest) << 32 | zlib.adler32(rest)) + data[32:]


def test_sealed_snapshot_that_contradicts_itself_is_refused_when_it_is_shown(world, tmp_path):
    recording = run(3)
    data = bytearray(recording.frames[2].snapshot)
    data[-40:] = b"\xff" * 40
    recording.frames[2] = replace(recording.frames[2], snapshot=seal(bytes(data)))
    player = replay.Player(Recording.load(recording.save(tmp_path / "run.rec")))

    try:
        with pytest.raises(RecordingError, match="step 2 cannot be shown: the snapshot contradict"):
            player.seek(2)
        player.seek(3)
        assert player.space.state_hash().hex() == player.frame.digest
    finally:
        player.close()


def test_recording_whose_first_step_cannot_be_shown_leaves_no_world(world, tmp_path, capsys):
    recording = run(1)
    data = recording.frames[0].snapshot
    recording.frames[0] = replace(recording.frames[0], snapshot=seal(data[:-9] + b"\xff" * 9))
    path = recording.save(tmp_path / "run.rec")
    worlds, current = set(esper.list_worlds()), esper.current_world

    assert replay.main([str(path)]) == 2
    assert "step 0 cannot be shown" in capsys.readouterr().err
    assert set(esper.list_worlds()) == worlds
    assert esper.current_world == current


STRANGE = (
    *(None, True, -1, 2**70, 10**400, math.nan, math.inf, "", "\x00\ud800", "9" * 30, [], {}),
    *([[[[[[[[[]]]]]]]]], [{}], {"": None}, {"first": [], "second": {}}, {"7": {"A": {"x": []}}}),
)


def change(content, chance):
    """Return JSON in which one value is another, or one key."""
    if isinstance(content, (dict, list)) and content and chance.random() < 0.9:
        key = chance.choice(list(content) if isinstance(content, dict) else range(len(content)))
        if isinstance(content, dict) and chance.random() < 0.1:
            content[str(chance.choice(STRANGE))] = content.pop(key)
        else:
            content[key] = change(content[key], chance)
        return content
    return copy.deepcopy(chance.choice(STRANGE))


def test_forged_values_anywhere_are_refused_or_shown(world, tmp_path, volume, capsys):
    path = run(6, inputs={"right": True}, trees=True).save(tmp_path / "run.rec")
    with gzip.open(path, "rt") as file:
        good = [json.loads(each) for each in file]
    chance, forged, n_refused = random.Random(11), str(tmp_path / "forged.rec"), 0
    for n in range(volume(60, 160, 1000)):
        lines = copy.deepcopy(good)
        at = chance.randrange(len(lines))
        lines[at] = change(lines[at], chance)
        with gzip.open(forged, "wt", compresslevel=1) as file:
            file.writelines(json.dumps(each) + "\n" for each in lines)
        try:
            Recording.load(forged)
        except RecordingError:
            n_refused += 1
            continue
        for how in (["--text"], ["--step", "2"], ["--compare", str(path)]):
            assert replay.main([forged, *how]) in (0, 1, 2), (n, lines[at])
        capsys.readouterr()
    assert n_refused


def test_values_that_are_no_plain_data_are_skipped():
    marker = plain(object())

    assert plain([1, object()]) is marker
    assert plain([[[[1]]]]) is marker  # deep ones, and those that hold themselves
    assert plain(list(range(65))) is marker
    assert plain({2, 1}) == [1, 2]
    assert plain(Mood.ANGRY) == "ANGRY"


# -- playing --


@pytest.fixture
def player(world):
    found = replay.Player(run(inputs=lambda: {"right": True, "left": False}))
    yield found
    found.close()


def test_player_shows_any_step_as_it_was(player):
    for step in (0, 40, 7, 39, 8):
        player.seek(step)

        assert player.step == step
        assert player.space.state_hash().hex() == player.frame.digest
        assert len(player.space.contacts()) == len(player.frame.contacts)


def test_player_shows_a_world_whose_components_it_does_not_have(world):
    @dataclass
    class Fuel:
        left: float
        stage: int = 0

    with another_world("recorded"):
        fuel, tag = Fuel(1.0), Health(3)
        space, _ = build(fuel, ec.Random(5), tag)
        space.snapshot_with(
            Health, lambda health: b"%d" % health.points, lambda data: Health(int(data))
        )
        recorder = ec.record(space)
        for step in range(9):
            fuel.left, fuel.stage, tag.points = fuel.left / 3, step % 2, step
            esper.process(DT)
        recorder.stop()
        recording = recorder.recording
    player = replay.Player(recording)
    try:
        for step in (0, 9, 4):
            player.seek(step)

            assert player.space.state_hash().hex() == player.frame.digest
    finally:
        player.close()


def test_player_stays_within_the_recording(player):
    player.seek(-5)
    assert player.step == 0
    player.seek(1000)
    assert player.step == 40


def test_player_plays_to_the_end_and_begins_anew(player):
    player.seek(38)
    player.toggle()
    player.advance()
    assert (player.step, player.is_playing) == (39, True)
    player.advance()
    assert (player.step, player.is_playing) == (40, False)
    player.advance()
    assert player.step == 40

    player.toggle()

    assert (player.step, player.is_playing) == (0, True)


def test_player_says_where_it_is_and_what_is_pressed(player):
    player.seek(3)

    assert player.status() == f"step 3 of 40   {player.frame.time:.3f} s   inputs right   1 events"


def test_player_shows_a_game_whose_components_it_does_not_know(world):
    space, _ = build(Health(3))
    space.snapshot_with(Health, lambda health: bytes([health.points]), lambda data: Health(*data))
    recorder = ec.record(space)
    esper.process(DT)
    player = replay.Player(recorder.recording)

    player.seek(1)

    assert player.space.positions().tolist() == space_positions(recorder)
    player.close()


def space_positions(recorder):
    bodies = recorder.frames[-1].entities.values()
    return [[body["Position"]["x"], body["Position"]["y"]] for body in bodies]


def test_recording_of_a_space_that_cannot_be_saved_has_no_pictures_and_says_so(world):
    class Place:
        def __init__(self, x, y):
            self.x, self.y = x, y

    esper.create_entity(Place(0, 0), ec.Extents(1, 1))
    recorder = ec.record(ec.install(components=ec.Components(position=Place)))
    esper.process(DT)

    assert recorder.frames[-1].entities[1]["Place"] == {"x": 0, "y": 0}
    with pytest.raises(RecordingError, match="has no snapshots to show"):
        replay.Player(recorder.recording)


def test_command_compares_two_files(world, tmp_path, capsys):
    first = str(run().save(tmp_path / "first.rec"))
    second = str(run(nudge_before=17).save(tmp_path / "second.rec"))

    assert replay.main([first, "--compare", first]) == 0
    assert capsys.readouterr().out == "the same in steps 0 to 40\n"
    assert replay.main([first, "--compare", second]) == 1
    assert "entity 2 (Player): Velocity.x 60.0 against" in capsys.readouterr().out


def test_command_prints_a_step_with_its_picture(world, tmp_path, capsys):
    path = str(run().save(tmp_path / "run.rec"))

    assert replay.main([path, "--step", "1"]) == 0

    shown = capsys.readouterr().out
    assert "entity 2 (Player)\n  Position x=" in shown
    assert "| ###" in shown
    assert replay.main([path, "--step", "99"]) == 2
    assert "step 99 is not in the recording of steps 0 to 40" in capsys.readouterr().err


def test_command_prints_events_of_all_steps(world, tmp_path, capsys):
    path = str(run().save(tmp_path / "run.rec"))

    assert replay.main([path, "--text"]) == 0

    assert "ContactBegan of 1 and 2 (Player), time " in capsys.readouterr().out


def test_command_says_what_is_wrong_with_a_file(tmp_path, capsys):
    path = tmp_path / "run.rec"
    path.write_text("no recording")

    assert replay.main([str(path)]) == 2
    assert "is no recording" in capsys.readouterr().err
    assert replay.main([str(tmp_path / "missing.rec")]) == 2


def test_window_shows_the_bodies_and_obeys_its_keys(player):
    need_screen()
    from pyglet.window import key

    from tests.screens import pixels

    viewer = replay.Viewer(player, visible=False)
    try:
        viewer.on_draw()
        shown = pixels()[:, :, :3].reshape(-1, 3)
        assert len({tuple(colour) for colour in shown[::97].tolist()}) > 1

        for symbol, modifiers, step in [
            (key.RIGHT, 0, 1),
            (key.UP, 0, 40),
            (key.LEFT, 0, 39),
            (key.HOME, 0, 0),
            (key.RIGHT, key.MOD_SHIFT, 40),
        ]:
            assert viewer.on_key_press(symbol, modifiers)
            assert player.step == step
        assert viewer.on_key_press(key.SPACE, 0)
        assert player.is_playing
        assert not viewer.on_key_press(key.A, 0)
    finally:
        viewer.window.close()
