"""The order in which the trees find the pairs of a body decides nothing.

The trees differ by margin, and after a restore.  The random worlds have slopes, lifts and piles
under gravity: there one impact changes what the next body of a list asks.
"""

from __future__ import annotations

import random
from unittest import mock

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests import plain
from tests.random_worlds import Draw
from tests.scenes import Log, another_world

(Broadphase,) = plain.names("broadphase.broadphase", "Broadphase")
(PairTable,) = plain.names("broadphase.pair_table", "PairTable")

pytestmark = pytest.mark.filterwarnings("ignore:entity:RuntimeWarning")

# In these worlds an impact on a slope once went on in two ways; other worlds follow.
SEEDS = (130, 133, 334, 577)


def vector(kind, dim, x, y, z=0.0):
    return kind(*(x, y, z)[:dim])


def hillside(seed, margin=None):
    """Create a random world of slopes, lifts, piles and other bodies; return its space."""
    rng = random.Random(seed)
    dim = 3 if rng.random() < 0.15 else 2
    space = ec.install(
        dim=dim,
        margin=margin,
        gravity=(0, -rng.choice((10.0, 10.0, 400.0))) + (0,) * (dim - 2),
        sleep=rng.random() < 0.7,
        pair_limit=rng.choice((64, 64, 3)),
    )

    def still(x, y, wide, high, *more):
        return esper.create_entity(
            vector(ec.Position, dim, x, y), vector(ec.Extents, dim, wide, high, 4.0), *more
        )

    for n in range(5):
        still(4.0 * n + 2, -1.0, 2.0, 1.0)
    for x in (-1.0, 21.0):
        still(x, 10.0, 1.0, 12.0)
    for _ in range(rng.randrange(1, 5)):
        half = rng.choice((1.0, 2.0, rng.uniform(0.6, 3.0)))
        x = rng.choice((float(rng.randrange(2, 18)), rng.uniform(2.0, 18.0)))
        moves = rng.random() < 0.25
        more = [vector(ec.Velocity, dim, rng.uniform(-3, 3), rng.choice((0, 1)))] if moves else []
        still(x, half, half, half, ec.Slope(rng.choice(("left", "right"))), *more)
    for _ in range(rng.choice((0, 2))):
        more = [ec.Carry()] if rng.random() < 0.6 else []
        pace = vector(ec.Velocity, dim, rng.uniform(-2.0, 2.0), rng.uniform(-2.0, 3.0))
        still(rng.uniform(3.0, 17.0), rng.uniform(1.0, 8.0), 2.0, 0.25, pace, *more)
    draw = Draw(
        rng,
        dim,
        without={ec.Attached: "anywhere", ec.Slope: "above", ec.Disabled: "nothing"},
        mixture=0.5,
        speed=40.0,
        on_grid=rng.random() < 0.5,
    )

    def crate(x, y, *more):
        place = vector(ec.Position, dim, x, y)
        draw.body(place, vector(ec.Extents, dim, 0.5, 0.5, 0.5), *more)

    for _ in range(rng.choice((4, 8, 14, 25))):
        crate(draw.number(1.0, 19.0), draw.number(1.0, 19.0))
    left, wide = rng.choice((8.0, 11.5)), rng.choice((1.0, 1.25))
    for row in range(rng.randrange(5)):
        for column in range(rng.randrange(1, 4)):
            crate(left + wide * column, 4.5 + row, vector(ec.Velocity, dim, 0.0, 0.0))
    return space


def run(name, seed, n_steps, margin=None, restores=()):
    """Return the log of a hillside after each step; it is saved and restored before `restores`."""
    with another_world(f"{name} {seed} {margin} {restores}"):
        space = hillside(seed, margin)
        log = Log()
        digests = []
        for step in range(n_steps):
            for _ in range(restores.count(step)):
                space.restore(space.snapshot())
            esper.process(1 / 60)
            log.record(space)
            digests.append(log.digest())
    return digests


def turned_round(find_pairs):
    """Return a `find_pairs` that reverses the list of pairs of each body."""

    def find_and_turn(self, *rest):
        found = find_pairs(self, *rest)
        pairs = self.pairs
        if found:
            for pair in pairs.at[: pairs.n]:
                pairs.head[pair.first] = pairs.head[pair.second] = 0
            for p in reversed(range(pairs.n)):
                pair = pairs.at[p]
                pair.next_of_first, pair.next_of_second = (
                    pairs.head[pair.first],
                    pairs.head[pair.second],
                )
                pairs.head[pair.first] = pairs.head[pair.second] = p + 1
        return found

    return find_and_turn


def seeds(volume, short, long):
    return [*SEEDS, *range(1000, 1000 + volume(short, long))]


@pytest.mark.slow_in_python
@pytest.mark.usefixtures("implementation")
def test_a_margin_decides_nothing(volume):
    for seed in seeds(volume, 3, 60):
        usual = run("usual", seed, 25)
        for margin in (0.0, 0.5, 50.0):
            assert run("other", seed, 25, margin) == usual, f"seed {seed}, margin {margin}"


@pytest.mark.slow_in_python
@pytest.mark.usefixtures("implementation")
def test_a_restore_decides_nothing(volume):
    for seed in seeds(volume, 3, 60):
        usual = run("usual", seed, 25)
        for restores in ((5,), (5, 5, 12)):
            saved = run("saved", seed, 25, restores=restores)
            assert saved == usual, f"seed {seed}, saved before the steps {restores}"


def test_the_order_of_the_pairs_of_a_body_decides_nothing(volume):
    turned = mock.patch.object(Broadphase, "find_pairs", turned_round(Broadphase.find_pairs))
    unchecked = mock.patch.object(PairTable, "check")  # it wants them in descending order
    with mock.patch.object(backend, "kernels", backend.load(compiled=False)):
        for seed in [*SEEDS[:2], *range(volume(0, 24, 60))]:
            usual = run("usual", seed, 12)
            with turned, unchecked:
                assert run("turned", seed, 12) == usual, f"seed {seed}"
