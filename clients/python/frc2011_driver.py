#!/usr/bin/env python3
"""Drives frc2011: hangs the tube in front of it on a peg, looks at it, fetches it back, and so on.

usage: frc2011_driver.py [--once] [SIMULATOR [LISTEN]]      default: 127.0.0.1:5801 127.0.0.1:5802
Start the simulator first: tether run frc2011. All it knows are the ten sensor floats: wheels tell where it is.
"""
import math
import socket
import struct
import sys

IN_LBF = 1 / 0.1129848290276167  # in·lbf in a N·m
WHEEL, TRACK, START = 0.0762, 0.60, 1.8  # m: radius, distance between the sides, x where the robot starts
SHOULDER_X, SHOULDER_Z, ARM, HAND = -0.13, 1.06, 1.05, 0.25  # m; HAND: from the wrist to between the claws
TUBE, PEG = 4.24, 7.855  # m, x of the hand over the tube's near rim, and with the tube on its peg
DOWN, UP = math.radians(70), math.radians(-20)  # pitch of the hand, positive down: the tube lies, it stands upright
# What to do, one after the other: x and z of the hand (m), its pitch, the kind of piece to hold, seconds to stay.
HANG = [(TUBE, 0.60, DOWN, 0, 0), (TUBE, 0.18, DOWN, 0, 0.3), (TUBE, 0.18, DOWN, 1, 0.3), (TUBE, 0.60, DOWN, 1, 0),
        (TUBE, 1.72, UP, 1, 0), (PEG - 0.40, 1.72, UP, 1, 0), (PEG, 1.72, UP, 1, 0.3), (PEG, 1.51, UP, 1, 0.3),
        (PEG, 1.51, UP, 0, 0.5), (PEG - 0.60, 1.51, UP, 0, 3)]
REST = PEG + 0.035  # where the tube hangs at rest: to take it as it was held before
FETCH = [(REST, 1.54, UP, 0, 0.3), (REST, 1.54, UP, 1, 0.3), (REST, 1.72, UP, 1, 0.3), (PEG - 0.40, 1.72, UP, 1, 0),
         (TUBE, 1.72, UP, 1, 0), (TUBE, 0.60, DOWN, 1, 0), (TUBE, 0.20, DOWN, 1, 0.3), (TUBE, 0.20, DOWN, 0, 0.3),
         (TUBE, 0.60, DOWN, 0, 0.3), (START + 0.7, 0.60, DOWN, 0, 1)]
FASTEST = 30  # rad/s: no wheel and no joint turns so fast


def limit(value, most):
    return max(-most, min(most, value))


def was_reset(before, now):
    """Whether wheels or joints stand where they can't have turned to: time goes on through a reset. It begins anew with the simulator."""
    dt = now[0] - before[0]
    return dt < -1 or any(abs(n - b) > FASTEST * abs(dt) for b, n in zip(before[1:5], now[1:5]))


class Driver:
    time = y = wanted = 0.0
    arm = wrist = None  # rad, where they should be now: they go to their goals slowly

    def step(self, sensors, goal):
        """Torques (N·m) of left, right, arm and wrist toward a goal; whether it is reached, and whether it moves."""
        time, left, right, arm, wrist, left_speed, right_speed, arm_speed, wrist_speed, yaw_rate = sensors
        hand_x, hand_z, pitch, grip, _ = goal
        dt, self.time = limit(time - self.time, 0.1), time
        x, heading = START + WHEEL * (left + right) / 2, WHEEL * (right - left) / TRACK
        speed = WHEEL * (left_speed + right_speed) / 2
        self.y += speed * math.sin(heading) * dt
        # Angles that put the hand at its height and pitch, and how far the robot has to go then.
        arm_goal = math.asin(limit((SHOULDER_Z - hand_z - HAND * math.sin(pitch)) / ARM, 1))
        off = hand_x - (SHOULDER_X + ARM * math.cos(arm_goal) + HAND * math.cos(pitch)) - x
        self.wanted += limit(limit(2 * off, 0.9) - self.wanted, 1.2 * dt)  # m/s; no jerks: the wheels must not slip
        push = 12 * (self.wanted - speed) + 0.4 * limit(self.wanted / 0.02, 1)  # the last term: rolling resistance
        turn = 8 * (limit(-1.5 * self.y, 0.3) - heading) - 3 * yaw_rate
        # Arm and wrist go to their goals at no more than 1 and 1.5 rad/s, against their weight.
        self.arm, self.wrist = (arm, wrist) if self.arm is None else (self.arm, self.wrist)
        self.arm += limit(arm_goal - self.arm, 1.0 * dt)
        self.wrist += limit(pitch - arm_goal - self.wrist, 1.5 * dt)
        hand_weight = 0.87 * math.cos(arm + wrist) + (1.36 * math.cos(arm + wrist - 0.49) if grip else 0)
        arm_weight = (15.7 if grip else 12.6) * math.cos(arm) + hand_weight
        torques = [limit(push - turn, 6), limit(push + turn, 6),
                   limit(60 * (self.arm - arm) - 20 * arm_speed - arm_weight, 45),
                   limit(3 * (self.wrist - wrist) - 0.4 * wrist_speed - hand_weight, 12)]
        far = max(abs(off) / 0.02, abs(arm_goal - arm) / 0.04, abs(pitch - arm_goal - wrist) / 0.06)
        return torques, far < 1, abs(speed) > 0.02 or abs(arm_speed) > 0.05


arguments = [a for a in sys.argv[1:] if a != "--once"]
addresses = arguments + ["127.0.0.1:5801", "127.0.0.1:5802"][len(arguments):]
simulator, own = [(host, int(port)) for host, port in (a.rsplit(":", 1) for a in addresses)]
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    link.bind(own)
except OSError as error:
    sys.exit(f"{addresses[1]}: {error.strerror}; does another driver run?")
driver, plan, since, last = Driver(), HANG, None, None
while plan:
    data = link.recv(2048)
    if len(data) != 40:
        continue
    sensors = struct.unpack("<10f", data)  # little-endian float32
    if last and was_reset(last, sensors):  # all lies where it lay
        driver, plan, since = Driver(), HANG, None
    last = sensors
    torques, reached, moving = driver.step(sensors, plan[0])
    link.sendto(struct.pack("<6f", sensors[0], *(IN_LBF * t for t in torques), plan[0][3]), simulator)
    since = sensors[0] if moving or since is None else since
    # Standing still for 1.5 s short of the goal: something is in the way, the peg under the tube for one.
    if sensors[0] - since >= (plan[0][4] if reached else 1.5):
        print("%.2f s: hand at x %.2f m, z %.2f m, holding %d" % (sensors[0], *plan[0][:2], plan[0][3]), flush=True)
        plan, since = plan[1:] or ([] if "--once" in sys.argv else FETCH + HANG), None
