"""Assertions about what happened in a step, and about stretches of steps.

Assertions about a stretch are context managers. They check the world after each `esper.process`
within their block, from any caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import esper
import numpy as np
from numpy.typing import NDArray

from ecs_collide.components.slope import Slope
from ecs_collide.diagnostics.explain import Verdict
from ecs_collide.events import Collision
from ecs_collide.extend import contacts_of_step
from ecs_collide.queries.inspection import BodyKind
from ecs_collide.space import Space
from ecs_collide.testing.checks import Recordings
from ecs_collide.testing.failures import failure
from ecs_collide.testing.selectors import Selector, bodies_named, name_of, selects
from ecs_collide.testing.sim import DT, current_sim
from ecs_collide.testing.watch import require_space, watch

TOUCH_SLOP = 4 * 2.0**-44  # times the largest coordinate: the widest gap that counts as touching
Corner = NDArray[np.float64]
_KEPT_STEPS = 120  # steps of a recording that an assertion makes
_CHUNK = 256  # bodies that are compared with all others at once
_MAY_OVERLAP = BodyKind.SENSOR | BodyKind.ONE_WAY | BodyKind.QUARANTINED | BodyKind.DISABLED


def assert_hit(
    first: Selector,
    second: Selector,
    *,
    at: Any = None,
    normal: Sequence[float] | None = None,
    space: Space | None = None,
) -> Collision:
    """Assert that two bodies collided in the last step; return the collision.

    Parameters
    ----------
    first, second : int, type or None
        An entity, a component that it has, or None for any body.
    at : float, optional
        The time of the collision as a fraction of the step; any object that compares, such as
        `pytest.approx`.
    normal : sequence of float, optional
        The direction in which `first` is pushed: the unit vector from the second body towards
        the first.
    space : Space, optional
        By default the space of the current world.

    Raises
    ------
    AssertionError
        There was no such collision.
    """
    __tracebackhide__ = True
    space = require_space(space)
    met = [
        event
        for collision in space.collisions
        for event in (collision, collision.swapped())
        if selects(first, event.first) and selects(second, event.second)
    ]
    wanted = None if normal is None else tuple(float(part) for part in normal)
    for event in met:
        if (at is None or event.time == at) and wanted in (None, event.normal):
            return event
    who = f"{name_of(first)} and {name_of(second)}"
    pair = bodies_named(space, first, second)
    if met:
        found = "; ".join(f"at {event.time!r} with normal {event.normal}" for event in met)
        raise failure(f"{who} met {found}, and not at {at} with normal {wanted}", space, pair)
    raise failure(f"{who} did not meet in the last step", space, pair)


def assert_reaches(
    entity: int,
    box: tuple[Sequence[float], Sequence[float]],
    within: int,
    *,
    step: Callable[[], object] | None = None,
) -> int:
    """Do steps until a body touches a box; return how many it took.

    Parameters
    ----------
    entity : int
    box : (min, max)
        Two corners, in world units.
    within : int
        Steps.
    step : callable, optional
        Does a step; by default the running `Sim`, or ``esper.process(1 / 60)``.

    Raises
    ------
    AssertionError
        It did not reach the box, or was deleted on the way.
    """
    __tracebackhide__ = True
    sim = current_sim()
    advance = step or (sim.step if sim is not None else lambda: esper.process(DT))
    space = require_space()
    low, high = (np.asarray(corner, np.float64) for corner in box)
    nearest = float("inf")
    for n in range(within + 1):
        if not esper.entity_exists(entity):
            raise failure(
                f"entity {entity} was deleted after {n} steps, before it reached {box}", space
            )
        mins, maxs = (np.array(corner) for corner in space.bounds(entity))
        gap = float(np.maximum(low - maxs, mins - high).max())
        if gap <= 0.0:
            return n
        nearest = min(nearest, gap)
        if n < within:
            advance()
    raise failure(
        f"entity {entity} does not reach {box} within {within} steps: "
        f"it is {gap:.6g} away, and was never nearer than {nearest:.6g}",
        space,
        (entity,),
    )


class _Stretch(Recordings):
    """A recorder of the steps of a block, which checks the world after each."""

    def __init__(self, look: Callable[[Space], None]) -> None:
        super().__init__(_KEPT_STEPS)
        self._look = look

    def after(self, space: Space, dt: float) -> None:
        super().after(space, dt)
        self._look(space)


@contextmanager
def _looking(name: str, look: Callable[[Space], None]) -> Iterator[None]:
    """Check the world after each step of a block, which must do at least one."""
    __tracebackhide__ = True
    stretch = _Stretch(look)
    end = watch(stretch)
    try:
        yield
    finally:
        end()
        stretch.finish()
    if stretch.n_checks == 0:
        raise AssertionError(
            f"{name}: no step was done in its block, so nothing was tested: "
            "call esper.process() or sim.step() in it"
        )


@contextmanager
def assert_never_inside(
    first: Selector = None, second: Selector = None, *, space: Space | None = None
) -> Iterator[None]:
    """Assert for each step of a block that no solid body is inside another.

    Bodies that are inside each other at its beginning are ignored, and so are pairs that may
    pass through each other: sensors, one-way platforms, filtered pairs, soft crowds.

    Parameters
    ----------
    first, second : int, type or None
        Only pairs of these: an entity, a component that it has, or None for any body.
    space : Space, optional
        By default the space of the current world.

    Raises
    ------
    AssertionError
        Two bodies are inside each other; or the block did no step.

    Examples
    --------
    >>> with assert_never_inside(Player, Wall):  # doctest: +SKIP
    ...     sim.hold("right", 120)
    """
    __tracebackhide__ = True
    start = require_space(space)
    allowed = {pair for pair, _ in overlapping_pairs(start)}

    def look(now: Space) -> None:
        __tracebackhide__ = True
        if now is start:
            require_outside(now, allowed, first, second)

    with _looking("assert_never_inside", look):
        yield


def require_outside(
    space: Space,
    allowed: set[tuple[int, int]],
    first: Selector = None,
    second: Selector = None,
) -> None:
    """Raise AssertionError if two solid bodies are inside each other now."""
    __tracebackhide__ = True
    for pair, depth in overlapping_pairs(space):
        if pair in allowed or not _is_pair_of(pair, first, second):
            continue
        if space.explain(*pair).verdict is not Verdict.SOLID:
            continue
        raise failure(
            f"entities {pair[0]} and {pair[1]} are {depth!r} inside each other", space, pair
        )


def _is_pair_of(pair: tuple[int, int], first: Selector, second: Selector) -> bool:
    one, other = pair
    return (selects(first, one) and selects(second, other)) or (
        selects(first, other) and selects(second, one)
    )


def overlapping_pairs(space: Space) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the pairs whose boxes overlap by more than the slop, with the depth; no sensors.

    Every box is compared with every moving box, without the tree.
    """
    mins, maxs = space.boxes()
    kinds = space.body_kinds()
    ids = np.array(space.entities, np.int64)
    solid = kinds & _MAY_OVERLAP == 0
    ids, mins, maxs, kinds = ids[solid], mins[solid], maxs[solid], kinds[solid]
    reach = np.maximum(np.abs(mins), np.abs(maxs))
    movers = np.flatnonzero(kinds & BodyKind.MOVES)
    for begin in range(0, len(movers), _CHUNK):
        some = movers[begin : begin + _CHUNK]
        gaps = np.maximum(mins[some, None] - maxs, mins - maxs[some, None])
        slop = TOUCH_SLOP * np.maximum(reach[some, None], reach)
        depths = (-gaps).min(axis=2)
        rows, others = np.nonzero((gaps < -slop).all(axis=2))
        for row, other in zip(rows.tolist(), others.tolist(), strict=True):
            one, two = int(ids[some[row]]), int(ids[other])
            if one < two or (two < one and not kinds[other] & BodyKind.MOVES):
                depth = float(depths[row, other])
                for slope, box in ((two, some[row]), (one, other)):
                    if space.world.component(slope, Slope):
                        depth = min(depth, _depth_in(space, slope, mins[box], maxs[box]))
                if depth > slop[row, other].max():
                    yield (min(one, two), max(one, two)), depth


def _depth_in(space: Space, entity: int, low: Corner, high: Corner) -> float:
    """Return how deep a box is inside a body."""
    centre, half = low / 2 + high / 2, high / 2 - low / 2
    hit = space.cast_box(centre, half, 0 * half, filter=lambda other: other == entity)
    return 0.0 if hit is None else hit.depth


@contextmanager
def assert_contacts_balanced(space: Space | None = None) -> Iterator[None]:
    """Assert for a block that each contact that ends had begun, and begins once.

    Raises
    ------
    AssertionError
        A contact begins twice or ends without a start; `Space.contacts` differs from the
        contacts that have begun and not ended; or the block did no step.
    """
    __tracebackhide__ = True
    start = require_space(space)
    if start.wrap is not None:
        raise ValueError(
            "assert_contacts_balanced() is for worlds without wrap: across the edge the same "
            "two bodies may have several contacts"
        )
    is_open = {(contact.first, contact.second) for contact in contacts_of_step(start)}

    def look(now: Space) -> None:
        __tracebackhide__ = True
        if now is not start:
            return
        for row in now.contact_array:
            pair = int(row["first"]), int(row["second"])
            words = f"the contact of {pair[0]} and {pair[1]}"
            if row["event"] == 0:
                if pair in is_open:
                    raise failure(f"{words} began twice", now, pair)
                is_open.add(pair)
            elif pair not in is_open:
                raise failure(f"{words} ended, and had not begun", now, pair)
            else:
                is_open.remove(pair)
        listed = {(contact.first, contact.second) for contact in contacts_of_step(now)}
        for pair in sorted(listed ^ is_open):
            sides = ("is listed", "did not begin") if pair in listed else ("began", "is not listed")
            raise failure(
                f"the contact of {pair[0]} and {pair[1]} {sides[0]} and {sides[1]}", now, pair
            )

    with _looking("assert_contacts_balanced", look):
        yield
