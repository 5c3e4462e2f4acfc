"""One step of a handful of boxes in exact fractions: what the library ought to do.

Written from the rules (`docs/design.md`, "The timeline"), not from the kernels:
all pairs instead of a tree, a search for the least key instead of a heap, and
neither slop nor rounding.  What meets at one instant meets at exactly that
instant.  `tests/exact/test_simulator.py` tests it by an oracle that shares no
code with it, and by faults put into this very file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import NamedTuple

from tests.exact.damping import Kicks
from tests.exact.drifts import Drifts, are_soft
from tests.exact.friction import Friction, Rubbing, passed_on
from tests.exact.plastic import Press, project
from tests.exact.riders import Carry, Contact, Riders
from tests.exact.roots import root

RESIZING_LIMIT = 4  # as the next one, if one of the bodies resizes
INSTANT_LIMIT = (
    1  # full resolutions of a pair in one instant; after it only what closes it is taken
)
REPEAT_LIMIT = 32  # resolutions of a resizing pair in one instant, after which it is crushed
ROUNDED_ROOT = Fraction(1, 2**100)  # of an energy: what a root that is none may be off by
MARGIN = 1e-6  # of a coordinate: how far apart two paths are when floats may rule a pair out

RESOLVED, STOPPED_ALREADY, CROSSED, CRUSHED = "resolved", "stopped already", "crossed", "crushed"


@dataclass
class Body:
    """A box at the start of a step.

    Attributes
    ----------
    low, high : faces
    velocity, growth : per second; growth of the half sizes
    mass : None for a body that is not dynamic
    response : "deflect", "slide", "push", "stop" or None
    level : its dominance
    locked : the axes on which it never moves
    surface, rule : its Restitution, and the name of the rule for two
    friction, friction_rule : the same of its Friction
    max_speed : the most that its velocity may come to at both ends of a step
    solid_side : axis and sign of the only face on which a dynamic body meets it, or None for all
    kinds, meets, group : its Filter: categories, mask and group
    carry : the face that carries, and how fast that runs
    push_out, separate : the most at which it is moved out of others, and out of a soft crowd
    damping : its Damping, 0 without
    moves : whether it has a Velocity or a Growth at all
    was_rounded : whether the faces are not exactly around the centre they were computed from
    """

    ident: int
    low: list[Fraction]
    high: list[Fraction]
    velocity: list[Fraction]
    growth: list[Fraction] = field(default_factory=lambda: [Fraction(0)] * 3)
    mass: Fraction | None = None
    restitution: Fraction = Fraction(0)
    response: str | None = None
    sensor: bool = False
    moves: bool = True
    was_rounded: bool = False
    level: int = 0
    locked: frozenset[int] = frozenset()
    surface: Fraction | None = None
    rule: str | None = None
    max_speed: Fraction | None = None
    solid_side: tuple[int, int] | None = None
    kinds: int = 1
    meets: int = -1
    group: int = 0
    friction: Fraction | None = None
    friction_rule: str | None = None
    carry: Carry | None = None
    push_out: Fraction | float | None = None
    separate: Fraction | float | None = None
    damping: Fraction = Fraction(0)

    @property
    def is_dynamic(self) -> bool:
        return self.response is not None and self.mass is not None

    @property
    def place(self) -> tuple:
        """What orders bodies in space: the centre, the size, and the number."""
        ends = list(zip(self.low, self.high, strict=True))
        return [low + high for low, high in ends], [high - low for low, high in ends], self.ident

    def restrained(self, velocity: list[Fraction]) -> list[Fraction]:
        """Return a velocity without what is locked, and no longer than the maximum."""
        free = [Fraction(0) if k in self.locked else v for k, v in enumerate(velocity)]
        square = sum(v * v for v in free)
        if self.max_speed is None or square <= self.max_speed**2:
            return free
        return [v * self.max_speed / root(square) for v in free]


class Side(NamedTuple):
    """One of the sides of a pair: the gap now, and its rate for a whole step."""

    axis: int
    sign: int  # of the normal
    gap: Fraction
    rate: Fraction

    @property
    def zero(self) -> Fraction:
        """How long from now until the gap is zero."""
        return -self.gap / self.rate


# What is queued: of one instant the lowest come first.
FACE, CORNER, CROSSING = range(3)


@dataclass
class Impact:
    """The next impact of a pair."""

    time: Fraction
    corner: bool
    axis: int
    sign: int
    overlaps: bool
    rate: Fraction  # how fast the contact side closes, for a whole step
    is_stale: bool = False  # a velocity has changed at the instant for which it is due


class Event(NamedTuple):
    """What is reported of an impact."""

    time: Fraction
    first: int
    second: int
    axis: int
    sign: int
    corner: bool
    overlaps: bool
    outcome: str
    contact: tuple[tuple[Fraction, Fraction], ...] = ()  # on each axis: what the two share
    impulse: Fraction = Fraction(0)

    @property
    def width(self) -> Fraction:
        """The width of the faces that meet, in 3D the area."""
        sides = [high - low for k, (low, high) in enumerate(self.contact) if k != self.axis]
        return prod(sides, start=Fraction(1))


RULES = {
    "average": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: root(a) * root(b),  # each is rounded
    "min": min,
    "multiply": lambda a, b: a * b,
    "max": max,
}


def may_meet(one: Body, other: Body) -> bool:
    """Return whether their filters let two bodies meet."""
    if one.group and one.group == other.group:
        return one.group > 0
    return bool(one.meets & other.kinds and other.meets & one.kinds)


def combined(values: list[Fraction | None], rules: list[str | None], default: str) -> Fraction:
    """Return what the numbers of two surfaces make, by the higher one of the rules given."""
    found = [value for value in values if value is not None]
    given = [rule for rule in rules if rule is not None]
    rule = RULES[max(given, key=[*RULES].index, default=default)]
    return rule(*found) if len(found) == 2 else max(found, default=Fraction(0))


@dataclass
class Turning:
    """A contact of this instant that turns a body along the surface.

    Attributes
    ----------
    rows : its bodies, in the order of space; the normal of the side points to the first
    rules : the responses of those that it turns
    walls : those whom the impact may not change, not even along the surface
    """

    rows: list[int]
    axis: int
    sign: int
    rules: dict[int, str | None]
    walls: list[int]

    def side_of(self, n: int) -> int:
        """Return on which side of a body the other one is."""
        return -self.sign if n == self.rows[0] else self.sign


class Link(NamedTuple):
    """A contact by which groups have merged in this instant, and the body that holds, or None."""

    press: Press
    anchor: int | None


class Cluster:
    """Dynamic bodies that move as one on an axis, and the static or kinematic one that holds them.

    Attributes
    ----------
    merged_before : whether a member has joined in an earlier instant, so that what it joins lasts
    momentum : of a group that lasts to the end of the step: what its members share
    shift : by how much members are faster than the group; those not in it by nothing
    resizes : whether faces that grow or shrink have met in it
    is_broken : whether a body has left it in this instant
    """

    def __init__(self, members: set[int]) -> None:
        self.members = members
        self.anchor: int | None = None
        self.merged_before = False
        self.momentum: Fraction | None = None
        self.shift: dict[int, Fraction] = {}
        self.resizes = False
        self.is_broken = False

    def shift_of(self, i: int) -> Fraction:
        """Return by how much a member is faster than the group."""
        return self.shift.get(i, Fraction(0))

    @property
    def lasts(self) -> bool:
        return self.momentum is not None


class Simulator:
    """A step of `dt` seconds.

    Attributes
    ----------
    leaning : the pairs of dynamic bodies that touch since the last step, and met in it
    drifts : what leads bodies out of others; it is part of their paths, not of their velocities
    kicks : what damping adds to velocities at the end of the step
    riders : who stands on a `Carry`, by `standing`, the contacts as the step begins
    standing_after : those at its end
    carried : what the carrier of each rider added to its velocity in the last step: who has lost it
        since keeps that
    new : bodies that come into the world: they ride on what they touch
    now : the part of the step that has passed
    queue : the next impact of each pair, under (lower id, higher id)
    entered : for each axis, the bodies that came into a group in this instant
    parted : for each axis, the bodies whose group has ended in this instant
    merged_before : for each axis, the bodies that have joined in an earlier instant
    changed : the bodies whose velocity has changed since all their pairs were looked at
    turned_now : which of them have turned along which axis, and were not looked at there since
    leaves : of each crossing pair that was inside each other, when it leaves on its paths
    saved : of each body that is held to the end of the step, the velocity that it has again then
    held_at : when each of them was
    yielding : who yields in the resolution under way
    calm : who rebounds no more in an instant, as (body, number of the instant)
    joining : who joins groups in it: also who outweighs the other
    impulse : what the normal part of it has passed from one to the other
    turning : the contacts of this instant that have not turned their bodies yet
    turned_in : the last instant in which a pair was one of them
    unturned : for each (body, axis) that was pushed since the body has turned, its velocity before
    pressed : each (body, axis) that an impact of this instant has changed
    rebounded : those of them that a restitution has turned
    driven : those bodies that were in groups before
    met : who has met each other in this instant, since they have turned
    rubbing : the contacts of this instant, and how many of them have rubbed
    rubbed_in : the last instant in which a pair was one of them
    unpressed : for each (body, axis) that was pressed, its velocity from which the press counts
    press : what has pressed each of these before that
    paths : for each body where it turned: (time, low faces, high faces)
    states : for each event the velocities of all bodies before and after it
    turns : each time bodies turn along surfaces: after how many events, the same velocities, and
        the same as `finals`
    finals : for each event what they come to at the end, and which bodies are in groups that
        last, as (body, axis): before it and after it
    """

    def __init__(
        self,
        bodies: Iterable[Body],
        dt: Fraction,
        *,
        pair_limit: int = 64,
        leaning: Collection[tuple[int, int]] = (),
        standing: Collection[Contact] = (),
        standing_after: Collection[Contact] = (),
        carried: Mapping[int, list[Fraction]] | None = None,
        new: Collection[int] = (),
        try_all_pairs: bool = False,
        watch: bool = False,
    ) -> None:
        self.bodies = {body.ident: body for body in sorted(bodies, key=lambda body: body.ident)}
        self.dim = len(next(iter(self.bodies.values())).low)
        self.dt = dt
        self.leaning = {p for p in leaning if all(self.bodies[n].is_dynamic for n in p)}
        self.pair_limit = pair_limit
        self.try_all_pairs = try_all_pairs
        self.watch = watch

        self.now = Fraction(0)
        self.n_instants = 0
        self.since = dict.fromkeys(self.bodies, self.now)
        self.low = {i: list(body.low) for i, body in self.bodies.items()}
        self.high = {i: list(body.high) for i, body in self.bodies.items()}
        self.places = {i: body.place for i, body in self.bodies.items()}
        self.velocity = {i: body.restrained(body.velocity) for i, body in self.bodies.items()}
        self.growth = {i: self._growth_of(body) for i, body in self.bodies.items()}
        self.drifts = Drifts(self)
        self.riders = Riders(self, standing, new)
        for i in (carried or {}).keys() - self.riders.rides.keys() & self.bodies.keys():
            moved = [a + b for a, b in zip(self.velocity[i], carried[i], strict=True)]
            self.velocity[i] = self.bodies[i].restrained(moved)
        self.kicks = Kicks(self)
        self.kicks.start()
        self.riders.follow_paths()
        self.drifts.find()
        self.standing_after = standing_after
        self.span: dict[int, list[tuple[float, float]]] = {}
        self.queue: dict[tuple[int, int], Impact] = {}
        self.clusters: list[dict[int, Cluster]] = [{} for _ in range(self.dim)]
        self.entered: list[set[int]] = [set() for _ in range(self.dim)]
        self.parted: list[set[int]] = [set() for _ in range(self.dim)]
        self.entry: list[dict[int, Fraction]] = [{} for _ in range(self.dim)]
        self.links: list[list[Link]] = [[] for _ in range(self.dim)]
        self.unsettled: list[list[Link]] = [[] for _ in range(self.dim)]
        self.merged_before: list[set[int]] = [set() for _ in range(self.dim)]
        self.leaves: dict[tuple[int, int], Fraction] = {}
        self.saved: dict[int, list[Fraction]] = {}
        self.held_at: dict[int, Fraction] = {}
        self.yielding: set[int] = set()
        self.joining: set[int] = set()
        self.impulse = Fraction(0)
        self.kicks_before: dict[int, Fraction] = {}  # of the two bodies that are resolved now
        self.parting = Fraction(0)  # how fast damping parts that pair
        self.resolutions: dict[tuple[int, int], int] = {}
        self.repeats: dict[tuple[int, int], tuple[int, int]] = {}
        self.blocked: dict[int, Fraction] = {}  # velocities at which those that block stop
        self.calm: set[tuple[int, int]] = set()
        self.crushed: set[tuple[int, int]] = set()
        self.lost: set[frozenset[int | None]] = set()
        self.changed: set[int] = set()
        self.turned_now: set[tuple[int, int]] = set()
        self.turning: list[Turning] = []
        self.turned_in: dict[tuple[int, int], int] = {}
        self.pressed: set[tuple[int, int]] = set()
        self.unturned: dict[tuple[int, int], Fraction] = {}
        self.rebounded: set[tuple[int, int]] = set()
        self.driven: set[int] = set()
        self.met: list[set[int]] = []
        self.rubbing: list[Rubbing] = []
        self.rubbed_in: dict[tuple[int, int], int] = {}
        self.n_rubbed = 0
        self.unpressed: dict[tuple[int, int], Fraction] = {}
        self.press: dict[tuple[int, int], Fraction] = {}
        self.events: list[Event] = []
        self.bounced: dict[tuple[int, int], Fraction] = {}  # what bounces with others pass on
        self.n_shared = 0  # of how many of them the impulses are shared
        self.paths = {i: [(self.now, *self.faces(i))] for i in self.bodies}
        self.states: list[tuple[dict, dict]] = []
        self.turns: list[tuple[int, dict, dict, tuple, tuple]] = []
        self.finals: list[tuple[dict, set, dict, set]] = []
        for i in self.bodies:
            self._find_span(i)
        for pair in self.pairs():
            self.look(pair)

    def _growth_of(self, body: Body) -> list[Fraction]:
        """Return the growth of a body; what would make it less than nothing makes it nothing."""
        growth = []
        for low, high, grow in zip(body.low, body.high, body.growth, strict=False):
            half = (high - low) / 2
            growth.append(-half / self.dt if half + grow * self.dt < 0 else grow)
        return growth

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Yield all pairs of which at least one moves, the lower id first."""
        for i, one in self.bodies.items():
            for j, other in self.bodies.items():
                if i >= j or not (one.moves or other.moves) or are_soft(one, other):
                    continue
                if self.may_meet(i, j):
                    yield i, j

    def may_meet(self, i: int, j: int) -> bool:
        """Return whether their filters let two bodies meet."""
        return may_meet(self.bodies[i], self.bodies[j])

    def course(self, i: int, k: int) -> Fraction:
        """Return the velocity of the path of a body: its own, and what leads it out of others."""
        drift = self.drifts.of[i][k]
        return self.velocity[i][k] + drift if drift else self.velocity[i][k]

    def crosses(self, pair: tuple[int, int]) -> bool:
        """Return whether the two go through each other."""
        one, other = (self.bodies[i] for i in pair)
        return one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic)

    # -- where bodies are --

    def faces(self, i: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return the low and high faces of a body now."""
        low, high = list(self.low[i]), list(self.high[i])
        way = (self.now - self.since[i]) * self.dt
        for k in range(self.dim if way else 0):
            velocity, growth = self.course(i, k), self.growth[i][k]
            if growth:
                low[k] += (velocity - growth) * way
                high[k] += (velocity + growth) * way
            elif velocity:
                moved = velocity * way
                low[k] += moved
                high[k] += moved
        return low, high

    def _find_span(self, i: int) -> None:
        """Find what a body's remaining path spans, in floats and with room to spare."""
        rest = float((1 - self.since[i]) * self.dt)
        self.span[i] = []
        for k in range(self.dim):
            low, high = float(self.low[i][k]), float(self.high[i][k])
            velocity, growth = float(self.course(i, k)), float(self.growth[i][k])
            least = min(low, low + (velocity - growth) * rest)
            most = max(high, high + (velocity + growth) * rest)
            room = MARGIN * (1 + abs(least) + abs(most))
            self.span[i].append((least - room, most + room))

    def _are_far(self, pair: tuple[int, int]) -> bool:
        """Return whether two paths are so far apart that floats are enough to see it."""
        return not self.try_all_pairs and any(
            one[1] < other[0] or other[1] < one[0]
            for one, other in zip(self.span[pair[0]], self.span[pair[1]], strict=True)
        )

    # -- when two meet --

    def sides(self, pair: tuple[int, int]) -> list[Side]:
        """Return the sides of a pair, two for each axis, minus first."""
        i, j = pair
        low1, high1 = self.faces(i)
        low2, high2 = self.faces(j)
        found = []
        for k in range(self.dim):
            v1, w1 = self.course(i, k), self.growth[i][k]
            v2, w2 = self.course(j, k), self.growth[j][k]
            rate = ((v2 - w2) - (v1 + w1)) * self.dt
            found.append(Side(k, -1, low2[k] - high1[k], rate))
            rate = ((v1 - w1) - (v2 + w2)) * self.dt
            found.append(Side(k, 1, low1[k] - high2[k], rate))
        return found

    def sweep(self, pair: tuple[int, int]) -> Impact | None:
        """Return the next impact of a pair from now on, be it after the step's end."""
        return self.meeting(pair, self.sides(pair))

    def meeting(self, pair: tuple[int, int], sides: list[Side]) -> Impact | None:
        """Return the impact of which a pair's sides tell."""
        impact = self._first_meeting(sides)
        if impact is not None and impact.overlaps:
            out = impact.axis, self._sign_out(pair, impact)
            (side,) = (side for side in sides if (side.axis, side.sign) == out)
            if side.rate >= 0:
                return None
            impact = replace(impact, sign=side.sign, rate=-side.rate)
        solid = [] if self.crosses(pair) else self._solid_sides(pair)
        if impact is None or not solid:
            return impact
        # Over a corner it lands: the solid side is the contact if it closes at the same time.
        after = impact.time - self.now
        found = {(s.axis, s.sign): s for s in sides if s.rate < 0 and s.gap >= 0}
        landed = [found[side] for side in solid if side in found and found[side].zero == after]
        if len(landed) < len(solid) or len(set(landed)) > 1:
            return None
        contact = landed[0]
        return replace(impact, axis=contact.axis, sign=contact.sign, rate=-contact.rate)

    def _sign_out(self, pair: tuple[int, int], impact: Impact) -> int:
        """Return the sign of an overlap: of two equal ones that to which a body is pushed out."""
        for n, sign in zip(pair, (1, -1), strict=True):
            axis, way = self.drifts.sides.get(n, (None, 0))
            if axis == impact.axis and self.drifts.holds_back(n, sum(pair) - n):
                return sign * way
        return impact.sign

    def _solid_sides(self, pair: tuple[int, int]) -> list[tuple[int, int]]:
        """Return axis and sign of the normals that one-way bodies allow for their impact."""
        found = []
        for n, other, sign in ((0, 1, -1), (1, 0, 1)):
            side = self.bodies[pair[n]].solid_side
            if side is not None and self.bodies[pair[other]].is_dynamic:
                found.append((side[0], sign * side[1]))
        return found

    def _first_meeting(self, sides: list[Side]) -> Impact | None:
        """Return the impact of boxes that are solid on all sides."""
        if all(side.gap < 0 for side in sides):
            side = max(sides, key=lambda s: (s.gap, -s.rate))
            leaves = any(other.gap == side.gap and other.rate > 0 for other in sides)
            if side.rate >= 0 or leaves:
                return None
            return Impact(self.now, False, side.axis, side.sign, True, -side.rate)
        if any(side.rate == 0 and side.gap >= 0 for side in sides):
            return None
        closing = [side for side in sides if side.rate < 0]
        if not closing:
            return None
        enter = max(side.zero for side in closing)
        if enter < 0:
            return None
        front = [side for side in closing if side.zero == enter]
        contacts = [side for side in front if self._opens(side, sides, enter)]
        if not contacts:
            return None
        contact = min(contacts, key=lambda s: s.rate)  # of equals the first: lowest axis, minus
        corner = any(side.axis != contact.axis for side in front)
        return Impact(self.now + enter, corner, contact.axis, contact.sign, False, -contact.rate)

    def _opens(self, contact: Side, sides: list[Side], enter: Fraction) -> bool:
        """Return whether the insides overlap soon after `enter`."""
        for side in sides:
            if side.rate <= 0 or side.zero > enter:
                continue
            through = side.axis == contact.axis and side.zero == enter and contact.gap > 0
            if not through:  # a point is through a plate at the same instant
                return False
        return True

    def look(self, pair: tuple[int, int]) -> None:
        """Queue the next impact of a pair, if it has one in this step."""
        self.queue.pop(pair, None)
        if pair in self.crushed or self._are_far(pair):
            return
        impact = self.sweep(pair)
        if self.crosses(pair) and self._stays_inside(pair, impact):
            return
        if impact is not None and self.is_in_step(pair, impact):
            self.queue[pair] = impact

    def _stays_inside(self, pair: tuple[int, int], impact: Impact | None) -> bool:
        """Return whether a crossing pair is inside each other, or turns back at the very edge."""
        is_inside = all(side.gap < 0 for side in self.sides(pair))
        turns_back = impact is not None and impact.time == self.now <= self.leaves.get(pair, -1)
        if is_inside or turns_back:
            self._note_inside(pair)
        return is_inside or turns_back

    def _note_inside(self, pair: tuple[int, int]) -> None:
        """Note when a pair that is inside each other leaves, on its present paths."""
        opening = [side for side in self.sides(pair) if side.rate > 0 and side.gap < 0]
        self.leaves[pair] = self.now + min((side.zero for side in opening), default=Fraction(1))

    def is_in_step(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Return whether an impact belongs to this step."""
        return impact.time < 1

    # -- the step --

    def run(self) -> list[Event]:
        """Take all impacts in their order; return what is reported."""
        while (pair := self.next_pair()) is not None:
            self.take(pair)
        self.finish()
        return self.events

    def next_pair(self) -> tuple[int, int] | None:
        """Return the pair whose turn it is, once nothing more can become due before it."""
        while True:
            pair = min(self.queue, key=self.key) if self.queue else None
            is_due = pair is not None and self.queue[pair].time == self.now
            if (is_due and self.rank(pair) == FACE) or not self.look_again():
                return pair

    def finish(self) -> None:
        """Go to the end of the step; who was held has its own velocity again.

        What is in a group that lasts gets the velocity that its members share.
        """
        self.share_impulses()
        self._share_kicks()
        self.bounced.clear()
        self.now = Fraction(1)
        own = self.riders.finish(self.standing_after)
        for i in self.bodies:
            velocity = self.saved.get(i) or [self.final(i, k) for k in range(self.dim)]
            velocity = [a + b for a, b in zip(own.get(i, velocity), self.kicks.of[i], strict=True)]
            velocity = self.bodies[i].restrained(velocity)
            if velocity != self.velocity[i]:
                self.low[i], self.high[i] = self.faces(i)
                self.since[i] = self.now
                self.velocity[i] = velocity
            self.kicks.end(i)

    def key(self, pair: tuple[int, int]) -> tuple:
        """Return what decides whose turn it is."""
        impact = self.queue[pair]
        return impact.time, self.rank(pair), *self.place_of(pair, impact.axis, impact.sign)

    def place_of(self, pair: tuple[int, int], axis: int, sign: int) -> tuple:
        """Return what orders impacts: walls, ranks, storeys of riders, then body, side, partner."""
        one, other = sorted(pair, key=lambda i: (not self.bodies[i].is_dynamic, self.places[i]))
        if self.crosses(pair):
            return 0, self.places[one], 0, self.places[other]
        side = 8 * axis + (-sign if one == pair[0] else sign)
        kind = 0 if len({self._yields(n, axis) for n in pair}) == 2 else 2
        if kind and self.bodies[one].level != self.bodies[other].level:
            kind = 1
        if kind == 2:
            kind += max(self.riders.storey.get(n, 0) for n in pair)
        return kind, self.places[one], side, self.places[other]

    def rank(self, pair: tuple[int, int]) -> int:
        """Return what a queued impact is: of those of one instant the lowest come first."""
        if self.crosses(pair):
            return CROSSING
        return CORNER if self.queue[pair].corner else FACE

    def take(self, pair: tuple[int, int]) -> None:
        """Take the impact of a pair, whose turn it is, or one that comes first on its side."""
        if self.queue[pair].time > self.now:
            self.advance(self.queue[pair].time)
        pair = self._first_of_side(pair)
        impact = self.queue.pop(pair)
        if self.crosses(pair):
            self._take_crossing(pair, impact)
            return
        if impact.is_stale:
            again = self.sweep(pair)
            if again is None or again.time > self.now:
                if not impact.corner:
                    self.report(pair, impact, STOPPED_ALREADY)
                    self._add_impulse(len(self.events) - 1, self.join_late(pair, impact))
                    self.rub_beside(pair, impact)
                self.look(pair)
                return
            if again.corner and not impact.corner:
                self.queue[pair] = again
                return
            impact = again
        if self.hold_at_limit(pair, impact):
            again = self.sweep(pair)
            if again is None or again.time > self.now:
                return
            impact = again
        before, finals = self._copy_velocities(), self._copy_finals()
        outcome = self.resolve(pair, impact)
        if outcome == CRUSHED:
            self._let_go_as_driven(pair, impact.axis)
        self.report(pair, impact, outcome)
        if self.watch:
            self.states.append((before, self._copy_velocities()))
            self.finals.append((*finals, *self._copy_finals()))

    def _let_go_as_driven(self, pair: tuple[int, int], k: int) -> None:
        """Let the held bodies of the groups of a pair leave the step as what drives them moves."""
        for cluster in [self.clusters[k][n] for n in pair if n in self.clusters[k]]:
            for n in cluster.members & self.saved.keys():
                self.saved[n][k] = self.velocity[n][k]

    def _take_crossing(self, pair: tuple[int, int], impact: Impact) -> None:
        again = self.sweep(pair)
        if again is not None and again.time == self.now:
            self.report(pair, impact, CROSSED)
            self._note_inside(pair)
        else:
            self.look(pair)

    def advance(self, time: Fraction) -> None:
        """Go on to a later instant: groups end, but for those that last."""
        self.share_impulses()
        self.riders.settle_all()
        self._share_kicks()
        for k, clusters in enumerate(self.clusters):
            for i in self.entered[k]:
                if i in clusters and clusters[i].anchor is None:
                    self.merged_before[k].add(i)
            self.entered[k].clear()
            self.merged_before[k] |= self.parted[k]
            self.parted[k].clear()
            for i, cluster in list(clusters.items()):
                if not cluster.lasts:
                    del clusters[i]
            self.links[k].clear()
            self.unsettled[k].clear()
        self.lost.clear()
        self._forget_turns()
        self.rubbing.clear()
        self.n_rubbed = 0
        self.unpressed.clear()
        self.press.clear()
        self.riders.met.clear()
        self.riders.others.clear()
        self.now = time
        self.n_instants += 1
        self.riders.note_partings()

    def _share_kicks(self, *, ends: bool = True) -> None:
        """Give the members of a group the mean of their kicks by mass.

        A wall takes them when the instant `ends`.
        """
        for k, clusters in enumerate(self.clusters):
            for cluster in {id(cluster): cluster for cluster in clusters.values()}.values():
                if cluster.anchor is not None and not ends:
                    continue
                kicks = {n: self.kicks.of[n][k] for n in cluster.members}
                rank = self.rank_of(cluster)
                masses = {n: self.bodies[n].mass for n in kicks if self.bodies[n].level == rank}
                mean = sum(kicks[n] * mass for n, mass in masses.items()) / sum(masses.values())
                if cluster.anchor is not None:
                    mean = Fraction(0)
                for n in cluster.members if len({*kicks.values(), mean}) > 1 else ():
                    self.kicks.share(n, k, mean)

    def wall_face(self, pair: tuple[int, int], axis: int, sign: int) -> tuple[int, int] | None:
        """Return the body of a pair that meets a wall and its face, by the normal; else None."""
        movers = [n for n in pair if self._yields(n, axis)]
        if len(movers) != 1:
            return None
        return movers[0], (axis + 1) * (sign if movers[0] == pair[0] else -sign)

    def share_impulses(self) -> None:
        """Divide what one wall has got among all that a body meets with it, by their widths."""
        met: dict[tuple[int, int], list[int]] = {}
        for n in range(self.n_shared, len(self.events)):
            event = self.events[n]
            face = self.wall_face((event.first, event.second), event.axis, event.sign)
            if face and not event.overlaps and event.outcome in (RESOLVED, STOPPED_ALREADY):
                met.setdefault(face, []).append(n)
        self.n_shared = len(self.events)
        for numbers in met.values():
            stopped = [n for n in numbers if self.events[n].outcome == STOPPED_ALREADY]
            for n in [n for n in numbers if n not in stopped]:
                impulse = self.events[n].impulse
                widths = {at: self.events[at].width for at in [n, *stopped]}
                if sum(widths.values()) > 0:
                    self._add_impulse(n, -impulse)
                    for at, width in widths.items():
                        self._add_impulse(at, impulse * width / sum(widths.values()))

    def _add_impulse(self, n: int, impulse: Fraction) -> None:
        event = self.events[n]
        self.events[n] = event._replace(impulse=event.impulse + impulse)

    def report(self, pair: tuple[int, int], impact: Impact, outcome: str) -> None:
        """Report an impact."""
        self.events.append(
            Event(
                self.now,
                *pair,
                impact.axis,
                impact.sign,
                impact.corner,
                impact.overlaps,
                outcome,
                self.shared(pair, impact),
                self.impulse if outcome == RESOLVED else self.bounced.pop(pair, Fraction(0)),
            )
        )
        if self.watch and outcome in (STOPPED_ALREADY, CROSSED):
            self.states.append((self._copy_velocities(), self._copy_velocities()))
            self.finals.append((*self._copy_finals(), *self._copy_finals()))

    def shared(
        self, pair: tuple[int, int], impact: Impact
    ) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return what the boxes of a pair share now, on each axis."""
        (low1, high1), (low2, high2) = (self.faces(n) for n in pair)
        found = [(max(low1[k], low2[k]), min(high1[k], high2[k])) for k in range(self.dim)]
        if not impact.overlaps:
            face = (high1 if impact.sign < 0 else low1)[impact.axis]
            found[impact.axis] = face, face
        return tuple(found)

    def _copy_velocities(self) -> dict[int, list[Fraction]]:
        return {i: list(v) for i, v in self.velocity.items()} if self.watch else {}

    def _copy_finals(self) -> tuple[dict[int, list[Fraction]], set[tuple[int, int]]]:
        """Return what all velocities come to, and which bodies are in groups that last."""
        if not self.watch:
            return {}, set()
        axes = range(self.dim)
        finals = {i: [self.final(i, k) for k in axes] for i in self.bodies}
        return finals, {(i, k) for i in finals for k in axes if self.lasting_cluster(i, k)}

    def look_again(self) -> bool:
        """Look for what else is due at this instant; return whether there was anything to look at.

        First only at touching faces across an axis along which a body has turned: each round of
        these is resolved before the next one is looked for.  When a round has changed nothing, at
        all pairs of the bodies that have turned.
        """
        if self.turned_now:
            turned, self.turned_now = self.turned_now, set()
            for pair in self.pairs():
                self._look_at_faces(pair, {k for i, k in turned if i in pair})
            return True
        if self.settle() or self.turn() or self.rub():
            return True
        self.riders.lead()
        if not self.changed:
            return False
        self._look_at_all()
        return True

    # -- projection --

    def settle(self) -> bool:
        """Part bodies of this instant that only a pull could hold; return whether any turned."""
        for k in range(self.dim):
            settled: set[int] = set()
            for link in self.unsettled[k]:
                for start in link.press[:2]:
                    if start is None or start in settled or not self._is_open(start, k):
                        continue
                    members = self._linked_with(start, k)
                    settled |= members
                    if len(members) > 1:
                        self._project(members, k)
            self.unsettled[k].clear()
        return bool(self.turned_now)

    def _is_open(self, i: int, k: int) -> bool:
        """Return whether a body is in a group that may part."""
        cluster = self.clusters[k].get(i)
        return (
            cluster is not None
            and not (cluster.lasts or cluster.is_broken)
            and cluster.anchor not in self.saved
        )

    def _linked_with(self, start: int, k: int) -> set[int]:
        """Return all bodies that links connect with one."""
        found = [start]
        for i in found:
            for link in self.links[k]:
                if i in link.press[:2]:
                    found += [
                        n for n in link.press[:2]
                        if n is not None and n not in found and self._is_open(n, k)
                    ]  # fmt: skip
        return set(found)

    def _project(self, members: set[int], k: int) -> None:
        """Give the members of groups the velocities that keep most of what they had."""
        links = [link for link in self.links[k] if {*link.press[:2]} - {None} <= members]
        after = self._velocities_after(members, k, links)
        if after is None or all(after[i] == self.velocity[i][k] for i in members):
            return
        touching = links + self._touching(members, k, links)
        nearer = self._velocities_after(members, k, touching)
        if nearer is not None:  # otherwise something is about to be crushed
            after, links = nearer, touching
        for group, anchor in self._level_sets(members, links, after):
            old = self.clusters[k][min(group)]
            if (
                old.members == group
                and (old.anchor is None) == (anchor is None)
                and all(self.velocity[n][k] == after[n] for n in group)
            ):
                continue
            cluster = Cluster(group)
            cluster.shift = {n: after[n] - after[min(group)] for n in group}
            cluster.resizes = any(self.growth[n][k] for n in group | {anchor} - {None})
            rank = self.rank_of(cluster)
            cluster.merged_before = any(
                self.bodies[n].level == rank for n in group & self.merged_before[k]
            )
            cluster.anchor = anchor
            self._set_group(cluster, k, after[min(group)])

    def _velocities_after(
        self, members: set[int], k: int, links: list[Link]
    ) -> dict[int, Fraction] | None:
        mass = {i: self.bodies[i].mass for i in members}
        before = {i: self.entry[k][i] for i in members}
        rank = {i: self.bodies[i].level for i in members}
        return project(mass, before, [link.press for link in links], rank)

    def _touching(self, members: set[int], k: int, links: list[Link]) -> list[Link]:
        """Return links for the faces between members that touch and have none, which may close."""
        known = {frozenset(link.press[:2]) for link in links}
        found = []
        for pair in self.pairs():
            if not members.issuperset(pair) or pair in self.crushed:
                continue
            if frozenset(pair) in known | self.lost:
                continue
            if self.crosses(pair) or not all(self._is_plain(self.bodies[i]) for i in pair):
                continue
            sides = self.sides(pair)
            beside = all(side.gap < 0 for side in sides if side.axis != k)
            for side in sides:
                if side.axis == k and side.gap == 0 and beside:
                    low, high = pair if side.sign < 0 else pair[::-1]
                    apart = self.growth[low][k] + self.growth[high][k]
                    found.append(Link(Press(low, high, apart=apart), None))
        self.links[k] += found
        return found

    @staticmethod
    def _is_plain(body: Body) -> bool:
        return body.restitution == 0 and not body.surface

    @staticmethod
    def _level_sets(
        members: set[int], links: list[Link], after: dict[int, Fraction]
    ) -> list[tuple[set[int], int | None]]:
        """Return the linked bodies whose faces move as one, and what holds them or None."""
        level = {i: {i} for i in members}
        for link in links:
            low, high = link.press[:2]
            apart = link.press.apart
            if low is not None and high is not None and after[low] + apart == after[high]:
                joined = level[low] | level[high]
                level.update(dict.fromkeys(joined, joined))
        held = {}
        for link in links:
            low, high, fixed, apart = link.press
            if low is None and after[high] == fixed + apart:
                held[high] = link.anchor
            elif high is None and after[low] + apart == fixed:
                held[low] = link.anchor
        groups = {id(group): group for group in level.values()}.values()
        return [
            (group, next((held[i] for i in sorted(group) if i in held), None)) for group in groups
        ]

    def _look_at_all(self) -> None:
        """Look at all pairs of the bodies that have turned."""
        for i in self.changed:
            self._find_span(i)
            self.paths[i].append((self.now, list(self.low[i]), list(self.high[i])))
        changed, self.changed = self.changed, set()
        for pair in self.pairs():
            if changed.isdisjoint(pair):
                continue
            if pair not in self.queue or self.queue[pair].time > self.now:
                self.look(pair)

    def _look_at_faces(self, pair: tuple[int, int], axes: set[int]) -> None:
        """Queue a pair whose faces touch across one of the axes, if its impact is due at once."""
        if not axes or self.crosses(pair) or pair in self.crushed or self._are_far(pair):
            return
        if pair in self.queue and self.queue[pair].time == self.now:
            return
        if not any(side.gap == 0 and side.axis in axes for side in self.sides(pair)):
            return
        impact = self.sweep(pair)
        if impact is not None and impact.time == self.now and not impact.overlaps:
            self.queue[pair] = impact

    def change(self, i: int, k: int, velocity: Fraction) -> None:
        """Give a body another velocity from now on."""
        if self.velocity[i][k] == velocity:
            return
        self.low[i], self.high[i] = self.faces(i)
        self.since[i] = self.now
        self.velocity[i][k] = velocity
        self._note_turn(i, k)

    def _note_turn(self, i: int, k: int) -> None:
        self.changed.add(i)
        self.turned_now.add((i, k))
        for pair, impact in self.queue.items():
            if i in pair and impact.time == self.now:
                impact.is_stale = True

    def change_alone(self, i: int, k: int, velocity: Fraction) -> None:
        """Give a body another velocity than its group has: it leaves the group."""
        if self.lasting_cluster(i, k) is None and self.velocity[i][k] == velocity:
            return
        self.leave(i, k)
        self.change(i, k, velocity)

    def leave(self, i: int, k: int) -> None:
        """Take a body out of its group, with its share of what they share."""
        cluster = self.clusters[k].pop(i, None)
        if cluster is None:
            return
        velocity = None if cluster.momentum is None else cluster.momentum / self.mass_of(cluster)
        change = Fraction(0)
        if cluster.anchor is None and self.kicks.differ(cluster.members, k):
            stay = cluster.members - {i}
            change = self.kicks.bend(cluster.members, k) - self.kicks.bend(stay, k)
        cluster.members.discard(i)
        cluster.is_broken = True
        self._forget_links({i}, k)
        if velocity is not None:  # the others keep theirs, but for the kicks, which they share
            cluster.momentum = (velocity + change) * self.mass_of(cluster)
        for n in cluster.members if change else ():
            self.change(n, k, self.velocity[n][k] + change)

    def dissolve(self, cluster: Cluster, k: int) -> None:
        """End a group at this instant: its members go on as they would leave the step."""
        after = {n: self.final(n, k) for n in cluster.members}
        self._forget_links(cluster.members, k)
        for n in cluster.members:
            del self.clusters[k][n]
            self.change(n, k, after[n])
            if cluster.anchor is None:
                self.parted[k].add(n)

    def _forget_links(self, members: set[int], k: int) -> None:
        for links in (self.links, self.unsettled):
            links[k] = [link for link in links[k] if members.isdisjoint(link.press[:2])]

    def lasting_cluster(self, i: int, k: int) -> Cluster | None:
        """Return the group of a body on an axis, if that lasts to the end of the step."""
        cluster = self.clusters[k].get(i)
        return cluster if cluster is not None and cluster.lasts else None

    def rank_of(self, cluster: Cluster) -> int:
        """Return the highest dominance in a group."""
        return max((self.bodies[n].level for n in cluster.members), default=0)

    def rank_with(self, i: int, k: int) -> int:
        """Return the highest dominance in the group of a body, or its own."""
        cluster = self.clusters[k].get(i)
        return self.bodies[i].level if cluster is None else self.rank_of(cluster)

    def mass_of(self, cluster: Cluster) -> Fraction:
        """Return the mass of all members of a group that have its highest dominance."""
        rank = self.rank_of(cluster)
        masses = [self.bodies[n].mass for n in cluster.members if self.bodies[n].level == rank]
        return sum(masses, Fraction(0))

    def velocity_of(self, cluster: Cluster, k: int) -> Fraction:
        """Return the velocity with which a group leaves the step."""
        member = min(cluster.members)
        return self.final(member, k) - cluster.shift_of(member)

    def velocity_after(self, i: int, k: int) -> Fraction:
        """Return the velocity of a body at this instant, after its resolutions."""
        return self.final(i, k) - self._kick_of(i, k)

    def _kick_of(self, i: int, k: int) -> Fraction:
        cluster = self.clusters[k].get(i)
        is_held = cluster is not None and cluster.anchor is not None
        return Fraction(0) if is_held else self.kicks.shared(i, k)

    def final(self, i: int, k: int) -> Fraction:
        """Return the velocity that a body goes on with, or has at the end if its group lasts."""
        cluster = self.lasting_cluster(i, k)
        if cluster is None:
            return self.velocity[i][k]
        return cluster.momentum / self.mass_of(cluster) + cluster.shift_of(i)

    def change_along(self, i: int, k: int, before: Fraction, velocity: Fraction) -> None:
        """Give a body another velocity along a surface; in a group that lasts, all get a share.

        `before` is what it had when the new one was found: others of its group may have turned.
        """
        cluster = self.lasting_cluster(i, k)
        if k in self.bodies[i].locked:
            return
        if cluster is None:
            self.change_alone(i, k, velocity)
        elif self.bodies[i].level == self.rank_of(cluster):
            cluster.momentum += self.bodies[i].mass * (velocity - before)

    # -- limits --

    def hold_at_limit(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Hold the bodies of a pair that has had all of its resolutions; return whether any is."""
        is_held = any(n in self.saved for n in pair)
        n_repeats = self._count_repeats(pair)
        if not (is_held and n_repeats >= REPEAT_LIMIT and self.resizes(pair, impact.axis)):
            n_resolutions = self.resolutions.get(pair, 0)
            if n_resolutions < self.pair_limit:
                return False
            if (
                n_repeats > 0
                and n_resolutions < self.pair_limit + REPEAT_LIMIT
                and all(self._is_free(n, impact.axis) for n in pair)
            ):
                self.calm |= {(n, self.n_instants) for n in pair}
                return False
        wanted = [n for n in pair if self.bodies[n].is_dynamic and n not in self.saved]
        for n in wanted:
            self.hold(n)
        return bool(wanted)

    def _is_free(self, i: int, k: int) -> bool:
        """Return whether nothing keeps a body in its place on an axis."""
        cluster = self.clusters[k].get(i)
        return (
            self._yields(i, k)
            and i not in self.saved
            and (cluster is None or cluster.anchor is None)
        )

    def hold(self, i: int) -> None:
        """Let a body stay where it is, and as large as it is, to the end of the step."""
        for k in range(self.dim):
            self._end_drift(i, k)
        self.low[i], self.high[i] = self.faces(i)
        self.since[i] = self.now
        on_path = [self.final(i, k) - self.velocity[i][k] for k in range(self.dim)]
        self.saved[i] = [self.kicks.now(i, k) + more for k, more in enumerate(on_path)]
        self.kicks.end(i)
        self.held_at[i] = self.now
        self.growth[i] = [Fraction(0)] * len(self.growth[i])
        for k in range(self.dim):
            self.leave(i, k)
            self.change(i, k, Fraction(0))
        self.changed.add(i)
        for pair, impact in self.queue.items():
            if i in pair and impact.time == self.now:
                impact.is_stale = True

    def weigh(self, pair: tuple[int, int], k: int) -> set[int]:
        """Return who yields: a held body does not to one that does, unless that one is driven.

        Of two with another dominance only the lower one, or the higher one if what holds the
        lower one is above it.  Of two that block only the faster one.
        """
        yielding = {n for n in pair if self._yields(n, k)}
        held = {n for n in yielding if n in self.saved}
        self.joining = yielding
        self.blocked = {}
        if len(yielding) == 2 and not held:
            ranks = {self.rank_with(n, k) for n in pair}
            if len(ranks) == 1 and ranks.pop() % 2 and not self.resizes(pair, k):
                return self._block(pair, k)
            lower, higher = sorted(pair, key=lambda n: self.bodies[n].level)
            if self.bodies[lower].level != self.bodies[higher].level:
                cluster = self.clusters[k].get(lower)
                if (cluster is not None and cluster.anchor is not None) or (
                    self.rank_with(lower, k) > self.bodies[higher].level
                ):
                    return {higher}
                return {lower}
        if len(yielding) == 2 and len(held) == 1:
            (free,) = yielding - held
            cluster = self.clusters[k].get(free)
            anchor = None if cluster is None else cluster.anchor
            if anchor is None or (anchor in self.saved and self.velocity[anchor][k] == 0):
                self.joining = yielding - held
        return self.joining

    def _block(self, pair: tuple[int, int], k: int) -> set[int]:
        """Return the faster of two bodies that block, or both if a wall drives it.

        If they run into each other, both stop.  All this is seen from what carries both.
        """
        carried = self.riders.common(pair, k)
        own = {n: self.final(n, k) - carried for n in pair}
        slow, fast = sorted(pair, key=lambda n: abs(own[n]))
        if self._has_wall(fast, k):
            return set(pair)
        if own[slow] * own[fast] < 0 and not self._has_wall(slow, k):
            self.blocked = dict.fromkeys(pair, carried)
            return set(pair)
        self.blocked = {fast: self.final(slow, k)}
        return {fast}

    def _stop(self, k: int, restitution: Fraction) -> None:
        """Let those that block rebound, each as from a wall."""
        change = {n: (1 + restitution) * (to - self.final(n, k)) for n, to in self.blocked.items()}
        for n in change:
            self.impulse = max(self.impulse, self.bodies[n].mass * abs(change[n]))
            self.change_alone(n, k, self.final(n, k) + change[n])

    def _has_wall(self, i: int, k: int) -> bool:
        """Return whether the group of a body has an anchor."""
        cluster = self.clusters[k].get(i)
        return cluster is not None and cluster.anchor is not None

    def shown(self, i: int) -> list[Fraction]:
        """Return the velocity of a body as events tell it."""
        return self.saved.get(i) or [self.kicks.now(i, k) for k in range(self.dim)]

    def resizes(self, pair: tuple[int, int], k: int) -> bool:
        """Return whether the touching faces of a pair grow or shrink."""
        return any(self.growth[n][k] != 0 for n in pair)

    def _count_repeats(self, pair: tuple[int, int]) -> int:
        """Return how often a pair has been resolved in this instant when it is resolved again."""
        last, n_repeats = self.repeats.get(pair, (-1, 0))
        return n_repeats + 1 if last == self.n_instants else 0

    # -- answers --

    def resolve(self, pair: tuple[int, int], impact: Impact) -> str:
        """Resolve an impact; return what is to be reported."""
        if any([self._meets_by_drift(pair, impact), self._meets_by_chord(pair, impact)]):
            self.join_late(pair, impact)
            return RESOLVED
        together = self._bounces_with(pair, impact) if self._bounces(pair, impact) else []
        self.resolutions[pair] = self.resolutions.get(pair, 0) + 1
        n_repeats = self._count_repeats(pair)
        self.repeats[pair] = self.n_instants, n_repeats

        k = impact.axis
        resizes = self.resizes(pair, k)
        if self.resolutions[pair] > self.pair_limit + REPEAT_LIMIT or (
            resizes and n_repeats >= REPEAT_LIMIT
        ):
            self.crushed.add(pair)
            return CRUSHED
        if frozenset(pair) in self.lost:
            self.crushed.add(pair)
            return CRUSHED
        self.riders.catch_up(pair, k)
        self.yielding = self.weigh(pair, k)
        self.impulse = Fraction(0)
        if not self.yielding:
            self.crushed.add(pair)
            return CRUSHED
        normal_only = any(n in self.saved for n in self.yielding)
        restitution = Fraction(0)
        leans = self._leans(pair)
        if not normal_only and not impact.overlaps and not self._is_squeezed(k):
            restitution = self._restitution_of(pair, self.joining)
            joining = [n for n in pair if self._yields(n, k)]
            for other in self._beside(pair, impact, joining[0]) if len(joining) == 1 else []:
                both = {n for n in other if self._yields(n, k)}
                restitution = max(restitution, self._restitution_of(other, both))
            if restitution < 1 and leans:
                restitution = Fraction(0)
        limit = RESIZING_LIMIT if resizes else INSTANT_LIMIT
        if n_repeats >= limit:
            normal_only = True
            if restitution < 1 or resizes:
                restitution = Fraction(0)
        if any((n, self.n_instants) in self.calm for n in pair):
            restitution = Fraction(0)

        lasts = any(self.lasting_cluster(n, k) for n in pair)
        rebounds = restitution > 0 and (lasts or self._closing_now(pair, impact) > 0)
        if rebounds:
            self.kicks.spend_before_rebound(pair, k)
        for n in self.joining:
            self.unpressed.setdefault((n, k), self.velocity_after(n, k))
        self._note_push(k, restitution)
        self._note_kicks(pair, impact, parts=not (lasts or restitution or n_repeats))
        if together:
            self._bounce_together([pair, *together], impact)
        elif restitution > 0 and len(self.blocked) == 2:
            self._stop(k, restitution)
        elif rebounds and self._rebound(pair, impact, restitution):
            pass
        elif not self._join(pair, impact):
            self.crushed.add(pair)
            return CRUSHED
        if not normal_only and not (leans and len(self.yielding) == 2):
            self._add_turning(pair, impact)
        if not normal_only:
            self._add_rubbing(pair, impact)
        elif self.saved.keys().isdisjoint(pair):
            self.riders.press(pair, k, impact.sign)
            self.riders.land(pair, k, impact.sign)
        return RESOLVED

    def _closing_now(self, pair: tuple[int, int], impact: Impact) -> Fraction:
        """Return how fast two faces close at this instant, whatever damping does next."""
        k = impact.axis
        one, other = (self.kicks.now(n, k) for n in pair)
        return impact.sign * (other - one) + sum(self.growth[n][k] for n in pair)

    def _note_kicks(self, pair: tuple[int, int], impact: Impact, *, parts: bool) -> None:
        """Note what damping is still to take from two bodies, and how fast it `parts` them."""
        k = impact.axis
        self.kicks_before = {n: self._kick_of(n, k) for n in pair}
        one, other = self.kicks_before.values()
        parts = parts and self._closing_now(pair, impact) > 0
        self.parting = max(impact.sign * (one - other), Fraction(0)) if parts else Fraction(0)

    def _is_squeezed(self, k: int) -> bool:
        """Return whether a body that a wall holds in this instant meets another one."""
        clusters = [self.clusters[k].get(n) for n in self.yielding]
        return len(clusters) == 1 and clusters[0] is not None and clusters[0].anchor is not None

    def _meets_by_drift(self, pair: tuple[int, int], impact: Impact) -> bool:
        """End what leads two bodies where they meet; return whether their own velocities part."""
        had_drift = [self._end_drift(n, impact.axis) for n in pair]
        return any(had_drift) and not self._closes(pair, impact)

    def _meets_by_chord(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Split the paths of two damped bodies; return whether they do not close any more."""
        return self.split(pair, impact.axis) and not self._closes(pair, impact)

    def _closes(self, pair: tuple[int, int], impact: Impact) -> bool:
        (side,) = (s for s in self.sides(pair) if (s.axis, s.sign) == (impact.axis, impact.sign))
        return side.rate < 0

    def split(self, pair: tuple[int, int], axis: int) -> bool:
        """Begin the paths of damped bodies anew at an impact; return whether any changes.

        Along the surface only if the impact may turn bodies there.
        """
        two = [self.bodies[n] for n in pair]
        turns = self._friction_of(two) or any(
            body.is_dynamic and body.response in ("stop", "push") for body in two
        )
        merges = all(self._yields(n, axis) for n in pair)
        changes = [
            self.kicks.split(n, k, ends=k == axis and not merges)
            for n in pair for k in range(self.dim) if turns or k == axis
        ]  # fmt: skip
        return any(changes)

    @staticmethod
    def _friction_of(two: list[Body]) -> Fraction:
        return combined([b.friction for b in two], [b.friction_rule for b in two], "geometric")

    def _end_drift(self, i: int, k: int) -> bool:
        faces = self.faces(i)
        if not self.drifts.end(i, k):
            return False
        (self.low[i], self.high[i]), self.since[i] = faces, self.now
        self._note_turn(i, k)
        return True

    def are_apart(self, i: int, j: int) -> bool:
        """Return whether two bodies share no point now."""
        return any(side.gap > 0 for side in self.sides((i, j)))

    def _bounces(self, pair: tuple[int, int], impact: Impact) -> Fraction:
        """Return the restitution of two bodies that are free, dynamic and equal, or 0."""
        i, j = pair
        k = impact.axis
        closing = self.kicks.now(j, k) - self.kicks.now(i, k)
        if (
            impact.overlaps
            or impact.corner
            or closing * impact.sign <= 0
            or not self._are_equal(pair, k)
            or self.bodies[i].level % 2
            or self.resizes(pair, k)
            or any(n in self.saved for n in pair)
            or any((n, self.n_instants) in self.calm or n in self.clusters[k] for n in pair)
        ):
            return Fraction(0)
        e = self._restitution_of(pair, {i, j})
        is_weak = self._leans(pair) or self.repeats.get(pair, (-1, 0))[0] == self.n_instants
        return Fraction(0) if e < 1 and is_weak else e

    def _are_equal(self, pair: tuple[int, int], k: int) -> bool:
        """Return whether two bodies give way to each other on an axis."""
        one, other = pair
        is_wall = not (self._yields(one, k) and self._yields(other, k))
        return not is_wall and self.bodies[one].level == self.bodies[other].level

    def _bounces_with(self, pair: tuple[int, int], impact: Impact) -> list[tuple[int, int]]:
        """Return the other bounces of this instant, on its axis, that a pair is connected with."""
        due = {
            other for other, coming in self.due_with(impact).items()
            if other != pair and not self.crosses(other)
            and coming.axis == impact.axis and self._bounces(other, coming)
        }  # fmt: skip
        bodies, found = set(pair), []
        while beside := {other for other in due if not bodies.isdisjoint(other)}:
            found += beside
            due -= beside
            bodies.update(*beside)
        return found

    def due_with(self, impact: Impact) -> dict[tuple[int, int], Impact]:
        """Return the impacts of the instant of one, as they are now."""
        due = {pair: other for pair, other in self.queue.items() if other.time == impact.time}
        now = {pair: self.sweep(pair) if due[pair].is_stale else due[pair] for pair in due}
        return {pair: other for pair, other in now.items() if other and other.time == impact.time}

    def _bounce_together(self, pairs: list[tuple[int, int]], impact: Impact) -> None:
        """Let bodies bounce that all meet at once, by the least change that stops all of them."""
        k = impact.axis
        for pair in pairs:
            self.split(pair, k)
            self.kicks.spend_before_rebound(pair, k)
        bodies = {n for pair in pairs for n in pair}
        before = {n: self.velocity[n][k] for n in bodies}
        for n in bodies:
            self.unpressed.setdefault((n, k), before[n])
        e = max(self._restitution_of(pair, set(pair)) for pair in pairs)
        presses = []
        for i, j in pairs:
            sign = impact.sign if (i, j) == pairs[0] else self.queue[i, j].sign
            presses.append(Press(*((i, j) if sign < 0 else (j, i))))
        after = project({n: self.bodies[n].mass for n in bodies}, before, presses)
        yielding = self.yielding
        for pair in pairs:
            self.riders.catch_up(pair, k)
            self.yielding = set(pair)
            self._note_push(k, e)
        self.yielding = yielding
        for n in bodies:
            self.change_alone(n, k, after[n] + e * (after[n] - before[n]))
        self.repeats.update(dict.fromkeys(pairs[1:], (self.n_instants, 0)))
        changes = {n: self.bodies[n].mass * (self.velocity[n][k] - before[n]) for n in bodies}
        contacts = [
            (press.low, press.high, prod(self.edges([*pair], k)))
            for press, pair in zip(presses, pairs, strict=True)
        ]
        self.bounced |= dict(zip(pairs, passed_on(contacts, changes), strict=True))
        self.impulse = self.bounced.pop(pairs[0])

    def _leans(self, pair: tuple[int, int]) -> bool:
        """Return whether two bodies have met in the last step, and touch since."""
        return pair in self.leaning and not self._has_parted(pair)

    def _has_parted(self, pair: tuple[int, int]) -> bool:
        """Return whether the two have been apart in this step, by more than rounding."""
        times = {time for n in pair for time, _, _ in self.paths[n]}
        for time in times:
            (low1, high1), (low2, high2) = (self._faces_at(n, time) for n in pair)
            for k in range(self.dim):
                near = max(map(abs, (low1[k], high1[k], low2[k], high2[k]))) / 2**40
                if low2[k] - high1[k] > near or low1[k] - high2[k] > near:
                    return True
        return False

    def _faces_at(self, i: int, time: Fraction) -> tuple[list[Fraction], list[Fraction]]:
        """Return the low and high faces of a body at an earlier time of the step."""
        path = [*self.paths[i], (self.now, *self.faces(i))]
        for (start, *one), (end, *two) in pairwise(path):
            if start <= time < end:
                part = (time - start) / (end - start)
                low, high = (
                    [a + (b - a) * part for a, b in zip(*sides, strict=True)]
                    for sides in zip(one, two, strict=True)
                )
                return low, high
        return self.faces(i)

    def _first_of_side(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the pair with the fastest wall on the side of a body on which a pair meets it."""
        impact = self.queue[pair]
        if self.rank(pair) != FACE:
            return pair
        if not self._bounces(pair, impact) and self._are_equal(pair, impact.axis):
            return min(self._bounces_with(pair, impact), default=pair, key=self.key)
        beside = [
            other for n in pair if self.bodies[n].is_dynamic
            for other in self._beside(pair, impact, n)
        ]  # fmt: skip
        walls = [
            (push, other) for other in beside if (push := self._push_of_wall(other)) is not None
        ]
        most = max((push for push, _ in walls), default=None)
        own = self._push_of_wall(pair)
        if most is None or (own is not None and own >= most):
            return pair
        return min((other for push, other in walls if push == most), key=self.key)

    def _push_of_wall(self, pair: tuple[int, int]) -> Fraction | None:
        """Return how fast the face of a wall moves towards the body that meets it, or None."""
        impact = self.queue[pair]
        one, other = (self._yields(n, impact.axis) for n in pair)
        if one == other:
            return None
        wall, sign = (pair[1], impact.sign) if one else (pair[0], -impact.sign)
        k = impact.axis
        return sign * self.velocity[wall][k] + self.growth[wall][k]

    def _beside(self, pair: tuple[int, int], impact: Impact, i: int) -> list[tuple[int, int]]:
        """Return the pairs in which body i meets others at the same time and on the same side."""
        side = impact.sign if i == pair[0] else -impact.sign
        return [
            other for other, coming in self.queue.items()
            if i in other and other != pair and not self.crosses(other)
            and (coming.time, coming.axis) == (impact.time, impact.axis)
            and not (coming.corner or coming.overlaps)
            and (coming.sign if i == other[0] else -coming.sign) == side
        ]  # fmt: skip

    def _yields(self, n: int, k: int) -> bool:
        """Return whether an impact on an axis may change a body."""
        return self.bodies[n].is_dynamic and k not in self.bodies[n].locked

    def _restitution_of(self, pair: tuple[int, int], joining: set[int]) -> Fraction:
        """Return the restitution of a pair."""
        found = []
        for n in pair:
            body = self.bodies[n]
            rebounds = n in joining and body.response == "deflect"
            found.append(body.restitution if body.surface is None and rebounds else body.surface)
        return combined(found, [self.bodies[n].rule for n in pair], "max")

    def _exchange(self, pair: tuple[int, int], impact: Impact, restitution: Fraction) -> None:
        """Turn the closing rate r of the touching faces into -e·r, shared by inverse mass."""
        i, j = pair
        k = impact.axis
        one, other = self.bodies[i], self.bodies[j]
        v1, v2 = self.final(i, k), self.final(j, k)
        face1 = v1 - impact.sign * self.growth[i][k]
        face2 = v2 + impact.sign * self.growth[j][k]
        wanted = (1 + restitution) * (face1 - face2)
        if wanted * impact.sign > 0:  # only their paths close
            wanted = Fraction(0)
        if len(self.yielding) == 2:
            share = other.mass / (one.mass + other.mass)
        else:
            share = Fraction(1 if i in self.yielding else 0)
        moved = one.mass * share if i in self.yielding else other.mass * (1 - share)
        self.impulse = moved * abs(wanted)
        if i in self.yielding:
            self.change_alone(i, k, v1 - wanted * share)
        if j in self.yielding:
            self.change_alone(j, k, v2 + wanted * (1 - share))

    def _rebound(self, pair: tuple[int, int], impact: Impact, restitution: Fraction) -> bool:
        """Let a pair rebound; return whether it does not close any more.

        A group that lasts rebounds as one body, and its path stays.
        """
        k = impact.axis
        lasting = [n for n in pair if self.lasting_cluster(n, k) is not None]
        if not lasting:
            self._exchange(pair, impact, restitution)
            return True
        if len(lasting) == 2:
            return False
        i = lasting[0]
        (j,) = set(pair) - {i}
        sign = impact.sign if i < j else -impact.sign
        apart = sign * (self.growth[i][k] + self.growth[j][k])
        u, v = self.final(i, k) - apart, self.velocity[j][k]  # equal if the faces go together
        if (u - v) * sign >= 0:
            return False
        if j not in self.yielding:
            self.impulse = self.bodies[i].mass * abs((1 + restitution) * (u - v))
            self.change_alone(i, k, v + apart - restitution * (u - v))
            return True
        cluster = self.clusters[k][i]
        if self.rank_of(cluster) > self.bodies[j].level:
            self.impulse = self.bodies[j].mass * abs((1 + restitution) * (u - v))
            after = u - restitution * (v - u)
        else:
            total, mass = self.mass_of(cluster), self.bodies[j].mass
            after = v + (1 + restitution) * (u - v) * total / (total + mass)
            cluster.momentum -= mass * (after - v)
            self.impulse = mass * abs(after - v)
        self.change_alone(j, k, after)
        if (self.velocity[i][k] - apart - after) * sign >= 0:
            return True
        # The merge takes this part of the impulse back, but adds it.
        self.impulse *= (1 - restitution) / (1 + restitution)
        return False

    def _is_anchored(self, i: int, k: int) -> bool:
        """Tell whether a body is not dynamic, is held, or is in a group with one that does not."""
        if i not in self.joining or i in self.saved:
            return True
        return i in self.clusters[k] and self.clusters[k][i].anchor is not None

    def _common_path(self, one: Cluster, other: Cluster, k: int) -> Fraction:
        """Return the velocity of the path of two groups that join to last."""
        v1, v2 = self._path_of(one, k), self._path_of(other, k)
        if self.mass_of(one) != self.mass_of(other):
            return v1 if self.mass_of(one) > self.mass_of(other) else v2
        return min(v1, v2, key=abs) if abs(v1) != abs(v2) else (v1 + v2) / 2

    def _cluster_of(self, i: int, k: int) -> Cluster:
        """Return the group of a dynamic body, be it one of its own."""
        if i not in self.clusters[k]:
            cluster = self.clusters[k][i] = Cluster({i})
            cluster.merged_before = i in self.merged_before[k]
            self.entered[k].add(i)
            self.entry[k][i] = self.velocity[i][k]
        return self.clusters[k][i]

    def _join(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Let two bodies move as one, be there faces that grow or shrink in their groups."""
        i, j = pair
        k = impact.axis
        self._stop(k, Fraction(0))
        clusters = [self.clusters[k][n] for n in pair if n in self.clusters[k]]
        resizes = self.resizes(pair, k)
        if not resizes and not any(cluster.resizes for cluster in clusters):
            return self._merge(i, j, k, impact.sign)
        merged = self._merge_faces(pair, impact)
        if merged is not False:
            return merged is not None
        if resizes or (len(clusters) == 2 and clusters[0] is clusters[1]):
            self._exchange(pair, impact, Fraction(0))
            return True
        self.leave(i, k)
        self.leave(j, k)
        return self._merge(i, j, k, impact.sign)

    def _merge_faces(self, pair: tuple[int, int], impact: Impact) -> bool | None:
        """Let two groups move so that the faces of a pair go together.

        Returns whether they can, or None if the pair must be crushed.
        """
        i, j = pair
        k = impact.axis
        if any(n in self.saved for n in pair):
            return False
        self._leave_for(i, j, k)
        apart = impact.sign * (self.growth[i][k] + self.growth[j][k])
        if len(self.joining) == 1:
            (member,) = self.joining
            (solid,) = set(pair) - {member}
            cluster = self._cluster_of(member, k)
            if cluster.anchor is not None:
                return self._settle_faces(pair, impact)
            self._link(i, j, k, impact.sign)
            wanted = self.velocity[solid][k] + (apart if member == i else -apart)
            velocity = wanted - cluster.shift_of(member)
            cluster.anchor, cluster.resizes = solid, True
            change = abs(velocity - self.velocity_of(cluster, k)) + self._most_kick(cluster)
            self.impulse += self.mass_of(cluster) * change
            self._set_group(cluster, k, velocity)
            return True
        one, other = self._cluster_of(i, k), self._cluster_of(j, k)
        if one is other or (one.anchor is not None and other.anchor is not None):
            return self._settle_faces(pair, impact)
        self._link(i, j, k, impact.sign)
        shift = one.shift_of(i) - apart - other.shift_of(j)
        other.shift = {n: other.shift_of(n) + shift for n in other.members}
        if other.lasts:
            other.momentum -= self.mass_of(other) * shift
        self._unite(*sorted((one, other), key=lambda c: self.places[i if c is one else j]), k)
        return True

    def _unite(self, one: Cluster, other: Cluster, k: int) -> None:
        """Make one group of two whose shifts say how their members go together."""
        mass1, v1 = self.mass_of(one), self.velocity_of(one, k)
        mass2, v2 = self.mass_of(other), self.velocity_of(other, k)
        joined = Cluster(one.members | other.members)
        joined.shift = {n: c.shift_of(n) for c in (one, other) for n in c.members}
        joined.merged_before = one.merged_before or other.merged_before
        joined.resizes = True
        joined.is_broken = one.is_broken or other.is_broken
        joined.anchor = other.anchor if one.anchor is None else one.anchor
        if joined.anchor is not None:
            velocity = self._path_of(other if one.anchor is None else one, k)
            self.impulse += max(
                mass1 * (abs(velocity - v1) + self._most_kick(one)),
                mass2 * (abs(velocity - v2) + self._most_kick(other)),
            )
        elif self.rank_of(one) != self.rank_of(other):
            leading = max(one, other, key=self.rank_of)
            joined.merged_before, joined.momentum = leading.merged_before, leading.momentum
            velocity = self._path_of(leading, k)
            self.impulse += (mass2 if leading is one else mass1) * abs(v1 - v2)
        else:
            self.impulse += mass1 * mass2 / (mass1 + mass2) * (abs(v1 - v2) + self.parting)
            velocity = (mass1 * v1 + mass2 * v2) / (mass1 + mass2)
            if joined.merged_before or one.lasts or other.lasts:
                joined.momentum = mass1 * v1 + mass2 * v2
                more = self.mass_of(one) - self.mass_of(other)
                v1, v2 = self._path_of(one, k), self._path_of(other, k)
                velocity = (v1 + v2) / 2 if more == 0 else v1 if more > 0 else v2
        self._set_group(joined, k, velocity)

    def _path_of(self, cluster: Cluster, k: int) -> Fraction:
        """Return the velocity of the path of a group."""
        member = min(cluster.members)
        return self.velocity[member][k] - cluster.shift_of(member)

    def _set_group(self, cluster: Cluster, k: int, velocity: Fraction) -> None:
        for n in cluster.members:
            self.clusters[k][n] = cluster
            self.change(n, k, velocity + cluster.shift_of(n))

    def _settle_faces(self, pair: tuple[int, int], impact: Impact) -> bool | None:
        """Answer faces as `_settle` does; groups that cannot part end first."""
        k = impact.axis
        ending = [self.clusters[k][n] for n in pair if n in self.joining]
        ending = [cluster for cluster in ending if cluster.lasts or cluster.is_broken]
        if not ending:
            return self._settle(pair, k, impact.sign)
        for cluster in {id(cluster): cluster for cluster in ending}.values():
            self.dissolve(cluster, k)
        return self._merge_faces(pair, impact)

    def _settle(self, pair: tuple[int, int], k: int, sign: int) -> bool | None:
        """Answer faces that close in a group, or between two that are anchored, with all others.

        Returns whether they close no more, or None if nothing can give way.
        """
        before = {n: self.final(n, k) for n in pair}
        self._link(*pair, k, sign)
        link = self.links[k][-1]
        self.settle()
        (side,) = (s for s in self.sides(pair) if (s.axis, s.sign) == (k, sign))
        if side.rate < 0:
            start = min(self.joining)
            members = self._linked_with(start, k)
            links = [link for link in self.links[k] if {*link.press[:2]} - {None} <= members]
            is_stuck = self._is_open(start, k) and self._velocities_after(members, k, links) is None
            if not (is_stuck and self._lose_fastest(link, links, members, k)):
                self.links[k].remove(link)
                return None if is_stuck else False
        self.impulse = max(
            self.bodies[n].mass * abs(self.final(n, k) - before[n]) for n in self.joining
        )
        return True

    def _lose_fastest(self, new: Link, links: list[Link], members: set[int], k: int) -> bool:
        """Give up the contacts that push fastest, until the rest can be kept apart.

        Returns False if it is the new one, or if two bodies that hold others push equally.
        """
        kept = list(links)
        while self._velocities_after(members, k, kept) is None:
            opening = [
                n for n in range(len(kept))
                if self._velocities_after(members, k, kept[:n] + kept[n + 1 :]) is not None
            ]  # fmt: skip
            cycle = [kept[n] for n in opening] or kept
            most = max(self._push_of(link, k) for link in cycle)
            fastest = [link for link in cycle if self._push_of(link, k) == most]
            if new in fastest:
                return False
            between = [link for link in fastest if link.anchor is None]
            if not between and len(fastest) > 1:
                return False
            lost = min(between, key=lambda e: self.places[e.press[0]]) if between else fastest[0]
            self._press_with(lost, {n for link in cycle for n in link.press[:2]} - {None}, k)
            kept = [
                link for link in kept
                if link is not lost and (lost.anchor is None or not self._is_of_face(link, lost))
            ]  # fmt: skip
        lost = [link for link in links if link not in kept]
        self.lost |= {frozenset({link.anchor, *link.press[:2]}) - {None} for link in lost}
        self.links[k] = [link for link in self.links[k] if link not in lost]
        self._project(members, k)
        return True

    def _press_with(self, lost: Link, members: set[int], k: int) -> None:
        """Let bodies count as no slower before the instant than the face that presses them."""
        push = self._push_of(lost, k)
        for n in members if lost.anchor is not None else ():
            before = self.entry[k][n]
            self.entry[k][n] = max(before, push) if lost.press[0] is None else min(before, -push)

    def _push_of(self, link: Link, k: int) -> Fraction:
        """Return how fast the faces of a contact push: by their growth, and as who holds moves."""
        if link.anchor is None:
            return link.press.apart
        side = 1 if link.press[0] is None else -1
        return link.press.apart + side * self.velocity[link.anchor][k]

    @staticmethod
    def _is_of_face(link: Link, other: Link) -> bool:
        """Return whether one face of one body holds at both contacts."""
        sides = link.press[0] is None, other.press[0] is None
        return link.anchor == other.anchor and sides[0] == sides[1]

    def _face_speed(self, n: int, k: int, side: int) -> Fraction:
        """Return how fast the face of a body on one side moves."""
        return abs(self.velocity[n][k] + side * self.growth[n][k])

    def _leave_for(self, i: int, j: int, k: int) -> dict[int, Fraction]:
        """Take who leaves a group that lasts for the other out of it; return its share."""
        for one, other in ((i, j), (j, i)):
            lasting = self.lasting_cluster(one, k)
            if lasting is not None and (
                self._is_anchored(other, k) or self.rank_with(other, k) > self.rank_of(lasting)
            ):
                left = {one: self.final(one, k)}
                self.leave(one, k)
                return left
        return {}

    def _joining(self, i: int, j: int, k: int) -> tuple[list[Cluster], list[int]]:
        """Return the groups that two bodies bring together, and the bodies that hold these."""
        joining: list[Cluster] = []
        anchors: list[int] = []
        for n in (i, j):
            if n not in self.joining:
                anchors.append(n)
                continue
            cluster = self._cluster_of(n, k)
            if cluster not in joining:
                joining.append(cluster)
            if cluster.anchor is not None:
                anchors.append(cluster.anchor)
            elif n in self.saved:
                anchors.append(n)
        return joining, self._strongest(anchors, k)

    def _most_kick(self, cluster: Cluster) -> Fraction:
        """Return the size of the kick that the body of the pair had in a group."""
        kicks = [abs(kick) for n, kick in self.kicks_before.items() if n in cluster.members]
        return max(kicks, default=Fraction(0))

    def _merge(self, i: int, j: int, k: int, sign: int) -> bool:
        """Let two bodies and all they have joined move as one; return whether they can."""
        left = self._leave_for(i, j, k)  # with their share of the momentum
        joining, anchors = self._joining(i, j, k)
        if len({self.velocity[n][k] for n in anchors}) > 1:
            if self._settle((i, j), k, sign):
                return True
            joining, anchors = self._joining(i, j, k)
            held_first = {i, self._cluster_of(i, k).anchor if i in self.joining else i}
            speeds = {
                n: self._face_speed(n, k, -sign if n in held_first else sign) for n in anchors
            }
            slower = [n for n in anchors if speeds[n] == min(speeds.values())]
            if len(slower) < len(anchors) and {i, j}.isdisjoint(set(anchors) - set(slower)):
                anchors = slower
        velocities = {self.velocity[n][k] for n in anchors}
        if len(velocities) > 1:
            return False
        joined = Cluster(set().union(*(cluster.members for cluster in joining)))
        joined.merged_before = any(cluster.merged_before for cluster in joining)
        joined.is_broken = any(cluster.is_broken for cluster in joining)
        rank = self.rank_of(joined)
        highest = [cluster for cluster in joining if self.rank_of(cluster) == rank]
        weights = [
            (self.mass_of(cluster), left.get(min(cluster.members), self.velocity_of(cluster, k)))
            for cluster in joining
        ]
        if anchors:
            joined.anchor = min(anchors)
            velocity = velocities.pop()
            self.impulse += max(
                mass * (abs(velocity - v) + self._most_kick(cluster))
                for cluster, (mass, v) in zip(joining, weights, strict=True)
            )
        elif len(highest) < len(joining):  # the others go along, weightless
            (leading,) = highest
            joined.merged_before = leading.merged_before
            velocity = self.velocity[min(leading.members)][k]
            joined.momentum = leading.momentum
            ((mass, v),) = (w for w, cluster in zip(weights, joining, strict=True)
                            if cluster is not leading)  # fmt: skip
            self.impulse += mass * abs(self.velocity_of(leading, k) - v)
        else:
            if len(weights) == 2:
                (mass1, v1), (mass2, v2) = weights
                self.impulse += mass1 * mass2 / (mass1 + mass2) * (abs(v1 - v2) + self.parting)
            tops = [n for n in joined.members if self.bodies[n].level == rank]
            masses = {n: self.bodies[n].mass for n in tops}
            momentum = sum(mass * self.final(n, k) for n, mass in masses.items())
            velocity = momentum / sum(masses.values())
            if joined.merged_before or any(cluster.lasts for cluster in joining):
                joined.momentum = momentum
                velocity = self._common_path(joining[0], joining[-1], k)
        if len(joining) == 2 or len(self.joining) == 1:
            self._link(i, j, k, sign)
        for n in joined.members:
            self.clusters[k][n] = joined
            self.change(n, k, velocity)
        return True

    def _link(self, i: int, j: int, k: int, sign: int) -> None:
        """Note the contact by which groups merge."""
        low, high = (i, j) if sign < 0 else (j, i)
        apart = self.growth[i][k] + self.growth[j][k]
        if i in self.joining and j in self.joining:
            link = Link(Press(low, high, apart=apart), None)
        else:
            (held,) = {i, j} - self.joining
            ends = (n if n in self.joining else None for n in (low, high))
            link = Link(Press(*ends, self.velocity[held][k], apart), held)
        self.links[k].append(link)
        self.unsettled[k].append(link)

    def _strongest(self, anchors: list[int], k: int) -> list[int]:
        """Return who holds a group: who is not dynamic, else the faster of the held bodies."""
        lasting = [n for n in anchors if n not in self.saved]
        if lasting or not anchors:
            return lasting
        return [max(reversed(anchors), key=lambda n: abs(self.velocity[n][k]))]

    # -- along the surface --

    def _note_push(self, axis: int, restitution: Fraction) -> None:
        """Note the velocities of those whom a resolution is about to change on an axis."""
        for n in self.yielding:
            if (n, axis) not in self.unturned:
                self.unturned[n, axis] = self.velocity_after(n, axis)
                if len(getattr(self.clusters[axis].get(n), "members", ())) > 1:
                    self.driven.add(n)
            if restitution:
                self.rebounded.add((n, axis))
        self.met.append(set(self.yielding))

    def _add_turning(self, pair: tuple[int, int], impact: Impact) -> None:
        """Note a contact that turns one of its bodies, once in an instant."""
        rows = sorted(pair, key=self.places.get)
        rules = {
            n: self.bodies[n].response for n in rows
            if n in self.yielding and self.bodies[n].response in ("stop", "push")
        }  # fmt: skip
        if rules and self.turned_in.get(pair) != self.n_instants:
            self.turned_in[pair] = self.n_instants
            sign = impact.sign if rows[0] == pair[0] else -impact.sign
            walls = [n for n in rows if not self._slides(n, pair, impact.axis)]
            self.turning.append(Turning(rows, impact.axis, sign, rules, walls))

    def turn(self) -> bool:
        """Turn the bodies of the contacts of this instant; return whether there were any."""
        if not self.turning:
            return False
        self._share_kicks(ends=False)
        for c in self.turning:
            self.riders.note_surfaces(tuple(c.rows), c.axis, c.sign)
        self.turning = [c for c in self.turning if not self._part_without_bounce(c)]
        self.pressed |= {key for key, v in self.unturned.items() if self.velocity_after(*key) != v}
        before, finals = self._copy_velocities(), self._copy_finals()
        groups: list[set[int]] = []
        for few in self.met:
            apart = [group for group in groups if group.isdisjoint(few)]
            groups = [*apart, few.union(*(group for group in groups if group not in apart))]
        after = {
            n: [self.velocity_after(n, k) for k in range(self.dim)] for n in set().union(*groups)
        }
        wanted = {n: list(velocity) for n, velocity in after.items()}
        for k in range(self.dim):
            for n, velocity in self._asked(k, after).items():
                wanted[n][k] = velocity
        groups = [group for group in groups if any(wanted[n] != after[n] for n in group)]
        parts = [
            self._part_to_turn(group, after, wanted, self._frame_of(group, after))
            for group in groups
        ]
        self._keep_press()
        slowed = {n for group, part in zip(groups, parts, strict=True) if part < 1 for n in group}
        for group, part in zip(groups, parts, strict=True):
            self._turn_group(group, part, after, wanted)
        self._end_beside_walls(slowed, wanted)
        self._note_unpressed()
        self.turning.clear()
        if self.watch:
            seen = before, self._copy_velocities(), finals, self._copy_finals()
            self.turns.append((len(self.events), *seen))
        return True

    def _forget_turns(self) -> None:
        self.turning.clear()
        self.pressed.clear()
        self.unturned.clear()
        self.rebounded.clear()
        self.driven.clear()
        self.met.clear()

    def _before(self, n: int, k: int) -> Fraction:
        """Return the velocity of a body before anything has pushed it on an axis."""
        return self.unturned.get((n, k), self.velocity_after(n, k))

    def _asked(self, k: int, after: dict[int, list[Fraction]]) -> dict[int, Fraction]:
        """Return the velocities on an axis that the contacts of this instant ask for."""
        ones = {n: {n} for n in after}
        for c in self.turning:
            if c.axis != k and list(c.rules.values()) == ["stop", "stop"]:
                both = ones[c.rows[0]] | ones[c.rows[1]]
                ones.update(dict.fromkeys(both, both))
        asked: dict[int, list[tuple[Fraction, Fraction]]] = {n: [] for n in after}
        self.divide_by_widths([(c.rows, c.axis) for c in self.turning])
        for c in self.turning:
            width = prod(self.edges(c.rows, c.axis))
            for n in c.rules if c.axis != k else ():
                velocity = self._wanted(c, n, k)
                for other in ones[n] if velocity is not None else ():
                    asked[other].append((width, velocity))
        found = {}
        for n, one in ones.items():
            fixed = [after[m][k] for m in one if not self._may_turn(m, k)]
            widths = sum(width for width, _ in asked[n])
            if not self._may_turn(n, k):
                continue
            if fixed:
                found[n] = sum(fixed) / len(fixed)
            elif widths:
                found[n] = sum(width * v for width, v in asked[n]) / widths
            elif asked[n]:
                velocities = [v for _, v in asked[n]]
                found[n] = (min(velocities) + max(velocities)) / 2
            elif len(one) > 1:
                mass = sum(self.bodies[m].mass for m in one)
                found[n] = sum(self.bodies[m].mass * after[m][k] for m in one) / mass
        return found

    def _part_without_bounce(self, c: Turning) -> bool:
        """Return whether another contact has pushed the bodies of one apart."""
        one, two = c.rows
        apart = c.sign * (self.final(one, c.axis) - self.final(two, c.axis))
        apart -= self.growth[one][c.axis] + self.growth[two][c.axis]
        return apart > 0 and not {(n, c.axis) for n in c.rows} & self.rebounded

    def _may_turn(self, n: int, k: int) -> bool:
        """Return whether a body may turn on an axis, because no impact has changed it there."""
        return (n, k) not in self.pressed and k not in self.bodies[n].locked

    def _wanted(self, c: Turning, n: int, k: int) -> Fraction | None:
        """Return the velocity that a contact asks for on an axis, by the rule of a body."""
        (other,) = set(c.rows) - {n}
        partner = self.velocity_after(other, k)
        if c.rules[n] == "stop":
            if c.rules.get(other) == "stop":
                return None
            return partner + self.riders.belt(other, c.axis, c.side_of(other))[k]
        if (n, c.axis) in self.rebounded:
            return None
        relative = [
            self.velocity_after(n, axis) - self.velocity_after(other, axis)
            for axis in range(self.dim)
        ]
        relative[c.axis] = self._before(n, c.axis) - self._before(other, c.axis)
        slide = sum(relative[axis] ** 2 for axis in range(self.dim) if axis != c.axis)
        if slide == 0:
            return None
        return partner + relative[k] * root(sum(r**2 for r in relative) / slide)

    def _frame_of(self, group: set[int], after: dict[int, list[Fraction]]) -> list[Fraction]:
        """Return the mean velocity of the walls that a group meets, by width.

        Those that stop a body count with the velocity of their faces.
        """
        walls = [
            (prod(self.edges(c.rows, c.axis)), n, c) for c in self.turning
            if len(c.walls) == 1 and not group.isdisjoint(c.rules) for n in c.walls
        ]  # fmt: skip
        widths = sum(width for width, _, _ in walls)
        frame = [Fraction(0)] * self.dim
        for width, n, c in walls if widths else walls[:1]:
            share = width / widths if widths else 1
            belt = self.riders.belt(n, c.axis, c.side_of(sum(c.rows) - n))
            for k in range(self.dim):
                now = after[n][k] if n in after else self.velocity_after(n, k)
                frame[k] += share * (self.unturned.get((n, k), now) if k == c.axis else now)
                frame[k] += share * belt[k] if "stop" in c.rules.values() else 0
        return frame

    def _turn_group(
        self,
        group: set[int],
        part: Fraction,
        after: dict[int, list[Fraction]],
        wanted: dict[int, list[Fraction]],
    ) -> None:
        """Turn the bodies of a group by a part of the way; what it has lost is spent."""
        for n in group:
            for k in range(self.dim):
                change = part * (wanted[n][k] - after[n][k])
                if wanted[n][k] != after[n][k]:
                    self.kicks.give_back(n, k, change)
                    before = after[n][k] + self.kicks.of[n][k]
                    self.change_along(n, k, before, before + change)
        self.met = [few for few in self.met if few.isdisjoint(group)]
        self.driven -= group
        for n, k in [key for key in self.unturned if key[0] in group]:
            del self.unturned[n, k]

    def _end_beside_walls(self, slowed: set[int], wanted: dict[int, list[Fraction]]) -> None:
        """Keep damping from bodies that have taken the velocity of a wall beside them."""
        beside = {n for c in self.turning if len(c.walls) == 1 for n in c.rules}
        for n in beside - slowed:
            for k in range(self.dim) if self.bodies[n].response == "stop" else ():
                if self._may_turn(n, k) and self.kicks.of[n][k]:
                    self.change_along(n, k, wanted[n][k] + self.kicks.of[n][k], wanted[n][k])
                    self.kicks.weaken(n, k, Fraction(0))

    def _part_to_turn(
        self,
        group: set[int],
        after: dict[int, list[Fraction]],
        wanted: dict[int, list[Fraction]],
        frame: list[Fraction],
    ) -> Fraction:
        """Return how far a group may go to what it wants, so that no energy is won.

        Who was in a group of its own before may have lost energy to that.
        """
        energy = gain = square = slope = Fraction(0)
        for n in group:
            mass = self.bodies[n].mass
            for k in range(self.dim):
                now = after[n][k] - frame[k]
                way = wanted[n][k] - after[n][k]
                energy += mass * (self.unturned.get((n, k), after[n][k]) - frame[k]) ** 2
                gain += mass * now**2
                square += mass * way**2
                slope += mass * now * way
        gain = min(gain - energy, Fraction(0))
        if not group.isdisjoint(self.driven):
            gain = Fraction(0)
        if square + 2 * slope + gain <= energy * ROUNDED_ROOT:
            return Fraction(1)
        return max(Fraction(0), (root(slope**2 - square * gain) - slope) / square)

    # -- friction --

    def join_late(self, pair: tuple[int, int], impact: Impact) -> Fraction:
        """Join a group that lasts, if the pair does not close any more, but in the end would.

        Returns the impulse.
        """
        k = impact.axis
        groups = [self.lasting_cluster(n, k) for n in pair]
        ends = [self.kicks.now(n, k) - self.velocity[n][k] + self.final(n, k) for n in pair]
        closing = impact.sign * (ends[1] - ends[0]) + sum(self.growth[n][k] for n in pair)
        self.impulse = Fraction(0)
        if groups[0] is groups[1] or impact.overlaps or closing <= 0:
            return self.impulse
        self.yielding = self.weigh(pair, k)
        if self.yielding.isdisjoint(self.saved):
            self._note_push(k, Fraction(0))
            self._join(pair, impact)
        return self.impulse

    def rub_beside(self, pair: tuple[int, int], impact: Impact) -> None:
        """Let a pair rub whose impact another one of this instant has resolved."""
        self.riders.catch_up(pair, impact.axis)
        self.yielding = self.weigh(pair, impact.axis)
        if not impact.overlaps and self.yielding.isdisjoint(self.saved):
            self.met.append(set(self.yielding))
            for n in self.joining:  # what the impact has not changed bears nothing
                self.unpressed.setdefault((n, impact.axis), self.velocity_after(n, impact.axis))
            turns = any(self.bodies[n].response in ("stop", "push") for n in self.yielding)
            leans = self._leans(pair) and len(self.yielding) == 2
            if not leans:
                self._add_turning(pair, impact)
            self._add_rubbing(pair, impact)
            if not leans if turns else self._friction_of([self.bodies[n] for n in pair]):
                self.split(pair, impact.axis)
        elif self.saved.keys().isdisjoint(pair):
            self.riders.press(pair, impact.axis, impact.sign)
            self.riders.land(pair, impact.axis, impact.sign)

    def _add_rubbing(self, pair: tuple[int, int], impact: Impact) -> None:
        """Note a contact, once in an instant.

        `Stop` and `Push` decide about the velocities along the surface themselves.
        """
        rows = sorted(pair, key=self.places.get)
        two = [self.bodies[n] for n in rows]
        friction = self._friction_of(two)
        if any(self.bodies[n].response in ("stop", "push") for n in self.yielding):
            friction = Fraction(0)
        if not friction:
            self.riders.press(pair, impact.axis, impact.sign)
        if self.rubbed_in.get(pair) == self.n_instants:
            if not friction:
                self.riders.land(pair, impact.axis, impact.sign)
            return
        self.rubbed_in[pair] = self.n_instants
        self.riders.met.append(Contact(*pair, impact.axis, impact.sign))
        may_turn = self.yielding if two[0].level == two[1].level else self.joining
        slides = {n for n in rows if n in may_turn or self._is_locked(n, impact.axis)}
        slides = {n for n in slides if self._is_free_along(n, impact.axis)}
        sign = impact.sign if rows[0] == pair[0] else -impact.sign
        lands = self.riders.may_land(pair, impact.axis, impact.sign)
        whom = set(may_turn), set(self.yielding), slides
        self.rubbing.append(Rubbing(rows, impact.axis, sign, friction, *whom, lands))

    def _slides(self, i: int, pair: tuple[int, int], k: int) -> bool:
        """Return whether an impact may change a body along the surface, if only a lock stops it."""
        (other,) = set(pair) - {i}
        return i in self.yielding or (
            self._is_locked(i, k)
            and self._is_free_along(i, k)
            and self.bodies[i].level <= self.bodies[other].level
        )

    def _is_locked(self, i: int, k: int) -> bool:
        """Return whether only a lock keeps an impact from changing a body."""
        return self.bodies[i].is_dynamic and i not in self.saved and k in self.bodies[i].locked

    def _is_free_along(self, i: int, k: int) -> bool:
        """Return whether a body can move on another axis than k."""
        return len(self.bodies[i].locked - {k}) < self.dim - 1

    def rub(self) -> bool:
        """Apply the friction of the contacts of this instant; return whether there was any.

        Then bodies land on what carries them, first on what is not dynamic.
        """
        contacts = self.rubbing[self.n_rubbed :]
        if not any(c.friction or c.may_carry for c in contacts):
            return False
        self._share_kicks(ends=False)
        for c in contacts:
            self.riders.catch_up(tuple(c.rows), c.axis)
        self._keep_press()
        self.n_rubbed = len(self.rubbing)
        if any(c.friction for c in contacts):
            self._find_budgets()
            Friction(self, contacts).apply()
        self._note_unpressed()
        for c in contacts:
            if c.friction:
                self.riders.press(tuple(c.rows), c.axis, c.sign)
        for c in sorted(contacts, key=lambda c: len(c.pressed)):
            self.riders.land(tuple(c.rows), c.axis, c.sign)
        return True

    def _keep_press(self) -> None:
        """Add up what has pressed bodies, before their contacts act along surfaces."""
        for (n, k), velocity in self.unpressed.items():
            change = self.velocity_after(n, k) - velocity
            change *= self.bodies[n].mass * self.kicks.decay(n)
            self.press[n, k] = self.press.get((n, k), Fraction(0)) + change

    def _note_unpressed(self) -> None:
        """Let what presses bodies count from now on."""
        self.unpressed = {key: self.velocity_after(*key) for key in self.unpressed}

    def _find_budgets(self) -> None:
        """Find what each contact may pass on: friction times the momentum that it bears."""
        self._choose_walls()
        contacts = []
        for c in self.rubbing:
            c.width = prod(self.edges(c.rows, c.axis))
            contacts.append((*self._ends(c, c.pressed), c.width))
        for c, load in zip(self.rubbing, passed_on(contacts, self.press), strict=True):
            c.budget = c.friction * load
        self.divide_by_widths([(c.rows, c.axis) for c in self.rubbing])

    def _ends(self, c: Rubbing, pressed: set[int]) -> list[tuple[int, int] | None]:
        """Return the low and the high body of a contact, each with its axis, None for a wall."""
        ends = [(n, c.axis) if n in pressed else None for n in c.rows]
        return [end if end in self.press else None for end in ends[:: -1 if c.sign > 0 else 1]]

    def _choose_walls(self) -> None:
        """Let one of two bodies of different dominance be a wall to the other one, which slides.

        It is the one behind which there is a wall, or the higher one if that is both or neither.
        """
        below: set = {None}
        above: set = {None}
        ends = [self._ends(c, c.may_turn) for c in self.rubbing]
        for _ in self.rubbing:
            below |= {high for low, high in ends if low in below}
            above |= {low for low, high in ends if high in above}
        for c, (low, high) in zip(self.rubbing, ends, strict=True):
            c.pressed = set(c.may_turn)
            lower, higher = sorted(c.rows, key=lambda n: self.bodies[n].level)
            if self.bodies[lower].level == self.bodies[higher].level:
                continue
            slider = lower
            if len(c.may_turn) == 2:
                if (low in below) != (high in above):
                    is_high = low in below
                    slider = c.rows[0] if is_high == (c.sign > 0) else c.rows[1]
                c.pressed = {slider}
            if len(c.slides) == 2:
                c.slides = {slider}

    def divide_by_widths(self, contacts: Sequence[tuple[Sequence[int], int]]) -> None:
        """Notice that the widths of contacts, each a pair and an axis, divide what acts on it."""

    def edges(self, pair: Iterable[int], axis: int) -> list[Fraction]:
        """Return how wide the faces of two bodies touch now, on each axis of the surface."""
        (low1, high1), (low2, high2) = (self.faces(n) for n in pair)
        return [
            max(Fraction(0), min(high1[k], high2[k]) - max(low1[k], low2[k]))
            for k in range(self.dim) if k != axis
        ]  # fmt: skip
