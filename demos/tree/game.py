"""How the broadphase's tree works: leaves, fat bounds, escapes and branches, one after the other.

What to look at: a few boxes in slow motion, and a caption for each idea; then many at full speed.
Around each box are its fat bounds, longer along its velocity.  As long as a box stays in them it
stays in its node.  When it escapes they flash and are renewed, and the box is reinserted, alone
or in a rebuild of the whole tree.  Branches are around boxes, and each inside of the one above.
"""

from __future__ import annotations

from math import log2
from operator import methodcaller
from typing import NamedTuple

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.boxes import Boxes, outlines, plain
from demos.app.parts import COLOURS, create_frame, painted
from demos.app.scene import DT, Label, Palette, Scene
from demos.tree.repeated_tree import LOOKAHEAD, RepeatedTree

WIDTH, HEIGHT, EDGE = 900.0, 470.0, 8.0
STRIP = 50.0  # height of the caption, and of the legend
MOST = 110  # boxes
INSERT_EVERY = 2, 8  # steps, at full speed and in the explanation
CHECK_EVERY = 10  # steps between two comparisons with all pairs
FLASH = 8  # steps at full speed
FEW = 9  # boxes of the explanation
BODY, SIDE = (150, 156, 178), (84, 90, 112)
FAT, GLOW, OLD, ROOMY = (60, 70, 44), (250, 230, 120), (66, 72, 96), (130, 150, 90)


class Chapter(NamedTuple):
    """A part of the explanation; a layer more is drawn in each."""

    end: float  # seconds
    caption: str
    layers: int
    rate: float  # how slowly the boxes move


STORY = (
    Chapter(1.5, "leaves: the bounds of each box", 1, 0.0),
    Chapter(3.5, "fat bounds: a box moves, and nothing changes", 2, 0.18),
    Chapter(7.5, "escape: new fat bounds, and the leaf is reinserted", 2, 0.4),
    Chapter(10.0, "branches: around boxes, refitted in each step", 3, 0.4),
)
BOXES, WALLS = 1, 2  # categories: boxes fly through each other
FASTEST = 70.0  # on an axis, units per second


def build(seed: int = 0) -> TreeScene:
    """Make the world in the current esper world; `seed` is of the boxes."""
    for wall in create_frame(WIDTH, HEIGHT, EDGE):
        esper.add_component(wall, ec.Filter(categories=WALLS))
    return TreeScene(ec.install(), seed)


class TreeScene(Scene):
    """Boxes that bounce, and a separate tree that holds them."""

    title = "tree"
    seconds = 18.0
    corner = (-EDGE, -EDGE - STRIP)  # all walls are seen, and the legend below them
    palette = Palette((24, 27, 42), (16, 18, 30), first=FAT, second=GLOW, good=ROOMY)

    def __init__(self, space: ec.Space, seed: int) -> None:
        view = (WIDTH + 2 * EDGE, HEIGHT + 2 * EDGE + 2 * STRIP)
        super().__init__(space, (WIDTH, HEIGHT), view)
        self.chance = np.random.default_rng(seed)
        self.tree = RepeatedTree(lookahead=LOOKAHEAD)
        self.boxes_in: list[int] = []
        self.halves = np.zeros((0, 2))
        self.flash = np.zeros(0, np.int64)  # until which step
        self.n_updates = self.n_lost = self.n_outside = self.n_wrong = 0
        self.n_checks = self.n_pairs = 0
        self.told = 0.0  # seconds of the explanation

    def insert(self) -> None:
        """Add a box to the world, and to the tree."""
        half = self.chance.uniform(6.0, 18.0, 2) * (2.0 if self.chapter else 1.0)
        place = self.chance.uniform(half + 1, (WIDTH, HEIGHT) - half - 1)
        speed = self.chance.uniform(-FASTEST, FASTEST, 2)
        if not self.boxes_in:  # it soon bounces off a wall
            place, speed = np.array([half[0] + 6.0, 150.0]), np.array([-FASTEST, 20.0])
        body = (ec.Position(*place), ec.Extents(*half), ec.Velocity(*speed), ec.Deflect())
        box = esper.create_entity(*body, ec.Filter(categories=BOXES, mask=WALLS))
        self.halves = np.vstack([self.halves, half])
        self.tree.do(methodcaller("insert", box, tuple(place - half), tuple(place + half)))
        self.boxes_in.append(box)
        self.flash = np.append(self.flash, 0 if self.chapter else self.n_steps + FLASH)

    @property
    def chapter(self) -> Chapter | None:
        """The part of the explanation that is told now."""
        return next((chapter for chapter in STORY if self.told < chapter.end), None)

    def step(self) -> None:
        """Advance the world, and update the boxes of the tree."""
        chapter = self.chapter
        self.told += DT
        self.dt = DT * chapter.rate if chapter else DT
        is_due = self.n_steps % INSERT_EVERY[chapter is not None] == 0
        if is_due and len(self.boxes_in) < (FEW if chapter else MOST):
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
        if chapter not in STORY[:2]:  # where a box gets its first fat bounds
            self.flash[is_new] = self.n_steps + FLASH * (5 if chapter else 1)
        if chapter is STORY[2]:
            for rect in before[is_new]:
                self.effects.flash(rect, OLD, 0.8)
                self.effects.slow(0.3, 0.7)
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

    @property
    def layers(self) -> int:
        """The number of layers that are explained by now."""
        return self.chapter.layers if self.chapter else 3

    def boxes(self) -> Boxes:
        """Return fat bounds below boxes below branches, as many layers as are explained."""
        walls = painted()
        mins, maxs, depths, _ = self.tree.branches()
        layers = self.layers
        frames = outlines(np.hstack([mins, maxs]), self.shades(depths), 2.0)
        tight = np.array([np.ravel(self.tree.bounds(box)) for box in self.boxes_in])
        left = np.clip((self.flash - self.n_steps) / FLASH, 0.0, 1.0)
        glow = FAT + left[:, None] * np.subtract((160, 150, 70), FAT)
        bodies = BODY + left[:, None] * np.subtract(GLOW, BODY)
        fat = self.fat_bounds()
        drawn = outlines(fat, np.minimum(glow * 1.7, 255), 2.0)
        if layers == 2:  # branches are around boxes, and would be hard to see in these
            drawn = plain(fat, glow).joined(drawn)
        leaves = plain(tight, bodies).joined(outlines(tight, SIDE, 2.0))
        found = [drawn, leaves, frames]
        shown = found[1:2] if layers == 1 else found[:layers]
        return shown[0].joined(*shown[1:], walls)

    def drawn(self) -> Boxes:
        """Return the effects below the boxes."""
        return self.effects.boxes().joined(self.boxes(), self.legend()[0])

    def legend(self) -> tuple[Boxes, list[Label]]:
        """Return the squares and the words of the legend."""
        words = (
            (10.0, "box", BODY),
            (130.0, "fat bounds", ROOMY),
            (360.0, "escape", GLOW),
            (540.0, "root", COLOURS[0]),
            (680.0, "branches", COLOURS[1]),
        )[: 2 * self.layers - 1]
        y = -EDGE - STRIP + 14
        rects = [(-99.0, -99.0, WIDTH + 99, -EDGE), (-99.0, HEIGHT + EDGE, WIDTH + 99, HEIGHT + 99)]
        rects += [(x, y, x + 24, y + 24) for x, _, _ in words]
        labels = [Label(word, x + 34, y + 4, 25.0, colour) for x, word, colour in words]
        colours = [self.palette.bottom] * 2 + [colour for _, _, colour in words]
        return plain(rects, colours), labels

    def labels(self) -> list[Label]:
        """Return the caption and the legend."""
        tree, y = self.tree, HEIGHT + EDGE + 16
        counts = f"{len(tree)} boxes at full speed, {tree.n_escapes} escapes"
        text = self.chapter.caption if self.chapter else counts
        return [Label(text, WIDTH / 2, y, 29.0, self.palette.ink, "center"), *self.legend()[1]]

    def shades(self, depths: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return a colour for each depth: the root's is red."""
        return np.array(COLOURS, np.uint8)[np.minimum(depths, len(COLOURS) - 1)]

    def share(self) -> float:
        """Return the fraction of the moves in which a box left its fat bounds."""
        return self.tree.n_escapes / max(self.n_updates, 1)

    def report(self) -> list[str]:
        """Return the work of the tree."""
        return [
            f"boxes       {len(self.tree)} in a tree {self.tree.depth} deep, and 4 walls",
            f"moves       {self.n_updates}, of which {self.tree.n_escapes} were escapes"
            f" ({self.share():.1%})",
            f"changes     {self.tree.n_reinsertions} reinsertions of single boxes,"
            f" {self.tree.n_rebuilds} rebuilds of the whole tree",
            f"compared    {self.n_checks} times with a test of all pairs: {self.n_pairs} pairs"
            f", {self.n_wrong} differences",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        n = max(len(self.tree), 2)
        return [
            ("the tree finds the pairs that a test of all pairs finds", self.n_wrong == 0),
            ("every box and every branch lies inside of a branch above it", self.n_outside == 0),
            ("no box escapes unnoticed", self.n_lost == 0),
            ("most moves leave the tree as it is", self.share() < 0.5),
            ("the tree is not deeper than 2 log2 n + 8", self.tree.depth <= 2 * log2(n) + 8),
        ]
