#!/usr/bin/env python3
"""Makes the creature of scene ezphysics crawl: two diagonal feet swing forward in the air while the others push.

usage: creature_crawl.py [--once] [SIMULATOR]      default: 127.0.0.1:5803
Start the simulator first: tether run ezphysics. Once: ten steps, then it stands still.
"""
import math
import socket
import struct
import sys

JOINTAXIS, LIMB, TIMESTAMP, AXIS_MOTOR = 3, 2, 5, 3
TORSO = 7  # ids as `tether check ezphysics` lists them
# Ids of the joints of thigh (swing, lift) and shin (foot); the sign of a swing forward; which of the two pairs it is of.
LEGS = [(3, 4, -1, 0), (5, 6, 1, 1), (7, 8, -1, 1), (9, 10, 1, 0)]
PERIOD = 1.0  # s for two steps, one of each pair
STRIDE = 0.4  # rad to either side of straight out
LIFT = 0.35  # rad, in the middle of the way forward
STEER = 1.5  # 1/rad, longer strides on the side from which it has turned away
GAIN = 10.0  # 1/s, of position errors
SWING, RAISE, SLIDE = 15.0, 25.0, 120.0  # N·m, N·m, N: the motors' greatest torques


def receive(stream):
    """What one message says: time (s), {(joint, axis): position}, the torso's place (m) and heading (rad)."""
    header = stream.read(8)
    if len(header) < 8:
        raise SystemExit("the simulator has closed the connection")
    size, count = struct.unpack("<II", header)
    body, at, time, axes, place, heading = stream.read(size - 8), 0, 0.0, {}, None, 0.0
    for _ in range(count):
        kind, length, thing, index = struct.unpack_from("<IIII", body, at)
        if kind == TIMESTAMP:
            step, timestep = struct.unpack_from("<if", body, at + 16)
            time = step * timestep
        elif kind == JOINTAXIS:
            axes[thing, index] = struct.unpack_from("<f", body, at + 16)[0]
        elif kind == LIMB and thing == TORSO:
            *place, w, x, y, z = struct.unpack_from("<7f", body, at + 16)
            heading = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        at += 16 + length
    return time, axes, place, heading


def gait(phase):
    """Swing (parts of the stride) and lift (rad) of a leg: half the time back on the ground, then forward in the air."""
    if phase < 0.5:
        return 1 - 4 * phase, 0.0
    return 4 * phase - 3, LIFT * math.sin(2 * math.pi * (phase - 0.5))


def motors(time, axes, heading, moving):
    """For each joint velocity and greatest torque of up to three axes."""
    for thigh, shin, forward, pair in LEGS:
        swing, lift = gait((time / PERIOD + 0.5 * pair) % 1) if moving else (0.0, 0.0)
        swing *= STRIDE * (forward - STEER * heading)
        yield thigh, (GAIN * (swing - axes[thigh, 0]), SWING, GAIN * (lift - axes[thigh, 1]), RAISE, 0, 0)
        yield shin, (-GAIN * axes[shin, 0], SLIDE, 0, 0, 0, 0)


def main():
    address = ([a for a in sys.argv[1:] if a != "--once"] + ["127.0.0.1:5803"])[0]
    host, port = address.rsplit(":", 1)
    try:
        wire = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.exit(f"{host}:{port}: {error.strerror}; start the simulator first: tether run ezphysics")
    wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream, shown, end = wire.makefile("rb"), -1, 10 * PERIOD if "--once" in sys.argv else math.inf
    while True:
        time, axes, place, heading = receive(stream)
        if not axes:
            continue  # the names
        if time >= shown + 1 or time < shown or time >= end + 0.5:  # a reset sets time back
            shown = time
            print(f"t {time:6.2f} s  torso at {place[0]:6.3f} {place[1]:6.3f} {place[2]:6.3f} m", flush=True)
        if time >= end + 0.5:
            break
        packets = [struct.pack("<IIII6f", AXIS_MOTOR, 24, joint, 0, *numbers)
                   for joint, numbers in motors(time, axes, heading, time < end)]
        wire.sendall(struct.pack("<II", 8 + sum(map(len, packets)), len(packets)) + b"".join(packets))


if __name__ == "__main__":
    main()
