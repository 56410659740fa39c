"""Telemetry: values stored durably through TCP against bare inserts, COPY, the bare parser, and InfluxDB; a long table; many devices."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from measure import BUILD, ROOT, TETHER, Row, median, progress, run
from web import browse

os.environ.setdefault("TETHER", TETHER)
os.environ.setdefault("TETHER_SOURCE_DIR", str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))
from support.telemetry import Collector, Postgres, WebSocket  # noqa: E402

SAMPLES = 60_000  # of VALUES values each, in all connections together
VALUES = 10
LIMITS = BUILD / "telemetry_limits"
SUSTAINED_SECONDS = int(os.environ.get("TETHER_BENCH_SECONDS", "60"))


def messages(device, count):
    """Messages of one sample; a microsecond apart, so that the device's clock does not seem to race."""
    out = []
    for i in range(count):
        time_ms = f"{1000 + i // 1000}.{i % 1000:03}"
        values = " ".join(f"v{v}='{i * 0.5 + v}'" for v in range(VALUES))
        out.append(f"<MESSAGE id='{device}' time='{time_ms}'><S time='0'><d {values}/></S></MESSAGE>\n")
    out[-1] = out[-1].replace("<MESSAGE ", "<MESSAGE ack='yes' ")
    return "".join(out).encode()


def send(address, data):
    """Sends everything; returns once the last message, and so everything before it, is stored durably."""
    with socket.create_connection(address, timeout=300) as connection:
        connection.sendall(data)
        answer = b""
        while not answer.endswith(b"\n"):
            piece = connection.recv(4096)
            if not piece:
                raise RuntimeError("the collector closed the connection")
            answer += piece


def stored_per_second(store, connections, around=contextlib.nullcontext):
    """With `around` called with the collector, and its context kept, meanwhile."""
    data = [messages(f"D{i}", SAMPLES // connections) for i in range(connections)]
    with Collector(store) as collector, around(collector):
        threads = [threading.Thread(target=send, args=(collector.address, part)) for part in data]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - start
        stored = collector.status()["stored_values"]
        if stored != SAMPLES // connections * connections * VALUES:
            raise RuntimeError(f"stored {stored} values")
    return stored / took


def limit(*arguments):
    return float(run(LIMITS, *arguments, timeout=300))


def bytes_of(path):
    return sum(file.stat().st_size for file in pathlib.Path(path).parent.glob(pathlib.Path(path).name + "*"))


def sqlite_rows(folder):
    file = f"{folder}/messages.xml"
    pathlib.Path(file).write_bytes(messages("D", SAMPLES))
    results = {1: [], 10: [], 100: []}
    bare, together, parser = [], [], []
    size = 0
    for turn in range(3):
        progress(f"telemetry: round {turn + 1} of 3")
        bare.append(limit("sqlite", f"{folder}/bare{turn}", SAMPLES, VALUES))
        together.append(limit("rows", f"{folder}/rows{turn}", SAMPLES, VALUES))
        parser.append(limit("expat", file))
        for connections, rates in results.items():
            path = f"{folder}/t{turn}-{connections}"
            rates.append(stored_per_second(f"sqlite:{path}", connections))
            size = bytes_of(path)
    rows = [Row(f"telemetry/tcp-{n}", f"stored durably through TCP, {n} connections, against bare inserts", median(rates),
                "values/s", median(bare), median(rates) / median(bare), 0.7) for n, rates in results.items()]
    rows.append(Row("telemetry/tcp-rows", f"the same, 10 connections, against bare inserts of {VALUES} rows each",
                    median(results[10]), "values/s", median(together), median(results[10]) / median(together)))
    rows.append(Row("telemetry/expat", "stored durably through TCP against expat alone", median(results[1]), "values/s",
                    median(parser), median(results[1]) / median(parser)))
    rows.append(Row("telemetry/bytes", "SQLite, of a value", size / (SAMPLES * VALUES), "bytes"))
    return rows, median(results[10])


def column_rows():
    """Packed columns: values a second on one core, and bytes a value with the moments; of signals that are made up."""
    progress("telemetry: columns")
    figures = json.loads(run(BUILD / "column_speed", timeout=300))
    goals = {"decimals": 4, "counters": 1.5}
    rows = []
    for kind, figure in figures.items():
        rows += [Row(f"telemetry/pack-{kind}", f"12 signals of {kind} packed by one core", figure["pack"], "values/s", goal=5e6),
                 Row(f"telemetry/unpack-{kind}", "unpacked", figure["unpack"], "values/s", goal=50e6),
                 Row(f"telemetry/packed-{kind}", "of a value", figure["bytes"], "bytes", goal=goals.get(kind), less=True)]
    return rows


def sealing_rows(folder):
    """Days that are over made into packed columns, on one core; and what that costs those who write and the disk."""
    progress("telemetry: sealing")
    rows = []
    for devices, figure in json.loads(run(BUILD / "seal_speed", folder, timeout=300)).items():
        rows += [Row(f"telemetry/seal-{devices}", f"SQLite, sealed by one core, of {devices} devices in turn", figure["seal"], "values/s",
                     goal=2e6),
                 Row(f"telemetry/unseal-{devices}", "unsealed", figure["unseal"], "values/s"),
                 Row(f"telemetry/sealed-write-{devices}", "written beside what is sealed, against beside rows", figure["write_sealed"],
                     "values/s", figure["write"], figure["write_sealed"] / figure["write"], 0.9),
                 Row(f"telemetry/sealed-bytes-{devices}", "SQLite, sealed, of a value in the file", figure["bytes"], "bytes", goal=4,
                     less=True)]
    return rows


def postgres_rows():
    postgres = Postgres()
    try:
        ours, bare = [], []
        for turn in range(3):
            progress(f"telemetry: PostgreSQL, round {turn + 1} of 3")
            bare.append(limit("copy", postgres.url, SAMPLES, VALUES))
            postgres.drop()
            ours.append(stored_per_second(postgres.url, 1))
        size = int(postgres.query("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
                                  " AND relnamespace = 'tether'::regnamespace")[0][0])
        return [Row("telemetry/postgresql", "stored durably in PostgreSQL, against bare COPY", median(ours), "values/s",
                    median(bare), median(ours) / median(bare), 0.7),
                Row("telemetry/postgresql-bytes", "PostgreSQL, of a value", size / (SAMPLES * VALUES), "bytes"),
                postgres_buckets_row(postgres)]
    finally:
        postgres.close()


def postgres_buckets_row(postgres):
    """An hour of 12 signals at 10 Hz, whose buckets are made by one call after the other, as whoever tends does it."""
    postgres.query(
        "INSERT INTO tether.attribute (id, identifier) SELECT -i, 'B.d.a' || i FROM generate_series(1, 12) i;"
        "INSERT INTO tether.boot (device, epoch, anchor, offset_low, offset_high, key) VALUES (-1, 0, 1600000000000000,"
        " 1600000000000000, 1600000000000000, 0);"
        "INSERT INTO tether.value SELECT -1, 0, t * 100000::bigint, -a, '2020-09-13', timestamptz '2020-09-13 12:26:40Z'"
        " + t * interval '0.1 seconds', sin(t * a), NULL FROM generate_series(0, 35999) t, generate_series(1, 12) a;"
        "DELETE FROM tether.marked_hour;"
        "INSERT INTO tether.marked_hour SELECT DISTINCT -1, date_bin('1 hour', time, timestamptz '0001-01-01 00:00:00Z'), 0"
        " FROM tether.value WHERE device = -1")
    start, steps = time.monotonic(), 0
    while postgres.query("SELECT made FROM tether.make_buckets('4 minutes')") == [["t"]]:
        steps += 1
    took = time.monotonic() - start
    made = int(postgres.query("SELECT sum(count) FROM tether.day_bucket WHERE device = -1")[0][0])
    if made != 36000 * 12:
        raise RuntimeError(f"buckets of {made} values")
    return Row("telemetry/postgresql-buckets", f"buckets made of an hour of 12 signals at 10 Hz, in {steps} calls", made / took, "values/s")


def influx_lines():
    for first in range(0, SAMPLES, 5000):
        yield "\n".join(
            "S,device=D " + ",".join(f"v{v}={i * 0.5 + v}" for v in range(VALUES)) + f" {1700000000000000 + i}"
            for i in range(first, min(first + 5000, SAMPLES))).encode()


def influx_rows(ours):
    """The same values through InfluxDB 1.6, 5,000 points a batch, where Debian's package is installed."""
    program = shutil.which("influxd")
    if not program:
        return [Row("telemetry/influxdb", "InfluxDB is not installed (apt install influxdb)", ours, "values/s")]
    with tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
            port, rpc = one.getsockname()[1], two.getsockname()[1]
        pathlib.Path(f"{folder}/c").write_text(
            f'reporting-disabled = true\nbind-address = "127.0.0.1:{rpc}"\n[meta]\n dir = "{folder}/meta"\n[data]\n'
            f' dir = "{folder}/data"\n wal-dir = "{folder}/wal"\n query-log-enabled = false\n[http]\n'
            f' bind-address = "127.0.0.1:{port}"\n log-enabled = false\n', encoding="utf-8")
        process = subprocess.Popen([program, "-config", f"{folder}/c"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"{url}/query?q=CREATE+DATABASE+t", data=b"").read()
                    break
                except OSError:
                    time.sleep(0.1)
            batches = list(influx_lines())
            start = time.monotonic()
            for batch in batches:
                urllib.request.urlopen(f"{url}/write?db=t&precision=u", data=batch).read()
            rate = SAMPLES * VALUES / (time.monotonic() - start)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        size = sum(file.stat().st_size for part in ("data", "wal") for file in pathlib.Path(folder, part).rglob("*")
                   if file.is_file())
    return [Row("telemetry/influxdb", "stored durably through TCP, 10 connections, against InfluxDB", ours, "values/s", rate,
                ours / rate, note=f"InfluxDB took {size / (SAMPLES * VALUES):.1f} bytes a value, log and data")]


@contextlib.contextmanager
def crowd(collector):
    """Two hundred that say nothing, a live reader that never reads, and five that read a little now and then."""
    idle = [collector.connect() for _ in range(200)]
    deaf = WebSocket(collector.web, "/telemetry/live", receive_buffer=4096)
    slow = [WebSocket(collector.web, "/telemetry/live", receive_buffer=4096) for _ in range(5)]
    over = threading.Event()

    def read_slowly():
        while not over.wait(0.05):
            for reader in slow:
                reader.socket.recv(1000)
    thread = threading.Thread(target=read_slowly, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(10)
        for connection in idle + [deaf.socket] + [reader.socket for reader in slow]:
            connection.close()


def crowd_rows(folder):
    alone, crowded = [], []
    for turn in range(3):
        progress(f"telemetry: in a crowd, round {turn + 1} of 3")
        alone.append(stored_per_second(f"sqlite:{folder}/alone{turn}", 10))
        crowded.append(stored_per_second(f"sqlite:{folder}/crowd{turn}", 10, crowd))
    return [Row("telemetry/crowd", "with 200 idle connections, 5 slow live readers and 1 that never reads, against alone",
                median(crowded), "values/s", median(alone), median(crowded) / median(alone))]


def peak_memory(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s*(\d+)", text)[1]) / 1024


def table_rows(folder):
    """A million records as CSV."""
    count = 1_000_000
    url = f"sqlite:{folder}/table"
    progress("telemetry: a million records")
    with Collector(url) as collector:
        for first in range(0, count, 100_000):
            data = "".join(
                f"<MESSAGE ack='yes' id='T' time='{2000 + start / 1000}'>" + "".join(
                    f"<S time='{1000 + i / 1000:.3f}'><d n='{i}'/></S>" for i in range(start, start + 1000)) + "</MESSAGE>\n"
                for start in range(first, first + 100_000, 1000)).encode()
            with socket.create_connection(collector.address) as connection:
                connection.sendall(data)
                answers = 0
                while answers < 100:
                    answers += connection.recv(65536).count(b"\n")
    with Collector(url) as collector:
        start = time.monotonic()
        lines = 0
        with urllib.request.urlopen(collector.web + "/telemetry.csv") as answer:
            while piece := answer.read(1 << 16):
                lines += piece.count(b"\n")
        took = time.monotonic() - start
        if lines != count + 1:
            raise RuntimeError(f"{lines} lines instead of {count + 1}")
        return [Row("telemetry/csv", "a table of a million records as CSV", count / took, "records/s"),
                Row("telemetry/csv-memory", "peak memory of the collector meanwhile", peak_memory(collector.process), "MiB",
                    goal=64, less=True)]


def wide_rows(folder):
    """Ten tables at once of a device that sends 9,900 values a minute for two hours; the program makes eight at a time."""
    progress("telemetry: tables of 9,900 columns")
    moments, together = 120, 4
    with Collector(f"sqlite:{folder}/wide") as collector, concurrent.futures.ThreadPoolExecutor(10) as pool:
        for first in range(0, moments, together):
            sets = "".join(
                f"<S time='{-60000 * (moments - i)}'>" + "".join(
                    f"<d{k} " + " ".join(f"a{a}='{(i + a) * k % 97 / 10}'" for a in range(990)) + "/>" for k in range(10)) + "</S>"
                for i in range(first, first + together))
            data = f"<MESSAGE id='W' time='{time.monotonic() * 1000:.3f}'>{sets}</MESSAGE>".encode()
            urllib.request.urlopen(f"{collector.web}/telemetry", data=data).read()

        def ask(query):
            try:
                with urllib.request.urlopen(f"{collector.web}/telemetry.csv?{query}") as answer:
                    while answer.read(1 << 16):
                        pass
                return 200
            except urllib.error.HTTPError as error:
                return error.code
        for query in "limit=50", "points=20", "bucket=hour", "bucket=minute&limit=4":
            if list(pool.map(ask, [query] * 10)).count(200) < 8:
                raise RuntimeError(f"{query} was not answered")
        return [Row("telemetry/wide-memory", "peak memory of the collector while ten tables of 9,900 columns are asked for at once",
                    peak_memory(collector.process), "MiB", goal=100, less=True)]


def side_rows(folder):
    """Eight tables at once of a thousand devices that are sealed; they take turns, and who waited too long asks again."""
    progress("telemetry: eight tables of 1,000 devices")
    file = f"{folder}/side"
    records = int(run(BUILD / "telemetry_year", file, 0, 1000, timeout=600)) // 100
    with Collector(f"sqlite:{file}") as collector, concurrent.futures.ThreadPoolExecutor(8) as pool:
        def lines(_):
            while True:
                try:
                    with urllib.request.urlopen(f"{collector.web}/telemetry.csv?limit={records}") as answer:
                        return sum(piece.count(b"\n") for piece in iter(lambda: answer.read(1 << 16), b""))
                except urllib.error.HTTPError as error:
                    if error.code != 503:
                        raise
        counts = list(pool.map(lines, range(8)))
        if counts != [records + 1] * 8:
            raise RuntimeError(f"{counts} lines")
        return [Row("telemetry/side-memory", "peak memory of the collector while eight tables of 1,000 sealed devices are asked for at once",
                    peak_memory(collector.process), "MiB", goal=100, less=True)]


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sustained_rows(folder):
    """A hundred devices, 100 Hz, ten attributes each."""
    progress(f"telemetry: 100 devices for {SUSTAINED_SECONDS} s")
    with Collector(f"sqlite:{folder}/sustained") as collector:
        connections = [collector.connect() for _ in range(100)]
        values = " ".join(f"v{v}='%.1f'" for v in range(VALUES))
        start, before = time.monotonic(), cpu_seconds(collector.process)
        sent, late = 0, 0.0
        for tick in range(SUSTAINED_SECONDS * 100):
            due = start + tick / 100
            now = time.monotonic()
            late = max(late, now - due)
            if now < due:
                time.sleep(due - now)
            body = f"<S time='0'><d {values % tuple(tick + v for v in range(VALUES))}/></S></MESSAGE>\n"
            for index, connection in enumerate(connections):
                connection.sendall(f"<MESSAGE id='D{index}' time='{1000 + tick * 10}'>{body}".encode())
                sent += VALUES
        ended = time.monotonic()
        while collector.status()["stored_values"] < sent:
            if time.monotonic() - ended > 30:
                raise RuntimeError("values were lost")
            time.sleep(0.01)
        lag = time.monotonic() - ended
        cpu = (cpu_seconds(collector.process) - before) / (ended - start)
        for connection in connections:
            connection.close()
        return [Row("telemetry/sustained", "100 devices × 100 Hz × 10 attributes: CPU of the collector", cpu * 100, "% of a core",
                    note=f"nothing lost; sender at most {late * 1000:.0f} ms late"),
                Row("telemetry/sustained-lag", "until the last value was stored", lag * 1000, "ms")]


def milliseconds(collector, query, times=7):
    """What a table takes to its last byte, the median, and how many records it has; `query` is asked once before."""
    took = []
    for turn in range(times + 1):
        start = time.monotonic()
        with urllib.request.urlopen(f"{collector.web}/telemetry.json?{query}") as answer:
            text = answer.read()
        if turn:
            took.append((time.monotonic() - start) * 1000)
    return median(took), len(json.loads(text)["records"])


def year_rows(folder):
    """Twelve signals of one device, once a second, for a year, or, where it isn't to take long, a month."""
    days = 365 if os.environ.get("TETHER_LONG") == "1" else 30
    span = "a year" if days == 365 else "a month"
    progress(f"telemetry: {span} of one device")
    file = f"{folder}/year"
    values, bare, whole, made, end = map(float, run(BUILD / "telemetry_year", file, days, timeout=3600).split())
    start = time.monotonic()
    with Collector(f"sqlite:{file}") as collector:
        with urllib.request.urlopen(f"{collector.web}/telemetry.json?points=2000") as answer:
            answer.read()
        cold = (time.monotonic() - start) * 1000
        points, records = milliseconds(collector, "points=2000")
        if not 1000 < records <= 2000:
            raise RuntimeError(f"{records} points")
        one, _ = milliseconds(collector, "points=2000&fields=Input.signal.s3")
        minute, records = milliseconds(collector, f"from={end - 60e6:.0f}&to={end:.0f}")
        if records != 60:
            raise RuntimeError(f"{records} records in the last minute")
        memory = peak_memory(collector.process)
        page = browse(collector.web, "device")
    return [Row("telemetry/year-points", f"{span} of one device at 1 Hz, {values:.3g} values, as 2,000 points of 12 signals", points, "ms",
                goal=50, less=True),
            Row("telemetry/year-one", "of one signal", one, "ms", goal=50, less=True),
            Row("telemetry/year-minute", "its last minute", minute, "ms", goal=10, less=True),
            Row("telemetry/year-start", "from the start of the program to the last of 2,000 points", cold, "ms", goal=1000, less=True),
            Row("telemetry/year-page", "from the click on its tile until plots of 8 signals, the strip and the newest records are shown", page["ms"], "ms",
                goal=1000, less=True, note=f"the first time {page['all'][0]:.0f} ms"),
            Row("telemetry/year-memory", "peak memory of the collector meanwhile", memory, "MiB", goal=100, less=True),
            Row("telemetry/year-bytes", "of a value, with its buckets", whole, "bytes", note=f"{bare:.2f} without"),
            Row("telemetry/year-buckets", "of which buckets are made in a second of work", made * 1e6, "values/s")]


def telemetry():
    """Telemetry stored, queried, and compared."""
    with tempfile.TemporaryDirectory() as folder:
        rows, ours = sqlite_rows(folder)
        rows += column_rows()
        rows += sealing_rows(folder)
        rows += postgres_rows()
        rows += influx_rows(ours)
        rows += crowd_rows(folder)
        rows += table_rows(folder)
        rows += wide_rows(folder)
        rows += side_rows(folder)
        rows += year_rows(folder)
        return rows + sustained_rows(folder)
