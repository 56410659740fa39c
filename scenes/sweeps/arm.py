#!/usr/bin/env python3
"""Holds the arm of the scene frc2011 at an angle, over float-udp in lock-step: the controller of the plans arm-gains and wire-loss.

usage: arm.py [GAIN [DAMPING [INTEGRAL [TARGET]]]]     in·lbf/rad, in·lbf·s/rad, in·lbf/(rad·s), rad. A sweep tells where the
simulator is in $TETHER_FLOAT_UDP and where to bind in $TETHER_FLOAT_UDP_PEER; by itself it takes the scene's own ports:
    tether run frc2011 --pace lockstep & python3 arm.py
It answers each message, and so sees and does the same in every run. Byte table: docs/wires/float-udp.md.
"""
import os
import socket
import struct
import sys

SENSORS = struct.Struct("<10f")  # time, left, right, arm, wrist (rad), their speeds (rad/s), yaw rate
ACTUATORS = struct.Struct("<6f")  # stamp, left, right, arm, wrist (in·lbf), grip
ENOUGH, MOST = SENSORS.size, 530  # in·lbf: 60 N·m


def address(name, otherwise):
    host, port = os.environ.get(name, otherwise).rsplit(":", 1)
    return host, int(port)


def main():
    given = [float(word) for word in sys.argv[1:]]
    gain, damping, integral, target = given + [600.0, 120.0, 900.0, -0.5][len(given):]
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(address("TETHER_FLOAT_UDP_PEER", "127.0.0.1:5802"))
    simulator = address("TETHER_FLOAT_UDP", "127.0.0.1:5801")
    stamp, before, total = 0, None, 0.0
    while True:
        time, _, _, arm, wrist, _, _, arm_speed, wrist_speed, _ = SENSORS.unpack(link.recv(2048)[:ENOUGH])
        error = target - arm
        total += error * (time - before if before is not None else 0)
        stamp, before = stamp + 1, time
        arm_torque = gain * error - damping * arm_speed + integral * total
        wrist_torque = -60 * wrist - 10 * wrist_speed
        limited = (max(-MOST, min(MOST, torque)) for torque in (arm_torque, wrist_torque))
        link.sendto(ACTUATORS.pack(stamp, 0, 0, *limited, 0), simulator)


if __name__ == "__main__":
    main()
