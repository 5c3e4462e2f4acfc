"""Two players, two worlds, a bad line: inputs are predicted, and both worlds stay the same.

What to look at: the line loses a third of all packets and is up to six steps late.  The left half
is one player's machine, the right half the other's.  An outline shows where a ship was seen before
an input came that had been predicted wrongly, and the world went back.
"""

from __future__ import annotations

import random
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import esper
import numpy as np

import ecs_collide as ec
from demos.app.boxes import BLUE, GREEN, ORANGE, RED, YELLOW, Boxes, outlines
from demos.app.parts import Paint, PaintedScene, create_frame, painted
from demos.app.scene import DT, Keys, Label
from demos.app.worlds import in_world
from ecs_collide.recording.rollback import Session

SIDE = (440.0, 480.0)  # of a world
GAP = 40.0  # between the two pictures
LOSS, LATE = 0.33, 6  # of packets: how many are lost, and steps until they come
DELAY, WINDOW = 1, 12
THRUST, DRAG = 22.0, 0.97
SEEN = 20  # steps for which a ghost is seen
COLOURS = (ORANGE, BLUE)


@dataclass(slots=True)
class Ship:
    """The player of a ship."""

    player: int


def build(seed: int = 0) -> Netplay:
    """Make both worlds; the current one is the left player's."""
    return Netplay(seed)


class Machine:
    """One player's world and session."""

    def __init__(self, world: str, local: int) -> None:
        self.world = world
        with self.current():
            create_frame(*SIDE, 16.0)
            for n in range(8):
                place = ec.Position(60.0 + 45 * n, 240.0 + 60 * (-1) ** n)
                crate = (ec.Extents(10, 10), ec.Velocity(0, 0), ec.Deflect(0.8), ec.Mass(0.5))
                esper.create_entity(place, *crate, Paint(GREEN))
            self.ships = [
                esper.create_entity(
                    ec.Position(100.0 + 240.0 * n, 100.0),
                    ec.Extents(14, 14),
                    ec.Velocity(0, 0),
                    ec.Deflect(0.6),
                    Ship(n),
                    Paint(COLOURS[n], layer=1),
                )
                for n in range(2)
            ]
            self.space = ec.install()
            # A Paint never changes: snapshots only need to hold that it exists.
            self.space.snapshot_with(Paint, lambda paint: b"", lambda data: Paint())
            self.session = Session(
                self.space, self.step, 2, local, delay=DELAY, window=WINDOW, default=[0, 0]
            )
        self.n_collisions = 0

    def current(self) -> AbstractContextManager[None]:
        """Make this world the current one within a block."""
        return in_world(self.world)

    def step(self, pressed: list[list[int]]) -> None:
        """Do one step of the game."""
        for ship, (x, y) in zip(self.ships, pressed, strict=True):
            velocity = esper.component_for_entity(ship, ec.Velocity)
            velocity.set(velocity.x * DRAG + THRUST * x, velocity.y * DRAG + THRUST * y)
        esper.process(DT)
        self.n_collisions += len(self.space.collisions)

    def where(self, player: int) -> tuple[float, float, float, float]:
        """Return the box of a ship."""
        (left, bottom), (right, top) = self.space.bounds(self.ships[player])
        return left, bottom, right, top


class Netplay(PaintedScene):
    """Both machines, the line between them, and the ghosts of wrong predictions."""

    title = "netplay"
    seconds = 12.0
    help = "arrows: fly the orange ship   B: a bot flies it"
    counts_work: ClassVar[bool] = True  # its parts are in two worlds

    def __init__(self, seed: int) -> None:
        here = esper.current_world
        there = f"{here}, the other machine"
        if there in esper.list_worlds():
            esper.delete_world(there)
        self.machines = [Machine(here, 0), Machine(there, 1)]
        size = (2 * SIDE[0] + GAP, SIDE[1] + 40.0)
        super().__init__(self.machines[0].space, size, size)
        self.chance = random.Random(seed)
        self.bots = [(0, 0), (0, 0)]
        self.line: list[tuple[int, int, bytes]] = []  # when it comes, to whom, a packet
        self.n_lost = self.n_sent = self.n_waited = 0
        self.ghosts: list[tuple[int, int, tuple[float, float, float, float]]] = []

    def step(self) -> None:
        """Do a step on each machine, and carry the packets."""
        start = perf_counter()
        self.n_steps += 1
        for n, machine in enumerate(self.machines):
            if self.chance.random() < 0.08:
                self.bots[n] = self.chance.choice([-1, 0, 1]), self.chance.choice([-1, 0, 1])
            bot = n == 1 or self.keys.bot
            pressed = list(self.bots[n] if bot else _way(self.keys))
            self.advance(machine, n, pressed)
            self.n_sent += 1
            if self.chance.random() < LOSS:
                self.n_lost += 1
            else:
                due = self.n_steps + self.chance.randint(1, LATE)
                self.line.append((due, 1 - n, machine.session.packet(1 - n)))
        for _, to, packet in [each for each in self.line if each[0] <= self.n_steps]:
            self.machines[to].session.receive(packet)
        self.line = [each for each in self.line if each[0] > self.n_steps]
        self.n_collisions = self.machines[0].n_collisions
        self.n_contacts += len(self.space.contacts_began)
        self.ms = 1000 * (perf_counter() - start)

    def advance(self, machine: Machine, n: int, pressed: list[int]) -> None:
        """Do a machine's step; if it went back, leave a ghost of the other's ship."""
        session = machine.session
        with machine.current():
            before, n_before = machine.where(1 - n), session.n_rollbacks
            session.settle()
            if session.n_rollbacks > n_before and machine.where(1 - n) != before:
                self.ghosts.append((self.n_steps + SEEN, n, before))
            self.n_waited += not session.advance(pressed)

    def boxes(self) -> Boxes:
        """Return both worlds side by side, and the ghosts."""
        self.ghosts = [ghost for ghost in self.ghosts if ghost[0] > self.n_steps]
        found = Boxes.of([])
        for n, machine in enumerate(self.machines):
            with machine.current():
                drawn = painted()
            mine = [rect for _, side, rect in self.ghosts if side == n]
            if mine:
                drawn = drawn.joined(outlines(np.array(mine), YELLOW, 2.0))
            drawn.rects[:, [0, 2]] += n * (SIDE[0] + GAP)
            found = found.joined(drawn)
        return found

    def labels(self) -> list[Label]:
        """Return the rollbacks of each machine."""
        found = []
        for n, machine in enumerate(self.machines):
            session = machine.session
            text = f"went back {session.n_rollbacks} times, {session.n_predicted} predicted"
            found.append(Label(text, n * (SIDE[0] + GAP) + 20, SIDE[1] + 18, 14.0, COLOURS[n]))
            if session.desync is not None:
                found.append(Label(str(session.desync), 20, 20, 12.0, RED))
        return found

    def report(self) -> list[str]:
        """Return the numbers of the line and the sessions."""
        back = [machine.session for machine in self.machines]
        return [
            f"line        {self.n_lost} of {self.n_sent} packets lost",
            f"rollbacks   {sum(s.n_rollbacks for s in back)}",
            f"repeated    {sum(s.n_repeated for s in back)} steps",
            f"waited      {self.n_waited} steps, for inputs of the other",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        same = all(machine.session.desync is None for machine in self.machines)
        return [("both machines see the same world, in every bit", same)]


def _way(keys: Keys) -> tuple[int, int]:
    return keys.right - keys.left, keys.up - keys.down
