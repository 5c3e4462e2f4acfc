"""The scene of a picture: a peer at the left and ecs_collide at the right, with their numbers."""

from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from benchmarks.controllers.worlds import Box
from benchmarks.published.eight import Comparison, boxes
from benchmarks.published.engines import Frame
from demos.app.boxes import Boxes, outlines, plain
from demos.app.scene import Label, Palette, Scene

HALF, BETWEEN, HEAD, FOOT = 216.0, 8.0, 32.0, 38.0  # pixels
TRAIL = (120, 104, 52)  # of a bullet
STRIPE, STRIPES = 16.0, (32, 36, 51)  # pixels of the world; the colour
COLOURS = {
    "wall": (92, 99, 122),
    "one-way": (170, 140, 90),
    "lift": (140, 110, 190),
    "player": (74, 148, 214),
    "bullet": (250, 214, 96),
    "crate": (190, 130, 80),
    "chaser": (126, 190, 120),
}


class SideBySide(Scene):
    """Frames that were played before; `step` goes on to the next one that is shown."""

    palette = Palette((26, 29, 42), (26, 29, 42), bad=(255, 110, 110), good=(120, 236, 150))

    def __init__(self, case: Comparison, theirs: list[Frame], ours: list[Frame]) -> None:
        self.pixel = HALF / case.view.wide
        self.floor = FOOT
        size = (2 * HALF + BETWEEN, HEAD + FOOT + round(self.pixel * case.view.high))
        super().__init__(ec.Space(), size, size)
        self.case, self.sides = case, (theirs, ours)
        self.shown = 0
        self.n_seen = [count_seen(case, frames) for frames in self.sides]  # what is counted

    def step(self) -> None:
        self.shown = min(self.shown + self.case.stride, len(self.sides[1]) - 1)
        self.n_steps += 1

    def boxes(self) -> Boxes:
        parts = [self.side(frames[self.shown], n) for n, frames in enumerate(self.sides)]
        width, height = self.size
        bars = [(0, 0, width, FOOT), (0, height - HEAD, width, height)]
        line = [(HALF, 0, HALF + BETWEEN, height)]
        covers = plain(bars + line, [(14, 15, 24), (14, 15, 24), (60, 64, 84)])
        return parts[0].joined(parts[1], covers)

    def side(self, frame: Frame, n: int) -> Boxes:
        view = self.case.view
        if self.case.follow:
            view = view.moved(0, boxes(frame, self.case.follow)[0].y)

        def rects(shown: list[Box]) -> NDArray[np.float64]:
            """Return boxes in pixels, cut off at the sides of this half."""
            ends = np.array([(box.x, box.y, box.right, box.top) for box in shown]).reshape(-1, 4)
            found = (ends - [view.x, view.y, view.x, view.y]) * self.pixel
            found[:, ::2] = found[:, ::2].clip(0.0, HALF) + n * (HALF + BETWEEN)
            found[:, 1::2] += self.floor
            return found[found[:, 2] > found[:, 0]]

        below = []
        if self.case.follow:  # a background, which moves up as the view sinks
            first = floor(view.y / STRIPE)
            below = [
                Box(view.x, STRIPE * k, view.wide, STRIPE / 2) for k in range(first, first + 9)
            ]
        drawn = plain(rects(below), STRIPES)
        starts = boxes(self.sides[n][0], "bullet")
        for start, bullet in zip(starts, boxes(frame, "bullet"), strict=True):
            way = Box(start.x, start.y + start.high / 2 - 2, bullet.right - start.x, 4)
            drawn = drawn.joined(plain(rects([way]), TRAIL))
        for role, box in frame:
            if role == "first":
                continue
            colour = COLOURS[role]
            rect = rects([box])
            dark = tuple(share // 2 for share in colour)
            drawn = drawn.joined(plain(rect, colour), outlines(rect, dark, 1.0))
        return drawn.joined(outlines(rects(boxes(frame, "first")), (255, 255, 255), 1.0))

    def labels(self) -> list[Label]:
        found = []
        for n, (name, frames) in enumerate(
            zip((self.case.peer, "ecs_collide"), self.sides, strict=True)
        ):
            middle = n * (HALF + BETWEEN) + HALF / 2
            n_seen = min(self.shown + 1, self.n_seen[n])
            number = self.case.measure(frames[:n_seen])
            says = self.case.says.format(number)
            colour = self.palette.good if number < self.case.fine + 0.5 else self.palette.bad
            found.append(Label(name, middle, self.size[1] - 23, 20.0, anchor="center"))
            found.append(Label(says, middle, 12, 20.0, colour, "center"))
        return found


def count_seen(case: Comparison, frames: list[Frame]) -> int:
    """Return the number of frames until the player leaves the view for good, or of all."""
    for n, frame in enumerate(frames):
        if not case.follow and any(box.top < case.view.y for box in boxes(frame, "player")):
            return n
    return len(frames)
