#!/usr/bin/env python3
"""Pipes, devices and folders where a file is expected: refused at once, since whoever opens a pipe waits for its other end.
And every file that a model names is found again when its run is verified."""
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
from support.process import ROOT, TETHER

PATIENCE = 25  # s; less than the 30 s after which a model that is not read is given up
QUIET = ("--no-web", "--pace", "fast", "--duration", "0.05")
BODY = '<worldbody><body pos="0 0 1"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody>'
LINK = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial><collision><geometry><mesh filename="{}"/></geometry></collision></link></robot>"""


def tetrahedron():
    """A binary STL."""
    corners = [(0, 0, 0), (.1, 0, 0), (0, .1, 0), (0, 0, .1)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    return bytes(80) + struct.pack("<I", 4) + b"".join(
        struct.pack("<12fH", 0, 0, 0, *corners[a], *corners[b], *corners[c], 0) for a, b, c in faces)


class Files(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def tell(self, *arguments):
        """(exit status, standard error), within seconds."""
        answer = subprocess.run([TETHER, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return answer.returncode, answer.stderr

    def assert_refused(self, what, *arguments):
        status, said = self.tell(*arguments)
        self.assertIn(status, (1, 3), (arguments, said))
        self.assertEqual(said.count("\n"), 1, said)
        self.assertRegex(said, what, arguments)

    def test_a_pipe_is_refused_at_once(self):
        pipe = self.folder / "pipe"
        for ending in "stl", "png", "xml", "urdf", "yaml", "lua", "wpilog", "state", "dae", "mtl":
            os.mkfifo(f"{pipe}.{ending}")
        self.write("bot.xml", (ROOT / "tests/scenes/good/bot/robot.xml").read_bytes())
        self.write("deep/mesh.OBJ", "# a mesh\nmtllib none.mtl ../pipe.mtl\nv 0 0 0\n")
        for name, text in (("material.xml", f'<mujoco><asset><mesh name="m" file="deep/mesh.OBJ"/></asset>{BODY}</mujoco>'),
                           ("mesh.xml", f'<mujoco><asset><mesh name="m" file="pipe.stl"/></asset>{BODY}</mujoco>'),
                           ("texture.xml", '<mujoco><asset><texture type="2d" name="t" file="pipe.png"/></asset></mujoco>'),
                           ("folder.xml", '<mujoco><compiler texturedir="."/><asset><texture name="t" type="cube" fileup="pipe.png"/></asset></mujoco>'),
                           ("include.xml", '<mujoco><include file="pipe.xml"/></mujoco>'),
                           ("device.xml", f'<mujoco><asset><mesh name="m" file="/dev/zero"/></asset>{BODY}</mujoco>')):
            self.write(name, text)
            self.assert_refused(rf"{name}: it names \S*(pipe\.\w+|/dev/zero), which is a pipe or a device", "check", name)
        for reference in "pipe.stl", "package://r/pipe.dae", f"file://{pipe}.stl":
            self.write("mesh.urdf", LINK.format(reference))
            self.assert_refused(r"mesh\.urdf: (it names|mesh '.*' is not found)", "check", "mesh.urdf")
        self.write("robot.yaml", "model: bot.xml\nlua_sensors: [{name: a, file: pipe.lua}]\n")
        self.write("scene.yaml", "robots: [{robot: robot.yaml}]\n")
        self.assert_refused(r"pipe\.lua: is a pipe or a device", "check", "scene.yaml")
        for command in "verify", "export", "replay":
            self.assert_refused(r"pipe\.wpilog: is a pipe or a device", command, "pipe.wpilog")
        self.assert_refused(r"pipe\.state: is a pipe or a device", "run", "bot.xml", *QUIET, "--set", "record.on=off", "--from-state", "pipe.state")
        self.assert_refused(r"pipe\.wpilog: ", "run", "bot.xml", *QUIET, "--record", "pipe.wpilog")
        for command in ("check", "pipe.yaml"), ("check", "pipe.xml"), ("check", "pipe.urdf"), ("collect", "pipe.yaml"), ("core", "pipe.yaml"):
            self.assert_refused(r"pipe\.\w+", *command)

    def test_a_pipe_is_no_database(self):
        pipe = self.folder / "pipe.sqlite"
        os.mkfifo(pipe)
        self.write("scene.yaml", f"robots: []\ntelemetry: {{store: 'sqlite:{pipe}', listen: '127.0.0.1:0'}}\n")
        self.write("plan.yaml", "scene: gripper\nduration: 10 ms\naxes:\n  - {name: nothing, value: [0]}\n")
        quiet = "--set", "telemetry.listen=127.0.0.1:0", "--set", "web.listen=127.0.0.1:0"
        for place in pipe, "/dev/zero":
            for command in (("run", "scene.yaml", *QUIET, "--set", "record.on=off", "--set", f"telemetry.store=sqlite:{place}"),
                            ("collect", "--store", f"sqlite:{place}", *quiet),
                            ("telemetry", "seal", f"sqlite:{place}"),
                            ("telemetry", "backup", f"sqlite:{place}", "copy.sqlite"),
                            ("telemetry", "copy", f"sqlite:{place}", "none:"),
                            ("sweep", "plan.yaml", "--output", place)):
                self.assert_refused(rf"{place}: is a pipe or a device; give a file", *command)
            self.assert_refused(rf"{place}: is a pipe or a device; set telemetry\.spool to a file", "collect", *quiet, "--store",
                                "postgresql://127.0.0.1:1/none", "--set", f"telemetry.spool={place}")
        self.assert_refused(r": is a folder; give a file", "telemetry", "seal", f"sqlite:{self.folder}")

    def assert_verified_without(self, model, *names):
        """A run of it is repeated after its files are gone."""
        log = self.folder / "run.wpilog"
        status, said = self.tell("run", model, *QUIET, "--record", log)
        self.assertEqual(status, 0, said)
        for name in names:
            shutil.rmtree(self.folder / name) if (self.folder / name).is_dir() else (self.folder / name).unlink()
        status, said = self.tell("verify", log)
        self.assertEqual(status, 0, said)
        log.unlink()

    def test_a_run_keeps_what_its_model_names(self):
        # MuJoCo looks for everything from the folder of the first file, wherever the name stands.
        for folder in "", "meshes/", "parts/":
            self.write("model/main.xml", '<mujoco><include file="parts/one.xml"/></mujoco>')
            self.write("model/parts/one.xml", '<mujoco><include file="parts/two.xml"/></mujoco>')
            where = f'<compiler meshdir="{folder}"/>' if folder else ""
            self.write("model/parts/two.xml", f'<mujoco>{where}<asset><mesh name="m" file="deep/m.stl"/></asset>{BODY}</mujoco>')
            self.write(f"model/{folder}deep/m.stl", tetrahedron())
            self.assert_verified_without("model/main.xml", "model")
        for reference, place in (("package://some/m.stl", "some/m.stl"), ("m.stl", "m.stl"), ("package://some/deep/m.stl", "deep/m.stl")):
            self.write("some/r.urdf", LINK.format(reference))
            self.write(place if place.startswith("some") else f"some/{place}", tetrahedron())
            self.assert_verified_without("some/r.urdf", "some")


if __name__ == "__main__":
    unittest.main()
