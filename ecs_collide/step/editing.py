"""Write numbers into the components of bodies, as the game would.

A game that sets `Extents` and `Position` itself teleports the body, and its contacts end.
`BodyEditor.resize` changes the result of the last step, so contacts that still touch continue.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _checks
from ecs_collide._kernel.constants import LARGEST
from ecs_collide.components.attributes import read_number
from ecs_collide.components.dynamics import Attached
from ecs_collide.events import Vector, VectorLike
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.step.lookup import BodyLookup
from ecs_collide.step.state import StepState
from ecs_collide.sync.registry import BodyRegistry

_SIDES = {"feet": -1, "head": 1, "centre": 0}


class BodyEditor:
    """Writes positions, sizes and more of many bodies at once; `Space` documents each method.

    All vectors are checked before the first one is written.
    """

    def __init__(
        self,
        state: StepState,
        registry: BodyRegistry,
        lookup: BodyLookup,
        domain: PeriodicDomain,
    ) -> None:
        self._state = state
        self._registry = registry
        self._lookup = lookup
        self._domain = domain

    def set_positions(self, entities: ArrayLike | None, positions: ArrayLike) -> None:
        """Write centres."""
        if self._set_by_row("positions", entities, positions):
            return
        ids, values = self._vectors("positions", entities, positions)
        places, sizes = self._lookup.makers(ids)
        self._read_again(ids)
        for place, size, value in zip(places, sizes, values.tolist(), strict=True):
            self._registry.units.set_centre(place, size, value)

    def set_velocities(self, entities: ArrayLike | None, velocities: ArrayLike) -> None:
        """Write velocities."""
        if self._set_by_row("velocities", entities, velocities):
            return
        ids, values = self._vectors("velocities", entities, velocities)
        components = self._components(ids, self._registry.components.velocity.kind)
        self._registry.units.set_velocities(components, values)

    def _set_by_row(self, name: str, entities: ArrayLike | None, values: ArrayLike) -> bool:
        """Write positions or velocities of bodies that the last step has read.

        Return False, with nothing written, if there are others among them, or if the game has
        added or removed anything since.
        """
        registry, are_centres = self._registry, name == "positions"
        rows, new = self._lookup.rows(entities)
        if new or not len(rows) or not registry.index.is_current(self._lookup.world):
            return False
        array = self._checked_vectors(name, len(rows), values)
        components = registry.components
        kind = components.position.kind if are_centres else components.velocity.kind
        if not registry.units.set_by_row(registry.index.holders(kind), rows, array, are_centres):
            return False
        if are_centres:
            registry.read_rows_again(rows)
        return True

    def set_extents(self, entities: ArrayLike | None, extents: ArrayLike) -> None:
        """Write half sizes."""
        ids, values = self._vectors("extents", entities, extents)
        _checks.refuse_negative("extents", values)
        _, sizes = self._lookup.makers(ids)
        for entity, value in zip(ids, values.tolist(), strict=True):
            self._registry.units.refuse_unequal(entity, value)
        self._read_again(ids)
        for size, value in zip(sizes, values.tolist(), strict=True):
            self._registry.units.set_half(size, value)

    def teleport(self, entity: int, position: VectorLike) -> None:
        """Put a body elsewhere without a sweep; of an attached box, set the offset."""
        attached = self._lookup.component(entity, Attached)
        if attached is not None:
            self._set_offset(entity, attached, position)
            return
        self.set_positions([entity], np.asarray(position)[None])
        row = self._lookup.row(entity)
        if row >= 0:  # a new body is not swept in its first step anyway
            self._registry.put([row])

    def _set_offset(self, entity: int, attached: Attached, position: VectorLike) -> None:
        """Set the offset that puts an attached box at a position, without a sweep."""
        row, dim = self._lookup.row(entity), self._lookup.dim
        vector = _checks.vectors("position", position)
        if vector.shape != (dim,):
            raise ValueError(f"position={position!r} must be {dim} numbers")
        owner = self._lookup.owner(entity, attached.owner).centre
        offset = (vector - owner).tolist()
        attached.offset = offset
        if row >= 0 and self._registry.table.attached[row]:
            self._registry.table.seen_offset[row] = offset

    def move_to(self, entity: int, centre: Vector, place: Any, size: Any) -> None:
        """Write the position after a move, and keep the contacts of boxes that still touch.

        `place` and `size` are its components.
        """
        attached = self._lookup.component(entity, Attached)
        if attached is not None:
            self._set_offset(entity, attached, centre)
            return
        row, registry = self._lookup.row(entity), self._registry
        was_put = row >= 0 and registry.is_put(row, place)
        self._read_again([entity])
        registry.units.set_centre(place, size, centre)
        if row >= 0:
            registry.note_move(row, place, was_put)

    def resize(self, entity: int, height: float, keep: str) -> None:
        """Give a body another height along the axis of up; see `Space.resize`."""
        if keep not in _SIDES:
            raise ValueError(f"keep={keep!r} must be 'feet', 'head' or 'centre'")
        if isinstance(height, bool) or not isinstance(height, (int, float, np.number)):
            raise ValueError(f"height={height!r} must be a number, 0 or more")
        if not 0.0 <= height <= LARGEST:
            raise ValueError(f"height={height!r} must be finite and 0 or more")
        if self._state.is_stepping:
            raise RuntimeError(
                "resize() was called within a step: call it between steps, "
                "or in a handler of their events"
            )
        registry = self._registry
        row = self._lookup.row(entity)
        (place,), (size,) = self._lookup.makers([entity])
        body = self._lookup.new_body(entity)
        axis = next(k for k, part in enumerate(registry.up) if part)
        side = int(registry.up[axis]) * _SIDES[keep]
        centre, half = list(body.centre), list(body.half)
        half[axis] = float(height) / 2.0
        registry.units.refuse_unequal(entity, half)
        face = body.centre[axis] + side * body.half[axis]
        has_face = math.isfinite(face)  # a quarantined body may have no finite face
        shift = [0.0] * len(centre)
        if side and has_face:
            centre[axis] = centre_beside(face, half[axis], side)
            shift[axis] = centre[axis] - body.centre[axis]
        in_place = row >= 0 and self._is_as_seen(row, body.centre, body.half)
        in_place &= self._domain.into_world(np.array(centre)).tolist() == centre
        registry.units.set_half(size, half)
        attached = self._lookup.component(entity, Attached)
        if attached is not None:
            old = attached.offset[: len(shift)]
            attached.offset = [at + by for at, by in zip(old, shift, strict=True)]
            return
        if has_face:
            registry.units.set_centre(place, size, centre)
        self._read_again([entity])
        if in_place:
            self._read_changes(row, place, size, shift)

    def _is_as_seen(self, row: int, centre: list[float], half: list[float]) -> bool:
        """Return whether a body takes part in steps, moves, and is unchanged since the last one."""
        c = self._registry.table
        return (
            not c.quarantined[row]
            and not c.attached[row]
            and bool(c.moves[row] or c.asleep[row])
            and c.seen_centre[row].tolist() == centre
            and c.seen_half[row].tolist() == half
        )

    def _read_changes(self, row: int, place: Any, size: Any, shift: list[float]) -> None:
        """Read the position and size of a body as if the last step had ended with them.

        Boxes that are attached to it stay where they are.
        """
        registry, c = self._registry, self._registry.table
        registry.disturb([row])
        table = c.seen_place, c.seen_size
        for item, kind, seen in zip((place, size), registry.makers, table, strict=True):
            seen[row] = [float(read_number(item, name)) for name in kind.names]
        if c.is_apart:
            c.seen_centre[row], c.seen_half[row] = registry.units.box_of(
                c.seen_place[row].tolist(), c.seen_size[row].tolist()
            )
        c.centre[row], c.half[row] = c.seen_centre[row], c.seen_half[row]
        c.rest_count[row], c.interrupted[row] = 0, 1
        rows = np.array([row], np.int64)
        self._state.timeline.place_resized(rows.data)
        boxes = np.asarray(registry.lists.attached)
        boxes = boxes[c.seen_owner[boxes].ravel() == c.ids[row]]
        c.seen_offset[boxes] -= shift
        registry.note_resized(rows, boxes)

    def _components(self, ids: list[int], kind: type) -> list[Any]:
        """Return the component of a type of each entity; ValueError if one has none."""
        components = self._lookup.components(ids, kind)
        for entity, component in zip(ids, components, strict=True):
            if component is None:
                raise ValueError(f"entity {entity} has no {kind.__name__} to set")
        return components

    def _read_again(self, ids: list[int]) -> None:
        """Make the next step read the components of bodies, even if they are `Fixed`."""
        for entity in ids:
            row = self._registry.row_of.get(entity)
            if row is not None:
                self._registry.read_again(row)

    def _ids(self, entities: ArrayLike | None) -> list[int]:
        """Return the entities as a list; KeyError if one is not a body."""
        self._lookup.rows(entities)  # raises for others
        ids = self._registry.entities if entities is None else np.asarray(entities)
        return list(ids.tolist())

    def _vectors(
        self, name: str, entities: ArrayLike | None, values: ArrayLike
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Return the entities and their vectors, (n, dim)."""
        ids = self._ids(entities)
        return ids, self._checked_vectors(name, len(ids), values)

    def _checked_vectors(self, name: str, n: int, values: ArrayLike) -> NDArray[np.float64]:
        """Return n vectors, (n, dim)."""
        dim = self._lookup.dim
        array = _checks.vectors(name, values) if np.size(values) else np.zeros((0, dim))
        if array.shape != (n, dim):
            raise ValueError(
                f"{name} has shape {array.shape} and must be {(n, dim)}: a row for each entity"
            )
        return array


def centre_beside(face: float, half: float, side: int) -> float:
    """Return the centre of a box from the coordinate of one of its faces.

    Parameters
    ----------
    face : float
        The coordinate of the face.
    half : float
        Half the size of the box.
    side : int
        1 for the upper face of the box on the axis, -1 for the lower one.

    Returns
    -------
    float
        The face computed from this centre is at `face`, or inside of it by the least possible.
    """
    centre = face - side * half
    outwards = side * math.inf
    while side * (centre + side * half - face) > 0.0:
        centre = math.nextafter(centre, -outwards)
    while side * (math.nextafter(centre, outwards) + side * half - face) <= 0.0:
        if centre + side * half == face:
            break
        centre = math.nextafter(centre, outwards)
    return centre + 0.0
