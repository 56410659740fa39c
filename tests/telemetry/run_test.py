#!/usr/bin/env python3
"""A running world's robots are devices: live at the I/O rate, stored at 10 Hz. Neither a database that goes away nor a full disk
is noticed by the world; both are said, and in the end everything is stored."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support.process import TETHER
from support.telemetry import LONG, Collector, Stores, small_disk, wait_until

SCENE = """timestep: 1/1000 s
io_period: 10 ms
pace: realtime
arena: sharp
robots:
  - {robot: sharp, name: one, x: -2 m, y: -3 m}
  - {robot: sharp, name: two, x: 2 m, y: -3 m}
  - {robot: sharp, name: three, x: 0 m, y: 3 m}
"""
ROBOTS = ["one", "two", "three"]
TICK, STORED = 10_000, 100_000  # us simulated
FIELD = "State.chassis.x"


class Listener(threading.Thread):
    """Hears everything of one robot, live."""

    def __init__(self, world, robot):
        super().__init__(daemon=True)
        self.socket = world.websocket(f"/telemetry/live?device={robot}&fields={FIELD}")
        self.heard = {}  # device time -> value
        self.lost = 0
        self.start()

    def run(self):
        try:
            while True:
                for sample in map(json.loads, self.socket.receive().splitlines()):
                    self.lost += sample.get("lost", 0)
                    if "values" in sample:
                        self.heard[sample["device_time"]] = sample["values"][FIELD]
        except (EOFError, OSError):
            pass

    def stop(self):
        self.socket.close()
        self.join(20)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stores = Stores()
        cls.scene = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        cls.scene.write(SCENE)
        cls.scene.flush()

    @classmethod
    def tearDownClass(cls):
        cls.scene.close()
        cls.stores.close()

    def world(self, store, *settings, **more):
        return Collector(store, *settings, scene=self.scene.name, **more)

    def records(self, collector, robot):
        """Stored: device time in us -> value."""
        stored = {}
        for _, clock, value in collector.table(f"device={robot}&fields={FIELD}&origin=device")["records"]:
            minutes, seconds, ms = map(int, clock.split(":"))
            stored[(minutes * 60 + seconds) * 1_000_000 + ms * 1000] = value
        return stored

    def check_no_gap(self, times, step):
        times = sorted(times)
        self.assertEqual(times, list(range(times[0], times[-1] + 1, step)))

    def check_all_arrived(self, world, listener, since):
        """The world went on, and every tenth tick of every robot is stored, also of the time of the trouble."""
        last = max(listener.heard)
        self.assertEqual(listener.lost, 0)
        self.check_no_gap(listener.heard, TICK)
        wait_until(lambda: max(self.records(world, "one"), default=0) >= last, "all is stored")
        for robot in ROBOTS:
            stored = self.records(world, robot)
            self.assertLess(min(stored), since)
            self.check_no_gap(stored, STORED)
        self.assertEqual(world.status()["lost_values"], 0)

    def test_each_robot_is_a_device(self):
        for kind in "sqlite", "postgresql":
            url, settings = self.stores.url(kind), self.stores.settings(kind)
            with self.world(url, *settings) as world:
                self.assertEqual(sorted(world.devices()), sorted(ROBOTS))
                listener = Listener(world, "two")
                wait_until(lambda: len(listener.heard) > 100, "a hundred ticks")
                listener.stop()
            with Collector(url, *settings) as collector:  # afterwards, by another program
                stored = self.records(collector, "two")
                self.check_no_gap(listener.heard, TICK)
                self.check_no_gap(stored, STORED)
                both = set(stored) & set(listener.heard)
                self.assertGreaterEqual(len(both), 10)
                for when in both:
                    self.assertAlmostEqual(stored[when], listener.heard[when], places=12)
                for robot in ROBOTS:
                    self.assertEqual(sorted(self.records(collector, robot)), sorted(stored))

    def test_a_run_that_is_refused_leaves_no_names(self):
        """What opens behind telemetry may be refused, as a port in use; and so may the robots, where there is room for two of three."""
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
            for setting, said in (f"web.listen=127.0.0.1:{port}", str(port)), ("telemetry.max_devices=2", "max_devices"):
                for kind in "sqlite", "postgresql":
                    url, settings = self.stores.url(kind), self.stores.settings(kind)
                    with self.assertRaisesRegex(RuntimeError, said):
                        self.world(url, *settings, setting)
                    with Collector(url, *settings) as collector:
                        self.assertEqual((collector.devices(), json.loads(collector.get("/telemetry/attributes"))), ({}, []), (setting, kind))

    def test_known_robots_need_no_room(self):
        """A store with as many names as allowed, or more, takes the robots that it knows."""
        url = self.stores.url("sqlite")
        with self.world(url) as world:
            wait_until(lambda: self.records(world, "one"), "the world runs")
        with self.world(url, "telemetry.max_devices=2") as world:
            wait_until(lambda: self.records(world, "one"), "it runs again")

    def test_more_names_than_allowed_are_no_full_disk(self):
        with self.assertRaisesRegex(RuntimeError, "as many devices as allowed"):
            self.world(self.stores.url("sqlite"), "telemetry.max_devices=1", "telemetry.devices=[{device: a, name: A}, {device: b, name: B}]")

    def test_postgresql_stopped(self):
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        with self.world(url, *self.stores.settings("postgresql")) as world:
            listener = Listener(world, "three")
            wait_until(lambda: len(listener.heard) > 20 and self.records(world, "one"), "the world runs")
            stopped_at = max(listener.heard)
            postgres.stop()
            wait_until(lambda: world.status()["degraded"], "the state is said")
            wait_until(lambda: any("spooling" in line for line in world.log), "the log says so, too")
            time.sleep(60 if LONG else 0)
            before = max(listener.heard)
            wait_until(lambda: max(listener.heard) > before + 1_000_000, "it goes on")
            spooled = wait_until(lambda: world.status()["spooled_bytes"], "a disk may take its time")
            postgres.start()
            start = time.monotonic()
            wait_until(lambda: not world.status()["degraded"], "the spool is drained")
            print(f"a running world's {spooled >> 10} KiB of spool were in the database {time.monotonic() - start:.1f} s after it "
                  "was back", file=sys.stderr)
            self.assertEqual(world.status()["spooled_bytes"], 0)
            listener.stop()
            self.check_all_arrived(world, listener, stopped_at)

    def test_disk_full(self):
        with small_disk(self.stores.file("small")) as folder:
            filler = f"{folder}/filler"
            with open(filler, "wb") as file:
                file.write(b"x" * 850_000)
            with self.world(f"sqlite:{folder}/t.sqlite") as world:
                listener = Listener(world, "three")
                wait_until(lambda: listener.heard, "the first tick is heard")
                wait_until(lambda: world.status()["degraded"], "the state is said", 60)
                full_at = max(listener.heard)
                self.assertIn("full", world.status()["reason"])
                wait_until(lambda: max(listener.heard) > full_at + 1_000_000, "it goes on")
                os.unlink(filler)
                wait_until(lambda: not world.status()["degraded"], "there is room again")
                listener.stop()
                self.check_all_arrived(world, listener, full_at)

    def test_disk_full_from_the_beginning(self):
        """A run goes on and says so; a collector, which would keep nothing for anybody, ends."""
        with small_disk(self.stores.file("full")) as folder:
            with contextlib.suppress(OSError), open(f"{folder}/filler", "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
            store = f"telemetry.store=sqlite:{folder}/t.sqlite"
            listen = "--set", "telemetry.listen=127.0.0.1:0"
            run = subprocess.run([TETHER, "run", self.scene.name, "--no-web", "--pace", "fast", "--duration", "0.2", "--set", "record.on=off",
                                  "--set", store, *listen], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stderr, r"t\.sqlite.* full; no telemetry of this run is kept")
            collect = subprocess.run([TETHER, "collect", "--set", store, *listen, "--set", "web.listen=127.0.0.1:0"],
                                     capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(collect.returncode, 3, collect.stderr)

    def test_the_status_line_says_it(self):
        """On a terminal, where the log may have scrolled away."""
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        with self.world(url, *self.stores.settings("postgresql"), terminal=True) as world:
            postgres.stop()
            wait_until(lambda: any("real time" in line and "store degraded" in line for line in world.log), "it is said")
            postgres.start()
            wait_until(lambda: not world.status()["degraded"], "it is back")
            seen = len(world.log)
            wait_until(lambda: any("real time" in line and "degraded" not in line for line in world.log[seen:]), "and back")


if __name__ == "__main__":
    sys.exit(unittest.main())
