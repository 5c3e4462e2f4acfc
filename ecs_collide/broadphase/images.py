"""Periodic images: the copies of a body in a world that wraps around.

On a *wrapped* axis a body is at its centre and at all positions a whole number of widths away: its
*images*.  Paths are never cut at the edge of the world; a body continues straight and meets the
images of other bodies.

    |   B  A==|==> B' |      A crosses the edge and meets B at the image B', 1 width away
    +---------+-------+

An *image* is coded as an int, which has one digit for each axis.  The digit is the number of widths
by which the second body of a pair is displaced when the first one meets it.  Images add up like
numbers, the opposite image has the opposite sign, and they are ordered by distance on the first
axis, then the second, then the third.

`PeriodicImages` finds the images at which a body may meet the bodies in the trees.  Most bodies are
far from the edge and have none.  A body has a *long path* if its path is longer than the world.
Its pairs are searched along the path, part by part, and only from its side.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from math import ceil, floor

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide.motion.bodies import Bodies

IMAGE_BASE: cython.longlong = 1 << 20  # the base in which images are written
HALF_IMAGE_BASE: cython.longlong = 1 << 19
MAX_IMAGES = 160.0  # widths on each side: 2 * 64, and room for the sizes of bodies
MAX_SHORT_PATH = 2.0  # widths: a path is long if it covers more, the box included
IMAGE_REACH = 2.0**-38  # times the sum of all terms; more than any rounding error


def one_width(k: cython.int) -> cython.longlong:
    """Return the image that is displaced by one width on axis `k`."""
    if k == 0:
        return IMAGE_BASE * IMAGE_BASE
    return IMAGE_BASE if k == 1 else 1


def widths_of(image: cython.longlong, k: cython.int) -> cython.longlong:
    """Return the number of widths by which an image is displaced on axis `k`."""
    rest: cython.longlong = image + HALF_IMAGE_BASE * (
        IMAGE_BASE * IMAGE_BASE + IMAGE_BASE + 1
    )  # >= 0

    if k == 0:
        return rest // (IMAGE_BASE * IMAGE_BASE) - HALF_IMAGE_BASE
    if k == 1:
        return rest // IMAGE_BASE % IMAGE_BASE - HALF_IMAGE_BASE
    return rest % IMAGE_BASE - HALF_IMAGE_BASE


def whole(number: cython.double) -> cython.longlong:
    """Return a float that is a whole number as an int."""
    return cython.cast(cython.longlong, number)


@cython.final
class PeriodicImages:
    """A search for images, one body after the other."""

    bodies: Bodies
    # the image found last; 0 at the end of a search
    image: cython.longlong
    n_long_paths: cython.Py_ssize_t
    body: cython.Py_ssize_t
    is_clipped: cython.bint
    is_done: cython.bint
    # (3,): the same in world units
    offset: cython.double[::1]
    # (3,): corners of the path, or of the part that may meet that image, shifted to the
    # positions of the other bodies
    low: cython.double[::1]
    high: cython.double[::1]
    bounds_min: cython.double[::1]  # of all paths that are not long
    bounds_max: cython.double[::1]
    target_min: cython.double[::1]  # the bounds that the images may meet
    target_max: cython.double[::1]
    target_motion: cython.double[::1]
    centre: cython.double[::1]  # of the body whose images are searched
    half: cython.double[::1]
    motion: cython.double[::1]
    # in widths, on each axis: the first image, the current one, the last
    first: cython.double[::1]
    at: cython.double[::1]
    last: cython.double[::1]
    # (n_long_paths or more,): the rows of the bodies whose paths are longer than the world
    long_paths: cython.longlong[::1]
    has_long_path: cython.schar[::1]
    # (n_rows,): all 0; used at the end of a step, see `step.edges`
    shifts: cython.longlong[::1]

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.offset = zeros(DOUBLE, 3)
        self.low = zeros(DOUBLE, 3)
        self.high = zeros(DOUBLE, 3)
        self.bounds_min = zeros(DOUBLE, 3)
        self.bounds_max = zeros(DOUBLE, 3)
        self.target_min = zeros(DOUBLE, 3)
        self.target_max = zeros(DOUBLE, 3)
        self.target_motion = zeros(DOUBLE, 3)
        self.centre = zeros(DOUBLE, 3)
        self.half = zeros(DOUBLE, 3)
        self.motion = zeros(DOUBLE, 3)
        self.first = zeros(DOUBLE, 3)
        self.at = zeros(DOUBLE, 3)
        self.last = zeros(DOUBLE, 3)
        self.long_paths = zeros(LONG, 1)
        self.has_long_path = zeros(BYTE, 1)
        self.shifts = zeros(LONG, 1)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.long_paths = grown(self.long_paths, n_rows)
        self.has_long_path = grown(self.has_long_path, n_rows)
        self.shifts = grown(self.shifts, n_rows)

    def clear(self) -> cython.void:
        """Start without bodies: no long paths, and empty bounds of short paths and of the part."""
        for n in range(self.n_long_paths):
            self.has_long_path[self.long_paths[n]] = 0
        self.n_long_paths = 0
        for k in range(3):
            self.bounds_min[k] = self.low[k] = INF
            self.bounds_max[k] = self.high[k] = -INF

    def widen(self, k: cython.int, low: cython.double, high: cython.double) -> cython.void:
        """Extend the bounds of all short paths on an axis."""
        self.bounds_min[k] = min(self.bounds_min[k], low)
        self.bounds_max[k] = max(self.bounds_max[k], high)

    def add_path(self, i: cython.Py_ssize_t) -> cython.void:
        """Add the swept bounds of a body; a long path stays long for the step."""
        b: Bodies = self.bodies

        if self.has_long_path[i]:
            return
        for k in range(b.dim):
            if (
                b.width[k] > 0.0
                and b.swept_max[i, k] - b.swept_min[i, k] > MAX_SHORT_PATH * b.width[k]
            ):
                self.has_long_path[i] = 1
                self.long_paths[self.n_long_paths] = i
                self.n_long_paths += 1
                return
        for k in range(b.dim):
            self.widen(k, b.swept_min[i, k], b.swept_max[i, k])

    # -- begin a search --

    def find_short_paths(self, i: cython.Py_ssize_t) -> cython.void:
        """Start the search for the images at which a body may meet bodies with short paths."""
        b: Bodies = self.bodies

        for k in range(b.dim):
            self.target_min[k] = self.bounds_min[k]
            self.target_max[k] = self.bounds_max[k]
            self.target_motion[k] = 0.0
        self._start_body(i)
        self.is_clipped = self.has_long_path[i] != 0

    def find_images_of(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Start the search for the images of `j` that `i` may meet, from the base time of `i`."""
        b: Bodies = self.bodies
        rest: cython.double = 1.0 - b.base[i]

        for k in range(b.dim):
            half: cython.double = max(b.half_at(j, k, b.base[i]), b.half_at(j, k, 1.0))
            self.target_min[k] = b.centre_at(j, k, b.base[i]) - half
            self.target_max[k] = b.centre_at(j, k, b.base[i]) + half
            self.target_motion[k] = b.motion_of(j, k) * rest
        self._start_body(i)
        self.is_clipped = True

    def _start_body(self, i: cython.Py_ssize_t) -> cython.void:
        """Set the range of images at which a body may reach the target, before the first one."""
        b: Bodies = self.bodies
        rest: cython.double = 1.0 - b.base[i]

        self.body = i
        self.is_done = False
        for k in range(b.dim):
            self.centre[k] = b.centre_of(i, k)
            self.half[k] = max(b.half_of(i, k), b.half_at(i, k, 1.0))
            self.motion[k] = b.motion_of(i, k) * rest
            self.first[k] = self.at[k] = 0.0
            if b.width[k] == 0.0:
                self.last[k] = 0.0
                continue
            low: cython.double = self.target_min[k] + min(0.0, self.target_motion[k])
            high: cython.double = self.target_max[k] + max(0.0, self.target_motion[k])
            if low > high:  # the bounds are empty
                self.is_done = True
                return
            self.first[k] = max(-MAX_IMAGES, ceil((b.swept_min[i, k] - high) / b.width[k]))
            self.last[k] = min(MAX_IMAGES, floor((b.swept_max[i, k] - low) / b.width[k]))
            self.at[k] = self.first[k]
            if self.first[k] > self.last[k]:
                self.is_done = True
        self.at[0] -= 1.0

    # -- one image after the other --

    def advance(self) -> cython.bint:
        """Find the next image other than 0; return False if there are no more."""
        b: Bodies = self.bodies

        while self._step():
            self.image = 0
            for k in range(b.dim):
                self.offset[k] = self.at[k] * b.width[k]
                self.image += whole(self.at[k]) * one_width(k)
            if self.image != 0 and (not self.is_clipped or self._clips()):
                if not self.is_clipped:
                    for k in range(b.dim):
                        self.low[k] = b.swept_min[self.body, k] - self.offset[k]
                        self.high[k] = b.swept_max[self.body, k] - self.offset[k]
                return True
        self.rest()
        return False

    def rest(self) -> cython.void:
        """Select the body itself, image 0."""
        self.image = 0
        for k in range(3):
            self.offset[k] = 0.0

    def select(self, image: cython.longlong) -> cython.void:
        """Select an image."""
        self.image = image
        for k in range(self.bodies.dim):
            self.offset[k] = widths_of(image, k) * self.bodies.width[k]

    def _step(self) -> cython.bint:
        """Step to the next combination of widths, the first axis fastest."""
        if self.is_done:
            return False
        for k in range(self.bodies.dim):
            self.at[k] += 1.0
            if self.at[k] <= self.last[k]:
                return True
            self.at[k] = self.first[k]
        self.is_done = True
        return False

    def _clips(self) -> cython.bint:
        """Return whether the path meets the target at this image; set the part that does."""
        b: Bodies = self.bodies
        enter: cython.double = 0.0
        leave: cython.double = 1.0

        for k in range(b.dim):
            centre: cython.double = self.centre[k] - self.offset[k]
            reach: cython.double = self.half[k] + IMAGE_REACH * (
                abs(self.centre[k]) + self.half[k] + abs(self.motion[k])
                + abs(self.offset[k]) + b.width[k] + abs(self.target_motion[k])
            )  # fmt: skip
            displacement: cython.double = self.motion[k] - self.target_motion[k]
            behind: cython.double = (self.target_min[k] - reach) - centre
            ahead: cython.double = (self.target_max[k] + reach) - centre
            if displacement > 0.0:
                enter = max(enter, behind / displacement)
                leave = min(leave, ahead / displacement)
            elif displacement < 0.0:
                enter = max(enter, ahead / displacement)
                leave = min(leave, behind / displacement)
            elif behind > 0.0 or ahead < 0.0:
                return False
        if enter > leave:
            return False
        for k in range(b.dim):
            centre = self.centre[k] - self.offset[k]
            reach = self.half[k] + IMAGE_REACH * (
                abs(self.centre[k]) + self.half[k] + abs(self.motion[k])
                + abs(self.offset[k]) + b.width[k]
            )  # fmt: skip
            displacement = self.motion[k]
            self.low[k] = centre + min(displacement * enter, displacement * leave) - reach
            self.high[k] = centre + max(displacement * enter, displacement * leave) + reach
        return True
