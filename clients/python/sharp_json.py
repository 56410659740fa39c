#!/usr/bin/env python3
"""A controller for the sharp-json wire: drives forward, turns, raises the lift to half its travel and holds it there.

    tether run sharp &
    python3 clients/python/sharp_json.py [vehicle host:port] [our host:port] [states]

Hears one state every 17 ms and answers each with one command, so that neither side ever falls behind.
"""
import json
import socket
import sys


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def read_state(data):
    """The vehicle writes single quotes and leading zeros, in fixed columns."""
    return int(data[22:26]), int(data[49:53]), int(data[74:78])


def main():
    vehicle = address(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8000")
    ours = address(sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:6000")
    states = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        wire.bind(ours)
    except OSError as error:
        sys.exit(f"{ours[0]}:{ours[1]}: {error.strerror}; does another client run?")
    wire.settimeout(5)
    for n in range(states):
        left, right, lift = read_state(wire.recv(2048))
        turning = n % 200 >= 150
        command = {
            "leftDriveMotorSpeed": 150,
            "rightDriveMotorSpeed": -150 if turning else 150,
            "elevatorMotorSpeed": max(-512, min(512, 3 * (512 - lift))),
            "back": 0, "guide": 0, "start": int(n == 0),  # start: the match clock runs
        }
        wire.sendto(json.dumps(command).encode(), vehicle)  # proper JSON is as welcome as fixed columns
        if n % 100 == 0:
            print(f"encoders {left:4d} {right:4d}  lift {lift:4d}")
    wire.recv(2048)  # the last command is an answer, too
    wire.sendto(b"{'leftDriveMotorSpeed': 0, 'rightDriveMotorSpeed': 0, 'elevatorMotorSpeed': 0}", vehicle)
    print(f"done: lift {lift}")


if __name__ == "__main__":
    main()
