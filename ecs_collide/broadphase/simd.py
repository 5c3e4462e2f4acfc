"""Compare a box with the eight boxes of a node.

Compiled kernels take these functions from `broadphase/simd.h`, as vector instructions on
rounded boxes (`lanes`, relative to `origins`), which find a few boxes in vain.  Here they
compare the boxes themselves.
"""

from __future__ import annotations

from ecs_collide._kernel.constants import NAN

WIDTH = 8  # children of a node
PENDING = 1  # the place of the box that is being inserted or searched
ALL_LANES = 0xFF  # a bit for each child


def touching(
    lanes: object,
    origins: object,
    boxes: list[float],
    node: int,
    others: list[float],
    at: int,
    dim: int,
) -> int:
    """Return one bit for each child of a node whose box shares a point with a box of `others`.

    That box begins at `at`: dim minima, then dim maxima.
    """
    found = 0
    bit = 1
    if dim == 2:  # half the time of the loop below
        left, bottom, right, top = others[at : at + 4]
        for p in range(32 * node, 32 * node + 32, 4):
            # Places without a child have nan and touch nothing.
            if (
                boxes[p] <= right
                and boxes[p + 2] >= left
                and boxes[p + 1] <= top
                and boxes[p + 3] >= bottom
            ):
                found |= bit
            bit += bit
        return found
    low = others[at : at + dim]
    high = others[at + dim : at + 2 * dim]
    for p in range(16 * dim * node, 16 * dim * (node + 1), 2 * dim):
        if boxes[p] <= high[0] and boxes[p + dim] >= low[0]:
            for k in range(1, dim):
                if not (boxes[p + k] <= high[k] and boxes[p + dim + k] >= low[k]):
                    break
            else:
                found |= bit
        bit += bit
    return found


def touching_pairs(
    boxes: list[float],
    node: int,
    mask: int,
    lanes2: object,
    origins2: object,
    boxes2: list[float],
    node2: int,
    dim: int,
) -> int:
    """Return the children of two nodes that touch.

    Bit 8 * i + j stands for child i of the first, which is in `mask`, and child j of the second.
    """
    found = 0
    while mask:
        lane = lowest(mask)
        mask &= mask - 1
        at = 16 * dim * node + 2 * dim * lane
        found |= touching(lanes2, origins2, boxes2, node2, boxes, at, dim) << 8 * lane
    return found


def touching_above(boxes: list[float], node: int, mask: int, lanes: object, dim: int) -> int:
    """Return as `touching_pairs` which children of a node, in `mask`, touch which later ones."""
    found = 0
    while mask:
        lane = lowest(mask)
        mask &= mask - 1
        at = 16 * dim * node + 2 * dim * lane
        touched = touching(lanes, None, boxes, node, boxes, at, dim)
        found |= (touched >> lane + 1 << lane + 1) << 8 * lane
    return found


def touch(boxes: list[float], p: int, boxes2: list[float], q: int, dim: int) -> bool:
    """Return whether the boxes at two places share a point."""
    for k in range(dim):
        if boxes[p + k] > boxes2[q + dim + k] or boxes[p + dim + k] < boxes2[q + k]:
            return False
    return True


def fill(
    lanes: object,
    origins: object,
    boxes: list[float],
    node: int,
    count: int,
    at: int,
    dim: int,
) -> bool:
    """Write the bounds of a node's `count` children to place `at`; return whether they changed."""
    start = 16 * dim * node
    stop = start + 2 * dim * count
    before = boxes[at : at + 2 * dim]
    for k in range(dim):
        boxes[at + k] = min(boxes[start + k : stop : 2 * dim])
        boxes[at + dim + k] = max(boxes[start + dim + k : stop : 2 * dim])
    boxes[stop : start + 16 * dim] = [NAN] * (start + 16 * dim - stop)
    return boxes[at : at + 2 * dim] != before


def lowest(mask: int) -> int:
    """Return the index of the lowest set bit."""
    return (mask & -mask).bit_length() - 1


lowest_of_64 = lowest
