"""Walk down a tree of boxes: for what touches a box, along a ray, to verify it.

Nothing here recurses: what is still to be visited stands on a stack, seven
more nodes for each level at most.

The boxes that the tree holds may be larger than the items' *own* ones, which
then stand in row `item` of two arrays, `tight_min` and `tight_max`.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.fat_bounds_c import flat
    from cython.cimports.ecs_collide.broadphase.nodes_c import Nodes
    from cython.cimports.ecs_collide.broadphase.simd_c import (
        WAITING,
        WIDTH,
        lowest,
        touch,
        touching,
    )
else:
    from ecs_collide.broadphase.fat_bounds import flat
    from ecs_collide.broadphase.nodes import Nodes
    from ecs_collide.broadphase.simd import WAITING, WIDTH, lowest, touch, touching

from ecs_collide.motion.arrays import DOUBLE, INT, LONG, zeros

cython.declare(INF=cython.double, STACK_ROOM=cython.Py_ssize_t, LARGEST=cython.double)
INF = float("inf")
LARGEST = 2.0**500  # as in _checks
STACK_ROOM = 1024  # for more than a hundred levels


@cython.final
@cython.cclass
class Walker:
    """Walks through the nodes of one tree."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.stack = zeros(INT, STACK_ROOM)
        self.entry = zeros(DOUBLE, STACK_ROOM)
        self.found = zeros(LONG, 0)
        if not cython.compiled:
            self.one = [0.0] * 3
            self.other = [0.0] * 3
            self.hit = [0.0] * 7

    @cython.cfunc
    @cython.exceptval(check=False)
    def find_touching(
        self,
        mins: cython.p_double,
        maxs: cython.p_double,
        row: cython.Py_ssize_t,
        found: cython.longlong[::1],
    ) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with box `row` of two arrays.

        Writes them into `found`, which must have room for all items, in the
        order of the tree; returns their number.
        """
        nodes: Nodes = self.nodes
        box: cython.p_double = nodes.box
        stack: cython.int[::1] = self.stack
        dim: cython.Py_ssize_t = nodes.dim
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        place: cython.Py_ssize_t
        node: cython.int
        mask: cython.uint
        top: cython.Py_ssize_t = 0

        if nodes.n_items == 0:
            return 0
        for k in range(dim):
            box[2 * dim * WAITING + k] = mins[dim * row + k]
            box[2 * dim * WAITING + dim + k] = maxs[dim * row + k]
        stack[0] = nodes.root()
        while top >= 0:
            node = stack[top]
            top -= 1
            mask = touching(nodes.lanes, nodes.origin, box, node, box, 2 * dim * WAITING, dim)
            while mask:
                place = WIDTH * node + lowest(mask)
                mask &= mask - 1
                if nodes.level[node] > 0:
                    top += 1
                    stack[top] = nodes.child[place]
                elif touch(box, 2 * dim * place, box, 2 * dim * WAITING, dim):
                    found[n] = nodes.child[place]
                    n += 1
        return n

    @cython.cfunc
    @cython.exceptval(check=False)
    def find_on_ray(
        self,
        origin: cython.p_double,
        direction: cython.p_double,
        own: cython.bint,
        tight_min: cython.p_double,
        tight_max: cython.p_double,
        ids: cython.longlong[::1],
        hit: cython.p_double,
    ) -> cython.Py_ssize_t:
        """Find the item whose own box (closed) a ray meets first; -1 if there is none.

        See `Tree.ray`.
        """
        nodes: Nodes = self.nodes
        stack: cython.int[::1] = self.stack
        entry: cython.double[::1] = self.entry
        dim: cython.Py_ssize_t = nodes.dim
        item: cython.Py_ssize_t
        nearest: cython.Py_ssize_t = -1
        node: cython.int
        lane: cython.int
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t
        top: cython.Py_ssize_t = 0
        time: cython.double
        least: cython.double = 1.0

        if nodes.n_items == 0:
            return -1
        stack[0] = nodes.root()
        entry[0] = 0.0
        while top >= 0:
            node = stack[top]
            time = entry[top]
            top -= 1
            if time > least:
                continue
            first = top + 1
            for lane in range(nodes.count[node]):
                item = nodes.child[WIDTH * node + lane]
                i = 2 * dim * (WIDTH * node + lane)
                time = time_of_entry(nodes.box, nodes.box, i, i + dim, dim, origin, direction)
                if time > least:
                    continue
                if nodes.level[node] > 0:
                    # Sorted in: what the ray meets first comes to lie on top.
                    top += 1
                    i = top
                    while i > first and entry[i - 1] < time:
                        entry[i] = entry[i - 1]
                        stack[i] = stack[i - 1]
                        i -= 1
                    entry[i] = time
                    stack[i] = item
                    continue
                if not own:
                    i = dim * item
                    time = time_of_entry(tight_min, tight_max, i, i, dim, origin, direction)
                if time < least or (time == least and (nearest < 0 or ids[item] < ids[nearest])):
                    least = time
                    nearest = item
        if nearest >= 0:
            i = 2 * dim * nodes.place_of[nearest]
            if own:
                describe_hit(nodes.box, nodes.box, i, i + dim, dim, least, origin, direction, hit)
            else:
                i = dim * nearest
                describe_hit(tight_min, tight_max, i, i, dim, least, origin, direction, hit)
        return nearest

    def query(
        self,
        lower: object,
        upper: object,
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
        ids: cython.longlong[::1],
    ) -> object:
        """Return the ids of the items whose own boxes share a point with a box, sorted.

        None where the two corners are not plain tuples of numbers in order.
        With no rows in `tight_min` the boxes that the tree holds are the own
        ones.
        """
        dim: cython.Py_ssize_t = self.nodes.dim
        own: cython.bint = tight_min.shape[0] == 0
        answer: list = []
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        item: cython.longlong

        if not (take(lower, self.one, dim) and take(upper, self.other, dim)):
            return None
        for k in range(dim):
            if self.one[k] > self.other[k]:
                return None
        if self.found.shape[0] < self.nodes.n_items:
            self.found = zeros(LONG, 2 * self.nodes.n_items)
        for i in range(self.find_touching(self.one, self.other, 0, self.found)):
            item = self.found[i]
            if not own:
                for k in range(dim):
                    if tight_min[item, k] > self.other[k] or tight_max[item, k] < self.one[k]:
                        break
                else:
                    answer.append(ids[item])
                continue
            answer.append(ids[item])
        answer.sort()
        return answer

    def cast_ray(
        self,
        origin: object,
        direction: object,
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
        ids: cython.longlong[::1],
    ) -> object:
        """Return the time, the id, the point and the normal of the first hit of one ray.

        An empty tuple where it hits nothing, None where the two vectors are
        not plain tuples of numbers.  See `Tree.rays`.
        """
        dim: cython.Py_ssize_t = self.nodes.dim
        own: cython.bint = tight_min.shape[0] == 0
        hit: cython.p_double = self.hit
        item: cython.Py_ssize_t

        if not (take(origin, self.one, dim) and take(direction, self.other, dim)):
            return None
        item = -1
        if self.nodes.n_items > 0:
            item = self.find_on_ray(
                self.one, self.other, own, flat(tight_min), flat(tight_max), ids, hit
            )
        if item < 0:
            return ()
        if dim == 2:
            return hit[0], ids[item], (hit[1], hit[2]), (hit[3], hit[4])
        return hit[0], ids[item], (hit[1], hit[2], hit[3]), (hit[4], hit[5], hit[6])

    @cython.cfunc
    def verify(self) -> None:
        """Verify every invariant of the tree.  O(n)."""
        nodes: Nodes = self.nodes
        stack: cython.int[::1] = self.stack
        n_nodes: cython.Py_ssize_t = 0
        n_items: cython.Py_ssize_t = 0
        n_free: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        node: cython.int
        child: cython.int
        lane: cython.int
        place: cython.Py_ssize_t
        top: cython.Py_ssize_t = -1

        if nodes.n_items > 0:
            top = 0
            stack[0] = nodes.root()
            _hold(nodes.place[nodes.root()] == 0, "the root hangs in node 0", nodes.root())
        while top >= 0:
            node = stack[top]
            top -= 1
            n_nodes += 1
            _hold(0 < nodes.count[node] <= WIDTH, "one to eight children", node)
            _hold(nodes.level[node] >= 0, "a free node is not in use", node)
            for lane in range(nodes.count[node]):
                place = WIDTH * node + lane
                child = nodes.child[place]
                for k in range(2 * nodes.dim * place, 2 * nodes.dim * place + nodes.dim):
                    _hold(nodes.box[k] <= nodes.box[k + nodes.dim], "min <= max", node)
                if nodes.level[node] == 0:
                    n_items += 1
                    _hold(nodes.holds(child), "the items of a node are in the tree", node)
                    _hold(nodes.place_of[child] == place, "an item knows its place", node)
                    if nodes.is_changed[child]:
                        _hold(self._knows(place), "changes are noted all the way up", node)
                else:
                    _hold(nodes.place[child] == place, "a node knows its place", node)
                    _hold(nodes.level[child] == nodes.level[node] - 1, "one level down", node)
                    top += 1
                    stack[top] = child
            _hold(not nodes.refresh(node), "bounds follow from the children", node)
        _hold(n_items == nodes.n_items, "all items hang in the tree", -1)
        _hold(n_nodes == nodes.n_nodes, "all nodes in use hang in the tree", -1)
        node = nodes.first_free
        while node >= 0:
            n_free += 1
            _hold(nodes.level[node] == -1, "a free node is not in use", node)
            node = nodes.place[node]
        _hold(
            n_nodes + n_free == max(nodes.node_room - 1, 0), "every node is in the tree or free", -1
        )
        for k in range(nodes.item_room):
            n_items -= nodes.place_of[k] >= 0
        _hold(n_items == 0, "no other item has a place", -1)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _knows(self, place: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a change at a place is noted there and above."""
        while place >= WIDTH:
            if not self.nodes.changed[place >> 3] >> (place & 7) & 1:
                return False
            place = self.nodes.place[place >> 3]
        return True


@cython.cfunc
@cython.exceptval(-1, check=False)
def take(vector: object, into: cython.p_double, dim: cython.Py_ssize_t) -> cython.int:
    """Take over a vector; tell whether it is a plain tuple of numbers that are not too large."""
    k: cython.Py_ssize_t
    number: object

    if type(vector) is not tuple or len(vector) != dim:
        return False
    for k in range(dim):
        number = vector[k]
        if type(number) is not float and type(number) is not int:
            return False
        if not -LARGEST <= number <= LARGEST:
            return False
        into[k] = float(number) + 0.0
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def time_of_entry(
    mins: cython.p_double,
    maxs: cython.p_double,
    p: cython.Py_ssize_t,
    q: cython.Py_ssize_t,
    dim: cython.Py_ssize_t,
    origin: cython.p_double,
    direction: cython.p_double,
) -> cython.double:
    """Return when a ray is first in the box from mins[p] to maxs[q], at 0 or later; inf for never.

    Never later than for a box within that: rounding keeps order in each operation.
    """
    k: cython.Py_ssize_t
    first: cython.double
    last: cython.double
    enter: cython.double = 0.0
    leave: cython.double = INF

    for k in range(dim):
        first = mins[p + k] - origin[k]
        last = maxs[q + k] - origin[k]
        if direction[k] > 0.0:
            enter = max(enter, first / direction[k])
            leave = min(leave, last / direction[k])
        elif direction[k] < 0.0:
            enter = max(enter, last / direction[k])
            leave = min(leave, first / direction[k])
        elif first > 0.0 or last < 0.0:
            return INF
    return enter if enter <= leave else INF


@cython.cfunc
@cython.exceptval(check=False)
def describe_hit(
    mins: cython.p_double,
    maxs: cython.p_double,
    p: cython.Py_ssize_t,
    q: cython.Py_ssize_t,
    dim: cython.Py_ssize_t,
    time: cython.double,
    origin: cython.p_double,
    direction: cython.p_double,
    hit: cython.p_double,
) -> cython.void:
    """Write the time, the point and the normal of a hit.

    The point lies exactly in the face that is met.  Of several faces met at
    once, the one of the lowest axis.
    """
    k: cython.Py_ssize_t
    is_met: cython.bint = False
    face: cython.double

    hit[0] = time
    for k in range(dim):
        hit[1 + k] = origin[k] + time * direction[k]
        hit[1 + dim + k] = 0.0
        if direction[k] == 0.0 or is_met:
            continue
        face = mins[p + k] if direction[k] > 0.0 else maxs[q + k]
        if (face - origin[k]) / direction[k] == time:
            is_met = True
            hit[1 + k] = face
            hit[1 + dim + k] = -1.0 if direction[k] > 0.0 else 1.0


@cython.cfunc
def _hold(holds: cython.bint, invariant: str, node: cython.int) -> None:
    if not holds:
        where = f" at node {node}" if node >= 0 else ""
        raise AssertionError(f"the tree is broken{where}: {invariant}")
