"""What a snapshot holds, what restoring does to a world, and which bytes are refused."""

from __future__ import annotations

import itertools
import math
import struct
import zlib
from dataclasses import dataclass, replace

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.snapshot import capture, codec
from ecs_collide.snapshot.schema import rearrange
from tests.scenes import Falls, box, mixed_bodies, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Tag:
    """A custom component, with nothing in it."""


@dataclass
class Score:
    """A custom component, of numbers."""

    points: int
    rate: float = 0.5
    is_best: bool = True
    rival: int | None = None


def resting(n_steps=1):
    """Return a crate that rests on a floor, the floor, and their space."""
    floor = box((0, -1), (10, 1))
    crate = mover((0, 1), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    for _ in range(n_steps):
        esper.process(1.0)
    assert len(space.contacts()) == 1
    return crate, floor, space


def everything():
    """Return the components of all living entities, as texts."""
    return {
        entity: sorted(map(repr, esper.components_for_entity(entity)))
        for entity in esper.get_entities()
        if esper.entity_exists(entity)
    }


def only_first_kinds(n, data):
    """Return a snapshot without the types of the library from the n-th on, of which it has none."""
    state = codec.decode(data, 2, capture.WIDTHS)
    n_kinds, n_own = len(state.kinds), len(state.own) + len(state.plain)
    assert not any(len(state.holders(k)) for k in range(n, n_kinds))
    bits = [*range(n), *[None] * (n_kinds - n), *range(n, n + n_own)]
    masks = rearrange(state.masks, bits, n + n_own)
    return codec.encode(
        replace(state, kinds=state.kinds[:n], numbers=state.numbers[:n], masks=masks)
    )


# -- what is in it --


def test_layout_is_the_same_on_every_platform():
    for _ in range(2):
        esper.create_entity()
    mover((0.5, -0.0), (1, 2), (3, 4), ec.Deflect(0.25), ec.Mass(math.inf))
    box((9, 9), (1, 1), ec.Sensor(), Score(3), ec.Random(-1))
    space = ec.install()
    esper.process(1.0)

    data = only_first_kinds(25, space.snapshot())

    magic, version, dim, n_sections, length, _ = struct.unpack_from("<8sHHIQQ", data)
    assert (magic, version, dim, n_sections) == (b"\x89ecsc\r\n\x1a", 2, 2, 23)
    assert length == len(data) == 1013
    assert zlib.crc32(data) == 2333198815


def test_numbers_come_back_with_every_bit(elsewhere):
    values = [-0.0, 5e-324, 1 / 3, math.inf, -math.inf, math.nan, 2.0**600]
    entities = []
    for value in values:
        entities.append(mover((1, 2), (1, 1), (0, 0)))
        esper.component_for_entity(entities[-1], ec.Velocity).x = value
        esper.component_for_entity(entities[-1], ec.Position).z = value
    data = ec.install().snapshot()

    elsewhere().restore(data)

    for entity, value in zip(entities, values, strict=True):
        speed = esper.component_for_entity(entity, ec.Velocity)
        place = esper.component_for_entity(entity, ec.Position)
        assert struct.pack("<2d", speed.x, place.z) == struct.pack("<2d", value, value)


def test_whole_numbers_come_back_as_ints(elsewhere):
    body = mover(
        (1, 2), (1, 1), (0, 0), ec.Friction(0.5, "min"), ec.Filter(3, group=-2), ec.Dominance(4)
    )
    data = ec.install().snapshot()

    elsewhere().restore(data)

    found = {type(each): each for each in esper.components_for_entity(body)}
    numbers = [found[ec.Friction].code, found[ec.Filter].group, found[ec.Dominance].level]
    assert [*map(type, numbers)] == [int, int, int]
    assert found[ec.Friction].rule is ec.CombineRule.MIN


def test_a_component_without_a_number_is_refused_by_name():
    entity = mover((1, 2), (1, 1), (0, 0))
    space = ec.install()
    speed = esper.component_for_entity(entity, ec.Velocity)

    speed.y = "fast"
    with pytest.raises(TypeError, match=rf"entity {entity}: Velocity.y is 'fast'"):
        space.snapshot()
    del speed.y
    with pytest.raises(TypeError, match=rf"entity {entity}: Velocity .* has no y"):
        space.snapshot()


def test_saving_changes_nothing():
    for body in mixed_bodies():
        esper.create_entity(*body)
    space = ec.install()
    for step in range(6):
        esper.delete_entity(100 + step)
        first = space.snapshot()
        assert space.snapshot() == first
        esper.process(1 / 60)


def test_settings_events_and_counts_come_back(elsewhere):
    mover((0, 0), (1, 1), (9, 0), ec.Deflect())
    box((5, 0), (1, 1))
    space = ec.install(ec.Space(rest_speed=0.5, pair_limit=7))
    esper.process(1.0)
    data, collisions = space.snapshot(), list(space.collisions)
    assert len(collisions) == 1

    other = elsewhere()
    other.restore(data)

    assert (other.rest_speed, other.pair_limit) == (0.5, 7)
    assert list(other.collisions) == collisions
    assert list(other.contacts_began) == list(space.contacts_began)
    assert (other.stats.step, other.stats.impacts) == (1, 1)
    with pytest.raises(ValueError, match="read-only"):
        other.collision_array["time"] = 0


# -- what it does to a world --


def test_components_are_set_in_place_with_every_bit():
    crate, _, space = resting()
    place, speed = (esper.component_for_entity(crate, kind) for kind in (ec.Position, ec.Velocity))
    place.x, speed.x = 3, -0.0
    data = space.snapshot()
    space.restore(data)
    assert type(place.x) is int  # nothing was changed
    place.xy, speed.x = (50, 50), 0.0
    esper.process(1.0)

    space.restore(data)

    assert esper.component_for_entity(crate, ec.Position) is place
    assert place.xy == (3, 1)
    assert math.copysign(1.0, speed.x) == -1.0


def test_a_subclass_under_its_base_is_set_in_place():
    class Followed(ec.Position):
        pass

    _, _, space = resting()
    entity = esper.create_entity(ec.Extents(1, 1))
    held = Followed(40, 40)
    esper.add_component(entity, held, ec.Position)
    data = space.snapshot()
    held.set(0, 90)

    space.restore(data)

    assert esper.component_for_entity(entity, ec.Position) is held
    assert held.xy == (40, 40)


def test_what_came_since_goes_and_what_went_comes_back():
    crate, floor, space = resting()
    marker = esper.create_entity(ec.Position(7, 7))
    data, before = space.snapshot(), everything()
    esper.delete_entity(crate, immediate=True)
    esper.delete_entity(marker)
    esper.remove_component(floor, ec.Extents)
    esper.add_component(floor, ec.Velocity(1, 1))
    bullet = mover((0, 5), (1, 1), (0, -50), ec.Stop())
    doomed = mover((0, 15), (1, 1), (0, -50), ec.Stop())
    esper.delete_entity(doomed)

    space.restore(data)

    assert everything() == before
    assert not esper.entity_exists(bullet)
    assert space.entities == [floor, crate]
    space.check()
    esper.process(1.0)  # nothing is left that esper would delete twice
    assert [event.other(crate) for event in space.contacts_ended] == []


def test_new_entities_get_the_ids_they_got_the_first_time():
    _, _, space = resting()
    data = space.snapshot()
    first = [box((30 * n, 30), (1, 1)) for n in range(3)]

    space.restore(data)

    assert [box((30 * n, 30), (1, 1)) for n in range(3)] == first


def test_an_entity_that_is_to_be_deleted_takes_no_id():
    _, _, space = resting()
    data = space.snapshot()
    doomed = esper.create_entity(Tag())
    esper.delete_entity(doomed)

    space.restore(data)

    assert esper.create_entity(Tag()) == doomed
    esper.process(1.0)
    assert esper.entity_exists(doomed)


def test_entities_of_other_kinds_are_left_alone_and_keep_their_ids():
    old = esper.create_entity(Tag())
    gone = esper.create_entity(Tag())
    _, _, space = resting()
    data = space.snapshot()
    esper.delete_entity(gone, immediate=True)
    menu = esper.create_entity(Tag())
    esper.create_entity(ec.Position(3, 3))
    doomed = esper.create_entity(Tag())
    esper.delete_entity(doomed)

    space.restore(data)

    assert esper.has_component(menu, Tag)
    assert esper.has_component(old, Tag)
    assert not esper.entity_exists(gone)
    new = esper.create_entity(Tag())
    assert new > menu
    esper.process(1.0)
    assert esper.entity_exists(new)


def test_an_entity_that_became_a_body_since_is_none_again():
    tagged = esper.create_entity(Tag())
    _, _, space = resting()
    data = space.snapshot()
    esper.add_component(tagged, ec.Position(0, 50))
    esper.add_component(tagged, ec.Extents(1, 1))
    esper.process(1.0)

    space.restore(data)

    assert [type(item) for item in esper.components_for_entity(tagged)] == [Tag]
    assert tagged not in space


def test_a_body_that_moves_only_since_is_among_the_others_again():
    _, floor, space = resting()
    data = space.snapshot()
    esper.add_component(floor, ec.Velocity(0, 0))
    esper.process(1.0)

    space.restore(data)

    space.check()
    assert space.query((5, -1), (6, -1)) == [floor]


def test_a_body_that_lost_all_that_is_held_ends_its_contacts():
    floor = esper.create_entity(ec.Position(0, -1), ec.Extents(10, 1), Tag())
    mover((0, 1), (1, 1), (0, -1), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    esper.remove_component(floor, ec.Position)
    esper.remove_component(floor, ec.Extents)
    data = space.snapshot()
    esper.process(1.0)

    space.restore(data)
    assert space.contacts(floor)
    esper.process(1.0)

    assert [e.reason for e in space.contacts_ended] == [ec.EndReason.COMPONENT_REMOVED]
    assert floor not in space


def test_a_saved_game_in_a_world_that_was_built_anew(elsewhere):
    def build():
        box((0, -1), (10, 1))
        return [box((4 * n, 20), (1, 1), ec.Sensor(), Tag()) for n in range(3)]

    coins = build()
    space = ec.install()
    esper.delete_entity(coins[1])
    esper.process(1.0)
    data = space.snapshot()
    other = elsewhere()
    build()

    other.restore(data)

    assert [esper.entity_exists(coin) for coin in coins] == [True, False, True]
    assert esper.has_component(coins[0], Tag)


def test_restoring_is_no_teleport_and_a_teleport_before_it_stays_one():
    crate, floor, space = resting()
    esper.process(1.0)
    calm = space.snapshot()
    esper.component_for_entity(crate, ec.Position).x = 2
    moved = space.snapshot()
    esper.process(1.0)
    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.TELEPORTED]

    space.restore(calm)
    esper.process(1.0)
    assert len(space.contacts_ended) == 0
    space.restore(moved)
    esper.process(1.0)
    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.TELEPORTED]
    assert position(crate) == (2, 1)
    assert space.contacts(floor)


def test_a_fixed_body_that_has_been_moved_unnoticed_is_read_after_restoring():
    wall = box((10, 0), (1, 1), ec.Fixed())
    space = ec.install()
    esper.process(1.0)
    esper.component_for_entity(wall, ec.Position).x = 20
    esper.process(1.0)
    assert space.query_point((10, 0)) == [wall]  # nobody has told

    space.restore(space.snapshot())
    esper.process(1.0)

    assert space.query_point((10, 0)) == []
    assert space.query_point((20, 0)) == [wall]


def test_a_teleport_of_what_does_not_move_stays_one():
    # Its numbers are the same before and after the step: nothing is written.
    _, floor, space = resting()
    esper.component_for_entity(floor, ec.Position).x = 2
    moved = space.snapshot()
    esper.process(1.0)

    space.restore(moved)
    assert space.boxes([floor])[0].tolist() == [[-10, -2]]  # as of the last step
    esper.process(1.0)

    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.TELEPORTED]
    assert space.bounds(floor) == ((-8, -2), (12, 0))


def test_setting_the_very_object_again_is_seen():
    # What is known of a component is the object in it: the same one says nothing new.
    there, fast = 5.0, 3.0
    walker = mover((0, 0), (1, 1), (0, 0))
    still = box((50, 50), (1, 1))
    space = ec.install()
    esper.process(1.0)
    data = space.snapshot()
    for _ in range(2):
        esper.component_for_entity(walker, ec.Velocity).x = fast
        esper.component_for_entity(still, ec.Position).x = there
        esper.process(1.0)
        assert position(walker) == (3, 0)
        assert space.bounds(still) == ((4, 49), (6, 51))
        space.restore(data)


def replace_body(entity):
    esper.add_component(entity, ec.Position(0, 1))
    esper.add_component(entity, ec.Extents(1, 1))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda e: esper.delete_entity(e), ec.EndReason.ENTITY_DELETED),
        (lambda e: esper.delete_entity(e, immediate=True), ec.EndReason.ENTITY_DELETED),
        (lambda e: esper.remove_component(e, ec.Extents), ec.EndReason.COMPONENT_REMOVED),
        (lambda e: esper.clear_database(), ec.EndReason.WORLD_CLEARED),
        (replace_body, ec.EndReason.ENTITY_DELETED),
    ],
)
def test_what_no_step_has_seen_yet_is_seen_after_restoring(change, reason, elsewhere):
    crate, floor, space = resting()
    change(crate)
    data = space.snapshot()

    other = elsewhere()
    other.restore(data)

    assert other.contacts() == space.contacts()
    assert bool(space.contacts()) is (reason is ec.EndReason.COMPONENT_REMOVED)
    if reason is not ec.EndReason.WORLD_CLEARED:
        assert other.bounds(crate) == space.bounds(crate) == ((-1, 0), (1, 2))
    other.check()
    esper.process(1.0)
    assert [(e.first, e.second, e.reason) for e in other.contacts_ended] == [(floor, crate, reason)]


def test_events_of_a_step_that_failed_are_not_lost(elsewhere):
    crate, floor, space = resting()
    extra = mover((0, 50), (1, 1), (0, 0))
    esper.delete_entity(crate, immediate=True)
    esper.component_for_entity(extra, ec.Velocity).x = "fast"
    with pytest.raises(TypeError, match="no number"):
        esper.process(1.0)
    esper.component_for_entity(extra, ec.Velocity).x = 0.0
    data = space.snapshot()

    other = elsewhere()
    other.restore(data)
    esper.process(1.0)

    assert [(e.first, e.second) for e in other.contacts_ended] == [(floor, crate)]


def test_a_step_that_failed_has_seen_nothing(elsewhere):
    crate, _, space = resting()
    extra = mover((0, 50), (1, 1), (0, 0))
    esper.process(1.0)
    late = box((30, 30), (1, 1))
    box((31, 30), (1, 1))  # over it: of two that are new and do not move nothing is told
    esper.component_for_entity(crate, ec.Position).x = 2
    esper.component_for_entity(extra, ec.Velocity).x = "fast"
    with pytest.raises(TypeError, match="no number"):
        esper.process(1.0)
    esper.component_for_entity(extra, ec.Velocity).x = 0.0
    data = space.snapshot()
    assert late not in space

    bodies = space.entities
    esper.process(1.0)
    contacts = space.contacts()

    other = elsewhere()
    other.restore(data)

    assert other.entities == bodies
    esper.process(1.0)
    assert other.query((29, 29), (29.5, 31)) == [late]
    assert other.contacts() == contacts
    assert [e.reason for e in other.contacts_ended] == [ec.EndReason.TELEPORTED]


def test_what_does_not_move_and_a_failed_step_has_seen_elsewhere():
    sign, post = box((0, 0), (1, 1)), box((9, 9), (1, 1))
    space = ec.install()
    esper.process(1.0)
    esper.component_for_entity(sign, ec.Position).x = 30
    esper.component_for_entity(post, ec.Extents).x = "wide"
    with pytest.raises(TypeError, match="no number"):
        esper.process(1.0)
    esper.component_for_entity(post, ec.Extents).x = 1.0
    data = space.snapshot()

    space.restore(data)

    space.check()
    assert space.snapshot() == data
    esper.process(1.0)
    assert space.query((30, 0), (30, 0)) == [sign]


def test_reports_that_no_step_has_told_are_kept(elsewhere):
    crate, _, space = resting()
    extra = mover((0, 50), (1, 1), (0, 0))
    esper.component_for_entity(crate, ec.Velocity).x = math.nan
    space.update_bounds(1.0)  # a step that is never finished: it has found the nan
    esper.component_for_entity(extra, ec.Velocity).x = "fast"
    with pytest.raises(TypeError, match="no number"):
        esper.process(1.0)
    esper.component_for_entity(extra, ec.Velocity).x = 0.0
    data = space.snapshot()

    other = elsewhere()
    other.restore(data)

    assert other.reports == []
    with pytest.warns(RuntimeWarning, match=f"entity {crate} is skipped"):
        esper.process(1.0)


def test_a_quarantined_body_is_not_reported_again(elsewhere):
    crate, _, space = resting()
    esper.component_for_entity(crate, ec.Velocity).x = math.nan
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(1.0)
    data = space.snapshot()

    other = elsewhere()
    other.restore(data)

    assert list(map(str, other.reports)) == list(map(str, space.reports))
    assert math.isnan(other.reports[0].value)
    esper.process(1.0)
    assert len(other.reports) == 1
    other.check()
    esper.component_for_entity(crate, ec.Velocity).set(0, -1)
    esper.process(1.0)
    assert other.contacts(crate)


def test_queries_answer_as_they_did(elsewhere):
    for body in mixed_bodies():
        esper.create_entity(*body)
    space = ec.install()
    for _ in range(5):
        esper.process(1 / 60)
    data = space.snapshot()
    asked = [((x, y), (x + 6, y + 5)) for x in range(0, 60, 5) for y in range(0, 40, 5)]
    found = [space.query(*region) for region in asked]
    hits = [space.cast_ray(low, (40, 7)) for low, _ in asked]

    other = elsewhere()
    other.snapshot_with(Falls)
    other.restore(data)

    assert [other.query(*region) for region in asked] == found
    assert [other.cast_ray(low, (40, 7)) for low, _ in asked] == hits
    assert (other.velocities() == space.velocities()).all()


# -- when --


def test_in_handlers_both_can_be_done():
    crate, _, space = _falling()
    kept = [space.snapshot()]

    def again(event):
        kept.append(space.snapshot())
        space.restore(kept[0])

    stop = space.on_contact_began(again)
    start = position(crate)
    for _ in range(3):
        esper.process(1.0)
        assert position(crate) == start
    stop()
    space.restore(kept[-1])
    assert position(crate) == (0, 1)
    space.check()


@pytest.mark.filterwarnings("ignore:entity")
@pytest.mark.parametrize("value", [math.nan, -math.inf, 10**200, -(10**160), np.float64("nan")])
def test_a_step_done_again_reports_the_same_number_of_any_type(value):
    crate, _, space = resting()
    data = space.snapshot()
    esper.component_for_entity(crate, ec.Velocity).x = value
    between = space.snapshot()
    esper.process(1.0)
    after = space.snapshot()
    expected = list(space.reports)
    (report,) = expected
    assert type(report.value) is float

    for saved in (data, between, after):
        space.restore(saved)
        if saved is data:
            esper.component_for_entity(crate, ec.Velocity).x = value
        if saved is not after:
            esper.process(1.0)
        assert space.reports == expected
        assert space.snapshot() == after


def _falling():
    floor = box((0, -1), (10, 1))
    crate = mover((0, 2), (1, 1), (0, -3), ec.Slide())
    return crate, floor, ec.install()


@pytest.mark.parametrize("what", ["snapshot", "restore"])
def test_not_in_a_response(what):
    _, _, space = _falling()
    data = space.snapshot()
    space.respond_with(
        ec.Slide, lambda impact: space.snapshot() if what == "snapshot" else space.restore(data)
    )

    with pytest.raises(RuntimeError, match=rf"{what}\(\) was called (with)?in a"):
        esper.process(1.0)
    space.check()


def test_a_step_that_was_never_finished_is_not_saved_and_is_dropped():
    crate, _, space = _falling()
    data = space.snapshot()
    space.update_bounds(1.0)
    space.queue_impacts()
    space.resolve_impacts()
    with pytest.raises(RuntimeError, match="never finished"):
        space.snapshot()

    space.restore(data)

    assert space.snapshot() == data
    with pytest.raises(RuntimeError, match="out of order"):
        space.finish_step()
    esper.process(1.0)
    assert position(crate) == (0, 1)
    assert velocity(crate) == (0, 0)


def test_not_while_another_world_is_current(elsewhere):
    _, _, space = resting()
    data = space.snapshot()
    elsewhere()

    with pytest.raises(RuntimeError, match="install one space"):
        space.snapshot()
    with pytest.raises(RuntimeError, match="install one space"):
        space.restore(data)
    assert everything() == {}


def test_without_a_world():
    with pytest.raises(RuntimeError, match="belongs to no world yet"):
        ec.Space().snapshot()


def test_an_esper_that_keeps_its_entities_elsewhere(monkeypatch):
    _, _, space = resting()
    data = space.snapshot()
    monkeypatch.setattr(esper, "_entity_count", iter(itertools.count(9)).__next__)

    with pytest.raises(RuntimeError, match="no _entity_count that is a count"):
        space.snapshot()
    with pytest.raises(RuntimeError, match="no _entity_count that is a count"):
        space.restore(data)


class Proud(ec.Dominance):
    """A component of the library that can refuse to be set."""

    __slots__ = ()
    refuses = False

    def __setattr__(self, name, value):
        if Proud.refuses:
            raise KeyError("not now")
        super().__setattr__(name, value)


@pytest.mark.parametrize("is_read", [True, False])
def test_a_restore_that_fails_leaves_the_world_as_it_was_and_gives_way_to_the_next(
    is_read, monkeypatch
):
    crate, floor, space = resting()
    late = mover((9, 9), (1, 1), (0, 0), Tag())
    proud = Proud(3)
    esper.add_component(late, proud, ec.Dominance)
    esper.process(1.0)
    good = space.snapshot()
    esper.process(1.0)
    esper.delete_entity(floor, immediate=True)
    proud.level = 5
    esper.component_for_entity(late, ec.Position).y = 5.0
    esper.component_for_entity(crate, ec.Position).x = 7.0 if is_read else "seven"
    esper.remove_component(crate, ec.Velocity)
    new = esper.create_entity(ec.Position(50, 0), ec.Extents(1, 1))
    dying = esper.create_entity(ec.Position(60, 0), ec.Extents(1, 1))
    esper.delete_entity(dying)
    now, ids, there = is_read and space.snapshot(), set(esper._dead_entities), everything()
    order = list(esper.get_entities())

    monkeypatch.setattr(Proud, "refuses", True)
    for _ in range(2):
        with pytest.raises(KeyError, match="not now"):
            space.restore(good)
        assert everything() == there
        assert set(esper._dead_entities) == ids
        assert list(esper.get_entities()) == order
        assert [e for e, _ in esper.get_component(Tag)] == [late]
        assert not is_read or space.snapshot() == now
        space.check()
    monkeypatch.setattr(Proud, "refuses", False)
    space.restore(good)

    assert space.snapshot() == good
    assert esper.entity_exists(floor)
    assert not esper.entity_exists(new)
    esper.process(1.0)
    space.check()
