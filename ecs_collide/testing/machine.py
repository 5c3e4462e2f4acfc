"""A state machine that plays a level at random to find places where it breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import esper
import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ecs_collide.queries.inspection import BodyKind
from ecs_collide.testing.assertions import overlapping_pairs, require_outside
from ecs_collide.testing.failures import failure
from ecs_collide.testing.sim import Sim
from ecs_collide.testing.watch import require_space

LEAST_MOVE = 1e-6  # world units: a body that is closer to its start than this has not moved


def level_machine(
    build: Callable[[], Any],
    inputs: Sequence[str],
    *,
    player: type | None = None,
    bounds: tuple[Sequence[float], Sequence[float]] | None = None,
    stuck_after: float = 2.0,
    most_steps: int = 30,
) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine that presses, releases and waits in a level.

    After each of its rules three things must hold.  No solid body is inside another, no body
    that moves is outside the map, and, when a run ends, the player is not stuck.

    Parameters
    ----------
    build : callable
        Builds the game in the current world, as for `Sim.build`.
    inputs : sequence of str
        The inputs that can be pressed.
    player : type, optional
        The component of the player; without it, being stuck is not checked.
    bounds : (min, max), optional
        Two corners of the map; by default the bounds of all bodies as they are built.
    stuck_after : float
        Seconds.  A player is stuck if none of the inputs, held for this time, moves it.
    most_steps : int
        Steps that one rule waits at most.

    Returns
    -------
    type
        ``TestLevel = level_machine(build, ["left", "right", "jump"]).TestCase`` is a test.
    """

    class LevelMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.sim = Sim()
            self.sim.build(build)
            self.sim.step()
            space = self.sim.space
            self._allowed = {pair for pair, _ in overlapping_pairs(space)}
            mins, maxs = space.boxes()
            corners = (mins.min(axis=0), maxs.max(axis=0)) if bounds is None else bounds
            self._low, self._high = (np.asarray(corner, np.float64) for corner in corners)

        @rule(name=st.sampled_from(list(inputs)))
        def press(self, name: str) -> None:
            self.sim.press(name)

        @rule(name=st.sampled_from(list(inputs)))
        def release(self, name: str) -> None:
            self.sim.release(name)

        @rule(steps=st.integers(1, most_steps))
        def wait(self, steps: int) -> None:
            for _ in range(steps):
                self.sim.step()
                require_outside(self.sim.space, self._allowed)

        @invariant()
        def nobody_is_outside_the_map(self) -> None:
            space = self.sim.space
            mins, maxs = space.boxes()
            moves = space.body_kinds() & BodyKind.DYNAMIC != 0
            n = len(self._low)
            out = (mins[:, :n] < self._low).any(axis=1) | (maxs[:, :n] > self._high).any(axis=1)
            for entity in np.array(space.entities)[moves & out].tolist():
                where = space.bounds(entity)
                raise failure(f"entity {entity} is outside the map, at {where}", space, (entity,))

        def teardown(self) -> None:
            try:
                if player is not None:
                    _require_not_stuck(self.sim, player, inputs, stuck_after)
            finally:
                self.sim.close()

    return LevelMachine


def _require_not_stuck(sim: Sim, kind: type, inputs: Sequence[str], seconds: float) -> None:
    """Raise if no input, held for some time, moves any body that has a component."""
    sim.release(" ".join(inputs))
    start = _places(kind)
    for name in inputs:
        sim.press(name)
        for _ in range(max(1, round(seconds / sim.dt))):
            sim.step()
            if not start or not _is_where(start, _places(kind)):
                sim.release(name)
                return
        sim.release(name)
    names = ", ".join(inputs)
    raise failure(
        f"the player is stuck at {start}: none of {names} moves it in {seconds} s",
        sim.space,
        tuple(start),
    )


def _places(kind: type) -> dict[int, tuple[float, ...]]:
    """Return the centres of the bodies that have a component."""
    found: list[tuple[int, Any]] = esper.get_component(kind)
    entities = [entity for entity, _ in found if esper.entity_exists(entity)]
    centres = require_space().positions(entities)[:, :2].tolist()
    return dict(zip(entities, map(tuple, centres), strict=True))


def _is_where(start: dict[int, tuple[float, ...]], now: dict[int, tuple[float, ...]]) -> bool:
    return start.keys() == now.keys() and all(
        abs(a - b) <= LEAST_MOVE
        for entity, place in start.items()
        for a, b in zip(place, now[entity], strict=True)
    )
