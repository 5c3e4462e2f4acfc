"""A gas of boxes holds up a piston, and its speeds become Maxwell's.

What to look at: all begin with the same energy, half the boxes light and half heavy.  The bars on
the right are the speeds, each times the root of its mass and in units of its axis' temperature
(boxes hand on speed along an axis, never from one to the other); the line is Maxwell's law for two
dimensions, r exp(-r^2 / 2).  The piston is one more body, with Mass and Deflect, and gravity.
"""

from __future__ import annotations

import esper
import numpy as np
from numpy.typing import NDArray

import ecs_collide as ec
from demos.app.parts import Paint, create_frame, painted, plain
from demos.app.scene import BLUE, DT, GREY, ORANGE, YELLOW, Boxes, Label, Scene

N = 700
WIDTH, HEIGHT, EDGE = 460.0, 520.0, 10.0
SPEED = 230.0  # of a box of mass 1, on each axis
MASSES = (1.0, 4.0)
SPACING = 16.0
PISTON = (8.0, 300.0)  # half its height, and its mass
PULL = 2 * N * SPEED**2 / 2 / PISTON[1] / 300.0  # gravity: the ideal gas would be 300 high
N_BINS, MOST = 22, 4.4  # of the histogram
CHART = (WIDTH + 60.0, 90.0, 380.0, 330.0)  # left, bottom, width, height


def build(seed: int = 0) -> Gas:
    """Make the world in the current esper world; `seed` is of places and directions."""
    chance = np.random.default_rng(seed)
    create_frame(WIDTH, HEIGHT, EDGE)
    columns = int(WIDTH / SPACING)
    boxes, masses = [], np.array([MASSES[number % 2] for number in range(N)])
    signs = chance.choice((-1.0, 1.0), (N, 2))
    for number in range(N):
        row, column = divmod(number, columns)
        x, y = (column + 0.5) * SPACING + 6, (row + 0.5) * SPACING
        speed = SPEED / np.sqrt(masses[number]) * signs[number]
        body = (ec.Position(x, y), ec.Velocity(*speed), ec.Mass(masses[number]), ec.Deflect())
        half, colour = (2.0, BLUE) if masses[number] == 1.0 else (3.5, ORANGE)
        boxes.append(esper.create_entity(*body, ec.Extents(half, half), Paint(colour)))
    half, mass = PISTON
    piston = esper.create_entity(
        ec.Position(WIDTH / 2, (N // columns + 2) * SPACING),
        ec.Extents(WIDTH / 2, half),
        ec.Velocity(0, 0),
        ec.Mass(mass),
        ec.Deflect(),
        Paint(YELLOW),
    )
    scene = Gas(ec.install(), boxes, masses, piston)
    esper.add_processor(Pull(piston), priority=200)
    esper.process(0.0)  # nothing moves, but the space now knows the boxes
    scene.begin()
    return scene


class Pull(esper.Processor):
    """Gravity, of the piston alone."""

    def __init__(self, piston: int) -> None:
        self.piston = piston

    def process(self, dt: float) -> None:
        """Accelerate it downwards."""
        esper.component_for_entity(self.piston, ec.Velocity).y -= PULL * dt


class Gas(Scene):
    """The gas, its force on the piston, and the distance of its speeds from Maxwell's."""

    title = "gas"
    seconds = 15.0
    corner = (-EDGE, -EDGE)  # all walls are seen

    def __init__(
        self, space: ec.Space, boxes: list[int], masses: NDArray[np.float64], piston: int
    ) -> None:
        size = (CHART[0] + CHART[2] + 30, HEIGHT + EDGE + 26)
        super().__init__(space, size, size)
        self.ids = boxes
        self.masses = masses
        self.piston = piston
        self.mass_of = dict(zip(boxes, masses.tolist(), strict=True))
        self.given = self.hits = 0.0  # momentum that the gas and all gave to the piston
        self.seconds_run = 0.0
        self.n_outside = 0
        self.bars = np.zeros(N_BINS)

    def begin(self) -> None:
        """Store the state at the start."""
        self.rows = np.searchsorted(self.space.entities, self.ids)
        self.bars = self.histogram()
        self.away_at_start = self.away()

    def step(self) -> None:
        """Advance the world; add up the momentum of hits on the piston, from the events alone."""
        super().step()
        self.seconds_run += self.dt
        rows = self.space.collision_array
        rows = rows[((rows["first"] == self.piston) | (rows["second"] == self.piston))]
        heavy = PISTON[1]
        for event in rows[rows["outcome"] == ec.Outcome.RESOLVED]:
            other = int(event["first"] + event["second"]) - self.piston
            if other in self.mass_of:
                mass = self.mass_of[other]
                # The piston's normal: from the other towards it.
                way = event["normal"][1] * (1 if event["first"] == self.piston else -1)
                shared = 2 * mass * heavy / (mass + heavy)
                self.given += shared * event["closing_speed"] * way
            else:  # the ceiling: it bounces
                self.hits -= 2 * heavy * event["closing_speed"]
        centres = self.space.positions()[self.rows]
        top = self.height()
        self.n_outside += int(((centres < 0) | (centres > (WIDTH, top))).any(axis=1).sum())
        self.bars += (self.histogram() - self.bars) * 0.05  # the mean of the last moments

    def height(self) -> float:
        """Return the height of the piston's lower face."""
        return float(self.space.bounds(self.piston)[0][1])

    def temperatures(self) -> NDArray[np.float64]:
        """Return the mean of m v**2 on each axis."""
        velocities = self.space.velocities()[self.rows]
        return np.asarray((velocities**2 * self.masses[:, None]).mean(axis=0))

    def histogram(self) -> NDArray[np.float64]:
        """Return the density of the scaled speeds."""
        velocities = self.space.velocities()[self.rows]
        scaled = velocities**2 * self.masses[:, None] / self.temperatures()
        speeds = np.sqrt(scaled.sum(axis=1))
        return np.histogram(speeds, N_BINS, (0.0, MOST))[0] / (N * MOST / N_BINS)

    @staticmethod
    def law() -> NDArray[np.float64]:
        """Return the value of Maxwell's law for each bar."""
        edges = np.linspace(0.0, MOST, N_BINS + 1)
        return -np.diff(np.exp(-(edges**2) / 2)) / (MOST / N_BINS)

    def away(self) -> float:
        """Return the fraction of the boxes that would have to change their bar."""
        return float(np.abs(self.bars - self.law()).sum() * MOST / N_BINS / 2)

    def lost(self) -> float:
        """Return the fraction of the piston's momentum that no event and no gravity explains."""
        momentum = PISTON[1] * esper.component_for_entity(self.piston, ec.Velocity).y
        weight = PISTON[1] * PULL * self.seconds_run
        return abs(self.given + self.hits - weight - momentum) / (self.given + 1.0)

    def boxes(self) -> Boxes:
        """Return the boxes, the histogram and the law."""
        left, bottom, width, height = CHART
        x = left + width * np.arange(N_BINS) / N_BINS
        step, scale = width / N_BINS, height / 0.7
        base = np.full(N_BINS, bottom)
        bars = np.stack([x, base, x + step - 2, bottom + self.bars * scale], axis=1)
        r = np.linspace(0, MOST, 300)
        at, law = left + width * r / MOST, bottom + scale * r * np.exp(-(r**2) / 2)
        line = np.stack([at - 1.5, law - 1.5, at + 1.5, law + 1.5], axis=1)
        ground = plain([(left, bottom - 2, left + width, bottom)], GREY)
        return painted().joined(ground, plain(bars, BLUE), plain(line, YELLOW))

    def labels(self) -> list[Label]:
        """Return the labels of the chart."""
        left, bottom, _, _ = CHART
        text = f"away from Maxwell's law: {self.away():.1%}, at the start {self.away_at_start:.1%}"
        held = f"the gas gave the piston {self.held():.1%} of its weight"
        return [Label(text, left, bottom - 30, 14.0), Label(held, left, bottom - 54, 14.0)]

    def held(self) -> float:
        """Return the mean force of the gas on the piston, as a part of its weight."""
        return self.given / (PISTON[1] * PULL * max(self.seconds_run, DT))

    def report(self) -> list[str]:
        """Return the results for the gas."""
        return [
            f"speeds      {self.away():.1%} away from Maxwell's, {self.away_at_start:.1%} before",
            f"pressure    {self.held():.1%} of the weight of the piston, at {self.height():.0f}",
            f"momentum    {self.lost():.1e} of it is not explained by the events",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        return [
            ("no box is outside, or beyond the piston", self.n_outside == 0),
            ("the events explain all momentum of the piston, to 1e-12", self.lost() < 1e-12),
            ("the speeds are closer to Maxwell's law", self.away() <= self.away_at_start),
        ]
