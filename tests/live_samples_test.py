#!/usr/bin/env python3
"""Samples of signals in the pages: every tick has its sample, whatever the machine, the page or the world does meanwhile."""
import os
import signal
import struct
import time
import unittest

from support.live_page import Page
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


if __name__ == "__main__":
    unittest.main()
