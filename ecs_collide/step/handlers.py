"""The handlers of events, and the delivery of events to them."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import ENDED
from ecs_collide.esper_world import World
from ecs_collide.events import (
    COLLISION,
    CONTACT,
    CONTACT_BEGAN,
    CONTACT_ENDED,
    Collision,
    Contact,
    ContactBegan,
    ContactEnded,
    ContactKind,
    EndReason,
    EventSequence,
)
from ecs_collide.step.entity_types import EntityTypes, Indices, order_of
from ecs_collide.step.events_of_step import StepEvents, kinds_shown
from ecs_collide.step.registrations import Kinds, Registration, Registrations, Unsubscribe
from ecs_collide.step.state import StepState
from ecs_collide.sync.registry import BodyRegistry

OpenContacts = dict[tuple[int, int], list[int]]
Altered = tuple[str, str, int, int, tuple[int, ...]]  # names of types, entities, orders
Plan = list[tuple[Registration, Any]]
Touching = Callable[[Indices, Indices], Iterable[Contact]]

_ALL = slice(None)
_ANY: Kinds = (None, None)
CHANGES = CONTACT_BEGAN, CONTACT_ENDED
EVENT_NAMES = COLLISION, CONTACT_BEGAN, CONTACT_ENDED, CONTACT
_NAME_OF: dict[type, str] = {ContactBegan: CONTACT_BEGAN, ContactEnded: CONTACT_ENDED}
_REGISTERED_BY = {
    COLLISION: "on_collision",
    CONTACT_BEGAN: "on_contact_began",
    CONTACT_ENDED: "on_contact_ended",
    CONTACT: "on_contact",
}


def collisions_between(
    world: World, array: NDArray[np.void], first_kind: type, second_kind: type
) -> list[Collision]:
    """Return the collisions of an array between bodies that now have the two component types.

    `first` is the body with `first_kind`, as in a handler with these types.
    """
    having = world.having(first_kind), world.having(second_kind)
    pairs = zip(array["first"].tolist(), array["second"].tolist(), strict=True)
    orders = [order_of(*pair, *having) for pair in pairs]
    rows = [n for n, order in enumerate(orders) if order is not None]
    events = EventSequence(array[rows], Collision.from_row)
    return [event.swapped() if orders[n] else event for n, event in zip(rows, events, strict=True)]


class Handler(NamedTuple):
    """A function that a space calls for its events; `str` of it is the call that registered it.

    Attributes
    ----------
    event : str
        Which events: `COLLISION`, `CONTACT_BEGAN`, `CONTACT_ENDED` or `CONTACT`.
    function : callable
        Takes the event.
    first_kind, second_kind : type or None
        Only events between bodies with these components, in this order; None for all.
    """

    event: str
    function: Callable[[Any], object]
    first_kind: type | None
    second_kind: type | None

    def __str__(self) -> str:
        name = getattr(self.function, "__qualname__", None) or repr(self.function)
        kinds = [self.first_kind, self.second_kind]
        while kinds and kinds[-1] is None:
            kinds.pop()
        given = [name, *("None" if kind is None else kind.__name__ for kind in kinds)]
        return f"{_REGISTERED_BY[self.event]}({', '.join(given)})"


class Subscribers:
    """The handlers of a space, called in the order in which they were registered.

    A typed handler of ends is called if the bodies had these types when the contact began, so the
    open contacts of such types are stored.

    Attributes
    ----------
    registrations : Registrations
        Empty if nobody wants events.
    open : dict
        By types and then by the entities of a pair, a list with a number for each open contact,
        the oldest first.  It is 1 if the first body has the second type, 0 if it has the first.
    """

    def __init__(self, state: StepState, registry: BodyRegistry) -> None:
        self._state = state
        self._registry = registry
        self.registrations = Registrations()
        self._types = EntityTypes()
        self.open: dict[Kinds, OpenContacts] = {}
        self._follow(None)

    @property
    def all(self) -> list[Handler]:
        """The handlers in the order in which they are called."""
        return [Handler(own.event, own.function, *own.kinds) for own in self.registrations]

    def clear(self) -> None:
        """Remove all handlers."""
        self.registrations.clear()
        self._follow(None)

    def add(
        self,
        world: World | None,
        name: str,
        function: Callable[[Any], object],
        first_kind: type | None,
        second_kind: type | None,
    ) -> Unsubscribe:
        """Call a function for each event of a name; return a function that removes it."""
        if not callable(function):
            raise TypeError(f"{function!r} must be a function that takes one event")
        registration = self.registrations.add(world, function, (first_kind, second_kind), name)
        self._follow(world)

        def remove() -> None:
            self.registrations.remove(registration)
            self._follow(None)

        return remove

    def _follow(self, world: World | None) -> None:
        """Follow the types and the open contacts that the present handlers need, and no others."""
        self._of = {
            name: [own for own in self.registrations if own.event == name] for name in EVENT_NAMES
        }
        self._kinds = {
            name: tuple(dict.fromkeys(own.kinds for own in owners))
            for name, owners in self._of.items()
        }
        kinds = {kind for own in self.registrations for kind in own.kinds if kind is not None}
        self._types.follow(kinds)
        known = self.open
        new = [ends for ends in self._kinds[CONTACT_ENDED] if ends not in known and ends != _ANY]
        self.open = {ends: known[ends] for ends in self._kinds[CONTACT_ENDED] if ends in known}
        self.open |= {ends: {} for ends in new}
        # If the world was cleared since, the present contacts are between deleted entities.
        if new and world is not None and world.generation() is self._state.generation:
            self._types.look(world, keeps_deleted=self._state.is_stepping)
            self.open |= {ends: self._find_open(ends) for ends in new}

    # -- open contacts for typed handlers of ends --

    def _find_open(self, kinds: Kinds) -> OpenContacts:
        """Return the present contacts between bodies that now have these types."""
        contacts, ids, types = self._state.timeline.contacts, self._registry.table.ids, self._types
        selected = types.select_contacts(contacts, self._registry, types.wanted((kinds,)))
        rows = np.asarray(contacts.rows.arrays()[0])[selected]
        reported = rows[kinds_shown(rows) < len(ContactKind), :2]
        found: OpenContacts = {}
        for first, second in ids[reported].tolist():
            order = types.order_of(first, second, kinds)
            if order is not None:
                found.setdefault((first, second), []).append(order)
        return found

    def altered(self, world: World) -> list[Altered]:
        """Return the open contacts that the present contacts and types do not give, for a snapshot.

        Among them are contacts that have ended since the last step.
        """
        if not self.open:
            return []
        self._types.look(world, keeps_deleted=False)
        dead = world.dead()  # entities that no snapshot holds
        found: list[Altered] = []
        for kinds, contacts in self.open.items():
            now = self._find_open(kinds)
            if dead:
                now = {pair: now[pair] for pair in now if not any(each in dead for each in pair)}
            if now == contacts:
                continue
            found += [
                (_name_of(kinds[0]), _name_of(kinds[1]), *pair, tuple(contacts.get(pair, ())))
                for pair in contacts.keys() | now.keys()
                if contacts.get(pair) != now.get(pair)
            ]
        return sorted(found)

    def resume(self, world: World, altered: Iterable[Altered]) -> None:
        """Restore the open contacts, given the result of `altered`."""
        self._state.generation = world.generation()
        if not self.open:
            return
        self._types.look(world, keeps_deleted=False)
        self.open = {kinds: self._find_open(kinds) for kinds in self.open}
        by_names = {(_name_of(one), _name_of(other)): (one, other) for one, other in self.open}
        for first_name, second_name, first, second, orders in altered:
            kinds = by_names.get((first_name, second_name))
            if kinds is not None:
                self.open[kinds].pop((first, second), None)
                if orders:
                    self.open[kinds][first, second] = list(orders)

    # -- delivery --

    def begin_step(self, world: World) -> None:
        """Note the types of the entities of the world that typed handlers ask for."""
        self._types.look(world, keeps_deleted=False)

    def deliver(self, world: World, touching: Touching) -> list[Exception]:
        """Deliver the events of a step to the functions in order, then to esper's handlers.

        An exception does not stop the delivery; all exceptions are returned.  If a function makes
        another world current, the next ones still run in this one, and the other one is current in
        the end.  Delivery stops if the world is cleared or deleted or the space restored, because
        other entities may then have the ids in these events.  For that reason the end of a contact of a world that was cleared is
        not delivered if one of its ids is in use again.

        Parameters
        ----------
        touching : callable
            Returns contacts of the step, given indices into the contacts of the kernel and into
            `StepEvents.contacts_began`.
        """
        state, generation = self._state, self._state.generation
        events, moment = state.events, state.moment
        errors: list[Exception] = []
        handlers_of = world.handlers()
        if events.log is None and not (self._of[CONTACT] or handlers_of(CONTACT)):
            return errors

        is_as_before = world.probe.is_as_before

        chosen = None

        def is_over() -> bool:
            nonlocal chosen
            if state.moment is moment and (
                is_as_before(generation) or world.generation() is generation
            ):
                chosen = world.come_back() or chosen
                return False
            return True

        def call(function: Callable[[Any], object], event: Any) -> None:
            try:
                function(event)
            except Exception as error:
                errors.append(error)

        plan = self._plan(world, events, touching) if self.registrations else []
        for own, event in plan:
            if is_over():
                return errors
            if own in self.registrations:
                call(own.function, event)

        if is_over():
            return errors
        for name, event in self._named_for_esper(world, events, handlers_of, touching):
            for handler in handlers_of(name):
                call(handler, event)
                if is_over():
                    return errors
        if chosen is not None:
            world.leave_for(chosen)
        return errors

    def _named_for_esper(
        self,
        world: World,
        events: StepEvents,
        handlers_of: Callable[[str], Any],
        touching: Touching,
    ) -> Iterator[tuple[str, Any]]:
        """Yield the names and events of a step that esper's handlers may want, in order."""
        if handlers_of(COLLISION):
            yield from ((COLLISION, event) for event in events.each_collision(None))
        if handlers_of(CONTACT_BEGAN) or handlers_of(CONTACT_ENDED):
            for event in events.each_change():
                if isinstance(event, ContactBegan) or not _names_others(world, event):
                    yield _NAME_OF[type(event)], event
        if handlers_of(CONTACT):
            yield from ((CONTACT, contact) for contact in touching(_ALL, _ALL))

    def _plan(self, world: World, events: StepEvents, touching: Touching) -> Plan:
        """Return which functions to call for which events; none has been called yet."""
        types, plan = self._types, Plan()
        types.look(world, keeps_deleted=True)
        if self._of[COLLISION]:
            wanted = types.wanted(self._kinds[COLLISION])
            some = None
            if wanted is not None:
                some = types.select(events.collision_array, wanted) if len(wanted) else ()
            for collision in events.each_collision(some):
                self._offer(collision, plan, COLLISION)
        if self._of[CONTACT_BEGAN] or self._of[CONTACT_ENDED]:
            for event in events.each_change(self._find_wanted(events)):
                if isinstance(event, ContactBegan):
                    self._offer(event, plan, CONTACT_BEGAN)
                    self._note_begin(event)
                else:
                    self._offer_end(world, event, plan)
        if self._of[CONTACT]:
            wanted = types.wanted(self._kinds[CONTACT])
            contacts = self._state.timeline.contacts
            present = types.select_contacts(contacts, self._registry, wanted)
            began = types.select(events.contacts_began.array, wanted)
            if any(isinstance(rows, slice) or len(rows) for rows in (present, began)):
                for contact in touching(present, began):
                    self._offer(contact, plan, CONTACT)
        return plan

    def _offer(self, event: Any, plan: Plan, name: str) -> None:
        """Plan the calls of the functions that want an event by the types of its bodies."""
        for own in self._of[name]:
            if own.kinds == _ANY:
                plan.append((own, event))
                continue
            order = self._types.order_of(event.first, event.second, own.kinds)
            if order is not None:
                plan.append((own, event.swapped() if order else event))

    def _note_begin(self, event: ContactBegan) -> None:
        """Note that a contact is open, for the functions that want its end."""
        pair = event.first, event.second
        for kinds in self.open:  # where items() has no memory, CPython crashes
            order = self._types.order_of(*pair, kinds)
            if order is not None:
                self.open[kinds].setdefault(pair, []).append(order)

    def _offer_end(self, world: World, event: ContactEnded, plan: Plan) -> None:
        """Plan the calls of the functions that want an end, and remove the open contact."""
        pair = event.first, event.second
        orders: dict[Kinds, int] = {_ANY: 0}
        for kinds, contacts in self.open.items():
            if pair in contacts:
                orders[kinds] = contacts[pair].pop(0)
                if not contacts[pair]:
                    del contacts[pair]
        if _names_others(world, event):
            return
        for own in self._of[CONTACT_ENDED]:
            if own.kinds in orders:
                plan.append((own, event.swapped() if orders[own.kinds] else event))

    def _find_wanted(self, events: StepEvents) -> NDArray[np.bool_] | None:
        """Return by index which begins and ends some function wants; None if none names a type."""
        if not any(kinds != _ANY for name in CHANGES for kinds in self._kinds[name]):
            return None
        array = events.contact_array
        is_end = array["event"] == ENDED
        wanted = np.zeros(len(array), bool)
        kinds = (*self._kinds[CONTACT_BEGAN], *self.open)
        wanted[self._types.select(array, self._types.wanted(kinds))] = True
        wanted &= ~is_end
        if _ANY in self._kinds[CONTACT_ENDED]:
            wanted |= is_end
            return wanted
        known = [contacts for contacts in self.open.values() if contacts]
        if self.open and (known or wanted.any()):
            pairs = list(zip(array["first"].tolist(), array["second"].tolist(), strict=True))
            known.append({pairs[n]: [] for n in np.flatnonzero(wanted)})
            for n in np.flatnonzero(is_end).tolist():
                wanted[n] = any(pairs[n] in contacts for contacts in known)
        return wanted


def _names_others(world: World, event: ContactEnded) -> bool:
    """Return whether an end is of a world that was cleared, and new entities have its ids."""
    return event.reason is EndReason.WORLD_CLEARED and bool(
        world.living((event.first, event.second))
    )


def _name_of(kind: type | None) -> str:
    return "" if kind is None else f"{kind.__module__}.{kind.__qualname__}"
