#!/usr/bin/env python3
"""The reference hashes: a version of the physics that has hashes gets no others; another version does."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["TETHER"]).parent / "reference_test"


class Table(unittest.TestCase):
    def write(self, path):
        return subprocess.run([PROGRAM, path], capture_output=True, text=True, timeout=100, check=False)

    def test_other_hashes_need_another_version(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "hashes.txt")
            self.assertEqual(self.write(path).returncode, 0)
            table = path.read_text()
            other = re.sub(r"^\w{16} sharp$", f"{0:016x} sharp", table, flags=re.M)
            self.assertNotEqual(other, table)

            path.write_text(other)
            done = self.write(path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^sharp: state hash .* raise TT_PHYSICS_VERSION first")
            self.assertEqual(path.read_text(), other)

            path.write_text(re.sub(r"^physics \d+", "physics 0", other, flags=re.M))
            self.assertEqual(self.write(path).returncode, 0)
            self.assertEqual(path.read_text(), table)


if __name__ == "__main__":
    unittest.main()
