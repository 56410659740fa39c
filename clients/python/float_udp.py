#!/usr/bin/env python3
"""Drives the frc2011 robot over float-udp: holds the arm level and drives in a gentle arc.

usage: float_udp.py [SIMULATOR [LISTEN [SECONDS]]]      default: 127.0.0.1:5801 127.0.0.1:5802 5
Start the simulator first: tether run frc2011. Byte table: docs/wires/float-udp.md.
"""
import socket
import struct
import sys


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def clamp(value, most):
    return max(-most, min(most, value))


def control(angles, speeds):
    """Torques of left track, right track, arm, wrist in in·lbf. The arm's angle is positive down."""
    arm = -400 * angles[2] - 80 * speeds[2] - 150  # a spring to level, a damper, and something against gravity
    wrist = -60 * angles[3] - 10 * speeds[3]
    left, right = 20 * (4 - speeds[0]), 20 * (5 - speeds[1])  # towards 4 and 5 rad/s
    return clamp(left, 60), clamp(right, 60), clamp(arm, 400), clamp(wrist, 60)


def main():
    arguments = sys.argv[1:] + ["127.0.0.1:5801", "127.0.0.1:5802", "5"][len(sys.argv) - 1:]
    simulator, seconds = address(arguments[0]), float(arguments[2])
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        link.bind(address(arguments[1]))
    except OSError as error:
        sys.exit(f"{arguments[1]}: {error.strerror}; does another client run?")
    link.settimeout(5)
    start, messages = None, 0
    while True:
        data = link.recv(2048)
        if len(data) != 40:
            continue
        time, *rest = struct.unpack("<10f", data)  # little-endian float32
        angles, speeds, yaw_rate = rest[0:4], rest[4:8], rest[8]
        start = time if start is None else start
        messages += 1
        stamp = float(messages)  # any number that grows
        link.sendto(struct.pack("<6f", stamp, *control(angles, speeds), 0.0), simulator)
        if messages % 100 == 1:
            print(f"t {time:.2f} s  wheels {angles[0]:.2f} {angles[1]:.2f} rad  arm {angles[2]:.2f} rad"
                  f"  turning {yaw_rate:.2f} rad/s", flush=True)
        if time - start >= seconds:
            break
    print(f"done: {messages} messages, wheels at {angles[0]:.2f} {angles[1]:.2f} rad")


if __name__ == "__main__":
    main()
