"""The reference is tested itself: by looking at every instant, and by breaking it.

The looking shares no formula with the reference.  It moves the faces, cuts time
wherever two of them are level, and looks at each instant and each stretch between.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import random
import types
from fractions import Fraction

import pytest

from tests.exact import reference
from tests.exact.reference import (
    IMPACT,
    INF,
    OVERLAP,
    SEPARATE,
    TOUCH,
    Answer,
    Box,
    meet,
    sides_of,
)

N_PAIRS = 1600


def face(box, axis, end, t):
    """Return where the lower or upper face of a box is at a time."""
    side, outward = (box.low, -1) if end == "low" else (box.high, 1)
    return side[axis] + t * (box.move[axis] + outward * box.grow[axis])


def look(first, second, slop):
    """Return what is seen of two boxes by looking at every instant and every stretch."""
    dim = len(first.low)
    names = [(axis, sign) for axis in range(dim) for sign in (-1, 1)]

    def faces_of(name, t):
        axis, sign = name
        near, far = (first, second) if sign < 0 else (second, first)
        return face(near, axis, "high", t), face(far, axis, "low", t)

    def apart_at_start(name):
        upper, lower = faces_of(name, 0)
        return lower - upper

    # What is inside by rounding only is taken to be level; of an axis only the nearer side.
    shift = {}
    for name in names:
        axis, sign = name
        here, there = apart_at_start(name), apart_at_start((axis, -sign))
        shift[name] = -here if 0 < -here <= slop[axis] and here >= there else 0

    def distance(name, t):
        upper, lower = faces_of(name, t)
        return lower - upper + shift[name]

    def times_of(name, level):
        """Return the instants at which a side has a distance: found by halving, not by division."""
        at0, at1 = distance(name, 0) - level, distance(name, 1) - level
        if at0 == at1:
            return []
        return [Fraction(at0) / (at0 - at1)]

    cuts = {Fraction(0), Fraction(1)}
    for name in names:
        for level in {0, -slop[name[0]]}:
            cuts.update(times_of(name, level))
    instants = sorted(cuts)
    moments = [instants[0] - 1]
    for this, following in itertools.pairwise(instants):
        moments += [this, (this + following) / 2]
    moments += [instants[-1], instants[-1] + 1]
    seen = [{name: distance(name, t) for name in names} for t in moments]
    first_look, last_look, start = seen[0], seen[-1], seen[moments.index(0)]

    # Which sides come together, which part, which stay as they are.
    arriving = [name for name in names if first_look[name] > last_look[name]]
    parting = [name for name in names if first_look[name] < last_look[name]]
    staying = [name for name in names if first_look[name] == last_look[name]]
    if any(start[name] > 0 for name in staying):
        return Answer(SEPARATE, INF, -INF)
    enter, exit_ = -INF, INF
    for t, at in zip(moments, seen, strict=True):
        if any(at[name] == 0 for name in arriving):
            enter = t  # the last such instant stays
        if exit_ == INF and any(at[name] == 0 for name in parting):
            exit_ = t

    if all(start[name] < 0 for name in names):
        later = seen[moments.index(1)]
        depth = min(-start[name] for name in names)
        shallow = [name for name in names if -start[name] == depth]
        deepest_later = min(later[name] for name in shallow)
        axis, sign = min(name for name in shallow if later[name] == deepest_later)
        return Answer(OVERLAP, enter, exit_, axis, sign, False, depth)

    if enter != -INF and 0 <= enter < 1 and all(start[name] < 0 for name in staying):
        i = moments.index(enter)
        front = [n for n in arriving if seen[i][n] == 0 or seen[i][n] > -slop[n[0]]]

        def is_met(name):
            axis, sign = name
            back = (axis, -sign)
            # Without thickness: it comes to the one side at the instant it leaves the other.
            is_plate = start[name] > 0 and back in parting and seen[i][back] == 0
            return any(
                all(at[n] < -slop[n[0]] for n in names if n[0] != axis)
                and (at[back] < 0 or is_plate)
                for at in seen[i + 1 :]
            )

        met = [name for name in front if is_met(name)]
        if met:
            before = {name: distance(name, enter - 1) - seen[i][name] for name in met}
            axis, sign = min(name for name in met if before[name] == max(before.values()))
            corner = any(name[0] != axis for name in front)
            return Answer(IMPACT, enter, exit_, axis, sign, corner)

    shared = any(
        0 <= t < 1 and all(at[name] <= 0 for name in names)
        for t, at in zip(moments, seen, strict=True)
    )
    return Answer(TOUCH if shared else SEPARATE, enter, exit_)


def some_box(rng, dim, grid, reach, grows):
    """Return a box on a grid; the smaller the reach, the more happens at once."""
    low = [rng.randint(-reach, reach) for _ in range(dim)]
    size = [rng.choice((1, 2, 4, 6) if reach > 2 else (0, 0, 1, 2)) for _ in range(dim)]
    move = [rng.choice((0, rng.randint(-2 * reach, 2 * reach))) for _ in range(dim)]
    grow = [Fraction(max(rng.randint(-2, 4), -s), 2) if grows else 0 for s in size]
    high = [a + b for a, b in zip(low, size, strict=True)]
    return Box(*([Fraction(v) / grid for v in row] for row in (low, high, move, grow)))


# What chance does not bring: on the second axis the far side stays just as deep as the slop.
BY_HAND = [
    (
        Box(low=(0, 0), high=(2, 1), move=(4, 0), grow=(0, 1)),
        Box(low=(4, 0), high=(6, 0), move=(0, 1), grow=(0, 0)),
        (0, 1),
    )
]


@functools.cache
def pairs():
    """Return pairs on a coarse grid, where much happens at once, and what is seen of them."""
    rng = random.Random("look at every instant")
    found = []
    for n in range(N_PAIRS):
        dim = 2 + n % 2
        reach, grows = rng.choice((1, 2, 4)), rng.random() < 0.4
        first, second = (some_box(rng, dim, rng.choice((1, 1, 2)), reach, grows) for _ in range(2))
        slop = [rng.choice((0, 0, Fraction(1, 4), 1)) if n % 4 == 3 else 0 for _ in range(dim)]
        found.append((first, second, slop, look(first, second, slop)))
    found += [(*pair, look(*pair)) for pair in BY_HAND]
    return found


def test_reference_sees_what_is_seen_by_looking_at_every_instant():
    for first, second, slop, seen in pairs():
        assert meet(sides_of(first, second), slop) == seen, (first, second, slop)


def test_pairs_that_are_looked_at_are_of_every_sort():
    n_seen = dict.fromkeys(range(4), 0)
    n_corners = n_growing = n_plates = n_with_slop = n_unreached = 0
    for first, second, slop, seen in pairs():
        n_seen[seen.kind] += 1
        n_corners += seen.corner
        n_growing += seen.kind == IMPACT and any((*first.grow, *second.grow))
        n_plates += seen.kind == IMPACT and seen.enter == seen.exit
        n_with_slop += any(slop)
        n_unreached += seen.enter > seen.exit != -INF

    assert min(n_seen.values()) > 50, n_seen
    assert min(n_corners, n_growing, n_with_slop, n_unreached) > 25
    assert n_plates > 5


FAULTS = {
    "a gap to the wrong face": ("low2 - high1,", "high2 - high1,"),
    "growth of the first box turned round": ("(move1 + grow1)", "(move1 - grow1)"),
    "growth of the second box left out": ("(move2 + grow2)", "move2"),
    "the first arrival for the last": ("enter = max(", "enter = min("),
    "the last departure for the first": ("exit_ = min(", "exit_ = max("),
    "the end of the step counted in": ("0 <= enter < 1 and all", "0 <= enter <= 1 and all"),
    "an impact at the start left out": ("0 <= enter < 1 and all", "0 < enter < 1 and all"),
    "sliding along a face is an impact": (
        "all(side.gap < 0 for side in steady)",
        "all(side.gap <= 0 for side in steady)",
    ),
    "flush and steady is never": ("any(side.gap > 0", "any(side.gap >= 0"),
    "touching is an overlap": (
        "all(side.gap < 0 for side in sides)",
        "all(side.gap <= 0 for side in sides)",
    ),
    "the deepest side for the shallowest": ("(-side.gap, side.rate,", "(side.gap, side.rate,"),
    "equally deep sides by the slower": ("(-side.gap, side.rate,", "(-side.gap, -side.rate,"),
    "the slowest side is the contact": (
        "(side.rate, side.axis, side.sign)",
        "(-side.rate, side.axis, side.sign)",
    ),
    "the highest axis first": (
        "(side.rate, side.axis, side.sign)",
        "(side.rate, -side.axis, side.sign)",
    ),
    "plus before minus": (
        "(side.rate, side.axis, side.sign)",
        "(side.rate, side.axis, -side.sign)",
    ),
    "a corner needs a ready side": (
        "contact.axis for side in front)",
        "contact.axis for side in ready)",
    ),
    "every impact is a corner": ("corner = any(side.axis != contact.axis", "corner = any(True"),
    "grazing a corner is an impact": ("return begin < end", "return begin <= end"),
    "parting on the own axis forgotten": (
        "elif side.rate > 0:\n            parted",
        "elif side.rate > 9:\n            parted",
    ),
    "a plate met from where one stands": ("or contact.gap <= 0:", "or contact.gap < 0:"),
    "no plate is met": ("if parted != enter or contact.gap <= 0:", "if True:"),
    "touching needs the whole step": (
        "enter < 1:\n        return Answer(TOUCH",
        "enter < 0:\n        return Answer(TOUCH",
    ),
    "touching before the step": ("max(enter, 0) <= exit_", "enter <= exit_"),
    "both sides of an axis counted as level": ("side.gap == nearer and -slop", "-slop"),
    "rounding is not counted as level": (
        "-slop[side.axis] <= nearer < 0",
        "-slop[side.axis] < nearer < 0",
    ),
    "a front side is exactly level": ("limit > 0 and _instant(side, -limit) > enter", "False"),
    "deep is deep enough at the slop": (
        "side.rate == 0 and side.gap >= limit",
        "side.rate == 0 and side.gap > limit",
    ),
    "other axes need no depth": ("limit = -slop[side.axis]", "limit = 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_reference_is_seen(fault):
    right, wrong = FAULTS[fault]
    source = inspect.getsource(reference)
    assert source.count(right) == 1, "the reference has changed: change the fault as well"
    broken = types.ModuleType("tests.exact.broken_reference")
    exec(compile(source.replace(right, wrong), "broken reference", "exec"), vars(broken))

    assert any(
        broken.meet(broken.sides_of(first, second), slop) != seen
        for first, second, slop, seen in pairs()
    )
