#!/usr/bin/env python3
"""The three messages of the seed come out as its table, byte for byte, through every way in and from both stores."""
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from harness import SOURCE, Collector, Stores, message, wait_until

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
    start = time.monotonic()
    for when, text in SEED:
        time.sleep(max(0, start + when - time.monotonic()))
        send(text)


def over_tcp(collector):
    with collector.connect() as connection:
        at_their_pace(lambda text: connection.sendall(text.encode()))
        answers = b""
        while answers.count(b"\n") < 3:
            answers += connection.recv(4096)
        assert answers == (b'<ACK id="ROBO1" time="80000"/>\n<ACK id="ROBO2" time="80050"/>\n'
                           b'<ACK id="ROBO1" time="84000"/>\n'), answers
        connection.sendall(EXAMPLE.encode())


def over_http(collector):
    def post(text):
        status, answer = collector.request("POST", "/telemetry", text)
        assert (status, answer) == (200, '{"stored":1,"refused":0,"reasons":[]}\n'), (status, answer)
    at_their_pace(post)
    post(EXAMPLE)


def over_websocket(collector):
    connection = collector.websocket("/telemetry/in")
    assert connection.status == 101
    at_their_pace(connection.send)
    answers = [connection.receive() for _ in SEED]
    assert answers == ['<ACK id="ROBO1" time="80000"/>\n', '<ACK id="ROBO2" time="80050"/>\n',
                       '<ACK id="ROBO1" time="84000"/>\n'], answers
    connection.send(EXAMPLE)
    wait_until(lambda: len(collector.devices()) == 3, "the example has come")
    connection.close()


def over_rmi(collector):
    """The bridge and a proxy as they run on robots, each a Java process."""
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", classes, *map(str, sorted(JAVA.rglob("*.java")))],
                       check=True)
        bridge = subprocess.Popen(["java", "-cp", classes, "tether.telemetry.Bridge", "--listen", "127.0.0.1:0",
                                   "--collector", collector.web], stdout=subprocess.PIPE, text=True)
        try:
            port = bridge.stdout.readline().split("127.0.0.1:")[1].split()[0]
            proxy = subprocess.Popen(["java", "-cp", classes, "tether.telemetry.SampleProxy", f"127.0.0.1:{port}"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

            def send(text):
                proxy.stdin.write(text.replace("\n", " ").strip() + "\n")
                proxy.stdin.flush()
                assert proxy.stdout.readline() == "sent\n"
            send("<MESSAGE id='warm-up' time='1'/>")  # the first call loads half of Java
            at_their_pace(send)
            send(EXAMPLE)
            proxy.stdin.close()
            assert proxy.wait(20) == 0
            proxy.stdout.close()
        finally:
            bridge.terminate()
            bridge.wait(20)
            bridge.stdout.close()


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


class Seed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stores = Stores()

    @classmethod
    def tearDownClass(cls):
        cls.stores.close()

    def check(self, kind, way):
        with Collector(self.stores.url(kind), *self.stores.settings(kind)) as collector:
            way(collector)
            collector.wait_stored(6 + 11)
            for name, table in golden_tables(collector).items():
                self.assertEqual(table.decode(), (GOLDEN / name).read_bytes().decode(), name)
                if name.endswith(".xml"):
                    subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", SOURCE / "docs/telemetry.dtd", "-"],
                                   input=table, check=True)
            self.check_times(collector)

    def check_times(self, collector):
        """Normalized times: the pace at which the messages were sent."""
        rows = collector.table("device=ROBO1,ROBO2&time=clock")["records"]
        self.assertEqual(rows[0][1], "0:00:000")
        # The first delay of each device is all that is known of its clock yet.
        self.assertAlmostEqual(int(rows[1][1].split(":")[2]), 50, delta=45)
        minutes, seconds, ms = map(int, rows[2][1].split(":"))
        self.assertAlmostEqual(minutes * 60 + seconds + ms / 1000, 4.0, delta=0.1)

    def test_tcp_sqlite(self):
        self.check("sqlite", over_tcp)

    def test_tcp_postgresql(self):
        self.check("postgresql", over_tcp)

    def test_http_sqlite(self):
        self.check("sqlite", over_http)

    def test_http_postgresql(self):
        self.check("postgresql", over_http)

    def test_websocket_sqlite(self):
        self.check("sqlite", over_websocket)

    def test_websocket_postgresql(self):
        self.check("postgresql", over_websocket)

    def test_rmi_sqlite(self):
        self.check("sqlite", over_rmi)

    def test_rmi_postgresql(self):
        self.check("postgresql", over_rmi)

    def test_sample_clients(self):
        with tempfile.TemporaryDirectory() as folder, Collector(self.stores.url("sqlite")) as collector:
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", f"{folder}/telemetry",
                            SOURCE / "clients/c/telemetry.c"], check=True)
            host, port = collector.address
            for command in ([f"{folder}/telemetry", host, str(port), "C"],
                            [sys.executable, SOURCE / "clients/python/telemetry.py", f"{host}:{port}", "PYTHON"]):
                result = subprocess.run(command, check=True, capture_output=True, text=True)
                self.assertEqual(result.stdout.count("<ACK "), 50, result.stdout)
            for device in "C", "PYTHON":
                table = collector.table(f"device={device}&fields=Output.drive.velocity,Input.battery.level")
                self.assertEqual(len(table["records"]), 100)

    def test_message_dtd(self):
        subprocess.run(["xmllint", "--noout", "--nonet", "--dtdvalid", SOURCE / "docs/message.dtd", "-"],
                       input=EXAMPLE.encode(), check=True)


if __name__ == "__main__":
    sys.exit(unittest.main())
