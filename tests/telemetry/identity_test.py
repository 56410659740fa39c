#!/usr/bin/env python3
"""Which samples are the same: devices that are restarted, send again, and move; with and without boot and seq."""
import sqlite3
import sys
import time
import unittest

from support.telemetry import Collector, WithStores, message, wait_until


class Identity(WithStores):
    def each_store(self):
        """A collector's arguments for each kind of store."""
        for kind in "sqlite", "postgresql":
            with self.subTest(kind):
                yield kind, (self.stores.url(kind), *self.stores.settings(kind))

    def send(self, collector, *messages):
        """All on one connection, each acknowledged; what was answered."""
        with collector.connect() as link:
            link.sendall("".join(messages).encode())
            answers = b""
            while answers.count(b"\n") < len(messages):
                more = link.recv(65536)
                self.assertTrue(more, "the connection is closed")
                answers += more
        return answers.decode().splitlines()

    def rows(self, kind, url, device="D"):
        """(epoch, ms on the device's clock, attribute, value) of everything that is stored of a device."""
        if kind == "sqlite":
            with sqlite3.connect(url.removeprefix("sqlite:")) as db:
                rows = db.execute("SELECT epoch, device_time_us, attribute_identifier, value FROM telemetry"
                                  " WHERE device_identifier = ? ORDER BY 1, 2, 3, 4", [device]).fetchall()
        else:
            rows = self.stores.postgres.query(
                "SELECT epoch, device_time, attribute_identifier, coalesce(number::text, text) FROM tether.telemetry"
                f" WHERE device_identifier = '{device}' ORDER BY 1, 2, 3, 4")
        number = lambda text: float(text) if str(text).replace(".", "").isdigit() else text  # noqa: E731
        return [(int(epoch), int(when) / 1000, name, number(value)) for epoch, when, name, value in rows]

    @staticmethod
    def sample(when, device="D", **values):
        return message(device, when, [("S", 0, {"d": values})], True)

    @staticmethod
    def labelled(text, boot=None, seq=None):
        extra = (f" boot='{boot}'" if boot is not None else "") + (f" seq='{seq}'" if seq is not None else "")
        return text.replace("<MESSAGE", "<MESSAGE" + extra)

    def test_collector_and_device_begin_anew(self):
        """The device's times begin again while the collector is away: what it sends then is news, in an epoch of its own."""
        for kind, arguments in self.each_store():
            with Collector(*arguments) as collector:
                self.send(collector, *(self.sample(1000 + 100 * n, n=n) for n in range(50)))
            with Collector(*arguments) as collector:
                began = time.time()
                self.send(collector, *(self.sample(1000 + 100 * n, n=1000 + n) for n in range(50)))
                records = collector.table(f"device=D&time=iso&from={int(began * 1e6)}")["records"]
            self.assertEqual(self.rows(kind, arguments[0]),
                             [(epoch, 1000 + 100 * n, "S.d.n", 1000 * epoch + n) for epoch in (0, 1) for n in range(50)])
            self.assertEqual([record[2] for record in records], list(range(1000, 1050)), "UTC is that of the second start")

    def test_more_than_a_few_are_sent_again(self):
        """2,000 messages that were stored, but of whose acknowledgements nobody heard, to a collector that began anew."""
        count = 2000
        for kind, arguments in self.each_store():
            messages = [self.sample(1000 + n, n=n, t=f"text {n}") for n in range(count)]
            collector = Collector(*arguments)
            self.send(collector, *messages)
            collector.kill()
            time.sleep(1.5)  # late: their time does not tell any more
            with Collector(*arguments) as collector:
                self.send(collector, *messages, *(self.sample(1000 + n, n=n, t="new") for n in range(count, count + 10)))
                self.assertEqual(collector.devices()["D"]["epoch"], 0)
            rows = self.rows(kind, arguments[0])
            self.assertEqual([(when, value) for _, when, name, value in rows if name == "S.d.n"],
                             [(1000 + n, n) for n in range(count + 10)])
            self.assertEqual({row[0] for row in rows}, {0})
            self.assertEqual(len(rows), 2 * (count + 10))

    def test_restarts_within_a_second(self):
        """New connections, equal times, other values, one after the other: all are there, and the repeats of each only once."""
        for kind, arguments in self.each_store():
            with Collector(*arguments) as collector:
                for n in range(5):
                    for _ in range(2):
                        self.send(collector, self.sample(500, n=n, same=7))
                records = collector.table("device=D&origin=device&fields=S.d.n")["records"]
            values = [value for _, when, name, value in self.rows(kind, arguments[0]) if name == "S.d.n"]
            self.assertEqual(sorted(values), [0, 1, 2, 3, 4])
            self.assertEqual(sorted(record[2] for record in records), [0, 1, 2, 3, 4])

    def test_equal_in_all_is_told_apart_by_boot(self):
        """A device that sends exactly the same after each start."""
        for kind, arguments in self.each_store():
            for boot in "red", "green":
                messages = [self.labelled(self.sample(1000 + 10 * n, level=12), boot) for n in range(5)]
                for _ in range(2):  # and again, to a collector that began anew
                    with Collector(*arguments) as collector:
                        self.send(collector, *messages)
            self.assertEqual(self.rows(kind, arguments[0]),
                             [(epoch, 1000 + 10 * n, "S.d.level", 12) for epoch in (0, 1) for n in range(5)])
            # The first start once more, now the device's clock is that of the second.
            with Collector(*arguments) as collector:
                self.send(collector, *(self.labelled(self.sample(1000 + 10 * n, level=12), "red") for n in range(5)))
            self.assertEqual(len(self.rows(kind, arguments[0])), 10)

    def test_only_boot_tells_of_every_restart(self):
        """A device is heard of 0.7 s after its restart, over another connection, with a time beyond those that it sent before it:
        without `boot` that is taken for its first start, and its UTC is too early by what its clock was set back."""
        gone, new = 1.5, 700  # s that passed, ms on the new clock
        url = self.stores.url("sqlite")
        with Collector(url) as collector:
            for device, boots in ("PLAIN", (None, None)), ("LABELLED", ("a", "b")):
                self.send(collector, self.labelled(self.sample(0, device, n=1), boots[0]))
            time.sleep(gone)
            for device, boots in ("PLAIN", (None, None)), ("LABELLED", ("a", "b")):
                self.send(collector, self.labelled(self.sample(new, device, n=2), boots[1]))
            epochs = {name: device["epoch"] for name, device in collector.devices().items()}
        self.assertEqual(epochs, {"PLAIN": 0, "LABELLED": 1})
        with sqlite3.connect(url.removeprefix("sqlite:")) as db:
            apart = dict(db.execute("SELECT device, max(time_us) - min(time_us) FROM telemetry GROUP BY device"))
        self.assertEqual(apart["PLAIN"], new * 1000)
        self.assertGreaterEqual(apart["LABELLED"], gone * 1e6)

    def test_equal_in_all_is_told_apart_by_seq(self):
        for kind, arguments in self.each_store():
            messages = [self.labelled(self.sample(1000, level=12), "red", seq) for seq in range(5)]
            for _ in range(2):
                with Collector(*arguments) as collector:
                    answers = self.send(collector, *messages)
            self.assertEqual(answers, [f'<ACK id="D" time="1000" seq="{seq}"/>' for seq in range(5)])
            self.assertEqual([row[1:] for row in self.rows(kind, arguments[0])], [(1000, "S.d.level", 12)] * 5)

    def test_values_of_one_message_for_one_moment(self):
        """Two values of an attribute in one message are two records; sets of one moment are one."""
        text = ("<MESSAGE id='D' time='1000' ack='yes'><S time='1000'><d a='1'/><d a='2' b='2'/></S><T time='1000'><e c='3'/></T>"
                "</MESSAGE>")
        for _, arguments in self.each_store():
            with Collector(*arguments) as collector:
                for _ in range(2):
                    self.send(collector, text)
                    records = collector.table("device=D&origin=device&fields=S.d.a,S.d.b,T.e.c")["records"]
                    self.assertEqual(records, [["D", "0:01:000", 1, None, None], ["D", "0:01:000", 2, 2, 3]])

    def test_collectors_that_reach_no_database_begin_epochs(self):
        """Both number the device's next epoch alike, and spool it: all that they acknowledged is there afterwards."""
        postgres = self.stores.postgres
        url = self.stores.url("postgresql")
        with Collector(url, *self.stores.settings("postgresql")) as one, \
                Collector(url, *self.stores.settings("postgresql")) as two:
            self.send(one, self.sample(100_000, n=0))
            wait_until(lambda: "D" in two.devices(), "the device is known")
            postgres.stop()
            for collector in one, two:
                wait_until(lambda c=collector: c.status()["degraded"], "the state is said")
            self.send(one, *(self.sample(1000 + n, n=n) for n in range(20)))
            self.send(two, *(self.sample(1000 + n, n=100 + n) for n in range(20)))  # after another start
            postgres.start()
            for collector in one, two:
                wait_until(lambda c=collector: not c.status()["degraded"], "the spool is drained", 30)
            self.send(one, *(self.sample(1020 + n, n=20 + n) for n in range(5)))
            self.send(two, *(self.sample(1020 + n, n=120 + n) for n in range(5)))
        rows = self.rows("postgresql", url)
        self.assertEqual(sorted(row[3] for row in rows), [0, *range(25), *range(100, 125)])
        self.assertEqual(len({row[0] for row in rows}), 3)

    def test_sent_again_to_one_that_does_not_reach_the_database(self):
        """What the database took just before both failed comes again to a collector that begins anew while it is away."""
        postgres = self.stores.postgres
        url, settings = self.stores.url("postgresql"), self.stores.settings("postgresql")
        collector = Collector(url, *settings)
        self.send(collector, *(self.sample(1000 + 10 * n, n=n) for n in range(30)))
        collector.kill()
        postgres.stop()
        collector = Collector(url, *settings)
        self.send(collector, *(self.sample(1000 + 10 * n, n=n) for n in range(20, 40)))
        collector.kill()
        with Collector(url, *settings) as collector:
            self.send(collector, *(self.sample(1000 + 10 * n, n=n) for n in range(30, 50)))
            postgres.start()
            wait_until(lambda: not collector.status()["degraded"], "the spool is drained", 30)
            self.send(collector, *(self.sample(1000 + 10 * n, n=n) for n in range(40, 60)))
        self.assertEqual(sorted(row[3] for row in self.rows("postgresql", url)), list(range(60)))


if __name__ == "__main__":
    sys.exit(unittest.main())
