"""A fleet on one machine: devices, collectors, a log, writers and stores, each on a machine of its own where there are namespaces
(support/network.py), else all on loopback. What ends is started again, as a service manager does it."""
import contextlib
import functools
import json
import os
import pathlib
import re
import tempfile
import threading
import time
import urllib.error

from support import network
from support import clickhouse
from support.ledger import clickhouse_rows, postgres_rows, sqlite_rows
from support.nats import Nats, Writer
from support.process import TETHER  # noqa: F401: sets the state's folder
from support.telemetry import Collector, Postgres, wait_until

DISK = 2048  # MB of each machine that keeps something


class Loopback:
    """Where there are no namespaces: nothing can be cut."""
    inside = staticmethod(lambda name: contextlib.nullcontext())
    address = staticmethod(lambda name: "127.0.0.1")
    close = staticmethod(lambda: None)


class Part:
    """A program that is started again, soon after it ended, unless it is held down. `start()` returns what has `process`."""

    def __init__(self, name, start):
        self.name, self._start = name, start
        self.running = None
        self.held = self.over = False
        self.peak = 0  # MiB of memory, of all its processes one after the other
        self.starts = self.hung = 0
        self.lock = threading.Lock()
        self.log = []  # of those that ended
        self.start()
        self.keeper = threading.Thread(target=self._keep, daemon=True)
        self.keeper.start()

    def start(self):
        self.running = self._start()
        self.starts += 1

    def _keep(self):
        while not self.over:
            time.sleep(0.05)
            with self.lock:
                if self.held or self.over or (self.is_up() and not self._hangs()):
                    continue
                with contextlib.suppress(RuntimeError, AssertionError, OSError):
                    self.start()

    def is_up(self):
        return self.running.process.poll() is None

    def _hangs(self):
        """It is ended then, as a service manager does it with who does not answer."""
        hangs = getattr(self.running, "hangs", None)
        if not hangs or not hangs():
            return False
        self.hung += 1
        self.running.kill()
        return True

    def measure(self):
        with contextlib.suppress(OSError, TypeError):
            text = pathlib.Path(f"/proc/{self.running.process.pid}/status").read_text(encoding="ascii")
            self.peak = max(self.peak, int(re.search(r"VmHWM:\s+(\d+)", text)[1]) / 1024)

    def kill(self):
        """And holds it down."""
        with self.lock:
            self.measure()
            self.held = True
            self.log += getattr(self.running, "log", [])
            if self.is_up():
                self.running.kill()

    def release(self):
        self.held = False

    def close(self):
        self.over = True
        if self.is_up():
            self.running.kill()


class NatsServer:
    """One of them, as a part."""

    def __init__(self, nats, number):
        self.nats, self.number = nats, number
        if not nats.processes[number] or nats.processes[number].poll() is not None:
            nats.start(number)
            nats.wait_ready(number)

        self.next_look = 0

    @property
    def process(self):
        return self.nats.processes[self.number]

    def hangs(self):
        """Whether its monitor does not answer: nats-server 2.9 stands still once its disk was full."""
        if time.monotonic() < self.next_look:
            return False
        self.next_look = time.monotonic() + 1
        try:
            self.nats.about(self.number)  # /healthz goes on to say that all is well
        except urllib.error.HTTPError:  # it is not well, and says so
            return False
        except OSError:
            return self.process.poll() is None
        return False

    def kill(self):
        self.nats.kill(self.number)


class PostgresServer:
    def __init__(self, postgres):
        self.postgres = postgres
        if postgres.process.poll() is not None:
            postgres.start()

    @property
    def process(self):
        return self.postgres.process

    def kill(self):
        self.postgres.kill()


class Shard:
    """One server of ClickHouse, as a part."""

    def __init__(self, server):
        self.server = server
        if server.process.poll() is not None:
            server.start()

    @property
    def process(self):
        return self.server.process

    def kill(self):
        self.server.kill()


class Fleet:
    """Two collectors, a log of `logs` servers, two writers into PostgreSQL, one into SQLite, and, where there is ClickHouse, one into two
    shards of it. `clock`: the shim by which clocks
    jump."""

    def __init__(self, clock, logs=1):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tether-fleet-"))
        os.chmod(self.folder, 0o755)
        self.clock, self.parts, self.disks = clock, {}, {}
        self.cleaning = contextlib.ExitStack()
        self.cleaning.callback(lambda: __import__("shutil").rmtree(self.folder, ignore_errors=True))
        with contextlib.ExitStack() as undo:
            undo.callback(self.cleaning.close)
            self._build(logs)
            undo.pop_all()

    def _build(self, logs):
        self.logs = [f"log{i}" for i in range(logs)]
        self.collectors, self.writers = ["collector0", "collector1"], ["writer0", "writer1", "file-writer"]
        self.shards = ["shard0", "shard1"] if clickhouse.is_installed() else []
        self.writers += ["shard-writer"] if self.shards else []
        names = ["field", *self.logs, *self.collectors, *self.writers, "postgres", *self.shards]
        self.real = network.is_possible()
        self.network = network.Network(names) if self.real else Loopback()
        self.cleaning.callback(self.network.close)
        for name in [*self.collectors, "file-writer", "postgres", *self.logs, *self.shards]:
            self._disk(name)
        self._start_log(logs)
        self._start_postgres()
        self._start_shards()
        self.file = f"{self.folder}/file-writer/telemetry.sqlite"
        for name in self.collectors:
            self._part(name, functools.partial(self._collector, name))
        for name in self.writers:
            store = {"file-writer": f"sqlite:{self.file}", "shard-writer": self.shards_url}.get(name, self.postgres_url)
            self._part(name, functools.partial(self._writer, name, store))

    def _folder(self, name):
        return f"{self.folder}/{'log/' + name[3:] if name in self.logs else name}"

    def _disk(self, name):
        os.makedirs(self._folder(name))
        if self.real:
            self.disks[name] = network.Disk(self._folder(name), DISK)
            self.cleaning.callback(self.disks[name].close)

    def _part(self, name, start):
        self.parts[name] = Part(name, start)
        self.cleaning.callback(self.parts[name].close)

    def _machine(self, name):
        return self.network.address(name), functools.partial(self.network.inside, name)

    def _start_log(self, count):
        self.nats = Nats(count, machines=[self._machine(name) for name in self.logs], folder=f"{self.folder}/log")
        self.log_url = self.nats.url + ("?replicas=3" if count > 1 else "")
        for i, name in enumerate(self.logs):
            self._part(name, functools.partial(NatsServer, self.nats, i))

    def _start_postgres(self):
        postgres = Postgres(machine=self._machine("postgres") if self.real else None, folder=self._folder("postgres"))
        self.postgres = postgres
        self.postgres_url = f"postgresql://tether@{self.network.address('postgres')}/postgres" if self.real else postgres.url
        self._part("postgres", functools.partial(PostgresServer, postgres))

    def _start_shards(self):
        servers = [clickhouse.ClickHouse(self._folder(name), self._machine(name)) for name in self.shards]
        self.servers = dict(zip(self.shards, servers))
        self.shards_url = servers[0].url_with(*servers[1:]) if servers else None
        for name, server in self.servers.items():
            self._part(name, functools.partial(Shard, server))

    def _environment(self, name):
        return {"LD_PRELOAD": self.clock, "CLOCK_SHIM": f"{self.folder}/{name}.clock"}

    def _collector(self, name):
        with self.network.inside(name):
            return Collector(self.log_url, f"telemetry.spool={self._folder(name)}/spool", f"telemetry.listen={self.network.address(name)}:0",
                             "telemetry.allow=[10.77.0.0/24, 127.0.0.0/8]", "telemetry.max_devices=5000", "telemetry.max_connections=2500", **self._environment(name))

    def _writer(self, name, store):
        consumer = {"file-writer": "sqlite", "shard-writer": "clickhouse"}.get(name, "postgresql")
        with self.network.inside(name):
            return Writer(self.log_url, store, "--name", consumer, **self._environment(name))

    # --- what happens to it ---

    def jump(self, name, seconds):
        """The wall clock of a machine is from now on ahead by so many seconds."""
        path = pathlib.Path(f"{self.folder}/{name}.clock")
        path.with_suffix(".new").write_text(f"{seconds}\n", encoding="ascii")
        path.with_suffix(".new").rename(path)

    # --- what it says ---

    def says_trouble(self, name):
        """Whether this collector or writer says that something of what it needs is away."""
        part = self.parts[name]
        if name in self.writers:
            lines = list(part.running.log)
            return sum("trying again" in line for line in lines) > sum("works again" in line for line in lines)
        return self.status(name).get("degraded", False)

    def status(self, name):
        """Of a collector; {} where it does not answer."""
        try:
            with self.network.inside(name):
                return json.loads(self.parts[name].running.request("GET", "/telemetry/status", timeout=2)[1])
        except (OSError, ValueError):
            return {}

    def stream(self):
        """As Nats.stream(), of the servers that answer: each consumer as its leader has it, since the others don't follow all it does."""
        found, led = None, {}
        for i in range(len(self.logs)):
            with contextlib.suppress(OSError):
                state, consumers = self.nats.stream(i=i)
                found = found or state
                led |= {name: consumer for name, consumer in consumers.items() if consumer.get("cluster", {}).get("leader", f"n{i}") == f"n{i}"}
        return found, led

    def lag(self):
        """Messages that the slowest writers have not stored; None: nobody says. Not by NATS's ack_floor, which may stay behind for as
        long as messages come, once a server was killed."""
        state, consumers = self.stream()
        expected = {"sqlite", "postgresql", *(["clickhouse"] if self.shards else [])}
        if not state or not expected <= set(consumers):
            return None
        return max(consumer["num_pending"] + consumer["num_ack_pending"] for consumer in consumers.values())

    def is_whole(self):
        """All are there, collectors say that nothing waits, and writers that all works."""
        up = all(part.is_up() for part in self.parts.values())
        return (up and not any(self.says_trouble(name) for name in self.writers)
                and all(self.status(name).get("degraded") is False for name in self.collectors))

    def wait_stored(self, most=0, patience=120):
        """Until collectors have nothing waiting, and no more than `most` messages of the log are still to be stored."""
        wait_until(self.is_whole, "the fleet is whole", patience)

        def is_stored():
            lag = self.lag()
            return lag is not None and lag <= most
        wait_until(is_stored, "what is in the log is stored", patience)

    def rows(self):
        """{store: rows}, as support/ledger.py has them."""
        rows = {"sqlite": sqlite_rows(self.file), "postgresql": postgres_rows(self.postgres.query)}
        return rows | ({"clickhouse": clickhouse_rows(self.servers["shard0"].query)} if self.shards else {})

    def close(self):
        self.cleaning.close()
