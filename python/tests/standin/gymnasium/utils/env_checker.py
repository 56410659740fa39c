"""Every rule of an Env's documented interface; the first that is broken raises."""
import copy
import inspect

import numpy as np

from gymnasium import core, error, spaces


def equal(a, b):
    """Same type, same structure, same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and all(equal(x, y) for x, y in zip(a.flat, b.flat))
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return a == b


def check_space(space, what):
    assert isinstance(space, spaces.Space), f"{what}: not a Space but {type(space)}"
    if isinstance(space, spaces.Box):
        assert space.low.shape == space.high.shape == space.shape, f"{what}: bounds have another shape"
        assert (space.low < space.high).all(), f"{what}: a low bound is not below its high bound"
        assert space.is_bounded(), f"{what}: a bound is infinite"
        if what == "action_space":
            assert (space.low == -space.high).all() or (space.low == 0).all(), "action_space: neither symmetric nor from 0"
            assert (space.low >= -1).all() and (space.high <= 1).all(), "action_space: not within -1 … 1"
    else:
        assert isinstance(space, spaces.Discrete) and space.n > 0 and space.shape == (), f"{what}: {space!r}"
    space.seed(3)
    first = space.sample()
    space.seed(3)
    assert equal(first, space.sample()), f"{what}: the same seed gives other samples"
    assert space.contains(first), f"{what}: a sample is not in the space"


def check_observation(observation, space, where):
    if isinstance(space, spaces.Box):
        assert isinstance(observation, np.ndarray), f"{where}: the observation is a {type(observation)}"
        assert observation.dtype == space.dtype, f"{where}: the observation is of {observation.dtype}, not {space.dtype}"
        assert observation.flags.owndata or observation.base is None, f"{where}: the observation shows somebody's memory"
    assert observation in space, f"{where}: {observation} is not in the observation space"


def check_reset_result(env, result):
    assert type(result) is tuple and len(result) == 2, f"reset() returned {type(result)}; (observation, info) is expected"
    check_observation(result[0], env.observation_space, "reset")
    assert type(result[1]) is dict, f"reset(): the info is a {type(result[1])}"
    return result


def check_step_result(env, result):
    assert type(result) is tuple and len(result) == 5, "step() has to return five values"
    observation, reward, terminated, truncated, info = result
    check_observation(observation, env.observation_space, "step")
    assert np.issubdtype(type(reward), np.floating) or np.issubdtype(type(reward), np.integer), f"the reward is a {type(reward)}"
    assert np.isfinite(reward), f"the reward is {reward}"
    assert isinstance(terminated, (bool, np.bool_)) and isinstance(truncated, (bool, np.bool_)), "the ends are not flags"
    assert type(info) is dict, f"step(): the info is a {type(info)}"
    return result


def check_signature(env):
    parameters = inspect.signature(env.reset).parameters
    for name in ("seed", "options"):
        assert name in parameters, f"reset() has no '{name}'"
        assert parameters[name].default is None, f"reset(): the default of '{name}' is not None"
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY, f"reset(): '{name}' is not for keywords only"
    assert "return_info" not in parameters, "reset() has the old 'return_info'"
    assert not callable(getattr(env, "seed", None)), "the old seed() is there"


def check_seeds(env):
    raw = env.unwrapped
    first, info_1 = check_reset_result(env, env.reset(seed=123))
    assert raw._np_random is not None, "reset(seed=…) made no generator: super().reset(seed=seed) is missing"
    assert raw.np_random_seed == 123 and env.np_random is raw.np_random
    state = copy.deepcopy(raw._np_random.bit_generator.state)
    second, info_2 = check_reset_result(env, env.reset(seed=123))
    assert equal(first, second) and equal(info_1, info_2), "the same seed begins another episode"
    assert raw._np_random.bit_generator.state == state, "the same seed leaves another generator"
    third, _ = check_reset_result(env, env.reset(seed=456))
    assert raw._np_random.bit_generator.state != state, "another seed leaves the same generator"
    assert not equal(second, third), "another seed begins the same episode"
    env.reset(seed=123)
    fourth, _ = check_reset_result(env, env.reset())
    assert not equal(first, fourth), "a reset without a seed begins the generator anew"
    env.reset(seed=123)
    assert equal(fourth, env.reset()[0]), "a reset without a seed does not go on with the generator"
    for bad in (-1, 1.5, "1"):
        try:
            env.reset(seed=bad)
        except (ValueError, TypeError, error.Error):
            continue
        raise AssertionError(f"reset(seed={bad!r}) was taken")


def rollout(env, seed, actions):
    found = [env.reset(seed=seed)]
    for action in actions:
        found.append(check_step_result(env, env.step(action)))
        if found[-1][2] or found[-1][3]:
            break
    return found


def check_steps(env, steps):
    env.action_space.seed(9)
    actions = [env.action_space.sample() for _ in range(steps)]
    kept = [action.copy() for action in actions]
    first = rollout(env, 7, actions)
    snapshot = copy.deepcopy(first)
    assert equal(actions, kept), "step() changed an action"
    assert equal(rollout(env, 7, actions), snapshot), "the same seed and actions give other bits"
    assert equal(first, snapshot), "a later step changed what an earlier one had returned"
    assert not equal(rollout(env, 8, actions)[-1][0], snapshot[-1][0]), "another seed gives the same"
    for wrong in (np.zeros(env.action_space.shape[0] + 1, np.float32), np.full(env.action_space.shape, np.nan, np.float32)):
        env.reset(seed=7)
        try:
            env.step(wrong)
        except (ValueError, AssertionError):
            continue
        raise AssertionError(f"step({wrong}) was taken")


def check_metadata(env):
    modes = env.metadata.get("render_modes")
    assert isinstance(modes, (list, tuple)) and all(isinstance(mode, str) for mode in modes), "metadata: render_modes"
    assert not modes or env.metadata.get("render_fps", 0) > 0, "metadata: render_fps"
    assert env.render_mode is None or env.render_mode in modes, f"render_mode {env.render_mode} is none of {modes}"
    if env.spec is not None:
        for mode in modes:
            with env.spec.make(render_mode=mode) as other:
                other.reset()
                frame = other.render()
                assert mode != "rgb_array" or (frame.dtype == np.uint8 and frame.ndim == 3 and frame.shape[2] == 3)


def check_env(env, steps=20):
    """Of an environment that nobody has reset yet. It is closed at the end."""
    assert isinstance(env, core.Env), f"{type(env)} is no gymnasium.Env"
    check_space(env.action_space, "action_space")
    check_space(env.observation_space, "observation_space")
    check_metadata(env)
    check_signature(env.unwrapped)
    try:
        env.step(env.action_space.sample())
    except error.ResetNeeded:
        pass
    else:
        raise AssertionError("step() before reset() was taken")
    check_reset_result(env, env.reset())
    check_reset_result(env, env.reset(options={}))
    check_seeds(env)
    check_steps(env, steps)
    assert str(env) and repr(env)
    env.close()
    env.close()
    try:
        env.reset()
    except Exception:  # any: what a closed environment says is its own
        return
    raise AssertionError("reset() after close() was taken")
