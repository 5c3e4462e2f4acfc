"""Four times as many bodies cost four times as much, whatever they have and whatever a game asks.

Each scene is a cell, repeated along x.  Its cost is the number of lines of Python that run, with
the kernels as pure Python, in a step or while a game asks something about each cell.  So it is
the same on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.scenes import another_world, box, mover

DT = 1 / 60
PITCH = 60.0  # between the cells
FEW, MANY = 36, 144  # cells; recent changes of up to 64 bodies are kept in another form
N_BEFORE = 2  # steps that are not counted
TOLERANCE = 1.2  # trees and queues are deeper among many

Cell = Callable[[float], "int | None"]
CELLS: dict[str, Cell] = {}
# What a game does with the entity that a cell returned; its cost is that of the cell.
DEEDS: dict[str, Callable[[ec.Space, int], object]] = {}
# What there is once, under or around all cells, by the width of the whole.
SHARED: dict[str, Callable[[float], object]] = {}


def cell(make: Cell) -> Cell:
    """Add a cell by the name of its function."""
    CELLS[make.__name__] = make
    return make


def crate(x: float, y: float, *components: object) -> int:
    """Create a crate of half size 3."""
    return mover((x, y), (3, 3), (0, 0), ec.Slide(), *components)


@cell
def ball_between_walls(x):
    box((x - 20, 0), (1, 90))
    box((x + 20, 0), (1, 90))
    mover((x, 0), (3, 3), (2000, 0), ec.Deflect(), ec.GravityScale(0))


@cell
def stack_of_crates(x):
    box((x, -2), (20, 2))
    for k in range(3):
        crate(x + k / 2, 3 + 6 * k, ec.Friction(0.4))


@cell
def row_between_walls(x):
    for k in range(5):
        mover((x - 14 + 6.5 * k, 0), (3, 3), (30 * (-1) ** k, 0), ec.Slide(), ec.GravityScale(0))
    box((x - 20, 0), (2, 9))
    box((x + 18, 0), (2, 9))


@cell
def crates_in_a_valley(x):
    box((x - 15, 0), (15, 10), ec.Slope("left"))
    box((x + 15, 0), (15, 10), ec.Slope("right"))
    crate(x - 3, 5.5)
    crate(x + 3.5, 5.5, ec.Friction(1))


@cell
def riders_of_a_lift(x):
    mover((x, 0), (10, 2), (10, 30), ec.Carry())
    crate(x, 5)
    crate(x, 11)


@cell
def mixed_responses(x):
    box((x, 0), (20, 2))
    for k, response in enumerate((ec.Slide(), ec.Deflect(0.5), ec.Stop(), ec.Push())):
        mover((x - 12 + 8 * k, 5.5 + k), (3, 3), (60 - 40 * k, 0), response, ec.Friction(0.3))


@cell
def growing_and_dominant(x):
    crate(x, 0, ec.Growth(9, 0), ec.GravityScale(0))
    crate(x + 7, 0, ec.Dominance(2), ec.GravityScale(0))
    crate(x + 13, 0, ec.LockedAxes(True, False))


@cell
def soft_crowd(x):
    for k in range(3):
        crate(x + k, k / 2, ec.Separate(2), ec.GravityScale(0))


@cell
def pushed_out(x):
    box((x, 0), (9, 9))
    crate(x + 10, 0, ec.PushOut(30))


@cell
def sensor_with_an_attached_box(x):
    box((x + 9, 0), (9, 9), ec.Sensor())
    owner = crate(x - 8, 0, ec.GravityScale(0))
    esper.create_entity(ec.Extents(4, 2), ec.Attached(owner, (5, 0)), ec.Sensor())


@cell
def crate_on_one_floor(x):
    crate(x, 3, ec.Friction(0.3))


SHARED["crate_on_one_floor"] = lambda width: box((0, -2), (width, 2))


@cell
def crate_on_one_lift(x):
    crate(x, 3, ec.Friction(0.3))


SHARED["crate_on_one_lift"] = lambda width: mover((0, -2), (width, 2), (9, 60), ec.Carry())


@cell
def crate_on_one_slope(x):
    crate(x, x / 2 + 4.5, ec.Friction(0.2))


SHARED["crate_on_one_slope"] = lambda width: box((0, 0), (width, width / 2), ec.Slope("right"))


@cell
def crate_under_one_plate(x):
    crate(x, 3)


SHARED["crate_under_one_plate"] = lambda width: (
    box((0, -2), (width, 2)),
    mover((0, 8), (width, 2), (0, 0), ec.Slide()),
)


def standing(x: float) -> int:
    """Create a floor and a crate on it; return the crate."""
    box((x, -2), (20, 2), ec.OneWay())
    return crate(x, 3)


def asked_for(name: str, deed: Callable[[ec.Space, int], object]) -> None:
    CELLS[name] = standing
    DEEDS[name] = deed


asked_for("is_on", lambda space, entity: space.is_on(entity))
asked_for("contacts", lambda space, entity: space.contacts(entity))
asked_for("load_on", lambda space, entity: space.load_on(entity))
asked_for("collisions_of", lambda space, entity: space.collisions_of(entity))
asked_for("drop_through", lambda space, entity: space.drop_through(entity))
asked_for("teleport", lambda space, entity: space.teleport(entity, space.position_of(entity)))
asked_for("resize", lambda space, entity: space.resize(entity, height=5 + space.time % 2))


def lines_of(step: Callable[[], object]) -> int:
    """Return how many lines of Python a function runs."""
    n = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal n
        n += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    finally:
        sys.settrace(before)
    return n


def cost_of_a_cell(name: str, n: int) -> float:
    """Return the lines that run for each of `n` cells in a world of their own."""
    with another_world(name):
        SHARED.get(name, lambda width: None)(n * PITCH)
        entities = [CELLS[name]((i - n // 2) * PITCH) for i in range(n)]
        space = ec.install(gravity=(0, -400), sleep=False)
        for _ in range(N_BEFORE):
            esper.process(DT)
        if name not in DEEDS:
            return lines_of(lambda: esper.process(DT)) / n
        return lines_of(lambda: [DEEDS[name](space, entity) for entity in entities]) / n


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_costs_the_same_among_four_times_as_many(name, monkeypatch):
    monkeypatch.setattr(backend, "kernels", backend.load(compiled=False))

    assert cost_of_a_cell(name, MANY) < TOLERANCE * cost_of_a_cell(name, FEW)
