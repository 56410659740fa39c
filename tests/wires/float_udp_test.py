#!/usr/bin/env python3
"""float-udp against the real program: rates, filtering, a restarted controller, and the sample clients."""
import http.client
import json
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from support.process import ROOT, Tether, at_best, seconds

SENSORS = struct.Struct("<10f")
ACTUATORS = struct.Struct("<6f")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(peer, *settings):
    arguments = ["run", "frc2011", "--no-web"]
    for setting in ("wires.float-udp.bind=127.0.0.1:0", f"wires.float-udp.peer={peer}", *settings):
        arguments += ["--set", setting]
    return Tether(*arguments)


def open_link(tether=None, port=0):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(("127.0.0.1", port))
    link.settimeout(20)
    if tether:
        link.connect(tether.address("float-udp"))
    return link


class FloatUdp(unittest.TestCase):
    def test_sensors_leave_every_period_and_time_grows(self):
        with open_link() as link, run("127.0.0.1:%d" % link.getsockname()[1]):
            times = [SENSORS.unpack(link.recv(2048))[0] for _ in range(100)]
        self.assertEqual(times[0], 0)
        for tick, now in enumerate(times):
            self.assertAlmostEqual(now, tick * 0.01, places=6)

    def test_time_goes_on_with_another_scene(self):
        """One filter at the client's end lives through what people choose in the pages."""
        with open_link() as link, Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "record.on=false",
                                         "--set", "wires.float-udp.bind=127.0.0.1:0", "--set",
                                         "wires.float-udp.peer=127.0.0.1:%d" % link.getsockname()[1]) as tether:
            before = 0
            while before < 0.3:
                before = SENSORS.unpack(link.recv(2048))[0]
            host = tether.addresses["web"].removeprefix("http://")
            connection = http.client.HTTPConnection(host, timeout=20)
            connection.request("POST", "/api/scenes", json.dumps({"name": "concept-symmetric"}),
                               {"Origin": "http://" + host, "Content-Type": "application/json"})
            self.assertEqual(connection.getresponse().status, 202)
            connection.close()
            begun = None
            while begun is None or before < begun + 0.1:
                now = SENSORS.unpack(link.recv(2048))[0]
                self.assertGreater(now, before)
                before = now
                if begun is None and sum(line.startswith("ready ") for line in list(tether.lines)) == 2:
                    begun = now

    def test_the_sender_is_answered_and_its_torques_drive(self):
        with run("sender") as tether, open_link(tether) as link:
            stamp, speed = 0, 0
            while speed < 1:
                stamp += 1
                link.send(ACTUATORS.pack(stamp, 50, 50, 0, 0, 0))
                speed = SENSORS.unpack(link.recv(2048))[5]
                self.assertLess(stamp, 1000)

    def test_bad_messages_are_named_in_the_log(self):
        with run("sender") as tether, open_link(tether) as link:
            link.send(ACTUATORS.pack(10, 0, 0, 0, 0, 0))
            link.recv(2048)
            good = ACTUATORS.pack(11, 0, 0, 0, 0, 0)
            cases = [(good[:-1], "23 bytes where 6 floats of 4 bytes are expected"),
                     (ACTUATORS.pack(11, 0, 0, float("nan"), 0, 0), "field 4 (arm.torque) is not a finite number"),
                     (ACTUATORS.pack(11, 1e30, 0, 0, 0, 0), "field 2 (left_track.torque)"),
                     (ACTUATORS.pack(10, 0, 0, 0, 0, 0), "stamp 10 after 10")]
            for message, said in cases:
                link.send(message)
                self.assertIn("127.0.0.1:%d" % link.getsockname()[1], tether.wait_line(said))

    def test_the_wrong_byte_order_is_told(self):
        with run("sender") as tether, open_link(tether) as link:
            link.send(struct.pack(">6f", 0.5, 5, 0, 0, 0, 0))
            self.assertIn("127.0.0.1:%d" % link.getsockname()[1], tether.wait_line("look like big-endian floats"))
        with run("sender") as tether, open_link(tether) as link:
            link.send(struct.pack(">6f", 0.5, 0.1, 0, 0, 0, 0))  # refused: 0.1 arrives as -4.29e8
            self.assertIn("127.0.0.1:%d" % link.getsockname()[1], tether.wait_line("look like big-endian floats"))

    def test_a_restarted_controller_is_heard_after_a_second(self):
        with run("sender") as tether:
            with open_link(tether) as link:
                for stamp in range(1000, 1010):
                    link.send(ACTUATORS.pack(stamp, 0, 0, 0, 0, 0))
                    link.recv(2048)
            with open_link(tether) as link:
                start = None
                for stamp in range(1, 400):
                    link.send(ACTUATORS.pack(stamp, 0, 0, 0, 0, 0))
                    link.settimeout(0.01)
                    try:
                        start = SENSORS.unpack(link.recv(2048))[0]
                        break
                    except socket.timeout:
                        continue
                self.assertIsNotNone(start)
                tether.wait_line("watchdog")
                tether.wait_line("heard again")

    def test_the_end_is_quick_and_clean(self):
        def end():
            with run("sender") as tether, open_link(tether) as link:
                link.send(ACTUATORS.pack(1, 50, 50, 0, 0, 0))
                link.recv(2048)
                return seconds(lambda: self.assertEqual(tether.stop(), 0))
        at_best(end, 1)


class Samples(unittest.TestCase):
    def run_sample(self, *command):
        own = free_port()
        with run(f"127.0.0.1:{own}") as tether:
            port = tether.address("float-udp")[1]
            where = [f"127.0.0.1:{port}", f"127.0.0.1:{own}"] if command[0] == sys.executable else [str(port), str(own)]
            result = subprocess.run([*command, *where, "2"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"done: \d+ messages, wheels at [1-9]\d*\.\d+ [1-9]\d*\.\d+ rad")

    def test_python(self):
        self.run_sample(sys.executable, str(ROOT / "clients/python/float_udp.py"))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_c(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/float_udp"
            subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", ROOT / "clients/c/float_udp.c", "-o", program],
                           check=True)
            self.run_sample(program)

    @unittest.skipUnless(shutil.which("java"), "no Java")
    def test_java(self):
        self.run_sample("java", str(ROOT / "clients/java/FloatUdp.java"))


if __name__ == "__main__":
    unittest.main()
