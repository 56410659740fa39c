#!/usr/bin/env python3
"""Random inputs over every wire, kept and run again: identical. And what a run's log says of what happened."""
import json
import pathlib
import random
import re
import select
import socket
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "clients" / "python"))
import ezphysics  # noqa: E402
import lockstep_tcp  # noqa: E402
from support.live_page import Page  # noqa: E402
from support.process import STATE, TETHER, Tether  # noqa: E402
from support.wpilog import Log  # noqa: E402

FOLDER = pathlib.Path(STATE.name)


def connect(address):
    host, port = address.rsplit(":", 1)
    link = socket.create_connection((host, int(port)), timeout=20)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def udp_peer():
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(20)
    return peer


def newest(peer):
    """Waits for a datagram, and takes all that came with it: a late world sends several at once, and what is answered to
    each of them would supersede what was answered to the one before."""
    peer.recv(2048)
    while select.select([peer], [], [], 0)[0]:
        peer.recv(2048)


class RandomInputs(unittest.TestCase):
    def keep(self, scene, drive, *settings):
        """Runs a scene while drive(program) sends; returns the accepted inputs of the log, which must verify."""
        log = FOLDER / f"{scene}.wpilog"
        with Tether("run", scene, "--no-web", "--record", log, *settings) as program:
            drive(program)
            self.assertEqual(program.stop(), 0, program.text())
        done = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("identical: ", done.stdout)
        lines = subprocess.run([TETHER, "export", log, "--format", "jsonl"], capture_output=True, timeout=100, check=True)
        journal = [json.loads(line) for line in lines.stdout.splitlines() if b'"/tether/journal"' in line]
        return [entry for entry in journal if entry["kind"] in ("commands", "reset")]

    def test_float_udp(self):
        chance = random.Random(1)
        peer = udp_peer()

        def drive(program):
            for stamp in range(1, 121):
                newest(peer)
                torques = [chance.uniform(-60, 60) for _ in range(4)]
                peer.sendto(struct.pack("<6f", stamp, *torques, chance.randint(0, 4)), program.address("float-udp"))

        inputs = self.keep("frc2011", drive, "--set", "speed=2", "--set", "wires.float-udp.bind=127.0.0.1:0",
                           "--set", "wires.float-udp.peer=127.0.0.1:%d" % peer.getsockname()[1])
        self.assertGreater(len(inputs), 50)
        peer.close()

    def test_lockstep_tcp(self):
        chance = random.Random(2)

        def drive(program):
            with connect(program.addresses["lockstep-tcp"]) as link:
                for _ in range(200):
                    lockstep_tcp.receive_exactly(link, lockstep_tcp.FRAME.size)
                    link.sendall(lockstep_tcp.VELOCITIES.pack(*(chance.uniform(-2, 2) for _ in range(10))))
                lockstep_tcp.receive_exactly(link, lockstep_tcp.FRAME.size)

        inputs = self.keep("gripper", drive, "--set", "wires.lockstep-tcp.listen=127.0.0.1:0")
        self.assertGreaterEqual(len(inputs), 200)
        # Ten commands in and ten joints that move take at most 600 bytes a frame, and no more than check says of an hour.
        read = Log((FOLDER / "gripper.wpilog").read_bytes())
        moved = [name for name in read.values if name.endswith(".position") and len(read.values[name]) > 150]
        self.assertEqual(len(moved), 10, moved)
        frame = sum(size for time, size in read.sizes if time > 0) / 200
        self.assertLess(frame, 600)
        checked = subprocess.run([TETHER, "check", "gripper"], capture_output=True, text=True, timeout=100, check=True).stdout
        hour, rest = map(int, re.search(r"kept +at most (\d+) MB an hour .* moves, (\d+) MB where nothing does", checked).groups())
        self.assertLess(frame * 60 * 3600, hour * 1e6)
        self.assertGreater(frame * 60 * 3600, hour * 0.5e6)
        self.assertLess(rest, hour / 5)

    def test_ezphysics(self):
        chance = random.Random(3)

        def drive(program):
            with connect(program.addresses["ezphysics"]) as link, link.makefile("rb") as stream:
                for n in range(120):
                    packets = ezphysics.receive(stream)
                    joints = sorted({thing for kind, thing, _, _ in packets if kind == ezphysics.JOINTAXIS})
                    orders = [(ezphysics.AXIS_MOTOR, joint, struct.pack("<6f", *(chance.uniform(-3, 3), 20.0) * 3))
                              for joint in joints if chance.random() < 0.7]
                    orders += [(ezphysics.RESET, 0, b"")] if n % 40 == 19 else []
                    link.sendall(ezphysics.message(*orders))

        inputs = self.keep("ezphysics", drive, "--set", "wires.ezphysics.listen=127.0.0.1:0")
        self.assertGreater(sum(entry["kind"] == "commands" for entry in inputs), 50)
        self.assertEqual(sum(entry["kind"] == "reset" for entry in inputs), 3)

    def test_sharp_json(self):
        chance = random.Random(4)
        peer = udp_peer()

        def drive(program):
            for _ in range(150):
                newest(peer)
                speeds = {f"{part}MotorSpeed": chance.randint(-512, 512) for part in ("leftDrive", "rightDrive", "elevator")}
                peer.sendto(json.dumps(speeds).encode(), program.address("sharp-json"))

        inputs = self.keep("sharp", drive, "--set", "wires.sharp-json.bind=127.0.0.1:0",
                           "--set", "wires.sharp-json.peer=127.0.0.1:%d" % peer.getsockname()[1])
        self.assertGreater(len(inputs), 50)
        peer.close()


class Events(unittest.TestCase):
    def test_what_happened_stands_in_the_log(self):
        log = FOLDER / "events.wpilog"
        peer = udp_peer()
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "speed=4", "--record", log,
                    "--set", "wires.float-udp.bind=127.0.0.1:0",
                    "--set", "wires.float-udp.peer=127.0.0.1:%d" % peer.getsockname()[1]) as program:
            page = Page(program.addresses["web"])

            def event(text):
                page.until(lambda message: isinstance(message, dict) and message["type"] == "event"
                           and text in message["text"])

            peer.recv(2048)
            peer.sendto(struct.pack("<6f", 1, 0, 0, 0, 0, 0), program.address("float-udp"))
            event("driven by")
            event("watchdog")
            page.send(type="trial", action="start", why="motion", driver="Ada\n" + "ä" * 1000)
            event("started by motion")
            page.send(type="trial", action="stop", why="tube1.z > 1", driver="Ada", time=12.5)
            event("stopped by tube1.z > 1 after 12.500 s, driver Ada")
            page.send(type="trial", action="void", why="The world was reset")
            event("void: The world was reset")
            page.send(type="trial", action="win")
            page.until(lambda message: isinstance(message, dict) and message["type"] == "error")
            page.send(type="control", action="pause")
            event("paused")
            page.send(type="control", action="resume")
            event("resumed")
            page.send(type="control", action="reset", robot=-1)
            event("reset")
            page.close()
            self.assertEqual(program.stop(), 0, program.text())
        peer.close()
        said = [text for _, text in Log(log.read_bytes()).values["/events"]]
        wanted = ["float-udp: driven by 127.0.0.1:", "float-udp: watchdog: silent for 0.5 s", "trial: started by motion, driver Ada ä",
                  "trial: stopped by tube1.z > 1 after 12.500 s, driver Ada", "trial: void: The world was reset",
                  "web: paused", "web: resumed", "world: reset"]
        found = [text for text in said if any(text.startswith(part) for part in wanted)]
        self.assertEqual(len(found), len(wanted), said)
        for text, part in zip(found, wanted):
            self.assertTrue(text.startswith(part), (text, part))

    def test_connections_stand_in_the_log(self):
        log = FOLDER / "connections.wpilog"
        with Tether("run", "gripper", "--no-web", "--record", log, "--set", "wires.lockstep-tcp.listen=127.0.0.1:0") as program:
            connect(program.addresses["lockstep-tcp"]).close()
            program.wait_line("disconnected")
            self.assertEqual(program.stop(), 0, program.text())
        said = [text for _, text in Log(log.read_bytes()).values["/events"]]
        self.assertTrue(any(text.startswith("lockstep-tcp: connected 127.0.0.1:") for text in said), said)
        self.assertTrue(any(text.startswith("lockstep-tcp: disconnected 127.0.0.1:") for text in said), said)


class Shown(unittest.TestCase):
    """Who is at a wire of a replay looks on: to go, or to say nothing, changes nothing."""

    def keep(self, scene, answer, frames, *settings):
        log = FOLDER / f"shown_{scene}.wpilog"
        with Tether("run", scene, "--no-web", "--record", log, *settings) as program:
            with connect(next(iter(program.addresses.values()))) as link, link.makefile("rb") as stream:
                for _ in range(frames):
                    answer(link, stream)
            self.assertEqual(program.stop(), 0, program.text())
        return log

    def test_a_peer_that_goes(self):
        def answer(link, stream):
            stream.read(lockstep_tcp.FRAME.size)
            link.sendall(lockstep_tcp.VELOCITIES.pack(*[0.1] * 10))

        log = self.keep("gripper", answer, 200, "--set", "wires.lockstep-tcp.listen=127.0.0.1:0")
        for policy in "reset", "exit":
            with self.subTest(policy=policy), Tether("replay", log, "--wires", "--set", "web.listen=127.0.0.1:0", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0",
                                                     "--set", f"wires.lockstep-tcp.on_disconnect={policy}") as program:
                seen = []
                for _ in range(2):
                    with connect(program.addresses["lockstep-tcp"]) as link, link.makefile("rb") as stream:
                        seen.append([lockstep_tcp.FRAME.unpack(stream.read(lockstep_tcp.FRAME.size))[1] for _ in range(20)])
                    program.wait_line("disconnected")
                self.assertGreaterEqual(seen[1][0], seen[0][-1])  # a joint that always went on
                self.assertGreater(seen[0][-1], 0)

    def test_a_peer_that_says_nothing(self):
        def answer(link, stream):
            ezphysics.receive(stream)
            link.sendall(ezphysics.message())

        log = self.keep("ezphysics", answer, 120, "--set", "wires.ezphysics.listen=127.0.0.1:0")
        with Tether("replay", log, "--wires", "--set", "web.listen=127.0.0.1:0", "--set", "wires.ezphysics.listen=127.0.0.1:0",
                    "--set", "wires.ezphysics.receive_timeout=0.05 s") as program, connect(program.addresses["ezphysics"]) as link, link.makefile("rb") as stream:
            link.settimeout(60)
            program.wait_line("the kept run ends here")
            self.assertTrue(ezphysics.receive(stream))
            self.assertEqual(program.stop(), 0, program.text())


if __name__ == "__main__":
    unittest.main()
