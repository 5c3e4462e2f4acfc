"""What each step asks of its esper world, in a kernel, because a call of Python would cost more."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from typing import Any

import esper

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide.world_log import NotedSets, Seen, WorldLog, noted


@cython.final
class Nobody:
    """A component that no entity ever has."""


@cython.final
class WorldProbe:
    """Whether an esper world is current, and what has changed in it."""

    name: ReadOnly[object]
    counter: Public[object]  # esper's counter, which gives new entities their ids
    known: object  # the generation of this counter
    sets: Any  # esper's sets of entities by type, at the last look
    log: WorldLog  # their log; one that is not shared if esper does not fill it
    known_mark: object  # the mark at the last look, if esper does not fill it

    def __init__(self, name):
        self.name = name
        self.counter = None
        self.known = None
        self.sets = None
        self.log = WorldLog()
        self.known_mark = None

    @cython.ccall
    def is_current(self) -> cython.bint:
        """Return whether this world is current."""
        return esper.current_world == self.name

    @cython.ccall
    def part(self, name: str, place: cython.Py_ssize_t) -> object:
        """Return a container of this world by esper's name for it, or None."""
        if self.is_current():
            return getattr(esper, name, None)
        parts: Any = getattr(esper, "_context_map", {}).get(self.name, ())
        return parts[place] if len(parts) > place else None

    @cython.ccall
    def database(self) -> object:
        """Return esper's dict of the components of each entity of the current world, or None."""
        # Queries cost more than a whole step.
        found: Any = getattr(esper, "_entities", None)
        return found if type(found) is dict else None

    @cython.ccall
    def sets_by_type(self) -> object:
        """Return esper's sets of entities by type, or None."""
        sets: Any = self.part("_components", 1)
        return sets if type(sets) in (dict, NotedSets) else None

    @cython.ccall
    def is_alive(self, entity: Any) -> cython.bint:
        """Return whether an entity of the current world is alive."""
        database: Any = self.database()
        dead: Any = self.part("_dead_entities", 3)
        if database is None or dead is None:
            return esper.entity_exists(entity)
        return entity in database and entity not in dead

    # -- has it changed? --

    @cython.ccall
    def mark(self) -> object:
        """Return an object: the same one until a component or entity is added or removed.

        None while another world is current.
        """
        # esper keeps the result of a query, even an empty one, until anything is added or removed.
        return esper.get_component(Nobody) if self.is_current() else None

    @cython.cfunc
    def find_log(self) -> object:
        """Return the log of this world, up to date; None if it cannot be known."""
        sets: Any = self.part("_components", 1)

        if type(sets) is dict and NOTES_ALL and self.is_current():
            sets = vars(esper)["_components"] = noted(sets)
        if sets is not self.sets:
            self.sets = sets
            self.log = sets.log if type(sets) is NotedSets else WorldLog()
        if type(sets) is not NotedSets:
            mark: object = self.mark()
            if mark is None:
                return None
            if mark is not self.known_mark:
                self.known_mark = mark
                self.log.forget()
        return self.log

    @cython.ccall
    def is_as(self, seen: Seen | None) -> cython.bint:
        """Return whether nothing asked for has changed since a moment; False if unknown."""
        if seen is None or seen.more or seen.log is None or self.find_log() is not seen.log:
            return False
        return seen.end == seen.log.end() and not seen.again and self.are_dead(seen.dead)

    @cython.ccall
    def are_dead(self, known: frozenset) -> cython.bint:
        """Return whether these entities are deleted but not gone yet, and no others."""
        dead: Any = self.part("_dead_entities", 3)
        return dead == known if dead else len(known) == 0

    def look(self, kinds) -> Seen:
        """Return this moment, from which on changes of some types of components are noted."""
        log: WorldLog = self.find_log()

        if type(self.sets) is NotedSets:
            self.sets.follow(kinds, log)
        return Seen(log, frozenset(self.part("_dead_entities", 3) or ()))

    def look_at_all(self, kinds) -> Seen:
        """Return this moment, as `look` does, for a reader that asks for all types."""
        log: Any = None

        self.find_log()
        if type(self.sets) is NotedSets:
            log = self.sets.full_log
            self.sets.follow(kinds, log)
        return Seen(log, frozenset(self.part("_dead_entities", 3) or ()))

    @cython.ccall
    def generation(self) -> object:
        """Return an object: the same one until the current world is cleared; None if unknown."""
        return self.generation_of(getattr(esper, "_entity_count", None))

    @cython.ccall
    def generation_of(self, counter) -> object:
        """Return the generation of this world, given esper's counter of its entities."""
        # To clear the database restarts the count of entities, with another counter.
        if counter is not self.counter:
            self.counter = counter
            self.known = None if counter is None else object()
        return self.known

    @cython.ccall
    def is_as_before(self, generation) -> cython.bint:
        """Return whether this world is current, and has not been cleared since a generation."""
        return self.is_current() and self.generation() is generation

    @cython.ccall
    def has_handlers(self, names: tuple) -> cython.bint:
        """Return whether the current world has a handler of some events, or has had one."""
        registry: Any = esper.event_registry

        if registry:
            for name in names:
                if name in registry:
                    return True
        return False


def notes_all() -> bool:
    """Try in a separate world whether this esper passes all changes through its sets."""
    if not hasattr(esper, "current_world"):  # its worlds are objects
        return False
    before: Any = esper.current_world
    name: str = "ecs_collide tries esper"
    told: list = []
    kind: type = type("Tried", (), {})
    other: type = type("Other", (kind,), {})

    esper.switch_world(name)
    try:
        sets: Any = vars(esper)["_components"]
        if type(sets) is not dict:
            return False
        sets = vars(esper)["_components"] = noted(sets)
        sets.follow((kind,), sets.log)

        def tells(change: Any, *arguments: Any) -> Any:
            end = sets.log.end()
            result = change(*arguments)
            told.append(sets.log.since(end) != set())  # None: all
            return result

        entity = tells(esper.create_entity, kind())
        tells(esper.add_component, entity, kind())
        tells(esper.add_component, entity, other(), kind)
        tells(esper.remove_component, entity, kind)
        tells(esper.add_component, entity, kind())
        tells(esper.try_remove_component, entity, kind)
        tells(esper.add_component, entity, kind())
        tells(esper.delete_entity, entity, True)
        esper.delete_entity(tells(esper.create_entity, kind()))
        tells(esper.clear_dead_entities)
        tells(esper.create_entity, kind())
        tells(esper.clear_database)
        return all(told) and vars(esper)["_components"] is sets
    except Exception:  # this esper works in another way
        return False
    finally:
        esper.switch_world(before)
        esper.delete_world(name)


NOTES_ALL: bool = notes_all()
