"""Whether a tree of links holds together if all contacts between its members may carry forces.

The links of a tree alone often would have to pull, because other contacts carry the load.
"""

# Compiled with -O3: a crowd that collides takes 4 % less time than with -O2.
from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import INT, zeros
from ecs_collide.response.contact_graph import ContactGraph
from ecs_collide.response.contact_tree import ContactTree

FLOW_ROUNDING = 2.0**-50  # of the momentum that a member gets


@cython.final
class MomentumFlow:
    """The forces in all links of a tree."""

    graph: ContactGraph
    tree: ContactTree
    near: Public[
        cython.int[::1]
    ]  # members that lack momentum or can send some there, the nearest first
    n_near: cython.Py_ssize_t

    def __init__(self, graph: ContactGraph, tree: ContactTree):
        self.graph = graph
        self.tree = tree
        self.near = zeros(INT, 0)

    def holds(self) -> cython.bint:
        """Return whether the tree just walked holds together if all its links may carry forces.

        The links that would have to pull get none.  Then the members on their high sides have a
        momentum that those on their low sides lack, and it is sent there through other links.
        """
        t: ContactTree = self.tree
        g: ContactGraph = self.graph
        tree: cython.Py_ssize_t = t.order[0]

        if t.wall:
            return False
        for n in range(t.n):
            one: cython.Py_ssize_t = t.order[n]
            if g.members[one].shift != 0.0:
                return False
        g.add_contacts()
        g.list_links()
        for n in range(t.n):
            one = t.order[n]
            g.members[one].tree = tree
            g.members[one].excess = g.members[one].noise = 0.0
        for n in range(1, t.n):
            e: cython.Py_ssize_t = g.members[t.order[n]].via
            goal: cython.double = g.links[e].goal
            g.links[e].force = max(0.0, goal)
            if g.pulls(e):
                high: cython.Py_ssize_t = g.links[e].above
                g.members[g.links[e].below].excess += goal
                g.members[high].excess -= goal
                g.members[high].noise += g.links[e].noise
        return self._send()

    def _send(self) -> cython.bint:
        """Send all excess momentum to members that lack some; return whether all of it arrives.

        In each round all excess moves at once, link by link, to the nearest lack or as far as the
        links allow.  This is the method of Goldberg and Tarjan, "A New Approach to the Maximum-Flow
        Problem" (1988), with exact distances.  They only grow where an excess is left, so it ends.
        """
        g: ContactGraph = self.graph
        moves: cython.bint

        while self._find_ways():
            moves = False
            for n in range(self.n_near - 1, -1, -1):
                one: cython.Py_ssize_t = self.near[n]
                if g.members[one].excess > g.members[one].noise:
                    moves = True
                    self._pass_excess(one)
            if not moves:
                self.n_near = 0
                return True
        self.n_near = 0
        return False

    def _find_ways(self) -> cython.bint:
        """List in `near` who lacks momentum, then who can send some there, the nearest first.

        The list ends when all excess is in it.  Returns False if some cannot be sent.
        """
        t: ContactTree = self.tree
        g: ContactGraph = self.graph
        n_missing: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t
        at: cython.Py_ssize_t

        self.n_near = 0
        for n in range(t.n):
            one: cython.Py_ssize_t = t.order[n]
            n_missing += g.members[one].excess > g.members[one].noise
            g.members[one].distance = t.n
            if g.members[one].excess < 0.0:
                self._list_at(one, 0)
        n = 0
        while n < self.n_near and n_missing:
            one = self.near[n]
            n += 1
            for at in range(g.members[one].first, g.members[one].end):
                e: cython.Py_ssize_t = g.links_of[at]
                other: cython.Py_ssize_t = g.beside(e, one)
                if other >= 0 and g.members[other].distance == t.n and self._passes(e, other, one):
                    self._list_at(other, g.members[one].distance + 1)
                    n_missing -= g.members[other].excess > g.members[other].noise
        return n_missing == 0

    def _list_at(self, n: cython.Py_ssize_t, distance: cython.int) -> cython.void:
        """List a member in `near` with its distance from a lack."""
        g: ContactGraph = self.graph

        g.members[n].distance = distance
        self.near[self.n_near] = n
        self.n_near += 1

    def _passes(
        self, e: cython.Py_ssize_t, one: cython.Py_ssize_t, other: cython.Py_ssize_t
    ) -> cython.bint:
        """Return whether a link can pass momentum from a member to another of its tree.

        To its high side it passes any amount, to its low side only the force that it carries.
        """
        g: ContactGraph = self.graph

        return (
            g.members[other].tree == g.members[one].tree
            and g.links[e].apart == 0.0
            and (g.links[e].below == one or g.links[e].force != 0.0)
        )

    def _pass_excess(self, one: cython.Py_ssize_t) -> cython.void:
        """Pass the excess of a member to neighbours that are nearer to a lack."""
        g: ContactGraph = self.graph
        at: cython.Py_ssize_t

        for at in range(g.members[one].first, g.members[one].end):
            e: cython.Py_ssize_t = g.links_of[at]
            other: cython.Py_ssize_t = g.beside(e, one)
            if (
                other < 0
                or g.members[other].distance >= g.members[one].distance
                or not self._passes(e, one, other)
            ):
                continue
            amount: cython.double = g.members[one].excess
            if g.links[e].below == one:
                g.links[e].force += amount
            else:
                amount = min(amount, g.links[e].force)
                g.links[e].force -= amount
            g.members[one].excess -= amount
            g.members[other].excess += amount
            g.members[other].noise += FLOW_ROUNDING * amount
            if g.members[one].excess <= g.members[one].noise:
                return
