"""A duel: the same fast bullets at the same thin shield, sampled on the left, swept on the right.

What to look at: on the left a bullet is moved, and then tested for overlap, as in most games.  If
it is before the shield in one frame and behind it in the next, nobody notices.  On the right the
library sweeps the same bullet and stops it at the instant of the hit.  Each miss is replayed in
slow motion; outlines are the places where the left bullet was tested.
"""

from __future__ import annotations

import random

import esper
import numpy as np

import ecs_collide as ec
from demos.app.boxes import WHITE, YELLOW, Boxes, outlines, plain
from demos.app.scene import DT, Label, Look, Palette, Scene, looks
from demos.app.sprites import SPRITES, Sprite

HALF = 480.0  # width of one side
HEIGHT, FLOOR, LANE = 540.0, 88.0, 150.0  # of the picture, the ground and the bullets
MUZZLE, SHIELD, HERO = 88.0, (322.0, 328.0), 412.0  # x, on each side
TALL = 74.0  # half the height of the shield
SIZE = (13.0, 6.0)  # half of a bullet
SLOWEST, FASTEST = 14.0, 130.0  # units a step
RELOAD, REPLAY = 20, 72  # steps: from a hit to the next shot; of a replay


def build(seed: int = 0) -> Tunnelling:
    """Make the world in the current esper world; `seed` is of the bullets."""
    for side in (0.0, HALF):
        esper.create_entity(ec.Position(side + 42, LANE), Look(Sprite.TRAP, 72, 72))
        esper.create_entity(ec.Position(side + HERO, FLOOR + 42), Look(Sprite.HERO, 84, 84))
    middle, thick = sum(SHIELD) / 2, (SHIELD[1] - SHIELD[0]) / 2
    esper.create_entity(ec.Position(HALF + middle, LANE), ec.Extents(thick, TALL))
    return Tunnelling(ec.install(), seed)


class Tunnelling(Scene):
    """Both bullets of the present shot, and the score."""

    title = "tunnelling"
    seconds = 12.0
    sheet = SPRITES
    palette = Palette(
        (38, 46, 78), (18, 20, 36), (150, 214, 255), bad=(255, 96, 96), good=(120, 236, 150)
    )

    def __init__(self, space: ec.Space, seed: int) -> None:
        super().__init__(space, (2 * HALF, HEIGHT), (2 * HALF, HEIGHT))
        self.chance = random.Random(seed)
        self.n_shots = self.n_through = self.n_stopped = self.n_beyond = self.n_wrong = 0
        self.bullet = 0
        self.fire()

    def fire(self) -> None:
        """Fire the same bullet on both sides."""
        self.n_shots += 1
        fast = 0.9 if self.n_shots == 1 else self.chance.random() ** 0.6
        self.speed = SLOWEST + (FASTEST - SLOWEST) * fast
        place, velocity = ec.Position(HALF + MUZZLE, LANE), ec.Velocity(self.speed / DT, 0.0)
        self.bullet = esper.create_entity(place, ec.Extents(*SIZE), velocity, ec.Stop())
        self.tested = [MUZZLE]  # where the sampled bullet was tested
        self.flies, self.crossed, self.met = True, False, 0.0
        self.wait = self.replay = 0
        self.is_hidden = False  # a hit that the replay has yet to show
        for side in (0.0, HALF):
            self.effects.burst((side + MUZZLE, LANE), YELLOW, 6, 160.0, towards=(2.0, 0.0))
        self.effects.play("shoot")

    def step(self) -> None:
        """Advance both bullets by a frame; or show the next picture of a replay."""
        if self.replay > 0:
            self.replay -= 1
            self.n_steps += 1
            self.effects.step(DT)
            if self.is_hidden and self.shown() >= SHIELD[0] - SIZE[0]:
                self.is_hidden = False
                self.spark(HALF)
            return
        if self.wait > RELOAD:
            esper.delete_entity(self.bullet, immediate=True)
            self.fire()
        super().step()
        self.n_beyond += self.swept() > SHIELD[0]
        if self.flies:
            self.sample()
        for event in self.space.collisions:
            self.stop(event)
        self.wait += not self.flies

    def shown(self) -> float:
        """Return the place of the swept bullet in a replay, were there no shield."""
        return self.tested[-2] + self.speed * (1.0 - self.replay / REPLAY) * 1.2

    def swept(self) -> float:
        """Return the place of the swept bullet, on its side."""
        return float(esper.component_for_entity(self.bullet, ec.Position).x) - HALF

    def stop(self, event: ec.Collision) -> None:
        """Compare the instant of a hit with arithmetic."""
        self.n_stopped += 1
        self.met = event.time
        steps = (SHIELD[0] - SIZE[0] - MUZZLE) / self.speed
        self.n_wrong += abs(event.time - steps % 1.0) > 1e-9
        self.is_hidden = self.crossed
        if not self.crossed:
            self.spark(HALF)

    def sample(self) -> None:
        """Move the sampled bullet, and then test it for overlap with the shield."""
        x = self.tested[-1] + self.speed
        self.tested.append(x)
        low, high = (SHIELD[0], LANE - TALL), (SHIELD[1], LANE + TALL)
        if ec.overlaps([(x - SIZE[0], LANE)], [(x + SIZE[0], LANE)], low, high)[0]:
            self.flies = False
            self.spark(0.0)
        elif x > SHIELD[1]:
            self.flies, self.crossed = False, True
            self.n_through += 1
            self.replay = REPLAY
            self.effects.shake(8.0)
            self.effects.play("lose")
            self.effects.burst(
                (HERO, FLOOR + 30), self.palette.bad, 24, 300.0, life=0.8, pull=500.0
            )

    def spark(self, side: float) -> None:
        """Show that the shield of a side holds."""
        point = (side + SHIELD[0], LANE)
        self.effects.burst(point, self.palette.good, 18, 260.0, towards=(-1.0, 0.0), life=0.7)
        self.effects.ring(point, self.palette.good, 50.0)
        self.effects.play("hit")

    def boxes(self) -> Boxes:
        """Return the ground, the shields, what stands there, and the bullets."""
        low, high = LANE - TALL, LANE + TALL
        shields = [(side + SHIELD[0], low, side + SHIELD[1], high) for side in (0.0, HALF)]
        ground = plain([(-20, -20, 2 * HALF + 20, FLOOR)], (52, 60, 92))
        line = plain([(HALF - 3, -20, HALF + 3, HEIGHT + 20)], (10, 12, 22))
        return ground.joined(looks(), plain(shields, self.palette.wall), *self.bullets(), line)

    def bullets(self) -> list[Boxes]:
        """Return both bullets; in a replay, within the frame of the miss."""
        left, right = self.tested[-1], self.swept()
        if self.replay == 0:
            shown = [right + HALF] if self.crossed else [left, right + HALF]
            return [plain(_rects(*shown), YELLOW)]
        before, stop, good, bad = self.tested[-2], SHIELD[0] - SIZE[0], *self.palette[-2:]
        now = min(self.shown(), stop)
        return [
            outlines(_rects(*self.tested), bad, 2.0),
            plain(_rects(before if self.replay > REPLAY / 2 else left), bad),
            plain([(HALF + before, LANE - 2, HALF + now, LANE + 2)], (80, 150, 110)),
            plain(_rects(HALF + now), good if now == stop else YELLOW),
        ]

    def labels(self) -> list[Label]:
        """Return the score of each side, and a caption of the replay."""
        left, right, y, good, bad = HALF / 2, 1.5 * HALF, HEIGHT, *self.palette[-2:]
        found = []
        for x, name, score, colour in (
            (left, "tested each frame", self.n_through, bad),
            (right, "swept", self.n_beyond, good),
        ):
            found.append(Label(name, x, y - 52, 34.0, WHITE, "center"))
            found.append(Label(f"{score}", x, y - 190, 140.0, colour, "center"))
            found.append(Label("went through", x, y - 238, 28.0, colour, "center"))
        if self.replay:
            frame = len(self.tested) - 2
            missed = f"frame {frame}: in front, frame {frame + 1}: behind"
            found += [
                Label(missed, left, 50, 26.0, bad, "center"),
                Label(f"hit after {frame + self.met:.2f} frames", right, 50, 26.0, good, "center"),
                Label("slow-motion replay", left, 16, 22.0, WHITE, "center"),
            ]
        return found

    def report(self) -> list[str]:
        """Return the counts of hits and misses."""
        return [
            f"shots       {self.n_shots} on each side, of {SLOWEST:g} to {FASTEST:g} units a step",
            f"sampled     {self.n_through} went through",
            f"swept       {self.n_beyond} went through, {self.n_stopped} were stopped",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("no swept bullet is beyond the shield", self.n_beyond == 0),
            ("each met it at the instant that arithmetic gives", self.n_wrong == 0),
            ("of the sampled bullets some went through", self.n_through > 0),
        ]


def _rects(*places: float) -> np.ndarray:
    x, (half, high) = np.array(places), SIZE
    y = np.full(len(x), LANE)
    return np.stack([x - half, y - high, x + half, y + high], axis=1)
