#!/usr/bin/env python3
"""A robot that sends telemetry to Tether: python3 telemetry.py [HOST:PORT] [DEVICE]

One XML document a message, any number on one connection; ack='yes' asks to be told when it is stored durably. `boot` tells
this run from earlier ones and `seq` each message from the others, so that one that is sent again is known for sure."""
import math
import secrets
import socket
import sys
import time
from xml.sax.saxutils import quoteattr


def message(device, boot, number, clock_ms, speed, level):
    return (f"<?xml version='1.0'?>\n<MESSAGE id={quoteattr(device)} time='{clock_ms}' boot='{boot}' seq='{number}' ack='yes'>"
            f"<Output time='0'><drive velocity='{speed:.3f}'/></Output>"
            f"<Input time='-5'><battery level='{level:.2f}'/></Input></MESSAGE>\n")


def main():
    host, port = (sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:5804").rsplit(":", 1)
    device = sys.argv[2] if len(sys.argv) > 2 else "PYTHON"
    boot = secrets.token_hex(4)  # another one after each start
    started = time.monotonic()  # the device's own clock counts from here
    try:
        connection = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.exit(f"{host}:{port}: {error.strerror}; start the collector first: tether collect")
    with connection:
        answers = connection.makefile()
        for number in range(50):
            clock_ms = int((time.monotonic() - started) * 1000) + 1
            connection.sendall(message(device, boot, number, clock_ms, math.sin(number / 10), 12 - number / 100).encode())
            print(answers.readline().strip())
            time.sleep(0.02)


if __name__ == "__main__":
    main()
