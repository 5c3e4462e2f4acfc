"""The velocities after an inelastic impact of many bodies at once, on one axis.

Bodies are the nodes of a graph, and the contacts that close at an instant are its edges.  From the
velocities v before the instant follow the velocities w that minimise

    sum of m (w - v)²    such that    w_low + offset <= w_high    for each edge,

where `low` is the body with the lower coordinate, and the offset is the speed at which the two
growing faces approach each other.  A static or kinematic body is the *ground*, node 0: its edges
bound the velocity of the other body.  The solution is unique, keeps momentum and loses the least
energy: Moreau's plastic impact, and weighted isotonic regression on the graph of contacts.

The method is non-negative least squares (Lawson and Hanson, "Solving Least Squares Problems", 1974,
chapter 23).  On a graph its active set is a forest:

    v:    2       0       1          The active edges join nodes into trees.  All nodes of a tree
        +---+   +---+   +---+        have one velocity, the mean by mass, or the one that the
        | a |-->| b |---| c |        ground demands.  The force of an edge is the momentum that one
        +---+   +---+   +---+        side of the tree has too much: here 1, then 0.
    w:    1       1       1

`link` joins two trees along an edge that closes.  `check` removes all edges that would have to pull,
which splits trees.  The two alternate until no edge closes and none pulls.  That is fast, but it may
go round in circles; after `CAREFUL` rounds of an instant, `pivot` adds one edge at a time and goes
only as far towards the new forces as none of them pulls.  The energy of the forces falls with each
pivot and a forest determines it, so no forest comes back, and the method ends.

Bodies of a higher dominance, the *rank*, outweigh all of lower ones: only the nodes of the highest
rank in a tree count in its velocity, and on each side of an edge only those of the highest rank
there count in its force.

Nodes and edges are numbered from 1; 0 is the ground, and no edge.

Invariants: each node is in the member list of its root; the active edges between nodes join exactly
the members of each tree that does not last; a tree has at most one active edge to the ground; the
momentum of a root is the sum over its members of highest rank, in twice the precision.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython, may_raise, struct
from ecs_collide._kernel.arrays import BYTE, INT, grown, structs, zeros
from ecs_collide._kernel.constants import INF

SPLITTER = 2.0**27 + 1.0
FORCE_ROUNDING = 2.0**-42  # of a mass times the largest speed in a tree: forces below it are 0
CLOSING_ROUNDING = 2.0**-42  # of two speeds: an edge that was removed must close faster than this
CAREFUL: cython.Py_ssize_t = 8  # rounds of `link` and `check` in an instant, then pivots


@cython.inline
@struct
class Node:
    """A body on an axis; a root also has the data of its tree."""

    body: cython.int
    root: cython.int
    edge: cython.int  # the first of its edges, active or not
    next: cython.int  # the next member of its tree
    # of a root: the last member, the number of members, those of highest rank, the active edge to
    # the ground
    last: cython.int
    size: cython.int
    n_ranked: cython.int
    wall: cython.int
    # of the last walk: the number of the walk, the parent, the edge to it (also to the ground)
    walk: cython.int
    parent: cython.int
    up: cython.int
    n_below: cython.int  # active edges in which it is `high`
    n_above: cython.int  # active edges in which it is `low`
    axis: cython.schar
    is_fresh: cython.schar  # its velocity has changed by a step of the method, see `fresh`
    own_worn: cython.schar  # joins have turned it in an earlier instant of the step
    # of a root
    is_reflected: cython.schar  # it is new, for a group of rebounds
    is_worn: cython.schar  # one of its members of highest rank is worn
    lasts: cython.schar  # it moves as one to the end of the step, without edges
    is_changed: cython.schar
    is_unwritten: cython.schar
    is_unchecked: cython.schar
    is_row: cython.schar  # each member has at most one edge on either side
    has_shift: cython.schar
    own_rank: cython.longlong
    own_mass: cython.double
    before: cython.double  # its velocity without the forces
    shift: cython.double  # its velocity less the velocity of the root
    old: cython.double  # its velocity before `check` or `pivot`
    seen: cython.double  # its velocity when its contacts were last examined
    # of the last walk: of the node and all below it, the momentum of the highest rank that the
    # velocity of the tree takes away, and the mass and the rank
    excess: cython.double
    weight: cython.double
    below: cython.longlong
    # of a root
    rank: cython.longlong
    momentum: cython.double
    momentum_low: cython.double
    mass: cython.double
    mass_low: cython.double
    velocity: cython.double


@cython.inline
@struct
class Edge:
    """A contact that closes, or has closed, at this instant."""

    pair: cython.int
    event: cython.int  # its row in the event buffer
    low: cython.int
    high: cython.int
    wall: cython.int  # the row of the static or kinematic body, if one of the nodes is the ground
    next_of_low: cython.int
    next_of_high: cython.int
    is_active: cython.schar
    is_pending: cython.schar
    was_removed: cython.schar
    has_pushed: cython.schar  # it was active when a round ended
    is_over: cython.schar  # a node has left; no more part of the graph
    is_finished: cython.schar  # the rules along the surface were applied
    is_plain: cython.schar  # the impact has no effect along the surface
    # the least w_high - w_low; with the ground, the bound of the velocity of the other node
    offset: cython.double
    force: cython.double
    trial: cython.double
    impulse: cython.double  # the force, and what gravity adds to it until the end of the step
    speed: cython.double  # how fast the contact closed when it was logged
    # the velocities and the kicks of the first and the second body of the pair at that time
    before: cython.double
    before2: cython.double
    kick: cython.double
    kick2: cython.double


def error_of_product(a: cython.double, b: cython.double, product: cython.double) -> cython.double:
    """Return a * b - product, the exact rounding error of a product; 0 if that overflows.

    Dekker, "A Floating-Point Technique for Extending the Available Precision" (1971).
    """
    wide: cython.double = SPLITTER * a
    high_a: cython.double = wide - (wide - a)
    low_a: cython.double = a - high_a

    wide = SPLITTER * b
    high_b: cython.double = wide - (wide - b)
    low_b: cython.double = b - high_b
    error: cython.double = low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )
    return error if error == error else 0.0


@cython.inline
def error_of_sum(a: cython.double, b: cython.double, total: cython.double) -> cython.double:
    """Return a + b - total, the exact rounding error of a sum (Knuth's TwoSum); 0 on overflow."""
    part: cython.double = total - a
    error: cython.double = (a - (total - part)) + (b - part)

    return error if error == error else 0.0


@cython.inline
def velocity_for(
    momentum: cython.double,
    momentum_low: cython.double,
    mass: cython.double,
    mass_low: cython.double,
) -> cython.double:
    """Return momentum / mass; the mass times the result is the momentum to 2 ulp.

    The sums follow Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005).
    """
    velocity: cython.double = (momentum + momentum_low) / mass
    product: cython.double = mass * velocity
    rest: cython.double = momentum - product

    momentum_low += error_of_sum(momentum, -product, rest)
    momentum_low -= error_of_product(mass, velocity, product)
    momentum_low -= mass_low * velocity
    return velocity + (rest + momentum_low) / mass


@cython.final
class Forest:
    """The graphs of an instant on all axes, and their trees."""

    n_nodes: Public[cython.Py_ssize_t]
    n_edges: Public[cython.Py_ssize_t]
    node_room: cython.Py_ssize_t
    edge_room: cython.Py_ssize_t
    nodes: cython.pointer[Node]
    edges: cython.pointer[Edge]
    node_bytes: cython.schar[::1]
    edge_bytes: cython.schar[::1]
    any_shift: cython.bint  # whether an edge has had an offset in this step
    n_walks: cython.int
    n_links: Public[cython.longlong]  # joins of two trees in this step
    n_visits: Public[cython.longlong]  # nodes walked in this step
    # nodes whose contacts must be examined, roots whose other members must be, roots whose members'
    # velocities must be written, roots whose forces must be checked
    fresh: cython.int[::1]
    changed: cython.int[::1]
    unwritten: cython.int[::1]
    unchecked: cython.int[::1]
    n_fresh: Public[cython.Py_ssize_t]
    n_changed: Public[cython.Py_ssize_t]
    n_unwritten: Public[cython.Py_ssize_t]
    n_unchecked: Public[cython.Py_ssize_t]
    # the nodes of the last walk, parents first; starts of further walks; the members that a check
    # or a pivot concerns
    order: cython.int[::1]
    starts: cython.int[::1]
    members: cython.int[::1]
    n_order: cython.Py_ssize_t
    n_starts: cython.Py_ssize_t
    n_members: cython.Py_ssize_t
    top_rank: cython.longlong  # of the last walk
    least: cython.double  # of the last forces: the largest step towards them, 1 if none pulls

    def __init__(self):
        self.n_nodes = self.n_edges = 0
        self.node_room = self.edge_room = 0
        self.any_shift = False
        self.n_walks = 0
        self.n_links = self.n_visits = 0
        self.n_fresh = self.n_changed = self.n_unwritten = self.n_unchecked = 0
        self.n_order = self.n_starts = self.n_members = 0
        self.top_rank = 0
        self.least = 1.0
        if cython.compiled:
            self.node_bytes = zeros(BYTE, 0)
            self.edge_bytes = zeros(BYTE, 0)
        else:
            self.nodes = []
            self.edges = []
        self.fresh = self.changed = self.unwritten = self.unchecked = zeros(INT, 0)
        self.order = self.starts = self.members = zeros(INT, 0)
        self._make_room_for_nodes(16)
        self._make_room_for_edges(16)

    @may_raise
    def _make_room_for_nodes(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for more nodes."""
        self.fresh = grown(self.fresh, n)
        self.changed = grown(self.changed, n)
        self.unwritten = grown(self.unwritten, n)
        self.unchecked = grown(self.unchecked, n)
        self.order = grown(self.order, n)
        self.starts = grown(self.starts, n)
        self.members = grown(self.members, n)
        if cython.compiled:
            nodes: cython.schar[::1] = grown(self.node_bytes, n * cython.sizeof(Node))
            self.node_bytes = nodes
            self.nodes = cython.cast(cython.pointer(Node), cython.address(nodes[0]))
        else:
            self.nodes += structs(Node, n - self.node_room)
        self.node_room = n  # last, because an array may fail to grow

    @may_raise
    def _make_room_for_edges(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for more edges."""
        if cython.compiled:
            edges: cython.schar[::1] = grown(self.edge_bytes, n * cython.sizeof(Edge))
            self.edge_bytes = edges
            self.edges = cython.cast(cython.pointer(Edge), cython.address(edges[0]))
        else:
            self.edges += structs(Edge, n - self.edge_room)
        self.edge_room = n

    def clear(self) -> cython.void:
        """Remove all nodes and edges."""
        self.n_nodes = self.n_edges = 0
        self.n_fresh = self.n_changed = self.n_unwritten = self.n_unchecked = 0
        self.n_links = self.n_visits = 0
        self.n_walks = 0
        self.any_shift = False

    # -- nodes and edges --

    @may_raise
    def add_node(
        self,
        node: cython.Py_ssize_t,
        mass: cython.double,
        velocity: cython.double,
        before: cython.double,
        rank: cython.longlong,
        is_worn: cython.bint,
    ) -> cython.Py_ssize_t:
        """Add a tree of one node, with a number that is free, or a new one for 0; return it."""
        if node == 0:
            if self.n_nodes + 1 == self.node_room:
                self._make_room_for_nodes(2 * self.node_room)
            self.n_nodes += 1
            node = self.n_nodes
            self.nodes[node].walk = 0
        self.nodes[node].root = self.nodes[node].last = node
        self.nodes[node].size = self.nodes[node].n_ranked = 1
        self.nodes[node].edge = self.nodes[node].next = self.nodes[node].wall = 0
        self.nodes[node].is_fresh = self.nodes[node].is_changed = 0
        self.nodes[node].is_unwritten = self.nodes[node].is_unchecked = 0
        self.nodes[node].is_row = 1
        self.nodes[node].n_below = self.nodes[node].n_above = 0
        self.nodes[node].lasts = self.nodes[node].has_shift = self.nodes[node].is_reflected = 0
        self.nodes[node].own_worn = self.nodes[node].is_worn = is_worn
        self.nodes[node].own_rank = self.nodes[node].rank = rank
        self.nodes[node].own_mass = self.nodes[node].mass = mass
        self.nodes[node].before = before
        self.nodes[node].velocity = velocity
        self.nodes[node].shift = self.nodes[node].mass_low = 0.0
        self.nodes[node].seen = INF  # never
        self.nodes[node].momentum = mass * before
        self.nodes[node].momentum_low = error_of_product(mass, before, mass * before)
        return node

    @may_raise
    def add_edge(
        self, low: cython.Py_ssize_t, high: cython.Py_ssize_t, offset: cython.double
    ) -> cython.Py_ssize_t:
        """Add an edge that is not active; return its number."""
        if self.n_edges + 1 == self.edge_room:
            self._make_room_for_edges(2 * self.edge_room)
        self.n_edges += 1
        e: cython.Py_ssize_t = self.n_edges
        self.edges[e].low = low
        self.edges[e].high = high
        self.edges[e].offset = offset
        self.edges[e].force = self.edges[e].trial = self.edges[e].impulse = 0.0
        self.edges[e].kick = self.edges[e].kick2 = 0.0
        self.edges[e].is_active = self.edges[e].is_pending = self.edges[e].was_removed = 0
        self.edges[e].has_pushed = self.edges[e].is_over = self.edges[e].is_finished = 0
        self.edges[e].pair = self.edges[e].event = self.edges[e].wall = -1
        self.edges[e].next_of_low = self.nodes[low].edge
        self.edges[e].next_of_high = self.nodes[high].edge
        if low:
            self.nodes[low].edge = e
        if high:
            self.nodes[high].edge = e
        if low and high and offset != 0.0:
            self.any_shift = True
        return e

    @cython.cfunc
    @cython.inline
    def velocity_of(self, node: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of a node."""
        velocity: cython.double = self.nodes[self.nodes[node].root].velocity

        return velocity + self.nodes[node].shift if self.any_shift else velocity

    def closing(self, e: cython.Py_ssize_t) -> cython.double:
        """Return how fast an edge closes, below 0 if it parts."""
        low: cython.Py_ssize_t = self.edges[e].low
        high: cython.Py_ssize_t = self.edges[e].high

        if low == 0:
            return self.edges[e].offset - self.velocity_of(high)
        if high == 0:
            return self.velocity_of(low) - self.edges[e].offset
        return (self.velocity_of(low) - self.velocity_of(high)) + self.edges[e].offset

    def closes(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether an edge closes: by more than rounding in one tree, or if it was removed."""
        closing: cython.double = self.closing(e)
        bound: cython.double = abs(self.edges[e].offset)
        is_within: cython.bint = self.edges[e].low != 0 and self.edges[e].high != 0 and (
            self.nodes[self.edges[e].low].root == self.nodes[self.edges[e].high].root
        )

        if closing <= 0.0 or not (self.edges[e].was_removed or is_within):
            return closing > 0.0
        if self.edges[e].low:
            bound += abs(self.velocity_of(self.edges[e].low))
            bound += abs(self.nodes[self.edges[e].low].before)
        if self.edges[e].high:
            bound += abs(self.velocity_of(self.edges[e].high))
            bound += abs(self.nodes[self.edges[e].high].before)
        return closing > CLOSING_ROUNDING * bound

    # -- joining trees --

    def _is_walled(self, node: cython.Py_ssize_t) -> cython.bint:
        """Return whether a node is the ground, or in a tree that the ground holds."""
        return node == 0 or self.nodes[self.nodes[node].root].wall != 0

    def can_link(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether an edge joins two trees of which the ground holds at most one."""
        low: cython.Py_ssize_t = self.edges[e].low
        high: cython.Py_ssize_t = self.edges[e].high

        if low and high and self.nodes[low].root == self.nodes[high].root:
            return False
        return not (self._is_walled(low) and self._is_walled(high))

    def link(self, e: cython.Py_ssize_t) -> cython.void:
        """Join two trees along an edge; see `can_link`."""
        low: cython.Py_ssize_t = self.edges[e].low
        high: cython.Py_ssize_t = self.edges[e].high

        self.n_links += 1
        # The forces of a row only grow if another one pushes at its end.
        is_row: cython.bint = (low == 0 or self.nodes[low].n_above == 0) and (
            high == 0 or self.nodes[high].n_below == 0
        )
        self._activate(e)
        if low == 0 or high == 0:
            node: cython.Py_ssize_t = low + high
            root: cython.Py_ssize_t = self.nodes[node].root
            self.nodes[root].wall = e
            self.nodes[root].is_row &= is_row
            self._set_velocity(root, self.edges[e].offset - self.nodes[node].shift)
            self._mark_unchecked(root)
            return
        one: cython.Py_ssize_t = self.nodes[low].root
        other: cython.Py_ssize_t = self.nodes[high].root
        shift: cython.double = self.nodes[low].shift + self.edges[e].offset - self.nodes[high].shift
        velocity: cython.double = self._joint_velocity(one, other, shift)
        is_row &= self.nodes[one].is_row & self.nodes[other].is_row
        self.nodes[one].is_row = self.nodes[other].is_row = is_row
        self._mark_unchecked(self.join(one, other, shift, velocity, velocity + shift))

    def _joint_velocity(
        self, one: cython.Py_ssize_t, other: cython.Py_ssize_t, shift: cython.double
    ) -> cython.double:
        """Return the velocity of the first root in the join of two, with the second `shift` faster."""
        n: cython.pointer[Node] = self.nodes

        if n[one].wall:
            return n[one].velocity
        if n[other].wall:
            return n[other].velocity - shift
        if n[one].rank != n[other].rank:
            return n[one].velocity if n[one].rank > n[other].rank else n[other].velocity - shift
        if n[one].velocity == n[other].velocity - shift:
            return n[one].velocity
        extra: cython.double = n[other].mass * shift
        momentum: cython.double = n[one].momentum + n[other].momentum
        low: cython.double = n[one].momentum_low + n[other].momentum_low
        low += error_of_sum(n[one].momentum, n[other].momentum, momentum)
        mass: cython.double = n[one].mass + n[other].mass
        mass_low: cython.double = n[one].mass_low + n[other].mass_low
        mass_low += error_of_sum(n[one].mass, n[other].mass, mass)
        if shift != 0.0:
            low -= error_of_product(n[other].mass, shift, extra) + n[other].mass_low * shift
            low -= extra
        return velocity_for(momentum, low, mass, mass_low)

    def join(
        self,
        one: cython.Py_ssize_t,
        other: cython.Py_ssize_t,
        shift: cython.double,
        velocity: cython.double,
        faster: cython.double,
    ) -> cython.Py_ssize_t:
        """Make one tree of two roots, of which the second is `shift` faster; return its root.

        `velocity` and `faster` are the new ones of the two roots.
        """
        n: cython.pointer[Node] = self.nodes

        self._set_velocity(one, velocity)
        self._set_velocity(other, faster)
        if n[one].size < n[other].size:
            one, other = other, one
            shift = -shift
        if n[one].size == 1:
            self._mark_fresh(one)
        node: cython.Py_ssize_t = other
        while node:
            n[node].root = one
            n[node].shift += shift
            self._mark_fresh(node)
            node = n[node].next
        if n[other].is_unwritten:
            self._mark_unwritten(one)
        if shift != 0.0:
            self.any_shift = True
            self._add_momentum(other, n[other].mass, -shift)
            n[other].momentum_low -= n[other].mass_low * shift
        n[one].has_shift |= n[other].has_shift | (shift != 0.0)
        n[n[one].last].next = other
        n[one].last = n[other].last
        n[one].size += n[other].size
        if n[other].wall:
            n[one].wall = n[other].wall
        if n[one].rank == n[other].rank:
            n[one].n_ranked += n[other].n_ranked
            n[one].is_worn |= n[other].is_worn
            n[one].mass_low += n[other].mass_low
            self.add_mass(one, n[other].mass)
            n[one].momentum_low += n[other].momentum_low
            total: cython.double = n[one].momentum + n[other].momentum
            n[one].momentum_low += error_of_sum(n[one].momentum, n[other].momentum, total)
            n[one].momentum = total
        elif n[other].rank > n[one].rank:
            n[one].rank = n[other].rank
            n[one].n_ranked = n[other].n_ranked
            n[one].is_worn = n[other].is_worn
            n[one].lasts = n[other].lasts
            n[one].mass = n[other].mass
            n[one].mass_low = n[other].mass_low
            n[one].momentum = n[other].momentum
            n[one].momentum_low = n[other].momentum_low
        return one

    @cython.cfunc
    @cython.inline
    def add_mass(self, root: cython.Py_ssize_t, mass: cython.double) -> cython.void:
        """Add to the mass of a tree, in twice the precision."""
        total: cython.double = self.nodes[root].mass + mass

        self.nodes[root].mass_low += error_of_sum(self.nodes[root].mass, mass, total)
        self.nodes[root].mass = total

    @cython.cfunc
    @cython.inline
    def _add_momentum(
        self, root: cython.Py_ssize_t, mass: cython.double, velocity: cython.double
    ) -> cython.void:
        """Add mass · velocity to the momentum of a tree, in twice the precision."""
        momentum: cython.double = mass * velocity
        total: cython.double = self.nodes[root].momentum + momentum

        self.nodes[root].momentum_low += error_of_product(mass, velocity, momentum)
        self.nodes[root].momentum_low += error_of_sum(self.nodes[root].momentum, momentum, total)
        self.nodes[root].momentum = total

    def find_forces(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the velocity and the trial forces of a tree."""
        self._walk(root)
        self._find_forces()

    def find_row_forces(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the forces of a row, which is not checked when it grows."""
        n: cython.pointer[Node] = self.nodes
        node: cython.Py_ssize_t = root

        while node:
            n[node].old = self.velocity_of(node)
            node = n[node].next
        self.find_forces(root)
        n[self.order[0]].velocity = n[self.order[0]].old
        self._settle()  # rounding may leave a force just below 0

    def find_impulses(self, root: cython.Py_ssize_t) -> cython.void:
        """Find the forces of a tree again, after `before` of its nodes has changed."""
        at: cython.Py_ssize_t
        velocity: cython.double = self.nodes[root].velocity

        self.find_forces(root)
        for at in range(self.n_order):
            up: cython.Py_ssize_t = self.nodes[self.order[at]].up
            if up:
                self.edges[up].impulse = max(self.edges[up].trial, 0.0)
        # The walk may have begun at another node, and all are relative to it.
        self.nodes[root].velocity = velocity

    def push(
        self, root: cython.Py_ssize_t, mass: cython.double, velocity: cython.double
    ) -> cython.void:
        """Add mass · velocity to the momentum of a tree that lasts, which keeps its velocity."""
        self._add_momentum(root, mass, velocity)

    # -- what has changed --

    @cython.cfunc
    @cython.inline
    def _mark_fresh(self, node: cython.Py_ssize_t) -> cython.void:
        """List a node for the examination of its contacts."""
        if not self.nodes[node].is_fresh:
            self.nodes[node].is_fresh = 1
            self.fresh[self.n_fresh] = node
            self.n_fresh += 1

    @cython.cfunc
    @cython.inline
    def _mark_unchecked(self, root: cython.Py_ssize_t) -> cython.void:
        """List a tree for the check of its forces; a row needs none."""
        if not (self.nodes[root].is_unchecked or self.nodes[root].is_row):
            self.nodes[root].is_unchecked = 1
            self.unchecked[self.n_unchecked] = root
            self.n_unchecked += 1

    def _set_velocity(self, root: cython.Py_ssize_t, velocity: cython.double) -> cython.void:
        """Give a tree a velocity."""
        if self.nodes[root].velocity != velocity:
            self.nodes[root].velocity = velocity
            self._mark_turned(root)

    def _mark_turned(self, root: cython.Py_ssize_t) -> cython.void:
        """List a tree whose velocity has changed, to be examined and written."""
        if self.nodes[root].size == 1:
            self._mark_fresh(root)
        else:
            self._mark_changed(root)
        self._mark_unwritten(root)

    @cython.cfunc
    @cython.inline
    def _mark_changed(self, root: cython.Py_ssize_t) -> cython.void:
        """List a tree whose members' contacts must be examined."""
        if not self.nodes[root].is_changed:
            self.nodes[root].is_changed = 1
            self.changed[self.n_changed] = root
            self.n_changed += 1

    @cython.cfunc
    @cython.inline
    def _mark_unwritten(self, root: cython.Py_ssize_t) -> cython.void:
        """List a tree whose members' velocities must be written."""
        if not self.nodes[root].is_unwritten:
            self.nodes[root].is_unwritten = 1
            self.unwritten[self.n_unwritten] = root
            self.n_unwritten += 1

    # -- forces --

    def _walk(self, start: cython.Py_ssize_t) -> cython.void:
        """List the tree of a node in `order`, parents first.

        It begins at the node that the ground holds, else at one of the highest rank: a force is what
        bodies of the highest rank below it have too much, which is 0 beside those of a lower one.
        """
        wall: cython.Py_ssize_t = self._walk_from(start, 0)

        if wall:
            node: cython.Py_ssize_t = self.edges[wall].low + self.edges[wall].high
            if node != start or self.nodes[node].up != wall:
                self._walk_from(node, wall)
        elif self.nodes[start].own_rank != self.top_rank:
            at: cython.Py_ssize_t = 0
            while self.nodes[self.order[at]].own_rank != self.top_rank:
                at += 1
            self._walk_from(self.order[at], 0)

    def _walk_from(self, start: cython.Py_ssize_t, up: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """List the tree of a node in `order` from this node; return its edge to the ground, or 0."""
        n: cython.pointer[Node] = self.nodes
        edges: cython.pointer[Edge] = self.edges
        order: cython.int[::1] = self.order
        at: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t = 1
        wall: cython.Py_ssize_t = 0

        self.n_walks += 1
        order[0] = start
        n[start].walk = self.n_walks
        n[start].parent = 0
        n[start].up = up
        n[start].shift = 0.0
        self.top_rank = n[start].own_rank
        while at < size:
            node: cython.Py_ssize_t = order[at]
            at += 1
            self.top_rank = max(self.top_rank, n[node].own_rank)
            e: cython.Py_ssize_t = n[node].edge
            while e:
                is_low: cython.bint = edges[e].low == node
                if edges[e].is_active:
                    other: cython.Py_ssize_t = edges[e].high if is_low else edges[e].low
                    if other == 0:
                        wall = e
                    elif n[other].walk != self.n_walks:
                        n[other].walk = self.n_walks
                        n[other].parent = node
                        n[other].up = e
                        n[other].shift = n[node].shift + (
                            edges[e].offset if is_low else -edges[e].offset
                        )
                        order[size] = other
                        size += 1
                e = edges[e].next_of_low if is_low else edges[e].next_of_high
        self.n_order = size
        self.n_visits += size
        return wall

    def _find_forces(self) -> cython.void:
        """Find the velocity and the trial forces of the tree that was walked last.

        The velocity and the sums are stored in its first node.  `least` becomes the part of the way
        from the forces to the trial forces after which one pulls.
        """
        n: cython.pointer[Node] = self.nodes
        order: cython.int[::1] = self.order
        root: cython.Py_ssize_t = order[0]
        wall: cython.Py_ssize_t = n[root].up
        at: cython.Py_ssize_t
        top: cython.double = 0.0

        n[root].mass = n[root].mass_low = n[root].momentum = n[root].momentum_low = 0.0
        for at in range(self.n_order):
            node: cython.Py_ssize_t = order[at]
            top = max(top, abs(n[node].before))
            if n[node].own_rank == self.top_rank:
                self.add_mass(root, n[node].own_mass)
                self._add_momentum(root, n[node].own_mass, n[node].before)
                if self.any_shift and n[node].shift != 0.0:
                    self._add_momentum(root, n[node].own_mass, -n[node].shift)
        if wall:
            velocity: cython.double = self.edges[wall].offset
        elif self.n_order == 1:
            velocity = n[root].before
        else:
            velocity = velocity_for(
                n[root].momentum, n[root].momentum_low, n[root].mass, n[root].mass_low
            )
        n[root].velocity = velocity
        top = max(top, abs(velocity))
        for at in range(self.n_order):
            node = order[at]
            n[node].excess = n[node].own_mass * (n[node].before - n[node].shift - velocity)
            n[node].weight = n[node].own_mass
            n[node].below = n[node].own_rank
        for at in range(self.n_order - 1, -1, -1):
            node = order[at]
            up: cython.Py_ssize_t = n[node].up
            if up:
                self._find_force(node, up, top, n[root].mass if wall == 0 else INF)
            parent: cython.Py_ssize_t = n[node].parent
            if parent:
                if n[parent].below == n[node].below:
                    n[parent].excess += n[node].excess
                    n[parent].weight += n[node].weight
                elif n[parent].below < n[node].below:
                    n[parent].excess = n[node].excess
                    n[parent].weight = n[node].weight
                    n[parent].below = n[node].below

    @cython.cfunc
    @cython.inline
    def _find_force(
        self,
        node: cython.Py_ssize_t,
        up: cython.Py_ssize_t,
        top: cython.double,
        mass: cython.double,
    ) -> cython.void:
        """Set the trial force of the edge above a node: the excess of all that is below it."""
        n: cython.pointer[Node] = self.nodes
        weight: cython.double = min(n[node].weight, max(mass - n[node].weight, 0.0))
        force: cython.double = n[node].excess if self.edges[up].low == node else -n[node].excess

        if n[node].below != self.top_rank:
            weight = n[node].weight
        if abs(force) <= FORCE_ROUNDING * top * weight:
            force = 0.0
        self.edges[up].trial = force
        if force < 0.0:
            known: cython.double = max(self.edges[up].force, 0.0)
            self.least = min(self.least, known / (known - force))

    def _settle(self) -> cython.void:
        """Make the tree that was walked last a tree with the trial forces and their velocity."""
        n: cython.pointer[Node] = self.nodes
        order: cython.int[::1] = self.order
        root: cython.Py_ssize_t = order[0]
        at: cython.Py_ssize_t
        is_unwritten: cython.bint = False
        is_changed: cython.bint = False

        n[root].wall = n[root].up
        n[root].size = self.n_order
        n[root].last = order[self.n_order - 1]
        n[root].rank = self.top_rank
        n[root].n_ranked = n[root].is_worn = n[root].has_shift = 0
        n[root].lasts = 0
        n[root].is_row = 1
        for at in range(self.n_order):
            node: cython.Py_ssize_t = order[at]
            n[node].root = root
            n[node].next = order[at + 1] if at + 1 < self.n_order else 0
            if n[node].own_rank == self.top_rank:
                n[root].n_ranked += 1
                n[root].is_worn |= n[node].own_worn
            n[root].has_shift |= n[node].shift != 0.0
            n[root].is_row &= n[node].n_below < 2 and n[node].n_above < 2
            if n[node].up:
                self.edges[n[node].up].force = max(self.edges[n[node].up].trial, 0.0)
            if n[root].velocity + n[node].shift != n[node].old:
                self._mark_fresh(node)
                is_unwritten = True
            is_unwritten |= n[node].is_unwritten  # it was the root
            is_changed |= n[node].is_changed
        if is_changed:
            self._mark_changed(root)
        if is_unwritten:
            self._mark_unwritten(root)

    def _gather(self, node: cython.Py_ssize_t) -> cython.void:
        """Add the members of the tree of a node to `members`, with their velocities."""
        n: cython.pointer[Node] = self.nodes

        node = n[node].root
        if n[node].is_row:
            self.find_row_forces(node)
        while node:
            n[node].old = self.velocity_of(node)
            self.members[self.n_members] = node
            self.n_members += 1
            node = n[node].next

    def check(self) -> cython.bint:
        """Remove the edges that would have to pull; return whether there was any."""
        any_removed: cython.bint = False

        while self.n_unchecked:
            self.n_unchecked -= 1
            root: cython.Py_ssize_t = self.unchecked[self.n_unchecked]
            self.nodes[root].is_unchecked = 0
            root = self.nodes[root].root
            if not self.nodes[root].lasts:
                any_removed |= self._check_tree(root)
        return any_removed

    def _check_tree(self, root: cython.Py_ssize_t) -> cython.bint:
        """Split a tree at all edges that would have to pull, until none is left."""
        n: cython.pointer[Node] = self.nodes
        at: cython.Py_ssize_t
        any_removed: cython.bint = False

        self.n_members = 0
        self._gather(root)
        self.starts[0] = root
        self.n_starts = 1
        while self.n_starts:
            self.n_starts -= 1
            start: cython.Py_ssize_t = self.starts[self.n_starts]
            self._walk(start)
            self._find_forces()
            is_split: cython.bint = False
            for at in range(self.n_order):
                node: cython.Py_ssize_t = self.order[at]
                up: cython.Py_ssize_t = n[node].up
                if up and self.edges[up].trial < 0.0:
                    self._remove(up)
                    is_split = True
                    if n[node].parent:
                        self.starts[self.n_starts] = node
                        self.n_starts += 1
            if is_split:
                any_removed = True
                self.starts[self.n_starts] = self.order[0]
                self.n_starts += 1
            else:
                self._settle()
        return any_removed

    def _activate(self, e: cython.Py_ssize_t) -> cython.void:
        """Make an edge active, without force."""
        self.nodes[self.edges[e].low].n_above += 1
        self.nodes[self.edges[e].high].n_below += 1
        self.edges[e].is_active = 1
        self.edges[e].force = 0.0

    def _remove(self, e: cython.Py_ssize_t) -> cython.void:
        """Make an edge inactive."""
        self.nodes[self.edges[e].low].n_above -= 1
        self.nodes[self.edges[e].high].n_below -= 1
        self.edges[e].is_active = 0
        self.edges[e].was_removed = 1
        self.edges[e].force = 0.0

    @may_raise
    def pivot(self, e: cython.Py_ssize_t) -> cython.bint:
        """Add an edge that closes, and remove those that then pull; False if nothing can give way.

        All trees must have been checked.
        """
        n: cython.pointer[Node] = self.nodes
        low: cython.Py_ssize_t = self.edges[e].low
        high: cython.Py_ssize_t = self.edges[e].high
        at: cython.Py_ssize_t
        last_walk: cython.int

        self.n_members = 0
        if low:
            self._gather(low)
        if high and (low == 0 or n[low].root != n[high].root):
            self._gather(high)
        found: cython.bint = self.can_link(e) or self._shift_force(e)
        if found:
            force: cython.double = self.edges[e].force
            self._activate(e)
            self.edges[e].force = force
            self.n_links += 1
        while found:
            self.least = 1.0
            last_walk = self.n_walks
            for at in range(self.n_members):
                if n[self.members[at]].walk <= last_walk:
                    self._walk(self.members[at])
                    self._find_forces()
            if self.least == 1.0:
                break
            self._go_towards_trial()
        last_walk = self.n_walks
        for at in range(self.n_members):
            if n[self.members[at]].walk <= last_walk:
                self._walk(self.members[at])
                self._find_forces()
                self._settle()
        return found

    def _go_towards_trial(self) -> cython.void:
        """Go a part of the way to the trial forces, and remove the edges that reach 0."""
        n: cython.pointer[Node] = self.nodes
        at: cython.Py_ssize_t

        for at in range(self.n_members):
            up: cython.Py_ssize_t = n[self.members[at]].up
            if up == 0 or not self.edges[up].is_active:
                continue
            force: cython.double = self.edges[up].force
            trial: cython.double = self.edges[up].trial
            if trial < 0.0 and force / (force - trial) <= self.least:
                self._remove(up)
            else:
                self.edges[up].force = max(force + self.least * (trial - force), 0.0)

    def _shift_force(self, e: cython.Py_ssize_t) -> cython.bint:
        """Let an edge that closes a cycle take over force until another one on it has none.

        The cycle may lead through the ground.  Returns False if no force on it becomes less:
        nothing can keep the two apart.
        """
        n: cython.pointer[Node] = self.nodes
        edges: cython.pointer[Edge] = self.edges
        low: cython.Py_ssize_t = edges[e].low
        high: cython.Py_ssize_t = edges[e].high
        least: cython.double = INF
        limit: cython.Py_ssize_t = 0
        turn: cython.int

        if low:
            self._walk(low)
        if high and (low == 0 or n[low].root != n[high].root):
            self._walk(high)
        meet: cython.Py_ssize_t = self._common(low, high)
        for turn in range(2):
            node: cython.Py_ssize_t = high if turn else low
            while node != meet:
                up: cython.Py_ssize_t = n[node].up
                # The new force drives `low` down and `high` up, and the edge above balances that.
                if (edges[up].low == node) == (turn == 0) and edges[up].force < least:
                    least = edges[up].force
                    limit = up
                node = n[node].parent
        if limit == 0:
            return False
        for turn in range(2):
            node = high if turn else low
            while node != meet:
                up = n[node].up
                if (edges[up].low == node) == (turn == 0):
                    edges[up].force -= least
                else:
                    edges[up].force += least
                node = n[node].parent
        self._remove(limit)
        edges[e].force = least
        return True

    def _common(self, low: cython.Py_ssize_t, high: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the lowest common ancestor of two nodes in the last walks, or the ground."""
        n: cython.pointer[Node] = self.nodes
        node: cython.Py_ssize_t = low

        if low == 0 or high == 0 or n[low].walk != n[high].walk:
            return 0
        self.n_walks += 1
        while node:
            n[node].walk = self.n_walks
            node = n[node].parent
        node = high
        while node and n[node].walk != self.n_walks:
            node = n[node].parent
        return node
