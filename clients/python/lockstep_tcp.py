#!/usr/bin/env python3
"""Moves the gripper's arm over lockstep-tcp: every frame it gets, it answers with ten velocities.

usage: lockstep_tcp.py [SIMULATOR [FRAMES]]      default: 127.0.0.1:11235 600
Start the simulator first: tether run gripper. Byte table: docs/wires/lockstep-tcp.md.
"""
import math
import socket
import struct
import sys

FRAME = struct.Struct(">Q10f")  # big-endian: frame number, ten angles in rad
VELOCITIES = struct.Struct(">10f")  # rad/s


def receive_exactly(link, size):
    data = b""
    while len(data) < size:
        piece = link.recv(size - len(data))
        if not piece:
            raise SystemExit("the simulator has closed the connection")
        data += piece
    return data


def control(frame, angles):
    """Swings the swivel to and fro, and brings every other joint to rest where it is."""
    swivel = 0.5 * math.cos(frame / 60)  # a frame is 1/60 s
    return [swivel] + [0.0] * 9


def main():
    arguments = sys.argv[1:] + ["127.0.0.1:11235", "600"][len(sys.argv) - 1:]
    host, port = arguments[0].rsplit(":", 1)
    frames = int(arguments[1])
    try:
        link = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.exit(f"{host}:{port}: {error.strerror}; start the simulator first: tether run gripper")
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    frame = -1
    while frame < frames:
        expected = frame + 1
        frame, *angles = FRAME.unpack(receive_exactly(link, FRAME.size))
        if frame not in (0, expected):  # 0: the world was reset
            raise SystemExit(f"frame {frame} came where {expected} was due")
        if frame % 60 == 0:
            print(f"frame {frame}  swivel {angles[0]:.3f} rad", flush=True)
        if frame < frames:
            link.sendall(VELOCITIES.pack(*control(frame, angles)))
    print(f"done: {frames} frames, swivel at {angles[0]:.3f} rad")


if __name__ == "__main__":
    main()
