"""Watch the broadphase's tree at work: fat bounds, escapes, and branches by depth.

What to look at: boxes are inserted one by one.  Around each are its fat bounds, longer along its
velocity.  As long as a box stays in them it stays in its node.  When it escapes they flash and are
renewed, and the box is reinserted, alone or in a rebuild of the whole tree.
The coloured frames are branches: every one lies inside of the one above.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log2
from operator import methodcaller

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import Boxes, outlines, plain
from demos.app.parts import COLOURS, create_frame, painted
from demos.app.scene import DT, Scene

WIDTH, HEIGHT, EDGE = 900.0, 520.0, 8.0
MOST = 110  # boxes
INSERT_EVERY = 2  # steps
CHECK_EVERY = 10  # steps between two comparisons with all pairs
FLASH = 8  # steps
LOOKAHEAD = 25.0  # steps
BOXES, WALLS = 1, 2  # categories: boxes fly through each other
FASTEST = 70.0  # on an axis, units per second


def build(seed: int = 0) -> TreeScene:
    """Make the world in the current esper world; `seed` is of the boxes."""
    for wall in create_frame(WIDTH, HEIGHT, EDGE):
        esper.add_component(wall, ec.Filter(categories=WALLS))
    return TreeScene(ec.install(), seed)


class RepeatedTree(ec.AABBTree):
    """A tree that a replay can restore: the same calls in the same order give the same tree.

    It stores its calls from the first call of `remember` on.
    """

    calls: list[Callable[[ec.AABBTree], object]] | None = None

    def do(self, call: Callable[[ec.AABBTree], int | None]) -> int | None:
        """Store a call that changes the tree, and return its result."""
        if self.calls is not None:
            self.calls.append(call)
        return call(self)

    def remember(self) -> Callable[[], None] | None:
        """Return a function that restores the present tree; None if it is too late."""
        if self.calls is None and not len(self):
            self.calls = []
        return None if self.calls is None else partial(self.repeat, self.calls.copy())

    def repeat(self, calls: list[Callable[[ec.AABBTree], object]]) -> None:
        """Start with an empty tree, and repeat these calls."""
        ec.AABBTree.__init__(self, lookahead=LOOKAHEAD)
        self.calls = calls.copy()
        for call in calls:
            call(self)


class TreeScene(Scene):
    """Boxes that bounce, and a separate tree that holds them."""

    title = "tree"
    seconds = 10.0
    corner = (-EDGE, -EDGE)  # all walls are seen

    def __init__(self, space: ec.Space, seed: int) -> None:
        view = (WIDTH + 2 * EDGE, HEIGHT + 2 * EDGE + 26)
        super().__init__(space, (WIDTH, HEIGHT), view)
        self.chance = np.random.default_rng(seed)
        self.tree = RepeatedTree(lookahead=LOOKAHEAD)
        self.boxes_in: list[int] = []
        self.halves = np.zeros((0, 2))
        self.flash = np.zeros(0, np.int64)  # until which step
        self.n_updates = self.n_lost = self.n_outside = self.n_wrong = 0
        self.n_checks = self.n_pairs = 0

    def insert(self) -> None:
        """Add a box to the world, and to the tree."""
        half = self.chance.uniform(6.0, 18.0, 2)
        place = self.chance.uniform(half + 1, (WIDTH, HEIGHT) - half - 1)
        speed = self.chance.uniform(-FASTEST, FASTEST, 2)
        body = (ec.Position(*place), ec.Extents(*half), ec.Velocity(*speed), ec.Deflect())
        box = esper.create_entity(*body, ec.Filter(categories=BOXES, mask=WALLS))
        self.halves = np.vstack([self.halves, half])
        self.tree.do(methodcaller("insert", box, tuple(place - half), tuple(place + half)))
        self.boxes_in.append(box)
        self.flash = np.append(self.flash, self.n_steps + FLASH)

    def step(self) -> None:
        """Advance the world, and update the boxes of the tree."""
        if self.n_steps % INSERT_EVERY == 0 and len(self.boxes_in) < MOST:
            self.insert()
        super().step()
        ids = np.array(self.boxes_in)
        centres, ways = self.space.positions(ids), self.space.velocities(ids) * DT
        lows, highs = centres - self.halves, centres + self.halves
        before = self.fat_bounds()
        self.tree.do(methodcaller("update_many", ids, lows, highs, ways))
        is_out = ((lows < before[:, :2]) | (before[:, 2:] < highs)).any(axis=1)
        is_new = (self.fat_bounds() != before).any(axis=1)
        self.n_lost += int((is_out & ~is_new).sum())
        self.n_updates += len(ids)
        self.flash[is_new] = self.n_steps + FLASH
        if self.n_steps % CHECK_EVERY == 0:
            self.check()

    def fat_bounds(self) -> NDArray[np.float64]:
        """Return left, bottom, right, top of the fat bounds of each box."""
        return np.array([self.tree.fat_bounds(box) for box in self.boxes_in]).reshape(-1, 4)

    def check(self) -> None:
        """Compare the tree with a test of all pairs, and its branches with each other."""
        self.tree.check()
        ids = np.array(self.boxes_in)
        bounds = np.array([self.tree.bounds(box) for box in self.boxes_in])
        low, high = bounds[:, 0], bounds[:, 1]
        meet = ((low[:, None] <= high) & (high[:, None] >= low)).all(axis=2)
        first, second = np.nonzero(np.triu(meet, 1))
        pairs = self.tree.pairs()
        self.n_wrong += not np.array_equal(np.stack([ids[first], ids[second]], axis=1), pairs)
        self.n_pairs += len(pairs)
        self.n_checks += 1
        mins, maxs, depths, _ = self.tree.branches()
        last = depths == depths[-1]
        places = [(mins[n], maxs[n], depths == depths[n] - 1) for n in range(1, len(depths))]
        places += [(*box, last) for box in bounds]
        for inner_low, inner_high, above in places:
            around = (mins[above] <= inner_low) & (maxs[above] >= inner_high)
            self.n_outside += not around.all(axis=1).any()

    def boxes(self) -> Boxes:
        """Return branches below fat bounds below boxes."""
        walls = painted()
        mins, maxs, depths, _ = self.tree.branches()
        if not len(depths):
            return walls
        frames = outlines(np.hstack([mins, maxs]), self.shades(depths), 2.0)
        tight = np.array([np.ravel(self.tree.bounds(box)) for box in self.boxes_in])
        left = np.maximum(self.flash - self.n_steps, 0) / FLASH
        glow = np.array([(36, 40, 58)]) + left[:, None] * np.array([(140, 130, 60)])
        bodies = (150, 156, 178) + left[:, None] * np.array([(105, 99, 60)])
        fat = self.fat_bounds()
        drawn = plain(fat, glow).joined(outlines(fat, np.minimum(glow * 1.6, 255), 1.0))
        return walls.joined(drawn, plain(tight, bodies), frames)

    def shades(self, depths: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return a colour for each depth: the root's is red."""
        return np.array(COLOURS, np.uint8)[np.minimum(depths, len(COLOURS) - 1)]

    def status(self) -> str:
        """Return the size of the tree."""
        tree = self.tree
        return (
            f"{len(tree)} boxes   depth {tree.depth}   {tree.n_escapes} escapes   "
            f"{tree.n_reinsertions} reinsertions   {tree.n_rebuilds} rebuilds"
        )

    def share(self) -> float:
        """Return the fraction of the moves in which a box left its fat bounds."""
        return self.tree.n_escapes / max(self.n_updates, 1)

    def report(self) -> list[str]:
        """Return the work of the tree."""
        return [
            f"boxes       {len(self.tree)}, in a tree {self.tree.depth} deep",
            f"moves       {self.n_updates}, of which {self.tree.n_escapes} were escapes"
            f" ({self.share():.1%})",
            f"changes     {self.tree.n_reinsertions} reinsertions of single boxes,"
            f" {self.tree.n_rebuilds} rebuilds of the whole tree",
            f"compared    {self.n_checks} times with all pairs by hand, {self.n_pairs} pairs",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        n = max(len(self.tree), 2)
        return [
            ("the tree finds the pairs that are found by hand", self.n_wrong == 0),
            ("every box and every branch lies inside of a branch above it", self.n_outside == 0),
            ("no box escapes unnoticed", self.n_lost == 0),
            ("most moves leave the tree as it is", self.share() < 0.5),
            ("the tree is not deeper than 2 log2 n + 8", self.tree.depth <= 2 * log2(n) + 8),
        ]
