#!/usr/bin/env python3
"""Samples of signals in the pages: every tick has its sample, whatever the machine, the page or the world does meanwhile."""
import os
import pathlib
import signal
import struct
import tempfile
import time
import unittest

from support.live_page import Page, poses
from support.process import PATIENCE, Tether

TICK = 0.01  # s


class Plot(Page):
    """A page that plots `time`, and signals that come and go beside it."""

    def __init__(self, address):
        super().__init__(address)
        self.names = [entry["name"] for entry in self.model["signals"]]
        self.number = 0
        self.times = []
        self.lost = 0

    def plot(self, *names):
        self.number += 1
        self.send(type="subscribe", number=self.number, signals=[self.names.index(name) for name in ("time", *names)], rate=100)

    def read_until(self, enough):
        """Takes samples in until `enough()`."""
        end = time.monotonic() + PATIENCE
        while not enough():
            assert time.monotonic() < end, "no more samples"
            message = self.receive()
            if isinstance(message, bytes) and message[0] == 2:
                _, _, width, _, count, lost = struct.unpack_from("<BBHIII", message)
                rows = struct.unpack_from(f"<{count * (1 + width)}d", message, 16)
                self.times += rows[::1 + width]
                self.lost += lost


class Samples(unittest.TestCase):
    def setUp(self):
        self.program = Tether("run", "concept-symmetric", "--set", "web.listen=127.0.0.1:0", "--set", "record.on=off", "--set",
                              "wires.float-udp.bind=127.0.0.1:0")
        self.addCleanup(self.program.__exit__)
        self.page = Plot(self.program.addresses["web"])
        self.addCleanup(self.page.close)
        self.page.plot()
        self.page.read_until(lambda: self.page.times)

    def check_every_tick(self):
        times = self.page.times
        gaps = [(early, late) for early, late in zip(times, times[1:]) if not 0.5 * TICK < late - early < 1.5 * TICK]
        self.assertEqual((gaps, self.page.lost), ([], 0))

    def test_of_a_world_that_makes_up_for_late_ticks(self):
        for _ in range(10):
            os.kill(self.program.process.pid, signal.SIGSTOP)
            time.sleep(0.08)
            os.kill(self.program.process.pid, signal.SIGCONT)
            seen = self.page.times[-1]
            self.page.read_until(lambda: self.page.times[-1] > seen + 0.1)
        self.check_every_tick()

    def test_of_a_page_that_plots_more_and_less(self):
        for n in range(60):
            self.page.plot(*("chassis.x", "chassis.y")[:n % 3])
            time.sleep(0.007 * (n % 5))  # in every phase of what is sent
            if n % 10 == 9:
                seen = self.page.times[-1]
                self.page.read_until(lambda: self.page.times[-1] > seen + 0.5)
        self.check_every_tick()


TWO = """robots:
  - {robot: frc2011, name: one, y: 2 m}
  - {robot: frc2011, name: two, y: -2 m}
"""


class Shown(Plot):
    """A page that keeps what it was shown last: the places of both robots, a sample, and since when the world is paused."""

    def __init__(self, address):
        self.shown_at = self.sampled_at = self.paused_at = None
        self.places = self.sample = None
        super().__init__(address)

    def receive(self):
        message = super().receive()
        if isinstance(message, bytes) and message[0] == 1:
            self.shown_at, bodies, _ = poses(message)
            self.places = [bodies[robot["root"]][0] for robot in self.model["robots"]]
        elif isinstance(message, bytes) and message[0] == 2:
            _, _, width, _, count, _ = struct.unpack_from("<BBHIII", message)
            self.sampled_at, *self.sample = struct.unpack_from(f"<{1 + width}d", message, 16 + 8 * (count - 1) * (1 + width))
        elif message["type"] == "status":
            self.paused_at = message["time"] if message["paused"] else None
        return message

    def wait(self, condition):
        self.until(lambda _: condition())


class StandingStill(unittest.TestCase):
    """What a page is shown of a world that is paused."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        scene = pathlib.Path(folder.name, "two.yaml")
        scene.write_text(TWO, encoding="utf-8")
        self.program = Tether("run", scene, "--set", "web.listen=127.0.0.1:0", "--set", "record.on=off")
        self.addCleanup(self.program.__exit__)
        self.page = Shown(self.program.addresses["web"])
        self.addCleanup(self.page.close)
        self.page.plot("one/chassis.x", "two/chassis.x")
        self.page.wait(lambda: self.page.places and self.page.sample)
        self.start = self.page.places
        self.page.command(**{f"{robot}/{side}_track.torque": 40 for robot in ("one", "two") for side in ("left", "right")})
        self.page.wait(lambda: not self.is_back(0) and not self.is_back(1))
        self.page.send(type="control", action="pause")
        self.page.wait(lambda: self.page.paused_at and all(
            at and abs(at - self.page.paused_at) < 1e-6 for at in (self.page.shown_at, self.page.sampled_at)))
        self.stood_at, self.stood = self.page.shown_at, self.page.places
        self.assertFalse(self.is_back(0) or self.is_back(1))  # so what shows one of them back is newer than all that came until now

    def is_back(self, robot):
        """In the picture, and in what is plotted."""
        return all(abs(shown[robot] - self.start[robot]) < 0.05 for shown in (self.page.places, self.page.sample[1:]))

    def reset(self, robot):
        self.page.send(type="control", action="reset", robot=robot)

    def test_one_robot_is_reset(self):
        for robot in 0, 1:
            self.reset(robot)
            self.page.wait(lambda: self.is_back(robot))
            self.assertEqual((self.page.shown_at, self.page.sampled_at), (self.stood_at, self.stood_at))
            self.assertEqual(self.page.places[robot + 1:], self.stood[robot + 1:])

    def test_all_are_reset(self):
        self.reset(-1)
        self.page.wait(lambda: self.is_back(0) and self.is_back(1))
        self.assertEqual((self.page.shown_at, self.page.sampled_at), (self.stood_at, self.stood_at))

    def check_it_begins(self, page, *names):
        page.sample = None
        page.plot(*names)
        page.wait(lambda: page.sample and len(page.sample) == 1 + len(names))
        self.assertEqual(page.sampled_at, self.stood_at)

    def test_a_signal_that_is_added_begins_at_once(self):
        self.check_it_begins(self.page, "one/chassis.x", "two/chassis.x", "two/chassis.y")

    def test_a_signal_of_a_second_page_begins_at_once(self):
        second = Shown(self.program.addresses["web"])
        self.addCleanup(second.close)
        self.check_it_begins(second, "one/chassis.x")


if __name__ == "__main__":
    unittest.main()
