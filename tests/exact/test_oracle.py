"""Tests of the oracle: it accepts results within the slop and rejects all others.

What it accepts it can show: a witness.  Here the witnesses are checked by
other means, answers are falsified, and the kernel itself is broken: each fault must
be seen.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from fractions import Fraction

import numpy as np
import pytest

from ecs_collide._kernel import backend
from ecs_collide.sweeps import sweep_pairs
from tests import plain
from tests.exact.oracle import LARGEST_FLOAT, Nearby, check
from tests.exact.pairs import KINDS, rough
from tests.exact.reference import (
    IMPACT,
    OVERLAP,
    SEPARATE,
    TOUCH,
    Answer,
    exactly,
    meet,
    sides_of,
    slops_of,
)
from tests.exact.test_sweep import Swept, is_wrong

SLOP = Fraction(2) ** -44
ROUNDING = Fraction(2) ** -52
TINY = Fraction(1, 10**200)


@functools.cache
def plain_pairs():
    """Return pairs of which nothing is near a tie, with their answers, sides and slops."""
    found = []
    for dim in (2, 3):
        for _, first, second, answer in Swept(rough, dim, seed=5, n=16):
            sides = sides_of(exactly(*first), exactly(*second))
            slop = slops_of(exactly(*first), exactly(*second))
            found.append((first, second, answer, sides, slop))
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_witnesses_lie_within_the_slop_and_have_the_answer(kind):
    for dim in (2, 3):
        swept = Swept(kind, dim, seed=4, n=40)
        for row, first, second, answer in swept:
            witnesses = check(first, second, answer)

            boxes = exactly(*first), exactly(*second)
            assert witnesses, swept.replay(row)
            for witness in witnesses:
                for stored, there in zip(sides_of(*boxes), witness.sides, strict=True):
                    k = there.axis
                    slop = slops_of(*boxes)[k]
                    moves = sum(abs(part[k]) for box in boxes for part in (box.move, box.grow))
                    gap = Fraction(there.gap) / witness.unit - stored.gap
                    rate = Fraction(there.rate) / witness.unit - stored.rate
                    # Two faces move, each by the slop and what eight roundings are of it.
                    assert abs(gap) <= 2 * max(slop * (1 + Fraction(1, 32)), TINY)
                    assert abs(rate) <= max(moves * ROUNDING, TINY)
                exact = meet(witness.sides)
                if witness.has == "all":
                    assert exact[3:6] == answer[3:6]
                    assert exact.kind == answer.kind
                    assert Fraction(exact.depth) / witness.unit == Fraction(answer.depth)
                if witness.has in ("all", "times"):
                    for there, reported in zip(exact[1:3], answer[1:3], strict=True):
                        assert there == reported or abs(there) >= LARGEST_FLOAT


def falsified(answer, sides, slop):
    """Yield answers that are false where nothing is near a tie, and what is false in them."""
    sideless = {"axis": -1, "sign": 0, "corner": False, "depth": 0.0}
    for kind in (SEPARATE, TOUCH, IMPACT, OVERLAP):
        if kind != answer.kind:
            if kind in (SEPARATE, TOUCH):
                yield "kind", answer._replace(kind=kind, **sideless)
            for side in sides if kind in (IMPACT, OVERLAP) else ():
                depth = float(max(-side.gap, Fraction(1, 100))) if kind == OVERLAP else 0.0
                yield (
                    "kind",
                    Answer(kind, answer.enter, answer.exit, side.axis, side.sign, False, depth),
                )
    closing = min(
        (s for s in sides if s.rate < 0), key=lambda s: Fraction(s.gap, s.rate), default=None
    )
    opening = max(
        (s for s in sides if s.rate > 0), key=lambda s: Fraction(s.gap, s.rate), default=None
    )
    for name, side in (("enter", closing), ("exit", opening)):
        time = getattr(answer, name)
        if math.isfinite(time):
            for slops in (-5, 5):
                later = float(Fraction(time) + slops * slop[side.axis] / abs(side.rate))
                yield name, answer._replace(**{name: later})
            yield name, answer._replace(**{name: -time})
            yield name, answer._replace(**{name: math.inf if name == "exit" else -math.inf})
            yield name, answer._replace(**{name: math.nan})
    if answer.kind >= IMPACT:
        for side in sides:
            if (side.axis, side.sign) != (answer.axis, answer.sign):
                yield "side", answer._replace(axis=side.axis, sign=side.sign)
        yield "side", answer._replace(axis=-1, sign=0)
        yield "corner", answer._replace(corner=not answer.corner)
        for slops in (-5, 5):
            yield "depth", answer._replace(depth=answer.depth + slops * float(slop[answer.axis]))


def test_oracle_rejects_every_answer_that_is_false():
    n_false = dict.fromkeys(("kind", "enter", "exit", "side", "corner", "depth"), 0)
    for first, second, answer, sides, slop in plain_pairs():
        for what, false in falsified(answer, sides, slop):
            assert not check(first, second, false), (what, first, second, false)
            n_false[what] += 1

    assert min(n_false.values()) > 5, n_false


def test_oracle_accepts_what_another_pair_within_the_slop_answers():
    # The first box is moved by up to half a slop.
    rng = np.random.default_rng(11)
    n_changed = 0
    for first, second, answer, _, slop in plain_pairs():
        low, high, move, grow = (np.array(part) for part in first)
        shift = np.array([float(s) for s in slop]) * rng.uniform(-0.5, 0.5, len(slop))
        centre, half = (low + high) / 2 + shift, (high - low) / 2
        moved = [(centre - half).tolist(), (centre + half).tolist(), move.tolist(), grow.tolist()]
        exact = meet(sides_of(exactly(*moved), exactly(*second)))
        said = exact._replace(
            enter=float(exact.enter), exit=float(exact.exit), depth=float(exact.depth)
        )
        n_changed += said != answer

        assert check(first, second, said), (first, second, said)
    assert n_changed > 25


@pytest.mark.parametrize(
    ("gap", "rate", "is_near"),
    [
        (0, 0, True),
        (2, 0, True),
        (-2, 0, True),
        (2.1, 0, False),
        (-2.1, 0, False),
        (0, 1, True),
        (0, 1.1, False),
        (0, -1.1, False),
    ],
)
def test_pairs_are_near_by_the_slop_and_by_the_rounding_of_rates(gap, rate, is_near):
    box = ((0.0, 0.0), (8.0, 8.0), (4.0, 0.0), (0.0, 0.0))
    other = ((16.0, 0.0), (32.0, 8.0), (-4.0, 0.0), (0.0, 0.0))
    near = Nearby.around(box, other)
    slop, rounding = 32 * SLOP, 8 * ROUNDING

    sides = list(near.sides)
    sides[0] = sides[0]._replace(
        gap=sides[0].gap + Fraction(gap) * slop * near.unit,
        rate=sides[0].rate + Fraction(rate) * rounding * near.unit,
    )

    assert near.contains(sides) is is_near


def test_boxes_thinner_than_the_slop_do_not_become_thinner_than_nothing():
    point = ((4.0, 0.0), (4.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    near = Nearby.around(point, point)
    slop = 4 * SLOP * near.unit

    def with_gaps(minus, plus):
        sides = list(near.sides)
        return [sides[0]._replace(gap=minus), sides[1]._replace(gap=plus), *sides[2:]]

    assert near.contains(with_gaps(slop, -slop))
    assert near.contains(with_gaps(-slop, -slop))
    assert near.contains(with_gaps(2 * slop, -2 * slop))
    assert not near.contains(with_gaps(slop, 0))
    assert not near.contains(with_gaps(1, 0))


_IMPORT = "from ecs_collide._kernel.constants import INF, NAN, SLOP, TINY\n"
FAULTS = {
    "no tolerance at all": (_IMPORT, _IMPORT + "SLOP = 0.0\n"),
    "sixteen times the tolerance": (_IMPORT, _IMPORT + "SLOP = 2.0**-40\n"),
    "half the tolerance": (_IMPORT, _IMPORT + "SLOP = 2.0**-45\n"),
    "differences that are none": (_IMPORT, _IMPORT + "TINY = 1e-15\n"),
    "growth of the second turned round": (
        "low2: cython.double = move2 - grow2",
        "low2: cython.double = move2 + grow2",
    ),
    "growth of the first left out": (
        "high1: cython.double = move1 + grow1",
        "high1: cython.double = move1",
    ),
    "the tolerance of the start alone": (
        "slop: cython.double = SLOP * largest",
        "slop = self.near[k] / 4096",
    ),
    "both sides of a thin box are level": (
        "plus = 0.0 if plus == nearer else plus",
        "plus = 0.0",
    ),
    "one of two equal sides is level": (
        "if plus == nearer else plus",
        "if plus == nearer and minus < 0.0 else plus",
    ),
    "the farther side is level": ("plus if plus > minus", "plus if plus < minus"),
    "the first arrival is the meeting": ("enter = max(enter, _time", "enter = min(enter, _time"),
    "a late exit": ("exit_ = min(exit_, _time", "exit_ = max(exit_, _time"),
    "steady and apart is no matter": ("elif gap > 0.0:", "elif gap > 1e9:"),
    "flush is not seen": (
        "elif gap == 0.0:\n                flush = True",
        "elif gap == 1.0:\n                flush = True",
    ),
    "touching is an overlap": ("if deepest_out < 0.0:", "if deepest_out <= 0.0:"),
    "the end of the step belongs to it": (
        "0.0 <= enter < 1.0 and self",
        "0.0 <= enter <= 1.0 and self",
    ),
    "an impact at the start is none": ("0.0 <= enter < 1.0 and self", "0.0 < enter < 1.0 and self"),
    "touching at the end": (
        "elif enter < 1.0 and enter <= exit_",
        "elif enter <= 1.0 and enter <= exit_",
    ),
    "touching before the step": ("and exit_ >= 0.0", ""),
    "the first side is the contact": (
        "if best >= 0 and self.rate[side] >= self.rate[best]",
        "if best >= 0",
    ),
    "the last of equal sides is the contact": (
        "self.rate[side] >= self.rate[best]",
        "self.rate[side] > self.rate[best]",
    ),
    "the slowest side is the contact": (
        "self.rate[side] >= self.rate[best]",
        "self.rate[side] <= self.rate[best]",
    ),
    "a side long past may be the contact": ("<= -self.slop[k]:", "<= -1e300:"),
    "no corner": ("1 if axes != 1 << (best >> 1) else 0", "0"),
    "always a corner": ("1 if axes != 1 << (best >> 1) else 0", "1"),
    "grazing is an impact": ("return after < before", "return True"),
    "a plate is flown through": ("if before < after or self.gap[side] <= 0.0:", "if True:"),
    "what lies past a plate meets it": ("if before < after or self.gap[side] <= 0.0:", "if False:"),
    "other axes need no depth": ("if gap >= -self.slop[other >> 1]:", "if gap > 1.0:"),
    "a graze within the slop is an impact": (
        "bound: cython.double = (-self.slop[other >> 1] - gap) / rate",
        "bound = (0.0 - gap) / rate",
    ),
    "the deepest side is the shallowest": (
        "self.gap[side] > self.gap[best] or",
        "self.gap[side] < self.gap[best] or",
    ),
    "equally deep and slower": (
        "and self.rate[side] < self.rate[best]",
        "and self.rate[side] > self.rate[best]",
    ),
    "depth with the wrong sign": ("self.depth = -self.gap[best]", "self.depth = self.gap[best]"),
    "minus for plus": (
        "self._choose(best)\n        self.depth",
        "self._choose(best ^ 1)\n        self.depth",
    ),
    "time to the end and not to the meeting": (
        "return -gap / rate + 0.0",
        "return 1.0 - gap / rate",
    ),
    "a time a millionth too late": ("return -gap / rate + 0.0", "return -gap / rate * (1 + 1e-6)"),
    "a time by four thousand roundings": (
        "return -gap / rate + 0.0",
        "return -gap / rate * (1 + 2.0**-40)",
    ),
}


@functools.cache
def swept_rightly():
    return [Swept(kind, dim, seed=6) for kind in KINDS for dim in (2, 3)]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_kernel_is_seen(fault):
    right, wrong = FAULTS[fault]
    source = inspect.getsource(plain.kernel("narrowphase.sweep_test"))
    assert source.count(right) >= 1, "the kernel has changed: change the fault as well"
    broken = types.ModuleType("broken_sweep")
    plain.run(source.replace(right, wrong), broken)

    assert n_seen(broken) > 0


def n_seen(kernel):
    """Return how many of its answers are found wrong, up to the first."""

    def swept_by_it(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backend, "kernels", backend.kernels._replace(sweep=kernel))
            return sweep_pairs(*arguments)

    for rightly in swept_rightly():
        kind = next(kind for kind in KINDS if kind.__name__ == rightly.name)
        wrongly = Swept(kind, rightly.dim, rightly.seed, swept_by=swept_by_it)
        for (_, first, second, answer), right in zip(wrongly, rightly.answers, strict=True):
            if answer != right and is_wrong(kind, first, second, answer):
                return 1
    return 0
