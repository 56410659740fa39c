#!/usr/bin/env python3
"""The real program behind bad networks and beside bad neighbours, wire by wire."""
import contextlib
import csv
import io
import multiprocessing
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent
from support import ezphysics
from support import telemetry
from support import lockstep
from support import sharp
from support.proxy import TcpProxy, UdpProxy
from support.process import TETHER, Tether, at_best, seconds

COMMANDS = struct.Struct("<6f")
ROBOT = ("--no-web", "--set", "wires.float-udp.bind=127.0.0.1:0", "--set", "wires.float-udp.peer=sender")


def udp(address):
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.settimeout(20)
    link.connect(address)
    return link


def exported(run, *columns):
    """Rows of a kept run's CSV, those columns."""
    text = subprocess.run([TETHER, "export", run, "--format", "csv"], capture_output=True, text=True, check=True).stdout
    rows = csv.reader(io.StringIO(text))
    head = next(rows)
    places = [next(i for i, name in enumerate(head) if column in name) for column in columns]
    return [[float(row[i] or 0) for i in places] for row in rows]


class Udp(unittest.TestCase):
    def drive_through(self, count=150, **harm):
        """Torque n / 100 with stamp n, 100 a second, through a proxy. What was applied, in order; and the log."""
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run.wpilog"
            with Tether("run", "frc2011", *ROBOT, "--record", run) as tether:
                with UdpProxy(tether.address("float-udp"), **harm) as proxy, udp(proxy.address) as link:
                    for n in range(1, count + 1):
                        link.send(COMMANDS.pack(n, n / 100, 0, 0, 0, 0))
                        time.sleep(0.01)
                self.assertEqual(tether.stop(), 0)
                text = tether.text()
            # in·lbf became N·m
            applied = [round(value / 0.1129848290276167 * 100) for value, in exported(run, "command:left_track.torque")]
            verified = subprocess.run([TETHER, "verify", run], capture_output=True, text=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stderr)
        return [n for i, n in enumerate(applied) if n and (i == 0 or applied[i - 1] != n)], text

    def test_duplicates_and_replays_and_reordering_are_never_applied_twice_or_late(self):
        for count in 150, 600, 2400:  # a busy machine takes several messages a tick, of which one is applied
            applied, _ = self.drive_through(count, duplicate=0.3, reorder=0.3, replay=0.3)
            self.assertEqual(applied, sorted(set(applied)))
            if len(applied) > 50:
                break
        self.assertGreater(len(applied), 50)

    def test_thirty_percent_loss_trips_no_watchdog(self):
        applied, text = self.drive_through(loss=0.3)
        self.assertEqual(applied, sorted(set(applied)))
        self.assertNotIn("silent", text)

    def test_bursts_of_loss_trip_no_watchdog(self):
        """A fifth of a second at a time: held over, and what comes after is heard."""
        applied, text = self.drive_through(burst=0.03)
        self.assertEqual(applied, sorted(set(applied)))
        gaps = [late - early for early, late in zip(applied, applied[1:])]
        self.assertGreater(max(gaps), UdpProxy.BURST // 2, gaps)
        self.assertNotIn("silent", text)

    def test_truncated_and_swapped_messages_are_dropped_whole(self):
        applied, text = self.drive_through(truncate=0.3, swap=0.3)
        self.assertEqual(applied, sorted(set(applied)))
        self.assertLessEqual(max(applied), 150)  # no torque but those that were sent
        self.assertIn("bytes where 6 floats", text)

    def test_a_flood_holds_nobody_and_is_over_when_it_is_over(self):
        """A thousand datagrams a period; the world keeps its time and the controller is heard as soon as they end."""
        with Tether("run", "frc2011", *ROBOT, "--set", "record.on=off") as tether, udp(tether.address("float-udp")) as link:
            stamp, now = 0, 0.0

            def flood():
                """Until half a second is simulated."""
                nonlocal stamp, now
                end = now + 0.5
                while now < end:
                    for _ in range(200):
                        stamp += 1
                        link.send(COMMANDS.pack(stamp, 1, 1, 0, 0, 0))
                    link.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        while True:
                            now, = struct.unpack_from("<f", link.recv(2048))
            at_best(lambda: seconds(flood), 2)
            link.settimeout(20)
            link.send(COMMANDS.pack(stamp + 1, 0, 0, 0, 0, 0))
            self.assertGreater(struct.unpack_from("<f", link.recv(2048))[0], now)
            self.assertEqual(tether.stop(), 0)

    def test_nobody_is_sent_anything_who_said_nothing_valid(self):
        """No reflection: a stranger's datagrams, however many, bring no byte to whom they claim to be from."""
        with Tether("run", "frc2011", *ROBOT, "--set", "record.on=off") as tether:
            address = tether.address("float-udp")
            with udp(address) as stranger, udp(address) as controller:
                for n in range(200):
                    stranger.send(bytes(n % (COMMANDS.size - 1)))
                controller.send(COMMANDS.pack(1, 0, 0, 0, 0, 0))
                for _ in range(20):
                    controller.recv(2048)
                    stranger.send(COMMANDS.pack(2, 9, 9, 9, 0, 0))  # valid, but another drives
                stranger.setblocking(False)
                self.assertRaises(BlockingIOError, stranger.recv, 2048)
                tether.wait_line("drives")


class UdpInLockstep(unittest.TestCase):
    """A controller that answers what it hears, behind a bad line, in a world that waits for it."""

    def run_world(self, *settings, log=None):
        keys = ("pace=lockstep", "wires.float-udp.deadline=30 ms", *settings, *(() if log else ("record.on=off",)))
        return Tether("run", "frc2011", *ROBOT, *(part for key in keys for part in ("--set", key)), *(("--record", log) if log else ()))

    def answer_until(self, link, end, stamp=0, now=-1.0):
        """Answers each message that is newer, with a torque that its time decides, and says hello until the first one comes. Returns
        the latest stamp and time."""
        link.settimeout(0.05)
        while now < end:
            try:
                time_heard, = struct.unpack_from("<f", link.recv(2048))
                if time_heard <= now:
                    continue
                now = time_heard
            except TimeoutError:
                if now >= 0:
                    continue  # the world asks again
            stamp += 1
            link.send(COMMANDS.pack(stamp, round(now * 100) % 50, 0, 0, 0, 0))
        return stamp, now

    def test_whatever_the_line_does_every_period_has_its_answer(self):
        harms = ({"loss": 0.2}, {"burst": 0.01}, {"duplicate": 0.5}, {"reorder": 0.3}, {"replay": 0.5}, {"truncate": 0.2, "swap": 0.2})
        with tempfile.TemporaryDirectory() as folder:
            for n, harm in enumerate(harms):
                log = f"{folder}/{n}.wpilog"
                with self.run_world(log=log) as tether:
                    with UdpProxy(tether.address("float-udp"), **harm) as proxy, udp(proxy.address) as link:
                        self.answer_until(link, 0.3)
                    self.assertEqual(tether.stop(), 0, harm)
                verified = subprocess.run([TETHER, "verify", log], capture_output=True, text=True, check=False)
                self.assertEqual(verified.returncode, 0, verified.stderr)
                summary = subprocess.run([TETHER, "export", log, "--format", "summary"], capture_output=True, text=True, check=True).stdout
                if "loss" in harm or "truncate" in harm:  # no answer, so the message came again
                    self.assertIn("repeatable: no", summary, harm)

    def test_a_flood_of_answers_harms_nobody(self):
        with self.run_world("wires.float-udp.deadline=5 s") as tether, udp(tether.address("float-udp")) as link:
            stamp, now = self.answer_until(link, 0.05)
            for _ in range(20000):
                stamp += 1
                link.send(COMMANDS.pack(stamp, 1, 1, 0, 0, 0))
            link.settimeout(0.2)
            while True:  # what each answer of the flood that counted brought
                try:
                    late, = struct.unpack_from("<f", link.recv(2048))
                    self.assertGreater(late, now)
                    now = late
                except TimeoutError:
                    break
            link.send(COMMANDS.pack(stamp + 1, 0, 0, 0, 0, 0))
            self.answer_until(link, now + 0.05, stamp + 1, now)
            self.assertEqual(tether.stop(), 0)

    def test_a_client_that_dies_is_followed_by_the_next(self):
        with self.run_world() as tether:
            now = 0.0
            for _ in range(5):
                with udp(tether.address("float-udp")) as link:
                    _, now = self.answer_until(link, now + 0.1)
            tether.wait_line("nobody is at its peer's port")
            self.assertGreater(now, 0.4)
            self.assertEqual(tether.stop(), 0)


class SharpJson(unittest.TestCase):
    def drive_through(self, rounds):
        """Duties through a bad line, each several times, then -77 through a good one. What was sent and what was applied, of 512."""
        sent = [n * 3 for n in range(1, 151)]
        with tempfile.TemporaryDirectory() as folder, sharp.Udp().socket as core:
            run, peer = f"{folder}/run.wpilog", "127.0.0.1:%d" % core.getsockname()[1]
            with Tether("run", "sharp", "--no-web", "--set", "wires.sharp-json.bind=127.0.0.1:0", "--set",
                        f"wires.sharp-json.peer={peer}", "--record", run) as tether:
                with UdpProxy(tether.address("sharp-json"), loss=0.1, burst=0.02, duplicate=0.2, reorder=0.2,
                              truncate=0.2) as proxy, udp(proxy.address) as link:
                    for left in sent * rounds:
                        link.send(sharp.command(left=left))
                        time.sleep(0.005)
                with udp(tether.address("sharp-json")) as link:
                    link.send(sharp.command(left=-77))
                    while select.select([core], [], [], 0)[0]:  # states from before
                        core.recv(2048)
                    for _ in range(5):
                        link.send(sharp.command(left=-77))
                        core.recv(2048)
                self.assertEqual(tether.stop(), 0)
                self.assertIn("malformed", tether.text())
            applied = [value for value, in exported(run, "command:left_drive.duty")]
            verified = subprocess.run([TETHER, "verify", run], capture_output=True, text=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stderr)
        return sent, [round(value * 512) for value in applied]

    def test_a_bad_line_brings_only_what_was_sent_and_the_last_counts(self):
        """It has no stamp: what is late is applied late, but nothing is made up, and the end is the last one's."""
        for rounds in 1, 4, 16:  # a busy machine takes several messages a tick, of which one is applied
            sent, applied = self.drive_through(rounds)
            self.assertLessEqual(set(applied), {0, -77, *sent})
            self.assertEqual(applied[-1], -77)
            if len(set(applied)) > 20:
                break
        self.assertGreater(len(set(applied)), 20)


class Xrp(unittest.TestCase):
    def test_what_comes_twice_late_cut_or_never_moves_no_motor(self):
        """Its messages are numbered: whatever order they come in, motors see numbers that grow, and in the end the last one's."""
        def message(number, left):
            motors = b"".join(struct.pack(">BBBf", 6, 0x12, *motor) for motor in enumerate((left, 0, 0, 0)))
            servos = b"".join(struct.pack(">BBBf", 6, 0x13, which, 0.5) for which in (4, 5))
            return struct.pack(">HB", number & 0xFFFF, 1) + motors + servos

        first = 65536 - 75  # the numbers wrap halfway
        with tempfile.TemporaryDirectory() as folder:
            run = f"{folder}/run.wpilog"
            with Tether("run", "xrp", "--no-web", "--set", "wires.xrp.bind=127.0.0.1:0", "--record", run) as tether:
                with UdpProxy(tether.address("xrp"), loss=0.1, burst=0.02, duplicate=0.2, reorder=0.2, truncate=0.2,
                              replay=0.2) as proxy, udp(proxy.address) as link:
                    for n in range(1, 151):
                        link.send(message(first + n, n / 256))
                        time.sleep(0.02)
                    for n in range(151, 160):  # the line may lose any of them
                        link.send(message(first + n, 0.75))
                        time.sleep(0.02)
                    waiting = len(link.recv(2048)) > 0
                    while waiting:  # answers to what came before
                        waiting = bool(select.select([link], [], [], 0)[0]) and bool(link.recv(2048))
                    for _ in range(10):  # ticks in which the last one was read
                        link.recv(2048)
                self.assertEqual(tether.stop(), 0)
                text = tether.text()
            applied = [round(value * 256) for value, in exported(run, "command:left_motor.duty")]
            verified = subprocess.run([TETHER, "verify", run], capture_output=True, text=True, check=False)
            self.assertEqual(verified.returncode, 0, verified.stderr)
        self.assertLessEqual(set(applied), {0, 192, *range(1, 151)})
        driven = [value for value in applied if value]
        self.assertEqual(driven, sorted(driven))
        self.assertGreater(len(set(driven)), 20)
        self.assertIn(192, driven)
        self.assertIn("wrong length", text)


class Ezphysics(unittest.TestCase):
    """The bench of the wire's own tests, behind a proxy."""

    def setUp(self):
        bench = ezphysics.Bench()
        bench.setUp()
        self.addCleanup(bench.doCleanups)
        self.tether = bench.start()

    def drive(self, address):
        """The bytes of eleven states, their step numbers counted from the first."""
        with socket.create_connection(address) as link:
            peer = ezphysics.Peer(link)
            states = [peer.state()]
            states += [peer.turn((ezphysics.RESET, 0, b""))]
            states += [peer.turn(ezphysics.motor(1, 1.0, 50), ezphysics.force(2, 0.5)) for _ in range(10)]
            return [state.data for state in states[1:]]

    def test_one_byte_at_a_time_both_ways(self):
        reference = self.drive(self.tether.address("ezphysics"))
        with TcpProxy(self.tether.address("ezphysics"), most=1) as proxy:
            self.assertEqual(self.drive(proxy.address), reference)

    def test_torn_away_in_the_middle_of_a_message(self):
        reference = self.drive(self.tether.address("ezphysics"))
        for cut in 3, 9, 30, 60:
            with TcpProxy(self.tether.address("ezphysics"), cut_after=cut) as proxy:
                self.assertRaises((EOFError, OSError), self.drive, proxy.address)
        self.assertEqual(self.drive(self.tether.address("ezphysics")), reference)


class Telemetry(unittest.TestCase):
    """Fifty messages of one device; what is acknowledged is in the table, once, and nothing else is."""

    def send(self, address, count=50):
        """The numbers that were acknowledged."""
        known = b""
        with socket.create_connection(address, timeout=20) as link:
            try:
                link.sendall("".join(telemetry.message("G", 1000 + n, [("S", 0, {"d": {"n": n}})], True)
                                     for n in range(count)).encode())
                while known.count(b"/>") < count:
                    known += link.recv(65536) or self.fail("closed")
            except (OSError, self.failureException):
                pass
        return [int(time) - 1000 for time in re.findall(rb'time="(\d+)"/>', known)]

    def through(self, **harm):
        """What was acknowledged through the proxy, and what the table has."""
        stores = telemetry.Stores()
        self.addCleanup(stores.close)
        with telemetry.Collector(stores.url("sqlite")) as collector:
            with TcpProxy(collector.address, **harm) as proxy:
                known = self.send(proxy.address)
            self.assertEqual(self.send(collector.address, 1), [0])  # the next one is served, and the table is up to date
            return known, [record[2] for record in collector.table("device=G")["records"]]

    def test_one_byte_at_a_time_both_ways(self):
        known, table = self.through(most=1)
        self.assertEqual(known, list(range(50)))
        self.assertEqual(sorted(set(table)), known)

    def test_torn_away_in_the_middle_of_a_message(self):
        size = len(telemetry.message("G", 1000, [("S", 0, {"d": {"n": 0}})], True))
        known, table = self.through(cut_after=10 * size + size // 2)
        self.assertEqual(sorted(set(table)), list(range(len(set(table)))))
        self.assertLessEqual(set(known), set(table))
        self.assertLess(max(table), 11)


class Lockstep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with lockstep.run() as tether, lockstep.join(tether) as link:
            cls.reference = lockstep.drive(link, 60)

    def through(self, tether, **harm):
        return TcpProxy(tether.address("lockstep-tcp"), **harm)

    def join(self, proxy):
        link = socket.create_connection(proxy.address, timeout=20)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

    def assert_served(self, tether):
        """Without a client such a world goes on by itself: the next one joins it as it is."""
        with lockstep.join(tether) as link:
            stream = lockstep.drive(link, 5)
            frames = [lockstep.FRAME.unpack_from(stream, at)[0] for at in range(0, len(stream), lockstep.FRAME.size)]
            self.assertEqual(frames, list(range(frames[0], frames[0] + 6)))

    def test_one_byte_at_a_time_both_ways(self):
        with lockstep.run() as tether, self.through(tether, most=1) as proxy, self.join(proxy) as link:
            self.assertEqual(lockstep.drive(link, 60), self.reference)

    def test_torn_away_in_the_middle_of_a_message(self):
        with lockstep.run() as tether:
            for cut in 1, 39, 41, 100:
                with self.through(tether, cut_after=cut) as proxy, self.join(proxy) as link:
                    self.assertRaises((EOFError, OSError), lockstep.drive, link, 60)
            with lockstep.join(tether) as link:
                self.assertEqual(lockstep.drive(link, 60), self.reference)

    def test_a_line_gone_dead_costs_its_client_its_place(self):
        """Half a message, then nothing, and nobody closes: after the deadline the next one is served."""
        with lockstep.run("wires.lockstep-tcp.late=eject", "wires.lockstep-tcp.deadline=0.3") as tether:
            with self.through(tether, silent_after=60) as proxy, self.join(proxy) as link:
                self.assertRaises((EOFError, OSError), lockstep.drive, link, 60)
            tether.wait_line("ejected")
            self.assert_served(tether)

    def test_a_stopped_client(self):
        """SIGSTOP: its kernel goes on answering, so only the deadline can tell."""
        with lockstep.run("wires.lockstep-tcp.late=eject", "wires.lockstep-tcp.deadline=0.3") as tether:
            processes = multiprocessing.get_context("fork")
            driving = processes.Event()

            def answer(link):
                with contextlib.suppress(OSError, EOFError):  # a busy machine may be late by itself
                    while True:
                        lockstep.receive(link)
                        link.sendall(lockstep.velocities(0))
                        driving.set()
            with lockstep.join(tether) as link:
                client = processes.Process(target=answer, args=(link,))
                client.start()
            try:
                driving.wait(20)
                os.kill(client.pid, signal.SIGSTOP)
                tether.wait_line("ejected")
                self.assert_served(tether)
            finally:
                client.kill()
                client.join()


class Overrun(unittest.TestCase):
    def test_time_that_cannot_be_kept_is_counted_and_slips(self):
        """A thousand times real time is more than any machine has: late ticks are counted, wires are served, it ends."""
        for policy in "slip", "catch_up":
            with Tether("run", "frc2011", *ROBOT, "--set", "record.on=off", "--set", "speed=1000", "--set",
                        f"late_ticks={policy}", "--duration", "5") as tether:
                with udp(tether.address("float-udp")) as link:
                    link.send(COMMANDS.pack(1, 0, 0, 0, 0, 0))
                    link.recv(2048)
                self.assertEqual(tether.wait_exit(60), 0)
                late = int(tether.wait_line("ticks late").split(", ")[1].split()[0])
                self.assertGreater(late, 0, policy)


if __name__ == "__main__":
    unittest.main()
