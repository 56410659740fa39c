#!/usr/bin/env python3
"""halsim-ws against the real program, with a robot program that stands in for one on WPILib: halsim_robot.c."""
import csv
import io
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from support.process import TETHER, Tether, wait_for

ROBOT = sys.argv.pop()


class Robot:
    """A running robot program; its lines are collected in `lines`."""

    def __init__(self, *arguments):
        self.lines = []
        self.process = subprocess.Popen([ROBOT, *arguments], stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    def wait_line(self, part, count=1):
        """The `count`-th line with `part`."""
        found = wait_for(lambda: [line for line in list(self.lines) if part in line][count - 1:count], f"{count} × '{part}'", 60)
        return found[0].strip()

    def address(self):
        return self.wait_line("listening").split()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join(5)
        self.process.stdout.close()


def run(scene, *settings, record=None):
    arguments = ["run", scene, "--no-web"]
    for setting in settings:
        arguments += ["--set", setting]
    return Tether(*arguments, *(["--record", record] if record else []))


def to(robot):
    return f"wires.halsim-ws.connect=ws://{robot.address()}/wpilibws"


def positions(log):
    """(x, y) of the chassis at the log's beginning and its end."""
    text = subprocess.run([TETHER, "export", log, "--format", "csv"], check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#")))
    return [[float(next(value for name, value in row.items() if name.startswith(signal))) for signal in ("chassis.x", "chassis.y")]
            for row in (rows[0], rows[-1])]


class Halsim(unittest.TestCase):
    def drives_two_metres(self, robot, tether, log):
        self.assertAlmostEqual(float(robot.wait_line("arrived").split()[1]), 2, delta=0.03)
        self.assertEqual(tether.stop(), 0)
        verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        (x, y), (end_x, end_y) = positions(log)
        self.assertAlmostEqual(end_x - x, 2, delta=0.2)  # wheels slip where a busy machine makes the drive jerky
        self.assertAlmostEqual(end_y - y, 0, delta=0.1)

    def test_a_program_that_listens_drives_two_metres_and_stops(self):
        with tempfile.TemporaryDirectory() as folder, Robot() as robot:
            log = os.path.join(folder, "log")
            with run("frc2011-wpilib", to(robot), record=log) as tether:
                self.drives_two_metres(robot, tether, log)

    def test_a_program_that_connects_drives_two_metres_and_stops(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            with run("frc2011-wpilib", "wires.halsim-ws.listen=127.0.0.1:0", record=log) as tether, \
                    Robot("--connect", "ws://" + tether.addresses["halsim-ws"]) as robot:
                self.drives_two_metres(robot, tether, log)

    def test_the_simulation_waits_for_no_program_and_outlives_each(self):
        with Robot("--metres", "100") as first:
            address = first.address()
            with run("sharp-wpilib", f"wires.halsim-ws.connect=ws://{address}/wpilibws") as tether:
                first.wait_line("enabled")
                first.__exit__()
                tether.wait_line("disconnected")
                tether.wait_line("watchdog: silent")
                with Robot("--listen", address) as second:  # the same program, started again
                    tether.wait_line("heard again")
                    second.wait_line("enabled")

    def test_each_reason_of_a_refusal_is_told_once(self):
        """Another server has the port first; then the program's, to which another simulator is connected."""
        answers = ["404 Not Found", "404 Not Found"] + 3 * ["409 Only a single simulation websocket is allowed"]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(60)
            with run("sharp-wpilib", "wires.halsim-ws.connect=ws://127.0.0.1:%d/wpilibws" % listener.getsockname()[1]) as tether:
                for answer in answers:
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(4096)
                        connection.sendall(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode())
                        connection.recv(4096)  # its end
                tether.wait_line("refused: the server answered 409 Only a single simulation websocket is allowed")
                self.assertEqual([sum(reason in line for line in tether.lines) for reason in ("answered 404", "answered 409")], [1, 1])

    def test_devices_that_nobody_mapped_are_listed_with_their_lines(self):
        with Robot() as robot, run("sharp-wpilib", to(robot), "wires.halsim-ws.devices[0].device=9") as tether:
            line = tether.wait_line("uses PWM 0,")
            self.assertIn('- {type: PWM, device: "0", command: ', line)


if __name__ == "__main__":
    unittest.main()
