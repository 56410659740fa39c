#!/usr/bin/env python3
"""Image generator mode end to end: what a program places stands there in what is sent and recorded."""
import math
import pathlib
import subprocess
import tempfile
import unittest

from support.float_udp import FloatLink, start
from support.process import ROOT, TETHER, Tether

GOLDEN = bytes.fromhex("0000803f 00002040 0000a0bf da0fc93f 0000803e 000000bf 00004040")
EXTRA = ["chassis.x", "chassis.y", "chassis.heading", "grip.held", "grip.kind", "circle2.x", "circle2.y", "circle2.z"]


class Concept(unittest.TestCase):
    def scene(self, name, sensors=EXTRA):
        """The ready scene with more signals behind its ten."""
        text = (ROOT / "scenes" / f"{name}.yaml").read_text()
        last = "        - {name: chassis.yaw_rate}\n"
        self.assertIn(last, text)
        text = text.replace(last, last + "".join(f"        - {{name: {signal}}}\n" for signal in sensors))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / f"{name}.yaml"
        path.write_text(text)
        return path

    def until(self, link, condition):
        for _ in range(500):
            numbers = link.receive()
            if condition(numbers):
                return numbers
        self.fail(f"never; the last is {numbers}")

    def place(self, link, *pose):
        """Places until what is sent shows it; the message that does."""
        for _ in range(200):
            numbers = link.turn(*pose)
            if abs(numbers[10] - pose[0]) < 1e-6 and abs(numbers[3] - pose[3]) < 1e-6:
                return numbers
        self.fail(f"{pose} is not shown: {numbers}")

    def test_the_golden_bytes_place_the_robot_of_both_scenes(self):
        for name in ("concept-symmetric", "concept-turnaround"):
            _, link = start(self, self.scene(name))
            link.socket.send(GOLDEN)
            numbers = self.until(link, lambda now: now[10] == 2.5)
            self.assertEqual(numbers[10:12], (2.5, -1.25))
            self.assertAlmostEqual(numbers[12], math.pi / 2, places=5)
            self.assertEqual(numbers[3:5], (0.25, -0.5))
            self.assertEqual(numbers[13], 0, "no piece of kind 3 is within reach there")

    def test_speeds_are_differences_and_time_goes_on_without_commands(self):
        _, link = start(self, self.scene("concept-symmetric"), "pace=fast", "wires.float-udp.watchdog=0")
        first = self.place(link, 1, 0, 0, 0, 0, 0)
        then = link.receive()
        self.assertGreater(then[0], first[0])
        _, link = start(self, self.scene("concept-symmetric"))
        self.place(link, 1, 0, 0, 0, 0, 0)
        before, moved = None, None
        for i in range(400):  # the arm sinks by 0.01 rad a message; at most one message a period applies
            now = link.turn(1, 0, 0.01 * i, 0.002 * i, 0, 0)
            if before:
                self.assertAlmostEqual(now[7], (now[3] - before[3]) / (now[0] - before[0]), delta=0.02)
                turned = (now[12] - before[12] + math.pi) % (2 * math.pi) - math.pi
                self.assertAlmostEqual(now[9], turned / (now[0] - before[0]), delta=0.1)
                moved = moved or now[7] > 0.1 and now[9] > 0.5
            before = now
        self.assertTrue(moved)

    def test_a_gripped_piece_follows_until_it_is_let_go(self):
        for name, arm, begin in (("concept-symmetric", 0.9, -0.8), ("concept-turnaround", 1.36, 0.3)):
            _, link = start(self, self.scene(name))
            # The hand down to circle2 at (0, 1.9): where it is within reach is searched for along y = 1.9.
            held = None
            for step in range(20):
                x = begin - 0.05 * step
                numbers = self.place(link, x, 1.9, 0, arm, 0, 1)
                if numbers[13] == 1:
                    held = x
                    break
            self.assertIsNotNone(held, f"{name}: circle2 is never within reach")
            self.assertEqual(numbers[14], 1)
            there = numbers[15:18]
            numbers = self.place(link, held - 1, 1.4, 0, arm, 0, 1)
            numbers = link.turn(held - 1, 1.4, 0, arm, 0, 1)
            self.assertEqual(numbers[13], 1)
            for axis, shift in enumerate((-1, -0.5, 0)):
                self.assertAlmostEqual(numbers[15 + axis] - there[axis], shift, delta=1e-3)
            numbers = self.place(link, held - 1, 1.4, 0, -0.5, 0, 1)
            numbers = link.turn(held - 1, 1.4, 0, -0.5, 0, 1)
            self.assertGreater(numbers[17], there[2] + 0.5, "it is lifted with the arm")
            left = numbers[15:18]
            numbers = self.place(link, held, 1.4, 0, 0, 0, 0)
            numbers = link.turn(held, 1.4, 0, 0, 0, 0)
            self.assertEqual(numbers[13], 0)
            for axis in range(3):
                self.assertAlmostEqual(numbers[15 + axis], left[axis], delta=1e-5)

    def test_any_rate_will_do(self):
        _, link = start(self, self.scene("concept-symmetric"))
        for _ in range(50):  # as fast as it goes: the newest of each period applies
            link.send(0.5, 0, 0, 0.1, 0, 0)
        link.send(0.75, 0, 0, 0.2, 0, 0)
        self.until(link, lambda now: abs(now[10] - 0.75) < 1e-6)
        numbers = [link.receive() for _ in range(30)][-1]  # one message, then a third of a second of nothing
        self.assertAlmostEqual(numbers[3], 0.2, places=6)
        self.assertEqual(numbers[7], 0)

    def test_a_run_is_recorded_and_verified(self):
        log = pathlib.Path(tempfile.mkdtemp(prefix="tether_concept_")) / "run.wpilog"
        self.addCleanup(lambda: [log.unlink(missing_ok=True), log.parent.rmdir()])
        with Tether("run", self.scene("concept-symmetric"), "--record", log, "--no-web", "--set",
                    "wires.float-udp.bind=127.0.0.1:0", "--set", "wires.float-udp.peer=sender") as tether:
            link = FloatLink(tether)
            for i in range(100):
                link.turn(1 + 0.01 * i, -1, 0.01 * i, 0.1, 0.2, 0)
            self.place(link, 3, -1, 0.5, 0.3, 0.2, 0)
            link.socket.close()
            self.assertEqual(tether.stop(), 0)
        said = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        table = subprocess.run([TETHER, "export", log], capture_output=True, text=True, check=True).stdout.splitlines()
        column = next(i for i, name in enumerate(table[0].split(",")) if name.split(" ")[0].endswith("chassis.x"))
        self.assertAlmostEqual(float(table[-1].split(",")[column]), 3, places=4)


if __name__ == "__main__":
    unittest.main()
