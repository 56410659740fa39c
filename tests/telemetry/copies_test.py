#!/usr/bin/env python3
"""tether telemetry copy, backup and remove: of both kinds of store, killed at any moment, while a collector writes."""
import collections
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from support import ledger
from support.clickhouse import is_installed
from support.telemetry import LONG, SOURCE, TETHER, Collector, WithStores, message, wait_until

KILLS = int(os.environ.get("TETHER_KILLS", 300 if LONG else 6))
SEED = int(os.environ.get("TETHER_SEED", time.time_ns() % 1_000_000))


def telemetry(*words, **more):
    return subprocess.run([TETHER, "telemetry", *words], capture_output=True, text=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, **more)


def rows(url):
    """All that is stored, with what it is known by."""
    with sqlite3.connect(f"file:{url.removeprefix('sqlite:')}?mode=ro", uri=True) as database:
        return sorted(database.execute(
            "SELECT d.identifier, d.name, b.key, b.boot, s.device_time, s.time, s.seq, a.identifier, a.name, v.value FROM sample s"
            " JOIN value v ON v.sample = s.id JOIN device d ON d.id = s.device JOIN attribute a ON a.id = v.attribute"
            " JOIN boot b ON b.device = s.device AND b.epoch = s.epoch").fetchall(), key=repr)


class Copies(WithStores):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = cls.stores.url("sqlite")
        with Collector(cls.source) as collector:
            for device in "ROBO1", "ROBO2", "OTHER":
                for boot in 1, 2:
                    for number in range(300 if LONG else 30):
                        samples = [("I", -k, {"d": {"n": number + k, "t": f"{device} {k}"}}) for k in range(20)] + [
                            ("I", -3, {"d": {"n": -1}})]  # a second record of one moment
                        text = message(device, 10000 + 100 * number, samples).replace(
                            " time=", f" boot='{boot}' seq='{number + 1}' time=", 1)
                        status, answer = collector.request("POST", "/telemetry", text)
                        assert status == 200, answer
            collector.put("/telemetry/devices/ROBO1", {"name": "Red robot"})
            collector.put("/telemetry/attributes/I.d.n", {"name": "Number", "unit": "m"})
        cls.rows = rows(cls.source)
        cls.values = len(cls.rows)

    def copy(self, *words):
        result = telemetry("copy", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_whole_and_twice(self):
        target = self.stores.url("sqlite")
        for _ in range(2):
            self.assertIn(f"copied {self.values} values", self.copy(self.source, target))
            self.assertEqual(rows(target), self.rows)
        with Collector(target) as collector:
            self.assertIn('"unit":"m"', collector.get("/telemetry/handling"))

    def test_through_the_other_kind(self):
        between, target = self.stores.url("postgresql"), self.stores.url("sqlite")
        self.copy(self.source, between)
        self.copy(self.source, between)
        self.copy(between, target)
        self.assertEqual(rows(target), self.rows)
        self.assertIn("pg_dump", telemetry("backup", between, self.stores.file("x")).stderr)

    @unittest.skipUnless(is_installed(), "no clickhouse-server")
    def test_through_clickhouse(self):
        between, target = self.stores.url("clickhouse"), self.stores.url("sqlite")
        self.copy(self.source, between)
        self.copy(self.source, between)
        self.copy(between, target)
        self.assertEqual(rows(target), self.rows)
        # What the error names works, and the page names the same.
        statement = re.search(r"ALTER TABLE \w+ FREEZE", telemetry("backup", between, self.stores.file("x")).stderr)[0]
        self.stores.clickhouse.query(statement.replace("TABLE ", f"TABLE {between.rpartition('/')[2]}."))
        self.assertIn(f"`{statement}`", (SOURCE / "docs/telemetry-copies.md").read_text(encoding="utf-8"))

    def test_a_span_of_some_devices(self):
        target = self.stores.url("sqlite")
        times = sorted(row[5] for row in self.rows if row[0].startswith("ROBO"))
        first, last = times[len(times) // 3], times[2 * len(times) // 3]
        self.copy(self.source, target, "--device", "ROBO*", "--from", str(first), "--to", str(last))
        self.assertEqual(rows(target), [row for row in self.rows if row[0].startswith("ROBO") and first <= row[5] <= last])
        self.copy(self.source, target, "--device", "Red robot")
        self.assertEqual({row[0] for row in rows(target)}, {"ROBO1", "ROBO2"})

    def test_names_of_the_target_stay(self):
        target = self.stores.url("sqlite")
        with Collector(target) as collector:
            collector.put("/telemetry/devices/ROBO1", {"name": "Mine"})
            collector.put("/telemetry/devices/X", {"name": "Red robot"})
            collector.put("/telemetry/attributes/I.d.n", {"unit": "ft"})
        self.copy(self.source, target)
        with Collector(target) as collector:
            devices = collector.devices()
            self.assertEqual((devices["ROBO1"]["name"], devices["X"]["name"]), ("Mine", "Red robot"))
            self.assertIn('"unit":"ft"', collector.get("/telemetry/handling"))

    def test_handling_that_loses_values_stays_behind(self):
        """A season's store keeps for ever, whatever the robot's store that is copied into it forgets or ignores."""
        source, target = self.stores.url("sqlite"), self.stores.url("sqlite")
        with Collector(source) as collector:
            for pattern, handling in (("Input*", {"retention": 3600}), ("Debug.*", {"mode": "ignore"}), ("*", {"min_interval": 9}),
                                      ("New.x.v", {"unit": "V", "retention": 7}), ("Input.x.v", {"unit": "ft"})):
                collector.put(f"/telemetry/handling/{pattern}", handling)
            for attribute in "Input", "New":
                text = message("NEW", 10 ** 7, [(attribute, 0, {"x": {"v": 1}})])
                self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        with Collector(target) as collector:
            text = message("OLD", 10 ** 7, [("Input", 0, {"x": {"v": 1}})])
            self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        result = telemetry("copy", source, target, "--device", "NEW")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 patterns are not copied", result.stderr)
        with Collector(target) as collector:
            handlings = json.loads(collector.get("/telemetry/handling"))
        self.assertEqual([(set_["pattern"], set_["unit"], set_["retention"], set_["mode"]) for set_ in handlings],
                         [("New.x.v", "V", 0, "both")])

    def test_devices_are_known_by_stars_and_question_marks_alone(self):
        source, target = self.stores.url("sqlite"), self.stores.url("sqlite")
        with Collector(source) as collector:
            for device in "arm[1]", "arm1":
                text = message(device, 10 ** 7, [("I", 0, {"x": {"v": 1}})])
                self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        self.copy(source, target, "--device", "arm[1]")
        self.assertEqual({row[0] for row in rows(target)}, {"arm[1]"})

    def test_killed_and_begun_again(self):
        for turn in range(KILLS):
            target = self.stores.url("sqlite")
            with subprocess.Popen([TETHER, "telemetry", "copy", self.source, target], stdout=subprocess.DEVNULL) as process:
                time.sleep(random.Random(turn).uniform(0, 0.15))
                process.kill()
            self.copy(self.source, target)
            self.assertEqual(rows(target), self.rows, turn)

    def test_killed_into_postgresql(self):
        """The copy, the database or both are killed, and the copy is begun again. PostgreSQL's own rows are looked at."""
        postgres, target = self.stores.postgres, self.stores.url("postgresql")
        dice, ends = random.Random(SEED), collections.Counter()
        began = time.monotonic()
        self.copy(self.source, target)
        took = time.monotonic() - began
        whole = self.postgres_rows()
        self.assertEqual(whole.total(), self.values)
        for turn in range(KILLS):
            if turn % 3 == 0:
                target = self.stores.url("postgresql")
            victim = dice.choice(["copy", "copy", "copy", "database", "both"])
            with subprocess.Popen([TETHER, "telemetry", "copy", self.source, target], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                time.sleep(dice.uniform(0, took))
                if victim != "database":
                    process.kill()
                if victim != "copy":
                    postgres.kill()
            ends[victim, "ended before" if process.returncode == 0 else "killed"] += 1
            if victim != "copy":
                postgres.start()
            self.assertFalse(self.postgres_rows() - whole, (SEED, turn))
            if turn % 3 == 2:
                self.copy(self.source, target)
                self.assertEqual(self.postgres_rows(), whole, (SEED, turn))
        print(f"copies into PostgreSQL: {dict(ends)}, {self.values} values: 0 lost, 0 twice (seed {SEED})", file=sys.stderr)

    def postgres_rows(self):
        """How often each value stands in PostgreSQL's tables, with what it is known by; nothing before there are any."""
        if self.stores.postgres.query("SELECT to_regclass('tether.pair') IS NULL") == [["t"]]:
            return collections.Counter()
        return collections.Counter((row[0], *row[2:]) for row in ledger.postgres_rows(self.stores.postgres.query))

    def test_mistakes(self):
        for words, status, part in ((("copy", self.source), 2, "FROM and TO"), (("copy", self.source, self.source), 2, "the same"),
                                    (("copy", "sqlite:/nowhere/x", "sqlite:/tmp/y"), 1, "/nowhere/x"),
                                    (("copy", self.source, self.stores.url("sqlite"), "--device", "Z"), 1, "no such device"),
                                    (("copy", self.source, self.stores.url("sqlite"), "--from", "soon"), 2, "is no time"),
                                    (("remove", self.source, "--device", "OTHER", "--from", "2026", "--yes"), 2, "is no time"),
                                    (("backup", self.source), 2, "a FILE"), (("remove", self.source), 2, "--device"),
                                    (("remove", self.source, "--device", "OTHER"), 2, "--yes"),
                                    (("remove", "sqlite:/nowhere/x", "--device", "A", "--yes"), 1, "/nowhere/x")):
            result = telemetry(*words)
            self.assertIn(part, result.stderr, words)
            self.assertEqual(result.returncode, status, (words, result.stderr))
        self.assertEqual(rows(self.source), self.rows)

    def test_removal_by_hand(self):
        target = self.stores.url("sqlite")
        self.copy(self.source, target)
        with Collector(target):
            self.assertIn("process", telemetry("remove", target, "--device", "OTHER", "--yes").stderr)
        result = telemetry("remove", target, "--device", "Red robot", "--attribute", "I.d.t", "--yes")
        gone = sum(row[0] == "ROBO1" and row[7] == "I.d.t" for row in self.rows)
        self.assertEqual(result.stdout, f"removed {gone} values\n", result.stderr)
        self.assertEqual(telemetry("remove", target, "--device", "OTHER", "--name", "--yes").returncode, 0)
        left = [row for row in self.rows if row[0] != "OTHER" and not (row[0] == "ROBO1" and row[7] == "I.d.t")]
        self.assertEqual(rows(target), left)

    def test_removal_by_hand_says_nothing_of_the_clock(self):
        """What was stored last is an hour old. Only who removes by age has to wonder about that."""
        target = self.stores.url("sqlite")
        with Collector(target) as collector:
            text = message("OLD", 10 ** 7, [("I", -3_600_000, {"d": {"n": 1}})])
            self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        result = telemetry("remove", target, "--device", "OLD", "--yes")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "removed 1 values\n", ""))

    def test_a_backup_while_a_collector_writes(self):
        live = self.stores.url("sqlite")
        self.copy(self.source, live)
        done, sent = threading.Event(), []

        def send(collector):
            while not done.is_set():
                assert collector.request("POST", "/telemetry", message("LIVE", 1000 + 10 * len(sent), [
                    ("I", 0, {"d": {"n": len(sent)}})]))[0] == 200
                sent.append(time.monotonic())

        with Collector(live) as collector:
            sender = threading.Thread(target=send, args=(collector,))
            sender.start()
            try:
                for turn in range(3):
                    wait_until(lambda: len(sent) > 5 * (turn + 1), "messages")
                    path, before, began = self.stores.file("backup"), len(sent), time.monotonic()
                    result = telemetry("backup", live, path)
                    took = time.monotonic() - began
                    self.assertEqual(result.returncode, 0, result.stderr)
                    copied = rows("sqlite:" + path)
                    numbers = sorted(row[9] for row in copied if row[0] == "LIVE")
                    self.assertEqual(numbers, list(range(len(numbers))))
                    self.assertGreaterEqual(len(numbers), before)
                    self.assertEqual([row for row in copied if row[0] != "LIVE"], self.only_values(copied))
                    with sqlite3.connect(path) as database:
                        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                    self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
                    print(f"{os.stat(path).st_size / 1e6:.1f} MB in {took:.3f} s, {len(sent) - before} messages meanwhile")
                self.assertIn("it is there already", telemetry("backup", live, path).stderr)
            finally:
                done.set()
                sender.join()
        with Collector("sqlite:" + path) as collector:
            self.assertGreater(collector.devices()["LIVE"]["attributes"], 0)

    def only_values(self, copied):
        self.assertEqual(sum(row[0] != "LIVE" for row in copied), self.values)
        return [row for row in copied if row[0] != "LIVE"]

    def test_a_backup_that_is_ended_leaves_nothing(self):
        path = pathlib.Path(self.stores.file("backup"))
        for number in signal.SIGKILL, signal.SIGTERM:
            with subprocess.Popen([TETHER, "telemetry", "backup", self.source, path], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                time.sleep(0.005)
                process.send_signal(number)
            if process.returncode:
                self.assertFalse(path.exists())
            else:
                path.unlink()
        self.assertEqual(telemetry("backup", self.source, str(path)).returncode, 0)
        self.assertEqual(rows(f"sqlite:{path}"), self.rows)


if __name__ == "__main__":
    unittest.main()
