#!/usr/bin/env python3
"""pace: lockstep over UDP, against the real program: the same bits again and again, faster than real time, and what becomes of a
run in which a message is lost."""
import json
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from support import sharp
from support.process import ROOT, TETHER, Tether, at_best, seconds

SENSORS = struct.Struct("<10f")
ACTUATORS = struct.Struct("<6f")
CLIENTS = ROOT / "clients"


def run(scene, wire, *settings, peer="sender", log=None):
    arguments = ["run", scene, "--no-web", "--pace", "lockstep"]
    for setting in (f"wires.{wire}.bind=127.0.0.1:0", f"wires.{wire}.peer={peer}", *settings):
        arguments += ["--set", setting]
    return Tether(*arguments, *(["--record", log] if log else ["--set", "record.on=off"]))


def torques(stamp, sensors):
    """Of what it is told alone."""
    return ACTUATORS.pack(stamp, 50 - sensors[5], 40 - sensors[6], -100 * sensors[3], -20 * sensors[4], 0)


def drive(link, messages, stamp=1, hello=True):
    """Every byte received: `messages` of them, each but the last answered."""
    if hello:
        link.send(ACTUATORS.pack(stamp, 99, 99, 0, 0, 0))
    stream = link.recv(2048)
    for n in range(1, messages):
        link.send(torques(stamp + n, SENSORS.unpack(stream[-SENSORS.size:])))
        stream += link.recv(2048)
    return stream


def drive_vehicle(link, messages):
    link.send(sharp.command(left=99))
    stream = link.recv(2048)
    for n in range(1, messages):
        link.send(sharp.command(left=300, right=300 if n % 100 < 50 else -300, elevator=512 - int(stream[-6:-2])))
        stream += link.recv(2048)
    return stream


def connect(tether, wire):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(20)
    link.connect(tether.address(wire))
    return link


class Repeatable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_ten_runs_byte_for_byte(self):
        for scene, wire, way in ("frc2011", "float-udp", drive), ("sharp", "sharp-json", drive_vehicle):
            streams = set()
            for _ in range(10):
                with run(scene, wire) as tether, connect(tether, wire) as link:
                    streams.add(way(link, 40))
            self.assertEqual(len(streams), 1, scene)

    def test_faster_than_real_time(self):
        def five_seconds():
            with run("sharp", "sharp-json") as tether, connect(tether, "sharp-json") as link:
                return seconds(lambda: drive_vehicle(link, 5000 // 17))
        at_best(five_seconds, 5)

    def sample(self, wire, scene, *command, whole=True, amount):
        """The log of a run with a sample client, which starts after the world."""
        own, log = sharp.free_ports(1)[0], str(self.folder / f"{len(list(self.folder.iterdir()))}.wpilog")
        with run(scene, wire, peer=own, log=log) as tether:
            port = tether.address(wire)[1]
            where = [f"127.0.0.1:{port}", own] if whole else [port, own.rsplit(":", 1)[1]]
            done = subprocess.run(list(map(str, [*command, *where, amount])), capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            tether.wait_line("nobody is at its peer's port")
            self.assertEqual(tether.stop(), 0)
        return log, done.stdout

    def twice(self, *arguments, **more):
        (one, said), (other, again) = self.sample(*arguments, **more), self.sample(*arguments, **more)
        self.assertEqual(said, again)
        done = subprocess.run([TETHER, "compare", one, other], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        summary = subprocess.run([TETHER, "export", one, "--format", "summary"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("repeatable: no", summary)

    def test_the_python_samples(self):
        self.twice("float-udp", "frc2011", sys.executable, CLIENTS / "python/float_udp.py", amount=1)
        self.twice("sharp-json", "sharp", sys.executable, CLIENTS / "python/sharp_json.py", amount=100)

    def test_a_controller_over_udp_is_verified(self):
        """`verify --controller` runs it once more: the same signals, or the place where they differ."""
        sample, own = CLIENTS / "python/float_udp.py", sharp.free_ports(1)[0]
        log = str(self.folder / "good.wpilog")
        with run("frc2011", "float-udp", peer=own, log=log) as tether:
            subprocess.run([sys.executable, sample, "%s:%d" % tether.address("float-udp"), own, "0.5"], check=True, stdout=subprocess.DEVNULL)
            tether.wait_line("nobody is at its peer's port")
            self.assertEqual(tether.stop(), 0)
        other = self.folder / "other.py"
        other.write_text(sample.read_text().replace("20 * (4 -", "20 * (3 -"))
        for program, status in (sample, 0), (other, 1):
            done = subprocess.run([TETHER, "verify", log, "--controller", f"{sys.executable} {program} $TETHER_FLOAT_UDP {own} 0.5"],
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_the_c_samples(self):
        for name, wire, scene, amount in ("float_udp", "float-udp", "frc2011", 1), ("sharp_json", "sharp-json", "sharp", 100):
            program = self.folder / name
            subprocess.run(["cc", "-std=c11", "-O2", CLIENTS / "c" / f"{name}.c", "-o", program], check=True)
            self.twice(wire, scene, program, whole=False, amount=amount)

    @unittest.skipUnless(shutil.which("javac"), "no JDK here")
    def test_the_java_samples(self):
        subprocess.run(["javac", "-d", self.folder, CLIENTS / "java/FloatUdp.java", CLIENTS / "java/SharpJson.java"], check=True)
        self.twice("float-udp", "frc2011", "java", "-cp", self.folder, "FloatUdp", whole=False, amount=1)
        self.twice("sharp-json", "sharp", "java", "-cp", self.folder, "SharpJson", amount=100)


class Lost(unittest.TestCase):
    def test_a_lost_message_is_sent_again_and_the_log_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/run.wpilog"
            with run("frc2011", "float-udp", "wires.float-udp.deadline=50 ms", log=log) as tether, connect(tether, "float-udp") as link:
                stream = drive(link, 20)
                lost = SENSORS.unpack(stream[-SENSORS.size:])  # nobody answers it
                again = SENSORS.unpack(link.recv(2048))
                self.assertGreater(again[0], lost[0])
                self.assertEqual(again[1:], lost[1:])
                link.send(torques(100, again))
                self.assertGreater(SENSORS.unpack(link.recv(2048))[0], again[0])
                self.assertIn("the run may not repeat", tether.wait_line("answered after the message was sent again"))
                self.assertEqual(tether.stop(), 0)
            summary = subprocess.run([TETHER, "export", log, "--format", "summary"], capture_output=True, text=True, check=True).stdout
            self.assertIn("repeatable: no", summary)
            self.assertIn("sent again", summary)  # the event
            facts = json.loads(subprocess.run([TETHER, "runs", "--json", "--folder", folder], capture_output=True, text=True, check=True).stdout)
            self.assertGreater(facts["repeated"], 0)
            verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stderr)

    def test_faults_of_the_scene_lose_no_step(self):
        """A fifth is lost on both ways, more comes twice: every period comes to its end, and time always grows."""
        with run("frc2011", "float-udp", "wires.float-udp.deadline=20 ms", "wires.float-udp.faults.loss=0.2",
                 "wires.float-udp.faults.duplicate=0.2", "wires.float-udp.faults.reorder=0.1") as tether, \
                connect(tether, "float-udp") as link:
            link.settimeout(0.05)
            stamp, now = 0, -1
            while now < 0.5:
                stamp += 1
                try:
                    time, *_ = SENSORS.unpack(link.recv(2048))
                    if time <= now:
                        continue  # the filter of the seed
                    now = time
                except socket.timeout:
                    if now >= 0:
                        continue
                link.send(ACTUATORS.pack(stamp, 10, 10, 0, 0, 0))
            self.assertEqual(tether.stop(), 0)


if __name__ == "__main__":
    unittest.main()
