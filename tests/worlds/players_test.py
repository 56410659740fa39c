#!/usr/bin/env python3
"""Six robots with six controllers in one world: each has its own ports, one that is silent or broken disturbs no other,
and a reset of one is no other's."""
import socket
import struct
import subprocess
import threading
import unittest

from support.process import TETHER, Tether, wait_for

SENSORS, ACTUATORS = struct.Struct("<10f"), struct.Struct("<6f")
ROBOTS = ["red1", "red2", "red3", "blue1", "blue2", "blue3"]


class Controller(threading.Thread):
    """Answers each sensor message with what `message(stamp)` gives, until stopped; keeps what it heard."""

    def __init__(self, message):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.5)
        self.message, self.heard, self.stamp, self.over = message, [], 0, False

    @property
    def address(self):
        return "127.0.0.1:%d" % self.socket.getsockname()[1]

    def run(self):
        while not self.over:
            try:
                data = self.socket.recv(2048)
            except socket.timeout:
                continue
            self.heard.append(SENSORS.unpack(data))
            self.stamp += 1
            answer = self.message(self.stamp)
            if answer is not None:
                self.socket.sendto(answer, self.vehicle)

    def stop(self):
        self.over = True
        if self.is_alive():
            self.join(5)
        self.socket.close()


def drive(stamp):
    return ACTUATORS.pack(stamp, 30, 30, 0, 0, 0)


class Players(unittest.TestCase):
    def start(self, messages, *settings, options=()):
        controllers = dict(zip(ROBOTS, map(Controller, messages)))
        for controller in controllers.values():
            self.addCleanup(controller.stop)
        arguments = ["run", "frc2011-six", "--set", "record.on=false", *options]
        for name, controller in controllers.items():
            for setting in ("bind=127.0.0.1:0", "peer=" + controller.address):
                arguments += ["--set", f"wires.{name}.float-udp.{setting}"]
        for setting in settings:
            arguments += ["--set", setting]
        tether = Tether(*arguments)
        self.addCleanup(tether.__exit__)
        for name, controller in controllers.items():
            controller.vehicle = tether.address(name + ".float-udp")
            controller.start()
        return tether, controllers

    def test_one_silent_and_one_broken_disturb_no_other(self):
        nonsense = [ACTUATORS.pack(9, 30, float("nan"), 0, 0, 0), b"\xff" * 24, b"hello", b"", b"\0" * 3000,
                    ACTUATORS.pack(9, 1e30, 0, 0, 0, 0), ACTUATORS.pack(9, 0, 0, 0, 0, 2.5)]
        silent = lambda stamp: drive(stamp) if stamp <= 20 else None  # noqa: E731
        broken = lambda stamp: nonsense[stamp % len(nonsense)]  # noqa: E731
        tether, controllers = self.start([drive, silent, drive, broken, drive, drive], options=["--no-web"])
        tether.wait_line("red2.float-udp")
        wait_for(lambda: all(len(one.heard) > 150 for one in controllers.values()), "1.5 s for everybody")
        said = tether.text()
        for name, controller in controllers.items():
            speed = [heard[5] for heard in controller.heard]
            times = [heard[0] for heard in controller.heard]
            self.assertEqual(times, sorted(set(times)), name)
            if name == "blue1":
                self.assertLess(max(speed), 0.5, "nothing that is broken moves a robot")
                self.assertRegex(said, r"blue1\.float-udp.*(not a finite|bytes where)")
            elif name == "red2":
                self.assertGreater(max(speed), 1)
                self.assertLess(speed[149], max(speed) / 2, "silence brakes nobody but it rolls out")
                self.assertRegex(said, r"red2\.float-udp.*watchdog: silent for 0.5 s")
            else:
                self.assertGreater(speed[149], 3, name)
                self.assertNotRegex(said, name + r"\.float-udp.*(watchdog|not a finite|bytes where)")
        self.assertEqual(tether.stop(), 0)

    def test_a_player_moves_the_default_ports(self):
        text = subprocess.run([TETHER, "check", "frc2011-six"], capture_output=True, text=True, check=True).stdout
        for number, name in enumerate(ROBOTS):
            self.assertRegex(text, rf"{name}\.float-udp.*127\.0\.0\.1:{5801 + 10 * number}\b")
        text = subprocess.run([TETHER, "check", "sharp-six"], capture_output=True, text=True, check=True).stdout
        for number, name in enumerate(ROBOTS):
            self.assertRegex(text, rf"{name}\.sharp-json.*127\.0\.0\.1:{8000 + 10 * number}\b")
        for player in ("0", "101"):
            refused = subprocess.run([TETHER, "check", "gripper", "--set", "wires.lockstep-tcp.player=" + player],
                                     capture_output=True, text=True, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(f"{player} is no player; give 1 to 100", refused.stderr)

    def test_a_player_resets_its_own_vehicle_alone(self):
        command = "{ 'leftDriveMotorSpeed': %04d, 'rightDriveMotorSpeed': %04d, 'elevatorMotorSpeed': 0000, " \
                  "'back': 0, 'guide': %d, 'start': 0 }"
        links = {}
        arguments = ["run", "sharp-six", "--no-web", "--set", "record.on=false"]
        for name in ROBOTS:
            link = links[name] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(link.close)
            link.bind(("127.0.0.1", 0))
            link.settimeout(20)
            for setting in ("bind=127.0.0.1:0", "peer=127.0.0.1:%d" % link.getsockname()[1]):
                arguments += ["--set", f"wires.{name}.sharp-json.{setting}"]
        with Tether(*arguments) as tether:
            vehicles = {name: tether.address(name + ".sharp-json") for name in ROBOTS}

            def encoder(name):
                return int(links[name].recv(2048)[22:26])

            def turn(guides=()):
                for name in ROBOTS:
                    links[name].sendto((command % (100, 100, name in guides)).encode(), vehicles[name])
                return {name: encoder(name) for name in ROBOTS}

            wait_for(lambda: 100 < min(turn().values()), "everybody to drive")
            before = turn()
            wait_for(lambda: turn(["red2"])["red2"] < 60, "the reset")
            after = turn()
            for name in ROBOTS:
                if name != "red2":
                    self.assertGreaterEqual((after[name] - before[name]) % 1024, 0)
                    self.assertLess((after[name] - before[name]) % 1024, 500, name)
            tether.wait_line("reset red2")
            self.assertEqual(tether.text().count("world: reset"), 1)


if __name__ == "__main__":
    unittest.main()
