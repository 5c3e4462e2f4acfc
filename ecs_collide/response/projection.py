"""The velocities after the inelastic impacts of one instant: the smallest change that is possible.

`Solver` merges the clusters of two bodies as soon as they meet.  When no contact closes any more,
`Projection.settle` asks whether the contacts by which clusters have merged all press.  If one would
have to pull, the bodies that it holds back part again.  So the result does not depend on the order
of the merges.  The velocities w after the instant are those that minimise

    sum of m (w - v)²    such that    w_low + apart <= w_high    for each contact,

where v are the velocities before it, and the two faces grow by `apart`.  This is Gauss' principle
of least constraint, and the plastic impact of Moreau, "Unilateral Contact and Dry Friction in
Finite Freedom Dynamics" (1988).  It keeps the momentum and loses the least energy.

The links of a cluster (`ContactGraph`) are a tree, whose forces follow from its leaves inward
(`ContactTree`).  If one of them would have to pull, the other contacts between its members become
links, too.  In nearly all crowds they can carry what the tree cannot (`MomentumFlow`), so the
cluster stays as it is.

Otherwise the component is solved.  A link *presses* if it carries a force.  The links that press
are a forest, and each of its trees moves as one body.  This is the active set of Lawson and Hanson,
"Solving Least Squares Problems" (1974), chapter 23, on a graph.  A link whose force would be
negative no longer presses, and all links that close press again.  Each round increases the least
energy that the instant takes, so no forest comes back.

If faces grow, the members of a tree differ by a *shift*, and a link may close inside the tree, or
between two trees that have anchors.  It closes a cycle.  Force is sent round the cycle until one of
its other links has none, as in the simplex method on networks.  That link no longer presses.  If
all links of the cycle gain force, no velocities keep the faces apart, and the link that pushes
fastest is given up.  If it leads to an anchor, the cycle still has what that gave it, so no body
leaves the other anchor for the one that passes through it.

Bodies of a higher dominance outweigh all bodies of lower ones, as if their masses had no limit.  So
the highest *rank* is solved first.  Beside it, lower bodies weigh next to nothing, and only pass on
what presses them.  Then its members are *settled*, with those that pass on a force between them:
they are anchors to the next rank.

The velocities v contain half of what gravity adds to the end of the step, the *kick*
(`motion/gravity.py`).  An impact may press bodies together that gravity parts after it, such as a
body and the ceiling.  So `let_go` solves the clusters of such an instant once more, from the one
velocity that their members have then, plus the kick of each.
"""

from __future__ import annotations

from ecs_collide._kernel import Public, cython
from ecs_collide._kernel.arrays import INT, zeros
from ecs_collide._kernel.constants import INF
from ecs_collide.motion.bodies import Bodies
from ecs_collide.narrowphase.step import Step
from ecs_collide.response.clusters import CLUSTER_ROUNDING, Clusters
from ecs_collide.response.contact_graph import OPEN, ContactGraph
from ecs_collide.response.contact_tree import ContactTree
from ecs_collide.response.momentum_flow import MomentumFlow

PIVOTS_PER_MEMBER = 64  # links that may be added, after which the velocities so far are kept


@cython.final
class Projection:
    """The solver of the components of an instant."""

    bodies: Bodies
    clusters: Clusters
    graph: Public[ContactGraph]
    tree: ContactTree
    flow: MomentumFlow
    n_settled: cython.Py_ssize_t  # the last link at the last `settle`
    # whether gravity may part bodies that have met in this instant: see `let_go`
    lets_go: cython.bint
    is_stuck: cython.bint  # whether the last `settle` has left faces closing between two anchors
    any_lost: cython.bint  # whether a link is given up in this instant
    n_pivots: cython.longlong  # links that may still be added to the component
    n_changes: cython.longlong  # its links that press now and did not, or the other way round
    # how far the forces of a tree go to their goals: the way done divided by the rest of it
    way: cython.double
    pieces: cython.int[::1]  # members whose trees must be solved
    n_pieces: cython.Py_ssize_t
    cycle: cython.int[::1]  # numbers of the links of a cycle, negative if they lose force
    n_searches: cython.longlong

    def __init__(self, step: Step, clusters: Clusters):
        self.bodies = step.bodies
        self.clusters = clusters
        self.graph = ContactGraph(step, clusters)
        self.tree = ContactTree(self.graph)
        self.flow = MomentumFlow(self.graph, self.tree)
        self.pieces = zeros(INT, 0)
        self.cycle = zeros(INT, 0)

    @cython.cfunc
    @cython.inline
    def end_instant(self) -> cython.void:
        """Forget all links."""
        self.graph.end_instant()
        self.n_settled = 0
        self.lets_go = self.any_lost = False

    def settle(self) -> cython.bint:
        """Part bodies that only a pull could hold together; return whether any velocity changed.

        O(members) for each component if nothing parts.
        """
        self.is_stuck = False
        if self.graph.n_links == self.n_settled:
            return False
        self.settle_from(self.n_settled + 1, 2)
        self.n_settled = self.graph.n_links
        return self.clusters.n_to_examine > 0

    def let_go(self) -> cython.bint:
        """Part bodies that gravity parts after they have met; return whether any velocity changed.

        The clusters of the instant are solved once more, with the kicks of their members.
        """
        if not self.lets_go:
            return False
        self.lets_go = False
        for n in range(self.clusters.n_live):
            root: cython.Py_ssize_t = self.clusters.live[n]
            if (
                self.clusters.parent[root] == root
                and self.graph.is_open(root)
                and self.clusters.are_parted_by_kicks(root)
            ):
                self.clusters.let_go(root)
        self.settle_from(1, 1)
        self.n_settled = self.graph.n_links
        return self.clusters.n_to_examine > 0

    def settle_from(self, start_link: cython.Py_ssize_t, least: cython.int) -> cython.void:
        """Solve components with at least so many ends of links, of the links from `start_link` on."""
        g: ContactGraph = self.graph
        first: cython.longlong = g.component + 1

        g.make_room_for_nodes()
        for e in range(start_link, g.n_links + 1):
            start: cython.Py_ssize_t = g.links[e].low or g.links[e].high
            if g.component_of[start] >= first or not g.is_open(start):
                continue
            g.collect(start)
            if g.n_ends >= least:
                self._make_room(g.n_members)
                if self._solve():
                    self._form()

    def _make_room(self, n: cython.Py_ssize_t) -> cython.void:
        """Make room for a component of `n` members."""
        if self.cycle.shape[0] < n:
            self.tree.order = zeros(INT, 2 * n)
            self.flow.near = zeros(INT, 2 * n)
            self.pieces = zeros(INT, 2 * n)
            self.cycle = zeros(INT, 2 * n)  # last, because an array may fail to be allocated

    def _solve(self) -> cython.bint:
        """Find the trees of the component; return whether they differ from its clusters."""
        g: ContactGraph = self.graph
        start: cython.Py_ssize_t = g.members[0].node

        self.n_changes = 0
        if self._stays():
            return False
        for _n in range(g.n_waiting):  # more links need another ring
            g.next_waiting()
        g.add_contacts()
        g.collect(start)
        self.n_changes = 0
        self.n_pivots = PIVOTS_PER_MEMBER * g.n_members
        if g.is_mixed:
            while g.weigh_next():
                self._solve_open()
                self._settle_rank()
            self._join_again()
        else:
            self._solve_open()
        return self.n_changes > 0

    def _solve_open(self) -> cython.void:
        """Solve the trees that have changed, until no link closes."""
        for n in range(self.graph.n_members):
            if self.graph.members[n].tree == OPEN:
                self._solve_later(n)
                self._solve_pieces()
        self._press_waiting()

    def _settle_rank(self) -> cython.void:
        """Settle the members of the rank just solved, and all that pass on a force between them.

        What hangs on them is open again.
        """
        g: ContactGraph = self.graph

        for n in range(g.n_members):
            if g.members[n].is_settled:
                continue
            parent: cython.Py_ssize_t = g.members[n].parent
            hangs: cython.bint = parent >= 0 and g.members[n].is_core != g.members[parent].is_core
            if not g.members[n].is_core:
                if hangs:
                    g.members[n].tree = OPEN
                continue
            if hangs:
                g.links[g.members[n].via].presses = 0
                g.links[g.members[n].via].is_cut = 1
                g.members[parent].tree = OPEN
                g.members[n].tree = n
                g.members[n].wall = 0
            g.settle(n)

    def _join_again(self) -> cython.void:
        """Let the cut links press again whose sides still go together."""
        g: ContactGraph = self.graph

        g.list_links()
        for at in range(g.n_ends):
            e: cython.Py_ssize_t = g.links_of[at]
            if g.links[e].is_cut:
                g.links[e].is_cut = 0
                g.links[e].presses |= self._closing_of_link(e) == 0.0

    def _stays(self) -> cython.bint:
        """Return whether the clusters of the component stay as they are."""
        g: ContactGraph = self.graph
        t: ContactTree = self.tree

        if g.is_mixed:
            return False
        for n in range(g.n_members):
            if g.members[n].tree == OPEN:
                t.walk(n)
                if t.n_pulls and not self.flow.holds():
                    return False
                self._accept()
                if self.n_changes or g.n_waiting:
                    return False
        return True

    def _form(self) -> cython.void:
        """Make the trees of the component its clusters, each with those that hang on it."""
        g: ContactGraph = self.graph
        t: ContactTree = self.tree

        for n in range(g.n_members):
            wall: cython.Py_ssize_t = g.members[n].wall
            if g.members[n].tree != n or (wall and g.links[wall].anchor < 0):
                continue
            wall = t.order_from(n)
            for at in range(t.n):
                one: cython.Py_ssize_t = t.order[at]
                g.members[one].tree = n
                t.order[at] = g.members[one].node
                self.clusters.nodes[t.order[at]].shift = g.members[one].shift
            anchor: cython.Py_ssize_t = g.links[wall].anchor if wall else -1
            self.clusters.form(t.order, t.n, g.members[n].velocity, anchor)

    def _solve_pieces(self) -> cython.void:
        """Solve the trees of the members in `pieces`, and the trees into which they part."""
        while self.n_pieces:
            self.n_pieces -= 1
            n: cython.Py_ssize_t = self.pieces[self.n_pieces]
            self.graph.members[n].is_listed = 0
            if self.graph.members[n].tree != OPEN:
                continue
            self.tree.walk(n)
            if self.tree.n_pulls == 0:
                self._accept()
            else:
                self._part()

    def _part(self) -> cython.void:
        """Change the forces of a tree towards their goals until one becomes negative, and part it.

        Links that would have to pull and have reached 0 no longer press.
        """
        g: ContactGraph = self.graph
        t: ContactTree = self.tree

        self.way = INF
        for n in range(t.n):
            e: cython.Py_ssize_t = g.members[t.order[n]].via
            if e and g.pulls(e):
                self.way = min(self.way, self._way_to_zero(e))
        for n in range(t.n):
            one: cython.Py_ssize_t = t.order[n]
            e = g.members[one].via
            g.members[one].tree = OPEN
            if e == 0:
                continue
            if g.pulls(e) and self._way_to_zero(e) <= self.way:
                g.links[e].presses = 0
                self.n_changes += 1
                self._solve_later(one)
                if n:
                    self._solve_later(g.members[one].parent)
            force: cython.double = g.links[e].force + self.way * g.links[e].goal
            g.links[e].force = max(0.0, force / (1.0 + self.way))

    def _way_to_zero(self, e: cython.Py_ssize_t) -> cython.double:
        """Return the way on which the force of a link that would pull becomes 0."""
        return self.graph.links[e].force / -self.graph.links[e].goal

    def _solve_later(self, n: cython.Py_ssize_t) -> cython.void:
        """List a member whose tree must be solved."""
        self.graph.members[n].tree = OPEN
        self._list(n)

    def _list(self, n: cython.Py_ssize_t) -> cython.void:
        """List a member in `pieces`, once."""
        if not self.graph.members[n].is_listed:
            self.graph.members[n].is_listed = 1
            self.pieces[self.n_pieces] = n
            self.n_pieces += 1

    def _accept(self) -> cython.void:
        """Keep the tree just walked, and list the links that close because of its velocity."""
        g: ContactGraph = self.graph
        t: ContactTree = self.tree
        root: cython.Py_ssize_t = self.clusters.root(g.members[t.order[0]].node)
        at: cython.Py_ssize_t

        if t.n != self.clusters.nodes[root].size or (
            (self.clusters.nodes[root].anchor >= 0) != (t.wall > 0)
        ):
            self.n_changes += 1
        for n in range(t.n):
            one: cython.Py_ssize_t = t.order[n]
            g.members[one].velocity = t.velocity + g.members[one].shift
            g.members[one].wall = t.wall
            g.members[one].tree = t.order[0]
            g.members[one].group = t.order[0]
            e: cython.Py_ssize_t = g.members[one].via  # of link 0, nobody reads the force
            g.links[e].force = max(0.0, g.links[e].goal)
        for n in range(t.n):
            one = t.order[n]
            for at in range(g.members[one].first, g.members[one].end):
                e = g.links_of[at]
                if g.links[e].presses:
                    continue
                other: cython.Py_ssize_t = g.beside(e, one)
                if (other < 0 or g.members[other].tree != OPEN) and self._closes(e):
                    g.wait(e)

    def _press_waiting(self) -> cython.void:
        """Let the links press that close, in rounds, until none does.

        Each group of trees that a round joins is solved once.  A link that closes a cycle waits for
        a round that joins none.
        """
        g: ContactGraph = self.graph

        while g.n_waiting:
            any_joined: cython.bint = False
            for _ in range(g.n_waiting):
                e: cython.Py_ssize_t = g.next_waiting()
                if self.n_pivots > 0 and self._closes(e):
                    if self._closes_cycle(e):
                        g.wait(e)
                    else:
                        any_joined = True
                        self._join(e)
            if g.n_waiting and not any_joined:
                self._press_cycle(g.next_waiting())
            for n in range(self.n_pieces):
                g.members[self.pieces[n]].tree = OPEN
            self._solve_pieces()

    def _join(self, e: cython.Py_ssize_t) -> cython.void:
        """Let a link press that joins two trees, or a tree and an anchor, and list them."""
        g: ContactGraph = self.graph
        n: cython.Py_ssize_t = max(g.links[e].below, g.links[e].above)
        one: cython.Py_ssize_t = self._group_of(n)

        if g.is_to_anchor(e):
            g.members[one].wall = e
        else:
            other: cython.Py_ssize_t = self._group_of(g.beside(e, n))
            g.members[other].group = one
            g.members[one].wall = max(g.members[one].wall, g.members[other].wall)
        g.links[e].force = 0.0
        self._press(e)
        self._list(n)

    def _press_cycle(self, e: cython.Py_ssize_t) -> cython.void:
        """Let a link press that closes a cycle, another link of which no longer does."""
        g: ContactGraph = self.graph

        g.links[e].force = 0.0
        if self._give_way(e) or self._lose_fastest(e):
            self._press(e)
            self._solve_later(max(g.links[e].below, g.links[e].above))
        else:
            self.n_pivots -= 1
            self.is_stuck = True

    def _press(self, e: cython.Py_ssize_t) -> cython.void:
        """Let a link press."""
        self.graph.links[e].presses = 1
        self.n_changes += 1
        self.n_pivots -= 1

    def _closes(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether the faces of a link that does not press close."""
        g: ContactGraph = self.graph

        return not g.links[e].presses and g.links[e].rival < 0 and self._closing_of_link(e) > 0.0

    def _closing_of_link(self, e: cython.Py_ssize_t) -> cython.double:
        """Return how fast the faces of a link close, 0 within rounding."""
        g: ContactGraph = self.graph
        one: cython.double = self._speed_of_side(g.links[e].below, e)
        other: cython.double = self._speed_of_side(g.links[e].above, e)
        closing: cython.double = one - other

        if self.bodies.any_resize:
            closing = (one + g.links[e].apart) - other
            rounding: cython.double = abs(one) + abs(g.links[e].apart) + abs(other)
            if abs(closing) <= CLUSTER_ROUNDING * rounding:
                return 0.0
        return closing

    def _speed_of_side(self, n: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.double:
        """Return the velocity of the member on one side of a link, or of its anchor for -1."""
        g: ContactGraph = self.graph

        return g.members[n].velocity if n >= 0 else g.links[e].speed

    def _closes_cycle(self, e: cython.Py_ssize_t) -> cython.bint:
        """Return whether both sides of a link are in one group of trees, or each has an anchor."""
        g: ContactGraph = self.graph
        below: cython.Py_ssize_t = g.links[e].below
        above: cython.Py_ssize_t = g.links[e].above
        one: cython.Py_ssize_t = self._group_of(below) if below >= 0 else -1
        other: cython.Py_ssize_t = self._group_of(above) if above >= 0 else -1

        if one == other:
            return True
        return (one < 0 or g.members[one].wall > 0) and (other < 0 or g.members[other].wall > 0)

    def _group_of(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first member of the trees that links have joined with the tree of a member."""
        g: ContactGraph = self.graph
        one: cython.Py_ssize_t = g.members[n].tree

        while g.members[one].group != one:
            one = g.members[one].group
        return one

    def _give_way(self, e: cython.Py_ssize_t) -> cython.bint:
        """Send force through a link and round the cycle that it closes, until another has none.

        The other one no longer presses.  Returns False if all links of the cycle gain force: they
        lead from one anchor to another, or round a world that wraps, and faces grow too fast.
        """
        g: ContactGraph = self.graph
        n_links: cython.Py_ssize_t = self._find_cycle(e)
        weakest: cython.Py_ssize_t = 0

        for n in range(n_links):
            at: cython.Py_ssize_t = -self.cycle[n]
            if at > 0 and (weakest == 0 or g.links[at].force < g.links[weakest].force):
                weakest = at
        if weakest == 0:
            return False
        force: cython.double = g.links[weakest].force
        for n in range(n_links):
            at = self.cycle[n]
            if at > 0:
                g.links[at].force += force
            else:
                g.links[-at].force -= force
        g.links[e].force = force
        self._release(weakest)
        return True

    def _release(self, e: cython.Py_ssize_t) -> cython.void:
        """End the press of a link, and list the trees on its sides."""
        g: ContactGraph = self.graph

        g.links[e].presses = 0
        if g.links[e].below >= 0:
            self._solve_later(g.links[e].below)
        if g.links[e].above >= 0:
            self._solve_later(g.links[e].above)

    def _find_cycle(self, e: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the links that connect the sides of a link by their trees to `cycle`.

        Links that lose force when the link gains some are negative.  Returns the number of links.
        """
        g: ContactGraph = self.graph
        n_links: cython.Py_ssize_t = 0
        low: cython.Py_ssize_t = g.links[e].below
        one: cython.Py_ssize_t = low

        self.n_searches += 1
        while one >= 0:
            g.members[one].reached = self.n_searches
            one = g.members[one].parent
        one = g.links[e].above
        while one >= 0 and g.members[one].reached != self.n_searches:
            via: cython.Py_ssize_t = g.members[one].via
            self.cycle[n_links] = via if g.links[via].below == one else -via
            n_links += 1
            one = g.members[one].parent
        while low != one:
            via = g.members[low].via
            self.cycle[n_links] = -via if g.links[via].below == low else via
            n_links += 1
            low = g.members[low].parent
        return n_links

    def _lose_fastest(self, e: cython.Py_ssize_t) -> cython.bint:
        """Give up the link that pushes fastest, of a cycle in which faces go apart too fast.

        So nothing that moves or grows presses another body into one that does neither.  Returns
        False if it is link `e`, which closes the cycle and now never presses, or if the anchors of
        the cycle push equally.
        """
        g: ContactGraph = self.graph
        lost: cython.Py_ssize_t = e
        fastest: cython.double = g.push_of(e)
        is_equal: cython.bint = False
        n_links: cython.Py_ssize_t = self._find_cycle(e)

        for n in range(n_links):
            at: cython.Py_ssize_t = abs(self.cycle[n])
            push: cython.double = g.push_of(at)
            if push > fastest or (push == fastest and lost != e and self._is_rather_lost(at, lost)):
                is_equal = False
                lost = at
                fastest = push
            elif push == fastest and lost != e:
                is_equal |= g.is_to_anchor(at) and g.is_to_anchor(lost)
        if is_equal:
            return False
        self._lose(lost, self._other_anchor(e, lost))
        for n in range(n_links if g.is_to_anchor(lost) else 0):
            g.press_with(lost, g.links[abs(self.cycle[n])].below)
            g.press_with(lost, g.links[abs(self.cycle[n])].above)
        return lost != e

    def _is_rather_lost(self, e: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.bint:
        """Return whether to give up a link rather than another: not one to an anchor."""
        g: ContactGraph = self.graph

        if g.is_to_anchor(e) or g.is_to_anchor(other):
            return not g.is_to_anchor(e)
        return self.bodies.precedes(
            g.body_of(e, g.links[e].low), g.body_of(other, g.links[other].low)
        )

    def _other_anchor(self, e: cython.Py_ssize_t, lost: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return an anchor of the sides of link `e` that is not that of the lost link."""
        g: ContactGraph = self.graph
        below: cython.Py_ssize_t = g.links[e].below
        above: cython.Py_ssize_t = g.links[e].above
        one: cython.Py_ssize_t = g.members[below].wall if below >= 0 else e
        other: cython.Py_ssize_t = g.members[above].wall if above >= 0 else e

        if one == lost:
            one = other
        return g.body_of(one, g.links[one].low if g.links[one].below < 0 else g.links[one].high)

    def _lose(self, lost: cython.Py_ssize_t, rival: cython.Py_ssize_t) -> cython.void:
        """Give up a link, and all links of the component that the same face of its anchor has."""
        g: ContactGraph = self.graph

        self.any_lost = True
        for e in range(1, g.n_links + 1):
            node: cython.Py_ssize_t = g.links[e].low or g.links[e].high
            if e == lost or (
                g.links[lost].anchor >= 0
                and g.links[e].anchor == g.links[lost].anchor
                and (g.links[e].low == 0) == (g.links[lost].low == 0)
                and g.component_of[node] == g.component
            ):
                g.links[e].rival = rival
                self._release(e)

    def rival_between(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the `Link.rival` of a link between two bodies, or -1."""
        g: ContactGraph = self.graph

        for e in range(1, g.n_links + 1):
            if (
                g.links[e].rival >= 0
                and g.body_of(e, g.links[e].low) in (i, j)
                and g.body_of(e, g.links[e].high) in (i, j)
            ):
                return g.links[e].rival
        return -1
