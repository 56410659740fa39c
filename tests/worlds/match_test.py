#!/usr/bin/env python3
"""`tether run --match`: a whole practice match without a page. A controller that never stops drives only while it may, and the
kept run is proved by `tether verify`, which knows no driver station."""
import csv
import pathlib
import subprocess
import tempfile
import unittest

from support.float_udp import start
from support.process import TETHER
from support.wpilog import Log

SPEED = 5  # left_wheel.velocity among the sensors of frc2011
SAID = ["practice match: autonomous for 0.5 s", "enabled, autonomous", "practice match: pause of 0.4 s", "disabled, teleop",
        "practice match: teleop for 0.5 s", "enabled, teleop", "practice match: over", "disabled, teleop"]

FLAGS = {"DS:enabled": [(0, True), (0.5, False), (0.9, True), (1.4, False)], "DS:autonomous": [(0, True), (0.5, False)],
         "DS:test": [(0, False)], "DS:estop": [(0, False)]}


class Match(unittest.TestCase):
    def drive_until_it_ends(self, tether, link):
        heard = [link.turn(30, 30, 0, 0, 0)]
        link.socket.settimeout(0.2)
        link.send(30, 30, 0, 0, 0)
        while tether.process.poll() is None:
            try:
                heard.append(link.receive())
                link.send(30, 30, 0, 0, 0)
            except (ConnectionError, TimeoutError):
                continue
        return heard

    def test_a_match_is_played_and_proved(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        log = pathlib.Path(folder.name) / "match.wpilog"
        tether, link = start(self, "frc2011", "game.autonomous=0.5 s", "game.pause=0.4 s", "game.teleop=0.5 s",
                             options=("--match", "--pace", "lockstep", "--record", log))
        heard = self.drive_until_it_ends(tether, link)
        self.assertEqual(tether.wait_exit(), 0, tether.text())
        said = [line.removeprefix("driver-station: ") for line in tether.lines if line.startswith("driver-station: ")]
        self.assertEqual(said, SAID)
        speed = {round(numbers[0], 2): numbers[SPEED] for numbers in heard}
        self.assertGreater(speed[0.5], 5)  # it drove on its own,
        self.assertLess(abs(speed[0.88]), speed[0.5] / 2)  # rolled out in the pause,
        self.assertGreater(speed[1.38], speed[0.88] + 5)  # and drove again
        verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        kept = subprocess.run([TETHER, "export", log, "--format", "jsonl"], capture_output=True, text=True, check=True).stdout
        self.assertIn("practice match: pause", kept)
        self.assertIn('"name":"DS:autonomous","value":true}', kept)
        exported = subprocess.run([TETHER, "export", log, "--format", "wpilog"], capture_output=True, check=True).stdout
        for data in log.read_bytes(), exported:
            self.check_flags(Log(data))

    def check_flags(self, log):
        """AdvantageScope takes its bands of enabled and autonomous from these entries."""
        changes = {name: [] for name in FLAGS}
        for name, expected in FLAGS.items():
            self.assertIn((name, "boolean", ""), log.entries.values())
            for time, value in log.values[name]:
                if changes[name] and changes[name][-1][0] == time:
                    changes[name].pop()  # of one moment the last holds
                changes[name].append((time, value))
            self.assertEqual(changes[name], expected, name)

    def test_who_is_disabled_is_told(self):
        said = subprocess.run([TETHER, "check", "frc2011", "--set", "game.start=disabled"], capture_output=True, text=True, check=True)
        self.assertIn("game      robots begin disabled; a practice match is 15 s, a pause of 3 s, 135 s\n", said.stdout)
        tether, link = start(self, "frc2011", "game.start=disabled")
        tether.wait_line("robots begin disabled: the page Drive enables them")
        for _ in range(50):
            self.assertLess(abs(link.turn(30, 30, 0, 0, 0)[SPEED]), 1)  # it settles

    def test_a_disabled_robot_of_a_saved_state_stands(self):
        """Though it was driven when the state was saved, and no watchdog ends that."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        state, log = (pathlib.Path(folder.name) / name for name in ("state", "run.wpilog"))
        ways = ("wires.float-udp.watchdog=0", "record.on=off")
        tether, link = start(self, "frc2011", *ways, options=("--pace", "lockstep", "--duration", 0.2, "--save-state", state))
        self.drive_until_it_ends(tether, link)
        self.assertEqual(tether.wait_exit(), 0, tether.text())
        again = [TETHER, "run", "frc2011", "--no-web", "--pace", "fast", "--duration", "0.3", "--from-state", state, "--record", log]
        settings = [part for one in (ways[0], "wires.float-udp.bind=127.0.0.1:0", "game.start=disabled") for part in ("--set", one)]
        subprocess.run([*again, *settings], capture_output=True, check=True)
        rows = list(csv.DictReader(subprocess.run([TETHER, "export", log], capture_output=True, text=True, check=True).stdout.splitlines()))
        commanded = [float(row["command:left_track.torque [N·m]"]) for row in rows]
        self.assertNotEqual(commanded[0], 0)
        self.assertEqual(set(commanded[1:]), {0})
        verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_a_match_without_time_is_none(self):
        settings = [part for key in ("autonomous", "pause", "teleop") for part in ("--set", f"game.{key}=0")]
        said = subprocess.run([TETHER, "run", "frc2011", "--match", *settings], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn("a practice match of 0 s; give autonomous, pause or teleop some time", said.stderr)

    def test_worlds_of_their_own_have_no_match(self):
        said = subprocess.run([TETHER, "run", "gripper", "--match", "--set", "wires.lockstep-tcp.worlds=per-connection"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 2)
        self.assertIn("leave --match out", said.stderr)


if __name__ == "__main__":
    unittest.main()
