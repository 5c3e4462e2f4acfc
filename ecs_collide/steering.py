"""The base class of `PathSteering` and others, which set velocities before each step.

The packages `path`, `zone` and `character` add their classes to `STEERING` when they are imported.
A package that a game does not import costs its steps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ecs_collide.components.component_map import Components
from ecs_collide.components.table import EXEMPT, moves_itself
from ecs_collide.diagnostics import EXAMINERS
from ecs_collide.esper_world import World
from ecs_collide.space import Space, parts_of
from ecs_collide.sync.quarantine import Wrong

if TYPE_CHECKING:
    from ecs_collide.diagnostics.findings import Examination, Finding

S = TypeVar("S", bound="Steering")


class Steering:
    """The base class of all that `BroadphaseSystem` runs before each step of a space.

    It runs from the first step in which an entity of the world has one of its components.

    Attributes
    ----------
    kinds : tuple of type
        The components that make it run: first the game's, then any that it adds itself.
    needs : tuple of type
        The components without which an entity with the first of `kinds` does not move; `doctor`
        names those that are missing.
    rank : int
        Lower ones run first.  Paths have 0, zones 1 and characters 2.
    reads : tuple of str
        The arguments of `Components` whose defaults it relies on.
    """

    kinds: ClassVar[tuple[type, ...]]
    needs: ClassVar[tuple[type, ...]] = ()
    rank: ClassVar[int]
    reads: ClassVar[tuple[str, ...]] = ("velocity",)

    def __init__(self, space: Space) -> None:
        self.space = space
        self.has_refused = False
        for kind in self.kinds:
            if moves_itself(kind):
                parts_of(space).registry.exempt_from_gravity(kind)

    @classmethod
    def fits(cls, space: Space) -> bool:
        """Return whether it can work in a space.

        Raises
        ------
        ValueError
            It cannot, and an entity of the world has the game's component.
        """
        misfit = cls.misfit(space.motion == "swept", space.components)
        having = space.world.having(cls.kinds[0])
        if misfit is not None and having:
            raise ValueError(f"entity {min(having)} has {cls.kinds[0].__name__}, {misfit}")
        return misfit is None

    @classmethod
    def misfit(cls, sweeps: bool, components: Components) -> str | None:
        """Return why it cannot work in a space, None if it can."""
        if sweeps:
            return (
                "which works by velocities, and this space is moved by positions: make it with "
                "install(motion='velocity'), the default"
            )
        usual = Components()
        custom = [each for each in cls.reads if getattr(components, each) != getattr(usual, each)]
        if custom:
            return (
                f"which needs the default {' and '.join(custom)} of Components, and this space "
                f"has {components!r}"
            )
        return None

    @classmethod
    def examine(cls, e: Examination, entity: int) -> Iterator[Finding]:
        """Yield the findings about an entity with the game's component, for `Space.doctor`."""
        from ecs_collide.diagnostics.findings import finding_about

        name = cls.kinds[0].__name__
        misfit = cls.misfit(e.sweeps, e.registry.components)
        if misfit is not None:
            yield finding_about(entity, "wrong_space", f"has {name}, {misfit}")
        missing = [kind.__name__ for kind in cls.needs if kind not in e.of(entity)]
        if missing:
            text = f"has {name} but no {' and no '.join(missing)}: nothing moves it"
            yield finding_about(entity, f"no_{name.lower()}", text)

    def steer(self, dt: float) -> None:
        """Set the velocities for the step of `dt` seconds that follows."""
        raise NotImplementedError

    def refuse(self, wrong: Mapping[int, Wrong]) -> None:
        """Make the coming step skip bodies and report the wrong field of each.

        Call it in each step with a wrong field, and in the one after.
        """
        parts_of(self.space).registry.refusals[self] = wrong
        self.has_refused = bool(wrong)


class Holders:
    """The entities that have some components, kept up to date by the log of their world.

    Parameters
    ----------
    world : World
    kinds : tuple of type
        The components that they have.
    without : type, optional
        A component that they have not.
    """

    def __init__(self, world: World, kinds: tuple[type, ...], without: type | None = None) -> None:
        self._world = world
        self._kinds = kinds
        self._without = without
        self._asked = kinds if without is None else (*kinds, without)
        self._known: dict[int, tuple[Any, ...]] = {}
        self._found: list[tuple[int, tuple[Any, ...]]] = []
        self._seen: Any = None

    def find(self) -> list[tuple[int, tuple[Any, ...]]]:
        """Return each entity with its components, by rising id."""
        world = self._world
        if not world.probe.is_as(self._seen):
            seen = world.probe.look(self._asked)
            noted = seen.find_noted(self._seen)
            if noted is None:
                noted = {*self._known, *world.having(self._kinds[0])}
            same, entities = [], world.entities(self._asked)
            for entity in noted:
                now = self._of(entities.get(entity, {}))
                known = self._known.pop(entity, ())
                if now:
                    self._known[entity] = now
                if len(now) == len(known) and all(map(is_, now, known)):
                    same.append(entity)
            if len(same) < len(noted):
                self._found = sorted(self._known.items(), key=itemgetter(0))
            seen.keep(same)
            self._seen = seen
        return self._found

    def _of(self, its: Mapping[type, Any]) -> tuple[Any, ...]:
        """Return the components among those of an entity; empty if one is missing."""
        if self._without in its or not all(kind in its for kind in self._kinds):
            return ()
        return tuple(its[kind] for kind in self._kinds)


STEERING: list[type[Steering]] = []
"""The subclasses whose packages are imported, by rank."""

STEERED: set[type] = set()
"""The components that make them run."""


def add_steering(kind: type[S]) -> type[S]:
    """Add a subclass, which all spaces then run, and return it; to be used as a decorator."""
    STEERED.update(kind.kinds)
    EXAMINERS[kind.kinds[0]] = kind.examine
    EXEMPT.extend(filter(moves_itself, kind.kinds))
    STEERING.append(kind)
    STEERING.sort(key=lambda each: each.rank)
    return kind
