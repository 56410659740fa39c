"""The ready tasks under Gymnasium's names, and the same without Gymnasium."""
from __future__ import annotations

from typing import Any

from tether.gym import interface
from tether.gym.env import Env
from tether.gym.task import Task
from tether.gym.task_file import load_task
from tether.gym.vector import VectorEnv

READY = {"tether/Reach-v0": "reach", "tether/Drive-v0": "drive", "tether/Crawl-v0": "crawl"}


def make(task: Task | str, **kwargs: Any) -> Env:
    """An Env of a Task, a task file, a ready task (reach) or its registered name (tether/Reach-v0)."""
    return Env(READY.get(task, task) if isinstance(task, str) else task, **kwargs)


def make_vec(task: Task | str, num_envs: int = 1, **kwargs: Any) -> VectorEnv:
    """A VectorEnv of the same."""
    return VectorEnv(READY.get(task, task) if isinstance(task, str) else task, num_envs, **kwargs)


def _without_limit(task: str, **kwargs: Any) -> Env:
    """What Gymnasium's make() puts its TimeLimit around, which alone knows the limit that was asked for."""
    return Env(task, max_episode_steps=2**31 - 1, **kwargs)


def register(id: str, task: str) -> None:
    """Registers a task file with Gymnasium: `gymnasium.make(id)` and `gymnasium.make_vec(id, num_envs=…)` then make it.

    Does nothing where Gymnasium is not installed.
    """
    if interface.gymnasium is None or id in interface.gymnasium.registry:
        return
    interface.gymnasium.register(id=id, entry_point="tether.gym.registration:_without_limit", vector_entry_point="tether.gym:VectorEnv",
                                 max_episode_steps=load_task(task).max_steps, kwargs={"task": task})


def register_ready() -> None:
    """Registers the ready tasks; importing `tether.gym` does."""
    for id, task in READY.items():
        register(id, task)
