#!/usr/bin/env python3
"""Follows the line of the scene `xrp` as a WPILib program for an XRP would, over UDP: docs/wires/xrp.md.

    xrp_line.py [ROBOT [SECONDS]]       default 127.0.0.1:3540, 30 simulated seconds
"""
import socket
import struct
import sys

LOOP = 0.02  # s, of a WPILib program
SPEED, GAIN = 0.6, 0.45
ANALOG, ENCODER = 0x15, 0x18


def message(number, enabled, left, right):
    """All motors and servos, as WPILib sends them; the right motor is mounted the other way round."""
    motors = b"".join(struct.pack(">BBBf", 6, 0x12, *motor) for motor in enumerate((left, -right, 0, 0)))
    servos = b"".join(struct.pack(">BBBf", 6, 0x13, which, 0.5) for which in (4, 5))
    return struct.pack(">HB", number & 0xFFFF, enabled) + motors + servos


def sensors(answer):
    """Volts of the analog inputs and counts of the encoders, by number."""
    volts, counts, at = {}, {}, 3
    while at < len(answer):
        size, tag = answer[at], answer[at + 1]
        if tag == ANALOG:
            volts[answer[at + 2]] = struct.unpack_from(">f", answer, at + 3)[0]
        elif tag == ENCODER:
            counts[answer[at + 2]] = struct.unpack_from(">i", answer, at + 3)[0]
        at += 1 + size
    return volts, counts


def main():
    robot = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:3540"
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30
    host, port = robot.rsplit(":", 1)
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((host, int(port)))
    link.settimeout(0.2)
    left = right = 0.0
    number, loops, counts = 0, 0, {}
    while loops * LOOP < seconds:
        try:
            link.send(message(number, 1, left, right))
            number += 1
            volts, counts = sensors(link.recv(2048))
        except (socket.timeout, ConnectionRefusedError):
            if number > 20 and not counts:
                sys.exit(f"nobody answers at {robot}; start the simulator first: tether run xrp")
            continue
        loops += 1
        # The eye that sees more of the line is on its side: turn there. On the line both see half of it.
        error = (volts[1] - volts[0]) / 5
        left, right = SPEED + GAIN * error, SPEED - GAIN * error
    link.send(message(number, 0, 0, 0))
    print(f"done: encoders {counts[0]} {counts[1]}")


if __name__ == "__main__":
    main()
