"""What a task is: a scene, what an agent sees of it and does in it, what it is rewarded for, and when an episode ends.

A task file (`task_file.py`) is one kind of task; a subclass of Task is the other. Everything that a task computes is for all
simulations of a batch at once: arrays whose first axis is the simulation. K is their number, 1 in an Env.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

import tether

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Action(NamedTuple):
    """One number of an action: from -1 … 1 to `low` … `high` (SI) of the commands that it drives."""

    commands: Sequence[str]
    low: float
    high: float


class Observed(NamedTuple):
    """One number of an observation: the bounds (SI) that it is clipped to, and the noise that is added before."""

    name: str
    low: float
    high: float
    noise: float = 0.0  #: standard deviation, in the unit of the number


@dataclass
class Start:
    """What is drawn at the beginning of an episode."""

    goals: dict[str, Sequence[float]] = field(default_factory=dict)  #: SI; as many numbers each time
    values: dict[str, float] = field(default_factory=dict)  #: of the models, by their path, SI; the same paths each time
    commands: dict[str, float] = field(default_factory=dict)  #: held before the first observation, SI
    steps: int = 0  #: for so many timesteps


class Frame:
    """A batch after a step or a reset: what a task computes from. All arrays belong to the environment."""

    def __init__(self, count: int, signals: Sequence[str], action_size: int) -> None:
        self.count = count
        self.columns = {name: i for i, name in enumerate(signals)}
        self.signals: Floats = np.zeros((count, len(signals)))  #: [K, signals] SI
        self.before: Floats = np.zeros_like(self.signals)  #: those of the step before; after a reset the same
        self.goals: dict[str, Floats] = {}  #: [K, n] SI, drawn at the beginning of each episode
        self.action: Floats = np.zeros((count, action_size))  #: [K, n] -1 … 1; 0 after a reset
        self.action_before: Floats = np.zeros_like(self.action)  #: that of the step before; 0 after a reset
        self.action_two_before: Floats = np.zeros_like(self.action)  #: that of two steps before; 0 after a reset
        self.steps: NDArray[np.int64] = np.zeros(count, np.int64)  #: actions since the reset
        self.fresh: Flags = np.ones(count, np.bool_)  #: whether it was just reset
        self.memory: dict[str, Any] = {}  #: what a task keeps from one step to the next

    def signal(self, name: str) -> Floats:
        """[K] of one signal, SI."""
        return self.signals[:, self.columns[name]]


class Task:
    """Base of tasks. A subclass sets the attributes and defines `observe()` and `reward()`, and what else it wants.

    A task keeps nothing of an episode in itself (`Frame.memory` is for that), so that any number of environments may share it.
    """

    name: str = ""
    description: str = ""
    scene: str = ""  #: name or path
    settings: Mapping[str, str] = {}  #: as `tether run --set` takes them
    substeps: int = 1  #: timesteps an action
    max_steps: int = 1000  #: actions after which an episode is truncated
    actions: Sequence[Action] = ()
    held: Mapping[str, float] = {}  #: commands that keep one value, SI
    signals: Sequence[str] = ()  #: what `observe()` and the others read
    observed: Sequence[Observed] = ()

    def load_scene(self) -> tether.Scene:
        """The scene that the task happens in."""
        return tether.Scene(self.scene, dict(self.settings))

    def check(self, sim: tether.Sim) -> None:
        """Called once, with a simulation of the scene that nobody uses afterwards: are all names and values the scene's?"""
        sim.read(self.signals)
        for action in self.actions:
            for name in action.commands:
                sim.apply({name: action.low})
                sim.apply({name: action.high})
        sim.apply(self.held)

    def start(self, rng: np.random.Generator) -> Start:
        """Draws the beginning of one episode; all chance comes from `rng`."""
        return Start()

    def drive(self, values: Floats, frame: Frame) -> None:
        """Changes the values [K, commands] that a step is about to give the commands of `actions`, in their order."""

    def sense(self, frame: Frame) -> None:
        """Computes what several of the functions below need. Called before them, once a step and once a reset."""

    def observe(self, frame: Frame) -> Floats:
        """[K, observed] SI, before noise and clipping."""
        raise NotImplementedError

    def reward(self, frame: Frame) -> Floats:
        """[K] of the last step. Rows that are fresh are not looked at."""
        raise NotImplementedError

    def ends(self, frame: Frame) -> tuple[Flags, Flags]:
        """[K] whether the last step terminated the episode, [K] whether it truncated it. `max_steps` needs nothing here."""
        none: Flags = np.zeros(frame.count, np.bool_)
        return none, none

    def info(self, frame: Frame) -> dict[str, NDArray[Any]]:
        """Arrays whose first axis is [K], for those who look on."""
        return {}
