"""Random numbers that are the same everywhere, and go back with the world."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec


def test_random_numbers_go_back_with_the_world(world, elsewhere):
    dice = ec.Random(5)
    entity = esper.create_entity(dice)
    space = ec.install()
    dice.random()
    data = space.snapshot()
    first = [dice.random() for _ in range(5)]

    space.restore(data)
    assert [dice.random() for _ in range(5)] == first

    elsewhere().restore(data)  # of a program that has no random numbers yet
    other = esper.component_for_entity(entity, ec.Random)
    assert [other.random() for _ in range(5)] == first


def test_random_numbers_are_those_of_splitmix64():
    # The first outputs for seed 1234567, as the reference implementation prints them.
    dice = ec.Random(1234567)
    assert [dice.bits() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_random_numbers_are_spread_over_their_range():
    many = [ec.Random(n).random() for n in range(1000)]
    assert 0.0 <= min(many) < 0.02
    assert 0.98 < max(many) < 1.0
    assert {ec.Random(n).below(6) for n in range(100)} == set(range(6))
    assert all(2.0 <= ec.Random(n).uniform(2.0, 3.0) <= 3.0 for n in range(50))
    dice = ec.Random(3)
    assert {dice.choice("abc") for _ in range(50)} == set("abc")
    orders = set()
    for _ in range(200):
        items = [1, 2, 3]
        dice.shuffle(items)
        orders.add(tuple(items))
    assert len(orders) == 6


def test_seeds_count_by_their_lowest_64_bits():
    assert ec.Random(-1).bits() == ec.Random(2**64 - 1).bits() == ec.Random(2**70 - 1).bits()


def test_random_numbers_leave_those_of_python_alone():
    random.seed(1)
    before = random.getstate()
    ec.Random(1).shuffle([1, 2, 3])

    assert random.getstate() == before


@pytest.mark.parametrize("n", [0, -1, 2**64 + 1])
def test_a_range_without_numbers_is_refused(n):
    with pytest.raises(ValueError, match=f"n={n}"):
        ec.Random().below(n)


@pytest.mark.parametrize("seed", ["level 1", 1.5, None])
def test_a_seed_that_is_no_whole_number_is_refused(seed):
    with pytest.raises(TypeError, match=r"Random\(state=.*\) must be a whole number"):
        ec.Random(seed)


def test_choice_of_nothing_is_refused():
    with pytest.raises(IndexError, match="no items"):
        ec.Random().choice([])
