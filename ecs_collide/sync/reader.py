"""Copy numbers between component objects and columns.

`EntityRows` caches the components of bodies before a step.  `read` then fills the columns that the
step works on, and `write` copies the results back.  A game may set any attribute at any time, so
every step reads every body except fixed ones; `sync.bindings` explains why that is cheap.
"""

# Compiled with -O3: its long loops take 5 to 13 % fewer instructions than with -O2.
from __future__ import annotations

from typing import Any

import numpy as np

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.constants import (
    INF,
    LARGEST,
    MAX_ROUNDS,
    NAN,
    TRAITS_SHIFT,
    Bad,
    Custom,
    Exclusion,
    Has,
    Leans,
    Mark,
    News,
    ResponseCode,
    Sensing,
    Touched,
    Trait,
)
from ecs_collide.motion.bodies import Bodies, flat
from ecs_collide.motion.paths import find_boxes
from ecs_collide.motion.rare_columns import CATEGORIES, GROUP, MASK, RareColumns
from ecs_collide.sync.bindings import VALUE, ComponentBinding
from ecs_collide.sync.rare_reader import RareReader
from ecs_collide.sync.slots import Watch, watch_run, write_run
from ecs_collide.sync.undo import Undo

OF_ATTACHED = (
    Mark.HANDED
    | Has.GROWTH
    | Has.MASS
    | Has.FIXED
    | Mark.ATTACHED
    | Mark.DISABLED
    | (Trait.FILTER | Trait.GAME_FILTER) << TRAITS_SHIFT
)
SAFE_LIMIT = 2.0**200  # below this limit, no step of a sane length leads beyond LARGEST
PRESSES = 2.0**-40  # of the largest face coordinate: a smaller motion may be lost in a gap


@cython.final
class ComponentReader:
    """The components of all bodies, and the columns that they are read into."""

    bodies: Bodies
    rare: RareColumns
    rare_reader: ReadOnly[RareReader]
    dim: cython.int
    n_rows: cython.Py_ssize_t
    # The first six are Position, Extents, Velocity, Growth, Mass, Deflect, or have their roles.
    kinds: ReadOnly[list]
    used: ReadOnly[list]  # the kinds of which any body has, or may have, a component
    position: ComponentBinding
    extents: ComponentBinding
    velocity: ComponentBinding
    growth: ComponentBinding
    offset: ComponentBinding
    owner: ComponentBinding
    # Whether bodies without a velocity are dynamic and count as moving.
    sweeps: Public[cython.bint]
    rest_speed: Public[cython.double]
    gravity: cython.double[3]
    dt: cython.double
    has_written: cython.bint
    any_sensor: cython.bint
    any_fixed: ReadOnly[cython.bint]
    watch: Watch
    # A position is `lean` half sizes from the centre on each axis.  A size is `halves` half sizes.
    converts: cython.bint
    halves: cython.double
    lean: cython.double[3]
    # The rows that the last `read` has found; `woken` and `contradictory` stay until they are cleared.
    fallen: ReadOnly[list]  # bodies that became invalid
    touched_rows: Public[list]  # bodies that the game has moved or resized
    resized: Public[list]  # of these the sensors that it has resized in place
    examined: ReadOnly[list]  # still bodies that must be examined
    altered: ReadOnly[list]  # still bodies whose rarer components have changed
    to_place: Public[list]  # still bodies with a new place
    pressed: ReadOnly[list]  # sleeping bodies that a velocity presses against their support
    woken: ReadOnly[list]  # sleeping bodies with any other change
    contradictory: ReadOnly[list]  # entities that were cached as fixed and moving
    undo: ReadOnly[Undo]
    # (n or more, dim): the centres of the bodies of the last `write` before it
    centres: ReadOnly[cython.double[:, ::1]]

    def __init__(self, bodies: Bodies, kinds: list, rare_kinds: list):
        self.bodies = bodies
        self.dim = bodies.dim
        self.rare = bodies.rare
        self.rare_reader = RareReader(bodies.rare, rare_kinds)
        self.kinds = kinds
        self.used = []
        self.fallen = []
        self.touched_rows = []
        self.resized = []
        self.examined = []
        self.altered = []
        self.to_place = []
        self.pressed = []
        self.woken = []
        self.contradictory = []
        self.position, self.extents, self.velocity = kinds[0], kinds[1], kinds[2]
        self.growth = kinds[3]
        kinds[4].default = 1.0  # of the mass
        self.centres = np.zeros((0, self.dim)).data
        self.undo = Undo(kinds)
        types: list = []
        attached: list = []
        for n, kind in enumerate(kinds):
            kind.index = n
            if kind.mark == Mark.ATTACHED:
                attached.append(kind)
            kind.undo = self.undo
            kind.counts = kind.type not in types
            types.append(kind.type)
        self.offset, self.owner = attached

    def convert(self, leans, halves: cython.double):
        """Set how positions and sizes convert to centres and half sizes, from the next `bind` on."""
        self.converts = True
        self.halves = halves
        for k in range(self.dim):
            self.lean[k] = leans[k]

    def bind(self, views):
        """Use the columns of the table, memoryviews by name, after they were replaced.

        If it raises, call it again before anything else.
        """
        self.n_rows = 0
        if cython.compiled:
            self._watch_columns()
        for kind in self.kinds:
            seen, now = kind.columns
            user = None if kind.column is None else getattr(self.bodies, kind.column.user)
            kind.bind(self.bodies.capacity, getattr(views, seen), getattr(views, now), user)
            kind.require(self.bodies.capacity)
        self.n_rows = self.bodies.capacity

    def _watch_columns(self) -> cython.void:
        """Set the addresses of the columns and slots that show whether anything is new."""
        b: Bodies = self.bodies
        k: cython.int

        self.watch.flags[0] = cython.address(b.news[0])
        self.watch.flags[1] = cython.address(b.touched[0])
        self.watch.flags[2] = cython.address(b.bad[0])
        self.watch.flags[3] = cython.address(b.quarantined[0])
        self.watch.position = self.position.slots
        self.watch.extents = self.extents.slots
        self.watch.has = cython.address(b.has[0])
        for k in range(4):
            kind: ComponentBinding = self.kinds[2 + k]
            self.watch.common[k] = kind.slots
        self.watch.bits = cython.address(b.traits[0])
        self.watch.n_rare = len(self.rare_reader.kinds)
        for k in range(self.watch.n_rare):
            kind = self.rare_reader.kinds[k]
            self.watch.rare[k].slots = kind.slots
            self.watch.rare[k].mark = kind.mark >> TRAITS_SHIFT & 0x7FFF

    def _require_room(self) -> cython.void:
        """Raise IndexError unless `bind` has made room for the rows of all bodies."""
        if self.n_rows == 0 or self.bodies.capacity != self.n_rows:
            raise IndexError("the columns of the bodies were replaced, and not all know of it")

    @cython.ccall
    def require(self, rows: cython.longlong[::1]) -> cython.void:
        """Raise IndexError unless there is room for all of `rows`."""
        for n in range(rows.shape[0]):
            self._require_row(rows[n])

    def _require_row(self, i: cython.Py_ssize_t) -> cython.void:
        """Raise IndexError unless there is room for a row."""
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row {i} must be below {self.n_rows}")

    def add_kind(self, kind: ComponentBinding):
        """Add a type whose components are cached from now on."""
        kind.bind(self.n_rows, self.bodies.seen_restitution, self.bodies.seen_restitution)
        self.kinds.append(kind)

    # -- structure --

    @cython.ccall
    def find_used(self, types: Any) -> list:
        """Return the kinds of which any body, or any entity of a world, has a component.

        The first two are those of positions and extents.  `types` has the types of all components.
        """
        kind: ComponentBinding
        used: list = [self.position, self.extents]

        for kind in self.kinds[2:]:
            if kind.items or kind.type in types:
                used.append(kind)
        self.used = used
        return used

    @cython.ccall
    def cache(self, i: cython.Py_ssize_t, components: dict) -> cython.int:
        """Cache the components of the body in row i, and set the flags that follow from their types.

        They are of the kinds that `find_used` has found.  Return their marks.
        """
        b: Bodies = self.bodies
        kind: ComponentBinding
        n_cached: cython.int = 0
        has: cython.int = 0
        response: cython.int = 0
        marks: cython.int

        self._require_row(i)
        for kind in self.used:
            component = components.get(kind.type)
            if component is not None and kind.mark >> TRAITS_SHIFT and kind.width:
                self.rare.use()
            if kind.cache(i, component):
                n_cached += kind.counts
                has |= kind.mark
                response = max(response, kind.response)
        marks = has
        sensor: cython.int = Sensing.REPORTS if has & Has.SENSOR else 0
        if has & Mark.ATTACHED:  # an attached box is a sensor, without a response
            sensor = sensor or Sensing.IS_OFFERED
            has = has & OF_ATTACHED | Has.SENSOR
            response = 0
        b.attached[i] = (has & Mark.ATTACHED) != 0
        b.n_cached[i] = n_cached
        self.rare_reader.cache(i, has)
        b.response[i] = response
        self.any_sensor |= (has & Has.SENSOR) != 0
        self.any_fixed |= (has & Has.FIXED) != 0
        b.sensor[i] = sensor
        b.disabled[i] = (has & Mark.DISABLED) != 0
        b.any_offered |= (has & Mark.HANDED) != 0
        b.custom[i] = (Custom.DYNAMIC if has & Has.CUSTOM else 0) | (
            Custom.OFFERED if has & Mark.HANDED else 0
        )
        moves: cython.bint = (has & (Has.VELOCITY | Has.GROWTH | Mark.ATTACHED)) != 0
        if self.sweeps:
            moves |= response != 0 or (has & Has.CUSTOM) != 0
        if moves and has & Has.FIXED:
            has &= ~Has.FIXED
            self.contradictory.append(b.ids[i])
        b.has[i] = has & (Mark.HANDED - 1)
        for k in range(4):  # the bits of `Has` from VELOCITY on
            if not has >> k & 1:
                kind = self.kinds[2 + k]
                kind.see_none(i, kind.default)
        if b.moves[i] != moves:
            b.moves[i] = moves
            b.news[i] |= News.UNPLACED
        b.news[i] |= News.UNCHECKED
        return marks

    @cython.ccall
    def switch(self, i: cython.Py_ssize_t, components: dict) -> cython.bint:
        """Cache only whether a body is disabled; return False, unchanged, if more differs."""
        b: Bodies = self.bodies
        kind: ComponentBinding
        n_cached: cython.int = 0

        self._require_row(i)
        if b.n_cached[i] < 0:  # its flags must be computed again
            return False
        for kind in self.used:
            component = components.get(kind.type)
            if component is not None:
                n_cached += kind.counts
            if kind.mark == Mark.DISABLED:
                continue
            if component is not (kind.items[i] if kind.items else None):
                return False
        for kind in self.kinds:
            if kind.mark == Mark.DISABLED:
                b.disabled[i] = kind.cache(i, components.get(kind.type))
        b.n_cached[i] = n_cached
        b.news[i] |= News.UNCHECKED
        return True

    @cython.ccall
    def release(self, rows: cython.longlong[::1]) -> cython.int:
        """Free rows of deleted bodies: they have no components."""
        for n in range(rows.shape[0]):
            self.bodies.has[rows[n]] = self.bodies.attached[rows[n]] = 0
            self.bodies.n_cached[rows[n]] = 0
        return self.clear(rows)

    @cython.ccall
    def clear(self, rows: cython.longlong[::1]) -> cython.int:
        """Release the cached components of bodies."""
        kind: ComponentBinding

        for kind in self.kinds:
            if kind.items:
                for n in range(rows.shape[0]):
                    kind.cache(rows[n], None)
        return 0

    def forget(self, rows: cython.longlong[::1], writes: cython.bint = False):
        """Forget the known objects of `rows` that do not hold the seen numbers.

        Needed after columns were set to other values, as a game may set the same object again.  The
        next step reads the numbers of these objects.  With `writes`, the components get the seen
        numbers as far as that takes no memory, and the caller writes all of them afterwards.
        """
        kind: ComponentBinding

        self.require(rows)
        for kind in self.kinds[:6]:
            kind.learn(rows, writes)
        for kind in self.kinds[6:]:
            if kind.items:
                for n in range(rows.shape[0]):
                    kind.forget(rows[n])

    @cython.ccall
    def keep_boxes(self, rows) -> cython.int:
        """Store the seen boxes of bodies before they are overwritten."""
        self.undo.keep(self.bodies, "seen_centre", rows)
        self.undo.keep(self.bodies, "seen_half", rows)
        return 0

    def check(self, rows: cython.longlong[::1]):
        """Compute the flags and rarer columns of the bodies of `rows` again from their seen values."""
        self.require(rows)
        for n in range(rows.shape[0]):
            self._check(rows[n])

    # -- snapshots --

    def altered_among(self, rows: cython.longlong[::1]) -> list:
        """Return the rows whose rarer components or owners differ from the seen values."""
        b: Bodies = self.bodies
        found: list = []

        self.require(rows)
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.attached[i]:
                if self.owner.is_other(i) or self.rare_reader.filter.is_other(i):
                    found.append(i)
            elif b.traits[i] and self.rare_reader.is_other(i):
                found.append(i)
        return found

    def is_quiet(self, rows: cython.longlong[::1]) -> bool:
        """Return whether nothing is known of the bodies of `rows` that the next step must handle.

        The numbers of common components are not compared.
        """
        b: Bodies = self.bodies
        rare: cython.int = 0

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            self._require_row(i)
            if b.news[i] or b.touched[i] or b.quarantined[i] == Exclusion.INVALID:
                return False
            rare |= b.traits[i] | b.attached[i]
        return not rare or not self.altered_among(rows)

    def recognize(self, rows: cython.longlong[::1], are_checked: cython.bint):
        """Set the seen values of the rarer components from the components, and check the bodies.

        With `are_checked` only bodies with such components are checked again.
        """
        b: Bodies = self.bodies

        self.require(rows)
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if b.traits[i]:
                self.rare_reader.read(i)
            if b.attached[i]:
                self.owner.read(i)
            if not are_checked or b.traits[i] or b.attached[i]:
                self._check(i)

    def mistrust(self, rows: cython.longlong[::1]):
        """Mark the rarer components of bodies as changed for the next step."""
        b: Bodies = self.bodies

        self.require(rows)
        for n in range(rows.shape[0]):
            self.rare_reader.mistrust(rows[n])
            if b.attached[rows[n]]:
                self.owner.forget(rows[n])
                self.owner.seen[rows[n], VALUE] = NAN

    def set_gravity(self, gravity):
        """Set the gravity, in world units per second squared."""
        for k in range(self.dim):
            self.gravity[k] = gravity[k]

    # -- reading --

    @cython.ccall
    def read(
        self, movers: cython.longlong[::1], stills: cython.longlong[::1], dt: cython.double
    ) -> cython.Py_ssize_t:
        """Read the components at the start of a step of `dt` seconds.

        Return how many bodies are invalid.  An error raised by a component passes through, and `read`
        can be called again.
        """
        n_out: cython.Py_ssize_t = 0
        was_written: cython.bint = self.has_written
        passes: cython.bint = was_written and dt <= SAFE_LIMIT

        self._require_room()
        self.has_written = False
        self._begin_lists()
        self.dt = dt
        n: cython.Py_ssize_t = self._next(movers, 0) if passes else 0
        while n < movers.shape[0]:
            if not (cython.compiled and passes and self._read_velocity(movers[n])):
                n_out += not self._read_row(movers[n], dt, not was_written)
            n = self._next(movers, n + 1) if passes else n + 1
        n = self._next(stills, 0)
        while n < stills.shape[0]:
            if self._read_row(stills[n], dt, True):
                self._note_still(stills[n])
            else:
                n_out += 1
            n = self._next(stills, n + 1)
        return n_out

    def _begin_lists(self) -> cython.void:
        """Clear the lists that `read` fills; others may keep the old ones."""
        if self.has_news():
            self.fallen = []
            self.touched_rows = []
            self.examined = []
            self.altered = []
            self.to_place = []
        if self.pressed:
            self.pressed = []
        if self.resized:
            self.resized = []

    def has_news(self) -> cython.bint:
        """Return whether the registry has to act on what the last `read` has found."""
        return (
            len(self.fallen) > 0
            or len(self.touched_rows) > 0
            or len(self.examined) > 0
            or len(self.altered) > 0
            or len(self.to_place) > 0
            or len(self.woken) > 0
        )

    def _note_still(self, i: cython.Py_ssize_t) -> cython.void:
        """Note whether a still body must be examined, and whether it has a new place."""
        b: Bodies = self.bodies

        if self.any_sensor and b.news[i] & News.NEW:
            b.touched[i] |= Touched.AS_NEW
            b.any_touched = True
        if b.touched[i]:
            self.examined.append(i)
        if (b.touched[i] or b.news[i]) and not b.asleep[i]:
            self.to_place.append(i)
            for k in range(self.dim):
                b.motion[i, k] = 0.0

    def read_attached(self, rows: cython.longlong[::1], dt: cython.double):
        """Read the components of attached boxes, after `read`."""
        self._require_room()
        for n in range(rows.shape[0]):
            self._read_row(rows[n], dt, True)

    def read_switched_off(self, rows: list):
        """Read the components of bodies that the next steps skip."""
        b: Bodies = self.bodies

        self._require_room()
        for row in rows:
            i: cython.Py_ssize_t = row
            self._read_body(i, True)
            b.touched[i] = b.news[i] = 0

    def _next(self, rows: cython.longlong[::1], n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first place in `rows`, from `n` on, whose body may have something new."""
        if cython.compiled and n < rows.shape[0]:
            return watch_run(cython.address(self.watch), cython.address(rows[0]), n, rows.shape[0])
        return n

    def _read_row(self, i: cython.Py_ssize_t, dt: cython.double, again: cython.bint) -> cython.bint:
        """Read the components of a body; return whether it is valid.

        With `again`, the columns of the step are set even if nothing changed.
        """
        b: Bodies = self.bodies

        self._read_body(i, again)
        if (b.bad[i] or dt > SAFE_LIMIT) and (
            b.bad[i] & Bad.INVALID or not self._stays_within(i, dt)
        ):
            if b.quarantined[i] != Exclusion.INVALID:
                self.undo.keep(b, "quarantined", i)
                self.fallen.append(i)
            return False
        if b.quarantined[i]:
            self.undo.keep(b, "quarantined", i)
            b.quarantined[i] = 0
            b.end_rest(i)
            b.news[i] |= News.NEW
        if b.news[i] & News.NEW:
            b.touched[i] = 0  # a new body has no position to have moved from
        if b.touched[i] & Touched.BY_GAME:
            self.touched_rows.append(i)
        return True

    def _read_velocity(self, i: cython.Py_ssize_t) -> cython.bint:
        """Read a body of which `_next` has found that only its velocity may be new.

        Return False if the body must be read in full.
        """
        b: Bodies = self.bodies
        is_safe: cython.bint = True

        if not self.watch.only_velocity or b.asleep[i]:
            return False
        if self.velocity.read(i):
            b.interrupted[i] = 1
            for k in range(self.dim):
                b.velocity[i, k] = b.seen_velocity[i, k]
                is_safe &= abs(b.velocity[i, k]) <= SAFE_LIMIT
            if not is_safe:
                self._check(i)
        return is_safe

    def _read_body(self, i: cython.Py_ssize_t, again: cython.bint) -> cython.void:
        """Read the components of a body into the columns that the step works on."""
        b: Bodies = self.bodies
        kind: ComponentBinding
        has: cython.int = b.has[i]

        differs: cython.bint = self.position.read(i)
        if differs and b.attached[i]:  # the step overwrites the position
            b.news[i] |= News.UNCHECKED
            self._find_centre(i)
            differs = False
        if self.extents.read(i):
            if b.sensor[i] and not differs:
                self.resized.append(i)
            differs = True
        if differs:
            b.touched[i] |= Touched.BY_GAME
            b.any_touched = True
            b.news[i] |= News.UNCHECKED
            self._find_centre(i)
        speeds: cython.bint = has & Has.VELOCITY and self.velocity.read(i)
        for k in range(1, 4):  # the bits of `Has` from GROWTH on
            if has >> k & 1:
                kind = self.kinds[2 + k]
                if kind.read(i):
                    b.news[i] |= News.UNCHECKED
        if b.attached[i] and self.offset.read(i) | self.owner.read(i):
            b.news[i] |= News.UNCHECKED
        if b.traits[i] and self.rare_reader.read(i):
            b.news[i] |= News.UNCHECKED
            if not b.moves[i]:
                self.altered.append(i)
        if b.news[i] & News.UNCHECKED:
            b.end_rest(i)
        elif speeds and b.leans[i] and self._is_pressed_only(i):
            self.pressed.append(i)
        elif speeds:
            b.news[i] |= News.UNCHECKED
            b.interrupted[i] = 1
        if b.news[i] & News.UNCHECKED:
            if b.asleep[i]:
                self.woken.append(i)
            self._check(i)
        elif not again:
            return
        for k in range(self.dim):
            b.centre[i, k] = b.seen_centre[i, k]
            b.half[i, k] = b.seen_half[i, k]
            b.velocity[i, k] = b.seen_velocity[i, k]
            if self.growth.items:  # else the column has no page yet, and all numbers are 0
                b.growth[i, k] = b.seen_growth[i, k]

    def _is_pressed_only(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a velocity only presses a sleeping body against its support."""
        b: Bodies = self.bodies
        for k in range(self.dim):
            velocity: cython.double = b.seen_velocity[i, k]
            if velocity == 0.0:
                continue
            # The least displacement that closes a gap of one ulp, so that the impact is resolved.
            least: cython.double = PRESSES * max(abs(b.seen_centre[i, k]), b.seen_half[i, k])
            if not least < abs(velocity) * self.dt < INF or abs(velocity) > SAFE_LIMIT:
                return False
            if not b.leans[i] & (1 << (2 * k + (velocity > 0.0))):
                return False
            if b.leans[i] & Leans.BOUNCES and not abs(velocity) < self.rest_speed:
                return False
        return True

    def _find_centre(self, i: cython.Py_ssize_t) -> cython.void:
        """Compute the centre and the half sizes of a body from its seen values."""
        b: Bodies = self.bodies

        if not self.converts:
            return
        self.keep_boxes(i)
        for k in range(self.dim):
            half: cython.double = b.seen_size[i, k] / self.halves
            b.seen_half[i, k] = half
            b.seen_centre[i, k] = b.seen_place[i, k] - self.lean[k] * half + 0.0

    def _find_place(self, i: cython.Py_ssize_t) -> cython.int:
        """Compute the place and size to write; unchanged ones keep their seen values."""
        b: Bodies = self.bodies

        for k in range(self.dim):
            if not b.has[i] & Has.GROWTH:
                b.half[i, k] = b.seen_half[i, k]
            if b.centre[i, k] == b.seen_centre[i, k] and (b.half[i, k] == b.seen_half[i, k]):
                b.place[i, k] = b.seen_place[i, k]
            else:
                b.place[i, k] = b.centre[i, k] + self.lean[k] * b.half[i, k] + 0.0
            b.size[i, k] = b.seen_size[i, k]
            if b.half[i, k] != b.seen_half[i, k]:
                b.size[i, k] = b.half[i, k] * self.halves
            b.seen_centre[i, k] = b.centre[i, k]
            b.seen_half[i, k] = b.half[i, k]
        return 0

    def _check(self, i: cython.Py_ssize_t) -> cython.void:
        """Note whether the numbers of a body are valid, and whether it is dynamic."""
        b: Bodies = self.bodies
        restitution: cython.double = b.seen_restitution[i, VALUE]
        mass: cython.double = b.mass[i]
        fine: cython.bint = 0.0 <= restitution <= 1.0
        # In a world that wraps, each step asks how far a body gets.
        near: cython.bint = not (b.wraps and b.has[i] & (Has.VELOCITY | Has.GROWTH))

        fine &= 1.0 / LARGEST <= mass <= LARGEST or mass == INF
        for k in range(self.dim):  # each comparison is false for nan
            centre: cython.double = abs(b.seen_centre[i, k])
            half: cython.double = b.seen_half[i, k]
            velocity: cython.double = abs(b.seen_velocity[i, k])
            growth: cython.double = abs(b.seen_growth[i, k])
            fine &= centre <= LARGEST and 0.0 <= half <= LARGEST
            fine &= velocity <= LARGEST and growth <= LARGEST
            near &= centre <= SAFE_LIMIT and half <= SAFE_LIMIT
            near &= velocity <= SAFE_LIMIT and growth <= SAFE_LIMIT
            fine &= b.width[k] == 0.0 or 2.0 * half <= b.width[k]
        if self.rare.is_used:
            fine &= self._read_rare(i)
        if b.attached[i]:
            fine &= self.owner.allows_all(i) and self.offset.allows_all(i)
        b.bad[i] = (0 if fine else Bad.INVALID) | (0 if near else Bad.DISTANT)
        b.restitution[i] = restitution if b.response[i] == ResponseCode.BOUNCE else 0.0
        b.controls.any_turn |= b.response[i] >= ResponseCode.PUSH
        b.controls.any_bounce |= b.restitution[i] > 0.0 or b.controls.has_restitution(i)
        b.dynamic[i] = (
            (b.response[i] != 0 or b.custom[i] & Custom.DYNAMIC)
            and (self.sweeps or (b.has[i] & Has.VELOCITY) != 0)
            and -INF < mass < INF
        )
        b.news[i] &= ~News.UNCHECKED

    def _read_rare(self, i: cython.Py_ssize_t) -> cython.bint:
        """Fill a body's columns of `RareColumns`, and note whether its filter has changed."""
        b: Bodies = self.bodies
        f: cython.longlong[:, ::1] = self.rare.filters
        categories: cython.longlong = f[i, CATEGORIES]
        mask: cython.longlong = f[i, MASK]
        group: cython.longlong = f[i, GROUP]
        fine: cython.bint = self.rare_reader.check(i)
        differs: cython.bint = (
            f[i, CATEGORIES] != categories or f[i, MASK] != mask or f[i, GROUP] != group
        )

        if differs:
            self.undo.others.append((self.rare, "filters", i, (categories, mask, group)))
        if differs and not b.news[i] & News.NEW:
            b.touched[i] |= Touched.BY_FILTER
            b.any_touched = True
        return fine

    def _stays_within(self, i: cython.Py_ssize_t, dt: cython.double) -> cython.bint:
        """Return whether a body stays within `LARGEST`, and within the limits of a wrapping world."""
        b: Bodies = self.bodies
        fine: cython.bint = True

        for k in range(self.dim):
            displacement: cython.double = abs(b.seen_centre[i, k]) + abs(b.seen_velocity[i, k] * dt)
            displacement += b.seen_half[i, k] + abs(b.seen_growth[i, k] * dt)
            fine &= displacement <= LARGEST
            if b.width[k] > 0.0:
                displacement = b.seen_half[i, k] + max(0.0, b.seen_growth[i, k] * dt)
                fine &= 2.0 * displacement <= b.width[k]
                if not self.sweeps:
                    displacement = abs(b.seen_velocity[i, k] * dt)
                    displacement += abs(self._fall_of(i, k) * dt * dt)
                    fine &= displacement <= MAX_ROUNDS * b.width[k]
        return fine

    def _fall_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the acceleration of a body along an axis, by gravity and by itself."""
        return self.rare.acceleration_by(self.gravity[k], i, k)

    # -- writing --

    @cython.ccall
    def write(self, rows: cython.longlong[::1]) -> cython.void:
        """Write the results of a step for the bodies of `rows` into their components."""
        b: Bodies = self.bodies
        n: cython.Py_ssize_t
        position: ComponentBinding = self.position
        velocity: ComponentBinding = self.velocity

        self._require_room()
        self.undo.writing = rows
        position.store_all(rows)
        velocity.store_all(rows)
        if self.growth.items:
            self.extents.store_all(rows)
            self.growth.store_all(rows)
        if self.converts:
            self.keep_boxes(np.asarray(rows))
            self.centres = np.asarray(b.seen_centre)[np.asarray(rows)]
            for n in range(rows.shape[0]):
                self._find_place(rows[n])
        else:
            self.centres = position.written
        n = -1
        while True:
            n += 1
            if n < rows.shape[0]:
                n = write_run(
                    position.slots, velocity.slots, cython.address(b.has[0]),
                    Has.VELOCITY, Has.GROWTH, cython.address(rows[0]), n, rows.shape[0],
                )  # fmt: skip
            if n >= rows.shape[0]:
                break
            i: cython.Py_ssize_t = rows[n]
            has: cython.int = b.has[i]
            position.write(i)
            if has & Has.VELOCITY:
                velocity.write(i)
            if has & Has.GROWTH:
                for k in range(self.dim):
                    b.growth[i, k] = b.seen_growth[i, k]
                    if b.seen_growth[i, k] < 0.0 and b.half[i, k] == 0.0:
                        b.growth[i, k] = 0.0
                self.extents.write(i)
                self.growth.write(i)
        self.find_faces(rows)
        self.has_written = True

    @cython.ccall
    def find_faces(self, rows: cython.longlong[::1]) -> cython.int:
        """Compute the tight boxes of the bodies of `rows`, which queries use.

        A body is marked `DISTANT` if its next step may lead too far.
        """
        b: Bodies = self.bodies
        n_done: cython.Py_ssize_t = 0

        centre: cython.p_double = flat(b.centre)
        half: cython.p_double = flat(b.half)
        seen_half: cython.p_double = flat(b.seen_half)
        velocity: cython.p_double = flat(b.velocity)
        low: cython.p_double = flat(b.tight_min)
        high: cython.p_double = flat(b.tight_max)
        if self.dim == 2 and rows.shape[0] > 0:
            n_done = find_boxes(
                cython.address(rows[0]), rows.shape[0], centre, half, seen_half, velocity, low, high,
                SAFE_LIMIT,
            )  # fmt: skip
        for n in range(n_done, rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            near: cython.bint = True
            for to in range(self.dim * i, self.dim * (i + 1)):
                if half[to] == 0.0:
                    half[to] = seen_half[to]
                low[to] = centre[to] - half[to]
                high[to] = centre[to] + half[to]
                near &= (low[to] >= -SAFE_LIMIT) & (high[to] <= SAFE_LIMIT)
                near &= abs(velocity[to]) <= SAFE_LIMIT
            if not near:
                b.bad[i] |= Bad.DISTANT
        return 0
