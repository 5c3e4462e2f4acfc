"""A step costs what moves, and a change costs what it changes, in worlds of any size."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide import systems
from ecs_collide._kernel import backend
from ecs_collide.steering import Holders
from tests.scenes import box, of

# Python and C calls of a step by what the game does before it, at most.
CALLS = {
    "nothing": (15, 8),
    "a tag on a body": (15, 8),
    "a foreign entity": (15, 8),
    "create": (16, 9),
    "delete": (16, 9),
    "create and delete": (16, 9),
    "pool": (16, 9),
    "replace": (16, 9),
    "delete a tile": (16, 9),
}


class Tag:
    """A component of the game."""


def shot(*more: object) -> int:
    """Create a bullet far from everything."""
    return box((0, -500), (2, 2), ec.Velocity(0, -600), ec.Sensor(), ec.Filter(2, 4), *more)


class Game:
    """A world of `n_movers` bodies that move, all apart, and of `n_fixed` tiles."""

    def __init__(self, n_movers: int, n_fixed: int) -> None:
        self.tiles = [box((20 * k, 900), (10, 10), ec.Fixed()) for k in range(n_fixed)]
        self.movers = [
            box((30 * (k % 10), 30 * (k // 10)), (5, 5), ec.Velocity(k % 7 - 3.5, 0), ec.Sensor())
            for k in range(n_movers)
        ]
        self.pool = [shot(ec.Disabled()) for _ in range(3)]
        self.live = [shot() for _ in range(30)]
        self.space = ec.install()
        for _ in range(20):
            esper.process(1 / 60)

    def act(self, what: str, k: int) -> int:
        """Change something; return the number of changed bodies."""
        if what in ("create", "create and delete"):
            self.live.append(shot())
        if what in ("delete", "create and delete"):
            esper.delete_entity(self.live.pop(0), immediate=True)
        if what == "pool":
            body, other = self.pool.pop(0), self.live.pop(0)
            of(body, ec.Position).set(0, -500)
            esper.remove_component(body, ec.Disabled)
            esper.add_component(other, ec.Disabled())
            self.live.append(body)
            self.pool.append(other)
        if what == "replace":
            esper.add_component(self.movers[k], ec.Velocity(1, 0))
        if what == "delete a tile":
            esper.delete_entity(self.tiles.pop(), immediate=True)
        if what == "a foreign entity":
            esper.delete_entity(esper.create_entity(Tag()), immediate=True)
        if what == "a tag on a body":
            esper.add_component(self.movers[k], Tag())
        numbers = {"create and delete": 2, "pool": 2, "create": 1, "delete": 1, "replace": 1}
        return numbers.get(what, int(what == "delete a tile"))


def calls_of(function: Callable[[], object]) -> Counter[str]:
    """Return how many functions of Python and of C a call runs."""
    found: Counter[str] = Counter()

    def note(frame: Any, event: str, argument: object) -> None:
        found[event] += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


@pytest.fixture
def only_compiled(implementation):
    if implementation == "plain":
        pytest.skip("kernels in pure Python are called in Python")


@pytest.mark.parametrize("what", CALLS)
def test_calls_of_a_step_do_not_grow_with_the_world(
    only_compiled, world, what, volume, monkeypatch
):
    monkeypatch.setattr(systems, "STEERED", set())  # as in a game that uses no `Character`
    found = []
    for n_movers, n_fixed in ((10, 10), (600, 10), (10, volume(1000, 40_000, 100_000))):
        esper.clear_database()
        game = Game(n_movers, n_fixed)
        counts = []
        for k in range(9):
            game.act(what, k)
            counts.append(calls_of(lambda: esper.process(1 / 60)))
        found.append(sorted((each["call"], each["c_call"]) for each in counts)[4])

    assert found[0] == found[1] == found[2]
    assert found[0][0] <= CALLS[what][0]
    assert found[0][1] <= CALLS[what][1]


@pytest.mark.parametrize("n_fixed", [10, 2000])
@pytest.mark.parametrize("what", CALLS)
def test_as_many_entities_are_compared_as_have_changed(kernels, world, monkeypatch, what, n_fixed):
    looked: list[int] = []
    compare = backend.kernels.entity_rows.compare_entities

    def spy(noted: list[int], *others: Any) -> Any:
        looked.extend(noted)
        return compare(noted, *others)

    monkeypatch.setattr(backend.kernels.entity_rows, "compare_entities", spy)
    game = Game(10, n_fixed)
    lists = game.space._registry.lists

    for k in range(5):
        looked.clear()
        all_before = lists.saved()[0]
        n_changed = game.act(what, k)
        esper.process(1 / 60)
        assert len(looked) == n_changed
        assert lists.saved()[0] is all_before  # the arrays of all bodies are as they were
        assert len(game.space.entities) == lists.n


@pytest.mark.parametrize("n_fixed", [1, 100, 3000])
def test_the_first_body_after_a_level_copies_no_table(kernels, world, n_fixed):
    for k in range(n_fixed):
        box((20 * k, 900), (10, 10), ec.Fixed())
    space = ec.install()
    esper.process(1 / 60)
    table = space._registry.table
    capacity, columns = table.capacity, table.bodies.memory

    shot()
    esper.process(1 / 60)

    assert table.capacity == capacity
    assert table.bodies.memory is columns


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_many_changes_are_compared_once_each(kernels, world, monkeypatch, n):
    game, looked = Game(10, 3000), []
    compare = backend.kernels.entity_rows.compare_entities
    monkeypatch.setattr(
        backend.kernels.entity_rows,
        "compare_entities",
        lambda noted, *others: (looked.append(len(noted)), compare(noted, *others))[1],
    )
    for tile in game.tiles[:n]:
        esper.delete_entity(tile, immediate=True)
        shot()

    esper.process(1 / 60)

    assert looked == [2 * n]
    assert len(game.space) == len(game.space.entities) == 3043


class Bouncy:
    """A component that the game gives a response, and asks for in pairs."""


@pytest.mark.parametrize("n_fixed", [10, 2000])
@pytest.mark.parametrize("what", ["response", "filter", "Character", "Path", "Zone"])
def test_a_type_that_is_asked_for_later_is_compared_alone(
    kernels, world, monkeypatch, what, n_fixed
):
    looked: list[int] = []
    compare = backend.kernels.entity_rows.compare_entities
    monkeypatch.setattr(
        backend.kernels.entity_rows,
        "compare_entities",
        lambda noted, *others: (looked.extend(noted), compare(noted, *others))[1],
    )
    game = Game(10, n_fixed)
    some = game.movers[:3]
    for body in some:
        esper.add_component(body, Bouncy())
    esper.process(1 / 60)
    looked.clear()

    if what == "response":
        game.space.respond_with(Bouncy, lambda impact: ec.DEFAULT)
    elif what == "filter":
        game.space.filter_pairs(lambda first, second: True, Bouncy)
    else:
        for body in some:
            part = ec.Path([(0, 0), (9, 9)], 5) if what == "Path" else getattr(ec, what)()
            esper.add_component(body, part)
            esper.add_component(body, ec.Slide())
    for _ in range(3):
        esper.process(1 / 60)

    assert set(looked) == set(some)
    assert len(looked) <= 4 * len(some)


@pytest.mark.parametrize("n_fixed", [0, 10, 1000])
def test_a_question_looks_at_what_has_changed_since_the_step(kernels, world, monkeypatch, n_fixed):
    game = Game(10, n_fixed)
    presence, asked = game.space._queried._presence, []
    finder = type(presence).finder

    def counting(self: Any, world: Any) -> Any:
        find = finder(self, world)
        return lambda entity: (asked.append(entity), find(entity))[1]

    monkeypatch.setattr(type(presence), "finder", counting)
    esper.add_component(game.movers[0], Tag())
    esper.create_entity(Tag())
    assert len(game.space.query((-1e4, -1e4), (1e4, 1e4))) > 39
    assert asked == []
    gone = game.movers[1]
    esper.delete_entity(gone)

    for _ in range(3):
        assert gone not in game.space.query((-1e4, -1e4), (1e4, 1e4))

    assert set(asked) == {gone}
    assert len(asked) <= 2


def test_what_the_game_has_touched_is_no_news_after_the_step(kernels, world):
    game = Game(10, 10)
    table, body, new = game.space._registry.table, game.movers[0], game.live[0]

    for act in (
        lambda: game.space.teleport(body, (500, 500)),
        lambda: setattr(of(body, ec.Extents), "x", 7),
        lambda: game.space.set_positions([game.tiles[0]], [(-900, 900)]),
        lambda: esper.add_component(new, ec.Filter(8, 16)),
        lambda: game.live.append(shot()),
        lambda: game.space.restore(game.space.snapshot()),
    ):
        act()
        esper.process(1 / 60)
        assert not table.touched.any()
        assert not table.bodies.any_touched


@pytest.mark.parametrize("what", ["create", "delete", "create and delete"])
def test_a_change_asks_nothing_of_boxes_of_other_owners(only_compiled, world, what, monkeypatch):
    monkeypatch.setattr(systems, "STEERED", set())
    found = []
    for n_boxes in (1, 500):
        esper.clear_database()
        game = Game(10, 10)
        for k in range(n_boxes):
            owner = game.movers[k % 10]
            box((0, 0), (1, 1), ec.Attached(owner, (0, 7)))
        esper.process(1 / 60)
        esper.process(1 / 60)
        counts = []
        for k in range(9):
            game.act(what, k)
            counts.append(calls_of(lambda: esper.process(1 / 60)))
        found.append(sorted((each["call"], each["c_call"]) for each in counts)[4])

    assert found[0] == found[1]


def lift(k: int) -> int:
    """Create a body on a path."""
    path = ec.Path([(40 * k, 0), (40 * k, 90)], 50, pause=0.1, ease="smooth")
    return box((40 * k, 0), (5, 5), ec.Velocity(0, 0), path)


def crate(k: int) -> int:
    """Create a body in two pools, which have a body in them."""
    for depth in (0, 9):
        box((60 * k, depth), (20, 30), ec.Sensor(), ec.Zone(buoyancy=1.2, drag=k), ec.Fixed())
    return box((60 * k, 0), (5, 5), ec.Velocity(0, 0), ec.Slide())


def hitbox(k: int) -> int:
    """Create a box that is attached to a body of its own."""
    owner = box((40 * k, 0), (5, 5), ec.Velocity(3, 0), ec.Sensor(), ec.Filter(2, 4))
    return box((0, 0), (2, 2), ec.Attached(owner, (9, 0)), ec.Filter(2, 4))


@pytest.mark.parametrize("make", [lift, crate, hitbox])
def test_a_quiet_step_makes_no_call_for_each(only_compiled, world, make):
    found = []
    for n in (1, 100):
        esper.clear_database()
        for k in range(n):
            make(k)
        ec.install(gravity=(0, -90))
        for _ in range(9):
            esper.process(1 / 60)
        counts = [calls_of(lambda: esper.process(1 / 60)) for _ in range(5)]
        found.append(sorted((each["call"], each["c_call"]) for each in counts)[2])

    assert found[0] == found[1]


def test_steering_follows_every_change_of_its_components(kernels, world):
    rng = random.Random(5)
    kinds = (ec.Path, ec.Position, ec.Velocity, ec.Disabled)
    made = {
        ec.Path: lambda: ec.Path([(0, 0)], 1),
        ec.Position: lambda: ec.Position(0, 0),
        ec.Velocity: lambda: ec.Velocity(0, 0),
        ec.Disabled: ec.Disabled,
    }
    space = ec.install()
    holders = Holders(space.world, kinds[:3], ec.Disabled)
    entities = [esper.create_entity() for _ in range(12)]

    for n in range(600):
        entity, kind = rng.choice(entities), rng.choice(kinds)
        if rng.random() < 0.6:
            esper.add_component(entity, made[kind]())
        else:
            esper.try_remove_component(entity, kind)
        if rng.random() < 0.05:
            entities.remove(entity)
            esper.delete_entity(entity, immediate=rng.random() < 0.5)
            entities.append(esper.create_entity())
        if n == 400:
            esper.clear_database()
            entities = [esper.create_entity() for _ in range(12)]
        if rng.random() < 0.5:
            esper.clear_dead_entities()
            expected = sorted(
                (each, its)
                for each, its in esper.get_components(*kinds[:3])
                if not esper.has_component(each, ec.Disabled)
            )
            found = holders.find()
            assert [each for each, _ in found] == [each for each, _ in expected]
            assert all(
                mine is its
                for (_, some), (_, others) in zip(found, expected, strict=True)
                for mine, its in zip(some, others, strict=True)
            )


RARE = (
    ec.Filter(2, 4), ec.Friction(0.5), ec.GravityScale(0.5), ec.Damping(1.0), ec.Restitution(0.5),
    ec.MaxSpeed(900), ec.LockedAxes(True), ec.OneWay(), ec.Carry(), ec.Dominance(1),
)  # fmt: skip


@pytest.mark.parametrize("part", RARE, ids=lambda part: type(part).__name__)
def test_the_first_rare_component_writes_nothing_to_rows_of_others(kernels, world, part):
    game = Game(10, 200)
    table, known = game.space._registry.table, list(game.movers)
    rows = [game.space._registry.row_of[entity] for entity in known + game.tiles]

    box((0, -9000), (1, 1), ec.Velocity(0, 0), ec.Slide(), part)
    esper.process(1 / 60)

    for name in ("filters", "friction", "gravity_scale", "surface", "acceleration"):
        assert not getattr(table, name)[rows].any(), name


@pytest.mark.parametrize("part", RARE, ids=lambda part: type(part).__name__)
def test_others_move_alike_before_and_after_the_first_rare_component(kernels, world, part):
    def places(step_of_the_first: int) -> list[tuple[float, ...]]:
        esper.clear_database()
        space = ec.install(gravity=(0, -90), rest_speed=1)
        box((0, -10), (500, 10), ec.Fixed())
        bodies = [
            box((30 * k, 30 + 9 * k), (5, 5), ec.Velocity(7 * k, 0), ec.Slide()) for k in range(6)
        ]
        bodies += [box((30 * k, 90), (5, 5), ec.Velocity(0, 0), ec.Deflect(0.5)) for k in range(6)]
        for step in range(90):
            if step == step_of_the_first:
                box((0, -9000), (1, 1), ec.Velocity(0, 0), ec.Slide(), part)
            esper.process(1 / 60)
        return [tuple(row) for row in space.positions(bodies).tolist()]

    assert places(0) == places(45) == places(100)
