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


class Log:
    """A whole log: `entries` {id: (name, type, metadata)}, `values` {name: [(time in s, value)]}."""

    def __init__(self, data, cut=False):
        self.entries, self.values, self.order = {}, {}, []
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

    @staticmethod
    def _decode(kind, payload):
        if kind == "double":
            if len(payload) != 8:
                raise Wrong("a double of another size")
            return struct.unpack("<d", payload)[0]
        if kind == "int64":
            return struct.unpack("<q", payload)[0]
        if kind == "struct:Pose3d":
            return struct.unpack("<7d", payload)
        if kind in ("string", "json", "structschema"):
            return payload.decode()
        if kind == "raw":
            return payload
        raise Wrong(f"a type that is not expected: {kind}")
