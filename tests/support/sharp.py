"""The sharp-json chain for tests: its messages, sockets that hear them, and its three programs."""
import re
import socket
import struct
import tempfile
import unittest

from support.process import Tether, wait_for

STATE = re.compile(rb"\{ 'leftDriveEncoder': (\d{4}), 'rightDriveEncoder': (\d{4}), 'elevatorEncoder': (\d{4}) \}")
COMMAND = re.compile(rb"\{ 'leftDriveMotorSpeed': (-\d{3}|\d{4}), 'rightDriveMotorSpeed': (-\d{3}|\d{4}), "
                     rb"'elevatorMotorSpeed': (-\d{3}|\d{4}), 'back': ([01]), 'guide': ([01]), 'start': ([01]) \}")
JOYSTICK_SIZE, COMMAND_SIZE, STATE_SIZE = 154, 124, 80
SO_TIMESTAMPNS = 35  # of Linux


def number(value):
    return f"{value:04d}"


def joystick(left=(0, 0), right=(0, 0), dpad=(0, 0, 0, 0), buttons=(0, 0, 0, 0), back=0, select=0, start=0):
    return (f"{{ 'leftJoystick': [ {number(left[0])}, {number(left[1])} ], "
            f"'rightJoystick': [ {number(right[0])}, {number(right[1])} ], "
            f"'dpad': [ {', '.join(map(str, dpad))} ], 'buttons': [ {', '.join(map(str, buttons))} ], "
            f"'back': {back}, 'select': {select}, 'start': {start} }}").encode()


def command(left=0, right=0, elevator=0, back=0, guide=0, start=0):
    return (f"{{ 'leftDriveMotorSpeed': {number(left)}, 'rightDriveMotorSpeed': {number(right)}, "
            f"'elevatorMotorSpeed': {number(elevator)}, 'back': {back}, 'guide': {guide}, 'start': {start} }}").encode()


def state(left=0, right=0, elevator=0):
    return (f"{{ 'leftDriveEncoder': {left:04d}, 'rightDriveEncoder': {right:04d}, "
            f"'elevatorEncoder': {elevator:04d} }}").encode()


def receive_stamped(udp):
    """(datagram, sender, s since 1970 that the kernel had it), however late it is read, of a socket that stamp_arrivals() saw."""
    data, ((_, _, stamp),), _, sender = udp.recvmsg(4096, 64)
    seconds, nanoseconds = struct.unpack("@ll", stamp)
    return data, sender, seconds + nanoseconds * 1e-9


def stamp_arrivals(udp):
    udp.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


class Udp:
    """A socket on a free port of its own."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        stamp_arrivals(self.socket)
        self.socket.settimeout(20)
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]

    def receive(self):
        self.data, self.sender, self.arrived = receive_stamped(self.socket)
        return self.data

    def drain(self):
        """Forgets what waits."""
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(4096)
        except BlockingIOError:
            pass
        self.socket.settimeout(20)

    def send(self, data, address):
        self.socket.sendto(data, address)


def free_ports(count):
    """Addresses of ports that were free a moment ago, found by binding and letting go."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Case(unittest.TestCase):
    def udp(self):
        udp = Udp()
        self.addCleanup(udp.socket.close)
        return udp

    def tether(self, *arguments):
        tether = Tether(*arguments)
        self.addCleanup(tether.__exit__)
        return tether

    def vehicle(self, peer, *more):
        return self.tether("run", "sharp", "--no-web", "--set", "wires.sharp-json.bind=127.0.0.1:0",
                           "--set", f"wires.sharp-json.peer={peer.address}", *more)

    def core(self, joystick_peer, vehicle_peer, *more):
        return self.tether("core", "--set", "joystick.bind=127.0.0.1:0", "--set", "vehicle.bind=127.0.0.1:0",
                           "--set", f"joystick.peer={joystick_peer.address}",
                           "--set", f"vehicle.peer={vehicle_peer.address}", *more)

    def start_vehicle(self, *more):
        core = self.udp()
        vehicle = self.vehicle(core, *more)
        return vehicle, core, vehicle.address("sharp-json")

    def start_core(self, *more):
        stick, vehicle = self.udp(), self.udp()
        core = self.core(stick, vehicle, *more)
        return core, stick, vehicle

    def commanded(self, vehicle):
        match = COMMAND.fullmatch(vehicle.receive())
        self.assertTrue(match, vehicle.data)
        return tuple(int(part) for part in match.groups())

    def settle(self, core, stick, vehicle, data, expected, part=slice(2)):
        """Sends `data` until this part of the commands is what is expected, and sees that it stays so. Returns all commands."""
        def commanded():
            stick.send(data, core.address("joystick"))
            return self.commanded(vehicle)
        wait_for(lambda: commanded()[part] == expected, f"{expected}")
        last = [commanded() for _ in range(3)]
        self.assertEqual([values[part] for values in last], [expected] * 3)
        return last[-1]

    def script(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".txt")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def start_joystick(self, core, script):
        return self.tether("joystick", "--set", "bind=127.0.0.1:0", "--set", f"peer={core.address}",
                           "--script", self.script(script))
