#!/usr/bin/env python3
"""The wheel and the source archive: built as pyproject.toml says, complete, and used from where they were unpacked."""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import built


class Archives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)
        source = cls.top / "source"
        shutil.copytree(built.ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        # The wheel is built from the source archive.
        done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", cls.top / "made", source],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_they_are_whole(self):
        package = built.ROOT / "python/tether"
        wanted = {f"tether/{path.relative_to(package)}" for path in package.rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts}
        self.assertEqual({path.name for path in (self.top / "made").iterdir()}, {"tether-0.1.0-py3-none-any.whl", "tether-0.1.0.tar.gz"})
        with zipfile.ZipFile(self.top / "made/tether-0.1.0-py3-none-any.whl") as wheel:
            self.assertEqual({name for name in wheel.namelist() if name.startswith("tether/")}, wanted)
        with tarfile.open(self.top / "made/tether-0.1.0.tar.gz") as archive:
            names = {name.removeprefix("tether-0.1.0/") for name in archive.getnames()}
        self.assertLessEqual(wanted | {"pyproject.toml", "README.md"}, names)

    def test_the_wheel_works(self):
        site = self.top / "site"
        with zipfile.ZipFile(self.top / "made/tether-0.1.0-py3-none-any.whl") as wheel:
            wheel.extractall(site)
        script = "import tether; sim = tether.Scene('gripper').sim(); sim.step(6); print(tether.__file__, sim.time, tether.__version__)"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd="/",
                              env={**os.environ, "PYTHONPATH": str(site)})
        self.assertEqual((done.stderr, done.stdout), ("", f"{site}/tether/__init__.py 0.01 0.1.0\n"))

    def test_versions_agree(self):
        cmake = (built.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.assertIn("project(tether VERSION 0.1.0 ", cmake)


if __name__ == "__main__":
    unittest.main()
