#!/usr/bin/env python3
"""The Python client whose speed script/bench measures; the same against the simulator and against the echo.

usage: lockstep_client.py block|spin PORT FRAMES SEND RECEIVE WARM_UP      prints seconds for FRAMES
"""
import math
import socket
import struct
import sys
import time


def main():
    mode, (port, frames, send, receive, warm_up) = sys.argv[1], map(int, sys.argv[2:7])
    velocities = struct.Struct(f">{send // 4}f")
    frame_format = struct.Struct(f">Q{(receive - 8) // 4}f")
    link = socket.create_connection(("127.0.0.1", port))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    buffer = memoryview(bytearray(receive))
    flags = socket.MSG_DONTWAIT if mode == "spin" else 0

    def read_frame():
        got = 0
        while got < receive:
            try:
                part = link.recv_into(buffer[got:], receive - got, flags)
            except BlockingIOError:
                continue
            if part == 0:
                raise SystemExit("the simulator is gone")
            got += part
        return frame_format.unpack(buffer)

    read_frame()
    rest = [0.0] * (send // 4 - 1)
    for frame in range(warm_up + frames):
        if frame == warm_up:
            started = time.perf_counter()
        link.sendall(velocities.pack(0.5 * math.cos(frame / 60), *rest))
        read_frame()
    print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
