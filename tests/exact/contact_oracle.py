"""Find from the paths of an exact step which solid contacts begin and end in it, and when.

Like `step_judge`, it cuts time at every instant at which a body turns or a face passes a
face, and looks once between two cuts: two boxes are in contact there if they share a
point.  What rests at a corner is in no contact after a step, and keeps the contact that
it has within one: nothing is said of pairs that do.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from tests.exact.simulator import CROSSED, Simulator
from tests.exact.step_oracle import Path, cuts, touching

BEGAN, ENDED = 0, 1
Pair = tuple[int, int]
Contacts = dict[Pair, tuple[list[tuple[Fraction, int]], bool]]


def is_at_corner(one: tuple, other: tuple) -> bool:
    """Return whether two boxes that touch do so only at a corner."""
    n = len(one) // 2
    return sum(one[k] == other[n + k] or other[k] == one[n + k] for k in range(n)) > 1


def solid_contacts(exact: Simulator, known: set[Pair]) -> Contacts:
    """Return of each solid pair its events (time, BEGAN or ENDED), and whether it ends in contact.

    `exact` is a finished step that was watched, `known` are the pairs in contact at its start.
    A pair that comes into contact without an impact begins at 1, if it still is in contact then.
    """
    paths = {i: Path(exact, i) for i in exact.bodies}
    found: Contacts = {}
    for pair in exact.pairs():
        if exact.crosses(pair):
            continue
        one, other = (paths[i] for i in pair)
        hits = {
            e.time for e in exact.events if (e.first, e.second) == pair and e.outcome != CROSSED
        }
        events = []
        is_open, rests_at_corner = pair in known, False
        for start, end in pairwise(cuts(one, other)):
            if start in hits and not is_open:
                events.append((start, BEGAN))
                is_open = True
            middle = (start + end) / 2
            lies = touching(one.at(middle), other.at(middle))
            rests_at_corner |= lies and is_at_corner(one.at(middle), other.at(middle))
            if is_open and not lies:
                events.append((start, ENDED))
                is_open = False
        boxes = one.at(Fraction(1)), other.at(Fraction(1))
        lies = touching(*boxes) and not is_at_corner(*boxes)
        if lies != is_open:
            events.append((Fraction(1), BEGAN if lies else ENDED))
        if not rests_at_corner:
            found[pair] = events, lies
    return found
