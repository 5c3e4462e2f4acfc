"""Who meets whom: categories and masks, groups, predicates of the game's own."""

from __future__ import annotations

import itertools

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Ledger, box, mover, of, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

FILTERED = ec.EndReason.FILTER_CHANGED


@pytest.mark.slow_in_python
def test_categories_masks_and_groups_against_the_rule_in_full():
    choices = [None] + [
        ec.Filter(categories, mask, group)
        for categories, mask in itertools.product((0, 1, 2, 3), (0, 1, 2, ec.ALL))
        for group in (0, 1, -1)
    ]

    def meet(one, two):
        one, two = one or ec.Filter(), two or ec.Filter()
        if one.group and one.group == two.group:
            return one.group > 0
        return bool(one.categories & two.mask and two.categories & one.mask)

    wanted, walls = {}, {}
    for n, (one, two) in enumerate(itertools.product(choices, repeat=2)):
        ball = mover((0, 10 * n), (1, 1), (10, 0), ec.Slide(), *([one] if one else []))
        walls[ball] = box((5, 10 * n), (1, 1), *([two] if two else []))
        wanted[ball] = meet(one, two)
    space = ec.install()
    esper.process(1.0)

    assert {ball: velocity(ball) == (0, 0) for ball in wanted} == wanted
    assert {event.first for event in space.collisions} == {e for e in wanted if wanted[e]}
    assert {ball: space.may_meet(ball, walls[ball]) for ball in wanted} == wanted
    assert 0 < sum(wanted.values()) < len(wanted)


@pytest.mark.parametrize("who", ["crate", "floor"])
@pytest.mark.parametrize("how", ["set", "replace", "add", "remove"])
def test_a_change_counts_from_the_next_step_and_ends_the_contact(who, how):
    floor = box((0, -2), (50, 1))
    crate = mover((0, 0), (1, 1), (0, -1), ec.Slide())
    changed = {"crate": crate, "floor": floor}[who]
    if how != "add":
        # Of one negative group later; before, of groups that differ.
        esper.add_component(changed, ec.Filter(1, ec.ALL, -5 if how == "remove" else 0))
    other = floor if who == "crate" else crate
    esper.add_component(other, ec.Filter(2 if how == "remove" else 1, ec.ALL, -7))
    if how == "remove":
        of(other, ec.Filter).mask = 1
        of(changed, ec.Filter).categories = 1
        esper.add_component(other, ec.Filter(1, 2, 0))
        of(changed, ec.Filter).categories = 2  # without a Filter it will be of category 1
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    assert ledger.open == {(floor, crate)}

    if how == "set":
        of(changed, ec.Filter).group = -7
    elif how == "remove":
        esper.remove_component(changed, ec.Filter)
    else:
        esper.add_component(changed, ec.Filter(group=-7))
    set_velocity(crate, 0, -1)
    esper.process(1.0)
    ledger.record()

    assert ledger.ends == [((floor, crate), FILTERED)]
    assert [event.time for event in space.contacts_ended] == [0.0]
    assert position(crate) == (0, -1)

    esper.add_component(changed, ec.Filter(3, ec.ALL, 0))  # solid again, inside: it gets no deeper
    if how == "remove":
        of(other, ec.Filter).mask = ec.ALL
    esper.process(1.0)
    ledger.record()
    assert [event.kind for event in space.collisions] == [ec.SweepKind.OVERLAP]
    assert position(crate) == (0, -1)


def test_a_filter_that_changes_between_two_that_stand_still():
    floor = box((0, -2), (5, 1))
    zone = box((0, -1), (5, 1), ec.Sensor(), ec.Filter(mask=0))
    space = ec.install()
    ledger = Ledger(space)
    esper.process(1.0)
    ledger.record()
    assert ledger.open == set()

    of(zone, ec.Filter).mask = 1
    esper.process(1.0)
    ledger.record()
    assert ledger.open == {(floor, zone)}

    of(zone, ec.Filter).mask = 2
    esper.process(1.0)
    ledger.record()
    assert ledger.ends == [((floor, zone), FILTERED)]


def test_filters_of_hundreds_that_come_later():
    first = mover((0, 0), (1, 1), (10, 0), ec.Slide(), ec.Filter(2, 2))
    space = ec.install()
    esper.process(0.0)
    made = [
        mover((0, 10 * n), (1, 1), (10, 0), ec.Slide(), *([ec.Filter(1, 1)] if n % 2 else []))
        for n in range(1, 300)
    ]
    for n in range(300):
        box((5, 10 * n), (1, 1), ec.Filter(1 + n % 4, ec.ALL))
    esper.process(1.0)

    ends = [position(ball)[0] for ball in (first, *made)]
    assert ends[0] == 10
    for n, end in enumerate(ends[1:], 1):
        assert end == (3 if 1 + n % 4 in (1, 3) or n % 2 == 0 else 10)
    space.check()


def test_a_filter_between_two_walls_that_stand_still_begins_nothing():
    box((0, 0), (5, 1))
    wall = box((0, 1), (5, 1))
    space = ec.install()
    esper.process(0.1)
    esper.add_component(wall, ec.Filter(1, 3))
    esper.process(0.1)

    assert len(space.contact_array) == 0


@pytest.mark.parametrize("when", ["before saving", "after restoring"])
@pytest.mark.parametrize("how", ["set", "add", "remove"])
def test_a_filter_that_changes_beside_a_snapshot(when, how, elsewhere):
    def change():
        if how == "set":
            of(gate, ec.Filter).categories = 1
            of(gate, ec.Filter).mask = 3
        elif how == "add":
            esper.add_component(gate, ec.Filter(2, 2))
        else:
            esper.remove_component(gate, ec.Filter)

    wall = box((0, 0), (5, 1))
    gate = box((0, 1), (5, 1), ec.Sensor(), *([ec.Filter(2, 2)] if how != "add" else []))
    space = ec.install()
    esper.process(0.1)
    if when == "before saving":
        change()
    data = space.snapshot()

    def go_on(space):
        if when == "after restoring":
            change()
        for _ in range(2):
            esper.process(0.1)
        return space.contacts()

    wanted = go_on(space)
    assert len(wanted) == (0 if how == "add" else 1)
    space.restore(data)
    assert go_on(space) == wanted
    other = elsewhere()
    other.restore(data)
    assert go_on(other) == wanted
    assert wall


class Ally:
    """A component that the predicate below asks about."""


class Foe:
    """Another one."""


def test_a_predicate_says_which_pairs_there_are():
    open_to = set()
    door = box((5, 0), (1, 1), Foe())
    ally = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Ally())
    other = mover((0, 1.25), (1, 0.5), (10, 0), ec.Slide())
    space = ec.install()
    asked = []

    def allows(first, second):
        asked.append((first, second))
        return ally not in open_to

    space.filter_pairs(allows, Ally, Foe)
    esper.process(0.25)
    assert asked == []  # the paths do not come near each other
    open_to.add(ally)
    for _ in range(3):
        esper.process(0.25)

    assert set(asked) == {(door, ally)}  # never about the other one, which is no Ally
    assert len(asked) <= 3  # once in a step
    assert position(ally) == (10, 0)
    assert position(other) == (3, 1.25)


def test_a_predicate_is_asked_once_in_a_step_however_often_a_path_turns():
    ghost = box((0, 0), (1, 1), Foe())
    for x in (-6, 6):
        box((x, 0), (1, 5))
    ball = mover((3, 0), (1, 1), (100, 0), ec.Deflect(), Ally())
    space = ec.install()
    asked = []
    space.filter_pairs(lambda *pair: asked.append(pair), Ally, Foe)
    esper.process(1.0)

    assert space.stats.resolutions > 8
    assert asked == [(ghost, ball)]


def test_a_predicate_that_changes_its_mind_ends_the_contact():
    floor = box((0, -2), (50, 1))
    crate = mover((0, 0), (1, 1), (0, 0), ec.Slide(), Ally())
    solid = [True]
    space = ec.install()
    remove = space.filter_pairs(lambda first, second: solid[0])
    ledger = Ledger(space)
    for answer in (True, False):
        solid[0] = answer
        set_velocity(crate, 0, -1)
        esper.process(1.0)
        ledger.record()

    assert ledger.ends == [((floor, crate), FILTERED)]
    assert position(crate) == (0, -1)

    remove()
    remove()  # once more is no harm
    set_velocity(crate, 0, -1)
    esper.process(1.0)
    assert position(crate) == (0, -1)
    assert len(space.collisions) == 1


def test_a_predicate_that_raises_lets_them_meet_and_is_told_of_after_the_step():
    floor = box((0, -2), (50, 1))
    crate = mover((0, 1), (1, 1), (0, -10), ec.Slide())
    space = ec.install()
    space.filter_pairs(lambda first, second: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        esper.process(1.0)

    assert position(crate) == (0, 0)
    assert [(e.first, e.second) for e in space.collisions] == [(floor, crate)]


def test_a_predicate_may_not_begin_a_step():
    box((0, -2), (50, 1))
    mover((0, 1), (1, 1), (0, -10), ec.Slide())
    space = ec.install()
    space.filter_pairs(lambda first, second: esper.process(1.0) or True)

    with pytest.raises(RuntimeError, match="begun inside"):
        esper.process(1.0)
    assert space.stats.step == 1


@pytest.mark.parametrize("name", ["snapshot", "drop_through", "restore"])
def test_a_predicate_may_not_save_nor_drop(name):
    box((0, -2), (50, 1))
    crate = mover((0, 1), (1, 1), (0, -10), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    arguments = {"snapshot": (), "drop_through": (crate,), "restore": (space.snapshot(),)}[name]
    space.filter_pairs(lambda first, second: getattr(space, name)(*arguments))

    with pytest.raises(RuntimeError, match=name):
        esper.process(1.0)
    assert position(crate) == (0, 0)


def test_several_predicates_must_all_agree():
    box((5, 0), (1, 1))
    ball = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Ally())
    space = ec.install()
    space.filter_pairs(lambda first, second: True)
    space.filter_pairs(lambda first, second: False, Ally)

    esper.process(1.0)

    assert position(ball) == (10, 0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("no",), "allows='no'"),
        ((print, 3), "first_kind=3"),
        ((print, Ally, "x"), "second_kind='x'"),
    ],
)
def test_what_is_no_predicate_is_refused(arguments, match):
    space = ec.install()
    with pytest.raises(TypeError, match=match):
        space.filter_pairs(*arguments)


def test_text_in_a_filter_is_an_error_that_names_it():
    ball = mover((0, 0), (1, 1), (10, 0), ec.Slide(), ec.Filter())
    ec.install()
    of(ball, ec.Filter).mask = "all"

    with pytest.raises(TypeError, match=rf"entity {ball}: Filter\.mask is 'all'"):
        esper.process(1.0)


def test_a_pair_filter_of_a_cleared_world_is_removed_by_its_first_remover_too(world):
    def never(first, second):
        return False

    space = ec.install()
    remove = space.filter_pairs(never)
    esper.clear_database()
    space.filter_pairs(never)
    first, second = box((0, 0), (1, 1)), box((5, 0), (1, 1))
    esper.process(1.0)
    assert not space.may_meet(first, second)

    remove()

    assert space.may_meet(first, second)
