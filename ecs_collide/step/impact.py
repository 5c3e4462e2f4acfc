"""An impact in the middle of a step, while it can still be answered."""

from __future__ import annotations

from typing import Protocol

from ecs_collide.events import BodyPair, SweepKind, Vector, VectorLike


class _Step(Protocol):
    """What an impact asks of the step it happens in."""

    def position_of(self, entity: int) -> Vector: ...
    def velocity_of(self, entity: int) -> Vector: ...
    def give_velocity(self, entity: int, velocity: VectorLike) -> None: ...
    def answer_pending(self, impact: Impact) -> None: ...


class Impact(BodyPair):
    """Two bodies meet, now; handed to a game's own responses in time order.

    The positions of the two are those of this instant, and so are their
    `Position` and `Velocity` components.  A response may set the velocities,
    here or in the components, delete either entity, or ask for the built-in
    answer.  If it leaves the pair closing, the pair is slid along its surface.

    Attributes
    ----------
    time, exit : float
        Fractions of the step: when they meet, and when their paths would have
        parted them again.
    first, second : int
        The entities, the lower id first.
    normal : tuple of float
        Unit axis vector from the second box towards the first.
    kind : SweepKind
        ``IMPACT``, or ``OVERLAP`` where they were inside each other already.
    closing_speed : float
        How fast the touching faces approach, in world units per second.
    is_answered : bool
        Whether the built-in answer has been given.
    is_over : bool
        Whether the step has gone on and the impact can no longer be changed.
    """

    __slots__ = (
        "_positions",
        "_step",
        "_velocities",
        "closing_speed",
        "exit",
        "first",
        "is_answered",
        "is_over",
        "kind",
        "normal",
        "second",
        "time",
    )

    def __init__(
        self,
        step: _Step,
        time: float,
        exit: float,
        first: int,
        second: int,
        normal: Vector,
        kind: SweepKind,
        closing_speed: float,
    ) -> None:
        self._step = step
        self.time = time
        self.exit = exit
        self.first = first
        self.second = second
        self.normal = normal
        self.kind = kind
        self.closing_speed = closing_speed
        self.is_over = False
        self.is_answered = False
        self._positions = {entity: step.position_of(entity) for entity in (first, second)}
        self._velocities: dict[int, Vector] = {}

    def end(self) -> None:
        """Keep what the velocities are; they can no longer be changed."""
        self._velocities = {
            entity: self._step.velocity_of(entity) for entity in (self.first, self.second)
        }
        self.is_over = True

    def position(self, entity: int) -> Vector:
        """Return where the centre of one of the two is at this instant."""
        self.other(entity)
        return self._positions[entity]

    def velocity(self, entity: int) -> Vector:
        """Return the velocity of one of the two, in world units per second."""
        self.other(entity)
        return self._velocities[entity] if self.is_over else self._step.velocity_of(entity)

    def set_velocity(self, entity: int, velocity: VectorLike) -> None:
        """Give one of the two a new velocity from this instant on.

        Raises
        ------
        RuntimeError
            The impact is over.
        ValueError
            `entity` is neither of the two or has no `Velocity`, or `velocity`
            is not `dim` finite numbers.
        """
        self.other(entity)
        self._require_open()
        self._step.give_velocity(entity, velocity)

    def answer(self) -> None:
        """Give the built-in answer now; the velocities are then those after it.

        They may still be changed: this is how a paddle adds its own twist to a bounce.

        Raises
        ------
        RuntimeError
            The impact is over, or was answered already.
        """
        self._require_open()
        if self.is_answered:
            raise RuntimeError(
                f"the impact of {self.first} and {self.second} has its built-in answer already"
            )
        self.is_answered = True
        self._step.answer_pending(self)

    def _require_open(self) -> None:
        if self.is_over:
            raise RuntimeError(
                f"the impact of {self.first} and {self.second} is over: "
                "an impact can be answered until the next one is taken"
            )

    @property
    def position_first(self) -> Vector:
        """Where the first body's centre is."""
        return self.position(self.first)

    @property
    def position_second(self) -> Vector:
        """Where the second body's centre is."""
        return self.position(self.second)

    @property
    def velocity_first(self) -> Vector:
        """The first body's velocity; may be set."""
        return self.velocity(self.first)

    @velocity_first.setter
    def velocity_first(self, velocity: VectorLike) -> None:
        self.set_velocity(self.first, velocity)

    @property
    def velocity_second(self) -> Vector:
        """The second body's velocity; may be set."""
        return self.velocity(self.second)

    @velocity_second.setter
    def velocity_second(self, velocity: VectorLike) -> None:
        self.set_velocity(self.second, velocity)

    def __repr__(self) -> str:
        return (
            f"Impact(time={self.time}, first={self.first}, second={self.second}, "
            f"normal={self.normal}, kind={self.kind!r})"
        )
