#!/usr/bin/env python3
"""The dashboards that read a collector over HTTP: every request that Grafana's plugin Infinity makes for their panels and variables
is made here, with Grafana's variables put in, and the answers, read by the panel's columns, are compared with samples."""
import csv
import datetime
import io
import json
import re
import sys
import unittest
import urllib.parse

from support.telemetry import SOURCE, Collector, WithStores, message

FOLDER = SOURCE / "packaging/grafana"
VARIABLE = re.compile(r"\$\{(\w+)(?::([\w:]+))?\}")
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
SPAN = {"__from": NOW - datetime.timedelta(hours=1), "__to": NOW + datetime.timedelta(minutes=5)}


def put_in(text, variables):
    """As Grafana does it, for the formats that are used."""
    def value(match):
        value, form = variables[match[1]], match[2]
        if form == "date:iso":
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if form == "csv":
            return ",".join(value)
        raise AssertionError(match[0])
    return VARIABLE.sub(value, text)


def utc(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


READ = {"string": str, "number": float, "timestamp": utc, "boolean": bool}


class Dashboards(WithStores):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.collector = Collector(cls.stores.url("sqlite"))
        for device in "A", "B":
            sets = [("S", -when, {"d": {"n": when % 700 - 300, "m": -when} | ({"t": "x"} if when % 1000 == 0 else {})})
                    for when in range(600_000, 0, -500)]
            status, answer = cls.collector.request("POST", "/telemetry", message(device, 1_000_000, sets))
            assert status == 200, answer
        cls.records = [(record[0], utc(record[1]), field, value)
                       for table in [cls.collector.table("time=iso")] for record in table["records"]
                       for field, value in zip(table["header"][2:], record[2:]) if value is not None]
        cls.dashboards = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*-http.json")}

    @classmethod
    def tearDownClass(cls):
        cls.collector.close()
        super().tearDownClass()

    def ask(self, query, **variables):
        """Rows of what a query shows: {text of the column: value}; nothing is left out and nothing comes by another name."""
        variables = {**SPAN, "device": ["A", "B"], "field": ["S.d.n", "S.d.m"], **variables}
        keys = [(pair["key"], put_in(pair["value"], variables)) for pair in query["url_options"]["params"]]
        text = self.collector.get(query["url"] + "?" * bool(keys) + urllib.parse.urlencode(keys))
        self.assertEqual((query["source"], query["parser"], query["root_selector"]), ("url", "backend", ""))
        rows = list(csv.DictReader(io.StringIO(text))) if query["type"] == "csv" else json.loads(text)
        rows = rows if isinstance(rows, list) else [rows]
        self.assertTrue(rows)
        return [{column["text"]: None if row[column["selector"]] is None else READ[column["type"]](row[column["selector"]])
                 for column in query["columns"]} for row in rows]

    def panels(self, name):
        return {panel["title"]: panel["targets"][0] for panel in self.dashboards[name]["panels"]}

    def by_stretch(self, length):
        stretches = {}
        for device, time, field, value in self.records:
            if field != "S.d.t":
                start = time - (time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) % length
                stretches.setdefault((device, field, start), []).append(value)
        return stretches

    def assert_ascending(self, rows):
        """What Grafana asks of a series."""
        times = [row["Time"] for row in rows]
        self.assertEqual(times, sorted(times))

    def test_the_dashboards_are_whole(self):
        self.assertEqual(set(self.dashboards), {"telemetry-http", "devices-http"})
        for dashboard in self.dashboards.values():
            defined = {variable["name"] for variable in dashboard["templating"]["list"]} | set(SPAN)
            used = {name for name, _ in VARIABLE.findall(json.dumps(dashboard)) if not name.startswith("__field")}
            self.assertLessEqual(used, defined)
            self.assertEqual(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]))
            for panel in dashboard["panels"]:
                self.assertEqual(panel["datasource"], {"type": "yesoreyeram-infinity-datasource", "uid": "${source}"})
                self.assertTrue(all(target["datasource"] == panel["datasource"] for target in panel["targets"]))

    def test_variables(self):
        for name, expected in ("device", ["A", "B"]), ("field", ["S.d.m", "S.d.n", "S.d.t"]):
            found = [variable for dashboard in self.dashboards.values() for variable in dashboard["templating"]["list"]
                     if variable["name"] == name]
            self.assertTrue(found)
            for variable in found:
                rows = self.ask(variable["query"]["infinityQuery"])
                self.assertEqual(sorted(row["__value"] for row in rows), expected)
                self.assertEqual([row["__text"] for row in rows], [row["__value"] for row in rows])

    def test_least_and_greatest(self):
        query = self.panels("telemetry-http")["Least and greatest"]
        rows = self.ask(query)
        self.assert_ascending(rows)
        self.assertEqual(query["format"], "timeseries")
        # 3,900 s by 1,000 points: stretches of 4 s.
        stretches = self.by_stretch(datetime.timedelta(seconds=4))
        self.assertEqual({(row["Device"], row["Field"], row["Time"]): (row["least"], row["greatest"]) for row in rows},
                         {key: (min(values), max(values)) for key, values in stretches.items()})
        self.assertEqual({(row["Device"], row["Field"]) for row in self.ask(query, device=["B"], field=["S.d.m"])},
                         {("B", "S.d.m")})

    def test_buckets(self):
        panels = self.panels("telemetry-http")
        for title, column, length, function in (
                ("Mean by the minute", "mean", datetime.timedelta(minutes=1), lambda values: sum(values) / len(values)),
                ("Values an hour", "count", datetime.timedelta(hours=1), len)):
            rows = self.ask(panels[title])
            self.assert_ascending(rows)
            expected = {key: function(values) for key, values in self.by_stretch(length).items()}
            found = {(row["Device"], row["Field"], row["Time"]): row[column] for row in rows}
            self.assertEqual(found.keys(), expected.keys())
            for key, value in expected.items():
                self.assertAlmostEqual(found[key], value, places=9)

    def test_newest_records(self):
        rows = self.ask(self.panels("telemetry-http")["Newest records"], field=["S.d.n", "S.d.t"])
        records = {(device, time, field): str(value) for device, time, field, value in self.records}
        self.assertEqual([records[row["Device"], row["Time"], row["Field"]] for row in rows], [row["Value"] for row in rows])
        moments = {(row["Device"], row["Time"]) for row in rows}
        everything = sorted({(time, device) for device, time, _, _ in self.records})
        self.assertGreaterEqual(len(moments), 100)
        self.assertEqual(moments, {(device, time) for time, device in everything[-len(moments):]})

    def test_devices(self):
        panels = self.panels("devices-http")
        latest = {}
        for device, time, field, value in self.records:
            latest[device, field] = max(latest.get((device, field), (time, str(value))), (time, str(value)))
        self.assertEqual({(row["device"], row["attribute"]): (row["time"], row["value"])
                          for row in self.ask(panels["Latest values"])}, latest)
        devices = {row["device"]: row for row in self.ask(panels["Devices"])}
        self.assertEqual(devices.keys(), {"A", "B"})
        for device, row in devices.items():
            self.assertEqual(row["last_sample"], max(time for name, time, _, _ in self.records if name == device))
            self.assertEqual(row["values"], sum(name == device for name, _, _, _ in self.records))
        status, = self.ask(panels["Collector"])
        self.assertEqual((status["store"], status["degraded"], status["stored_values"]), ("sqlite", False, len(self.records)))


if __name__ == "__main__":
    sys.exit(unittest.main())
