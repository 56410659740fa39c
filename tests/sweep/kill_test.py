#!/usr/bin/env python3
"""Sweeps that are killed at any time: no row that was there is lost or changes, none is there twice, and no process stays."""
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from support.process import PATIENCE, TETHER, wait_for
from support.sweep import descendants, rows, state_of, sweep, workers

TOTAL = 1000 if os.environ.get("TETHER_LONG") else 1
KILLS = 12  # of one sweep
RUNS = 36 * KILLS

PLAN = f"""
scene: gripper
duration: 20 ms
axes:
  - {{name: damping, set: models.gripper.joints.base.damping, range: [0, 10], count: {RUNS // 4}}}
repeat: 4
keep: {{best: 2, metric: base, order: greatest}}
metrics:
  - {{name: base, signal: base.position, measure: final}}
"""

CHANCE = random.Random(1)


def is_made(table):
    """Whether it was there long enough to be a table."""
    if not table.exists():
        return False
    # Who only reads can't look into a file whose writer was killed while it changed the kind of its journal: that is for the
    # next who writes to put right.
    for mode in "ro", "rw":
        reader = sqlite3.connect(f"file:{table}?mode={mode}", uri=True, timeout=PATIENCE)
        try:
            return bool(reader.execute("SELECT count(*) FROM sqlite_master WHERE name = 'run'").fetchone()[0])
        except sqlite3.OperationalError as error:
            if mode == "rw":
                raise
            print(f"{table}: {error}; {sorted(path.name for path in table.parent.iterdir())}", file=sys.stderr)
        finally:
            reader.close()
    return False


def there(table):
    """{id: row}; and no id twice."""
    found = rows(table, leave_out=()) if is_made(table) else []
    by_id = {row["id"]: row for row in found}
    assert len(by_id) == len(found)
    return by_id


class Killed(unittest.TestCase):
    def kill(self, plan, table, least):
        """Ends a sweep at any time, but where `least` is given not before the table has so many rows. False: it was done before."""
        process = subprocess.Popen([TETHER, "sweep", plan, "--output", table, "--jobs", "3", "--quiet"], stderr=subprocess.PIPE)
        wait_for(lambda: workers(process.pid) or process.poll() is not None, "a worker")
        if least is not None:
            wait_for(lambda: len(there(table)) >= least or process.poll() is not None, "a row")
        time.sleep(CHANCE.uniform(0, 0.2))
        family = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
        wait_for(lambda: not any(map(state_of, family)), f"the end of {family}")
        self.assertIn(process.returncode, (0, -signal.SIGKILL), said)
        return process.returncode != 0

    def finish(self, folder, plan, table, before):
        sweep(plan, table)
        last = there(table)
        self.assertEqual(len(last), RUNS)
        self.assertEqual({number: last[number] for number in before}, before)
        kept = {path.stem for path in folder.rglob("*.wpilog")}
        best = sorted(last.values(), key=lambda row: (-row["base"], row["run"]))[:2]
        self.assertEqual(kept, {row["id"] for row in best})

    def kill_one_sweep(self, folder):
        """Until it was killed often enough, or is done; then it is brought to its end. How often it was killed."""
        plan, table, before, kills = folder / "plan.yaml", folder / "plan.sqlite", {}, 0
        plan.write_text(PLAN, encoding="utf-8")
        # Every other time something was made before.
        while kills < KILLS and self.kill(plan, table, len(before) + 1 if kills % 2 else None):
            kills += 1
            now = there(table)
            self.assertEqual({each: now.get(each) for each in before}, before)
            before = now
        self.assertGreater(kills, 0)  # a machine that is fast, or slow now and then, may be done soon
        self.finish(folder, plan, table, before)
        return kills

    def test_nothing_is_lost_and_nobody_stays(self):
        kills = 0
        while kills < TOTAL:
            with tempfile.TemporaryDirectory() as folder:
                kills += self.kill_one_sweep(pathlib.Path(folder))
        print(f"{kills} kills", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
