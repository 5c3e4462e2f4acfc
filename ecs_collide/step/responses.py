"""The responses that a game registers, and the impacts that a step hands over to them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ecs_collide import _checks
from ecs_collide._kernel.constants import Has, Mark
from ecs_collide.components.basics import Disabled
from ecs_collide.esper_world import World
from ecs_collide.events import SweepKind, Vector, VectorLike
from ecs_collide.response.rules import DEFAULT, response_numbers
from ecs_collide.step.impact import Impact
from ecs_collide.step.lookup import BodyLookup, WorldLink
from ecs_collide.step.registrations import Registration, Unsubscribe, require_component_type
from ecs_collide.step.state import StepState
from ecs_collide.sync.registry import BodyRegistry

Respond = Callable[[Impact], object]
SWEEP_KINDS = tuple(SweepKind)  # by the codes of the kernels


def _documented(impact: Impact) -> None:
    """Do nothing."""


# The code of functions that return a constant and do nothing else.
_EMPTY = (_documented.__code__.co_code, (lambda impact: None).__code__.co_code)


class Offer(NamedTuple):
    """A response system as a step sees it.

    Attributes
    ----------
    respond : callable or None
        Takes the impact; returns `DEFAULT` to leave it to the next system.  None leaves all.
    kinds : tuple of type
        It is offered the impacts in which a body has one of these components; empty: all.
    system : object
        The response system.
    """

    respond: Respond | None
    kinds: tuple[type, ...]
    system: object


def handled_kinds(name: str, handles: object) -> tuple[type, ...]:
    """Return the component types that a response system handles; none for all impacts.

    Raises
    ------
    TypeError
        `handles` is neither a component type, nor a tuple of them, nor None.
    """
    if handles is None:
        return ()
    kinds = handles if isinstance(handles, tuple) else (handles,)
    if not kinds:
        raise TypeError(f"{name}.handles=() must name a component type; None for all impacts")
    for kind in kinds:
        require_component_type(f"{name}.handles", kind)
    return kinds


class _Response(Registration):
    """A custom response to the impacts of bodies with a component; `unmark` unmarks the type."""

    def __init__(self, function: Respond, world: World | None, unmark: Unsubscribe) -> None:
        super().__init__(function, world)
        self.unmark = unmark


class Responses:
    """The response systems and functions of a game, and the impact that they may resolve."""

    def __init__(
        self,
        state: StepState,
        link: WorldLink,
        registry: BodyRegistry,
        lookup: BodyLookup,
        errors: list[Exception],
    ) -> None:
        self._state = state
        self._link = link
        self._registry = registry
        self._lookup = lookup
        self._offers: Sequence[Offer] = ()  # of the last step or the one under way, in order
        self._impact: Impact | None = None
        self._rows: tuple[int, int] = (-1, -1)  # of its bodies
        self._errors = errors  # of the step
        self._responses: dict[type, _Response] = {}
        self._counts: Counter[tuple[type, int]] = Counter()
        self._handled: dict[type, Unsubscribe] = {}  # the functions that remove `handle`'s marks
        self._is_offering = False  # whether one of the offers has a response
        # of the step `_moment`: the bodies of each type with a function, by row, and the function
        self._held: list[tuple[Sequence[Any], Respond]] = []
        self._moment: object = None

    # -- registration --

    def respond_with(self, component: type, respond: Respond) -> Unsubscribe:
        """Resolve the impacts of all bodies with a component by a function; return its removal."""
        require_component_type("component", component)
        if not callable(respond):
            raise TypeError(f"respond={respond!r} must be a function that takes an Impact")
        world, known = self._link.attached, self._responses.get(component)
        if known is None:
            unmark = self._mark(component, Has.CUSTOM, Mark.HANDED)
            known = self._responses[component] = _Response(respond, world, unmark)
        elif known.is_replaced_by(respond, world):
            known = self._responses[component] = _Response(respond, world, known.unmark)
        elif not known.is_of(respond):
            name = component.__name__
            raise ValueError(
                f"respond_with({name}, {respond!r}): {known.function!r} resolves for {name} "
                "already; call what respond_with() returned for it first"
            )
        known.renew(world)
        self._moment = None

        def remove() -> None:
            if self._responses.get(component) is known:
                del self._responses[component]
                self._moment = None
                known.unmark()

        return remove

    def make_dynamic(self, component: type) -> Unsubscribe:
        """Make all bodies with a component dynamic; return a function that undoes it."""
        require_component_type("component", component)
        return self._mark(component, Has.CUSTOM)

    def handle(self, kinds: Iterable[type]) -> None:
        """Hand over the impacts of bodies with these components, and no others, from now on."""
        handled = frozenset(kinds)
        if handled == self._handled.keys():
            return
        for kind in self._handled.keys() - handled:
            self._handled.pop(kind)()
        for kind in handled - self._handled.keys():
            self._handled[kind] = self._mark(kind, Mark.HANDED)

    def _mark(self, kind: type, *marks: int) -> Unsubscribe:
        """Mark a type; return a function that undoes it once.

        A type may get the same mark several times, and keeps it until all are undone.
        """
        for mark in marks:
            self._counts[kind, mark] += 1
            if self._counts[kind, mark] == 1:
                self._registry.index.watch(kind, mark)
        given = [*marks]

        def remove() -> None:
            while given:
                mark = given.pop()
                self._counts[kind, mark] -= 1
                if self._counts[kind, mark] == 0:
                    self._registry.index.unwatch(kind, mark)

        return remove

    # -- offers --

    def want_all(self) -> bool:
        """Return whether a system must be offered impacts of bodies that are not marked."""
        for respond, kinds, _ in self._offers:  # a generator would cost each step more
            if respond is not None and not self._are_marked(kinds):
                return True
        return False

    def _are_marked(self, kinds: tuple[type, ...]) -> bool:
        """Return whether the impacts of bodies with these components are handed over."""
        return bool(kinds) and all(self._counts[kind, Mark.HANDED] for kind in kinds)

    def require_offered(self, system: object) -> None:
        """Raise RuntimeError unless the impacts of this step were offered to a response system."""
        if not any(offer.system is system for offer in self._offers):
            who = "resolve_impacts()" if system is None else type(system).__name__
            raise RuntimeError(
                f"{who} was run when all impacts of the step were resolved, and it was offered "
                "none of them: add each response system with esper.add_processor()"
            )

    def _systems_for(self, impact: Impact) -> Iterator[Respond]:
        """Yield in order the functions of the response systems that handle an impact."""
        for respond, kinds, _ in self._offers:
            if respond is not None and (not kinds or self._has_any(impact, kinds)):
                yield respond

    def _has_any(self, impact: Impact, kinds: tuple[type, ...]) -> bool:
        """Return whether a body of an impact has one of some components."""
        pair = impact.first, impact.second
        if not self._are_marked(kinds):  # the index does not know which bodies have them
            find = self._link.world.component
            return any(find(entity, kind) is not None for entity in pair for kind in kinds)
        rows = [self._registry.row_of[entity] for entity in pair]
        return any(
            self._registry.index.holder(kind, row) is not None for row in rows for kind in kinds
        )

    def _functions_for(self, rows: tuple[int, int]) -> Iterable[Respond]:
        """Return the functions for the components of two bodies, each once, in order."""
        if self._moment is not self._state.moment:
            self._moment = self._state.moment
            known = [(self._registry.index.holders(k), r) for k, r in self._responses.items()]
            self._held = [(items, response.function) for items, response in known if items]
        return {
            function: None for row in rows for items, function in self._held
            if items[row] is not None
        }  # fmt: skip

    def offered_to(self, first: int, second: int) -> list[str]:
        """Return the names of the systems and functions that get impacts of two bodies, in order.

        They follow from the response systems of the last step and the present components.
        """
        find = self._link.world.component

        def is_on_one(kinds: Sequence[type]) -> bool:
            return any(find(e, kind) is not None for e in (first, second) for kind in kinds)

        names = [
            type(offer.system).__name__
            for offer in self._offers
            if offer.respond is not None and (not offer.kinds or is_on_one(offer.kinds))
        ]
        functions = [each.function for kind, each in self._responses.items() if is_on_one([kind])]
        return names + [getattr(each, "__name__", repr(each)) for each in functions]

    def empty(self) -> list[type]:
        """Return the types of components whose function does nothing, by its code."""
        code = [getattr(each.function, "__code__", None) for each in self._responses.values()]
        return [
            kind
            for kind, each in zip(self._responses, code, strict=True)
            if each is not None and each.co_code in _EMPTY
        ]

    # -- the open impact --

    def offer_to(self, offers: Sequence[Offer]) -> bool:
        """Offer impacts to these systems from now on; return whether one of them has a response."""
        self._offers = offers
        self._is_offering = any(respond is not None for respond, _, _ in offers)
        return self._is_offering

    def resolve_one(self) -> None:
        """Resolve the impact that the timeline has handed over."""
        world = self._link.world
        self.conclude(self._offer(self._make_impact(), world), world)

    def _make_impact(self) -> Impact:
        """Return the object for the impact that the timeline has handed over."""
        timeline, registry = self._state.timeline, self._registry
        time, exit, first, second, normal, kind, speed, place, other, *_ = (
            timeline.event_buffer.collision_row(timeline.loop.event)
        )
        row_of = registry.row_of
        self._rows = rows = row_of[first], row_of[second]
        registry.impact_bodies.write(rows)
        self._impact = impact = Impact(
            self, time, exit, first, second, normal, SWEEP_KINDS[kind], speed, place, other
        )
        return impact

    def _call(self, respond: Respond, impact: Impact, world: World) -> object:
        """Call a custom response; if it fails, return `DEFAULT`."""
        try:
            returned = respond(impact)
        except MemoryError:
            raise
        except Exception as error:
            self._errors.append(error)
            returned = DEFAULT
        if world.come_back() is not None:
            self._errors.append(
                RuntimeError(
                    f"a response left {world} in the middle of a step, and was brought back: "
                    "switch worlds in a handler or between steps"
                )
            )
        return returned

    def _are_alive(self, impact: Impact, world: World) -> bool:
        """Return whether the bodies of the open impact are still those of the step, and enabled."""
        bodies = self._registry.impact_bodies
        return bodies.are_same(world) or all(
            world.exists(entity) and bodies.is_body(entity, world)
            for entity in (impact.first, impact.second)
        )

    def _offer(self, impact: Impact, world: World) -> bool:
        """Offer an impact to the response systems in order, then to the registered functions.

        Return whether the built-in response is wanted.
        """
        if not self._are_alive(impact, world):
            return False
        for respond in self._systems_for(impact) if self._is_offering else ():
            if self._call(respond, impact, world) is not DEFAULT or impact.is_decided:
                return False
            if not self._are_alive(impact, world):
                return False
        default, is_first = True, True
        for function in self._functions_for(self._rows):
            if not (is_first or self._are_alive(impact, world)):
                break
            impact.was_decided = not is_first and impact.is_decided
            default = self._call(function, impact, world) is DEFAULT and default
            is_first = False
        return default

    def drop_impact(self) -> None:
        """End the open impact, if there is one, without a resolution."""
        impact, self._impact = self._impact, None
        if impact is not None:
            impact.end(self.velocity_of(impact.first), self.velocity_of(impact.second))

    def conclude(self, default: bool, world: World) -> None:
        """End the open impact; with `default`, by the built-in response."""
        impact = self._impact
        assert impact is not None
        registry, rows = self._registry, self._rows
        bodies = registry.impact_bodies
        is_same = bodies.are_same(world)
        if not (is_same and bodies.are_unchanged(rows)):
            self._read_changes(impact, world)
        if registry.sweeps or not (is_same or self._are_alive(impact, world)):
            self.drop_impact()
        else:
            self._impact = None
            velocity_of = registry.table.bodies.seen_velocity_of
            impact.end(velocity_of(rows[0]), velocity_of(rows[1]))
        loop = self._state.timeline.loop
        if impact.crosses is not None:
            loop.cross_pending(impact.crosses == "until_separate")
        else:
            is_resolved = impact.is_resolved
            loop.conclude_pending(default and not is_resolved, is_resolved)

    def _read_changes(self, impact: Impact, world: World) -> None:
        """Read what the game has changed about the two bodies of an impact."""
        loop, bodies = self._state.timeline.loop, self._registry.impact_bodies
        are_same = bodies.are_same(world)
        for entity, row in zip((impact.first, impact.second), self._rows, strict=True):
            if not (are_same or world.exists(entity)):
                loop.withdraw(row)
                loop.stop(row)  # esper lists it, and the game draws it, until the next step
                continue
            try:
                if not bodies.read(row, world):
                    loop.withdraw(row)
                    if world.component(entity, Disabled) is not None:
                        loop.stop(row)
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                self._errors.append(self._registry.error_of(entity, error))

    def resolve_pending(self, impact: Impact, response: object = None) -> None:
        """Resolve the open impact by a response component or, with None, by its bodies' own."""
        numbers = (0, 0.0) if response is None else response_numbers(response)
        self._read_changes(impact, self._link.world)
        self._state.timeline.loop.resolve_pending(*numbers)
        self._registry.impact_bodies.write(self._rows)

    def position_of(self, entity: int) -> Vector:
        """Return a body's centre: now within a step, or at the end of the last one."""
        row = self._row_in_step(entity)
        if row < 0:
            return tuple(self._lookup.new_body(entity).centre)
        if not self._state.is_stepping:  # the kernel is still at the time of the last impact
            seen: Vector = self._registry.table.bodies.seen_centre_of(row)
            return seen
        place: Vector = self._state.timeline.loop.place_now(row)
        return place

    def velocity_of(self, entity: int) -> Vector:
        """Return a body's velocity now; zeros if it has none."""
        row = self._row_in_step(entity)
        if self._registry.sweeps and self._state.is_stepping and row >= 0:
            velocity: Vector = self._state.timeline.loop.velocity_now(row)
            return velocity
        component = self._link.world.component(entity, self._registry.components.velocity.kind)
        return (
            (0.0,) * self._state.dim
            if component is None
            else self._registry.units.velocity_of(component)
        )

    def _row_in_step(self, entity: int) -> int:
        """Return the row of a body of the step under way, otherwise as `BodyLookup.row`."""
        row = self._registry.row_of.get(entity) if self._state.is_stepping else None
        return self._lookup.row(entity) if row is None else row

    def write_velocity(self, entity: int, velocity: VectorLike) -> None:
        """Write a body's velocity into its component."""
        kind = self._registry.components.velocity.kind
        component = self._link.world.component(entity, kind)
        row = self._row_in_step(entity) if self._registry.sweeps else -1
        if component is None and row < 0:
            raise ValueError(f"entity {entity} has no {kind.__name__} to set")
        numbers = _checks.vectors("velocity", velocity)
        if numbers.shape != (self._state.dim,):
            raise ValueError(f"velocity={velocity!r} must be {self._state.dim} numbers")
        if row < 0:
            self._registry.units.set_velocity(component, numbers.tolist())
            return
        for k, value in enumerate(numbers.tolist()):
            self._state.timeline.loop.set_velocity(row, k, value)
