#!/usr/bin/env python3
"""A fleet's telemetry while its log or its store is down, busy, or not what it should be: that is said within two seconds."""
import contextlib
import json
import signal
import socket
import sys
import threading
import time
import unittest

from support.chain import LISTEN, WithLog, column, figures, send
from support.nats import Client, Nats, Writer
from support.process import at_best
from support.telemetry import Collector, own_host, wait_until

Collector.host = own_host()
SAID_WITHIN = 2  # s


class LateTaken(threading.Thread):
    """In front of a nats-server: what it says of messages that it took comes `late` s later, everything else at once, as of a server
    that has much to store."""

    TAKEN = b'{"stream":'

    def __init__(self, port, late):
        super().__init__(daemon=True)
        self.port, self.late = port, late
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"nats://127.0.0.1:{self.listener.getsockname()[1]}"
        self.start()

    def run(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.port))
                threading.Thread(target=self.there, args=(near, far), daemon=True).start()
                threading.Thread(target=self.back, args=(near, far), daemon=True).start()

    @staticmethod
    def there(near, far):
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
        far.close()

    def back(self, near, far):
        lock, held = threading.Lock(), []
        threading.Thread(target=self.hold, args=(near, lock, held), daemon=True).start()
        with contextlib.suppress(OSError), far.makefile("rb") as stream:
            for line in stream:
                sort, *words = line.split() or [b""]
                body = stream.read(int(words[-1]) + 2) if sort in (b"MSG", b"HMSG") else b""
                if body.startswith(self.TAKEN):
                    held.append((time.monotonic() + self.late, line + body))
                    continue
                with lock:
                    near.sendall(line + body)
        held.append(None)

    @staticmethod
    def hold(near, lock, held):
        with contextlib.suppress(OSError):
            while True:
                while not held:
                    time.sleep(0.01)
                if not (first := held.pop(0)):
                    break
                time.sleep(max(0, first[0] - time.monotonic()))
                with lock:
                    near.sendall(first[1])
        near.close()

    def close(self):
        self.listener.close()


class Down(WithLog):
    def said(self, program, text, since):
        """Whether a line with `text` came since there were so many."""
        return [line for line in program.log[since:] if text in line]

    def test_a_log_that_stands_still(self):
        """It takes connections and answers nothing: worse than one that is gone."""
        collector, writer = self.collector(), self.writer(self.stores.url("sqlite"), *LISTEN)
        send(collector, "ROBO1", range(3))
        wait_until(lambda: column(writer, "ROBO1") == [0, 1, 2], "the values")
        process = self.nats.processes[0]
        self.addCleanup(process.send_signal, signal.SIGCONT)

        def measure():
            begun = time.monotonic()
            before = len(collector.log), len(writer.log)
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: self.said(collector, "spooling until it is there", before[0]), "the collector says it", 60)
            wait_until(lambda: self.said(writer, "can't take from the log", before[1]), "the writer says it", 60)
            took = time.monotonic() - begun
            wait_until(lambda: figures(collector)["tether_telemetry_store_degraded_seconds"], "it is noticed", 60)
            self.assertTrue(collector.status()["degraded"])
            self.assertTrue(writer.status()["log"]["degraded"])
            self.assertEqual(writer.request("GET", "/health")[0], 503)
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: self.said(collector, "the store works again after", before[0]), "the collector says that it is back", 60)
            wait_until(lambda: self.said(writer, "the log works again after", before[1]), "the writer says that it is back", 60)
            return took
        at_best(measure, SAID_WITHIN)
        send(collector, "ROBO1", range(3, 6))
        wait_until(lambda: column(writer, "ROBO1") == list(range(6)), "what came then")

    def test_a_log_that_is_busy(self):
        """What it took is not given up and put again, which would make it busier: with all that came before waiting there, for ever."""
        busy = LateTaken(self.nats.ports[0], 4)
        self.addCleanup(busy.close)
        collector = self.collector(f"{busy.url}/s{self.streams}")
        wait_until(lambda: self.said(collector, "nats: connected", 0), "the log is there")
        before = len(collector.log)
        send(collector, "ROBO1", range(3))
        self.assertEqual(self.said(collector, "nats: ", before), [])

    def test_a_log_with_limits(self):
        """What one refuses is spooled, and told in the server's words; one that drops what nobody has stored is warned of."""
        collector, client = self.collector(), Client(self.nats)
        self.addCleanup(client.close)

        def limit(**limits):
            config = json.loads(client.request(f"$JS.API.STREAM.INFO.s{self.streams}", ""))["config"]
            self.assertNotIn("error", json.loads(client.request(f"$JS.API.STREAM.UPDATE.s{self.streams}", json.dumps({**config, **limits}))))
        send(collector, "ROBO1", [0])
        limit(max_msgs=1, discard="new")
        send(collector, "ROBO1", [1, 2])
        self.assertIn("maximum messages exceeded", collector.status()["reason"])
        limit(max_msgs=-1)
        writer = self.writer(self.stores.url("sqlite"), *LISTEN)
        wait_until(lambda: column(writer, "ROBO1") == [0, 1, 2], "all values")
        self.assertFalse(self.said(writer, "drops its oldest", 0))
        for limits in {"max_msgs": 1000, "discard": "old"}, {"max_msgs": -1, "max_age": 3600 * 10**9}:
            limit(**limits)
            other = self.collector()
            wait_until(lambda program=other: self.said(program, "drops its oldest messages", 0), "it warns")
        limit(max_age=0, max_msg_size=100_000)
        other = self.collector()
        wait_until(lambda: self.said(other, "the stream takes messages of at most 100000 bytes", 0), "it warns")

    def stream(self, name, subjects, **config):
        """Somebody makes a stream before a collector does, and changes it again where it is there."""
        client = Client(self.nats)
        answer = json.loads(client.request(f"$JS.API.STREAM.CREATE.{name}", json.dumps(
            {"name": name, "subjects": subjects, "retention": "limits", "storage": "file", "num_replicas": 1, "allow_direct": True, **config})))
        client.close()
        self.assertNotIn("error", answer)

    def test_a_stream_that_removes_what_was_taken_is_no_log(self):
        for retention in "interest", "workqueue":
            log = f"{self.log}{retention}"
            name = log.rpartition("/")[2]
            self.stream(name, [f"{name}.log.>", f"{name}.settings"], retention=retention)
            for start in lambda: self.collector(log).close(), lambda: Writer(log, self.stores.url("sqlite")).stop():  # pylint: disable=cell-var-from-loop
                with self.assertRaisesRegex(RuntimeError, f"the stream {name} is no log.*retention {retention}.*another name"):
                    start()

    def test_a_log_that_turns_out_to_be_none(self):
        """It was away when the collector started: that it is there and no log is said, once, until somebody changes that."""
        log = self.log + "later"
        name = log.rpartition("/")[2]
        self.stream(name, [f"{name}.log.>", f"{name}.settings"], retention="workqueue")
        self.nats.stop()
        try:
            collector = self.collector(log)
            send(collector, "ROBO1", [1])
        finally:
            self.nats.start()
            self.nats.wait_ready()
        wait_until(lambda: self.said(collector, f"the stream {name} is no log", 0), "it says what is wrong", 60)
        client = Client(self.nats)
        self.assertNotIn("error", json.loads(client.request(f"$JS.API.STREAM.DELETE.{name}", "")))
        client.close()
        wait_until(lambda: not collector.status()["degraded"] and not collector.status()["spooled_bytes"], "it makes a log", 60)
        self.assertEqual(len(self.said(collector, "is no log", 0)), 1)

    def test_a_log_that_keeps_less_than_it_might(self):
        """Each is warned of once, however many links a collector has, and however often it opens them again."""
        log = self.log + "less"
        name = log.rpartition("/")[2]
        self.stream(name, [f"{name}.log.>", f"{name}.settings"])
        self.stream(f"KV_{name}", [f"$KV.{name}.>"], max_msgs_per_subject=1, max_age=3600 * 10**9, duplicate_window=120 * 10**9,
                    allow_rollup_hdrs=True, deny_delete=True, discard="new")
        collector = self.collector(log + "?replicas=3")
        warnings = f"the stream {name} is kept by 1 of 3", f"the stream KV_{name} is kept by 1 of 3", f"the bucket KV_{name} forgets names"
        for warning in warnings:
            wait_until(lambda w=warning: self.said(collector, w, 0), warning)
        seen = len(self.said(collector, "nats: connected", 0))
        self.nats.stop()
        wait_until(lambda: collector.status()["degraded"], "the log is away", 60)
        self.nats.start()
        self.nats.wait_ready()
        wait_until(lambda: len(self.said(collector, "nats: connected", 0)) > seen, "the log is back", 60)
        for warning in warnings:
            self.assertEqual(len(self.said(collector, warning, 0)), 1, warning)
        send(collector, "ROBO1", [1])

    def test_a_log_in_memory(self):
        log = self.log + "memory"
        name = log.rpartition("/")[2]
        self.stream(name, [f"{name}.log.>", f"{name}.settings"], storage="memory")
        collector, writer = self.collector(log), Writer(log, self.stores.url("sqlite"))
        self.addCleanup(writer.stop)
        for program in collector, writer:
            wait_until(lambda p=program: self.said(p, f"the stream {name} is kept in memory", 0), "it warns")
            self.assertEqual(len(self.said(program, "is kept in memory", 0)), 1)

    def test_a_server_that_takes_short_messages_alone(self):
        short = Nats(more="max_payload: 64KB\n")
        self.addCleanup(short.close)
        collector = self.collector(short.url)
        wait_until(lambda: self.said(collector, "the server takes messages of at most 65536 bytes", 0), "it warns")
        send(collector, "ROBO1", [1], "x" * 4096)
        self.assertFalse(collector.status()["degraded"])

    def test_a_log_that_goes_while_the_store_stands_still(self):
        """Who waits for its store says so of the log, too."""
        postgres, process = self.stores.postgres, self.nats.processes[0]
        collector, writer = self.collector(), self.writer(self.stores.url("postgresql"), *LISTEN)
        numbers = iter(range(100))
        self.addCleanup(process.send_signal, signal.SIGCONT)
        self.addCleanup(postgres.freeze, False)
        send(collector, "ROBO1", [next(numbers)])
        wait_until(lambda: column(writer, "ROBO1") == [0], "the value")

        def measure():
            before = len(writer.log)
            postgres.freeze(True)
            send(collector, "ROBO1", [next(numbers)])
            wait_until(lambda: self.said(writer, "can't store, trying again", before), "the writer says it of the store", 60)
            begun = time.monotonic()
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: self.said(writer, "can't take from the log", before), "the writer says it of the log", 60)
            took = time.monotonic() - begun
            self.assertTrue(writer.status()["log"]["degraded"])
            process.send_signal(signal.SIGCONT)
            postgres.freeze(False)
            wait_until(lambda: self.said(writer, "the log works again after", before), "the writer says that it is back", 60)
            return took
        at_best(measure, SAID_WITHIN)
        wait_until(lambda: column(writer, "ROBO1") == list(range(next(numbers))), "what came meanwhile")

    def test_a_store_that_is_away_when_a_writer_starts(self):
        """The log keeps what comes, so the writer waits for its store."""
        for kind in self.stores.kinds[1:]:
            with self.subTest(kind):
                database, server = self.stores.url(kind), getattr(self.stores, "postgres" if kind == "postgresql" else kind)
                log = f"{self.log}{kind}"
                collector = self.collector(log)
                server.stop()
                try:
                    writer = Writer(log, database, *LISTEN)
                    self.addCleanup(writer.stop)
                    send(collector, "ROBO1", range(3))
                    wait_until(lambda w=writer: self.said(w, "can't store, trying again", 0), "the writer says it", 60)
                    self.assertEqual(writer.request("GET", "/health")[0], 503)
                finally:
                    server.start()
                wait_until(lambda w=writer: column(w, "ROBO1") == [0, 1, 2], "what came meanwhile", 60)
                wait_until(lambda w=writer: self.said(w, "the store works again after", 0), "the writer says that it is there", 60)
                self.assertEqual(len(self.said(writer, "can't store", 0)), 1)
                self.assertEqual(writer.stop(), 0)

    def test_a_store_that_turns_out_to_be_too_new(self):
        """It was away when the writer started: that it is there and takes nothing is said as well, until somebody changes that."""
        postgres, database = self.stores.postgres, self.stores.url("postgresql")
        self.writer(database).close()  # makes the tables
        collector = self.collector()
        postgres.query("UPDATE tether.schema_version SET version = version + 1000")
        postgres.stop()
        try:
            writer = self.writer(database, *LISTEN)
            send(collector, "ROBO1", [1])
            wait_until(lambda: self.said(writer, "can't store, trying again", 0), "the writer says it", 60)
        finally:
            postgres.start()
        wait_until(lambda: self.said(writer, "made by a newer Tether", 0), "it says what is wrong", 60)
        self.assertIn("made by a newer Tether", writer.status()["reason"])
        postgres.query("UPDATE tether.schema_version SET version = version - 1000")
        wait_until(lambda: column(writer, "ROBO1") == [1], "what came meanwhile", 60)
        self.assertEqual(len(self.said(writer, "made by a newer Tether", 0)), 1)

    def test_a_store_that_turns_out_to_lack_a_right(self):
        """A collector spools meanwhile, and says it."""
        postgres = self.stores.postgres
        self.stores.url("postgresql")  # empty
        postgres.query("DROP ROLE IF EXISTS poor")
        postgres.query("CREATE ROLE poor LOGIN")
        postgres.stop()
        try:
            collector = self.collector(postgres.url.replace("tether@", "poor@"))
        finally:
            postgres.start()
        send(collector, "ROBO1", [1])
        wait_until(lambda: self.said(collector, "trying again", 0), "it says what is wrong", 60)
        self.assertTrue(collector.status()["spooled_bytes"])
        postgres.query("GRANT CREATE ON DATABASE postgres TO poor")
        self.addCleanup(postgres.query, "DROP OWNED BY poor CASCADE")
        wait_until(lambda: not collector.status()["spooled_bytes"], "what waited is stored", 60)
        self.assertEqual(column(collector, "ROBO1"), [1])

    def test_a_store_that_stands_still(self):
        """And one that is gone."""
        postgres, database = self.stores.postgres, self.stores.url("postgresql")
        collector, writer = self.collector(), self.writer(database, *LISTEN)
        send(collector, "ROBO1", range(3))
        wait_until(lambda: column(writer, "ROBO1") == [0, 1, 2], "the values")

        def thaw():
            with contextlib.suppress(OSError):
                postgres.freeze(False)
        self.addCleanup(thaw)

        numbers = iter(range(3, 100))

        def outage(away, back):
            before = len(writer.log)
            away()
            send(collector, "ROBO1", [next(numbers)])
            begun = time.monotonic()
            wait_until(lambda: self.said(writer, "can't store, trying again", before), "the writer says it", 60)
            took = time.monotonic() - begun
            self.assertEqual(writer.request("GET", "/health")[0], 503)
            self.assertTrue(writer.status()["degraded"])
            wait_until(lambda: figures(writer)["tether_telemetry_log_lag_seconds"] > 0, "it lags", 60)
            back()
            wait_until(lambda: self.said(writer, "the store works again after", before), "the writer says that it is back", 60)
            self.assertRegex(self.said(writer, "works again", before)[0], r"after \d+\.\d s; [1-9]\d* messages of the log waited")
            self.assertEqual(len(self.said(writer, "can't store", before)), 1)
            return took
        at_best(lambda: outage(lambda: postgres.freeze(True), lambda: postgres.freeze(False)), SAID_WITHIN)
        at_best(lambda: outage(lambda: postgres.stop(signal.SIGQUIT), postgres.start), SAID_WITHIN)
        wait_until(lambda: column(writer, "ROBO1") == list(range(next(numbers))), "what came meanwhile")


if __name__ == "__main__":
    sys.exit(unittest.main())
