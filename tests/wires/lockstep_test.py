#!/usr/bin/env python3
"""lockstep-tcp against the real program: frames, restarts, refusals, policies, and the sample clients."""
import math
import random
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from support.lockstep import FRAME, VELOCITIES, closed, drive, join, receive, run, velocities
from support.process import ROOT, Tether, stretched

LARGEST_ANGLE = struct.unpack(">f", bytes.fromhex("40490fda"))[0]


class Lockstep(unittest.TestCase):
    def test_ten_thousand_frames_twice_byte_for_byte(self):
        with run("wires.lockstep-tcp.steps_per_frame=1") as tether:
            with join(tether) as link:
                stream = drive(link, 10000)
            frames = [FRAME.unpack_from(stream, at) for at in range(0, len(stream), FRAME.size)]
            self.assertEqual([frame[0] for frame in frames], list(range(10001)))
            self.assertTrue(all(abs(angle) <= LARGEST_ANGLE for frame in frames for angle in frame[1:]))
            self.assertEqual([round(angle, 6) for angle in frames[0][1:]], [0] * 7 + [-0.1] * 3)
            with join(tether) as link:
                self.assertEqual(drive(link, 10000), stream)
            self.assertEqual(tether.stop(), 0)
        with run("wires.lockstep-tcp.steps_per_frame=1") as tether, join(tether) as link:
            self.assertEqual(drive(link, 10000), stream)

    def test_any_segmentation(self):
        with run() as tether:
            with join(tether) as link:
                expected = drive(link, 100)
            dice, bytes_to_send = random.Random(1), b"".join(velocities(n) for n in range(100))
            with join(tether) as link:
                while bytes_to_send:
                    size = dice.randint(1, 120)
                    link.sendall(bytes_to_send[:size])
                    bytes_to_send = bytes_to_send[size:]
                self.assertEqual(receive(link, len(expected)), expected)

    def test_the_wrong_byte_order_is_told(self):
        for speed in 0.5, 0.1:  # arrives as almost nothing, and is obeyed; as -4.29e8, and is refused
            with run() as tether, join(tether) as link:
                receive(link)
                link.sendall(struct.pack("<10f", speed, *[0] * 9))
                self.assertIn("127.0.0.1:%d" % link.getsockname()[1], tether.wait_line("look like little-endian floats; send big-endian ones"))

    def test_a_second_client_is_refused_and_says_so_in_the_log(self):
        with run() as tether, join(tether) as first:
            receive(first)
            with join(tether) as second:
                self.assertTrue(closed(second))
            tether.wait_line("one client at a time")
            first.sendall(velocities(0))
            self.assertEqual(FRAME.unpack(receive(first))[0], 1)

    def test_a_velocity_that_is_no_number_closes_with_a_clear_line(self):
        with run() as tether:
            with join(tether) as link:
                receive(link)
                link.sendall(VELOCITIES.pack(*[0.0] * 4, float("nan"), *[0.0] * 5))
                self.assertTrue(closed(link))
            self.assertIn("velocity 5 (finger1_base) is not a finite number", tether.wait_line("finite"))
            with join(tether) as link:
                self.assertEqual(FRAME.unpack(receive(link))[0], 0)

    def test_a_vanished_client_makes_room_at_frame_0(self):
        with run() as tether:
            for _ in range(3):
                with join(tether) as link:
                    drive(link, 5)
                    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with join(tether) as link:
                frame, *angles = FRAME.unpack(receive(link))
                self.assertEqual(frame, 0)
                self.assertEqual(angles[0], 0)

    def test_on_disconnect_keep_goes_on_where_it_was(self):
        with run("wires.lockstep-tcp.on_disconnect=keep") as tether:
            with join(tether) as link:
                last = drive(link, 5)[-FRAME.size:]
            with join(tether) as link:
                self.assertEqual(receive(link), last)

    AHEAD = "wires.lockstep-tcp.on_disconnect=keep", "wires.lockstep-tcp.steps_per_frame=12"

    def answer_ahead(self, tether, end):
        """One answers a thousand frames at once and goes; returns how many of them were done when the next one was let in."""
        with join(tether) as gone:
            receive(gone)
            gone.sendall(b"".join(velocities(n) for n in range(1000)))
            receive(gone)
            end(gone)
            with join(tether) as link:
                frame = FRAME.unpack(receive(link))[0]
                link.sendall(velocities(0))
                self.assertEqual(FRAME.unpack(receive(link))[0], frame + 1)
        return frame

    def test_what_one_that_is_gone_answered_ahead_keeps_nobody_waiting_in_real_time(self):
        for end in socket.socket.close, lambda link: link.shutdown(socket.SHUT_WR):
            with run("pace=realtime", *self.AHEAD) as tether:
                self.assertLess(self.answer_ahead(tether, end), 900)  # of 20 s
                tether.wait_line("waits until the last answer of 127.0.0.1:")

    def test_a_robot_stops_in_real_time_when_its_driver_goes(self):
        """Whatever that answered ahead, as much as is read at once or more."""
        for end in socket.socket.close, lambda link: link.shutdown(socket.SHUT_WR):
            for ahead in 200, 1000:
                with run("pace=realtime", "wires.lockstep-tcp.on_disconnect=exit", "wires.lockstep-tcp.steps_per_frame=60") as tether:
                    with join(tether) as gone:
                        receive(gone)
                        gone.sendall(b"".join(velocities(n) for n in range(ahead)))
                        end(gone)
                        self.assertEqual(tether.wait_exit(), 0)
                    self.assertLess(float(re.search(r"([\d.]+) s simulated", tether.text())[1]), 10)  # of 20 or 100

    def test_the_last_word_of_a_driver_that_goes_counts_in_real_time(self):
        """However much it says before, and whatever is no word behind."""
        on, stop, bad = (VELOCITIES.pack(speed, *[0] * 9) for speed in (0.3, 0, float("nan")))
        for end in socket.socket.close, lambda link: link.shutdown(socket.SHUT_WR):
            for last in on + stop, 3000 * on + stop, on + stop + on[:7], on + stop + bad + on:
                with self.subTest(bytes=len(last)), run("pace=realtime", "wires.lockstep-tcp.on_disconnect=keep", "wires.lockstep-tcp.late=hold",
                                                        "wires.lockstep-tcp.deadline=0.1 s") as tether, join(tether) as gone:
                    receive(gone)
                    gone.sendall(on)
                    receive(gone)
                    gone.sendall(last)
                    end(gone)
                    with join(tether) as link:
                        swivel = [FRAME.unpack(receive(link))[1] for _ in range(100)]
                    self.assertAlmostEqual(swivel[-1], swivel[40], places=3)

    def test_the_last_word_of_a_driver_that_was_late_and_goes_counts(self):
        """It answers a frame that the world has left behind."""
        for pace in "realtime", "lockstep":
            with self.subTest(pace=pace), run(f"pace={pace}", "wires.lockstep-tcp.on_disconnect=keep", "wires.lockstep-tcp.late=hold",
                                              "wires.lockstep-tcp.deadline=0.1 s") as tether, join(tether) as gone:
                receive(gone)
                gone.sendall(VELOCITIES.pack(0.3, *[0] * 9))
                for _ in range(10):
                    receive(gone)
                gone.sendall(VELOCITIES.pack(*[0] * 10))
                gone.shutdown(socket.SHUT_WR)
                with join(tether) as link:
                    swivel = [FRAME.unpack(receive(link))[1] for _ in range(100)]
                self.assertAlmostEqual(swivel[-1], swivel[40], places=3)

    def test_what_one_that_is_gone_answered_ahead_is_done_in_lockstep(self):
        with run("pace=lockstep", *self.AHEAD) as tether:
            self.assertEqual(self.answer_ahead(tether, lambda link: link.shutdown(socket.SHUT_WR)), 1000)

    def test_on_disconnect_exit_ends_the_program(self):
        with run("wires.lockstep-tcp.on_disconnect=exit") as tether:
            with join(tether) as link:
                drive(link, 5)
            self.assertEqual(tether.wait_exit(), 0)

    def test_every_answer_gets_its_frame_before_a_client_is_gone(self):
        ends = set()
        for _ in range(5):
            with run("wires.lockstep-tcp.on_disconnect=exit", "wires.lockstep-tcp.steps_per_frame=1") as tether:
                with join(tether) as link:
                    receive(link)
                    link.sendall(b"".join(velocities(n) for n in range(50)))
                    link.shutdown(socket.SHUT_WR)
                    while link.recv(65536):
                        pass
                self.assertEqual(tether.wait_exit(), 0)
                ends.add(re.search(r"([\d.]+) s simulated", tether.text())[1])
        self.assertEqual(ends, {"0.083"})  # 50 steps of 1/600 s

    def test_the_originals_option_sets_the_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with Tether("run", "gripper", "--no-web", "--remote_control_port", port) as tether, join(tether) as link:
            self.assertEqual(tether.address("lockstep-tcp"), ("127.0.0.1", port))
            drive(link, 2)

    def test_a_port_in_use_ends_with_status_3(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            setting = f"wires.lockstep-tcp.listen=127.0.0.1:{other.getsockname()[1]}"
            with Tether("run", "gripper", "--no-web", "--set", setting, ready=False) as tether:
                self.assertEqual(tether.wait_exit(), 3)
                self.assertIn("in use", tether.text())


class Samples(unittest.TestCase):
    def test_a_client_that_was_late_is_in_step_again(self):
        """Its answers to frames that went by are obeyed, but none of them counts as that to the newest."""
        with run("pace=realtime", "wires.lockstep-tcp.late=hold", "wires.lockstep-tcp.deadline=0.4 s") as tether, \
                join(tether) as link:
            frames = 0
            while frames < 40:  # of which none is answered in time
                number = FRAME.unpack(receive(link))[0]
                frames += 1
            self.assertEqual(number, 39)
            tether.wait_line("going on with its last commands")
            for _ in range(20):
                link.sendall(VELOCITIES.pack(1, *[0] * 9) * frames)
                frames, pending = 0, [link]
                while pending:  # with answers in reserve the world would not stop here
                    _, angle, *_ = FRAME.unpack(receive(link))
                    frames += 1
                    pending = select.select([link], [], [], 0.1)[0]
                if frames == 1:
                    break
            self.assertEqual(frames, 1)
            self.assertGreater(angle, 0)

    def run_sample(self, *command):
        with run() as tether:
            host, port = tether.address("lockstep-tcp")
            where = f"{host}:{port}" if command[0] == sys.executable else str(port)
            result = subprocess.run([*command, where, "120"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"done: 120 frames, swivel at 0\.4\d\d rad")
        self.go_on_after_a_reset(*command)

    def go_on_after_a_reset(self, *command):
        with socket.create_server(("127.0.0.1", 0)) as server:
            host, port = server.getsockname()
            where = f"{host}:{port}" if command[0] == sys.executable else str(port)
            client = subprocess.Popen([*command, where, "3"], stdout=subprocess.PIPE, text=True)
            self.addCleanup(client.wait)
            self.addCleanup(client.kill)
            server.settimeout(stretched())
            link, _ = server.accept()
            with link:
                link.settimeout(stretched())
                for frame in (0, 1, 2, 0, 1, 2):
                    link.sendall(FRAME.pack(frame, *[0] * 10))
                    self.assertAlmostEqual(VELOCITIES.unpack(receive(link, VELOCITIES.size))[0], 0.5 * math.cos(frame / 60), places=5)
                link.sendall(FRAME.pack(3, *[0] * 10))
                self.assertIn("done: 3 frames", client.communicate(timeout=stretched())[0])

    def test_python(self):
        self.run_sample(sys.executable, str(ROOT / "clients/python/lockstep_tcp.py"))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_c(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/lockstep_tcp"
            subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", ROOT / "clients/c/lockstep_tcp.c", "-o", program,
                            "-lm"], check=True)
            self.run_sample(program)

    @unittest.skipUnless(shutil.which("java"), "no Java")
    def test_java(self):
        self.run_sample("java", str(ROOT / "clients/java/LockstepTcp.java"))


if __name__ == "__main__":
    unittest.main()
