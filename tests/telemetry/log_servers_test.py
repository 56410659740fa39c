#!/usr/bin/env python3
"""The servers of a log: three with three replicas, of which one or two are killed; live readers at any collector; TLS, users and credentials, right and wrong."""
import contextlib
import json
import pathlib
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support.nats import Certificates, Client, Credentials, Nats, Writer
from support.process import TETHER, at_best
from support.telemetry import Collector, LineSocket, WithStores, wait_until


def count(path):
    """Values that a store has."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT count(*) FROM telemetry").fetchone()[0]


class Device(threading.Thread):
    """Sends a message, waits for its acknowledgement, sends the next."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.acknowledged, self.longest, self.over, self.trouble = address, 0, 0, False, None

    def run(self):
        try:
            with LineSocket(self.address, 60) as connection:
                begun = time.monotonic()
                while not self.over:
                    now = int((time.monotonic() - begun) * 1000000) / 1000
                    connection.sendall(f"<MESSAGE id='D' boot='1' seq='{self.acknowledged}' time='{now}' ack='yes'>"
                                       f"<S time='0'><d n='{self.acknowledged}'/></S></MESSAGE>".encode())
                    sent, lines = time.monotonic(), []
                    while not lines:
                        lines = connection.lines()
                    if len(lines) != 1 or not lines[0].startswith(b"<ACK "):
                        raise AssertionError(lines)
                    self.acknowledged += 1
                    self.longest = max(self.longest, time.monotonic() - sent)
                    time.sleep(0.002)
        except Exception as error:  # whatever it is, the test is to fail by it
            self.trouble = error

    def goes_on(self, count=20):
        """Waits until so many more are acknowledged."""
        until = self.acknowledged + count
        wait_until(lambda: self.trouble or self.acknowledged >= until, "messages are acknowledged", 60)
        if self.trouble:
            raise self.trouble


class Replicas(WithStores):
    def test_one_of_three_and_two_of_three(self):
        log, store = Nats(3), self.stores.url("sqlite")
        self.addCleanup(log.close)
        url = log.url + "?replicas=3"
        with Collector(url, *self.stores.settings("postgresql")) as collector:
            self.assertFalse(collector.status()["degraded"], collector.status()["reason"])
            writer = Writer(url, store)
            self.addCleanup(writer.stop, signal.SIGKILL)
            device = Device(collector.address)
            device.start()
            device.goes_on()
            first = log.leader()
            log.kill(first)
            device.goes_on()
            wait_until(lambda: not collector.status()["degraded"], "two of three are enough", 60)
            device.goes_on()
            log.start(first)
            second = (first + 1) % 3

            def measure():
                log.kill(first)
                wait_until(lambda: not collector.status()["degraded"], "two of three are enough again", 60)
                log.kill(second)
                begun = time.monotonic()
                wait_until(lambda: collector.status()["spooled_bytes"], "it spools", 60)
                took = time.monotonic() - begun
                log.start(first)
                log.start(second)
                wait_until(lambda: not collector.status()["degraded"], "it is in the log", 60)
                return took
            at_best(measure, 5)
            log.kill(first)
            log.kill(second)
            wait_until(lambda: collector.status()["degraded"], "one of three is too few", 60)
            device.goes_on(100)  # from the spool
            self.assertGreater(collector.status()["spooled_bytes"], 0)
            log.start(first)
            log.start(second)
            wait_until(lambda: not collector.status()["degraded"], "it catches up", 60)
            device.goes_on()
            device.over = True
            device.join(60)
            self.assertIsNone(device.trouble)

        def rows():
            with sqlite3.connect(store.removeprefix("sqlite:")) as db:
                return sorted(row[0] for row in db.execute("SELECT value FROM telemetry"))
        wait_until(lambda: len(rows()) >= device.acknowledged, "the writer has it", 60)
        writer.close()
        self.assertEqual(rows(), list(range(device.acknowledged)))
        print(f"three replicas: {device.acknowledged} acknowledged, 0 lost, 0 twice; longest wait {device.longest:.2f} s", file=sys.stderr)


class LiveReaders(WithStores):
    """Who reads live at one collector sees the devices of another one, when both share a log."""

    def test_devices_of_another_collector(self):
        log = Nats()
        self.addCleanup(log.close)
        here, there = (Collector(log.url, *self.stores.settings("postgresql")) for _ in range(2))
        self.addCleanup(here.kill)
        self.addCleanup(there.kill)
        here.put("/telemetry/handling/S.d.hidden", {"mode": "store"})
        readers = [each.websocket("/telemetry/live") for each in (here, there)]
        with LineSocket(here.address, 30) as device, LineSocket(there.address, 30) as other:
            def send(connection, identifier, n):
                connection.sendall(f"<MESSAGE id='{identifier}' time='{n}' ack='yes'><S time='0'><d n='{n}' t='{identifier}' hidden='1'/></S></MESSAGE>".encode())
                self.assertTrue(connection.lines()[0].startswith(b"<ACK "))

            def heard(reader):
                return [json.loads(line) for line in reader.receive().splitlines()]
            # A device that is new is known elsewhere a moment later, and whoever begins to read is told from a moment later on.
            seen = [0, 0]
            n = 0
            while not all(seen):
                n += 1
                send(device, "here", n)
                send(other, "there", n)
                time.sleep(0.05)
                for i, reader in enumerate(readers):
                    while reader.buffer or select.select([reader.socket], [], [], 0)[0]:
                        seen[i] += sum(each["device"] == ("there", "here")[i] and len(each["values"]) == 2 for each in heard(reader))
                self.assertLess(n, 300)
            for i in range(n + 1, n + 11):
                send(device, "here", i)
                send(other, "there", i)
            for reader in readers:
                got = []
                while sum(each["device_time"] > n * 1000 for each in got) < 20:
                    got += heard(reader)
                for name in "here", "there":
                    mine = [each for each in got if each["device"] == name and each["device_time"] > n * 1000]
                    self.assertEqual([each["values"] for each in mine], [{"S.d.n": i, "S.d.t": name} for i in range(n + 1, n + 11)])
                    self.assertEqual({each["epoch"] for each in mine}, {0})
        self.assertLess(there.devices()["here"]["silence"], 60)  # its tile says that it is there
        for reader in readers:
            reader.close()
        here.close()
        there.close()


class WhoIsLetIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tether-log-")
        cls.ours, cls.other = pathlib.Path(cls.folder.name, "ours"), pathlib.Path(cls.folder.name, "other")
        cls.ours.mkdir()
        cls.other.mkdir()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def servers(self, **more):
        self.log = Nats(**more)
        self.addCleanup(self.log.close)
        return self.log.url

    def assert_let_in(self, url):
        Writer(url, "none:").close()

    def assert_refused(self, url, *texts):
        done = subprocess.run([TETHER, "store", "--log", url, "--store", "none:"], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_tls(self):
        ours, other = Certificates(self.ours), Certificates(self.other)
        url = self.servers(more=ours.tls)
        self.assert_let_in(f"{url}?{ours.options}")
        self.assert_refused(url, "signed by one of ?ca=FILE")
        self.assert_refused(f"{url}?{ours.options.replace(str(ours.ca), str(other.ca))}", "signed by one of ?ca=FILE")
        self.assert_refused(f"{url}?ca={ours.ca}", "cert=FILE&key=FILE")
        self.assert_refused(f"{url}?{other.options.replace(str(other.ca), str(ours.ca))}", "is cert=FILE signed by one that it trusts?")
        self.assert_refused(f"{url}?ca={self.ours}/none.pem", "none.pem", "?ca=FILE")

    def test_users(self):
        url = self.servers(more='authorization { users: [ {user: "ann", password: "p@secret"},'
                           ' {user: "bob", password: "bob-secret", permissions: {publish: ["tether.>"]}},'
                           ' {user: "cat", password: "cat-secret", permissions: {publish: ["tether.>", "$JS.API.>", "$JS.ACK.>", "$KV.tether.>"],'
                           ' subscribe: ["_INBOX.>", "tether.log.>"]}},'
                           ' {user: "dan", password: "dan-secret", permissions: {publish: ["$JS.API.>", "$JS.ACK.>", "$KV.tether-in.>", "_INBOX.>"],'
                           ' subscribe: ["_INBOX.>", "tether.in.>", "tether.ask.>"]}} ] }\n')
        where = url.removeprefix("nats://")
        writer = Writer(f"nats://ann:p%40secret@{where}", "none:")
        self.assertNotIn("secret", writer.log[0])
        writer.close()
        self.assert_let_in(f"nats://ann:p%40secret@{where}")
        self.assert_refused(url, "USER:PASSWORD@HOST")
        self.assert_refused(f"nats://ann:secret-too@{where}", "USER:PASSWORD@HOST")
        self.assert_refused(f"nats://bob:bob-secret@{where}", "$JS.API", "more permissions")
        # What docs/fleet.md and docs/telemetry-nats.md say is enough.
        store, spool = f"{self.folder.name}/users.sqlite", f"telemetry.spool={self.folder.name}/users.spool"
        with Collector(f"nats://cat:cat-secret@{where}", spool, f"telemetry.nats=nats://dan:dan-secret@{where}") as collector:
            writer = Writer(f"nats://cat:cat-secret@{where}", "sqlite:" + store)
            self.addCleanup(writer.stop, signal.SIGKILL)
            live = collector.websocket("/telemetry/live")
            client = Client(self.log, user="ann", password="p@secret")
            self.addCleanup(client.close)
            wait_until(lambda: client.request("tether.ask.D", "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>"), "a collector answers")
            self.assertIn(b'"seq":1', client.request("tether.in.D", "<MESSAGE id='D' time='2'><S time='0'><d n='2'/></S></MESSAGE>"))
            wait_until(lambda: self.log.waiting("collector", "tether-in") == 0, "it is stored")
            self.assertFalse(collector.status()["degraded"], collector.status()["reason"])
            live.close()
            wait_until(lambda: pathlib.Path(store).exists() and count(store) == 2, "the writer has it")
        writer.close()

    def test_credentials(self):
        ours, other = Credentials(self.ours), Credentials(self.other)
        url = self.servers(more=ours.more)
        self.assert_let_in(f"{url}?creds={ours.creds}")
        self.assert_refused(url, "?creds=FILE")
        self.assert_refused(f"{url}?creds={other.creds}", "?creds=FILE")
        self.assert_refused(f"{url}?creds={self.ours}/none.creds", "none.creds")

    def test_no_jetstream(self):
        """A server without it says so, at once."""
        folder = pathlib.Path(self.folder.name)
        process = subprocess.Popen(["nats-server", "--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", folder], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: list(folder.glob("*.ports")), "nats-server is there")
        ports = wait_until(lambda: next(folder.glob("*.ports")).read_text(encoding="ascii"), "its port is known")
        self.assert_refused(ports.split('"nats":["')[1].split('"')[0], "start nats-server with --jetstream")


if __name__ == "__main__":
    sys.exit(unittest.main())
