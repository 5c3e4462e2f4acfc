"""One step of a handful of boxes in exact fractions: what the library ought to do.

Written from the rules (`docs/design.md`, "The timeline"), not from the kernels:
all pairs instead of a tree, a search for the least key instead of a heap, and
neither slop nor rounding.  What meets at one instant meets at exactly that
instant.  `tests/exact/test_simulator.py` tests it by an oracle that shares no
code with it, and by faults put into this very file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from tests.exact import plastic

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
    max_speed : the most that its velocity may come to at both ends of a step
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

    @property
    def is_dynamic(self) -> bool:
        return self.response is not None and self.mass is not None

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
FACE, REBOUND, CORNER, CROSSING = range(4)
HELD = 2**62  # the rank of a held body


@dataclass(eq=False)
class Contact:
    """A pair whose bodies press on each other, or would, at this instant.

    Attributes
    ----------
    bound : what it asks of the velocities
    solid : who does not join, if one of the two does not
    event : the number of its event
    before : what the velocities of both came to when it was found
    speed : how fast it closed then, in a whole step
    is_plain : whether it changes nothing along the surface
    is_linked : whether it bounds the velocities
    has_pushed : whether it carried force when a round ended
    is_over : whether it is no more a part of the instant
    impulse : the force that it carries, or carried last
    """

    pair: tuple[int, int]
    bound: plastic.Bound
    solid: int | None
    event: int
    before: tuple[Fraction, Fraction]
    speed: Fraction
    axis: int
    is_plain: bool
    is_linked: bool = False
    has_pushed: bool = False
    is_over: bool = False
    is_finished: bool = False
    impulse: Fraction = Fraction(0)


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


RULES = {
    "average": lambda a, b: (a + b) / 2,
    "geometric": lambda a, b: root(a) * root(b),  # each is rounded
    "min": min,
    "multiply": lambda a, b: a * b,
    "max": max,
}


class State(NamedTuple):
    """The velocities of all bodies, what they come to, and who is in groups that last."""

    velocity: dict[int, list[Fraction]]
    final: dict[int, list[Fraction]]
    lasting: set[tuple[int, int]]


@dataclass
class Instant:
    """What is kept of an instant: the number of its first event, and the states around it."""

    time: Fraction
    first: int
    before: State
    after: State | None = None
    contacts: list[Contact] = field(default_factory=list)


class Cluster:
    """Dynamic bodies that move as one on an axis, and the static or kinematic one that holds them.

    Attributes
    ----------
    is_worn : whether a member is worn, so that what it joins lasts
    momentum : of a group that lasts to the end of the step: what its members share
    shift : for each member, by how much it is faster than the group
    """

    def __init__(self, shift: dict[int, Fraction]) -> None:
        self.shift = shift
        self.anchor: int | None = None
        self.is_worn = False
        self.momentum: Fraction | None = None

    @property
    def members(self) -> set[int]:
        return set(self.shift)

    @property
    def lasts(self) -> bool:
        return self.momentum is not None


def root(x: Fraction) -> Fraction:
    """Return the square root of a fraction: exactly if there is one, else to 128 bits."""
    whole = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if whole * whole == x:
        return whole
    shift = max(0, 256 - x.numerator.bit_length() + x.denominator.bit_length()) // 2 * 2
    return Fraction(isqrt((x.numerator << shift) // x.denominator), 1 << shift // 2)


class Simulator:
    """A step of `dt` seconds.

    Attributes
    ----------
    now : the part of the step that has passed
    queue : the next impact of each pair, under (lower id, higher id)
    earlier : of the bodies that have turned in this instant, their velocities before it
    entered : for each axis, the bodies that came into a group in this instant
    before : for each axis, of the bodies in a group, their velocities when they came into it
    contacts : of this instant, in the order of their events
    waiting : those of them that were found since velocities were answered last
    joined : those that were answered since, and whose rules along the surface are due
    postponed : the pairs that rebound, after all others of this instant
    worn : for each axis, the bodies that joins have turned in an earlier instant
    changed : the bodies whose velocity has changed since all their pairs were looked at
    turned_now : those of them whose faces were not looked at since
    leaves : of each crossing pair that was inside each other, when it leaves on its paths
    saved : of each body that is held to the end of the step, the velocity that it has again then
    held_at : when each of them was
    yielding : who yields in the resolution under way
    joining : who joins groups in it: also who outweighs the other
    impulse : what the normal part of it has passed from one to the other
    loss : twice the kinetic energy that the join of the resolution under way has taken, or None
    paths : for each body where it turned: (time, low faces, high faces)
    states : for each event the velocities of all bodies when it was found
    instants : what is kept of each instant to be looked at later
    """

    def __init__(
        self,
        bodies: Iterable[Body],
        dt: Fraction,
        *,
        pair_limit: int = 64,
        try_all_pairs: bool = False,
        watch: bool = False,
    ) -> None:
        self.bodies = {body.ident: body for body in sorted(bodies, key=lambda body: body.ident)}
        self.dim = len(next(iter(self.bodies.values())).low)
        self.dt = dt
        self.pair_limit = pair_limit
        self.try_all_pairs = try_all_pairs
        self.watch = watch

        self.now = Fraction(0)
        self.n_instants = 0
        self.since = dict.fromkeys(self.bodies, self.now)
        self.low = {i: list(body.low) for i, body in self.bodies.items()}
        self.high = {i: list(body.high) for i, body in self.bodies.items()}
        self.velocity = {i: body.restrained(body.velocity) for i, body in self.bodies.items()}
        self.growth = {i: self._growth_of(body) for i, body in self.bodies.items()}
        self.span: dict[int, list[tuple[float, float]]] = {}
        self.queue: dict[tuple[int, int], Impact] = {}
        self.clusters: list[dict[int, Cluster]] = [{} for _ in range(self.dim)]
        self.earlier: dict[int, list[Fraction]] = {}
        self.entered: list[set[int]] = [set() for _ in range(self.dim)]
        self.taken_out: list[set[int]] = [set() for _ in range(self.dim)]
        self.before: list[dict[int, Fraction]] = [{} for _ in range(self.dim)]
        self.contacts: list[Contact] = []
        self.waiting: list[Contact] = []
        self.joined: list[Contact] = []
        self.postponed: set[tuple[int, int]] = set()
        self.places = {i: self._place_of(body) for i, body in self.bodies.items()}
        self.worn: list[set[int]] = [set() for _ in range(self.dim)]
        self.leaves: dict[tuple[int, int], Fraction] = {}
        self.saved: dict[int, list[Fraction]] = {}
        self.held_at: dict[int, Fraction] = {}
        self.yielding: set[int] = set()
        self.joining: set[int] = set()
        self.impulse = Fraction(0)
        self.resolutions: dict[tuple[int, int], int] = {}
        self.repeats: dict[tuple[int, int], tuple[int, int]] = {}
        self.crushed: set[tuple[int, int]] = set()
        self.changed: set[int] = set()
        self.turned_now: set[int] = set()
        self.loss: Fraction | None = None
        self.events: list[Event] = []
        self.paths = {i: [(self.now, *self.faces(i))] for i in self.bodies}
        self.states: list[dict[int, list[Fraction]]] = []
        self.instants: list[Instant] = []
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

    def _place_of(self, body: Body) -> tuple[list[Fraction], list[Fraction]]:
        """Return the centre and the half sizes of a body."""
        sides = list(zip(body.low, body.high, strict=True))
        return [(a + b) / 2 for a, b in sides], [(b - a) / 2 for a, b in sides]

    def order_of(self, i: int) -> tuple:
        """Return by what bodies are ordered: where they are, how large, fast and heavy; then ids."""
        mass = self.bodies[i].mass
        return *self.places[i], self.velocity[i], mass is None, mass or Fraction(0), i

    def order_of_pair(self, pair: tuple[int, int]) -> list[tuple]:
        """Return by what pairs are ordered that close equally fast."""
        return sorted(self.order_of(i) for i in pair)

    def pairs(self) -> Iterable[tuple[int, int]]:
        """Yield all pairs of which at least one moves, the lower id first."""
        for i, one in self.bodies.items():
            for j, other in self.bodies.items():
                if i < j and (one.moves or other.moves):
                    yield i, j

    def crosses(self, pair: tuple[int, int]) -> bool:
        """Return whether the two go through each other."""
        one, other = (self.bodies[i] for i in pair)
        return one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic)

    # -- where bodies are --

    def faces(self, i: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return the low and high faces of a body now."""
        way = (self.now - self.since[i]) * self.dt
        low, high = [], []
        for k in range(self.dim):
            low.append(self.low[i][k] + (self.velocity[i][k] - self.growth[i][k]) * way)
            high.append(self.high[i][k] + (self.velocity[i][k] + self.growth[i][k]) * way)
        return low, high

    def _find_span(self, i: int) -> None:
        """Find what a body's remaining path spans, in floats and with room to spare."""
        rest = float((1 - self.since[i]) * self.dt)
        self.span[i] = []
        for k in range(self.dim):
            low, high = float(self.low[i][k]), float(self.high[i][k])
            velocity, growth = float(self.velocity[i][k]), float(self.growth[i][k])
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
            v1, w1 = self.velocity[i][k], self.growth[i][k]
            v2, w2 = self.velocity[j][k], self.growth[j][k]
            rate = ((v2 - w2) - (v1 + w1)) * self.dt
            found.append(Side(k, -1, low2[k] - high1[k], rate))
            rate = ((v1 - w1) - (v2 + w2)) * self.dt
            found.append(Side(k, 1, low1[k] - high2[k], rate))
        return found

    def sweep(self, pair: tuple[int, int]) -> Impact | None:
        """Return the next impact of a pair from now on, be it after the step's end."""
        return self.meeting(self.sides(pair))

    def meeting(self, sides: list[Side]) -> Impact | None:
        """Return the impact of which a pair's sides tell."""
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
            if (is_due and self.rank(pair) == FACE) or not self.settle():
                return pair

    def settle(self) -> bool:
        """Do the next of what is left of this instant; return whether there was anything.

        In this order: answer the contacts that wait; look for touching faces that close because
        of that; apply the rules along the surface; look at all pairs of what has turned.
        """
        if self.waiting:
            self.answer()
        elif self.turned_now:
            turned, self.turned_now = self.turned_now, set()
            for pair in self.pairs():
                if not turned.isdisjoint(pair):
                    self._look_at_faces(pair)
        elif self.joined:
            self.finish_joined()
        elif self.changed:
            self._look_at_all()
        else:
            return False
        return True

    def finish(self) -> None:
        """Go to the end of the step; who was held has its own velocity again.

        What is in a group that lasts gets the velocity that its members share.
        """
        self.end_instant()
        self.now = Fraction(1)
        for i in self.bodies:
            velocity = self.saved.get(i) or [self.final(i, k) for k in range(self.dim)]
            velocity = self.bodies[i].restrained(velocity)
            if velocity != self.velocity[i]:
                self.low[i], self.high[i] = self.faces(i)
                self.since[i] = self.now
                self.velocity[i] = velocity

    def key(self, pair: tuple[int, int]) -> tuple[Fraction, int, int, int]:
        """Return what decides whose turn it is."""
        return self.queue[pair].time, self.rank(pair), *pair

    def rank(self, pair: tuple[int, int]) -> int:
        """Return what a queued impact is: of those of one instant the lowest come first."""
        if self.crosses(pair):
            return CROSSING
        if pair in self.postponed:
            return REBOUND
        return CORNER if self.queue[pair].corner else FACE

    def take(self, pair: tuple[int, int]) -> None:
        """Take the impact of a pair, whose turn it is, and all faces that are due with it."""
        if self.queue[pair].time > self.now:
            self.advance(self.queue[pair].time)
        if self.watch and (not self.instants or self.instants[-1].after is not None):
            self.instants.append(Instant(self.now, len(self.events), self._state()))
        rank = self.rank(pair)
        if rank == CROSSING:
            self._take_crossing(pair, self.queue.pop(pair))
            return
        due = {}
        for other in [pair] if rank == CORNER else self._due(rank):
            if (impact := self._still_due(other)) is not None:
                due[other] = impact
        if rank == REBOUND:
            self._take_rebounds(due)
            return
        for other, impact in due.items():
            if rank == FACE and self.rebounds(other, impact):
                self.queue[other] = impact
                self.postponed.add(other)
            else:
                self.take_one(other, impact)

    def _due(self, rank: int) -> list[tuple[int, int]]:
        """Return the pairs of a rank that are due now."""
        now = [pair for pair, impact in self.queue.items() if impact.time == self.now]
        return sorted(pair for pair in now if self.rank(pair) == rank)

    def _still_due(self, pair: tuple[int, int]) -> Impact | None:
        """Take a pair off the queue; return its impact, if no turn has withdrawn it."""
        impact = self.queue.pop(pair)
        self.postponed.discard(pair)
        if not impact.is_stale:
            return impact
        again = self.sweep(pair)
        if again is None or again.time > self.now:
            if not impact.corner:
                self.report(pair, impact, STOPPED_ALREADY)
            self.look(pair)
            return None
        if again.corner and not impact.corner:
            self.queue[pair] = again
            return None
        return again

    def take_one(self, pair: tuple[int, int], impact: Impact) -> None:
        """Take an impact that is due, by itself or as a contact of the instant."""
        if self.hold_at_limit(pair, impact):
            again = self.sweep(pair)
            if again is None or again.time > self.now:
                return
            impact = again
        self.report(pair, impact, RESOLVED)
        self.resolve(pair, impact)

    def _take_rebounds(self, due: dict[tuple[int, int], Impact]) -> None:
        """Take the fastest of the pairs that rebound; the others wait on."""
        groups, later = self.choose(due)
        for pair in later:
            self.queue[pair] = due[pair]
            self.postponed.add(pair)
        for group in groups:
            if len(group) == 1:
                self.take_one(group[0], due[group[0]])
            else:
                self.reflect({pair: due[pair] for pair in group})

    def choose(
        self, due: dict[tuple[int, int], Impact]
    ) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int]]]:
        """Return which of the pairs that rebound are taken now, in groups, and which later.

        A pair is later if a faster one shares a body with it on its axis.
        """
        order = sorted(due, key=lambda pair: (-due[pair].rate, self.order_of_pair(pair)))
        groups: list[list[tuple[int, int]]] = []
        later: list[tuple[int, int]] = []
        first_of: dict[tuple[int, int], tuple[int, int]] = {}
        for pair in order:
            k = due[pair].axis
            for i in pair:
                if not self.is_dynamic_along(i, k):
                    continue
                other = first_of.setdefault((i, k), pair)
                if other == pair or pair in later:
                    continue
                own = next((group for group in groups if pair in group), [pair])
                group = next((group for group in groups if other in group), [])
                may_join = self.may_join(pair, k) and self.may_join(other, k)
                if other in later or due[other].rate != due[pair].rate or not may_join:
                    later.append(pair)
                elif own is not group:
                    group += own
                    groups = [each for each in groups if each is not own]
            if pair in later:
                groups = [[p for p in group if p != pair] for group in groups]
            elif not any(pair in group for group in groups):
                groups.append([pair])
        return [sorted(group, key=order.index) for group in groups if group], later

    def may_join(self, pair: tuple[int, int], k: int) -> bool:
        """Return whether a rebound may be one with others that are as fast."""
        return (
            all(
                self.is_dynamic_along(n, k)
                and n not in self.saved
                and self.growth[n][k] == 0
                and self.lasting_cluster(n, k) is None
                for n in pair
            )
            and len({self.bodies[n].level for n in pair}) == 1
        )

    def reflect(self, group: dict[tuple[int, int], Impact]) -> None:
        """Reflect all bodies of a group of rebounds at the mean of their velocities."""
        restitutions = []
        for pair, impact in group.items():
            self.yielding = self.weigh(pair, impact.axis)
            n_repeats = self._count_repeats(pair)
            self.resolutions[pair] = self.resolutions.get(pair, 0) + 1
            self.repeats[pair] = self.n_instants, n_repeats
            restitutions.append(self.restitution_of(pair, impact, n_repeats))
            self.report(pair, impact, RESOLVED)
        least = min(restitutions)
        k = next(iter(group.values())).axis
        bounds = []
        for (i, j), impact in group.items():
            low, high = (i, j) if impact.sign < 0 else (j, i)
            bounds.append(plastic.Bound(low, high, Fraction(0)))
        members = sorted({i for pair in group for i in pair})
        for i in members:
            self.leave(i, k)
        mass = sum(self.bodies[i].mass for i in members)
        mean = sum(self.bodies[i].mass * self.velocity[i][k] for i in members) / mass
        forces = plastic.forces_of_all(
            {i: self.bodies[i].mass * (self.velocity[i][k] - mean) for i in members}, bounds
        )
        for n, force in enumerate(forces, len(self.events) - len(group)):
            impulse = (1 + least) * max(force or Fraction(0), Fraction(0))
            outcome = STOPPED_ALREADY if force is None else RESOLVED
            self.events[n] = self.events[n]._replace(impulse=impulse, outcome=outcome)
        for i in members:
            self.change_alone(i, k, mean + least * (mean - self.velocity[i][k]))

    def _take_crossing(self, pair: tuple[int, int], impact: Impact) -> None:
        again = self.sweep(pair)
        if again is not None and again.time == self.now:
            self.report(pair, impact, CROSSED)
            self._note_inside(pair)
        else:
            self.look(pair)

    def advance(self, time: Fraction) -> None:
        """Go on to a later instant: groups end, but for those that last."""
        self.end_instant()
        for k, clusters in enumerate(self.clusters):
            for i in self.entered[k]:
                was = self.earlier.get(i, self.velocity[i])[k]
                if i not in clusters or self.rank_of(clusters[i]) != self.rank_of_body(i):
                    continue
                if not self.is_held_fast(clusters[i]) and self.velocity[i][k] != was:
                    self.worn[k].add(i)
            self.entered[k].clear()
            self.taken_out[k].clear()
            self.before[k].clear()
            for i, cluster in list(clusters.items()):
                if not cluster.lasts:
                    del clusters[i]
        self.earlier.clear()
        self.now = time
        self.n_instants += 1

    def end_instant(self) -> None:
        """Tell what the contacts of this instant have passed on."""
        self.note_forces()
        for contact in self.contacts:
            event = self.events[contact.event]
            if event.outcome == RESOLVED:
                outcome = RESOLVED if contact.has_pushed else STOPPED_ALREADY
                self.events[contact.event] = event._replace(
                    impulse=contact.impulse, outcome=outcome
                )
        if self.instants and self.instants[-1].after is None:
            self.instants[-1].after = self._state()
            self.instants[-1].contacts = self.contacts
        self.contacts = []

    def report(self, pair: tuple[int, int], impact: Impact, outcome: str) -> None:
        """Report an impact."""
        if self.watch:
            self.states.append({i: list(v) for i, v in self.velocity.items()})
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
            )
        )

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

    def _state(self) -> State:
        axes = range(self.dim)
        return State(
            {i: list(v) for i, v in self.velocity.items()},
            {i: [self.final(i, k) for k in axes] for i in self.bodies},
            {(i, k) for i in self.bodies for k in axes if self.lasting_cluster(i, k)},
        )

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

    def _look_at_faces(self, pair: tuple[int, int]) -> None:
        """Queue a pair whose faces touch, and whose impact is due at once."""
        if self.crosses(pair) or pair in self.crushed:
            return
        if pair in self.queue and self.queue[pair].time == self.now:
            return
        if not any(side.gap == 0 for side in self.sides(pair)):
            return
        impact = self.sweep(pair)
        if impact is not None and impact.time == self.now and not impact.overlaps:
            self.queue[pair] = impact

    def change(self, i: int, k: int, velocity: Fraction) -> None:
        """Give a body another velocity from now on."""
        if self.velocity[i][k] == velocity:
            return
        self.earlier.setdefault(i, list(self.velocity[i]))
        self.low[i], self.high[i] = self.faces(i)
        self.since[i] = self.now
        self.velocity[i][k] = velocity
        self.changed.add(i)
        self.turned_now.add(i)
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
        """Take a body out of its group, with its share of what they share.

        A group that does not last ends by that: its members keep their velocities.
        """
        cluster = self.clusters[k].get(i)
        if cluster is None:
            return
        if cluster.lasts:
            velocity = cluster.momentum / self.mass_of(cluster)
            del self.clusters[k][i], cluster.shift[i]
            cluster.momentum = velocity * self.mass_of(cluster)  # the others keep theirs
            ends = {i}
        else:
            self.note_forces()
            ends = cluster.members
            for n in ends:
                del self.clusters[k][n], self.before[k][n]
        for contact in self.contacts:
            if contact.axis == k and not ends.isdisjoint(contact.bound[:2]):
                contact.is_over = True

    def lasting_cluster(self, i: int, k: int) -> Cluster | None:
        """Return the group of a body on an axis, if that lasts to the end of the step."""
        cluster = self.clusters[k].get(i)
        return cluster if cluster is not None and cluster.lasts else None

    def is_dynamic_along(self, i: int, k: int) -> bool:
        """Return whether impacts turn a body on an axis."""
        return self.bodies[i].is_dynamic and k not in self.bodies[i].locked

    def rank_of_body(self, i: int) -> int:
        """Return the dominance of a body; a held one is above all."""
        return HELD if i in self.saved else self.bodies[i].level

    def rank_of(self, cluster: Cluster) -> int:
        """Return the highest dominance in a group."""
        return max((self.rank_of_body(n) for n in cluster.shift), default=0)

    def is_held_fast(self, cluster: Cluster) -> bool:
        """Return whether a static, kinematic or held body holds a group."""
        return cluster.anchor is not None or self.rank_of(cluster) == HELD

    def rank_with(self, i: int, k: int) -> int:
        """Return the highest dominance in the group of a body, or its own."""
        cluster = self.clusters[k].get(i)
        return self.rank_of_body(i) if cluster is None else self.rank_of(cluster)

    def mass_of(self, cluster: Cluster) -> Fraction:
        """Return the mass of all members of a group that have its highest dominance."""
        rank = self.rank_of(cluster)
        masses = [self.bodies[n].mass for n in cluster.shift if self.rank_of_body(n) == rank]
        return sum(masses, Fraction(0))

    def path_of(self, cluster: Cluster, k: int) -> Fraction:
        """Return the velocity of the path of a group."""
        member = next(iter(cluster.shift))
        return self.velocity[member][k] - cluster.shift[member]

    def velocity_of(self, cluster: Cluster, k: int) -> Fraction:
        """Return the velocity with which a group leaves the step."""
        if cluster.lasts:
            return cluster.momentum / self.mass_of(cluster)
        return self.path_of(cluster, k)

    def final(self, i: int, k: int) -> Fraction:
        """Return the velocity that a body has at the end, if nothing more happens to it."""
        cluster = self.lasting_cluster(i, k)
        if cluster is None:
            return self.velocity[i][k]
        return self.velocity_of(cluster, k) + cluster.shift[i]

    def change_along(self, i: int, k: int, velocity: Fraction) -> None:
        """Give a body another velocity along a surface; in a group that lasts, all get a share."""
        cluster = self.lasting_cluster(i, k)
        if k in self.bodies[i].locked:
            return
        if cluster is None:
            self.change_alone(i, k, velocity)
        elif self.bodies[i].level == self.rank_of(cluster):
            cluster.momentum += self.bodies[i].mass * (velocity - self.final(i, k))

    # -- limits --

    def hold_at_limit(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Hold the bodies of a pair that has had all of its resolutions; return whether any is."""
        is_held = any(n in self.saved for n in pair)
        n_repeats = self._count_repeats(pair)
        if self.resolutions.get(pair, 0) < self.pair_limit and not (
            is_held and n_repeats >= REPEAT_LIMIT and self.resizes(pair, impact.axis)
        ):
            return False
        wanted = [n for n in pair if self.bodies[n].is_dynamic and n not in self.saved]
        for n in wanted:
            self.hold(n)
        return bool(wanted)

    def hold(self, i: int) -> None:
        """Let a body stay where it is, and as large as it is, to the end of the step."""
        self.low[i], self.high[i] = self.faces(i)
        self.since[i] = self.now
        velocity = [self.final(i, k) for k in range(self.dim)]
        self.held_at[i] = self.now
        self.growth[i] = [Fraction(0)] * len(self.growth[i])
        for k in range(self.dim):
            self.leave(i, k)
            self.change(i, k, Fraction(0))
        self.saved[i] = velocity
        self.changed.add(i)
        for pair, impact in self.queue.items():
            if i in pair and impact.time == self.now:
                impact.is_stale = True

    def weigh(self, pair: tuple[int, int], k: int) -> set[int]:
        """Return who yields: a held body does not to one that does, unless that one is driven.

        Of two with another dominance only the lower one, or the higher one if what holds the
        lower one is above it.
        """
        yielding = {n for n in pair if self.is_dynamic_along(n, k)}
        held = {n for n in yielding if n in self.saved}
        self.joining = yielding
        if len(yielding) == 2 and not held:
            lower, higher = sorted(pair, key=lambda n: self.bodies[n].level)
            if self.bodies[lower].level != self.bodies[higher].level:
                cluster = self.clusters[k].get(lower)
                if (cluster is not None and self.is_held_fast(cluster)) or (
                    self.rank_with(lower, k) > self.bodies[higher].level
                ):
                    return {higher}
                return {lower}
        if len(yielding) == 2 and len(held) == 1:
            (free,) = yielding - held
            cluster = self.clusters[k].get(free)
            if cluster is None or cluster.anchor is None:
                self.joining = yielding - held
        return self.joining

    def shown(self, i: int) -> list[Fraction]:
        """Return the velocity of a body as events tell it."""
        return self.saved.get(i, self.velocity[i])

    def resizes(self, pair: tuple[int, int], k: int) -> bool:
        """Return whether the touching faces of a pair grow or shrink."""
        return any(self.growth[n][k] != 0 for n in pair)

    def _count_repeats(self, pair: tuple[int, int]) -> int:
        """Return how often a pair has been resolved in this instant when it is resolved again."""
        last, n_repeats = self.repeats.get(pair, (-1, 0))
        return n_repeats + 1 if last == self.n_instants else 0

    # -- answers --

    def rebounds(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Return whether a pair is answered by itself, after all others of this instant."""
        self.weigh(pair, impact.axis)
        if self.resizes(pair, impact.axis) and any(n in self.saved for n in pair):
            return True
        return self.restitution_of(pair, impact, self._count_repeats(pair)) > 0

    def repeats_too_often(self, pair: tuple[int, int], k: int, n_repeats: int) -> bool:
        """Return whether a pair is answered too often in this instant to bounce or turn again."""
        return n_repeats >= (RESIZING_LIMIT if self.resizes(pair, k) else INSTANT_LIMIT)

    def restitution_of(self, pair: tuple[int, int], impact: Impact, n_repeats: int) -> Fraction:
        """Return the restitution of a pair that was weighed, when it is answered now."""
        yielding = self.weigh(pair, impact.axis)
        if impact.overlaps or any(n in self.saved for n in yielding):
            return Fraction(0)
        restitution = self._restitution_of(pair)
        if restitution < 1 and self.repeats_too_often(pair, impact.axis, n_repeats):
            return Fraction(0)
        return restitution

    def resolve(self, pair: tuple[int, int], impact: Impact) -> None:
        """Resolve the impact that was reported last, or let it be a contact of the instant."""
        self.resolutions[pair] = self.resolutions.get(pair, 0) + 1
        n_repeats = self._count_repeats(pair)
        self.repeats[pair] = self.n_instants, n_repeats

        k = impact.axis
        event = len(self.events) - 1
        resizes = self.resizes(pair, k)
        self.yielding = self.weigh(pair, k)
        self.impulse = Fraction(0)
        if (
            self.resolutions[pair] > self.pair_limit + REPEAT_LIMIT
            or (resizes and n_repeats >= REPEAT_LIMIT)
            or not self.yielding
        ):
            self.crush(pair, event)
            return
        is_plain = any(n in self.saved for n in self.yielding)
        is_plain |= self.repeats_too_often(pair, k, n_repeats)
        restitution = self.restitution_of(pair, impact, n_repeats)
        v1, v2 = ([self.final(n, axis) for axis in range(self.dim)] for n in pair)
        self.loss = None
        if resizes and (restitution > 0 or any(n in self.saved for n in pair)):
            self._exchange(pair, impact, restitution)
        elif resizes or restitution == 0 or not self._rebound(pair, impact, restitution):
            self.close(pair, impact, event, is_plain)
            return
        self.events[event] = self.events[event]._replace(impulse=self.impulse)
        if not is_plain:
            self._turn(*pair, k, v1, v2, restitution)

    def crush(self, pair: tuple[int, int], event: int) -> None:
        """Leave a pair alone from now on."""
        self.crushed.add(pair)
        self.events[event] = self.events[event]._replace(outcome=CRUSHED)

    # -- the contacts of an instant --

    def close(self, pair: tuple[int, int], impact: Impact, event: int, is_plain: bool) -> None:
        """Let a pair that was weighed be a contact of this instant."""
        k = impact.axis
        growth = self.growth[pair[0]][k] + self.growth[pair[1]][k]
        before = self.final(pair[0], k), self.final(pair[1], k)
        solid = next((n for n in pair if n not in self.joining), None)
        for n in self.joining:
            self._cluster_of(n, k)
        i, j = pair if impact.sign < 0 else pair[::-1]
        low, high = (n if n in self.joining else None for n in (i, j))
        if low is None:
            growth += self.velocity[i][k]
        elif high is None:
            growth = self.velocity[j][k] - growth
        contact = Contact(
            pair, plastic.Bound(low, high, growth), solid, event, before,
            impact.rate / self.dt, k, is_plain,
        )  # fmt: skip
        self.contacts.append(contact)
        self.waiting.append(contact)

    def closing(self, contact: Contact) -> Fraction:
        """Return how fast a contact closes now."""
        low, high, offset = contact.bound
        if low is None:
            return offset - self.velocity[high][contact.axis]
        if high is None:
            return self.velocity[low][contact.axis] - offset
        return self.velocity[low][contact.axis] + offset - self.velocity[high][contact.axis]

    def answer(self) -> None:
        """Find the velocities that all contacts of this instant bound.

        Those that wait come from the fastest to the slowest, and bound only if they close then.
        """
        while self.waiting:
            waiting, self.waiting = self.waiting, []
            waiting.sort(key=lambda c: (-c.speed, self.order_of_pair(c.pair)))
            for contact in waiting:
                if contact.is_over:
                    continue
                self.joined.append(contact)
                if self.closing(contact) <= 0 or self._joins_lasting(contact):
                    continue
                contact.is_linked = True
                if not self._press(contact):
                    contact.is_linked, contact.is_over = False, True
                    self.crush(contact.pair, contact.event)
            for contact in self.contacts:
                if not (contact.is_over or contact.is_linked) and self.closing(contact) > 0:
                    self.waiting.append(contact)

    def _press(self, contact: Contact) -> bool:
        """Find the velocities of all that a contact presses together; False if there are none."""
        k = contact.axis
        near = [c for c in self.contacts if c.axis == k and c.is_linked and not c.is_over]
        members = [n for n in contact.bound[:2] if n is not None]
        for i in members:
            for each in near:
                if i in each.bound[:2]:
                    members += {*each.bound[:2]} - {None, *members}
        bounding = [c for c in near if any(n in members for n in c.bound[:2])]
        free = {
            n: plastic.Free(self.bodies[n].mass, self.rank_of_body(n), self.before[k][n])
            for n in members
        }
        found = plastic.solve(free, [c.bound for c in bounding])
        if found is None:
            return False
        trees, forces = found
        for tree in trees:
            cluster = Cluster(tree.shift)
            rank = self.rank_of(cluster)
            cluster.is_worn = any(
                self._is_worn(n, k) for n in tree.shift if self.rank_of_body(n) == rank
            )
            if tree.wall is not None:
                cluster.anchor = bounding[tree.wall].solid
            self._set_cluster(cluster, k, tree.velocity)
        for each, force in zip(bounding, forces, strict=True):
            each.impulse = force
        return True

    def _set_cluster(self, cluster: Cluster, k: int, velocity: Fraction) -> None:
        for n, shift in cluster.shift.items():
            self.clusters[k][n] = cluster
            self.change(n, k, velocity + shift)

    def note_forces(self) -> None:
        """Note which contacts carry force now."""
        for contact in self.contacts:
            if contact.is_linked and not contact.is_over:
                contact.has_pushed |= contact.impulse > 0

    def finish_joined(self) -> None:
        """Apply the rules along the surface for the contacts that carry force."""
        joined, self.joined = self.joined, []
        self.note_forces()
        for contact in joined:
            if contact.has_pushed and not (contact.is_over or contact.is_finished):
                contact.is_finished = True
                if not contact.is_plain:
                    self._finish(contact)

    def _finish(self, contact: Contact) -> None:
        """Apply the rules along the surface for a contact."""
        k = contact.axis
        self.yielding = self.weigh(contact.pair, k)
        v1, v2 = ([self.final(n, axis) for axis in range(self.dim)] for n in contact.pair)
        v1[k], v2[k] = contact.before
        self.loss = None
        clusters = [self.clusters[k][n] for n in contact.pair if n in self.clusters[k]]
        if len(self.yielding) == 2 and not any(self.is_held_fast(each) for each in clusters):
            self.loss = contact.impulse * contact.speed
        self._turn(*contact.pair, k, v1, v2, Fraction(0))

    # -- groups that last --

    def _joins_lasting(self, contact: Contact) -> bool:
        """Let the two groups of a contact last as one; return False if they do not last."""
        k = contact.axis
        low, high, _ = contact.bound
        if not (low is not None and self._leaves_for(low, high, k)) and high is not None:
            self._leaves_for(high, low, k)
        if low is None or high is None:
            return False
        one, other = self.clusters[k][low], self.clusters[k][high]
        if one is other and one.lasts:  # it grows against itself
            self._take_out(low, k)
            self._take_out(high, k)
        if one is other or one.anchor is not None or other.anchor is not None:
            return False
        if self.rank_of(one) != self.rank_of(other):
            leader = max(one, other, key=self.rank_of)
            if not leader.lasts:
                return False
        elif one.is_worn or one.lasts or other.is_worn or other.lasts:
            leader = one if self._leads(one, other) else other
        else:
            return False
        self._join_to_last(contact, one, other, leader)
        return True

    def _leaves_for(self, i: int, other: int | None, k: int) -> bool:
        """Take a body out of a group that lasts if its partner outweighs that; return whether so.

        It has its share of the momentum until velocities are answered.
        """
        lasting = self.lasting_cluster(i, k)
        if lasting is None:
            return False
        if other is not None:
            cluster = self.clusters[k][other]
            if cluster.anchor is None and self.rank_of(cluster) <= self.rank_of(lasting):
                return False
        self._take_out(i, k)
        return True

    def _take_out(self, i: int, k: int) -> None:
        """Take a body out of a group that lasts, with its share of the momentum."""
        share = self.final(i, k)
        contacts = [c for c in self.contacts if c.axis == k and i in c.bound[:2] and not c.is_over]
        self.leave(i, k)
        self.taken_out[k].add(i)
        self._cluster_of(i, k)
        self.before[k][i] = share
        for contact in contacts:
            contact.is_linked = contact.is_over = False

    def _join_to_last(
        self, contact: Contact, one: Cluster, other: Cluster, leader: Cluster
    ) -> None:
        """Let two groups last as one, of which the leader keeps its path."""
        k = contact.axis
        low, high, offset = contact.bound
        shift = one.shift[low] + offset - other.shift[high]
        apart = self.velocity_of(one, k) + shift - self.velocity_of(other, k)
        mass1, mass2 = self.mass_of(one), self.mass_of(other)
        joined = Cluster(one.shift | {n: s + shift for n, s in other.shift.items()})
        velocity = self.path_of(leader, k) - (shift if leader is other else 0)
        if self.rank_of(one) == self.rank_of(other):
            joined.is_worn = one.is_worn or other.is_worn
            joined.momentum = mass1 * self.velocity_of(one, k)
            joined.momentum += mass2 * (self.velocity_of(other, k) - shift)
            mass = mass1 * mass2 / (mass1 + mass2)
        else:
            joined.is_worn, joined.momentum = leader.is_worn, leader.momentum
            if leader is other:
                joined.momentum -= mass2 * shift
            mass = mass2 if leader is one else mass1
        contact.impulse += mass * abs(apart)
        contact.has_pushed = True
        self.note_forces()
        for each in self.contacts:
            if each.axis == k and each.is_linked and not joined.members.isdisjoint(each.bound[:2]):
                each.is_linked = False
        self._set_cluster(joined, k, velocity)

    # -- answers by pairs --

    def _restitution_of(self, pair: tuple[int, int]) -> Fraction:
        """Return the restitution of a pair, by the higher one of the rules that are given."""
        found = []
        for n in pair:
            body = self.bodies[n]
            if body.surface is not None:
                found.append(body.surface)
            elif n in self.joining and body.response == "deflect":
                found.append(body.restitution)
        rules = [self.bodies[n].rule for n in pair if self.bodies[n].rule is not None]
        rule = RULES[max(rules, key=[*RULES].index, default="max")]
        return rule(*found) if len(found) == 2 else max(found, default=Fraction(0))

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
        u, v = self.final(i, k), self.velocity[j][k]
        if (u - v) * sign >= 0:
            return False
        if j not in self.yielding:
            self.impulse = self.bodies[i].mass * abs((1 + restitution) * (u - v))
            self.change_alone(i, k, v - restitution * (u - v))
            return True
        cluster = self.clusters[k][i]
        if self.rank_of(cluster) > self.bodies[j].level:
            self.impulse = self.bodies[j].mass * abs((1 + restitution) * (u - v))
            after = u - restitution * (v - u)
            self.change_alone(j, k, after)
            return (self.velocity[i][k] - after) * sign >= 0
        total, mass = self.mass_of(cluster), self.bodies[j].mass
        after = v + (1 + restitution) * (u - v) * total / (total + mass)
        cluster.momentum -= mass * (after - v)
        self.impulse = mass * abs(after - v)
        self.loss = total * mass / (total + mass) * (1 - restitution**2) * (u - v) ** 2
        self.change_alone(j, k, after)
        return (self.velocity[i][k] - after) * sign >= 0

    def _leads(self, one: Cluster, other: Cluster) -> bool:
        """Return whether the first of two groups keeps its velocity when they join to last."""
        if self.mass_of(one) != self.mass_of(other):
            return self.mass_of(one) > self.mass_of(other)
        if (one.is_worn or one.lasts) != (other.is_worn or other.lasts):
            return one.is_worn or one.lasts
        return self._foremost(one) < self._foremost(other)

    def _foremost(self, cluster: Cluster) -> tuple:
        """Return what orders the first of those who have the highest dominance in a group."""
        rank = self.rank_of(cluster)
        return min(self.order_of(n) for n in cluster.shift if self.rank_of_body(n) == rank)

    def _is_worn(self, i: int, k: int) -> bool:
        return i in self.worn[k] and i not in self.taken_out[k]

    def _cluster_of(self, i: int, k: int) -> Cluster:
        """Return the group of a dynamic body, be it one of its own."""
        if i not in self.clusters[k]:
            cluster = self.clusters[k][i] = Cluster({i: Fraction(0)})
            cluster.is_worn = self._is_worn(i, k)
            self.before[k][i] = self.velocity[i][k]
            self.entered[k].add(i)
        return self.clusters[k][i]

    def _turn(
        self,
        i: int,
        j: int,
        k: int,
        v1: list[Fraction],
        v2: list[Fraction],
        restitution: Fraction,
    ) -> None:
        """Apply each body's own rule along the surface; v1 and v2 are from before."""
        one, other = self.bodies[i], self.bodies[j]
        along = [axis for axis in range(self.dim) if axis != k]
        if len(self.yielding) == 2 and one.response == other.response == "stop":
            for axis in along:
                if axis in one.locked or axis in other.locked:
                    self.change_along(i, axis, v2[axis])
                    self.change_along(j, axis, v1[axis])
                    continue
                mean = (one.mass * v1[axis] + other.mass * v2[axis]) / (one.mass + other.mass)
                self.change_along(i, axis, mean)
                self.change_along(j, axis, mean)
            return
        wanted = {
            n: self._wanted(n, own, partner, along, restitution)
            for n, own, partner in ((i, v1, v2), (j, v2, v1))
            if n in self.yielding
        }
        part = self._part_to_turn(wanted, {i: v1, j: v2}, k)
        for n, velocity in wanted.items():
            for axis in along:
                now = self.final(n, axis)
                self.change_along(n, axis, now + part * (velocity[axis] - now))

    def _wanted(
        self,
        i: int,
        own: list[Fraction],
        partner: list[Fraction],
        along: list[int],
        restitution: Fraction,
    ) -> list[Fraction]:
        """Return the velocity that a body's own rule wants along the surface."""
        wanted = [self.final(i, axis) for axis in range(self.dim)]
        if self.bodies[i].response == "stop":
            for axis in along:
                if axis not in self.bodies[i].locked:
                    wanted[axis] = partner[axis]
        elif self.bodies[i].response == "push" and restitution == 0:
            relative = [a - b for a, b in zip(own, partner, strict=True)]
            slide = sum(relative[axis] ** 2 for axis in along)
            if slide != 0:
                faster = root(sum(r**2 for r in relative) / slide)
                for axis in along:
                    if axis not in self.bodies[i].locked:
                        wanted[axis] = partner[axis] + relative[axis] * faster
        return wanted

    def _part_to_turn(
        self, wanted: dict[int, list[Fraction]], before: dict[int, list[Fraction]], k: int
    ) -> Fraction:
        """Return how far bodies may go to what they want, so that no energy is won.

        A partner that only a locked axis keeps from yielding is no frame: it counts in the world.
        """
        levels = [self.bodies[n].level for n in wanted]
        still = [
            n
            for n in before
            if n not in wanted
            and not (
                self.bodies[n].is_dynamic
                and k in self.bodies[n].locked
                and n not in self.saved
                and self.bodies[n].level <= max(levels)
            )
        ]
        frame = before[still[0]] if still else [Fraction(0)] * self.dim
        energy = gain = square = slope = Fraction(0)
        for n, velocity in wanted.items():
            mass = self.bodies[n].mass
            for axis in range(self.dim):
                now = self.final(n, axis) - frame[axis]
                way = velocity[axis] - self.final(n, axis)
                energy += mass * (before[n][axis] - frame[axis]) ** 2
                gain += mass * now**2
                square += mass * way**2
                slope += mass * now * way
        gain -= energy
        if self.loss is not None:  # what the pair has lost may have gone to others of its group
            gain = max(gain, -self.loss)
        gain = min(gain, Fraction(0))
        if square + 2 * slope + gain <= energy * ROUNDED_ROOT:
            return Fraction(1)
        return max(Fraction(0), (root(slope**2 - square * gain) - slope) / square)
