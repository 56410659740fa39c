"""A page without a browser: the stream of docs/web.md over a WebSocket written by hand."""
import base64
import json
import os
import socket
import struct

from support.process import wait_for


def poses(frame):
    """(time, [pose of each body], phantoms [(id, gap s, gap m, [pose of each of its bodies])]) of a frame of poses."""
    kind, flags, phantoms, _, at, _, bodies, contacts = struct.unpack_from("<BBHIdIHH", frame)
    assert kind == 1
    values = struct.unpack_from(f"<{7 * bodies}f", frame, 24)
    offset = 24 + 28 * bodies + (28 * contacts if flags & 1 else 0)
    racing = []
    for _ in range(phantoms):
        number, count, seconds, metres = struct.unpack_from("<HHff", frame, offset)
        offset += 12
        where = struct.unpack_from(f"<{7 * count}f", frame, offset)
        offset += 28 * count
        racing.append((number, seconds, metres, [where[7 * i:7 * i + 7] for i in range(count)]))
    assert offset == len(frame), (offset, len(frame))
    return at, [values[7 * i:7 * i + 7] for i in range(bodies)], racing


class Page:
    """Connects, takes `hello` and `model`; acknowledges every frame it reads."""

    def __init__(self, address, headers=None):
        host = address.removeprefix("http://")
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                             f"Origin: http://{host}\r\n" +
                             "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items()) + "\r\n").encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.bytes += self.socket.recv(4096)
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        assert b" 101 " in head.split(b"\r\n")[0], head
        self.hello = self.receive()
        self.model = self.receive()
        assert (self.hello["type"], self.model["type"]) == ("hello", "model")

    def _take(self, size):
        while len(self.bytes) < size:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError
            self.bytes += more
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        return taken

    def receive(self):
        """The next text as an object, or binary message as bytes."""
        while True:
            first, size = self._take(2)
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            payload = self._take(size)
            if first & 15 == 1:
                return json.loads(payload)
            if first & 15 == 2:
                if payload[0] == 1:
                    self.send(type="ack", sequence=struct.unpack_from("<I", payload, 4)[0])
                return payload

    def send(self, **message):
        payload = json.dumps(message).encode()
        size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
        mask = os.urandom(4)
        self.socket.sendall(b"\x81" + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def command(self, **values):
        """Sets commands by their names, SI."""
        ids = {command["name"]: i for i, command in enumerate(self.model["commands"])}
        self.send(type="command", values=[[ids[name], value] for name, value in values.items()])

    def until(self, wanted, patience=20):
        """The next message for which `wanted` is true."""
        def next_one():
            message = self.receive()
            return wanted(message) and (message,)
        return wait_for(next_one, "the message", patience, pause=0)[0]

    def frame(self):
        """The next frame of poses."""
        return self.until(lambda message: isinstance(message, bytes) and message[0] == 1)

    def told(self, kind, patience=20):
        """The next text of this type."""
        return self.until(lambda message: isinstance(message, dict) and message["type"] == kind, patience)

    def close(self):
        self.socket.close()
