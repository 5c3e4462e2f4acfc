"""Filters by the names of categories."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide.components.filters import NAMES
from ecs_collide.snapshot import codec
from tests.scenes import box, mover, of, position

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_names_select_who_meets_whom():
    wall = box((20, 0), (1, 9))
    player = box((5, 0), (1, 1), ec.Filter("player", mask="enemy"))
    enemy = box((10, 0), (1, 1), ec.Filter("enemy", mask=["player", "shot"]))
    shot = mover((0, 0), (1, 1), (40, 0), ec.Sensor(), ec.Filter("shot", mask="enemy, default"))
    space = ec.install()

    esper.process(1.0)

    assert [hit.other(shot) for hit in space.collisions] == [enemy, wall]
    assert (
        f"entity {shot} has Filter.mask 0x5 (default enemy), and none of its bits is among the "
        f"categories of entity {player}, 0x2 (player)"
    ) in str(space.explain(player, shot))


def test_bits_are_given_in_the_order_of_first_use_and_default_is_that_of_no_filter():
    one = ec.Filter("a b", mask=("c", "a"))

    assert (one.categories, one.mask, one.group) == (2 | 4, 8 | 2, 0)
    assert ec.Filter("default").categories == ec.Filter().categories == 1
    assert ec.Filter("c").categories == 8
    assert ec.Filter("a", mask="all").mask == ec.ALL
    assert ec.Filter({"a"}).categories == 2
    assert ec.Filter("", mask=[]).mask == 0


def test_a_tilde_means_all_but_these():
    assert ec.Filter("a", mask="~a").mask == ec.ALL & ~2
    assert ec.Filter("a", mask="~a ~b").mask == ec.ALL & ~6
    assert ec.Filter("a", mask=["~a", "~default"]).mask == ec.ALL & ~3
    assert ec.Filter(2, mask=~2).mask == ec.ALL & ~2  # as ever
    with pytest.raises(ValueError, match=r"mask='~a b'\) must be all names with ~, or none"):
        ec.Filter("a", mask="~a b")
    with pytest.raises(ValueError, match="categories='~a'"):
        ec.Filter("~a")


def test_set_keeps_what_is_skipped():
    its = ec.Filter("a", mask="b", group=3)

    its.set(mask="~a")
    assert (its.categories, its.mask, its.group) == (2, ec.ALL & ~2, 3)
    its.set("b", group=-1)
    assert (its.categories, its.mask, its.group) == (4, ec.ALL & ~2, -1)
    with pytest.raises(ValueError, match="Filter"):
        its.set("a", mask=2**33)
    assert (its.categories, its.mask) == (4, ec.ALL & ~2)  # nothing of it


def test_filters_show_names_where_all_bits_have_one():
    assert repr(ec.Filter(2, 4)) == "Filter(categories=2, mask=4, group=0)"
    its = ec.Filter("a", mask="b default", group=2)
    assert repr(its) == "Filter(categories='a', mask='default b', group=2)"
    assert eval(repr(its), {"Filter": ec.Filter}) == its
    assert repr(ec.Filter("a", "~b")) == "Filter(categories='a', mask='~b', group=0)"
    assert repr(ec.Filter(64, "a")) == "Filter(categories=64, mask='a', group=0)"


def test_named_at_once_they_have_these_bits_and_others_are_refused():
    assert ec.name_categories("player", "enemy", "shot") == (2, 4, 8)
    assert ec.name_categories("player", "enemy", "shot") == (2, 4, 8)

    assert ec.Filter("shot").categories == 8
    with pytest.raises(ValueError, match="'enmey' is no category; those named are default, player"):
        ec.Filter("shot", mask="enmey")
    for others in (("enemy", "player", "shot"), ("player",), ("player", "enemy", "shot", "boss")):
        with pytest.raises(ValueError, match="categories have the names player, enemy, shot"):
            ec.name_categories(*others)


@pytest.mark.parametrize("name", ["", "a b", "a,b", "~a", "all", "default", "3", "-a", 3])
def test_what_can_be_no_name_is_refused(name):
    with pytest.raises(ValueError, match="to be the name of a category"):
        ec.name_categories("fine", name)
    assert NAMES.names == []


def test_there_are_bits_for_31_names():
    for n in range(31):
        assert ec.Filter(f"n{n}").categories == 2 << n
    with pytest.raises(ValueError, match="'more' is no category"):
        ec.Filter("more")
    NAMES.clear()
    with pytest.raises(ValueError, match="31 names at most, each given once"):
        ec.name_categories(*(f"n{n}" for n in range(32)))
    with pytest.raises(ValueError, match="31 names at most, each given once"):
        ec.name_categories("a", "a")


@pytest.mark.parametrize("bad", [1.5, b"player", ["player", 3], None.__class__])
def test_what_is_neither_bits_nor_names_is_refused(bad):
    with pytest.raises(TypeError, match=r"Filter\(categories=.* must be a whole number"):
        ec.Filter(bad)


def snapshot_of(*names):
    """Return a snapshot of a world with a body of the last of some categories."""
    bodies = [box((0, 0), (1, 1), ec.Filter(name)) for name in names]
    space = ec.install()
    esper.process(1.0)
    return space, bodies[-1], space.snapshot()


def test_a_snapshot_brings_its_names_along():
    space, body, data = snapshot_of("player", "enemy")
    NAMES.clear()  # as in another program

    space.restore(data)

    assert NAMES.names == ["player", "enemy"]
    assert of(body, ec.Filter) == ec.Filter("enemy")


def test_a_snapshot_whose_names_have_other_bits_is_refused_and_nothing_changes():
    space, body, data = snapshot_of("player", "enemy")
    NAMES.clear()
    ec.Filter("enemy")
    of(body, ec.Position).x = 7.0

    with pytest.raises(ValueError, match="categories player, enemy, and this program enemy"):
        space.restore(data)
    assert position(body) == (7, 0)
    NAMES.clear()
    ec.name_categories("player")
    with pytest.raises(ValueError, match="by name_categories"):
        space.restore(data)


def test_a_program_with_more_names_takes_older_snapshots():
    space, _, data = snapshot_of("player", "enemy")
    ec.Filter("shot")
    space.restore(data)
    assert NAMES.names == ["player", "enemy", "shot"]


def test_without_names_a_snapshot_has_the_bytes_that_it_always_had():
    box((0, 0), (1, 1), ec.Filter(2))
    space = ec.install()
    assert b"player" not in space.snapshot()
    ec.Filter("player")
    assert b"player" in space.snapshot()


@pytest.mark.parametrize("names", ['["a","a"]', '["a b"]', "[3]", '"ab"', '["a"],["b"]', "7"])
def test_forged_names_are_refused(names):
    space, _, data = snapshot_of("a")
    at = data.index(b'["a"]')
    forged = bytearray(data[:at] + names.encode() + data[at + 5 :])
    # Lengths and checksum are put right, so that only the names are wrong.
    n_sections = codec._HEADER.unpack_from(data)[3]
    place = codec._HEADER.size + 8 * codec._SECTIONS.index("text")
    length = int.from_bytes(data[place : place + 8], "little") + len(names) - 5
    forged[place : place + 8] = length.to_bytes(8, "little")
    *start, _, _ = codec._HEADER.unpack_from(data)
    header = codec._HEADER.pack(*start, len(forged), 0)
    checksum = codec._checksum(header, bytes(forged[len(header) :]))
    forged[: len(header)] = codec._HEADER.pack(*start, len(forged), checksum)
    assert n_sections == len(codec._SECTIONS)

    with pytest.raises(ValueError, match="contradicts itself"):
        space.restore(bytes(forged))
