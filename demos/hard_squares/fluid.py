"""Parallel hard lines, squares or cubes in a periodic box, and measurements on them.

As in the literature, the side and the mass of a box and kT are 1.  All boxes have
`Deflect` with restitution 1, so two that meet exchange their velocities along the axis of contact:
no arithmetic is done on a velocity, and momentum and energy keep every bit.
"""

from __future__ import annotations

from typing import NamedTuple

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec

DT = 0.1  # seconds a step; it changes the cost of a run, not its results
PAIR_LIMIT = 10**9  # resolutions of a pair in one step: no limit
N_BLOCKS = 20  # of a run, for its standard error


class Measured(NamedTuple):
    """The results of a run.

    Attributes
    ----------
    z : float
        The compressibility factor PV / NkT.
    error : float
        Standard error of `z`, from the blocks.
    order : tuple of float
        The order of each axis, the highest first: root of the mean square of `Fluid.order`,
        sorted, at the ends of the blocks.
    n_collisions : int
    blocks : float64 array, shape (n_blocks,)
        The compressibility factor of each part of the run.
    """

    z: float
    error: float
    order: tuple[float, ...]
    n_collisions: int
    blocks: NDArray[np.float64]


class Fluid:
    """Boxes of side 1 in the current esper world, which must be empty.

    They start on a simple cubic lattice, each shifted at random by less than half the room to its
    neighbours, with a total momentum of 0 and kT = 1 on each axis.

    Parameters
    ----------
    dim : int
        1, 2 or 3.  Lines are squares in one row of a 2D space.
    per_side : int
        Boxes along each axis: there are ``per_side ** dim`` of them.
    packing : float
        The part of the volume that the boxes fill, above 0 and below 1.
    seed : int
        The seed of shifts and velocities.
    speeds : str
        ``"maxwell"``: normally distributed.  ``"single"``: each component is 1 or -1, equally
        often, which needs an even number of boxes.
    dt : float
        Length of a step, in seconds.

    Attributes
    ----------
    width : float
        The width of the periodic box, in world units.
    ids : list of int
        The boxes.
    n_collisions : int
        Collisions so far.
    worst_contact : float
        The largest deviation from 1 of the distance of two boxes that met.
    """

    def __init__(
        self,
        dim: int,
        per_side: int,
        packing: float,
        *,
        seed: int = 0,
        speeds: str = "maxwell",
        dt: float = DT,
    ) -> None:
        if not 0 < packing < 1:
            raise ValueError(f"packing={packing} must be above 0 and below 1")
        chance = np.random.default_rng(seed)
        self.dim, self.per_side, self.packing, self.dt = dim, per_side, packing, dt
        self.n = per_side**dim
        self.width = per_side / packing ** (1 / dim)
        cell = self.width / per_side
        lattice = np.stack(np.meshgrid(*[np.arange(per_side)] * dim, indexing="ij"), axis=-1)
        centres = (lattice.reshape(-1, dim) + 0.5) * cell
        centres += chance.uniform(-0.499, 0.499, centres.shape) * (cell - 1)
        self.start = _velocities(chance, self.n, dim, speeds)
        rest = [0.0] * (2 - dim)
        self.ids = [
            esper.create_entity(
                ec.Position(*centre, *rest),
                ec.Extents(*[0.5] * max(dim, 2)),
                ec.Velocity(*velocity, *rest),
                ec.Deflect(restitution=1.0),
            )
            for centre, velocity in zip(centres.tolist(), self.start.tolist(), strict=True)
        ]
        wrap = [self.width] * dim + [None] * (2 - dim)
        self.space = ec.install(
            ec.Space(dim=max(dim, 2), wrap=wrap, pair_limit=PAIR_LIMIT, sleep=False)
        )
        self.n_collisions = 0
        self.worst_contact = 0.0
        self.virial = 0.0  # sum of impulse times distance so far
        esper.process(0.0)  # nothing moves, but the space now knows the boxes

    def step(self) -> None:
        """Advance by `dt`, and add up the virial of the collisions."""
        esper.process(self.dt)
        hits = self.space.collision_array
        if self.space.stats.held:
            raise RuntimeError(
                f"dt={self.dt} is too long: there was no room for all pairs, and boxes were held"
            )
        if not len(hits):
            return
        if (hits["outcome"] != ec.Outcome.RESOLVED).any():
            raise RuntimeError("a collision was not resolved: the run is not exact")
        between = ((hits["position_first"] - hits["position_second"]) * hits["normal"]).sum(axis=1)
        distance = np.abs(between - self.width * np.rint(between / self.width))
        self.virial += float((hits["impulse"] * distance).sum())
        self.worst_contact = max(self.worst_contact, float(np.abs(distance - 1.0).max()))
        self.n_collisions += len(hits)

    def run(self, seconds: float) -> None:
        """Advance by about `seconds`, in whole steps."""
        for _ in range(max(1, round(seconds / self.dt))):
            self.step()

    def measure(self, seconds: float, n_blocks: int = N_BLOCKS) -> Measured:
        """Advance, and return the compressibility factor by the virial theorem.

        Z = 1 + sum(impulse * distance) / (dim * N * kT * time), over all collisions.
        """
        n_steps = max(1, round(seconds / n_blocks / self.dt))
        before, blocks = self.n_collisions, np.zeros(n_blocks)
        orders = np.zeros((n_blocks, self.dim))
        for block in range(n_blocks):
            virial = self.virial
            self.run(n_steps * self.dt)
            blocks[block] = self.virial - virial
            orders[block] = np.sort(self.order())[::-1]
        blocks = 1.0 + blocks / (self.dim * self.n * n_steps * self.dt)
        error = float(blocks.std(ddof=1) / np.sqrt(n_blocks)) if n_blocks > 1 else float("nan")
        order = tuple(np.sqrt((orders**2).mean(axis=0)).tolist())
        n_collisions = self.n_collisions - before
        return Measured(float(blocks.mean()), error, order, n_collisions, blocks)

    def positions(self) -> NDArray[np.float64]:
        """Return the centres, float64 (n, dim)."""
        return self.space.positions(self.ids)[:, : self.dim]

    def velocities(self) -> NDArray[np.float64]:
        """Return the velocities, float64 (n, dim)."""
        return self.space.velocities(self.ids)[:, : self.dim]

    def turn_back(self) -> None:
        """Reverse all velocities: the boxes go back on their paths."""
        for entity in self.ids:
            velocity = esper.component_for_entity(entity, ec.Velocity)
            velocity.xyz = tuple(-part for part in velocity.xyz)
        self.start = -self.start

    def is_conserved(self) -> bool:
        """Return whether the velocities of each axis equal the first ones, in any order.

        Then momentum and energy are the same to the last bit, on each axis by itself.
        """
        return bool((np.sort(self.velocities(), axis=0) == np.sort(self.start, axis=0)).all())

    def deepest_overlap(self) -> float:
        """Return the deepest overlap of any two boxes, in world units; every pair is tested."""
        centres = self.positions()
        deepest = -np.inf
        for number in range(self.n - 1):
            apart = np.abs(centres[number + 1 :] - centres[number])
            apart = np.minimum(apart, self.width - apart).max(axis=1)
            deepest = max(deepest, 1.0 - float(apart.min()))
        return max(deepest, 0.0)

    def order(self) -> NDArray[np.float64]:
        """Return the positional order along each axis: 1 on the lattice, in a fluid 1 / sqrt(n).

        It is the length of the mean of exp(2 pi i x / cell) over the boxes.  If whole rows slide
        along an axis the boxes are ordered across it, and not along it.
        """
        phases = np.exp(2j * np.pi * self.per_side / self.width * self.positions())
        return np.asarray(np.abs(phases.mean(axis=0)))


def seconds_for(collisions: float, z: float, dim: int) -> float:
    """Return the time in which each box has `collisions` collisions, at a compressibility factor.

    Two boxes that meet have the mean closing speed sqrt(pi) if speeds are Maxwell's.
    """
    return float(collisions * np.sqrt(np.pi) / ((z - 1.0) * dim))


def _velocities(chance: np.random.Generator, n: int, dim: int, speeds: str) -> NDArray[np.float64]:
    """Return velocities, float64 (n, dim), with a sum of 0 and a mean square of 1 on each axis."""
    if speeds == "single":
        if n % 2:
            raise ValueError(f'speeds="single" needs an even number of boxes, not {n}')
        signs = np.where(np.arange(n) % 2, 1.0, -1.0)
        return np.stack([chance.permutation(signs) for _ in range(dim)], axis=1)
    if speeds != "maxwell":
        raise ValueError(f"speeds={speeds!r} must be 'maxwell' or 'single'")
    velocities = chance.normal(size=(n, dim))
    velocities -= velocities.mean(axis=0)
    return np.asarray(velocities / np.sqrt((velocities**2).mean(axis=0)))
