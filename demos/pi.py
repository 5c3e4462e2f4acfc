"""Two blocks and a wall count the digits of pi: 3141 clacks, all in order, most in one step.

What to look at: the right block weighs a million times the left one.  The more it closes in, the
faster the left one goes back and forth, and in the end they have met 3141 times: the first digits
of pi.  (G. Galperin, "Playing pool with pi", 2003, proves why.)
"""

from __future__ import annotations

import argparse
from math import floor, pi, sqrt

import esper

import ecs_collide as ec
from demos.app.boxes import BLUE, ORANGE, YELLOW
from demos.app.parts import Paint, PaintedScene, create_wall
from demos.app.scene import DT, Label

SMALL, LARGE = 12.0, 45.0  # half sizes
START = (130.0, 300.0)  # of the middles; the wall is at 0
SPEED = -160.0  # of the large block, units per second
WIDTH, HEIGHT = 900.0, 420.0


def build(seed: int = 0, digits: int = 4) -> Pi:
    """Make the world in the current esper world.

    Parameters
    ----------
    seed : int
        Unused: nothing is random.
    digits : int
        The digits of pi, from 1 to 6; the large block weighs 100 ** (digits - 1).
    """
    if not 1 <= digits <= 6:
        raise ValueError(f"digits={digits} must be from 1 to 6")
    create_wall((-20.0, 0.0), (0.0, HEIGHT))
    create_wall((-20.0, -16.0), (WIDTH, -1.0))  # below the blocks; nothing touches it
    blocks = []
    for x, half, speed, mass, colour in (
        (START[0], SMALL, 0.0, 1.0, BLUE),
        (START[1], LARGE, SPEED, 100.0 ** (digits - 1), ORANGE),
    ):
        block = (ec.Position(x, half), ec.Extents(half, half), ec.Velocity(speed, 0.0))
        blocks.append(
            esper.create_entity(*block, ec.Mass(mass), ec.Deflect(), Paint(colour, layer=1))
        )
    # A pair may bounce as often as it has to in one step: with a limit the blocks would wait.
    space = ec.install(ec.Space(pair_limit=10**7))
    return Pi(space, blocks, digits)


class Pi(PaintedScene):
    """The blocks, their clacks, and whether those came in order."""

    title = "pi"
    seconds = 9.0
    corner = (-20.0, -16.0)  # the wall and the ground are seen

    def __init__(self, space: ec.Space, blocks: list[int], digits: int) -> None:
        view = (WIDTH + 20.0, HEIGHT + 46.0)
        super().__init__(space, (WIDTH, HEIGHT), view)
        self.blocks = blocks
        self.mass = 100.0 ** (digits - 1)
        self.n_clacks = 0
        self.most = 0  # clacks in one step
        self.n_disorders = self.n_outside = 0
        self.last = 0.0  # time of the last clack, in seconds
        self.last_pair: tuple[int, int] = (0, 0)
        self.energy_at_start = self.energy()

    def velocities(self) -> tuple[float, float]:
        """Return the speeds of the small and of the large block."""
        small, large = (esper.component_for_entity(b, ec.Velocity).x for b in self.blocks)
        return small, large

    def energy(self) -> float:
        """Return twice the energy."""
        small, large = self.velocities()
        return small * small + self.mass * large * large

    def drift(self) -> float:
        """Return the fraction of the energy that was gained."""
        return self.energy() / self.energy_at_start - 1.0

    def bound(self) -> float:
        """Return the bound on the drift: a rounding for each clack, and a few for the sum."""
        return (self.n_clacks + 4) * 2.0**-52

    def step(self) -> None:
        """Advance the world, slower if there are more clacks; check the order of the clacks."""
        small, large = (esper.component_for_entity(b, ec.Position).x for b in self.blocks)
        gap = large - LARGE - 2 * SMALL
        self.dt = DT * min(1.0, max(abs(gap) / 50.0, 0.04))
        began = self.space.time
        super().step()
        rows = self.space.collision_array
        self.n_clacks += len(rows)
        self.most = max(self.most, len(rows))
        for time, first, second in zip(
            rows["time"].tolist(), rows["first"].tolist(), rows["second"].tolist(), strict=True
        ):
            when = began + time * self.dt
            # The small block meets the large one, the wall, the large one: never one twice.
            self.n_disorders += when < self.last or (first, second) == self.last_pair
            self.last, self.last_pair = when, (first, second)
        if len(rows):
            small, _ = (esper.component_for_entity(b, ec.Position).x for b in self.blocks)
            n = min(len(rows), 12)
            self.effects.burst((small, SMALL), YELLOW, n, 260.0, towards=(0.0, 1.5), pull=500.0)
            self.effects.play("bounce")
        small, large = (esper.component_for_entity(b, ec.Position).x for b in self.blocks)
        self.n_outside += small < SMALL or large < small + SMALL + LARGE - 1e-9

    @property
    def expected(self) -> int:
        """The expected number of clacks for the digits."""
        return floor(pi * sqrt(self.mass))

    @property
    def is_over(self) -> bool:
        """Whether the blocks part forever."""
        small, large = self.velocities()
        return 0.0 <= small <= large

    def labels(self) -> list[Label]:
        """Return the count, and what it means."""
        middle, digits = WIDTH / 2 + 60, str(self.expected)
        text = f"{digits[0]}.{digits[1:]}: the digits of pi" if self.is_over else "collisions"
        slow = f", {DT / self.dt:.0f} times slower" if self.dt < DT / 2 else ""
        heavy = f"orange weighs {self.mass:,.0f} times blue{slow}"
        return [
            Label(f"{self.n_clacks}", middle, 230, 170.0, YELLOW, "center"),
            Label(text, middle, 170, 36.0, anchor="center"),
            Label(heavy, WIDTH / 2, HEIGHT - 4, 30.0, self.palette.dim, "center"),
        ]

    def report(self) -> list[str]:
        """Return the count."""
        return [
            f"clacks      {self.n_clacks} of {self.expected}, at most {self.most} in one step",
            f"order       {self.n_disorders} out of order",
            f"energy      changed by {self.drift():.1e} of itself",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        found = [
            (
                "each clack comes after the one before, wall and block in turns",
                not self.n_disorders,
            ),
            ("no block is inside the other or the wall", not self.n_outside),
            (
                "a clack changes the energy by less than one rounding error",
                abs(self.drift()) <= self.bound(),
            ),
            (f"there are never more than {self.expected} clacks", self.n_clacks <= self.expected),
        ]
        if self.is_over:
            found.append((f"there were {self.expected} clacks", self.n_clacks == self.expected))
        return found


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this demo to the command line."""
    parser.add_argument("--digits", type=_digits, default=4, help="of pi, 1 to 6 (%(default)s)")


def _digits(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 6:
        raise argparse.ArgumentTypeError(f"{text} digits: say 1 to 6")
    return value
