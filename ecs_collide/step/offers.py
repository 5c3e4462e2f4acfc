"""Response systems that are offered the impacts of a step, and the components they handle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ecs_collide.constants import CUSTOM, HANDED
from ecs_collide.esper_world import World
from ecs_collide.step.impact import Impact
from ecs_collide.step.lookup import WorldLink
from ecs_collide.step.registrations import Registration, Unsubscribe, require_component_type
from ecs_collide.sync.registry import BodyRegistry

Respond = Callable[[Impact], object]


class Offer(NamedTuple):
    """A response system as a step sees it.

    Attributes
    ----------
    respond : callable or None
        Takes the impact; returns `DEFAULT` to leave it to the next one.  None leaves all.
    kinds : tuple of type
        It is offered the impacts in which a body has one of these components; empty: all.
    system : object
        Whose it is.
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
    """A game's own response to the impacts of bodies with a component, and what unmarks these."""

    def __init__(self, function: Respond, world: World | None, unmark: Unsubscribe) -> None:
        super().__init__(function, world)
        self.unmark = unmark


class Responses:
    """The response systems and functions of a game, and the component types that matter to them.

    Attributes
    ----------
    offers : sequence of Offer
        The response systems of the last step or the one under way, in order.
    """

    def __init__(self, link: WorldLink, registry: BodyRegistry) -> None:
        self._link = link
        self._registry = registry
        self.offers: Sequence[Offer] = ()
        self._responses: dict[type, _Response] = {}
        self._counts: Counter[tuple[type, int]] = Counter()

    # -- what a game registers --

    def respond_with(self, component: type, respond: Respond) -> Unsubscribe:
        """Let a function answer the impacts of all bodies that have a component."""
        require_component_type("component", component)
        if not callable(respond):
            raise TypeError(f"respond={respond!r} must be a function that takes an Impact")
        world, known = self._link.attached, self._responses.get(component)
        if known is None:
            unmark = self._mark(component, CUSTOM, HANDED)
            known = self._responses[component] = _Response(respond, world, unmark)
        elif known.is_replaced_by(respond, world):
            known = self._responses[component] = _Response(respond, world, known.unmark)
        elif not known.is_of(respond):
            name = component.__name__
            raise ValueError(
                f"respond_with({name}, {respond!r}): {known.function!r} answers for {name} "
                "already; call what respond_with() returned for it first"
            )
        known.renew(world)

        def remove() -> None:
            if self._responses.get(component) is known:
                del self._responses[component]
                known.unmark()

        return remove

    def yield_with(self, component: type) -> Unsubscribe:
        """Let all bodies that have a component yield; return what takes that back."""
        require_component_type("component", component)
        return self._mark(component, CUSTOM)

    def hand_over(self, kinds: Iterable[type]) -> None:
        """Hand the impacts of bodies with these components over from the next step on."""
        for kind in kinds:
            if not self._counts[kind, HANDED]:
                self._mark(kind, HANDED)

    def _mark(self, kind: type, *marks: int) -> Unsubscribe:
        """Mark a type; return what takes that back, and does nothing the second time.

        A type may have the same mark for several reasons: it has it until each is taken back.
        """
        for mark in marks:
            self._counts[kind, mark] += 1
            if self._counts[kind, mark] == 1:
                self._registry.watch(kind, mark)
        given = [*marks]

        def remove() -> None:
            while given:
                mark = given.pop()
                self._counts[kind, mark] -= 1
                if self._counts[kind, mark] == 0:
                    self._registry.unwatch(kind, mark)

        return remove

    # -- offers --

    @property
    def want_all(self) -> bool:
        """Whether a system has to be offered impacts of bodies that are not marked."""
        for respond, kinds, _ in self.offers:  # a generator would cost each step more than this
            if respond is not None and not self._are_marked(kinds):
                return True
        return False

    def _are_marked(self, kinds: tuple[type, ...]) -> bool:
        """Return whether the impacts of bodies with these components are handed over."""
        return bool(kinds) and all(self._counts[kind, HANDED] for kind in kinds)

    def require_offered(self, system: object) -> None:
        """Raise RuntimeError unless a response system is among those of this step."""
        if not any(offer.system is system for offer in self.offers):
            who = "answer_impacts()" if system is None else type(system).__name__
            raise RuntimeError(
                f"{who} was run when all impacts of the step were answered, and it was offered "
                "none of them: add each response system with esper.add_processor()"
            )

    def systems_for(self, impact: Impact) -> Iterator[Respond]:
        """Yield in order what the response systems answer an impact with that they handle."""
        for respond, kinds, _ in self.offers:
            if respond is not None and (not kinds or self._has_any(impact, kinds)):
                yield respond

    def _has_any(self, impact: Impact, kinds: tuple[type, ...]) -> bool:
        """Return whether a body of an impact has one of some components."""
        pair = impact.first, impact.second
        if not self._are_marked(kinds):  # then nobody has noted who has them
            find = self._link.world.component
            return any(find(entity, kind) is not None for entity in pair for kind in kinds)
        rows = [self._registry.row_of[entity] for entity in pair]
        return any(self._registry.holder(kind, row) is not None for row in rows for kind in kinds)

    def functions_for(self, impact: Impact) -> list[Respond]:
        """Return the functions for the components of an impact's bodies, each once, in order."""
        functions: dict[Respond, None] = {}
        for entity in (impact.first, impact.second):
            for kind, solver in self._responses.items():
                if self._registry.holder(kind, self._registry.row_of[entity]) is not None:
                    functions[solver.function] = None
        return list(functions)

    def offered_to(self, first: int, second: int) -> list[str]:
        """Return the names of what the impacts of two bodies are offered to, in order.

        Response systems are those of the last step, and components those that the two have now.
        """
        find = self._link.world.component

        def is_on_one(kinds: Sequence[type]) -> bool:
            return any(find(e, kind) is not None for e in (first, second) for kind in kinds)

        names = [
            type(offer.system).__name__
            for offer in self.offers
            if offer.respond is not None and (not offer.kinds or is_on_one(offer.kinds))
        ]
        functions = [each.function for kind, each in self._responses.items() if is_on_one([kind])]
        return names + [getattr(each, "__name__", repr(each)) for each in functions]
