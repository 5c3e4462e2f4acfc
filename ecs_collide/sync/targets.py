"""The targets of bodies in a space that sweeps them to the positions that the game sets.

Such a space does not move bodies by their velocities.  A position that the game has set is the
target for the end of the step.  The body is driven there in a straight line, and its impacts on
the way are resolved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import LARGEST, Has, Touched
from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain

RowArray = NDArray[np.int64]


class KinematicTargets:
    """The bodies that the game drives in the present step."""

    def __init__(self, table: BodyTable, put: set[int], domain: PeriodicDomain) -> None:
        self._table = table
        self._domain = domain
        self._centre = self._half = np.zeros((0, table.dim))
        self.put = put  # rows of bodies that are teleported instead
        self.rows = np.zeros(0, np.int64)  # of the driven bodies
        self.released = self.rows  # bodies that the last step drove, and that are at rest now
        self.targets = np.zeros((0, table.dim))  # in world units
        self.wrapped_targets = self.targets  # inside the world; `targets` lie the short way round
        self.speeds = self.targets  # in world units per second

    def remember(self, rows: RowArray) -> None:
        """Store the boxes of bodies before their components are read."""
        c = self._table
        if len(self._centre) < c.capacity:
            centre, half = np.zeros((2, c.capacity, c.dim))
            centre[: len(self._centre)], half[: len(self._half)] = self._centre, self._half
            self._centre, self._half = centre, half
        self._centre[rows], self._half[rows] = c.centre[rows], c.half[rows]

    def find_targets(self, rows: RowArray, dt: float) -> None:
        """Find the bodies of `rows` that the game has moved, and drive them to their targets."""
        c = self._table
        before, after = self._centre[rows], c.seen_centre[rows]
        with np.errstate(all="ignore"):  # skipped bodies may hold any numbers
            displacements = after - before
            rounds = self._domain.shortest(displacements)
            wrapped_targets = self._domain.into_world(after)
            after = np.where(rounds == 0.0, after, after - rounds * self._domain.widths)
            displacements = after - before
            speeds = displacements / dt if dt > 0.0 else np.full_like(displacements, np.inf)
        driven = (c.touched[rows] & Touched.BY_GAME != 0) & (
            c.quarantined[rows] == 0
        )  # new bodies are not touched
        driven &= c.has[rows] & Has.FIXED == 0
        driven &= (displacements != 0.0).any(axis=1) & (np.abs(speeds) <= LARGEST).all(axis=1)
        if self.put:
            driven &= ~are_among(rows, list(self.put))
            self.put.clear()
        resized = (self._half[rows] != c.seen_half[rows]).any(axis=1)
        held = (c.has[rows] & (Has.VELOCITY | Has.GROWTH | Has.CUSTOM) == 0) & (
            c.response[rows] == 0
        )
        released = held & (c.driven[rows] != 0) & ~driven
        self.released = rows[released & (c.quarantined[rows] == 0)]
        c.driven[rows] = driven
        c.moves[rows] = np.where(held, driven, c.moves[rows])
        c.velocity[rows] = np.where(driven[:, None], speeds, 0.0)
        self.rows, self.targets, self.speeds = rows[driven], after[driven], speeds[driven]
        self.wrapped_targets = wrapped_targets[driven] + 0.0
        c.centre[self.rows] = before[driven]
        c.touched[rows[driven & ~resized]] &= ~Touched.BY_GAME
        c.motion[self.released] = 0.0

    def arrived(self) -> NDArray[np.bool_]:
        """Return whether each driven body has arrived, by axis, bool (n, dim)."""
        arrived: NDArray[np.bool_] = self._table.centre[self.rows] == self.targets
        return arrived

    def reach_wrapped_targets(self, arrived: NDArray[np.bool_]) -> None:
        """Move the bodies that have arrived to their targets inside the world."""
        c = self._table
        c.centre[self.rows] = np.where(arrived, self.wrapped_targets, c.centre[self.rows])

    def before(self) -> NDArray[np.float64]:
        """Return the centres of the driven bodies at the start of the step, (n, dim)."""
        before: NDArray[np.float64] = self._centre[self.rows]
        return before

    def clear(self) -> None:
        """Remove all targets."""
        self.rows, self.released = self.rows[:0], self.released[:0]
        self.targets, self.speeds = self.targets[:0], self.speeds[:0]
        self.wrapped_targets = self.wrapped_targets[:0]
        self.put.clear()

    def release(self, row: int) -> None:
        """Cancel the target of a body that a response has put somewhere else."""
        self.targets[self.rows == row] = np.nan

    def speed_of(self, row: int, k: int) -> float:
        """Return the speed at which a body is driven on an axis, 0 if it is not driven."""
        place = np.flatnonzero(self.rows == row)
        return float(self.speeds[place[0], k]) if len(place) else 0.0

    def keep_velocities(self, moving: RowArray) -> None:
        """Restore the seen velocities of `moving` on each axis that no resolution has changed."""
        c, speeds = self._table, np.zeros((len(moving), self._table.dim))
        order = np.argsort(moving)
        driven = are_among(self.rows, moving)
        places = order[np.searchsorted(moving, self.rows[driven], sorter=order)]
        speeds[places] = self.speeds[driven]
        now = c.velocity[moving]
        c.velocity[moving] = np.where(now == speeds, c.seen_velocity[moving], now)
