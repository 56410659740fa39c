"""The pages: bytes, time to the first robot, frames, from physics to pixel, and what pages cost the program and its ticks."""
import bisect
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

from measure import PRIORITY, ROOT, Row, Tether, median, progress
from realtime import Controller

SETTINGS = ["--set", "record.on=false", "--set", "web.listen=127.0.0.1:0", "--set", "wires.float-udp.bind=127.0.0.1:0"]
SCENE = ["frc2011"]
SIX = ["frc2011-six"]
LOADING_KB = 450
FIRST_MS = 1000


def page_command(address, what, seconds=0):
    return [*PRIORITY, "node", str(ROOT / "bench/web_page.mjs"), address, what, str(seconds)]


def browse(address, what, seconds=0):
    """What bench/web_page.mjs measures in a real browser."""
    done = subprocess.run(page_command(address, what, seconds), capture_output=True, text=True, timeout=120 + seconds,
                          env={**os.environ, "TETHER_SOURCE_DIR": str(ROOT)})
    if done.returncode != 0:
        raise RuntimeError(f"web_page.mjs {what}: exit status {done.returncode}\n{done.stderr.strip()}{done.stdout.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def first_load():
    progress("web/first-load")
    with running(SCENE) as (_, address):
        result = browse(address, "load")
    return Row("web/first-load", "a first visit until robots are shown, compressed, font included", result["bytes"] / 1000, "kB", goal=LOADING_KB, less=True,
               note=f"{result['files']} files; what is opened later comes later")


@contextlib.contextmanager
def running(scene, *more):
    with tempfile.TemporaryDirectory() as state:
        settings = SETTINGS if scene is SCENE else SETTINGS[:4]
        with Tether(*scene, *more, settings=settings, XDG_STATE_HOME=state) as tether:
            yield tether, tether.addresses["web"]


@contextlib.contextmanager
def pages(address, count, real=1):
    """`count` pages: `real` of them (0 or 1) in a real browser, the others take the stream as a page does."""
    with contextlib.ExitStack() as stack:
        if count and real:
            stay = subprocess.Popen(page_command(address, "stay"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    env={**os.environ, "TETHER_SOURCE_DIR": str(ROOT)})
            stack.callback(stay.wait, 20)
            stack.callback(stay.stdin.close)
            stay.stdout.readline()
        if count > real:
            others = subprocess.Popen([sys.executable, str(ROOT / "bench/web_clients.py"), address, str(count - real)],
                                      stdout=subprocess.PIPE, text=True)
            stack.callback(others.wait)
            stack.callback(others.kill)
            others.stdout.readline()
        yield


def first_robot():
    progress("web/first-robot")
    with running(SCENE) as (_, address):
        result = browse(address, "first")
    return Row("web/first-robot", "from navigation to the first picture with robots", result["ms"], "ms", goal=FIRST_MS, less=True,
               note="software WebGL, median of 5")


def frames(seconds=10):
    rows = []
    with running(SIX) as (_, address):
        for what, label in (("world", "World page"), ("plots", "Signals page")):
            progress(f"web/frames: {label}")
            result = browse(address, what, seconds)
            rows.append(Row(f"web/frames-{what}", f"{label}, six robots, 20 traces at 100 Hz", result["frames"], "frames/s",
                            note=f"99 % of gaps below {result['gap99']:.0f} ms"))
            rows.append(Row(f"web/busy-{what}", f"{label}: its own thread is busy", 100 * result["busy"], "% of a core", less=True))
            if what == "world":
                rate = (len(result["shown"]) - 1) / (result["shown"][-1][1] - result["shown"][0][1]) * 1000
                rows.append(Row("web/pictures", "pictures drawn meanwhile, software WebGL", rate, "pictures/s"))
    return rows


def latency(seconds=8):
    """A controller on the wire tells when each moment left the physics; the page, when it showed it. Both on this machine's clock."""
    progress("web/latency")
    controller = Controller()
    controller.start()
    with running(SCENE, "--set", f"wires.float-udp.peer={controller.address}") as (_, address):
        shown = browse(address, "world", seconds)["shown"]
    controller.stop()
    moments = [moment for moment, _ in controller.times]
    late = []
    for moment, at in shown:
        i = bisect.bisect_left(moments, moment)
        if not 0 < i < len(moments):
            continue
        (a, sent), (b, next_sent) = controller.times[i - 1], controller.times[i]
        late.append(at - 1000 * (sent + (next_sent - sent) * (moment - a) / (b - a)))
    if len(late) < 20:
        raise RuntimeError(f"web/latency: only {len(late)} pictures could be told in time")
    late.sort()
    return Row("web/latency", "from physics to the screen, 1.5 frames of smoothing included", median(late), "ms", less=True,
               note=f"95 % below {late[int(0.95 * len(late))]:.0f} ms, {len(late)} pictures")


def cpu(seconds=5):
    rows = []
    with running(SCENE) as (tether, address):
        for count in (0, 1, 5, 20):
            progress(f"web/cpu-{count}")
            with pages(address, count):
                time.sleep(1)
                before, wall = tether.cpu_seconds(), time.monotonic()
                time.sleep(seconds)
                share = (tether.cpu_seconds() - before) / (time.monotonic() - wall)
            rows.append(Row(f"web/cpu-{count}", f"frc2011 with {count} pages: CPU of the program", 100 * share, "% of a core", less=True))
    return rows


def tick_jitter(count, seconds):
    controller = Controller()
    controller.start()
    with running(SCENE, "--set", f"wires.float-udp.peer={controller.address}") as (tether, address):
        with pages(address, count, real=0):
            begin = len(controller.times)
            time.sleep(seconds)
            end = len(controller.times)
    controller.stop()
    controller.times = controller.times[begin:end]
    return controller.jitter(skip=0)


def jitter(rounds=4, seconds=5, count=5):
    """Pairs of runs, with five pages and without, in turn. The pages only listen: no browser takes the processor from the program."""
    values = {0: [], count: []}
    for i in range(rounds):
        for pages_open in (0, count) if i % 2 else (count, 0):
            progress(f"web/jitter: round {i + 1} of {rounds}, {pages_open} pages")
            times = tick_jitter(pages_open, seconds)
            values[pages_open].append((times[len(times) // 2], times[int(0.99 * len(times))]))
    rows = []
    for at, label in ((0, "50"), (1, "99")):
        without, with_pages = ([1e6 * value[at] for value in values[n]] for n in (0, count))
        noise = max(without) - min(without)
        difference = median(with_pages) - median(without)
        rows.append(Row(f"web/jitter-{label}", f"send jitter p{label} with {count} pages", median(with_pages), "µs", median(without),
                        less=True, note=f"difference {difference:+.0f} µs; runs without pages differ by {noise:.0f} µs among themselves"))
    return rows


def web():
    """The pages in Chromium, drawn by software where there is no graphics card; about two minutes."""
    return [first_load(), first_robot(), *frames(), latency(), *cpu(), *jitter()]
