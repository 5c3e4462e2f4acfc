"""What an impact does to the velocities of its two bodies.

An answer has two parts, both seen from the partner.  The *normal part* is the
pair's: restitution is shared by inverse mass, and where it is 0 the two join
clusters that move as one along the normal (`response/clusters.py`).  The *rule for
the rest* is each yielding body's own: deflect and slide keep the tangential
velocity, stop takes the partner's, push turns all speed along the surface.

Friction comes after that.  What it may take along the surface is a part of what
the normal part took, as Coulomb has it; the surface of a conveyor belt moves.

Of a body that falls the velocity of its path is the mean one over the rest of the
step (`motion/gravity.py`).  What an answer sees on the axis of the impact is the velocity of the
instant.  Where gravity presses a pair together by more than it would rebound with, the
bounce would be over within the step, and there is none.

Halving the difference of a pair again and again never ends in a row of boxes;
giving a whole cluster one velocity does.

Faces that grow or shrink are given one velocity where restitution is 0: their clusters merge, with
a shift between the centres.  Where that cannot be, the two leave their clusters and exchange the
velocities of their faces.

A cluster that lasts answers as one body of its mass and its shared velocity.
Impulses go into its momentum, its path stays, and what then still closes on
the path joins it.  Only an immovable partner, or a cluster of a higher dominance, takes a member
out of it.

To a body of a higher dominance, one of a lower one is weightless: it rebounds as from a wall, or
goes along.  Where the lower one is held by a wall, or led by something higher still, it is the
higher one that yields.
"""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.motion.bodies_c import PUSH, STOP, Bodies
    from cython.cimports.ecs_collide.motion.controls_c import Controls
    from cython.cimports.ecs_collide.response.clusters_c import Clusters, error_of_product
    from cython.cimports.libc.math import nextafter, sqrt
else:
    from math import nextafter, sqrt

    from ecs_collide.constants import PUSH, STOP
    from ecs_collide.motion.bodies import Bodies
    from ecs_collide.motion.controls import Controls
    from ecs_collide.response.clusters import Clusters, error_of_product


cython.declare(
    EPSILON=cython.double,
    ENERGY_ROUNDING=cython.double,
    INF=cython.double,
    DEFLECT_RESPONSE=cython.int,
)
from ecs_collide.constants import INF

EPSILON = 2.0**-52
DEFLECT_RESPONSE = 1  # the code of the response that has a restitution
ENERGY_ROUNDING = 2.0**-46  # of an energy: more than it is rounded by


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_further(one: cython.double, u: cython.double, other: cython.double) -> cython.bint:
    """Return exactly whether `one` is further from `u` than `other`, on the other side of it."""
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
class Solver:
    """Answers impacts.

    Attributes
    ----------
    clusters : Clusters
        The bodies that inelastic answers have merged in this instant.
    first_yields, second_yields : bool
        Whether the bodies of a pair yield to each other; see `weigh`.
    first_joins, second_joins : bool
        Whether they join clusters: also a body of a higher dominance that does not yield.
    impulse : float
        The momentum that the normal part of the last answer has passed from one to the other.
    solid_first, solid_second : int
        After an answer that could not merge two bodies: the rows of the
        immovable ones between which they are.
    may_part : bool
        Whether gravity may pull the next pair apart at once: it was not answered in this instant.
    loss : float
        Twice the kinetic energy that the last merge has taken from its bodies, or inf.
    counts_loss : bool
        Whether it is asked for: only what turns velocities along a surface may not gain energy.
    """

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.clusters = Clusters(bodies)
        self.first_yields = self.second_yields = False
        self.first_joins = self.second_joins = False
        self.impulse = 0.0
        self.solid_first = self.solid_second = -1
        self.may_part = True
        self.kick_first = self.kick_second = 0.0
        self.loss = INF
        self.counts_loss = False
        self.sum_high = self.sum_low = 0.0
        if not cython.compiled:
            self.before_first = [0.0] * 3
            self.before_second = [0.0] * 3
            self.face_first = [0.0] * 3
            self.face_second = [0.0] * 3
            self.wanted_first = [0.0] * 3
            self.wanted_second = [0.0] * 3
            self.after_first = [0.0] * 3
            self.after_second = [0.0] * 3
            self.wanted_change_first = [0.0] * 3
            self.wanted_change_second = [0.0] * 3
            self.frame = [0.0] * 3

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.clusters.set_rows(n_rows)

    def begin_step(self):
        """Dissolve the clusters of the step before."""
        self.clusters.begin_step()

    def begin_instant(self, now: cython.double) -> cython.void:
        """Go on to a later time: clusters are dissolved."""
        self.clusters.begin_instant(now)

    def change(self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double) -> cython.void:
        """Give a body a new velocity from now on; one that its cluster has not leaves the cluster."""
        self.clusters.turn_alone(i, k, velocity)

    def _begin_sum(self) -> cython.void:
        """Begin a sum of products in twice the precision."""
        self.sum_high = self.sum_low = 0.0

    def _add_product(self, a: cython.double, b: cython.double) -> cython.void:
        """Add a product to the sum.

        Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005), Dot2.
        """
        product: cython.double = a * b
        total: cython.double = self.sum_high + product
        part: cython.double = total - self.sum_high

        self.sum_low += (self.sum_high - (total - part)) + (product - part)
        self.sum_low += error_of_product(a, b, product)
        self.sum_high = total

    def weigh(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Find which bodies of a pair yield; return whether a held body gives way.

        To a body that yields, a held one is a wall, unless an immovable body drives the former.
        """
        b: Bodies = self.bodies

        self.first_joins = self.first_yields = b.yields_along(i, k)
        self.second_joins = self.second_yields = b.yields_along(j, k)
        if not (b.on_hold[i] or b.on_hold[j]):
            if b.controls.any_rank and self.first_yields and self.second_yields:
                self._outweigh(i, j, k)
            return False
        if b.on_hold[i] != b.on_hold[j] and self.first_yields and self.second_yields:
            if b.on_hold[i]:
                self.first_yields = self._is_driven(j, k)
            else:
                self.second_yields = self._is_driven(i, k)
        self.first_joins = self.first_yields
        self.second_joins = self.second_yields
        return (self.first_yields and b.on_hold[i]) or (self.second_yields and b.on_hold[j])

    def _outweigh(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Let only one of a pair yield where their dominance differs.

        The lower one, unless it is in a cluster with what does not yield to the higher one either.
        """
        rank: cython.longlong[::1] = self.bodies.controls.rank
        lower: cython.Py_ssize_t = i if rank[i] < rank[j] else j
        node: cython.Py_ssize_t = self.clusters.node_of[lower, k]
        is_held: cython.bint

        if rank[i] == rank[j]:
            return
        is_held = node != 0 and self.clusters.nodes[self.clusters.root(node)].anchor != 0
        is_held |= self.clusters.rank_with(lower, k) > max(rank[i], rank[j])
        self.first_yields = (lower == i) != is_held
        self.second_yields = not self.first_yields

    def restitution_of(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.double:
        """Return the restitution of a pair that was weighed."""
        b: Bodies = self.bodies
        c: Controls = b.controls
        one: cython.double = -1.0
        other: cython.double = -1.0

        if self.first_joins and (c.is_used == 0 or b.response[i] == DEFLECT_RESPONSE):
            one = b.restitution[i]
        if self.second_joins and (c.is_used == 0 or b.response[j] == DEFLECT_RESPONSE):
            other = b.restitution[j]
        return c.restitution_between(i, j, one, other) if c.is_used else max(one, other, 0.0)

    def _is_driven(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the cluster of a body has the velocity of a body that never yields."""
        node: cython.Py_ssize_t = self.clusters.node_of[i, k]
        anchor: cython.Py_ssize_t = (
            self.clusters.nodes[self.clusters.root(node)].anchor if node else 0
        )

        return anchor != 0 and not self.bodies.on_hold[anchor - 1]

    def answer(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
        normal_only: cython.bint,
    ) -> cython.bint:
        """Answer an impact of `i` and `j` on axis `k`, which were weighed.

        Return False if they cannot be joined.
        """
        axis: cython.int
        press: cython.double = 0.0
        turns: cython.bint = self._may_turn(i) or self._may_turn(j)

        self.counts_loss = turns
        self.before_first[k] = self.clusters.final_velocity(i, k)
        self.before_second[k] = self.clusters.final_velocity(j, k)
        if turns:
            for axis in range(self.bodies.dim):
                self.before_first[axis] = self.clusters.final_velocity(i, axis)
                self.before_second[axis] = self.clusters.final_velocity(j, axis)
                self.face_first[axis] = self._surface_of(i, -sign * (k + 1), axis)
                self.face_second[axis] = self._surface_of(j, sign * (k + 1), axis)
        self.kick_first = self.kick_second = 0.0
        if self.clusters.gravity.is_on:
            press = self._weigh_down(i, j, k, sign)
        self.loss = INF
        self.impulse = 0.0
        if self.bodies.resize_of(i, k) != 0.0 or self.bodies.resize_of(j, k) != 0.0:
            self._answer_faces(i, j, k, sign, restitution, press)
        elif press != 0.0:
            if not self._part(i, j, k, sign, restitution, press) and not self._merge(i, j, k):
                return False
        elif restitution > 0.0 and self._rebound(i, j, k, sign, restitution):
            pass
        elif not self._join(i, j, k, sign):
            return False
        if not normal_only:
            if turns:
                self._turn(i, j, k, restitution)
            if self.bodies.surfaces.is_used:
                self._apply_friction(i, j, k, sign)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _may_turn(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the response of a body may change its velocity along a surface."""
        return self.bodies.response[i] == STOP or self.bodies.response[i] == PUSH

    def closing_speed(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the faces of a pair close at this instant; below 0 they part."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters

        return sign * (
            ((c.velocity_of(j, k) - c.kick_of(j, k)) + sign * b.growth[j, k])
            - ((c.velocity_of(i, k) - c.kick_of(i, k)) - sign * b.growth[i, k])
        )

    def _weigh_down(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast gravity presses a pair together, in the mean over the rest of the step.

        Below 0 it pulls them apart.  On the axis of the impact an answer is to see what the
        bodies have at this instant.
        """
        self.kick_first = self.clusters.kick_of(i, k)
        self.kick_second = self.clusters.kick_of(j, k)
        self.before_first[k] -= self.kick_first
        self.before_second[k] -= self.kick_second
        if self.clusters.lasting_root(i, k) or self.clusters.lasting_root(j, k):
            return 0.0
        return sign * (self.kick_second - self.kick_first)

    def _part(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
        press: cython.double,
    ) -> cython.bint:
        """Let a pair rebound that gravity acts on; return False if it is back before the step ends."""
        b: Bodies = self.bodies
        v1: cython.double = self.clusters.velocity_of(i, k)
        v2: cython.double = self.clusters.velocity_of(j, k)
        closing: cython.double = sign * (v2 - v1)
        apart: cython.double = restitution * max(closing - press, 0.0) - press
        both: cython.double

        if apart <= 0.0 or (restitution == 0.0 and not self.may_part):
            return False
        if not self.second_yields:
            self.impulse = b.mass[i] * (closing + apart)
            self.change(i, k, v2 + sign * apart)
        elif not self.first_yields:
            self.impulse = b.mass[j] * (closing + apart)
            self.change(j, k, v1 - sign * apart)
        else:
            both = sign * (closing + apart) / (b.mass[i] + b.mass[j])
            self.impulse = b.mass[i] * (abs(both) * b.mass[j])
            self.change(i, k, v1 + both * b.mass[j])
            self.change(j, k, v2 - both * b.mass[i])
        return True

    def _after(self, i: cython.Py_ssize_t, axis: cython.int, k: cython.int) -> cython.double:
        """Return the velocity of a body after the normal part, on axis `k` that of this instant."""
        velocity: cython.double = self.clusters.final_velocity(i, axis)

        return velocity - self.clusters.kick_of(i, k) if axis == k else velocity

    def _rebound(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
    ) -> cython.bint:
        """Let a pair rebound; return False if it then still closes, and has to be joined."""
        first: cython.Py_ssize_t = self.clusters.lasting_root(i, k)
        second: cython.Py_ssize_t = self.clusters.lasting_root(j, k)

        if first and second:
            return False
        if first:
            return self._rebound_from(first, i, j, self.second_yields, k, sign, restitution)
        if second:
            return self._rebound_from(second, j, i, self.first_yields, k, -sign, restitution)
        self._exchange(i, j, k, sign, restitution)
        return True

    def _rebound_from(
        self,
        root: cython.Py_ssize_t,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        yields: cython.bint,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
    ) -> cython.bint:
        """Let body j rebound from i, a member of a cluster that lasts; False if it still closes."""
        c: Clusters = self.clusters
        velocity: cython.double = c.final_velocity(i, k)
        other: cython.double = self.bodies.velocity[j, k]
        path: cython.double = self.bodies.velocity[i, k]
        mass: cython.double = self.bodies.mass[j]
        after: cython.double

        if (velocity - other) * sign >= 0.0:
            return False  # only their paths close
        if not yields:
            after = _bounce(velocity, other, restitution)
            self.impulse = self.bodies.mass[i] * abs(after - velocity)
            self.change(i, k, after)
            return True
        if c.nodes[root].rank > self.bodies.controls.rank_of(j):
            after = _bounce(other, velocity, restitution)
            self.impulse = mass * abs(after - other)
            self.change(j, k, after)
            return (path - after) * sign >= 0.0
        after = other + (1.0 + restitution) * (velocity - other) * (
            c.nodes[root].mass / (c.nodes[root].mass + mass)
        )
        self.loss = (1.0 - restitution * restitution) * c.loss_with(
            root, mass, other - c.shift_of(i, k)
        )
        c.push(root, mass, other)
        c.push(root, -mass, after)
        self.impulse = mass * abs(after - other)
        self.change(j, k, after)
        return (path - after) * sign >= 0.0

    def change_along(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give a body a velocity along a surface; of a cluster that lasts, all get their share."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.lasting_root(i, k)
        shared: cython.double

        if self.bodies.controls.locks(i, k):
            return
        if root == 0:
            self.change(i, k, velocity)
            return
        shared = c.final_velocity(i, k)
        if velocity != shared and c.nodes[root].rank == self.bodies.controls.rank_of(i):
            c.push(root, self.bodies.mass[i], velocity)
            c.push(root, -self.bodies.mass[i], shared)

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

        if not self.second_yields:
            after1 = _bounce(v1, v2, restitution)
            self.impulse = mass1 * abs(after1 - v1)
            self.change(i, k, after1)
            return
        if not self.first_yields:
            after2 = _bounce(v2, v1, restitution)
            self.impulse = mass2 * abs(after2 - v2)
            self.change(j, k, after2)
            return
        self.impulse = (1.0 + restitution) * abs(v1 - v2) * (mass1 * (mass2 / (mass1 + mass2)))
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

    def _answer_faces(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
        press: cython.double,
    ) -> cython.void:
        """Merge the clusters of a pair that changes size, or let their faces rebound."""
        if restitution == 0.0 and self._merge_faces(i, j, k, sign):
            return
        self._exchange_faces(i, j, k, sign, restitution, press)
        if restitution == 0.0 and not self._keeps_alone(i, j):
            if not self.first_joins:
                self._anchor_face(j, i, k)
            elif not self.second_joins:
                self._anchor_face(i, j, k)

    def _keeps_alone(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether a pair that changes size is answered without regard to clusters."""
        b: Bodies = self.bodies

        return self.clusters.gravity.is_on or b.on_hold[i] != 0 or b.on_hold[j] != 0

    def _anchor_face(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int
    ) -> cython.void:
        """Let body i, which has the velocity that the face of j wants, be a cluster anchored to j."""
        root: cython.Py_ssize_t = self.clusters.ensure(i, k)

        self.clusters.shift_by(root, 0.0)
        self.clusters.nodes[root].anchor = j + 1

    def _merge_faces(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.bint:
        """Merge the clusters of two bodies so that their faces, which may resize, go together.

        Return False if they are in one cluster, or both are held by something immovable, or one
        is immovable and the other in no cluster.
        """
        b: Bodies = self.bodies
        c: Clusters = self.clusters
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t
        apart: cython.double = sign * (b.growth[i, k] + b.growth[j, k])
        shift: cython.double

        if self._keeps_alone(i, j):
            return False
        if c.n_lasting:
            self._leave_for(i, j, k)
        if not (self.first_joins and self.second_joins):
            if self.second_joins:
                return self._merge_with_face(j, i, k, -apart)
            return self._merge_with_face(i, j, k, apart)
        one = c.ensure(i, k)
        other = c.ensure(j, k)
        if one == other or (c.nodes[one].anchor != 0 and c.nodes[other].anchor != 0):
            return False
        shift = c.shift_of(i, k) - apart - c.shift_of(j, k)
        if c.nodes[other].size <= c.nodes[one].size:
            c.shift_by(other, shift)
        else:
            c.shift_by(one, -shift)
        c.anchor_velocity = (
            c.nodes[one].velocity if c.nodes[one].anchor else c.nodes[other].velocity
        )
        self._unite(i, j, k, one, other, c.nodes[one].anchor or c.nodes[other].anchor)
        return True

    def _merge_with_face(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        apart: cython.double,
    ) -> cython.bint:
        """Let the cluster of body i take the velocity that the face of j, which never yields, wants.

        `apart` is by how much the velocity of i is then more than that of j.
        """
        c: Clusters = self.clusters
        node: cython.Py_ssize_t = c.node_of[i, k]
        root: cython.Py_ssize_t = c.root(node) if node else 0

        if root == 0 or c.nodes[root].anchor or c.nodes[root].size == 1:
            return False
        c.shift_by(root, 0.0)
        c.anchor_velocity = self.bodies.velocity[j, k] + apart - c.nodes[node].shift
        self._unite(i, i, k, root, root, j + 1)
        return True

    def _unite(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        anchor: cython.Py_ssize_t,
    ) -> cython.void:
        """Merge the clusters of two bodies, whose shifts have been set."""
        c: Clusters = self.clusters

        self.loss = INF
        self.impulse += self._impulse_of(
            one, other, anchor, self._velocity_of(one), self._velocity_of(other)
        )
        c.merge(one, other, anchor)
        c.write_axis(i, k)
        c.write_axis(j, k)

    def _join(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.bint:
        """Merge the clusters of two bodies, also of those with members that resize, if that can be.

        A body that its cluster and its partner hold at two velocities leaves the cluster.
        """
        c: Clusters = self.clusters
        one: cython.Py_ssize_t
        other: cython.Py_ssize_t

        if not c.any_shift:
            return self._merge(i, j, k)
        one = c.root(c.node_of[i, k]) if self.first_joins and c.node_of[i, k] else 0
        other = c.root(c.node_of[j, k]) if self.second_joins and c.node_of[j, k] else 0
        if not ((one and c.nodes[one].resizes) or (other and c.nodes[other].resizes)):
            return self._merge(i, j, k)
        if self._merge_faces(i, j, k, sign):
            return True
        if one == other:
            self._exchange(i, j, k, sign, 0.0)
            return True
        if self.first_joins and c.node_of[i, k]:
            c.leave(i, k)
        if self.second_joins and c.node_of[j, k]:
            c.leave(j, k)
        return self._merge(i, j, k)

    def _leave_for(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.int:
        """Take the one of two bodies out of a cluster that lasts that leaves it for the other.

        Return 1 for the first, 2 for the second, 0 for none.
        """
        if self._is_withdrawn(i, j, k, self.second_joins):
            self.clusters.leave(i, k)
            return 1
        if self._is_withdrawn(j, i, k, self.first_joins):
            self.clusters.leave(j, k)
            return 2
        return 0

    def _exchange_faces(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        restitution: cython.double,
        press: cython.double,
    ) -> cython.void:
        """Share the velocities of the touching faces of a pair that changes size."""
        b: Bodies = self.bodies
        grow1: cython.double = -sign * b.growth[i, k]
        grow2: cython.double = sign * b.growth[j, k]
        v1: cython.double = self.clusters.final_velocity(i, k)
        v2: cython.double = self.clusters.final_velocity(j, k)
        shared: cython.double = (1.0 + restitution) * ((v1 + grow1) - (v2 + grow2))
        share1: cython.double = 1.0
        share2: cython.double = 1.0
        held: cython.double = 0.0  # as in `_impulse_of`
        nudge: cython.double
        apart: cython.double

        if press != 0.0:
            shared = (v1 + grow1) - (v2 + grow2)
            apart = restitution * max(-sign * shared - press, 0.0) - press
            if apart > 0.0:
                shared -= sign * apart
            elif not self.second_yields:
                held = abs(self.kick_first)
                self.clusters.gravity.hold(i, k)
            elif not self.first_yields:
                held = abs(self.kick_second)
                self.clusters.gravity.hold(j, k)
        if self.clusters.n_lasting and shared * sign > 0.0:
            shared = 0.0  # only their paths close
        if self.first_yields and self.second_yields:
            share1 = b.mass[j] / (b.mass[i] + b.mass[j])
            share2 = b.mass[i] / (b.mass[i] + b.mass[j])
        if self.first_yields:
            self.impulse = b.mass[i] * (share1 * abs(shared) + held)
            self.change(i, k, v1 - shared * share1)
        if self.second_yields:
            self.impulse = b.mass[j] * (share2 * abs(shared) + held)
            self.change(j, k, v2 + shared * share2)
        # Faces are rounded once more than velocities: move apart until they do not close.
        nudge = EPSILON * max(abs(v1), abs(v2), abs(grow1), abs(grow2))
        while self._face_rate(i, j, k, sign) < 0.0:
            if self.first_yields:
                self.change(i, k, b.velocity[i, k] + sign * nudge)
            else:
                self.change(j, k, b.velocity[j, k] - sign * nudge)
            nudge *= 2.0

    def _face_rate(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the touching faces of a pair part, per step; below 0 they close."""
        b: Bodies = self.bodies

        return sign * (
            (b.motion_of(i, k) - sign * b.resize_of(i, k))
            - (b.motion_of(j, k) + sign * b.resize_of(j, k))
        )

    def _merge(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Merge the clusters of two bodies, if that can be; an immovable body links no clusters."""
        b: Bodies = self.bodies
        c: Clusters = self.clusters
        left: cython.int = 0

        if c.n_lasting:
            left = self._leave_for(i, j, k)
        one: cython.Py_ssize_t = c.ensure(i, k) if self.first_joins else 0
        other: cython.Py_ssize_t = c.ensure(j, k) if self.second_joins else one
        if one == 0:
            one = other
        anchor: cython.Py_ssize_t = self._find_anchor(i, j, k, one, other)
        if anchor < 0:
            return False
        if (
            anchor
            or not self.counts_loss
            or self.first_yields != self.second_yields
            or c.nodes[one].rank != c.nodes[other].rank
        ):
            self.loss = INF
        elif self.loss == INF:
            self.loss = c.loss(one, other)
        else:  # it has rebounded before
            self.loss += c.loss(one, other)
        # What leaves a cluster that lasts has its share of the momentum, not that of its path.
        velocity: cython.double = self.before_first[k] if left == 1 else self._velocity_of(one)
        second_velocity: cython.double = (
            self.before_second[k] if left == 2 else self._velocity_of(other)
        )
        if one == other:
            velocity = second_velocity = second_velocity if left == 2 else velocity
        if anchor:
            c.anchor_velocity = b.velocity[anchor - 1, k]
        self.impulse += self._impulse_of(one, other, anchor, velocity, second_velocity)
        c.merge(one, other, anchor)
        c.write_axis(i, k)
        c.write_axis(j, k)
        return True

    def _find_anchor(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Return the immovable body that two clusters have once they are merged, counted from 1.

        0 for none, -1 where each has one and these differ in velocity.
        """
        velocity: cython.double[:, ::1] = self.bodies.velocity
        first: cython.Py_ssize_t = self._anchor_of(i, one) if self.first_joins else i + 1
        second: cython.Py_ssize_t = self._anchor_of(j, other) if self.second_joins else j + 1

        if first == 0 or self._yields_to(first, second, k):
            return second
        if self._yields_to(second, first, k):
            return first
        if second != 0 and velocity[first - 1, k] != velocity[second - 1, k]:
            self.solid_first = first - 1
            self.solid_second = second - 1
            return -1
        return first

    def _is_withdrawn(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, joins: cython.bint
    ) -> cython.bint:
        """Return whether body i leaves a cluster that lasts, because of what it meets in j."""
        root: cython.Py_ssize_t = self.clusters.lasting_root(i, k)

        if root == 0:
            return False
        return (
            not joins
            or self._is_anchored(j, k)
            or self.clusters.rank_with(j, k) > self.clusters.nodes[root].rank
        )

    def _impulse_of(
        self,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        anchor: cython.Py_ssize_t,
        v1: cython.double,
        v2: cython.double,
    ) -> cython.double:
        """Return the momentum that passes from one of two clusters to the other when they merge.

        Who is held from now on is held against the gravity of the rest of the step too, of
        which the chord has one half and the kick the other.
        """
        c: Clusters = self.clusters
        velocity: cython.double
        apart: cython.double = abs(v1 - v2)

        if anchor:
            velocity = c.anchor_velocity
            return max(
                c.nodes[one].mass * (abs(velocity - v1) + abs(self.kick_first)),
                c.nodes[other].mass * (abs(velocity - v2) + abs(self.kick_second)),
            )
        if c.nodes[one].rank > c.nodes[other].rank:
            return c.nodes[other].mass * apart
        if c.nodes[one].rank < c.nodes[other].rank:
            return c.nodes[one].mass * apart
        return (
            c.nodes[one].mass
            * (c.nodes[other].mass / (c.nodes[one].mass + c.nodes[other].mass))
            * apart
        )

    def _velocity_of(self, root: cython.Py_ssize_t) -> cython.double:
        """Return the velocity with which a cluster leaves the step if nothing more happens to it."""
        return (
            self.clusters.shared_velocity(root)
            if self.clusters.nodes[root].lasts
            else (self.clusters.nodes[root].velocity)
        )

    def _is_anchored(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body that yields is held, or in a cluster with one that does not."""
        node: cython.Py_ssize_t = self.clusters.node_of[i, k]

        if self.bodies.on_hold[i]:
            return True
        return node != 0 and self.clusters.nodes[self.clusters.root(node)].anchor != 0

    def _anchor_of(self, i: cython.Py_ssize_t, root: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return what holds the cluster of a body: an immovable body, or the body if it is held."""
        if self.clusters.nodes[root].anchor == 0 and self.bodies.on_hold[i]:
            return i + 1
        return self.clusters.nodes[root].anchor

    def _yields_to(
        self, anchor: cython.Py_ssize_t, other: cython.Py_ssize_t, k: cython.int
    ) -> cython.bint:
        """Return whether an anchor gives way: it is held, and the other never yields or is as fast."""
        b: Bodies = self.bodies

        if anchor == 0 or other == 0 or not self._is_held(anchor - 1, k):
            return False
        if not self._is_held(other - 1, k):
            return True
        self.clusters.write_body(anchor - 1)
        self.clusters.write_body(other - 1)
        return abs(b.velocity[other - 1, k]) >= abs(b.velocity[anchor - 1, k])

    def _is_held(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body that yields on an axis is held where it is."""
        return self.bodies.on_hold[i] and not self.bodies.controls.locks(i, k)

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
        first: cython.double
        second: cython.double
        mean: cython.double
        turns: cython.bint = False

        if (
            self.first_yields
            and self.second_yields
            and b.response[i] == STOP
            and b.response[j] == STOP
        ):
            # Each would take the other's: the two stop each other instead.
            for axis in range(b.dim):
                first = self.before_first[axis]
                second = self.before_second[axis]
                if axis == k or first == second:
                    continue
                if b.controls.locks(i, axis):
                    self.change_along(j, axis, first)
                elif b.controls.locks(j, axis):
                    self.change_along(i, axis, second)
                else:
                    mean = (b.mass[i] * first + b.mass[j] * second) / (b.mass[i] + b.mass[j])
                    self.change_along(i, axis, mean)
                    self.change_along(j, axis, mean)
            return
        turns = self._aim(i, k, restitution, True) and self.first_yields
        turns |= self._aim(j, k, restitution, False) and self.second_yields
        if turns:
            self._turn_as_far(i, j, k)
        if self.clusters.gravity.is_on and self.first_yields != self.second_yields:
            for axis in range(b.dim):
                if axis != k:
                    self._stop_falling(i if self.first_yields else j, axis)

    def _stop_falling(self, i: cython.Py_ssize_t, axis: cython.int) -> cython.void:
        """Hold a body that stops on the surface of one that does not yield, to the step's end."""
        surface: cython.double = (
            self.face_second[axis] if self.first_yields else self.face_first[axis]
        )

        if self.bodies.response[i] == STOP and self.clusters.final_velocity(i, axis) == surface:
            self.clusters.gravity.hold(i, axis)

    def _aim(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        restitution: cython.double,
        is_first: cython.bint,
    ) -> cython.bint:
        """Find the tangential velocity that `Stop` or `Push` wants; return False for other rules."""
        axis: cython.int
        own: cython.double
        partner: cython.double
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        along: cython.double = 0.0

        for axis in range(self.bodies.dim):
            self._want(axis, self._after(i, axis, k), is_first)
        if self.bodies.response[i] == STOP:
            for axis in range(self.bodies.dim):
                if axis != k and not self.bodies.controls.locks(i, axis):
                    partner = self.face_second[axis] if is_first else self.face_first[axis]
                    self._want(axis, partner, is_first)
            return True
        if self.bodies.response[i] != PUSH or restitution > 0.0:
            return False
        for axis in range(self.bodies.dim):
            largest = max(largest, abs(self.before_first[axis] - self.before_second[axis]))
        if largest == 0.0:
            return False
        for axis in range(self.bodies.dim):
            own = (self.before_first[axis] - self.before_second[axis]) / largest
            speed += own * own
            if axis != k:
                along += own * own
        if along == 0.0:
            return False
        speed = sqrt(speed) / sqrt(along)
        for axis in range(self.bodies.dim):
            if axis != k and not self.bodies.controls.locks(i, axis):
                own = self.before_first[axis] if is_first else self.before_second[axis]
                partner = self.before_second[axis] if is_first else self.before_first[axis]
                self._want(axis, partner + (own - partner) * speed, is_first)
        return True

    def _want(
        self, axis: cython.int, velocity: cython.double, is_first: cython.bint
    ) -> cython.void:
        """Note the velocity that a body's own rule wants on an axis."""
        if is_first:
            self.wanted_first[axis] = velocity
        else:
            self.wanted_second[axis] = velocity

    def _turn_as_far(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int
    ) -> cython.void:
        """Turn a pair towards what its rules want, as far as its kinetic energy does not rise."""
        axis: cython.int
        unit: cython.double = self._find_frame(i, j, k)
        part: cython.double
        less: cython.double = EPSILON

        if unit == 0.0:
            return
        part = self._part_to_turn(i, j, unit)
        self._go(part)
        while part > 0.0 and self._gains_energy(i, j):  # by rounding
            part = part * (1.0 - less) if less < 1.0 else 0.0
            less *= 4.0
            self._go(part)
        for axis in range(self.bodies.dim):
            if axis == k:
                continue
            if self.wanted_change_first[axis] != 0.0 and self.first_yields:
                self.change_along(i, axis, self.wanted_first[axis])
            if self.wanted_change_second[axis] != 0.0 and self.second_yields:
                self.change_along(j, axis, self.wanted_second[axis])

    def _find_frame(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int
    ) -> cython.double:
        """Find the velocities after the normal part, and the frame in which energies count.

        That is the frame of an immovable partner, or of the world.  Return the largest velocity.
        """
        axis: cython.int
        unit: cython.double = 0.0

        for axis in range(self.bodies.dim):
            self.frame[axis] = 0.0
            if not self.second_yields:
                self.frame[axis] = self.before_second[axis]
            elif not self.first_yields:
                self.frame[axis] = self.before_first[axis]
            self.after_first[axis] = self._after(i, axis, k)
            self.after_second[axis] = self._after(j, axis, k)
            unit = max(unit, self._farthest(self.before_first, axis))
            unit = max(unit, self._farthest(self.before_second, axis))
            unit = max(unit, self._farthest(self.after_first, axis))
            unit = max(unit, self._farthest(self.after_second, axis))
            unit = max(unit, self._farthest(self.wanted_first, axis))
            unit = max(unit, self._farthest(self.wanted_second, axis))
        return unit

    def _part_to_turn(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, unit: cython.double
    ) -> cython.double:
        """Return how far a pair may go towards what its rules want, as a part of the way.

        After the part s of it the energy exceeds what it was by a s² + 2 b s + c with c <= 0, so
        the part is the larger root.  Velocities are divided by `unit`, masses by the larger one.
        """
        b: Bodies = self.bodies
        axis: cython.int
        heavier: cython.double = max(b.mass[i], b.mass[j])
        weight1: cython.double = b.mass[i] / heavier if self.second_yields else 1.0
        weight2: cython.double = b.mass[j] / heavier if self.first_yields else 1.0
        energy: cython.double = 0.0
        gain: cython.double = 0.0
        square: cython.double = 0.0
        slope: cython.double = 0.0
        first: cython.double
        second: cython.double

        weight1 *= self.first_yields
        weight2 *= self.second_yields
        for axis in range(b.dim):
            energy += weight1 * self._square(self.before_first, axis, unit)
            energy += weight2 * self._square(self.before_second, axis, unit)
            gain += weight1 * self._square(self.after_first, axis, unit)
            gain += weight2 * self._square(self.after_second, axis, unit)
        gain -= energy
        for axis in range(b.dim):
            if gain > 0.0:  # growing faces, or others of its cluster, have driven it
                self.before_first[axis] = self.after_first[axis]
                self.before_second[axis] = self.after_second[axis]
            first = self.wanted_first[axis] - self.after_first[axis]
            second = self.wanted_second[axis] - self.after_second[axis]
            self.wanted_change_first[axis] = first
            self.wanted_change_second[axis] = second
            square += weight1 * (first / unit) * (first / unit)
            square += weight2 * (second / unit) * (second / unit)
            slope += weight1 * ((self.after_first[axis] - self.frame[axis]) / unit) * (first / unit)
            slope += (
                weight2 * ((self.after_second[axis] - self.frame[axis]) / unit) * (second / unit)
            )
        # What the pair has lost may have gone to others of its cluster.
        gain = min(max(gain, -self.loss / heavier / unit / unit), 0.0)
        if square + 2.0 * slope + gain > ENERGY_ROUNDING * energy:
            return max(0.0, (sqrt(max(0.0, slope * slope - square * gain)) - slope) / square)
        return 1.0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _farthest(self, velocity: cython.p_double, axis: cython.int) -> cython.double:
        """Return how large a velocity is on an axis, as the frame sees it."""
        return abs(velocity[axis] - self.frame[axis])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _square(
        self, velocity: cython.p_double, axis: cython.int, unit: cython.double
    ) -> cython.double:
        """Return the square of a velocity on an axis, as the frame sees it."""
        own: cython.double = (velocity[axis] - self.frame[axis]) / unit

        return own * own

    def _go(self, part: cython.double) -> cython.void:
        """Want only a part of the way to what the rules of a pair want."""
        axis: cython.int

        if part == 1.0:
            return
        for axis in range(self.bodies.dim):
            self.wanted_first[axis] = self.after_first[axis] + part * self.wanted_change_first[axis]
            self.wanted_second[axis] = (
                self.after_second[axis] + part * self.wanted_change_second[axis]
            )

    def _gains_energy(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.bint:
        """Return whether the kinetic energy of a pair would rise, in twice the precision."""
        self._begin_sum()
        if self.first_yields:
            self._add_loss(
                self.before_first,
                self.wanted_first,
                self.bodies.mass[i] if self.second_yields else 1.0,
            )
        if self.second_yields:
            self._add_loss(
                self.before_second,
                self.wanted_second,
                self.bodies.mass[j] if self.first_yields else 1.0,
            )
        return self.sum_high + self.sum_low < 0.0

    def _add_loss(
        self, before: cython.p_double, after: cython.p_double, mass: cython.double
    ) -> cython.void:
        """Add mass · ((before - frame)² - (after - frame)²), summed over the axes."""
        axis: cython.int

        for axis in range(self.bodies.dim):
            self._add_product(mass * before[axis], before[axis])
            self._add_product(-mass * after[axis], after[axis])
            self._add_product(-2.0 * mass * self.frame[axis], before[axis])
            self._add_product(2.0 * mass * self.frame[axis], after[axis])

    def _apply_friction(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.void:
        """Let friction hold back what slides along the surface.

        The impulse of the normal part is that of the body which changed its
        momentum more: where one is held from behind, the other's is what
        they press against each other with.
        """
        b: Bodies = self.bodies
        axis: cython.int
        friction: cython.double = b.surfaces.friction_between(i, j)
        first: cython.double = 0.0
        second: cython.double = 0.0
        light1: cython.double = 0.0  # inverse masses, of those that yield
        light2: cython.double = 0.0
        speed: cython.double

        if friction == 0.0 or not (self.first_yields or self.second_yields):
            return
        if (self.first_yields and self._may_turn(i)) or (self.second_yields and self._may_turn(j)):
            return
        if self.first_yields:
            first = self._press_of(i, k, self.before_first[k], self.kick_first)
            light1 = 0.0 if b.controls.locks_all_but(i, k) else 1.0 / b.mass[i]
        if self.second_yields:
            second = self._press_of(j, k, self.before_second[k], self.kick_second)
            light2 = 0.0 if b.controls.locks_all_but(j, k) else 1.0 / b.mass[j]
        speed = self._slide_speed(i, j, k, sign)
        if speed == 0.0 or light1 + light2 == 0.0:
            return
        for axis in range(b.dim):
            if axis != k:
                self._rub(
                    i, j, k, sign, axis,
                    friction * max(first, second) * (light1 + light2) / speed, light1, light2,
                )  # fmt: skip

    def _press_of(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        before: cython.double,
        kick: cython.double,
    ) -> cython.double:
        """Return the momentum with which the normal part has pressed a body to the surface."""
        mass: cython.double = self.bodies.mass[i]

        return mass * abs(self._after(i, k, k) - before) + mass * self._support_of(i, k, kick)

    def _slide_speed(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int, sign: cython.int
    ) -> cython.double:
        """Return how fast the touching faces of a pair slide over each other."""
        axis: cython.int
        largest: cython.double = 0.0
        speed: cython.double = 0.0
        slide: cython.double

        for axis in range(self.bodies.dim):
            if axis != k:
                largest = max(largest, abs(self._slide(i, j, k, sign, axis)))
        if largest == 0.0:
            return 0.0
        for axis in range(self.bodies.dim):
            if axis != k:
                slide = self._slide(i, j, k, sign, axis) / largest
                speed += slide * slide
        return sqrt(speed) * largest

    def _rub(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        axis: cython.int,
        part: cython.double,
        light1: cython.double,
        light2: cython.double,
    ) -> cython.void:
        """Take a part of the sliding of a pair on an axis; all of it where `part` is 1 or more."""
        b: Bodies = self.bodies
        slide: cython.double
        share: cython.double
        first_moves: cython.bint = self.first_yields and not b.controls.locks(i, axis)
        second_moves: cython.bint = self.second_yields and not b.controls.locks(j, axis)

        if self.clusters.gravity.is_on and self._hold_back(i, j, k, sign, axis, part):
            return
        slide = self._slide(i, j, k, sign, axis)
        if part < 1.0:
            slide *= part
        elif not second_moves:
            self.change_along(i, axis, self._surface_of(j, sign * (k + 1), axis))
            return
        elif not first_moves:
            self.change_along(j, axis, self._surface_of(i, -sign * (k + 1), axis))
            return
        share = light1 / (light1 + light2)
        if first_moves != second_moves:
            share = 1.0 if first_moves else 0.0
        if first_moves:
            self.change_along(i, axis, self.clusters.final_velocity(i, axis) - slide * share)
        if part >= 1.0 and not (
            self.clusters.lasting_root(i, axis) or self.clusters.lasting_root(j, axis)
        ):  # both yield: exactly as fast as the other
            slide = self._surface_of(i, -sign * (k + 1), axis)
            slide -= b.surfaces.speed_of_surface(j, sign * (k + 1), axis)
            self.change_along(j, axis, slide)
        elif second_moves:
            self.change_along(
                j, axis, self.clusters.final_velocity(j, axis) + slide * (1.0 - share)
            )

    def _support_of(
        self, i: cython.Py_ssize_t, k: cython.int, kick: cython.double
    ) -> cython.double:
        """Return what holds a body against gravity to the end of the step, as a change of velocity."""
        if kick == 0.0 or self.clusters.kick_of(i, k) != 0.0:
            return 0.0
        return 2.0 * abs(kick)

    def _hold_back(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        axis: cython.int,
        part: cython.double,
    ) -> cython.bint:
        """Let friction hold back a body that falls along the surface of one that does not yield.

        What it takes is a part of the velocity at the end of the step, so it takes the same part
        of the chord and of the gravity that is still to come; all of it holds the body.
        """
        row: cython.Py_ssize_t = i if self.first_yields else j
        surface: cython.double
        velocity: cython.double

        if self.first_yields == self.second_yields or self.clusters.kick_of(row, axis) == 0.0:
            return False
        if self.first_yields:
            surface = self._surface_of(j, sign * (k + 1), axis)
            surface -= self.bodies.surfaces.speed_of_surface(i, -sign * (k + 1), axis)
        else:
            surface = self._surface_of(i, -sign * (k + 1), axis)
            surface -= self.bodies.surfaces.speed_of_surface(j, sign * (k + 1), axis)
        part = max(0.0, 1.0 - part)
        velocity = self.clusters.final_velocity(row, axis)
        self.change_along(row, axis, surface + (velocity - surface) * part)
        self.clusters.gravity.weaken(row, axis, part)
        return True

    def _surface_of(
        self, i: cython.Py_ssize_t, side: cython.int, axis: cython.int
    ) -> cython.double:
        """Return the velocity of a face of a body, by its side, along itself."""
        return self.clusters.final_velocity(i, axis) + self.bodies.surfaces.speed_of_surface(
            i, side, axis
        )

    def _slide(
        self,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        k: cython.int,
        sign: cython.int,
        axis: cython.int,
    ) -> cython.double:
        """Return how fast the touching face of `i` slides over that of `j` on an axis.

        Where one of them does not yield, that is at the end of the step: friction has to hold
        what gravity is still to do.
        """
        slide: cython.double = self._surface_of(i, -sign * (k + 1), axis) - self._surface_of(
            j, sign * (k + 1), axis
        )

        if self.first_yields and not self.second_yields:
            slide += self.clusters.kick_of(i, axis)
        elif self.second_yields and not self.first_yields:
            slide -= self.clusters.kick_of(j, axis)
        return slide
