#!/usr/bin/env python3
"""Values that people remove: of a device, a span, an attribute; while messages come in; in every store."""
import json
import threading
import time
import unittest

from support.telemetry import LONG, Collector, WithStores, message, wait_until


class Removal(WithStores):
    def each_store(self):
        for kind in self.stores.kinds:
            with self.subTest(store=kind), \
                    Collector(self.stores.url(kind), *self.stores.settings(kind)) as collector:
                yield collector

    def post(self, collector, text):
        status, answer = collector.request("POST", "/telemetry", text)
        self.assertEqual(status, 200, answer)

    def count(self, collector, device, field="I.d.n"):
        return len(collector.table(f"device={device}&fields={field}")["records"])

    def test_all_of_a_device_and_what_stays(self):
        for collector in self.each_store():
            for device in "A", "B":
                for number in range(20):
                    self.post(collector, message(device, 1000 + number * 10, [("I", 0, {"d": {"n": number, "t": f"x{number}"}})]))
            collector.put("/telemetry/devices/A", {"name": "Anna"})
            self.assertEqual(collector.remove("/telemetry/devices/Anna?data=yes"), 40)
            self.assertEqual((self.count(collector, "A"), self.count(collector, "B")), (0, 20))
            self.assertEqual(collector.devices()["A"]["name"], "Anna")
            self.assertEqual(collector.remove("/telemetry/devices/A?data=yes"), 0)
            # What was removed is not known any more: who sends it again has it stored again, once.
            for _ in range(2):
                self.post(collector, message("A", 1190, [("I", 0, {"d": {"n": 19, "t": "x19"}})]))
            self.assertEqual(self.count(collector, "A"), 1)
            self.assertEqual(collector.remove("/telemetry/devices/A?data=yes&name=yes"), 2)
            self.assertNotIn("A", collector.devices())
            self.assertEqual(self.count(collector, "B"), 20)

    def test_a_span_and_an_attribute_exactly(self):
        for collector in self.each_store():
            samples = [("I", -10000 + number * 1000, {"d": {"n": number, "m": number}}) for number in range(10)]
            self.post(collector, message("A", 100000, samples))
            records = collector.table("device=A&fields=I.d.n&time=iso")["records"]
            times = [record[1] for record in records]
            span = f"data=yes&from={times[3]}&to={times[5]}".replace("+", "%2B")
            self.assertEqual(collector.remove(f"/telemetry/devices/A?{span}&attribute=I.d.m"), 3)
            self.assertEqual((self.count(collector, "A"), self.count(collector, "A", "I.d.m")), (10, 7))
            self.assertEqual(collector.remove(f"/telemetry/devices/A?{span}"), 3)
            left = [record[2] for record in collector.table("device=A&fields=I.d.n")["records"]]
            self.assertEqual(left, [0, 1, 2, 6, 7, 8, 9])
            self.assertEqual(collector.remove("/telemetry/devices/A?data=yes&attribute=I.d.n"), 7)
            self.assertEqual((self.count(collector, "A"), self.count(collector, "A", "I.d.m")), (0, 7))

    def test_who_mistypes_removes_nothing(self):
        with Collector(self.stores.url("sqlite")) as collector:
            self.post(collector, message("A", 1000, [("I", 0, {"d": {"n": 1}})]))
            for path, status, part in (("devices/A?data=yes&form=0", 400, "'form' is no key"), ("devices/A?data=no", 400, "data"),
                                       ("devices/A?from=0", 400, "data=yes"), ("devices/A?data=yes&from=1&to=0", 400, "after"),
                                       ("devices?data=yes", 400, "one device"), ("attributes/I.d.n?data=yes", 400, "one device"),
                                       ("devices/A?data=yes&name=yes&attribute=I.d.n", 400, "attribute"),
                                       ("devices/A?data=yes&to=soon", 400, "is no time"), ("devices/Z?data=yes", 404, "device"),
                                       ("devices/A?data=yes&attribute=Z", 404, "attribute"), ("devices/A", 409, "values"),
                                       ("devices/A?data=yes&attribute", 400, "'attribute' has no value"),
                                       ("devices/A?data=yes&from=0&from=9", 400, "twice")):
                got, text = collector.request("DELETE", "/telemetry/" + path)
                self.assertEqual(got, status, (path, text))
                self.assertIn(part, json.loads(text)["error"])
            self.assertEqual(self.count(collector, "A"), 1)

    def test_messages_come_in_meanwhile(self):
        for collector in self.each_store():
            records = 40000 if LONG else 10000
            for first in range(0, records, 5000):
                self.post(collector, message("A", 10 ** 8 + first, [("I", number - first - 5000, {"d": {"n": number, "m": 1}})
                                                                    for number in range(first, first + 5000)]))
            done, slowest, begun, sent = threading.Event(), [0.0], [0], [0]

            def send():
                while not done.is_set():
                    began = time.monotonic()
                    begun[0] += 1
                    self.post(collector, message("A", 2 * 10 ** 8 + sent[0] * 10, [("I", 0, {"d": {"n": sent[0]}})]))
                    sent[0] += 1
                    slowest[0] = max(slowest[0], time.monotonic() - began)

            sender = threading.Thread(target=send)
            sender.start()
            try:
                wait_until(lambda: sent[0] > 3, "messages")
                before = sent[0]
                began = time.monotonic()
                removed = collector.remove("/telemetry/devices/A?data=yes")
                took = time.monotonic() - began
                meanwhile, ended = sent[0], begun[0]
            finally:
                done.set()
                sender.join()
            print(f"{removed} values in {took:.2f} s, {meanwhile - before} messages meanwhile, the slowest {slowest[0]:.3f} s")
            self.assertGreaterEqual(removed, 2 * records)
            # All values are either removed or there: nothing is lost that came in meanwhile.
            self.assertEqual(removed + self.count(collector, "A"), 2 * records + sent[0])
            # Those that began when it had ended are there; the one that was under way then may be removed.
            self.assertGreaterEqual(self.count(collector, "A"), sent[0] - ended)


if __name__ == "__main__":
    unittest.main()
