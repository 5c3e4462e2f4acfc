"""`doctor` and `explain` answer for bodies of any components, with any values."""

from __future__ import annotations

import contextlib
import itertools
import math
import random
import warnings
from collections.abc import Callable

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.path import Path
from ecs_collide.zone import Zone
from tests.volume import Volume

pytestmark = pytest.mark.usefixtures("world")

MAKERS: tuple[Callable[[int], object], ...] = (
    *(lambda _, kind=kind: kind() for kind in (
        ec.Deflect, ec.Push, ec.Slide, ec.Stop, ec.Sensor, ec.Filter, ec.OneWay, ec.Carry,
        ec.PushOut, ec.Fixed, ec.Disabled, Character, Ladder, Zone,
    )),
    *(lambda _, kind=kind: kind(0, 0) for kind in (ec.Position, ec.Velocity)),
    *(lambda _, kind=kind: kind(1, 1) for kind in (ec.Extents, ec.Growth, ec.Acceleration)),
    *(lambda _, kind=kind: kind(1) for kind in (
        ec.Mass, ec.Friction, ec.Restitution, ec.Separate, ec.GravityScale, ec.Damping,
        ec.MaxSpeed, ec.Dominance, ec.Random,
    )),
    lambda _: ec.Mass(math.inf),
    lambda _: ec.LockedAxes(x=True),
    lambda _: ec.Slope("right"),
    lambda _: Path([(0, 0), (9, 9)], 5),
    lambda owner: ec.Attached(owner, (0, 1)),
    lambda _: ec.Attached(99999, (0, 1)),
)  # fmt: skip
BODY = (14, 16)  # the indices of `Position` and `Extents`
NAMES = {Character: "walk", Path: "speed", Zone: "drag"}
WRONG = (math.nan, math.inf, 1e308, -1, 2**70, 10**400, "x", None, 1j)


def leads(component: object) -> bool:
    """Return whether a space that is moved by positions refuses a component."""
    return isinstance(component, (Character, Path, Zone))


def fill(dim: int, size: int, seed: int | None, motion: str, share: int) -> ec.Space:
    """Make an entity for each combination of components; with a seed, one value is wrong."""
    rng = random.Random(seed)
    owner = esper.create_entity(ec.Position(0, -9), ec.Extents(1, 1), ec.Velocity(0, 0))
    space = ec.install(dim=dim, motion=motion)
    usable = [k for k, make in enumerate(MAKERS) if motion == "velocity" or not leads(make(owner))]
    combinations = list(itertools.combinations(usable, size))
    rng.shuffle(combinations)
    for n, each in enumerate(combinations[::share]):
        made = [MAKERS[k](owner) for k in {*each, *(BODY if n % 3 else ())}]
        its = {type(component): component for component in made}
        if ec.Position in its:
            its[ec.Position].set(4.0 * (n % 100), 4.0 * (n // 100))
        if seed is not None:
            component = rng.choice(list(its.values()))
            name = NAMES.get(type(component)) or [*getattr(component, "__match_args__", ()), "x"][0]
            with contextlib.suppress(TypeError, ValueError, AttributeError, OverflowError):
                setattr(component, name, rng.choice(WRONG))
        esper.create_entity(*its.values())
    return space


@pytest.mark.parametrize("motion", ["velocity", "swept"])
@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("size", [2, 3])
def test_doctor_examines_any_combination(size, dim, seed, motion, volume: Volume) -> None:
    space = fill(dim, size, seed, motion, volume(3 if size == 2 else 37, 1 if size == 2 else 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            assert len(space.doctor()) > 0
            try:
                esper.process(1 / 60)
            except (TypeError, AttributeError):  # of a value that is no number
                assert seed is not None
                break
    rng = random.Random(3)
    entities = [entity for entity, _ in esper.get_component(ec.Position)]

    for _ in range(20):
        assert str(space.explain(*rng.sample(entities, 2)))
