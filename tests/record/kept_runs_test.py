#!/usr/bin/env python3
"""What is kept of a run, read by readers that share no code with the program: WPILOG, MCAP, CSV, JSON lines."""
import bisect
import contextlib
import csv
import io
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest
from xml.etree import ElementTree

from support.live_page import Page
from support.mcap import Mcap
from support.process import ROOT, STATE, TETHER, Tether
from support.wpilog import Log, journal_entry


FOLDER = pathlib.Path(STATE.name)


def tether(*arguments):
    return subprocess.run([TETHER, *map(str, arguments)], capture_output=True, timeout=100, check=False)


def export(log, form):
    done = tether("export", log, "--format", form)
    assert done.returncode == 0, done.stderr
    return done.stdout


def whole(log):
    """The log with all that follows from it, read by itself."""
    return Log(export(log, "wpilog"))


def restless():
    """A model of pendulums that never come to rest, each sample of which takes a kilobyte."""
    model = FOLDER / "restless.xml"
    bodies = "".join(f'<body pos="{i} 0 2"><joint name="p{i}" axis="0 1 0"/><geom size=".1" pos="{0.5 + i / 50} 0 0" mass="1"/></body>'
                     for i in range(25))
    model.write_text('<mujoco><option timestep="0.002"/><worldbody>' + bodies + "</worldbody></mujoco>", encoding="utf-8")
    return model


class OneRun(unittest.TestCase):
    """A run that a page drove, reset and paused."""

    @classmethod
    def setUpClass(cls):
        cls.log = FOLDER / "driven.wpilog"
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "wires.float-udp.bind=127.0.0.1:0",
                    "--record", cls.log) as program:
            page = Page(program.addresses["web"])
            ids = {command["name"]: i for i, command in enumerate(page.model["commands"])}
            chance = random.Random(1)
            for _ in range(20):
                name = chance.choice(["left_track.torque", "right_track.torque", "arm.torque", "grip"])
                page.send(type="command", values=[[ids[name], chance.randint(0, 4)]])
                page.frame()
            page.send(type="control", action="reset", robot=-1)
            page.until(lambda message: isinstance(message, dict) and message["type"] == "event"
                       and message["text"] == "reset")
            for _ in range(10):
                page.frame()
            cls.signals = page.model["signals"]
            cls.bodies = page.model["bodies"]
            page.close()
            assert program.stop() == 0, program.text()
        cls.data = cls.log.read_bytes()
        cls.kept = Log(cls.data)  # what stands in the file
        cls.read = whole(cls.log)  # and what follows from it

    def test_every_signal_command_and_pose_has_its_entry(self):
        units = {name: json.loads(metadata)["unit"] for name, kind, metadata in self.read.entries.values()
                 if kind == "double"}
        for entry in self.signals:
            name = "/commands/" + entry["name"].removeprefix("command:") if entry["command"] else "/signals/" + entry["name"]
            if name == "/signals/real_time_factor":  # what the machine did
                name = "/tether/real_time_factor"
            self.assertEqual(units.pop(name), entry["unit"])
        self.assertEqual(units, {})
        poses = {name.removeprefix("/poses/") for name in self.read.values if name.startswith("/poses/")}
        self.assertEqual(poses, {body["name"] for body in self.bodies[1:]})
        for name in ("Pose3d", "Translation3d", "Rotation3d", "Quaternion"):
            self.assertIn("/.schema/struct:" + name, self.read.values)

    def test_the_file_itself_has_the_joints_and_the_root_for_viewers(self):
        for name in ("/signals/arm.position", "/signals/arm.velocity", "/signals/left_wheel.torque", "/signals/chassis.x",
                     "/signals/chassis.heading", "/poses/chassis"):
            self.assertIn(name, self.kept.values)
        for name, values in self.kept.values.items():
            if name != "/tether/checksum":
                self.assertEqual(self.read.values[name], values, name)
        bodies = {body["name"] for body in self.bodies}
        self.assertFalse({name.removeprefix("/poses/") for name in self.kept.values} & bodies - {"chassis"})
        self.assertFalse([name for name in self.kept.values if name.startswith("/commands/")])

    def test_commands_follow_from_the_journal(self):
        names = [signal["name"].removeprefix("command:") for signal in self.signals if signal["command"]]
        told, held = {}, {}
        for name, time, payload in self.kept.journal():
            entry = journal_entry(payload)
            if entry["kind"] in ("commands", "safe"):
                told.update((names[command], value) for command, value in entry["commands"])
            elif entry["kind"] == "reset":
                told = {}
            elif entry.get("sampled"):
                held[time] = dict(told)
        self.assertGreater(sum(bool(values) for values in held.values()), 10)
        for name in ("left_track.torque", "right_track.torque", "arm.torque", "grip"):
            changes = self.read.values["/commands/" + name]
            for time, values in held.items():
                there = [value for at, value in changes if at <= time + 1e-9][-1]
                self.assertEqual(there, values.get(name, 0), (name, time))

    def test_poses_are_the_signals_in_the_frame_of_the_field(self):
        field = json.loads(self.read.values["/tether/run"][0][1])["field"]
        self.assertEqual(field, {"x": -8.23, "y": -4.115, "heading": 0})
        origin = {"x": field["x"], "y": field["y"]}
        for body in self.bodies[1:]:
            name = body["name"]
            pose = self.read.values["/poses/" + name][-1][1]
            for i, axis in enumerate(("x", "y", "z", "qw", "qx", "qy", "qz")):
                values = self.read.values.get(f"/signals/{name}.{axis}") or self.read.values[f"/signals/body:{name}.{axis}"]
                self.assertAlmostEqual(values[-1][1] - origin.get(axis, 0), pose[i], 12, (name, axis))

    def test_samples_are_in_order_and_events_are_there(self):
        times = [time for name, time in self.read.order if name.startswith(("/signals/", "/commands/", "/poses/"))]
        self.assertEqual(times, sorted(times))
        self.assertIn("world: reset", [text for _, text in self.read.values["/events"]])
        run = json.loads(self.read.values["/tether/run"][0][1])
        self.assertIn("/tether/files" + run["scene_file"], self.read.values)
        self.assertEqual([text for _, text in self.read.values["/tether/end"]], ["ended"])

    def test_verify_says_identical(self):
        done = tether("verify", self.log)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        bytes_said, said = done.stdout.decode().splitlines()
        self.assertEqual(bytes_said, f"bytes: all {len(self.data)} are those that were written")
        samples = len(self.read.values["/signals/time"])
        kept = sum(name.startswith(("/signals/", "/commands/")) for name in self.read.values)
        self.assertRegex(said, rf"^identical: \d+ steps, \d+ state hashes, {samples} samples \({kept} of {kept} signals, ")

    def test_verify_finds_a_flipped_bit_anywhere(self):
        damaged = FOLDER / "damaged.wpilog"
        chance = random.Random(2)
        places = [0, 13, len(self.data) - 1, len(self.data) - 40, *(chance.randrange(len(self.data)) for _ in range(15))]
        for place in places:
            data = bytearray(self.data)
            data[place] ^= 1 << chance.randrange(8)
            damaged.write_bytes(data)
            done = tether("verify", damaged)
            self.assertEqual(done.returncode, 1, (place, done.stdout, done.stderr))
            if place >= 12:  # else it is no WPILOG
                self.assertIn(b"are not those that were written", done.stderr, place)
                found = re.search(rb"bytes (\d+) to (\d+), from [\d.]+ s on, are not those that were written", done.stderr)
                self.assertLessEqual(int(found[1]), place)
                self.assertGreaterEqual(int(found[2]), place)

    def test_verify_names_the_place_where_nothing_can_be_read_any_more(self):
        """Nothing before the damage is announced yet."""
        log = bytearray(self.data)
        first = 12 + int.from_bytes(log[8:12], "little")
        head = 4 + (log[first] & 3) + (log[first] >> 2 & 3) + (log[first] >> 4 & 7)
        log[first + head + 8] ^= 0x40  # so that its name leaves the record
        path = FOLDER / "flipped.wpilog"
        path.write_bytes(log)
        done = tether("verify", path)
        self.assertEqual((done.returncode, done.stderr.decode()), (1, f"tether: {path}: can't be read: damaged at byte {first}\n"))

    def test_verify_names_a_tail_that_was_not_hashed(self):
        cut = FOLDER / "tail.wpilog"
        cut.write_bytes(self.data[:-100])
        done = tether("verify", cut)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = re.search(rb"bytes: the first (\d+) are those that were written; the last (\d+), from [\d.]+ s on, were not hashed",
                         done.stdout)
        self.assertEqual(int(said[1]) + int(said[2]), len(self.data) - 100)

    def test_csv_has_no_formula_for_spreadsheets(self):
        model, log = FOLDER / "formula.xml", FOLDER / "formula.wpilog"
        model.write_text('<mujoco><worldbody><body name="b"><joint name="=1+1"/><geom size=".1" mass="1"/></body></worldbody>'
                         "</mujoco>", encoding="utf-8")
        done = tether("run", model, "--no-web", "--record", log, "--duration", "0.1", "--pace", "fast")
        self.assertEqual(done.returncode, 0, done.stderr)
        head = next(csv.reader(io.StringIO(export(log, "csv").decode())))
        self.assertIn("'=1+1.position [rad]", head)
        self.assertEqual([name for name in head if name.startswith(("=", "+", "-", "@"))], [])

    def test_csv_has_a_row_a_sample_with_the_values_that_hold(self):
        rows = list(csv.reader(io.StringIO(export(self.log, "csv").decode())))
        head, rows = rows[0], rows[1:]
        self.assertEqual(head[0], "log time [s]")
        held = dict.fromkeys(head[1:], "")
        changes = {}
        for name, values in self.read.values.items():
            if not name.startswith(("/signals/", "/commands/")):
                continue
            column = name.replace("/signals/", "").replace("/commands/", "command:")
            (full,) = [text for text in head if text.rsplit(" [", 1)[0] == column]
            for time, value in values:
                changes.setdefault(time, {})[full] = value
        self.assertEqual([float(row[0]) for row in rows], sorted(changes))
        for row in rows:
            held.update(changes[float(row[0])])
            self.assertEqual([float(text) for text in row[1:]], [held[name] for name in head[1:]])

    def test_csv_of_the_same_run_is_the_same(self):
        """In real time a machine is never as fast as the second time."""
        tables = []
        for number in range(2):
            log = FOLDER / f"same{number}.wpilog"
            done = tether("run", ROOT / "tests" / "scenes" / "good" / "one.yaml", "--duration", "0.5", "--no-web", "--record", log,
                          "--pace", ("realtime", "fast")[number])
            self.assertEqual(done.returncode, 0, done.stderr)
            tables.append(export(log, "csv"))
        self.assertEqual(*tables)
        self.assertIn("/tether/real_time_factor", Log(log.read_bytes()).values)

    def test_json_lines_say_every_record(self):
        lines = [json.loads(line) for line in export(self.log, "jsonl").splitlines()]
        self.assertEqual(len(lines), len(self.read.order))
        at = dict.fromkeys(self.read.values, 0)
        kinds = {name: kind for name, kind, _ in self.read.entries.values()}
        for line in lines:
            name = line["name"] + ("/" + line["source"] if "source" in line else "")
            time, value = self.read.values[name][at[name]]
            at[name] += 1
            self.assertEqual(line["time"], time)
            if kinds[name] in ("double", "string", "json"):
                self.assertEqual(line["value"], value)
            elif kinds[name] == "struct:Pose3d":
                self.assertEqual(tuple(line["value"]), value)
            elif line["name"] == "/tether/journal":
                entry = journal_entry(value)
                self.assertEqual((line["kind"], line["step"]), (entry["kind"], entry["step"]))
        sources = {line["source"] for line in lines if line.get("kind") == "commands"}
        self.assertEqual(sources, {"web"})

    def test_mcap_says_the_same(self):
        made = Mcap(export(self.log, "mcap"))
        for name, values in self.read.values.items():
            if name.startswith(("/signals/", "/commands/")):
                self.assertEqual([(time, message["value"]) for time, message in made.messages[name]], values, name)
            elif name.startswith("/poses/"):
                position = [tuple(message["pose"]["position"][axis] for axis in "xyz") for _, message in made.messages[name]]
                turn = [tuple(message["pose"]["orientation"][axis] for axis in "wxyz") for _, message in made.messages[name]]
                self.assertEqual([a + b for a, b in zip(position, turn)], [value for _, value in values], name)
        self.assertEqual([message["message"] for _, message in made.messages["/events"]],
                         [text for _, text in self.read.values["/events"]])
        self.assertEqual(made.metadata["tether.run"]["run"], self.read.values["/tether/run"][0][1])

    def test_summary(self):
        text = export(self.log, "summary").decode()
        for part in ('scene: "frc2011"', 'outcome: "ended"', "distance:", "top speed:", '"world: reset"', "late ticks:"):
            self.assertIn(part, text)

    def test_picture_shows_the_way(self):
        root = ElementTree.fromstring(export(self.log, "svg"))
        trails = root.findall(".//{*}g")
        self.assertEqual([trail.find("{*}title").text for trail in trails], ["frc2011"])
        way = [tuple(map(float, place.split())) for place in re.split("[ML]", trails[0].find("{*}path").get("d"))[1:]]
        poses = [pose for _, pose in self.read.values["/poses/chassis"]]
        width = max(pose[0] for pose in poses) - min(pose[0] for pose in poses)
        drawn = max(x for x, _ in way) - min(x for x, _ in way)
        scale = drawn / width
        self.assertAlmostEqual(way[-1][0] - way[0][0], scale * (poses[-1][0] - poses[0][0]), delta=0.2)
        self.assertAlmostEqual(way[-1][1] - way[0][1], -scale * (poses[-1][1] - poses[0][1]), delta=0.2)

    def test_a_log_cut_within_its_files_says_so(self):
        """Wherever it is: what is missing is no mistake of the scene's."""
        cut = FOLDER / "files.wpilog"
        begin, end = self.data.index(b"/tether/files"), self.data.index(b"TTHASHED")
        for size in range(begin + 100, end, (end - begin) // 12):
            cut.write_bytes(self.data[:size])
            done = tether("verify", cut)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(b"does not keep all files of its scene: it was cut off", done.stderr)

    def test_a_log_cut_within_its_first_bytes_says_so(self):
        cut = FOLDER / "first.wpilog"
        checksum = self.data.index(b"/tether/checksum")
        for sizes, why in ((range(1, 12), b"this is no WPILOG file"), (range(12, 20), b"the file ends within its header"),
                           (range(40, checksum, 13), b"does not say what was run: it was cut off within its first bytes, or another program wrote it")):
            for size in sizes:
                cut.write_bytes(self.data[:size])
                done = tether("verify", cut)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b"tether: %s: %s\n" % (bytes(cut), why)), size)

    def test_a_log_cut_anywhere_reads_up_to_the_cut(self):
        cut = FOLDER / "cut.wpilog"
        whole = len(self.data)
        places = range(whole - 4096, whole) if os.environ.get("TETHER_LONG") else range(whole - 4096, whole, 251)
        for size in places:
            cut.write_bytes(self.data[:size])
            read = Log(self.data[:size], cut=True)
            lines = [json.loads(line)["name"] for line in export(cut, "jsonl").splitlines()]
            there = [name.split("/tether/journal/")[0] or "/tether/journal" for name, _ in read.order if name != "/tether/checksum"]
            self.assertEqual([name for name in lines if name in set(there)], there, size)

    def test_wrong_use_and_wrong_files(self):
        nothing = FOLDER / "nothing.wpilog"
        nothing.write_bytes(b"")
        for arguments, status in ((("export",), 2), (("export", self.log, "--format", "pdf"), 2),
                                  (("export", self.log, "more"), 2), (("export", "nosuch.wpilog"), 1),
                                  (("export", nothing), 1), (("verify", nothing), 1), (("replay", nothing), 1),
                                  (("export", self.log, "--output", "/nosuch/x"), 3)):
            done = tether(*arguments)
            self.assertEqual(done.returncode, status, (arguments, done.stderr))

    def test_nothing_is_written_over_what_is_read(self):
        log = FOLDER / "alone.wpilog"
        log.write_bytes(self.log.read_bytes())
        other = FOLDER / "same.wpilog"
        os.link(log, other)
        for output in log, other:
            done = tether("export", log, "--format", "wpilog", "--output", output)
            self.assertEqual((done.returncode, b"is the log itself" in done.stderr), (2, True), done.stderr)
        self.assertEqual(log.read_bytes(), self.log.read_bytes())

    def test_an_export_that_ends_early_costs_no_file(self):
        table, part = FOLDER / "kept.csv", FOLDER / "kept.csv.part"
        words = [TETHER, "export", self.log, "--output", table]
        table.write_bytes(b"before")

        def stays():
            self.assertEqual(table.read_bytes(), b"before")

        def is_begun():
            with contextlib.suppress(FileNotFoundError):  # it may be done between two looks
                return part.stat().st_size > 0
            return False

        def limit(ignored):
            def prepare():
                resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
            return subprocess.run(words, capture_output=True, timeout=100, check=False, preexec_fn=prepare)

        killed = limit(ignored=False)
        self.assertEqual(killed.returncode, -signal.SIGXFSZ, killed.stderr)
        stays()
        left = part.read_bytes()
        full = limit(ignored=True)
        self.assertEqual((full.returncode, full.stderr), (3, f"tether: {table}: can't write: File too large\n".encode()))
        stays()
        self.assertEqual(part.read_bytes(), left, "it may be somebody's")
        self.assertFalse(part.with_name("kept.csv.part2").exists())
        part.unlink()
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            for _ in range(50):  # until one comes in the middle
                table.write_bytes(b"before")
                with subprocess.Popen(words) as process:
                    while process.poll() is None and not is_begun():
                        pass
                    process.send_signal(number)
                if process.returncode != 0:
                    break
            self.assertEqual(process.returncode, -number)
            stays()
            self.assertFalse(part.exists())
        self.assertEqual(tether(*words[1:]).returncode, 0)
        self.assertEqual(table.read_bytes(), export(self.log, "csv"))

    def test_a_log_whose_name_ends_in_part_is_exported(self):
        log, table = FOLDER / "half.csv.part", FOLDER / "half.csv"
        shutil.copy(self.log, log)
        self.assertEqual(tether("export", log, "--output", table).returncode, 0)
        self.assertEqual(log.read_bytes(), pathlib.Path(self.log).read_bytes())
        self.assertEqual(table.read_bytes(), export(log, "csv"))

    def test_an_export_in_the_background_is_not_interrupted(self):
        """A shell has SIGINT ignored for what a script runs so."""
        pipe = FOLDER / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen([TETHER, "export", self.log, "--output", pipe],
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process, open(pipe, "rb") as read:
            first = read.read(1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(first + read.read(), export(self.log, "csv"))
        self.assertEqual(process.returncode, 0)

    def test_an_export_into_a_link_goes_where_it_leads(self):
        table, link = FOLDER / "led.csv", FOLDER / "link.csv"
        link.symlink_to(table)
        self.assertEqual(tether("export", self.log, "--output", link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(table.read_bytes(), export(self.log, "csv"))
        self.assertEqual(tether("export", self.log, "--output", "/dev/stdout").stdout, table.read_bytes())


class Programs(unittest.TestCase):
    def test_names_as_long_as_people_like(self):
        """Of two bodies that begin alike, which are told apart."""
        name, model, log = "n" * 700, FOLDER / "long.xml", FOLDER / "long.wpilog"
        bodies = "".join(f'<body name="{name}{i}" pos="{i} 0 2"><joint name="{name}{i}" axis="0 1 0"/><geom size=".1" pos=".{i} 0 0" mass="1"/></body>'
                         for i in (5, 6))
        model.write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", encoding="utf-8")
        done = tether("run", model, "--pace", "fast", "--duration", "0.2", "--no-web", "--record", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = tether("verify", log)
        self.assertIn(b"identical: 200 steps", done.stdout, done.stderr)
        rows = list(csv.reader(io.StringIO(export(log, "csv").decode())))
        columns = [rows[0].index(f"{name}{i}.position [rad]") for i in (5, 6)]
        self.assertNotEqual(*(rows[-1][column] for column in columns))
        model.write_text(bodies.join(("<mujoco><worldbody>", "</worldbody></mujoco>")).replace(f"{name}6", "other").replace(name, 2 * name), encoding="utf-8")
        done = tether("check", model)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{model}: the name of the body".encode(), done.stderr)
        self.assertIn(b"is too long; give it one of at most 872 bytes", done.stderr)

    def test_the_middle_of_the_arena_is_half_the_field_from_its_corner(self):
        # The fields are 54 x 27 ft and 16 x 8.22 m; the second lies across the arena's axes, blue at its far end.
        for scene, wire, heading, middle in (("frc2011", "float-udp", "0 deg", (8.23, 4.115)),
                                             ("sharp", "sharp-json", "270 deg", (8, 4.11))):
            with self.subTest(scene):
                log = FOLDER / f"middle-{scene}.wpilog"
                done = tether("run", scene, "--pace", "fast", "--duration", "0.01", "--no-web", "--record", log,
                              "--set", f"wires.{wire}.bind=127.0.0.1:0", "--set", f"robots.{scene}.x=0 m",
                              "--set", f"robots.{scene}.y=0 m", "--set", f"robots.{scene}.heading={heading}")
                self.assertEqual(done.returncode, 0, done.stderr)
                values = Log(log.read_bytes()).values
                model = json.loads(values["/tether/model"][0][1])
                root = model["bodies"][model["robots"][0]["root"]]["name"]
                x, y, _, w, i, j, k = values["/poses/" + root][0][1]
                for is_, wanted in zip((x, y, abs(w), i, j, k), middle + (1, 0, 0, 0)):
                    self.assertAlmostEqual(is_, wanted, 9)

    def test_scenes_without_lockstep_are_kept_and_verified(self):
        for scene in ("concept-symmetric", "frc2011-motors"):
            with self.subTest(scene):
                log = FOLDER / f"{scene}.wpilog"
                done = tether("run", scene, "--pace", "fast", "--duration", "0.3", "--no-web", "--record", log,
                              "--set", "wires.float-udp.bind=127.0.0.1:0")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(len(whole(log).values["/signals/time"]), 10)
                Mcap(export(log, "mcap"))
                done = tether("verify", log)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Telemetry(unittest.TestCase):
    def test_log_and_store_refer_to_each_other(self):
        log, store = FOLDER / "stored.wpilog", FOLDER / "stored.sqlite"
        with Tether("run", "frc2011", "--no-web", "--set", "wires.float-udp.bind=127.0.0.1:0", "--record", log,
                    "--set", f"telemetry.store=sqlite:{store}", "--set", "telemetry.listen=127.0.0.1:0",
                    "--duration", "0.5") as program:
            self.assertEqual(program.wait_exit(), 0, program.text())
        values = Log(log.read_bytes()).values
        run = json.loads(values["/tether/run"][0][1])
        self.assertEqual(run["telemetry"], f"sqlite:{store}")
        self.assertRegex(run["run"], "^[0-9a-f]{32}$")
        with contextlib.closing(sqlite3.connect(store)) as database:
            said = database.execute("SELECT device, epoch, attribute, value, device_time_us FROM telemetry"
                                    " WHERE attribute LIKE 'Run.%' ORDER BY attribute").fetchall()
            self.assertEqual(said, [("frc2011", 0, "Run.log.file", str(log), 0), ("frc2011", 0, "Run.log.id", run["run"], 0)])
            stored = database.execute("SELECT device_time_us, value FROM telemetry WHERE device = 'frc2011' AND epoch = 0"
                                      " AND attribute = 'State.arm.position' ORDER BY device_time_us").fetchall()
        kept = dict(values["/signals/arm.position"])
        times = sorted(kept)
        self.assertEqual(len(stored), 6)  # every 0.1 s
        for at, value in stored:
            held = times[bisect.bisect_right(times, at * 1e-6 + 1e-9) - 1]
            self.assertAlmostEqual(value, kept[held], delta=1e-9, msg=at)  # what a log resolves
        self.assertIn(f"telemetry: \"sqlite:{store}\"", export(log, "summary").decode())

    def test_a_log_keeps_no_password(self):
        log = FOLDER / "secret.wpilog"
        tether("run", "frc2011", "--no-web", "--pace", "fast", "--duration", "0.02", "--record", log,
               "--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "telemetry.listen=127.0.0.1:0",
               "--set", "telemetry.store=postgresql://ada:byron@127.0.0.1:1/none?password=byron",
               "--set", f"telemetry.spool={FOLDER / 'spool'}", "--set", "web.token=byron")
        run = json.loads(Log(log.read_bytes()).values["/tether/run"][0][1])
        self.assertEqual(run["telemetry"], "postgresql://127.0.0.1:1/none")
        self.assertNotIn(b"byron", log.read_bytes())


class Crash(unittest.TestCase):
    def test_a_killed_run_loses_at_most_a_tenth_of_a_second(self):
        log = FOLDER / "killed.wpilog"
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "wires.float-udp.bind=127.0.0.1:0",
                    "--record", log) as program:
            page = Page(program.addresses["web"])
            import struct
            shown = 0
            while shown < 1:
                shown = struct.unpack_from("<d", page.frame(), 8)[0]
            os.kill(program.process.pid, signal.SIGKILL)
            program.wait_exit()
            page.close()
        kept = whole(log).values["/signals/time"][-1][0]
        self.assertLess(shown - kept, 0.1)
        self.assertIn(b'outcome: "cut off"', export(log, "summary"))
        self.assertEqual(tether("verify", log).returncode, 0)


class FullDisk(unittest.TestCase):
    """A file system of 300 KiB, in a name space of its own: little enough that a recorder which loses samples fills it, too."""

    def setUp(self):
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
            self.skipTest("this machine lets nobody make a name space")

    def test_physics_goes_on_and_what_was_kept_is_read(self):
        small, copy, state = (FOLDER / name for name in ("small", "copy.wpilog", "end.state"))
        small.mkdir()
        script = ('mount -t tmpfs -o size=300k tmpfs "$1" && "$2" run "$5" --pace fast --duration 40 --no-web '
                  '--record "$1/run.wpilog" --save-state "$4"; '
                  'status=$?; cp "$1/run.wpilog" "$3"; exit $status')
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", small, TETHER, copy, state, restless()],
                              capture_output=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"No space left on device; nothing more of this run is kept", done.stderr)
        self.assertIn(b"can't be verified from step", done.stderr)
        self.assertTrue(state.exists())  # it went on to its end
        self.assertGreater(whole(copy).values["/signals/time"][-1][0], 0.5)
        self.assertIn(b'outcome: "cut off"', export(copy, "summary"))
        self.assertEqual(tether("verify", copy).returncode, 0)

    def test_a_run_begins_and_says_that_nothing_is_kept(self):
        """Full is the folder of runs, then the folder of what is temporary, too; at last no folder can be made."""
        script = ('mount -t tmpfs -o "$FULL" tmpfs "$1"; head -c 1000000 /dev/zero > "$1/fill" 2>/dev/null; '
                  'if [ "$3" ]; then mount --bind "$1" /tmp; fi; '
                  'XDG_STATE_HOME=$3$1 exec "$2" run "$4" --pace fast --duration 1 $5 $6 $7')
        full = FOLDER / "full"
        full.mkdir()
        pages = ("--set", "web.listen=127.0.0.1:0")
        for options, temporary, *web in (("size=64k", "", "--no-web"), ("size=64k", "", *pages), ("size=64k", "/tmp/..", "--no-web"),
                                         ("size=64k,nr_inodes=2", "", *pages)):
            if temporary and str(ROOT).startswith("/tmp/"):
                continue  # the program itself would be hidden
            with self.subTest(options=options, temporary=temporary, web=web):
                done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", full, TETHER, temporary,
                                       ROOT / "tests" / "scenes" / "good" / "one.yaml", *web], capture_output=True, timeout=100,
                                      check=False, env={**os.environ, "FULL": options})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, b"No space left on device.*; nothing of this run is kept")
                self.assertIn(b"1.000 s simulated", done.stderr)


class Folder(unittest.TestCase):
    def test_the_oldest_make_room_for_bytes_as_a_run_grows(self):
        folder = FOLDER / "small_folder"
        common = ("run", restless(), "--pace", "fast", "--no-web", "--set", f"record.folder={folder}")
        for duration in (0.1, 0.1, 0.1):
            done = tether(*common, "--duration", duration)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = tether(*common, "--duration", "20", "--set", "record.folder_megabytes=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = sorted(folder.glob("*.wpilog"))
        self.assertLess(sum(path.stat().st_size for path in kept), 1.02e6)
        self.assertGreater(kept[-1].stat().st_size, 0.8e6)
        self.assertLess(len(kept), 4)
        done = tether(*common, "--duration", "0.1", "--set", "record.folder_megabytes=1", "--set", "record.megabytes=2")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"one run may take more than all together", done.stderr)

    def test_a_run_stays_though_others_are_of_a_later_time(self):
        """They were recorded before the clock was set back."""
        folder = FOLDER / "clock_set_back"
        folder.mkdir()
        ahead = time.time() + 1e6
        for number in range(2):
            (folder / f"2099-0{number}.wpilog").touch()
            os.utime(folder / f"2099-0{number}.wpilog", (ahead + number, ahead + number))
        before = set(folder.glob("*.wpilog"))
        for _ in range(2):
            done = tether("run", ROOT / "tests" / "scenes" / "good" / "one.yaml", "--pace", "fast", "--duration", "0.1", "--no-web",
                          "--set", f"record.folder={folder}", "--set", "record.keep=2")
            self.assertEqual(done.returncode, 0, done.stderr)
            now = set(folder.glob("*.wpilog"))
            self.assertEqual(len(now), 2)
            self.assertEqual(len(now - before), 1)
            before = now

    def test_the_oldest_make_room_and_a_cap_keeps_the_inputs(self):
        folder = FOLDER / "few"
        common = ("run", ROOT / "tests" / "scenes" / "good" / "one.yaml", "--pace", "fast", "--duration", "0.2", "--no-web",
                  "--set", f"record.folder={folder}")
        for _ in range(4):
            done = tether(*common, "--set", "record.keep=2")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(folder.glob("*.wpilog"))), 2)
        capped = FOLDER / "capped.wpilog"
        # Ten times real time: as fast as the machine can, a recorder that is behind would lose samples, and keep less.
        done = tether("run", restless(), "--set", "speed=10", "--duration", "20", "--no-web", "--record", capped,
                      "--set", "record.megabytes=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"nearly at record.megabytes: signals and poses are no longer kept, inputs are", done.stderr)
        self.assertLess(capped.stat().st_size, 1e6)
        done = tether("verify", capped)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"2001 state hashes", done.stdout)
        bounded = FOLDER / "bounded.wpilog"
        done = tether("run", restless(), "--pace", "fast", "--duration", "90", "--no-web", "--record", bounded,
                      "--set", "record.megabytes=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"reached record.megabytes: nothing more of this run is kept", done.stderr)
        self.assertIn(b"can't be verified from step", done.stderr)
        self.assertLess(bounded.stat().st_size, 1.001e6)
        done = tether("verify", bounded)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
