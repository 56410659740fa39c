#!/usr/bin/env python3
"""Who may do what: every route and WebSocket with every role; tokens that are made, withdrawn and guessed."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import unittest.mock
import urllib.parse

from support.live_page import Page
from support.process import Tether, wait_for
from support.telemetry import SOURCE, TETHER, Collector, WebSocket, wait_until

ROLES = ["watch", "drive", "administer"]
SCENE = SOURCE / "tests" / "scenes" / "good" / "one.yaml"


def documented():
    """docs/access.md as {path: {role: methods}}, and {path: role} of WebSockets."""
    routes, sockets = {}, {}
    text = (SOURCE / "docs" / "access.md").read_text(encoding="utf-8").split("| path |")[1].split("\n\n")[0]
    for line in text.splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        for path in re.findall(r"`(/[^`]*)`", cells[0]):
            if cells[0].startswith("WebSocket"):
                sockets[path] = ROLES[next(i for i, cell in enumerate(cells[1:]) if cell.startswith("opens"))]
            else:
                routes[path] = {role: " ".join(sorted(cell.split())) for role, cell in zip(ROLES, cells[1:])}
    return routes, sockets


class Roles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "tokens"
        self.environment = {**os.environ, "XDG_STATE_HOME": self.folder.name}
        self.tokens = {role: self.token("new", role, "--role", role) for role in ROLES}

    def token(self, *words, status=0):
        result = subprocess.run([TETHER, "token", *words, "--file", str(self.file)], capture_output=True, text=True,
                                timeout=60, env=self.environment, check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout.strip() if status == 0 else result.stderr

    def program(self, *settings, scene=None):
        return Collector(f"sqlite:{self.folder.name}/t.sqlite", f"web.tokens={self.file}", *settings, scene=scene,
                         XDG_STATE_HOME=self.folder.name)

    def headers(self, role):
        return {"Authorization": f"Bearer {self.tokens[role]}"} if role else {}

    def test_every_route_with_every_role(self):
        with self.program(scene=SCENE) as program:
            status, text = program.request("GET", "/api/access", headers=self.headers("watch"))
            self.assertEqual(status, 200, text)
            access = json.loads(text)
            self.assertEqual(access["role"], "watch")
            found = {route["path"]: {role: " ".join(sorted((route[role] or "").split())) for role in ROLES}
                     for route in access["routes"]}
            sockets = {socket["path"]: socket["role"] for socket in access["sockets"]}
            routes, documented_sockets = documented()
            del routes["/api/shows/"]  # a replay's pages would not ask for a token
            self.maxDiff = None
            self.assertEqual((found, sockets), (routes, documented_sockets), "docs/access.md has the table")
            self.assertTrue(len(found) > 20 and len(sockets) == 3)
            for path, methods in found.items():
                for least, words in methods.items():
                    for method in words.split():
                        self.walk(program, method, path + ("x" if path.endswith("/") and path != "/" else ""), least)
            for path, least in sockets.items():
                for role in [None, *ROLES]:
                    with self.subTest(path=path, role=role):
                        socket = WebSocket(program.web, path, self.headers(role))
                        self.assertEqual(socket.status, self.expected(role, least) or 101)
                        socket.close()

    @staticmethod
    def expected(role, least):
        return 401 if not role else 403 if ROLES.index(role) < ROLES.index(least) else None

    def walk(self, program, method, path, least):
        body = None if method in ("GET", "DELETE") else ""
        for role in [None, *ROLES]:
            with self.subTest(path=path, method=method, role=role):
                status, text = program.request(method, path, body, self.headers(role))
                expected = self.expected(role, least)
                if expected:
                    self.assertEqual(status, expected, text)
                    self.assertIn(f"role {least}; yours may {role}" if role else "a token is needed", json.loads(text)["error"])
                else:
                    self.assertNotIn(status, (401, 403, 405), text)

    def test_who_watches_commands_nothing(self):
        orders = [{"type": "control", "action": "pause"}, {"type": "command", "values": [[0, 0]]},
                  {"type": "station", "action": "disable", "robot": -1}, {"type": "stick", "robot": -1, "stick": 0},
                  {"type": "joystick", "core": None}, {"type": "trial", "action": "start"},
                  {"type": "phantom", "add": "x"}, {"type": "phantom", "remove": 1}]
        with self.program(scene=SCENE) as program:
            for role in "watch", "drive":
                page = Page(program.web, self.headers(role))
                self.assertEqual(page.hello["role"], role)
                for order in [*orders, {"type": "nonsense"}]:
                    page.send(**order)
                answers = []
                while not answers or "knows no such order" not in answers[-1]:  # which is answered behind all of them
                    message = page.receive()
                    if isinstance(message, dict) and message["type"] == "error":
                        answers.append(message["text"])
                refused = [answer for answer in answers if "role drive" in answer]
                self.assertEqual(len(refused), len(orders) if role == "watch" else 0, answers)
                page.close()

    def test_a_scene_that_concerns_the_machine(self):
        """Who may drive makes scenes; where one records or listens is for who administers."""
        text = 'robots: []\nrecord: {folder: /tmp/elsewhere}\n'
        with self.program(scene=SCENE) as program:
            status, made = program.request("POST", "/api/drafts", json.dumps({"name": "mine"}), self.headers("drive"))
            self.assertEqual(status, 201, made)
            at = f"/api/drafts/{json.loads(made)['draft']}"
            self.assertEqual(program.request("PUT", f"{at}/files/mine.yaml", text, self.headers("drive"))[0], 200)
            for way in "save", "run":
                status, answer = program.request("POST", f"{at}/{way}", json.dumps({"name": "mine"}), self.headers("drive"))
                self.assertEqual(status, 403, answer)
                self.assertIn("(record) need the role administer", answer)
            program.request("PUT", f"{at}/files/mine.yaml", "robots: []\n", self.headers("drive"))
            status, answer = program.request("POST", f"{at}/run", "{}", self.headers("drive"))
            self.assertEqual(status, 202, answer)

    def test_a_saved_scene_with_a_token(self):
        """Who may drive deletes saved scenes, but none with a token."""
        scenes = pathlib.Path(self.folder.name) / "tether/scenes"
        for name, text in ("plain", "robots: []\n"), ("locked", "robots: []\nweb: {token: sesame}\n"):
            (scenes / name).mkdir(parents=True)
            (scenes / name / f"{name}.yaml").write_text(text, encoding="utf-8")
        with unittest.mock.patch.dict(os.environ, XDG_DATA_HOME=self.folder.name), self.program(scene=SCENE) as program:
            remove = lambda role, name: program.request("DELETE", f"/api/scenes/{name}", None, self.headers(role))
            status, answer = remove("drive", "locked")
            self.assertEqual(status, 403, answer)
            self.assertRegex(answer, "the scene 'locked' is not deleted: .*role administer")
            self.assertEqual(remove("drive", "plain"), (200, "{}"))
            self.assertEqual(remove("administer", "locked"), (200, "{}"))
        self.assertEqual(list(scenes.iterdir()), [])

    def test_a_draft_with_a_token(self):
        """It is read by none but who administers, also while it is typed, whatever its file is called."""
        whole, typed = "robots: []\nweb: {token: sesame}\n", "web: {token: sesame}\nrobots: [\n"
        with self.program(scene=SCENE) as program:
            def ask(role, method, path, body=None):
                return program.request(method, path, body, self.headers(role))

            at = f"/api/drafts/{json.loads(ask('administer', 'POST', '/api/drafts', json.dumps({'name': 'mine'}))[1])['draft']}"
            for file in "mine.yaml", "other.yaml", "folder/other.YML":
                for text in whole, typed, whole + "web: {}\n", whole + "\n" * 2 ** 18:
                    with self.subTest(file=file, text=text[:60]):
                        self.assertEqual(ask("administer", "PUT", f"{at}/files/{file}", text)[0], 200)
                        self.assertEqual(ask("administer", "GET", f"{at}/files/{file}"), (200, text))
                        refused = [ask("watch", "GET", f"{at}/files/{file}"), ask("drive", "GET", f"{at}/files/{file}"),
                                   ask("drive", "PUT", f"{at}/files/{file}", "robots: []\n"), ask("drive", "DELETE", f"{at}/files/{file}"),
                                   ask("drive", "PUT", f"{at}/files/{file}?over=5", "robots: []\n"), ask("drive", "DELETE", at)]
                        for status, answer in refused:
                            self.assertEqual(status, 403, answer)
                            self.assertIn("needs the role administer", answer)
                        self.assertEqual(ask("administer", "GET", f"{at}/files/{file}"), (200, text))
                for code in "utf-16", "utf-16-le", "utf-32-be":
                    with self.subTest(file=file, code=code):
                        self.assertEqual(ask("administer", "PUT", f"{at}/files/{file}", whole.encode(code))[0], 200)
                        status, answer = ask("watch", "GET", f"{at}/files/{file}")
                        self.assertEqual(status, 403, answer)
                        self.assertIn("save it as UTF-8", answer)
            for typed in ("pace: realtime\nweb:\n  listen: 127.0.0.1:8080\n  token:s3cret\nrobots: []\n",
                          "web: {token:s3cret}\nrobots: []\n", "web:\n  token:s3cret\nrobots: []\n",
                          "web:\n  token:\ns3cret\nrobots: []\n", "# token: x\nrobots: []\nseed: s3cret\n"):
                self.assertEqual(ask("administer", "PUT", f"{at}/files/mine.yaml", typed)[0], 200)
                for role in "watch", "drive":
                    with self.subTest(text=typed, role=role):
                        self.assertEqual(ask(role, "GET", f"{at}/files/mine.yaml")[0], 403)
                        status, answer = ask(role, "GET", at)
                        self.assertEqual((status, json.loads(answer)["runs"]), (200, False), answer)
                        self.assertIn("needs the role administer to be read", answer)
                        answers = [answer, ask(role, "GET", f"{at}/model")[1], ask(role, "POST", f"{at}/run", "{}")[1]]
                        self.assertNotIn("s3cret", "".join(answers))
            self.assertNotIn("needs the role", ask("administer", "GET", at)[1])
            self.assertEqual(ask("administer", "PUT", f"{at}/files/mine.yaml", "robots: []\n")[0], 200)
            for typed in "name: token\nrobots: []\n", "# Token 3 stands here\nrobots: []\n", "robots: []\nweb: {token: x}\n":
                with self.subTest(text=typed):
                    status, answer = ask("drive", "PUT", f"{at}/files/mine.yaml", typed)
                    self.assertEqual(status, 403, answer)
                    self.assertRegex(answer, r"needs the role administer.*(write another word|a file of tokens)")
                    self.assertEqual(ask("drive", "GET", f"{at}/files/mine.yaml"), (200, "robots: []\n"))
            for typed in "robots: [{robot: frc2011, name: tokens}", "web: {tokens: x}\nrobots: [\n":
                with self.subTest(text=typed):
                    status, answer = ask("drive", "PUT", f"{at}/files/mine.yaml", typed)
                    self.assertEqual(status, 200, answer)
            self.assertEqual(ask("drive", "PUT", f"{at}/files/notes.md", "token")[0], 200)
            self.assertEqual(ask("administer", "PUT", f"{at}/files/mine.yaml", "robots: [\n")[0], 200)
            self.assertEqual(ask("watch", "GET", f"{at}/files/mine.yaml"), (200, "robots: [\n"))

    def test_a_draft_without_its_scene(self):
        """A file that is not there has no token: who may drive hears that it is missing."""
        with self.program(scene=SCENE) as program:
            def ask(role, method, path, body=None):
                status, answer = program.request(method, path, body, self.headers(role))
                self.assertIn(status, (200, 201), answer)
                return json.loads(answer)

            at = f"/api/drafts/{ask('drive', 'POST', '/api/drafts', json.dumps({'name': 'mine'}))['draft']}"
            ask("drive", "DELETE", f"{at}/files/mine.yaml")
            problems = ask("drive", "GET", at)["problems"]
            self.assertIn("there is no file 'mine.yaml'", problems[0]["text"])
            self.assertEqual(problems, ask("administer", "GET", at)["problems"])

    def test_a_scene_with_a_token_that_is_mistyped(self):
        """Why it does not load is for who administers, wherever it is asked for."""
        folder = pathlib.Path(self.folder.name).resolve()
        one, bad = folder / "one.yaml", folder / "bad.yaml"
        one.write_text("robots: []\n", encoding="utf-8")
        with self.program("web.listen=127.0.0.1:0", scene=one) as program:
            for text in ("robots: []\nweb:\n  token:\n  s3cret\n  listen: x\n", "robots: []\nweb:\n  listen: x\n  token-s3cret\n  hosts: [x]\n",
                         "# token: x\nrobots: []\ns3cret: 1\n"):
                bad.write_text(text, encoding="utf-8")
                picture = ("GET", f"/api/scenes/{urllib.parse.quote(str(bad), safe='')}/picture", None)
                ways = (picture, ("POST", "/api/drafts", json.dumps({"scene": str(bad)})), ("POST", "/api/scenes", json.dumps({"name": str(bad)})))
                for way in ways:
                    with self.subTest(text=text, way=way[1]):
                        status, answer = program.request(*way, self.headers("watch" if way == picture else "drive"))
                        self.assertEqual(status, 400, answer)
                        self.assertIn("needs the role administer to be read", answer)
                        self.assertNotIn("s3cret", answer)
                        self.assertIn("bad.yaml:", program.request(*way, self.headers("administer"))[1])
            bad.write_text("web: {token: s3cret}\nrobots: [\n", encoding="utf-8")
            for way in ways:
                with self.subTest("where it stands", way=way[1]):
                    answer = program.request(*way, self.headers("watch" if way == picture else "drive"))[1]
                    self.assertRegex(answer, r"bad\.yaml:\d+: what is wrong here needs the role administer")
            bad.write_text("robots: []\nwrong: 1\n", encoding="utf-8")
            self.assertIn("unknown key 'wrong'", program.request(*ways[1], self.headers("drive"))[1])

    def test_who_may_ask_stays(self):
        """Tokens, hosts and address are those that the program was started with, whatever another scene says of them."""
        folder, secret = pathlib.Path(self.folder.name).resolve(), 'q"\\#: [é'
        one, other = folder / "one.yaml", folder / "other.yaml"
        web = {"listen": "0.0.0.0:0", "hosts": ["robots.example", "a, b"], "tokens": str(self.file), "token": secret}
        one.write_text("robots: []\nweb: " + json.dumps(web, ensure_ascii=False), encoding="utf-8")
        other.write_text("robots: []\nweb: {token: theirs}\n", encoding="utf-8")
        with Tether("run", one, environment=self.environment) as program:
            port, ready = program.address("web")[1], 1

            def ask(token, method="GET", path="/api/access", body=None):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request(method, path, body and json.dumps(body),
                                   {"Host": "robots.example", **({"Authorization": b"Bearer " + token.encode()} if token else {})})
                answer = connection.getresponse()
                text = answer.read()
                connection.close()
                return answer.status, json.loads(text)

            def check():
                nonlocal ready
                ready += 1
                wait_for(lambda: sum(line.startswith("ready ") for line in program.lines) == ready, "the next scene")
                self.assertEqual([ask(token)[0] for token in (None, "theirs")], [401, 401])
                self.assertEqual([ask(token)[1]["role"] for token in (self.tokens["drive"], secret)], ["drive", "administer"])

            self.assertEqual(ask(self.tokens["drive"], "POST", "/api/scenes", {"name": str(other)})[0], 202)
            check()
            draft = ask(self.tokens["drive"], "POST", "/api/drafts", {"name": "mine"})[1]["draft"]
            self.assertEqual(ask(self.tokens["drive"], "POST", f"/api/drafts/{draft}/run")[0], 202)
            check()

    def test_a_draft_that_concerns_the_machine_once_it_runs(self):
        """By its path it is no more allowed than by its name, and what is loaded counts, not what was looked at."""
        folder = pathlib.Path(self.folder.name) / "elsewhere"
        with self.program(scene=SCENE) as program:
            def ask(method, path, body=None):
                status, text = program.request(method, path, body, self.headers("drive"))
                return status, json.loads(text)

            def running(number):
                wait_until(lambda: sum(line.startswith("ready ") for line in program.log) == number, "the next scene")

            at = f"/api/drafts/{ask('POST', '/api/drafts', json.dumps({'name': 'evil'}))[1]['draft']}"
            self.assertEqual(ask("POST", f"{at}/run", "{}")[0], 202)
            running(2)
            file, plain = f"{at}/files/evil.yaml", "robots: []\n"
            for section in "record", "telemetry", "web", "nt4", "foxglove":
                self.assertEqual(ask("PUT", file, f"{plain}{section}: {{}}\n")[0], 200)
                present, = [scene["name"] for scene in ask("GET", "/api/scenes")[1] if scene["current"]]
                status, answer = ask("POST", "/api/scenes", json.dumps({"name": present}))
                self.assertEqual(status, 403, answer)
                self.assertIn(f"({section}) need the role administer", answer["error"])
            self.assertEqual(ask("PUT", file, plain)[0], 200)
            self.assertEqual(ask("POST", f"{at}/run", "{}")[0], 202)
            with contextlib.suppress(OSError):  # the next scene may be loaded already
                ask("PUT", file, f"{plain}record: {{folder: {folder}}}\n")
            running(3)
            self.assertFalse(folder.exists())

    def test_a_fork_that_concerns_the_machine(self):
        """Neither its settings nor those in an uploaded log, however they are written; nor is another file its scene."""
        sections = "record", "telemetry", "web", "nt4", "foxglove"
        folder = pathlib.Path(self.folder.name) / "made"
        inside = (f"record={{folder: {folder}}}", "foxglove={listen: '127.0.0.1:0'}", "nt4={listen: '127.0.0.1:0'}", "web={token: mine}")
        made = subprocess.run([TETHER, "run", SCENE, "--no-web", "--pace", "fast", "--duration", "0.2",
                               *(word for setting in inside for word in ("--set", setting))], timeout=60, env=self.environment,
                              stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(made.returncode, 0)
        log, = (file.read_bytes() for file in folder.glob("*.wpilog"))
        with self.program(scene=SCENE) as program:
            def bring(log):
                status, run = program.request("POST", "/api/runs?name=x.wpilog", log, self.headers("drive"))
                self.assertEqual(status, 201, run)
                return json.loads(run)["id"]

            def fork(role, run, **settings):
                return program.request("POST", f"/api/runs/{run}/fork", json.dumps({"time": 0, "settings": settings}), self.headers(role))

            run = bring(log)
            for section in sections:
                for path, value in (section, "{}"), (f"{section}.x", "1"):
                    status, answer = fork("drive", run, **{path: value})
                    self.assertEqual(status, 400, answer)
                    self.assertIn("takes the role administer", answer)
            name = str(SCENE).replace("/", "\\/").encode()  # as JSON has it there
            self.assertEqual(log.count(name + b'",'), 1)
            status, answer = fork("administer", bring(log.replace(name + b'",', b"/../".ljust(len(name), b"x") + b'",')))
            self.assertEqual(status, 400, answer)
            self.assertIn("does not say which scene", answer)
            self.assertEqual(fork("drive", run)[0], 202)
            wait_until(lambda: sum(line.startswith("ready ") for line in program.log) == 2, "the fork")
            last = [line for line in program.log if line.startswith("ready ")][-1]
            self.assertNotIn("foxglove=", last)
            self.assertNotIn("nt4=", last)
            self.assertEqual(program.request("GET", "/api/access", headers={"Authorization": "Bearer mine"})[0], 401)

    def test_a_token_in_the_scene(self):
        """Who may not administer reads it nowhere: in no log, whatever its format, and in no draft."""
        secret, scene = "s3cr-ét", pathlib.Path(self.folder.name).resolve() / "secret.yaml"
        tokens = f"token: '{secret}', tokens: {self.file}"
        scene.write_text(SCENE.read_text(encoding="utf-8").replace("bot/robot.yaml", f"{SCENE.parent}/bot/robot.yaml")
                         .replace("field/", f"{SCENE.parent}/field/") + f"web: {{{tokens}}}\n", encoding="utf-8")
        with self.program(f"web={{token: {secret}, tokens: {self.file}, listen: '127.0.0.1:0'}}", scene=scene) as program:
            def ask(role, method, path, body=None):
                connection = http.client.HTTPConnection(program.web[7:], timeout=60)
                connection.request(method, path, body and json.dumps(body), self.headers(role))
                answer = connection.getresponse()
                text = answer.read()
                connection.close()
                return answer.status, text

            status, answer = ask("drive", "POST", "/api/drafts", {"scene": str(scene)})
            self.assertEqual(status, 403, answer)
            self.assertTrue(json.loads(answer)["error"].startswith("secret.yaml: the scene has a token"), answer)
            self.assertEqual(json.loads(ask("watch", "GET", "/api/drafts")[1]), [])
            status, made = ask("administer", "POST", "/api/drafts", {"scene": str(scene)})
            self.assertEqual(status, 201, made)
            at = f"/api/drafts/{json.loads(made)['draft']}"
            self.assertIn(secret.encode(), ask("administer", "GET", f"{at}/files/secret.yaml")[1])
            run = json.loads(ask("watch", "GET", "/api/runs")[1])[0]["id"]
            self.assertEqual(ask("watch", "GET", f"{at}/files/secret.yaml")[0], 403)
            for path in (f"/api/runs/{run}", at, "/api/scenes", "/api/drafts", "/metrics",
                         *(f"/api/runs/{run}/file?format={format}" for format in ("log", "wpilog", "mcap", "csv", "jsonl", "summary"))):
                status, answer = ask("watch", "GET", path)
                self.assertEqual(status, 200, path)
                self.assertNotIn(secret.encode(), answer, path)
            # It is the present scene all the same.
            self.assertEqual(ask("drive", "POST", f"/api/runs/{run}/fork", {"time": 0})[0], 202)
            wait_until(lambda: sum(line.startswith("ready ") for line in program.log) == 2, "the fork")

    def test_a_token_that_is_withdrawn(self):
        with self.program() as program:
            self.assertNotIn(self.tokens["watch"], self.file.read_text(encoding="utf-8"))
            self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
            watching, driving = (WebSocket(program.web, "/telemetry/live", self.headers(role)) for role in ("watch", "drive"))
            self.assertEqual((watching.status, driving.status), (101, 101))
            before = self.headers("watch")
            self.tokens["watch"] = self.token("new", "watch", "--replace")
            self.assertEqual(self.token("list").split(), ["watch", "watch", "drive", "drive", "administer", "administer"])
            with self.assertRaisesRegex(EOFError, "the token was withdrawn"):
                watching.receive()
            self.assertEqual(program.request("GET", "/telemetry/status", headers=before)[0], 401)
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("watch"))[0], 200)
            program.request("POST", "/telemetry", "<MESSAGE id='R' time='1'><I time='0'><d n='1'/></I></MESSAGE>",
                            self.headers("drive"))
            self.assertIn('"R"', driving.receive())
            self.file.unlink()
            with self.assertRaisesRegex(EOFError, "the token was withdrawn"):
                driving.receive()
            watching.close()
            driving.close()
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("watch"))[0], 401)

    def test_what_is_open_by_a_token_that_is_withdrawn(self):
        """The next request is refused, on a connection that is open, too; whatever that token opened ends; another counts at once."""
        with self.program(scene=SCENE) as program:
            lines = "".join(f"m,device=D x={i} {10**9 + i * 10**6}\n" for i in range(60000))
            self.assertEqual(program.request("POST", "/write?db=x", lines, self.headers("administer"))[0], 204)
            before = self.headers("drive")
            sockets = [WebSocket(program.web, path, before) for path in ("/live", "/telemetry/live", "/telemetry/in")]
            kept, table = (http.client.HTTPConnection(program.web[7:], timeout=60) for _ in range(2))
            table.request("GET", "/telemetry.json", headers=before)
            answer = table.getresponse()
            self.assertEqual((answer.status, self.status(kept, before)), (200, 200))
            self.tokens["drive"] = self.token("new", "drive", "--replace")
            with contextlib.suppress(ConnectionError):  # it was cut before
                self.assertEqual(self.status(kept, before), 401)
            self.assertEqual(program.request("GET", "/telemetry/status", headers=before)[0], 401)
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("drive"))[0], 200)
            for opened in sockets:
                with self.assertRaisesRegex(EOFError, "the token was withdrawn"):
                    while True:
                        with contextlib.suppress(UnicodeDecodeError):  # a frame of the world
                            opened.receive()
                opened.close()
            with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                answer.read()
            kept.close()
            table.close()
            self.token("remove", "drive")
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("drive"))[0], 401)
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("watch"))[0], 200)

    @staticmethod
    def status(connection, headers):
        connection.request("GET", "/telemetry/status", headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def test_a_line_that_is_wrong(self):
        with self.program() as program:
            text = self.file.read_text(encoding="utf-8")
            self.file.write_text(text.replace(" drive ", " king "), encoding="utf-8")
            wait_until(lambda: program.request("GET", "/telemetry/status", headers=self.headers("drive"))[0] == 401, "taken over")
            self.assertEqual(program.request("GET", "/telemetry/status", headers=self.headers("watch"))[0], 200)
            wait_until(lambda: any("tokens:3: a role is" in line for line in program.log), "logged")
        for mode, part in (0o600, "tokens:3: a role is watch, drive or administer"), (0o644, "chmod 600"):
            self.file.chmod(mode)
            result = subprocess.run([TETHER, "collect", "--set", "web.listen=127.0.0.1:0", "--set", "telemetry.listen=127.0.0.1:0",
                                     "--set", f"web.tokens={self.file}"], capture_output=True, text=True, timeout=60,
                                    env=self.environment, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(part, result.stderr)

    def test_guesses_over_many_connections(self):
        with self.program("web.token=sesame") as program:
            statuses = []
            connections = [http.client.HTTPConnection(program.web[7:]) for _ in range(30)]
            for number, connection in enumerate(connections):
                connection.request("GET", "/telemetry/status", headers={"Authorization": f"Bearer guess{number}"})
                response = connection.getresponse()
                statuses.append(response.status)
                wait = response.headers["Retry-After"]
                response.read()
            self.assertEqual(statuses[:10], [401] * 10)
            self.assertEqual(set(statuses[-10:]), {429})  # some seconds may have passed
            self.assertTrue(1 <= int(wait) <= 6, wait)
            for connection in connections:
                connection.close()

    def test_the_command_line(self):
        self.assertIn("there is a token 'watch'", self.token("new", "watch", "--role", "watch", status=1))
        self.assertIn("there is no token 'nobody'", self.token("remove", "nobody", status=1))
        self.assertIn("--role watch, drive or administer", self.token("new", "more", status=2))
        self.assertIn("--role king", self.token("new", "more", "--role", "king", status=2))
        self.assertIn("takes one NAME", self.token("new", status=2))
        self.assertIn("is no name", self.token("new", "a b", "--role", "watch", status=1))
        self.token("remove", "watch")
        self.assertNotIn("watch", self.token("list"))


if __name__ == "__main__":
    unittest.main()
