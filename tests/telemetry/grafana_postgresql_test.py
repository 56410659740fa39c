#!/usr/bin/env python3
"""The dashboards that read PostgreSQL: the query of every panel and variable, with Grafana's macros expanded as its documentation
says and its variables put in, run by a user who may only read, and compared with the samples."""
import datetime
import json
import re
import subprocess
import sys
import unittest

from support.telemetry import SOURCE, Collector, WithStores, message, wait_until

FOLDER = SOURCE / "packaging/grafana"
KIND = "grafana-postgresql-datasource"
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
LENGTHS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
STEP = re.compile(r"(\d+)(ms|s|m|h|d)$")
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def quoted(values):
    """Variables of several values, as the data source writes them into SQL."""
    return ",".join("'" + value.replace("'", "''") + "'" for value in values)


def expanded(sql, begin, end, interval, **variables):
    """https://grafana.com/docs/grafana/latest/datasources/postgres/query-editor/#macros"""
    number, unit = STEP.match(interval).groups()
    step = int(number) * SECONDS[unit]
    first, last = (time.strftime("'%Y-%m-%dT%H:%M:%SZ'") for time in (begin, end))
    for name, values in variables.items():
        sql = sql.replace("$" + name, quoted(values))
    sql = sql.replace("$__interval_ms", str(int(step * 1000))).replace("$__interval", interval)
    sql = re.sub(r"\$__timeGroupAlias\((\w+), *'?[^')]+'?\)", lambda match: f"floor(extract(epoch from {match[1]})/{step})*{step} AS \"time\"",
                 sql)
    sql = re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 BETWEEN {first} AND {last}", sql)
    sql = sql.replace("$__timeFrom()", first).replace("$__timeTo()", last)
    assert "$" not in sql, sql
    return sql


class Dashboards(WithStores):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.collector = Collector(cls.stores.url("postgresql"), *cls.stores.settings("postgresql"))
        cls.postgres = cls.stores.postgres
        ages = [*range(0, 1_000_000, 1500), *range(1_000_000, 60_000_000, 300_000), *range(60_000_000, 200_000_000, 1_500_000)]
        for device in "A", "it's B":
            sets = [("S", -age, {"d": {"n": age // 500 % 700 - 300, "m": -age} | ({"t": "x"} if age % 300_000 == 0 else {})})
                    for age in reversed(ages)]
            status, answer = cls.collector.request("POST", "/telemetry", message(device, 1_000_000, sets))
            assert status == 200, answer
        cls.collector.put("/telemetry/attributes/S.d.n", {"name": "Speed"})
        cls.postgres.query("CREATE ROLE grafana LOGIN; GRANT USAGE ON SCHEMA tether TO grafana;"
                           " GRANT SELECT ON ALL TABLES IN SCHEMA tether TO grafana")
        wait_until(lambda: cls.postgres.query("SELECT count(*) FROM tether.attribute WHERE name = 'Speed'") == [["1"]], "the name is stored")
        wait_until(lambda: cls.postgres.query("SELECT count(*) > 10 FROM tether.hour_bucket") == [["t"]], "some hours are made")
        cls.samples = [(device, attribute, float(time), number, text, epoch, device_time)
                       for device, attribute, time, number, text, epoch, device_time in cls.postgres.query(
                           "SELECT device, attribute, extract(epoch FROM time), number, text, epoch, device_time"
                           " FROM tether.telemetry")]
        cls.dashboards = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*-postgresql.json")}

    @classmethod
    def tearDownClass(cls):
        cls.collector.close()
        super().tearDownClass()

    def ask(self, sql):
        """Rows as Grafana gets them: {column: text or None}, by somebody who can't write."""
        url = self.postgres.url.replace("tether@", "grafana@")
        result = subprocess.run([self.postgres.binaries / "psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", url, "-c",
                                 f"SELECT coalesce(json_agg(r), '[]') FROM ({sql}) r"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, (sql, result.stderr))
        return json.loads(result.stdout)

    def panel(self, dashboard, title, span=datetime.timedelta(hours=1), interval="10s", **variables):
        panel, = (panel for panel in self.dashboards[dashboard]["panels"] if panel["title"] == title)
        variables = {"device": ["A", "it's B"], "attribute": ["Speed", "S.d.m", "S.d.t"], **variables}
        self.begin = (NOW - span).timestamp()
        return self.ask(expanded(panel["targets"][0]["rawSql"], NOW - span, NOW + datetime.timedelta(minutes=5), interval, **variables))

    @staticmethod
    def seconds(time):
        return datetime.datetime.fromisoformat(time).timestamp() if isinstance(time, str) else float(time)

    def stretches(self, length, devices=("A", "it's B")):
        """{(metric, beginning): numbers}"""
        found = {}
        for device, attribute, time, number, *_ in self.samples:
            if number and device in devices:
                found.setdefault((f"{device} {attribute}", time // length * length), []).append(float(number))
        return found

    def test_everything_is_of_the_data_source(self):
        self.assertEqual(len(self.dashboards), 2)
        uids = {dashboard["uid"] for dashboard in self.dashboards.values()}
        self.assertEqual(len(uids), 2)
        for dashboard in self.dashboards.values():
            self.assertGreaterEqual(dashboard["schemaVersion"], 39)
            source, *variables = dashboard["templating"]["list"]
            self.assertEqual((source["name"], source["type"], source["query"]), ("source", "datasource", KIND))
            panels = dashboard["panels"]
            self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
            places = [panel["gridPos"] for panel in panels]
            for place in places:
                self.assertLessEqual(place["x"] + place["w"], 24)
                self.assertFalse([other for other in places if other is not place and other["x"] < place["x"] + place["w"]
                                  and place["x"] < other["x"] + other["w"] and other["y"] < place["y"] + place["h"]
                                  and place["y"] < other["y"] + other["h"]], "panels lie upon each other")
            for part in [*panels, *variables, *(target for panel in panels for target in panel["targets"])]:
                self.assertEqual(part["datasource"], {"type": KIND, "uid": "${source}"})
            for panel in panels:
                target, = panel["targets"]
                self.assertTrue(target["rawQuery"] and target["editorMode"] == "code")
                self.assertEqual(target["format"], "time_series" if panel["type"] == "timeseries" else "table")

    def test_variables(self):
        for dashboard in self.dashboards.values():
            for variable in dashboard["templating"]["list"][1:]:
                said = [list(row.values()) for row in self.ask(expanded(variable["query"], NOW, NOW, "1m", device=["A", "it's B"]))]
                self.assertEqual(said, {"device": [["A"], ["it's B"]],
                                        "attribute": [["S.d.m"], ["S.d.t"], ["Speed"]]}[variable["name"]])

    def test_least_mean_and_greatest(self):
        """Seconds to days, by the span."""
        for span, interval, length in ((0.25, "500ms", 1), (1, "9s", 1), (20, "1m", 60), (54, "15m", 3600), (54, "6h", 86400)):
            rows = self.panel("telemetry-postgresql", "Least, mean and greatest", datetime.timedelta(hours=span), interval)
            wanted = {key: numbers for key, numbers in self.stretches(length).items() if key[1] >= self.begin}
            self.assertGreater(len(wanted), 3)
            self.assertEqual(len(rows), len(wanted))
            self.assertEqual([row["time"] for row in rows], sorted(row["time"] for row in rows))
            for row in rows:
                numbers = wanted[row["metric"], self.seconds(row["time"])]
                self.assertEqual((row["least"], row["greatest"]), (min(numbers), max(numbers)))
                self.assertAlmostEqual(row["mean"], sum(numbers) / len(numbers))

    def test_mean(self):
        rows = self.panel("telemetry-postgresql", "Mean", datetime.timedelta(hours=2), "5m", device=["it's B"], attribute=["Speed"])
        wanted = {}
        for (metric, start), numbers in self.stretches(60).items():
            if metric == "it's B Speed" and start >= self.begin:
                wanted.setdefault(start // 300 * 300, []).extend(numbers)
        self.assertEqual([self.seconds(row["time"]) for row in rows], sorted(wanted))
        for row in rows:
            numbers = wanted[self.seconds(row["time"])]
            self.assertAlmostEqual(row["mean"], sum(numbers) / len(numbers))

    def test_counts(self):
        rows = self.panel("telemetry-postgresql", "Values an hour", datetime.timedelta(days=3), device=["A"], attribute=["S.d.m"])
        self.assertEqual({(row["metric"], self.seconds(row["time"])): row["values"] for row in rows},
                         {key: len(numbers) for key, numbers in self.stretches(3600).items() if key[0] == "A S.d.m"})
        rows = self.panel("devices-postgresql", "Numbers a day", datetime.timedelta(days=9))
        wanted = {}
        for (metric, start), numbers in self.stretches(86400).items():
            key = metric.rsplit(" ", 1)[0], start
            wanted[key] = wanted.get(key, 0) + len(numbers)
        self.assertEqual({(row["metric"], self.seconds(row["time"])): row["values"] for row in rows}, wanted)

    def test_newest_and_latest(self):
        newest = sorted(self.samples, key=lambda sample: -sample[2])
        rows = self.panel("telemetry-postgresql", "The 500 newest values of the span")
        self.assertEqual(len(rows), 500)
        self.assertEqual([self.seconds(row["time"]) for row in rows], [sample[2] for sample in newest[:500]])
        said = {(device, attribute, time, text or number, int(epoch), int(device_time))
                for device, attribute, time, number, text, epoch, device_time in self.samples}
        for row in rows:
            self.assertIn((row["device"], row["attribute"], self.seconds(row["time"]), row["value"], row["epoch"], row["device_time"]), said)
        latest = {}
        for device, attribute, time, number, text, *_ in reversed(newest):
            latest[device, attribute] = (time, text or number)
        rows = self.panel("devices-postgresql", "Latest values")
        self.assertEqual({(row["device"], row["attribute"]): (self.seconds(row["time"]), row["value"]) for row in rows}, latest)
        self.assertEqual(len(rows), 6)
        heard = max(sample[2] for sample in self.samples if sample[0] == "A")
        rows = self.panel("devices-postgresql", "Heard last", device=["A"])
        self.assertEqual([(row["device"], self.seconds(row["time"])) for row in rows], [("A", heard)])
        self.assertLess(abs(rows[0]["silent"] - (datetime.datetime.now().timestamp() - heard)), 60)


if __name__ == "__main__":
    sys.exit(unittest.main())
