#!/usr/bin/env python3
"""docs/reliability.md: each fault of its table names tests, and each test that it names is there."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])


class Reliability(unittest.TestCase):
    def test_every_test_of_the_table_is_there(self):
        text = (SOURCE / "docs" / "reliability.md").read_text(encoding="utf-8")
        faults = text[text.index("| fault |"):].split("\n\n", 1)[0]
        rows = [line for line in faults.splitlines() if line.startswith("| ")][1:]
        self.assertGreater(len(rows), 20)
        listed = subprocess.run(["ctest", "-N", "-C", "Long"], cwd=sys.argv[1], capture_output=True, text=True, check=True)
        known = set(re.findall(r"Test +#\d+: (\S+)", listed.stdout))
        for row in rows:
            named = re.findall(r"`(\w+)`", row.rstrip("| ").rsplit("|", 1)[1])
            self.assertTrue(named, row)
            self.assertEqual(set(named) - known, set(), row)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
