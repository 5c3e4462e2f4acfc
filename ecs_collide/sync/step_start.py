"""The positions of bodies at the start of the last step, for drawing between two steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.body_table import BodyTable
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.targets import KinematicTargets

Doubles = NDArray[np.float64]


class StepStart:
    """Remembers the centres that a step overwrites."""

    def __init__(
        self,
        table: BodyTable,
        lists: Any,
        reader: Any,
        targets: KinematicTargets,
        attached: Any,
        domain: PeriodicDomain,
    ) -> None:
        self._table = table
        self._lists = lists
        self._reader = reader
        self._targets = targets
        self._attached = attached
        self._domain = domain

    def centres(self) -> Doubles:
        """Return the centres of bodies at the start of the last step, float64 (capacity, dim) by row.

        They include teleports before the step.  Bodies that the step did not move or a response put
        elsewhere, and all bodies after `restore` or an interrupted step, have their present centres.
        """
        lists, now = self._lists, self._table.seen_centre
        if lists.all_centres is None:
            centres = now.copy()
            if lists.has_start:
                written = np.asarray(lists.written)
                centres[written] = np.asarray(self._reader.centres)[: len(written)]
                for row, centre in lists.overwritten.items():
                    centres[row] = centre
                centres[self._targets.rows] = self._targets.before()
                centres = self._domain.into_world(centres)
                centres[self._attached.taking_part] = self._attached.starting
            lists.all_centres = centres
        found: Doubles = lists.all_centres
        if lists.relocated:
            found[lists.relocated] = now[lists.relocated]
        return found
