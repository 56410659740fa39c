#!/usr/bin/env python3
"""Text from outside (files, names, arguments, peers) on a terminal and in the log: it moves no cursor, ends no line and
turns no direction of writing."""
import fcntl
import os
import pathlib
import pty
import select
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from support.process import PATIENCE, ROOT, TETHER, Tether

GOOD = ROOT / "tests" / "scenes" / "good"
ESCAPE = "\033[2J\033]0;owned\007"
# As a YAML text in double quotes: a clear of the screen, C1's CSI, right-to-left override, a line separator.
IN_YAML = r"evil\e[2J\u009b31m\u202e\u2028mark"
SHOWN = "evil?[2J?31m??mark"
FORBIDDEN = [chr(code) for code in [*range(0x20), 0x7f, *range(0x80, 0xa0), 0x200e, 0x200f, *range(0x202a, 0x202f), 0x2028, 0x2029,
                                    *range(0x2066, 0x206a)] if chr(code) != "\n"]


class OutsideText(unittest.TestCase):
    def assert_safe(self, text):
        self.assertEqual([hex(ord(c)) for c in FORBIDDEN if c in text], [], text)

    def tell(self, *arguments, **options):
        answer = subprocess.run([TETHER, *map(str, arguments)], capture_output=True, timeout=60, check=False, **options)
        text = (answer.stdout + answer.stderr).decode("utf-8")
        self.assert_safe(text)
        return answer.returncode, text

    def scene(self, folder, text, model=""):
        pathlib.Path(folder, "robot.yaml").write_text("model: robot.xml\n", encoding="utf-8")
        pathlib.Path(folder, "robot.xml").write_text(
            model or (GOOD / "bot" / "robot.xml").read_text(encoding="utf-8"), encoding="utf-8")
        path = pathlib.Path(folder, "scene.yaml")
        path.write_text(text, encoding="utf-8")
        return path

    def test_what_a_scene_says_of_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            status, text = self.tell("check", self.scene(folder, f'description: "{IN_YAML}"\n'))
            self.assertEqual(status, 0, text)
            self.assertIn(SHOWN, text)
            status, text = self.tell("check", self.scene(folder, "description: |\n  first\n  second\n"))
            self.assertIn("          first\n          second\narena", text)

    def test_names_in_a_model(self):
        bot = (GOOD / "bot" / "robot.xml").read_text(encoding="utf-8")
        model = bot.replace('"arm"', '"a&#x9b;31m&#x202e;&#x2028;rm"')
        with tempfile.TemporaryDirectory() as folder:
            scene = self.scene(folder, "robots: [{robot: robot.yaml, name: r}]\n", model)
            status, text = self.tell("check", scene)
            self.assertEqual(status, 0, text)
            self.assertIn("a?31m??rm.position", text)
            wire = 'wires: [{float-udp: {bind: "127.0.0.1:0", sensors: [nothing], commands: [stamp]}}]\n'
            scene.write_text(scene.read_text(encoding="utf-8") + wire, encoding="utf-8")
            status, text = self.tell("check", scene)
            self.assertEqual(status, 1, text)
            status, text = self.tell("check", self.scene(folder, "robots: [{robot: robot.yaml}]\n", bot.replace('"arm"', '"a&#27;[31m"')))
            self.assertEqual((status, text.count("\n")), (1, 1), text)
            self.assertIn("control character in a name", text)

    def test_errors_that_quote(self):
        with tempfile.TemporaryDirectory() as folder:
            named = pathlib.Path(folder, f"x{ESCAPE}\u202e.yaml")
            named.write_text("timestep: never\n", encoding="utf-8")
            for arguments in (("check", named), (f"run{ESCAPE}",), ("run", f"--{ESCAPE}"), ("check", f"{folder}/{ESCAPE}"),
                              ("check", GOOD / "one.yaml", "--set", f"description.{ESCAPE}=1"), ("bench", ESCAPE),
                              ("export", f"{folder}/{ESCAPE}"), ("verify", f"{folder}/{ESCAPE}"), ("core", "--set", f"{ESCAPE}=1"),
                              ("check", self.scene(folder, f'"{IN_YAML}": 1\n')), ("check", self.scene(folder, f'arena: "{IN_YAML}"\n')),
                              ("check", self.scene(folder, f'wires: [{{"{IN_YAML}": {{}}}}]\n')),
                              ("check", self.scene(folder, f'robots: [{{robot: robot.yaml, name: "{IN_YAML}"}}]\n'))):
                status, text = self.tell(*arguments)
                self.assertIn(status, (1, 2, 3), text)
                self.assertIn("?", text)

    def test_what_a_peer_says_reaches_the_log(self):
        with Tether("collect", "--set", "telemetry.store=none:", "--set", "telemetry.listen=127.0.0.1:0",
                    "--set", "web.listen=127.0.0.1:0") as collector:
            with socket.create_connection(collector.address("robocar-xml"), PATIENCE) as device:
                device.sendall("<MESSAGE id='b\u202e\u2028\u009b1m.7' time='1'><Output time='0'><drive v='1'/></Output></MESSAGE>".encode())
                self.assert_safe(collector.wait_line("new device"))
            self.assertIn("new device b???1m.7", collector.text())

    def test_a_run_shown_on_a_terminal(self):
        model = (GOOD / "bot" / "robot.xml").read_text(encoding="utf-8").replace('"arm"', '"a&#x9b;31m&#x202e;rm"')
        with tempfile.TemporaryDirectory() as folder:
            scene = self.scene(folder, "robots: [{robot: robot.yaml, name: r}]\n", model)
            log = pathlib.Path(folder, "run.wpilog")
            status, text = self.tell("run", scene, "--no-web", "--pace", "fast", "--duration", "0.1", "--record", log)
            self.assertEqual(status, 0, text)
            for kind in ("csv", "jsonl", "summary", "svg"):
                shown = on_terminal([TETHER, "export", log, "--format", kind])[1]
                self.assert_safe(shown.replace("\r\n", "\n"))
            self.assertIn("a\u009b31m\u202erm", subprocess.run([TETHER, "export", log], capture_output=True, check=True).stdout.decode())
            status, shown = on_terminal([TETHER, "export", log, "--format", "mcap"])
            self.assertEqual(status, 2, shown)
            self.assertIn("--output", shown)

    def test_a_table_of_a_sweep_shown_on_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder, "plan.yaml")
            plan.write_text('scene: gripper\nduration: 10 ms\naxes:\n'
                            f'  - {{name: text, set: description, value: ["{IN_YAML}", "\\tone\\ntwo"]}}\n', encoding="utf-8")
            command = [TETHER, "sweep", str(plan), "--csv"]
            piped = subprocess.run([*command, "-"], capture_output=True, check=True).stdout.decode()
            self.assertIn("evil\033[2J\u009b31m\u202e\u2028mark", piped)
            self.assertIn("\"'\tone\ntwo\"", piped)
            for place in "-", "/dev/stdout":
                status, shown = on_terminal(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *command, place])
                self.assertEqual(status, 0, shown)
                self.assert_safe(shown.replace("\r\r\n", "\n").replace("\r\n", "\n"))
                self.assertIn(SHOWN, shown)
                self.assertIn("?one?two", shown)


def on_terminal(command, columns=80):
    """(exit status, what it shows) of a command whose output is a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen([str(word) for word in command], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen, end = b"", time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:  # the last one closed it
                    break
        return process.wait(PATIENCE), seen.decode("utf-8")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


if __name__ == "__main__":
    unittest.main()
