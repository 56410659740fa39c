#!/usr/bin/env python3
"""The way of a fleet's telemetry as a whole: devices, collectors, a log, writers, stores, pages; what each of them says of itself."""
import contextlib
import itertools
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from support.chain import LISTEN, WithLog, column, figures, send
from support.clickhouse import is_installed
from support.ledger import compare, count, finish, of_each_kind, postgres_rows, sqlite_rows
from support.nats import Client, Writer
from support.process import TETHER
from support.telemetry import Collector, message, own_host, wait_until

Collector.host = own_host()
CLOCK = sys.argv.pop(1) if sys.argv[1:2] and sys.argv[1].endswith(".so") else None  # clock_shim
MOST_MEMORY = 400  # MiB, of a collector or a writer, as docs/fleet.md says


class Way(WithLog):
    def test_from_a_device_to_the_pages(self):
        """Of a writer into each kind of store, and of a collector that reads what writers fill."""
        first, second = self.collector(), self.collector()
        sqlite = self.writer(self.stores.url("sqlite"), *LISTEN, "--name", "file")
        database = self.stores.url("postgresql")
        postgres, beside = self.writer(database, *LISTEN), self.collector(database)
        live = sqlite.websocket("/telemetry/live?device=ROBO1")
        send(first, "ROBO1", range(10))
        send(second, "ROBO2", range(5))
        send(second, "ROBO1", range(10, 20))  # it has moved
        first.put("/telemetry/devices/ROBO1", {"name": "Red"})
        for pages in sqlite, postgres, beside:
            wait_until(lambda p=pages: {d: i["name"] for d, i in p.devices().items()} == {"ROBO1": "Red", "ROBO2": None}, "the names")
            wait_until(lambda p=pages: column(p, "Red") == list(range(20)), "all values of ROBO1")
            self.assertEqual(column(pages, "ROBO2"), list(range(5)))
            self.assertEqual(column(pages, "ROBO2", "Output.drive.s"), [f"t{n}" for n in range(5)])
        send(first, "ROBO1", [20], "seen")
        while "seen" not in live.receive():
            pass
        live.close()
        for writer in sqlite, postgres:
            wait_until(lambda w=writer: column(w, "ROBO1") == list(range(21)), "what came last")
            self.check_status(writer)
            self.check_what_is_refused(writer)
        # Values are removed where they are stored: here, and not at the other name's.
        wait_until(lambda: sqlite.request("DELETE", "/telemetry/devices/ROBO2?data=yes")[0] == 200, "the values are removed")
        self.assertEqual((column(sqlite, "ROBO2"), column(postgres, "ROBO2")), ([], list(range(5))))

    def check_status(self, writer):
        wait_until(lambda: not any(writer.status()["log"][key] for key in ("in_hand", "waiting")), "all is done, and the log says so")
        status = writer.status()
        self.assertEqual(status["log"], {"degraded": False, "reason": None, "degraded_seconds": 0, "waiting": 0, "in_hand": 0,
                                         "redelivered": 0, "lag_seconds": 0})
        self.assertEqual((status["degraded"], status["values"], status["stored_values"]), (False, 52, 52))
        seen = figures(writer)
        self.assertEqual((seen["tether_telemetry_stored_values_total"], seen["tether_telemetry_log_waiting_messages"]), (52, 0))
        self.assertGreater(seen["tether_telemetry_write_seconds_sum"], 0)
        self.assertEqual(seen["tether_telemetry_write_seconds_count"], status["batches"])
        self.assertEqual(json.loads(writer.get("/health"))["status"], "pass")

    def check_what_is_refused(self, writer):
        """What people set is set at the log's collectors, where every writer hears of it."""
        for method, path, body in (("PUT", "/telemetry/devices/ROBO1", '{"name": "Blue"}'), ("DELETE", "/telemetry/attributes", None),
                                   ("PUT", "/telemetry/handling/Output.*", '{"retention": 60}'),
                                   ("POST", "/telemetry", message("ROBO3", 0, [("Output", 0, {"drive": {"n": 1}})]))):
            status, text = writer.request(method, path, body)
            self.assertIn(status, (400, 409))
            self.assertIn("comes out of a log", text)

    @unittest.skipUnless(is_installed(), "no clickhouse-server")
    def test_a_trickle_into_clickhouse_is_gathered(self):
        """Each insertion makes a part, which it has to merge: five a second are enough, whatever comes."""
        url, server = self.stores.url("clickhouse"), self.stores.clickhouse

        def insertions():
            """A merged part is listed for some minutes more; what was inserted has the level 0."""
            return int(server.query("SELECT count() FROM system.parts WHERE level = 0 AND table = 'stored_value'"
                                    f" AND database = '{url.rpartition('/')[2]}'"))
        collector, writer = self.collector(), self.writer(url, *LISTEN)
        begun = time.monotonic()
        for number in range(150):
            send(collector, "ROBO1", [number])
        wait_until(lambda: column(writer, "ROBO1") == list(range(150)), "all values")
        self.assertGreater(insertions(), 0)
        self.assertLessEqual(insertions(), 5 * (time.monotonic() - begun) + 2)  # at both ends one of less than a fifth of a second

    def test_a_clock_that_is_ahead_removes_nothing_from_the_log(self):
        """A day after it was done a message is removed from the stream, by a writer: not by its own clock alone."""
        if not CLOCK:
            self.skipTest("needs the path of clock_shim.so")
        ahead = pathlib.Path(self.stores.file("clock"))
        ahead.write_text("200000\n", encoding="ascii")  # s: more than two days
        collector, store, stream = self.collector(), self.stores.url("sqlite"), self.log.rpartition("/")[2]

        def is_done():
            return self.nats.waiting(stream=stream) == 0
        for numbers, environment in ([1], {}), ([2], {"LD_PRELOAD": CLOCK, "CLOCK_SHIM": str(ahead)}):
            writer = self.writer(store, **environment)
            send(collector, "ROBO1", numbers)
            wait_until(is_done, f"{numbers} is stored")
            self.assertEqual(writer.stop(), 0)  # what it removes it has removed then
        state, _ = self.nats.stream(stream)
        self.assertEqual(state["first_seq"], 1)

    def test_names_of_what_is_stored_behind_a_log_stay(self):
        """A collector can't look into the stores: it removes what it is told by name, unless it has put values of it into the log."""
        collector, writer = self.collector(), self.writer(self.stores.url("sqlite"), *LISTEN)
        send(collector, "ROBO1", range(5))
        collector.put("/telemetry/devices/Typo", {"name": "Blue"})
        wait_until(lambda: column(writer, "ROBO1") == list(range(5)) and "Typo" in writer.devices(), "all is stored")
        for path, part in ("devices", "by its name"), ("attributes", "by its name"), ("devices/ROBO1", "are stored of it"):
            status, text = collector.request("DELETE", "/telemetry/" + path)
            self.assertEqual(status, 409, (path, text))
            self.assertIn(part, text)
        self.assertEqual(collector.request("DELETE", "/telemetry/devices/Typo"), (200, '{"removed":1}'))
        wait_until(lambda: list(writer.devices()) == ["ROBO1"], "the other one is removed")
        self.assertEqual(column(writer, "ROBO1"), list(range(5)))

    def test_a_writer_keeps_what_is_set(self):
        """Retention is set at a collector; the writer's store forgets by it."""
        collector, writer = self.collector(), self.writer(self.stores.url("sqlite"), *LISTEN)
        send(collector, "ROBO1", range(5))
        wait_until(lambda: len(column(writer, "ROBO1", "Output.drive.s")) == 5, "all values")
        collector.put("/telemetry/attributes/Output.drive.s", {"retention": 0.01})
        wait_until(lambda: column(writer, "ROBO1", "Output.drive.s") == [], "those that are too old are gone", 60)
        self.assertEqual(column(writer, "ROBO1"), list(range(5)))

    def test_values_of_a_name_that_was_removed_go_by_retention(self):
        """Nothing says that there are any. A writer that is started behind that, too, looks for them."""
        collector, other, store = self.collector(), self.collector(), self.stores.url("sqlite")
        writer = self.writer(store, *LISTEN)
        send(collector, "ROBO1", range(5))
        wait_until(lambda: column(writer, "ROBO1", "Output.drive.s") and "ROBO1" in other.devices(), "all is stored, and known")
        self.assertEqual(other.request("DELETE", "/telemetry/attributes/Output.drive.s"), (200, '{"removed":1}'))
        wait_until(lambda: "Output.drive.s" not in writer.get("/telemetry/attributes"), "it is removed")
        self.assertEqual(writer.stop(), 0)
        self.assertEqual(len(sqlite_rows(store.removeprefix("sqlite:"))), 10)
        self.writer(store)
        other.put("/telemetry/handling/Output.drive.s", {"retention": 0.01})
        wait_until(lambda: len(sqlite_rows(store.removeprefix("sqlite:"))) == 5, "its values are gone", 60)

    def test_what_is_set_back_is_set(self):
        """The server takes what is equal to something of the last minutes for a repeat: of what is set it isn't."""
        one, other = self.collector(), self.collector()
        writer = self.writer(self.stores.url("sqlite"), *LISTEN)
        send(one, "ROBO1", [1])
        for name, retention in ("A", 100), ("B", 200), ("A", 100):
            one.put("/telemetry/devices/ROBO1", {"name": name})
            one.put("/telemetry/handling/x.*", {"retention": retention})
            for pages in one, other, writer:
                wait_until(lambda p=pages, n=name: p.devices().get("ROBO1", {}).get("name") == n, f"the name {name}")
                wait_until(lambda p=pages, r=retention: [each["retention"] for each in json.loads(p.get("/telemetry/handling"))] == [r], f"a retention of {retention}")
        # A device that was removed, and sends again at once.
        send(one, "ROBO2", [1])
        wait_until(lambda: "ROBO2" in other.devices(), "the other one hears of the device")
        self.assertEqual(other.request("DELETE", "/telemetry/devices/ROBO2")[0], 200)
        wait_until(lambda: "ROBO2" not in one.devices(), "that it is removed is heard, too")
        send(one, "ROBO2", [2])
        for pages in other, writer:
            wait_until(lambda p=pages: "ROBO2" in p.devices(), "it is back")

    def test_a_message_longer_than_one_of_the_log(self):
        collector, writer = self.collector(), self.writer(self.stores.url("sqlite"), *LISTEN)
        samples = "".join(f"<S time='{-i}'><d v='{i}'/></S>" for i in range(1, 28001))
        long = f"<MESSAGE id='LONG' time='100000' ack='yes'>{samples}</MESSAGE>"
        self.assertGreater(len(long), 900_000)
        self.assertEqual(collector.request("POST", "/telemetry", long)[0], 200)
        send(collector, "ROBO1", [1])
        wait_until(lambda: column(writer, "ROBO1") == [1], "what came behind it")
        self.assertEqual(column(writer, "LONG", "S.d.v"), list(range(1, 28001)))

    def test_a_replay_is_started_again(self):
        """As systemd does: its consumer goes on where it was."""
        collector = self.collector()
        send(collector, "ROBO1", [1])
        store = self.stores.url("sqlite")
        for options in ("--replay", "-1 h"), ("--replay", "-1 h"), ():
            writer = self.writer(store, *LISTEN, "--name", "again", *options)
            wait_until(lambda w=writer: column(w, "ROBO1") == [1], "what was sent before")
            self.assertEqual(writer.stop(), 0)

    def test_a_new_store_gets_what_was_set_before(self):
        """The stream keeps a day of it; the bucket all."""
        collector = self.collector()
        send(collector, "ROBO1", [1])
        collector.put("/telemetry/devices/ROBO1", {"name": "Blue"})
        collector.put("/telemetry/handling/Output.*", {"retention": 86400})
        client = Client(self.nats)
        self.addCleanup(client.close)
        stream = self.log.rpartition("/")[2]
        wait_until(lambda: self.nats.stream(stream)[0]["messages"] >= 2, "what was sent and set is in the stream")
        self.assertTrue(json.loads(client.request(f"$JS.API.STREAM.PURGE.{stream}", ""))["success"])
        writer = self.writer(self.stores.url("sqlite"), *LISTEN)
        wait_until(lambda: writer.devices().get("ROBO1", {}).get("name") == "Blue", "the name")
        self.assertEqual([(each["pattern"], each["retention"]) for each in json.loads(writer.get("/telemetry/handling"))], [("Output.*", 86400)])
        send(collector, "ROBO1", [2])
        wait_until(lambda: column(writer, "ROBO1") == [2], "what came then")

    def test_a_bucket_that_somebody_removed(self):
        """What was set stands in another one then, and collectors hear each other again."""
        one, other = self.collector(), self.collector()
        send(one, "ROBO1", [1])
        one.put("/telemetry/devices/ROBO1", {"name": "Blue"})
        other.put("/telemetry/handling/Output.*", {"retention": 86400})
        wait_until(lambda: other.devices().get("ROBO1", {}).get("name") == "Blue", "the other one hears of the name")
        wait_until(lambda: len(json.loads(one.get("/telemetry/handling"))) == 1, "the handling")
        client = Client(self.nats)
        self.addCleanup(client.close)
        bucket = "KV_" + self.log.rpartition("/")[2]

        def made():
            return json.loads(client.request(f"$JS.API.STREAM.INFO.{bucket}", "")).get("created")
        for name in "Red", "Green":
            before = made()
            self.assertTrue(json.loads(client.request(f"$JS.API.STREAM.DELETE.{bucket}", ""))["success"])
            wait_until(lambda b=before: made() not in (None, b), "another bucket")
            new = self.collector()
            wait_until(lambda n=new: "ROBO1" in n.devices() and len(json.loads(n.get("/telemetry/handling"))) == 1, "what was set is there")
            one.put("/telemetry/devices/ROBO1", {"name": name})
            for each in one, other, new:
                wait_until(lambda e=each, n=name: e.devices().get("ROBO1", {}).get("name") == n, f"the name {name}")
                wait_until(lambda e=each: not json.loads(e.get("/telemetry/status"))["degraded"], "all is well")
        send(other, "ROBO1", [2])
        send(new, "ROBO1", [3])
        writer = self.writer(self.stores.url("sqlite"), *LISTEN)
        wait_until(lambda: column(writer, "ROBO1") == [1, 2, 3], "all values")
        self.assertEqual(writer.devices()["ROBO1"]["name"], "Green")

    def test_a_device_that_begins_again_and_again(self):
        """The bucket has as many of its epochs as are compared; the store has all."""
        collector, starts = self.collector(), 100
        with collector.connect() as connection:
            for start in range(starts):
                connection.sendall(f"<MESSAGE id='ROBO1' boot='{start}' time='10' ack='yes'><S time='0'><d n='{start}'/></S></MESSAGE>".encode())
                self.assertIn(b"<ACK ", connection.recv(65536))
        client = Client(self.nats)
        self.addCleanup(client.close)
        bucket = "KV_" + self.log.rpartition("/")[2]

        def epochs(of):
            asked = json.dumps({"subjects_filter": f"$KV.*.e.{of}.*"})
            return len(json.loads(client.request(f"$JS.API.STREAM.INFO.{bucket}", asked))["state"].get("subjects") or {})
        wait_until(lambda: epochs("ROBO1") == 64, "the oldest are gone")
        send(self.collector(), "ROBO2", [1])
        self.assertEqual(epochs("ROBO2"), 1)
        other = self.collector()
        with other.connect() as connection:  # goes on there, and sends something of long ago
            for start, n in (99, 100), (0, 101):
                connection.sendall(f"<MESSAGE id='ROBO1' boot='{start}' time='20' ack='yes'><S time='0'><d n='{n}'/></S></MESSAGE>".encode())
                self.assertIn(b"<ACK ", connection.recv(65536))
        writer = self.writer(self.stores.url("sqlite"), *LISTEN)
        wait_until(lambda: column(writer, "ROBO1", "S.d.n") == list(range(starts + 2)), "all values")

    def test_options(self):
        for options, said in ((("--set", "telemetry.listen=127.0.0.1:0"), "devices send to `tether collect --log"),
                              (("--listen", "0.0.0.0:0"), "token"), (("--lisen", "x"), "did you mean '--listen'")):
            with self.assertRaisesRegex(RuntimeError, said):
                Writer(self.log, self.stores.url("sqlite"), *options)

    def test_who_finds_nobody_is_started_again(self):
        """By its exit status a service manager tells what is away from what is wrong; a collector spools."""
        with socket.create_server(("127.0.0.1", 0)) as held:
            nobody = f"127.0.0.1:{held.getsockname()[1]}"
        sqlite = self.stores.url("sqlite")
        for log, store, status in ((f"nats://{nobody}", sqlite, 3), (self.log, "postgresql://127.0.0.1/telemetry?nothing=here", 1),
                                   (self.log, self.stores.postgres.url.replace("/postgres?", "/made_later?"), 3),
                                   (self.log, "clickhouse:///telemetry", 1),
                                   (f"nats://{nobody}/no.name", sqlite, 1), (self.log, "nothing:here", 1), ("", "", 2)):
            options = [option for pair in (("--log", log), ("--store", store)) for option in pair if pair[1]]
            done = subprocess.run([TETHER, "store", *options], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, status, (options, done.stderr))
        collector = self.collector(f"nats://{nobody}")
        self.assertTrue(json.loads(collector.request("GET", "/telemetry/status")[1])["degraded"])
        for unit in "tether-collect", "tether-store@":
            lines = pathlib.Path(os.environ["TETHER_SOURCE_DIR"], f"packaging/{unit}.service").read_text(encoding="utf-8").splitlines()
            for line in "Restart=on-failure", "RestartPreventExitStatus=1 2", "StartLimitIntervalSec=0":
                self.assertIn(line, lines, unit)


def memory(program):
    """MiB that a process had in RAM at most."""
    lines = pathlib.Path(f"/proc/{program.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


class Flood(threading.Thread):
    """Devices that send as much as is taken, and never wait for acknowledgements."""

    def __init__(self, collector, device):
        super().__init__(daemon=True)
        self.collector, self.device = collector, device
        self.over = threading.Event()
        self.start()

    def run(self):
        values = " ".join(f"v{i}='{i}.5'" for i in range(100))
        with self.collector.connect() as connection, contextlib.suppress(OSError):
            connection.settimeout(1)
            for first in itertools.count(0, 50):
                if self.over.is_set():
                    return
                text = "".join(f"<MESSAGE id='{self.device}' time='{(first + i) * 10}'><S time='0'><d {values}/></S></MESSAGE>"
                               for i in range(50)).encode()
                while text and not self.over.is_set():
                    with contextlib.suppress(TimeoutError):
                        text = text[connection.send(text):]


class Memory(WithLog):
    def test_of_all_while_something_stands_still(self):
        """A flood, a store that stands still, then a log that does: what waits is in the log, then on disk up to its limit, then
        with the devices."""
        postgres, nats = self.stores.postgres, self.nats.processes[0]
        collector = self.collector(None, "telemetry.spool_limit=3e7")
        writer = self.writer(self.stores.url("postgresql"), *LISTEN)
        floods = [Flood(collector, f"ROBO{i}") for i in range(4)]
        wait_until(lambda: writer.status()["stored_values"] > 0, "something is stored", 60)
        postgres.freeze(True)
        self.addCleanup(postgres.freeze, False)
        before = collector.status()["stored_values"]
        wait_until(lambda: collector.status()["stored_values"] > before + 3_000_000, "the log takes what the store can't", 120)
        nats.send_signal(signal.SIGSTOP)
        self.addCleanup(nats.send_signal, signal.SIGCONT)
        wait_until(lambda: collector.status()["queued_bytes"] > 30_000_000, "the spool and the queue are full", 120)
        self.assertEqual(collector.request("GET", "/metrics")[0], 200)
        for flood in floods:
            flood.over.set()
            flood.join(60)
        print(f"collector {memory(collector):.0f} MiB, writer {memory(writer):.0f} MiB at most", file=sys.stderr)
        self.assertLess(memory(collector), MOST_MEMORY)
        self.assertLess(memory(writer), MOST_MEMORY)
        nats.send_signal(signal.SIGCONT)
        postgres.freeze(False)
        collector.kill()  # what waits is not of interest
        writer.kill()


class Rolling(WithLog):
    def load(self, devices):
        """Lets them send for a while."""
        before = count(devices)
        wait_until(lambda: count(devices) > before + 15, "the devices send", 120)

    def test_each_part_in_turn(self):
        """Collectors, writers and the log's server are ended and started again, one after another, as a newer program is brought in,
        while devices send: nothing is lost or stored twice. The checker reads the tables."""
        chance = random.Random(int(os.environ.get("TETHER_SEED", "7")))
        store = self.stores.url("sqlite")
        collectors = [self.collector(), self.collector()]
        writers = [self.writer(self.stores.url("postgresql"), "--name", "shared") for _ in range(2)]
        writers.append(self.writer(store, "--name", "file"))
        devices = of_each_kind(chance, lambda its: its.choice(collectors).address)
        for device in devices:
            device.start()
        for place, old in enumerate(collectors):
            self.load(devices)
            settings = "telemetry.spool=" + self.stores.file("spool")
            old.close()
            collectors[place] = Collector(self.log, settings)
            self.addCleanup(collectors[place].close)
        for place, name in enumerate(("shared", "shared", "file")):
            self.load(devices)
            writers[place].close()
            writers[place] = self.writer(store if name == "file" else self.stores.postgres.url, "--name", name)
        self.nats.stop()
        self.load(devices)
        self.nats.start()
        self.nats.wait_ready()
        self.load(devices)
        finish(devices)
        for collector in collectors:
            wait_until(lambda c=collector: not c.status()["degraded"], "the spool is drained", 120)
            self.assertEqual(collector.status()["lost_values"], 0)
        for name in "shared", "file":
            wait_until(lambda n=name: self.nats.waiting(n, f"s{self.streams}") == 0, f"nothing waits for {name}", 120)
        for writer in writers:
            writer.close()
        for rows in postgres_rows(self.stores.postgres.query), sqlite_rows(store.removeprefix("sqlite:")):
            for device, found in compare(devices, rows).items():
                self.assertEqual((found.lost[:5], found.twice[:5], found.wrong[:5]), ([], [], []), device.name)


if __name__ == "__main__":
    sys.exit(unittest.main())
