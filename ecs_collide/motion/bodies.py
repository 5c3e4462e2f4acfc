"""The body table, and the path of each body within the step.

The reader in `sync` fills the columns, `begin_step` computes the paths from them, and broadphase
and narrowphase read the paths next.  A body is at the stored centre at its *base* time, the
fraction of the step at which its path last changed; from there it moves in a straight line.
Velocities are in units per second.  Motions and resizes are for the whole step and are never
scaled by the time that remains.

The numbers of a body that a sweep reads are adjacent in `path`, because bodies are swept in no
order and each further column would be a cache miss.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, zeros
from ecs_collide._kernel.constants import (
    APART_AT_LEAST,
    CLEAR,
    MAX_REST_COUNT,
    SLOP,
    SleepState,
    Trait,
)
from ecs_collide.motion import columns
from ecs_collide.motion.columns import allocate, blocks_of, views_of
from ecs_collide.motion.controls import Controls
from ecs_collide.motion.paths import finish_paths, start_paths
from ecs_collide.motion.rare_columns import RareColumns

PATH_ROUNDING = 2.0**-44  # part of the largest number of a path, less than any slop
REACH = 2.0**-40  # part of the largest face by which bounds are extended, more than any slop

# The numbers of an axis in `Bodies.path`.
CENTRE = 0
HALF = 1
MOTION = 2
RESIZE = 3
# The numbers of an axis in `Bodies.turn`.
ANCHORED = 0
ANCHOR_VELOCITY = 1
EARLIER = 2


@cython.final
class Bodies:
    """The table of all bodies of a space, one row each.

    `motion.columns` lists the columns and states when each is valid; `reserve` allocates them.  The
    other kernels read the attributes of this object; `BodyTable` has the same memory as arrays.
    """

    # 2 or 3
    dim: Public[cython.int]
    # the numbers in `path` for each body: 4 * dim
    n_path: cython.Py_ssize_t
    # length of the step in seconds
    dt: Public[cython.double]
    # the columns that only some bodies need
    rare: ReadOnly[RareColumns]
    # the columns of dominance, locked axes, maximum speed and restitution
    controls: ReadOnly[Controls]
    # the largest distance from the origin, on any axis, that the bounds of a path have had; at least
    # the width of each ring
    farthest: cython.double
    # whether any axis closes in a ring; see `broadphase.images`
    wraps: Public[cython.bint]
    # whether a body grows or shrinks in this step
    any_resize: cython.bint
    # whether impacts of any body have ever been offered to the game
    any_offered: Public[cython.bint]
    any_touched: Public[cython.bint]  # whether any row of `touched` may be set
    # whether the path of a body has had a drift in this step
    any_drift: cython.bint
    # (3,): the width of the world on each axis that closes in a ring, 0 on the others
    width: Public[cython.double[::1]]
    # whether custom components hold other numbers than centres and half sizes
    is_apart: ReadOnly[cython.bint]
    # the columns by blocks, and the array of each block
    blocks: ReadOnly[list]
    memory: ReadOnly[list]
    bound: list
    cleared: list  # the bytes of the blocks that are cleared for a new body: (columns, rows, bytes)
    # the number of rows
    capacity: ReadOnly[cython.Py_ssize_t]
    n_used: cython.Py_ssize_t  # the first row from which on no row was ever given out
    spare: Public[list]  # rows before that without a body; the next body gets the last one
    freed: Public[list]  # more of them, from the next step on
    n_marked: cython.Py_ssize_t
    n_woken: cython.Py_ssize_t
    n_turned: cython.Py_ssize_t
    # a counter that orders impacts, sweeps and turns within a step
    tick: cython.longlong
    # The columns, see `motion.columns`; public, so that `bind` can set them by name.
    centre: Public[cython.double[:, ::1]]
    half: Public[cython.double[:, ::1]]
    velocity: Public[cython.double[:, ::1]]
    growth: Public[cython.double[:, ::1]]
    motion: Public[cython.double[:, ::1]]
    swept_min: Public[cython.double[:, ::1]]
    swept_max: Public[cython.double[:, ::1]]
    tight_min: Public[cython.double[:, ::1]]
    tight_max: Public[cython.double[:, ::1]]
    seen_centre: Public[cython.double[:, ::1]]
    seen_half: Public[cython.double[:, ::1]]
    seen_velocity: Public[cython.double[:, ::1]]
    seen_growth: Public[cython.double[:, ::1]]
    seen_offset: Public[cython.double[:, ::1]]
    place: Public[cython.double[:, ::1]]
    seen_place: Public[cython.double[:, ::1]]
    size: Public[cython.double[:, ::1]]
    seen_size: Public[cython.double[:, ::1]]
    mass: Public[cython.double[::1]]
    restitution: Public[cython.double[::1]]
    base: Public[cython.double[::1]]
    turned_at: Public[cython.double[::1]]
    mark_of: Public[cython.int[::1]]
    seen_restitution: Public[cython.double[:, ::1]]
    seen_owner: Public[cython.double[:, ::1]]
    has: Public[cython.schar[::1]]
    traits: Public[cython.short[::1]]
    news: Public[cython.schar[::1]]
    touched: Public[cython.schar[::1]]
    bad: Public[cython.schar[::1]]
    quarantined: Public[cython.schar[::1]]
    disabled: Public[cython.schar[::1]]
    attached: Public[cython.schar[::1]]
    sensor: Public[cython.schar[::1]]
    response: Public[cython.schar[::1]]
    custom: Public[cython.schar[::1]]
    moves: Public[cython.schar[::1]]
    dynamic: Public[cython.schar[::1]]
    rest_count: Public[cython.schar[::1]]
    interrupted: Public[cython.schar[::1]]
    asleep: Public[cython.schar[::1]]
    held: Public[cython.schar[::1]]
    leans: Public[cython.short[::1]]
    gone: Public[cython.schar[::1]]
    is_marked: Public[cython.schar[::1]]
    is_turned: Public[cython.schar[::1]]
    on_hold: Public[cython.schar[::1]]
    driven: Public[cython.schar[::1]]
    ids: Public[cython.longlong[::1]]
    n_cached: Public[cython.short[::1]]
    island: Public[cython.longlong[::1]]
    turned_tick: Public[cython.longlong[::1]]
    marked: Public[cython.longlong[::1]]
    woken: Public[cython.longlong[::1]]
    # (capacity,): the first `n_turned` are the bodies whose pairs must be swept again;
    # `marked` and `woken` are such lists too
    turned: Public[cython.longlong[::1]]
    # (capacity * n_path,): for each body and axis the centre and half size at the base time,
    # motion and resize
    path: Public[cython.double[::1]]
    # (capacity, dim, 3), by place in `marked`: the time of anchoring or -1, the anchor's velocity
    # then, and the body's velocity before it turned
    turn: Public[cython.double[:, :, ::1]]
    # (capacity, dim): the velocity of the path of a body on hold, 0 unless another body drives it
    course: Public[cython.double[:, ::1]]
    # (capacity, dim): what moves a body besides its velocity, per second: out of others, 0 for most
    drift: Public[cython.double[:, ::1]]
    # The memory of `path`, `motion`, `swept_min` and `swept_max`.
    flat_path: cython.p_double
    flat_motion: cython.p_double
    flat_min: cython.p_double
    flat_max: cython.p_double

    def __init__(self, dim: cython.int, apart: bool = False):
        self.dim = dim
        self.n_path = 4 * dim
        self.rare = RareColumns(dim)
        self.controls = self.rare.controls
        self.width = zeros(DOUBLE, 3)
        self.is_apart = apart
        self.spare = []
        self.freed = []
        self.blocks = blocks_of(dim, apart)
        self.memory = []
        self.bound = []
        self.reserve(columns.INITIAL_ROWS)

    def reserve(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1, and keep the contents of all columns.

        If it raises, either nothing has changed or a call of `bind` completes it.
        """
        if n_rows > self.capacity:
            self.memory = allocate(self.blocks, self.memory, n_rows)
            self.bind()

    def bind(self):
        """Use the arrays in `memory`, which have the contents of the bound ones."""
        if self.bound is self.memory:
            return
        views: dict = views_of(self.blocks, self.memory)
        for block in self.blocks:
            if block.user:
                user = self if block.user == "bodies" else getattr(self, block.user)
                for name in block.names:
                    setattr(user, name, views[name].data)
        for name in ("place", "seen_place", "size", "seen_size"):
            setattr(self, name, views[name].data)
        self.rare.bits = self.controls.bits = self.traits
        self.flat_motion = flat(self.motion)
        self.flat_min = flat(self.swept_min)
        self.flat_max = flat(self.swept_max)
        self.flat_path = cython.address(self.path[0]) if cython.compiled else self.path
        self.capacity = self.ids.shape[0]
        self.cleared = []
        for block, memory in zip(self.blocks, self.memory, strict=True):
            if block.is_cleared:
                self.cleared.append(memory.view(BYTE).reshape(*memory.shape[:2], -1))
        self.bound = self.memory  # last, because this frees the arrays that were bound

    @cython.ccall
    def make_room(self, n_more: cython.Py_ssize_t) -> cython.bint:
        """Make room for more bodies; return whether the arrays were replaced."""
        wanted: cython.Py_ssize_t = self.n_used - len(self.spare) + n_more

        if wanted <= self.capacity:
            return False
        # Some rows are left, or the first body after a level would copy the whole table.
        self.reserve(max(wanted + wanted // 4, self.capacity + self.capacity // 2))
        return True

    @cython.ccall
    def allocate(self, entities: list) -> NDArray[np.int64]:
        """Return cleared rows for new bodies, for which there is room, with their ids and masses."""
        found = np.empty(len(entities), LONG)
        rows: cython.longlong[::1] = found.data
        # Others are zero, and take no memory until they are written.
        n_used: cython.Py_ssize_t = min(rows.shape[0], len(self.spare))

        if self.n_used + rows.shape[0] - n_used > self.capacity:
            raise IndexError("make_room() for new bodies first")
        for n in range(rows.shape[0]):
            if n < n_used:
                rows[n] = self.spare.pop()
            else:
                rows[n] = self.n_used
                self.n_used += 1
        for memory in self.cleared:
            _clear(memory, rows[:n_used])
        for n in range(rows.shape[0]):
            self.ids[rows[n]] = entities[n]
            self.mass[rows[n]] = 1.0
        return found

    @cython.ccall
    def reuse_freed(self) -> cython.void:
        """Give new bodies the rows that were freed before; until now a step cut short kept them."""
        self.spare += self.freed
        self.freed = []

    def free_all_but(self, rows: cython.longlong[::1]):
        """Give new bodies all rows but these, the first ones first."""
        kept: set = set(rows)

        self.freed = []
        self.spare = []
        for i in range(self.n_used - 1, -1, -1):
            if i not in kept:
                self.spare.append(i)

    def take_seen(self, rows: cython.longlong[::1]):
        """Reset the columns of bodies to the values last seen in their components."""
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            for k in range(self.dim):
                self.centre[i, k] = self.seen_centre[i, k]
                self.half[i, k] = self.seen_half[i, k]
                self.velocity[i, k] = self.seen_velocity[i, k]
                self.growth[i, k] = self.seen_growth[i, k]

    def start_over(self):
        """Reset the data of the current step, which may have been interrupted anywhere."""
        self.bind()
        self.n_marked = self.n_woken = self.n_turned = 0
        self.tick = 0
        self.farthest = 0.0
        for k in range(self.dim):
            self.farthest = max(self.farthest, self.width[k])
        for i in range(self.capacity):
            self.is_marked[i] = self.is_turned[i] = self.on_hold[i] = 0
        for i in range(self.capacity if self.any_drift else 0):
            self.forget_drift(i)
        if self.rare.any_owner:
            self.rare.clear_owners()

    def wrap(self, widths):
        """Close axes in rings of these widths; 0 for axes that stay open."""
        for k in range(self.dim):
            self.width[k] = widths[k]
            self.farthest = max(self.farthest, self.width[k])
            self.wraps |= widths[k] > 0.0

    @cython.ccall
    def begin_step(self, rows: cython.longlong[::1], dt: cython.double) -> cython.void:
        """Start the paths of the bodies of `rows` for a step of `dt` seconds.

        If a half size would go below 0, its growth for this step brings it to 0.
        """
        for n in range(self.n_marked):
            self.is_marked[self.marked[n]] = self.gone[self.marked[n]] = 0
        for n in range(self.n_turned):  # left by an interrupted step
            self.is_turned[self.turned[n]] = 0
        self.n_marked = self.n_turned = 0
        self.tick = 0
        self.any_resize = self.any_drift = False
        self.dt = dt
        self.start(rows)

    @cython.ccall
    def start(self, rows: cython.longlong[::1]) -> cython.void:
        """Find the paths of the bodies of `rows` for the whole step from their velocities."""
        path: cython.p_double = self.flat_path
        centre: cython.p_double = flat(self.centre)
        half: cython.p_double = flat(self.half)
        velocity: cython.p_double = flat(self.velocity)
        growth: cython.p_double = flat(self.growth)
        motion: cython.p_double = flat(self.motion)
        low: cython.p_double = self.flat_min
        high: cython.p_double = self.flat_max
        dt: cython.double = self.dt
        farthest: cython.double = self.farthest
        n_done: cython.Py_ssize_t = 0

        if self._are_flat(rows):
            n_done = start_paths(
                cython.address(rows[0]), rows.shape[0], centre, half, velocity, growth,
                cython.address(self.base[0]), motion, path, low, high, dt, REACH, APART_AT_LEAST,
                cython.address(self.width[0]), cython.address(farthest),
            )  # fmt: skip
        for n in range(n_done, rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            self.base[i] = 0.0
            for k in range(self.dim):
                to: cython.Py_ssize_t = self.dim * i + k
                change: cython.double = growth[to] * dt + 0.0
                if half[to] + change < 0.0:
                    change = -half[to]
                    growth[to] = change / dt
                motion[to] = velocity[to] * dt + 0.0
                path[4 * to + CENTRE] = centre[to]
                path[4 * to + HALF] = half[to]
                path[4 * to + MOTION] = motion[to]
                path[4 * to + RESIZE] = change
                if change != 0.0:
                    self.any_resize = True
                farthest = max(_bound(path, 4 * to, 1.0, self.width[k], low, high, to), farthest)
        self.farthest = farthest

    # -- drift --

    def start_drift(self, i: cython.Py_ssize_t, k: cython.int, drift: cython.double) -> cython.void:
        """Let the path of a body drift on an axis, from the next `start_drifting` on."""
        self.drift[i, k] = drift
        self.any_drift = True

    def lead_out(self, i: cython.Py_ssize_t, k: cython.int, speed: cython.double) -> cython.void:
        """Let a body's path lead out of others on an axis with a speed, unless it is faster itself.

        Its own velocity into them ends.
        """
        sign: cython.int = 1 if speed > 0.0 else -1

        if self.velocity[i, k] * sign < 0.0:
            self.velocity[i, k] = 0.0
        self.start_drift(i, k, sign * max(0.0, (speed - self.velocity[i, k]) * sign))
        self.rare.translation_side[i] = sign * (k + 1)

    @cython.ccall
    def start_drifting(self, rows: cython.longlong[::1]) -> cython.void:
        """Find the paths of the bodies of `rows` for the whole step again, with their drifts."""
        for n in range(rows.shape[0]):
            for k in range(self.dim):
                self.set_motion(rows[n], k, self.path_velocity(rows[n], k) * self.dt)
            self.find_swept_bounds(rows[n])

    @cython.inline
    def path_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body's path on an axis: as others meet it, and its drift."""
        met: cython.double = self.velocity_met(i, k)

        return met + self.drift[i, k] if self.any_drift else met

    @cython.inline
    def velocity_met(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity with which others meet a body: one on hold is a wall on its path."""
        return self.course[i, k] if self.on_hold[i] else self.velocity[i, k]

    @cython.inline
    def growth_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return how fast a body's half size grows on an axis now; one on hold does not grow."""
        return 0.0 if self.on_hold[i] else self.growth[i, k]

    def hold(self, i: cython.Py_ssize_t) -> cython.void:
        """Let a body keep its velocity and growth to the end of the step, whatever its path does."""
        for k in range(self.dim):
            self.course[i, k] = self.velocity[i, k]
            self.path[self.n_path * i + 4 * k + RESIZE] = 0.0
        self.on_hold[i] = 1

    def leave_with(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Set the velocity with which a body on hold leaves the step."""
        self.velocity[i, k] = velocity + 0.0

    def end_drift(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.bint:
        """End the drift of a body on an axis at time `t`; return whether it had one."""
        side: cython.int = self.rare.translation_side[i]

        if abs(side) == k + 1:
            self.rare.translation_side[i] = 0
        if self.drift[i, k] == 0.0:
            return False
        self.drift[i, k] = 0.0
        self.advance(i, t)
        self.set_velocity(i, k, self.velocity[i, k])
        self.note_turn(i)
        return True

    def end_drifts(self, rows: cython.longlong[::1]) -> cython.void:
        """Forget the drifts of the bodies of `rows`, at the end of the step."""
        for n in range(rows.shape[0] if self.any_drift else 0):
            self.forget_drift(rows[n])

    def forget_drift(self, i: cython.Py_ssize_t) -> cython.void:
        """Forget the drift of a body; its path must be computed again."""
        self.rare.translation_side[i] = 0
        for k in range(self.dim):
            self.drift[i, k] = 0.0

    def _are_flat(self, rows: cython.longlong[::1]) -> cython.bint:
        """Return whether compiled code may take both axes of 2D side by side."""
        return self.dim == 2 and rows.shape[0] > 0

    @cython.ccall
    def place_still(self, rows: cython.longlong[::1]) -> cython.void:
        """Set the paths of the bodies of `rows`, which do not move, from the columns."""
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            at: cython.Py_ssize_t = self.n_path * i
            self.base[i] = 0.0
            for k in range(self.dim):
                self.path[at + CENTRE] = self.centre[i, k]
                self.path[at + HALF] = self.half[i, k]
                self.path[at + MOTION] = self.path[at + RESIZE] = 0.0
                at += 4

    @cython.cfunc
    @cython.inline
    def clear_gap(self) -> cython.double:
        """Return a gap larger than the slop between any two paths whose bounds are known."""
        largest: cython.double = CLEAR * self.farthest

        return largest if largest > APART_AT_LEAST else APART_AT_LEAST

    @cython.inline
    def slop_between(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int
    ) -> cython.double:
        """Return the slop of two paths on an axis: the largest gap that counts as none."""
        one: cython.Py_ssize_t = self.dim * i + k
        two: cython.Py_ssize_t = self.dim * j + k
        largest: cython.double = max(
            abs(self.flat_min[one]),
            abs(self.flat_max[one]),
            abs(self.flat_min[two]),
            abs(self.flat_max[two]),
        )

        largest = max(largest, self.width[k]) * SLOP
        return largest if largest > APART_AT_LEAST else APART_AT_LEAST

    @cython.inline
    def mark(self, i: cython.Py_ssize_t) -> cython.void:
        """Reset the turns and anchors of a body at its first event in a step; most have none."""
        m: cython.Py_ssize_t = self.n_marked

        if self.is_marked[i]:
            return
        self.is_marked[i] = 1
        self.mark_of[i] = m
        self.marked[m] = i
        self.n_marked += 1
        self.turned_at[m] = -1.0
        self.turned_tick[m] = 0
        for k in range(self.dim):
            self.turn[m, k, ANCHORED] = -1.0
            if self.held[i] & (1 << k):
                self.turn[m, k, ANCHORED] = self.turn[m, k, ANCHOR_VELOCITY] = 0.0

    @cython.inline
    def interrupt_rest(self, i: cython.Py_ssize_t) -> cython.void:
        """Mark a body as not at rest in this step, and wake it."""
        self.interrupted[i] = 1
        if self.asleep[i] == SleepState.ASLEEP:
            self.asleep[i] = SleepState.WOKEN
            self.woken[self.n_woken] = i
            self.n_woken += 1

    def any_at_rest(self, rows: cython.longlong[::1], n_steps: cython.int) -> cython.bint:
        """Return whether one of `rows` has rested for some steps, without an interruption."""
        for n in range(rows.shape[0]):
            if self.rest_count[rows[n]] >= n_steps and not self.interrupted[rows[n]]:
                return True
        return False

    def pop_woken(self) -> list:
        """Return the rows of the bodies that the step has woken, and empty the list."""
        rows: list = []

        for n in range(self.n_woken):
            rows.append(self.woken[n])
        self.n_woken = 0
        return rows

    def withdraw(self, i: cython.Py_ssize_t) -> cython.void:
        """Exclude a body from the rest of the step."""
        self.mark(i)
        self.interrupt_rest(i)
        self.gone[i] = 1

    def is_held(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body sleeps and may touch a static or kinematic one."""
        return self.held[i] != 0 or self.leans[i] != 0

    def holds_back(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether an overlap of bodies i and j pushes out i, not j."""
        has: cython.int = self.traits[j]

        if self.sensor[j] or has & Trait.ONE_WAY or self.rare.is_soft(i, j):
            return False
        if not self.dynamic[j] or not has & Trait.PUSH_OUT:
            return True
        return self.is_lighter(i, j) or (not self.is_lighter(j, i) and self.precedes(j, i))

    @cython.inline
    def open_side(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
        """Return the only side on which body i is solid for body j, or 0 if it is on all sides.

        `OneWay` lets only dynamic bodies through.  A crate that has it still stands on a floor.
        """
        return self.rare.one_way[i] if self.traits[i] & Trait.ONE_WAY and self.dynamic[j] else 0

    @cython.inline
    def is_one_way(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether one of two bodies is solid for the other on one side only."""
        if not (self.traits[i] | self.traits[j]) & Trait.ONE_WAY:
            return False
        return self.open_side(i, j) != 0 or self.open_side(j, i) != 0

    def is_passable(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.bint:
        """Return whether one of two bodies is not solid on a side of the pair.

        The side is given by the axis and the sign of the normal, which points from j to i.
        """
        one: cython.int = self.open_side(i, j)
        other: cython.int = self.open_side(j, i)

        return (one != 0 and one != -sign * (k + 1)) or (other != 0 and other != sign * (k + 1))

    @cython.inline
    def precedes(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether body i comes before j in the order of bodies in space.

        It is the order of their centres at the step's start, on the first axis, then on the next
        ones; then of their half sizes.  Ids order only boxes that are equal in both, and all bodies
        of a world that wraps, in which no place is the first.
        """
        if self.wraps:
            return self.ids[i] < self.ids[j]
        for k in range(self.dim):
            here: cython.double = self.centre[i, k]
            there: cython.double = self.centre[j, k]
            if here != there:
                return here < there
        for k in range(self.dim):
            if self.half[i, k] != self.half[j, k]:
                return self.half[i, k] < self.half[j, k]
        return self.ids[i] < self.ids[j]

    @cython.inline
    def place_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the coordinate by which impacts are ordered; 0 if the world wraps."""
        return 0.0 if self.wraps else self.centre[i, k]

    @cython.inline
    def is_lighter(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body has less mass than another, or a lower dominance."""
        c: Controls = self.controls

        if c.any_rank and c.rank[i] != c.rank[j]:
            return c.rank[i] < c.rank[j]
        return self.mass[i] < self.mass[j]

    def gives_way(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, axis: cython.int) -> cython.int:
        """Return 1 if i is moved to correct a rounding error, -1 if j is, 0 if both are.

        The first rule that tells the two apart decides:

        1. The lighter body is moved.
        2. In a world that wraps, the body with the higher id is moved.
        3. On the first axis from `axis` on where the distances of the centres from the origin
           differ, the farther body is moved.  A mirrored scene therefore ends mirrored.
        """
        k: cython.int = axis

        if self.is_lighter(i, j) or self.is_lighter(j, i):
            return 1 if self.is_lighter(i, j) else -1
        if self.wraps:
            return (self.ids[j] < self.ids[i]) - (self.ids[i] < self.ids[j])
        for _n in range(self.dim):
            if abs(self.centre[i, k]) != abs(self.centre[j, k]):
                return 1 if abs(self.centre[i, k]) > abs(self.centre[j, k]) else -1
            k = k + 1 if k + 1 < self.dim else 0  # a division would take longer than all of this
        return 0

    @cython.inline
    def dynamic_along(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether impacts change the velocity of a body on an axis while it is not held."""
        return self.dynamic[i] != 0 and not self.controls.locks(i, k)

    @cython.inline
    def is_free(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body is dynamic and not held."""
        return self.dynamic[i] != 0 and not self.on_hold[i]

    @cython.inline
    def may_turn(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether impacts may turn a body on an axis: it is free, and not locked there."""
        return self.is_free(i) and not self.controls.locks(i, k)

    def translation_side(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
        """Return the normal, as a side, along which one body is pushed out of the other, or 0."""
        displacements: cython.schar[::1] = self.rare.translation_side

        if displacements[i] != 0 and self.holds_back(i, j):
            return displacements[i]
        if displacements[j] != 0 and self.holds_back(j, i):
            return -displacements[j]
        return 0

    @cython.ccall
    def seen_centre_of(self, i: cython.Py_ssize_t) -> tuple:
        """Return the centre at the end of the last step."""
        return vector_of(flat(self.seen_centre), self.dim * i, self.dim)

    @cython.ccall
    def seen_velocity_of(self, i: cython.Py_ssize_t) -> tuple:
        """Return the velocity that its component had when it was last read or written."""
        return vector_of(flat(self.seen_velocity), self.dim * i, self.dim)

    @cython.inline
    def centre_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the centre on an axis at the base time."""
        return self.path[self.n_path * i + 4 * k + CENTRE]

    @cython.inline
    def half_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the half size on an axis at the base time."""
        return self.path[self.n_path * i + 4 * k + HALF]

    @cython.inline
    def face_on(self, i: cython.Py_ssize_t, k: cython.int, sign: cython.double) -> cython.double:
        """Return the higher face on an axis at the base time, or with sign -1 the lower one."""
        return self.centre_of(i, k) + sign * self.half_of(i, k)

    @cython.inline
    def motion_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the displacement of a body's centre on an axis in a whole step."""
        return self.path[self.n_path * i + 4 * k + MOTION]

    @cython.inline
    def resize_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the change of a body's half size on an axis in a whole step."""
        return self.path[self.n_path * i + 4 * k + RESIZE]

    @cython.inline
    def closing_of(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, side: cython.int
    ) -> cython.double:
        """Return how much a face of body j and the opposite one of i close in a whole step."""
        k: cython.int = abs(side) - 1
        closing: cython.double = self.motion_of(j, k) - self.motion_of(i, k)

        if side < 0:
            closing = -closing
        return closing + (self.resize_of(i, k) + self.resize_of(j, k))

    @cython.inline
    def centre_at(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the centre on an axis at time `t`; at the base time, the stored one unrounded."""
        at: cython.Py_ssize_t = self.n_path * i + 4 * k

        return self.path[at + CENTRE] + self.path[at + MOTION] * (t - self.base[i])

    @cython.inline
    def half_at(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the half size on an axis at time `t`."""
        at: cython.Py_ssize_t = self.n_path * i + 4 * k

        half: cython.double = self.path[at + HALF] + self.path[at + RESIZE] * (t - self.base[i])
        return half if half > 0.0 else 0.0

    @cython.inline
    def advance(self, i: cython.Py_ssize_t, t: cython.double) -> cython.void:
        """Move a body along its path to time `t`, its new base."""
        at: cython.Py_ssize_t = self.n_path * i
        elapsed: cython.double = t - self.base[i]

        if elapsed == 0.0:
            return
        for _k in range(self.dim):
            self.path[at + CENTRE] = self.path[at + CENTRE] + self.path[at + MOTION] * elapsed + 0.0
            half: cython.double = self.path[at + HALF] + self.path[at + RESIZE] * elapsed
            self.path[at + HALF] = half if half > 0.0 else 0.0
            at += 4
        self.base[i] = t

    def finish_step(self, rows: cython.longlong[::1]) -> cython.void:
        """Move the bodies of `rows` to the end of the step."""
        path: cython.p_double = self.flat_path
        centre: cython.p_double = flat(self.centre)
        half: cython.p_double = flat(self.half)
        n_done: cython.Py_ssize_t = 0

        if self._are_flat(rows):
            n_done = finish_paths(
                cython.address(rows[0]), rows.shape[0], centre, half,
                cython.address(self.base[0]), path, cython.address(self.interrupted[0]),
                cython.address(self.rest_count[0]), MAX_REST_COUNT,
            )  # fmt: skip
        for n in range(n_done, rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            elapsed: cython.double = 1.0 - self.base[i]
            rests: cython.bint = True
            self.base[i] = 1.0
            for to in range(self.dim * i, self.dim * (i + 1)):
                middle: cython.double = (
                    path[4 * to + CENTRE] + path[4 * to + MOTION] * elapsed + 0.0
                )
                size: cython.double = path[4 * to + HALF] + path[4 * to + RESIZE] * elapsed
                size = size if size > 0.0 else 0.0
                centre[to] = path[4 * to + CENTRE] = middle
                half[to] = path[4 * to + HALF] = size
                rests &= (path[4 * to + MOTION] == 0.0) & (path[4 * to + RESIZE] == 0.0)
            if self.interrupted[i]:
                self.interrupted[i] = 0
                rests = False
            self.rest_count[i] = min(self.rest_count[i] + 1, MAX_REST_COUNT) if rests else 0

    def note_crossing(self, i: cython.Py_ssize_t) -> cython.void:
        """End the rest of a body that crosses another while it moves, even if it stops at once.

        A crate pressed to a floor crosses a sensor at the height of the floor in each step.
        """
        moves: cython.bint = self.interrupted[i]

        for k in range(self.dim):
            moves |= self.motion_of(i, k) != 0.0
        if moves:
            self.end_rest(i)

    @cython.cfunc
    @cython.inline
    def end_rest(self, i: cython.Py_ssize_t) -> cython.void:
        """Restart the count of a body's steps at rest after this step."""
        self.rest_count[i] = 0
        self.interrupted[i] = 1

    def note_pressed(self) -> cython.void:
        """Count bodies as at rest that are only pressed: they stopped at time 0 where they were."""
        for n in range(self.n_marked):
            i: cython.Py_ssize_t = self.marked[n]
            if not self.interrupted[i] or self.turned_at[n] != 0.0 or self.gone[i]:
                continue
            rests: cython.bint = self.dynamic[i] != 0
            for k in range(self.dim):
                rests &= self.velocity[i, k] == 0.0
                rests &= self.centre_of(i, k) == self.seen_centre[i, k]
            if rests:
                self.interrupted[i] = 0

    def finish_woken(self) -> cython.void:
        """Move the bodies that the step has woken to the end of the step."""
        if self.n_woken:
            self.finish_step(self.woken[: self.n_woken])

    def find_misplaced(self, rows: cython.longlong[::1], boxes: cython.double[:, :, ::1]) -> list:
        """Return which still bodies of `rows` have other seen boxes than some saved ones.

        Parameters
        ----------
        rows : int64 (n,)
        boxes : float64 (2, n_rows, dim)
            Centres and half sizes, by row.
        """
        found: list = []

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            if self.moves[i] or self.quarantined[i]:
                continue
            differs: cython.bint = i >= boxes.shape[1]
            for k in range(0 if differs else self.dim):
                differs |= self.seen_centre[i, k] != boxes[0, i, k]
                differs |= self.seen_half[i, k] != boxes[1, i, k]
            if differs:
                found.append(i)
        return found

    @cython.ccall
    def arrive(self, rows: cython.longlong[::1], targets: cython.double[:, ::1]) -> cython.void:
        """Place driven bodies at their targets, on the axes where they are off by rounding only."""
        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            for k in range(self.dim):
                centre: cython.double = self.centre[i, k]
                largest: cython.double = max(
                    abs(centre), abs(targets[n, k]), abs(self.motion_of(i, k))
                )
                if abs(centre - targets[n, k]) <= PATH_ROUNDING * largest:
                    self.put(i, k, targets[n, k])

    def put(self, i: cython.Py_ssize_t, k: cython.int, centre: cython.double) -> cython.void:
        """Place a body at a centre on an axis, at its base time."""
        self.path[self.n_path * i + 4 * k + CENTRE] = self.centre[i, k] = centre + 0.0

    @cython.inline
    def snap(self, i: cython.Py_ssize_t, k: cython.int, centre: cython.double) -> cython.void:
        """Place a body as `put` does; within a step, `centre` stays that of the step's start.

        Interrupts its rest.
        """
        self.interrupt_rest(i)
        if self.base[i] < 1.0:
            self.start_path_at(i, k, centre + 0.0)
        else:
            self.put(i, k, centre)

    def widths_beyond(self, k: cython.int, place: cython.double) -> cython.double:
        """Return how many whole widths a position on an axis is beyond the world; 0 within it."""
        if self.width[k] == 0.0:
            return 0.0
        return _widths_beyond(place, self.width[k])

    def into_world(self, k: cython.int, place: cython.double) -> cython.double:
        """Return a position wrapped into the world: at least 0 and less than its width."""
        if self.width[k] == 0.0 or 0.0 <= place < self.width[k]:
            return place
        return _into_world(place, self.width[k])

    @cython.inline
    def turned_now(self, i: cython.Py_ssize_t, t: cython.double) -> cython.bint:
        """Return whether a body has turned at the instant `t`."""
        return self.is_marked[i] and self.turned_at[self.mark_of[i]] == t

    @cython.inline
    def turn_of(self, i: cython.Py_ssize_t, k: cython.int, part: cython.int) -> cython.double:
        """Return a part of `turn` of a marked body on an axis."""
        return self.turn[self.mark_of[i], k, part]

    def set_velocity(
        self, i: cython.Py_ssize_t, k: cython.int, value: cython.double
    ) -> cython.void:
        """Give a body a velocity on an axis from its base time; `turn` keeps the one before."""
        if not self.is_marked[i]:
            self.mark(i)
        self.interrupt_rest(i)
        m: cython.Py_ssize_t = self.mark_of[i]
        if self.turned_at[m] != self.base[i]:
            self.turned_at[m] = self.base[i]
            for axis in range(self.dim):
                self.turn[m, axis, EARLIER] = self.velocity[i, axis]
        if self.on_hold[i]:
            self.course[i, k] = value + 0.0
        else:
            self.velocity[i, k] = value + 0.0
        self.set_motion(i, k, self.path_velocity(i, k) * self.dt)

    @cython.cfunc
    @cython.inline
    def set_motion(self, i: cython.Py_ssize_t, k: cython.int, motion: cython.double) -> cython.void:
        """Set the displacement of a body on an axis in a whole step."""
        self.motion[i, k] = self.path[self.n_path * i + 4 * k + MOTION] = motion + 0.0

    @cython.inline
    def start_path_at(
        self, i: cython.Py_ssize_t, k: cython.int, centre: cython.double
    ) -> cython.void:
        """Set the centre of a body's path on an axis at its base time."""
        self.path[self.n_path * i + 4 * k + CENTRE] = centre

    def end_path(self, i: cython.Py_ssize_t) -> cython.void:
        """End the motion and the growth of a body at its base time."""
        at: cython.Py_ssize_t = self.n_path * i

        for _k in range(self.dim):
            self.path[at + MOTION] = self.path[at + RESIZE] = 0.0
            at += 4

    def turn_to(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double, t: cython.double
    ) -> cython.void:
        """Give a body a velocity on an axis from time `t` on, and record its turn."""
        if self.velocity_met(i, k) != velocity:
            self.advance(i, t)
            self.set_velocity(i, k, velocity)
            self.note_turn(i)

    def restrain(self, rows: cython.longlong[::1], by_speed: cython.bint) -> cython.void:
        """Apply locked axes, and with `by_speed` maximum speeds, to the velocities of bodies."""
        if self.controls.any_lock or self.controls.any_limit:
            for n in range(rows.shape[0]):
                self.controls.restrain(self.velocity, rows[n], by_speed)

    def note_turn(self, i: cython.Py_ssize_t) -> cython.void:
        """Record that a body's path changes now, so that its pairs are swept again."""
        if not self.is_marked[i]:
            self.mark(i)
        self.turned_tick[self.mark_of[i]] = self.tick
        if not self.is_turned[i]:
            self.is_turned[i] = 1
            self.turned[self.n_turned] = i
            self.n_turned += 1

    @cython.inline
    def has_turned_since(self, i: cython.Py_ssize_t, tick: cython.longlong) -> cython.bint:
        """Return whether a body has turned in this step after a tick."""
        return self.is_marked[i] and self.turned_tick[self.mark_of[i]] > tick

    @cython.inline
    def is_anchored(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.bint:
        """Return whether a body must not be moved on an axis to place its face against another's.

        True for static and kinematic bodies, for bodies that were anchored at time `t`, and for
        anchored bodies that still have their anchor's velocity.
        """
        if not self.dynamic_along(i, k):
            return True
        if not self.is_marked[i]:
            return (self.held[i] & (1 << k)) != 0
        return self.turn_of(i, k, ANCHORED) == t or (
            self.turn_of(i, k, ANCHORED) >= 0.0
            and self.path_velocity(i, k) == self.turn_of(i, k, ANCHOR_VELOCITY)
        )

    def anchor(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, t: cython.double
    ) -> cython.void:
        """Record that body i touches the anchored body j on an axis at time `t`."""
        self.mark(i)
        self.turn[self.mark_of[i], k, ANCHORED] = t
        self.turn[self.mark_of[i], k, ANCHOR_VELOCITY] = self.path_velocity(j, k)

    def find_swept_bounds(self, i: cython.Py_ssize_t) -> cython.void:
        """Find the bounds of a body's path from its base time to the end of the step."""
        path: cython.p_double = self.flat_path
        low: cython.p_double = self.flat_min
        high: cython.p_double = self.flat_max
        at: cython.Py_ssize_t = self.n_path * i
        to: cython.Py_ssize_t = self.dim * i
        rest: cython.double = 1.0 - self.base[i]

        farthest: cython.double = self.farthest
        farthest = max(_bound(path, at, rest, self.width[0], low, high, to), farthest)
        farthest = max(_bound(path, at + 4, rest, self.width[1], low, high, to + 1), farthest)
        if self.dim == 3:
            farthest = max(_bound(path, at + 8, rest, self.width[2], low, high, to + 2), farthest)
        self.farthest = farthest

    def bring_in(self, rows: cython.longlong[::1]) -> list:
        """Wrap the centres of the bodies of `rows` that take part in steps into the world.

        Return the rows of the still ones that were beyond an edge.
        """
        found: list = []

        for n in range(rows.shape[0]):
            i: cython.Py_ssize_t = rows[n]
            is_out: cython.bint = False
            for k in range(0 if self.quarantined[i] else self.dim):
                centre: cython.double = self.into_world(k, self.centre[i, k])
                is_out |= centre != self.centre[i, k]
                self.centre[i, k] = centre
            if is_out and not self.moves[i]:
                found.append(i)
        return found


@cython.inline
def _widths_beyond(place: cython.double, width: cython.double) -> cython.double:
    """Return how many whole widths a position on a wrapping axis is beyond the world."""
    if 0.0 <= place < width:
        return 0.0
    number: cython.double = floor(place / width)
    if place - number * width < 0.0:  # the quotient was rounded up
        number -= 1.0
    if place - number * width >= width:  # just below 0, or rounded down
        number += 1.0
    return number


@cython.inline
def _into_world(place: cython.double, width: cython.double) -> cython.double:
    """Return a position on a wrapping axis, wrapped into the world."""
    return max(0.0, place - _widths_beyond(place, width) * width) + 0.0


def bring_into_world(places: cython.double[::1], width: cython.double):
    """Wrap finite positions on an axis into the world.

    Parameters
    ----------
    places : float64 (n,), written
    width : float
        The width of the world on that axis.
    """
    for n in range(places.shape[0]):
        places[n] = _into_world(places[n], width)


@cython.inline
def _bound(
    path: cython.p_double,
    at: cython.Py_ssize_t,
    rest: cython.double,
    width: cython.double,
    low_of: cython.p_double,
    high_of: cython.p_double,
    to: cython.Py_ssize_t,
) -> cython.double:
    """Write the bounds of a path on an axis; return their largest distance from the origin.

    In a world with edges they reach farther, because rounding may be coarser there.
    """
    centre: cython.double = path[at + CENTRE]
    half: cython.double = path[at + HALF]
    motion: cython.double = path[at + MOTION]
    resize: cython.double = path[at + RESIZE]
    low: cython.double = centre - half
    high: cython.double = centre + half
    low_end: cython.double = low + (motion - resize) * rest
    high_end: cython.double = high + (motion + resize) * rest

    # In pure Python a call of `min` takes as long as ten of these expressions.
    low = low_end if low_end < low else low
    high = high_end if high_end > high else high
    far: cython.double = abs(low)
    largest: cython.double = abs(high)
    largest = far if far >= largest else largest
    reach: cython.double = REACH * largest + APART_AT_LEAST  # the latter for planes near 0
    low_of[to] = low - reach - REACH * width
    high_of[to] = high + reach + REACH * width
    return largest


def _clear(block: cython.schar[:, :, ::1], rows: cython.longlong[::1]) -> cython.void:
    """Set the bytes of rows to zero in all columns of a block."""
    for column in range(block.shape[0]):
        for n in range(rows.shape[0]):
            for byte in range(block.shape[2]):
                block[column, rows[n], byte] = 0


@cython.boundscheck(False)  # the array may be empty
def flat(view: cython.double[:, ::1]) -> cython.p_double:
    """Return an array's memory as a flat sequence, for the inner loops of kernels."""
    if cython.compiled:
        return cython.address(view[0, 0])
    return view.cast("B").cast("d") if view.shape[0] > 0 else view


@cython.cfunc
def vector_of(numbers: cython.p_double, at: cython.Py_ssize_t, dim: cython.int) -> tuple:
    """Return the `dim` numbers from index `at` on as a tuple."""
    if dim == 2:
        return (numbers[at], numbers[at + 1])
    return (numbers[at], numbers[at + 1], numbers[at + 2])
