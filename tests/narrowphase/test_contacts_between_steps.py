"""The rows of contacts, by the source of the kernel: compiled, only kernels call most methods."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests import plain

CROSSING, LEAVING, PASSING, SOLID, UNTIL_APART, ContactRows, Contacts = plain.names(
    "narrowphase.contacts_between_steps",
    "CROSSING LEAVING PASSING SOLID UNTIL_APART ContactRows Contacts",
)
(EventBuffer,) = plain.names("narrowphase.event_buffer", "EventBuffer")


N_BODIES = 60


def filled(*contacts):
    """Return rows with contacts: (first, second, kind, axis, sign, had_impact, image, since)."""
    rows = ContactRows()
    for contact in contacts:
        rows.add(*contact)
    return rows


def listed(rows):
    codes, since, images = map(np.asarray, rows.arrays())
    return [
        (*code, image, time)
        for code, image, time in zip(codes.tolist(), images.tolist(), since.tolist(), strict=True)
        for code in [tuple(code)]
    ]


def contacts_of(*contacts, wraps=False, **columns):
    """Return the contacts of bodies that yield, unless `columns` say else."""
    bodies = SimpleNamespace(
        wraps=wraps,
        dim=2,
        ids=np.arange(N_BODIES) + 100,
        dynamic=np.ones(N_BODIES, int),
        centre=np.zeros((N_BODIES, 2)),
        width=[16.0, 8.0],
        rare=SimpleNamespace(one_way=np.zeros(N_BODIES, int)),
    )
    for name, rows in columns.items():
        column = bodies.rare.one_way if name == "one_way" else getattr(bodies, name)
        for row, value in rows.items():
            column[row] = value
    made = Contacts(bodies, EventBuffer(2))
    for contact in contacts:
        made.rows.add(*contact)
    return made


MANY = [(n, n + 1, n % 5, n % 2, 1 - 2 * (n % 2), n % 3 // 2, n - 20, n / 8) for n in range(50)]


def test_rows_grow_and_hold_what_was_added():
    rows = filled(*MANY)

    assert rows.n == 50
    assert listed(rows) == MANY
    assert all(rows.at[n].is_handled == 0 for n in range(rows.n))


def test_a_row_that_is_used_again_is_not_handled():
    rows = filled(*MANY)
    rows.at[0].is_handled = 1

    rows.clear()
    rows.add(*MANY[7])

    assert listed(rows) == [MANY[7]]
    assert rows.at[0].is_handled == 0


def test_some_rows_are_copied_in_the_order_asked_for():
    assert filled(*MANY).tuples_of([9, 3]) == [(*MANY[n][:5], *MANY[n][6:]) for n in (9, 3)]


def test_a_copy_does_not_change_with_its_original():
    rows, copy = filled(*MANY), filled(*MANY[:3])
    rows.at[4].is_handled = 1

    copy.copy_from(rows)
    rows.at[1].kind = LEAVING
    rows.clear()

    assert listed(copy) == MANY
    assert [copy.at[n].is_handled for n in range(6)] == [0, 0, 0, 0, 1, 0]


def test_rows_are_exchanged_with_their_room():
    small, large = filled(*MANY[:2]), filled(*MANY)

    small.swap(large)
    for contact in MANY[:20]:
        large.add(*contact)

    assert listed(small) == MANY
    assert listed(large) == MANY[:2] + MANY[:20]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda rows: rows.add(9, 2, SOLID, 0, 1, 0, 0, 0.0), [1, 2, 6]),
        (lambda rows: rows.cut(2), [1]),
        (lambda rows: rows.clear(), []),
        (lambda rows: rows.swap(filled(*MANY[2:4])), [0]),
        (lambda rows: filled(*MANY[2:4]).swap(rows), [0]),
        (lambda rows: rows.copy_from(filled(*MANY[1:3])), [0, 1]),
    ],
    ids=["add", "cut", "clear", "swap", "swapped", "copy"],
)
def test_contacts_of_a_body_are_found_after_each_change(change, found):
    rows = filled(*MANY[:6])
    for _ in range(9):  # the first calls go through all contacts, the others do not
        assert rows.find(2) == [1, 2]

    change(rows)

    for _ in range(9):
        assert rows.find(2) == found
        assert rows.find(-1) == rows.find(N_BODIES) == []


def test_a_moved_row_leaves_the_others():
    rows = filled(*MANY[:4])

    rows.move(3, 1)
    rows.move(2, 2)
    rows.cut(3)

    assert listed(rows) == [MANY[0], MANY[3], MANY[2]]


def test_bodies_of_a_row_are_found_from_either_side():
    rows = filled((3, 5, SOLID, 1, -1, 0, 0, 0.0), (5, 9, SOLID, 0, 1, 0, 0, 0.0))

    assert [rows.body(0, 0), rows.body(0, 1)] == [3, 5]
    assert [rows.partner(0, 3), rows.partner(0, 5)] == [5, 3]
    assert [rows.find(row) for row in (3, 5, 9, 4)] == [[0], [0, 1], [1], []]
    assert [rows.face(0), rows.face(1)] == [-2, 1]


def test_saved_contacts_replace_those_of_a_failed_step():
    contacts = contacts_of(*MANY)
    contacts.save()
    contacts.rows.cut(3)
    contacts.rows.at[0].kind = PASSING

    contacts.recover(*contacts.saved.arrays())

    assert listed(contacts.rows) == MANY


def test_pressed_bodies_are_in_solid_contact_with_one_another_and_both_are_dynamic():
    contacts = contacts_of(
        (0, 1, SOLID, 0, 1, 0, 0, 0.0),
        (2, 3, CROSSING, 0, 1, 0, 0, 0.0),
        (4, 5, SOLID, 0, 1, 0, 0, 0.0),
        (6, 7, SOLID, 0, 1, 0, 0, 0.0),
        dynamic={5: 0, 6: 0},
    )

    contacts.find_pressed(np.array([7, 0, 2, 4, 1, 9]))

    assert (contacts.n_free, contacts.n_pressed) == (4, 2)
    assert contacts.parted[:6].tolist() == [7, 2, 4, 9, 0, 1]
    contacts.rows.clear()
    contacts.find_pressed(np.array([0, 1]))
    assert contacts.n_pressed == contacts.n_free == 0
    contacts.rows.add(2, 4, SOLID, 0, 1, 0, 0, 0.0)
    contacts.find_pressed(np.array([0, 1, 2]))
    assert (contacts.n_free, contacts.n_pressed) == (2, 1)
    assert contacts.parted[:3].tolist() == [0, 1, 2]


def test_no_body_is_pressed_in_a_world_that_wraps():
    contacts = contacts_of((0, 1, SOLID, 0, 1, 0, 0, 0.0), wraps=True)

    contacts.find_pressed(np.array([0, 1]))

    assert contacts.n_pressed == contacts.n_free == 0


def test_forgotten_contacts_are_reported_and_the_others_stay():
    contacts = contacts_of(
        (0, 1, LEAVING, 0, 1, 0, 3, 0.0),
        (2, 3, SOLID, 1, -1, 0, 4, 0.5),
        (1, 2, UNTIL_APART, 1, -1, 0, 5, 1.0),
        (1, 4, PASSING, 0, 1, 0, 6, 1.0),
        (5, 6, SOLID, 0, 1, 0, 7, 1.5),
        wraps=True,
    )
    events = contacts.event_buffer

    contacts.forget(np.array([1]).data, np.array([6], np.int8).data)

    assert listed(contacts.rows) == [
        (2, 3, SOLID, 1, -1, 0, 4, 0.5),
        (5, 6, SOLID, 0, 1, 0, 7, 1.5),
    ]
    assert contacts.forgotten == [1]
    assert contacts.left == [0, 2, 4]
    n = events.n_contacts
    assert np.asarray(events.contact_bodies)[:n].tolist() == [[100, 101], [101, 102]]
    assert np.asarray(events.contact_codes)[:n, 1:].tolist() == [
        [0, SOLID, 6],
        [0, CROSSING, 6],
    ]
    assert np.asarray(events.contact_normals)[:n].tolist() == [[1, 0], [0, -1]]
    assert np.asarray(events.contact_images)[:n].tolist() == [3, 5]


def test_ends_that_a_buffer_recovers_are_those_that_another_one_had():
    contacts = contacts_of((0, 1, SOLID, 1, -1, 0, 0, 0.5), (1, 2, CROSSING, 0, 1, 0, 0, 1.0))
    contacts.forget(np.array([1]).data, np.array([6], np.int8).data)
    recovered = EventBuffer(2)

    recovered.recover(*contacts.event_buffer.contact_columns())

    assert [row[3] for row in recovered.contact_rows()] == [(0, -1), (1, 0)]
    assert recovered.contact_rows() == contacts.event_buffer.contact_rows()


def test_contact_of_two_forgotten_bodies_ends_once_for_the_reason_of_the_first():
    contacts = contacts_of(*[(i, i + 1, SOLID, 0, 1, 0, 0, 0.0) for i in range(5)])

    contacts.forget(np.array([3, 0, 2]).data, np.array([7, 6, 5], np.int8).data)

    assert listed(contacts.rows) == [(4, 5, SOLID, 0, 1, 0, 0, 0.0)]
    assert contacts.forgotten == [3, 0, 2]
    assert contacts.left == [1, 1, 2, 4]  # 1 has lost 0 and 2
    events = contacts.event_buffer
    n = events.n_contacts
    pairs = np.asarray(events.contact_bodies)[:n].tolist()
    reasons = np.asarray(events.contact_codes)[:n, -1].tolist()
    assert dict(zip(map(tuple, pairs), reasons, strict=True)) == {
        (100, 101): 6, (101, 102): 5, (102, 103): 7, (103, 104): 7,
    }  # fmt: skip


def test_partners_of_a_moved_body_are_to_be_woken():
    contacts = contacts_of(*MANY[:6])

    contacts.wake_partners(2)

    assert contacts.left == [1, 3]


@pytest.mark.parametrize(("platform", "dropped"), [(-1, [0, 1, 4]), (1, [0]), (0, [4]), (9, [])])
def test_a_body_falls_through_the_platforms_that_it_stands_on(platform, dropped):
    contacts = contacts_of(
        (5, 1, SOLID, 1, 1, 0, 0, 0.0),  # the solid side of the second body
        (2, 5, LEAVING, 1, -1, 0, 0, 0.0),  # that of the first, which already leaves
        (5, 3, SOLID, 1, -1, 0, 0, 0.0),  # the other side
        (4, 5, CROSSING, 1, -1, 0, 0, 0.0),
        (0, 5, SOLID, 1, -1, 0, 0, 0.0),
        (0, 6, SOLID, 1, -1, 0, 0, 0.0),  # another body stands on it
        one_way={0: 2, 1: 2, 2: 2, 3: 2, 4: 2},
    )
    before = [contacts.rows.at[n].kind for n in range(6)]

    n_dropped = contacts.drop(5, platform)

    kinds = [LEAVING if n in dropped else before[n] for n in range(6)]
    assert [contacts.rows.at[n].kind for n in range(6)] == kinds
    assert n_dropped == len(dropped) == len(contacts.left)


def test_rows_that_cross_until_apart_are_listed_in_both_orders():
    contacts = contacts_of(*MANY[:10])

    assert contacts.until_apart() == {(4, 5), (5, 4), (9, 10), (10, 9)}


def test_images_follow_bodies_that_are_moved_back_into_the_world():
    contacts = contacts_of(
        (0, 1, SOLID, 0, 1, 0, 4, 0.0), (2, 1, SOLID, 0, 1, 0, 4, 0.0), wraps=True
    )

    contacts.shift_images(np.array([3, 10, 0]))

    assert [contacts.rows.at[n].image for n in range(2)] == [11, 14]


@pytest.mark.parametrize(
    "wrong",
    [
        (0, 1, 5, 0, 1, 0, 0, 0.0),
        (0, 1, -1, 0, 1, 0, 0, 0.0),
        (0, 1, SOLID, 2, 1, 0, 0, 0.0),
        (0, 1, SOLID, -1, 1, 0, 0, 0.0),
        (0, 1, SOLID, 0, 0, 0, 0, 0.0),
        (0, 1, SOLID, 0, 1, 0, 0, float("nan")),
        (2, 3, SOLID, 0, 1, 0, 7, 1.0),
        (3, 2, SOLID, 0, 1, 0, -7, 1.0),
    ],
)
def test_check_finds_a_row_that_cannot_be_a_contact(wrong):
    contacts = contacts_of((2, 3, SOLID, 1, -1, 0, 7, 0.5))
    contacts.check()
    contacts.rows.add(*wrong)

    with pytest.raises(AssertionError, match="contact 1"):
        contacts.check()
