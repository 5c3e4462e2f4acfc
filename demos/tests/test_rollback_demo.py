"""The demo of rollback: what it draws of the line and of wrong predictions."""

from __future__ import annotations

import re

from demos.rollback import game as rollback
from demos.rollback.machine import SIDE


def test_wrong_predictions_leave_ghosts_and_the_worlds_stay_the_same(world: str) -> None:
    scene = rollback.build(seed=1)
    scene.keys.bot = True
    ghosts = set()

    for _ in range(150):
        scene.step()
        ghosts |= {(until, side) for until, side, _ in scene.ghosts}

    n_back = sum(machine.session.n_rollbacks for machine in scene.machines)
    assert 0 < len(ghosts) <= n_back
    assert all(holds for _, holds in scene.claims())
    wrong = [
        label.text
        for label in scene.labels()
        if re.fullmatch(r"= \d+ wrong predictions", label.text)
    ]
    assert len(wrong) == 2


def test_packets_are_drawn_on_their_way_and_the_lost_ones_fall(world: str) -> None:
    scene = rollback.build(seed=1)
    for _ in range(40):
        scene.step()

    rects = scene.packets().rects

    assert len(rects) > 2
    assert (rects[:, 0] > SIDE[0] - 13).all()
    assert (rects[:, 2] < SIDE[0] + rollback.GAP + 13).all()
    lanes = {round(low + 13) for low in rects[:, 1]}
    assert {290, 190} & lanes
    assert any(lane not in (290, 190) for lane in lanes)
    lost = [packet for packet in scene.line if packet.is_lost]
    assert lost
    assert all(packet.due > scene.n_steps for packet in scene.line)
