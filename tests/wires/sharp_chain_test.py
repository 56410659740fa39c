#!/usr/bin/env python3
"""Core, joystick and vehicle of the sharp-json chain together: in time, through resets, while each is killed and started
again, and by the one configuration file of the programs that spoke this first."""
import itertools
import os
import pathlib
import signal
import statistics
import struct
import sys
import tempfile
import time
import unittest

from support.live_page import Page
from support.sharp import STATE, Case, free_ports, joystick
from support.process import Tether, at_best, wait_for

LONG = os.environ.get("TETHER_LONG")


class InTime(Case):
    """What is promised in seconds, at its best: other tests run meanwhile."""

    def check_period(self, udp, period):
        """One datagram a period: never more, and on a machine that has time no fewer."""
        def take_thirty():
            udp.drain()
            arrived = [udp.receive() and udp.arrived for _ in range(31)]
            return arrived[-1] - arrived[0]
        self.assertGreater(at_best(take_thirty, 30 * period + 0.05), 30 * period - 0.05)

    def test_a_vehicle_sends_one_state_a_period_never_a_burst(self):
        _, core, _ = self.start_vehicle()
        self.check_period(core, 0.017)

    def test_a_core_sends_one_command_a_period(self):
        _, _, vehicle = self.start_core()
        self.check_period(vehicle, 1 / 60)

    def test_a_silent_joystick_stops_it(self):
        core, stick, vehicle = self.start_core()

        def silence():
            self.settle(core, stick, vehicle, joystick(left=(0, 512)), (512, 512))
            since = time.time()
            wait_for(lambda: self.commanded(vehicle)[:2] == (0, 0), "the stop")
            return vehicle.arrived - since
        self.assertGreater(at_best(silence, 0.65), 0.45)
        core.wait_line("joystick silent: everything stops")

    def test_the_sign_follows_the_heartbeats(self):
        core = self.udp()
        stick = self.start_joystick(core, "0 a 1\n60 repeat\n")

        def wait_for_sign(word, heartbeats):
            """s until the last sign is `word`."""
            def shown():
                if heartbeats:
                    core.send(b"{}", stick.address("core"))
                return [line for line in stick.lines if "connected" in line][-1].endswith(" " + word)
            start = time.monotonic()
            wait_for(shown, word)
            return time.monotonic() - start
        stick.wait_line("joystick: disconnected")
        found = at_best(lambda: wait_for_sign("disconnected", False) and wait_for_sign("connected", True), 0.2)
        lost = at_best(lambda: wait_for_sign("connected", True) and wait_for_sign("disconnected", False), 0.2)
        print(f"heartbeat: found shows after {found * 1e3:.0f} ms, lost after {lost * 1e3:.0f} ms", file=sys.stderr)
        self.assertEqual(stick.stop(), 0)


class Reset(Case):
    """Core and vehicle, with the test as the joystick and between vehicle and core, where it sees the states."""

    def setUp(self):
        self.stick, self.between = self.udp(), self.udp()
        vehicle = free_ports(1)[0]
        self.core = self.tether("core", "--set", "joystick.bind=127.0.0.1:0", "--set", "vehicle.bind=127.0.0.1:0",
                                "--set", f"joystick.peer={self.stick.address}", "--set", f"vehicle.peer={vehicle}")
        self.vehicle_program = self.tether("run", "sharp", "--set", "web.listen=127.0.0.1:0", "--set", "record.on=false",
                                           "--set", f"wires.sharp-json.bind={vehicle}",
                                           "--set", f"wires.sharp-json.peer={self.between.address}")

    def turn(self, **sticks):
        """One state and one message of the joystick go on to the core. Returns the lift's reading."""
        data = self.between.receive()
        self.between.send(data, self.core.address("vehicle"))
        self.stick.send(joystick(**sticks), self.core.address("joystick"))
        return int(STATE.fullmatch(data)[3])

    def raised(self):
        wait_for(lambda: self.turn(dpad=(1, 0, 0, 0), left=(0, 100)) > 400, "the lift")
        for _ in range(30):
            held = self.turn()
        self.assertGreater(held, 350)  # it settles a little where it is held

    def stays_down(self):
        wait_for(lambda: self.turn() == 0, "the reset")
        self.assertLess(max(self.turn() for _ in range(60)), 5)

    def test_the_lift_stays_down_after_our_reset(self):
        self.raised()
        for _ in range(3):
            self.turn(select=1)
        self.stays_down()

    def test_the_lift_stays_down_after_a_reset_from_the_page(self):
        page = Page(self.vehicle_program.addresses["web"])
        self.addCleanup(page.close)
        self.raised()
        page.send(type="control", action="reset", robot=-1)
        self.stays_down()
        self.core.wait_line("the vehicle begins anew")


class Chain(Case):
    """All three programs over real UDP; free ports are found by binding and letting go."""

    def setUp(self):
        self.ports = free_ports(4)
        file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        self.addCleanup(file.close)
        file.write("0 left_y 300\n100 left_y 0\n")
        file.flush()
        self.script = file.name
        self.programs = {}

    def start(self, name):
        stick, core_stick, core_vehicle, vehicle = self.ports
        arguments = {
            "joystick": ("joystick", "--set", f"bind={stick}", "--set", f"peer={core_stick}", "--script", self.script),
            "core": ("core", "--set", f"joystick.bind={core_stick}", "--set", f"joystick.peer={stick}",
                     "--set", f"vehicle.bind={core_vehicle}", "--set", f"vehicle.peer={vehicle}"),
            "vehicle": ("run", "sharp", "--no-web", "--set", f"wires.sharp-json.bind={vehicle}",
                        "--set", f"wires.sharp-json.peer={core_vehicle}"),
        }[name]
        self.programs[name] = self.tether(*arguments)

    def kill(self, name):
        self.programs[name].process.send_signal(signal.SIGKILL)
        self.programs[name].wait_exit()

    def last(self, name, *parts):
        """The last line that holds one of `parts`."""
        return next((line for line in reversed(list(self.programs[name].lines)) if any(p in line for p in parts)), "")

    def wait_whole(self):
        wait_for(lambda: self.last("joystick", "connected").endswith(" connected"), "the joystick's sign")
        wait_for(lambda: "heard" in self.last("core", "joystick heard", "joystick silent"), "the core's joystick")
        wait_for(lambda: "heard" in self.last("core", "vehicle heard", "vehicle silent"), "the core's vehicle")
        wait_for(lambda: any(word in self.last("vehicle", "driven by", "watchdog", "heard again")
                             for word in ("driven by", "heard again")), "the vehicle's commands")

    def restart(self, killed, started):
        """Kills some and starts them again; the others, who are never touched, notice and recover."""
        others = [self.programs[name] for name in self.programs if name not in killed]
        for name in killed:
            self.kill(name)
        if "core" in killed and "joystick" not in killed:
            wait_for(lambda: "disconnected" in self.last("joystick", "connected"), "the lost heartbeat")
        for name in started:
            self.start(name)
        self.wait_whole()
        self.assertEqual([other.process.poll() for other in others], [None] * len(others))

    def test_each_may_be_killed_and_started_again_in_every_order(self):
        names = ("vehicle", "joystick", "core")
        for name in names:
            self.start(name)
        self.wait_whole()
        for order in itertools.permutations(names):
            for name in order:
                self.restart([name], [name])
        for pair in itertools.combinations(names, 2):
            self.restart(pair, pair[::-1])

    @unittest.skipUnless(LONG, "only with script/test --long")
    def test_they_may_be_killed_together_and_started_in_every_order(self):
        names = ("vehicle", "joystick", "core")
        for name in names:
            self.start(name)
        self.wait_whole()
        for count in (2, 3):
            for killed in itertools.permutations(names, count):
                for started in itertools.permutations(killed):
                    self.restart(killed, started)

    @staticmethod
    def left(data):
        return int(STATE.fullmatch(data)[1])

    def test_stick_to_motion(self):
        """From the stick's move to the first changed encoder, at default rates, in the middle of every phase of the periods."""
        stick, core_stick, core_vehicle, vehicle_port = self.ports
        driver = self.udp()
        listener = self.udp()  # stands between vehicle and core: passes states on, and notes when they change
        core = self.tether("core", "--set", f"joystick.bind={core_stick}", "--set", f"joystick.peer={driver.address}",
                           "--set", f"vehicle.bind={core_vehicle}", "--set", f"vehicle.peer={vehicle_port}")
        self.tether("run", "sharp", "--no-web", "--set", f"wires.sharp-json.bind={vehicle_port}",
                    "--set", f"wires.sharp-json.peer={listener.address}")

        def move(n):
            quiet = 0
            rest = listener.receive()
            while quiet < 10:  # until the wheels stand still
                driver.send(joystick(), core.address("joystick"))
                before, rest = rest, listener.receive()
                quiet = quiet + 1 if rest == before else 0
            time.sleep(0.0007 * n)
            listener.drain()
            still = self.left(rest)
            moved = time.time()
            while True:
                driver.send(joystick(left=(0, 512 if n % 2 else -512)), core.address("joystick"))
                if abs((self.left(listener.receive()) - still + 512) % 1024 - 512) >= 3:
                    return listener.arrived - moved

        def median():
            latencies = [move(n) for n in range(12)]
            print(f"stick to motion: median {statistics.median(latencies) * 1e3:.1f} ms, "
                  f"greatest {max(latencies) * 1e3:.1f} ms", file=sys.stderr)
            return statistics.median(latencies)
        at_best(median, 0.030)


CONFIG = """
joystick:
  ip: "127.0.0.1"
  port: {joystick}
core:
  ip: "127.0.0.1"
  joystickPort: {core_joystick}
  vehiclePort: {core_vehicle}
sim:
  ip: "127.0.0.1"
  port: {vehicle}
  constants:
    drivetrain:
      width: 30.0
      depth: 28.3
      widthChannel: 0.5
      wheelWidth: 1.0
      wheelRadius: 4.0
      motor:
        maxSpeed: 300
    elevator:
      belt: {{radius: 0.79, length: 12}}
      motor: {{radius: 0.59, maxSpeed: 500}}
  initialState:
    drivetrain: {{x: 0, y: -190.0, theta: 90}}
"""


class OriginalConfig(Case):
    """The one file of the programs that spoke this first serves core, joystick and vehicle as it is."""

    def test_one_file_for_all_three(self):
        ports = dict(zip(("joystick", "core_joystick", "core_vehicle", "vehicle"),
                         (address.split(":")[1] for address in free_ports(4))))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name) / "robotConfig.yml"
        config.write_text(CONFIG.format(**ports))
        script = pathlib.Path(folder.name) / "script.txt"
        script.write_text("0 left_y 512\n0 dpad_up 1\n100 left_y 0\n")
        vehicle = self.tether("run", "sharp", "--set", "web.listen=127.0.0.1:0", "--set", "record.on=false",
                              "--robot-config", config)
        core = self.tether("core", config)
        self.tether("joystick", config, "--script", script)
        self.assertEqual(vehicle.addresses["sharp-json"], "127.0.0.1:" + ports["vehicle"])
        self.assertEqual(core.addresses, {"joystick": "127.0.0.1:" + ports["core_joystick"],
                                          "vehicle": "127.0.0.1:" + ports["core_vehicle"]})
        for program in (vehicle, core):
            program.wait_line("robotConfig.yml: these keys mean nothing here: sim.constants.elevator.belt.radius")
        page = Page(vehicle.addresses["web"])
        self.addCleanup(page.close)
        names = [signal["name"] for signal in page.model["signals"]]
        wanted = ("left_drive.velocity", "elevator.position", "elevator_encoder.ticks")
        page.send(type="subscribe", number=1, rate=50, signals=[names.index(name) for name in wanted])

        def newest():
            data = page.until(lambda message: isinstance(message, bytes) and message[0] == 2 and len(message) > 16)
            return struct.unpack_from("<3d", data, len(data) - 24)
        turn = 2 * 3.141592653589793 / 60  # rad/s of a turn a minute
        speed, height, _ = wait_for(lambda: next((row for row in [newest()] if row[0] > 270 * turn and row[2] >= 1022),
                                                 None), "full speed, and the lift at its top")
        self.assertLess(speed, 301 * turn)  # maxSpeed
        self.assertAlmostEqual(height, 12 * 0.0254, delta=0.003)  # the belt's length

    SEVERAL = """
arena: sharp
robots:
  - {robot: sharp, name: red1, y: -197 in, heading: 90 deg}
  - {robot: sharp, name: blue1, y: 197 in, heading: 270 deg}
wires:
  - sharp-json: {robot: blue1, bind: "127.0.0.1:0", peer: sender}
  - sharp-json: {robot: red1, player: 2}
"""

    def test_of_several_vehicles_the_first_takes_it(self):
        """And the ports of its player, ten higher."""
        ports = [int(address.split(":")[1]) for address in free_ports(2)]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scene, config = (pathlib.Path(folder.name) / name for name in ("several.yaml", "robotConfig.yml"))
        scene.write_text(self.SEVERAL)
        config.write_text(f"core: {{joystickPort: 4000, vehiclePort: {ports[0] - 10}}}\nsim: {{port: {ports[1] - 10}}}\n")
        vehicle = self.tether("run", scene, "--no-web", "--set", "record.on=false", "--robot-config", config)
        self.assertEqual(vehicle.addresses["red1.sharp-json"], f"127.0.0.1:{ports[1]}")
        self.assertNotEqual(vehicle.addresses["blue1.sharp-json"], f"127.0.0.1:{ports[1]}")
        chosen = self.tether("run", scene, "--no-web", "--set", "record.on=false", "--robot-config", config,
                             "--set", "wires.red1.sharp-json.player=1", "--set", "wires.red1.sharp-json.bind=127.0.0.1:0",
                             "--set", f"wires.red1.sharp-json.peer={self.udp().address}")
        self.assertNotEqual(chosen.addresses["red1.sharp-json"], f"127.0.0.1:{ports[1]}")

    def test_a_shipped_scene_of_several_vehicles_takes_it(self):
        config = tempfile.NamedTemporaryFile("w", suffix=".yml")
        self.addCleanup(config.close)
        config.write("core: {joystickPort: 4000}\n")
        config.flush()
        check = Tether("check", "sharp-six", "--robot-config", config.name, ready=False)
        self.addCleanup(check.__exit__)
        self.assertEqual(check.wait_exit(), 0, check.text())

    def test_what_is_wrong_in_it_is_told(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".yml")
        self.addCleanup(file.close)
        file.write("core: {ip: 127.0.0.1, joystickPort: 4000}\nsim:\n  port: many\n")
        file.flush()
        for arguments in (("core", file.name), ("joystick", file.name), ("run", "sharp", "--robot-config", file.name)):
            bad = Tether(*arguments, ready=False)
            self.addCleanup(bad.__exit__)
            self.assertEqual(bad.wait_exit(), 1)
            self.assertIn(":3: sim.port: 'many' is no port", bad.text())


if __name__ == "__main__":
    unittest.main()
