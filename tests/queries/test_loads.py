"""How much rests on a body."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend

pytestmark = pytest.mark.usefixtures("world", "implementation")


def box(x: float, y: float, width: float, height: float, *components: object) -> int:
    """Create a box by its left lower corner; with components, a body that falls."""
    moving = (ec.Velocity(0, 0), ec.Slide(), *components) if components else ()
    return esper.create_entity(
        ec.Position(x + width / 2, y + height / 2), ec.Extents(width / 2, height / 2), *moving
    )


def crate(x: float, y: float, width: float, height: float, mass: float = 1.0) -> int:
    return box(x, y, width, height, ec.Mass(mass))


def play(steps: int = 2) -> None:
    for _ in range(steps):
        esper.process(1 / 64)


def test_a_plate_under_a_stack_of_ten_feels_ten():
    space = ec.install(gravity=(0, -512))
    plate = box(0, 0, 10, 1)
    stack = [crate(0, 1 + 10 * n, 10, 10) for n in range(10)]
    play(40)  # asleep, too

    assert space.load_on(plate) == 10
    assert [space.load_on(each) for each in stack] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_a_collision_at_rest_has_the_momentum_of_one_box_and_the_load_that_of_all():
    space = ec.install(gravity=(0, -512), sleep=False)
    plate = box(0, 0, 10, 1)
    stack = [crate(0, 1 + 10 * n, 10, 10, mass=n + 1) for n in range(4)]
    play()

    impulses = {hit.second: hit.impulse for hit in space.collisions}
    assert [impulses[each] for each in stack] == [8 * mass for mass in (1, 2, 3, 4)]  # 512 / 64
    assert space.load_on(plate) * 512 / 64 == sum(impulses.values())


def test_a_table_shares_its_load_among_its_legs_and_they_pass_it_on():
    #
    #        +--+ 4
    #    +----------+ 3
    #    ++--------++
    #    ||1      1||
    #    ++        ++
    #
    space = ec.install(gravity=(0, -512))
    left, right = box(0, 0, 2, 1), box(18, 0, 2, 1)
    legs = [crate(0, 1, 2, 5), crate(18, 1, 2, 5)]
    table = crate(0, 6, 20, 2, mass=3)
    crate(8, 8, 4, 4, mass=4)
    play()

    assert space.load_on(table) == 4
    assert [space.load_on(leg) for leg in legs] == [3.5, 3.5]
    assert [space.load_on(plate) for plate in (left, right)] == [4.5, 4.5]


@pytest.mark.parametrize("x", [0, 54, 61])  # at and beside the edge of a world that wraps
def test_a_crate_on_two_plates_divides_its_mass_by_the_widths_that_it_covers(x: float):
    space = ec.install(gravity=(0, -512), wrap=(64, None))
    left, right = box(x, 0, 10, 1), box(x + 10, 0, 10, 1)
    crate(x + 7, 1, 4, 4, mass=8)
    play()

    assert (space.load_on(left), space.load_on(right)) == (6, 2)


def test_no_contact_pulls_when_one_support_is_pressed_down_from_above():
    #   `plank` rests on a low and on a high load path: whatever the masses, nothing hangs.
    masses = {1: 1.0, 2: 1.0, 3: 100.0}
    rests = [(1, 0, 1.0), (2, 1, 1.0), (2, 0, 5.0), (3, 1, 1.0)]

    loads = backend.kernels.loads.find_loads(masses, rests)

    assert min(loads) == 0
    assert loads == pytest.approx([101, 0, 1, 100])


def test_random_piles_are_in_balance_and_press_nowhere_upwards():
    for seed in range(40):
        rng = random.Random(seed)
        masses = {n: rng.choice([0.1, 1.0, 50.0]) for n in range(1, 30)}
        rests = [
            (n, lower, rng.uniform(0.1, 9))
            for n in masses
            for lower in rng.sample(range(n), min(n, rng.randint(1, 3)))
        ]

        loads = backend.kernels.loads.find_loads(masses, rests)

        assert min(loads) >= 0
        for n, mass in masses.items():
            below = sum(load for rest, load in zip(rests, loads, strict=True) if rest[0] == n)
            above = sum(load for rest, load in zip(rests, loads, strict=True) if rest[1] == n)
            assert below == pytest.approx(mass + above)


@pytest.mark.parametrize(
    ("make", "load"),
    [
        (lambda: crate(0, 1, 4, 4), 1),
        (lambda: crate(0, 40, 4, 4), 0),
        (lambda: box(0, 1, 4, 4, ec.GravityScale(0.5)), 0.5),
        (lambda: box(0, 1, 4, 4, ec.LockedAxes(y=True)), 0),
        (lambda: box(0, 1, 4, 4), 0),
    ],
    ids=["a crate", "in the air", "half as heavy", "held by its lock", "static"],
)
def test_what_presses_on_a_plate(make: Callable[[], int], load: float):
    space = ec.install(gravity=(0, -512))
    plate = box(0, 0, 10, 1)
    make()
    play()

    assert space.load_on(plate) == load


def test_two_crates_that_fall_together_press_on_nothing():
    space = ec.install(gravity=(0, -512))
    low = crate(0, 100, 4, 4)
    crate(0, 104, 4, 4)
    play()

    assert space.load_on(low) == 0


def test_a_plate_feels_a_load_without_gravity_and_where_y_points_down():
    space = ec.install(up=(0, -1))
    plate = box(0, 10, 10, 1)
    walker = esper.create_entity(
        ec.Position(5, 7), ec.Extents(2, 2), velocity := ec.Velocity(0, 0), ec.Slide(), ec.Mass(3)
    )
    for _ in range(30):
        velocity.y = 60  # the game pulls it down
        play(1)

    assert space.is_on(walker)
    assert space.load_on(plate) == 3


def test_in_space_the_areas_of_the_contacts_count():
    space = ec.install(dim=3, gravity=(0, -512, 0))
    plates = [esper.create_entity(ec.Position(0, -1, z), ec.Extents(4, 1, 4)) for z in (-4, 4)]
    esper.create_entity(
        ec.Position(0, 2, 1), ec.Extents(2, 2, 2), ec.Velocity(0, 0, 0), ec.Slide(), ec.Mass(8)
    )
    play()

    assert [space.load_on(plate) for plate in plates] == [2, 6]


def test_a_body_that_does_not_exist_is_refused_by_name():
    space = ec.install()
    play()

    with pytest.raises(KeyError, match="77"):
        space.load_on(77)


def test_a_tower_of_three_thousand_weighs_as_much():
    masses = dict.fromkeys(range(1, 3001), 0.1)

    loads = backend.kernels.loads.find_loads(masses, [(n, n - 1, 1.0) for n in masses])

    assert loads[0] == pytest.approx(300, rel=1e-12)


def test_a_crate_that_was_deleted_since_the_last_step_carries_nothing():
    space = ec.install(gravity=(0, -512))
    plate = box(0, 0, 10, 1)
    low, high = crate(0, 1, 4, 4, mass=7), crate(0, 5, 4, 4, mass=5)
    play()
    assert space.load_on(plate) == 12

    esper.delete_entity(low, immediate=True)

    assert (space.load_on(plate), space.is_on(high)) == (0, None)


@pytest.mark.parametrize(("buoyancy", "load"), [(0.5, 0.5), (0.25, 0.75)])
def test_water_carries_its_part_of_a_crate_that_lies_on_the_ground(buoyancy, load):
    space = ec.install(gravity=(0, -512))
    plate = box(0, 0, 10, 1)
    esper.create_entity(
        ec.Position(0, 0), ec.Extents(90, 90), ec.Sensor(), ec.Zone(buoyancy=buoyancy)
    )
    low = crate(0, 1, 4, 4, mass=2)
    crate(0, 5, 4, 4, mass=6)
    play(60)

    assert space.load_on(low) == pytest.approx(6 * load)
    assert space.load_on(plate) == pytest.approx(8 * load)


def test_loads_are_found_once_for_a_pile_until_something_changes():
    space = ec.install(gravity=(0, -512))
    plate, other = box(0, 0, 20, 1), box(20, 0, 20, 1)
    stack = [crate(0, 1 + 4 * n, 4, 4) for n in range(5)]
    bridge = crate(16, 1, 8, 4, mass=8)
    play()

    assert [space.load_on(each) for each in (plate, other, *stack)] == [9, 4, 4, 3, 2, 1, 0]
    esper.delete_entity(stack[-1], immediate=True)
    assert [space.load_on(each) for each in (plate, other, *stack[:4])] == [8, 4, 3, 2, 1, 0]
    esper.delete_entity(bridge, immediate=True)
    assert (space.load_on(plate), space.load_on(other)) == (4, 0)
    crate(0, 17, 4, 4, mass=5)
    play()
    assert (space.load_on(plate), space.load_on(stack[0])) == (9, 8)
    space.up = (0, -1)
    assert (space.load_on(plate), space.load_on(stack[0])) == (0, 0)


def test_a_higher_stack_costs_a_question_no_more_calls(implementation):
    if implementation == "plain":
        pytest.skip("kernels in pure Python are called in Python")

    def calls(height: int) -> int:
        esper.clear_database()
        space = ec.install(gravity=(0, -512))
        plate = box(0, 0, 10, 1)
        for n in range(height):
            crate(0, 1 + 10 * n, 10, 10)
        play(40)
        found: list[str] = []
        sys.setprofile(lambda _, event, __: found.append(event))
        try:
            assert space.load_on(plate) == height
        finally:
            sys.setprofile(None)
        return len(found)

    calls(1)
    assert calls(40) == calls(10)  # both link the contacts of bodies, which two crates do not
