"""What all benches share: the program under test as a process, interleaved rounds, and rows of the table."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("TETHER_BUILD", ROOT / "build"))
TETHER = str(BUILD / "tether")
# With TETHER_BENCH_FIFO=1 (root only) everything measured runs with real-time priority: what else the machine does then
# hardly shows, and it stands still meanwhile.
PRIORITY = ["chrt", "-f", "10"] if os.environ.get("TETHER_BENCH_FIFO") == "1" else []
STATE = tempfile.TemporaryDirectory()  # no run that is recorded elsewhere leaves its mark among a person's own
os.environ["XDG_STATE_HOME"] = STATE.name
QUIET = ["--set", "record.on=false", "--no-web"]


@dataclasses.dataclass
class Row:
    """One figure against its limit. `ratio` is better the greater it is; `goal` is the least that is good enough."""
    name: str  # "lockstep/spin": the same from run to run, for --compare
    what: str
    ours: float
    unit: str
    limit: float | None = None
    ratio: float | None = None
    goal: float | None = None  # of the ratio, or, without a limit, of ours
    less: bool = False  # ours is better the smaller it is
    note: str = ""

    def met(self):
        if self.goal is None:
            return None
        value = self.ours if self.ratio is None else self.ratio
        return value <= self.goal if self.less and self.ratio is None else value >= self.goal


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def run(*command, timeout=120, **options):
    """Standard output of a command; its standard error only if it fails."""
    done = subprocess.run([*PRIORITY, *map(str, command)], capture_output=True, text=True, timeout=timeout, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def rounds(count, *measurements):
    """Calls each measurement `count` times, taking turns; the first round warms up. Lists of what they returned."""
    results = [[] for _ in measurements]
    for i in range(count + 1):
        for result, measurement in zip(results, measurements):
            value = measurement()
            if i > 0:
                result.append(value)
    return results


median = statistics.median


class Tether:
    """`tether run` with the addresses of its ready line. Leaves no process behind."""

    def __init__(self, *arguments, settings=QUIET, **environment):
        self.started = time.monotonic()
        self.log = tempfile.TemporaryFile("w+")
        read, write = os.pipe()
        self.process = subprocess.Popen([*PRIORITY, TETHER, "run", *map(str, arguments), *settings], stderr=write,
                                        env={**os.environ, **environment})
        os.close(write)
        self.stderr = os.fdopen(read)
        self.addresses = self._await_ready()
        self.start_up = time.monotonic() - self.started
        self.pid = self.process.pid

    def _await_ready(self):
        said = []
        for line in self.stderr:
            if line.startswith("ready"):
                return dict(re.findall(r"(\S+?)=(\S+)", line))
            said.append(line)
        raise RuntimeError("tether did not start:\n" + "".join(said))

    def address(self, wire):
        host, port = self.addresses[wire].rsplit(":", 1)
        return host, int(port)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, which="VmRSS"):
        """MiB; VmHWM is the most it ever had."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{which}:\s+(\d+)", status)[1]) / 1024

    def stop(self):
        """Ends it and returns what it said since it was ready."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        said = self.stderr.read()
        self.stderr.close()
        self.process.wait(20)
        return said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if not self.stderr.closed:
                self.stop()
        finally:
            self.process.kill()
            self.process.wait()


def bench_step(*arguments, seconds=0.3):
    """`tether bench step`: ns a step of ours and of mj_step alone, over the same states."""
    return json.loads(run(TETHER, "bench", "step", "--seconds", seconds, *arguments))
