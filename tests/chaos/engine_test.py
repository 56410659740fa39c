#!/usr/bin/env python3
"""MuJoCo fails in the middle of a run: the program says so and ends in order, or begins anew; what was kept is whole and provable."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TETHER = os.environ["TETHER"]
SHIM = sys.argv.pop()
FAILS_AT = 250


class Engine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.log = self.top / "run.wpilog"

    def tether(self, *arguments, **variables):
        return subprocess.run([TETHER, *arguments], cwd=self.top, env={**os.environ, **variables}, capture_output=True, text=True,
                              timeout=100, check=False)

    def run_with_failure(self, *settings):
        return self.tether("run", "frc2011", "--pace", "fast", "--duration", "0.5", "--record", str(self.log), "--set",
                           "wires.float-udp.bind=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0", *settings, LD_PRELOAD=SHIM,
                           ENGINE_SHIM_STEP=str(FAILS_AT))

    def check_log(self):
        answer = self.tether("verify", str(self.log))
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertEqual(os.listdir(self.top), [self.log.name])

    def test_it_stops_in_order(self):
        answer = self.run_with_failure()
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertRegex(answer.stderr, rf"step {FAILS_AT - 1}: MuJoCo failed: the engine shim is here")
        self.check_log()

    def test_it_begins_anew(self):
        answer = self.run_with_failure("--set", "on_divergence=reset")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"failed at step {FAILS_AT - 1}: MuJoCo failed", answer.stderr)
        self.check_log()


if __name__ == "__main__":
    unittest.main()
