"""Who stands on whom, and goes along with it: the rules of `Carry` in exact fractions.

A *rider* is a dynamic body that touches a carrying face: one of a body with `Carry`, or the same
side of another rider.  Its velocity in the world is that of the carrier and its *own*, which the
game reads and sets between steps:

- At the start of a step the velocity of its carrier is added to its own.
- It keeps its own velocity when its carrier turns.
- Who lands is carried from then on.  It gains no speed by that: along the face its own velocity
  becomes the smallest one between that in the world and that relative to the carrier.
- A third body in the way blocks the part of the carrier first, and only then its own.
- At the end its own velocity is left.

`Riders` says this to a `Simulator`, which tells it what it does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.exact.simulator import Simulator

SAME = Fraction(1, 2**24)  # of two velocities: what rounding may come to


class Contact(NamedTuple):
    """Two bodies that touch; the normal points to the first."""

    first: int
    second: int
    axis: int
    sign: int


class Carry(NamedTuple):
    """The face of a body that carries, by axis and sign, and how fast it runs along itself."""

    side: tuple[int, int]
    surface: list[Fraction]


class Standing(NamedTuple):
    """A contact, as seen from the body that may stand on the other: the face of that, and where."""

    body: int
    on: int
    side: tuple[int, int]  # axis and sign of the face
    width: Fraction


@dataclass
class Ride:
    """A rider, and what carries it.

    Attributes
    ----------
    alone : the velocity by which the carrier, the widest of several, would carry it alone
    carried : the mean of all that carry it
    differs : the axes on which these differ
    own, blocked : its own velocity, and what others keep from it of the carrier's
    kick : what damping adds to its own velocity at the end of the step
    first : the three before the turns of an instant, and the number of that
    is_off : whether it has left its carrier
    """

    carrier: int
    side: tuple[int, int]
    width: Fraction
    alone: list[Fraction]
    carried: list[Fraction] = field(default_factory=list)
    differs: set[int] = field(default_factory=set)
    is_shared: bool = False
    own: list[Fraction] = field(default_factory=list)
    blocked: list[Fraction] = field(default_factory=list)
    kick: list[Fraction] = field(default_factory=list)
    first: tuple[list[Fraction], list[Fraction], list[Fraction], int] | None = None
    is_off: bool = False


def nearest(one: Fraction, other: Fraction) -> Fraction:
    """Return the number between two that is nearest to 0."""
    return Fraction(0) if one * other <= 0 else min(one, other, key=abs)


def is_same(one: Fraction, other: Fraction, more: Fraction = Fraction(0)) -> bool:
    """Return whether two velocities are the same but for rounding, of a third one, too."""
    return abs(one - other) <= SAME * (abs(other) + abs(more))


class Riders:
    """The riders of a step.

    Attributes
    ----------
    rides : of each rider
    met : the contacts of this instant
    storey : of a rider 1, of what rides on it 2, and so on
    """

    def __init__(self, step: Simulator, contacts: Iterable[Contact], new: Collection[int]) -> None:
        self.step = step
        self.rides: dict[int, Ride] = {}
        self.met: list[Contact] = []
        # of riders, on an axis: with what third bodies that they have met at this instant go along
        self.others: dict[tuple[int, int], list[Fraction]] = {}
        contacts = [*contacts, *self._touching(new)]
        came = {i: list(v) for i, v in step.velocity.items()}
        for _ in range(len(contacts) + 1):  # until all who stand on riders go with them, too
            last, self.rides = self.rides, self.found(contacts, self.rides)
            for i, ride in self.rides.items():
                step.velocity[i] = list(came[i])
                ride.own = list(came[i])
                ride.blocked, ride.kick = ([Fraction(0)] * step.dim for _ in range(2))
                if i in new:  # as where it lands
                    ride.own = [
                        came[i][k] if k == ride.side[0] else self._own_of(i, ride, k)
                        for k in range(step.dim)
                    ]
            for i, ride in self.rides.items():
                step.velocity[i] = [a + b for a, b in zip(ride.own, ride.carried, strict=True)]
            if last == self.rides:
                break
        self.storey: dict[int, int] = {}
        for i in self.rides:
            below = [i]
            while below[-1] in self.rides and len(below) <= len(self.rides):
                below.append(self.rides[below[-1]].carrier)
            self.storey[i] = len(below) - 1

    def follow_paths(self) -> None:
        """Carry the riders of damped bodies, and theirs, as fast as their paths go."""
        for top in [n for n, body in self.step.bodies.items() if body.damping]:
            led = [top]
            for carrier in led:
                for i, ride in self.rides.items():
                    if ride.carrier == carrier and i != top:
                        led.append(i)
                        self._find_carried(i)
                        self.step.velocity[i] = [
                            a + b for a, b in zip(ride.own, ride.carried, strict=True)
                        ]

    def _touching(self, new: Collection[int]) -> Iterable[Contact]:
        """Return the contacts of new bodies."""
        step = self.step
        for pair in step.pairs():
            sides = [] if set(new).isdisjoint(pair) or step.crosses(pair) else step.sides(pair)
            for side in sides:
                if side.gap == 0 and all(s.gap < 0 for s in sides if s.axis != side.axis):
                    yield Contact(*pair, side.axis, side.sign)

    # -- who carries whom --

    def carries(
        self, j: int, side: tuple[int, int], rides: Mapping[int, Ride] | None = None
    ) -> bool:
        """Return whether a side of a body carries: its own, or that of a rider."""
        carry, rides = self.step.bodies[j].carry, self.rides if rides is None else rides
        return (carry is not None and carry.side == side) or (j in rides and rides[j].side == side)

    def belt(self, j: int, axis: int, sign: int) -> list[Fraction]:
        """Return how fast a face of a body runs along itself."""
        carry = self.step.bodies[j].carry
        if carry is None or carry.side != (axis, sign):
            return [Fraction(0)] * self.step.dim
        return [v if k != axis else Fraction(0) for k, v in enumerate(carry.surface)]

    def found(
        self, contacts: Iterable[Contact], rides: Mapping[int, Ride] | None = None
    ) -> dict[int, Ride]:
        """Return who rides, by the contacts there are and those who ride already."""
        standing: dict[int, list[Standing]] = {}
        for i, j, axis, sign in contacts:
            for body, on, up in ((i, j, sign), (j, i, -sign)):
                if self.step.bodies[body].is_dynamic and self.carries(on, (axis, up), rides):
                    width = self.width(i, j, axis)
                    standing.setdefault(body, []).append(Standing(body, on, (axis, up), width))
        return {i: self._best(places) for i, places in standing.items()}

    def width(self, i: int, j: int, axis: int) -> Fraction:
        """Return how wide the faces of two bodies touch, in 3D the area."""
        (low1, high1), (low2, high2) = (self.step.faces(n) for n in (i, j))
        return prod(
            max(Fraction(0), min(high1[k], high2[k]) - max(low1[k], low2[k]))
            for k in range(self.step.dim) if k != axis
        )  # fmt: skip

    def _best(self, places: Sequence[Standing]) -> Ride:
        """Return the ride on the face that comes fastest towards the rider.

        Then the highest axis counts, and several of one side carry at their mean by width.
        """
        speed = {place: self.speed(place) for place in places}

        def push(place: Standing) -> tuple:
            axis, sign = place.side
            return sign * speed[place][axis], axis, sign

        most = max(map(push, places))
        best = [place for place in places if push(place) == most]
        widest = min(best, key=lambda place: (-place.width, self.step.places[place.on]))
        ride = Ride(widest.on, widest.side, widest.width, speed[widest])
        ride.is_shared = len(best) > 1
        self.step.divide_by_widths([((p.body, p.on), p.side[0]) for p in best])
        ride.carried = list(ride.alone)
        total = sum(place.width for place in best)
        for k in range(self.step.dim):
            if any(speed[place][k] != ride.alone[k] for place in best):
                ride.differs.add(k)
                if total:
                    ride.carried[k] = sum(p.width * speed[p][k] for p in best) / total
        return ride

    def speed(self, place: Standing) -> list[Fraction]:
        """Return with which velocity a face carries: a dynamic body feels the weight on it.

        Therefore it passes on along the normal only what it has from its own carrier.
        """
        step, j, (axis, sign) = self.step, place.on, place.side
        body = step.bodies[j]
        part = self.part(j)
        if body.carry is None or body.carry.side != place.side:
            found = part
        else:
            belt = self.belt(j, axis, sign)
            found = [v + w for v, w in zip(step.velocity[j], belt, strict=True)]
            found[axis] += sign * step.growth[j][axis]
            if body.is_dynamic:
                found[axis] = part[axis]
        locked = step.bodies[place.body].locked
        return [Fraction(0) if k in locked else v for k, v in enumerate(found)]

    def part(self, j: int) -> list[Fraction]:
        """Return what a body has of its velocity from its carrier."""
        if j not in self.rides:
            return [Fraction(0)] * self.step.dim
        ride, velocity = self.rides[j], self.step.velocity[j]
        return [v - own for v, own in zip(velocity, ride.own, strict=True)]

    # -- within the step --

    def is_riding(self, i: int) -> bool:
        """Return whether a body has a carrier that it has not left."""
        return i in self.rides and not self.rides[i].is_off

    def note_partings(self) -> None:
        """Note who is apart from its carrier now."""
        for i, ride in self.rides.items():
            ride.is_off |= self.step.are_apart(i, ride.carrier)

    def settle(self, i: int, *, by_carrier: bool = False) -> None:
        """Find the own velocity of a rider after its turns in this instant."""
        if i not in self.rides or i in self.step.saved:
            return
        ride, instant = self.rides[i], self.step.n_instants
        if by_carrier:
            ride.first = None
        else:
            if ride.first is None or ride.first[3] != instant:
                ride.first = list(ride.own), list(ride.blocked), list(ride.kick), instant
            ride.own, ride.blocked, ride.kick = (list(of) for of in ride.first[:3])
        for k in range(self.step.dim):
            v, c, own = self.step.final(i, k), ride.carried[k], self._own_now(ride, i, k)
            ride.kick[k] = self.step.kicks.of[i][k]
            if k == ride.side[0]:
                own = v - c
            elif v != own + c:
                if by_carrier:
                    own = self._own_on_carrier(own, ride.blocked[k], v, c)
                else:
                    own = self._own_after(own, v, c, self._lack(i, k, c))
            ride.own[k] = own
            ride.blocked[k] = Fraction(0) if is_same(own + c, v, own) else own + c - v

    def _own_now(self, ride: Ride, i: int, k: int) -> Fraction:
        """Return the own velocity of a rider's path, which damping may have bent since."""
        return ride.own[k] + ride.kick[k] - self.step.kicks.of[i][k]

    @staticmethod
    def _own_after(own: Fraction, v: Fraction, c: Fraction, lack: Fraction) -> Fraction:
        """Return the own velocity along the face after a third body has left the velocity v."""
        ends = v - c, v - c + lack
        return own if min(ends) <= own <= max(ends) else nearest(*ends)

    @staticmethod
    def _own_on_carrier(own: Fraction, blocked: Fraction, v: Fraction, c: Fraction) -> Fraction:
        """Return the own velocity along the face after the carrier has left the velocity v."""
        if blocked == 0:
            return v - c
        change = v - c - (own - blocked)  # if it takes the rider along, own stays
        if own * change >= 0:
            return own
        return own + change if abs(change) < abs(own) else Fraction(0)

    def _along_with(self, j: int, k: int) -> Fraction:
        """Return what a body has of its velocity from its carrier; all if it is not dynamic."""
        if not self.step.bodies[j].is_dynamic:
            return self.step.velocity[j][k]
        if j not in self.rides or j in self.step.saved:
            return Fraction(0)
        ride = self.rides[j]
        is_turned = ride.first is not None and ride.first[3] == self.step.n_instants
        return ride.carried[k] - (ride.first[1] if is_turned else ride.blocked)[k]

    def common(self, pair: tuple[int, int], k: int) -> Fraction:
        """Return what both bodies of a pair have now of what carries them."""
        rides = [self.rides.get(n) if n not in self.step.saved else None for n in pair]
        return nearest(*(r.carried[k] - r.blocked[k] if r else Fraction(0) for r in rides))

    def _lack(self, i: int, k: int, c: Fraction) -> Fraction:
        """Return what those that have turned a rider lack of its carrier's velocity."""
        along = list(self.others.get((i, k), [Fraction(0)]))
        cluster = self.step.clusters[k].get(i)
        if cluster is not None and cluster.anchor is not None:
            along.append(self._along_with(cluster.anchor, k))
        least, most = min(c, 0), max(c, 0)
        return min(max(c - min(along, key=lambda v: v * c), least), most)

    def settle_all(self) -> None:
        """Find the own velocities of all riders."""
        for i in self.rides:
            self.settle(i)

    def lead(self) -> bool:
        """Let riders follow carriers that have turned along the face; return whether any did."""
        self.settle_all()
        led = [i for i in self.rides if self.follow(i)]
        return bool(led)

    def follow(self, i: int) -> bool:
        """Let a rider follow its carrier; return whether it must."""
        if not self.is_riding(i) or i in self.step.saved:
            return False
        ride = self.rides[i]
        speed = self.speed(Standing(i, ride.carrier, ride.side, ride.width))
        along = [k for k in range(self.step.dim) if k != ride.side[0]]
        if all(is_same(speed[k], ride.alone[k], ride.own[k]) for k in along):
            return False
        self.settle(i)
        own, blocked, kick, _ = ride.first
        own = [a + b - c for a, b, c in zip(own, kick, self.step.kicks.of[i], strict=True)]
        pushed = [
            k
            for k in along
            if not is_same(own[k] + ride.carried[k] - blocked[k], self.step.final(i, k))
        ]
        self._find_carried(i)
        for k in along:
            if k in pushed:  # by a third body in this instant, too
                v, c = self.step.final(i, k), ride.carried[k]
                ride.own[k] = self._own_after(own[k], v, c, self._lack(i, k, c))
            self._turn(i, k)
        return True

    def _find_carried(self, i: int) -> None:
        ride = self.rides[i]
        speed = self.speed(Standing(i, ride.carrier, ride.side, ride.width))
        for k in range(self.step.dim):
            ride.carried[k] += speed[k] - ride.alone[k]
        ride.alone = speed

    def _turn(self, i: int, k: int) -> None:
        """Give a rider its own velocity plus its carrier's."""
        ride = self.rides[i]
        ride.first = None
        ride.blocked[k] = Fraction(0)
        ride.kick[k] = self.step.kicks.of[i][k]
        self.step.change_alone(i, k, ride.own[k] + ride.carried[k])

    def note_surfaces(self, pair: tuple[int, int], axis: int, sign: int) -> None:
        """Note for riders that a contact may turn along the surface with what the others go along.

        One that carries goes along with the velocity of its face.
        """
        for i, j, side in self.ends(pair, axis, sign):
            for k in {*range(self.step.dim)} - {axis} if i in self.rides else ():
                along = self._along_with(j, k)
                if self.carries(j, side):
                    along = self.speed(Standing(i, j, side, Fraction(0)))[k]
                self.others.setdefault((i, k), []).append(along)

    def catch_up(self, pair: tuple[int, int], k: int) -> None:
        """Settle two bodies before they meet on an axis; a rider comes after its carrier."""
        i, j = pair
        for n, other in (pair, pair[::-1]):
            if n in self.rides:
                self.others.setdefault((n, k), []).append(self._along_with(other, k))
        if i in self.rides and self.rides[i].carrier == j:
            i, j = j, i
        for n in (i, j):
            self.settle(n)
            self.follow(n)

    def ends(self, pair: tuple[int, int], axis: int, sign: int) -> list[tuple[int, int, tuple]]:
        """Return who of a pair may stand on whom, and on which side."""
        return [
            (i, j, (axis, up))
            for i, j, up in ((*pair, sign), (*reversed(pair), -sign))
            if self.step.bodies[i].is_dynamic
        ]

    def may_land(self, pair: tuple[int, int], axis: int, sign: int) -> bool:
        """Return whether a body of a pair may become a rider of the other in this instant."""
        return any(body.carry for body in self.step.bodies.values()) and any(
            (self.step.bodies[j].is_dynamic or self.carries(j, side)) and not self.is_riding(i)
            for i, j, side in self.ends(pair, axis, sign)
        )

    def press(self, pair: tuple[int, int], axis: int, sign: int) -> None:
        """Find the own velocity of a rider whose carrier has turned it."""
        for i, j, side in self.ends(pair, axis, sign):
            if not self.carries(j, side) or not self.is_riding(i):
                continue
            self.settle(j)
            ride = self.rides[i]
            if (ride.carrier, ride.side) == (j, side):
                self._find_carried(i)
            else:
                speed = self.speed(Standing(i, j, side, Fraction(0)))
                if not all(
                    is_same(speed[k], ride.carried[k], ride.own[k])
                    for k in range(self.step.dim) if k != axis
                ):  # fmt: skip
                    continue
            self.settle(i, by_carrier=True)

    def land(self, pair: tuple[int, int], axis: int, sign: int) -> None:
        """Let a body of a pair ride on the other, unless it bounces or has a carrier."""
        step = self.step
        for i, j, side in self.ends(pair, axis, sign):
            away = side[1] * (step.velocity[i][axis] - step.velocity[j][axis])
            if (
                not self.carries(j, side)
                or self.is_riding(i)
                or away - step.growth[i][axis] - step.growth[j][axis] > 0
            ):
                continue
            best = self.found(c for c in self.met if i in c[:2]).get(i)
            if best is None or (best.is_shared and (best.carrier, best.side) != (j, side)):
                continue
            if not best.is_shared:
                best = self._best([Standing(i, j, side, Fraction(1))])
            self._change_carrier(i, best)
            for k in range(step.dim):
                if k != axis:
                    self._turn(i, k)

    def _change_carrier(self, i: int, ride: Ride) -> None:
        """Give a body another carrier; of one that was as fast it notices nothing."""
        last = self.rides.get(i)
        self.rides[i] = ride
        self.storey[i] = 1 + self.storey.get(ride.carrier, 0)
        ride.blocked = [Fraction(0)] * self.step.dim
        ride.kick = list(self.step.kicks.of[i])
        ride.own = [Fraction(0)] * self.step.dim
        for k in range(self.step.dim):
            v = self.step.velocity[i][k]
            if last is not None:
                ride.own[k] = self._own_now(last, i, k)
            stays = last is not None and is_same(v, ride.own[k] + last.carried[k], v)
            if not (stays and is_same(v, ride.own[k] + ride.carried[k], v)):
                ride.own[k] = self._own_of(i, ride, k)

    def _own_of(self, i: int, ride: Ride, k: int) -> Fraction:
        """Return the own velocity of a body that is carried now; along the face it gains none."""
        v, c = self.step.velocity[i][k], ride.carried[k]
        return v - c if k == ride.side[0] else nearest(v - c, v)

    # -- at its end --

    def finish(self, contacts: Iterable[Contact]) -> dict[int, list[Fraction]]:
        """Return the own velocities of those who ride at the end, by the contacts there are."""
        self.settle_all()
        last, now, contacts = self.rides, {}, list(contacts)
        for _ in range(len(contacts) + 1):
            before, now = now, self.found(contacts, now)
            if before == now:
                break
        after = {}
        for i, ride in now.items():
            before = last.get(i)
            stays = before is not None and (
                before.carrier == ride.carrier
                or (ride.is_shared and before.side == ride.side and self.is_riding(i))
            )
            after[i] = []
            for k in range(self.step.dim):
                along = stays and k != ride.side[0]
                if along and k in ride.differs | before.differs:
                    own = self._own_by_mean(before.own[k], before.carried[k], ride.carried[k])
                elif before is not None and (
                    along or is_same(ride.carried[k], before.carried[k], before.own[k])
                ):
                    own = before.own[k]
                else:
                    own = self._own_of(i, ride, k)
                after[i].append(own)
        return after

    @staticmethod
    def _own_by_mean(own: Fraction, last: Fraction, c: Fraction) -> Fraction:
        """Return the own velocity of a body whose carriers together have become faster or slower.

        What they lose stays with it, and what they gain does not make it faster.
        """
        kept = min(last, c, key=abs) if last * c > 0 else Fraction(0)
        own += last - kept
        return nearest(own - (c - kept), own)
