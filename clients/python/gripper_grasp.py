#!/usr/bin/env python3
"""Drives the gripper scene: the arm goes over the ball, takes it with three fingers, lifts it and shows it around.

usage: gripper_grasp.py [--once] [SIMULATOR]      default: 127.0.0.1:11235
Start the simulator first: tether run gripper. Each answer of ten velocities makes one frame of 1/60 s.
"""
import math
import socket
import struct
import sys

BALL_X, BALL_Y = 2.8, 2.1  # m, where the ball lies
SHOULDER, LINK = 1.5, 2.5  # m: height of the base hinge; base to middle and middle to wrist hinge
LOW, HIGH = 1.45, 2.65  # m: height of the wrist hinge with the fingers around the ball, and well above it
OPEN, CLOSED = 0.9, 0.38  # rad, finger bases; their middles stay curled so that they reach under the ball
CURLED = -1.0


def over(x, y, height):
    """Angles of swivel, base, middle and wrist that put the wrist over x, y at that height, the hand down."""
    across, up = math.hypot(x, y), height - SHOULDER
    elbow = math.acos(math.hypot(across, up) / (2 * LINK))
    base = math.atan2(across, up) - elbow
    return [math.atan2(y, x), base, 2 * elbow, math.pi - base - 2 * elbow]


def turned(angles, by):
    return [angles[0] + by] + angles[1:]


ABOVE, AROUND = over(BALL_X, BALL_Y, HIGH), over(BALL_X, BALL_Y, LOW)
# What to do, one after the other: four angles of the arm, the finger bases, how long (s), what it is.
PLAN = [(ABOVE, OPEN, 5, "over the ball"), (AROUND, OPEN, 3, "around the ball"), (AROUND, CLOSED, 2, "gripped"),
        (ABOVE, CLOSED, 4, "lifted"), (ABOVE, CLOSED, 2, "held for 2 s"), (turned(ABOVE, -1.5), CLOSED, 4, "shown"),
        (ABOVE, CLOSED, 4, "back"), (AROUND, CLOSED, 3, "put down"), (AROUND, OPEN, 2, "let go"),
        (ABOVE, OPEN, 3, "done")]


def limit(value, most):
    return max(-most, min(most, value))


def exchange(link, velocities):
    """Answers one frame (if any) and waits for the next: its number and ten angles."""
    if velocities:
        link.sendall(struct.pack(">10f", *velocities))
    data = b""
    while len(data) < 48:
        part = link.recv(48 - len(data))
        if not part:
            raise SystemExit("the simulator has closed the connection")
        data += part
    return struct.unpack(">Q10f", data)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--once"] + ["127.0.0.1:11235"]
    host, port = arguments[0].rsplit(":", 1)
    try:
        link = socket.create_connection((host, int(port)))
    except OSError as error:
        sys.exit(f"{host}:{port}: {error.strerror}; start the simulator first: tether run gripper")
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    frame, *angles = exchange(link, None)
    plan, begun = PLAN, frame
    while plan:
        arm, fingers, seconds, what = plan[0]
        goal = arm + 3 * [fingers] + 3 * [CURLED]
        velocities = [limit(4 * (g - a), 0.8 if i < 4 else 1.5) for i, (g, a) in enumerate(zip(goal, angles))]
        last = frame
        frame, *angles = exchange(link, velocities)
        if frame < last:  # the world was reset: the ball lies where it lay
            plan, begun = PLAN, frame
        elif frame - begun == 60 * seconds:
            print(f"frame {frame}: {what}; fingers at {angles[4]:.2f} {angles[5]:.2f} {angles[6]:.2f} rad", flush=True)
            plan, begun = plan[1:] or ([] if "--once" in sys.argv else PLAN), frame


if __name__ == "__main__":
    main()
