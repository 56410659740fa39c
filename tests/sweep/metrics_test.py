#!/usr/bin/env python3
"""Metrics and conditions in whole sweeps: what the table has of a signal whose course is known, the time itself."""
import math
import pathlib
import sqlite3
import tempfile
import unittest

from support.sweep import sweep, tether

TICK = 1 / 60

# What each metric of the time has to be after a second.
EXPECTED = {
    "end": ("signal: time, measure: final", 1, "s"),
    "least": ("signal: time, measure: least", 0, "s"),
    "mean": ("signal: time, measure: mean", 0.5, "s"),
    "rms": ("signal: time, measure: rms", math.sqrt(1 / 3 + TICK**2 / 6), "s"),
    "integral": ("signal: time, measure: integral", 0.5, "s·s"),
    "above": ("signal: time, measure: time_above, threshold: 250 ms", 0.75, "s"),
    "below": ("signal: time, measure: time_below, threshold: 1/4 s", 0.25, "s"),
    "settled": ("signal: time, measure: settling_time, target: 1 s, band: 100 ms", 0.9, "s"),
    "overshoot": ("signal: time, measure: overshoot, target: 0.8", 0.25, "1"),
    "rise": ("signal: time, measure: rise_time, target: 1 s", 0.8, "s"),
    "event": ("measure: event_time, when: time > 0.51 s and base.position < 10 rev", 31 * TICK, "s"),
    "samples": ("lua: count.lua, signals: [time], unit: ms", 0.061, "s"),
    "no_event": ("measure: event_time, when: time > 1 min", None, "s"),
    "no_overshoot": ("signal: time, measure: overshoot, target: 2 s", None, "1"),
    "no_rise": ("signal: time, measure: rise_time, target: 2 s", None, "s"),
    "not_settled": ("signal: time, measure: settling_time, target: 2 s, band: 0.5 s", None, "s"),
    "no_number": ("lua: nothing.lua, signals: [time]", None, "1"),
    "work": ("measure: energy, robot: gripper", 0, "J"),
    "way": ("distance: {of: ball, to: ball}, measure: greatest", 0, "m"),
}


def metrics(entries):
    return "metrics:\n" + "".join(f"  - {{name: {name}, {keys}}}\n" for name, keys in entries.items())


class Metrics(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("count.lua", "function measure(read, count) assert(read('time', count) == 1) return count end")
        self.write("nothing.lua", "function measure() return nil end")

    def write(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_what_is_known_is_in_the_table(self):
        plan = self.write("plan.yaml", "scene: gripper\nduration: 1 s\nrepeat: 2\naxes:\n  - {name: mode, value: [slow, fast]}\n"
                          "success: mode == 'fast' and settled < 1 s and overshoot > 20 % and not end > 2\n"
                          + metrics({name: keys for name, (keys, _, _) in EXPECTED.items()}))
        table = plan.with_suffix(".sqlite")
        found = sweep(plan, table, "--jobs", 2)
        self.assertEqual([row["success"] for row in found], [0, 0, 1, 1])
        for row in found:
            self.assertEqual((row["status"], row["error"] or ""), ("ok", ""))
            for name, (_, value, _) in EXPECTED.items():
                if value is None:
                    self.assertIsNone(row[name], name)
                else:
                    self.assertAlmostEqual(row[name], value, places=9, msg=name)
        with sqlite3.connect(table) as reader:
            units = dict(reader.execute("SELECT name, unit FROM run_column"))
        reader.close()
        self.assertEqual({name: units[name] for name in EXPECTED}, {name: unit for name, (_, _, unit) in EXPECTED.items()})

    def test_what_rests_touches_all_the_time(self):
        """Also while nothing is near, and when a robot comes and goes without touching it."""
        self.write("near.lua", """function control(read, write)
            local speed = read("time") % 2 < 1 and 4 or -4
            write("left_wheel.velocity", speed) write("right_wheel.velocity", speed) write("arm.velocity", 4 * (-1 - read("arm.position")))
        end""")
        plan = self.write("plan.yaml", "scene: frc2011\nduration: 4 s\ncontroller: {lua: near.lua}\n"
                          "set: {robots.frc2011.x: 1.30 m, robots.frc2011.y: 1.9 m, robots.frc2011.heading: 180 deg}\n" + metrics({
                              "ticks": "measure: contacts, between: [circle2, world], count: ticks",
                              "starts": "measure: contacts, between: [circle2, world]",
                              "touched": "measure: contacts, between: [frc2011, circle2]"}))
        row = sweep(plan, plan.with_suffix(".sqlite"))[0]
        self.assertEqual((row["ticks"], row["starts"], row["touched"]), (400, 1, 0))

    def test_a_run_ends_when_its_condition_holds(self):
        plan = self.write("plan.yaml", "scene: gripper\nduration: 1 s\nstop_when: time > 0.4 s or base.position > 100 rev\n"
                          "success: first <= 0.42 s and never < 1 s\n" + metrics({
                              "first": "signal: time, measure: greatest", "never": "measure: event_time, when: time > 0.45 s"}))
        row, = sweep(plan, plan.with_suffix(".sqlite"))
        self.assertAlmostEqual(row["simulated_time"], 25 * TICK)
        self.assertAlmostEqual(row["first"], 25 * TICK)
        self.assertEqual((row["status"], row["never"], row["success"]), ("ok", None, 0))  # what has no value decides nothing

    def test_a_function_that_fails_costs_its_row(self):
        self.write("fails.lua", "function measure(read, count)\n  return read('time', 2 * count)\nend")
        self.write("hangs.lua", "function measure() while true do end end")
        for file, status, says in (("fails.lua", "controller_failed", "metrics[1].lua: fails.lua:2: there is no sample"),
                                   ("hangs.lua", "limit", "metrics[1].lua: hangs.lua:1: it takes too many instructions")):
            plan = self.write("plan.yaml", "scene: gripper\nduration: 0.1 s\nsuccess: end > 0\n" + metrics({
                "end": "signal: time, measure: final", "own": f"lua: {file}, signals: [time], instructions: 100000"}))
            row, = sweep(plan, plan.with_name(file).with_suffix(".sqlite"))
            self.assertEqual((row["status"], row["own"], row["success"]), (status, None, 0))
            self.assertAlmostEqual(row["end"], 0.1)
            self.assertIn(says, row["error"])

    def test_a_mistake_is_told_before_anything_runs(self):
        for text, says in (("success: settled > 3 m\n", ":3: success: 'settled > 3 m'"),
                           ("success: setled > 3 s\n", "no axis and no metric is called 'setled'; did you mean 'settled'?"),
                           ("stop_when: time > 3 s and\n", ":3: stop_when: 'time > 3 s and', at its end: a value is missing"),
                           ("stop_when: base.positoin > 3\n", "did you mean 'base.position'?")):
            plan = self.write("plan.yaml", "scene: gripper\nduration: 1 s\n" + text + metrics({
                "settled": "signal: time, measure: settling_time, target: 1 s"}))
            status, _, said = tether("sweep", plan)
            self.assertEqual(status, 1, said)
            self.assertIn(says, said)
            self.assertFalse(plan.with_suffix(".sqlite").exists())


if __name__ == "__main__":
    unittest.main()
