#!/usr/bin/env python3
"""Task files: what each key does, and what is said of a wrong one: file, line, key and remedy."""
import os
import pathlib
import pickle
import re
import tempfile
import unittest

import built
import numpy as np

import tether.gym
from tether.gym import task_file

LONG = os.environ.get("TETHER_LONG") == "1"
PAGE = (built.ROOT / "docs/gym.md").read_text()
HEAD = """\
scene: gripper
substeps: 3
max_steps: 5
actions:
  - {command: swivel.velocity, range: [-2, 4]}
goals:
"""
GOOD = HEAD + """\
  target: {low: [1, 2, 3], high: [1, 2, 3]}
quantities:
  hand: [hand.x, hand.y, hand.z]
  way: {difference: [target, hand]}
observations:
  - {value: way, range: [-9, 9]}
rewards:
  - {square: way}
ends:
  - {name: off, value: {norm: way}, above: 50}
"""
EVERY_REWARD = HEAD + """\
  target: {low: [1, 2, 3], high: [2, 3, 4]}
quantities:
  way: {difference: [target, [hand.x, hand.y, hand.z]]}
observations:
  - {value: way, range: [-9, 9]}
rewards:
  - {value: swivel.position, weight: 3}
  - {change: swivel.position, weight: 10}
  - {near: {norm: way}, within: 2, weight: 100}
  - {square: action, weight: 1000}
  - {each_step: 10000}
  - {end: turned, weight: 100000}
ends:
  - {name: turned, value: swivel.position, above: 0.02}
start:
  steps: 4
  commands: {swivel.velocity: [1, 2]}
info: [swivel.position, way]
"""
# What of the good file is replaced, by what, and what is said of it.
WRONG = [
    ("scene: gripper", "scene: griper", r":1: scene: .*did you mean 'gripper'"),
    ("scene: gripper", "scen: gripper", r":1: unknown key 'scen'; did you mean 'scene'\?"),
    ("scene: gripper\n", "", r":1: key 'scene' is missing"),
    ("scene: gripper", "scene: gripper\nscene: sharp", r":2: key 'scene' stands twice"),
    ("scene: gripper", "scene: [gripper", r":\d+: "),
    ("scene: gripper", "scene:", r":1: scene: a text is expected"),
    ("substeps: 3", "settings: {timstep: 1/600 s}", r":2: settings.timstep: unknown key 'timstep'; did you mean 'timestep'\?"),
    ("substeps: 3", "settings: {timestep: 1/600 m}", r":2: settings.timestep: (?!.*--set)"),
    ("substeps: 3", "settings: {models.gripper.bodies.forarm.mass: 4 kg}", r":2: settings.models.gripper.bodies.forarm.mass: (?!.*--set).*'models.gripper.bodies.forearm.mass'\?"),
    ("substeps: 3", "settings: {models.gripper.bodies.forearm.mass: -4 kg}", r":2: settings.models.gripper.bodies.forearm.mass: (?!.*--set).*-4"),
    ("substeps: 3", "settings: {robots.griper.x: 1 m}", r":2: settings.robots.griper.x: (?!.*--set).*griper"),
    ("substeps: 3", "settings: {scene: 1}", r":2: settings.scene: (?!.*--set)"),
    ("substeps: 3", "substeps: 0", r":2: substeps: '0' is not a whole number of at least 1"),
    ("substeps: 3", "substeps: 2.5", r":2: substeps: '2.5' is not a whole number"),
    ("substeps: 3", "substeps: three", r":2: substeps: 'three' is not a number; a task file's numbers are SI"),
    ("substeps: 3", "substeps: .inf", r":2: substeps: '.inf' is not"),
    ("swivel.velocity", "swivle.velocity", r":5: actions\[0\].command: .*swivle.velocity.*'swivel.velocity'"),
    ("[-2, 4]", "[-2, 1e9]", r":5: actions\[0\].command: .*1e\+?09"),
    ("[-2, 4]", "[-2]", r":5: actions\[0\].range: 2 numbers are expected, not 1"),
    ("[-2, 4]", "[3, 3]", r":5: actions\[0\].range: 3, 3: an action has to change something"),
    ("goals:", "held: {swivel.velocity: 1}\ngoals:", r":6: held: command 'swivel.velocity' is driven twice"),
    ("goals:", "held: {swivel.speed: 1}\ngoals:", r":6: held: .*swivel.speed"),
    ("high: [1, 2, 3]", "high: [1, 2]", r":7: goals.target.high: 3 numbers are expected, not 2"),
    ("high: [1, 2, 3]", "high: [1, 2, 2]", r":7: goals.target.high: 2 is below the lower bound, 3"),
    ("target: {low", "action: {low", r":7: goals: 'action' can't name anything new"),
    ("hand: [", "target: [", r":9: quantities: 'target' can't name anything new: it is taken"),
    ("hand: [", "ha.nd: [", r":9: quantities: 'ha.nd' can't name anything new: names with a dot"),
    ("hand.y", "hnd.y", r":9: quantities.hand\[1\]: .*hnd.y.*'hand.y'"),
    ("[target, hand]", "[targt, hand]", r":10: quantities.way.difference\[0\]: there is no quantity 'targt' up to here; did you mean 'target'\?"),
    ("[target, hand]", "[target, hand.x]", r":10: quantities.way.difference\[1\]: 3 numbers expected, 1 given"),
    ("[target, hand]", "[target]", r":10: quantities.way.difference: two quantities are expected, not 1"),
    ("{difference:", "{diference:", r":10: quantities.way: unknown key 'diference'; did you mean 'difference'\?"),
    ("{difference: [target, hand]}", "{into: hand}", r":10: quantities.way: 'into' needs 'body', too"),
    ("{difference: [target, hand]}", "{norm: hand, by: 3}", r":10: quantities.way: 'by' does not belong to 'norm'"),
    ("{difference: [target, hand]}", "{norm: hand, sum: 3}", r":10: quantities.way: one of the keys join, .*not sum and norm|not norm and sum"),
    ("{difference: [target, hand]}", "{point: fist}", r":10: quantities.way.point: .*fist"),
    ("{difference: [target, hand]}", "{take: hand, numbers: [3]}", r":10: quantities.way.numbers: numbers from 0 to 2 are expected"),
    ("{difference: [target, hand]}", "{scale: hand, by: [1, 2]}", r":10: quantities.way.by: 3 numbers are expected, not 2"),
    ("range: [-9, 9]", "range: [9, -9]", r":12: observations\[0\].range: 9, -9: the lower bound comes first"),
    ("range: [-9, 9]", "range: [-9, 9], noise: -1", r":12: observations\[0\].noise: -1 is below 0"),
    ("{square: way}", "{value: way}", r":14: rewards\[0\].value: 1 number expected, 3 given; its length is \{norm: …\}"),
    ("{square: way}", "{end: of}", r":14: rewards\[0\].end: 'of' is none of off; did you mean 'off'\?"),
    ("{square: way}", "{near: {norm: way}}", r":14: rewards\[0\]: 'within' belongs to 'near', which needs it"),
    ("{square: way}", "{near: {norm: way}, within: 0}", r":14: rewards\[0\].within: 0 is not above 0"),
    ("{square: way}", "{wieght: 3}", r":14: rewards\[0\]: unknown key 'wieght'; did you mean 'weight'\?"),
    ("{square: way}", "{weight: 3}", r":14: rewards\[0\]: one of the keys value, .* is expected, none stands here"),
    ("above: 50", "above: 50, below: 3", r":16: ends\[0\]: one of the keys below, above is expected, not below and above"),
    ("above: 50", "above: 50, truncates: yes", r":16: ends\[0\].truncates: 'yes' is neither true nor false"),
    ("ends:", "start: {steps: 3, commands: {base.velocity: [0, 1]}}\nends:", r":15: start.commands: 'base.velocity' is no command of an action"),
    ("ends:", "start: {steps: 3, commands: {swivle.velocity: [0, 1]}}\nends:", r":15: start.commands: .*; did you mean 'swivel.velocity'\?"),
    ("ends:", "start: {steps: 3, commands: {base.velocity: [0, 1]}}\nheld: {base.velocity: 1}\nends:", r":15: start.commands: 'base.velocity' is held; only"),
    ("ends:", "start: {steps: 3, commands: {swivel.velocity: [0, 1e9]}}\nends:", r":15: start.commands.swivel.velocity: .*1e\+?09 is out of its range"),
    ("ends:", "start: {steps: 3, commands: {swivel.velocity: [-1e9, 0]}}\nends:", r":15: start.commands.swivel.velocity: .*1e\+?09 is out of its range"),
    ("ends:", "randomize: {models.gripper.bodies.forarm.mass: [1, 2]}\nends:", r":15: randomize.models.gripper.bodies.forarm.mass: .*forearm"),
    ("ends:", "randomize: {models.gripper.bodies.forearm.mass: [-1, 2]}\nends:", r":15: randomize.models.gripper.bodies.forearm.mass: .*-1"),
    ("ends:", "randomize: {models.gripper.bodies.forearm.friction: [-1, 1]}\nends:", r":15: randomize.models.gripper.bodies.forearm.friction: .*: -0.5 is out of its range; give 0 to"),
    ("ends:", "info: [off]\nends:", r":15: info\[0\]: 'off' can't be in infos, which have an end under 'off'; give it another name"),
    ("{name: off, ", "{name: failure, ", r":16: ends\[0\].name: 'failure' can't be in infos, which have why a simulation failed under 'failure'"),
    ("ends:", "info: [hnd]\nends:", r":15: info\[0\]: there is no quantity 'hnd' up to here; did you mean 'hand'\?"),
]


class TaskFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "task.yaml"

    def env(self, text):
        self.file.write_text(text)
        env = tether.gym.Env(str(self.file))
        self.addCleanup(env.close)
        return env

    def test_what_is_said_of_wrong_ones(self):
        for old, new, said in WRONG:
            with self.subTest(new):
                self.assertEqual(GOOD.count(old), 1, old)
                with self.assertRaises(tether.gym.TaskError) as raised:
                    self.env(GOOD.replace(old, new))
                self.assertRegex(str(raised.exception), re.escape(str(self.file)) + said if said.startswith(":") else said)

    def test_a_wrong_command_is_told_where_it_stands(self):
        with self.assertRaisesRegex(tether.gym.TaskError, r":5: actions\[0\].command: .*'swivel.velocity'"):
            self.env(GOOD.replace("swivel.velocity", "swivle.velocity") + "start: {steps: 3, commands: {swivel.velocity: [0, 1]}}\n")

    def test_signals_whose_names_have_no_dot(self):
        env = self.env(GOOD.replace("scene: gripper", "scene: frc2011-sensors").replace("swivel.velocity", "left_wheel.velocity").replace("hand.", "chassis.")
                       .replace("observations:", "  slips: {join: [slip, real_time_factor, 'command:grip']}\nobservations:")
                       + "info: [slip, slips]\n")
        _, info = env.reset(seed=0)
        read = env._episodes.batch.sims[0].read(["slip", "real_time_factor", "command:grip"])
        self.assertEqual((info["slip"], info["slips"].tolist()), (read[0], read.tolist()))
        with self.assertRaisesRegex(tether.gym.TaskError, r":9: quantities.hand\[0\]: there is no quantity 'real_time_facto' up to here; did you mean 'real_time_factor'"):
            self.env(GOOD.replace("hand.x", "real_time_facto"))
        with self.assertRaisesRegex(tether.gym.TaskError, r":9: quantities.hand\[0\]: there is no quantity 'later' up to here"):
            self.env(GOOD.replace("hand.x", "later").replace("observations:", "  later: {norm: way}\nobservations:"))

    def test_infos_have_all_that_they_show(self):
        for names, told in ((("angle", "_angle"), "have a quantity under '_angle'|have whose 'angle' it is under '_angle'"),
                            (("failure",), "have why"), (("_failure",), "have whose that is under '_failure'")):
            text = GOOD.replace("observations:", "".join(f"  {name}: {{absolute: swivel.position}}\n" for name in names) + "observations:")
            with self.assertRaisesRegex(tether.gym.TaskError, rf"info\[{len(names) - 1}\]: .*{told}"):
                self.env(text + f"info: [{', '.join(names)}]\n")
        self.env(GOOD + "info: [way, way]\n")

    def test_no_file_no_yaml(self):
        for text, said in (("", "empty"), ("- 1", "keys with values are expected"), ("a: b: c", ":1: ")):
            with self.assertRaisesRegex(tether.gym.TaskError, said):
                self.env(text)
        self.file.write_bytes(b"\xff\xfe\xfa")
        with self.assertRaises(tether.gym.TaskError):
            tether.gym.load_task(str(self.file))
        with self.assertRaisesRegex(tether.gym.TaskError, "No such file"):
            tether.gym.load_task("/nowhere/task.yaml")

    def test_a_pickle_reads_the_file_again(self):
        self.file.write_text(GOOD)
        task = pickle.loads(pickle.dumps(tether.gym.load_task(str(self.file))))
        self.assertEqual((task.file, task.signals), (str(self.file), tether.gym.load_task(str(self.file)).signals))
        env = tether.gym.Env(task)
        self.addCleanup(env.close)
        env.reset(seed=0)

    def test_actions_goals_rewards(self):
        env = self.env(GOOD)
        seen, _ = env.reset(seed=0)
        sim_hand = np.array([1, 2, 3]) - seen
        self.assertLess(np.abs(sim_hand - [0, 0, 6.5]).max(), 0.01)
        for action, speed in ((-1, -2), (1, 4), (0, 1), (7, 4)):  # beyond 1 it is clipped
            env.reset()
            for _ in range(4):
                seen, reward, *_ = env.step(np.array([action]))
            self.assertAlmostEqual(reward, float((seen.astype(float)**2).sum()), delta=1e-4)
            turned = env._episodes.batch.sims[0].read(["swivel.velocity"])[0]
            self.assertGreater(turned * speed, 0)
        *_, terminated, truncated, info = env.step(np.array([0]))
        self.assertEqual((terminated, truncated, info), (False, True, {"off": False}))

    def test_ends_and_each_kind_of_reward(self):
        env = self.env(EVERY_REWARD)
        _, info = env.reset(seed=2)
        before = info["swivel.position"]
        self.assertGreater(before, 0)
        for _ in range(5):
            _, reward, terminated, truncated, info = env.step(np.array([0.5]))
            angle = info["swivel.position"]
            expected = (3 * angle + 10 * (angle - before) + 100 / (1 + (info["way"]**2).sum() / 4) + 1000 * 0.25 + 10000
                        + 100000 * (angle > 0.02))
            self.assertAlmostEqual(reward, expected, places=6)
            self.assertEqual(terminated, angle > 0.02)
            before = angle
            if terminated:
                return
        self.fail("the end did not come")

    def test_the_change_of_what_compares_actions(self):
        env = self.env(GOOD.replace("  way:", "  jerk: {norm: {difference: [action, action_before]}}\n  way:")
                       .replace("  - {square: way}", "  - {change: jerk}\n  - {change: action_before, weight: 100}"))
        for _ in range(2):  # an episode after another one, too
            env.reset(seed=0)
            actions, jerk = [0, 0, 0.1, 0.5, 0.2, 0.9], 0.0
            for two_before, before, action in zip(actions, actions[1:], actions[2:]):
                _, reward, *_ = env.step(np.array([action]))
                grown, jerk = abs(action - before) - jerk, abs(action - before)
                self.assertAlmostEqual(reward, grown + 100 * (before - two_before), places=12)

    def test_values_of_the_models_are_drawn_for_each_episode(self):
        path = "models.gripper.bodies.forearm.mass"
        env = self.env(GOOD + f"randomize: {{{path}: [3, 5]}}\n")
        found = []
        for seed in (1, 2, 1):
            env.reset(seed=seed)
            found.append(env._episodes.batch.sims[0].get_values([path])[0])
        self.assertEqual(found[0], found[2])
        self.assertNotEqual(found[0], found[1])
        self.assertTrue(all(3 <= mass <= 5 for mass in found), found)

    def test_a_chain_of_quantities_is_as_long_as_it_likes(self):
        chain = "".join(f"  link{i}: {{sum: [{f'link{i - 1}' if i else 'swivel.position'}, action]}}\n" for i in range(1500))
        env = self.env(GOOD.replace("quantities:\n", f"quantities:\n{chain}") + "info: [link1499, link0]\n")
        env.reset(seed=0)
        *_, info = env.step(np.array([0.5]))
        self.assertAlmostEqual(info["link1499"], info["link0"] + 1499 * 0.5)

    def test_point_and_into_are_a_body_s(self):
        env = self.env(GOOD.replace("way: {difference", "tip: {point: hand, at: [0.1, 0.2, 0.5]}\n  seen: {into: tip, body: hand}\n  way: {difference")
                       .replace("[-2, 4]", "[-1, 1]") + "info: [tip, seen, hand]\n")
        env.reset(seed=0)
        for _ in range(4):
            *_, info = env.step(np.array([1]))
        w, x, y, z = env._episodes.batch.sims[0].read([f"hand.{part}" for part in ("qw", "qx", "qy", "qz")])
        turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
        np.testing.assert_allclose(info["tip"], info["hand"] + turn @ [0.1, 0.2, 0.5], atol=1e-12)
        np.testing.assert_allclose(info["seen"], turn.T @ info["tip"], atol=1e-12)

    def test_whatever_a_file_says_the_answer_is_a_task_or_an_error_of_the_task(self):
        """Files put together of pieces of right ones."""
        rng = np.random.default_rng(0)
        files = [GOOD, EVERY_REWARD, (pathlib.Path(__file__).parent / "tasks/quick.yaml").read_text()]
        words = sorted({word for text in files for word in re.findall(r"[\w.]+|[\[\]{}:,-]|\n *", text)} | {"&a [*a]", "*a", "!!int", "1e999"})
        found = {True: 0, False: 0}
        for _ in range(2500 if LONG else 400):
            text = files[rng.integers(3)]
            for _ in range(rng.integers(1, 3)):
                pieces = list(re.finditer(r"[\w.]+|[\[\]{}:,-]|\n *", text))
                piece = pieces[rng.integers(len(pieces))]
                text = text[:piece.start()] + words[rng.integers(len(words))] + text[piece.end():]
            self.file.write_text(text)
            try:
                tether.gym.load_task(str(self.file))
                found[True] += 1
            except tether.gym.TaskError as error:
                self.assertTrue(str(error).startswith(str(self.file)), error)
                found[False] += 1
        self.assertGreater(min(found.values()), 3, found)

    def test_a_list_that_holds_itself(self):
        with self.assertRaisesRegex(tether.gym.TaskError, "nested more than 20 deep"):
            self.env(GOOD.replace("[hand.x, hand.y, hand.z]", "&a [*a]"))

    def test_aliases_of_aliases(self):
        lists = ["swivel.position", "*a0", "*a1", "*a2", "*a3", "*a4", "*a5"]
        lines = "".join(f"  a{i}: &a{i} [{', '.join([part] * 9)}]\n" for i, part in enumerate(lists))
        with self.assertRaisesRegex(tether.gym.TaskError, r": quantities.a4\[.*: more than 10000 values in one file"):
            self.env(GOOD.replace("quantities:\n", "quantities:\n" + lines))

    def test_every_key_is_in_the_page(self):
        for key in (*task_file.KEYS, *task_file.OPERATIONS, *task_file.REWARDS):
            self.assertRegex(PAGE, rf"(?m)^\| (?:`\w+`, )*`{key}`", key)


if __name__ == "__main__":
    unittest.main()
