"""The effect of zones on the bodies in them, for all bodies in one call.

The bodies in a zone are those that touch it at the end of the last step; `arrivals` finds those
that are new, or were moved since.  The effect of a zone is
in proportion to the part of a box that is inside.  The effects of several zones add up, and each
sum is rounded once, so their order does not matter.
"""

from __future__ import annotations

from math import copysign
from typing import Any

from ecs_collide._kernel import cython
from ecs_collide._kernel.arrays import DOUBLE, LONG, nones, zeros
from ecs_collide._kernel.constants import Trait
from ecs_collide.components.basics import Disabled
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.contacts_between_steps import PASSING, ContactRows
from ecs_collide.step.state import StepState
from ecs_collide.sync.bindings import ComponentBinding
from ecs_collide.sync.body_lists import RowOf
from ecs_collide.sync.plain_numbers import is_amount, is_signed, nearest_widths, read_vector

# The numbers of a zone.
GRAVITY = 0
BUOYANCY = 1
DRAG = 2
WALK = 3
FLOW = 4  # and the two after it
N_NUMBERS = 7
# The sums; those of the flow are at the places of its numbers.
AFLOAT = 1
N_PARTS = 64  # doubles of different sizes, more than an exact sum can have


@cython.final
class ZoneTable:
    """Numbers and boxes of zones, and the sum of their effects on one box.

    The sums are exact, as in fsum of Python: Shewchuk, "Adaptive Precision Floating-Point Arithmetic"
    (1997), section 2.4.
    """

    dim: cython.int
    width: cython.double[3]  # of a world that wraps, or 0
    n: cython.Py_ssize_t
    numbers: cython.double[:, ::1]  # (room, 7)
    lows: cython.double[:, ::1]  # (room, 3)
    highs: cython.double[:, ::1]
    low: cython.double[3]  # of the box
    high: cython.double[3]
    parts: cython.double[:, ::1]  # (7, 64): of each sum, none of which overlaps another
    n_parts: cython.Py_ssize_t[7]
    sums: cython.double[7]

    def __init__(self, dim: int, wrap: Any):
        k: cython.int

        self.dim = dim
        for k in range(dim):
            self.width[k] = (wrap[k] if wrap else None) or 0.0
        self.numbers = zeros(DOUBLE, 8, N_NUMBERS)
        self.lows, self.highs = zeros(DOUBLE, 8, 3), zeros(DOUBLE, 8, 3)
        self.parts = zeros(DOUBLE, N_NUMBERS, N_PARTS)

    def reserve(self, n: cython.Py_ssize_t) -> cython.void:
        """Remove all zones, and make room for `n`."""
        self.n = 0
        if n > self.numbers.shape[0]:
            self.numbers = zeros(DOUBLE, 2 * n, N_NUMBERS)
            self.lows, self.highs = zeros(DOUBLE, 2 * n, 3), zeros(DOUBLE, 2 * n, 3)

    def read(self, zone: Any) -> cython.void:
        """Read the numbers of a valid zone behind the others."""
        self.numbers[self.n, GRAVITY] = zone.gravity
        self.numbers[self.n, BUOYANCY] = zone.buoyancy
        self.numbers[self.n, DRAG] = zone.drag
        self.numbers[self.n, WALK] = zone.walk
        self.numbers[self.n, FLOW] = zone.flow_x
        self.numbers[self.n, FLOW + 1] = zone.flow_y
        self.numbers[self.n, FLOW + 2] = zone.flow_z

    def start(self) -> cython.void:
        """Begin the sums with the effect of no zone."""
        for k in range(N_NUMBERS):
            self.n_parts[k] = 0
        self._add(GRAVITY, 1.0)
        self._add(WALK, 1.0)

    def add(self, n: cython.Py_ssize_t) -> cython.void:
        """Add the effect of a zone on the box."""
        part: cython.double = self._part_inside(n)
        k: cython.int

        if part == 0.0:
            return
        buoyancy: cython.double = self.numbers[n, BUOYANCY]
        self._add(GRAVITY, part * (self.numbers[n, GRAVITY] - 1.0 - buoyancy))
        self._add(DRAG, part * self.numbers[n, DRAG])
        self._add(WALK, part * (self.numbers[n, WALK] - 1.0))
        if buoyancy > 0.0:
            self._add(AFLOAT, part)
        for k in range(FLOW, N_NUMBERS):
            self._add(k, part * self.numbers[n, k])

    def finish(self) -> cython.void:
        """Round the sums."""
        for k in range(N_NUMBERS):
            self.sums[k] = self._rounded(k)

    @cython.ccall
    def effect_of(self, box: tuple, zones: list) -> tuple:
        """Return the sums of the effects of zones on a box.

        Parameters
        ----------
        box : two vectors
            Its min and max corners.
        zones : list of (Zone, (min, max))
            Valid ones, in any order, as their sum is rounded once.

        Returns
        -------
        tuple of seven floats
            The factor of its gravity, below 0 if it is lifted; the part of it that is in zones with
            buoyancy; the drag, per second; the factor of the speed at which a character walks,
            which may be below 0; and the flow, in world units per second.
        """
        low, high = box

        self.reserve(len(zones))
        for k in range(self.dim):
            self.low[k], self.high[k] = low[k], high[k]
        self.start()
        for zone, (start, end) in zones:
            for k in range(self.dim):
                self.lows[self.n, k], self.highs[self.n, k] = start[k], end[k]
            self.read(zone)
            self.add(self.n)
            self.n += 1
        self.finish()
        gravity, afloat, drag, walk, x, y, z = self.sums
        return gravity, afloat, drag, walk, x, y, z

    def _part_inside(self, n: cython.Py_ssize_t) -> cython.double:
        """Return the part of the box that is inside a zone; a box without width is a point."""
        part: cython.double = 1.0

        for k in range(self.dim):
            low: cython.double = self.low[k]
            high: cython.double = self.high[k]
            start: cython.double = self.lows[n, k]
            end: cython.double = self.highs[n, k]
            away: cython.double = ((low + high) - (start + end)) / 2.0
            shift: cython.double = nearest_widths(away, self.width[k])  # to the nearest image
            shared: cython.double = min(high, end + shift) - max(low, start + shift)
            if shared < 0.0:
                return 0.0
            if high > low:
                part *= shared / (high - low)
        return part

    def _add(self, k: cython.int, number: cython.double) -> cython.void:
        """Add a number to a sum without rounding."""
        n: cython.Py_ssize_t = 0

        for j in range(self.n_parts[k]):
            other: cython.double = self.parts[k, j]
            if abs(number) < abs(other):
                number, other = other, number
            total: cython.double = number + other
            error: cython.double = other - (total - number)
            if error != 0.0:
                self.parts[k, n] = error
                n += 1
            number = total
        if number != 0.0:
            self.parts[k, n] = number
            n += 1
        self.n_parts[k] = n

    def _rounded(self, k: cython.int) -> cython.double:
        """Return a sum, rounded once, a half to even."""
        n: cython.Py_ssize_t = self.n_parts[k] - 1
        total: cython.double = self.parts[k, n] if n >= 0 else 0.0
        error: cython.double = 0.0

        while n > 0 and error == 0.0:
            n -= 1
            before: cython.double = total
            total = before + self.parts[k, n]
            error = self.parts[k, n] - (total - before)
        if n > 0 and (error < 0.0) == (self.parts[k, n - 1] < 0.0) and error != 0.0:
            # The parts below decide what seemed to be a half.
            twice: cython.double = total + 2.0 * error
            if 2.0 * error == twice - total:
                total = twice
        return total


def is_plain(zone: Any) -> cython.bint:
    """Return whether all numbers of a zone are plain ones within their bounds."""
    return (
        is_amount(getattr(zone, "drag", None))
        and is_amount(getattr(zone, "walk", None))
        and is_signed(getattr(zone, "gravity", None))
        and is_signed(getattr(zone, "buoyancy", None))
        and is_signed(getattr(zone, "flow_x", None))
        and is_signed(getattr(zone, "flow_y", None))
        and is_signed(getattr(zone, "flow_z", None))
    )


def find_wrong_among(zones: list, find_wrong: Any) -> dict:
    """Return the wrong field of each entity whose `Zone` has one; see `Immersion.immerse`."""
    wrong: dict = {}

    for entity, (zone,) in zones:
        if not is_plain(zone):
            error: Any = find_wrong(zone)
            if error is not None:
                wrong[entity] = error
    return wrong


@cython.final
class Immersion:
    """Writes the `Immersed` of the bodies in zones."""

    state: StepState
    bodies: Bodies
    row_of: RowOf
    table: ZoneTable
    # component types: the two that make a body, and two others
    makers: tuple
    velocity: Any
    immersed: Any
    others: tuple  # the types of bodies on which no zone acts
    zone_rows: cython.longlong[::1]  # (n,): by zone, its row
    zone_at: cython.longlong[::1]  # by row: the zone of this body, or -1
    # Zones and bodies that touch, and of each touch the one before it of the same body, or -1.
    touched: cython.longlong[::1]
    before: cython.longlong[::1]
    last_at: cython.longlong[::1]  # by row: the last touch of a body that zones act on, or -1
    n_touches: cython.Py_ssize_t
    n_found: cython.Py_ssize_t
    found: cython.longlong[::1]  # the rows of the bodies that touch zones
    n_known: cython.Py_ssize_t  # the bodies that zones act on and that have an `Immersed`
    speed: cython.double[3]
    now: cython.double[5]  # the numbers of the `Immersed` of a body

    def __init__(
        self,
        state: StepState,
        row_of: RowOf,
        wrap: Any,
        makers: tuple,
        velocity: type,
        immersed: type,
    ):
        self.state = state
        self.bodies = state.bodies
        self.row_of = row_of
        self.table = ZoneTable(state.bodies.dim, wrap)
        self.makers, self.velocity, self.immersed = makers, velocity, immersed
        self.others = ()
        self.zone_rows = zeros(LONG, 8)
        self.zone_at = self.last_at = nones(0)
        self.touched = self.before = self.found = zeros(LONG, 0)

    def immerse(
        self,
        zones: list,
        dt: cython.double,
        database: dict,
        dead: Any,
        noted: Any,
        is_there: Any,
        others: tuple,
        placed: dict,
        arrived: Any,
    ) -> list:
        """Write the `Immersed` of bodies for a step of `dt` seconds.

        Parameters
        ----------
        zones : list of (entity, (Zone,))
            All valid.
        dt : float
        database : dict
            The components of each entity, by type.
        dead : collection of int
            The entities whose deletion is pending.
        noted : set of int
            The entities that may have changed since the last step.
        is_there : callable
            Return whether such an entity is still the same body.
        others : tuple of type
            The components of bodies on which no zone acts.
        placed : dict of int to (min, max, list of int)
            The boxes of new and moved zones, and the rows of the bodies that they touch.
        arrived : collection of int
            The bodies to leave out.

        Returns
        -------
        list of (int, tuple)
            The bodies that are new in zones, by rising id, and the numbers of their `Immersed`.
        """
        b: Bodies = self.bodies
        new: list = []

        n_more: cython.Py_ssize_t = 0
        for entity in placed:
            n_more += len(placed[entity][2])
        self._start(len(zones), n_more)
        self.others = others
        for entity, (zone,) in zones:
            if placed and entity in placed:
                self._add_placed(placed[entity], zone)
                continue
            row: cython.Py_ssize_t = self.row_of.find(entity)
            its: Any = database.get(entity)
            acts: cython.bint = row >= 0 and its is not None and Disabled not in its
            if acts and noted and entity in noted:
                acts = is_there(entity)
            if acts:
                self._add_zone(row, zone)
        if self.table.n:
            self._find_touches(self.state.timeline.contacts.rows)
        for n in range(self.n_found):
            row = self.found[n]
            entity = b.ids[row]
            its = database.get(entity)
            acts = b.dynamic[row] != 0 and b.sensor[row] == 0 and its is not None
            if acts and dead and entity in dead:
                acts = False
            if arrived and entity in arrived:
                acts = False
            if acts and noted and entity in noted:
                acts = self._is_body(its) and is_there(entity)
            elif b.traits[row] & Trait.NO_GRAVITY:
                acts = False
            if not acts:
                self.last_at[row] = -1
                continue
            known: Any = its.get(self.immersed)
            if known is not None:
                self.n_known += 1
            if not read_vector(its.get(self.velocity), b.dim, self.speed):
                continue  # the step skips it
            self._sum(row, dt)
            if known is None:
                x, y, z, gravity, drag = self.now
                new.append((entity, (x, y, z, gravity, drag)))
            else:
                self._write(known)
        new.sort()
        return new

    def find_left(self, holders: list) -> list:
        """Return the entities with an `Immersed`, among `holders`, that are in no zone."""
        left: list = []

        if self.n_known == len(holders):
            return left
        for entity, _ in holders:
            row: cython.Py_ssize_t = self.row_of.find(entity)
            if not 0 <= row < self.last_at.shape[0] or self.last_at[row] < 0:
                left.append(entity)
        return left

    def find_moved(
        self, zones: list, makers: tuple, movers: cython.longlong[::1], stills: cython.longlong[::1]
    ) -> list:
        """Return the zones and the bodies that the game has moved or resized since the last step.

        `movers` and `stills` are the rows that the step reads.
        """
        position: ComponentBinding = makers[0]
        extents: ComponentBinding = makers[1]
        moved: list = []
        row: cython.Py_ssize_t

        for entity, _ in zones:
            row = self.row_of.find(entity)
            if row >= 0 and (position.is_other(row) or extents.is_other(row)):
                moved.append(entity)
        for n in range(movers.shape[0] + stills.shape[0]):
            row = movers[n] if n < movers.shape[0] else stills[n - movers.shape[0]]
            if self.bodies.dynamic[row] != 0 and (position.is_other(row) or extents.is_other(row)):
                moved.append(self.bodies.ids[row])
        return moved

    def _start(self, n_zones: cython.Py_ssize_t, n_more: cython.Py_ssize_t) -> cython.void:
        """Forget the zones and bodies of the last call, and make room."""
        room: cython.Py_ssize_t = 2 * self.state.timeline.contacts.rows.n + n_more

        for n in range(self.table.n):
            if self.zone_rows[n] >= 0:
                self.zone_at[self.zone_rows[n]] = -1
        for n in range(self.n_found):
            self.last_at[self.found[n]] = -1
        self.n_touches = self.n_found = self.n_known = 0
        self.table.reserve(n_zones)
        if self.zone_rows.shape[0] < n_zones:
            self.zone_rows = zeros(LONG, 2 * n_zones)
        if self.zone_at.shape[0] < self.bodies.capacity:
            self.last_at = nones(self.bodies.capacity)
            self.zone_at = nones(self.bodies.capacity)
        if self.touched.shape[0] < room:
            self.touched = zeros(LONG, 2 * room)
            self.before = zeros(LONG, 2 * room)
            self.found = zeros(LONG, 2 * room)

    def _add_zone(self, row: cython.Py_ssize_t, zone: Any) -> cython.void:
        """Add a zone, where the last step left it."""
        t: ZoneTable = self.table

        t.read(zone)
        for k in range(t.dim):
            t.lows[t.n, k] = self.bodies.tight_min[row, k]
            t.highs[t.n, k] = self.bodies.tight_max[row, k]
        self.zone_rows[t.n] = row
        t.n += 1
        self.zone_at[row] = t.n - 1

    def _add_placed(self, placed: tuple, zone: Any) -> cython.void:
        """Add a zone elsewhere, and the bodies that it touches there."""
        t: ZoneTable = self.table
        low, high, rows = placed

        t.read(zone)
        for k in range(t.dim):
            t.lows[t.n, k], t.highs[t.n, k] = low[k], high[k]
        self.zone_rows[t.n] = -1
        t.n += 1
        for n in range(len(rows)):
            row: cython.Py_ssize_t = rows[n]
            self._touch(row, t.n - 1)

    def _find_touches(self, contacts: ContactRows) -> cython.void:
        """Find the bodies that touch zones."""
        for n in range(contacts.n):
            if contacts.at[n].kind == PASSING:
                continue
            first: cython.Py_ssize_t = contacts.at[n].first
            second: cython.Py_ssize_t = contacts.at[n].second
            if self.zone_at[first] >= 0:
                self._touch(second, self.zone_at[first])
            if self.zone_at[second] >= 0:
                self._touch(first, self.zone_at[second])

    def _touch(self, row: cython.Py_ssize_t, zone: cython.Py_ssize_t) -> cython.void:
        """Note that a body touches a zone."""
        n: cython.Py_ssize_t = self.n_touches

        if self.last_at[row] < 0:
            self.found[self.n_found] = row
            self.n_found += 1
        self.touched[n] = zone
        self.before[n] = self.last_at[row]
        self.last_at[row] = n
        self.n_touches = n + 1

    def _is_body(self, its: Any) -> cython.bint:
        """Return whether components make a body that zones act on."""
        is_one: cython.bint = True

        for kind in self.makers:
            is_one = is_one and kind in its
        for kind in self.others:
            is_one = is_one and kind not in its
        return is_one

    def _sum(self, row: cython.Py_ssize_t, dt: cython.double) -> cython.void:
        """Sum up the effects of the zones on a body, where its box is half a step later."""
        t: ZoneTable = self.table
        n: cython.Py_ssize_t = self.last_at[row]

        for k in range(t.dim):
            t.low[k] = self.bodies.tight_min[row, k] + self.speed[k] * dt / 2.0
            t.high[k] = self.bodies.tight_max[row, k] + self.speed[k] * dt / 2.0
        t.start()
        while n >= 0:
            t.add(self.touched[n])
            n = self.before[n]
        t.finish()
        for k in range(3):
            self.now[k] = t.sums[FLOW + k] * t.sums[DRAG]
        self.now[3] = t.sums[GRAVITY]
        self.now[4] = t.sums[DRAG]

    def _write(self, known: Any) -> cython.void:
        """Write the numbers that differ into an `Immersed`."""
        if _differs(known.x, self.now[0]):
            known.x = self.now[0]
        if _differs(known.y, self.now[1]):
            known.y = self.now[1]
        if _differs(known.z, self.now[2]):
            known.z = self.now[2]
        if _differs(known.gravity, self.now[3]):
            known.gravity = self.now[3]
        if _differs(known.drag, self.now[4]):
            known.drag = self.now[4]


def _differs(value: Any, number: cython.double) -> cython.bint:
    """Return whether a value is not this float, bit by bit."""
    if type(value) is not float:
        return True
    there: cython.double = value
    return there != number or copysign(1.0, there) != copysign(1.0, number)
