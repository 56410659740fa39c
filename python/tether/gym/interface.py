"""Gymnasium's names: from Gymnasium 1.x where it is installed, else from `_own`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tether.gym import _own

gymnasium: Any = None  #: the module, or None
try:
    import gymnasium as _gymnasium  # type: ignore

    if int(_gymnasium.__version__.split(".")[0]) >= 1:
        gymnasium = _gymnasium
except ImportError:
    pass

if TYPE_CHECKING or gymnasium is None:
    from tether.gym._own import (AutoresetMode, Box, Discrete, Env, ResetNeeded, Space, VectorEnv, batch_space,
                                 np_random)
else:
    from gymnasium import Env
    from gymnasium.error import ResetNeeded
    from gymnasium.spaces import Box, Discrete, Space
    from gymnasium.utils.seeding import np_random
    from gymnasium.vector import VectorEnv
    from gymnasium.vector.utils import batch_space

    AutoresetMode = getattr(gymnasium.vector, "AutoresetMode", _own.AutoresetMode)  # 1.0 has none yet

__all__ = ["AutoresetMode", "Box", "Discrete", "Env", "ResetNeeded", "Space", "VectorEnv", "batch_space", "gymnasium",
           "np_random"]
