"""Contact queries: contacts, the ground, carriers, platforms, and which bodies may meet."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from operator import itemgetter, mul
from typing import Any

import numpy as np

from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import COS_45
from ecs_collide.components.filters import Filter as FilterTrait
from ecs_collide.components.filters import filter_numbers, filters_allow
from ecs_collide.events import (
    Contact,
    ContactBegan,
    ContactKind,
    EventSequence,
    Vector,
    VectorLike,
)
from ecs_collide.queries.queried_bodies import QueriedBodies, refuse_within_step
from ecs_collide.queries.queries import Filter
from ecs_collide.step.entity_types import Indices
from ecs_collide.step.events_of_step import SHOWN_KINDS
from ecs_collide.step.pair_filters import PairFilters
from ecs_collide.step.shared import SharedParts
from ecs_collide.sync.quarantine import refusal


class ContactQueries:
    """Queries about the contacts between the bodies of a space."""

    def __init__(
        self, shared: SharedParts, queried: QueriedBodies, pair_filters: PairFilters
    ) -> None:
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._presence = shared.presence
        self._lookup = shared.lookup
        self._lock = shared.lock
        self._queried = queried
        self._pair_filters = pair_filters
        self._loads = backend.kernels.loads.Loads(shared)

    def contacts(self, entity: int | None = None, *, filter: Filter = None) -> list[Contact]:
        """Return the contacts of one body or of all, sorted by ids."""
        self._lock.refuse_others()
        rows = self._state.timeline.contacts.rows
        found = range(rows.n) if entity is None else rows.find(self._lookup.row(entity))
        contacts = self._contacts_at(found)
        there = contacts and self._presence.still_there(self._link.world)
        if there:
            contacts = [each for each in contacts if there(each.first) and there(each.second)]
        allowed = None if filter is None else self._queried.allowed(filter)
        if allowed is not None:
            contacts = [
                each
                for each in contacts
                if any(allowed(body) for body in (each.first, each.second) if body != entity)
            ]
        return contacts

    def of_step(self) -> list[Contact]:
        """Return all contacts at the end of the last step, also of entities deleted since."""
        return self._contacts_at(range(self._state.timeline.contacts.rows.n))

    def _contacts_at(self, numbers: Iterable[int]) -> list[Contact]:
        """Return some of the kernel's contacts, sorted by ids, and by images if the world wraps."""
        ids = self._registry.table.views.ids
        slopes = self._state.timeline.step.slopes
        found = [
            (
                ids[first], ids[second], image, shown, since,
                slopes.normal(first, second, axis, sign),
            )
            for first, second, kind, axis, sign, image, since in (
                self._state.timeline.contacts.rows.tuples_of(numbers)
            )
            if (shown := SHOWN_KINDS[kind]) is not None
        ]  # fmt: skip
        found.sort(key=itemgetter(0, 1, 2))
        return [
            Contact(first, second, normal, kind, since)
            for first, second, _, kind, since, normal in found
        ]

    def touching(self, present: Indices, begins: Indices) -> list[Contact]:
        """Return a contact for each two bodies that touched in the last step, sorted by ids.

        They touch at its end, or began to touch within it.

        Parameters
        ----------
        present, begins : int64 (n,) or slice
            Which of the kernel's contacts and which rows of `contacts_began` to use.
        """
        self._lock.refuse_others()
        began: dict[tuple[int, int], Contact] = {}
        array = self._state.events.contacts_began.array[begins]
        for event in EventSequence(array, ContactBegan.from_row):
            since = self._state.time - self._state.dt * (1.0 - event.time)
            began[event.first, event.second] = Contact(
                event.first, event.second, event.normal, event.kind, since
            )
        n = self._state.timeline.contacts.rows.n
        rows = range(n) if isinstance(present, slice) else present.tolist()
        # In a world that wraps two bodies may touch at several images.
        at_end = {(each.first, each.second): each for each in reversed(self._contacts_at(rows))}
        return [each for _, each in sorted({**began, **at_end}.items())]

    def is_on(self, entity: int, normal: VectorLike | None = None) -> Contact | None:
        """Return the oldest solid contact of a body on one side: its ground, or a wall."""
        wanted = self._registry.up if normal is None else as_axis("normal", normal, self._state.dim)
        on = [
            contact
            for contact in self.contacts(entity)
            if contact.kind is ContactKind.SOLID and _faces(contact.normal_for(entity), wanted)
        ]
        return min(on, key=lambda contact: (contact.since, contact.other(entity)), default=None)

    def load_on(self, entity: int) -> float:
        """Return the mass that rests on a body."""
        row = self._lookup.row(entity)  # raises if there is no such body
        return (
            0.0 if row < 0 else self._loads.load_on(row, self._presence.gone_rows(self._link.world))
        )

    def is_dynamic(self, entity: int) -> bool:
        """Return whether impacts change the velocity of a body."""
        row = self._lookup.row(entity)
        if row < 0:
            return self._lookup.new_body(entity).dynamic
        return bool(self._state.timeline.bodies.dynamic[row])

    def carried(self, entity: int) -> Vector:
        """Return the velocity that a `Carry` adds to the `Velocity` of a body that stands on it."""
        row, carriers = self._lookup.row(entity), self._state.timeline.carriers
        ride = carriers.rode if self._state.is_stepping else carriers.now
        if row < 0 or ride.n == 0 or ride.carrier[row] < 0:
            return (0.0,) * self._state.dim
        return tuple(np.asarray(ride.carrier_velocity)[row].tolist())

    def drop_through(self, entity: int, platform: int | None = None) -> bool:
        """Make a body fall through the `OneWay` platforms that it stands on."""
        with self._lock:
            refuse_within_step("drop_through", self._state.is_stepping or self._lock.is_changing)
            row = self._lookup.row(entity)
            under = -1 if platform is None else self._lookup.row(platform)
            if row < 0 or (platform is not None and under < 0):  # no step has read it yet
                return False
            return bool(self._state.timeline.contacts.drop(row, under))

    def may_meet(self, first: int, second: int) -> bool:
        """Return whether two bodies may meet, by `Filter` and `filter_pairs`."""
        first, second = min(first, second), max(first, second)
        for entity in (first, second):
            self._lookup.row(entity)
        world = self._link.world
        world.require_current()

        def has(entity: int, kind: type | None) -> bool:
            return kind is None or world.component(entity, kind) is not None

        met = filters_allow(self._filter_of(first), self._filter_of(second))
        return bool(met) and self._pair_filters.allows(first, second, has)

    def _filter_of(self, entity: int) -> tuple[int, int, int]:
        """Return categories, mask and group of an entity, or raise an error that names it."""
        its: Any = self._link.world.component(entity, FilterTrait)
        components: dict[type, Any] = {FilterTrait: its}
        try:
            return filter_numbers(its)
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise refusal(self._registry.checks.rules, entity, components.get) or error from error


def _faces(normal: Vector, wanted: Vector) -> bool:
    """Return whether a normal is at most 45 degrees from an axis."""
    cosine: float = sum(map(mul, normal, wanted))
    return cosine > COS_45


def as_axis(name: str, value: VectorLike, dim: int) -> Vector:
    """Return a unit vector along an axis as a tuple, or raise."""
    vector: Vector = ()
    with suppress(TypeError, ValueError):
        vector = tuple(float(part) for part in value)
    if len(vector) != dim or sorted(map(abs, vector)) != [0.0] * (dim - 1) + [1.0]:
        raise ValueError(
            f"{name}={value!r} must be {dim} numbers that point along one axis, of length 1"
        )
    return tuple(part + 0.0 for part in vector)  # never -0.0
