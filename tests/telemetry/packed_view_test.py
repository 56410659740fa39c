#!/usr/bin/env python3
"""The five queries of docs/telemetry.md in plain sqlite3, before and after days were sealed: the same bytes with the extension, an
error that says what to load without it."""
import pathlib
import re
import subprocess
import tempfile
import unittest

from support.telemetry import SOURCE, TETHER, Collector

EXTENSION = pathlib.Path(TETHER).parent / "tether-telemetry.so"
DAY, HOUR = 86_400_000, 3_600_000  # ms


def queries():
    text = (SOURCE / "docs/telemetry.md").read_text(encoding="utf-8")
    found = [query.strip() + ";" for query in re.search(r"```sql\n(.*?)```", text, re.DOTALL)[1].split(";") if "SELECT" in query]
    assert len(found) == 5
    return found


def sqlite(path, query, *commands):
    """(status, what it says, its errors)"""
    before = [word for command in commands for word in ("-cmd", command)]
    done = subprocess.run(["sqlite3", "-batch", "-bail", "-readonly", *before, path], input=query, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def message(device, boot, begin, count):
    """Some minutes of samples, of more than two days ago: a device's clock begins at 0."""
    sets = "".join(
        f"<Output time='{begin + 7003 * i}'><drive velocity='{(i * 37 % 1000 - 500) / 100}'/><state name='s{i // 9 % 4}'/></Output>"
        f"<Input time='{begin + 7003 * i}'><battery level='{12.6 - i % 83 / 100:.2f}'/></Input>" for i in range(count))
    return f"<MESSAGE id='{device}' boot='{boot}' time='{3 * DAY}'>{sets}</MESSAGE>"


class PackedView(unittest.TestCase):
    def test_five_queries(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/season.sqlite"
            with Collector(f"sqlite:{path}") as collector:
                for begin in (HOUR, 2 * HOUR, 25 * HOUR):  # the devices take turns
                    for device in "ROBO1", "ROBO2":
                        for boot in "a", "b":
                            sent = message(device, boot, begin + (boot == "b") * HOUR // 2, 200)
                            self.assertEqual(collector.request("POST", "/telemetry", sent)[0], 200)
                collector.put("/telemetry/attributes/Output.drive.velocity", {"name": "Speed"})
                collector.put("/telemetry/devices/ROBO2", {"name": "Red robot"})
            before = [sqlite(path, query) for query in queries()]
            for query, (status, said, errors) in zip(queries(), before):
                self.assertEqual((status, errors), (0, ""), query)
                self.assertGreater(len(said.splitlines()), 1, query)
            self.tether("seal", path)
            self.assertEqual(sqlite(path, "SELECT count(*) FROM value")[1], "0\n")
            for commands in (f".load {EXTENSION}",), ("PRAGMA trusted_schema = OFF", f".load {EXTENSION}"):
                self.assertEqual([sqlite(path, query, *commands) for query in queries()], before)
            for query in queries():
                status, said, errors = sqlite(path, query)
                self.assertEqual((status != 0, said), (True, ""))
                self.assertRegex(errors, r"no such module: .*\.load /usr/lib/tether/tether-telemetry\.so")
            self.tether("unseal", path)
            self.assertEqual([sqlite(path, query) for query in queries()], before)

    def tether(self, action, path):
        done = subprocess.run([TETHER, "telemetry", action, f"sqlite:{path}"], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
