#!/usr/bin/env python3
"""Scenes made over HTTP, as docs/web.md describes drafts: files, problems, preview, save, run."""
import http.client
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import unittest
import unittest.mock

from support.process import ROOT, STATE, TETHER, Tether, wait_for

URDF = """<robot name="arm">
 <link name="base"/>
 <link name="arm">
  <inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://arm/meshes/part 1.stl"/></geometry></visual>
  <collision><geometry><box size="0.4 0.05 0.05"/></geometry></collision>
 </link>
 <joint name="joint" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="5" velocity="10"/></joint>
</robot>
"""
SCENE = """robots:
  - {robot: arm/robot.yaml, name: arm, floating: off}
wires:
  - float-udp:
      bind: 127.0.0.1:0
      peer: sender
      sensors: [time, {name: joint.position, unit: deg}]
      commands: [stamp, {name: joint.torque, scale: 2}]
"""


def tetrahedron():
    """A mesh in binary STL."""
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *[x for corner in face for x in corners[corner]], 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + body


class Drafts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.own = pathlib.Path(STATE.name) / "own"
        os.environ["XDG_DATA_HOME"] = str(cls.own)
        cls.program = Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "wires.float-udp.bind=127.0.0.1:0")
        cls.host = cls.program.addresses["web"].removeprefix("http://")

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body, {"Origin": "http://" + self.host})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def ok(self, method, path, body=None, status=200):
        code, answer = self.ask(method, path, body)
        self.assertEqual(code, status, answer)
        return answer

    def draft(self, **body):
        made = self.ok("POST", "/api/drafts", body, 201)
        self.addCleanup(self.ask, "DELETE", f"/api/drafts/{made['draft']}")
        return f"/api/drafts/{made['draft']}", made["main"]

    def arm(self, name="mine"):
        at, main = self.draft(name=name)
        for path, data in {main: SCENE, "arm/robot.yaml": "model: urdf/arm.urdf\n", "arm/urdf/arm.urdf": URDF,
                           "arm/meshes/part%201.stl": tetrahedron()}.items():
            self.ok("PUT", f"{at}/files/{path}", data)
        return at, main

    def test_scenes_that_are_only_looked_at(self):
        begun, _ = self.draft(name="begun")
        opened, _ = self.draft(scene="gripper")
        for _ in range(33):
            last, _ = self.draft(scene="frc2011")
            self.assertEqual(self.ask("GET", last)[0], 200)
        drafts = {f"/api/drafts/{each['draft']}": each["untouched"] for each in self.ok("GET", "/api/drafts")}
        self.assertEqual(len(drafts), 32)
        self.assertEqual((drafts.get(begun), drafts.get(last), drafts.get(opened)), (False, True, None))
        self.assertEqual(next(iter(drafts)), begun, "what was begun comes first")
        self.ok("PUT", f"{last}/files/frc2011.yaml", self.ask("GET", f"{last}/files/frc2011.yaml")[1])
        drafts = {f"/api/drafts/{each['draft']}": each["untouched"] for each in self.ok("GET", "/api/drafts")}
        self.assertIs(drafts[last], False)

    def test_a_robot_of_ones_own(self):
        at, main = self.arm()
        draft = self.ok("GET", at)
        self.assertEqual((draft["problems"], draft["runs"]), ([], True))
        self.assertEqual([file["path"] for file in draft["files"]],
                         ["arm/meshes/part 1.stl", "arm/robot.yaml", "arm/urdf/arm.urdf", main])
        self.assertEqual(draft["robots"], [{"name": "arm", "file": "arm/robot.yaml", "model": "arm/urdf/arm.urdf"}])
        wire, = draft["wires"]
        plain = {"scale": 1, "offset": 0, "wrap": "none"}
        self.assertEqual(wire["outputs"], [{"key": "sensors", "index": 0, "name": "time", "unit": "s", **plain},
                                           {"key": "sensors", "index": 1, "name": "joint.position", "unit": "deg", **plain}])
        self.assertEqual(wire["inputs"][1], {"key": "commands", "index": 1, "name": "joint.torque", "unit": "N·m", **plain, "scale": 2})
        self.assertIn("joint.torque", [command["name"] for command in draft["commands"]])
        self.assertIn("joint.position", [signal["name"] for signal in draft["signals"]])
        model = self.ok("GET", f"{at}/model")
        self.assertEqual((len(model["poses"]), model["revision"]), (len(model["bodies"]), draft["revision"]))
        self.assertEqual(model["meshes"], 1)
        vertices, triangles = struct.unpack_from("<II", self.ok("GET", f"{at}/meshes/0"))
        self.assertEqual((vertices > 3, triangles), (True, 4))
        self.assertEqual(self.ask("GET", f"{at}/meshes/1")[0], 404)
        self.assertEqual(self.ok("GET", f"{at}/files/{main}").decode(), SCENE)
        self.assertEqual(wire["languages"], ["python", "java", "c", "cpp"])
        client = self.ok("GET", f"{at}/client?wire=float-udp&language=java")
        self.assertEqual((client["file"], client["start"]), ("DriveFloatUdp.java", "java DriveFloatUdp.java\n"))
        self.assertIn("joint_position = numbers[1];", client["text"])
        self.assertEqual(self.ask("GET", f"{at}/client?wire=float-udp&language=cobol")[0], 404)
        # A mistake: its place, and no preview; mended: as before.
        before = draft["revision"]
        made = self.ok("PUT", f"{at}/files/{main}?revision={before}", SCENE.replace("joint.torque", "joint.torq"))
        draft = self.ok("GET", at)
        self.assertEqual(draft["revision"], made["revision"])
        self.assertEqual(self.ask("PUT", f"{at}/files/{main}?revision={before}", SCENE)[0], 409)
        for wrong in ("revision=undefined", "revision=", "revision", "revision=0", "x=y&revision", f"revision={before}x",
                      f"revision=-{before}", f"revision={2 ** 64 + made['revision']}", "token=x&revision=NaN",
                      "over", "over=", "over=x", "over=1,", "over=4294967296", "over=1,2,3,4,5,6,7,8,9", f"over=0&revision={made['revision']}"):
            status, text = self.ask("PUT", f"{at}/files/{main}?{wrong}", SCENE)
            self.assertEqual(status, 400, wrong)
            self.assertIn("revision: give the number", text["error"])
        self.assertEqual(self.ask("PUT", f"{at}/files/{main}?over=0,1", SCENE)[0], 409)
        self.assertEqual(self.ok("GET", at)["revision"], made["revision"])
        self.ok("PUT", f"{at}/files/note.md?over=0", "foobar")
        self.ok("PUT", f"{at}/files/note.md?over=7,{0xbf9cf968}", "a")
        self.ok("DELETE", f"{at}/files/note.md")
        self.assertNotEqual(draft["revision"], before)
        problem, = draft["problems"]
        self.assertEqual((problem["file"], problem["line"], problem["severity"]), (main, 8, "error"))
        self.assertIn("did you mean 'joint.torque'", problem["text"])
        self.assertEqual((self.ask("GET", f"{at}/model")[0], self.ask("POST", f"{at}/run", {})[0]), (400, 400))
        self.ok("DELETE", f"{at}/files/arm/meshes/part%201.stl")
        self.ok("PUT", f"{at}/files/{main}", SCENE)
        self.assertTrue(self.ok("GET", at)["runs"])  # it was for the eye alone

    def test_save_and_run_by_its_name(self):
        at, _ = self.arm()
        saved = self.ok("POST", f"{at}/save", {"name": "my-arm"}, 201)
        self.assertEqual(saved, {"name": "my-arm", "file": str(self.own / "tether" / "scenes" / "my-arm" / "my-arm.yaml")})
        self.assertEqual(self.ask("POST", f"{at}/save", {"name": "my-arm"})[0], 409)
        self.ok("POST", f"{at}/save", {"name": "my-arm", "replace": True}, 201)
        for name in "../x", "", "a b", ".x", "x" * 65:
            self.assertEqual(self.ask("POST", f"{at}/save", {"name": name})[0], 400, name)
        self.assertEqual([path.name for path in (self.own / "tether" / "scenes").iterdir()], ["my-arm"])
        result = subprocess.run([TETHER, "check", "my-arm"], capture_output=True, text=True, timeout=60, check=False)
        self.assertIn("joint.torque", result.stdout, result.stderr)
        with Tether("run", "my-arm", "--pace", "fast", "--duration", "1", "--no-web") as run:
            self.assertEqual(run.wait_exit(), 0, run.text())
        # It opens again, and so does one that comes with Tether.
        for scene in "my-arm", "gripper":
            at, main = self.draft(scene=scene)
            draft = self.ok("GET", at)
            self.assertEqual((main, draft["runs"]), (scene + ".yaml", True), draft["problems"])
            self.assertGreater(len(draft["files"]), 2)

    def test_a_saved_scene_is_deleted(self):
        at, _ = self.arm()
        self.ok("POST", f"{at}/save", {"name": "unwanted"}, 201)
        saved = lambda: [scene["name"] for scene in self.ok("GET", "/api/scenes") if scene["saved"]]
        self.assertIn("unwanted", saved())
        self.assertFalse({"frc2011", "gripper"} & set(saved()))
        with (Tether("run", "unwanted", "--set", "web.listen=127.0.0.1:0") as run,
              unittest.mock.patch.object(self, "host", run.addresses["web"].removeprefix("http://"))):
            self.assertEqual(self.ask("DELETE", "/api/scenes/unwanted"), (400, {"error": "the scene 'unwanted' runs now; choose another one first"}))
        hand = self.own / "tether" / "scenes" / "hand.yaml"
        hand.write_text("robots: []\n", encoding="utf-8")
        self.addCleanup(hand.unlink)
        for name in "gripper", "hand", "nosuch", "..%2fscenes%2funwanted", "%2fetc":
            self.assertIn(self.ask("DELETE", f"/api/scenes/{name}")[0], (400, 404), name)
        self.ok("DELETE", "/api/scenes/unwanted")
        self.assertNotIn("unwanted", saved())
        self.assertEqual([path.name for path in hand.parent.iterdir() if "unwanted" in path.name], [])
        self.assertEqual(self.ask("DELETE", "/api/scenes/unwanted")[0], 404)

    def test_run_and_back(self):
        at, _ = self.arm("racer")
        ready = sum(line.startswith("ready ") for line in self.program.lines)
        client = self.ok("GET", f"{at}/client?wire=float-udp&language=python")
        self.ok("POST", f"{at}/run", {}, 202)
        wait_for(lambda: sum(line.startswith("ready ") for line in self.program.lines) == ready + 1, "the draft runs")
        present, = [scene for scene in self.ok("GET", "/api/scenes") if scene["current"]]
        self.assertEqual((present["title"], present["own"]), ("racer", True))
        # The client that was made for it drives it.
        file = pathlib.Path(STATE.name) / client["file"]
        file.write_text(client["text"].replace("return commands", "commands.joint_torque = 2.0\n    return commands"), encoding="utf-8")
        address = next(line for line in reversed(self.program.lines) if line.startswith("ready ")).split("float-udp=")[1].split()[0]
        with subprocess.Popen([sys.executable, file, address], stdout=subprocess.PIPE, text=True) as driver:
            self.assertTrue(any(float(line.split("joint.position ")[1].split()[0]) > 5 for line in driver.stdout if "joint" in line))
            driver.kill()
        self.ok("POST", "/api/scenes", {"name": "frc2011"}, 202)
        wait_for(lambda: sum(line.startswith("ready ") for line in self.program.lines) == ready + 2, "back again")

    def test_a_scene_that_cannot_be_opened(self):
        """The scene before begins anew, though its draft was edited so that it can't be opened either, or removed with its models."""
        wire = "robots: []\nwires: [{float-udp: {bind: 127.0.0.1:%d, peer: sender, sensors: [time], commands: [stamp]}}]\n"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            first = pathlib.Path(STATE.name) / "first.yaml"
            first.write_text("robots: []\n", encoding="utf-8")
            with (Tether("run", first, "--set", "web.listen=127.0.0.1:0") as program,
                  unittest.mock.patch.object(self, "host", program.addresses["web"].removeprefix("http://"))):
                count = 1

                def ran(path):
                    nonlocal count
                    self.ok("POST", f"{path}/run", {}, 202)
                    count += 1
                    wait_for(lambda: sum(line.startswith("ready ") for line in program.lines) == count or program.process.poll() is not None, "ready")
                    self.assertIsNone(program.process.poll(), program.text())
                    self.assertEqual(program.addresses["web"], "http://" + self.host)

                bad, main = self.draft(name="bad")
                self.ok("PUT", f"{bad}/files/{main}", wire % taken.getsockname()[1])
                ran(bad)
                good, main = self.draft(name="good")
                self.ok("PUT", f"{good}/files/{main}", wire % 0)
                ran(good)
                self.ok("PUT", f"{good}/files/{main}", wire % taken.getsockname()[1])
                ran(bad)
                ran(good)  # which can't be opened now: as it was loaded it goes on
                arm, _ = self.arm("gone")
                ran(arm)
                self.ok("DELETE", arm)
                self.ok("PUT", f"{good}/files/{main}", wire % 0)
                ran(bad)
                current, = [scene["title"] for scene in self.ok("GET", "/api/scenes") if scene["current"]]
                self.assertEqual(current, "first")
                self.assertTrue(any("bad.yaml cannot be opened" in line and "gone" in line for line in program.lines), program.text())

    def test_a_scene_that_is_too_large_for_a_draft(self):
        """It is not opened, since its files would be lost when it is saved in its place."""
        for name, files in (("many", {f"l{i}.lua": 1 for i in range(200)}), ("long", {"y" * 101 + ".lua": 1}), ("heavy", {"l.lua": 2 ** 25 + 1})):
            folder = self.own / "tether" / "scenes" / name
            folder.mkdir(parents=True)
            (folder / f"{name}.yaml").write_text("robots: []\n", encoding="utf-8")
            for file, size in files.items():
                with (folder / file).open("wb") as made:
                    made.truncate(size)
            before = self.ok("GET", "/api/drafts")
            status, answer = self.ask("POST", "/api/drafts", {"scene": name})
            self.assertEqual((status, "more than a draft may" in answer["error"]), (413, True), answer)
            self.assertEqual(self.ok("GET", "/api/drafts"), before)
            if name == "many":  # one less is none too many
                (folder / "l0.lua").unlink()
                self.draft(scene=name)
            shutil.rmtree(folder)

    def test_nothing_else_is_read_or_written(self):
        at, main = self.draft(name="one")
        for path in at, f"{at}/files/{main}", f"{at}/model":
            self.assertEqual(self.ask("HEAD", path)[0], 200, path)
        for path in ("../x", "..%2fx", "%2e%2e/x", "%2fetc%2fpasswd", ".main", ".x/y", "a/../../x", "a//b", "a%00b", "a%5cb", "",
                     "x/", "/".join("abcdefghi"), "y" * 300, "%ff"):
            for method in "PUT", "GET", "DELETE":
                self.assertIn(self.ask(method, f"{at}/files/{path}", "x" if method == "PUT" else None)[0], (400, 404), path)
        self.assertEqual([file["path"] for file in self.ok("GET", at)["files"]], [main])
        for draft in "0" * 16, "x", at.rsplit("/", 1)[1][:-1]:
            self.assertEqual(self.ask("GET", f"/api/drafts/{draft}")[0], 404, draft)
        self.ok("PUT", f"{at}/files/folder/file", "x")
        for path in "folder", "folder/file/x":
            status, answer = self.ask("PUT", f"{at}/files/{path}", "x")
            self.assertEqual(status, 400, answer)
            self.assertIn("a file and a folder can't have one name", answer["error"])
        self.assertEqual(self.ask("DELETE", f"{at}/files/folder/file/x")[0], 404)
        self.assertEqual(self.ask("PUT", f"{at}/files/large", bytes(32 * 2 ** 20 + 1))[0], 413)
        for body in {}, {"name": "a", "scene": "b"}, {"name": "../x"}, {"scene": "/etc/passwd"}, {"scene": "../x.yaml"}, {"name": 1}, {"name": "a\0b"}:
            self.assertIn(self.ask("POST", "/api/drafts", body)[0], (400, 404), body)


if __name__ == "__main__":
    unittest.main()
