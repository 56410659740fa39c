"""A page without a browser: the stream of docs/web.md over a WebSocket written by hand."""
import base64
import json
import os
import socket
import struct
import time


class Page:
    """Connects, takes `hello` and `model`; acknowledges every frame it reads."""

    def __init__(self, address):
        host = address.removeprefix("http://")
        name, port = host.rsplit(":", 1)
        self.socket = socket.create_connection((name, int(port)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                             f"Origin: http://{host}\r\n\r\n").encode())
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

    def until(self, wanted, patience=20):
        """The next message for which `wanted` is true."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            message = self.receive()
            if wanted(message):
                return message
        raise AssertionError("the message did not come")

    def frame(self):
        """The next frame of poses."""
        return self.until(lambda message: isinstance(message, bytes) and message[0] == 1)

    def close(self):
        self.socket.close()
