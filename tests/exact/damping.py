"""What damping takes from the velocities of a step, in fractions.

Written from `docs/gravity.md` and the rules of `ecs_collide/motion/gravity.py`, for worlds without
gravity.  With x = damping · dt, a damped body has the velocity v · exp(-x) at the end of a step and
its path the mean v · (1 - exp(-x)) / x.  The end less the mean is its *kick*, added at the end.

An impact finds a velocity on the straight line between those at both ends of the step, of which the
*pull* is the slope.  On the axis of an impact with a wall, damping ends there.  If two bodies
rebound, the damping of the rest of the step acts at once.  If they do not, or the axis is another
on which the impact may turn them, the line goes on, and the kick is half of what is left of the
pull.  The members of a group share their kicks, by mass.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.exact.simulator import Simulator

DIGITS = Context(prec=40)


def left_after(x: Fraction) -> Fraction:
    """Return exp(-x), to 40 digits."""
    power = DIGITS.divide(Decimal(-x.numerator), Decimal(x.denominator))
    return Fraction(DIGITS.exp(power))


class Kicks:
    """What is added to the velocities of the paths of a step at its end.

    Attributes
    ----------
    of : for each body, its kick on each axis
    pull : for each body, how its velocity changes in a whole step on its present path
    own : the same, before friction or `Stop` has taken a part
    since : when the present path began, on each (body, axis) on which it was split
    rubbed : those on which friction or `Stop` has taken a part
    """

    def __init__(self, step: Simulator) -> None:
        self.step = step
        self.of, self.pull, self.own = (
            {i: [Fraction(0)] * step.dim for i in step.bodies} for _ in range(3)
        )
        self.since: dict[tuple[int, int], Fraction] = {}
        self.rubbed: set[tuple[int, int]] = set()

    def start(self) -> None:
        """Give all damped bodies the mean velocities of the step; riders beside their carriers."""
        step = self.step
        for i, body in step.bodies.items():
            x = body.damping * step.dt
            ride = step.riders.rides.get(i)
            velocity = step.velocity[i] if ride is None else ride.own
            for k, v in enumerate(list(velocity) if x else ()):
                last = v * left_after(x)
                mean = (v - last) / x
                step.velocity[i][k] += mean - v
                self.of[i][k] = last - mean
                self.own[i][k] = self.pull[i][k] = last - v
                if ride is not None:
                    ride.own[k] = mean
                    ride.kick[k] = last - mean

    def decay(self, i: int) -> Fraction:
        """Return what is left at the end of a velocity that a body gets now."""
        step = self.step
        return left_after(step.bodies[i].damping * step.dt * (1 - step.now))

    def now(self, i: int, k: int) -> Fraction:
        """Return the velocity of a body at this instant, before it is split."""
        return self.step.velocity[i][k] + self.bend(self._sharing(i, k), k)

    def shared(self, i: int, k: int) -> Fraction:
        """Return the kick of a body, the mean if it is in a group."""
        return self._mean(self._sharing(i, k), {n: row[k] for n, row in self.of.items()})

    def bend(self, members: set[int], k: int) -> Fraction:
        """Return by how much the velocities of bodies now differ from those of their paths."""
        left = 1 - self.step.now
        return self._mean(members, {n: self.of[n][k] - self.pull[n][k] * left for n in members})

    def differ(self, members: set[int], k: int) -> bool:
        """Return whether bodies have different kicks."""
        return len({self.of[n][k] for n in members}) > 1

    def _sharing(self, i: int, k: int) -> set[int]:
        """Return who is to share the kick of a body: its group, if that has no wall."""
        cluster = self.step.clusters[k].get(i)
        if cluster is None or cluster.anchor is not None or not self.differ(cluster.members, k):
            return {i}
        return cluster.members

    def _mean(self, members: set[int], values: dict[int, Fraction]) -> Fraction:
        """Return the mean by mass over the bodies of the highest dominance."""
        bodies = self.step.bodies
        if len(members) == 1:  # a wall has no mass
            return values[min(members)]
        rank = max(bodies[n].level for n in members)
        masses = {n: bodies[n].mass for n in members if bodies[n].level == rank}
        return sum(values[n] * mass for n, mass in masses.items()) / sum(masses.values())

    def split(self, i: int, k: int, *, ends: bool) -> bool:
        """Begin the path of a body anew at an impact; return whether its velocity changes."""
        step = self.step
        if self.pull[i][k] == 0 or step.lasting_cluster(i, k) is not None:
            return False
        if not ends and step.now in (0, self.since.get((i, k))):
            return False
        now, before = self.now(i, k), step.velocity[i][k]
        own = Fraction(0) if ends else self.own[i][k]
        kick = own * (1 - step.now) / 2
        if now + kick != before:
            step.leave(i, k)  # the others share their kicks without this one
        self.own[i][k] = self.pull[i][k] = own
        self.of[i][k] = kick
        self.since[i, k] = step.now
        self.rubbed.discard((i, k))
        step.change(i, k, now + kick)
        return step.velocity[i][k] != before

    def spend_before_rebound(self, pair: tuple[int, int], k: int) -> None:
        """Let the damping of the rest of the step act on two bodies whose paths begin now.

        One without damping leaves those of its group whose kicks it would share.
        """
        for i in pair:
            now = self.now(i, k)
            begins = self.since.get((i, k), Fraction(0)) == self.step.now
            if self.step.lasting_cluster(i, k) is not None:
                continue
            if begins and self.own[i][k]:
                self.split(i, k, ends=True)
                self.step.change_alone(i, k, now * self.decay(i))
            elif len(self._sharing(i, k)) > 1:
                self.step.change_alone(i, k, now + self.of[i][k])

    def share(self, i: int, k: int, kick: Fraction) -> None:
        """Give a body the kick of its group from now on."""
        self.of[i][k] = kick
        self.pull[i][k] = 2 * kick / (1 - self.step.now)
        self.since[i, k] = self.step.now
        self.rubbed.discard((i, k))

    def end(self, i: int) -> None:
        """Let damping act on a body no more."""
        for k in range(self.step.dim):
            self.of[i][k] = self.pull[i][k] = self.own[i][k] = Fraction(0)

    def weaken(self, i: int, k: int, part: Fraction) -> None:
        """Let friction or `Stop` take all but a part from a kick."""
        if part < 1 and self.of[i][k]:
            self.of[i][k] *= part
            self.pull[i][k] *= part
            self.rubbed.add((i, k))

    def give_back(self, i: int, k: int, change: Fraction) -> None:
        """Undo `weaken` of this instant on a body that is about to change against its pull."""
        is_rubbed = (i, k) in self.rubbed and self.since.get((i, k)) == self.step.now
        if is_rubbed and change * self.own[i][k] < 0:
            kick = self.own[i][k] * (1 - self.step.now) / 2
            self.step.change_alone(i, k, self.step.velocity[i][k] + kick - self.of[i][k])
            self.pull[i][k], self.of[i][k] = self.own[i][k], kick
            self.rubbed.discard((i, k))
