#!/usr/bin/env python3
"""Collectors and their database are killed again and again while devices send, are restarted, move and send again: of what was
acknowledged nothing is lost, and nothing is stored twice.

Every device keeps a ledger of what it sent and of what was acknowledged. Afterwards the tables themselves are read, with
nothing of the program between. TETHER_KILLS=N kills N times in all; TETHER_SEED repeats a run's choices."""
import collections
import dataclasses
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import unittest
from xml.sax.saxutils import quoteattr

from support.telemetry import LONG, Collector, LineSocket, WithStores, wait_until

KILLS = int(os.environ.get("TETHER_KILLS", 1000 if LONG else 16))  # with both stores together
SEED = int(os.environ.get("TETHER_SEED", time.time_ns() % 1_000_000))
PERIOD = 0.01  # s between two messages of a device, on its clock and on ours
WINDOW = 60  # messages that wait for their acknowledgement
EARLY = 0.02  # s that a sample may stand before its time: what a clock is taken to have drifted
UTC = time.time() - time.monotonic()  # s


@dataclasses.dataclass(eq=False)
class Sent:
    """A message as its device remembers it."""
    boot: int
    seq: int  # within the boot
    number: int  # within the device's life
    when: int  # ms on the device's clock
    made: float  # s UTC of that
    text: bytes
    acknowledged: float = 0  # s UTC; 0: not yet


class Device(threading.Thread):
    """Its clock begins at 0 with each start. `keeps`: what is not acknowledged outlives a restart, and is sent before what
    is new. `labelled`: it says boot and seq, and the same values at the same times after each start."""

    def __init__(self, name, where, chance, keeps=False, labelled=False):
        super().__init__(name=name, daemon=True)
        self.where, self.chance, self.keeps, self.labelled = where, chance, keeps, labelled
        self.ledger = []
        self.waiting = []  # Sent, in order
        self.boot = -1
        self.over = threading.Event()
        self.trouble = None
        self.start_anew()

    def start_anew(self):
        self.boot += 1
        self.begun, self.seq = time.monotonic(), 0
        self.lives = self.chance.uniform(0.05, 4)
        if not self.keeps:
            self.waiting = []

    def make(self):
        """The next message. Its time says when it was due, now and then that of the one before."""
        number, when = len(self.ledger), int(self.seq * PERIOD * 1000)
        if self.seq and self.chance.random() < 0.05:
            when = self.ledger[-1].when
        label = f" boot='start {self.boot}' seq='{self.seq}'" if self.labelled else ""
        values = "level='12'" if self.labelled else f"n='{number}' t={quoteattr(f'text {number}')} level='12'"
        text = (f"<MESSAGE id='{self.name}' time='{when}' ack='yes'{label}><S time='0'><d {values}/></S></MESSAGE>\n")
        made = Sent(self.boot, self.seq, number, when, UTC + self.begun + when / 1000, text.encode())
        self.seq += 1
        self.ledger.append(made)
        self.waiting.append(made)
        return made

    def run(self):
        try:
            while not (self.over.is_set() and not self.waiting):
                try:
                    self.one_connection()
                except OSError:
                    time.sleep(0.01)
        except Exception as error:  # whatever it is, the test is to fail by it
            self.trouble = error

    def one_connection(self):
        with LineSocket(self.where(self.chance), 2) as connection:
            connection.settimeout(0.004)
            self.asked = collections.deque()
            leaves = time.monotonic() + self.chance.uniform(0.2, 6)
            heard = time.monotonic()
            for sent in list(self.waiting):
                self.send(connection, sent)
            while not (self.over.is_set() and not self.waiting):
                now = time.monotonic()
                if not self.over.is_set():
                    if now > leaves:
                        return  # to another collector, or to the same again
                    if now - self.begun > self.lives:
                        self.start_anew()
                        if self.chance.random() < 0.8:
                            return  # else what it hangs on keeps the connection
                    while len(self.waiting) < WINDOW and self.seq * PERIOD <= now - self.begun:
                        self.send(connection, self.make())
                if self.hear(connection):
                    heard = now
                elif self.asked and now - heard > 15:
                    raise OSError("no acknowledgements")

    def send(self, connection, sent):
        connection.settimeout(2)
        connection.sendall(sent.text)
        connection.settimeout(0.004)
        self.asked.append(sent)

    def hear(self, connection):
        lines = connection.lines()
        for line in lines:
            sent = self.asked.popleft()
            if not line.startswith(b"<ACK ") or f' time="{sent.when}"'.encode() not in line:
                raise AssertionError(f"{line!r} where {sent} was to be acknowledged")
            sent.acknowledged = UTC + time.monotonic()
            if sent in self.waiting:
                self.waiting.remove(sent)
        return lines


class Kills(WithStores):
    def setUp(self):
        self.spread = {False: [], True: []}  # does the device say boot: s by which a sample stands too late

    def devices(self, chance, where):
        def device(name, **kind):
            return Device(name, where, random.Random(chance.random()), **kind)
        return [device("plain1"), device("plain2"), device("keeps1", keeps=True), device("keeps2", keeps=True),
                device("labelled1", labelled=True), device("labelled2", keeps=True, labelled=True)]

    def rows(self, kind, url):
        """(device, epoch, device's name of the boot, µs on its clock, µs UTC, seq, attribute, value) of all that is stored."""
        if kind == "sqlite":
            with sqlite3.connect(url.removeprefix("sqlite:")) as db:
                return db.execute("SELECT d.identifier, s.epoch, b.boot, s.device_time, s.time, s.seq, a.identifier, v.value"
                                  " FROM sample s JOIN value v ON v.sample = s.id JOIN device d ON d.id = s.device"
                                  " JOIN attribute a ON a.id = v.attribute"
                                  " JOIN boot b ON b.device = s.device AND b.epoch = s.epoch").fetchall()
        rows = []
        for table, seq in ("value", "0"), ("numbered_value", "coalesce(v.seq, 0)"):
            rows += self.stores.postgres.query(
                "SELECT d.identifier, v.epoch, b.boot, v.device_time, round(extract(epoch FROM v.time) * 1000000)::bigint,"
                f" {seq}, a.identifier, coalesce(v.number::text, v.text)"
                f" FROM tether.{table} v JOIN tether.device d ON d.id = v.device JOIN tether.attribute a ON a.id = v.attribute"
                " JOIN tether.boot b ON b.device = v.device AND b.epoch = v.epoch")
        return [(device, int(epoch), boot, int(when), int(utc), int(seq), attribute, value)
                for device, epoch, boot, when, utc, seq, attribute, value in rows]

    def check(self, devices, rows):
        """Compares the ledgers with the tables."""
        stored = {device.name: [] for device in devices}
        for device, *row in rows:
            stored[device].append(row)
        for device in devices:
            found = collections.defaultdict(list)  # what identifies a message -> rows
            for epoch, boot, when, utc, seq, attribute, value in stored[device.name]:
                if device.labelled:
                    self.assertEqual(float(value), 12)
                    found[boot, seq - 1].append((epoch, when, utc))
                elif attribute == "S.d.n":
                    found[int(float(value))].append((epoch, when, utc))
            sent = {((f"start {each.boot}", each.seq) if device.labelled else each.number): each for each in device.ledger}
            lost = [each for key, each in sent.items() if each.acknowledged and key not in found]
            twice = {key: places for key, places in found.items() if len(places) > 1}
            wrong = [(key, places) for key, places in found.items()
                     if key not in sent or any(when != sent[key].when * 1000 for _, when, _ in places)]
            self.assertEqual((lost[:5], len(lost)), ([], 0), f"{device.name}: acknowledged and not stored")
            self.assertEqual((list(twice.items())[:5], len(twice)), ([], 0), f"{device.name}: stored twice")
            self.assertEqual(wrong[:5], [], f"{device.name}: never sent like that")
            self.check_utc(device, [(sent[key], places[0][2] / 1e6) for key, places in found.items()])
            if not device.labelled:
                texts = collections.Counter(value for *_, attribute, value in stored[device.name] if attribute == "S.d.t")
                self.assertEqual(texts, collections.Counter(f"text {number}" for number in found))

    def check_utc(self, device, stored):
        """(what was sent, s UTC where it stands): not after its acknowledgement, and, where each start has its name, not
        before it was made. Without a name a start may be taken for more of the one before, and stand too early."""
        late = [(sent, utc) for sent, utc in stored if sent.acknowledged and utc > sent.acknowledged]
        early = [(sent, utc) for sent, utc in stored if device.labelled and utc < sent.made - EARLY]
        self.assertEqual((late[:3], len(late)), ([], 0), f"{device.name}: its UTC is after its acknowledgement")
        self.assertEqual((early[:3], len(early)), ([], 0), f"{device.name}: its UTC is before it was made")
        self.spread[device.labelled] += [utc - sent.made for sent, utc in stored]

    def finish(self, devices):
        for device in devices:
            device.over.set()
        for device in devices:
            device.join(120)
            self.assertIsNone(device.trouble)
            self.assertFalse(device.is_alive(), device.name)

    def load(self, devices, chance, at_least=60):
        """Lets them send for a while, to another moment of what is being written each time."""
        def count():
            for device in devices:
                self.assertIsNone(device.trouble)
            return sum(len(device.ledger) - len(device.waiting) for device in devices)
        before = count()
        wait_until(lambda: count() > before + at_least, "the devices send", 120)
        time.sleep(chance.uniform(0, 0.15))

    def say(self, kind, kills, devices):
        acknowledged = sum(sent.acknowledged > 0 for device in devices for sent in device.ledger)
        boots = sum(device.boot + 1 for device in devices)
        print(f"{kind}: killed {kills} times, {acknowledged} messages acknowledged in {boots} boots of {len(devices)} devices: "
              f"0 lost, 0 twice (seed {SEED})", file=sys.stderr)
        for labelled, spread in self.spread.items():
            print(f"{kind}: UTC of devices {'with' if labelled else 'without'} boot: {min(spread):+.3f} to {max(spread):+.3f} s,"
                  f" {sum(late < -EARLY for late in spread)} of {len(spread)} too early", file=sys.stderr)

    def test_sqlite(self):
        chance = random.Random(SEED)
        url = self.stores.url("sqlite")
        collector = Collector(url)
        devices = self.devices(chance, lambda _: collector.address)
        for device in devices:
            device.start()
        for _ in range(KILLS // 2):
            self.load(devices, chance)
            collector.kill()
            time.sleep(chance.choice([0, 0, 0.2, 1.2]))
            collector = Collector(url)
        self.finish(devices)
        collector.close()
        self.check(devices, self.rows("sqlite", url))
        self.say("sqlite", KILLS // 2, devices)

    def test_postgresql(self):
        """Two collectors; one of them, or the database, or both are killed."""
        chance = random.Random(SEED + 1)
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        settings = [self.stores.settings("postgresql") for _ in range(2)]
        collectors = [Collector(url, *each) for each in settings]
        devices = self.devices(chance, lambda its: its.choice(collectors).address)
        for device in devices:
            device.start()
        kills = 0
        while kills < KILLS // 2:
            self.load(devices, chance)
            away = chance.random() < 0.3
            if away:
                postgres.stop(signal.SIGQUIT)  # as if it had crashed
                kills += 1
                self.load(devices, chance, 30)
            for which in chance.sample(range(2), chance.choice([0, 1, 2] if away else [1, 1, 2])):
                collectors[which].kill()
                kills += 1
                time.sleep(chance.choice([0, 0, 0.2, 1.2]))
                collectors[which] = Collector(url, *settings[which])
            if away:
                self.load(devices, chance, 30)
                postgres.start()
        self.finish(devices)
        for collector in collectors:
            wait_until(lambda c=collector: not c.status()["degraded"], "the spool is drained", 120)
            self.assertEqual(collector.status()["lost_values"], 0)
            collector.close()
        self.check(devices, self.rows("postgresql", url))
        self.say("postgresql", kills, devices)


if __name__ == "__main__":
    sys.exit(unittest.main())
