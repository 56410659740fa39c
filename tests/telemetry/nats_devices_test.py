#!/usr/bin/env python3
"""Devices that publish to NATS, or by MQTT through its gateway: they mean the same as by any other way in; what they published is
stored, also when every collector was away."""
import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from support.nats import Client, Nats, Writer
from support.telemetry import SOURCE, Collector, LineSocket, WithStores, wait_until

MESSAGES = [("17", 1, 500, {"battery": {"level": 11.8, "charge": 0.5}, "pir": {"on": True}}),
            ("17", 2, 600, {"battery": {"level": 11.7}, "note": {"text": "a <b> & \"c\" ö"}}),
            ("18", 1, 40, {"battery": {"level": 11.8, "charge": 0.5}})]


def xml(device, boot, seq, when, values):
    def text(value):
        value = str(int(value)) if isinstance(value, bool) else str(value)
        return value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    sets = "".join(f"<{name} " + " ".join(f'{key}="{text(value)}"' for key, value in of.items()) + "/>" for name, of in values.items())
    return f'<MESSAGE id="{device}" boot="{boot}" seq="{seq}" time="{when}" ack="yes"><Input time="-10">{sets}</Input></MESSAGE>'


def as_json(device, boot, seq, when, values):
    return json.dumps({"id": device, "boot": boot, "seq": seq, "time": when, "sets": [{"name": "Input", "time": -10, "values": values}]})


class WithNats(WithStores):
    def setUp(self):
        self.log = Nats(mqtt=True)
        self.addCleanup(self.log.close)
        self.url = self.stores.url("sqlite")
        self.client = Client(self.log)
        self.addCleanup(self.client.close)

    def collector(self, *settings, store=None):
        made = Collector(store or self.url, f"telemetry.nats={self.log.url}", *settings)
        self.addCleanup(made.kill)
        return made

    def rows(self, what, where="1"):
        with sqlite3.connect(self.url.removeprefix("sqlite:")) as db:
            return db.execute(f"SELECT {what} FROM telemetry WHERE {where} ORDER BY device, time_us, attribute").fetchall()

    def ask(self, subject, text):
        answer = wait_until(lambda: self.client.request(subject, text), "a collector answers")
        return json.loads(answer)

    def wait_taking(self):
        return self.ask("tether.ask.nobody", "")

    def publish_mqtt(self, device, text):
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.log.mqtt_ports[0]), "-V", "mqttv311", "-i", "robot", "-q", "1",
                        "-t", f"tether/in/{device}", "-s"], input=text.encode(), check=True, timeout=60)


class Devices(WithNats):
    def test_every_way_in_means_the_same(self):
        with self.collector() as collector:
            self.wait_taking()

            def by_tcp(text):
                with LineSocket(collector.address, 30) as connection:
                    connection.sendall(text.encode())
                    self.assertTrue(connection.lines()[0].startswith(b"<ACK "))

            def by_http(path):
                return lambda text: self.assertEqual(collector.request("POST", path, text.encode())[0], 200)

            def by_nats(device):
                return lambda text: self.assertIn(b'"stream":"tether-in"', self.client.request(f"tether.in.{device}", text))

            def by_asking(device):
                return lambda text: self.assertEqual(self.ask(f"tether.ask.{device}", text), {"stored": 1, "refused": 0, "reasons": []})
            ways = {"tcp": (by_tcp, xml), "http": (by_http("/telemetry"), xml), "json": (by_http("/telemetry/json"), as_json),
                    "nats 1.x": (by_nats("nats%201%2Ex"), xml), "natsjson": (by_nats("natsjson"), as_json),
                    "ask": (by_asking("ask"), xml), "askjson": (by_asking("askjson"), as_json),
                    "mqtt": (lambda text: self.publish_mqtt("mqtt", text), xml),
                    "mqttjson": (lambda text: self.publish_mqtt("mqttjson", text), as_json)}
            for again in range(2):  # the second time as after acknowledgements that were lost
                for device, (send, write) in ways.items():
                    for made in MESSAGES:
                        send(write(device, *made))
                wait_until(lambda count=len(ways) * len(MESSAGES) * (again + 1): collector.status()["messages"] == count, "all is taken")
            wait_until(lambda: self.log.waiting("collector", "tether-in") == 0, "all is done")
        rows = {device: self.rows("attribute_identifier, value, device_time_us, epoch", f"device = '{device}'") for device in ways}
        for device in ways:
            self.assertEqual(rows[device], rows["tcp"], device)
        self.assertEqual(len(rows["tcp"]), 3 + 2 + 2)
        self.assertIn(("Input.note.text", 'a <b> & "c" ö', 590000, 0), rows["mqtt"])

    def test_answers_are_those_of_http(self):
        with self.collector("telemetry.max_attributes=3") as collector:
            self.wait_taking()
            collector.put("/telemetry/handling/S.d.f", {"type": "flag"})
            good = "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>"
            for body in (good, good.replace("time='1'", "time='2'") + "<MESSAGE id='D'><S", good.replace("n=", "f="), "{\"id\":", "[]", "<?xml?>",
                         good.replace("n='1'", "a='1' b='2' c='3'")):
                path = "/telemetry/json" if body[0] in "{[" else "/telemetry"
                expected = json.loads(collector.request("POST", path, body.encode())[1])
                answer = self.ask("tether.ask.D", body)
                if not expected["stored"] and not expected["refused"]:
                    self.assertEqual(answer["reasons"][0]["reason"], "there is no message")
                else:
                    self.assertEqual(answer, expected, body)
            answer = self.ask("tether.ask.E", good)
            self.assertEqual((answer["stored"], answer["reasons"][0]["reason"]), (0, "its id is 'D', and its subject of 'E'"))

    def test_answers_go_to_inboxes_alone(self):
        """A collector may publish more than a device, and does nothing for it."""
        collector = self.collector()
        self.wait_taking()
        self.client.send(b"SUB tether.log.> 2\r\nSUB robots.> 3\r\n")
        text = "<MESSAGE id='D' time='{0}'><S time='0'><d n='{0}'/></S></MESSAGE>"
        inbox = f"{self.client.inbox}.D"
        for number, reply in enumerate(("$JS.API.STREAM.PURGE.tether-in", "tether.log.D", "robots.D", inbox)):
            self.client.publish("tether.ask.D", text.format(10 * (number + 1)), reply)
        while not (line := self.client.file.readline()).startswith(b"MSG "):
            self.assertNotIn(b"-ERR", line)
        self.assertEqual(line.split()[1], inbox.encode())
        collector.wait_stored(4)
        self.assertEqual(len([line for line in collector.log if "only subjects that begin with _INBOX are answered" in line]), 1)

    def test_devices_of_another_account(self):
        """The server makes other subjects of their inboxes."""
        accounts = ("accounts { COLLECTOR { jetstream: enabled, users: [{user: ann, password: a}], exports: [{service: \"tether.ask.>\"}] }\n"
                    "DEVICES { users: [{user: bob, password: b}], imports: [{service: {account: COLLECTOR, subject: \"tether.ask.>\"}}] } }\n")
        server = Nats(more=accounts)
        self.addCleanup(server.close)
        collector = Collector(self.url, f"telemetry.nats={server.url.replace('//', '//ann:a@')}")
        self.addCleanup(collector.kill)
        one, another = Client(server, user="ann", password="a"), Client(server, user="bob", password="b")
        for client in one, another:
            self.addCleanup(client.close)
        wait_until(lambda: one.request("tether.ask.nobody", ""), "a collector answers")
        text = "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>"
        self.assertEqual(json.loads(another.request("tether.ask.D", text)), {"stored": 1, "refused": 0, "reasons": []})

    def test_what_is_asked_while_the_store_stands(self):
        """Answers that wait have an end, also where nothing of their messages does."""
        count = 25000
        with self.collector() as collector, sqlite3.connect(self.url.removeprefix("sqlite:"), isolation_level=None) as db:
            self.wait_taking()
            db.execute("BEGIN IMMEDIATE")
            inbox = self.client.inbox
            self.client.publish("tether.ask.D", "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>", f"{inbox}.0")
            wait_until(lambda: collector.status()["degraded"], "the store stands")
            asked = "<MESSAGE id='D' time='2'/>"
            threading.Thread(target=self.client.send, daemon=True, args=(
                "".join(f"PUB tether.ask.D {inbox}.{i} {len(asked)}\r\n{asked}\r\n" for i in range(count)).encode(),)).start()
            first = self.answer()
            self.assertEqual(first, {"stored": 0, "refused": 0, "reasons": [], "error": "the store is behind; send the rest again"})
            db.execute("ROLLBACK")
            answers = [first] + [self.answer() for _ in range(count)]
            self.assertGreaterEqual(sum(answer["stored"] for answer in answers), 20000)
            collector.wait_stored(1)
        db.close()

    def answer(self):
        while True:
            parts = self.client.file.readline().split()
            if parts[0] == b"PING":
                self.client.send(b"PONG\r\n")
            elif parts[0] == b"MSG":
                return json.loads(self.client.file.read(int(parts[-1]) + 2))

    def test_the_examples_of_the_page(self):
        page = (SOURCE / "docs/telemetry-nats.md").read_text(encoding="utf-8")
        published, asked, sent = (re.search(rf"^    {command} .*?(?:\"(<.*)\"|'({{.*)')$", page, re.MULTILINE)
                                  for command in ("nats pub", "nats request", "mosquitto_pub"))
        with self.collector() as collector:
            self.wait_taking()
            self.client.request("tether.in.ROBO1", published[1])
            self.assertEqual(self.ask("tether.ask.ROBO1", asked[2]), {"stored": 1, "refused": 0, "reasons": []})
            self.publish_mqtt("ROBO1", sent[1])
            collector.wait_stored(3)
        self.assertEqual(sorted(row[0] for row in self.rows("value")), [11.6, 11.7, 11.8])

    def test_what_is_none_is_refused_and_the_next_one_taken(self):
        with self.collector() as collector:
            self.wait_taking()
            good = "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>"
            refused = collector.status()["refused"]
            bad = [(subject, good) for subject in (b"tether.in.%", b"tether.in.D%0", b"tether.in.D%00", b"tether.in.\xff\xfe", b"tether.in.D.D",
                                                   b"tether.in." + b"D" * 300, b"tether.in.d")]
            bad += [("tether.in.D", text) for text in ("", b"\0" * 1000, b"\xff" * 1000, "<" * 900000, "[" * 900000, "{\"id\": \"D\"" * 50000,
                                                       "<!DOCTYPE x [<!ENTITY a 'b'>]>" + good, "<MESSAGE id='D' time='1'><S n='" + "x" * 1000000)]
            for subject, text in bad:
                self.client.publish(subject, text)
            self.client.flush()
            self.client.publish("tether.in.D", good)
            collector.wait_stored(1)
            self.assertEqual(collector.status()["stored_values"], 1)
            self.assertGreaterEqual(collector.status()["refused"], refused + len(bad))
            wait_until(lambda: self.log.waiting("collector", "tether-in") == 0, "none of it comes again")

    def test_what_was_published_while_no_collector_was_there(self):
        """It is stored with the time at which the server got it."""
        with self.collector():
            self.wait_taking()
        self.assertIsNone(self.client.request("tether.ask.D", "<MESSAGE id='D'/>"))
        published = time.time()
        for i in range(50):
            answer = json.loads(self.client.request("tether.in.D", f"<MESSAGE id='D' time='{i * 10}'><S time='0'><d n='{i}'/></S></MESSAGE>"))
            self.assertEqual(answer["stream"], "tether-in")
            time.sleep(0.01)
        took = time.time() - published
        time.sleep(1)
        with self.collector() as collector:
            collector.wait_stored(50)
            rows = self.rows("value, time_us, epoch")
            self.assertEqual([value for value, *_ in rows], list(range(50)))
            self.assertEqual({epoch for *_, epoch in rows}, {0})
            self.assertLess(abs(rows[-1][1] / 1e6 - published - 0.49), took)

    def test_what_somebody_removes_is_made_again(self):
        with self.collector():
            self.wait_taking()
            for seq, removed in enumerate(("STREAM.DELETE.tether-in", "CONSUMER.DELETE.tether-in.collector", "STREAM.DELETE.KV_tether-in"), 1):
                self.assertIn(b'"success":true', self.client.request(f"$JS.API.{removed}", ""))
                text = xml("17", 1, seq, 500 + seq, {"battery": {"level": seq}})

                def is_stored(text=text, seq=seq):
                    self.client.request("tether.in.17", text)  # also once more, while there is no stream
                    return (seq,) in self.rows("value")
                wait_until(is_stored, f"what came after {removed}")
        self.assertEqual(self.rows("value"), [(1,), (2,), (3,)])

    def test_who_stands_by_makes_the_bucket_again(self):
        """Somebody removes it after whoever took has died."""
        first = self.collector()
        self.wait_taking()
        other = self.collector(store=self.stores.url("sqlite"))
        wait_until(lambda: (other.status()["published"] or {}).get("taker"), "the other one knows who takes")
        first.kill()
        self.assertIn(b'"success":true', self.client.request("$JS.API.STREAM.DELETE.KV_tether-in", ""))
        wait_until(lambda: (other.status()["published"] or {}).get("takes"), "the other one takes", 60)

    def test_two_collectors_one_of_which_is_stopped_and_killed(self):
        """One takes, the other stands by; of what was published nothing is lost, nothing is stored twice, and a device has one epoch."""
        collectors = [self.collector(*self.stores.settings("postgresql"), store=self.log.url) for _ in range(2)]
        writer = Writer(self.log.url, self.url)
        self.addCleanup(writer.stop, signal.SIGKILL)
        self.wait_taking()
        published, over = [], threading.Event()

        def publish():
            client = Client(self.log)
            begun = time.monotonic()
            while not over.is_set():
                i = len(published)
                client.request(f"tether.in.D{i % 3}", f"<MESSAGE id='D{i % 3}' time='{(time.monotonic() - begun) * 1000:.3f}'><S time='0'>"
                               f"<d n='{i}'/></S></MESSAGE>")
                published.append(i)
                time.sleep(0.005)
            client.close()
        device = threading.Thread(target=publish, daemon=True)
        device.start()

        def taken():
            return [collector.status()["messages"] for collector in collectors]
        wait_until(lambda: sum(taken()) > 50, "one of them takes")
        counts = taken()
        self.assertEqual(min(counts), 0, "one stands by")
        self.assertEqual([collector.status()["published"]["takes"] for collector in collectors], [count > 0 for count in counts])
        taker = str(collectors[counts.index(max(counts))].process.pid)
        wait_until(lambda: all((collector.status()["published"]["taker"] or "").split()[1:2] == [taker] for collector in collectors),
                   "both know which process takes")
        taking = counts.index(max(counts))
        other = collectors[1 - taking]
        collectors[taking].process.send_signal(signal.SIGSTOP)
        wait_until(lambda: other.status()["messages"] > 50, "the other one takes", 60)
        collectors[taking].process.send_signal(signal.SIGCONT)  # it has lost its lease, and what it has in hand
        wait_until(lambda: any("stands by" in line for line in collectors[taking].log), "it says so", 60)
        goes_on = other.status()["messages"] + 50
        wait_until(lambda: other.status()["messages"] > goes_on, "the other one goes on", 60)
        collectors[taking].kill()
        over.set()
        device.join(60)
        wait_until(lambda: len(self.rows("value")) >= len(published), "all of it is stored", 60)
        wait_until(lambda: self.log.waiting("collector", "tether-in") == 0, "all of it is done", 60)
        other.close()
        writer.close()
        rows = self.rows("value, epoch")
        self.assertEqual(sorted(value for value, _ in rows), list(range(len(published))))
        self.assertEqual({epoch for _, epoch in rows}, {0})


if __name__ == "__main__":
    sys.exit(unittest.main())
