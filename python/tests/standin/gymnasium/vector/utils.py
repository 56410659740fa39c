import numpy as np

from gymnasium.spaces import Box


def batch_space(space, n=1):
    assert isinstance(space, Box), space
    return Box(np.stack([space.low] * n), np.stack([space.high] * n), (n, *space.shape), space.dtype)
