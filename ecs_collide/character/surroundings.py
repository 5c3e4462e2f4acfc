"""The surroundings of characters: where other bodies are, and what they are.

Bodies are where the last step has left them.  They are what their components
say now, because the game may have changed these since.
"""

from __future__ import annotations

from typing import Any

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.constants import (
    AXES,
    LARGEST,
    LENGTH_ROUNDING,
    MOST_PULL,
    OF_SPACE,
    News,
)
from ecs_collide.components.basics import (
    Acceleration,
    Disabled,
    Extents,
    Growth,
    Position,
    Sensor,
    Velocity,
)
from ecs_collide.components.dynamics import Attached, Damping, GravityScale
from ecs_collide.components.filters import Filter, filter_numbers, filters_allow
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import Carry, Friction, OneWay
from ecs_collide.motion.bodies import Bodies, vector_of
from ecs_collide.motion.controls import combined_friction
from ecs_collide.narrowphase.contacts_between_steps import ContactRows
from ecs_collide.queries.immersion import ZoneTable
from ecs_collide.queries.search import Search
from ecs_collide.response.carriers import RiderTable
from ecs_collide.step.state import StepState
from ecs_collide.step.timeline import Timeline
from ecs_collide.sync.body_lists import BodyLists, RowOf
from ecs_collide.sync.fields import as_number, sound_vector

KINDS = (
    *(
        Acceleration,
        Attached,
        Carry,
        Damping,
        Disabled,
        Extents,
        Filter,
        Friction,
        GravityScale,
        Growth,
    ),
    *(Immersed, OneWay, Position, Sensor, Slope, Velocity),
)
NO_VELOCITY = (0.0, 0.0, 0.0)
ANY: cython.int = 0  # which of several bodies hit at once: see `Surroundings.cast`
IN_SPACE: cython.int = 1
FIRM: cython.int = 2
# The attributes of a `Carry` with its normal.
NORMAL = ("normal_x", "normal_y", "normal_z")


@cython.final
class Hit:
    """A body that a box meets on its way."""

    id: ReadOnly[Any]
    time: ReadOnly[cython.double]  # a fraction of the way
    depth: ReadOnly[cython.double]  # above 0 if the two overlap from the start
    centre: ReadOnly[tuple]  # of the box then
    normal: ReadOnly[tuple]

    def __init__(self, id, time: cython.double, centre: tuple, normal: tuple, depth: cython.double):
        self.id, self.time, self.centre, self.normal, self.depth = id, time, centre, normal, depth


@cython.final
class Surroundings:
    """What characters ask about other bodies before a step."""

    space: ReadOnly[Any]
    # functions of the space, for the few cases without a faster way
    last_bounds: Any
    last_position: Any
    was_put: Any
    is_wrong: ReadOnly[Any]
    mean_velocity: Any
    velocity_left: Any
    is_dynamic: Any
    state: StepState
    bodies: Bodies
    lists: BodyLists
    row_of: RowOf
    dim: ReadOnly[cython.int]
    zones: ZoneTable
    # Of the present step.
    timeline: Timeline
    boxes: tuple  # as `Search` takes them
    has_boxes: cython.bint  # whether the world has no edges
    database: dict  # the components of each entity, by type
    dead: Any  # entities whose deletion is pending
    there: Any  # whether an entity is still the body of the last step; None if all are
    wrong: ReadOnly[Any]  # entities that the step will skip
    up: ReadOnly[cython.int]  # of the space: (axis + 1) * sign
    any_slope: ReadOnly[cython.bint]
    search: Search
    searched: Any  # the timeline whose trees it searches
    contacts: ContactRows
    riders: RiderTable
    start: cython.double[3]
    size: cython.double[3]
    way: cython.double[3]

    def __init__(self, space: Any, functions: tuple, state: StepState, lists: BodyLists):
        """Ask about the bodies of a space.

        `functions` of the space are `last_bounds`, `last_position`, `is_put`, `is_wrong_now`,
        `mean_velocity`, `is_dynamic` and `last_velocity`.
        """
        self.space, self.state, self.lists, self.row_of = space, state, lists, lists.row_of
        self.last_bounds, self.last_position, self.was_put, self.is_wrong = functions[:4]
        self.mean_velocity, self.is_dynamic, self.velocity_left = functions[4:]
        self.bodies = state.bodies
        self.dim = state.bodies.dim
        self.searched = None
        self.zones = ZoneTable(self.dim, space.wrap)

    def begin(self, boxes, entities: tuple, wrong, any_slope) -> None:
        """Use the bodies of the last step, and the components of entities as they are now.

        Parameters
        ----------
        boxes : tuple or None
            As `Search` takes them; None if only the space can search, as in a world with edges.
        entities : tuple
            The components of each entity by type; the entities whose deletion is pending; and a
            function that returns whether an entity is still the body of the last step, or None.
        wrong : collection of int
            The entities that the step will skip.
        any_slope : bool
            Whether any entity has a `Slope`.
        """
        timeline: Timeline = self.state.timeline
        up: tuple = self.space.up

        for k in range(self.dim):
            if up[k] != 0.0:
                self.up = k + 1 if up[k] > 0.0 else -k - 1
        if self.searched is not timeline:
            self.search = Search(timeline.broadphase.still, timeline.broadphase.moving)
            self.search.use_bodies(self.bodies)
            self.searched = timeline
        self.has_boxes = boxes is not None
        self.boxes = () if boxes is None else boxes
        self.database, self.dead, self.there = entities
        self.wrong, self.any_slope = wrong, any_slope
        self.timeline = timeline
        self.contacts = timeline.contacts.rows
        self.riders = timeline.carriers.now

    # -- entities --

    @cython.cfunc
    def components_of(self, entity) -> object:
        """Return the components of an entity by type, None if it does not exist."""
        its = self.database.get(entity)
        return None if its is None or entity in self.dead else its

    @cython.cfunc
    def component(self, entity, kind) -> object:
        """Return a component of an entity, or None."""
        its = self.database.get(entity)
        return None if its is None or entity in self.dead else its.get(kind)

    def has(self, entity, kind) -> cython.bint:
        """Return whether an entity exists and has a component."""
        return self.component(entity, kind) is not None

    def holds(self, entity) -> cython.bint:
        """Return whether an entity exists and can stop or carry others in the next step."""
        its = self.components_of(entity)
        return its is not None and is_solid(its)

    def number_of(self, entity, kind, name, without: cython.double) -> cython.double:
        """Return a number of a component, `without` one or if the step skips the body for it."""
        its = self.component(entity, kind)
        if its is None:
            return without
        number = as_number(getattr(its, name, without))
        return number if number is not None and abs(number) <= MOST_PULL else without

    # -- bodies --

    def row(self, entity) -> cython.Py_ssize_t:
        """Return the row of a body, -1 if no step has read it yet."""
        row: cython.Py_ssize_t = self.row_of.row(entity)
        if row < 0 or self.bodies.news[row] & News.NEW:
            return -1
        return row if self.there is None or self.there(entity) else -1

    def is_put(self, entity, row: cython.Py_ssize_t, place, centre: tuple) -> cython.bint:
        """Return whether the game has put a body with a `Position` elsewhere since a step."""
        if self.lists.moves:
            return self.was_put(entity, place)
        for k in range(self.dim):  # noqa: SIM110  (a C function has no generators)
            if self.bodies.seen_place[row, k] != centre[k]:
                return True
        return False

    def face_of(self, entity, k: cython.int, sign: cython.int) -> cython.double:
        """Return the place of the face of a body on a side of an axis."""
        row: cython.Py_ssize_t = self.row(entity)
        if row < 0:
            bounds: tuple = self.last_bounds(entity)
            return bounds[1 if sign > 0 else 0][k]
        return self.bodies.tight_max[row, k] if sign > 0 else self.bodies.tight_min[row, k]

    @cython.cfunc
    def corners_of(self, entity) -> tuple:
        """Return the min and the max corner of a body."""
        row: cython.Py_ssize_t = self.row(entity)
        low: list = []
        high: list = []
        if row < 0:
            return self.last_bounds(entity)
        for k in range(self.dim):
            low.append(self.bodies.tight_min[row, k])
            high.append(self.bodies.tight_max[row, k])
        return tuple(low), tuple(high)

    def precedes(self, one, other) -> cython.bint:
        """Return whether a body comes before another in the order of bodies in space."""
        i: cython.Py_ssize_t = self.row(one)
        j: cython.Py_ssize_t = self.row(other)
        if self.bodies.wraps:
            return one < other
        if i >= 0 and j >= 0:
            return self.bodies.precedes(i, j)
        return self._order(one) < self._order(other)

    @cython.cfunc
    def _order(self, entity) -> tuple:
        """Return the key of a body in the order of bodies in space."""
        bounds: tuple = self.last_bounds(entity)
        sizes: list = []
        for k in range(self.dim):
            sizes.append(bounds[1][k] - bounds[0][k])
        return self.last_position(entity), tuple(sizes), entity

    def gives_way(self, entity) -> cython.bint:
        """Return whether a body is dynamic, as crates and other characters are."""
        row: cython.Py_ssize_t = self.row(entity)
        if row < 0:
            return self.is_dynamic(entity)
        return self.bodies.dynamic[row] != 0

    @cython.cfunc
    def carried(self, entity) -> tuple:
        """Return the velocity that a carrier adds to the velocity of a body."""
        row: cython.Py_ssize_t = self.row(entity)
        if row < 0 or self.riders.n == 0 or self.riders.carrier[row] < 0:
            return NO_VELOCITY
        found: list = []
        for k in range(self.dim):
            found.append(self.riders.carrier_velocity[row, k])
        return tuple(found)

    @cython.cfunc
    def velocity_of(self, entity) -> tuple:
        """Return the velocity of a body; zeros without one, or if it is none that a step takes."""
        velocity = self.component(entity, Velocity)
        if velocity is None:
            return NO_VELOCITY
        return vector(velocity, 3) or NO_VELOCITY

    @cython.cfunc
    def last_velocity(self, entity) -> tuple:
        """Return the velocity that the last step has left to a body."""
        found: tuple = self.velocity_left(entity)
        return found

    def friction_between(self, one, other) -> cython.double:
        """Return the friction of two entities, by the same rules as in an impact."""
        first: cython.double = self.number_of(one, Friction, "value", -1.0)
        second: cython.double = self.number_of(other, Friction, "value", -1.0)
        mine: cython.double = self.number_of(one, Friction, "code", 0.0)
        theirs: cython.double = self.number_of(other, Friction, "code", 0.0)
        return combined_friction(first, second, int(max(mine, theirs)))

    # -- faces --

    @cython.cfunc
    def face_velocity(self, entity, normal: tuple, moved) -> tuple:
        """Return the velocity of the face of a body: of the body, its growth, and its belt.

        `moved` is the velocity of the body, None for the one of its component.
        """
        its = self.components_of(entity)
        found: list = []
        if moved is None:
            moved = self.velocity_of(entity)
        belt = None if its is None else self._belt_of(its, normal)
        growth = None if its is None else its.get(Growth)
        grows = None if growth is None else vector(growth, self.dim)
        for k in range(self.dim):
            speed: cython.double = moved[k]
            speed += 0.0 if belt is None else belt[k]
            if grows is not None:
                speed += grows[k] * normal[k]
            found.append(speed)
        return tuple(found)

    @cython.cfunc
    def _belt_of(self, its, normal: tuple) -> object:
        """Return the velocity of a face along itself, or None if it does not carry.

        On a slope it is along the line, and as fast as the surface velocity.
        """
        carry = its.get(Carry)
        if carry is None:
            return None
        out: cython.int = self._side_of(carry, NORMAL)
        side: cython.int = abs(out) - 1
        sign: cython.double = 1.0 if out > 0 else -1.0
        belt = vector(carry, self.dim)
        if belt is None or normal[side] * sign <= 0.0:
            return None
        turned: list = list(belt)
        turned[side] = 0.0
        for k in range(self.dim):
            if k != side and normal[k] != 0.0:
                turned[side] = -turned[k] * normal[k] * sign
                turned[k] *= abs(normal[side])
        return tuple(turned)

    def _side_of(self, component, names: tuple) -> cython.int:
        """Return (axis + 1) * sign of a side that a component names, by default up."""
        n_of_space: cython.int = 0
        side: cython.int = self.up
        for k in range(self.dim):
            part: cython.double = getattr(component, names[k])
            n_of_space += part == OF_SPACE
            if part != 0.0:
                side = k + 1 if part > 0.0 else -k - 1
        return self.up if n_of_space == self.dim else side

    @cython.cfunc
    def velocity_on(self, entity, up: cython.int, normal: tuple) -> object:
        """Return the velocity of a `Carry` on a face, or None if the body does not carry."""
        its = self.components_of(entity)
        found: list = []
        if its is None or Carry not in its or self._belt_of(its, normal) is None:
            return None
        moved: tuple = self.face_velocity(entity, normal, None)
        carried: tuple = self.carried(entity)
        gives_way: cython.bint = self.gives_way(entity)
        for k in range(self.dim):
            # A dynamic one carries along its face only, and feels the weight of who stands on it.
            speed: cython.double = 0.0 if gives_way and k == up else moved[k]
            found.append(speed + carried[k])
        return tuple(found)

    def speed_in_step(
        self, entity, speed: cython.double, k: cython.int, dt: cython.double
    ) -> cython.double:
        """Return the speed of a body on an axis in the next step; of one that floats, the mean.

        A body in a zone bobs in the step by all that pulls it, and has nothing below it.
        """
        its = self.component(entity, Immersed)
        if its is None:
            return speed
        pull: cython.double = self.state.gravity[k] * its.gravity
        pull *= self.number_of(entity, GravityScale, "value", 1.0)
        pull += getattr(its, AXES[k]) + self.number_of(entity, Acceleration, AXES[k], 0.0)
        damping: cython.double = its.drag + self.number_of(entity, Damping, "value", 0.0)
        velocity = self.component(entity, Velocity)
        found = None if velocity is None else vector(velocity, self.dim)
        own: cython.double = 0.0 if found is None else found[k]
        mean: cython.double = self.mean_velocity(dt, own, pull, damping)
        return speed + (mean - own)

    # -- ways --

    @cython.cfunc
    def cast(
        self, entity, centre: tuple, half: tuple, motion: tuple, order: cython.int
    ) -> Hit | None:
        """Return the first body that would stop a box of an entity on a way, as in the step.

        Of several bodies hit at once it is the one with the lowest id; with `IN_SPACE` the first in
        space; with `FIRM` one that does not give way, if there is any, and then the first in space.
        """
        best: Hit | None = None
        hit: Hit
        if not self._aims(centre, half, motion):
            hits: list = self.space.box_hits(centre, half, motion, exclude=entity)
            for found in hits:
                if best is not None and (order == ANY or found.time > best.time):
                    break
                hit = Hit(found.id, found.time, found.centre, found.normal, found.depth)
                if self._stops(entity, centre, half, motion, hit) and (
                    best is None or self._comes_before(hit.id, best.id, order)
                ):
                    best = hit
            return best
        row: cython.Py_ssize_t = self.row_of.row(entity)
        self.search.cast(self.start, self.size, self.way, row, self.boxes)
        for n in range(self.search.best.n):
            if best is not None and (order == ANY or self.search.best.keys[n] > best.time):
                break
            other = self.bodies.ids[self.search.best.items[n]]
            if self.there is not None and not self.there(other):
                continue
            hit = self._hit(n, other)
            if self._stops(entity, centre, half, motion, hit) and (
                best is None or self._comes_before(hit.id, best.id, order)
            ):
                best = hit
        return best

    def _comes_before(self, one, other, order: cython.int) -> cython.bint:
        """Return whether to take a body rather than another that is hit at the same time."""
        gives_way: cython.bint = order == FIRM and self.gives_way(one)

        if order == FIRM and gives_way != self.gives_way(other):
            return not gives_way
        return self.precedes(one, other)

    def _aims(self, centre: tuple, half: tuple, motion: tuple) -> cython.bint:
        """Note the way of a box; return whether `search` can find what is on it."""
        if not self.has_boxes:
            return False
        for k in range(self.dim):
            self.start[k] = centre[k]
            self.size[k] = half[k]
            self.way[k] = motion[k]
            if not (abs(self.start[k]) <= LARGEST and abs(self.way[k]) <= LARGEST):
                return False
        return True

    @cython.cfunc
    def _hit(self, n: cython.Py_ssize_t, id) -> Hit:
        """Return the body that the search has found at `n`."""
        found: cython.p_double = self.search.hit
        self.search.describe(n)
        return Hit(
            id, found[0], vector_of(found, 1, self.dim), vector_of(found, 1 + self.dim, self.dim),
            found[1 + 2 * self.dim],
        )  # fmt: skip

    @cython.cfunc
    def _stops(self, entity, centre: tuple, half: tuple, motion: tuple, hit: Hit) -> object:
        """Return whether a body that a box of an entity meets on a way would stop it."""
        its = self.components_of(hit.id)
        if its is None or not is_solid(its):
            return False
        try:
            if self.row_of.row(entity) >= 0 and not self._may_meet(entity, hit.id, its):
                return False
            if OneWay not in its:
                return True
            out: cython.int = self._side_of(its[OneWay], AXES)
            k: cython.int = abs(out) - 1
            side: cython.double = 1.0 if out > 0 else -1.0
            if Slope in its:
                return hit.depth == 0.0 and hit.normal[k] * side > 0.0
            face: cython.double = self.face_of(hit.id, k, 1 if out > 0 else -1)
            gap: cython.double = (centre[k] - side * half[k] - face) * side
            near: cython.double = max(abs(face), abs(centre[k]), half[k])
            return motion[k] * side < 0.0 and gap >= -LENGTH_ROUNDING * near
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            if self.is_wrong(entity) or self.is_wrong(hit.id):
                return False  # the step says so
            raise

    @cython.cfunc
    def _may_meet(self, entity, other, its) -> object:
        """Return whether the filters of two entities, and functions of the game, let them meet."""
        mine = self.component(entity, Filter)
        theirs = its.get(Filter)
        if self.timeline.broadphase.pair_filter is not None:
            return self.space.may_meet(entity, other)
        if mine is None and theirs is None:
            return True
        return filters_allow(filter_numbers(mine), filter_numbers(theirs))


@cython.cfunc
def is_solid(its) -> cython.bint:
    """Return whether a body with these components can stop others."""
    return not (Sensor in its or Attached in its or Disabled in its)


@cython.cfunc
def vector(component, dim: cython.int) -> object:
    """Return `dim` numbers of a component, None if the step will report or refuse one of them."""
    x = getattr(component, "x", None)
    y = getattr(component, "y", None)
    z = 0.0 if dim == 2 else getattr(component, "z", None)
    if type(x) is float and type(y) is float and type(z) is float:
        if -LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST and -LARGEST <= z <= LARGEST:
            return (x, y) if dim == 2 else (x, y, z)
        return None
    found = sound_vector(component, dim)
    return None if found is None else found[:dim]
