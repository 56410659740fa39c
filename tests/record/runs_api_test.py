#!/usr/bin/env python3
"""GET /api/runs…, /api/scenes, /api/trials and /api/layouts of a running program, as docs/web.md describes them."""
import concurrent.futures
import functools
import http.client
import json
import math
import os
import pathlib
import socket
import sqlite3
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

from support.live_page import Page, poses
from support.process import ROOT, STATE, Tether, wait_for


RUNS = pathlib.Path(STATE.name) / "tether" / "runs"
SCENE = ROOT / "tests" / "scenes" / "good" / "one.yaml"
TRIAL = {"started": "2026-11-20T20:00:00Z", "scene": "frc2011", "driver": "Ada <b>", "time": 12.5, "startedBy": "hand",
         "stoppedBy": "condition", "condition": "tube1.z > 1", "note": "", "discarded": False, "recording": "2026-11-20T19-52-07-frc2011.wpilog",
         "begin": 3.25}
# Ways out of the folder, plain and encoded once more than they should be.
TRAVERSAL = ["..", "../secret.wpilog", "..%2fsecret.wpilog", "%2e%2e/secret.wpilog", "%2e%2e%2fsecret.wpilog",
             "..%252fsecret.wpilog", "....//secret.wpilog", "./secret.wpilog", "/etc/passwd", "%2fetc%2fpasswd",
             "..\\secret.wpilog", "..%5csecret.wpilog", ".wpilog", "link.wpilog", "sub", "sub/inner.wpilog",
             "secret.wpilog%00", "%c0%ae%c0%ae/secret.wpilog", "x" * 300 + ".wpilog", "nosuch.wpilog",
             "../secret.wpilog/picture", "../secret.wpilog/signals?name=time", "..%2fsecret.wpilog/signals?name=time"]


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with Tether("run", SCENE, "--pace", "fast", "--duration", "2", "--no-web") as first:
            assert first.wait_exit() == 0, first.text()
        cls.program = Tether("run", SCENE, "--set", "web.listen=127.0.0.1:0")
        cls.host = cls.program.addresses["web"].removeprefix("http://")
        (RUNS.parent / "secret.wpilog").write_bytes(next(RUNS.glob("*.wpilog")).read_bytes())
        (RUNS / "link.wpilog").symlink_to(RUNS.parent / "secret.wpilog")
        (RUNS / "sub").mkdir()
        (RUNS / "sub" / "inner.wpilog").write_bytes(b"WPILOG")
        (RUNS / "broken.wpilog").write_bytes(b"this is none")

    @classmethod
    def tearDownClass(cls):
        cls.program.__exit__()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        connection.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body),
                           {"Origin": "http://" + self.host, "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def get(self, path):
        status, answer = self.ask("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def ended(self):
        return next(run for run in self.get("/api/runs") if not run["recording"])

    def test_ranges_are_not_answered(self):
        """However many and of what kind: the whole, once."""
        status, whole = self.ask("GET", "/")
        for ranges in "0-," * 9000 + "0-", "-99999999999", "5-4", "0-0":
            connection = http.client.HTTPConnection(self.host, timeout=20)
            connection.request("GET", "/", headers={"Range": "bytes=" + ranges})
            answer = connection.getresponse()
            self.assertEqual((answer.status, len(answer.read())), (status, len(whole)), ranges[:20])
            connection.close()

    def test_runs_newest_first(self):
        runs = self.get("/api/runs")
        self.assertEqual(len(runs), 2, runs)
        self.assertEqual([run["recording"] for run in runs], [True, False])
        self.assertEqual([run["outcome"] for run in runs], ["recording", "ended"])
        ended = runs[1]
        self.assertEqual(ended["scene"], "one")
        self.assertAlmostEqual(ended["duration"], 2, places=6)
        self.assertEqual(ended["size"], (RUNS / ended["id"]).stat().st_size)
        self.assertEqual((ended["file"], ended["pinned"]), (str(RUNS / ended["id"]), False))
        self.assertRegex(ended["started"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_a_run_recorded_elsewhere_is_in_the_list(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.wpilog"
            for _ in range(2):  # the second in the place of the first
                file.unlink(missing_ok=True)
                with Tether("run", SCENE, "--pace", "fast", "--duration", "1", "--no-web", "--record", file) as elsewhere:
                    self.assertEqual(elsewhere.wait_exit(), 0, elsewhere.text())
            found, = [run for run in self.get("/api/runs") if run["file"] == str(file)]
            self.assertAlmostEqual(found["duration"], 1, places=6)
            self.assertEqual(self.get("/api/runs/" + found["id"])["file"], str(file))
            self.assertEqual(self.get(f"/api/runs/{found['id']}/signals?name=time")["time"][0], 0)
        self.assertNotIn(found["id"], [run["id"] for run in self.get("/api/runs")])
        self.assertEqual(self.ask("GET", "/api/runs/" + found["id"])[0], 404)

    def test_a_log_that_somebody_cuts_costs_the_log(self):
        """By copying another file over it, while pages look into it and race it; what was looked into before is no excuse."""
        with tempfile.TemporaryDirectory() as folder:
            for left in 0, 20000:
                file = pathlib.Path(folder) / f"cut{left}.wpilog"
                with Tether("run", SCENE, "--pace", "fast", "--duration", "2", "--no-web", "--record", file) as elsewhere:
                    self.assertEqual(elsewhere.wait_exit(), 0, elsewhere.text())
                run = next(run["id"] for run in self.get("/api/runs") if run["file"] == str(file))
                page = Page(self.program.addresses["web"])
                page.send(type="phantom", add=run)
                page.told("phantoms")
                self.get(f"/api/runs/{run}/values?at=1")
                os.truncate(file, left)
                for part in "values?at=2", "signals?name=time", "frames?at=1", "model":
                    self.assertIn(self.ask("GET", f"/api/runs/{run}/{part}")[0], (200, 400, 404), part)
                for _ in range(3):
                    page.frame()
                page.close()
                self.assertIsNone(self.program.process.poll(), self.program.text())

    def test_one_run(self):
        run = self.get("/api/runs/" + self.ended()["id"])
        signals = {signal["name"]: signal["unit"] for signal in run["signals"]}
        self.assertEqual(signals["time"], "s")
        self.assertTrue(any(name.startswith("command:") for name in signals))
        self.assertTrue(all(set(event) == {"time", "step", "source", "text"} for event in run["events"]))

    def test_signals_of_a_run(self):
        run = self.ended()["id"]
        plot = self.get(f"/api/runs/{run}/signals?name=time&name=step")
        self.assertEqual(plot["time"], plot["values"][0])
        self.assertEqual(plot["time"][0], 0)
        self.assertAlmostEqual(plot["time"][-1], 2, places=6)
        self.assertEqual(plot["values"][1], sorted(plot["values"][1]))
        thin = self.get(f"/api/runs/{run}/signals?name=time&points=20")
        self.assertLessEqual(len(thin["time"]), 22)
        self.assertEqual(thin["values"][0], thin["time"])
        for query, code in (("", 400), ("?name=time&points=1", 400), ("?name=time&points=x", 400), ("?name=nosuch", 404),
                            ("?" + "&".join(["name=time"] * 65), 400)):
            self.assertEqual(self.ask("GET", f"/api/runs/{run}/signals{query}")[0], code, query)

    def test_picture_of_a_run(self):
        run = self.ended()["id"]
        kept = RUNS / (run + ".picture")
        drawn = kept.read_bytes()  # as the run ended
        self.assertEqual(drawn[:5], b"<svg ")
        self.assertEqual(self.ask("GET", f"/api/runs/{run}/picture"), (200, drawn))
        kept.write_bytes(b"<svg older")
        os.utime(kept, (0, 0))
        self.assertEqual(self.ask("GET", f"/api/runs/{run}/picture"), (200, drawn), "made anew: it was older than the log")
        self.assertEqual(kept.read_bytes(), drawn)
        growing = next(run for run in self.get("/api/runs") if run["recording"])["id"]
        self.assertEqual(self.ask("GET", f"/api/runs/{growing}/picture")[1][:5], b"<svg ")
        self.assertFalse((RUNS / (growing + ".picture")).exists())

    def test_nothing_else_is_read(self):
        for name in TRAVERSAL:
            status, answer = self.ask("GET", "/api/runs/" + name)
            self.assertIn(status, (400, 404), (name, answer))
        self.assertEqual(self.ask("GET", "/api/runs/broken.wpilog")[0], 400)
        for name in TRAVERSAL:
            for method, body in (("DELETE", None), ("PUT", {"note": "x"}), ("POST", None)):
                status, answer = self.ask(method, f"/api/runs/{name}{'/verify' if method == 'POST' else ''}", body)
                self.assertIn(status, (400, 404, 405), (method, name, answer))
        self.assertTrue((RUNS.parent / "secret.wpilog").exists())
        self.assertEqual(list(RUNS.parent.glob("secret.wpilog.*")), [])

    def test_name_tags_note_and_pin(self):
        run = self.ended()
        self.assertEqual((run["name"], run["tags"], run["note"]), ("", [], ""))
        log = (RUNS / run["id"]).read_bytes()
        path = "/api/runs/" + run["id"]
        status, changed = self.ask("PUT", path, {"name": "Überschwung", "tags": ["arm", "gain 12"], "pinned": True})
        self.assertEqual((status, changed), (200, {"id": run["id"], "name": "Überschwung", "tags": ["arm", "gain 12"], "note": "",
                                                   "pinned": True}))
        self.ask("PUT", path, {"note": "line\n2"})
        wanted = {**run, "name": "Überschwung", "tags": ["arm", "gain 12"], "note": "line\n2", "pinned": True}
        self.assertEqual(self.ended(), wanted)
        self.assertEqual(self.ask("DELETE", path)[0], 400, "it is pinned")
        wrong = [{"name": 1}, {"name": "a\nb"}, {"name": "x" * 201}, {"note": "x" * 10001}, {"tags": "arm"}, {"tags": [""]},
                 {"tags": ["a", "a"]}, {"tags": [str(i) for i in range(21)]}, {"tags": ["x" * 51]}, {"pinned": "yes"}, {"id": "x"}, []]
        for body in wrong:
            self.assertEqual(self.ask("PUT", path, body)[0], 400, body)
        self.assertEqual(self.ended(), wanted, "nothing of it was taken")
        self.assertEqual((RUNS / run["id"]).read_bytes(), log)
        (RUNS / (run["id"] + ".about")).write_text("broken")
        self.assertEqual(self.ended(), {**run, "pinned": True}, "what can't be read is nothing")
        self.assertEqual(self.ask("PUT", path, {"name": "", "pinned": False})[0], 200)
        self.assertEqual(self.ended(), run)

    def at_once(self, *asks):
        """The statuses, of requests that are made side by side."""
        with concurrent.futures.ThreadPoolExecutor(len(asks)) as pool:
            return [status for status, _ in pool.map(lambda ask: ask(), asks)]

    def test_changes_at_once(self):
        """Each of them holds, and each log that is brought is kept, also those of one name."""
        run = self.ended()
        path, log = "/api/runs/" + run["id"], (RUNS / run["id"]).read_bytes()
        for number in range(20):
            wanted = {"name": f"n{number}", "note": f"o{number}", "tags": [f"t{number}"]}
            self.assertEqual(self.at_once(*(functools.partial(self.ask, "PUT", path, {key: value}) for key, value in wanted.items())), [200] * 3)
            self.assertEqual({key: self.get(path)[key] for key in wanted}, wanted)
        self.ask("PUT", path, {"name": "", "note": "", "tags": []})
        before = {kept["id"] for kept in self.get("/api/runs")}
        for _ in range(4):
            self.assertEqual(self.at_once(*[functools.partial(self.bring, "same.wpilog", log)] * 6), [201] * 6)
        brought = {kept["id"] for kept in self.get("/api/runs")} - before
        self.assertEqual(len(brought), 24)
        for name in brought:
            self.ask("DELETE", "/api/runs/" + name)

    def test_methods_that_mean_nothing(self):
        at = f"/api/runs/{self.ended()['id']}"
        for part in "/values", "/picture", "/model", "/file", "/verify", "/signals", "":
            for method in "POST", "PUT", "DELETE":
                if (method, part) in (("POST", "/verify"), ("PUT", ""), ("DELETE", "")):
                    continue
                self.assertEqual(self.ask(method, at + part, {})[0], 404, (method, part))
            if part not in ("/verify", "/signals"):
                self.assertEqual(self.ask("HEAD", at + part)[0], 200, part)
        frame = self.ask("GET", f"{at}/frames?rate=5e-324")[1]
        self.assertEqual(poses(frame[4:])[0], 0)

    def bring(self, name, log):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        connection.request("POST", "/api/runs?" + urllib.parse.urlencode({"name": name}), log, {"Origin": "http://" + self.host})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def test_a_log_is_brought_and_removed(self):
        run = self.ended()
        log = (RUNS / run["id"]).read_bytes()
        status, brought = self.bring(f"C:/{run['id']}", log)
        self.assertEqual(status, 201, brought)
        self.assertRegex(brought["id"], r"^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-one(-\d)?\.wpilog$")
        self.assertEqual({key: brought[key] for key in ("run", "started", "duration")}, {key: run[key] for key in ("run", "started", "duration")})
        self.assertEqual((RUNS / brought["id"]).read_bytes(), log)
        self.ask("GET", f"/api/runs/{brought['id']}/picture")
        self.ask("PUT", "/api/runs/" + brought["id"], {"name": "x"})
        self.assertEqual(self.ask("DELETE", "/api/runs/" + brought["id"])[0], 200)
        self.assertEqual(list(RUNS.glob(brought["id"] + "*")), [], "nothing is left beside it")
        self.check_foreign()
        status, nameless = self.bring(".wpilog", log)
        self.assertRegex(nameless["id"], r"-run(-\d)?\.wpilog$")
        self.assertEqual(self.ask("DELETE", "/api/runs/" + nameless["id"])[0], 200)
        before = set(RUNS.iterdir())
        foreign = b"WPILOG\x00\x01\x00\x00\x00\x00"
        for name, body, why in (("", log, "give ?name=FILE.wpilog"), ("x.csv", log, "x.csv: only logs can be opened, whose names end in .wpilog"), ("x.wpilog", b"none", "no log"), ("x.wpilog", foreign, "another program"),
                                ("../../x.wpilog", b"none", "no log"), ("x.wpilog", b"", "no log")):
            status, answer = self.bring(name, body)
            self.assertEqual(status, 400, answer)
            self.assertIn(why, answer["error"])
        with socket.create_connection(self.host.split(":")) as broken:
            broken.sendall(f"POST /api/runs?name=x.wpilog HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: 1000\r\n\r\nWPI".encode())
        wait_for(lambda: set(RUNS.iterdir()) == before, "nothing of them is left")

    def check_foreign(self):
        status, run = self.bring("2026-01-01T10-00-00 practice.wpilog", (ROOT / "src/record/foreign_seeds/good").read_bytes())
        self.assertEqual(status, 201, run)
        self.assertEqual([run[key] for key in ("scene", "started", "program", "leftOut", "leftOutTypes", "duration", "outcome")],
                         ["practice", "2026-01-01T10:00:00Z", "AdvantageKit", 1, "struct:Pose2d", 3, "ended"])
        at = "/api/runs/" + urllib.parse.quote(run["id"])
        whole = self.ask("GET", at)[1]
        self.assertEqual([signal["name"] for signal in whole["signals"]],
                         ["NT:/SmartDashboard/speed", "Arm/angle", "systemTime", "DS:enabled", "Modules[0]", "Modules[1]", "Modules[2]"])
        self.assertEqual([mode["mode"] for mode in whole["modes"]], ["disabled", "teleop"])
        self.assertEqual(self.ask("GET", at + "/values?at=2.5")[1]["values"]["NT:/SmartDashboard/speed"], 1.5)
        self.assertEqual(len(self.ask("GET", at + "/model")[1]["signals"]), 7)
        self.assertEqual(self.ask("GET", at + "/frames?at=1")[0], 400)
        self.assertEqual(self.ask("POST", at + "/fork", {"time": 1})[0], 400)
        self.ask("POST", at + "/verify")
        wait_for(lambda: self.ask("GET", at + "/verify")[1]["state"] == "done", "the answer")
        self.assertIn(self.ask("GET", at + "/verify")[1]["verdict"], ("failed", "damaged"))
        self.assertEqual(self.ask("DELETE", at)[0], 200)

    def test_answers_are_utf_8(self):
        """Whatever a log says, how long a name is, or what was asked for: a list that can't be read shows no run at all."""
        log = (RUNS / self.ended()["id"]).read_bytes().replace(b'"name":"world"', b'"name":"worl\xff"')
        brought = [self.bring("ä" * 200 + ".wpilog", (ROOT / "src/record/foreign_seeds/good").read_bytes()), self.bring("bad.wpilog", log)]
        for _, run in brought:
            self.addCleanup(self.ask, "DELETE", "/api/runs/" + urllib.parse.quote(run["id"]))
        self.assertEqual([status for status, _ in brought], [201, 201], brought)
        self.assertEqual(brought[0][1]["scene"], "ä" * 63)
        self.get("/api/runs")
        at = "/api/runs/" + urllib.parse.quote(brought[1][1]["id"])
        self.assertEqual(self.get(at + "/model")["bodies"][0]["name"], "worl\ufffd")
        status, answer = self.ask("GET", at + "/signals?name=" + "%C3%A4" * 99 + "a%C3%A4")
        self.assertEqual((status, answer["error"][:24]), (404, "the run has no signal 'ä"))

    def test_files_of_a_run(self):
        run = self.ended()["id"]
        log = (RUNS / run).read_bytes()
        for query, begins in (("", b"WPILOG"), ("?format=log", b"WPILOG"), ("?format=wpilog", b"WPILOG"), ("?format=mcap", b"\x89MCAP0"),
                              ("?format=csv", b"log time [s],"), ("?format=summary", b"")):
            status, file = self.ask("GET", f"/api/runs/{run}/file{query}")
            self.assertEqual((status, file[:len(begins)]), (200, begins), query)
            self.assertEqual(file == log, query in ("", "?format=log"), query)
        self.assertEqual(self.ask("GET", f"/api/runs/{run}/file?format=exe")[0], 400)
        self.assertEqual(self.ask("GET", "/api/runs/nosuch.wpilog/file")[0], 404)

    def verify(self, run):
        path = f"/api/runs/{run}/verify"
        self.assertEqual(self.ask("GET", path)[0], 404, "nobody asked")
        self.assertEqual(self.ask("POST", path), (202, {}))
        wait_for(lambda: self.get(path)["state"] == "done", "it is verified")
        return self.get(path)

    def test_runs_are_verified(self):
        run = self.ended()["id"]
        answer = self.verify(run)
        self.assertEqual((answer["verdict"], answer["error"], answer["done"]), ("identical", None, 1))
        self.assertRegex(answer["lines"][0], r"^bytes: all \d+ are those that were written$")
        self.assertRegex(answer["lines"][1], r"^identical: \d+ steps, \d+ state hashes, \d+ samples")
        log = bytearray((RUNS / run).read_bytes())
        log[len(log) // 2] ^= 1
        status, damaged = self.bring("damaged.wpilog", bytes(log))
        self.assertEqual(status, 201, damaged)
        answer = self.verify(damaged["id"])
        self.assertEqual(answer["verdict"], "damaged", answer)
        self.assertIn("are not those that were written", answer["error"])
        self.assertEqual(self.ask("DELETE", "/api/runs/" + damaged["id"])[0], 200)
        self.assertEqual(self.ask("POST", "/api/runs/nosuch.wpilog/verify")[0], 404)

    def test_scenes(self):
        scenes = self.get("/api/scenes")
        self.assertIn("frc2011", [scene["name"] for scene in scenes])
        parts = {"name", "title", "description", "file", "own", "saved", "picture", "current", "refused"}
        self.assertTrue(all(set(scene) == parts for scene in scenes))
        # The one that runs was given by its file: it is in the list by that, with those beside it.
        present, = [scene for scene in scenes if scene["current"]]
        self.assertEqual((present["name"], present["file"], present["title"]), (str(SCENE), str(SCENE), "one"))
        self.assertIn(str(SCENE.parent / "lockstep.yaml"), [scene["file"] for scene in scenes])
        for scene in present, next(scene for scene in scenes if scene["name"] == "gripper"):
            status, picture = self.ask("GET", "/" + scene["picture"])
            self.assertEqual(status, 200, picture)
            root = xml.etree.ElementTree.fromstring(picture)
            self.assertGreater(len(root), 3)
            self.assertEqual(self.ask("GET", "/" + scene["picture"])[1], picture)
        for name in "nosuch", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "%2f" + str(SCENE)[1:].replace("one", "none"):
            self.assertIn(self.ask("GET", f"/api/scenes/{name}/picture")[0], (400, 404), name)

    def test_keys(self):
        schema = self.get("/api/schema")
        keys = {(key["file"], key["path"]): key for key in schema["keys"]}
        watchdog = keys["scene", "wires.float-udp.watchdog"]
        self.assertEqual((watchdog["kind"], watchdog["unit"], watchdog["lower"], watchdog["required"]), ("quantity", "s", 0, False))
        self.assertIn("made safe", watchdog["help"])
        self.assertEqual(keys["scene", "robots.alliance"]["choices"], ["red", "blue"])
        self.assertEqual(keys["scene", "pace"]["choices"], ["realtime", "lockstep", "fast"])
        self.assertEqual((keys["scene", "speed"]["lower"], keys["scene", "speed"]["upper"]), (0.001, 1000))
        sensors = keys["scene", "wires.float-udp.sensors"]
        self.assertEqual((sensors["kind"], sensors["entries"]), ("list", "mapping"))
        self.assertTrue(keys["robot", "motors.joint"]["help"] and keys["robot", "model"]["required"])
        self.assertEqual(keys["arena", "lines.color"]["choices"], ["white", "black"])
        units = {unit["name"]: unit for unit in schema["units"]}
        self.assertEqual(units["in·lbf"], {"name": "in·lbf", "si": "N·m", "scale": 0.1129848290276167})
        self.assertEqual(units["deg"], {"name": "deg", "si": "rad", "scale": math.pi / 180})
        self.assertGreater(len(keys), 300)

    def test_trials(self):
        before = self.get("/api/trials")
        status, made = self.ask("POST", "/api/trials", TRIAL)
        self.assertEqual(status, 200, made)
        self.assertEqual({**made, "id": None}, {**TRIAL, "id": None})
        self.assertEqual(self.get("/api/trials"), before + [made])
        path = f"/api/trials/{made['id']}"
        status, changed = self.ask("PUT", path, {"note": "fell over", "discarded": True})
        self.assertEqual((status, changed), (200, {**made, "note": "fell over", "discarded": True}))
        wrong = [({**TRIAL, "time": -1}, 400), ({**TRIAL, "time": "x"}, 400), ({**TRIAL, "startedBy": "wind"}, 400),
                 ({**TRIAL, "id": 1}, 400), ({**TRIAL, "driver": "x" * 1001}, 400), ({"scene": "x"}, 400), ([], 400)]
        for body, code in wrong:
            self.assertEqual(self.ask("POST", "/api/trials", body)[0], code, body)
        self.assertEqual(self.ask("PUT", path, {"driver": "Bob"})[0], 400)
        status, answer = self.ask("PUT", path, '{"note": "a", "discarded": true, "note": "b"}')
        self.assertEqual(status, 400)
        self.assertIn("byte 33: the key 'note' stands twice", answer["error"])
        self.assertEqual(self.ask("DELETE", path)[0], 200)
        for method, body in (("DELETE", None), ("PUT", {"note": ""})):
            self.assertEqual(self.ask(method, path, body)[0], 404)
        self.assertEqual(self.ask("DELETE", "/api/trials/1%3bDROP")[0], 404)
        self.assertEqual(self.get("/api/trials"), before)

    def test_layouts_of_plots(self):
        self.assertEqual(self.get("/api/layouts"), [])
        layout = {"plots": [{"traces": [{"name": "speed = hypot(chassis.vx, chassis.vy)", "colour": 3}]}], "units": {"m/s": "mph"}}
        name = "Arm & drive, 100 % / \u00e4"
        path = "/api/layouts/" + urllib.parse.quote(name, safe="")
        status, saved = self.ask("PUT", path, layout)
        self.assertEqual((status, saved["name"], saved["layout"]), (200, name, layout), saved)
        self.assertRegex(saved["changed"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(self.get(path), saved)
        self.assertEqual(self.ask("PUT", path, {"plots": []})[1]["layout"], {"plots": []})
        self.assertEqual([each["name"] for each in self.get("/api/layouts")], [name])
        for wrong, body in [("x" * 101, layout), ("a%0Ab", layout), ("%ff", layout), ("", layout), ("y", "nonsense"), ("y", []), ("y", {"x": "y" * 70000})]:
            status, answer = self.ask("PUT", "/api/layouts/" + wrong, body)
            self.assertIn(status, (400, 413), (wrong[:20], answer))
        for method in "GET", "DELETE":
            self.assertEqual(self.ask(method, "/api/layouts/nosuch")[0], 404)
        self.assertEqual(self.ask("DELETE", path)[0], 200)
        self.assertEqual(self.get("/api/layouts"), [])
        self.assertEqual((RUNS.parent / "layouts" / "layouts.sqlite").stat().st_mode & 0o777, 0o600)

    def test_trials_of_an_older_program(self):
        """Which knew of no recordings."""
        file = RUNS.parent / "trials" / "trials.sqlite"
        self.get("/api/trials")
        with sqlite3.connect(file) as older:
            for column in ("recording", "begin"):
                older.execute(f"ALTER TABLE trial DROP COLUMN {column}")
            older.execute("INSERT INTO trial VALUES (NULL, '2026-01-01T00:00:00Z', 'one', 'Ada', 1.5, 'hand', 'hand', '', '', 0)")
        older.close()
        trial = self.get("/api/trials")[-1]
        self.assertEqual((trial["driver"], trial["recording"], trial["begin"]), ("Ada", "", 0))
        self.assertEqual(self.ask("DELETE", f"/api/trials/{trial['id']}")[0], 200)


class Choice(unittest.TestCase):
    def test_who_chooses_another_scene_is_answered(self):
        """Though that ends the server that answers."""
        with Tether("run", "frc2011", "--set", "web.listen=127.0.0.1:0", "--set", "record.on=off", "--set",
                    "wires.float-udp.bind=127.0.0.1:0") as program:
            for number in range(10):
                host = program.addresses["web"].removeprefix("http://")
                connection = http.client.HTTPConnection(host, timeout=20)
                connection.request("POST", "/api/scenes", json.dumps({"name": ("concept-symmetric", "frc2011")[number % 2]}),
                                   {"Origin": "http://" + host})
                self.assertEqual(connection.getresponse().status, 202)
                connection.close()
                wait_for(lambda: sum(line.startswith("ready ") for line in program.lines) == number + 2, "the other scene")


if __name__ == "__main__":
    unittest.main()
