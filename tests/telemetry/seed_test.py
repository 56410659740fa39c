#!/usr/bin/env python3
"""The three messages of the seed come out as its table, byte for byte, through every way in and from both stores."""
import concurrent.futures
import contextlib
import datetime
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from support.telemetry import SOURCE, Collector, Stores, message, wait_until

GOLDEN = pathlib.Path(__file__).parent / "golden"


def drive(speed, turn):
    return [("Output", 0, {"drive": {"velocity": speed}, "turn": {"heading": turn}})]


# (seconds after the first, message)
SEED = [
    (0.0, message("ROBO1", 80000, drive(50, "Left"), True)),
    (0.05, message("ROBO2", 80050, drive(0, "Cntr"), True)),
    (4.0, message("ROBO1", 84000, drive(0, "Cntr"), True)),
]
EXAMPLE = """<?xml version="1.0"?>
<!-- From Device 1 -->
<MESSAGE id='1' time='123456'>
  <Output time='-60'> <drive velocity='50'/> <turn heading='12'/> </Output>
  <Output time='-40'> <drive velocity='40'/> <turn heading='10'/> </Output>
  <Input time='-10'>
    <bumper front='0' rear='1'/> <battery level='11.8' charge='0.5'/>
    <locator x='1.5' y='2.25'/> <pir on='1'/>
  </Input>
</MESSAGE>
"""
JAVA = SOURCE / "clients/java/rmi-bridge"


def at_their_pace(send):
    """Sends the seed; returns (before, after) of each message, s UTC: it was received between these."""
    start = time.monotonic()
    times = []
    for when, text in SEED:
        time.sleep(max(0, start + when - time.monotonic()))
        before = time.time()
        send(text)
        times.append((before, time.time()))
    return times


def over_tcp(collector, _):
    with collector.connect() as connection:
        def send(text):
            connection.sendall(text.encode())
            answers.append(connection.recv(4096))
        answers = []
        times = at_their_pace(send)
        assert answers == [b'<ACK id="ROBO1" time="80000"/>\n', b'<ACK id="ROBO2" time="80050"/>\n',
                           b'<ACK id="ROBO1" time="84000"/>\n'], answers
        connection.sendall(EXAMPLE.encode())
    return times


def over_http(collector, _):
    def post(text):
        status, answer = collector.request("POST", "/telemetry", text)
        assert (status, answer) == (200, '{"stored":1,"refused":0,"reasons":[]}\n'), (status, answer)
    times = at_their_pace(post)
    post(EXAMPLE)
    return times


def over_websocket(collector, _):
    connection = collector.websocket("/telemetry/in")
    assert connection.status == 101

    def send(text):
        connection.send(text)
        answers.append(connection.receive())
    answers = []
    times = at_their_pace(send)
    assert answers == ['<ACK id="ROBO1" time="80000"/>\n', '<ACK id="ROBO2" time="80050"/>\n',
                       '<ACK id="ROBO1" time="84000"/>\n'], answers
    connection.send(EXAMPLE)
    wait_until(lambda: len(collector.devices()) == 3, "the example has come")
    connection.close()
    return times


def over_rmi(collector, classes):
    """The bridge and a proxy as they run on robots, each a Java process."""
    java = ["java", "-XX:TieredStopAtLevel=1", "-cp", classes.result()]
    bridge = subprocess.Popen([*java, "tether.telemetry.Bridge", "--listen", "127.0.0.1:0", "--collector", collector.web],
                              stdout=subprocess.PIPE, text=True)
    try:
        port = bridge.stdout.readline().split("127.0.0.1:")[1].split()[0]
        proxy = subprocess.Popen([*java, "tether.telemetry.SampleProxy", f"127.0.0.1:{port}"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def send(text):
            proxy.stdin.write(text.replace("\n", " ").strip() + "\n")
            proxy.stdin.flush()
            assert proxy.stdout.readline() == "sent\n"
        send("<MESSAGE id='warm-up' time='1'/>")  # the first call loads half of Java
        times = at_their_pace(send)
        send(EXAMPLE)
        proxy.stdin.close()
        assert proxy.wait(20) == 0
        proxy.stdout.close()
        return times
    finally:
        bridge.terminate()
        bridge.wait(20)
        bridge.stdout.close()


def compile_bridge(folder):
    subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", folder, *map(str, sorted(JAVA.rglob("*.java")))], check=True)
    return folder


def golden_tables(collector):
    """Everything that is compared byte for byte, by name."""
    collector.put("/telemetry/attributes/Output.drive.velocity", {"name": "Speed"})
    collector.put("/telemetry/attributes/Output.turn.heading", {"name": "Turn"})
    tables = {}
    for kind in "xml", "csv", "json":
        tables[f"seed.{kind}"] = collector.get(
            f"/telemetry.{kind}?device=ROBO1,ROBO2&fields=Speed,Turn&origin=device").encode()
        tables[f"example.{kind}"] = collector.get(f"/telemetry.{kind}?device=1&origin=device").encode()
    return tables


WAYS = {"tcp": over_tcp, "http": over_http, "websocket": over_websocket, "rmi": over_rmi}


def run(url, settings, way, classes):
    """Everything that is to be looked at of one way into one store."""
    with Collector(url, *settings) as collector:
        times = way(collector, classes)
        collector.wait_stored(6 + 11)
        tables = golden_tables(collector)
        return times, tables, collector.table("device=ROBO1,ROBO2&time=iso")["records"]


def utc(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Seed(unittest.TestCase):
    """All ways into both stores run at once: each mostly waits for the seed's pace."""

    @classmethod
    def setUpClass(cls):
        cls.stores = Stores()
        cls.classes = tempfile.TemporaryDirectory()
        cls.pool = concurrent.futures.ThreadPoolExecutor(16)
        classes = cls.pool.submit(compile_bridge, cls.classes.name)
        cls.runs = {}
        for kind in "sqlite", "postgresql":
            for name, way in WAYS.items():
                url = cls.stores.url(kind) if kind == "sqlite" else cls.stores.postgres.database()
                cls.runs[name, kind] = cls.pool.submit(run, url, cls.stores.settings(kind), way, classes)

    @classmethod
    def tearDownClass(cls):
        cls.pool.shutdown()
        cls.stores.close()
        cls.classes.cleanup()

    def check(self, way, kind):
        times, tables, records = self.runs[way, kind].result()
        self.assertEqual(len(tables), 6)
        for name, table in tables.items():
            self.assertEqual(table.decode(), (GOLDEN / name).read_bytes().decode(), name)
            if name.endswith(".xml"):
                subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", SOURCE / "docs/telemetry.dtd", "-"],
                               input=table, check=True)
        self.check_times(times, [utc(record[1]) for record in records])

    def check_times(self, sent, normalized):
        """Normalized times are those of receipt, less what a message was held up more than the best one of its device."""
        us = 1e-6
        for (before, after), time_of_it in zip(sent, normalized):
            self.assertLessEqual(time_of_it, after + us)
        self.assertGreaterEqual(normalized[0], sent[0][0] - us)
        self.assertGreaterEqual(normalized[1], sent[1][0] - us)
        # The third comes 4 s behind the first on the device's clock, or earlier if it came with less delay.
        self.assertLessEqual(normalized[2], normalized[0] + 4 + us)
        self.assertGreaterEqual(normalized[2], min(normalized[0] + 4, sent[2][0]) - us)

    def test_tcp_sqlite(self):
        self.check("tcp", "sqlite")

    def test_tcp_postgresql(self):
        self.check("tcp", "postgresql")

    def test_http_sqlite(self):
        self.check("http", "sqlite")

    def test_http_postgresql(self):
        self.check("http", "postgresql")

    def test_websocket_sqlite(self):
        self.check("websocket", "sqlite")

    def test_websocket_postgresql(self):
        self.check("websocket", "postgresql")

    def test_rmi_sqlite(self):
        self.check("rmi", "sqlite")

    def test_rmi_postgresql(self):
        self.check("rmi", "postgresql")

    def test_rmi_says_what_does_not_fit(self):
        """A call that returns says that everything was kept."""
        self.runs["rmi", "sqlite"].result()  # so the bridge is compiled
        with Collector(self.stores.url("sqlite")) as collector:
            collector.put("/telemetry/handling/S.d.on", {"type": "flag"})
            java = ["java", "-XX:TieredStopAtLevel=1", "-cp", self.classes.name]
            with subprocess.Popen([*java, "tether.telemetry.Bridge", "--listen", "127.0.0.1:0", "--collector", collector.web],
                                  stdout=subprocess.PIPE, text=True) as bridge:
                try:
                    port = bridge.stdout.readline().split("127.0.0.1:")[1].split()[0]
                    caller = subprocess.run([*java, "tether.telemetry.SampleProxy", f"127.0.0.1:{port}"], text=True,
                                            input="<MESSAGE id='R' time='1'><S time='1'><d on='maybe' v='5'/></S></MESSAGE>\n",
                                            capture_output=True, timeout=60, check=False)
                finally:
                    bridge.terminate()
            self.assertNotIn("sent", caller.stdout)
            self.assertIn("S.d.on is no flag", caller.stderr)
            self.assertEqual([row[2] for row in collector.table("fields=S.d.v&origin=device")["records"]], [5])

    def test_rmi_answers_nobody_before_its_service_is_bound(self):
        """Callers that hammer at the port while the bridge starts: none of them hears that nothing is bound."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["javac", "-Xlint:all", "-Werror", "-cp", self.classes.name, "-d", folder,
                            pathlib.Path(__file__).parent / "EarlyCaller.java"], check=True)
            with socket.create_server(("127.0.0.1", 0)) as free:
                address = f"127.0.0.1:{free.getsockname()[1]}"
            java = ["java", "-XX:TieredStopAtLevel=1", "-cp"]
            caller = subprocess.Popen([*java, f"{self.classes.name}:{folder}", "EarlyCaller", address],
                                      stdout=subprocess.PIPE, text=True)
            self.assertEqual(caller.stdout.readline(), "calling\n")
            bridge = subprocess.Popen([*java, self.classes.name, "tether.telemetry.Bridge", "--listen", address],
                                      stdout=subprocess.DEVNULL)
            try:
                self.assertEqual(caller.communicate(timeout=60)[0], "found\n")
            finally:
                bridge.terminate()
                bridge.wait(20)

    def test_sample_clients(self):
        url = self.stores.url("sqlite")
        with tempfile.TemporaryDirectory() as folder, Collector(url) as collector:
            subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", f"{folder}/telemetry",
                            SOURCE / "clients/c/telemetry.c"], check=True)
            host, port = collector.address
            commands = ([f"{folder}/telemetry", host, str(port), "C"],
                        [sys.executable, SOURCE / "clients/python/telemetry.py", f"{host}:{port}", "PYTHON"])
            running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
            for client in running:
                output, _ = client.communicate(timeout=60)
                self.assertEqual((client.returncode, output.count("<ACK ")), (0, 50), output)
            for device in "C", "PYTHON":
                table = collector.table(f"device={device}&fields=Output.drive.velocity,Input.battery.level")
                self.assertEqual(len(table["records"]), 100)
            with contextlib.closing(sqlite3.connect(url.removeprefix("sqlite:"))) as db:
                boots = db.execute("SELECT b.boot, count(DISTINCT s.seq) FROM boot b JOIN sample s ON s.device = b.device"
                                   " AND s.epoch = b.epoch GROUP BY b.boot").fetchall()
            self.assertEqual([(len(boot), messages) for boot, messages in boots], [(8, 50), (8, 50)], boots)

    def test_message_dtd(self):
        subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", SOURCE / "docs/message.dtd", "-"],
                       input=EXAMPLE.encode(), check=True)


if __name__ == "__main__":
    sys.exit(unittest.main())
