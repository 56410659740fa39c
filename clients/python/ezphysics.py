#!/usr/bin/env python3
"""A controller for the ezphysics wire: swings every joint of the robot to and fro.

    tether run ezphysics &
    python3 clients/python/ezphysics.py [host:port] [states]

Waits for each state, prints a body and a joint now and then, and answers with a servo command for every joint.
"""
import math
import socket
import struct
import sys

COLLISION, LIMB, JOINTAXIS, JOINTFEEDBACK, TIMESTAMP, NAME = 1, 2, 3, 4, 5, 16
RESET, AXIS_FORCE, AXIS_MOTOR = 1, 2, 3


def message(*packets):
    """Packets are (type, object id, payload)."""
    body = b"".join(struct.pack("<IIII", kind, len(load), thing, 0) + load for kind, thing, load in packets)
    return struct.pack("<II", 8 + len(body), len(packets)) + body


def receive(stream):
    """One message as a list of (type, object id, index, payload); None at the end of the stream."""
    header = stream.read(8)
    if len(header) < 8:
        return None
    size, count = struct.unpack("<II", header)
    body, packets, at = stream.read(size - 8), [], 0
    for _ in range(count):
        kind, length, thing, index = struct.unpack_from("<IIII", body, at)
        packets.append((kind, thing, index, body[at + 16:at + 16 + length]))
        at += 16 + length
    return packets


def main():
    host, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:5803").rsplit(":", 1)
    states = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    try:
        wire = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.exit(f"{host}:{port}: {error.strerror}; start the simulator first: tether run ezphysics")
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = wire.makefile("rb")
    while states > 0:
        packets = receive(stream)
        if packets is None:
            sys.exit("the simulator has closed the connection")
        step, size = next((struct.unpack("<if", load) for kind, _, _, load in packets if kind == TIMESTAMP), (None, 0))
        if step is None:
            continue  # the names
        if states % 100 == 0:
            limb = next(struct.unpack("<21f", load) for kind, thing, _, load in packets if kind == LIMB)
            touching = sum(kind == COLLISION for kind, _, _, _ in packets)
            print(f"t {step * size:7.3f} s  body 1 at {limb[0]:.3f} {limb[1]:.3f} {limb[2]:.3f}  contacts {touching}")
        speed = 0.5 * math.cos(2 * math.pi * step * size)
        joints = sorted({thing for kind, thing, _, _ in packets if kind == JOINTAXIS})
        wire.sendall(message(*((AXIS_MOTOR, joint, struct.pack("<6f", *(speed, 20.0) * 3)) for joint in joints)))
        states -= 1
    print(f"done: step {step}")


if __name__ == "__main__":
    main()
