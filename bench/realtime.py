"""Real time: late ticks, jitter of what is sent, CPU; one robot with its controller, and six with six."""
import os
import re
import socket
import struct
import tempfile
import threading
import time

from measure import Row, Tether, progress
from stepping import many_robots_scene

SO_TIMESTAMPNS = 35  # the kernel's own time of arrival, which on loopback is that of sending
TORQUES = struct.pack("<6f", 0, 20, 25, -150, 0, 0)
PERIOD = 0.01


class Controller(threading.Thread):
    """Answers every message, and keeps when each came."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.5)
        self.address = "%s:%d" % self.socket.getsockname()
        self.times = []
        self.done = False

    def run(self):
        while not self.done:
            try:
                data, ancillary, _, sender = self.socket.recvmsg(2048, 64)
            except TimeoutError:
                continue
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            self.times.append((struct.unpack_from("<f", data)[0], seconds + nanoseconds * 1e-9))
            self.socket.sendto(struct.pack("<f", len(self.times)) + TORQUES[4:], sender)

    def stop(self):
        self.done = True
        self.join(2)
        self.socket.close()

    def jitter(self, skip=1.0):
        """How far each message came from its place in the grid, s, ascending; the grid lies at the median."""
        first = self.times[0][0] + skip
        away = [at - round(sent / PERIOD) * PERIOD for sent, at in self.times if sent > first]
        middle = sorted(away)[len(away) // 2]
        return sorted(abs(offset - middle) for offset in away)


def drive(scene, count, seconds, settings):
    """Runs a scene with `count` controllers: jitter of all messages, late ticks, CPU share, simulated per wall second."""
    controllers = [Controller() for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        path = many_robots_scene(folder, count, lambda i: controllers[i].address) if scene is None else scene
        extra = [] if scene is None else ["--set", f"wires.float-udp.peer={controllers[0].address}",
                                          "--set", "wires.float-udp.bind=127.0.0.1:0"]
        for controller in controllers:
            controller.start()
        with Tether(path, *extra, *settings) as tether:
            time.sleep(1)
            before, wall = tether.cpu_seconds(), time.monotonic()
            time.sleep(seconds)
            cpu = (tether.cpu_seconds() - before) / (time.monotonic() - wall)
            memory = tether.memory("VmHWM")
            said = tether.stop()
    for controller in controllers:
        controller.stop()
    late = re.search(r"(\d+) of (\d+) ticks late", said)
    times = controllers[0].times
    factor = (times[-1][0] - times[0][0]) / (times[-1][1] - times[0][1])
    jitter = sorted(offset for controller in controllers for offset in controller.jitter())
    return jitter, late and (int(late[1]), int(late[2])), cpu, factor, memory


def rows_of(name, what, result):
    jitter, late, cpu, factor, memory = result
    at = lambda share: jitter[min(len(jitter) - 1, int(share * len(jitter)))] * 1e6
    rows = [Row(f"{name}/jitter-{label}", f"{what}: send jitter p{label}", at(share), "µs", less=True)
            for label, share in (("50", 0.5), ("99", 0.99), ("99.9", 0.999))]
    if late:
        rows.append(Row(f"{name}/late", f"{what}: late ticks", late[0], f"of {late[1]}", less=True))
    rows.append(Row(f"{name}/cpu", f"{what}: CPU", 100 * cpu, "% of a core", less=True))
    rows.append(Row(f"{name}/factor", f"{what}: real-time factor", factor, "", goal=0.99, note=f"{memory:.0f} MiB at most"))
    return rows


def realtime():
    """frc2011 at 3 kHz in real time for 20 s (or $BENCH_REALTIME s), and six robots with six controllers."""
    seconds = float(os.environ.get("BENCH_REALTIME", "20"))
    progress(f"realtime: frc2011 for {seconds:g} s")
    rows = rows_of("realtime/frc2011", f"frc2011 at 3 kHz, {seconds:g} s", drive("frc2011", 1, seconds, []))
    progress("realtime: six robots with six controllers for 10 s")
    return rows + rows_of("realtime/six", "six frc2011, six controllers", drive(None, 6, 10, []))
