#!/usr/bin/env python3
"""Tables for plots and for people: points and buckets that are what the samples say, pages that stay while samples come,
times in zones, the latest of everything. Whatever is compared is computed here from the plain table."""
import concurrent.futures
import contextlib
import csv
import datetime
import io
import json
import math
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import time
import unittest
import urllib.parse
import zoneinfo

from support.clickhouse import is_installed
from support.telemetry import LONG, SOURCE, Collector, WithStores, message, wait_until

LENGTHS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
US = 1_000_000


def utc(text):
    """µs UTC."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def fold(samples, length):
    """{(device, start): {field: (least, greatest, mean, count, last)}} of (device, µs, {field: number})."""
    stretches = {}
    for device, time, values in samples:
        for field, value in values.items():
            of = stretches.setdefault((device, time - time % length), {}).setdefault(field, [])
            of.append((time, value))
    return {key: {field: (min(v for _, v in of), max(v for _, v in of), math.fsum(v for _, v in of) / len(of), len(of),
                          max(reversed(of), key=lambda pair: pair[0])[1]) for field, of in fields.items()}
            for key, fields in stretches.items()}


class Tables(WithStores):
    """One collector with two hours of two devices, some of it text, one of them restarted."""
    KIND = "sqlite"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.collector = Collector(cls.stores.url(cls.KIND), *cls.stores.settings(cls.KIND))
        cls.collector.put("/telemetry/attributes/S.d.speed", {"name": "Speed", "unit": "m/s"})
        cls.collector.put("/telemetry/devices/A", {"name": "Anna"})
        chance = random.Random(1)
        for device, boot, clock, count in ("A", 1, 10_000_000, 900), ("B", 1, 20_000_000, 400), ("B", 2, 9_000_000, 300):
            newest, oldest = (5_000, 7_000_000) if boot == 1 else (1, 3_000_000)  # ms ago; what was held up comes late
            sets = []
            for when in sorted(-chance.randrange(newest, oldest) for _ in range(count)):
                values = {"speed": round(chance.gauss(0, 10), 2)}
                if chance.random() < 0.3:
                    values["mode" if chance.random() < 0.5 else "turn"] = chance.choice(["1", "2.5", "-7"])
                if device == "A":
                    values["note"] = chance.choice(["on", "off"])
                sets.append(("S", when, {"d": values}))
            text = message(device, clock, sets).replace(" time='%d'>" % clock, f" time='{clock}' boot='{boot}'>", 1)
            status, answer = cls.collector.request("POST", "/telemetry", text)
            assert status == 200, answer
        table = cls.collector.table("time=iso")
        cls.fields = table["header"][2:]
        cls.records = [(record[0], utc(record[1]), dict(zip(cls.fields, record[2:]))) for record in table["records"]]
        cls.numbers = [(device, time, {field: value for field, value in values.items() if isinstance(value, (int, float))})
                       for device, time, values in cls.records]
        cls.first, cls.last = (function(time for _, time, _ in cls.records) for function in (min, max))

    @classmethod
    def tearDownClass(cls):
        cls.collector.close()
        super().tearDownClass()

    def stretches(self, query, values):
        """{(device, start): {field: values}} of a wide table, whose order and columns are looked at."""
        table = self.collector.table(query)
        fields = [name.rsplit(" ", 1)[0] for name in table["header"][2::len(values)]]
        self.assertEqual(table["header"], ["Device", "Time"] + [f"{field} {value}" for field in fields for value in values])
        times = [utc(record[1]) for record in table["records"]]
        self.assertEqual(times, sorted(times))
        found = {}
        for record, time in zip(table["records"], times):
            cells = {}
            for i, field in enumerate(fields):
                of_it = record[2 + i * len(values):2 + (i + 1) * len(values)]
                if of_it != [None] * len(values):
                    cells[field] = tuple(of_it)
            self.assertNotIn((record[0], time), found)
            found[record[0], time] = cells
        return found

    def assert_buckets(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for key, fields in expected.items():
            self.assertEqual(found[key].keys(), fields.keys(), key)
            for field, (least, greatest, mean, count, last) in fields.items():
                it = found[key][field]
                self.assertEqual((it[0], it[1], it[3], it[4]), (least, greatest, count, last), (key, field))
                self.assertAlmostEqual(it[2], mean, places=9)

    def test_buckets_are_what_the_samples_say(self):
        values = ["least", "greatest", "mean", "count", "last"]
        for size, seconds in LENGTHS.items():
            self.assert_buckets(self.stretches(f"bucket={size}", values), fold(self.numbers, seconds * US))
        some = [(device, time, {"Speed": numbers["Speed"]}) for device, time, numbers in self.numbers if device == "B"]
        self.assert_buckets(self.stretches("bucket=minute&device=B&fields=Speed", values), fold(some, 60 * US))

    def test_buckets_of_a_span_are_whole(self):
        """Those in which a part of the span lies."""
        middle = (self.first + self.last) // 2
        start, end = middle - middle % (60 * US), (middle + 600 * US) // (60 * US) * 60 * US + 60 * US
        part = [sample for sample in self.numbers if start <= sample[1] < end]
        found = self.stretches(f"bucket=minute&from={middle}&to={middle + 600 * US}",
                               ["least", "greatest", "mean", "count", "last"])
        self.assert_buckets(found, fold(part, 60 * US))

    def test_points_are_the_least_and_greatest_of_stretches(self):
        for points, span in (2, 7000), (10, 7000), (100, 7000), (300, 7000), (2000, 7000), (500, 60), (100_000, 7000), (7, 1):
            start = self.last - span * US
            query = f"points={points}&from={start}&to={self.last}"
            found = self.stretches(query, ["least", "greatest"])
            starts = sorted({start for _, start in found})
            for device in "Anna", "B":
                self.assertLessEqual(sum(name == device for name, _ in found), points)
            least = (self.last - start) // (points - 1) + 1
            least = 60 * US if 15 * US <= least < 60 * US else least  # minutes are kept, seconds are not
            size = max((seconds for seconds in LENGTHS.values() if seconds * US <= least), default=0) * US
            length = -(-least // size) * size if size else least
            begin = start - start % length
            inside = [sample for sample in self.numbers if begin <= sample[1] < self.last - self.last % length + length]
            expected = {key: {field: numbers[:2] for field, numbers in fields.items()}
                        for key, fields in fold(inside, length).items()}
            self.assertEqual(found, expected, query)
            self.assertLessEqual(begin, starts[0])

    def test_points_of_all_there_is(self):
        found = self.stretches("points=1000", ["least", "greatest"])
        self.assertGreater(len({time for _, time in found}), 300)
        for field in "Speed", "S.d.turn":
            for i, function in enumerate((min, max)):
                self.assertEqual(function(cells[field][i] for cells in found.values() if field in cells),
                                 function(numbers[field] for _, _, numbers in self.numbers if field in numbers))

    def test_a_tall_table_has_a_record_for_each_field(self):
        wide = self.stretches("bucket=hour", ["least", "greatest", "mean", "count", "last"])
        rows = list(csv.DictReader(io.StringIO(self.collector.get("/telemetry.csv?bucket=hour&shape=tall"))))
        self.assertEqual(len(rows), sum(map(len, wide.values())))
        for row in rows:
            cells = wide[row["Device"], utc(row["Time"])][row["Field"]]
            for name, cell in zip(("least", "greatest", "mean", "count", "last"), cells):
                self.assertAlmostEqual(float(row[name]), cell, places=0 if name == "count" else 9)
        tall = self.collector.table("time=iso&shape=tall")
        self.assertEqual(tall["header"], ["Device", "Time", "Field", "Value"])
        self.assertEqual([(device, utc(time), field, value) for device, time, field, value in tall["records"]],
                         [(device, time, field, value) for device, time, values in self.records
                          for field, value in values.items() if value is not None])

    def test_names_with_commas_and_backslashes(self):
        with Collector(self.stores.url(self.KIND), *self.stores.settings(self.KIND)) as collector:
            for n, name in enumerate(("a", "b", "a,b", "a\\", "\\,", "a\\,b")):
                self.assertEqual(collector.request("POST", "/telemetry", message(name, 1, [("S", 0, {"d": {"n": n, "m": n}})]))[0], 200)
            collector.put("/telemetry/attributes/S.d.n", {"name": "up, down"})

            def read(**query):
                table = collector.table(urllib.parse.urlencode(query))
                return table["header"][2:], [(record[0], *record[2:]) for record in table["records"]]
            for device, names in (r"a\,b", ["a,b"]), ("a,b", ["a", "b"]), (r"a\\,b", ["a\\", "b"]), ("a\\", ["a\\"]), (r"\\\,", ["\\,"]), (r"a\\\,b", ["a\\,b"]):
                self.assertEqual(sorted(record[0] for record in read(device=device)[1]), names, device)
            self.assertEqual(read(device=r"a\,b", fields=r"up\, down"), (["up, down"], [("a,b", 2)]))

    def test_nothing_is_a_table_without_records(self):
        for query in "bucket=hour&from=5&to=6", "points=5&from=5&to=6", "order=newest&from=5&to=6&count=yes", \
                     "bucket=second&fields=S.d.note":
            self.assertEqual(self.collector.table(query)["records"], [], query)

    def test_limits_of_buckets(self):
        table = self.collector.table("bucket=second&limit=5")
        self.assertEqual(table["records"], self.collector.table("bucket=second")["records"][:5])

    def test_xml_and_its_dtd(self):
        for query in "points=10", "bucket=hour", "order=newest&limit=3", "shape=tall&limit=3":
            subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", SOURCE / "docs/telemetry.dtd", "-"],
                           input=self.collector.get("/telemetry.xml?" + query).encode(), check=True)

    def test_buckets_of_moments_decades_apart(self):
        """What lies between them is skipped, however short a bucket is: a second each of a quarter of a century."""
        with Collector(self.stores.url(self.KIND), *self.stores.settings(self.KIND)) as collector:
            years = [datetime.datetime(year, 7, 3, 4, 5, 6, tzinfo=datetime.timezone.utc) for year in range(2001, 2026, 4)]
            lines = "\n".join(f"m,device=old x={n} {int(when.timestamp())}" for n, when in enumerate(years))
            self.assertEqual(collector.request("POST", "/write?precision=s", lines)[0], 204)
            for bucket, length in LENGTHS.items():
                table = collector.table(f"device=old&bucket={bucket}&from={years[0].isoformat()[:19]}Z")
                starts = [int(when.timestamp()) // length * length * US for when in years]
                self.assertEqual([(utc(record[1]), record[-1]) for record in table["records"]], list(zip(starts, range(len(years)))))

    def test_what_excludes_what(self):
        for bad, reason in (
                ("points=1", "points"), ("points=100001", "points"), ("points=many", "points"), ("from=2026", "'2026' is no time; give ISO 8601"), ("bucket=week", "second, minute"),
                ("points=5&bucket=day", "exclude"), ("points=5&order=newest", "order"), ("bucket=day&count=yes", "count"),
                ("bucket=day&fill=previous", "fill"), ("bucket=day&origin=device", "origin"), ("points=5&time=clock", "origin"),
                ("order=newest&time=clock", "origin"), ("order=newest&fill=previous", "fill"), ("order=best", "order"),
                ("order=newest&cursor=after-5", "cursor"), ("cursor=before-5", "cursor"), ("cursor=after-", "cursor"),
                ("zone=Mars/Olympus", "zone"), ("zone=/etc/passwd", "zone"), ("zone=%2B2", "zone"), ("zone=leapseconds", "zone"),
                ("zone=Europe/Berlin&time=clock", "zone"), ("shape=round", "shape"), ("count=5", "count"), ("shape=tall&count=yes", "count"), ("point=5", "points")):
            status, answer = self.collector.request("GET", "/telemetry.json?" + bad)
            self.assertEqual(status, 400, (bad, answer))
            self.assertIn(reason, json.loads(answer)["error"], bad)

    def test_a_key_that_stands_there_twice_is_refused(self):
        for key, value in (("from", "1"), ("to", "1"), ("origin", "first"), ("time", "iso"), ("zone", "Z"), ("fill", "none"), ("limit", "1"),
                           ("order", "oldest"), ("cursor", "after-5"), ("count", "no"), ("points", "5"), ("bucket", "day"), ("shape", "wide")):
            status, answer = self.collector.request("GET", f"/telemetry.json?{key}={value}&{key}={value}")
            self.assertEqual(status, 400, (key, answer[:200]))
            self.assertIn(f"{key} stands there twice", json.loads(answer)["error"])
        together, apart = (self.collector.table(f"time=iso&device=A{between_devices}B&fields=Speed{between_fields}S.d.turn")
                           for between_devices, between_fields in ((",", ","), ("&device=", "&fields=")))
        self.assertEqual(together, apart)
        self.assertEqual(together["header"], ["Device", "Time", "Speed", "S.d.turn"])

    def pages(self, query, between=lambda: None):
        """The records of each page, until there are no more; what comes in meanwhile comes by `between`."""
        found, cursor = [], ""
        while cursor is not None:
            table = self.collector.table(query + (f"&cursor={cursor}" if cursor else ""))
            found.append([(record[0], utc(record[1]), dict(zip(table["header"][2:], record[2:])))
                          for record in table["records"]])
            cursor = table["next"]
            between()
        return found

    def test_pages(self):
        """Each record stands on one page, and pages follow each other in time."""
        everything = sorted(map(repr, self.records))
        for order, limit in ("newest", 37), ("oldest", 50), ("newest", 1), ("newest", len(self.records)), ("oldest", 100_000):
            first = self.last - 200_000 if limit == 1 else 0
            pages = self.pages(f"order={order}&limit={limit}&from={first}")
            records = [record for page in pages for record in page]
            self.assertEqual(sorted(map(repr, records)), sorted(repr(record) for record in self.records if record[1] >= first)
                             if first else everything)
            turned = -1 if order == "newest" else 1
            times = [[turned * time for _, time, _ in page] for page in pages]
            for before, page in zip(times, times[1:]):
                self.assertLess(max(before), min(page))
            self.assertTrue(all(limit <= len(page) <= limit + 5 for page in pages[:-1]), [len(page) for page in pages])
            if limit > 1:
                self.assertLessEqual(len(self.records) / (limit + 5), len(pages))
                self.assertLessEqual(len(pages), -(-len(self.records) // limit))

    def test_newest_first_is_oldest_first_turned_around(self):
        newest = self.collector.table("order=newest")["records"]
        self.assertEqual(newest, self.collector.table("order=oldest")["records"][::-1])
        self.assertEqual(self.collector.table("order=newest&limit=3")["records"], newest[:3])

    def test_epochs_whose_times_overlap_are_merged(self):
        for query, turned in ("device=B&time=iso", False), ("device=B&time=iso&order=newest", True):
            times = [record[1] for record in self.collector.table(query)["records"]]
            self.assertEqual(times, sorted(times, reverse=turned))
            self.assertEqual(len(times), 700)
        newest = self.collector.table("device=B&time=iso&order=newest&limit=1")["records"]
        self.assertEqual([record[1] for record in newest], times[:len(newest)])
        self.assertLess(len(newest), 5)

    def test_how_many_records(self):
        def count(query):
            def exact():  # a machine that is busy elsewhere has no time to count
                table = self.collector.table(f"count=yes&{query}")
                return table if table["count_is"] == "exact" else None
            return wait_until(exact, "all are counted")["count"]
        for kind in "csv", "xml":  # which have no place for it
            status, answer = self.collector.request("GET", f"/telemetry.{kind}?count=yes")
            self.assertEqual(status, 400, answer)
        self.assertEqual(count("limit=1"), len(self.records))
        self.assertEqual(count("limit=1&device=Anna"), sum(device == "Anna" for device, _, _ in self.records))
        self.assertEqual(count("limit=1&fields=S.d.turn"), sum(values["S.d.turn"] is not None for _, _, values in self.records))
        middle = sorted(time for _, time, _ in self.records)[200]
        self.assertEqual(count(f"limit=1&from={middle}"), sum(time >= middle for _, time, _ in self.records))
        self.assertEqual(count(f"order=newest&limit=1&cursor=before-{middle}"), 200)

    def test_the_latest_of_everything(self):
        latest = {}
        for device, time, values in self.records:
            for field, value in values.items():
                if value is not None and time >= latest.get((device, field), (0, None))[0]:
                    latest[device, field] = time, value
        def ask(query):
            found = json.loads(self.collector.get("/telemetry/latest.json" + query))
            return {(value["device_name"] or value["device"], value["name"] or value["attribute"]): value for value in found}
        found = ask("")
        self.assertEqual({key: (utc(value["time"]), value["value"]) for key, value in found.items()}, latest)
        self.assertEqual(found["Anna", "Speed"] | {"time": "", "value": 0},
                         {"device": "A", "device_name": "Anna", "attribute": "S.d.speed", "name": "Speed", "unit": "m/s",
                          "time": "", "value": 0})
        self.assertEqual(ask("?device=B").keys(), {key for key in latest if key[0] == "B"})
        some = ask("?device=Anna,B&fields=Speed&zone=Asia/Tokyo")
        self.assertEqual(some.keys(), {("Anna", "Speed"), ("B", "Speed")})
        self.assertTrue(some["B", "Speed"]["time"].endswith("+09:00"))
        self.assertEqual(utc(some["B", "Speed"]["time"]), latest["B", "Speed"][0])
        self.assertEqual(self.collector.request("GET", "/telemetry/latest.json?device=C")[0], 404)
        self.assertEqual(self.collector.request("GET", "/telemetry/latest.json?limit=5")[0], 400)

    def test_columns_of_the_devices_asked_for(self):
        for query in "bucket=day", "points=5", "order=newest&limit=1", "limit=1":
            columns = {name.split(" ")[0] for name in self.collector.table(f"{query}&device=B")["header"][2:]}
            self.assertEqual(columns, {"Speed", "S.d.turn", "S.d.mode"}, query)

    def test_every_key_is_described(self):
        """openapi.json, docs/telemetry-tables.md and the program know the same keys."""
        status, answer = self.collector.request("GET", "/telemetry.json?colour=red")
        self.assertEqual(status, 400)
        keys = set(json.loads(answer)["error"].split("the keys are ")[1].split(", ")) - {"format"}  # of the live stream
        paths = json.loads(self.collector.get("/openapi.json"))["paths"]
        for kind in "xml", "csv", "json":
            parameters = {each["$ref"].rsplit("/", 1)[1] for each in paths[f"/telemetry.{kind}"]["get"]["parameters"]}
            self.assertEqual(parameters, keys)
        page = (SOURCE / "docs/telemetry-tables.md").read_text()
        described = {key for line in page.splitlines() if line.startswith("| `") for key in line.split("|")[1].replace("`", "").split(", ")}
        self.assertEqual({key.strip() for key in described}, keys)

    def test_a_store_that_is_not_read_says_so(self):
        with Collector("none:") as collector:
            for path in "telemetry.json?points=5", "telemetry.csv?bucket=day", "telemetry.json?order=newest", "telemetry/latest.json":
                status, answer = collector.request("GET", "/" + path)
                self.assertEqual(status, 404, answer)
                self.assertIn("telemetry.store", json.loads(answer)["error"])

    def test_zones(self):
        moment = f"from={self.first}&to={self.first}"
        plain = self.collector.table(f"time=iso&{moment}")["records"][0][1]
        self.assertTrue(plain.endswith("Z"))
        for zone, expected in ("+02:00", "+02:00"), (urllib.parse.quote("+05:30"), "+05:30"), ("-03:30", "-03:30"), ("UTC", "Z"):
            shown = self.collector.table(f"zone={zone}&{moment}")["records"][0][1]
            self.assertTrue(shown.endswith(expected), shown)
            self.assertEqual(utc(shown), self.first)
        for summer in False, True:  # on both sides of a change of clocks
            moment = datetime.datetime(2026, 7 if summer else 1, 15, tzinfo=datetime.timezone.utc)
            origin = utc(moment.isoformat())
            berlin = moment.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")).isoformat()
            self.assertTrue(berlin.endswith("+02:00" if summer else "+01:00"))
            self.assertEqual(utc(berlin), origin)
        shown = [record[1] for record in self.collector.table("bucket=hour&zone=Europe/Berlin")["records"]]
        berlin = zoneinfo.ZoneInfo("Europe/Berlin")
        for text in shown:
            moment = datetime.datetime.fromisoformat(text)
            self.assertEqual(moment.utcoffset(), moment.astimezone(berlin).utcoffset())
        self.assertEqual([utc(text) for text in shown],
                         [utc(record[1]) for record in self.collector.table("bucket=hour")["records"]])


@unittest.skipUnless(LONG, "TETHER_LONG=1: the suite of stores compares what both read")
class TablesOfPostgres(Tables):
    KIND = "postgresql"


@unittest.skipUnless(LONG and is_installed(), "TETHER_LONG=1, and clickhouse-server")
class TablesOfClickHouse(Tables):
    KIND = "clickhouse"

    def test_minutes_decades_apart_take_few_questions(self):
        """What lies between is skipped day by day, and a day's minutes are read at once."""
        with Collector(self.stores.url(self.KIND), *self.stores.settings(self.KIND)) as collector:
            moments = [n * 100 * 86400 for n in range(100)]
            lines = "\n".join(f"m,device=old x={n} {when}" for n, when in enumerate(moments))
            self.assertEqual(collector.request("POST", "/write?precision=s", lines)[0], 204)
            query = "device=old&bucket=minute&from=1970-01-01T00:00:00Z"
            wait_until(lambda: len(collector.table(query)["records"]) == len(moments), "all are stored")
            server, asked = self.stores.clickhouse, "SELECT value FROM system.events WHERE event = 'SelectQuery'"
            before = int(server.query(asked))
            self.assertEqual(len(collector.table(query)["records"]), len(moments))
            self.assertLess((int(server.query(asked)) - before) / len(moments), 20)


class WhileSamplesCome(WithStores):
    """Pages are read while devices send, also what is older, and a device starts again."""

    def test_pages_stay(self):
        with Collector(self.stores.url("sqlite")) as collector:
            def send(device, clock, times):
                sets = [("S", time, {"d": {"n": time}}) for time in times]
                status, answer = collector.request("POST", "/telemetry", message(device, clock, sets))
                self.assertEqual(status, 200, answer)
            send("A", 100_000, range(0, 100_000, 250))
            send("B", 100_000, range(0, 100_000, 400))
            stored = {(device, number) for device, _, number in collector.table("time=iso")["records"]}
            self.assertEqual(len(stored), 650)
            found, cursor, clock = [], "", 100_000
            while cursor is not None:
                table = collector.table(f"order=newest&limit=60&{cursor and 'cursor=' + cursor}")
                found += [(device, number) for device, _, number in table["records"]]
                cursor = table["next"]
                clock += 1000
                send("A", clock, [clock - 3, clock - 2])
                send("B", clock, [clock - 99_999, clock - 1])  # one of long ago
                send("C", 5, [4])
            self.assertEqual(len(found), len(set(found)))
            self.assertLessEqual(stored, set(found))

    def test_what_is_said_rarely_is_among_the_latest(self):
        """Wherever it stands: far back, late, in a moment that is there, where the newest was removed. In a file not all that was said
        since is read for it."""
        now = time.time_ns() // 1_000_000
        hour = 3600 * 1000

        def store(collector, *points):
            body = "".join(f"m,device=A {fields} {now + when}\n" for fields, when in points)
            self.assertEqual(collector.request("POST", "/write?precision=ms", body), (204, ""))

        def latest(collector):
            return {each["attribute"]: (each["value"], utc(each["time"]) // 1000 - now)
                    for each in json.loads(collector.get("/telemetry/latest.json"))}

        def bytes_read(collector):
            def count():
                return int(re.search(r"^rchar: (\d+)$", pathlib.Path(f"/proc/{collector.process.pid}/io").read_text("ascii"), re.M)[1])
            before = count()
            collector.get("/telemetry/latest.json")
            return count() - before
        for kind in self.stores.kinds:
            url = self.stores.url(kind)
            often = [(f"a={i},b={i},c={i}", i * 1000 - 2 * hour) for i in range(7000)]
            last = {f"m.{name}": (6999, often[-1][1]) for name in "abc"}
            with self.subTest(kind), Collector(url, *self.stores.settings(kind)) as collector:
                store(collector, ('rare="first"', -5 * hour), ("rare=1", -3 * hour), *often)
                self.assertEqual(latest(collector), {**last, "m.rare": (1, -3 * hour)})
                if kind == "sqlite":  # it makes buckets beside
                    wait_until(lambda: bytes_read(collector) < 200_000, "little is read")
                store(collector, ("rare=2", -4 * hour))  # late
                self.assertEqual(latest(collector)["m.rare"], (1, -3 * hour))
                store(collector, ('rare="in a record that is there"', often[100][1]))
                self.assertEqual(latest(collector)["m.rare"], ("in a record that is there", often[100][1]))
                collector.remove(f"/telemetry/devices/A?data=yes&attribute=m.rare&from={(now - 7 * hour // 2) * 1000}")
                self.assertEqual(latest(collector)["m.rare"], (2, -4 * hour))
                store(collector, ("rare=3,b=7", 0))
                self.assertEqual(latest(collector), {**last, "m.rare": (3, 0), "m.b": (7, 0)})
            if kind != "sqlite":
                continue
            with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
                database.executescript("DROP TABLE newest; PRAGMA user_version = 6")
            with Collector(url) as collector:
                self.assertEqual(latest(collector), {**last, "m.rare": (3, 0), "m.b": (7, 0)})
                store(collector, ("rare=4", -1000), ("a=8", 1))
                self.assertEqual(latest(collector), {**last, "m.rare": (3, 0), "m.b": (7, 0), "m.a": (8, 1)})

    def test_years_with_little_in_them(self):
        """What is empty is left out at once: a billion seconds are not gone through."""
        with Collector(self.stores.url("sqlite")) as collector:
            sets = [("S", when, {"d": {"n": when}}) for when in (-30 * 365 * 86400_000, -86400_000, -5)]
            self.assertEqual(collector.request("POST", "/telemetry", message("OLD", 1, sets))[0], 200)
            times = [utc(record[1]) for record in collector.table("time=iso")["records"]]
            for query in "bucket=second", "bucket=minute", "bucket=second&from=1980-01-01T00:00:00Z":
                found = collector.table(query)["records"]
                size = 60 * US if "minute" in query else US
                self.assertEqual([utc(record[1]) for record in found], [time - time % size for time in times], query)
            self.assertIn(len(collector.table("points=1000")["records"]), (2, 3))

    def test_many_wide_tables_take_little_memory(self):
        """Ten tables of 9,900 columns at once, of which the program makes eight at a time."""
        values = {f"d{k}": {f"a{i}": i * k % 97 / 10 for i in range(990)} for k in range(10)}
        with Collector(self.stores.url("sqlite")) as collector, concurrent.futures.ThreadPoolExecutor(10) as pool:
            sets = [("S", -60_000 * turn - 1, values) for turn in range(4)]
            self.assertEqual(collector.request("POST", "/telemetry", message("WIDE", 1_000_000, sets))[0], 200)
            taken = [status for status, _ in pool.map(
                lambda query: collector.request("GET", f"/telemetry.csv?{query}"), ["bucket=minute&limit=1"] * 10)]
            self.assertGreaterEqual(taken.count(200), 8)
            self.assertLessEqual(set(taken), {200, 503})
            peak = re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{collector.process.pid}/status").read_text(encoding="utf-8"))
            self.assertLess(int(peak[1]), 100 * 1024)


if __name__ == "__main__":
    sys.exit(unittest.main())
