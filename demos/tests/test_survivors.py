"""The horde, the pools and the weapons of the survivors."""

from __future__ import annotations

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos.survivors import game as survivors
from demos.survivors.things import HALF, HERO, HORDE, Chaser, Spark
from demos.tests.conftest import STEPS


def build(n: int = 40, hell: bool = False) -> survivors.Survivors:
    scene = survivors.build(seed=1, n=n, hell=hell)
    scene.keys.bot = True
    return scene


def alone(place: tuple[float, float]) -> survivors.Survivors:
    """Make a game with one chaser, at a place, which is shot at from the next step on."""
    scene = survivors.build(seed=1, n=1)
    scene.space.set_positions(scene.horde, [place])
    esper.process(0.0)
    return scene


def test_chasers_come_to_the_hero_and_stay_outside_of_it(world: str) -> None:
    scene = survivors.build(seed=1, n=30)
    scene.shoot = lambda: None  # type: ignore[method-assign]
    before = scene.away(scene.horde).mean()

    for _ in range(STEPS):
        scene.step()

    assert scene.away(scene.horde).mean() < before / 3 or not ec.COMPILED
    assert scene.n_inside == 0
    assert scene.hearts_lost >= 1 or not ec.COMPILED


def test_bullet_knocks_its_victim_back(world: str) -> None:
    scene = alone((200.0, 0.0))

    places = []
    for _ in range(30):
        scene.step()
        places.append(scene.space.positions(scene.horde)[0, 0])
        if scene.life[0] < survivors.TOUGH:
            break
    hit = len(places)
    scene.shoot = lambda: None  # type: ignore[method-assign]
    for _ in range(4):
        scene.step()

    assert hit < 20
    assert np.diff(places[1:-1]).max() < 0  # it came nearer
    assert scene.space.positions(scene.horde)[0, 0] > places[-1]


def test_dead_chaser_drops_a_gem_and_comes_back_from_afar(world: str) -> None:
    scene = alone((200.0, 0.0))

    while not scene.kills:
        scene.step()
    scene.step()

    assert scene.gems.n_used == 1
    assert scene.away(scene.horde)[0] == pytest.approx(survivors.FAR, rel=0.01)
    assert scene.life[0] == survivors.TOUGH


def test_gem_in_the_circle_is_pulled_and_one_outside_stays(world: str) -> None:
    scene = alone((5000.0, 0.0))
    scene.gems.take((120.0, 0.0))
    scene.gems.take((survivors.MAGNET + 40.0, 0.0))
    esper.process(0.0)

    for _ in range(40):
        scene.step()

    assert scene.collected == 1
    assert scene.positions(scene.gems).tolist() == [[survivors.MAGNET + 40.0, 0.0]]


def test_explosion_hurts_only_chasers_in_its_circle(world: str) -> None:
    scene = survivors.build(seed=1, n=2)
    scene.space.set_positions(scene.horde, [(100.0, 0.0), (survivors.NOVA + 50.0, 0.0)])
    esper.process(0.0)

    scene.explode()

    assert scene.life.tolist() == [survivors.TOUGH - 1, survivors.TOUGH]
    assert scene.knock[0, 0] > 0
    assert not scene.knock[1].any()
    assert scene.effects.rate < 1


def test_pool_gives_out_each_bullet_once_and_no_more_than_it_has(world: str) -> None:
    scene = build(n=3)
    shots = scene.shots

    for _ in range(len(shots.ids) + 5):
        shots.take((9000.0, 0.0))

    assert shots.n_used == len(shots.ids)
    assert shots.idle == []
    shots.put_back(int(shots.ids[0]))
    shots.put_back(int(shots.ids[0]))
    assert shots.idle == [shots.ids[0]]


def test_eye_fills_the_air_and_its_bullets_hurt_the_hero_alone(world: str) -> None:
    scene = build(n=30, hell=True)

    for _ in range(120):
        scene.step()

    assert len(scene.sparks.used()) > 100
    chaser, spark = scene.horde[0], scene.sparks.used()[0]
    assert not scene.space.may_meet(chaser, spark)
    assert scene.space.may_meet(scene.hero, spark)
    assert scene.hearts_lost >= 1


def test_chaser_inside_the_hero_breaks_the_claim(world: str) -> None:
    scene = build(n=1)
    scene.space.set_positions(scene.horde, [(HALF[HERO] + HALF[HORDE] - 5.0, 0.0)])
    scene.steer = scene.shoot = lambda: None  # type: ignore[method-assign]
    esper.remove_component(scene.horde[0], ec.Slide)

    scene.step()

    assert [holds for _, holds in scene.claims()] == [False, True]
    assert esper.has_component(int(scene.horde[0]), Chaser)
    assert esper.get_component(Spark) == []


def test_game_without_chasers_is_refused(world: str) -> None:
    with pytest.raises(ValueError, match="n=0 must be at least 1"):
        survivors.build(n=0)
