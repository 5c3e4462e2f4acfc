"""How far paths have come, and the velocities that lead bodies along them.

A `Path` keeps its numbers in attributes.  A `Course` holds those of one path at a time as C
numbers, so that a step computes all paths in one call.
"""

from __future__ import annotations

from math import fmod, sqrt
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide.sync.plain_numbers import is_amount, nearest, nearest_widths, read_vector

BACK: cython.int = 0  # the modes of a path
LOOP: cython.int = 1
ONCE: cython.int = 2
AT: cython.double = 2.0**-40  # of coordinates, or of a million steps: closer to a path is on it
FULL_TURN: cython.double = 6.283185307179586


@cython.final
class Course:
    """The points of a path, and the place on it."""

    points: tuple  # of three floats each
    legs: list  # leg n leads from point n to the next one: their lengths
    circle: Any  # radius, and the two axes; None for a path through points
    mode: cython.int
    is_smooth: cython.bint
    n: cython.Py_ssize_t  # the number of points
    last: cython.Py_ssize_t  # the point that it left
    heading: cython.Py_ssize_t  # 1 or -1: to the next one
    way: cython.double  # how far it has come from there
    rest: cython.double  # the seconds that are left of a pause
    has_turned: cython.bint  # whether more than `way` has changed
    place: cython.double[3]

    def read(self, path: Any) -> cython.void:
        """Read the attributes of a path."""
        line: Any = path.line

        self.points, self.legs, self.circle = line.points, line.legs, line.circle
        self.mode = line.mode
        self.is_smooth = line.ease
        self.n = len(self.points)
        self.last = path.last
        self.heading = path.heading
        self.way = path.way
        self.rest = path.rest
        self.has_turned = False
        if not (0 <= self.last < self.n and abs(self.heading) == 1):  # indices below are unchecked
            raise ValueError(
                f"a Path of {self.n} points has last={self.last} and heading={self.heading}"
            )

    def write(self, path: Any) -> cython.void:
        """Write to a path how far it has come."""
        path.way = self.way
        if self.has_turned:  # in few steps
            path.last = self.last
            path.heading = self.heading
            path.rest = self.rest

    def is_done(self) -> cython.bint:
        """Return whether it has reached the end, in the mode "once"."""
        return self.mode == ONCE and not 0 <= self.last + self.heading < self.n

    def next(self) -> cython.Py_ssize_t:
        """Return the number of the point that it goes to; the last one where it is done."""
        following: cython.Py_ssize_t = self.last + self.heading

        if self.mode == LOOP:
            return 0 if following == self.n else self.n - 1 if following < 0 else following
        return min(max(following, 0), self.n - 1)

    def leg(self) -> cython.Py_ssize_t:
        """Return the number of the leg that it is on."""
        if self.heading > 0:
            return self.last
        return self.last - 1 if self.last > 0 else self.n - 1

    def find_place(self) -> cython.void:
        """Find where it is."""
        leg: cython.double = self.legs[self.leg()]
        share: cython.double = self.way / leg if leg > 0.0 else 0.0
        start: tuple = self.points[self.last]

        if self.is_smooth:
            share *= share * (3.0 - 2.0 * share)
        for k in range(3):
            self.place[k] = start[k]
        if self.circle is not None:
            radius: cython.double = self.circle[0]
            cosine, sine = turned(self.heading * share)
            k = self.circle[1]
            self.place[k] += radius * cosine
            k = self.circle[2]
            self.place[k] += radius * sine
            return
        end: tuple = self.points[self.next()]
        for k in range(3):
            there: cython.double = end[k]
            self.place[k] += share * (there - self.place[k])

    def advance(
        self, left: cython.double, speed: cython.double, pause: cython.double
    ) -> cython.void:
        """Go on for `left` seconds at a speed above 0."""
        if self.mode != ONCE:  # after a whole round it is where it was
            n_legs: cython.Py_ssize_t = len(self.legs)
            length: cython.double = 0.0
            if self.mode == BACK:
                n_legs = 2 * (n_legs - 1)
            for n in range(n_legs):
                each: cython.double = self.legs[n % (self.n - 1) if self.mode == BACK else n]
                length += each
            round_trip: cython.double = length / speed + n_legs * pause
            if not round_trip > 0.0:
                return
            left = fmod(left, round_trip)
        while left > 0.0 and not self.is_done():
            if self.rest > 0.0:
                self.has_turned = True
                waited: cython.double = min(self.rest, left)
                self.rest -= waited
                left -= waited
                continue
            ahead: cython.double = self.legs[self.leg()]
            needed: cython.double = (ahead - self.way) / speed
            if left < needed:
                self.way += speed * left
                return
            left -= needed
            self.has_turned = True
            self.last, self.way, self.rest = self.next(), 0.0, pause
            if self.mode == BACK and not 0 <= self.last + self.heading < self.n:
                self.heading = -self.heading

    def lead(
        self, path: Any, position: Any, velocity: Any, way: Leg, dt: cython.double
    ) -> cython.void:
        """Write the velocity that leads a body along its path in a step.

        A body that is elsewhere first goes to its path, straight and at the path's speed.
        """
        if not (
            read_vector(position, way.dim, way.at) and read_vector(velocity, way.dim, way.before)
        ):
            return  # the step reports numbers that are not sound
        self.read(path)
        self.find_place()
        speed: cython.double = path.speed if path.running else 0.0
        far: cython.double = speed * dt
        beside: cython.double = way.find_way(self.place)
        near: cython.double = 2.0**20 * far
        for k in range(3):
            near = max(near, abs(way.at[k]), abs(self.place[k]))
        part: cython.double = 1.0
        if beside > AT * near:
            part = min(1.0, far / beside)  # back to the path; it waits
        elif speed > 0.0:
            self.advance(dt, speed, path.pause)
            self.write(path)
            self.find_place()
            way.find_way(self.place)
        way.write(velocity, part, dt)


@cython.final
class Leg:
    """The way of a body in a step, from where it is to a place."""

    dim: cython.int
    width: cython.double[3]  # of a world that wraps, or 0
    at: cython.double[3]  # where a body is
    before: cython.double[3]  # its velocity
    way: cython.double[3]  # from there to a place

    def __init__(self, dim: cython.int, widths: tuple):
        k: cython.int

        self.dim = dim
        for k in range(len(widths)):
            self.width[k] = widths[k] or 0.0

    def find_way(self, place: cython.p_double) -> cython.double:
        """Find the way from the body to a place, the shorter one if the world wraps.

        Return its length.
        """
        length: cython.double = 0.0

        for k in range(3):
            way: cython.double = place[k] - self.at[k] if k < self.dim else 0.0
            way -= nearest_widths(way, self.width[k])
            self.way[k] = way
            length += way * way
        return sqrt(length)

    def write(self, velocity: Any, part: cython.double, dt: cython.double) -> cython.void:
        """Write the velocity that leads a part of the way in `dt` seconds, if it is finite."""
        differs: cython.bint = False

        for k in range(3):
            speed: cython.double = part * self.way[k] / dt
            if speed - speed != 0.0:
                return  # in a far too long step
            self.way[k] = speed
            differs |= k < self.dim and speed != self.before[k]
        if differs:
            velocity.x = self.way[0]
            velocity.y = self.way[1]
            if self.dim == 3:
                velocity.z = self.way[2]


@cython.ccall
def turned(share: cython.double) -> tuple:
    """Return cosine and sine of a share of a full turn, within -1 and 1, the same everywhere.

    `math.sin` is not.  The error of these series is below 2 ulp of 1 up to an eighth of a turn.
    """
    quarter: cython.int = int(nearest(4.0 * share))
    angle: cython.double = FULL_TURN * (share - 0.25 * quarter)
    sine: cython.double = angle
    cosine: cython.double = 1.0
    term: cython.double = 1.0

    for n in range(1, 18):  # the terms of both series in turn
        term *= angle / n
        if n % 2 == 0:
            cosine += term if n % 4 == 0 else -term
        elif n > 1:
            sine += term if n % 4 == 1 else -term
    for _ in range((quarter + 4) % 4):
        cosine, sine = -sine, cosine
    return cosine, sine


def lead_all(found: list, find_wrong: Any, dim: int, widths: tuple, dt: float) -> dict:
    """Write the velocities that lead bodies along their paths in a step of `dt` seconds.

    Parameters
    ----------
    found : list of (entity, (Path, Position, Velocity))
    find_wrong : callable
        Return the wrong field of a path, or None.
    dim : int
    widths : tuple of float or None
        Of a world that wraps, by axis.
    dt : float

    Returns
    -------
    dict
        The wrong field of each entity whose path has one.  Its velocity is unchanged.
    """
    course: Course = Course()
    leg: Leg = Leg(dim, widths)
    wrong: dict = {}

    for entity, (path, position, velocity) in found:
        if not (
            is_amount(getattr(path, "speed", None)) and is_amount(getattr(path, "pause", None))
        ):
            error: Any = find_wrong(path)
            if error is not None:
                wrong[entity] = error
                continue
        if dt > 0.0:
            course.lead(path, position, velocity, leg, dt)
    return wrong


def course_of(path: Any) -> Course:
    """Return the course of a path."""
    course: Course = Course()
    course.read(path)
    return course


def place_of(path: Any) -> tuple:
    """Return where a path is, three floats."""
    course: Course = course_of(path)
    course.find_place()
    return course.place[0], course.place[1], course.place[2]


def is_done(path: Any) -> bool:
    """Return whether a path has reached its end, in the mode "once"."""
    course: Course = course_of(path)
    return course.is_done()


def leg_of(path: Any) -> int:
    """Return the number of the leg that a path is on."""
    course: Course = course_of(path)
    return course.leg()


def advance(path: Any, seconds: float) -> None:
    """Let a path go on for some seconds."""
    speed: cython.double = float(path.speed)

    if path.running and speed > 0.0:
        course: Course = course_of(path)
        course.advance(seconds, speed, float(path.pause))
        course.write(path)


def reverse(path: Any) -> None:
    """Turn a path round where it is."""
    course: Course = course_of(path)

    if not course.is_done():
        leg: cython.double = course.legs[course.leg()]
        course.way = leg - course.way
        course.last = course.next()
    course.heading = -course.heading
    course.has_turned = True
    course.write(path)
