"""The same fast bullets at a thin wall, three times: tested once a step, in substeps, and swept.

What to look at: the upper bullets are tested once a step, where they land; most land beyond the
wall, and are not stopped.  The middle ones are tested 16 times a step, which costs more and
still loses the fastest.  The lower ones are swept: one test a step, and the wall is met at the
exact instant.  All in slow motion; pale boxes are where a bullet was tested.
"""

from __future__ import annotations

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.parts import create_wall, outlines, plain
from demos.app.scene import BLUE, DT, GREEN, GREY, RED, WHITE, YELLOW, Boxes, Label, Scene

N = 18  # bullets
WIDTH, LANE = 940.0, 11.0  # of the range; from one bullet to the next
BAND, GAP = N * LANE, 34.0  # height of a range, and of the line above it
HALF = 3.0  # of a bullet
WALL = (700.0, 704.0)
SLOWEST, FASTEST = 40.0, 2000.0  # units in a step
SUBSTEPS = 16
SLOW = 10  # frames shown for a step of the game
NAMES = ("once a step", f"{SUBSTEPS} times a step", "swept")
ABOVE = (2 * (BAND + GAP), BAND + GAP, 0.0)  # the bottoms of the three ranges


def build(seed: int = 0) -> Tunnelling:
    """Make the world in the current esper world; `seed` is of the bullets."""
    create_wall((WALL[0], -1.0), (WALL[1], BAND + 1.0))
    return Tunnelling(ec.install(), seed)


class Sampled:
    """Bullets that are moved, and then tested for overlap, as in most games.

    Parameters
    ----------
    parts : int
        The number of tests in a step.
    """

    def __init__(self, parts: int) -> None:
        self.parts = parts
        self.n_tests = self.n_hits = self.n_misses = 0

    def load(self, x: NDArray[np.float64], speed: NDArray[np.float64]) -> None:
        """Begin a volley."""
        self.x, self.speed = x.copy(), speed
        self.flies = np.ones(N, bool)
        self.seen = [x.copy()]  # where the bullets were tested

    def step(self) -> None:
        """Move by a step, in parts; stop bullets that overlap the wall after a part."""
        places = np.add.accumulate([self.x] + [self.speed / self.parts] * self.parts)[1:]
        boxes = np.stack([places.ravel(), np.zeros(places.size)], axis=1)
        hits = ec.overlaps(boxes - HALF, boxes + HALF, (WALL[0], -1.0), (WALL[1], 1.0))
        for x, overlaps in zip(places, hits.reshape(places.shape), strict=True):
            gone = self.flies & ~overlaps & (x > WIDTH)
            self.n_tests += int(self.flies.sum())
            self.n_hits += int((self.flies & overlaps).sum())
            self.n_misses += int(gone.sum())
            self.x = np.where(self.flies, x, self.x)
            self.seen.append(np.where(self.flies, x, np.nan))
            self.flies = self.flies & ~overlaps & ~gone


class Tunnelling(Scene):
    """Volleys of bullets, each fired three times, and the counts of hits and misses."""

    title = "tunnelling"
    seconds = 8.0
    counts_work = True

    def __init__(self, space: ec.Space, seed: int) -> None:
        size = (WIDTH, 3 * (BAND + GAP) + 20)
        super().__init__(space, size, size)
        self.chance = np.random.default_rng(seed)
        self.sampled = (Sampled(1), Sampled(SUBSTEPS))
        self.bullets: list[int] = []
        self.n_tests = self.n_bullets = self.n_hits = self.n_wrong = self.n_lost = 0
        self.fire()

    def fire(self) -> None:
        """Begin a volley: the same bullets for all three."""
        self.n_lost += self.n_beyond()
        for bullet in self.bullets:
            esper.delete_entity(bullet, immediate=True)
        self.start = self.chance.uniform(10.0, 60.0, N)
        self.speed = np.sort(np.geomspace(SLOWEST, FASTEST, N) * self.chance.uniform(0.9, 1.1, N))
        for sampled in self.sampled:
            sampled.load(self.start, self.speed)
        self.bullets = [
            esper.create_entity(
                ec.Position(x, LANE * (number + 0.5)),
                ec.Extents(HALF, HALF),
                ec.Velocity(speed / DT, 0.0),
                ec.Stop(),
            )
            for number, (x, speed) in enumerate(zip(self.start, self.speed, strict=True))
        ]
        self.before = self.after = self.start
        self.stop = np.full(N, np.inf)  # when a bullet met the wall, in this step
        self.hit = np.zeros(N, bool)
        self.n_bullets += N

    def step(self) -> None:
        """Show a frame; advance all three by a step if one is due."""
        if self.n_steps % SLOW:
            self.n_steps += 1
            return
        if self.hit.all() and not any(sampled.flies.any() for sampled in self.sampled):
            self.fire()
        for sampled in self.sampled:
            sampled.step()
        super().step()
        self.before, self.after = self.after, self.space.positions(self.bullets)[:, 0]
        self.stop = np.full(N, np.inf)
        self.n_tests += self.space.stats.sweeps
        for event in self.space.collisions:
            number = self.bullets.index(event.other(min(event.first, event.second)))
            if not self.hit[number]:
                self.hit[number] = True
                self.n_hits += 1
                self.stop[number] = event.time
                way = WALL[0] - HALF - self.before[number]
                self.n_wrong += abs(event.time - way / self.speed[number]) > 1e-12

    def boxes(self) -> Boxes:
        """Return the bullets, and the places where they were tested."""
        share = (self.n_steps - 1) % SLOW / SLOW
        drawn = []
        for sampled, bottom in zip(self.sampled, ABOVE, strict=False):
            for x in sampled.seen[-3 * sampled.parts :]:
                drawn.append(outlines(self._rects(x, bottom), (86, 92, 116), 1.0))
            missed = sampled.x > WALL[1] + HALF
            colours = np.where(missed[:, None], RED, np.where(sampled.flies[:, None], YELLOW, BLUE))
            x = np.minimum(sampled.x, WIDTH - 2 * HALF)  # lost bullets stay in sight
            drawn.append(plain(self._rects(x, bottom), colours))
        path = self._rects(self.before, 0.0)
        path[:, 2] = np.maximum(self.after + HALF, path[:, 2])
        now = self.before + self.speed * np.minimum(self.stop, share)
        now = np.where(self.hit & ~np.isfinite(self.stop), self.after, now)
        stopped = self.hit & ((self.stop <= share) | ~np.isfinite(self.stop))
        drawn.append(plain(path, (44, 62, 66)))
        colours = np.where(stopped[:, None], GREEN, YELLOW)
        drawn.append(plain(self._rects(np.minimum(now, self.after), 0.0), colours))
        walls = [(WALL[0], bottom, WALL[1], bottom + BAND) for bottom in ABOVE]
        return plain(walls, GREY).joined(*drawn)

    @staticmethod
    def _rects(x: NDArray[np.float64], bottom: float) -> NDArray[np.float64]:
        """Return the bullets' boxes in one of the ranges; a bullet without a place is far away."""
        y = bottom + LANE * (np.arange(N) + 0.5)
        x = np.where(np.isnan(x), -1e3, x)
        return np.stack([x - HALF, y - HALF, x + HALF, y + HALF], axis=1)

    def labels(self) -> list[Label]:
        """Return the name and the score of each range."""
        scores = [(s.n_misses, s.n_tests) for s in self.sampled] + [(self.n_missed, self.n_tests)]
        return [
            Label(f"{name}: {n} went through, {tests} tests", 10, bottom + BAND + 6, 14.0, WHITE)
            for name, (n, tests), bottom in zip(NAMES, scores, ABOVE, strict=True)
        ]

    def n_beyond(self) -> int:
        """Return how many swept bullets of this volley are not on this side of the wall."""
        found = [esper.component_for_entity(bullet, ec.Position) for bullet in self.bullets]
        return sum(place.x > WALL[0] - HALF for place in found)

    @property
    def n_missed(self) -> int:
        """How many swept bullets went through."""
        return self.n_lost + self.n_beyond()

    def report(self) -> list[str]:
        """Return the counts of hits and misses."""
        once, often = self.sampled
        return [
            f"bullets     {self.n_bullets}, of {SLOWEST:g} to {FASTEST:g} units a step",
            f"once        {once.n_misses} went through, {once.n_hits} hit; {once.n_tests} tests",
            f"often       {often.n_misses} went through, {often.n_hits} hit; {often.n_tests} tests",
            f"swept       {self.n_missed} went through, {self.n_hits} hit; {self.n_tests} tests",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        once, often = self.sampled
        return [
            ("no swept bullet is beyond the wall", self.n_missed == 0),
            ("each met it at the instant that arithmetic gives", self.n_wrong == 0),
            (
                "of those tested once a step, and of those in substeps, some went through",
                once.n_misses >= often.n_misses > 0,
            ),
            ("substeps cost more tests than sweeps", often.n_tests > 5 * self.n_tests),
        ]
