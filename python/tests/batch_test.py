#!/usr/bin/env python3
"""Batches from Python: the bits of single simulations, arrays without copies, failures, errors."""
import gc
import math
import os
import signal
import threading
import time
import unittest

import built  # noqa: F401
import numpy as np

import tether

COMMANDS = ["swivel.velocity", "base.velocity"]
SIGNALS = ["swivel.position", "base.position", "time"]


def actions(count, round_number):
    return 0.4 * np.sin(0.3 * np.arange(count)[:, None] + 0.2 * round_number + np.arange(2)[None, :])


class Batch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = tether.Scene("gripper")

    def test_the_bits_of_single_simulations(self):
        sims = [self.scene.sim() for _ in range(5)]
        for i in range(6):
            for sim, row in zip(sims, actions(5, i)):
                sim.apply(dict(zip(COMMANDS, row)))
                sim.step(10)
        for count, threads in ((1, 1), (5, 1), (5, 2), (5, 3)):
            with self.scene.batch(count, COMMANDS, SIGNALS, threads=threads) as batch:
                for i in range(6):
                    out = batch.step(actions(count, i), steps=10)
                self.assertEqual([sim.hash for sim in batch.sims], [sim.hash for sim in sims[:count]])
                for row, sim in zip(out, sims):
                    np.testing.assert_array_equal(row, sim.read(SIGNALS))

    def test_the_results_are_the_batchs_memory(self):
        batch = self.scene.batch(3, COMMANDS, SIGNALS)
        self.assertEqual((batch.out.shape, batch.out.dtype), ((3, 3), np.float64))
        self.assertEqual(list(batch.out[:, 2]), [0, 0, 0])
        first = batch.step(actions(3, 0), 10)
        kept = first.copy()
        second = batch.step(actions(3, 1), steps=10)
        self.assertIs(first, second)
        self.assertTrue(np.shares_memory(first, batch.out))
        self.assertFalse(np.array_equal(kept, second))
        self.assertEqual((len(batch), batch.command_names, batch.signal_names, batch.scene),
                         (3, tuple(COMMANDS), tuple(SIGNALS), self.scene))
        batch.close()
        self.assertEqual(second.shape, (3, 3))  # still there
        self.assertTrue(np.isfinite(second).all())

    def test_actions_are_taken_as_they_are(self):
        """Read-only is good enough for what is only read; everything else that can't be taken without a copy is told."""
        batch = self.scene.batch(3, COMMANDS, SIGNALS)
        given = actions(3, 0)
        given.flags.writeable = False
        batch.step(given)
        hashes = [sim.hash for sim in batch.sims]
        for wrong, text in ((given.astype(np.float32), "actions: dtype float32; give float64"), (given[:2], r"actions: shape \(2, 2\); give \(3, 2\)"),
                            (np.asfortranarray(given), "actions: strides"), (np.zeros((3, 4))[:, ::2], "actions: strides"),
                            (given.tolist(), "actions: a list; give a numpy.ndarray"), (None, "actions: a NoneType"),
                            (np.frombuffer(bytes(49), np.uint8)[1:].view(np.float64).reshape(3, 2), "actions: strides")):
            with self.assertRaisesRegex(tether.InvalidError, text):
                batch.step(wrong)
        for steps in (0, 0.5, 2**64 + 1):
            with self.assertRaisesRegex(tether.InvalidError, f"steps: {steps}; give"):
                batch.step(given, steps)
        self.assertEqual([sim.hash for sim in batch.sims], hashes)
        self.assertEqual(self.scene.batch(2, [], ["time"]).step(steps=np.int64(6))[1, 0], 0.01)

    def test_units(self):
        si = self.scene.batch(2, COMMANDS, SIGNALS)
        wanted = si.step(actions(2, 0), 30)
        batch = self.scene.batch(2, COMMANDS, SIGNALS, command_units=["deg/s", None], signal_units=("deg", None, "ms"))
        out = batch.step(actions(2, 0) * [180 / math.pi, 1], 30)
        np.testing.assert_allclose(out, wanted * [180 / math.pi, 1, 1000])
        self.assertEqual(self.scene.batch(1, [], ["time"], signal_units=["ms"]).reset()[0, 0], 0)
        for units, text in (({"command_units": ["deg/s"]}, "command_units: .*2 names"), ({"signal_units": "deg"}, "signal_units: 'deg'"),
                            ({"command_units": ["deg/s", 1]}, r"command_units\[1\]: 1"), ({"signal_units": ["V", None, None]}, "swivel.position: 'V'")):
            with self.assertRaisesRegex(tether.Error, text):
                self.scene.batch(2, COMMANDS, SIGNALS, **units)

    def test_one_that_fails_stops_no_other(self):
        batch = self.scene.batch(3, COMMANDS, SIGNALS, threads=2)
        failed = batch.failed
        given = actions(3, 0)
        given[1, 0] = math.nan
        batch.step(given, 10)
        self.assertEqual((list(failed), [sim.steps for sim in batch.sims]), ([False, True, False], [10, 0, 10]))
        self.assertIsNone(batch.failure(0))
        self.assertIsInstance(batch.failure(1), tether.InvalidError)
        self.assertIn("swivel.velocity", str(batch.failure(-2)))
        self.assertIn("1 failed", repr(batch))
        with self.assertRaises(IndexError):
            batch.failure(3)
        batch.reset(mask=failed)
        self.assertEqual(list(failed), [False] * 3)
        out = batch.step(actions(3, 0), 10)
        np.testing.assert_allclose(out[:, 2], [20 / 600, 10 / 600, 20 / 600])
        with self.assertRaises(ValueError):
            failed[0] = True

    def test_resets_by_mask_with_seeds(self):
        scene = tether.Scene("frc2011-sensors")
        names = [item.name for item in scene.sim().signal_items if item.robot]
        with scene.batch(3, [], names, threads=2) as batch:
            batch.step(steps=30)
            own = batch.out.copy()
            self.assertEqual(batch.reset().shape, own.shape)
            np.testing.assert_array_equal(batch.step(steps=30), own)  # the same seeds again
            batch.reset(mask=np.array([True, False, True]), seeds=[5, 6, 2**64 - 1])
            self.assertEqual([sim.steps for sim in batch.sims], [0, 30, 0])
            batch.step(steps=30)
            sim = scene.sim(seed=5)
            sim.step(30)
            np.testing.assert_array_equal(batch.out[0], sim.read(names))
            for wrong, text in (([1, 0, 1], "mask: "), (np.array([1, 0, 1]), "mask: "), (np.array([True]), "mask: ")):
                with self.assertRaisesRegex(tether.InvalidError, text):
                    batch.reset(mask=wrong)
            for wrong, text in (([1, 2], "seeds: shape"), ([1, -2, 3], r"seeds\[1\]: -2"), ([1, 2, 0.5], r"seeds\[2\]: 0.5; give a whole")):
                with self.assertRaisesRegex(tether.InvalidError, text):
                    batch.reset(seeds=wrong)

    def test_states_go_out_and_in(self):
        batch = self.scene.batch(3, COMMANDS, SIGNALS, threads=2)
        batch.step(actions(3, 0), 10)
        states, hashes = batch.save(), [sim.hash for sim in batch.sims]
        self.assertEqual((states.dtype, len(states)), (np.uint8, 3))
        self.assertEqual(states[1].tobytes(), batch.sims[1].save())
        batch.step(actions(3, 1), 10)
        later = [sim.hash for sim in batch.sims]
        out = batch.restore(states, mask=np.array([True, False, True]))
        self.assertEqual([sim.hash for sim in batch.sims], [hashes[0], later[1], hashes[2]])
        np.testing.assert_allclose(out[:, 2], [10 / 600, 20 / 600, 10 / 600])
        batch.restore(np.repeat(states[:1], 3, axis=0))
        self.assertEqual([sim.hash for sim in batch.sims], [hashes[0]] * 3)
        states[1] = 0
        batch.restore(states)
        self.assertEqual(list(batch.failed), [False, True, False])
        self.assertIsInstance(batch.failure(1), tether.OtherVersionError)
        for wrong, text in ((states[:2], "states: give"), (states.astype(np.int8), "states: give"), (states[:, 1:], "size: 3 states of this scene")):
            with self.assertRaisesRegex(tether.InvalidError, text):
                batch.restore(wrong)

    def test_what_is_wrong_is_named(self):
        for arguments, text in (((0,), "count: 0"), (("a",), "count: 'a'"), ((1, ["x"]), "x"), ((1, [], "time"), "signals: 'time'; give a list"),
                                ((1, [], [], -1), "threads: -1"), ((1, [], ["swivel.positon"]), "did you mean")):
            with self.assertRaisesRegex(tether.Error, text):
                self.scene.batch(*arguments)
        batch = self.scene.batch(1)
        batch.close()
        for call in (batch.step, batch.reset, lambda: batch.sims, lambda: batch.failure(0), batch.__enter__):
            with self.assertRaisesRegex(tether.ClosedError, "the batch is closed"):
                call()
        self.assertEqual(list(batch.failed), [False])

    def test_one_that_is_restored_or_reset_alone_goes_on(self):
        batch = self.scene.batch(3, COMMANDS, ["time"])
        good, bad = actions(3, 0), actions(3, 0)
        bad[:2, 0] = np.nan
        batch.step(good, 6)
        state = batch.sims[0].save()
        batch.step(bad, 6)
        self.assertEqual(list(batch.failed), [True, True, False])
        batch.sims[0].restore(state)
        batch.sims[1].reset(seed=5)
        self.assertEqual(list(batch.failed), [False] * 3)
        np.testing.assert_allclose(batch.step(good, 6)[:, 0], [0.02, 0.01, 0.03])

    def test_one_that_diverged_by_itself_has_failed(self):
        batch = tether.Scene("frc2011", {"timestep": "0.1 s", "io_period": "0.1 s"}).batch(2, [], ["time"])
        batch.sims[1].apply({"arm.torque": 1e6})
        with self.assertRaises(tether.DivergedError):
            batch.sims[1].step(1000)
        batch.step()
        self.assertEqual(list(batch.failed), [False, True])
        self.assertIsInstance(batch.failure(1), tether.DivergedError)

    def test_its_simulations_outlive_it(self):
        batch = self.scene.batch(2, COMMANDS, SIGNALS, threads=2)
        batch.step(actions(2, 0), 10)
        sim, failed = batch.sims[1], batch.failed
        batch.close()
        del batch
        gc.collect()
        sim.step()
        self.assertEqual((sim.steps, failed[1]), (11, False))

    def test_ctrl_c_ends_a_step(self):
        batch = self.scene.batch(4, [], ["time"], threads=2)
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            batch.step(steps=10**9)
        timer.join()
        self.assertTrue(batch.failed.all())
        self.assertIsInstance(batch.failure(0), tether.StoppedError)
        batch.reset()
        self.assertEqual(list(batch.step(steps=6)[:, 0]), [0.01] * 4)

    def test_a_second_thread_is_told_busy(self):
        batch = self.scene.batch(2, [], ["time"], threads=2)
        entered, told = threading.Event(), []

        def meddle():
            entered.wait()
            while not told and batch.out[0, 0] == 0:
                for call in (batch.step, batch.reset):
                    try:
                        call()
                    except tether.BusyError as error:
                        told.append(error)

        other = threading.Thread(target=meddle)
        other.start()
        entered.set()
        deadline = time.monotonic() + 60
        while other.is_alive() and time.monotonic() < deadline:
            try:
                batch.reset()
                batch.step(steps=3000)
            except tether.BusyError:
                pass
        other.join()
        self.assertTrue(told)


if __name__ == "__main__":
    unittest.main()
