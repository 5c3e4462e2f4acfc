"""The positions of bodies at the start of the last step, for drawing between two steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.attached import AttachedBoxes
from ecs_collide.sync.targets import KinematicTargets

Doubles = NDArray[np.float64]
RowArray = NDArray[np.int64]


class StepStart:
    """Remembers the centres that a step overwrites."""

    def __init__(
        self,
        table: BodyTable,
        targets: KinematicTargets,
        attached: AttachedBoxes,
        domain: PeriodicDomain | None,
    ) -> None:
        self._table = table
        self._targets = targets
        self._attached = attached
        self._domain = domain
        self._relocated: list[int] = []  # rows of bodies put elsewhere since
        self._overwritten: dict[int, list[float]] = {}  # centres before responses, by row
        self._written: tuple[RowArray, Doubles] | None = None  # moved rows, old centres
        self._centres: Doubles | None = None  # cached by `centres`

    def forget(self) -> None:
        """Forget the last step: another one begins, or it was rolled back."""
        self._written = self._centres = None
        self._relocated.clear()
        self._overwritten.clear()

    def note_overwritten(self, row: int) -> None:
        """Store the seen centre of a body before a response overwrites it."""
        self._overwritten.setdefault(row, self._table.seen_centre[row].tolist())

    def note_written(self, rows: RowArray, centres: Doubles) -> None:
        """Store the rows of the bodies that a step has moved, and their centres before it."""
        self._written = rows, centres

    def note_relocated(self, row: int) -> None:
        """Record that a body was put somewhere else since the step began."""
        self._relocated.append(row)
        self._centres = None

    def centres(self) -> Doubles:
        """Return the centres of bodies at the start of the last step, float64 (capacity, dim) by row.

        They include teleports before the step.  Bodies that the step did not move or a response put
        elsewhere, and all bodies after `restore` or an interrupted step, have their present centres.
        """
        if self._centres is None:
            now = self._table.seen_centre
            centres = now.copy()
            if self._written is not None:
                rows, before = self._written
                centres[rows] = before
                for row, centre in self._overwritten.items():
                    centres[row] = centre
                centres[self._targets.rows] = self._targets.before()
                if self._domain is not None:
                    centres = self._domain.into_world(centres)
                centres[self._attached.taking_part] = self._attached.starts
                centres[self._relocated] = now[self._relocated]
            self._centres = centres
        return self._centres
