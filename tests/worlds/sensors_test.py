#!/usr/bin/env python3
"""The sensors of the scene frc2011-sensors over float-udp: eyes that see lines, what is ahead, switches, a gyro, and Lua."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support.float_udp import start
from support.process import ROOT, TETHER

NAMES = ["time", "left", "right", "arm", "left_eye", "right_eye", "darkness", "ahead", "front", "rear", "arm_down",
         "gyro_rate", "gyro_angle", "slip", "x"]


def named(numbers):
    return dict(zip(NAMES, numbers))


class Sensors(unittest.TestCase):
    def drive(self, link, left, right, until, ticks=600):
        """Drives until a condition of the last reading holds; returns every reading."""
        seen = []
        for _ in range(ticks):
            seen.append(named(link.turn(left, right, 0, 0, 0)))
            if until(seen[-1]):
                return seen
        self.fail(f"not within {ticks} messages; the last is {seen[-1]}")

    def test_the_eyes_switch_on_the_line_and_off_behind_it(self):
        _, link = start(self, "frc2011-sensors")
        seen = self.drive(link, 30, 30, lambda now: now["x"] > -0.2)
        # The eyes are 0.35 m ahead of the middle of the robot and see a line of 5 cm at x = 0.
        on = [now["x"] + 0.35 for now in seen if now["left_eye"]]
        self.assertAlmostEqual(on[0], -0.025, delta=0.03)
        self.assertAlmostEqual(on[-1], 0.025, delta=0.03)
        self.assertEqual(seen[0]["left_eye"], 0)
        self.assertEqual(seen[-1]["left_eye"], 0)
        self.assertEqual(max(now["darkness"] for now in seen), 1)
        for now in seen:  # square to the line, both eyes see the same
            self.assertLessEqual(abs(now["left_eye"] - now["right_eye"]), now["left_eye"] or now["right_eye"])
        self.assertLess(abs(seen[-1]["slip"]), 0.2)
        self.assertTrue(any(now["arm_down"] for now in seen), "the arm droops onto its switch")
        self.assertFalse(seen[0]["arm_down"])

    def test_the_wall_comes_nearer_and_is_met(self):
        _, link = start(self, "frc2011-sensors", "robots.frc2011-sensors.x=6.2 m", "robots.frc2011-sensors.y=0 m")
        first = named(link.turn(0, 0, 0, 0, 0))
        self.assertAlmostEqual(first["ahead"], 8.23 - 6.2 - 0.565, delta=0.03)
        seen = self.drive(link, 20, 20, lambda now: now["front"] == 1)
        self.assertLess(seen[-1]["ahead"], 0.1)
        self.assertEqual(max(now["rear"] for now in seen), 0)
        for now in seen[10:]:
            self.assertAlmostEqual(first["ahead"] - now["ahead"], now["x"] - first["x"], delta=0.1)  # it pitches

    def test_the_gyro_turns_with_the_robot_and_drifts(self):
        _, link = start(self, "frc2011-sensors")
        still = [named(link.turn(0, 0, 0, 0, 0)) for _ in range(50)]
        self.assertGreater(len({now["gyro_rate"] for now in still}), 30, "noise is drawn anew every tick")
        self.assertLess(max(abs(now["gyro_rate"]) for now in still), 0.15)
        seen = self.drive(link, -60, 60, lambda now: now["gyro_angle"] > 1)
        self.assertGreater(seen[-1]["gyro_rate"], 0)
        self.assertGreater(seen[-1]["right"], seen[-1]["left"])

    def test_two_runs_of_one_seed_hear_the_same_noise(self):
        runs = []
        for _ in range(2):
            # No commands: what is read then depends on the step alone.
            tether, link = start(self, "frc2011-sensors", "wires.float-udp.watchdog=0")
            link.send(0, 0, 0, 0, 0)
            read = [link.receive() for _ in range(100)]
            runs.append({numbers[0]: numbers[11] for numbers in read})
            tether.stop()
        both = set(runs[0]) & set(runs[1])
        self.assertGreater(len(both), 50)
        for time in both:
            self.assertEqual(runs[0][time], runs[1][time])

    def test_a_scenes_own_lua_file_goes_first_and_its_mistakes_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = pathlib.Path(folder) / "mine.yaml"
            shutil.copy(ROOT / "scenes" / "frc2011-sensors.yaml", scene)
            script = pathlib.Path(folder) / "sensors.lua"
            script.write_text('function slip(read)\n  return 40 + read("arm.position") * 0\nend\n')
            tether, link = start(self, scene)
            self.assertEqual(named(link.turn(0, 0, 0, 0, 0))["slip"], 40)
            tether.stop()
            script.write_text('function slip(read)\n  return read("arm.position") + nothing\nend\n')
            tether, link = start(self, scene)
            self.assertEqual(named(link.turn(0, 0, 0, 0, 0))["slip"], 0)
            self.assertIn("nothing", tether.wait_line("sensors.lua:2"))
            script.write_text('function slip(read)\n  return read("arm.positoin")\nend\n')
            checked = subprocess.run([TETHER, "check", scene], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 1)
            self.assertRegex(checked.stderr, r"sensors.lua:2: .*arm.positoin.*did you mean 'arm.position'")


if __name__ == "__main__":
    unittest.main()
