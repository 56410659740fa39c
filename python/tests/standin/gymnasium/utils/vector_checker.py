"""Every rule of a VectorEnv's documented interface with autoreset in the next step; the first that is broken raises."""
import copy
import inspect

import numpy as np

from gymnasium import error, vector
from gymnasium.utils.env_checker import check_space, equal
from gymnasium.vector.utils import batch_space


def check_infos(infos, count):
    assert type(infos) is dict, f"the infos are a {type(infos)}"
    for key, value in infos.items():
        if key.startswith("_"):
            assert key[1:] in infos, f"infos: '{key}' without '{key[1:]}'"
            assert isinstance(value, np.ndarray) and value.dtype == np.bool_ and value.shape == (count,), f"infos: '{key}'"
        else:
            assert f"_{key}" in infos, f"infos: '{key}' without '_{key}'"
            assert isinstance(value, np.ndarray) and value.shape[:1] == (count,), f"infos: '{key}' is no array of {count}"


def check_batch(envs, observations, where):
    assert isinstance(observations, np.ndarray) and observations.dtype == envs.single_observation_space.dtype, where
    assert observations in envs.observation_space, f"{where}: observations are not in the space"


def check_reset(envs, result):
    assert type(result) is tuple and len(result) == 2, "reset() has to return (observations, infos)"
    check_batch(envs, result[0], "reset")
    check_infos(result[1], envs.num_envs)
    return result


def check_step(envs, result):
    assert type(result) is tuple and len(result) == 5, "step() has to return five values"
    observations, rewards, terminations, truncations, infos = result
    check_batch(envs, observations, "step")
    assert rewards.shape == (envs.num_envs,) and rewards.dtype == np.float64 and np.isfinite(rewards).all(), "rewards"
    for flags in (terminations, truncations):
        assert isinstance(flags, np.ndarray) and flags.dtype == np.bool_ and flags.shape == (envs.num_envs,), "ends"
    check_infos(infos, envs.num_envs)
    return result


def rollout(envs, seed, actions):
    """Ends at every moment of an episode: checks what autoreset in the next step promises."""
    found = [check_reset(envs, envs.reset(seed=seed))]
    ended = np.zeros(envs.num_envs, np.bool_)
    for batch in actions:
        result = check_step(envs, envs.step(batch))
        _, rewards, terminations, truncations, _ = result
        assert not rewards[ended].any(), "the step that resets gives a reward"
        assert not terminations[ended].any() and not truncations[ended].any(), "the step that resets ends the new episode"
        found.append(result)
        ended = terminations | truncations
    return found


def check_vector_env(envs, steps):
    """Of an environment that nobody has reset yet, and whose episodes are shorter than `steps`. It is closed at the end."""
    assert isinstance(envs, vector.VectorEnv), f"{type(envs)} is no gymnasium.vector.VectorEnv"
    assert type(envs.num_envs) is int and envs.num_envs > 1 and envs.closed is False
    assert envs.metadata["autoreset_mode"] is vector.AutoresetMode.NEXT_STEP, "metadata: autoreset_mode"
    check_space(envs.single_action_space, "action_space")
    check_space(envs.single_observation_space, "observation_space")
    assert envs.observation_space == batch_space(envs.single_observation_space, envs.num_envs), "observation_space"
    assert envs.action_space == batch_space(envs.single_action_space, envs.num_envs), "action_space"
    parameters = inspect.signature(envs.reset).parameters
    assert all(parameters[name].default is None for name in ("seed", "options"))
    try:
        envs.step(envs.action_space.sample())
    except error.ResetNeeded:
        pass
    else:
        raise AssertionError("step() before reset() was taken")
    envs.action_space.seed(5)
    actions = [envs.action_space.sample() for _ in range(steps)]
    first = rollout(envs, 11, actions)
    assert any((result[2] | result[3]).any() for result in first[1:-1]), "no episode ended: that proves nothing"
    snapshot = copy.deepcopy(first)
    assert equal(rollout(envs, 11, actions), snapshot), "the same seed and actions give other bits"
    assert equal(first, snapshot), "a later step changed what an earlier one had returned"
    for array in first[-1][:4]:
        array[:] = 0
    assert equal(envs.reset(seed=11), snapshot[0]), "what was returned is the environment's own memory"
    assert equal(rollout(envs, [11 + i for i in range(envs.num_envs)], actions), snapshot), "seeds are not seed + i"
    assert not equal(envs.reset(seed=12), snapshot[0]), "another seed begins the same"
    check_ignored_action(envs, actions, snapshot)
    envs.close()
    envs.close()
    assert envs.closed is True


def check_ignored_action(envs, actions, snapshot):
    """In the step that resets a row, its action changes nothing."""
    envs.reset(seed=11)
    for at, batch in enumerate(actions):
        ended = snapshot[at][2] | snapshot[at][3] if at else np.zeros(envs.num_envs, np.bool_)
        other = batch.copy()
        other[ended] = -other[ended]
        assert equal(envs.step(other), snapshot[at + 1]), "the step that resets looks at the action"
