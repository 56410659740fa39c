#!/usr/bin/env python3
"""The command line end to end: exit statuses, the ready line, settings, signals, the status line.

Runs the program that TETHER names, with real sockets on free ports of 127.0.0.1.
"""
import fcntl
import itertools
import os
import pathlib
import pty
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from support.process import at_best

TETHER = os.environ["TETHER"]
ROOT = pathlib.Path(os.environ["TETHER_SOURCE_DIR"])
SCENES = ROOT / "tests" / "scenes" / "good"
ONE = str(SCENES / "one.yaml")
LOCKSTEP = str(SCENES / "lockstep.yaml")
# Nothing of a test may lie in the home folder of whoever runs it, nor on a port that is asked for by number.
STATE = tempfile.TemporaryDirectory()
ENVIRONMENT = {**os.environ, "XDG_STATE_HOME": STATE.name}
PATIENCE = 20  # s for anything that should happen at once: a loaded machine may be slow, never silent


def tether(*arguments):
    return subprocess.run([TETHER, *arguments], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)


class Run:
    """A running `tether run`; `ready` maps wire names to addresses."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([TETHER, "run", *arguments, "--no-web"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.lines = []
        self.ready = None
        while self.ready is None:
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError("not ready:\n" + "".join(self.lines))
            self.lines.append(line)
            if line.startswith("ready"):
                self.ready = dict(word.split("=", 1) for word in line.split()[1:])

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def address(self, wire):
        host, port = self.ready[wire].rsplit(":", 1)
        return host, int(port)

    def finish(self):
        """Waits for the end; the exit status and everything said on standard error."""
        self.lines.append(self.process.communicate(timeout=PATIENCE)[1])
        return self.process.returncode, "".join(self.lines)


def receive(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class Usage(unittest.TestCase):
    def test_version_and_help(self):
        self.assertRegex(tether("--version").stdout, r"^tether \d+\.\d+\.\d+\n$")
        text = tether("--help").stdout
        commands = re.findall(r"^  tether (\w+)", text, re.MULTILINE)
        self.assertIn("run", commands)
        self.assertIn("check", commands)
        self.assertIn("bench", commands)
        for command in commands:
            answer = tether(command, "--help")
            self.assertEqual((answer.returncode, answer.stderr), (0, ""), command)
            self.assertIn(f"usage: tether {command}", answer.stdout)

    def test_help_names_every_option(self):
        text = tether("run", "--help").stdout
        for option in ("--set", "--pace", "--speed", "--duration", "--record", "--no-web", "--remote_control_port"):
            self.assertIn(option, text)

    def test_man_page_names_every_command_and_option(self):
        page = (ROOT / "man" / "tether.1").read_text(encoding="utf-8")
        for command in re.findall(r"^  tether (\w+)", tether("--help").stdout, re.MULTILINE):
            self.assertIn(f".Cm {command}\n", page)
        for option in re.findall(r"^  --(\w[\w-]*)", tether("run", "--help").stdout, re.MULTILINE):
            self.assertIn(f".It Fl -{option}", page)
        self.assertNotRegex(page, r"Ar \S+ \| -", "this option is shown with one dash")

    def test_a_wrong_command_line_is_2(self):
        for arguments in ([], ["fly"], ["run"], ["check"], ["run", ONE, ONE], ["run", ONE, "--nope"], ["run", ONE, "--set"],
                          ["run", ONE, "--set", "pace"], ["run", ONE, "--pace", "slow"], ["run", ONE, "--speed=0"],
                          ["run", ONE, "--speed", "nan"], ["run", ONE, "--duration", "-1"],
                          ["run", LOCKSTEP, "--remote_control_port", "65536"], ["bench", "nope"]):
            answer = tether(*arguments)
            self.assertEqual(answer.returncode, 2, arguments)
            if arguments:
                self.assertRegex(answer.stderr, "^tether: ", arguments)

    def test_every_command_knows_its_nearest_option(self):
        for command, wrong, meant in (("replay", "--form", "--from"), ("verify", "--controler", "--controller"),
                                      ("export", "--fromat", "--format"), ("collect", "--stor", "--store"),
                                      ("core", "--sett", "--set"), ("run", "--robt-config", "--robot-config"), ("joystick", "--scrpt", "--script")):
            answer = tether(command, wrong, "x")
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(f"there is no option '{wrong}'; did you mean '{meant}'?", answer.stderr)

    def test_output_that_is_lost_is_3(self):
        for arguments in ((), ("--version",), ("--help",), ("check", "--help"), ("check", ONE), ("check", ONE, "--settings"),
                          ("token", "new", "nobody", "--role", "drive")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TETHER, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, env=ENVIRONMENT, check=False)
            self.assertEqual((done.returncode, done.stderr), (3, "tether: standard output: can't write: No space left on device\n"), arguments)
        self.assertNotIn("nobody", tether("token", "list").stdout)

    def test_what_the_command_line_has_wrong_is_2(self):
        for arguments, said in ((("client", ONE, "--language", "rust"), "there is no client in 'rust'; there are: python"),
                                (("client", ONE, "--wire", "nope"), "--wire nope: the scene has no such wire; it has: "),
                                (("store", "--log", "nats://x", "--store", "none:", "--name", ""), "--name '': a name has 1 to 200 bytes"),
                                (("store", "--log", "nats://x", "--store", "none:", "--name", "a/b"), "--name 'a/b': a name has 1 to 200 bytes"),
                                (("--version", "x"), "--version takes nothing, not 'x'"),
                                (("run", ONE, "--duration", "5 m"), "give a number above 0, of s or in one of the units s, ms, µs, ns, min, h"),
                                (("run", ONE, "--speed", "-1"), "--speed -1: give a number above 0\n")):
            answer = tether(*arguments)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(said, answer.stderr)

    def test_a_scene_is_no_log(self):
        for arguments in ("export", ONE), ("export", "frc2011"), ("replay", ONE), ("verify", "frc2011"), ("compare", ONE, ONE):
            answer = tether(*arguments)
            self.assertEqual((answer.returncode, answer.stderr),
                             (1, f"tether: {arguments[1]}: this is a scene, not the log of a run, which tether run keeps; of what reads logs, only export "
                                 "--format advantagescope takes a scene\n"))

    def test_a_wrong_option_is_named(self):
        self.assertIn("there is no option '--nope'", tether("run", "--nope", ONE).stderr)
        self.assertIn("there is no option '--durration'; did you mean '--duration'?", tether("run", ONE, "--durration", "1").stderr)
        self.assertIn("there is no command 'rnu'; did you mean 'run'?", tether("rnu").stderr)
        self.assertIn("there is no option '--vesion'; did you mean '--version'?", tether("--vesion").stderr)
        self.assertIn("--pace needs a value", tether("run", ONE, "--pace").stderr)


class Check(unittest.TestCase):
    def test_shows_what_would_run(self):
        answer = tether("check", ONE)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        for text in ("timestep  1/3000 s", "every 6 steps, 2 ms", "red1", "float-udp (float-udp) at 127.0.0.1:0, drives red1, every 10 ms",
                     "second (float-udp)", "arm.position", "N·m", "arm.torque", "in·lbf", "ball", "chassis"):
            self.assertIn(text, answer.stdout)
        self.assertRegex(answer.stdout, r"bodies \(3\)\n +1  ball .*\n +2  chassis .*\n +3  arm ")
        self.assertRegex(answer.stdout, r"joints \(1\)\n +1  arm ")
        self.assertRegex(answer.stdout, r"sensors\n +0  time +s\n +1  arm\.position +deg\n")

    def test_shows_what_a_plan_would_run(self):
        with tempfile.TemporaryDirectory() as folder:
            plan = pathlib.Path(folder) / "plan.yaml"
            plan.write_text("scene: sharp\nduration: 2 s\naxes: [{name: gain, range: [1, 2], count: 3}]\nrepeat: 4\n", encoding="utf-8")
            answer = tether("check", str(plan))
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            for text in ("runs      12: a grid of 3 points, 4 seeds each", f"results   {folder}/plan.sqlite", "  11   3 ", "axis      gain: 3 values"):
                self.assertIn(text, answer.stdout)
            self.assertIn("runs      6:", tether("check", str(plan), "--set", "repeat=2").stdout)
            answer = tether("check", str(plan), "--set", "repeats=2")
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
            self.assertIn("--set repeats: unknown key 'repeats'; did you mean 'repeat'?", answer.stderr)
            answer = tether("run", str(plan))
            self.assertEqual(answer.returncode, 1)
            self.assertIn(f"this is the plan of a sweep, not a scene: tether sweep {plan}", answer.stderr)

    def test_takes_the_same_options(self):
        answer = tether("check", "--pace=fast", ONE, "--set", "robots.red1.heading=0", "--duration=2")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertIn("pace      fast", answer.stdout)
        self.assertIn("duration  2 s", answer.stdout)

    def test_opens_no_socket(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            bind = f"wires.float-udp.bind=127.0.0.1:{taken.getsockname()[1]}"
            self.assertEqual(tether("check", ONE, "--set", bind).returncode, 0)

    def test_shipped_scenes(self):
        scenes = sorted((ROOT / "scenes").glob("*.yaml"))
        self.assertTrue(scenes)
        for scene in scenes:
            answer = tether("check", scene.stem)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""), scene)

    def test_it_tells_who_may_watch(self):
        answer = tether("check", ONE, "--set", "nt4.listen=127.0.0.1:0", "--set", "nt4.connect=ws://127.0.0.1:5810", "--set", "nt4.commands=on")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("\nnt4       at 127.0.0.1:0, into ws://127.0.0.1:5810\n          others may write commands\n", answer.stdout)
        self.assertIn("\nnt4       into ws://127.0.0.1:5810\n", tether("check", ONE, "--set", "nt4.connect=ws://127.0.0.1:5810").stdout)
        self.assertNotIn("nt4", tether("check", ONE).stdout)
        self.assertIn("\nfoxglove  at 127.0.0.1:8765\n", tether("check", ONE, "--set", "foxglove.period=20 ms").stdout)

    def test_what_a_run_would_refuse_as_it_opens_is_1(self):
        for settings, expected in (
                (["web.listen=0.0.0.0:8080"], "web.listen: 0.0.0.0:8080 can be reached from outside; set web.token or web.tokens"),
                (["web.listen=8080"], "web.listen: '8080' is no address"),
                (["telemetry.listen=0.0.0.0:5804"], "--set telemetry.listen: 0.0.0.0:5804"),
                (["telemetry.listen=nope"], "--set telemetry.listen: 'nope' is no address"),
                (["telemetry.store=foo.sqlite"], "--set telemetry.store: store 'foo.sqlite' is not understood; give sqlite:"),
                (["telemetry.store=sqlite:"], "--set telemetry.store: sqlite: '' is no name of a file; give sqlite:FILE"),
                (["telemetry.nats=foo://host"], "--set telemetry.nats: nats: its address begins with nats://; give nats://HOST:4222"),
                (["telemetry.forward=[{to: nope}]"], "--set telemetry.forward: 'nope' is no address")):
            answer = tether("check", ONE, *(word for setting in settings for word in ("--set", setting)))
            self.assertEqual((answer.returncode, answer.stdout), (1, ""), settings)
            self.assertIn(expected, answer.stderr)
            self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)
        for settings in (["web.listen=0.0.0.0:8080", "web.token=long-enough-for-a-token"], ["telemetry.listen=0.0.0.0:5804", "telemetry.allow=[10.0.0.0/8]"]):
            answer = tether("check", ONE, *(word for setting in settings for word in ("--set", setting)))
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_a_store_that_is_none_is_refused_before_anything_opens(self):
        for arguments in (("collect", "--store", "sqlite:"), ("store", "--log", "nats://127.0.0.1:1", "--store", "sqlite:"),
                          ("collect", "--set", "telemetry.store=sqlite:"), ("telemetry", "seal", "sqlite:")):
            answer = tether(*arguments)
            self.assertEqual((answer.returncode, answer.stdout), (1, ""), arguments)
            self.assertRegex(answer.stderr, r"^tether: [^\n]*'' is no name of a file; give sqlite:FILE\n$")

    def test_a_wrong_file_is_1(self):
        for arguments, expected in (
                (["no-such-scene"], "there is no scene 'no-such-scene'"),
                ([str(ROOT / "tests/scenes/bad/unknown_key.yaml")],
                 "unknown_key.yaml:3: unknown key 'timestp'; did you mean 'timestep'?"),
                ([ONE, "--set", "wires.float-udp.sensors=[arm.positon]"], "--set wires.float-udp.sensors: "),
                ([ONE, "--set", "wires.float-udp.sensors=[arm.positon]"], "arm.position"),
                ([ONE, "--set", "wires.float-udp.period=1 us"], "is no whole number of steps of 1/3000 s"),
                ([ONE, "--remote_control_port", "0"], "there is no 'lockstep-tcp' here; there are: float-udp"),
                ([ONE, "--set", "duration=forever"], "--set duration: 'forever' is not understood"),
                ([str(SCENES / "noe.yaml")], "there is no file '%s'; did you mean 'one.yaml'?" % (SCENES / "noe.yaml")),
                ([ONE, "--set", "wires.float-udp.sensors=[{name: arm.position, unit: degrees}]"], "there is no unit 'degrees'; did you mean 'deg'?"),
                ([ONE, "--set", "robots.red1.joints.arm.max_velocity=1 ft/s"], "--set robots.red1.joints.arm.max_velocity: 'arm' is no slide; give an angular velocity (rad/s, rpm, …)"),
                ([ONE, "--set", "robots.red1.joints.arm.max_torque=3 N"], "--set robots.red1.joints.arm.max_torque: 'arm' is no slide; give a torque (N·m, in·lbf, …)"),
                ([ONE, "--set", "robots.red1.heading=90 degrees"], "did you mean 'deg'?"),
                ([ONE, "--set", "wires.float-udp.sensors=[arm.angle]"], "after the dot there are: position, velocity, torque"),
                ([ONE, "--set", "wires.float-udp.sensors=[{name: arm.position, unit: degre}]"], "there is no unit 'degre'; did you mean 'deg'?")):
            for command in ("check", "run"):
                answer = tether(command, *arguments)
                self.assertEqual(answer.returncode, 1, arguments)
                self.assertIn(expected, answer.stderr)
                self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)


class Values(unittest.TestCase):
    """Numbers of the compiled models, listed and set."""

    def listed(self, *arguments):
        answer = tether("check", "gripper", "--settings", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return {line.split()[0]: line.split()[1:] for line in answer.stdout.splitlines() if line.startswith("  ")}

    def test_what_is_listed_can_be_set(self):
        before = self.listed()
        name = "models.gripper.bodies.forearm.mass"
        self.assertEqual(before[name], ["4", "kg", "1e-06", "…", "1e+06"])
        after = self.listed("--set", f"{name}=5000 g")
        self.assertEqual(after.pop(name)[0], "5")
        before.pop(name)
        self.assertEqual(after, before)

    def test_keys_are_listed_with_what_may_stand_there(self):
        keys = self.listed("--set", "wires.lockstep-tcp.deadline=250 ms")
        self.assertEqual(keys["wires.lockstep-tcp.deadline"], ["250", "ms", "s", "0.001", "…", "3600;", "default", "1", "s"])
        self.assertEqual(keys["late_ticks"], ["catch_up", "catch_up,", "slip"])
        self.assertEqual(keys["robots.gripper.x"], ["0", "m", "m", "-10000", "…", "10000"])
        self.assertIn("web.max_connections", keys)

    def test_what_is_wrong_is_told(self):
        for setting, expected in (("models.gripper.joints.base.damping=-1", "'-1' is out of range; give 0 to 1e+07 N·m·s/rad"),
                                  ("models.gripper.joints.base.damping=1 kg", "'1 kg' is not understood"),
                                  ("models.gripper.joints.bse.damping=1", "did you mean 'models.gripper.joints.base.damping'?")):
            answer = tether("check", "gripper", "--set", setting)
            self.assertEqual(answer.returncode, 1)
            self.assertIn(f"--set {setting.split('=', maxsplit=1)[0]}: ", answer.stderr)
            self.assertIn(expected, answer.stderr)


class Strangers(unittest.TestCase):
    """What people give as a scene, and what it is."""

    def test_each_is_recognised(self):
        link = '<link name="l"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)

            def check(name):
                answer = subprocess.run([TETHER, "check", name], cwd=folder, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)
                return answer.returncode, answer.stderr

            cases = {
                "arm.urdf.xacro": ("<robot/>", "this is a xacro, which has to be expanded first: xacro arm.urdf.xacro > arm.urdf"),
                "arm.xacro": ("<robot/>", "xacro arm.xacro > arm.urdf"),
                "raw.urdf": (f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="a" value="1"/>{link}</robot>',
                             "this is a xacro, which has to be expanded first"),
                "x.sdf": ("<sdf/>", "this is SDF, which is not read; give the model as URDF or MJCF"),
                "sdf.xml": ("<sdf/>", "this is SDF"), "page.xml": ("<html/>", "neither MJCF (<mujoco>) nor URDF (<robot>)"),
                "P.URDF": ("<robot/>", "this is no scene, since endings are in small letters: rename it, so that it ends with .urdf"),
                "T.YAML": ("", "rename it, so that it ends with .yaml"),
                "of_name.yaml": ("robots: [{robot: 'bot (v2).xml'}]\n", "robots[0].robot: 'bot (v2)' can't be a name; use letters, digits, _ and - only; give it another one with name:"),
                "of_bare.yaml": ("robots: [{robot: turret}]\n", "there is no robot 'turret'; for the file in its folder, give its whole name: turret.xml"),
                "wheel.stl": ("solid", "this is a mesh"), "run.wpilog": ("WPILOG", "this is the log of a run: 'tether replay' shows it"),
                "robot.yaml": ("model: arm.urdf\n", "this is a robot's file; a scene names it: robots: [{robot: robot.yaml}]"),
                "field.yaml": ("model: a.xml\npieces: []\n", "this is an arena's file; a scene names it: arena: field.yaml"),
                "drive.py": ("print(1)\n", "this is a program; run a scene here, and the program beside it"),
                "notes.txt": ("hello\n", "this is no scene: scenes and robots are YAML"),
                "of_scene.yaml": ("robots: [{robot: scene.yaml}]\n", "scene.yaml: this is a scene, not a robot's file"),
                "of_arena.yaml": ("robots: [{robot: field.yaml}]\n", "field.yaml: this is an arena's file, not a robot's file; a scene names it: arena: field.yaml"),
                "in_robot.yaml": ("arena: bot.yaml\n", "bot.yaml: this is a robot's file, not an arena's file; a scene names it: robots: [{robot: bot.yaml}]"),
                "core.yaml": ("player: 1\nvehicle: {bind: '127.0.0.1:0'}\n", "these are settings of a controller, not a scene: tether core core.yaml"),
                "joystick.yaml": ("player: 1\ngamepad: off\n", "these are settings of a controller, not a scene: tether joystick joystick.yaml"),
                "robotConfig.yml": ("core: {joystickPort: 4000}\nvehicle: {ip: 127.0.0.1}\n",
                                    "this is an original's robotConfig.yml, not a scene: tether run sharp --robot-config robotConfig.yml"),
                "of_original.yaml": ("robots: [{robot: robotConfig.yml}]\n",
                                     "robotConfig.yml: this is an original's robotConfig.yml, not a robot: tether run sharp --robot-config "),
                "of_xacro.yaml": ("robots: [{robot: arm.urdf.xacro}]\n", "robots[0].robot: 'arm.urdf.xacro' is a xacro"),
            }
            (folder / "scene.yaml").write_text("arena: sharp\nrobots: []\n", encoding="utf-8")
            (folder / "bot.yaml").write_text("model: arm.urdf\njoints: []\n", encoding="utf-8")
            for name, (text, _) in cases.items():
                (folder / name).write_text(text, encoding="utf-8")
            (folder / "built").write_bytes(b"\x7fELF")
            (folder / "latin.yaml").write_bytes(b"title: Gr\xfcn\n")
            (folder / "turret.xml").write_text("<mujoco/>", encoding="utf-8")
            (folder / "bot (v2).xml").write_text("<mujoco/>", encoding="utf-8")
            (folder / "built").chmod(0o755)
            (folder / "models").mkdir()
            (folder / "models" / "bot.urdf").write_text("", encoding="utf-8")
            (folder / "arm").mkdir()
            for name in ("core.yaml", "robot.yaml"):
                (folder / "arm" / name).write_text("", encoding="utf-8")
            cases |= {"latin.yaml": (0, "save it as UTF-8"), "built": (0, "this is a program"), "./built": (0, "this is a program"), "models/": (0, "this is a folder; give a file in it, as models/bot.urdf"),
                      "arm": (0, "this is a folder; give a file in it, as arm/robot.yaml"),
                      "models": (0, "this is a folder; give a file in it, as models/bot.urdf"),
                      "creature": (0, "'creature' is a robot; a scene names it: robots: [{robot: creature}]")}
            for name, (_, expected) in cases.items():
                status, said = check(name)
                self.assertEqual((status, said.count("\n")), (1, 1), (name, said))
                self.assertIn(expected, said, name)
            # what the xacro tool leaves behind is a URDF
            (folder / "expanded.urdf").write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{link}</robot>', encoding="utf-8")
            self.assertEqual(check("expanded.urdf")[0], 0, check("expanded.urdf"))


class New(unittest.TestCase):
    def test_every_scene_and_a_robot_can_be_copied_and_edited(self):
        names = [path.stem for path in sorted((ROOT / "scenes").glob("*.yaml"))] + ["creature"]
        for name in names:
            with tempfile.TemporaryDirectory() as place:
                target = pathlib.Path(place, "deep", "my.yaml")
                made = tether("new", name, str(target))
                self.assertEqual((made.returncode, made.stderr), (0, ""), name)
                files = made.stdout.splitlines()
                self.assertEqual(sorted(files), sorted(str(p) for p in pathlib.Path(place).rglob("*") if p.is_file()))
                listed = tether("check", str(target))
                self.assertEqual((listed.returncode, listed.stderr), (0, ""), name)
                self.assertNotIn(str(ROOT / "robots"), listed.stdout)
                again = tether("new", name, str(target))
                self.assertEqual(again.returncode, 3)
                self.assertIn("exists already", again.stderr)

    def test_all_of_them_find_room_in_one_folder(self):
        with tempfile.TemporaryDirectory() as place:
            names = [path.stem for path in sorted((ROOT / "scenes").glob("*.yaml"))] + ["creature"]
            for name in names:
                made = tether("new", name, f"{place}/my-{name}.yaml")
                self.assertEqual((made.returncode, made.stderr), (0, ""), name)
            for name in names:
                self.assertEqual(tether("check", f"{place}/my-{name}.yaml").returncode, 0, name)

    def test_a_copy_takes_nothing_that_was_edited_and_leaves_nothing_where_it_fails(self):
        with tempfile.TemporaryDirectory() as place:
            edited = pathlib.Path(place, "arenas", "frc2011", "arena.yaml")
            edited.parent.mkdir(parents=True)
            edited.write_text("description: mine\n", encoding="utf-8")
            for name in ("frc2011", "frc2011-six"):
                made = tether("new", name, f"{place}/my.yaml")
                self.assertEqual((made.returncode, made.stdout), (3, ""), name)
                self.assertIn("arenas/frc2011/arena.yaml: exists already, and is another file than the scene's; make the scene in another folder",
                              made.stderr)
            self.assertEqual([path for path in pathlib.Path(place).rglob("*") if path.is_file()], [edited])
            self.assertEqual(edited.read_text(encoding="utf-8"), "description: mine\n")

    def test_what_cannot_be_copied(self):
        with tempfile.TemporaryDirectory() as place:
            for arguments, status in ((["frc2011"], 2), (["frc2011", f"{place}/a.txt"], 2), (["no-such", f"{place}/a.yaml"], 1)):
                self.assertEqual(tether("new", *arguments).returncode, status, arguments)
            for model in "arm.xml", "sub/arm.urdf":
                made = tether("new", model, f"{place}/a.yaml")
                self.assertEqual((made.returncode, made.stdout), (2, ""), model)
                self.assertIn(f"{model}: is a model; a scene of your own names it: a file beside it with `robots: [{{robot: {model.split('/')[-1]}}}]`",
                              made.stderr)
            self.assertEqual(os.listdir(place), [])


class Running(unittest.TestCase):
    def test_ends_after_its_duration(self):
        for pace in ("fast", "realtime"):
            with Run(ONE, "--pace", pace, "--duration", "0.3", "--speed=2") as run:
                status, said = run.finish()
                self.assertEqual(status, 0, said)

    def test_a_model_is_a_scene_of_it_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            model, log = pathlib.Path(folder, "my bot.xml"), pathlib.Path(folder, "run.wpilog")
            model.write_bytes((SCENES / "bot" / "robot.xml").read_bytes())
            listed = tether("check", str(model), "--set", "robots.my_bot.x=1.5 m")
            self.assertEqual((listed.returncode, listed.stderr), (0, ""))
            self.assertRegex(listed.stdout, r"robots \(1\)\n  my_bot .* at 1.5, 0 m")
            self.assertIn("wires (0)", listed.stdout)
            with Run(str(model), "--pace", "fast", "--duration", "0.1", "--record", str(log)) as run:
                status, said = run.finish()
                self.assertEqual(status, 0, said)
            model.unlink()
            proved = tether("verify", str(log))
            self.assertEqual(proved.returncode, 0, proved.stdout + proved.stderr)
            model.write_text("<mujoco><worldbody/>", encoding="utf-8")
            self.assertIn(f"tether: {model}: ", tether("check", str(model)).stderr)

    def test_a_file_that_nothing_would_be_kept_in_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            log, scene, kept = (pathlib.Path(folder, name) for name in ("run.wpilog", "off.yaml", "kept.wpilog"))
            scene.write_text("robots: [{robot: gripper}]\nrecord: {on: off}\n", encoding="utf-8")
            ways = ((ONE, "--set", "record.on=off"), (scene,), (LOCKSTEP, "--set", "wires.lockstep-tcp.worlds=per-connection"))
            for words, why in zip(ways, ("record.on is off", "record.on is off", "worlds: per-connection")):
                answer = tether("run", *map(str, words), "--no-web", "--pace", "fast", "--duration", "0.1", "--record", str(log))
                self.assertEqual(answer.returncode, 2, answer.stderr)
                self.assertIn(f"tether: --record {log}: {why}", answer.stderr)
                self.assertFalse(log.exists())
            answer = tether("run", str(scene), "--no-web", "--pace", "fast", "--duration", "0.1", "--record", str(kept), "--set", "record.on=on")
            self.assertEqual((answer.returncode, kept.exists()), (0, True), answer.stderr)
            answer = tether("run", "--from", f"{kept}@0.05", "--no-web", "--set", "record.on=off", "--record", str(log))
            self.assertEqual((answer.returncode, "record.on is off" in answer.stderr), (2, True), answer.stderr)

    def test_what_is_written_lies_where_the_program_runs(self):
        """docs/scene.md: what is read is relative to the scene."""
        with tempfile.TemporaryDirectory() as folder:
            here, scenes = pathlib.Path(folder, "here"), pathlib.Path(folder, "scenes")
            here.mkdir()
            scenes.mkdir()
            (scenes / "ball.xml").write_text("<mujoco><worldbody><body name='ball'><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
            (scenes / "one.yaml").write_text("robots: [{robot: ball.xml}]\nrecord: {file: run.wpilog}\ntelemetry: {store: 'sqlite:run.sqlite'}\n")
            (scenes / "all.yaml").write_text("robots: [{robot: ball.xml}]\nrecord: {folder: runs}\n")
            for scene in "one", "all":
                answer = subprocess.run([TETHER, "run", f"../scenes/{scene}.yaml", "--duration", "0.1", "--pace", "fast", "--no-web"], cwd=here,
                                        capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)
                self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertEqual({path.name for path in here.iterdir()} & {"run.wpilog", "run.sqlite", "runs"}, {"run.wpilog", "run.sqlite", "runs"})
            self.assertEqual(sorted(path.name for path in scenes.iterdir()), ["all.yaml", "ball.xml", "one.yaml"])

    def test_ready_names_every_wire_with_its_real_port(self):
        with Run(ONE) as run:
            self.assertEqual(list(run.ready), ["float-udp", "second"])
            ports = [run.address(wire)[1] for wire in run.ready]
            self.assertNotIn(0, ports)
            self.assertEqual(len(set(ports)), 2)
            run.process.send_signal(signal.SIGINT)
            status, said = run.finish()
            self.assertEqual(status, 0, said)
            self.assertEqual(sum(line.startswith("ready") for line in said.splitlines()), 1)

    def test_settings_reach_the_wires(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as controller:
            controller.bind(("127.0.0.1", 0))
            controller.settimeout(PATIENCE)
            peer = f"127.0.0.1:{controller.getsockname()[1]}"
            with Run(ONE, "--set", f"wires.second.peer={peer}", "--set=wires.second.sensors=[time, arm.position]") as run:
                message, sender = controller.recvfrom(100)
                self.assertEqual(len(message), 8)
                self.assertEqual(sender, run.address("second"))
                later = controller.recvfrom(100)[0]
                self.assertGreater(struct.unpack("<2f", later)[0], struct.unpack("<2f", message)[0])

    def test_signals_end_it_within_a_second(self):
        def end(scene, number):
            with Run(scene) as run:
                asked = time.monotonic()
                run.process.send_signal(number)
                status, said = run.finish()
                self.assertEqual(status, 0, said)
                return time.monotonic() - asked
        for scene in (ONE, LOCKSTEP):  # running, and waiting for a first client
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                at_best(lambda scene=scene, number=number: end(scene, number), 1)

    def test_a_closed_terminal_ends_it_in_order(self):
        """Its recording is whole; and under nohup it goes on."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "run.wpilog")
            terminal, there = pty.openpty()
            process = subprocess.Popen([TETHER, "run", ONE, "--no-web", "--record", str(log)], stdin=there, stdout=there, stderr=there,
                                       env=ENVIRONMENT, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            self.addCleanup(process.kill)
            os.close(there)
            said = b""
            while b"ready" not in said:
                said += os.read(terminal, 1000)
            os.close(terminal)
            self.assertEqual(process.wait(PATIENCE), 0)
            answer = tether("export", str(log), "--format", "summary")
            self.assertIn('outcome: "ended"', answer.stdout, answer.stderr)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
        self.addCleanup(signal.signal, signal.SIGHUP, signal.SIG_DFL)
        with Run(LOCKSTEP) as run:
            ignored = re.search(r"SigIgn:\s*(\w+)", pathlib.Path(f"/proc/{run.process.pid}/status").read_text(encoding="ascii"))[1]
            self.assertTrue(int(ignored, 16) & 1 << (signal.SIGHUP - 1))
            run.process.send_signal(signal.SIGHUP)
            with socket.create_connection(run.address("lockstep-tcp"), PATIENCE) as client:
                for frame in range(3):
                    self.assertEqual(struct.unpack(">Qf", receive(client, 12))[0], frame)
                    client.sendall(struct.pack(">f", 0.1))
            run.process.send_signal(signal.SIGTERM)
            status, said = run.finish()
            self.assertEqual(status, 0, said)

    def test_too_few_descriptors_are_said(self):
        def tell(soft, hard, *arguments):
            return subprocess.run([TETHER, *arguments], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))

        run = ("run", ONE, "--duration", "0.1", "--pace", "fast", "--set", "web.listen=127.0.0.1:0")
        for count in (5, 8, 12, 14, 16, 63):
            for arguments in (run, ("check", ONE), ("core",), ("collect", "--set", "web.listen=127.0.0.1:0")):
                answer = tell(count, count, *arguments)
                self.assertEqual((answer.returncode, answer.stderr.count("\n")), (3, 1), answer.stderr)
                self.assertIn(f"may open {count} files at once, and 64 are needed", answer.stderr)
        for soft, hard in ((64, 64), (12, 512)):
            answer = tell(soft, hard, *run)
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_standard_files_may_be_closed(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            def close(closed=closed):
                for number in closed:
                    os.close(number)
            answer = subprocess.run([TETHER, "run", ONE, "--duration", "0.1", "--pace", "fast", "--set", "web.listen=127.0.0.1:0"], timeout=60,
                                    env=ENVIRONMENT, check=False, preexec_fn=close)
            self.assertEqual(answer.returncode, 0, closed)

    def test_the_same_wish_told_twice(self):
        with Run(ONE) as run:
            run.process.send_signal(signal.SIGINT)
            run.process.send_signal(signal.SIGTERM)
            status, said = run.finish()
            self.assertEqual(status, 0, said)

    def test_remote_control_port_in_every_spelling(self):
        for option in (["--remote_control_port", "0"], ["--remote-control-port=0"]):
            with Run(LOCKSTEP, *option) as run:
                with socket.create_connection(run.address("lockstep-tcp"), PATIENCE) as client:
                    for frame in range(3):
                        counter, _ = struct.unpack(">Qf", receive(client, 12))
                        self.assertEqual(counter, frame)
                        client.sendall(struct.pack(">f", 0.1))

    def test_a_port_in_use_is_3(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            answer = tether("run", ONE, "--no-web", "--set", f"wires.float-udp.bind={address}")
            self.assertEqual(answer.returncode, 3, answer.stderr)
            self.assertIn(address, answer.stderr)
            self.assertNotIn("ready", answer.stderr)

    def test_a_run_that_never_was_leaves_no_log(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = tether("run", ONE, "--record", f"{folder}/run.wpilog", "--set", "web.listen=nowhere")
            self.assertEqual(answer.returncode, 1, answer.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_the_file_of_this_folder_that_a_name_may_mean(self):
        answer = subprocess.run([TETHER, "check", "one"], env=ENVIRONMENT, cwd=SCENES, capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("give its whole name: one.yaml", answer.stderr)

    def test_no_status_line_in_a_pipe(self):
        with Run(ONE, "--duration", "0.6") as run:
            status, said = run.finish()
            self.assertEqual(status, 0)
            self.assertNotIn("\r", said)
            self.assertNotIn("\033", said)

    def test_status_line_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([TETHER, "run", ONE, "--no-web"], stdin=theirs, stdout=theirs, stderr=theirs,
                                   env=ENVIRONMENT)
        os.close(theirs)
        try:
            seen, end = b"", time.monotonic() + PATIENCE

            def await_line(pattern, meanwhile=lambda: None):
                nonlocal seen
                while not re.search(pattern, seen):
                    self.assertLess(time.monotonic(), end, seen)
                    meanwhile()
                    if select.select([ours], [], [], 0.1)[0]:
                        seen += os.read(ours, 4096)

            await_line(rb"\r[0-9.]+ s .*real time.*float-udp waiting in 0/s out \d+/s")
            port = int(re.search(rb"ready float-udp=127.0.0.1:(\d+)", seen)[1])
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as controller:
                stamps = itertools.count(1)
                await_line(rb"float-udp driving in [1-9]\d*/s",
                           lambda: controller.sendto(struct.pack("<2f", next(stamps), 0), ("127.0.0.1", port)))
            await_line(rb"watchdog: silent for 0.5 s")
            await_line(rb"float-udp silent in 0/s")
            process.send_signal(signal.SIGTERM)
            while process.poll() is None and time.monotonic() < end:
                if select.select([ours], [], [], 0.05)[0]:
                    try:
                        os.read(ours, 4096)
                    except OSError:  # the program's end of the terminal is closed
                        break
            self.assertEqual(process.wait(PATIENCE), 0)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def test_a_narrow_terminal_shows_what_was_dropped(self):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
        process = subprocess.Popen([TETHER, "run", ONE, "--no-web", "--match"], stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT)
        os.close(theirs)
        try:
            seen, end = b"", time.monotonic() + PATIENCE
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                while not (line := re.search(rb"\r([^\r\n]*dropped \d+[^\r\n]*)\033\[K", seen)):
                    self.assertLess(time.monotonic(), end, seen)
                    if select.select([ours], [], [], 0.1)[0]:
                        seen += os.read(ours, 4096)
                    port = re.search(rb"second=127.0.0.1:(\d+)", seen)
                    if port:
                        sender.sendto(b"no float", ("127.0.0.1", int(port[1])))
            self.assertLessEqual(len(line[1].decode()), 80)
            self.assertRegex(line[1].decode(), r"× real time  dropped \d+  .*match: ")
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def test_data_folder_of_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "scenes").mkdir()
            (pathlib.Path(folder) / "scenes" / "mine.yaml").write_text("description: my own scene\n", encoding="utf-8")
            answer = subprocess.run([TETHER, "check", "mine"], env={**ENVIRONMENT, "TETHER_DATA": folder}, cwd="/",
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertIn("my own scene", answer.stdout)


if __name__ == "__main__":
    unittest.main()
