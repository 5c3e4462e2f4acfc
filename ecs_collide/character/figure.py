"""A character in one step: its box, its velocity, and the ground, walls and zones that it touches.

All velocities are relative to the ground of the character (its frame).  On a `Carry` the space
adds the velocity of the ground; in the air or above a step of a lift, the stride adds it.
"""

from __future__ import annotations

from math import copysign, cos
from typing import Any

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.constants import INF, LENGTH_ROUNDING, SAME
from ecs_collide.character.memory import NOTHING
from ecs_collide.character.surroundings import (
    ANY,
    FIRM,
    IN_SPACE,
    NO_VELOCITY,
    Hit,
    Surroundings,
    vector,
)
from ecs_collide.components.basics import Disabled
from ecs_collide.components.dynamics import Attached, GravityScale
from ecs_collide.motion.bodies import vector_of
from ecs_collide.narrowphase.contacts_between_steps import LEAVING, PASSING, SOLID, ContactRows
from ecs_collide.narrowphase.slopes import Slopes

COSINE_ROUNDING = 1e-9
DEGREE = 0.017453292519943295  # in radians


@cython.final
class Figure:
    """A character in one step; the modules of moves ask and change it."""

    around: Surroundings
    space: ReadOnly[Any]
    extras: Any  # see `Strides`
    entity: ReadOnly[Any]
    character: ReadOnly[Any]
    memory: ReadOnly[Any]
    wants: Any  # the character whose wishes count
    place: Any  # its `Position`
    extents: Any
    dt: cython.double
    late: cython.double  # rounding of a sum of steps, in seconds
    dim: cython.int
    centre: tuple
    half: tuple
    up: ReadOnly[cython.int]  # the axis
    sign: ReadOnly[cython.int]  # the direction along it
    is_flat: ReadOnly[cython.bint]  # whether it never falls, as in a game seen from above
    upright: ReadOnly[cython.int]  # the axis along which it does not walk; -1 if flat in 2D
    steepest: cython.double  # the cosine of the steepest ground
    gravity: cython.double
    own: cython.double[3]  # its velocity relative to its ground, along the world's axes
    frame: cython.double[3]  # the velocity of its carrier, or its last
    wish: cython.double[3]  # along the ground, of length 1 at most
    is_known: cython.bint  # whether the last step has left it where it is
    rides: cython.bint  # whether the space adds `frame` itself
    touches: cython.bint  # whether it has a contact with ground
    was_on: cython.bint  # whether it has stood on ground until now
    held_up: cython.bint  # whether something has held it up in the last step
    is_wedged: cython.bint  # whether it stands between slopes that are too steep
    is_hit: cython.bint
    jumps: cython.bint
    dashes: cython.bint
    hangs: cython.bint
    hovers: cython.bint
    # Its velocity after the impact of this step, if the impact turns it; else None.
    expected: Any
    moved: tuple  # the part of its velocity that ends with its move
    drop: Any  # ground below it that it does not touch, and its distance; else None
    grounds: list  # the bodies in contact below it, the oldest contact first
    floors: dict  # the normals of `grounds`
    below: dict  # the normals of ground below it
    steep: list  # normal and entity of slopes it slides down
    walls: list  # normal, of three numbers, and entity of walls that it touches
    ladders: list  # those that it holds on to
    is_in_zone: cython.bint
    drag: cython.double  # of the zones in which it is, per second
    flow: tuple  # their velocity
    footing: cython.double  # the factor of the speed at which it walks there
    afloat: cython.double  # the part of it that is in zones with buoyancy, from 0 to 1

    def __init__(
        self, around: Surroundings, extras: Any, found: tuple, box: tuple, dt: cython.double
    ):
        """Begin a step of `dt` seconds, of an entity with components and a box."""
        components: tuple = found[1]
        character: Any = components[0]

        self.around, self.extras, self.space = around, extras, around.space
        self.entity, self.character = found[0], character
        self.memory, self.wants = character.memory, character
        self.place, self.extents = components[1], components[2]
        self.dt = dt
        self.late = LENGTH_ROUNDING + SAME * dt
        self.dim = around.dim
        self.centre, self.half = box
        up: cython.int = self.memory.up or around.up
        self.up = abs(up) - 1
        self.sign = 1 if up > 0 else -1
        self.steepest = cos(character.floor_max_angle * DEGREE) - COSINE_ROUNDING
        frame: tuple = self.memory.frame
        for k in range(self.dim):
            self.frame[k] = frame[k]
        self.is_known = True
        self.expected = self.drop = None
        self.moved = NO_VELOCITY
        self.grounds, self.steep, self.walls, self.ladders = [], [], [], []
        self.floors, self.below = {}, {}
        scale: cython.double = around.number_of(self.entity, GravityScale, "value", 1.0)
        self.gravity = character.gravity * scale
        self.is_flat = scale == 0.0
        self.upright = -1 if self.is_flat and self.dim == 2 else self.up

    def read_box(self) -> None:
        """Read its box from its components, whose numbers are sound."""
        self.centre = vector(self.place, self.dim)
        self.half = vector(self.extents, self.dim)

    # -- the ground --

    def find_ground(self, moved: tuple) -> cython.void:
        """Find its ground, and its own velocity: as planned, or as the last step changed it."""
        c: Any = self.character
        last: Any = self.memory
        up: cython.int = self.up
        written: tuple = last.written
        planned: tuple = last.own
        rode: cython.bint = last.rode
        stepping: cython.bint = last.stepping
        follows: cython.bint = stepping or last.turned

        self._find_contacts()
        if self.is_flat:
            self.grounds, self.floors, self.steep = [], {}, []
        stands: cython.bint = len(self.grounds) > 0
        carrying = self._find_carrier()
        self.rides = carrying is not None
        had_frame: cython.bint = False
        for k in range(self.dim):
            had_frame |= self.frame[k] != 0.0
        landed: cython.bint = stands and not rode and not follows and had_frame
        slopes: cython.bint = not c.on_ground and self.lands_on_slope()
        for k in range(self.dim):
            now: cython.double = moved[k]
            as_written: cython.double = written[k]
            left: cython.double = self.frame[k] if rode and not self.rides else 0.0
            # Otherwise it was held up, or thrown.
            kept: cython.bint = are_same(now, as_written + left)
            if k != up and stands and follows:
                kept = True  # only the frame has changed, not its walk
            if k != up and slopes:
                kept = True  # the slope has turned its fall, not its walk
            if k != up and not kept and stands and self._is_rubbed(k, now, as_written):
                kept = True  # friction has slowed its fall, not its walk
            if k == up and stepping and now * self.sign < as_written * self.sign:
                kept = True  # something has slowed its rise onto a step, which is no jump
            if k == up and not kept:
                self.held_up = (now - as_written) * self.sign > 0.0
            if kept and not (landed and k != up):
                self.own[k] = planned[k]
            elif k != up and not stands and self.frame[k] != 0.0 and now - self.frame[k] == 0.0:
                self.own[k] = 0.0  # stopped by a wall that moves as its last ground did
            else:
                self.own[k] = now
                self.frame[k] = 0.0
        if carrying is not None:
            self.set_frame(carrying)
        elif stands:
            self.set_frame(NO_VELOCITY)
        elif rode:
            self.set_frame(self.kept_of_lift())

        if last.knocked:
            self._take_knock()
        self.touches = stands and not self._is_thrown(self.grounds[0])
        if self.walls and last.ledge < 0:
            last.wall, last.since_wall = self.walls[0][0], 0.0
        self.is_wedged = not self.touches and self._is_wedged()
        self.was_on = c.on_ground and (self.touches or not self.is_hit)
        if self.is_flat or (self.is_in_zone and self.gravity < 0.0):  # it floats
            self.touches = self.was_on = self.held_up = self.is_wedged = False
        if self.touches:
            c.ground = self.grounds[0]
        elif self.is_wedged:
            c.ground = self.steep[0][1]

    def _is_rubbed(self, k: cython.int, now: cython.double, written: cython.double) -> cython.bint:
        """Return whether friction on its ground, and nothing else, has slowed it on an axis."""
        if now * written < 0.0 or abs(now) >= abs(written):
            return False
        for normal, _ in self.walls:
            if normal[k] * written < 0.0:
                return False
        last: tuple = self.around.last_velocity(self.entity)
        if now != last[k]:  # the game has set it
            return False
        for ground in self.grounds:
            if self.around.friction_between(self.entity, ground) > 0.0:
                return True
        return False

    @cython.cfunc
    def frame_now(self) -> tuple:
        """Return its frame as a vector."""
        return vector_of_three(self.dim, self.frame[0], self.frame[1], self.frame[2])

    def set_frame(self, velocity: tuple) -> cython.void:
        """Set the velocity of its carrier."""
        for k in range(self.dim):
            self.frame[k] = velocity[k]

    def is_floor(self, normal: tuple) -> cython.bint:
        """Return whether a surface with this normal is not too steep to stand on."""
        return normal[self.up] * self.sign >= self.steepest

    def _is_wedged(self) -> cython.bint:
        """Return whether it falls no further though it touches only slopes that are too steep."""
        least: cython.double = INF
        if not self.held_up or not self.steep:
            return False
        for normal, other in self.steep:
            least = min(least, self.rise_of(other, normal))
        fall: cython.double = (self.own[self.up] + self.frame[self.up]) * self.sign
        return fall >= least or are_same(fall, least)

    def is_slanted(self, normal: tuple) -> cython.bint:
        """Return whether a normal is that of a slope."""
        part: cython.double = normal[self.up]
        return 0.0 < abs(part) < 1.0

    def lands_on_slope(self) -> cython.bint:
        """Return whether its ground is a slope."""
        for normal in self.floors.values():  # noqa: SIM110  (a C function has no generators)
            if self.is_slanted(normal):
                return True
        return False

    def _find_contacts(self) -> cython.void:
        """Find the bodies in contact below it, walls, and the effect of the zones it touches."""
        around: Surroundings = self.around
        contacts: ContactRows = around.contacts
        row: cython.Py_ssize_t = around.row_of.row(self.entity)
        zones: list = []
        found: list = []
        zone: Any = self.extras.zone

        if not self.is_known or row < 0:
            return
        n: cython.Py_ssize_t
        for n in contacts.find(row):
            is_second: cython.bint = contacts.at[n].second == row
            kind: cython.int = contacts.at[n].kind
            partner: cython.Py_ssize_t = contacts.partner(n, row)
            other = around.bodies.ids[partner]
            if kind == PASSING or (around.there is not None and not around.there(other)):
                continue
            if kind != SOLID and kind != LEAVING:
                if (
                    around.has(other, zone)
                    and other not in around.wrong
                    and not around.has(other, Disabled)
                ):
                    zones.append(other)
                continue
            if not around.holds(other):
                continue
            normal: tuple = self._normal_of(n, is_second)
            height: cython.double = normal[self.up]
            if height * self.sign >= self.steepest:
                self.floors[other] = normal
                found.append((contacts.at[n].since, other))
            elif height * self.sign > 0.0:
                self._insert(self.steep, normal, other)
            elif height == 0.0:
                self._insert(self.walls, three(normal), other)
        if zones:
            self._enter(zones)
        if len(found) == 1:
            self.grounds.append(found[0][1])
            return
        first: list = []  # with the times at which the contacts began
        for begin, other in found:
            since: cython.double = begin
            place: cython.Py_ssize_t = len(first)
            while place > 0 and (
                since < first[place - 1]
                or (since == first[place - 1] and around.precedes(other, self.grounds[place - 1]))
            ):
                place -= 1
            first.insert(place, since)
            self.grounds.insert(place, other)

    @cython.cfunc
    def _normal_of(self, n: cython.Py_ssize_t, is_second: cython.bint) -> tuple:
        """Return the normal of a contact towards it."""
        rows: ContactRows = self.around.contacts
        slopes: Slopes = self.around.timeline.step.slopes
        out: cython.double = -1.0 if is_second else 1.0

        slopes.find_normal(rows.at[n].first, rows.at[n].second, rows.at[n].axis, rows.at[n].sign)
        for k in range(self.dim):
            slopes.unit[k] = out * slopes.unit[k] + 0.0
        return vector_of(slopes.unit, 0, self.dim)

    def _insert(self, into: list, normal: tuple, other) -> cython.void:
        """Insert a normal and an entity into a list in the order of bodies in space."""
        n: cython.Py_ssize_t = len(into)
        while n > 0 and self.around.precedes(other, into[n - 1][1]):
            n -= 1
        into.insert(n, (normal, other))

    def _enter(self, zones: list) -> cython.void:
        """Find the effect of the zones in which it is."""
        around: Surroundings = self.around
        known: list = []
        for zone in zones:
            known.append((around.component(zone, self.extras.zone), around.corners_of(zone)))
        gravity, afloat, self.drag, footing, *flow = around.zones.effect_of(
            around.corners_of(self.entity), known
        )
        self.is_in_zone = True
        self.gravity *= gravity
        self.flow = tuple(flow)
        self.footing, self.afloat = max(footing, 0.0), min(afloat, 1.0)

    @cython.cfunc
    def kept_of_lift(self) -> tuple:
        """Return the part of the velocity of its frame that it keeps after it has left it."""
        keeps: str = self.character.lift_speed
        kept: list = [0.0, 0.0, 0.0]
        for k in range(self.dim):
            sinks: cython.bint = k == self.up and self.frame[k] * self.sign < 0.0
            if keeps == "all" or (keeps == "upward" and not sinks):
                kept[k] = self.frame[k]
        return tuple(kept)

    def _take_knock(self) -> cython.void:
        """Begin a knock-back, which ends what it holds on to."""
        c: Any = self.character
        memory: Any = self.memory
        knock: tuple = memory.knock
        for k in range(self.dim):
            self.own[k] = knock[k]
        memory.knocked = memory.climbing = c.jumping = False
        self.is_hit = True
        memory.air_dt = memory.locked = 0.0
        memory.since_press = INF
        memory.since_dash = max(memory.since_dash, c.dash_time)
        self.let_go()

    def follow(self, other) -> cython.void:
        """Take the velocity of what it holds on to as its frame; of an attached box, the owner."""
        around: Surroundings = self.around
        attached = around.component(other, Attached)
        if attached is not None and around.row_of.row(attached.owner) >= 0:
            self.follow(attached.owner)
            return
        moved: tuple = around.velocity_of(other)
        carried: tuple = around.carried(other)
        for k in range(self.dim):
            self.frame[k] = moved[k] + carried[k]

    @cython.cfunc
    def _find_carrier(self) -> object:
        """Return the velocity with which the space will carry it, or None."""
        best = None
        of = None
        falls: cython.double = 0.0
        for ground in self.grounds:
            moved = self.velocity_on(ground)
            if moved is None:
                continue
            fall: cython.double = -moved[self.up] * self.sign
            if best is None or fall < falls or (fall == falls and self.around.precedes(ground, of)):
                best, of, falls = moved, ground, fall
        if best is not None or self.around.row_of.row(self.entity) < 0:
            return best
        # Even if the carrier is gone: the next step adds its velocity for the last time.
        carried: tuple = self.around.carried(self.entity)
        return carried if any_of(carried) else None

    @cython.cfunc
    def velocity_on(self, ground) -> object:
        """Return the velocity of a `Carry`, or None if the body does not carry."""
        normal = self.floors.get(ground) or self.below.get(ground) or self.upwards(1.0)
        return self.around.velocity_on(ground, self.up, normal)

    def rise_of(self, other, normal: tuple) -> cython.double:
        """Return how fast a wall rises, on the face with a normal."""
        moved: tuple = self.around.face_velocity(other, normal, None)
        return moved[self.up] * self.sign

    def speed_of(self, other, k: cython.int, normal) -> cython.double:
        """Return the velocity of a face on an axis, relative to the frame; of the top for None."""
        moved: tuple = self.around.face_velocity(other, normal or self.upwards(1.0), None)
        carried: tuple = self.around.carried(other)
        return moved[k] + carried[k] - self.frame[k]

    def speed_in_step(self, other, k: cython.int) -> cython.double:
        """Return the velocity of a body on an axis, relative to the frame; of a float, the mean."""
        return self.around.speed_in_step(other, self.speed_of(other, k, None), k, self.dt)

    def _is_thrown(self, ground) -> cython.bint:
        """Return whether it leaves its ground because a spring or a hit has set its velocity."""
        rises: cython.double = self.own[self.up] * self.sign
        if rises <= 0.0 or are_same(rises, 0.0):  # the tiles of one lift are rounded one by one
            return False
        normal: tuple = self.floors[ground]
        moved: tuple
        if self.is_slanted(normal):  # an impact has turned it along the slope
            moved = NO_VELOCITY if self.rides else self.around.velocity_of(ground)
            away: cython.double = 0.0
            most: cython.double = 1.0
            for k in range(self.dim):
                away += (self.own[k] - moved[k]) * normal[k]
                most = max(most, abs(self.own[k]))
            return away > SAME * most
        if self.rides and not self.around.gives_way(ground):
            return True
        moved = self.around.last_velocity(ground)
        moved = self.around.face_velocity(ground, normal, moved)
        pushed: cython.double = moved[self.up] * self.sign
        return not (rises <= pushed or are_same(rises, pushed))

    def wishes_to_walk(self) -> cython.bint:
        """Return whether it wants to go anywhere."""
        for k in range(self.dim):  # noqa: SIM110  (a C function has no generators)
            if self.wish[k] != 0.0:
                return True
        return False

    def note_changes(self) -> cython.void:
        """Record what its moves have changed in other components, after a change."""
        is_upside_down: cython.bint = self.around.up == -self.sign * (self.up + 1)
        self.extras.note_changes(self.entity, self.memory, is_upside_down, self.moved)

    def leave_frame(self) -> cython.void:
        """Add the rising speed of the ground to its own: it falls by itself from now on."""
        if not self.rides:
            self.own[self.up] += self.frame[self.up]
            self.frame[self.up] = 0.0

    def let_go(self) -> cython.void:
        """Hang on no ledge any longer."""
        if self.memory.ledge != NOTHING:
            self.memory.ledge, self.memory.pull = NOTHING, 0.0
            self.memory.since_ledge = 0.0

    # -- queries --

    def height_above_feet(self, other) -> cython.double:
        """Return how far above its feet the top of a body is."""
        centre: cython.double = self.centre[self.up]
        half: cython.double = self.half[self.up]
        feet: cython.double = centre - self.sign * half
        return (self.around.face_of(other, self.up, self.sign) - feet) * self.sign

    @cython.cfunc
    def way(self, steps: cython.double) -> tuple:
        """Return the wanted displacement along the ground in a number of steps."""
        far: cython.double = steps * self.dt
        x: cython.double = 0.0 if self.up == 0 else self.own[0] * far
        y: cython.double = 0.0 if self.up == 1 else self.own[1] * far
        z: cython.double = 0.0 if self.up == 2 else self.own[2] * far
        return vector_of_three(self.dim, x, y, z)

    def find_rounding(self) -> cython.double:
        """Return how far rounding may have moved a face of its box."""
        return LENGTH_ROUNDING * self.find_reach(self.centre)

    def find_reach(self, centre: tuple) -> cython.double:
        """Return the largest number of its box at a place."""
        reach: cython.double = 0.0
        for k in range(self.dim):
            reach = max(reach, abs(centre[k]), abs(self.half[k]))
        return reach

    @cython.cfunc
    def upwards(self, far: cython.double) -> tuple:
        """Return a displacement along up."""
        return axis_vector(self.dim, self.up, self.sign * far)

    def is_free(self, centre: tuple, motion: tuple, half: tuple) -> cython.bint:
        """Return whether nothing would stop a box of some size on a way from a place."""
        return not any_of(motion) or (
            self.around.cast(self.entity, centre, half, motion, ANY) is None
        )

    @cython.cfunc
    def cast(self, centre: tuple, motion: tuple) -> Hit | None:
        """Return the first body that would stop it on a way from a place, as in the step.

        Of several bodies hit at once it is the first in space.
        """
        if not any_of(motion):
            return None
        return self.around.cast(self.entity, centre, self.half, motion, IN_SPACE)

    @cython.cfunc
    def cast_firm(self, centre: tuple, motion: tuple) -> Hit | None:
        """Do the same, and of several bodies hit at once return a wall rather than a crate."""
        if not any_of(motion):
            return None
        return self.around.cast(self.entity, centre, self.half, motion, FIRM)


def are_same(one: cython.double, other: cython.double) -> cython.bint:
    """Return whether two speeds are the same except for rounding."""
    return abs(one - other) <= SAME * max(1.0, abs(one), abs(other)) * 2.0**-10


def any_of(numbers: tuple) -> cython.bint:
    """Return whether a vector has a part that is not 0."""
    for k in range(len(numbers)):  # noqa: SIM110  (a C function has no generators)
        if numbers[k] != 0.0:
            return True
    return False


@cython.cfunc
def added(one: tuple, other: tuple) -> tuple:
    """Return the sum of two vectors."""
    if len(one) == 2:
        return one[0] + other[0], one[1] + other[1]
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


@cython.cfunc
def times(vector: tuple, factor: cython.double) -> tuple:
    """Return a multiple of a vector."""
    if len(vector) == 2:
        return vector[0] * factor, vector[1] * factor
    return vector[0] * factor, vector[1] * factor, vector[2] * factor


@cython.cfunc
def axis_vector(dim: cython.int, axis: cython.int, length: cython.double) -> tuple:
    """Return a vector along an axis."""
    x: cython.double = length if axis == 0 else 0.0
    y: cython.double = length if axis == 1 else 0.0
    z: cython.double = length if axis == 2 else 0.0
    return vector_of_three(dim, x, y, z)


@cython.cfunc
def vector_of_three(dim: cython.int, x: cython.double, y: cython.double, z: cython.double) -> tuple:
    """Return the first `dim` of three numbers as a vector."""
    if dim == 2:
        return x, y
    return x, y, z


@cython.cfunc
def same_or(before: tuple, now: cython.p_double) -> tuple:
    """Return three numbers as a vector: the one before if it has the same bits."""
    for k in range(3):
        old: cython.double = before[k]
        if old != now[k] or copysign(1.0, old) != copysign(1.0, now[k]):
            return now[0], now[1], now[2]
    return before


@cython.cfunc
def three(numbers: tuple) -> tuple:
    """Return two or three numbers as three."""
    return numbers if len(numbers) == 3 else (numbers[0], numbers[1], 0.0)
