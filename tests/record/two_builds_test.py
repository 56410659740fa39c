#!/usr/bin/env python3
"""Two builds of the same sources, made in two folders, compute the same bits: each verifies what the other recorded."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support.process import ROOT, Tether


CLIENT = ROOT / "clients" / "python" / "lockstep_tcp.py"
SCENES = {"frc2011-motors": "wires.float-udp.bind=127.0.0.1:0", "sharp": "wires.sharp-json.bind=127.0.0.1:0",
          "gripper": "wires.lockstep-tcp.listen=127.0.0.1:0"}  # the last one driven
OTHERS = shutil.ignore_patterns("build", "build-*", ".git")


def run(*command, **environment):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, (command, done.stdout[-4000:] + done.stderr[-4000:])
    return done.stdout


def build(folder, **environment):
    """Copies the sources to `folder` and builds the program there: where it is."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=OTHERS)
    cached = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTETHER_TESTS=OFF",
        *cached, **environment)
    run("cmake", "--build", folder / "build", "--target", "tether", **environment)
    return folder / "build" / "tether"


def record(program, scene, log, state):
    """A run of one second; the same each time."""
    settings = ("--set", SCENES[scene], "--duration", "1", "--no-web", "--record", log, "--save-state", state)
    pace = "lockstep" if scene == "gripper" else "fast"
    with Tether("run", scene, "--pace", pace, *settings, program=program) as running:
        if scene == "gripper":
            run(sys.executable, CLIENT, running.addresses["lockstep-tcp"], "60")
        assert running.wait_exit() == 0, running.text()


class TwoBuilds(unittest.TestCase):
    def test_each_verifies_what_the_other_recorded(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            one = build(folder / "one")
            another = build(folder / "another" / "and deeper", CCACHE_RECACHE="1")  # compiled anew, not the first's objects
            for scene in SCENES:
                with self.subTest(scene):
                    states = []
                    for program, verifier in ((one, another), (another, one)):
                        log, state = (folder / f"{scene}-{len(states)}.{kind}" for kind in ("wpilog", "state"))
                        record(program, scene, log, state)
                        self.assertIn("identical: ", run(verifier, "verify", log))
                        states.append(state.read_bytes())
                    self.assertEqual(*states)


if __name__ == "__main__":
    unittest.main()
