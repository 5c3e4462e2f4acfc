"""Who lies against whom, and who may: contacts, the ground, filters for pairs, platforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.events import Contact, ContactKind, Vector, VectorLike
from ecs_collide.queries.queries import Filter, Questions
from ecs_collide.step.events_of_step import axis_normal
from ecs_collide.step.handlers import Unsubscribe
from ecs_collide.sync.quarantine import refusal
from ecs_collide.traits import Filter as FilterTrait
from ecs_collide.traits import filter_numbers

_HIDDEN = len(ContactKind)
# By the kernel's kinds of contacts: solid; crossing; one falls through the other; solid until
# the next step; crossing until they separate.
_KINDS = np.array([0, 1, _HIDDEN, 0, 1])


def kinds_shown(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the `ContactKind` of each row of the kernel's contacts; more for those not shown."""
    return _KINDS[rows[:, 2]]


class Standing(Questions):
    """Contacts between the bodies of a space, and what a game may say about them."""

    def contacts(self, entity: int | None = None, *, filter: Filter = None) -> list[Contact]:
        """Return the contacts that there are, of one body or of all, sorted by ids.

        As of the end of the last step: a contact with an entity that has been deleted since ends
        in the next one.  A body that no step has read yet has none.

        Parameters
        ----------
        entity : int, optional
            Only contacts of this body.
        filter : type, tuple of types or callable, optional
            Only contacts with a body that has this component, or all of these, or for which the
            function returns something true: with `entity` the other one of the two, without it
            either of them.  A deleted entity passes no filter.

        Raises
        ------
        KeyError
            The entity is no body.
        """
        self._guard.refuse_others()
        kept = self._timeline.contacts
        rows, since = np.asarray(kept.rows)[: kept.n], np.asarray(kept.since)[: kept.n]
        order = self._contact_order() if self._ring is not None else slice(None)
        rows, since = rows[order], since[order]
        kinds = kinds_shown(rows)
        told = kinds < len(ContactKind)
        if entity is not None:
            row = self._row(entity)
            told &= (rows[:, 0] == row) | (rows[:, 1] == row)
        ids = self._roster.columns.ids
        contacts = []
        for (first, second, _, axis, sign, _), kind, began in zip(
            rows[told].tolist(), kinds[told].tolist(), since[told].tolist(), strict=True
        ):
            contacts.append(
                Contact(
                    int(ids[first]),
                    int(ids[second]),
                    axis_normal(self.dim, axis, sign),
                    ContactKind(kind),
                    began,
                )
            )
        allowed = None if filter is None else self._allowed(filter, len(contacts))
        if allowed is not None:
            contacts = [
                each
                for each in contacts
                if any(allowed(body) for body in (each.first, each.second) if body != entity)
            ]
        return sorted(contacts, key=lambda contact: (contact.first, contact.second))

    def _touching(self) -> list[Contact]:
        """Return a contact for each two bodies that touched in the last step, sorted by ids.

        They touch at its end, or began to within it.
        """
        began: dict[tuple[int, int], Contact] = {}
        for event in self._events.contacts_began:
            since = self._time - self._dt * (1.0 - event.time)
            began[event.first, event.second] = Contact(
                event.first, event.second, event.normal, event.kind, since
            )
        # In a world that wraps two bodies may touch at several images.
        at_end = {(each.first, each.second): each for each in reversed(self.contacts())}
        return [each for _, each in sorted({**began, **at_end}.items())]

    def is_on(self, entity: int, normal: VectorLike | None = None) -> Contact | None:
        """Return what a body stands on, or leans against: its oldest solid contact on that side.

        Entities that have been deleted since the last step hold nobody.

        Parameters
        ----------
        entity : int
        normal : sequence of float (dim,), optional
            Which way what it touches pushes it, a unit vector along an axis: `Space.up`, the
            default, is the ground; (1, 0) a wall to the left.

        Returns
        -------
        Contact or None
            `Contact.other` says what it is on, `Contact.since` since when.

        Raises
        ------
        KeyError
            The entity is no body.
        ValueError
            `normal` is no unit vector along an axis.
        """
        wanted = self.up if normal is None else as_axis("normal", normal, self.dim)
        on = [
            contact
            for contact in self.contacts(entity)
            if contact.kind is ContactKind.SOLID and contact.normal_for(entity) == wanted
        ]
        there = self._presence.still_there(self.world) if on else None
        if there is not None:
            on = [contact for contact in on if there(contact.first) and there(contact.second)]
        return min(on, key=lambda contact: (contact.since, contact.other(entity)), default=None)

    def carried(self, entity: int) -> Vector:
        """Return how fast a body is carried by the `Carry` that it stands on, beside its Velocity.

        In world units per second; zeros for a body that stands on none.

        Raises
        ------
        KeyError
            The entity is no body.
        """
        row, carrying = self._row(entity), self._timeline.carrying
        ride = carrying.rode if self.is_stepping else carrying.now
        if row < 0 or ride.n == 0 or not ride.carrier[row]:
            return (0.0,) * self.dim
        return tuple(np.asarray(ride.drift)[row].tolist())

    def drop_through(self, entity: int, platform: int | None = None) -> bool:
        """Let a body fall through the `OneWay` platforms that it stands on.

        It passes them until it does not touch them any more; the contacts end as ``DROPPED``
        with the next step.  Between steps, and in handlers.

        Parameters
        ----------
        entity : int
        platform : int, optional
            Only this one.

        Returns
        -------
        bool
            Whether it stood on any.

        Raises
        ------
        KeyError
            The entity, or the platform, is no body.
        RuntimeError
            Within a step.
        """
        with self._guard:
            if self.is_stepping or self._guard.is_changing:
                raise RuntimeError(
                    "drop_through() was called within a step: call it between steps, "
                    "or in a handler of their events"
                )
            row = self._row(entity)
            under = -1 if platform is None else self._row(platform)
            if row < 0 or (platform is not None and under < 0):  # no step has read it yet
                return False
            return bool(self._timeline.contacts.drop(row, under))

    def may_meet(self, first: int, second: int) -> bool:
        """Return whether two bodies are anything to each other, by `Filter` and `filter_pairs`.

        As components say now.  It says nothing of where they are and how they answer.

        Raises
        ------
        KeyError
            One of them is no body.
        TypeError, AttributeError, ValueError
            A `Filter` holds what is no whole number within its bounds.
        """
        first, second = min(first, second), max(first, second)
        for entity in (first, second):
            self._row(entity)
        world = self.world
        world.require_current()

        def has(entity: int, kind: type | None) -> bool:
            return kind is None or world.component(entity, kind) is not None

        (categories, mask, group), (others, other_mask, other_group) = (
            self._filter_of(entity) for entity in (first, second)
        )
        if group != 0 and group == other_group:
            met = group > 0
        else:
            met = bool(categories & other_mask and others & mask)
        return met and self._judges.allows(first, second, has)

    def _filter_of(self, entity: int) -> tuple[int, int, int]:
        """Return categories, mask and group of an entity, or raise what names it."""
        its: Any = self.world.component(entity, FilterTrait)
        components: dict[type, Any] = {FilterTrait: its}
        try:
            return filter_numbers(its)
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise refusal(self._roster.rules, entity, components.get) or error from error

    def filter_pairs(
        self,
        allows: Callable[[int, int], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Ask a function whether two bodies that come near each other may meet.

        For what a `Filter` cannot say.  Where it returns something false the two
        are as air for each other in this step: no impact, no crossing, no
        contact.  A contact that there was ends as ``FILTER_CHANGED``.

        Parameters
        ----------
        allows : callable
            Takes the lower and the higher entity id.  It is asked at most once in a step
            about a pair, in no order, and may look at components but not change
            anything.  Where it raises the two meet, and the step
            raises it when it is done.
        first_kind, second_kind : type, optional
            Only for pairs of which one has the one component and the other the other.
            Without the first, all pairs are asked about, which costs far more.

        Returns
        -------
        callable
            Call it to take the function away.
        """
        return self._judges.add(self._world, allows, first_kind, second_kind)


def as_axis(name: str, value: VectorLike, dim: int) -> Vector:
    """Return a unit vector along an axis as a tuple, or raise."""
    vector = tuple(float(part) for part in value)
    if len(vector) != dim or sorted(map(abs, vector)) != [0.0] * (dim - 1) + [1.0]:
        raise ValueError(
            f"{name}={value!r} must be {dim} numbers that point along one axis, of length 1"
        )
    return tuple(part + 0.0 for part in vector)  # never -0.0
