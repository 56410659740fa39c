#!/usr/bin/env python3
"""The whole chain, each part on a machine of its own: parts are killed, cut off from one another, their disks are full, their
clocks jump, while devices send, are restarted, move and send again. Of what was acknowledged nothing is lost, and nothing is
stored twice; what is away is said, and when it is back all that waits is stored without anybody's doing.

Ledgers are compared with the tables themselves (support/ledger.py). Without root only the kills remain.
TETHER_EVENTS=N of them in all; TETHER_SEED repeats a run's choices; TETHER_LOGS=3 has three servers keep the log;
TETHER_MINUTES=N ends it after so long. TETHER_DEVICES=1000 makes a fleet of it: each device sends every five seconds, and one part after another
is taken away and given back; TETHER_PERIOD=20: every twenty. Six devices send 25 times a second; TETHER_PERIOD=0.1: ten times."""
import collections
import faulthandler
import contextlib
import dataclasses
import os
import random
import signal
import statistics
import sys
import time
import unittest

from support.fleet import Fleet
from support.ledger import UTC, Habits, compare, count, finish, of_each_kind
from support.process import stretched
from support.telemetry import LONG, wait_until

CLOCK = sys.argv.pop()  # the shim by which clocks jump
MINUTES = float(os.environ.get("TETHER_MINUTES", 0))
EVENTS = int(os.environ.get("TETHER_EVENTS", 1_000_000 if MINUTES else 1000 if LONG else 6))
SEED = int(os.environ.get("TETHER_SEED", time.time_ns() % 1_000_000))
LOGS = int(os.environ.get("TETHER_LOGS", 1))
FEW = 6
DEVICES = int(os.environ.get("TETHER_DEVICES", FEW))
PERIOD = float(os.environ.get("TETHER_PERIOD", 5 if DEVICES > FEW else 0.04))  # s between two messages of a device
SOON = 2.0  # s until what is away is said
LATEST = 20.0  # s: then it is never said
MEMORY, SERVERS_MEMORY = 200, 400  # MiB that a part of ours takes at most; and a server of NATS, PostgreSQL or ClickHouse, with caches of its own
PATIENCE = 600 if LONG or DEVICES > FEW else 120  # s until all that waited is stored: for long a machine may have other work, too


@dataclasses.dataclass
class Event:
    kind: str
    targets: tuple  # parts that no other event may have at the same time
    begin: callable
    end: callable
    tellers: tuple = ()  # parts that are to say that something is away
    said: float = None  # s
    began: float = 0  # of time.monotonic()
    ended: float = 0
    caught_up: float = 0


class Makers:
    """What can happen to a fleet."""

    def __init__(self, fleet, chance):
        self.fleet, self.chance = fleet, chance
        self.part = fleet.parts.__getitem__
        self.to_postgres = tuple(fleet.writers[:2])
        self.kinds = {"a collector is killed": self.kill_collector, "a writer is killed": self.kill_writer,
                      "the log is killed": self.kill_log, "PostgreSQL is killed": self.kill_postgres,
                      "a collector's clock jumps": self.jump_collector, "a writer's clock jumps": self.jump_writer}
        if fleet.shards:
            self.kinds["a shard is killed"] = self.kill_shard
        if fleet.real:
            self.kinds |= {"devices are cut from a collector": self.cut_devices, "a collector is cut from the log": self.cut_collector,
                           "a writer is cut from the log": self.cut_writer, "a writer is cut from PostgreSQL": self.cut_store,
                           "the log's disk is full": self.fill_log, "PostgreSQL's disk is full": self.fill_postgres,
                           "SQLite's disk is full": self.fill_sqlite,
                           "a collector's disk is full, and it is cut from the log": self.fill_collector}
            if fleet.shards:
                self.kinds |= {"a writer is cut from a shard": self.cut_shard, "a shard's disk is full": self.fill_shard}
            if len(fleet.logs) > 1:
                self.kinds["servers of the log are cut from each other"] = self.cut_logs

    def make(self, kind):
        return self.kinds[kind](kind)

    def _one(self, names):
        return self.chance.choice(list(names))

    def _kill(self, kind, name, tellers=()):
        part = self.part(name)
        return Event(kind, (name,), part.kill, part.release, tellers)

    def _cut(self, kind, pairs, targets, tellers=()):
        net = self.fleet.network
        return Event(kind, targets, lambda: [net.cut(*pair) for pair in pairs], lambda: [net.heal(*pair) for pair in pairs], tellers)

    def _fill(self, kind, name, tellers):
        disk = self.fleet.disks[name]
        return Event(kind, (name,), disk.fill, disk.empty, tellers)

    def _those_of_the_log(self):
        """One server of several may be away without anybody's missing it."""
        return tuple(self.fleet.collectors + self.fleet.writers) if len(self.fleet.logs) == 1 else ()

    def _pairs_with_the_log(self, name):
        return [(name, log) for log in self.fleet.logs]

    def kill_collector(self, kind):
        return self._kill(kind, self._one(self.fleet.collectors))

    def kill_writer(self, kind):
        return self._kill(kind, self._one(self.fleet.writers))

    def kill_log(self, kind):
        return self._kill(kind, self._one(self.fleet.logs), self._those_of_the_log())

    def kill_postgres(self, kind):
        return self._kill(kind, "postgres", self.to_postgres)

    def kill_shard(self, kind):
        return self._kill(kind, self._one(self.fleet.shards), ("shard-writer",))

    def cut_devices(self, kind):
        name = self._one(self.fleet.collectors)
        return self._cut(kind, [("field", name)], (name, "field"))

    def cut_collector(self, kind):
        name = self._one(self.fleet.collectors)
        return self._cut(kind, self._pairs_with_the_log(name), (name,), (name,))

    def cut_writer(self, kind):
        name = self._one(self.fleet.writers)
        return self._cut(kind, self._pairs_with_the_log(name), (name,), (name,))

    def cut_store(self, kind):
        name = self._one(self.to_postgres)
        return self._cut(kind, [(name, "postgres")], (name, "postgres"), (name,))

    def cut_shard(self, kind):
        name = self._one(self.fleet.shards)
        return self._cut(kind, [("shard-writer", name)], ("shard-writer", name), ("shard-writer",))

    def cut_logs(self, kind):
        one, other = self.chance.sample(self.fleet.logs, 2)
        return self._cut(kind, [(one, other)], (one, other))

    def fill_log(self, kind):
        tellers = tuple(self.fleet.collectors) if len(self.fleet.logs) == 1 else ()
        return self._fill(kind, self._one(self.fleet.logs), tellers)

    def fill_postgres(self, kind):
        return self._fill(kind, "postgres", self.to_postgres)

    def fill_shard(self, kind):
        return self._fill(kind, self._one(self.fleet.shards), ("shard-writer",))

    def fill_sqlite(self, kind):
        return self._fill(kind, "file-writer", ("file-writer",))

    def fill_collector(self, kind):
        event = self.cut_collector(kind)
        disk = self.fleet.disks[event.targets[0]]
        cut, heal = event.begin, event.end
        event.begin, event.end = lambda: (disk.fill(), cut()), lambda: (heal(), disk.empty())
        return event

    def _jump(self, kind, names):
        """It stays where it is until the next jump."""
        name, seconds = self._one(names), self.chance.choice([-7200, -30, -1, 1, 30, 7200])
        return Event(kind, (name + "'s clock",), lambda: self.fleet.jump(name, seconds), lambda: None)

    def jump_collector(self, kind):
        return self._jump(kind, self.fleet.collectors)

    def jump_writer(self, kind):
        return self._jump(kind, self.fleet.writers)


class FleetKills(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)
        self.fleet = Fleet(CLOCK, LOGS)
        self.addCleanup(self.fleet.close)
        habits = Habits(period=PERIOD, patience=4, jumps=0.001)
        if DEVICES > FEW:
            habits = Habits(period=PERIOD, lives=(60, 1200), stays=(30, 300), patience=max(10, 2 * PERIOD), jumps=0.001)
        self.devices = of_each_kind(self.chance, self.where, -(-DEVICES // 6), habits=habits, inside=lambda: self.fleet.network.inside("field"))
        self.rate = len(self.devices) / habits.period  # messages a second
        self.makers = Makers(self.fleet, self.chance)
        self.events, self.bag = [], []

    def where(self, chance):
        """Of a collector; one that is gone has an address that nobody has."""
        return self.fleet.parts[chance.choice(self.fleet.collectors)].running.address

    def choose(self):
        """One to three events that don't meddle with each other; each kind comes about as often."""
        chosen, taken = [], set()
        for _ in range(1 if DEVICES > FEW else self.chance.choice([1, 1, 2, 3])):
            if not self.bag:
                self.bag = self.chance.sample(list(self.makers.kinds), len(self.makers.kinds))
            event = self.makers.make(self.bag.pop())
            if taken.isdisjoint(event.targets):
                chosen.append(event)
                taken |= set(event.targets)
        return chosen

    def tellers(self, event, events):
        """Those that were not taken away themselves, and have nothing else to say."""
        away = {target for other in events for target in other.targets if "killed" in other.kind}
        return [name for name in event.tellers if name not in away and not any(name in other.tellers for other in events if other is not event)]

    def await_said(self, events):
        waiting = {id(event): (event, self.tellers(event, events)) for event in events}
        waiting = {key: pair for key, pair in waiting.items() if pair[1]}
        end = time.monotonic() + (LATEST if any("full" not in event.kind for event, _ in waiting.values()) else 3)
        while waiting and time.monotonic() < end:
            for key, (event, names) in list(waiting.items()):
                if all(self.fleet.says_trouble(name) for name in names):
                    event.said = time.monotonic() - event.began
                    del waiting[key]
            time.sleep(0.02)
        for event, names in waiting.values():
            if "full" in event.kind:
                continue  # what was written found room in pages that were there
            silent = [name for name in names if not self.fleet.says_trouble(name)]
            self.fail(f"{event.kind} {event.targets}: {silent} did not say so within {LATEST} s; {self.about()}")

    def load(self, at_least, longest):
        """Lets the devices send, to another moment of what is being written each time."""
        before, end = count(self.devices), time.monotonic() + longest
        while count(self.devices) < before + at_least and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(self.chance.uniform(0, 0.2))

    def step(self):
        events = self.choose()
        self.load(20, 5)
        for event in events:
            event.began = time.monotonic()
            event.begin()
        self.await_said(events)
        self.load(20, 10 if DEVICES > FEW else 0.5)
        for event in events:
            event.end()
            event.ended = time.monotonic()
        try:
            self.fleet.wait_stored(self.rate * stretched(1), PATIENCE)  # what writers have in hand while all is well
        except AssertionError as error:
            self.fail(f"after {[(event.kind, event.targets) for event in events]}: {error}; {self.about()}")
        for event in events:
            event.caught_up = time.monotonic() - event.ended
        for part in self.fleet.parts.values():
            part.measure()
        self.events += events

    def about(self):
        fleet = self.fleet
        said = {name: (part.is_up(), getattr(part.running, "log", [])[-3:]) for name, part in fleet.parts.items()}
        return f"{said}\n{ {name: fleet.status(name) for name in fleet.collectors} }\n{fleet.stream()}"

    # --- what came of it ---

    @staticmethod
    def spread(times):
        return f"{max(times):.2f} ({statistics.median(times):.2f}) s" if times else "-"

    def print_table(self, findings):
        acknowledged = sorted((sent.acknowledged - UTC, sent) for device in self.devices for sent in device.ledger if sent.acknowledged)
        lost, twice = ([sent for each in findings for sent in getattr(each, which)] for which in ("lost", "twice"))
        rows = collections.defaultdict(list)
        for event in self.events:
            rows[event.kind].append(event)

        def during(event, moments):
            return sum(event.began <= moment <= event.ended + event.caught_up for moment in moments)
        print(f"\n{'':56} events  acknowledged  lost  twice  said after (median)  caught up after (median)", file=sys.stderr)
        moments = [moment for moment, _ in acknowledged]
        for kind, events in sorted(rows.items()):
            said = [event.said for event in events if event.said is not None]
            meanwhile = [sum(during(event, times) for event in events) for times in (
                moments, [sent.acknowledged - UTC for sent in lost], [sent.acknowledged - UTC for sent in twice])]
            print(f"{kind:56} {len(events):6} {meanwhile[0]:13} {meanwhile[1]:5} {meanwhile[2]:6} "
                  f"{self.spread(said):>20} {self.spread([event.caught_up for event in events]):>25}", file=sys.stderr)
        boots, moves, jumps = (sum(values) for values in zip(*((each.boot, each.moves, each.jumps) for each in self.devices)))
        print(f"{len(self.devices)} devices: {boots} restarts, {moves} connections, {jumps} jumps of clocks; {len(acknowledged)} messages "
              f"acknowledged, in each store {len(lost)} lost, {len(twice)} twice (seed {SEED})", file=sys.stderr)
        print("MiB at most: " + ", ".join(f"{name} {part.peak:.0f}" for name, part in self.fleet.parts.items()), file=sys.stderr)

    def check(self):
        findings = []
        for store, rows in self.fleet.rows().items():
            for device, found in compare(self.devices, rows).items():
                findings.append((store, device.name, found))
        self.print_table([found for _, _, found in findings])
        bad = [f"{name} in {store}: {what}: {text}" for store, name, found in findings for what in ("lost", "twice", "wrong")
               for text in getattr(found, what)]
        self.assertEqual(len(bad), 0, "\n".join(bad[:10] + bad[-10:]))
        self.check_said()
        ours = {*self.fleet.collectors, *self.fleet.writers}
        large = {name: part.peak for name, part in self.fleet.parts.items() if part.peak > (MEMORY if name in ours else SERVERS_MEMORY)}
        self.assertEqual(large, {}, f"more than {MEMORY} MiB, a server of others {SERVERS_MEMORY}")

    def check_said(self):
        """A busy machine is slow now and then; a program that breaks its promise is slow each time. A disk that is full is not noticed
        before something is written that needs room."""
        said = collections.defaultdict(list)
        for event in self.events:
            if event.said is not None and "full" not in event.kind:
                said[event.kind].append(event.said)
        late = {kind: sorted(times) for kind, times in said.items() if len(times) >= 3 and statistics.median(times) > SOON}
        self.assertEqual(late, {}, f"said later than after {SOON} s")

    def test_parts_go_and_come_back(self):
        if not self.fleet.real:
            print("skipped: needs root for cuts and full disks; kills alone", file=sys.stderr)
        for device in self.devices:
            device.start()
        end = time.monotonic() + MINUTES * 60
        while len(self.events) < EVENTS and not (MINUTES and time.monotonic() > end):
            before = len(self.events)
            self.step()
            if len(self.events) // 50 > before // 50:
                print(f"{len(self.events)} events, {count(self.devices)} messages, lag {self.fleet.lag()}", file=sys.stderr)
        finish(self.devices, PATIENCE)
        self.fleet.wait_stored(patience=PATIENCE)
        self.check()


def on_end(*unused):
    raise SystemExit("ended")


if __name__ == "__main__":
    faulthandler.register(signal.SIGUSR1)
    signal.signal(signal.SIGTERM, on_end)  # what was made is taken down
    sys.exit(unittest.main())
