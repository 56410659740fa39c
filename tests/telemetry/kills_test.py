#!/usr/bin/env python3
"""Collectors and their database are killed again and again while devices send, are restarted, move and send again: of what was
acknowledged nothing is lost, and nothing is stored twice.

Every device keeps a ledger of what it sent and of what was acknowledged. Afterwards the tables themselves are read, with
nothing of the program between. TETHER_KILLS=N kills N times in all; TETHER_SEED repeats a run's choices."""
import os
import random
import signal
import sys
import time
import unittest

from support.ledger import compare, count, finish, of_each_kind, postgres_rows, sqlite_rows
from support.telemetry import LONG, Collector, WithStores, own_host, wait_until

KILLS = int(os.environ.get("TETHER_KILLS", 1000 if LONG else 16))  # with both stores together
SEED = int(os.environ.get("TETHER_SEED", time.time_ns() % 1_000_000))
EARLY = 0.02  # s that a sample may stand before its time: what a clock is taken to have drifted
Collector.host = own_host()


class Kills(WithStores):
    def setUp(self):
        self.spread = {False: [], True: []}  # does the device say boot: s by which a sample stands too late

    def rows(self, kind, url):
        if kind == "sqlite":
            return sqlite_rows(url.removeprefix("sqlite:"))
        return postgres_rows(self.stores.postgres.query)

    def check(self, devices, rows):
        """Compares the ledgers with the tables."""
        for device, found in compare(devices, rows).items():
            self.assertEqual((found.lost[:5], len(found.lost)), ([], 0), f"{device.name}: acknowledged and not stored")
            self.assertEqual((found.twice[:5], len(found.twice)), ([], 0), f"{device.name}: stored twice")
            self.assertEqual(found.wrong[:5], [], f"{device.name}: never sent like that")
            self.check_utc(device, found.stored)

    def check_utc(self, device, stored):
        """(what was sent, s UTC where it stands): not after its acknowledgement, and, where each start has its name, not
        before it was made. Without a name a start may be taken for more of the one before, and stand too early."""
        late = [(sent, utc) for sent, utc in stored if sent.acknowledged and utc > sent.acknowledged]
        early = [(sent, utc) for sent, utc in stored if device.labelled and utc < sent.made - EARLY]
        self.assertEqual((late[:3], len(late)), ([], 0), f"{device.name}: its UTC is after its acknowledgement")
        self.assertEqual((early[:3], len(early)), ([], 0), f"{device.name}: its UTC is before it was made")
        self.spread[device.labelled] += [utc - sent.made for sent, utc in stored]

    def load(self, devices, chance, at_least=60):
        """Lets them send for a while, to another moment of what is being written each time."""
        before = count(devices)
        wait_until(lambda: count(devices) > before + at_least, "the devices send", 120)
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
        devices = of_each_kind(chance, lambda _: collector.address)
        for device in devices:
            device.start()
        for _ in range(KILLS // 2):
            self.load(devices, chance)
            collector.kill()
            time.sleep(chance.choice([0, 0, 0.2, 1.2]))
            collector = Collector(url)
        finish(devices)
        collector.close()
        self.check(devices, self.rows("sqlite", url))
        self.say("sqlite", KILLS // 2, devices)

    def test_postgresql(self):
        """Two collectors; one of them, or the database, or both are killed."""
        chance = random.Random(SEED + 1)
        postgres, url = self.stores.postgres, self.stores.url("postgresql")
        settings = [self.stores.settings("postgresql") for _ in range(2)]
        collectors = [Collector(url, *each) for each in settings]
        devices = of_each_kind(chance, lambda its: its.choice(collectors).address)
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
        finish(devices)
        for collector in collectors:
            wait_until(lambda c=collector: not c.status()["degraded"], "the spool is drained", 120)
            self.assertEqual(collector.status()["lost_values"], 0)
            collector.close()
        self.check(devices, self.rows("postgresql", url))
        self.say("postgresql", kills, devices)


if __name__ == "__main__":
    sys.exit(unittest.main())
