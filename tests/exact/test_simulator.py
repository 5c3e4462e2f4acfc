"""The exact simulator, tested: by hand-made scenes, by an oracle, and by faults put into it."""

from __future__ import annotations

import itertools
import os
import sys
import types
from fractions import Fraction
from pathlib import Path

import pytest

from tests.exact import friction, simulator
from tests.exact import step_oracle as checking
from tests.exact.crowds import body, crowd, growing_crowd, pressing_crowd

# It uses no kernel: where the suite is run once more on plain kernels it has nothing to add.
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("ECS_COLLIDE_PURE_PYTHON")), reason="the same compiled and as pure Python"
)

# friction first, because the simulator imports it
SOURCES = {module.__name__: Path(module.__file__).read_text() for module in (friction, simulator)}
N_CROWDS = 18
MAX_EVENTS = 1000
ONE = Fraction(1)


class EndlessError(Exception):
    """A step that would never end."""


tested = simulator  # or one with a fault in it


def run(bodies, dt=1, **limits):
    exact = tested.Simulator(bodies, Fraction(dt), watch=True, **limits)
    for _ in range(MAX_EVENTS):
        pair = exact.next_pair()
        if pair is None:
            exact.finish()
            return exact
        exact.take(pair)
    raise EndlessError


def described(exact):
    """Return time, bodies and answer of all events."""
    return [(e.time, e.first, e.second, e.outcome) for e in exact.events]


# Scenes with a known answer ------------------------------------------------------------


def test_two_boxes_meet_when_their_faces_do():
    # 4 apart, and closing by 12 in a second
    exact = run(
        [body(1, (0, 0), (1, 1), (9, 0), "deflect"), body(2, (6, 0), (1, 1), (-3, 0), "deflect")]
    )

    contact = ((Fraction(4), Fraction(4)), (Fraction(-1), Fraction(1)))
    assert exact.events == [
        simulator.Event(
            Fraction(1, 3), 1, 2, 0, -1, False, False, "resolved", contact, Fraction(12)
        )
    ]
    assert [v[0] for v in exact.velocity.values()] == [-3, 9]


@pytest.mark.parametrize(
    ("masses", "restitution", "after"),
    [
        ((1, 3), 1, (-2, 2)),
        ((1, 3), 0, (1, 1)),
        ((1, 3), Fraction(1, 2), (Fraction(-1, 2), Fraction(3, 2))),
        ((None, 3), 1, (4, 8)),
        ((1, None), Fraction(1, 4), (-1, 0)),
    ],
)
def test_what_two_make_of_a_speed_of_four(masses, restitution, after):
    exact = run(
        [
            body(1, (0, 0), (1, 1), (4, 0), "deflect", masses[0], restitution=restitution),
            body(2, (4, 0), (1, 1), (0, 0), "deflect", masses[1], restitution=restitution),
        ]
    )

    assert tuple(v[0] for v in exact.velocity.values()) == after


@pytest.mark.parametrize(
    ("response", "after"),
    [("slide", (0, 4)), ("stop", (0, 1)), ("push", (0, 6)), ("deflect", (-4, 4))],
)
def test_the_rules_along_a_surface_that_moves(response, after):
    # Relative to the lift, (4, 3): pushed it keeps its 5.
    runner = body(1, (0, 0), (1, 1), (4, 4), response)
    lift = body(2, (4, 0), (1, 9), (0, 1))

    assert tuple(run([runner, lift]).velocity[1]) == after


def test_grazing_touching_and_parting_are_no_impacts():
    for centre, velocity in (
        ((2, 0), (0, 5)),  # along a face
        ((2, 2), (-1, 1)),  # corner to corner, and past
        ((2, 0), (3, 0)),  # parting
        ((6, 4), (-4, -2)),  # comes to touch a corner only
        ((3, 0), (-1, 0)),  # at the very end of the step
    ):
        runner = body(1, centre, (1, 1), velocity, "deflect")
        assert run([runner, body(2, (0, 0), (1, 1))]).events == []


def test_a_point_hits_a_plate():
    exact = run([body(1, (0, 0), (0, 0), (4, 0), "deflect"), body(2, (1, 0), (0, 1))])

    assert described(exact) == [(Fraction(1, 4), 1, 2, "resolved")]


def test_two_tiles_are_both_told_and_one_answers():
    exact = run(
        [
            body(1, (-2, 0), (2, 1)),
            body(2, (2, 0), (2, 1)),
            body(3, (0, 4), (1, 1), (0, -4), "slide"),
        ]
    )

    assert described(exact) == [
        (Fraction(1, 2), 1, 3, "resolved"),
        (Fraction(1, 2), 2, 3, "stopped already"),
    ]


def test_two_tiles_share_an_impulse_by_width():
    def impulses(x):
        tiles = [body(1, (-2, 0), (2, 1)), body(2, (2, 0), (2, 1))]
        lander = body(3, (x, 4), (1, 1), (0, -4), "slide", mass=2)
        return [e.impulse for e in run([*tiles, lander]).events]

    assert [impulses(x) for x in (0, Fraction(1, 2), Fraction(-1, 2))] == [[4, 4], [2, 6], [6, 2]]


def test_who_hits_two_at_once_bounces_off_both():
    exact = run(
        [
            body(1, (-2, 0), (2, 1), (0, 0), "deflect", restitution=Fraction(1, 2)),
            body(2, (2, 0), (2, 1), (0, 0), "deflect"),
            body(3, (0, 4), (1, 1), (0, -3), "slide"),
        ]
    )

    # Stopped together all have -1, and the larger restitution counts for all.
    assert [exact.velocity[n][1] for n in (1, 2, 3)] == [-2, -2, 1]
    assert [e.impulse for e in exact.events] == [2, 2]
    assert described(exact) == [
        (Fraction(2, 3), 1, 3, "resolved"),
        (Fraction(2, 3), 2, 3, "stopped already"),
    ]


def test_each_contact_of_bounces_at_one_instant_passes_on_its_own_part():
    half = Fraction(1, 2)
    exact = run(
        [
            body(1, (-4, 0), (1, 1), (4, 0), "deflect", restitution=half),
            body(2, (0, 0), (1, 1), (0, 0), "deflect", restitution=half, mass=2),
            body(3, (6, 0), (1, 1), (-8, 0), "deflect", restitution=half),
        ]
    )

    # Stopped together all have -1; half of these changes more, and they part.
    assert [exact.velocity[n][0] for n in (1, 2, 3)] == [-7 * half, -3 * half, 5 * half]
    assert [(e.first, e.second, e.impulse) for e in exact.events] == [
        (1, 2, 15 * half), (2, 3, 21 * half)
    ]  # fmt: skip


def test_of_two_that_are_hit_at_once_one_may_get_away_untouched():
    exact = run(
        [
            body(1, (-2, 0), (2, 1), (0, 0), "deflect", mass=2),
            body(2, (2, 2), (2, 1), (0, -4), "deflect"),
            body(3, (0, 5), (1, 1), (0, -6), "slide", mass=2),
        ]
    )

    assert [exact.velocity[n][1] for n in (1, 2, 3)] == [-6, -4, 0]


def test_a_corner_waits_for_the_faces_of_its_instant():
    # It comes down and to the right: onto tile 2, and onto the corner of tile 1, whose id is lower.
    exact = run(
        [
            body(1, (5, 0), (2, 1)),
            body(2, (1, 0), (2, 1)),
            body(3, (0, 4), (1, 1), (4, -4), "slide"),
        ]
    )

    assert described(exact) == [(Fraction(1, 2), 2, 3, "resolved")]
    assert tuple(exact.velocity[3]) == (4, 0)


def test_a_corner_waits_for_faces_that_a_resolution_makes_due():
    #
    #   5 falls on 4 when 3 comes to the corner of the tile: 3 is pushed down,
    #   so that it closes faster downwards than to the right, and lands.
    #
    exact = run(
        [
            body(1, (0, 0), (2, 1)),
            body(3, (-5, Fraction(7, 2)), (1, 1), (4, -3), "slide"),
            body(4, (-5, Fraction(11, 2)), (1, 1), (4, -3), "slide"),
            body(5, (-5, Fraction(19, 2)), (1, 1), (4, -7), "slide"),
        ]
    )

    assert tuple(exact.velocity[3]) == (4, 0)


def test_a_row_of_boxes_joins_until_time_advances():
    row = [body(n, (2 * n, 0), (1, 1), (0, 0), "slide") for n in range(2, 5)]
    runner = body(1, (-2, 0), (1, 1), (8, 0), "slide")

    exact = run([runner, *row])

    assert [v[0] for v in exact.velocity.values()] == [2] * 4
    assert {e.time for e in exact.events} == {Fraction(1, 2)}
    assert len(exact.events) == 3


def test_a_group_ends_when_time_advances():
    # 1 pushes 2 along; then the post stops 1, and 2, which passes above it, goes on.
    exact = run(
        [
            body(1, (0, 0), (1, 1), (8, 0), "slide"),
            body(2, (4, 2), (1, 2), (0, 0), "slide"),
            body(3, (5, -3), (1, Fraction(5, 2))),
        ]
    )

    assert described(exact) == [
        (Fraction(1, 4), 1, 2, "resolved"),
        (Fraction(1, 2), 1, 3, "resolved"),
    ]
    assert [v[0] for v in exact.velocity.values()] == [0, 4, 0]


def row_that_lasts(*more, fourth="slide", last="slide", mass=4):
    """Run a box at 64 into a row of four: joins turn 1 and 2 at 1/32, the last is met at 7/32.

    If the last weighs 4, all stop there, and share a momentum of 64.  If it weighs 2, all go on
    at 32, and all but the first share a momentum of 32.
    """
    masses = (1, 1, Fraction(3, 4), Fraction(5, 4), mass)  # of two parts the first is heavier
    responses = ("slide", "slide", "slide", fourth, last)
    row = [
        body(n + 1, (4 * n, 0), (1, 1 + n // 4), (0 if n else 64, 0), responses[n], masses[n])
        for n in range(5)
    ]
    return run([*row, *more])


def test_a_group_merged_before_keeps_the_path_of_its_heavier_part_and_shares_its_momentum():
    stopped, gone_on = row_that_lasts(), row_that_lasts(mass=2)

    assert [v[0] for v in stopped.velocity.values()] == [8] * 5
    assert stopped.faces(5)[0][0] == 15
    assert [v[0] for v in gone_on.velocity.values()] == [32, *[Fraction(32, 5)] * 4]
    assert gone_on.faces(5)[0][0] == 15 + 25


def test_of_two_equal_groups_that_join_to_last_the_slower_keeps_its_path():
    row = [
        body(n, (x, 0), (1, 1), (v, 0), "slide") for n, x, v in ((1, 0, 16), (2, 4, 0), (3, 8, 0))
    ]

    exact = run(row)

    assert [v[0] for v in exact.velocity.values()] == [Fraction(16, 3)] * 3
    assert exact.faces(3)[0][0] == 7


def test_a_group_that_lasts_goes_on_as_one_in_later_instants():
    exact = row_that_lasts(body(6, (20, 0), (1, 1), (0, 0), "slide"), mass=2)

    assert exact.events[-1].time == Fraction(9, 32)
    assert [v[0] for v in exact.velocity.values()] == [32, *[Fraction(32, 6)] * 5]
    assert exact.faces(6)[0][0] == 19 + 23


def test_two_boxes_at_the_limit_of_their_rebounds_move_on_as_one():
    masses = Fraction(63, 2), 1, Fraction(63, 2)
    row = [
        body(n, (2 * n, 0), (1, 1), (0 if n else 1, 0), "deflect", mass)
        for n, mass in enumerate(masses)
    ]

    exact = run(row, pair_limit=4)

    first, light, last = (v[0] for v in exact.velocity.values())
    assert first == light < last
    assert Fraction(63, 2) * (first + last) + light == Fraction(63, 2)
    assert not exact.saved


def test_what_rebounds_from_a_group_that_lasts_pushes_all_of_it():
    ball = body(6, (20, 0), (1, 1), (-4, 0), "deflect")

    exact = row_that_lasts(ball)

    assert exact.velocity[6][0] == Fraction(52, 3)
    assert [exact.velocity[n][0] for n in range(1, 6)] == [Fraction(16, 3)] * 5


def test_what_rebounds_but_not_fast_enough_joins_a_group_that_lasts():
    ball = body(6, (20, 0), (1, 1), (0, 0), "deflect")

    exact = row_that_lasts(ball, mass=2)

    assert [exact.velocity[n][0] for n in range(2, 7)] == [Fraction(32, 6)] * 5


def test_who_is_led_into_a_group_that_lasts_slows_whom_it_meets_beside_it():
    runner = body(1, (0, 0), (1, 4), (20, 0), "slide")
    crates = [body(n, (10, y), (1, 1), (0, 0), "slide", 2) for n, y in ((2, 2), (3, -2))]
    pushers = [body(n, (14, y), (1, 1), (-20, 0), "slide", 2) for n, y in ((4, 2), (5, -2))]

    exact = run([runner, *crates, *pushers])

    assert [v[0] for v in exact.velocity.values()] == [-4, -4, -4, -10, -10]
    assert exact.events[3].impulse == 2 * (10 - 4)


def test_who_is_stopped_in_a_group_that_lasts_slows_all_of_it():
    press = body(6, (Fraction(169, 10), Fraction(7, 2)), (1, 1), (0, -1), mass=None)

    exact = row_that_lasts(press, last="stop")

    assert [exact.velocity[n][0] for n in range(1, 6)] == [4] * 5


def test_two_that_are_stopped_at_once_in_a_group_that_lasts_both_find_it_as_it_was():
    presses = [
        body(6, (Fraction(169, 10), Fraction(7, 2)), (1, 1), (0, -1), mass=None),
        body(7, (14, Fraction(5, 2)), (Fraction(1, 2), 1), (0, -1), mass=None),
    ]

    exact = row_that_lasts(*presses, fourth="stop", last="stop")

    shared = Fraction(64 - 4 * 8 - 10) / 8  # each gives up its mass times 8
    assert [exact.velocity[n][0] for n in range(1, 6)] == [shared] * 5


def test_a_wall_takes_its_members_out_of_a_group_that_lasts():
    exact = row_that_lasts(body(6, (20, 0), (1, 1)), mass=2)

    assert [v[0] for v in exact.velocity.values()] == [0] * 6


def test_who_is_taken_out_of_a_group_that_lasts_takes_its_share_along():
    press = body(
        6, (Fraction(269, 10), 67), (1, 1), (0, -128), mass=None
    )  # drives 5 out of the row
    wall = body(7, (28, -20), (1, Fraction(37, 2)))

    exact = row_that_lasts(press, wall, mass=2)

    assert exact.velocity[5] == [0, -128]
    assert [exact.velocity[n][0] for n in range(2, 5)] == [Fraction(32, 5)] * 3


def test_a_body_that_has_met_a_wall_does_not_make_its_group_last():
    # 1 comes to rest on the floor, then 2 lands on it: both rest, and nothing is left to share.
    exact = run(
        [
            body(1, (0, 2), (1, 1), (0, -8), "slide"),
            body(2, (0, 6), (1, 1), (0, -16), "slide"),
            body(3, (0, -1), (9, 1)),
        ]
    )

    assert [tuple(v[:2]) for v in exact.velocity.values()] == [(0, 0)] * 3


def test_two_that_stop_take_their_mean_along_the_surface():
    exact = run(
        [
            body(1, (0, 0), (1, 1), (4, 1), "stop"),
            body(2, (4, 0), (1, 1), (0, -1), "stop", 3),
        ]
    )

    assert list(map(tuple, exact.velocity.values())) == [(1, Fraction(-1, 2))] * 2


def test_stop_takes_what_its_partner_came_with():
    exact = run([body(1, (0, 0), (1, 1), (8, 3), "slide"), body(2, (4, 0), (1, 1), (0, 0), "stop")])

    assert list(map(tuple, exact.velocity.values())) == [(4, 3), (4, 3)]


def test_what_stops_at_two_walls_takes_the_mean_of_their_velocities_by_width():
    walls = [body(1, (2, Fraction(-3, 2)), (1, Fraction(5, 2)), (0, -2))]
    walls += [body(2, (2, Fraction(7, 2)), (1, Fraction(5, 2)), (0, 2))]
    exact = run([*walls, body(3, (0, 0), (1, 2), (4, 0), "stop")])

    assert list(exact.velocity[3]) == [0, -1]


def test_three_that_stop_are_one_along_the_surface():
    two = [body(1, (4, 2), (1, 1), (0, 3), "stop"), body(2, (4, -2), (1, 1), (0, -1), "stop", 2)]
    exact = run([*two, body(3, (0, 0), (1, 9), (4, 5), "stop")])

    assert [tuple(v) for v in exact.velocity.values()] == [(1, Fraction(3, 2))] * 3


def test_energy_that_a_turn_has_taken_is_not_there_for_the_next():
    # 2 turns up, to 5, and meets 3, which turns by the energy that this takes and no more.
    exact = run(
        [
            body(1, (2, 0), (1, 9)),
            body(2, (0, 0), (1, 1), (3, 4), "push"),
            body(3, (0, 2), (1, 1), (-1, 4), "push"),
        ]
    )

    assert list(exact.velocity[2]) == [0, Fraction(9, 2)]
    assert exact.velocity[3][1] == Fraction(9, 2)
    energy = sum(v**2 for velocity in exact.velocity.values() for v in velocity)
    assert abs(energy - 42) < Fraction(1, 2**90)


def test_push_keeps_its_speed_relative_to_a_lift():
    exact = run([body(1, (0, 0), (1, 1), (4, 4), "push"), body(2, (4, 0), (1, 9), (0, 1))])

    assert tuple(exact.velocity[1]) == (0, 6)


def test_stop_takes_no_more_than_the_energy_allows():
    # The normal part takes 2 of 51; at 7 upwards, body 2 alone would have 49.
    exact = run(
        [body(1, (0, 0), (1, 1), (1, 7), "slide"), body(2, (2, 0), (1, 1), (-1, 0), "stop")]
    )

    energy = sum(v**2 for velocity in exact.velocity.values() for v in velocity)
    assert list(exact.velocity[1]) == [0, 7]
    assert abs(energy - 51) < Fraction(1, 2**90)


def test_a_body_between_two_walls_that_close_is_crushed_once():
    # Turned by what falls on it later, it is left alone all the same.
    half = Fraction(1, 2)
    exact = run(
        [
            body(1, (-4, 0), (1, half), (4, 0)),
            body(2, (0, 0), (1, 1), (0, 0), "slide"),
            body(3, (4, 0), (1, half), (-4, 0)),
            body(4, (1, 3), (half, half), (0, -2), "deflect"),
        ]
    )

    assert described(exact) == [
        (half, 1, 2, "resolved"),
        (half, 2, 3, "crushed"),
        (Fraction(3, 4), 2, 4, "resolved"),
        (Fraction(3, 4), 1, 3, "crossed"),
    ]


def run_between_walls(response):
    """Run a step of a body that grows and touches a wall on either side."""
    return run(
        [
            body(1, (-3, 0), (2, 9)),
            body(2, (0, 0), (1, 1), (0, 0), response, growth=(1, 0)),
            body(3, (3, 0), (2, 9)),
        ]
    )


def test_a_body_that_grows_between_two_walls_is_crushed_at_once():
    exact = run_between_walls("slide")

    assert described(exact) == [(0, 1, 2, "resolved"), (0, 2, 3, "crushed")]


def test_a_body_that_grows_and_rebounds_is_crushed_once_it_rebounds_no_more():
    exact = run_between_walls("deflect")

    assert [e.outcome for e in exact.events].count("crushed") == 1
    assert len(exact.events) == 10
    assert exact.velocity[2][0] == 1


def test_a_body_that_a_wall_holds_does_not_rebound_from_another():
    #
    #   |1|2| 3    Body 3 is inside body 2, and presses it against 1.
    #
    exact = run(
        [
            body(1, (-2, 0), (1, 9)),
            body(2, (0, 0), (1, 1), (0, 0), "deflect"),
            body(3, (Fraction(5, 2), 0), (2, 9), (-1, 0)),
        ],
        Fraction(1, 4),
    )

    assert described(exact) == [
        (0, 2, 3, "resolved"),
        (0, 1, 2, "resolved"),
        (0, 2, 3, "crushed"),
    ]
    assert exact.velocity[2][0] == 0


def test_a_body_that_leaves_a_wall_stays_there_where_it_is_crushed():
    exact = run(
        [
            body(1, (-2, 0), (1, 1)),
            body(2, (0, 0), (1, 1), (1, 0), "slide"),
            body(3, (2, 0), (1, 1), (-2, 0)),
        ],
        Fraction(1, 4),
    )

    assert [event.impulse for event in exact.events] == [3, 2, 0]
    assert exact.velocity[2][0] == 0


def test_a_body_that_is_held_and_crushed_has_lost_what_it_had():
    exact = run(
        [
            body(1, (-4, 0), (4, 9)),
            body(2, (2, 0), (1, 1), (4, 0), "deflect"),
            body(3, (8, 0), (4, 9), (-16, 0)),
        ],
        pair_limit=3,
    )

    assert [e.outcome for e in exact.events].count("crushed") == 1
    assert exact.velocity[2][0] == 0


def test_a_row_of_boxes_that_grow_moves_apart_in_one_instant():
    #
    #   +--+--+--+--+
    #   |  |  |  |  |   each grows by 1 on either side
    #   +--+--+--+--+
    #
    exact = run([body(n, (2 * n, 0), (1, 1), (0, 0), "slide", growth=(1, 0)) for n in range(4)])

    assert [exact.velocity[n][0] for n in range(4)] == [-3, -1, 1, 3]
    assert [(e.first, e.second) for e in exact.events] == [(0, 1), (1, 2), (2, 3)]
    assert exact.n_instants == 0


def test_a_wall_moves_all_of_a_row_of_boxes_that_grow():
    exact = run(
        [
            body(0, (-2, 0), (1, 1)),
            *(
                body(n, (2 * n - 2, 0), (1, 1), (0, 0), "slide", growth=(1, 0), mass=n)
                for n in range(1, 4)
            ),
        ]
    )

    assert [exact.velocity[n][0] for n in range(4)] == [0, 1, 3, 5]
    assert len(exact.events) == 3


def test_what_hits_a_row_of_boxes_that_grow_changes_the_velocity_of_all():
    exact = run(
        [
            *(body(n, (2 * n, 0), (1, 1), (0, 0), "slide", growth=(1, 0)) for n in range(3)),
            body(3, (6, 0), (1, 1), (-8, 0), "slide"),
        ]
    )

    # The momentum is -8, and the velocities differ by 2, 2 and 1.
    velocities = [exact.velocity[n][0] for n in range(4)]
    assert [b - a for a, b in itertools.pairwise(velocities)] == [2, 2, 1]
    assert sum(velocities) == -8


def test_a_pair_that_comes_to_its_limit_is_held_and_keeps_its_velocity():
    exact = run(
        [
            body(1, (0, 0), (1, 1), (100, 0), "deflect"),
            body(2, (3, 0), (1, 5)),
            body(3, (-3, 0), (1, 5)),
        ],
        pair_limit=2,
    )

    assert [(e.first, e.second) for e in exact.events] == [(1, 2), (1, 3), (1, 2), (1, 3)]
    assert exact.velocity[1] == [100, 0]
    assert exact.faces(1) == ([0, -1], [2, 1])


def test_a_held_body_is_a_wall_to_dynamic_bodies():
    # The ball is held at the right wall; what comes from below bounces off it.
    exact = run(
        [
            body(1, (0, 0), (1, 1), (100, 0), "deflect"),
            body(2, (3, 0), (1, 3)),
            body(3, (-3, 0), (1, 3)),
            body(4, (1, -11), (1, 1), (0, 10), "deflect", restitution=Fraction(1, 2), mass=9),
        ],
        pair_limit=2,
    )

    hit = exact.events[-1]
    assert (hit.first, hit.second, hit.time) == (1, 4, Fraction(9, 10))
    assert exact.velocity[4] == [0, -5]
    assert exact.velocity[1] == [100, 0]
    assert exact.faces(1) == ([0, -1], [2, 1])


def test_a_lift_takes_a_held_body_along_and_what_that_lies_against():
    # The balls 1 and 4 are held; the lift 5 moves up from below both.
    exact = run(
        [
            body(1, (0, 0), (1, 1), (100, 0), "deflect"),
            body(2, (3, 0), (1, 9)),
            body(3, (-3, 0), (1, 9)),
            body(4, (0, 3), (1, 1), (100, 0), "deflect"),
            body(5, (0, -4), (2, 1), (0, 4)),
        ],
        pair_limit=2,
    )

    assert exact.velocity[1] == exact.velocity[4] == [100, 0]
    assert exact.faces(5)[1][1] == exact.faces(1)[0][1] == 1
    assert exact.faces(1)[1][1] == exact.faces(4)[0][1] == 3


def test_a_lift_crushes_a_held_body_against_a_ceiling():
    exact = run(
        [
            body(1, (0, 0), (1, 1), (100, 0), "deflect"),
            body(2, (3, 0), (1, 9)),
            body(3, (-3, 0), (1, 9)),
            body(4, (0, 3), (2, 1)),
            body(5, (0, -4), (2, 1), (0, 4)),
        ],
        pair_limit=2,
    )

    assert [e.outcome for e in exact.events].count("crushed") == 1
    assert exact.velocity[1] == [100, 0]


def test_both_bodies_of_a_pair_are_held():
    # Between the wall and the heavy one the light one comes and goes.
    exact = run(
        [
            body(1, (0, 0), (1, 9)),
            body(2, (3, 0), (1, 1), (0, 0), "deflect"),
            body(3, (6, 0), (1, 1), (-10, 0), "deflect", mass=1000),
        ],
        pair_limit=2,
    )

    assert exact.saved.keys() == {2, 3}
    assert {e.time <= exact.held_at[2] for e in exact.events} == {True}


def test_a_held_body_stops_growing():
    exact = run(
        [
            body(1, (0, 0), (1, 1), (100, 0), "deflect", growth=(0, 2)),
            body(2, (3, 0), (1, 9)),
            body(3, (-3, 0), (1, 9)),
        ],
        pair_limit=1,
    )

    low, high = exact.faces(1)
    assert high[1] - low[1] == 2 + 4 * exact.held_at[1]


def test_a_second_resolution_in_one_instant_ends_a_bounce():
    # A bouncing box on a bouncing box at rest on the floor, all at once.
    exact = run(
        [
            body(1, (0, -1), (5, 1)),
            body(2, (0, 1), (1, 1), (0, -8), "deflect", restitution=Fraction(1, 2)),
            body(3, (0, 3), (1, 1), (0, -8), "deflect", restitution=Fraction(1, 2)),
        ]
    )

    for pair in ((1, 2), (2, 3)):
        assert sum((e.first, e.second) == pair for e in exact.events) <= 3


def test_the_second_resolution_of_a_pair_in_an_instant_does_not_bounce():
    exact = run(
        [
            body(1, (-2, 0), (1, 9)),
            body(2, (0, 0), (1, 1), (8, 0), "deflect", restitution=Fraction(1, 2)),
            body(3, (2, 0), (1, 9)),
        ]
    )

    assert [(e.first, e.second) for e in exact.events] == [(2, 3), (1, 2), (2, 3)]
    assert exact.velocity[2] == [0, 0]


def test_who_would_stop_between_two_for_ever_stops_obeying():
    exact = run(
        [
            body(1, (-2, 0), (1, 9), (1, 5)),
            body(2, (0, 0), (1, 1), (0, 0), "stop"),
            body(3, (0, 2), (1, 1), (0, -1), "slide"),
        ]
    )

    assert len(exact.events) < 60


def test_friction_takes_the_sliding_that_the_momentum_of_the_impact_allows():
    floor = body(1, (0, -1), (9, 1), friction=Fraction(1, 2))
    crates = [
        body(2, (-4, 2), (1, 1), (3, -4), "slide", mass=3),
        body(3, (4, 2), (1, 1), (1, -4), "slide", friction=Fraction(1, 2)),
    ]
    exact = run([floor, *crates])

    assert [exact.velocity[n] for n in (2, 3)] == [[1, 0], [0, 0]]


def test_two_floors_divide_the_friction_by_their_widths():
    # One is found stopped already: 3 of 4 of the momentum of 8 on ice, 1 of 4 on sand.
    ice = body(1, (-4, -1), (4, 1), friction=Fraction(0))
    sand = body(2, (4, -1), (4, 1), friction=Fraction(1))
    crate = body(3, (-1, 1), (2, 1), (5, -8), "slide")

    exact = run([ice, sand, crate])

    assert exact.velocity[3] == [3, 0]


def test_a_pile_that_lands_rubs_on_the_floor_with_all_its_mass():
    pile = [body(n, (0, 2 * n - 1), (1, 1), (10, -8), "slide", mass=Fraction(n)) for n in (1, 2, 3)]

    exact = run([body(9, (0, -1), (50, 1), friction=Fraction(1, 8)), *pile])

    assert [exact.velocity[n] for n in (1, 2, 3)] == [[10 - 6, 0], [10, 0], [10, 0]]


def test_a_pile_with_friction_slows_down_as_one():
    rough = Fraction(1, 4)
    rows = 1, 2, 3, 4
    pile = [body(n, (0, 2 * n - 1), (1, 1), (10, -8), "slide", friction=rough) for n in rows]

    exact = run([body(9, (0, -1), (50, 1), friction=rough), *pile])

    assert [exact.velocity[n] for n in rows] == [[8, 0]] * 4  # the floor has taken a quarter of 32


def test_a_slippery_crate_on_a_pile_slides_on():
    rough, slippery = Fraction(1, 4), Fraction(1, 64)
    pile = [
        body(n, (0, 2 * n - 1), (1, 1), (10, -8), "slide", friction=friction)
        for n, friction in ((1, rough), (2, rough), (3, slippery))
    ]

    exact = run([body(9, (0, -1), (50, 1), friction=rough), *pile])

    # The floor takes a quarter of 24 from all three, and the upper crate passes on a 16th of 8.
    assert [exact.velocity[n][0] for n in (1, 2, 3)] == [7.25, 7.25, 9.5]


def test_the_parts_of_what_rubs_on_two_walls_have_a_mean_velocity():
    # One lift goes left and one right, and each holds its half of the crate.
    lifts = [
        body(1, (-2, -1), (2, 1), (-2, 0), friction=Fraction(9)),
        body(2, (2, -1), (2, 1), (6, 0), friction=Fraction(9)),
    ]
    crate = body(3, (0, 1), (1, 1), (0, -8), "slide")

    exact = run([*lifts, crate])

    assert exact.velocity[3] == [2, 0]


def test_of_two_that_rub_the_lower_dominance_gives_way():
    crate = body(1, (0, 0), (1, 1), (0, 0), "slide", locked=frozenset({1}))
    player = body(2, (0, 2), (1, 1), (4, -4), "slide", level=2, friction=Fraction(9))

    exact = run([crate, player])

    assert [exact.velocity[n] for n in (1, 2)] == [[4, 0], [4, 0]]


def test_of_two_that_rub_the_higher_dominance_gives_way_to_one_on_a_floor():
    # The one found second is stopped already, and a player on both rubs on both.
    crates = [body(n, (4 * n - 6, 0), (2, 1), (0, -4), "slide") for n in (1, 2)]
    player = body(3, (0, 2), (1, 1), (4, -4), "slide", level=2, friction=Fraction(1, 2))

    exact = run([body(9, (0, -2), (9, 1)), *crates, player])

    assert [exact.velocity[n] for n in (1, 2, 3)] == [[0, 0], [0, 0], [2, 0]]


def test_a_one_way_platform_is_passed_from_below_and_met_from_above():
    platform = body(1, (0, 0), (9, 1), solid_side=(1, 1))
    bodies = [
        body(2, (-6, -3), (1, 1), (0, 8), "slide"),
        body(3, (-2, 3), (1, 1), (0, -8), "slide"),
        body(4, (2, 1), (1, 1), (0, -1), "slide"),
        body(5, (6, 3), (1, 1), (4, -4), "slide"),
    ]
    exact = run([platform, *bodies])

    assert [(e.first, e.second, e.axis) for e in exact.events] == [(1, 3, 1), (1, 5, 1)]


def test_filters_let_two_meet_if_both_want_or_their_group_does():
    bodies = [
        body(1, (0, 0), (1, 1), (4, 0), "slide", kinds=2),
        body(2, (4, 0), (1, 1), meets=1),
        body(3, (6, 0), (1, 1), meets=1, kinds=1),
        body(4, (0, 9), (1, 1), (4, 0), "slide", meets=0, group=5),
        body(5, (4, 9), (1, 1), meets=0, group=5),
    ]
    exact = run(bodies)

    assert [(e.first, e.second) for e in exact.events] == [(4, 5)]


def test_the_square_root_is_exact_where_there_is_one():
    assert simulator.root(Fraction(25, 9)) == Fraction(5, 3)
    assert abs(simulator.root(Fraction(2)) ** 2 - 2) < Fraction(1, 2**120)
    small = Fraction(3, 10**50)
    assert abs(simulator.root(small) ** 2 / small - 1) < Fraction(1, 2**100)


# The oracle -----------------------------------------------------------------------------


def test_every_step_of_a_crowd_agrees_with_the_oracle():
    answers = set()
    n_corners = 0
    for seed in range(N_CROWDS):
        exact = run(crowd(seed))
        checking.check(exact)
        answers |= {event.outcome for event in exact.events}
        n_corners += sum(event.corner for event in exact.events)

    assert answers == {"resolved", "stopped already", "crossed", "crushed"}
    assert n_corners > 0


def test_the_oracle_of_many_crowds(volume):
    for seed in range(N_CROWDS, N_CROWDS + volume(1, 3, 500)):
        checking.check(run(crowd(seed)))


def test_the_oracle_of_crowds_that_press(volume):
    n_lasting, n_crowds = 0, volume(3, 6, 60, least=3)
    for seed in range(n_crowds):
        exact = run(pressing_crowd(seed))
        checking.check(exact)
        n_lasting += any(lasting for *_, lasting in exact.finals)

    assert n_lasting > n_crowds / 4


def test_the_oracle_of_crowds_that_grow(volume):
    for seed in range(volume(8, 16, 120)):
        checking.check(run(growing_crowd(seed)))


def test_ruling_pairs_out_by_floats_changes_nothing():
    for seed in range(8):
        quick = run(crowd(seed))
        slow = run(crowd(seed), try_all_pairs=True)

        assert quick.events == slow.events
        assert quick.velocity == slow.velocity


def test_the_order_in_which_bodies_are_given_changes_nothing():
    for seed in range(10):
        assert run(crowd(seed)).events == run(crowd(seed)[::-1]).events


# Faults --------------------------------------------------------------------------------

FAULTS = {
    "the exchange forgets the masses": (
        "share = other.mass / (one.mass + other.mass)",
        "share = Fraction(1, 2)",
    ),
    "the shares are the wrong way round": (
        "share = other.mass / (one.mass + other.mass)",
        "share = one.mass / (one.mass + other.mass)",
    ),
    "restitution is ignored": ("wanted = (1 + restitution)", "wanted = 2"),
    "the smaller restitution counts": (
        'for n in pair], "max")',
        'for n in pair], "min")',
    ),
    "corners come first": (
        "return CORNER if self.queue[pair].corner else FACE",
        "return FACE if self.queue[pair].corner else CORNER",
    ),
    "corners are like all others": (
        "return CORNER if self.queue[pair].corner else FACE",
        "return FACE",
    ),
    "the higher ids come first": (
        "self.rank(pair), *self.place_of(pair, impact.axis, impact.sign)",
        "self.rank(pair), [-i for i in pair]",
    ),
    "what crosses does not wait for what is solid": (
        "        if self.crosses(pair):\n            return CROSSING\n        return CORNER if",
        "        return CORNER if",
    ),
    "what is touched at its edge is hit": (
        "any(side.rate == 0 and side.gap >= 0 for",
        "any(side.rate == 0 and side.gap > 0 for",
    ),
    "a box that touches and closes is let through": (
        "if enter < 0:\n            return None\n        front",
        "if enter <= 0:\n            return None\n        front",
    ),
    "an impact at the step's end is resolved in it": (
        "return impact.time < 1",
        "return impact.time <= 1",
    ),
    "the first side to close is the contact": (
        "enter = max(side.zero for side in closing)",
        "enter = min(side.zero for side in closing)",
    ),
    "the slowest closing side is the contact": (
        "contact = min(contacts, key=lambda s: s.rate)",
        "contact = max(contacts, key=lambda s: s.rate)",
    ),
    "a pass through a corner is an impact": (
        "if side.rate <= 0 or side.zero > enter:",
        "if side.rate <= 0 or side.zero >= enter:",
    ),
    "faces do not grow": (
        "rate = ((v2 - w2) - (v1 + w1)) * self.dt",
        "rate = (v2 - v1) * self.dt",
    ),
    "what was due already is resolved again": (
        "if impact.is_stale:\n            again",
        "if False:\n            again",
    ),
    "what was stopped is not told": (
        "if not impact.corner:\n                    self.report",
        "if False:\n                    self.report",
    ),
    "the first of two walls has all of the impulse": (
        "self._add_impulse(at, impulse * width /",
        "self._add_impulse(n, impulse * width /",
    ),
    "walls share an impulse equally": (
        "impulse * width / sum(widths.values())",
        "impulse / len(widths)",
    ),
    "a body passes on to those below what it changes by alone": (
        "                left[low] += impulse\n",
        "                pass\n",
    ),
    "a corner that is none any more is told": (
        "if not impact.corner:\n                    self.report",
        "if True:\n                    self.report",
    ),
    "clusters never end": (
        "if not cluster.lasts:",
        "if False:",
    ),
    "pairs join, not clusters": (
        "Cluster(set().union(*(cluster.members for cluster in joining)))",
        "Cluster({n for n in (i, j) if self.bodies[n].is_dynamic})",
    ),
    "a cluster forgets what holds it": (
        "if cluster.anchor is not None:\n                anchors",
        "if False:\n                anchors",
    ),
    "a cluster takes the plain mean": (
        "velocity = momentum / sum(masses.values())",
        "velocity = sum(self.velocity[n][k] for n in masses) / len(masses)",
    ),
    "clusters that last end": (
        "if not cluster.lasts:",
        "if True:",
    ),
    "every cluster lasts": (
        "if joined.merged_before or any(cluster.lasts for cluster in joining):",
        "if True:",
    ),
    "the lighter cluster keeps its path": (
        "return v1 if self.mass_of(one) > self.mass_of(other)",
        "return v1 if self.mass_of(one) < self.mass_of(other)",
    ),
    "the faster of two equal clusters keeps its path": (
        "return min(v1, v2, key=abs)",
        "return max(v1, v2, key=abs)",
    ),
    "who leaves a cluster that lasts takes nothing along": (
        "cluster.momentum = (velocity + change) * self.mass_of(cluster)",
        "pass",
    ),
    "a cluster that lasts gives its members no velocity": (
        "if velocity != self.velocity[i]:",
        "if False:",
    ),
    "what rebounds leaves no momentum behind": (
        "cluster.momentum -= mass * (after - v)",
        "pass",
    ),
    "what goes along a surface drags nobody along": (
        "cluster.momentum += self.bodies[i].mass * (velocity - before)",
        "pass",
    ),
    "who turns in a group that lasts finds it as the one before has left it": (
        "self.bodies[i].mass * (velocity - before)",
        "self.bodies[i].mass * (velocity - self.final(i, k))",
    ),
    "only the first of a pair is looked at again": (
        "if changed.isdisjoint(pair):",
        "if pair[0] not in changed:",
    ),
    "a corner does not wait for what the faces make due": (
        "if (is_due and self.rank(pair) == FACE) or not",
        "if is_due or not",
    ),
    "what a resolution makes due does not wait for its round": (
        "self.changed.add(i)\n        self.turned_now.add((i, k))",
        "self.changed.add(i)\n        self.turned_now.add((i, k))\n        self.look_again()",
    ),
    "a turn forgets the way that was made": (
        "self.since[i] = self.now\n        self.velocity",
        "self.velocity",
    ),
    "stop takes the partner's velocity after the resolution": (
        "partner = self.velocity_after(other, k)",
        "partner = self.velocity_after(other, 0)",
    ),
    "push keeps its own speed only": (
        "relative[axis] ** 2 for axis in range(self.dim) if axis != c.axis",
        "r**2 for r in relative",
    ),
    "push forgets that its partner moves": (
        "return partner + relative[k] *",
        "return relative[k] *",
    ),
    "two that stop take each other's": (
        'if c.axis != k and list(c.rules.values()) == ["stop", "stop"]:',
        "if False:",
    ),
    "what stops at two floors takes the velocity of one": (
        "sum(width * v for width, v in asked[n]) / widths",
        "asked[n][0][1]",
    ),
    "bodies turn along an axis on which they have met something": (
        "(n, k) not in self.pressed and k not in",
        "k not in",
    ),
    "the energy of a pair is not that of its group": (
        "self.met.append(set(self.yielding))\n\n",
        "pass\n\n",
    ),
    "a turn is paid twice": (
        "            del self.unturned[n, k]\n",
        "            pass\n",
    ),
    "what yields to nobody is turned": (
        "share = Fraction(1 if i in self.yielding else 0)",
        "share = Fraction(1, 2)",
    ),
    "the pair limit is one too many": (
        "if n_resolutions < self.pair_limit:",
        "if n_resolutions <= self.pair_limit:",
    ),
    "who is held loses its velocity": (
        "self.velocity[i] = velocity\n            self.kicks",
        "pass\n            self.kicks",
    ),
    "who is held goes on": ("self.change(i, k, Fraction(0))", "pass"),
    "who is held grows on": (
        "self.growth[i] = [Fraction(0)] *",
        "self.growth[i] = self.growth[i] * 1 or",
    ),
    "who rebounds too often is held": ("n_repeats > 0\n", "False\n"),
    "who rebounds too often goes on rebounding": ("self.calm |=", "self.calm &="),
    "who is held is turned by all": ("self.joining = yielding - held", "pass"),
    "who is held stops a lift": (
        "if lasting or not anchors:",
        "if not anchors:",
    ),
    "only one of a pair is held": ("for n in wanted:", "for n in wanted[:1]:"),
    "one resolution in an instant is too many": (
        "if n_repeats >= limit:",
        "if n_repeats >= limit - 1:",
    ),
    "friction presses with the weight of one": (
        "change *= self.bodies[n].mass * self.kicks.decay(n)",
        "change *= self.kicks.decay(n)",
    ),
    "each contact rubs with all that presses": (
        "* shares.get(n, 0)",
        "* (n in shares)",
    ),
    "what rubs together rubs once": ("for n_rounds in range(RUB_LIMIT):", "for n_rounds in [0]:"),
    "friction turns the sliding round": ("gone = min(most", "gone = max(most"),
    "what rubs on several has the velocity of the last": (
        "sum((part * change for part, change, _ in self.parts), Fraction(0))",
        "self.parts[-1][1] if self.parts else Fraction(0)",
    ),
    "each body of a pile slides alone": ("c.sticks = c.may_stick and self._ends_easily(c)", "pass"),
    "what sticks bears anything": ("if c.strain and (is_worst", "if False and (is_worst"),
    "what leads into a group that lasts is all that joins it": (
        "if groups[0] is groups[1] or impact.overlaps or closing <= 0:",
        "if True:",
    ),
    "contacts that another has stopped do not rub": (
        "                    self.rub_beside(pair, impact)\n",
        "",
    ),
    "both bodies of other dominance rub": (
        "if self.bodies[lower].level == self.bodies[higher].level:\n                continue",
        "if True:\n                continue",
    ),
    "the lower one rubs even if a wall bears it": (
        "if (low in below) != (high in above):",
        "if False:",
    ),
    "one-way bodies are solid on all sides": (
        "if impact is None or not solid:",
        "if True:",
    ),
    "one of two masks is enough": (
        "one.meets & other.kinds and other.meets",
        "one.meets & other.kinds or other.meets",
    ),
    "a group says nothing": ("if one.group and one.group == other.group:", "if False:"),
    "what bounces together bounces in pairs": ("if together:", "if False:"),
    "of those that bounce together the least restitution counts": (
        "e = max(self._restitution_of",
        "e = min(self._restitution_of",
    ),
    "what a wall holds rebounds from another": (
        "and not self._is_squeezed(k):",
        "and not False:",
    ),
    "who is crushed leaps out": ("if outcome == CRUSHED:", "if False:"),
    "who is crushed goes on as before": (
        "n in members if lost.anchor is not None",
        "n in members if False",
    ),
    "what grows rebounds for ever": ("if restitution < 1 or resizes:", "if restitution < 1:"),
    "nothing is crushed twice": (
        "self.crushed.add(pair)\n            return CRUSHED\n        if not normal_only and",
        "return CRUSHED\n        if not normal_only and",
    ),
}


def run_all(tests):
    for test in tests:
        test()


def known_scenes():
    """Return the tests above that need no arguments: each has a resolution worked out by hand."""
    tests = [test for name, test in globals().items() if name.startswith("test_")]
    return [test for test in tests if not test.__code__.co_argcount and test.__doc__ is None]


def test_the_page_about_tests_says_how_many_faults_there_are():
    page = Path(__file__).parents[1].joinpath("how_exactness_is_tested.md").read_text("utf-8")
    assert f"Then {len(FAULTS)} faults are put" in page


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(fault, monkeypatch):
    whole, broken = FAULTS[fault]
    assert sum(source.count(whole) for source in SOURCES.values()) == 1
    for name, source in SOURCES.items():
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)  # where others, and dataclasses, look for it
        exec(compile(source.replace(whole, broken), name, "exec"), module.__dict__)
    monkeypatch.setattr(sys.modules[__name__], "tested", module)

    with pytest.raises((AssertionError, KeyError, EndlessError)):
        run_all(known_scenes())


def test_a_body_that_turns_back_at_the_very_edge_of_a_sensor_enters_once():
    exact = run(
        [
            body(1, (0, 0), (1, 1), (16, 0), "deflect"),
            body(2, (5, 0), (1, 1), sensor=True),
            body(3, (9, 0), (1, 9)),
        ]
    )

    assert described(exact) == [
        (Fraction(3, 16), 1, 2, "crossed"),
        (Fraction(7, 16), 1, 3, "resolved"),
    ]


def test_what_a_floor_holds_back_does_not_enter_a_sensor_flush_with_it():
    #
    #      | falls
    #    +-v-+
    #    | 3 |
    #  +-+---+-+     1: a sensor, 2: the floor, both with this upper face
    #
    half = Fraction(1, 2)
    exact = run(
        [
            body(1, (0, -1), (4, 1), sensor=True),
            body(2, (0, -1), (4, 1)),
            body(3, (0, half), (half, half), (0, -3), "slide"),
        ]
    )

    assert described(exact) == [(0, 2, 3, "resolved")]
