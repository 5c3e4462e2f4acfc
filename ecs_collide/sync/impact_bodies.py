"""The components of the two bodies of an impact that the game resolves during a step."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import LARGEST, Has
from ecs_collide.components.attributes import read_number
from ecs_collide.components.basics import Disabled
from ecs_collide.motion.bodies import Bodies
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.entity_rows import EntityRows
from ecs_collide.sync.reader import ComponentReader
from ecs_collide.world_probe import WorldProbe


@cython.final
class ImpactBodies:
    """Writes a body's components before a custom response runs, and reads them after it.

    Rows of still bodies whose place or velocity the response has changed are added to
    `BodyLists.stale`.
    """

    index: EntityRows
    reader: ComponentReader
    bodies: Bodies
    lists: BodyLists
    position: ComponentBinding
    velocity: ComponentBinding
    targets: Any  # a `KinematicTargets`
    loop: Any  # the `ImpactLoop`

    def __init__(
        self,
        index: EntityRows,
        reader: ComponentReader,
        lists: BodyLists,
        targets: Any,
        timeline: Any,
    ):
        self.index = index
        self.reader = reader
        self.bodies = timeline.bodies
        self.lists = lists
        self.position = reader.kinds[0]
        self.velocity = reader.kinds[2]
        self.targets = targets
        self.loop = timeline.loop

    def use(self, timeline: Any):
        """Use another timeline."""
        self.loop = timeline.loop

    @cython.ccall
    def are_same(self, world: Any) -> cython.bint:
        """Return whether nothing came or went in the world since the step began."""
        probe: WorldProbe = world.probe
        return probe.is_as(self.index.seen)

    def is_body(self, entity: int, world: Any) -> bool:
        """Return whether a known entity is still that body, and not disabled."""
        now = world.components(entity, self.index.types)
        return Disabled not in now and self.index.is_same(self.index.row_of[entity], now)

    def write(self, rows: tuple):
        """Write the positions and velocities of two bodies at the time reached into components."""
        i: cython.Py_ssize_t

        for i in rows:
            place: tuple = self.loop.place_now(i)
            velocity: tuple = self.loop.velocity_now(i)
            if i not in self.lists.overwritten:
                self.lists.overwritten[i] = self.bodies.seen_centre_of(i)
            if self.bodies.is_apart:
                place = self._lean(i, place)
            self.position.show(i, place)
            self.velocity.show(i, self._kept(i, velocity))

    @cython.cfunc
    def _lean(self, i: cython.Py_ssize_t, centre: tuple) -> tuple:
        """Store where a body is now; return its place as its component has it."""
        b: Bodies = self.bodies
        place: list = []

        self.reader.keep_boxes(i)
        for k in range(b.dim):
            x: cython.double = centre[k]
            if x == b.seen_centre[i, k]:
                place.append(self.position.seen[i, k])
            else:
                b.seen_centre[i, k] = x
                place.append(x + self.reader.lean[k] * self._half_now(i, k))
        return tuple(place)

    @cython.cfunc
    def _half_now(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        half: cython.double = self.loop.half_now(i, k)
        return half

    @cython.cfunc
    def _kept(self, i: cython.Py_ssize_t, velocity: tuple) -> tuple:
        """Return a velocity; of a body that is driven, with what the game has set and still holds."""
        kept: list = []

        if not self.reader.sweeps:
            return velocity
        for k in range(self.bodies.dim):
            is_kept: cython.bint = velocity[k] == self.targets.speed_of(i, k)
            kept.append(self.velocity.seen[i, k] if is_kept else velocity[k])
        return tuple(kept)

    def are_unchanged(self, rows: tuple) -> bool:
        """Return whether the components of two bodies, if they are read, hold what was seen last.

        False if a number cannot be read.  Asked once: if not, `read` both.  What was found to
        differ holds as seen from then on.
        """
        i: cython.Py_ssize_t

        try:
            for i in rows:
                if not self.bodies.has[i] & Has.FIXED and (
                    self.position.differs(i) or self.velocity.differs(i)
                ):
                    return False
        except (TypeError, ValueError, OverflowError, AttributeError):
            return False
        return True

    def read(self, i: cython.Py_ssize_t, world: Any) -> bool:
        """Read the components of a body after a response; return whether it is an enabled body.

        A component that has replaced a position or a velocity is used from now on.  A velocity
        that was removed counts as 0.
        """
        b: Bodies = self.bodies
        now = world.components(b.ids[i], self.index.types)
        k: cython.int

        if not self.index.is_same(i, now):
            return False
        if b.has[i] & Has.FIXED:
            return Disabled not in now
        is_led: cython.bint = b.attached[i] != 0  # an attached box goes where its owner goes
        places: list = self._accept_changes(self.position, i, now)
        if places and not is_led:
            self.lists.relocated.append(i)
        for k, place in places:
            centre: cython.double = place - self.reader.lean[k] * self._half_now(i, k)
            b.seen_centre[i, k] = centre
            if not is_led:
                self.loop.relocate(i, k, centre)
            self.targets.release(i)
        speeds: list = self._accept_changes(self.velocity, i, now)
        for k, speed in speeds:
            if not is_led:
                self.loop.set_velocity(i, k, speed)
        if (places or speeds) and not b.moves[i]:
            self.lists.stale.append(np.array([i], np.int64))
        return Disabled not in now

    @cython.cfunc
    def _accept_changes(
        self, kind: ComponentBinding, i: cython.Py_ssize_t, now: Mapping[type, Any]
    ) -> list:
        """Record the numbers of a component that a response has set; return (axis, number) of each."""
        news: list = []

        if not kind.is_cached(i):
            return news
        component: Any = now.get(kind.type)
        if component is not None and component is not kind.items[i]:
            kind.cache(i, component)
        for k in range(self.bodies.dim):
            value: cython.double = 0.0
            if component is not None:
                value = read_number(component, kind.names[k])
            if value != kind.seen[i, k] and abs(value) <= LARGEST:
                kind.note(i, k, value)
                news.append((k, value))
        return news
