#!/usr/bin/env python3
"""lockstep-tcp with `worlds: per-connection`: every client has a world of its own, and notices no other."""
import socket
import struct
import sys
import threading
import time
import unittest

from support.lockstep import FRAME, VELOCITIES, closed, drive, join, receive, velocities
from support.process import Tether, wait_for

FRAMES = 300


def run(*settings):
    arguments = ["run", "gripper", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0",
                 "--set", "wires.lockstep-tcp.worlds=per-connection"]
    for setting in settings:
        arguments += ["--set", setting]
    return Tether(*arguments)


def together(jobs):
    """Runs each job in a thread; returns their results in order."""
    results = [None] * len(jobs)

    def work(i):
        results[i] = jobs[i]()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Worlds(unittest.TestCase):
    def test_eight_at_once_byte_for_byte(self):
        with run() as tether:
            links = [join(tether) for _ in range(8)]
            jobs = [lambda link=link, sign=1 if i < 6 else -1: drive(link, FRAMES, sign=sign)
                    for i, link in enumerate(links)]
            streams = together(jobs)
            for link in links:
                link.close()
            numbers = [FRAME.unpack_from(streams[0], at)[0] for at in range(0, len(streams[0]), FRAME.size)]
            self.assertEqual(numbers, list(range(FRAMES + 1)))
            self.assertEqual(streams[:6], [streams[0]] * 6)
            self.assertEqual(streams[7], streams[6])
            self.assertNotEqual(streams[7], streams[0])
            self.assertEqual(tether.stop(), 0)
        with Tether("run", "gripper", "--no-web", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0") as tether, \
                join(tether) as link:
            self.assertEqual(drive(link, FRAMES), streams[0])

    def test_vanishing_clients_disturb_nobody(self):
        def vanish(tether):
            for _ in range(5):
                with join(tether) as link:
                    drive(link, 3)
                    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        with run() as tether, join(tether) as steady:
            stream, _ = together([lambda: drive(steady, FRAMES), lambda: vanish(tether)])
            with join(tether) as alone:
                self.assertEqual(drive(alone, FRAMES), stream)

    def test_a_message_that_is_refused_ends_its_own_world_only(self):
        with run() as tether, join(tether) as good, join(tether) as bad:
            receive(good)
            receive(bad)
            bad.sendall(VELOCITIES.pack(*[float("nan")] * 10))
            self.assertTrue(closed(bad))
            good.sendall(velocities(0))
            self.assertEqual(FRAME.unpack(receive(good))[0], 1)

    def test_the_seventeenth_is_refused_until_one_leaves(self):
        with run() as tether:
            links = [join(tether) for _ in range(16)]
            for link in links:
                self.assertEqual(FRAME.unpack(receive(link))[0], 0)
            with join(tether) as one_too_many:
                self.assertTrue(closed(one_too_many))
            tether.wait_line("16 worlds are in use")
            links.pop().close()

            def enter():
                link = join(tether)
                try:
                    receive(link)
                    return link
                except (EOFError, ConnectionResetError):
                    link.close()
                    return None
            links.append(wait_for(enter, "a free world"))
            self.assertEqual(tether.stop(), 0)
            for link in links:
                self.assertTrue(closed(link))
                link.close()

    def test_too_many_worlds_are_an_error_of_the_scene(self):
        with Tether("check", "gripper", "--set", "wires.lockstep-tcp.max_worlds=257", ready=False) as tether:
            self.assertNotEqual(tether.wait_exit(), 0)
            self.assertIn("max_worlds: give 1 to 256", tether.text())

    def test_says_how_many_steps_it_makes(self):
        for clients in (1, 2, 4, 8):
            with run() as tether:
                links = [join(tether) for _ in range(clients)]
                start = time.monotonic()
                together([lambda link=link: drive(link, 200) for link in links])
                seconds = time.monotonic() - start
                for link in links:
                    link.close()
            print(f"{clients} clients: {clients * 200 * 10 / seconds:.0f} steps/s in total", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
