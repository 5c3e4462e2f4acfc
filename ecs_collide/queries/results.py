"""The results of queries."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._checks import Floats, Integers
from ecs_collide.events import Vector


class RayHit(NamedTuple):
    """A hit of a ray on a box.

    Attributes
    ----------
    id : int
        The box; in a `Space` the entity.
    time : float
        The fraction of the ray, 0 at its origin and 1 at its end.
    point : tuple of float
        In world units, exactly in the face that is hit.
    normal : tuple of float
        Unit vector out of that face, along an axis except at a `Slope`; zeros if the ray begins
        inside the box, or on its surface without entering it.
    """

    id: int
    time: float
    point: Vector
    normal: Vector

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class RayHits(NamedTuple):
    """The first hits of many rays, a row for each.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n,): the box, or the entity, that each meets first; -1 for none.
    times : ndarray
        float64, shape (n,): as in `RayHit`; inf for none.
    points, normals : ndarray
        float64, shape (n, dim): as in `RayHit`; nan for none.
    """

    ids: Integers
    times: Floats
    points: Floats
    normals: Floats


class BoxHit(NamedTuple):
    """A hit of a cast box on another box.

    Attributes
    ----------
    id : int
        The box that is met; in a `Space` the entity.
    time : float
        The fraction of the path, in [0, 1).  0.0 if they overlap from the start.
    centre : tuple of float
        The centre of the cast box at the hit, in world units.  At an impact the box is flush with
        the face that it meets, so a body that is put there touches without overlapping.
    normal : tuple of float
        Unit vector out of the face that is met, towards the cast box.  For an overlap, the
        direction of the shortest way out.
    depth : float
        How far they overlap at the start along `normal`, in world units; 0.0 for an impact.
    """

    id: int
    time: float
    centre: Vector
    normal: Vector
    depth: float

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class BoxHits(NamedTuple):
    """The first hits of many cast boxes, a row for each.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n,): the box, or the entity, that each meets first; -1 for none.
    times, depths : ndarray
        float64, shape (n,): as in `BoxHit`; inf and nan for none.
    centres, normals : ndarray
        float64, shape (n, dim): as in `BoxHit`; nan for none.
    """

    ids: Integers
    times: Floats
    centres: Floats
    normals: Floats
    depths: Floats


class Neighbour(NamedTuple):
    """A box near a point.

    Attributes
    ----------
    id : int
        The box; in a `Space` the entity.
    distance : float
        From the point to the box, in world units; 0.0 inside and on its surface.
    point : tuple of float
        The closest point of the box.
    """

    id: int
    distance: float
    point: Vector

    @property
    def entity(self) -> int:
        """The same as `id`."""
        return self.id


class Neighbours(NamedTuple):
    """The boxes near many points, a row for each, the nearest first.

    Attributes
    ----------
    ids : ndarray
        int64, shape (n, k): boxes or entities; -1 where there are no more.
    distances : ndarray
        float64, shape (n, k): as in `Neighbour`; inf where there are no more.
    points : ndarray
        float64, shape (n, k, dim): as in `Neighbour`; nan where there are no more.
    """

    ids: Integers
    distances: Floats
    points: Floats


class RegionHits(NamedTuple):
    """The boxes in many regions: of region i, ``ids[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    offsets : ndarray
        int64, shape (n + 1,): where the ids of each region begin and end.
    ids : ndarray
        int64: boxes or entities, sorted within each region.
    """

    offsets: Integers
    ids: Integers


class Branches(NamedTuple):
    """The bounds of the inner nodes of trees, a row for each.

    Attributes
    ----------
    mins, maxs : ndarray
        float64, shape (n, dim): the corners, in world units.
    depths : ndarray
        int64, shape (n,): levels below the root of its tree; 0 for a root.
    moving : ndarray
        bool, shape (n,): in a `Space`, True in the tree of moving bodies and False in the
        tree of the others; in an `AABBTree`, False.
    """

    mins: Floats
    maxs: Floats
    depths: Integers
    moving: NDArray[np.bool_]


def to_ray_hits(found: Integers, ids: Integers, hits: Floats) -> RayHits:
    """Return the hits of many rays from the results of `Queries.first_each`."""
    times, points, normals = np.hsplit(hits, [1, 1 + hits.shape[1] // 2])
    return RayHits(_named(found, ids).ravel(), times.ravel(), points, normals)


def to_box_hits(found: Integers, ids: Integers, hits: Floats) -> BoxHits:
    """Return the hits of many cast boxes from the results of `Queries.first_each`."""
    dim = hits.shape[1] // 2 - 1
    times, centres, normals, depths = np.hsplit(hits, [1, 1 + dim, 1 + 2 * dim])
    return BoxHits(_named(found, ids).ravel(), times.ravel(), centres, normals, depths.ravel())


def to_neighbours(found: Integers, ids: Integers, hits: Floats) -> Neighbours:
    """Return the boxes near many points from the results of `Queries.first_each`."""
    distances, points = np.hsplit(hits, [1])
    points = points.reshape(*found.shape, points.shape[1])
    return Neighbours(_named(found, ids), distances.reshape(found.shape), points)


def _named(rows: Integers, ids: Integers) -> Integers:
    """Return the id of each row, -1 for -1."""
    return np.where(rows < 0, -1, ids[rows])


def branches_of(tree: Any, moving: bool) -> Branches:
    """Return the bounds of the inner nodes of a kernel tree."""
    mins, maxs = np.empty((2, tree.n_nodes, tree.dim))
    depths = np.empty(tree.n_nodes, np.int64)
    tree.branches_into(mins.data, maxs.data, depths.data)
    return Branches(mins, maxs, depths, np.full(tree.n_nodes, moving))
