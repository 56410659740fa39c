#!/usr/bin/env python3
"""Scenes and simulations from Python: the bits of the C library and of `tether run`, arrays without copies, errors, ends."""
import contextlib
import ctypes
import gc
import itertools
import math
import os
import pathlib
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import weakref

import built
import numpy as np

import tether
from support import wpilog
from support.process import Tether

# The same run from C: prints the hash after 100 calls.
C_RUN = r"""
#include <stdio.h>
#include <inttypes.h>
#include <tether/tether.h>
int main(void) {
  tether_error error;
  tether_scene *scene;
  tether_sim *sim;
  tether_handle commands[2];
  uint64_t seed = 7;
  if (tether_scene_load("gripper", NULL, 0, &scene, &error) || tether_sim_new(scene, &sim, &error) ||
      tether_sim_reset(sim, &seed, &error) || tether_command_find(sim, "swivel.velocity", "deg/s", &commands[0], &error) ||
      tether_command_find(sim, "base.velocity", NULL, &commands[1], &error))
    return puts(error.text), 1;
  for (int i = 0; i < 100; i++) {
    double values[2] = {0.5 * (i % 40), 0.25 - 0.01 * i};
    if (tether_sim_apply(sim, commands, values, 2, &error) || tether_sim_step(sim, 1 + i % 5, &error)) return puts(error.text), 1;
  }
  printf("%016" PRIx64 "\n", tether_sim_hash(sim));
  tether_sim_free(sim);
  tether_scene_free(scene);
}
"""


def c_hash():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "run.c"
        source.write_text(C_RUN)
        subprocess.run(["cc", source, "-o", f"{folder}/run", f"-I{built.ROOT}/include", built.LIBRARY], check=True)
        return int(subprocess.run([f"{folder}/run"], check=True, capture_output=True, text=True,
                                  env={**os.environ, "LD_LIBRARY_PATH": str(built.BUILD)}).stdout, 16)


class Listing(unittest.TestCase):
    def test_scenes_with_their_titles(self):
        found = tether.scenes()
        self.assertGreater(len(found), 5)
        self.assertEqual(found["gripper"], tether.Scene("gripper").description)

    def test_what_is_listed_can_be_set(self):
        listed = tether.Scene("frc2011-sensors", settings={"seed": 3}).settings
        self.assertEqual(len({setting.path for setting in listed}), len(listed))
        by_path = {setting.path: setting for setting in listed}
        seed = by_path["seed"]
        self.assertEqual((seed.kind, seed.value, seed.initial, seed.lower, seed.owner, seed.known), ("count", "3", "0", 0, "", True))
        x = by_path["robots.frc2011-sensors.x"]
        self.assertEqual((x.kind, x.unit, x.lower, x.upper, x.owner), ("quantity", "m", -1e4, 1e4, "robots.frc2011-sensors"))
        self.assertEqual(by_path["late_ticks"].words, ("catch_up", "slip"))
        self.assertFalse(all(setting.known for setting in listed))
        again = {setting.path: setting.value for setting in listed if setting.value}
        self.assertEqual(tether.Scene("frc2011-sensors", settings=again).settings, listed)
        with self.assertRaisesRegex(tether.InvalidError, "robots.frc2011-sensors.x.*out of range"):
            tether.Scene("frc2011-sensors", settings={x.path: x.upper * 2})


class Bits(unittest.TestCase):
    """The same inputs, the same bits, however they are given."""

    def test_the_c_librarys(self):
        wanted = c_hash()
        scene = tether.Scene("gripper")
        by_name, by_array = scene.sim(seed=7), scene.sim(seed=7)
        degrees, radians = by_array.commands(["swivel.velocity"], ["deg/s"]), by_array.commands(["base.velocity"])
        for i in range(100):
            first, second = 0.5 * (i % 40), 0.25 - 0.01 * i
            by_name.apply({"swivel.velocity": first, "base.velocity": second}, units={"swivel.velocity": "deg/s"})
            by_name.step(1 + i % 5)
            degrees[:], radians[0] = first, second
            by_array.step(1 + i % 5)
        self.assertEqual(f"{by_name.hash:016x}", f"{wanted:016x}")
        self.assertEqual(by_array.hash, wanted)

    def test_the_programs(self):
        """A run over a wire, and its journal fed to a simulation here: every state hash of the log is found."""
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/run.wpilog"
            with Tether("run", "gripper", "--no-web", "--record", log, "--set", "wires.lockstep-tcp.listen=127.0.0.1:0") as server:
                with socket.create_connection(server.address("lockstep-tcp")) as link:
                    for frame in range(60):
                        self.assertEqual(len(link.recv(48, socket.MSG_WAITALL)), 48)
                        link.sendall(struct.pack(">10f", *(0.3 * math.sin(0.1 * frame + joint) for joint in range(10))))
                    link.recv(48, socket.MSG_WAITALL)
                server.process.send_signal(signal.SIGTERM)
                server.process.wait(60)
            journal = [wpilog.journal_entry(payload) for _, _, payload in wpilog.Log(pathlib.Path(log).read_bytes()).journal()]
        sim = tether.Scene("gripper").sim()
        names = [item.name for item in sim.command_items]
        hashes = 0
        for entry in journal:
            if entry["step"] > sim.steps:
                sim.step(entry["step"] - sim.steps)
            if entry["kind"] in ("safe", "reset"):  # the wire's own, once the client is gone
                break
            if entry["kind"] == "commands":
                sim.apply({names[command]: value for command, value in entry["commands"]})
            elif entry["kind"] == "hash" and sim.steps:
                self.assertEqual(sim.hash, int.from_bytes(entry["hash"], "little"), f"after {sim.steps} steps")
                hashes += 1
        self.assertGreater(hashes, 50)

    def test_saved_cloned_reset(self):
        sim = tether.Scene("gripper").sim(seed=3)
        swing = sim.commands(["swivel.velocity"])
        angle = sim.signals(["swivel.position"])

        def drive(count):
            for i in range(count):
                swing[0] = 0.1 * i
                sim.step(3)

        start = sim.hash
        drive(20)
        state, middle, middle_angle = pickle.loads(pickle.dumps(sim.save())), sim.hash, angle[0]
        clone = sim.clone()
        self.assertEqual(clone.hash, middle)
        drive(20)
        end = sim.hash
        self.assertEqual(clone.hash, middle)
        sim.restore(state)
        self.assertEqual((sim.hash, angle[0], sim.steps), (middle, middle_angle, 60))
        drive(20)
        self.assertEqual(sim.hash, end)
        sim.restore(bytearray(state))
        self.assertEqual(sim.hash, middle)
        sim.reset(3)
        self.assertEqual((sim.hash, sim.time, angle[0]), (start, 0, 0))

    def test_a_seed_decides_noise(self):
        scene = tether.Scene("frc2011-sensors")
        first = [item.name for item in scene.sim().signal_items if item.robot]

        def noise(seed):
            sim = scene.sim(seed)
            sim.step(100)
            return sim.read(first).tobytes()

        self.assertEqual(noise(1), noise(1))
        self.assertNotEqual(noise(1), noise(2))
        self.assertEqual(noise(2**64 - 1), noise(np.uint64(2**64 - 1)))

    def test_a_state_goes_on_with_its_own_seed(self):
        scene = tether.Scene("frc2011-sensors")
        names = [item.name for item in scene.sim().signal_items]
        saved, other, batch = scene.sim(seed=5), scene.sim(seed=6), scene.batch(3)
        saved.step(50)
        other.restore(saved.save())
        batch.restore(np.stack([np.frombuffer(saved.save(), np.uint8)] * 3))
        for _ in range(2):
            for sim in (other, *batch.sims):
                self.assertEqual(sim.read(names).tobytes(), saved.read(names).tobytes())
                sim.step(50)
            saved.step(50)
        again = other.save()
        other.reset(seed=7)
        other.restore(again)
        saved.step(1)
        other.step(1)
        self.assertEqual(other.read(names).tobytes(), saved.read(names).tobytes())


class Arrays(unittest.TestCase):
    """NumPy arrays are the library's own memory, or the caller's."""

    def setUp(self):
        self.sim = tether.Scene("gripper").sim()

    def test_signals_are_filled_and_commands_applied_in_place(self):
        act = self.sim.commands(["swivel.velocity", "base.velocity"])
        obs = self.sim.signals(["swivel.position", "time"], units=["deg", None])
        address = obs.__array_interface__["data"][0]
        act[0] = 1
        self.sim.step(600)
        self.assertAlmostEqual(obs[0], math.degrees(1), delta=3)
        self.assertEqual(obs[1], 1)
        self.assertEqual(obs.__array_interface__["data"][0], address)
        self.assertEqual(list(self.sim.read(["swivel.position", "time"], ["deg", None])), list(obs))
        self.assertEqual((act.dtype, act.shape, obs.dtype, obs.shape), (np.float64, (2,), np.float64, (2,)))

    def test_read_is_the_callers(self):
        one = self.sim.read(["time"])
        self.sim.step()
        other = self.sim.read(["time"])
        self.assertFalse(np.shares_memory(one, other))
        self.assertEqual((one[0], other[0]), (0, 1 / 600))

    def test_commands_begin_with_what_is_in_force(self):
        self.sim.apply({"swivel.velocity": math.pi}, )
        act = self.sim.commands(["swivel.velocity", "base.velocity"], units=["deg/s", None])
        np.testing.assert_allclose(act, [180, 0])

    def test_an_array_wins_over_apply_until_it_is_detached(self):
        act = self.sim.commands(["swivel.velocity"])
        obs = self.sim.signals(["command:swivel.velocity"])
        self.sim.apply({"swivel.velocity": 2})
        self.sim.step()
        self.assertEqual(obs[0], 0)
        self.sim.detach(act)
        self.sim.apply({"swivel.velocity": 2})
        self.sim.step()
        self.assertEqual(obs[0], 2)
        self.sim.detach(obs)
        self.sim.apply({"swivel.velocity": 3})
        self.sim.step()
        self.assertEqual(obs[0], 2)
        for stranger in (act, np.zeros(1)):
            with self.assertRaisesRegex(tether.InvalidError, "array: not one that"):
                self.sim.detach(stranger)

    def test_bodies_and_joints_show_the_simulations_memory(self):
        joint = next(joint for joint in self.sim.joints if joint.name == "swivel")
        body = self.sim.bodies[joint.body]
        self.assertIs(self.sim.bodies[joint.body], body)
        self.assertTrue(np.shares_memory(joint.position, next(j for j in self.sim.joints if j.name == "swivel").position))
        before = body.rotation.copy()
        self.sim.apply({"swivel.velocity": 1})
        self.sim.step(100)
        self.assertEqual(joint.position[0], self.sim.read(["swivel.position"])[0])
        self.assertFalse(np.array_equal(before, body.rotation))
        state = self.sim.save()
        self.sim.reset()
        self.assertEqual(joint.position[0], 0)
        self.sim.restore(state)
        self.assertNotEqual(joint.position[0], 0)
        for array in (*body[3:], *joint[2:5]):
            self.assertFalse(array.flags.writeable)

    def test_contacts(self):
        sim = tether.Scene("frc2011").sim()
        sim.step(300)
        contacts = sim.contacts()
        self.assertGreater(len(contacts), 0)
        np.testing.assert_allclose(np.linalg.norm(contacts["normal"], axis=1), 1)
        names = {sim.bodies[i].name for i in contacts["body_b"]} | {sim.bodies[i].name for i in contacts["body_a"]}
        self.assertIn("world", {name.lower() for name in names} | {sim.bodies[0].name.lower()})
        self.assertEqual(contacts.dtype.itemsize, ctypes.sizeof(tether._library.Contact))

    def test_lists_of_names_are_not_remembered_without_end(self):
        names = [item.name for item in self.sim.signal_items]
        values = dict(zip(names, self.sim.read(names)))
        for some in itertools.islice(itertools.permutations(names, 3), 2500):
            self.assertEqual(self.sim.read(some).tolist(), [values[name] for name in some])
        self.assertLessEqual(len(self.sim._known), 1000)

    def test_views_outlive_nothing(self):
        """Closed or forgotten, a simulation stays while something shows its memory; then it is freed."""
        freed = []
        position = self.sim.joints[3].position
        obs = self.sim.signals(["time"])
        owned = self.sim._owned
        owned._free = lambda pointer, free=owned._free: (freed.append(pointer), free(pointer))
        del owned
        self.sim.step()
        self.sim.close()
        del self.sim
        gc.collect()
        self.assertEqual(freed, [])
        self.assertTrue(np.isfinite(position).all())
        self.assertEqual(obs[0], 1 / 600)
        del position
        gc.collect()
        self.assertEqual(len(freed), 1)


class Listing(unittest.TestCase):
    def test_all_can_be_found_by_what_is_listed(self):
        sim = tether.Scene("frc2011").sim()
        signals, commands = sim.signal_items, sim.command_items
        values = sim.read([item.name for item in signals], units=[item.unit for item in signals])
        self.assertEqual(len(values), len(signals))
        self.assertGreater(len(signals), 20)
        torque = next(item for item in commands if item.name == "left_track.torque")
        self.assertEqual((torque.unit, torque.robot), ("N·m", "frc2011"))
        self.assertLess(torque.lower, torque.upper)
        self.assertTrue(all(item.lower == -math.inf for item in signals))

    def test_a_scene_says_what_it_is(self):
        scene = tether.Scene("gripper", settings={"timestep": "1/1000 s", "record.on": False})
        self.assertEqual((scene.name, scene.timestep), ("gripper", 0.001))
        self.assertIn("gripper", scene.description)
        self.assertIn("0.001 s", repr(scene))
        sim = scene.sim()
        sim.step(5)
        self.assertEqual(repr(sim), "<tether.Sim of 'gripper' at 0.005 s>")
        self.assertIs(sim.scene, scene)
        self.assertEqual(tether.Scene("gripper", ["timestep=1/500 s"]).timestep, 0.002)


class Values(unittest.TestCase):
    """Masses, frictions, dampings: each simulation's own, kept by resets, states and clones."""

    MASS = "models.gripper.bodies.forearm.mass"

    def test_set_get_reset_save(self):
        with tether.Scene("gripper") as scene, scene.sim() as sim, scene.sim() as other:
            own = float(other.get_values([self.MASS])[0])
            self.assertIn(self.MASS, [item.name for item in sim.value_items if item.unit == "kg"])
            sim.set_values({self.MASS: 20.0}, units={self.MASS: "lb"})
            self.assertAlmostEqual(sim.get_values([self.MASS])[0], 20 * 0.45359237)
            self.assertEqual(sim.get_values([self.MASS], units=["lb"])[0], 20)
            self.assertEqual(other.get_values([self.MASS])[0], own)
            sim.reset()
            state = sim.save()
            self.assertNotEqual(sim.hash, other.hash)
            other.restore(state)
            self.assertEqual(sim.hash, other.hash)
            other.set_values({self.MASS: own})
            self.assertNotEqual(sim.hash, other.hash)

    def test_what_is_wrong(self):
        with tether.Scene("gripper") as scene, scene.sim() as sim:
            before = sim.hash
            with self.assertRaisesRegex(tether.InvalidError, "out of its range"):
                sim.set_values({self.MASS: -1.0})
            with self.assertRaisesRegex(tether.NotFoundError, "did you mean"):
                sim.set_values({"models.gripper.bodies.forarm.mass": 1.0})
            with self.assertRaisesRegex(tether.InvalidError, "give numbers"):
                sim.set_values({self.MASS: "heavy"})
            with self.assertRaisesRegex(tether.InvalidError, "give a list"):
                sim.get_values(self.MASS)
            self.assertEqual(sim.hash, before)


class Placing(unittest.TestCase):
    """physics: off."""

    POSES = {"": ("x", "y", "heading"), "circle2.": ("x", "y", "z", "qw", "qx", "qy", "qz")}
    SHOWN = {"": ["chassis.x", "chassis.y", "chassis.z", "chassis.heading"],
             "circle2.": [f"circle2.{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]}

    def test_what_nobody_commanded_stays(self):
        sim = tether.Scene("concept-symmetric").sim()
        for thing, parts in self.POSES.items():
            shown = self.SHOWN[thing]
            sim.reset()
            begins = sim.read(shown)
            for part in parts[:3]:
                with self.subTest(thing + part):
                    name = shown[3] if part == "heading" else ("chassis." if thing == "" else thing) + part
                    value = sim.read([name])[0] + 0.1
                    sim.apply({thing + part: value})
                    sim.step(10)
                    there = dict(zip(shown, sim.read(shown)))
                    self.assertAlmostEqual(there.pop(name), value, places=12)
                    np.testing.assert_allclose(list(there.values()), [was for other, was in zip(shown, begins) if other != name], atol=1e-12)
                    sim.reset()
                    np.testing.assert_array_equal(sim.read(shown), begins)
        sim.apply({"circle2.qw": 1, "circle2.qx": 1, "circle2.qy": 0, "circle2.qz": 0})
        sim.step()
        np.testing.assert_allclose(sim.read(self.SHOWN["circle2."]), [*begins[:3], 0.5 ** 0.5, 0.5 ** 0.5, 0, 0], atol=1e-12)
        sim.reset()
        for parts, there in (({"qz": 1}, (0, 0, 0, 1)), ({"x": 0.1}, (0, 0, 0, 1)), ({"y": 0.2}, (0, 0, 0, 1)), ({"qw": 1}, (0.5 ** 0.5, 0, 0, 0.5 ** 0.5)),
                             ({"z": 0.3}, (0.5 ** 0.5, 0, 0, 0.5 ** 0.5))):
            with self.subTest(parts):  # a rotation is that of its commanded parts, whatever else is commanded later
                sim.apply({f"circle2.{part}": value for part, value in parts.items()})
                sim.step(10)
                np.testing.assert_allclose(sim.read(self.SHOWN["circle2."])[3:], there, atol=1e-12)
        sim.apply({"x": 1})
        sim.apply({"y": 2})  # what was commanded holds
        sim.step()
        self.assertEqual(sim.read(["chassis.x", "chassis.y"]).tolist(), [1, 2])


class Errors(unittest.TestCase):
    def setUp(self):
        self.scene = tether.Scene("gripper")
        self.sim = self.scene.sim()

    def refused(self, kind, text, function, *arguments, **keywords):
        hash_before = self.sim.hash
        with self.assertRaises(kind) as caught:
            function(*arguments, **keywords)
        self.assertIsInstance(caught.exception, tether.Error)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(self.sim.hash, hash_before)
        return caught.exception

    def test_scenes(self):
        self.refused(tether.InvalidError, "did you mean 'gripper'?", tether.Scene, "griper")
        self.refused(ValueError, "timestep", tether.Scene, "gripper", {"timestp": "1 ms"})
        self.refused(tether.InvalidError, "settings: 'timestep=1 ms'; give", tether.Scene, "gripper", "timestep=1 ms")
        self.refused(tether.InvalidError, "settings[0]: 5; give", tether.Scene, "gripper", [5])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.yaml"
            path.write_text("arena: frc2011\ntimestep: 1/0 s\n")
            error = self.refused(tether.InvalidError, "timestep", tether.Scene, path)
            self.assertEqual((error.file, error.line, error.status), (str(path), 2, 1))

    def test_names_units_values(self):
        sim = self.sim
        self.refused(tether.NotFoundError, "swivel.velocity", sim.apply, {"swivel.velocty": 1})
        # A unit of what is not there would be none; one of what is not set this time may be given.
        self.refused(tether.NotFoundError, "did you mean 'swivel.velocity'?", sim.apply, {"swivel.velocity": 1}, {"swivel.velocty": "deg/s"})
        self.refused(tether.NotFoundError, "bodies.forearm.mass", sim.set_values, {"models.gripper.bodies.forearm.mass": 1},
                     {"models.gripper.bodies.forearm.mas": "lb"})
        sim.apply({"swivel.velocity": 1}, {"swivel.velocity": "deg/s", "base.velocity": "deg/s"})
        self.refused(LookupError, "swivel.position", sim.read, ["swivel.positon"])
        self.refused(tether.NotFoundError, "'kg' is no unit of it", sim.read, ["swivel.position"], ["kg"])
        self.refused(tether.InvalidError, "swivel.velocity: nan is out of its range", sim.apply, {"swivel.velocity": math.nan})
        self.refused(tether.InvalidError, "give numbers", sim.apply, {"swivel.velocity": "fast"})
        self.refused(tether.InvalidError, "names: 'time'; give a list", sim.read, "time")
        self.refused(tether.InvalidError, "names: 'time'; give a list", sim.signals, "time")
        self.refused(tether.InvalidError, "names[0]: 3", sim.commands, [3])
        self.refused(tether.InvalidError, "units: ['deg']; give one for each of the 2 names", sim.read, ["time", "time"], ["deg"])
        act = sim.commands(["base.velocity", "swivel.velocity"])
        act[:] = 0.5, 1e9
        self.refused(tether.InvalidError, "swivel.velocity: 1e+09 is out of its range", sim.step)

    def test_steps_and_seeds(self):
        for steps in (0, -1, 2**63, 2**64 + 1, 1 - 2**64, 2**70):
            self.refused(tether.InvalidError, f"steps: {steps}" if steps < 1 else "steps: ", self.sim.step, steps)
        self.refused(tether.InvalidError, "steps: 1.5; give a whole number", self.sim.step, 1.5)
        self.refused(tether.InvalidError, "seed: -1; give 0 to", self.sim.reset, -1)
        self.refused(tether.InvalidError, "seed: 'a'; give a whole number", self.scene.sim, "a")
        self.sim.step(np.int32(3))
        self.assertEqual(self.sim.steps, 3)

    def test_what_is_of_no_fitting_type_is_named(self):
        batch = self.scene.batch(2)
        swing, wrong = {"swivel.velocity": 1.0}, tether.InvalidError
        for text, function, *arguments in (
                ("name: 5; give a path", tether.Scene, 5), ("settings: 5; give a list", tether.Scene, "gripper", 5),
                ("commands: 5; give a dictionary", self.sim.apply, 5), ("units: 'deg/s'; give a dictionary", self.sim.apply, swing, "deg/s"),
                ("values: None; give a dictionary", self.sim.set_values, None), ("names: None; give a list", self.sim.read, None),
                ("names: 5; give a list", self.sim.get_values, 5), ("state: a str; give bytes", self.sim.restore, "text"),
                ("state: a int; give bytes", self.sim.restore, 10**13), ("seeds: 5; give a list", batch.reset, None, 5),
                ("seed: array([1, 2]); give a whole", self.sim.reset, np.array([1, 2])), ("index: 1.0; give a whole", batch.failure, 1.0)):
            self.refused(wrong, text, function, *arguments)
        self.refused(wrong, "period: 'a'; give a number", self.sim.record, "x.wpilog", period="a")

    def test_states(self):
        state = self.sim.save()
        self.refused(tether.InvalidError, "state: not one of this scene", self.sim.restore, state[:-1])
        self.refused(tether.OtherVersionError, "another version", self.sim.restore, bytes(len(state)))
        other = tether.Scene("gripper", {"timestep": "1/1000 s"}).sim().save()
        self.assertEqual(len(other), len(state))
        self.refused(tether.InvalidError, "not one of this scene, or of other settings of it", self.sim.restore, other)

    def test_a_reset_that_is_asked_for_belongs_to_the_state(self):
        self.sim.step(10)
        state = self.sim.save()
        self.sim.apply({"reset": 1})
        asked = self.sim.save()
        self.sim.restore(state)
        self.sim.step()
        self.assertEqual(self.sim.steps, 11)
        self.sim.restore(asked)
        twin = self.sim.clone()
        for one in self.sim, twin:
            one.step()
            self.assertEqual(one.steps, 1)
        self.sim.apply({"reset": 1})
        self.sim.reset()
        self.sim.apply({"swivel.velocity": 0.5})
        self.sim.step(600)
        self.assertAlmostEqual(self.sim.read(["swivel.position"])[0], 0.5, places=2)

    def test_a_unit_holds_for_a_name_that_is_spelled_otherwise(self):
        self.sim.apply({"swivel.velocity": 90.0}, units={"joint:swivel.velocity": "deg/s", "base.velocity": "deg/s"})
        self.sim.step(600)
        self.assertAlmostEqual(self.sim.read(["swivel.position"])[0], math.pi / 2, places=1)

    def test_what_diverged_can_begin_anew(self):
        sim = tether.Scene("frc2011", {"timestep": "0.1 s", "io_period": "0.1 s"}).sim()
        sim.apply({"arm.torque": 1e6})
        with self.assertRaises(tether.DivergedError) as caught:
            sim.step(1000)
        self.assertAlmostEqual(sim.time, 0.1 * sim.steps)
        self.assertIsInstance(caught.exception, ArithmeticError)
        self.assertEqual(caught.exception.status, 11)
        with self.assertRaises(tether.DivergedError):
            sim.step()
        sim.reset()
        sim.step()

    def test_what_is_closed_says_so(self):
        with self.scene.sim() as sim:
            sim.step()
        with tether.Scene("gripper") as scene:
            other = scene.sim()
        other.step()  # simulations keep their scene
        for call in (sim.step, sim.reset, sim.save, sim.clone, lambda: sim.time, lambda: sim.bodies, lambda: sim.read(["time"]),
                     lambda: sim.apply({"swivel.velocity": 1}), lambda: sim.__enter__(), lambda: sim.contacts()):
            with self.assertRaisesRegex(tether.ClosedError, "the simulation is closed"):
                call()
        with self.assertRaisesRegex(tether.ClosedError, "the scene gripper is closed"):
            scene.sim()
        self.assertEqual((repr(sim), repr(scene)), ("<tether.Sim of 'gripper' closed>", "<tether.Scene 'gripper' closed>"))
        sim.close()

    def test_pickling_says_what_to_do_instead(self):
        for thing, remedy in ((self.scene, "load it again"), (self.sim, r"sim\.save\(\)"), (self.scene.batch(2), r"save\(\)")):
            with self.assertRaisesRegex(TypeError, remedy):
                pickle.dumps(thing)


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name) / "run.wpilog"

    def verify(self):
        done = subprocess.run([built.BUILD / "tether", "verify", self.log], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_verify_proves_it(self):
        sim = tether.Scene("gripper").sim(seed=4)
        sim.step(7)
        act = sim.commands(["swivel.velocity"])
        with sim.record(self.log, period=0) as recording:
            for i in range(20):
                act[0] = 0.1 * i
                sim.step(5)
            state = sim.save()
            sim.reset(seed=5)
            sim.step(5)
            sim.restore(state)
            sim.apply({"base.velocity": 0.2})
            sim.step(5)
        self.assertEqual((recording.path, repr(recording)), (str(self.log), f"<tether.Recording to '{self.log}' closed>"))
        self.assertIn("identical: ", self.verify())
        recording.close()

    def test_it_ends_with_its_simulation(self):
        """Closed, the file is whole, even while arrays keep the simulation's memory."""
        sim = tether.Scene("gripper").sim()
        joints = sim.joints
        sim.record(str(self.log))
        with self.assertRaisesRegex(tether.InvalidError, "record"):
            sim.record(self.log.with_name("other.wpilog"))
        sim.step(30)
        sim.close()
        self.assertIn("identical: 30 steps", self.verify())
        with self.assertRaises(tether.FailedError):
            tether.Scene("gripper").sim().record(self.log)  # there is something in it
        del joints

    def test_it_ends_with_a_simulation_that_is_forgotten(self):
        """At once, by the count of references, whoever still has the recording."""
        self.addCleanup(gc.enable)
        gc.disable()
        sim = tether.Scene("gripper").sim()
        recording = sim.record(self.log)
        sim.step(30)
        self.assertEqual(repr(recording), f"<tether.Recording to '{self.log}'>")
        freed = weakref.ref(sim)
        del sim
        self.assertIsNone(freed())
        self.assertIn("identical: 30 steps", self.verify())
        self.assertEqual(repr(recording), f"<tether.Recording to '{self.log}' closed>")
        recording.close()


class Process(unittest.TestCase):
    """Threads, signals, forks, and what is left of it all."""

    def test_a_second_thread_is_told_busy(self):
        sim = tether.Scene("gripper").sim()
        stop = threading.Event()
        found = []

        def meddle():
            while not stop.is_set():
                try:
                    sim.step()
                except tether.BusyError as error:
                    found.append(error)
                    return

        before = sim.steps
        other = threading.Thread(target=meddle)
        other.start()
        while other.is_alive():
            try:
                sim.step(300)
            except tether.BusyError:  # the other one was in first
                pass
        stop.set()
        other.join()
        self.assertIn("another thread is using this simulation", str(found[0]))
        self.assertGreater(sim.steps, before)
        sim.step()

    def test_a_recording_that_cannot_be_closed_now_can_be_closed_later(self):
        sim = tether.Scene("gripper").sim()
        with tempfile.TemporaryDirectory() as folder:
            stop = threading.Event()

            def step():
                while not stop.is_set():
                    with contextlib.suppress(tether.BusyError):
                        sim.step(300)

            thread = threading.Thread(target=step)
            thread.start()
            for number in itertools.count():
                while True:
                    with contextlib.suppress(tether.BusyError):
                        recording = sim.record(os.path.join(folder, f"{number}.wpilog"))
                        break
                try:
                    recording.close()
                except tether.BusyError:
                    break
            self.assertNotIn("closed", repr(recording))
            stop.set()
            thread.join()
            recording.close()
            self.assertIn("closed", repr(recording))
            sim.record(os.path.join(folder, "last.wpilog")).close()

    def test_a_recording_of_a_simulation_that_was_closed_in_a_step_is_closed(self):
        scene = tether.Scene("gripper")
        with tempfile.TemporaryDirectory() as folder:
            for number in itertools.count():
                sim = scene.sim()
                recording = sim.record(os.path.join(folder, f"{number}.wpilog"), period=1)
                thread = threading.Thread(target=sim.step, args=(30000,))
                thread.start()
                try:
                    while thread.is_alive():
                        sim.save()
                except tether.BusyError:  # it is in the step
                    pass
                try:
                    sim.close()
                except tether.BusyError:
                    break
                thread.join()
            recording.close()
            thread.join()
            recording.close()
            self.assertIn("closed", repr(recording))
            with self.assertRaises(tether.ClosedError):
                sim.step()

    def test_other_threads_go_on_while_one_steps(self):
        sim = tether.Scene("gripper").sim()
        other = tether.Scene("gripper").sim()
        thread = threading.Thread(target=lambda: sim.step(3000))
        thread.start()
        beside = 0
        while thread.is_alive():
            other.step()
            beside += 1
        self.assertGreater(beside, 1)
        self.assertEqual(sim.steps, 3000)

    def interrupt(self, call):
        """Ctrl-C while `call` steps."""
        def send():
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(0.2, send)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        timer.join()

    def test_ctrl_c_ends_a_step(self):
        sim, straight = (tether.Scene("gripper").sim() for _ in range(2))
        seen = sim.signals(["time"])
        self.interrupt(lambda: sim.step(10**9))
        self.assertGreater(sim.steps, 0)
        self.assertAlmostEqual(seen[0], sim.steps / 600)
        straight.step(sim.steps)
        self.assertEqual(sim.hash, straight.hash)
        sim.step(10)

    def test_an_exception_of_any_handler_comes_through(self):
        class Enough(Exception):
            pass

        def handler(_signal, _frame):
            raise Enough("seen")

        sim = tether.Scene("gripper").sim()
        before = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with self.assertRaisesRegex(Enough, "seen"):
                sim.step(10**9)
            signal.signal(signal.SIGALRM, lambda _signal, _frame: None)  # one that raises nothing ends nothing
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            made = sim.steps
            sim.step(30000)
            self.assertEqual(sim.steps, made + 30000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_a_fork_leaves_simulations_usable(self):
        sim = tether.Scene("gripper").sim()
        batch = sim.scene.batch(2, threads=2)
        child = os.fork()
        if child == 0:
            good = False
            try:
                sim.step(10)
                try:
                    batch.step()
                except tether.FailedError as error:
                    good = "stayed in the process that forked" in str(error)
            finally:
                os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        sim.step(10)
        batch.step()

    def test_a_fork_leaves_a_recording_to_its_parent(self):
        with tempfile.TemporaryDirectory() as folder, tether.Scene("gripper").sim() as sim:
            recording = sim.record(f"{folder}/run.wpilog")
            sim.step(10)
            child = os.fork()
            if child == 0:
                good = False
                try:
                    sim.step(10)
                    recording.close()
                    sim.close()
                    good = True
                finally:
                    os._exit(0 if good else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            sim.step(10)
            recording.close()
            done = subprocess.run([built.BUILD / "tether", "verify", recording.path], capture_output=True, text=True, check=False)
            self.assertIn("identical: 20 steps", done.stdout, done.stderr)

    def test_nothing_is_left(self):
        """Simulations, clones and batches that are forgotten are freed, threads too."""
        script = """
import gc, os, resource, tether
scene = tether.Scene("gripper")
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
def use():
    sim = scene.sim(); act = sim.commands(["swivel.velocity"]); obs = sim.signals(["time"]); sim.bodies; sim.step()
    clone = sim.clone(); clone.step(); sim.contacts(); sim.restore(sim.save())
    batch = scene.batch(3, ["swivel.velocity"], ["time"], threads=3); batch.reset(); batch.sims[1].step(); batch.failed
    try: sim.apply({"nothing": 1})
    except tether.Error: pass
for _ in range(10): use()
gc.collect()
before, threads = memory(), len(os.listdir("/proc/self/task"))
for _ in range(60): use()
gc.collect()
print(len(os.listdir("/proc/self/task")) - threads, len(os.listdir("/proc/self/fd")), (memory() - before) >> 20)
"""
        done = subprocess.run([sys.executable, "-c", script], env=built.ENVIRONMENT, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        threads, files, mebibytes = map(int, done.stdout.split())
        self.assertEqual(threads, 0)
        self.assertLess(files, 8)
        self.assertLess(mebibytes, 16, "60 rounds of 6 simulations")


if __name__ == "__main__":
    unittest.main()
