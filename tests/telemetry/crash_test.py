#!/usr/bin/env python3
"""Killed again and again under load: nothing that was acknowledged is lost, nothing is stored twice. The disk full, the
database stopped: the state is said, and everything arrives in the end."""
import json
import os
import signal
import socket
import sys
import threading
import time
import unittest

from support.process import stretched
from support.telemetry import LONG, Collector, LineSocket, WithStores, message, small_disk, own_host, wait_until

TEAR = sys.argv.pop(1) if len(sys.argv) > 1 and sys.argv[1].endswith(".so") else None
KILLS = 100 if LONG else 10  # with each of two stores
DEVICES = 4
WINDOW = 30
Collector.host = own_host()


class Device(threading.Thread):
    """Sends numbered samples at about 200 Hz and, after a broken connection, what was not acknowledged."""

    def __init__(self, name, where):
        super().__init__(daemon=True)
        self.name, self.where = name, where  # where(): the collector's address
        self.start_time = time.monotonic()
        self.unacknowledged = {}  # time -> text, in order
        self.acknowledged = set()
        self.number = 0
        self.last_time = 0
        self.stop_sending = threading.Event()

    def run(self):
        while not (self.stop_sending.is_set() and not self.unacknowledged):
            try:
                self.one_connection()
            except OSError:
                time.sleep(0.02)

    def one_connection(self):
        with LineSocket(self.where(), 0.5) as connection:
            connection.settimeout(0.005)
            for text in list(self.unacknowledged.values()):
                connection.sendall(text)
            quiet_since = time.monotonic()
            while not (self.stop_sending.is_set() and not self.unacknowledged):
                if len(self.unacknowledged) < WINDOW and not self.stop_sending.is_set():
                    self.send_next(connection)
                if self.hear(connection):
                    quiet_since = time.monotonic()
                elif time.monotonic() - quiet_since > 20:
                    raise OSError("no acknowledgements")

    def send_next(self, connection):
        self.number += 1
        self.last_time = max(self.last_time + 1, int((time.monotonic() - self.start_time) * 1000))
        text = message(self.name, self.last_time, [("S", 0, {"d": {"n": self.number, "t": f"text {self.number}"}})],
                       True).encode()
        self.unacknowledged[self.last_time] = text
        connection.sendall(text)

    def hear(self, connection):
        lines = connection.lines()
        for line in lines:
            assert line.startswith(b"<ACK "), line
            when = int(line.split(b'time="')[1].split(b'"')[0])
            self.acknowledged.add(when)
            self.unacknowledged.pop(when, None)
        return lines


class Crash(WithStores):
    def check_stored(self, collector, devices):
        """Every acknowledged sample exactly once, with its values."""
        for device in devices:
            records = collector.table(f"device={device.name}&origin=device&fields=S.d.n,S.d.t")["records"]
            times = []
            for _, clock, number, text in records:
                minutes, seconds, ms = map(int, clock.split(":"))
                times.append(minutes * 60000 + seconds * 1000 + ms)
                self.assertEqual(text, f"text {number}")
            self.assertEqual(len(times), len(set(times)), "a sample is there twice")
            self.assertEqual(device.acknowledged - set(times), set(), "an acknowledged sample is lost")
            self.assertEqual(len(times), device.number, "something that was never sent, or not all that was")

    def kill_again_and_again(self, kind):
        url, settings = self.stores.url(kind), self.stores.settings(kind)
        collector = Collector(url, *settings)
        devices = [Device(f"D{i}", lambda: collector.address) for i in range(DEVICES)]
        for device in devices:
            device.start()
        for kill in range(KILLS):
            before = sum(len(device.acknowledged) for device in devices)
            wait_until(lambda: sum(len(device.acknowledged) for device in devices) > before + 40, "load", 60)
            time.sleep((kill * 37 % 100) / 1000)  # at another moment of a batch each time
            collector.kill()
            collector = Collector(url, *settings)
        for device in devices:
            device.stop_sending.set()
        for device in devices:
            device.join(60)
            self.assertFalse(device.is_alive())
        with collector:
            self.check_stored(collector, devices)
        print(f"{kind}: killed {KILLS} times, {sum(len(device.acknowledged) for device in devices)} samples acknowledged,"
              " none lost, none twice", file=sys.stderr)

    def test_kill_sqlite(self):
        self.kill_again_and_again("sqlite")

    def test_kill_postgresql(self):
        self.kill_again_and_again("postgresql")

    def test_postgresql_stopped(self):
        postgres = self.stores.postgres
        url = self.stores.url("postgresql")
        with Collector(url, *self.stores.settings("postgresql")) as collector:
            device = Device("P", lambda: collector.address)
            device.start()
            wait_until(lambda: len(device.acknowledged) > 50, "acknowledged samples")
            postgres.stop()
            wait_until(lambda: collector.status()["degraded"], "the state is said")
            before = len(device.acknowledged)
            # Durable in the spool, so they are acknowledged all the same.
            time.sleep(60 if LONG else 0)
            wait_until(lambda: len(device.acknowledged) > before + 100, "acknowledged from the spool", 60)
            self.assertGreater(collector.status()["spooled_bytes"], 0)
            postgres.start()
            start = time.monotonic()
            try:
                wait_until(lambda: not collector.status()["degraded"], "the spool is drained", 30)
            except AssertionError:
                self.fail(f"{collector.status()} {collector.log}")
            took = time.monotonic() - start
            self.assertLess(took, stretched(5 if LONG else 10))
            print(f"postgresql: {len(device.acknowledged) - before} samples acknowledged while it was stopped, "
                  f"in the database {took:.1f} s after it was back", file=sys.stderr)
            self.assertEqual(collector.status()["spooled_bytes"], 0)
            device.stop_sending.set()
            device.join(30)
            self.assertEqual(collector.status()["lost_values"], 0)
            self.check_stored(collector, [device])

    def test_a_device_that_begins_again_and_again(self):
        """Hundreds of epochs at once, while others of the device go on, and the database goes and comes: all is stored."""
        postgres, number = self.stores.postgres, 0
        with Collector(self.stores.url("postgresql"), *self.stores.settings("postgresql")) as collector:
            for stopped in (False, True, True, False, False, True, False, False):
                if stopped != collector.status()["degraded"]:
                    (postgres.stop if stopped else postgres.start)()
                messages = []
                for _ in range(300):
                    number += 1
                    boot = "goes on" if number % 9 == 0 else "goes on, too" if number % 97 == 0 else f"b{number}"
                    messages.append({"id": "R", "time": 1000 + number, "boot": boot,
                                     "sets": [{"name": "S", "time": 0, "values": {"d": {"n": number}}}]})
                status, answer = collector.request("POST", "/telemetry/json", json.dumps(messages).encode())
                self.assertEqual((status, json.loads(answer)["stored"]), (200, 300), answer)
                wait_until(lambda: stopped == bool(collector.status()["degraded"]), "it is away, or back", 60)
            values = sorted(record[2] for record in collector.table("device=R&fields=S.d.n")["records"])
            self.assertEqual(values, list(range(1, number + 1)))

    @unittest.skipUnless(LONG, "a statement's deadline is 10 s")
    def test_postgresql_frozen(self):
        """Nobody closes anything, nobody answers: after the deadline of a statement what comes goes to the spool."""
        postgres = self.stores.postgres
        url = self.stores.url("postgresql")
        with Collector(url, *self.stores.settings("postgresql")) as collector:
            device = Device("Z", lambda: collector.address)
            device.start()
            wait_until(lambda: len(device.acknowledged) > 50, "acknowledged samples")
            postgres.freeze(True)
            try:
                wait_until(lambda: collector.status()["degraded"], "the state is said", 30)
                before = len(device.acknowledged)
                wait_until(lambda: len(device.acknowledged) > before + 50, "acknowledged from the spool", 30)
            finally:
                postgres.freeze(False)
            wait_until(lambda: not collector.status()["degraded"], "the spool is drained", 30)
            device.stop_sending.set()
            device.join(60)
            self.assertEqual(collector.status()["lost_values"], 0)
            self.check_stored(collector, [device])

    def test_spool_survives_the_collector(self):
        """Database away, collector killed: what was acknowledged from the spool is in the database after the next start."""
        postgres = self.stores.postgres
        url, settings = self.stores.url("postgresql"), self.stores.settings("postgresql")
        collector = Collector(url, *settings)
        device = Device("Q", lambda: collector.address)
        device.start()
        wait_until(lambda: len(device.acknowledged) > 20, "acknowledged samples")
        postgres.stop()
        wait_until(lambda: collector.status()["degraded"], "the state is said")
        before = len(device.acknowledged)
        wait_until(lambda: len(device.acknowledged) > before + 50, "acknowledged from the spool")
        collector.kill()
        postgres.start()
        collector = Collector(url, *settings)
        device.stop_sending.set()
        device.join(30)
        with collector:
            self.check_stored(collector, [device])

    def test_a_spool_is_for_one_store(self):
        """What waits for a store that is away goes into no other, and is told."""
        with socket.create_server(("127.0.0.1", 0)) as held:
            nobody = f"postgresql://me:secret@127.0.0.1:{held.getsockname()[1]}"
        spool = f"telemetry.spool={self.stores.file('spool')}"
        with Collector(f"{nobody}/season", spool) as collector:
            text = message("A", 10 ** 7, [("I", 0, {"d": {"n": 1}})])
            self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        with self.assertRaisesRegex(RuntimeError, "bytes of messages wait here for postgresql://127.0.0.1:[0-9]+/season, not for .*/test: ") as caught:
            Collector(f"{nobody}/test", spool)
        self.assertNotIn("secret", str(caught.exception))
        for url, *settings in (f"{nobody}/season?connect_timeout=2",), (f"{nobody}/test", f"telemetry.spool_was={nobody}/season"):
            with Collector(url, spool, *settings) as collector:
                self.assertGreater(collector.status()["spooled_bytes"], 0)

    def test_a_database_without_utf8_is_refused(self):
        """A text that has no room there would hold up all that waits behind it."""
        postgres = self.stores.postgres
        postgres.query("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        spool = f"telemetry.spool={self.stores.file('spool')}"
        with self.assertRaisesRegex(RuntimeError, "encoding is LATIN1.*ENCODING 'UTF8' TEMPLATE template0"):
            Collector(postgres.url.replace("/postgres?", "/latin?"), spool)
        url, settings = self.stores.url("postgresql"), self.stores.settings("postgresql")
        with Collector(url, *settings, PGCLIENTENCODING="LATIN1") as collector:
            text = message("E", 10 ** 7, [("I", 0, {"d": {"t": "5 €"}})])
            self.assertEqual(collector.request("POST", "/telemetry", text.encode())[0], 200)
        with Collector(url, *settings, PGCLIENTENCODING="UTF8") as collector:
            self.assertEqual(collector.table("device=E")["records"][0][2:], ["5 €"])

    @unittest.skipUnless(TEAR, "needs what kills while it writes")
    def test_torn_spool(self):
        """Killed in the middle of writing to the spool, begun anew, grown, killed again, each time at another byte; then a
        bit is changed. Counted sample by sample: what was acknowledged is there once, but for the frame with that bit."""
        postgres, order, spool = self.stores.postgres, self.stores.file("order"), self.stores.file("spool")
        url, environment = self.stores.url("postgresql"), {"LD_PRELOAD": TEAR, "TEAR": order, "TEAR_FILE": spool}

        def begin():
            begun = Collector(url, "telemetry.spool=" + spool, **environment)
            self.addCleanup(begun.kill)  # whoever left one behind would keep this test from ending
            return begun

        collector = begin()
        device = Device("T", lambda: collector.address)
        device.start()
        wait_until(lambda: len(device.acknowledged) > 20, "acknowledged samples")
        postgres.stop()
        wait_until(lambda: collector.status()["degraded"], "the state is said")
        for written in 0, 1, 20, 56, 200, 10**9:
            before = len(device.acknowledged)
            wait_until(lambda: len(device.acknowledged) > before + 50, "acknowledged from the spool", 60)
            with open(order + ".new", "w", encoding="ascii") as file:
                file.write(str(written))
            os.rename(order + ".new", order)
            collector.process.wait(60)
            self.assertEqual(collector.process.returncode, -signal.SIGKILL)
            os.unlink(order)
            collector.kill()  # ends what reads its log
            collector = begin()
        before = len(device.acknowledged)
        wait_until(lambda: len(device.acknowledged) > before + 50, "acknowledged from the spool", 60)
        device.stop_sending.set()
        device.join(60)
        collector.kill()
        with open(spool, "r+b") as file:
            begun = file.read(4096)
            at = begun.index(begun[:4], 4) + 100  # in the second frame: the first says for which store they are
            file.seek(at)
            file.write(bytes([begun[at] ^ 0x10]))
        collector = begin()
        status = collector.status()
        lost = status["spool_lost_samples"]
        self.assertTrue(0 < lost < 40, status)
        wait_until(lambda: any("damaged" in line for line in collector.log), "and said")
        postgres.start()
        with collector:
            wait_until(lambda: not collector.status()["degraded"], "the spool is drained", 30)
            records = collector.table("device=T&origin=device&fields=S.d.n")["records"]
            numbers = [number for _, _, number in records]
            self.assertEqual(len(numbers), len(set(numbers)), "a sample is there twice")
            self.assertEqual(len(numbers), device.number - lost)
            self.assertEqual(collector.status()["spool_lost_samples"], lost)

    def send_numbers(self, collector, numbers):
        """Samples of device R, and waits until each is acknowledged."""
        with collector.connect() as link:
            for n in numbers:
                link.sendall(message("R", 1000 + 10 * n, [("S", 1000 + 10 * n, {"d": {"n": n}})], True).encode())
            answers = b""
            while answers.count(b"<ACK") < len(numbers):
                more = link.recv(65536)
                self.assertTrue(more, "the connection is closed")
                answers += more

    def test_sent_again_to_one_that_never_saw_the_database(self):
        """Acknowledgements lost, collector killed and begun anew while the database is away: the device sends again what
        is in the spool already, and it is stored once."""
        postgres = self.stores.postgres
        url, settings = self.stores.url("postgresql"), self.stores.settings("postgresql")
        collector = Collector(url, *settings)
        self.send_numbers(collector, range(0, 10))
        postgres.stop()
        wait_until(lambda: collector.status()["degraded"], "the state is said")
        for first, last in (10, 20), (10, 25), (15, 30):
            self.send_numbers(collector, range(first, last))
            collector.kill()
            collector = Collector(url, *settings)
        postgres.start()
        with collector:
            wait_until(lambda: not collector.status()["degraded"], "the spool is drained", 30)
            self.send_numbers(collector, range(20, 40))
            records = collector.table("device=R&origin=device&fields=S.d.n")["records"]
        self.assertEqual(postgres.query("SELECT epoch FROM tether.boot"), [["0"]])
        self.assertEqual([number for _, _, number in records], list(range(40)))

    def test_disk_full(self):
        """A tmpfs of 1 MB: the state is said, nobody gets a false acknowledgement, and it goes on once there is room."""
        with small_disk(self.stores.file("small")) as folder:
            filler = f"{folder}/filler"
            with open(filler, "wb") as file:
                file.write(b"x" * 850_000)
            with Collector(f"sqlite:{folder}/t.sqlite") as collector:
                device = Device("F", lambda: collector.address)
                device.start()
                wait_until(lambda: collector.status()["degraded"], "the state is said", 60)
                self.assertIn("full", collector.status()["reason"])
                self.assertTrue(device.unacknowledged)
                os.unlink(filler)
                try:
                    wait_until(lambda: not collector.status()["degraded"], "it goes on", 30)
                except AssertionError:
                    self.fail(f"{collector.status()} {collector.log} {os.listdir(folder)}")
                device.stop_sending.set()
                device.join(30)
                self.assertEqual(collector.status()["lost_values"], 0)
                self.check_stored(collector, [device])


if __name__ == "__main__":
    sys.exit(unittest.main())
