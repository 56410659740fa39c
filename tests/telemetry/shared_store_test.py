#!/usr/bin/env python3
"""PostgreSQL as the store of several collectors, and one that is away when a collector starts."""
import contextlib
import json
import os
import re
import select
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import unittest

from support.telemetry import SOURCE, TETHER, Collector, WithStores, message, wait_until

UPGRADED = r"made by an older Tether \(schema 2\) and brought to schema \d now, .*; older programs can't open it afterwards"


def sample(device, when, **values):
    return message(device, when, [("S", 0, {"d": values})], True)


class BadBeginning(threading.Thread):
    """In front of PostgreSQL: the first connection is answered `first` instead, or cut after so many bytes of what the server
    says; all others are carried."""

    def __init__(self, folder, real, first=None, cut_after=None):
        super().__init__(daemon=True)
        self.real, self.first, self.cut_after = real, first, cut_after
        self.met = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(folder + "/.s.PGSQL.5432")
        self.listener.listen()
        self.start()

    def run(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self.listener.accept()
                self.met += 1
                threading.Thread(target=self.serve, args=(near, self.met == 1), daemon=True).start()

    def serve(self, near, is_first):
        with contextlib.suppress(OSError), near:
            if is_first and self.first is not None:
                near.recv(4096)
                near.sendall(self.first)
                return
            with socket.socket(socket.AF_UNIX) as far:
                far.connect(self.real)
                left = self.cut_after if is_first else None
                while left is None or left > 0:
                    ready, _, _ = select.select([near, far], [], [])
                    for end in ready:
                        data = end.recv(65536)
                        if not data:
                            return
                        if end is far and left is not None:
                            data = data[:max(left, 0)]
                            left -= len(data)
                        (far if end is near else near).sendall(data)


def fatal(code, text):
    """What a server says that does not let somebody in."""
    body = b"SFATAL\0VFATAL\0C" + code.encode() + b"\0M" + text.encode() + b"\0\0"
    return b"E" + struct.pack("!I", len(body) + 4) + body


class SharedStore(WithStores):
    def collector(self, url):
        return Collector(url, *self.stores.settings("postgresql"))

    def post(self, collector, text):
        status, answer = collector.request("POST", "/telemetry", text)
        self.assertEqual(status, 200, answer)

    def records(self, collector, query):
        status, text = collector.request("GET", "/telemetry.csv?origin=device&" + query)
        return [line.split(",") for line in text.splitlines()[1:]] if status == 200 else []

    def test_collectors_see_what_the_others_name(self):
        url = self.stores.url("postgresql")
        with self.collector(url) as one, self.collector(url) as two:
            self.post(one, sample("A", 1000, n=1))
            wait_until(lambda: self.records(two, "device=A&fields=S.d.n") == [["A", "0:01:000", "1"]],
                       "a device and an attribute made by the other")
            self.post(two, sample("B", 1000, m=2))
            wait_until(lambda: self.records(one, "device=B&fields=S.d.m") == [["B", "0:01:000", "2"]], "and back")
            one.put("/telemetry/devices/A", {"name": "Anna"})
            one.put("/telemetry/attributes/S.d.n", {"name": "Number"})
            wait_until(lambda: self.records(two, "device=Anna&fields=Number"), "human names")
            # Handling set at one is in effect at the other, and taken away again.
            one.put("/telemetry/handling/S.d.k*", {"scale": 10})
            wait_until(lambda: len(two.get("/telemetry/handling")) > 10, "handling")
            self.post(two, sample("B", 2000, k=3))
            self.assertEqual(self.records(two, "device=B&fields=S.d.k"), [["B", "0:02:000", "30"]])
            self.assertEqual(one.request("DELETE", "/telemetry/handling/S.d.k*")[0], 200)
            wait_until(lambda: two.get("/telemetry/handling").strip() == "[]", "handling taken away")

    def test_a_name_is_removed_at_both(self):
        url = self.stores.url("postgresql")
        with self.collector(url) as one, self.collector(url) as two:
            def names(collector):
                return [item["attribute"] for item in json.loads(collector.get("/telemetry/attributes"))]
            one.put("/telemetry/attributes/S.d.typo", {"name": "Typo"})
            self.post(one, sample("A", 1000, n=1))
            wait_until(lambda: sorted(names(two)) == ["S.d.n", "S.d.typo"], "they are known")
            self.assertEqual(two.request("DELETE", "/telemetry/attributes/S.d.n")[0], 409)
            self.assertEqual(two.request("DELETE", "/telemetry/attributes/Typo")[0], 200)
            wait_until(lambda: names(one) == ["S.d.n"], "it is removed")
            self.post(one, sample("A", 2000, typo=2))
            wait_until(lambda: sorted(names(two)) == ["S.d.n", "S.d.typo"], "it is used again")
            self.assertEqual(self.records(two, "device=A&fields=S.d.n,S.d.typo"), [["A", "0:01:000", "1", ""], ["A", "0:02:000", "", "2"]])

    def test_a_device_moves_to_another_collector(self):
        """What it sends again is known there; after a restart of the device equal times are other samples."""
        url = self.stores.url("postgresql")
        with self.collector(url) as one, self.collector(url) as two:
            self.post(one, sample("M", 5000, n=1))
            wait_until(lambda: "M" in two.devices(), "the device is known")
            self.post(two, sample("M", 5000, n=1))
            self.post(two, sample("M", 5100, n=2))
            self.assertEqual([row[2] for row in self.records(two, "device=M&fields=S.d.n")], ["1", "2"])
            self.assertEqual(two.devices()["M"]["epoch"], 0)
            self.post(two, sample("M", 10, n=3))  # the clock went back
            self.assertEqual(two.devices()["M"]["epoch"], 1)

    def test_away_at_the_start(self):
        postgres = self.stores.postgres
        url = self.stores.url("postgresql")
        with self.collector(url) as collector:
            self.post(collector, sample("OLD", 1000, n=1))
            collector.put("/telemetry/attributes/S.d.n", {"name": "Number"})
        postgres.stop()
        with self.collector(url) as collector:
            self.assertTrue(collector.status()["degraded"])
            self.post(collector, sample("NEW", 1000, n=2))
            # Its history is not known here: it must not be taken for what it sent then.
            self.post(collector, sample("OLD", 1000, n=3))
            self.assertGreater(collector.status()["spooled_bytes"], 0)
            postgres.start()
            wait_until(lambda: not collector.status()["degraded"], "it connects")
            wait_until(lambda: self.records(collector, "device=NEW,OLD&fields=Number&time=iso"), "what the database knows")
            self.assertEqual([row[0] for row in self.records(collector, "device=NEW")], ["NEW"])
            self.assertEqual(sorted(row[2] for row in self.records(collector, "device=OLD&fields=Number")), ["1", "3"])
            self.assertEqual(collector.status()["lost_values"], 0)

    def test_nobody_sends_while_it_goes_away(self):
        """It is said also where no message is there to find it out."""
        postgres = self.stores.postgres
        with self.collector(self.stores.url("postgresql")) as collector:
            postgres.stop()
            wait_until(lambda: collector.status()["degraded"], "the state is said")
            wait_until(lambda: any("the connection is lost; spooling" in line for line in collector.log), "and logged")
            postgres.start()
            wait_until(lambda: not collector.status()["degraded"], "it is back")

    def test_how_long_a_silent_one_was_waited_for(self):
        reason = r"^the store can't be asked now: postgresql: .*no answer within \d+\.\d s; try again once it can$"
        url = self.stores.url("postgresql")
        with self.collector(url) as collector:
            self.post(collector, sample("S", 1000, k=1))
            self.stores.postgres.freeze(True)
            try:
                for method, path in ("GET", ".json"), ("DELETE", "/devices/S?data=yes"):
                    status, answer = collector.request(method, "/telemetry" + path)
                    self.assertEqual(status, 503, answer)
                    self.assertRegex(json.loads(answer)["error"], reason)
            finally:
                self.stores.postgres.freeze(False)

    def refused(self, url, spool=None):
        """What a collector says that can't start."""
        result = subprocess.run([TETHER, "collect", "--store", url, "--set",
                                 "telemetry.spool=" + (spool or self.stores.file("spool")),
                                 "--set", "web.listen=127.0.0.1:0", "--set", "telemetry.listen=127.0.0.1:0"],
                                capture_output=True, text=True, timeout=20, check=False)
        self.assertIn(result.returncode, (1, 3), result.stderr)
        return result.stderr

    def test_refused_at_the_start(self):
        """A server that answers and refuses is a mistake in the URL: said at once."""
        url = self.stores.url("postgresql").replace("/postgres?", "/nowhere?")
        self.assertIn('"nowhere" does not exist', self.refused(url))

    def test_a_bad_beginning(self):
        """The first connection is cut, wherever, or refused for now, and the next one served: that ends nobody."""
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        beginnings = [{"first": b""}, {"first": fatal("57P03", "the database system is starting up")},
                      {"first": fatal("53300", "sorry, too many clients already")}]
        beginnings += [{"cut_after": size} for size in (30, 300, 450, 600, 900, 1500, 2500)]
        for number, beginning in enumerate(beginnings):
            with self.subTest(**beginning):
                folder = self.stores.file("socket")
                os.mkdir(folder)
                proxy = BadBeginning(folder, postgres.folder + "/.s.PGSQL.5432", **beginning)
                with self.collector(url.replace(postgres.folder, folder)) as collector:
                    self.post(collector, sample("N", 1000 + number, n=number))
                    wait_until(lambda: not collector.status()["degraded"], "it connects")
                    rows = wait_until(lambda: self.records(collector, "device=N&fields=S.d.n"), "what was sent")
                    self.assertEqual([row[2] for row in rows], [str(n) for n in range(number + 1)])
                    self.assertEqual(collector.status()["lost_values"], 0)
                self.assertGreater(proxy.met, 1)
                proxy.listener.close()

    def test_one_spool_each(self):
        url, spool = self.stores.url("postgresql"), self.stores.file("spool")
        with Collector(url, "telemetry.spool=" + spool):
            self.assertIn("another process spools into this file; set telemetry.spool", self.refused(url, spool))

    def test_what_waits_for_a_store_that_is_not_opened_is_told(self):
        away, state = "postgresql://127.0.0.1:1/none", self.stores.file("state")
        spool, run_spool = (f"{state}/tether/telemetry/{name}.spool" for name in ("telemetry", "run"))

        def told(**more):
            with Collector(self.stores.url("sqlite"), XDG_STATE_HOME=state, **more) as collector:
                return [line for line in collector.log if spool in line or run_spool in line]

        self.assertEqual(told(), [])
        with Collector(away, XDG_STATE_HOME=state) as collector:
            self.post(collector, sample("T", 1000, k=1))
            self.assertGreater(os.path.getsize(spool), 0)
            self.assertEqual(told(), [], "another process has it, which writes it")
        remedy = f"{os.path.getsize(spool)} bytes of messages wait here .*; start once with that store, or remove the file"
        self.assertRegex("".join(told()), f"{spool}: {remedy}")
        os.rename(spool, run_spool)
        self.assertRegex("".join(told(scene="xrp")), f"{run_spool}: {remedy}")
        self.assertEqual(told(), [])

    def test_versions(self):
        """An older schema is upgraded with all that is in it, and what was stored then is known when it comes again; a newer
        one is refused."""
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        postgres.run_file(SOURCE / "tests/telemetry/schema_2_postgres.sql")
        view = "SELECT epoch, device_time, attribute, number, text FROM tether.telemetry ORDER BY 1, 2, 3"
        before = postgres.query(view)
        self.assertEqual(len(before), 5)
        with self.collector(url) as collector:
            wait_until(lambda: re.search(UPGRADED, "".join(collector.log)), "it says so")
            self.assertEqual(postgres.query(view), before)
            self.assertEqual(self.records(collector, "device=OLD&fields=Number,S.d.t"),
                             [["OLD", "0:01:000", "1", "one"], ["OLD", "0:01:100", "2", "two"], ["OLD", "0:00:050", "3", ""]])
            self.assertIn("S.x.*", collector.get("/telemetry/handling"))
            self.post(collector, sample("OLD", 1100, n=2, t="two"))
            self.post(collector, sample("OLD", 50, n=3))
            self.assertEqual(postgres.query(view), before)
            self.post(collector, sample("OLD", 1100, n=4, t="two"))
            self.assertEqual(len(postgres.query(view)), 7)
        postgres.query("UPDATE tether.schema_version SET version = 99")
        self.assertIn("made by a newer Tether", self.refused(url))

    def test_an_older_file_is_upgraded_and_said_to_be(self):
        url = self.stores.url("sqlite")
        with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:"))) as db:
            db.executescript((SOURCE / "tests/telemetry/schema_2.sql").read_text(encoding="utf-8"))
        for upgraded in True, False:
            with Collector(url) as collector:
                pass
            self.assertEqual(re.search(UPGRADED, "".join(collector.log)) is not None, upgraded)


if __name__ == "__main__":
    sys.exit(unittest.main())
