#!/usr/bin/env python3
"""The ezphysics wire against the real program: bytes, modes, commands, timeouts, and what a bad peer does."""
import os
import select
import signal
import socket
import struct
import time
import unittest

from support.ezphysics import (AXIS_FORCE, AXIS_MOTOR, COLLISION, JOINTAXIS, JOINTFEEDBACK, LIMB, NAME, RESET, TIMESTAMP,
                               Bench, Peer, force, message, motor)
from support.process import ROOT, TETHER, wait_for

# A globe on a ball joint in its middle, so that nothing but what is commanded turns it.
GLOBE = """<mujoco model="bench">
  <worldbody>
    <body name="globe" pos="0 0 1">
      <joint name="pivot" type="ball"/>
      <geom type="sphere" size="0.2" mass="2.5"/>
    </body>
  </worldbody>
</mujoco>
"""
GLOBE_INERTIA = 2 / 5 * 2.5 * 0.2 ** 2

class Ezphysics(Bench):
    def test_first_state_is_whole_ordered_and_byte_exact(self):
        _, peer = self.both()
        state = peer.state()
        self.assertEqual(state.data[8:32].hex(), "0500000008000000" + "00000000" * 2 + "00000000" + "6f12833a")
        kinds = [(kind, thing, index) for kind, thing, index, _ in state.packets]
        self.assertEqual(kinds[:12], [(TIMESTAMP, 0, 0), (LIMB, 1, 0), (LIMB, 2, 0), (LIMB, 3, 0), (LIMB, 4, 0),
                                      (JOINTAXIS, 1, 0), (JOINTAXIS, 2, 0), (JOINTAXIS, 3, 0),
                                      (JOINTFEEDBACK, 1, 0), (JOINTFEEDBACK, 2, 0), (JOINTFEEDBACK, 3, 0)]
                         + kinds[11:12])
        limb = state.floats(LIMB, 1)
        self.assertEqual(len(limb), 21)
        self.assertEqual(limb[:7], (0, 0, 1, 1, 0, 0, 0))
        self.assertEqual((limb[13], limb[20]), (0, 0))
        self.assertTrue(peer.quiet(), "it waits for a message after each state")

    def test_one_message_one_period(self):
        _, peer = self.both("steps: 7")
        self.assertEqual(peer.state().step, 0)
        for n in range(1, 20):
            self.assertEqual(peer.turn().step, 7 * n)
        peer.socket.sendall(message() * 5)  # several at once are answered one by one
        self.assertEqual([peer.state().step for _ in range(5)], [7 * n for n in range(20, 25)])
        self.assertTrue(peer.quiet())

    def test_a_message_may_come_in_any_pieces(self):
        _, peer = self.both()
        peer.state()
        data = message(motor(1, 1.0, 50), (RESET, 0, b""), force(2, 1.0))
        for byte in data:
            peer.socket.sendall(bytes([byte]))
        self.assertEqual(peer.state().step, 0)  # the reset's own state

    def test_contacts_come_in_pairs_and_carry_the_weight(self):
        _, peer = self.both()
        peer.state()
        for _ in range(100):
            state = peer.turn()
        touches = [(thing, index) for kind, thing, index, _ in state.packets if kind == COLLISION]
        self.assertEqual(sorted(thing for thing, _ in touches), [thing for thing, _ in touches])
        world = {index for thing, index in touches if thing == 0}
        box = {index for thing, index in touches if thing == 4}
        self.assertEqual(world, box)
        self.assertEqual(len(box), 4)
        for kind, thing, index, load in state.packets:
            if kind == COLLISION:
                x, y, z, depth = struct.unpack("<4f", load)
                self.assertGreater(depth, 0)
                self.assertAlmostEqual(z, 0, delta=0.01)
                self.assertAlmostEqual(abs(x + 2), 0.1, delta=0.01)
        limb = state.floats(LIMB, 4)
        self.assertAlmostEqual(limb[9], 3 * 9.81, delta=0.3)  # the floor carries the box
        self.assertAlmostEqual(limb[7], 0, delta=0.3)

    def test_feedback_of_a_hanging_arm_is_its_weight(self):
        _, peer = self.both()
        peer.state()
        for _ in range(50):
            state = peer.turn()
        shoulder, elbow = state.floats(JOINTFEEDBACK, 2), state.floats(JOINTFEEDBACK, 3)
        self.assertAlmostEqual(shoulder[2], 2.0 * 9.81, delta=0.2)
        self.assertAlmostEqual(elbow[2], 0.5 * 9.81, delta=0.05)
        for feedback in (shoulder, elbow):
            for axis in range(3):
                self.assertAlmostEqual(feedback[axis], -feedback[6 + axis], places=3)

    def test_a_motor_reaches_its_velocity_and_keeps_it(self):
        _, peer = self.both()
        peer.state()
        peer.turn(motor(1, 3.0, 50))
        for _ in range(40):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 3.0, delta=0.03)

    def test_a_motor_never_exceeds_its_torque(self):
        _, peer = self.both()
        peer.state()
        inertia = 2 * 0.5 ** 2 / 2  # of the turntable about its axis
        peer.turn(motor(1, 1000.0, 0.5))
        before = peer.turn().floats(JOINTAXIS, 1)[1]
        after = before
        for _ in range(10):
            after = peer.turn().floats(JOINTAXIS, 1)[1]
        self.assertAlmostEqual((after - before) / 0.1, 0.5 / inertia, delta=0.02 * 0.5 / inertia)

    def test_a_force_lasts_one_period_and_a_motor_takes_over(self):
        _, peer = self.both()
        peer.state()
        pushed = peer.turn(force(1, 2.0)).floats(JOINTAXIS, 1)[1]  # surplus axes hold NaN: ignored
        self.assertAlmostEqual(pushed, 2.0 * 0.01 / 0.25, delta=0.002)
        self.assertAlmostEqual(peer.turn().floats(JOINTAXIS, 1)[1], pushed, delta=1e-5)
        twice = peer.turn(force(1, 2.0)).floats(JOINTAXIS, 1)[1]
        self.assertAlmostEqual(twice, 2 * pushed, delta=0.002)
        peer.turn(motor(1, 0.0, 50))
        for _ in range(20):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 0, delta=0.001)

    def test_a_motor_goes_on_after_a_force(self):
        _, peer = self.both()
        peer.state()
        peer.turn(motor(1, 3.0, 50))
        for _ in range(40):
            peer.turn()
        self.assertGreater(peer.turn(force(1, 50.0)).floats(JOINTAXIS, 1)[1], 4)
        for _ in range(100):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 3.0, delta=0.03)
        peer.turn((RESET, 0, b""))  # which ends it
        pushed = peer.turn(force(1, 2.0)).floats(JOINTAXIS, 1)[1]
        for _ in range(20):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], pushed, delta=1e-4)

    def test_a_motor_goes_on_after_the_force_of_one_who_left(self):
        tether, peer = self.both()
        peer.state()
        peer.turn(motor(1, 1.5, 50))
        for _ in range(40):
            peer.turn()
        peer.send(force(1, 20.0))
        peer.socket.close()
        peer = self.connect(tether)
        self.assertGreater(peer.state().floats(JOINTAXIS, 1)[1], 1.8)
        for _ in range(100):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 1.5, delta=0.03)
        state = peer.turn(force(1, -20.0))
        self.assertLess(state.floats(JOINTAXIS, 1)[1], 1.2)
        for _ in range(100):
            state = peer.turn()
        self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 1.5, delta=0.03)

    def globe(self):
        (self.folder / "bench.xml").write_text(GLOBE)
        _, peer = self.both()
        peer.state()

        def turn(kind, *numbers):
            state = peer.turn((kind, 1, struct.pack(f"<{len(numbers)}f", *numbers)))
            return [state.floats(JOINTAXIS, 1, axis)[1] for axis in range(3)]
        return turn

    def test_a_force_on_a_ball_acts_about_each_axis(self):
        turn = self.globe()
        speeds = turn(AXIS_FORCE, 0.5, -1.0, 2.0)
        for speed, torque in zip(speeds, (0.5, -1.0, 2.0)):
            self.assertAlmostEqual(speed, torque * 0.01 / GLOBE_INERTIA, delta=0.01 * abs(speed))

    def test_a_motor_on_a_ball_reaches_each_velocity_within_its_torque(self):
        turn = self.globe()
        before = [0, 0, 0]
        for _ in range(100):
            speeds = turn(AXIS_MOTOR, 1.0, 2.0, -1.0, 1.0, 0.0, 0.25)
            for speed, old, torque in zip(speeds, before, (2.0, 1.0, 0.25)):
                self.assertLessEqual(abs(speed - old), 1.001 * torque * 0.01 / GLOBE_INERTIA)
            before = speeds
        for speed, wanted in zip(speeds, (1.0, -1.0, 0.0)):
            self.assertAlmostEqual(speed, wanted, delta=0.01)

    def test_reset_starts_over_bit_for_bit(self):
        _, peer = self.both()
        first = peer.state().data
        run = [peer.turn(motor(1, 2.0, 1.0)).data for _ in range(20)]
        self.assertEqual(peer.turn((RESET, 0, b"")).data, first)
        self.assertEqual([peer.turn(motor(1, 2.0, 1.0)).data for _ in range(20)], run)

    def test_names_on_connection(self):
        _, peer = self.both("names: true")
        names = peer.state()
        self.assertTrue(all(kind == NAME for kind, _, _, _ in names.packets))
        found = {(index, thing): load.decode() for _, thing, index, load in names.packets}
        self.assertEqual({found[0, n] for n in range(1, 5)}, {"table", "upper", "lower", "box"})
        self.assertEqual([found[1, n] for n in range(1, 4)], ["turn", "shoulder", "elbow"])
        self.assertEqual(peer.state().step, 0)

    def test_marks_decide_who_sends_and_receives(self):
        tether, peer = self.both("marks: [{body: '*', send: false}, {body: table, send: true}, "
                                 "{joint: '*', send: false, receive: false}, {joint: elbow, receive: true}]")
        self.assertEqual([(kind, thing) for kind, thing, _, _ in peer.state().packets], [(TIMESTAMP, 0), (LIMB, 1)])
        peer.turn(motor(1, 3.0, 50))
        tether.wait_line("AXIS_MOTOR for joint 1, which is unknown or not marked to receive")
        for _ in range(10):
            state = peer.turn(force(3, 5.0))
        self.assertEqual(state.floats(LIMB, 1)[3:7], (1, 0, 0, 0))
        self.assertEqual(tether.stop(), 0)

    def test_unknown_ids_and_types_are_ignored(self):
        tether, peer = self.both()
        peer.state()
        state = peer.turn((AXIS_MOTOR, 99, bytes(24)), (77, 1, b"abc"), motor(1, 1.0, 50))
        self.assertEqual(state.step, 10)
        self.assertGreater(state.floats(JOINTAXIS, 1)[1], 0.1)
        tether.wait_line("for joint 99")

    def test_bad_numbers_refuse_the_whole_message_but_are_an_answer(self):
        tether, peer = self.both()
        peer.state()
        for bad in (float("nan"), float("inf"), 1e30):
            state = peer.turn(motor(1, 1.0, 50), motor(2, bad, 1.0))
            self.assertEqual(state.floats(JOINTAXIS, 1)[1], 0)
        peer.turn(motor(1, 1.0, -1.0))
        tether.wait_line("non-finite number")
        tether.wait_line("value out of range")

    def test_bad_framing_closes_that_connection_only(self):
        tether = self.start()
        for bad in (b"\xff" * 8, struct.pack("<II", 7, 0), struct.pack("<II", 8, 1), struct.pack(">II", 8, 0),
                    struct.pack("<III", 12, 0, 0), message((AXIS_MOTOR, 1, bytes(20))), message((RESET, 0, b"x")),
                    struct.pack("<IIIIII", 24, 1, 1, 99, 0, 0)):
            peer = self.connect(tether)
            peer.state()
            lines = len(tether.lines)
            peer.socket.sendall(bad)
            self.assertTrue(peer.gone())
            wait_for(lambda: len(tether.lines) > lines)
        peer = self.connect(tether)
        self.assertEqual(peer.state().step, 0)
        self.assertEqual(peer.turn().step, 10)

    def test_only_one_at_a_time_and_the_next_goes_on(self):
        tether, first = self.both()
        first.state()
        first.turn()
        second = self.connect(tether)
        self.assertTrue(second.gone())
        tether.wait_line("one at a time")
        self.assertEqual(first.turn().step, 20)
        first.socket.close()
        third = self.connect(tether)
        self.assertEqual(third.state().step, 20)
        self.assertEqual(third.turn().step, 30)

    def test_silence_warns_and_stops(self):
        tether, peer = self.both("receive_timeout: 1 s")
        peer.state()
        for _ in range(5):  # for longer than it waits, but each in time on a busy machine, too
            peer.turn()
            time.sleep(0.22)
        self.assertEqual(tether.wait_exit(), 3)
        self.assertEqual(tether.text().count("no message came within 1 s"), 1)

    def test_nobody_at_the_start_stops(self):
        tether = self.start("connect_timeout: 0.3 s")
        self.assertEqual(tether.wait_exit(), 3)
        self.assertEqual(tether.text().count("nobody connected"), 1)

    def test_the_simulator_may_connect(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(20)
            self.start(f"connect: '127.0.0.1:{server.getsockname()[1]}'")
            connection, _ = server.accept()
            peer = Peer(connection)
            self.addCleanup(connection.close)
            self.assertEqual(peer.state().step, 0)
            self.assertEqual(peer.turn().step, 10)

    def test_connecting_to_nobody_stops(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        tether = self.start(f"connect: '127.0.0.1:{port}', connect_timeout: 0.3 s")
        self.assertEqual(tether.wait_exit(), 3)

    def test_realtime_mode_never_waits(self):
        tether = self.start("mode: realtime", pace="realtime")
        peer = self.connect(tether)
        steps = [peer.state().step for _ in range(50)]
        self.assertEqual([b - a for a, b in zip(steps, steps[1:])], [10] * 49)
        peer.send(motor(1, 2.0, 50))
        wait_for(lambda: abs(peer.state().floats(JOINTAXIS, 1)[1] - 2.0) < 0.05, "the motor's speed")
        tether.wait_line("watchdog: silent for 0.5 s")
        wait_for(lambda: abs(peer.state().floats(JOINTAXIS, 1)[1]) < 0.01, "the stop")

    def test_who_was_late_is_in_step_again(self):
        """Its answers to states that went by are obeyed, but none of them counts as that to the newest."""
        tether = self.start("late: hold, deadline: 0.4 s, receive_timeout: 0 s", pace="realtime")
        peer = self.connect(tether)
        owed = len([peer.state() for _ in range(40)])  # of which none is answered in time
        tether.wait_line("going on with its last commands")
        for _ in range(20):
            peer.socket.sendall(message(motor(1, 1.0, 50)) * owed)
            owed, pending = 0, True
            while pending:  # with answers in reserve the world would not stop here
                state = peer.state()
                owed += 1
                pending = select.select([peer.socket], [], [], 0.1)[0]
            if owed == 1:
                break
        self.assertEqual(owed, 1)
        self.assertGreater(state.floats(JOINTAXIS, 1)[1], 0.5)

    def test_all_that_one_who_goes_said_ahead_counts_in_real_time(self):
        """Of each joint the last: a stop of one is not lost behind the order to another."""
        tether = self.start("late: hold, deadline: 0.1 s, receive_timeout: 0 s, watchdog: 0 s", pace="realtime")
        peer = self.connect(tether)
        peer.state()
        peer.turn(motor(1, 1.5, 50))
        for bad in b"", b"\xff" * 8:
            peer.socket.sendall(message(motor(1, 1.5, 50)) + message(motor(1, 0.0, 50)) + message(motor(3, 1.0, 50)) + bad)
            peer.socket.close()
            peer = self.connect(tether)
            state = [peer.state() for _ in range(60)][-1]
            self.assertAlmostEqual(state.floats(JOINTAXIS, 1)[1], 0, delta=0.01)
            self.assertAlmostEqual(state.floats(JOINTAXIS, 3)[1], 1, delta=0.1)

    def test_the_last_word_of_one_who_goes_counts_in_mode_realtime(self):
        """However much it says before, and whatever is no message behind."""
        on, stop = message(motor(1, 1.5, 50)), message(motor(1, 0.0, 50))
        for pace, lasts in ("realtime", 5 * [stop] + [stop + b"\xff" * 8, 1000 * on + stop]), ("fast", [1000 * on + stop]):
            tether = self.start("mode: realtime, watchdog: 0 s, send_timeout: 0 s", pace=pace)
            peer = self.connect(tether)
            for last in lasts:
                peer.socket.sendall(on)
                wait_for(lambda: peer.state().floats(JOINTAXIS, 1)[1] > 1.4, "the motor's speed")
                peer.socket.sendall(last)
                peer.socket.shutdown(socket.SHUT_WR)  # closed with states unread, its kernel would forget what is not sent
                peer = self.connect(tether)
                wait_for(lambda: abs(peer.state().floats(JOINTAXIS, 1)[1]) < 0.01, "the stop")

    def test_the_word_of_one_who_comes_and_goes_between_two_others_counts(self):
        """All within one period, for which the program is held: it finds the first gone, another that is gone, too, and a third."""
        for keys, pace in ("mode: realtime", "realtime"), ("mode: realtime", "fast"), ("mode: step", "lockstep"):
            with self.subTest(keys, pace=pace):
                tether = self.start(keys + ", watchdog: 0 s", pace=pace)
                first = self.connect(tether)
                first.state()
                os.kill(tether.process.pid, signal.SIGSTOP)
                first.send(motor(1, 1.5, 50))
                first.socket.shutdown(socket.SHUT_WR)
                for _ in range(3):
                    between = self.connect(tether)
                    between.send(motor(3, 1.0, 50))
                    between.socket.shutdown(socket.SHUT_WR)
                last = self.connect(tether)
                os.kill(tether.process.pid, signal.SIGCONT)

                def both_turn():
                    state = last.turn()
                    return state.floats(JOINTAXIS, 1)[1] > 1.4 and state.floats(JOINTAXIS, 3)[1] > 0.9
                last.state()
                wait_for(both_turn, "the speed of both motors")
                self.assertNotIn("refused", tether.text())

    def test_a_reset_of_one_who_goes_counts_in_mode_realtime(self):
        tether = self.start("mode: realtime", pace="realtime")
        for done in range(5):
            peer = self.connect(tether)
            peer.state()
            peer.send((RESET, 0, b""))
            peer.socket.close()
            wait_for(lambda: sum("world: reset" in line for line in tether.lines) > done, "the reset")

    def test_realtime_force_lasts_one_period(self):
        tether = self.start("mode: realtime", pace="realtime")
        peer = self.connect(tether)
        peer.state()
        peer.send(force(1, 2.0))
        wait_for(lambda: peer.state().floats(JOINTAXIS, 1)[1] > 0.01, "the push")
        speeds = [peer.state().floats(JOINTAXIS, 1)[1] for _ in range(20)]
        self.assertAlmostEqual(speeds[-1], 0.08, delta=0.005)

    def test_who_does_not_read_is_cut_and_the_world_goes_on(self):
        tether = self.start("mode: realtime, send_timeout: 0.3 s", pace="fast")
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # which fills soon
            reader.connect(tether.address("ezphysics"))
            tether.wait_line("has not read what it was sent in time")
        again = self.connect(tether)
        self.assertGreater(again.state().step, 0)

    def test_a_wrong_scene_is_refused_with_its_line(self):
        for keys, says in (("listen: '127.0.0.1:0', connect: '127.0.0.1:1'", "not both"), ("mode: fast", "mode"),
                           ("steps: 2000000", "steps"), ("marks: [{send: true}]", "marks[0]"),
                           ("marks: [{body: table, receive: true}]", "bodies take no commands"),
                           ("marks: [{joint: wheel}]", "there is no joint 'wheel'"),
                           ("marks: [{joint: trun}]", "there is no joint 'trun'; did you mean 'turn'?"),
                           ("marks: [{body: tabel}]", "there is no body 'tabel'; did you mean 'table'?"),
                           ("receive_timeout: 3 m", "receive_timeout"), ("faults: {loss: 0.1}", "faults")):
            tether = self.start(keys, ready=False)
            self.assertEqual(tether.wait_exit(), 1, keys)
            self.assertIn(says, tether.text())
            self.assertIn("scene.yaml:", tether.text())

    def test_check_numbers_joints_as_the_wire_does(self):
        import subprocess
        text = subprocess.run([TETHER, "check", self.scene()], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"1\s+turn\s+moves table, 1 axis")
        self.assertRegex(text, r"3\s+elbow\s+moves lower")
        self.assertRegex(text, r"4\s+box\s+3 kg")


if __name__ == "__main__":
    assert ROOT
    unittest.main()
