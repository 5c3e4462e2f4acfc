"""Move the whole world by an offset, for games whose worlds are larger than the precision of floats.

To every part of a space the same bodies are in the same relation as before, so nothing wakes,
begins or ends.  Only rounding could tell: where floats are finer, faces that were flush are apart
by what was rounded away before.  So the bodies that touched are seated again, beginning at static
and kinematic ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import are_among
from ecs_collide._kernel.constants import LARGEST, SLOP, News
from ecs_collide.components.attributes import read_number, write_number
from ecs_collide.events import Vector, VectorLike
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.step.events_of_step import StepEvents
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.state import StepState
from ecs_collide.sync.registry import BodyRegistry

Rows = NDArray[np.int64]

_FLUSH = 2.0**-50  # times the largest coordinate: what a gap of seated bodies may have by rounding
_SOLID = 0, 3  # the codes `SOLID` and `LEAVING` of contacts

SHIFTED: dict[type, Callable[[Any, Vector], None]] = {}
"""By component of an extra that has places of the world: the function that moves them."""


class Shifting:
    """Moves all bodies of a space, and every place that the space or its extras know."""

    def __init__(
        self,
        state: StepState,
        link: WorldLink,
        registry: BodyRegistry,
        domain: PeriodicDomain,
    ) -> None:
        self._state = state
        self._link = link
        self._registry = registry
        self._wraps = domain.widths.tolist()

    def shift(self, offset: VectorLike) -> None:
        """Add an offset to all places; see `Space.shift`."""
        by = self._checked(offset)
        world, lists = self._link.world, self._registry.lists
        world.require_current()
        if self._state.is_stepping:
            raise RuntimeError("shift() was called within a step: call it between steps")
        starts = self._registry.start.centres()
        touching = self._touching()
        self._move_positions(by)
        for kind, move in SHIFTED.items():
            for component in _each(world.entities((kind,)), kind):
                move(component, by)
        self._move_events(by)
        rows = self._move_columns(by)
        self._seat(touching)
        self._registry.place_shifted(rows)
        lists.all_centres = starts + by

    def _checked(self, offset: VectorLike) -> Vector:
        """Return an offset as floats; raise ValueError if it is none, or on an axis that wraps."""
        try:
            by = tuple(float(part) + 0.0 for part in offset)
        except (TypeError, ValueError):
            by = ()
        if len(by) != self._state.dim or not all(abs(part) <= LARGEST for part in by):
            raise ValueError(
                f"shift({offset!r}) must be {self._state.dim} numbers of at most 2**500"
            )
        if any(part and width for part, width in zip(by, self._wraps, strict=True)):
            raise ValueError(
                f"shift({offset!r}) must be 0 along an axis on which the world wraps: no place "
                "there is far from the origin"
            )
        return by

    # -- components --

    def _move_positions(self, by: Vector) -> None:
        """Add an offset to the position of every entity; to none if a component refuses."""
        role = self._registry.components.vector("position", self._state.dim)
        changes = [(name, part) for name, part in zip(role.names, by, strict=True) if part]
        components = [*_each(self._link.world.entities((role.kind,)), role.kind)]
        done: list[tuple[Any, list[tuple[str, Any]]]] = []
        try:
            for component in components:
                before: list[tuple[str, Any]] = []
                done.append((component, before))
                _add(component, changes, before)
        except BaseException:
            for component, before in reversed(done):
                for name, value in before:
                    write_number(component, name, value)
            raise

    def _move_events(self, by: Vector) -> None:
        """Add an offset to the places of the collisions of the last step."""
        state = self._state
        events = state.events
        collisions = events.collision_array.copy()
        for name in ("position_first", "position_second", "contact_min", "contact_max"):
            collisions[name] += by
        state.known_events = StepEvents.of_arrays(collisions, events.contact_array)

    # -- the table --

    def _move_columns(self, by: Vector) -> Rows:
        """Add an offset to all columns of the bodies that a step has read; return their rows."""
        registry, c, dim = self._registry, self._registry.table, self._state.dim
        everyone = registry.rows
        rows: Rows = everyone[c.news[everyone] & News.NEW == 0]
        with np.errstate(all="ignore"):  # quarantined bodies may have any numbers
            c.centre[rows] += by
            c.seen_centre[rows] += by
            if c.is_apart:
                c.place[rows] += by
                c.seen_place[rows] += by
            c.path.reshape(-1, dim, 4)[rows, :, 0] += by
        for place in registry.lists.moves.values():
            place[:] = [at + part for at, part in zip(place, by, strict=True)]
        return rows

    # -- bodies that touch --

    def _touching(self) -> Any:
        """Return the solid contacts without a gap: rows of the two bodies, axis and sign."""
        timeline = self._state.timeline
        codes, _, images = map(np.asarray, timeline.contacts.rows.arrays())
        sides = codes[:, [0, 1, 3, 4]]  # without the kind
        counts = are_among(codes[:, 2], _SOLID)
        counts &= np.array(self._wraps)[sides[:, 2]] == 0.0
        counts &= (images == 0) | (np.abs(sides[:, 3]) == 1)
        sides = np.concatenate([sides[counts], _swapped(sides[counts])])
        return sides[timeline.settling.touch(sides.data, SLOP)]

    def _seat(self, touching: Rows) -> None:
        """Put the bodies of contacts that have a gap now flush again."""
        timeline, c, registry = self._state.timeline, self._registry.table, self._registry
        if not len(touching) or timeline.settling.touch(touching.data, _FLUSH).all():
            return
        ordered = np.array(self._in_order(touching.tolist()), np.int64).reshape(-1, 4)
        for row in timeline.settling.seat(ordered.data, _FLUSH):
            entity, before = int(c.ids[row]), c.seen_place[row].tolist()
            centre, half = c.centre[row].tolist(), c.half[row].tolist()
            c.seen_centre[row] = centre
            place = [
                at + lean * h
                for at, lean, h in zip(centre, registry.units.leans, half, strict=True)
            ]
            c.place[row] = c.seen_place[row] = place
            component = self._link.world.component(entity, registry.makers[0].type)
            for name, was, now in zip(registry.makers[0].names, before, place, strict=True):
                if component is not None and read_number(component, name) == was:
                    write_number(component, name, now)

    def _in_order(self, touching: list[list[int]]) -> list[list[int]]:
        """Return contacts with the body that gives way first, from what stands firm outwards.

        Of two that are equally far from what stands firm, the farther one from the origin gives
        way, so that a mirrored world is shifted to the mirror image.
        """
        c = self._registry.table
        levels: dict[tuple[int, int], float] = {}
        beside: dict[tuple[int, int], list[int]] = {}
        for row, other, axis, _ in touching:
            for body in (row, other):
                is_firm = not c.dynamic[body] or self._is_locked(body, axis)
                levels[body, axis] = 0.0 if is_firm else math.inf
            beside.setdefault((other, axis), []).append(row)
        level, front = 0.0, [key for key, found in levels.items() if found == 0.0]
        while front:
            level += 1.0
            reached = [
                (row, axis)
                for body, axis in front
                for row in beside.get((body, axis), ())
                if levels[row, axis] > level
            ]
            levels.update(dict.fromkeys(reached, level))
            front = [*dict.fromkeys(reached)]

        def rank(contact: list[int]) -> tuple[Any, ...]:
            row, other, axis, _ = contact
            return levels[row, axis], abs(c.centre[row, axis]), row, other

        mine = [
            contact
            for contact in touching
            if levels[contact[0], contact[2]] > 0.0
            and rank(contact)[:2] >= rank([contact[1], contact[0], *contact[2:]])[:2]
        ]
        return sorted(mine, key=rank)

    def _is_locked(self, row: int, axis: int) -> bool:
        controls = self._registry.table.bodies.controls
        return bool(controls.any_lock and self._registry.table.lock[row] >> axis & 1)


def _each(entities: Any, kind: type) -> Iterator[Any]:
    """Yield each component of a type once, also if several entities share it."""
    known: set[int] = set()
    for its in entities.values():
        component = its.get(kind)
        if component is not None and id(component) not in known:
            known.add(id(component))
            yield component


def _add(
    component: Any, changes: Sequence[tuple[str, float]], before: list[tuple[str, Any]]
) -> None:
    """Add to the numbers of a component; `before` gets the old ones.  What is no number stays."""
    for name, part in changes:
        value: Any = read_number(component, name, None)
        try:
            new = float(value) + part
        except (TypeError, ValueError, OverflowError):  # the step reports it
            continue
        before.append((name, value))
        write_number(component, name, new)


def _swapped(sides: Rows) -> Rows:
    """Return contacts seen from the other body."""
    return np.column_stack([sides[:, 1], sides[:, 0], sides[:, 2], -sides[:, 3]])
