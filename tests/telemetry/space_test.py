#!/usr/bin/env python3
"""Days that are over are packed by hand and by themselves, and unpacked: tables, the view and the documented queries say the same
as before, what comes late and again is stored once, and plain sqlite3 says what it needs."""
import pathlib
import re
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from support.telemetry import SOURCE, TETHER, Collector, wait_until

DAY = 86400  # s
EXTENSION = pathlib.Path(TETHER).parent / "tether-telemetry.so"
SETS = 360  # of a day


def tether(*arguments):
    """(status, what it says) of a command."""
    done = subprocess.run([TETHER, "telemetry", *arguments], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def message(device, sets, time_ms=400_000_000):
    """Of samples that many seconds before it: {seconds: attributes}."""
    inner = "".join(f"<Input time='{-1000 * ago}'><b {values}/></Input>" for ago, values in sets)
    return f"<MESSAGE id='{device}' time='{time_ms}'>{inner}</MESSAGE>"


def past(day):
    """Values every four minutes, of one day before."""
    return [(day * DAY + 240 * i, f"n='{i}' level='{(i * 37 % 100) / 10}' text='t{i % 7}'") for i in range(SETS)]


def queries():
    text = (SOURCE / "docs/telemetry.md").read_text(encoding="utf-8")
    found = [query for query in re.search(r"```sql\n(.*?)```", text, re.S)[1].split(";") if "SELECT" in query]
    assert len(found) == 5
    return found


def read(path, extension=True):
    """What plain sqlite3 says of the view and of the documented queries, each sorted."""
    answers = []
    for query in ("SELECT * FROM telemetry", *queries()):
        load = ["-cmd", f".load {EXTENSION}"] if extension else []
        done = subprocess.run(["sqlite3", "-batch", "-bail", "-readonly", "-quote", *load, path], input=query + ";", capture_output=True,
                              text=True, timeout=60, check=False)
        if done.returncode:
            raise sqlite3.OperationalError(done.stderr)
        answers.append(sorted(done.stdout.splitlines()))
    return answers


def count(path, table):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    finally:
        database.close()


class SpaceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/season.sqlite"
        self.store = f"sqlite:{self.path}"

    def fill(self, collector):
        for device in ("ROBO1", "ROBO2"):
            for day in (4, 2, 0):
                self.assertEqual(collector.request("POST", "/telemetry", message(device, past(day)[::-1]))[0], 200)

    def tables(self):
        """What a collector says of all days but this one, whose samples nothing seals."""
        with Collector(self.store) as collector:
            return collector.get("/telemetry.csv?to=-60+s"), collector.get("/telemetry.csv?to=-60+s&fields=Input.b.text&device=ROBO2")

    def test_by_hand(self):
        with Collector(self.store) as collector:
            self.fill(collector)
            status, text = tether("seal", self.store)
            self.assertEqual(status, 3, text)
            self.assertRegex(text, rf"process {collector.process.pid}\b")
        tables, view = self.tables(), read(self.path, extension=False)
        size = pathlib.Path(self.path).stat().st_size
        status, text = tether("seal", self.store)
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"^sealed \d+ values, which take [0-2]\.\d\d bytes each now; the store has [\d.]+ MB, before it had ")
        self.assertLess(pathlib.Path(self.path).stat().st_size, size)
        self.assertEqual(count(self.path, "pragma_freelist_count WHERE freelist_count > 0"), 0)  # the room was given back
        self.assertGreater(count(self.path, "segment"), 0)
        self.assertLess(count(self.path, "sample"), 2 * SETS + 1)  # of less than a day
        self.assertEqual(self.tables(), tables)
        self.assertEqual(read(self.path), view)
        with self.assertRaisesRegex(sqlite3.OperationalError, r"no such module: .*\.load "):
            read(self.path, extension=False)
        self.assertEqual(tether("seal", self.store), (0, "nothing to seal\n"))
        status, text = tether("unseal", self.store)
        self.assertRegex(text, r"^unsealed \d+ values; ")
        self.assertEqual((status, count(self.path, "segment"), count(self.path, "packed")), (0, 0, 0))
        self.assertEqual(read(self.path, extension=False), view)
        self.assertEqual(self.tables(), tables)

    def test_late_and_again(self):
        late = [(3 * DAY + 240 * i + 30, f"n='{-i}'") for i in range(100)] + [(2 * DAY + 240 * i, "late='1'") for i in range(100)]
        again = message("ROBO1", past(2)[::-1]), message("ROBO2", late[::-1])
        with Collector(self.store) as collector:
            self.fill(collector)
        self.assertEqual(tether("seal", self.store)[0], 0)
        with Collector(self.store) as collector:
            # A device whose clock is taken up where it was: the same moments are the same moments.
            for text in again + again:
                self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        view = read(self.path)
        self.assertEqual(len(view[0]), 2 * 3 * 3 * SETS + 200)
        tables = self.tables()
        self.assertEqual(tether("seal", self.store)[0], 0)
        self.assertEqual((read(self.path), self.tables()), (view, tables))
        with Collector(self.store) as collector:
            for text in again:
                self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
        self.assertEqual(read(self.path), view)
        self.assertEqual(tether("unseal", self.store)[0], 0)
        self.assertEqual(read(self.path, extension=False), view)

    def test_by_itself(self):
        with Collector(self.store) as collector:
            self.fill(collector)
        view = read(self.path, extension=False)
        with Collector(self.store, "telemetry.seal_after=1 s") as collector:
            wait_until(lambda: any("values of days that are over were packed" in line for line in collector.log), "days are packed")
            self.assertGreater(count(self.path, "segment"), 3)
            self.assertEqual(read(self.path), view)
            self.assertGreater(collector.status()["store_bytes"], 0)
            self.assertIsNone(collector.status()["advice"])
        self.assertEqual(read(self.path), view)

    def test_of_a_device_that_is_silent(self):
        """All that is stored is of a day that was over long before the collector began."""
        with Collector(self.store) as collector:
            silent = message("SILENT", [(2 * DAY - i, f"n='{i}'") for i in range(3)])
            self.assertEqual(collector.request("POST", "/telemetry", silent)[0], 200)
        with Collector(self.store, "telemetry.seal_after=1 s"):
            wait_until(lambda: count(self.path, "segment") and not count(self.path, "sample"), "its day is packed")

    def test_killed(self):
        with Collector(self.store) as collector:
            self.fill(collector)
        view = read(self.path, extension=False)
        for action in ("seal", "unseal"):
            for turn in range(3):
                with subprocess.Popen([TETHER, "telemetry", action, self.store], stdout=subprocess.DEVNULL) as process:
                    time.sleep(0.01 * turn)  # any moment will do
                    process.send_signal(signal.SIGKILL)
                self.assertEqual(read(self.path), view)
            self.assertEqual(tether(action, self.store)[0], 0)
            self.assertEqual(read(self.path), view)

    def test_refusals(self):
        for arguments, status, text in (
                ((), 2, "what is to be done is missing"), (("seel", self.store), 2, "did you mean 'seal'"),
                (("seal",), 2, "takes one STORE"), (("seal", self.store, "more"), 2, "takes one STORE"),
                (("seal", self.store), 1, "there is no such file"), (("seal", "none:"), 1, "packs nothing"),
                (("unseal", "postgresql://nobody@127.0.0.1:1/none"), 1, "packs nothing"), (("seal", "season"), 1, "sqlite:FILE")):
            with self.subTest(arguments=arguments):
                found = tether(*arguments)
                self.assertEqual(found[0], status, found[1])
                self.assertIn(text, found[1])
        self.assertFalse(pathlib.Path(self.path).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
