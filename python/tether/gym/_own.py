"""What Gymnasium's interface consists of, for where Gymnasium is not installed: the same names and behaviour, no more."""
from __future__ import annotations

import enum
from typing import Any, Iterable, Sequence, SupportsFloat

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class ResetNeeded(RuntimeError):
    """`step()` was called where only `reset()` may be."""


class AutoresetMode(enum.Enum):
    """When a vector environment resets a sub-environment whose episode has ended."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


def np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    """A generator and the seed that makes it again; `seed` None: from the system's entropy.

    The generator is the one that Gymnasium makes of the same seed.
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise ValueError(f"seed: {seed!r}; a whole number of at least 0 is expected")
    sequence = np.random.SeedSequence(None if seed is None else int(seed))
    entropy = sequence.entropy
    assert isinstance(entropy, int)
    return np.random.Generator(np.random.PCG64(sequence)), entropy


class Space:
    """A set of values: what an action or an observation may be."""

    def __init__(self, shape: Sequence[int], dtype: Any, seed: int | np.random.Generator | None = None) -> None:
        self._shape = tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self._np_random: np.random.Generator | None = None
        if isinstance(seed, np.random.Generator):
            self._np_random = seed
        elif seed is not None:
            self.seed(seed)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def is_np_flattenable(self) -> bool:
        return True

    @property
    def np_random(self) -> np.random.Generator:
        """Draws the samples; seeded from the system's entropy unless `seed()` was called."""
        if self._np_random is None:
            self.seed()
        assert self._np_random is not None
        return self._np_random

    def seed(self, seed: int | None = None) -> int:
        """Makes samples repeatable; returns the seed."""
        self._np_random, seed = np_random(seed)
        return seed

    def sample(self, mask: None = None, probability: None = None) -> Any:
        raise NotImplementedError

    def contains(self, x: Any) -> bool:
        raise NotImplementedError

    def __contains__(self, x: Any) -> bool:
        return self.contains(x)

    def to_jsonable(self, sample_n: Sequence[Any]) -> list[Any]:
        return [np.asarray(sample).tolist() for sample in sample_n]

    def from_jsonable(self, sample_n: Sequence[Any]) -> list[Any]:
        return [np.asarray(sample, dtype=self.dtype) for sample in sample_n]


class Box(Space):
    """Arrays of one shape whose numbers lie between `low` and `high`, bounds included."""

    def __init__(self, low: SupportsFloat | Array, high: SupportsFloat | Array, shape: Sequence[int] | None = None,
                 dtype: Any = np.float32, seed: int | np.random.Generator | None = None) -> None:
        if shape is None:
            shape = np.broadcast(np.asarray(low), np.asarray(high)).shape or (1,)
        super().__init__(shape, dtype, seed)
        self.low: Array = np.broadcast_to(np.asarray(low), self.shape).astype(self.dtype)
        self.high: Array = np.broadcast_to(np.asarray(high), self.shape).astype(self.dtype)
        if np.any(np.isnan(self.low)) or np.any(np.isnan(self.high)) or np.any(self.low > self.high):
            raise ValueError("low, high: every low bound has to be at most its high bound")
        self.bounded_below = np.isfinite(self.low)
        self.bounded_above = np.isfinite(self.high)

    def is_bounded(self, manner: str = "both") -> bool:
        """Whether all numbers have finite bounds "below", "above" or on "both" sides."""
        if manner not in ("both", "below", "above"):
            raise ValueError(f"manner: '{manner}'; one of both, below, above is expected")
        below, above = bool(self.bounded_below.all()), bool(self.bounded_above.all())
        return {"both": below and above, "below": below, "above": above}[manner]

    def sample(self, mask: None = None, probability: None = None) -> Array:
        """Uniform between finite bounds, exponential from a single one, normal where there is none."""
        if mask is not None or probability is not None:
            raise ValueError("mask, probability: a Box has neither")
        rng, out = self.np_random, np.empty(self.shape)
        both = self.bounded_below & self.bounded_above
        below, above = self.bounded_below & ~both, self.bounded_above & ~both
        none = ~self.bounded_below & ~self.bounded_above
        out[none] = rng.normal(size=int(none.sum()))
        out[below] = self.low[below] + rng.exponential(size=int(below.sum()))
        out[above] = self.high[above] - rng.exponential(size=int(above.sum()))
        if np.issubdtype(self.dtype, np.integer):
            out[both] = rng.integers(self.low[both], self.high[both], endpoint=True)
        else:
            out[both] = rng.uniform(self.low[both].astype(float), self.high[both].astype(float))
        return out.astype(self.dtype)

    def contains(self, x: Any) -> bool:
        if not isinstance(x, np.ndarray):
            try:
                x = np.asarray(x, dtype=self.dtype)
            except (TypeError, ValueError):
                return False
        return bool(np.can_cast(x.dtype, self.dtype) and x.shape == self.shape and np.all(x >= self.low)
                    and np.all(x <= self.high))

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                and bool(np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high)))

    def __repr__(self) -> str:
        def short(bounds: Array) -> str:
            return str(bounds.flat[0]) if bounds.size and np.all(bounds == bounds.flat[0]) else str(bounds)
        return f"Box({short(self.low)}, {short(self.high)}, {self.shape}, {self.dtype})"


class Discrete(Space):
    """The whole numbers from `start` to `start + n - 1`."""

    def __init__(self, n: int, seed: int | np.random.Generator | None = None, start: int = 0) -> None:
        if n < 1:
            raise ValueError(f"n: {n}; at least 1 is expected")
        self.n, self.start = np.int64(n), np.int64(start)
        super().__init__((), np.int64, seed)

    def sample(self, mask: None = None, probability: None = None) -> np.int64:
        if mask is not None or probability is not None:
            raise ValueError("mask, probability: not supported without Gymnasium")
        return np.int64(self.start + self.np_random.integers(self.n))

    def contains(self, x: Any) -> bool:
        if isinstance(x, bool):
            return False
        if not isinstance(x, (int, np.integer)) and not (
                isinstance(x, np.ndarray) and x.shape == () and np.issubdtype(x.dtype, np.integer)):
            return False
        return bool(self.start <= x < self.start + self.n)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and self.n == other.n and self.start == other.start

    def __repr__(self) -> str:
        return f"Discrete({self.n})" if self.start == 0 else f"Discrete({self.n}, start={self.start})"


class MultiDiscrete(Space):
    """`n` choices of each of several: what a batch of Discrete spaces is."""

    def __init__(self, nvec: Iterable[int], dtype: Any = np.int64, seed: int | np.random.Generator | None = None,
                 start: Iterable[int] | None = None) -> None:
        self.nvec: Array = np.array(list(nvec), dtype=dtype)
        self.start: Array = np.zeros_like(self.nvec) if start is None else np.array(list(start), dtype=dtype)
        if self.nvec.size == 0 or np.any(self.nvec < 1):
            raise ValueError("nvec: at least one number of choices, each at least 1, is expected")
        super().__init__(self.nvec.shape, dtype, seed)

    def sample(self, mask: None = None, probability: None = None) -> Array:
        if mask is not None or probability is not None:
            raise ValueError("mask, probability: not supported without Gymnasium")
        drawn: Array = (self.start + self.np_random.integers(self.nvec)).astype(self.dtype)
        return drawn

    def contains(self, x: Any) -> bool:
        return (isinstance(x, np.ndarray) and x.shape == self.shape and np.can_cast(x.dtype, self.dtype)
                and bool(np.all(x >= self.start) and np.all(x < self.start + self.nvec)))

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, MultiDiscrete) and bool(np.array_equal(self.nvec, other.nvec))
                and bool(np.array_equal(self.start, other.start)))

    def __repr__(self) -> str:
        return f"MultiDiscrete({self.nvec})"


def batch_space(space: Space, n: int = 1) -> Space:
    """The space of `n` values of a space, stacked along a new first axis."""
    if isinstance(space, Box):
        shape = (n, *space.shape)
        return Box(np.broadcast_to(space.low, shape), np.broadcast_to(space.high, shape), shape, space.dtype)
    if isinstance(space, Discrete):
        return MultiDiscrete([int(space.n)] * n, start=[int(space.start)] * n)
    raise TypeError(f"space: {space!r}; a Box or a Discrete is expected")


class _Random:
    """The random numbers of an environment, as `reset(seed=…)` says."""

    _np_random: np.random.Generator | None = None
    _np_random_seed: int | None = None

    @property
    def np_random(self) -> np.random.Generator:
        if self._np_random is None:
            self._np_random, self._np_random_seed = np_random()
        return self._np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._np_random, self._np_random_seed = value, -1

    @property
    def np_random_seed(self) -> int:
        """The seed of `np_random`; -1 if that was set from outside."""
        if self._np_random_seed is None:
            self._np_random, self._np_random_seed = np_random()
        return self._np_random_seed


class Env(_Random):
    """The interface of one environment."""

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode: str | None = None
    spec: Any = None
    action_space: Any
    observation_space: Any

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._np_random, self._np_random_seed = np_random(seed)
        return None, {}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        raise NotImplementedError

    def render(self) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        """Releases what it holds; may be called again."""

    @property
    def unwrapped(self) -> Any:
        return self

    def has_wrapper_attr(self, name: str) -> bool:
        return hasattr(self, name)

    def get_wrapper_attr(self, name: str) -> Any:
        return getattr(self, name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        if not force and not hasattr(self, name):
            return False
        setattr(self, name, value)
        return True

    def __str__(self) -> str:
        return f"<{type(self).__name__}{f'<{self.spec.id}>' if self.spec else ' instance'}>"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


class VectorEnv(_Random):
    """The interface of several environments that step together."""

    metadata: dict[str, Any] = {}
    spec: Any = None
    render_mode: str | None = None
    closed = False
    num_envs: int
    action_space: Any
    observation_space: Any
    single_action_space: Any
    single_observation_space: Any

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._np_random, self._np_random_seed = np_random(seed)
        return None, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        raise NotImplementedError

    def render(self) -> Any:
        raise NotImplementedError

    def close(self, **kwargs: Any) -> None:
        """Releases what it holds; may be called again."""
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self, **kwargs: Any) -> None:
        pass

    @property
    def unwrapped(self) -> Any:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'{self.spec.id}, ' if self.spec else ''}num_envs={self.num_envs})"
