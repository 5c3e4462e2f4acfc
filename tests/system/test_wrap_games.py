"""Worlds that wrap: moved by the game, resolved by it, saved, explained; Asteroids."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, another_world, box, mover, position, velocity
from tests.system.test_wrap import H, W, gaps_around, wrapped_space

pytestmark = pytest.mark.usefixtures("world", "implementation")


# -- moved by the game --


def test_a_position_that_is_set_across_the_edge_is_swept_the_short_way():
    place = ec.Position(310.0, 10.0)
    body = esper.create_entity(place, ec.Extents(2, 2), ec.Slide())
    gate = box((160, 10), (1, 10))
    space = wrapped_space(motion="swept")
    esper.process(1.0)

    place.x = 10.1
    esper.process(1.0)
    assert place.x == 10.1  # nothing is in the way, and it arrives exactly
    assert not space.collisions
    wall = box((0, 10), (1, 10))
    esper.process(1.0)
    place.x = 310.0
    esper.process(1.0)

    assert place.x == 3.0
    assert [hit.other(body) for hit in space.collisions] == [wall]
    assert gate not in {hit.first for hit in space.collisions}


def test_swept_bodies_arrive_exactly_around_and_around():
    place = ec.Position(0.1, 0.2)
    esper.create_entity(place, ec.Extents(1, 1), ec.Slide())
    wrapped_space(motion="swept")
    esper.process(1.0)

    for i in range(300):
        wanted = ((0.1 + 17.3 * i) % W, (0.2 - 11.7 * i) % H)
        place.xy = wanted
        esper.process(1.0)
        assert place.xy == wanted


def test_a_teleport_across_the_edge_is_no_sweep():
    body = box((310, 10), (2, 2), ec.Slide())
    box((0, 10), (1, 10))
    space = wrapped_space(motion="swept")
    esper.process(1.0)

    space.teleport(body, (10 + W, 10))
    esper.process(1.0)

    assert position(body) == (10, 10)
    assert not space.collisions


# -- custom responses --


class Bouncy:
    """Answered by the game."""


def test_a_response_sees_both_bodies_in_the_world_and_may_move_them_anywhere():
    ship = mover((310, 10), (4, 4), (32, 0), Bouncy())
    rock = box((4, 10), (4, 4))
    far = box((200, 200), (4, 4), ec.Sensor())
    space = wrapped_space()
    seen = []

    def respond(impact):
        seen.append((impact.position(ship), impact.position(rock), impact.time))
        seen.append(position(ship))
        esper.component_for_entity(ship, ec.Position).xy = (W * 1000 + 180, 200)

    space.respond_with(Bouncy, respond)
    esper.process(1.0)

    assert seen[:2] == [((316, 10), (4, 10), 0.1875), (316, 10)]
    assert [hit.other(ship) for hit in space.collisions] == [rock, far]
    assert position(ship) == (180 + 32 * (1 - 0.1875), 200)


def test_a_response_may_send_a_body_around_many_times():
    ship = mover((310, 10), (4, 4), (32, 0), Bouncy())
    rock = box((4, 10), (4, 4))
    zone = box((100, 10), (4, 4), ec.Sensor())
    space = wrapped_space()

    def respond(impact):
        sign = impact.normal_for(ship)[0]
        impact.set_velocity(ship, (sign * 6 * W, 0))

    space.respond_with(Bouncy, respond)
    esper.process(1.0)

    way = 6 * W * (1 - 0.1875)
    assert [hit.other(ship) for hit in space.collisions].count(rock) == 1 + way // (W - 16)
    assert [hit.other(ship) for hit in space.collisions].count(zone) == way // (W - 16)
    assert abs(velocity(ship)[0]) == 6 * W


def test_what_turns_later_finds_what_has_left_the_world_within_the_step():
    runner = mover((310, 10), (4, 4), (32, 0), Bouncy())
    rock = box((4, 10), (4, 4))
    target = mover((236, 100), (4, 4), (0, 0), ec.Deflect())
    mover((236, 160), (4, 4), (0, -200), ec.Deflect())
    space = wrapped_space()

    def respond(impact):
        impact.set_velocity(runner, (-700, 0))  # past 0, and on to 320 - 84
        esper.delete_entity(rock)

    space.respond_with(Bouncy, respond)
    esper.process(1.0)

    hits = [hit for hit in space.collisions if {hit.first, hit.second} == {runner, target}]
    assert [hit.normal for hit in hits][:1] == [(1.0, 0.0)]
    assert hits[0].time == pytest.approx(0.1875 + (316 - 8 - 236 + 320) / 700)


# -- snapshots, explanations --


def asteroids(n=14, seed=5):
    """A ship, rocks that bounce, bullets that are sensors, a wall across a corner."""
    rng = random.Random(seed)
    for _ in range(n):
        mover(
            (rng.uniform(0, W), rng.uniform(0, H)), (rng.uniform(3, 12), rng.uniform(3, 12)),
            (rng.uniform(-90, 90), rng.uniform(-90, 90)), ec.Deflect(), ec.Mass(rng.uniform(1, 5)),
        )  # fmt: skip
    for _ in range(5):
        mover(
            (rng.uniform(0, W), rng.uniform(0, H)),
            (1, 1),
            (rng.uniform(-2e4, 2e4), 3e3),
            ec.Sensor(),
        )
    box((0, 0), (6, 6))
    return mover((W / 2, H / 2), (5, 5), (60, 40), ec.Slide())


def log_of(space, n):
    told = []
    for _ in range(n):
        esper.process(1 / 60)
        told.append(
            (
                space.collision_array.tobytes(),
                space.contact_array.tobytes(),
                space.positions().tobytes(),
                space.velocities().tobytes(),
            )
        )
    return told


def test_asteroids(volume):
    """Nothing gets into anything, wherever it is; nothing leaves the world."""
    asteroids()
    space = wrapped_space()
    esper.process(0.0)
    solid = [e for e in space.entities if not esper.has_component(e, ec.Sensor)]
    deep = {
        (a, b)
        for i, a in enumerate(solid)
        for b in solid[i + 1 :]
        if max(gaps_around(space.bounds(a), space.bounds(b), (W, H))) < 0
    }
    n_hits, n = 0, volume(120, 400, least=40)
    for _ in range(n):
        esper.process(1 / 60)
        n_hits += len(space.collisions)
        places = space.positions()
        assert (places >= 0).all()
        assert (places < (W, H)).all()
        for i, a in enumerate(solid):
            for b in solid[i + 1 :]:
                inside = max(gaps_around(space.bounds(a), space.bounds(b), (W, H)))
                if inside >= 0:
                    deep.discard((a, b))
                assert inside > -4 * SLOP * W or (a, b) in deep
    space.check()
    assert n_hits > n


def test_a_snapshot_holds_who_touches_whom_across_which_edge(volume):
    asteroids()
    box((W / 2, 100), (W / 2, 4))
    hero = mover((1, 108), (4, 4), (0, -9), ec.Slide())
    space = wrapped_space()
    log_of(space, 20)
    assert len(space.contacts(hero)) == 2

    saved = space.snapshot()
    assert space.snapshot() == saved
    n = volume(30, 60)
    then = log_of(space, n)
    space.restore(saved)

    assert space.snapshot() == saved
    assert len(space.contacts(hero)) == 2
    space.check()
    assert log_of(space, n) == then
    with another_world(f"{esper.current_world}, restored"):
        fresh = wrapped_space()
        fresh.restore(saved)
        assert fresh.snapshot() == saved
        assert log_of(fresh, n) == then


def test_a_snapshot_of_another_wrap_is_refused(elsewhere):
    mover((1, 1), (1, 1), (1, 0))
    space = wrapped_space(W, None)
    esper.process(1.0)
    saved = space.snapshot()
    other = elsewhere()

    with pytest.raises(ValueError, match=r"wrap=\(320.0, None\) and this one has wrap=None"):
        other.restore(saved)

    plain = other.snapshot()
    esper.switch_world(esper.current_world.removesuffix(", elsewhere"))
    with pytest.raises(ValueError, match=r"wrap=None and this one has wrap=\(320.0, None\)"):
        space.restore(plain)


def test_explain_knows_of_the_edge():
    one = mover((310, 10), (4, 4), (10, 0), ec.Deflect())
    two = mover((4, 10), (4, 4), (0, 0), ec.Deflect())
    three = box((160, 10), (4, 4))
    space = wrapped_space()
    esper.process(0.0)

    told = str(space.explain(one, two))
    assert "nearest across the edge of the world on x" in told
    assert "gap 6 on x, closing by 10 a second" in told
    assert "left alone they meet in 0.6 seconds" in told
    assert "across" not in str(space.explain(two, three))


def test_the_doctor_sees_who_is_inside_across_the_edge():
    one = mover((318, 10), (4, 4), (0, 0), ec.Deflect())
    two = mover((3, 10), (4, 4), (0, 0), ec.Deflect())
    space = wrapped_space()
    esper.process(1.0)

    (found,) = space.doctor()
    assert (found.cause, found.entities) == ("inside", (one, two))
    assert "3 deep on x" in found.message
