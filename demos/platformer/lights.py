"""The light of torches: what each sees by `Space.visible_region`, brighter near the torch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import NO_QUADS, Colour, Quads

RINGS: tuple[tuple[float, Colour], ...] = (  # radius in world units, and colour
    (190.0, (78, 62, 82)),
    (165.0, (94, 72, 82)),
    (140.0, (112, 84, 80)),
    (115.0, (132, 98, 80)),
    (90.0, (152, 114, 80)),
    (65.0, (174, 134, 84)),
    (40.0, (204, 164, 96)),
)
REACH = RINGS[0][0]
PARTS = 6  # of the light between two corners: straight sides of a ring

Floats = NDArray[np.float64]


class Torch(NamedTuple):
    """A torch, and the corners of its dark room: by daylight its light is not seen."""

    place: tuple[float, float]
    low: tuple[float, float]
    high: tuple[float, float]


def lit(space: ec.Space, torches: list[Torch]) -> Quads:
    """Return the light of torches, the darkest rings first.

    Walls, crates, bats and the player are in its way.
    """
    regions = [(torch, space.visible_region(torch.place, REACH)) for torch in torches]
    corners, colours = [NO_QUADS.corners], [NO_QUADS.colours]
    for radius, colour in RINGS:
        for torch, region in regions:
            corners.append(fans(torch, region, radius))
            colours.append(np.full((len(corners[-1]), 3), colour, np.uint8))
    return Quads(np.concatenate(corners), np.concatenate(colours))


def fans(torch: Torch, region: Floats, radius: float) -> Floats:
    """Return the part of a region within a circle and the room, as triangles, shape (n, 4, 2).

    `region` has the corners of what is seen from the torch, counter-clockwise.
    """
    point = np.array(torch.place)
    first = region - point
    along = np.roll(first, -1, axis=0) - first
    start = np.arctan2(first[:, 1], first[:, 0])
    turn = (np.roll(start, -1) - start) % (2 * np.pi)
    sides = (turn > 1e-6) & (turn < np.pi)  # not those that lead away from the point
    first, along, start, turn = first[sides], along[sides], start[sides], turn[sides]
    angles = start[:, None] + turn[:, None] * np.linspace(0.0, 1.0, PARTS + 1)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=2)
    side = along[:, None]
    lengths = _cross(first, along)[:, None] / _cross(ways, side)
    walls = np.where(ways > 0.0, torch.high, torch.low) - point
    room = (np.abs(walls) / np.maximum(np.abs(ways), 1e-9)).min(axis=2)
    ends = point + ways * np.minimum(np.minimum(lengths, radius), room)[:, :, None]
    corners = np.stack([np.broadcast_to(point, ends[:, 1:].shape), ends[:, :-1], ends[:, 1:]], 2)
    return corners[:, :, [0, 1, 2, 2]].reshape(-1, 4, 2)


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
