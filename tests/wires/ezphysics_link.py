"""A client of an ezphysics wire, for tests: packets in and out, checked while they are read."""
import socket
import struct

COLLISION, LIMB, JOINTAXIS, JOINTFEEDBACK, TIMESTAMP, NAME = 1, 2, 3, 4, 5, 16
RESET, AXIS_FORCE, AXIS_MOTOR = 1, 2, 3


def message(*packets):
    body = b"".join(struct.pack("<IIII", kind, len(load), thing, 0) + load for kind, thing, load in packets)
    return struct.pack("<II", 8 + len(body), len(packets)) + body


def motor(joint, velocity, torque):
    return AXIS_MOTOR, joint, struct.pack("<6f", velocity, torque, 0, 0, 0, 0)


def force(joint, torque):
    return AXIS_FORCE, joint, struct.pack("<3f", torque, float("nan"), float("nan"))


class State:
    """A message from the simulator, checked while it is read."""

    def __init__(self, data):
        size, count = struct.unpack_from("<II", data)
        assert size == len(data)
        self.data, self.packets, at = data, [], 8
        for _ in range(count):
            kind, length, thing, index = struct.unpack_from("<IIII", data, at)
            self.packets.append((kind, thing, index, data[at + 16:at + 16 + length]))
            at += 16 + length
        assert at == size

    def floats(self, kind, thing, index=0):
        return next(struct.unpack(f"<{len(load) // 4}f", load)
                    for k, t, i, load in self.packets if (k, t, i) == (kind, thing, index))

    @property
    def step(self):
        return next(struct.unpack("<if", load)[0] for kind, _, _, load in self.packets if kind == TIMESTAMP)


class Peer:
    """A controller."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(20)

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def state(self):
        header = self.read(8)
        return State(header + self.read(struct.unpack("<I", header[:4])[0] - 8))

    def send(self, *packets):
        self.socket.sendall(message(*packets))

    def turn(self, *packets):
        """Answers the last state and reads the next."""
        self.send(*packets)
        return self.state()

    def quiet(self, seconds=0.3):
        """Nothing arrives for a while."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(1) is None
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(20)

    def gone(self):
        """The simulator closes."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True
