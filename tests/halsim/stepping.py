"""A robot program with the extension in it, and the other end of its connection, for tests: frames as docs/wires/halsim-step.md
tells them."""
import json
import os
import pathlib
import socket
import struct
import subprocess

BUILD = pathlib.Path(os.environ["TETHER"]).parent
EXTENSION = BUILD / "tether-halsim.so"
ROBOTS = BUILD / "halsim" / "standin"
ROBOT = ROBOTS / "2026" / "robot"
TIMEOUT = 60  # s: for what hangs, on a machine however busy


def program(address, *arguments, patience=None, season=2026, **more):
    environment = {**os.environ, "HALSIM_EXTENSIONS": str(EXTENSION), "TETHER_HALSIM": address}
    if patience:
        environment["TETHER_HALSIM_PATIENCE"] = str(patience)
    return subprocess.Popen([ROBOTS / str(season) / "robot", *map(str, arguments)], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def message(kind, device, **data):
    return {"type": kind, "device": device, "data": data}


class Link:
    """One connection of an extension."""

    def __init__(self, listener):
        self._take(listener.accept()[0])

    @classmethod
    def over(cls, connected):
        """The other way round: an extension's end."""
        link = cls.__new__(cls)
        link._take(connected)
        return link

    def _take(self, connected):
        self.socket = connected
        self.socket.settimeout(TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.socket.makefile("rb")

    def body(self):
        """The bytes of the next frame; None at the end."""
        try:
            head = self.stream.read(4)
            body = len(head) == 4 and self.stream.read(struct.unpack(">I", head)[0])
        except ConnectionResetError:  # by an end that has not read all
            return None
        return body or None

    def frame(self):
        body = self.body()
        return body and [json.loads(line) for line in body.splitlines()]

    def head(self, key):
        """The value of the next frame's head under this key."""
        frame = self.frame()
        assert frame and frame[0]["type"] == "Step" and key in frame[0]["data"], frame
        return frame[0]["data"][key]

    def time(self):
        """That of the next answer, past what is told of a machine that is late."""
        while True:
            frame = self.frame()
            assert frame, "the connection has ended"
            if "<time" in frame[0]["data"]:
                return frame[0]["data"]["<time"]

    def trouble(self, word):
        """The first one with this word in it."""
        while True:
            frame = self.frame()
            assert frame, "the connection has ended"
            if word in frame[0]["data"].get("<trouble", ""):
                return frame[0]["data"]["<trouble"]

    def send(self, *messages, step=20000):
        self.send_body("".join(json.dumps(one) + "\n" for one in (message("Step", "", **{">step": step}), *messages)).encode())

    def answer(self, time, *messages):
        """As an extension does it."""
        self.send_body("".join(json.dumps(one) + "\n" for one in (message("Step", "", **{"<time": time}), *messages)).encode())

    def send_body(self, body):
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def close(self):
        self.stream.close()
        self.socket.close()


def listen():
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(TIMEOUT)
    return listener, "127.0.0.1:%d" % listener.getsockname()[1]
