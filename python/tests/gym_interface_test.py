#!/usr/bin/env python3
"""tether.gym follows Gymnasium's interface: with the strict stand-in in Gymnasium's place, and without any.

The stand-in (standin/gymnasium) raises for every rule that is broken; its SyncVectorEnv, which steps single environments in a loop,
says bit for bit what our VectorEnv has to give.
"""
import collections
import copy
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import unittest

import built
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
WITH_STANDIN = "WITH_STANDIN" in os.environ  # this process is the one that has it as `gymnasium`
if WITH_STANDIN:
    sys.path.insert(0, str(HERE / "standin"))
    import gymnasium
    from gymnasium.utils.env_checker import check_env, equal
    from gymnasium.utils.vector_checker import check_vector_env
else:
    sys.modules["gymnasium"] = None  # nobody finds one

import tether  # noqa: E402
import tether.gym  # noqa: E402
from tether.gym import interface  # noqa: E402

QUICK = str(HERE / "tasks" / "quick.yaml")
NAMES = ("tether/Reach-v0", "tether/Drive-v0", "tether/Crawl-v0")


class Counter(tether.gym.Task):
    """A task in Python."""

    scene = "gripper"
    max_steps = 6
    substeps = 2
    actions = [tether.gym.Action(["swivel.velocity"], -1, 1)]
    signals = ["swivel.position"]
    observed = [tether.gym.Observed("angle", -3, 3), tether.gym.Observed("wanted", -1, 1)]

    def start(self, rng):
        return tether.gym.Start(goals={"wanted": [rng.uniform(-1, 1)]}, commands={"swivel.velocity": rng.uniform(-1, 1)}, steps=3)

    def observe(self, frame):
        return np.stack([frame.signal("swivel.position"), frame.goals["wanted"][:, 0]], axis=1)

    def reward(self, frame):
        return frame.signal("swivel.position") - frame.before[:, 0]

    def ends(self, frame):
        return frame.steps == 4 + (frame.goals["wanted"][:, 0] > 0), np.zeros(frame.count, np.bool_)


@unittest.skipUnless(WITH_STANDIN, "in the process with the stand-in")
class Strict(unittest.TestCase):
    def test_the_standin_is_used(self):
        self.assertIs(interface.gymnasium, gymnasium)
        self.assertTrue(issubclass(tether.gym.Env, gymnasium.Env))
        self.assertTrue(issubclass(tether.gym.VectorEnv, gymnasium.vector.VectorEnv))
        self.assertIs(tether.gym.AutoresetMode, gymnasium.vector.AutoresetMode)

    def test_env(self):
        for task in (QUICK, Counter()):
            check_env(tether.gym.Env(task), steps=9)

    def test_ready_tasks_as_registered(self):
        for name in NAMES:
            with self.subTest(name):
                self.assertEqual(gymnasium.spec(name).max_episode_steps, tether.gym.make(name).task.max_steps)
                env = gymnasium.make(name, max_episode_steps=3)
                self.assertEqual(env.unwrapped.spec.id, name)
                self.assertIn(name, str(env.unwrapped))
                check_env(env, steps=3)

    def test_vector_env(self):
        for task in (QUICK, Counter()):
            check_vector_env(tether.gym.VectorEnv(task, 5, threads=2), steps=25)

    def test_vector_env_is_what_a_loop_over_envs_gives(self):
        for task in (QUICK, Counter()):
            ours = tether.gym.VectorEnv(task, 5, threads=2)
            loop = gymnasium.vector.SyncVectorEnv([lambda: tether.gym.Env(task)] * 5)
            ours.action_space.seed(1)
            self.assertTrue(equal(ours.reset(seed=21), loop.reset(seed=21)))
            ends = 0
            for _ in range(40):
                actions = ours.action_space.sample()
                mine, theirs = ours.step(actions), loop.step(actions)
                self.assertTrue(equal(mine, theirs), f"{mine}\n{theirs}")
                ends += int((mine[2] | mine[3]).sum())
            self.assertGreater(ends, 5)
            ours.close()
            loop.close()

    def test_make_vec(self):
        for mode in (None, "sync"):
            envs = gymnasium.make_vec("tether/Reach-v0", num_envs=3, vectorization_mode=mode)
            self.assertEqual(envs.spec.id, "tether/Reach-v0")
            check_batch = envs.reset(seed=1)[0]
            self.assertEqual(check_batch.shape, (3, 10))
            envs.close()

    def test_a_limit_above_the_task_s_own(self):
        env = gymnasium.make("tether/Reach-v0", max_episode_steps=103)
        env.reset(seed=1)
        ends = [env.step(np.zeros(4, np.float32))[3] for _ in range(103)]
        self.assertEqual((sum(ends), ends[-1]), (1, True))
        for mode in (None, "sync"):
            envs = gymnasium.make_vec("tether/Reach-v0", num_envs=2, vectorization_mode=mode, max_episode_steps=103)
            envs.reset(seed=1)
            ends = [envs.step(np.zeros((2, 4), np.float32))[3].all() for _ in range(103)]
            self.assertEqual((sum(ends), ends[-1]), (1, True), mode)
            envs.close()
        self.assertEqual(gymnasium.make("tether/Reach-v0").spec.max_episode_steps, 100)

    def test_register_a_file(self):
        for _ in range(2):  # the second time it is there
            tether.gym.register("tests/Quick-v3", QUICK)
        check_env(gymnasium.make("tests/Quick-v3"), steps=9)
        check_vector_env(gymnasium.make_vec("tests/Quick-v3", num_envs=3), steps=20)

    def test_register_another_file_and_names_of_others(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "short.yaml"
            file.write_text(pathlib.Path(QUICK).read_text().replace("max_steps: 9", "max_steps: 2"))
            tether.gym.register("tests/Other-v0", QUICK)
            tether.gym.register("tests/Other-v0", file)
            self.assertEqual(gymnasium.spec("tests/Other-v0").max_episode_steps, 2)
            self.assertEqual(gymnasium.make("tests/Other-v0").unwrapped.task.file, str(file))
        gymnasium.register("others/Cart-v0", entry_point="cart:Cart")
        with self.assertRaisesRegex(ValueError, "'others/Cart-v0' is registered for an environment that is not of tether.gym; choose another name"):
            tether.gym.register("others/Cart-v0", QUICK)
        self.assertEqual(gymnasium.spec("others/Cart-v0").entry_point, "cart:Cart")


class Own(unittest.TestCase):
    """What holds with and without Gymnasium."""

    def test_with_the_standin(self):
        if not WITH_STANDIN:
            done = subprocess.run([sys.executable, __file__, "-v"], env={**os.environ, "WITH_STANDIN": "1"}, check=False,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("test_vector_env_is_what_a_loop_over_envs_gives (__main__.Strict", done.stderr)

    def test_runs_are_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f"{i}.wpilog") for i in range(2)]
            envs, env = tether.gym.VectorEnv(QUICK, 3, threads=1), tether.gym.Env(QUICK)
            envs.sims[2].record(files[0])
            env.sim.record(files[1])
            envs.reset(seed=0)
            env.reset(seed=2)
            for _ in range(12):  # over an end
                _, _, terminated, truncated, _ = env.step(np.full(2, 0.3))
                if terminated or truncated:
                    env.reset()
                envs.step(np.full((3, 2), 0.3))
            self.assertEqual(env.sim.bodies[1].name, envs.sims[0].bodies[1].name)
            kept = env.sim
            envs.close()
            env.close()
            with self.assertRaises(tether.ClosedError):
                kept.step(1)
            for file in files:
                done = subprocess.run([built.BUILD / "tether", "verify", file], capture_output=True, text=True, check=False, env=built.ENVIRONMENT)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for get in (lambda: envs.sims, lambda: env.sim):
            with self.assertRaisesRegex(RuntimeError, "is closed"):
                get()

    def test_pickles_and_copies_are_refused(self):
        for make in (tether.gym.Env, tether.gym.VectorEnv):
            one = make(QUICK)
            for use in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, f"a tether.gym.{make.__name__} can't be pickled or copied: make another one"):
                    use(one)
            one.close()

    def test_paths_mean_what_they_meant(self):
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(QUICK).read_text()
            (pathlib.Path(folder) / "named").mkdir()
            (pathlib.Path(folder) / "named/gripper").mkdir()  # hides no shipped scene
            (pathlib.Path(folder) / "named/task.yaml").write_text(text)
            scene = (built.ROOT / "scenes/gripper.yaml").read_text()
            (pathlib.Path(folder) / "own.yaml").write_text(scene)
            (pathlib.Path(folder) / "beside.yaml").write_text(text.replace("scene: gripper", "scene: own.yaml"))
            os.chdir(folder)
            tasks = [tether.gym.load_task(path) for path in ("beside.yaml", "./named/task.yaml", pathlib.Path("beside.yaml"))]
            tether.gym.register("tests/Here-v0", "beside.yaml")
            os.chdir("/")
            first = tether.gym.Env(QUICK).reset(seed=3)[0].tobytes()
            for task in (*tasks, pathlib.Path(folder) / "beside.yaml"):
                self.assertEqual(tether.gym.Env(task).reset(seed=3)[0].tobytes(), first)
            self.assertEqual(tether.gym.make("tests/Here-v0").reset(seed=3)[0].tobytes(), first)
            if WITH_STANDIN:
                self.assertEqual(gymnasium.make("tests/Here-v0").reset(seed=3)[0].tobytes(), first)
        for path in ("./none.yaml", pathlib.Path("none")):
            with self.assertRaisesRegex(tether.gym.TaskError, "none.*: No such file"):
                tether.gym.register("tests/None-v0", path)

    def test_bits_do_not_depend_on_number_or_threads(self):
        def run(count, threads):
            envs = tether.gym.VectorEnv(QUICK, count, threads=threads)
            found = [envs.reset(seed=100)[0][:3]]
            rng = np.random.default_rng(4)
            for _ in range(24):
                actions = rng.uniform(-1, 1, (7, 2))[:count]
                found.extend(part[:3] for part in envs.step(actions)[:4])
            envs.close()
            return [part.tobytes() for part in found]

        first = run(3, 1)
        for count, threads in ((3, 3), (4, 2), (7, 1), (7, 3)):
            self.assertEqual(run(count, threads), first, f"{count} environments on {threads} threads")

    def test_actions_of_one_are_the_bounds_to_the_bit(self):
        class Servo(tether.gym.Task):
            """Bounds that are the command's own at one end, and no sums of binary fractions."""

            scene = "xrp"
            substeps = 2
            actions = [tether.gym.Action(["arm_servo"], -1.5, 1.5708)]
            signals = ["command:arm_servo"]
            observed = [tether.gym.Observed("servo", -2, 2)]

            def observe(self, frame):
                return frame.signals.copy()

            def reward(self, frame):
                return frame.signals[:, 0]

        task = Servo()
        for low, high in ((-1.5, 1.5708), (1.5708, -1.5), (-1.5708, 0.5), (0.5, -1.5708), (-0.3, 1.3), (0.9, 1.3)):
            with self.subTest(f"{low} {high}"):
                task.actions = [tether.gym.Action(["arm_servo"], low, high)]
                envs = tether.gym.VectorEnv(task, 4, threads=1)
                envs.reset(seed=0)
                _, rewards, _, truncations, infos = envs.step(np.array([[-1], [1], [np.nextafter(1, 0)], [-7]]))
                self.assertNotIn("failure", infos)
                self.assertEqual(rewards[[0, 1, 3]].tolist(), [low, high, low])
                self.assertTrue(min(low, high) <= rewards[2] <= max(low, high))
                envs.close()

    def test_env_is_a_row(self):
        envs, env = tether.gym.make_vec(QUICK, 4, threads=2), tether.gym.make(QUICK)
        rows, infos = envs.reset(seed=30)
        one, info = env.reset(seed=32)
        self.assertEqual(one.tobytes(), rows[2].tobytes())
        self.assertEqual(info["error"].tobytes(), infos["error"][2].tobytes())
        for _ in range(9):
            action = envs.action_space.sample()
            rows, rewards, terminations, truncations, infos = envs.step(action)
            one, reward, terminated, truncated, info = env.step(action[2])
            self.assertEqual(one.tobytes(), rows[2].tobytes())
            self.assertEqual((reward, terminated, truncated), (rewards[2], terminations[2], truncations[2]))
            self.assertEqual(info["distance"], infos["distance"][2])
            if terminated or truncated:
                break
        with self.assertRaises(tether.gym.ResetNeeded):
            env.step(action[2])
        self.assertEqual(env.reset()[0].tobytes(), envs.step(action)[0][2].tobytes())

    def test_copies_unless_asked_otherwise(self):
        envs = tether.gym.VectorEnv(QUICK, 2, copy=False)
        first, _ = envs.reset(seed=1)
        before = first.copy()
        second = envs.step(np.zeros((2, 2)))[0]
        self.assertIs(first, second)
        self.assertNotEqual(first.tobytes(), before.tobytes())

    def test_options(self):
        envs = tether.gym.VectorEnv(QUICK, 3)
        envs.reset(seed=1, options={"goals": {"target": [1.5, 0.5, 2.5]}})
        rows, _ = envs.reset(options={"goals": {"target": [[1, 2, 3], [2, 3, 3.5], [3, 4, 1]]}})
        self.assertEqual(rows[:, -2:].tolist(), [[3, 1], [3.5, 2], [1, 3]])
        kept = envs.step(np.zeros((3, 2)))[0]
        again, _ = envs.reset(options={"reset_mask": np.array([True, False, False])})
        self.assertNotEqual(again[0].tobytes(), kept[0].tobytes())
        self.assertEqual(again[1:, 2:5].tobytes(), kept[1:, 2:5].tobytes())
        for options, text in (({"goal": {}}, "did you mean 'goals'"), ({"goals": {"targt": [1, 2, 3]}}, "did you mean 'target'"),
                              ({"goals": {"target": [1, 2]}}, "3 finite numbers are expected"),
                              ({"goals": {"target": [1, 2, float("nan")]}}, "finite"), ({"reset_mask": [1, 0, 0]}, "reset_mask")):
            with self.assertRaisesRegex(ValueError, text):
                envs.reset(options=options)

    def test_a_reset_that_is_refused_changes_nothing(self):
        refused = [{"options": {"goals": {"targt": [1, 2, 3]}}}, {"seed": 5, "options": {"goals": {"target": [1, 2]}}}]
        zero = np.zeros((3, 2))
        envs, twin = (tether.gym.VectorEnv(QUICK, 3, threads=1) for _ in range(2))
        for one in (envs, twin):
            one.reset(seed=0)
        for arguments in (*refused, {"seed": [5, -1, 2]}):
            with self.assertRaises(ValueError):
                envs.reset(**arguments)
            self.assertEqual(envs.np_random_seed, twin.np_random_seed)
        for _ in range(12):  # over ends, and the beginning of the next episodes
            for one, other in zip(envs.step(zero)[:4], twin.step(zero)[:4]):
                np.testing.assert_array_equal(one, other)
        env, twin = (tether.gym.Env(QUICK) for _ in range(2))
        for one in (env, twin):
            one.reset(seed=0)
        for arguments in (*refused, {"seed": -1}):
            with self.assertRaises(ValueError):
                env.reset(**arguments)
            self.assertEqual(env.np_random_seed, twin.np_random_seed)
        np.testing.assert_array_equal(env.step(zero[0])[0], twin.step(zero[0])[0])
        np.testing.assert_array_equal(env.reset()[0], twin.reset()[0])
        env.reset(seed=7)
        self.assertEqual(env.np_random_seed, 7)

    def test_options_do_not_change_what_a_task_begins_with(self):
        class Same(Counter):
            begin = tether.gym.Start(goals={"wanted": [0.5]})

            def start(self, rng):
                return self.begin

        envs = tether.gym.VectorEnv(Same(), 3, threads=1)
        for options, wanted in ((None, [0.5] * 3), ({"goals": {"wanted": [[0.1], [0.2], [0.3]]}}, [0.1, 0.2, 0.3]), (None, [0.5] * 3)):
            np.testing.assert_allclose(envs.reset(seed=0, options=options)[0][:, 1], wanted, rtol=1e-6)
        self.assertEqual(Same.begin.goals, {"wanted": [0.5]})

    def test_a_task_that_fails_in_the_middle(self):
        """What a task raises reaches the caller, and the environment goes on after a reset as if nothing had been."""
        class Failing(Counter):
            where = ""

            def start(self, rng):
                return super().start(rng) if self.where != "start" else 1 / 0

            def observe(self, frame):
                return super().observe(frame) * (math.nan if self.where == "observe" else 1)

            def reward(self, frame):
                return super().reward(frame) if self.where != "reward" else 1 / 0

        task = Failing()
        envs, fresh = tether.gym.VectorEnv(task, 3, threads=2), tether.gym.VectorEnv(Counter(), 3)
        envs.reset(seed=1)
        for task.where, call, error in (("start", envs.reset, ZeroDivisionError), ("observe", envs.reset, ValueError),
                                        ("reward", lambda: envs.step(np.zeros((3, 1))), ZeroDivisionError),
                                        ("observe", lambda: envs.step(np.zeros((3, 1))), ValueError)):
            with self.subTest(f"{task.where} {call}"):
                with self.assertRaisesRegex(error, "'angle' of environment 0 is NaN" if task.where == "observe" else ""):
                    call()
            where, task.where = task.where, ""
            if where != "start":  # where nothing had begun, the old episodes go on
                with self.assertRaises(tether.gym.ResetNeeded):
                    envs.step(np.zeros((3, 1)))
                envs.reset()
        task.where = ""
        np.testing.assert_array_equal(envs.reset(seed=2)[0], fresh.reset(seed=2)[0])
        for _ in range(9):
            for one, other in zip(envs.step(np.full((3, 1), 0.5))[:4], fresh.step(np.full((3, 1), 0.5))[:4]):
                np.testing.assert_array_equal(one, other)

    def test_nothing_goes_on_from_a_reset_that_broke_off(self):
        class Stop(Exception):
            """What a signal's handler raises, as that of Ctrl-C raises KeyboardInterrupt."""

        class Long(Counter):
            """Its warm-up never ends by itself where it is `endless`, and asks for what no command allows where it is `wrong`."""

            endless, wrong, drawn = False, False, 0

            def start(self, rng):
                start = super().start(rng)
                self.drawn += 1
                if self.wrong and self.drawn == 2:  # one went through
                    start.commands = {"swivel.velocity": 1e9}
                if self.endless:
                    start.commands, start.steps = Armed(start.commands), 10**12
                return start

        class Armed(collections.UserDict):
            """Commands that send the signal when the warm-up asks for them."""

            def keys(self):
                signal.setitimer(signal.ITIMER_REAL, 0.001)
                return super().keys()

        def handle(*_):
            raise Stop

        old = signal.signal(signal.SIGALRM, handle)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        task, zero = Long(), np.zeros((3, 1))
        envs, fresh = tether.gym.VectorEnv(task, 3, threads=1), tether.gym.VectorEnv(Counter(), 3, threads=1)
        env = tether.gym.Env(task)
        for name, error in (("endless", Stop), ("wrong", tether.InvalidError)):
            with self.subTest(name):
                envs.reset(seed=1)
                envs.step(zero)
                setattr(task, name, True)
                task.drawn = 0
                with self.assertRaises(error):
                    envs.reset(seed=5)
                setattr(task, name, False)
                for _ in range(2):
                    with self.assertRaisesRegex(tether.gym.ResetNeeded, "call reset"):
                        envs.step(zero)
                with self.assertRaisesRegex(ValueError, "no episode is under way in 1, 2; reset these environments, too"):
                    envs.reset(options={"reset_mask": np.array([True, False, False])})
                np.testing.assert_array_equal(envs.reset(seed=2)[0], fresh.reset(seed=2)[0])
                for one, other in zip(envs.step(zero)[:4], fresh.step(zero)[:4]):
                    np.testing.assert_array_equal(one, other)
                env.reset(seed=1)
                env.step(zero[0])
                setattr(task, name, True)
                task.drawn = 1
                with self.assertRaises(error):
                    env.reset(seed=5)
                setattr(task, name, False)
                with self.assertRaisesRegex(tether.gym.ResetNeeded, "call reset"):
                    env.step(zero[0])

    def test_what_is_wrong_in_a_start_is_told_with_task_and_function(self):
        class Begins(Counter):
            made = None

            def start(self, rng):
                return self.made(rng)

        task, Start = Begins(), tether.gym.Start
        mass = "models.gripper.bodies.forearm.mass"
        for kind, made, text in ((ValueError, lambda rng: None, "Begins.start: None; a Start is expected"),
                                 (ValueError, lambda rng: Start(goals={"wanted": "far"}), "Begins.start: goals: wanted: 'far'; a list of numbers"),
                                 (ValueError, lambda rng: Start(goals={"wanted": 3}), "Begins.start: goals: wanted: 3; a list of numbers"),
                                 (ValueError, lambda rng: Start(goals={"wanted": [1, 2]}), r"Begins.start: goals: wanted: \[1, 2\]; .* as many each time"),
                                 (tether.InvalidError, lambda rng: Start(values={mass: -5}), f"Begins.start: {mass}: -5 is out of its range"),
                                 (tether.NotFoundError, lambda rng: Start(commands={"nope": 1}, steps=1), "Begins.start: command: no command is called 'nope'"),
                                 (tether.InvalidError, lambda rng: Start(steps=-1), "Begins.start: steps: -1; give at least 1")):
            envs = tether.gym.VectorEnv(task, 2, threads=1)
            task.made = super(Begins, task).start
            envs.reset(seed=1)
            task.made = made
            with self.assertRaisesRegex(kind, f"^{text}"):
                envs.reset(seed=2)
        task.made = lambda rng: 1 // 0  # an error of its own stays what it is
        with self.assertRaises(ZeroDivisionError):
            envs.reset(seed=2)

    def test_what_a_task_says_has_a_row_an_environment(self):
        """NumPy would give all of them the same."""
        class Wrong(Counter):
            what = ""
            told = None

            def observe(self, frame):
                return self.told if self.what == "observe" else super().observe(frame)

            def reward(self, frame):
                return self.told if self.what == "reward" else super().reward(frame)

            def ends(self, frame):
                return (self.told, np.zeros(3, bool)) if self.what == "ends" else super().ends(frame)

        task = Wrong()
        envs = tether.gym.VectorEnv(task, 3)
        for what, told, text in (("observe", np.zeros((3, 1)), r"observe: shape \(3, 1\); \(3, 2\) is expected"),
                                 ("observe", np.zeros(2), r"observe: shape \(2,\); \(3, 2\)"),
                                 ("observe", 0.5, r"observe: shape \(\); \(3, 2\)"),
                                 ("reward", np.float64(1), r"reward: shape \(\); \(3,\) is expected"),
                                 ("reward", np.zeros((3, 1)), r"reward: shape \(3, 1\); \(3,\)"),
                                 ("reward", np.array([0, np.nan, 0]), "reward: that of environment 1 is NaN"),
                                 ("ends", True, r"ends: shape \(\); \(3,\)")):
            task.what = ""
            envs.reset(seed=1)
            task.what, task.told = what, told
            with self.assertRaisesRegex(ValueError, text):
                envs.step(np.zeros((3, 1)))

    def test_seeds_are_python_s_or_numpy_s(self):
        envs = tether.gym.VectorEnv(QUICK, np.int64(3), threads=1)
        first = envs.reset(seed=4)[0].tobytes()
        for seed in (np.int64(4), np.array(4), [4, 5, 6], (4, 5, 6), np.array([4, 5, 6]), range(4, 7)):
            self.assertEqual(envs.reset(seed=seed)[0].tobytes(), first, seed)

    def test_an_action_that_is_ignored_may_be_anything(self):
        envs, twin = (tether.gym.VectorEnv(QUICK, 3, threads=1) for _ in range(2))
        for one in (envs, twin):
            one.reset(seed=0)
            one.step(np.zeros((3, 2)))
            one.reset(options={"reset_mask": np.array([False, True, False])})  # it ends later than the others
        ended, odd = np.zeros(3, bool), 0
        for _ in range(24):
            action = np.zeros((3, 2))
            expected = twin.step(action)
            action[ended] = [[np.nan, np.inf]]
            odd += ended.any() and not ended.all()
            for one, other in zip(envs.step(action)[:4], expected):
                np.testing.assert_array_equal(one, other)
            ended = expected[2] | expected[3]
            if not ended.all():
                action[np.argmin(ended)] = np.nan
                with self.assertRaisesRegex(ValueError, "is not finite; nothing was stepped"):
                    envs.step(action)
        self.assertGreater(odd, 0)

    def test_wrong_arguments(self):
        class Begins(Counter):
            def start(self, rng):
                return None

        envs = tether.gym.VectorEnv(QUICK, 3)
        with self.assertRaises(tether.gym.ResetNeeded):
            envs.step(np.zeros((3, 2)))
        envs.reset(seed=0)
        for call, text in ((lambda: envs.step(np.zeros((3, 1))), r"\(3, 2\) is expected"),
                           (lambda: envs.step(np.full((3, 2), np.inf)), r"\[0, 0\] is not finite"),
                           (lambda: envs.reset(seed=[1, 2]), "2 given"), (lambda: envs.reset(seed=-1), "seed"),
                           (lambda: envs.reset(options=5), "options: 5; a dictionary"),
                           (lambda: envs.reset(options={"goals": 5}), "options: goals: 5; a dictionary"),
                           (lambda: tether.gym.make("reach").reset(options={"goals": {"target": "far"}}), "target: 3 finite numbers"),
                           (lambda: envs.step("ab"), r"action: 'ab'; numbers are expected, in the shape \(3, 2\)"),
                           (lambda: envs.reset(seed=1.5), "seed: 1.5; a whole number of at least 0"),
                           (lambda: envs.reset(seed=True), "seed: True; a whole number"),
                           (lambda: envs.reset(seed="abc"), "seed: 'abc'; a whole number"),
                           (lambda: envs.reset(seed=[0, 1.5, 2]), r"seed\[1\]: 1.5; a whole number"),
                           (lambda: envs.reset(seed=np.array([0.5, 1.5, 2.5])), r"seed\[0\]: .*0.5.*; a whole number"),
                           (lambda: tether.gym.Env(QUICK).reset(seed=True), "seed: True; a whole number"),
                           (lambda: tether.gym.Env(QUICK).reset(seed=1.5), "seed: 1.5; a whole number"),
                           (lambda: tether.gym.VectorEnv(QUICK, 0), "num_envs: 0"),
                           (lambda: tether.gym.VectorEnv(QUICK, 1.5), "num_envs: 1.5; a whole number of at least 1"),
                           (lambda: tether.gym.VectorEnv(QUICK, "8"), "num_envs: '8'; a whole number"),
                           (lambda: tether.gym.VectorEnv(QUICK, True), "num_envs: True; a whole number"),
                           (lambda: tether.gym.Env(QUICK, max_episode_steps=True), "max_episode_steps: True"),
                           (lambda: tether.gym.Env(Begins()).reset(), "start: None; a Start is expected"),
                           (lambda: tether.gym.Env(QUICK, max_episode_steps=0), "max_episode_steps: 0"),
                           (lambda: tether.gym.Env(QUICK, max_episode_steps=1.5), "max_episode_steps: 1.5"),
                           (lambda: tether.gym.Env(QUICK, render_mode="human"), "render_mode"),
                           (lambda: tether.gym.Env(3), "a Task, the path"),
                           (lambda: tether.gym.Env("reech"), "did you mean 'reach'")):
            with self.assertRaisesRegex(ValueError, text):
                call()
        class Twice(Counter):
            held = {"swivel.velocity": 1}

        with self.assertRaisesRegex(tether.gym.TaskError, "command 'swivel.velocity' is driven twice"):
            tether.gym.Env(Twice())
        envs.close()
        envs.close()
        with self.assertRaises(RuntimeError):
            envs.reset()

    def test_a_simulation_that_fails_ends_its_episode_alone(self):
        class Breaks(Counter):
            """Asks for what the command does not allow, in row 1."""

            def drive(self, values, frame):
                values[1:2, 0] = np.where(frame.steps[1:2] == 2, 1e9, values[1:2, 0])

        envs = tether.gym.VectorEnv(Breaks(), 3)
        envs.reset(seed=0)
        zero = np.zeros((3, 1))
        for _ in range(2):
            self.assertFalse(envs.step(zero)[3].any())
        _, rewards, terminations, truncations, infos = envs.step(zero)
        self.assertEqual(truncations.tolist(), [False, True, False])
        self.assertFalse(terminations[1])
        self.assertEqual(rewards[1], 0)
        self.assertEqual(infos["_failure"].tolist(), [False, True, False])
        self.assertIn("swivel.velocity", infos["failure"][1])
        _, _, terminations, truncations, infos = envs.step(zero)
        self.assertFalse(terminations[1] or truncations[1])
        self.assertNotIn("failure", infos)

    def test_a_warm_up_that_fails_ends_its_episode_alone(self):
        class Breaks(tether.gym.Task):
            """Begins with a torque that no step of 0.1 s can follow, in the episodes of `bad`."""

            scene = "frc2011"
            settings = {"timestep": "0.1 s", "io_period": "0.1 s"}
            max_steps = 2
            actions = [tether.gym.Action(["arm.velocity"], -1, 1)]
            signals = ["time"]
            observed = [tether.gym.Observed("time", 0, 100)]
            begun, bad = 0, (1, 6)

            def start(self, rng):
                self.begun += 1
                return tether.gym.Start(values={"models.frc2011.bodies.chassis.mass": 40 + self.begun},
                                        commands={"arm.torque": 1e6 if self.begun - 1 in self.bad else 0}, steps=2)

            def observe(self, frame):
                return frame.signal("time")[:, None]

            def reward(self, frame):
                return np.ones(frame.count)

        task, zero = Breaks(), np.zeros((4, 1))
        envs = tether.gym.VectorEnv(task, 4)
        self.assertNotIn("failure", envs.reset(seed=0)[1])
        # Episode 1 breaks off in row 1, which begins the fourth next; then the other rows begin theirs, the sixth in row 2.
        for step, (ends, broken) in enumerate((([1], [1]), ([0, 2, 3], []), ([], []), ([1, 2], [2]))):
            with self.subTest(step):
                _, rewards, terminations, truncations, infos = envs.step(zero)
                self.assertEqual(np.flatnonzero(truncations).tolist(), ends)
                self.assertFalse(terminations.any())
                self.assertEqual(np.flatnonzero(infos.get("_failure", [])).tolist(), broken)
                for row in broken:
                    self.assertIn("diverged", infos["failure"][row])
                    self.assertEqual(rewards[row], 0)
        self.assertEqual(task.begun, 8)
        task.bad = range(8, 12)
        self.assertNotIn("failure", envs.reset()[1])
        self.assertNotIn("failure", envs.reset()[1])  # before anybody was told
        self.assertFalse(envs.step(zero)[3].any())
        envs.close()

    def test_noise(self):
        from tether.gym import terms
        keys = np.arange(200, dtype=np.uint64) * np.uint64(7919)
        numbers = np.concatenate([terms.noise(keys, np.full(200, step), 5) for step in range(100)])
        self.assertLess(abs(numbers.mean()), 0.01)
        self.assertLess(abs(numbers.std() - 1), 0.01)
        self.assertLess(np.abs(np.corrcoef(numbers.T) - np.eye(5)).max(), 0.02)
        self.assertLess(abs(np.corrcoef(numbers[:-200, 0], numbers[200:, 0])[0, 1]), 0.02)
        self.assertEqual(terms.noise(keys[7:8], np.array([3]), 5).tobytes(), terms.noise(keys, np.full(200, 3), 5)[7].tobytes())


class Spaces(unittest.TestCase):
    """Our own spaces, and those of the stand-in where they are the same."""

    def test_box(self):
        box = interface.Box(np.array([-1, 0], np.float32), np.array([1, 5], np.float32))
        self.assertEqual((box.shape, box.dtype), ((2,), np.float32))
        self.assertTrue(box.is_bounded())
        box.seed(4)
        samples = [box.sample() for _ in range(200)]
        self.assertTrue(all(sample in box for sample in samples))
        box.seed(4)
        self.assertEqual(box.sample().tobytes(), samples[0].tobytes())
        self.assertNotIn(np.array([0, 6], np.float32), box)
        self.assertNotIn(np.zeros(2, np.float64), box)
        self.assertNotIn(np.zeros(3, np.float32), box)
        self.assertEqual(box, interface.Box(box.low, box.high))
        self.assertEqual(interface.batch_space(box, 3).shape, (3, 2))

    @unittest.skipIf(WITH_STANDIN, "the stand-in has bounded boxes only")
    def test_own_spaces(self):
        half = interface.Box(0, np.inf, (3,))
        self.assertFalse(half.is_bounded())
        self.assertTrue(half.is_bounded("below"))
        for space in (half, interface.Box(-np.inf, 4.0, (2, 2)), interface.Box(-np.inf, np.inf, (1,), np.float64),
                      interface.Box(-2, 3, (4,), np.int32), interface.Discrete(5), interface.Discrete(2, start=-3),
                      interface.batch_space(interface.Discrete(3), 4)):
            space.seed(1)
            self.assertTrue(all(space.sample() in space for _ in range(50)), space)
            self.assertEqual(space.from_jsonable(space.to_jsonable([space.sample()]))[0].dtype, space.dtype)
            self.assertNotIn("x", space)
        self.assertNotIn(5, interface.Discrete(5))
        with self.assertRaises(ValueError):
            interface.Box(1, 0, (2,))


if __name__ == "__main__":
    unittest.main()
