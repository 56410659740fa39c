#!/usr/bin/env python3
"""`tether client`: each language's program is compiled as it is, with every warning an error, and drives; so does one in which somebody
wrote what the robot is to do."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support.process import TETHER, Tether

SCENE = """robots: [{robot: gripper}]
wires:
  - float-udp:
      bind: 127.0.0.1:0
      peer: PEER
      sensors: [{name: base.position, unit: deg}, none, time, {name: swivel.position, unit: deg, scale: -1}]
      commands: [none, {name: swivel.velocity, unit: deg/s, scale: -2}, stamp, swivel.max_torque]
"""
BUILD = {"python": [sys.executable, "-m", "py_compile"], "java": ["javac", "-Xlint:all", "-Werror"],
         "c": ["gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-o", "driver"],
         "cpp": ["g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-o", "driver"]}
PROGRAM = "commands.swivel_velocity = 40; commands.swivel_max_torque = 200;"  # in all four


class MadeClients(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def tether(self, *words, status=0):
        result = subprocess.run([TETHER, "client", *words], capture_output=True, text=True, timeout=60, cwd=self.path, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def scene(self, text=SCENE, peer="sender"):
        (self.path / "scene.yaml").write_text(text.replace("PEER", peer), encoding="utf-8")

    def build(self, language, program=None, *words):
        """The command that starts the client."""
        file = self.path / self.tether("scene.yaml", "--language", language).stdout.strip()
        if program:
            lines = file.read_text(encoding="utf-8").splitlines()
            place, = [number for number, line in enumerate(lines) if "Your program:" in line]
            lines.insert(place + 1, " " * (len(lines[place]) - len(lines[place].lstrip())) + program)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        result = subprocess.run([*BUILD[language], *words, str(file)], capture_output=True, text=True, timeout=120, cwd=self.path, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {"python": [sys.executable, file.name], "java": ["java", "-cp", ".", file.stem]}.get(language, ["./driver"])

    def drive(self, language, host="127.0.0.1"):
        self.scene(SCENE.replace("127.0.0.1:0", f"'{host}:0'"))
        command = self.build(language, PROGRAM)
        with Tether("run", self.path / "scene.yaml", "--pace", "lockstep", "--no-web", "--set", "record.on=off",
                    "--set", "wires.float-udp.late=wait") as run:
            words = self.line_of([*command, run.addresses["float-udp"], f"{host}:0"], r"time 1(.000)? s").split()
            short = subprocess.run([*command, run.addresses["float-udp"], f"{host}:0", "0.1"], capture_output=True, text=True,
                                   timeout=60, cwd=self.path, check=False)
        # At 1 s of the simulation: −40/2 deg/s, shown with the other sign. It turns as it was told, and nothing else does.
        values = {words[i]: float(words[i + 1]) for i in range(0, len(words), 3)}
        self.assertAlmostEqual(values["swivel.position"], 20, delta=0.5, msg=words)
        self.assertLess(abs(values["base.position"]), 1, words)
        self.assertEqual(short.returncode, 0, short.stderr)
        self.assertRegex(short.stdout, r"done: \d+ messages\n")

    def line_of(self, command, pattern):
        """The first line of a client that has it; the client ends then."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.path) as client:
            try:
                return next(line for line in client.stdout if re.search(pattern, line))
            finally:
                client.kill()

    def step(self, language, host="127.0.0.1"):
        """Over lockstep-tcp: 120 frames, the fourth joint first."""
        self.scene("timestep: 1/600 s\nrobots: [{robot: gripper}]\nwires:\n  - lockstep-tcp: {joints: [wrist, swivel], "
                   f"listen: '{host}:0'}}\n")
        command = self.build(language, "commands.swivel = 0.5f;" if language != "python" else "commands.swivel = 0.5")
        with Tether("run", self.path / "scene.yaml", "--pace", "fast", "--no-web", "--set", "record.on=off") as run:
            result = subprocess.run([*command, run.addresses["lockstep-tcp"], "120"], capture_output=True, text=True, timeout=60,
                                    cwd=self.path, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        wrist, swivel = (float(line.split()[1]) for line in result.stdout.split("done: 120 frames\n")[1].splitlines())
        self.assertAlmostEqual(swivel, 1, delta=0.05, msg=result.stdout)  # 2 s at 0.5 rad/s
        self.assertLess(abs(wrist), 0.05, result.stdout)

    def test_step_python(self):
        self.step("python")

    def test_step_java(self):
        self.step("java")

    def test_step_c(self):
        self.step("c")

    def test_step_cpp(self):
        self.step("cpp")

    def test_python(self):
        self.drive("python")

    def test_java(self):
        self.drive("java")

    def test_c(self):
        self.drive("c")

    def test_cpp(self):
        self.drive("cpp")

    def test_ipv6(self):
        for language in "python", "java", "c", "cpp":
            for wire in self.step, self.drive:
                with self.subTest(language=language, wire=wire.__name__):
                    wire(language, "[::1]")
                    for made in [*self.path.glob("drive*"), *self.path.glob("Drive*")]:
                        shutil.rmtree(made) if made.is_dir() else made.unlink()

    def test_what_is_no_address(self):
        for wire in "lockstep-tcp: {}", "float-udp: {sensors: [time], bind: 127.0.0.1:0, peer: 127.0.0.1:5802}":
            for language in "c", "cpp":
                with self.subTest(language=language, wire=wire):
                    self.scene(f"robots: [{{robot: gripper}}]\nwires: [{{{wire}}}]\n")
                    command = self.build(language)
                    for address in "localhost:1", "[::1]", "127.0.0.1", "x", "":
                        result = subprocess.run([*command, address], capture_output=True, text=True, timeout=60, cwd=self.path)
                        self.assertEqual(result.returncode, 1)
                        self.assertIn(f"{address}: give an address as 127.0.0.1:", result.stderr)
                    for made in self.path.glob("drive*"):
                        made.unlink()

    def test_every_shape_compiles(self):
        """Only sensors, only commands, and an address of its own, as they are made."""
        shapes = {"sensors": SCENE.replace("      commands:", "      #"), "commands": SCENE.replace("      sensors:", "      #")}
        for language in "python", "c", "cpp":
            for name, text in shapes.items():
                with self.subTest(language=language, shape=name):
                    self.scene(text, "127.0.0.1:5802")
                    self.build(language, None, *([] if language == "python" else ["-fsyntax-only"]))
                    for made in self.path.glob("drive_*"):
                        made.unlink()

    def test_names_that_mean_something_there(self):
        """Of keywords, of what the program itself calls so, of macros of its headers, of no letters at all."""
        names = ["numbers", "sensors", "commands", "self", "main", "class", "None", "link", "s6_addr", "h_errno", "sched_priority", "errno", "x_", "_", "0",
                 "*/ x", "// y", "%s%n", "{z}", "ä", "a.b", "a_b", "n" * 180]
        bodies = "".join(f'<body pos="{i} 0 1"><joint name="{name}" axis="0 1 0"/><geom size=".1" mass="1"/></body>' for i, name in enumerate(names))
        (self.path / "named.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", encoding="utf-8")
        entries = {what: ", ".join(json.dumps(f"{name}.{what}", ensure_ascii=False) for name in reversed(names)) for what in ("position", "torque")}
        wires = {"float-udp": f"bind: 127.0.0.1:0, peer: sender, sensors: [time, {entries['position']}], commands: [stamp, {entries['torque']}]",
                 "lockstep-tcp": "listen: 127.0.0.1:0"}
        for wire, keys in wires.items():
            self.scene(f"robots: [{{robot: named.xml}}]\nwires: [{{{wire}: {{{keys}}}}}]\n")
            for language in "python", "java", "c", "cpp":
                with self.subTest(language=language, wire=wire):
                    self.build(language, None, *({"java": ["-d", "."], "python": []}.get(language, ["-fsyntax-only"])))
                    for made in [*self.path.glob("drive_*"), *self.path.glob("Drive*")]:
                        made.unlink()

    def test_what_is_refused(self):
        self.scene()
        self.tether("scene.yaml")
        self.assertIn("exists already", self.tether("scene.yaml", status=3).stderr)
        self.assertIn("there are: python, java, c, cpp", self.tether("scene.yaml", "--language", "cobol", status=2).stderr)
        self.assertIn("the scene has no such wire; it has: float-udp", self.tether("scene.yaml", "--wire=x", status=2).stderr)
        self.assertIn("no wire for which", self.tether("sharp", status=1).stderr)
        self.assertIn("client takes", self.tether(status=2).stderr.replace("usage: tether client", "client takes"))


if __name__ == "__main__":
    unittest.main()
