"""What a space shows of its inside agrees with what can be found out from outside."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide import BodyKind
from tests.scenes import box, mover

pytestmark = pytest.mark.usefixtures("implementation", "world")

DT = 1 / 60


def crowd(dim: int, n: int = 60, seed: int = 4) -> ec.Space:
    """Make a closed arena of boxes that bounce, some of them sensors, some at rest."""
    chance = np.random.default_rng(seed)
    side = 60.0
    for axis, sign in itertools.product(range(dim), (0.0, side)):
        centre, half = [side / 2] * dim, [side] * dim
        centre[axis], half[axis] = sign + (5.0 if sign else -5.0), 5.0
        esper.create_entity(ec.Position(*centre), ec.Extents(*half))
    for number in range(n):
        body = [
            ec.Position(*chance.uniform(5, side - 5, dim)),
            ec.Extents(*chance.uniform(0.5, 2.5, dim)),
        ]
        if number % 3:
            body += [ec.Velocity(*chance.uniform(-300, 300, dim)), ec.Deflect()]
        if number % 7 == 0:
            body.append(ec.Sensor())
        esper.create_entity(*body)
    return ec.install(dim=dim)


def boxes_of(space: ec.Space) -> tuple[np.ndarray, np.ndarray]:
    low, high = zip(*(space.bounds(entity) for entity in space.entities), strict=True)
    return np.array(low), np.array(high)


@pytest.fixture(params=[2, 3], ids=["2d", "3d"])
def space(request: pytest.FixtureRequest) -> Iterator[ec.Space]:
    return crowd(request.param)


def test_boxes_are_the_bounds_of_each(space: ec.Space) -> None:
    esper.process(DT)

    mins, maxs = space.boxes()

    assert np.array_equal((mins, maxs), boxes_of(space))
    some = space.entities[10:20]
    assert np.array_equal(space.boxes(some)[0], mins[10:20])
    with pytest.raises(KeyError, match="entity 999 is no body"):
        space.boxes([999])
    with pytest.raises(KeyError, match="entity 999 is no body"):
        space.boxes([*space.entities, 999])


def test_branches_hold_all_bodies_and_one_another(space: ec.Space) -> None:
    for _ in range(5):
        esper.process(DT)
    found = space.branches()

    swept = space.swept_bounds()
    kinds = space.body_kinds()
    for moving in (False, True):
        own = found.moving == moving
        mins, maxs, depths = found.mins[own], found.maxs[own], found.depths[own]
        items = (kinds & BodyKind.MOVES != 0) == moving
        lows, highs = swept[0][items], swept[1][items]
        assert (depths == 0).sum() == 1
        # The root is around all of its bodies, and each level below it has a place for each.
        root = depths.argmin()
        assert (mins[root] <= lows).all()
        assert (maxs[root] >= highs).all()
        if not moving:
            assert np.array_equal(mins[root], lows.min(axis=0))
            assert np.array_equal(maxs[root], highs.max(axis=0))
        for depth in range(depths.max() + 1):
            level = depths == depth
            inside = (mins[level][:, None] <= lows).all(axis=2)
            inside &= (maxs[level][:, None] >= highs).all(axis=2)
            assert inside.any(axis=0).all()
            above = depths == depth - 1
            if depth:
                within = (mins[above][:, None] <= mins[level]).all(axis=2)
                within &= (maxs[above][:, None] >= maxs[level]).all(axis=2)
                assert within.any(axis=0).all()
        assert len(items[items]) / 8 <= (depths == depths.max()).sum() <= len(items[items])
    assert found.depths[found.moving].max() + 1 == space.stats.depth


def test_a_space_without_bodies_has_nothing_to_show() -> None:
    space = ec.install()
    esper.process(DT)

    assert len(space.branches().depths) == len(space.candidate_pairs()) == 0
    assert len(space.contact_points().kinds) == len(space.impact_boxes().times) == 0
    assert len(space.boxes()[0]) == len(space.fat_bounds()[0]) == len(space.swept_bounds()[0]) == 0


def test_fat_bounds_hold_swept_bounds_of_what_did_not_turn(space: ec.Space) -> None:
    for _ in range(3):
        esper.process(DT)

    fat, swept = space.fat_bounds(), space.swept_bounds()
    hit = {entity for event in space.collisions for entity in (event.first, event.second)}
    straight = np.array([entity not in hit for entity in space.entities])

    assert straight.sum() > 20
    assert (fat[0] <= swept[0])[straight].all()
    assert (fat[1] >= swept[1])[straight].all()
    moves = space.body_kinds() & BodyKind.MOVES != 0
    assert (fat[0] < swept[0]).any(axis=1)[straight & moves].all()


def test_swept_bounds_are_hulls_of_the_paths(space: ec.Space) -> None:
    esper.process(0.0)
    before = boxes_of(space)
    esper.process(DT)

    low, high = space.swept_bounds()
    after = boxes_of(space)
    crossings = (ec.Outcome.CROSSED, ec.Outcome.STOPPED_ALREADY)
    resolved = [event for event in space.collisions if event.outcome not in crossings]
    turned = {entity for event in resolved for entity in (event.first, event.second)}
    free = np.array([entity not in turned for entity in space.entities])

    np.testing.assert_allclose(low[free], np.minimum(before[0], after[0])[free], atol=1e-9)
    np.testing.assert_allclose(high[free], np.maximum(before[1], after[1])[free], atol=1e-9)
    assert turned
    assert (low <= after[0]).all()
    assert (high >= after[1]).all()


def test_candidate_pairs_are_those_whose_paths_touch(space: ec.Space) -> None:
    # Without an answer within the step the paths are what was searched by.
    for entity, _ in esper.get_component(ec.Deflect):
        esper.remove_component(entity, ec.Deflect)
    esper.process(DT)
    low, high = space.swept_bounds()
    moves = space.body_kinds() & BodyKind.MOVES != 0

    touching = (low[:, None] <= high).all(axis=2) & (high[:, None] >= low).all(axis=2)
    first, second = np.nonzero(np.triu(touching & (moves[:, None] | moves), 1))
    ids = np.array(space.entities)

    found = space.candidate_pairs()
    assert len(found) == space.stats.pairs > (40 if space.dim == 2 else 5)
    assert set(zip(ids[first].tolist(), ids[second].tolist(), strict=True)) <= set(
        map(tuple, found.tolist())
    )
    # Beyond these only still bodies that are looked at for the first time.
    esper.process(DT)
    low, high = space.swept_bounds()
    touching = (low[:, None] <= high).all(axis=2) & (high[:, None] >= low).all(axis=2)
    first, second = np.nonzero(np.triu(touching & (moves[:, None] | moves), 1))
    expected = np.stack([ids[first], ids[second]], axis=1)
    assert np.array_equal(space.candidate_pairs(), expected)


def test_contact_points_say_what_contacts_say(space: ec.Space) -> None:
    for entity, velocity in esper.get_component(ec.Velocity):
        velocity.set(0.0, 0.0 if esper.has_component(entity, ec.Sensor) else -900.0)
        if entity % 4:
            esper.try_remove_component(entity, ec.Deflect)
            esper.add_component(entity, ec.Slide())
    zone = ec.Position(*[30.0] * space.dim), ec.Extents(*[25.0] * space.dim)
    esper.create_entity(*zone, ec.Velocity(0, 0), ec.Sensor())
    for _ in range(8):
        esper.process(DT)

    found, contacts = space.contact_points(), space.contacts()

    assert len(contacts) > 10
    assert {contact.kind for contact in contacts} == set(ec.ContactKind)
    assert found.pairs.tolist() == [[contact.first, contact.second] for contact in contacts]
    assert found.normals.tolist() == [list(contact.normal) for contact in contacts]
    assert found.kinds.tolist() == [contact.kind for contact in contacts]
    for point, contact in zip(found.points, contacts, strict=True):
        for entity in (contact.first, contact.second):
            low, high = space.bounds(entity)
            assert (point >= np.array(low) - 1e-9).all()
            assert (point <= np.array(high) + 1e-9).all()


def test_contact_points_across_an_edge_are_where_the_boxes_touch(world: str) -> None:
    box((316, 100), (4, 4))
    mover((20, 104), (6, 6), (-600, 0), ec.Slide())
    box((90, 2), (50, 5))
    mover((90, 225), (3, 3), (0, 600), ec.Slide())
    space = ec.install(wrap=(320, 240))
    for _ in range(3):
        esper.process(DT)

    contacts = space.contact_points()

    assert contacts.pairs.tolist() == [[1, 2], [3, 4]]
    assert contacts.points.tolist() == [[0, 101], [90, 237]]
    assert contacts.normals.tolist() == [[-1, 0], [0, 1]]


def test_swept_bounds_hold_the_path_around_an_edge(world: str) -> None:
    flier = mover((290, 100), (2, 2), (2400, -7200))
    space = ec.install(wrap=(320, 240))
    esper.process(DT)

    low, high = space.swept_bounds([flier])
    np.testing.assert_allclose(low[0], (288 - 320, 218 - 240 + 240), atol=1e-6)
    np.testing.assert_allclose(high[0], (12, 342), atol=1e-6)
    branches = space.branches()
    if len(branches.mins):
        assert (branches.mins.min(axis=0) <= low[0]).all()
    assert space.query((9, 219), (11, 221)) == [flier]
    assert space.query((-30, 110), (-25, 300)) == []  # its path, where it is not


def test_impact_boxes_touch_on_the_side_of_the_normal(space: ec.Space) -> None:
    esper.process(DT)
    esper.process(DT)

    found = space.impact_boxes()

    events = [event for event in space.collisions if event.kind is ec.SweepKind.IMPACT]
    assert len(events) > 5
    for n, event in enumerate(space.collisions):
        assert found.pairs[n].tolist() == [event.first, event.second]
        centres = (found.mins[n] + found.maxs[n]) / 2
        assert centres == pytest.approx(np.array([event.position_first, event.position_second]))
        if event.kind is ec.SweepKind.IMPACT:
            axis = int(np.flatnonzero(event.normal)[0])
            lower, upper = (0, 1) if event.normal[axis] < 0 else (1, 0)
            assert found.maxs[n, lower, axis] == pytest.approx(found.mins[n, upper, axis], abs=1e-9)


def test_impact_boxes_are_as_large_as_they_were() -> None:
    wall = esper.create_entity(ec.Position(10, 0), ec.Extents(1, 5))
    esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Growth(16, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    found = space.impact_boxes()

    assert found.times[0] == 0.5
    assert found.maxs[0].tolist() == [[11, 5], [9, 1]]
    assert found.mins[0, 1].tolist() == [-9, -1]
    esper.delete_entity(wall, immediate=True)
    assert len(space.impact_boxes().times) == 1  # the space hears of it with the next step


def test_kinds_say_what_bodies_are() -> None:
    def body(x: float, *others: object) -> int:
        return esper.create_entity(ec.Position(x, 0), ec.Extents(1, 1), *others)

    wall, lift = body(0), body(10, ec.Velocity(0, 1))
    crate, coin = body(20, ec.Velocity(0, 0), ec.Slide()), body(30, ec.Sensor())
    ledge, broken = body(40, ec.OneWay((0, 1))), body(50, ec.Velocity(0, 0))
    esper.component_for_entity(broken, ec.Velocity).y = float("nan")
    space = ec.install()
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(DT)

    def kind(entity: int) -> BodyKind:
        return BodyKind(space.body_kinds([entity])[0])

    assert kind(wall) is BodyKind.STATIC
    assert kind(lift) is BodyKind.MOVES
    assert kind(crate) == BodyKind.MOVES | BodyKind.DYNAMIC
    assert kind(coin) & BodyKind.SENSOR
    assert kind(ledge) == BodyKind.ONE_WAY
    assert kind(broken) & BodyKind.QUARANTINED
    assert np.isnan(space.fat_bounds([broken])).all()
    assert np.isnan(space.swept_bounds([broken])).all()
    for _ in range(20):
        esper.process(DT)
    assert kind(crate) == BodyKind.MOVES | BodyKind.DYNAMIC | BodyKind.ASLEEP
    assert (space.body_kinds() & BodyKind.ASLEEP != 0).sum() == space.stats.asleep


def test_nothing_is_known_of_pairs_right_after_restoring(space: ec.Space) -> None:
    esper.process(DT)
    saved = space.snapshot()
    pairs = space.candidate_pairs()
    assert len(pairs)

    space.restore(saved)
    assert len(space.candidate_pairs()) == 0
    assert np.allclose(space.swept_bounds(), space.boxes())
    branches = space.branches()
    assert (branches.mins[branches.depths == 0].min(axis=0) <= space.boxes()[0].min(axis=0)).all()


def test_state_hash_is_the_same_everywhere() -> None:
    """The number is written down: any life, platform and version of numpy must come to it."""
    space = crowd(2, n=40)
    for _ in range(10):
        esper.process(1 / 64)

    assert len(space.collisions) > 2
    assert len(space.contact_array) > 0
    assert space.state_hash().hex() == "a2a107b1f125aba8b9182eb96c707a88"


@pytest.mark.parametrize("change", ["position", "size", "velocity", "entity"])
def test_state_hash_tells_apart(change: str, world: str) -> None:
    def run(*, changed: bool) -> bytes:
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        other = changed and change
        x = np.nextafter(3.0, 4.0) if other == "position" else 3.0
        size = np.nextafter(1.0, 2.0) if other == "size" else 1.0
        speed = 5e-324 if other == "velocity" else 0.0
        if other == "entity":
            esper.create_entity()
        esper.create_entity(ec.Position(x, 0), ec.Extents(1, size), ec.Velocity(0, speed))
        space = ec.install()
        esper.process(0.0)
        return space.state_hash()

    assert run(changed=False) == run(changed=False)
    assert run(changed=True) != run(changed=False)


def test_state_hash_holds_the_events() -> None:
    esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(8, 0), ec.Slide())
    esper.create_entity(ec.Position(6, 0), ec.Extents(1, 1))
    space = ec.install()
    esper.process(1.0)
    with_events = space.state_hash()
    positions = space.positions().tolist()

    esper.process(0.0)

    assert space.positions().tolist() == positions
    assert space.state_hash() != with_events


def test_state_hash_holds_what_the_events_say(world: str) -> None:
    ends = []
    for speed in (8.0, 9.0):  # it is stopped at the same place, sooner or later in the step
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)
        esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(speed, 0), ec.Slide())
        esper.create_entity(ec.Position(6, 0), ec.Extents(1, 1))
        space = ec.install()
        esper.process(1.0)
        ends.append((space.positions().tolist(), space.velocities().tolist(), space.state_hash()))

    assert ends[0][:2] == ends[1][:2]
    assert ends[0][2] != ends[1][2]


def test_one_nan_is_like_another(world: str) -> None:
    hashes = []
    for nan in (float("nan"), -float("nan")):
        place = ec.Position(1, 2)
        esper.create_entity(place, ec.Extents(1, 1), ec.Velocity(0, 0))
        place.x = nan
        space = ec.install()
        with pytest.warns(RuntimeWarning, match="skipped"):
            esper.process(DT)
        hashes.append(space.state_hash())
        assert np.isnan(space.positions()[0, 0])
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)

    assert hashes[0] == hashes[1]


def test_state_hash_is_refused_within_a_step() -> None:
    space = ec.install()

    class Peeker(esper.Processor):
        def process(self, dt: float) -> None:
            with pytest.raises(RuntimeError, match="within a step"):
                space.state_hash()

    esper.add_processor(Peeker(), priority=102)
    esper.process(DT)


@pytest.mark.parametrize("ground_first", [True, False])
def test_normal_of_the_ground_is_drawn_upwards_whichever_has_the_lower_id(world, ground_first):
    from ecs_collide.debug.shapes import shown_normals

    def ground():
        esper.create_entity(ec.Position(0, -1), ec.Extents(50, 1))

    def crate():
        esper.create_entity(ec.Position(0, 2), ec.Extents(1, 1), ec.Velocity(0, -3), ec.Slide())

    for create in (ground, crate) if ground_first else (crate, ground):
        create()
    space = ec.install()
    esper.process(1.0)

    assert shown_normals(space, space.contact_points()).tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("up", "slope", "corners"),
    [
        ((0, 1), ec.Slope("right"), [(0, 0), (8, 0), (8, 4), (0, 0)]),
        ((0, 1), ec.Slope("left", 0.25, 0.5), [(8, 0), (0, 0), (0, 2), (8, 1)]),
        ((0, 1), ec.Slope("right", ceiling=True), [(8, 4), (0, 4), (0, 0), (8, 4)]),
        ((0, 1), ec.Slope("left", 0, 0.5, ceiling=True), [(0, 4), (8, 4), (8, 0), (0, 2)]),
        ((0, -1), ec.Slope("right"), [(0, 4), (8, 4), (8, 0), (0, 4)]),
        ((0, -1), ec.Slope("right", ceiling=True), [(8, 0), (0, 0), (0, 4), (8, 0)]),
        ((1, 0), ec.Slope((0, 1)), [(0, 0), (0, 4), (8, 4), (0, 0)]),
        ((-1, 0), ec.Slope((0, -1), 0, 0.5), [(8, 4), (8, 0), (4, 0), (8, 4)]),
    ],
)
def test_outline_of_a_slope_has_its_solid_part_in_order_around_it(up, slope, corners):
    esper.create_entity(ec.Position(-9, 2), ec.Extents(1, 1))
    ramp = esper.create_entity(ec.Position(4, 2), ec.Extents(4, 2), slope)
    space = ec.install(up=up)
    esper.process(DT)

    found = space.slope_outlines()

    assert np.array(space.entities)[found.places].tolist() == [ramp]
    assert [tuple(corner) for corner in found.corners[0]] == corners
    on_line = found.corners[0, 2:].mean(axis=0)
    inwards = (found.corners[0].mean(axis=0) - on_line) / 100
    assert space.query_point(on_line + inwards) == [ramp]
    assert space.query_point(on_line - inwards) == []


def test_outlines_move_with_their_slopes_and_follow_the_order_of_the_entities():
    first, second = (
        esper.create_entity(
            ec.Position(x, 1), ec.Extents(1, 1), ec.Slope("right"), ec.Velocity(60, 0)
        )
        for x in (0, 10)
    )
    block = esper.create_entity(ec.Position(20, 1), ec.Extents(1, 1))
    space = ec.install()
    esper.process(DT)

    places, corners = space.slope_outlines([second, block, first])

    assert places.tolist() == [0, 2]
    assert corners[:, 0].tolist() == [[10, 0], [0, 0]]


def test_bodies_that_meet_others_as_boxes_have_no_outline():
    def ramp(*components):
        return esper.create_entity(
            ec.Position(10.0 * len(made), 1), ec.Extents(1, 1), ec.Slope("right"), *components
        )

    made: list[int] = []
    made.append(ramp())
    made.append(ramp(ec.Velocity(0, 0), ec.Slide()))
    made.append(ramp(ec.Velocity(0, 0), ec.Growth(1, 0)))
    made.append(ramp(ec.Attached(made[0], (3, 3))))
    space = ec.install()
    esper.process(DT)
    new = ramp()

    assert space.slope_outlines().places.tolist() == [0]
    assert space.slope_outlines([new, made[0]]).places.tolist() == [1]


@pytest.mark.parametrize(
    ("up", "rise", "corners"),
    [
        ((0, 1, 0), (1, 0, 0), [(0, 0), (8, 0), (8, 2), (0, 0)]),
        ((0, 1, 0), (0, 0, 1), [(0, 0), (8, 0), (8, 2), (0, 2)]),  # seen along the rise
        ((0, 0, 1), (1, 0, 0), [(0, 0), (8, 0), (8, 4), (0, 4)]),  # seen from above
        ((0, 0, -1), (0, -1, 0), [(8, 4), (8, 0), (0, 0), (0, 4)]),
    ],
)
def test_outline_of_a_ramp_in_3d_is_what_is_seen_along_the_third_axis(up, rise, corners):
    esper.create_entity(ec.Position(4, 2, 7), ec.Extents(4, 2, 3), ec.Slope(rise, high=0.5))
    space = ec.install(dim=3, up=up)
    esper.process(DT)

    (found,) = space.slope_outlines().corners

    assert [tuple(corner) for corner in found] == corners
