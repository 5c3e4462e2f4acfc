"""Search the inputs that bring a player to a goal, and the places where the player can stand.

The search saves the game at each *moment* that differs from all earlier ones, and continues from
there with each of the inputs, held for some steps.  It is A* (Hart, Nilsson and Raphael, "A Formal
Basis for the Heuristic Determination of Minimum Cost Paths", 1968).  It prefers the moments from
which the goal may be reached in the fewest steps, at the highest speed that it has seen.

A player that must wait for a lift can be in thousands of other moments meanwhile, and A* tries them
all before the shortest tape is known.  So a first search finds some tape.  It prefers the moments
that are nearest to the goal (Pohl, "Heuristic Search Viewed as Path Finding in a Graph", 1970).  A
second one looks for shorter tapes, within a limit.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import esper
import numpy as np
from numpy.typing import NDArray

from ecs_collide.queries.inspection import BodyKind
from ecs_collide.testing.memory import Memory
from ecs_collide.testing.selectors import Selector, having, name_of
from ecs_collide.testing.sim import Sim

Box = tuple[Sequence[float], Sequence[float]]
Goal = Box | Selector | Callable[[], object]
Boxes = tuple[NDArray[np.float64], NDArray[np.float64]]  # min and max corners, (n, dim)

Doubles = NDArray[np.float64]

LONGEST = 20  # times `hold`: how long an input is held while the player does not leave its cell
HASTE = 30.0  # the weight of a step to the goal in the first search; of one taken it is 1
SHORTER = 250  # moments in which the second search looks for a shorter tape
ABOVE = 8  # times the player's size: how far above the level it is followed; elsewhere once


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The result of a search; true if the goal was reached.

    Attributes
    ----------
    tape : list of (str, int), or None
        The inputs that lead to the goal, a script for `Sim.play`; None if it was not reached.
    places : array (n, dim)
        Where the player has stood on something: its centre, once for each cell.
    is_shortest : bool
        Whether no shorter tape exists, to within `hold` steps, among those that the cells tell
        apart.  False if that would have taken more than 250 moments to find out.
    is_complete : bool
        Whether the search ended with the goal, or because there was nothing more to try.
    n_moments : int
        The moments from which the search has continued.
    nearest : float
        How close the player came to the goal, in world units; inf without a box to come to.
    """

    tape: list[tuple[str, int]] | None
    places: NDArray[np.float64]
    is_shortest: bool
    is_complete: bool
    n_moments: int
    nearest: float
    _seeks: bool = True  # whether there was a goal

    def __bool__(self) -> bool:
        return self.tape is not None

    def __repr__(self) -> str:
        if not self._seeks:
            so_far = "" if self.is_complete else " so far"
            return f"<Reach: {len(self.places)} places{so_far}; {self.n_moments} moments>"
        if self.tape is not None:
            words = f"reached in {sum(n for _, n in self.tape)} steps"
        else:
            words = "not reached" if self.is_complete else "not reached yet"
            if self.nearest < np.inf:
                words += f", {self.nearest:.6g} away"
        return f"<Reach: {words}; {self.n_moments} moments, {len(self.places)} places>"


def reach(
    sim: Sim,
    player: int | type,
    goal: Goal = None,
    inputs: Iterable[str] = ("left", "right", "jump", "left jump", "right jump"),
    *,
    start: Sequence[float] | None = None,
    hold: int = 6,
    cell: float | None = None,
    key: Callable[[], Hashable] | None = None,
    bounds: Box | None = None,
    at_most: int = 20_000,
) -> Reach:
    """Search how a player gets from here to a goal; afterwards the game is as it was before.

    A tape that it finds proves that the goal can be reached.  That it finds none proves less.
    A smaller `cell` and a shorter `hold` search more finely, and take longer.

    Parameters
    ----------
    sim : Sim
        The game, at the moment where the search begins.
    player : int or type
        The player's entity, or its component.  Moments without a player are not continued.
    goal : (min, max), int, type or callable, optional
        A box to touch by its corners, a body to touch by its entity or component, or a function
        that returns a true value at the goal.  By default all places are searched.
    inputs : iterable of str
        What can be pressed at a time, as for `Sim.hold`; nothing pressed is always tried.
    start : sequence of float, optional
        A centre to which the player is moved first.
    hold : int
        Steps for which an input is held.
    cell : float, optional
        World units.  Two moments are the same if the player is in the same cell, moves by the same
        number of cells while an input is held, and stands or does not stand.  By default the
        player's smallest size.
    key : callable, optional
        What else two moments must have in common, such as ``lambda: game.has_key``.  By default the
        number of bodies, and the cells of all others that move.
    bounds : (min, max), optional
        Two corners of the area in which the player is followed.  By default that of all bodies,
        with eight times the player's size above it, and once its size around it.
    at_most : int
        The most moments to continue from.

    Returns
    -------
    Reach
        Its tape is the shortest if that takes at most 250 moments to find out.

    Raises
    ------
    AssertionError
        The game holds an object that cannot be restored; the message names its type.
    ValueError
        There is no player, or not exactly one; or `hold`, `cell` or `at_most` is not above 0.

    Examples
    --------
    >>> found = reach(sim, Player, Door)  # doctest: +SKIP
    >>> sim.play(found.tape)  # doctest: +SKIP
    """
    __tracebackhide__ = True
    for name, value in (("hold", hold), ("cell", cell), ("at_most", at_most)):
        if value is not None and not value > 0:
            raise ValueError(f"reach({name}={value!r}) must be above 0")
    found = sorted(having(player)) if isinstance(player, type) else [player]
    found = [entity for entity in found if entity in sim.space]
    if len(found) != 1:
        many = f"{len(found)} bodies are" if found else "no body is"
        raise ValueError(
            f"reach(): {many} the player, {name_of(player)}; "
            "there must be exactly one, and the game must have done a step"
        )
    packages = {player.__module__.partition(".")[0]} if isinstance(player, type) else set()
    roots = [root for root in (sim.game, sim.inputs) if root is not None]
    memory = Memory(sim.space, roots, packages)
    memory.require(0, "reach()")
    search = _Search(sim, player, goal, list(dict.fromkeys(("", *inputs))), hold, key, memory)
    search.measure(found[0], cell, bounds)

    def run(at_most: int, haste: float, bound: float) -> Reach:
        try:
            if start is not None:
                sim.space.teleport(found[0], start)
            return search.run(at_most, haste, bound)
        finally:
            memory.bring_back(0)

    if search.boxes is None:
        return run(at_most, 1.0, np.inf)
    first = run(at_most, HASTE, np.inf)
    if not first.tape:
        return first
    second = run(SHORTER, 1.0, sum(n for _, n in first.tape))
    return replace(
        second,
        tape=first.tape if second.tape is None else second.tape,
        is_complete=True,
        n_moments=first.n_moments + second.n_moments,
        nearest=first.nearest,
    )


@dataclass(slots=True)
class _Moment:
    """A moment that the search has saved, and how it was reached."""

    before: int  # the number of the moment before it; 0 for the first one
    names: str  # the inputs that were held
    n_steps: int  # from the beginning
    gap: Doubles  # from the player to the goal, on each axis: negative to the left and down
    place: tuple[float, ...]  # of the player
    key: Hashable


class _Search:
    """A search; moments are numbered from 1."""

    def __init__(
        self,
        sim: Sim,
        player: int | type,
        goal: Goal,
        inputs: Sequence[str],
        hold: int,
        key: Callable[[], Hashable] | None,
        memory: Memory,
    ) -> None:
        self.sim, self.space, self.memory = sim, sim.space, memory
        self.player, self.inputs, self.hold = player, inputs, hold
        # One of these two, or none: the boxes to touch, or the question whether it is there.
        self.boxes: Callable[[], Boxes] | None = None
        self.ask: Callable[[], object] | None = None
        if isinstance(goal, (int, type)):
            self.boxes = lambda: self.space.boxes(self._bodies_of(goal))
        elif callable(goal):
            self.ask = goal
        elif goal is not None:
            low, high = (np.array([corner], np.float64) for corner in goal)
            self.boxes = lambda: (low, high)
        self.more = key or self._others
        self.places: dict[Hashable, tuple[float, ...]] = {}
        # Of the player, in units per step: to the left and down, to the right and up.
        self.fastest = np.full((2, self.space.dim), 2.0**-100)
        self.nearest = np.inf

    def measure(self, entity: int, cell: float | None, bounds: Box | None) -> None:
        """Find the size of a cell, and the area in which the player is followed."""
        low, high = self.space.boxes([entity])
        self.cell = float((high - low).min()) if cell is None else cell
        if bounds is None:
            mins, maxs = self.space.boxes()
            size, up = (high - low).max(), np.array(self.space.up[: self.space.dim])
            lowest, highest = mins.min(axis=0), maxs.max(axis=0)
            lowest += size * np.where(up < 0, -ABOVE, -1)
            highest += size * np.where(up > 0, ABOVE, 1)
            bounds = lowest, highest
        self.low, self.high = (np.asarray(corner, np.float64) for corner in bounds)

    def run(self, at_most: int, haste: float, bound: float) -> Reach:
        """Search from the present moment until the goal is reached, in less steps than `bound`.

        `haste` is the weight of the steps to the goal; with 1 the tape is the shortest.
        """
        self.haste = haste
        self.moments: list[_Moment] = []
        self.known: set[Hashable] = set()
        self.waiting: list[tuple[float, int]] = []  # a heap, by the estimated steps to the goal
        n_tried = 0
        is_there = self._keep(0, "", 0)
        while self.waiting and not is_there and n_tried < at_most:
            estimate, n = heapq.heappop(self.waiting)
            if estimate >= bound:
                self.waiting.clear()
                break
            n_tried += 1
            is_there = any(self._hold(n, names) for names in self.inputs)
            self.memory.forget(n)
        is_shorter = is_there and self.moments[-1].n_steps < bound
        return Reach(
            self._tape() if is_shorter else None,
            np.array([*self.places.values()]).reshape(-1, self.space.dim),
            haste == 1.0 and (is_there or not self.waiting),
            is_there or not self.waiting,
            n_tried,
            self.nearest,
            self.boxes is not None or self.ask is not None,
        )

    def _hold(self, n: int, names: str) -> bool:
        """Hold inputs from a moment on; return whether that reaches the goal.

        They are held on while the player moves and has not left its cell.
        """
        moment = self.moments[n - 1]
        self.memory.bring_back(n)
        self.sim.press(names)
        n_steps, is_over, place, last = 0, False, moment.place, None
        while not is_over and (place != last or n_steps < self.hold):
            self.sim.advance()
            n_steps += 1
            entity = self._find_player()
            is_over = entity < 0 or self._is_there(self._gap(entity))
            if not is_over and n_steps % self.hold == 0:
                last, place = place, self._place_of(entity)
                is_over = self._key(entity) != moment.key or n_steps == LONGEST * self.hold
        self.sim.release(names)
        return self._keep(n, names, moment.n_steps + n_steps)

    def _keep(self, before: int, names: str, n_steps: int) -> bool:
        """Save the present moment if it is a new one; return whether it is at the goal."""
        entity = self._find_player()
        if entity < 0:
            return False
        gap, place, key = self._gap(entity), self._place_of(entity), self._key(entity)
        moment = _Moment(before, names, n_steps, gap, place, key)
        if self.boxes is not None:
            self.nearest = min(self.nearest, float(np.abs(gap).max()))
        if self._is_there(gap):
            self.moments.append(moment)
            return True
        if key in self.known:
            return False
        self.known.add(key)
        if self.space.is_on(entity) is not None:
            self.places.setdefault(tuple(part // self.cell for part in place), place)
        self.moments.append(moment)
        self.memory.take(len(self.moments))
        self._queue(len(self.moments), self.space.velocities([entity])[0] * self.sim.dt)
        return False

    def _place_of(self, entity: int) -> tuple[float, ...]:
        return tuple(self.space.positions([entity])[0].tolist())

    def _key(self, entity: int) -> Hashable:
        """Return what two moments have in common if they are the same to the search."""
        speed = self.hold * self.sim.dt / self.cell  # cells in a hold, for a unit per second
        return (
            *(part // self.cell for part in self._place_of(entity)),
            *(round(part * speed) for part in self.space.velocities([entity])[0].tolist()),
            self.space.is_on(entity) is not None,
            self.more(),
        )

    def _queue(self, n: int, speed: Doubles) -> None:
        """Continue from a moment later on, the earlier the sooner it may reach the goal."""
        heapq.heappush(self.waiting, (self._estimate(n), n))
        speeds = np.array([-speed, speed])
        if (speeds > self.fastest).any():
            self.fastest = np.maximum(self.fastest, speeds)
            self._sort()

    def _sort(self) -> None:
        """Estimate all moments again."""
        self.waiting = [(self._estimate(n), n) for _, n in self.waiting]
        heapq.heapify(self.waiting)

    def _estimate(self, n: int) -> float:
        """Return in how many steps from the beginning a moment may reach the goal."""
        moment = self.moments[n - 1]
        left, right = self.fastest
        n_left = float(np.maximum(-moment.gap / left, moment.gap / right).max())
        return moment.n_steps + self.haste * n_left

    def _find_player(self) -> int:
        """Return the entity of the player, or -1 if there is none within the area."""
        player = self.player
        entity = min(having(player), default=-1) if isinstance(player, type) else player
        if entity not in self.space or not esper.entity_exists(entity):
            return -1
        place = self.space.positions([entity])[0]
        return entity if (self.low <= place).all() and (place <= self.high).all() else -1

    def _bodies_of(self, goal: int | type) -> list[int]:
        """Return the bodies, one of which must be touched."""
        bodies = having(goal) if isinstance(goal, type) else {goal}
        return [body for body in sorted(bodies) if body in self.space]

    def _gap(self, entity: int) -> Doubles:
        """Return the way from the player to the goal on each axis; 0 if the goal is no box."""
        if self.boxes is None:
            return np.zeros(self.space.dim)
        low, high = self.boxes()
        near, far = map(np.array, self.space.bounds(entity))
        gaps = np.maximum(low - far, 0.0) - np.maximum(near - high, 0.0)
        if not len(gaps):
            return np.full(len(near), np.inf)
        nearest: Doubles = gaps[np.abs(gaps).max(axis=1).argmin()]
        return nearest

    def _is_there(self, gap: Doubles) -> bool:
        """Return whether the player, with this gap, is at the goal."""
        if self.boxes is not None:
            return not gap.any()
        return self.ask is not None and bool(self.ask())

    def _others(self) -> Hashable:
        """Return the number of bodies, and the cells of those that move but for the player."""
        moves = self.space.body_kinds() & BodyKind.MOVES != 0
        others = np.array(self.space.entities)[moves]
        others = others[others != self._find_player()]
        cells = np.floor(self.space.positions(others) / self.cell) + 0.0
        return len(self.space), cells.tobytes()

    def _tape(self) -> list[tuple[str, int]]:
        """Return the inputs that led to the last moment; the same ones in a row are joined."""
        tape: list[tuple[str, int]] = []
        moment = self.moments[-1]
        while moment.before:
            before = self.moments[moment.before - 1]
            n_steps = moment.n_steps - before.n_steps
            if tape and tape[-1][0] == moment.names:
                n_steps += tape.pop()[1]
            tape.append((moment.names, n_steps))
            moment = before
        return tape[::-1]
