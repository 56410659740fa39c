"""Starts the program under test for end-to-end tests, and waits for conditions instead of seconds."""
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(os.environ.get("TETHER_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
TETHER = os.environ.get("TETHER", str(ROOT / "build" / "tether"))
STATE = tempfile.TemporaryDirectory()  # what tests record and store goes away with them
os.environ["XDG_STATE_HOME"] = STATE.name
PATIENCE = 20  # s that anything may take on a machine that does nothing else
MOST_CROWDED = 5


def stretched(seconds=PATIENCE):
    """How long that is allowed to take now: as many times longer as there are processes that want each core, five times at most."""
    return seconds * min(max(1, os.getloadavg()[0] / os.cpu_count()), MOST_CROWDED)


def wait_for(condition, what="the condition", patience=PATIENCE, pause=0.002):
    """Returns the first true value of `condition()`, looking again and again; `patience` is stretched."""
    start = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - start
        if waited > patience and waited > stretched(patience):
            raise AssertionError(f"{what} did not come about within {waited:.0f} s")
        time.sleep(pause)


def at_best(measure, limit, tries=10):
    """For what is promised in seconds: calls `measure()` until it returns at most `limit`, which is returned. A busy machine is
    slow now and then, the busier the more often; a program that breaks its promise is slow each time."""
    measured = []
    while not measured or measured[-1] > limit:
        if len(measured) >= stretched(tries):
            raise AssertionError(f"{min(measured):.3f} s at best, not {limit} s")
        measured.append(measure())
    return measured[-1]


def seconds(action):
    """How many `action()` takes."""
    start = time.monotonic()
    action()
    return time.monotonic() - start


class Tether:
    """One running `tether COMMAND …`. Standard error is collected in `lines`; `addresses` holds what it said in its
    ready line. Use it in a with statement; the process is gone afterwards."""

    def __init__(self, *arguments, ready=True, program=TETHER, environment=None):
        self.lines = []
        self.addresses = {}
        self.process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if ready:
            wait_for(lambda: self.addresses or self.process.poll() is not None, "the ready line")
            if not self.addresses:
                self.__exit__()
                raise AssertionError("tether ended: " + self.text())

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("ready "):
                self.addresses = dict(word.split("=", 1) for word in line.split()[1:])

    def text(self):
        return "\n".join(self.lines)

    def address(self, name):
        """(host, port) of a socket named in the ready line."""
        host, port = self.addresses[name].rsplit(":", 1)
        return host, int(port)

    def wait_line(self, part, patience=PATIENCE):
        """Waits until a line of standard error holds `part`, and returns it."""
        return wait_for(lambda: next((line for line in list(self.lines) if part in line), None),
                        f"a line with '{part}'", patience)

    def wait_exit(self, patience=PATIENCE):
        wait_for(lambda: self.process.poll() is not None, "its end", patience)
        self.reader.join(5)
        return self.process.returncode

    def stop(self, number=signal.SIGTERM):
        """Ends it in order and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait_exit()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join(5)
        self.process.stderr.close()
