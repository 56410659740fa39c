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

from support.process import ROOT, Tether

CLIENTS = ROOT / "clients" / "python"


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


if __name__ == "__main__":
    unittest.main()
