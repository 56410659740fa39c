#!/usr/bin/env python3
"""HTTP and WebSocket: who may call, names and handling, live samples, forwarding, long answers and slow readers."""
import csv
import contextlib
import http.client
import io
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from support.telemetry import TETHER, Collector, WebSocket, WithStores, at_best, message, seconds, wait_until


def sample(number, device="W", **values):
    return message(device, 1000 + number * 10, [("S", 0, {"d": values or {"n": number}})], True)


class Web(WithStores):
    def collector(self, *settings, **more):
        return Collector(self.stores.url("sqlite"), *settings, **more)

    def post(self, collector, text):
        status, answer = collector.request("POST", "/telemetry", text)
        self.assertEqual(status, 200, answer)

    def test_who_may_call(self):
        with self.collector() as collector:
            own = collector.web
            for headers, expected in (
                    ({}, 200), ({"Origin": own}, 200), ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                    ({"Host": "evil.example"}, 403), ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
                    ({"Origin": own.replace("127.0.0.1", "localhost")}, 403)):
                self.assertEqual(collector.request("GET", "/telemetry/status", headers=headers)[0], expected, headers)
                text = sample(1).replace("\n", "")
                self.assertEqual(collector.request("POST", "/telemetry", text, headers)[0], expected, headers)
                upgrade = WebSocket(own, "/telemetry/live", headers)
                self.assertEqual(upgrade.status, 101 if expected == 200 else 403, headers)
                upgrade.close()
            for method in "POST", "PUT", "DELETE":
                self.assertEqual(collector.request(method, "/telemetry/status", "{}")[0], 405)
            for path in "/../etc/passwd", "/%2e%2e/etc/passwd", "/openapi.json%00", "/telemetry/../../x", "/nothing", "//etc":
                self.assertIn(collector.request("GET", path)[0], (400, 404), path)

    def test_the_address_of_messages_leads_a_browser_to_the_page(self):
        with self.collector() as collector:
            for query, location in (("", "./#telemetry"), ("?token=a%20b", "./?token=a%20b#telemetry")):
                connection = http.client.HTTPConnection(collector.web[7:])
                connection.request("GET", "/telemetry" + query)
                response = connection.getresponse()
                response.read()
                self.assertEqual((response.status, response.headers["Location"]), (303, location))
                connection.close()
            status, page = collector.request("GET", "/telemetry")
            self.assertEqual(status, 200)
            self.assertIn('<div id="app">', page)

    def test_how_long_a_device_is_silent(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            self.assertEqual(collector.request("POST", "/telemetry", sample(1))[0], 200)
            wait_until(lambda: self.silence(collector) > 0.2, "it has not been heard for a while")
            before = time.monotonic()
            self.assertEqual(collector.request("POST", "/telemetry", sample(2))[0], 200)
            self.assertLess(self.silence(collector), time.monotonic() - before)
        with Collector(url) as collector:
            self.assertIsNone(self.silence(collector))

    @staticmethod
    def silence(collector):
        return json.loads(collector.get("/telemetry/devices"))[0]["silence"]

    def test_headers(self):
        with self.collector() as collector:
            connection = http.client.HTTPConnection(collector.web[7:])
            connection.request("GET", "/telemetry")
            response = connection.getresponse()
            response.read()
            self.assertIn("default-src 'none'", response.headers["Content-Security-Policy"])
            self.assertEqual(response.headers["X-Content-Type-Options"], "nosniff")
            connection.close()

    def test_a_public_address_needs_a_token(self):
        url = self.stores.url("sqlite")
        result = subprocess.run([TETHER, "collect", "--store", url, "--set", "web.listen=0.0.0.0:0", "--set",
                                 "telemetry.listen=127.0.0.1:0"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("web.token", result.stderr)
        with Collector(url, "web.token=secret word") as collector:
            self.assertEqual(collector.request("GET", "/telemetry/status")[0], 401)
            self.assertEqual(collector.request("GET", "/telemetry/status?token=wrong")[0], 401)
            self.assertEqual(collector.request("GET", "/telemetry/status?token=secret+word")[0], 200)
            headers = {"Authorization": "Bearer secret word"}
            self.assertEqual(collector.request("GET", "/telemetry/status", headers=headers)[0], 200)
            self.assertEqual(collector.request("GET", "/telemetry.csv?token=secret+word")[0], 200)
            refused = WebSocket(collector.web, "/telemetry/live")
            self.assertEqual(refused.status, 401)
            refused.close()

    def test_a_port_in_use(self):
        with self.collector() as collector:
            address = collector.web[7:]
            result = subprocess.run([TETHER, "collect", "--store", self.stores.url("sqlite"), "--set",
                                     f"web.listen={address}", "--set", "telemetry.listen=127.0.0.1:0"],
                                    capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(result.returncode, 3)
            self.assertIn(address, result.stderr)

    def test_names_and_handling(self):
        with self.collector() as collector:
            put = collector.put
            self.assertEqual(put("/telemetry/attributes/S.d.level", {"name": "Level", "unit": "V", "scale": 0.5, "offset": 1,
                                                                     "type": "number"})["name"], "Level")
            put("/telemetry/devices/W", {"name": "Wally"})
            put("/telemetry/handling/S.d.secret*", {"mode": "ignore"})
            put("/telemetry/handling/S.flag.*", {"type": "flag"})
            put("/telemetry/attributes/S.d.slow", {"min_interval": 0.1})
            for number in range(20):
                self.post(collector, message("W", 1000 + number * 10, [
                    ("S", 0, {"d": {"level": 10, "secret1": 5, "slow": number}, "flag": {"on": "yes"}})]))
            self.post(collector, message("W", 3000, [("S", 0, {"d": {"level": "high"}, "flag": {"on": "off"}})]))
            table = collector.table("device=Wally&fields=Level,S.flag.on,S.d.slow")
            self.assertEqual(table["header"], ["Device", "Time", "Level", "S.flag.on", "S.d.slow"])
            self.assertEqual(table["records"][0][0], "Wally")
            self.assertEqual({record[2] for record in table["records"]}, {6, None})
            self.assertEqual({record[3] for record in table["records"]}, {1, 0})
            self.assertEqual([record[4] for record in table["records"] if record[4] is not None], [0, 10])
            status = collector.status()
            self.assertEqual(status["bad_values"], 1)
            self.assertEqual(collector.table("fields=S.d.secret1")["records"], [])
            # At once, and for good.
            status, text = collector.request("DELETE", "/telemetry/handling/S.d.secret*")
            self.assertEqual(status, 200, text)
            self.post(collector, message("W", 4000, [("S", 0, {"d": {"secret1": 5}})]))
            self.assertEqual(len(collector.table("fields=S.d.secret1")["records"]), 1)
            for path, body in (("/telemetry/attributes/S.x.y", {"name": "Level"}), ("/telemetry/attributes/A", {"scale": 0}),
                               ("/telemetry/handling/B", {"mode": "eat"}), ("/telemetry/handling/B", {"colour": 1}),
                               ("/telemetry/devices/W", {"name": "a\nb"}), ("/telemetry/devices/W", {"name": "a\0b"}), ("/telemetry/handling/B", [1]),
                               ("/telemetry/devices/W", {"name": 5}), ("/telemetry/handling/B", {"unit": 5})):
                self.assertEqual(collector.request("PUT", path, json.dumps(body))[0], 400, (path, body))
            for body, reason in (('{"a":' * 20, "more than 16 levels"), ('{"name": "A"} {}', "byte 14"), ("", "ends before"),
                                 ('{"name": "A", "name": "B"}', "byte 14: the key 'name' stands twice")):
                status, answer = collector.request("PUT", "/telemetry/devices/W", body)
                self.assertEqual(status, 400, body)
                self.assertIn(reason, json.loads(answer)["error"])

    def test_a_pattern_has_no_name(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            collector.put("/telemetry/handling/S.d.*", {"unit": "V", "scale": 2})
            for path, remedy in (("/telemetry/handling/S.d.*", "PUT /telemetry/attributes/IDENTIFIER"), ("/telemetry/attributes/S.d.*", "one by one")):
                status, answer = collector.request("PUT", path, json.dumps({"name": "Level", "unit": "A"}))
                self.assertEqual(status, 400, answer)
                self.assertIn(remedy, json.loads(answer)["error"])
            status, answer = collector.request("PUT", "/telemetry/attributes/S.d.*", json.dumps({"unit": "A"}))
            self.assertEqual((status, "PUT /telemetry/handling/S.d.*" in answer), (400, True), answer)
            self.assertEqual([(each["unit"], each["scale"]) for each in json.loads(collector.get("/telemetry/handling"))], [("V", 2)])
            self.assertEqual(json.loads(collector.get("/telemetry/attributes")), [])
            # What is set for a pattern is replaced.
            self.assertEqual([(each["unit"], each["scale"]) for each in collector.put("/telemetry/handling/S.d.*", {"unit": "A"})], [("A", 1)])
        with self.assertRaisesRegex(RuntimeError, "telemetry.attributes: 'S.d.\\*' is a pattern"):
            Collector(url, 'telemetry.attributes=[{attribute: "S.d.*", name: Level}]')

    def test_names_and_handling_are_kept(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            collector.put("/telemetry/attributes/S.d.n", {"name": "Number", "scale": 2})
            collector.put("/telemetry/devices/W", {"name": "Wally"})
        with Collector(url) as collector:
            self.post(collector, sample(1))
            self.assertEqual(collector.table("fields=Number")["records"][0][2], 2)
            self.assertEqual(collector.devices()["W"]["name"], "Wally")

    def test_what_was_set_is_stored_when_it_is_answered(self):
        url = self.stores.url("sqlite")
        collector = Collector(url)
        collector.put("/telemetry/handling/Old.*", {"unit": "V"})
        collector.put("/telemetry/devices/X", {"name": "Gone"})
        collector.put("/telemetry/handling/Secret.*", {"mode": "ignore", "retention": 3600})
        collector.put("/telemetry/attributes/S.d.n", {"name": "Number"})
        self.assertEqual(collector.request("DELETE", "/telemetry/handling/Old.*")[0], 200)
        self.assertEqual(collector.request("DELETE", "/telemetry/devices/X"), (200, '{"removed":1}'))
        collector.put("/telemetry/devices/A", {"name": "Red"})
        collector.kill()
        with Collector(url) as collector:
            self.assertEqual([each["pattern"] for each in json.loads(collector.get("/telemetry/handling"))], ["Secret.*"])
            self.assertEqual({known: device["name"] for known, device in collector.devices().items()}, {"A": "Red"})
            self.assertEqual(json.loads(collector.get("/telemetry/attributes"))[0]["name"], "Number")

    def test_names_of_the_file_win_at_the_start(self):
        """Whatever has them: what the file swapped, or what people gave them to since."""
        url = self.stores.url("sqlite")
        def names(*settings):
            with Collector(url, *settings) as collector:
                return {known: device["name"] for known, device in collector.devices().items()}
        for names_of in (("Red", "Blue"), ("Blue", "Red")):
            setting = "telemetry.devices=[{device: R1, name: %s}, {device: R2, name: %s}]" % names_of
            self.assertEqual(names(setting), dict(zip(("R1", "R2"), names_of)))
        with Collector(url) as collector:
            collector.put("/telemetry/devices/R1", {"name": "Green"})
            collector.put("/telemetry/devices/R3", {"name": "Blue"})
        self.assertEqual(names(setting), {"R1": "Blue", "R2": "Red", "R3": None})
        self.assertEqual(names(), {"R1": "Blue", "R2": "Red", "R3": None})
        for attributes in ("A", "B"), ("B", "A"):
            with Collector(url, "telemetry.attributes=[{attribute: S.d.a, name: %s}, {attribute: S.d.b, name: %s}]" % attributes) as collector:
                self.assertEqual([each["name"] for each in json.loads(collector.get("/telemetry/attributes"))], list(attributes))
        for setting, said in (("telemetry.devices=[{device: R1, name: X}, {device: R2, name: X}]", "'X' is the name of R1 already; give R2 another one"),
                              ("telemetry.devices=[{device: R9, name: R1}]", r"telemetry.devices\[0\].name: the name 'R1' belongs to R1")):
            with self.assertRaisesRegex(RuntimeError, said):
                Collector(url, setting)

    def test_what_is_sent_again_is_thinned_as_it_was(self):
        """A device whose acknowledgements were lost, and one that says its newest message before its backlog."""
        def text(device, numbers):
            return "".join(f"<MESSAGE id='{device}' boot='1' seq='{n + 1}' time='{100000 + 100 * n}'><S time='0'><d n='{n}'/></S></MESSAGE>" for n in numbers)
        with Collector(self.stores.url("sqlite")) as collector:
            collector.put("/telemetry/attributes/S.d.n", {"min_interval": 1})
            for device, parts in (("A", [range(31), range(31)]), ("B", [range(100, 101), range(100)])):
                for part in parts:
                    self.assertEqual(collector.request("POST", "/telemetry", text(device, part))[0], 200)
                stored = sorted(int(row[2]) for row in collector.table(f"device={device}&fields=S.d.n")["records"])
                self.assertEqual(stored, list(range(0, 31 if device == "A" else 101, 10)), device)

    def test_of_equally_long_patterns_the_first_in_byte_order_counts(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            self.post(collector, sample(1, ab=1))
            for order in (("S.d.*b", "V"), ("S.d.a*", "A")), (("S.d.a*", "A"), ("S.d.*b", "V")):
                for pattern, unit in order:
                    collector.put(f"/telemetry/handling/{pattern}", {"unit": unit})
                self.assertEqual(self.unit(collector), "V", order)
        with Collector(url) as collector:
            self.assertEqual(self.unit(collector), "V")

    @staticmethod
    def unit(collector):
        return json.loads(collector.get("/telemetry/attributes"))[0]["unit"]

    def test_what_has_a_name_is_changed_by_it(self):
        with self.collector() as collector:
            self.post(collector, sample(1, n=1))
            collector.put("/telemetry/devices/W", {"name": "Red robot"})
            collector.put("/telemetry/attributes/S.d.n", {"name": "Speed"})
            before = self.names(collector)
            answer = collector.put("/telemetry/devices/Red%20robot", {"name": "Blue"})
            self.assertEqual((answer["device"], answer["name"]), ("W", "Blue"))
            answer = collector.put("/telemetry/attributes/Speed", {"retention": 1e9, "unit": "m/s"})
            self.assertEqual((answer["attribute"], answer["retention"], answer["unit"]), ("S.d.n", 1e9, "m/s"))
            self.assertEqual([handling["pattern"] for handling in json.loads(collector.get("/telemetry/handling"))], ["S.d.n"])
            answer = collector.put("/telemetry/attributes/Speed", {"name": "Velocity"})
            self.assertEqual((answer["attribute"], answer["name"]), ("S.d.n", "Velocity"))
            self.assertEqual(self.names(collector), before)
            self.assertEqual(len(collector.table("device=Blue&fields=Velocity")["records"]), 1)

    def test_a_file_that_is_gone_can_not_be_asked(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            self.post(collector, sample(1))
            os.unlink(url.removeprefix("sqlite:"))
            for method, path in (("GET", ".csv"), ("GET", ".json?points=10"), ("GET", "/latest.json"), ("DELETE", "/devices/W?data=yes"),
                                 ("DELETE", "/devices/W")):
                status, answer = collector.request(method, "/telemetry" + path)
                self.assertEqual(status, 503, answer)
                self.assertRegex(json.loads(answer)["error"], "^the store can't be asked now: /.*: No such file or directory; try again once it can$")

    def names(self, collector):
        return [[item[key] for item in json.loads(collector.get(f"/telemetry/{key}s"))] for key in ("device", "attribute")]

    def remove(self, collector, path):
        status, answer = collector.request("DELETE", "/telemetry/" + path)
        return status, json.loads(answer)

    def test_what_is_not_used_is_removed(self):
        """Names that nobody needs make room for others, for good; what has values stays."""
        url = self.stores.url("sqlite")
        with Collector(url, "telemetry.max_devices=3", "telemetry.max_attributes=4") as collector:
            collector.put("/telemetry/attributes/S.d.typo", {"name": "Typo"})
            collector.put("/telemetry/handling/S.d.live", {"mode": "forward"})
            self.post(collector, sample(1, n=1, live=2))
            self.post(collector, message("EMPTY", 1, []))
            for device in "X", "Y":
                collector.request("PUT", f"/telemetry/devices/{device}", "{}")
            self.assertEqual(self.names(collector), [["W", "EMPTY", "X"], ["S.d.typo", "S.d.n", "S.d.live"]])
            for name, missing in ("attributes/S.d.nothing", "attribute"), ("devices/NOBODY", "device"):
                self.assertEqual(self.remove(collector, name), (404, {"error": f"there is no such {missing}"}))
            self.assertEqual(self.remove(collector, "attributes/S.d.n"), (409, {"error": "values of W are stored of it"}))
            self.assertEqual(self.remove(collector, "devices/W"), (409, {"error": "values of S.d.n are stored of it"}))
            self.assertEqual(self.remove(collector, "attributes/Typo"), (200, {"removed": 1}))
            self.assertEqual(self.remove(collector, "attributes"), (200, {"removed": 1}))
            self.assertEqual(self.remove(collector, "devices"), (200, {"removed": 2}))
            self.assertEqual(self.names(collector), [["W"], ["S.d.n"]])
            self.assertEqual(collector.request("GET", "/telemetry.csv?fields=Typo")[0], 404)
            self.assertEqual((collector.status()["devices"], collector.status()["attributes"]), (1, 1))
            # There is room again; what was removed comes back when it is used.
            self.post(collector, sample(2, "EMPTY", typo=1, live=3, a=4))
            self.assertEqual(self.names(collector), [["W", "EMPTY"], ["S.d.typo", "S.d.n", "S.d.live", "S.d.a"]])
            self.assertIsNone(json.loads(collector.get("/telemetry/attributes/S.d.typo"))["name"])
            self.assertEqual(collector.request("POST", "/telemetry", sample(3, "EMPTY", b=1))[0], 400)
            self.assertEqual(self.remove(collector, "attributes/S.d.live"), (200, {"removed": 1}))
        with Collector(url, "telemetry.max_devices=3", "telemetry.max_attributes=4") as collector:
            self.assertEqual(self.names(collector), [["W", "EMPTY"], ["S.d.typo", "S.d.n", "S.d.a"]])
            self.post(collector, sample(3, "EMPTY", b=1))
            self.assertEqual(collector.table("device=EMPTY&origin=device")["records"],
                             [["EMPTY", "0:01:020", 1, 4, None], ["EMPTY", "0:01:030", None, None, 1]])

    def test_a_name_of_which_no_values_are_left_is_not_used(self):
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            self.post(collector, sample(1, n=1, m=2))
            collector.put("/telemetry/handling/S.*", {"retention": 3600})
            self.assertEqual(self.remove(collector, "devices"), (200, {"removed": 0}))
        with sqlite3.connect(url.removeprefix("sqlite:")) as db:
            db.execute("DELETE FROM value WHERE attribute = 1")
        with Collector(url) as collector:
            self.assertEqual(self.remove(collector, "attributes"), (200, {"removed": 1}))
            self.assertEqual(self.names(collector), [["W"], ["S.d.m"]])

    def test_a_table_has_the_columns_of_its_devices(self):
        with self.collector() as collector:
            collector.put("/telemetry/attributes/S.d.never", {"name": "Never"})
            self.post(collector, sample(1, "A", n=1, a=2))
            self.post(collector, sample(1, "B", n=3, b=4))
            def head(query):
                return collector.get("/telemetry.csv?" + query).splitlines()[0]
            self.assertEqual(head("device=A"), "Device,Time,S.d.n,S.d.a")
            self.assertEqual(head("device=B"), "Device,Time,S.d.n,S.d.b")
            self.assertEqual(head("device=A,B"), "Device,Time,S.d.n,S.d.a,S.d.b")
            self.assertEqual(head(""), "Device,Time,S.d.n,S.d.a,S.d.b")
            self.assertEqual(head("device=A&fields=S.d.b,Never"), "Device,Time,S.d.b,Never")

    def test_yaml(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("telemetry:\n  devices: [{device: W, name: Wally}]\n  attributes:\n"
                         "    - {attribute: S.d.n, name: Number, scale: 10, unit: V}\n    - {attribute: 'X.*', mode: ignore}\n")
            config.flush()
            with self.collector(config=config.name) as collector:
                self.post(collector, sample(3))
                table = collector.table("fields=Number&device=Wally")
                self.assertEqual(table["records"], [["Wally", "0:00:000", 30]])
        for yaml, expected in (("telemetry: {late: soon}", "telemetry.late"), ("telemetry: {colour: red}", "colour"),
                               ("telemetry: {attributes: [{attribute: a, type: what}]}", "attributes[0].type")):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
                config.write(yaml)
                config.flush()
                result = subprocess.run([TETHER, "collect", config.name], capture_output=True, text=True, timeout=20,
                                        check=False)
                self.assertEqual(result.returncode, 1)
                self.assertIn(expected, result.stderr)
                self.assertIn(config.name, result.stderr)

    def test_queries(self):
        with self.collector() as collector:
            for number in range(10):
                self.post(collector, sample(number, n=number) if number % 2 else sample(number, m="<&\"']]>\u00fc, x"))
            records = collector.table("fields=S.d.n,S.d.m&fill=previous&origin=device")["records"]
            self.assertEqual([record[2] for record in records], [None, 1, 1, 3, 3, 5, 5, 7, 7, 9])
            self.assertEqual([record[3] for record in records][0], "<&\"']]>\u00fc, x")
            self.assertEqual(len(collector.table("limit=3")["records"]), 3)
            self.assertEqual(len(collector.table("fields=S.d.n&limit=3")["records"]), 3)
            iso = [record[1] for record in collector.table("time=iso")["records"]]
            self.assertEqual(iso, sorted(iso))
            part = collector.table(f"time=iso&from={iso[2]}&to={iso[5]}")["records"]
            self.assertEqual([record[1] for record in part], iso[2:6])
            self.assertEqual(collector.table(f"from={iso[-1]}&origin={iso[-1]}")["records"][0][1], "0:00:000")
            self.assertEqual(len(collector.table("from=-60+s")["records"]), 10)
            for time_with_offset in "2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00%2B02:00":
                self.assertEqual(len(collector.table(f"from={time_with_offset}")["records"]), 10)
            self.assertIn('"<&""\']]>\u00fc, x"', collector.get("/telemetry.csv"))
            for bad in "fields=S.d.x", "device=X", "from=soon", "limit=-1", "fill=all", "colour=red", "from=%", "time=%ff":
                self.assertIn(collector.request("GET", "/telemetry.csv?" + bad)[0], (400, 404), bad)

    def test_a_table_has_no_formula_for_spreadsheets(self):
        """Text that would be run when the CSV is opened gets an apostrophe; numbers stay numbers."""
        with self.collector() as collector:
            texts = ["=1+1", "+1 x", "-2 x", "@SUM(A1)", "\t=1", "=HYPERLINK(\"x\",\"y\")", "a=b"]
            for number, text in enumerate(texts):
                self.post(collector, sample(number, t=text, n=-number))
            collector.put("/telemetry/devices/W", {"name": "=W"})
            collector.put("/telemetry/attributes/S.d.t", {"name": "@t"})
            head, *rows = list(csv.reader(io.StringIO(collector.get("/telemetry.csv?fields=@t,S.d.n&origin=device"))))
            self.assertEqual(head, ["Device", "Time", "'@t", "S.d.n"])
            self.assertEqual([row[2] for row in rows], ["'" + text for text in texts[:-1]] + ["a=b"])
            self.assertEqual({row[0] for row in rows}, {"'=W"})
            self.assertEqual([row[3] for row in rows], [str(-number) for number in range(len(texts))])
            self.assertEqual([row[2] for row in collector.table("fields=@t")["records"]], texts)

    def test_live(self):
        with self.collector() as collector:
            everything = collector.websocket("/telemetry/live")
            some = collector.websocket("/telemetry/live?device=W*&fields=S.d.m")
            xml = collector.websocket("/telemetry/live?format=xml")
            wait_until(lambda: collector.status()["live_readers"] == 3, "three readers")
            self.post(collector, sample(1, "V", n=1, m="a"))
            self.post(collector, sample(2, "W", n=2, m="b"))
            self.post(collector, sample(2, "W", n=2, m="b"))  # sent again: not told again
            self.post(collector, sample(3, "W", n=3))
            lines = []
            while len(lines) < 3:
                lines += [json.loads(line) for line in everything.receive().splitlines()]
            self.assertEqual([line["values"] for line in lines],
                             [{"S.d.n": 1, "S.d.m": "a"}, {"S.d.n": 2, "S.d.m": "b"}, {"S.d.n": 3}])
            self.assertEqual(lines[0]["device_time"], 1010000)
            self.assertEqual(json.loads(some.receive())["values"], {"S.d.m": "b"})
            self.assertIn('<MESSAGE id="V" time="1010"><S time="1010"><d n="1"/></S>', xml.receive())
            for connection in everything, some, xml:
                connection.close()
            wait_until(lambda: collector.status()["live_readers"] == 0, "the readers are gone")
            refused = collector.websocket("/telemetry/live?colour=red")
            self.assertRaises(EOFError, refused.receive)
            refused.close()

    def test_a_reader_that_never_reads(self):
        """It loses samples and is cut; another one gets everything, in time."""
        with self.collector() as collector:
            deaf = WebSocket(collector.web, "/telemetry/live", receive_buffer=4096)
            good = collector.websocket("/telemetry/live")
            wait_until(lambda: collector.status()["live_readers"] == 2, "two readers")
            count = 30000
            heard = []

            def hear():
                while len(heard) < count:
                    heard.extend(json.loads(line) for line in good.receive().splitlines())
            thread = threading.Thread(target=hear, daemon=True)
            thread.start()
            with collector.connect() as connection:
                for number in range(0, count, 50):
                    connection.sendall("".join(message("L", 1000 + n, [("S", 0, {"d": {"n": n, "text": "x" * 100}})])
                                               for n in range(number, number + 50)).encode())
                    time.sleep(0.002)
            thread.join(60)
            self.assertEqual(len(heard), count)
            self.assertEqual([line for line in heard if "lost" in line], [])
            wait_until(lambda: collector.status()["live_readers"] == 1, "the deaf one is cut", 20)
            deaf.close()
            good.close()

    def test_a_slow_reader_is_told_what_it_lost(self):
        with self.collector() as collector:
            slow = WebSocket(collector.web, "/telemetry/live", receive_buffer=4096)
            wait_until(lambda: collector.status()["live_readers"] == 1, "a reader")
            count = 40000
            heard = {"samples": 0, "lost": 0}
            all_taken = threading.Event()

            def hear():
                """Slowly, but never so long that it is cut."""
                with contextlib.suppress(EOFError, OSError):
                    while True:
                        for line in map(json.loads, slow.receive().splitlines()):
                            heard["samples"] += "lost" not in line
                            heard["lost"] += line.get("lost", 0)
                        all_taken.wait(0.5)
            listener = threading.Thread(target=hear, daemon=True)
            listener.start()
            with collector.connect() as connection:
                connection.sendall("".join(message("L", 1000 + n, [("S", 0, {"d": {"n": n}})]) for n in range(count)).encode())
                wait_until(lambda: collector.status()["values"] >= count, "all were taken", 60)
                all_taken.set()
                wait_until(lambda: sum(heard.values()) >= count, "it knows of all", 60)
            self.assertEqual(sum(heard.values()), count)
            self.assertGreater(heard["lost"], 0)
            slow.socket.shutdown(socket.SHUT_RDWR)
            listener.join(20)
            slow.close()

    def test_slow_http_clients_are_cut(self):
        with self.collector() as collector:
            host, port = collector.web[7:].split(":")
            slow = [socket.create_connection((host, int(port))) for _ in range(50)]
            for connection in slow:
                connection.sendall(b"GET /telemetry/status HTTP/1.1\r\nHost: 127")
            at_best(lambda: seconds(collector.status), 1)
            wait_until(lambda: collector.status()["web_connections"] <= 2, "they are cut", 10)
            for connection in slow:
                connection.close()

    def test_forwarding(self):
        for form in "json", "xml":
            listener = socket.create_server(("127.0.0.1", 0))
            listener.settimeout(20)
            port = listener.getsockname()[1]
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
                config.write(f"telemetry:\n  forward: [{{to: '127.0.0.1:{port}', format: {form}, devices: [F*]}}]\n")
                config.flush()
                with self.collector(config=config.name) as collector:
                    client, _ = listener.accept()
                    client.settimeout(20)
                    self.post(collector, sample(1, "OTHER"))
                    self.post(collector, sample(1, "F1"))
                    line = client.makefile().readline()
                    self.assertIn("F1", line)
                    self.assertIn("<MESSAGE" if form == "xml" else '"values":{"S.d.n":1}', line)
                    client.close()  # it comes again
                    wait_until(lambda: self.post(collector, sample(2, "F1")) is None and self.reconnects(listener),
                               "it reconnects")
                    self.post(collector, sample(3, "F1"))
                    text = self.client.recv(65536).decode()
                    self.assertIn("F1", text)
                    self.client.close()
            listener.close()

    def reconnects(self, listener):
        listener.settimeout(0.2)
        try:
            self.client, _ = listener.accept()
            self.client.settimeout(20)
            return True
        except TimeoutError:
            return False

    def test_a_long_table(self):
        """A hundred thousand records stream; a client that goes away in the middle harms nobody."""
        count = 100_000
        with self.collector() as collector:
            with collector.connect() as connection:
                for start in range(0, count, 1000):
                    sets = [("S", 1000 + n, {"d": {"n": n}}) for n in range(start, start + 1000)]
                    connection.sendall(message("T", 1000 + start + 1000, sets).encode())
                collector.wait_stored(count)
            host, port = collector.web[7:].split(":")
            for _ in range(12):
                with socket.create_connection((host, int(port))) as rude:
                    rude.sendall(b"GET /telemetry.csv HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                    rude.recv(1000)
            text = wait_until(lambda: (lambda answer: answer[0] == 200 and answer[1])(
                collector.request("GET", "/telemetry.csv?origin=device")), "a free slot")
            lines = text.split("\r\n")
            self.assertEqual(len(lines), count + 2)
            self.assertEqual(lines[-2].split(",")[2], str(count - 1))


if __name__ == "__main__":
    sys.exit(unittest.main())
