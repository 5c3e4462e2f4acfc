"""Three scenes of platform games, played with the public names only: a ship, a train, a flood."""

from __future__ import annotations

import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState, Ladder
from ecs_collide.path import Path
from ecs_collide.zone import Zone
from tests.scenes import box, steps

DT = 1 / 60
CLOSE = pytest.approx


class Stage:
    """A world with gravity, characters, paths and zones."""

    def __init__(self) -> None:
        self.space = ec.install(gravity=(0, -900))

    def box(self, x: float, y: float, half_x: float, half_y: float, *more: object) -> int:
        return box((x, y), (half_x, half_y), *more)

    def hero(
        self, x: float, feet: float, *more: object, **settings: object
    ) -> tuple[int, Character]:
        hero = Character(**settings)
        body = ec.Velocity(0, 0), ec.Slide(), hero
        return self.box(x, feet + 16, 8, 16, *body, *more), hero

    def beside(self, one: int, other: int) -> tuple[float, float]:
        """Return where a body is, seen from another one."""
        (x, y), (z, w) = self.space.position_of(one), self.space.position_of(other)
        return x - z, y - w


def run(hero: Character, n: int, **wishes: object) -> None:
    for name, value in wishes.items():
        setattr(hero, name, value)
    steps(n, DT)


@pytest.mark.usefixtures("world")
def test_sailor_climbs_the_mast_of_a_ship_in_a_storm_and_comes_back_from_the_sea():
    stage = Stage()
    here, above = (Path.circle(centre, 12, speed=40) for centre in ((0, 0), (70, 170)))
    ship = stage.box(*here.place[:2], 150, 20, ec.Velocity(0, 0), ec.Carry(), here)
    stage.box(0, 0, 6, 80, ec.Sensor(), ec.Attached(ship, (40, 100)), Ladder())  # the mast
    nest = stage.box(*above.place[:2], 20, 4, ec.Velocity(0, 0), ec.OneWay(), ec.Carry(), above)
    stage.box(0, -300, 900, 290, ec.Sensor(), Zone(buoyancy=1.4, drag=4, walk=0.6))
    stage.box(0, 400, 900, 300, ec.Sensor(), Zone(flow_x=-60, drag=1))  # the wind, above 100
    sailor, hero = stage.hero(12, 20, climb_speed=100, swim_speed=160, walk_speed=160)

    run(hero, 150)
    assert stage.beside(sailor, ship) == CLOSE((0, 36), abs=1e-6)  # it does not slide on deck
    while stage.beside(sailor, ship)[0] < 40:
        run(hero, 1, walk=1.0)
    run(hero, 10, walk=0.0)
    x, _ = stage.beside(sailor, ship)
    run(hero, 60, climb=1.0)
    # The mast sways, the wind blows, and it climbs as on land.
    assert stage.beside(sailor, ship) == CLOSE((x, 136), abs=1e-6)
    run(hero, 60, climb=0.0)
    assert stage.beside(sailor, ship) == CLOSE((x, 136), abs=1e-6)

    while stage.beside(sailor, ship)[1] < 176 + 16:
        run(hero, 1, climb=1.0)
    while not hero.on_ground:
        run(hero, 1, walk=1.0 if stage.beside(sailor, nest)[0] < 0 else 0.0)
    run(hero, 20, climb=0.0, walk=60 / 160)  # against the wind
    assert hero.ground == nest
    place = stage.beside(sailor, nest)
    run(hero, 200)
    assert stage.beside(sailor, nest) == CLOSE(place, abs=1e-6)

    run(hero, 110, walk=1.0, jump=True)
    run(hero, 60, walk=0.0, jump=False)
    assert hero.state is CharacterState.SWIMMING
    for n in range(300):
        x, y = stage.beside(sailor, ship)
        run(hero, 1, walk=-1.0, jump=x < 158.5 and y < 20 and n % 8 < 4)
        if hero.ground == ship:
            break
    assert hero.ground == ship


@pytest.mark.usefixtures("world")
def test_robber_dashes_over_a_train_hangs_on_a_car_and_ducks_below_beams():
    class Guard: ...

    stage = Stage()
    stage.box(0, -220, 20_000, 20)
    cars = [
        stage.box(260 * n, -30, 110, 30, ec.Velocity(300, 0), ec.Carry()) for n in range(4)
    ]  # 40 apart, roofs at 0
    beams = [6000 + 900 * n for n in range(4)]
    for x in beams:
        stage.box(x, 22 + 30, 8, 30)
    guard, _ = stage.hero(260, 0, ec.Filter("enemy"), Guard())
    robber, hero = stage.hero(
        0, 0, walk_speed=200, crouch_height=18, ledge_reach=8, dash_speed=700, dash_time=0.25,
        dash_through="enemy",
    )  # fmt: skip
    hits = []

    def hit(contact: ec.ContactBegan) -> None:
        hits.append(stage.space.time)
        hero.knock_back((250 * contact.normal_for(robber)[0], 200), 0.3)

    stage.space.on_contact_began(hit, Guard, Character)
    run(hero, 30)
    assert stage.beside(robber, cars[0]) == CLOSE((0, 46), abs=1e-6)
    while stage.beside(robber, cars[0])[0] < 95:
        run(hero, 1, walk=1.0)
    run(hero, 20, jump=True)
    while not hits:
        run(hero, 1, jump=False)
    assert stage.beside(robber, cars[1])[0] < -10
    run(hero, 60, walk=0.0)
    assert len(hits) == 1  # it was thrown back
    assert hero.ground == cars[1]
    behind = stage.beside(robber, guard)[0]
    assert behind < -30

    run(hero, 1, walk=1.0, dash=True)
    while hero.state is CharacterState.DASHING:
        run(hero, 1, dash=False)
    assert len(hits) == 1
    assert stage.beside(robber, guard)[0] > 60  # through the guard
    for _ in range(60):
        run(hero, 1)
        if hero.state is CharacterState.HANGING:
            break
    run(hero, 30, walk=0.0)
    # At 300 units a second, its head is at the edge of the roof.
    assert stage.beside(robber, cars[2]) == CLOSE((-118, 30 - 16), abs=1e-6)
    run(hero, 40, climb=1.0)
    run(hero, 30, climb=0.0, walk=0.4)
    assert hero.ground == cars[2]

    run(hero, 1, walk=0.0, crouch=True)
    place = stage.beside(robber, cars[2])
    while stage.space.position_of(robber)[0] < beams[0] + 100:
        run(hero, 1)
    assert stage.beside(robber, cars[2]) == CLOSE(place, abs=1e-6)
    hero.crouch = False
    while stage.space.position_of(robber)[0] < beams[1] - 20:
        run(hero, 1)
        assert stage.beside(robber, cars[2])[0] == CLOSE(place[0], abs=1e-6)
    # The beam holds it up while the car goes on below it, and then it falls straight down.
    while hero.on_ground:
        run(hero, 1)
    run(hero, 3)
    assert stage.space.position_of(robber)[0] == beams[1] - 16
    assert not hits[1:]


@pytest.mark.usefixtures("world")
def test_two_friends_in_a_tower_climb_on_each_other_and_swim_when_it_is_flooded():
    stage = Stage()
    for x in (-110, 110):
        stage.box(x, 300, 10, 320)
    stage.box(0, -10, 100, 10)
    shelf = stage.box(75, 150, 25, 8)
    plank = stage.box(-60, 96, 40, 4, ec.OneWay())
    rise = ec.Velocity(0, 0)
    water = Zone(buoyancy=1.6, drag=5, walk=0.5)
    flood = stage.box(0, -200, 100, 200, ec.Sensor(), rise, water)
    crate = stage.box(0, 16, 16, 16, ec.Velocity(0, 0), ec.Slide(), ec.Mass(3))
    settings = {"walk_speed": 150, "jump_height": 70, "crouch_height": 16, "swim_speed": 150}
    ann, lower = stage.hero(-40, 0, ec.Carry(), **settings)
    bob, upper = stage.hero(-80, 0, ec.Carry(), **settings, ledge_reach=8)
    run(upper, 10)

    run(upper, 1, jump=True)
    for _ in range(60):
        run(upper, 1, walk=1.0 if stage.beside(bob, ann)[0] < -2 else 0.0)
    run(upper, 20, jump=False)
    assert upper.ground == ann
    run(lower, 40, walk=-1.0)
    run(lower, 20, walk=0.0, crouch=True)
    # Its friend comes down with it, and keeps it from standing up.
    assert lower.state is CharacterState.CROUCHING
    assert stage.beside(bob, ann)[1] == CLOSE(8 + 16, abs=1e-6)
    run(lower, 10, crouch=False)
    assert lower.state is CharacterState.CROUCHING
    run(upper, 20, jump=True)
    run(upper, 60, jump=False)
    assert lower.state is CharacterState.STANDING
    run(upper, 40, jump=True)
    run(upper, 20, jump=False)
    assert upper.ground == plank

    rise.y = 40.0
    run(upper, 200)
    rise.y = 0.0
    run(upper, 500)  # her friend weighs on her, so she rises slowly
    level = stage.space.bounds(flood)[1][1]
    assert lower.state is CharacterState.SWIMMING
    heights = [stage.space.position_of(each)[1] for each in (ann, crate)]
    assert heights == CLOSE([level + 16 - 32 / 1.6] * 2, abs=0.1)
    for n in range(300):
        run(upper, 1, walk=1.0, jump=n % 20 < 3)
        if upper.ground == shelf:
            break
    assert upper.ground == shelf
    assert not stage.space.doctor()
