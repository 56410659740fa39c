"""A controller on a float-udp wire with `peer: sender`, for tests: one message out, one in."""
import socket
import struct

from support.process import Tether


class FloatLink:
    """Numbers out with a growing stamp in front, numbers in."""

    def __init__(self, tether, wire="float-udp"):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(tether.address(wire))
        self.socket.settimeout(20)
        self.stamp = 0

    def send(self, *numbers):
        self.stamp += 1
        self.socket.send(struct.pack(f"<{1 + len(numbers)}f", self.stamp, *numbers))

    def receive(self):
        data = self.socket.recv(2048)
        return struct.unpack(f"<{len(data) // 4}f", data)

    def turn(self, *numbers):
        self.send(*numbers)
        return self.receive()


def start(test, scene, *settings, options=()):
    """A running scene and a link to its float-udp wire, both gone after `test`."""
    arguments = ["run", scene, "--no-web", *options]
    if "--record" not in options:
        arguments += ["--set", "record.on=false"]
    for setting in ("wires.float-udp.bind=127.0.0.1:0", "wires.float-udp.peer=sender", *settings):
        arguments += ["--set", setting]
    tether = Tether(*arguments)
    test.addCleanup(tether.__exit__)
    link = FloatLink(tether)
    test.addCleanup(link.socket.close)
    return tether, link
