"""Who finds the pairs: this library's tree, numpy, and libraries of spatial indexes.

The work is the same for all: bring the structure up to date with a frame, and
give all pairs of boxes that share a point, in whatever form the competitor has
them at hand.  Ids as sorted int64 rows, as `AABBTree.pairs` gives them, are
asked of nobody else: what turns an answer into them is outside the clock.

Pairs of two boxes that rest may be left out, as a game does not ask for them.
Whoever can keep an index of what rests, and look up only what moves, does so.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks.numpy_sweep import RestingBoxes, spans, sweep
from benchmarks.scenes import Boxes, Floats, Frame, Integers, Scene


class Finder:
    """Finds pairs, frame after frame; made with a scene.

    Attributes
    ----------
    name : str
    needs : str
        The distribution that has to be installed.
    module : str
        What is imported from it.
    dims : tuple of int
        In how many dimensions it works.
    resting_only : bool
        Whether it competes only in scenes where something rests.
    """

    name: ClassVar[str]
    needs: ClassVar[str]
    module: ClassVar[str]
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    resting_only: ClassVar[bool] = False

    def __init__(self, scene: Scene) -> None:
        """Make what lasts from frame to frame."""

    def step(self, frame: Frame) -> Any:
        """Bring everything up to date and find the pairs; this is what the clock sees."""
        raise NotImplementedError

    def pairs(self, answer: Any) -> Integers:
        """Return the pairs of the last answer as ids, shape (m, 2), in no order."""
        pairs: Integers = answer
        return pairs


class Ours(Finder):
    """`AABBTree`: `update_many` and `pairs`, arrays in and out."""

    name = "ecs_collide"
    needs = module = "ecs_collide"

    def __init__(self, scene: Scene) -> None:
        from ecs_collide import AABBTree

        boxes = scene.frames[0].boxes
        self.tree = AABBTree(scene.dim, capacity=len(boxes))
        self.tree.insert_many(boxes.ids, boxes.mins, boxes.maxs)

    def step(self, frame: Frame) -> Integers:
        if len(frame.gone):
            self.tree.remove_many(frame.gone)
        if len(frame.new):
            self.tree.insert_many(frame.new.ids, frame.new.mins, frame.new.maxs)
        moved = frame.moved
        self.tree.update_many(moved.ids, moved.mins, moved.maxs, moved.motions)
        return self.tree.pairs()


class Numpy(Finder):
    """Sort and sweep in whole-array numpy, all anew in each frame."""

    name = "numpy"
    needs = module = "numpy"

    def step(self, frame: Frame) -> Integers:
        boxes = frame.boxes
        return boxes.ids[sweep(boxes.mins, boxes.maxs)]


class NumpyResting(Finder):
    """The same, but what rests is sorted once and only what moves is swept."""

    name = "numpy, rest sorted once"
    needs = module = "numpy"
    resting_only = True

    def __init__(self, scene: Scene) -> None:
        self.resting = scene.resting
        self.sorted = RestingBoxes(scene.resting.mins, scene.resting.maxs)

    def step(self, frame: Frame) -> Integers:
        moved = moving(frame)
        among = moved.ids[sweep(moved.mins, moved.maxs)]
        met = self.sorted.meeting(moved.mins, moved.maxs)
        against = np.stack([moved.ids[met[:, 0]], self.resting.ids[met[:, 1]]], axis=1)
        return np.concatenate([among, against])


class Shapely(Finder):
    """`shapely.STRtree`, asked with all boxes at once.

    The tree cannot be changed, so what moves is packed anew in each frame.
    Only envelopes matter to it, so a box is given as its diagonal, which is
    made in less time.
    """

    name = "shapely STRtree"
    needs = module = "shapely"
    dims = (2,)

    def __init__(self, scene: Scene) -> None:
        import shapely

        self.shapely = shapely
        self.resting_ids = scene.resting.ids
        self.resting = shapely.STRtree(self.diagonals(scene.resting))

    def diagonals(self, boxes: Boxes) -> Any:
        return self.shapely.linestrings(np.stack([boxes.mins, boxes.maxs], axis=1))

    def step(self, frame: Frame) -> Integers:
        moved = moving(frame)
        shapes = self.diagonals(moved)
        a, b = self.shapely.STRtree(shapes).query(shapes)
        once = a < b
        found = moved.ids[np.stack([a[once], b[once]], axis=1)]
        if not len(self.resting_ids):
            return found
        a, b = self.resting.query(shapes)
        return np.concatenate([found, np.stack([moved.ids[a], self.resting_ids[b]], axis=1)])


class Scipy(Finder):
    """`scipy.spatial.cKDTree`: centres as near as the largest box is wide, then the boxes."""

    name = "scipy cKDTree"
    needs = module = "scipy"

    def __init__(self, scene: Scene) -> None:
        from scipy.spatial import cKDTree

        self.tree = cKDTree

    def step(self, frame: Frame) -> Integers:
        mins, maxs = frame.boxes.mins, frame.boxes.maxs
        tree = self.tree((mins + maxs) * 0.5)
        near = tree.query_pairs((maxs - mins).max(), p=np.inf, output_type="ndarray")
        a, b = near.T
        keep = np.ones(len(near), bool)
        for k in range(mins.shape[1]):
            low, high = mins[:, k], maxs[:, k]
            keep &= (low.take(a) <= high.take(b)) & (low.take(b) <= high.take(a))
        return frame.boxes.ids[near[keep]]


class Rtree(Finder):
    """`rtree` (libspatialindex): packed from arrays and asked with arrays."""

    name = "rtree"
    needs = module = "rtree"

    def __init__(self, scene: Scene) -> None:
        from rtree import index

        self.index = index
        self.dim = scene.dim
        self.resting = self.packed(scene.resting) if len(scene.resting) else None

    def packed(self, boxes: Boxes) -> Any:
        stream = (boxes.ids, boxes.mins, boxes.maxs)
        return self.index.Index(stream, properties=self.index.Property(dimension=self.dim))

    def step(self, frame: Frame) -> Integers:
        moved = moving(frame)
        a, b = self.met(self.packed(moved), moved)
        once = a < b
        found = np.stack([a[once], b[once]], axis=1)
        if self.resting is None:
            return found
        return np.concatenate([found, np.stack(self.met(self.resting, moved), axis=1)])

    def met(self, tree: Any, boxes: Boxes) -> tuple[Integers, Integers]:
        ids, counts = tree.intersection_v(boxes.mins, boxes.maxs)
        return boxes.ids[spans(counts.astype(np.int64))[0]], ids.astype(np.int64)


class Coal(Finder):
    """`coal`, formerly hpp-fcl: its dynamic AABB trees, one of what rests, one of what moves.

    From Python it tells how many pairs it has collected, and of any two objects
    whether they are among them, but cannot list them, so it is spared that.
    python-fcl lists them, by a Python call for each, in twice the time.
    """

    name = "coal"
    needs = module = "coal"
    dims = (3,)

    def __init__(self, scene: Scene) -> None:
        import coal

        self.coal = coal
        boxes = scene.frames[0].boxes
        self.objects: dict[int, Any] = {}
        self.resting, self.moving = (coal.DynamicAABBTreeCollisionManager() for _ in range(2))
        self.among, self.against = (coal.CollisionCallBackCollect(100 * len(boxes)) for _ in "12")
        for row in range(len(boxes)):
            tree = self.resting if row < len(scene.resting) else self.moving
            self.add(tree, int(boxes.ids[row]), boxes.mins[row], boxes.maxs[row])
        self.resting.setup()
        self.moving.setup()
        self.against.init()

    def add(self, tree: Any, id: int, min: Floats, max: Floats) -> None:
        box = self.coal.CollisionObject(self.coal.Box(*(max - min).tolist()))
        box.setTranslation((min + max) * 0.5)
        box.computeAABB()
        tree.registerObject(box)
        self.objects[id] = box

    def step(self, frame: Frame) -> Frame:
        for id in frame.gone.tolist():
            self.moving.unregisterObject(self.objects.pop(id))
        moved, new = frame.moved, frame.new
        centres = (moved.mins + moved.maxs) * 0.5
        for id, centre in zip(moved.ids.tolist(), centres, strict=True):
            box = self.objects[id]
            box.setTranslation(centre)
            box.computeAABB()
        for id, low, high in zip(new.ids.tolist(), new.mins, new.maxs, strict=True):
            self.add(self.moving, id, low, high)
        self.moving.update()
        self.among.init()
        self.moving.collide(self.among)
        if self.resting.size():
            self.against.init()
            self.moving.collide(self.resting, self.against)
        return frame

    def pairs(self, answer: Frame) -> Integers:
        """Return the right pairs if it has as many, and knows of some hundred of them."""
        wanted = answer.boxes.ids[sweep(answer.boxes.mins, answer.boxes.maxs)]
        wanted = wanted[wanted.max(axis=1) >= self.resting.size()]
        n_found = self.among.numCollisionPairs() + self.against.numCollisionPairs()
        some = wanted[:: len(wanted) // 200 + 1].tolist()
        if all(self.contains(self.objects[a], self.objects[b]) for a, b in some):
            return np.resize(wanted, (n_found, 2))
        return np.full((n_found, 2), -1)

    def contains(self, one: Any, other: Any) -> bool:
        return any(
            seen.exist(one, other) or seen.exist(other, one) for seen in (self.among, self.against)
        )


def moving(frame: Frame) -> Boxes:
    """Return all boxes of a frame that can move: a slice, as those that rest come first."""
    return frame.boxes[len(frame.boxes) - len(frame.moved) - len(frame.new) :]
