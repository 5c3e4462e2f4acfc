"""Which bytes are no snapshot: damaged, cut short, foreign, or made to look right."""

from __future__ import annotations

import ast
import json
import math
import random
import struct
import warnings
import zlib
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.snapshot import capture, codec, column_codec, plain, schema
from ecs_collide.snapshot.rounding import ROUNDED_NUMBER
from tests.scenes import box, gas, mixed_bodies, mover
from tests.snapshot.test_snapshots import Score
from tests.snapshot.test_snapshots_of_own import Health, remember_health

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.fixture
def busy():
    """Return a space with a bit of everything, one snapshot of it, and another later one."""
    for body in mixed_bodies():
        esper.create_entity(*body)
    space = ec.install()
    remember_health(space)
    esper.add_component(70, Health(3))
    for n in range(4):
        esper.add_component(70 + n, Score(n, n / 3, n > 2, (None, 5)[n % 2]))
    esper.add_component(72, ec.Random(2**63 + 1))
    while not (len(space.collision_array) and len(space.contact_array)):
        esper.process(1 / 60)
    esper.delete_entity(90)
    esper.component_for_entity(91, ec.Position).x += 1.0
    data = space.snapshot()
    for _ in range(3):
        esper.process(1 / 60)
    return space, data, space.snapshot()


def test_flipped_bits_are_refused_and_the_world_is_untouched(busy, volume):
    space, data, now = busy
    rng = random.Random(1)

    for n in range(volume(2000, 4_000, 10_000)):
        damaged = bytearray(data)
        for _ in range(1 + n % 3):
            at = rng.randrange(8 * len(data)) if n % 4 else rng.randrange(8 * 200)
            damaged[at >> 3] ^= 1 << (at & 7)
        if bytes(damaged) == data:
            continue
        with pytest.raises(ValueError, match=r"snapshot|bytes"):
            space.restore(bytes(damaged))
        if n % 100 == 0:
            assert space.snapshot() == now
    assert space.snapshot() == now


def test_what_is_cut_short_or_too_long_is_refused(busy):
    space, data, now = busy
    rng = random.Random(2)
    cuts = [*range(200), *(rng.randrange(len(data)) for _ in range(800)), len(data) - 1]

    for cut in cuts:
        with pytest.raises(ValueError, match="no snapshot" if cut < 32 else f"has {cut} now"):
            space.restore(data[:cut])
    with pytest.raises(ValueError, match="long and has"):
        space.restore(data + b"\0")
    assert space.snapshot() == now


def sealed(data):
    """Return changed bytes with a checksum that says they are as they were given out."""
    start = bytes(data[:24])
    rest = bytes(data[32:])
    whole = start + bytes(8)
    crc, adler = zlib.crc32(rest, zlib.crc32(whole)), zlib.adler32(rest, zlib.adler32(whole))
    return start + struct.pack("<Q", crc << 32 | adler) + rest


def test_bytes_that_were_made_to_look_right_do_no_harm(busy, volume):
    space, data, _ = busy
    assert sealed(data) == data
    rng = random.Random(3)
    n_taken = n_refused = 0

    for n in range(volume(200, 400, 4000, least=60)):
        forged = bytearray(data)
        for _ in range(1 + n % 3):
            at = rng.randrange(32, len(data)) if n % 3 else rng.randrange(32, 800)
            forged[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        try:
            space.restore(sealed(forged))
        except ValueError:
            n_refused += 1
            continue
        n_taken += 1
        space.check()
        for events in (space.collisions, space.contacts_began, space.contacts_ended):
            assert len(list(events)) == len(events)
        if n_taken % 4 == 0:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                esper.process(1 / 60)
    assert n_taken > 10
    assert n_refused > 10
    space.restore(data)
    assert space.snapshot() == data


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("collisions", "kind", 4),
        ("collisions", "outcome", -1),
        ("contact_events", "event", 2),
        ("contact_events", "reason", 9),
        ("contacts", "axis", 2),
        ("contacts", "sign", 0),
        ("contacts", "kind", 5),
        ("contacts", "since", math.nan),
        ("contacts", "first", 10_000),
        ("mismatches", "body", 10_000),
        ("mismatches", "axis", 2),
        ("mismatches", "column", 9),
        ("mismatches", "value", math.nan),
    ],
)
def test_sections_that_contradict_each_other_are_refused(busy, section, field, value):
    space, data, now = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    array = getattr(state, section).copy()
    assert len(array)
    array[field][0] = value
    setattr(state, section, array)

    with pytest.raises(ValueError, match="contradicts itself"):
        space.restore(codec.encode(state))
    assert space.snapshot() == now


@pytest.fixture
def drowsy():
    """Return a space with crates that sleep on a floor and one that a step has reached, saved."""
    box((0, -1), (30, 1))
    for k in range(6):
        mover((4 * (k // 2), 0.5 + k % 2), (0.5, 0.5), (0, 0), ec.Slide())
    lift = mover((20, 5), (1, 1), (0, 0))
    space = ec.install(gravity=(0, -10))
    while space.stats.asleep < 7:
        esper.process(1 / 60)
    mover((17, 5), (0.5, 0.5), (300, 0), ec.Slide())
    esper.process(1 / 60)
    assert space.stats.asleep == 7
    space._registry.sleep.disturbed.append(space._registry.row_of[lift])
    return space, space.snapshot()


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("sleepers", "body", 10_000),
        ("sleepers", "body", 4),  # out of order
        ("sleepers", "body", 8),
        ("sleepers", "leans", 1),
        ("sleepers", "leans", -128),
        ("sleepers", "leans", 64 + 16),
        ("sleepers", "leans", 0),  # but on an island
        ("sleepers", "held", 4),
        ("sleepers", "island", 0),
        ("sleepers", "island", 2),
        ("sleepers", "island", 10_000),
        ("may_wake", "body", 10_000),
        ("may_wake", "why", 0),
        ("may_wake", "why", 8),
        ("rest_count", None, 101),
        ("rest_count", None, -102),
    ],
)
def test_those_who_cannot_have_slept_so_are_refused(drowsy, section, field, value):
    space, data = drowsy
    state = codec.decode(data, 2, capture.WIDTHS)
    assert len(np.unique(state.sleepers["island"])) == 4  # three, and 0 for the lift
    array = getattr(state, section).copy()
    (array if field is None else array[field])[0] = value
    setattr(state, section, array)

    with pytest.raises(ValueError, match="contradicts itself"):
        space.restore(codec.encode(state))
    assert space.snapshot() == data


def test_somebody_who_moves_or_grows_in_its_sleep_is_refused(drowsy):
    space, data = drowsy
    for kind in (ec.Velocity, ec.Growth):
        state = codec.decode(data, 2, capture.WIDTHS)
        stray = np.zeros(1, schema.MISMATCH_RECORD)
        stray["column"] = {ec.Velocity: 2, ec.Growth: 3}[kind]
        stray["body"], stray["value"] = state.sleepers["body"][0], 1.0
        state.mismatches = stray
        with pytest.raises(ValueError, match="contradicts itself"):
            space.restore(codec.encode(state))
        assert space.snapshot() == data


def test_sleepers_that_were_made_to_look_right_do_no_harm(drowsy, volume):
    space, data = drowsy
    rng = random.Random(4)
    n_taken = n_refused = 0

    for n in range(volume(300, 600, 3000, least=60)):
        state = codec.decode(data, 2, capture.WIDTHS)
        for _ in range(1 + n % 3):
            array = getattr(
                state, rng.choice(["sleepers", "may_wake", "rest_count", "flags"])
            ).copy()
            places = array.view(np.uint8)
            places[rng.randrange(len(places))] = rng.choice([0, 1, 2, 64, 65, 128, 254, 255])
            for name in ("sleepers", "may_wake", "rest_count", "flags"):
                if array.dtype == getattr(state, name).dtype:
                    setattr(state, name, array)
        if n % 5 == 0:  # somebody who does not move, or is disabled
            state.sleepers["body"][0] = 0
        try:
            space.restore(codec.encode(state))
        except ValueError:
            n_refused += 1
            continue
        n_taken += 1
        space.check()
        for _ in range(3):
            esper.process(1 / 60)
        space.check()
        assert 0 <= space.stats.asleep <= 8
    assert n_taken > 5
    assert n_refused > 5
    space.restore(data)
    assert space.snapshot() == data


REPORT = [1, 2, "Velocity.x", "0x1.8p+1", "a message"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([[], [], [[*REPORT[:3], "0x1p99999", "too large"]], []]),
        json.dumps([[], [], [], [[*REPORT[:3], "-0x1p99999", "too large"]]]),
        json.dumps([[], [], [[*REPORT[:3], 1.5, "no text"]], []]),
        json.dumps([[], [], [REPORT[:4]], []]),
        json.dumps([[], [], [[True, *REPORT[1:]]], []]),
        json.dumps([[], [], REPORT, []]),
        json.dumps([[], [], None, []]),
        json.dumps({"kinds": []}),
        json.dumps([[], [], [], [], []]),
        "[[], [], [[" + "9" * 5000 + ', 2, "", "0", ""]], []]',
        "[" * 100_000,
        "[[], [], [" + "[" * 900 + "]" * 900 + "], []]",
    ],
    ids=[
        "overflow", "overflow below", "number", "short", "bool", "no list", "null", "object",
        "long", "digits", "deep", "deep and closed",
    ],
)  # fmt: skip
def test_reports_that_were_made_up_are_refused(busy, text, monkeypatch):
    space, data, now = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    texts = json.loads(codec._text(state))
    if text.startswith("[[], [], "):  # the types of components stay
        text = json.dumps(texts[:2])[:-1] + text.removeprefix("[[], []")[:-1] + ", 1]"
    monkeypatch.setattr(codec, "_text", lambda state: text.encode())

    with pytest.raises(ValueError, match=r"contradicts itself: its (texts|reports)"):
        space.restore(codec.encode(state))
    monkeypatch.undo()
    assert space.snapshot() == now


def test_report_that_was_made_up_and_could_be_true_is_taken(busy, monkeypatch):
    space, data, _ = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    texts = [*json.loads(codec._text(state))[:2], [REPORT], [], 1]
    monkeypatch.setattr(codec, "_text", lambda state: json.dumps(texts).encode())

    space.restore(codec.encode(state))

    assert [report.value for report in space.reports] == [3.0]


def test_lowest_number_of_all_is_no_group_of_a_filter(busy):
    space, data, now = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    forged = np.zeros(1, state.filters.dtype)
    forged["numbers"] = [1, 1, -(2**63)]  # whose abs() is itself
    state.filters = forged

    with pytest.raises(ValueError, match="contradicts itself: its filters"):
        space.restore(codec.encode(state))
    assert space.snapshot() == now


def test_lowest_number_of_all_is_no_image_of_a_contact(world):
    esper.create_entity(ec.Position(1, 1), ec.Extents(1, 1))
    esper.create_entity(ec.Position(3, 1), ec.Extents(1, 1), ec.Velocity(-1, 0), ec.Stop())
    space = ec.install(wrap=(100, 100))
    esper.process(1 / 60)
    now = space.snapshot()
    state = codec.decode(now, 2, capture.WIDTHS)
    assert len(state.images) == 1
    state.images = np.array([-(2**63)], np.int64)

    with pytest.raises(ValueError, match="contradicts itself: its images"):
        space.restore(codec.encode(state))
    assert space.snapshot() == now


def test_another_format_is_refused_by_name():
    space = ec.install()
    data = bytearray(space.snapshot())
    data[8] = 1

    with pytest.raises(ValueError, match=r"has format 1 and this version .* reads format 2"):
        space.restore(sealed(data))


def test_another_dimension_is_refused_by_name(elsewhere):
    data = ec.install().snapshot()

    with pytest.raises(ValueError, match=r"is of a 2D space and this one has dim=3"):
        elsewhere(dim=3).restore(data)


def test_components_of_a_later_version_are_refused_by_name():
    space = ec.install()
    data = space.snapshot()

    with pytest.raises(ValueError, match="holds Sensor components, which this version"):
        codec.decode(data, 2, {k: n for k, n in capture.WIDTHS.items() if k != "Sensor"})


@pytest.mark.parametrize("data", [None, "text", 7, [1, 2]])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(TypeError, match="takes the bytes"):
        ec.install().restore(data)


@pytest.mark.parametrize("data", [b"", b"hello", bytes(100), b"\x89PNG\r\n\x1a\n" + bytes(90)])
def test_foreign_bytes_are_refused(data):
    with pytest.raises(ValueError, match="are no snapshot of ecs_collide"):
        ec.install().restore(data)


def test_other_kinds_of_bytes_are_taken():
    gas(4, 3.5, 9.0)
    space = ec.install()
    data = space.snapshot()

    for same in (bytearray(data), memoryview(data)):
        space.restore(same)
    assert space.snapshot() == data


@pytest.mark.slow_in_python
def test_nothing_in_it_is_code():
    for module in (codec, capture, column_codec, plain):
        tree = ast.parse(Path(module.__file__).read_text("utf-8"))
        nodes = list(ast.walk(tree))
        names = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        assert not names & {"pickle", "marshal", "shelve", "importlib"}
        called = {getattr(node.func, "id", "") for node in nodes if isinstance(node, ast.Call)}
        assert not called & {"eval", "exec", "compile", "__import__"}


@pytest.mark.parametrize("n_reports", [-1, 2**62, 1.5, None, True, "5"])
def test_a_count_of_reports_that_is_none_is_refused(busy, n_reports):
    space, data, now = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    state.n_reports = n_reports

    with pytest.raises(ValueError, match="contradicts itself: its"):
        space.restore(codec.encode(state))
    assert space.snapshot() == now


OPEN = ["Player", "Zone", 70, 71, [0]]  # an open contact that was altered


@pytest.mark.parametrize(
    ("place", "wrong"),
    [(0, 1), (1, None), (2, "70"), (3, 71.5), (2, 71), (2, -1), (4, [2]), (4, [True]), (4, None)],
)
def test_open_contacts_that_were_made_up_are_refused(busy, place, wrong):
    space, data, now = busy
    state = codec.decode(data, 2, capture.WIDTHS)
    state.altered = [[*OPEN[:place], wrong, *OPEN[place + 1 :]]]

    with pytest.raises(ValueError, match=r"contradicts itself: its (open contacts|texts)"):
        space.restore(codec.encode(state))
    assert space.snapshot() == now


def rounded(*rows):
    return np.array(list(rows), ROUNDED_NUMBER)


@pytest.mark.parametrize(
    "row",
    [(1, 5, 0, 1.0, 1.5), (1, 0, 2, 1.0, 1.5), (1, 0, 0, np.nan, 1.5), (1, 0, 0, 1.0, np.inf)],
)
def test_rounded_numbers_that_no_component_has_are_refused(row):
    mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    state = codec.decode(space.snapshot(), 2, capture.WIDTHS)
    state.rounded = rounded(row)

    with pytest.raises(ValueError, match="contradicts itself: its rounded numbers"):
        space.restore(codec.encode(state))
    space.restore(space.snapshot())


def test_rounded_numbers_of_components_that_do_not_round_are_ignored():
    body = mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    data = space.snapshot()
    state = codec.decode(data, 2, capture.WIDTHS)
    state.rounded = rounded((body, 0, 0, 1.0, 1.5), (body, 4, 0, 1.0, 1.5), (99, 0, 0, 1.0, 1.5))

    space.restore(codec.encode(state))
    assert space.snapshot() == data
    esper.process(1.0)

    assert space.position_of(body) == (2, 0)
