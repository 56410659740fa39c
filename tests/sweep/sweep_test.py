#!/usr/bin/env python3
"""`tether sweep`: every row is what the run alone would be, whoever makes it; what goes wrong costs its own row."""
import fcntl
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import unittest
import urllib.request

from support.process import TETHER, wait_for
from support.sweep import again, descendants, rows, state_of, sweep, tether, workers

# Noise, a mass, and what only another scene has: each has to be set back between two runs.
SENSORS = """
scene: frc2011-sensors
duration: 60 ms
axes:
  - {name: place, set: robots.frc2011-sensors.range_finders.ahead.x, value: [0.565, 0.6]}
  - {name: noise, set: models.frc2011-sensors.range_finders.ahead.noise, value: [0.002, 0.05]}
  - {name: mass, set: models.frc2011-sensors.bodies.chassis.mass, value: [40, 60]}
repeat: 2
metrics:
  - {name: ahead, signal: ahead.distance, measure: mean}
  - {name: turned, signal: gyro.angle, measure: final}
"""

# A spring that no step of 1/60 s can follow.
SPRING = """
scene: gripper
duration: 0.5 s
axes:
  - {name: timestep, set: timestep, value: [1/600 s, 1/60 s]}
  - {name: stiffness, set: models.gripper.joints.base.stiffness, value: [1e7, 0]}
metrics:
  - {name: base, signal: base.position, measure: greatest}
"""

# What takes longer than a test may.
LONG = """
scene: gripper
duration: 100000 s
axes:
  - {name: nothing, value: [0, 1, 2]}
"""

# The faster it is told to turn, the further it has come.
TURN = """
scene: gripper
duration: 0.2 s
controller: {lua: turn.lua}
axes:
  - {name: speed, value: [0.1, 0.4]}
metrics:
  - {name: turned, signal: base.position, measure: final}
"""


def on_a_small_disk(*arguments):
    """As tether(); a file may not grow beyond some size, and writing answers EFBIG."""
    return tether(*arguments, restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (240_000, 240_000)))


class Sweep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = pathlib.Path(self.folder.name) / name
        if text is not None:
            path.write_text(text, encoding="utf-8")
        return path

    def test_however_many_make_it_the_table_is_the_same(self):
        plan = self.path("sensors.yaml", SENSORS)
        one = sweep(plan, self.path("1.sqlite"), "--jobs", 1)
        self.assertEqual(len(one), 16)
        self.assertEqual({row["status"] for row in one}, {"ok"})
        self.assertEqual(len({row["hash"] for row in one}), 8)  # where a sensor stands changes nothing of the physics
        for jobs in 2, 7:
            self.assertEqual(sweep(plan, self.path(f"{jobs}.sqlite"), "--jobs", jobs), one)
        for row in one if os.environ.get("TETHER_LONG") else one[7:8]:
            self.assertEqual(again(plan, row)["hash"], row["hash"])
        log = self.path("again.wpilog")
        self.assertEqual(again(plan, one[13], "--record", log)["hash"], one[13]["hash"])
        status, said, complaint = tether("verify", log)
        self.assertEqual((status, complaint), (0, ""))
        self.assertIn("identical: 180 steps", said)
        other = self.path("other.wpilog")
        again(plan, one[13], "--record", other)
        self.assertEqual(tether("compare", log, other)[0], 0)

    def test_a_run_that_diverges_costs_its_row(self):
        table = sweep(self.path("spring.yaml", SPRING), self.path("spring.sqlite"), "--jobs", 1)
        self.assertEqual([row["status"] for row in table], ["ok", "ok", "diverged", "ok"])
        self.assertIn("the simulation diverged", table[2]["error"])
        self.assertAlmostEqual(table[3]["simulated_time"], 0.5, delta=0.2)
        for row in table:  # what came before leaves nothing behind
            self.assertEqual(again(self.path("spring.yaml"), row)["hash"], row["hash"])

    def test_time_out(self):
        plan, table = self.path("long.yaml", LONG + "timeout: 0.2 s\nretries: 1\n"), self.path("long.sqlite")
        self.assertEqual({row["status"] for row in sweep(plan, table)}, {"timeout"})
        self.assertIn("timeout of 0.2 s", rows(table)[0]["error"])

    def test_what_would_be_made(self):
        plan = self.path("long.yaml", LONG.replace("100000 s", "0.5 s") + "keep: {all: on}\n")
        status, said, complaint = tether("sweep", plan, "--dry-run", "--jobs", 2)
        self.assertEqual((status, complaint), (0, ""))
        self.assertIn("3 points, 1 seed each", said)
        self.assertRegex(said, r"Time: about \S+ \S+: a run takes \S+ \S+, and 2 are made at a time")
        self.assertRegex(said, r"Logs that are kept: at most 3, about \S+ [kMG]B")
        self.assertEqual(sorted(path.name for path in pathlib.Path(self.folder.name).iterdir()), ["long.yaml"])

    def test_logs_that_stay(self):
        unrecorded = sweep(self.path("spring.yaml", SPRING), self.path("spring.sqlite"))
        ranked = sorted((row for row in unrecorded if row["status"] == "ok"), key=lambda row: row["base"])
        ends = ranked[0]["hash"], ranked[-1]["hash"]
        keep = {"all: on": lambda row: True, "failures: on": lambda row: row["status"] != "ok",
                "best: 1, worst: 1, metric: base, order: least": lambda row: row["hash"] in ends}
        for asked, stays in keep.items():
            plan = self.path("kept.yaml", SPRING + f"keep: {{{asked}}}\n")
            logs = self.path("kept-logs")
            table = sweep(plan, self.path("kept.sqlite"), "--jobs", 2)
            kept = {log.stem for log in logs.iterdir()}
            self.assertEqual(kept, {row["id"] for row in table if stays(row)}, asked)
            for row in table:
                if row["id"] in kept and row["status"] == "ok":
                    self.assertEqual(tether("verify", logs / f"{row['id']}.wpilog")[0], 0)
            shutil.rmtree(logs)
            self.path("kept.sqlite").unlink()
            self.assertEqual([row["hash"] for row in table], [row["hash"] for row in unrecorded])

    def test_the_best_of_what_is_there_is_told(self):
        plan, table = self.path("kept.yaml", SPRING + "keep: {best: 1, metric: base, order: greatest}\n"), self.path("kept.sqlite")
        best = max((row for row in sweep(plan, table) if row["status"] == "ok"), key=lambda row: row["base"])
        status, said, _ = tether("sweep", plan, "--json")
        self.assertEqual((status, json.loads(said)["best"]), (0, {"id": best["id"], "metric": "base", "value": best["base"]}))
        self.assertEqual([json.loads(said)[key] for key in ("runs", "done", "new", "failed")], [len(rows(table)), len(rows(table)), 0, 0])

    def test_a_row_that_nobody_gets_is_told(self):
        plan = self.path("spring.yaml", SPRING)
        alone = sweep(plan, self.path("spring.sqlite"))[0]["id"]
        for options in ("--only", alone), ("--only", alone, "--json"), ("--dry-run",):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TETHER, "sweep", plan, *options], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr), (3, "tether: standard output: can't write: No space left on device\n"))

    def test_logs_of_parts_become_those_of_the_whole(self):
        plan = self.path("kept.yaml", SPRING + "keep: {best: 1, metric: base, order: greatest}\n")
        logs = self.path("kept-logs")
        for part in "1/2", "2/2":
            self.assertEqual(tether("sweep", plan, "--shard", part)[0], 0)
        self.assertEqual(len(list(logs.iterdir())), 2)
        self.assertEqual(tether("sweep", plan, "--collect")[0], 0)
        best = max((row for row in rows(self.path("kept.sqlite")) if row["status"] == "ok"), key=lambda row: row["base"])
        self.assertEqual([log.stem for log in logs.iterdir()], [best["id"]])

    def test_logs_that_are_wanted_late_are_told_with_the_remedy(self):
        plan, logs = self.path("spring.yaml", SPRING), self.path("late")
        failed = next(row["id"] for row in sweep(plan, self.path("spring.sqlite")) if row["status"] != "ok")
        wanted = "--set", f"keep={{failures: on, folder: {logs}}}"
        status, said, warned = tether("sweep", plan, "--json", *wanted)
        self.assertIn(f"1 of the logs that it asks for are not in {logs}", warned)
        self.assertIn(f"--only ID --record {logs}/ID.wpilog, the first ID is {failed}", warned)
        self.assertEqual((status, json.loads(said)["logs_missing"]), (0, 1))
        tether("sweep", plan, "--only", failed, "--record", logs / f"{failed}.wpilog")
        status, said, warned = tether("sweep", plan, "--json", *wanted)
        self.assertEqual((status, json.loads(said)["logs_missing"], warned), (0, 0, ""))

    def test_a_row_without_a_log_takes_no_place_among_the_best(self):
        self.path("turn.lua", "function control(read, write) write('base.velocity', read('speed')) end")
        plan, table, logs = self.path("turn.yaml", TURN), self.path("turn.sqlite"), self.path("turn-logs")
        sweep(plan, table)
        grown = "--extend", "--set", "axes.speed.value=[0.1, 0.2, 0.3, 0.4]", "--set", "keep={best: 2, metric: turned, order: greatest}"
        status, _, warned = tether("sweep", plan, *grown, "--quiet")
        id_of = {row["speed"]: row["id"] for row in rows(table)}
        self.assertEqual(status, 0, warned)
        self.assertIn(f"1 of the logs that it asks for are not in {logs}", warned)
        self.assertIn(id_of[0.4], warned)
        self.assertEqual({log.stem for log in logs.iterdir()}, {id_of[0.2], id_of[0.3]})
        tether("sweep", plan, *grown[1:3], "--only", id_of[0.4], "--record", logs / f"{id_of[0.4]}.wpilog")
        self.assertEqual(tether("sweep", plan, *grown, "--quiet"), (0, "", ""))
        self.assertEqual({log.stem for log in logs.iterdir()}, {id_of[0.3], id_of[0.4]})

    def test_rows_that_the_disk_refuses_are_not_counted(self):
        plan, table = self.path("many.yaml", LONG.replace("100000 s", "20 ms") + "repeat: 2000\n"), self.path("many.sqlite")
        status, _, said = on_a_small_disk("sweep", plan)
        self.assertEqual(status, 3, said)
        self.assertIn(f"{len(rows(table))} of 6000 rows in ", said)
        self.assertEqual(len(sweep(plan, table)), 6000)

    def test_a_log_that_can_not_be_whole_ends_it(self):
        plan = self.path("kept.yaml", LONG.replace("100000 s", "90 s") + "keep: {all: on}\n")
        logs = self.path("kept-logs")
        status, _, said = on_a_small_disk("sweep", plan)
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"tether: .*\.wpilog: can't write: File too large")
        self.assertEqual((rows(self.path("kept.sqlite")), list(logs.iterdir())), ([], []))
        self.assertEqual(tether("sweep", plan)[0], 0)  # with room, the same command goes on
        table = rows(self.path("kept.sqlite"))
        self.assertEqual({log.stem for log in logs.iterdir()}, {row["id"] for row in table})
        status, row, said = on_a_small_disk("sweep", plan, "--only", table[0]["id"], "--record", self.path("one.wpilog"))
        self.assertEqual((status, row), (3, ""), said)
        self.assertIn("one.wpilog: can't write: File too large", said)

    def test_csv_goes_over_no_file_of_the_plan(self):
        self.path("base.lua", "function measure(read, count) return read('base.position', count) end")
        self.path("scene.yaml", "robots: [{robot: gripper}]\n")
        plan = self.path("turn.yaml", TURN.replace("scene: gripper", "scene: ./scene.yaml").replace("{lua: turn.lua}", "{lua: turn.lua, files: [notes.txt]}")
                         + "  - {name: other, lua: base.lua, signals: [base.position]}\n")
        texts = {name: self.path(name, text) for name, text in (
            ("turn.lua", "function control(read, write) write('base.velocity', read('speed')) end"), ("notes.txt", "how it turns\n"))}
        self.path("link.csv").symlink_to(texts["turn.lua"])
        files = [self.path(name) for name in ("turn.lua", "base.lua", "notes.txt", "scene.yaml", "link.csv")]
        before = [file.read_text(encoding="utf-8") for file in files]
        for file in files:
            status, _, said = tether("sweep", plan, "--csv", file)
            self.assertEqual(status, 2, said)
            self.assertIn(f"{file}: is a file that the plan's runs are made of; give another file", said)
        self.assertEqual([file.read_text(encoding="utf-8") for file in files], before)
        status, _, said = tether("sweep", plan, "--csv", self.path("turn.sqlite-lock"))
        self.assertEqual(status, 2, said)
        self.assertEqual(rows(self.path("turn.sqlite")), [])

    def test_csv_that_can_not_be_written_is_told_before_anything_runs(self):
        plan = self.path("long.yaml", LONG)  # which no test could wait for
        for file, why in (self.path("none") / "x.csv", "No such file or directory"), (self.path("."), "Is a directory"):
            status, _, said = tether("sweep", plan, "--csv", file, patience=60)
            self.assertEqual(status, 3, said)
            self.assertIn(f"{file}: can't write: {why}", said)

    def test_csv_goes_over_neither_table_nor_plan(self):
        plan, table = self.path("spring.yaml", SPRING), self.path("spring.sqlite")
        made = sweep(plan, table)
        self.path("link.csv").symlink_to(table)
        for taken, what in (table, "the table itself"), (plan, "the plan"), (self.path("link.csv"), "the table itself"):
            status, _, said = tether("sweep", plan, "--csv", taken)
            self.assertEqual(status, 2, said)
            self.assertIn(f"{taken}: is {what}; give another file", said)
        self.assertEqual((rows(table), plan.read_text(encoding="utf-8")), (made, SPRING))

    def start(self, *arguments):
        process = subprocess.Popen([TETHER, "sweep", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_the_bar_fits_into_a_line(self):
        plan = self.path("gripper.yaml", LONG.replace("100000 s", "50 ms") + "repeat: 100000\n")
        for columns in 80, 40:
            terminal, there = pty.openpty()
            fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            process = subprocess.Popen([TETHER, "sweep", plan, "--jobs", "1"], stderr=there)
            self.addCleanup(process.kill)
            shown = b""
            while shown.count(b" to go") < 3 and shown.count(b"\r") < 5:
                shown += os.read(terminal, 1000)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 130)
            os.close(terminal)
            os.close(there)
            for line in shown.decode().split("\r")[1:-1]:
                self.assertRegex(line, r"^sweep \[[#.]*\] +\d+ %, ")
                self.assertLess(len(line.replace("\033[K", "")), columns)

    def test_a_signal_ends_it_in_order(self):
        plan = self.path("gripper.yaml", LONG.replace("100000 s", "50 ms") + "repeat: 100000\n")
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            table = self.path(f"{number}.sqlite")
            process = self.start(plan, "--output", table, "--json", "--jobs", 2)
            said = json.loads(process.stdout.readline())
            self.assertGreater(said["done"], 0)
            family = descendants(process.pid)
            self.assertGreaterEqual(len(family), 2)
            process.send_signal(number)
            last = json.loads(process.communicate(timeout=60)[0].splitlines()[-1])
            self.assertEqual(process.returncode, 130)
            self.assertFalse(last["finished"])
            self.assertEqual(len(rows(table)), last["done"])
            self.assertGreaterEqual(last["done"], said["done"])
            wait_for(lambda who=family: not any(map(state_of, who)), "the workers' end")

    def listed(self, address):
        with urllib.request.urlopen(f"{address}/api/sweeps") as answer:
            return json.load(answer)

    def test_the_pages_are_there_meanwhile(self):
        plan, table = self.path("gripper.yaml", LONG.replace("100000 s", "50 ms")), self.path("gripper.sqlite")
        for end in signal.SIGINT, signal.SIGKILL:
            process = self.start(plan, "--output", table, "--web=127.0.0.1:0")
            address = re.search("ready web=(.*)", process.stderr.readline())[1]
            wait_for(lambda: [3] == [one["rows"] for one in self.listed(address) if one["file"] == str(table)], "the rows")
            family = descendants(process.pid)
            process.send_signal(end)
            process.wait(60)
            wait_for(lambda who=family: not any(map(state_of, who)), "the end of all")

    def test_a_worker_that_is_killed_costs_nothing_the_first_time(self):
        plan, table = self.path("gripper.yaml", LONG.replace("100000 s", "50 s")), self.path("gripper.sqlite")
        process = self.start(plan, "--output", table, "--jobs", 1)
        first = wait_for(lambda: workers(process.pid), "a worker")[0]
        os.kill(first, signal.SIGKILL)
        second = wait_for(lambda: [each for each in workers(process.pid) if each != first], "another worker")[0]
        os.kill(second, signal.SIGKILL)
        self.assertEqual(process.wait(120), 0)
        ends = [row["status"] for row in rows(table)]
        self.assertEqual(sorted(ends), ["limit", "ok", "ok"])
        self.assertIn("signal 9 (Killed)", rows(table)[ends.index("limit")]["error"])

    def test_what_is_wrong_is_told_before_anything_runs(self):
        plan = self.path("gripper.yaml", LONG)
        status, _, said = tether("sweep", self.path("wrong.yaml", LONG.replace("gripper", "grippper")))
        self.assertEqual(status, 1)
        self.assertIn("wrong.yaml", said)
        self.assertEqual(tether("sweep", plan, "--jobs", "0")[0], 2)
        self.assertEqual(tether("sweep", plan, "--record", "x.wpilog")[0], 2)
        self.assertEqual(tether("sweep", plan, "--shard", "3/2")[0], 2)
        os.mkfifo(self.path("pipe"))
        status, _, said = tether("sweep", plan, "--output", self.path("pipe"), patience=60)
        self.assertEqual(status, 1)
        self.assertIn("pipe: is a pipe or a device; give a file", said)
        for setting, told in (("stop_when=1/0 > 0", "before '1/0 > 0': there is no such number; write a division with spaces, a / b"),
                              ("axes.nothing={name: nothing, set: models.gripper.bodies.base.friction, value: [-2]}", "'-2' is out of range; give 0 to 100\n")):
            status, _, said = tether("sweep", plan, "--set", setting)
            self.assertEqual(status, 1, said)
            self.assertIn(told, said)
        status, _, said = tether("sweep", plan, "--only", "0123")
        self.assertEqual(status, 1)
        self.assertIn("it has no run 0123", said)

    def test_options_that_would_be_left_unsaid(self):
        """What does not go together is refused, one line a pair."""
        given = {"shard": "1/2", "csv": "-", "output": "x", "shards": "x", "jobs": "1", "web": None, "collect": None, "slurm": None,
                 "extend": None, "dry-run": None, "only": "0", "record": "x", "chunk": "1", "partition": "x", "array-limit": "1", "time": "1",
                 "detach": None}
        for first, others in (
                ("only", "shard collect slurm csv dry-run output extend web jobs"), ("dry-run", "shard collect slurm csv output extend web"),
                ("shard", "collect slurm output csv extend web"), ("collect", "slurm jobs"),
                *((alone, None) for alone in "record shards chunk partition array-limit time detach".split())):
            for other in others.split() if others else [None]:
                options = [f"--{name}" + (f"={given[name]}" if given[name] else "") for name in (first, other) if name]
                with self.subTest(options):
                    status, _, said = tether("sweep", "none.yaml", *options)
                    self.assertEqual(status, 2, said)
                    self.assertRegex(said, r"^tether: --[^\n]+\nusage: ")
                    for name in (first, other):
                        self.assertIn(name or "goes with", said)

    def test_the_beginning_of_several_ids(self):
        plan = self.path("many.yaml", LONG.replace("100000 s", "10 ms") + "repeat: 6\n")
        ids = [row["id"] for row in sweep(plan, self.path("many.sqlite"))]
        digit = next(digit for digit in "0123456789abcdef" if sum(id.startswith(digit) for id in ids) > 1)  # 18 ids, 16 digits
        several = [id for id in ids if id.startswith(digit)]
        status, made, said = tether("sweep", plan, "--only", digit)
        self.assertEqual((status, made), (1, ""))
        self.assertIn(f"several runs begin with {digit}, as {several[0]} and {several[1]}", said)
        self.assertEqual(again(plan, {"id": several[1]})["id"], several[1])


if __name__ == "__main__":
    unittest.main()
