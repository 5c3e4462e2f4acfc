"""The interface of a space to the entity component system, which an adapter implements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol


class World(Protocol):
    """The game as the space sees it."""

    def mark(self) -> object:
        """Return an object: the same one until a component or entity is added or removed.

        None while another world is current.
        """

    def generation(self) -> object:
        """Return an object: the same one until the world is cleared, None if that is unknown."""

    def entities(self, kinds: Iterable[type]) -> Mapping[int, Mapping[type, Any]]:
        """Return the components by type of each entity: dicts, with those of `kinds` at least."""

    def kinds(self) -> Iterable[type]:
        """Return the types of all components that entities have; others may be among them."""

    def finder(self, kinds: Iterable[type]) -> Callable[[int], Mapping[type, Any] | None]:
        """Return a function that looks up an entity's components by type, with those of `kinds`.

        It returns None for an entity that is deleted by then, and works in any current world.
        """

    def is_as(self, mark: object, n_dead: int) -> bool:
        """Return whether this world is current, with this mark and this number of dead entities."""

    def components(self, entity: int, kinds: Iterable[type]) -> Mapping[type, Any]:
        """Return an entity's components by type, with those of `kinds` at least."""

    def component(self, entity: int, kind: type) -> Any | None:
        """Return an entity's component, or None."""

    def exists(self, entity: int) -> bool:
        """Return whether an entity is alive."""

    def is_empty(self) -> bool:
        """Return whether the world has no entities at all."""

    def require_current(self) -> None:
        """Raise RuntimeError if another world is current."""

    def come_back(self) -> bool:
        """Make this world current again; return whether it was not."""

    def dead(self) -> Collection[int]:
        """Return the entities that are deleted but not gone yet."""

    def handlers(self) -> Callable[[str], list[Callable[[Any], object]]]:
        """Return what tells this world's own handlers of an event, whatever world is current."""

    def lost(self) -> Collection[int]:
        """Return the entities that are deleted and not there."""

    def ghosts(self, kinds: Iterable[type]) -> Collection[int]:
        """Return the entities that are not there and have components of some types."""

    def systems(self, space: object) -> list[tuple[int | None, str]]:
        """Return name and stage (0 to 3; None: not of `space`) of what runs, in its order."""

    def rivals(self, space: object) -> list[str]:
        """Return the other spaces, each as its repr, whose systems this world runs."""

    # What a snapshot wants, all of it while this world is current.

    def require_known(self) -> None:
        """Raise RuntimeError if entities cannot be given their ids."""

    def next_entity(self) -> int:
        """Return the id that the next new entity gets."""

    def begin_entities_at(self, entity: int) -> None:
        """Give new entities ids from this one on."""

    def create(self, entity: int) -> None:
        """Make an entity of an id that is free; its first component follows."""

    def delete(self, entity: int) -> None:
        """Delete an entity at once, also one that is to be deleted later."""

    def keep(self, entity: int) -> None:
        """Let an entity that is to be deleted later live."""

    def add(self, entity: int, kind: type, component: object) -> None:
        """Give an entity a component, in place of the one it has."""

    def remove(self, entity: int, kind: type) -> None:
        """Take a component from an entity."""
