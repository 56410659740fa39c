#!/usr/bin/env python3
"""The ready tasks: a simple policy made by hand reaches the goal, doing nothing does not; same seeds, same bits on any number of
threads; what docs/gym.md says of them is so; the sample learns."""
import math
import os
import re
import subprocess
import sys
import unittest

import built
import numpy as np

import tether.gym

PAGE = (built.ROOT / "docs/gym.md").read_text()
SAMPLE = built.ROOT / "clients/python/learn_reach.py"
LONG = os.environ.get("TETHER_LONG") == "1"


def reach(observations, _):
    """The arm's Jacobian, inverted: speeds that bring the hand straight to the target. Links of 2.5, 2.5 and 0.5 m."""
    angles = np.cumsum(observations[:, 0:3], axis=1)  # from +z towards outward, of each link
    outward, up = np.sin(angles) * [2.5, 2.5, 0.5], np.cos(angles) * [2.5, 2.5, 0.5]
    actions = np.zeros((len(observations), 4))
    radius = outward.sum(axis=1)
    actions[:, 0] = observations[:, 8] / np.where(np.abs(radius) < 0.5, 0.5, radius)
    for i, seen in enumerate(observations):
        jacobian = np.array([np.cumsum(up[i][::-1])[::-1], -np.cumsum(outward[i][::-1])[::-1]])
        actions[i, 1:] = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 0.3 * np.eye(2), seen[[7, 9]])
    return 2 * actions


def drive(observations, _):
    """Turns to the point, and goes the faster the better it looks at it."""
    ahead, left = observations[:, 0], observations[:, 1]
    distance = np.hypot(ahead, left) + 1e-9
    turn = 0.5 * np.clip(left / distance * np.where(ahead < 0, 18, 2), -1, 1)
    go = 0.6 * np.maximum(ahead / distance, 0) * np.clip(2 * distance, 0.2, 1)
    return np.stack([go - turn, go + turn], axis=1)


def crawl(observations, step):
    """Two diagonal feet swing forward in the air while the others push."""
    actions = np.zeros((len(observations), 12))
    heading = observations[:, 26]
    for leg, (forward, pair) in enumerate(((-1, 0), (1, 1), (-1, 1), (1, 0))):
        phase = (step * 0.02 + 0.5 * pair) % 1
        swing, lift = (1 - 4 * phase, 0) if phase < 0.5 else (4 * phase - 3, 0.35 * math.sin(2 * math.pi * (phase - 0.5)))
        position = observations[:, 3 * leg:3 * leg + 3]
        actions[:, 3 * leg] = 10 / 6 * (swing * 0.4 * (forward - 1.5 * heading) - position[:, 0])
        actions[:, 3 * leg + 1] = 10 / 6 * (lift - position[:, 1])
        actions[:, 3 * leg + 2] = -20 * position[:, 2]
    return actions


def nothing(observations, _):
    return np.zeros((len(observations), {10: 4, 5: 2, 33: 12}[observations.shape[1]]))


def run(name, policy, count, steps, seed=0):
    """One episode each: what was earned, whether an end came, the last infos of the episodes."""
    envs = tether.gym.make_vec(name, count, threads=2)
    observations, infos = envs.reset(seed=seed)
    earned, running, last = np.zeros(count), np.ones(count, bool), {}
    for step in range(steps):
        observations, rewards, terminations, truncations, infos = envs.step(policy(observations, step))
        earned += rewards * running
        for key, value in infos.items():
            last.setdefault(key, value.copy())[running] = value[running]
        running &= ~(terminations | truncations)
        if not running.any():
            break
    envs.close()
    return earned, last


class Ready(unittest.TestCase):
    def test_reach(self):
        earned, last = run("reach", reach, 4, 100)
        self.assertTrue(last["reached"].all(), last)
        idle, last = run("reach", nothing, 4, 40)
        self.assertFalse(last["reached"].any())
        self.assertTrue((earned > idle + 4).all(), f"{earned} {idle}")

    def test_drive(self):
        earned, last = run("drive", drive, 3, 160)
        self.assertTrue(last["reached"].all(), last)
        idle, last = run("drive", nothing, 3, 30)
        self.assertFalse(last["reached"].any() or last["tipped"].any())
        self.assertTrue((earned > idle + 4).all(), f"{earned} {idle}")

    def test_drive_tips_at_one_angle_to_every_side(self):
        task = tether.gym.load_task("drive")
        poses = [(heading, side, tilt) for heading in range(0, 360, 30) for side in range(0, 360, 45) for tilt in (0, 20, 46, 48, 90, 180)]
        frame = tether.gym.Frame(len(poses), task.signals, len(task.actions))
        frame.goals["target"] = np.full((len(poses), 2), 100.0)
        heading, side, half = np.radians(poses).T * [[1], [1], [0.5]]
        turned, axis = heading / 2, side + heading  # tilted about a level axis, `side` from the chassis' x
        for name, value in (("qw", np.cos(half) * np.cos(turned)), ("qx", np.sin(half) * np.cos(axis - turned)),
                            ("qy", np.sin(half) * np.sin(axis - turned)), ("qz", np.cos(half) * np.sin(turned))):
            frame.signals[:, frame.columns[f"chassis.{name}"]] = value
        task.sense(frame)
        self.assertEqual([pose for pose, tipped in zip(poses, task.ends(frame)[0]) if tipped != (pose[2] > 47)], [])

    def test_crawl(self):
        earned, last = run("crawl", crawl, 1, 250)
        self.assertGreater(last["torso.x"][0], 0.8)  # m, in 5 s
        self.assertFalse(last["fallen"].any())
        idle, last = run("crawl", nothing, 1, 50)
        self.assertLess(abs(last["torso.x"][0]), 0.05)
        self.assertGreater(earned[0], idle[0] + 8)

    def test_same_seeds_same_bits(self):
        for name in ("reach", "drive", "crawl"):
            found = []
            for count, threads in ((2, 1), (3, 2), (3, 3)):
                envs = tether.gym.make_vec(name, count, threads=threads, max_episode_steps=3)
                parts = [envs.reset(seed=5)[0][:2]]
                rng = np.random.default_rng(1)
                for _ in range(5):  # over an end, and the beginning of the next episode
                    actions = rng.uniform(-1, 1, (3, envs.single_action_space.shape[0]))[:count]
                    parts.extend(part[:2] for part in envs.step(actions)[:4])
                envs.close()
                found.append(b"".join(part.tobytes() for part in parts))
            self.assertEqual(found[0], found[1], name)
            self.assertEqual(found[0], found[2], name)
            env = tether.gym.make(name)
            self.assertEqual(env.reset(seed=6)[0].tobytes(), parts[0][1].tobytes(), name)
            env.close()


class Page(unittest.TestCase):
    def test_tables_of_the_ready_tasks(self):
        """Every number of the observation and the action stands in the page, in its order."""
        for name in ("reach", "drive", "crawl"):
            with self.subTest(name):
                task = tether.gym.load_task(name)
                section = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", PAGE, re.S | re.M)[1]
                rows = re.findall(r"^\| (\d+)(?:…(\d+))? \|", section, re.M)
                numbers = [n for first, last in rows for n in range(int(first), int(last or first) + 1)]
                self.assertEqual(numbers, [*range(len(task.observed)), *range(len(task.actions))])
                self.assertIn(f"{task.max_steps} actions", section)

    def test_the_sample_is_in_the_page(self):
        self.assertIn(SAMPLE.read_text().split('"""', 2)[2].strip(), PAGE)

    def test_the_lines_of_the_page_run(self):
        blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
        names = {}
        self.assertGreater(len(blocks), 2)
        for block in blocks:
            if "def main" not in block:
                exec(compile(block, "docs/gym.md", "exec"), names)  # pylint: disable=exec-used

    def test_the_sample_learns(self):
        done = subprocess.run([sys.executable, SAMPLE, *([] if LONG else ["1"])], env=built.ENVIRONMENT, capture_output=True,
                              text=True, check=False, timeout=1000)
        self.assertEqual(done.returncode, 0, done.stderr)
        rewards = [float(number) for number in re.findall(r"mean reward +(-?[\d.]+)", done.stdout)]
        self.assertEqual(len(rewards), 26 if LONG else 2, done.stdout)
        self.assertGreater(rewards[-1], rewards[0] + (6 if LONG else 0.2), done.stdout)
        if LONG:
            self.assertGreater(int(re.search(r"(\d+)% of new goals", done.stdout)[1]), 60, done.stdout)


if __name__ == "__main__":
    unittest.main()
