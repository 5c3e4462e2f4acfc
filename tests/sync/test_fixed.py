"""Bodies that the game declares fixed: when they are read, and what a step spends on them."""

from __future__ import annotations

import math
import random
import tracemalloc
import warnings

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import Log, another_world, box, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Counted:
    """A place or a size that counts how often its numbers are read."""

    def __init__(self, x, y):
        self.numbers = [float(x), float(y)]
        self.n_reads = 0

    @property
    def x(self):
        self.n_reads += 1
        return self.numbers[0]

    @x.setter
    def x(self, value):
        self.numbers[0] = value

    @property
    def y(self):
        self.n_reads += 1
        return self.numbers[1]

    @y.setter
    def y(self, value):
        self.numbers[1] = value


class Place(Counted):
    """Where a body is."""


class Size(Counted):
    """How large a body is."""


class Tag:
    """A component of a game's own."""


def counted_wall(*components, x=50.0):
    """Create a wall whose reads are counted; return the entity, its place and its size."""
    place, size = Place(x, 0), Size(1, 10)
    return esper.create_entity(place, size, *components), place, size


def counting_space(**settings):
    return ec.install(ec.Space(components=ec.Components(position=Place, extents=Size), **settings))


def runner(x=0.0, speed=1.0):
    return esper.create_entity(Place(x, 0), Size(1, 1), ec.Velocity(speed, 0), ec.Slide())


def reads_of_a_step(*components):
    """Return how often components are read in the next step."""
    before = sum(component.n_reads for component in components)
    esper.process(1.0)
    return sum(component.n_reads for component in components) - before


def causes(space):
    return [finding.cause for finding in space.doctor()]


# -- when they are read --


@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_a_step_reads_a_declared_wall_once_and_an_undeclared_one_always(motion):
    _, *declared = counted_wall(ec.Fixed())
    _, *undeclared = counted_wall(x=90.0)
    runner()
    counting_space(motion=motion)

    assert reads_of_a_step(*declared) > 0
    assert reads_of_a_step(*undeclared) > 0
    assert [reads_of_a_step(*declared) for _ in range(5)] == [0] * 5
    assert reads_of_a_step(*undeclared) > 0


def test_what_happens_to_other_entities_reads_no_fixed_body():
    _, *wall = counted_wall(ec.Fixed())
    other = runner()
    counting_space()
    esper.process(1.0)

    esper.add_component(other, ec.Mass(2))
    assert reads_of_a_step(*wall) == 0
    coin = esper.create_entity(Place(5, 5), Size(1, 1), ec.Sensor())
    assert reads_of_a_step(*wall) == 0
    esper.delete_entity(coin)
    assert reads_of_a_step(*wall) == 0
    esper.create_entity(Tag())
    assert reads_of_a_step(*wall) == 0


def test_a_body_that_hits_a_fixed_one_does_not_read_it():
    entity, *wall = counted_wall(ec.Fixed())
    other = runner(x=47.5)
    space = counting_space()
    space.respond_with(Tag, lambda impact: ec.DEFAULT)
    esper.add_component(other, Tag())
    esper.process(0.0)

    assert reads_of_a_step(*wall) == 0
    assert [event.other(other) for event in space.collisions] == [entity]


@pytest.mark.parametrize(
    "change",
    [
        lambda entity, space: space.teleport(entity, (60, 0)),
        lambda entity, space: space.set_positions([entity], [(60, 0)]),
        lambda entity, space: esper.add_component(entity, Place(60, 0)),
    ],
    ids=["teleport", "set_positions", "a new component"],
)
@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_a_fixed_body_that_is_moved_in_a_way_that_says_so_is_there_in_the_next_step(change, motion):
    entity, _, size = counted_wall(ec.Fixed())
    runner()
    space = counting_space(motion=motion)
    esper.process(1.0)

    change(entity, space)
    esper.process(1.0)

    assert space.bounds(entity) == ((59, -10), (61, 10))
    assert space.query_point((60, 0)) == [entity]
    assert reads_of_a_step(esper.component_for_entity(entity, Place), size) == 0


def test_a_teleport_in_a_response_is_seen_by_the_next_step():
    door = box((50, 0), (1, 1), ec.Fixed())
    button = box((5, 0), (1, 1), ec.Fixed(), Tag())
    mover((0, 0), (1, 1), (9, 0), ec.Slide())
    space = ec.install()

    def opened(impact):
        space.teleport(door, (50, 20))
        return ec.DEFAULT

    space.respond_with(Tag, opened)
    esper.process(1.0)
    assert [event.first for event in space.collisions] == [button]

    esper.process(1.0)

    assert space.bounds(door) == ((49, 19), (51, 21))


@pytest.mark.parametrize("motion", ["velocity", "swept"])
def test_a_body_that_is_no_longer_fixed_is_read_in_every_step(motion):
    entity, place, size = counted_wall(ec.Fixed())
    space = counting_space(motion=motion)
    esper.process(1.0)
    esper.remove_component(entity, ec.Fixed)
    assert reads_of_a_step(place, size) > 0

    place.x = 70.0
    esper.process(1.0)

    assert space.bounds(entity) == ((69, -10), (71, 10))


def test_a_body_that_becomes_fixed_is_read_once_more():
    entity, *wall = counted_wall()
    counting_space()
    esper.process(1.0)

    esper.add_component(entity, ec.Fixed())

    assert reads_of_a_step(*wall) > 0
    assert reads_of_a_step(*wall) == 0


def test_traits_of_a_fixed_body_are_read_again_with_its_structure():
    wall = box((3, 0), (1, 1), ec.Fixed(), ec.Filter())
    mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    assert len(space.contacts(wall)) == 1
    esper.component_for_entity(wall, ec.Filter).mask = 0
    esper.process(1.0)
    assert len(space.contacts(wall)) == 1

    esper.add_component(wall, Tag())
    esper.process(1.0)
    assert len(space.contacts(wall)) == 1, "a component that no space looks at"
    esper.add_component(wall, ec.Friction(1))
    esper.process(1.0)

    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.FILTER_CHANGED]


def test_a_step_that_is_broken_off_has_read_no_fixed_body():
    wall = box((2, 0), (1, 1), ec.Fixed())
    body = mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.Space()
    broad, *others = (
        system(space)
        for system in (
            ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem,
        )
    )  # fmt: skip
    for system in (broad, *others):
        system.process(1.0)
    assert len(space.contacts(body)) == 1
    space.teleport(wall, (60, 0))
    broad.process(1.0)

    for system in (broad, *others):
        system.process(1.0)

    assert space.bounds(wall) == ((59, -1), (61, 1))
    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.TELEPORTED]
    assert not space._registry.table.touched.any(), "it would be looked at forever"
    space.check()


def test_a_fixed_body_that_cannot_be_computed_with_stays_out_until_it_is_read_again():
    wall = box((50, 0), (1, 1), ec.Fixed())
    esper.component_for_entity(wall, ec.Position).x = math.nan
    space = ec.install()
    with pytest.warns(RuntimeWarning, match=r"Position\.x"):
        esper.process(1.0)
    esper.process(1.0)
    assert len(space.reports) == 1
    (out,) = space.doctor()
    assert out.cause == "quarantined"
    assert "Space.teleport" in out.message

    space.teleport(wall, (60, 0))
    esper.process(1.0)

    assert space.bounds(wall) == ((59, -1), (61, 1))
    assert space.doctor() == []
    space.check()


# -- what breaks the promise --


def test_a_change_of_a_fixed_body_has_no_effect_and_the_doctor_finds_it():
    wall = box((50, 0), (1, 1), ec.Fixed(), ec.Friction(1))
    still = box((70, 0), (1, 1), ec.Fixed())
    ball = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    assert causes(space) == [], "it was not read yet"
    esper.process(1.0)
    assert causes(space) == []

    esper.component_for_entity(wall, ec.Position).x = 60.0
    esper.component_for_entity(wall, ec.Friction).value = 0.0
    esper.process(1.0)

    assert space.bounds(wall) == ((49, -1), (51, 1))
    (found,) = space.doctor()
    assert (found.cause, found.entities) == ("fixed_changed", (wall,))
    assert "its Position and Friction changed after the space read it" in found.message
    assert "gap 48" in str(space.explain(wall, ball))
    assert "moved" not in [finding.cause for finding in space.explain(wall, still).findings]

    space.teleport(wall, (60, 0))
    assert causes(space) == [], "the next step reads it"
    esper.process(1.0)
    assert causes(space) == []


@pytest.mark.parametrize(
    ("component", "name"), [(ec.Velocity(1, 0), "Velocity"), (ec.Growth(1, 0), "Growth")]
)
def test_a_body_that_moves_is_not_fixed_and_the_step_warns(component, name):
    body = box((0, 0), (1, 1), component, ec.Fixed())
    space = ec.install()

    with pytest.warns(RuntimeWarning, match=f"entity {body} has Fixed and"):
        esper.process(1.0)

    assert space.bounds(body) != ((-1, -1), (1, 1))
    (found,) = space.doctor()
    assert found.cause == "fixed_moves"
    assert f"has Fixed and {name}: Fixed is ignored" in found.message
    esper.remove_component(body, type(component))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        esper.process(1.0)
        esper.process(1.0)
    assert space.doctor() == []


def test_a_body_with_a_response_is_not_fixed_where_the_game_moves_bodies():
    box((0, 0), (1, 1), ec.Slide(), ec.Fixed())
    space = ec.install(ec.Space(motion="swept"))

    with pytest.warns(RuntimeWarning, match="has Fixed and"):
        esper.process(1.0)

    assert "has Fixed and Slide" in space.doctor()[0].message


# -- what a step gives --


def play(seed, marks, dim=2, n_steps=40, **settings):
    """Return the log of a world with walls that are marked, and some that come and go."""
    rng = random.Random(seed)
    with another_world(f"{esper.current_world}, {bool(marks)}"):
        walls = []
        for i in range(25):
            centre = [6.0 * (i % 5), 6.0 * (i // 5), 0.0][:dim]
            more = rng.choice([(), (ec.Sensor(),), (ec.Friction(0.5),), (ec.OneWay((0, 1)),)])
            more += (ec.Carry((3, 0)),) if i == 7 else ()
            walls.append(box(centre, [rng.choice([0.5, 1.5])] * dim, *more, *(m() for m in marks)))
        movers = []
        for i in range(30):
            centre = [3.0 + 6.0 * (i % 5), 3.0 + 4.0 * (i // 5), 0.0][:dim]
            speed = [rng.uniform(-90, 90) for _ in range(dim)]
            response = rng.choice([ec.Deflect, ec.Slide, ec.Stop, ec.Push])
            movers.append(mover(centre, [0.75] * dim, speed, response()))
        space = ec.install(ec.Space(dim=dim, **settings))
        log = Log()
        for step in range(n_steps):
            if step % 5 == 1:
                wall = rng.choice(walls)
                space.teleport(wall, [rng.uniform(0, 30) for _ in range(dim)])
            if step % 7 == 2:
                wall = walls.pop(rng.randrange(len(walls)))
                esper.delete_entity(wall)
            if step % 9 == 3:
                centre = [rng.uniform(0, 30) for _ in range(dim)]
                walls.append(box(centre, [1.0] * dim, *(mark() for mark in marks)))
            if space.motion == "swept":
                for place in (esper.component_for_entity(m, ec.Position) for m in movers):
                    place.x += rng.uniform(-2, 2)
                    place.y += rng.uniform(-2, 2)
            if step == 20:
                data = space.snapshot()
                esper.process(1 / 60)
                space.restore(data)
            esper.process(1 / 60)
            log.record(space)
            space.check()
        return log.digest(), log.n_collisions


@pytest.mark.parametrize(
    ("dim", "settings"),
    [(2, {}), (3, {}), (2, {"wrap": (40, None)}), (2, {"motion": "swept"})],
    ids=["2D", "3D", "a ring", "swept"],
)
def test_declared_walls_give_the_bits_that_undeclared_ones_give(dim, settings, volume):
    for seed in range(volume(1, 3, least=1)):
        plain, n_hits = play(seed, (), dim, **settings)
        assert play(seed, (ec.Fixed,), dim, **settings) == (plain, n_hits)
        assert n_hits > 0


def test_a_snapshot_holds_the_marker_and_the_world_goes_on_as_it_did(elsewhere):
    box((4, 0), (1, 1), ec.Fixed())
    ball = mover((0, 0), (1, 1), (60, 0), ec.Deflect())
    space = ec.install()
    esper.process(1 / 60)
    data = space.snapshot()
    for _ in range(3):
        esper.process(1 / 60)
    then, after = position(ball), space.snapshot()

    other = elsewhere()
    other.restore(data)
    for _ in range(3):
        esper.process(1 / 60)

    assert position(ball) == then
    assert other.snapshot() == after
    assert other.doctor() == []
    (wall,) = [entity for entity, _ in esper.get_component(ec.Fixed)]
    esper.component_for_entity(wall, ec.Position).x = 9.0
    esper.process(1 / 60)
    assert other.bounds(wall)[0] == (3, -1)


def test_a_snapshot_taken_before_a_new_marker_is_read_is_that_of_the_world_it_restores(elsewhere):
    wall = box((4, 0), (1, 1))
    space = ec.install()
    esper.process(1 / 60)
    esper.add_component(wall, ec.Fixed())
    data = space.snapshot()

    other = elsewhere()
    other.restore(data)

    assert other.snapshot() == data


def test_restore_brings_back_the_surface_of_a_fixed_body():
    ice = box((0, -1), (90, 1), ec.Fixed(), ec.Friction(0))
    skater = mover((0, 1), (1, 1), (9, -1), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    esper.component_for_entity(skater, ec.Velocity).set(9, -1)
    data = space.snapshot()
    esper.process(1.0)
    assert velocity(skater) == (9, 0)
    space.restore(data)
    esper.component_for_entity(ice, ec.Friction).value = 1.0
    space.teleport(ice, (0, -1))
    esper.process(1.0)
    assert velocity(skater) == (8, 0)

    space.restore(data)
    esper.process(1.0)

    assert velocity(skater) == (9, 0)


@pytest.mark.parametrize("take", [ec.Space.save_state, ec.Space.snapshot], ids=["state", "bytes"])
@pytest.mark.parametrize("times", [1, 2])
def test_the_step_after_a_restore_reads_fixed_bodies_again(take, times):
    ice = box((0, -1), (90, 1), ec.Fixed(), ec.Friction(0))
    skater = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(0.0)
    esper.component_for_entity(skater, ec.Velocity).set(9, -1)
    saved = take(space)
    for _ in range(times):
        space.restore(saved)
        esper.component_for_entity(ice, ec.Friction).value = 1.0

        esper.process(1.0)

        assert velocity(skater) == (8, 0)
        assert space.doctor() == []


# -- what a step spends --


def bytes_of_quiet_steps(n, **settings):
    """Return the most memory that steps with `n` fixed bodies take in passing."""
    name = f"{esper.current_world}, {n}"
    before = esper.current_world
    esper.switch_world(name)
    try:
        for i in range(n):
            box((4.0 * (i % 100), -4.0 * (i // 100)), (1, 1), ec.Fixed())
        mover((-50, 0), (1, 1), (0.5, 0), ec.Slide())
        mover((-50, 9), (1, 1), (0, 0), ec.Slide())  # it falls asleep
        out = mover((-50, 99), (1, 1), (0, 0), ec.Slide())
        ec.install(ec.Space(**settings))
        esper.process(1.0)
        esper.component_for_entity(out, ec.Velocity).x = math.nan
        with pytest.warns(RuntimeWarning):
            esper.process(1.0)
        tracemalloc.start()
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(20):
            esper.process(1.0)
        return tracemalloc.get_traced_memory()[1] - start
    finally:
        tracemalloc.stop()
        esper.switch_world(before)
        esper.delete_world(name)


@pytest.mark.slow_in_python
@pytest.mark.parametrize(
    "settings",
    [{}, {"wrap": (10_000, None)}, {"motion": "swept"}],
    ids=["plain", "a ring", "swept"],
)
def test_no_step_makes_an_array_as_long_as_the_number_of_fixed_bodies(settings):
    few, many = bytes_of_quiet_steps(100, **settings), bytes_of_quiet_steps(12_000, **settings)

    assert many - few < 10_000  # a byte for each would be more; the rest differs by a few thousand


def test_a_step_passes_only_bodies_that_are_not_fixed():
    for i in range(100):
        box((4.0 * i, 0), (1, 1), ec.Fixed())
    others = [box((4.0 * i, 9), (1, 1)) for i in range(3)]
    space = ec.install()
    esper.process(1.0)
    registry = space._registry

    assert registry.table.ids[registry.watched].tolist() == others
    esper.process(1.0)
    assert np.array_equal(registry.read_rows, registry.watched)
