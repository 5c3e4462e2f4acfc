"""The usual stride of a character: it stands, walks, rises or falls, and nothing is in its way.

Most characters do so in most steps.  Here such a stride is computed in one call for many of them,
without the queries of `character.stride`, which decides every other case.  Both give the same bits;
`tests/system/test_plain_strides.py` compares them.

A stride is plain if all of this holds:

- The last stride ended in contact with the ground, or in the air, and did nothing else:
  `Memory.plain`.
- The velocity is the one that it wrote, or on the ground another one that does not rise.  There
  is no wish but to walk.
- The game has not put it elsewhere.
- It is in no zone, and its ground is in none.  In the air it touches nothing.
- Two steps ahead there is nothing but sensors and what its filter lets it pass.  If it does not
  rise, bodies that are too high to step onto may be there, too.
- It goes on standing, walking, rising or falling.  If it rides, it goes on riding.
- All numbers are plain ones within their bounds.

Nothing is written before all of it is known.
"""

from __future__ import annotations

from math import copysign, nextafter, sqrt
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.constants import (
    INF,
    LARGEST,
    LENGTH_ROUNDING,
    MOST_PULL,
    SAME,
    STEPS_AHEAD,
)
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import CROSSING, SOLID, ContactRows
from ecs_collide.queries.search import Search
from ecs_collide.response.carriers import RiderTable
from ecs_collide.step.state import StepState
from ecs_collide.step.timeline import Timeline
from ecs_collide.sync.body_lists import RowOf
from ecs_collide.sync.slots import Slots, fields_false, fields_numbers, slots_free, slots_new

XYZ = ("x", "y", "z")
WISHES = (
    *("walk", "across", "climb", "walk_speed", "acceleration", "deceleration"),
    *("facing", "state_time"),
)
FLIGHT = ("air_control", "gravity", "fall_speed", "jump_cut", "jump_speed", "air_time")
# The other abilities, which no plain stride uses.
REACHES = (
    *("air_jumps", "wall_slide_speed", "hover_speed", "hover_time", "coyote_time", "jump_buffer"),
    *("step_height", "snap_distance"),
)
HOLDS = (
    *("corner", "wall_jump_speed", "wall_jump_lock", "floor_max_angle", "ledge_reach"),
    *("ledge_time", "ledge_pause", "crouch_height"),
)
SPEEDS = ("climb_speed", "dash_speed", "dash_time", "dash_pause", "crouch_speed", "swim_speed")
# Bits of the numbers of each tuple that may be below 0, and of those that may be inf.
BELOW_ZERO_WISHES = 0b1000111
ENDLESS_WISHES = 0b110000
ENDLESS_FLIGHT = 0b100
ENDLESS_REACHES = 0b1111
BUTTONS = ("jump", "dash", "drop", "crouch")
TIMES = ("since_press", "last_dt", "since_dash", "since_ledge", "since_wall", "air_dt")
HELD = ("held", "dash_held")


@cython.final
class PlainStrides:
    """Computes the plain strides of characters."""

    state: StepState
    row_of: RowOf
    places: Any  # the binding of `Position`
    # component types: of the game's switch for a body, carriers, sensors, zones and so on
    disabled: Any
    carry: Any
    sensor: Any
    zone: Any
    gravity_scale: Any
    slope: Any
    velocity: Any
    immersed: Any
    may_meet: Any  # whether the filters of two entities let them meet
    velocity_on: Any  # the velocity with which a body carries, or None
    standing: Any  # the states of a character, by identity
    walking: Any
    rising: Any
    falling: Any
    bodies: Bodies
    dim: cython.int
    dt: cython.double
    # What the current call works on.
    database: dict  # the components of each entity, by type
    dead: Any  # entities whose deletion is pending
    any_dead: cython.bint
    boxes: tuple
    contacts: ContactRows
    riders: RiderTable
    search: Search
    searched: Any  # the timeline whose trees it searches
    items: list  # the `Position` of each row
    # The stride under way.
    axis: cython.int  # of up
    sign: cython.int
    flies: cython.bint  # whether it is in the air
    jumping: cython.bint  # whether it goes on rising by a jump that may be cut
    ground: cython.Py_ssize_t  # its row
    wall: cython.Py_ssize_t  # the row of the wall that it touches, the first in space, or -1
    wall_face: cython.int  # (axis + 1) * sign of its normal
    riding: Any  # of the carrier below it: -speed along up, row, velocity; or None
    centre: cython.double[3]
    half: cython.double[3]
    own: cython.double[3]  # the velocity along the ground
    own_before: cython.double[3]
    motion: cython.double[3]
    written: cython.double[3]  # by the last stride
    is_turned: cython.bint  # whether its velocity is another one since
    wishes: cython.double[8]  # the numbers `WISHES`
    flight: cython.double[6]  # the numbers `FLIGHT`
    times: cython.double[6]  # the numbers `TIMES`
    others: cython.double[8]  # the numbers `REACHES`, `HOLDS` or `SPEEDS`
    # Where components of the types met first hold their attributes.
    has_slots: cython.bint
    types: tuple
    of_position: cython.pointer[Slots]
    of_extents: cython.pointer[Slots]
    of_velocity: cython.pointer[Slots]
    of_wishes: cython.pointer[Slots]
    of_flight: cython.pointer[Slots]
    of_buttons: cython.pointer[Slots]
    of_times: cython.pointer[Slots]
    of_held: cython.pointer[Slots]
    of_reaches: cython.pointer[Slots]
    of_holds: cython.pointer[Slots]
    of_speeds: cython.pointer[Slots]

    def __init__(
        self,
        state: StepState,
        row_of: RowOf,
        places: Any,
        kinds: tuple,
        states: tuple,
        may_meet: Any,
        velocity_on: Any,
    ):
        """Work for the bodies of a space.

        Parameters
        ----------
        state : StepState
        row_of : RowOf
        places : ComponentBinding
            Of `Position`.
        kinds : tuple of type
            `Disabled`, `Carry`, `Sensor`, `Zone`, `GravityScale`, `Slope`, `Velocity` and
            `Immersed`.
        states : tuple
            `CharacterState.STANDING`, `WALKING`, `RISING` and `FALLING`.
        may_meet : callable
            Return whether the filters of two entities let them meet.
        velocity_on : callable
            Return the velocity with which an entity carries along an axis and sign of up, or None.
        """
        self.state = state
        self.bodies = state.bodies
        self.dim = state.bodies.dim
        self.row_of = row_of
        self.places = places
        self.disabled, self.carry, self.sensor, self.zone = kinds[:4]
        self.gravity_scale, self.slope, self.velocity, self.immersed = kinds[4:]
        self.standing, self.walking, self.rising, self.falling = states
        self.may_meet, self.velocity_on = may_meet, velocity_on
        self.searched = None
        self.has_slots = not cython.compiled

    def __dealloc__(self):
        if cython.compiled:
            slots_free(self.of_position)
            slots_free(self.of_extents)
            slots_free(self.of_velocity)
            slots_free(self.of_wishes)
            slots_free(self.of_flight)
            slots_free(self.of_buttons)
            slots_free(self.of_times)
            slots_free(self.of_held)
            slots_free(self.of_reaches)
            slots_free(self.of_holds)
            slots_free(self.of_speeds)

    def _find_slots(self, components: tuple) -> cython.void:
        """Make the slots for the types of a character's components, once."""
        character: Any = components[0]
        kinds: tuple = (*map(type, components), type(character.memory))

        self.types = kinds  # kept, as slots borrow them
        self.has_slots = True  # first: where memory is short, fields are read by name
        self.of_wishes = slots_new(kinds[0], WISHES)
        self.of_flight = slots_new(kinds[0], FLIGHT)
        self.of_buttons = slots_new(kinds[0], BUTTONS)
        self.of_position = slots_new(kinds[1], XYZ)
        self.of_extents = slots_new(kinds[2], XYZ)
        self.of_velocity = slots_new(kinds[3], XYZ)
        self.of_times = slots_new(kinds[4], TIMES)
        self.of_held = slots_new(kinds[4], HELD)
        self.of_reaches = slots_new(kinds[0], REACHES)
        self.of_holds = slots_new(kinds[0], HOLDS)
        self.of_speeds = slots_new(kinds[0], SPEEDS)

    def take(
        self, found: list, n: cython.Py_ssize_t, dt: cython.double, boxes: tuple, database, dead
    ) -> int:
        """Take the strides of characters from index `n` on, as long as they are plain.

        Parameters
        ----------
        found : list of (entity, (Character, Position, Extents, Velocity))
        n : int
        dt : float
            In seconds.
        boxes : tuple
            As `Search` takes them.
        database : dict
            The components of each entity, by type.
        dead : collection of int
            The entities whose deletion is pending.

        Returns
        -------
        int
            The index of the first one whose stride is not plain; nothing of it has changed.
        """
        timeline: Timeline = self.state.timeline

        if self.searched is not timeline:
            self.search = Search(timeline.broadphase.still, timeline.broadphase.moving)
            self.searched = timeline
        self.dt, self.boxes, self.database, self.dead = dt, boxes, database, dead
        self.any_dead = len(dead) > 0
        self.contacts = timeline.contacts.rows
        self.riders = timeline.carriers.now
        self.items = self.places.items
        self.contacts.link()
        if not self.has_slots and n < len(found):
            self._find_slots(found[n][1])
        while n < len(found) and self._stride(found[n][0], found[n][1]):
            n += 1
        return n

    def _stride(self, entity: Any, components: tuple) -> cython.bint:
        """Take the stride of one character; return whether it is plain."""
        character: Any = components[0]
        velocity: Any = components[3]
        memory: Any = character.memory
        j: cython.int = 0
        far: cython.double = 0.0

        self.axis = memory.plain
        if self.axis == 0:
            return False
        if not self._reads_abilities(character):
            return False
        if not _read_named(self.of_times, TIMES, memory, self.times):
            return False
        if self._wishes_more(character, memory):
            return False
        state: Any = character.state
        self.flies = state is self.rising or state is self.falling
        self.sign = 1 if self.axis > 0 else -1
        self.axis = abs(self.axis) - 1
        row: cython.Py_ssize_t = self.row_of.find(entity)
        its: Any = self.database.get(entity)
        if row < 0 or its is None or self.disabled in its:
            return False
        if self.items[row] is not components[1]:
            return False  # another body has had this id
        if not _read_named(self.of_velocity, XYZ, velocity, self.motion):
            return False
        _read_tuple(memory.written, self.written)
        _read_tuple(memory.own, self.own_before)
        self.is_turned = False
        for k in range(3):
            self.own[k] = self.own_before[k]
            if self.motion[k] != self.written[k]:
                if self.flies or (k == self.axis and not self.motion[k] * self.sign <= 0.0):
                    return False  # thrown
                self.is_turned = True
                if not _are_same(self.motion[k], self.written[k]):
                    self.own[k] = self.motion[k]
        if not _read_named(self.of_position, XYZ, components[1], self.centre):
            return False
        if not _read_named(self.of_extents, XYZ, components[2], self.half):
            return False
        if not self._finds_ground(row) or (self.riding is not None) != memory.rode:
            return False
        if self.flies:
            if character.hover:
                return False
            if self.gravity_scale in its and not self._scale_gravity(its[self.gravity_scale]):
                return False
        for k in range(self.dim):
            if self.centre[k] != self.bodies.centre[row, k]:
                return False  # the game has put it elsewhere
            if not (abs(self.centre[k]) <= LARGEST and 0.0 <= self.half[k] <= LARGEST):
                return False
            if not abs(self.motion[k]) <= LARGEST:
                return False

        # The walk, as in `Stride.walk`.
        wish: cython.double = self.wishes[0]
        other_wish: cython.double = self.wishes[1]
        if not (-INF < wish < INF and -INF < other_wish < INF):
            return False
        if self.dim == 2:
            other_wish = 0.0
        length: cython.double = sqrt(wish * wish + other_wish * other_wish)
        if length > 1.0:
            wish, other_wish = wish / length, other_wish / length
        speed: cython.double = self.wishes[3]
        for k in range(self.dim):
            if k != self.axis:
                self.motion[k] = (wish if j == 0 else other_wish) * speed  # what it wants
                gap: cython.double = self.motion[k] - self.own[k]
                far += gap * gap
                j += 1
        far = sqrt(far)
        change: cython.double = 0.0
        if far > 0.0:
            change = self.wishes[4] if length > 0.0 else self.wishes[5]
            if self.flies:
                change = change * self.flight[0] if self.flight[0] > 0.0 else 0.0
            change *= self.dt
        walks: cython.bint = False
        for k in range(self.dim):
            if k != self.axis:
                if far <= change:
                    self.own[k] = self.motion[k]
                else:
                    self.own[k] += (self.motion[k] - self.own[k]) / far * change
                walks |= self.own[k] != 0.0
        rises: cython.bint = self.flies and self._fall(character) > 0.0
        if self.flies:
            if state is not (self.rising if rises else self.falling):
                return False
        elif state is not (self.walking if walks else self.standing):
            return False
        if (walks or self.flies) and self._meets_anything(row, rises, character):
            return False
        self._write(components, memory, wish)
        return True

    def _reads_abilities(self, character: Any) -> cython.bint:
        """Read the wishes and abilities of a character; return whether all are within bounds."""
        return (
            _read_named(self.of_wishes, WISHES, character, self.wishes)
            and _are_sound(self.wishes, 8, BELOW_ZERO_WISHES, ENDLESS_WISHES)
            and _read_named(self.of_flight, FLIGHT, character, self.flight)
            and _are_sound(self.flight, 6, 0, ENDLESS_FLIGHT)
            and _read_named(self.of_reaches, REACHES, character, self.others)
            and _are_sound(self.others, 8, 0, ENDLESS_REACHES)
            and _read_named(self.of_holds, HOLDS, character, self.others)
            and _are_sound(self.others, 8, 0, 0)
            and _read_named(self.of_speeds, SPEEDS, character, self.others)
            and _are_sound(self.others, 6, 0, 0)
        )

    def _scale_gravity(self, scale: Any) -> cython.bint:
        """Apply a `GravityScale`; return False if it is no plain number within its bounds."""
        value: Any = scale.value

        if not isinstance(value, (float, int)) or not abs(value) <= MOST_PULL:
            return False
        self.flight[1] *= value
        return True

    def _wishes_more(self, character: Any, memory: Any) -> cython.bint:
        """Return whether a character wants more than to walk, or still may jump by a press."""
        climb: cython.double = self.wishes[2]
        since: cython.double = self.times[0]

        if not cython.compiled or not (
            fields_false(self.of_buttons, character) and fields_false(self.of_held, memory)
        ):
            if character.jump != memory.held or character.dash != memory.dash_held:
                return True
            if character.drop or (character.crouch and character.crouch_height != 0.0):
                return True
        if climb != 0.0 and (character.climb_speed != 0.0 or not -INF < climb < INF):
            return True
        if since < INF:
            late: cython.double = LENGTH_ROUNDING + SAME * self.dt
            buffer: cython.double = character.jump_buffer
            return since + self.times[1] <= buffer + late
        return False

    def _fall(self, character: Any) -> cython.double:
        """Apply gravity as `Stride._fall` does, and return the speed along up."""
        gravity: cython.double = self.flight[1]

        rises: cython.double = (self.own[self.axis] + 0.0) * self.sign - gravity * self.times[
            5
        ] / 2.0
        self.jumping = character.jumping and rises > 0.0
        if self.jumping and not character.jump:
            self.jumping = False
            rises = min(rises, self.flight[3] * self.flight[4])
        rises -= gravity * self.dt / 2.0
        self.own[self.axis] = self.sign * max(rises, -self.flight[2])
        return self.own[self.axis] * self.sign

    def _finds_ground(self, row: cython.Py_ssize_t) -> cython.bint:
        """Set `ground` to the oldest ground, its carrier, and its wall.

        Return False if its contacts are more than that.
        """
        end: cython.Py_ssize_t = self.contacts.end_of(row)
        best: cython.double = INF

        self.ground, self.riding, self.wall = -1, None, -1
        while end >= 0:
            n: cython.Py_ssize_t = end >> 1
            other: cython.Py_ssize_t = self.contacts.partner(n, row)
            entity: cython.longlong = self.bodies.ids[other]
            its: Any = self.database.get(entity)
            if its is None or (self.any_dead and entity in self.dead):
                return False
            if self.contacts.at[n].kind == CROSSING:
                if self.zone in its:
                    return False
            elif self.flies or self.contacts.at[n].kind != SOLID:
                return False
            elif abs(self.contacts.at[n].sign) != 1:
                return False  # a slope
            elif self.contacts.at[n].axis != self.axis:
                if self.wall < 0 or self.bodies.precedes(other, self.wall):
                    self.wall = other
                    self.wall_face = self.contacts.face(n) * (-1 if end & 1 else 1)
            elif (end & 1) != (self.contacts.at[n].sign * self.sign > 0):
                # Ground: the normal points away from the second body.  A ceiling does nothing.
                if self.immersed in its:
                    return False  # it bobs within the step
                if self.carry in its:
                    if self.bodies.dynamic[other]:
                        return False  # such as a character, whose stride changes its velocity
                    self._ride(other)
                since: cython.double = self.contacts.at[n].since
                if (
                    self.ground < 0
                    or since < best
                    or (since == best and self.bodies.precedes(other, self.ground))
                ):
                    self.ground, best = other, since
            end = self.contacts.next_end[end]
        if self.riding is None and self.riders.n != 0 and self.riders.carrier[row] >= 0:
            return False
        return self.flies or self.ground >= 0

    def _ride(self, ground: cython.Py_ssize_t) -> cython.void:
        """Ride on a body below, if it carries, and of several rises the fastest or is the first."""
        velocity: Any = self.velocity_on(self.bodies.ids[ground], self.axis, self.sign)

        if velocity is None:
            return
        falls: cython.double = -velocity[self.axis] * self.sign
        if self.riding is not None:
            least: cython.double = self.riding[0]
            if falls > least or (
                falls == least and not self.bodies.precedes(ground, self.riding[1])
            ):
                return
        self.riding = (falls, ground, velocity)

    def _meets_anything(
        self, row: cython.Py_ssize_t, rises: cython.bint, character: Any
    ) -> cython.bint:
        """Return whether anything may change its way in the next two steps.

        A wall ends it in the step.  Beside slopes, `ramps.follow` may bend it there, except in 2D
        at a wall at rest, or at a body that it pushes.
        """
        far: cython.double = STEPS_AHEAD * self.dt

        for k in range(self.dim):
            if self.flies or k != self.axis:
                self.motion[k] = self.own[k] * far
            else:
                self.motion[k] = 0.0
            if not abs(self.motion[k]) <= LARGEST:
                return True
        self.search.cast(self.centre, self.half, self.motion, row, self.boxes)
        for n in range(self.search.best.n):
            entity: cython.longlong = self.bodies.ids[self.search.best.items[n]]
            its: Any = self.database.get(entity)
            if its is None:
                return True
            if self.sensor in its:
                continue
            try:
                if not self.may_meet(self.bodies.ids[row], entity):
                    continue
            except Exception:  # a stride that is not plain raises it, or leaves it to the step
                return True
            if rises or self.slope in its:
                return True
            other: cython.Py_ssize_t = self.search.best.items[n]
            if not (self.flies or self.bodies.dynamic[other]) and (
                self.dim != 2 or self.riding is not None or self.velocity in its
            ):
                return True
            limit: cython.double = character.corner if self.flies else character.step_height
            if 0.0 < self._height_above_feet(other) <= limit * (1.0 + SAME):
                return True
        return False

    def _height_above_feet(self, other: cython.Py_ssize_t) -> cython.double:
        """Return how far above its feet the top of a body is."""
        k: cython.int = self.axis
        feet: cython.double = self.centre[k] - self.sign * self.half[k]
        top: cython.double = (
            self.bodies.tight_max[other, k] if self.sign > 0 else self.bodies.tight_min[other, k]
        )

        return (top - feet) * self.sign

    def _down_to_ground(self) -> cython.double:
        """Return the velocity along up that closes the gap to the ground that rounding left."""
        k: cython.int = self.axis
        sign: cython.double = self.sign
        centre: cython.double = self.centre[k]
        half: cython.double = self.half[k]
        feet: cython.double = centre - sign * half
        gap: cython.double = -self._height_above_feet(self.ground)

        if not 0.0 < gap <= LENGTH_ROUNDING * (abs(centre) + half):
            return 0.0
        nearer: cython.double = nextafter(centre, -sign * INF)
        if (nearer - sign * half - feet) * sign + gap < 0.0:
            return 0.0
        return 0.0 - sign * gap / self.dt * 2.0

    def _write(self, components: tuple, memory: Any, wish: cython.double) -> cython.void:
        """Write what the stride has changed."""
        character: Any = components[0]
        velocity: Any = components[3]
        passed: cython.double = self.times[1]

        if self.flies:
            if self.own_before[self.axis] * self.sign > 0.0 and not character.jumping:
                memory.gone = True  # it was thrown
            character.jumping = self.jumping
            character.air_time = self.flight[5] + passed
            memory.air_dt = self.dt
        else:
            self.own[self.axis] = 0.0
            ground: cython.longlong = self.bodies.ids[self.ground]
            if character.ground != ground:
                character.ground = ground
        if self.wall >= 0 and memory.ledge < 0:
            for k in range(3):
                self.motion[k] = 0.0
            self.motion[abs(self.wall_face) - 1] = 1.0 if self.wall_face > 0 else -1.0
            memory.wall = (self.motion[0], self.motion[1], self.motion[2])
        if self.riding is not None:
            memory.frame = (*self.riding[2], 0.0)[:3]
        if self.dim == 2:
            self.own[2] = 0.0
        if _differ(self.own_before, self.own, 3):
            memory.own = (self.own[0], self.own[1], self.own[2])
        _read_tuple(memory.frame, self.motion)
        for k in range(self.dim):
            self.own[k] = self.own[k] + (self.motion[k] if self.riding is None else 0.0)
        if self.ground >= 0 and self.riding is None:
            self.own[self.axis] = self._down_to_ground()
        if self.is_turned or _differ(self.written, self.own, self.dim):
            velocity.x, velocity.y = self.own[0], self.own[1]
            if self.dim == 3:
                velocity.z = self.own[2]
            memory.written = (velocity.x, velocity.y, velocity.z)
        if wish != 0.0 and self.wishes[6] != copysign(1.0, wish):
            character.facing = copysign(1.0, wish)
        character.state_time = self.wishes[7] + passed
        if self.times[0] < INF:
            memory.since_press = self.times[0] + passed
        if self.times[2] < INF:
            memory.since_dash = self.times[2] + passed
        if self.times[3] < INF:
            memory.since_ledge = self.times[3] + passed
        if self.times[4] < INF:
            memory.since_wall = self.times[4] + passed
        if passed != self.dt:
            memory.last_dt = self.dt


def _are_same(one: cython.double, other: cython.double) -> cython.bint:
    """Return whether two speeds are the same except for rounding, as for a `Figure`."""
    return abs(one - other) <= SAME * max(1.0, abs(one), abs(other)) * 2.0**-10


def _read_named(
    slots: cython.pointer[Slots], names: tuple, item: Any, into: cython.p_double
) -> cython.bint:
    """Read the numbers of a component, in place if it has slots with plain numbers.

    Return False if one is missing or of a type that needs a conversion.
    """
    if cython.compiled and fields_numbers(slots, item, into):
        return True
    for k in range(len(names)):
        value: Any = getattr(item, names[k], None)
        if not isinstance(value, (float, int)):
            return False
        try:
            into[k] = float(value)
        except OverflowError:
            return False
    return True


def _are_sound(
    numbers: cython.p_double, n: cython.int, below_zero: cython.int, endless: cython.int
) -> cython.bint:
    """Return whether the first `n` numbers are within the bounds of wishes and abilities.

    Bits tell which of them may be below 0, and which may be inf.
    """
    for k in range(n):
        number: cython.double = numbers[k]
        if not abs(number) <= MOST_PULL and not (number == INF and endless >> k & 1):
            return False
        if number < 0.0 and not below_zero >> k & 1:
            return False
    return True


def _read_tuple(numbers: tuple, into: cython.p_double) -> cython.void:
    """Read three numbers."""
    into[0] = numbers[0]
    into[1] = numbers[1]
    into[2] = numbers[2]


def _differ(numbers: cython.p_double, others: cython.p_double, n: cython.int) -> cython.bint:
    """Return whether any of the first `n` numbers differ, by value or by the sign of a zero."""
    for k in range(n):
        if numbers[k] != others[k] or copysign(1.0, numbers[k]) != copysign(1.0, others[k]):
            return True
    return False
