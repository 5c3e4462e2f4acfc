"""Read the entities and components of a world for a snapshot, and restore them.

A snapshot holds whole components, of bodies and of all other entities with components.  Components
that still exist are restored in place.  Others are added and removed through the world.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import mul
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import backend
from ecs_collide.components.component_map import ROLES, Components
from ecs_collide.components.table import TABLE
from ecs_collide.esper_world import Structure, World
from ecs_collide.snapshot.column_codec import Table, pack_tables
from ecs_collide.snapshot.own_types import Own, OwnTypes
from ecs_collide.snapshot.plain import Plain
from ecs_collide.snapshot.schema import (
    Doubles,
    Longs,
    SnapshotData,
    as_ints,
    find_in,
    holders,
    rearrange,
)
from ecs_collide.sync.quarantine import find_no_number, rules

FIELDS = {d.kind: d.names for d in TABLE}
"""The fields of the library's components that a snapshot holds."""

_WHOLE = {d.kind: d.whole for d in TABLE}

_LIBRARY = __name__.split(".")[0]
_MANY = 256  # with so many changed entities, it is faster to look at all
KIND_NAMES = tuple(kind.__name__ for kind in FIELDS)
WIDTHS = {kind.__name__: len(names) for kind, names in FIELDS.items()}


Change: TypeAlias = "tuple[Own | Plain, int, Any, Any, Any]"
"""A custom component to set: its setter, its entity, itself, its value now and its new value."""


@dataclass(slots=True)
class WorldContents:
    """The components of each entity, valid while the world's mark is the same."""

    mark: object
    dead: frozenset[int]
    ids: Longs  # as in `SnapshotData`, like `masks` and `others`, for all types
    masks: NDArray[np.uint64]
    others: Longs
    own: list[Own]  # the types that the game saves by functions, and the library's by methods
    plain: list[Plain]  # the dataclasses of numbers that entities have, sorted by name
    saved_masks: NDArray[np.uint64]  # without the types that need no functions and no entity has
    sizes: list[int]  # the number of components of each type of the library
    n_numbers: int  # in all of these components
    is_exact: bool  # whether none of these is of a subclass, whose setters may raise

    def holders(self, n: int) -> Longs:
        """Return the entities that have the n-th type of component."""
        return holders(self.ids, self.masks, n)

    def split(self, numbers: Doubles) -> list[Doubles]:
        """Return the numbers of each type of the library, as views (n, width) of all of them."""
        found, start = [], 0
        for size, width in zip(self.sizes, WIDTHS.values(), strict=True):
            found.append(numbers[start : start + size * width].reshape(size, width))
            start += size * width
        return found


@dataclass(slots=True)
class Loaded:
    """The custom components of a state, loaded before any of them is set."""

    fresh: dict[tuple[int, type], Any]  # new components, by entity and type
    updates: list[Change]


@dataclass(slots=True)
class Before:
    """The components of a world before a restore."""

    next_entity: int
    # By library type: numbers (n, width), or the fields of all components if one is not a number.
    numbers: Sequence[Doubles | list[list[Any]]]
    structure: Structure | None = None  # None if no entity or component changes
    overwritten: list[tuple[Own | Plain, Any, Any]] = field(default_factory=list)


class SnapshotSchema:
    """The types of components of a world that a snapshot holds, with their readers."""

    def __init__(self) -> None:
        self.types = OwnTypes(FIELDS)  # of the custom components
        self._last: WorldContents | None = None
        self._seen: Any = None
        self._n_changes = -1
        self._name_kinds()

    def _name_kinds(self) -> None:
        """Update the types of custom components if they have changed."""
        if self._n_changes == self.types.n_changes:
            return
        self._n_changes = self.types.n_changes
        # In the order of the bits of a mask.
        self.kinds = [*FIELDS, *self.types.kinds()]
        self._kernel = backend.kernels.records
        records = self._kernel.ComponentRecords
        self._records = [
            records(kind, FIELDS.get(kind, ()), _WHOLE.get(kind, ())) for kind in self.kinds
        ]
        self._library_records = self._records[: len(FIELDS)]
        self._last = None
        self._filed: Any = None  # all entities by the records, as of `_seen`

    def _discover(self, kinds: Iterable[type]) -> None:
        self.types.discover(kinds)
        self._name_kinds()

    def require_all(self, components: Components) -> None:
        """Raise ValueError if snapshots would lack types that a space reads."""
        roles = [getattr(components, name) for name in ROLES]
        self._discover(role.kind for role in roles)
        skipped = sorted({role.kind.__name__ for role in roles if role.kind not in self.kinds})
        if skipped:
            raise ValueError(
                f"snapshot() would lack {', '.join(skipped)}, components of the game: "
                "tell snapshot_with how to save and load them"
            )

    def inspect(self, world: World) -> WorldContents:
        """Return the components of each entity, and collect them in the records."""
        last = self._last
        if (
            last is None
            or self._n_changes != self.types.n_changes
            or last.mark is not world.probe.mark()
            or not world.probe.are_dead(last.dead)
        ):
            mark, dead = world.probe.mark(), frozenset(world.dead())
            ids, masks, others = self._file(world, dead)
            first = len(FIELDS) + len(self.types.own)
            held = [n for n in range(first, len(self.kinds)) if len(holders(ids, masks, n))]
            places = {n: place for place, n in enumerate((*range(first), *held))}
            saved = rearrange(masks, [*map(places.get, range(len(self.kinds)))], len(places))
            found = [self.types.found[n - first] for n in held]
            own = [*self.types.own, *(how for how in found if isinstance(how, Own))]
            plain = [how for how in found if isinstance(how, Plain)]
            sizes = [len(records.items) for records in self._library_records]
            n_numbers = sum(map(mul, sizes, WIDTHS.values()))
            is_exact = all(records.is_exact for records in self._library_records)
            last = self._last = WorldContents(
                mark, dead, ids, masks, others, own, plain, saved, sizes, n_numbers, is_exact,
            )  # fmt: skip
        return last

    def _file(self, world: World, dead: frozenset[int]) -> tuple[Longs, NDArray[np.uint64], Longs]:
        """Return the entities with components of `kinds`, their masks, and the other entities.

        Entities that have only empty classes are among the others.
        """
        kinds = list(world.kinds())
        self._discover(kinds)
        entities, seen = world.entities(self.kinds), world.probe.look_at_all((*self.kinds, *kinds))
        before, self._filed = self._filed, None  # an interrupt may leave the records half updated
        noted = None if before is None else seen.find_noted(self._seen)
        found = None
        if noted is not None and len(noted) <= _MANY:
            found = self._kernel.gather_again(entities, dead, noted, self._records, before)
        if found is None:
            found = self._kernel.gather_components(entities, dead, self._records)
        seen.keep(noted or [])
        self._seen, self._filed = seen, found
        ids, masks, rest = found
        others = ~self._marks()
        words = [others >> 64 * n & 2**64 - 1 for n in range(masks.shape[1])]
        has = (masks & np.array(words, np.uint64)).any(axis=1)
        return ids[has], masks[has], np.sort(np.concatenate([rest, ids[~has]]))

    def _marks(self) -> int:
        """Return the bits of the empty classes in a mask."""
        return self._mask_of({how.kind for how in self.types.found if how.is_mark})

    def _mask_of(self, kinds: Container[type]) -> int:
        """Return the mask of an entity that has these types of components."""
        return sum(1 << n for n, kind in enumerate(self.kinds) if kind in kinds)

    # -- saving --

    def not_held(self, world: World) -> list[type]:
        """Return the component types that snapshots lack, sorted by name.

        The library's types and types excluded by `snapshot_without` are not among them.
        """
        kinds = set(world.kinds())
        self._discover(kinds)
        kinds.difference_update(FIELDS, self.types.kinds(), self.types.skipped)
        strange = (kind for kind in kinds if kind.__module__.split(".")[0] != _LIBRARY)
        return sorted(strange, key=lambda kind: (kind.__name__, kind.__module__))

    def filled_marks(self, world: World) -> dict[type, list[int]]:
        """Return the entities with an empty class to which attributes were added, by type."""
        contents, found = self.inspect(world), {}
        for how in self.types.found:
            if how.is_mark:
                n = self.kinds.index(how.kind)
                items = self._records[n].items
                filled = [k for k, item in enumerate(items) if getattr(item, "__dict__", None)]
                if filled:
                    found[how.kind] = contents.holders(n)[filled].tolist()
        return found

    def read(self, contents: WorldContents) -> Doubles:
        """Return the numbers of the library's components, one type after the other.

        Raise TypeError if a field is no number.
        """
        numbers = np.empty(contents.n_numbers)
        n, wrong = self._kernel.read_all(self._library_records, numbers.data)
        if n >= 0:
            raise _no_number(
                int(contents.holders(n)[wrong]), self.kinds[n], self._records[n].items[wrong]
            )
        return numbers

    def put(self, numbers: Doubles) -> None:
        """Write numbers into the components that were inspected last, in the order of `read`."""
        self._kernel.put_all(self._library_records, numbers.data)

    def save(self, contents: WorldContents) -> list[list[bytes]]:
        """Return the custom components as the bytes of their save functions."""
        return [self._blobs(own, contents) for own in contents.own]

    def _blobs(self, own: Own, contents: WorldContents) -> list[bytes]:
        n, blobs = self.kinds.index(own.kind), []
        try:
            for item in self._records[n].items:
                blobs.append(own.save(item))
        except Exception as error:
            entity = contents.holders(n)[len(blobs)]
            error.add_note(f"while saving the {own.name} of entity {entity}")
            raise
        for place, blob in enumerate(blobs):
            if type(blob) is not bytes:
                raise TypeError(
                    f"snapshot_with: save gave {blob!r} for the {own.name} of entity "
                    f"{contents.holders(n)[place]}, and must give bytes"
                )
        return blobs

    def tables(self, contents: WorldContents) -> list[Table]:
        """Return the numbers of the dataclasses that entities have."""
        if not contents.plain:
            return []
        names = [own.name for own in contents.own] + [plain.name for plain in contents.plain]
        for plain in contents.plain:
            if plain.name in WIDTHS or names.count(plain.name) > 1:
                raise ValueError(
                    f"snapshot() found several types of components named {plain.name}: "
                    f"name one by snapshot_with({plain.name}, name=...)"
                )
        return [self._table(plain, contents) for plain in contents.plain]

    def _table(self, plain: Plain, contents: WorldContents) -> Table:
        n = self.kinds.index(plain.kind)
        return plain.read(self._records[n].items, lambda place: int(contents.holders(n)[place]))

    def hashed(self, world: World) -> Iterator[bytes]:
        """Yield bytes for all custom components that `state_hash` includes."""
        self._discover(world.kinds())
        hashed = sorted(self.types.hashed.items(), key=lambda of: (of[1].name, of[0].__module__))
        if not hashed:
            return
        contents = self.inspect(world)
        for kind, how in hashed:
            n = self.kinds.index(kind)
            entities = contents.holders(n)
            if not len(entities):
                continue
            if isinstance(how, Plain):
                table = self._table(how, contents)
                described, pieces = pack_tables([how.name], [table.with_one_nan()])
            else:
                described, pieces = how.name.encode(), []
                for place, blob in enumerate(self._blobs(how, contents)):
                    pieces += [place.to_bytes(8, "little"), len(blob).to_bytes(8, "little"), blob]
            yield described
            yield np.asarray(entities, "<i8").tobytes()
            yield from pieces

    def agrees(self, n: int, numbers: Doubles, rows: Longs, seen: memoryview) -> bool:
        """Return whether the numbers of the n-th type equal a column, bit by bit."""
        agree: bool = self._records[n].agree(numbers.data, rows.data, seen)
        return agree

    # -- restoring --

    def load(self, world: World, state: SnapshotData) -> Loaded:
        """Create the new custom components of a state, and change nothing else.

        Exceptions of the game's functions pass through.
        """
        self._discover(world.kinds())
        self.types.discover_extras((*state.own, *state.plain))
        by_name, plain = self.types.by_name(), self.types.readable(state.plain)
        self._name_kinds()
        ignored = self.types.skipped.values()
        strangers = [name for name in state.own if name not in by_name and name not in ignored]
        strangers += [name for name in state.plain if name not in plain and name not in ignored]
        if strangers:
            raise ValueError(
                f"the snapshot holds {', '.join(strangers)} components of the game: "
                "tell snapshot_with how to load them, under the same names"
            )
        n_held = len(state.kinds)
        loaded = Loaded({}, [])
        for n, (name, table) in enumerate(zip(state.plain, state.tables, strict=True)):
            if name in plain:
                how, entities = plain[name], state.holders(n_held + len(state.own) + n).tolist()
                known = how.as_declared(table)
                complete = (
                    None if known.fields == how.fields else partial(how.complete, known.fields)
                )
                rows = how.rows(known, len(entities))
                _load_all(world, how, entities, rows, loaded, complete)
        for n, (name, blobs) in enumerate(zip(state.own, state.blobs, strict=True)):
            if name in by_name:
                _load_all(world, by_name[name], state.holders(n_held + n).tolist(), blobs, loaded)
        return loaded

    def save_state(self, world: World) -> Before:
        """Return the state from which `put_back` undoes `apply`."""
        self.inspect(world)
        numbers: list[Doubles | list[list[Any]]] = []
        for records, names in zip(self._records, FIELDS.values(), strict=False):
            array = np.zeros((len(records.items), len(names)))
            if array.size and records.read(array.reshape(-1).data, 0) >= 0:
                numbers.append([[getattr(x, name, None) for name in names] for x in records.items])
            else:
                numbers.append(array)
        return Before(world.next_entity(), numbers)

    def put_back(self, world: World, before: Before) -> None:
        """Undo `apply`, even an incomplete one; a second call is safe."""
        if before.structure is not None:
            world.put_back(before.structure)
        world.begin_entities_at(before.next_entity)
        self.inspect(world)
        for records, names, numbers in zip(
            self._records, FIELDS.values(), before.numbers, strict=False
        ):
            if not isinstance(numbers, np.ndarray):
                for item, values in zip(records.items, numbers, strict=True):
                    for name, value in zip(names, values, strict=True):
                        _try(setattr, item, name, value)
            elif numbers.size:
                _try(records.put, records.items, numbers.reshape(-1).data, 0)
        for how, component, value in reversed(before.overwritten):
            _try(how.put_back, component, value)

    def apply(self, world: World, state: SnapshotData, loaded: Loaded, before: Before) -> None:
        """Give the world the entities, components and values of a state.

        Exceptions of components and functions of the game pass through.
        """
        contents = self.inspect(world)
        place = {kind: n for n, kind in enumerate(self.kinds)}
        own = {name: place[some.kind] for name, some in self.types.by_name().items()}
        readable = self.types.readable(state.plain)
        plain = {name: place[some.kind] for name, some in readable.items()}
        bits = [
            *map(KIND_NAMES.index, state.kinds), *map(own.get, state.own), *map(plain.get, state.plain),
        ]  # fmt: skip
        # Convert masks from the state's order of types to the present order; dropped types vanish.
        masks = rearrange(state.masks, bits, len(self.kinds))
        # A type that needs no functions and has no name in the state had no entity.
        unnamed = range(len(FIELDS) + len(self.types.own), len(self.kinds))
        covered = sum(1 << bit for bit in {*bits, *unnamed} if bit is not None)
        if (
            contents.dead
            or loaded.fresh
            or not np.array_equal(contents.ids, state.ids)
            or not np.array_equal(contents.masks, masks)
        ):
            before.structure = world.keep_structure()
            self._apply_entities(world, contents, state, masks, covered, before.structure)
            for (entity, kind), component in loaded.fresh.items():
                world.note(before.structure, entity)
                world.add(entity, kind, component)
            contents = self.inspect(world)
        self.begin_entities(world, contents, state.next_entity)
        for numbers, bit in zip(state.numbers, bits, strict=False):
            if numbers.size and bit is not None:
                records = self._records[bit]
                records.put(records.items, numbers.reshape(-1).data, 0)
        self.update(loaded.updates, before)

    def begin_entities(self, world: World, contents: WorldContents, next_entity: int) -> None:
        """Give new entities ids from one on, beyond all that the world has."""
        ends = [*contents.ids[-1:].tolist(), *contents.others[-1:].tolist(), *contents.dead]
        world.begin_entities_at(max(next_entity, *(last + 1 for last in ends), 1))

    def update(self, changes: list[Change], before: Before) -> None:
        """Set custom components to their new values."""
        for how, entity, component, now, value in changes:
            before.overwritten.append((how, component, now))
            try:
                how.write(component, value)
            except Exception as error:
                _add_note(error, how, entity)
                raise

    def changes_in_place(
        self, contents: WorldContents, blobs: list[list[bytes]], tables: list[Table]
    ) -> list[Change] | None:
        """Return what sets the custom components that were inspected last to saved values.

        None if one must be replaced by a new component.
        """
        loaded = Loaded({}, [])
        if not blobs and not tables:
            return loaded.updates
        saved: Iterable[tuple[Own | Plain, Any]] = (
            *zip(contents.own, blobs, strict=True),
            *zip(contents.plain, tables, strict=True),
        )
        for how, given in saved:
            if isinstance(how, Plain) and how.is_mark:
                continue
            n = self.kinds.index(how.kind)
            entities, items = contents.holders(n).tolist(), self._records[n].items
            values = how.rows(given, len(items)) if isinstance(how, Plain) else given
            for entity, item, value in zip(entities, items, values, strict=True):
                if not _load(how, entity, item, value, loaded):
                    return None
        return loaded.updates

    def _apply_entities(
        self,
        world: World,
        contents: WorldContents,
        state: SnapshotData,
        masks: NDArray[np.uint64],
        covered: int,
        structure: Structure,
    ) -> None:
        """Create and delete entities, add and remove components, where they differ.

        Added library components are blank; custom components are added by the caller.
        """
        differ, differ_there = _differing(state.ids, masks, contents.ids, contents.masks)
        pairs = list(zip(state.ids[differ].tolist(), as_ints(masks[differ]), strict=True))
        wanted = {entity: mask for entity, mask in pairs if mask}
        # Entities whose types were all dropped are among the others.
        others = {*state.others.tolist(), *(entity for entity, mask in pairs if not mask)}
        ids, had_masks = contents.ids[differ_there], contents.masks[differ_there]
        there = dict(zip(ids.tolist(), as_ints(had_masks), strict=True))
        present = world.entities(self.kinds)
        for entity in contents.dead:
            world.note(structure, entity)
            if entity not in present:  # deleted twice
                world.keep(entity)
            elif entity in wanted:
                world.keep(entity)
                there[entity] = self._mask_of(present[entity])
            elif entity not in others:
                world.delete(entity)
        removable = covered & ~self._marks()
        for entity, mask in there.items():
            if entity in wanted or not mask & covered:
                continue
            world.note(structure, entity)
            if entity in others:
                self._remove(world, entity, mask & removable)
            else:
                world.delete(entity)
        for entity, mask in wanted.items():
            if entity not in there and entity in present:  # it has only empty classes
                there[entity] = self._mask_of(present[entity])
            had = there.get(entity, 0) & covered
            if had == mask:
                continue
            world.note(structure, entity)
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


def _differing(
    ids: Longs, masks: NDArray[np.uint64], other_ids: Longs, other_masks: NDArray[np.uint64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which entities of each side have no equal on the other, with the same mask."""
    places, equal = find_in(other_ids, ids)
    equal[equal] = (other_masks[places[equal]] == masks[equal]).all(axis=1)
    differ = np.ones(len(other_ids), np.bool_)
    differ[places[equal]] = False
    return ~equal, differ


def _load_all(
    world: World,
    how: Own | Plain,
    entities: list[int],
    values: list[Any],
    loaded: Loaded,
    complete: Callable[[Any], Any] | None = None,
) -> None:
    """Prepare the changes that restore the components of one type.

    `complete` adds the fields that its components did not have when they were saved.
    """
    for entity, value in zip(entities, values, strict=True):
        there = world.component(entity, how.kind)
        try:
            if complete is not None:
                value = complete(value)
            if not _load(how, entity, there, value, loaded):
                loaded.fresh[entity, how.kind] = how.make(value)
        except Exception as error:
            _add_note(error, how, entity)
            raise


def _load(how: Own | Plain, entity: int, there: Any, value: Any, loaded: Loaded) -> bool:
    """Prepare the change of a component; return False if it must be a new one."""
    if there is None:
        return False
    now: Any = how.now(there)
    if how.keeps(now, value):
        return True
    if how.is_frozen:
        return False
    loaded.updates.append((how, entity, there, now, value))
    return True


def _add_note(error: Exception, how: Own | Plain, entity: int) -> None:
    error.add_note(f"while restoring the {how.name} of entity {entity}; nothing has been changed")


def _try(function: Callable[..., object], *arguments: object) -> None:
    """Call a function and ignore exceptions from components of the game."""
    try:
        function(*arguments)
    except MemoryError:
        raise
    except Exception:
        pass


def _no_number(entity: int, kind: type, component: object) -> Exception:
    """Return the error for a component with a field that is not a number."""
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
