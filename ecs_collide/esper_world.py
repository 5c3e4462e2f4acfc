"""The esper world of a space: the one file of the core that knows where esper keeps its data.

Private names of esper are read if it has no public one, or one that costs more than a whole
step.  They are used only if they have the type that esper 3.9 gives them; otherwise the public
functions are used.
"""

import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from types import FrameType
from typing import Any, NamedTuple

import esper

from ecs_collide._kernel import backend


class Structure(NamedTuple):
    """The components of entities before a change."""

    order: list[int]  # all entities, in the order of esper
    # Each noted entity: its components by type, None if it did not exist, and whether a deferred
    # deletion was pending.
    noted: dict[int, tuple[dict[type, Any] | None, bool]]


def require_esper_3() -> None:
    """Raise ImportError if the worlds of the installed esper are objects, as in esper 2."""
    if not hasattr(esper, "current_world"):
        version = getattr(esper, "version", "of unknown version")
        raise ImportError(
            f"ecs_collide needs esper 3.9 or newer, and esper {version} is installed: "
            "pip install --upgrade esper; docs/from_esper_2.md lists what changes in a game"
        )


require_esper_3()


def require_order(who: str, priority: int) -> None:
    """Raise RuntimeError if a system of a priority would run before the running processor.

    esper iterates over its list by index.  A system that is inserted before the running processor
    moves it back, and it runs again.  If the running processor has removed itself, esper skips one.
    """
    for running in _running_processors():
        if not any(running is other for listed in _processors_of_worlds() for other in listed):
            name = type(running).__name__
            raise RuntimeError(
                f"{who} was called in {name}, a processor that was removed while it runs, so esper "
                f"would skip a system: call it before esper.process(), or remove {name} after it"
            )
        listed = getattr(esper, "_processors", ())
        if any(running is other for other in listed) and running.priority < priority:
            raise RuntimeError(
                f"{who} was called in {type(running).__name__}, a processor of priority "
                f"{running.priority}, and adds systems that run before it, up to priority "
                f"{priority}: call it before esper.process(), or in a processor of priority "
                f"{priority} or more"
            )


def _running_processors() -> Iterator[esper.Processor]:
    """Yield the processors that `esper.process` runs now, the innermost first."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is vars(esper) and "processor" in frame.f_locals:
            yield frame.f_locals["processor"]
        frame = frame.f_back


def _processors_of_worlds() -> Iterator[Sequence[esper.Processor]]:
    """Yield the processors of each world."""
    yield getattr(esper, "_processors", ())
    for parts in getattr(esper, "_context_map", {}).values():
        if len(parts) > 6:  # other worlds keep all that esper has of them in this order
            yield parts[6]


class World:
    """The esper world that is current at its creation.

    Parameters
    ----------
    stages : tuple of type
        The systems that run the four stages of a step, in order.
    """

    def __init__(self, stages: tuple[type[esper.Processor], ...]) -> None:
        self.name = esper.current_world
        self.probe = backend.kernels.world_probe.WorldProbe(self.name)
        self._stages = stages

    def __eq__(self, other: object) -> bool:
        return isinstance(other, World) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"the esper world {self.name!r}"

    def is_unknown(self) -> bool:
        """Return whether esper does not tell which entities of this world have changed."""
        return not backend.kernels.world_probe.NOTES_ALL or self.probe.sets_by_type() is None

    def generation(self) -> object:
        """Return an object: the same one until the world is cleared, None if that is unknown."""
        return self.probe.generation_of(self.probe.part("_entity_count", 0))

    # -- the current world --

    def require_current(self) -> None:
        """Raise RuntimeError if another world is current."""
        if esper.current_world != self.name:
            raise RuntimeError(
                f"the Space of {self} was used while {esper.current_world!r} is current: install "
                f"one space for each world, or call esper.switch_world({self.name!r}) first"
            )

    def is_skipped(self, name: str) -> bool:
        """Return whether esper runs a processor that stands behind one of this name.

        If that one did not run, esper skipped it, because a processor before it was removed.
        """
        running = next(_running_processors(), None)
        for processor in getattr(esper, "_processors", ()):
            if processor is running:
                return False
            if type(processor).__name__ == name:
                return running is not None
        return False

    def come_back(self) -> str | None:
        """Make this world current again; return the name of another one that was, or None."""
        if esper.current_world == self.name:
            return None
        left = esper.current_world
        esper.switch_world(self.name)
        return left

    def leave_for(self, name: str) -> None:
        """Make another world current."""
        esper.switch_world(name)

    # -- entities and components --

    def entities(self, kinds: Iterable[type]) -> Mapping[int, Mapping[type, Any]]:
        """Return the components by type of each entity: dicts that have at least `kinds`."""
        database: dict[int, dict[type, Any]] | None = self.probe.database()
        if database is not None:
            return database
        found: dict[int, dict[type, Any]] = {}
        entity: int
        component: Any
        for kind in kinds:
            try:
                having: Any = esper.get_component(kind)
            except KeyError:  # an id that is not there was given one, and esper has stored it
                everybody = list(esper.get_entities())
                having = [(entity, esper.try_component(entity, kind)) for entity in everybody]
            for entity, component in having:
                if component is not None:
                    found.setdefault(entity, {})[kind] = component
        return found

    def ids(self) -> list[int]:
        """Return all entities, also those that are deleted but not gone yet."""
        found: list[int] = backend.kernels.world_log.ids_among(esper.get_entities())
        return found

    def ids_having(self, kinds: Iterable[type]) -> list[int]:
        """Return the entities that have a component of one of some types, in any order."""
        found: list[int] = backend.kernels.world_log.ids_among(
            itertools.chain(*map(self.having, kinds))
        )
        return found

    def kinds(self) -> Iterable[type]:
        """Return the types of all components that entities have; others may be among them."""
        # esper files entities by type: a pass over all of them would cost as much as a step.
        by_type = self.probe.sets_by_type()
        if by_type is not None:
            return list(by_type)
        found: set[type] = set()
        for entity in esper.get_entities():
            found.update(map(type, esper.components_for_entity(entity)))
        return found

    def finder(self, kinds: Iterable[type]) -> Callable[[int], Mapping[type, Any] | None]:
        """Return a function that finds an entity's components by type, at least `kinds`.

        It returns None for a deleted entity, and works in any current world.
        """
        database, dead = self.probe.part("_entities", 2), self.dead()
        if type(database) is dict:
            return lambda entity: None if entity in dead else database.get(entity)
        if esper.current_world != self.name:
            return lambda entity: None

        def find(entity: int) -> Mapping[type, Any] | None:
            return self.components(entity, kinds) if esper.entity_exists(entity) else None

        return find

    def components(self, entity: int, kinds: Iterable[type]) -> Mapping[type, Any]:
        """Return an entity's components by type, at least `kinds`."""
        database = self.probe.database()
        if database is not None:
            found: Mapping[type, Any] = database.get(entity, {})
            return found
        having = {kind: esper.try_component(entity, kind) for kind in kinds}
        return {kind: component for kind, component in having.items() if component is not None}

    def having(self, kind: type) -> Set[int]:
        """Return the entities that have a component of a type.  The set is esper's, not a copy."""
        by_type: dict[type, Set[int]] | None = self.probe.sets_by_type()
        if by_type is not None:
            return by_type.get(kind, frozenset())
        if esper.current_world != self.name:
            return frozenset()
        return {entity for entity in esper.get_entities() if esper.has_component(entity, kind)}

    def has_any(self, kinds: tuple[type, ...]) -> bool:
        """Return whether an entity has a component of one of some types."""
        by_type = self.probe.sets_by_type()
        if by_type is not None:
            return not by_type.keys().isdisjoint(kinds)
        return any(self.having(kind) for kind in kinds)

    def component(self, entity: int, kind: type) -> Any | None:
        """Return an entity's component, or None."""
        return esper.try_component(entity, kind)

    def exists(self, entity: int) -> bool:
        """Return whether an entity is alive."""
        return esper.entity_exists(entity)

    def was_deleted(self, entity: object) -> bool:
        """Return whether an entity has existed and is deleted; False if esper does not tell."""
        counts = type(getattr(esper, "_entity_count", None)) is itertools.count
        if type(entity) is not int or self.exists(entity) or not counts:
            return False
        return 0 < entity < self.next_entity()

    def living(self, entities: Collection[int]) -> Set[int]:
        """Return those of some entities that are alive."""
        database: dict[int, Any] | None = self.probe.database()
        if database is not None:
            if database.keys().isdisjoint(entities):  # as nearly always; it makes no set
                return frozenset()
            return (database.keys() & set(entities)).difference(self.dead())
        return {entity for entity in entities if esper.entity_exists(entity)}

    def is_empty(self) -> bool:
        """Return whether the world has no entities at all."""
        return next(iter(esper.get_entities()), None) is None

    def dead(self) -> Collection[int]:
        """Return the entities that are deleted but not gone yet."""
        dead: Collection[int] | None = self.probe.part("_dead_entities", 3)
        return () if dead is None else dead

    def lost(self) -> Collection[int]:
        """Return the entities that are marked as deleted and do not exist."""
        there = set(esper.get_entities())
        return [entity for entity in self.dead() if entity not in there]

    def ghosts(self, kinds: Iterable[type]) -> Collection[int]:
        """Return the entities that do not exist and have components of some types."""
        # `add_component` leaves them: it stores the id before it checks that the entity exists.
        there, by_type = set(esper.get_entities()), getattr(esper, "_components", {})
        return {entity for kind in kinds for entity in by_type.get(kind, ()) if entity not in there}

    # -- handlers and systems --

    def handlers(self) -> Callable[[str], list[Callable[[Any], object]]]:
        """Return a function that returns this world's handlers of an event, from any world."""
        # Like esper.dispatch_event, but each handler by itself: if one raises, or changes the
        # handlers, the others are still called.
        registry: dict[str, set[Callable[[], Any]]] = esper.event_registry

        def of(name: str) -> list[Callable[[Any], object]]:
            references = list(registry.get(name, ()))
            return [handler for get in references if (handler := get()) is not None]

        return of

    def _processors(self) -> list[esper.Processor]:
        """Return the processors in order; if esper does not list them, the four stages only."""
        running: Any = getattr(esper, "_processors", None)
        if type(running) is list:
            return running
        return [system for kind in self._stages if (system := esper.get_processor(kind))]

    def running(self) -> list[Any]:
        """Return the systems of all spaces in the current world, in their order."""
        return [system for system in self._processors() if isinstance(system, self._stages)]

    def systems(self, space: object) -> list[tuple[int | None, type]]:
        """Return the stage (0 to 3; None: not of `space`) and type of each processor, in order."""
        found: list[tuple[int | None, type]] = []
        for system in self._processors():
            stage = None
            if isinstance(system, self._stages) and getattr(system, "space", None) is space:
                stage = [isinstance(system, kind) for kind in self._stages].index(True)
            found.append((stage, type(system)))
        return found

    def rivals(self, space: object) -> list[str]:
        """Return the other spaces, each as its repr, whose systems this world runs."""
        if esper.current_world != self.name:
            return []
        found = dict.fromkeys(s.space for s in self.running() if s.space is not space)
        return list(map(repr, found))

    # -- for snapshots, only while this world is current --
    #
    # esper has no public way to create an entity with a given id, to read the next id, or to
    # cancel a deferred deletion.

    def require_known(self) -> None:
        """Raise RuntimeError if entities cannot be given their ids."""
        known = {"_entities": dict, "_dead_entities": set, "_entity_count": itertools.count}
        if self.probe.sets_by_type() is None:
            known["_components"] = dict
        for name, kind in known.items():
            if type(getattr(esper, name, None)) is not kind:
                raise RuntimeError(
                    f"esper {esper.version} has no {name} that is a {kind.__name__}: snapshots "
                    "need to know where it keeps its entities, and know esper 3.9"
                )

    def next_entity(self) -> int:
        """Return the id of the next new entity."""
        counter = getattr(esper, "_entity_count", None)
        if type(counter) is not itertools.count:
            self.require_known()
        # Only the repr of a count, as in "count(5)", shows its value without advancing it.
        return int(repr(counter)[len("count(") : -1])

    def begin_entities_at(self, entity: int) -> None:
        """Give new entities ids from this one on."""
        self.generation()
        self.probe.counter = vars(esper)["_entity_count"] = itertools.count(entity)

    def keep_structure(self) -> Structure:
        """Return an empty structure for `note` to fill and `put_back` to restore."""
        return Structure(list(vars(esper)["_entities"]), {})

    def note(self, structure: Structure, entity: int) -> None:
        """Note the components of an entity before any are added or removed."""
        if entity not in structure.noted:
            its = vars(esper)["_entities"].get(entity)
            is_dead = entity in vars(esper)["_dead_entities"]
            structure.noted[entity] = None if its is None else dict(its), is_dead

    def put_back(self, structure: Structure) -> None:
        """Restore the components of all noted entities; it can be called again."""
        known = vars(esper)
        entities, by_type, dead = known["_entities"], known["_components"], known["_dead_entities"]
        for entity, (its, was_dead) in structure.noted.items():
            for kind, having in list(by_type.items()):
                having.discard(entity)
                if not having:
                    del by_type[kind]
            if its is None:
                entities.pop(entity, None)
            else:
                entities[entity] = dict(its)
                for kind in its:
                    if kind not in by_type:  # `setdefault` would add a set that notes nothing
                        by_type[kind] = set()
                    by_type[kind].add(entity)
            (dead.add if was_dead else dead.discard)(entity)
        if list(entities) != structure.order:  # esper lists them in the order of creation
            known["_entities"] = {entity: entities[entity] for entity in structure.order}
        esper.clear_cache()

    def create(self, entity: int) -> None:
        """Create an entity with a free id; the caller adds its first component."""
        vars(esper)["_entities"][entity] = {}

    def delete(self, entity: int) -> None:
        """Delete an entity at once, even if its deletion is deferred."""
        self.keep(entity)  # else esper would delete it once more, and fail
        esper.delete_entity(entity, immediate=True)

    def keep(self, entity: int) -> None:
        """Cancel the deferred deletion of an entity."""
        vars(esper)["_dead_entities"].discard(entity)

    def add(self, entity: int, kind: type, component: object) -> None:
        """Give an entity a component, instead of its present one of this type."""
        esper.add_component(entity, component, kind)

    def remove(self, entity: int, kind: type) -> None:
        """Take a component from an entity."""
        esper.remove_component(entity, kind)
