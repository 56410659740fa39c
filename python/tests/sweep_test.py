#!/usr/bin/env python3
"""Tables that `tether sweep` wrote, read as NumPy columns."""
import csv
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import built
import numpy as np
import tether
import tether.sweep

PLAN = """
scene: gripper
duration: 0.1 s
axes:
  - {name: weight, value: [1 g, 2 g, 3 g]}
  - {name: hand, value: [left, "=right"]}
repeat: 2
seed: 40
metrics:
  - {name: angle, signal: swivel.position, measure: final}
  - {name: turned, measure: event_time, when: swivel.position > 1}
success: angle < 1
"""


def sweep(plan, *options):
    done = subprocess.run([built.BUILD / "tether", "sweep", plan, "--quiet", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plan = cls.folder / "turns.yaml"
        cls.plan.write_text(PLAN, encoding="utf-8")
        cls.file = cls.folder / "turns.sqlite"
        sweep(cls.plan, "--csv", cls.folder / "turns.csv")
        cls.table = tether.sweep.read(cls.file)

    def test_columns(self):
        table = self.table
        self.assertEqual(list(table), ["id", "run", "seed", "status", "error", "hash", "simulated_time", "wall_time", "host",
                                       "weight", "hand", "angle", "turned", "success"])
        self.assertEqual((table.axes, table.metrics, table.runs), (["weight", "hand"], ["angle", "turned", "success"], 12))
        self.assertEqual((table.units["weight"], table.units["angle"], table.units["turned"], table.units["id"]), ("kg", "rad", "s", ""))
        np.testing.assert_array_equal(table["run"], np.arange(12))
        np.testing.assert_array_equal(table["seed"], [40, 41] * 6)
        np.testing.assert_array_equal(table["weight"], np.repeat([0.001, 0.002, 0.003], 4))
        np.testing.assert_array_equal(table["hand"], ["left", "left", "=right", "=right"] * 3)
        np.testing.assert_array_equal(table["status"], ["ok"] * 12)
        np.testing.assert_array_equal(table["success"], np.ones(12))
        self.assertTrue(np.isnan(table["turned"]).all())
        self.assertTrue(np.isfinite(table["angle"]).all())
        self.assertEqual(len(set(table["id"])), 12)
        self.assertEqual({column.dtype.kind for column in table.values()}, {"i", "f", "U"})
        self.assertIn("event_time", table.plan)
        self.assertIn("12 rows of 12 runs", repr(table))
        self.assertEqual(len(table.where(table["hand"] == "left")["run"]), 6)

    def test_csv_says_the_same(self):
        with open(self.folder / "turns.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for i, row in enumerate(rows):
            self.assertEqual(row["hand"], str(self.table["hand"][i]).replace("=right", "'=right"))
            self.assertEqual(row["turned"], "")
            for name in ("weight", "angle", "wall_time"):
                self.assertEqual(float(row[name]), self.table[name][i])
        self.assertEqual(len(rows), 12)

    def test_a_table_in_the_works(self):
        file = self.folder / "works.sqlite"
        sweep(self.plan, "--output", file)
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("DELETE FROM run WHERE run % 2")
            database.commit()
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM run")
            np.testing.assert_array_equal(tether.sweep.read(file)["run"], np.arange(0, 12, 2))
            database.rollback()
        database.close()
        sweep(self.plan, "--output", file)  # which makes the others
        table = tether.sweep.read(file)
        np.testing.assert_array_equal(table["hash"], self.table["hash"])

    def test_a_plan_that_was_changed(self):
        file = self.folder / "changed.sqlite"
        sweep(self.plan, "--output", file)
        sweep(self.plan, "--output", file, "--extend", "--set", "repeat=1")
        self.assertEqual(len(tether.sweep.read(file)["run"]), 6)
        everything = tether.sweep.read(file, all_rows=True)
        np.testing.assert_array_equal(everything["run"], [*range(6), *[-1] * 6])
        self.assertEqual(set(everything["id"]), set(self.table["id"]))

    def test_what_is_no_table(self):
        letter = self.folder / "letter.sqlite"
        letter.write_text("dear reader, this is no database at all, but a letter" * 20, encoding="utf-8")
        other = self.folder / "other.sqlite"
        with sqlite3.connect(other) as database:
            database.execute("CREATE TABLE run (id)")
        database.close()
        for file in (letter, other, self.folder / "nowhere.sqlite", self.folder):
            with self.assertRaisesRegex(tether.InvalidError, str(file)):
                tether.sweep.read(file)
        with self.assertRaisesRegex(tether.NotFoundError, "no column 'wieght'; there are: id, run"):
            self.table["wieght"]
        self.assertNotIn("wieght", self.table)
        newer = self.folder / "newer.sqlite"
        newer.write_bytes(self.file.read_bytes())
        with sqlite3.connect(newer) as database:
            database.execute("UPDATE sweep SET value = 99 WHERE key = 'format'")
        database.close()
        with self.assertRaises(tether.OtherVersionError):
            tether.sweep.read(newer)

    def test_a_table_that_something_else_changed(self):
        changed = self.folder / "changed.sqlite"
        for statement in ("DELETE FROM sweep", "UPDATE sweep SET value = 'x' WHERE key = 'runs'", "DROP TABLE run",
                          "INSERT INTO run_column VALUES ('lost', 'axis', '')", "UPDATE run SET seed = 'x'", "UPDATE run SET seed = 1e300",
                          "UPDATE run SET wall_time = 'x'", "UPDATE run SET hash = x'ff'"):
            changed.write_bytes(self.file.read_bytes())
            with sqlite3.connect(changed) as database:
                database.execute(statement)
            database.close()
            with self.assertRaisesRegex(tether.InvalidError, "changed.sqlite: is no table of a sweep: ", msg=statement):
                tether.sweep.read(changed)

    def test_it_needs_no_library(self):
        script = f"import tether.sweep; print(len(tether.sweep.read({str(self.file)!r})['run']))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                              env={**built.ENVIRONMENT, "TETHER_LIBRARY": "/nowhere"})
        self.assertEqual((done.stdout, done.stderr), ("12\n", ""))


if __name__ == "__main__":
    unittest.main()
