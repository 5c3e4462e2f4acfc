"""The events of a step: collisions, and contacts that begin or end.

Events are immutable copies of the state at their instant.  A step stores them in structured arrays
(`collision_dtype`, `contact_dtype`); `EventSequence` creates the objects on access.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import repeat
from operator import attrgetter
from typing import Any, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import OutcomeCode
from ecs_collide.components.base import NamedText

COLLISION = "ecs_collide.collision"
"""The name under which esper dispatches every `Collision`."""

CONTACT_BEGAN = "ecs_collide.contact_began"
"""The name under which esper dispatches every `ContactBegan`."""

CONTACT_ENDED = "ecs_collide.contact_ended"
"""The name under which esper dispatches every `ContactEnded`."""

CONTACT = "ecs_collide.contact"
"""The name under which esper dispatches a `Contact` in each step in which two bodies touch."""

Vector: TypeAlias = tuple[float, ...]
VectorLike: TypeAlias = Sequence[float] | NDArray[Any]
Event = TypeVar("Event")


_AS_NUMBER = frozenset("bcdeEfFgGnoxX%")  # the format codes of numbers


class PrintsItsName:
    """An enum of numbers that prints as its name, in `print`, `str`, ``%s`` and f-strings.

    It stays a number.  ``int(outcome)``, comparisons and formats of numbers, such as
    ``f"{outcome:d}"``, use the code.
    """

    __slots__ = ()

    def __str__(self) -> str:
        name: str | None = getattr(self, "name", None)  # a flag of unknown bits has none
        return name if name is not None else int.__repr__(self)

    def __format__(self, spec: str) -> str:
        if spec[-1:] in _AS_NUMBER:
            return int.__format__(self, spec)  # type: ignore[arg-type]
        return format(str(self), spec)


class SweepKind(PrintsItsName, IntEnum):
    """The result of a sweep of two boxes."""

    SEPARATE = 0
    """They share no point during the step."""
    TOUCH = 1
    """They share points, but their insides do not begin to overlap."""
    IMPACT = 2
    """Their insides begin to overlap within the step."""
    OVERLAP = 3
    """Their insides overlap at the start."""


class Outcome(PrintsItsName, IntEnum):
    """The outcome of a collision."""

    RESOLVED = OutcomeCode.RESOLVED
    """The velocities were changed by the bodies' responses."""
    STOPPED_ALREADY = OutcomeCode.STOPPED_ALREADY
    """Another resolution of the same instant had stopped the pair before."""
    CROSSED = OutcomeCode.CROSSED
    """Neither body is dynamic, or one is a sensor: they pass through each other."""
    CRUSHED = OutcomeCode.CRUSHED
    """Static or kinematic bodies squeeze the pair; it is left alone to the end of the step."""
    FORCED = OutcomeCode.FORCED
    """A response of the game left the pair closing, so the slide response was applied."""
    UNRESOLVED = OutcomeCode.UNRESOLVED
    """Nothing was resolved: it is still coming, or no response system ran."""


class ContactKind(PrintsItsName, IntEnum):
    """The kind of a contact: whether its two bodies are solid to each other."""

    SOLID = 0
    """They touch and stay outside each other."""
    CROSSING = 1
    """Their insides may overlap, and do."""


class EndReason(NamedText):
    """The reason for the end of a contact."""

    SEPARATED = "separated"
    ENTITY_DELETED = "entity_deleted"
    COMPONENT_REMOVED = "component_removed"
    FILTER_CHANGED = "filter_changed"
    TELEPORTED = "teleported"
    QUARANTINED = "quarantined"
    WORLD_CLEARED = "world_cleared"
    DROPPED = "dropped"
    DISABLED = "disabled"


END_REASONS: tuple[EndReason, ...] = tuple(EndReason)
"""The reasons in the order of their codes in the ``reason`` field of a contact array."""


class BodyPair:
    """The two entities of an event, and the normal between them."""

    __slots__ = ()

    first: int
    second: int
    normal: Vector

    def normal_for(self, entity: int) -> Vector:
        """Return the normal from the other body towards `entity`; ValueError for a third one."""
        if entity == self.first:
            return self.normal
        if entity == self.second:
            return self._opposite
        raise self._stranger(entity)

    def other(self, entity: int) -> int:
        """Return the other entity of the event; ValueError for a third one."""
        if entity == self.first:
            return self.second
        if entity == self.second:
            return self.first
        raise self._stranger(entity)

    @property
    def _opposite(self) -> Vector:
        return tuple(0.0 - part for part in self.normal)  # 0.0 - 0.0 is never -0.0

    def _stranger(self, entity: object) -> ValueError:
        return ValueError(
            f"entity {entity!r} takes no part in this {type(self).__name__} "
            f"between {self.first} and {self.second}"
        )


class _Event(BodyPair):
    """A dataclass of two bodies, whose order may be exchanged."""

    __slots__ = ()

    def swapped(self) -> Self:
        """Return the same event with the two bodies in the other order."""
        kind = type(self)
        event: Any = _OPEN[kind]()
        # All attributes at once: any() goes on, because setattr() returns None.
        any(map(setattr, repeat(event), kind.__slots__, _READ_SWAPPED[kind](self)))
        event.__class__ = kind
        swapped: Self = event
        return swapped


@dataclass(frozen=True, slots=True)
class Collision(_Event):
    """A meeting of two boxes: their insides began to overlap, or overlapped at the step's start.

    A method that takes an entity raises ValueError if it is neither `first` nor `second`.

    Attributes
    ----------
    time : float
        The time of the collision, as a fraction of the step, in [0, 1).
    exit : float
        The time at which they would have parted on their old paths, as a fraction of the step;
        may be beyond 1, or inf.
    first, second : int
        The entities, the lower id first, or in the order of the component types that the
        handler was registered with.
    normal : tuple of float
        Unit vector from the second box towards the first, along an axis except at a `Slope`.
    kind : SweepKind
        ``IMPACT``, or ``OVERLAP`` if they were inside each other already.
    closing_speed : float
        The speed at which the touching faces approached, in world units per second.  With
        ``STOPPED_ALREADY`` it is that before the impact that has stopped them.
    position_first, position_second : tuple of float
        The centres at that instant, in world units.
    velocity_first, velocity_second : tuple of float
        The velocities before the resolution, in world units per second.
    contact_min, contact_max : tuple of float
        The least and the greatest corner of the common region of the two boxes at that instant,
        in world units.  On each axis it reaches from the higher one of their lower faces to the
        lower one of their upper faces.  On the axis of the normal both are the touching face of
        `first`; for an ``OVERLAP`` their distance there is the depth of the overlap.  On the line
        of a `Slope` both are the corner of the other box, except across the slope in 3D.  In a
        world that wraps they are near `position_first`, and may reach over the edge.
    impulse : float
        The momentum that passed along the normal from one body to the other, in units of mass
        times world units per second; 0 without a resolution.  See `impulse_on`.  It is the part of
        this impact alone.  Tiles that a body hits at one instant share it, by the width of their
        contacts.  In a stack at rest under `Space.gravity`, each box passes its own mass times
        gravity times dt to the box below, without what rests on it.  The whole force on a body is
        `Space.load_on` times gravity.
    solids : tuple of int
        If the outcome is ``CRUSHED``, the static or kinematic bodies that squeeze the pair, by
        rising id; one of the two may be one of them.  Else empty.
    outcome : Outcome
        The outcome of the collision.
    """

    time: float
    exit: float
    first: int
    second: int
    normal: Vector
    kind: SweepKind
    closing_speed: float
    position_first: Vector
    position_second: Vector
    velocity_first: Vector
    velocity_second: Vector
    contact_min: Vector
    contact_max: Vector
    impulse: float
    solids: tuple[int, ...]
    outcome: Outcome

    @property
    def resolved(self) -> bool:
        """Whether velocities were changed because of this collision."""
        return self.outcome is Outcome.RESOLVED or self.outcome is Outcome.FORCED

    @property
    def point(self) -> Vector:
        """The middle of the common region of the two boxes, for sparks, in world units."""
        corners = zip(self.contact_min, self.contact_max, strict=True)
        return tuple((low + high) / 2.0 for low, high in corners)

    def impulse_on(self, entity: int) -> Vector:
        """Return the change of momentum of one of the two by the resolution, a vector."""
        return tuple(self.impulse * part + 0.0 for part in self.normal_for(entity))

    def position_of(self, entity: int) -> Vector:
        """Return the centre of one of the two at that instant, in world units."""
        return self.position_second if self.other(entity) == self.first else self.position_first

    def velocity_of(self, entity: int) -> Vector:
        """Return the velocity of one of the two before the impact, in world units per second."""
        return self.velocity_second if self.other(entity) == self.first else self.velocity_first

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        """Make the event from the values of a `collision_dtype` row."""
        event: Any = _OPEN[cls]()
        (
            event.time, event.exit, event.first, event.second, event.normal, kind,
            event.closing_speed, event.position_first, event.position_second,
            event.velocity_first, event.velocity_second, event.contact_min, event.contact_max,
            event.impulse, solids, outcome,
        ) = row  # fmt: skip
        if solids[1] < 0:
            solids = solids[:1] if solids[0] >= 0 else ()
        event.kind, event.solids, event.outcome = SWEEP_KINDS[kind], solids, _OUTCOMES[outcome]
        event.__class__ = cls
        made: Self = event
        return made


@dataclass(frozen=True, slots=True)
class ContactBegan(_Event):
    """The start of a contact of two bodies.

    A solid contact begins with an impact of two bodies that are not in contact.  If a body slides
    onto another without an impact, the contact begins at 1, the end of the step.  If the two
    bounce apart in the same step, a `ContactEnded` with the same time follows.

    Attributes
    ----------
    first, second, normal
        As in `Collision`.
    time : float
        The time of the start, as a fraction of the step, from 0 to 1.
    kind : ContactKind
        ``SOLID``, or ``CROSSING`` if they overlap freely.
    """

    first: int
    second: int
    normal: Vector
    time: float
    kind: ContactKind

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        """Make the event from the values of a `contact_dtype` row."""
        event: Any = _OPEN[cls]()
        _event, event.first, event.second, event.normal, event.time, kind, _reason = row
        event.kind = _CONTACT_KINDS[kind]
        event.__class__ = cls
        made: Self = event
        return made


@dataclass(frozen=True, slots=True)
class ContactEnded(_Event):
    """The end of a contact of two bodies; every start has exactly one end.

    A solid contact ends at the instant at which a gap opens between the two.  If they bounce apart
    that is the instant of the impact, unless something brings them back at that instant.  The
    same two bodies may begin and end several contacts in one step.

    Attributes
    ----------
    first, second, normal
        As in `Collision`.
    time : float
        The time of the end, as a fraction of the step, from 0 to 1.
    kind : ContactKind
        ``SOLID``, or ``CROSSING`` if they overlapped freely.
    reason : EndReason
        The reason for the end.
    """

    first: int
    second: int
    normal: Vector
    time: float
    kind: ContactKind
    reason: EndReason

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        """Make the event from the values of a `contact_dtype` row."""
        event: Any = _OPEN[cls]()
        _event, event.first, event.second, event.normal, event.time, kind, reason = row
        event.kind, event.reason = _CONTACT_KINDS[kind], END_REASONS[reason]
        event.__class__ = cls
        made: Self = event
        return made


@dataclass(frozen=True, slots=True)
class Contact(_Event):
    """A contact of two bodies, which touch or overlap freely at the end of the last step.

    Attributes
    ----------
    first, second, normal
        As in `Collision`.
    kind : ContactKind
        ``SOLID``, or ``CROSSING`` if they overlap freely.
    since : float
        The time of its start, in seconds of `Space.time`.
    """

    first: int
    second: int
    normal: Vector
    kind: ContactKind
    since: float


_EVENTS = Collision, ContactBegan, ContactEnded, Contact
# A class for each with the same slots, which can be set: the constructor of a frozen class calls a
# function per field, and takes three times as long.  An object becomes an event by its `__class__`.
_OPEN: dict[type, type] = {
    kind: type(kind.__name__, (_Event,), {"__slots__": kind.__slots__}) for kind in _EVENTS
}
_OTHER = {"first": "second", "second": "first", "normal": "_opposite"}
for _name in ("position", "velocity"):
    _OTHER |= {f"{_name}_first": f"{_name}_second", f"{_name}_second": f"{_name}_first"}
_READ_SWAPPED: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*(_OTHER.get(name, name) for name in kind.__slots__)) for kind in _EVENTS
}

# Calling an enum finds its member by way of several functions; these are plain tuples.
SWEEP_KINDS = tuple(SweepKind)
_OUTCOMES = tuple(Outcome)
_CONTACT_KINDS = tuple(ContactKind)


def collision_dtype(dim: int) -> np.dtype[np.void]:
    """Return the dtype of an array of collisions: the fields of `Collision`, in order.

    Vectors have the shape ``(dim,)``; `kind` and `outcome` are codes; `solids` has two ids, -1 for
    none.
    """
    vector = (np.float64, (dim,))
    return np.dtype(
        [
            ("time", np.float64),
            ("exit", np.float64),
            ("first", np.int64),
            ("second", np.int64),
            ("normal", *vector),
            ("kind", np.int8),
            ("closing_speed", np.float64),
            ("position_first", *vector),
            ("position_second", *vector),
            ("velocity_first", *vector),
            ("velocity_second", *vector),
            ("contact_min", *vector),
            ("contact_max", *vector),
            ("impulse", np.float64),
            ("solids", np.int64, (2,)),
            ("outcome", np.int8),
        ]
    )


def contact_dtype(dim: int) -> np.dtype[np.void]:
    """Return the dtype of an array of contact events, begins and ends alike.

    `event` is `BEGAN` or `ENDED`; then come the fields of `ContactEnded`, in
    order.  `reason` is an index into `END_REASONS`, -1 for a start.
    """
    return np.dtype(
        [
            ("event", np.int8),
            ("first", np.int64),
            ("second", np.int64),
            ("normal", np.float64, (dim,)),
            ("time", np.float64),
            ("kind", np.int8),
            ("reason", np.int8),
        ]
    )


class EventSequence(Sequence[Event], Generic[Event]):
    """A read-only sequence of events over a structured array.

    Objects are created on access.  Counting or slicing ten thousand collisions costs nothing.

    Parameters
    ----------
    array : numpy structured array, shape (n,)
        One row per event.  It is not copied, so its owner must not change it while this sequence
        is in use.
    make : callable
        Makes an event from the values of one row, in the order of the fields;
        vectors come as tuples.
    """

    __slots__ = ("_array", "_make")
    __hash__ = None  # type: ignore[assignment]

    _SHOWN = 5  # events in a repr

    def __init__(self, array: NDArray[np.void], make: Callable[[tuple[Any, ...]], Event]) -> None:
        self._array = array.view()
        self._array.setflags(write=False)
        self._make = make

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._array, self._make)

    @property
    def array(self) -> NDArray[np.void]:
        """The rows behind the events, read-only."""
        return self._array

    def __len__(self) -> int:
        return len(self._array)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Event | Self:
        if isinstance(index, slice):
            return type(self)(self._array[index], self._make)
        row = self._array[index].item()
        return self._make(tuple(tuple(x.tolist()) if isinstance(x, np.ndarray) else x for x in row))

    def __iter__(self) -> Iterator[Event]:
        # Column by column is four times faster than row by row.  Blocks keep a loop that ends
        # early from paying for all rows.
        block = 256
        for start in range(0, len(self._array), block):
            part = self._array[start : start + block]
            columns = [
                map(tuple, part[name].tolist()) if part[name].ndim > 1 else part[name].tolist()
                for name in part.dtype.names or ()
            ]
            yield from map(self._make, zip(*columns, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (EventSequence, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    def __repr__(self) -> str:
        shown = [repr(event) for event in self[: self._SHOWN]]
        if len(self) > self._SHOWN:
            shown.append(f"... {len(self) - self._SHOWN} more")
        return f"{type(self).__name__}([{', '.join(shown)}])"
