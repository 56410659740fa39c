"""Spaces: only what an environment with numbers needs."""
import numpy as np

from gymnasium.utils import seeding


class Space:
    def __init__(self, shape=None, dtype=None, seed=None):
        self._shape = None if shape is None else tuple(shape)
        self.dtype = None if dtype is None else np.dtype(dtype)
        self._np_random = None
        if seed is not None:
            self.seed(seed)

    @property
    def shape(self):
        return self._shape

    @property
    def np_random(self):
        if self._np_random is None:
            self.seed()
        return self._np_random

    def seed(self, seed=None):
        self._np_random, chosen = seeding.np_random(seed)
        return chosen

    def __contains__(self, x):
        return self.contains(x)


class Box(Space):
    def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
        if shape is None:
            shape = next((bound.shape for bound in (low, high) if isinstance(bound, np.ndarray)), (1,))
        assert all(type(n) is int or isinstance(n, np.integer) for n in shape), f"shape {shape} is not of whole numbers"
        for bound in (low, high):
            wanted = np.finfo(dtype).precision if np.issubdtype(dtype, np.floating) else np.inf
            found = np.asarray(bound)
            if isinstance(bound, np.ndarray):
                assert found.shape == tuple(shape), f"a bound has shape {found.shape}, not {shape}"
                assert np.finfo(found.dtype).precision <= wanted, f"bounds of {found.dtype} lose precision as {np.dtype(dtype)}"
        super().__init__(shape, dtype, seed)
        self.low = np.full(shape, low, dtype) if np.isscalar(low) else low.astype(dtype)
        self.high = np.full(shape, high, dtype) if np.isscalar(high) else high.astype(dtype)
        assert not np.isnan(self.low).any() and not np.isnan(self.high).any(), "a bound is NaN"
        assert (self.low <= self.high).all(), "a low bound is above its high bound"
        self.bounded_below, self.bounded_above = self.low > -np.inf, self.high < np.inf

    def is_bounded(self, manner="both"):
        return {"below": self.bounded_below.all(), "above": self.bounded_above.all(),
                "both": (self.bounded_below & self.bounded_above).all()}[manner]

    def sample(self, mask=None, probability=None):
        assert self.is_bounded(), "the stand-in samples between bounds only"
        return self.np_random.uniform(self.low, self.high, self.shape).astype(self.dtype)

    def contains(self, x):
        assert isinstance(x, np.ndarray), f"an array is expected, not {type(x)}"  # Gymnasium warns and converts
        return bool(np.can_cast(x.dtype, self.dtype) and x.shape == self.shape and (x >= self.low).all() and (x <= self.high).all())

    def __eq__(self, other):
        return (isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype
                and np.array_equal(self.low, other.low) and np.array_equal(self.high, other.high))

    def __repr__(self):
        return f"Box({self.low}, {self.high}, {self.shape}, {self.dtype})"


class Discrete(Space):
    def __init__(self, n, seed=None, start=0):
        assert n > 0
        self.n, self.start = np.int64(n), np.int64(start)
        super().__init__((), np.int64, seed)

    def sample(self, mask=None, probability=None):
        return self.start + self.np_random.integers(self.n)

    def contains(self, x):
        return isinstance(x, (int, np.integer)) and bool(self.start <= x < self.start + self.n)

    def __eq__(self, other):
        return isinstance(other, Discrete) and (self.n, self.start) == (other.n, other.start)
