#!/usr/bin/env python3
"""Runs of the library's simulations, kept in files: `tether verify` proves them and every reader takes them, whatever the caller
did: any number of steps a call, resets with seeds, restored states, clones, a batch's simulations, disks that are full."""
import ctypes
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

from support.live_page import Page, poses
from support.process import STATE, Tether
from support.wpilog import Log

TETHER = os.environ["TETHER"]
ROOT = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])
LIBRARY = ctypes.CDLL(str(pathlib.Path(TETHER).parent / "libtether.so"))
INVALID, FAILED, NOT_FOUND = 1, 3, 5


class Error(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 1024)]


class Handle(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("index", ctypes.c_uint32), ("scale", ctypes.c_double)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("period", ctypes.c_double), ("most_bytes", ctypes.c_uint64), ("never_wait", ctypes.c_int)]


LIBRARY.tether_sim_hash.restype = ctypes.c_uint64
LIBRARY.tether_sim_steps.restype = ctypes.c_uint64
LIBRARY.tether_sim_state_size.restype = ctypes.c_size_t
LIBRARY.tether_batch_sim.restype = ctypes.c_void_p
for name in "hash", "steps", "state_size", "free":
    getattr(LIBRARY, f"tether_sim_{name}").argtypes = [ctypes.c_void_p]
LOG_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


def ask(name, *arguments):
    """The status and what the error says."""
    error = Error()
    status = getattr(LIBRARY, f"tether_{name}")(*arguments, ctypes.byref(error))
    return status, error.text.decode()


def call(name, *arguments):
    status, text = ask(name, *arguments)
    assert status == 0, f"{name}: {status} {text}"


class Scene:
    def __init__(self, name, *settings):
        self.pointer = ctypes.c_void_p()
        texts = (ctypes.c_char_p * len(settings))(*[text.encode() for text in settings])
        call("scene_load", str(name).encode(), texts, len(settings), ctypes.byref(self.pointer))

    def sim(self):
        made = ctypes.c_void_p()
        call("sim_new", self.pointer, ctypes.byref(made))
        return Sim(made)

    def free(self):
        LIBRARY.tether_scene_free(self.pointer)


class Sim:
    def __init__(self, pointer):
        self.pointer = pointer

    def record(self, path, options=None):
        call("sim_record", self.pointer, str(path).encode(), ctypes.byref(options) if options else None)

    def end(self):
        call("sim_record_end", self.pointer)

    def apply(self, **values):
        for name, value in values.items():
            handle = Handle()
            call("command_find", self.pointer, name.replace("__", ".").encode(), None, ctypes.byref(handle))
            call("sim_apply", self.pointer, ctypes.byref(handle), ctypes.byref(ctypes.c_double(value)), 1)

    def set(self, **values):
        for name, value in values.items():
            handle = Handle()
            call("value_find", self.pointer, ("models__" + name).replace("__", ".").encode(), None, ctypes.byref(handle))
            call("sim_set_values", self.pointer, ctypes.byref(handle), ctypes.byref(ctypes.c_double(value)), 1)

    def step(self, steps):
        call("sim_step", self.pointer, ctypes.c_int64(steps))

    def reset(self, seed=None):
        call("sim_reset", self.pointer, ctypes.byref(ctypes.c_uint64(seed)) if seed is not None else None)

    def save(self):
        state = ctypes.create_string_buffer(LIBRARY.tether_sim_state_size(self.pointer))
        call("sim_save", self.pointer, state, ctypes.c_size_t(len(state)))
        return state

    def restore(self, state):
        call("sim_restore", self.pointer, state, ctypes.c_size_t(len(state)))

    def clone(self):
        made = ctypes.c_void_p()
        call("sim_clone", self.pointer, ctypes.byref(made))
        return Sim(made)

    @property
    def hash(self):
        return LIBRARY.tether_sim_hash(self.pointer)

    @property
    def steps(self):
        return LIBRARY.tether_sim_steps(self.pointer)

    def free(self):
        LIBRARY.tether_sim_free(self.pointer)


def tether(*arguments, status=0):
    done = subprocess.run([TETHER, *map(str, arguments)], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.scene = Scene("gripper", "io_period=1/60 s")
        cls.addClassCleanup(cls.scene.free)

    def path(self, name="run"):
        path = self.folder / f"{self.id().rsplit('.', 1)[1]}-{name}.wpilog"
        path.unlink(missing_ok=True)
        return path

    def sim(self, scene=None):
        sim = (scene or self.scene).sim()
        self.addCleanup(sim.free)
        return sim

    def proved(self, path):
        said = tether("verify", path)
        self.assertIn("identical: ", said)
        return said

    def journal(self, path):
        lines = [json.loads(line) for line in tether("export", path, "--format", "jsonl").splitlines()]
        return [line for line in lines if line["name"].startswith("/tether/journal")]

    def test_calls_of_any_length(self):
        """Ticks are as long as the caller's calls, not as the scene's io_period."""
        sim, path = self.sim(), self.path()
        sim.record(path)
        for index, steps in enumerate((1, 7, 10, 1, 333, 2, 60, 25)):
            sim.apply(swivel__velocity=0.3 * index, base__velocity=-0.2)
            sim.step(steps)
        hashes = sim.hash
        sim.end()
        self.assertIn("439 steps, 9 state hashes", self.proved(path))
        last = [entry for entry in self.journal(path) if entry["kind"] == "hash"][-1]
        self.assertEqual((int(last["hash"], 16), last["step"]), (hashes, 439))

    def test_resets_seeds_and_states(self):
        scene = Scene("frc2011-sensors", "timestep=1/500 s", "seed=4")
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        sim.step(3)
        sim.record(path)  # in the middle of its life
        sim.apply(left_track__torque=3, right_track__torque=2)
        sim.step(40)
        state = sim.save()
        sim.step(17)
        sim.reset(seed=99)
        sim.apply(left_track__torque=-3)
        sim.step(30)
        sim.restore(state)  # whose time lies behind that of the log, and whose seed is another
        sim.step(20)
        sim.reset()
        sim.step(5)
        sim.end()
        self.proved(path)
        kinds = [entry["kind"] for entry in self.journal(path) if entry["kind"] != "hash"]
        self.assertEqual(kinds, ["commands", "commands", "seed", "reset", "commands", "seed", "state", "seed", "reset"])
        self.assertEqual([entry["seed"] for entry in self.journal(path) if entry["kind"] == "seed"], [99, 4, 4])
        times = [time for time, _ in Log(path.read_bytes()).values["/signals/gyro.angle"]]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[-1], 112 / 500)  # of the steps made, whatever was restored

    def test_commands_that_are_applied_already(self):
        """They stand in the first of what is recorded, as in what the state that it begins with shows."""
        for name, commands in (("frc2011", {"left_track__torque": 5}), ("concept-symmetric", {"x": 1, "circle2__y": 2})):
            with self.subTest(name):
                scene, path = Scene(name), self.path(name)
                self.addCleanup(scene.free)
                sim, other = self.sim(scene), self.sim(scene)
                for one in sim, other:
                    one.step(10)
                    one.apply(**commands)
                sim.record(path)
                for one in sim, other:
                    one.step(10)
                sim.end()
                self.assertEqual(sim.hash, other.hash)
                self.proved(path)

    def test_a_reset_that_is_asked_for_already(self):
        """The journal has it, too: whoever makes the run again makes it once."""
        scene = Scene("frc2011")
        self.addCleanup(scene.free)
        sim, path, fork = self.sim(scene), self.path(), self.path("fork")
        sim.apply(left_track__torque=5)
        sim.step(30)
        sim.apply(reset=1)
        sim.record(path)
        sim.step(30)
        sim.end()
        self.assertEqual([entry["kind"] for entry in self.journal(path)], ["hash", "reset", "hash", "hash"])
        self.proved(path)
        wire = ("--no-web", "--pace", "fast", "--set", "wires.float-udp.bind=127.0.0.1:0")
        tether("run", "--from", f"{path}@0.01", "--duration", "0.05", "--record", fork, *wire)
        self.proved(fork)

    def test_a_state_with_a_reset_that_is_asked_for(self):
        """Whoever goes on from it begins anew, and that run is proved as well."""
        sim, path = self.sim(), self.path()
        sim.step(20)
        sim.apply(reset=1)
        state = sim.save()
        sim.record(path)
        sim.step(20)
        sim.restore(state)
        sim.step(5)
        sim.restore(state)
        sim.end()
        self.assertEqual([entry["kind"] for entry in self.journal(path) if entry["kind"] != "hash"], ["reset", "state", "reset", "state"])
        self.proved(path)

    def test_values_of_the_models(self):
        """Set before the recording and in it; a reset leaves them, a state brings its own."""
        sim, path = self.sim(), self.path()
        sim.set(gripper__joints__base__damping=12)
        sim.record(path)
        sim.apply(base__torque=30)
        sim.step(20)
        state = sim.save()
        sim.set(gripper__bodies__forearm__mass=9, gripper__joints__base__damping=1)
        sim.step(20)
        sim.reset()
        sim.apply(base__torque=30)
        sim.step(20)
        sim.restore(state)
        sim.step(20)
        sim.set(gripper__bodies__forearm__mass=2.5)
        sim.step(5)
        sim.end()
        self.proved(path)
        entries = [entry for entry in self.journal(path) if entry["kind"] == "values"]
        self.assertEqual([list(entry["values"].values()) for entry in entries], [[9], [1], [2.5]])

    def test_a_clone_begins_a_log_of_its_own(self):
        sim, path, other = self.sim(), self.path(), self.path("clone")
        sim.reset(seed=2**64 - 7)
        sim.record(path)
        sim.apply(swivel__velocity=1)
        sim.step(100)
        clone = sim.clone()
        self.addCleanup(clone.free)
        self.assertEqual(ask("sim_recording", clone.pointer)[0], NOT_FOUND)
        clone.record(other)
        for one in clone, sim:
            one.apply(base__velocity=0.4)
            one.step(50)
        self.assertEqual(clone.hash, sim.hash)
        clone.end()
        sim.end()
        self.assertIn("50 steps", self.proved(other))
        self.assertIn("150 steps", self.proved(path))
        self.assertEqual(json.loads(Log(other.read_bytes()).values["/tether/run"][0][1])["seed"], 2**64 - 7)

    def test_a_simulation_of_a_batch(self):
        batch, path = ctypes.c_void_p(), self.path()
        commands = (ctypes.c_char_p * 1)(b"swivel.velocity")
        signals = (ctypes.c_char_p * 1)(b"swivel.position")
        call("batch_new", self.scene.pointer, 3, 2, commands, 1, signals, 1, ctypes.byref(batch))
        self.addCleanup(LIBRARY.tether_batch_free, batch)
        one = Sim(ctypes.c_void_p(LIBRARY.tether_batch_sim(batch, 1)))
        one.record(path)
        values, out = (ctypes.c_double * 3)(), (ctypes.c_double * 3)()
        for index in range(20):
            values[:] = [0.1 * index, -0.1 * index, 0.3]
            call("batch_step", batch, values, ctypes.c_int64(5), out)
        mask = (ctypes.c_uint8 * 3)(0, 1, 1)
        call("batch_reset", batch, mask, (ctypes.c_uint64 * 3)(1, 2, 3), out)
        call("batch_step", batch, values, ctypes.c_int64(5), out)
        one.end()
        self.assertIn("105 steps", self.proved(path))

    def test_every_reader_takes_it(self):
        sim, one, other = self.sim(), self.path("one"), self.path("other")
        for path, turn in ((one, 1.0), (other, 1.0), (self.path("third"), -1.0)):
            sim.reset()
            sim.record(path)
            for _ in range(30):
                sim.apply(swivel__velocity=turn)
                sim.step(10)
            sim.end()
        self.assertIn("equal: ", tether("compare", one, other))
        self.assertIn("leave their tolerance", tether("compare", one, self.folder / "test_every_reader_takes_it-third.wpilog", status=1))
        for form in "csv", "mcap", "wpilog", "svg", "summary":
            tether("export", one, "--format", form, "--output", self.folder / f"export.{form}")
        self.assertIn("scene: \"gripper\"", (self.folder / "export.summary").read_text(encoding="utf-8"))
        header, *rows = (self.folder / "export.csv").read_text(encoding="utf-8").splitlines()
        self.assertIn("swivel.position [rad]", header)
        self.assertEqual(len(rows), 31)
        runs = pathlib.Path(STATE.name) / "tether/runs"
        runs.mkdir(parents=True, exist_ok=True)
        (runs / "2026-01-01T00-00-00-gripper.wpilog").write_bytes(one.read_bytes())
        self.assertIn("2026-01-01T00-00-00-gripper", tether("runs"))
        self.assertIn("gripper", tether("runs", "show", "2026-01-01T00-00-00-gripper"))

    def test_what_begins_anew_is_compared_to_its_end(self):
        """Simulated time is the same at the end of every one of them."""
        paths = self.path("one"), self.path("other")
        for path, speeds in zip(paths, ((1, 1, 1, 1), (1, 2, 3, -4))):
            sim = self.sim()
            sim.record(path)
            for speed in speeds:
                sim.reset(seed=1)
                sim.apply(swivel__velocity=speed)
                sim.step(60)
            sim.end()
        self.assertRegex(tether("compare", *paths, status=1), "swivel.position: .*from 0.200 s on")
        rows = tether("export", paths[0]).splitlines()[1:]
        self.assertEqual([row.split(",")[0] for row in rows], ["0.000000", "0.100000", "0.200000", "0.300000", "0.400000"])

    def test_times_of_a_timestep_with_many_digits(self):
        scene, path = Scene("gripper", "timestep=0.001666666667 s"), self.path()
        self.addCleanup(scene.free)
        sim = self.sim(scene)
        sim.record(path)
        for _ in range(1300):
            sim.step(10)
        sim.end()
        self.proved(path)
        times = [float(row.split(",")[0]) for row in tether("export", path).splitlines()[1:]]
        self.assertEqual((times, times[-1]), (sorted(times), 21.666666))

    def test_of_every_scene(self):
        for file in sorted((ROOT / "scenes").glob("*.yaml")):
            with self.subTest(file.stem):
                scene, path = Scene(file.stem), self.path(file.stem)
                sim = scene.sim()
                sim.record(path)
                sim.step(20)
                sim.reset()
                sim.step(20)
                sim.free()
                scene.free()
                self.proved(path)

    def test_what_is_damaged_is_no_state_to_go_on_from(self):
        scene = Scene("frc2011")
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        sim.step(30)
        sim.record(path)
        for _ in range(20):
            sim.step(30)
        sim.end()
        good = path.read_bytes()
        state = good.index(b"TETTS06")
        path.write_bytes(good[:state + 400] + bytes([good[state + 400] ^ 0x10]) + good[state + 401:])
        self.assertIn("are not those that were written", tether("verify", path, "--until", "0.05", "--save-state", self.folder / "state", status=1))
        self.assertIn("are not those that were written", tether("run", "--from", f"{path}@0.05", "--no-web", status=1))

    def test_a_fork_begins_where_a_call_ended(self):
        """The last one until then, however long the calls were."""
        scene = Scene("frc2011")
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        sim.record(path)
        sim.apply(left_track__torque=5)
        for steps in 300, 7, 150:
            sim.step(steps)
        sim.end()
        for moment, begins in ("0.05", "0.000000"), ("0.1", "0.100000"), ("0.102333", "0.102333"), ("0.15", "0.102333"), ("0.152333", "0.152333"):
            fork = self.path("fork")
            tether("run", "--from", f"{path}@{moment}", "--duration", "0.17", "--pace", "fast", "--no-web", "--record", fork,
                   "--set", "wires.float-udp.bind=127.0.0.1:0")
            self.assertEqual(tether("export", fork).splitlines()[1].split(",")[0], begins, moment)
            self.assertAlmostEqual(json.loads(Log(fork.read_bytes()).values["/tether/run"][0][1])["from"]["time"], float(begins), 6)
            self.proved(fork)
        state = self.folder / "state"
        self.assertIn("identical up to 0.102 s", tether("verify", path, "--until", "0.15", "--save-state", state))

    def test_replay_shows_it(self):
        sim, path = self.sim(), self.path()
        sim.step(500)
        sim.record(path)
        sim.apply(swivel__velocity=1)
        for _ in range(60):
            sim.step(10)
        sim.end()
        read = Log(path.read_bytes()).values["/signals/swivel.position"]
        with Tether("replay", path, "--set", "web.listen=127.0.0.1:0") as program:
            page = Page(program.addresses["web"])
            page.send(type="control", action="pause")
            for wanted in (0.8, 0.3):
                page.send(type="control", action="seek", value=wanted)
                _, bodies, _ = poses(page.until(lambda message: isinstance(message, bytes) and message[0] == 1
                                                and abs(poses(message)[0] - wanted) < 0.0005))
                names = [body["name"] for body in page.model["bodies"]]
                _, _, _, qw, _, _, qz = bodies[names.index("swivel")][:7]
                angle = next(value for time, value in read if abs(time - wanted) < 1e-4)
                self.assertAlmostEqual(2 * math.atan2(qz, qw), angle, places=4)
            page.close()
            self.assertEqual(program.stop(), 0, program.text())

    def test_a_scene_with_a_token(self):
        """Its log keeps none, and says so: a replay asks which holds."""
        file, path = self.folder / "token.yaml", self.path()
        file.write_text("robots: [{robot: gripper}]\nweb: {token: sesame}\n", encoding="utf-8")
        scene = Scene(file)
        self.addCleanup(scene.free)
        sim = self.sim(scene)
        sim.record(path)
        sim.step(10)
        sim.end()
        self.assertNotIn(b"sesame", path.read_bytes())
        done = subprocess.run([TETHER, "replay", path], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, "give --set web.token=TOKEN" in done.stderr), (2, True), done.stderr)
        self.proved(path)

    def test_things_that_are_placed(self):
        """Without physics, things stand where commands put them, from the end of a call on."""
        scene = Scene("concept-symmetric")
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        for steps in (3, 4):
            sim.step(steps)
        sim.record(path)
        for steps in (5, 1, 9):
            sim.apply(x=0.1 * steps)
            sim.step(steps)
        sim.end()
        self.assertIn("15 steps, 4 state hashes", self.proved(path))

    def test_a_changed_log_is_found(self):
        sim, path = self.sim(), self.path()
        sim.record(path)
        sim.apply(swivel__velocity=1)
        sim.step(100)
        sim.end()
        data = bytearray(path.read_bytes())
        data[-200] ^= 1
        path.write_bytes(data)
        self.assertIn("are not those that were written", tether("verify", path, status=1))

    def test_what_cannot_be_recorded_is_said(self):
        sim, path = self.sim(), self.path()
        self.assertEqual(ask("sim_record", sim.pointer, None, None)[0], INVALID)
        status, text = ask("sim_record", sim.pointer, b"/nowhere/run.wpilog", None)
        self.assertEqual(status, FAILED)
        self.assertIn("/nowhere/run.wpilog", text)
        for options, named in ((Options(3, 0, 0, 0), "size"), (Options(ctypes.sizeof(Options), -1, 0, 0), "period"),
                               (Options(ctypes.sizeof(Options), float("nan"), 0, 0), "period")):
            status, text = ask("sim_record", sim.pointer, str(path).encode(), ctypes.byref(options))
            self.assertEqual(status, INVALID)
            self.assertIn(named, text)
        self.assertFalse(path.exists())
        self.assertEqual(ask("sim_record_end", sim.pointer)[0], NOT_FOUND)
        sim.record(path)
        self.assertEqual(ask("sim_record", sim.pointer, str(self.path("other")).encode(), None)[0], INVALID)
        self.assertEqual(ask("sim_recording", sim.pointer)[0], 0)
        sim.end()
        status, text = ask("sim_record", sim.pointer, str(path).encode(), None)
        self.assertEqual(status, FAILED)
        self.assertIn("exists already", text)

    def test_a_scene_whose_file_is_gone(self):
        file = self.folder / "gone.yaml"
        file.write_text("robots: [{robot: gripper}]\ntimestep: 1/600 s\n", encoding="utf-8")
        scene = Scene(file)
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        file.unlink()
        status, text = ask("sim_record", sim.pointer, str(path).encode(), None)
        self.assertEqual(status, INVALID)
        self.assertIn(f"{file}: the scene's file can't be read any more", text)
        self.assertFalse(path.exists())
        sim.step(1)

    def test_a_scene_whose_file_was_edited(self):
        """The log would keep another scene than the one that runs; a file that stands beside it is none of it."""
        file = self.folder / "edited.yaml"
        text = "robots: [{robot: gripper}]\ntimestep: 1/600 s\n"
        file.write_text(text, encoding="utf-8")
        scene = Scene(file)
        self.addCleanup(scene.free)
        sim, path = self.sim(scene), self.path()
        file.write_text(text.replace("600", "500"), encoding="utf-8")
        status, said = ask("sim_record", sim.pointer, str(path).encode(), None)
        self.assertEqual(status, INVALID)
        self.assertIn(f"{file}: changed or removed since the scene was loaded", said)
        self.assertFalse(path.exists())
        file.write_text(text, encoding="utf-8")
        (self.folder / "new.lua").write_text("-- of another scene", encoding="utf-8")
        sim.record(path)
        sim.step(10)
        sim.end()
        self.proved(path)

    def test_a_full_disk_ends_the_recording_and_nothing_else(self):
        said = []
        callback = LOG_CALLBACK(lambda _, level, line: said.append((level, line.decode())))
        LIBRARY.tether_set_log(callback, None)
        self.addCleanup(LIBRARY.tether_set_log, None, None)
        sim, path = self.sim(), self.path()
        sim.record(path, Options(ctypes.sizeof(Options), 0, 0, 0))
        sim.step(10)
        largest = path.stat().st_size + 60000
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))  # Python ignores SIGXFSZ, so writing answers EFBIG
        try:
            for index in range(20000):
                sim.apply(swivel__velocity=0.5 if index % 2 else -0.5)
                sim.step(1)
                if ask("sim_recording", sim.pointer)[0] == FAILED:
                    break
            status, text = ask("sim_recording", sim.pointer)
            self.assertEqual(status, FAILED)
            self.assertIn(f"{path}: can't write: File too large", text)
            sim.step(10)  # goes on
            status, text = ask("sim_record_end", sim.pointer)
            self.assertEqual(status, FAILED)
            self.assertIn("File too large", text)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assertTrue([line for level, line in said if level == 0 and "File too large" in line], said)
        self.assertEqual(ask("sim_recording", sim.pointer)[0], NOT_FOUND)
        self.proved(path)  # up to there
        again = self.path("again")
        sim.record(again)
        sim.step(10)
        sim.end()
        self.proved(again)

    def test_a_limit(self):
        sim, path = self.sim(), self.path()
        sim.record(path, Options(ctypes.sizeof(Options), 0, 1, 0))  # less than what the log begins with
        sim.step(10)
        status, text = ask("sim_record_end", sim.pointer)
        self.assertEqual(status, FAILED)
        self.assertIn("nothing is kept from 0.000 s on: it reached its limit", text)

    def test_a_fork_leaves_the_log_to_the_parent(self):
        sim, path = self.sim(), self.path()
        sim.record(path)
        sim.step(10)
        child = os.fork()
        if child == 0:
            right = ask("sim_recording", sim.pointer)[0] == NOT_FOUND
            sim.step(10)
            right = right and ask("sim_record_end", sim.pointer)[0] == NOT_FOUND
            sim.free()
            os._exit(0 if right else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        sim.step(20)
        sim.end()
        self.assertIn("30 steps", self.proved(path))

    def test_freeing_ends_it(self):
        path = self.path()
        sim = self.scene.sim()
        sim.record(path)
        sim.step(10)
        sim.free()
        self.proved(path)
        self.assertIn("/tether/end", Log(path.read_bytes()).values)

    def test_the_hashes_of_tether_run(self):
        """The log of `tether run`, its inputs given to the library: the same hashes, and a log that says the same."""
        run, path = self.path("run"), self.path("library")
        scene = ROOT / "scenes/gripper.yaml"
        server = subprocess.Popen([TETHER, "run", scene, "--no-web", "--record", run, "--pace", "lockstep", "--set",
                                   "wires.lockstep-tcp.listen=127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        address = next(line for line in server.stderr if line.startswith("ready")).split("lockstep-tcp=")[1].split()[0]
        client = subprocess.run([sys.executable, ROOT / "clients/python/lockstep_tcp.py", address, "90"], capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual(client.returncode, 0, client.stderr)
        server.terminate()
        server.stderr.read()
        server.stderr.close()
        self.assertEqual(server.wait(30), 0)
        journal = self.journal(run)
        self.assertTrue(any(entry["kind"] == "commands" for entry in journal))
        wire = Scene(scene)
        self.addCleanup(wire.free)
        sim = self.sim(wire)
        sim.record(path)
        for entry in journal:
            if entry["kind"] == "hash":
                if entry["step"] > sim.steps:
                    sim.step(entry["step"] - sim.steps)
                self.assertEqual(sim.hash, int(entry["hash"], 16), entry)
            elif entry["kind"] in ("commands", "safe"):
                sim.apply(**{name.replace(".", "__"): value for name, value in entry["commands"].items()})
            elif entry["kind"] == "reset":
                sim.reset()
        sim.end()
        self.proved(path)
        hashes = [[entry["hash"] for entry in self.journal(one) if entry["kind"] == "hash"] for one in (run, path)]
        self.assertEqual(*hashes)


if __name__ == "__main__":
    unittest.main()
