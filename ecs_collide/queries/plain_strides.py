"""The usual stride of a character: it stands or walks on still ground, and nothing is in its way.

Most characters do so in most steps.  Here such a stride is computed in one call for many of them,
without the queries of `character.stride`, which decides every other case.  Both give the same bits;
`tests/system/test_plain_strides.py` compares them.

A stride is plain if all of this holds:

- The last stride ended on the ground, in contact with it, and did nothing else: `Memory.plain`.
- The velocity is the one that it wrote, and there is no wish but to walk.
- The ground is a body without `Carry`.  It touches no wall and is in no zone.
- Two steps ahead there is nothing but sensors.
- It goes on standing, or walking.

Nothing is written before all of it is known.
"""

from __future__ import annotations

from math import copysign, nextafter, sqrt
from typing import Any

from ecs_collide._kernel import cython, may_raise
from ecs_collide._kernel.arrays import LONG, zeros
from ecs_collide._kernel.constants import INF, LARGEST, LENGTH_ROUNDING, SAME, STEPS_AHEAD
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import CROSSING, SOLID, ContactRows
from ecs_collide.queries.search import Search
from ecs_collide.response.carriers import RiderTable
from ecs_collide.step.state import StepState
from ecs_collide.step.timeline import Timeline


@cython.final
class PlainStrides:
    """Computes the plain strides of characters."""

    state: StepState
    row_of: dict  # the row of each entity
    places: Any  # the binding of `Position`
    # component types: of the game's switch for a body, carriers, sensors, zones
    disabled: Any
    carry: Any
    sensor: Any
    zone: Any
    standing: Any  # the states of a character, by identity
    walking: Any
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
    # (rows,): the last one of each row's contacts; as `following`, 2 * number + side, or -1
    last: cython.longlong[::1]
    following: cython.longlong[::1]  # (2 * contacts,)
    # The stride under way.
    axis: cython.int  # of up
    sign: cython.int
    ground: cython.Py_ssize_t  # its row
    centre: cython.double[3]
    half: cython.double[3]
    own: cython.double[3]  # the velocity along the ground
    motion: cython.double[3]

    def __init__(self, state: StepState, row_of: dict, places: Any, kinds: tuple, states: tuple):
        """Work for the bodies of a space.

        Parameters
        ----------
        state : StepState
        row_of : dict
        places : ComponentBinding
            Of `Position`.
        kinds : tuple of type
            `Disabled`, `Carry`, `Sensor` and `Zone`.
        states : tuple
            `CharacterState.STANDING` and `WALKING`.
        """
        self.state = state
        self.bodies = state.bodies
        self.dim = state.bodies.dim
        self.row_of = row_of
        self.places = places
        self.disabled, self.carry, self.sensor, self.zone = kinds
        self.standing, self.walking = states
        self.searched = None
        self.last = zeros(LONG, 0)
        self.following = zeros(LONG, 0)
        if not cython.compiled:
            for name in ("centre", "half", "own", "motion"):
                setattr(self, name, [0.0] * 3)

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
        self._link_contacts()
        while n < len(found) and self._stride(found[n][0], found[n][1]):
            n += 1
        return n

    @may_raise
    def _link_contacts(self) -> cython.void:
        """Link the contacts of each row."""
        n: cython.Py_ssize_t
        side: cython.int

        if self.last.shape[0] < self.bodies.capacity:
            self.last = zeros(LONG, self.bodies.capacity)
        if self.following.shape[0] < 2 * self.contacts.n:
            self.following = zeros(LONG, 4 * self.contacts.n)
        for n in range(self.bodies.capacity):
            self.last[n] = -1
        for n in range(self.contacts.n):
            for side in range(2):
                row: cython.Py_ssize_t = self.contacts.body(n, side)
                self.following[2 * n + side] = self.last[row]
                self.last[row] = 2 * n + side

    @may_raise
    def _stride(self, entity: Any, components: tuple) -> cython.bint:
        """Take the stride of one character; return whether it is plain."""
        character: Any = components[0]
        velocity: Any = components[3]
        memory: Any = character.memory
        k: cython.int
        j: cython.int = 0
        far: cython.double = 0.0

        self.axis = memory.plain
        if self.axis == 0 or self._wishes_more(character, memory):
            return False
        self.sign = 1 if self.axis > 0 else -1
        self.axis = abs(self.axis) - 1
        place: Any = self.row_of.get(entity)
        its: Any = self.database.get(entity)
        if place is None or its is None or self.disabled in its:
            return False
        row: cython.Py_ssize_t = place
        if self.items[row] is not components[1]:
            return False  # another body has had this id
        written: tuple = memory.written
        _read(velocity, self.motion)
        _read_tuple(written, self.own)
        for k in range(3):
            if self.motion[k] != self.own[k]:
                return False
        _read(components[1], self.centre)
        _read(components[2], self.half)
        if not self._finds_ground(row):
            return False
        _read_tuple(memory.own, self.own)
        for k in range(self.dim):
            if not (abs(self.centre[k]) <= LARGEST and 0.0 <= self.half[k] <= LARGEST):
                return False

        # The walk, as in `Stride.walk`.
        wish: cython.double = character.walk
        other_wish: cython.double = character.across
        if not (-INF < wish < INF and -INF < other_wish < INF):
            return False
        if self.dim == 2:
            other_wish = 0.0
        length: cython.double = sqrt(wish * wish + other_wish * other_wish)
        if length > 1.0:
            wish, other_wish = wish / length, other_wish / length
        speed: cython.double = character.walk_speed
        for k in range(self.dim):
            if k != self.axis:
                self.motion[k] = (wish if j == 0 else other_wish) * speed  # what it wants
                gap: cython.double = self.motion[k] - self.own[k]
                far += gap * gap
                j += 1
        far = sqrt(far)
        change: cython.double = 0.0
        if far > 0.0:
            change = character.acceleration if length > 0.0 else character.deceleration
            change = change * self.dt
        walks: cython.bint = False
        for k in range(self.dim):
            if k != self.axis:
                if far <= change:
                    self.own[k] = self.motion[k]
                else:
                    self.own[k] += (self.motion[k] - self.own[k]) / far * change
                walks |= self.own[k] != 0.0
        if character.state is not (self.walking if walks else self.standing):
            return False
        if walks and self._meets_anything(row):
            return False
        self._write(components, memory, written, wish)
        return True

    @may_raise
    def _wishes_more(self, character: Any, memory: Any) -> cython.bint:
        """Return whether a character wants more than to walk, or still may jump by a press."""
        jump: cython.bint = character.jump
        held: cython.bint = memory.held
        dash: cython.bint = character.dash
        dash_held: cython.bint = memory.dash_held
        climb: cython.double = character.climb

        if jump != held or dash != dash_held or character.drop:
            return True
        if climb != 0.0 and (character.climb_speed != 0.0 or not -INF < climb < INF):
            return True
        if character.crouch and character.crouch_height != 0.0:
            return True
        since: cython.double = memory.since_press
        if since < INF:
            late: cython.double = LENGTH_ROUNDING + SAME * self.dt
            last: cython.double = memory.last_dt
            buffer: cython.double = character.jump_buffer
            return since + last <= buffer + late
        return False

    @may_raise
    def _finds_ground(self, row: cython.Py_ssize_t) -> cython.bint:
        """Set `ground` to the oldest ground; return False if its contacts are more than ground."""
        link: cython.longlong = self.last[row]
        best: cython.double = INF

        self.ground = -1
        if self.riders.n != 0 and self.riders.carrier[row] >= 0:
            return False
        while link >= 0:
            n: cython.Py_ssize_t = link >> 1
            other: cython.Py_ssize_t = self.contacts.partner(n, row)
            entity: cython.longlong = self.bodies.ids[other]
            its: Any = self.database.get(entity)
            if its is None or (self.any_dead and entity in self.dead):
                return False
            if self.contacts.at[n].kind == CROSSING:
                if self.zone in its:
                    return False
            elif self.contacts.at[n].kind != SOLID or self.contacts.at[n].axis != self.axis:
                return False
            elif abs(self.contacts.at[n].sign) != 1:
                return False  # a slope
            elif (link & 1) == (self.contacts.at[n].sign * self.sign > 0):
                return False  # a ceiling: the normal points away from the second body
            else:
                if self.carry in its:
                    return False
                since: cython.double = self.contacts.at[n].since
                if (
                    self.ground < 0
                    or since < best
                    or (since == best and entity < self.bodies.ids[self.ground])
                ):
                    self.ground, best = other, since
            link = self.following[link]
        return self.ground >= 0

    @may_raise
    def _meets_anything(self, row: cython.Py_ssize_t) -> cython.bint:
        """Return whether anything but sensors is in its way in the next two steps."""
        k: cython.int
        n: cython.Py_ssize_t
        far: cython.double = STEPS_AHEAD * self.dt

        for k in range(self.dim):
            self.motion[k] = 0.0 if k == self.axis else self.own[k] * far
            if not abs(self.motion[k]) <= LARGEST:
                return True
        self.search.cast(self.centre, self.half, self.motion, row, self.boxes)
        for n in range(self.search.best.n):
            entity: cython.longlong = self.bodies.ids[self.search.best.items[n]]
            its: Any = self.database.get(entity)
            if its is None or self.sensor not in its:
                return True
        return False

    def _down_to_ground(self) -> cython.double:
        """Return the velocity along up that closes the gap to the ground that rounding left."""
        k: cython.int = self.axis
        sign: cython.double = self.sign
        centre: cython.double = self.centre[k]
        half: cython.double = self.half[k]
        feet: cython.double = centre - sign * half
        top: cython.double = (
            self.bodies.tight_max[self.ground, k]
            if self.sign > 0
            else self.bodies.tight_min[self.ground, k]
        )
        gap: cython.double = -((top - feet) * sign)

        if not 0.0 < gap <= LENGTH_ROUNDING * (abs(centre) + half):
            return 0.0
        nearer: cython.double = nextafter(centre, -sign * INF)
        if (nearer - sign * half - feet) * sign + gap < 0.0:
            return 0.0
        return 0.0 - sign * gap / self.dt * 2.0

    @may_raise
    def _write(
        self, components: tuple, memory: Any, written: tuple, wish: cython.double
    ) -> cython.void:
        """Write what the stride has changed."""
        character: Any = components[0]
        velocity: Any = components[3]
        passed: cython.double = memory.last_dt
        ground: cython.longlong = self.bodies.ids[self.ground]
        k: cython.int
        since: cython.double = memory.since_press

        self.own[self.axis] = 0.0
        if self.dim == 2:
            self.own[2] = 0.0
        if _differ(memory.own, self.own, 3):
            memory.own = (self.own[0], self.own[1], self.own[2])
        for k in range(self.dim):
            self.own[k] = self.own[k] + 0.0  # with the velocity of its ground, which is 0
        self.own[self.axis] = self._down_to_ground()
        if _differ(written, self.own, self.dim):
            velocity.x, velocity.y = self.own[0], self.own[1]
            if self.dim == 3:
                velocity.z = self.own[2]
            memory.written = (velocity.x, velocity.y, velocity.z)
        if wish != 0.0 and character.facing != copysign(1.0, wish):
            character.facing = copysign(1.0, wish)
        if character.ground != ground:
            character.ground = ground
        character.state_time = character.state_time + passed
        if since < INF:
            memory.since_press = since + passed
        since = memory.since_dash
        if since < INF:
            memory.since_dash = since + passed
        since = memory.since_ledge
        if since < INF:
            memory.since_ledge = since + passed
        if passed != self.dt:
            memory.last_dt = self.dt


@may_raise
def _read(vector: Any, into: cython.p_double) -> cython.void:
    """Read the numbers of a component."""
    into[0] = vector.x
    into[1] = vector.y
    into[2] = vector.z


@may_raise
def _read_tuple(numbers: tuple, into: cython.p_double) -> cython.void:
    """Read three numbers."""
    into[0] = numbers[0]
    into[1] = numbers[1]
    into[2] = numbers[2]


@may_raise
def _differ(numbers: tuple, others: cython.p_double, n: cython.int) -> cython.bint:
    """Return whether any of the first `n` numbers differ, by value or by the sign of a zero."""
    k: cython.int

    for k in range(n):
        number: cython.double = numbers[k]
        if number != others[k] or copysign(1.0, number) != copysign(1.0, others[k]):
            return True
    return False
