"""Which bodies of the last step still exist, and the boxes of new bodies that no step has read yet.

Rows are as of the end of the last step.  A game creates and deletes entities in between:
queries skip deleted ones and read new ones from their components.  The log of the world names the
entities to ask about; all others are as the step left them.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import LARGEST, SAME_FRAME, TRAITS_SHIFT, Has, Mark, News, Trait
from ecs_collide.components.attributes import read_number
from ecs_collide.components.base import shown
from ecs_collide.components.basics import Disabled
from ecs_collide.components.dynamics import Attached
from ecs_collide.esper_world import World
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.sync.attached import wrong_owner
from ecs_collide.sync.quarantine import find_no_number, refusal
from ecs_collide.sync.registry import BodyRegistry
from ecs_collide.sync.seen import NO_ROWS


class NewBody(NamedTuple):
    """A body that no step has read yet, with the values of its components."""

    centre: list[float]  # in world units; inside the world if it wraps
    half: list[float]
    velocity: list[float]
    moves: bool  # as in `BodyKind`
    dynamic: bool
    is_sensor: bool
    is_one_way: bool
    is_disabled: bool

    @property
    def corners(self) -> tuple[list[float], list[float]]:
        """The min and the max corner."""
        pairs = list(zip(self.centre, self.half, strict=True))
        return [at - half for at, half in pairs], [at + half for at, half in pairs]


class _Changes(NamedTuple):
    """The bodies that were removed between two moments of a world."""

    since: Any  # `Seen` at the last step
    seen: Any  # and at the last question
    gone: frozenset[int]
    gone_rows: tuple[int, ...]
    replaced_rows: NDArray[np.int64]


class Presence:
    """Compares the bodies of the last step with the world as it is now."""

    def __init__(self, registry: BodyRegistry, domain: PeriodicDomain) -> None:
        self._registry = registry
        self._index = registry.index
        self._domain = domain
        self._changes: _Changes | None = None

    # -- bodies that are gone --

    def is_there(self, world: World) -> Callable[[int], bool]:
        """Return a function that returns whether an entity is still the same body."""
        find, row_of = self.finder(world), self._registry.row_of
        position, extents = self._registry.makers
        position_type, extents_type = position.type, extents.type

        def is_there(entity: int) -> bool:
            now, row = find(entity), row_of.get(entity)
            if now is None or row is None:
                return False
            place, size = now.get(position_type), now.get(extents_type)
            return (
                place is None
                or size is None
                or place is position.items[row]
                or size is extents.items[row]
            )

        return is_there

    def still_there(self, world: World) -> Callable[[int], bool] | None:
        """Return a function like `is_there`, or None if all bodies are there."""
        if self._index.is_current(world):
            return None
        gone = self._compared(world).gone
        return (lambda entity: entity not in gone) if gone else None

    def gone_rows(self, world: World) -> tuple[int, ...]:
        """Return the rows of the bodies that are no longer there."""
        return () if self._index.is_current(world) else self._compared(world).gone_rows

    def replaced_rows(self, world: World) -> NDArray[np.int64]:
        """Return the rows of the bodies whose ids other bodies have now."""
        return NO_ROWS if self._index.is_current(world) else self._compared(world).replaced_rows

    def _compared(self, world: World) -> _Changes:
        """Compare the entities that were noted since the last step, once for each change."""
        known, index = self._changes, self._index
        if known is None or known.since is not index.seen or not world.probe.is_as(known.seen):
            seen = world.probe.look(self._registry.types)
            is_there, find, row_of = self.is_there(world), self.finder(world), index.row_of
            noted = [entity for entity in index.find_noted(world, seen) if entity in row_of]
            gone = [entity for entity in noted if not is_there(entity)]
            replaced = [row_of[entity] for entity in gone if self.is_body(find(entity))]
            known = self._changes = _Changes(
                index.seen,
                seen,
                frozenset(gone),
                tuple([row_of[entity] for entity in gone]),
                np.array(replaced, np.int64),
            )
        return known

    def finder(self, world: World) -> Callable[[int], Mapping[type, Any] | None]:
        """Return a function that returns the components of an entity now, None if it is gone."""
        return world.finder(self._registry.types)

    # -- bodies that are new --

    def row(self, world: World, entity: int) -> int:
        """Return the row of a body, -1 if no step has read it yet; KeyError if it is not a body.

        A body that was deleted keeps its row until the next step.
        """
        registry = self._registry
        row: int | None = registry.row_of.get(entity)
        if (
            row is not None
            and not registry.table.views.news[row] & News.NEW
            and (self._index.is_current(world) or not self._is_another(world, entity))
        ):
            return row
        now = self.finder(world)(entity)
        if not self.is_body(now):
            raise self.no_body(entity, now)
        return -1

    def is_body(self, now: Mapping[type, Any] | None) -> bool:
        """Return whether these components make a body."""
        return now is not None and all(kind.type in now for kind in self._registry.makers)

    def _is_another(self, world: World, entity: int) -> bool:
        """Return whether the id of a body belongs to another one now."""
        return self.is_body(self.finder(world)(entity)) and not self.is_there(world)(entity)

    def component(self, world: World, entity: int, kind: Any) -> Any | None:
        """Return the component of a kind that a body has now; for a deleted body, its last one."""
        row = self._registry.row_of.get(entity)
        now = None if self._index.is_current(world) else self.finder(world)(entity)
        if now is not None:
            return now.get(kind)
        return None if row is None else self._index.holder(kind, row)

    def components(self, world: World, entities: Sequence[int], kind: Any) -> list[Any | None]:
        """Return the components of a kind of many bodies, as `component` does for one."""
        row_of = self._registry.row_of
        if self._index.is_current(world):  # tested once for all bodies
            items = self._index.holders(kind)
            if items:
                with suppress(KeyError):  # an entity without a row
                    return list(map(items.__getitem__, map(row_of.__getitem__, entities)))
            rows = [row_of.get(entity) for entity in entities]
            return [None if row is None or not items else items[row] for row in rows]
        find = self.finder(world)
        return [
            self.component(world, entity, kind) if now is None else now.get(kind)
            for entity, now in zip(entities, map(find, entities), strict=True)
        ]

    def no_body(self, entity: object, now: Mapping[type, Any] | None) -> KeyError:
        """Return the error to raise for an entity that is not a body."""
        names = [kind.type.__name__ for kind in self._registry.makers]
        missing = [
            kind.type.__name__ for kind in self._registry.makers if now and kind.type not in now
        ]
        why = f"it has no {' and no '.join(missing)}" if missing else "it does not exist"
        return KeyError(
            f"entity {shown(entity)} is no body of this space, {why}: a body has {' and '.join(names)}"
        )

    def skipped(self, world: World, entity: int) -> KeyError:
        """Return the error to raise for an entity that no query finds, with the reason."""
        now = self.finder(world)(entity)
        if now is None or not self.is_body(now):
            return self.no_body(entity, now)
        if Disabled in now:
            return KeyError(f"entity {entity} is Disabled, so no query finds it")
        wrong = refusal(self._registry.checks.box_rules, entity, now.get)
        if wrong is not None:
            return KeyError(f"{wrong}; no query finds the body until that is put right")
        owner = now[Attached].owner
        return self.no_owner(world, entity, owner) or KeyError(
            f"entity {entity} is Attached to entity {owner}, which is Disabled, "
            "so no query finds either"
        )

    def no_owner(self, world: World, entity: int, owner: int) -> KeyError | None:
        """Return the error to raise for a box whose owner has no valid box, None if it has one."""
        now = self.finder(world)(owner)
        if now is None or not self.is_body(now):
            cause = self.no_body(owner, now).args[0]
        elif Attached in now:
            wrong = wrong_owner(owner, is_itself=owner == entity, last=now[Attached].owner)
            cause = f"{wrong.field} is {wrong.value}, it {wrong.text}"
        else:
            cause = refusal(self._registry.checks.box_rules, owner, now.get)
        if cause is None:
            return None
        return KeyError(f"entity {entity} is Attached to entity {owner} and has no place: {cause}")

    def read_moved(self, world: World, entity: int, row: int) -> NewBody | None:
        """Return a body whose box is not as the last step left it; None for another one.

        A `Fixed` body counts only if the next step reads it.
        """
        registry, find = self._registry, self.finder(world)
        position, extents = registry.makers
        now = None if self._index.is_current(world) else find(entity)
        if registry.table.views.attached[row]:
            return self._read_moved_box(world, entity, row)
        if now is None or (
            now.get(position.type) is position.items[row]
            and now.get(extents.type) is extents.items[row]
        ):
            if not (position.is_other(row) or extents.is_other(row)):
                return None
            if registry.table.views.has[row] & Has.FIXED and row not in registry.to_be_read:
                return None
            now = find(entity)
        return self.read(world, entity) if self.is_body(now) else None

    def _read_moved_box(self, world: World, entity: int, row: int) -> NewBody | None:
        """Return an attached box that is not where the last step left it; None for another one."""
        table, box = self._registry.table, self.component(world, entity, Attached)
        if box is None or self.no_owner(world, entity, box.owner) is not None:
            return None
        owner_row = self._registry.row_of.get(box.owner)
        owner = None if owner_row is None else self.read_moved(world, box.owner, owner_row)
        if owner is None and (owner_row is None or table.news[owner_row] & News.NEW):
            owner = self.read(world, box.owner)
        at = table.seen_centre[owner_row] if owner is None else np.array(owner.centre)
        offset = np.array([box.x, box.y, box.z][: table.dim], np.float64)
        centre = self._domain.into_world(at + offset)
        before = table.seen_centre[row]
        rounding = SAME_FRAME * max(np.abs(at).max(), np.abs(offset).max())
        if (np.abs(centre - before) <= rounding).all() and not self._registry.makers[1].is_other(
            row
        ):
            return None
        return self.read(world, entity)._replace(centre=centre.tolist())

    def read(self, world: World, entity: int) -> NewBody:
        """Return the box of a new body, read from its components.

        Raise TypeError or AttributeError if an attribute is not a number or is missing.
        """
        registry, now = self._registry, self.finder(world)(entity) or {}
        position, extents, velocity, *_ = registry.kinds
        mass = registry.kinds[4]

        def numbers(kind: Any, otherwise: float) -> list[float]:
            component = now.get(kind.type)
            if component is None:
                return [otherwise] * len(kind.names)
            return [float(read_number(component, name)) for name in kind.names]

        error = find_no_number(registry.checks.rules, entity, now.get)
        if error is not None:
            raise error
        centre, half = registry.units.box_of(numbers(position, 0.0), numbers(extents, 0.0))
        centre = self._domain.into_world(np.array(centre)).tolist()
        has, responds = 0, False
        for kind in registry.kinds:
            if now.get(kind.type) is not None:
                has |= kind.mark
                responds |= bool(kind.response or kind.mark & Has.CUSTOM)
        return NewBody(
            centre,
            half,
            numbers(velocity, 0.0),
            moves=bool(has & (Has.VELOCITY | Has.GROWTH)) or (registry.sweeps and responds),
            dynamic=responds
            and (registry.sweeps or bool(has & Has.VELOCITY))
            and numbers(mass, 1.0)[0] <= LARGEST,
            is_sensor=bool(has & Has.SENSOR),
            is_one_way=bool(has >> TRAITS_SHIFT & Trait.ONE_WAY),
            is_disabled=bool(has & Mark.DISABLED),
        )
