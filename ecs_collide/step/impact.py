"""An impact in the middle of a step, while it can be resolved."""

from __future__ import annotations

from typing import Protocol

from ecs_collide.events import BodyPair, SweepKind, Vector, VectorLike


class _Step(Protocol):
    """The interface of the step in which an impact happens."""

    def velocity_of(self, entity: int) -> Vector: ...
    def write_velocity(self, entity: int, velocity: VectorLike) -> None: ...
    def resolve_pending(self, impact: Impact, response: object) -> None: ...


class Impact(BodyPair):
    """An impact at its instant, handed to custom responses in time order.

    The positions, and the `Position` and `Velocity` components of both bodies, have
    their values at this instant.  A response may set the velocities here or in the
    components, delete either entity, let the two cross, or call `resolve`.  If it
    leaves the pair closing, the pair is slid along its surface.

    Attributes
    ----------
    time, exit, first, second, normal, kind, closing_speed
        As in `Collision`, with the lower id first.
    is_resolved : bool
        Whether `resolve` has been called.
    crosses : str or None
        Once `cross` has been called: ``"step"`` or ``"until_separate"``.
    was_decided : bool
        Whether the function of the other body has called one of them; a second call does nothing.
    is_over : bool
        Whether the step has gone on and the impact can no longer be changed.
    """

    __slots__ = (
        "_positions",
        "_step",
        "_velocities",
        "closing_speed",
        "crosses",
        "exit",
        "first",
        "is_over",
        "is_resolved",
        "kind",
        "normal",
        "second",
        "time",
        "was_decided",
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
        position_first: Vector,
        position_second: Vector,
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
        self.is_resolved = False
        self.was_decided = False
        self.crosses: str | None = None
        self._positions = {first: position_first, second: position_second}
        self._velocities: dict[int, Vector] = {}

    def end(self, velocity_first: Vector, velocity_second: Vector) -> None:
        """Store the velocities; they can no longer be changed."""
        self._velocities = {self.first: velocity_first, self.second: velocity_second}
        self.is_over = True

    def position(self, entity: int) -> Vector:
        """Return the centre of one of the two at this instant."""
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
        self._step.write_velocity(entity, velocity)

    def resolve(self, response: object = None) -> None:
        """Resolve the impact now; the velocities then have their values after the resolution.

        Friction follows at the end of the instant, and so do `Stop` and `Push` along the surface of
        a body that meets several others at once.
        They may still be changed, for example by a paddle that adds its own twist to a bounce.
        The impact is not offered to any further response system.

        Parameters
        ----------
        response : Deflect, Slide, Push or Stop, optional
            Replaces the response of each of the two that is dynamic; by default each resolves
            as its components say.

        Raises
        ------
        RuntimeError
            The impact is over, or this response has resolved it or let it cross already.
        TypeError, ValueError
            `response` is not a response component, or has an invalid restitution.
        """
        if self._may_decide():
            self._step.resolve_pending(self, response)
            self.is_resolved = True

    def cross(self, until_separate: bool = False) -> None:
        """Make the two pass through each other from this instant to the end of the step.

        The `Collision` has the outcome ``CROSSED``.  A solid contact of the two ends, and one of
        the kind ``CROSSING`` begins.  The impact is not offered to any further response system.
        If the two overlap when the next step begins, it has an impact of the kind ``OVERLAP``.

        Parameters
        ----------
        until_separate : bool
            Whether they cross until they have separated, in this step or a later one.

        Raises
        ------
        RuntimeError
            The impact is over, or this response has resolved it or let it cross already.
        """
        if self._may_decide():
            self.crosses = "until_separate" if until_separate else "step"

    @property
    def is_decided(self) -> bool:
        """Whether `resolve` or `cross` has been called."""
        return self.is_resolved or self.crosses is not None

    def _may_decide(self) -> bool:
        """Return whether nothing has decided; raise if this response has, or if it is over."""
        self._require_open()
        if self.is_decided and not self.was_decided:
            done = "was resolved" if self.is_resolved else "crosses"
            raise RuntimeError(f"the impact of {self.first} and {self.second} {done} already")
        return not self.is_decided

    def _require_open(self) -> None:
        if self.is_over:
            raise RuntimeError(
                f"the impact of {self.first} and {self.second} is over: "
                "an impact can be resolved until the next one is taken"
            )

    @property
    def position_first(self) -> Vector:
        """The first body's centre, in world units."""
        return self.position(self.first)

    @property
    def position_second(self) -> Vector:
        """The second body's centre, in world units."""
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
