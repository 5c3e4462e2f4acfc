# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What an impact does to the velocities of its two bodies.

An answer has two parts, both seen from the partner.  The *normal part* is the
pair's: restitution is shared by inverse mass, and where it is 0 the two join
groups that move as one along the normal until time advances.  The *rule for
the rest* is each yielding body's own: deflect and slide keep the tangential
velocity, stop takes the partner's, push turns all speed along the surface.

Friction comes after that.  What it may take along the surface is a part of what
the normal part took, as Coulomb has it; the surface of a conveyor belt moves.

Halving the difference of a pair again and again never ends in a row of boxes;
giving a whole group one velocity does.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide._kernels._bodies_c import PUSH, STOP, Bodies
    from cython.cimports.ecs_collide._kernels._traits_c import Traits
    from cython.cimports.libc.math import nextafter, sqrt
else:
    from math import nextafter, sqrt

    from ecs_collide._kernels._bodies import PUSH, STOP, Bodies
    from ecs_collide._kernels._traits import Traits

from ecs_collide._kernels._memory import BYTE, LONG, grown, zeros

cython.declare(EPSILON=cython.double, SPLITTER=cython.double)
EPSILON = 2.0**-52
SPLITTER = 2.0**27 + 1.0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _error_of_product(a: cython.double, b: cython.double, product: cython.double) -> cython.double:
    """Return what rounding took from a product, exactly; 0 where that would overflow.

    Dekker, "A Floating-Point Technique for Extending the Available Precision" (1971).
    """
    wide: cython.double = SPLITTER * a
    high_a: cython.double = wide - (wide - a)
    low_a: cython.double = a - high_a
    high_b: cython.double
    low_b: cython.double
    error: cython.double

    wide = SPLITTER * b
    high_b = wide - (wide - b)
    low_b = b - high_b
    error = low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)
    return error if error == error else 0.0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_further(one: cython.double, u: cython.double, other: cython.double) -> cython.bint:
    """Tell exactly whether `one` is further from `u` than `other`, on the other side of it."""
    total: cython.double = one + other
    part: cython.double = total - one
    rest: cython.double = (one - (total - part)) + (other - part)  # total + rest is exact

    if other <= u:
        return total > 2.0 * u or (total == 2.0 * u and rest > 0.0)
    return total < 2.0 * u or (total == 2.0 * u and rest < 0.0)


@cython.cfunc
@cython.exceptval(check=False)
def _bounce(v: cython.double, u: cython.double, restitution: cython.double) -> cython.double:
    """Return the velocity after meeting a partner that keeps `u`; its energy never rises."""
    after: cython.double = u - restitution * (v - u)

    if _is_further(after, u, v):
        after = nextafter(after, u)
    return after


@cython.final
@cython.cclass
class Responder:
    """Answers impacts and keeps the groups that move as one.

    Groups are lists of bodies per axis, sorted by entity id; rows are stored
    counting from 1 so that 0 means none.  An immovable body anchors a group
    but never links two.

    Attributes
    ----------
    solid_first, solid_second : int
        After an answer that could not join two bodies: the rows of the
        immovable ones between which they are.
    """

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.now = 0.0
        self.lasting = False
        self.n_joins = 0
        self.n_changed = 0
        self.n_grouped = 0
        self.solid_first = self.solid_second = -1
        self.sum_high = self.sum_low = 0.0
        self.changed = zeros(LONG, 1)
        self.is_changed = zeros(BYTE, 1)
        self.leader = zeros(LONG, 1, bodies.dim)
        self.following = zeros(LONG, 1, bodies.dim)
        self.anchor = zeros(LONG, 1, bodies.dim)
        self.grouped = zeros(LONG, bodies.dim, 2)
        if not cython.compiled:
            self.before_first = [0.0] * 3
            self.before_second = [0.0] * 3
            self.face_first = [0.0] * 3
            self.face_second = [0.0] * 3

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.changed = grown(self.changed, n_rows)
        self.is_changed = grown(self.is_changed, n_rows)
        self.leader = grown(self.leader, n_rows)
        self.following = grown(self.following, n_rows)
        self.anchor = grown(self.anchor, n_rows)
        self.grouped = grown(self.grouped, n_rows * self.bodies.dim)

    def begin_step(self):
        """Forget the groups of the step before."""
        self._dissolve_groups()
        self.lasting = False
        self.now = 0.0
        self.n_joins = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin_instant(self, now: cython.double) -> cython.void:
        """Go on to a later time: groups end, unless they last."""
        self.now = now
        if not self.lasting:
            self._dissolve_groups()

    @cython.cfunc
    @cython.exceptval(check=False)
    def _dissolve_groups(self) -> cython.void:
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int

        for n in range(self.n_grouped):
            i = self.grouped[n, 0]
            k = self.grouped[n, 1]
            self.leader[i, k] = self.following[i, k] = self.anchor[i, k] = 0
        self.n_grouped = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def change(self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double) -> cython.void:
        """Give a body a new velocity from now on and note that its path has changed."""
        if self.bodies.velocity[i, k] == velocity:
            return
        self.bodies.advance(i, self.now)
        self.bodies.set_velocity(i, k, velocity)
        self.note_change(i)

    @cython.cfunc
    @cython.exceptval(check=False)
    def note_change(self, i: cython.Py_ssize_t) -> cython.void:
        """Note that a body's path is another from now on."""
        if not self.is_changed[i]:
            self.is_changed[i] = 1
            self.changed[self.n_changed] = i
            self.n_changed += 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _begin_sum(self) -> cython.void:
        """Begin a sum of products in twice the precision."""
        self.sum_high = self.sum_low = 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _add_product(self, a: cython.double, b: cython.double) -> cython.void:
        """Add a product to the sum.

        Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005), Dot2.
        """
        product: cython.double = a * b
        total: cython.double = self.sum_high + product
        part: cython.double = total - self.sum_high

        self.sum_low += (self.sum_high - (total - part)) + (product - part)
        self.sum_low += _error_of_product(a, b, product)
        self.sum_high = total

    @cython.cfunc
    @cython.exceptval(check=False)
    def answer(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
        normal_only: cython.bint,
    ) -> cython.bint:
        """Answer an impact of `i` and `j` on axis `k`; return False if they cannot be joined."""
        axis: cython.int

        for axis in range(self.bodies.dim):
            self.before_first[axis] = self.bodies.velocity[i, axis]
            self.before_second[axis] = self.bodies.velocity[j, axis]
            self.face_first[axis] = self._surface_of(i, -sign * (k + 1), axis)
            self.face_second[axis] = self._surface_of(j, sign * (k + 1), axis)
        if self.bodies.resize_of(i, k) != 0.0 or self.bodies.resize_of(j, k) != 0.0:
            self._exchange_faces(i, j, k, sign, restitution)
        elif restitution > 0.0:
            self._exchange(i, j, k, sign, restitution)
        elif not self._join(i, j, k):
            return False
        if not normal_only:
            self._turn(i, j, k, restitution)
            if self.bodies.traits.is_used:
                self._rub(i, j, k, sign)
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _exchange(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
    ) -> cython.void:
        """Share the normal velocities of a pair by inverse mass."""
        v1: cython.double = self.bodies.velocity[i, k]
        v2: cython.double = self.bodies.velocity[j, k]
        mass1: cython.double = self.bodies.mass[i]
        mass2: cython.double = self.bodies.mass[j]
        after1: cython.double
        after2: cython.double
        shared: cython.double

        if not self.bodies.yields[j]:
            self.change(i, k, _bounce(v1, v2, restitution))
            return
        if not self.bodies.yields[i]:
            self.change(j, k, _bounce(v2, v1, restitution))
            return
        if mass1 == mass2 and restitution == 1.0:
            after1 = v2
            after2 = v1
        else:
            shared = (1.0 + restitution) * (v1 - v2)
            after1 = v1 - shared * (mass2 / (mass1 + mass2))
            after2 = v2 + shared * (mass1 / (mass1 + mass2))
            self._begin_sum()
            self._add_product(mass1, v1)
            self._add_product(mass2, v2)
            self._add_product(-mass1, after1)
            self._add_product(-mass2, after2)
            # What rounding has taken goes to the heavier body: the other would feel it.
            if mass1 < mass2:
                after2 += (self.sum_high + self.sum_low) / mass2
            else:
                after1 += (self.sum_high + self.sum_low) / mass1
            if (after1 - after2) * sign < 0.0:  # still closing, by rounding
                if mass1 < mass2:
                    after1 = after2
                else:
                    after2 = after1
        self.change(i, k, after1)
        self.change(j, k, after2)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _exchange_faces(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
    ) -> cython.void:
        """Share the velocities of the touching faces of a pair that changes size."""
        b: Bodies = self.bodies
        grow1: cython.double = -sign * b.growth[i, k]
        grow2: cython.double = sign * b.growth[j, k]
        v1: cython.double = b.velocity[i, k]
        v2: cython.double = b.velocity[j, k]
        shared: cython.double = (1.0 + restitution) * ((v1 + grow1) - (v2 + grow2))
        share1: cython.double = 1.0
        share2: cython.double = 1.0
        nudge: cython.double

        if b.yields[i] and b.yields[j]:
            share1 = b.mass[j] / (b.mass[i] + b.mass[j])
            share2 = b.mass[i] / (b.mass[i] + b.mass[j])
        if b.yields[i]:
            self.change(i, k, v1 - shared * share1)
        if b.yields[j]:
            self.change(j, k, v2 + shared * share2)
        # Faces are rounded once more than velocities: move apart until they do not close.
        nudge = EPSILON * max(abs(v1), abs(v2), abs(grow1), abs(grow2))
        while self._face_rate(i, j, k, sign) < 0.0:
            if b.yields[i]:
                self.change(i, k, b.velocity[i, k] + sign * nudge)
            else:
                self.change(j, k, b.velocity[j, k] - sign * nudge)
            nudge *= 2.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _face_rate(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the touching faces of a pair part, per step; below 0 they close."""
        b: Bodies = self.bodies

        return sign * (
            (b.motion_of(i, k) - sign * b.resize_of(i, k))
            - (b.motion_of(j, k) + sign * b.resize_of(j, k))
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _group_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the leader of the group of a yielding body; found one of its own if need be."""
        if self.leader[i, k] == 0:
            self.leader[i, k] = i + 1
            self.following[i, k] = 0
            self.anchor[i, k] = 0
            self.grouped[self.n_grouped, 0] = i
            self.grouped[self.n_grouped, 1] = k
            self.n_grouped += 1
        return self.leader[i, k] - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _join(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Give two bodies and the groups they are in one velocity, if that can be."""
        b: Bodies = self.bodies
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t
        fixed: cython.Py_ssize_t  # the immovable member, counting from 1

        if b.yields[i] and b.yields[j]:
            one = self._group_of(i, k)
            other = self._group_of(j, k)
            fixed = self.anchor[one, k]
            if fixed == 0:
                fixed = self.anchor[other, k]
            elif (
                self.anchor[other, k] != 0
                and b.velocity[fixed - 1, k] != b.velocity[self.anchor[other, k] - 1, k]
            ):
                self.solid_first = fixed - 1
                self.solid_second = self.anchor[other, k] - 1
                return False
            if one != other:
                one = self._merge(one, other, k)
        else:
            if b.yields[i]:
                one = self._group_of(i, k)
                fixed = j + 1
            else:
                one = self._group_of(j, k)
                fixed = i + 1
            other = self.anchor[one, k]
            if other != 0 and b.velocity[other - 1, k] != b.velocity[fixed - 1, k]:
                self.solid_first = other - 1
                self.solid_second = fixed - 1
                return False
        self.anchor[one, k] = fixed
        self._level(one, k)
        self.n_joins += 1
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _merge(
        self, one: cython.Py_ssize_t, other: cython.Py_ssize_t, k: cython.int
    ) -> cython.Py_ssize_t:
        """Merge two groups into one list sorted by entity id; return its leader, the lowest."""
        ids: cython.longlong[::1] = self.bodies.ids
        low: cython.Py_ssize_t = one + 1
        high: cython.Py_ssize_t = other + 1
        leader: cython.Py_ssize_t
        last: cython.Py_ssize_t
        swap: cython.Py_ssize_t

        if ids[other] < ids[one]:
            low, high = high, low
        leader = last = low
        low = self.following[low - 1, k]
        self.leader[leader - 1, k] = leader
        while low != 0 or high != 0:
            if low == 0 or (high != 0 and ids[high - 1] < ids[low - 1]):
                swap = low
                low = high
                high = swap
            self.following[last - 1, k] = low
            last = low
            self.leader[last - 1, k] = leader
            low = self.following[last - 1, k]
        self.following[last - 1, k] = 0
        return leader - 1

    @cython.cfunc
    @cython.exceptval(check=False)
    def _level(self, leader: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Give all members of a group the velocity of its anchor, else their mean by mass."""
        b: Bodies = self.bodies
        member: cython.Py_ssize_t
        velocity: cython.double = b.velocity[leader, k]
        mass: cython.double = 0.0
        differ: cython.bint = False

        if self.anchor[leader, k] != 0:
            velocity = b.velocity[self.anchor[leader, k] - 1, k]
        else:
            member = leader + 1
            self._begin_sum()
            while member != 0:
                self._add_product(b.mass[member - 1], b.velocity[member - 1, k])
                mass += b.mass[member - 1]
                if b.velocity[member - 1, k] != velocity:
                    differ = True
                member = self.following[member - 1, k]
            if differ:
                velocity = (self.sum_high + self.sum_low) / mass
                member = leader + 1
                while member != 0:  # what rounding has left of the momentum
                    self._add_product(-b.mass[member - 1], velocity)
                    member = self.following[member - 1, k]
                velocity += (self.sum_high + self.sum_low) / mass
        member = leader + 1
        while member != 0:
            self.change(member - 1, k, velocity)
            member = self.following[member - 1, k]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _turn(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        restitution: cython.double,
    ) -> cython.void:
        """Apply each yielding body's own rule to its tangential velocity."""
        b: Bodies = self.bodies
        axis: cython.int
        mean: cython.double

        if b.yields[i] and b.yields[j] and b.response[i] == STOP and b.response[j] == STOP:
            # Each would take the other's: the two stop each other instead.
            for axis in range(b.dim):
                if axis != k and b.velocity[i, axis] != b.velocity[j, axis]:
                    mean = (b.mass[i] * b.velocity[i, axis] + b.mass[j] * b.velocity[j, axis]) / (
                        b.mass[i] + b.mass[j]
                    )
                    self.change(i, axis, mean)
                    self.change(j, axis, mean)
            return
        if b.yields[i]:
            self._turn_one(i, k, restitution, True, b.yields[j])
        if b.yields[j]:
            self._turn_one(j, k, restitution, False, b.yields[i])

    @cython.cfunc
    @cython.exceptval(check=False)
    def _turn_one(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        restitution: cython.double,
        is_first: cython.bint,
        partner_yields: cython.bint,
    ) -> cython.void:
        """Apply `Stop` or `Push` to one body."""
        axis: cython.int
        own: cython.double
        partner: cython.double
        closer: cython.double
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        along: cython.double = 0.0

        if self.bodies.response[i] == STOP:
            for axis in range(self.bodies.dim):
                if axis != k:
                    self.change(
                        i, axis, self.face_second[axis] if is_first else self.face_first[axis]
                    )
            return
        if self.bodies.response[i] != PUSH or restitution > 0.0:
            return
        for axis in range(self.bodies.dim):
            largest = max(largest, abs(self.before_first[axis] - self.before_second[axis]))
        if largest == 0.0:
            return
        for axis in range(self.bodies.dim):
            own = (self.before_first[axis] - self.before_second[axis]) / largest
            speed += own * own
            if axis != k:
                along += own * own
        if along == 0.0:
            return
        speed = sqrt(speed) / sqrt(along)
        for axis in range(self.bodies.dim):
            if axis == k:
                continue
            own = self.before_first[axis] if is_first else self.before_second[axis]
            partner = self.before_second[axis] if is_first else self.before_first[axis]
            self.change(i, axis, partner + (own - partner) * speed)
        partner = self.before_second[k] if is_first else self.before_first[k]
        if partner_yields or self.bodies.velocity[i, k] != partner:  # it yields, or they resize
            return
        while self._has_won(i, is_first):  # by rounding alone, so that a nudge or two end it
            for axis in range(self.bodies.dim):
                if axis != k:
                    partner = self.before_second[axis] if is_first else self.before_first[axis]
                    own = self.bodies.velocity[i, axis]
                    closer = own + (partner - own) * EPSILON
                    if closer == own:
                        closer = nextafter(own, partner)
                    self.change(i, axis, closer)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _has_won(self, i: cython.Py_ssize_t, is_first: cython.bint) -> cython.bint:
        """Tell whether a body is faster than before, as its partner sees it."""
        axis: cython.int
        own: cython.double
        partner: cython.double
        after: cython.double

        self._begin_sum()
        for axis in range(self.bodies.dim):
            own = self.before_first[axis] if is_first else self.before_second[axis]
            partner = self.before_second[axis] if is_first else self.before_first[axis]
            after = self.bodies.velocity[i, axis]
            self._add_product(own, own)  # (own - partner)² - (after - partner)²
            self._add_product(-2.0 * own, partner)
            self._add_product(-after, after)
            self._add_product(2.0 * after, partner)
        return self.sum_high + self.sum_low < 0.0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _rub(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.void:
        """Let friction hold back what slides along the surface.

        The impulse of the normal part is that of the body which changed its
        momentum more: where one is held from behind, the other's is what
        they press against each other with.
        """
        b: Bodies = self.bodies
        t: Traits = b.traits
        axis: cython.int
        friction: cython.double = t.friction_between(i, j)
        first: cython.double = 0.0
        second: cython.double = 0.0
        light1: cython.double = 0.0  # inverse masses, of those that yield
        light2: cython.double = 0.0
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        part: cython.double
        slide: cython.double
        share: cython.double

        if friction == 0.0 or not (b.yields[i] or b.yields[j]):
            return
        if (b.yields[i] and (b.response[i] == PUSH or b.response[i] == STOP)) or (
            b.yields[j] and (b.response[j] == PUSH or b.response[j] == STOP)
        ):
            return
        if b.yields[i]:
            first = b.mass[i] * abs(b.velocity[i, k] - self.before_first[k])
            light1 = 1.0 / b.mass[i]
        if b.yields[j]:
            second = b.mass[j] * abs(b.velocity[j, k] - self.before_second[k])
            light2 = 1.0 / b.mass[j]
        for axis in range(b.dim):
            if axis != k:
                largest = max(largest, abs(self._slide(i, j, k, sign, axis)))
        if largest == 0.0:
            return
        for axis in range(b.dim):
            if axis != k:
                slide = self._slide(i, j, k, sign, axis) / largest
                speed += slide * slide
        speed = sqrt(speed) * largest
        # The part of the sliding that is taken; all of it where that is not too much.
        part = friction * max(first, second) * (light1 + light2) / speed
        for axis in range(b.dim):
            if axis == k:
                continue
            slide = self._slide(i, j, k, sign, axis)
            if part < 1.0:
                slide *= part
            elif not b.yields[j]:
                self.change(i, axis, self._surface_of(j, sign * (k + 1), axis))
                continue
            elif not b.yields[i]:
                self.change(j, axis, self._surface_of(i, -sign * (k + 1), axis))
                continue
            share = light1 / (light1 + light2)
            if b.yields[i]:
                self.change(i, axis, b.velocity[i, axis] - slide * share)
            if part >= 1.0:  # both yield: exactly as fast as the other
                self.change(
                    j,
                    axis,
                    self._surface_of(i, -sign * (k + 1), axis)
                    - t.speed_of_surface(j, sign * (k + 1), axis),
                )
            elif b.yields[j]:
                self.change(j, axis, b.velocity[j, axis] + slide * (1.0 - share))

    @cython.cfunc
    @cython.exceptval(check=False)
    def _surface_of(
        self, i: cython.Py_ssize_t, side: cython.int, axis: cython.int
    ) -> cython.double:
        """Return the velocity of a face of a body, by its side, along itself."""
        return self.bodies.velocity[i, axis] + self.bodies.traits.speed_of_surface(i, side, axis)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _slide(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        axis: cython.int,
    ) -> cython.double:
        """Return how fast the touching face of `i` slides over that of `j` on an axis."""
        return self._surface_of(i, -sign * (k + 1), axis) - self._surface_of(
            j, sign * (k + 1), axis
        )
