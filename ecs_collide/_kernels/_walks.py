# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Walk through a whole tree of boxes: for all pairs, along a ray, to verify it.

Nothing here recurses.  The height of the tree is bounded, so one stack of
fixed size, that of the nodes, is enough for all walks.

The items' own boxes, `tight_min` and `tight_max`, stand in row `item` of two
arrays and lie inside the bounds that the tree holds.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide._kernels._nodes_c import Nodes
else:
    from ecs_collide._kernels._nodes import Nodes

from ecs_collide._kernels._memory import grown

cython.declare(INF=cython.double)
INF = float("inf")


@cython.cfunc
def find_pairs(
    nodes: Nodes,
    tight_min: cython.double[:, ::1],
    tight_max: cython.double[:, ::1],
    found: cython.longlong[::1],
) -> object:
    """Find all pairs of items whose own boxes share a point (closed), each once.

    Returns their number n and `found`, or a longer array in its place, with
    the two items of each pair in its first 2 * n places.
    """
    box: cython.p_double = nodes.box
    child: cython.p_int = nodes.child
    height: cython.p_int = nodes.height
    stack: cython.p_int = nodes.stack
    dim: cython.Py_ssize_t = nodes.dim
    p: cython.Py_ssize_t
    q: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    one: cython.int
    other: cython.int
    swap: cython.int
    top: cython.int = 0

    if nodes.n_items == 0:
        return 0, found
    stack[0] = nodes.root
    stack[1] = nodes.root
    while top >= 0:
        one = stack[top]
        other = stack[top + 1]
        top -= 2
        if one == other:
            if child[2 * one] >= 0:
                stack[top + 2] = child[2 * one]
                stack[top + 3] = child[2 * one + 1]
                stack[top + 4] = child[2 * one]
                stack[top + 5] = child[2 * one]
                stack[top + 6] = child[2 * one + 1]
                stack[top + 7] = child[2 * one + 1]
                top += 6
            continue
        p = 2 * dim * one
        q = 2 * dim * other
        for k in range(dim):
            if box[p + k] > box[q + dim + k] or box[p + dim + k] < box[q + k]:
                break
        else:
            if height[one] < height[other]:
                swap = one
                one = other
                other = swap
            if height[one] > 0:
                stack[top + 2] = child[2 * one]
                stack[top + 3] = other
                stack[top + 4] = child[2 * one + 1]
                stack[top + 5] = other
                top += 4
                continue
            p = child[2 * one + 1]
            q = child[2 * other + 1]
            for k in range(dim):
                if tight_min[p, k] > tight_max[q, k] or tight_max[p, k] < tight_min[q, k]:
                    break
            else:
                if 2 * n + 2 > found.shape[0]:
                    found = grown(found, 4 * n + 4)
                found[2 * n] = p
                found[2 * n + 1] = q
                n += 1
    return n, found


@cython.cfunc
@cython.exceptval(check=False)
def find_on_ray(
    nodes: Nodes,
    origin: cython.double[::1],
    direction: cython.double[::1],
    tight_min: cython.double[:, ::1],
    tight_max: cython.double[:, ::1],
    ids: cython.longlong[::1],
    hit: cython.double[::1],
) -> cython.Py_ssize_t:
    """Find the item whose own box (closed) a ray meets first; -1 if there is none.

    See `Tree.ray`.
    """
    child: cython.p_int = nodes.child
    stack: cython.p_int = nodes.stack
    k: cython.Py_ssize_t
    item: cython.Py_ssize_t
    nearest: cython.Py_ssize_t = -1
    node: cython.int
    top: cython.int = 0
    time: cython.double
    least: cython.double = 1.0
    ahead: cython.double

    if nodes.n_items == 0:
        return -1
    stack[0] = nodes.root
    while top >= 0:
        node = stack[top]
        top -= 1
        if _time_of_entry_into_node(nodes, node, origin, direction) > least:
            continue
        if child[2 * node] >= 0:
            # The child that begins further back along the ray goes on top.
            ahead = 0.0
            for k in range(nodes.dim):
                ahead += direction[k] * _distance(nodes, child[2 * node], child[2 * node + 1], k)
            if ahead > 0.0:
                stack[top + 1] = child[2 * node + 1]
                stack[top + 2] = child[2 * node]
            else:
                stack[top + 1] = child[2 * node]
                stack[top + 2] = child[2 * node + 1]
            top += 2
            continue
        item = child[2 * node + 1]
        time = _time_of_entry(tight_min, tight_max, item, origin, direction)
        if time < least or (time == least and (nearest < 0 or ids[item] < ids[nearest])):
            least = time
            nearest = item
    if nearest >= 0:
        _describe_hit(tight_min, tight_max, nearest, least, origin, direction, hit)
    return nearest


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _distance(
    nodes: Nodes, one: cython.Py_ssize_t, other: cython.Py_ssize_t, axis: cython.Py_ssize_t
) -> cython.double:
    """Return twice the way from the middle of one node to that of the other, on one axis."""
    dim: cython.Py_ssize_t = nodes.dim
    p: cython.Py_ssize_t = 2 * dim * one + axis
    q: cython.Py_ssize_t = 2 * dim * other + axis

    return (nodes.box[q] - nodes.box[p]) + (nodes.box[q + dim] - nodes.box[p + dim])


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _time_of_entry_into_node(
    nodes: Nodes,
    node: cython.Py_ssize_t,
    origin: cython.double[::1],
    direction: cython.double[::1],
) -> cython.double:
    """Return when a ray is first within bounds, at 0 or later; inf for never.

    As `_time_of_entry`, and never later than for a box within the bounds:
    rounding keeps order in each operation.
    """
    at: cython.Py_ssize_t = 2 * nodes.dim * node
    k: cython.Py_ssize_t
    first: cython.double
    last: cython.double
    enter: cython.double = 0.0
    leave: cython.double = INF

    for k in range(nodes.dim):
        first = nodes.box[at + k] - origin[k]
        last = nodes.box[at + nodes.dim + k] - origin[k]
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
@cython.inline
@cython.exceptval(check=False)
def _time_of_entry(
    tight_min: cython.double[:, ::1],
    tight_max: cython.double[:, ::1],
    item: cython.Py_ssize_t,
    origin: cython.double[::1],
    direction: cython.double[::1],
) -> cython.double:
    """Return when a ray is first in an item's own box, at 0 or later; inf for never."""
    k: cython.Py_ssize_t
    first: cython.double
    last: cython.double
    enter: cython.double = 0.0
    leave: cython.double = INF

    for k in range(origin.shape[0]):
        first = tight_min[item, k] - origin[k]
        last = tight_max[item, k] - origin[k]
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
def _describe_hit(
    tight_min: cython.double[:, ::1],
    tight_max: cython.double[:, ::1],
    item: cython.Py_ssize_t,
    time: cython.double,
    origin: cython.double[::1],
    direction: cython.double[::1],
    hit: cython.double[::1],
) -> cython.void:
    """Write the time, the point and the normal of a hit.

    The point lies exactly in the face that is met.  Of several faces met at
    once, the one of the lowest axis.
    """
    dim: cython.Py_ssize_t = origin.shape[0]
    k: cython.Py_ssize_t
    is_met: cython.bint = False
    face: cython.double

    hit[0] = time
    for k in range(dim):
        hit[1 + k] = origin[k] + time * direction[k]
        hit[1 + dim + k] = 0.0
        if direction[k] == 0.0 or is_met:
            continue
        face = tight_min[item, k] if direction[k] > 0.0 else tight_max[item, k]
        if (face - origin[k]) / direction[k] == time:
            is_met = True
            hit[1 + k] = face
            hit[1 + dim + k] = -1.0 if direction[k] > 0.0 else 1.0


@cython.cfunc
def verify(nodes: Nodes) -> object:
    """Verify every invariant of the tree.  O(n)."""
    child: cython.p_int = nodes.child
    stack: cython.p_int = nodes.stack
    at: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t = 0
    n_leaves: cython.Py_ssize_t = 0
    node: cython.int
    left: cython.int
    right: cython.int
    top: cython.int = -1

    if nodes.n_items > 0:
        top = 0
        stack[0] = nodes.root
        _hold(nodes.parent[nodes.root] == -1, "the root has no parent", nodes.root)
    while top >= 0:
        node = stack[top]
        top -= 1
        n_nodes += 1
        at = 2 * nodes.dim * node
        for k in range(nodes.dim):
            _hold(nodes.box[at + k] <= nodes.box[at + nodes.dim + k], "min <= max", node)
        left = child[2 * node]
        right = child[2 * node + 1]
        if left < 0:
            n_leaves += 1
            _hold(nodes.height[node] == 0, "a leaf has height 0", node)
            _hold(nodes.holds(right), "the item of a leaf is in the tree", node)
            _hold(nodes.leaf_of[right] == node, "an item knows its leaf", node)
            continue
        _hold(nodes.parent[left] == node, "the left child knows its parent", node)
        _hold(nodes.parent[right] == node, "the right child knows its parent", node)
        _hold(left != right, "a branch has two children", node)
        _hold(-1 <= nodes.height[left] - nodes.height[right] <= 1, "balance", node)
        _hold(not nodes.refit(node), "height and bounds follow from the children", node)
        stack[top + 1] = right
        stack[top + 2] = left
        top += 2
    _hold(n_leaves == nodes.n_items, "all items hang in the tree", -1)
    node = nodes.first_free
    while node >= 0:
        n_nodes += 1
        _hold(nodes.height[node] == -1, "a free node is not in use", node)
        node = nodes.parent[node]
    _hold(n_nodes == nodes.node_room, "every node is in the tree or free", -1)
    for k in range(nodes.item_room):
        n_leaves -= nodes.leaf_of[k] >= 0
    _hold(n_leaves == 0, "no other item has a leaf", -1)


@cython.cfunc
def _hold(holds: cython.bint, invariant: str, node: cython.int) -> object:
    if not holds:
        where = f" at node {node}" if node >= 0 else ""
        raise AssertionError(f"the tree is broken{where}: {invariant}")
