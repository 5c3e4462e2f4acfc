"""Copy numbers between the components for dominance and restitution and their columns."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.motion.controls_c import Controls
    from cython.cimports.ecs_collide.sync.bindings_c import CODE, VALUE
    from cython.cimports.ecs_collide.sync.slots_c import slots_hold
    from cython.cimports.libc.math import floor
else:
    from math import floor

    from ecs_collide.motion.controls import Controls
    from ecs_collide.sync.bindings import CODE, VALUE
    from ecs_collide.sync.slots import slots_hold

cython.declare(
    INF=cython.double, MOST_DOMINANCE=cython.double, DOMINANCE=cython.int, LOCKED_AXES=cython.int,
    MAX=cython.int, MAX_SPEED=cython.int, RESTITUTION=cython.int,
)  # fmt: skip
from ecs_collide.constants import (
    DOMINANCE,
    INF,
    LOCKED_AXES,
    MAX,
    MAX_SPEED,
    MOST_DOMINANCE,
    RESTITUTION,
)


@cython.cfunc
@cython.exceptval(check=False)
def is_rule(number: cython.double) -> cython.bint:
    """Return whether a number is the code of a rule for two surfaces, or 0 for none."""
    return 0.0 <= number <= MAX and floor(number) == number


@cython.final
@cython.cclass
class ControlReader:
    """The components of all bodies, and the columns that they are read into.

    Parameters
    ----------
    controls : Controls
    kinds : list of ComponentBinding
        Dominance, Restitution, MaxSpeed, LockedAxes.
    """

    def __init__(self, controls: Controls, kinds: list):
        self.controls = controls
        self.dominance = kinds[0]
        self.restitution = kinds[1]
        self.max_speed = kinds[2]
        self.locked_axes = kinds[3]

    @cython.cfunc
    def file(self, i: cython.Py_ssize_t, mark: cython.int) -> cython.int:
        """Note which of the components a body has, by the marks of all of its kinds."""
        marks: cython.int = mark & (DOMINANCE | RESTITUTION | MAX_SPEED | LOCKED_AXES)

        if marks:
            self.controls.use()
        if self.controls.is_used:
            self.controls.control_bits[i] = marks
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_as_seen(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether there is certainly nothing new about what a body has of all this."""
        has: cython.longlong = self.controls.control_bits[i]

        return (
            (not has & DOMINANCE or slots_hold(self.dominance.slots, i))
            and (not has & RESTITUTION or slots_hold(self.restitution.slots, i))
            and (not has & MAX_SPEED or slots_hold(self.max_speed.slots, i))
            and (not has & LOCKED_AXES or slots_hold(self.locked_axes.slots, i))
        )

    @cython.cfunc
    def read(self, i: cython.Py_ssize_t) -> cython.bint:
        """Take over what the components of a body say; return whether that is new."""
        has: cython.longlong = self.controls.control_bits[i]
        differs: cython.bint = False

        if has & DOMINANCE:
            differs |= self.dominance.read(i)
        if has & RESTITUTION:
            differs |= self.restitution.read(i)
        if has & MAX_SPEED:
            differs |= self.max_speed.read(i)
        if has & LOCKED_AXES:
            differs |= self.locked_axes.read(i)
        return differs

    @cython.cfunc
    @cython.exceptval(check=False)
    def check(self, i: cython.Py_ssize_t, any_of_them: cython.bint) -> cython.bint:
        """Fill the columns of a body; return whether its numbers can be computed with."""
        c: Controls = self.controls
        has: cython.longlong = self.controls.control_bits[i] if any_of_them else 0
        k: cython.int
        number: cython.double
        fine: cython.bint = True

        c.clear(i)
        if has & DOMINANCE:
            number = self.dominance.seen[i, VALUE]
            if -MOST_DOMINANCE <= number <= MOST_DOMINANCE and floor(number) == number:
                c.rank[i] = int(number)
                c.any_rank |= c.rank[i] != 0
            else:
                fine = False
        if has & RESTITUTION:
            c.surface_restitution[i] = self.restitution.seen[i, VALUE]
            number = self.restitution.seen[i, CODE]
            fine &= 0.0 <= c.surface_restitution[i] <= 1.0
            if is_rule(number):
                c.restitution_rule[i] = int(number)
            else:
                fine = False
        if has & MAX_SPEED:
            c.limit[i] = self.max_speed.seen[i, VALUE]
            c.any_limit = True
            fine &= 0.0 < c.limit[i] <= INF
        if has & LOCKED_AXES:
            for k in range(c.dim):
                number = self.locked_axes.seen[i, k]
                fine &= number == 0.0 or number == 1.0
                if number == 1.0:
                    c.lock[i] |= 1 << k
                    c.any_lock = True
        return fine
