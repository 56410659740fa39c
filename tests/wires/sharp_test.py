#!/usr/bin/env python3
"""The sharp-json chain against the real programs, one at a time: the vehicle's bytes and rules, the core, the joystick."""
import json
import os
import pty
import re
import threading
import unittest

from support.process import TETHER, Tether, wait_for
from support.sharp import COMMAND_SIZE, JOYSTICK_SIZE, STATE, STATE_SIZE, Case, command, free_ports, joystick, state

class Vehicle(Case):
    start = Case.start_vehicle

    def encoders(self, core):
        match = STATE.fullmatch(core.receive())
        self.assertTrue(match, core.data)
        return tuple(int(part) for part in match.groups())

    def assertNear(self, encoders, expected, ticks):
        """On the circle of 1024."""
        for one, other in zip(encoders, expected):
            self.assertLessEqual(abs((one - other + 512) % 1024 - 512), ticks, (encoders, expected))

    def drive(self, core, address, periods, **values):
        """Answers each state with a command, and returns the last state; those that waited before are forgotten."""
        core.drain()
        for _ in range(periods):
            core.send(command(**values), address)
            encoders = self.encoders(core)
        return encoders

    def stands(self, after_20_states):
        """Its brake takes it to a stand within 400 states; without one it would roll ten times as long."""
        last = after_20_states()
        for _ in range(20):
            before, last = last, after_20_states()
            if all(abs((one - other + 512) % 1024 - 512) <= 3 for one, other in zip(before, last)):
                return
        self.fail(f"still moving: {before} {last}")

    def test_states_are_byte_exact_and_come_from_the_bound_port(self):
        _, core, address = self.start()
        self.assertEqual(core.receive(), state())
        self.assertEqual(len(core.data), STATE_SIZE)
        self.assertEqual(core.sender, address)

    def test_it_drives_forward_gradually_and_brakes(self):
        _, core, address = self.start()
        places = [self.drive(core, address, 5)[0]]
        for _ in range(60):  # each state is of the period after the one before, however late it is read
            core.send(command(left=512, right=512), address)
            places.append(self.encoders(core)[0])
        speeds = [(after - before) % 1024 for before, after in zip(places, places[1:])]
        first = next(speed for speed in speeds if speed > 3)
        self.assertLess(first, 170)  # not at full speed at once: that is 242 a period
        self.assertGreater(speeds[-1], 100)
        self.stands(lambda: self.drive(core, address, 20))

    def test_the_lift_lifts_holds_and_saturates(self):
        _, core, address = self.start()
        up = self.drive(core, address, 40, elevator=512)[2]
        self.assertGreater(up, 200)
        held = self.drive(core, address, 20)[2]
        self.assertAlmostEqual(self.drive(core, address, 50)[2], held, delta=3)
        self.assertEqual(self.drive(core, address, 120, elevator=512)[2], 1023)
        self.assertEqual(self.drive(core, address, 200, elevator=-512)[2], 0)

    def test_tolerant_reading_and_any_source_port(self):
        vehicle, core, address = self.start()
        other = self.udp()
        wait_for(lambda: core.receive() == state())
        higher = 10
        for text in (b"{\"elevatorMotorSpeed\":512}", b"{ 'elevatorMotorSpeed' : 0512, 'new': [1, {'x': 2}] }"):
            wait_for(lambda: other.send(text, address) or self.encoders(core)[2] > higher, "the lift")
            self.drive(core, address, 3)  # it holds
            higher = self.encoders(core)[2] + 10
        vehicle.wait_line("driven by " + other.address)

    def test_bad_messages_change_nothing_and_are_named(self):
        vehicle, core, address = self.start()
        self.drive(core, address, 3)
        for bad in (b"", b"{", b"nonsense", b"{'elevatorMotorSpeed': 513}", b"{'elevatorMotorSpeed': NaN}",
                    b"{'start': 2}", b"x" * 3000, b"{'a': " + b"[" * 40 + b"]" * 40 + b"}",
                    b"{'elevatorMotorSpeed': 1, 'elevatorMotorSpeed': 512}", command()[:60]):
            for _ in range(3):
                core.send(bad, address)
                self.encoders(core)
        vehicle.wait_line("elevatorMotorSpeed[0] is 513, not in -512…512")
        vehicle.wait_line("wrong length")
        self.assertNear(self.drive(core, address, 3), (0, 0, 0), 5)

    def test_silence_makes_it_safe(self):
        vehicle, core, address = self.start()
        self.drive(core, address, 20, left=512, right=512)
        self.encoders(core)
        vehicle.wait_line("watchdog: silent for 0.5 s")
        core.drain()
        self.stands(lambda: [self.encoders(core) for _ in range(20)][-1])
        self.drive(core, address, 20, left=512, right=512)
        vehicle.wait_line("heard again")

    def test_guide_resets(self):
        vehicle, core, address = self.start()
        self.assertGreater(self.drive(core, address, 40, elevator=512)[2], 100)
        self.drive(core, address, 1, guide=1)
        vehicle.wait_line("world: reset")
        self.assertLess(self.drive(core, address, 10, guide=1)[2], 5)
        self.assertEqual(sum("reset" in line for line in vehicle.lines), 1)  # held, not pressed again
        vehicle.stop()
        simulated = float(re.search(r"([\d.]+) s simulated", vehicle.text())[1])
        self.assertGreaterEqual(simulated, 0.5)  # of the whole run, not only since the reset

    def test_a_later_core_is_obeyed_or_told_what_is_not(self):
        vehicle, core, address = self.start()
        later = (b"{ 'leftDriveMotorSpeed': 0000, 'rightDriveMotorSpeed': 0000, 'intakeCenterMotorSpeed': 0000, "
                 b"'tubeMotorSpeed': 0000, 'timerStartStop': %d, 'reset': %d, 'outtake': 0 }")
        self.assertGreater(self.drive(core, address, 30, elevator=512)[2], 100)
        for start, reset in ((0, 0), (1, 0), (0, 0), (0, 1), (0, 0)):
            core.send(later % (start, reset), address)
            self.encoders(core)
        vehicle.wait_line("world: reset")
        wait_for(lambda: self.encoders(core)[2] < 5, "the reset")
        vehicle.wait_line("mean nothing here: intakeCenterMotorSpeed, tubeMotorSpeed, outtake")
        self.assertEqual(sum("mean nothing here" in line for line in vehicle.lines), 1)

    def test_json_style(self):
        _, core, _ = self.start("--set", "wires.sharp-json.style=json")
        self.assertEqual(json.loads(core.receive()),
                         {"leftDriveEncoder": 0, "rightDriveEncoder": 0, "elevatorEncoder": 0})


class Core(Case):
    start = Case.start_core

    def test_bytes_ports_and_heartbeats(self):
        core, stick, vehicle = self.start()
        self.assertEqual(vehicle.receive(), command())
        self.assertEqual(len(vehicle.data), COMMAND_SIZE)
        self.assertEqual(vehicle.sender, core.address("vehicle"))
        self.assertEqual(stick.receive(), b"{}")
        self.assertEqual(stick.sender, core.address("joystick"))

    def test_arcade_and_tank(self):
        core, stick, vehicle = self.start()
        self.settle(core, stick, vehicle, joystick(left=(0, 300), right=(101, 0)), (350, 250))
        self.settle(core, stick, vehicle, joystick(left=(0, 512), right=(-512, 0)), (256, 512))
        self.settle(core, stick, vehicle, joystick(back=1), (1,), slice(3, 4))
        self.settle(core, stick, vehicle, joystick(), (0, 0, 0, 0), slice(4))
        core.wait_line("mode: tank")
        self.settle(core, stick, vehicle, joystick(left=(0, 300), right=(0, -200)), (300, -200))

    def test_select_becomes_guide(self):
        core, stick, vehicle = self.start()
        self.settle(core, stick, vehicle, joystick(select=1), (0, 1, 0), slice(3, None))
        self.settle(core, stick, vehicle, joystick(start=1), (0, 0, 1), slice(3, None))

    def test_the_lift_is_held_where_it_was_left(self):
        core, stick, vehicle = self.start()
        lift = 200.0
        for n in range(300):
            stick.send(joystick(dpad=(1, 0, 0, 0) if n < 50 else (0, 0, 0, 0)), core.address("joystick"))
            speed = self.commanded(vehicle)[2]
            lift = min(1023, lift + speed / 512 * 13 - (100 if n == 100 else 0))
            if n == 90:
                held = lift
            vehicle.send(state(elevator=int(lift)), core.address("vehicle"))
        self.assertGreater(held, 300)
        self.assertAlmostEqual(lift, held, delta=6)

    def test_a_later_joystick_is_obeyed_or_told_what_is_not(self):
        core, stick, vehicle = self.start()
        later = (b"{ 'leftJoystick': [ 0000, 0100 ], 'rightJoystick': [ 0000, 0000 ], 'dpad': [ 0, 0, 0, 0 ], "
                 b"'leftTrigger': 0000, 'a': 0, 'b': 0, 'x': 0, 'y': 1, 'back': 0, 'guide': 1, 'start': 0 }")
        vehicle.send(state(elevator=100), core.address("vehicle"))
        values = self.settle(core, stick, vehicle, later, (0, 1, 0), slice(3, None))  # guide
        self.assertGreater(values[2], 0)  # y: the lift's upper preset
        core.wait_line("mean nothing here: leftTrigger")

    def test_it_outlives_any_bad_datagram(self):
        core, stick, vehicle = self.start()
        bad = [b"", b"\x00", b"{", b"[]", b"null", b"\xff" * 154, b"x" * 65000, b"{'leftJoystick': [NaN, 0]}",
               b"{'leftJoystick': [0, 513]}", b"{'leftJoystick': 1e999}", b"[" * 1000, joystick()[:-1],
               b"{'leftDriveEncoder': 1024}", b"{'leftDriveEncoder': -1}"]
        for data in bad * 3:
            stick.send(data, core.address("joystick"))
            vehicle.send(data, core.address("vehicle"))
        for cut in range(JOYSTICK_SIZE):
            stick.send(joystick()[:cut], core.address("joystick"))
        self.settle(core, stick, vehicle, joystick(left=(0, 100)), (100, 100))
        self.assertEqual(core.stop(), 0)

    def test_a_player_and_every_key_by_set(self):
        core, _, _ = self.start("--set", "mode=tank", "--set", "elevator.kp=2.5", "--set", "style=json")
        core.wait_line("mode: tank")
        for wrong, says in (("elevator.kp=x", "elevator.kp"), ("elevator.kq=1", "kq"), ("player=0", "player")):
            bad = Tether("core", "--set", wrong, ready=False)
            self.addCleanup(bad.__exit__)
            self.assertEqual(bad.wait_exit(), 1)
            self.assertIn(says, bad.text())


class Joystick(Case):
    start = Case.start_joystick

    def test_a_script_is_sent_byte_exact(self):
        core = self.udp()
        stick = self.start(core, "0 left_y 512\n0 right_x -7\n0.2 left_y 0\n0.2 dpad_left 1\n0.4 start 1\n1 start 0\n")
        self.assertEqual(core.receive(), joystick(left=(0, 512), right=(-7, 0)))
        self.assertEqual(len(core.data), JOYSTICK_SIZE)
        self.assertEqual(core.sender, stick.address("core"))
        wait_for(lambda: core.receive() == joystick(right=(-7, 0), dpad=(0, 0, 1, 0)))
        wait_for(lambda: core.receive() == joystick(right=(-7, 0), dpad=(0, 0, 1, 0), start=1))
        wait_for(lambda: core.receive() == joystick())  # at the end it lets go
        self.assertEqual(stick.wait_exit(), 0)

    def test_a_bad_script_is_refused_with_its_line(self):
        stick = Tether("joystick", "--script", self.script("0 a 1\n1 wheel 3\n"), ready=False)
        self.addCleanup(stick.__exit__)
        self.assertEqual(stick.wait_exit(), 1)
        self.assertIn(":2: unknown control", stick.text())


class Terminal(Case):
    def test_keys_values_and_sign_on_a_screen(self):
        core = self.udp()
        address = free_ports(1)[0]
        process, screen = pty.fork()
        if process == 0:
            os.environ["TERM"] = "xterm"
            os.execv(TETHER, [TETHER, "joystick", "--set", f"bind={address}", "--set", f"peer={core.address}"])
        self.addCleanup(os.close, screen)
        shown = bytearray()
        threading.Thread(target=self.read_screen, args=(screen, shown), daemon=True).start()
        self.assertEqual(core.receive(), joystick())
        wait_for(lambda: b"disconnected" in shown, "the sign")
        os.write(screen, b"w1")
        wait_for(lambda: core.receive() == joystick(left=(0, 512), buttons=(1, 0, 0, 0)), "both keys")
        host, port = address.split(":")
        wait_for(lambda: core.send(b"{}", (host, int(port))) or core.receive() and b" connected" in
                 re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b" ", bytes(shown)), "the sign")
        wait_for(lambda: core.receive() == joystick(), "the keys' release")
        os.write(screen, b"q")
        self.assertEqual(os.waitpid(process, 0)[1], 0)

    @staticmethod
    def read_screen(screen, shown):
        try:
            while True:
                shown += os.read(screen, 65536)
        except OSError:
            pass


if __name__ == "__main__":
    unittest.main()
