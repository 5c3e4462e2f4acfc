"""Two players on two machines, and a line that is late and loses a third of all packets.

What to look at: each half is one player's machine, and the envelopes between them are the packets
on the line; red ones are lost.  A machine does not wait: it predicts the other's keys.  When a
packet proves it wrong it goes back and plays again.  A yellow ghost stays where it had shown the
other's ship.  In the end both worlds are the same, in every bit.
"""

from __future__ import annotations

import random
from time import perf_counter
from typing import NamedTuple

import esper
import numpy as np

from demos.app.boxes import GREEN, RED, WHITE, YELLOW, Boxes, outlines, plain
from demos.app.parts import painted
from demos.app.scene import DT, Keys, Label, Palette, Scene, looks
from demos.app.sprites import SPRITES, Sprite
from demos.rollback.machine import COLOURS, EDGE, SIDE, Machine, Rect

GAP = 150.0  # room for the line between the two worlds
FOOT, HEAD = 60.0, 70.0  # room for captions below and above the worlds
LOSS, LATE = 0.33, (4, 12)  # part of the packets that is lost; steps until the others come
SEEN = 26  # steps for which a ghost is seen


class Packet(NamedTuple):
    """A packet on the line; lost ones are drawn too."""

    sent: int  # steps
    due: int
    to: int
    data: bytes
    is_lost: bool


def build(seed: int = 0) -> Rollback:
    """Make both worlds; the current one is the left player's."""
    return Rollback(seed)


class Rollback(Scene):
    """Both machines, the line between them, and the ghosts of wrong predictions."""

    title = "rollback"
    seconds = 12.0
    help = "arrows: fly the orange ship   B: a bot flies it"
    sheet = SPRITES
    palette = Palette((34, 40, 58), (18, 20, 32))
    corner = (-EDGE, -EDGE - FOOT)

    def __init__(self, seed: int) -> None:
        here = esper.current_world
        there = f"{here}, the other machine"
        if there in esper.list_worlds():
            esper.delete_world(there)
        self.machines = [Machine(here, 0), Machine(there, 1)]
        size = (2 * SIDE[0] + GAP + 2 * EDGE, SIDE[1] + 2 * EDGE + FOOT + HEAD)
        super().__init__(self.machines[0].space, size, size)
        self.chance = random.Random(seed)
        self.bots = [(0, 0), (0, 0)]
        self.line: list[Packet] = []
        self.n_lost = self.n_sent = self.n_waited = 0
        self.ghosts: list[tuple[int, int, Rect]] = []

    def step(self) -> None:
        """Do a step on each machine, and carry the packets."""
        start = perf_counter()
        self.effects.step(DT)
        self.n_steps += 1
        for n, machine in enumerate(self.machines):
            if self.chance.random() < 0.06:
                self.bots[n] = self.chance.choice([-1, 0, 1]), self.chance.choice([-1, 0, 1])
            bot = n == 1 or self.keys.bot
            self.advance(machine, n, list(self.bots[n] if bot else _way(self.keys)))
            is_lost = self.chance.random() < LOSS
            due = self.n_steps + self.chance.randint(*LATE)
            data = machine.session.packet(1 - n)
            self.line.append(Packet(self.n_steps, due, 1 - n, data, is_lost))
            self.n_sent += 1
            self.n_lost += is_lost
        for packet in self.line:
            if packet.due <= self.n_steps and not packet.is_lost:
                self.machines[packet.to].session.receive(packet.data)
        self.line = [packet for packet in self.line if packet.due > self.n_steps]
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
        for event in machine.space.collisions:
            if event.closing_speed > 60:
                x, y = event.point
                self.effects.burst((x + n * (SIDE[0] + GAP), y), WHITE, 5, 140.0)

    def boxes(self) -> Boxes:
        """Return both worlds side by side, the ghosts, and the line."""
        self.ghosts = [ghost for ghost in self.ghosts if ghost[0] > self.n_steps]
        found = self.packets()
        for n, machine in enumerate(self.machines):
            floor = plain([(0.0, 0.0, *SIDE)], (24, 28, 46))
            mine = np.array([rect for _, side, rect in self.ghosts if side == n])
            with machine.current():
                drawn = floor.joined(painted(), outlines(mine, YELLOW, 3.0), looks())
            y = -EDGE - FOOT + 17  # a ghost beside the number of ghosts
            key = outlines(np.array([(24.0, y, 50.0, y + 26)]), YELLOW, 3.0)
            drawn = drawn.joined(key)
            drawn.rects[:, [0, 2]] += n * (SIDE[0] + GAP)
            found = found.joined(drawn)
        return found

    def packets(self) -> Boxes:
        """Return the packets, one lane for each direction; the lost ones fall."""
        rows = []
        for packet in self.line:
            if packet.sent % 3:  # not all, so that they can be told apart
                continue
            share = (self.n_steps - packet.sent) / (packet.due - packet.sent)
            left, right = SIDE[0] + EDGE + 13, SIDE[0] + GAP - EDGE - 13
            x = left + (right - left) * (share if packet.to == 1 else 1 - share)
            y = 290.0 if packet.to == 1 else 190.0
            y -= 90 * max(share - 0.4, 0.0) if packet.is_lost else 0.0
            colour = RED if packet.is_lost else GREEN
            rows.append(((x - 13, y - 13, x + 13, y + 13), int(Sprite.PACKET), colour))
        return Boxes.of(rows)

    def labels(self) -> list[Label]:
        """Return what each machine has done, and the state of the line."""
        found, top, middle = [], SIDE[1] + EDGE + 20, SIDE[0] + GAP / 2
        for n, machine in enumerate(self.machines):
            session, x = machine.session, SIDE[0] / 2 + n * (SIDE[0] + GAP)
            found.append(Label(f"player {n + 1}", x, top, 34.0, COLOURS[n], "center"))
            text = f"= {session.n_rollbacks} wrong predictions"  # beside a yellow box
            found.append(Label(text, x - SIDE[0] / 2 + 58, -EDGE - FOOT + 20, 25.0, YELLOW))
            if session.desync is not None:
                found.append(Label(str(session.desync), x, 20, 22.0, RED, "center"))
        sent = Label("packets", middle, top, 26.0, GREEN, "center")
        lost = Label(f"{LOSS:.0%} lost", middle, top - 46, 26.0, RED, "center")
        n_apart = sum(machine.session.desync is not None for machine in self.machines)
        same = Label(f"{n_apart} desyncs", middle, -EDGE - FOOT + 20, 26.0, GREEN, "center")
        return [*found, sent, lost, same]

    def report(self) -> list[str]:
        """Return the numbers of the line and the sessions."""
        back = [machine.session for machine in self.machines]
        return [
            f"line        {self.n_lost} of {self.n_sent} packets lost",
            f"rollbacks   {sum(s.n_rollbacks for s in back)}",
            f"repeated    {sum(s.n_repeated for s in back)} steps",
            f"waited      {self.n_waited} steps for the inputs of the other player",
        ]

    def claims(self) -> list[tuple[str, bool]]:
        """Return the claims of this demo."""
        same = all(machine.session.desync is None for machine in self.machines)
        return [("both machines see the same world, in every bit", same)]


def _way(keys: Keys) -> tuple[int, int]:
    return keys.right - keys.left, keys.up - keys.down
