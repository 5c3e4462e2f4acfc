"""Clusters: bodies that move as one along an axis, for one instant or to the end of the step.

An inelastic resolution merges the clusters of its two bodies on the contact axis.
The bodies of a cluster form a tree of a disjoint-set forest (Tarjan,
"Efficiency of a Good But Not Linear Set Union Algorithm", 1975).  Only its
*root* stores the momentum, the mass and the velocity.  A merge therefore takes
nearly constant time, however large the clusters are.  `Solver` merges clusters,
`ClosingContacts` finds the contacts that close because of it, and `write`
copies the velocities to the members before the next sweep.

A change of velocity can close contacts between a member and a body outside the
cluster.  The members with such contacts are the *rim*, which each cluster lists.  If the
velocity changes, the rim is queued, and `ClosingContacts` examines it.

In a crowd that presses together, each merge would turn a whole cluster, and
the next one turn it back.  A cluster without an anchor *lasts* to the end of the step
once it merges, if one of its members has merged in an earlier instant of the step.  If
one of two merging clusters lasts, the heavier one keeps its path and only the lighter
one turns; of equals only the faster one.  Their momenta are added, and at the end of the step
all members get momentum / mass, the *shared* velocity.

The first partners of an instant must not decide where the others go.  So `Projection` may form the
clusters of an instant again, from the velocities that their members had `before` they joined.

Bodies of a higher dominance outweigh all bodies of lower ones.  The *rank* of a cluster is the
highest dominance among its members.  Only members of that dominance count in its mass and momentum;
the others move with them, as with a static or kinematic body.

Members may have different *kicks* (`motion/gravity.py`).  From the merge on their mean counts for all,
so that a row at rest has no speed at which something could bounce off.  Each keeps its own until no
normal part is due any more, in case it leaves: then those that stay have the mean of theirs alone.

The faces of growing boxes may move at one velocity while their centres do not.  The velocity of a
member is the velocity of the root plus the *shift* of the member, so a merge keeps the relative
velocity of two faces.  The momentum at a root is the sum of mass * (velocity - shift).  All shifts
are 0 in a cluster without resizing members.

Invariants: Each node is in one cluster, and no member drifts along its axis.  In the instant in which a cluster has
changed its velocity, a member that is neither on the rim nor queued has no contact on this
axis with a body outside the cluster.  The momentum of a root is the sum over the
members that have its rank, in twice the precision.

Nodes are numbered from 1, and 0 stands for none, because most places of `node_of` are never written
and zeroed memory takes no pages until then.  Node 0 is the root of a cluster without members, so a
body in no cluster needs no test.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import Public, cython, struct
from ecs_collide._kernel.arrays import BYTE, INT, LONG, grown, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import GOES_ON, Gravity
from ecs_collide.narrowphase.narrowphase import SharedMotion, rounding_of_faces
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.product_sum import error_of_product, error_of_sum, quotient

PATH_ROUNDING = 2.0**-44  # of the velocities of two paths that are equally fast
CLUSTER_ROUNDING = 2.0**-48  # of the velocity and the shifts of two members of one cluster


@cython.inline
@struct
class Node:
    """A body on an axis; the root also stores the data of its cluster."""

    body: cython.int
    size: cython.int
    anchor: cython.int
    next: cython.int
    last: cython.int
    next_rim: cython.int
    rim: cython.int
    last_rim: cython.int
    links: cython.int
    axis: cython.schar
    is_on_rim: cython.schar
    is_unwritten: cython.schar
    merged_before: cython.schar
    lasts: cython.schar
    resizes: cython.schar
    is_broken: cython.schar
    is_uneven: cython.schar
    rim_of: cython.longlong
    rank: cython.longlong
    momentum: cython.double
    momentum_low: cython.double
    mass: cython.double
    mass_low: cython.double
    velocity: cython.double
    shift: cython.double
    before: cython.double
    # means over the members, by mass: of the kicks, of what gravity adds to these, and of how much
    # the velocity at this instant exceeds the path's; valid in the instant `kicks_of`
    kick: cython.double
    fall: cython.double
    bend: cython.double
    kicks_of: cython.longlong


@cython.final
class Clusters(SharedMotion):
    """The clusters of a step, on all axes."""

    step: Step
    bodies: Bodies
    gravity: Public[Gravity]
    n_merges: Public[cython.longlong]  # merges in this step
    # clusters that began to last in this step, including those that have merged with others since
    n_lasting: Public[cython.longlong]
    # the numbers of this instant and of the first one of the step, counted over all steps
    instant: Public[cython.longlong]
    first_instant: Public[cython.longlong]
    n_nodes: cython.Py_ssize_t
    n_free: cython.Py_ssize_t
    n_live: cython.Py_ssize_t
    n_unwritten: cython.Py_ssize_t
    n_to_examine: cython.Py_ssize_t
    # (n_rows, dim): the first instant in which a body merged on an axis, of the last step in which
    # it did, or 0
    merged_in: cython.longlong[:, ::1]
    # (n_rows,): the last instant of any step in which a body has stopped rebounding, or 0
    calm_in: cython.longlong[::1]
    to_examine: cython.longlong[::1]  # (n_rows,): `n_to_examine` bodies that have turned
    # (n_rows,): along which axes: 2 for the first, 4 for the second and 8 for the third, together
    axes_to_examine: cython.schar[::1]
    capacity: cython.Py_ssize_t
    # (capacity,): another node of the same cluster, or the node itself if it is the root.  A
    # separate array, because the search for a root reads nothing else
    parent: cython.int[::1]
    nodes: cython.pointer[Node]
    memory: StructMemory
    node_of: cython.int[:, ::1]
    unwritten: cython.int[::1]
    live: cython.int[::1]
    free: cython.int[::1]
    any_uneven: cython.bint  # whether members of a cluster have kicks that they must share yet
    anchor_velocity: cython.double  # the velocity of the root in the next merge with an anchor

    def __init__(self, step: Step):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.gravity = step.gravity
        self.instant = self.first_instant = 1
        self.merged_in = zeros(LONG, 1, bodies.dim)
        self.calm_in = zeros(LONG, 1)
        self.to_examine = zeros(LONG, 1)
        self.axes_to_examine = zeros(BYTE, 1)
        self.node_of = zeros(INT, 1, bodies.dim)
        self.memory = StructMemory()
        self.parent = self.unwritten = self.live = self.free = zeros(INT, 0)
        self._make_room(16)
        self.nodes[0].anchor = -1

    def _make_room(self, n_nodes: cython.Py_ssize_t) -> cython.void:
        """Make room for more nodes."""
        self.parent = grown(self.parent, n_nodes)
        self.unwritten = grown(self.unwritten, n_nodes)
        self.live = grown(self.live, n_nodes)
        self.free = grown(self.free, n_nodes)
        self.nodes = cython.cast(
            cython.pointer(Node), self.memory.grow(cython.sizeof(Node), n_nodes)
        )
        self.capacity = n_nodes  # last, because an array may fail to grow

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.node_of = grown(self.node_of, n_rows)
        self.to_examine = grown(self.to_examine, n_rows)
        self.axes_to_examine = grown(self.axes_to_examine, n_rows)
        self.merged_in = grown(self.merged_in, n_rows)
        self.calm_in = grown(self.calm_in, n_rows)

    def begin_step(self) -> cython.void:
        """Dissolve all clusters of the previous step, even if it was interrupted."""
        if self.n_nodes > self.node_of.shape[0] >> 3:  # to clear all reads less
            for n in range(self.node_of.shape[0]):
                for k in range(self.bodies.dim):
                    self.node_of[n, k] = 0
        else:
            for n in range(1, self.n_nodes + 1):
                self.node_of[self.nodes[n].body, self.nodes[n].axis] = 0
        for n in range(self.n_to_examine):
            self.axes_to_examine[self.to_examine[n]] = 0
        self.n_nodes = self.n_free = self.n_live = self.n_lasting = 0
        self.n_unwritten = self.n_to_examine = 0
        self.n_merges = 0
        self.any_uneven = False
        self.instant += 1
        self.first_instant = self.instant

    def end_instant(self) -> cython.void:
        """Dissolve the clusters that do not last, before a later instant.

        All must be written, and all contacts examined.
        """
        self._end_merges()
        for n in range(self.n_live):
            node: cython.Py_ssize_t = self.live[n]
            if self.nodes[self.root(node)].lasts:
                continue
            if self.node_of[self.nodes[node].body, self.nodes[node].axis] == node:
                self.node_of[self.nodes[node].body, self.nodes[node].axis] = 0
            self.free[self.n_free] = node
            self.n_free += 1
        self.n_live = 0
        self.instant += 1

    def _end_merges(self) -> cython.void:
        """Note which bodies have merged in this instant, and share the kicks of their clusters."""
        last: cython.Py_ssize_t = 0

        for n in range(self.n_live):
            self._note_merge(self.live[n])
        for n in range(self.n_live):
            root: cython.Py_ssize_t = self.root(self.live[n])
            if root != last:
                self._share_kick(root)
                last = root
        self.any_uneven = False

    def _note_merge(self, node: cython.Py_ssize_t) -> cython.void:
        """Update `merged_in` of the body of a node; gravity does not act on it if it is anchored."""
        i: cython.Py_ssize_t = self.nodes[node].body
        k: cython.int = self.nodes[node].axis
        root: cython.Py_ssize_t = self.root(node)

        if self.node_of[i, k] != node:
            return
        if self.nodes[root].anchor >= 0:
            self.gravity.hold(i, k)
        elif self.merged_in[i, k] < self.first_instant:
            self.merged_in[i, k] = self.instant

    def even_out(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Give the members of the cluster of a body one path and one kick from now on.

        If the cluster lasts, its path had another velocity than its members will have.
        """
        root: cython.Py_ssize_t = self.root(self.node_of[i, k])

        if self.nodes[root].lasts:
            self._split(root)
        self._share_kick(root)

    def _split(self, root: cython.Py_ssize_t) -> cython.void:
        """Start the chords of a lasting cluster at this instant, and turn it to its momentum."""
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root
        shared: cython.double = self.leaving_velocity(root)

        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, k] == node and not self.gravity.is_split(
                i, k, self.step.now, GOES_ON
            ):
                now: cython.double = self.gravity.velocity_at(i, k, shared, self.step.now)
                change: cython.double = -shared + self.gravity.split(
                    i, k, now, self.step.now, GOES_ON
                )
                self.push(root, self.weight_in(root, i), change)
            node = self.nodes[node].next
        self._set_velocity(root, self.leaving_velocity(root))

    def turn_all(
        self, root: cython.Py_ssize_t, change: cython.double, kick: cython.double
    ) -> cython.void:
        """Add to the velocities of the paths of all members of a cluster, and to their kicks."""
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root

        self.nodes[root].kicks_of = 0
        self.push(root, self.nodes[root].mass, change)
        self._set_velocity(root, self.nodes[root].velocity + change)
        while node and kick != 0.0:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, k] == node:
                self.gravity.pull_with(i, k, self.gravity.kick_of(i, k) + kick, self.step.now)
            node = self.nodes[node].next

    def _kicks_differ(self, root: cython.Py_ssize_t, damps: cython.bint) -> cython.bint:
        """Return whether two members of a cluster have different kicks, with damping or without."""
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root
        least: cython.double = INF
        greatest: cython.double = -INF

        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, k] == node:
                kick: cython.double = self.gravity.part_of_kick(i, k, damps)
                least = min(least, kick)
                greatest = max(greatest, kick)
            node = self.nodes[node].next
        return least < greatest

    def _share_kick(self, root: cython.Py_ssize_t) -> cython.void:
        """Give the members of a cluster the mean of their kicks, if it has no anchor.

        Otherwise held and falling members, or members of different `GravityScale`, would leave the
        step with different velocities although they press against each other.
        """
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root

        self.nodes[root].is_uneven = 0
        if (
            not self.gravity.is_on
            or self.nodes[root].size <= 1
            or self.nodes[root].anchor >= 0
            or not self._kicks_differ(root, True)
        ):
            return
        self._find_kicks(root)
        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, k] == node:
                self.gravity.pull_with(i, k, self.nodes[root].kick, self.step.now)
            node = self.nodes[node].next
        self.nodes[root].kicks_of = 0

    def _find_kicks(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the means over the kicks of a cluster in this instant.  O(members) the first time."""
        g: Gravity = self.gravity
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root
        mass: cython.double = 0.0

        if self.nodes[root].kicks_of == self.instant:
            return
        self.nodes[root].kick = self.nodes[root].fall = self.nodes[root].bend = 0.0
        self.nodes[root].kicks_of = self.instant
        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, k] == node:
                weight: cython.double = self.weight_in(root, i)
                mass += weight
                kick: cython.double = g.kick_of(i, k)
                fall: cython.double = g.part_of_kick(i, k, False)
                bend: cython.double = g.velocity_at(i, k, 0.0, self.step.now)
                self._mix_kicks(root, weight, mass, kick, fall, bend)
            node = self.nodes[node].next

    def _mix_kicks(
        self,
        root: cython.Py_ssize_t,
        weight: cython.double,
        mass: cython.double,
        kick: cython.double,
        fall: cython.double,
        bend: cython.double,
    ) -> cython.void:
        """Add to the means of a cluster what joins it, `weight` of the `mass`; equal ones stay exact."""
        part: cython.double = weight / mass if mass > 0.0 else 1.0

        self.nodes[root].kick += part * (kick - self.nodes[root].kick)
        self.nodes[root].fall += part * (fall - self.nodes[root].fall)
        self.nodes[root].bend += part * (bend - self.nodes[root].bend)

    def share_kicks(self) -> cython.void:
        """Share the kicks of the clusters that have merged in this instant."""
        for n in range(self.n_live if self.any_uneven else 0):
            root: cython.Py_ssize_t = self.root(self.live[n])
            if self.nodes[root].is_uneven:
                self._share_kick(root)
        self.any_uneven = False

    def are_parted_by_kicks(self, root: cython.Py_ssize_t) -> cython.bint:
        """Return whether gravity moves members of a cluster apart, or away from its anchor."""
        self._find_kicks(root)
        return self._kicks_differ(root, False) or (
            self.nodes[root].anchor >= 0 and self.nodes[root].fall != 0.0
        )

    def let_go(self, root: cython.Py_ssize_t) -> cython.void:
        """Give the members of a cluster the velocity that they have now, and each its own kick.

        These count as their velocities before the instant.
        """
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root
        velocity: cython.double = self.nodes[root].velocity

        if self.nodes[root].anchor < 0:
            self._find_kicks(root)
            velocity -= self.nodes[root].kick
        while node:
            kick: cython.double = self.gravity.part_of_kick(
                self.nodes[node].body, k, self.nodes[root].anchor < 0
            )
            self.nodes[node].before = (velocity + self.nodes[node].shift) + kick
            node = self.nodes[node].next

    def end_step(self) -> cython.void:
        """Give the members of all lasting clusters their shared velocity."""
        self._end_merges()
        for n in range(1, self.n_nodes + 1):
            if self.nodes[n].lasts and self.parent[n] == n and self.nodes[n].size != 0:
                self._share_kick(n)  # the last to join may fall since another instant
                self._share(n)

    def _share(self, root: cython.Py_ssize_t) -> cython.void:
        """Give the members of a lasting cluster their shared velocity."""
        b: Bodies = self.bodies
        k: cython.int = self.nodes[root].axis
        node: cython.Py_ssize_t = root
        shared: cython.double = self.leaving_velocity(root)

        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            velocity: cython.double = shared + self.nodes[node].shift
            if self.node_of[i, k] == node and b.velocity[i, k] != velocity:
                b.set_velocity(i, k, velocity)
            node = self.nodes[node].next

    def turn_alone(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give one body a velocity and remove it from its cluster."""
        if self.velocity_of(i, k) == velocity and not self.lasting_root(i, k):
            return
        if self.node_of[i, k]:
            self.leave(i, k)
        self.bodies.turn_to(i, k, velocity, self.step.now)
        self._queue_to_examine(i, k)

    def _queue_to_examine(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """List a body that has turned along an axis, so that its contacts there may close."""
        if not self.axes_to_examine[i]:
            self.to_examine[self.n_to_examine] = i
            self.n_to_examine += 1
        self.axes_to_examine[i] |= 2 << k

    def end_drift(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """End the drift of a body on an axis at this instant; return whether it had one."""
        if not self.bodies.any_drift or not self.bodies.end_drift(i, k, self.step.now):
            return False
        self._queue_to_examine(i, k)
        return True

    def turn_freely(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give one body the velocity of a resolution at this instant, plus its kick.

        An anchored body has no kick, nor has one that is held since an earlier instant; once it
        leaves what holds it, gravity acts on it again.
        """
        if velocity != self.velocity_of(i, k):
            if self.is_anchored(i, k):
                velocity += self.gravity.kick_of(i, k)
            else:
                root: cython.Py_ssize_t = self._uneven_root(i, k)
                if root:
                    own: cython.double = self.gravity.velocity_at(i, k, 0.0, self.step.now)
                    velocity += self.nodes[root].bend - own
                velocity += self.gravity.release(i, k, self.step.now)
        self.turn_alone(i, k, velocity)

    def change_along(
        self,
        i: cython.Py_ssize_t,
        k: cython.int,
        before: cython.double,
        velocity: cython.double,
    ) -> cython.void:
        """Give a body another velocity along a surface; a lasting cluster shares the momentum.

        Both velocities are the path's: the velocity of this instant plus the kick.  `before` is
        that which the body had when its new one was found: others of its cluster may have turned.
        """
        root: cython.Py_ssize_t = self.lasting_root(i, k)

        if root == 0:
            self.turn_freely(i, k, velocity)
        elif velocity != before:
            self.push(root, self.weight_in(root, i), velocity)
            self.push(root, -self.weight_in(root, i), before)

    def let_rise(self, i: cython.Py_ssize_t, k: cython.int, change: cython.double) -> cython.void:
        """Let a body fall again if an impact is to change its velocity against its gravity.

        Friction, or `Stop`, would hold it up there, and so lift it.
        """
        if change * self.gravity.takes_pull(i, k, self.step.now) < 0.0:
            self.let_fall(i, k)

    def let_fall(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Let gravity act again on a body from which friction or `Stop` has taken it just now."""
        if self.lasting_root(i, k) or self.is_anchored(i, k):
            return
        change: cython.double = self.gravity.give_back(i, k, self.step.now)

        if change != 0.0:
            self.turn_alone(i, k, self.velocity_of(i, k) + change)

    def calm(self, i: cython.Py_ssize_t) -> cython.void:
        """Set the restitution of a body to 0 for the rest of the instant."""
        self.calm_in[i] = self.instant

    @cython.cfunc
    @cython.inline
    def is_calm(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether the restitution of a body is 0 for the rest of the instant."""
        return self.calm_in[i] == self.instant

    # -- for the narrowphase --

    def rounding(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return how much the velocities of two members of one cluster may differ by rounding.

        0 if they are not in one cluster, or if its members have no shifts.
        """
        node: cython.Py_ssize_t = self.node_of[i, k]
        other: cython.Py_ssize_t = self.node_of[j, k]

        if node == 0 or other == 0:
            return 0.0
        root: cython.Py_ssize_t = self.root(node)
        if root != self.root(other) or not self.nodes[root].resizes:
            return 0.0
        size: cython.double = abs(self.nodes[root].velocity)
        size += abs(self.nodes[node].shift) + abs(self.nodes[other].shift)
        return CLUSTER_ROUNDING * size

    def rounding_of_faces(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int
    ) -> cython.double:
        """Return the rate at which rounding alone may make the faces of two bodies close or part."""
        return rounding_of_faces(
            abs(self.path_velocity(i, k)) + abs(self.path_velocity(j, k)),
            abs(self.bodies.growth_of(i, k)) + abs(self.bodies.growth_of(j, k)),
            self.rounding(i, j, k),
        )

    # -- the forest --

    @cython.inline
    def root(self, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the root of the cluster of a node, and halve the path to it."""
        above: cython.Py_ssize_t = self.parent[node]

        while above != node:
            above = self.parent[above]
            self.parent[node] = above
            node = above
            above = self.parent[node]
        return node

    @cython.inline
    def velocity_of_member(self, node: cython.Py_ssize_t, root: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of a member of the cluster with this root."""
        return self.nodes[root].velocity + self.nodes[node].shift

    @cython.inline
    def velocity_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body on an axis, written or not."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if node == 0:
            return self.bodies.velocity_met(i, k)
        return self.velocity_of_member(node, self.root(node))

    @cython.inline
    def path_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body's path on an axis, written or not."""
        if self.node_of[i, k] == 0:
            return self.bodies.path_velocity(i, k)
        return self.velocity_of(i, k)

    def shift_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the shift of a body: its velocity less the velocity of its root."""
        return self.nodes[self.node_of[i, k]].shift

    def ensure(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a dynamic body; create one if it has none."""
        b: Bodies = self.bodies
        node: cython.Py_ssize_t = self.node_of[i, k]

        if node:
            return self.root(node)
        if self.n_free:
            self.n_free -= 1
            node = self.free[self.n_free]
        else:
            if self.n_nodes + 1 == self.capacity:
                self._make_room(2 * self.capacity)
            self.n_nodes += 1
            node = self.n_nodes
        self.live[self.n_live] = node
        self.n_live += 1
        self.node_of[i, k] = node
        self.nodes[node].body = i
        self.nodes[node].axis = k
        self.nodes[node].is_unwritten = 0
        self.nodes[node].before = b.velocity_met(i, k)
        self.nodes[node].links = 0
        self._isolate(node)
        return node

    def enter_alone(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Make a body that is in no cluster one of its own, with a velocity; it will not last."""
        node: cython.Py_ssize_t = self.ensure(i, k)

        self.nodes[node].before = velocity
        self._isolate(node)
        self.nodes[node].merged_before = 0

    def _isolate(self, node: cython.Py_ssize_t) -> cython.void:
        """Make a node a cluster of one body, with its velocity before the instant."""
        i: cython.Py_ssize_t = self.nodes[node].body
        mass: cython.double = self.bodies.mass[i]
        velocity: cython.double = self.nodes[node].before

        self.parent[node] = self.nodes[node].last = node
        self.nodes[node].size = 1
        self.nodes[node].anchor = -1
        self.nodes[node].next = self.nodes[node].next_rim = 0
        self.nodes[node].rim = self.nodes[node].last_rim = node
        self.nodes[node].is_on_rim = 1
        self.nodes[node].lasts = 0
        merged_in: cython.longlong = self.merged_in[i, self.nodes[node].axis]
        self.nodes[node].merged_before = self.first_instant <= merged_in < self.instant
        self.nodes[node].rim_of = self.instant
        self.nodes[node].velocity = velocity
        self.nodes[node].shift = 0.0
        self.nodes[node].kicks_of = 0
        self.nodes[node].resizes = self.nodes[node].is_broken = self.nodes[node].is_uneven = 0
        self._weigh_nothing(node, self.bodies.controls.rank_of(i))
        self._add_mass(node, mass)
        self.push(node, mass, velocity)

    # -- for the projection --

    def form(
        self,
        members: cython.int[::1],
        n: cython.Py_ssize_t,
        velocity: cython.double,
        anchor: cython.Py_ssize_t,
    ) -> cython.void:
        """Make a cluster of the first `n` members, which may come from several clusters.

        The contacts of members to which the velocity is new must be examined.
        """
        b: Bodies = self.bodies
        root: cython.Py_ssize_t = members[0]

        for place in range(n):
            node: cython.Py_ssize_t = members[place]
            shift: cython.double = self.nodes[node].shift
            self._isolate(node)
            self.nodes[node].resizes = (
                shift != 0.0 or b.growth_of(self.nodes[node].body, self.nodes[node].axis) != 0.0
            )
            self._shift(node, shift)
            self.nodes[node].rim = self.nodes[node].is_on_rim = 0
            self._queue_to_examine(self.nodes[node].body, self.nodes[node].axis)
            if place:
                self._append(root, node)
        self.nodes[root].resizes |= (
            anchor >= 0 and b.growth_of(anchor, self.nodes[root].axis) != 0.0
        )
        self.nodes[root].anchor = anchor
        self.nodes[root].velocity = velocity
        self._queue_to_write(root)

    @cython.inline
    def lasting_root(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body if the cluster lasts, else 0."""
        if self.n_lasting == 0:
            return 0
        root: cython.Py_ssize_t = self.root(self.node_of[i, k])
        return root if self.nodes[root].lasts else 0

    def rank_with(self, i: cython.Py_ssize_t, k: cython.int) -> cython.longlong:
        """Return the rank of the cluster of a body on an axis, or else the body's dominance."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        return self.nodes[self.root(node)].rank if node else self.bodies.controls.rank_of(i)

    @cython.inline
    def weight_in(self, root: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.double:
        """Return the mass of a body as its cluster counts it: 0 below the rank of the cluster."""
        is_counted: cython.bint = self.bodies.controls.rank_of(i) == self.nodes[root].rank

        return self.bodies.mass[i] if is_counted else 0.0

    @cython.inline
    def leaving_velocity(self, root: cython.Py_ssize_t) -> cython.double:
        """Return the velocity with which a cluster leaves the step if nothing more happens to it.

        If it lasts, this is momentum / mass, and the velocity of its path may be another one.
        """
        if not self.nodes[root].lasts:
            return self.nodes[root].velocity
        return quotient(
            self.nodes[root].momentum,
            self.nodes[root].momentum_low,
            self.nodes[root].mass,
            self.nodes[root].mass_low,
        )

    @cython.inline
    def final_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity with which a body leaves the step if nothing more happens to it."""
        root: cython.Py_ssize_t = self.lasting_root(i, k)

        if root == 0:
            return self.velocity_of(i, k)
        return self.leaving_velocity(root) + self.nodes[self.node_of[i, k]].shift

    @cython.inline
    def anchor_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the row of the anchor of the cluster of a body, or -1."""
        return self.nodes[self.root(self.node_of[i, k])].anchor

    @cython.inline
    def is_anchored(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the cluster of a body has an anchor."""
        return self.anchor_of(i, k) >= 0

    @cython.inline
    def kick_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the kick of a body, the mean of its cluster, or 0 if it is anchored; see `Gravity`."""
        root: cython.Py_ssize_t = self._uneven_root(i, k)

        if root:
            return self.nodes[root].kick
        return 0.0 if self.is_anchored(i, k) else self.gravity.kick_of(i, k)

    def fall_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the part of `kick_of` that is not damping."""
        root: cython.Py_ssize_t = self._uneven_root(i, k)

        if root:
            return self.nodes[root].fall
        return 0.0 if self.is_anchored(i, k) else self.gravity.part_of_kick(i, k, False)

    def _uneven_root(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body if its members are to share their kicks, else 0.

        Its means are found then.
        """
        if not self.any_uneven:
            return 0
        root: cython.Py_ssize_t = self.root(self.node_of[i, k])
        if not self.nodes[root].is_uneven or self.nodes[root].anchor >= 0:
            return 0
        self._find_kicks(root)
        return root

    @cython.inline
    def velocity_after(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body at this instant, without its kick."""
        return self.final_velocity(i, k) - self.kick_of(i, k)

    @cython.inline
    def is_merged(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether a body is in a cluster with others."""
        return self.nodes[self.root(self.node_of[i, k])].size > 1

    def are_one(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether two bodies are in one cluster."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        return node != 0 and self.root(node) == self.root(self.node_of[j, k])

    @cython.inline
    def at_instant(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.double:
        """Return the velocity at this instant of a body whose path has `velocity`, which may fall."""
        root: cython.Py_ssize_t = self._uneven_root(i, k)

        if root:
            return velocity + self.nodes[root].bend
        now: cython.double = self.gravity.velocity_at(i, k, velocity, self.step.now)
        return velocity if now == velocity or self.is_anchored(i, k) else now

    @cython.inline
    def velocity_now(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity with which others meet a body at this instant, written or not.

        `velocity_of` is the mean of the path that follows, from which gravity makes it differ.
        """
        return self.at_instant(i, k, self.velocity_of(i, k))

    def split_path(self, i: cython.Py_ssize_t, k: cython.int, damping: cython.int) -> cython.bint:
        """Start the chord of a body at this instant, as `Gravity.split`; return whether it bends."""
        if self.gravity.is_split(i, k, self.step.now, damping) or self.lasting_root(i, k):
            return False
        before: cython.double = self.velocity_of(i, k)
        now: cython.double = self.at_instant(i, k, before)
        velocity: cython.double = self.gravity.split(i, k, now, self.step.now, damping)
        if velocity == before:
            self.nodes[self.root(self.node_of[i, k])].kicks_of = 0
            return False
        self.turn_alone(i, k, velocity)
        self.gravity.note_split(i, k, velocity)
        return True

    def push(
        self, root: cython.Py_ssize_t, mass: cython.double, velocity: cython.double
    ) -> cython.void:
        """Add mass · velocity to the momentum of a cluster, which keeps its path."""
        momentum: cython.double = mass * velocity

        self.nodes[root].momentum_low += error_of_product(mass, velocity, momentum)
        self._add_momentum(root, momentum)

    def _add_momentum(self, root: cython.Py_ssize_t, momentum: cython.double) -> cython.void:
        """Add to the momentum of a cluster, in twice the precision."""
        total: cython.double = self.nodes[root].momentum + momentum

        self.nodes[root].momentum_low += error_of_sum(self.nodes[root].momentum, momentum, total)
        self.nodes[root].momentum = total

    def _add_mass(self, root: cython.Py_ssize_t, mass: cython.double) -> cython.void:
        """Add to the mass of a cluster, in twice the precision."""
        total: cython.double = self.nodes[root].mass + mass

        self.nodes[root].mass_low += error_of_sum(self.nodes[root].mass, mass, total)
        self.nodes[root].mass = total

    def leave(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Remove a body and its share of the momentum from its cluster."""
        root: cython.Py_ssize_t = self.root(self.node_of[i, k])
        velocity: cython.double = self.leaving_velocity(root)
        is_uneven: cython.bint = self._uneven_root(i, k) != 0
        bend: cython.double = self.nodes[root].bend

        self.node_of[i, k] = 0  # its node stays in the tree, without a body
        self.nodes[root].kicks_of = 0
        self.nodes[root].size -= 1
        self.nodes[root].is_broken = 1
        if self.nodes[root].rank != self.bodies.controls.rank_of(i):
            return
        if self.bodies.controls.any_rank:
            self._weigh_anew(root)
        else:
            self._add_mass(root, -self.bodies.mass[i])
        self.nodes[root].momentum = 0.0
        self.nodes[root].momentum_low = self.nodes[root].mass_low * velocity
        self.push(root, self.nodes[root].mass, velocity)
        if is_uneven and self.nodes[root].size:  # those that stay share their own kicks alone
            self._find_kicks(root)
            self.turn_all(root, bend - self.nodes[root].bend, 0.0)

    def dissolve(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """End the cluster of a body if it cannot part; return whether it has.  O(members).

        For the rest of the instant, the velocities of its members count as those before it.
        """
        root: cython.Py_ssize_t = self.root(self.node_of[i, k])
        node: cython.Py_ssize_t = root

        if not (self.nodes[root].lasts or self.nodes[root].is_broken):
            return False
        self.even_out(i, k)
        self.nodes[root].lasts = 0
        while node:
            i = self.nodes[node].body
            if self.node_of[i, k] == node:
                self._note_merge(node)
                self.write_axis(i, k)
                self.node_of[i, k] = 0
            node = self.nodes[node].next
        return True

    def _weigh_anew(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the rank and the mass of a cluster from its members."""
        b: Bodies = self.bodies
        node: cython.Py_ssize_t = root
        is_first: cython.bint = True

        while node:
            i: cython.Py_ssize_t = self.nodes[node].body
            if self.node_of[i, self.nodes[node].axis] == node:
                if is_first or b.controls.rank[i] > self.nodes[root].rank:
                    is_first = False
                    self._weigh_nothing(root, b.controls.rank[i])
                self._add_mass(root, self.weight_in(root, i))
            node = self.nodes[node].next

    def merge(
        self, one: cython.Py_ssize_t, other: cython.Py_ssize_t, anchor: cython.Py_ssize_t
    ) -> cython.void:
        """Merge two clusters by their roots, which may be the same, and give them one velocity.

        With an `anchor`, a row or -1 for none, it is `anchor_velocity`.  Otherwise it is the
        velocity of the cluster of higher rank, of the heavier one if they last, or their mean.
        """
        higher: cython.Py_ssize_t = one if self.nodes[one].rank >= self.nodes[other].rank else other
        lasts: cython.bint = False

        self.n_merges += 1
        if anchor >= 0:
            velocity: cython.double = self.anchor_velocity
        elif self.nodes[one].rank != self.nodes[other].rank:
            lasts = self.nodes[higher].lasts
            velocity = self.nodes[higher].velocity
        elif self.nodes[one].merged_before or self.nodes[other].merged_before:
            lasts = True
            velocity = self._leading_velocity(one, other)
        elif self.nodes[one].velocity == self.nodes[other].velocity:
            velocity = self.nodes[one].velocity
        else:
            velocity = self._mean(one, other)
        self._set_velocity(one, velocity)
        if one != other:
            self._set_velocity(other, velocity)
            if self.nodes[one].size < self.nodes[other].size:
                one, other = other, one
            self._append(one, other)
        self.nodes[one].anchor = anchor
        if lasts and not self.nodes[one].lasts:
            self.nodes[one].lasts = 1
            self.n_lasting += 1

    def _append(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Move all members of cluster `other` into cluster `one`."""
        self.parent[other] = one
        self.nodes[one].size += self.nodes[other].size
        self.nodes[one].rim_of = min(self.nodes[one].rim_of, self.nodes[other].rim_of)
        self.nodes[one].resizes |= self.nodes[other].resizes
        self.nodes[one].is_broken |= self.nodes[other].is_broken
        self.nodes[one].is_uneven |= self.nodes[other].is_uneven
        if self.gravity.is_on:
            self._compare_kicks(one, other)
        self._weigh_with(one, other)
        self.nodes[self.nodes[one].last].next = other
        self.nodes[one].last = self.nodes[other].last
        if self.nodes[other].rim:
            self._append_rim(one, self.nodes[other].rim, self.nodes[other].last_rim)

    def _compare_kicks(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Note whether the kicks of a cluster and of one that is about to join it differ."""
        if self.nodes[one].anchor >= 0 or self.nodes[other].anchor >= 0:
            return
        self._find_kicks(one)
        self._find_kicks(other)
        self.nodes[one].is_uneven |= self.nodes[one].kick != self.nodes[other].kick
        self.any_uneven |= self.nodes[one].is_uneven

    def shift_by(self, root: cython.Py_ssize_t, shift: cython.double) -> cython.void:
        """Add to the shifts of all members of a cluster, which then resizes."""
        self.nodes[root].resizes = 1
        self._shift(root, shift)

    def _shift(self, root: cython.Py_ssize_t, shift: cython.double) -> cython.void:
        """Add to the shifts of all members of a cluster and keep their velocities.  O(members)."""
        node: cython.Py_ssize_t = root

        if shift == 0.0:
            return
        self.nodes[root].velocity -= shift
        self.push(root, -self.nodes[root].mass, shift)
        self.nodes[root].momentum_low -= self.nodes[root].mass_low * shift
        while node:
            self.nodes[node].shift += shift
            node = self.nodes[node].next

    def _weigh_nothing(self, root: cython.Py_ssize_t, rank: cython.longlong) -> cython.void:
        """Give a cluster a rank of which it has no members yet."""
        self.nodes[root].rank = rank
        self.nodes[root].mass = self.nodes[root].mass_low = 0.0
        self.nodes[root].momentum = self.nodes[root].momentum_low = 0.0

    def _weigh_with(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Add the mass and momentum of the second of two clusters to the first, by their ranks."""
        if self.nodes[one].rank > self.nodes[other].rank:
            return
        if self.nodes[one].rank < self.nodes[other].rank:
            self._weigh_nothing(one, self.nodes[other].rank)
            self.nodes[one].merged_before = 0
        self.nodes[one].merged_before |= self.nodes[other].merged_before
        self.nodes[one].mass_low += self.nodes[other].mass_low
        self._add_mass(one, self.nodes[other].mass)
        self.nodes[one].momentum_low += self.nodes[other].momentum_low
        self._add_momentum(one, self.nodes[other].momentum)
        self._mix_kicks(
            one,
            self.nodes[other].mass,
            self.nodes[one].mass,
            self.nodes[other].kick,
            self.nodes[other].fall,
            self.nodes[other].bend,
        )

    def _leading_velocity(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of the path of two clusters that merge and last.

        The first rule that tells the two apart decides:

        1. The heavier cluster keeps its velocity.
        2. If faces grow, the result is the mean.
        3. The slower cluster keeps its velocity; of equal speeds, the result is the mean.
        """
        v1: cython.double = self.nodes[one].velocity
        v2: cython.double = self.nodes[other].velocity
        lead: cython.double = self.nodes[one].mass - self.nodes[other].mass

        lead += self.nodes[one].mass_low - self.nodes[other].mass_low
        if lead == 0.0:
            lead = abs(v2) - abs(v1)
            grow: cython.bint = self.nodes[one].resizes or self.nodes[other].resizes
            if grow or abs(lead) <= PATH_ROUNDING * abs(v1):
                return 0.5 * (v1 + v2)
        return v1 if lead >= 0.0 else v2

    def _mean(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.double:
        """Return the velocity that keeps the momentum of two clusters."""
        momentum: cython.double = self.nodes[one].momentum + self.nodes[other].momentum
        mass: cython.double = self.nodes[one].mass + self.nodes[other].mass
        low: cython.double = self.nodes[one].momentum_low + self.nodes[other].momentum_low
        low += error_of_sum(self.nodes[one].momentum, self.nodes[other].momentum, momentum)
        mass_low: cython.double = self.nodes[one].mass_low + self.nodes[other].mass_low
        mass_low += error_of_sum(self.nodes[one].mass, self.nodes[other].mass, mass)
        return quotient(momentum, low, mass, mass_low)

    def _set_velocity(self, root: cython.Py_ssize_t, velocity: cython.double) -> cython.void:
        """Give a cluster a velocity; if it is a new one, queue its rim.

        All its members are queued if the rim is from an earlier instant.
        """
        is_known: cython.bint = self.nodes[root].rim_of == self.instant
        node: cython.Py_ssize_t = self.nodes[root].rim if is_known else root

        if self.nodes[root].velocity == velocity:
            return
        while node:
            self.nodes[node].is_on_rim = 0
            self._queue_to_examine(self.nodes[node].body, self.nodes[node].axis)
            node = self.nodes[node].next_rim if is_known else self.nodes[node].next
        self.nodes[root].rim = 0
        self.nodes[root].rim_of = self.instant
        self.nodes[root].velocity = velocity
        self._queue_to_write(root)

    def _queue_to_write(self, root: cython.Py_ssize_t) -> cython.void:
        """List a cluster whose velocity must be written to its members."""
        if not self.nodes[root].is_unwritten:
            self.nodes[root].is_unwritten = 1
            self.unwritten[self.n_unwritten] = root
            self.n_unwritten += 1

    @cython.inline
    def keep_on_rim(self, node: cython.Py_ssize_t, root: cython.Py_ssize_t) -> cython.void:
        """Add a member with a contact to the outside to the rim."""
        if not self.nodes[node].is_on_rim:
            self.nodes[node].is_on_rim = 1
            self.nodes[node].next_rim = 0
            self._append_rim(root, node, node)

    def write(self) -> cython.void:
        """Write the velocities of all clusters that have changed to their bodies."""
        for n in range(self.n_unwritten):
            node: cython.Py_ssize_t = self.unwritten[n]
            root: cython.Py_ssize_t = self.root(node)
            if node != root and self.nodes[root].is_unwritten:
                continue  # its members are written with the root's
            last: cython.Py_ssize_t = self.nodes[node].last
            while True:
                if self.node_of[self.nodes[node].body, self.nodes[node].axis] == node:
                    self.bodies.turn_to(
                        self.nodes[node].body,
                        self.nodes[node].axis,
                        self.velocity_of_member(node, root),
                        self.step.now,
                    )
                if node == last:
                    break
                node = self.nodes[node].next
        for n in range(self.n_unwritten):
            self.nodes[self.unwritten[n]].is_unwritten = 0
        self.n_unwritten = 0

    def write_body(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the velocity of one body."""
        for k in range(self.bodies.dim):
            self.write_axis(i, k)

    @cython.cfunc
    @cython.inline
    def write_axis(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Write the velocity of one body on one axis."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if node:
            velocity: cython.double = self.velocity_of_member(node, self.root(node))
            if velocity != self.bodies.velocity_met(i, k):  # saves most calls
                self.bodies.turn_to(i, k, velocity, self.step.now)

    def _append_rim(
        self, root: cython.Py_ssize_t, first: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.void:
        """Append a list of members to the rim."""
        if self.nodes[root].rim:
            self.nodes[self.nodes[root].last_rim].next_rim = first
        else:
            self.nodes[root].rim = first
        self.nodes[root].last_rim = last
