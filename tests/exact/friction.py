"""Coulomb friction of the contacts of one instant, in fractions.

Written from the head of `ecs_collide/response/friction.py`.  The contacts rub in rounds: what
sticks together moves as one, the others rub it, and of the contacts that cannot bear their part
the one that lacks most slips.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from tests.exact.roots import root

if TYPE_CHECKING:
    from tests.exact.simulator import Simulator

RUB_LIMIT = 12  # rounds
TRY_LIMIT = 8  # rounds that begin anew for the contacts of the largest strain alone
STICKS = Fraction(399, 100)  # times as fast as it is a contact must be able to end a slide
BEARS = 1 + Fraction(1, 2**20)
FIRST_TO_SLIP = 1 + Fraction(1, 2**18)

Key = TypeVar("Key", bound=Hashable)
Moved: TypeAlias = tuple[int, int]  # a body and an axis


def passed_on(
    contacts: Sequence[tuple[Key | None, Key | None, Fraction]],
    changes: Mapping[Key, Fraction],
    is_friction: bool = False,
) -> list[Fraction]:
    """Return the impulse of each contact (low body, high body, width); None is a wall.

    The momentum of a body changes by the impulses below it less those above it.  Who tells them:
    bodies with one contact left; else those with contacts on one side, by their widths; else all.
    Impulses of friction may be of either sign, and a body divides its rest among all contacts.
    """
    known = {n: Fraction(0) for n, (low, high, _) in enumerate(contacts) if low is high is None}
    left = dict(changes)
    while len(known) < len(contacts):
        above: dict[Key, list[int]] = {i: [] for i in left}
        below: dict[Key, list[int]] = {i: [] for i in left}
        for n, (low, high, _) in enumerate(contacts):
            if n not in known and low is not None:
                above[low].append(n)
            if n not in known and high is not None:
                below[high].append(n)
        told: dict[int, Fraction] = {}
        some = [i for i in left if above[i] or below[i]]
        telling = (
            [i for i in some if len(above[i] + below[i]) == 1]
            or [i for i in some if not is_friction and (not above[i] or not below[i])]
            or some
        )
        for i in telling:
            beside = below[i] if left[i] >= 0 else above[i]
            if is_friction:
                beside = above[i] + below[i]
            widths = [contacts[n][2] for n in beside]
            if not sum(widths) or len(widths) == 1:
                widths = [Fraction(1)] * len(beside)
            shares = {n: width / sum(widths) for n, width in zip(beside, widths, strict=True)}
            for n in above[i] + below[i]:
                impulse = (left[i] if n in below[i] else -left[i]) * shares.get(n, 0)
                last = told.get(n, Fraction(0))
                told[n] = max(last, impulse, key=lambda x: (abs(x), x))
        for n, impulse in told.items():
            low, high, _ = contacts[n]
            if low is not None:
                left[low] += impulse
            if high is not None:
                left[high] -= impulse
        known |= told
    return [known[n] for n in range(len(contacts))]


@dataclass
class Rubbing:
    """A contact that has been met in this instant.

    Attributes
    ----------
    rows : its bodies, in the order of space; the normal of the side points to the first
    may_turn : whom the normal part may change, whatever their dominance
    pressed, slides : whom it, and friction, changes
    may_carry : whether one may become a rider of the other
    width : of the faces that touch, in 3D the area
    budget : the momentum that friction may pass on
    passed, passes : what the first body has passed on to the second on each axis, and in this round
    may_stick : whether its bodies may move as one
    sticks : whether they are thought to, in this round
    strain : how many times as much as it may it would have to pass on, if too much
    """

    rows: list[int]
    axis: int
    sign: int
    friction: Fraction
    may_turn: set[int]
    pressed: set[int]
    slides: set[int]
    may_carry: bool = False
    width: Fraction = Fraction(1)
    budget: Fraction = Fraction(0)
    passed: dict[int, Fraction] = field(default_factory=dict)
    passes: dict[int, Fraction] = field(default_factory=dict)
    may_stick: bool = False
    sticks: bool = False
    strain: Fraction = Fraction(0)


@dataclass(eq=False)
class Group:
    """Bodies that move as one on an axis, or one body alone, in a round.

    Attributes
    ----------
    is_held : whether it sticks to walls of one velocity, which is then its own
    budget : the sum of what the contacts that rub it may take
    parts : of its mass, how much its velocity changes, and what it keeps of its kick; for each of
        these contacts that rubs it
    """

    members: list[Moved]
    mass: Fraction
    velocity: Fraction
    is_held: bool = False
    budget: Fraction = Fraction(0)
    parts: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)

    @property
    def moves_as_one(self) -> bool:
        """Whether it has several bodies, or a wall holds it."""
        return len(self.members) > 1 or self.is_held

    @property
    def change(self) -> Fraction:
        """The mean change of its velocity."""
        return sum((part * change for part, change, _ in self.parts), Fraction(0))

    @property
    def kept(self) -> Fraction:
        """The mean of what it keeps of its kick."""
        return 1 - sum((part * (1 - kept) for part, _, kept in self.parts), Fraction(0))


class Friction:
    """The friction of the contacts of one instant.

    Attributes
    ----------
    groups : the group of each body on an axis
    pushed : the momentum that a body gets on an axis from others than its group, in this round
    n_tries : the number of rounds that began anew
    """

    def __init__(self, step: Simulator, contacts: list[Rubbing]) -> None:
        self.step = step
        self.contacts = [c for c in contacts if c.budget]
        self.groups: dict[Moved, Group] = {}
        self.pushed: dict[Moved, Fraction] = {}
        self.n_tries = 0
        for c in self.contacts:
            c.passed = dict.fromkeys(self._along(c), Fraction(0))
            c.may_stick = all(self._may_bind(c, axis) for axis in self._along(c))

    def apply(self) -> None:
        """Let the contacts rub, in rounds while bodies that several of them rub may slide on.

        What bodies get from the second round on is rounded, because the fractions would grow.
        """
        movers = [
            (n, axis) for c in self.contacts for axis in c.passed for n in self._rubs(c, axis)
        ]
        shared = {mover for mover in movers if movers.count(mover) > 1}
        for n_rounds in range(RUB_LIMIT):
            self.groups.clear()
            for c in self.contacts:
                c.sticks = c.may_stick and self._ends_easily(c)
            self._rub_all()
            while not self._bear_all():
                self.n_tries += 1
                self._rub_all()
            for (n, axis), group in self.groups.items():
                self._turn(n, axis, group, rounds=n_rounds > 0)
            if shared.isdisjoint(self._pass_on()):
                return

    def _pass_on(self) -> set[Moved]:
        """Add up what the contacts have passed on; return the bodies that got some of it.

        What is damped rubs once.
        """
        turned = set()
        for c in self.contacts:
            for axis, momentum in c.passes.items():
                c.passed[axis] += momentum
                rubbed = self._rubs(c, axis)
                turned |= {(n, axis) for n in rubbed if momentum}
                if any(self.step.kicks.own[n][axis] for n in rubbed):
                    c.budget = Fraction(0)
        self.contacts = [c for c in self.contacts if c.budget]
        return turned

    def _along(self, c: Rubbing) -> list[int]:
        """Return the axes of the surface of a contact."""
        return [axis for axis in range(self.step.dim) if axis != c.axis]

    def _rubs(self, c: Rubbing, axis: int) -> list[int]:
        """Return the bodies that a contact may rub on an axis."""
        return [n for n in c.rows if n in c.slides and axis not in self.step.bodies[n].locked]

    def _belts(self, c: Rubbing, axis: int) -> list[Fraction]:
        """Return the velocities of the faces of a contact along themselves."""
        one, two = c.rows
        riders = self.step.riders
        return [riders.belt(one, c.axis, -c.sign)[axis], riders.belt(two, c.axis, c.sign)[axis]]

    def _may_bind(self, c: Rubbing, axis: int) -> bool:
        """Return whether nothing but friction moves the bodies on an axis."""
        step, rubbed = self.step, self._rubs(c, axis)
        return not any(
            step.kicks.own[n][axis] or step.lasting_cluster(n, axis) for n in rubbed
        ) and (len(rubbed) < 2 or len({*self._belts(c, axis)}) == 1)

    # -- velocities --

    def _velocity_of(self, n: int, axis: int) -> Fraction:
        """Return the velocity of the group of a body, or that with which the body goes on."""
        group = self.groups.get((n, axis))
        moves_as_one = group is not None and group.moves_as_one
        return group.velocity if moves_as_one else self.step.final(n, axis)

    def _slide(self, c: Rubbing, axis: int) -> Fraction:
        """Return the velocity of the first face less that of the second.

        Of two bodies that it may change at this instant, else at the end of the step.
        """
        speeds = []
        rubbed = self._rubs(c, axis)
        for n, belt in zip(c.rows, self._belts(c, axis), strict=True):
            times = -1 if len(rubbed) == 2 else n in rubbed
            speeds.append(self._velocity_of(n, axis) + belt + times * self.step.kicks.of[n][axis])
        return speeds[0] - speeds[1]

    def _find_slide(self, c: Rubbing) -> tuple[dict[int, Fraction], Fraction, Fraction]:
        """Return how a contact slides on each axis, how fast, and how much it may pass on."""
        slide = {axis: self._slide(c, axis) for axis in c.passed}
        speed = root(sum((v * v for v in slide.values()), Fraction(0)))
        along = sum((c.passed[k] * v for k, v in slide.items()), Fraction(0)) / (speed or 1)
        square = c.budget**2 - sum((passed**2 for passed in c.passed.values()), Fraction(0))
        room = c.budget - along
        if self.step.dim > 2:
            room = root(max(along**2 + square, Fraction(0))) - along
        return slide, speed, max(room, Fraction(0))

    def _ends_easily(self, c: Rubbing) -> bool:
        """Return whether a contact could easily end its slide."""
        _, speed, room = self._find_slide(c)
        masses = [self.step.bodies[n].mass for n in c.rows if n in c.slides]
        return speed * STICKS <= room * sum((1 / mass for mass in masses), Fraction(0))

    # -- groups --

    def _find_groups(self) -> None:
        """Find the groups, their velocities, and what holds them."""
        members = {
            (n, axis): [(n, axis)] for c in self.contacts for axis in c.passed
            for n in self._rubs(c, axis)
        }  # fmt: skip
        for c in self.contacts:
            for axis in c.passed if c.sticks else ():
                groups = [members[n, axis] for n in self._rubs(c, axis)]
                if len(groups) == 2 and groups[0] is not groups[1]:
                    groups[0] += groups[1]
                    members |= dict.fromkeys(groups[1], groups[0])
        self.groups.clear()
        for mover, group in members.items():
            if mover == group[0]:
                masses = [self.step.bodies[n].mass for n, _ in group]
                momenta = [self.step.bodies[n].mass * self.step.final(n, axis) for n, axis in group]
                velocity = sum(momenta, Fraction(0)) / sum(masses)
                whole = Group(group, sum(masses, Fraction(0)), velocity)
                self.groups |= dict.fromkeys(group, whole)
        walls: dict[Group, set[Fraction]] = {}
        for c in self.contacts:
            for axis in c.passed if c.sticks else ():
                for n in self._rubs(c, axis) if len(self._rubs(c, axis)) == 1 else ():
                    walls.setdefault(self.groups[n, axis], set()).add(self._beside(c, axis, n))
        for held, velocities in walls.items():
            if len(velocities) == 1:
                held.is_held, held.velocity = True, velocities.pop()

    def _beside(self, c: Rubbing, axis: int, n: int) -> Fraction:
        """Return the velocity with which a body goes along with the other face of a contact."""
        one, two = c.rows
        belts = self._belts(c, axis)
        if n == one:
            return self._velocity_of(two, axis) + belts[1] - belts[0]
        return self._velocity_of(one, axis) + belts[0] - belts[1]

    def _binds(self, c: Rubbing, axis: int) -> bool:
        """Return whether a contact sticks on an axis: its bodies are of one group, or held."""
        rubbed = self._rubs(c, axis)
        held = [self.groups[n, axis].is_held for n in rubbed]
        return c.sticks and bool(rubbed) and (len(rubbed) == 2 or held[0])

    def _pair_of(self, c: Rubbing, axis: int) -> dict[int, Group]:
        """Return the groups of the bodies that a contact rubs on an axis; none if they are one."""
        pair = {n: self.groups[n, axis] for n in self._rubs(c, axis)}
        is_one = len(pair) == 2 and len({*pair.values()}) == 1
        return {} if is_one or self._binds(c, axis) else pair

    # -- rub --

    def _rub_all(self) -> None:
        """Rub the contacts between groups, and beside walls."""
        self._find_groups()
        self.pushed.clear()
        for c in self.contacts:
            c.passes = {}
            for axis in c.passed:
                for group in self._pair_of(c, axis).values():
                    group.budget += c.budget
        for c in self.contacts:
            slide, speed, room = self._find_slide(c)
            for axis in c.passed if speed else ():
                self._rub(c, axis, slide[axis], room / speed)

    def _rub(self, c: Rubbing, axis: int, slide: Fraction, most: Fraction) -> None:
        """Rub the faces of a contact on an axis, with at most this momentum for each speed."""
        pair = self._pair_of(c, axis)
        ease = {
            n: group.budget / c.budget / group.mass
            for n, group in pair.items() if not group.is_held
        }  # fmt: skip
        both = sum(ease.values(), Fraction(0))
        gone = min(most * both, Fraction(1))
        if pair:
            c.passes[axis] = slide * (gone / both if both else most)
        for n in pair:
            momentum = c.passes[axis] * (1 if n == c.rows[1] else -1)
            self.pushed[n, axis] = self.pushed.get((n, axis), Fraction(0)) + momentum
            if n in ease:
                change = momentum * ease[n]
                lost = gone if len(pair) == 1 else Fraction(0)
                if len(pair) == 2:
                    self.step.kicks.give_back(n, axis, momentum)
                change += lost * self.step.kicks.of[n][axis]
                group = pair[n]
                group.parts.append((c.budget / group.budget, change, 1 - lost))

    # -- the end of a round --

    def _bear_all(self) -> bool:
        """Let the contacts that bind bear what they must pass on; return False if one slips."""
        changes = {
            (n, axis): self.step.bodies[n].mass
            * (group.velocity + group.change - self.step.final(n, axis))
            - self.pushed.get((n, axis), Fraction(0))
            for (n, axis), group in self.groups.items()
            if group.moves_as_one
        }
        bound = [(c, axis) for c in self.contacts for axis in c.passed if self._binds(c, axis)]
        links = []
        for c, axis in bound:
            rubbed = self._rubs(c, axis)
            one, two = ((n, axis) if n in rubbed else None for n in c.rows)
            links.append((one, two, c.budget))
        impulses = passed_on(links, changes, is_friction=True)
        for (c, axis), impulse in zip(bound, impulses, strict=True):
            c.passes[axis] = impulse
        sticking = [c for c in self.contacts if c.sticks]
        worst: dict[Group, Fraction] = {}
        for c in sticking:
            c.strain = self._strain(c)
            for group in self._groups_of(c):
                worst[group] = max(worst.get(group, c.strain), c.strain)
        for c in sticking:
            is_worst = any(c.strain * BEARS >= worst[group] for group in self._groups_of(c))
            if c.strain and (is_worst or self.n_tries >= TRY_LIMIT):
                c.sticks = False
                c.may_stick = self.n_tries < TRY_LIMIT
        return all(c.sticks for c in sticking)

    def _groups_of(self, c: Rubbing) -> set[Group]:
        """Return the groups of the bodies that a contact rubs, on all axes."""
        return {self.groups[n, axis] for axis in c.passed for n in self._rubs(c, axis)}

    def _strain(self, c: Rubbing) -> Fraction:
        """Return how many times as much as it may a contact would have to pass on, if too much.

        Of equal ones those beside walls slip first.
        """
        parts = [(c.passed[k] + c.passes.get(k, Fraction(0))) / c.budget for k in c.passed]
        square = sum((part * part for part in parts), Fraction(0))
        is_beside_wall = any(len(self._rubs(c, axis)) < 2 for axis in c.passed)
        if square <= BEARS:
            return Fraction(0)
        return root(square) * (FIRST_TO_SLIP if is_beside_wall else 1)

    def _turn(self, i: int, axis: int, group: Group, rounds: bool) -> None:
        """Give a body the velocity of its group, and what that keeps of its kick."""
        if group.parts or group.moves_as_one:
            velocity = self._velocity_of(i, axis) + group.change
            if rounds:
                velocity = Fraction(round(velocity * 2**100), 2**100)
            self.step.change_along(i, axis, self.step.final(i, axis), velocity)
            self.step.kicks.weaken(i, axis, group.kept)
