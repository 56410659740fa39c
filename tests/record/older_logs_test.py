#!/usr/bin/env python3
"""Logs that earlier programs wrote, in older/: every reader of today reads them, and `verify` says why it can't prove one.

Each is of two wagons that a wire and a page drove, with a watchdog and two resets. They are kept as they were written; whoever
changes the format adds one that the program before wrote."""
import csv
import gzip
import http.client
import io
import json
import math
import pathlib
import struct
import subprocess
import unittest

from support.live_page import Page, poses
from support.mcap import Mcap
from support.process import ROOT, STATE, TETHER, Tether
from support.wpilog import Log, records


FOLDER = pathlib.Path(STATE.name)
RUNS = FOLDER / "tether" / "runs"
OLDER = sorted((ROOT / "tests" / "record" / "older").glob("*.wpilog.gz"))


def tether(*arguments):
    return subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def record(entry, time, payload):
    """One record of a WPILOG, its numbers as long as they may be."""
    return struct.pack("<BIIQ", 0x7f, entry, len(payload), time) + payload


class OlderLogs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        assert OLDER
        RUNS.mkdir(parents=True)
        cls.logs = {}
        for packed in OLDER:
            path = RUNS / packed.name.removesuffix(".gz")
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            cls.logs[path] = Log(path.read_bytes())

    def export(self, log, form):
        done = subprocess.run([TETHER, "export", log, "--format", form], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_csv(self):
        for path, read in self.logs.items():
            head, *rows = csv.reader(io.StringIO(self.export(path, "csv").decode()))
            place = head.index("red/chassis.x [m]")
            held = dict(read.values["/signals/red/chassis.x"])
            self.assertEqual(len(rows), len(read.values["/signals/time"]))
            for row in rows:
                self.assertEqual(float(row[place]), held.get(float(row[0]), float(row[place])))
            self.assertEqual({float(row[place]) for row in rows}, set(held.values()))

    def test_json_lines(self):
        for path, read in self.logs.items():
            lines = [json.loads(line) for line in self.export(path, "jsonl").splitlines()]
            self.assertFalse(any("damaged" in line for line in lines))
            journal = [line for line in lines if line["name"] == "/tether/journal"]
            self.assertGreater(sum(line["kind"] == "hash" for line in journal), 100)
            self.assertEqual(sum(line["kind"] == "reset" for line in journal), 2)
            self.assertEqual({line["source"] for line in journal if line["kind"] == "commands"}, {"web", "float-udp"})
            poses_of = [tuple(line["value"]) for line in lines if line["name"] == "/poses/blue/arm"]
            self.assertEqual(poses_of, [value for _, value in read.values["/poses/blue/arm"]])

    def test_what_is_no_number_is_told_as_nothing(self):
        """As a log of another program may have it."""
        texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"/signals/Arm", b"double", b""))
        values = 1, 2, math.nan, math.inf, 5
        path = FOLDER / "holes.wpilog"
        path.write_bytes(b"WPILOG\x00\x01\x00\x00\x00\x00" + record(0, 0, b"\0" + struct.pack("<I", 1) + texts) +
                         b"".join(record(1, 1000 * i, struct.pack("<d", value)) for i, value in enumerate(values)))
        rows = self.export(path, "csv").decode().splitlines()[1:]
        self.assertEqual([row.split(",")[1] for row in rows], ["1", "2", "", "", "5"])
        lines = [json.loads(line) for line in self.export(path, "jsonl").splitlines()]
        self.assertEqual([line["value"] for line in lines], [1, 2, None, None, 5])

    def test_mcap_summary_and_picture(self):
        for path, read in self.logs.items():
            made = Mcap(self.export(path, "mcap"))
            self.assertEqual([(time, message["value"]) for time, message in made.messages["/signals/red/arm.position"]],
                             read.values["/signals/red/arm.position"])
            self.assertEqual(len(made.messages["/poses/blue/chassis"]), len(read.values["/poses/blue/chassis"]))
            summary = self.export(path, "summary").decode()
            for part in ('scene: "wagons"', 'outcome: "ended"', "received: ", '"world: reset blue"'):
                self.assertIn(part, summary)
            self.assertIn(b"<title>blue</title>", self.export(path, "svg"))

    def test_replay_and_phantoms_in_a_page(self):
        for path, read in self.logs.items():
            with Tether("replay", path, "--set", "web.listen=127.0.0.1:0") as program:
                page = Page(program.addresses["web"])
                root = page.model["robots"][0]["root"]
                page.send(type="control", action="pause")
                page.send(type="phantom", add=path.name)
                self.assertEqual(page.told("phantoms")["phantoms"][0]["run"], path.name)
                for wanted, place in ((0.6, 12), (0.3, 6)):
                    page.send(type="control", action="seek", value=wanted)
                    _, bodies, racing = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                                                         and abs(poses(message)[0] - wanted) < 0.0005))
                    time, pose = read.values["/poses/red/chassis"][place]
                    self.assertAlmostEqual(time, wanted, places=6)
                    for axis in range(7):
                        self.assertAlmostEqual(bodies[root][axis], pose[axis], places=5)
                    self.assertAlmostEqual(racing[0][3][0][0], pose[0], places=5)
                page.close()
                self.assertEqual(program.stop(), 0, program.text())

    def test_the_list_of_runs(self):
        with Tether("run", ROOT / "tests" / "scenes" / "good" / "one.yaml", "--set", "web.listen=127.0.0.1:0") as program:
            def ask(path):
                connection = http.client.HTTPConnection(program.addresses["web"].removeprefix("http://"), timeout=20)
                connection.request("GET", path)
                answer = json.loads(connection.getresponse().read())
                connection.close()
                return answer

            listed = {run["id"]: run for run in ask("/api/runs")}
            for path, read in self.logs.items():
                self.assertEqual(listed[path.name]["outcome"], "ended")
                self.assertEqual(listed[path.name]["scene"], "wagons")
                plot = ask(f"/api/runs/{path.name}/signals?name=red/arm.position&points=1000")
                kept = dict(read.values["/signals/red/arm.position"])
                for time, value in zip(plot["time"], plot["values"][0]):
                    self.assertEqual(kept.get(time, value), value)
                self.assertTrue(set(kept) <= set(plot["time"]))
            self.assertEqual(program.stop(), 0, program.text())

    def test_verify_runs_them_again_or_says_why_that_proves_nothing(self):
        for path, _ in self.logs.items():
            done = tether("verify", path)
            if done.returncode == 0:
                self.assertRegex(done.stdout, "identical: 6[0-9]{2} steps, 1[0-9]{2} state hashes")
            else:
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("can't be proved here: ", done.stderr)


class OtherPrograms(unittest.TestCase):
    """A log that says another program made it, and whose hashes this one does not find."""

    def verify(self, *arguments, hash_differs=True, **said):
        data = gzip.decompress(OLDER[0].read_bytes())
        read = Log(data)
        ids = {name: entry for entry, (name, _, _) in read.entries.items()}
        run = {**json.loads(read.values["/tether/run"][0][1]), **said}
        log = FOLDER / "other.wpilog"
        with log.open("wb") as file:
            file.write(data[:12 + struct.unpack_from("<I", data, 8)[0]])
            for entry, time, payload in records(data):
                if entry == ids["/tether/run"]:
                    payload = json.dumps(run).encode()
                if entry == ids["/tether/journal"] and payload[0] == 4 and hash_differs:
                    payload = payload[:-8] + bytes(8)
                file.write(record(entry, time, payload))
        return tether("verify", log, *arguments)

    def here(self):
        """What a log of this program says of it."""
        log = FOLDER / "here.wpilog"
        log.unlink(missing_ok=True)
        done = tether("run", ROOT / "tests" / "scenes" / "good" / "one.yaml", "--pace", "fast", "--duration", "0.1",
                      "--no-web", "--record", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads(Log(log.read_bytes()).values["/tether/run"][0][1])
        return {key: run[key] for key in ("physics", "mujoco", "libc", "cpu")}

    def test_a_log_says_what_computed_it(self):
        here = self.here()
        self.assertGreaterEqual(here["physics"], 1)
        self.assertRegex(here["mujoco"], r"^\d+\.\d+")
        self.assertRegex(here["libc"], r"^\d+\.\d+")

    def test_before_versions_were_counted(self):
        done = self.verify()
        self.assertEqual(done.returncode, 1)
        self.assertIn("different after step ", done.stdout)
        self.assertIn("the run can't be proved here: it was made before physics versions were counted (tether 0.1.0)",
                      done.stderr)

    def test_another_physics(self):
        here = self.here()
        done = self.verify(**{**here, "physics": here["physics"] + 1})
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"it was made by physics version {here['physics'] + 1} (tether 0.1.0), and this program has {here['physics']}",
                      done.stderr)

    def test_other_libraries_and_processors(self):
        for key, name in (("mujoco", "MuJoCo"), ("libc", "libc"), ("cpu", "CPU")):
            done = self.verify(**{**self.here(), key: "9.9.9"})
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"it was made with {name} 9.9.9, and here is {self.here()[key]}", done.stderr)

    def test_a_controller_is_not_blamed_for_them(self):
        own, here = ("--controller", "true", "--set", "wires.float-udp.bind=127.0.0.1:0"), self.here()
        for said, blamed in (here, False), ({**here, "libc": "9.9.9"}, True):
            done = self.verify(*own, **said)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("the program ended after", done.stderr)
            self.assertEqual("that may be for another reason than the program: it was made with libc 9.9.9, and here is" in done.stderr,
                             blamed, done.stderr)

    def test_the_same_program_has_no_excuse(self):
        done = self.verify(**self.here())
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run differs from its log", done.stderr)


if __name__ == "__main__":
    unittest.main()
