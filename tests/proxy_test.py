#!/usr/bin/env python3
"""TLS by packaging/proxy/nginx.conf in front of a collector: a real nginx with a certificate of its own."""
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

from support.process import wait_for
from support.telemetry import SOURCE, TETHER, Collector, WebSocket, message, wait_until

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
NAME = "robots.example"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Proxy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.tokens = {role: cls.make_token(role) for role in ("watch", "drive")}
        cls.collector = Collector(f"sqlite:{cls.path}/t.sqlite", f"web.tokens={cls.path}/tokens", f"web.hosts=[{NAME}]",
                                  "web.proxies=[127.0.0.1]", scene=SOURCE / "tests" / "scenes" / "good" / "one.yaml")
        cls.port = free_port()
        cls.start_nginx()
        cls.context = ssl.create_default_context(cafile=cls.path / "certificate.pem")

    @classmethod
    def tearDownClass(cls):
        cls.nginx.terminate()
        cls.nginx.wait(20)
        cls.collector.close()
        cls.folder.cleanup()

    @classmethod
    def make_token(cls, name, *more):
        return subprocess.run([TETHER, "token", "new", name, "--file", cls.path / "tokens", *(more or ("--role", name))], check=True,
                              capture_output=True, text=True, timeout=60).stdout.strip()

    @classmethod
    def start_nginx(cls):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", cls.path / "key.pem", "-out",
                        cls.path / "certificate.pem"], check=True, capture_output=True, timeout=60)
        text = (SOURCE / "packaging" / "proxy" / "nginx.conf").read_text(encoding="utf-8")
        letsencrypt = f"/etc/letsencrypt/live/{NAME}"
        for old, new in (("listen 443 ssl;", f"listen 127.0.0.1:{cls.port} ssl;"), ("  listen [::]:443 ssl;\n", ""),
                         (f"{letsencrypt}/fullchain.pem", f"{cls.path}/certificate.pem"),
                         (f"{letsencrypt}/privkey.pem", f"{cls.path}/key.pem"),
                         ("/var/log/nginx/tether.log", f"{cls.path}/access.log"),
                         ("server 127.0.0.1:8080;", f"server {cls.collector.web[7:]};")):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        user = "user root;" if os.getuid() == 0 else ""
        places = "".join(f"{kind}_temp_path {cls.path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (cls.path / "nginx.conf").write_text(f"{user}\ndaemon off;\npid {cls.path}/pid;\nerror_log {cls.path}/error.log;\n"
                                             f"events {{}}\nhttp {{\n{places}{text}}}\n", encoding="utf-8")
        cls.nginx = subprocess.Popen([NGINX, "-p", cls.path, "-c", cls.path / "nginx.conf", "-e", cls.path / "error.log"])

        def listens():
            assert cls.nginx.poll() is None, (cls.path / "error.log").read_text(encoding="utf-8")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", cls.port)) == 0
        wait_until(listens, "nginx listens")

    def connect(self, source="127.0.0.2"):
        """Over TLS, from an address that is no trusted proxy's."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=20, source_address=(source, 0))
        return self.context.wrap_socket(plain, server_hostname=NAME)

    def ask(self, method, path, token=None, body=None, source="127.0.0.2", **headers):
        """The response, and its body."""
        connection = http.client.HTTPSConnection(NAME, self.port, timeout=60)
        connection.sock = self.connect(source)
        self.addCleanup(connection.close)
        if token:
            headers["Authorization"] = f"Bearer {self.tokens.get(token, token)}"
        connection.request(method, path, body, {"Host": f"{NAME}:{self.port}", **headers})
        response = connection.getresponse()
        return response, response.read()

    def test_pages_and_messages(self):
        response, _ = self.ask("GET", f"/?token={self.tokens['watch']}")
        self.assertEqual(response.status, 200)
        cookie = response.headers["Set-Cookie"]
        self.assertIn("; Secure", cookie)
        own = f"https://{NAME}:{self.port}"
        for headers, expected in (({}, 200), ({"Origin": own}, 200), ({"Origin": own + "0"}, 403),
                                  ({"Origin": "https://evil.example"}, 403), ({"Host": "evil.example"}, 403)):
            self.assertEqual(self.ask("GET", "/telemetry/status", Cookie=cookie.split(";")[0], **headers)[0].status, expected, headers)
        self.assertEqual(self.ask("GET", "/telemetry/status")[0].status, 401)
        self.assertEqual(self.ask("POST", "/telemetry", "watch", "x")[0].status, 403)
        wait_until(lambda: "/telemetry" in (self.path / "access.log").read_text(encoding="utf-8"), "logged")
        self.assertNotIn(self.tokens["watch"], (self.path / "access.log").read_text(encoding="utf-8"))

    def test_live_samples_and_a_token_that_is_withdrawn(self):
        token = self.make_token("once", "--role", "watch")
        wait_until(lambda: self.ask("GET", "/telemetry/status", token)[0].status == 200, "the token counts")
        own = f"https://{NAME}:{self.port}"
        live = WebSocket(own, "/telemetry/live", {"Authorization": f"Bearer {token}", "Origin": own}, connection=self.connect())
        self.assertEqual(live.status, 101)
        text = message("LIVE", 1000, [("I", 0, {"d": {"n": 7}})])
        self.assertEqual(self.ask("POST", "/telemetry", "drive", text)[0].status, 200)
        wait_for(lambda: any(json.loads(line)["device"] == "LIVE" for line in live.receive().splitlines()),
                 "it, among what the scene's robot sends", 20, pause=0)
        subprocess.run([TETHER, "token", "remove", "once", "--file", self.path / "tokens"], check=True, timeout=60)
        with self.assertRaisesRegex(EOFError, "the token was withdrawn"):
            wait_for(lambda: not live.receive(), "the end", 20, pause=0)
        live.close()

    def test_a_large_table_is_streamed(self):
        for part in range(10):
            samples = [("I", number - 1000, {"d": {f"v{k}": f"{number}.{part}{k}" for k in range(20)}}) for number in range(1000)]
            response, text = self.ask("POST", "/telemetry", "drive", message("BIG", 10 ** 6 * (part + 1), samples))
            self.assertEqual(response.status, 200, text)
        query = "/telemetry.json?device=BIG"
        direct = self.collector.request("GET", query, headers={"Authorization": f"Bearer {self.tokens['watch']}"})[1].encode()
        response, through = self.ask("GET", query, "watch")
        self.assertGreater(len(through), 1000000)
        self.assertEqual(hashlib.sha256(through).digest(), hashlib.sha256(direct).digest())
        self.assertFalse(list((self.path / "proxy").rglob("*")), "nothing was kept in files")

    def test_logs_and_files_of_drafts(self):
        """As large as Tether takes them itself."""
        made = self.path / "made.wpilog"
        subprocess.run([TETHER, "run", SOURCE / "tests" / "scenes" / "good" / "one.yaml", "--no-web", "--pace", "fast", "--duration", "0.2",
                        "--record", made], check=True, capture_output=True, timeout=60)
        log = made.read_bytes()
        response, body = self.ask("POST", "/api/runs?name=large.wpilog", "drive", log + bytes(20_000_000 - len(log)))
        self.assertEqual(response.status, 201, body)
        response, body = self.ask("POST", "/api/drafts", "drive", json.dumps({"name": "mine"}))
        draft = json.loads(body)["draft"]
        self.assertEqual(self.ask("PUT", f"/api/drafts/{draft}/files/large", "drive", bytes(2 ** 25))[0].status, 200)
        self.assertEqual(self.ask("PUT", f"/api/drafts/{draft}/files/large", "drive", bytes(2 ** 25 + 1))[0].status, 413)

    def test_guesses_count_for_who_guesses(self):
        statuses = [self.ask("GET", "/telemetry/status", f"guess{number}", source="127.0.0.9",
                             **{"X-Forwarded-For": f"192.0.2.{number}"})[0].status for number in range(16)]
        self.assertEqual(statuses[:10], [401] * 10)
        self.assertEqual(statuses[-1], 429)  # whatever he says in X-Forwarded-For
        response, _ = self.ask("GET", "/telemetry/status", "watch", source="127.0.0.9")
        self.assertEqual(response.status, 429)
        self.assertTrue(1 <= int(response.headers["Retry-After"]) <= 6)
        self.assertEqual(self.ask("GET", "/telemetry/status", "watch", source="127.0.0.8")[0].status, 200)


if __name__ == "__main__":
    unittest.main()
