"""Gravity, acceleration and damping: the velocities of falling bodies within a step.

A body that falls follows a parabola, and a step sweeps straight paths.  Therefore the
path of a step, which is computed next, is the chord of the parabola:

    at the start      v0           the value of `Velocity`
    within the step   v0 + p / 2   the mean velocity: the chord
    at the end        v0 + p       p = acceleration * dt, the *pull* of the step

Both ends of the chord lie on the parabola, for any dt.  `finish` adds the *kick* at
the end of the step, here p / 2.

An impact at time t splits the chord.  Resolutions use the velocity at the instant, v0 + p * t.
A body that leaves with w has the chord w + p * (1 - t) / 2 in the rest of the step, and the kick
p * (1 - t) / 2.  The chord lies on the side of the parabola to which gravity pulls, so a
split never gains energy.  Chords that began at different times make bodies meet that fall together;
`Falling.align` ends that.

A body that rests on an anchored one is *held*.  It has the velocity of the anchor and no
kick, to the end of the step or until a resolution turns it.

With damping d, the chord is the mean velocity of the solution of v' = a - d * v over the
step, and chord + kick is its velocity at the end.  Damping is then a part of the pull.  If
bodies merge, its momentum is that of the cluster.  As it was computed from the velocity before, it
ends on the axis of a wall; if two bodies rebound, the damping of the rest of the step acts at once.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import BYTE, DOUBLE, LONG, zeros
from ecs_collide.motion.bodies import EARLIER, Bodies

# Bits of `Gravity.held`.
HELD: cython.schar = 1  # the body has no kick
RUBBED: cython.schar = 2  # friction or `Stop` has taken its kick, or a part of it
# the body was held until this instant, so its weight has pressed to the end of the step already
WEIGHED: cython.schar = 4

# What becomes of damping where a chord is split; see the module.
GOES_ON: cython.int = 0
ENDS: cython.int = 1  # for the rest of the step
ACTS: cython.int = 2  # at once, for the rest of the step

SMALL = 0.125  # up to here the rest of the series is below an ulp
TERMS = 14


@cython.final
class Gravity:
    """The effects of gravity and damping on the bodies of a space within a step."""

    bodies: Bodies
    # whether anything falls or is damped in this step; otherwise nothing here is in use
    is_on: Public[cython.bint]
    sweeps: Public[cython.bint]  # whether the game moves the bodies, so that none falls
    step: cython.longlong
    acceleration: cython.double[::1]  # (3,): in world units per second squared, from `set`
    # (n_rows,): the step in which a body was last started; it falls or is damped in no other
    started: cython.longlong[::1]
    # (n_rows, dim): the pull of a body by itself, and with its contacts; see the module.  These and
    # the next ones are valid if the body was started in this step
    own: cython.double[:, ::1]
    pull: cython.double[:, ::1]
    kick: cython.double[:, ::1]
    since: cython.double[:, ::1]  # (n_rows, dim): the time at which the chord began
    held: cython.schar[:, ::1]  # (n_rows, dim): HELD, RUBBED and WEIGHED
    decay: cython.double
    mean: cython.double
    rest: cython.double

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.acceleration = zeros(DOUBLE, 3)
        self.set_rows(1)
        self.decay = self.mean = self.rest = 0.0

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1, between steps."""
        self.own = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.pull = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.kick = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.since = zeros(DOUBLE, n_rows, self.bodies.dim)
        self.held = zeros(BYTE, n_rows, self.bodies.dim)
        self.started = zeros(LONG, n_rows)

    def set(self, acceleration):
        """Set the acceleration from the next step on, in world units per second squared."""
        for k in range(self.bodies.dim):
            self.acceleration[k] = acceleration[k]

    @cython.ccall
    def begin_step(self):
        """Begin a step, with no body started."""
        self.step += 1
        self.is_on = self.bodies.rare.any_damping or self.bodies.rare.any_acceleration
        for k in range(self.bodies.dim):
            self.is_on |= self.acceleration[k] != 0.0
        self.is_on = self.is_on and not self.sweeps

    @cython.inline
    def acts_on(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body was started in this step."""
        return self.is_on and self.started[i] == self.step

    @cython.inline
    def pulls(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether gravity or damping changes the velocity of a body on an axis."""
        return self.acts_on(i) and self.own[i, k] != 0.0

    def start(self, i: cython.Py_ssize_t) -> cython.bint:
        """Find the pull of a body; return False if it neither falls nor is damped.

        The caller gets the chords by `chord_of` next, before any other body starts.
        """
        b: Bodies = self.bodies
        damping: cython.double = b.rare.damping[i] if b.rare.is_used else 0.0
        moves: cython.bint = damping != 0.0

        if self.started[i] == self.step:
            return False
        for k in range(b.dim):
            self.own[i, k] = self.own_pull(i, k)
            moves |= self.own[i, k] != 0.0
        if not moves:
            return False
        self.started[i] = self.step
        self._find_decay(damping * b.dt)
        for k in range(b.dim):
            self.pull[i, k] = self.own[i, k]
            self.since[i, k] = 0.0
            self.held[i, k] = 0
        return True

    @cython.cfunc
    @cython.inline
    def own_pull(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the change of velocity by gravity and acceleration alone in a whole step."""
        b: Bodies = self.bodies

        if not b.dynamic[i] or b.sensor[i] or b.controls.locks(i, k):
            return 0.0
        return b.rare.acceleration_by(self.acceleration[k], i, k) * b.dt

    def _find_decay(self, x: cython.double) -> cython.void:
        """Find the factors of damping: of a velocity at the end and in the mean, and of a pull.

        With x = damping * dt these are exp(-x), (1 - exp(-x)) / x and (x - 1 + exp(-x)) / x².
        The series of the last gives the others; x is halved until it is small, then doubled.
        exp() is not used, because it differs between platforms.
        """
        n_doubled: cython.int = 0

        if x == 0.0:
            self.decay = self.mean = 1.0
            self.rest = 0.5
            return
        if x > 64.0:  # less than an ulp is left
            self.decay = 0.0
            self.mean = 1.0 / x
            self.rest = (x - 1.0) / x / x
            return
        while x > SMALL:
            x *= 0.5
            n_doubled += 1
        term: cython.double = 0.5
        self.rest = 0.5
        for n in range(3, TERMS):
            term *= -x / n
            self.rest += term
        self.mean = 1.0 - x * self.rest
        self.decay = 1.0 - x * self.mean
        for _n in range(n_doubled):
            # Two halves: the second begins with the velocity at the end of the first.
            self.rest = 0.25 * (self.rest * 2.0 + self.mean * self.mean)
            self.mean = 0.5 * self.mean * (1.0 + self.decay)
            self.decay *= self.decay

    def chord_of(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.double:
        """Return the mean velocity over the step of a body just started, and store its kick."""
        pull: cython.double = self.pull[i, k]

        if self.decay == 1.0:
            self.kick[i, k] = 0.5 * pull
            return velocity + 0.5 * pull
        chord: cython.double = velocity * self.mean + pull * self.rest
        final: cython.double = velocity * self.decay + pull * self.mean
        self.kick[i, k] = final - chord
        self.own[i, k] = self.pull[i, k] = final - velocity
        self.since[i, k] = -1.0  # an impact at 0 ends the damping too
        return chord

    def start_path(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Give a body just started the velocity of its path: its mean over the step."""
        b: Bodies = self.bodies

        b.velocity[i, k] = self.chord_of(i, k, b.velocity[i, k]) + 0.0

    def mean_over(
        self,
        dt: cython.double,
        velocity: cython.double,
        acceleration: cython.double,
        damping: cython.double,
    ):
        """Return the mean velocity over `dt` seconds of a body, as of the chord of a step."""
        self._find_decay(damping * dt)
        return velocity * self.mean + acceleration * dt * self.rest

    def start_at_rest(self, i: cython.Py_ssize_t) -> cython.void:
        """Start a body that has slept until now in this step, and hold it on all axes."""
        b: Bodies = self.bodies

        if self.is_on and self.start(i):
            for k in range(b.dim):
                self.chord_of(i, k, b.velocity[i, k])
                self.hold(i, k)

    # -- within a step --

    @cython.inline
    def kick_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the kick of a body, or 0 if it was not started in this step."""
        return self.kick[i, k] if self.is_on and self.started[i] == self.step else 0.0

    def part_of_kick(
        self, i: cython.Py_ssize_t, k: cython.int, damps: cython.bint
    ) -> cython.double:
        """Return the kick of a body; unless it `damps`, only what gravity adds to it."""
        kick: cython.double = self.kick_of(i, k)

        if damps or kick == 0.0 or self.damping_of(i, k) == 0.0:
            return kick
        return 0.5 * (self.own_pull(i, k) * (1.0 - max(self.since[i, k], 0.0)))

    @cython.inline
    def velocity_at(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double, t: cython.double
    ) -> cython.double:
        """Return the velocity of a body at time `t` if its path has `velocity`."""
        if not self.is_on or self.started[i] != self.step or self.held[i, k] & HELD:
            return velocity
        return velocity + (self.kick[i, k] - self.pull[i, k] * (1.0 - t)) + 0.0

    @cython.inline
    def earlier_at(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double, t: cython.double
    ) -> cython.double:
        """Return the velocity before the resolutions of instant `t`, if the path had `velocity`."""
        if not self.is_on or self.started[i] != self.step:
            return velocity
        if self.since[i, k] != t:
            return self.velocity_at(i, k, velocity, t)
        return velocity - 0.5 * (self.pull[i, k] * (1.0 - t)) + 0.0

    def is_split(
        self, i: cython.Py_ssize_t, k: cython.int, t: cython.double, damping: cython.int
    ) -> cython.bint:
        """Return whether the chord of a body begins at time `t`, or needs no split; see `split`."""
        if self.started[i] != self.step:
            return True
        if damping != GOES_ON and self.bodies.rare.any_damping and self.damping_of(i, k) != 0.0:
            return False
        return self.pull[i, k] == 0.0 or self.since[i, k] == t

    def has_whole_path(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.bint:
        """Return whether time `t` is the start of the step, and the path is damped from there on."""
        return t == 0.0 and self.acts_on(i) and self.since[i, k] < 0.0

    def pull_from(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the own pull of a body from time `t` to the end of the step."""
        return self.own[i, k] * (1.0 - t) if self.acts_on(i) else 0.0

    def damping_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the part of the own pull of a started body that is damping."""
        return self.own[i, k] - self.own_pull(i, k)

    def find_rest_of_damping(self, i: cython.Py_ssize_t, t: cython.double) -> cython.void:
        """Set `decay` and `mean` of a body from time `t` to the end of the step, 1 without damping."""
        b: Bodies = self.bodies

        self.decay = self.mean = 1.0
        if self.is_on and b.rare.any_damping:
            self._find_decay(b.rare.damping[i] * (b.dt * (1.0 - t)))

    def is_shared(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.bint:
        """Return whether contacts have changed the pull of a body before time `t`.

        The pull of a damped path, whose chord begins before the step, is not its own either.
        """
        return (
            self.started[i] == self.step
            and not self.held[i, k] & HELD
            and 0.0 <= self.since[i, k] < t
            and self.pull[i, k] != self.own[i, k]
        )

    def split(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        now: cython.double,
        t: cython.double,
        damping: cython.int,
    ) -> cython.double:
        """Start the chord of a body with velocity `now` at time `t`; return the chord's.

        `damping` is GOES_ON, ENDS or ACTS.  That of a held body ends in any case.
        """
        if damping == ACTS:
            self.find_rest_of_damping(i, t)
            now *= self.decay
        if damping != GOES_ON or self.held[i, k] & HELD:
            self.own[i, k] = self.own_pull(i, k)
        self.pull[i, k] = self.own[i, k]
        self.kick[i, k] = 0.5 * (self.pull[i, k] * (1.0 - t))
        self.since[i, k] = t
        self.held[i, k] = WEIGHED if self.held[i, k] & HELD else 0
        return now + self.kick[i, k]

    def hold(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Hold a body, so that gravity does not act on it from now on."""
        if self.started[i] == self.step:
            self.held[i, k] = HELD
            self.kick[i, k] = 0.0

    def end(self, i: cython.Py_ssize_t) -> cython.void:
        """Let neither gravity nor damping act on a body any more in this step."""
        self.started[i] = 0

    @cython.inline
    def is_held(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body is held against gravity to the end of the step."""
        return self.started[i] == self.step and (self.held[i, k] & HELD) != 0

    @cython.inline
    def is_weighed(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the weight of a body in the rest of the step has pressed already."""
        return self.started[i] == self.step and (self.held[i, k] & WEIGHED) != 0

    def release(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Apply gravity from time `t` on to a body held at an earlier instant; return its kick."""
        if not self.is_held(i, k) or self.since[i, k] == t:
            return 0.0
        self.split(i, k, 0.0, t, ENDS)
        return self.kick[i, k]

    def free(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.void:
        """Apply gravity again to a body whose chord began at time `t`, even if it is held."""
        if self.started[i] == self.step and self.since[i, k] == t:
            self.held[i, k] = 0
            self.kick[i, k] = 0.5 * (self.pull[i, k] * (1.0 - t))

    def weaken(self, i: cython.Py_ssize_t, k: cython.int, part: cython.double) -> cython.void:
        """Reduce gravity on a body to a part, to the end of the step; friction takes the rest."""
        if part == 0.0:
            self.hold(i, k)  # the next impact on this axis finds the whole pull
        else:
            self.pull[i, k] *= part
            self.kick[i, k] *= part
        self.held[i, k] |= RUBBED

    def takes_pull(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Return the pull that friction or `Stop` takes from a body since time `t`, or 0."""
        if self.started[i] != self.step or self.since[i, k] != t or not self.held[i, k] & RUBBED:
            return 0.0
        return self.own[i, k]

    def give_back(self, i: cython.Py_ssize_t, k: cython.int, t: cython.double) -> cython.double:
        """Undo `weaken` of a body at time `t`; return by how much its kick changes."""
        kick: cython.double = self.kick[i, k]

        if self.takes_pull(i, k, t) == 0.0:
            return 0.0
        self.pull[i, k] = self.own[i, k]
        self.kick[i, k] = 0.5 * (self.pull[i, k] * (1.0 - t))
        self.held[i, k] = 0
        return self.kick[i, k] - kick

    def pull_with(
        self, i: cython.Py_ssize_t, k: cython.int, kick: cython.double, t: cython.double
    ) -> cython.void:
        """Give a body, even one without gravity, a kick from time `t` on, shared by its cluster."""
        if self.started[i] != self.step:
            self.started[i] = self.step
            for axis in range(self.bodies.dim):
                self.own[i, axis] = self.pull[i, axis] = 0.0
                self.kick[i, axis] = self.since[i, axis] = 0.0
                self.held[i, axis] = 0
        self.kick[i, k] = kick
        self.pull[i, k] = 2.0 * kick / (1.0 - t)
        self.since[i, k] = t
        self.held[i, k] = 0
        if kick == 0.0:  # hold it, so that an impact later in the step finds the whole pull
            self.pull[i, k] = self.own[i, k]
            self.held[i, k] = HELD

    def note_split(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Set the velocity before this instant's resolutions; a split is not a resolution."""
        b: Bodies = self.bodies

        if b.is_marked[i]:  # else it has not turned
            b.turn[b.mark_of[i], k, EARLIER] = velocity

    @cython.ccall
    def finish_woken(self):
        """Run `finish` for the sleeping bodies that the step has woken."""
        b: Bodies = self.bodies

        if b.n_woken:
            self.finish(b.woken[: b.n_woken])

    @cython.ccall
    def finish(self, rows: cython.longlong[::1]):
        """Add the kicks to the velocities of the bodies of `rows`, at the end of the step."""
        b: Bodies = self.bodies

        for n in range(rows.shape[0] if self.is_on else 0):
            i: cython.Py_ssize_t = rows[n]
            if self.started[i] == self.step:
                for k in range(b.dim):
                    b.velocity[i, k] = b.velocity[i, k] + self.kick[i, k] + 0.0
