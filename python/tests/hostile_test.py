#!/usr/bin/env python3
"""What no program should do: texts that are none, ends while another thread is in, cycles, objects that were never made."""
import gc
import threading
import unittest

import built  # noqa: F401
import numpy as np

import tether

COMMANDS, SIGNALS = ["swivel.velocity"], ["swivel.position", "time"]


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = tether.Scene("gripper")

    def refuses(self, text, call, *arguments, **named):
        with self.assertRaisesRegex(tether.InvalidError, text):
            call(*arguments, **named)

    def test_texts_that_are_none(self):
        """A NUL would end a text in C: what stands behind it would be lost without a word."""
        for settings in ({"seed": "1\0x"}, ["seed=1\0"], {"description": "\ud800"}):
            self.refuses(r"settings\[0\]: ", tether.Scene, "gripper", settings=settings)
        for name in ("gripper\0", "\ud800", None, 5):
            with self.assertRaises((tether.InvalidError, TypeError)):
                tether.Scene(name)
        sim = self.scene.sim()
        self.refuses(r"names\[0\]: ", sim.apply, {"swivel.velocity\0": 1})
        for names in (None, 5, [5], [["a"]]):
            with self.assertRaises((tether.InvalidError, TypeError)):
                sim.read(names)
        for units in ([5], [b"deg"], ["deg\0"], ["\ud800"], "deg", ["deg", "deg"], [[]]):
            self.refuses("units", sim.read, ["swivel.position"], units=units)
            self.refuses("command_units", self.scene.batch, 1, COMMANDS, SIGNALS, command_units=units)
        self.refuses("path: ", sim.record, "x\0.wpilog")
        self.refuses("folder: ", tether.set_data, "x\0")
        self.refuses("program: ", tether.set_compiler, 5)
        self.assertEqual(sim.steps, 0)

    def during(self, call, meddle):
        """Calls `meddle` while another thread is in `call`, which may end as it likes, but must end."""
        inside = threading.Event()

        def run():
            inside.set()
            try:
                call()
            except tether.Error:
                pass

        thread = threading.Thread(target=run)
        thread.start()
        inside.wait()
        meddle()
        gc.collect()
        thread.join()

    def test_an_end_while_another_thread_is_in(self):
        for _ in range(10):
            sim = self.scene.sim()
            self.during(lambda: sim.step(2000), sim.close)
            with self.assertRaises(tether.ClosedError):
                sim.step()
            batch = self.scene.batch(3, [], ["time"], threads=2)
            self.during(lambda: batch.step(steps=700), batch.close)
            with self.assertRaises(tether.ClosedError):
                batch.step()

    def test_arrays_that_go_while_another_thread_is_in(self):
        sim = self.scene.sim()
        for _ in range(10):
            arrays = [sim.signals(SIGNALS) for _ in range(20)] + [sim.commands(COMMANDS)]

            def drop(gone=arrays):
                while gone:
                    sim.detach(gone.pop())

            self.during(lambda: sim.step(1000), drop)
        sim.step()
        self.assertGreater(sim.steps, 1)

    def test_cycles_and_what_was_never_made(self):
        class Broken(tether.Sim):
            def __init__(self, fails):
                if fails:
                    raise RuntimeError
                self.me = self

        with self.assertRaises(RuntimeError):
            Broken(True)
        with self.assertRaises(AttributeError):
            Broken(False).step()
        for _ in range(5):
            scene = tether.Scene("gripper")
            batch = scene.batch(2, COMMANDS, SIGNALS)
            batch.me = [scene, batch, batch.sims, batch.out]
            del scene, batch
        gc.collect()
        out = self.scene.batch(2, COMMANDS, SIGNALS).step(np.ones((2, 1)), 6)  # nothing else of the batch is left
        gc.collect()
        np.testing.assert_allclose(out[:, 1], 0.01)


if __name__ == "__main__":
    unittest.main()
