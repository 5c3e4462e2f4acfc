"""Clusters: bodies that move as one along an axis, for one instant or to the end of the step.

`ImpactLoop` collects the inelastic contacts that close at an instant with `close`.  `solve` finds the
velocities that follow from all of them, and `ClosingContacts` the contacts that close because of it.
When none is left, `write` copies the velocities to the bodies before the next sweep.
`response/forest.py` has the method, and states what the velocities are.

No result depends on the ids of the bodies: contacts are taken from the fastest closing to the
slowest, and equal ones in the order of `Bodies.precedes`.

In a crowd that presses together, each later impact of a step would turn a whole cluster.  A body
is *worn* if joins turned it in an earlier instant of the step, and a cluster with a worn member that
the ground does not hold *lasts* to the end of the step once it joins another.  Of the two, the
heavier one keeps its path and only the lighter one turns.  Their momenta are added, and at the end of the step
all members get momentum / mass, the *shared* velocity.  A cluster that lasts never splits.  Only a
static, kinematic or held partner, or a cluster of a higher rank, takes a member out of it.

A held body outweighs all that are not held: it has the highest rank.

Invariants: each node that `node_of` names is in one cluster; a member that is neither fresh nor in a
changed cluster has no contact on this axis that closes and is not queued.

Node 0 is the root of a cluster without members, so a body in no cluster needs no test.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython, may_raise
from ecs_collide._kernel.arrays import BYTE, INT, LONG, grown, zeros
from ecs_collide.broadphase.pair_order import PairOrder
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.bodies import EARLIER, Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.narrowphase import SharedMotion
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.forest import CAREFUL, Edge, Forest, Node, velocity_for

CLUSTER_ROUNDING = 2.0**-48  # of the velocity and the shifts of two members of one cluster
HELD: cython.longlong = 1 << 62  # the rank of a held body


@cython.final
class Clusters(SharedMotion):
    """The clusters of a step, on all axes."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    gravity: Public[Gravity]
    forest: ReadOnly[Forest]
    # the numbers of this instant and of the first one of the step, counted over all steps
    instant: Public[cython.longlong]
    first_instant: Public[cython.longlong]
    # lasting clusters of this step, including clusters that have joined others since
    n_lasting: Public[cython.longlong]
    n_free: cython.Py_ssize_t
    n_live: cython.Py_ssize_t
    n_alone: cython.Py_ssize_t
    n_rounds: cython.Py_ssize_t  # checks in this instant that have removed edges
    # (n_rows, dim): the last instant of any step in which joins turned a body on an axis, or 0
    turned_in: cython.longlong[:, ::1]
    alone: cython.longlong[::1]  # (n_rows,): `n_alone` rows, see `turn_alone`
    is_alone: cython.schar[::1]  # (n_rows,): 1 for each of them
    node_of: cython.longlong[:, ::1]
    live: cython.int[::1]
    free: cython.int[::1]
    lasting: cython.int[::1]
    # pairs that wait for `unite`; edges: that `unite` has taken since `take_joined`; that cannot be
    # joined before all forces are known; that nothing can keep apart
    pending: ReadOnly[PairOrder]
    joined: ReadOnly[cython.int[::1]]
    conflicts: cython.int[::1]
    crushed: ReadOnly[cython.int[::1]]
    prepared: cython.int[::1]  # edges of rebounds for `reflect`
    n_prepared: cython.Py_ssize_t
    n_joined: Public[cython.Py_ssize_t]
    n_conflicts: cython.Py_ssize_t
    n_crushed: Public[cython.Py_ssize_t]

    def __init__(self, step: Step):
        bodies: Bodies = step.bodies

        self.step = step
        self.bodies = bodies
        self.pairs = step.pairs
        self.gravity = step.gravity
        self.forest = Forest()
        self.instant = self.first_instant = 1
        self.n_lasting = self.n_free = self.n_live = self.n_alone = self.n_rounds = 0
        self.n_joined = self.n_conflicts = self.n_crushed = self.n_prepared = 0
        self.turned_in = zeros(LONG, 1, bodies.dim)
        self.alone = zeros(LONG, 1)
        self.is_alone = zeros(BYTE, 1)
        self.node_of = zeros(LONG, 1, bodies.dim)
        self.live = zeros(INT, 16)
        self.free = zeros(INT, 16)
        self.lasting = zeros(INT, 16)
        self.pending = PairOrder(bodies, step.pairs)
        self.joined = zeros(INT, 16)
        self.conflicts = zeros(INT, 16)
        self.crushed = zeros(INT, 16)
        self.prepared = zeros(INT, 16)

    def set_rows(self, n_rows: cython.Py_ssize_t):
        """Make room for bodies in rows 0 to `n_rows` - 1."""
        self.node_of = grown(self.node_of, n_rows)
        self.alone = grown(self.alone, n_rows)
        self.is_alone = grown(self.is_alone, n_rows)
        self.turned_in = grown(self.turned_in, n_rows)

    def begin_step(self) -> cython.void:
        """Dissolve all clusters of the previous step, even if it was interrupted."""
        n: cython.Py_ssize_t
        nodes: cython.pointer[Node] = self.forest.nodes

        for n in range(1, self.forest.n_nodes + 1):
            self.node_of[nodes[n].body, nodes[n].axis] = 0
        for n in range(self.n_alone):
            self.is_alone[self.alone[n]] = 0
        self.forest.clear()
        self.n_lasting = self.n_free = self.n_live = self.n_alone = self.n_rounds = 0
        self.pending.clear()
        self.n_joined = self.n_conflicts = self.n_crushed = self.n_prepared = 0
        self.instant += 1
        self.first_instant = self.instant

    def end_instant(self) -> cython.void:
        """Dissolve the clusters that do not last, before a later instant; all must be written."""
        nodes: cython.pointer[Node] = self.forest.nodes
        n: cython.Py_ssize_t

        for n in range(self.n_live):
            self._note_turn(self.live[n])
        if self.gravity.is_on:
            self._share_kicks()
        for n in range(self.n_live):
            node: cython.Py_ssize_t = self.live[n]
            if nodes[nodes[node].root].lasts:
                continue
            if self.node_of[nodes[node].body, nodes[node].axis] == node:
                self.node_of[nodes[node].body, nodes[node].axis] = 0
            self.free[self.n_free] = node
            self.n_free += 1
        for n in range(self.n_alone):
            self.is_alone[self.alone[n]] = 0
        for n in range(1, self.forest.n_edges + 1):
            self.pairs.impact[self.forest.edges[n].pair].edge = 0
            nodes[self.forest.edges[n].low].edge = nodes[self.forest.edges[n].high].edge = 0
        self.forest.n_edges = self.forest.n_changed = self.forest.n_fresh = 0
        self.n_live = self.n_alone = self.n_rounds = self.n_joined = 0
        self.instant += 1

    def _note_turn(self, node: cython.Py_ssize_t) -> cython.void:
        """Update `turned_in` of the body of a node if joins have turned it in this instant.

        Anchored bodies and bodies below the rank of their cluster do not become worn.  Gravity does
        not act on an anchored body.
        """
        b: Bodies = self.bodies
        nodes: cython.pointer[Node] = self.forest.nodes
        i: cython.Py_ssize_t = nodes[node].body
        k: cython.int = nodes[node].axis
        root: cython.Py_ssize_t = nodes[node].root

        if self.node_of[i, k] != node:
            return
        if self._holds(root):
            if self.gravity.is_on:
                self.gravity.hold(i, k)
        elif (
            nodes[root].rank == nodes[node].own_rank
            and b.turned_now(i, self.step.now)
            and b.turn[i, k, EARLIER] != b.velocity[i, k]
        ):
            self.turned_in[i, k] = self.instant

    def _share_kicks(self) -> cython.void:
        """Give the members of each cluster without an anchor one kick.

        Otherwise held and falling members, or members of different `GravityScale`, would leave the
        step with different velocities although they press against each other.
        """
        nodes: cython.pointer[Node] = self.forest.nodes
        n: cython.Py_ssize_t

        for n in range(self.n_live):
            root: cython.Py_ssize_t = self.live[n]
            if (
                nodes[root].root == root
                and nodes[root].size > 1
                and not self._holds(root)
                and self._kicks_differ(root)
            ):
                self._share_kick(root)

    def _kicks_differ(self, root: cython.Py_ssize_t) -> cython.bint:
        """Return whether two members of a cluster have different kicks."""
        nodes: cython.pointer[Node] = self.forest.nodes
        k: cython.int = nodes[root].axis
        node: cython.Py_ssize_t = root
        kick: cython.double = 0.0
        is_first: cython.bint = True

        while node:
            i: cython.Py_ssize_t = nodes[node].body
            if self.node_of[i, k] == node:
                if not is_first and self.gravity.kick_of(i, k) != kick:
                    return True
                kick = self.gravity.kick_of(i, k)
                is_first = False
            node = nodes[node].next
        return False

    def _share_kick(self, root: cython.Py_ssize_t) -> cython.void:
        """Give the members of a cluster the mean of their kicks, weighted by mass."""
        nodes: cython.pointer[Node] = self.forest.nodes
        k: cython.int = nodes[root].axis
        node: cython.Py_ssize_t = root
        total: cython.double = 0.0
        mass: cython.double = 0.0

        while node:
            i: cython.Py_ssize_t = nodes[node].body
            if self.node_of[i, k] == node and nodes[node].own_rank == nodes[root].rank:
                total += self.bodies.mass[i] * self.gravity.kick_of(i, k)
                mass += self.bodies.mass[i]
            node = nodes[node].next
        node = root
        while node:
            i = nodes[node].body
            if self.node_of[i, k] == node:
                self.gravity.pull_with(i, k, total / mass, self.step.now)
            node = nodes[node].next

    def end_step(self) -> cython.void:
        """Give the members of all lasting clusters their shared velocity."""
        n: cython.Py_ssize_t

        for n in range(self.n_lasting):
            root: cython.Py_ssize_t = self.lasting[n]
            if self.forest.nodes[root].root == root and self.forest.nodes[root].size != 0:
                self._share(root)

    def _share(self, root: cython.Py_ssize_t) -> cython.void:
        """Give the members of a lasting cluster their shared velocity."""
        b: Bodies = self.bodies
        nodes: cython.pointer[Node] = self.forest.nodes
        k: cython.int = nodes[root].axis
        node: cython.Py_ssize_t = root
        shared: cython.double = self.shared_velocity(root)

        while node:
            i: cython.Py_ssize_t = nodes[node].body
            velocity: cython.double = shared + nodes[node].shift
            if self.node_of[i, k] == node and b.velocity[i, k] != velocity:
                b.mark(i)
                b.interrupt_rest(i)
                b.velocity[i, k] = velocity + 0.0
                b.motion[i, k] = velocity * b.dt + 0.0
            node = nodes[node].next

    # -- the contacts of an instant --

    @may_raise
    def close(
        self,
        p: cython.Py_ssize_t,
        event: cython.Py_ssize_t,
        first_joins: cython.bint,
        second_joins: cython.bint,
        is_plain: cython.bint,
    ) -> cython.void:
        """Collect the inelastic impact of a pair for `unite`.

        A body that does not join is a wall.  `event` is the row of the impact in the event buffer.
        A plain impact has no effect along the surface.
        """
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis
        growth: cython.double = b.growth[i, k] + b.growth[j, k]
        low: cython.Py_ssize_t = self.ensure(i, k) if first_joins else 0
        high: cython.Py_ssize_t = self.ensure(j, k) if second_joins else 0
        wall: cython.Py_ssize_t = j if first_joins else i

        if self.pairs.impact[p].sign > 0:  # the normal points from the second body to the first
            low, high = high, low
        if low == 0 or high == 0:
            growth = b.velocity[wall, k] + (growth if low == 0 else -growth)
        else:
            wall = -1
        e: cython.Py_ssize_t = self._add_edge(p, low, high, growth)
        self.forest.edges[e].event = event
        self.forest.edges[e].wall = wall
        self.forest.edges[e].speed = self.pairs.impact[p].speed
        self.forest.edges[e].is_plain = is_plain
        self.forest.edges[e].before = self.final_velocity(i, k)
        self.forest.edges[e].before2 = self.final_velocity(j, k)
        if self.gravity.is_on:
            self.forest.edges[e].kick = self.kick_of(i, k)
            self.forest.edges[e].kick2 = self.kick_of(j, k)
        self._wait(e)

    @may_raise
    def _add_edge(
        self,
        p: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        offset: cython.double,
    ) -> cython.Py_ssize_t:
        """Add the edge of a pair; return its number."""
        e: cython.Py_ssize_t = self.forest.add_edge(low, high, offset)

        self.forest.edges[e].pair = p
        self.forest.edges[e].speed = self.pairs.impact[p].speed
        self.pairs.impact[p].edge = e
        return e

    @may_raise
    def prepare(self, p: cython.Py_ssize_t, event: cython.Py_ssize_t) -> cython.void:
        """Collect a rebound for `reflect`; its bodies leave their clusters.

        They are dynamic, of one rank, and neither of them resizes.
        """
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        k: cython.int = self.pairs.impact[p].axis

        if self.n_prepared == self.prepared.shape[0]:
            self.prepared = grown(self.prepared, 2 * self.n_prepared)
        self.remove_from_former(i, k)
        self.remove_from_former(j, k)
        low: cython.Py_ssize_t = self.ensure(i, k)
        high: cython.Py_ssize_t = self.ensure(j, k)
        if self.pairs.impact[p].sign > 0:
            low, high = high, low
        e: cython.Py_ssize_t = self._add_edge(p, low, high, 0.0)
        self.forest.edges[e].event = event
        self.prepared[self.n_prepared] = e
        self.n_prepared += 1

    def remove_from_former(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Remove a body from its cluster, unless `prepare` has made that for it."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if node and not self.forest.nodes[node].is_reflected:
            self._dissolve(node)
            node = 0
        if node == 0:
            self.forest.nodes[self.ensure(i, k)].is_reflected = 1

    def reflect(self, restitution: cython.double) -> cython.void:
        """Reflect the bodies of all prepared rebounds at the mean of their velocities."""
        f: Forest = self.forest
        n: cython.Py_ssize_t

        for n in range(self.n_prepared):
            if f.can_link(self.prepared[n]):
                f.link(self.prepared[n])
        root: cython.Py_ssize_t = f.nodes[f.edges[self.prepared[0]].low].root
        f.find_forces(root)
        for n in range(self.n_prepared):
            e: cython.Py_ssize_t = self.prepared[n]
            f.edges[e].has_pushed = f.edges[e].is_active
            f.edges[e].impulse = (1.0 + restitution) * max(f.edges[e].trial, 0.0)
            f.edges[e].is_over = 1
            f.edges[e].is_active = 0
            self.pairs.impact[f.edges[e].pair].edge = 0
        self.n_prepared = 0
        mean: cython.double = f.nodes[root].velocity
        node: cython.Py_ssize_t = root
        while node:
            self.node_of[f.nodes[node].body, f.nodes[node].axis] = 0
            self.turn_alone(
                f.nodes[node].body, f.nodes[node].axis,
                mean + restitution * (mean - f.nodes[node].before),
            )  # fmt: skip
            node = f.nodes[node].next

    def is_collected(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the impact of a pair was collected at this instant."""
        return self.pairs.impact[p].edge != 0

    def forget_event(self, p: cython.Py_ssize_t) -> cython.void:
        """Do not report the impulse of a pair at this instant; its event has one already."""
        e: cython.Py_ssize_t = self.pairs.impact[p].edge

        if e:
            self.forest.edges[e].event = -1

    @may_raise
    def _wait(self, e: cython.Py_ssize_t) -> cython.void:
        """Add an edge to those that wait for `unite`."""
        self.forest.edges[e].is_pending = 1
        self.pending.add(self.forest.edges[e].pair, -self.forest.edges[e].speed)

    @may_raise
    def wait_again(self, p: cython.Py_ssize_t) -> cython.void:
        """Let the contact of a pair that was collected wait again, if it closes and does not push."""
        f: Forest = self.forest
        e: cython.Py_ssize_t = self.pairs.impact[p].edge

        if not (f.edges[e].is_active or f.edges[e].is_over or f.edges[e].is_pending) and (
            f.closes(e)
        ):
            self._wait(e)

    @may_raise
    def solve(self) -> cython.void:
        """Find the velocities that follow from all contacts collected at this instant."""
        while self.pending.n:
            is_careful: cython.bint = self.n_rounds >= CAREFUL
            has_changed: cython.bint = is_careful and self._check()
            self._unite(is_careful)
            has_changed |= self._check()
            if has_changed or is_careful:
                self._reopen()

    @may_raise
    def _reopen(self) -> cython.void:
        """Let the edges wait again that were removed and close now."""
        f: Forest = self.forest
        e: cython.Py_ssize_t

        for e in range(1, f.n_edges + 1):
            if not (f.edges[e].is_active or f.edges[e].is_over or f.edges[e].is_pending) and (
                f.closes(e)
            ):
                self._wait(e)

    @may_raise
    def _unite(self, is_careful: cython.bint) -> cython.void:
        """Join the clusters of all contacts that wait and still close."""
        f: Forest = self.forest
        n: cython.Py_ssize_t

        self._make_room()
        self.pending.sort()
        for n in range(self.pending.n):
            e: cython.Py_ssize_t = self.pairs.impact[self.pending.pairs[n]].edge
            if e == 0:  # a body has left its cluster since
                continue
            f.edges[e].is_pending = 0
            self.joined[self.n_joined] = e
            self.n_joined += 1
            if not f.closes(e) or self._joins_lasting(e):
                continue
            if is_careful:
                if not f.pivot(e):
                    self._crush(e)
            elif f.can_link(e):
                f.link(e)
            else:
                self.conflicts[self.n_conflicts] = e
                self.n_conflicts += 1
        self.pending.clear()

    @may_raise
    def _make_room(self) -> cython.void:
        """Make room in the lists of edges."""
        most: cython.Py_ssize_t = self.n_joined + self.pending.n
        room: cython.Py_ssize_t = self.joined.shape[0]

        if most > room:
            self.joined = grown(self.joined, 2 * most)
        most = self.n_conflicts + self.pending.n
        if most > self.conflicts.shape[0]:
            self.conflicts = grown(self.conflicts, 2 * most)
        most = self.n_crushed + self.n_conflicts + self.pending.n
        if most > self.crushed.shape[0]:
            self.crushed = grown(self.crushed, 2 * most)

    def _crush(self, e: cython.Py_ssize_t) -> cython.void:
        """Note that nothing can keep the bodies of an edge apart, and leave it out of the graph."""
        self.forest.edges[e].is_over = 1
        self.crushed[self.n_crushed] = e
        self.n_crushed += 1

    @may_raise
    def _check(self) -> cython.bint:
        """Separate bodies that do not press on each other; return whether a velocity has changed.

        Contacts that `unite` could not join are joined now, or listed in `crushed`.
        """
        f: Forest = self.forest
        n: cython.Py_ssize_t
        has_changed: cython.bint = f.check()

        self.n_rounds += has_changed
        for n in range(self.n_conflicts):
            e: cython.Py_ssize_t = self.conflicts[n]
            if f.edges[e].is_over or f.edges[e].is_active or not f.closes(e):
                continue
            self._take_out(f.edges[e].low)
            self._take_out(f.edges[e].high)
            if f.pivot(e):
                has_changed = True
            else:
                self._crush(e)
        self.n_conflicts = 0
        return has_changed

    # -- clusters that last --

    @may_raise
    def _joins_lasting(self, e: cython.Py_ssize_t) -> cython.bint:
        """Join two clusters that last from now on; return False if they do not last.

        A partner that outweighs a lasting cluster takes the body out of it instead.
        """
        nodes: cython.pointer[Node] = self.forest.nodes
        low: cython.Py_ssize_t = self.forest.edges[e].low
        high: cython.Py_ssize_t = self.forest.edges[e].high

        if self.n_lasting:
            if low and self._leaves(low, high):
                low = self._take_out(low)
                self.forest.edges[e].low = low
            elif high and self._leaves(high, low):
                high = self._take_out(high)
                self.forest.edges[e].high = high
            nodes = self.forest.nodes  # there may be more of them now
        if low == 0 or high == 0:
            return False
        one: cython.Py_ssize_t = nodes[low].root
        other: cython.Py_ssize_t = nodes[high].root
        if one == other or nodes[one].wall or nodes[other].wall:
            return False
        if nodes[one].rank != nodes[other].rank:
            leader: cython.Py_ssize_t = one if nodes[one].rank > nodes[other].rank else other
            if not nodes[leader].lasts:
                return False
        elif self._persists(one) or self._persists(other):
            leader = one if self._leads(one, other) else other
        else:
            return False
        self._join_to_last(e, one, other, leader)
        return True

    def _join_to_last(
        self,
        e: cython.Py_ssize_t,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        leader: cython.Py_ssize_t,
    ) -> cython.void:
        """Join the clusters of an edge, of which `leader` keeps its path."""
        f: Forest = self.forest
        nodes: cython.pointer[Node] = f.nodes
        shift: cython.double = nodes[f.edges[e].low].shift + f.edges[e].offset
        mass: cython.double = nodes[one].mass
        mass2: cython.double = nodes[other].mass
        apart: cython.double = self.leaving_velocity(one) - self.leaving_velocity(other)

        shift -= nodes[f.edges[e].high].shift
        apart += shift
        if nodes[one].rank == nodes[other].rank:
            mass = mass * (mass2 / (mass + mass2))
        elif leader == one:
            mass = mass2
        f.edges[e].impulse += mass * abs(apart)
        f.edges[e].has_pushed = 1
        velocity: cython.double = nodes[leader].velocity
        f.n_links += 1
        root: cython.Py_ssize_t = f.join(
            one, other, shift,
            velocity if leader == one else velocity - shift,
            velocity if leader == other else velocity + shift,
        )  # fmt: skip
        if not nodes[root].lasts:
            nodes[root].lasts = 1
            if self.n_lasting == self.lasting.shape[0]:
                self.lasting = grown(self.lasting, 2 * self.n_lasting)
            self.lasting[self.n_lasting] = root
            self.n_lasting += 1

    def _leaves(self, node: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether a node leaves its lasting cluster for another node or the ground."""
        nodes: cython.pointer[Node] = self.forest.nodes
        root: cython.Py_ssize_t = nodes[node].root

        if not nodes[root].lasts:
            return False
        if other == 0 or nodes[nodes[other].root].wall:
            return True
        return nodes[nodes[other].root].rank > nodes[root].rank

    @may_raise
    def _take_out(self, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Take a body out of a cluster that lasts; return its new node, or the old one."""
        nodes: cython.pointer[Node] = self.forest.nodes

        if node == 0 or not nodes[nodes[node].root].lasts:
            return node
        i: cython.Py_ssize_t = nodes[node].body
        k: cython.int = nodes[node].axis
        before: cython.double = self.final_velocity(i, k)
        self.write_axis(i, k)
        self.leave(i, k)
        taken: cython.Py_ssize_t = self.ensure(i, k)
        nodes = self.forest.nodes
        self.forest.add_node(
            taken, nodes[taken].own_mass, nodes[taken].velocity, before, nodes[taken].own_rank,
            False,
        )  # fmt: skip
        nodes[taken].is_row = 0  # its path and its momentum differ, so its forces must be checked
        self._move_edges(node, taken)
        return taken

    def _move_edges(self, node: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Give the edges of a node to another one."""
        edges: cython.pointer[Edge] = self.forest.edges
        e: cython.Py_ssize_t = self.forest.nodes[node].edge

        self.forest.nodes[to].edge = e
        self.forest.nodes[node].edge = 0
        while e:
            edges[e].is_active = 0
            if edges[e].low == node:
                edges[e].low = to
                e = edges[e].next_of_low
            else:
                edges[e].high = to
                e = edges[e].next_of_high

    def leave(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Remove a body and its share of the momentum from a cluster that lasts."""
        nodes: cython.pointer[Node] = self.forest.nodes
        node: cython.Py_ssize_t = self.node_of[i, k]
        root: cython.Py_ssize_t = nodes[node].root
        velocity: cython.double = self.shared_velocity(root)

        self.node_of[i, k] = 0  # its node stays in the list, without a body
        nodes[root].size -= 1
        if nodes[root].rank != nodes[node].own_rank:
            return
        nodes[root].n_ranked -= 1
        if nodes[root].n_ranked == 0 and nodes[root].size != 0:
            self._weigh_again(root)
        else:
            self.forest.add_mass(root, -nodes[node].own_mass)
        nodes[root].momentum = nodes[root].momentum_low = 0.0
        self.forest.push(root, nodes[root].mass, velocity)
        nodes[root].momentum_low += nodes[root].mass_low * velocity

    def _weigh_again(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the new rank and mass of a cluster that has lost the last member of its rank."""
        nodes: cython.pointer[Node] = self.forest.nodes
        node: cython.Py_ssize_t = root
        is_first: cython.bint = True

        while node:
            if self.node_of[nodes[node].body, nodes[node].axis] == node:
                if is_first or nodes[node].own_rank > nodes[root].rank:
                    is_first = False
                    nodes[root].rank = nodes[node].own_rank
                    nodes[root].n_ranked = 0
                    nodes[root].mass = nodes[root].mass_low = 0.0
                if nodes[node].own_rank == nodes[root].rank:
                    nodes[root].n_ranked += 1
                    self.forest.add_mass(root, nodes[node].own_mass)
            node = nodes[node].next

    def _persists(self, root: cython.Py_ssize_t) -> cython.bint:
        """Return whether a cluster lasts or has a worn member."""
        return self.forest.nodes[root].lasts or self.forest.nodes[root].is_worn

    def _leads(self, one: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether the first of two clusters keeps its path when they join and last."""
        nodes: cython.pointer[Node] = self.forest.nodes
        heavier: cython.double = nodes[one].mass - nodes[other].mass

        heavier += nodes[one].mass_low - nodes[other].mass_low
        if heavier != 0.0:
            return heavier > 0.0
        if self._persists(one) != self._persists(other):
            return self._persists(one)
        return self.bodies.precedes(self._foremost(one), self._foremost(other))

    def _foremost(self, root: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the member of a cluster's rank that precedes the others.  O(members)."""
        nodes: cython.pointer[Node] = self.forest.nodes
        node: cython.Py_ssize_t = root
        foremost: cython.Py_ssize_t = -1

        while node:
            i: cython.Py_ssize_t = nodes[node].body
            if (
                self.node_of[i, nodes[node].axis] == node
                and nodes[node].own_rank == nodes[root].rank
                and (foremost < 0 or self.bodies.precedes(i, foremost))
            ):
                foremost = i
            node = nodes[node].next
        return foremost

    # -- what has changed --

    def has_changed(self) -> cython.bint:
        """Return whether contacts of members, or of bodies that turned alone, must be examined."""
        return self.forest.n_fresh > 0 or self.forest.n_changed > 0 or self.n_alone > 0

    def pop_fresh(self) -> cython.Py_ssize_t:
        """Return a node whose contacts must be examined, or 0."""
        f: Forest = self.forest

        while f.n_fresh:
            f.n_fresh -= 1
            node: cython.Py_ssize_t = f.fresh[f.n_fresh]
            f.nodes[node].is_fresh = 0
            if self.node_of[f.nodes[node].body, f.nodes[node].axis] == node:
                return node
        return 0

    def pop_changed(self) -> cython.Py_ssize_t:
        """Return the root of a cluster whose members must be examined, or 0."""
        f: Forest = self.forest

        while f.n_changed:
            f.n_changed -= 1
            node: cython.Py_ssize_t = f.changed[f.n_changed]
            f.nodes[node].is_changed = 0
            if f.nodes[node].root == node:
                return node
        return 0

    def turn_alone(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give one body a velocity and remove it from its cluster."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if self.lasting_root(i, k):
            self.leave(i, k)
            self._end_edges(node)
        elif self.velocity_of(i, k) == velocity:
            return
        elif node:
            self._dissolve(node)
        self.bodies.turn_to(i, k, velocity, self.step.now)
        if not self.is_alone[i]:
            self.is_alone[i] = 1
            self.alone[self.n_alone] = i
            self.n_alone += 1

    def remove(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Remove a body from its cluster, if it is in one."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if self.lasting_root(i, k):
            self.leave(i, k)
            self._end_edges(node)
        elif node:
            self._dissolve(node)

    def _dissolve(self, node: cython.Py_ssize_t) -> cython.void:
        """Dissolve the cluster of a node within the instant; its members keep their velocities.

        Gravity does not act on members that were anchored.  A contact that closes after that
        is a new one.
        """
        f: Forest = self.forest
        nodes: cython.pointer[Node] = f.nodes
        leaving: cython.Py_ssize_t = node
        k: cython.int = nodes[node].axis

        f.check()
        root: cython.Py_ssize_t = nodes[node].root
        holds: cython.bint = self._holds(root)
        self.find_impulses()
        node = root
        while node:
            i: cython.Py_ssize_t = nodes[node].body
            self.bodies.turn_to(i, k, f.velocity_of(node), self.step.now)
            if holds and self.gravity.is_on and node != leaving:
                self.gravity.hold(i, k)
            self._end_edges(node)
            self.node_of[i, k] = 0
            node = nodes[node].next

    def _end_edges(self, node: cython.Py_ssize_t) -> cython.void:
        """Take the edges of a node out of the graph."""
        edges: cython.pointer[Edge] = self.forest.edges
        e: cython.Py_ssize_t = self.forest.nodes[node].edge

        while e:
            edges[e].is_active = 0
            edges[e].is_over = 1
            self.pairs.impact[edges[e].pair].edge = 0
            e = edges[e].next_of_low if edges[e].low == node else edges[e].next_of_high

    def find_impulses(self) -> cython.void:
        """Find the impulses of all contacts of this instant, as far as they are known."""
        n: cython.Py_ssize_t
        nodes: cython.pointer[Node] = self.forest.nodes

        for n in range(self.n_live):
            root: cython.Py_ssize_t = self.live[n]
            if nodes[root].root == root and nodes[root].is_row and not nodes[root].lasts and (
                nodes[root].size > 1 or nodes[root].wall
            ):
                self.forest.find_row_forces(root)
        for n in range(1, self.forest.n_edges + 1):
            if self.forest.edges[n].is_active:
                self.forest.edges[n].impulse = self.forest.edges[n].force
                self.forest.edges[n].has_pushed = 1
        if self.gravity.is_on:
            for n in range(self.n_live):
                if self.forest.nodes[self.live[n]].root == self.live[n]:
                    self._find_impulses(self.live[n])

    def _find_impulses(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the impulses in a cluster: the forces, and what gravity adds to the end of the step."""
        f: Forest = self.forest
        nodes: cython.pointer[Node] = f.nodes
        node: cython.Py_ssize_t = root
        falls: cython.bint = False

        if not self.gravity.is_on or nodes[root].lasts:
            return
        while node:
            if self.node_of[nodes[node].body, nodes[node].axis] != node:
                return
            nodes[node].old = self.gravity.kick_of(nodes[node].body, nodes[node].axis)
            nodes[node].before += nodes[node].old
            falls |= nodes[node].old != 0.0
            node = nodes[node].next
        if falls:
            f.find_impulses(root)
        node = root
        while node:
            nodes[node].before -= nodes[node].old
            node = nodes[node].next

    def turn_freely(
        self, i: cython.Py_ssize_t, k: cython.int, velocity: cython.double
    ) -> cython.void:
        """Give one body the velocity of a resolution at this instant, plus its kick.

        An anchored body has no kick; once it leaves its anchor, gravity acts on it again.
        """
        if self.gravity.is_on and self.is_anchored(i, k) and velocity != self.velocity_of(i, k):
            velocity += self.gravity.kick_of(i, k)
        self.turn_alone(i, k, velocity)

    def pop_alone(self) -> cython.Py_ssize_t:
        """Return a body that turned alone and was not examined yet, or -1."""
        if self.n_alone == 0:
            return -1
        self.n_alone -= 1
        self.is_alone[self.alone[self.n_alone]] = 0
        return self.alone[self.n_alone]

    # -- for the narrowphase --

    def rounding(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return how much the velocities of two members of one cluster may differ by rounding.

        0 if they are not in one cluster, or if its members have no shifts.
        """
        f: Forest = self.forest
        node: cython.Py_ssize_t = self.node_of[i, k]
        other: cython.Py_ssize_t = self.node_of[j, k]

        if not f.any_shift or node == 0 or other == 0:
            return 0.0
        root: cython.Py_ssize_t = f.nodes[node].root
        if root != f.nodes[other].root or not f.nodes[root].has_shift:
            return 0.0
        size: cython.double = abs(f.nodes[root].velocity)
        size += abs(f.nodes[node].shift) + abs(f.nodes[other].shift)
        return CLUSTER_ROUNDING * size

    # -- bodies and their nodes --

    @cython.cfunc
    @cython.inline
    def root_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body, or 0."""
        return self.forest.nodes[self.node_of[i, k]].root

    def velocity_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body on an axis, written or not."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        return self.forest.velocity_of(node) if node else self.bodies.velocity[i, k]

    @may_raise
    def ensure(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the node of a dynamic body; create one if it has none."""
        b: Bodies = self.bodies
        node: cython.Py_ssize_t = self.node_of[i, k]
        velocity: cython.double = b.velocity[i, k]

        if node:
            return node
        if self.n_free:
            self.n_free -= 1
            node = self.free[self.n_free]
        node = self.forest.add_node(
            node, b.mass[i], velocity, velocity, self._rank_of(i),
            self.turned_in[i, k] >= self.first_instant,
        )  # fmt: skip
        if node >= self.live.shape[0] or self.n_live == self.live.shape[0]:
            self.live = grown(self.live, 2 * node)
            self.free = grown(self.free, 2 * node)
        self.live[self.n_live] = node
        self.n_live += 1
        self.node_of[i, k] = node
        self.forest.nodes[node].body = i
        self.forest.nodes[node].axis = k
        return node

    @cython.cfunc
    @cython.inline
    def _rank_of(self, i: cython.Py_ssize_t) -> cython.longlong:
        """Return the rank of a body: its dominance, or `HELD`."""
        return HELD if self.bodies.on_hold[i] else self.bodies.controls.rank_of(i)

    def lasting_root(self, i: cython.Py_ssize_t, k: cython.int) -> cython.Py_ssize_t:
        """Return the root of the cluster of a body if the cluster lasts, else 0."""
        if self.n_lasting == 0:
            return 0
        root: cython.Py_ssize_t = self.root_of(i, k)
        return root if self.forest.nodes[root].lasts else 0

    def rank_with(self, i: cython.Py_ssize_t, k: cython.int) -> cython.longlong:
        """Return the rank of the cluster of a body on an axis, or else the body's."""
        root: cython.Py_ssize_t = self.root_of(i, k)

        return self.forest.nodes[root].rank if root else self._rank_of(i)

    def shared_velocity(self, root: cython.Py_ssize_t) -> cython.double:
        """Return momentum / mass of a cluster; the velocity of its path may be another one."""
        nodes: cython.pointer[Node] = self.forest.nodes

        return velocity_for(
            nodes[root].momentum, nodes[root].momentum_low, nodes[root].mass, nodes[root].mass_low
        )

    def leaving_velocity(self, root: cython.Py_ssize_t) -> cython.double:
        """Return the velocity with which a cluster leaves the step if nothing more happens to it."""
        if self.forest.nodes[root].lasts:
            return self.shared_velocity(root)
        return self.forest.nodes[root].velocity

    def final_velocity(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity with which a body leaves the step if nothing more happens to it."""
        root: cython.Py_ssize_t = self.lasting_root(i, k)

        if root == 0:
            return self.bodies.velocity[i, k]
        return self.shared_velocity(root) + self.forest.nodes[self.node_of[i, k]].shift

    def is_anchored(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the ground or a held body holds the cluster of a body."""
        return self._holds(self.root_of(i, k))

    def is_driven(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Return whether the ground holds the cluster of a body."""
        return self.forest.nodes[self.root_of(i, k)].wall != 0

    @cython.cfunc
    @cython.inline
    def _holds(self, root: cython.Py_ssize_t) -> cython.bint:
        """Return whether the ground or a held body holds a cluster."""
        return self.forest.nodes[root].wall != 0 or self.forest.nodes[root].rank == HELD

    def solid_of(self, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the row of the static or kinematic body that holds a node's cluster, or -1."""
        wall: cython.Py_ssize_t = self.forest.nodes[self.forest.nodes[node].root].wall

        return self.forest.edges[wall].wall if node and wall else -1

    def kick_of(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the kick of a body, 0 if it is anchored; see `Gravity`."""
        if not self.gravity.acts_on(i) or self.is_anchored(i, k):
            return 0.0
        return self.gravity.kick[i, k]

    def velocity_now(self, i: cython.Py_ssize_t, k: cython.int) -> cython.double:
        """Return the velocity of a body at this instant; if it falls, its path has another one."""
        velocity: cython.double = self.final_velocity(i, k)

        if not self.gravity.acts_on(i) or self.is_anchored(i, k):
            return velocity
        return self.gravity.velocity_at(i, k, velocity, self.step.now)

    def split_path(self, i: cython.Py_ssize_t, k: cython.int) -> cython.bint:
        """Start the chord of a body at this instant; return whether that bends its path."""
        if (
            not self.gravity.acts_on(i)
            or self.gravity.is_split(i, k, self.step.now)
            or self.bodies.on_hold[i]
            or self.lasting_root(i, k)
        ):
            return False
        before: cython.double = self.velocity_of(i, k)
        velocity: cython.double = self.gravity.split(i, k, before, self.step.now)
        if velocity == before:
            return False
        self.turn_alone(i, k, velocity)
        self.gravity.note_split(i, k, velocity)
        return True

    # -- writing --

    def write(self) -> cython.void:
        """Write the velocities of all clusters that have changed to their bodies."""
        f: Forest = self.forest
        n: cython.Py_ssize_t

        for n in range(f.n_unwritten):
            node: cython.Py_ssize_t = f.unwritten[n]
            f.nodes[node].is_unwritten = 0
            if f.nodes[node].root != node:
                continue  # its members are written with those of the root that it has joined
            while node:
                if self.node_of[f.nodes[node].body, f.nodes[node].axis] == node:
                    self.bodies.turn_to(
                        f.nodes[node].body, f.nodes[node].axis, f.velocity_of(node), self.step.now
                    )
                node = f.nodes[node].next
        f.n_unwritten = 0

    def write_body(self, i: cython.Py_ssize_t) -> cython.void:
        """Write the velocity of one body."""
        k: cython.int

        for k in range(self.bodies.dim):
            self.write_axis(i, k)

    @cython.cfunc
    @cython.inline
    def write_axis(self, i: cython.Py_ssize_t, k: cython.int) -> cython.void:
        """Write the velocity of one body on one axis."""
        node: cython.Py_ssize_t = self.node_of[i, k]

        if node:
            velocity: cython.double = self.forest.velocity_of(node)
            if velocity != self.bodies.velocity[i, k]:  # saves most calls
                self.bodies.turn_to(i, k, velocity, self.step.now)
