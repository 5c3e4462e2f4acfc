"""The walk of a tree of links: its velocity, and the force that each link would carry.

All members of a tree get one velocity.  A member that has too much momentum for it passes the rest
on, through the link by which the walk has reached it.  So do the members behind it, through it.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import INT, zeros
from ecs_collide.response.clusters import Clusters
from ecs_collide.response.contact_graph import ContactGraph
from ecs_collide.response.product_sum import ProductSum

FORCE_ROUNDING = 2.0**-42  # of the momenta that a force is the sum of


@cython.final
class ContactTree:
    """The tree that was walked last."""

    clusters: Clusters
    graph: ContactGraph
    order: Public[cython.int[::1]]  # its members, each after its parent
    n: cython.Py_ssize_t  # the number of its members
    velocity: cython.double
    wall: cython.Py_ssize_t  # its link to an anchor, or 0
    n_pulls: cython.Py_ssize_t  # links that would have to pull
    sum_of_momenta: ProductSum
    sum_of_masses: ProductSum

    def __init__(self, graph: ContactGraph):
        self.clusters = graph.clusters
        self.graph = graph
        self.order = zeros(INT, 0)
        self.sum_of_momenta = ProductSum()
        self.sum_of_masses = ProductSum()

    def walk(self, start: cython.Py_ssize_t) -> cython.void:
        """Order the tree of a member, and find its velocity and the goals of its links.

        It begins at the anchor, if there is one.
        """
        g: ContactGraph = self.graph

        self.wall = self.order_from(start)
        if self.wall:
            start = g.member_of[g.links[self.wall].low or g.links[self.wall].high]
        else:
            start = self._highest()
        if start != self.order[0]:
            self.order_from(start)
        if self.wall == 0:
            self.velocity = self._mean()
        elif g.links[self.wall].low:
            self.velocity = g.speed_of_anchor(self.wall) - g.links[self.wall].apart
        else:
            self.velocity = g.speed_of_anchor(self.wall) + g.links[self.wall].apart
        g.members[start].via = self.wall
        self.n_pulls = 0
        for n in range(self.n - 1, -1, -1):
            one: cython.Py_ssize_t = self.order[n]
            e: cython.Py_ssize_t = g.members[one].via
            if e == 0:
                continue
            own: cython.double = g.members[one].mass * (self.velocity + g.members[one].shift)
            excess: cython.double = g.members[one].momentum - own
            noise: cython.double = abs(g.members[one].momentum) + abs(own)
            self._pass_on(one, g.members[one].rank, excess, noise)
            excess = g.members[one].excess
            is_low: cython.bint = g.links[e].low == g.members[one].node
            g.links[e].goal = excess if is_low else -excess
            g.links[e].goal_rank = g.members[one].excess_rank
            g.links[e].noise = FORCE_ROUNDING * g.members[one].noise
            self.n_pulls += g.pulls(e)
            if n:
                self._pass_on(
                    g.members[one].parent,
                    g.members[one].excess_rank,
                    excess,
                    g.members[one].noise,
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
        g: ContactGraph = self.graph

        if rank < g.members[n].excess_rank:
            return
        if rank > g.members[n].excess_rank:
            if abs(excess) <= FORCE_ROUNDING * noise:
                return
            g.members[n].excess_rank = rank
            g.members[n].excess = g.members[n].noise = 0.0
        g.members[n].excess += excess
        g.members[n].noise += noise

    def _highest(self) -> cython.Py_ssize_t:
        """Return the first member of the highest rank in the tree just ordered."""
        g: ContactGraph = self.graph
        highest: cython.Py_ssize_t = self.order[0]

        for n in range(1, self.n):
            if g.members[self.order[n]].rank > g.members[highest].rank:
                highest = self.order[n]
        return highest

    def order_from(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Order the tree of a member from there; return its link to an anchor, or 0."""
        g: ContactGraph = self.graph
        wall: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t

        self.order[0] = start
        self._reach(start, 0, -1)
        self.n = 1
        while n < self.n:
            one: cython.Py_ssize_t = self.order[n]
            n += 1
            for at in range(g.members[one].first, g.members[one].end):
                e: cython.Py_ssize_t = g.neighbours[at].link
                other: cython.Py_ssize_t = g.neighbours[at].member
                if not g.links[e].presses or e == g.members[one].via:
                    continue
                if other < 0:
                    wall = e
                    continue
                self._reach(other, e, one)
                self.order[self.n] = other
                self.n += 1
        return wall

    @cython.cfunc
    @cython.inline
    def _reach(
        self, n: cython.Py_ssize_t, via: cython.Py_ssize_t, parent: cython.Py_ssize_t
    ) -> cython.void:
        """Note how the walk has reached a member."""
        g: ContactGraph = self.graph

        g.members[n].via = via
        g.members[n].parent = parent
        g.members[n].excess_rank = g.members[n].rank
        g.members[n].excess = g.members[n].noise = 0.0
        g.members[n].shift = 0.0
        if parent >= 0 and g.links[via].low == g.members[n].node:
            g.members[n].shift = g.members[parent].shift - g.links[via].apart
        elif parent >= 0:
            g.members[n].shift = g.members[parent].shift + g.links[via].apart

    def _mean(self) -> cython.double:
        """Return the common velocity of the tree just ordered, from a member of its rank."""
        g: ContactGraph = self.graph
        rank: cython.longlong = g.members[self.order[0]].rank

        self.sum_of_momenta.clear()
        self.sum_of_masses.clear()
        for n in range(self.n):
            one: cython.Py_ssize_t = self.order[n]
            if g.members[one].rank == rank:
                mass: cython.double = g.members[one].mass
                self.sum_of_momenta.add(mass, self.clusters.nodes[g.members[one].node].before)
                if g.members[one].shift != 0.0:
                    self.sum_of_momenta.add(-mass, g.members[one].shift)
                self.sum_of_masses.add(mass, 1.0)
        return self.sum_of_momenta.over(self.sum_of_masses)
