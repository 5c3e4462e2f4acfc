"""Bodies that follow a `Path`: where they are, what rides on them, and what snapshots hold."""

from __future__ import annotations

import math
import random

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.path import Path
from tests.scenes import box, mover, of, steps

DT = 1 / 60
CORNERS = [(0.0, 0.0), (30.0, 0.0), (30.0, 40.0)]  # legs of 30 and 40, and of 50 back


def lift(path, at=None, *more):
    body = ec.Position(at or path.place), ec.Extents(20, 2), ec.Velocity(0, 0), path
    return esper.create_entity(*body, *more)


def start(**settings):
    return ec.install(**settings)


def place_of(entity):
    return of(entity, ec.Position).xyz


# -- the way --


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("back", [(10, 0), (30, 0), (30, 40), (30, 20), (30, 0), (0, 0), (10, 0)]),
        ("loop", [(10, 0), (30, 0), (30, 40), (18, 24), (6, 8), (20, 0), (30, 10)]),
        ("once", [(10, 0), (30, 0), (30, 40), (30, 40), (30, 40), (30, 40), (30, 40)]),
    ],
)
def test_path_leads_through_its_points_and_then_back_or_round_or_nowhere(mode, expected):
    path = Path(CORNERS, 10, mode)

    found = [path.at(t)[:2] for t in (1, 3, 7, 9, 11, 14, 15)]

    if mode == "loop":  # 3 + 4 + 5 seconds
        expected = [(10, 0), (30, 0), (30, 40), (18, 24), (6, 8), (20, 0), (30, 0)]
    assert found == [pytest.approx(point, abs=1e-12) for point in expected]


def test_pause_is_waited_for_at_each_point_that_it_comes_to():
    path = Path(CORNERS, 10, "loop", pause=2)

    xs = [round(path.at(t)[0], 9) for t in (0, 3, 5, 6, 9, 11, 16, 18, 19)]
    assert xs == [0, 30, 30, 30, 30, 30, 0, 0, 10]


def test_gentle_ease_takes_the_same_time_and_starts_and_stops_slowly():
    plain, gentle = Path(CORNERS, 10), Path(CORNERS, 10, ease="smooth")

    assert [gentle.at(t) for t in (0, 1.5, 3, 5, 7)] == [plain.at(t) for t in (0, 1.5, 3, 5, 7)]
    assert gentle.at(0.03)[0] == pytest.approx(30 * (3 * 0.01**2 - 2 * 0.01**3))


def test_circle_is_round_and_begins_on_its_first_axis():
    path = Path.circle((100, 50), 20, speed=math.tau * 20)
    rng = random.Random(1)

    for t in [0, 0.125, 0.25, 0.5, 0.75, *(rng.random() for _ in range(1000))]:
        x, y, _ = path.at(t)
        assert math.hypot(x - 100, y - 50) == pytest.approx(20, abs=1e-13)
        assert x == pytest.approx(100 + 20 * math.cos(math.tau * t), abs=1e-12)
        assert y == pytest.approx(50 + 20 * math.sin(math.tau * t), abs=1e-12)
    flat = Path.circle((0, 5, 0), 1, speed=math.tau, axes=(0, 2))
    assert flat.at(0.25) == (0.0, 5.0, 1.0)


@pytest.mark.parametrize("mode", ["back", "loop", "once"])
@pytest.mark.parametrize("round_", [False, True])
def test_path_that_is_reversed_goes_back_where_it_came_from(mode, round_):
    path = Path.circle((0, 0), 10, 10) if round_ else Path(CORNERS, 10, mode)
    there = [path.at(t) for t in (1, 2, 3.5)]
    path.advance(5)

    path.reverse()

    assert [path.at(5 - t) for t in (1, 2, 3.5)] == [pytest.approx(p, abs=1e-9) for p in there]
    path.reverse()
    assert path.place == pytest.approx(path.at(0), abs=1e-9)
    path.advance(0.5)
    assert path.place == pytest.approx(Path.from_bytes(path.to_bytes()).place, abs=0)


def test_steps_of_any_length_come_to_the_same_place():
    rng = random.Random(2)
    for mode in ("back", "loop", "once"):
        path = Path([(rng.uniform(0, 9), rng.uniform(0, 9)) for _ in range(6)], 7, mode, pause=0.3)
        whole = path.at(40)
        left = 40.0
        while left > 0:
            some = min(left, rng.choice([0.001, 0.1, 3.0, 11.0]))
            path.advance(some)
            left -= some
        assert path.place == pytest.approx(whole, abs=1e-9)


def test_many_rounds_in_one_step_are_no_work():
    path = Path([(0, 0), (1, 0), (1, 0)], 1e9)  # the last leg has no length

    assert path.at(1e6 + 0.25e-9)[0] == pytest.approx(0.25, abs=1)
    assert Path([(3, 4)], 5).at(9) == (3, 4, 0)
    assert Path([(3, 4), (3, 4)], 5, "loop").at(9) == (3, 4, 0)
    assert Path([(3, 4)], 5, "loop", pause=1).at(9) == (3, 4, 0)
    assert Path(CORNERS, 0).at(9) == (0, 0, 0)


# -- in a world --


@pytest.mark.parametrize("dim", [2, 3])
def test_body_is_where_its_path_says_after_every_step(world, dim):
    points = [(0, 0, 0), (31, 17, 5), (-8, 50, 1)] if dim == 3 else [(0, 0), (31, 17), (-8, 50)]
    path = Path(points, 37.3, "loop", ease="smooth", pause=0.07)
    body = lift(path)
    start(dim=dim)
    rng = random.Random(3)

    for _ in range(4_000):
        dt = rng.choice([DT, 0.004, 0.05])
        planned = path.at(dt)
        esper.process(dt)
        found = place_of(body)
        assert max(abs(a - b) for a, b in zip(found, planned, strict=True)) <= 2.0**-46
    assert path.place == planned


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_rounding_does_not_make_a_path_wait(world, far):
    path = Path([(far - 0.1, far), (far + 0.2, far + 0.1), (far, far)], 0.7, "loop")
    body = lift(path)
    start()

    steps(1999, DT)
    assert place_of(body) == pytest.approx(
        Path(path.points, 0.7, "loop").at(1999 * DT), abs=1e-9 + 1e-15 * far
    )


def test_body_beside_its_path_goes_there_at_its_speed_and_the_path_waits(world):
    path = Path(CORNERS, 60.0)
    body = lift(path, (3.0, 4.5))
    start()

    places = []
    for _ in range(8):
        esper.process(DT)
        places.append(place_of(body)[:2])

    assert places[0] == pytest.approx((3 * 4.4083 / 5.4083, 4.5 * 4.4083 / 5.4083), abs=1e-4)
    assert places[5] == (0, 0)
    assert places[7] == pytest.approx((2, 0))


def test_guard_that_is_held_up_goes_on_without_a_leap(world):
    path = Path([(0, 0), (100, 0)], 60.0)
    guard = mover((0, 0), (4, 4), (0, 0), ec.Slide(), path)
    door = box((20, 0), (2, 20))
    start()

    steps(60, DT)
    assert place_of(guard)[0] == 14  # at the door
    esper.delete_entity(door)
    before = 14.0
    for _ in range(60):
        esper.process(DT)
        now = place_of(guard)[0]
        assert 0 <= now - before <= 1 + 1e-9
        before = now
    assert before > 70


@pytest.mark.parametrize(
    "path",
    [
        lambda: Path([(0, 0), (0, 200)], 150),
        lambda: Path([(0, 200), (0, 0)], 150, ease="smooth"),
        lambda: Path([(0, 0), (300, 0)], 200, pause=0.2),
        lambda: Path([(0, 0), (200, 100), (100, 200)], 150, "loop"),
        lambda: Path.circle((0, 0), 80, 150),
    ],
    ids=["up", "down", "sideways", "triangle", "circle"],
)
@pytest.mark.parametrize("who", ["rider", "character"])
def test_rider_never_leaves_its_lift(world, path, who):
    path = path()
    x, y, _ = path.place
    body = lift(path, None, ec.Carry())
    more = (Character(),) if who == "character" else ()
    rider = mover((x, y + 10), (4, 8), (0, 0), ec.Slide(), *more)
    space = start(gravity=(0, -900))
    esper.process(DT)
    esper.process(DT)

    for _ in range(600):
        esper.process(DT)
        assert not any(rider in (event.first, event.second) for event in space.contacts_ended)
        assert space.bounds(rider)[0][1] - space.bounds(body)[1][1] == pytest.approx(0, abs=2e-13)
        assert place_of(rider)[0] == pytest.approx(place_of(body)[0], abs=1e-6)


def test_path_crosses_the_edge_of_a_world_that_wraps(world):
    path = Path([(90, 10), (130, 10)], 60)
    body = lift(path)
    start(wrap=(100, None))

    for _ in range(60):
        esper.process(DT)
        assert abs(of(body, ec.Velocity).x) == pytest.approx(60, abs=61)
        assert place_of(body)[0] == pytest.approx(path.place[0] % 100, abs=1e-9)


def test_path_stops_while_it_does_not_run_and_while_its_body_is_disabled(world):
    path = Path(CORNERS, 60)
    body = lift(path)
    start()
    esper.process(DT)

    path.running = False
    esper.process(DT)
    assert place_of(body) == pytest.approx((1, 0, 0))
    assert of(body, ec.Velocity).xy == (0, 0)
    path.running = True
    esper.add_component(body, ec.Disabled())
    esper.process(DT)
    esper.remove_component(body, ec.Disabled)
    esper.process(DT)
    assert place_of(body) == pytest.approx((2, 0, 0))
    path.speed = 120
    esper.process(DT)
    assert place_of(body) == pytest.approx((4, 0, 0))


def test_restored_path_goes_on_bit_for_bit(world):
    paths = [
        Path(CORNERS, 47, "back", ease="smooth", pause=0.1),
        Path.circle((50, 50), 9, 31),
        Path(CORNERS, 20, "once"),
    ]
    bodies = [lift(path) for path in paths]
    space = start()
    steps(100, DT)
    paths[0].reverse()
    paths[1].reverse()
    saved = space.snapshot()

    def run():
        places = []
        for _ in range(100):
            esper.process(DT)
            places.append([place_of(body) for body in bodies])
        return places

    once = run()
    paths[0].speed, paths[2].running = 3.0, False
    space.restore(saved)
    assert run() == once


def test_bytes_that_are_no_path_are_refused():
    data = Path(CORNERS, 10).to_bytes()

    for forged in (b"", data[:-1], data + b"x", b"\x09" + data[1:]):
        with pytest.raises(ValueError, match="are no Path"):
            Path.from_bytes(forged)


# -- errors, and what the doctor says --


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Path([], 1), "must have at least one point"),
        (lambda: Path([(1,)], 1), r"\(1,\) must be 2 or 3 finite numbers"),
        (lambda: Path([(1, math.nan)], 1), "must be 2 or 3 finite numbers"),
        (lambda: Path(CORNERS, -1), "speed is -1; it must be a finite number, 0 or more"),
        (lambda: Path(CORNERS, None), "speed is None"),
        (lambda: Path("ab", 1), "'a' must be 2 or 3 finite numbers"),
        (lambda: Path([0, 1], 1), "0 must be 2 or 3 finite numbers"),
        (lambda: Path.circle((0, 0), "5", 1), "radius='5'"),
        (lambda: Path(CORNERS, 1).at(-1), "seconds=-1 must be a finite number, 0 or more"),
        (lambda: Path(CORNERS, 1).advance(math.inf), "seconds=inf"),
        (lambda: Path(CORNERS, "9"), "speed is '9'"),
        (lambda: Path(CORNERS, 1, pause=math.inf), "pause is inf"),
        (lambda: Path(CORNERS, 1, "forth"), "mode='forth'.* one of back, loop, once"),
        (lambda: Path(CORNERS, 1, ease="in"), "ease='in'.* one of linear, smooth"),
        (lambda: Path.circle((0, 0), -1, 1), "radius=-1"),
        (lambda: Path.circle((0, 0), 1, 1, axes=(0, 0)), "must be two different ones"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(("last", "heading"), [(99, 1), (-1, 1), (0, 5), (0, 0)])
def test_a_place_that_no_path_has_is_refused_and_not_looked_up(last, heading):
    path = Path(CORNERS, 1, "loop")
    path.last, path.heading = last, heading

    with pytest.raises(ValueError, match=f"has last={last} and heading={heading}"):
        path.at(1)


def test_doctor_finds_a_path_that_nothing_moves(world):
    box((0, 0), (1, 1), Path(CORNERS, 1))
    space = ec.install()
    esper.process(DT)

    found = {finding.cause for finding in space.doctor()}

    assert found == {"no_path"}


@pytest.mark.usefixtures("world")
def test_walker_on_a_ship_of_several_boxes_neither_stops_at_its_seams_nor_leaves_it():
    space = start(gravity=(0, -900))
    ec.name_categories("ship")
    corners = [(0.3, 0.1), (211.7, 93.3), (-120.9, 170.7)]
    for column in range(12):
        path = Path([(x + 32 * column, y) for x, y in corners], 140, "loop")
        body = ec.Position(path.place), ec.Extents(16, 16), ec.Velocity(0, 0), path
        esper.create_entity(*body, ec.Carry(), ec.Filter("ship", mask="~ship"))
    hero = Character(walk_speed=120, acceleration=math.inf, deceleration=math.inf, step_height=0)
    walker = mover((0.3, 32.1), (8, 16), (0, 0), ec.Slide(), hero)
    esper.process(DT)
    first = space.entities[0]

    hero.walk = 1
    for _ in range(150):
        before = place_of(walker)[0] - place_of(first)[0]
        esper.process(DT)
        assert place_of(walker)[0] - place_of(first)[0] - before == pytest.approx(2.0, abs=1e-9)
        assert hero.on_ground
        assert all(walker in (event.first, event.second) for event in space.contacts_began)
