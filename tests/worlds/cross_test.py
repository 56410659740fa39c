#!/usr/bin/env python3
"""Any robot on any wire: pairs that no ready scene has, and two models that nobody here wrote, unedited."""
import pathlib
import socket
import struct
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
from float_link import FloatLink  # noqa: E402
from tether_process import ROOT, Tether  # noqa: E402

SCENES = ROOT / "tests" / "scenes" / "cross"


class Stream:
    """The client's end of a wire over TCP."""

    def __init__(self, address):
        self.socket = socket.create_connection(address)
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


class Cross(unittest.TestCase):
    def start(self, scene):
        tether = Tether("run", SCENES / f"{scene}.yaml", "--no-web", "--set", "record.on=false")
        self.addCleanup(tether.__exit__)
        return tether

    def float_udp(self, scene):
        link = FloatLink(self.start(scene))
        self.addCleanup(link.socket.close)
        return link

    def stream(self, scene, wire):
        stream = Stream(self.start(scene).address(wire))
        self.addCleanup(stream.socket.close)
        return stream

    def until(self, link, command, condition):
        for _ in range(500):
            now = link.turn(*command)
            if condition(now):
                return now
        self.fail(f"never; the last is {now}")

    def test_the_arm_over_float_udp(self):
        link = self.float_udp("gripper-float-udp")
        now = self.until(link, (0.5, 20), lambda now: now[1] > 0.4)
        self.assertAlmostEqual(now[2], 0.5, delta=0.05)
        self.assertAlmostEqual(now[3], 16, delta=3)  # 20 deg/s as long as 0.5 rad/s took for 0.4 rad
        self.until(link, (0, 0), lambda now: abs(now[2]) < 0.01)

    def frames(self, stream, count, commands):
        """Angles of the last of `count` frames of lockstep-tcp, each answered with `commands`."""
        joints = len(commands)
        for _ in range(count):
            frame, *angles = struct.unpack(f">Q{joints}f", stream.read(8 + 4 * joints))
            stream.socket.sendall(struct.pack(f">{joints}f", *commands))
        return frame, angles

    def test_the_vehicle_over_lockstep_tcp(self):
        stream = self.stream("sharp-lockstep-tcp", "lockstep-tcp")
        self.frames(stream, 100, (2, 2, 0.1))
        before = self.frames(stream, 1, (2, 2, 0.1))
        after = self.frames(stream, 100, (2, 2, 0.1))
        self.assertEqual(after[0], before[0] + 100)
        for side in (0, 1):
            turned = (after[1][side] - before[1][side]) % 6.283185307179586
            self.assertAlmostEqual(turned, 2, delta=0.1)
        self.assertAlmostEqual(after[1][2] - before[1][2], 0.1, delta=0.01)

    def test_the_crawler_over_float_udp(self):
        link = self.float_udp("creature-float-udp")
        first = link.turn(0, 0)
        now = self.until(link, (0.5, 0), lambda now: now[1] - first[1] > 0.2)
        self.assertAlmostEqual(now[2], 0.5, delta=0.1)
        self.assertGreater(now[4], 0.1)

    def test_the_robot_of_2011_over_ezphysics(self):
        stream = self.stream("frc2011-ezphysics", "ezphysics")
        names, axes = {}, {}

        def receive():
            size, count = struct.unpack("<II", stream.read(8))
            data, at = stream.read(size - 8), 0
            for _ in range(count):
                kind, length, thing, index = struct.unpack_from("<IIII", data, at)
                load = data[at + 16:at + 16 + length]
                if kind == 16:
                    names.setdefault(load.decode().rstrip("\0"), []).append(thing)
                if kind == 3:
                    axes[thing] = struct.unpack("<2f", load)
                at += 16 + length

        receive()
        while not axes:
            receive()
        wheels = [names[side + "_wheel"][-1] for side in ("left", "right")]
        motors = b"".join(struct.pack("<IIII6f", 3, 24, wheel, 0, 10, 30, 0, 0, 0, 0) for wheel in wheels)
        message = struct.pack("<II", 8 + len(motors), len(wheels)) + motors
        for _ in range(150):
            stream.socket.sendall(message)
            receive()
        for wheel in wheels:
            self.assertAlmostEqual(axes[wheel][1], 10, delta=0.5)
            self.assertGreater(axes[wheel][0], 5)

    def test_a_urdf_that_nobody_here_wrote(self):
        if not pathlib.Path("/usr/share/doc/dart").exists():
            self.skipTest("dart-doc is not installed")
        link = self.float_udp("third-party-urdf")
        now = self.until(link, (0.4, 100, 0, 500, 0, 500), lambda now: now[1] > 0.5)
        self.assertAlmostEqual(now[2], 0.4, delta=0.05)

    def test_an_mjcf_that_nobody_here_wrote(self):
        if not pathlib.Path("/usr/share/mujoco").exists():
            self.skipTest("libmujoco-samples is not installed")
        stream = self.stream("third-party-mjcf", "lockstep-tcp")
        _, before = self.frames(stream, 1, (0.5, 0))
        frame, after = self.frames(stream, 100, (0.5, 0))
        self.assertEqual(frame, 100)
        self.assertAlmostEqual(after[0] - before[0], 0.5, delta=0.05)
        self.assertAlmostEqual(after[1] - before[1], 0, delta=0.05)


if __name__ == "__main__":
    unittest.main()
