#!/usr/bin/env python3
"""The package's type hints hold (mypy --strict), and so does what a user writes with them."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import built

USER = """
import numpy as np
import tether
import tether.sweep

scene = tether.Scene("gripper", settings={"timestep": "1/1000 s"})
sim = scene.sim(seed=0)
sim.apply({"swivel.velocity": 1.0}, units={"swivel.velocity": "deg/s"})
sim.step(10)
angle: float = sim.read(["swivel.position"], units=["deg"])[0]
state: bytes = sim.save()
act = sim.commands(["swivel.velocity"])
act[:] = 1.0
batch = scene.batch(64, commands=["swivel.velocity"], signals=["swivel.position"], threads=2)
out = batch.step(np.zeros((64, 1)), steps=10)
reveal_type(out)
reveal_type(batch.failed)
reveal_type(sim.bodies[0].position)
reveal_type(sim.joints[0].limits)
table = tether.sweep.read("turns.sqlite")
rows: int = len(table.where(table["status"] == "ok")["run"])
sim.step("far")
"""


class Types(unittest.TestCase):
    def test_the_package_and_a_user(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "user.py").write_text(USER)
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", "-p", "tether", "-m", "user"], cwd=folder,
                                  capture_output=True, text=True, check=False, env={**built.ENVIRONMENT, "MYPYPATH": str(built.ROOT / "python")})
        said = done.stdout
        # as the numpy and mypy of Debian 12 say it, and those of 13
        self.assertRegex(said, r'is "numpy\.ndarray\[.*, numpy\.dtype\[numpy\.(floating\[numpy\._typing\._64Bit\]|float64)\]\]"')
        self.assertRegex(said, r'is "numpy\.ndarray\[.*, numpy\.dtype\[numpy\.bool(_|\[builtins\.bool\])\]\]"')
        self.assertRegex(said, r'is "Union\[[Tt]uple\[builtins\.float, builtins\.float\], None\]"')
        self.assertIn('user.py:22: error: Argument 1 to "step" of "Sim" has incompatible type "str"; expected "int"', said)
        self.assertIn("Found 1 error in 1 file", said, "the package's own")


if __name__ == "__main__":
    unittest.main()
