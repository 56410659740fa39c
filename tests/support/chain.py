"""The way of a fleet's telemetry: collectors, a log for each test, writers and stores, all on loopback."""
import json

from support.nats import Nats, Writer
from support.telemetry import Collector, WithStores, message

LISTEN = "--listen", "127.0.0.1:0"


def send(collector, device, numbers, more=""):
    """Sends a message for each, and waits for all acknowledgements."""
    with collector.connect() as connection:
        for number in numbers:
            connection.sendall(message(device, number * 10, [("Output", 0, {"drive": {"n": number, "s": more or f"t{number}"}})],
                                       acknowledge=True).encode())
        answers = b""
        while answers.count(b"<ACK ") < len(numbers):
            data = connection.recv(65536)
            assert data, answers
            answers += data


def column(pages, device, name="Output.drive.n"):
    """What the table of a store has of an attribute; nothing while nobody knows the device."""
    status, text = pages.request("GET", f"/telemetry.json?device={device}&fields={name}")
    assert status in (200, 404), text
    return sorted(record[-1] for record in json.loads(text).get("records", []))


def figures(pages):
    """Of /metrics, those without labels."""
    lines = [line.split() for line in pages.get("/metrics").splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines if "{" not in name}


class WithLog(WithStores):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nats = Nats()
        cls.streams = 0

    @classmethod
    def tearDownClass(cls):
        cls.nats.close()
        super().tearDownClass()

    def setUp(self):
        type(self).streams += 1
        self.log = f"{self.nats.url}/s{self.streams}"  # a log of its own

    def collector(self, store=None, *settings):
        made = Collector(store or self.log, "telemetry.spool=" + self.stores.file("spool"), *settings)
        self.addCleanup(made.close)
        return made

    def writer(self, store, *options, **environment):
        made = Writer(self.log, store, *options, **environment)
        self.addCleanup(made.stop)
        return made
