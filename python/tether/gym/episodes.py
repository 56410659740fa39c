"""Episodes of one task in every simulation of a batch: what Env and VectorEnv share.

All of a step is one call of the batch and arithmetic on arrays. Python visits single simulations only where an episode begins.
"""
from __future__ import annotations

import contextlib
import operator
import os
from dataclasses import replace
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

import tether
from tether.gym import terms
from tether.gym.document import TaskError, nearest
from tether.gym.interface import Box, ResetNeeded
from tether.gym.task import Flags, Floats, Frame, Start, Task


class Drawn(NamedTuple):
    """All chance of the episodes that are about to begin."""

    seeds: NDArray[np.uint64]  #: [K] of the simulations; of other rows 0
    keys: NDArray[np.uint64]  #: [K] of the noise
    starts: dict[int, Start]  #: by row


class Episodes:
    """`count` episodes of `task`, on `threads` threads (0: as many as processors)."""

    def __init__(self, task: Task, count: int, threads: int, max_steps: int | None) -> None:
        self.task, self.count = task, whole("num_envs", count, 1)
        self.max_steps = whole("max_episode_steps", task.max_steps if max_steps is None else max_steps, 1)
        self._commands = [name for action in task.actions for name in action.commands] + list(task.held)
        for name in self._commands:
            if self._commands.count(name) > 1:
                raise TaskError(f"command '{name}' is driven twice, by actions or by what is held")
        scene = self._load()
        self.batch = scene.batch(count, commands=self._commands, signals=list(task.signals), threads=threads)
        self._set_up_actions()
        self.frame = Frame(count, task.signals, len(task.actions))
        low, high, noise = (np.array([getattr(seen, part) for seen in task.observed], np.float64)
                            for part in ("low", "high", "noise"))
        self._low, self._high = low, high
        self._noise = noise if noise.any() else None
        self._keys: NDArray[np.uint64] = np.zeros(count, np.uint64)
        self.observation: NDArray[np.float32] = np.zeros((count, len(low)), np.float32)
        self.reward: Floats = np.zeros(count)
        self.terminated: Flags = np.zeros(count, np.bool_)
        self.truncated: Flags = np.zeros(count, np.bool_)
        self.ended: Flags = np.ones(count, np.bool_)  #: these have to be reset before they can go on
        self.begun: Flags = np.zeros(count, np.bool_)  #: false before the first reset, and after a call that broke off in its middle
        self.observation_space = Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
        self.action_space = Box(-1.0, 1.0, (len(task.actions),), np.float32)

    def _load(self) -> tether.Scene:
        """The scene, with every name of the task checked against it."""
        scene = self.task.load_scene()
        with scene.sim() as sim:
            self.task.check(sim)
        return scene

    def _set_up_actions(self) -> None:
        """Commands are linear in the action: value = middle + half · action, one column of each for every command."""
        held, width = list(self.task.held.values()), len(self._commands)
        self._values: Floats = np.zeros((self.count, width))
        self._values[:, width - len(held):] = held
        columns = [(i, action) for i, action in enumerate(self.task.actions) for _ in action.commands]
        self._source = np.array([i for i, _ in columns], np.intp)
        self._middle = np.array([(action.low + action.high) / 2 for _, action in columns])
        self._half = np.array([(action.high - action.low) / 2 for _, action in columns])
        self._first = np.array([action.low for _, action in columns])
        self._second = np.array([action.high for _, action in columns])

    def _commanded(self, actions: Floats) -> Floats:
        """What actions ask of each command: the bounds themselves at -1 and 1, and nothing beyond them, whatever rounding does; they may
        be the command's own, outside of which a simulation fails."""
        taken = actions[:, self._source]
        values: Floats = self._middle + self._half * taken
        np.clip(values, np.minimum(self._first, self._second), np.maximum(self._first, self._second), out=values)
        np.copyto(values, self._first, where=taken == -1)
        np.copyto(values, self._second, where=taken == 1)
        return values

    # --- the beginning of episodes ---

    def draw(self, mask: Flags, random: Sequence[np.random.Generator], goals: Mapping[str, Any] | None = None) -> Drawn:
        """What episodes begin with in each row of `mask`, with chance from that row's generator. What is refused changes nothing: the
        generators are then as they were."""
        rows = [int(i) for i in np.flatnonzero(mask)]
        drawn = Drawn(np.zeros(self.count, np.uint64), np.zeros(self.count, np.uint64), {})
        states = [random[i].bit_generator.state for i in rows]
        widths = {name: goal.shape[1] for name, goal in self.frame.goals.items()}
        try:
            for i in rows:
                drawn.seeds[i], drawn.keys[i] = random[i].integers(0, 2**64, 2, np.uint64)
                start = self._started(random[i], widths)
                given = {name: self._given(name, goal, i, start.goals) for name, goal in (goals or {}).items()}
                drawn.starts[i] = replace(start, goals={**start.goals, **given})  # the task may give the same Start again
        except BaseException:
            for i, state in zip(rows, states):
                random[i].bit_generator.state = state
            raise
        return drawn

    def _started(self, random: np.random.Generator, widths: dict[str, int]) -> Start:
        """What the task begins an episode with; `widths` are those of its goals, as far as they are known."""
        start = self.task.start(random)
        if not isinstance(start, Start):
            raise ValueError(f"{self._start_of}: {start!r}; a Start is expected")
        for name, goal in start.goals.items():
            try:
                numbers = np.asarray(goal, np.float64)
            except (TypeError, ValueError):
                numbers = np.zeros(())
            if numbers.ndim != 1 or len(numbers) != widths.setdefault(name, len(numbers)):
                raise ValueError(f"{self._start_of}: goals: {name}: {goal!r}; a list of numbers is expected, as many each time")
        return start

    @property
    def _start_of(self) -> str:
        return f"{type(self.task).__name__}.start"

    @contextlib.contextmanager
    def _blames_start(self) -> Iterator[None]:
        """What the library refuses of a Start is told with whose it is."""
        try:
            yield
        except tether.Error as error:
            raise type(error)(f"{self._start_of}: {error}") from error

    def reset(self, drawn: Drawn) -> None:
        """Begins the episodes that were drawn, and observes all rows."""
        self._begin(drawn)
        self._observe()
        self.begun[list(drawn.starts)] = True

    def check_begun(self) -> None:
        """Raises ResetNeeded where no step can go on: no reset came yet, or a reset or a step ended halfway by an error or Ctrl-C."""
        if not self.begun.all():
            raise ResetNeeded("step: no episode is under way; call reset() first")

    def _begin(self, drawn: Drawn) -> None:
        rows, starts = list(drawn.starts), drawn.starts
        mask: Flags = np.zeros(self.count, np.bool_)
        mask[rows] = True
        self.begun[rows] = False  # until all of it is done
        self.ended[rows] = True
        self._keys[rows] = drawn.keys[rows]
        for i, start in starts.items():
            with self._blames_start():
                self._set_values(i, start.values)
        signals = self.batch.reset(mask=mask, seeds=drawn.seeds)
        frame = self.frame
        frame.signals[rows] = signals[rows]
        for i, start in starts.items():
            if start.steps:
                with self._blames_start():
                    frame.signals[i] = self._warmed_up(i, start.commands, start.steps)
            for name, goal in start.goals.items():
                self._goal(name, len(goal))[i] = goal
        frame.before[rows] = frame.signals[rows]
        frame.action[rows] = frame.action_before[rows] = frame.action_two_before[rows] = 0
        frame.steps[rows] = 0
        frame.fresh[:] = mask
        self.ended[rows] = False

    def _goal(self, name: str, width: int) -> Floats:
        if name not in self.frame.goals:
            self.frame.goals[name] = np.zeros((self.count, width))
        return self.frame.goals[name]

    def _given(self, name: str, goal: Any, row: int, drawn: Mapping[str, Sequence[float]]) -> Sequence[float]:
        """A goal of the options: for all rows, or one a row."""
        if name not in drawn:
            raise ValueError(f"options: goals: there is no goal '{name}'{nearest(name, drawn)}")
        try:
            values = np.asarray(goal, np.float64)
        except (TypeError, ValueError):
            values = np.full(len(drawn[name]), np.nan)
        values = values[row] if values.ndim == 2 and len(values) == self.count else np.atleast_1d(values)
        if values.shape != (len(drawn[name]),) or not np.isfinite(values).all():
            raise ValueError(f"options: goals: {name}: {len(drawn[name])} finite numbers are expected, for all environments or for "
                             "each of them")
        return [float(value) for value in values]

    def _set_values(self, row: int, values: Mapping[str, float]) -> None:
        """Before the reset, which reads sensors with them; one that failed can't take any before it was reset."""
        if not values:
            return
        sim = self.batch.sims[row]
        if self.batch.failed[row]:
            sim.reset()
        sim.set_values(values)

    def _warmed_up(self, row: int, commands: Mapping[str, float], steps: int) -> Floats:
        """The signals of one simulation after its start commands, and what is always held, were held for a while.

        One that fails meanwhile has failed in the batch, and the next step says so: it costs its own episode alone.
        """
        sim = self.batch.sims[row]
        sim.apply({**self.task.held, **commands})
        try:
            sim.step(steps)
        except (tether.DivergedError, tether.FailedError):
            pass
        return sim.read(self.task.signals)

    # --- steps ---

    def step(self, actions: Any, begin: Flags, random: Sequence[np.random.Generator]) -> None:
        """One action in every row. Rows of `begin` ignore theirs and begin an episode instead."""
        frame, task = self.frame, self.task
        drawn = self.draw(begin, random) if begin.any() else None
        frame.action_two_before[:] = frame.action_before
        frame.action_before[:] = frame.action
        np.clip(actions, -1, 1, out=frame.action)
        self._values[:, :len(self._source)] = self._commanded(frame.action)
        task.drive(self._values[:, :len(self._source)], frame)
        signals = self.batch.step(self._values, steps=task.substeps)
        self.begun[:] = False  # until all of what follows is done: nobody was told of this step
        frame.before[:] = frame.signals
        frame.signals[:] = signals
        frame.steps += 1
        frame.fresh[:] = False
        if drawn is not None:
            self._begin(drawn)
        self._observe()
        fresh = frame.fresh
        self.reward[:] = self._told("reward", task.reward(frame), ())
        terminated, truncated = (self._told("ends", flags, ()) for flags in task.ends(frame))
        failed = np.asarray(self.batch.failed, np.bool_)
        self.reward[fresh | failed] = 0
        if np.isnan(self.reward).any():
            raise ValueError(f"reward: that of environment {np.argwhere(np.isnan(self.reward))[0][0]} is NaN; a number is expected")
        np.logical_and(terminated, ~(fresh | failed), out=self.terminated)
        np.logical_and(truncated | failed | (frame.steps >= self.max_steps), ~fresh, out=self.truncated)
        np.logical_or(self.terminated, self.truncated, out=self.ended)
        self.begun[:] = True

    def _told(self, what: str, values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """What a task says of each environment. NumPy would take another shape for all of them alike."""
        shape = (self.count, *shape)
        if np.shape(values) != shape:
            raise ValueError(f"{what}: shape {np.shape(values)}; {shape} is expected, whose first axis is the environment")
        return values

    def _observe(self) -> None:
        self.task.sense(self.frame)
        seen = self._told("observe", self.task.observe(self.frame), (len(self.task.observed),))
        if np.isnan(seen).any():  # clipping lets it through, and no space contains it
            row, number = np.argwhere(np.isnan(seen))[0]
            raise ValueError(f"observe: '{self.task.observed[number].name}' of environment {row} is NaN; a number is expected")
        if self._noise is not None:
            seen = seen + self._noise * terms.noise(self._keys, self.frame.steps, seen.shape[1])
        self.observation[:] = np.minimum(np.maximum(seen, self._low), self._high)

    def failures(self) -> dict[int, str]:
        """Why simulations have failed, by row. A warm-up's failure is told by the next step, which ends that episode."""
        failed = np.asarray(self.batch.failed, np.bool_) & ~self.frame.fresh
        return {int(i): str(self.batch.failure(int(i))) for i in np.flatnonzero(failed)} if failed.any() else {}

    def checked(self, actions: Any, shape: tuple[int, ...], ignored: Flags | None = None) -> Floats:
        """Actions as numbers; rows that are ignored may have any. Raises ValueError: not of that shape, or not finite."""
        try:
            values = np.asarray(actions, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"action: {actions!r}; numbers are expected, in the shape {shape}") from None
        if values.shape != shape:
            raise ValueError(f"action: shape {values.shape}; {shape} is expected")
        if ignored is not None and ignored.any():
            values = np.where(ignored[:, None] & ~np.isfinite(values), 0, values)
        if not np.isfinite(values).all():
            raise ValueError(f"action: {np.argwhere(~np.isfinite(values))[0].tolist()} is not finite; nothing was stepped")
        return values

    def close(self) -> None:
        """Ends all recordings, also where somebody keeps a simulation, and frees the batch."""
        with contextlib.ExitStack() as stack:
            stack.callback(self.batch.close)
            for sim in self.batch.sims:
                stack.callback(sim.close)


def whole(what: str, given: Any, least: int) -> int:
    """A whole number of Python's or NumPy's, no flag."""
    try:
        number = None if isinstance(given, (bool, np.bool_)) else int(operator.index(given))
    except TypeError:
        number = None
    if number is None or number < least:
        raise ValueError(f"{what}: {given!r}; a whole number of at least {least} is expected")
    return number


def checked_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> Mapping[str, Any]:
    given = {} if options is None else _mapping("options", options)
    for name in given:
        if name not in known:
            raise ValueError(f"options: there is no '{name}'{nearest(name, known) or '; there are ' + ', '.join(known)}")
    if given.get("goals") is not None:
        _mapping("options: goals", given["goals"])
    return given


def _mapping(what: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what}: {given!r}; a dictionary is expected")
    return given


def resolved(task: Task | str | os.PathLike[str], load: Callable[[str | os.PathLike[str]], Task]) -> Task:
    """A task, by its file or name where a text is given."""
    if isinstance(task, Task):
        return task
    if isinstance(task, (str, os.PathLike)):
        return load(task)
    raise TaskError(f"task: {task!r}; a Task, the path of a task file, or the name of a ready task is expected")


def check_render_mode(mode: str | None) -> None:
    if mode is not None:
        raise ValueError(f"render_mode: '{mode}'; there are none: record a run with env.sim.record(…), and show it with `tether replay`")
