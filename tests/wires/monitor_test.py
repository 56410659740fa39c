#!/usr/bin/env python3
"""What a page's monitor shows of each wire: every field of the byte table, in good messages and in bad ones."""
import socket
import struct
import unittest

from support import lockstep
from support.live_page import Page, poses
from support.process import Tether


class Monitor(unittest.TestCase):
    def start(self, scene, **settings):
        """The program, and a page that monitors its first wire."""
        given = {"web.listen": "127.0.0.1:0", "record.on": "false", **settings}
        program = Tether("run", scene, *(word for key, value in given.items() for word in ("--set", f"{key}={value}")))
        self.addCleanup(program.__exit__)
        self.page = Page(program.addresses["web"])
        self.addCleanup(self.page.close)
        self.page.send(type="monitor", wire=0)
        self.page.send(type="trial", action="start", why="hand", driver="")  # the world has opened the mail up to here
        self.page.told("event")
        return program

    def udp(self):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(made.close)
        made.bind(("127.0.0.1", 0))
        return made

    def tcp(self, address):
        made = socket.create_connection(address, timeout=20)
        self.addCleanup(made.close)
        return made

    def message(self, incoming, data=None):
        """The next message of that direction, with those bytes if any are given."""
        return self.page.until(lambda told: isinstance(told, dict) and told["type"] == "message" and
                               told["incoming"] == incoming and data in (None, bytes.fromhex(told["hex"])))

    def bad(self, text):
        """The last bad message, once what is wrong with it holds `text`."""
        def is_it(told):
            last = told["wires"][0]["bad"] if isinstance(told, dict) and told["type"] == "status" else None
            return last and text in last["text"]
        return self.page.until(is_it)["wires"][0]["bad"]

    @staticmethod
    def table(message):
        return [(field["name"], field["unit"], field["offset"], field["size"]) for field in message["fields"]]

    @staticmethod
    def wrong(message):
        return {field["name"]: field["value"] for field in message["fields"] if field["wrong"]}

    def test_pages_monitor_each_for_itself(self):
        program = self.start("gripper", **{"wires.lockstep-tcp.listen": "127.0.0.1:0"})
        link = lockstep.join(program)
        self.addCleanup(link.close)
        lockstep.drive(link, 1)
        self.message(False)
        other = Page(program.addresses["web"])
        self.addCleanup(other.close)
        for wire in 0, -1:
            other.send(type="monitor", wire=wire)
        other.send(type="trial", action="start", why="hand", driver="")
        other.told("event")
        link.sendall(lockstep.velocities(100))
        lockstep.receive(link)
        self.message(True, lockstep.velocities(100))

    def test_a_world_that_stands_still_is_seen(self):
        """Also by the first page, which comes when it stands."""
        program = Tether("run", "gripper", "--set", "web.listen=127.0.0.1:0", "--set", "wires.lockstep-tcp.listen=127.0.0.1:0")
        self.addCleanup(program.__exit__)
        link = lockstep.join(program)
        self.addCleanup(link.close)
        lockstep.drive(link, 300)
        page = Page(program.addresses["web"])
        self.addCleanup(page.close)
        page.until(lambda told: isinstance(told, bytes) and told[0] == 1 and abs(poses(told)[0] - 300 / 60) < 0.01)

    def test_float_udp(self):
        client = self.udp()
        program = self.start("frc2011", **{"wires.float-udp.bind": "127.0.0.1:0",
                                           "wires.float-udp.peer": "127.0.0.1:%d" % client.getsockname()[1]})
        sent = self.message(False)
        self.assertEqual([field["unit"] for field in sent["fields"]], ["s"] + ["rad"] * 4 + ["rad/s"] * 5)
        self.assertEqual([field["offset"] for field in sent["fields"]], list(range(0, 40, 4)))
        good = struct.pack("<6f", 1, 50, -50, 12.5, 0, 2)
        client.sendto(good, program.address("float-udp"))
        heard = self.message(True, good)
        self.assertEqual(self.table(heard)[1], ("left_track.torque", "in·lbf", 4, 4))
        self.assertEqual([float(field["value"]) for field in heard["fields"]], [1, 50, -50, 12.5, 0, 2])
        self.assertEqual(self.wrong(heard), {})
        client.sendto(struct.pack("<6f", 2, 50, -50, 12.5, float("nan"), 7), program.address("float-udp"))
        self.assertEqual(self.wrong(self.bad("field 5 (wrist.torque)")), {"wrist.torque": "nan", "grip": "7"})
        client.sendto(good + b"!", program.address("float-udp"))
        self.assertEqual(self.wrong(self.bad("25 bytes")), {"surplus": "1 too many"})

    def test_lockstep_tcp(self):
        program = self.start("gripper", **{"wires.lockstep-tcp.listen": "127.0.0.1:0"})
        client = self.tcp(program.address("lockstep-tcp"))
        sent = self.message(False)
        self.assertEqual(self.table(sent)[0], ("frame", "", 0, 8))
        self.assertEqual({(field["unit"], field["size"]) for field in sent["fields"][1:]}, {("rad", 4)})
        self.assertEqual(len(sent["fields"]), 11)
        good = struct.pack(">10f", *[0.5] * 10)
        client.sendall(good)
        heard = self.message(True, good)
        self.assertEqual([field["offset"] for field in heard["fields"]], list(range(0, 40, 4)))
        self.assertEqual({(field["unit"], field["value"], field["wrong"]) for field in heard["fields"]},
                         {("rad/s", "0.5", False)})
        client.sendall(struct.pack(">10f", 0, 0, float("inf"), *[0] * 7))
        self.assertEqual(list(self.wrong(self.bad("velocity 3")).values()), ["inf"])

    def test_ezphysics(self):
        program = self.start("ezphysics", **{"wires.ezphysics.listen": "127.0.0.1:0"})
        client = self.tcp(program.address("ezphysics"))
        sent = self.message(False)
        self.assertGreater(sent["size"], 1024)  # the beginning of it is shown all the same
        self.assertEqual(len(sent["hex"]), 2048)
        head = [("message size", "B", 0, 4), ("packets", "", 4, 4), ("type", "", 8, 4), ("payload", "B", 12, 4),
                ("object", "", 16, 4), ("index", "", 20, 4), ("step", "", 24, 4), ("step size", "s", 28, 4)]
        self.assertEqual(self.table(sent)[:8], head)
        self.assertEqual([field["offset"] for field in sent["fields"]], list(range(0, 1024, 4)))
        limb = [field["unit"] for field in sent["fields"] if 48 <= field["offset"] < 48 + 84]
        self.assertEqual(limb, ["m"] * 3 + [""] * 4 + ["N"] * 3 + ["N·m"] * 3 + [""] + ["m/s"] * 3 + ["rad/s"] * 3 + [""])
        self.assertEqual(self.wrong(sent), {})

        def motor(joint, *numbers):
            return struct.pack("<6I6f", 48, 1, 3, 24, joint, 0, *numbers)
        client.sendall(motor(1, 1.5, 20, 0, 0, 0, 0))
        heard = self.message(True)
        self.assertEqual([(field["name"], field["unit"]) for field in heard["fields"]][6:8],
                         [("velocity 1", "rad/s"), ("max torque 1", "N·m")])
        self.assertEqual(self.wrong(heard), {})
        client.sendall(motor(1, 1.5, -20, 0, 0, 0, 0))
        self.assertEqual(self.wrong(self.bad("not within")), {"max torque 1": "-20"})
        client.sendall(motor(999, 1.5, 20, 0, 0, 0, 0))
        self.assertEqual(self.wrong(self.bad("joint 999")), {"object": "999"})
        client.sendall(struct.pack("<6I", 24, 1, 3, 0, 1, 0))
        self.assertEqual(self.wrong(self.bad("0 bytes where 24")), {"payload": "0, 24 expected"})

    def test_sharp_json(self):
        client = self.udp()
        program = self.start("sharp", **{"wires.sharp-json.bind": "127.0.0.1:0",
                                         "wires.sharp-json.peer": "127.0.0.1:%d" % client.getsockname()[1]})
        self.assertEqual(self.table(self.message(False)),
                         [("leftDriveEncoder", "/1024", 22, 4), ("rightDriveEncoder", "/1024", 49, 4),
                          ("elevatorEncoder", "/1024", 74, 4)])
        good = b'{"elevatorMotorSpeed":-5, "start":0}'
        client.sendto(good, program.address("sharp-json"))
        heard = self.message(True, good)
        self.assertIn(("elevatorMotorSpeed", "/512", 22, 2), self.table(heard))
        self.assertEqual([field["value"] for field in heard["fields"]], ["kept", "kept", "-5", "kept", "kept", "0"])
        client.sendto(b"{ 'leftDriveMotorSpeed': 0600, 'back': 0 }", program.address("sharp-json"))
        self.assertEqual(self.wrong(self.bad("leftDriveMotorSpeed")), {"leftDriveMotorSpeed": "0600"})
        client.sendto(b"{ 'leftDriveMotorSpeed': 06x0", program.address("sharp-json"))
        self.assertEqual(self.wrong(self.bad("byte")), {"leftDriveMotorSpeed": "06x0"})

    def test_xrp(self):
        client = self.udp()
        program = self.start("xrp", **{"wires.xrp.bind": "127.0.0.1:0"})
        motors = b"".join(struct.pack(">BBBf", 6, 0x12, which, 0.25 * which) for which in range(4))
        servos = b"".join(struct.pack(">BBBf", 6, 0x13, which, 0.5) for which in (4, 5))
        good = b"\1\2\1" + motors + servos + b"\3\x14\1\1"
        client.sendto(good, program.address("xrp"))
        heard = self.message(True, good)
        self.assertEqual(self.table(heard)[:7], [("number", "", 0, 2), ("enabled", "", 2, 1), ("size", "", 3, 1), ("tag", "", 4, 1),
                                                 ("motor: which", "", 5, 1), ("motor 0", "", 6, 4), ("size", "", 10, 1)])
        values = {field["name"]: field["value"] for field in heard["fields"]}
        self.assertEqual((values["number"], values["motor 3"], values["servo 5"], values["DIO 1, value"]), ("258", "0.75", "0.5", "1"))
        self.assertEqual(self.wrong(heard), {})
        sent = {(field["name"], field["unit"]) for field in self.message(False)["fields"]}
        self.assertLessEqual({("encoder 1, count", "ticks"), ("gyro, rate z", "deg/s"), ("gyro, angle z", "deg"), ("accelerometer, z", "g"),
                              ("analog 2", "V"), ("encoder 0, period", "")}, sent)
        client.sendto(good[:6] + struct.pack(">f", float("nan")) + good[10:], program.address("xrp"))
        self.assertEqual(self.wrong(self.bad("motor 0")), {"motor 0": "nan"})
        client.sendto(good[:-2], program.address("xrp"))
        self.assertEqual(self.wrong(self.bad("of which 1 are here")), {"DIO: which": "missing", "DIO, value": "missing"})


if __name__ == "__main__":
    unittest.main()
