#!/usr/bin/env python3
"""The wire halsim-step: the stand-in robot program, with tether-halsim.so in it, drives the scenes for WPILib in lock-step: far, the
same each time, and whatever happens to the connection or the program is met as docs/wires/halsim-step.md says."""
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import stepping
from stepping import Link, message
from support.process import ROOT, TETHER, Tether, at_best, seconds, wait_for
from support.proxy import TcpProxy

LONG = bool(os.environ.get("TETHER_LONG"))


def run(scene, *settings, log=None):
    arguments = ["run", scene, "--no-web", "--set", "wires.halsim-step.listen=127.0.0.1:0"]
    for setting in settings:
        arguments += ["--set", setting if setting.startswith(("game", "pace")) else f"wires.halsim-step.{setting}"]
    return Tether(*arguments, *(["--record", log] if log else ["--set", "record.on=off"]))


class Wire(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, tether, *arguments, address=None, **more):
        address = address or tether.address("halsim-step")
        program = stepping.program("%s:%d" % address, *arguments, **more)

        def clean():
            program.kill()
            program.communicate()
        self.addCleanup(clean)
        return program

    def finish(self, program):
        out, err = program.communicate(timeout=stepping.TIMEOUT)
        self.assertEqual(program.returncode, 0, err)
        return float(re.search(r"drove (\S+) m", out)[1])

    def drive(self, scene, *settings, log=None, arguments=("--loops", 200)):
        """How far the program's encoders say it drove. The world ends with the program."""
        with run(scene, "on_disconnect=exit", *settings, log=log) as tether:
            far = self.finish(self.start(tether, *arguments))
            self.assertEqual(tether.wait_exit(), 0, tether.text())
        return far

    # --- driving ---

    def test_drives_two_meters_and_stops(self):
        for scene in "sharp-wpilib-step", "frc2011-wpilib-step":
            log = self.folder / f"{scene}.wpilog"
            self.assertAlmostEqual(self.drive(scene, log=log), 2, delta=0.03, msg=scene)
            rows = list(csv.DictReader(subprocess.run([TETHER, "export", log], capture_output=True, text=True, check=True).stdout.splitlines()))
            x, y, speed = ([float(row[f"chassis.{name}"]) for row in (rows[0], rows[-1])] for name in ("x [m]", "y [m]", "vx [m/s]"))
            self.assertGreater(abs(x[1] - x[0]) + abs(y[1] - y[0]), 1.5, scene)
            self.assertLess(abs(speed[1]), 0.01, scene)

    def test_ten_runs_one_hash(self):
        """Though each begins after another while, 0 to 300 ms."""
        logs = [self.folder / f"{n}.wpilog" for n in range(10)]
        with concurrent.futures.ThreadPoolExecutor(2) as pair:
            list(pair.map(lambda log: self.drive("sharp-wpilib-step", log=log, arguments=("--loops", 50, "--start-delay", 300)), logs))
        hashes = set()
        for log in logs:
            done = subprocess.run([TETHER, "export", log], capture_output=True, check=True)
            hashes.add(done.stdout)
        self.assertEqual(len(hashes), 1)
        for log in logs[1:3]:
            done = subprocess.run([TETHER, "compare", logs[0], log], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = subprocess.run([TETHER, "verify", logs[0]], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_program_is_verified(self):
        """`verify --controller` runs it once more: the same signals, or the place where they differ."""
        log = self.folder / "run.wpilog"
        self.drive("sharp-wpilib-step", log=log, arguments=("--loops", 100))
        for distance, status in (2, 0), (1, 1):
            controller = (f"env HALSIM_EXTENSIONS={stepping.EXTENSION} TETHER_HALSIM=$TETHER_HALSIM_STEP {stepping.ROBOT} "
                          f"--loops 100 --distance {distance}")
            done = subprocess.run([TETHER, "verify", log, "--controller", controller], capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)

    def test_faster_than_real_time(self):
        at_best(lambda: seconds(lambda: self.drive("sharp-wpilib-step", arguments=("--loops", 500))), 8)

    def test_the_driver_station(self):
        """Of a robot that is disabled, and of one on its own in a practice match."""
        self.assertEqual(self.drive("sharp-wpilib-step", "game.start=disabled", arguments=("--loops", 100)), 0)
        self.assertGreater(self.drive("sharp-wpilib-step", "game.start=autonomous", arguments=("--loops", 100)), 0.5)

    # --- the program ---

    def test_another_program_begins_anew(self):
        with run("sharp-wpilib-step") as tether:
            for _ in range(3):
                self.assertAlmostEqual(self.finish(self.start(tether, "--loops", 200)), 2, delta=0.05)
            tether.wait_line("the robot program has ended")
            self.assertEqual(tether.stop(), 0)

    def test_another_program_goes_on(self):
        """keep: the encoders go on, so that the second is told what the first left."""
        log = self.folder / "run.wpilog"
        with run("sharp-wpilib-step", "on_disconnect=keep", log=log) as tether:
            first = self.finish(self.start(tether, "--loops", 200))
            second = self.finish(self.start(tether, "--loops", 50))
            self.assertAlmostEqual(first, second, delta=0.05)
            self.assertEqual(tether.stop(), 0)

    def test_a_program_that_crashes(self):
        with run("sharp-wpilib-step") as tether:
            self.start(tether, "--loops", 20, "--trouble", "crashes").wait(stepping.TIMEOUT)
            tether.wait_line("disconnected")
            self.assertAlmostEqual(self.finish(self.start(tether, "--loops", 200)), 2, delta=0.05)

    def test_the_end_is_told_in_real_time(self):
        """It comes behind an answer that is not obeyed yet, and the connection's end with it."""
        with run("sharp-wpilib-step", "pace=realtime") as tether:
            with stepping.socket.create_connection(tether.address("halsim-step"), timeout=stepping.TIMEOUT) as raw:
                link = Link.over(raw)
                link.send_body(json.dumps(message("Step", "", **{"<version": 1, "<program": "test"})).encode() + b"\n")
                link.answer(0)
                for _ in range(50):  # after which the world has caught up with the clock
                    link.frame()
                    link.answer(20000)
                link.send_body(json.dumps(message("Step", "", **{"<end": "so long"})).encode() + b"\n")
                link.close()
            self.assertIn("so long", tether.wait_line("disconnected"))

    def test_outputs_that_are_no_numbers(self):
        """JSON has none: they are null, as from WPILib's own WebSocket, and the connection goes on."""
        self.assertAlmostEqual(self.drive("sharp-wpilib-step", arguments=("--loops", 200, "--trouble", "no-number")), 2, delta=0.05)

    def test_devices_that_no_message_can_hold(self):
        """Many values are told in several messages; what has no name that can be told is left out. The connection goes on."""
        self.assertAlmostEqual(self.drive("sharp-wpilib-step", arguments=("--loops", 200, "--trouble", "odd-devices")), 2, delta=0.05)

    def test_trouble_is_told(self):
        with run("sharp-wpilib-step") as tether:
            self.start(tether, "--trouble", "never-starts", patience=0.1)
            tether.wait_line("the robot program has not started within 0.1 s")

    def test_a_loop_that_blocks(self):
        """With a policy to go on, the watchdog makes its robot safe; whoever comes next drives."""
        with run("sharp-wpilib-step", "on_disconnect=keep", "late=hold", "deadline=50 ms", "watchdog=0.2 s") as tether:
            program = self.start(tether, "--trouble", "blocks", patience=0.1)
            tether.wait_line("has not come back from the step after 0.200 s")
            tether.wait_line("watchdog: silent for 0.2 s")
            program.kill()
            tether.wait_line("disconnected")
            self.finish(self.start(tether, "--loops", 20))

    def test_a_late_answer_under_zero(self):
        """The program says its outputs when they change: what was made safe meanwhile is what it last said, once it answers."""
        log = self.folder / "run.wpilog"
        with run("sharp-wpilib-step", "on_disconnect=exit", "late=zero", "deadline=1 s", "watchdog=0", log=log) as tether:
            with stepping.socket.create_connection(tether.address("halsim-step"), timeout=stepping.TIMEOUT) as raw:
                link = Link.over(raw)
                link.send_body(json.dumps(message("Step", "", **{"<version": 1, "<program": "test"})).encode() + b"\n")
                link.answer(0)
                link.frame()
                link.answer(20000, message("PWM", "0", **{"<speed": 0.5}))
                link.frame()
                tether.wait_line("going on with safe commands")
                size = log.stat().st_size
                wait_for(lambda: log.stat().st_size > size + 20000, "some ticks with them")
                last = 0
                while last < 1000:  # what was sent meanwhile wants its answer, too
                    link.answer(0)
                    last = link.frame()[0]["data"][">frame"]
                link.close()
            self.assertEqual(tether.wait_exit(), 0)
        rows = csv.DictReader(subprocess.run([TETHER, "export", log], capture_output=True, text=True, check=True).stdout.splitlines())
        duties = [float(row["command:left_drive.duty [1]"]) for row in rows]
        self.assertEqual((duties[1], 0 in duties[2:], duties[-1]), (0.5, True, 0.5))

    def test_a_stopped_program(self):
        """SIGSTOP: its kernel goes on answering, so only the deadline can tell. Later it is let in again."""
        with run("sharp-wpilib-step", "on_disconnect=keep", "late=eject", "deadline=0.3 s") as tether:
            program = self.start(tether, "--loops", 3000)
            tether.wait_line("robot program 'robot'")
            program.send_signal(signal.SIGSTOP)
            tether.wait_line("ejected: no answer in time")
            program.send_signal(signal.SIGCONT)
            wait_for(lambda: tether.text().count("robot program 'robot'") > 1, "another hello")

    def test_troubles_without_end(self):
        """A log that a peer could fill would be its hold on us: of a connection only so many are told."""
        def head(**data):
            return json.dumps(message("Step", "", **{"<" + key: value for key, value in data.items()})).encode() + b"\n"
        with run("sharp-wpilib-step") as tether:
            self.talk(tether, head(version=1, program="test"), *[head(trouble=f"trouble {n}") for n in range(100)], head(end="over"))
            tether.wait_line("over")
            self.assertEqual(sum("trouble " in line for line in tether.lines), 32)  # a warning and an event each

    def test_devices_that_nobody_mapped(self):
        with run("sharp-wpilib-step") as tether:
            self.start(tether, "--trouble", "wall-thread")
            tether.wait_line("follows the wall clock")
            tether.wait_line('the program uses PWM 9, which no line of `devices` maps; for example - {type: PWM, device: "9", command:')

    # --- the connection ---

    def test_cut_again_and_again(self):
        """keep: torn away every few kilobytes, in the middle of whatever was under way, the drive goes on."""
        with run("sharp-wpilib-step", "on_disconnect=keep") as tether:
            for cut in (1499, 3001) if not LONG else range(1200, 9000, 97):
                with TcpProxy(tether.address("halsim-step"), cut_after=cut) as proxy:
                    self.finish(self.start(tether, "--loops", 40, address=proxy.address))
            self.assertEqual(tether.stop(), 0)

    def test_in_small_pieces(self):
        with run("sharp-wpilib-step", "on_disconnect=exit") as tether, TcpProxy(tether.address("halsim-step"), most=7) as proxy:
            far = self.finish(self.start(tether, "--loops", 60, address=proxy.address))
        self.assertEqual(far, self.drive("sharp-wpilib-step", arguments=("--loops", 60)))

    def test_tether_that_comes_back(self):
        """The program's clock stands still while nobody is there."""
        with run("sharp-wpilib-step") as tether:
            host, port = tether.address("halsim-step")
            program = self.start(tether, "--loops", 200)
            tether.wait_line("robot program 'robot'")
        with run("sharp-wpilib-step", f"listen={host}:{port}"):
            self.finish(program)

    def talk(self, tether, *bodies):
        """What a counterpart hears that says these, from first to last."""
        with stepping.socket.create_connection(tether.address("halsim-step"), timeout=stepping.TIMEOUT) as raw:
            for body in bodies:
                raw.sendall(stepping.struct.pack(">I", len(body)) + body)
            heard = b""
            try:
                while piece := raw.recv(65536):
                    heard += piece
            except ConnectionResetError:
                pass
            return heard

    def test_what_is_no_frame(self):
        """It ends the connection with a line that says why, and the next one is served."""
        def head(**data):
            return json.dumps(message("Step", "", **{"<" + key: value for key, value in data.items()})).encode() + b"\n"
        hello, ready = head(version=1, program="test"), head(time=0)
        for bodies, why in (([head(version=2, program="x")], "use the one that came with this Tether"), ([ready], "no hello stands before it"),
                            ([hello, ready, head(time=1), head(time=2), b"{}"], "no line feed ends its last message")):
            with run("sharp-wpilib-step") as tether:
                self.talk(tether, *bodies)
                tether.wait_line(why)
        with run("sharp-wpilib-step") as tether:
            for bodies in ([b""], [b"{}"], [b"{}\n"], [hello, hello], [hello, ready + b"\n"], [hello, ready + b'{"type":"PWM"}\n'],
                           [b'{"type":"PWM","device":"0","data":{}}\n'], [hello, head(step=1)]):
                self.talk(tether, *bodies)
            with stepping.socket.create_connection(tether.address("halsim-step"), timeout=stepping.TIMEOUT) as raw:
                raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
                tether.wait_line("is that tether-halsim.so?")
            self.finish(self.start(tether, "--loops", 20))

    def test_a_value_beyond_its_range(self):
        """It costs its message, not the connection."""
        with run("sharp-wpilib-step", "on_disconnect=exit") as tether:
            with stepping.socket.create_connection(tether.address("halsim-step"), timeout=stepping.TIMEOUT) as raw:
                link = Link.over(raw)
                link.send_body(json.dumps(message("Step", "", **{"<version": 1, "<program": "test"})).encode() + b"\n")
                link.answer(0)
                for n in range(1, 4):
                    self.assertEqual(link.frame()[0]["data"], {">step": 20000, ">frame": n - 1})
                    link.answer(20000 * n, message("PWM", "0", **{"<speed": 7}))
                tether.wait_line("PWM 0: 'speed' is 7")
                link.close()
            self.assertEqual(tether.wait_exit(), 0)

    def test_check_shows_the_devices(self):
        done = subprocess.run([TETHER, "check", "frc2011-wpilib-step"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"PWM 0.*left_track\.duty")
        self.assertRegex(done.stdout, r"Encoder 0,1.*left_wheel\.position")


if __name__ == "__main__":
    unittest.main()
