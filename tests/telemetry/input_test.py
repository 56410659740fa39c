#!/usr/bin/env python3
"""What comes in over sockets: bad XML between good messages, floods of connections, slow senders, and memory."""
import itertools
import json
import pathlib
import socket
import sys
import time
import unittest

from support.telemetry import Collector, WithStores, at_best, message, seconds, wait_until

DOCTYPE = "<!DOCTYPE MESSAGE [<!ENTITY a 'ha'>" + "".join(
    f"<!ENTITY {chr(98 + i)} '{('&' + chr(97 + i) + ';') * 10}'>" for i in range(9)) + "]>"
BAD = [
    "<MESSAGE time='1'/>", "<MESSAGE id='B'/>", "<MESSAGE id='B' time='soon'/>", "<MESSAGE id='B' time='1e999'/>",
    "<MESSAGE id='B' time='1'><S><d v='1'/></S></MESSAGE>", "<MESSAGE id='B' time='1'>text</MESSAGE>",
    "<MESSAGE id='B' time='1'><S time='1'><d><e/></d></S></MESSAGE>", "<MESSAGE id='B' time='1' time='2'/>",
    "<MESSAGE id='B' time='1'><S time='1'></T></MESSAGE>", "<x/>", "hello", "<MESSAGE id='\xff' time='1'/>",
    DOCTYPE + "<MESSAGE id='&j;' time='1'/>",
    "<!DOCTYPE m [<!ENTITY x SYSTEM 'http://127.0.0.1:1/'>]><MESSAGE id='&x;' time='1'/>",
    "<!DOCTYPE m [<!ENTITY % x SYSTEM 'file:///etc/passwd'> %x;]><MESSAGE id='B' time='1'/>",
    "<MESSAGE id='&lol;' time='1'/>", "<MESSAGE id='B' time='1'>" + "<S time='1'>" * 10000,
    "<MESSAGE id='B' time='1'><S time='1'><d " + " ".join(f"a{i}='1'" for i in range(2000)) + "/></S></MESSAGE>",
    "<MESSAGE id='B' time='1'>" + "<S time='1'/>" * 100000, "<MESSAGE id='" + "B" * 100000 + "' time='1'/>",
]


def good(number):
    return message("G", 1000 + number * 10, [("S", 0, {"d": {"n": number}})], True)


def memory_kib(process):
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(text.split("VmRSS:")[1].split()[0])


class Input(WithStores):
    def collector(self, *settings):
        return Collector(self.stores.url("sqlite"), *settings)

    def test_every_refusal_of_a_long_connection_is_told(self):
        with self.collector() as collector:
            connection = collector.websocket("/telemetry/in")
            for _ in range(105):  # one answer lists at most 100
                connection.send('<MESSAGE id="A" time="noon"/>')
                self.assertIn('"reason":', connection.receive())
            connection.close()

    def test_bad_messages_between_good_ones(self):
        with self.collector() as collector, collector.connect() as connection:
            for number, bad in enumerate(BAD):
                connection.sendall(good(number).encode() + bad.encode("latin-1") + b"\n")
            connection.sendall(good(len(BAD)).encode())
            answers = b""
            while answers.count(b"<ACK") < len(BAD) + 1:
                answers += connection.recv(65536)
            self.assertGreaterEqual(answers.count(b"<REFUSED "), len(BAD))
            self.assertIn(b'line="1"', answers)
            status = collector.status()
            self.assertEqual(status["messages"], len(BAD) + 1)
            self.assertGreaterEqual(status["refused"], len(BAD))
            numbers = [record[2] for record in collector.table("device=G")["records"]]
            self.assertEqual(numbers, list(range(len(BAD) + 1)))
            self.assertLess(memory_kib(collector.process), 150_000)

    def test_http_says_what_is_wrong(self):
        with self.collector() as collector:
            for bad in BAD:
                status, answer = collector.request("POST", "/telemetry", bad.encode("latin-1"))
                self.assertEqual(status, 400, bad[:80])
                self.assertTrue(json.loads(answer)["reasons"][0]["reason"])
            status, answer = collector.request("POST", "/telemetry", good(1) + BAD[0] + good(2))
            self.assertEqual((status, json.loads(answer)["stored"]), (400, 2))
            status, _ = collector.request("POST", "/telemetry", b"x" * (17 << 20))
            self.assertEqual(status, 413)

    def test_values_that_do_not_fit_are_told(self):
        """Kept is what fits; what does not is named in the answer, whichever way it came."""
        with Collector(self.stores.url("sqlite")) as collector:
            collector.put("/telemetry/handling/S.d.on", {"type": "flag"})
            collector.put("/telemetry/handling/S.d.n", {"type": "number"})

            def mixed(when, on="maybe"):
                return message("D", when, [("S", when, {"d": {"on": on, "n": "much", "v": when}})], True)

            with collector.connect() as link:
                link.sendall(mixed(1000).encode())
                answer = link.recv(65536).decode()
                self.assertIn('dropped="2" reason="S.d.on is no flag"', answer)
                link.sendall(message("D", 1010, [("S", 1010, {"d": {"on": "yes", "n": 1}})], True).encode())
                self.assertNotIn("dropped", link.recv(65536).decode())
            status, text = collector.request("POST", "/telemetry", mixed(1020) + mixed(1030, "off"))
            self.assertEqual(status, 200)
            answer = json.loads(text)
            self.assertEqual((answer["stored"], answer["dropped_values"]), (2, 3))
            self.assertEqual(answer["dropped"], ["S.d.on is no flag", "S.d.n is no number"])
            socket_in = collector.websocket("/telemetry/in")
            socket_in.send(mixed(1040))
            self.assertIn('dropped="2" reason="S.d.on is no flag"', socket_in.receive())
            socket_in.close()
            self.assertEqual([row[2] for row in collector.table("fields=S.d.v&origin=device")["records"]],
                             [1000, 1020, 1030, 1040])
            self.assertEqual(collector.status()["bad_values"], 7)
            wait_until(lambda: any("is dropped: S.d.on is no flag" in line for line in collector.log), "and logged")

    def test_truncated_at_every_byte(self):
        text = good(1).encode().rstrip()
        with self.collector() as collector:
            for size in range(1, len(text), 7):
                with collector.connect() as connection:
                    connection.sendall(text[:size])
            wait_until(lambda: collector.status()["refused"] == len(range(1, len(text), 7)), "all refused")
            self.assertEqual(collector.status()["messages"], 0)

    def test_one_byte_at_a_time(self):
        with self.collector() as collector, collector.connect() as connection:
            for byte in good(1).encode():
                connection.sendall(bytes([byte]))
            self.assertEqual(connection.recv(100), b'<ACK id="G" time="1010"/>\n')

    def test_a_message_takes_too_long(self):
        """A byte now and then: five seconds a message, on TCP, in a POST, through a WebSocket; others are served meanwhile."""
        head = b"POST /telemetry HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
        with self.collector() as collector:
            host, port = collector.web[7:].split(":")
            web = [socket.create_connection((host, int(port)), timeout=20) for _ in range(20)]
            tcp = [collector.connect() for _ in range(20)]
            sockets = [collector.websocket("/telemetry/in") for _ in range(20)]
            start = time.monotonic()
            for connection in web:
                connection.sendall(head)

            def drip(byte):
                for connection in web + tcp:
                    connection.sendall(byte)
                for connection in sockets:
                    connection.send(byte)

            with self.assertRaises(OSError):  # what is cut resets what is still sent
                for byte in good(1).encode():
                    drip(bytes([byte]))
                    time.sleep(0.2)
                    self.assertLess(time.monotonic() - start, 15, "nobody is cut")
            self.assertGreater(time.monotonic() - start, 4.5)
            with collector.connect() as connection:
                connection.sendall(good(2).encode())
                self.assertIn(b"<ACK", connection.recv(100))
            for connection in web + tcp + [one.socket for one in sockets]:
                connection.settimeout(5)
                try:
                    while connection.recv(1000):
                        pass
                except ConnectionError:
                    pass
                connection.close()
            status = collector.status()
            self.assertEqual(status["refused"], 20)
            self.assertEqual(status["web_cut_connections"], 40)
            self.assertEqual(status["messages"], 1)

    def test_many_connections(self):
        """Two hundred that say nothing don't disturb one that does; those above the limit are turned away."""
        with self.collector("telemetry.max_connections=210") as collector:
            idle = [collector.connect() for _ in range(200)]
            numbers = itertools.count()
            with collector.connect() as connection:
                def be_answered():
                    for number in itertools.islice(numbers, 20):
                        connection.sendall(good(number).encode())
                        self.assertIn(b"<ACK", connection.recv(100))
                at_best(lambda: seconds(be_answered), 5)
            more = [collector.connect() for _ in range(30)]
            closed = 0
            for connection in more:
                connection.settimeout(1)
                try:
                    closed += connection.recv(1) == b""
                except TimeoutError:
                    pass
                except ConnectionError:
                    closed += 1
            self.assertGreaterEqual(closed, 15)
            for connection in idle + more:
                connection.close()
            with collector.connect() as connection:
                connection.sendall(good(next(numbers)).encode())
                self.assertIn(b"<ACK", connection.recv(100))

    def test_a_sender_that_never_reads(self):
        """Its acknowledgements pile up until it is cut; others go on."""
        with self.collector() as collector:
            deaf = socket.socket()
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.settimeout(10)
            deaf.connect(collector.address)
            try:
                for number in range(60000):
                    deaf.sendall(message("DEAF", 1000 + number, [("S", 0, {"d": {"n": number}})], True).encode())
            except OSError:
                pass
            with collector.connect() as connection:
                connection.sendall(good(1).encode())
                self.assertIn(b"<ACK", connection.recv(100))
            deaf.close()

    def test_limits_of_names(self):
        with self.collector("telemetry.max_devices=3", "telemetry.max_attributes=5") as collector:
            for number in range(6):
                status, _ = collector.request("POST", "/telemetry", message(f"N{number}", 5, [("S", 0, {"d": {"n": 1}})]))
                self.assertEqual(status, 200 if number < 3 else 400)
            status, answer = collector.request(
                "POST", "/telemetry", message("N1", 6, [("S", 0, {"d": {f"n{i}": 1 for i in range(9)}})]))
            self.assertEqual(status, 400)
            self.assertIn("more than 5 attributes", answer)

    def test_what_is_refused_leaves_no_names(self):
        """One name too many: neither the names before it nor the device stay, and there is still room for others."""
        with self.collector("telemetry.max_devices=2", "telemetry.max_attributes=5") as collector:
            def names():
                return [[item[key] for item in json.loads(collector.get(f"/telemetry/{key}s"))] for key in ("device", "attribute")]
            self.assertEqual(collector.request("POST", "/telemetry", message("A", 1, [("S", 0, {"d": {"a": 1, "b": 2}})]))[0], 200)
            before = names()
            status, answer = collector.request("POST", "/telemetry", message(
                "B", 1, [("S", 0, {"d": {f"n{i}": i for i in range(4)}})]))
            self.assertEqual(status, 400)
            self.assertIn("more than 5 attributes", answer)
            self.assertEqual(names(), before)
            self.assertEqual(collector.request("POST", "/telemetry", message("B", 1, [("S", 0, {"d": {"a": 1, "c": 3}, "e": {"c": 4, "d": 5}})]))[0], 200)
            before = names()
            self.assertEqual(len(before[1]), 5)
            status, answer = collector.request("POST", "/telemetry", message("C", 1, [("S", 0, {"d": {"a": 1}})]))
            self.assertEqual(status, 400)
            self.assertIn("more than 2 devices", answer)
            self.assertEqual(names(), before)

    def test_a_refused_change_changes_nothing(self):
        with self.collector() as collector:
            collector.put("/telemetry/devices/A", {"name": "Anna"})
            collector.put("/telemetry/attributes/S.d.a", {"name": "Level"})
            before = collector.get("/telemetry/devices"), collector.get("/telemetry/attributes")
            for path, body in (("devices/B", {"name": "Anna"}), ("attributes/S.d.b", {"name": "Level"}),
                               ("attributes/S.d.b", {"name": "Other", "scale": 0}), ("attributes/S.d.a", {"name": "X", "mode": "eat"}),
                               ("attributes/S.d.b", {"scale": 0})):
                self.assertEqual(collector.request("PUT", "/telemetry/" + path, json.dumps(body))[0], 400, (path, body))
            self.assertEqual((collector.get("/telemetry/devices"), collector.get("/telemetry/attributes")), before)


if __name__ == "__main__":
    sys.exit(unittest.main())
