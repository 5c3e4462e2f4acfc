"""Copy the numbers of components that only some bodies have into columns."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import ALL, NAN, TRAITS_SHIFT, Trait
from ecs_collide.components.basics import Acceleration
from ecs_collide.components.dynamics import Dominance, LockedAxes
from ecs_collide.components.filters import Filter
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import Carry, Friction, OneWay, Restitution
from ecs_collide.motion.controls import Controls
from ecs_collide.motion.rare_columns import (
    CATEGORIES,
    CATEGORY,
    GROUP,
    MASK,
    RareColumns,
)
from ecs_collide.sync.bindings import CODE, VALUE, ComponentBinding

MOST_KINDS = 32  # the room of `Watch.rare` in slots.h


@cython.final
class RareReader:
    """The rarer components of all bodies, and the columns that they are read into."""

    rare: RareColumns
    kinds: list
    exempt: ReadOnly[list]
    up: Public[cython.int]
    filter: ComponentBinding
    friction: ComponentBinding
    one_way: ComponentBinding
    normal: ComponentBinding
    surface: ComponentBinding
    dominance: ComponentBinding
    restitution: ComponentBinding
    locked_axes: ComponentBinding
    acceleration: ComponentBinding
    flow: ComponentBinding
    medium: ComponentBinding
    rise: ComponentBinding
    heights: ComponentBinding

    def __init__(self, rare: RareColumns, kinds: list):
        if len(kinds) > MOST_KINDS:
            raise ValueError(
                f"{len(kinds)} parts of rare components: there is room for {MOST_KINDS}"
            )
        self.rare = rare
        self.kinds = kinds  # of `components.table`
        by_name: dict = {(kind.type, kind.names[0]): kind for kind in kinds}
        # Kinds whose numbers are not only copied to a column.
        self.filter = by_name[Filter, "categories"]
        self.friction, self.restitution = by_name[Friction, "value"], by_name[Restitution, "value"]
        self.one_way, self.normal = by_name[OneWay, "x"], by_name[Carry, "normal_x"]
        self.surface, self.dominance = by_name[Carry, "x"], by_name[Dominance, "level"]
        self.locked_axes = by_name[LockedAxes, "x"]
        self.acceleration = by_name[Acceleration, "x"]
        self.flow, self.medium = by_name[Immersed, "x"], by_name[Immersed, "gravity"]
        self.rise, self.heights = by_name[Slope, "x"], by_name[Slope, "low"]
        self.exempt = []  # gravity does not act on bodies with a component of one of these kinds
        self.up = 2  # the side of default normals: k + 1, or -(k + 1), for axis k

    def _clear(self, i: cython.Py_ssize_t) -> cython.void:
        """Set the columns of a body to their defaults, but not its filter."""
        kind: ComponentBinding

        self.rare.clear(i)
        for kind in self.kinds:
            kind.clear(i)

    def cache(self, i: cython.Py_ssize_t, has: cython.int) -> cython.void:
        """Set which of the components a body has, from the marks `has` of all its kinds.

        `check` fills the columns.  Until then they hold the defaults and the last filter.
        """
        rarest: cython.int = (
            Trait.DOMINANCE | Trait.RESTITUTION | Trait.MAX_SPEED | Trait.LOCKED_AXES | Trait.OTHER
        )

        self.rare.bits[i] = has >> TRAITS_SHIFT & 0x7FFF
        if self.rare.bits[i] & rarest:
            self.rare.controls.use()
        if self.rare.is_used or self.rare.bits[i]:
            self._clear(i)
        if self.rare.controls.is_used:
            self.rare.controls.clear(i)

    def _has(self, i: cython.Py_ssize_t, kind: ComponentBinding) -> cython.bint:
        """Return whether a body has a component of a kind and uses it: attached boxes only filters."""
        bits: cython.int = self.rare.bits[i] & ~Trait.GAME_FILTER

        return (bits << TRAITS_SHIFT & kind.mark) != 0 and kind.is_cached(i)

    def read(self, i: cython.Py_ssize_t) -> cython.bint:
        """Read the rare components of a body; return whether they changed."""
        kind: ComponentBinding
        differs: cython.bint = False

        for kind in self.kinds:
            if self._has(i, kind):
                differs |= kind.read(i)
        if self._has(i, self.friction) and self.friction.seen[i, CODE] != 0.0:
            self.rare.controls.use()
        return differs

    def is_other(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether `read` would find a change."""
        kind: ComponentBinding

        for kind in self.kinds:  # noqa: SIM110  (a generator costs more)
            if self._has(i, kind) and kind.is_other(i):
                return True
        return False

    def mistrust(self, i: cython.Py_ssize_t) -> cython.void:
        """Make `read` treat all rare components of a body as changed."""
        kind: ComponentBinding
        k: cython.int

        for kind in self.kinds:
            if len(kind.items) > 0:
                kind.forget(i)
                for k in range(kind.width):
                    kind.seen[i, k] = NAN

    def check(self, i: cython.Py_ssize_t) -> cython.bint:
        """Fill the columns of a body; return whether its numbers are valid.

        For a body without these components, only the filter is cleared, as `cache` has cleared the
        other columns.
        """
        t: RareColumns = self.rare
        c: Controls = t.controls
        kind: ComponentBinding
        fine: cython.bint = True

        t.filters[i, CATEGORIES] = t.filters[i, MASK] = t.filters[i, GROUP] = 0
        if t.bits[i] == 0:
            return True
        if c.is_used:
            c.clear(i)
        for kind in self.kinds:
            if self._has(i, kind):
                fine &= kind.allows_all(i)
                kind.fill(i)
            else:
                kind.clear(i)
        if self._has(i, self.filter):
            for k in range(3):
                if self.filter.allows(i, k):
                    t.filters[i, k] = int(self.filter.seen[i, k])
                    t.filters[i, k] ^= CATEGORY if k == CATEGORIES else ALL if k == MASK else 0
            t.filters[i, MASK] &= ALL  # ~bits means all categories but these
        t.any_friction |= self._has(i, self.friction) and self.friction.seen[i, VALUE] > 0.0
        if c.is_used and self._has(i, self.friction) and self.friction.allows(i, CODE):
            c.friction_rule[i] = int(self.friction.seen[i, CODE])
        if self._has(i, self.one_way):
            t.one_way[i] = t.side(self.one_way.seen, i, self.up)
            fine &= t.one_way[i] != 0
        if self._has(i, self.normal):
            t.carries[i] = t.side(self.normal.seen, i, self.up)
            t.any_carrier = True
            fine &= t.carries[i] != 0
            for k in range(t.dim):  # the part along the normal is ignored: a surface slides
                is_along: cython.bint = abs(t.carries[i]) != k + 1
                t.surface[i, k] = self.surface.seen[i, k] if is_along else 0.0
        if self._has(i, self.rise):
            t.shape(i, self.rise.seen, self.heights.seen, self.up)
        self._find_pull(i)
        if self._has(i, self.dominance) and self.dominance.allows(i, VALUE):
            c.rank[i] = 2 * int(self.dominance.seen[i, VALUE]) + (self.dominance.seen[i, 1] == 1.0)
            c.any_rank |= c.rank[i] != 0
        if self._has(i, self.restitution) and self.restitution.allows(i, CODE):
            c.restitution_rule[i] = int(self.restitution.seen[i, CODE])
        if self._has(i, self.locked_axes):
            for k in range(c.dim):
                if self.locked_axes.seen[i, k] == 1.0:
                    c.lock[i] |= 1 << k
                    c.any_lock = True
        return fine

    def _find_pull(self, i: cython.Py_ssize_t) -> cython.void:
        """Fill the acceleration of a body, and add the zones around it to its scale and damping."""
        t: RareColumns = self.rare
        kind: ComponentBinding

        for k in range(t.dim):
            t.acceleration[i, k] = 0.0
            for kind in (self.acceleration, self.flow):
                if self._has(i, kind):
                    t.acceleration[i, k] += kind.seen[i, k]
        if self._has(i, self.medium):
            t.gravity_scale[i] *= self.medium.seen[i, 0]
            t.damping[i] += self.medium.seen[i, 1]
            t.any_damping |= t.damping[i] != 0.0
        for kind in self.exempt:
            if self._has(i, kind):
                t.gravity_scale[i] = 0.0
                for k in range(t.dim):
                    t.acceleration[i, k] = 0.0
        for k in range(t.dim):
            t.any_acceleration |= t.acceleration[i, k] != 0.0
