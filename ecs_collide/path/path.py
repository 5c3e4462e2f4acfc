"""Paths through waypoints, and around circles.

>>> import esper
>>> import ecs_collide as ec
>>> lift = esper.create_entity(
...     ec.Position(0, 0), ec.Extents(24, 4), ec.Velocity(0, 0), ec.Carry(),
...     ec.Path([(0, 0), (0, 90)], speed=60, pause=1.0),
... )
>>> space = ec.install()
>>> for _ in range(90):                   # 1.5 seconds up
...     esper.process(1 / 60)
>>> esper.component_for_entity(lift, ec.Position)
Position(0.0, 90.0)

A body on a path is where the path says at the end of every step, however long the steps are.
Rounding does not add up, because the velocity leads from the present position of the body to its
place on the path.  Within a step it goes straight there.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Literal, NamedTuple, Self

from ecs_collide._kernel import backend
from ecs_collide.extend import AMOUNT, LARGEST, SHIFTED, NumberFields, as_float

Vector3 = tuple[float, float, float]

MODES = ("back", "loop", "once")
EASES = ("linear", "smooth")
_HEAD = struct.Struct("<4Bbd4dqI")
ROUNDING = 2.0**-40  # of a leg: a path that was turned round on it may be this far past its ends


class Line(NamedTuple):
    """The points of a path, and the way through them."""

    points: tuple[Vector3, ...]
    legs: list[float]  # leg n leads from point n to the next one: their lengths
    circle: tuple[float, int, int] | None  # radius and axes; the one point is the centre
    mode: int
    ease: int


class Path:
    """A way for a body to go, and how far it has come.

    Its entity is a body with `Velocity`.  A body without a response pushes bodies in its way, and
    with `Carry` it carries the bodies that stand on it.  If one with a response, such as a guard
    with `Slide`, is held up, the path waits until the body is on it again.

    Parameters
    ----------
    points : sequence of sequences of 2 or 3 floats
        Where its centre goes, in world units.
    speed : float
        World units per second, 0 or more; may be changed at any time.
    mode : "back", "loop" or "once"
        At the last point it turns round, or goes on to the first one, or stays.
    ease : "linear" or "smooth"
        Between two points it keeps its speed, or starts and stops gently.  Then after the share f
        of the time between them it has come the share 3f² - 2f³ of the way.
    pause : float
        Seconds for which it waits at each point that it reaches.

    Attributes
    ----------
    points : tuple of tuples of 3 floats
    mode, ease : str
        As the parameters; like the points, they cannot be changed.
    speed, pause : float
        As the parameters.
    running : bool
        False stops it where it is, until it is true again.

    Raises
    ------
    ValueError
        There is no point, a point has not 2 or 3 numbers within -2**500 ... 2**500, `speed` or
        `pause` is below 0 or above 2**100, or there is no such `mode` or `ease`.

    Examples
    --------
    >>> import ecs_collide as ec
    >>> path = ec.Path([(0, 0), (30, 0), (30, 40)], speed=10)
    >>> path.at(0), path.at(5), path.at(9)
    ((0.0, 0.0, 0.0), (30.0, 20.0, 0.0), (30.0, 20.0, 0.0))
    """

    __slots__ = ("heading", "last", "line", "pause", "rest", "running", "speed", "way")

    def __init__(
        self,
        points: Iterable[Sequence[float]],
        speed: float,
        mode: Literal["back", "loop", "once"] = "back",
        *,
        ease: Literal["linear", "smooth"] = "linear",
        pause: float = 0.0,
    ) -> None:
        for name, value, known in (("mode", mode, MODES), ("ease", ease, EASES)):
            if value not in known:
                raise ValueError(f"Path({name}={value!r}) must be one of {', '.join(known)}")
        places = tuple(_point(point) for point in points)
        if not places:
            raise ValueError("Path(points=()) must have at least one point")
        self.line = Line(places, _legs(places), None, MODES.index(mode), EASES.index(ease))
        self.speed, self.pause = speed, pause
        self.running = True
        self.last, self.heading = 0, 1  # the point that it left, and 1 or -1: to the next one
        self.way = self.rest = 0.0  # how far it has come from there, and what is left of a pause
        wrong = FIELDS.find_wrong(self)
        if wrong is not None:
            name = wrong.field.removeprefix("Path.")
            raise ValueError(f"Path(): {name} is {wrong.value!r}; it {wrong.text}")

    @classmethod
    def circle(
        cls,
        centre: Sequence[float],
        radius: float,
        speed: float,
        *,
        axes: tuple[int, int] = (0, 1),
    ) -> Self:
        """Return a path around a circle.  Its one point is the centre.

        Parameters
        ----------
        centre : sequence of 2 or 3 floats
        radius, speed : float
            In world units, and in world units per second.
        axes : (int, int)
            It begins on the positive side of the first of these axes, and goes to that of the
            second: (0, 1) from the right to the top where y grows upwards.  (0, 2) lies flat in a
            world where y is up.

        Examples
        --------
        >>> import math
        >>> import ecs_collide as ec
        >>> path = ec.Path.circle((0, 0), 10, speed=math.tau * 10)  # a round in a second
        >>> path.at(0), path.at(0.25), path.at(0.5)
        ((10.0, 0.0, 0.0), (0.0, 10.0, 0.0), (-10.0, 0.0, 0.0))
        """
        if tuple(sorted(axes)) not in ((0, 1), (0, 2), (1, 2)):
            raise ValueError(f"Path.circle(axes={axes!r}) must be two different ones of 0, 1 and 2")
        if not _is_amount(radius) or radius > LARGEST:
            raise ValueError(f"Path.circle(radius={radius!r}) must be a number within 0 ... 2**500")
        path = cls([centre], speed, "loop")
        path.line = path.line._replace(
            legs=[math.tau * float(radius)], circle=(float(radius), *axes)
        )
        return path

    @property
    def points(self) -> tuple[Vector3, ...]:  # noqa: D102
        return self.line.points

    @property
    def mode(self) -> str:  # noqa: D102
        return MODES[self.line.mode]

    @property
    def ease(self) -> str:  # noqa: D102
        return EASES[self.line.ease]

    @property
    def is_done(self) -> bool:
        """Whether it has reached the end, in the mode "once"."""
        return bool(backend.kernels.courses.is_done(self))

    @property
    def place(self) -> Vector3:
        """The point of the path at which it is, or waits if the body is held up; three floats.

        A body that is held up may be as far away as it goes in a step.
        """
        place: Vector3 = backend.kernels.courses.place_of(self)
        return place

    def at(self, seconds: float) -> Vector3:
        """Return where it will be after some seconds, 0 or more, if it runs and nothing changes."""
        later = copy(self)
        later.running = True
        later.advance(seconds)
        return later.place

    def reverse(self) -> None:
        """Turn round where it is."""
        backend.kernels.courses.reverse(self)

    def advance(self, seconds: float) -> None:
        """Go on for some seconds; a step does this.

        Raises
        ------
        ValueError
            `seconds` is not finite or below 0.
        """
        if not _is_amount(seconds):
            raise ValueError(f"seconds={seconds!r} must be a finite number, 0 or more")
        backend.kernels.courses.advance(self, seconds)

    def __repr__(self) -> str:
        what = f"{len(self.line.points)} points" if self.line.circle is None else "a circle"
        return f"<Path: {what}, {self.mode}, at {self.place}, speed={self.speed!r}>"

    # -- saving --

    def to_bytes(self) -> bytes:
        """Return the whole path as bytes; raise TypeError if `speed` or `pause` is no number."""
        radius, one, other = self.line.circle or (-1.0, 0, 0)
        head = _HEAD.pack(
            self.line.mode, self.line.ease, one, other, self.heading, radius,
            as_float(Path, "speed", self.speed), as_float(Path, "pause", self.pause),
            self.way, self.rest, self.last,
            2 * len(self.line.points) + self.running,
        )  # fmt: skip
        numbers = [number for point in self.line.points for number in point]
        return head + struct.pack(f"<{len(numbers)}d", *numbers)

    def set_bytes(self, data: bytes) -> None:
        """Set everything from the bytes of `to_bytes`.

        Raises
        ------
        ValueError
            The bytes are damaged, or have numbers that `Path` refuses.  Nothing is changed.
        """
        Path.from_bytes(data)
        self.restore(data)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return a path from the bytes of `to_bytes`; raise ValueError as `set_bytes` does."""
        path = cls.restored(data)
        wrong = FIELDS.find_wrong(path)
        if wrong is not None:
            raise ValueError(f"these {len(data)} bytes are no Path: {wrong.field} {wrong.text}")
        return path

    @classmethod
    def restored(cls, data: bytes) -> Self:
        """Return a path from a snapshot; see `restore`."""
        path = cls([(0, 0)], 0.0)
        path.restore(data)
        return path

    def restore(self, data: bytes) -> None:
        """Set everything from a snapshot, which holds also a `speed` that makes no sense.

        The next step reports such a number, as it did before the snapshot.
        """
        try:
            *head, last, more = _HEAD.unpack_from(data)
            mode, ease, one, other, heading, radius, speed, pause, way, rest = head
            numbers = struct.unpack(f"<{more // 2 * 3}d", data[_HEAD.size :])
            points = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
            known = Path(points, 0.0, MODES[mode], ease=EASES[ease])  # type: ignore[arg-type]
            if radius >= 0.0:
                if len(known.points) > 1 or (mode, ease) != (MODES.index("loop"), 0):
                    raise ValueError("a circle has one point, and is a loop without ease")
                known = Path.circle(known.points[0], radius, 0.0, axes=(one, other))
            known.last, known.heading, known.way, known.rest = last, heading, way, rest
            known._require_on_it()
        except (struct.error, ValueError, IndexError) as error:
            raise ValueError(f"these {len(data)} bytes are no Path: {error}") from error
        known.speed, known.pause, known.running = speed, pause, bool(more % 2)
        for name in Path.__slots__:
            setattr(self, name, getattr(known, name))

    def _require_on_it(self) -> None:
        """Raise ValueError if no run leads the path to its present place."""
        n, coming = len(self.line.points), self.last + self.heading
        if abs(self.heading) != 1 or not 0 <= self.last < n:
            raise ValueError(f"there is no way from point {self.last} of {n}")
        if self.mode == "back" and n > 1 and not 0 <= coming < n:
            raise ValueError(f"it turns round at point {self.last} of {n}")
        leg = self.line.legs[backend.kernels.courses.leg_of(self)]
        if not abs(self.way - leg / 2.0) <= leg * (0.5 + ROUNDING):  # not so for nan
            raise ValueError(f"it is {self.way!r} from a point, on a leg of {leg!r}")
        if not _is_amount(self.rest):
            raise ValueError(f"it waits for {self.rest!r} seconds")


def _shift(path: Path, offset: Sequence[float]) -> None:
    """Move the points of a path with the world, by 2 or 3 numbers."""
    line = path.line
    x, y, z = (*offset, 0.0)[:3]
    points = tuple((one + x, other + y, third + z) for one, other, third in line.points)
    path.line = line._replace(points=points)
    if line.circle is None:  # where points are rounded, legs are
        path.line = path.line._replace(legs=_legs(points))
        path.way = min(path.way, path.line.legs[backend.kernels.courses.leg_of(path)])


SHIFTED[Path] = _shift
FIELDS = NumberFields("Path", {"speed": AMOUNT, "pause": AMOUNT})


def _point(point: Sequence[float]) -> Vector3:
    """Return a point of 2 or 3 numbers as one of 3."""
    try:
        numbers = [float(number) for number in point]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (2, 3) or not all(abs(number) <= LARGEST for number in numbers):
        raise ValueError(
            f"Path(points=...): {point!r} must be 2 or 3 finite numbers within -2**500 ... 2**500"
        )
    return numbers[0], numbers[1], (numbers[2] if len(numbers) == 3 else 0.0)


def _legs(points: tuple[Vector3, ...]) -> list[float]:
    """Return the distance of each point to the next one, and of the last to the first."""
    following = (*points[1:], points[0])
    return [_distance(a, b) for a, b in zip(points, following, strict=True)]


def _distance(one: Vector3, other: Vector3) -> float:
    """Return the distance of two points; `math.hypot` is not the same on every platform."""
    x, y, z = (b - a for a, b in zip(one, other, strict=True))
    return math.sqrt(x * x + y * y + z * z)


def _is_amount(value: object) -> bool:
    """Return whether a value is a finite number, 0 or more."""
    try:
        return 0.0 <= value < math.inf  # type: ignore[operator]
    except TypeError:
        return False
