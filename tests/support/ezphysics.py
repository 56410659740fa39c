"""A client of an ezphysics wire, for tests: packets in and out, checked while they are read."""
import pathlib
import socket
import struct
import tempfile
import unittest

from support.process import Tether

COLLISION, LIMB, JOINTAXIS, JOINTFEEDBACK, TIMESTAMP, NAME = 1, 2, 3, 4, 5, 16
RESET, AXIS_FORCE, AXIS_MOTOR = 1, 2, 3


def message(*packets):
    body = b"".join(struct.pack("<IIII", kind, len(load), thing, 0) + load for kind, thing, load in packets)
    return struct.pack("<II", 8 + len(body), len(packets)) + body


def motor(joint, velocity, torque):
    return AXIS_MOTOR, joint, struct.pack("<6f", velocity, torque, 0, 0, 0, 0)


def force(joint, torque):
    return AXIS_FORCE, joint, struct.pack("<3f", torque, float("nan"), float("nan"))


class State:
    """A message from the simulator, checked while it is read."""

    def __init__(self, data):
        size, count = struct.unpack_from("<II", data)
        assert size == len(data)
        self.data, self.packets, at = data, [], 8
        for _ in range(count):
            kind, length, thing, index = struct.unpack_from("<IIII", data, at)
            self.packets.append((kind, thing, index, data[at + 16:at + 16 + length]))
            at += 16 + length
        assert at == size

    def floats(self, kind, thing, index=0):
        return next(struct.unpack(f"<{len(load) // 4}f", load)
                    for k, t, i, load in self.packets if (k, t, i) == (kind, thing, index))

    @property
    def step(self):
        return next(struct.unpack("<if", load)[0] for kind, _, _, load in self.packets if kind == TIMESTAMP)


class Peer:
    """A controller."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(20)

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def state(self):
        header = self.read(8)
        return State(header + self.read(struct.unpack("<I", header[:4])[0] - 8))

    def send(self, *packets):
        self.socket.sendall(message(*packets))

    def turn(self, *packets):
        """Answers the last state and reads the next."""
        self.send(*packets)
        return self.state()

    def quiet(self, seconds=0.3):
        """Nothing arrives for a while."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1) is None
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(20)

    def gone(self):
        """The simulator closes."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True


# A turntable on a vertical hinge, a hanging two-link arm, and a box that rests on the floor: everything in it
# can be worked out by hand.
MODEL = """<mujoco model="bench">
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="table" pos="0 0 1">
      <joint name="turn" axis="0 0 1"/>
      <geom type="cylinder" size="0.5 0.02" mass="2"/>
    </body>
    <body name="upper" pos="2 0 2">
      <joint name="shoulder" axis="0 1 0" damping="0.5"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03" mass="1.5"/>
      <body name="lower" pos="0 0 -0.5">
        <joint name="elbow" axis="0 1 0" damping="0.5"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03" mass="0.5"/>
      </body>
    </body>
    <body name="box" pos="-2 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="3"/></body>
  </worldbody>
</mujoco>
"""
SCENE = """timestep: 1/1000 s
pace: {pace}
robots:
  - {{robot: {model}, name: bench}}
wires:
  - ezphysics: {{{keys}}}
"""


class Bench(unittest.TestCase):
    """A scene of MODEL with an ezphysics wire."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bench.xml").write_text(MODEL)

    def scene(self, keys="", pace="lockstep"):
        path = self.folder / "scene.yaml"
        if "steps" not in keys:
            keys = "period: 10 ms" + (", " + keys if keys else "")
        if "listen" not in keys and "connect:" not in keys:
            keys = "listen: '127.0.0.1:0'" + (", " + keys if keys else "")
        path.write_text(SCENE.format(pace=pace, model=self.folder / "bench.xml", keys=keys))
        return path

    def start(self, keys="", pace="lockstep", ready=True):
        tether = Tether("run", self.scene(keys, pace), "--no-web", ready=ready)
        self.addCleanup(tether.__exit__)
        return tether

    def connect(self, tether):
        peer = Peer(socket.create_connection(tether.address("ezphysics")))
        self.addCleanup(peer.socket.close)
        return peer

    def both(self, keys=""):
        tether = self.start(keys)
        return tether, self.connect(tether)
