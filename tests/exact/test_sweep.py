"""The sweep against exact numbers: not one wrong answer, over pairs made to mislead it.

An answer is wrong when no pair of boxes within the stated slop has it; `check`
says how that is decided.  Where all sums and differences are exact, more is
asked: the very answer of the reference, each time rounded once; the one of pure
mathematics where nothing is as small as the slop, and that of the rule with the stated slop
where much is.

How many pairs: 10,000 on the compiled kernels and 1,000 in pure Python, which is
slow, and both give the same bits; with ``--long`` 100,000 and 10,000; with
``--long --long`` 10,000,000 each.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from ecs_collide.sweeps import overlaps, sweep, sweep_pairs, swept_bounds
from tests.exact.oracle import check
from tests.exact.pairs import EXACT, KINDS, TO_THE_LETTER, make
from tests.exact.reference import (
    IMPACT,
    OVERLAP,
    SEPARATE,
    Answer,
    Box,
    exactly,
    meet,
    sides_of,
    slops_of,
)

CHUNK = 200  # pairs made from one seed
EIGHT_ROUNDINGS = Fraction(1, 32)  # of the slop, which is 256

pytestmark = pytest.mark.usefixtures("implementation")


@pytest.fixture
def n_pairs(volume):
    """Return how many pairs to try of one kind in one dimension."""
    n_pairs = volume(10_000, 20_000, 10_000_000)
    return math.ceil(n_pairs / len(KINDS) / 2)


class Swept:
    """A chunk of pairs of one kind, and what the library says of them."""

    def __init__(self, kind, dim, seed, n=CHUNK, swept_by=sweep_pairs):
        self.name, self.dim, self.seed = kind.__name__, dim, seed
        bodies = make(kind, dim, n, seed)
        self.centres, self.halves, self.motions, self.growths = (
            part.reshape(-1, dim) for part in bodies
        )
        rows = np.arange(2 * n).reshape(-1, 2)
        self.batch = swept_by(self.centres, self.halves, self.motions, rows, self.growths)
        # The stored faces, and changes that take no half size below 0.
        self.low, self.high = self.centres - self.halves, self.centres + self.halves
        changes = np.maximum(self.growths, -self.halves)
        self.boxes = list(
            zip(*(a.tolist() for a in (self.low, self.high, self.motions, changes)), strict=True)
        )
        b = self.batch
        fields = (b.kind, b.enter, b.exit, b.axis, b.sign, b.corner, b.depth)
        self.answers = [Answer(*row) for row in zip(*(f.tolist() for f in fields), strict=True)]

    def __iter__(self):
        """Yield row, first, second and answer."""
        for row, answer in enumerate(self.answers):
            yield row, self.boxes[2 * row], self.boxes[2 * row + 1], answer

    def arguments(self, row):
        """Return what `sweep` takes for a row."""
        parts = (self.centres, self.halves, self.motions)
        one, other = ([part[2 * row + k] for part in parts] for k in (0, 1))
        return (*one, *other, self.growths[2 * row], self.growths[2 * row + 1])

    def replay(self, row):
        """Return a program that sweeps this pair again, to the last bit."""
        names = [f"{part}{k}" for k in (1, 2) for part in ("centre", "half", "motion")]
        names += ["growth1", "growth2"]
        lines = [f"# {self.name}, dim {self.dim}, seed {self.seed}, row {row}"]
        for name, vector in zip(names, self.arguments(row), strict=True):
            numbers = ", ".join(f"float.fromhex('{x.hex()}')" for x in vector.tolist())
            lines.append(f"{name} = [{numbers}]")
        return "\n".join([*lines, f"print(sweep({', '.join(names)}))", repr(self.answers[row])])


def chunks(kind, n_pairs):
    for dim in (2, 3):
        for seed in range(math.ceil(n_pairs / CHUNK)):
            yield Swept(kind, dim, seed, min(CHUNK, n_pairs - seed * CHUNK))


def is_wrong(kind, first, second, answer):
    """Return whether an answer to a pair of this kind is wrong."""
    if kind not in EXACT and kind not in TO_THE_LETTER:
        return not check(first, second, answer)
    boxes = exactly(*first), exactly(*second)
    slops = slops_of(*boxes) if kind in TO_THE_LETTER else [0] * len(first[0])
    # Times are rounded, so a gap at a time is, too: one may be a few roundings from the slop.
    factors = (1, 1 + EIGHT_ROUNDINGS, 1 - EIGHT_ROUNDINGS) if kind in TO_THE_LETTER else (1,)
    for factor in factors:
        exact = meet(sides_of(*boxes), [slop * factor for slop in slops])
        # Rounded once, and without a minus before 0.
        times = [float(time) if time else 0.0 for time in (exact.enter, exact.exit)]
        if answer == exact._replace(enter=times[0], exit=times[1]):
            return False
    return True


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_answer_of_the_sweep_is_wrong(kind, n_pairs):
    for swept in chunks(kind, n_pairs):
        wrong = [row for row, *pair in swept if is_wrong(kind, *pair)]
        assert not wrong, swept.replay(wrong[0])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_one_pair_alone_gets_the_answer_it_gets_among_many(kind):
    for dim in (2, 3):
        swept = Swept(kind, dim, seed=1, n=25)
        for row, *_ in swept:
            assert sweep(*swept.arguments(row)) == swept.batch[row], swept.replay(row)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_seen_in_a_mirror_everything_is_the_same_to_the_last_bit(kind):
    for dim in (2, 3):
        swept = Swept(kind, dim, seed=7)
        rows = np.arange(len(swept.centres)).reshape(-1, 2)
        mirrored = 0.0 - swept.centres, swept.halves, 0.0 - swept.motions
        in_mirror = sweep_pairs(*mirrored, rows, swept.growths)
        # What is beyond the first is before the second: the same side, also where two are alike.
        exchanged_too = sweep_pairs(*mirrored, rows[:, ::-1], swept.growths)

        for name in ("kind", "time", "enter", "exit", "axis", "corner", "depth"):
            right = getattr(swept.batch, name)
            np.testing.assert_array_equal(getattr(in_mirror, name), right, name)
            np.testing.assert_array_equal(getattr(exchanged_too, name), right, name)
        np.testing.assert_array_equal(exchanged_too.sign, swept.batch.sign)
        turned = in_mirror.sign != -swept.batch.sign
        assert (in_mirror.sign[turned] == -1).all()  # both sides alike: then it is minus


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_boxes_overlap_exactly_if_their_stored_faces_do(kind):
    for dim in (2, 3):
        swept = Swept(kind, dim, seed=2)
        low, high = swept.low, swept.high
        found = overlaps(low[::2], high[::2], low[1::2], high[1::2]).tolist()
        for row, first, second, answer in swept:
            sides = sides_of(Box(*first), Box(*second))  # differences of floats have the right sign
            assert found[row] is all(side.gap <= 0 for side in sides), swept.replay(row)
            # The sweep may differ by what it takes for no difference at all.
            if not found[row] and max(side.gap for side in sides) >= 1e-200:
                assert answer.kind != OVERLAP
            if answer.kind == OVERLAP:
                assert found[row]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_swept_bounds_hold_the_whole_path_and_no_more(kind):
    for dim in (2, 3):
        swept = Swept(kind, dim, seed=3, n=50)
        growths = np.maximum(swept.growths, -swept.halves)
        parts = (swept.centres, swept.halves, swept.motions, swept.growths)
        lower, upper = swept_bounds(*parts)
        assert (lower <= swept.low).all()
        assert (upper >= swept.high).all()
        for c, h, v, w, low, high in zip(
            *(x.ravel().tolist() for x in (*parts[:3], growths, lower, upper)), strict=True
        ):
            rounding = sum(abs(Fraction(x)) for x in (c, h, v, w)) / 2**51
            middle, half = Fraction(c) + Fraction(v), Fraction(h) + Fraction(w)
            assert abs(low - min(Fraction(c) - Fraction(h), middle - half)) <= rounding
            assert abs(high - max(Fraction(c) + Fraction(h), middle + half)) <= rounding


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_pairs_of_a_kind_meet_often_enough_to_be_a_test(kind, volume):
    answers = [
        answer
        for dim in (2, 3)
        for seed in range(volume(2, 5, least=2))
        for answer in Swept(kind, dim, seed).answers
    ]

    for each in (SEPARATE, IMPACT):
        assert sum(answer.kind == each for answer in answers) > 0.02 * len(answers)
