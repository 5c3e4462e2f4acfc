"""Many rooms in one `Space`: in each an agent must reach a goal between drones.

A step of all rooms is one step of the space.  The state of each room is a row of an array, so no
loop over rooms runs in Python.
"""

from __future__ import annotations

import itertools
from contextlib import AbstractContextManager
from typing import NamedTuple

import esper
import numpy as np
from numpy.typing import ArrayLike, NDArray

import ecs_collide as ec
from demos.app.worlds import delete_world, in_world

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

SIDE = 20.0  # of a room, inside
PITCH = 24.0  # from a room to the next: walls are 2 thick
AGENT_SPEED = 8.0
DRONE_SPEED = 6.0
DT = 1 / 15
LONGEST = 150  # steps of an episode
MOVES = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)], float)
"""The moves of an agent: stay, or go along an axis."""

_CELLS = 4  # along a side: in each at most one thing begins
_ON_AGENT, _ON_DRONE, _ON_GOAL = 1, 2, 4  # roles, and categories of filters
_FORWARD = np.uint64(0x9E3779B97F4A7C15)
_worlds = itertools.count(1)


class Randoms:
    """The generator `ecs_collide.Random` for many rooms: row n draws like `Random(states[n])`.

    Attributes
    ----------
    states : uint64 (n,)
    """

    def __init__(self, states: NDArray[np.uint64]) -> None:
        self.states = states

    def draw(self, rows: Longs, n: int) -> Doubles:
        """Return n numbers in [0, 1) for each of some rows, float64 (rows, n)."""
        counts = np.arange(1, n + 1, dtype=np.uint64)
        z = self.states[rows][:, None] + counts * _FORWARD
        self.states[rows] = z[:, -1]
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        numbers: Doubles = (z >> np.uint64(11)) * 2.0**-53
        return numbers


class Outcome(NamedTuple):
    """The results of a step, a row for each room."""

    reached: Bools
    hit: Bools
    out_of_time: Bools


class State(NamedTuple):
    """The state that the next steps depend on; pickle can store it."""

    snapshot: bytes
    random: NDArray[np.uint64]
    steps: Longs
    places: Doubles
    speeds: Doubles


class Rooms:
    """Many rooms, in an esper world that nothing else uses.

    Parameters
    ----------
    n : int
        Number of rooms.
    n_drones : int
        Drones in each room, 0 to 14.
    drone_speed : float
        The largest speed of a drone on an axis, in units per second.

    Attributes
    ----------
    space : Space
    places, speeds : float64 (n, 2 + n_drones, 2), (n, 1 + n_drones, 2)
        The agent, the drones and the goal (which has no speed), from the centre of their room.
    steps : int64 (n,)
        Steps since the room was reset.
    """

    def __init__(self, n: int, n_drones: int = 3, drone_speed: float = DRONE_SPEED) -> None:
        if n < 1 or not 0 <= n_drones <= _CELLS**2 - 2:
            raise ValueError(
                f"Rooms({n}, n_drones={n_drones}) must have 1 room or more, and 0 to "
                f"{_CELLS**2 - 2} drones in each"
            )
        self.n = n
        self.drone_speed = drone_speed
        self.world = f"many worlds {next(_worlds)}"
        across = int(np.ceil(np.sqrt(n)))
        rows = np.arange(n)
        self._centres = PITCH * np.stack([rows % across, rows // across], axis=1)
        self._random = Randoms(np.zeros(n, np.uint64))
        self.steps = np.zeros(n, np.int64)
        self.places = np.zeros((n, 2 + n_drones, 2))
        self.speeds = np.zeros((n, 1 + n_drones, 2))
        with self.current():
            movers = [[self._agent(), *(self._drone() for _ in range(n_drones))] for _ in rows]
            goals = [self._goal() for _ in rows]
            for centre in self._centres:
                self._walls(*centre)
            self.space = ec.install()
            self._movers = np.array(movers)
            self._things = np.concatenate([self._movers, np.array(goals)[:, None]], axis=1)
            self._room_of, self._role_of = self._index()
        self.reset(range(n))

    # -- the contents of a room --

    def _agent(self) -> int:
        parts = ec.Position(0, 0), ec.Extents(0.5, 0.5), ec.Velocity(0, 0), ec.Slide()
        return esper.create_entity(*parts, ec.Filter(_ON_AGENT))

    def _drone(self) -> int:
        parts = ec.Position(0, 0), ec.Extents(0.5, 0.5), ec.Velocity(0, 0), ec.Deflect()
        return esper.create_entity(*parts, ec.Filter(_ON_DRONE, ~_ON_GOAL))

    def _goal(self) -> int:
        filtered = ec.Filter(_ON_GOAL, _ON_AGENT)
        parts = ec.Position(0, 0), ec.Extents(0.75, 0.75), ec.Sensor(), ec.Fixed()
        return esper.create_entity(*parts, filtered)

    def _walls(self, x: float, y: float) -> None:
        middle, half = (SIDE + PITCH) / 4, (PITCH - SIDE) / 4
        for sign in (-1, 1):
            for place, size in (
                (ec.Position(x + sign * middle, y), ec.Extents(half, PITCH / 2)),
                (ec.Position(x, y + sign * middle), ec.Extents(PITCH / 2, half)),
            ):
                esper.create_entity(place, size, ec.Fixed())

    def _index(self) -> tuple[Longs, Longs]:
        """Return the room and the role of each entity, by its id."""
        n_ids = max(esper.get_entities()) + 1
        rooms, roles = np.full(n_ids, -1), np.zeros(n_ids, np.int64)
        rooms[self._things] = np.arange(self.n)[:, None]
        roles[self._things] = _ON_DRONE
        roles[self._things[:, 0]], roles[self._things[:, -1]] = _ON_AGENT, _ON_GOAL
        return rooms, roles

    # -- playing --

    def current(self) -> AbstractContextManager[None]:
        """Make their world the current one within a block."""
        return in_world(self.world)

    def seed(self, rooms: ArrayLike, seeds: ArrayLike) -> None:
        """Give rooms the seeds of their random numbers, whole numbers below 2**64."""
        self._random.states[np.asarray(rooms)] = np.asarray(seeds, np.uint64)

    def reset(self, rooms: ArrayLike) -> None:
        """Place everything in some rooms by their random numbers."""
        rows = np.asarray(rooms, np.int64)
        if not len(rows):
            return
        n_things, n_movers = self._things.shape[1], self._movers.shape[1]
        drawn = self._random.draw(rows, _CELLS**2 + 2 * n_things + 2 * n_movers)
        keys, jitter, speeds = np.split(drawn, [_CELLS**2, _CELLS**2 + 2 * n_things], axis=1)
        cells = np.argsort(keys, axis=1, kind="stable")[:, :n_things]
        corners = np.stack([cells % _CELLS, cells // _CELLS], axis=2)
        size = SIDE / _CELLS
        jitter = jitter.reshape(len(rows), n_things, 2) * 2.0 - 1.0
        self.places[rows] = (corners + 0.5) * size - SIDE / 2 + jitter * (size / 2 - 1.0)
        speeds = speeds.reshape(len(rows), n_movers, 2) * 2.0 - 1.0
        self.speeds[rows] = speeds * self.drone_speed
        self.speeds[rows, 0] = 0.0
        self.steps[rows] = 0
        with self.current():
            where = self.places[rows] + self._centres[rows, None]
            self.space.set_positions(self._things[rows].ravel(), where.reshape(-1, 2))
            self.space.set_velocities(self._movers[rows].ravel(), self.speeds[rows].reshape(-1, 2))

    def step(self, moves: ArrayLike) -> Outcome:
        """Do a step in all rooms, with the number of an agent's move in `MOVES` for each."""
        with self.current():
            self.space.set_velocities(self._movers[:, 0], MOVES[np.asarray(moves)] * AGENT_SPEED)
            esper.process(DT)
            movers = self._movers.ravel()
            where = self.space.positions(movers).reshape(self.speeds.shape)
            self.speeds = self.space.velocities(movers).reshape(self.speeds.shape)
        self.places[:, :-1] = where - self._centres[:, None]
        self.steps += 1
        began = self.space.contact_array
        began = began[began["event"] == ec.BEGAN]
        hit = self._rooms_with(self.space.collision_array, _ON_AGENT | _ON_DRONE)
        reached = self._rooms_with(began, _ON_AGENT | _ON_GOAL) & ~hit
        return Outcome(reached, hit, (self.steps >= LONGEST) & ~hit & ~reached)

    def _rooms_with(self, events: NDArray[np.void], roles: int) -> Bools:
        """Return which rooms have an event between things of these two roles."""
        first, second = events["first"], events["second"]
        there = np.zeros(self.n, bool)
        there[self._room_of[first[self._role_of[first] | self._role_of[second] == roles]]] = True
        return there

    # -- cloning --

    def save(self) -> State:
        """Return the state that the next steps depend on."""
        with self.current():
            data = self.space.snapshot()
        random, steps = self._random.states.copy(), self.steps.copy()
        return State(data, random, steps, self.places.copy(), self.speeds.copy())

    def restore(self, state: State) -> None:
        """Restore a state, even one of other rooms with the same settings."""
        with self.current():
            self.space.restore(state.snapshot)
        self._random.states = state.random.copy()
        self.steps = state.steps.copy()
        self.places, self.speeds = state.places.copy(), state.speeds.copy()

    def close(self) -> None:
        """Delete the world."""
        delete_world(self.world)


def head_for_goal(rooms: Rooms) -> Longs:
    """Return the moves of agents that go straight to their goals, along the longer axis first."""
    left = rooms.places[:, -1] - rooms.places[:, 0]
    along_x = np.abs(left[:, 0]) >= np.abs(left[:, 1])
    moves: Longs = np.where(along_x, np.where(left[:, 0] > 0, 1, 3), np.where(left[:, 1] > 0, 2, 4))
    return moves
