"""Carry numbers between the components that only some bodies have and their columns."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

from ecs_collide.constants import (
    CARRY,
    CONTROL,
    FALL,
    FILTER,
    FRICTION,
    ONE_WAY,
    PUSH_OUT,
    SEPARATES,
)

if cython.compiled:
    from cython.cimports.ecs_collide.motion.surfaces_c import GROUP, MASK, Surfaces, side_of
    from cython.cimports.ecs_collide.sync.bindings_c import CODE, VALUE, ComponentBinding
    from cython.cimports.ecs_collide.sync.control_reader_c import ControlReader, is_rule
    from cython.cimports.ecs_collide.sync.slots_c import slots_hold
    from cython.cimports.libc.math import floor
else:
    from math import floor

    from ecs_collide.motion.surfaces import GROUP, MASK, Surfaces, side_of
    from ecs_collide.sync.bindings import CODE, VALUE, ComponentBinding
    from ecs_collide.sync.control_reader import ControlReader, is_rule
    from ecs_collide.sync.slots import slots_hold

cython.declare(
    ALL=cython.longlong,
    LARGEST=cython.double,
    INF=cython.double,
    MAX_GROUP=cython.double,
    MOST_PULL=cython.double,
    OF_SPACE=cython.double,
    NAN=cython.double,
)
from ecs_collide.constants import ALL, INF, LARGEST, MAX_GROUP, MOST_PULL, NAN, OF_SPACE


@cython.final
@cython.cclass
class SurfaceReader:
    """The rarer components of all bodies, and the columns that they are read into.

    Parameters
    ----------
    surfaces : Surfaces
    kinds : list of ComponentBinding
        Filter, Friction, OneWay, Carry for its normal and for its surface, PushOut,
        Separate, GravityScale, Damping; then those of `ControlReader`.

    Attributes
    ----------
    exempt : list of ComponentBinding
        Bodies that have a component of one of these do not fall by themselves.
    up : int
        The side to which normals point that are not given.
    """

    def __init__(self, surfaces: Surfaces, kinds: list):
        self.surfaces = surfaces
        self.filter, self.friction, self.one_way = kinds[0], kinds[1], kinds[2]
        self.normal, self.surface, self.push_out = kinds[3], kinds[4], kinds[5]
        self.separate, self.gravity_scale, self.damping = kinds[6], kinds[7], kinds[8]
        self.control = ControlReader(surfaces.controls, kinds[9:])
        self.kinds = kinds
        self.exempt = []
        self.up = 2

    @cython.cfunc
    def use(self) -> cython.int:
        """Use the columns of `Surfaces` from now on."""
        if not self.surfaces.is_used:
            self.surfaces.use()
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_as_seen(self, i: cython.Py_ssize_t, has: cython.int) -> cython.bint:
        """Return whether there is certainly nothing new about what a body has of all this."""
        return (
            (not has & FILTER or slots_hold(self.filter.slots, i))
            and (not has & FRICTION or slots_hold(self.friction.slots, i))
            and (not has & ONE_WAY or slots_hold(self.one_way.slots, i))
            and (
                not has & CARRY
                or (slots_hold(self.normal.slots, i) and slots_hold(self.surface.slots, i))
            )
            and (not has & PUSH_OUT or slots_hold(self.push_out.slots, i))
            and (not has & SEPARATES or slots_hold(self.separate.slots, i))
            and (not has & FALL or self._falls_as_seen(i))
            and (
                not has & CONTROL
                or not self.surfaces.controls.is_used
                or self.control.is_as_seen(i)
            )
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _falls_as_seen(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether there is certainly nothing new about how a body falls."""
        return (
            not self._has(self.gravity_scale, i) or slots_hold(self.gravity_scale.slots, i)
        ) and (not self._has(self.damping, i) or slots_hold(self.damping.slots, i))

    @cython.cfunc
    @cython.exceptval(check=False)
    def _has(self, kind: ComponentBinding, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body has a component of a kind that has no bit to itself."""
        return len(kind.items) > 0 and kind.items[i] is not None

    @cython.cfunc
    def read(self, i: cython.Py_ssize_t, has: cython.int) -> cython.bint:
        """Take over what the components of a body say; return whether that is new."""
        differs: cython.bint = False

        if has & FILTER:
            differs |= self.filter.read(i)
        if has & FRICTION:
            differs |= self.friction.read(i)
            if self.friction.seen[i, CODE] != 0.0:
                self.surfaces.controls.use()
        if has & ONE_WAY:
            differs |= self.one_way.read(i)
        if has & CARRY:
            differs |= self.normal.read(i)
            differs |= self.surface.read(i)
        if has & PUSH_OUT:
            differs |= self.push_out.read(i)
        if has & SEPARATES:
            differs |= self.separate.read(i)
        if has & FALL:
            if self._has(self.gravity_scale, i):
                differs |= self.gravity_scale.read(i)
            if self._has(self.damping, i):
                differs |= self.damping.read(i)
        if has & CONTROL and self.surfaces.controls.is_used:
            differs |= self.control.read(i)
        return differs

    @cython.cfunc
    def is_other(self, i: cython.Py_ssize_t, has: cython.int) -> cython.bint:
        """Return whether `read` would find something new about a body."""
        kind: ComponentBinding

        if self.is_as_seen(i, has):
            return False
        for kind in self.kinds:  # noqa: SIM110  (a generator costs more)
            if kind.is_other(i):
                return True
        return False

    @cython.cfunc
    def mistrust(self, i: cython.Py_ssize_t) -> cython.int:
        """Let `read` find something new about whatever a body has of all this."""
        kind: ComponentBinding
        k: cython.int

        for kind in self.kinds:
            if len(kind.items) > 0:
                kind.forget(i)
                for k in range(kind.width):
                    kind.seen[i, k] = NAN
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def side(self, kind: ComponentBinding, i: cython.Py_ssize_t) -> cython.int:
        """Return the side to which the normal of a body points, 0 if it is not valid."""
        k: cython.int

        for k in range(self.surfaces.dim):
            if kind.seen[i, k] != OF_SPACE:
                return side_of(kind.seen, i)
        return self.up

    @cython.cfunc
    @cython.exceptval(check=False)
    def check(self, i: cython.Py_ssize_t, has: cython.int) -> cython.bint:
        """Fill the columns of a body; return whether its numbers can be computed with."""
        t: Surfaces = self.surfaces
        k: cython.int
        number: cython.double
        minimum: cython.double
        maximum: cython.double
        fine: cython.bint = True

        t.clear(i)
        if has & FILTER:
            for k in range(3):
                number = self.filter.seen[i, k]
                if k == MASK and -ALL - 1.0 <= number < 0.0:
                    number += ALL + 1.0  # ~bits: all but these
                minimum = -MAX_GROUP if k == GROUP else 0.0
                maximum = MAX_GROUP if k == GROUP else ALL
                if minimum <= number <= maximum and floor(number) == number:
                    t.filters[i, k] = int(number)
                else:
                    fine = False
        if has & FRICTION:
            t.friction[i] = self.friction.seen[i, VALUE]
            fine &= 0.0 <= t.friction[i] <= LARGEST
            fine &= is_rule(self.friction.seen[i, CODE])
        if has & ONE_WAY:
            t.one_way[i] = self.side(self.one_way, i)
            fine &= t.one_way[i] != 0
        if has & CARRY:
            t.carries[i] = self.side(self.normal, i)
            t.any_carrier = True
            fine &= t.carries[i] != 0
            for k in range(t.dim):
                number = self.surface.seen[i, k]
                fine &= abs(number) <= LARGEST
                # The surface moves along itself: the part along its normal is ignored.
                t.surface[i, k] = 0.0 if abs(t.carries[i]) == k + 1 else number
        if has & PUSH_OUT:
            t.push_out[i] = self.push_out.seen[i, VALUE]
            t.any_pusher = True
            fine &= 0.0 < t.push_out[i] <= INF
        if has & SEPARATES:
            t.separate[i] = self.separate.seen[i, VALUE]
            t.any_separator = True
            fine &= 0.0 < t.separate[i] <= INF
        if has & FALL and self._has(self.gravity_scale, i):
            t.gravity_scale[i] = self.gravity_scale.seen[i, VALUE]
            fine &= abs(t.gravity_scale[i]) <= MOST_PULL
        if has & FALL:
            for kind in self.exempt:
                if self._has(kind, i):
                    t.gravity_scale[i] = 0.0
        if has & FALL and self._has(self.damping, i):
            t.damping[i] = self.damping.seen[i, VALUE]
            t.any_damping = True
            fine &= 0.0 <= t.damping[i] <= MOST_PULL
        if t.controls.is_used:
            fine &= self.control.check(i, has & CONTROL)
            if has & FRICTION and fine:
                t.controls.friction_rule[i] = int(self.friction.seen[i, CODE])
        return fine
