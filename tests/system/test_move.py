"""One body moved now, between two steps: `Space.move` and `Space.check_move`."""

from __future__ import annotations

import random
import sys

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, enter_new_world, mover, of, position, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


class Excluded:
    """A component of the game."""


def hits_of(moved):
    return [(hit.entity, hit.is_solid) for hit in moved.hits]


def test_a_body_without_velocity_arrives_where_nothing_is_in_its_way():
    space = ec.install()
    piece = box((0, 0), (1, 1))

    moved = space.move(piece, (5, -3))

    assert moved == ec.Moved((5, -3), (5, -3), (0, 0), ())
    assert position(piece) == (5, -3)


def test_a_body_slides_along_what_it_meets_by_default():
    #
    #              +--+
    #   +--+  20   |  |
    #   |  | ----> |  |   3 up
    #   +--+       +--+
    #
    space = ec.install()
    piece, wall = box((0, 0), (1, 1)), box((10, 0), (1, 5))

    moved = space.move(piece, (20, 3))

    assert (moved.position, moved.displacement, moved.remaining) == ((8, 3), (8, 3), (0, 0))
    (hit,) = moved.hits
    assert (hit.entity, hit.time, hit.normal, hit.is_solid) == (wall, 0.4, (-1, 0), True)
    assert hit.position == (8, pytest.approx(1.2))
    assert position(piece) == (8, 3)


def test_a_body_can_stop_or_bounce():
    space = ec.install()
    piece, wall = box((0, 0), (1, 1)), box((10, 0), (1, 5))

    stopped = space.check_move(piece, (16, 4), ec.Stop())
    bounced = space.check_move(piece, (16, 4), ec.Deflect(0.5))

    assert (stopped.position, stopped.remaining) == ((8, 2), (8, 2))
    assert (bounced.position, bounced.remaining) == ((4, 4), (0, 0))
    assert hits_of(stopped) == hits_of(bounced) == [(wall, True)]
    assert position(piece) == (0, 0)  # which checks move nothing


def test_nothing_is_tunnelled_through_however_far_the_way_is():
    space = ec.install()
    piece, wall = box((0, 0), (1, 1)), box((500, 0), (0.001, 5))

    moved = space.move(piece, (1e9, 0))

    assert moved.hits[0].entity == wall
    assert moved.position == (500 - 0.001 - 1, 0)


def test_a_body_does_not_snag_on_the_seams_of_tiles():
    space = ec.install()
    for n in range(20):
        box((16 * n + 8, -8), (8, 8))
    piece = box((3, 5), (3, 5))

    for _ in range(100):
        moved = space.move(piece, (2.37, -1))
        assert moved.displacement[0] == pytest.approx(2.37)
        assert moved.position[1] == 5
    assert position(piece)[0] == pytest.approx(240)


def test_sensors_and_open_platforms_are_crossed_and_told_in_order():
    space = ec.install()
    piece = box((0, 0), (1, 1))
    coin = box((0, 5), (1, 1), ec.Sensor())
    ledge = box((0, 10), (5, 1), ec.OneWay())
    roof = box((0, 20), (5, 1))

    up = space.move(piece, (0, 30))
    down = space.move(piece, (0, -30))

    assert hits_of(up) == [(coin, False), (ledge, False), (roof, True)]
    assert hits_of(down) == [(ledge, True)]
    assert position(piece) == (0, 12)


def test_bodies_that_a_filter_keeps_apart_are_not_met():
    space = ec.install()
    piece = box((0, 0), (1, 1), ec.Filter(categories=2, mask=4))
    box((5, 0), (1, 1))
    excluded = box((10, 0), (1, 1), ec.Filter(categories=4, mask=2), Excluded())
    wall = box((15, 0), (1, 1), ec.Filter(categories=4, mask=2))
    space.filter_pairs(lambda first, second: False, Excluded)

    moved = space.check_move(piece, (20, 0))

    assert hits_of(moved) == [(wall, True)]
    assert hits_of(space.check_move(piece, (20, 0), exclude=wall)) == []
    assert hits_of(space.check_move(piece, (20, 0), filter=Excluded)) == []
    assert excluded not in [hit.entity for hit in moved.hits]


def test_members_of_a_soft_crowd_pass_each_other():
    space = ec.install()
    piece = box((0, 0), (1, 1), ec.Separate())
    mate = box((5, 0), (1, 1), ec.Separate())

    assert hits_of(space.check_move(piece, (20, 0))) == [(mate, False)]


def test_a_body_inside_another_may_leave_it_and_gets_no_deeper():
    space = ec.install()
    piece, wall = box((1.5, 0), (1, 1)), box((0, 0), (1, 1))

    deeper = space.check_move(piece, (-1, 3))
    out = space.check_move(piece, (5, 0))

    assert (deeper.position, hits_of(deeper)) == ((1.5, 3), [(wall, True)])
    assert deeper.hits[0].depth == 0.5
    assert (out.position, hits_of(out)) == ((6.5, 0), [])


def test_moves_see_the_world_as_it_is_now_and_each_other():
    space = ec.install()
    first, second = box((0, 0), (1, 1)), box((0, 10), (1, 1))
    esper.process(DT)
    wall = box((10, 0), (1, 20))
    space.move(first, (20, 0))

    moved = space.move(second, (8, -9))

    assert position(first) == (8, 0)
    assert (moved.position, hits_of(moved)) == ((8, 2), [(first, True)])
    assert space.cast_ray((0, 2), (20, 0)).entity == second
    assert space.query_point((9, 5)) == [wall]


def place(entity, at):
    of(entity, ec.Position).set(*at)


def replace(entity, at):
    esper.add_component(entity, ec.Position(*at))


def enable(entity, at):
    place(entity, at)
    esper.remove_component(entity, ec.Disabled)


INTO_THE_WAY = {
    "written": lambda space, far, at: place(far, at),
    "replaced": lambda space, far, at: replace(far, at),
    "teleported": lambda space, far, at: space.teleport(far, at),
    "set_positions": lambda space, far, at: space.set_positions([far], [at]),
    "moved": lambda space, far, at: space.move(far, (at[0], at[1] - 500.0), exclude=1),
    "set_extents": lambda space, far, at: space.set_extents([far], [(1, 600)]),
    "created": lambda space, far, at: box(at, (1, 1)),
    "created Fixed": lambda space, far, at: box(at, (1, 1), ec.Fixed()),
}


@pytest.mark.parametrize("n_steps", [0, 1])
@pytest.mark.parametrize("how", INTO_THE_WAY)
def test_a_second_move_meets_what_came_into_its_way_after_the_first(how, n_steps):
    space = ec.install()
    hero = box((0, 0), (1, 1))
    far = box((10 if how == "set_extents" else 0, 500), (1, 1))
    steps(n_steps, DT)
    space.move(hero, (1, 0))

    INTO_THE_WAY[how](space, far, (10.0, 0.0))
    moved = space.move(hero, (20, 0))

    assert moved.position == (8, 0)
    assert position(hero) == (8, 0)


OUT_OF_THE_WAY = {
    "written": lambda space, wall: place(wall, (0, 500)),
    "replaced": lambda space, wall: replace(wall, (0, 500)),
    "teleported": lambda space, wall: space.teleport(wall, (0, 500)),
    "deleted": lambda space, wall: esper.delete_entity(wall),
    "deleted at once": lambda space, wall: esper.delete_entity(wall, immediate=True),
    "without Extents": lambda space, wall: esper.remove_component(wall, ec.Extents),
    "Disabled": lambda space, wall: esper.add_component(wall, ec.Disabled()),
    "a Sensor": lambda space, wall: esper.add_component(wall, ec.Sensor()),
    "NaN": lambda space, wall: setattr(of(wall, ec.Position), "x", float("nan")),
    "Filter": lambda space, wall: esper.add_component(wall, ec.Filter(mask=0)),
    "filter_pairs": lambda space, wall: space.filter_pairs(lambda one, other: False),
}


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("n_steps", [0, 1])
@pytest.mark.parametrize("how", OUT_OF_THE_WAY)
def test_a_second_move_passes_what_left_its_way_after_the_first(how, n_steps, fixed):
    if fixed and how in ("written", "NaN"):
        return  # what the game has promised not to do
    space = ec.install()
    hero = box((0, 0), (1, 1))
    wall = box((10, 0), (1, 1), *[ec.Fixed()] * fixed)
    steps(n_steps, DT)
    assert space.move(hero, (20, 0)).position == (8, 0)

    OUT_OF_THE_WAY[how](space, wall)

    assert space.move(hero, (20, 0)).position == (28, 0)


@pytest.mark.parametrize("n_steps", [0, 1])
def test_a_position_that_the_game_sets_between_two_moves_is_where_the_second_begins(n_steps):
    space = ec.install()
    hero = box((0, 0), (1, 1))
    steps(n_steps, DT)
    space.move(hero, (5, 0))

    place(hero, (0, 50))
    assert space.move(hero, (1, 0)).position == position(hero) == (1, 50)
    space.teleport(hero, (7, 7))
    assert space.move(hero, (1, 0)).position == position(hero) == (8, 7)
    space.set_positions([hero], [(3, 3)])
    assert space.check_move(hero, (1, 0)).position == (4, 3)


def test_a_body_that_comes_back_is_met_again():
    space = ec.install()
    hero, wall = box((0, 0), (1, 1)), box((0, 500), (1, 1), ec.Disabled())
    space.move(hero, (1, 0))

    enable(wall, (10, 0))
    assert space.move(hero, (20, 0)).position == (8, 0)
    esper.delete_entity(wall, immediate=True)
    box((20, 0), (1, 1))
    assert space.move(hero, (20, 0)).position == (18, 0)


def test_a_step_after_moves_is_the_same_as_without_any_look_at_the_world():
    hashes = []
    for looks in (False, True):
        enter_new_world()
        space = ec.install()
        crates = [mover((3 * n, 10), (1, 1), (n, -20), ec.Slide()) for n in range(9)]
        box((0, -5), (500, 5))
        for _ in range(30):
            if looks:
                space.check_move(crates[4], (1, 1))
            esper.process(DT)
        hashes.append(space.state_hash())

    assert hashes[0] == hashes[1]


def test_attached_boxes_move_with_their_owner_and_their_contacts_go_on():
    space = ec.install()
    floor = box((0, -5), (50, 5))
    zone, lamp = box((20, 0), (20, 5), ec.Sensor()), box((5, 2), (5, 1))
    hero = mover((0, 0.5), (1, 0.5), (0, 0), ec.Slide())
    sword = box((0, 0), (1, 1), ec.Attached(hero, (3, 0)))
    steps(2, DT)
    before = {contact.other(sword): contact.since for contact in space.contacts(sword)}
    assert set(before) == {floor, zone, lamp}

    moved = space.move(hero, (4, 0))

    assert hits_of(moved) == [(zone, False)]
    assert space.position_of(sword) == (7, 0.5)
    assert space.query_point((7.5, 0.7), exclude=zone) == [sword]
    esper.process(DT)
    assert {c.other(sword): c.since for c in space.contacts(sword)} == before
    assert not space.contacts_ended


def test_a_move_of_an_attached_box_sets_its_offset():
    space = ec.install()
    hero = box((5, 5), (1, 1))
    sword = box((0, 0), (1, 1), ec.Attached(hero, (3, 0)))
    esper.process(DT)

    space.move(sword, (-6, 0))

    assert space.position_of(sword) == (2, 5)
    assert of(sword, ec.Attached).offset == (-3, 0, 0)
    esper.process(DT)
    assert space.position_of(sword) == (2, 5)


@pytest.mark.parametrize("makes", [False, True])
def test_a_move_does_as_much_among_many_bodies_as_among_few(makes, implementation):
    if implementation == "plain":
        return  # in Python each number is read on its own
    counts = []
    for n in (30, 1000):
        enter_new_world()
        space = ec.install()
        walls = [box((10 * k, 50), (1, 1)) for k in range(n)]
        hero = box((0, 0), (1, 1))
        space.move(hero, (1, 0))
        calls: list[str] = []
        sys.setprofile(lambda frame, event, argument, calls=calls: calls.append(event))
        try:
            space.move(hero, (1, 0))
            place(walls[3], (30, 60))
            space.move(hero, (1, 0))
            if makes:
                box((0, 99), (1, 1))
                space.move(hero, (1, 0))
        finally:
            sys.setprofile(None)
        counts.append(len(calls))

    assert counts[0] == counts[1]


def test_a_body_that_bounces_without_end_is_stopped_and_says_what_is_left():
    space = ec.install()
    piece = box((0, 0), (1, 1))
    box((-3, 0), (1, 1)), box((3, 0), (1, 1))

    moved = space.check_move(piece, (1e6, 0), ec.Deflect())

    assert len(moved.hits) == 32
    assert abs(moved.remaining[0]) > 9e5


def test_a_move_goes_around_a_world_that_wraps():
    space = ec.install(wrap=(100, None))
    piece, wall = box((95, 0), (1, 1)), box((10, 0), (1, 1))

    moved = space.move(piece, (30, 0))

    assert hits_of(moved) == [(wall, True)]
    assert (moved.position, moved.displacement) == ((8, 0), (13, 0))
    assert position(piece) == (8, 0)


SEPARATED, TELEPORTED = ec.EndReason.SEPARATED, ec.EndReason.TELEPORTED


@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.parametrize(
    ("put", "by", "then", "ends"),
    [
        (None, (4, 0), None, []),  # along the floor
        (None, (0, 10), None, [SEPARATED]),  # a move is no teleport
        ((100, 1), (4, 0), None, [TELEPORTED]),
        (None, (4, 0), (6, 1), [TELEPORTED]),
    ],
)
def test_a_contact_with_the_floor_ends_as_the_body_left_it(put, by, then, ends, restores):
    space = ec.install()
    floor = box((0, -5), (500, 5))
    hero = mover((0, 1), (1, 1), (0, -1), ec.Slide())
    esper.process(DT)
    (before,) = space.contacts(hero)
    assert before.other(hero) == floor

    if put is not None:
        place(hero, put)
    space.move(hero, by)
    if then is not None:
        space.teleport(hero, then)
    if restores:
        space.restore(space.snapshot())
    esper.process(DT)

    assert [event.reason for event in space.contacts_ended] == ends
    if not ends:
        assert [contact.since for contact in space.contacts(hero)] == [before.since]
        assert not space.contacts_began


def test_a_body_that_slept_on_one_that_was_moved_falls():
    space = ec.install(sleep=True)
    shelf = box((0, 0), (5, 1))
    crate = mover((0, 2), (1, 1), (0, 0), ec.Slide())
    steps(200, DT)
    assert space.stats.asleep == 1

    space.move(shelf, (0, -10))
    of(crate, ec.Velocity).set(0, -60)
    esper.process(1.0)

    assert position(crate) == (0, -8)


def test_in_a_swept_world_a_moved_body_is_not_swept_once_more():
    space = ec.install(motion="swept")
    piece = box((0, 0), (1, 1), ec.Slide())
    box((5, 0), (1, 1))  # around which it is moved
    esper.process(DT)

    for way in ((0, 5), (10, 0), (0, -5)):
        space.move(piece, way)
    esper.process(DT)

    assert position(piece) == (10, 0)
    assert not space.collisions


@pytest.mark.slow_in_python
@pytest.mark.parametrize("dim", [2, 3])
def test_a_move_leads_where_a_step_would_among_walls(dim, volume):
    rng = random.Random(dim)
    n_hits, n_moves = 0, volume(40, 80, 150, least=40)
    for _ in range(n_moves):
        enter_new_world()
        walls = [
            (
                [rng.randrange(-12, 12) for _ in range(dim)],
                [rng.choice((0.5, 1, 2, 4)) for _ in range(dim)],
            )
            for _ in range(12)
        ]
        free = [
            wall
            for wall in walls
            if any(abs(at) >= half + 1 for at, half in zip(*wall, strict=True))
        ]
        way = [rng.randrange(-40, 40) for _ in range(dim)]
        for centre, half in free:
            esper.create_entity(ec.Position(*centre), ec.Extents(*half))
        piece = esper.create_entity(
            ec.Position(*(0,) * dim), ec.Extents(*(1,) * dim), ec.Velocity(*way), ec.Slide()
        )
        space = ec.install(dim=dim)

        moved = space.check_move(piece, way)
        esper.process(1.0)

        assert moved.position == pytest.approx(space.positions([piece])[0].tolist(), abs=1e-12)
        solid = {hit.entity for hit in moved.hits}
        assert solid <= {hit.other(piece) for hit in space.collisions_of(piece)}
        n_hits += len(solid)
    assert n_hits > n_moves / 3


def test_what_is_no_move_is_refused():
    space = ec.install()
    piece = box((0, 0), (1, 1))

    with pytest.raises(KeyError, match="entity 99 is no body"):
        space.move(99, (1, 0))
    with pytest.raises(ValueError, match="displacement"):
        space.move(piece, (1, 0, 0))
    with pytest.raises(TypeError, match=r"Slide.*Stop.*Deflect"):
        space.move(piece, (1, 0), ec.Push())
    with pytest.raises(ValueError, match="displacement"):
        space.move(piece, (float("nan"), 0))
    assert position(piece) == (0, 0)


@pytest.mark.parametrize("wrap", [None, (50, None)])
@pytest.mark.parametrize("way", [(9, 0), (-9, 0), (0, 9), (0, -9)])
def test_a_body_in_the_exact_middle_of_a_wall_moves_out_in_any_direction(way, wrap):
    space = ec.install(wrap=wrap) if wrap else ec.install()
    box((0, 0), (2, 2))
    inside = box((0, 0), (1, 1), ec.Slide())

    x, y = space.check_move(inside, way).position
    assert ((x + 25) % 50 - 25 if wrap else x, y) == pytest.approx(way, abs=1e-12)


def test_a_body_off_the_middle_of_a_wall_moves_out_on_the_near_side_only():
    space = ec.install()
    box((0, 0), (2, 2))
    inside = box((0.5, 0), (1, 1), ec.Slide())

    assert space.check_move(inside, (9, 0)).position == (9.5, 0)
    assert space.check_move(inside, (-9, 0)).position == (0.5, 0)
