"""Events: frozen copies, and the sequence that makes them on access."""

import copy
import dataclasses
import enum
import itertools
import json
import pickle

import numpy as np
import pytest

import ecs_collide
from ecs_collide import BodyKind, events
from ecs_collide._kernel import constants
from ecs_collide.events import (
    END_REASONS,
    Collision,
    ContactBegan,
    ContactEnded,
    ContactKind,
    EndReason,
    EventSequence,
    Outcome,
    SweepKind,
    collision_dtype,
    contact_dtype,
)


def collision(**changes):
    values = {
        "time": 0.25,
        "exit": float("inf"),
        "first": 3,
        "second": 7,
        "normal": (-1.0, 0.0),
        "kind": SweepKind.IMPACT,
        "closing_speed": 60.0,
        "position_first": (1.0, 2.0),
        "position_second": (3.0, 4.0),
        "velocity_first": (60.0, 0.0),
        "velocity_second": (0.0, 0.5),
        "contact_min": (2.0, 2.5),
        "contact_max": (2.0, 3.5),
        "impulse": 30.0,
        "solids": (),
        "outcome": Outcome.RESOLVED,
    }
    return Collision(**{**values, **changes})


def rows_of(*collisions, dim=2):
    array = np.zeros(len(collisions), collision_dtype(dim))
    for row, event in enumerate(collisions):
        solids = (*event.solids, -1, -1)[:2]
        array[row] = dataclasses.astuple(dataclasses.replace(event, solids=solids))
    return array


BEGAN = ContactBegan(3, 7, (0.0, 1.0), 0.5, ContactKind.SOLID)
ENDED = ContactEnded(3, 7, (0.0, 1.0), 0.5, ContactKind.CROSSING, EndReason.TELEPORTED)


def test_names_for_esper_say_where_they_come_from():
    assert events.COLLISION == "ecs_collide.collision"
    assert events.CONTACT_BEGAN == "ecs_collide.contact_began"
    assert events.CONTACT_ENDED == "ecs_collide.contact_ended"


def test_codes_in_arrays_never_change():
    assert [(kind.name, kind.value) for kind in SweepKind] == [
        ("SEPARATE", 0),
        ("TOUCH", 1),
        ("IMPACT", 2),
        ("OVERLAP", 3),
    ]
    assert [(outcome.name, outcome.value) for outcome in Outcome] == [
        ("RESOLVED", 0),
        ("STOPPED_ALREADY", 1),
        ("CROSSED", 2),
        ("CRUSHED", 3),
        ("FORCED", 4),
        ("UNRESOLVED", 5),
    ]
    assert [(kind.name, kind.value) for kind in ContactKind] == [("SOLID", 0), ("CROSSING", 1)]
    assert END_REASONS == (
        "separated",
        "entity_deleted",
        "component_removed",
        "filter_changed",
        "teleported",
        "quarantined",
        "world_cleared",
        "dropped",
        "disabled",
    )


@pytest.mark.parametrize("event", [collision(), BEGAN, ENDED], ids=lambda e: type(e).__name__)
def test_events_are_frozen(event):
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.first = 1
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        event.note = "new"


@pytest.mark.parametrize("event", [collision(), BEGAN, ENDED], ids=lambda e: type(e).__name__)
def test_events_are_values(event):
    twins = [pickle.loads(pickle.dumps(event)), copy.copy(event), copy.deepcopy(event)]

    assert all(twin == event for twin in twins)
    assert len({event, *twins}) == 1
    assert event != dataclasses.replace(event, second=8)


@pytest.mark.parametrize("event", [collision(normal=(0.0, 1.0)), BEGAN, ENDED])
def test_normal_points_towards_the_one_who_asks(event):
    assert event.normal_for(3) == (0.0, 1.0)
    assert event.normal_for(7) == (0.0, -1.0)


def test_turned_normal_never_shows_minus_zero():
    assert repr(BEGAN.normal_for(7)) == "(0.0, -1.0)"


@pytest.mark.parametrize("event", [collision(), BEGAN, ENDED])
def test_other_is_the_one_it_met(event):
    assert event.other(3) == 7
    assert event.other(7) == 3


@pytest.mark.parametrize("event", [collision(), BEGAN, ENDED])
def test_stranger_is_told_who_takes_part(event):
    told = f"entity 5 takes no part in this {type(event).__name__} between 3 and 7"

    with pytest.raises(ValueError, match=told):
        event.other(5)
    with pytest.raises(ValueError, match=told):
        event.normal_for(5)


@pytest.mark.parametrize("outcome", Outcome)
def test_resolved_means_that_velocities_were_changed(outcome):
    expected = outcome in (Outcome.RESOLVED, Outcome.FORCED)

    assert collision(outcome=outcome).resolved is expected


@pytest.mark.parametrize("dim", [2, 3])
def test_array_fields_are_those_of_the_events_in_order(dim):
    of_collision = [field.name for field in dataclasses.fields(Collision)]
    of_contact = [field.name for field in dataclasses.fields(ContactEnded)]

    assert list(collision_dtype(dim).names) == of_collision
    assert list(contact_dtype(dim).names) == ["event", *of_contact]
    assert collision_dtype(dim)["normal"].shape == (dim,)
    assert contact_dtype(dim)["normal"].shape == (dim,)
    assert collision_dtype(dim)["first"] == contact_dtype(dim)["first"] == np.int64
    assert collision_dtype(dim)["kind"] == collision_dtype(dim)["outcome"] == np.int8


@pytest.mark.parametrize("dim", [2, 3])
def test_array_has_no_gaps_whose_bytes_could_differ(dim):
    for dtype in (collision_dtype(dim), contact_dtype(dim)):
        assert dtype.itemsize == sum(dtype[name].itemsize for name in dtype.names)


def test_collision_comes_out_of_its_row_as_it_went_in():
    first = collision()
    second = collision(kind=SweepKind.OVERLAP, outcome=Outcome.FORCED, first=1, time=0.0, exit=1.5)

    made = EventSequence(rows_of(first, second), Collision.from_row)

    assert made[0] == first
    assert made[1] == second
    assert list(made) == [first, second]
    assert type(made[1].kind) is SweepKind
    assert type(made[1].outcome) is Outcome
    assert type(made[1].first) is int
    assert type(made[1].time) is float
    assert type(made[1].normal) is tuple
    assert [type(part) for part in made[1].velocity_second] == [float, float]


def test_contacts_come_out_of_their_rows_as_they_went_in():
    array = np.zeros(2, contact_dtype(2))
    array[0] = (constants.BEGAN, 3, 7, (0.0, 1.0), 0.5, 0, -1)
    array[1] = (constants.ENDED, 3, 7, (0.0, 1.0), 0.5, 1, END_REASONS.index("teleported"))

    assert EventSequence(array[:1], ContactBegan.from_row) == [BEGAN]
    assert EventSequence(array[1:], ContactEnded.from_row) == [ENDED]


def test_vectors_have_three_parts_in_three_dimensions():
    event = collision(
        normal=(0.0, 0.0, 1.0),
        position_first=(1.0, 2.0, 3.0),
        position_second=(4.0, 5.0, 6.0),
        velocity_first=(7.0, 8.0, 9.0),
        velocity_second=(0.0, 0.0, 0.0),
        contact_min=(1.0, 1.0, 4.0),
        contact_max=(2.0, 2.0, 4.0),
    )

    assert EventSequence(rows_of(event, dim=3), Collision.from_row)[0] == event


@pytest.fixture
def thousand():
    return EventSequence(
        rows_of(*(collision(first=i, second=i + 1) for i in range(1000))), Collision.from_row
    )


def test_sequence_behaves_like_a_list(thousand):
    as_list = list(thousand)

    assert len(thousand) == 1000
    assert [event.first for event in as_list] == list(range(1000))
    assert thousand[0] == as_list[0]
    assert thousand[-1] == as_list[-1]
    assert thousand[np.int64(5)] == as_list[5]
    assert list(thousand[5:9]) == as_list[5:9]
    assert list(thousand[::-250]) == as_list[::-250]
    assert list(reversed(thousand))[:3] == as_list[:-4:-1]
    assert as_list[17] in thousand
    assert collision(first=-1) not in thousand
    assert thousand.index(as_list[17]) == 17
    assert thousand.count(as_list[17]) == 1
    assert thousand


def test_place_outside_is_an_index_error(thousand):
    with pytest.raises(IndexError):
        thousand[1000]
    with pytest.raises(IndexError):
        thousand[-1001]


def test_empty_sequence_is_empty():
    empty = EventSequence(np.zeros(0, collision_dtype(2)), Collision.from_row)

    assert len(empty) == 0
    assert not empty
    assert list(empty) == []
    assert empty == []
    assert repr(empty) == "EventSequence([])"


def test_sequences_compare_by_their_events(thousand):
    assert thousand == list(thousand)
    assert thousand == tuple(thousand)
    assert thousand == copy.deepcopy(thousand)
    assert thousand[:3] != thousand[:2]
    assert thousand[:3] != thousand[1:4]
    assert thousand != 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(thousand)


def test_objects_are_made_on_access_only():
    made = []
    array = rows_of(*[collision()] * 1000)
    sequence = EventSequence(array, lambda row: made.append(row))

    len(sequence), sequence[10:20], sequence.array, bool(sequence)
    assert len(made) == 0

    sequence[3]
    assert len(made) == 1

    next(iter(sequence))
    assert len(made) == 2


def test_sequence_is_read_only(thousand):
    with pytest.raises(TypeError):
        thousand[0] = collision()
    with pytest.raises(ValueError, match="read-only"):
        thousand.array["time"][0] = 1
    with pytest.raises(ValueError, match="read-only"):
        thousand[:5].array["time"][0] = 1


def test_owner_of_the_array_may_still_write():
    array = rows_of(collision())
    EventSequence(array, Collision.from_row)

    array["time"] = 0.75

    assert array["time"][0] == 0.75


def test_pickled_sequence_is_read_only_as_well(thousand):
    twin = pickle.loads(pickle.dumps(thousand))

    assert twin == thousand
    assert not twin.array.flags.writeable


def test_repr_of_a_long_sequence_is_short(thousand):
    text = repr(thousand)

    assert text.startswith("EventSequence([Collision(time=0.25, ")
    assert text.endswith("... 995 more])")
    assert text.count("Collision(") == 5


@pytest.mark.parametrize(
    ("member", "name"),
    [
        (Outcome.RESOLVED, "RESOLVED"),
        (Outcome.CRUSHED, "CRUSHED"),
        (SweepKind.OVERLAP, "OVERLAP"),
        (ContactKind.SOLID, "SOLID"),
        (BodyKind.STATIC, "STATIC"),
        (BodyKind.MOVES | BodyKind.DYNAMIC, "MOVES|DYNAMIC"),
        (BodyKind(256), "256"),
    ],
)
def test_an_enum_of_codes_prints_as_its_name_and_counts_as_its_code(member, name):
    code = member.value

    assert str(member) == f"{member}" == f"{member!s}" == "%s" % member == name  # noqa: UP031
    assert f"{member:>14}" == name.rjust(14)
    assert f"{member:d}" == "%d" % member == str(code)  # noqa: UP031
    assert f"{member:04x}" == format(code, "04x")
    assert json.dumps([member]) == f"[{code}]"
    assert member == code
    assert hash(member) == hash(code)
    assert pickle.loads(pickle.dumps(member)) == copy.deepcopy(member) == member


def test_the_repr_of_an_enum_names_its_class_and_its_code():
    assert repr(Outcome.FORCED) == "<Outcome.FORCED: 4>"
    assert repr(BodyKind.SENSOR) == "<BodyKind.SENSOR: 4>"


def test_every_enum_of_the_library_prints_as_a_word():
    enums = [value for value in vars(ecs_collide).values() if isinstance(value, enum.EnumMeta)]

    assert {Outcome, SweepKind, ContactKind, BodyKind, EndReason} <= set(enums)
    for member in itertools.chain(*enums):
        assert not str(member).isdigit(), repr(member)
        assert str(member) == f"{member}"


@pytest.mark.parametrize(
    "enum", [ecs_collide.EndReason, ecs_collide.Verdict, ecs_collide.CombineRule]
)
def test_enums_of_text_print_their_names(enum):
    for member in enum:
        assert str(member) == f"{member}" == member.name
        assert f"{member:>20}" == member.name.rjust(20)
        assert member == member.value


def test_a_rule_in_the_repr_of_a_surface_can_be_given_again():
    assert (
        repr(ecs_collide.Friction(0.5, ecs_collide.CombineRule.MAX))
        == "Friction(value=0.5, rule='max')"
    )
