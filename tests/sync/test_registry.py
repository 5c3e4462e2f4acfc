"""Between components and columns: every way to hold a number, every way to change a world."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from fractions import Fraction

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import Log, box, in_a_world, mover, position

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Tag:
    """A custom component."""


class Followed(ec.Position):
    """A position whose x comes from somewhere else: no slot of its own is read."""

    def __init__(self, x, y):
        self.source = [float(x)]
        super().__init__(x, y)

    @property
    def x(self):
        return self.source[0]

    @x.setter
    def x(self, value):
        self.source[0] = value


class Marked(ec.Position):
    """A position with one more slot, which is nobody's business."""

    __slots__ = ("mark",)

    def __init__(self, x, y):
        super().__init__(0, 0)
        self.x, self.y, self.mark = x, y, "mine"


class Open(ec.Velocity):
    """A velocity with a dict beside its slots."""


def log_of_steps(space, n_steps, before_step=lambda n: None):
    log = Log()
    for n in range(n_steps):
        before_step(n)
        esper.process(1 / 60)
        log.record(space)
        space.check()
    return log.digest()


def gas(make_position, make_velocity, n=40):
    rng = random.Random(5)
    for i in range(n):
        esper.create_entity()
        entity = esper.create_entity(ec.Extents(1, 1), ec.Deflect(0.9))
        x, y = 3.0 * (i % 7), 3.0 * (i // 7)
        esper.add_component(entity, make_position(x, y), ec.Position)
        speed = make_velocity(float(rng.randrange(-90, 90)), float(rng.randrange(-90, 90)))
        esper.add_component(entity, speed, ec.Velocity)


@pytest.mark.parametrize(
    ("make_position", "make_velocity"),
    [
        pytest.param(Followed, ec.Velocity, id="a property in the way"),
        pytest.param(ec.Position, Open, id="a dict beside the slots"),
    ],
)
def test_components_of_other_classes_give_the_same_bits(make_position, make_velocity):
    def run(*makers):
        gas(*makers)
        return log_of_steps(ec.install(), 30)

    plain = in_a_world("plain", lambda: run(ec.Position, ec.Velocity))
    other = in_a_world("other", lambda: run(make_position, make_velocity))

    assert other == plain


@pytest.mark.parametrize(
    "number", [3, True, np.float64(3.5), np.float32(0.1), np.int64(7), Fraction(1, 3), 2**53 + 1]
)
@pytest.mark.parametrize("kind", [ec.Position, ec.Extents, ec.Velocity])
def test_every_kind_of_number_is_read_as_a_float(kind, number):
    body = mover((0, 0), (1, 1), (1, 0), ec.Slide())
    space = ec.install()
    esper.process(0)
    esper.component_for_entity(body, kind).x = number

    esper.process(0)
    esper.process(0)

    column = {
        ec.Position: space.positions()[0, 0],
        ec.Extents: (space.bounds(body)[1][0] - space.bounds(body)[0][0]) / 2,
        ec.Velocity: space.velocities()[0, 0],
    }[kind]
    assert column == float(number)
    assert esper.component_for_entity(body, kind).x is number


@pytest.mark.parametrize("kind", [ec.Position, ec.Extents, ec.Velocity, ec.Deflect])
def test_an_attribute_that_was_deleted_is_missed_by_its_name(kind):
    name = "restitution" if kind is ec.Deflect else "y"
    body = mover((0, 0), (1, 1), (1, 0), ec.Deflect())
    ec.install()
    esper.process(1.0)
    component = esper.component_for_entity(body, kind)
    value = getattr(component, name)
    delattr(component, name)

    with pytest.raises(AttributeError, match=name):
        esper.process(1.0)

    setattr(component, name, value)
    esper.process(1.0)
    assert position(body) == (2, 0)


def test_finding_the_slots_of_a_class_leaves_every_value_where_it_was():
    number, whole = 2.5, 10**20
    first = esper.create_entity(ec.Extents(1, 1), ec.Velocity(0, 0))
    esper.component_for_entity(first, ec.Extents).y = whole
    esper.add_component(first, Marked(number, number), ec.Position)
    space = ec.install()

    esper.process(0)
    space.snapshot()

    body = esper.component_for_entity(first, ec.Position)
    assert body.x is number
    assert body.y is number
    assert body.mark == "mine"
    assert esper.component_for_entity(first, ec.Extents).y is whole


def test_a_class_whose_first_component_lacks_an_attribute_is_read_all_the_same():
    class Late(ec.Velocity):
        __slots__ = ()

    bodies = [box((9 * n, 0), (1, 1)) for n in range(3)]
    for body in bodies:
        esper.add_component(body, Late(3, 4), ec.Velocity)
    late = esper.component_for_entity(bodies[0], ec.Velocity)
    del late.y
    space = ec.install()
    with pytest.raises(AttributeError, match="y"):
        esper.process(1.0)
    late.y = -1

    esper.process(1.0)

    assert space.positions().tolist() == [[3, -1], [12, 4], [21, 4]]


@pytest.mark.parametrize("axis", [0, 1])
def test_a_number_that_a_game_has_taken_stays_as_it_is(axis):
    place = esper.component_for_entity(mover((0.25, 0.5), (1, 1), (2, 3)), ec.Position)
    ec.install()
    esper.process(1.0)
    taken = place.y if axis else place.x

    esper.process(1.0)

    assert (taken, place.xy) == ((3.5, 2.25)[1 - axis], (4.25, 6.5))


@pytest.mark.parametrize("response", ["built in", "own"])
def test_the_object_that_was_there_before_is_a_teleport_back(response):
    # The very float that was seen two steps ago is not what was seen last.
    body = mover((0, 0), (1, 1), (2, 0), ec.Slide(), Tag())
    box((3, 0), (1, 1))
    space = ec.install()
    if response == "own":  # the position is then written in the middle of the step too
        space.respond_with(Tag, lambda impact: ec.DEFAULT)
    place = esper.component_for_entity(body, ec.Position)
    speed = esper.component_for_entity(body, ec.Velocity)
    start, fast = place.x, speed.x
    for _ in range(3):
        esper.process(1.0)
        assert (place.x, speed.x) == (1.0, 0.0)

        place.x, speed.x = start, fast
        esper.process(0)
        assert space.positions([body])[0, 0] == 0.0
        assert space.velocities([body])[0, 0] == 2.0
        assert space.bounds(body)[0][0] == -1.0


def test_numbers_that_a_game_has_kept_stay_what_they_were():
    body = mover((0, 0), (1, 1), (1, 0.5), ec.Slide())
    ec.install()
    place = esper.component_for_entity(body, ec.Position)
    kept = []
    for _ in range(5):
        esper.process(1.0)
        kept.append((place.x, place.y))
        shared = esper.component_for_entity(body, ec.Velocity)
        shared.x = shared.y = 0.25

    assert kept == [(1.0, 0.5), (1.25, 0.75), (1.5, 1.0), (1.75, 1.25), (2.0, 1.5)]


def test_a_number_shared_by_two_bodies_is_not_written_over():
    number = 1.5 * len(sys.argv[:1])
    first = mover((number, number), (0.1, 0.1), (1, 0))
    second = mover((number, 50.0), (0.1, 0.1), (0, 0))
    ec.install()

    for _ in range(3):
        esper.process(1.0)

    assert number == 1.5
    assert position(first) == (4.5, 1.5)
    assert position(second) == (1.5, 50.0)


def test_a_mistake_found_late_loses_no_teleport():
    crate = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    box((0, -1), (5, 1))
    other = mover((50, 0), (1, 1), (0, 0))
    space = ec.install()
    esper.process(1 / 60)
    esper.component_for_entity(crate, ec.Position).x = 20.0
    esper.component_for_entity(other, ec.Velocity).x = "east"
    with pytest.raises(TypeError, match=f"entity {other}"):
        esper.process(1 / 60)

    esper.component_for_entity(other, ec.Velocity).x = 0.0
    esper.process(1 / 60)

    assert [event.reason for event in space.contacts_ended] == [ec.EndReason.TELEPORTED]


def test_a_nan_and_a_mistake_in_one_step_are_both_seen():
    sick = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    ec.install()
    esper.process(1 / 60)
    esper.component_for_entity(sick, ec.Position).x = float("nan")
    esper.component_for_entity(sick, ec.Velocity).x = "east"
    with pytest.raises(TypeError):
        esper.process(1 / 60)
    esper.component_for_entity(sick, ec.Velocity).x = 0.0

    with pytest.warns(RuntimeWarning, match=r"Position\.x is nan"):
        esper.process(1 / 60)


def test_a_quarantined_body_of_large_numbers_comes_back():
    body = mover((2.0**499, 0), (1, 1), (2.0**499, 0), ec.Slide())
    space = ec.install()
    with pytest.warns(RuntimeWarning, match="must not lead beyond"):
        esper.process(4.0)
    assert space.query_point((2.0**499, 0)) == []

    esper.process(0.0)

    assert space.query_point((2.0**499, 0)) == [body]
    space.check()


def test_a_wall_as_large_as_the_world_is_reported():
    box((2.0**500, 0), (2.0**500, 1))
    space = ec.install()

    with pytest.warns(RuntimeWarning, match="must not lead beyond"):
        esper.process(1.0)

    assert len(space.reports) == 1


# What changes in a world --------------------------------------------------------------------


def churn(rng, made, n):
    """Change the structure of the world in every way there is."""
    for _ in range(6):
        what = rng.randrange(8)
        entity = rng.choice(made)
        alive = esper.entity_exists(entity)
        if what == 0 or not alive:
            place = (rng.uniform(-20, 20), rng.uniform(-20, 20))
            made.append(mover(place, (1, 1), (rng.uniform(-50, 50), 0), ec.Deflect()))
        elif what == 1:
            esper.delete_entity(entity, immediate=True)
        elif what == 2:
            esper.delete_entity(entity)
        elif what == 3:
            esper.try_remove_component(entity, rng.choice([ec.Velocity, ec.Deflect, ec.Sensor]))
        elif what == 4:
            esper.add_component(entity, rng.choice([ec.Slide, ec.Sensor, Tag])())
        elif what == 5:
            esper.add_component(entity, ec.Velocity(rng.uniform(-50, 50), n))
        elif what == 6:
            esper.add_component(entity, ec.Position(rng.uniform(-20, 20), 0))
        else:
            esper.add_component(entity, ec.Mass(rng.uniform(1, 5)))


def log_of_churn(n_steps=60):
    rng = random.Random(8)
    made = [mover((3.0 * i, 0), (1, 1), (0, 5 * i), ec.Deflect()) for i in range(12)]
    space = ec.install()
    space.respond_with(Tag, lambda impact: ec.DEFAULT)
    found = log_of_steps(space, n_steps, lambda n: churn(rng, made, n))
    alive = [e for e in made if esper.entity_exists(e)]
    assert space.entities == sorted(
        e for e in alive if esper.has_components(e, ec.Position, ec.Extents)
    )
    for entity in space.entities:
        row = space._registry.row_of[entity]
        for kind in (ec.Position, ec.Extents, ec.Velocity, ec.Deflect, ec.Mass, ec.Sensor, Tag):
            assert space._registry.index.holder(kind, row) is esper.try_component(entity, kind)
    return found


@pytest.mark.slow_in_python
def test_a_world_without_a_dict_of_entities_is_read_through_its_queries(monkeypatch):
    from ecs_collide.esper_world import World

    database = in_a_world("by its dict", log_of_churn)
    whole = World.entities

    def entities(self, kinds):
        hidden, esper._entities = esper._entities, None
        try:
            real = esper.get_component

            def get_component(kind):
                esper._entities = hidden
                try:
                    return real(kind)
                finally:
                    esper._entities = None

            with monkeypatch.context() as patch:
                patch.setattr(esper, "get_component", get_component)
                return whole(self, kinds)
        finally:
            esper._entities = hidden

    monkeypatch.setattr(World, "entities", entities)
    queries = in_a_world("by its queries", log_of_churn)

    assert queries == database


def test_a_response_to_a_built_in_component_is_told_of_those_that_have_it_already():
    body = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    box((5, 0), (1, 1))
    space = ec.install()
    esper.process(0)
    asked = []

    space.respond_with(ec.Slide, lambda impact: asked.append(impact.first))
    esper.process(1.0)

    assert asked == [body]


def test_a_response_is_told_of_a_custom_component_that_other_changes_have_left_alone():
    body = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tag())
    box((5, 0), (1, 1))
    space = ec.install()
    for _ in range(2):  # the world is compared again, and nothing about the body has changed
        esper.process(0)
        esper.create_entity()
    asked = []

    space.respond_with(Tag, lambda impact: asked.append(impact.first))
    esper.process(1.0)

    assert asked == [body]


def test_components_are_let_go_of_with_their_bodies():
    body = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    parts = [esper.component_for_entity(body, k) for k in (ec.Position, ec.Velocity, ec.Slide)]
    number = 12345.678 * len(parts)
    parts[0].x = number
    ec.install()
    esper.process(0)
    esper.delete_entity(body, immediate=True)
    esper.process(0)
    esper.process(0)

    parts_held = [sys.getrefcount(part) for part in parts]
    parts.clear()
    assert set(parts_held) == {3}  # the list, the loop, the call
    assert sys.getrefcount(number) <= 3  # plain Python keeps the last number it has read


@pytest.mark.slow_in_python
def test_nothing_piles_up_over_many_steps_with_births_and_deaths(volume):
    rng = random.Random(3)
    made = [mover((5.0 * i, 0), (1, 1), (30, 10), ec.Deflect()) for i in range(30)]
    ec.install()

    def step():
        esper.delete_entity(made.pop(rng.randrange(len(made))))
        place = (rng.uniform(0, 150), rng.uniform(-5, 5))
        made.append(mover(place, (1, 1), (30, 10), ec.Deflect()))
        esper.process(1 / 60)

    for _ in range(100):
        step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(volume(120, 1000)):
        step()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()

    assert after - before < 60_000


# What a step did ------------------------------------------------------------------------------


def test_the_stages_are_timed_only_when_asked():
    mover((0, 0), (1, 1), (10, 0), ec.Slide())
    box((5, 0), (1, 1))
    space = ec.install()
    esper.process(1.0)
    assert space.timing is False
    assert space.stats.times is None

    space.timing = True
    esper.process(1.0)
    times = space.stats.times
    assert isinstance(times, ec.StageTimes)
    assert all(seconds > 0.0 for seconds in times)

    space.timing = False
    esper.process(1.0)
    assert space.stats.times is None


def test_stats_tell_the_cost_of_the_tree():
    for i in range(20):
        mover((10 * i, 0), (1, 1), (1, 0))
    space = ec.install()
    assert space.stats.tree_cost == 0.0

    esper.process(1.0)

    assert space.stats.tree_cost > 0.0
    assert space.stats is space.stats
