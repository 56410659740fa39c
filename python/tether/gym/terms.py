"""What task files compute with: vectors of signals, goals and actions, and a few operations on them.

Every quantity is an array [K, n] of float64. The operations add, multiply, divide and take roots, nothing else, and each sum
has a fixed order: so the bits of a row depend neither on the number of rows nor on the processor.
"""
from __future__ import annotations

from typing import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = Mapping[str, Floats]
Quantity = Callable[[Values], Floats]

POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")  #: of a body: m, and a unit quaternion


def join(parts: Sequence[Floats]) -> Floats:
    """One after the other."""
    return np.concatenate(parts, axis=1)


def taken(vector: Floats, numbers: Sequence[int]) -> Floats:
    """Some of its numbers."""
    return np.stack([vector[:, i] for i in numbers], axis=1)


def sum_of_squares(vector: Floats) -> Floats:
    """[K, 1], in the order of the elements."""
    total = np.zeros((len(vector), 1))
    for i in range(vector.shape[1]):
        total += vector[:, i:i + 1] * vector[:, i:i + 1]
    return total


def norm(vector: Floats) -> Floats:
    """[K, 1], the Euclidean length."""
    return np.sqrt(sum_of_squares(vector))


def rotation(pose: Floats) -> list[list[Floats]]:
    """The 3 × 3 matrix of [K] elements that turns a body's vectors into the arena's frame."""
    w, x, y, z = (pose[:, i] for i in (3, 4, 5, 6))
    rows: list[list[Floats]] = [[1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                                [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)]]
    return rows


def point_of(pose: Floats, offset: Sequence[float]) -> Floats:
    """[K, 3] m, in the arena's frame: the point at `offset` (m) in a body's frame."""
    turn = rotation(pose)
    return np.stack([pose[:, i] + (turn[i][0] * offset[0] + turn[i][1] * offset[1] + turn[i][2] * offset[2])
                     for i in range(3)], axis=1)


def into(pose: Floats, vector: Floats) -> Floats:
    """[K, 3]: a vector of the arena's frame as the body sees it."""
    turn = rotation(pose)
    return np.stack([turn[0][i] * vector[:, 0] + turn[1][i] * vector[:, 1] + turn[2][i] * vector[:, 2]
                     for i in range(3)], axis=1)


def near(distance: Floats, within: float) -> Floats:
    """1 at 0, 1/2 at a distance of `within`, toward 0 far away."""
    part = distance / within
    return np.asarray(1.0 / (1.0 + part * part), dtype=np.float64)


_GOLDEN, _A, _B = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finishing: every bit of the result depends on every bit given."""
    words = (words ^ (words >> np.uint64(30))) * _A
    words = (words ^ (words >> np.uint64(27))) * _B
    return words ^ (words >> np.uint64(31))


def noise(keys: NDArray[np.uint64], steps: NDArray[np.int64], width: int) -> Floats:
    """[K, width] of mean 0 and standard deviation 1: the sum of twelve uniform numbers, at most 6.

    It follows from the key of the episode, the step and the column, so that a row is the same in any batch.
    """
    rows = _mixed(keys + steps.astype(np.uint64) * _GOLDEN)[:, None]
    columns = np.arange(3 * width, dtype=np.uint64).reshape(3, 1, width)
    words = _mixed(rows[None] + (columns + np.uint64(1)) * _GOLDEN)
    total = np.zeros((len(keys), width))
    for word in words:
        for shift in (0, 16, 32, 48):
            total += ((word >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.float64)
    return (total + 6) / 65536 - 6
