"""Vector environments: the base, and the one that steps single environments in a loop, which says what the words mean."""
import enum

import numpy as np

from gymnasium.utils import seeding
from gymnasium.vector import utils  # noqa: F401


class AutoresetMode(enum.Enum):
    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class VectorEnv:
    metadata = {}
    spec = None
    render_mode = None
    closed = False
    _np_random = None
    _np_random_seed = None

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

    def step(self, actions):
        raise NotImplementedError

    def close(self, **kwargs):
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self, **kwargs):
        pass

    @property
    def unwrapped(self):
        return self

    @property
    def np_random(self):
        if self._np_random is None:
            self._np_random, self._np_random_seed = seeding.np_random()
        return self._np_random

    @property
    def np_random_seed(self):
        if self._np_random_seed is None:
            self._np_random, self._np_random_seed = seeding.np_random()
        return self._np_random_seed

    def __del__(self):
        if not getattr(self, "closed", True):
            self.close()


class SyncVectorEnv(VectorEnv):
    def __init__(self, env_fns):
        self.envs = [make() for make in env_fns]
        self.num_envs = len(self.envs)
        self.metadata = {**self.envs[0].metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = utils.batch_space(self.single_action_space, self.num_envs)
        self._ended = np.zeros(self.num_envs, np.bool_)

    def reset(self, *, seed=None, options=None):
        seeds = [None if seed is None else seed + i for i in range(self.num_envs)] if not isinstance(seed, list) else seed
        results = [env.reset(seed=one, options=options) for env, one in zip(self.envs, seeds)]
        self._ended[:] = False
        return np.stack([observation for observation, _ in results]), self._batched([info for _, info in results])

    def step(self, actions):
        results = []
        for env, action, ended in zip(self.envs, actions, self._ended):
            if ended:
                observation, info = env.reset()
                results.append((observation, 0.0, False, False, info))
            else:
                results.append(env.step(action))
        observations, rewards, terminations, truncations, infos = zip(*results)
        self._ended = np.array(terminations, np.bool_) | np.array(truncations, np.bool_)
        return (np.stack(observations), np.array(rewards, np.float64), np.array(terminations, np.bool_),
                np.array(truncations, np.bool_), self._batched(infos))

    def _batched(self, infos):
        """A dictionary of arrays, and under `_key` whose they are."""
        batched = {}
        for i, info in enumerate(infos):
            for key, value in info.items():
                if key not in batched:
                    if type(value) in (int, float, bool) or isinstance(value, np.number):
                        batched[key] = np.zeros(self.num_envs, type(value))
                    elif isinstance(value, np.ndarray):
                        batched[key] = np.zeros((self.num_envs, *value.shape), value.dtype)
                    else:
                        batched[key] = np.full(self.num_envs, None, object)
                    batched[f"_{key}"] = np.zeros(self.num_envs, np.bool_)
                batched[key][i], batched[f"_{key}"][i] = value, True
        return batched

    def close_extras(self, **kwargs):
        for env in self.envs:
            env.close()
