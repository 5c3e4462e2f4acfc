"""States in memory: going back by one is as by a snapshot, whatever has changed since."""

from __future__ import annotations

import copy
import gc
import math
import random
from dataclasses import dataclass

import esper
import pytest

import ecs_collide as ec
from ecs_collide.motion.body_table import BodyTable
from tests.random_worlds import Draw, write
from tests.scenes import another_world, box, mover, position, velocity

DT = 1 / 20
pytestmark = [
    pytest.mark.usefixtures("world", "implementation"),
    pytest.mark.filterwarnings("ignore:.*:RuntimeWarning"),
]


@dataclass
class Ammo:
    """A custom component, of numbers."""

    shots: int
    heat: float = 0.0


@dataclass(frozen=True)
class Rank:
    """A custom component that is replaced, not set."""

    level: int


class Lamp:
    """A custom component that is saved by functions."""

    def __init__(self, watts):
        self.watts = watts


@pytest.fixture
def n_quick(monkeypatch):
    """Return the restores that have set nothing but numbers, one item each."""
    gc.collect()  # a component of another test that rounds would rule out quick restores
    found = []
    put_back = BodyTable.put_back

    def counted(table, saved):
        found.append(saved)
        return put_back(table, saved)

    monkeypatch.setattr(BodyTable, "put_back", counted)
    return found


def write_some(draw, rng):
    """Give other numbers to components of a few bodies."""
    draw.reseed(rng)
    for entity in rng.sample([e for e in draw.bodies if esper.entity_exists(e)], 4):
        for part in sorted(esper.components_for_entity(entity), key=lambda c: type(c).__name__):
            if isinstance(part, Ammo):
                part.shots += 1
                part.heat -= 0.5
            elif type(part) in draw.kinds and rng.random() < 0.5:
                other = draw.component(type(part))
                if other is not None and not isinstance(part, ec.Attached):
                    write(entity, other)


def play(draw, step, structural):
    """Take a step, and do before it what follows from its number alone."""
    rng = random.Random(step)
    write_some(draw, rng)
    if structural:
        alive = [entity for entity in draw.bodies if esper.entity_exists(entity)]
        esper.delete_entity(rng.choice(alive[1:]), immediate=rng.random() < 0.5)
        esper.create_entity(ec.Position(*[9.0] * draw.dim), ec.Extents(*[0.5] * draw.dim))
        esper.add_component(alive[0], ec.Mass(rng.choice([0.5, 3.0])))
    esper.process(DT)


@pytest.mark.parametrize("structural", [False, True])
@pytest.mark.parametrize(("dim", "settings"), [
    (2, {}), (3, {}), (2, {"wrap": (20.0, None)}), (2, {"gravity": (0, -10)}),
    (2, {"motion": "swept"}),
])  # fmt: skip
def test_going_back_by_a_state_is_as_by_a_snapshot(
    dim, settings, structural, volume, world, n_quick
):
    for seed in range(volume(3, 8, 40)):
        with another_world(f"{world} {seed}"):
            # The game of this test writes numbers in place, which `Fixed` rules out.
            without = {ec.Fixed: "written"}
            draw = Draw(random.Random(seed), dim, mixture=0.7, without=without)
            for n in range(14):
                draw.body(moves=n % 4 > 0)
            esper.add_component(draw.bodies[0], Ammo(seed))
            space = ec.install(dim=dim, **settings)
            for _ in range(2):
                esper.process(DT)
            if seed % 2:
                write_some(draw, random.Random(seed))
            data, state = space.snapshot(), space.save_state()
            assert bytes(state) == data

            expected, found = [], queried(space)
            for n in range(4):
                play(draw, n, structural)
                expected.append(space.snapshot())
            for _ in range(2):
                space.restore(state)
                space.check()
                assert space.snapshot() == data
                assert queried(space) == found
                for n in range(4):
                    play(draw, n, structural)
                    assert space.snapshot() == expected[n]
            assert bytes(state) == data

    assert bool(n_quick) != structural


def queried(space):
    """Return the bodies around each body, as queries find them."""
    return [space.query(*space.bounds(entity)) for entity in space.entities]


def test_sleepers_contacts_and_riders_come_back(n_quick):
    box((0, -1), (10, 1))
    lift = mover((0, 0.5), (2, 0.5), (0, 0), ec.Carry(), ec.Push())
    rider = mover((0, 1.5), (0.5, 0.5), (0, 0), ec.Slide())
    asleep = mover((6, 0.5), (0.5, 0.5), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -10))
    for _ in range(40):
        esper.component_for_entity(lift, ec.Velocity).x = 1.0
        esper.process(DT)
    state, data = space.save_state(), space.snapshot()
    n_asleep, contacts = space.stats.asleep, space.contacts()

    for entity in (lift, rider, asleep):
        esper.component_for_entity(entity, ec.Velocity).y = 9.0
    esper.process(DT)
    assert space.contacts() != contacts
    space.restore(state)

    assert (space.stats.asleep, space.contacts()) == (n_asleep, contacts)
    assert n_asleep > 0
    assert space.snapshot() == data
    assert len(n_quick) == 1


def test_what_a_state_holds_does_not_change_with_the_space(n_quick):
    first = [mover((x, 0), (1, 1), (-x, 0), ec.Slide()) for x in (-2, 2)]
    for x in (6, 11, 15):  # they meet in the second, the third and the fourth step
        mover((-x, x), (1, 1), (4, 0), ec.Deflect())
        mover((x, x), (1, 1), (-4, 0), ec.Deflect())
    space = ec.install()
    esper.process(1.0)
    state = space.save_state()

    for _ in range(4):
        esper.process(1.0)
    later = {(hit.first, hit.second) for hit in space.collisions}
    space.rest_speed, space.gravity = 3.0, (0, -1)
    data = bytes(state)
    space.restore(state)

    assert space.snapshot() == data
    assert [(hit.first, hit.second) for hit in space.collisions] == [tuple(first)]
    assert later.isdisjoint([tuple(first)])
    assert [(began.first, began.second) for began in space.contacts_began] == [tuple(first)]
    assert (space.rest_speed, space.gravity, space.stats.step) == (0.0, (0, 0), 1)
    assert len(n_quick) == 1


def test_a_state_of_another_space_is_refused_and_nothing_changes(elsewhere):
    mover((0, 0), (1, 1), (3, 0))
    state = ec.install().save_state()
    other = elsewhere()
    entity = mover((5, 0), (1, 1), (1, 0))
    before = other.snapshot()

    with pytest.raises(ValueError, match=r"the state of another space: .*bytes"):
        other.restore(state)

    assert other.snapshot() == before
    other.restore(bytes(state))
    assert position(entity) == (0, 0)


def test_a_state_is_neither_saved_nor_restored_in_the_middle_of_a_step():
    mover((0, 0), (1, 1), (3, 0), ec.Slide())
    mover((4, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    state, errors = space.save_state(), []

    class Saving(ec.ResponseSystem):
        def respond(self, impact):
            for call in (space.save_state, lambda: space.restore(state)):
                with pytest.raises(RuntimeError) as caught:
                    call()
                errors.append(str(caught.value))
            return ec.DEFAULT

    esper.add_processor(Saving(space), priority=118)
    esper.process(1.0)

    assert [error.split("(")[0] for error in errors] == ["save_state", "restore"]


def test_custom_components_come_back_with_the_numbers(n_quick):
    entity = mover((0, 0), (1, 1), (3, 0), Ammo(6, 0.5), Rank(1), Lamp(60))
    space = ec.install()
    space.snapshot_with(
        Lamp,
        save=lambda lamp: bytes([lamp.watts]),
        load=lambda data: Lamp(*data),
        update=lambda lamp, data: setattr(lamp, "watts", data[0]),
    )
    esper.process(1.0)
    state = space.save_state()
    ammo, lamp = (esper.component_for_entity(entity, kind) for kind in (Ammo, Lamp))
    for _ in range(2):
        ammo.shots, ammo.heat, lamp.watts = 2, 9, 5
        esper.process(1.0)

        space.restore(state)

        assert (ammo, lamp.watts) == (Ammo(6, 0.5), 60)
        assert type(ammo.heat) is float
    assert esper.component_for_entity(entity, Ammo) is ammo
    assert len(n_quick) == 2

    esper.add_component(entity, Rank(2))
    space.restore(state)
    assert esper.component_for_entity(entity, Rank) == Rank(1)


@pytest.mark.parametrize("structural", [False, True])
def test_a_restore_in_which_a_function_of_the_game_fails_changes_nothing(structural):
    entity = mover((0, 0), (1, 1), (3, 0), Lamp(1), Ammo(3))
    second = mover((0, 9), (1, 1), (3, 0), Lamp(2))
    space = ec.install()

    def update(lamp, data):
        if data[0] == 2 and broken:
            raise OSError("no light")
        lamp.watts = data[0]

    space.snapshot_with(
        Lamp, save=lambda lamp: bytes([lamp.watts]), load=lambda data: Lamp(*data), update=update
    )
    broken = [True]
    esper.process(1.0)
    state, good = space.save_state(), space.snapshot()
    for each in (entity, second):
        esper.component_for_entity(each, Lamp).watts += 10
    esper.component_for_entity(entity, Ammo).shots = 0
    esper.component_for_entity(entity, ec.Velocity).x = 7
    if structural:
        mover((20, 0), (1, 1), (3, 0))
    esper.process(1.0)
    before = space.snapshot()

    with pytest.raises(OSError, match="no light"):
        space.restore(state)

    assert space.snapshot() == before
    space.check()
    broken.clear()
    space.restore(state)
    assert space.snapshot() == good
    assert velocity(entity) == (3, 0)


class Gauge(ec.Mass):
    """A mass whose setter is code of the game."""

    is_stuck = False

    def __setattr__(self, name, number):
        if self.is_stuck and number == 2.0:
            raise OSError("stuck")
        super().__setattr__(name, number)


def test_a_restore_in_which_a_component_refuses_its_number_changes_nothing(n_quick):
    balls = [mover((0, y), (1, 1), (3, 0)) for y in (0, 9)]
    gauge, mass = Gauge(2.0), ec.Mass(4.0)
    for entity, each in zip(balls, (mass, gauge), strict=True):
        esper.add_component(entity, each, type_alias=ec.Mass)
    space = ec.install()
    esper.process(1.0)
    state, good = space.save_state(), space.snapshot()
    gauge.value, mass.value = 8.0, 16.0
    esper.process(1.0)
    before = space.snapshot()
    gauge.is_stuck = True

    with pytest.raises(OSError, match="stuck"):
        space.restore(state)

    assert space.snapshot() == before
    space.check()
    gauge.is_stuck = False
    space.restore(state)
    assert space.snapshot() == good
    assert len(n_quick) == 1


def test_a_state_tells_its_step_and_is_not_copied():
    mover((0, 0), (1, 1), (3, 0))
    space = ec.install()
    esper.process(1.0)

    state = space.save_state()

    assert repr(state) == "<SavedState after step 1, 1 bodies>"
    with pytest.raises(TypeError, match=r"bytes\(state\)"):
        copy.copy(state)


def test_a_rarer_component_that_was_changed_before_the_state_is_noticed_again():
    box((0, -1), (10, 1))
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide(), ec.Filter(1))
    space = ec.install(gravity=(0, -10))
    for _ in range(30):
        esper.process(DT)
    assert space.stats.asleep == 1
    esper.component_for_entity(crate, ec.Filter).mask = 0
    state = space.save_state()
    esper.process(DT)
    expected = space.snapshot()
    assert space.stats.asleep == 0
    esper.component_for_entity(crate, ec.Filter).mask = 1

    space.restore(state)
    esper.process(DT)

    assert space.snapshot() == expected


def test_a_number_from_before_the_restore_that_a_game_sets_again_is_read(n_quick):
    ball = mover((0, 0), (1, 1), (20, 0))
    place = esper.component_for_entity(ball, ec.Position)
    space = ec.install()
    esper.process(DT)
    state = space.save_state()
    esper.process(DT)
    later = place.x  # the object itself

    space.restore(state)
    place.x = later
    esper.process(DT)

    assert position(ball) == (3.0, 0.0)
    assert len(n_quick) == 1


def test_numbers_of_materials_that_a_step_has_read_since_are_those_of_the_state(n_quick):
    box((10, 0), (1, 5))
    bounce, mass = ec.Deflect(0.5), ec.Mass(2.0)
    ball = mover((0, 0), (1, 1), (20, 0), bounce, mass)
    space = ec.install()
    esper.process(DT)
    state = space.save_state()
    for restitution, kilograms in ((1.0, 2.0), (0.5, math.inf), (0.0, 1e9)):
        bounce.restitution, mass.value = restitution, kilograms
        esper.process(DT)

        space.restore(state)
        for _ in range(10):
            esper.process(DT)

        assert (position(ball), velocity(ball)) == ((6.5, 0), (-10, 0))
    assert len(n_quick) == 3


def test_a_body_that_is_skipped_since_the_state_takes_part_again_at_once():
    ball = mover((0, 0), (1, 1), (20, 0))
    space = ec.install()
    esper.process(DT)
    state = space.save_state()
    esper.component_for_entity(ball, ec.Position).y = math.nan
    esper.process(DT)
    assert space.query_point((1, 0)) == []

    space.restore(state)

    assert space.query_point((1, 0)) == [ball]
    space.check()
    esper.process(DT)
    assert position(ball) == (2, 0)


def test_growth_that_was_removed_since_the_last_step_is_saved_again_after_a_restore(elsewhere):
    body = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Growth(-0.0, 2))
    space = ec.install()
    esper.process(1.0)
    esper.remove_component(body, ec.Growth)
    data = space.snapshot()
    other = elsewhere()

    other.restore(data)

    assert bytes(other.save_state()) == data
