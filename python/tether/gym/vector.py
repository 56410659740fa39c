"""Many environments in one batch, as Gymnasium's `VectorEnv`."""
from __future__ import annotations

import os
from typing import Any, NoReturn, Sequence

import numpy as np
from numpy.typing import NDArray

import tether
from tether.gym import interface
from tether.gym.episodes import Episodes, check_render_mode, checked_options, resolved, whole
from tether.gym.task import Flags, Floats, Task
from tether.gym.task_file import load_task

Observations = NDArray[np.float32]
Step = tuple[Observations, Floats, Flags, Flags, dict[str, Any]]


class VectorEnv(interface.VectorEnv):
    """A task in `num_envs` simulations that step together, on `threads` threads (0: as many as processors).

    An environment whose episode ended is reset by the next step (AutoresetMode.NEXT_STEP): that step ignores its action and gives
    its first observation, reward 0 and neither end. The bits of an environment depend on its seed alone, neither on `num_envs` nor
    on `threads`; they are those of an Env.

    copy: whether returned arrays are the caller's; else observations, rewards and ends are overwritten by the next call.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": interface.AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task | str | os.PathLike[str], num_envs: int = 1, *, threads: int = 0, copy: bool = True,
                 render_mode: str | None = None, max_episode_steps: int | None = None) -> None:
        self.closed = True  # until there is something to close
        check_render_mode(render_mode)
        self.render_mode = None
        self.task = resolved(task, load_task)
        self._episodes = Episodes(self.task, num_envs, threads, max_episode_steps)
        self.closed = False
        self.num_envs, self.copy = self._episodes.count, copy
        self.single_observation_space = self._episodes.observation_space
        self.single_action_space = self._episodes.action_space
        self.observation_space = interface.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = interface.batch_space(self.single_action_space, self.num_envs)
        self._random: list[np.random.Generator] = []

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in every environment; observations [num_envs, n] and infos.

        seed: environment i gets `seed + i`; a list: one each, None where a generator goes on.
        options: {"goals": {name: numbers, or one row each}}, SI; {"reset_mask": [num_envs] flags}: only these.
        """
        self._check_open()
        given = checked_options(options, ("goals", "reset_mask"))
        mask = self._mask(given.get("reset_mask"))
        seeds = self._seeds(seed)
        random = list(self._random) or [interface.np_random(one)[0] for one in seeds]
        if self._random:
            for i in np.flatnonzero(mask):
                if seeds[i] is not None:
                    random[i] = interface.np_random(seeds[i])[0]
        drawn = self._episodes.draw(mask, random, given.get("goals"))
        super().reset(seed=next((one for one in seeds if one is not None), None))
        self._random = random
        self._episodes.reset(drawn)
        return self._mine(self._episodes.observation), self._infos()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        given: Any = seed
        if not isinstance(given, (Sequence, np.ndarray)) or np.ndim(given) == 0:
            first = whole("seed", given, 0)
            return [first + i for i in range(self.num_envs)]
        if len(given) != self.num_envs:
            raise ValueError(f"seed: {len(given)} given; one for each of {self.num_envs} environments is expected")
        return [None if one is None else whole(f"seed[{i}]", one, 0) for i, one in enumerate(given)]

    def _mask(self, mask: Any) -> Flags:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        flags = np.asarray(mask)
        if flags.shape != (self.num_envs,) or flags.dtype != np.bool_ or not flags.any():
            raise ValueError(f"options: reset_mask: {self.num_envs} flags, at least one set, are expected")
        idle = np.flatnonzero(~self._episodes.begun & ~flags)
        if idle.size:
            raise ValueError(f"options: reset_mask: no episode is under way in {', '.join(map(str, idle))}; reset these environments, too")
        return flags

    def step(self, actions: Any) -> Step:
        """One action each, [num_envs, n]; observations [num_envs, n], rewards, terminations, truncations [num_envs], infos."""
        self._check_open()
        episodes = self._episodes
        episodes.check_begun()
        values = episodes.checked(actions, self.action_space.shape, episodes.ended)
        episodes.step(values, episodes.ended.copy(), self._random)
        return (self._mine(episodes.observation), self._mine(episodes.reward), self._mine(episodes.terminated),
                self._mine(episodes.truncated), self._infos())

    def _mine(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array

    def _infos(self) -> dict[str, Any]:
        """Of each quantity the task shows an array, and under `_name` whose it is; "failure" of those that failed."""
        infos: dict[str, Any] = {}
        for name, value in self.task.info(self._episodes.frame).items():
            infos[name], infos[f"_{name}"] = value.copy(), np.ones(self.num_envs, np.bool_)
        failures = self._episodes.failures()
        if failures:
            infos["failure"] = np.full(self.num_envs, None, dtype=object)
            infos["_failure"] = np.zeros(self.num_envs, np.bool_)
            for i, why in failures.items():
                infos["failure"][i], infos["_failure"][i] = why, True
        return infos

    @property
    def sims(self) -> tuple[tether.Sim, ...]:
        """The simulation of each environment: to be looked at, and recorded (`envs.sims[2].record("run.wpilog")`). What steps or changes
        one changes its episode."""
        self._check_open()
        return self._episodes.batch.sims

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tether.gym.VectorEnv can't be pickled or copied: make another one, of the task's name or file")

    def _check_open(self) -> None:
        if self.closed:
            raise RuntimeError("the environment is closed; make another one")

    def close_extras(self, **kwargs: Any) -> None:
        """Frees the simulations; `close()` calls it once."""
        self._episodes.close()
