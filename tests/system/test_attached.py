"""Attached boxes: where they are, what they meet, and what their owners notice of them."""

from __future__ import annotations

import math
import random
import warnings

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, of, position, set_velocity, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

EVERYWHERE = (-1000.0, -1000.0), (1000.0, 1000.0)


def attached(owner, offset, half, *components):
    """Create a box that is attached to an owner."""
    zeros = (0.0,) * len(offset)
    return box(zeros, half, ec.Attached(owner, offset), *components)


def crossings(space, entity):
    """Return whom a box has entered in the last step, and when."""
    return [(e.other(entity), e.time) for e in space.collisions_of(entity)]


def test_a_box_is_at_its_owner_plus_the_offset_after_each_step():
    box((0, -10), (100, 1))
    hero = mover((0, 0), (1, 2), (70, -35), ec.Slide())
    feet = attached(hero, (0.1, -2), (0.9, 0.1))
    ec.install()

    for _ in range(40):
        esper.process(1 / 60)
        x, y = position(hero)
        assert position(feet) == (x + 0.1, y - 2)


@pytest.mark.parametrize(("dim", "motion"), [(2, "velocity"), (3, "velocity"), (2, "swept")])
def test_a_box_that_stops_with_its_owner_at_a_wall_does_not_reach_what_is_behind_it(dim, motion):
    #
    #    +-+  . . . .   +-+
    #    |z| >          |c|      c: at 13.3 ... 13.7, and z would come to 20
    #    +-+            +-+
    #  +---+ ====> +--+
    #  | O |       | W|
    #  +---+       +--+
    #
    z, deep = (2.0,) * (dim - 2), (0.5,) * (dim - 2)
    wall = box((10, 0, *z), (1, 1, 9)[:dim])
    near, behind = box((6, 4, *z), (0.5, 0.5, *deep)), box((13.5, 4, *z), (0.2, 0.5, *deep))
    speed = [ec.Velocity(1200, 0)] if motion == "velocity" else []
    owner = box((0, 0, 0)[:dim], (1, 1, 1)[:dim], ec.Slide(), *speed)
    zone = attached(owner, (2, 4, *z), (0.5, 0.5, *deep))
    space = ec.install(ec.Space(dim=dim, motion=motion), dim=dim)
    if motion == "swept":
        esper.process(1 / 60)
        of(owner, ec.Position).x = 20.0

    esper.process(1 / 60)

    assert position(owner, dim) == (8, 0, 0)[:dim]
    assert position(zone, dim) == (10, 4, *z)
    assert [entity for entity, _ in crossings(space, zone)] == [near]
    assert behind not in [c.other(zone) for c in space.contacts(zone)]
    assert wall not in [c.other(zone) for c in space.contacts(zone)]


def test_a_box_bends_with_its_owner_at_the_instant_of_the_answer():
    # The owner bounces at 0.4, half way, and the zone touches `back` only on the way back.
    box((5, 0), (1, 5))
    back = box((-8, 4), (0.5, 0.5))
    owner = mover((0, 0), (1, 1), (7.5 * 60, 0), ec.Deflect())
    zone = attached(owner, (-7, 4), (0.5, 0.5))
    space = ec.install()

    esper.process(1 / 60)

    assert position(owner) == pytest.approx((-1.5, 0))
    assert position(zone) == (position(owner)[0] - 7, 4)
    assert crossings(space, zone) == [(back, pytest.approx(0.8))]
    assert [e.velocity_second[0] for e in space.collisions_of(zone)] == [-450.0]


def test_a_sensor_under_the_feet_keeps_one_contact_with_the_floor_it_slides_along():
    floor = box((0, -10), (1000, 1))
    hero = mover((0, -7), (1, 2), (70, -35), ec.Slide())
    feet = attached(hero, (0, -2), (0.9, 0.1))
    space = ec.install()
    began, ended = [], []
    space.on_contact_began(lambda event: began.append((event.first, event.second)))
    space.on_contact_ended(lambda event: ended.append((event.first, event.second)))

    for _ in range(40):
        of(hero, ec.Velocity).y -= 15.0
        esper.process(1 / 60)

    assert began == [(floor, hero), (floor, feet)]
    assert ended == []


def test_a_box_meets_neither_its_owner_nor_other_boxes_of_its_owner():
    owner, other = (mover((x, 0), (1, 1), (0, 0), ec.Slide()) for x in (0, 3))
    boxes = [attached(owner, (0.5, 0), (2, 2)) for _ in range(2)]
    third = attached(other, (0, 0), (2.5, 2.5))
    space = ec.install()

    esper.process(1 / 60)

    pairs = {(c.first, c.second) for c in space.contacts()}
    assert pairs == {(other, boxes[0]), (other, boxes[1]), (owner, third),
                     (boxes[0], third), (boxes[1], third)}  # fmt: skip


def test_boxes_respect_filters():
    shot, enemy = 2, 4
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide(), ec.Filter(categories=enemy, mask=0))
    hitbox = attached(owner, (0, 0), (2, 2), ec.Filter(categories=enemy, mask=shot))
    bullet = mover((10, 0), (0.5, 0.5), (-600, 0), ec.Filter(categories=shot, mask=enemy))
    bystander = box((-2, 0), (0.5, 0.5))
    space = ec.install()

    esper.process(1 / 60)

    assert [entity for entity, _ in crossings(space, hitbox)] == [bullet]
    assert not space.collisions_of(bystander)


def build_platformer(rng, with_boxes):
    """Create crates, a lift, riders and bouncing balls; some have boxes where it is wanted."""
    box((0, -20), (60, 2))
    box((-40, 0), (2, 30))
    box((40, 0), (2, 30))
    lift = mover((0, -15), (10, 1), (9, 6), ec.Carry())
    others = [
        mover((rng.uniform(-30, 30), rng.uniform(-10, 20)), (2, 2),
              (rng.uniform(-90, 90), rng.uniform(-300, 0)),
              rng.choice([ec.Slide(), ec.Deflect(0.5), ec.Push()]))
        for _ in range(10)
    ]  # fmt: skip
    soft = [
        mover((rng.uniform(-3, 3), rng.uniform(5, 9)), (1, 1), (0, -50), ec.Slide(), ec.Separate(9))
        for _ in range(4)
    ]
    boxes = []
    if with_boxes:
        for owner in [lift, *others, *soft]:
            offset = rng.uniform(-3, 3), rng.uniform(-3, 3)
            boxes.append((owner, offset, attached(owner, offset, (1.5, 0.5))))
    return [lift, *others, *soft], boxes


@pytest.mark.slow_in_python
@pytest.mark.parametrize("seed", range(3))
def test_boxes_change_nobodys_motion(seed):
    runs = []
    here = esper.current_world
    for with_boxes in (False, True):
        esper.switch_world(f"boxes {with_boxes}")
        bodies, _ = build_platformer(random.Random(seed), with_boxes)
        space = ec.install()
        run = []
        for _ in range(60):
            for body in bodies[1:]:
                of(body, ec.Velocity).y -= 5.0
            esper.process(1 / 60)
            solid = [
                (e.first, e.second, e.time, e.outcome)
                for e in space.collisions
                if e.second <= bodies[-1]
            ]
            run.append(
                (solid, space.positions(bodies).tobytes(), space.velocities(bodies).tobytes())
            )
        runs.append(run)
    esper.switch_world(here)
    for with_boxes in (False, True):
        esper.delete_world(f"boxes {with_boxes}")

    assert runs[0] == runs[1]


@pytest.mark.slow_in_python
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("wrap", [None, (120.0, None)])
def test_contacts_of_boxes_are_the_overlaps_at_the_end_of_each_step(seed, wrap):
    rng = random.Random(seed)
    bodies, boxes = build_platformer(rng, True)
    space = ec.install(wrap=wrap)
    for _ in range(60):
        for body in bodies[1:]:
            of(body, ec.Velocity).y -= 5.0
        esper.process(1 / 60)
        space.check()
        for owner, offset, entity in boxes:
            place = [a + b for a, b in zip(position(owner), offset, strict=True)]
            if wrap:
                place[0] %= wrap[0]
            assert position(entity) == pytest.approx(tuple(place), abs=1e-9)
        low, high = space.bounds(boxes[0][2])
        inside = tuple(x + 1e-6 for x in low), tuple(x - 1e-6 for x in high)
        own = {boxes[0][0], *(e for o, _, e in boxes if o == boxes[0][0])}
        found = set(space.query(*inside)) - own
        touching = {c.other(boxes[0][2]) for c in space.contacts(boxes[0][2])}
        assert found <= touching


def test_a_box_follows_a_rider_and_what_push_out_and_soft_crowds_do():
    lift = mover((0, 0), (20, 1), (30, 0), ec.Carry())
    rider = mover((0, 2), (1, 1), (0, -10), ec.Slide())
    stuck = mover((100, 0), (1, 1), (0, 0), ec.Slide(), ec.PushOut(30))
    box((101.5, 0), (1, 5))
    soft = [mover((200 + x, 0), (1, 1), (0, 0), ec.Slide(), ec.Separate(6)) for x in (0, 0.5)]
    owners = [lift, rider, stuck, *soft]
    boxes = [attached(owner, (0, 3), (0.5, 0.5)) for owner in owners]
    before = {owner: position(owner)[0] for owner in owners}
    gate = box((0.75, 5), (0.1, 0.5))  # the rider's box, at (0, 5), comes to it with the lift
    space = ec.install()
    crossed = []
    space.on_collision(lambda event: crossed.append((event.first, event.second)))

    for _ in range(4):
        of(rider, ec.Velocity).y = -10.0
        esper.process(1 / 60)
        for owner, entity in zip(owners, boxes, strict=True):
            x, y = position(owner)
            assert position(entity) == (x, y + 3)

    assert all(position(owner)[0] != before[owner] for owner in owners)
    assert [pair for pair in crossed if gate in pair] == [(boxes[1], gate)]


def test_a_box_of_an_owner_that_is_stopped_at_an_instant_enters_nothing_from_then_on():
    # Both faces are reached at 0.5; the wall stops the owner first.
    wall, target = box((5, 0), (1, 1)), box((5, 4), (1, 1))
    owner = mover((0, 0), (1, 1), (6, 0), ec.Slide())
    zone = attached(owner, (0, 4), (1, 1))
    space = ec.install()

    esper.process(1.0)

    assert [(e.first, e.second, e.time) for e in space.collisions] == [(wall, owner, 0.5)]
    assert not space.collisions_of(target)
    assert not space.contacts(zone)
    assert position(zone) == (3, 4)


def test_a_box_enters_what_a_soft_crowd_moves_its_owner_to():
    left, right = (mover((x, 0), (1, 1), (0, 0), ec.Slide(), ec.Separate(6)) for x in (-0.5, 0.5))
    zone = attached(right, (0, 5), (1, 1))
    space = ec.install()
    esper.process(0.0)
    target = box((2.55, 5), (1, 1))

    esper.process(1 / 60)

    moved = position(right)[0] - 0.5
    assert moved > 0.06
    assert position(left)[0] < -0.5
    assert crossings(space, zone) == [(target, pytest.approx(0.05 / moved))]


def test_a_box_enters_what_its_owner_is_pushed_out_to():
    box((0, 0), (1, 5))
    owner = mover((1.5, 0), (1, 1), (0, 0), ec.Slide(), ec.PushOut(15))
    zone = attached(owner, (0, 20), (1, 1))
    target = box((3.5 + 0.125, 20), (1, 1))
    space = ec.install()

    esper.process(1 / 60)

    assert position(owner) == (1.75, 0)
    assert crossings(space, zone) == [(target, 0.5)]


def test_an_offset_that_the_game_changes_sweeps_the_box_along():
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    target = box((50, 10), (0.5, 0.5))
    sword = attached(owner, (-100, 10), (0.5, 0.5))
    space = ec.install()
    esper.process(1 / 60)

    of(sword, ec.Attached).offset = (100, 10)
    esper.process(1 / 60)

    assert position(sword) == (100, 10)
    assert crossings(space, sword) == [(target, pytest.approx(149 / 200))]
    assert [event.other(sword) for event in space.contacts_ended] == [target]


def test_a_teleport_of_a_box_sets_its_offset_and_sweeps_nothing():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    box((50, 10), (0.5, 0.5))
    sword = attached(owner, (-100, 10), (0.5, 0.5))
    space = ec.install()
    esper.process(1 / 60)

    space.teleport(sword, (100, 10))
    esper.process(1 / 60)

    assert of(sword, ec.Attached).offset == (99, 10, 0)
    assert position(sword) == (101, 10)
    assert not space.collisions


def test_a_position_that_the_game_sets_in_a_box_has_no_effect():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    floor = box((0, -5), (100, 1))
    feet = attached(owner, (0, -4), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    of(feet, ec.Position).set(500, 500)
    esper.process(1 / 60)

    assert position(feet) == (2, -4)
    assert [c.other(feet) for c in space.contacts(feet)] == [floor]
    assert not space.contacts_ended


def test_a_box_jumps_with_an_owner_that_is_teleported():
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    here, between, there = (box((x, 5), (1, 1)) for x in (0, 50, 100))
    zone = attached(owner, (0, 5), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    assert [c.other(zone) for c in space.contacts(zone)] == [here]

    space.teleport(owner, (100, 0))
    esper.process(1 / 60)

    assert [(e.other(zone), e.reason) for e in space.contacts_ended] == [
        (here, ec.EndReason.TELEPORTED)
    ]
    assert [e.other(zone) for e in space.contacts_began] == [there]
    assert not space.collisions_of(between)
    assert space.interpolated(0.0, [owner, zone]).tolist() == [[100, 0], [100, 5]]


def test_a_box_is_drawn_between_the_steps_along_with_its_owner():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    zone = attached(owner, (0, 5), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    esper.process(1 / 60)

    assert space.interpolated(0.5, [owner, zone]).tolist() == [[1.5, 0], [1.5, 5]]


def test_a_box_crosses_the_edge_of_a_world_that_wraps_on_its_own():
    owner = mover((94, 50), (1, 1), (120, 0), ec.Slide())
    target = box((1, 60), (0.5, 5))
    feeler = attached(owner, (4, 10), (0.5, 0.5))
    space = ec.install(wrap=(100, 100))
    seen = []
    began = ended = 0
    for _ in range(6):
        esper.process(1 / 60)
        space.check()
        seen.append((position(owner)[0], position(feeler)[0]))
        began += sum(e.other(feeler) == target for e in space.contacts_began if
                     feeler in (e.first, e.second))  # fmt: skip
        ended += sum(feeler in (e.first, e.second) for e in space.contacts_ended)

    assert seen == [(96, 0), (98, 2), (0, 4), (2, 6), (4, 8), (6, 10)]
    assert (began, ended) == (1, 1)


def test_a_contact_of_a_box_survives_the_edge_of_a_world_that_wraps():
    floor = box((50, 10), (50, 1))
    owner = mover((95, 14), (1, 1), (60, 0), ec.Slide())
    feet = attached(owner, (3, -3), (0.5, 0.5))
    space = ec.install(wrap=(100, None))
    ended = []
    space.on_contact_ended(ended.append)

    for _ in range(20):
        esper.process(1 / 60)
        assert floor in [c.other(feet) for c in space.contacts(feet)]

    # The floor ends and begins at the edge: across it the box touches it at another image.
    assert all(feet in (e.first, e.second) for e in ended)


def test_a_box_of_a_sleeping_owner_stays_awake_and_notices_who_comes():
    box((0, -2), (50, 1))
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    zone = attached(owner, (0, 0), (5, 5))
    space = ec.install()
    steps(40, 1 / 60)
    assert space.stats.asleep == 1

    ghost = mover((20, 3), (1, 1), (-600, 0))
    esper.process(1 / 60)
    esper.process(1 / 60)

    assert [e.other(zone) for e in space.collisions_of(zone)] == [ghost]
    assert space.stats.asleep == 1


def test_a_box_moves_in_the_step_in_which_its_sleeping_owner_is_hit():
    owner = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    zone = attached(owner, (0, 5), (1, 1))
    target = box((4, 5), (1, 1))
    space = ec.install()
    steps(40, 1 / 60)
    assert space.stats.asleep == 1

    mover((-12, 0), (1, 1), (1200, 0), ec.Slide(), ec.Mass(1e9))
    esper.process(1 / 60)

    x, y = position(owner)
    assert x > 5
    assert position(zone) == (x, y + 5)
    assert [e.other(zone) for e in space.collisions_of(zone)] == [target]


def test_a_box_is_skipped_as_long_as_its_owner_is_disabled():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    wall = box((0, 5), (100, 1))
    zone = attached(owner, (0, 5), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    esper.add_component(owner, ec.Disabled())
    esper.process(1 / 60)
    ended = [(e.other(zone), e.reason) for e in space.contacts_ended]
    found = space.query(*EVERYWHERE)
    esper.process(1 / 60)
    esper.remove_component(owner, ec.Disabled)
    of(owner, ec.Position).x = 50.0
    esper.process(1 / 60)

    assert ended == [(wall, ec.EndReason.DISABLED)]
    assert found == [wall]
    assert position(zone) == (51, 5)
    assert [c.other(zone) for c in space.contacts(zone)] == [wall]
    assert space.reports == []
    space.check()


def test_a_disabled_box_is_skipped_alone():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    zone = attached(owner, (0, 5), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    esper.add_component(zone, ec.Disabled())
    esper.process(1 / 60)
    assert space.query(*EVERYWHERE) == [owner]
    esper.remove_component(zone, ec.Disabled)
    esper.process(1 / 60)

    assert space.query(*EVERYWHERE) == [owner, zone]
    assert position(zone) == (3, 5)


def test_a_box_whose_owner_is_no_body_is_reported_once_and_comes_back_with_another():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    other = mover((0, 50), (1, 1), (60, 0), ec.Slide())
    wall = box((0, 5), (100, 1))
    zone = attached(owner, (0, 5), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    esper.remove_component(owner, ec.Position)
    with pytest.warns(RuntimeWarning, match=f"entity {zone} is skipped .* Attached.owner is"):
        esper.process(1 / 60)
    assert [(e.other(zone), e.reason) for e in space.contacts_ended] == [
        (wall, ec.EndReason.QUARANTINED)
    ]
    esper.process(1 / 60)
    assert space.query(*EVERYWHERE) == [other, wall]
    assert f"entity {zone} is quarantined: Attached.owner is {owner}" in str(space.doctor())
    space.check()
    of(zone, ec.Attached).owner = other
    esper.process(1 / 60)

    assert len(space.reports) == 1
    assert position(zone) == (4, 55)
    assert zone in space.query(*EVERYWHERE)


@pytest.mark.parametrize(
    ("chain", "told"),
    [
        (True, "must not be attached itself: attach both boxes to entity 1"),
        (False, "must be an entity with Position and Extents"),
        (None, "must be another entity"),
    ],
)
def test_an_owner_that_cannot_be_one_is_refused_by_name(chain, told):
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    first = attached(owner, (0, 5), (1, 1))
    second = attached(first, (0, 5), (1, 1))
    if chain is False:
        of(second, ec.Attached).owner = 77
    elif chain is None:
        of(second, ec.Attached).owner = second
    space = ec.install()

    with pytest.warns(RuntimeWarning, match=told) as caught:
        esper.process(1 / 60)

    assert f"entity {second} is skipped" in str(caught[0].message)
    assert [report.field for report in space.reports] == ["Attached.owner"]
    assert space.query(*EVERYWHERE) == [owner, first]


@pytest.mark.parametrize("wrap", [None, (1024.0, 1024.0)])
@pytest.mark.parametrize(("field", "value"), [("x", math.nan), ("y", math.inf), ("owner", 1.5)])
def test_numbers_of_a_box_that_cannot_be_computed_with_are_reported(field, value, wrap):
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    zone = attached(owner, (0, 5), (1, 1))
    others = [box((5 * k, 90), (1, 1)) for k in range(40)]
    space = ec.install(wrap=wrap)
    esper.process(1 / 60)

    setattr(of(zone, ec.Attached), field, value)
    with pytest.warns(RuntimeWarning, match=rf"entity {zone} .*Attached\.{field} is"):
        esper.process(1 / 60)
    esper.process(1 / 60)

    assert len(space.reports) == 1
    space.check()
    space.update()
    assert space.query(*EVERYWHERE) == [owner, *others]
    of(zone, ec.Attached).offset = (0, 5)
    of(zone, ec.Attached).owner = owner
    esper.process(1 / 60)
    assert position(zone) == (position(owner)[0], 5)


def test_a_box_that_becomes_attached_or_is_no_longer():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    entity = box((3, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)

    esper.add_component(entity, ec.Attached(owner, (0, 1)))
    esper.process(1 / 60)
    assert position(entity) == (2, 1)
    assert space.contacts() == []
    esper.remove_component(entity, ec.Attached)
    esper.process(1 / 60)
    esper.process(1 / 60)

    assert position(entity) == (2, 1)
    assert [(c.first, c.second) for c in space.contacts()] == [(owner, entity)]
    space.check()


def test_a_world_with_corners_as_positions_may_have_boxes():
    class Corner:
        """The corner with the least x and y, as many games have it."""

        def __init__(self, x, y):
            self.x, self.y = float(x), float(y)

    class Size:
        """Whole sizes."""

        def __init__(self, x, y):
            self.x, self.y = float(x), float(y)

    space = ec.install(
        components=ec.Components(position=Corner, extents=Size, whole_sizes=True, anchor=(0, 0))
    )
    owner = esper.create_entity(Corner(0, 0), Size(2, 4), ec.Velocity(60, 0), ec.Slide())
    zone = esper.create_entity(Corner(7, 7), Size(1, 1), ec.Attached(owner, (0, 3)))
    wall = esper.create_entity(Corner(10, 0), Size(1, 10))
    steps(3, 1 / 60)
    of(zone, Corner).x = 99.0
    esper.process(1 / 60)

    assert (of(zone, Corner).x, of(zone, Corner).y) == (4.5, 4.5)
    space.resize(owner, height=2)
    assert (of(owner, Corner).x, of(owner, Corner).y, of(owner, Size).y) == (4, 0, 2)
    steps(10, 1 / 60)
    assert [c.other(owner) for c in space.contacts(owner)] == [wall]
    assert (of(owner, Corner).x, of(owner, Corner).y) == (8, 0)
    assert (of(zone, Corner).x, of(zone, Corner).y) == (8.5, 3.5)
    space.check()


def test_a_step_that_fails_leaves_boxes_where_they_were():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    wall = box((0, 5), (100, 1))
    zone = attached(owner, (0, 5), (1, 1))
    late = mover((0, 50), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)

    of(zone, ec.Attached).offset = (3, 5)
    of(late, ec.Velocity).x = "nonsense"
    with pytest.raises(TypeError):
        esper.process(1 / 60)
    assert position(zone) == (1, 5)
    assert [c.other(zone) for c in space.contacts(zone)] == [wall]
    space.check()
    of(late, ec.Velocity).x = 0.0
    esper.process(1 / 60)

    assert position(zone) == (5, 5)
    assert not space.contacts_ended


def test_explain_names_boxes_and_owners():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    zone, other = attached(owner, (0, 5), (1, 1)), attached(owner, (0, 5), (1, 1), ec.Slide())
    wall = box((0, 5), (100, 1))
    space = ec.install()
    esper.process(1 / 60)

    assert "a box never meets its owner" in str(space.explain(owner, zone))
    assert "boxes of one owner never meet" in str(space.explain(zone, other))
    told = space.explain(zone, wall)
    assert told.verdict is ec.Verdict.CROSSING
    assert f"attached to entity {owner}" in str(told)
    assert [f.cause for f in space.doctor()] == ["attached_wins"]


def test_doctor_has_nothing_to_say_of_an_attached_box_with_a_response_of_the_game():
    class Shield:
        """What throws bullets back."""

    ship = mover((0, 0), (8, 8), (60, 0), ec.Slide())
    attached(ship, (16, 0), (2, 16), Shield())
    space = ec.install()
    space.respond_with(Shield)(lambda impact: impact.resolve())
    esper.process(1 / 60)

    assert space.doctor() == []


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "hero", True and "1"])
def test_an_owner_that_is_no_id_is_refused_by_the_constructor(wrong):
    with pytest.raises((TypeError, ValueError), match="Attached"):
        ec.Attached(wrong, (0, 0))


def test_update_finds_boxes_where_their_owners_are_now():
    owner = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    zone = attached(owner, (0, 10), (1, 1))
    lost = attached(77, (0, 0), (1, 1))
    chained = attached(zone, (0, 0), (1, 1))
    space = ec.install()
    with pytest.warns(RuntimeWarning, match="Attached.owner"):
        esper.process(1 / 60)

    of(owner, ec.Position).set(50, 0)
    of(zone, ec.Attached).offset = (5, 10)
    space.update()

    assert space.query((54, 9), (56, 11)) == [zone]
    assert space.query(*EVERYWHERE) == [owner, zone]
    assert space.query(*EVERYWHERE, solid=True) == [owner]
    assert {lost, chained}.isdisjoint(space.query(*EVERYWHERE))
    esper.add_component(owner, ec.Disabled())
    space.update()
    assert space.query(*EVERYWHERE) == []


# -- crouching --


def hero_on_floor(height=2.0, **space):
    floor = box((0.3, -10.1), (100, 1))
    hero = mover((0, -9.1 + height / 2 + 0.5), (1, height / 2), (0, -35), ec.Slide())
    made = ec.install(**space)
    for _ in range(20):
        of(hero, ec.Velocity).y -= 15.0
        esper.process(1 / 60)
    return made, hero, floor


def test_crouching_and_standing_up_end_no_contact_with_the_floor():
    space, hero, floor = hero_on_floor(3.3)
    feet = space.bounds(hero)[0][1]
    since = space.contacts(hero)[0].since

    for height in (1.7, 3.3, 0.1, 2.9):
        space.resize(hero, height=height)
        assert of(hero, ec.Extents).y == height / 2
        assert space.bounds(hero)[0][1] == feet
        assert space.query_point((0, feet + height / 2)) == [hero]
        of(hero, ec.Velocity).y -= 15.0
        esper.process(1 / 60)
        assert not space.contacts_ended
        assert not space.contacts_began
        assert space.bounds(hero)[0][1] == feet

    assert [(c.other(hero), c.since) for c in space.contacts(hero)] == [(floor, since)]
    space.check()


def test_a_resize_between_two_steps_is_no_teleport_and_is_not_drawn_as_a_way():
    space, hero, _ = hero_on_floor()
    before = position(hero)

    space.resize(hero, height=1.0)
    esper.process(1 / 60)

    assert position(hero)[1] == pytest.approx(before[1] - 0.5)
    assert [f.cause for f in space.doctor()] == []
    assert space.interpolated(0.0, [hero]).tolist() == space.interpolated(1.0, [hero]).tolist()


def test_crouching_away_from_a_ceiling_ends_that_contact_as_separated():
    space, hero, floor = hero_on_floor()
    top = space.bounds(hero)[1][1]
    ceiling = box((0, top + 1), (5, 1))
    of(hero, ec.Velocity).y = 30.0
    esper.process(1 / 60)
    of(hero, ec.Velocity).y = -30.0
    assert ceiling in [c.other(hero) for c in space.contacts(hero)]

    space.resize(hero, height=1.0)
    esper.process(1 / 60)

    assert [(e.other(hero), e.reason) for e in space.contacts_ended] == [
        (ceiling, ec.EndReason.SEPARATED)
    ]
    assert [c.other(hero) for c in space.contacts(hero)] == [floor]


@pytest.mark.parametrize(("keep", "up", "kept"), [
    ("feet", (0, 1), 0), ("head", (0, 1), 1), ("feet", (0, -1), 1), ("head", (0, -1), 0),
])  # fmt: skip
def test_feet_and_head_are_where_up_says(keep, up, kept):
    hero = mover((0.1, 0.7), (1, 1.3), (0, 0), ec.Slide())
    space = ec.install(up=up)
    esper.process(1 / 60)
    face = space.bounds(hero)[kept][1]

    space.resize(hero, height=0.77, keep=keep)

    assert space.bounds(hero)[kept][1] == face
    esper.process(1 / 60)
    assert space.bounds(hero)[kept][1] == face


def test_a_sleeping_body_that_crouches_wakes():
    box((0, -2), (50, 1))
    hero = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    steps(40, 1 / 60)
    assert space.stats.asleep == 1

    space.resize(hero, height=1.0)
    esper.process(1 / 60)

    assert space.stats.asleep == 0
    assert not space.contacts_ended
    assert space.bounds(hero) == ((-1, -1), (1, 0))
    space.check()


def test_boxes_of_a_body_that_crouches_stay_until_the_step_sweeps_them():
    space, hero, floor = hero_on_floor()
    feet = attached(hero, (0, -1), (0.9, 0.1))
    esper.process(1 / 60)
    at = position(feet)

    space.resize(hero, height=1.0)
    of(feet, ec.Attached).offset = (0, -0.5)
    of(hero, ec.Velocity).y = -15.0
    esper.process(1 / 60)

    assert position(feet) == pytest.approx(at)
    assert not space.contacts_ended
    assert floor in [c.other(feet) for c in space.contacts(feet)]


def test_a_body_that_no_step_has_read_or_that_does_not_move_can_be_resized():
    space = ec.install()
    wall = box((0, 0), (1, 1))
    esper.process(1 / 60)
    new = mover((5, 0), (1, 1), (0, 0), ec.Slide())

    space.resize(wall, height=1.0)
    space.resize(new, height=1.0, keep="head")
    esper.process(1 / 60)

    assert space.bounds(wall) == ((-1, -1), (1, 0))
    assert space.bounds(new) == ((4, 0), (6, 1))


def test_a_resize_after_a_teleport_is_part_of_it():
    space, hero, floor = hero_on_floor()

    of(hero, ec.Position).set(0, 50)
    space.resize(hero, height=1.0)
    set_velocity(hero, 0, 0)
    esper.process(1 / 60)

    assert space.bounds(hero) == ((-1, 49), (1, 50))
    assert [(e.other(hero), e.reason) for e in space.contacts_ended] == [
        (floor, ec.EndReason.TELEPORTED)
    ]
    assert velocity(hero) == (0, 0)


def test_what_resize_refuses():
    hero = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    with pytest.raises(ValueError, match="keep='toes'"):
        space.resize(hero, height=1.0, keep="toes")
    for height in (-1.0, float("nan"), float("inf"), "2"):
        with pytest.raises(ValueError, match="height="):
            space.resize(hero, height=height)
    with pytest.raises(KeyError, match="entity 99"):
        space.resize(99, height=1.0)
    space.update_bounds(1 / 60)
    with pytest.raises(RuntimeError, match="within a step"):
        space.resize(hero, height=1.0)


@pytest.mark.parametrize("n_restores", [0, 1, 2])
def test_a_box_attached_to_a_body_that_got_attached_while_disabled(n_restores):
    hero = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    hook = box((5, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    esper.add_component(hook, ec.Disabled())
    esper.process(1 / 60)
    esper.add_component(hook, ec.Attached(hero, (2, 0)))
    esper.process(1 / 60)
    for _ in range(n_restores):
        space.restore(space.snapshot())
    feet = attached(hook, (0, -1), (1, 0.5))

    with pytest.warns(RuntimeWarning, match=f"entity {feet} is .* both boxes to entity {hero};"):
        esper.process(1 / 60)
    esper.remove_component(hook, ec.Disabled)
    esper.process(1 / 60)
    assert space.position_of(hook) == (space.position_of(hero)[0] + 2, 0)
    space.check()


@pytest.mark.parametrize("way", ["disabled", "misshapen", "no body"])
@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_skipped_box_has_the_same_place_after_a_restore(way, n_steps):
    owner = mover((10, 0), (1, 1), (0, 0), ec.Slide())
    if way == "disabled":
        esper.add_component(owner, ec.Disabled())
    elif way == "misshapen":
        of(owner, ec.Extents).x = float("nan")
    else:
        esper.remove_component(owner, ec.Position)
    zone = attached(owner, (5, 0), (1, 1))
    space = ec.install()

    def run():
        with warnings.catch_warnings(action="ignore"):
            for _ in range(2):
                esper.process(1 / 60)
                yield space.position_of(zone), space.snapshot()

    for _ in range(n_steps):
        list(run())
    saved = space.save_state()
    once = list(run())
    space.restore(saved)
    assert list(run()) == once


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("way", ["deleted", "detached", "disabled", "cleared"])
def test_all_attached_boxes_are_lost_in_one_step(n, way):
    hero = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    boxes = [box((0, 9), (1, 1), ec.Attached(hero, (0, 9))) for _ in range(n)]
    space = ec.install()
    esper.process(1 / 60)

    for entity in boxes:
        if way == "deleted":
            esper.delete_entity(entity)
        elif way == "detached":
            esper.remove_component(entity, ec.Attached)
        elif way == "disabled":
            esper.add_component(entity, ec.Disabled())
    if way == "cleared":
        esper.clear_database()
    esper.process(1 / 60)

    space.check()
    if way != "cleared":
        assert position(hero) == (2, 0)


def test_a_box_that_was_attached_after_the_snapshot_drives_nothing_after_a_restore():
    hero = mover((0, 0), (1, 1), (60, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    saved = space.snapshot()
    box((0, 0), (1, 1), ec.Attached(hero, (0, 9)))
    esper.process(1 / 60)
    space.restore(saved)

    wall = box((20, 0), (1, 1))
    steps(30, 1 / 60)

    assert space.bounds(wall) == ((19, -1), (21, 1))
    assert position(hero) == (18, 0)
    space.check()
