"""Control over who pushes whom: dominance, restitution of surfaces, rules, speeds, locked axes."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, box, mover, of, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


def answers(space):
    return [hit.outcome for hit in space.collisions]


# Dominance -----------------------------------------------------------------------------


def test_a_player_pushes_crates_and_is_not_slowed_by_them():
    #
    #    +---+   +---++---+
    #    | P | ->| C || C |
    #    +---+   +---++---+
    #
    player = mover((0, 0), (1, 1), (8, 0), ec.Slide(), ec.Dominance(1))
    crates = [mover((x, 0), (1, 1), (0, 0), ec.Slide(), ec.Mass(1000)) for x in (4, 6)]
    ec.install()

    esper.process(1.0)

    assert velocity(player) == (8, 0)
    assert [velocity(crate) for crate in crates] == [(8, 0), (8, 0)]
    assert position(player) == (8, 0)
    assert [position(crate) for crate in crates] == [(10, 0), (12, 0)]


def test_a_player_stands_on_a_crate_and_walks_on_it_with_friction():
    box((0, -1), (50, 1))
    crate = mover((0, 1), (9, 1), (0, 0), ec.Slide(), ec.Friction(1), Falls())
    player = mover((0, 3), (1, 1), (6, 0), ec.Slide(), ec.Dominance(1), ec.Friction(0.5), Falls())
    ec.install()
    esper.add_processor(Gravity(-60.0), priority=200)

    for _ in range(60):
        esper.process(DT)

    assert position(crate) == (0, 1)
    assert velocity(player) == (0, 0)
    assert position(player)[1] == 3


@pytest.mark.parametrize("up", [1, -1])
@pytest.mark.parametrize("side", [1, -1])
def test_who_stands_on_a_lower_and_on_a_higher_level_rubs_by_the_widths(side, up):
    #   +-------+
    #   |   1   |->   a third of its weight is on the crate, which has friction
    #   +-------+
    #   |0|   | 2 |
    #   ===============
    box((0, -up), (50, 1))
    box((side * -4, 2 * up), (2, 2), ec.Velocity(0, 0), ec.Slide(), ec.Friction(1))
    box((side * 2, 2 * up), (3, 2), ec.Velocity(0, 0), ec.Slide(), ec.Dominance(2))
    loads = ec.Slide(), ec.Dominance(1)
    top = mover((side * -1, 5 * up), (2, 1), (side * 8, 0), *loads)
    ec.install(gravity=(0, -64 * up))

    esper.process(1 / 64)

    # The widths are 1 and 2, and its weight adds 1 to its momentum in a step.
    assert velocity(top) == pytest.approx((side * (8 - 1 / 3), 0))


@pytest.mark.parametrize("side", [1, -1])
def test_who_lands_on_a_hero_and_on_a_crate_rubs_by_the_widths(side):
    #   +-------------+ v
    #   |      0      |->
    #   +-------------+
    #    | 0 |   | 2 |     both have stood on the floor since the step began
    #   ===============
    box((0, -1), (50, 1))
    box((side * -5, 2), (3, 2), ec.Velocity(0, 0), ec.Slide())
    box((side * 5, 2), (3, 2), ec.Velocity(0, 0), ec.Slide(), ec.Dominance(2), ec.Friction(0.5))
    top = mover((0, 5 + 1 / 4), (9, 1), (side * 64, -32), ec.Slide())
    ec.install(gravity=(0, -64))

    esper.process(1 / 64)

    # Half of what it lands with, and of the rest of its weight, is on each.
    assert velocity(top) == pytest.approx((side * (64 - 0.5 * 33 / 2), 0))


def test_a_hero_who_does_not_fall_lifts_a_crate_that_falls_as_if_it_had_no_weight():
    #   +-------+
    #   | crate |
    #   +-------+   the hero flies upwards and meets it in the first step
    #   | hero  |
    #   +-------+
    weightless = ec.Slide(), ec.Dominance(1), ec.GravityScale(0)
    hero = mover((0, 0), (1, 1), (0, 8), *weightless)
    crate = mover((0, 2.5), (1, 1), (0, 0), ec.Slide())
    ec.install(gravity=(0, -16))

    for step in range(1, 4):
        esper.process(1 / 8)

        assert velocity(hero) == velocity(crate) == (0, 8)
        assert (position(hero), position(crate)) == ((0, step), (0, step + 2))


def test_dominance_changes_while_bodies_sleep():
    player = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    crate = mover((2, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    for _ in range(30):
        esper.process(DT)
    assert space.stats.asleep == 2

    esper.add_component(player, ec.Dominance(1))
    set_velocity(crate, (-8, 0))
    esper.process(DT)

    assert (velocity(player), velocity(crate)) == ((0, 0), (0, 0))
    esper.component_for_entity(player, ec.Dominance).level = -1
    set_velocity(crate, (-8, 0))
    esper.process(DT)
    assert (velocity(player), velocity(crate)) == ((-8, 0), (-8, 0))
    esper.remove_component(player, ec.Dominance)
    set_velocity(crate, (-16, 0))
    esper.process(DT)
    assert velocity(player) == (-12, 0)


def test_of_two_bodies_inside_each_other_the_lower_level_is_pushed_out():
    player = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.PushOut(), ec.Dominance(1))
    crate = mover((1.5, 0), (1, 1), (0, 0), ec.Slide(), ec.PushOut(), ec.Mass(100))
    ec.install()

    esper.process(1.0)

    assert position(player) == (0, 0)
    assert position(crate) == (2, 0)


def test_a_player_pushes_a_crate_across_the_edge_of_a_world_that_wraps():
    player = mover((17, 5), (1, 1), (4, 0), ec.Slide(), ec.Dominance(1))
    crate = mover((19.5, 5), (1, 1), (0, 0), ec.Slide(), ec.Mass(9))
    space = ec.install(ec.Space(wrap=(20, None)))

    esper.process(1.0)

    assert (velocity(player), velocity(crate)) == ((4, 0), (4, 0))
    assert (position(player), position(crate)) == ((1, 5), (3, 5))
    (hit,) = space.collisions
    assert (hit.contact_min, hit.contact_max, hit.point) == ((18.5, 4), (18.5, 6), (18.5, 5))


# Restitution and the rules for two surfaces --------------------------------------------


@pytest.mark.parametrize(
    ("ball", "wall", "after"),
    [
        (ec.Deflect(0.5), None, 4),
        (ec.Deflect(0.5), ec.Restitution(0.25), 4),
        (ec.Deflect(0.5), ec.Restitution(0, "min"), 0),
        (ec.Deflect(0.5), ec.Restitution(0.25, "average"), 3),
        (ec.Deflect(0.5), ec.Restitution(0.5, "multiply"), 2),
        (ec.Deflect(0.25), ec.Restitution(1, "geometric"), 4),
        (ec.Slide(), ec.Restitution(0.5, "min"), 4),
        (ec.Restitution(0.5, "min"), ec.Restitution(0.25, "max"), 4),
        (ec.Restitution(0.5, "average"), ec.Restitution(0.25, "min"), 2),
        (ec.Restitution(0, "max"), ec.Restitution(0.25), 2),
    ],
)
@pytest.mark.quick
def test_which_restitution_a_pair_has(ball, wall, after):
    response = [ec.Deflect(1)] if isinstance(ball, ec.Restitution) else []
    body = mover((0, 5), (1, 1), (0, -8), ball, *response)
    box((0, 0), (9, 1), *([] if wall is None else [wall]))
    ec.install()

    esper.process(1.0)

    assert velocity(body) == (0, after)


def test_a_rule_can_be_changed_between_steps():
    floor = box((0, -1), (500, 1), ec.Friction(1), ec.Restitution(0.5))
    crate = mover((0, 1), (1, 1), (30, -4), ec.Deflect(0.25), ec.Friction(4))
    ec.install()
    esper.process(1.0)
    assert velocity(crate) == (30 - 6 * 2, 2)
    esper.component_for_entity(floor, ec.Friction).rule = "min"
    esper.component_for_entity(floor, ec.Restitution).rule = ec.CombineRule.MIN
    esper.component_for_entity(crate, ec.Position).y = 1.0
    set_velocity(crate, (30, -4))

    esper.process(1.0)

    assert velocity(crate) == (25, 1)


# A maximum speed -----------------------------------------------------------------------


@pytest.mark.parametrize("most", [1e-300, 0.1, 600.0, 1e150, 5e-324])
def test_on_one_axis_the_speed_becomes_exactly_the_maximum(most):
    body = mover((0, 0), (1, 1), (0, -1.7e150), ec.MaxSpeed(most))
    ec.install()

    esper.process(0.0)

    assert velocity(body) == (0, -most)


def test_a_speed_that_was_limited_is_left_alone_by_the_next_step():
    bodies = [
        mover(
            (9 * n, 0), (1, 1), (math.cos(n) * 1e3, math.sin(n) * 1e3), ec.MaxSpeed(0.1 * n + 0.3)
        )
        for n in range(200)
    ]
    ec.install()
    esper.process(0.0)
    before = [velocity(body) for body in bodies]

    esper.process(0.0)

    assert [velocity(body) for body in bodies] == before
    for n, (x, y) in enumerate(before):
        most = 0.1 * n + 0.3
        assert most * (1 - 1e-15) <= math.hypot(x, y) <= most * (1 + 1e-15)


def test_no_maximum_is_so_small_that_a_step_does_not_end():
    body = mover((0, 0, 0), (1, 1, 1), (3, 4, 5), ec.MaxSpeed(5e-324))
    ec.install(dim=3)

    esper.process(1.0)

    assert max(map(abs, velocity(body, 3))) <= 5e-324


def test_what_a_lift_adds_is_not_limited():
    lift = mover((0, -1), (9, 1), (0, 20), ec.Carry())
    rider = mover((0, 1), (1, 1), (3, 0), ec.Slide(), ec.MaxSpeed(5))
    ec.install()
    for _ in range(3):
        esper.process(DT)

    assert velocity(rider) == (3, 0)
    assert position(rider)[1] == position(lift)[1] + 2
    esper.delete_entity(lift)
    esper.process(DT)
    esper.process(DT)
    assert math.hypot(*velocity(rider)) == pytest.approx(5)


def test_the_limit_holds_under_gravity():
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.MaxSpeed(30), Falls())
    ec.install()
    esper.add_processor(Gravity(-1000.0), priority=200)

    for _ in range(30):
        esper.process(DT)
        assert velocity(body)[1] >= -30

    assert velocity(body) == (0, -30)


# Locked axes ---------------------------------------------------------------------------


def test_a_lift_that_comes_against_a_locked_body_crushes_it():
    lift = mover((0, -4), (9, 1), (0, 8))
    locked = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.LockedAxes(y=True))
    space = ec.install()

    esper.process(1.0)

    assert answers(space) == [ec.Outcome.CRUSHED]
    assert space.collisions[0].solids == (lift, locked)
    assert space.collisions[0].impulse == 0
    assert position(locked) == (0, 0)


@pytest.fixture(params=["static", "locked"])
def make_wall(request):
    """Return a function that creates a wall: a static body, or one that is locked on all axes."""

    def make(*args):
        if request.param == "static":
            return box(*args)
        locks = ec.Slide(), ec.LockedAxes(x=True, y=True), ec.GravityScale(0)
        return mover(*args[:2], (0, 0), *locks, *args[2:])

    return make


def test_balls_that_reach_their_limit_at_a_locked_body_keep_their_speed_as_at_a_wall(make_wall):
    make_wall((4, 0), (1, 5))
    heavy = mover((1.5, 0), (0.5, 0.5), (1000, 0), ec.Deflect(), ec.Mass(1000))
    light = mover((2.5, 0), (0.5, 0.5), (0, 0), ec.Deflect())
    space = ec.install(ec.Space(pair_limit=1))

    esper.process(1.0)

    assert ec.Outcome.CRUSHED not in answers(space)
    assert velocity(heavy) == velocity(light) == (pytest.approx(995.009), 0)


def test_a_locked_body_that_grows_pushes_people_who_block_as_a_wall_does(make_wall):
    make_wall((-4, 0), (1, 9), ec.Growth(1, 0))
    near = mover((-2, 0), (0.5, 0.5), (0, 0), ec.Slide(), ec.Dominance(1, blocks=True))
    far = mover((0, 0), (0.5, 0.5), (-2, 0), ec.Deflect(), ec.Dominance(1, blocks=True))
    ec.install()

    esper.process(1.0)

    assert velocity(near) == (1, 0)
    assert velocity(far) == (4, 0)


def test_a_crate_with_stop_does_not_fall_beside_a_locked_body_until_the_next_step(make_wall):
    make_wall((3, 0), (1, 50))
    crate = mover((0, 0), (1, 1), (4, 0), ec.Stop())
    ec.install(ec.Space(gravity=(0, -10)))

    esper.process(0.5)

    assert velocity(crate) == (0, 0)


def test_a_locked_rider_is_not_carried_along_that_axis():
    mover((0, -1), (9, 1), (0, 0), ec.Carry(surface=(5, 0)))
    rider = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.LockedAxes(x=True))
    on_top = mover((0, 3), (1, 1), (0, 0), ec.Slide())
    ec.install()

    for _ in range(10):
        esper.process(DT)

    assert position(rider) == (0, 1)
    assert position(on_top) == (0, 3)


def test_a_body_that_lands_on_a_belt_with_that_axis_locked_stays_there():
    mover((0, -1), (9, 1), (0, 0), ec.Carry(surface=(5, 0)))
    body = mover((0, 3), (1, 1), (0, -4), ec.Slide(), ec.LockedAxes(x=True))
    ec.install()

    for _ in range(3):
        esper.process(0.5)

    assert position(body) == (0, 1)


def test_a_locked_body_is_pushed_out_along_its_free_axis():
    box((0, 0), (2, 9))
    body = mover((2.5, 8.5), (1, 1), (0, 0), ec.Slide(), ec.PushOut(), ec.LockedAxes(x=True))
    ec.install()

    for _ in range(3):
        esper.process(1.0)

    assert position(body) == (2.5, 10)


def test_members_of_a_soft_crowd_part_along_their_free_axes():
    one = mover((0, 0), (1, 1), (0, 0), ec.Slide(), ec.Separate(), ec.LockedAxes(x=True))
    other = mover((0.5, 1), (1, 1), (0, 0), ec.Slide(), ec.Separate(), ec.LockedAxes(x=True))
    ec.install()

    for _ in range(20):
        esper.process(DT)

    assert position(one)[0] == 0
    assert position(other)[0] == 0.5
    assert position(other)[1] - position(one)[1] == pytest.approx(2, abs=0.01)


def test_a_response_of_the_game_cannot_move_a_body_along_a_locked_axis():
    class Jumpy:
        pass

    body = mover((0, 0), (1, 1), (8, 0), Jumpy(), ec.LockedAxes(y=True))
    box((4, 0), (1, 9))
    space = ec.install()

    def jump(impact):
        impact.set_velocity(body, (-8, 5))

    space.respond_with(Jumpy, jump)
    esper.process(1.0)

    assert position(body) == (-4, 0)
    assert velocity(body) == (-8, 0)


def test_a_locked_body_that_is_swept_by_the_game_stays_on_its_rail():
    cart = box((0, 0), (1, 1), ec.Slide(), ec.LockedAxes(y=True))
    ec.install(ec.Space(motion="swept"))
    esper.process(DT)

    esper.component_for_entity(cart, ec.Position).set(4, 3)
    esper.process(DT)

    assert position(cart) == (4, 0)


def test_placement_never_moves_a_locked_body_that_rounding_has_sunk():
    rng = [0.1 * n + 0.3 for n in range(40)]
    for n, half in enumerate(rng):
        mover((0, 9 * n), (half, 1), (0, 0), ec.Slide(), ec.LockedAxes(x=True))
        mover((half + 1.1, 9 * n), (0.7, 1), (-3.3, 0), ec.Slide(), ec.Mass(1e9))
    places = [position(entity)[0] for entity, _ in esper.get_component(ec.LockedAxes)]
    space = ec.install()

    for _ in range(60):
        esper.process(DT)

    assert [position(entity)[0] for entity, _ in esper.get_component(ec.LockedAxes)] == places
    space.check()


# What they share -----------------------------------------------------------------------


def test_components_can_be_added_changed_and_removed_at_any_time():
    body = mover((0, 0), (1, 1), (3, 4), ec.Slide())
    ec.install()
    esper.process(1.0)
    esper.add_component(body, ec.MaxSpeed(2.5))
    esper.process(1.0)
    assert velocity(body) == (1.5, 2)
    esper.add_component(body, ec.LockedAxes(x=True))
    esper.process(1.0)
    assert velocity(body) == (0, 2)
    esper.remove_component(body, ec.MaxSpeed)
    esper.component_for_entity(body, ec.LockedAxes).x = False
    set_velocity(body, (30, 40))
    esper.process(1.0)

    assert velocity(body) == (30, 40)


def test_a_step_that_is_cut_short_has_not_happened():
    player = mover((0, 0), (1, 1), (8, 6), ec.Slide(), ec.Dominance(1), ec.LockedAxes(y=True))
    crate = mover((4, 0), (1, 1), (0, 0), ec.Slide(), ec.Mass(9))
    space = ec.install()
    esper.process(0.0)
    space.update_bounds(1.0)  # and never finished

    esper.process(1.0)

    assert velocity(player) == velocity(crate) == (8, 0)


def test_explain_says_who_gives_way():
    player = mover((0, 0), (1, 1), (1, 0), ec.Slide(), ec.Dominance(1), ec.LockedAxes(y=True))
    crate = mover((4, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(DT)

    causes = {finding.cause for finding in space.explain(player, crate).findings}
    text = str(space.explain(crate, player))

    assert {"dominance", "locked_axes"} <= causes
    assert f"{player} has Dominance(level=1) and entity {crate} Dominance(level=0): only" in text
    assert f"entity {player} has LockedAxes: along y it never moves" in text


def person(centre, half):
    return mover(centre, half, (0,) * len(half), ec.Slide(), ec.Dominance(1, blocks=True))


def test_people_who_block_stand_on_each_other_and_a_lift_pushes_them():
    space = ec.install(dim=3, gravity=(0, 0, -900), up=(0, 0, 1))
    box((0, 0, -1), (50, 50, 1))
    low, high = (person((0, 0, z), (1, 1, 1)) for z in (1, 3))
    wall = mover((-20, 0, 2), (1, 9, 2), (40, 0, 0))

    for frame in range(60):
        set_velocity(low, (0, 0, 300 if frame < 20 else 0))  # it cannot jump beneath the other
        esper.process(1 / 60)

    beside = space.position_of(wall)[0] + 2
    assert space.position_of(low) == pytest.approx((beside, 0, 1))
    assert space.position_of(high) == pytest.approx((beside, 0, 3))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("bounce", "after", "impulse"), [(0, (0, 0), 6), (0.5, (-2, 1), 9), (1, (-4, 2), 12)]
)
def test_people_who_block_and_run_into_each_other_rebound_each_as_from_a_wall_at_rest(
    bounce, after, impulse, order
):
    #   +---+        +---+
    #   | 1 | >>  << | 3 |    their masses do not count, and the impulse is the larger one
    #   +---+        +---+
    people = {}
    for side, speed, mass in [(-1, 4, 1), (1, -2, 3)][::order]:
        parts = ec.Deflect(bounce), ec.Dominance(0, blocks=True), ec.Mass(mass)
        people[side] = mover((3 * side, 0), (1, 1), (speed, 0), *parts)
    space = ec.install()

    esper.process(1.0)

    assert [velocity(people[side]) for side in (-1, 1)] == [(v, 0) for v in after]
    assert [hit.impulse for hit in space.collisions] == [impulse]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("raft", [0, 16, 64, -64])
@pytest.mark.parametrize("speeds", [(16, 0), (0, -16), (8, -8), (20, -40)])
@pytest.mark.parametrize("dim", [2, 3])
def test_people_who_block_stop_at_each_other_on_a_raft_as_on_the_ground(dim, speeds, raft, order):
    def person(x):
        return mover((x, 8, 0)[:dim], (8,) * dim, (0,) * dim, ec.Slide(), ec.Dominance(0, True))

    mover((0, -8, 0)[:dim], (400, 8, 400)[:dim], (raft, 0, 0)[:dim], ec.Carry())
    people = {x: person(x) for x in (-9, 8)[::order]}
    space = ec.install(dim=dim, gravity=(0, -400, 0)[:dim])
    for step in range(14):
        if step == 2:
            for x, speed in zip((-9, 8), speeds, strict=True):
                of(people[x], ec.Velocity).x = speed
        esper.process(1 / 64)

    assert all(velocity(entity)[0] == 0 for entity in people.values())
    assert {space.carried(entity)[0] for entity in people.values()} == {raft}


@pytest.mark.parametrize("side", [1, -1])
def test_people_whom_a_raft_carries_against_one_who_blocks_stop_at_him(side):
    #                 +--+
    #        +--++--+ |  |
    #        |2 ||1 | +--+     he stands on no raft
    #    >---+--++--+----
    def person(x, y):
        return mover((side * x, y), (4, 4), (0, 0), ec.Slide(), ec.Dominance(0, blocks=True))

    mover((0, -12), (400, 8), (side * 64, 0), ec.Carry())
    people = person(394, 0), person(386, 0)
    stands = person(404, 2)
    space = ec.install()
    for _ in range(8):
        esper.process(1 / 16)
        assert len(space.collisions) <= 3

    assert [side * space.position_of(each)[0] for each in people] == [396, 388]
    assert space.position_of(stands)[0] == side * 404


def test_one_who_blocks_outweighs_the_others_of_its_level():
    person, crate = (
        mover((x, 0), (1, 1), (v, 0), ec.Slide(), ec.Dominance(1, blocks=blocks))
        for x, v, blocks in ((0, 8, True), (4, 0, False))
    )
    space = ec.install()

    esper.process(1.0)

    assert velocity(person) == velocity(crate) == (8, 0)
    assert f"only entity {crate} gives way" in str(space.explain(person, crate))
    esper.component_for_entity(crate, ec.Dominance).blocks = 1
    assert "they stop at each other, and neither pushes" in str(space.explain(person, crate))


@pytest.mark.parametrize(
    ("part", "stands", "is_pushed"),
    [(ec.Mass(math.inf), False, False), (ec.Dominance(1), True, False), (ec.Mass(1), True, True)],
)
def test_dominance_and_not_an_infinite_mass_is_for_a_hero_whom_nothing_pushes(
    part, stands, is_pushed
):
    box((0, -1), (100, 1))
    body = mover((0, 16), (10, 16), (0, 0), ec.Slide(), ec.Character(), part)
    crate = mover((-40, 16), (10, 16), (300, 0), ec.Slide())
    ec.install()
    for _ in range(20):
        esper.component_for_entity(crate, ec.Velocity).x = 300
        esper.process(1 / 60)

    assert (position(body)[1] == 16) == stands
    assert (position(body)[0] > 0) == is_pushed


@pytest.mark.parametrize("side", [1, -1])
def test_of_two_that_squeeze_a_third_the_one_of_higher_dominance_keeps_its_velocity(side):
    #  |M ->|L|<- H|    L goes with M, which outweighs it.  H outweighs both.
    mover((-2 * side, 0), (1, 1), (side, 0), ec.Slide(), ec.Dominance(1))
    mover((0, 0), (1, 1), (0, 0), ec.Slide())
    high = mover((2 * side, 0), (1, 1), (-side, 0), ec.Deflect(), ec.Dominance(2))
    ec.install()

    esper.process(0.25)

    assert velocity(high) == (-side, 0)
