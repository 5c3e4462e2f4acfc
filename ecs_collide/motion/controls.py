"""The columns of dominance, locked axes, maximum speed and restitution.

A body of a higher rank outweighs all bodies of lower ones, as if its mass were infinite.  The rank
is twice the level of its `Dominance`, plus 1 if it blocks.
Most worlds use none of this, so the columns are not read until a body has such a component.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import sqrt

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import INF, CombineCode, Trait

HALF_ULP = 2.0**-53


@cython.final
class Controls:
    """The columns of dominance, locks, speeds and restitution, and the rules that read them."""

    dim: cython.int
    # whether any body has ever had such a component; the columns are not valid until then
    is_used: ReadOnly[cython.bint]
    # whether any body has ever had a dominance other than 0, a locked axis, a maximum speed
    any_rank: Public[cython.bint]
    any_lock: Public[cython.bint]
    any_limit: Public[cython.bint]
    any_bounce: Public[cython.bint]  # whether any body has ever had a restitution above 0
    # whether any body has ever had `Stop` or `Push`, or a response of the game might choose them
    any_turn: Public[cython.bint]
    # maximum speed, and restitution of the surface; declared in `components.table`
    limit: Public[cython.double[::1]]
    surface_restitution: Public[cython.double[::1]]
    lock: Public[cython.schar[::1]]
    restitution_rule: Public[cython.schar[::1]]
    friction_rule: Public[cython.schar[::1]]
    rank: Public[cython.longlong[::1]]
    bits: cython.short[::1]  # (capacity,): the column `traits`
    direction: cython.double[3]  # of a body that is faster than its maximum speed

    def __init__(self, dim: cython.int):
        self.dim = dim

    def use(self):
        """Start to use the columns; the rows of bodies that have none of these components hold zeros."""
        self.is_used = True

    def clear(self, i: cython.Py_ssize_t) -> cython.void:
        """Reset the dominance, the locked axes and the rules of a body."""
        self.rank[i] = 0
        self.lock[i] = 0
        self.restitution_rule[i] = self.friction_rule[i] = 0

    @cython.cfunc
    @cython.inline
    def rank_of(self, i: cython.Py_ssize_t) -> cython.longlong:
        """Return the rank of a body."""
        return self.rank[i]

    @cython.cfunc
    @cython.inline
    def locks(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether an axis of a body is locked."""
        return self.any_lock and (self.lock[i] & (1 << k)) != 0

    def locks_all_but(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether all axes of a body but axis `k` are locked."""
        return self.any_lock and (self.lock[i] | (1 << k)) == (1 << self.dim) - 1

    def friction_between(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        one: cython.double,
        other: cython.double,
    ) -> cython.double:
        """Return the friction of a pair from its bodies' values, -1 for a body without friction."""
        rule: cython.int = max(self.friction_rule[i], self.friction_rule[j])

        return combined_friction(one, other, rule)

    def has_restitution(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the surface of a body has a `Restitution` above 0."""
        return self.is_used and self._restitution_of(i, 0.0) > 0.0

    def _restitution_of(self, i: cython.Py_ssize_t, otherwise: cython.double) -> cython.double:
        """Return the value of a body's `Restitution`, or another one for a body without it."""
        return self.surface_restitution[i] if self.bits[i] & Trait.RESTITUTION else otherwise

    def restitution_between(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        one: cython.double,
        other: cython.double,
    ) -> cython.double:
        """Return the restitution of a pair from its responses' values, -1 for none."""
        rule: cython.int = max(self.restitution_rule[i], self.restitution_rule[j])

        one, other = self._restitution_of(i, one), self._restitution_of(j, other)
        return _combined(one, other, rule if rule else CombineCode.MAX)

    def restrain(
        self, velocity: cython.double[:, ::1], i: cython.Py_ssize_t, by_speed: cython.bint
    ) -> cython.void:
        """Apply the locked axes of a body and, with `by_speed`, its maximum speed to a velocity.

        The speed is the Euclidean norm, computed as largest · sqrt(sum of (v / largest)²).  If it
        is too great, the velocity is scaled to the maximum or slightly below, so that a second
        call changes nothing.
        """
        part: cython.double = 1.0
        less: cython.double = HALF_ULP

        for k in range(self.dim):
            if self.lock[i] & (1 << k):
                velocity[i, k] = 0.0
        most: cython.double = self.limit[i]
        if (
            not by_speed
            or not self.bits[i] & Trait.MAX_SPEED
            or most == INF
            or not _speed(velocity, i, self.dim) > most
        ):
            return
        speed: cython.double = _direction(velocity, i, self.dim, self.direction)
        while True:
            for k in range(self.dim):
                velocity[i, k] = most * part * (self.direction[k] / speed) + 0.0
            if not _speed(velocity, i, self.dim) > most:
                break
            part = 1.0 - less
            less *= 2.0


def _direction(
    velocity: cython.double[:, ::1],
    i: cython.Py_ssize_t,
    dim: cython.int,
    direction: cython.p_double,
) -> cython.double:
    """Write a velocity divided by its largest component; return the norm of the result."""
    largest: cython.double = 0.0
    total: cython.double = 0.0

    for k in range(dim):
        largest = max(largest, abs(velocity[i, k]))
    for k in range(dim):
        direction[k] = velocity[i, k] / largest
        total += direction[k] * direction[k]
    return sqrt(total)


def _speed(velocity: cython.double[:, ::1], i: cython.Py_ssize_t, dim: cython.int) -> cython.double:
    """Return the Euclidean norm of a velocity."""
    largest: cython.double = 0.0
    total: cython.double = 0.0

    for k in range(dim):
        largest = max(largest, abs(velocity[i, k]))
    if largest == 0.0:
        return 0.0
    for k in range(dim):
        part: cython.double = velocity[i, k] / largest
        total += part * part
    return largest * sqrt(total)


def combined_friction(one: cython.double, other: cython.double, rule: cython.int) -> cython.double:
    """Return the friction of two surfaces by a rule, 0 for the default; -1 is a surface without."""
    return _combined(one, other, rule if rule else CombineCode.GEOMETRIC)


def _combined(one: cython.double, other: cython.double, rule: cython.int) -> cython.double:
    """Combine the values of two surfaces by a rule; if one is below 0, the other counts alone."""
    if one < 0.0:
        return max(other, 0.0)
    if other < 0.0:
        return one
    if rule == CombineCode.AVERAGE:
        return (one + other) / 2.0
    if rule == CombineCode.GEOMETRIC:
        return sqrt(one) * sqrt(other)
    if rule == CombineCode.MIN:
        return min(one, other)
    if rule == CombineCode.MULTIPLY:
        return one * other
    return max(one, other)
