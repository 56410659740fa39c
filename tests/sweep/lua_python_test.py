#!/usr/bin/env python3
"""Controllers in Lua and in Python drive the runs of a sweep: the same rows however many are made at a time, each proven without its
controller; and the ready plans of such controllers."""
import os
import pathlib
import tempfile
import unittest

from support.process import wait_for
from support.sweep import again, prove, rows, state_of, sweep, tether

ARM = """
scene: gripper
duration: 0.5 s
controller: {%s}
axes:
  - {name: gain, value: [0.5, 1, 2]}
  - {name: way, value: [hold, fail]}
repeat: 2
metrics:
  - {name: base, signal: base.position, measure: final}
"""

LUA = """
local integral = 0
function control(read, write)
  local wrong = 0.3 - read("base.position")
  integral = integral + wrong / 60
  if read("way") == "fail" and read("time") > 0.2 then error("no") end
  write("base.velocity", read("gain") * wrong + 0.1 * integral + 0.01 * math.random())
end
"""

PYTHON = """
import random
integral = 0
def control(read, write):
    global integral
    wrong = 0.3 - read("base.position")
    integral += wrong / 60
    if read("way") == "fail" and read("time") > 0.2:
        raise RuntimeError("no")
    write("base.velocity", read("gain") * wrong + 0.1 * integral + 0.01 * random.random())
"""

# A Python with NumPy comes first.
os.environ["PATH"] = "/usr/bin:" + os.environ["PATH"]

# Short forms of the ready plans, and how many rows they have.
READY = {
    "concept": (["samples=6"], 6),
    "friction": (["duration=1.2 s", "axes.friction.count=2", "axes.mass.value=[0.3]", "axes.speed.value=[3]"], 2),
    "reach": (["duration=2 s", "axes.radius.count=2", "axes.height.count=2", "axes.load.value=[2.35]"], 4),
}


class Controllers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def check_arm(self, controller, where, said):
        """The same rows with one worker and with three; a row is proven without the controller. Gives a row."""
        plan = self.file("arm.yaml", ARM % controller)
        one, three = (sweep(plan, self.folder / f"{jobs}.sqlite", "--quiet", "--jobs", jobs) for jobs in (1, 3))
        self.assertEqual(one, three)
        for row in one:
            failed = row["way"] == "fail"
            self.assertEqual(row["status"], "controller_failed" if failed else "ok", row)
            self.assertIn(where if failed else "", row["error"] or "")
            self.assertIn(said if failed else "", row["error"] or "")
        good = [row for row in one if row["status"] == "ok"]
        self.assertEqual(len({row["hash"] for row in good}), 6, "chance is the seed's")
        log = self.folder / "run.wpilog"
        self.assertEqual(again(plan, good[0], "--record", log)["hash"], good[0]["hash"])
        for name in ("arm.lua", "arm.py"):
            (self.folder / name).unlink(missing_ok=True)
        status, out, complaint = tether("verify", log, env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(status, 0, out + complaint)
        self.assertIn("identical: ", out)

    def test_a_lua_file(self):
        self.file("arm.lua", LUA)
        self.check_arm("lua: arm.lua", "arm.lua:6: ", "no")

    def test_a_python_function(self):
        self.file("arm.py", PYTHON)
        self.check_arm('policy: "arm:control"', "arm.py:9: RuntimeError: ", "no")

    def test_what_a_policy_starts_ends_with_its_run(self):
        self.file("arm.py", "import os, time\nchild = 0\ndef control(read, write):\n    global child\n    if not child:\n"
                            "        child = os.fork()\n        if not child:\n            time.sleep(1000)\n"
                            "        with open('children', 'a') as file:\n            print(child, file=file)\n")
        sweep(self.file("arm.yaml", (ARM % 'policy: "arm:control"').replace("hold, fail", "hold")), self.folder / "arm.sqlite", "--jobs", 2)
        children = [int(line) for line in (self.folder / "children").read_text(encoding="utf-8").split()]
        self.assertEqual(len(children), 6)
        wait_for(lambda: not any(map(state_of, children)), "the end of what policies started")

    def test_what_cannot_drive_is_told_before_anything_runs(self):
        self.file("arm.lua", LUA)
        self.file("arm.py", PYTHON)
        self.file("bad.lua", "function control(\n")
        self.file("idle.py", "async def waits(read, write):\n    pass\n\ndef gives(read, write):\n    yield\n")
        self.file("misnamed.lua", "function contrl(read, write)\nend\n")
        self.file("fails.lua", "local x = nothing.there\nfunction control(read, write)\nend\n")
        self.file("broken.py", "def control(read, write:\n")
        axis = ARM.replace("name: gain", "name: base.position")
        for text, told in ((ARM % "lua: bad.lua", "bad.lua:2: "), (ARM % "lua: none.lua", "none.lua"),
                           (ARM % "lua: misnamed.lua", "misnamed.lua: it defines no function control(read, write)"),
                           (ARM % "lua: fails.lua", "fails.lua:1: "), (ARM % 'policy: "broken:control"', "broken.py:1: "),
                           (ARM % 'policy: "arm:contrl"', "arm has no function contrl(read, write)"),
                           (ARM % 'policy: "idle:waits"', "waits is a generator or a coroutine: a call would do nothing"),
                           (ARM % 'policy: "idle:gives"', "gives is a generator or a coroutine: a call would do nothing"),
                           (ARM % 'policy: "nowhere:control"', "No module named 'nowhere'"), (axis % "lua: arm.lua", "base.position")):
            with self.subTest(told):
                table, plan = self.folder / "bad.sqlite", self.file("bad.yaml", text)
                for command in ("check", plan), ("sweep", plan, "--output", table):
                    status, shown, said = tether(*command)
                    self.assertEqual((status, shown), (1, ""), said)
                    self.assertIn(told, said)
                    self.assertIn("bad.yaml", said)
                    self.assertNotIn("goes on", said)
                table.unlink(missing_ok=True)

    def test_what_is_no_number_is_told_with_the_command(self):
        self.file("arm.lua", "function control(read, write)\n  write('base.velocity', '1')\nend\n")
        self.file("arm.py", "def control(read, write):\n    write('base.velocity', read('value') == 'text' and '1' or None)\n")
        plan = ARM.replace("[hold, fail]", "[text, none]").replace("name: way", "name: value").replace("repeat: 2", "repeat: 1").replace("[0.5, 1, 2]", "[1]")
        for controller, words in (("lua: arm.lua", ["arm.lua:2: write: base.velocity: number expected, got string; give a number"] * 2),
                                  ('policy: "arm:control"', [f"arm.py:2: TypeError: write: base.velocity: {value} is no number; give one, " for value in ("'1'", "None")])):
            found = sweep(self.file("arm.yaml", plan % controller), self.folder / f"{controller[:3]}.sqlite", "--quiet")
            self.assertEqual([row["status"] for row in found], 2 * ["controller_failed"])
            for row, said in zip(found, words):
                self.assertIn(said, row["error"])

    def test_a_table_without_a_row_is_anybodys(self):
        plan, table = self.folder / "arm.yaml", self.folder / "arm.sqlite"
        self.file("arm.py", PYTHON)
        self.file("arm.yaml", ARM % 'policy: "arm:contrl"')
        self.assertEqual(tether("sweep", plan)[0], 1)
        self.file("arm.yaml", ARM % 'policy: "arm:control"')
        self.assertIn("none: there is no such folder", tether("sweep", plan, "--collect", "--shards", self.folder / "none")[2])
        self.assertEqual(rows(table), [])
        self.file("arm.yaml", (ARM % 'policy: "arm:control"').replace("repeat: 2", "repeat: 1").replace("name: base", "name: base_end"))
        self.assertEqual({"base_end" in row for row in sweep(plan, table)}, {True})
        self.file("arm.yaml", ARM % 'policy: "arm:control"')
        self.assertIn("is of another plan", tether("sweep", plan)[2])  # now it has rows

    def test_ready_plans_by_name(self):
        for name, (settings, count) in READY.items():
            with self.subTest(name):
                options = [word for setting in settings for word in ("--set", setting)]
                status, _, said = tether("sweep", name, "--quiet", *options, cwd=self.folder)  # its table stands in the present folder
                self.assertEqual(status, 0, said)
                found = rows(self.folder / f"{name}.sqlite")
                self.assertEqual([row["status"] for row in found], ["ok"] * count, found)
                self.assertEqual(len({row["hash"] for row in found}), count)
                if name == "concept":
                    self.assertEqual({row["success"] for row in found}, {1}, found)
                prove(name, found[-1], *options)


if __name__ == "__main__":
    unittest.main()
