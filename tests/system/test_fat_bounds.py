"""Fat bounds change what a step costs and never what happens in it; see `test_sameness` too."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Log, gas
from tests.system.test_sameness import FATNESS

pytestmark = pytest.mark.usefixtures("world")


@pytest.mark.parametrize("fatness", [name for name in FATNESS if name != "huge"])
def test_a_gas(world, fatness, volume):
    logs = []
    for arguments in ({}, FATNESS[fatness]):
        esper.switch_world(f"{world} fat")
        try:
            gas(200, spacing=4.0, speed=200.0)
            space = ec.install(ec.Space(**arguments))
            log = Log()
            for _ in range(volume(40, 100)):
                esper.process(1 / 60)
                log.record(space)
            logs.append(log.digest())
        finally:
            esper.switch_world(world)
            esper.delete_world(f"{world} fat")

    assert logs[0] == logs[1]


@pytest.mark.usefixtures("life")
def test_more_margin_means_fewer_escapes_of_the_same_pairs(world):
    counted = []
    for margin in (0.0, 3.0):
        esper.switch_world(f"{world} fat")
        try:
            gas(100, spacing=5.0, speed=20.0)
            space = ec.install(ec.Space(margin=margin, lookahead=0.0))
            escapes = pairs = 0
            for _ in range(30):
                esper.process(1 / 60)
                escapes += space.stats.escapes
                pairs += space.stats.pairs
            counted.append((escapes, pairs))
        finally:
            esper.switch_world(world)
            esper.delete_world(f"{world} fat")

    (thin_escapes, thin_pairs), (fat_escapes, fat_pairs) = counted
    assert fat_escapes < thin_escapes
    assert fat_pairs == thin_pairs
