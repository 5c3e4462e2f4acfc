"""The components that only some bodies have: what they take, what they refuse, what they say."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, position


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (ec.Filter(), "Filter(categories=1, mask=4294967295, group=0)"),
        (ec.Filter(2, 5, -3), "Filter(categories=2, mask=5, group=-3)"),
        (ec.Friction(0.5), "Friction(value=0.5)"),
        (ec.OneWay((0, 1)), "OneWay(normal=(0.0, 1.0, 0.0))"),
        (ec.OneWay((0, 0, -1)), "OneWay(normal=(0.0, 0.0, -1.0))"),
        (ec.OneWay(), "OneWay(normal=None)"),
        (ec.Carry(), "Carry(surface=(0.0, 0.0, 0.0), normal=None)"),
        (ec.Carry((3, 0), (0, -1)), "Carry(surface=(3.0, 0.0, 0.0), normal=(0.0, -1.0, 0.0))"),
        (ec.PushOut(3), "PushOut(speed=3.0)"),
        (ec.Dominance(2), "Dominance(level=2)"),
        (ec.Dominance(2, blocks=True), "Dominance(level=2, blocks=True)"),
        (ec.Restitution(0.5), "Restitution(value=0.5)"),
        (ec.Friction(1, ec.CombineRule.MIN), "Friction(value=1.0, rule='min')"),
        (ec.MaxSpeed(3), "MaxSpeed(speed=3.0)"),
        (ec.LockedAxes(x=True, z=True), "LockedAxes(x=True, z=True)"),
    ],
)
def test_a_repr_says_what_was_given_and_makes_an_equal_one(made, shown):
    assert repr(made) == shown
    again = eval(shown, vars(ec))
    assert again == made
    assert again != "something else"
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_each_differs_by_every_number():
    assert ec.Filter(1) != ec.Filter(2)
    assert ec.Filter(1, 2) != ec.Filter(1, 3)
    assert ec.Filter(1, 2, 3) != ec.Filter(1, 2, 4)
    assert ec.Friction(1) != ec.Friction(2)
    assert ec.OneWay((0, 1)) != ec.OneWay((0, -1))
    assert ec.Carry((1, 0)) != ec.Carry((2, 0))
    assert ec.Carry(normal=(0, 1)) != ec.Carry(normal=(1, 0))
    assert ec.PushOut() != ec.PushOut(5)
    assert ec.Restitution(0.5, "max") == ec.Restitution(0.5, ec.CombineRule.MAX)
    assert ec.Restitution(0.5, "max") != ec.Restitution(0.5)
    assert ec.LockedAxes(x=True) != ec.LockedAxes(y=True)


def test_vectors_may_be_set_whole():
    platform, belt = ec.OneWay((0, 1)), ec.Carry()
    platform.normal = (1, 0)
    belt.surface, belt.normal = (4, 5, 6), (0, 0, 1)

    assert (platform.x, platform.y, platform.z) == (1, 0, 0)
    assert belt == ec.Carry((4, 5, 6), (0, 0, 1))
    with pytest.raises(ValueError, match="one axis"):
        platform.normal = (1, 1)
    assert platform.normal == (1, 0, 0)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: ec.Filter(-1), ValueError, r"Filter\(categories=-1\) must be within 0"),
        (lambda: ec.Filter(2**32), ValueError, "32 categories"),
        (lambda: ec.Filter(mask=2**32), ValueError, "mask="),
        (lambda: ec.Filter(group=2**31), ValueError, "group="),
        (lambda: ec.Filter(group=-(2**31)), ValueError, "group="),
        (lambda: ec.Filter(1.0), TypeError, r"Filter\(categories=1\.0\) must be a whole number"),
        (lambda: ec.Filter("1"), TypeError, "whole number"),
        (lambda: ec.Filter(None), TypeError, "whole number"),
        (lambda: ec.Friction(-0.1), ValueError, r"Friction\(value=-0\.1\)"),
        (lambda: ec.Friction(math.nan), ValueError, "finite"),
        (lambda: ec.Friction(math.inf), ValueError, "finite"),
        (lambda: ec.Friction("1"), TypeError, "must be a number, not text"),
        (lambda: ec.OneWay((1, 1)), ValueError, r"OneWay\(normal=\(1, 1\)\) must point along"),
        (lambda: ec.OneWay((0, 2)), ValueError, "length 1"),
        (lambda: ec.OneWay((0, 0)), ValueError, "one axis"),
        (lambda: ec.OneWay((1,)), ValueError, "two numbers"),
        (lambda: ec.OneWay((1, 0, 0, 0)), ValueError, "two numbers"),
        (lambda: ec.OneWay(1), TypeError, "two or three numbers"),
        (lambda: ec.Carry(80, 0), TypeError, r"Carry\(surface=80\) .* such as surface=\(1, 0\)"),
        (lambda: ec.OneWay("up"), TypeError, "two or three numbers"),
        (lambda: ec.Carry((math.nan, 0)), ValueError, r"Carry\(surface="),
        (lambda: ec.Carry(normal=(0, 0.5)), ValueError, r"Carry\(normal=\(0, 0\.5\)\)"),
        (lambda: ec.PushOut(0), ValueError, r"PushOut\(speed=0\) must be above 0"),
        (lambda: ec.PushOut(math.nan), ValueError, "above 0"),
        (lambda: ec.Dominance(1.5), TypeError, r"Dominance\(level=1.5\) must be a whole number"),
        (lambda: ec.Dominance(128), ValueError, r"\(level=128\) must be within -127 ... 127"),
        (lambda: ec.Restitution(1.5), ValueError, r"Restitution\(value=1.5\) must be within 0"),
        (lambda: ec.Restitution(1, "most"), ValueError, r"\(rule='most'\) must be one of 'aver"),
        (lambda: ec.Friction(1, 3), ValueError, r"Friction\(rule=3\) must be one of"),
        (lambda: ec.MaxSpeed(0), ValueError, r"MaxSpeed\(speed=0\) must be above 0"),
        (lambda: ec.LockedAxes("x"), TypeError, r"LockedAxes\(x='x'\) must be a whole number"),
        (lambda: ec.LockedAxes(y=2), ValueError, r"LockedAxes\(y=2\) must be True or False"),
        (lambda: ec.GravityScale(math.nan), ValueError, r"\(value=nan\) must be within"),
        (lambda: ec.Damping(-1), ValueError, r"Damping\(value=-1\) must be within 0"),
        (lambda: ec.Acceleration(math.nan, 0), ValueError, "must be finite and within -2"),
        (lambda: ec.Acceleration(2.0**101, 0), ValueError, "must be finite and within -2"),
        (lambda: ec.Acceleration("1", 0), TypeError, "must be a number, not text"),
        (lambda: ec.Slope("up"), ValueError, "'right', 'left' or a unit vector"),
        (lambda: ec.Slope((1, 1)), ValueError, "must point along one axis"),
        (lambda: ec.Slope("right", low=0.5, high=0.5), ValueError, "0 <= low < high <= 1"),
        (lambda: ec.Slope("right", high=1.5), ValueError, "0 <= low < high <= 1"),
    ],
)
def test_what_is_wrong_is_refused_and_named(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    ("given", "meant"),
    [(~4, ec.ALL - 4), (~0, ec.ALL), (~ec.ALL, 0), (-1, ec.ALL), (~(1 | 2), ec.ALL & ~3)],
)
def test_a_complement_of_bits_is_a_mask_of_all_others(given, meant):
    assert ec.Filter(mask=given).mask == meant
    assert ec.Filter(2, given, -3) == ec.Filter(2, meant, -3)


@pytest.mark.parametrize("mask", [~ec.ALL - 1, ec.ALL + 1])
def test_a_mask_beyond_32_bits_is_refused_with_a_hint_at_complements(mask):
    with pytest.raises(ValueError, match=r"mask=.* within 0 \.\.\. 2\*\*32 - 1.*or ~bits"):
        ec.Filter(mask=mask)


@pytest.mark.usefixtures("world", "implementation")
def test_a_complement_set_on_a_filter_keeps_its_body_in_the_collisions():
    shot, enemy = 2, 4
    flying = mover((0, 0), (1, 1), (10, 0), ec.Slide(), ec.Filter(shot))
    guard = box((5, 0), (1, 1), ec.Filter(enemy))
    space = ec.install()
    esper.process(0)
    its = esper.component_for_entity(guard, ec.Filter)
    its.mask = ~shot
    assert not space.may_meet(flying, guard)
    assert "none of its bits" in str(space.explain(flying, guard))

    esper.process(1.0)

    assert space.reports == []
    assert len(space.collisions) == 0
    its.mask = ~enemy
    esper.component_for_entity(flying, ec.Position).x = 0.0
    assert space.may_meet(flying, guard)
    esper.process(1.0)
    assert len(space.collisions) == 1
    its.mask = -(2**32) - 1
    with pytest.warns(RuntimeWarning, match="or ~bits"):
        esper.process(1.0)


@pytest.mark.usefixtures("world")
def test_a_name_set_on_an_attribute_of_a_filter_is_refused_with_a_hint_at_set():
    its = ec.Filter()
    guard = box((5, 0), (1, 1), its)
    ec.install()
    its.mask = "shot"

    with pytest.raises(
        TypeError, match=rf"entity {guard}: Filter.mask .* Filter.set\(\) takes names"
    ):
        esper.process(1.0)


@pytest.mark.parametrize(
    ("part", "name", "value", "told"),
    [
        (ec.Dominance(1), "level", 0.5, "whole"),
        (ec.Dominance(1), "level", 200, "within -127"),
        (ec.Restitution(1), "value", -0.5, "within 0"),
        (ec.Restitution(1), "code", 6, ""),
        (ec.Friction(1, "min"), "code", 1.5, ""),
        (ec.Friction(5), "value", -1.0, r"is -1\.0, it must be within 0 \(ice\)"),
        (ec.Friction(5), "value", 1e200, r"is 1e\+200, it must be within 0 \(ice\) \.\.\. 2"),
        (ec.MaxSpeed(1), "speed", math.nan, ""),
        (ec.MaxSpeed(1), "speed", 0, "above 0"),
        (ec.LockedAxes(x=True), "x", 0.5, ""),
        (ec.OneWay((0, 1)), "x", 1.0, "unit vector"),
        (ec.OneWay((0, 1)), "y", 0.5, "unit vector"),
        (ec.OneWay((0, 1)), "y", 0.0, "unit vector"),
        (ec.Filter(), "mask", 0.5, "whole"),
        (ec.Filter(), "mask", math.nan, "whole"),
        (ec.Filter(), "mask", 2**32, "whole"),
        (ec.Filter(), "mask", -(2**32) - 1, "whole"),
        (ec.Filter(), "categories", -1, "whole"),
        (ec.Filter(), "categories", 2**32, "whole"),
        (ec.Filter(), "group", 2**31, "whole"),
        (ec.Carry(), "normal_x", 1.0, ""),
        (ec.Carry(), "normal_y", 0.0, ""),
        (ec.Carry(), "x", math.inf, ""),
        (ec.PushOut(), "speed", math.nan, "is nan, it must be above 0"),
        (ec.Separate(), "speed", math.nan, ""),
        (ec.Damping(1), "value", math.nan, ""),
        (ec.Acceleration(0, 0), "y", math.nan, "it must"),
        (ec.Acceleration(0, 0), "y", -(2.0**101), "it must"),
        (ec.Mass(1), "value", 1e308, r"is 1e\+308"),
    ],
)
@pytest.mark.usefixtures("world", "implementation")
def test_a_number_that_is_no_good_quarantines_the_body(part, name, value, told):
    body = mover((0, 0), (1, 1), (1, 1), ec.Slide(), part)
    fine = mover((50, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    right, place = getattr(part, name), position(body)

    setattr(part, name, value)
    with pytest.warns(RuntimeWarning, match=rf"{type(part).__name__}\.\w+ .*{told}"):
        esper.process(1.0)
    assert [report.entity for report in space.reports] == [body]
    assert (position(body), position(fine)) == (place, (52, 0))
    setattr(part, name, right)
    esper.process(1.0)

    assert position(body) != place
    assert len(space.reports) == 1
