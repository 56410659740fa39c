#!/usr/bin/env python3
"""Sweeps that are killed at any time: no row that was there is lost or changes, none is there twice, and no process stays."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

from support.process import TETHER, wait_for
from support.sweep import descendants, rows, state_of, sweep, workers

KILLS = 1000 if os.environ.get("TETHER_LONG") else 12
RUNS = 32 * KILLS

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


def there(table):
    """{id: row}; and no id twice."""
    if not table.exists() or table.stat().st_size == 0:
        return {}
    found = rows(table, leave_out=())
    by_id = {row["id"]: row for row in found}
    assert len(by_id) == len(found)
    return by_id


class Killed(unittest.TestCase):
    def test_nothing_is_lost_and_nobody_stays(self):
        chance = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            plan, table = pathlib.Path(folder) / "plan.yaml", pathlib.Path(folder) / "plan.sqlite"
            plan.write_text(PLAN, encoding="utf-8")
            before = {}
            for kill in range(KILLS):
                process = subprocess.Popen([TETHER, "sweep", plan, "--output", table, "--jobs", "3", "--quiet"], stderr=subprocess.PIPE)
                wait_for(lambda: workers(process.pid) or process.poll() is not None, "a worker")
                if kill % 2:  # else it may well be killed before anything is durable
                    wait_for(lambda count=len(before): len(there(table)) > count, "a row")
                time.sleep(chance.uniform(0, 0.2))
                family = descendants(process.pid)
                process.send_signal(signal.SIGKILL)
                said = process.communicate()[1]
                self.assertEqual(process.returncode, -signal.SIGKILL, said)
                wait_for(lambda who=family: not any(map(state_of, who)), f"the end of {family}")
                now = there(table)
                for number, row in before.items():
                    self.assertEqual(now.get(number), row)
                before = now
            self.assertGreater(len(before), 0)
            self.assertLess(len(before), RUNS)
            sweep(plan, table)
            last = there(table)
            self.assertEqual(len(last), RUNS)
            self.assertEqual({number: last[number] for number in before}, before)
            kept = {path.stem for path in pathlib.Path(folder).rglob("*.wpilog")}
            best = sorted(last.values(), key=lambda row: (-row["base"], row["run"]))[:2]
            self.assertEqual(kept, {row["id"] for row in best})


if __name__ == "__main__":
    unittest.main()
