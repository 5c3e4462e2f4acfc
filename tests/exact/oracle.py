"""Check the result for a pair of boxes: is it exact for any pair within the slop?

An answer is accepted only with a *witness* in hand: another pair, as near to the
stored one as the tolerance says, of which the exact reference gives this very
answer, with times that are the very floats that were reported.  So nothing
wrong can be accepted, however the witness was come by; the search for it may use any
guess.  If it is not clever enough, it rejects what is right, which shows at once.

How near a witness must be, on each axis:

- No face is moved by more than the stated slop, 2**-44 of the largest face at both ends
  of the paths, and 8 roundings of that face for the arithmetic; 1e-200 where this is
  more.  At the start no box is thinner than nothing.
- Each rate differs by at most the rounding of the three differences it is made of,
  2**-52 of the sum of the displacements and growths; at most 1e-200 where this is more.

Nearly always one witness has all of the answer.  Where boxes graze one another within the
slop, an answer may put together what no single pair has: they share points from `enter` to `exit`,
and yet their insides do not begin to overlap.  Then each statement needs a witness of its own,
as near as that:

- kind, side, corner, depth and time of collision: the *decision*;
- `enter` and `exit`: the *times*;
- for a corner, that another axis than that of the contact is level at `enter`;
- for a touch, that there is no impact and no overlap; that they share a point is in the times.

Numbers are integers: everything is a float, so one power of two makes all of
them whole.  That is exact, and ten times as fast as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from tests.exact.reference import (
    IMPACT,
    INF,
    OVERLAP,
    SEPARATE,
    TOUCH,
    Answer,
    Box,
    Side,
    meet,
    sides_of,
)

LARGEST_FLOAT = Fraction(2**1024 - 2**970)  # from here on a quotient rounds to inf


class Witness(NamedTuple):
    """A pair near the stored one that has the answer, or a part of it.

    Attributes
    ----------
    sides : list of Side
        In whole units, `unit` of which are 1.
    unit : int
    has : str
        "all", "decision" (kind, side, corner, depth, time), "times" (enter, exit), "side"
        (a decision but for the corner), "corner" (that, and enter) or "free" (it does not collide).
    """

    sides: list[Side]
    unit: int
    has: str


def check(first: Sequence, second: Sequence, answer: Answer) -> list[Witness]:
    """Return witnesses of an answer, mostly one; none if it is wrong.

    Parameters
    ----------
    first, second : low, high, move, grow as sequences of float
        The stored faces and what the step changes.
    answer : Answer
        With floats as the library gives them.
    """
    if not _makes_sense(answer):
        return []
    near = Nearby.around(first, second, (answer.enter, answer.exit))
    ways = [["all"], ["decision", "times"]]
    if answer.corner:
        ways.append(["side", "corner", "times"])
    if answer.kind == TOUCH:
        ways.append(["free", "times"])
    for parts in ways:
        found = []
        for part in parts:
            witness = near.witness(answer, part)
            if witness is None:
                break
            found.append(witness)
        else:
            return found
    return []


def _makes_sense(answer):
    """Return whether the fields of an answer fit to each other."""
    has_side = answer.kind in (IMPACT, OVERLAP)
    return (
        not math.isnan(answer.enter)
        and not math.isnan(answer.exit)
        and (answer.sign in (-1, 1) if has_side else (answer.axis, answer.sign) == (-1, 0))
        and (answer.kind == IMPACT or not answer.corner)
        and (answer.depth > 0 if answer.kind == OVERLAP else answer.depth == 0)
        and (answer.kind != TOUCH or (max(answer.enter, 0) <= answer.exit and answer.enter < 1))
    )


def has_time(exact: Fraction | float, reported: float) -> bool:
    """Return whether a reported time is an exact one; beyond all floats it is infinite."""
    if math.isinf(reported):
        return exact >= LARGEST_FLOAT if reported > 0 else exact <= -LARGEST_FLOAT
    return exact == reported


@dataclass(slots=True)
class _Room:
    """Where the gap and the rate of one side of a witness may be, and what must hold at a time."""

    gap_low: int
    gap_high: int
    rate_low: int
    rate_high: int
    time: tuple[int, int] | None = None  # numerator and denominator
    relation: str = "<="  # of the gap at that time to 0

    def level_at(self, rate):
        """Return the gap at the start of a side that is level at the time."""
        whole, part = divmod(-rate * self.time[0], self.time[1])
        return Fraction(-rate * self.time[0], self.time[1]) if part else whole

    def place(self, side, margin, keep):
        """Return a side in this room, near the given one; None if none is found.

        One that must be level at its time cannot be just anywhere: `keep` tells whether its
        "rate" is kept, its "gap", or its gap made least, which makes the boxes "thick".
        """
        if self.gap_low > self.gap_high or self.rate_low > self.rate_high:
            return None
        gap = min(max(side.gap, self.gap_low), self.gap_high)
        kept = min(max(side.rate, self.rate_low), self.rate_high)
        if self.time is None:
            return side._replace(gap=gap, rate=kept)
        rates = [kept, self.rate_low, self.rate_high]
        if self.relation == "=":
            return self._level(side, gap, rates, keep)
        for rate in rates:
            level = self.level_at(rate)
            if self.relation == "<":
                level -= margin if level - margin >= self.gap_low else 1
            if self.gap_low <= level:
                return side._replace(gap=min(gap, level), rate=rate)
        return None

    def _level(self, side, gap, rates, keep):
        """Return a side that is level at the time."""
        if self.time[0] and (keep == "gap" or self.gap_low == self.gap_high):
            rate = Fraction(-gap * self.time[1], self.time[0])
            if self.rate_low <= rate <= self.rate_high:
                return side._replace(gap=gap, rate=rate)
        if keep == "thick":
            rates = sorted(rates, key=self.level_at)
        for rate in rates:
            level = self.level_at(rate)
            if self.gap_low <= level <= self.gap_high:
                return side._replace(gap=level, rate=rate)
        return None


@dataclass
class Nearby:
    """The pairs within the tolerance of a stored pair.

    `contains` and `_has` decide; all else is a search that may fail and cannot deceive.  It
    goes by this: with `enter` and `exit` given, what is asked of a side is that it be level, or
    not above 0, at one known time, which is linear in its gap and its rate.  So each
    side has a room of its own, and only the thickness of the boxes ties two of them together.
    """

    sides: list[Side]
    thickness: list[tuple[int, int]]  # of the first and the second, on each axis
    slop: list[int]  # how far a face may be moved
    rate_slop: list[int]
    unit: int
    grain: int  # rates are multiples of it, so that what they add up to by a time is whole
    reach: int = 1  # how many slops a gap may change: one, or one for each of its faces
    keep: str = "rate"

    @classmethod
    def around(cls, first, second, times=()) -> Nearby:
        """Return what is near two boxes of floats, in units in which all is whole."""
        dim = len(first[0])
        ratios = [x.as_integer_ratio() for row in (*first, *second) for x in row]
        grain = max([t.as_integer_ratio()[1] for t in times if math.isfinite(t)], default=1)
        unit = max(ratio[1] for ratio in ratios) * grain << 60
        whole = [n * (unit // d) for n, d in ratios]
        rows = [whole[i : i + dim] for i in range(0, len(whole), dim)]
        tiny = unit // 10**200
        thickness, slop, rate_slop = [], [], []
        for low1, high1, move1, grow1, low2, high2, move2, grow2 in zip(*rows, strict=True):
            largest = max(
                map(abs, (low1, high1, low2, high2, low1 + move1 - grow1, high1 + move1 + grow1,
                          low2 + move2 - grow2, high2 + move2 + grow2))
            )  # fmt: skip
            thickness.append((high1 - low1, high2 - low2))
            slop.append(max((largest >> 44) + (largest >> 49), tiny))
            rounding = abs(move1) + abs(grow1) + abs(move2) + abs(grow2) >> 52
            rate_slop.append(max(rounding, tiny) // grain * grain)
        sides = sides_of(Box(*rows[:4]), Box(*rows[4:]))
        return cls(sides, thickness, slop, rate_slop, unit, grain)

    def contains(self, sides: Sequence[Side]) -> bool:
        """Return whether a pair is near enough, and one of boxes at all."""
        return all(
            abs(side.rate - stored.rate) <= self.rate_slop[side.axis]
            for side, stored in zip(sides, self.sides, strict=True)
        ) and all(self._is_of_boxes(sides, axis) for axis in range(len(self.slop)))

    def _is_of_boxes(self, sides, axis):
        """Return whether faces moved by no more than the slop have these gaps on an axis.

        One gap is between the max face of the first and the min face of the
        second, the other between the two other faces.  Each face takes a part of
        its gap's change; the parts of the first box's faces make it thinner.
        """
        slop, (thickness1, thickness2) = self.slop[axis], self.thickness[axis]
        least = most = both = 0
        for side in (2 * axis, 2 * axis + 1):
            change = sides[side].gap - self.sides[side].gap
            if abs(change) > 2 * slop:
                return False
            least += max(-slop, change - slop)
            most += min(slop, change + slop)
            both += change
        return max(least, both - thickness2) <= min(most, thickness1)

    def witness(self, answer: Answer, part: str) -> Witness | None:
        """Return a pair that has the answer, or part of it, if one is found."""
        for self.reach, self.keep in product((1, 2), ("rate", "gap", "thick")):
            for directions in self._directions():
                for rooms in self._plans(answer, part, directions):
                    sides = self._settle(rooms)
                    if sides and self.contains(sides) and self._has(sides, answer, part):
                        return Witness(sides, self.unit, part)
        return None

    def _has(self, sides, answer, part):
        """Return whether the exact answer to a pair is this one, or has this part of it."""
        exact = meet(sides)
        if part == "corner":
            level = {s.axis for s in sides if s.rate < 0 and -s.gap == s.rate * exact.enter}
            return has_time(exact.enter, answer.enter) and answer.axis in level and len(level) > 1
        if part in ("all", "times") and not (
            has_time(exact.enter, answer.enter) and has_time(exact.exit, answer.exit)
        ):
            return False
        if part == "free":
            return exact.kind in (SEPARATE, TOUCH)
        return part == "times" or (
            exact.kind == answer.kind
            and (exact.axis, exact.sign) == (answer.axis, answer.sign)
            and (exact.corner == answer.corner or part == "side")
            and exact.depth == Fraction(answer.depth) * self.unit
            and (exact.kind != IMPACT or has_time(exact.enter, answer.enter))
        )

    def _directions(self) -> Iterator[tuple[int, ...]]:
        """Yield which sides close (-1), stay (0), open (1): as stored, then as rounding allows."""
        stored = tuple((side.rate > 0) - (side.rate < 0) for side in self.sides)
        unsure = [abs(side.rate) <= self.rate_slop[side.axis] for side in self.sides]
        known = [stored, tuple(0 if u else d for u, d in zip(unsure, stored, strict=True))]
        yield from dict.fromkeys(known)
        choices = [(-1, 0, 1) if u else (d,) for u, d in zip(unsure, stored, strict=True)]
        yield from (other for other in product(*choices) if other not in known)

    def _settle(self, rooms):
        """Return a side in each room, so that no axis has less than no thickness."""
        sides = [None] * len(rooms)
        for i in sorted(range(len(rooms)), key=lambda i: rooms[i].relation != "="):
            if sides[i ^ 1]:
                rooms[i].gap_high = min(rooms[i].gap_high, math.floor(-sides[i ^ 1].gap))
            margin = max(1, self.slop[i >> 1] >> 20)
            sides[i] = rooms[i].place(self.sides[i], margin, self.keep)
            if sides[i] is None:
                return None
        return sides

    def _rooms(self, directions, enter, exit_):
        """Return where each side may be for these times; None where it cannot."""
        rooms = []
        for side, direction in zip(self.sides, directions, strict=True):
            gap, rate = self.reach * self.slop[side.axis], self.rate_slop[side.axis]
            room = _Room(side.gap - gap, side.gap + gap, side.rate - rate, side.rate + rate)
            if direction == 0:
                room.rate_low = room.rate_high = 0
                room.gap_high = min(room.gap_high, 0)
            elif direction < 0:
                room.rate_high = min(room.rate_high, -self.grain)
                room.time = _ratio(enter)
            else:
                room.rate_low = max(room.rate_low, self.grain)
                room.time = _ratio(exit_)
            rooms.append(room)
        return rooms

    def _broadphase(self, directions, direction, time):
        """Return the sides that may be level at a time, likeliest first; [None] if none need be."""
        ratio = _ratio(time)
        if ratio is None:
            return [None]
        found = []
        for i, side in enumerate(self.sides):
            if directions[i] == direction:
                away = abs(side.gap * ratio[1] + side.rate * ratio[0])
                found.append((away // (self.slop[i >> 1] or 1), i))
        return [i for _, i in sorted(found)[:3]] or [None]

    def _plans(self, answer, part, directions) -> Iterator[list[_Room]]:
        """Yield rooms for the sides in which a witness may be found."""
        enter, exit_ = answer.enter, answer.exit
        n_sides = len(self.sides)

        if (enter, exit_) == (INF, -INF):
            for i in range(n_sides):
                if directions[i] == 0 and self.sides[i].gap + self.slop[i >> 1] > 0:
                    rooms = self._rooms(directions, None, None)
                    for room, side in zip(rooms, self.sides, strict=True):
                        room.gap_high = side.gap + self.slop[side.axis]
                    rooms[i].gap_low = max(rooms[i].gap_low, 1)
                    yield rooms

        for begin, end in self._times(answer, part):
            if answer.kind == IMPACT and part != "times":
                firsts = [2 * answer.axis + (answer.sign > 0)]
                if directions[firsts[0]] >= 0:
                    return
            else:
                firsts = self._broadphase(directions, -1, begin)
            lasts = self._broadphase(directions, 1, end)
            for first, last in product(firsts, lasts):
                for decide in self._decisions(answer, part, directions, first):
                    rooms = self._rooms(directions, begin, end)
                    for i in (first, last):
                        if i is not None:
                            rooms[i].relation = "="
                    decide(rooms)
                    yield rooms

    def _times(self, answer, part):
        """Yield when a witness may begin and cease to share points; None leaves it open."""
        yield answer.enter, answer.exit
        if part in ("decision", "side", "corner") and answer.kind == IMPACT:
            yield answer.enter, None
            yield answer.enter, answer.enter
        elif answer.kind == TOUCH and part in ("decision", "free"):
            instants = {Fraction(t) for t in (answer.enter, answer.exit) if math.isfinite(t)}
            for side in self.sides:
                if side.rate:
                    for gap in (0, -self.slop[side.axis]):
                        instants.add(Fraction(gap - side.gap, side.rate))
            for t in sorted(instants):
                if t >= 0 and (t < 1 or part == "free"):
                    yield t, t
        elif part == "decision":
            yield None, None

    def _decisions(self, answer, part, directions, first):
        """Yield functions that narrow rooms down to the answer's kind and side."""
        n_sides = len(self.sides)
        if part == "times" or answer.kind == SEPARATE:
            yield lambda rooms: None
        elif answer.kind == OVERLAP:
            yield self._overlap(answer, 0)
            yield self._overlap(answer, 1)
        elif answer.kind == TOUCH:
            yield lambda rooms: None
            for i in range(n_sides):
                if directions[i] == 0:
                    yield lambda rooms, i=i: _flush(rooms[i])
        else:
            others = [i for i in range(n_sides) if directions[i] < 0 and i != first]
            has_partner = answer.corner and part != "side"
            partners = [i for i in others if i >> 1 != first >> 1] if has_partner else [None]
            for partner in sorted(partners, key=lambda i: i is not None and self._lag(i, first)):
                for slower in (True, False) if partner is not None else (False,):
                    yield self._impact(first, partner, slower)

    def _lag(self, i, first):
        """Return how much sooner than another a side arrives, or later."""
        mine, other = self.sides[i], self.sides[first]
        if not mine.rate or not other.rate:
            return 0
        return abs(Fraction(mine.gap, mine.rate) - Fraction(other.gap, other.rate))

    def _overlap(self, answer, deeper):
        """Let the contact be as deep as was said, and the others as deep or deeper."""
        depth = int(Fraction(answer.depth) * self.unit)
        contact = 2 * answer.axis + (answer.sign > 0)

        def decide(rooms):
            for i, room in enumerate(rooms):
                if i == contact:
                    room.gap_low = max(room.gap_low, -depth)
                    room.gap_high = min(room.gap_high, -depth)
                else:
                    room.gap_high = min(room.gap_high, -depth - deeper)

        return decide

    def _impact(self, first, partner, slower):
        """Let no side but the contact and its partner at a corner be level at the meeting.

        A faster partner would be the contact itself, unless the boxes part at once there.
        """

        def decide(rooms):
            for i, room in enumerate(rooms):
                if room.rate_low == room.rate_high == 0:
                    room.gap_high = min(room.gap_high, -1)
                if i == first or room.rate_high >= 0:
                    continue
                if i == partner:
                    room.relation = "="
                    contact = rooms[first].place(self.sides[first], 1, self.keep)
                    if slower and contact:
                        room.rate_low = max(room.rate_low, contact.rate + (i < first) * self.grain)
                elif room.time is not None:
                    room.relation = "<"

        return decide


def _flush(room):
    """Let a side be level from the start."""
    room.gap_low, room.gap_high = max(room.gap_low, 0), min(room.gap_high, 0)


def _ratio(time):
    """Return a time as numerator and denominator; None where it is open or beyond all floats."""
    return None if time is None or time in (INF, -INF) else time.as_integer_ratio()
