"""A client of a lockstep-tcp wire, for tests: ten joints, as scene gripper has them."""
import socket
import struct

from support.process import Tether

FRAME = struct.Struct(">Q10f")
VELOCITIES = struct.Struct(">10f")


def join(tether):
    link = socket.create_connection(tether.address("lockstep-tcp"), timeout=20)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def receive(link, size=FRAME.size):
    data = b""
    while len(data) < size:
        piece = link.recv(size - len(data))
        if not piece:
            raise EOFError("closed by the simulator")
        data += piece
    return data


def velocities(n, sign=1):
    """An answer that is another one every hundred frames."""
    return VELOCITIES.pack(*[sign * 0.5 * ((n // 100 + joint) % 3 - 1) for joint in range(10)])


def drive(link, frames, first=0, sign=1):
    """Answers `frames` frames, and returns every byte received, the frame after the last answer included."""
    stream = receive(link)
    for n in range(first, first + frames):
        link.sendall(velocities(n, sign))
        stream += receive(link)
    return stream


def closed(link):
    try:
        return link.recv(1) == b""
    except ConnectionResetError:
        return True


def run(*settings):
    arguments = ["run", "gripper", "--no-web", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0"]
    for setting in settings:
        arguments += ["--set", setting]
    return Tether(*arguments)
