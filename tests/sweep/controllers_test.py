#!/usr/bin/env python3
"""Sweeps with controllers in Lua and on a wire: the same table however many make it, each row again alone, and nobody stays."""
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from support.process import PATIENCE, ROOT, TETHER, wait_for
from support.sweep import again, descendants, rows, state_of, sweep, tether, workers

LUA = """
local ticks = 0
function control(read, write)
  ticks = ticks + 1
  if read("gain") > 2 then error("too much") end
  write("base.torque", 200 * read("gain") * (ticks % 3))
end
"""

PLAN = """
scene: gripper
duration: {duration}
controller: {{{controller}}}
axes:
  - {{name: gain, value: [0.5, 1, 3]}}
repeat: 2
metrics:
  - {{name: base, signal: base.position, measure: final}}
"""

CLIENT = f"command: 'if [ {{gain}} = 3 ]; then echo too much >&2; exit 7; fi; " \
         f"exec {sys.executable} {ROOT}/clients/python/lockstep_tcp.py $TETHER_LOCKSTEP_TCP'"


def has_rows(table):
    try:
        return table.exists() and len(rows(table)) > 0
    except sqlite3.OperationalError:
        return False  # it is being made


class Controllers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "control.lua").write_text(LUA, encoding="utf-8")

    def plan(self, controller, duration="0.2 s"):
        path = self.folder / "plan.yaml"
        path.write_text(PLAN.format(controller=controller, duration=duration), encoding="utf-8")
        return path

    def check(self, plan):
        one = sweep(plan, self.folder / "1.sqlite", "--jobs", 1)
        self.assertEqual(sweep(plan, self.folder / "2.sqlite", "--jobs", 2), one)
        log = self.folder / "run.wpilog"
        self.assertEqual(again(plan, one[2], "--record", log)["hash"], one[2]["hash"])
        status, said, complaint = tether("verify", log)
        self.assertEqual((status, complaint), (0, ""))
        self.assertIn("identical", said)
        return one

    def test_lua(self):
        table = self.check(self.plan("lua: control.lua"))
        self.assertEqual([row["status"] for row in table], 4 * ["ok"] + 2 * ["controller_failed"])
        self.assertIn("control.lua:5: too much", table[4]["error"])
        self.assertNotEqual(table[0]["base"], table[2]["base"])

    def test_a_program(self):
        table = self.check(self.plan(CLIENT))
        self.assertEqual([row["status"] for row in table], 4 * ["ok"] + 2 * ["controller_failed"])
        self.assertIn("too much", table[4]["error"])

    def test_a_file_that_changes_meanwhile_ends_the_sweep(self):
        plan, table = self.plan("lua: control.lua"), self.folder / "table.sqlite"
        command = ["sweep", plan, "--output", table, "--set", "repeat=100000", "--jobs", "2", "--quiet"]
        process = subprocess.Popen([TETHER, *command], stderr=subprocess.PIPE, text=True)
        wait_for(lambda: has_rows(table), "the first rows")
        (self.folder / "control.lua").write_text(LUA.replace("200", "100"), encoding="utf-8")
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("control.lua: it has changed since the sweep began", said)
        status, _, said = tether(*command)
        self.assertEqual(status, 1, said)  # other runs than those in the table
        self.assertIn("--extend", said)

    def test_programs_end_with_their_sweep(self):
        plan = self.plan(CLIENT, "100000 s")
        process = subprocess.Popen([TETHER, "sweep", plan, "--jobs", "2", "--quiet"], stderr=subprocess.PIPE)
        wait_for(lambda: len(workers(process.pid)) == 2 and len(descendants(process.pid)) >= 6, "workers and their programs")
        family = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        wait_for(lambda: not any(map(state_of, family)), f"the end of {family}")


if __name__ == "__main__":
    unittest.main()
