#!/usr/bin/env python3
"""Several robots in one world: each with its own wires, none disturbed by another's controller, in real time and in
lock-step side by side."""
import json
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from support.ezphysics import JOINTAXIS, RESET, Peer, force, message
from support.lockstep import FRAME, VELOCITIES, receive
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


LOCKSTEP = """arena: gripper
timestep: 1/600 s
pace: lockstep
robots:
  - {{robot: gripper, name: one, x: -6 m}}
  - {{robot: gripper, name: two, x: 6 m}}
wires:
  - {one}
  - {two}
"""


class Frames:
    """A client of a lockstep-tcp wire; `wait()` returns the number of the frame that comes."""
    WIRE = "lockstep-tcp: {{robot: {robot}, listen: '127.0.0.1:0', steps_per_frame: {steps}{keys}}}"

    def __init__(self, address, steps):
        self.socket, self.steps = socket.create_connection(address, timeout=stretched()), steps

    def wait(self):
        return FRAME.unpack(receive(self.socket))[0]

    def answer(self):
        self.socket.sendall(VELOCITIES.pack(*[0] * 10))

    def leave(self):
        """Goes, and returns once the simulator has seen that."""
        self.socket.shutdown(socket.SHUT_WR)
        while self.socket.recv(4096):
            pass
        self.socket.close()


class States(Frames):
    """One of ezphysics, in mode step."""
    WIRE = "ezphysics: {{robot: {robot}, listen: '127.0.0.1:0', steps: {steps}{keys}}}"

    def __init__(self, address, steps):
        super().__init__(address, steps)
        self.peer = Peer(self.socket)

    def wait(self):
        return self.peer.state().step / self.steps

    def answer(self):
        self.peer.send()


class Steps(Frames):
    """A robot program that says of nothing that it uses it."""
    WIRE = "halsim-step: {{robot: {robot}, listen: '127.0.0.1:0', period: {steps}/600 s{keys}}}"

    def __init__(self, address, steps):
        super().__init__(address, steps)
        self.say("\"<version\":1,\"<program\":\"test\"")
        self.answer()  # it waits for its clock

    def say(self, head):
        body = b'{"type":"Step","device":"","data":{%s}}\n' % head.encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def wait(self):
        body = receive(self.socket, struct.unpack(">I", receive(self.socket, 4))[0])
        return json.loads(body.split(b"\n")[0])["data"][">frame"]

    def answer(self):
        self.say("\"<time\":0")


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


class Lockstep(Case):
    """Each robot has a client in lock-step of its own."""

    def start(self, *clients, robots=("one", "two")):
        """`clients`: of each robot what kind its is, steps between its frames, and keys of its wire."""
        self.clients = clients
        one, two = (kind.WIRE.format(robot=robot, steps=steps, keys=keys) for robot, (kind, steps, keys) in zip(robots, clients))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scene:
            scene.write(LOCKSTEP.format(one=one, two=two))
            scene.flush()
            self.world = self.tether("run", scene.name, "--no-web")

    def join(self, robot):
        kind, steps, _ = self.clients[robot]
        client = kind(self.world.address(list(self.world.addresses)[robot]), steps)
        self.addCleanup(client.socket.close)
        return client

    def test_a_reset_asks_nobody_else_again(self):
        for kind in Frames, States, Steps:
            with self.subTest(kind.__name__):
                self.start((kind, 10, ""), (Frames, 10, ""))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                one.answer()
                two.socket.close()  # its robot begins anew; what the other answered is obeyed already
                two = self.join(1)
                self.assertEqual(two.wait(), 0)
                two.answer()
                self.assertEqual((one.wait(), two.wait()), (1, 1))

    def test_who_comes_between_its_frames_is_told_the_next(self):
        """Of the one before it the answer was obeyed: a second one would leave it a frame behind for ever."""
        for kind in Frames, States, Steps:
            with self.subTest(kind.__name__):
                self.start((Frames, 10, ""), (kind, 20, ", on_disconnect: keep"))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                two.answer()
                one.answer()
                self.assertEqual(one.wait(), 1)  # of which the other knows nothing
                two.socket.close()
                self.join(1).socket.close()  # comes and goes before that
                two = self.join(1)
                self.world.wait_line("waits until the last answer")
                two.answer()  # to what it is told next
                one.answer()
                self.assertEqual((one.wait(), two.wait()), (2, 1))
                one.answer()
                self.assertEqual(one.wait(), 3)
                one.answer()
                self.assertEqual((one.wait(), two.wait()), (4, 2))

    def test_who_goes_between_its_frames_ends_at_the_next(self):
        """Whether its end is read before its answer is obeyed or after that is chance."""
        for kind in Frames, States, Steps:
            for obeyed in False, True:
                with self.subTest(kind.__name__, obeyed=obeyed):
                    self.start((Frames, 10, ""), (kind, 20, ", on_disconnect: exit"))
                    one, two = self.join(0), self.join(1)
                    self.assertEqual((one.wait(), two.wait()), (0, 0))
                    two.answer()
                    if obeyed:
                        one.answer()
                        self.assertEqual(one.wait(), 1)
                    two.leave()
                    for frame in range(1 + obeyed, 3):
                        one.answer()
                        self.assertEqual(one.wait(), frame)
                    self.assertEqual(self.world.wait_exit(), 0)
                    self.world.wait_line("0.033 s simulated")  # 20 steps of 1/600 s

    def test_who_goes_ends_the_program_though_nobody_answers_for_the_other(self):
        """No frame comes any more, whose end it could have waited for."""
        for kind in Frames, States, Steps:
            for first in False, True:
                with self.subTest(kind.__name__, first=first):
                    self.start((kind, 10, ", on_disconnect: keep"), (kind, 20, ", on_disconnect: exit"))
                    one, two = self.join(0), self.join(1)
                    self.assertEqual((one.wait(), two.wait()), (0, 0))
                    one.answer()
                    two.answer()
                    self.assertEqual(one.wait(), 1)
                    if first:
                        two.leave()
                    one.leave()
                    if not first:
                        two.leave()
                    self.assertEqual(self.world.wait_exit(), 0)
                    self.world.wait_line("0.017 s simulated")  # 10 steps of 1/600 s

    def test_who_comes_after_a_reset_and_goes_before_its_frame_harms_nobody(self):
        """It is told nothing, whatever it has said."""
        for kind in Frames, States, Steps:
            with self.subTest(kind.__name__):
                self.start((States, 10, ""), (kind, 20, ", name: other, on_disconnect: keep"), robots=("two", "two"))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                two.answer()
                one.answer()
                self.assertEqual(one.wait(), 1)
                two.leave()
                one.peer.send((RESET, 0, b""))  # of the robot alone: its other wire is not due
                self.assertEqual(one.wait(), 1)
                two = self.join(1)
                two.answer()
                two.leave()
                one.answer()
                self.assertEqual(one.wait(), 2)
                self.join(1).answer()
                one.answer()
                self.assertEqual(one.wait(), 3)

    def test_what_one_who_goes_said_between_its_frames_is_obeyed(self):
        for kind in Frames, States:
            with self.subTest(kind.__name__):
                self.start((Frames, 10, ""), (kind, 20, ", on_disconnect: keep"))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                two.answer()
                one.answer()
                self.assertEqual(one.wait(), 1)
                two.answer()
                two.socket.close()
                for frame in range(2, 5):
                    one.answer()
                    self.assertEqual(one.wait(), frame)
                two = self.join(1)
                self.assertEqual(two.wait(), 2)

    def test_who_comes_waits_until_the_last_answer_before_it_is_obeyed(self):
        for kind in Frames, States, Steps:
            with self.subTest(kind.__name__):
                self.start((kind, 10, ", on_disconnect: keep"), (Frames, 10, ""))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                one.answer()
                one.socket.close()
                one = self.join(0)
                two.answer()
                self.assertEqual((one.wait(), two.wait()), (1, 1))
                one.answer()
                two.answer()
                self.assertEqual((one.wait(), two.wait()), (2, 2))

    def test_one_alone_waits_behind_who_leaves(self):
        self.start((Frames, 10, ", on_disconnect: keep"), (Frames, 10, ""))
        one, two = self.join(0), self.join(1)
        self.assertEqual((one.wait(), two.wait()), (0, 0))
        one.answer()
        one.socket.close()
        gone = self.join(0)
        gone.socket.close()
        one = self.join(0)
        last = self.join(0)
        self.assertEqual(last.socket.recv(1), b"")
        two.answer()
        self.assertEqual((one.wait(), two.wait()), (1, 1))

    def test_an_answer_between_its_frames_is_obeyed(self):
        """The world had gone on without it; then it is waited for again."""
        for kind in Frames, States, Steps:
            with self.subTest(kind.__name__):
                self.start((Frames, 10, ", deadline: 0.5 s"), (kind, 20, ", late: hold, deadline: 50 ms"))
                one, two = self.join(0), self.join(1)
                self.assertEqual((one.wait(), two.wait()), (0, 0))
                one.answer()
                self.assertEqual(one.wait(), 1)
                one.answer()
                self.assertEqual((one.wait(), two.wait()), (2, 1))
                one.answer()
                self.assertEqual(one.wait(), 3)
                two.answer()
                two.answer()  # to the newest, while the world waits for the other only
                self.world.wait_line("no answer within 0.5 s")
                for frame in range(4, 8):
                    one.answer()
                    self.assertEqual(one.wait(), frame)
                wait_for(lambda: sum("going on with its last commands" in line for line in self.world.lines) == 2,
                         "another wait for it")

    def test_a_force_of_one_period_is_not_over_before_it(self):
        """A reset of another robot lets the world hear once more before it steps."""
        speeds = []
        for leaves in False, True:
            self.start((States, 10, ""), (Frames, 10, ""))
            one, two = self.join(0), self.join(1)
            self.assertEqual((one.wait(), two.wait()), (0, 0))
            one.peer.send(force(1, 5.0))
            if leaves:
                two.socket.close()
                two = self.join(1)
                two.wait()
            two.answer()
            speeds.append(one.peer.state().floats(JOINTAXIS, 1)[1])
            one.answer()
            two.answer()
            speeds.append(one.peer.state().floats(JOINTAXIS, 1)[1])
        self.assertGreater(abs(speeds[0]), 0.01)
        self.assertEqual(speeds[:2], speeds[2:])

    def test_nobody_is_silent_who_owes_no_answer(self):
        self.start((Frames, 10, ", deadline: 0.5 s"), (States, 20, ", receive_timeout: 0.2 s"))
        two = self.join(1)
        two.socket.sendall(3 * message())  # it is never late
        one = self.join(0)
        self.assertEqual(one.wait(), 0)
        one.answer()
        self.assertEqual(one.wait(), 1)
        self.world.wait_line("lockstep-tcp: no answer within 0.5 s")
        for frame in range(2, 5):
            one.answer()
            self.assertEqual(one.wait(), frame)
        self.assertEqual([two.wait() for _ in range(3)], [0, 1, 2])


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
