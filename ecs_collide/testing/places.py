"""Worlds that are built once, at a place in the game that takes long to reach.

`leads_to` marks a function, or a test, that plays to the place.  `Places` calls it once, keeps the
world, and restores it for each test that starts there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import esper

from ecs_collide.recording.frames import Frame, compare_frames, read_frame
from ecs_collide.recording.recording import Divergence
from ecs_collide.testing.memory import Memory
from ecs_collide.testing.sim import Sim
from ecs_collide.testing.watch import processors

Way = TypeVar("Way", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Place:
    """The way to a place: play to `start` first, if there is one, then call `way`."""

    name: str
    way: Callable[[Sim], Any]
    start: str | None


PLACES: dict[str, Place] = {}
"""All places, by name."""


def leads_to(name: str, *, start: str | None = None) -> Callable[[Way], Way]:
    """Mark a function that takes a `Sim` and plays to a place in the game.

    It may be a test whose only argument is the fixture `sim`; other tests then start where it
    ends.  The state of the game must be in its components and in what `Sim.build` returned.

    Parameters
    ----------
    name : str
        The name of the place, for the fixture `world_at`.
    start : str, optional
        Another place, where the function begins.
    """

    def mark(way: Way) -> Way:
        PLACES[name] = Place(name, way, start)
        return way

    return mark


@dataclass(slots=True)
class _SavedPlace:
    """A world at a place."""

    sim: Sim
    memory: Memory
    frame: Frame
    processors: list[Any]
    handlers: list[str]

    def is_unchanged(self) -> bool:
        """Return whether the same systems and handlers are there."""
        return self.processors == processors() and self.handlers == _handlers(self.sim)


def _handlers(sim: Sim) -> list[str]:
    return [repr(handler) for handler in sim.space.handlers]


class Places:
    """The worlds that are kept, one for each place."""

    def __init__(self) -> None:
        self.n_built = 0  # worlds
        self._saved: dict[str, _SavedPlace] = {}
        self._visited: list[str] = []

    def at(self, name: str) -> Sim:
        """Return a sim at a place, as it was when the place was first reached.

        Raises
        ------
        LookupError
            No function `leads_to` this place.
        AssertionError
            The game holds an object that cannot be restored; the message names its type.
        """
        __tracebackhide__ = True
        saved = self._saved.get(name)
        if saved is None:
            saved = self._saved[name] = self._go(name)
        else:
            saved.sim.resume()
            saved.memory.bring_back(0)
        self._visited.append(name)
        frame = read_frame(saved.sim.space, 0, 0.0, saved.frame.inputs)
        differences = compare_frames(saved.frame, frame)
        if differences:
            raise AssertionError(
                f"world_at({name!r}) did not come back: {Divergence(0, differences, None, frame)}"
            )
        return saved.sim

    def _go(self, name: str) -> _SavedPlace:
        __tracebackhide__ = True
        ways: list[Place] = []
        following: str | None = name
        while following is not None:
            if following not in PLACES:
                known = ", ".join(sorted(PLACES)) or "none"
                raise LookupError(
                    f"world_at({following!r}): no function is marked with "
                    f"leads_to({following!r}); places that are known: {known}"
                )
            if PLACES[following] in ways:
                ring = " from ".join(
                    repr(place.name) for place in [*reversed(ways), PLACES[following]]
                )
                raise LookupError(
                    f"world_at({name!r}): one never gets there: {ring}; "
                    "give one of these places a start outside of them, or none"
                )
            ways.insert(0, PLACES[following])
            following = PLACES[following].start
        sim = Sim()
        try:
            for place in ways:
                place.way(sim)
            roots = [root for root in (sim.game, sim.inputs) if root is not None]
            packages = {place.way.__module__.partition(".")[0] for place in ways}
            memory = Memory(sim.space, roots, packages)
            memory.require(0, f"world_at({name!r})")
            memory.bring_back(0)
            sim.resume()
        except BaseException:
            sim.close()
            raise
        self.n_built += 1
        frame = read_frame(sim.space)
        return _SavedPlace(sim, memory, frame, processors(), _handlers(sim))

    def leave(self) -> None:
        """Leave the places that were visited; forget those whose systems or handlers changed."""
        while self._visited:
            name = self._visited.pop()
            saved = self._saved.get(name)
            if saved is None:
                continue
            esper.switch_world(saved.sim.world)
            is_fine = saved.is_unchanged()
            saved.sim.leave()
            if not is_fine:
                self._saved.pop(name).sim.close()

    def close(self) -> None:
        """Delete all worlds."""
        self.leave()
        while self._saved:
            self._saved.popitem()[1].sim.close()
