#!/usr/bin/env python3
"""Any robot on any wire: pairs that no ready scene has, and two models that nobody here wrote, unedited."""
import pathlib
import socket
import struct
import unittest

TESTS = pathlib.Path(__file__).parents[1]
from support.ezphysics import JOINTAXIS, NAME, Peer, motor
from support.float_udp import FloatLink
from support.lockstep import receive
from support.process import ROOT, Tether

SCENES = ROOT / "tests" / "scenes" / "cross"


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
        link = socket.create_connection(self.start(scene).address(wire), timeout=20)
        self.addCleanup(link.close)
        return link

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

    def frames(self, link, count, commands):
        """Angles of the last of `count` frames of lockstep-tcp, each answered with `commands`."""
        joints = len(commands)
        for _ in range(count):
            frame, *angles = struct.unpack(f">Q{joints}f", receive(link, 8 + 4 * joints))
            link.sendall(struct.pack(f">{joints}f", *commands))
        return frame, angles

    def test_the_vehicle_over_lockstep_tcp(self):
        link = self.stream("sharp-lockstep-tcp", "lockstep-tcp")
        self.frames(link, 100, (2, 2, 0.1))
        before = self.frames(link, 1, (2, 2, 0.1))
        after = self.frames(link, 100, (2, 2, 0.1))
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
        peer = Peer(self.stream("frc2011-ezphysics", "ezphysics"))
        names, axes = {}, {}

        def note(state):
            for kind, thing, _, load in state.packets:
                if kind == NAME:
                    names.setdefault(load.decode().rstrip("\0"), []).append(thing)
                if kind == JOINTAXIS:
                    axes[thing] = struct.unpack("<2f", load)

        while not axes:
            note(peer.state())
        wheels = [names[side + "_wheel"][-1] for side in ("left", "right")]
        for _ in range(150):
            note(peer.turn(*(motor(wheel, 10, 30) for wheel in wheels)))
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
        link = self.stream("third-party-mjcf", "lockstep-tcp")
        _, before = self.frames(link, 1, (0.5, 0))
        frame, after = self.frames(link, 100, (0.5, 0))
        self.assertEqual(frame, 100)
        self.assertAlmostEqual(after[0] - before[0], 0.5, delta=0.05)
        self.assertAlmostEqual(after[1] - before[1], 0, delta=0.05)


if __name__ == "__main__":
    unittest.main()
