"""Fat bounds change what a step costs and never what happens in it; see `test_sameness` too."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests import plain
from tests.scenes import Log, another_world, box, gas
from tests.system.test_sameness import FATNESS

FEW, ITEMS_PER_ESCAPE, MIN_ESCAPES = plain.names(
    "broadphase.dynamic_tree",
    "FEW ITEMS_PER_ESCAPE MIN_ESCAPES",
)

pytestmark = pytest.mark.usefixtures("world")


@pytest.mark.parametrize("fatness", [name for name in FATNESS if name != "huge"])
def test_a_gas(world, fatness, volume):
    logs = []
    for arguments in ({}, FATNESS[fatness]):
        with another_world(f"{world} fat"):
            gas(200, spacing=4.0, speed=200.0)
            space = ec.install(ec.Space(**arguments))
            log = Log()
            for _ in range(volume(40, 100)):
                esper.process(1 / 60)
                log.record(space)
            logs.append(log.digest())

    assert logs[0] == logs[1]


@pytest.mark.usefixtures("implementation")
def test_more_margin_means_fewer_escapes_of_the_same_pairs(world):
    counted = []
    for margin in (0.0, 3.0):
        with another_world(f"{world} fat"):
            gas(100, spacing=5.0, speed=20.0)
            space = ec.install(ec.Space(margin=margin, lookahead=0.0))
            escapes = pairs = 0
            for _ in range(30):
                esper.process(1 / 60)
                escapes += space.stats.escapes
                pairs += space.stats.pairs
            counted.append((escapes, pairs))

    (thin_escapes, thin_pairs), (fat_escapes, fat_pairs) = counted
    assert fat_escapes < thin_escapes
    assert fat_pairs == thin_pairs


def counted(n_steps: int, **settings: object) -> tuple[int, int, int]:
    """Return the escapes, reinsertions and rebuilds of a number of steps after the first."""
    space = ec.install(ec.Space(**settings))
    esper.process(1 / 60)
    escapes = reinsertions = rebuilds = 0
    for _ in range(n_steps):
        esper.process(1 / 60)
        escapes += space.stats.escapes
        reinsertions += space.stats.reinsertions
        rebuilds += space.stats.rebuilds
    return escapes, reinsertions, rebuilds


@pytest.mark.slow_in_python
@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    ("speed", "spacing", "steps_between_escapes"),
    [(10.0, 4.0, 40), (30.0, 4.0, 20), (60.0, 4.0, 13), (240.0, 16.0, 10), (960.0, 60.0, 10)],
    ids=str,
)
def test_bodies_of_a_gas_escape_rarely_and_some_are_reinserted(
    speed, spacing, steps_between_escapes, volume
):
    n, n_steps = 400, volume(100, 300, least=60)
    gas(n, spacing=spacing, speed=speed)  # at most a twelfth of a side to 8 sides in a step

    escapes, reinsertions, rebuilds = counted(n_steps)

    assert 0 < escapes * steps_between_escapes < n * n_steps
    assert reinsertions > escapes / 2
    assert rebuilds < n_steps / 8


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("n_movers", [1, 3, 12, 40])
@pytest.mark.parametrize("rest", ["fixed", "awake"])
def test_escapes_are_reinserted_one_at_a_time_where_few_bodies_move(n_movers, rest, volume):
    for n in range(100):
        still = () if rest == "fixed" else (ec.Velocity(0, 0), ec.Slide())
        box((10 * (n % 10), 10 * (n // 10)), (1, 1), *still)
    for n in range(n_movers):
        place, pace = ec.Position(-10 - 3 * n, 3 * n), ec.Velocity(-30 - n, 20 + n)
        esper.create_entity(place, ec.Extents(1, 1), pace, ec.Slide())

    space = ec.install(ec.Space(sleep=False))
    esper.process(1 / 60)
    n_items = n_movers if rest == "fixed" else n_movers + 100
    # Up to 16 new items are inserted one at a time, more are built in bulk.
    n_renewed = n_items if n_items <= FEW else 0
    escapes = reinsertions = 0
    for _ in range(volume(130, 200, least=30)):
        esper.process(1 / 60)
        stats = space.stats
        escapes += stats.escapes
        reinsertions += stats.reinsertions
        n_renewed += stats.escapes
        # Reinsertions make a worse tree: it is rebuilt after 256, plus one for every four items.
        is_rebuilt = n_renewed > MIN_ESCAPES + n_items // ITEMS_PER_ESCAPE
        assert stats.rebuilds == is_rebuilt
        n_renewed *= not is_rebuilt

    assert escapes >= n_movers
    assert reinsertions > 0.9 * escapes


class Rows:
    """A hundred boxes of side 2, ten in a row, that have a velocity and rest."""

    def __init__(self) -> None:
        self.places = [ec.Position(10 * (n % 10), 10 * (n // 10)) for n in range(100)]
        for place in self.places:
            esper.create_entity(place, ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide())
        self.space = ec.install(ec.Space(sleep=False))
        esper.process(1 / 60)

    def work(self) -> tuple[int, int, int]:
        """Return the escapes, reinsertions and rebuilds of one more step."""
        esper.process(1 / 60)
        stats = self.space.stats
        return stats.escapes, stats.reinsertions, stats.rebuilds


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize(
    ("n", "by", "work"),
    [
        (1, 1.9, (0, 0, 0)),  # inside its fat bounds, whose margin is 2
        (1, 300.0, (1, 1, 0)),
        (1, 2.1, (1, 1, 0)),  # reinserted alone, even if it still suits its node
        (50, 300.0, (50, 0, 1)),  # many at once are built in bulk, as new ones are
    ],
)
def test_bodies_that_escape_are_reinserted_or_rebuilt(n, by, work):
    rows = Rows()
    new = rows.space.stats
    assert (new.escapes, new.reinsertions, new.rebuilds) == (0, 0, 1)

    for place in rows.places[:n]:
        place.x += by

    assert rows.work() == work
    assert rows.work() == (0, 0, 0)


@pytest.mark.usefixtures("implementation")
def test_of_many_bodies_that_escape_some_stay_in_nodes_that_they_still_suit():
    rows = Rows()
    for place in rows.places[:40]:
        place.x += 2.1

    escapes, reinsertions, rebuilds = rows.work()

    assert (escapes, rebuilds) == (40, 0)
    assert 16 <= reinsertions < 25


@pytest.mark.usefixtures("implementation")
def test_a_still_body_that_the_game_moves_counts_as_an_escape_too():
    for n in range(40):
        box((10 * n, 0), (1, 1))
    wall = ec.Position(0, 50)
    esper.create_entity(wall, ec.Extents(1, 1))
    space = ec.install()
    esper.process(1 / 60)
    wall.x = 300.0

    esper.process(1 / 60)

    assert (space.stats.escapes, space.stats.reinsertions, space.stats.rebuilds) == (1, 1, 0)


@pytest.mark.usefixtures("implementation")
def test_a_restored_step_counts_no_work_of_the_trees():
    rows = Rows()
    rows.places[0].x = 300.0
    rows.work()

    rows.space.restore(rows.space.snapshot())

    stats = rows.space.stats
    assert (stats.step, stats.escapes, stats.reinsertions, stats.rebuilds) == (2, 0, 0, 0)
