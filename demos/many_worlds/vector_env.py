"""Many rooms as a Gymnasium vector environment: one step of one `Space` steps all of them.

Importing this module registers ``ecs_collide/Rooms-v0`` for `gymnasium.make` and, with
``vectorization_mode="vector_entry_point"``, for `gymnasium.make_vec`.

``python -m demos.many_worlds.vector_env --rooms 1024`` measures how many steps of a room it does
in a second.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from gymnasium import Env, register, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from demos.many_worlds.rooms import AGENT_SPEED, DRONE_SPEED, MOVES, SIDE, Bools, Rooms, State

Observations = NDArray[np.float32]


class RoomsEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """Rooms in which an agent goes to a goal between drones.

    A reward of 1 for the goal and of -1 for meeting a drone; both end the episode.  After 150
    steps it is truncated.

    Parameters
    ----------
    num_envs : int
        Number of rooms.
    n_drones : int
        Drones in each room.
    autoreset_mode : AutoresetMode or str
        When a room that is over is reset: by the next step, which is the default, by the same
        step, or only by `reset` with a mask.

    Notes
    -----
    An observation is float32 from -1 to 1: the place of the agent, of the drones and of the goal
    in the room, and then the velocities of the agent and the drones.  The agent's part is 0 or
    the most on each axis.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1024,
        *,
        n_drones: int = 3,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.rooms = Rooms(num_envs, n_drones)
        self.num_envs = num_envs
        self.render_mode = None
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        n_numbers = 2 * (2 + n_drones) + 2 * (1 + n_drones)
        self.single_observation_space = spaces.Box(-1.0, 1.0, (n_numbers,), np.float32)
        self.single_action_space = spaces.Discrete(len(MOVES))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Reset all rooms, or the rooms of ``options["reset_mask"]``.

        Parameters
        ----------
        seed : int or list of int or None, optional
            An int gives room n the seed ``seed + n``, a list each its own.  A room without one
            goes on with its random numbers; before the first seed they come from `np_random`.
        options : dict, optional
            ``reset_mask``: bool (num_envs,).
        """
        mask = np.ones(self.num_envs, bool)
        if options is not None and "reset_mask" in options:
            mask = _checked_mask(options["reset_mask"], self.num_envs)
        if seed is None and self._np_random is None:
            drawn = self.np_random.integers(2**63, size=self.num_envs)
            self.rooms.seed(np.arange(self.num_envs), drawn)
        elif seed is not None:
            super().reset(seed=seed if isinstance(seed, int) else None)
            seeds = [seed + n for n in range(self.num_envs)] if isinstance(seed, int) else seed
            if len(seeds) != self.num_envs:
                raise ValueError(f"reset() got {len(seeds)} seeds for {self.num_envs} rooms")
            for n, each in enumerate(seeds):
                if each is not None and mask[n]:
                    self.rooms.seed(n, each)
        self.rooms.reset(np.flatnonzero(mask))
        self._over[mask] = False
        return self._observe(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], Bools, Bools, dict[str, Any]]:
        """Do a step in all rooms.

        Raises
        ------
        ValueError
            An action is not in the action space, or a room that is over was not reset and
            `autoreset_mode` is ``"Disabled"``.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not self.action_space.contains(actions):
            raise ValueError(f"actions={actions!r} must be {self.num_envs} numbers from 0 to 4")
        before = self._over
        if self.autoreset_mode is AutoresetMode.DISABLED and before.any():
            raise ValueError("step() while rooms are over: call reset with their reset_mask first")
        reached, hit, out_of_time = self.rooms.step(np.where(before, 0, actions))
        if before.any():  # what these did in the step does not count: they begin here
            self.rooms.reset(np.flatnonzero(before))
            for each in (reached, hit, out_of_time):
                each[before] = False
        rewards = reached.astype(np.float64) - hit
        terminated = reached | hit
        over = terminated | out_of_time
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos = self._final(over)
            self.rooms.reset(np.flatnonzero(over))
            over = np.zeros_like(over)
        self._over = over
        return self._observe(), rewards, terminated, out_of_time, infos

    def _observe(self) -> Observations:
        places = self.rooms.places.reshape(self.num_envs, -1) / (SIDE / 2)
        speeds = self.rooms.speeds.reshape(self.num_envs, -1) / max(AGENT_SPEED, DRONE_SPEED)
        numbers = np.concatenate([places, speeds], axis=1)
        seen: Observations = np.clip(numbers, -1.0, 1.0).astype(np.float32)
        return seen

    def _final(self, over: Bools) -> dict[str, Any]:
        """Return the last observations of the rooms that are over, as Gymnasium does it."""
        seen = self._observe()
        final = np.full(self.num_envs, None, dtype=object)
        for n in np.flatnonzero(over).tolist():
            final[n] = seen[n]
        return {"final_obs": final, "_final_obs": over, "final_info": {}, "_final_info": over}

    # -- cloning --

    def clone_state(self) -> tuple[State, Bools]:
        """Return the state that the next steps depend on; `pickle` can store it."""
        return self.rooms.save(), self._over.copy()

    def restore_state(self, state: tuple[State, Bools]) -> Observations:
        """Restore a state, even one of another environment; return the observations."""
        rooms, over = state
        self.rooms.restore(rooms)
        self._over = over.copy()
        return self._observe()

    def close_extras(self, **kwargs: Any) -> None:
        """Delete the world of the rooms."""
        self.rooms.close()


class RoomEnv(Env[Observations, np.int64]):
    """One room, as a plain environment."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, *, n_drones: int = 3) -> None:
        self._rooms = RoomsEnv(1, n_drones=n_drones, autoreset_mode=AutoresetMode.DISABLED)
        self.observation_space = self._rooms.single_observation_space
        self.action_space = self._rooms.single_action_space
        self.render_mode = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Start an episode, with a seed or with the next random numbers."""
        super().reset(seed=seed)
        seen, infos = self._rooms.reset(seed=seed)
        return seen[0], infos

    def step(self, action: np.int64) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Do a step."""
        seen, rewards, terminated, truncated, infos = self._rooms.step(np.array([action]))
        return seen[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), infos

    def close(self) -> None:
        """Delete the world of the room."""
        self._rooms.close()


register(
    "ecs_collide/Rooms-v0",
    entry_point="demos.many_worlds.vector_env:RoomEnv",
    vector_entry_point="demos.many_worlds.vector_env:RoomsEnv",
)


def _checked_mask(mask: object, n: int) -> Bools:
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
        raise ValueError(f"options['reset_mask'] must be an array of {n} bools, not {mask!r}")
    if not mask.any():
        raise ValueError("options['reset_mask'] must have a True: without one, nothing is reset")
    return mask


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the steps of rooms in a second."""
    parser = argparse.ArgumentParser(prog="python -m demos.many_worlds.vector_env")
    parser.add_argument("--rooms", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args(arguments)
    env = RoomsEnv(given.rooms)
    env.reset(seed=0)
    chance = np.random.default_rng(0)
    n_over, times, each = 0, [], 20
    for _ in range(max(1, given.steps // each)):
        actions = chance.integers(0, len(MOVES), (each, given.rooms))
        begin = perf_counter()
        for some in actions:
            _, _, terminated, truncated, _ = env.step(some)
            n_over += int((terminated | truncated).sum())
        times.append((perf_counter() - begin) / each)
    env.close()
    print(f"{given.rooms} rooms, {len(times) * each} steps, {n_over} episodes")
    for name, seconds in (("best", min(times)), ("median", float(np.median(times)))):
        rate = given.rooms / seconds
        print(f"{name:6}  {1e3 * seconds:6.2f} ms a step  {rate:12,.0f} steps of a room a second")


if __name__ == "__main__":
    main()
