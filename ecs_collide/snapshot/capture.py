"""Which entities of a world have which components, and making it so again.

A snapshot holds whole components, of bodies and of all other entities that
have any.  Here they are found, read, and put right: in place where they are
still there, through the world where entities or components came and went.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide import _backend
from ecs_collide.component_map import ROLES, Components
from ecs_collide.components import (
    Deflect,
    Disabled,
    Extents,
    Fixed,
    Growth,
    Mass,
    Position,
    Push,
    Sensor,
    Slide,
    Stop,
    Velocity,
)
from ecs_collide.esper_world import World
from ecs_collide.snapshot.schema import Doubles, Longs, SnapshotData, holders
from ecs_collide.sync.quarantine import find_no_number, rules
from ecs_collide.traits import (
    Attached,
    Carry,
    Damping,
    Dominance,
    Filter,
    Friction,
    GravityScale,
    LockedAxes,
    MaxSpeed,
    OneWay,
    PushOut,
    Restitution,
    Separate,
)

_XYZ = ("x", "y", "z")
FIELDS: dict[type, tuple[str, ...]] = {
    Position: _XYZ,
    Extents: _XYZ,
    Velocity: _XYZ,
    Growth: _XYZ,
    Mass: ("value",),
    Deflect: ("restitution",),
    Push: (),
    Slide: (),
    Stop: (),
    Sensor: (),
    Filter: ("categories", "mask", "group"),
    Friction: ("value", "code"),
    OneWay: _XYZ,
    Carry: (*_XYZ, "normal_x", "normal_y", "normal_z"),
    PushOut: ("speed",),
    Fixed: (),
    Separate: ("speed",),
    GravityScale: ("value",),
    Damping: ("value",),
    Dominance: ("level",),
    Restitution: ("value", "code"),
    MaxSpeed: ("speed",),
    LockedAxes: _XYZ,
    Disabled: (),
    Attached: (*_XYZ, "owner"),
}
"""What a snapshot holds of the library's own components."""

_WHOLE = {  # whole numbers
    Filter: ("categories", "mask", "group"),
    Attached: ("owner",),
    Dominance: ("level",),
    LockedAxes: _XYZ,
}

KIND_NAMES = tuple(kind.__name__ for kind in FIELDS)
WIDTHS = {kind.__name__: len(names) for kind, names in FIELDS.items()}
_MAX_OWN = 64 - len(FIELDS)  # types of the game's own: a mask has 64 bits

Save = Callable[[Any], bytes]
Load = Callable[[bytes], Any]
Update = Callable[[Any, bytes], object]


@dataclass(slots=True)
class Own:
    """How a game saves components of its own of one type."""

    name: str
    kind: type
    save: Save
    load: Load
    update: Update | None


@dataclass(slots=True)
class WorldContents:
    """Which entities have which components; as long as the world's mark is the same.

    `ids`, `masks` and `others` as in `SnapshotData`, for all types there are.
    """

    mark: object
    dead: frozenset[int]
    ids: Longs
    masks: NDArray[np.uint64]
    others: Longs

    def holders(self, n: int) -> Longs:
        """Return the entities that have the n-th type of component."""
        return holders(self.ids, self.masks, n)


@dataclass(slots=True)
class Loaded:
    """What a state says of the game's own components, before any of it is done.

    Attributes
    ----------
    fresh : new components by entity and type
    updates : functions, the components that they are to change, and what to
    """

    fresh: dict[tuple[int, type], Any]
    updates: list[tuple[Update, Any, bytes]]


class SnapshotSchema:
    """The components of a world that a snapshot holds.

    Attributes
    ----------
    own : list of Own
    kinds : list of type
        The library's and then the game's own, in the order of the bits of a mask.
    """

    def __init__(self) -> None:
        self.own: list[Own] = []
        self._last: WorldContents | None = None
        self._name_kinds()

    def _name_kinds(self) -> None:
        self.kinds = [*FIELDS, *(own.kind for own in self.own)]
        records = _backend.kernels.records.ComponentRecords
        self._records = [
            records(kind, FIELDS.get(kind, ()), _WHOLE.get(kind, ())) for kind in self.kinds
        ]
        self._last = None

    def add(self, own: Own) -> None:
        """Hold components of one more type, or another way to save those of a known one.

        Raises
        ------
        ValueError
            The name is another type's, or there are too many types.
        """
        if own.kind in FIELDS:
            raise ValueError(f"snapshots hold {own.kind.__name__} components without being told")
        kept = [known for known in self.own if known.kind is not own.kind]
        if own.name in WIDTHS or own.name in (known.name for known in kept):
            raise ValueError(
                f"snapshot_with(name={own.name!r}) is the name of another type already: "
                "give each its own"
            )
        if len(kept) == _MAX_OWN:
            raise ValueError(f"snapshots hold {_MAX_OWN} types of a game's own at most")
        self.own = [*kept, own]
        self._name_kinds()

    def require_all(self, components: Components) -> None:
        """Raise ValueError if types that a space reads would be left out."""
        roles = (getattr(components, name) for name in ROLES)
        left_out = sorted({role.kind.__name__ for role in roles if role.kind not in self.kinds})
        if left_out:
            raise ValueError(
                f"snapshot() would leave out {', '.join(left_out)}, of the game's own: "
                "tell snapshot_with how to save and load them"
            )

    def inspect(self, world: World) -> WorldContents:
        """Return which entities have what, and have their components at hand."""
        mark, dead = world.mark(), frozenset(world.dead())
        last = self._last
        if last is None or last.mark is not mark or last.dead != dead:
            ids, masks, others = _backend.kernels.records.file_components(
                world.entities(self.kinds), dead, self._records
            )
            last = self._last = WorldContents(
                mark,
                dead,
                np.array(ids, np.int64),
                np.array(masks, np.uint64),
                np.array(others, np.int64),
            )
        return last

    # -- saving --

    def read(self, contents: WorldContents) -> list[Doubles]:
        """Return the numbers of the library's components, as in `SnapshotData`.

        Raises
        ------
        TypeError
            A component holds something that is no number.
        """
        taken: list[Doubles] = []
        for n, names in enumerate(FIELDS.values()):
            records = self._records[n]
            numbers = np.zeros((len(records.items), len(names)))
            taken.append(numbers)
            wrong = records.read(numbers.data) if numbers.size else -1
            if wrong >= 0:
                raise _no_number(
                    int(contents.holders(n)[wrong]), self.kinds[n], records.items[wrong]
                )
        return taken

    def save(self, contents: WorldContents) -> list[list[bytes]]:
        """Return what the game's own components were saved as."""
        saved = []
        for n, own in enumerate(self.own, len(FIELDS)):
            blobs = [own.save(item) for item in self._records[n].items]
            for place, blob in enumerate(blobs):
                if type(blob) is not bytes:
                    raise TypeError(
                        f"snapshot_with: save gave {blob!r} for the {own.name} of entity "
                        f"{contents.holders(n)[place]}, and must give bytes"
                    )
            saved.append(blobs)
        return saved

    def agrees(self, n: int, numbers: Doubles, rows: Longs, seen: memoryview) -> bool:
        """Return whether numbers of the n-th type are bit by bit those of a column."""
        agree: bool = self._records[n].agree(numbers.data, rows.data, seen)
        return agree

    # -- restoring --

    def load(self, world: World, state: SnapshotData) -> Loaded:
        """Make the game's own components of a state that are to be new; nothing else is done.

        Raises
        ------
        ValueError
            The state holds components of a type that is not known.
        TypeError
            `load` of the game's gave something else.
        Exception
            Whatever a function of the game raised.
        """
        by_name = {own.name: own for own in self.own}
        strangers = [name for name in state.own if name not in by_name]
        if strangers:
            raise ValueError(
                f"the snapshot holds {', '.join(strangers)} components of the game's own: "
                "tell snapshot_with how to load them, under the same names"
            )
        loaded = Loaded({}, [])
        for n, (name, blobs) in enumerate(zip(state.own, state.blobs, strict=True)):
            own = by_name[name]
            entities = state.holders(len(state.kinds) + n).tolist()
            for entity, blob in zip(entities, blobs, strict=True):
                there = world.component(entity, own.kind)
                try:
                    if there is not None and own.save(there) == blob:
                        continue
                    if there is None or own.update is None:
                        loaded.fresh[entity, own.kind] = fresh = own.load(blob)
                        if not isinstance(fresh, own.kind):
                            raise TypeError(
                                f"snapshot_with: load gave {fresh!r}, and must give a {name}"
                            )
                    else:
                        loaded.updates.append((own.update, there, blob))
                except Exception as error:
                    error.add_note(
                        f"while restoring the {name} of entity {entity}; nothing has been changed"
                    )
                    raise
        return loaded

    def apply(self, world: World, state: SnapshotData, loaded: Loaded) -> None:
        """Give the world the entities and components of a state, and these their numbers."""
        by_name = dict(zip(KIND_NAMES, FIELDS, strict=True))
        by_name.update((own.name, own.kind) for own in self.own)
        bits = [self.kinds.index(by_name[name]) for name in (*state.kinds, *state.own)]
        masks = state.masks
        if bits != list(range(len(bits))):  # from the order of then to that of now
            masks = np.zeros_like(masks)
            for n, bit in enumerate(bits):
                masks |= (state.masks >> np.uint64(n) & np.uint64(1)) << np.uint64(bit)
        contents = self.inspect(world)
        if (
            contents.dead
            or loaded.fresh
            or not np.array_equal(contents.ids, state.ids)
            or not np.array_equal(contents.masks, masks)
        ):
            self._apply_entities(world, contents, state, masks, sum(1 << bit for bit in bits))
            for (entity, kind), component in loaded.fresh.items():
                world.add(entity, kind, component)
            contents = self.inspect(world)
        ends = [*contents.ids[-1:].tolist(), *contents.others[-1:].tolist(), *contents.dead]
        world.begin_entities_at(max(state.next_entity, *(last + 1 for last in ends), 1))
        for numbers, bit in zip(state.numbers, bits, strict=False):
            if numbers.size:
                self._records[bit].put(numbers.data)

    def _apply_entities(
        self,
        world: World,
        contents: WorldContents,
        state: SnapshotData,
        masks: NDArray[np.uint64],
        covered: int,
    ) -> None:
        """Create and delete entities, add and remove components, where they differ.

        What is added is blank, and the game's own is left to be added.
        """
        wanted: dict[int, int] = dict(zip(state.ids.tolist(), masks.tolist(), strict=True))
        others = frozenset(state.others.tolist())
        there: dict[int, int] = dict(
            zip(contents.ids.tolist(), contents.masks.tolist(), strict=True)
        )
        present = world.entities(self.kinds)
        for entity in contents.dead:
            if entity not in present:  # deleted twice: there is nothing left to delete
                world.keep(entity)
            elif entity in wanted:
                world.keep(entity)
                has = present[entity]
                there[entity] = sum(1 << n for n, kind in enumerate(self.kinds) if kind in has)
            elif entity not in others:
                world.delete(entity)
        for entity, mask in there.items():
            if entity in wanted or not mask & covered:
                continue
            if entity in others:
                self._remove(world, entity, mask & covered)
            else:
                world.delete(entity)
        for entity, mask in wanted.items():
            had = there.get(entity, 0) & covered
            if had == mask:
                continue
            if entity not in present:
                world.create(entity)
            for n, kind in enumerate(FIELDS):
                if (mask & ~had) >> n & 1:
                    world.add(entity, kind, object.__new__(kind))
            self._remove(world, entity, had & ~mask)

    def _remove(self, world: World, entity: int, mask: int) -> None:
        for n, kind in enumerate(self.kinds):
            if mask >> n & 1:
                world.remove(entity, kind)


def _no_number(entity: int, kind: type, component: object) -> Exception:
    """Return the error to raise where a component holds something that is no number."""
    names = FIELDS[kind]
    missing = [name for name in names if not hasattr(component, name)]
    found: Exception | None = (
        None if missing else find_no_number(rules(Components(), 3), entity, {kind: component}.get)
    )
    if found is None:
        found = TypeError(
            f"entity {entity}: {kind.__name__} must have numbers {', '.join(names)}, and has no "
            + " and no ".join(missing or names)
        )
    return found
