#!/usr/bin/env python3
"""A simulated day of a running world, or hours of the clock, with clients of all kinds coming and going, good and bad
ones; memory and descriptors have to stay where they are."""
import argparse
import os
import pathlib
import random
import socket
import struct
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("TETHER_SOURCE_DIR", str(HERE.parents[1]))
os.environ.setdefault("TETHER", str(HERE.parents[1] / "build" / "tether"))
from support.telemetry import message
from support.live_page import Page
from support.process import Tether, wait_for

SLOPE_LIMIT = 1.0  # % of memory a simulated hour, over the second half of the day
PATHS = ("/", "/api/runs", "/api/trials", "/telemetry.json?limit=10", "/telemetry/devices", "/nothing")
KINDS = ("driver", "liar", "page", "sleeper", "sender", "babbler", "halfway", "reader")


class Visitors(threading.Thread):
    """Seeded clients, one after another, a few at a time."""

    def __init__(self, tether, seed):
        super().__init__(daemon=True)
        self.tether = tether
        self.dice = random.Random(seed)
        self.leave = threading.Event()
        self.counts = dict.fromkeys(KINDS, 0)
        self.open = []  # connections that are kept for a while

    def tcp(self, name):
        address = self.tether.addresses[name].removeprefix("http://").rsplit(":", 1)
        connection = socket.create_connection((address[0], int(address[1])), timeout=20)
        self.open.append(connection)
        return connection

    def driver(self):
        """Drives for a moment; a quarter of its datagrams come twice."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.connect(self.tether.address("float-udp"))
            for stamp in range(self.dice.randrange(1, 200)):
                data = struct.pack("<5f", stamp, *(self.dice.uniform(-1, 1) for _ in range(3)), 5)
                for _ in range(1 if self.dice.random() < 0.75 else 2):
                    link.send(data)

    def liar(self):
        """Bytes that mean nothing, and numbers that are none."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.connect(self.tether.address("float-udp"))
            for _ in range(50):
                link.send(self.dice.randbytes(self.dice.randrange(1, 100)))
                link.send(struct.pack("<5f", 1, float("nan"), 0, 0, 0))

    def page(self):
        """A page that looks at everything, then is closed or torn away."""
        page = Page(self.tether.addresses["web"])
        self.open.append(page.socket)
        page.send(type="subscribe", number=1, signals=list(range(20)), rate=50)
        page.send(type="contacts", on=True)
        page.send(type="monitor", wire=0)
        for _ in range(self.dice.randrange(1, 30)):
            page.receive()

    def sleeper(self):
        """A page that asks for much and never reads again."""
        page = Page(self.tether.addresses["web"])
        self.open.append(page.socket)
        page.send(type="subscribe", number=1, signals=list(range(100)), rate=50)

    def sender(self):
        """A device with good and bad telemetry."""
        connection = self.tcp("robocar-xml")
        when = int(time.time() * 1000)
        device = f"D{self.dice.randrange(20)}"
        for n in range(self.dice.randrange(1, 40)):
            text = message(device, when + n, [("Input", 0, {"arm": {"angle": self.dice.random(), "text": "x" * 50}})], True)
            connection.sendall(text.encode() + (b"<MESSAGE id='x" if self.dice.random() < 0.1 else b""))

    def babbler(self):
        """Bytes where a protocol is expected."""
        connection = self.tcp(self.dice.choice(["robocar-xml", "web"]))
        connection.sendall(self.dice.randbytes(self.dice.randrange(1, 4000)))

    def halfway(self):
        """The beginning of a request, and no more."""
        connection = self.tcp(self.dice.choice(["robocar-xml", "web"]))
        connection.sendall(b"GET /telemetry HTTP/1.1\r\nHost: 127" if self.dice.random() < 0.5 else b"<MESSAGE id='h")

    def reader(self):
        """Asks for what is stored."""
        self.read(self.dice.choice(PATHS))

    def read(self, path):
        connection = self.tcp("web")
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.tether.addresses['web'][7:]}\r\n\r\n".encode())
        connection.recv(4096)

    def part(self):
        """One of those that are open leaves, in order or not."""
        connection = self.open.pop(self.dice.randrange(len(self.open)))
        if self.dice.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def rehearse(self):
        """Each once, so that what is opened at first need and kept is open; returns when all are gone."""
        for kind in KINDS:
            getattr(self, kind)()
        for path in PATHS:
            self.read(path)
        while self.open:
            self.part()
        time.sleep(8)  # longer than any deadline of the program

    def run(self):
        while not self.leave.is_set():
            kind = self.dice.choice(KINDS)
            try:
                getattr(self, kind)()
                self.counts[kind] += 1
            except (OSError, EOFError, AssertionError):
                if self.tether.process.poll() is not None:
                    return
            while len(self.open) > 12:
                self.part()
            time.sleep(0.05)
        while self.open:
            self.part()


def sample(tether):
    """(memory in KiB, descriptors, threads) of the program."""
    folder = pathlib.Path(f"/proc/{tether.process.pid}")
    fields = dict(line.split(":", 1) for line in (folder / "status").read_text(encoding="utf-8").splitlines())
    return int(fields["VmRSS"].split()[0]), len(os.listdir(folder / "fd")), int(fields["Threads"])


def slope(points):
    """Least squares: units of y a unit of x."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


def soak(hours, seed, real_time):
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["run", HERE / "soak.yaml", "--record", f"{folder}/run.wpilog"]
        for setting in (f"telemetry.store=sqlite:{folder}/telemetry.sqlite", f"duration={1.2 * hours * 3600}",
                        f"pace={'realtime' if real_time else 'fast'}"):
            arguments += ["--set", setting]
        started = time.monotonic()
        with Tether(*arguments) as tether:
            watch = Page(tether.addresses["web"])
            visitors = Visitors(tether, seed)
            visitors.rehearse()
            alone = sample(tether)
            visitors.start()
            points, next_at = [], hours / 24
            try:
                while not points or points[-1][0] < hours:
                    status = watch.until(lambda m: isinstance(m, dict) and m["type"] == "status", 60)
                    if status["time"] / 3600 < next_at:
                        continue
                    points.append((status["time"] / 3600, *sample(tether)))
                    print("{:8.3f} h simulated  {:8d} KiB  {:4d} descriptors  {:3d} threads".format(*points[-1]), flush=True)
                    next_at = min(hours, points[-1][0] + hours / 96)
                visitors.leave.set()
                visitors.join(60)
                watch.send(type="control", action="pause", robot=-1)
                wait_for(lambda: sample(tether)[1] <= alone[1], "the descriptors of before", 30)
            finally:
                visitors.leave.set()
            left = sample(tether)
            watch.close()
            took = time.monotonic() - started
            if tether.stop() != 0:
                raise AssertionError(tether.text())
    half = [(x, rss) for x, rss, *_ in points if x >= hours / 2]
    percent = 100 * slope(half) / (sum(rss for _, rss in half) / len(half))
    print(f"{points[-1][0]:.1f} h simulated in {took:.0f} s; seed {seed}; visitors: "
          + ", ".join(f"{count} {kind}s" for kind, count in visitors.counts.items()))
    print(f"memory over the second half: {percent:+.3f} % a simulated hour, {percent * points[-1][0] * 3600 / took:+.1f} % an hour of the clock; "
          f"{half[0][1]} to {half[-1][1]} KiB")
    print(f"descriptors: {alone[1]} before the visitors, {max(p[2] for p in points)} at most, {left[1]} after them")
    return percent < SLOPE_LIMIT and left[1] <= alone[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, prog="script/soak")
    parser.add_argument("--hours", type=float, default=24, help="simulated (24)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real-time", action="store_true", help="these are hours of the clock, too")
    arguments = parser.parse_args()
    return 0 if soak(arguments.hours, arguments.seed, arguments.real_time) else 1


if __name__ == "__main__":
    sys.exit(main())
