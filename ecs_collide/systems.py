"""The four systems, in their order, and `install`, which adds them to the current world."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, ClassVar, TypedDict, Unpack

import esper

from ecs_collide.components.base import copy_methods
from ecs_collide.components.component_map import Components
from ecs_collide.esper_world import World, require_order
from ecs_collide.events import VectorLike
from ecs_collide.response.rules import DEFAULT
from ecs_collide.space import Space, parts_of
from ecs_collide.steering import STEERED, STEERING, Steering
from ecs_collide.step.impact import Impact
from ecs_collide.step.registrations import code_of
from ecs_collide.step.responses import Offer, handled_kinds
from ecs_collide.step.step_time import TimeSource, checked_source, seconds_of


class _System(esper.Processor):
    """The base of the four systems, which work on one space."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if _System in cls.__bases__ and "__init__" not in vars(cls):
            copy_methods(cls, _System, "__init__")

    def __init__(self, space: Space) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"{type(self).__name__}(space={space!r}) must be given a Space")
        world = World(SYSTEMS)
        rivals = world.rivals(space)
        if rivals:
            raise ValueError(
                f"{type(self).__name__}(space={space!r}): {world} has the systems of {rivals[0]} "
                "already, and two spaces would move every body twice: use that space, or remove "
                "its systems with esper.remove_processor() first"
            )
        self.space = space
        space.attach(world)


def _is_in_place(system: _System, running: Sequence[_System]) -> bool:
    """Return whether a response system runs after the narrowphase and before the motion."""
    place = next(n for n, other in enumerate(running) if other is system)
    after = any(isinstance(other, NarrowphaseSystem) for other in running[:place])
    return after and any(isinstance(other, MotionSystem) for other in running[place:])


class BroadphaseSystem(_System):
    """Steer characters and bodies on paths, read the components, and find the pairs that may meet.

    The first of the four.
    """

    _checked: Sequence[object] = ()  # the processors for which the next one is known
    _handled: frozenset[type] = frozenset()  # the components that response systems handle

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        # These set velocities before a step, from the first step with one of their components.
        self.steering: dict[type[Steering], Steering] = {}

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Begin a step of the seconds given to ``esper.process(dt)``, 1 by default; see `install`.

        Raises
        ------
        RuntimeError
            The world also runs the systems of another space; see also `Space.update_bounds`.
        """
        running: Any = getattr(esper, "_processors", None)
        if running is None or running != self._checked:  # by identity: it compares some pointers
            self._require_sole()
            self._handled = self._find_handled()
            self._checked = list(running or ())
        dt = self.space.step_time.begin_step(args, kwargs)
        if STEERED and (
            self.steering or not STEERED.isdisjoint(getattr(esper, "_components", STEERED))
        ):
            self._steer(seconds_of(dt))
        self.space.update_bounds(dt, self._handled, sys._getframe(1))

    def _steer(self, dt: float) -> None:
        """Set the velocities of bodies that components of the library lead, such as `Path`."""
        if not 0.0 <= dt < math.inf:
            return  # the step refuses it
        self.space.world.require_current()
        for kind in STEERING:
            steering = self.steering.get(kind)
            if steering is None:
                if not (self.space.world.has_any(kind.kinds) and kind.fits(self.space)):
                    continue
                steering = self.steering[kind] = kind(self.space)
            steering.steer(dt)

    def _require_sole(self) -> None:
        """Raise RuntimeError if the processors of this world would do a step twice."""
        world = self.space.world
        rivals = world.rivals(self.space)
        if rivals:
            raise RuntimeError(
                f"{world} has the systems of {self.space!r} and of {rivals[0]}, which would move "
                "every body twice: remove those of one space with esper.remove_processor()"
            )

    def _find_handled(self) -> frozenset[type]:
        """Return the components that the response systems of this space handle."""
        return frozenset(
            kind
            for system in self.space.world.running()
            if isinstance(system, ResponseSystem) and system.space is self.space
            for kind in handled_kinds(type(system).__name__, system.handles)
        )


class NarrowphaseSystem(_System):
    """Sweep every candidate pair and queue its next impact.

    It moves nothing.  Runs after `BroadphaseSystem` and before
    `ResponseSystem`, which processes the impacts in time order.
    """

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Queue the impacts of the step."""
        self.space.queue_impacts(self.space.step_time.within_step(args, kwargs))


class ResponseSystem(_System):
    """Resolve the impacts in time order, by the response components of the bodies.

    Subclass it for your own resolutions, and add it with `esper.add_processor`.  Each impact is
    offered to all subclasses in the world, by priority and then in the order in which they were
    added, until one of them resolves it.  Then it is offered to the functions of
    `Space.respond_with`, and finally the built-in response is applied.  The first response system
    that runs in a step resolves all impacts, for all of them.  Its priority must be between those
    of `NarrowphaseSystem` and `MotionSystem`; the priorities of the others need not be.

    Without any response system impacts are reported unresolved, and bodies pass through each
    other.

    Attributes
    ----------
    handles : type, tuple of types or None
        Offer only impacts in which a body has this component, or one of these, as of the
        beginning of the step; None, the default, offers all.  Other impacts cost no call.

    Examples
    --------
    A component of the game, and the system that resolves its impacts:

    >>> import ecs_collide as ec
    >>> class Ghost:
    ...     "Passes through whatever it meets."
    >>> class GhostResponse(ec.ResponseSystem):
    ...     handles = Ghost
    ...
    ...     def respond(self, impact):
    ...         impact.cross(until_separate=True)
    """

    handles: ClassVar[type | tuple[type, ...] | None] = None

    _checked: Sequence[object] = ()  # the processors for which the next two are known
    _offers: Sequence[Offer] = ()
    _is_spare = False  # another response system runs where it should

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        handled_kinds(type(self).__name__, self.handles)  # raises here, not in the first step

    def respond(self, impact: Impact) -> object:
        """Resolve one impact, or return `DEFAULT` to leave it to the next system.

        See `Space.respond_with` for what a response may do.  `Impact.cross` and
        `Impact.resolve` end the offering, whatever is returned.
        """
        return DEFAULT

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Resolve the impacts of the step.

        Raises
        ------
        TypeError
            `handles` is no component type and no tuple of them.
        """
        running: Any = getattr(esper, "_processors", None)
        if running is None or running != self._checked:  # by identity
            self._compose(self.space.world.running())
            self._checked = list(running or ())
        if not self._is_spare:
            dt = self.space.step_time.within_step(args, kwargs)
            self.space.resolve_impacts(dt, self._offers, self)

    def _compose(self, running: Sequence[_System]) -> None:
        """Find the response systems that resolve together with this one."""
        ours = [system for system in running if system.space is self.space]
        if not any(system is self for system in ours):
            ours = [self]
        together = [system for system in ours if isinstance(system, ResponseSystem)]
        self._offers = [system._offer() for system in together]
        placed = [system for system in together if _is_in_place(system, ours)]
        self._is_spare = bool(placed) and not any(system is self for system in placed)

    def _offer(self) -> Offer:
        own = type(self).respond is not ResponseSystem.respond
        kinds = handled_kinds(type(self).__name__, self.handles)
        return Offer(self.respond if own else None, kinds, self)


class MotionSystem(_System):
    """Move everything to the end of the step, write the components, deliver the events.

    The last of the four.
    """

    def process(self, *args: Any, **kwargs: Any) -> None:
        """End the step."""
        self.space.finish_step(self.space.step_time.within_step(args, kwargs))


SYSTEMS = (BroadphaseSystem, NarrowphaseSystem, ResponseSystem, MotionSystem)
"""The four, in the order in which they run."""


class _Settings(TypedDict, total=False):
    """The arguments of `Space`, as `install` takes them."""

    dim: int
    rest_speed: float
    pair_limit: int
    margin: float | None
    lookahead: float
    components: Components | None
    motion: str
    sleep: bool
    wrap: Sequence[float | None] | None
    up: VectorLike | None
    gravity: VectorLike | None


def install(
    space: Space | None = None,
    *,
    priority: float = 100,
    spacing: float = 10,
    before: type[esper.Processor] | None = None,
    after: type[esper.Processor] | None = None,
    dt: TimeSource | None = None,
    **settings: Unpack[_Settings],
) -> Space:
    """Add the four systems to the current esper world; `settings` are those of `Space`.

    Parameters
    ----------
    space : Space, optional
        The space of the systems; a new one by default.
    priority : float
        Of the last of the four.  Higher runs first, so game systems at esper's default of 0 run
        after them.
    spacing : float
        How far the priorities of two of the four are apart.  By default they are 130, 120, 110
        and 100, which leaves room for a game's systems between them.  With 0 all have the same
        priority.  esper runs processors of one priority in the order in which they were added.
    before, after : type of esper.Processor, optional
        Run the four right before, or right after, the processor of this type, which must be in the
        world; with both, right before the one of `before`.  Instead of `priority` and `spacing`.
    dt : float or callable, optional
        The time of each step in seconds, or a function that returns it, for games whose
        processors take no `dt` or take it as a later argument.  The function is called once in
        each step with all arguments of `esper.process`.  By default the time is the first of
        these arguments, or 1 if there are none.
    **settings
        All arguments of `Space`, for a new one: `dim`, `rest_speed`, `pair_limit`,
        `margin`, `lookahead`, `components`, `motion`, `sleep`, `wrap`, `up`, `gravity`.

    Returns
    -------
    Space
        A second call in the same world returns the same one.

    Raises
    ------
    ValueError
        The world has other systems already, or `space` was made with other settings; or the world
        has no processor of the type `before` or `after`, or no priority is between the two.
    TypeError
        There is no such argument.
    RuntimeError
        The call is in a processor that runs after the systems that it would add.

    Examples
    --------
    >>> space = install(up=(0, -1), rest_speed=30)
    >>> install(up=(0, -1)) is space
    True

    Processors that take other arguments, as in ``esper.process(events, dt)``:

    >>> esper.switch_world("cellar")
    >>> space = install(dt=lambda events, dt: dt)
    >>> esper.process(["a key"], 0.25)
    >>> space.time
    0.25
    """
    if space is not None and not isinstance(space, Space):
        raise TypeError(f"install(space={space!r}) must be given a Space, or None for a new one")
    for name in settings:
        if name not in _Settings.__annotations__:
            raise TypeError(
                f"install() got an unexpected argument {name!r}; it takes "
                + ", ".join([*_OF_INSTALL, *_Settings.__annotations__])
            )
    if isinstance(priority, bool) or not isinstance(priority, (int, float)):
        raise TypeError(f"install(priority={priority!r}) must be a number")
    if isinstance(spacing, bool) or not isinstance(spacing, (int, float)) or not spacing >= 0:
        raise ValueError(f"install(spacing={spacing!r}) must be a number, 0 or more")
    if before is not None or after is not None:
        if (priority, spacing) != (100, 10):
            raise TypeError("install() takes before and after, or priority and spacing, not both")
        place = _find_place(before, after)
    else:
        place = priority, spacing
    source = checked_source(dt)
    installed: Any = esper.get_processor(BroadphaseSystem)
    first: Any = None if place is None else place[0] + (len(SYSTEMS) - 1) * place[1]
    if installed is not None:
        is_same = space in (None, installed.space) and first in (None, installed.priority)
        return _same_space(installed.space, is_same, source, settings)
    require_order("install()", first)
    if space is None:
        space = Space(**settings)
    else:
        for name, value in parts_of(space).settings.differing(settings).items():
            given = dict(settings)[name]
            raise ValueError(
                f"install({name}={given!r}) must be {value!r}, the {name} of the space given"
            )
    if source is not None:
        space.step_time.source = source
    assert place is not None
    for n, system in enumerate(SYSTEMS):
        esper.add_processor(system(space), priority=first - n * place[1])
    return space


_OF_INSTALL = ("space", "priority", "spacing", "before", "after", "dt")


def _find_place(
    before: type[esper.Processor] | None, after: type[esper.Processor] | None
) -> tuple[float, float] | None:
    """Return the lowest priority of the four systems, and how far they are apart.

    None if they are there already.
    """
    low, high = _priority_of("before", before), _priority_of("after", after)
    room = len(SYSTEMS) + 1
    if before is not None and after is not None and not low < high:
        raise ValueError(
            f"install(before={before.__name__}, after={after.__name__}): their priorities are "
            f"{low} and {high}, and esper runs higher ones first: add {after.__name__} with a "
            "higher priority; or, if both have the same, call install(priority=..., spacing=0) "
            "with that priority between the two calls of add_processor()"
        )
    own = [each.priority for each in map(esper.get_processor, SYSTEMS) if each is not None]
    if own and low < min(own) and max(own) < high:
        return None
    listed: Any = getattr(esper, "_processors", ())
    others = [each.priority for each in listed if not isinstance(each, SYSTEMS)]
    if before is None:
        low = max((each for each in others if each < high), default=high - room)
    high = min((each for each in others if each > low), default=low + room)
    spacing = (high - low) / room
    return low + spacing, spacing


def _priority_of(name: str, kind: type[esper.Processor] | None) -> float:
    """Return the priority of the processor of a type; without one, below or above all."""
    if kind is None:
        return -math.inf if name == "before" else math.inf
    if not (isinstance(kind, type) and issubclass(kind, esper.Processor)):
        raise TypeError(f"install({name}={kind!r}) must be a type of esper.Processor")
    found: Any = esper.get_processor(kind)
    if found is None:
        raise ValueError(
            f"install({name}={kind.__name__}): the world {esper.current_world!r} has no such "
            "processor: add it before the call of install()"
        )
    priority: float = found.priority
    return priority


def _same_space(
    known: Space, is_same: bool, source: TimeSource | None, settings: _Settings
) -> Space:
    """Return the space that is installed, or raise ValueError if it has other arguments."""
    otherwise = parts_of(known).settings.differing(settings)
    timed = known.step_time.source
    again = code_of(source) is not None and code_of(source) is code_of(timed)
    if source not in (None, timed) and not again:
        otherwise["dt"] = timed
    if otherwise or not is_same:
        named = otherwise.items() if is_same else ()
        made = "".join(f", {name}={value!r}" for name, value in named)
        raise ValueError(
            f"the world {esper.current_world!r} has {known!r} installed already, with other "
            f"arguments{made}: use that space, which install() with the same arguments "
            "returns; or make room for another one, by esper.clear_database() and "
            "esper.remove_processor() of its systems, or in another world by "
            "esper.switch_world()"
        )
    if again:  # the same definition, in a level that is built again
        known.step_time.source = source
    return known
