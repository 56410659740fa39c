#!/usr/bin/env python3
"""Buckets that PostgreSQL keeps, and its views, say what the samples say: at every moment, whoever writes, removes, is killed or
commits when."""
import collections
import contextlib
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest

from support.telemetry import LONG, SOURCE, TETHER, Collector, WithStores, message, wait_until

HOUR = 3_600_000_000
LENGTHS = {"minute": HOUR // 60, "hour": HOUR, "day": 24 * HOUR}
EPOCH_US = "(extract(epoch FROM {}) * 1000000)::bigint"
SAMPLES = (f"SELECT 'sample', device_identifier, attribute_identifier, epoch, device_time, {EPOCH_US.format('time')}, number, text"
           " FROM tether.telemetry")
LATEST = SAMPLES.replace("'sample'", "'latest'").replace("tether.telemetry", "tether.telemetry_latest")
# In the order in which the last of one time is told.
ORDERED = """SELECT 'sample', d.identifier, a.identifier, v.epoch, v.device_time, (extract(epoch FROM v.time) * 1000000)::bigint,
  v.number, v.text FROM tether.any_value v JOIN tether.device d ON d.id = v.device JOIN tether.attribute a ON a.id = v.attribute
  ORDER BY v.time, v.epoch, v.device_time, v.nth"""
OVER = "FROM tether.marked_hour WHERE hour < now() - interval '61 minutes'"


def buckets_query(size):
    return (f"SELECT '{size}', device_identifier, attribute_identifier, {EPOCH_US.format('time')}, count, least, greatest, mean,"
            f" last, {EPOCH_US.format('last_time')} FROM tether.telemetry_{size}")


def expected(samples):
    """What the views are to say, by what the samples of one moment say."""
    said = {size: collections.defaultdict(list) for size in LENGTHS}
    latest = {}
    for device, attribute, epoch, device_time, when, number, text in samples:
        latest[device, attribute] = (epoch, device_time, when, number, text)
        for size, length in LENGTHS.items():
            if number:
                said[size][device, attribute, int(when) // length * length].append((float(number), int(when)))
    tables = {size: {key: (len(rows), min(n for n, _ in rows), max(n for n, _ in rows), sum(n for n, _ in rows) / len(rows), *rows[-1])
                     for key, rows in found.items()} for size, found in said.items()}
    return {**tables, "latest": latest}


class Buckets(WithStores):
    def setUp(self):
        self.url = self.stores.url("postgresql")
        self.postgres = self.stores.postgres

    def collector(self):
        return Collector(self.url, *self.stores.settings("postgresql"))

    def check(self):
        """Everything, of one moment; returns how many buckets there are."""
        rows = self.postgres.query(";".join(["BEGIN ISOLATION LEVEL REPEATABLE READ", ORDERED, *map(buckets_query, LENGTHS), LATEST,
                                             "COMMIT"]))
        tables = {size: {} for size in [*LENGTHS, "latest"]}
        samples = []
        for kind, *row in rows:
            if kind == "sample":
                samples.append(row)
            elif kind == "latest":
                tables[kind][row[0], row[1]] = tuple(row[2:])
            else:
                device, attribute, start, count, *numbers, last_time = row
                tables[kind][device, attribute, int(start)] = (int(count), *map(float, numbers), int(last_time))
        for kind, table in expected(samples).items():
            self.assertEqual(tables[kind], table, kind)
        return {kind: len(table) for kind, table in tables.items()}

    def wait_made(self):
        wait_until(lambda: self.postgres.query("SELECT count(*) " + OVER) == [["0"]], "buckets of all hours that are over", 60)

    def check_made(self):
        """They are kept, and are what is shown."""
        self.wait_made()
        self.check()
        for size, length in LENGTHS.items():
            kept = f"SELECT count(*) FROM tether.{size}_bucket WHERE count > 0"
            over = f"time + interval '{length // 1_000_000} seconds' < now() - interval '61 minutes'"
            self.assertEqual(self.postgres.query(f"{kept} AND {over}"),
                             self.postgres.query(f"SELECT count(*) FROM tether.telemetry_{size} WHERE {over}"), size)

    def test_retention_of_what_another_collector_stored(self):
        """A first sample that is old, stored by another collector, does not look like a clock that is ahead."""
        with self.collector() as first, self.collector() as second:
            text = message("A", 0, [("S", -7 * 3_600_000, {"d": {"n": 1}}), ("S", -5 * 3_600_000, {"d": {"n": 2}})])
            self.assertEqual(first.request("POST", "/telemetry", text)[0], 200)
            wait_until(lambda: second.status()["devices"], "the other collector knows the device")
            second.put("/telemetry/handling/S.d.n", {"retention": 6 * 3600})
            wait_until(lambda: self.postgres.query("SELECT number FROM tether.telemetry") == [["2"]], "the old one is removed", 60)

    def test_random(self):
        """Two collectors, samples of a day and a half, late and repeated ones, values removed, collectors killed."""
        seed = int(os.environ.get("TETHER_SEED") or random.randrange(1 << 32))
        dice = random.Random(seed)
        print("seed", seed)
        collectors = [self.collector() for _ in range(2)]
        sent = []
        try:
            for turn in range(600 if LONG else 3):
                for _ in range(5):
                    sent.append(self.random_message(dice, int(1000 * time.monotonic())))
                    collector = dice.choice(collectors)
                    for text in (sent[-1], *dice.sample(sent, min(2, len(sent)))):
                        self.assertEqual(collector.request("POST", "/telemetry", text)[0], 200)
                self.check()
                if turn % 3:
                    which = dice.randrange(2)
                    time.sleep(dice.uniform(0, 0.2))
                    collectors[which].kill()
                    collectors[which] = self.collector()
                if turn % 3 != 1:
                    hours = dice.randrange(10, 30)
                    collectors[0].put("/telemetry/handling/S.d.n0", {"retention": hours * 3600})
                    # What a busy machine leaves of it goes half a minute later.
                    wait_until(lambda hours=hours: self.is_removed(hours), "old values are removed", 90)
                    collectors[0].request("DELETE", "/telemetry/handling/S.d.n0")
                self.check()
            self.check_made()
        finally:
            for collector in collectors:
                collector.close()
        # In steps that begin and end within minutes.
        self.postgres.query("INSERT INTO tether.marked_hour SELECT device, time, 0 FROM tether.hour_bucket GROUP BY 1, 2 LIMIT 4")
        self.make("47 s")
        self.check_made()

    def is_removed(self, hours):
        self.check()
        return self.postgres.query("SELECT count(*) FROM tether.telemetry WHERE attribute = 'S.d.n0'"
                                   f" AND time < now() - interval '{hours} hours 5 minutes'") == [["0"]]

    @staticmethod
    def random_message(dice, clock):
        """Of a device, with samples that are up to 36 hours old, one of now (a collector that starts without would wait with
        what is old: its clock could be ahead); their values add up without rounding."""
        samples = []
        around = dice.randrange(36 * 3600)
        for nth in range(dice.randrange(1, 7)):
            age = dice.choice([dice.randrange(60), around, around + dice.randrange(100), dice.randrange(36 * 3600)]) if nth else 0
            values = {f"n{i}": dice.randrange(-400, 400) / 4 for i in range(3) if dice.random() < 0.6}
            if dice.random() < 0.2 or not values:
                values["n2"] = dice.choice("abc")
            samples.append(("S", -1000 * age, {"d": values}))
        return message(dice.choice("AB"), clock, samples, True)

    @contextlib.contextmanager
    def session(self, **environment):
        """psql, that is told what to do line by line; yields a function that returns what it prints, nothing once it has ended."""
        process = subprocess.Popen([self.postgres.binaries / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env={**os.environ, **environment})

        def ask(sql):
            process.stdin.write(sql + ";\n\\echo done\n")
            process.stdin.flush()
            return [line.rstrip("\n") for line in itertools.takewhile(lambda line: line not in ("done\n", ""),
                                                                       iter(process.stdout.readline, None))]
        try:
            yield ask
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            process.wait(20)

    def make(self, step="1 hour"):
        """What whoever tends does."""
        self.postgres.query(f"DO 'BEGIN WHILE (SELECT made FROM tether.make_buckets(''{step}'')) LOOP END LOOP; END'")

    def make_all(self):
        wait_until(lambda: self.make() or self.postgres.query("SELECT count(*) " + OVER) == [["0"]], "sessions that ended are gone")

    def test_a_writer_commits_last(self):
        """Its samples are in no bucket that was made while it was writing; its mark stays."""
        with self.collector() as collector:
            self.assertEqual(collector.request("POST", "/telemetry", message("A", 10_000_000, [("S", -7_200_000, {"d": {"n": 1}})]))[0],
                             200)
        self.make_all()
        with self.session() as writer:
            hour = self.postgres.query("SELECT time FROM tether.hour_bucket")[0][0]
            marker = writer("SELECT n FROM (SELECT nextval('tether.marker') AS n OFFSET 0) s, pg_advisory_lock(7604, n::integer)")[0]
            writer(f"BEGIN; INSERT INTO tether.marked_hour VALUES (1, '{hour}', {marker})")
            writer("INSERT INTO tether.value SELECT device, epoch, device_time + 1, attribute, day,"
                   " time + interval '1 microsecond', 5, NULL FROM tether.value")
            # Another one marks the hour, and it is made.
            self.postgres.query(f"INSERT INTO tether.marked_hour VALUES (1, '{hour}', 0)")
            self.make()
            self.check()
            writer("COMMIT")
            self.assertEqual(self.check()["hour"], 1)
            self.assertEqual(self.postgres.query("SELECT count FROM tether.telemetry_hour"), [["2"]])
            self.assertEqual(self.postgres.query("SELECT count FROM tether.hour_bucket"), [["1"]])
            # As long as it lives it may write more of that hour, for which it needs no other mark.
            self.postgres.query(f"INSERT INTO tether.marked_hour VALUES (1, '{hour}', 0)")
            self.make()
            self.assertEqual(self.postgres.query("SELECT count FROM tether.hour_bucket"), [["2"]])
            self.assertEqual(self.postgres.query(f"SELECT marker {OVER}"), [[marker]])
            writer("DELETE FROM tether.value WHERE number = 5")
            self.assertEqual(self.check()["hour"], 1)
            self.assertEqual(self.postgres.query("SELECT count FROM tether.telemetry_hour"), [["1"]])
        # What it had marked is anybody's.
        self.make_all()
        self.check_made()

    def test_making_takes_too_long(self):
        """It is given up in time, and costs neither the connection nor what comes meanwhile."""
        with self.collector() as collector, self.session() as other:
            other("BEGIN; LOCK TABLE tether.minute_bucket IN EXCLUSIVE MODE")
            log = pathlib.Path(f"{self.postgres.folder}.log")
            clock = 10_000_000
            while "canceling statement due to statement timeout" not in log.read_text(encoding="utf-8"):
                clock += 50
                self.assertEqual(collector.request("POST", "/telemetry", message("A", clock, [("S", -7_200_000, {"d": {"n": 1}})]))[0],
                                 200)
                time.sleep(0.05)
            self.check()
            other("COMMIT")
            self.check_made()
            self.assertEqual(collector.status()["spooled_bytes"], 0)
            self.assertFalse([line for line in collector.log if "warning" in line], collector.log)

    def rows_read(self, query):
        """What `query` answers, and how many rows of samples that takes."""
        with self.session() as ask:
            ask("BEGIN; SET enable_seqscan = off")
            answer = ask(query)
            return answer, int(ask("SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
                                   " WHERE relname LIKE 'value%'")[0])

    def test_what_is_said_rarely_is_found_at_once(self):
        """Its newest value is not looked for among all that the device has said since: nor where it was changed or removed by hand, or
        comes late, is another one taken for it."""
        often = [("S", -1000 * age, {"d": {"often": age}}) for age in range(3000)]
        with self.collector() as collector:
            def send(clock, samples):
                self.assertEqual(collector.request("POST", "/telemetry", message("A", clock, samples))[0], 200)

            def newest():
                self.check()
                return self.rows_read("SELECT number FROM tether.telemetry_latest WHERE attribute_identifier = 'S.d.rare'")
            send(10_000_000, often + [("S", -2_900_000, {"d": {"rare": 1}})])
            answer, read = newest()
            self.assertEqual(answer, ["1"])
            self.assertLess(read, 400)
            send(10_000_000, [("S", -2_950_000, {"d": {"rare": 2}})])  # late
            self.assertEqual(newest()[0], ["1"])
            # A hand that marks what it changes.
            self.postgres.query("BEGIN; INSERT INTO tether.value SELECT device, epoch, device_time + 1200000000, attribute, day,"
                                " time + interval '20 minutes', 3, NULL FROM tether.value WHERE number = 1 AND attribute ="
                                " (SELECT id FROM tether.attribute WHERE identifier = 'S.d.rare');"
                                " INSERT INTO tether.marked_hour SELECT device, date_bin('1 hour', time, timestamptz '0001-01-01 00:00:00Z'), 0"
                                " FROM tether.value WHERE number = 3 GROUP BY 1, 2; COMMIT")
            self.assertEqual(newest()[0], ["3"])
            collector.remove("/telemetry/devices/A?data=yes&attribute=S.d.rare&from=-2890+s")
            self.assertEqual(newest()[0], ["1"])
            send(10_001_000, [("S", 0, {"d": {"rare": 4}})])
            self.assertEqual(newest()[0], ["4"])
        # Of schema 6.
        self.postgres.query("DROP TABLE tether.newest; UPDATE tether.schema_version SET version = 6;"
                            " DELETE FROM tether.marked_hour WHERE marker = 0")
        with self.collector():
            answer, read = newest()
            self.assertEqual(answer, ["4"])
            self.assertLess(read, 400)

    def test_an_older_database(self):
        """One of schema 4: its buckets are right at once, and made in the background; a newer one is refused."""
        for part in "schema", "day":
            self.postgres.run_file(SOURCE / f"tests/telemetry/{part}_4_postgres.sql")
        before = self.postgres.query("SELECT * FROM tether.telemetry ORDER BY 2, 3, 4")
        self.assertEqual(len(before), 7)
        # An older program that is just writing marks nothing: it is sent away, and does not come back.
        with self.session(PGAPPNAME="tether") as older:
            older("BEGIN; INSERT INTO tether.value SELECT device, epoch, device_time + 1, attribute, day, time, 7, NULL FROM tether.value")
            with self.collector() as collector:
                self.assertEqual(self.check(), {"minute": 1, "hour": 1, "day": 1, "latest": 2})
                self.assertEqual(older("COMMIT"), [])
                self.assertEqual(self.postgres.query("SELECT * FROM tether.telemetry ORDER BY 2, 3, 4"), before)
                self.check_made()
                wait_until(lambda: re.search(r"made by an older Tether \(schema 4\) and brought to schema 9 now",
                                             "".join(collector.log)), "it says so")
        self.postgres.query("UPDATE tether.schema_version SET version = 10")
        refused = subprocess.run([TETHER, "collect", "--store", self.url, "--set", "telemetry.spool=" + self.stores.file("spool")],
                                 capture_output=True, text=True, check=False, timeout=60)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("made by a newer Tether", refused.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
