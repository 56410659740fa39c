#!/usr/bin/env python3
"""What a run is kept in, and the clock on the wall: a database that another holds, a disk that is full, time that jumps."""
import contextlib
import json
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent
from support.telemetry import Collector, Stores, message, wait_until
from support.process import TETHER, Tether

CLOCK = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1].endswith(".so") else None


class Locked(unittest.TestCase):
    def test_a_database_that_another_holds(self):
        """BEGIN EXCLUSIVE for two seconds: it is said, nobody waits in the world's thread, and nothing is lost."""
        stores = Stores()
        self.addCleanup(stores.close)
        url = stores.url("sqlite")
        with Collector(url) as collector, collector.connect() as link:
            link.sendall(message("L", 1000, [("S", 1, {"d": {"n": 0}})], True).encode())
            collector.wait_stored(1)
            other = sqlite3.connect(url.removeprefix("sqlite:"), isolation_level=None, timeout=20)
            other.execute("BEGIN EXCLUSIVE")
            for n in range(1, 101):
                link.sendall(message("L", 1000 + 10 * n, [("S", 1 + n, {"d": {"n": n}})], True).encode())
            wait_until(lambda: collector.status()["degraded"], "the state is said")
            self.assertIn("lock", collector.status()["reason"])
            self.assertEqual(collector.status()["stored_values"], 1)
            other.execute("COMMIT")
            other.close()
            collector.wait_stored(101)
            wait_until(lambda: not collector.status()["degraded"], "it goes on")
            answers = b""
            while answers.count(b"<ACK") < 101:
                answers += link.recv(65536)


class OneWriter(unittest.TestCase):
    """Two programs on one file would each number its devices as the other does."""

    def setUp(self):
        self.stores = Stores()
        self.addCleanup(self.stores.close)
        self.url = self.stores.url("sqlite")
        self.path = self.url.removeprefix("sqlite:")

    def refused(self, *command):
        result = subprocess.run([TETHER, *command, "--set", "web.listen=127.0.0.1:0", "--set", "telemetry.listen=127.0.0.1:0"],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)
        return result.stderr

    def test_the_second_is_refused(self):
        link = self.stores.file("link.sqlite")
        with Collector(self.url) as collector, collector.connect() as device:
            os.symlink(self.path, link)
            for path in self.path, link:
                text = self.refused("collect", "--store", "sqlite:" + path)
                self.assertIn(f"process {collector.process.pid} (", text)
                self.assertIn("collect", text)
            text = self.refused("run", "frc2011", "--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "telemetry.store=" + self.url)
            self.assertIn(f"process {collector.process.pid} (", text)
            device.sendall(message("A", 1000, [("S", 1, {"d": {"n": 1}})], True).encode())
            collector.wait_stored(1)
            # Who only reads goes on reading.
            with contextlib.closing(sqlite3.connect(self.path)) as reader:
                self.assertEqual(reader.execute("SELECT value FROM telemetry").fetchall(), [(1.0,)])
            self.assertEqual(len(collector.table()["records"]), 1)
        self.assertFalse(os.path.exists(self.path + "-lock"))

    def test_a_file_of_several_names_is_refused(self):
        """Each of them would have a lock, and a write-ahead log, of its own."""
        link = self.stores.file("link.sqlite")
        with Collector(self.url):
            os.link(self.path, link)
            self.assertIn("has 2 names (hard links)", self.refused("collect", "--store", "sqlite:" + link))
        self.assertIn("has 2 names (hard links)", self.refused("collect", "--store", self.url))
        os.unlink(link)
        Collector(self.url).close()

    def test_a_lock_that_is_only_there(self):
        """Left by one that was killed, or by anybody: not held, it says nothing."""
        collector = Collector(self.url)
        self.addCleanup(collector.process.kill)
        self.assertIn(str(collector.process.pid), pathlib.Path(self.path + "-lock").read_text(encoding="ascii"))
        collector.kill()
        self.assertTrue(os.path.exists(self.path + "-lock"))
        with Collector(self.url) as collector:
            self.assertIn(str(collector.process.pid), pathlib.Path(self.path + "-lock").read_text(encoding="ascii"))
        self.assertFalse(os.path.exists(self.path + "-lock"))

    def removed(self, name, remedy):
        """A file of the store goes away while it is in use: nothing more is acknowledged, and it is said."""
        with Collector(self.url) as collector, collector.connect() as link:
            link.sendall(message("G", 1000, [("S", 1, {"d": {"n": 0}})], True).encode())
            self.assertIn(b"<ACK", link.recv(65536))
            os.rename(self.path + name, self.path + ".away")
            link.sendall(message("G", 1010, [("S", 2, {"d": {"n": 1}})], True).encode())
            wait_until(lambda: collector.status()["degraded"], "the state is said")
            self.assertIn(remedy, collector.status()["reason"])
            link.settimeout(1)
            self.assertRaises(TimeoutError, link.recv, 65536)
            os.rename(self.path + ".away", self.path + name)
            link.settimeout(20)
            self.assertIn(b"<ACK", link.recv(65536))
            wait_until(lambda: not collector.status()["degraded"], "it goes on")
            self.assertEqual([row[2] for row in collector.table("origin=device")["records"]], [0, 1])

    def test_removed(self):
        self.removed("", "removed or replaced")
        self.removed("-wal", "removed while it is in use")


class DiskFull(unittest.TestCase):
    def test_a_run_outlives_the_disk_it_is_kept_on(self):
        """A tmpfs of 1 MB: physics goes on, it is said, and what was kept before reads."""
        if os.getuid() != 0:
            self.skipTest("mounting a tmpfs takes root")
        with tempfile.TemporaryDirectory() as folder:
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False,
                              stderr=subprocess.DEVNULL).returncode:
                self.skipTest("no mounting here")
            try:
                run = f"{folder}/run.wpilog"
                pathlib.Path(f"{folder}/filler").write_bytes(b"x" * 880_000)
                with Tether("run", "frc2011", "--no-web", "--record", run, "--set", "wires.float-udp.bind=127.0.0.1:0",
                            "--duration", "7", "--pace", "fast") as tether:
                    self.assertIn(tether.wait_exit(60), (0, 3), tether.text())
                    self.assertIn("7.000 s simulated", tether.text())
                    self.assertRegex(tether.text(), "No space|full")
                summary = subprocess.run([TETHER, "export", run, "--format", "summary"], capture_output=True, text=True,
                                         check=False)
                self.assertEqual(summary.returncode, 0, summary.stderr)
            finally:
                subprocess.run(["umount", folder], check=False)


@unittest.skipUnless(CLOCK, "needs the clock that jumps")
class Clock(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "jump"
        self.jump(0)
        self.environment = {"LD_PRELOAD": CLOCK, "CLOCK_SHIM": str(self.file)}

    def jump(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds), encoding="ascii")
        new.rename(self.file)

    def test_a_world_in_real_time_does_not_look_at_the_wall(self):
        run = pathlib.Path(self.folder.name) / "run.wpilog"
        os.environ.update(self.environment)
        try:
            tether = Tether("run", "frc2011", "--no-web", "--record", run, "--set", "record.period=1 s", "--set",
                            "wires.float-udp.bind=127.0.0.1:0", "--set", "wires.float-udp.peer=sender")
        finally:
            for key in self.environment:
                del os.environ[key]
        with tether, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.connect(tether.address("float-udp"))
            link.settimeout(20)
            link.send(struct.pack("<6f", 1, 0, 0, 0, 0, 0))
            last, = struct.unpack_from("<f", link.recv(2048))
            start, first = time.monotonic(), last
            for seconds in 3600, -3600, 0, 10 ** 9, 0:
                self.jump(seconds)
                for _ in range(20):
                    now, = struct.unpack_from("<f", link.recv(2048))
                    self.assertGreater(now, last)
                    last = now
                kept = run.stat().st_size
                wait_until(lambda: run.stat().st_size > kept, "the run is written on", 5)
            # Neither an hour slept nor an hour caught up: simulated time is not ahead of the time that passed.
            self.assertLess(last - first, time.monotonic() - start + 1)
            self.assertEqual(tether.stop(), 0)

    def old_and_new(self, collector, first):
        """Sends two samples, the first 40 days old by the device's clock."""
        with collector.connect() as link:
            at = 10 ** 10 + 1000 * first
            for n, when in ((first, at - 40 * 86400 * 1000), (first + 1, at)):
                link.sendall(message("R", at, [("S", when, {"d": {"n": n}})], True).encode())
                self.assertIn(b"<ACK", link.recv(65536))

    @staticmethod
    def numbers(collector):
        return [row[2] for row in collector.table("origin=device&fields=S.d.n")["records"]]

    def retention(self, kind):
        """35 days ahead for half a minute, while it runs and at a start: what is fresh stays; what is old goes."""
        stores = Stores()
        self.addCleanup(stores.close)
        url, settings = stores.url(kind), stores.settings(kind)
        retain = {"retention": 30 * 86400}
        with Collector(url, *settings, **self.environment) as collector:
            self.old_and_new(collector, 0)
            self.assertEqual(self.numbers(collector), [0, 1])
            self.jump(35 * 86400)
            collector.put("/telemetry/handling/S.*", retain)
            wait_until(lambda: collector.status()["clock_ahead_seconds"] > 34 * 86400, "the jump is noticed")
            wait_until(lambda: any("ahead of the time that passed" in line for line in collector.log), "and said")
            wait_until(lambda: self.numbers(collector) == [1], "what is old is removed, by the time that passed")
        with Collector(url, *settings, **self.environment) as collector:
            wait_until(lambda: collector.status()["clock_ahead_seconds"] > 34 * 86400, "noticed from the beginning")
            wait_until(lambda: any("ahead of the newest sample" in line for line in collector.log), "and said")
            collector.put("/telemetry/handling/S.*", retain)
            self.jump(0)
            self.old_and_new(collector, 10)
            collector.put("/telemetry/handling/S.*", retain)
            wait_until(lambda: self.numbers(collector) == [1, 11], "what is old is removed")
            self.assertEqual(collector.status()["clock_ahead_seconds"], 0)

    def test_retention_sqlite(self):
        self.retention("sqlite")

    def test_retention_postgresql(self):
        self.retention("postgresql")

    def test_telemetry_keeps_the_order_and_distances_of_the_device(self):
        stores = Stores()
        self.addCleanup(stores.close)
        with Collector(stores.url("sqlite"), **self.environment) as collector, collector.connect() as link:
            for n, seconds in enumerate((0, 3600, -3600, 0)):
                self.jump(seconds)
                link.sendall(message("C", 10000 + 10 * n, [("S", 10000 + 10 * n, {"d": {"n": n}})], True).encode())
                collector.wait_stored(n + 1)
            self.jump(0)
            rows = collector.table("fields=S.d.n")
            self.assertEqual([n for n in range(4) if f'{n}' in json.dumps(rows)], [0, 1, 2, 3])
            self.assertFalse(collector.status()["degraded"])


if __name__ == "__main__":
    unittest.main()
