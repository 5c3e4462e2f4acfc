"""The states of a pair, by the source of the kernel: compiled, only kernels call these methods."""

import itertools
import random

import pytest

from tests import plain

(
    BEGUN,
    CROSS,
    CROSS_ONCE,
    CROSS_UNTIL_APART,
    FALL_THROUGH,
    FORMER,
    KEEPS,
    LASTING,
    MET,
    NO_CONTACT,
    NO_TOUCH,
    NOT_MET,
    PARTS,
    SOFT,
    SOLID,
    STALE,
    STUCK,
    PairTable,
) = plain.names(
    "broadphase.pair_table",
    "BEGUN CROSS CROSS_ONCE CROSS_UNTIL_APART FALL_THROUGH FORMER KEEPS LASTING MET "
    "NO_CONTACT NO_TOUCH NOT_MET PARTS SOFT SOLID STALE STUCK PairTable",
)


@pytest.fixture
def table():
    """Return a table for bodies in rows 0 to 39."""
    made = PairTable()
    made.set_rows(40)
    return made


@pytest.mark.parametrize(
    ("state", "crosses", "is_solid"), [(SOLID, 0, 1), (CROSS, 1, 0), (SOFT, 1, 0)]
)
def test_a_new_pair_has_no_history(table, state, crosses, is_solid):
    p = table.add(1, 2, state)

    assert (table.at[p].state, table.at[p].contact, table.at[p].met) == (state, NO_CONTACT, NOT_MET)
    assert (table.at[p].touch, table.at[p].face) == (NO_TOUCH, 0)
    assert (table.at[p].is_clear, table.at[p].is_withdrawn) == (0, 0)
    assert (table.crosses(p), table.is_solid(p)) == (crosses, is_solid)
    assert table.may_be_queued(p) == crosses
    assert table.contact_of(p) == -1
    table.check(2)


def test_a_pair_does_not_inherit_the_states_of_the_pair_that_had_its_number(table):
    p = table.add(1, 2, SOLID)
    table.restore(p, 3)
    table.enter(p)
    table.mark_stale(p)
    table.mark_clear(p)
    table.note_touch(p, PARTS, -2)
    table.crush(p)
    table.withdraw(p)
    table.mark_stale(p)

    table.forget()
    p = table.add(5, 6, SOLID)

    assert (table.at[p].state, table.at[p].contact, table.at[p].met) == (SOLID, NO_CONTACT, NOT_MET)
    assert (table.at[p].touch, table.at[p].face) == (NO_TOUCH, 0)
    assert (table.at[p].is_clear, table.at[p].is_withdrawn) == (0, 0)
    assert table.head_of(1) == table.head_of(2) == -1
    table.check(2)


@pytest.mark.parametrize("state", [CROSS_ONCE, CROSS_UNTIL_APART])
def test_a_solid_pair_that_crosses_forgets_what_was_known_of_its_faces(table, state):
    p = table.add(1, 2, SOLID)
    table.note_touch(p, KEEPS, 2)
    table.mark_stale(p)
    table.mark_clear(p)

    table.cross(p, state)

    assert table.crosses(p)
    assert (table.at[p].state, table.at[p].met, table.at[p].is_clear) == (state, MET, 0)
    assert (table.at[p].touch, table.at[p].face) == (NO_TOUCH, 0)
    table.check(2)


def test_a_pair_that_has_crossed_until_apart_is_what_its_bodies_make_it(table):
    for state in (SOLID, CROSS):
        p = table.add(1 + state, 2 + state, state)
        table.restore_until_apart(p)
        assert table.at[p].state == CROSS_UNTIL_APART

        table.close(p, state)

        assert table.at[p].state == state


def test_members_of_soft_crowds_stay_soft_until_apart(table):
    p = table.add(1, 2, SOFT)

    table.restore_until_apart(p)

    assert table.at[p].state == SOFT


def test_only_a_solid_pair_falls_through(table):
    solid, crossing = table.add(1, 2, SOLID), table.add(1, 3, CROSS)
    for p in (solid, crossing):
        table.restore(p, p)
        table.restore_passing(p)

    assert (table.at[solid].state, table.at[crossing].state) == (FALL_THROUGH, CROSS)
    assert not table.crosses(solid)
    table.check(2)


def test_contact_goes_through_its_four_states(table):
    p = table.add(1, 2, SOLID)
    seen = []

    def note(*_):
        seen.append((table.at[p].contact, table.has_contact(p), bool(table.had_contact(p))))

    note(table.enter(p))
    note(table.enter(p))
    note(table.part(p))
    note(table.restore(p, 7))
    note(table.enter(p))
    note(table.part(p))
    note(table.enter(p))
    note(table.forget_former(p))
    note(table.part(p))

    assert seen == [
        (BEGUN, True, False),
        (BEGUN, True, False),
        (NO_CONTACT, False, False),
        (FORMER, False, True),
        (LASTING, True, True),
        (FORMER, False, True),
        (LASTING, True, True),
        (BEGUN, True, False),
        (NO_CONTACT, False, False),
    ]


def test_the_number_of_a_contact_is_known_while_the_contact_of_the_start_is(table):
    p = table.add(1, 2, SOLID)
    table.restore(p, 7)

    assert table.contact_of(p) == 7
    table.enter(p)
    assert table.contact_of(p) == 7
    table.forget_former(p)
    assert table.contact_of(p) == -1


def test_a_first_impact_sets_a_pair_up_and_a_second_one_keeps_its_counts(table):
    p = table.add(1, 2, SOLID)
    table.impact[p].resolutions = table.impact[p].repeats = 9  # of another pair, in an earlier step
    table.impact[p].resolved_at = table.impact[p].began = 0.5

    table.meet(p)

    assert table.may_be_queued(p)
    assert (table.impact[p].resolutions, table.impact[p].repeats) == (0, 0)
    assert (table.impact[p].resolved_at, table.impact[p].began) == (-1.0, -1.0)

    table.impact[p].resolutions = 1
    table.meet(p)

    assert table.impact[p].resolutions == 1


def test_a_stale_pair_is_fresh_after_a_sweep(table):
    for refresh in (table.mark_fresh, table.meet, table.withdraw):
        p = table.add(1, 2, SOLID)
        table.mark_clear(p)
        table.mark_stale(p)
        assert (table.at[p].met, table.at[p].is_clear) == (STALE, 0)
        assert table.impact[p].began == -1.0

        refresh(p)

        assert table.at[p].met == MET


def test_a_pair_that_never_met_is_not_made_fresh(table):
    p = table.add(1, 2, SOLID)

    table.mark_fresh(p)

    assert table.at[p].met == NOT_MET


def test_clear_and_touch_are_forgotten(table):
    p = table.add(1, 2, SOLID)
    table.mark_clear(p)
    table.note_touch(p, KEEPS, -1)
    assert (table.at[p].is_clear, table.at[p].touch, table.at[p].face) == (1, KEEPS, -1)

    table.forget_clear(p)
    table.forget_touch(p)

    assert (table.at[p].is_clear, table.at[p].touch, table.at[p].face) == (0, NO_TOUCH, 0)


def test_lists_and_searches_agree_with_all_pairs(table):
    rng = random.Random(5)
    every = list(itertools.combinations(range(12), 2))
    pairs = {}
    for first, second in rng.sample(every, 40):  # more than there was room for
        if table.is_full():
            table.grow()
        pairs[first, second] = table.add(first, second, SOLID)
        table.check(3)

    for first, second in every:
        p = pairs.get((first, second), -1)
        assert table.find(first, second) == table.find(second, first) == p
    for row in range(12):
        listed, p = set(), table.head_of(row)
        while p >= 0:
            listed.add(table.partner(p, row))
            p = table.next_of(p, row)
        expected = {a + b - row for a, b in pairs if row in (a, b)}
        table.mark_partners(row)
        assert listed == expected == {n for n in range(40) if table.is_marked(n)}


def test_marks_of_partners_go_on_where_an_int_ends(table):
    table.add(0, 1, SOLID)
    table.add(0, 2, SOLID)
    for stamp in (0, 0x7FFFFFFE, 0x7FFFFFFF):
        table.stamp = stamp
        table.mark_partners(1)
        table.mark_partners(0)

        assert [n for n in range(40) if table.is_marked(n)] == [1, 2]


def test_pairs_at_several_images_are_told_apart(table):
    rng = random.Random(6)
    every = list(itertools.product(range(6), range(6, 12), (-1, 0, 1)))
    pairs = {}
    table.wrap(True)
    for first, second, image in rng.sample(every, 50):
        if table.is_full():
            table.grow()
        p = table.add(first, second, SOLID)
        table.image[p] = image
        table.offset[p, 1] = 10.0 * image
        pairs[first, second, image] = p
        table.check(2)

    for sought in every:
        p = pairs.get(sought, -1)
        assert table.find_image(*sought) == p
        assert p < 0 or table.offset_of(p, 1) == 10.0 * sought[2]


def test_check_finds_states_that_contradict_each_other(table):
    def broken(state, **fields):
        made = PairTable()
        made.set_rows(4)
        p = made.add(1, 2, state)
        for name, value in fields.items():
            setattr(made.at[p], name, value)
        return made

    for made in (
        broken(7),
        broken(SOLID, contact=4),
        broken(SOLID, met=3),
        broken(SOLID, touch=4, face=1),
        broken(SOLID, touch=KEEPS),
        broken(SOLID, face=1),
        broken(SOLID, touch=KEEPS, face=3),
        broken(FALL_THROUGH, contact=LASTING),
        broken(FALL_THROUGH, contact=FORMER, met=MET),
        broken(SOFT, met=MET),
        broken(STUCK),
        broken(CROSS_ONCE),
        broken(CROSS, touch=KEEPS, face=1),
        broken(CROSS, is_clear=1),
        broken(SOLID, next_of_first=0, first=3),
    ):
        with pytest.raises(AssertionError, match="pair 0"):
            made.check(2)


def test_check_finds_a_pair_that_is_there_twice(table):
    table.add(1, 2, SOLID)
    table.add(1, 2, SOLID)

    with pytest.raises(AssertionError, match="pair 1 is there twice"):
        table.check(2)
