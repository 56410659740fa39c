#!/usr/bin/env python3
"""Several robots in one world: each with its own wires, none disturbed by another's controller, in real time and in
lock-step side by side."""
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from support.ezphysics import Peer
from support.sharp import STATE, Case, command
from support.process import TETHER, at_best, stretched, wait_for

SCENE = """timestep: 1/1000 s
io_period: 10 ms
pace: realtime
arena: sharp
robots:
  - {{robot: sharp, name: one, alliance: red, x: -2 m, y: -3 m, heading: 90 deg}}
  - {{robot: sharp, name: two, alliance: blue, x: 2 m, y: -3 m, heading: 90 deg}}
  - {{robot: sharp, name: three, alliance: red, x: 0 m, y: 3 m}}
wires:
  - sharp-json: {{robot: one, bind: '127.0.0.1:0', peer: '{one}', period: 10 ms}}
  - sharp-json: {{robot: two, bind: '127.0.0.1:0', peer: '{two}'}}
  - ezphysics: {{robot: three, listen: '127.0.0.1:0', late: {late}, deadline: 20 ms, receive_timeout: 0 s}}
"""


def crowd(count):
    robots = "".join(f"  - {{robot: frc2011, name: r{i}, x: {i % 8 - 4} m, y: {i // 8 - 2} m}}\n" for i in range(count))
    return f"arena: frc2011\ntimestep: 1/3000 s\nio_period: 10 ms\nrobots:\n{robots}"


class ManyRobots(Case):
    def test_as_many_as_a_world_may_have(self):
        for count, expected in (32, ""), (33, "at most 32"):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scene:
                scene.write(crowd(count))
                scene.flush()
                done = subprocess.run([TETHER, "check", scene.name], capture_output=True, text=True, timeout=stretched(60))
            self.assertEqual(done.returncode, 1 if expected else 0, done.stderr)
            self.assertIn(expected or "r31", done.stderr if expected else done.stdout)

    def start(self, late):
        self.one, self.two = self.udp(), self.udp()
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scene:
            scene.write(SCENE.format(one=self.one.address, two=self.two.address, late=late))
            scene.flush()
            return self.tether("run", scene.name, "--no-web")

    @staticmethod
    def lift(udp):
        return int(STATE.fullmatch(udp.receive())[3])

    def drive(self, world, states):
        """Drives robot one's lift up for so many states while rubbish comes for robot two; returns how many s that took."""
        started = time.monotonic()
        for _ in range(states):
            self.one.send(command(elevator=512), world.address("one.sharp-json"))
            self.two.send(b"rubbish", world.address("two.sharp-json"))
            self.one.receive()
        return time.monotonic() - started

    def test_a_silent_lockstep_controller_slows_nobody_twice(self):
        for late in ("hold", "zero", "eject"):
            world = self.start(late)
            world.wait_line("no answer within")
            at_best(lambda: self.drive(world, 40), 0.5)  # a state is due every 10 ms; one that waits each time takes twice as long
            wait_for(lambda: self.drive(world, 10) and self.lift(self.one) > 500, "the lift's rise")
            self.assertLess(self.lift(self.two), 50)
            self.assertEqual(sum("no answer within" in line for line in world.lines), 1)
            self.assertEqual(world.stop(), 0)

    def test_a_lockstep_controller_and_real_time_ones_side_by_side(self):
        world = self.start("zero")
        peer = Peer(socket.create_connection(world.address("ezphysics")))
        self.addCleanup(peer.socket.close)
        steps = [peer.state().step]
        for _ in range(100):
            self.one.send(command(elevator=512), world.address("one.sharp-json"))
            steps.append(peer.turn().step)
            self.one.receive()
        self.assertEqual([b - a for a, b in zip(steps, steps[1:])], [10] * 100)  # not one was skipped
        self.one.drain()
        self.assertGreater(self.lift(self.one), 300)

    def test_one_robots_reset_touches_no_other(self):
        world = self.start("hold")
        wait_for(lambda: self.drive(world, 10) and self.lift(self.one) > 200, "the lift's rise")
        self.one.drain()
        risen = self.lift(self.one)
        peer = Peer(socket.create_connection(world.address("ezphysics")))
        self.addCleanup(peer.socket.close)
        before = peer.state().step
        peer.socket.sendall(struct.pack("<IIIIII", 24, 1, 1, 0, 0, 0))
        world.wait_line("world: reset three")
        self.one.drain()
        self.assertGreater(self.lift(self.one), risen - 20)
        self.assertGreater(peer.state().step, before - 1)


class TwelveRobots(unittest.TestCase):
    def test_they_fit_into_what_loading_may_take(self):
        robots = [f"  - {{robot: frc2011, name: r{i}, x: {1.8 + 6 * (i % 2)} m, y: {1.2 + 1.1 * (i // 2)} m}}" for i in range(12)]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scene:
            scene.write("arena: frc2011\ntimestep: 1/3000 s\nrobots:\n" + "\n".join(robots) + "\n")
            scene.flush()
            done = subprocess.run([TETHER, "check", scene.name], capture_output=True, text=True, timeout=stretched(60))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
