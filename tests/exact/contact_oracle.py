"""Find from the paths of an exact step which contacts begin and end in it, and when.

Like `step_judge`, it cuts time at every instant at which a body turns or a face passes a
face, and looks once between two cuts: two solid boxes are in contact there if they share a
point, and two that cross if their insides overlap.  What is solid and rests at a corner is in no
contact after a step, and keeps the contact that it has within one: nothing is said of pairs that
do.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

import ecs_collide as ec
from tests.exact.simulator import CROSSED, Simulator
from tests.exact.step_oracle import Path, cuts, inside, touching

BEGAN, ENDED = 0, 1
SEPARATED = ec.END_REASONS.index(ec.EndReason.SEPARATED)
Pair = tuple[int, int]
Contacts = dict[Pair, tuple[list[tuple[Fraction, int]], bool]]


def is_at_corner(one: tuple, other: tuple) -> bool:
    """Return whether two boxes that touch do so only at a corner."""
    n = len(one) // 2
    return sum(one[k] == other[n + k] or other[k] == one[n + k] for k in range(n)) > 1


def solid_contacts(exact: Simulator, known: set[Pair]) -> Contacts:
    """Return of each solid pair its events (time, BEGAN or ENDED), and whether it ends in contact.

    `exact` is a finished step, `known` are the pairs in contact at its start.
    A pair that comes into contact without an impact begins at 1, if it still is in contact then.
    """
    paths = {i: Path.of(exact, i) for i in exact.bodies}
    found: Contacts = {}
    for pair in exact.pairs():
        if exact.crosses(pair):
            continue
        one, other = (paths[i] for i in pair)
        if pair not in known and not touching(one.span, other.span):
            found[pair] = [], False
            continue
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
            boxes = one.at(middle), other.at(middle)
            lies = touching(*boxes)
            rests_at_corner |= lies and is_at_corner(*boxes)
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


def crossing_contacts(exact: Simulator, known: set[Pair]) -> Contacts:
    """Return the same of each pair that crosses."""
    paths = {i: Path.of(exact, i) for i in exact.bodies}
    found: Contacts = {}
    for pair in filter(exact.crosses, exact.pairs()):
        one, other = (paths[i] for i in pair)
        events, is_open = [], pair in known
        if not is_open and not touching(one.span, other.span):
            found[pair] = [], False
            continue
        for start, end in pairwise(cuts(one, other)):
            middle = (start + end) / 2
            if inside(one.at(middle), other.at(middle)) != is_open:
                events.append((start, ENDED if is_open else BEGAN))
                is_open = not is_open
        if is_open and not inside(one.at(Fraction(1)), other.at(Fraction(1))):
            events.append((Fraction(1), ENDED))
            is_open = False
        found[pair] = events, is_open
    return found


def pairs_in_contact(space: ec.Space) -> set[Pair]:
    """Return the pairs that are in contact now."""
    return {(contact.first, contact.second) for contact in space.contacts()}


def compare_contacts(exact: Simulator, space: ec.Space, known: set[Pair]) -> tuple[int, int]:
    """Compare the contacts of a finished step; return how many bounces and ends it had.

    `known` are the pairs in contact before it.  Ends that a change by the game has caused are left
    out.
    """
    array = space.contact_array
    changed = array[array["reason"] > SEPARATED]
    known = known - set(zip(changed["first"].tolist(), changed["second"].tolist(), strict=True))
    told: dict[Pair, list[tuple[float, int]]] = {}
    for row in array[array["reason"] <= SEPARATED]:
        pair = (row["first"].item(), row["second"].item())
        told.setdefault(pair, []).append((row["time"].item(), row["event"].item()))
    remaining = pairs_in_contact(space)
    n_bounces = n_ends = 0
    wanted = solid_contacts(exact, known) | crossing_contacts(exact, known)
    for pair, (events, lies) in wanted.items():
        found = told.get(pair, [])
        assert [event for _, event in found] == [event for _, event in events], pair
        assert [time for time, _ in found] == pytest.approx(
            [float(time) for time, _ in events], abs=1e-12
        ), pair
        assert (pair in remaining) == lies, pair
        begins = {time for time, event in events if event == BEGAN}
        ends = {time for time, event in events if event == ENDED}
        n_bounces += len(begins & ends)
        n_ends += len(ends)
    return n_bounces, n_ends
