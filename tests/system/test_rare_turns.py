"""Turns that a step takes rarely: each is the smallest scene that takes it."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, box, gaps, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Mine:
    """Marks what the game resolves for."""


def answers(space):
    return [(hit.first, hit.second, hit.outcome) for hit in space.collisions]


def test_a_contact_that_only_a_long_path_allowed_ends_at_rest():
    # At the end of a step of a million units a gap of 1e-9 is none; at rest it is one.
    runner = mover((-1e6 - 1.0 - 1e-9, 0.0), (1.0, 1.0), (1e6, 0.0), ec.Slide())
    wall = box((1.0, 0.0), (1.0, 5.0))
    space = ec.install()

    esper.process(1.0)
    assert 2.0**-40 < gaps(runner, wall)[0] < SLOP * 1e6
    assert [contact.other(wall) for contact in space.contacts()] == [runner]

    set_velocity(runner, 0.0, 0.0)
    esper.process(1.0)
    assert space.contacts() == []
    (ended,) = space.contacts_ended
    assert (ended.reason, ended.time) == (ec.EndReason.SEPARATED, 1.0)


def test_a_body_deleted_by_its_response_ends_its_old_contacts_in_the_next_step():
    floor = box((0.0, -1.0), (9.0, 1.0))
    crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, -1.0), ec.Slide(), Mine())
    space = ec.install()
    stop = space.respond_with(Mine, lambda impact: ec.DEFAULT)
    esper.process(1.0)
    assert len(space.contacts(crate)) == 1

    stop()
    space.respond_with(Mine, lambda impact: esper.delete_entity(crate, immediate=True))
    set_velocity(crate, 0.0, -1.0)
    esper.process(1.0)
    assert list(space.contacts_ended) == []

    esper.process(1.0)
    (ended,) = space.contacts_ended
    assert (ended.first, ended.second) == (floor, crate)
    assert ended.reason is ec.EndReason.ENTITY_DELETED


def test_a_step_that_was_given_up_leaves_no_impact_behind():
    ball = mover((0.0, 0.0), (1.0, 1.0), (10.0, 0.0), ec.Deflect())
    other = mover((0.0, 9.0), (1.0, 1.0), (10.0, 0.0), ec.Deflect())
    box((6.0, 4.0), (1.0, 9.0))
    left = box((-9.0, 4.0), (1.0, 9.0))
    space = ec.install()
    space.update_bounds(1.0)
    space.queue_impacts()

    set_velocity(ball, -8.0, 0.0)
    set_velocity(other, -14.0, 0.0)
    esper.process(1.0)

    assert answers(space) == [
        (other, left, ec.Outcome.RESOLVED),
        (ball, left, ec.Outcome.RESOLVED),
    ]
    assert position(ball) == (-6.0, 0.0)
    assert position(other) == (0.0, 9.0)


@pytest.mark.parametrize("heavier", ["first", "second"])
def test_hardly_any_restitution_never_leaves_a_pair_closing(heavier):
    # Both velocities after are one number, up to rounding: half of the pairs would still close.
    rng = random.Random(6)
    pairs = []
    for i in range(60):
        masses = [rng.uniform(0.1, 1.0), rng.uniform(1.0, 10.0)]
        if heavier == "first":
            masses.reverse()
        pair = [
            mover((side * 1.5, 9.0 * i), (1.0, 1.0), (-side * rng.uniform(1.0, 9.0), 0.0),
                  ec.Deflect(restitution=1e-300), ec.Mass(mass))
            for side, mass in zip((-1, 1), masses, strict=True)
        ]  # fmt: skip
        pairs.append(pair)
    space = ec.install()

    esper.process(1.0)

    assert len(space.collisions) == len(pairs)  # each pair is resolved once: it closes no more
    for first, second in pairs:
        assert velocity(first)[0] <= velocity(second)[0]
        assert velocity(first)[0] == pytest.approx(velocity(second)[0], rel=1e-15)


@pytest.mark.parametrize("response", [ec.Slide, ec.Push, ec.Stop])
def test_a_response_that_makes_the_velocities_equal_and_wants_the_default(response):
    first = mover((-2.0, 0.0), (1.0, 1.0), (3.0, 1.0), response(), Mine(), ec.Mass(0.1))
    second = mover((2.0, 0.0), (1.0, 1.0), (-3.0, 2.0), response(), ec.Mass(0.7))
    space = ec.install()

    def together(impact):
        impact.velocity_first = impact.velocity_second = (1 / 3, 0.3)
        return ec.DEFAULT

    space.respond_with(Mine, together)

    esper.process(1.0)

    assert velocity(first) == velocity(second) == (1 / 3, 0.3)
    assert answers(space) == [(first, second, ec.Outcome.RESOLVED)]


def test_what_is_deleted_gives_its_partner_no_answer():
    partner = mover((4.0, 0.0), (1.0, 1.0), (-2.0, 0.0), ec.Deflect())
    ball = mover((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), ec.Deflect(), Mine())
    space = ec.install()

    def burst(impact):
        esper.delete_entity(ball, immediate=True)
        impact.resolve()

    space.respond_with(Mine, burst)

    esper.process(1.0)

    assert answers(space) == [(partner, ball, ec.Outcome.RESOLVED)]
    assert velocity(partner) == (-2.0, 0.0)
    assert position(partner) == (2.0, 0.0)
    esper.process(1.0)
    assert space.entities == [partner]


def test_a_response_that_moves_its_body_into_a_sensor():
    wall = box((5.0, 0.0), (1.0, 5.0))
    ball = mover((0.0, 0.0), (1.0, 1.0), (4.0, 0.0), ec.Slide(), Mine())
    sensor = box((0.0, 50.0), (3.0, 3.0), ec.Sensor())
    space = ec.install()
    where = esper.component_for_entity(ball, ec.Position)
    space.respond_with(Mine, lambda impact: where.set(0.0, 50.0))

    esper.process(1.0)

    assert [(hit.other(ball), hit.time, hit.outcome) for hit in space.collisions] == [
        (wall, 0.75, ec.Outcome.RESOLVED),
        (sensor, 0.75, ec.Outcome.CROSSED),
    ]
    assert position(ball) == (1.0, 50.0)  # from there on it goes its way
    assert [(e.other(ball), e.time) for e in space.contacts_began] == [(wall, 0.75), (sensor, 0.75)]
    assert [(e.other(ball), e.time) for e in space.contacts_ended] == [(wall, 0.75)]


def test_a_body_in_a_squeeze_that_its_game_does_not_answer_is_crushed_not_forced():
    left = mover((-3.0, 0.0), (1.0, 5.0), (1.0, 0.0))
    right = mover((3.0, 0.0), (1.0, 5.0), (-1.0, 0.0))
    crate = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), Mine())
    space = ec.install()
    space.respond_with(Mine, lambda impact: None)

    esper.process(1.5)

    assert space.stats.crushed == 1
    found = [hit.outcome for hit in space.collisions if crate in (hit.first, hit.second)]
    assert found.count(ec.Outcome.CRUSHED) == 1
    assert ec.Outcome.RESOLVED not in found
    assert position(left)[0] < position(crate)[0] < position(right)[0]


def test_a_face_impact_that_becomes_a_corner_comes_after_the_others_of_its_instant():
    #
    #         +-----+        lands on all three at once; on the sinking one the game throws it to
    #         |  A  | ->     the right, so fast that its hold of 1e-6 on the edge is less than
    #         +-----+        rounding: a corner, on which it would snag if its turn came first
    #     -----+ +---+----
    #   sinking  bed   edge
    #
    sinking = mover((-5.0, 1.5), (4.5, 1.0), (0.0, -5.0))
    thrown = mover((0.0, 6.0), (1.0, 1.0), (0.0, -10.0), ec.Slide(), Mine())
    edge = box((1.0 + 2.0 - 1e-6, -1.0), (2.0, 1.0))
    bed = box((4.0, -1.0), (4.5, 1.0))  # it lies below the edge, too
    space = ec.install()

    def throw(impact):
        if impact.first == sinking:
            impact.set_velocity(thrown, (1e9, -5.0))
            return None
        return ec.DEFAULT

    space.respond_with(Mine, throw)

    esper.process(1.0)

    left = [position(body)[0] for body in (edge, bed)]
    assert left[0] < left[1]  # so the edge would come first, were it not a corner
    assert [(hit.other(thrown), hit.time) for hit in space.collisions] == [
        (sinking, 0.5),
        (bed, 0.5),
    ]
    assert velocity(thrown) == (1e9, 0.0)
    assert position(thrown) == (0.5e9, 1.0)


def test_a_response_that_moves_the_paddle():
    paddle = mover((4.0, 0.0), (1.0, 1.0), (0.0, 3.0))
    mover((0.0, 1.5), (1.0, 1.0), (4.0, 0.0), ec.Slide(), Mine())
    space = ec.install()
    where = esper.component_for_entity(paddle, ec.Position)
    space.respond_with(Mine, lambda impact: where.set(100.0, 0.0))

    esper.process(1.0)

    assert [hit.time for hit in space.collisions] == [0.5]
    assert position(paddle) == (100.0, 1.5)  # half a step from where it was put


def test_a_bullet_into_an_inner_corner_turns_back_on_both_axes_whatever_the_rounding():
    #
    #      |wall       both faces are met in one instant; but where the bullet is then has been
    #   o  |           rounded by more than the faces have been, so the second may come an
    #    \_|_floor_    instant of its own later
    #
    rng = random.Random(7)
    box((2.0, 0.0), (1.0, 9.0))
    box((0.0, -2.0), (9.0, 1.0))
    bullet = mover((0.0, 0.0), (0.25, 0.25), (0.0, 0.0), ec.Deflect())
    place = esper.component_for_entity(bullet, ec.Position)
    space = ec.install()
    apart = 0

    for _ in range(60):
        way, speed = rng.uniform(1e5, 1e6), rng.uniform(1e6, 2e6)
        place.set(0.75 - way, way - 0.75)
        set_velocity(bullet, speed, -speed)
        esper.process(1.0)

        first, second = space.collisions
        assert {first.normal, second.normal} == {(1.0, 0.0), (0.0, -1.0)}
        assert first.resolved
        assert second.resolved
        assert second.time == pytest.approx(first.time, rel=1e-15)
        assert velocity(bullet) == (-speed, speed)
        apart += first.time != second.time
    assert apart > 0


def test_a_body_that_is_locked_on_the_axis_stays_where_rounding_has_put_it():
    # Neither of the two gives way there, so there is nothing to correct.
    start = math.nextafter(2.0, 0.0)
    wall = box((0.0, 0.0), (1.0, 9.0))
    slider = mover((start, 0.0), (1.0, 1.0), (0.0, 1.0), ec.Slide(), ec.LockedAxes(x=True))
    ec.install()

    esper.process(1.0)
    assert position(slider) == (start, 1.0)
    assert gaps(slider, wall)[0] < 0.0


def test_two_planes_that_end_a_step_in_one_place_keep_their_sides():
    left = mover((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0), ec.Slide())
    right = mover((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), ec.Slide())
    space = ec.install()

    esper.process(1.0)
    assert list(space.collisions) == []
    assert position(left)[0] == -position(right)[0] < 0.0

    esper.process(1.0)
    (hit,) = space.collisions
    assert hit.time < 1e-100
    assert (hit.first, hit.normal) == (left, (-1.0, 0.0))
    assert position(left)[0] == -position(right)[0] < 0.0


class Switched:
    """Marks what a response switches off."""


def switch_off(impact):
    """Switch off the body of an impact that is marked so."""
    for entity in (impact.first, impact.second):
        if esper.has_component(entity, Switched):
            esper.add_component(entity, ec.Disabled())


@pytest.mark.parametrize("who", ["ball", "wall"])
def test_what_a_response_switches_off_stops_beside_boxes_of_others(who):
    hero = mover((0.0, 50.0), (1.0, 1.0), (1.0, 0.0))
    box_of_hero = mover((0.0, 0.0), (2.0, 2.0), (0.0, 0.0), ec.Attached(hero, (3.0, 0.0)))
    ball = mover((0.0, 0.0), (1.0, 1.0), (10.0, 0.0), ec.Slide(), Mine())
    wall = box((5.0, 0.0), (1.0, 1.0))
    esper.add_component(ball if who == "ball" else wall, Switched())
    space = ec.install()
    space.respond_with(Mine, switch_off)

    esper.process(1.0)

    assert position(ball) == ((3.0, 0.0) if who == "ball" else (10.0, 0.0))
    assert position(wall) == (5.0, 0.0)
    assert position(box_of_hero) == (4.0, 50.0)
    assert [hit.time for hit in space.collisions] == [0.3]


def test_bodies_that_are_created_after_boxes_turn_as_all_do():
    hero = mover((0.0, 0.0), (1.0, 1.0), (1.0, 0.0))
    shield = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Attached(hero, (3.0, 0.0)))
    ec.install()
    esper.process(1.0)

    box((9.0, 500.0), (1.0, 999.0))
    balls = [mover((0.0, 50.0 + 3.0 * n), (1.0, 1.0), (8.0, 0.0), ec.Deflect()) for n in range(300)]
    esper.process(1.0)

    assert {position(ball)[0] for ball in balls} == {6.0}
    assert position(shield) == (5.0, 0.0)


def test_boxes_of_one_of_a_row_stop_with_it_where_they_would_have_entered_zones():
    #
    #  [box]|zone|        the row comes to the wall, and each box to its zone, at one instant;
    #  [  ][  ][  ]  |    the velocities of bodies that move as one are written later
    #
    box((9.0, 0.0), (1.0, 1.0))
    row = [mover((2.0 * n, 0.0), (1.0, 1.0), (10.0, 0.0), ec.Slide()) for n in range(3)]
    hitboxes = [
        mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Attached(row[0], (0.0, y)))
        for y in (2.0, 20.0)
    ]
    zones = [box((5.0, y), (1.0, 1.0)) for y in (2.0, 20.0)]
    for zone in zones:
        esper.add_component(zone, ec.Sensor())
    space = ec.install()

    esper.process(1.0)

    assert [position(body) for body in row] == [(3.0 + 2.0 * n, 0.0) for n in range(3)]
    assert [position(hitbox) for hitbox in hitboxes] == [(3.0, 2.0), (3.0, 20.0)]
    assert [space.contacts(zone) for zone in zones] == [[], []]


@pytest.mark.parametrize(
    ("speed", "place"),
    [((4.0, 40.0), (2.0, 40.0)), ((10.0, 0.0), (1.0, 0.0))],  # past the other, and against it
)
def test_bodies_that_cross_until_they_separate_separate_when_the_game_moves_one(speed, place):
    first = mover((0.0, 0.0), (2.0, 2.0), (2.0, 0.0), ec.Slide(), Mine())
    second = box((5.0, 0.0), (2.0, 2.0))
    space = ec.install()
    stop = space.respond_with(Mine, lambda impact: impact.cross(until_separate=True))
    esper.process(1.0)
    assert [contact.kind for contact in space.contacts(second)] == [ec.ContactKind.CROSSING]
    stop()

    space.move(first, (-4.0, 0.0))
    set_velocity(first, *speed)
    esper.process(1.0)

    (ended,) = space.contacts_ended
    assert (ended.reason, ended.time) == (ec.EndReason.SEPARATED, 0.0)
    assert position(first) == place  # now they are solid to each other


def test_who_is_moved_out_of_a_sensor_enters_it_anew():
    visitor = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    zone = box((0.0, 0.0), (1.0, 1.0))
    esper.add_component(zone, ec.Sensor())
    space = ec.install()
    esper.process(1.0)
    assert len(space.contacts(zone)) == 1

    space.move(visitor, (-4.0, 0.0))
    set_velocity(visitor, 4.0, 0.0)
    esper.process(1.0)

    (ended,) = space.contacts_ended
    (began,) = space.contacts_began
    assert (ended.reason, ended.time) == (ec.EndReason.SEPARATED, 0.0)
    assert began.time == 0.5
    assert [(contact.first, contact.second) for contact in space.contacts()] == [(visitor, zone)]


def test_a_body_that_the_game_moves_wakes_who_sleeps_beside_it_and_nobody_else():
    floor = mover((0.0, -1.0), (50.0, 1.0), (0.0, 0.0))
    crates = [mover((x, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide()) for x in (0.0, 10.0)]
    other_floor = box((0.0, -99.0), (50.0, 1.0))
    other = mover((0.0, -97.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    space = ec.install(gravity=(0.0, -10.0))
    for _ in range(120):
        esper.process(1 / 60)
    assert space.stats.asleep == 4

    space.move(floor, (0.0, -0.25))
    esper.process(1 / 60)

    assert space.stats.asleep == 1
    for _ in range(60):
        esper.process(1 / 60)
    assert [position(crate)[1] for crate in crates] == [0.75, 0.75]
    assert position(other) == (0.0, -97.0)
    assert len(space.contacts(other_floor)) == 1


@pytest.mark.parametrize("is_floor_dynamic", [False, True])
def test_a_growing_ball_that_falls_bounces_by_the_speed_of_its_face(is_floor_dynamic):
    floor = (
        mover((0.0, -1.0), (9.0, 1.0), (0.0, 0.0), ec.Slide(), ec.GravityScale(0.0))
        if is_floor_dynamic
        else box((0.0, -1.0), (9.0, 1.0))
    )
    ball = mover((0.0, 3.0), (1.0, 1.0), (0.0, -10.0), ec.Deflect(), ec.Growth(1.0, 1.0))
    ec.install(gravity=(0.0, -1.0))

    for _ in range(4):
        esper.process(0.1)
        assert gaps(ball, floor)[1] >= -SLOP
    assert velocity(ball)[1] > 0.0


def test_a_growing_crate_that_falls_on_a_floor_that_is_held_up_comes_to_rest():
    box((0.0, -3.0), (9.0, 1.0))
    raft = mover((0.0, -1.0), (9.0, 1.0), (0.0, 0.0), ec.Slide())
    crate = mover((0.0, 1.5), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Growth(0.5, 0.5))
    ec.install(gravity=(0.0, -10.0))

    for _ in range(60):
        esper.process(1 / 60)

    assert position(raft) == (0.0, -1.0)
    assert gaps(crate, raft)[1] == pytest.approx(0.0, abs=1e-9)


def test_bodies_that_rest_for_a_shorter_time_are_awake_when_others_fall_asleep():
    late = [mover((2.0 * n, 9.0), (1.0, 1.0), (1.0, 0.0), ec.Slide()) for n in range(2)]
    early = mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    box((2.0, 0.0), (1.0, 1.0))
    space = ec.install()
    asleep = []

    for step in range(60):
        if step == 20:
            for body in late:
                set_velocity(body, 0.0, 0.0)
        esper.process(1 / 60)
        asleep.append(space.stats.asleep)

    assert asleep.index(1) < asleep.index(3)
    assert position(early) == (0.0, 0.0)
    assert len(space.contacts(late[0])) == 1


def test_a_row_that_presses_on_a_wall_stays_awake_beside_one_that_the_game_resolves_for():
    box((0.0, 0.0), (1.0, 9.0))
    row = [mover((2.0 * n, 0.0), (1.0, 1.0), (-1.0, 0.0), ec.Slide()) for n in range(1, 6)]
    guest = mover((12.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), Mine())
    space = ec.install()
    space.respond_with(Mine, lambda impact: ec.DEFAULT)

    for _ in range(120):
        for body in row:
            set_velocity(body, -1.0, 0.0)
        esper.process(1 / 60)

    assert space.stats.asleep == 0
    assert position(guest) == (12.0, 0.0)
