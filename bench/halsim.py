"""Robot programs over HALSim's WebSocket: how soon a motor's command shows in an encoder, and what six programs cost."""
import base64
import json
import os
import pathlib
import socket
import struct
import tempfile
import threading
import time

from measure import Row, Tether, median, progress

LOOP = 0.02  # s, of a robot program
PERIOD = 0.01  # s, of the wire
TRIES = 40


class Program:
    """A robot program's end of the WebSocket, written by hand: it connects, and makes an encoder on channels 0 and 1."""

    def __init__(self, address):
        host, path = address.split("/", 1)
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.bytes += self.socket.recv(65536)
        self.bytes = self.bytes.split(b"\r\n\r\n", 1)[1]
        self.say("Encoder", "0", {"<channel_a": 0, "<channel_b": 1, "<init": True})

    def say(self, kind, device, data):
        text = json.dumps({"type": kind, "device": device, "data": data}).encode()
        size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + struct.pack(">H", len(text))
        self.socket.sendall(b"\x81" + size + bytes(4) + text)  # a mask of zeros

    def drive(self, speed):
        for channel in "01":
            self.say("PWM", channel, {"<speed": speed})

    def hear(self):
        """The next message."""
        while True:
            if len(self.bytes) >= 2:
                size, at = self.bytes[1], 2
                if size == 126 and len(self.bytes) >= 4:
                    size, at = struct.unpack_from(">H", self.bytes, 2)[0], 4
                if (self.bytes[1] != 126 or at == 4) and len(self.bytes) >= at + size:
                    text, self.bytes = self.bytes[at:at + size], self.bytes[at + size:]
                    return json.loads(text)
            self.bytes += self.socket.recv(65536)

    def count(self):
        """The encoder's next count."""
        while True:
            message = self.hear()
            if message["type"] == "Encoder" and ">count" in message["data"]:
                return message["data"][">count"]

    def rest(self):
        """Waits until the encoder has stood for a while."""
        self.drive(0)
        quiet = 0
        while quiet < 15:  # messages of the driver station, which come every 20 ms
            message = self.hear()
            if message["type"] == "Encoder":
                quiet = 0
            quiet += message["type"] == "DriverStation"


def latency():
    """s from a motor's frame to the encoder's first, each of TRIES times from a stand."""
    times = []
    with Tether("sharp-wpilib", "--set", "wires.halsim-ws.listen=127.0.0.1:0") as tether:
        program = Program(tether.addresses["halsim-ws"])
        for i in range(TRIES):
            program.rest()
            time.sleep(0.001 * (i * 7 % 10))  # anywhere in a period
            began = time.monotonic()
            program.drive(0.5 if i % 2 else -0.5)
            program.count()
            times.append(time.monotonic() - began)
    return sorted(times)


class Loop(threading.Thread):
    """A program of 50 Hz: each loop sets two motors to something new; all that it is told is read."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.program = Program(address)
        self.heard = 0
        self.done = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while not self.done:
            try:
                self.heard += len(self.program.socket.recv(65536)) > 0
            except OSError:
                return

    def run(self):
        for i in range(10**9):
            if self.done:
                return
            self.program.drive(0.2 + 0.001 * (i % 100))
            time.sleep(LOOP)


def six_scene(folder):
    robots, wires = "", ""
    for i in range(6):
        name = f"r{i}"
        robots += f"  - {{robot: frc2011-wpilib, name: {name}, x: {-5 + 2 * i} m, y: 1.5 m}}\n"
        devices = [f"{{type: PWM, device: {c}, command: {side}_track.duty}}" for c, side in enumerate(("left", "right"))]
        devices += [f"{{type: Encoder, device: \"{2 * c},{2 * c + 1}\", signal: {side}_wheel.position, scale: 1440}}"
                    for c, side in enumerate(("left", "right"))]
        devices += ["{type: Gyro, device: \"ADXRS450[0]\", signal: gyro}"]
        wires += (f"  - halsim-ws: {{robot: {name}, name: {name}, listen: \"127.0.0.1:0\", path: /{name}, "
                  f"devices: [{', '.join(devices)}]}}\n")
    path = pathlib.Path(folder) / "six.yaml"
    path.write_text(f"timestep: 1/3000 s\npace: realtime\nrobots:\n{robots}wires:\n{wires}", encoding="utf-8")
    return str(path)


def cpu(programs, seconds=8):
    """Share of a core that Tether takes."""
    with tempfile.TemporaryDirectory() as folder, Tether(six_scene(folder)) as tether:
        loops = [Loop(tether.addresses[f"r{i}"]) for i in range(programs)]
        for loop in loops:
            loop.start()
        time.sleep(1)
        before, wall = tether.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        share = (tether.cpu_seconds() - before) / (time.monotonic() - wall)
        for loop in loops:
            loop.done = True
    return share


def halsim():
    """The least latency is the wire's period: what comes is obeyed with the next tick, and shows at its end."""
    progress("halsim: latency")
    times = latency()
    rows = [Row("halsim/latency-50", "a motor's frame to its encoder's answer, p50", 1000 * median(times), "ms", limit=1000 * PERIOD,
                less=True),
            Row("halsim/latency-95", "the same, p95", 1000 * times[int(0.95 * len(times))], "ms", limit=1000 * PERIOD, less=True)]
    progress("halsim: six programs")
    without, with_six = cpu(0), cpu(6)
    rows.append(Row("halsim/six", "six programs of 50 Hz: CPU beyond that of their robots standing", 100 * (with_six - without),
                    "% of a core", less=True, note=f"{100 * with_six:.0f} % in all, their driving included"))
    progress("")
    return rows
