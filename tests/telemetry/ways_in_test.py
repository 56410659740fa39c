#!/usr/bin/env python3
"""Messages that are no XML: InfluxDB's line protocol, by its own client and by hand; JSON."""
import ctypes
import gzip
import http.client
import json
import select
import socket
import sqlite3
import sys
import time
import unittest
import urllib.parse
import zlib

import influxdb
import jsonschema

from support.telemetry import Collector, WithStores, message, wait_until


class WaysIn(WithStores):
    def setUp(self):
        self.url = self.stores.url("sqlite")

    def collector(self, *settings):
        return Collector(self.url, *settings)

    def rows(self, what="device, attribute_identifier, value, device_time_us", where="1"):
        with sqlite3.connect(self.url.removeprefix("sqlite:")) as db:
            return db.execute(f"SELECT {what} FROM telemetry WHERE {where} ORDER BY device, time_us, attribute").fetchall()

    def write(self, collector, text, query="db=x", path="/write", **headers):
        body = text if isinstance(text, bytes) else text.encode()
        return collector.request("POST", f"{path}?{query}", body, headers)

    def taken(self, collector, text, query="db=x", **more):
        status, answer = self.write(collector, text, query, **more)
        self.assertEqual((status, answer), (204, ""))


class Lines(WaysIn):
    @classmethod
    def setUpClass(cls):
        """A body that doesn't end is begun here, and looked at by a test that comes late: its five seconds pass meanwhile."""
        super().setUpClass()
        cls.patient = Collector(cls.stores.url("sqlite"))
        cls.half = http.client.HTTPConnection(cls.patient.web[7:], timeout=30)
        cls.half.putrequest("POST", "/write")
        cls.half.putheader("Content-Length", "1000")
        cls.half.endheaders()
        cls.half.send(b"m,device=D x=1 1\nm,device=D x=")

    @classmethod
    def tearDownClass(cls):
        cls.half.close()
        cls.patient.close()
        super().tearDownClass()

    def test_unfinished_body(self):
        self.assertRaises((http.client.HTTPException, OSError), self.half.getresponse)
        self.assertEqual(self.patient.status()["web_cut_connections"], 1)
        self.taken(self.patient, "m,device=D x=2 2")

    def test_their_own_client(self):
        now = time.time_ns() // 1000 * 1000
        with self.collector() as collector:
            address = urllib.parse.urlsplit(collector.web)
            client = influxdb.InfluxDBClient(address.hostname, address.port, database="season", gzip=True, timeout=20)
            self.assertTrue(client.ping())
            client.create_database("season")
            form = urllib.parse.urlencode({"q": 'CREATE DATABASE "season"'})  # as Telegraf says it
            self.assertEqual(collector.request("POST", "/query", form)[0], 200)
            self.assertEqual(collector.request("POST", "/query", "q=DROP+DATABASE+season")[0], 400)
            points = [{"measurement": "climate", "tags": {"device": "hall", "room": "north wing"}, "time": now + i * 1000000,
                       "fields": {"temperature": 21.5 + i, "open": i % 2 == 0, "people": i, "note": 'a "b", c\\ d'}}
                      for i in range(3)]
            self.assertTrue(client.write_points(points))
            self.assertTrue(client.write_points(points))  # as after an answer that was lost
            with self.assertRaises(influxdb.exceptions.InfluxDBClientError) as caught:
                client.write_points([{"measurement": "climate", "fields": {"temperature": 1.0}}])
            self.assertIn("line 1, column 1: no tag names the device", str(caught.exception))
            client.close()
            self.assertEqual(json.loads(collector.get("/health"))["status"], "pass")
            self.assertIn("version", json.loads(collector.get("/ping?verbose=true")))
            self.assertEqual(collector.request("GET", "/ping"), (204, ""))
            self.assertEqual(collector.request("GET", "/query?q=SELECT+1")[0], 400)
            collector.kill()  # what was answered is stored
        rows = [row for row in self.rows() if row[1].endswith("temperature")]
        self.assertEqual(rows, [("hall", "climate.north_wing.temperature", 21.5 + i, now // 1000 + i * 1000) for i in range(3)])
        rows = self.rows("attribute_identifier, value", f"device_time_us = {now // 1000}")
        self.assertEqual(rows, [("climate.north_wing.note", 'a "b", c\\ d'), ("climate.north_wing.open", 1),
                                ("climate.north_wing.people", 0), ("climate.north_wing.temperature", 21.5)])

    def test_a_connection_takes_one_request_after_the_other(self):
        """Also behind answers without a body: a client that isn't told sends its next points into a connection that has ended."""
        point = "m,device=D x=1 1000"
        requests = [("GET", "/ping", None, 204), ("HEAD", "/ping", None, 204), ("POST", "/write?db=x", point, 204),
                    ("POST", "/api/v2/write?bucket=x", point, 204), ("POST", "/write?db=x", "wrong", 400), ("HEAD", "/health", None, 200),
                    ("HEAD", "/telemetry.csv", None, 200), ("GET", "/telemetry.csv", None, 200), ("GET", "/nothing", None, 404)]
        with self.collector() as collector:
            connection = http.client.HTTPConnection(collector.web[7:], timeout=30)
            connection.connect()
            connection.auto_open = False
            for method, path, body, expected in requests * 2:
                connection.request(method, path, body)
                answer = connection.getresponse()
                answer.read()
                self.assertEqual((answer.status, answer.getheader("Connection")), (expected, None), path)
            connection.close()

    def test_a_byte_of_zero_in_the_query(self):
        """It would end the text that it stands in, which would be another one then, or none."""
        with self.collector() as collector:
            for boot in "%00", "a%00b":
                status, answer = self.write(collector, "m,device=D x=1 1000", f"db=x&boot={boot}")
                self.assertEqual(status, 400, answer)
                self.assertIn("a byte of zero", json.loads(answer)["error"])
        self.assertEqual(self.rows(), [])

    def test_a_boot_that_is_no_text(self):
        """No store takes it, nor gets past it: it is refused with its place, and what comes next is stored."""
        with self.collector() as collector:
            for boot in "%FF", "%C3", "a%ED%A0%80":
                status, answer = self.write(collector, "m,device=D x=1 1000", f"db=x&boot={boot}")
                self.assertEqual(status, 400, answer)
                self.assertIn("the boot is no text in UTF-8", json.loads(answer)["error"])
            self.assertEqual(self.rows(), [])
            self.taken(collector, "m,device=D x=2 1000", "db=x&boot=%C3%A9")
        self.assertEqual(self.rows("value"), [(2,)])

    def test_a_token(self):
        with self.collector("web.token=secret") as collector:
            address = urllib.parse.urlsplit(collector.web)
            for password, works in ("secret", True), ("root", False):
                client = influxdb.InfluxDBClient(address.hostname, address.port, "root", password, database="x", timeout=20)
                if works:
                    client.write_points([{"measurement": "m", "tags": {"host": "D"}, "fields": {"x": 1.0}}])
                else:
                    self.assertRaises(influxdb.exceptions.InfluxDBClientError, client.ping)
                client.close()
            for scheme in "Token", "Bearer":
                self.taken(collector, "m,host=D x=1", path="/api/v2/write", Authorization=f"{scheme} secret")
            self.assertEqual(self.write(collector, "m,host=D x=1", Authorization="Token wrong")[0], 401)

    def test_precision_and_both_versions(self):
        second = int(time.time()) - 5
        with self.collector() as collector:
            for i, (precision, unit) in enumerate((("ns", 10**9), ("u", 10**6), ("us", 10**6), ("ms", 1000), ("s", 1))):
                for path, query in (("/write", "db=x&rp=a&consistency=one"), ("/api/v2/write", "org=a&bucket=b")):
                    self.taken(collector, f"m,host=D {path[1]}{i}=1 {second * unit}", f"{query}&precision={precision}", path=path)
            rows = self.rows("attribute, time_us")
            self.assertEqual({name for name, _ in rows}, {f"m.{letter}{i}" for letter in "wa" for i in range(5)})
            self.assertEqual({moment for _, moment in rows}, {second * 10**6})
            status, answer = self.write(collector, "m,host=D x=1", "precision=weeks")
            self.assertEqual(status, 400)
            self.assertIn("precision is one of ns, us, ms, s, m and h", json.loads(answer)["error"])

    def test_bad_lines_are_told_and_the_others_kept(self):
        with self.collector("telemetry.max_attributes=4") as collector:
            status, text = self.write(collector, "m,device=D a=1 1\nm,device=D b=oops 1\nm,device=D c=2 1\n\n# d\nm,device=E\n")
            answer = json.loads(text)
            self.assertEqual(status, 400)
            self.assertEqual((answer["stored"], answer["refused"], answer["line"], answer["code"]), (2, 2, 2, "invalid"))
            self.assertEqual([(reason["line"], reason["column"]) for reason in answer["reasons"]], [(2, 14), (6, 11)])
            self.assertTrue(answer["error"].startswith("partial write: line 2, column 14: a value is"), answer)
            self.assertEqual(answer["message"], answer["error"])
            self.assertEqual([row[1] for row in self.rows()], ["m.a", "m.c"])
            # A point too many for the names there may be; the message before it stays.
            status, text = self.write(collector, "m,device=D a=2 2\nm,device=F x=1,y=2,z=3 2\nm,device=D c=3 2")
            answer = json.loads(text)
            self.assertEqual((status, answer["stored"], answer["reasons"][0]["line"]), (400, 2, 2))
            self.assertIn("more than 4 attributes", answer["error"])
            self.assertEqual(len(self.rows()), 4)
            # What does not fit what is set for it.
            collector.put("/telemetry/handling/m.a", {"type": "flag"})
            status, text = self.write(collector, "m,device=D a=7,c=4 3")
            self.assertEqual((status, json.loads(text)["dropped"]), (400, ["m.a is no flag"]))
            self.assertEqual(len(self.rows()), 5)
            self.assertEqual(collector.status()["refused"], 3)

    def test_a_chunked_body_that_breaks_off(self):
        """Where the connection ends behind a chunk nobody knows whether more was to come: a line without its end is none."""
        with self.collector() as collector:
            head = b"POST /write?precision=s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            for lines, kept in (b"m,device=A v=1 1\nm,device=A v=1234.5", 1), (b"m,device=B v=1 1\nm,device=B v=2 2\n", 2):
                host, port = collector.web[7:].rsplit(":", 1)
                with socket.create_connection((host, int(port)), timeout=30) as connection:
                    connection.sendall(head + b"%x\r\n%s\r\n" % (len(lines), lines))
                    connection.shutdown(socket.SHUT_WR)
                    answer = connection.makefile("rb").read()
                device = lines[9:10].decode()
                if ctypes.CDLL("libsoup-3.0.so.0").soup_get_minor_version() < 6:
                    self.assertIn(b" 400 " if kept == 1 else b" 204 ", answer.split(b"\r\n")[0])
                else:  # it hands on nothing of such a body
                    self.assertEqual(answer, b"")
                    kept = 0
                self.assertEqual(len(self.rows(where=f"device = '{device}'")), kept)

    def test_gzip(self):
        text = "".join(f"m,device=D x={i} {10**9 + i}\n" for i in range(5000)).encode()
        with self.collector() as collector:
            self.taken(collector, gzip.compress(text), **{"Content-Encoding": "gzip"})
            self.taken(collector, zlib.compress(text.replace(b"=D", b"=E")), **{"Content-Encoding": "deflate"})
            xml = message("X", 1000, [("S", 0, {"d": {"n": 1}})])
            self.assertEqual(collector.request("POST", "/telemetry", gzip.compress(xml.encode()), {"Content-Encoding": "gzip"})[0], 200)
            self.assertEqual(collector.status()["stored_values"], 10001)
            packed = gzip.compress(text.replace(b"=D", b"=F"))
            for body, code, reason in ((packed[:-9], 400, "ends too early"), (packed + b"x", 400, "follows"),
                                       (packed[:60] + b"\0\1\2\3" + packed[64:], 400, "damaged"),
                                       (b"m,device=D x=1", 400, "damaged"),
                                       (gzip.compress(b"#" * (17 << 20)), 413, "longer than")):
                status, answer = self.write(collector, body, **{"Content-Encoding": "gzip"})
                self.assertEqual(status, code, answer)
                self.assertIn(reason, json.loads(answer)["error"])
            self.assertEqual(self.write(collector, text, **{"Content-Encoding": "br"})[0], 415)
            self.taken(collector, "m,device=D x=1")

    def test_others_have_turns_while_a_body_is_unpacked(self):
        """Four MiB come in less than is read at a time. Others are answered again and again before these are through."""
        body = gzip.compress(b"m x=1\n" * ((4 << 20) // 6))
        self.assertLess(len(body), 8192)
        head = f"POST /write?db=x HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"

        def answered_before(collector):
            """How often another one was, before this body was."""
            address = urllib.parse.urlsplit(collector.web)
            other = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
            turns = 0
            with socket.create_connection((address.hostname, address.port)) as packed:
                packed.sendall(head.replace("Host: x", f"Host: {address.netloc}").encode() + body)
                while not select.select([packed], [], [], 0)[0]:
                    other.request("GET", "/health")
                    other.getresponse().read()
                    turns += 1
                self.assertIn(b" 400 ", packed.recv(100))  # no tag names the device
            other.close()
            return turns
        with self.collector() as collector:
            # On a busy machine the other one may come too late for most of them.
            wait_until(lambda: answered_before(collector) > 5, "answers while a body is unpacked", 60)

    def test_whose_clock(self):
        """Times are UTC where they can be; a clock that is ahead or was never set is followed; the device may say its own."""
        def moment(device):
            return self.rows("max(time_us)", f"device = '{device}'")[0][0] / 1e6
        with self.collector() as collector:
            now = time.time()
            self.taken(collector, f"m,device=old x=1 {int(now) - 86400 * 30}", "precision=s")
            self.assertEqual(moment("old"), int(now) - 86400 * 30)
            for device, query, sent in (("none", "precision=s", ""), ("ahead", "precision=s", f" {int(now) + 7200}"),
                                        ("unset", "precision=s", " 17"), ("behind", f"precision=ms&time={int(now) * 1000 - 9000000}",
                                                                          f" {int(now) * 1000 - 9000000}")):
                self.taken(collector, f"m,device={device} x=1{sent}", query)
                self.assertAlmostEqual(moment(device), time.time(), delta=10, msg=device)
            # One that is a little ahead moves nothing but itself.
            for age in 86400, -0.9, 2 * 86400, 5:
                sent = int((time.time() - age) * 1000)
                self.taken(collector, f"m,device=near x={sent} {sent}", "precision=ms")
                self.assertEqual(self.rows("time_us", f"device = 'near' AND value = {sent}"), [(sent * 1000,)], age)
            # A clock that is set while the device runs: another epoch, and UTC from then on.
            self.taken(collector, f"m,device=unset x=2 {int(now) - 1000}", "precision=s")
            self.assertEqual(self.rows("time_us, epoch", "device = 'unset' AND value = 2"), [((int(now) - 1000) * 10**6, 1)])

    def test_which_tags(self):
        with self.collector("telemetry.device_tags=[box]", "telemetry.ignored_tags=[host]") as collector:
            self.taken(collector, "m,box=B,host=h,device=sda x=1 1")
            self.assertEqual(self.rows()[0][:2], ("B", "m.sda.x"))
            live = collector.websocket("/telemetry/live?format=xml")
            self.taken(collector, "m,box=B x=2 2")
            self.assertIn('<m time="0"><value x="2"/></m>', live.receive().replace("0.002", "0"))
            live.close()


class Json(WaysIn):
    """As XML, but for the writing: the schema says what is taken, and what is not is told."""

    EXAMPLE = {"id": "ROBO1", "time": 123456.5, "boot": "17", "seq": 12, "sets": [
        {"name": "Output", "time": -60, "values": {"drive": {"velocity": 50.25}}},
        {"name": "Input", "time": 100000, "values": {"battery": {"level": 11.8, "note": "full"}, "pir": {"on": True}}}]}

    def post(self, collector, value, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        status, text = collector.request("POST", "/telemetry/json", body, headers)
        return status, json.loads(text)

    def test_the_same_as_xml(self):
        with self.collector() as collector:
            other = {**self.EXAMPLE, "id": "ROBO2", "seq": 13}
            self.assertEqual(self.post(collector, [self.EXAMPLE, other]), (200, {"stored": 2, "refused": 0, "reasons": []}))
            self.assertEqual(self.post(collector, json.dumps(self.EXAMPLE).encode() * 2)[1]["stored"], 2)  # sent again
            packed = gzip.compress(json.dumps(other).encode())
            self.assertEqual(self.post(collector, packed, **{"Content-Encoding": "gzip"})[0], 200)
            xml = ("<MESSAGE id='ROBO3' time='123456.5' boot='17' seq='12'><Output time='-60'><drive velocity='50.25'/></Output>"
                   "<Input time='100000'><battery level='11.8' note='full'/><pir on='1'/></Input></MESSAGE>")
            self.assertEqual(collector.request("POST", "/telemetry", xml)[0], 200)
            collector.kill()
        rows = {device: self.rows("attribute_identifier, value, device_time_us, epoch", f"device = '{device}'")
                for device in ("ROBO1", "ROBO2", "ROBO3")}
        self.assertEqual(rows["ROBO1"], [("Input.battery.level", 11.8, 100000000, 0), ("Input.battery.note", "full", 100000000, 0),
                                         ("Input.pir.on", 1, 100000000, 0), ("Output.drive.velocity", 50.25, 123396500, 0)])
        self.assertEqual(rows["ROBO1"], rows["ROBO2"])
        self.assertEqual(rows["ROBO1"], rows["ROBO3"])

    def test_a_device_that_begins_again_and_again_does_not_flood_the_log(self):
        with self.collector() as collector:
            messages = [{**self.EXAMPLE, "boot": f"b{number}"} for number in range(500)]
            self.assertEqual(self.post(collector, messages)[1]["stored"], 500)
        said = [line for line in collector.log if "boot epoch" in line]
        self.assertGreater(len(said), 0)
        self.assertLess(len(said), 499)

    def test_what_the_schema_says_is_what_is_taken(self):
        def changed(**changes):
            return {**self.EXAMPLE, **changes}

        def in_set(**changes):
            return changed(sets=[{**self.EXAMPLE["sets"][0], **changes}])

        def value(value):
            return in_set(values={"d": {"v": value}})

        good = [self.EXAMPLE, [self.EXAMPLE], [], changed(sets=[]), changed(time=0), changed(time=-1.5), value("text\n"), value(1e300),
                in_set(name="Näme:x.y-z"), {key: self.EXAMPLE[key] for key in ("id", "time", "sets")}]
        bad = [1, "text", None, {}, [[self.EXAMPLE]], changed(id=""), changed(id="x" * 65), changed(id="a\nb"), changed(time="1"),
               changed(time=1e15), changed(boot=17), changed(boot=""), changed(seq=-1), changed(seq=1.5), changed(seq="1"),
               changed(seq=2**53 + 1), changed(more=1), changed(sets={}), in_set(name="a b"), in_set(name="1a"), in_set(time=None),
               in_set(values=[]), in_set(more=1), in_set(values={"d": 1}), in_set(values={"d e": {}}), in_set(values={"d": {"1": 1}}),
               value(None), value([1]), value({}), value("\x01"), value("x" * 4097), in_set(values={"d": {f"v{i}": i for i in range(1001)}})]
        with self.collector() as collector:
            schema = json.loads(collector.get("/message.schema.json"))
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
            for example in schema["examples"] + good:
                self.assertTrue(validator.is_valid(example), example)
                status, answer = self.post(collector, example)
                self.assertEqual((status, answer["refused"]), (200, 0), (example, answer))
            for example in bad:
                self.assertFalse(validator.is_valid(example), example)
                status, answer = self.post(collector, example)
                self.assertEqual((status, answer["stored"]), (400, 0), (example, answer))
                self.assertTrue(answer["reasons"][0]["reason"], example)

    def test_refused_with_line_and_column(self):
        good = json.dumps(self.EXAMPLE)
        with self.collector() as collector:
            status, answer = self.post(collector, f'{good}\n  {{"id": "x",\n "id": "y"}} {good}'.encode())
            self.assertEqual((status, answer), (400, {"stored": 2, "refused": 1, "reasons": [
                {"line": 3, "column": 2, "reason": "the key 'id' stands twice"}]}))
            status, answer = self.post(collector, f"[{good}".encode())
            self.assertEqual((status, answer["stored"], answer["reasons"][0]["reason"]), (400, 1, "the array does not end"))
            self.assertEqual(self.post(collector, b'{"id": "' + b"x" * (1 << 20) + b'"}')[0], 400)
            self.assertEqual(collector.request("POST", "/telemetry/json", b" " * (17 << 20))[0], 413)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
