"""Two players who race for coins, as a PettingZoo parallel environment.

Its random numbers are a component, and its scores are a dataclass of numbers, so that a snapshot
of the space is all of the game: `clone_state` and `restore_state` are one line each.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import esper
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

import ecs_collide as ec
from demos.app.worlds import delete_world, in_world

SIDE = 20.0
SPEED = 8.0
DT = 1 / 15
LONGEST = 300  # steps
MOVES = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1))
_worlds = itertools.count(1)


@dataclass(slots=True)
class Game:
    """The state of the game besides its bodies."""

    steps: int = 0
    first: int = 0
    second: int = 0


class Duel(ParallelEnv[str, NDArray[np.float32], int]):
    """Two players, pillars between them, and one coin at a time.

    The player that touches the coin gets a reward of 1 and the other one of -1.  They push each
    other.  An episode is truncated after 300 steps.
    """

    metadata: dict[str, Any] = {"name": "ecs_collide_duel_v0", "render_modes": []}  # noqa: RUF012

    def __init__(self) -> None:
        self.possible_agents = ["first", "second"]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: spaces.Box(-1.0, 1.0, (6,), np.float32) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(len(MOVES)) for agent in self.possible_agents}
        self.render_mode = None
        self.world = f"duel {next(_worlds)}"
        with in_world(self.world):
            for sign in (-1, 1):
                wall = sign * (SIDE / 2 + 1)
                esper.create_entity(ec.Position(wall, 0), ec.Extents(1, SIDE / 2 + 2))
                esper.create_entity(ec.Position(0, wall), ec.Extents(SIDE / 2 + 2, 1))
                esper.create_entity(ec.Position(0, sign * 5), ec.Extents(1, 3))
            self._players = [
                esper.create_entity(
                    ec.Position(0, 0), ec.Extents(0.5, 0.5), ec.Velocity(0, 0), ec.Push()
                )
                for _ in self.possible_agents
            ]
            self._coin = esper.create_entity(ec.Position(0, 0), ec.Extents(0.5, 0.5), ec.Sensor())
            self._game, self._random = Game(), ec.Random()
            esper.create_entity(self._game, self._random)
            self.space = ec.install()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of observations: the places of the agent, the other and the coin."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions: stay, or go along an axis."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Start an episode, with a seed or with the next random numbers."""
        if seed is None and self._random.state == 0:
            _, seed = seeding.np_random()
        if seed is not None:
            self._random.state = seed % 2**64
        self.agents = list(self.possible_agents)
        self._game.steps = self._game.first = self._game.second = 0
        with in_world(self.world):
            for player, x in zip(self._players, (-8.0, 8.0), strict=True):
                self._put(player, x, self._random.uniform(-4.0, 4.0))
                self.space.write_velocity(player, (0.0, 0.0))
            esper.process(0.0)  # the query for a free place finds the players where they are now
            self._place_coin()
            return self._observe(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Do a step with the actions of both players."""
        if not self.agents:
            return {}, {}, {}, {}, {}
        with in_world(self.world):
            for agent, player in zip(self.possible_agents, self._players, strict=True):
                x, y = MOVES[int(actions[agent])]
                self.space.write_velocity(player, (SPEED * x, SPEED * y))
            esper.process(DT)
            self._game.steps += 1
            points = self._points()
            if any(points):
                self._game.first += points[0]
                self._game.second += points[1]
                self._place_coin()
            seen = self._observe()
        agents = self.agents
        truncated = self._game.steps >= LONGEST
        if truncated:
            self.agents = []
        return (
            seen,
            {agent: float(points[n] - points[1 - n]) for n, agent in enumerate(agents)},
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, truncated),
            {
                agent: {"coins": (self._game.first, self._game.second)[n]}
                for n, agent in enumerate(agents)
            },
        )

    def _points(self) -> tuple[int, int]:
        """Return the points of the step: for the first player to touch the coin within it."""
        for event in self.space.contacts_began:
            for n, player in enumerate(self._players):
                if {event.first, event.second} == {player, self._coin}:
                    return (1, 0) if n == 0 else (0, 1)
        return 0, 0

    def _place_coin(self) -> None:
        """Move the coin to a free place."""
        while True:
            x, y = (self._random.uniform(-9.0, 9.0) for _ in range(2))
            low, high = (x - 1.5, y - 1.5), (x + 1.5, y + 1.5)
            if not self.space.query(low, high, exclude=self._coin):
                break
        self._put(self._coin, x, y)

    def _put(self, entity: int, x: float, y: float) -> None:
        esper.component_for_entity(entity, ec.Position).set(x, y)

    def observe(self) -> dict[str, NDArray[np.float32]]:
        """Return the present observations of the players, such as after `restore_state`."""
        with in_world(self.world):
            return self._observe()

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        things = [*self._players, self._coin]
        places = [esper.component_for_entity(each, ec.Position).xy for each in things]
        first, second, coin = np.array(places) / (SIDE / 2)
        seen = {"first": (first, second, coin), "second": (second, first, coin)}
        return {
            agent: np.clip(np.concatenate(seen[agent]), -1.0, 1.0).astype(np.float32)
            for agent in self.agents
        }

    # -- cloning --

    def clone_state(self) -> tuple[bytes, list[str]]:
        """Return the state that the next steps depend on."""
        with in_world(self.world):
            return self.space.snapshot(), list(self.agents)

    def restore_state(self, state: tuple[bytes, list[str]]) -> None:
        """Restore a state, even one of another environment."""
        with in_world(self.world):
            self.space.restore(state[0])
        self.agents = list(state[1])

    def close(self) -> None:
        """Delete the world."""
        delete_world(self.world)
