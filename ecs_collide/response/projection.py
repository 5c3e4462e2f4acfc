"""The velocities after the inelastic impacts of one instant: the smallest change that is possible.

`Solver` merges the clusters of two bodies as soon as they meet.  When no contact closes any more,
`Projection.settle` asks whether the contacts by which clusters have merged all press.  If one would
have to pull, the bodies that it holds back part again.  So the result does not depend on the order
of the merges.  The velocities w after the instant are those that minimise

    sum of m (w - v)²    such that    w_low + apart <= w_high    for each contact,

where v are the velocities before it, and the two faces grow by `apart`.  This is Gauss' principle
of least constraint, and the plastic impact of Moreau, "Unilateral Contact and Dry Friction in
Finite Freedom Dynamics" (1988).  It keeps the momentum and loses the least energy.

A *link* is a contact by which two clusters have merged in this instant, or one and its anchor.  The
links of a cluster are a tree, whose forces follow from its leaves inward.  If one of them would
have to pull, the other contacts between its members become links, too.  In nearly all crowds they
can carry what the tree cannot, so the cluster stays as it is.

Otherwise the component is solved.  A link *presses* if it carries a force.  The links that press
are a forest, and each of its trees moves as one body.  This is the active set of Lawson and Hanson,
"Solving Least Squares Problems" (1974), chapter 23, on a graph.  A link whose force would be
negative no longer presses, and a link that closes presses again.  Each link that is added increases
the least energy that the instant takes, so no forest comes back.

If faces grow, the members of a tree differ by a *shift*, and a link may close inside the tree, or
between two trees that have anchors.  It closes a cycle.  Force is sent round the cycle until one of
its other links has none, as in the simplex method on networks.  That link no longer presses.  If
all links of the cycle gain force, no velocities keep the faces apart, and the faster of the two
anchors at its ends is given up.

Bodies of a higher dominance outweigh all bodies of lower ones, as if their masses had no limit.  So
the velocity of a tree is that of its members of the highest *rank*, and a force of a higher rank
outweighs all forces of lower ones.

The velocities v contain half of what gravity adds to the end of the step, the *kick*
(`motion/gravity.py`).  An impact may press bodies together that gravity parts after it, such as a
body and the ceiling.  So `let_go` solves the clusters of such an instant once more, from the one
velocity that their members have then, plus the kick of each.

These clusters stay as they are: clusters that last, that a body has left by a rebound, or that a
held body anchors.  So do clusters of more than `MEMBER_LIMIT` bodies, because the forces of a crowd
take more time than its sweeps.
"""

from __future__ import annotations

from ecs_collide._kernel import cython, may_raise, struct
from ecs_collide._kernel.arrays import BYTE, INT, LONG, grown, structs, zeros
from ecs_collide._kernel.constants import Custom
from ecs_collide.broadphase.pair_table import OVERLAPS, PARTS, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import CLUSTER_ROUNDING, Clusters
from ecs_collide.response.product_sum import ProductSum

MEMBER_LIMIT = 160  # bodies in a component that may part
FORCE_ROUNDING = 2.0**-42  # of the momenta that a force is the sum of
FLOW_ROUNDING = 2.0**-50  # of the momentum that a member gets
FACE_ROUNDING = 2.0**-20  # of the widths of two boxes: faces that share less may pass
PIVOTS_PER_MEMBER = 64  # links that may be added, after which the velocities so far are kept
WHOLE_WAY = 1 << 20  # above all differences of ranks
OPEN = -1


@cython.inline
@struct
class Link:
    """A contact on an axis.

    `low` and `high` are the nodes on its two sides, 0 for the anchor.  `force` is what it carries,
    `goal` what it would carry if the velocity of its tree were final, and `noise` how much of that
    may be rounding.  A force has the rank of the bodies whose momentum it passes on.
    """

    low: cython.int
    high: cython.int
    anchor: cython.int
    next_of_low: cython.int
    next_of_high: cython.int
    presses: cython.schar
    waits: cython.schar
    rival: cython.int  # the slower anchor for which this one is given up in this instant, or -1
    force: cython.double
    goal: cython.double
    noise: cython.double
    force_rank: cython.longlong
    goal_rank: cython.longlong
    apart: cython.double  # by how much the faces that touch part faster than their bodies


@cython.inline
@struct
class Member:
    """A node of the component that is settled."""

    node: cython.int
    # its places in `Projection.neighbours`
    first: cython.int
    end: cython.int
    # in the walk of its tree: the member before it, and the link to that one or to the anchor
    parent: cython.int
    via: cython.int
    # of its tree, once it is solved: its number, the velocity, and the link to the anchor, or 0
    tree: cython.int  # `OPEN` before that
    velocity: cython.double
    wall: cython.int
    rank: cython.longlong
    mass: cython.double
    shift: cython.double  # its velocity less that of its tree
    momentum: cython.double  # before the instant
    # of the members of the highest rank among it and those behind it in the walk: that rank, the
    # momentum that they must pass on, and its noise
    excess_rank: cython.longlong
    excess: cython.double
    noise: cython.double
    reached: cython.longlong  # the last search that has reached it
    distance: cython.int  # links to the nearest member that lacks momentum


@cython.inline
@struct
class Neighbour:
    """A member at the other end of a link, -1 for an anchor."""

    member: cython.int
    link: cython.int


@cython.final
class Projection:
    """The links of an instant, and the forces in them."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    n: cython.Py_ssize_t  # the number of the last link; 0 stands for none
    n_settled: cython.Py_ssize_t  # the last link at the last `settle`
    # whether gravity may part bodies that have met in this instant: see `let_go`
    lets_go: cython.bint
    link_room: cython.Py_ssize_t
    link_bytes: cython.schar[::1]
    links: cython.pointer[Link]
    waiting: cython.int[::1]  # a ring of links that close
    first_waiting: cython.Py_ssize_t
    n_waiting: cython.Py_ssize_t
    # the component that is settled, on one axis
    axis: cython.int
    n_members: cython.Py_ssize_t
    member_bytes: cython.schar[::1]
    members: cython.pointer[Member]
    neighbour_bytes: cython.schar[::1]
    neighbours: cython.pointer[Neighbour]
    n_ends: cython.int  # ends of links at members: one if a single body has met a single anchor
    component: cython.longlong  # its number
    component_of: cython.longlong[::1]  # of each node
    member_of: cython.int[::1]  # of each node
    n_pivots: cython.longlong  # links that may still be added
    is_stuck: cython.bint  # whether the last `settle` has left faces closing between two anchors
    any_lost: cython.bint  # whether an anchor is given up in this instant
    n_changes: cython.longlong  # links that press now and did not, or the other way round
    # the tree walked last: its members, each after its parent; its velocity, anchor link and pulls
    order: cython.int[::1]
    n_order: cython.Py_ssize_t
    velocity: cython.double
    wall: cython.Py_ssize_t
    n_pulls: cython.Py_ssize_t
    # how far its forces go to their goals: at rank 0 the part of the way; below it a part that only
    # goals of a higher rank make felt; above it the rest, negative, that only forces of one do
    way: cython.double
    way_rank: cython.longlong
    pieces: cython.int[::1]  # members whose trees must be solved
    n_pieces: cython.Py_ssize_t
    n_searches: cython.longlong
    sum_of_momenta: ProductSum
    sum_of_masses: ProductSum

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.n = self.n_settled = self.link_room = 0
        self.first_waiting = self.n_waiting = 0
        self.axis = self.n_ends = 0
        self.n_members = self.n_order = self.n_pieces = self.n_pulls = 0
        self.component = self.n_changes = self.n_pivots = 0
        self.velocity = self.way = 0.0
        self.way_rank = 0
        self.wall = 0
        self.n_searches = 0
        self.sum_of_momenta = ProductSum()
        self.sum_of_masses = ProductSum()
        self.is_stuck = self.lets_go = self.any_lost = False
        self.waiting = zeros(INT, 0)
        self.component_of = zeros(LONG, 0)
        self.member_of = zeros(INT, 0)
        self.order = zeros(INT, MEMBER_LIMIT)
        self.pieces = zeros(INT, 2 * MEMBER_LIMIT)
        if cython.compiled:
            self.link_bytes = self.neighbour_bytes = zeros(BYTE, 0)
            self.member_bytes = zeros(BYTE, MEMBER_LIMIT * cython.sizeof(Member))
            self.members = cython.cast(cython.pointer(Member), cython.address(self.member_bytes[0]))
        else:
            self.links = []
            self.neighbours = []
            self.members = structs(Member, MEMBER_LIMIT)
        self._make_room(16)

    @may_raise
    def _make_room(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for links up to number `n` - 1, each with two ends."""
        self.waiting = grown(self.waiting, n)
        if cython.compiled:
            ends: cython.schar[::1] = grown(self.neighbour_bytes, 2 * n * cython.sizeof(Neighbour))
            links: cython.schar[::1] = grown(self.link_bytes, n * cython.sizeof(Link))
            self.neighbour_bytes = ends
            self.neighbours = cython.cast(cython.pointer(Neighbour), cython.address(ends[0]))
            self.link_bytes = links
            self.links = cython.cast(cython.pointer(Link), cython.address(links[0]))
        else:
            self.neighbours += structs(Neighbour, 2 * (n - self.link_room))
            self.links += structs(Link, n - self.link_room)
        self.link_room = n  # last, because an array may fail to grow

    @cython.cfunc
    @cython.inline
    def end_instant(self) -> cython.void:
        """Forget all links."""
        self.n = self.n_settled = 0
        self.lets_go = self.any_lost = False

    @may_raise
    def add(
        self, low: cython.Py_ssize_t, high: cython.Py_ssize_t, anchor: cython.Py_ssize_t
    ) -> cython.void:
        """Add the contact by which two clusters are about to merge.

        `low` and `high` are nodes, or 0 for the body in row `anchor` that keeps its velocity.
        """
        if self.n + 1 == self.link_room:
            self._make_room(2 * self.link_room)
        one: cython.Py_ssize_t = self.clusters.nodes[low].body if low else anchor
        other: cython.Py_ssize_t = self.clusters.nodes[high].body if high else anchor
        k: cython.int = self.clusters.nodes[low or high].axis

        self.n += 1
        self.links[self.n].apart = self.bodies.growth[one, k] + self.bodies.growth[other, k]
        self.links[self.n].low = low
        self.links[self.n].high = high
        self.links[self.n].anchor = anchor
        self.links[self.n].presses = 1
        self.links[self.n].waits = 0
        self.links[self.n].rival = -1
        self.links[self.n].force = 0.0
        if low:
            self.links[self.n].next_of_low = self.clusters.nodes[low].links
            self.clusters.nodes[low].links = self.n
        if high:
            self.links[self.n].next_of_high = self.clusters.nodes[high].links
            self.clusters.nodes[high].links = self.n

    @may_raise
    def settle(self) -> cython.bint:
        """Part bodies that only a pull could hold together; return whether any velocity changed.

        O(members) for each component if nothing parts.
        """
        self.is_stuck = False
        if self.n == self.n_settled:
            return False
        self._settle_from(self.n_settled + 1, 2)
        return self.clusters.n_to_examine > 0

    @may_raise
    def let_go(self) -> cython.bint:
        """Part bodies that gravity parts after they have met; return whether any velocity changed.

        The clusters of the instant are solved once more, with the kicks of their members.
        """
        n: cython.Py_ssize_t

        if not self.lets_go:
            return False
        self.lets_go = False
        for n in range(self.clusters.n_live):
            root: cython.Py_ssize_t = self.clusters.live[n]
            if self.clusters.parent[root] == root and self._is_open(root):
                self.clusters.let_go(root)
        self._settle_from(1, 1)
        return self.clusters.n_to_examine > 0

    @may_raise
    def _settle_from(self, start_link: cython.Py_ssize_t, least: cython.int) -> cython.void:
        """Solve components with at least so many ends of links, of the links from `start_link` on."""
        e: cython.Py_ssize_t
        first: cython.longlong = self.component + 1

        if self.component_of.shape[0] < self.clusters.capacity:
            self.component_of = grown(self.component_of, self.clusters.capacity)
            self.member_of = grown(self.member_of, self.clusters.capacity)
        for e in range(start_link, self.n + 1):
            start: cython.Py_ssize_t = self.links[e].low or self.links[e].high
            if self.component_of[start] >= first or not self._is_open(start):
                continue
            self._collect(start)
            if self.n_ends >= least and self._solve():
                self._form()
        self.n_settled = self.n

    # -- the component --

    def _is_open(self, node: cython.Py_ssize_t) -> cython.bint:
        """Return whether a node has a body and is in a cluster that may be parted."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.root(node)
        anchor: cython.Py_ssize_t = c.nodes[root].anchor

        return (
            c.node_of[c.nodes[node].body, c.nodes[node].axis] == node
            and not c.nodes[root].lasts
            and not c.nodes[root].is_broken
            and c.nodes[root].size <= MEMBER_LIMIT
            and (anchor < 0 or not self.bodies.on_hold[anchor])
        )

    def _collect(self, start: cython.Py_ssize_t) -> cython.void:
        """Collect the members that are connected with a node by links; none if they are too many."""
        self.axis = self.clusters.nodes[start].axis
        self.component += 1
        self.n_members = self.n_changes = 0
        while self.n_waiting:
            self._next_waiting()
        self._enter(start)
        self._list_neighbours()

    def _list_neighbours(self) -> cython.void:
        """List the neighbours of all members with their links, which get no force.

        Neighbours that are not members yet become members.
        """
        n: cython.Py_ssize_t = 0
        n_ends: cython.int = 0

        while n < self.n_members:
            node: cython.Py_ssize_t = self.members[n].node
            self.members[n].first = n_ends
            e: cython.Py_ssize_t = self.clusters.nodes[node].links
            while e:
                other: cython.Py_ssize_t = self.links[e].low + self.links[e].high - node
                if other and self.component_of[other] != self.component and self._is_open(other):
                    if self.n_members == MEMBER_LIMIT:
                        self.n_members = self.n_ends = 0
                        return
                    self._enter(other)
                if other == 0 or self.component_of[other] == self.component:
                    self.neighbours[n_ends].member = self.member_of[other] if other else -1
                    self.neighbours[n_ends].link = e
                    self.links[e].force = 0.0
                    n_ends += 1
                e = (
                    self.links[e].next_of_low
                    if self.links[e].low == node
                    else (self.links[e].next_of_high)
                )
            self.members[n].end = n_ends
            n += 1
        self.n_ends = n_ends

    def _enter(self, node: cython.Py_ssize_t) -> cython.void:
        """Add a node to the component."""
        n: cython.Py_ssize_t = self.n_members
        mass: cython.double = self.bodies.mass[self.clusters.nodes[node].body]

        self.component_of[node] = self.component
        self.member_of[node] = n
        self.members[n].node = node
        self.members[n].tree = OPEN
        self.members[n].rank = self.bodies.controls.rank_of(self.clusters.nodes[node].body)
        self.members[n].mass = mass
        self.members[n].momentum = mass * self.clusters.nodes[node].before
        self.n_members += 1

    @may_raise
    def _add_contacts(self) -> cython.void:
        """Add the touching faces between members that are not links yet.

        If members part, these faces may close.  They press only if they do.
        """
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t

        for n in range(self.n_members):
            for at in range(self._find_contacts(n)):
                p: cython.Py_ssize_t = self.pieces[at]
                i: cython.Py_ssize_t = self.pairs.at[p].first
                j: cython.Py_ssize_t = self.pairs.at[p].second
                if self.pairs.at[p].face > 0:
                    i, j = j, i
                self.add(
                    self.clusters.node_of[i, self.axis], self.clusters.node_of[j, self.axis], -1
                )
                self.links[self.n].presses = 0

    def _find_contacts(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the pairs of a member that can be added to `pieces`, in the order of its partners.

        Returns their number.
        """
        i: cython.Py_ssize_t = self.clusters.nodes[self.members[n].node].body
        p: cython.Py_ssize_t = self.pairs.head_of(i)
        n_found: cython.Py_ssize_t = 0
        side: cython.int = self.axis + 1

        if not self._is_plain(i):
            return 0
        while p >= 0:
            face: cython.int = self.pairs.at[p].face
            j: cython.Py_ssize_t = self.pairs.partner(p, i)
            is_beside: cython.bint = face == side or face == -side
            if is_beside and self._can_add(p, n, j) and n_found < 2 * MEMBER_LIMIT:
                at: cython.Py_ssize_t = n_found
                while at and self.bodies.precedes(j, self.pairs.partner(self.pieces[at - 1], i)):
                    self.pieces[at] = self.pieces[at - 1]
                    at -= 1
                self.pieces[at] = p
                n_found += 1
            p = self.pairs.next_of(p, i)
        return n_found

    def _can_add(
        self, p: cython.Py_ssize_t, n: cython.Py_ssize_t, j: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether member n and body j, whose faces touch, are to be joined by a new link."""
        node: cython.Py_ssize_t = self.clusters.node_of[j, self.axis]
        touch: cython.int = self.pairs.at[p].touch
        at: cython.Py_ssize_t

        if touch == OVERLAPS or (
            touch == PARTS and self.pairs.impact[p].tick < self.step.instant_tick
        ):
            return False
        if node == 0 or self.component_of[node] != self.component:
            return False
        other: cython.int = self.member_of[node]
        if other < n:  # it has found this pair
            return False
        for at in range(self.members[n].first, self.members[n].end):
            if self.neighbours[at].member == other:
                return False
        return (
            self.pairs.is_solid(p)
            and not self.pairs.at[p].is_withdrawn
            and self._is_plain(j)
            and self._overlaps_beside(p)
        )

    def _overlaps_beside(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the boxes of a pair share an area, so that their faces cannot pass."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        now: cython.double = self.step.now
        k: cython.int

        for k in range(b.dim):
            if k == self.axis:
                continue
            apart: cython.double = b.centre_at(j, k, now) + self.pairs.offset_of(p, k)
            apart -= b.centre_at(i, k, now)
            width: cython.double = b.half_at(i, k, now) + b.half_at(j, k, now)
            if abs(apart) >= width * (1.0 - FACE_ROUNDING):
                return False
        return True

    @cython.cfunc
    @cython.inline
    def _is_plain(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body neither rebounds nor is offered to a response of the game."""
        return (
            self.bodies.restitution[i] == 0.0
            and not self.bodies.controls.has_restitution(i)
            and not self.bodies.custom[i] & Custom.OFFERED
        )

    @may_raise
    def _form(self) -> cython.void:
        """Make the trees of the component its clusters."""
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t

        for n in range(self.n_members):
            if self.members[n].tree != n:
                continue
            wall: cython.Py_ssize_t = self._order_from(n)
            for at in range(self.n_order):
                one: cython.Py_ssize_t = self.order[at]
                self.order[at] = self.members[one].node
                self.clusters.nodes[self.order[at]].shift = self.members[one].shift
            anchor: cython.Py_ssize_t = self.links[wall].anchor if wall else -1
            self.clusters.form(self.order, self.n_order, self.members[n].velocity, anchor)

    @may_raise
    def _solve(self) -> cython.bint:
        """Find the trees of the component; return whether they differ from its clusters."""
        start: cython.Py_ssize_t = self.members[0].node
        n: cython.Py_ssize_t

        if self._stays():
            return False
        self._add_contacts()
        self._collect(start)
        self.n_pivots = PIVOTS_PER_MEMBER * self.n_members
        for n in range(self.n_members):
            if self.members[n].tree == OPEN:
                self._solve_later(n)
                self._solve_pieces()
        self._press_waiting()
        return self.n_changes > 0

    @may_raise
    def _stays(self) -> cython.bint:
        """Return whether the clusters of the component stay as they are."""
        n: cython.Py_ssize_t

        for n in range(self.n_members):
            if self.members[n].tree == OPEN:
                self._walk(n)
                if self.n_pulls and not self._holds():
                    return False
                self._accept()
                if self.n_changes or self.n_waiting:
                    return False
        return True

    # -- the forces in all links of a tree --

    @may_raise
    def _holds(self) -> cython.bint:
        """Return whether the tree just walked holds together if all its links may carry forces.

        The links that would have to pull get none.  Then the members on their high sides have a
        momentum that those on their low sides lack, and it is sent there through other links.
        """
        tree: cython.Py_ssize_t = self.order[0]
        n: cython.Py_ssize_t

        if self.wall:
            return False
        for n in range(self.n_order):
            one: cython.Py_ssize_t = self.order[n]
            if self.members[one].rank != self.members[tree].rank or self.members[one].shift != 0.0:
                return False
        self._add_contacts()
        self._list_neighbours()
        for n in range(self.n_order):
            one = self.order[n]
            self.members[one].tree = tree
            self.members[one].excess = self.members[one].noise = 0.0
        for n in range(1, self.n_order):
            e: cython.Py_ssize_t = self.members[self.order[n]].via
            goal: cython.double = self.links[e].goal
            self.links[e].force = max(0.0, goal)
            if self._pulls(e):
                high: cython.Py_ssize_t = self.member_of[self.links[e].high]
                self.members[self.member_of[self.links[e].low]].excess += goal
                self.members[high].excess -= goal
                self.members[high].noise += self.links[e].noise
        return self._send()

    def _send(self) -> cython.bint:
        """Send all excess momentum to members that lack some; return whether all of it arrives.

        In each round all excess moves at once, link by link, to the nearest lack or as far as the
        links allow.  This is the method of Goldberg and Tarjan, "A New Approach to the Maximum-Flow
        Problem" (1988), with exact distances.  They only grow where an excess is left, so it ends.
        """
        n: cython.Py_ssize_t
        moves: cython.bint

        while self._find_ways():
            moves = False
            for n in range(self.n_pieces - 1, -1, -1):
                one: cython.Py_ssize_t = self.pieces[n]
                if self.members[one].excess > self.members[one].noise:
                    moves = True
                    self._pass_excess(one)
            if not moves:
                self.n_pieces = 0
                return True
        self.n_pieces = 0
        return False

    def _find_ways(self) -> cython.bint:
        """List in `pieces` who lacks momentum, then who can send some there, the nearest first.

        The list ends when all excess is in it.  Returns False if some cannot be sent.
        """
        n_missing: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t

        self.n_pieces = 0
        for n in range(self.n_order):
            one: cython.Py_ssize_t = self.order[n]
            n_missing += self.members[one].excess > self.members[one].noise
            self.members[one].distance = self.n_order
            if self.members[one].excess < 0.0:
                self._list_at(one, 0)
        n = 0
        while n < self.n_pieces and n_missing:
            one = self.pieces[n]
            n += 1
            for at in range(self.members[one].first, self.members[one].end):
                other: cython.Py_ssize_t = self.neighbours[at].member
                if (
                    other >= 0
                    and self.members[other].distance == self.n_order
                    and self._passes(self.neighbours[at].link, other, one)
                ):
                    self._list_at(other, self.members[one].distance + 1)
                    n_missing -= self.members[other].excess > self.members[other].noise
        return n_missing == 0

    @cython.cfunc
    @cython.inline
    def _list_at(self, n: cython.Py_ssize_t, distance: cython.int) -> cython.void:
        """List a member in `pieces` with its distance from a lack."""
        self.members[n].distance = distance
        self.pieces[self.n_pieces] = n
        self.n_pieces += 1

    @cython.cfunc
    @cython.inline
    def _passes(
        self, e: cython.Py_ssize_t, one: cython.Py_ssize_t, other: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether a link can pass momentum from a member to another of its tree.

        To its high side it passes any amount, to its low side only the force that it carries.
        """
        return (
            self.members[other].tree == self.members[one].tree
            and self.links[e].apart == 0.0
            and (self.links[e].low == self.members[one].node or self.links[e].force != 0.0)
        )

    def _pass_excess(self, one: cython.Py_ssize_t) -> cython.void:
        """Pass the excess of a member to neighbours that are nearer to a lack."""
        at: cython.Py_ssize_t

        for at in range(self.members[one].first, self.members[one].end):
            e: cython.Py_ssize_t = self.neighbours[at].link
            other: cython.Py_ssize_t = self.neighbours[at].member
            if (
                other < 0
                or self.members[other].distance >= self.members[one].distance
                or not self._passes(e, one, other)
            ):
                continue
            amount: cython.double = self.members[one].excess
            if self.links[e].low == self.members[one].node:
                self.links[e].force += amount
            else:
                amount = min(amount, self.links[e].force)
                self.links[e].force -= amount
            self.members[one].excess -= amount
            self.members[other].excess += amount
            self.members[other].noise += FLOW_ROUNDING * amount
            if self.members[one].excess <= self.members[one].noise:
                return

    # -- the forest --

    @cython.cfunc
    @cython.inline
    def _next_waiting(self) -> cython.Py_ssize_t:
        """Take the first link off the ring."""
        e: cython.Py_ssize_t = self.waiting[self.first_waiting]

        self.first_waiting = (self.first_waiting + 1) % self.link_room
        self.n_waiting -= 1
        self.links[e].waits = 0
        return e

    @may_raise
    def _press_waiting(self) -> cython.void:
        """Let the links press that close, until none does."""
        while self.n_waiting:
            e: cython.Py_ssize_t = self._next_waiting()
            if self.n_pivots > 0 and self._closes(e):
                self._press(e)

    @may_raise
    def _press(self, e: cython.Py_ssize_t) -> cython.void:
        """Let a link press, and solve the trees that it joins or parts."""
        n: cython.Py_ssize_t = self.member_of[self.links[e].low or self.links[e].high]

        self.n_pivots -= 1
        self.links[e].force = 0.0
        if self._closes_cycle(e) and not self._give_way(e) and not self._lose_faster(e):
            self.is_stuck = True
            return
        self.n_changes += 1
        self.links[e].presses = 1
        self._solve_later(n)
        self._solve_pieces()

    def _closes(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether the faces of a link that does not press close."""
        low: cython.Py_ssize_t = self.links[e].low
        high: cython.Py_ssize_t = self.links[e].high
        one: cython.double = self._speed_of_side(low, e)
        other: cython.double = self._speed_of_side(high, e)
        closing: cython.double = one - other

        if self.bodies.any_resize:
            closing = (one + self.links[e].apart) - other
            closing -= CLUSTER_ROUNDING * (abs(one) + abs(self.links[e].apart) + abs(other))
        return closing > 0.0 and not self.links[e].presses and self.links[e].rival < 0

    def _speed_of_side(self, node: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of the node on one side of a link, or of its anchor for 0."""
        return self.members[self.member_of[node]].velocity if node else self._speed_of_anchor(e)

    def _closes_cycle(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether both sides of a link are in one tree, or each has an anchor."""
        low: cython.Py_ssize_t = self.links[e].low
        high: cython.Py_ssize_t = self.links[e].high
        one: cython.Py_ssize_t = self.member_of[low]
        other: cython.Py_ssize_t = self.member_of[high]

        if low and high and self.members[one].tree == self.members[other].tree:
            return True
        return (low == 0 or self.members[one].wall > 0) and (
            high == 0 or self.members[other].wall > 0
        )

    def _give_way(self, e: cython.Py_ssize_t) -> cython.bint:
        """Send force through a link and round the cycle that it closes, until another has none.

        The other one no longer presses.  Returns False if all links of the cycle gain force: they
        lead from one anchor to another, and the faces between these grow too fast.
        """
        n_links: cython.Py_ssize_t = self._find_cycle(e)
        weakest: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t

        for n in range(n_links):
            at: cython.Py_ssize_t = -self.order[n]
            if at > 0 and (weakest == 0 or self._is_weaker(at, weakest)):
                weakest = at
        if weakest == 0:
            return False
        force: cython.double = self.links[weakest].force
        rank: cython.longlong = self.links[weakest].force_rank
        for n in range(n_links):
            at = self.order[n]
            if at > 0:
                self._add_force(at, force, rank)
            else:
                self._add_force(-at, -force, rank)
        self._add_force(e, force, rank)
        self.links[weakest].presses = 0
        for at in (self.links[weakest].low, self.links[weakest].high):
            if at:
                self._solve_later(self.member_of[at])
        return True

    @may_raise
    def _lose_faster(self, e: cython.Py_ssize_t) -> cython.bint:
        """Give up the faster one of two anchors that a link cannot keep apart.

        So no kinematic body presses another body into a static one.  Returns False if the link is
        one to the faster anchor, or both are equally fast.
        """
        low: cython.Py_ssize_t = self.links[e].low
        high: cython.Py_ssize_t = self.links[e].high
        one: cython.Py_ssize_t = self.members[self.member_of[low]].wall if low else e
        other: cython.Py_ssize_t = self.members[self.member_of[high]].wall if high else e
        speed: cython.double = abs(self.bodies.velocity[self.links[one].anchor, self.axis])
        speed -= abs(self.bodies.velocity[self.links[other].anchor, self.axis])
        if speed < 0.0:
            one, other = other, one
        faster: cython.Py_ssize_t = self.links[one].anchor

        if speed == 0.0 or faster == self.links[e].anchor:
            return False
        self.any_lost = True
        for e in range(1, self.n + 1):
            node: cython.Py_ssize_t = self.links[e].low or self.links[e].high
            if self.links[e].anchor == faster and self.component_of[node] == self.component:
                self.links[e].rival = self.links[other].anchor
                self.links[e].presses = 0
                self._solve_later(self.member_of[node])
        return True

    def rival_between(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the `Link.rival` of a link between a body and an anchor, or -1."""
        e: cython.Py_ssize_t

        for e in range(1, self.n + 1):
            if self.links[e].rival >= 0 and self.links[e].anchor in (i, j):
                node: cython.Py_ssize_t = self.links[e].low or self.links[e].high
                if self.clusters.nodes[node].body in (i, j):
                    return self.links[e].rival
        return -1

    @cython.cfunc
    @cython.inline
    def _is_weaker(self, e: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether a link carries less force than another."""
        rank: cython.longlong = self.links[e].force_rank - self.links[other].force_rank

        if self.links[e].force == 0.0 or self.links[other].force == 0.0:
            rank = 0
        return rank < 0 or (rank == 0 and self.links[e].force < self.links[other].force)

    def _find_cycle(self, e: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the links that connect the sides of a link by their trees to `order`.

        Links that lose force when the link gains some are negative.  Returns the number of links.
        """
        n_links: cython.Py_ssize_t = 0
        low: cython.Py_ssize_t = self.member_of[self.links[e].low] if self.links[e].low else -1
        one: cython.Py_ssize_t = low

        self.n_searches += 1
        while one >= 0:
            self.members[one].reached = self.n_searches
            one = self.members[one].parent
        one = self.member_of[self.links[e].high] if self.links[e].high else -1
        while one >= 0 and self.members[one].reached != self.n_searches:
            via: cython.Py_ssize_t = self.members[one].via
            self.order[n_links] = via if self.links[via].low == self.members[one].node else -via
            n_links += 1
            one = self.members[one].parent
        while low != one:
            via = self.members[low].via
            self.order[n_links] = -via if self.links[via].low == self.members[low].node else via
            n_links += 1
            low = self.members[low].parent
        return n_links

    def _speed_of_anchor(self, e: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of the anchor of a link."""
        return self.bodies.velocity[self.links[e].anchor, self.axis]

    @may_raise
    def _solve_pieces(self) -> cython.void:
        """Solve the trees of the members in `pieces`, and the trees into which they part."""
        while self.n_pieces:
            self.n_pieces -= 1
            n: cython.Py_ssize_t = self.pieces[self.n_pieces]
            if self.members[n].tree != OPEN:
                continue
            self._walk(n)
            if self.n_pulls == 0:
                self._accept()
            else:
                self._part()

    def _walk(self, start: cython.Py_ssize_t) -> cython.void:
        """Order the tree of a member, and find its velocity and the goals of its links.

        It begins at the anchor, if there is one.
        """
        n: cython.Py_ssize_t

        self.wall = self._order_from(start)
        if self.wall:
            start = self.member_of[self.links[self.wall].low or self.links[self.wall].high]
        elif self.bodies.controls.any_rank:
            start = self._highest()
        if start != self.order[0]:
            self._order_from(start)
        if self.wall == 0:
            self.velocity = self._mean()
        elif self.links[self.wall].low:
            self.velocity = self._speed_of_anchor(self.wall) - self.links[self.wall].apart
        else:
            self.velocity = self._speed_of_anchor(self.wall) + self.links[self.wall].apart
        self.members[start].via = self.wall
        self.n_pulls = 0
        self.way = 0.0
        self.way_rank = WHOLE_WAY
        for n in range(self.n_order - 1, -1, -1):
            one: cython.Py_ssize_t = self.order[n]
            e: cython.Py_ssize_t = self.members[one].via
            if e == 0:
                continue
            own: cython.double = self.members[one].mass * (self.velocity + self.members[one].shift)
            excess: cython.double = self.members[one].momentum - own
            noise: cython.double = abs(self.members[one].momentum) + abs(own)
            self._pass_on(one, self.members[one].rank, excess, noise)
            excess = self.members[one].excess
            is_low: cython.bint = self.links[e].low == self.members[one].node
            self.links[e].goal = excess if is_low else -excess
            self.links[e].goal_rank = self.members[one].excess_rank
            self.links[e].noise = FORCE_ROUNDING * self.members[one].noise
            self.n_pulls += self._pulls(e)
            if n:
                self._pass_on(
                    self.members[one].parent,
                    self.members[one].excess_rank,
                    excess,
                    self.members[one].noise,
                )

    @cython.cfunc
    @cython.inline
    def _pass_on(
        self,
        n: cython.Py_ssize_t,
        rank: cython.longlong,
        excess: cython.double,
        noise: cython.double,
    ) -> cython.void:
        """Add to the momentum that a member must pass on; only the highest rank counts.

        A higher rank that has none hides no lower one.
        """
        if rank < self.members[n].excess_rank:
            return
        if rank > self.members[n].excess_rank:
            if abs(excess) <= FORCE_ROUNDING * noise:
                return
            self.members[n].excess_rank = rank
            self.members[n].excess = self.members[n].noise = 0.0
        self.members[n].excess += excess
        self.members[n].noise += noise

    def _highest(self) -> cython.Py_ssize_t:
        """Return the first member of the highest rank in the tree just ordered."""
        highest: cython.Py_ssize_t = self.order[0]
        n: cython.Py_ssize_t

        for n in range(1, self.n_order):
            if self.members[self.order[n]].rank > self.members[highest].rank:
                highest = self.order[n]
        return highest

    def _order_from(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Order the tree of a member from there; return its link to an anchor, or 0."""
        wall: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t

        self.order[0] = start
        self._reach(start, 0, -1)
        self.n_order = 1
        while n < self.n_order:
            one: cython.Py_ssize_t = self.order[n]
            n += 1
            for at in range(self.members[one].first, self.members[one].end):
                e: cython.Py_ssize_t = self.neighbours[at].link
                other: cython.Py_ssize_t = self.neighbours[at].member
                if not self.links[e].presses or e == self.members[one].via:
                    continue
                if other < 0:
                    wall = e
                    continue
                self._reach(other, e, one)
                self.order[self.n_order] = other
                self.n_order += 1
        return wall

    @cython.cfunc
    @cython.inline
    def _reach(
        self, n: cython.Py_ssize_t, via: cython.Py_ssize_t, parent: cython.Py_ssize_t
    ) -> cython.void:
        """Note how the walk has reached a member."""
        self.members[n].via = via
        self.members[n].parent = parent
        self.members[n].excess_rank = self.members[n].rank
        self.members[n].excess = self.members[n].noise = 0.0
        self.members[n].shift = 0.0
        if parent >= 0 and self.links[via].low == self.members[n].node:
            self.members[n].shift = self.members[parent].shift - self.links[via].apart
        elif parent >= 0:
            self.members[n].shift = self.members[parent].shift + self.links[via].apart

    def _mean(self) -> cython.double:
        """Return the common velocity of the tree just ordered, from a member of its rank."""
        rank: cython.longlong = self.members[self.order[0]].rank
        n: cython.Py_ssize_t

        self.sum_of_momenta.clear()
        self.sum_of_masses.clear()
        for n in range(self.n_order):
            one: cython.Py_ssize_t = self.order[n]
            if self.members[one].rank == rank:
                mass: cython.double = self.members[one].mass
                self.sum_of_momenta.add(mass, self.clusters.nodes[self.members[one].node].before)
                if self.members[one].shift != 0.0:
                    self.sum_of_momenta.add(-mass, self.members[one].shift)
                self.sum_of_masses.add(mass, 1.0)
        return self.sum_of_momenta.over(self.sum_of_masses)

    @cython.cfunc
    @cython.inline
    def _pulls(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether a link would have to pull."""
        return self.links[e].goal < -self.links[e].noise

    @cython.cfunc
    @cython.inline
    def _vanishes(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether the force of a link becomes 0 on the way of the tree to a goal below 0."""
        rank: cython.longlong = self._rank_of_way(e)

        return rank < self.way_rank or (rank == self.way_rank and self._way_to_zero(e) <= self.way)

    @cython.cfunc
    @cython.inline
    def _rank_of_way(self, e: cython.Py_ssize_t) -> cython.longlong:
        """Return by how many ranks the force of a link exceeds its goal."""
        if self.links[e].force == 0.0:
            return -WHOLE_WAY
        return self.links[e].force_rank - self.links[e].goal_rank

    @cython.cfunc
    @cython.inline
    def _way_to_zero(self, e: cython.Py_ssize_t) -> cython.double:
        """Return the way on which the force of a link becomes 0, as `way` has it."""
        force: cython.double = self.links[e].force
        goal: cython.double = self.links[e].goal

        if self.links[e].force_rank > self.links[e].goal_rank and force > 0.0:
            return goal / force
        if self.links[e].force_rank < self.links[e].goal_rank:
            return force / -goal
        return force / (force - goal)

    def _part(self) -> cython.void:
        """Change the forces of a tree towards their goals until one becomes negative, and part it.

        Links that would have to pull and have reached 0 no longer press.
        """
        n: cython.Py_ssize_t

        for n in range(self.n_order):
            e: cython.Py_ssize_t = self.members[self.order[n]].via
            if e and self._pulls(e) and self._vanishes(e):
                self.way_rank = self._rank_of_way(e)
                self.way = self._way_to_zero(e)
        for n in range(self.n_order):
            one: cython.Py_ssize_t = self.order[n]
            e = self.members[one].via
            self.members[one].tree = OPEN
            if e == 0:
                continue
            if self._pulls(e) and self._vanishes(e):
                self.links[e].presses = 0
                self.n_changes += 1
                self._solve_later(one)
                if n:
                    self._solve_later(self.members[one].parent)
            self._change_force(e)

    @cython.cfunc
    @cython.inline
    def _change_force(self, e: cython.Py_ssize_t) -> cython.void:
        """Change the force of a link by the way of its tree to its goal."""
        force: cython.double = self.links[e].force
        goal: cython.double = self.links[e].goal
        force_rank: cython.longlong = self.links[e].force_rank + min(-self.way_rank, 0)
        goal_rank: cython.longlong = self.links[e].goal_rank + min(self.way_rank, 0)

        if self.way_rank > 0:
            force *= -self.way
        else:
            goal *= self.way
            if self.way_rank == 0:
                force *= 1.0 - self.way
        self.links[e].force = force
        self.links[e].force_rank = force_rank
        self._add_force(e, goal, goal_rank)

    @cython.cfunc
    @cython.inline
    def _add_force(
        self, e: cython.Py_ssize_t, force: cython.double, rank: cython.longlong
    ) -> cython.void:
        """Add to the force of a link; only the higher rank counts."""
        if self.links[e].force == 0.0 or self.links[e].force_rank < rank:
            self.links[e].force = force
            self.links[e].force_rank = rank
        elif self.links[e].force_rank == rank:
            self.links[e].force += force
        self.links[e].force = max(0.0, self.links[e].force)

    @cython.cfunc
    @cython.inline
    def _solve_later(self, n: cython.Py_ssize_t) -> cython.void:
        """List a member whose tree must be solved."""
        self.members[n].tree = OPEN
        self.pieces[self.n_pieces] = n
        self.n_pieces += 1

    def _accept(self) -> cython.void:
        """Keep the tree just walked, and list the links that close because of its velocity."""
        root: cython.Py_ssize_t = self.clusters.root(self.members[self.order[0]].node)
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t

        if self.n_order != self.clusters.nodes[root].size or (
            (self.clusters.nodes[root].anchor >= 0) != (self.wall > 0)
        ):
            self.n_changes += 1
        for n in range(self.n_order):
            one: cython.Py_ssize_t = self.order[n]
            self.members[one].velocity = self.velocity + self.members[one].shift
            self.members[one].wall = self.wall
            self.members[one].tree = self.order[0]
            if self.members[one].via:
                self._change_force(self.members[one].via)
        for n in range(self.n_order):
            one = self.order[n]
            for at in range(self.members[one].first, self.members[one].end):
                e: cython.Py_ssize_t = self.neighbours[at].link
                other: cython.Py_ssize_t = self.neighbours[at].member
                if (
                    not self.links[e].presses
                    and not self.links[e].waits
                    and (other < 0 or self.members[other].tree != OPEN)
                    and self._closes(e)
                ):
                    self.links[e].waits = 1
                    self.waiting[(self.first_waiting + self.n_waiting) % self.link_room] = e
                    self.n_waiting += 1
