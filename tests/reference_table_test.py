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
            path.write_text(f"physics 0, of long ago\n{0:016x} sharp\n")
            self.assertEqual(self.write(path).returncode, 0)
            table = path.read_text()
            self.assertRegex(table, r"(?m)^physics [1-9]")
            self.assertRegex(table, r"(?m)^(?!0{16})\w{16} sharp$")

            other = re.sub(r"^\w{16} ", f"{0:016x} ", table, count=1, flags=re.M)
            path.write_text(other)
            done = self.write(path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^[\w-]+: state hash .* raise TT_PHYSICS_VERSION first")
            self.assertEqual(path.read_text(), other)

            elsewhere = re.sub(r"libc \S+,", "libc 1.0,", other)
            path.write_text(elsewhere)
            done = self.write(path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^[\w-]+: state hash .* it may be the platform")
            self.assertEqual(path.read_text(), elsewhere)

            here = re.search(r"^physics.*\n", table, flags=re.M)[0]
            there = re.sub(r"libc \S+,", "libc 1.0,", here)
            path.write_text(table.replace(here, there))
            self.assertEqual(self.write(path).returncode, 0)
            self.assertEqual(path.read_text(), table.replace(here, there + here))


if __name__ == "__main__":
    unittest.main()
