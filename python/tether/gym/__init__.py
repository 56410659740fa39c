"""Environments for learning, after Gymnasium 1.x: tasks on simulations of Tether.

    import tether.gym
    envs = tether.gym.make_vec("reach", num_envs=64)
    observations, infos = envs.reset(seed=0)
    observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

Gymnasium is used where it is installed (1.0 or later), and not needed. Units are SI.
"""
from __future__ import annotations

from tether.gym.document import TaskError
from tether.gym.env import Env
from tether.gym.interface import AutoresetMode, ResetNeeded
from tether.gym.registration import make, make_vec, register, register_ready
from tether.gym.task import Action, Frame, Observed, Start, Task
from tether.gym.task_file import FileTask, load_task
from tether.gym.vector import VectorEnv

__all__ = ["Action", "AutoresetMode", "Env", "FileTask", "Frame", "Observed", "ResetNeeded", "Start", "Task", "TaskError",
           "VectorEnv", "load_task", "make", "make_vec", "register"]

register_ready()
