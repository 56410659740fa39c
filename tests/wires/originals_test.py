#!/usr/bin/env python3
"""The sharp-json chain against programs that read one datagram a loop, 72 loops a second, as the originals do: at each
place in turn one of them stands, and nothing may wait and age in its sockets."""
import os
import signal
import socket
import sys
import tempfile
import time
import unittest

from support.live_page import Page
from support import sharp
from support.process import wait_for

LOOPS = 72  # a second
MOST = 60  # messages a second that may come
LEAST = 30  # and that do, where the machine lets them
TRIES = 5
SECONDS = 120 if os.environ.get("TETHER_LONG") else 2
LAG = 0.15  # s


class Inbox:
    """A socket that is read one datagram a loop."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((host, int(port)))
        self.socket.setblocking(False)
        sharp.stamp_arrivals(self.socket)
        self.times = []  # when each came
        self.looked = 0  # when it was looked at last
        self.rates = []  # messages a second in each of a test's loops

    @property
    def is_steady(self):
        """Did a loop get what it should? A program that the machine stops is silent, and then sends two messages in a row."""
        return any(LEAST <= rate <= MOST + 1 + 3 / SECONDS for rate in self.rates)

    def read(self):
        """The oldest datagram that waits, or None."""
        self.looked = time.monotonic()
        try:
            data, _, arrived = sharp.receive_stamped(self.socket)
        except BlockingIOError:
            return None
        self.times.append(arrived)
        return data

    def waiting(self):
        """How many wait; they are gone then."""
        count = 0
        while self.read() is not None:
            count += 1
        return count

    def send(self, data, address):
        host, port = address.split(":")
        self.socket.sendto(data, (host, int(port)))


class Originals(sharp.Case):
    def inbox(self, address):
        inbox = Inbox(address)
        self.addCleanup(inbox.socket.close)
        return inbox

    def loop(self, inboxes, *turns):
        """Does every one of `turns` 72 times a second; loops that the machine was too late for follow at once. Where it let through
        too few messages to any of `inboxes`, or too many at once, all of it once more."""
        for _ in range(TRIES):
            before, start = [len(inbox.times) for inbox in inboxes], time.monotonic()
            for n in range(round(SECONDS * LOOPS)):
                time.sleep(max(0, start + n / LOOPS - time.monotonic()))
                for turn in turns:
                    turn()
            for inbox, had in zip(inboxes, before):
                inbox.rates.append((len(inbox.times) - had) / (time.monotonic() - start))
            if all(inbox.is_steady for inbox in inboxes):
                return

    def assertFresh(self, inbox, place):
        """What waits is no older than LAG, and came at a rate that a loop can follow."""
        since = inbox.looked
        waiting = inbox.waiting()
        unseen = inbox.looked - since  # s that a busy machine took from the last loop to here
        rates = ", ".join(f"{rate:.1f}" for rate in inbox.rates)
        print(f"{place}: {rates} messages/s, {waiting} wait: {waiting / MOST:.3f} s", file=sys.stderr)
        self.assertLessEqual(waiting / MOST, LAG + unseen, place)
        self.assertTrue(inbox.is_steady, place)

    def script(self):
        """A stick that tells the time: one more, every so often. (its path, s between two values)"""
        step = max(0.05, SECONDS / 1000)
        lines = [f"{k * step:.3f} left_x {k - 512}" for k in range(1024)] + ["600 left_x 0"]
        file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        self.addCleanup(file.close)
        file.write("\n".join(lines))
        file.flush()
        return file.name, step

    def test_a_core_hears_sticks_and_encoders_of_now(self):
        stick, core_stick, core_vehicle, vehicle = sharp.free_ports(4)
        sticks, states = self.inbox(core_stick), self.inbox(core_vehicle)
        script, step = self.script()
        self.tether("run", "sharp", "--no-web", "--set", f"wires.sharp-json.bind={vehicle}",
                    "--set", f"wires.sharp-json.peer={core_vehicle}")
        self.tether("joystick", "--set", f"bind={stick}", "--set", f"peer={core_stick}", "--script", script)
        seen = {}  # stick's value: s that it was seen after the program began to count, and a constant

        def turn():
            sticks.send(b"{}", stick)
            data = sticks.read()
            if data:
                value = int(data[20:24])
                seen.setdefault(value, time.monotonic() - (value + 512) * step)
            sticks.send(sharp.command(left=100, right=100), vehicle)
            states.read()
        self.loop([sticks, states], turn)
        lags = [late - min(seen.values()) for late in seen.values()]
        print(f"sticks: {lags[-1]:.3f} s late at the end, {max(lags):.3f} s at most", file=sys.stderr)
        self.assertLessEqual(lags[-1], LAG + step)
        self.assertFresh(sticks, "sticks")
        self.assertFresh(states, "states")

    def test_a_late_world_sends_the_state_of_now_and_not_what_it_owes(self):
        core_vehicle, vehicle = sharp.free_ports(2)
        states = self.inbox(core_vehicle)
        tether = self.tether("run", "sharp", "--no-web", "--set", f"wires.sharp-json.bind={vehicle}",
                             "--set", f"wires.sharp-json.peer={core_vehicle}")
        wait_for(states.read, "a state")
        states.times.clear()
        stops, awake, woken = 8, 0, time.monotonic()
        for _ in range(stops):
            tether.process.send_signal(signal.SIGSTOP)
            awake += time.monotonic() - woken
            time.sleep(0.08)  # a world that owes more than 0.1 s lets it go
            woken = time.monotonic()
            tether.process.send_signal(signal.SIGCONT)
            time.sleep(0.15)
        tether.process.send_signal(signal.SIGSTOP)
        awake += time.monotonic() - woken
        states.waiting()
        most = awake * MOST + 2 * stops + 1  # after each stop one at once and the one of now
        print(f"a late world: {len(states.times)} states, {most:.0f} at most", file=sys.stderr)
        self.assertGreaterEqual(len(states.times), stops)
        self.assertLessEqual(len(states.times), most)
        tether.process.send_signal(signal.SIGCONT)

    def start_fast(self, speed):
        """A vehicle in a world `speed` times as fast as real time; (what it sends, its port)."""
        core_vehicle, vehicle = sharp.free_ports(2)
        states = self.inbox(core_vehicle)
        self.tether("run", "sharp", "--no-web", "--speed", speed, "--set", "record.on=false",
                    "--set", f"wires.sharp-json.bind={vehicle}", "--set", f"wires.sharp-json.peer={core_vehicle}")
        return states, vehicle

    def test_a_fast_world_sends_no_more_states(self):
        states, _ = self.start_fast("4")
        self.loop([states], states.read)
        self.assertFresh(states, "a fast world")

    def test_a_fast_world_tells_every_reset(self):
        """Of a lift that goes up at once: it is on top again before the next state is due."""
        states, vehicle = self.start_fast("20")

        def lift(**buttons):
            """What is read while it goes up; between bottom and top where nothing has come."""
            states.send(sharp.command(elevator=512, **buttons), vehicle)
            data = states.read()
            return int(sharp.STATE.fullmatch(data)[3]) if data else 512
        for _ in range(4):
            wait_for(lambda: lift() > 1000, "the lift on top")
            states.send(sharp.command(elevator=512, guide=1), vehicle)
            wait_for(lambda: lift() < 60, "the state that tells the reset")

    def test_a_vehicle_hears_commands_of_now_and_a_joystick_sees_the_end_of_heartbeats(self):
        stick, core_stick, core_vehicle, vehicle = sharp.free_ports(4)
        heartbeats, commands = self.inbox(stick), self.inbox(vehicle)
        core = self.tether("core", "--set", f"joystick.bind={core_stick}", "--set", f"joystick.peer={stick}",
                           "--set", f"vehicle.bind={core_vehicle}", "--set", f"vehicle.peer={vehicle}")

        def turn():
            heartbeats.send(sharp.joystick(left=(0, 200)), core_stick)
            heartbeats.read()
            commands.send(sharp.state(5, 5, 5), core_vehicle)
            commands.read()
        self.loop([heartbeats, commands], turn)
        core.process.kill()
        core.wait_exit()
        self.assertFresh(heartbeats, "heartbeats")  # read one a loop, these would hide for so long that the core is gone
        self.assertFresh(commands, "commands")

    def test_a_core_hears_the_sticks_of_a_page(self):
        stick, core_stick = sharp.free_ports(2)
        sticks = self.inbox(core_stick)
        core = self.udp()
        tether = self.tether("run", "sharp", "--set", "web.listen=127.0.0.1:0", "--set",
                             "wires.sharp-json.bind=127.0.0.1:0", "--set", f"wires.sharp-json.peer={core.address}")
        page = Page(tether.addresses["web"])
        self.addCleanup(page.close)
        page.send(type="joystick", core=core_stick, port=int(stick.split(":")[1]), axes=[0, 1, 0, 0],
                  dpad=[0, 0, 0, 0], buttons=[0, 0, 0, 0], back=0, select=0, start=0)
        wait_for(sticks.read, "the page's sticks")
        self.assertEqual(page.told("joystick")["connected"], False)
        sticks.times.clear()

        def turn():
            sticks.send(b"{}", stick)
            sticks.read()
        self.loop([sticks], turn)
        self.assertFresh(sticks, "sticks of a page")
        self.assertEqual(page.told("joystick")["connected"], True)


if __name__ == "__main__":
    unittest.main()
