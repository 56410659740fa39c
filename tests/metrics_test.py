#!/usr/bin/env python3
"""What Prometheus is told: read by its own parser, named by its conventions, the same as what pages and /telemetry/status show."""
import json
import re
import socket
import sys
import unittest

from prometheus_client.parser import text_string_to_metric_families

from support.live_page import Page
from support.telemetry import SOURCE, Collector, WithStores, at_best, message, seconds, small_disk, wait_until

SCENE = SOURCE / "tests" / "scenes" / "good" / "one.yaml"
UNITS = ("seconds", "bytes", "total", "factor", "info")
COUNTS = ("messages", "values", "samples", "batches", "devices", "attributes", "readers", "connections", "requests", "pages",
          "views", "orders", "robots", "steps", "ticks", "failures", "trips", "answers")  # of gauges and behind counters' _total
STATES = ("degraded", "paused", "stopped", "state")


class Metrics(WithStores):
    def scrape(self, collector):
        """{(name, labels): value}, families that are what the conventions ask for."""
        text = collector.get("/metrics")
        families = list(text_string_to_metric_families(text))
        self.assertEqual(len({family.name for family in families}), len(families))
        values = {}
        for family in families:
            self.assertRegex(family.name, "^(tether|process)_[a-z_]+$")
            self.assertTrue(family.documentation.endswith("."), family)
            self.assertTrue(family.samples, family)
            self.assertIn(family.name.rsplit("_", 1)[1], UNITS + COUNTS + STATES, family.name)
            for sample in family.samples:
                self.assertEqual(sample.name.endswith("_total"), family.type == "counter", sample)
                key = (sample.name, tuple(sorted(sample.labels.items())))
                self.assertNotIn(key, values)
                values[key] = sample.value
        self.assertEqual(text.count("# HELP"), text.count("# TYPE"))
        return values

    def single(self, values):
        return {name.removeprefix("tether_"): value for (name, labels), value in values.items() if not labels}

    def documented_keys(self):
        described = json.loads((SOURCE / "docs/openapi.json").read_text(encoding="utf-8"))
        return set(described["components"]["schemas"]["TelemetryStatus"]["properties"])

    def test_a_collector_as_its_status(self):
        with Collector(self.stores.url("sqlite")) as collector:
            connection = collector.request("GET", "/telemetry/status")
            self.assertEqual(connection[0], 200)
            self.assertEqual(set(json.loads(connection[1])), self.documented_keys())
            collector.put("/telemetry/handling/S.d.flag", {"type": "flag"})
            collector.put("/telemetry/handling/S.d.out", {"mode": "ignore"})
            live = collector.websocket("/telemetry/live")
            for i in range(5):
                collector.request("POST", "/telemetry", message("D", 1000 + i, [("S", 0, {"d": {"n": i, "flag": "perhaps", "out": 1}})]))
            collector.request("POST", "/telemetry", "<MESSAGE/>")
            status, values = collector.status(), self.scrape(collector)
            told = self.single(values)
            for key, name in (("messages", "messages_total"), ("refused", "refused_messages_total"), ("values", "values_total"),
                              ("stored_values", "stored_values_total"), ("batches", "batches_total"), ("devices", "devices"),
                              ("attributes", "attributes"), ("live_readers", "live_readers"), ("queued_bytes", "queued_bytes"),
                              ("spooled_bytes", "spooled_bytes"), ("clock_ahead_seconds", "clock_ahead_seconds")):
                self.assertEqual(told["telemetry_" + name], status[key], name)
            drops = {dict(labels)["reason"]: value for (name, labels), value in values.items() if name.endswith("dropped_values_total")}
            self.assertEqual(drops, {"handling": status["skipped_values"], "type": status["bad_values"], "overflow": status["lost_values"]})
            self.assertEqual((drops["handling"], drops["type"], told["telemetry_messages_total"]), (5, 5, 5))
            self.assertEqual((told["telemetry_store_degraded"], told["telemetry_lag_seconds"]), (0, 0))
            self.assertGreater(told["web_requests_total"], 8)
            self.assertGreater(values["process_resident_memory_bytes", ()], 1 << 20)
            self.assertNotIn("world_time_seconds", told)
            live.close()
            self.assertLess(at_best(lambda: seconds(lambda: collector.get("/metrics")), 0.01), 0.01)

    def test_a_store_that_can_not_be_written(self):
        with small_disk(self.stores.file("disk")) as disk, Collector(f"sqlite:{disk}/t.sqlite") as collector:
            with collector.connect() as link:
                for i in range(40):
                    link.sendall(message("D", 1000 + i, [("S", 0, {"d": {f"t{j}": "x" * 4000 for j in range(10)}})]).encode())
            wait_until(lambda: collector.status()["degraded"], "the disk is full")
            wait_until(lambda: self.single(self.scrape(collector))["telemetry_lag_seconds"] > 0.5, "it lags")
            self.assertEqual(self.single(self.scrape(collector))["telemetry_store_degraded"], 1)
            collector.kill()

    def test_a_world_as_its_page(self):
        with Collector(self.stores.url("sqlite"), scene=SCENE) as program:
            page = Page(program.web)
            wires = page.told("status")["wires"]
            host, port = wires[0]["address"].rsplit(":", 1)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for _ in range(5):  # the scene loses some
                    sender.sendto(b"short", (host, int(port)))
                page.until(lambda told: isinstance(told, dict) and told.get("wires") and told["wires"][0]["dropped"])
                page.send(type="control", action="pause")
                page.until(lambda told: isinstance(told, dict) and told.get("paused"))

                def the_same():
                    before, values, after = page.told("status"), self.scrape(program), page.told("status")
                    return (after, values) if before == after else None
                status, values = wait_until(the_same, "a world at rest")
            told = self.single(values)
            self.assertEqual([told["world_" + name] for name in ("time_seconds", "steps_total", "late_ticks_total", "real_time_factor",
                                                                 "speed_factor", "paused", "stopped", "robots", "enabled_robots")],
                             [status["time"], status["step"], status["lateTicks"], status["factor"], status["speed"], 1, 0, 1, 1])
            self.assertEqual((told["pages"], told["world_waiting_orders"]), (1, 0))
            of = {}
            for (name, labels), value in values.items():
                labels = dict(labels)
                if "wire" in labels:
                    more = labels.get("reason") or labels.get("state")
                    of.setdefault(labels["wire"], {})[name.removeprefix("tether_wire_") + (":" + more if more else "")] = value
            self.assertEqual(set(of), {wire["name"] for wire in status["wires"]})
            for wire in status["wires"]:
                shown = of[wire["name"]]
                self.assertEqual([shown[name] for name in ("received_messages_total", "accepted_messages_total", "sent_messages_total",
                                                           "send_failures_total", "late_answers_total", "repeated_messages_total",
                                                           "watchdog_trips_total")],
                                 [wire[key] for key in ("received", "accepted", "sent", "sendFailed", "late", "repeated", "watchdogTrips")])
                self.assertEqual({key.split(":")[1]: value for key, value in shown.items() if ":" in key and "dropped" in key and value},
                                 wire["dropped"])
                self.assertEqual([key for key, value in shown.items() if key.startswith("state:") and value], ["state:" + wire["state"]])
            self.assertTrue(status["wires"][0]["dropped"])
            self.assertIn("telemetry_messages_total", told)
            page.close()
            table = (SOURCE / "docs" / "metrics.md").read_text(encoding="utf-8").split("| metric |")[1].split("\n\n")[0]
            self.assertEqual({name for name, _ in values}, {name for name in re.findall(r"`((?:tether|process)_\w+)`", table)
                                                            if not name.startswith("tether_telemetry_log_")}, "docs/metrics.md has the table")

    def test_a_world_that_waits(self):
        """Nobody answers a wire in lock-step: the world's thread waits, and a scrape doesn't wait for it."""
        with Collector(self.stores.url("sqlite"), scene=SCENE.with_name("lockstep.yaml")) as program:
            told = [self.single(self.scrape(program))["world_ticks_total"] for _ in range(2)]
            self.assertEqual(told[0], told[1])
            self.assertLess(at_best(lambda: seconds(lambda: program.get("/metrics")), 0.01), 0.01)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
