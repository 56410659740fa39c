"""The base of environments, and of what is put around them."""
from gymnasium.utils import seeding


class Env:
    metadata = {"render_modes": []}
    render_mode = None
    spec = None
    _np_random = None
    _np_random_seed = None

    def step(self, action):
        raise NotImplementedError

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

    def render(self):
        raise NotImplementedError

    def close(self):
        pass

    @property
    def unwrapped(self):
        return self

    @property
    def np_random(self):
        if self._np_random is None:
            self._np_random, self._np_random_seed = seeding.np_random()
        return self._np_random

    @np_random.setter
    def np_random(self, value):
        self._np_random, self._np_random_seed = value, -1

    @property
    def np_random_seed(self):
        if self._np_random_seed is None:
            self._np_random, self._np_random_seed = seeding.np_random()
        return self._np_random_seed

    def __str__(self):
        return f"<{type(self).__name__}{f'<{self.spec.id}>' if self.spec else ' instance'}>"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
        return False


class Wrapper(Env):
    def __init__(self, env):
        assert isinstance(env, Env), f"only an Env can be wrapped, not {type(env)}"
        self.env = env

    def step(self, action):
        return self.env.step(action)

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options=options)

    def render(self):
        return self.env.render()

    def close(self):
        return self.env.close()

    @property
    def unwrapped(self):
        return self.env.unwrapped

    @property
    def np_random(self):
        return self.env.np_random

    @property
    def np_random_seed(self):
        return self.env.np_random_seed

    spec = property(lambda self: self.env.spec)
    metadata = property(lambda self: self.env.metadata)
    render_mode = property(lambda self: self.env.render_mode)
    action_space = property(lambda self: self.env.action_space)
    observation_space = property(lambda self: self.env.observation_space)
