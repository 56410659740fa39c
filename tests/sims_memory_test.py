"""Many simulations of one scene fit into memory: what each takes beside the first, while they step, are reset and restored.

The bounds are those that script/bench measures against; what is measured lies far below them.
"""
import json
import os
import pathlib
import subprocess
import unittest

SOURCE = os.environ["TETHER_SOURCE_DIR"]
BUILD = pathlib.Path(os.environ["TETHER"]).parent


class SimsMemory(unittest.TestCase):
    def check(self, scene, count, most):
        done = subprocess.run([BUILD / "sims_memory", SOURCE, scene, str(count)], capture_output=True, text=True, check=True)
        sizes = json.loads(done.stdout)
        sizes.pop("first_mib")
        for stage, mib in sizes.items():
            with self.subTest(scene=scene, stage=stage):
                self.assertLessEqual(mib, most)

    def test_gripper(self):
        self.check("gripper", 16, 4)

    def test_frc2011(self):
        self.check("frc2011", 3, 12)


if __name__ == "__main__":
    unittest.main()
