"""The graph of the contacts by which clusters have merged in an instant.

A *link* is a contact by which two clusters have merged in this instant, or one and its anchor.  The
bodies that links connect on an axis are a *component*, and its bodies are *members*.  `Projection`
solves one component at a time; the trees that its links form then are the new clusters.

These clusters stay as they are: clusters that last, that a body has left by a rebound, or that a
held body anchors.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython, struct
from ecs_collide._kernel.arrays import INT, LONG, grown, zeros
from ecs_collide._kernel.constants import Custom
from ecs_collide._kernel.struct_memory import StructMemory
from ecs_collide.broadphase.pair_table import OVERLAPS, PARTS, PairTable
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import Clusters

FACE_ROUNDING = 2.0**-20  # of the widths of two boxes: faces that share less may pass
# Of its mass: what a member of a lower rank weighs.  Masses of two ranks may differ by less.
NEXT_TO_NOTHING = 2.0**-300
OPEN = -1


@cython.inline
@struct
class Link:
    """A contact on an axis.

    `low` and `high` are the nodes on its two sides, 0 for the anchor.  `force` is what it carries,
    `goal` what it would carry if the velocity of its tree were final, and `noise` how much of that
    may be rounding.
    """

    low: cython.int
    high: cython.int
    # the members on its two sides; -1 for the anchor, or for a member whose velocity is settled
    below: cython.int
    above: cython.int
    speed: cython.double  # of the side that is -1
    anchor: cython.int
    next_of_low: cython.int
    next_of_high: cython.int
    presses: cython.schar
    waits: cython.schar
    is_cut: cython.schar  # whether it held a settled member to an open one, without a force
    rival: cython.int  # the anchor for which this link is given up in this instant, or -1
    force: cython.double
    goal: cython.double
    noise: cython.double
    apart: cython.double  # by how much the faces that touch part faster than their bodies


@cython.inline
@struct
class Member:
    """A node of the component that is solved."""

    node: cython.int
    # its places in `ContactGraph.links_of`
    first: cython.int
    end: cython.int
    # in the walk of its tree: its number, the member before it, and the link to that one or to the
    # anchor
    walk: cython.longlong
    parent: cython.int
    via: cython.int
    # of its tree, once it is solved: its first member, the velocity, and the link to the anchor, or 0
    tree: cython.int  # `OPEN` before that
    velocity: cython.double
    wall: cython.int
    # of the first member of a tree: that of a tree which a link has joined with this one, or itself
    group: cython.int
    rank: cython.longlong
    mass: cython.double  # as it counts beside the rank that is solved
    shift: cython.double  # its velocity less that of its tree
    momentum: cython.double  # before the instant
    excess: cython.double  # of it and those behind it in the walk: the momentum to pass on
    noise: cython.double
    # whether it has the rank that is solved, or passes on a force of those behind it that have
    is_core: cython.schar
    is_settled: cython.schar  # whether its velocity is final, because a higher rank was solved
    is_listed: cython.schar  # in `Projection.pieces`
    reached: cython.longlong  # the last search that has reached it
    distance: cython.int  # links to the nearest member that lacks momentum


@cython.final
class ContactGraph:
    """The links of an instant, and the component that is solved."""

    step: Step
    bodies: Bodies
    pairs: PairTable
    clusters: Clusters
    n_links: cython.Py_ssize_t  # the number of the last link; 0 stands for none
    link_memory: StructMemory
    links: cython.pointer[Link]
    # the component, on one axis
    axis: cython.int
    n_members: cython.Py_ssize_t
    member_memory: StructMemory
    members: cython.pointer[Member]
    level: cython.longlong  # the rank that is solved
    is_mixed: cython.bint  # whether there are several
    links_of: Public[cython.int[::1]]  # (n_ends or more,): the links of member 0, of member 1, ...
    n_ends: cython.int  # ends of links at members: one if a single body has met a single anchor
    component: cython.longlong  # its number
    component_of: cython.longlong[::1]  # of each node
    member_of: cython.int[::1]  # of each node
    found: cython.int[::1]  # pairs of a member
    waiting: cython.int[::1]  # a ring of links that close
    first_waiting: cython.Py_ssize_t
    n_waiting: cython.Py_ssize_t

    def __init__(self, step: Step, clusters: Clusters):
        self.step = step
        self.bodies = step.bodies
        self.pairs = step.pairs
        self.clusters = clusters
        self.waiting = zeros(INT, 0)
        self.links_of = zeros(INT, 0)
        self.component_of = zeros(LONG, 0)
        self.member_of = zeros(INT, 0)
        self.found = zeros(INT, 16)
        self.link_memory = StructMemory()
        self.member_memory = StructMemory()
        self._make_room(16)
        self._make_room_for_members(16)

    def _make_room(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for links up to number `n` - 1, each with two ends."""
        self.waiting = grown(self.waiting, n)
        self.links_of = grown(self.links_of, 2 * n)
        # Last, because its room counts, and an array may fail to grow.
        self.links = cython.cast(
            cython.pointer(Link), self.link_memory.grow(cython.sizeof(Link), n)
        )

    def _make_room_for_members(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for `n` members."""
        self.members = cython.cast(
            cython.pointer(Member), self.member_memory.grow(cython.sizeof(Member), n)
        )

    def make_room_for_nodes(self) -> cython.void:
        """Make room for all nodes of the clusters."""
        if self.component_of.shape[0] < self.clusters.capacity:
            self.component_of = grown(self.component_of, self.clusters.capacity)
            self.member_of = grown(self.member_of, self.clusters.capacity)

    @cython.cfunc
    @cython.inline
    def end_instant(self) -> cython.void:
        """Forget all links."""
        self.n_links = self.n_waiting = 0

    def add(
        self,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        anchor: cython.Py_ssize_t,
        presses: cython.bint,
    ) -> cython.void:
        """Add a link between two nodes, or 0 for the body in row `anchor` that keeps its velocity."""
        if self.n_links + 1 == self.link_memory.room:
            self._make_room(2 * self.link_memory.room)
        one: cython.Py_ssize_t = self.clusters.nodes[low].body if low else anchor
        other: cython.Py_ssize_t = self.clusters.nodes[high].body if high else anchor
        k: cython.int = self.clusters.nodes[low or high].axis

        self.n_links += 1
        self.links[self.n_links].apart = self.bodies.growth_of(one, k) + self.bodies.growth_of(
            other, k
        )
        self.links[self.n_links].low = low
        self.links[self.n_links].high = high
        self.links[self.n_links].anchor = anchor
        self.links[self.n_links].presses = presses
        self.links[self.n_links].waits = self.links[self.n_links].is_cut = 0
        self.links[self.n_links].rival = -1
        self.links[self.n_links].force = 0.0
        if low:
            self.links[self.n_links].next_of_low = self.clusters.nodes[low].links
            self.clusters.nodes[low].links = self.n_links
        if high:
            self.links[self.n_links].next_of_high = self.clusters.nodes[high].links
            self.clusters.nodes[high].links = self.n_links

    def is_open(self, node: cython.Py_ssize_t) -> cython.bint:
        """Return whether a node has a body and is in a cluster that may be parted."""
        c: Clusters = self.clusters
        root: cython.Py_ssize_t = c.root(node)
        anchor: cython.Py_ssize_t = c.nodes[root].anchor

        return (
            c.node_of[c.nodes[node].body, c.nodes[node].axis] == node
            and not c.nodes[root].lasts
            and not c.nodes[root].is_broken
            and (anchor < 0 or not self.bodies.on_hold[anchor])
        )

    def collect(self, start: cython.Py_ssize_t) -> cython.void:
        """Collect the members that are connected with a node by links."""
        self.axis = self.clusters.nodes[start].axis
        self.component += 1
        self.n_members = 0
        self.level = self.bodies.controls.rank_of(self.clusters.nodes[start].body)
        self.is_mixed = False
        self._enter(start)
        self.list_links()

    def list_links(self) -> cython.void:
        """List the links of all members, which get no force, and the members on their sides.

        Open nodes that a link leads to become members.
        """
        n: cython.Py_ssize_t = 0
        n_ends: cython.int = 0

        while n < self.n_members:
            node: cython.Py_ssize_t = self.members[n].node
            self.members[n].first = n_ends
            e: cython.Py_ssize_t = self.clusters.nodes[node].links
            while e:
                other: cython.Py_ssize_t = self.links[e].low + self.links[e].high - node
                if other and self.component_of[other] != self.component and self.is_open(other):
                    self._enter(other)
                is_low: cython.bint = self.links[e].low == node
                if other == 0 or self.component_of[other] == self.component:
                    beside: cython.Py_ssize_t = self.member_of[other] if other else -1
                    self.links[e].below = n if is_low else beside
                    self.links[e].above = beside if is_low else n
                    if other == 0:
                        self.links[e].speed = self.bodies.velocity_met(
                            self.links[e].anchor, self.axis
                        )
                    self.links[e].force = 0.0
                    self.links_of[n_ends] = e
                    n_ends += 1
                e = self.links[e].next_of_low if is_low else self.links[e].next_of_high
            self.members[n].end = n_ends
            n += 1
        self.n_ends = n_ends

    def _enter(self, node: cython.Py_ssize_t) -> cython.void:
        """Add a node to the component."""
        n: cython.Py_ssize_t = self.n_members
        mass: cython.double = self.bodies.mass[self.clusters.nodes[node].body]

        if n == self.member_memory.room:
            self._make_room_for_members(2 * n)
        self.component_of[node] = self.component
        self.member_of[node] = n
        self.members[n].node = node
        self.members[n].tree = OPEN
        self.members[n].is_settled = self.members[n].is_listed = 0
        self.members[n].rank = self.bodies.controls.rank_of(self.clusters.nodes[node].body)
        self.is_mixed |= self.members[n].rank != self.level
        self.members[n].mass = mass
        self.members[n].momentum = mass * self.clusters.nodes[node].before
        self.n_members += 1

    def weigh_next(self) -> cython.bint:
        """Give the members of the highest unsettled rank their masses; return whether there are any.

        Their trees are open.  Members of lower ranks weigh next to nothing.
        """
        highest: cython.Py_ssize_t = -1

        for n in range(self.n_members):
            if not self.members[n].is_settled and (
                highest < 0 or self.members[n].rank > self.members[highest].rank
            ):
                highest = n
        if highest < 0:
            return False
        self.level = self.members[highest].rank
        for n in range(self.n_members):
            i: cython.Py_ssize_t = self.clusters.nodes[self.members[n].node].body
            mass: cython.double = self.bodies.mass[i]
            if self.members[n].rank != self.level:
                mass *= NEXT_TO_NOTHING
            elif not self.members[n].is_settled:
                self.members[n].tree = OPEN
            self.members[n].mass = mass
            self.members[n].momentum = mass * self.clusters.nodes[self.members[n].node].before
        return True

    def settle(self, n: cython.Py_ssize_t) -> cython.void:
        """Make a member an anchor to others, at its velocity."""
        at: cython.Py_ssize_t

        self.members[n].is_settled = 1
        for at in range(self.members[n].first, self.members[n].end):
            e: cython.Py_ssize_t = self.links_of[at]
            self.links[e].speed = self.members[n].velocity
            if self.links[e].below == n:
                self.links[e].below = -1
            else:
                self.links[e].above = -1

    def add_contacts(self) -> cython.void:
        """Add the touching faces between members that are not links yet.

        If members part, these faces may close.  They press only if they do.
        """
        for n in range(self.n_members):
            for at in range(self._find_contacts(n)):
                p: cython.Py_ssize_t = self.found[at]
                i: cython.Py_ssize_t = self.pairs.at[p].first
                j: cython.Py_ssize_t = self.pairs.at[p].second
                if self.pairs.at[p].face > 0:
                    i, j = j, i
                low: cython.Py_ssize_t = self.clusters.node_of[i, self.axis]
                self.add(low, self.clusters.node_of[j, self.axis], -1, False)

    def _find_contacts(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the pairs of a member that can be added to `found`, in the order of its partners.

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
            if is_beside and self._can_add(p, n, j):
                if n_found == self.found.shape[0]:
                    self.found = grown(self.found, 2 * n_found)
                at: cython.Py_ssize_t = n_found
                while at and self.bodies.precedes(j, self.pairs.partner(self.found[at - 1], i)):
                    self.found[at] = self.found[at - 1]
                    at -= 1
                self.found[at] = p
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
            if self.beside(self.links_of[at], n) == other:
                return False
        return self.pairs.is_solid(p) and self._is_plain(j) and self._overlaps_beside(p)

    def _overlaps_beside(self, p: cython.Py_ssize_t) -> cython.bint:
        """Return whether the boxes of a pair share an area, so that their faces cannot pass."""
        b: Bodies = self.bodies
        i: cython.Py_ssize_t = self.pairs.at[p].first
        j: cython.Py_ssize_t = self.pairs.at[p].second
        now: cython.double = self.step.now

        for k in range(b.dim):
            if k == self.axis:
                continue
            apart: cython.double = b.centre_at(j, k, now) + self.pairs.offset_of(p, k)
            apart -= b.centre_at(i, k, now)
            width: cython.double = b.half_at(i, k, now) + b.half_at(j, k, now)
            if abs(apart) >= width * (1.0 - FACE_ROUNDING):
                return False
        return True

    def _is_plain(self, i: cython.Py_ssize_t) -> cython.bint:
        """Return whether a body neither rebounds nor is offered to a response of the game."""
        return (
            self.bodies.restitution[i] == 0.0
            and not self.bodies.controls.has_restitution(i)
            and not self.bodies.custom[i] & Custom.OFFERED
        )

    @cython.cfunc
    @cython.inline
    def pulls(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether a link would have to pull."""
        return self.links[e].goal < -self.links[e].noise

    @cython.cfunc
    @cython.inline
    def pushes(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether a link would carry a force."""
        return self.links[e].goal > self.links[e].noise

    @cython.cfunc
    @cython.inline
    def beside(self, e: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the member on the other side of a link, or -1."""
        return self.links[e].above if self.links[e].below == n else self.links[e].below

    @cython.cfunc
    @cython.inline
    def is_to_anchor(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether a link leads to an anchor, or to a member whose velocity is settled."""
        return self.links[e].below < 0 or self.links[e].above < 0

    def push_of(self, e: cython.Py_ssize_t) -> cython.double:
        """Return how fast the faces of a link push: by their growth, and as their anchor moves."""
        push: cython.double = self.links[e].apart

        if self.links[e].below < 0:
            push += self.links[e].speed
        elif self.links[e].above < 0:
            push -= self.links[e].speed
        return push

    def press_with(self, e: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.void:
        """Let a member count as no slower before the instant than the face of an anchor presses."""
        if n < 0 or self.members[n].is_settled:
            return
        node: cython.Py_ssize_t = self.members[n].node
        before: cython.double = self.clusters.nodes[node].before
        push: cython.double = self.push_of(e)

        before = max(before, push) if self.links[e].below < 0 else min(before, -push)
        self.clusters.nodes[node].before = before
        self.members[n].momentum = self.bodies.mass[self.clusters.nodes[node].body] * before

    @cython.cfunc
    @cython.inline
    def body_of(self, e: cython.Py_ssize_t, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the body of a link whose node, on one of its sides, is this; 0 for its anchor."""
        return self.clusters.nodes[node].body if node else self.links[e].anchor

    @cython.cfunc
    @cython.inline
    def wait(self, e: cython.Py_ssize_t) -> cython.void:
        """Put a link on the ring, if it is not there."""
        if not self.links[e].waits:
            self.links[e].waits = 1
            self.waiting[(self.first_waiting + self.n_waiting) % self.link_memory.room] = e
            self.n_waiting += 1

    @cython.cfunc
    @cython.inline
    def next_waiting(self) -> cython.Py_ssize_t:
        """Take the first link off the ring."""
        e: cython.Py_ssize_t = self.waiting[self.first_waiting]

        self.first_waiting = (self.first_waiting + 1) % self.link_memory.room
        self.n_waiting -= 1
        self.links[e].waits = 0
        return e
