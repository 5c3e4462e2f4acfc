"""Register, read and place the current bodies of a world, for `queries.present`.

Before this, the entities of the world are compared with the registered bodies.  After it, the boxes
go into the tree.  This is `sync.reader` without the parts of a step: no motion, no sleep and
nothing to put back.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import LARGEST, Has
from ecs_collide.motion.bodies import Bodies
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.slots import pair_run

START: cython.Py_ssize_t = 0  # the index of the first row, whose address is the array's


def cache_bodies(
    kinds: list,
    rows: list,
    found: list,
    n_cached: cython.short[::1],
    has: cython.longlong[::1],
):
    """Register components of bodies.

    Parameters
    ----------
    kinds : list of ComponentBinding
    rows : list of int
    found : list of dict
        For each of these rows the components by type.
    n_cached, has : int16 and int64 (room,)
        Written by row: how many components are cached, and the marks of their kinds.
    """
    kind: ComponentBinding

    for n in range(len(rows)):
        i: cython.Py_ssize_t = rows[n]
        components: dict = found[n]
        n_cached[i] = has[i] = 0
        for kind in kinds:
            if kind.cache(i, components.get(kind.type)):
                n_cached[i] += kind.counts
                has[i] |= kind.mark


def find_changed(
    first: ComponentBinding, second: ComponentBinding, rows: cython.longlong[::1]
) -> list:
    """Read two components of bodies; return the rows in which a number has changed.

    A value that cannot be read raises.  Both components are registered in all of these rows.
    """
    n: cython.Py_ssize_t = 0
    n_rows: cython.Py_ssize_t = rows.shape[0]
    changed: list = []

    while n < n_rows:
        if cython.compiled:
            n = pair_run(first.slots, second.slots, cython.address(rows[START]), n, n_rows)
            if n == n_rows:
                break
        i: cython.Py_ssize_t = rows[n]
        is_other: cython.bint = first.read(i)
        if second.read(i) or is_other:
            changed.append(i)
        n += 1
    return changed


@cython.final
class BoxFinder:
    """Finds the boxes of bodies by the numbers of their components.

    A body that has not changed since the last step has the box of that step.  So has a `Fixed` body
    that the next step does not read.

    Parameters
    ----------
    here, bodies : Bodies
        The bodies as they are now, and those of the steps.
    units : sync.units.Units
        The meaning of the numbers of custom components.
    makers, seen_makers : tuple of ComponentBinding
        The two components that make a body, as registered here and for the steps.
    """

    here: Bodies
    bodies: Bodies
    makers: tuple
    seen_makers: tuple
    leans: cython.double[3]
    halves_per_size: cython.double

    def __init__(self, here: Bodies, bodies: Bodies, units, makers: tuple, seen_makers: tuple):
        self.here, self.bodies = here, bodies
        self.makers, self.seen_makers = makers, seen_makers
        self.halves_per_size = units.halves
        for k, lean in enumerate(units.leans):
            self.leans[k] = lean

    def find(
        self,
        rows: cython.longlong[::1],
        seen_rows: cython.longlong[::1],
        asked: set,
        is_sound: cython.schar[::1],
    ) -> None:
        """Write the boxes of bodies into the columns.

        Parameters
        ----------
        rows, seen_rows : int64 (n,)
            The rows of the bodies here, and among the bodies of the steps; -1 for none there.
        asked : set of int
            The rows among the latter that the next step reads, fixed or not.
        is_sound : int8 (n,)
            Written: whether the numbers are valid for a step.
        """
        for n in range(rows.shape[0]):
            is_sound[n] = self._is_sound(rows[n])
            if not is_sound[n]:
                continue
            if self._is_as_seen(rows[n], seen_rows[n], asked):
                self._take_over(rows[n], seen_rows[n])
            else:
                self._convert(rows[n])

    def _is_sound(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the numbers of a body are valid for a step."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            size: cython.double = self.here.seen_size[i, k]
            if not (-LARGEST <= self.here.seen_place[i, k] <= LARGEST and 0.0 <= size <= LARGEST):
                return False
            if b.wraps and b.width[k] > 0.0 and size / self.halves_per_size > b.width[k] / 2.0:
                return False
        return True

    def _is_as_seen(self, i: cython.Py_ssize_t, s: cython.Py_ssize_t, asked: set) -> cython.bint:
        """Return whether a body, in row `s` of the steps, is unchanged since the last step."""
        b: Bodies = self.bodies

        if s < 0 or b.news[s] != 0 or b.quarantined[s] != 0:
            return False
        for k in range(b.dim):
            if (
                b.seen_place[s, k] != self.here.seen_place[i, k]
                or b.seen_size[s, k] != self.here.seen_size[i, k]
            ):
                return b.has[s] & Has.FIXED != 0 and s not in asked and self._is_cached(i, s)
        return True

    def _is_cached(self, i: cython.Py_ssize_t, s: cython.Py_ssize_t) -> cython.bint:
        """Return whether the last step has read the same components."""
        here: ComponentBinding
        there: ComponentBinding

        for here, there in zip(self.makers, self.seen_makers, strict=True):
            if here.items[i] is not there.items[s]:
                return False
        return True

    def _take_over(self, i: cython.Py_ssize_t, s: cython.Py_ssize_t) -> cython.void:
        """Copy the box of the last step."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            self.here.centre[i, k] = b.seen_centre[s, k]
            self.here.half[i, k] = b.seen_half[s, k]
            self.here.tight_min[i, k] = b.tight_min[s, k]
            self.here.tight_max[i, k] = b.tight_max[s, k]

    def _convert(self, i: cython.Py_ssize_t) -> cython.void:
        """Compute the box from the numbers."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            half: cython.double = self.here.seen_size[i, k] / self.halves_per_size
            centre: cython.double = self.here.seen_place[i, k] - self.leans[k] * half
            if b.wraps:
                centre = b.into_world(k, centre)
            self.here.centre[i, k], self.here.half[i, k] = centre, half
            self.here.tight_min[i, k], self.here.tight_max[i, k] = centre - half, centre + half
