"""MCAP, read as its specification says (mcap.dev/spec): by its index, and front to back. Shares nothing with the program
but libzstd."""
import ctypes
import ctypes.util
import json
import struct
import zlib

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = range(11, 16)


class Wrong(Exception):
    """What the specification does not allow."""


def unpack_zstd(data, size):
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(size + 1)
    if zstd.ZSTD_decompress(room, size, data, len(data)) != size:
        raise Wrong("a chunk does not unpack to its size")
    return room.raw[:size]


class Reader:
    """Takes fields from the content of one record."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def bytes(self, form="I"):
        size = self.take(form)
        if self.at + size > len(self.data):
            raise Wrong("a field leaves its record")
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.bytes().decode()

    def pairs(self, take):
        inner, made = Reader(self.bytes()), {}
        while inner.at < len(inner.data):
            key, value = take(inner)
            if key in made:
                raise Wrong("a map holds a key twice")
            made[key] = value
        return made

    def end(self):
        if self.at != len(self.data):
            raise Wrong("a record is longer than its fields")


def records(data, start, end):
    """Yields (opcode, offset of the record, content)."""
    at = start
    while at < end:
        opcode, size = struct.unpack_from("<BQ", data, at)
        if at + 9 + size > end:
            raise Wrong("a record leaves its section")
        yield opcode, at, data[at + 9:at + 9 + size]
        at += 9 + size


class Mcap:
    """`schemas` {id: (name, json)}, `channels` {id: (schema, topic)}, `messages` {topic: [(s, object)]}."""

    def __init__(self, data):
        self.data = data
        if data[:8] != MAGIC or data[-8:] != MAGIC:
            raise Wrong("the magic is missing")
        self.schemas, self.channels, self.messages, self.metadata = {}, {}, {}, {}
        self.sequences, self.chunks, self.indexes = {}, {}, {}
        footer_at = len(data) - 8 - 9 - 20
        self.footer_at = footer_at
        opcode, size = struct.unpack_from("<BQ", data, footer_at)
        if (opcode, size) != (FOOTER, 20):
            raise Wrong("the footer is not at the end")
        self.summary_start, self.offset_start, crc = struct.unpack_from("<QQI", data, footer_at + 9)
        if crc != zlib.crc32(data[self.summary_start:footer_at + 9 + 16]):
            raise Wrong("the summary's CRC is wrong")
        self._read_data()
        self._read_summary()
        self._read_offsets()

    def _read_data(self):
        kinds = list(records(self.data, 8, self.summary_start))
        if kinds[0][0] != HEADER or kinds[-1][0] != DATA_END:
            raise Wrong("the data section has no header or no end")
        (crc,) = struct.unpack("<I", kinds[-1][2])
        if crc != zlib.crc32(self.data[:kinds[-1][1]]):
            raise Wrong("the data's CRC is wrong")
        pending = None
        for opcode, at, content in kinds[1:-1]:
            if opcode == CHUNK:
                pending = self._chunk(at, content)
            elif opcode == MESSAGE_INDEX:
                self._message_index(at, content, pending)
            elif opcode == METADATA:
                fields = Reader(content)
                name = fields.text()
                self.metadata[name] = fields.pairs(lambda inner: (inner.text(), inner.text()))
                fields.end()
            else:
                raise Wrong(f"opcode {opcode} in the data section")

    def _chunk(self, at, content):
        fields = Reader(content)
        first, last, size, crc = fields.take("QQQI")
        if fields.text() != "zstd":
            raise Wrong("a chunk that is not zstd")
        packed = fields.bytes("Q")
        fields.end()
        unpacked = unpack_zstd(packed, size)
        if zlib.crc32(unpacked) != crc:
            raise Wrong("a chunk's CRC is wrong")
        places = {}
        times = []
        for opcode, offset, record in records(unpacked, 0, len(unpacked)):
            if opcode == MESSAGE:
                channel, time = self._message(record)
                places.setdefault(channel, []).append((time, offset))
                times.append(time)
            else:
                self._definition(opcode, record)
        if times and (min(times), max(times)) != (first, last):
            raise Wrong("a chunk's times are wrong")
        chunk = self.chunks[at] = {"length": 9 + len(content), "times": (first, last), "sizes": (len(packed), size),
                                   "places": places, "indexes": {}, "index_length": 0}
        return chunk

    def _definition(self, opcode, content):
        fields = Reader(content)
        if opcode == SCHEMA:
            number, name, encoding = fields.take("H"), fields.text(), fields.text()
            made = (name, json.loads(fields.bytes()))
            if number == 0 or encoding != "jsonschema" or self.schemas.setdefault(number, made) != made:
                raise Wrong("a schema is wrong, or two have one id")
        elif opcode == CHANNEL:
            number, schema = fields.take("HH")
            topic, encoding = fields.text(), fields.text()
            fields.pairs(lambda inner: (inner.text(), inner.text()))
            if encoding != "json" or schema not in self.schemas:
                raise Wrong("a channel is wrong")
            if self.channels.setdefault(number, (schema, topic)) != (schema, topic):
                raise Wrong("two channels have one id")
            self.messages.setdefault(topic, [])
        else:
            raise Wrong(f"opcode {opcode} in a chunk")
        fields.end()

    def _message(self, content):
        fields = Reader(content)
        channel, sequence, time, published = fields.take("HIQQ")
        if sequence != self.sequences.get(channel, 0) or published != time:
            raise Wrong("a message's sequence or time is wrong")
        self.sequences[channel] = sequence + 1
        schema, topic = self.channels[channel]
        value = json.loads(content[fields.at:])
        if set(value) != set(self.schemas[schema][1]["properties"]):
            raise Wrong(f"a message of {topic} is not as its schema says")
        self.messages[topic].append((time / 1e9, value))
        return channel, time

    def _message_index(self, at, content, chunk):
        fields = Reader(content)
        channel, inner = fields.take("H"), Reader(fields.bytes())
        fields.end()
        places = []
        while inner.at < len(inner.data):
            places.append(inner.take("QQ"))
        if chunk["places"].get(channel) != places:
            raise Wrong("a message index is wrong")
        chunk["indexes"][channel] = at
        chunk["index_length"] += 9 + len(content)

    def _read_summary(self):
        chunks, groups = {}, []
        for opcode, at, content in records(self.data, self.summary_start, self.offset_start):
            if not groups or groups[-1][0] != opcode:
                groups.append([opcode, at, 0])
            groups[-1][2] += 9 + len(content)
            fields = Reader(content)
            if opcode == CHUNK_INDEX:
                first, last, place, length = fields.take("QQQQ")
                offsets = fields.pairs(lambda inner: inner.take("HQ"))
                index_length = fields.take("Q")
                if fields.text() != "zstd":
                    raise Wrong("a chunk index names another compression")
                sizes = fields.take("QQ")
                chunks[place] = {"length": length, "times": (first, last), "sizes": sizes, "indexes": offsets,
                                 "index_length": index_length}
            elif opcode == STATISTICS:
                self.statistics = fields.take("QHIIIIQQ")
                self.counts = fields.pairs(lambda inner: inner.take("HQ"))
            elif opcode == METADATA_INDEX:
                place, length = fields.take("QQ")
                name = fields.text()
                if self.data[place] != METADATA or name not in self.metadata or length < 9:
                    raise Wrong("a metadata index is wrong")
            else:
                self._definition(opcode, content)
                continue
            fields.end()
        if len({group[0] for group in groups}) != len(groups):
            raise Wrong("the summary is not grouped by opcode")
        found = {at: {key: value for key, value in chunk.items() if key != "places"} for at, chunk in self.chunks.items()}
        if chunks != found:
            raise Wrong("the chunk indexes are wrong")
        self.groups = [tuple(group) for group in groups]
        total = sum(len(messages) for messages in self.messages.values())
        times = [time for chunk in self.chunks.values() for time in chunk["times"]]
        expected = (total, len(self.schemas), len(self.channels), 0, len(self.metadata), len(self.chunks),
                    min(times, default=0), max(times, default=0))
        if self.statistics != expected:
            raise Wrong(f"the statistics are wrong: {self.statistics} for {expected}")
        if self.counts != {channel: len(self.messages[topic]) for channel, (_, topic) in self.channels.items()}:
            raise Wrong("the counts of messages are wrong")

    def _read_offsets(self):
        offsets = []
        for opcode, _, content in records(self.data, self.offset_start, self.footer_at):
            if opcode != SUMMARY_OFFSET:
                raise Wrong("something else among the summary offsets")
            offsets.append(struct.unpack("<BQQ", content))
        if offsets != self.groups:
            raise Wrong("the summary offsets are wrong")
