"""The scene of a picture: a peer at the left and ecs_collide at the right, with their numbers."""

from __future__ import annotations

import numpy as np

import ecs_collide as ec
from demos.app.boxes import Boxes, outlines, plain
from demos.app.scene import Label, Palette, Scene
from tests.published.eight import Bug, boxes
from tests.published.engines import Frame

HALF, BETWEEN, HEAD, FOOT = 216.0, 8.0, 32.0, 38.0  # pixels
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

    def __init__(self, bug: Bug, theirs: list[Frame], ours: list[Frame]) -> None:
        self.pixel = HALF / bug.view.wide
        self.floor = FOOT
        size = (2 * HALF + BETWEEN, HEAD + FOOT + round(self.pixel * bug.view.high))
        super().__init__(ec.Space(), size, size)
        self.bug, self.sides = bug, (theirs, ours)
        self.shown = 0

    def step(self) -> None:
        self.shown = min(self.shown + self.bug.stride, len(self.sides[1]) - 1)
        self.n_steps += 1

    def boxes(self) -> Boxes:
        parts = [self.side(frames[self.shown], n) for n, frames in enumerate(self.sides)]
        width, height = self.size
        bars = [(0, 0, width, FOOT), (0, height - HEAD, width, height)]
        line = [(HALF, 0, HALF + BETWEEN, height)]
        covers = plain(bars + line, [(14, 15, 24), (14, 15, 24), (60, 64, 84)])
        return parts[0].joined(parts[1], covers)

    def side(self, frame: Frame, n: int) -> Boxes:
        view = self.bug.view
        if self.bug.follow:
            view = view.moved(0, boxes(frame, self.bug.follow)[0].y)
        left, low = n * (HALF + BETWEEN), self.floor
        rows = []
        for role, box in frame:
            box = box.moved(-view.x, -view.y)
            ends = (box.x, box.y, box.right, box.top)
            x0, y0, x1, y1 = (part * self.pixel for part in ends)
            x0, x1 = (min(max(x, 0.0), HALF) for x in (x0, x1))
            if x1 > x0:
                rows.append((role, (left + x0, low + y0, left + x1, low + y1)))
        drawn = plain(np.zeros((0, 4)), (0, 0, 0))
        for role, rect in rows:
            if role == "first":
                continue
            colour = COLOURS[role]
            dark = tuple(part // 2 for part in colour)
            drawn = drawn.joined(plain([rect], colour), outlines(np.array([rect]), dark, 1.0))
        ghosts = [rect for role, rect in rows if role == "first"]
        if ghosts:
            drawn = drawn.joined(outlines(np.array(ghosts), (255, 255, 255), 1.0))
        return drawn

    def labels(self) -> list[Label]:
        found = []
        for n, (name, frames) in enumerate(
            zip((self.bug.peer, "ecs_collide"), self.sides, strict=True)
        ):
            middle = n * (HALF + BETWEEN) + HALF / 2
            number = self.bug.measure(frames[: self.shown + 1])
            says = self.bug.says.format(number)
            colour = self.palette.good if number < self.bug.fine + 0.5 else self.palette.bad
            found.append(Label(name, middle, self.size[1] - 23, 20.0, anchor="center"))
            found.append(Label(says, middle, 12, 22.0, colour, "center"))
        return found
