"""The ready tasks under Gymnasium's names, and the same without Gymnasium."""
from __future__ import annotations

import os
from typing import Any

from tether.gym import interface
from tether.gym.env import Env
from tether.gym.task import Task
from tether.gym.task_file import is_file, load_task
from tether.gym.vector import VectorEnv

ENTRY_POINT = "tether.gym.registration:_without_limit"
READY = {"tether/Reach-v0": "reach", "tether/Drive-v0": "drive", "tether/Crawl-v0": "crawl"}

_tasks: dict[str, str] = dict(READY)  #: by registered name


def make(task: Task | str | os.PathLike[str], **kwargs: Any) -> Env:
    """An Env of a Task, a task file, a ready task (reach) or a registered name (tether/Reach-v0)."""
    return Env(_tasks.get(task, task) if isinstance(task, str) else task, **kwargs)


def make_vec(task: Task | str | os.PathLike[str], num_envs: int = 1, **kwargs: Any) -> VectorEnv:
    """A VectorEnv of the same."""
    return VectorEnv(_tasks.get(task, task) if isinstance(task, str) else task, num_envs, **kwargs)


def _without_limit(task: str, **kwargs: Any) -> Env:
    """What Gymnasium's make() puts its TimeLimit around, which alone knows the limit that was asked for."""
    return Env(task, max_episode_steps=2**31 - 1, **kwargs)


def register(id: str, task: str | os.PathLike[str]) -> None:
    """Registers a task file with Gymnasium: `gymnasium.make(id)` and `gymnasium.make_vec(id, num_envs=…)` then make it, whatever the
    current folder is later. `make(id)` and `make_vec(id)` do so without Gymnasium, too.

    A file that is registered under a name of another one takes its place.

    Raises:
        TaskError: the file is wrong.
        ValueError: the name is of an environment of others.
    """
    max_steps = load_task(task).max_steps
    name = os.path.abspath(task) if is_file(task) else os.fspath(task)
    if interface.gymnasium is not None:
        known = interface.gymnasium.registry.get(id)
        if known is not None and known.entry_point != ENTRY_POINT:
            raise ValueError(f"id: '{id}' is registered for an environment that is not of tether.gym; choose another name")
        interface.gymnasium.registry.pop(id, None)
        interface.gymnasium.register(id=id, entry_point=ENTRY_POINT, vector_entry_point="tether.gym:VectorEnv", max_episode_steps=max_steps,
                                     kwargs={"task": name})
    _tasks[id] = name


def register_ready() -> None:
    """Registers the ready tasks; importing `tether.gym` does."""
    if interface.gymnasium is not None:
        for id, task in READY.items():
            register(id, task)
