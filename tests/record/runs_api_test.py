#!/usr/bin/env python3
"""GET /api/runs…, /api/scenes and /api/trials of a running program, as docs/web.md describes them."""
import http.client
import json
import pathlib
import tempfile
import unittest

from support.process import ROOT, STATE, Tether, wait_for


RUNS = pathlib.Path(STATE.name) / "tether" / "runs"
SCENE = ROOT / "tests" / "scenes" / "good" / "one.yaml"
TRIAL = {"started": "2026-11-20T20:00:00Z", "scene": "frc2011", "driver": "Ada <b>", "time": 12.5, "startedBy": "hand",
         "stoppedBy": "condition", "condition": "tube1.z > 1", "note": "", "discarded": False}
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
        status, picture = self.ask("GET", f"/api/runs/{self.ended()['id']}/picture")
        self.assertEqual((status, picture[:5]), (200, b"<svg "))

    def test_nothing_else_is_read(self):
        for name in TRAVERSAL:
            status, answer = self.ask("GET", "/api/runs/" + name)
            self.assertIn(status, (400, 404), (name, answer))
        self.assertEqual(self.ask("GET", "/api/runs/broken.wpilog")[0], 400)
        self.assertEqual(self.ask("DELETE", "/api/runs/" + self.ended()["id"])[0], 405)

    def test_scenes(self):
        scenes = self.get("/api/scenes")
        self.assertIn("frc2011", [scene["name"] for scene in scenes])
        self.assertTrue(all(set(scene) == {"name", "description", "current", "refused"} for scene in scenes))
        self.assertFalse(any(scene["current"] for scene in scenes))

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
