#!/usr/bin/env python3
"""Who is let in by ClickHouse: over TLS, by user and password, with rights or without; what is wrong is said with its remedy, and nobody is
told a password. A password that is changed while a collector runs loses nothing."""
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

from support.clickhouse import SKIPPED, ClickHouse, is_installed
from support.nats import Certificates
from support.telemetry import TETHER, Collector, wait_until

PROFILE = "<password>{}</password><profile>{}</profile>"
# ann's password would end a text of SQL, and a URL.
USERS = {"ann": PROFILE.format("p@s/'secret", "default"), "bob": PROFILE.format("bob-secret", "reader"),
         "cat": PROFILE.format("cat-secret", "default") + "<allow_databases><database>other</database></allow_databases>",
         "dan": PROFILE.format("dan-secret", "default")}
ANN = "ann:p%40s%2F%27secret"


class WhoIsLetIn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tether-clickhouse-users-")
        cls.addClassCleanup(cls.folder.cleanup)
        for name in "ours", "other":
            pathlib.Path(cls.folder.name, name).mkdir()
        cls.ours, cls.other = (Certificates(f"{cls.folder.name}/{name}") for name in ("ours", "other"))
        cls.server = ClickHouse(certificates=cls.ours, users=USERS)
        cls.addClassCleanup(cls.server.close)
        cls.spools = 0

    def setUp(self):
        self.server.query("DROP DATABASE IF EXISTS tether")

    def url(self, login, options="", port=None):
        return f"clickhouse://{login}@127.0.0.1:{port or self.server.port}/tether{options}"

    def spool(self):
        type(self).spools += 1
        return f"telemetry.spool={self.folder.name}/spool{self.spools}"

    def command(self, url):
        settings = f"telemetry.store={url}", "telemetry.listen=127.0.0.1:0", "web.listen=127.0.0.1:0", self.spool()
        return [TETHER, "collect", *(word for setting in settings for word in ("--set", setting))]

    def assert_let_in(self, url):
        """What is sent is stored, and read back; nobody says a password."""
        with Collector(url, self.spool()) as collector:
            self.assertEqual(collector.request("POST", "/telemetry", "<MESSAGE id='D' time='1'><S time='0'><d n='1'/></S></MESSAGE>")[0], 200)
            self.assertIn("S.d.n", collector.request("GET", "/telemetry.csv?device=D")[1])
            self.assertNotIn("secret", str(collector.status()) + "".join(collector.log))
        self.assertEqual(self.server.query("SELECT count() FROM tether.telemetry"), "1")

    def assert_refused(self, url, *texts):
        done = subprocess.run(self.command(url), capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_users(self):
        self.assert_let_in(self.url(ANN))
        self.assert_refused(self.url("ann:no-secret"), "Wrong password", "USER:PASSWORD@HOST")
        self.assert_refused(self.url("nobody:no-secret"), "nobody", "USER:PASSWORD@HOST")
        self.assert_refused(self.url("bob:bob-secret"), "readonly", "in its profile")
        self.assert_refused(self.url("cat:cat-secret"), "tether", "<allow_databases>")

    def test_tls(self):
        self.assert_let_in(self.url(ANN, f"?tls=yes&ca={self.ours.ca}", self.server.tls_port))

    def test_whom_to_trust(self):
        tls = self.server.tls_port
        for url, texts in (
                (self.url(ANN, f"?tls=yes&ca={self.other.ca}", tls), ["ca=FILE"]), (self.url(ANN, "?tls=yes", tls), ["ca=FILE"]),
                (self.url(ANN, f"?tls=yes&ca={self.folder.name}/none.pem", tls), ["none.pem"]),
                (self.url(ANN, f"?tls=yes&ca={self.ours.ca}"), ["leave tls=yes away"]), (self.url(ANN, "", tls), ["?tls=yes"])):
            with self.subTest(url=url):
                self.assert_said(url, texts)

    def assert_said(self, url, texts):
        """By a collector, which either ends or waits with what it takes."""
        done = subprocess.Popen(self.command(url), stderr=subprocess.PIPE, text=True)
        said = []
        reader = threading.Thread(target=lambda: [said.append(line) for line in done.stderr])
        reader.start()
        try:
            wait_until(lambda: all(text in "".join(said) for text in texts), f"it says {texts}", 60)
        finally:
            done.kill()
            done.wait()
            reader.join()
            done.stderr.close()
        self.assertNotIn("secret", "".join(said))

    def test_a_password_is_changed_while_a_collector_runs(self):
        text = "<MESSAGE id='D' time='{}'><S time='0'><d n='1'/></S></MESSAGE>"
        with Collector(self.url("dan:dan-secret"), self.spool()) as collector:
            collector.request("POST", "/telemetry", text.format(1))
            self.server.set_users({**USERS, "dan": PROFILE.format("other-secret", "default")})
            wait_until(lambda: collector.status()["degraded"], "it is refused", 30)
            self.assertIn("USER:PASSWORD@HOST", collector.status()["reason"])
            self.assertEqual(collector.request("POST", "/telemetry", text.format(2))[0], 200)
            self.assertNotIn("secret", str(collector.status()) + "".join(collector.log))
            self.server.set_users(USERS)
            wait_until(lambda: self.server.query("SELECT count() FROM tether.telemetry") == "2", "what waited is stored", 30)


if not is_installed():
    print("skipped: no clickhouse-server")
    sys.exit(SKIPPED)
if __name__ == "__main__":
    unittest.main()
