"""The bare limit of ClickHouse: blocks of the format Native, made beforehand, into a table like the store's, one after the other."""
import array
import http.client
import time

BLOCK = 100_000  # values
COLUMNS = {"device": "UInt64", "epoch": "Int64", "device_time": "Int64", "attribute": "UInt64", "seq": "Int64", "is_text": "UInt8",
           "number": "Float64", "text": "String", "time_offset": "Int64", "rank": "UInt64"}


def varint(number):
    head = b""
    while number > 127:
        head += bytes([number & 127 | 128])
        number >>= 7
    return head + bytes([number])


def make_block(first, samples, values):
    """Of samples a millisecond apart; numbers as those of bench/telemetry.py."""
    rows = samples * values
    times = array.array("q", (1000 * i for i in range(first, first + samples) for _ in range(values)))
    numbers = array.array("d", (i * 0.5 + v for i in range(first, first + samples) for v in range(values)))
    data = {"device": array.array("Q", [77]) * rows, "epoch": array.array("q", [5]) * rows, "device_time": times,
            "attribute": array.array("Q", range(1 << 40, (1 << 40) + values)) * samples, "seq": array.array("q", [0]) * rows,
            "is_text": bytes(rows), "number": numbers, "text": bytes(rows), "time_offset": array.array("q", [1 << 50]) * rows,
            "rank": array.array("Q", [(1 << 62) + first]) * rows}
    block = varint(len(COLUMNS)) + varint(rows)
    for name, kind in COLUMNS.items():
        block += varint(len(name)) + name.encode() + varint(len(kind)) + kind.encode() + bytes(data[name])
    return block


def bare_inserts(server, samples, values, go=lambda: None):
    """Values a second. `go` is called once the blocks are made, before the first is inserted."""
    server.query("DROP DATABASE IF EXISTS bare")
    server.query("CREATE DATABASE bare")
    server.query(f"CREATE TABLE bare.v ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())}) ENGINE = ReplacingMergeTree(rank)"
                 " ORDER BY (device, epoch, device_time, attribute, seq, is_text, number, text) PRIMARY KEY (device, epoch, device_time)")
    each = BLOCK // values
    blocks = [make_block(first, min(each, samples - first), values) for first in range(0, samples, each)]
    connection = http.client.HTTPConnection(server.address, server.port, timeout=300)
    go()
    start = time.monotonic()
    for block in blocks:
        connection.request("POST", "/?database=bare&query=INSERT%20INTO%20v%20FORMAT%20Native", block)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(said[:500])
    took = time.monotonic() - start
    connection.close()
    stored = int(server.query("SELECT count() FROM bare.v"))
    server.query("DROP DATABASE bare")
    if stored != samples * values:
        raise RuntimeError(f"{stored} values")
    return samples * values / took
