"""Every component is in the table of random worlds, and every fuzz has all that it does not refuse.

A fuzz is named here with a function that makes some of its worlds.
"""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests import packed, random_worlds
from tests.exact.crowds import crowd, growing_crowd, pressing_crowd
from tests.exact.worlds import RandomWorld
from tests.random_worlds import RESPONSES, TABLE, Chance, Draw, write
from tests.scenes import another_world
from tests.system import test_faults, test_invariants, test_sleep, test_wrap_sameness
from tests.system.test_gravity_soaks import Chamber, House
from tests.system.test_sleep_in_snapshots import Pile
from tests.system.test_small_worlds import Small
from tests.system.test_soaks import Churn
from tests.yard import Yard

pytestmark = pytest.mark.usefixtures("world")

COMPONENT = ec.Position.__mro__[-2]  # the base of all, below object


def components():
    """Return all public components of the library."""
    return {
        kind
        for name in ec.__all__
        if isinstance(kind := getattr(ec, name), type) and issubclass(kind, COMPONENT)
    }


def test_every_component_is_in_the_table():
    assert ec.Fixed in components()
    assert ec.Filter in components()
    assert len(components()) >= 25
    assert components() == set(TABLE)


@pytest.mark.parametrize("kind", TABLE)
def test_what_the_table_makes_is_of_that_kind_and_not_always_the_same(kind):
    draw = Draw(random.Random(1))
    draw.body()
    draw.drawn.clear()

    made = [draw.component(kind) for _ in range(20)]

    assert {type(part) for part in made} == {kind}
    assert not kind.__match_args__ or any(part != made[0] for part in made)


def test_a_body_has_one_response_at_most():
    draw = Draw(random.Random(1))

    bodies = [draw.parts(*given) for given in [(), (ec.Stop(),)] for _ in range(50)]

    assert {sum(isinstance(part, RESPONSES) for part in parts) for parts in bodies} == {0, 1}


def test_a_new_row_of_the_table_changes_nothing_else_in_a_world(monkeypatch):
    class New:
        pass

    def worlds():
        draw = Draw(random.Random(3), mixture=0.8)
        bodies = [draw.parts() for _ in range(30)]
        return [[part for part in parts if type(part) is not New] for parts in bodies], draw.kinds

    before, known = worlds()
    row = Chance(0.5, lambda draw: New() if draw.pick(True, False) else None)
    monkeypatch.setattr(random_worlds, "TABLE", {New: row, **TABLE})
    after, kinds = worlds()

    assert [kind for kind in kinds if kind is not New] == known
    assert after == before


def test_what_is_written_into_a_fixed_body_is_read():
    wall = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Fixed())
    space = ec.install()
    esper.process(1.0)

    write(wall, ec.Position(5, 5))
    esper.process(1.0)

    assert space.bounds(wall) == ((4, 4), (6, 6))


# Fuzzes --------------------------------------------------------------------------------


def changed(draw):
    """Do to the bodies of a fuzz what its game does to them now and then."""
    for _ in range(60):
        draw.change(draw.rng.choice(draw.bodies))


def spawn(rng):
    for _ in range(9):
        test_faults.Game.spawn(None, rng)


FUZZES = {
    "faults": lambda seed: spawn(random.Random(seed)),
    "packed": lambda seed: packed.mixed(40),
    "pile": lambda seed: changed(Pile(seed, "game", 2).draw(random.Random(seed))),
    "small worlds": lambda seed: Small(seed),
    "grid": lambda seed: test_invariants.crowd_on_a_grid(seed, 2, 1.0),
    "wrap": lambda seed: test_wrap_sameness.furnish(random.Random(seed)),
    "yard": lambda seed: Yard(2, seed),
    "yard of sleep": lambda seed: test_sleep.Yard(ec.install(), seed, 2, 0.5),
    "exact crowds": crowd,
    "exact crowds that press": pressing_crowd,
    "exact crowds that grow": growing_crowd,
    "exact worlds": lambda seed: RandomWorld(seed, furnished=True),
    "churn": lambda seed: [Churn(ec.install(), random.Random(seed)).act(n) for n in range(40)],
    "house": lambda seed: [House(seed).act() for _ in range(1)],
    "chamber": Chamber,
}


@pytest.mark.parametrize("fuzz", FUZZES)
def test_every_fuzz_has_every_component_but_those_that_it_names(fuzz, world, monkeypatch):
    made, draws = set(), []
    parts_of, component, init = Draw.parts, Draw.component, Draw.__init__

    def noted(draw, *given, **how):
        parts = parts_of(draw, *given, **how)
        made.update(map(type, parts))
        return parts

    def made_one(draw, kind):
        part = component(draw, kind)
        made.update([kind] if part is not None else [])
        return part

    def listed(draw, *given, **how):
        draws.append(draw)
        init(draw, *given, **how)

    monkeypatch.setattr(Draw, "parts", noted)
    monkeypatch.setattr(Draw, "component", made_one)
    monkeypatch.setattr(Draw, "__init__", listed)
    for seed in range(40):
        with another_world(f"{world} {seed}"):
            FUZZES[fuzz](seed)

    without = draws[0].without
    assert all(draw.without == without for draw in draws)
    assert all(word.isalpha() for word in without.values())
    missing = set(TABLE) - made - set(without)
    assert not missing, f"{fuzz} never has {sorted(kind.__name__ for kind in missing)}"
    assert not made & set(without)
