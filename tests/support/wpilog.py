"""WPILOG 1.0, read as its specification says (allwpilib, datalog/doc/datalog.adoc). Shares nothing with the program."""
import struct


class Wrong(Exception):
    """What the specification does not allow."""


def _texts(payload, at, count):
    """`count` strings, each after its length."""
    texts = []
    for _ in range(count):
        (size,) = struct.unpack_from("<I", payload, at)
        at += 4
        if at + size > len(payload):
            raise Wrong("a string leaves its record")
        texts.append(payload[at:at + size].decode())
        at += size
    if at != len(payload):
        raise Wrong("a control record is longer than its strings")
    return texts


def records(data, cut=False):
    """Yields (entry, time in µs, payload). `cut`: the last record may be incomplete."""
    if data[:6] != b"WPILOG":
        raise Wrong("no WPILOG")
    version, extra = struct.unpack_from("<HI", data, 6)
    if version != 0x0100:
        raise Wrong(f"version {version:#x}")
    at = 12 + extra
    while at < len(data):
        bits = data[at]
        if bits & 0x80:
            raise Wrong("the spare bit is set")
        sizes = (bits & 3) + 1, (bits >> 2 & 3) + 1, (bits >> 4 & 7) + 1
        head = 1 + sum(sizes)
        if at + head > len(data):
            if cut:
                return
            raise Wrong("the last record is cut in its head")
        values, place = [], at + 1
        for size in sizes:
            values.append(int.from_bytes(data[place:place + size], "little"))
            place += size
        entry, length, time = values
        if place + length > len(data):
            if cut:
                return
            raise Wrong("the last record is cut in its payload")
        yield entry, time, data[place:place + length]
        at = place + length


def _varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def _zigzag(data, at):
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _commands(data, at):
    """(command, value) of each: docs/runs.md."""
    count, at = _varint(data, at)
    commands, values = [], []
    while len(commands) < count:
        first, at = _varint(data, at)
        stride, at = _zigzag(data, at)
        length, at = _varint(data, at)
        commands += [first + i * stride for i in range(length)]
    codes = [code for byte in data[at:at + (count + 1) // 2] for code in (byte & 15, byte >> 4)][:count]
    at += (count + 1) // 2
    for code in codes:
        if code == 9:
            values += struct.unpack_from("<f", data, at)
            at += 4
        else:
            values += struct.unpack(">d", data[at:at + code] + bytes(8 - code))
            at += code
    if at != len(data) or len(commands) != count:
        raise Wrong("a journal entry of another length")
    return list(zip(commands, values))


def journal_entry(data):
    """A payload of /tether/journal/SOURCE, as docs/runs.md says."""
    kind, sampled = data[0] & 0x7f, bool(data[0] & 0x80)
    step, at = _varint(data, 1)
    entry = {"kind": ("commands", "safe", "reset", "event", "hash")[kind], "step": step}
    if kind < 2:
        entry["commands"] = _commands(data, at)
    elif kind == 2:
        entry["robot"], _ = _zigzag(data, at)
    else:
        entry.update(hash=data[at:], sampled=sampled)
    return entry


class Log:
    """A whole log: `entries` {id: (name, type, metadata)}, `values` {name: [(time in s, value)]}."""

    def __init__(self, data, cut=False):
        self.entries, self.values, self.order, self._journal, self.sizes = {}, {}, [], [], []  # sizes: (µs, bytes) of each record
        self.count = 0
        for entry, time, payload in records(data, cut):
            self.count += 1
            if entry == 0:
                self._control(payload)
            else:
                self._data(entry, time, payload)

    def _control(self, payload):
        if payload[0] != 0:
            raise Wrong("only start records are expected here")
        (entry,) = struct.unpack_from("<I", payload, 1)
        if entry == 0 or entry in self.entries:
            raise Wrong(f"entry {entry} is started twice, or 0")
        name, kind, metadata = self.entries[entry] = tuple(_texts(payload, 5, 3))
        if name in self.values:
            raise Wrong(f"{name} is the name of two entries")
        self.values[name] = []

    def _data(self, entry, time, payload):
        if entry not in self.entries:
            raise Wrong(f"entry {entry} was never started")
        name, kind, _ = self.entries[entry]
        self.values[name].append((time / 1e6, self._decode(kind, payload)))
        self.order.append((name, time))
        self.sizes.append((time, len(payload) + 3 + max(1, (time.bit_length() + 7) // 8) + (entry > 255)))
        if name.startswith("/tether/journal/"):
            self._journal.append((name, time / 1e6, payload))

    def journal(self):
        """(name, time in s, payload) of every entry, of all sources."""
        return self._journal

    @staticmethod
    def _decode(kind, payload):
        if kind == "double":
            if len(payload) != 8:
                raise Wrong("a double of another size")
            return struct.unpack("<d", payload)[0]
        if kind == "boolean":
            if payload not in (b"\0", b"\1"):
                raise Wrong("a boolean that is none")
            return payload == b"\1"
        if kind == "int64":
            return struct.unpack("<q", payload)[0]
        if kind == "struct:Pose3d":
            return struct.unpack("<7d", payload)
        if kind in ("string", "json", "structschema"):
            return payload.decode()
        if kind == "raw":
            return payload
        raise Wrong(f"a type that is not expected: {kind}")
