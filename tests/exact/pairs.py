"""Pairs of boxes that try the sweep: plain ones, and such as are made to mislead it.

Each kind is a function of a generator, a dimension and a number; it returns
centres, halves, motions and growths, each float64 (n, 2, dim): two boxes for each pair.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np


class Bodies(NamedTuple):
    """Boxes in pairs, float64 (n, 2, dim) each."""

    centres: np.ndarray
    halves: np.ndarray
    motions: np.ndarray
    growths: np.ndarray


def none(n, dim):
    return np.zeros((n, 2, dim))


def some(rng, values, shape, share):
    """Return values of which a share is kept and the others are 0."""
    return np.where(rng.random(shape) < share, values, 0.0)


def wholes(rng, shape, reach):
    return rng.integers(-reach, reach + 1, shape).astype(float)


def signs(rng, shape):
    return rng.choice((-1.0, 1.0), shape)


def powers(rng, shape, low, high):
    """Return numbers of any sign whose logarithm to base 10 is uniform."""
    return signs(rng, shape) * 10.0 ** rng.uniform(low, high, shape)


def nudged(rng, numbers, most=2):
    """Return numbers a few ulp away, or none."""
    return numbers + rng.integers(-most, most + 1, numbers.shape) * np.spacing(numbers)


def integers(rng, dim, n):
    shape = (n, 2, dim)
    halves = rng.integers(0, 4, shape).astype(float)
    growths = some(rng, wholes(rng, shape, 3), (n, 1, 1), 0.3)
    return Bodies(wholes(rng, shape, 5), halves, wholes(rng, shape, 9), growths)


def dyadics(rng, dim, n):
    shape = (n, 2, dim)
    step = 2.0 ** -rng.integers(0, 7, (n, 1, 1))
    halves = rng.integers(0, 200, shape) * step
    growths = some(rng, wholes(rng, shape, 90) * step, (n, 1, 1), 0.3)
    return Bodies(wholes(rng, shape, 300) * step, halves, wholes(rng, shape, 500) * step, growths)


def decimals(rng, dim, n):
    shape = (n, 2, dim)
    halves = rng.integers(0, 8, shape) / 10
    growths = some(rng, wholes(rng, shape, 9) / 10, (n, 1, 1), 0.3)
    return Bodies(wholes(rng, shape, 12) / 10, halves, wholes(rng, shape, 30) / 10, growths)


def rough(rng, dim, n):
    shape = (n, 2, dim)
    return Bodies(
        rng.uniform(-3, 3, shape),
        rng.uniform(0, 2, shape),
        rng.uniform(-8, 8, shape),
        some(rng, rng.uniform(-2, 2, shape), (n, 1, 1), 0.3),
    )


def near_ties(rng, dim, n):
    """What would happen at once, one or two ulp apart."""
    exact = (integers, decimals)[int(rng.integers(2))](rng, dim, n)
    return Bodies(
        nudged(rng, exact.centres),
        np.abs(nudged(rng, exact.halves)),
        nudged(rng, exact.motions),
        nudged(rng, exact.growths),
    )


def far_out(rng, dim, n):
    """A hundred million away, where an ulp is 1.5e-8: what is a tie there and what is none."""
    near = (decimals, rough, integers)[int(rng.integers(3))](rng, dim, n)
    return near._replace(centres=near.centres + signs(rng, (n, 1, dim)) * 1e8)


def speeds(rng, dim, n):
    """As slow as 1e-300 and as fast as 1e6, both at once."""
    plain = (decimals, touching)[int(rng.integers(2))](rng, dim, n)
    motions = some(rng, powers(rng, plain.motions.shape, -300, 6), plain.motions.shape, 0.8)
    return plain._replace(motions=motions)


def touching(rng, dim, n):
    """Face to face to the last bit, at rest or not."""
    plain = (decimals, rough)[int(rng.integers(2))](rng, dim, n)
    centres, halves, rows = plain.centres, plain.halves, np.arange(n)
    for _ in range(int(rng.integers(1, dim + 1))):
        axis = rng.integers(0, dim, n)
        face = centres[rows, 0, axis] + halves[rows, 0, axis]
        half = halves[rows, 1, axis]
        centre = face + half
        # Toward the face until the stored faces are one, where rounding lets them.
        for _ in range(2):
            low = centre - half
            centre = np.where(low == face, centre, np.nextafter(centre, centre + (face - low)))
        centres[rows, 1, axis] = centre
    motions = some(rng, plain.motions, (n, 2, dim), 0.6)
    together = rng.random(n) < 0.3
    motions[together, 1] = motions[together, 0]
    return plain._replace(motions=motions)


def seams(rng, dim, n):
    """A walker on a floor of tiles, each pair one of them: along it, or landing on its seams."""
    tile = rng.choice((0.1, 0.3, 1.0, 16.0, 1 / 3, 0.7), n)
    count = rng.integers(-1000, 1000, n)
    centres, halves, motions = none(n, dim), np.full((n, 2, dim), 5.0), none(n, dim)
    half = tile * rng.choice((0.5, 0.4, 1.0, 2.0), n)
    centres[:, 1, 0] = count * tile + tile / 2
    halves[:, 1, 0] = tile / 2
    halves[:, 0, 0] = halves[:, 0, 1] = half
    centres[:, 0, 1] = 5.0 + half + rng.choice((0.0, 0.0, 1.0, 0.1), n) * tile
    centres[:, 0, 0] = (count + rng.choice((-1, 0, 1, 2, -3), n)) * tile
    centres[:, 0, 0] += rng.choice((-1.0, 0.0, 1.0), n) * half
    motions[:, 0, 0] = wholes(rng, n, 3) * tile
    motions[:, 0, 1] = -rng.choice((0.0, 1.0, 2.0, 0.1), n) * tile
    return Bodies(centres, halves, motions, none(n, dim))


def corners(rng, dim, n):
    """Corner to corner at one instant, wound back from there: rounding says which face is first."""
    shape = (n, 2, dim)
    halves = rng.integers(1, 40, shape) / rng.choice((4.0, 10.0, 7.0), (n, 1, 1))
    motions = wholes(rng, shape, 40) / rng.choice((1.0, 10.0, 3.0), (n, 1, 1))
    at = none(n, dim)
    at[:, 0] = wholes(rng, (n, dim), 30) / 10
    reach = halves.sum(axis=1)
    inside = rng.uniform(-1, 1, (n, dim)) * reach
    ahead = np.where(motions[:, 0] > motions[:, 1], reach, -reach)
    level = rng.random((n, dim)) < 0.75
    at[:, 1] = at[:, 0] + np.where(level, ahead, inside)
    time = rng.choice((0.0, 0.5, 0.25, 0.1, 0.7, 1 / 3, 1.0), (n, 1, 1))
    equal = rng.random(n) < 0.4
    motions[equal] = np.sign(motions[equal]) * np.abs(motions[equal, :, :1])
    return Bodies(at - motions * time, halves, motions, none(n, dim))


def overlapping(rng, dim, n):
    """Inside each other: deep, by a few ulp, or by about the slop."""
    shape = (n, 2, dim)
    halves = rng.uniform(0.1, 2, shape)
    centres = wholes(rng, (n, 1, dim), 50) / 10 + none(n, dim)
    reach = halves.sum(axis=1)
    depth = rng.choice((0.0, 1e-15, 2.0**-44, 2.0**-43, 1e-9, 0.1, 0.9), (n, dim))
    depth = depth * rng.uniform(0, 5, (n, dim))
    centres[:, 1] += signs(rng, (n, dim)) * reach * np.maximum(0, 1 - depth)
    motions = some(rng, rng.uniform(-3, 3, shape), shape, 0.7)
    growths = some(rng, rng.uniform(-1, 1, shape), (n, 1, 1), 0.3)
    return Bodies(centres, halves, motions, growths)


def growing(rng, dim, n):
    """Boxes that grow and shrink, also to nothing, some of them as fast as they move."""
    plain = (decimals, rough, touching)[int(rng.integers(3))](rng, dim, n)
    growths = some(rng, rng.uniform(-4, 4, (n, 2, dim)), (n, 2, dim), 0.8)
    as_fast = rng.random((n, 2, dim)) < 0.3
    growths = np.where(as_fast, signs(rng, as_fast.shape) * plain.motions, growths)
    motions = some(rng, plain.motions, (n, 1, 1), 0.8)
    return plain._replace(motions=motions, growths=growths)


def thin(rng, dim, n):
    """Points, lines and plates, and such as are one ulp thick."""
    plain = (integers, decimals, touching, rough)[int(rng.integers(4))](rng, dim, n)
    thickness = rng.choice((0.0, 0.0, 0.0, 1e-16, 1e-13), plain.halves.shape)
    halves = np.where(rng.random(plain.halves.shape) < 0.6, thickness, plain.halves)
    return plain._replace(halves=halves)


def denormals(rng, dim, n):
    """The smallest numbers there are, alone and among others."""
    shape = (n, 2, dim)
    tiny = 10.0 ** rng.choice((-323.0, -310.0, -300.0, -201.0, -199.0), (n, 1, 1))

    def numbers(low, high):
        return rng.integers(low, high, shape) * tiny

    bodies = Bodies(numbers(-6, 7), numbers(0, 4), numbers(-9, 10), none(n, dim))
    mixed = (rng.random((4, *shape)) < 0.15) & (rng.random((n, 1, 1)) < 0.5)
    halves = np.where(mixed[1], 1.0, bodies.halves)
    return Bodies(
        np.where(mixed[0], 1.0, bodies.centres),
        halves,
        np.where(mixed[2], 3.0, bodies.motions),
        some(rng, numbers(-3, 4), (n, 1, 1), 0.3),
    )


def sizes(rng, dim, n):
    """A box a trillion times the other's size."""
    shape = (n, 2, dim)
    halves = np.abs(powers(rng, shape, -6, -5))
    halves[:, 1] = np.abs(powers(rng, (n, dim), 6, 7))
    centres = none(n, dim)
    centres[:, 1] = rng.uniform(-1, 1, (n, dim)) * halves[:, 1]
    axis, rows = rng.integers(0, dim, n), np.arange(n)
    face = halves[rows, 1, axis] + halves[rows, 0, axis] * rng.choice((1.0, 3.0, 0.5), n)
    centres[rows, 1, axis] = signs(rng, n) * face
    motions = some(rng, powers(rng, shape, -6, 7), shape, 0.8)
    return Bodies(centres, halves, motions, none(n, dim))


def edges_of_the_slop(rng, dim, n):
    """Gaps between minus two and plus two slops, at the start and at the meeting."""
    bodies = corners(rng, dim, n)
    largest = np.abs(bodies.centres).max(axis=1) + bodies.halves.max(axis=1)
    shift = rng.integers(-2, 3, (n, dim)) * 2.0**-44 + rng.integers(-3, 4, (n, dim)) * 2.0**-52
    bodies.centres[:, 1] += largest * shift
    return bodies


def ends_of_the_step(rng, dim, n):
    """Impacts at the very start and the very end of the step, a rounding before and after."""
    shape = (n, 2, dim)
    halves, motions = rng.uniform(0.1, 2, shape), rng.uniform(-9, 9, shape)
    centres = none(n, dim)
    centres[:, 0] = rng.uniform(-5, 5, (n, dim))
    reach, rows, axis = halves.sum(axis=1), np.arange(n), rng.integers(0, dim, n)
    centres[:, 1] = centres[:, 0] + rng.uniform(-1, 1, (n, dim)) * reach
    time = rng.choice((0.0, 1.0), n)
    rate = motions[:, 0] - motions[:, 1]
    ahead = np.where(rate > 0, reach, -reach) + rate * time[:, None]
    centres[rows, 1, axis] = (centres[:, 0] + ahead)[rows, axis]
    return Bodies(nudged(rng, centres, 1), halves, motions, none(n, dim))


def side_by_side(rng, dim, n):
    """Fast, and not at all towards each other on most axes: rates that cancel, or nearly so."""
    plain = (decimals, touching, rough)[int(rng.integers(3))](rng, dim, n)
    motions = powers(rng, (n, 2, dim), -3, 6)
    alike = rng.random((n, dim)) < 0.6
    motions[:, 1] = np.where(alike, nudged(rng, motions[:, 0], 1), motions[:, 1])
    same = rng.random((n, dim)) < 0.5
    motions[:, 1] = np.where(same, motions[:, 0], motions[:, 1])
    return plain._replace(motions=motions)


def magnitudes(rng, dim, n):
    """Numbers of any size that is allowed, each of its own."""
    shape = (n, 2, dim)
    top = rng.choice((3.0, 100.0, 150.0), (n, 1, 1))

    def numbers(share):
        return some(rng, powers(rng, shape, -1, 1) ** top, shape, share)

    return Bodies(numbers(0.8), np.abs(numbers(0.8)), numbers(0.8), numbers(0.2))


def parts_of_the_slop(rng, dim, n):
    """Whole numbers that meet in corners, but for a part of the slop: all sums are exact."""
    shape = (n, 2, dim)
    halves = rng.choice((1.0, 2.0, 4.0), shape)
    both_thin = rng.choice((2.0**-46, 2.0**-45, 0.0), shape)
    halves = np.where(rng.random((n, 1, dim)) < 0.25, both_thin, halves)
    motions = rng.choice((0.0, 1.0, 2.0, 3.0, 8.0), shape) * signs(rng, shape)
    at = none(n, dim)
    at[:, 0] = wholes(rng, (n, dim), 4)
    reach = halves.sum(axis=1)
    ahead = np.where(motions[:, 0] > motions[:, 1], reach, -reach)
    level = rng.random((n, dim)) < 0.8
    at[:, 1] = at[:, 0] + np.where(level, ahead, np.trunc(reach * rng.uniform(-1, 1, (n, dim))))
    at -= motions * rng.choice((0.0, 0.0, 0.5, 0.25), (n, 1, 1))
    apart = rng.integers(-128, 129, (n, dim)) * 2.0**-47
    at[:, 1] += some(rng, apart, (n, dim), 0.8)
    growths = some(rng, rng.choice((-1.0, 0.0, 1.0, 1.0), shape), (n, 1, 1), 0.4)
    return Bodies(at, halves, motions, growths)


def planes(rng, dim, n):
    """Two boxes thinner than the slop in one place, or nearly, that move and grow as fast."""
    bodies = parts_of_the_slop(rng, dim, n)
    thickness = rng.choice((0.0, 0.0, 2.0**-46, 2.0**-45), (n, 2))
    bodies.halves[:, :, 0] = thickness
    bodies.centres[:, :, 0] = 8.0
    apart = rng.integers(-64, 65, n) * 2.0**-46
    bodies.centres[:, 1, 0] += some(rng, apart, n, 0.5)
    bodies.motions[:, :, 0] = rng.integers(-1, 2, (n, 2))
    bodies.growths[:, :, 0] = rng.integers(0, 2, (n, 2))
    return bodies


# Of these every sum and difference is exact, and no gap is as small as the slop.
EXACT = (integers, dyadics)
# Of these every sum and difference is exact too, but gaps are about as small as the slop.
TO_THE_LETTER = (parts_of_the_slop, planes)
KINDS = (
    *EXACT,
    *TO_THE_LETTER,
    decimals,
    rough,
    near_ties,
    far_out,
    speeds,
    touching,
    seams,
    corners,
    overlapping,
    growing,
    thin,
    denormals,
    sizes,
    edges_of_the_slop,
    ends_of_the_step,
    side_by_side,
    magnitudes,
)


def make(kind, dim: int, n: int, seed: int) -> Bodies:
    """Return n pairs of a kind, always the same for a seed."""
    rng = np.random.default_rng([seed, dim, zlib.crc32(kind.__name__.encode())])
    bodies = kind(rng, dim, n)
    turned = rng.random(n) < 0.5
    return Bodies(*(np.where(turned[:, None, None], part[:, ::-1], part) for part in bodies))
