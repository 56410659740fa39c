#!/usr/bin/env python3
"""The drivers that show what the models can do: a tube hung on its peg, a ball grasped and held in the air, a creature
that crawls.

What they achieve is read from a second wire, which they know nothing of.
"""
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

from support.process import ROOT, Tether, stretched, wait_for

CLIENTS = ROOT / "clients" / "python"
IN_LBF = 1 / 0.1129848290276167  # in·lbf in a N·m


class Witness(threading.Thread):
    """Collects what a float-udp wire sends to it: one tuple of floats a message."""

    def __init__(self, signals):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.signals = signals
        self.seen = []

    def wire(self):
        """The YAML of the wire that tells it."""
        return f"""
  - float-udp:
      name: witness
      bind: 127.0.0.1:0
      peer: 127.0.0.1:{self.socket.getsockname()[1]}
      period: 0.1 s
      sensors: [{", ".join(self.signals)}]
"""

    def run(self):
        while data := self.socket.recv(2048):
            self.seen.append(struct.unpack(f"<{len(self.signals)}f", data))

    def last(self, seconds):
        """The messages of the last so many simulated seconds (the first signal is time)."""
        return [values for values in self.seen if values[0] > self.seen[-1][0] - seconds]

    def stop(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", self.socket.getsockname())
        self.join(5)
        self.socket.close()


class Drivers(unittest.TestCase):
    def start(self, scene, replacements, witness, *options):
        text = (ROOT / "scenes" / scene).read_text() + witness.wire()
        for old, new in replacements.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / scene
        path.write_text(text)
        witness.start()
        self.addCleanup(witness.stop)
        tether = Tether("run", path, "--no-web", "--set", "record.on=false", *options)
        self.addCleanup(tether.__exit__)
        return tether

    def drive(self, *command):
        done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=240,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_tube_rests_on_its_peg(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            own = f"127.0.0.1:{probe.getsockname()[1]}"
        witness = Witness(["time", "grip.held", "circle3.x", "circle3.y", "circle3.z"])
        tether = self.start("frc2011.yaml", {"127.0.0.1:5801": "127.0.0.1:0", "127.0.0.1:5802": own}, witness,
                            "--speed", "2")
        self.drive(CLIENTS / "frc2011_driver.py", "--once", tether.addresses["float-udp"], own)
        self.assertTrue(any(held for _, held, *_ in witness.seen))
        rest = witness.last(2)
        self.assertGreater(len(rest), 15)
        for _, held, *place in rest:
            self.assertEqual(held, 0)
            self.assertGreater(place[2], 1.6)  # on the peg of the middle row, not on the one below
            for axis in range(3):
                self.assertAlmostEqual(place[axis], rest[0][2 + axis], delta=0.003)

    def test_the_ball_is_held_in_the_air(self):
        witness = Witness(["time", "ball.x", "ball.y", "ball.z"])
        tether = self.start("gripper.yaml", {"127.0.0.1:11235": "127.0.0.1:0"}, witness)
        said = self.drive(CLIENTS / "gripper_grasp.py", "--once", tether.addresses["lockstep-tcp"])
        frames = {line.split(": ")[1].split(";")[0]: int(line.split()[1].rstrip(":")) for line in said.splitlines()}
        begin, end = frames["lifted"] / 60, frames["held for 2 s"] / 60
        self.assertGreaterEqual(end - begin, 2)
        held = [z for time, _, _, z in witness.seen if begin <= time <= end]
        self.assertGreater(len(held), 15)
        self.assertGreater(min(held), 1.2)
        self.assertLess(max(held) - min(held), 0.02)

    def test_the_creature_crawls(self):
        witness = Witness(["time", "torso.x", "torso.y", "torso.z", "torso.heading"])
        tether = self.start("ezphysics.yaml", {"127.0.0.1:5803": "127.0.0.1:0"}, witness)
        self.drive(CLIENTS / "creature_crawl.py", "--once", tether.addresses["ezphysics"])
        _, x, y, _, heading = witness.seen[-1]
        self.assertGreater(x, 1.5)
        self.assertLess(abs(y), 0.6)
        self.assertLess(abs(heading), 0.5)
        self.assertGreater(min(z for _, _, _, z, _ in witness.seen), 0.25)  # on its feet, not on its belly


class Resets(unittest.TestCase):
    """Drivers that a world's reset meets in the middle of what they do; the test is the simulator."""

    def start(self, *command):
        """Its standard output."""
        driver = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(driver.stdout.close)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.kill)
        return driver.stdout

    def serve(self, name):
        """What the client of that name said, and its connection."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            said = self.start(CLIENTS / name, "%s:%d" % server.getsockname())
            server.settimeout(stretched())
            link, _ = server.accept()
        self.addCleanup(link.close)
        link.settimeout(stretched())
        return said, link

    def test_a_tube_is_hung_anew(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            for each in (link, probe):
                each.bind(("127.0.0.1", 0))
            own = probe.getsockname()
            probe.close()
            link.settimeout(0.1)
            said = self.start(CLIENTS / "frc2011_driver.py", "%s:%d" % link.getsockname(), "%s:%d" % own)

            def answer(time, wheels, arm):
                def told():
                    link.sendto(struct.pack("<10f", time, wheels, wheels, arm, *[0.0] * 6), own)
                    try:
                        values = struct.unpack("<6f", link.recv(2048))
                    except TimeoutError:
                        return None  # it isn't there yet
                    return values if values[0] == time else None
                return wait_for(told, "an answer")

            for n in range(80):  # nothing moves, so after 1.5 s each it goes on to the next goal: six of them
                before = answer(n / 8, 10, -0.5)
            self.assertEqual(before[5], 1)
            after = [answer(10 + n / 64, 0, 0) for n in range(100)]
            self.assertEqual({values[5] for values in after}, {0})  # nothing is in the hand
            self.assertLess(abs(after[0][3] / IN_LBF), 30)  # N·m; the arm's weight takes 13, and 45 are its most
        goals = [said.readline().split(": ")[1] for _ in range(7)]
        self.assertEqual(goals[-1], goals[0])

    def test_the_ball_is_taken_anew(self):
        said, link = self.serve("gripper_grasp.py")
        for frame in [*range(1, 301 + 120), *range(0, 301)]:
            link.sendall(struct.pack(">Q10f", frame, *[0.0] * 10))
            self.assertEqual(len(link.recv(40, socket.MSG_WAITALL)), 40)
        self.assertEqual([said.readline().split(";")[0] for _ in range(2)], ["frame 301: over the ball", "frame 300: over the ball"])

    def test_the_creature_tells_the_time_again(self):
        said, link = self.serve("creature_crawl.py")
        for step in (0, 5000, 10, 1010):
            packets = [struct.pack("<IIIIif", 5, 8, 0, 0, step, 0.001), struct.pack("<IIII7f", 2, 28, 7, 0, *[0.0] * 7),
                       *(struct.pack("<IIIIf", 3, 4, joint, axis, 0) for joint in range(3, 11) for axis in range(2))]
            link.sendall(struct.pack("<II", 8 + sum(map(len, packets)), len(packets)) + b"".join(packets))
        link.shutdown(socket.SHUT_WR)
        self.assertEqual([line.split()[1] for line in said], ["0.00", "5.00", "0.01", "1.01"])


if __name__ == "__main__":
    unittest.main()
