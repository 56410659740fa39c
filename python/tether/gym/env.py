"""One environment, as Gymnasium's `Env`."""
from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

import tether
from tether.gym import interface
from tether.gym.episodes import Episodes, check_render_mode, checked_options, resolved, whole
from tether.gym.task import Task
from tether.gym.task_file import load_task

Observation = NDArray[np.float32]


class Env(interface.Env):
    """A task in one simulation.

    task: a Task, the path of a task file, or the name of a ready task (reach, drive, crawl).
    max_episode_steps: actions after which an episode is truncated; None: as the task says.

    Observations are float32 arrays [n] in SI units, clipped to `observation_space`; actions are arrays [n] of -1 … 1, and what lies
    beyond is clipped. The same seed gives the same bits, in a VectorEnv, too.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: Task | str | os.PathLike[str], *, render_mode: str | None = None,
                 max_episode_steps: int | None = None) -> None:
        check_render_mode(render_mode)
        self.render_mode = None
        self.task = resolved(task, load_task)
        self._episodes: Episodes | None = Episodes(self.task, 1, 1, max_episode_steps)
        self.observation_space = self._episodes.observation_space
        self.action_space = self._episodes.action_space
        self._all = np.ones(1, np.bool_)
        self._none = np.zeros(1, np.bool_)

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode; the observation [n] and the info.

        seed: of `np_random`, from which everything is drawn; None: goes on with the generator that is there.
        options: {"goals": {name: numbers}} instead of drawn ones, SI.
        """
        episodes = self._open()
        seed = None if seed is None else whole("seed", seed, 0)
        random = self.np_random if seed is None else interface.np_random(seed)[0]
        drawn = episodes.draw(self._all, [random], checked_options(options, ("goals",)).get("goals"))
        super().reset(seed=seed)
        if seed is not None:
            self.np_random.bit_generator.state = random.bit_generator.state
        episodes.reset(drawn)
        return episodes.observation[0].copy(), self._info(episodes)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Makes one action; observation [n], reward, terminated, truncated, info.

        After an end, `reset()` comes before the next step (ResetNeeded). A simulation that fails truncates its episode, and
        info["failure"] says why.
        """
        episodes = self._open()
        values = episodes.checked(action, self.action_space.shape)
        episodes.check_begun()
        if episodes.ended[0]:
            raise interface.ResetNeeded("step: the episode has ended; call reset() first")
        episodes.step(values[None], self._none, [self.np_random])
        return (episodes.observation[0].copy(), float(episodes.reward[0]), bool(episodes.terminated[0]),
                bool(episodes.truncated[0]), self._info(episodes))

    def _info(self, episodes: Episodes) -> dict[str, Any]:
        """Of each quantity the task shows: a number, or an array [n]."""
        info = {name: value[0].copy() if value.ndim > 1 else value[0].item()
                for name, value in self.task.info(episodes.frame).items()}
        for why in episodes.failures().values():
            info["failure"] = why
        return info

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a tether.gym.Env can't be pickled or copied: make another one, of the task's name or file")

    def _open(self) -> Episodes:
        if self._episodes is None:
            raise RuntimeError("the environment is closed; make another one")
        return self._episodes

    @property
    def sim(self) -> tether.Sim:
        """The simulation: to be looked at, and recorded (`env.sim.record("run.wpilog")`). What steps or changes it changes the episode."""
        return self._open().batch.sims[0]

    def close(self) -> None:
        """Frees the simulation, and ends its recording. May be called again."""
        if self._episodes is not None:
            self._episodes.close()
        self._episodes = None
