"""A fleet: values stored durably through collectors, a log and writers, against the slowest bare part of that way; two collectors
and two writers against one of each; from a device to a live reader; bytes a value."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from clickhouse_limit import bare_inserts
from measure import BUILD, ROOT, Row, median, progress, run
from telemetry import LIMITS, SAMPLES, VALUES, bytes_of, limit, messages, send

sys.path.insert(0, str(ROOT / "tests"))
from support import clickhouse  # noqa: E402
from support.nats import Nats, Writer  # noqa: E402
from support.telemetry import Collector, Postgres, WebSocket, wait_until  # noqa: E402

CONNECTIONS = 10
TURNS = 3
LONG = 8  # times as many samples: a store that goes on with them behind what it has taken, and whose last ones wait for more
CORES = len(os.sched_getaffinity(0))
RATE = 100_000  # values a second, for the live reader
LIVE_SECONDS = int(os.environ.get("TETHER_BENCH_SECONDS", "20"))


def share(collectors, data):
    """Sends everything, each connection to the next collector in turn; returns once all is acknowledged."""
    threads = [threading.Thread(target=send, args=(collectors[i % len(collectors)].address, part)) for i, part in enumerate(data)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def writer(url, store):
    """None: a cluster that has just begun knows no leader yet."""
    with contextlib.suppress(RuntimeError):
        return Writer(url, store)


class Chain:
    """A log of `servers`, with what it takes a stream to be in each of its replicas."""

    def __init__(self, folder, servers):
        os.mkdir(folder)
        self.folder, self.servers = folder, servers
        self.nats = Nats(servers, folder=f"{folder}/nats")
        self.streams = 0

    def pass_through(self, store, count=1, samples=SAMPLES):
        """(values a second until they are acknowledged, until they are stored; what the log has: messages, bytes; s of its bare publishing)."""
        self.streams += 1
        stream = f"t{self.streams}"
        url = f"{self.nats.url}/{stream}" + (f"?replicas={self.servers}" if self.servers > 1 else "")
        data = [messages(f"D{i}", samples // CONNECTIONS) for i in range(CONNECTIONS)]
        with contextlib.ExitStack() as stack:
            collectors = [stack.enter_context(Collector(url, f"telemetry.spool={self.folder}/spool{self.streams}-{i}")) for i in range(count)]
            for _ in range(count):
                stack.callback(wait_until(lambda: writer(url, store), "a writer", 60).close)
            start = time.monotonic()
            share(collectors, data)
            acknowledged = time.monotonic() - start
            wait_until(lambda: self.is_stored(stream), "all is stored", 300)
            stored = time.monotonic() - start
        values = samples // CONNECTIONS * CONNECTIONS * VALUES
        bare = run(BUILD / "fleet_limits", self.nats.url, stream, "bare", self.servers).split()
        return values / acknowledged, values / stored, int(bare[1]), values / float(bare[2])

    def bare_together(self, sent, shard, samples):
        """What pass_through() has sent last, by the bare parts, which begin together and share the cores: values a second of the parser,
        of publishing, of inserts."""
        commands = [[LIMITS, "expat", sent], [BUILD / "fleet_limits", self.nats.url, f"t{self.streams}", "bare", self.servers]]
        with contextlib.ExitStack() as stack:
            parts = [stack.enter_context(subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                                          env={**os.environ, "TETHER_LIMITS_WAIT": "1"})) for command in commands]
            for part in parts:
                if part.stdout.readline() != "ready\n":
                    raise RuntimeError(f"{part.args[0]} did not begin")

            def go():
                for part in parts:
                    part.stdin.write("\n")
                    part.stdin.flush()
            inserting = bare_inserts(shard, samples, VALUES, go)
            parsing, publishing = (part.communicate()[0].split() for part in parts)
        return float(parsing[0]), samples * VALUES / float(publishing[2]), inserting

    def is_stored(self, stream):
        for i in range(self.servers):  # one of them leads, and knows
            state, consumers = self.nats.stream(stream, i)
            if state and any(each["ack_floor"]["stream_seq"] == state["last_seq"] for each in consumers.values()):
                return True
        return False

    def close(self):
        self.nats.close()


def chain_rows(name, what, chain, store, bare_store, count=1, samples=SAMPLES, shared=None):
    """`store()`: the URL of an empty one; `bare_store()`: values a second of bare inserts. `shared`: a server of ClickHouse, of whose way all
    bare parts are measured at once, too: they share the cores, and no part of that way takes more of them than another by much."""
    acknowledged, stored, parsing, publishing, inserting, together, size = [], [], [], [], [], [], 0
    sent = pathlib.Path(chain.folder) / "messages.xml"
    sent.write_bytes(messages("D", samples))
    for turn in range(TURNS):
        progress(f"fleet: {name}, round {turn + 1} of {TURNS}")
        parsing.append(limit("expat", sent))
        inserting.append(bare_store())
        one, other, size, bare = chain.pass_through(store(), count, samples)
        acknowledged.append(one)
        stored.append(other)
        publishing.append(bare)
        if shared:
            together.append(chain.bare_together(sent, shared, samples))
    slowest = min(median(parsing), median(publishing), median(inserting))
    values = samples // CONNECTIONS * CONNECTIONS * VALUES
    rows = [Row(f"fleet/{name}", f"{what}: stored, against the slowest of the bare parser, bare publishing and bare inserts", median(stored), "values/s", slowest,
                median(stored) / slowest, 0.7, note=f"all parts on {CORES} cores; bare parser {median(parsing):,.0f}, publishing {median(publishing):,.0f}, inserts {median(inserting):,.0f}"),
            Row(f"fleet/{name}-acknowledged", "acknowledged to the devices, against bare publishing", median(acknowledged), "values/s",
                median(publishing), median(acknowledged) / median(publishing)),
            Row(f"fleet/{name}-stream", "in the stream, of a value", size / values, "bytes")]
    if shared:
        at_once = median([min(each) for each in together])
        parts = [median(each) for each in zip(*together)]
        rows.append(Row(f"fleet/{name}-shared", "the same against the slowest of these bare parts where they begin together", median(stored), "values/s", at_once, median(stored) / at_once, 0.7,
                        note=f"all parts on {CORES} cores; at once bare parser {parts[0]:,.0f}, publishing {parts[1]:,.0f}, inserts {parts[2]:,.0f}"))
    return rows


def pair_row(name, one, two):
    return Row(f"fleet/{name}-two", "two collectors and two writers against one of each", two[0].ours, "values/s", one[0].ours,
               two[0].ours / one[0].ours, note=f"all parts on {CORES} cores")


def store_rows(folder, chain, postgres, shard):
    """Into every kind of store that there is here; `shard`: a server of ClickHouse, or None."""
    files = iter(range(1000))

    def sqlite_url():
        return f"sqlite:{folder}/{chain.servers}-{next(files)}.sqlite"

    def postgres_url():
        postgres.drop()
        return postgres.url

    def shard_url():
        shard.query("DROP DATABASE IF EXISTS tether")
        return shard.url
    servers = "one server" if chain.servers == 1 else f"{chain.servers} servers, {chain.servers} replicas"
    suffix = "" if chain.servers == 1 else f"-{chain.servers}"
    rows = chain_rows(f"sqlite{suffix}", f"device → collector → JetStream ({servers}) → writer → SQLite", chain, sqlite_url,
                      lambda: limit("sqlite", f"{folder}/bare{chain.servers}-{next(files)}", SAMPLES, VALUES))
    what = f"device → collector → JetStream ({servers}) → writer → PostgreSQL"
    edge = []  # of one device: always at the end of the index

    def bare_copy():
        edge.append(limit("copy", postgres.url, SAMPLES, VALUES))
        return limit("copy", postgres.url, SAMPLES, VALUES, CONNECTIONS)
    one = chain_rows(f"postgresql{suffix}", what, chain, postgres_url, bare_copy)
    rows += one
    rows.append(Row(f"fleet/postgresql-edge{suffix}", "the same against a bare COPY of one device's rows, which makes a smaller index",
                    one[0].ours, "values/s", median(edge), one[0].ours / median(edge)))
    if chain.servers == 1:
        two = chain_rows("postgresql", what, chain, postgres_url, bare_copy, 2)
        rows.append(pair_row("postgresql", one, two))
    if shard:
        rows += chain_rows(f"clickhouse{suffix}", f"device → collector → JetStream ({servers}) → writer → ClickHouse", chain, shard_url,
                           lambda: bare_inserts(shard, LONG * SAMPLES, VALUES), samples=LONG * SAMPLES, shared=shard)
    return rows


# --- from a device to a live reader ---

def pour(collector, over):
    """RATE values a second, of 100 devices with ten each."""
    connections = [collector.connect() for _ in range(100)]
    values = " ".join(f"v{v}='{v}.5'" for v in range(VALUES))
    per_second = RATE // VALUES // len(connections)
    start, tick = time.monotonic(), 0
    while not over.is_set():
        tick += 1
        time.sleep(max(0, start + tick / per_second - time.monotonic()))
        for i, connection in enumerate(connections):
            connection.sendall(f"<MESSAGE id='D{i}' time='{1000 + tick * 1000 / per_second:.1f}'><S time='0'><d {values}/></S></MESSAGE>\n".encode())
    for connection in connections:
        connection.close()
    return tick * len(connections) * VALUES / (time.monotonic() - start)


def pour_beside(address):
    """The same in a process of its own, which ends with its standard input; prints values a second."""
    program = f"""
import sys, threading
sys.path[:0] = [{str(ROOT / "bench")!r}, {str(ROOT / "tests")!r}]
import fleet, socket
class At:
    @staticmethod
    def connect(): return socket.create_connection({address!r}, timeout=20)
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
print(fleet.pour(At, over))
"""
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def probe(collector, reader):
    """ms from a device's sending to the reader, one message after the other, 50 a second."""
    took = []
    with collector.connect() as device:
        end = time.monotonic() + LIVE_SECONDS
        number = 0
        while time.monotonic() < end:
            number += 1
            start = time.monotonic()
            device.sendall(f"<MESSAGE id='PROBE' time='{1000 + number * 20}'><S time='0'><d n='{number}'/></S></MESSAGE>\n".encode())
            while f'"S.d.n":{number}' not in reader.receive():
                pass
            took.append((time.monotonic() - start) * 1000)
            time.sleep(max(0, start + 0.02 - time.monotonic()))
    return sorted(took)


def live_rows(folder, chain):
    """The reader sits at the collector; the values go on into log and store."""
    progress(f"fleet: live, {LIVE_SECONDS} s")
    url = f"{chain.nats.url}/live"
    with contextlib.ExitStack() as stack:
        collector = stack.enter_context(Collector(url, f"telemetry.spool={folder}/spool-live"))
        stack.callback(Writer(url, f"sqlite:{folder}/live.sqlite").close)
        reader = WebSocket(collector.web, "/telemetry/live?device=PROBE")
        stack.callback(reader.close)
        sender = pour_beside(collector.address)
        time.sleep(2)
        took = probe(collector, reader)
        rate = float(sender.communicate()[0])
    return [Row("fleet/live", f"device → live reader at {rate:,.0f} values/s, all stored in SQLite meanwhile: 99 of 100 within",
                took[len(took) * 99 // 100], "ms", goal=50, less=True, note=f"median {median(took):.1f} ms, all parts on {CORES} cores")]


def shard_size(shard):
    size = int(shard.query("SELECT sum(bytes) FROM system.parts WHERE active AND database = 'tether' AND table = 'stored_value'"))
    return Row("fleet/clickhouse-bytes", "ClickHouse, of a value", size / (LONG * SAMPLES * VALUES), "bytes")


def sizes(postgres, folder):
    """What a value takes in the stores."""
    newest = max(pathlib.Path(folder).glob("1-*.sqlite"), key=lambda path: path.stat().st_mtime)
    size = int(postgres.query("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
                              " AND relnamespace = 'tether'::regnamespace")[0][0])
    return [Row("fleet/sqlite-bytes", "SQLite, of a value", bytes_of(newest) / (SAMPLES * VALUES), "bytes"),
            Row("fleet/postgresql-bytes", "PostgreSQL, of a value", size / (SAMPLES * VALUES), "bytes")]


def fleet():
    """Collectors, a log, writers and stores."""
    if not shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin"):
        return [Row("fleet", "nats-server is not installed", 0, "values/s")]
    rows = []
    postgres = Postgres()
    shard = clickhouse.ClickHouse() if clickhouse.is_installed() else None
    try:
        with tempfile.TemporaryDirectory() as folder:
            for servers in 1, 3:
                chain = Chain(f"{folder}/{servers}", servers)
                try:
                    rows += store_rows(folder, chain, postgres, shard)
                    if servers == 1:
                        rows += sizes(postgres, folder) + ([shard_size(shard)] if shard else []) + live_rows(folder, chain)
                finally:
                    chain.close()
    finally:
        postgres.close()
        if shard:
            shard.close()
    return rows
