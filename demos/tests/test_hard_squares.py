"""Hard lines, squares and cubes: exact coefficients, exact runs, and pressures within errors."""

from __future__ import annotations

from fractions import Fraction
from math import pi, sqrt
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos.hard_squares import measure, published
from demos.hard_squares.fluid import Fluid, seconds_for
from demos.hard_squares.virial import coefficients, free_volume, series
from tests.system.test_compiled_and_pure import in_both_implementations
from tests.volume import Volume

PAGE = Path(__file__).parents[2] / "demos" / "hard_squares" / "hard_squares.md"
SLOW = "the same bits in pure Python, and slow there"
only_compiled = pytest.mark.skipif(not ec.COMPILED, reason=SLOW)


@pytest.fixture
def fresh(world):
    """Return a function that empties the world."""

    def empty():
        esper.switch_world("default")
        esper.delete_world(world)
        esper.switch_world(world)

    return empty


def hits_of(fluid, n_steps):
    """Run steps; return which boxes met and when, in order."""
    pairs, times = [], []
    for number in range(n_steps):
        fluid.step()
        hits = fluid.space.collision_array
        pairs.append(np.stack([hits["first"], hits["second"]], axis=1) - fluid.ids[0])
        times.append((number + hits["time"]) * fluid.dt)
    return np.concatenate(pairs), np.concatenate(times)


def apart(fluid, positions, others):
    """Return the largest distance on an axis, over the edges of the world."""
    far = np.abs(positions - others)
    return np.minimum(far, fluid.width - far).max()


# virial coefficients


def test_seven_coefficients_of_lines_are_those_of_tonks():
    assert coefficients(1) == (1,) * 7


def test_second_and_third_coefficients_of_cubes_of_any_dimension_are_powers():
    for dim in (1, 2, 3, 4):
        assert coefficients(dim, 3) == (1, 2 ** (dim - 1), 3 ** (dim - 1))


@pytest.mark.parametrize("dim", [2, 3])
def test_coefficients_are_the_published_ones(dim):
    found = coefficients(dim)

    assert [round(float(term), 5) for term in found] == list(published.SERIES[dim])
    assert found[3] == Fraction(11, 3) if dim == 2 else Fraction(34, 3)


def test_series_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="n_max=8 must be from 1 to 7"):
        coefficients(2, 8)


# lines: every number is exact


def test_lines_of_one_speed_have_the_pressure_of_tonks_to_the_last_bit(world, volume: Volume):
    fluid = Fluid(1, 32, 0.5, speeds="single", dt=0.5)
    rounds = 5 * volume(4, 40, least=1)

    found = fluid.measure(16 * rounds, n_blocks=5)

    # The gaps add up to 32, so two lines of opposite velocities meet once in 16 seconds.
    assert found.n_collisions == 16 * 16 * rounds
    assert found.z == 2.0 == free_volume(0.5, 1)
    assert found.z != series(0.5, coefficients(1))  # which ends after seven terms


def test_lines_of_all_speeds_have_the_pressure_of_tonks(world, volume: Volume):
    fluid = Fluid(1, 32, 0.75, dt=0.25)

    found = fluid.measure(volume(200, 2000, least=100))

    # Each pair of lines meets at equal intervals: its count is off by one meeting at most.
    speeds = fluid.start[:, 0]
    off = np.abs(speeds[:, None] - speeds).sum() / 2 / (32 * fluid.space.time)
    assert abs(found.z - 4.0) < off
    assert off < 0.2


# exactness


@pytest.mark.parametrize(("dim", "packing"), [(1, 0.9), (2, 0.3), (2, 0.9), (3, 0.2), (3, 0.7)])
def test_momentum_and_energy_keep_every_bit_and_no_box_enters_another(
    world, volume: Volume, dim, packing
):
    fluid = Fluid(dim, {1: 50, 2: 10, 3: 5}[dim], packing, dt=0.125)

    for _ in range(volume(10, 100, least=2)):
        fluid.run(0.5)

        assert fluid.is_conserved()
        assert fluid.deepest_overlap() <= 2.0**-44 * fluid.width
    assert fluid.n_collisions > 20
    assert fluid.worst_contact <= 2.0**-44 * fluid.width
    assert fluid.space.reports == []
    fluid.space.check()


@only_compiled
@pytest.mark.parametrize(("dim", "per_side"), [(2, 12), (3, 5)])
def test_steps_of_any_length_give_the_same_collisions_in_the_same_order(
    world, fresh, volume: Volume, dim, per_side
):
    seconds = volume(21, 84, 210)
    runs = []
    for dt in (1 / 60, 1 / 7, 1.0):
        fresh()
        fluid = Fluid(dim, per_side, 0.45, dt=dt)
        runs.append((*hits_of(fluid, round(seconds / dt)), fluid.positions(), fluid.virial))

    (pairs, times, positions, virial), *others = runs
    for other_pairs, other_times, other_positions, other_virial in others:
        assert (pairs == other_pairs).all()
        assert np.abs(times - other_times).max() < 1e-8
        assert apart(fluid, positions, other_positions) < 1e-9
        assert other_virial == pytest.approx(virial, rel=1e-12)
    assert len(pairs) > 500


def test_reversed_velocities_lead_back_to_the_start(world, volume: Volume):
    fluid = Fluid(2, 12, 0.6, dt=0.125)
    start = fluid.positions()
    fluid.run(volume(30, 300))
    there = fluid.n_collisions
    assert apart(fluid, start, fluid.positions()) > 0.5

    fluid.turn_back()
    fluid.run(volume(30, 300))

    assert fluid.n_collisions == 2 * there
    assert apart(fluid, start, fluid.positions()) < 1e-9


@pytest.mark.parametrize(("dim", "per_side"), [(2, 8), (3, 4)])
def test_run_repeats_bit_for_bit_compiled_or_not(dim, per_side, monkeypatch):
    def run():
        fluid = Fluid(dim, per_side, 0.4, seed=5)
        hashes = []
        for _ in range(20):
            fluid.step()
            hashes.append(fluid.space.state_hash())
        assert fluid.n_collisions > 50
        return hashes

    compiled, plain = in_both_implementations(monkeypatch, run)

    assert compiled == plain == in_both_implementations(monkeypatch, run)[0]


@only_compiled
def test_step_that_has_no_room_for_its_pairs_is_refused(world):
    fluid = Fluid(3, 5, 0.45, dt=3.0)  # a path is half as long as the world

    with pytest.raises(RuntimeError, match=r"dt=3.0 is too long"):
        fluid.step()


# pressure


def disks(packing):
    """Return the factor of hard disks (Henderson 1975), which squares do not have."""
    return (1 + packing**2 / 8) / (1 - packing) ** 2


def spheres(packing):
    """Return the factor of hard spheres (Carnahan and Starling 1969)."""
    return (1 + packing + packing**2 - packing**3) / (1 - packing) ** 3


@only_compiled
@pytest.mark.parametrize(
    ("dim", "per_side", "wrong"), [(2, 20, disks), (3, 8, spheres)], ids=["squares", "cubes"]
)
def test_pressure_is_that_of_the_virial_series_and_not_of_disks_or_spheres(
    world, volume: Volume, dim, per_side, wrong
):
    packing = 0.2
    right = series(packing, coefficients(dim))
    fluid = Fluid(dim, per_side, packing, seed=1, dt=0.5)
    seconds = seconds_for(volume(120_000, 500_000, 1_200_000) / fluid.n, right, dim)
    fluid.run(seconds / 4)

    found = fluid.measure(seconds)

    assert abs(found.z - right) < 3 * found.error
    assert abs(found.z - wrong(packing)) > 3 * found.error
    assert abs(found.z - series(packing, coefficients(dim, 3))) > 3 * found.error
    assert found.n_collisions / fluid.n == pytest.approx(
        (found.z - 1) * dim * seconds / sqrt(pi), rel=0.02
    )


@only_compiled
def test_one_speed_gives_the_pressure_of_all_speeds(world, volume: Volume):
    fluid = Fluid(2, 10, 0.5, speeds="single", dt=0.25)
    fluid.run(50)

    found = fluid.measure(volume(300, 1500, 3000))

    assert abs(found.z - 3.555) < 3 * found.error + 0.01  # 0.01: there are only 100 boxes
    assert found.error < 0.03


@only_compiled
@pytest.mark.long
def test_states_of_the_page_repeat(volume):
    rows = {row[:3]: row for row in measure.read()}

    for state in measure.states()[10 : 10 + volume(1, 1, 4)]:
        found = measure.run(state)

        row = rows[state[:3]]
        assert f"{found.z:.5f}" == f"{row.z:.5f}", state
        assert found.n_collisions == row.n_collisions, state


# order


@only_compiled
@pytest.mark.parametrize("dim", [2, 3])
def test_order_is_lost_in_a_fluid_and_kept_across_the_rows_of_a_solid(world, fresh, dim):
    solid = Fluid(dim, 4, 0.9)
    assert solid.order().min() > 0.9
    solid.run(10)
    assert solid.order().max() > 0.9

    fresh()
    fluid = Fluid(dim, 6, 0.2)
    fluid.run(20)
    assert fluid.order().max() < 4 / sqrt(fluid.n)


# the page


@pytest.mark.parametrize("dim", [2, 3])
def test_page_holds_the_tables_of_the_measured_file(dim):
    assert measure.table(dim, measure.read()) in PAGE.read_text("utf-8")


def test_measured_pressures_of_thin_fluids_are_those_of_the_series():
    thin = [row for row in measure.read() if row.packing <= 0.3]

    assert len(thin) == 6
    for row in thin:
        assert abs(row.z - series(row.packing, coefficients(row.dim))) < 3 * row.error


def test_measured_pressures_are_near_the_published_ones():
    for row in measure.read():
        known = published.FACTORS[row.dim, row.per_side].get(row.packing)
        if known is not None:
            assert row.z == pytest.approx(known, rel=0.02), row


def test_every_state_of_the_page_is_in_the_measured_file():
    assert [row[:3] for row in measure.read()] == [state[:3] for state in measure.states()]


# refused


@pytest.mark.parametrize("packing", [0.0, 1.0, -0.5])
def test_packing_that_cannot_be_is_refused(world, packing):
    with pytest.raises(ValueError, match=f"packing={packing} must be above 0 and below 1"):
        Fluid(2, 4, packing)


def test_speeds_that_cannot_be_are_refused(world):
    with pytest.raises(ValueError, match="speeds='slow' must be 'maxwell' or 'single'"):
        Fluid(2, 4, 0.5, speeds="slow")
    with pytest.raises(ValueError, match="even number of boxes, not 9"):
        Fluid(2, 3, 0.5, speeds="single")
