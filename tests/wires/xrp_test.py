#!/usr/bin/env python3
"""The wire xrp and its robot, against the real program: what a WPILib program of season 2026 sent, replayed, and a line followed."""
import csv
import gzip
import io
import json
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from support.process import ROOT, TETHER, Tether

sys.path.insert(0, str(ROOT / "clients" / "python"))
import xrp_line  # pylint: disable=wrong-import-position

TRANSCRIPT = ROOT / "tests" / "transcripts" / "halsim-xrp-2026.jsonl.gz"
CLIENT = ROOT / "clients" / "python" / "xrp_line.py"
SIZES = {0x14: 3, 0x15: 6, 0x16: 25, 0x17: 13, 0x18: 14}


def run(*settings, pace="lockstep", log=None, bind="127.0.0.1:0"):
    arguments = ["run", "xrp", "--no-web", "--pace", pace, "--set", f"wires.xrp.bind={bind}"]
    for setting in settings:
        arguments += ["--set", setting]
    return Tether(*arguments, *(["--record", log] if log else ["--set", "record.on=off"]))


def connect(tether):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(20)
    link.connect(tether.address("xrp"))
    return link


def tags(answer):
    """(number, [(tag, payload)]) of a message from the robot, whose sizes are those of the byte table."""
    number, control = struct.unpack_from(">HB", answer)
    assert control == 0
    found, at = [], 3
    while at < len(answer):
        size, tag = answer[at], answer[at + 1]
        assert size == SIZES[tag], (size, tag)
        found.append((tag, answer[at + 2:at + 1 + size]))
        at += 1 + size
    assert at == len(answer)
    return number, found


class Program:
    """Hears as halsim_xrp does: nothing whose number is not greater than the last, but for a new round."""

    def __init__(self):
        self.heard = 0

    def takes(self, answer):
        number, _ = tags(answer)
        if number <= self.heard and not (0xFFFF - self.heard < 3 and number < 3):
            return False
        self.heard = number
        return True


class Xrp(unittest.TestCase):
    def test_a_real_programs_messages_are_answered_twice_the_same(self):
        with gzip.open(TRANSCRIPT, "rt") as lines:
            sent = [bytes.fromhex(line["hex"]) for line in map(json.loads, lines) if line["from"] == "robot"]
        self.assertGreater(len(sent), 100)
        streams = []
        for _ in range(2):
            program, answers = Program(), []
            with run() as tether, connect(tether) as link:
                link.send(sent[0])  # says who is there
                for message in sent[1:]:
                    answers.append(link.recv(2048))
                    self.assertTrue(program.takes(answers[-1]))
                    link.send(message)
                self.assertNotIn("dropped", tether.text())
            streams.append(b"".join(answers))
            for answer in answers[10:]:
                _, found = tags(answer)
                self.assertEqual([tag for tag, _ in found], [0x18, 0x18, 0x16, 0x17, 0x15, 0x15, 0x15])
                for tag, payload in found:  # the program never enabled its robot, which stands over the line
                    if tag == 0x18:
                        self.assertEqual(struct.unpack(">iII", payload[1:])[0], 0)
                    if tag == 0x17:
                        self.assertAlmostEqual(struct.unpack(">3f", payload)[2], 1, delta=0.05)
                    if tag == 0x15 and payload[0] < 2:
                        self.assertAlmostEqual(struct.unpack(">f", payload[1:])[0], 2.75, delta=0.3)
        self.assertEqual(streams[0], streams[1])

    def test_wheels_servo_encoders_and_periods(self):
        with run() as tether, connect(tether) as link:
            def loops(count, **order):
                for _ in range(count):
                    link.send(xrp_line.message(loops.number, order.get("enabled", 1), order["left"], order["right"]))
                    loops.number += 1
                    answer = link.recv(2048)
                return dict(((tag, payload[0]) if tag in (0x15, 0x18) else tag, payload) for tag, payload in tags(answer)[1])
            loops.number = 0
            seen = loops(50, left=0.5, right=0.5)
            for which in range(2):
                count, period, divisor = struct.unpack(">iII", seen[0x18, which][1:])
                self.assertGreater(count, 300)
                self.assertEqual((period & 1, divisor), (1, 1000000))
                # Half of 6 V: 60 rpm without load, 585 counts a turn.
                self.assertAlmostEqual(1 / ((period >> 1) / divisor), 585, delta=80)
            seen = loops(50, left=-0.5, right=0.5)
            self.assertGreater(struct.unpack(">6f", seen[0x16])[2], 30)  # deg/s: to the left is positive
            self.assertEqual(struct.unpack(">iII", seen[0x18, 0][1:])[1] & 1, 0)
            seen = loops(25, left=9, right=9)  # full speed
            fast = struct.unpack(">i", seen[0x18, 0][1:5])[0]
            seen = loops(25, left=1, right=1, enabled=0)
            still = struct.unpack(">i", seen[0x18, 0][1:5])[0]
            seen = loops(5, left=1, right=1, enabled=0)
            self.assertEqual(struct.unpack(">i", seen[0x18, 0][1:5])[0], still)
            self.assertGreater(still, fast)

    def test_a_program_hears_a_robot_that_was_started_again(self):
        program = Program()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            place = "127.0.0.1:%d" % probe.getsockname()[1]
        for _ in range(3):
            with run(bind=place) as tether, connect(tether) as link:
                for number in range(40):
                    link.send(xrp_line.message(number, 1, 0, 0))
                    self.assertTrue(program.takes(link.recv(2048)))

    def test_the_sample_client_follows_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "line.wpilog"
            with run(log=log) as tether:
                done = subprocess.run([sys.executable, CLIENT, tether.addresses["xrp"], "30"], capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(tether.stop(), 0)
                # On a busy machine an answer takes longer than the client waits for it: it sends again, and that is one too many.
                self.assertEqual([line for line in tether.lines if "dropped" in line and "more answers than messages" not in line], [])
            exported = subprocess.run([TETHER, "export", log], capture_output=True, text=True, check=True)
            verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stderr)
        rows = list(csv.DictReader(io.StringIO(exported.stdout)))
        column = {name.split(" ")[0]: name for name in rows[0]}
        for row in rows[1:]:  # the middle between the eyes stays over the tape
            self.assertLess(max(float(row[column[eye + ".distance"]]) for eye in ("left_eye", "right_eye")), 0.025, row)
        places = [(float(row[column["chassis.x"]]), float(row[column["chassis.y"]])) for row in rows]
        for corner in (0.7, 0.4), (-0.7, 0.4), (-0.7, -0.4):
            self.assertTrue(any((x - corner[0]) ** 2 + (y - corner[1]) ** 2 < 0.02 for x, y in places), corner)
        self.assertGreater(float(rows[-1][column["gyro_z.angle"]]), 6.28, "all the way round")

    def test_it_drives_in_real_time_too(self):
        with run(pace="realtime") as tether:
            done = subprocess.run([sys.executable, CLIENT, tether.addresses["xrp"], "1"], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(int(done.stdout.split()[-1]), 200)


if __name__ == "__main__":
    unittest.main()
