"""Between an esper world and the exact simulator: read, compare, follow.

A step is compared in one of two ways.

*Exactly*: where every number of the exact step is a float, the library must
report the same impacts in the same order at the same times, and end in the same
places, bit for bit.  Nothing is left open by ties: the key decides them.

*Up to ties*: else the simulator follows the library from impact to impact.
Each must be the exact next one or *tied* with it, and be due at the time
reported; no exact impact may be skipped.  Two impacts are tied where their
exact times differ by no more than the sum of their *bounds*.  The bound of an
impact is what rounding, and the library's slop, may come to:

    bound = (blur of the first + blur of the second + grain) / closing rate
    grain = 4 × 2**-44 × the largest coordinate in the world
    blur of a body: grain at the start of the step; each resolution that turns it
        adds a grain and (bound of the impact) × (change of its motion); a velocity along the
        surface that is limited by the energy of the pair adds the root of its rounding, and one
        that rubs on several contacts the rounding of their widths

An impact of boxes that would get into each other by less than their blur before
the step's end is open, on whichever axis: the library may have it or not.
Faces that touch and close by rounding alone are left as they are, except where
one of the two is in a group that lasts: its path and what it shares are two
velocities, so the join changes more than rounding does, and is followed.

Boxes are taken from the library's floats at the start of every step, so that
no difference lives longer than a step and fractions stay small.  Faces nearer
to each other than the slop are made one then: to the library they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import esper
import numpy as np

import ecs_collide as ec
from tests import plain
from tests.exact.contact_oracle import compare_contacts
from tests.exact.drifts import are_soft
from tests.exact.simulator import (
    CROSSED,
    CRUSHED,
    FACE,
    RESOLVED,
    STOPPED_ALREADY,
    Body,
    Carry,
    Contact,
    Event,
    Impact,
    Simulator,
    may_meet,
)
from tests.scenes import SLOP, columns, pairs_inside

(HAD_IMPACT,) = plain.names("narrowphase.contacts_between_steps", "HAD_IMPACT")

TOO_BLURRED = 1e-3  # of the step: an impact that is known no better ends the comparison
ULPS = Fraction(1, 2**44)
ROUNDING = 2.0**-52  # of an energy
# Answers of a pair in one instant, one weaker than the other: floats reach the end of such a
# series, fractions never do.
LONGEST_SERIES = 32
NAMES = {
    ec.Outcome.RESOLVED: RESOLVED,
    ec.Outcome.STOPPED_ALREADY: STOPPED_ALREADY,
    ec.Outcome.CROSSED: CROSSED,
    ec.Outcome.CRUSHED: CRUSHED,
}
RESPONSES = ((ec.Stop, "stop"), (ec.Push, "push"), (ec.Slide, "slide"), (ec.Deflect, "deflect"))


class DisagreementError(AssertionError):
    """The library and the exact step are not the same."""


def read_bodies(dim: int) -> list[Body]:
    """Read all bodies of the current esper world; their boxes are the stored faces."""
    bodies = [
        body_of(entity, esper.components_for_entity(entity), dim)
        for entity, _ in esper.get_components(ec.Position, ec.Extents)
        if not esper.has_component(entity, ec.Disabled)
    ]
    return sorted(bodies, key=lambda body: body.ident)


def body_of(ident: int, parts: Iterable[object], dim: int) -> Body:
    """Return the body that components make; its box has the stored faces."""
    component = {type(part): part for part in parts}
    centre, half = (_vector(component[kind], dim) for kind in (ec.Position, ec.Extents))
    velocity, growth = component.get(ec.Velocity), component.get(ec.Growth)
    response = next((name for kind, name in RESPONSES if kind in component), None)
    mass = component[ec.Mass].value if ec.Mass in component else 1.0
    low = [Fraction(c - h) for c, h in zip(centre, half, strict=True)]
    high = [Fraction(c + h) for c, h in zip(centre, half, strict=True)]
    bounce = component.get(ec.Restitution)
    fastest = component.get(ec.MaxSpeed)
    locked = _vector(component.get(ec.LockedAxes), dim)
    one_way, rough = component.get(ec.OneWay), component.get(ec.Friction)
    selects = component.get(ec.Filter, ec.Filter())
    carry = component.get(ec.Carry)
    return Body(
        ident,
        low,
        high,
        [Fraction(v) for v in _vector(velocity, dim)],
        [Fraction(g) for g in _vector(growth, dim)],
        Fraction(mass) if velocity is not None and mass != math.inf else None,
        Fraction(component[ec.Deflect].restitution) if response == "deflect" else Fraction(0),
        response,
        ec.Sensor in component,
        velocity is not None or growth is not None,
        [(a + b) / 2 for a, b in zip(low, high, strict=True)] != [*map(Fraction, centre)],
        rank_of(component.get(ec.Dominance)),
        frozenset(k for k in range(dim) if locked[k]),
        None if bounce is None else Fraction(bounce.value),
        None if bounce is None or bounce.rule is None else bounce.rule.value,
        None if fastest is None else Fraction(fastest.speed),
        None if one_way is None else _side_of(one_way.normal or (0.0, 1.0)),
        selects.categories,
        selects.mask,
        selects.group,
        None if rough is None else Fraction(rough.value),
        None if rough is None or rough.rule is None else rough.rule.value,
        None if carry is None else _carry_of(carry, dim),
        _speed_of(component.get(ec.PushOut)),
        _speed_of(component.get(ec.Separate)),
        Fraction(component[ec.Damping].value) if ec.Damping in component else Fraction(0),
    )


def _speed_of(way_out: ec.PushOut | ec.Separate | None) -> Fraction | float | None:
    speed = None if way_out is None else way_out.speed
    return speed if speed is None or math.isinf(speed) else Fraction(speed)


def _carry_of(carry: ec.Carry, dim: int) -> Carry:
    side = _side_of(carry.normal or (0.0, 1.0))
    return Carry(side, [Fraction(v) for v in carry.surface[:dim]])


@dataclass
class Standing:
    """Who stands where as a step begins, and what game has done to them since the last one.

    Attributes
    ----------
    contacts : the solid contacts of the last step
    carried : of each rider, what its velocity in the world was more than its own
    places : of each body, its centre
    new : bodies that have come since then
    """

    contacts: list[Contact] = field(default_factory=list)
    carried: dict[int, list[Fraction]] = field(default_factory=dict)
    places: dict[int, tuple] = field(default_factory=dict)
    new: set[int] = field(default_factory=set)

    def at_start(self, dim: int) -> Standing:
        """Return what is left of it once the game has moved bodies."""
        places = places_of(dim)
        moved = {i for i, place in self.places.items() if places.get(i) != place}
        contacts = [c for c in self.contacts if moved.isdisjoint(c[:2])]
        carried = {i: speed for i, speed in self.carried.items() if i not in moved}
        return replace(
            self, contacts=contacts, carried=carried, new=places.keys() - self.places.keys()
        )


def standing_in(space: ec.Space) -> Standing:
    """Return who stands where after a step."""
    now, ids = space._state.timeline.carriers.now, space._registry.table.ids
    rows = np.asarray(now.riders)[: now.n]
    subtracted = np.asarray(now.subtracted)[rows].tolist()
    return Standing(
        solid_contacts(space),
        {i: [*map(Fraction, v)] for i, v in zip(ids[rows].tolist(), subtracted, strict=True)},
        places_of(space.dim),
    )


def solid_contacts(space: ec.Space) -> list[Contact]:
    return [
        Contact(c.first, c.second, *_side_of(c.normal))
        for c in space.contacts()
        if c.kind is ec.ContactKind.SOLID
    ]


def places_of(dim: int) -> dict[int, tuple]:
    return {i: _vector(place, dim) for i, place in esper.get_component(ec.Position)}


def rank_of(dominance: ec.Dominance | None) -> int:
    """Return twice the level of a body, plus 1 if it blocks."""
    return 0 if dominance is None else 2 * dominance.level + dominance.blocks


def _vector(component, dim):
    if component is None:
        return (0.0,) * dim
    return (component.x, component.y, component.z)[:dim]


def make_flush(bodies: list[Body], dim: int) -> None:
    """Make faces one that are nearer than the slop; those of non-dynamic bodies stay."""
    for k in range(dim):
        near = SLOP * max(abs(float(face[k])) for body in bodies for face in (body.low, body.high))
        faces = []
        for body in bodies:
            faces.append((float(body.low[k]), body.is_dynamic, body.low, body.ident))
            faces.append((float(body.high[k]), body.is_dynamic, body.high, body.ident))
        faces.sort(key=lambda face: (face[0], face[1], face[3]))
        at = 0
        while at < len(faces):
            end = at + 1
            while end < len(faces) and faces[end][0] - faces[at][0] <= near:
                end += 1
            if end > at + 1:
                place = min(faces[at:end], key=lambda face: face[1])[2][k]
                for face in faces[at:end]:
                    face[2][k] = place
            at = end


@dataclass
class Tally:
    """What has been compared."""

    steps: int = 0
    impacts: int = 0
    exact_steps: int = 0  # bit for bit
    exact_impacts: int = 0
    ties: int = 0  # impacts taken in the library's order, not in that of the exact times
    roundings: int = 0  # reported where faces that touch close by rounding alone
    inside: int = 0  # pairs that end inside each other by less than the slop
    cut_short: int = 0  # steps of which the rest was too blurred to compare

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )


class Follower(Simulator):
    """Takes the impacts in the library's order, as far as that differs by ties only."""

    def __init__(self, bodies: list[Body], dt: Fraction, **limits) -> None:
        largest = max(
            abs(float(face)) + abs(float(v * dt)) + abs(float(g * dt))
            for body in bodies
            for faces in (body.low, body.high)
            for face, v, g in zip(faces, body.velocity, body.growth, strict=False)
        )
        self.grain = 4 * SLOP * largest
        self.blur = {body.ident: self.grain for body in bodies}
        # what the library has stopped at the instant of the impact that it has reported, after that
        self.stopped: list[ec.Collision] = []
        self.coming: list[ec.Collision] = []  # what it reports later in the instant
        self.rooted: dict[int, float] = {}  # by how much a velocity may be off besides
        self.shifted = 0.0  # by how much all may be, as damped bodies have met at rounded times
        self.withdrawn: dict[tuple[int, int], tuple[Impact, float]] = {}
        self.late: set[tuple[int, int]] = set()  # overlaps that only a look at all pairs has found
        self.n_ties = self.n_roundings = 0
        # of the walls that a body meets at an instant on one side: the library's impulses together
        # and the exact ones
        self.on_walls: dict[tuple, list[Fraction]] = {}
        self.placed: set[int] = set()
        self.fastest = max(abs(float(v)) for body in bodies for v in body.velocity)
        self.before: dict[int, list[Fraction]] = {}
        self.hit_time = 0.0  # the library's time
        self.now_bound = 0.0
        super().__init__(bodies, dt, **limits)
        if any(self.growth[body.ident] != body.growth for body in bodies):
            # One shrinks to nothing in this step: as fast as its faces tell, which are rounded.
            self.rooted = dict.fromkeys(self.bodies, self.grain / float(dt))

    def bound(self, pair: tuple[int, int], impact: Impact) -> float:
        """Return what the time of an impact may be off by: if it is due at once, what now is."""
        if impact.time == self.now:
            return self.now_bound
        blur = self.blur[pair[0]] + self.blur[pair[1]] + self.grain
        rate = float(impact.rate)
        return blur / rate if rate > 0 else math.inf

    def is_in_step(self, pair: tuple[int, int], impact: Impact) -> bool:
        """Return whether an impact may belong to this step."""
        return float(impact.time) - self.bound(pair, impact) < 1

    def _across(self, pair: tuple[int, int], axis: int, wider: int) -> Impact | None:
        """Sweep a pair, its boxes wider (1) or narrower (-1) across an axis by the rounding."""
        room = wider * Fraction(self.blur[pair[0]] + self.blur[pair[1]] + self.grain)
        return self.meeting(
            pair,
            [s if s.axis == axis else s._replace(gap=s.gap - room) for s in self.sides(pair)],
        )

    def is_open(self, pair: tuple[int, int]) -> bool:
        """Return whether it is left open that the impact of a pair is one at all."""
        impact = self.queue[pair]
        room = self.blur[pair[0]] + self.blur[pair[1]] + self.grain
        if float(impact.rate * (1 - impact.time)) <= room:
            return True
        if impact.overlaps:
            return max(side.gap for side in self.sides(pair)) > -self.grain
        return self._across(pair, impact.axis, -1) is None

    def due(self) -> tuple[int, int] | None:
        """Return the pair whose turn it is."""
        for pair in sorted(self.queue, key=self.key):
            if not self.is_open(pair):
                return pair
        return None

    def due_with(self, impact: Impact) -> dict[tuple[int, int], Impact]:
        """Return the impacts that the library has found to be of the instant of one.

        Rounding decides which they are, and whether they are impacts at all.
        """
        for hit in self.stopped:
            pair = (hit.first, hit.second)
            if pair not in self.queue:
                found = self._across(pair, _side_of(hit.normal)[0], 1)
                if found is not None and not found.overlaps:
                    self.queue[pair] = found
        stopped = {(hit.first, hit.second) for hit in self.stopped}
        return {
            pair: coming for pair, coming in self.queue.items()
            if pair in stopped and float(coming.time - self.now) <= self.bound(pair, coming)
        }  # fmt: skip

    def is_blurred(self) -> bool:
        """Return whether something due is known too badly to go on."""
        return any(self.bound(pair, impact) > TOO_BLURRED for pair, impact in self.queue.items())

    def is_hair(self, hit: ec.Collision) -> bool:
        """Return whether two that touch are inside each other by rounding, and so do not bounce."""
        impact = self.queue.get((hit.first, hit.second))
        if impact is None or impact.overlaps or hit.kind is not ec.SweepKind.OVERLAP:
            return False
        return hit.contact_min[impact.axis] < hit.contact_max[impact.axis]

    def follow(self, hit: ec.Collision, later: list[ec.Collision]) -> None:
        """Take the impact that the library has reported, before those that it reports later."""
        pair = (hit.first, hit.second)
        self.stopped = [
            other for other in later
            if other.time == hit.time and other.outcome is ec.Outcome.STOPPED_ALREADY
        ]  # fmt: skip
        self.coming = [other for other in later if other.time == hit.time]
        is_stopped = hit.outcome is ec.Outcome.STOPPED_ALREADY
        self._count_impulse(hit, 0, hit.impulse)
        # Contacts rub as soon as nothing is due at the instant; what it stops rubs with them.
        for deed in (self.turn, self.rub, self.riders.lead):
            if hit.time == self.hit_time and (
                is_stopped or self._is_due_now(pair) or self._may_be_due(hit)
            ):
                break
            self._do(deed)
        if is_stopped:
            self._confirm_stopped(pair, hit)
            self._turn_if_last()
            return
        impact = self.queue.get(pair)
        if impact is None:
            impact = self._across(pair, _side_of(hit.normal)[0], 1)
            if impact is None or impact.overlaps:
                self._confirm_rounding(pair, hit)
                return
            self.queue[pair] = impact
        first = self.due()
        if first is None or self.key(pair) < self.key(first):
            first = pair
        earliest = self.queue[first]
        bound = self.bound(pair, impact)
        slack = bound + self.bound(first, earliest)
        if float(impact.time - earliest.time) > slack:
            raise DisagreementError(f"{first} is due first: {hit}; due {self.queue}")
        if abs(hit.time - float(max(self.now, impact.time))) > slack:
            raise DisagreementError(f"due at {float(impact.time)}, not {hit.time}: {hit}")
        if first != pair:
            self.n_ties += 1
            if impact.corner and not earliest.corner:
                self._check_corner_waits(pair, impact, hit)
        side = self._side(pair, impact, hit, bound)
        if earliest.time > self.now:
            self.now_bound = max(bound, self.bound(first, earliest))
        if hit.time != self.hit_time:
            self.advance(max(self.now, earliest.time))
            self.late.clear()
        else:  # one instant, to the library: its groups have not ended
            self.now = max(self.now, earliest.time)
        self.hit_time = hit.time
        if pair in self.late:  # the library has looked at all pairs
            self.late.clear()
        self._compare_bodies(hit, bound)
        del self.queue[pair]
        if self.crosses(pair):
            self.report(pair, side, CROSSED)
            self._compare_shared(hit, bound)
            return
        self._resolve_as(pair, side, hit, bound)

    def _resolve_as(self, pair, side, hit, bound):
        """Resolve an impact, and compare what comes of it with what the library has reported."""
        self.before = self.courses()
        answer = self.resolve(pair, side)
        if NAMES.get(hit.outcome) != answer:
            raise DisagreementError(f"exactly it is {answer}: {hit}")
        self.report(pair, side, answer)
        self._compare_shared(hit, bound)
        self._compare_impulse(hit)
        for i in pair:
            self.blur[i] += self.grain
        self._blur_changed(bound)
        self._look_at_all()
        self._turn_if_last()

    def _turn_if_last(self) -> None:
        """Let bodies part and turn, if nothing else is due, nor does the library still stop any."""
        if not any(map(self._is_due_now, self.queue)):
            self._do(self.settle)
        # The library may have found due what is left open here.
        is_waiting = any(
            (hit.first, hit.second) in self.withdrawn or self._may_be_due(hit)
            for hit in self.coming
        )
        if not is_waiting and not any(map(self._is_due_now, self.queue)):
            self._do(self.turn)

    def _may_be_due(self, hit: ec.Collision) -> bool:
        """Return whether the impact that the library reports is one of now, up to rounding."""
        pair = hit.first, hit.second
        impact = self.queue.get(pair) or self._across(pair, _side_of(hit.normal)[0], 1)
        return (
            impact is not None
            and not self.crosses(pair)
            and (
                impact.overlaps == (hit.kind is ec.SweepKind.OVERLAP)
                or (pair in self.queue and self.is_open(pair))
            )
            and not impact.corner
            and pair not in self.late
            and float(impact.time - self.now) <= self.bound(pair, impact)
        )

    def are_apart(self, i: int, j: int) -> bool:
        """Return whether two bodies share no point now, by more than rounding."""
        room = 2 * (self.blur[i] + self.blur[j] + self.grain)
        return any(side.gap > room for side in self.sides((i, j)))

    def _do(self, deed: Callable[[], bool]) -> None:
        """Let bodies part, or contacts rub."""
        self.before = self.courses()
        self.turned_now.clear()
        if deed():
            self._blur_changed(self.now_bound)
            self._look_at_all()

    def courses(self) -> dict[int, list[Fraction]]:
        """Return the velocities of all paths."""
        return {i: [self.course(i, k) for k in range(self.dim)] for i in self.bodies}

    def _blur_changed(self, bound: float) -> None:
        """Add what the places of the bodies that have turned may be off by."""
        for i in self.changed:
            turned = max(
                abs(float((self.course(i, k) - b) * self.dt)) for k, b in enumerate(self.before[i])
            )
            self.blur[i] += self.grain + bound * turned

    def _is_due_now(self, pair: tuple[int, int]) -> bool:
        """Return whether an impact comes before bodies of this instant part, and contacts rub."""
        impact = self.queue.get(pair)
        return (
            impact is not None
            and self.rank(pair) == FACE
            and pair not in self.late
            and float(impact.time - self.now) <= self.bound(pair, impact)
            and not self.is_open(pair)
        )

    def _part_to_turn(self, group: set, after: dict, wanted: dict, frame: list) -> Fraction:
        """Note how far the root of a rounded difference of energies may be off."""
        part = super()._part_to_turn(group, after, wanted, frame)
        if part < 1:
            before = [self._before(n, k) for n in group for k in range(self.dim)]
            speed = 2.0 * max(abs(float(v)) for v in before)
            masses = {n: float(self.bodies[n].mass) for n in group}
            energy = sum(masses.values()) * self.dim * speed**2
            for n, mass in masses.items():
                error = math.sqrt(4.0 * ROUNDING * energy / mass)
                self.rooted[n] = self.rooted.get(n, 0.0) + error
                self.blur[n] += float(self.dt) * error
        return part

    def divide_by_widths(self, contacts: Sequence[tuple[Sequence[int], int]]) -> None:
        """Note how far velocities may be off as the widths of several contacts are rounded."""
        error = 0.0
        for pair, axis in contacts if len(contacts) > 1 else []:
            off = sum(self.blur[n] for n in pair) + self.grain
            error += 4 * self.fastest * off / max(off, float(min(self.edges(pair, axis))))
        for n in {n for pair, _ in contacts for n in pair}:
            self.rooted[n] = self.rooted.get(n, 0.0) + error
            self.blur[n] += float(self.dt) * error

    def _rebound(self, pair: tuple[int, int], impact: Impact, restitution: Fraction) -> bool:
        """Let a pair rebound, except where floats have reached the end of a series of rebounds.

        The final velocities of a group that lasts and of a body close by rounding alone then, and
        the two join.  Fractions would never do so.
        """
        k = impact.axis
        shared = [abs(self.velocity[n][k]) for n in pair if self.lasting_cluster(n, k) is not None]
        u, v = (self.final(n, k) for n in pair)
        closing = (v - u) * impact.sign + sum(self.growth[n][k] for n in pair)
        if len(shared) == 1 and closing <= ULPS * (abs(u) + abs(v) + shared[0]):
            return False
        return super()._rebound(pair, impact, restitution)

    def change_alone(self, i: int, k: int, velocity: Fraction) -> None:
        """Give a body another velocity than its group has, if it is another one in floats too."""
        is_same = i in self.clusters[k] and float(velocity) == float(self.velocity[i][k])
        if is_same and self.lasting_cluster(i, k) is None:
            return
        super().change_alone(i, k, velocity)

    def _look_at_all(self) -> None:
        """Look again at what has changed; remember what is not to be any more.

        At once and not in rounds: what is due at one instant is tied anyway.
        """
        known = set(self.queue)
        for pair, impact in list(self.queue.items()):
            if not self.changed.isdisjoint(pair):
                self.withdrawn[pair] = impact, self.bound(pair, impact)
                del self.queue[pair]
        super()._look_at_all()
        self.late |= {pair for pair in self.queue.keys() - known if self.queue[pair].overlaps}

    def _confirm_stopped(self, pair, hit):
        # Due at this very instant, and stopped by another resolution in it.
        impact, bound = self.withdrawn.get(pair, (None, 0.0))
        if impact is None or hit.time != self.hit_time:
            raise DisagreementError(f"nothing was due: {hit}")
        if abs(float(impact.time) - hit.time) > bound:
            raise DisagreementError(f"it was due at {float(impact.time)}: {hit}")
        if (impact.axis, impact.sign) != _side_of(hit.normal):
            raise DisagreementError(f"it was due on another side, {impact}: {hit}")
        again = self.queue.get(pair)
        if (
            again is not None
            and float(again.time - self.now) <= self.bound(pair, again)
            and float(again.rate) > self.grain  # else it closes by rounding alone
        ):
            raise DisagreementError(f"it is still due: {hit}")
        del self.withdrawn[pair]
        self.before = self.courses()
        impulse = self.bounced.pop(pair, Fraction(0)) + self.join_late(pair, impact)
        if self.wall_face(pair, impact.axis, impact.sign) is None:
            self._compare_impulses(hit.impulse, impulse, hit)
        self._blur_changed(self.now_bound)
        self._look_at_all()
        self.rub_beside(pair, impact)

    def _confirm_rounding(self, pair, hit):
        # Faces that touch and close by rounding alone: nothing, exactly, and resolved as such.
        for side in self.sides(pair):
            if (side.axis, side.sign) != _side_of(hit.normal):
                if side.axis != _side_of(hit.normal)[0] and side.gap > 0:
                    break
            elif (
                abs(float(side.rate)) > self.grain
                or abs(float(side.gap)) > self.blur[pair[0]] + self.blur[pair[1]]
            ):
                break
        else:
            self.n_roundings += 1
            axis, sign = _side_of(hit.normal)
            if any(self.lasting_cluster(i, axis) is not None for i in pair):
                # Their paths go equally fast, but what they share may be another velocity.
                touch = Impact(self.now, False, axis, sign, False, Fraction(0))
                self._resolve_as(pair, touch, hit, self.now_bound)
            return
        raise DisagreementError(f"no exact impact: {hit}; due {self.queue}")

    def _check_corner_waits(self, pair, impact, hit):
        for other, due in self.queue.items():
            shared = [i for i in pair if i in other and self.bodies[i].is_dynamic]
            if shared and not due.corner and not self.crosses(other) and due.time <= impact.time:
                raise DisagreementError(f"a corner did not wait for {other}: {hit}")

    def _side(self, pair, impact, hit, bound):
        """Return the impact on the side that the library says: of a corner both may be right."""
        if impact.overlaps is not (hit.kind is ec.SweepKind.OVERLAP):
            depth = -max(side.gap for side in self.sides(pair))
            if not impact.overlaps or depth > self.blur[pair[0]] + self.blur[pair[1]] + self.grain:
                raise DisagreementError(f"exactly the kind is another, {impact}: {hit}")
            impact = replace(impact, overlaps=False)  # in each other by rounding
        if (impact.axis, impact.sign) == _side_of(hit.normal):
            return impact
        for side in self.sides(pair):
            if (
                (side.axis, side.sign) == _side_of(hit.normal)
                and side.rate < 0
                and abs(float(self.now + side.zero - impact.time))
                <= bound + self.grain / -float(side.rate)
                and not impact.overlaps
            ):
                # Two sides meet at exactly one time: then the faster is the contact.
                if self.now + side.zero == impact.time and -side.rate * (1 + ULPS) < impact.rate:
                    break
                return Impact(
                    impact.time, True, side.axis, side.sign, False, -side.rate, impact.is_stale
                )
        raise DisagreementError(f"it is on another side, {impact}: {hit}")

    def _compare_bodies(self, hit, bound):
        """Compare where the two are, and what they come with."""
        pulls = (abs(float(pull)) for n in self.bodies for pull in self.kicks.pull[n])
        self.shifted += 2 * bound * max(pulls)
        places = (hit.position_first, hit.position_second)
        speeds = (hit.velocity_first, hit.velocity_second)
        for i, place, speed in zip((hit.first, hit.second), places, speeds, strict=True):
            self.compare_place(i, place, bound, hit)
            self.compare_velocity(i, speed, hit)
        if hit.kind is ec.SweepKind.IMPACT and hit.outcome is not ec.Outcome.CROSSED:
            self._check_flush(hit, places)

    def _compare_shared(self, hit, bound):
        """Compare what the two boxes share with what they share exactly."""
        event = self.events[-1]
        may = sum(2 * self.blur[i] for i in (hit.first, hit.second)) + self.grain
        for i in (hit.first, hit.second):
            rates = (*self.before.get(i, self.velocity[i]), *self.velocity[i], *self.growth[i])
            may += 4 * bound * max(abs(float(rate * self.dt)) for rate in rates)
        for (low, high), at, to in zip(
            event.contact, hit.contact_min, hit.contact_max, strict=True
        ):
            if at > to or max(abs(float(low) - at), abs(float(high) - to)) > may:
                raise DisagreementError(f"the boxes share {event.contact}: {hit}")

    def _count_impulse(self, hit: ec.Collision, place: int, impulse: float | Fraction) -> bool:
        """Add an impulse to those of the walls that one body meets; return whether it is one."""
        face = self.wall_face((hit.first, hit.second), *_side_of(hit.normal))
        if face is None or hit.kind is ec.SweepKind.OVERLAP:
            return False
        self.on_walls.setdefault((hit.time, *face), [Fraction(0)] * 2)[place] += Fraction(impulse)
        return True

    def _compare_impulse(self, hit):
        """Compare what the resolution has passed on with what it is exactly."""
        event = self.events[-1]
        if not self._count_impulse(hit, 1, event.impulse):
            self._compare_impulses(hit.impulse, event.impulse, hit)

    def _compare_impulses(self, found, wanted, what):
        heaviest = max(b.mass for b in self.bodies.values() if b.mass is not None)
        may = 2.0**-42 * self.fastest * (1 + sum(self.resolutions.values())) * len(self.bodies)
        may += self.shifted
        if abs(found - float(wanted)) > may * float(heaviest):
            raise DisagreementError(f"the impulse is {float(wanted)}, not {float(found)}: {what}")

    def _check_flush(self, hit, places):
        """Look at the faces that meet: flush or an ulp apart, and never in each other."""
        axis, sign = _side_of(hit.normal)
        lows, highs = [], []
        for i, place in zip((hit.first, hit.second), places, strict=True):
            if any(self.growth[i]):
                return  # its size at this instant is not told
            half = _vector(esper.component_for_entity(i, ec.Extents), self.dim)
            lows.append(place[axis] - half[axis])
            highs.append(place[axis] + half[axis])
        gap = lows[1] - highs[0] if sign < 0 else lows[0] - highs[1]
        ulp = math.ulp(max(map(abs, lows + highs)))
        least = 0.0
        if self.placed.issuperset((hit.first, hit.second)):  # both may be held
            least = -ulp
        self.placed.update((hit.first, hit.second))
        if not least <= gap <= 2 * ulp:
            raise DisagreementError(f"the faces that meet are {gap} apart: {hit}")

    def compare_place(self, i, place, bound, what):
        """Compare a centre with the exact one, which may be `bound` early or late."""
        if not self.bodies[i].moves and place != _vector(
            esper.component_for_entity(i, ec.Position), self.dim
        ):
            raise DisagreementError(f"{i} was moved, which never moves: {what}")
        low, high = self.faces(i)
        for k in range(self.dim):
            exact = float((low[k] + high[k]) / 2)
            may = 2 * self.blur[i] + 2 * bound * abs(float(self.course(i, k) * self.dt))
            if abs(exact - place[k]) > may:
                raise DisagreementError(f"{i} is at {place}, exactly {exact} on axis {k}: {what}")

    def compare_velocity(self, i, velocity, what):
        """Compare a velocity with the exact one."""
        speeds = (abs(float(v)) for body in self.velocity.values() for v in body)
        self.fastest = max(self.fastest, *speeds)
        may = 2.0**-44 * self.fastest * (1 + sum(self.resolutions.values())) + self.shifted
        for exact, v in zip(self.shown(i), velocity, strict=True):
            if abs(float(exact) - v) > may + self.rooted.get(i, 0.0):
                raise DisagreementError(
                    f"{i} has velocity {velocity}, exactly {float(exact)}: {what}"
                )

    def finish(self) -> None:
        """Go to the end of the step, before which nothing may be left."""
        for deed in (self.turn, self.rub, self.riders.lead):
            self._do(deed)
        for (time, i, face), (found, wanted) in self.on_walls.items():
            self._compare_impulses(found, wanted, f"walls at face {face} of {i} at {time}")
        for pair, impact in self.queue.items():
            if float(impact.time) + self.bound(pair, impact) < 1 and not self.is_open(pair):
                raise DisagreementError(f"not reported: {pair} {impact}")
        super().finish()


def _side_of(normal: Sequence[float]) -> tuple[int, int]:
    axis = next(k for k, n in enumerate(normal) if n)
    return axis, int(normal[axis])


def is_dyadic(bodies: list[Body], dt: float) -> bool:
    """Return whether an exact step may stay within floats: all numbers are short."""
    if any(body.was_rounded for body in bodies):
        return False
    numbers = [Fraction(dt)]
    for body in bodies:
        numbers += [*body.low, *body.high, *body.velocity, *body.growth]
    return all(x.denominator <= 1 << 20 and abs(x.numerator) < 1 << 40 for x in numbers)


def run_exactly(bodies: list[Body], dt: float, **limits) -> Simulator | None:
    """Run the exact step; None where it leaves the floats, so that rounding has a say."""
    exact = Simulator(bodies, Fraction(dt), **limits)
    if not _stays_in_floats(exact):  # a maximum speed has a root in it
        return None
    while (pair := exact.next_pair()) is not None:
        exact.take(pair)
        if not _stays_in_floats(exact):
            return None
    exact.finish()
    return exact if _stays_in_floats(exact) else None


def run_in_fractions(bodies: list[Body], dt: float, **limits) -> Simulator:
    """Run the exact step, whatever numbers come up."""
    exact = Simulator(bodies, Fraction(dt), **limits)
    exact.run()
    return exact


def _stays_in_floats(exact: Simulator) -> bool:
    # What the library works out on the way must fit as well: 40 bits leave room for it.
    numbers = [exact.now, *(impact.time for impact in exact.queue.values())]
    for i in exact.bodies:
        numbers += [*exact.low[i], *exact.high[i], *exact.velocity[i], *exact.drifts.of[i]]
    return all(
        x.denominator & (x.denominator - 1) == 0
        and x.denominator <= 1 << 22
        and abs(x.numerator) < 1 << 44
        for x in numbers
    )


def compare_exactly(exact: Simulator, space: ec.Space) -> None:
    """Compare a whole step bit for bit."""
    found = [
        (hit.time, hit.first, hit.second, *_side_of(hit.normal), NAMES.get(hit.outcome))
        for hit in space.collisions
    ]
    wanted = [(float(e.time), e.first, e.second, e.axis, e.sign, e.outcome) for e in exact.events]
    if found != wanted:
        raise DisagreementError(f"the library says {found}\nexactly it is   {wanted}")
    for hit, event in zip(space.collisions, exact.events, strict=True):
        shared = tuple(zip(hit.contact_min, hit.contact_max, strict=True))
        if shared != event.contact:
            raise DisagreementError(f"the boxes share {event.contact}: {hit}")
        compare_impulse(hit, event)
    for i in exact.bodies:
        low, high = exact.faces(i)
        place = _vector(esper.component_for_entity(i, ec.Position), exact.dim)
        centre = tuple(float((a + b) / 2) for a, b in zip(low, high, strict=True))
        if place != centre:
            raise DisagreementError(f"{i} ends at {place}, exactly {centre}")
        speed = esper.try_component(i, ec.Velocity)
        if speed is not None and _vector(speed, exact.dim) != tuple(map(float, exact.velocity[i])):
            raise DisagreementError(f"{i} ends with {speed}, exactly {exact.velocity[i]}")


def compare_impulse(hit: ec.Collision, event: Event) -> None:
    """Compare what a resolution has passed on: within the rounding of a few operations."""
    if abs(Fraction(hit.impulse) - event.impulse) > event.impulse / 2**46:
        raise DisagreementError(f"the impulse is {float(event.impulse)}: {hit}")


def count_inside(bodies: list[Body], space: ec.Space) -> int:
    """Count the pairs whose insides overlap after a step, by less than the slop; more is wrong.

    In a row that nothing holds a body may be pressed by both its neighbours: then
    rounding is not always put right within the four passes of a step.
    """
    entities = [body.ident for body in bodies]
    centre, half = (
        columns(entities, ec.Position, space.dim),
        columns(entities, ec.Extents, space.dim),
    )
    low, high = centre - half, centre + half
    crushed = {(hit.first, hit.second) for hit in space.collisions if hit.outcome.name == "CRUSHED"}
    n_inside = 0
    for i, j in np.sort(pairs_inside(low, high), axis=1).tolist():
        one, other = bodies[i], bodies[j]
        if one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic):
            continue
        if one.solid_side or other.solid_side or not may_meet(one, other):
            continue
        if are_soft(one, other):
            continue
        if (one.ident, other.ident) in crushed or were_inside(one, other, space.dim):
            continue
        depth = np.minimum(high[i] - low[j], high[j] - low[i]).min()
        if depth > SLOP * np.abs([low[i], low[j], high[i], high[j]]).max():
            raise DisagreementError(
                f"{one.ident} and {other.ident} are inside each other by {depth}"
            )
        n_inside += 1
    return n_inside


def were_inside(one: Body, other: Body, dim: int) -> bool:
    """Return whether the insides of two boxes overlapped as the step began."""
    return all(one.low[k] < other.high[k] and other.low[k] < one.high[k] for k in range(dim))


def leaning_before(space: ec.Space) -> set[tuple[int, int]]:
    """Return the pairs that touched as the last step began, and had met in the one before it."""
    rows = np.asarray(space._state.timeline.contacts.saved.arrays()[0])
    pairs = space._registry.table.ids[rows[rows[:, HAD_IMPACT] > 0, :2]]
    return set(map(tuple, pairs.tolist()))


def compare_step(
    bodies: list[Body],
    dt: float,
    space: ec.Space,
    standing: Standing | None = None,
    known: set[tuple[int, int]] | None = None,
    **limits,
) -> Tally:
    """Compare the step that the library has just taken; say how.

    With `known`, the pairs in contact before it, the contacts of a step on short numbers too.
    """
    hits = list(space.collisions)
    tally = Tally(steps=1, impacts=len(hits))
    dim = space.dim
    tally.inside = count_inside(bodies, space)
    if space.stats.sweep_limit_hits or space.stats.waiting:  # which depend on the pairs of a tree
        tally.cut_short = 1
        return tally
    limits["leaning"] = leaning_before(space)
    if standing is not None:
        limits |= {"standing": standing.contacts, "carried": standing.carried, "new": standing.new}
        limits["standing_after"] = solid_contacts(space)
    if is_dyadic(bodies, dt):
        exact = run_exactly(bodies, dt, **limits)
        if known is not None:
            compare_contacts(exact or run_in_fractions(bodies, dt, **limits), space, known)
        if exact is not None:
            compare_exactly(exact, space)
            tally.exact_steps, tally.exact_impacts = 1, len(hits)
            return tally
    if space.stats.held:  # when is not reported, so ties leave it open
        tally.cut_short = 1
        return tally
    make_flush(bodies, dim)
    follower = Follower(bodies, Fraction(dt), **limits)
    n_resolutions = Counter((hit.time, hit.first, hit.second) for hit in hits)
    for n, hit in enumerate(hits):
        is_long = n_resolutions[hit.time, hit.first, hit.second] > LONGEST_SERIES
        if is_long or follower.is_blurred() or follower.is_hair(hit):
            tally.cut_short = 1
            return tally
        follower.follow(hit, hits[n + 1 :])
    tally.ties, tally.roundings = follower.n_ties, follower.n_roundings
    if follower.is_blurred():
        tally.cut_short = 1
        return tally
    follower.finish()
    for i in follower.bodies:
        place = _vector(esper.component_for_entity(i, ec.Position), dim)
        follower.compare_place(i, place, 0.0, "at the end")
        speed = esper.try_component(i, ec.Velocity)
        if speed is not None:
            follower.compare_velocity(i, _vector(speed, dim), "at the end")
    return tally
