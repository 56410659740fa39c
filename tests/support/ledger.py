"""Devices that keep a ledger of what they sent and of what was acknowledged, and the comparison of ledgers with the tables
themselves: nothing of the program stands between."""
import collections
import contextlib
import dataclasses
import random
import sqlite3
import threading
import time
from xml.sax.saxutils import quoteattr

from support.telemetry import LineSocket

UTC = time.time() - time.monotonic()  # s


@dataclasses.dataclass(frozen=True)
class Habits:
    """How devices are. Spans, in s, are (least, most)."""
    period: float = 0.01  # between two messages, on the device's clock and on ours
    window: int = 60  # messages that wait for their acknowledgement
    lives: tuple = (0.05, 4)  # from one start to the next
    stays: tuple = (0.2, 6)  # with a collector
    patience: float = 15  # without an answer
    jumps: float = 0  # how probable it is with each message that the clock jumps, by hours


@dataclasses.dataclass(eq=False, slots=True)
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
    is new. `labelled`: it says boot and seq, and the same values at the same times after each start. `inside`: the context
    in which its connections are made."""

    def __init__(self, name, where, chance, keeps=False, labelled=False, habits=Habits(), inside=contextlib.nullcontext):
        super().__init__(name=name, daemon=True)
        self.where, self.chance, self.keeps, self.labelled = where, chance, keeps, labelled
        self.habits, self.inside = habits, inside
        self.ledger = []
        self.waiting = collections.OrderedDict()  # number: Sent, in order
        self.boot = -1
        self.over = threading.Event()
        self.trouble = None
        self.moves = self.jumps = 0
        self.start_anew()

    def start_anew(self):
        self.boot += 1
        self.begun, self.seq, self.ahead = time.monotonic(), 0, 0
        self.lives = self.chance.uniform(*self.habits.lives)
        if not self.keeps:
            self.waiting.clear()

    def acknowledged(self):
        """How many messages; those that were given up with a restart count as well."""
        return len(self.ledger) - len(self.waiting)

    def make(self):
        """The next message. Its time says when it was due, now and then that of the one before."""
        number, due = len(self.ledger), int(self.seq * self.habits.period * 1000)
        if self.chance.random() < self.habits.jumps:
            self.ahead = self.chance.randrange(0, 7_200_000)
            self.jumps += 1
        when = due + self.ahead
        if self.seq and self.chance.random() < 0.05:
            when = self.ledger[-1].when
        label = f" boot='start {self.boot}' seq='{self.seq}'" if self.labelled else ""
        values = "level='12'" if self.labelled else f"n='{number}' t={quoteattr(f'text {number}')} level='12'"
        text = (f"<MESSAGE id='{self.name}' time='{when}' ack='yes'{label}><S time='0'><d {values}/></S></MESSAGE>\n")
        made = Sent(self.boot, self.seq, number, when, UTC + self.begun + (when - self.ahead) / 1000, text.encode())
        self.seq += 1
        self.ledger.append(made)
        self.waiting[number] = made
        return made

    def run(self):
        try:
            with self.inside():
                while not (self.over.is_set() and not self.waiting):
                    try:
                        self.one_connection()
                    except OSError:
                        time.sleep(0.01)
        except Exception as error:  # whatever it is, the test is to fail by it
            self.trouble = error

    def one_connection(self):
        self.moves += 1
        with LineSocket(self.where(self.chance), 2) as connection:
            self.asked = collections.deque()
            leaves = time.monotonic() + self.chance.uniform(*self.habits.stays)
            heard = time.monotonic()
            for sent in list(self.waiting.values()):
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
                    while len(self.waiting) < self.habits.window and self.is_due(now):
                        self.send(connection, self.make())
                if self.hear(connection):
                    heard = now
                elif self.asked and now - heard > self.habits.patience:
                    raise OSError("no acknowledgements")

    def is_due(self, now):
        return self.seq * self.habits.period <= now - self.begun

    def send(self, connection, sent):
        connection.settimeout(2)
        connection.sendall(sent.text)
        self.asked.append(sent)

    def hear(self, connection):
        """What comes until the next message is due."""
        due = self.begun + self.seq * self.habits.period - time.monotonic()
        connection.settimeout(min(max(due, 0.004), 1))
        lines = connection.lines()
        for line in lines:
            sent = self.asked.popleft()
            if not line.startswith(b"<ACK ") or f' time="{sent.when}"'.encode() not in line:
                raise AssertionError(f"{line!r} where {sent} was to be acknowledged")
            sent.acknowledged = UTC + time.monotonic()
            sent.text = None
            self.waiting.pop(sent.number, None)
        return lines


def of_each_kind(chance, where, times=1, **more):
    """Devices of each kind, `times` as many. `where(chance)`: the address for the next connection."""
    kinds = [("plain1", {}), ("plain2", {}), ("keeps1", {"keeps": True}), ("keeps2", {"keeps": True}),
             ("labelled1", {"labelled": True}), ("labelled2", {"keeps": True, "labelled": True})]
    return [Device(f"{name}-{i}" if i else name, where, random.Random(chance.random()), **kind, **more)
            for i in range(times) for name, kind in kinds]


def count(devices):
    """Messages that are acknowledged, or were given up; whatever went wrong with a device is raised here."""
    for device in devices:
        if device.trouble:
            raise device.trouble
    return sum(device.acknowledged() for device in devices)


def finish(devices, patience=120):
    """No more is sent, and all that waits is acknowledged."""
    for device in devices:
        device.over.set()
    for device in devices:
        device.join(patience)
        if device.trouble:
            raise device.trouble
        assert not device.is_alive(), f"{device.name}: {len(device.waiting)} messages were never acknowledged"


# --- the tables: (device, epoch, device's name of the boot, µs on its clock, µs UTC, seq, attribute, value) ---

def sqlite_rows(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT d.identifier, s.epoch, b.boot, s.device_time, s.time, s.seq, a.identifier, v.value"
                          " FROM sample s JOIN value v ON v.sample = s.id JOIN device d ON d.id = s.device"
                          " JOIN attribute a ON a.id = v.attribute"
                          " JOIN boot b ON b.device = s.device AND b.epoch = s.epoch").fetchall()


def postgres_rows(query):
    """`query(sql)`: rows of text."""
    rows = []
    for table, seq in ("value", "0"), ("numbered_value", "coalesce(v.seq, 0)"):
        rows += query(
            "SELECT d.identifier, v.epoch, b.boot, v.device_time, round(extract(epoch FROM v.time) * 1000000)::bigint,"
            f" {seq}, a.identifier, coalesce(v.number::text, v.text)"
            f" FROM tether.{table} v JOIN tether.device d ON d.id = v.device JOIN tether.attribute a ON a.id = v.attribute"
            " JOIN tether.boot b ON b.device = v.device AND b.epoch = v.epoch")
    return [(device, int(epoch), boot, int(when), int(utc), int(seq), attribute, value)
            for device, epoch, boot, when, utc, seq, attribute, value in rows]


def clickhouse_rows(query):
    """`query(sql)`: text with tabs and line ends."""
    text = query("SELECT device_identifier, epoch, boot, device_time, microseconds, seq, attribute_identifier,"
                 " if(is_text = 1, text, toString(number)) FROM tether.telemetry ANY LEFT JOIN"
                 " (SELECT key AS epoch, any(boot) AS boot FROM tether.boot GROUP BY key) USING (epoch)")
    rows = [line.split("\t") for line in text.split("\n") if line]
    return [(device, int(epoch), boot, int(when), int(utc), int(seq), attribute, value)
            for device, epoch, boot, when, utc, seq, attribute, value in rows]


# --- the comparison ---

@dataclasses.dataclass
class Findings:
    """Of one device: messages (Sent) that were acknowledged and are not there, and that are there twice; what else is wrong, as
    texts; and of each message that is stored what was sent, and s UTC where it stands."""
    lost: list
    twice: list
    wrong: list
    stored: list


def by_message(device, rows):
    """What identifies a message -> (epoch, µs on the device's clock, µs UTC) of each of its rows."""
    found = collections.defaultdict(list)
    wrong = []
    for epoch, boot, when, utc, seq, attribute, value in rows:
        if device.labelled:
            found[boot, seq - 1].append((epoch, when, utc))
            wrong += [] if float(value) == 12 else [f"value {value}"]
        elif attribute == "S.d.n":
            found[int(float(value))].append((epoch, when, utc))
    return found, wrong


def compare_device(device, rows):
    found, wrong = by_message(device, rows)
    sent = {((f"start {each.boot}", each.seq) if device.labelled else each.number): each for each in device.ledger}
    lost = [each for key, each in sent.items() if each.acknowledged and key not in found]
    twice = [sent[key] for key, places in found.items() if len(places) > 1 and key in sent]
    wrong += [f"{key} stands at (epoch, µs, UTC) {places}" for key, places in found.items() if len(places) > 1]
    wrong += [f"{key}: {places}" for key, places in found.items()
              if key not in sent or any(when != sent[key].when * 1000 for _, when, _ in places)]
    if not device.labelled:
        texts = collections.Counter(value for *_, attribute, value in rows if attribute == "S.d.t")
        expected = collections.Counter(f"text {number}" for number in found)
        wrong += [f"{text} {n} times" for text, n in ((texts - expected) + (expected - texts)).items()]
    return Findings(lost, twice, wrong, [(sent[key], places[0][2] / 1e6) for key, places in found.items() if key in sent])


def compare(devices, rows):
    """device -> Findings."""
    stored = {device.name: [] for device in devices}
    for device, *row in rows:
        stored[device].append(row)
    return {device: compare_device(device, stored[device.name]) for device in devices}
