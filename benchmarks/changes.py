"""What a change costs: structure, questions by id, paths, zones, attached boxes, characters, loads.

A step should cost what moves, and a change what it changes, whatever the size of the level.  Each
row names its goal.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from itertools import count
from time import process_time
from typing import TYPE_CHECKING

import esper

from benchmarks.scenes import DT

if TYPE_CHECKING:
    import ecs_collide as ec

Rows = list[tuple[str, float, str]]


class Tag:
    """A component of the game."""


def changes(
    tiles: int = 100_000, bodies: int = 3200, cells: int = 400, n: int = 500, frames: int = 40
) -> Rows:
    """Measure all changes; times are CPU times, each the least or the median of some frames."""
    return [
        *_structure(tiles, frames),
        *_calls(),
        _positions(tiles // 10, bodies),
        _first_cell(cells),
        *_extras(n, frames),
        *_characters(n // 5, frames),
        _loads(),
    ]


def _world(name: str) -> None:
    """Begin an empty world."""
    esper.switch_world(f"changes: {name} {next(_numbers)}")


_numbers = count()


def _timed(act: Callable[[], object], then: Callable[[], object], frames: int) -> float:
    """Return the median of the ms of `then`, after `act`."""
    times = []
    for _ in range(frames):
        act()
        before = process_time()
        then()
        times.append((process_time() - before) * 1e3)
    return statistics.median(times)


def _step() -> None:
    esper.process(DT)


def _nothing() -> None:
    """Change nothing."""


def _box(x: float, y: float, half: float, *more: object) -> int:
    import ecs_collide as ec

    return esper.create_entity(ec.Position(x, y), ec.Extents(half, half), *more)


def _shot() -> int:
    import ecs_collide as ec

    return _box(0, -900, 2, ec.Velocity(0, -60), ec.Sensor(), ec.Filter(2, 4))


def _structure(tiles: int, frames: int) -> Rows:
    """Time steps after a change in a level of many fixed bodies."""
    import ecs_collide as ec

    _world("structure")
    level = [_box(20 * (k % 1000), 900 + 20 * (k // 1000), 10, ec.Fixed()) for k in range(tiles)]
    movers = [_box(30 * k, 0, 5, ec.Velocity(k - 5, 0), ec.Sensor()) for k in range(10)]
    space = ec.install()
    for _ in range(5):
        _step()
    shots: list[int] = []

    def delete() -> None:
        esper.delete_entity(shots.pop(), immediate=True)

    def create() -> None:
        if shots:  # that of the frame before, so that each frame has as many movers
            delete()
            _step()
        shots.append(_shot())

    def prepare() -> None:
        shots.append(_shot())
        _step()
        delete()

    acts: list[tuple[str, Callable[[], object], str]] = [
        ("a tag added to a mover", lambda: esper.add_component(movers[0], Tag()), "as quiet"),
        ("an entity without a body", lambda: esper.create_entity(Tag()), "as quiet"),
        ("one body created", create, "0.05"),
        ("one body deleted", prepare, "0.05"),
        ("one tile deleted", lambda: esper.delete_entity(level.pop(), immediate=True), "0.05"),
    ]
    quiet = _timed(_nothing, _step, frames)
    first = _timed(lambda: _box(0, -900, 2, ec.Velocity(0, -60), ec.Sensor()), _step, 1)
    rarer = _timed(lambda: shots.append(_shot()), _step, 1)
    return [
        (f"a quiet step, {tiles:,} fixed bodies (goal 0.011)", quiet, "ms"),
        ("the same, the first body after the level (goal 0.1)", first, "ms"),
        ("the same, the first one with a rarer component (goal 0.1)", rarer, "ms"),
        *((f"the same, {what} (goal {goal})", _timed(act, _step, frames), "ms")
          for what, act, goal in acts),
        *_states(space),
    ]  # fmt: skip


def _states(space: ec.Space) -> Rows:
    """Time states in memory of this world, saved and restored after a change."""

    def come(entity: Callable[[], int]) -> Callable[[], None]:
        def act() -> None:
            entity()
            _step()

        return act

    state = space.save_state()
    quiet = _timed(_step, space.save_state, 9)
    saved = _timed(come(lambda: esper.create_entity(Tag())), space.save_state, 9)
    back = _timed(come(_shot), lambda: space.restore(state), 9)
    return [
        ("the same, save_state", quiet, "ms"),
        ("the same, after an entity came (goal as quiet)", saved, "ms"),
        ("the same, restore of a state from before a body came", back, "ms"),
    ]


def _calls() -> Rows:
    """Count the calls of a step in a small world."""
    import ecs_collide as ec

    _world("calls")
    for k in range(60):
        _box(30 * k, 0, 5, ec.Velocity(k % 7 - 3.5, 0), ec.Sensor())
    live, pool = [_shot() for _ in range(30)], [_shot() for _ in range(3)]
    for body in pool:
        esper.add_component(body, ec.Disabled())
    ec.install()
    for _ in range(20):
        _step()

    def renew() -> None:
        live.append(_shot())
        esper.delete_entity(live.pop(0), immediate=True)

    def switch() -> None:
        body, other = pool.pop(0), live.pop(0)
        esper.component_for_entity(body, ec.Position).set(0, -900)
        esper.remove_component(body, ec.Disabled)
        esper.add_component(other, ec.Disabled())
        live.append(body)
        pool.append(other)

    rows: Rows = []
    for what, act, python, c in (
        ("a quiet step", _nothing, 16, 8),
        ("one created, one deleted", renew, 20, 12),
        ("one on, one off by Disabled", switch, 18, 10),
        ("an entity without a body", lambda: esper.create_entity(Tag()), 16, 8),
    ):
        found = []
        for _ in range(9):
            act()
            found.append(_calls_of_a_step())
        calls = statistics.median_low(found)
        rows.append((f"calls of Python, {what} (goal {python})", calls[0], ""))
        rows.append((f"the same, calls of C (goal {c})", calls[1], ""))
    return rows


def _calls_of_a_step() -> tuple[int, int]:
    """Return the calls of functions of Python and of C in a step."""
    events: list[str] = []
    sys.setprofile(lambda _, event, __: events.append(event))
    _step()
    sys.setprofile(None)
    return events.count("call"), events.count("c_call")


def _positions(tiles: int, bodies: int) -> tuple[str, float, str]:
    import ecs_collide as ec

    _world("positions")
    for k in range(tiles):
        _box(20 * k, 900, 10, ec.Fixed())
    ids = [_box(30 * k, 0, 5, ec.Velocity(1, 0), ec.Sensor()) for k in range(bodies)]
    space = ec.install()
    _step()
    found = _timed(lambda: esper.create_entity(Tag()), lambda: space.positions(ids), 9)
    return (f"space.positions of {bodies:,} ids after a foreign entity (goal 0.15)", found, "ms")


def _first_cell(cells: int) -> tuple[str, float, str]:
    import ecs_collide as ec
    from ecs_collide.levels import from_grid

    _world("cells")
    rows = ["#." * (cells // 2), ".#" * (cells // 2)] * (cells // 2)
    level = from_grid(rows, 10, {"#": {"solid": True}})
    level.create()
    ec.install()
    _step()
    found = _timed(_nothing, lambda: level.set_cell(cells // 2, cells // 2), 1)
    return (f"the first set_cell among {cells * cells // 2:,} tiles (goal 2)", found, "ms")


def _extra(n: int, frames: int, make: Callable[[int], object]) -> float:
    """Return the ms of a step in a world of `n` bodies."""
    import ecs_collide as ec

    _world("extras")
    for k in range(n):
        make(k)
    ec.install(gravity=(0, 0))
    for _ in range(9):
        _step()
    return min(_timed(_nothing, _step, frames) for _ in range(3))


def _extras(n: int, frames: int) -> Rows:
    """Time bodies on paths, bodies in zones and attached boxes, beside others."""
    import ecs_collide as ec

    def mover(k: int, *more: object) -> int:
        return _box(40 * k, 0, 5, ec.Velocity(0, 1), ec.Slide(), *more)

    def lift(k: int) -> None:
        mover(k, ec.Path([(40 * k, 0), (40 * k, 90)], 50))

    def swimmer(k: int) -> None:
        mover(k)
        if k == 0:
            extents = ec.Extents(40 * n, 900)
            esper.create_entity(
                ec.Position(0, 0), extents, ec.Sensor(), ec.Zone(drag=0.001), ec.Fixed()
            )

    def owner(k: int) -> None:
        body = mover(k)
        if k == 0:
            _box(0, 0, 2, ec.Attached(body, (0, 9)))

    plain = _extra(n, frames, mover)
    return [
        ("a body on a Path (goal 0.3)", (_extra(n, frames, lift) - plain) / n * 1e3, "µs"),
        ("a body in a Zone (goal 0.3)", (_extra(n, frames, swimmer) - plain) / n * 1e3, "µs"),
        ("the first Attached box (goal 0.01)", _extra(n, frames, owner) - plain, "ms"),
    ]


def _characters(n: int, frames: int) -> Rows:
    """Time characters that walk on a floor, in a zone and up a slope."""
    import ecs_collide as ec

    def crowd(*more: object, sloped: bool = False) -> float:
        _world("characters")
        width = 40.0 * n
        floor = ec.Position(0, -20), ec.Extents(width, 20), ec.Fixed()
        esper.create_entity(*floor, *([ec.Slope((1, 0))] if sloped else []))
        for component in more:
            zone = ec.Position(0, 100), ec.Extents(width, 100), ec.Sensor(), component, ec.Fixed()
            esper.create_entity(*zone)
        for k in range(n):
            hero = ec.Character()
            hero.walk = 1.0
            x = 40.0 * k - width / 2.0
            body = ec.Position(x, 40.0), ec.Extents(8, 16), ec.Velocity(0, 0), ec.Slide()
            esper.create_entity(*body, hero, ec.Filter(2, 1))
        ec.install(gravity=(0, -900))
        for _ in range(40):
            _step()
        return min(_timed(_nothing, _step, frames) for _ in range(3)) / n * 1e3

    return [
        ("a Character that walks on a floor (goal 1)", crowd(), "µs"),
        ("the same, on a slope (goal 8)", crowd(sloped=True), "µs"),
        ("the same, in a Zone (goal 8)", crowd(ec.Zone(walk=0.9, drag=0.1)), "µs"),
    ]


def _loads(rows: int = 12) -> tuple[str, float, str]:
    """Time `load_on` below a pyramid of crates."""
    import ecs_collide as ec

    _world("loads")
    floor = _box(0, -500, 500, ec.Fixed())
    crates = 0
    for row in range(rows):
        for k in range(rows - row):
            _box(20 * k + 10 * row, 10 + 20 * row, 10, ec.Velocity(0, 0), ec.Slide())
            crates += 1
    space = ec.install(gravity=(0, -900))
    for _ in range(20):
        _step()
    found = _timed(_step, lambda: space.load_on(floor), 5)
    return (f"load_on, for each of {crates} crates (goal 5)", found / crates * 1e3, "µs")
