#!/usr/bin/env python3
"""tether-halsim.so in the stand-in robot program, against a counterpart of a few lines that stands for Tether: the program follows
the clock that it is given, twice the same; and whatever a program does that does not go together with that is said."""
import ctypes
import hashlib
import subprocess
import sys
import time
import unittest

import stepping
from stepping import Link, message
from support.process import at_best, seconds

COUNTS = 1440 / 0.4788  # a meter


class Drive:
    """Wheels that do at once what they are told, 3.5 m/s at most."""

    def __init__(self):
        self.speed, self.position = {0: 0.0, 1: 0.0}, {0: 0.0, 1: 0.0}

    def take(self, frame):
        for one in frame:
            if one["type"] == "PWM" and "<speed" in one["data"]:
                self.speed[int(one["device"])] = one["data"]["<speed"]
            elif one["device"].startswith("PWMMotorController["):
                self.speed[int(one["device"][-2])] = one["data"]["<Throttle"]

    def sensors(self):
        for wheel in self.position:
            self.position[wheel] += 3.5 * self.speed[wheel] * 0.02
        return [message("Encoder", str(wheel), **{">count": round(self.position[wheel] * COUNTS)}) for wheel in self.position]


STATION = message("DriverStation", "", **{">enabled": True, ">autonomous": True, ">test": False, ">ds": True, ">station": "red1",
                                          ">match_time": 15.0, ">game_data": "LRL", ">new_data": True})


class Extension(unittest.TestCase):
    def setUp(self):
        self.listener, self.address = stepping.listen()
        self.addCleanup(self.listener.close)

    def start(self, *arguments, **more):
        program = stepping.program(self.address, *arguments, **more)

        def clean():
            program.kill()
            program.communicate()
        self.addCleanup(clean)
        return program

    def connect(self):
        link = Link(self.listener)
        self.addCleanup(link.close)
        self.assertEqual(link.head("<version"), 1)
        return link

    def finish(self, program, status=0):
        out, err = program.communicate(timeout=stepping.TIMEOUT)
        self.assertEqual(program.returncode, status, err)
        return out, err

    def run_whole(self, *arguments, **more):
        """Every byte that a program of 300 loops sends."""
        program, link, drive, seen = self.start("--loops", 300, *arguments, patience=1000, **more), self.connect(), Drive(), hashlib.sha256()
        body = link.body()
        while b"<end" not in body:
            seen.update(body)
            drive.take(map(stepping.json.loads, body.splitlines()))
            link.send(STATION, *drive.sensors())
            body = link.body()
        out, _ = self.finish(program)
        self.assertRegex(out, r"drove (1\.9[89]|2\.0[01])\d m")
        return seen.hexdigest()

    def test_ten_runs_one_hash(self):
        self.assertEqual(len({self.run_whole("--start-delay", 300) for _ in range(10)}), 1)

    def test_season_2027(self):
        """Motors are told by devices of their own, and notifiers signal: the same run all the same, and an end in good order."""
        self.assertEqual(len({self.run_whole("--start-delay", 100, season=2027) for _ in range(3)}), 1)
        self.trouble("unwaited", "from the step after 0.080 s", "'Robot'", "'Odometry'", "'Forgotten' (without an alarm)", steps=5, season=2027)

    def test_what_it_says_first(self):
        self.start()
        link = self.connect()
        frame = {(one["type"], one["device"]): one["data"] for one in link.frame()}
        self.assertEqual(frame.pop(("Step", "")), {"<time": 0})
        self.assertEqual(frame.pop(("PWM", "1")), {"<init": True, "<speed": 0, "<position": 0, "<raw": 0})
        self.assertEqual(frame.pop(("Encoder", "1")), {"<init": True, "<channel_a": 2, "<channel_b": 3, "<reverse_direction": False,
                                                       "<samples_to_avg": 1})
        self.assertEqual(frame.pop(("Gyro", "ADXRS450[0]")), {">connected": True, ">angle_x": 0, ">rate_x": 0})
        self.assertEqual(frame.pop(("DIO", "3"))["<input"], True)
        self.assertEqual(sorted(frame), [("DIO", "0"), ("DIO", "1"), ("DIO", "2"), ("Encoder", "0"), ("PWM", "0")])
        for n in range(1, 4):
            link.send()
            frame = link.frame()
            self.assertEqual(frame[0]["data"], {"<time": 20000 * n})
        self.assertEqual(len(frame), 1, "what stays as it was is not said again")

    def test_disabled_and_emergency_stop(self):
        self.start()
        link, drive = self.connect(), Drive()
        link.frame()
        for enabled, estop, speed in (False, False, 0), (True, False, 0.6), (True, True, 0), (True, False, 0.6), (False, False, 0):
            link.send(message("DriverStation", "", **{">enabled": enabled, ">estop": estop, ">new_data": True}))
            drive.take(link.frame())
            self.assertEqual(drive.speed, {0: speed, 1: speed})

    def test_leds(self):
        self.start("--leds")
        link = self.connect()
        link.frame()
        for station, red in (STATION, 153), (message("DriverStation", "", **{">enabled": False, ">new_data": True}), 0):
            link.send(station)
            strip, = [one["data"] for one in link.frame() if one["type"] == "AddressableLED"]
            self.assertEqual(strip, {"<init": True, "<output_port": 8, "<length": 3, "<running": True, "<data": [
                {"r": red, "g": 0, "b": 0}, {"r": 0, "g": 7, "b": 0}, {"r": 0, "g": 0, "b": 9}]})
        link.send()
        self.assertEqual(len(link.frame()), 1, "what stays as it was is not said again")

    def test_joysticks(self):
        for season in 2026, 2027:
            self.start("--teleop", season=season)
            link, drive = self.connect(), Drive()
            link.frame()
            for axes, pov, left, right in ([0, -0.5, 0, 0, 0.1], -1, 0.6, 0.4), ([0, 0.25, 0, 0, 0], 90, 0, -0.5), ([0, 0, 0, 0, 0], 0, 0, 0):
                link.send(message("Joystick", "0", **{">axes": axes, ">buttons": [True, False], ">povs": [pov]}), STATION)
                drive.take(link.frame())
                self.assertAlmostEqual(drive.speed[0], left, places=2)
                self.assertAlmostEqual(drive.speed[1], right, places=2)

    def test_much_faster_than_real_time(self):
        self.start()
        link = self.connect()
        link.frame()

        def step():
            for _ in range(1000):
                link.send(STATION)
                link.frame()
        at_best(lambda: seconds(step), 20)

    def trouble(self, what, *words, steps=0, patience=0.3, season=2026):
        self.start("--trouble", what, patience=patience, season=season)
        link = self.connect()
        if steps:
            link.time()
        for _ in range(steps - 1):
            link.send()
            link.time()
        if steps:
            link.send()
        text = link.trouble(words[0])
        for word in words:
            self.assertIn(word, text)
        return link

    def test_a_program_that_never_starts(self):
        self.trouble("never-starts", "has not started within 0.3 s", "HAL_ObserveUserProgramStarting")

    def test_a_program_that_waits_for_nothing(self):
        self.trouble("waits-for-none", "waits for nothing", "TimedRobot")

    def test_a_notifier_that_nobody_waits_on(self):
        self.trouble("unwaited", "'Forgotten' (alarm at 0.100 s)", "nobody waits on it", steps=1)

    def test_a_loop_that_blocks(self):
        self.trouble("blocks", "from the step after 0.200 s", "'Robot' (without an alarm)", steps=11)

    def test_a_thread_on_the_wall_clock(self):
        self.start("--trouble", "wall-thread")
        link, said = self.connect(), []
        link.frame()
        while not said:
            time.sleep(0.005)  # the time in which it disturbs
            link.send()
            frame = link.frame()
            if "<trouble" in frame[0]["data"]:
                said.append(frame[0]["data"]["<trouble"])
        self.assertIn("PWM 9 <", said[0])
        self.assertIn("follows the wall clock", said[0])
        for _ in range(20):  # once is enough
            frame = link.frame()
            self.assertIn("<time", frame[0]["data"])
            link.send()

    def test_a_clock_that_somebody_lets_run(self):
        link = self.trouble("resumes", "HALSIM_ResumeTiming", steps=12)
        link.time()
        link.send()
        time.sleep(0.1)
        link.time()

    def test_a_child_that_ends(self):
        self.start("--trouble", "forks")
        link = self.connect()
        link.frame()
        for _ in range(10):
            link.send()
            link.head("<time")

    def test_a_program_that_ends(self):
        def end():
            program = self.start("--loops", 3)
            link = self.connect()
            link.frame()
            for _ in range(3):
                link.send()
                frame = link.frame()
            self.assertEqual(frame[0]["data"], {"<end": "the robot program has ended"})
            took = seconds(lambda: self.finish(program))
            self.assertIsNone(link.body())
            return took
        at_best(end, 10)

    def test_a_program_that_crashes(self):
        program = self.start("--loops", 3, "--trouble", "crashes")
        link = self.connect()
        link.frame()
        for _ in range(3):
            link.send()
            last = link.body()
        self.assertIsNone(last)
        self.finish(program, -9)

    def test_a_connection_that_breaks(self):
        """The clock stands still meanwhile; the next connection is told everything."""
        self.start()
        for turn in range(3):
            link = self.connect()
            frame = link.frame()
            self.assertEqual(frame[0]["data"]["<time"], turn * 100000)
            self.assertIn(("PWM", "1"), {(one["type"], one["device"]) for one in frame})
            for _ in range(5):
                link.send()
                link.head("<time")
            link.close()

    def test_broken_in_the_middle_of_a_frame(self):
        self.start()
        for piece in b"", b"\0", b"\0\0\1\0{", b"\0\0\0\4abc":
            link = self.connect()
            self.assertEqual(link.head("<time"), 0)
            link.socket.sendall(piece)
            link.close()
        self.assertEqual(self.connect().head("<time"), 0)

    def test_what_is_no_frame(self):
        program = self.start()
        for bad in b"", b"\n", b"{}\n", b"[1]\n", b'{"type":"Step","device":"","data":{">step":"1"}}\n', b'{"type":"Step","device":"","data":{">step":-1}}\n':
            link = self.connect()
            link.head("<time")
            link.send_body(bad)
            self.assertIsNone(link.body())
        link = self.connect()
        link.head("<time")
        link.socket.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        self.assertIsNone(link.body())
        link = self.connect()
        self.assertEqual(link.head("<time"), 0, "no step was made of any")
        program.kill()
        self.assertIn("is that Tether", program.communicate()[1])

    def test_bad_messages_cost_nothing_else(self):
        self.start()
        link = self.connect()
        link.frame()
        head = b'{"type":"Step","device":"","data":{">step":20000}}\n'
        for bad in (b"{", b"[]", b"1", b"{}", b'{"type":1,"device":2,"data":3}', b'{"type":"PWM","device":"0","data":{"<speed":1}}',
                    b'{"type":"Encoder","device":"99","data":{">count":1}}', b'{"type":"Encoder","device":"0","data":{">count":"x"}}',
                    b'{"type":"Gyro","device":"none","data":{">angle_x":1}}', b'{"type":"DIO","device":"-1","data":{"<>value":true}}',
                    b'{"type":"Joystick","device":"7","data":{">axes":[1]}}', b'{"type":"Joystick","device":"0","data":{">axes":["a",1e999]}}',
                    b'{"type":"Joystick","device":"0","data":{">povs":[-1],">buttons":[true]}}', b'{"type":"Encoder","device":"0","data":{">count":1e300}}'):
            link.send_body(head + bad + b"\n" + b'{"type":"RoboRIO","device":"","data":{">vin_voltage":11.5}}\n')
            self.assertIn("<time", link.frame()[0]["data"])

    def test_channels_that_a_program_does_not_have(self):
        """WPILib's own functions would write past their arrays; the stand-in's end the program."""
        program, link = self.start(), self.connect()
        link.frame()
        link.send(STATION, *(message(kind, device, **{key: 1}) for device in ("31", "63", "255", "-1", "x", "", "99999999999999999999")
                             for kind, key in (("DIO", "<>value"), ("AI", ">voltage"), ("Encoder", ">count"), ("Encoder", ">period"),
                                               ("CTREPCM", ">on"), ("BuiltInAccel", ">x"))))
        self.assertIn("<time", link.frame()[0]["data"])
        self.assertIsNone(program.poll())

    def test_nobody_there(self):
        self.listener.close()
        program = self.start()
        self.assertIn("start a scene with the wire halsim-step", program.stderr.readline())

    def test_an_address_that_is_none(self):
        self.address = "nonsense"
        self.assertIn("is not HOST:PORT", self.start().stderr.readline())

    def test_a_process_without_wpilib(self):
        done = subprocess.run([sys.executable, "-c", "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).HALSIM_InitExtension() & 1)",
                               stepping.EXTENSION], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no HAL", done.stderr)

    def test_it_shows_one_function(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", stepping.EXTENSION], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in listed.splitlines()], ["HALSIM_InitExtension"])


if __name__ == "__main__":
    unittest.main()
