"""What a body stands on and since when; what sensors that stand still notice."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import Falls, Gravity, Ledger, box, mover, of, position, steps, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


def test_the_ground_the_walls_and_the_ceiling():
    floor, left = box((0, -1), (50, 1)), box((-2, 3), (1, 3))
    right, ceiling = box((2, 3), (1, 3)), box((0, 3), (1, 1))
    body = mover((0, 1), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.process(1.0)

    found = {
        normal: space.is_on(body, normal).other(body)
        for normal in ((0, 1), (1, 0), (-1, 0), (0, -1))
    }
    assert found == {(0, 1): floor, (1, 0): left, (-1, 0): right, (0, -1): ceiling}
    assert space.is_on(body) == space.is_on(body, (0.0, 1.0))
    assert space.is_on(floor, (0, -1)).other(floor) == body
    assert space.is_on(floor) is None


def test_since_when_in_seconds_of_the_space():
    floor = box((0, -1), (50, 1))
    body = mover((0, 6), (1, 1), (0, -10), ec.Slide(), Falls())
    space = ec.install()
    esper.add_processor(Gravity(-1.0), priority=200)
    began = []
    for n in range(30):
        assert space.time == pytest.approx(n / 10)
        before = space.time
        esper.process(0.1)
        began += [before + event.time * 0.1 for event in space.contacts_began]
        if began:
            assert space.is_on(body).since == began[0]
            assert [c.since for c in space.contacts()] == began
    assert len(began) == 1
    assert 0.4 < began[0] < 0.6
    assert space.is_on(body).other(body) == floor


def test_rest_does_not_flicker():
    for n in range(-20, 20):
        box((2 * n, -1), (1, 1))
    stack = [mover((0.25, 1 + 2 * n), (1, 1), (0, 0), ec.Slide(), Falls()) for n in range(4)]
    ball = mover((20, 8), (1, 1), (0, 0), ec.Deflect(0.5), Falls())
    space = ec.install(ec.Space(rest_speed=2 * 900 / 60))
    esper.add_processor(Gravity(-900.0), priority=200)
    ledger = Ledger(space)
    for step in range(300):
        esper.process(1 / 60)
        ledger.record()
        assert all(space.is_on(body) for body in stack)
        if step > 200:
            assert space.is_on(ball)
    assert {pair for pair, _ in ledger.ends if ball not in pair} == set()


def test_of_several_the_oldest_counts_then_the_lower_id():
    tiles = [box((2 * n, -1), (1, 1)) for n in range(3)]
    body = mover((1, 1), (1, 1), (0, 0), ec.Slide(), Falls())
    space = ec.install()
    esper.process(0.5)
    assert space.is_on(body).other(body) == tiles[0]

    of(body, ec.Velocity).x = 1.0
    esper.process(0.5)
    assert space.is_on(body).other(body) == tiles[0]
    of(body, ec.Velocity).x = 1.0
    esper.process(1.0)  # off the first
    assert space.is_on(body).other(body) == tiles[1]
    assert space.is_on(body).since == 0.5
    assert velocity(body) == (1, 0)


def test_what_crosses_holds_nobody():
    box((0, -0.5), (50, 1), ec.Sensor())
    body = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)

    assert len(space.contacts(body)) == 1
    assert space.is_on(body) is None


@pytest.mark.parametrize("normal", [(1, 1), (0, 2), (0,), (0, 1, 0), (0, 0)])
def test_what_is_no_normal_is_refused(normal):
    body = box((0, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)
    with pytest.raises(ValueError, match="normal="):
        space.is_on(body, normal)
    with pytest.raises(KeyError, match="12345"):
        space.is_on(12345)


def test_in_3d_and_where_y_grows_downwards():
    floor = box((0, 0, 10), (50, 50, 1))
    body = mover((0, 0, 8), (1, 1, 1), (0, 0, 0), ec.Slide())
    space = ec.install(dim=3)
    esper.process(1.0)

    assert space.is_on(body, (0, 0, -1)).other(body) == floor
    assert space.is_on(body) is None


def test_times_survive_a_snapshot(elsewhere):
    box((0, -1), (50, 1))
    body = mover((0, 6), (1, 1), (0, -10), ec.Slide())
    space = ec.install()
    steps(4, 0.25)
    data, since = space.snapshot(), space.is_on(body).since
    other = elsewhere()
    other.restore(data)

    assert (other.time, other.is_on(body).since) == (1.0, since) == (1.0, 0.5)


class TestSensors:
    """Sensors against what stands still, moves and grows."""

    @pytest.mark.parametrize("order", ["sensor first", "block first"])
    def test_a_sensor_that_stands_still_notices_what_stands_still_in_it(self, order):
        make = [lambda: box((0, 0), (5, 5), ec.Sensor()), lambda: box((2, 2), (1, 1))]
        first, second = (f() for f in (make if order == "sensor first" else make[::-1]))
        space = ec.install()
        ledger = Ledger(space)
        esper.process(1.0)
        ledger.record()

        assert [e.time for e in space.contacts_began] == [0.0]
        assert len(space.collisions) == 0  # inside from the start
        third = box((-2, -2), (1, 1))  # made later
        esper.process(1.0)
        ledger.record()
        sensor = first if order == "sensor first" else second
        assert ledger.open == {(first, second), (min(sensor, third), max(sensor, third))}
        esper.process(1.0)
        assert len(space.contact_array) == 0
        esper.delete_entity(third)
        esper.process(1.0)
        ledger.record()
        assert ledger.ends == [
            ((min(sensor, third), max(sensor, third)), ec.EndReason.ENTITY_DELETED)
        ]

    def test_tiles_that_overlap_are_no_business_of_a_sensor_elsewhere(self):
        box((0, 0), (5, 5))
        box((2, 2), (5, 5))
        box((100, 0), (5, 5), ec.Sensor())
        space = ec.install()
        esper.process(1.0)
        assert len(space.contact_array) == 0

    def test_tiles_that_overlap_across_an_edge_are_no_business_of_it_either(self):
        box((0, 5), (5, 5))
        box((99, 5), (5, 5))
        sensor = box((50, 5), (5, 5), ec.Sensor())
        zone = box((98, 8), (4, 4), ec.Sensor())
        space = ec.install(wrap=(100, None))
        esper.process(1.0)

        assert space.contacts(sensor) == []
        assert [(c.first, c.second) for c in space.contacts()] == [(1, zone), (2, zone)]

    def test_a_bullet_that_flies_through_in_one_step_tells_when(self):
        sensor = box((100, 0), (10, 10), ec.Sensor())
        bullet = mover((0, 0), (1, 1), (1000, 0), ec.Slide())
        space = ec.install()
        esper.process(1.0)

        assert [e.time for e in space.contacts_began] == [0.089]
        assert [e.time for e in space.contacts_ended] == [pytest.approx(0.111)]
        (crossing,) = space.collisions
        assert (crossing.time, crossing.exit) == (0.089, pytest.approx(0.111))
        assert crossing.outcome is ec.Outcome.CROSSED
        assert position(bullet) == (1000, 0)
        assert sensor

    def test_a_moving_sensor_over_a_static_block_and_a_growing_one(self):
        block = box((50, 0), (5, 5))
        scanner = mover((0, 0), (5, 5), (100, 0), ec.Sensor())
        blast = box((50, 105), (0, 0), ec.Growth(200, 200), ec.Sensor())
        space = ec.install()
        esper.process(1.0)

        times = {
            (e.first, e.second): e.time
            for e in space.contacts_began
            if block in (e.first, e.second)
        }
        assert times == {(block, scanner): 0.4, (block, blast): 0.5}
        ends = {(e.first, e.second): e.time for e in space.contacts_ended}
        assert ends == {(block, scanner): pytest.approx(0.6)}

    def test_who_becomes_a_sensor_ends_its_contacts_and_begins_others(self):
        floor = box((0, -1), (50, 1))
        body = mover((0, 1), (1, 1), (0, 0), ec.Slide())
        space = ec.install()
        ledger = Ledger(space)
        for n in range(3):
            if n == 1:
                esper.add_component(body, ec.Sensor())
            of(body, ec.Velocity).y = -0.5
            esper.process(1.0)
            ledger.record()

        assert ledger.ends == [((floor, body), ec.EndReason.FILTER_CHANGED)]
        assert [c.kind for c in space.contacts()] == [ec.ContactKind.CROSSING]
