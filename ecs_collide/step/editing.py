"""Write numbers into the components of bodies, as the game would."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _checks
from ecs_collide._attributes import write_number
from ecs_collide.dynamics import Attached
from ecs_collide.events import VectorLike
from ecs_collide.step.lookup import BodyLookup
from ecs_collide.sync.registry import BodyRegistry


class BodyEditor:
    """Sets positions, sizes and more of many bodies at once; `Space` documents each method.

    All vectors are checked before the first one is written.
    """

    def __init__(self, registry: BodyRegistry, lookup: BodyLookup) -> None:
        self._registry = registry
        self._lookup = lookup

    def set_positions(self, entities: ArrayLike | None, positions: ArrayLike) -> None:
        """Write centres."""
        position, extents = self._registry.makers
        ids, values = self._vectors("positions", entities, positions)
        places, sizes = (self._lookup.components(ids, kind.type) for kind in (position, extents))
        for entity, place, size, value in zip(ids, places, sizes, values.tolist(), strict=True):
            self._registry.set_centre(place, size, value)
            self._read_again(entity)

    def set_velocities(self, entities: ArrayLike | None, velocities: ArrayLike) -> None:
        """Write velocities."""
        kind = self._registry.components.velocity.kind
        ids, values = self._vectors("velocities", entities, velocities)
        components = self._lookup.components(ids, kind)
        for entity, component in zip(ids, components, strict=True):
            if component is None:
                raise ValueError(f"entity {entity} has no {kind.__name__} to set")
        self._registry.set_velocities(components, values)

    def set_extents(self, entities: ArrayLike | None, extents: ArrayLike) -> None:
        """Write half sizes."""
        kind = self._registry.makers[1]
        ids, values = self._vectors("extents", entities, extents)
        _checks.refuse_negative("extents", values)
        for entity, value in zip(ids, values.tolist(), strict=True):
            self._registry.set_half(self._component(entity, kind.type), value)
            self._read_again(entity)

    def set_growths(self, entities: ArrayLike | None, growths: ArrayLike) -> None:
        """Write rates of half sizes."""
        kind, names = self._registry.components.vector("growth", self._lookup.dim)
        ids, values = self._vectors("growths", entities, growths)
        for component, value in zip(self._components_of(kind, ids), values.tolist(), strict=True):
            for part, number in zip(names, value, strict=True):
                write_number(component, part, number)

    def set_masses(self, entities: ArrayLike | None, masses: ArrayLike) -> None:
        """Write masses."""
        values = np.asarray(masses, np.float64)
        rows, _ = self._lookup.rows(entities)
        if values.shape != (len(rows),):
            raise ValueError(
                f"masses has shape {values.shape} and must be {(len(rows),)}: one for each entity"
            )
        if not (values > 0.0).all():
            row = int(np.flatnonzero(~(values > 0.0))[0])
            raise ValueError(f"masses[{row}]={values[row]!r} must be above 0, or inf")
        kind, (name,) = self._registry.components.mass
        ids = self._registry.entities if entities is None else np.asarray(entities)
        for component, value in zip(
            self._components_of(kind, ids.tolist()), values.tolist(), strict=True
        ):
            write_number(component, name, value)

    def teleport(self, entity: int, position: VectorLike) -> None:
        """Put a body somewhere else, with no sweep between; of an attached box, set the offset."""
        attached = self._component(entity, Attached)
        if attached is not None:
            self._set_offset(entity, attached, position)
            return
        self.set_positions([entity], np.asarray(position)[None])
        row = self._lookup.row(entity)
        if self._registry.sweeps and row >= 0:  # what is new is not swept in its first step anyway
            self._registry.kinematic_targets.put.add(row)

    def _set_offset(self, entity: int, attached: Attached, position: VectorLike) -> None:
        """Let an attached box be at a position, and nothing be swept on the way there."""
        row, dim = self._lookup.row(entity), self._lookup.dim
        vector = _checks.vectors("position", position)
        if vector.shape != (dim,):
            raise ValueError(f"position={position!r} must be {dim} numbers")
        owner = self._lookup.new_body(attached.owner).centre
        offset = (vector - owner).tolist()
        attached.offset = offset
        if row >= 0 and self._registry.table.attached[row]:
            self._registry.table.seen_offset[row] = offset

    def move_to(self, entity: int, centre: VectorLike) -> None:
        """Put a body where a move has led it: its contacts last as long as it touches."""
        self.set_positions([entity], np.asarray(centre)[None])
        row = self._lookup.row(entity)
        if row >= 0:
            self._registry.note_move(row, self._component(entity, self._registry.makers[0].type))

    def _components_of(self, kind: type, entities: list[int]) -> list[Any]:
        """Return the component of some type of each entity, or raise."""
        components = self._lookup.components(entities, kind)
        for entity, component in zip(entities, components, strict=True):
            if component is None:
                raise ValueError(f"entity {entity} has no {kind.__name__} to set")
            self._read_again(entity)
        return components

    def _read_again(self, entity: int) -> None:
        """Have the next step read the components of a body, if it is `Fixed` too."""
        row = self._registry.row_of.get(entity)
        if row is not None:
            self._registry.read_again(row)

    def _component(self, entity: int, kind: type) -> Any | None:
        return self._lookup.component(entity, kind)

    def _vectors(
        self, name: str, entities: ArrayLike | None, values: ArrayLike
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Return the entities and their vectors, (n, dim)."""
        rows, _ = self._lookup.rows(entities)
        dim = self._lookup.dim
        ids = self._registry.entities if entities is None else np.asarray(entities)
        array = _checks.vectors(name, values) if np.size(values) else np.zeros((0, dim))
        if array.shape != (len(rows), dim):
            raise ValueError(
                f"{name} has shape {array.shape} and must be {(len(rows), dim)}: "
                "a row for each entity"
            )
        return ids.tolist(), array
