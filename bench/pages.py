"""What pages look up in logs of an hour: plots, any moment, eight runs at once; and what that costs the world."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time
import urllib.parse

from measure import ROOT, Row, Tether, median, progress
from realtime import Controller
from recording import make_hour
from web import browse

sys.path.insert(0, str(ROOT / "tests"))
from support.live_page import Page  # noqa: E402  it begins where the path above ends

HOUR = 3600
SIGNALS = 20
RUNS = 8
HOUR_MS, SEEK_MS, RUNS_MS = 300, 150, 1000
QUICK = ["--set", "web.listen=127.0.0.1:0", "--set", "wires.float-udp.bind=127.0.0.1:0"]


def record(path, seconds=120):
    """A short run of a robot that drives, and of which everything is kept; its steps are long, since they are not measured."""
    with Tether("frc2011", "--pace", "fast", "--duration", seconds, "--record", path, "--set", "timestep=1/500s", settings=QUICK) as tether:
        page = Page(tether.addresses["web"])
        page.command(**{command["name"]: 3 if "left" in command["name"] else 2.2
                        for command in page.model["commands"] if command["name"].endswith("torque")})
        page.close()
        tether.process.wait(600)


class Asker:
    """One page: a connection that stays."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)

    def ask(self, path):
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:200]}")
        return body

    def timed(self, path):
        """Milliseconds."""
        started = time.perf_counter()
        self.ask(path)
        return 1000 * (time.perf_counter() - started)

    def close(self):
        self.connection.close()


def names_of(asker, run):
    """Twenty signals from all over the model, those of bodies that hang on joints too, as a query."""
    names = [signal["name"] for signal in json.loads(asker.ask(f"/api/runs/{run}/model"))["signals"]
             if signal["name"] != "real_time_factor" and not signal["command"]]
    return "&".join("name=" + urllib.parse.quote(name) for name in names[::len(names) // SIGNALS][:SIGNALS])


@contextlib.contextmanager
def program(state):
    """A world beside which logs are looked into; those are in the folder of kept runs."""
    with Tether("frc2011", settings=[*QUICK, "--set", "record.on=false"], XDG_STATE_HOME=str(state)) as tether:
        yield tether.addresses["web"]


def first_look(state, run, names, count):
    """From the first question to a program that has just begun, to the last byte of the answer."""
    times = []
    for _ in range(count):
        with program(state) as address:
            asker = Asker(address)
            times.append(asker.timed(f"/api/runs/{run}/signals?format=binary&points=2000&{names}"))
            asker.close()
    return median(times)


def seek(asker, run, names):
    """Picture, values and twenty plots of half a minute, one question behind the other; ms."""
    at = random.uniform(0, HOUR)
    return sum(asker.timed(f"/api/runs/{run}/{what}") for what in (
        f"frames?at={at:.3f}", f"values?at={at:.3f}",
        f"signals?format=binary&points=2000&from={max(0, at - 15):.3f}&to={at + 15:.3f}&{names}"))


def await_overview(log):
    until = time.monotonic() + 120
    while not pathlib.Path(f"{log}.overview").exists():
        if time.monotonic() > until:
            raise RuntimeError(f"{log} has no overview after two minutes")
        time.sleep(0.1)


def look(state, runs):
    """Of a log that nobody has opened, and later of the same with what was left beside it."""
    log = state / "tether" / "runs" / runs[0]
    with program(state) as address:
        asker = Asker(address)
        names = names_of(asker, runs[0])
        asker.close()
    what = f"an hour × {SIGNALS} signals, {log.stat().st_size / 1e6:.0f} MB"
    progress("pages/hour")
    cold = first_look(state, runs[0], names, 1)
    rows = [Row("pages/hour-unknown", f"{what}: a log that no program has looked into", cold, "ms", less=True)]
    with program(state) as address:
        asker = Asker(address)
        for run in runs:
            asker.ask(f"/api/runs/{run}/values?at=1")
        asker.close()
        for run in runs:
            await_overview(log.parent / run)
        asker = Asker(address)
        rows.append(Row("pages/hour-open", f"{what}: while it is open", median([
            asker.timed(f"/api/runs/{runs[0]}/signals?format=binary&points=2000&{names}") for _ in range(20)]), "ms", goal=HOUR_MS, less=True))
        progress("pages/seek")
        seeks = sorted(seek(asker, runs[0], names) for _ in range(100))
        rows.append(Row("pages/seek", f"any moment of it: picture, values and {SIGNALS} plots, slowest of 100", seeks[-1], "ms", goal=SEEK_MS,
                        less=True, note=f"median {median(seeks):.1f} ms"))
        asker.close()
    rows.insert(1, Row("pages/hour", f"{what}: the first question to a program", first_look(state, runs[0], names, 5), "ms", goal=HOUR_MS,
                       less=True, note="median of 5"))
    return rows, names


def compare(state, runs, names):
    """Eight logs of an hour, four signals each, from the first question to the last answer."""
    progress("pages/compare")
    times = []
    for _ in range(3):
        with program(state) as address, concurrent.futures.ThreadPoolExecutor(RUNS) as pool:
            started = time.perf_counter()
            list(pool.map(lambda run: Asker(address).ask(f"/api/runs/{run}/signals?format=binary&points=2000&{names}"), runs))
            times.append(1000 * (time.perf_counter() - started))
    return Row("pages/compare", f"{RUNS} runs of an hour, four signals each: the first questions to a program", median(times), "ms", goal=RUNS_MS,
               less=True, note="median of 3")


def compare_in_page(state):
    """The same as somebody sees it who clicks."""
    progress("pages/compare-page")
    with program(state) as address:
        result = browse(address, "compare")
    return Row("pages/compare-page", f"{RUNS} runs of an hour, four signals each: from the clicks until all is drawn", result["ms"], "ms", goal=RUNS_MS,
               less=True, note=f"median of 5, each in a browser of its own; the first {result['all'][0]:.0f} ms")


# ---- what the world notices ----

class Seeker(threading.Thread):
    """A page that drags the time line of the present run: ten moments a second."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address, self.done, self.seeks = address, threading.Event(), 0

    def run(self):
        page, asker = Page(self.address), Asker(self.address)
        run, names = page.hello["recording"], "name=time&name=command:left_track.torque"
        page.close()
        while not self.done.wait(0.1):
            at = random.uniform(0, 5)
            for what in f"frames?at={at}", f"values?at={at}", f"signals?format=binary&from=0&to={at}&{names}":
                asker.ask(f"/api/runs/{run}/{what}")
            self.seeks += 1
        asker.close()


def tick_jitter(count, seconds):
    controller = Controller()
    controller.start()
    with tempfile.TemporaryDirectory() as state, \
            Tether("frc2011", settings=[*QUICK, "--set", f"wires.float-udp.peer={controller.address}"], XDG_STATE_HOME=state) as tether:
        seekers = [Seeker(tether.addresses["web"]) for _ in range(count)]
        time.sleep(1)
        for seeker in seekers:
            seeker.start()
        time.sleep(1)
        begin = len(controller.times)
        time.sleep(seconds)
        end = len(controller.times)
        for seeker in seekers:
            seeker.done.set()
        for seeker in seekers:
            seeker.join(20)
    controller.stop()
    controller.times = controller.times[begin:end]
    return controller.jitter(skip=0), sum(seeker.seeks for seeker in seekers)


def jitter(rounds=4, seconds=5, count=5):
    """Pairs of runs, with five pages that seek and without, in turn."""
    values, seeks = {0: [], count: []}, 0
    for i in range(rounds):
        for pages_open in (0, count) if i % 2 else (count, 0):
            progress(f"pages/jitter: round {i + 1} of {rounds}, {pages_open} pages")
            times, done = tick_jitter(pages_open, seconds)
            values[pages_open].append((times[len(times) // 2], times[int(0.99 * len(times))]))
            seeks += done
    rows = []
    for at, label in ((0, "50"), (1, "99")):
        without, with_pages = ([1e6 * value[at] for value in values[n]] for n in (0, count))
        noise = max(without) - min(without)
        difference = median(with_pages) - median(without)
        rows.append(Row(f"pages/jitter-{label}", f"send jitter p{label} with {count} pages that seek", median(with_pages), "µs", median(without),
                        less=True, note=f"difference {difference:+.0f} µs; runs without pages differ by {noise:.0f} µs among themselves; "
                                        f"{seeks / rounds / seconds:.0f} seeks/s"))
    return rows


def pages():
    """Logs of an hour, made of two minutes of a robot that drives; about three minutes."""
    with tempfile.TemporaryDirectory() as folder:
        state = pathlib.Path(folder)
        kept = state / "tether" / "runs"
        kept.mkdir(parents=True, mode=0o700)
        progress("pages: a log of an hour")
        record(state / "short.wpilog")
        runs = [f"2026-01-01T00-00-0{i}-frc2011.wpilog" for i in range(RUNS)]
        make_hour(state / "short.wpilog", kept / runs[0])
        for run in runs[1:]:
            shutil.copyfile(kept / runs[0], kept / run)
        rows, names = look(state, runs)
        rows.append(compare(state, runs, "&".join(names.split("&")[:4])))
        rows.append(compare_in_page(state))
    return rows + jitter()
