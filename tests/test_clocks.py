"""Steps of one length out of frames of any."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world


def run(clock, seconds) -> int:
    return len(list(clock.steps(seconds)))


def test_short_frames_add_up():
    clock = ec.FixedStep(0.25)

    assert [run(clock, 0.125) for _ in range(6)] == [0, 1, 0, 1, 0, 1]


def test_a_long_frame_makes_several_steps():
    clock = ec.FixedStep(0.25, max_steps=5)

    assert list(clock.steps(1.125)) == [0.25] * 4
    assert clock.fraction == 0.5
    assert clock.dropped == 0.0


def test_a_hitch_is_cut_and_said():
    clock = ec.FixedStep(0.25, max_steps=4)

    assert run(clock, 10.125) == 4
    assert clock.dropped == 9.0
    assert clock.fraction == 0.5
    assert run(clock, 0.125) == 1


@pytest.mark.parametrize("max_steps", [1, 2, 5, 7])
def test_a_frame_never_has_more_steps_than_the_largest_number(max_steps):
    rng = random.Random(max_steps)
    for dt in [1 / 60, 0.1, 0.01, 1 / 144, 1e-9, *(rng.uniform(1e-4, 0.5) for _ in range(300))]:
        for seconds in (1.0, 10.0, 0.3, (max_steps + 1) * dt, (max_steps + 1.5) * dt, 1e300):
            clock = ec.FixedStep(dt, max_steps)

            assert run(clock, seconds) <= max_steps
            assert run(clock, 0.0) == 0
            assert 0.0 <= clock.fraction < 1.0


def test_time_is_stepped_dropped_or_left_over():
    rng = random.Random(9)
    for _ in range(200):
        clock = ec.FixedStep(rng.uniform(1e-3, 0.1), rng.randrange(1, 9))
        frames = [rng.choice([0.0, 0.016, rng.uniform(0.0, 2.0)]) for _ in range(50)]

        n_steps = sum(run(clock, seconds) for seconds in frames)

        accounted = (n_steps + clock.fraction) * clock.dt + clock.dropped
        assert accounted == pytest.approx(sum(frames), rel=1e-9)


def test_steps_left_from_an_earlier_frame_count_towards_the_largest_number():
    clock = ec.FixedStep(0.25, max_steps=3)
    for _ in clock.steps(0.75):
        break

    assert run(clock, 0.75) == 3
    assert clock.dropped == 0.5


def test_rounding_loses_no_step():
    clock = ec.FixedStep(1 / 60)
    assert sum(run(clock, 1 / 600) for _ in range(600)) == 60
    clock = ec.FixedStep(1 / 60)
    assert [run(clock, 1 / 60) for _ in range(1000)] == [1] * 1000


@pytest.mark.parametrize("seed", range(5))
def test_as_many_steps_as_fit_into_the_time(seed):
    rng = random.Random(seed)
    clock = ec.FixedStep(1 / 128, max_steps=100)
    total, n_steps = Fraction(0), 0
    for _ in range(2000):
        seconds = rng.randrange(0, 4096) / 65536
        total += Fraction(seconds)
        n_steps += run(clock, seconds)
        assert n_steps == total // Fraction(1, 128)
        assert clock.fraction == float(total % Fraction(1, 128) * 128)


def test_fraction_is_never_a_whole_step():
    clock = ec.FixedStep(0.1)
    run(clock, 0.1 * (1 - 2.0**-39))

    assert 0.999 < clock.fraction < 1.0


def test_a_loop_that_is_left_goes_on_later():
    clock = ec.FixedStep(0.25)
    for _ in clock.steps(0.75):
        break

    assert run(clock, 0.0) == 2


@pytest.mark.parametrize("dt", [0, -1.0, float("nan"), float("inf"), "fast", None])
def test_a_step_must_take_time(dt):
    with pytest.raises(ValueError, match="must be a number of seconds, more than 0"):
        ec.FixedStep(dt)


def test_steps_in_milliseconds_or_per_second_are_warned_of():
    with pytest.warns(RuntimeWarning, match=r"makes steps of 60 seconds: .* FixedStep\(1 / 60\)"):
        ec.FixedStep(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ec.FixedStep(1.0)


@pytest.mark.parametrize("max_steps", [0, -1, 2.5, True])
def test_a_frame_must_have_room_for_a_step(max_steps):
    with pytest.raises(ValueError, match="must be a whole number, 1 or more"):
        ec.FixedStep(max_steps=max_steps)


@pytest.mark.parametrize("seconds", [-0.1, float("nan"), float("inf"), "soon"])
def test_a_frame_of_no_length_changes_nothing(seconds):
    clock = ec.FixedStep(0.25)
    run(clock, 0.125)

    with pytest.raises(ValueError, match="must be a finite number, 0 or more"):
        clock.steps(seconds)
    assert clock.fraction == 0.5


def test_the_same_whatever_the_frames(world):
    """Where a ball is after a second does not depend on how the second was cut."""
    ends = []
    for frames in ([1 / 30] * 30, [1 / 144] * 144, [0.05] * 20):
        with another_world(f"{world} {len(frames)}"):
            esper.create_entity(ec.Position(0, -10), ec.Extents(50, 1))
            ball = ec.Position(0, 7)
            esper.create_entity(ball, ec.Extents(1, 1), ec.Velocity(3, -30), ec.Deflect(0.7))
            ec.install()
            clock = ec.FixedStep(1 / 60)
            for seconds in frames:
                for dt in clock.steps(seconds):
                    esper.process(dt)
            ends.append(ball.xy)

    assert ends[0] == ends[1] == ends[2]
