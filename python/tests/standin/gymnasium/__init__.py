"""A strict stand-in for Gymnasium 1.1, for tests: its documented interface, where every rule that is broken is an error.

Gymnasium itself only warns of most of them. Nothing here is made for Tether, and nothing is copied from Gymnasium.
"""
from gymnasium import error, spaces, utils, vector  # noqa: F401
from gymnasium.core import Env, Wrapper  # noqa: F401
from gymnasium.registration import EnvSpec, make, make_vec, register, registry, spec  # noqa: F401
from gymnasium.spaces import Space  # noqa: F401

__version__ = "1.1.1"
