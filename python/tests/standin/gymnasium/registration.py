"""register, make, make_vec; what make() puts around an environment is strict: every call is checked."""
import copy
import dataclasses
import importlib
import re

from gymnasium import core, error, vector
from gymnasium.utils.env_checker import check_reset_result, check_step_result

registry = {}
NAME = re.compile(r"^(?:[\w:-]+/)?[\w:.-]+?-v\d+$")


@dataclasses.dataclass
class EnvSpec:
    id: str
    entry_point: object = None
    nondeterministic: bool = False
    max_episode_steps: "int | None" = None
    order_enforce: bool = True
    disable_env_checker: bool = False
    kwargs: dict = dataclasses.field(default_factory=dict)
    additional_wrappers: tuple = ()
    vector_entry_point: object = None

    def make(self, **kwargs):
        return make(self, **kwargs)


class Checked(core.Wrapper):
    """What the passive checker and the enforcer of order do, for every call."""

    begun = False

    def reset(self, *, seed=None, options=None):
        self.begun = True
        return check_reset_result(self.env, self.env.reset(seed=seed, options=options))

    def step(self, action):
        if not self.begun:
            raise error.ResetNeeded("call reset() first")
        assert action in self.action_space, f"{action!r} is not in the action space"
        return check_step_result(self.env, self.env.step(action))


class TimeLimit(core.Wrapper):
    def __init__(self, env, most):
        super().__init__(env)
        self.most, self.steps = most, 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        return observation, reward, terminated, truncated or self.steps >= self.most, info


def register(id, entry_point=None, **more):
    assert NAME.match(id), f"'{id}' is no name of an environment: [namespace/]Name-v0 is expected"
    assert id not in registry, f"'{id}' is registered already"
    registry[id] = EnvSpec(id, entry_point, **more)


def spec(id):
    if id not in registry:
        raise error.NameNotFound(id)
    return registry[id]


def load(entry_point):
    if callable(entry_point):
        return entry_point
    module, name = entry_point.split(":")
    return getattr(importlib.import_module(module), name)


def make(id, max_episode_steps=None, **kwargs):
    found = copy.deepcopy(id if isinstance(id, EnvSpec) else spec(id))
    found.kwargs.update(kwargs)
    env = load(found.entry_point)(**found.kwargs)
    env.unwrapped.spec = found
    assert isinstance(env, core.Env)
    most = max_episode_steps or found.max_episode_steps
    return TimeLimit(Checked(env), most) if most else Checked(env)


def make_vec(id, num_envs=1, vectorization_mode=None, **kwargs):
    found = copy.deepcopy(id if isinstance(id, EnvSpec) else spec(id))
    if vectorization_mode == "sync" or found.vector_entry_point is None:
        envs = vector.SyncVectorEnv([lambda: make(found, **kwargs)] * num_envs)
    else:
        found.kwargs.update(kwargs)
        if found.max_episode_steps is not None:
            found.kwargs.setdefault("max_episode_steps", found.max_episode_steps)
        envs = load(found.vector_entry_point)(num_envs=num_envs, **found.kwargs)
        assert "autoreset_mode" in envs.metadata, "metadata: autoreset_mode is missing"
    found.kwargs["num_envs"] = num_envs
    envs.unwrapped.spec = found
    return envs
